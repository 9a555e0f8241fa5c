"""Files that describe no mechanism, one mistake each: refused by an error that names the place."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import liaison
from attack.table import Row
from liaison.errors import LiaisonError

TRIES = 500

LSD = """name = "swing" ;
gravity = {gravity} ;
parameter l = {length} ;
let b = body mass = {mass}, center = {center}, inertia = {inertia} end ;
let A = join earth and b with revolute axis = {axis} end ;
apply spring stiffness = {stiffness}, rest = {angle} end on A ;
apply damper coefficient = {damping} end on A ;
start A = {angle} ;
start A' = {speed} ;
output height = {length} * cos(A) in mm ;
"""

GOOD = {
    "gravity": "[0, 0, -9.81] m/s^2", "length": "1 m", "mass": "2 kg", "center": "[0, 0, -1] m",
    "inertia": "[1, 2, 3] kg*m^2", "axis": "[0, 1, 0]", "stiffness": "3 N*m/rad",
    "damping": "0.1 N*m*s/rad", "angle": "0.3 rad", "speed": "1 rad/s",
}  # fmt: skip

WRONG = (
    '"text"', "", "(", "1 kg + 1 m", "nowhere", "[1, 2] m", "[[1, 2], [3]]", "1 furlong",
    "1 kg kg/",
    "sin(1 kg)", "1 m;;", "= 3", "1..2 m", "1e m", "[1, 2, 3", "f(1)", "table(1)", "earth", "b",
    "3 A/s^2", "1 kg/(0 m)", "@", "\\u0000", "if(1)", "let", "1 cd", "[1 kg, 2 m, 3 s]",
    "1 N || [0,0,1]", "-", "*",
)  # fmt: skip

URDF = """<robot name="r"><link name="a"/>
<link name="b"><inertial><origin xyz="{center}"/><mass value="{mass}"/>
<inertia ixx="{inertia}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="{kind}"><parent link="{parent}"/><child link="{child}"/>
<axis xyz="{axis}"/></joint></robot>"""

PARTS = {
    "center": "0 0 1", "mass": "1", "inertia": "1", "kind": "continuous", "parent": "a",
    "child": "b", "axis": "0 1 0",
}  # fmt: skip

BROKEN = ("x", "", "1 2", "nan", "inf", "1,2,3", "0x10", "&lt;", "none", "-", "1e999", "\u2603")

WHOLE = (
    "", " ", "<", "<robot/>", "<mujoco/>", "let", "name = ;", "(* open", "\x00", "end ;",
    "for i = 1 to",
    "include \"nowhere.lsd\" ;", "<robot name='r'><link/></robot>", "let a = b ; let b = a ;",
)  # fmt: skip


def bad_files() -> Iterator[tuple[str, str]]:
    """Suffix and text, one mistake each."""
    for text in WHOLE:
        yield ".lsd", text
        yield ".urdf", text
    for name in GOOD:
        for wrong in WRONG:
            yield ".lsd", LSD.format(**(GOOD | {name: wrong}))
    for name in PARTS:
        for wrong in BROKEN:
            yield ".urdf", URDF.format(**(PARTS | {name: wrong}))
    for cut in range(20, 600, 6):
        yield ".lsd", LSD.format(**GOOD)[:cut] + " ) "


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row; an error of a text says its line, or the name of what is wrong."""
    row = Row("bad files", f"{TRIES}, refused with their place")
    for suffix, text in ((".lsd", LSD.format(**GOOD)), (".urdf", URDF.format(**PARTS))):
        (folder / f"good{suffix}").write_text(text, encoding="utf-8")
        liaison.simulate(folder / f"good{suffix}", until=0.001)
    chosen = list(bad_files())
    step = max(1, int(1 / max(scale, 1e-3)))
    for k, (suffix, text) in enumerate(chosen[::step]):
        path = folder / f"bad{suffix}"
        path.write_text(text, encoding="utf-8")

        def read(path: Path = path) -> None:
            try:
                liaison.simulate(path, until=0.001)
            except LiaisonError as error:
                if "bad" not in str(error) and not error.place and "'" not in str(error):
                    raise AssertionError(f"no place: {error}") from None
                raise

        row.attempt(read, f"{suffix} {k}: {text[-60:]!r}", may_pass=False)
    yield row
