"""Files that are whole or absent: made in memory, written under a temporary name, then renamed.

Links are followed: the file that a link points to is written, and the link stays. What is no plain
file (a device, a pipe) is written to and never replaced. Temporary files that a killed process left
are removed by the next one that writes to their folder.

Public names: write_file, write_netcdf, sealed, read_netcdf, readable, parsed, Variable,
plain.
"""

from __future__ import annotations

import errno
import gc
import hashlib
import io
import json
import math
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import LiaisonError

HEADER = "liaison"


@final
@dataclass(frozen=True, slots=True)
class Variable:
    """An array with named dimensions and plain attributes (units, long_name)."""

    dims: tuple[str, ...]
    values: NDArray[Any]
    attrs: Mapping[str, str] = field(default_factory=dict)


TEMPORARY = re.compile(r"\..+\.(\d+)-[0-9a-f]{8}\.tmp")
"""Names of temporary files: of the target, of the process, and a random one."""

STALE = 60.0
"""Age of temporary files that are removed, if their process is gone [s]."""

DEVICES = re.compile(r"/dev/[^/]+|/dev/fd/.*|/proc/.*")
"""Files that are written to where they are, whatever they lead to; /dev/shm holds plain ones."""


def write_file(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Writes a file that is there with all of its content, or as it was before.

    A reader, or a process killed at any moment, leaves the old file or the new one, never a half.

    Args:
        path: of the file; its folder must exist. A link is followed.
        content: all of it; text as UTF-8.

    Raises:
        OSError: no such folder, no permission, no space.
    """
    data = content.encode() if isinstance(content, str) else content
    target, is_plain = _target(Path(path))
    if is_plain:
        _replace(target, data)
    else:
        _write_to(target, data)


def _target(path: Path) -> tuple[Path, bool]:
    """Where links lead, and whether a plain file is there, or may be made there."""
    for _ in range(40):
        if DEVICES.fullmatch(os.path.abspath(path)):
            return path, False
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    else:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "this is a folder; name a file in it", str(path))
    if not path.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "no such folder; make it first or choose another", str(path.parent)
        )
    return path, path.is_file() or not path.exists()


def _write_to(path: Path, data: bytes) -> None:
    """Writes to a device or a pipe; to a stream of this process in its place among the others."""
    own = _own_stream(os.stat(path))
    handle = os.open(path, os.O_WRONLY | os.O_APPEND) if own is None else own
    try:
        _write_all(handle, data, path)
    finally:
        if own is None:
            os.close(handle)


def _own_stream(about: os.stat_result) -> int | None:
    """The handle of stdout or stderr, flushed, where that is meant."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            if os.path.samestat(about, os.fstat(stream.fileno())):
                stream.flush()
                return stream.fileno()
    return None


def _replace(target: Path, data: bytes) -> None:
    """Writes the data under a temporary name, then renames it."""
    if target.exists() and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    _sweep(target.parent)
    temporary = target.with_name(f".{target.name[:200]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    handle = os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    try:
        try:
            _write_all(handle, data, target)
            os.fsync(handle)
            with suppress(OSError):  # a new file has the usual mode, an old one keeps its own
                os.fchmod(handle, stat.S_IMODE(target.stat().st_mode))
        finally:
            os.close(handle)
        os.replace(temporary, target)
        _flush_folder(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _write_all(handle: int, data: bytes, path: Path) -> None:
    """All of the data, or an error that names the file."""
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(handle, left[: 1 << 30]) :]
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _sweep(folder: Path) -> None:
    """Removes temporary files of processes that are gone."""
    with suppress(OSError), os.scandir(folder) as files:
        for file in files:
            match = TEMPORARY.fullmatch(file.name) if file.name.startswith(".") else None
            if match is None or _is_alive(int(match[1])):
                continue
            with suppress(OSError):
                if time.time() - file.stat(follow_symlinks=False).st_mtime > STALE:
                    os.unlink(file.path)


def _is_alive(process: int) -> bool:
    if process == os.getpid() or os.name == "nt":
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _flush_folder(path: Path) -> None:
    if os.name == "nt":
        return
    with suppress(OSError):  # some file systems cannot: the file is whole there, too
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


SEAL = b"\nliaison sha256 "
"""Begins the last bytes of a file of results; then the digest of all bytes before, in hex."""

SIGNATURE = b"\x89HDF\r\n\x1a\n"
"""Begins every HDF5 file."""

SEAL_SIZE = len(SEAL) + 2 * hashlib.sha256().digest_size

DEFLATED = 1032
"""Bytes that one byte of a compressed file stands for, at most."""

REFERENCE = np.dtype([("length", "<u4"), ("heap", "<u8"), ("entry", "<u4")])
"""How a text stands in an array of texts."""

READINGS = 64
"""How many times HDF5 may read as many bytes as the file has, if that is more than LEAST_READ."""

LEAST_READ = 1 << 24
"""Bytes that may be read of any file, however short."""

SHORT_READ = 512
"""Bytes that a reading of fewer counts for."""

HEAP = b"GCOL\1\0\0\0"
"""Begins a global heap of an HDF5 file."""

ORIGIN = "Results files are made by Trajectory.save or `liaison simulate --out`."


def write_netcdf(
    path: str | os.PathLike[str], variables: Mapping[str, Variable], header: str
) -> None:
    """One netCDF-4 file of these variables; `header` is text kept beside them.

    The file is made in memory: HDF5 never holds a file that could not be written to its end. A
    digest follows its last byte, where other readers of netCDF do not look.
    """
    write_file(path, sealed(_netcdf(variables, header)))


def sealed(image: bytes) -> bytes:
    """A netCDF file with the digest of its bytes at its end."""
    return image + SEAL + hashlib.sha256(image).hexdigest().encode()


def _netcdf(variables: Mapping[str, Variable], header: str) -> bytes:
    """The content of the file."""
    import h5netcdf
    import h5py

    memory = io.BytesIO()
    with h5netcdf.File(memory, "w") as file:
        for variable in variables.values():
            for name, size in zip(variable.dims, variable.values.shape, strict=True):
                if name not in file.dimensions:
                    file.dimensions[name] = size
        for name, variable in variables.items():
            values, text = variable.values, variable.values.dtype.kind in "UO"
            if text:
                values = values.astype(object)
            dtype = h5py.string_dtype() if text else values.dtype
            written = file.create_variable(name, variable.dims, dtype=dtype, data=values)
            written.attrs.update(dict(variable.attrs))
        file.create_variable(HEADER, (), dtype=h5py.string_dtype(), data=np.array(header, object))
        file.attrs["Conventions"] = "CF-1.11"
    return memory.getvalue()


@contextmanager
def readable(path: str | os.PathLike[str]) -> Iterator[None]:
    """What goes wrong while a file is read is an error of the file.

    Raises:
        LiaisonError: names the file and what is wrong with it.
    """
    try:
        yield
    except LiaisonError:
        raise
    except Exception as error:
        cause = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise LiaisonError(
            f"{path} cannot be read as netCDF of a run; it is damaged or holds something else "
            f"({cause[:300].rstrip('.')}).",
            hint=ORIGIN,
        ) from error


def read_netcdf(path: str | os.PathLike[str]) -> tuple[dict[str, Variable], str]:
    """The variables and the header of a file made by `write_netcdf`.

    Raises:
        OSError: there is no such file, or it cannot be read.
        LiaisonError: it is damaged, or it holds something else.
    """
    file = Path(path)
    if file.exists() and not file.is_file():
        raise LiaisonError(f"{path} is no plain file, so it holds no run.", hint=ORIGIN)
    if not file.exists():
        raise FileNotFoundError(errno.ENOENT, "no such results file", str(path))
    data = file.read_bytes()
    _check_whole(path, data)
    with readable(path):
        return _content(path, data)


def _check_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Rejects other bytes than those that were written; files of other tools have no digest."""
    is_whole = len(data) == _stored_size(data)
    if data[-SEAL_SIZE:].startswith(SEAL):
        digest = hashlib.sha256(memoryview(data)[:-SEAL_SIZE]).hexdigest().encode()
        is_whole = data.endswith(digest)
    if data.startswith(SIGNATURE) and not is_whole:
        raise LiaisonError(
            f"{path} is damaged: its bytes are not those that were written.",
            hint="Take a copy of it, or run again.",
        )


def _stored_size(data: bytes) -> int:
    """How many bytes an HDF5 file has, as it says itself; its superblock is of version 0 to 3."""
    place = 28 if data[8:9] in (b"\2", b"\3") else 40
    return int.from_bytes(data[place : place + 8], "little")


@final
class _Image(io.BytesIO):
    """The bytes of an HDF5 file, which are read a bounded number of times.

    HDF5 believes what a file says of itself. A global heap (a block of texts) in which an entry has
    no size keeps it busy for ever, so heaps are checked as they are read; so is how much is read.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._data, self._heaps = data, set[int]()
        self._left = READINGS * len(data) + LEAST_READ

    def readinto(self, buffer: Any, /) -> int:
        place = self.tell()
        self._left -= max(SHORT_READ, memoryview(buffer).nbytes)
        if self._left < 0:
            raise ValueError("its parts refer to each other without end")
        if self._data.startswith(HEAP, place) and place not in self._heaps:
            _check_heap(self._data, place)
            self._heaps.add(place)
        return super().readinto(buffer)


def _check_heap(data: bytes, place: int) -> None:
    """Rejects a global heap whose entries do not follow each other to its end.

    Source: HDF5, III.E, with lengths of eight bytes.
    """
    size = int.from_bytes(data[place + 8 : place + 16], "little")
    end, at = place + size, place + 16
    if end > len(data):
        raise ValueError(f"the heap at byte {place} has the size {size}, the file {len(data)}")
    while at + 16 <= end:
        number = int.from_bytes(data[at : at + 2], "little")
        length = int.from_bytes(data[at + 8 : at + 16], "little")
        # entry 0 is what is free, with its own head; others have a head and whole words
        step = length if number == 0 else 16 + (length + 7) // 8 * 8
        if step < 16 or at + step > end:
            raise ValueError(f"entry {number} of the heap at byte {place} has the size {length}")
        at += step


def _content(path: str | os.PathLike[str], data: bytes) -> tuple[dict[str, Variable], str]:
    """Variables and header, read by HDF5."""
    import h5netcdf
    import h5py

    if data[9 if data[8:9] in (b"\2", b"\3") else 13 :][:2] != b"\x08\x08":
        raise ValueError("addresses and sizes of other than eight bytes")
    image = _Image(data)
    with h5py.File(image, "r") as arrays:  # h5netcdf complains on its own of what is no HDF5
        for stored in arrays.values():
            if isinstance(stored, h5py.Dataset):
                _check_size(path, stored, data)
    with h5netcdf.File(image, "r") as file:
        if HEADER not in file.variables:
            raise LiaisonError(
                f"{path} holds no run: it is a netCDF file without the variable {HEADER!r}.",
                hint=ORIGIN,
            )
        variables = {name: _variable(x) for name, x in file.variables.items()}
    header = variables.pop(HEADER).values.item()
    return variables, header.decode() if isinstance(header, bytes) else str(header)


def _check_size(path: str | os.PathLike[str], stored: Any, data: bytes) -> None:
    """Rejects an array, or a text in it, that the file is too short for; HDF5 would make room."""
    dtype = REFERENCE if stored.dtype.kind == "O" else stored.dtype
    count, packing, longest = math.prod(stored.shape), DEFLATED if stored.chunks else 1, 0
    place = stored.id.get_offset()
    if dtype is REFERENCE and place and count * dtype.itemsize <= len(data):
        references = np.frombuffer(data, dtype, count, place)
        longest = int(references["length"].max(initial=0))
    if count * dtype.itemsize > packing * len(data) or longest > len(data):
        what = f"a text of {longest} bytes in" if longest else f"the shape {stored.shape} of"
        raise LiaisonError(
            f"{path} is damaged: {what} {stored.name!r} is too large for it.", hint=ORIGIN
        )


def _variable(stored: Any) -> Variable:
    values = np.asarray(stored[...])
    if values.dtype.kind == "c":
        raise ValueError(f"{stored.name} holds complex numbers")
    if values.dtype.kind in "OS":
        text = [x.decode() if isinstance(x, bytes) else str(x) for x in values.ravel()]
        values = np.array(text, dtype=object).reshape(values.shape)
    attrs = {name: str(value) for name, value in stored.attrs.items()}
    return Variable(tuple(stored.dimensions), values, attrs)


def parsed(text: str) -> Any:
    """JSON; the collector of cycles rests, as destructors fail where a text is nested too deep."""
    is_on = gc.isenabled()
    gc.disable()
    try:
        return json.loads(text)
    finally:
        if is_on:
            gc.enable()


LEAVES = frozenset({str, bool, int, float, type(None)})
"""What most data ends in; looked up before anything else, since a short run waits for it."""


def plain(x: Any) -> Any:
    """Data that JSON keeps: words, numbers, tuples, tables (of records too); the rest as text."""
    if type(x) in LEAVES:
        return x
    if isinstance(x, list | tuple):
        return tuple(map(plain, x))
    if isinstance(x, slice):
        return (x.start, x.stop)
    if is_dataclass(x) and not isinstance(x, type):
        return {one.name: plain(getattr(x, one.name)) for one in fields(x)}
    if isinstance(x, Mapping):
        return {str(name): plain(value) for name, value in x.items()}
    if isinstance(x, np.ndarray | np.generic):
        return plain(x.tolist())
    return x if x is None or isinstance(x, str | bool | int | float) else str(x)
