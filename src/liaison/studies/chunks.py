"""Chunks: rows of many runs as one file of named columns, each with a digest of its own.

    liaison-rows 1\n   length of the header, digest of the header, header as JSON, columns

A file is written under a temporary name, brought to the disk and renamed, so that it is either
whole or absent. A column is read without the others, and checked when it is read.

Public names: Chunk, encoded, decoded, write_chunk, Columns, SUFFIX.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError

MAGIC = b"liaison-rows 1\n"
SUFFIX = ".rows"
ALIGNED = 64
MOST_HEADER = 64_000_000
"""Bytes of a header."""

Columns: TypeAlias = dict[str, NDArray[Any]]


def _digest(data: Any) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def encoded(columns: Mapping[str, NDArray[Any]], more: Mapping[str, Any]) -> bytes:
    """The bytes of a file.

    Args:
        columns: by name; texts are columns of objects.
        more: anything else that JSON can write.
    """
    parts: list[bytes] = []
    listed, size = {}, 0
    for name, values in columns.items():
        column: dict[str, Any] = {}
        if values.dtype == object:
            words, codes = np.unique(values.astype(str), return_inverse=True)
            column["words"] = words.tolist()
            values = codes.reshape(values.shape).astype(np.int32)
        data = np.ascontiguousarray(values)
        raw = data.tobytes()
        column |= {
            "dtype": data.dtype.str, "shape": list(data.shape), "at": size, "size": len(raw),
            "digest": _digest(raw),
        }  # fmt: skip
        listed[name] = column
        room = -len(raw) % ALIGNED
        parts += [raw, bytes(room)]
        size += len(raw) + room
    header = json.dumps({"columns": listed, "size": size, **more}, ensure_ascii=False).encode()
    front = MAGIC + f"{len(header):>12} {_digest(header)}\n".encode() + header
    return b"".join([front, bytes(-len(front) % ALIGNED), *parts])


def write_chunk(path: Path, data: bytes) -> None:
    """Brings a file to the disk whole, or not at all.

    Raises:
        OSError: the disk is full, or the folder cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Brings the names of a folder to the disk, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


@final
class Chunk:
    """The columns of a file, each read when it is asked for.

    Args:
        source: a path, or the bytes of a file.
        name: for messages.

    Raises:
        LiaisonError: no such file, or a damaged one.
    """

    def __init__(self, source: Path | bytes, name: str = "") -> None:
        self._source = source
        self.name = name or (str(source) if isinstance(source, Path) else "rows")
        fixed = len(MAGIC) + 12 + 1 + 32 + 1
        front = self._bytes(0, fixed)
        if not front.startswith(MAGIC) or len(front) < fixed:
            raise self.damaged("it does not begin as such a file does")
        try:
            length = int(front[len(MAGIC) : len(MAGIC) + 12])
        except ValueError:
            raise self.damaged("the length of its header is no number") from None
        if not 0 < length <= MOST_HEADER:
            raise self.damaged("the length of its header cannot be")
        text = self._bytes(fixed, length)
        if _digest(text) != front[-33:-1].decode("ascii", "replace"):
            raise self.damaged("its header has another digest")
        self.header: dict[str, Any] = json.loads(text)
        self._begin = fixed + length + (-(fixed + length) % ALIGNED)
        self._check_size()

    def _check_size(self) -> None:
        size = (
            len(self._source) if isinstance(self._source, bytes) else os.stat(self._source).st_size
        )
        if size != self._begin + self.header["size"]:
            raise self.damaged(
                f"it has {size} bytes instead of {self._begin + self.header['size']}"
            )

    def damaged(self, why: str) -> LiaisonError:
        """The error of a file that is not as it was written."""
        return LiaisonError(
            f"{self.name}: this file of a study is damaged: {why}.",
            hint="Delete it and start the study again: its runs, and no others, are made again.",
        )

    def _bytes(self, first: int, count: int) -> bytes:
        if isinstance(self._source, bytes):
            return self._source[first : first + count]
        try:
            with open(self._source, "rb") as file:
                file.seek(first)
                return file.read(count)
        except OSError as error:
            raise LiaisonError(f"{self.name}: cannot be read: {error.strerror}.") from None

    def __contains__(self, name: str) -> bool:
        return name in self.header["columns"]

    @property
    def names(self) -> list[str]:
        """Of all columns."""
        return list(self.header["columns"])

    def words(self, name: str) -> list[str]:
        """The words of a column of texts, which holds their numbers."""
        words: list[str] = self.header["columns"][name].get("words", [])
        return words

    def codes(self, name: str) -> NDArray[Any]:
        """A column as it is stored: of texts the numbers of their words."""
        about = self.header["columns"][name]
        raw = self._bytes(self._begin + about["at"], about["size"])
        if _digest(raw) != about["digest"]:
            raise self.damaged(f"its column {name!r} has another digest")
        return np.frombuffer(raw, dtype=np.dtype(about["dtype"])).reshape(about["shape"])

    def column(self, name: str) -> NDArray[Any]:
        """A column; of texts an array of objects."""
        values = self.codes(name)
        if "words" not in self.header["columns"][name]:
            return values
        return np.asarray(np.array(self.words(name), dtype=object)[values])

    def columns(self) -> Columns:
        """All columns."""
        return {name: self.column(name) for name in self.names}


def decoded(data: bytes, name: str = "") -> tuple[Columns, dict[str, Any]]:
    """Columns and header of the bytes of a file, all checked."""
    chunk = Chunk(data, name)
    return chunk.columns(), chunk.header
