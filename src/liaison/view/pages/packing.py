"""Arrays of a scene as bytes: quantised to 16 bits, or floats with fewer digits, then deflated.

An entry of the scene's text says where its bytes are and how they are read:

- "u16": column after column over the first axis, as steps from row to row modulo 2¹⁶, all low bytes
  before all high bytes; value = low + step · number, with low and step for each column;
- "f32": as 32-bit floats, column after column, all first bytes, then all second bytes, …; what is
  not finite stays so;
- "u8", "u32": whole numbers, column after column, u32 by bytes as f32.

Public names: Pack, LEVELS, deflated.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LEVELS = 65535
"""Steps between the least and the greatest value of a quantised column."""


@final
class Pack:
    """Bytes of a scene, in the order in which its arrays are added."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def quantised(self, values: ArrayLike) -> tuple[dict[str, Any], Array]:
        """An entry of kind "u16", and the values as they will be read, for the error.

        Args:
            values: finite numbers of shape (n, …).
        """
        x = np.asarray(values, dtype=float)
        columns = x.reshape(len(x), -1)
        low = columns.min(axis=0) if len(x) else np.zeros(columns.shape[1])
        step = (columns.max(axis=0) - low) / LEVELS if len(x) else np.zeros(columns.shape[1])
        safe = np.where(step > 0, step, 1.0)
        numbers = np.rint((columns - low) / safe).astype(np.int64)
        deltas = np.diff(numbers, axis=0, prepend=0) % (LEVELS + 1)
        flat = np.ascontiguousarray(deltas.T).astype("<u2").tobytes()
        entry = self._entry("u16", x.shape, _planes(flat, 2))
        read = (low + step * numbers).reshape(x.shape)
        return entry | {"low": low.tolist(), "step": step.tolist()}, read

    def floats(self, values: ArrayLike, bits: int = 23) -> dict[str, Any]:
        """An entry of kind "f32".

        Args:
            values: of shape (n, …).
            bits: of the mantissa that are kept; the relative error is 2^-(bits + 1).
        """
        x = np.asarray(values, dtype=np.float64)
        columns = np.ascontiguousarray(x.reshape(len(x), -1).T).astype("<f4")
        words = columns.view("<u4")
        cut = 23 - bits
        if cut:
            is_finite = np.isfinite(columns)
            rounded = (words + np.uint32(1 << (cut - 1))) >> np.uint32(cut) << np.uint32(cut)
            words = np.where(is_finite, rounded, words)
        return self._entry("f32", x.shape, _planes(words.astype("<u4").tobytes(), 4))

    def whole(self, values: ArrayLike) -> dict[str, Any]:
        """An entry of kind "u8", or "u32" where a number is above 255."""
        x = np.asarray(values, dtype=np.int64)
        columns = np.ascontiguousarray(x.reshape(len(x), -1).T)
        if x.max(initial=0) < 256:
            return self._entry("u8", x.shape, columns.astype(np.uint8).tobytes())
        return self._entry("u32", x.shape, _planes(columns.astype("<u4").tobytes(), 4))

    def text(self) -> str:
        """All bytes, deflated without a header (RFC 1951), in base64."""
        return deflated(b"".join(self._parts))

    def _entry(self, kind: str, shape: tuple[int, ...], data: bytes) -> dict[str, Any]:
        entry = {"kind": kind, "at": self._length, "shape": list(shape)}
        self._parts.append(data)
        self._length += len(data)
        return entry


def deflated(data: bytes) -> str:
    """Bytes deflated without a header (RFC 1951), in base64."""
    squeeze = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(squeeze.compress(data) + squeeze.flush()).decode("ascii")


def _planes(data: bytes, width: int) -> bytes:
    """First bytes of all numbers, then second bytes, …: alike bytes stand together."""
    return np.frombuffer(data, np.uint8).reshape(-1, width).T.tobytes()
