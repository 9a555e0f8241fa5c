"""Checks of an FMU that validators leave out: binaries, exported functions, ranges, units.

Public names: fmu_problems.
"""

from __future__ import annotations

import ctypes
import platform
import sys
import tempfile
import xml.etree.ElementTree as xml
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from liaison.errors import LiaisonError
from liaison.units import unit_of

from .archive import BINARIES, SUFFIXES
from .functions import exports
from .sources import FILES
from .variables import per_second

REALS = ("Real", "Float64")


def fmu_problems(path: str | Path) -> list[str]:
    """What is wrong with an FMU; empty where nothing is.

    Binaries must be there, hold the name of every function, and that of this system must load and
    answer; start values lie within their bounds; a derivative has the unit of its state by time.
    """
    with zipfile.ZipFile(path) as archive:
        root = xml.fromstring(archive.read("modelDescription.xml"))
        version = int(root.get("fmiVersion", "0")[0])
        names = archive.namelist()
        files = {x: archive.read(x) for x in names if x.startswith("binaries/")}
    problems = [f"sources/{x} is missing." for x in FILES if f"sources/{x}" not in names]
    problems += _binaries(root, files, version)
    variables = _variables(root)
    for name, row in variables.items():
        problems += _range(name, row)
        problems += _unit(name, row, variables)
    return problems


def _binaries(root: xml.Element, files: Mapping[str, bytes], version: int) -> Iterable[str]:
    """Libraries that are missing, lack a function or do not load."""
    name = next(x.get("modelIdentifier", "") for x in root if "modelIdentifier" in x.attrib)
    if not files:
        yield "there are no binaries."
    names = list(exports(version))
    for file, content in files.items():
        missing = [x for x in names if x.encode() + b"\0" not in content]
        missing = [x for x in missing if not _has(content, x)]
        if missing:
            yield f"{file} lacks {len(missing)} functions, {missing[0]} first."
    own = _own_file(name, version)
    if own in files:
        yield from _loaded(files[own], names)


def _has(content: bytes, name: str) -> bool:
    """Whether a name ends within a library: macOS keeps names of functions in a tree."""
    return (
        content[:4] in (b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe") and name[-6:].encode() in content
    )


def _own_file(name: str, version: int) -> str:
    """Where the library of this system lies."""
    system = {"linux": "linux", "win32": "windows", "darwin": "macos"}.get(sys.platform, "")
    machine = {"AMD64": "x86_64", "arm64": "arm64"}.get(platform.machine(), platform.machine())
    folder = BINARIES[version - 2].get(f"{system}-{machine}", "")
    return f"binaries/{folder}/{name}{SUFFIXES.get(system, '')}"


def _loaded(content: bytes, names: Iterable[str]) -> Iterable[str]:
    """Functions that a library of this system does not have, or why it does not load."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "library"
        file.write_bytes(content)
        try:
            library = ctypes.CDLL(str(file))
        except OSError as error:
            yield f"the library of this system does not load: {error}."
            return
        for name in names:
            if not hasattr(library, name):
                yield f"the library of this system does not export {name}."


def _variables(root: xml.Element) -> dict[str, dict[str, str]]:
    """Attributes of real variables by name, those of FMI 2.0 as in FMI 3.0."""
    listed = root.find("ModelVariables")
    rows: dict[str, dict[str, str]] = {}
    places: list[str] = []
    for element in [] if listed is None else listed:
        places.append(element.get("name", ""))
        real = element if element.tag in REALS else element.find("Real")
        if real is not None:
            rows[places[-1]] = {**element.attrib, **real.attrib}
    by_reference = {row.get("valueReference"): name for name, row in rows.items()}
    for row in rows.values():
        if "derivative" in row:
            place = row["derivative"]
            is_old = root.get("fmiVersion") == "2.0"
            row["state"] = places[int(place) - 1] if is_old else by_reference.get(place, "")
    return rows


def _range(name: str, row: Mapping[str, str]) -> Iterable[str]:
    """Start values outside of bounds."""
    low, high = float(row.get("min", "-inf")), float(row.get("max", "inf"))
    for start in map(float, row.get("start", "").split()):
        if not low <= start <= high:
            yield f"{name!r} starts at {start:g}, outside of {low:g} … {high:g}."


def _unit(
    name: str, row: Mapping[str, str], variables: Mapping[str, Mapping[str, str]]
) -> Iterable[str]:
    """The unit of a derivative that is not that of its state by time."""
    if "state" not in row:
        return
    state = variables.get(row["state"])
    if state is None:
        yield f"{name!r} is the derivative of nothing."
        return
    names = [x.get("unit", "") for x in (row, state)]
    if names[0] == per_second(names[1]):
        return
    try:
        own, other = map(unit_of, names)
    except LiaisonError:
        yield f"{name!r} or {row['state']!r} has an unknown unit."
        return
    expected = (*other.dimension[:2], other.dimension[2] - 1, *other.dimension[3:])
    if own.dimension != expected or own.factor != other.factor:
        yield f"{name!r} is in {row.get('unit', '1')}, its state in {state.get('unit', '1')}."
