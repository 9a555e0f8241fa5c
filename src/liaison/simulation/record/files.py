"""Files that are whole or absent: written under a temporary name, then renamed.

Public names: whole_file, write_netcdf, read_netcdf, Variable, plain.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
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


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A temporary path beside `path`, renamed to it when the block ends well.

    A reader, or a process killed at any moment, leaves the old file or the new one, never a half.
    The folder must exist.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(
            errno.ENOENT, "no such folder; make it first or choose another", str(target.parent)
        )
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        yield temporary
        _flush_to_disk(temporary)
        os.replace(temporary, target)
        _flush_to_disk(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _flush_to_disk(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_netcdf(
    path: str | os.PathLike[str], variables: Mapping[str, Variable], header: str
) -> None:
    """One netCDF-4 file of these variables; `header` is text kept beside them."""
    import h5netcdf
    import h5py

    with whole_file(path) as temporary, h5netcdf.File(temporary, "w") as file:
        for variable in variables.values():
            for name, size in zip(variable.dims, variable.values.shape, strict=True):
                if name not in file.dimensions:
                    file.dimensions[name] = size
        for name, variable in variables.items():
            values, text = variable.values, variable.values.dtype.kind in "UO"
            if text:
                values = values.astype(object)
            dtype = h5py.string_dtype() if text else values.dtype
            made = file.create_variable(name, variable.dims, dtype=dtype, data=values)
            made.attrs.update(dict(variable.attrs))
        file.create_variable(HEADER, (), dtype=h5py.string_dtype(), data=np.array(header, object))
        file.attrs["Conventions"] = "CF-1.11"


def read_netcdf(path: str | os.PathLike[str]) -> tuple[dict[str, Variable], str]:
    """The variables and the header of a file made by `write_netcdf`."""
    import h5netcdf

    if not Path(path).is_file():
        raise FileNotFoundError(errno.ENOENT, "no such results file", str(path))
    try:
        with h5netcdf.File(path, "r") as file:
            if HEADER not in file.variables:
                raise LiaisonError(
                    f"{path} holds no run: it is a netCDF file without the variable {HEADER!r}.",
                    hint="Results files are made by Trajectory.save or `liaison simulate`.",
                )
            found = {name: _variable(made) for name, made in file.variables.items()}
    except OSError as error:
        raise LiaisonError(
            f"{path} cannot be read as netCDF: {error}.",
            hint="Results files are made by Trajectory.save or `liaison simulate`.",
        ) from error
    header = found.pop(HEADER).values.item()
    return found, header.decode() if isinstance(header, bytes) else str(header)


def _variable(made: Any) -> Variable:
    values = np.asarray(made[...])
    if values.dtype.kind in "OS":
        text = [x.decode() if isinstance(x, bytes) else str(x) for x in values.ravel()]
        values = np.array(text, dtype=object).reshape(values.shape)
    attrs = {name: str(value) for name, value in made.attrs.items()}
    return Variable(tuple(made.dimensions), values, attrs)


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
