"""Robots in files that cannot be: URDF and MJCF with what they include and the meshes they name.

Each is refused by an error with its file and line, or read with a note that names what was left
out; and nothing outside the folder of the model, or the root that is given, is opened: files with
good content lie there, and none of them is looked into.
"""

from __future__ import annotations

import os
import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import liaison
from attack.table import Row
from liaison.errors import LiaisonError

SECRET = "secret"
"""Name of what lies outside, and must not be opened."""

CUBE = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
SQUARES = ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")


class Case(NamedTuple):
    """A file that cannot be, what lies beside it, and how it is read."""

    text: str | bytes
    beside: Mapping[str, str | bytes] = {}
    options: Mapping[str, Any] = {}
    note: str = ""  # where it may be read: a word of the note that says what was left out


def obj(points: Any, faces: Any = SQUARES) -> str:
    """An OBJ file."""
    lines = [f"v {x} {y} {z}" for x, y, z in points]
    return "\n".join([*lines, *(f"f {x}" for x in faces)])


def stl(triangles: Any, count: int | None = None) -> bytes:
    """A binary STL file."""
    rows = [struct.pack("<12fH", 0, 0, 0, *np.ravel(x), 0) for x in triangles]
    return bytes(80) + struct.pack("<I", len(rows) if count is None else count) + b"".join(rows)


TRIANGLE = ((0, 0, 0), (1, 0, 0), (0, 1, 0))
NAN, INF = float("nan"), float("inf")
MESHES: dict[str, str | bytes] = {
    "empty.stl": b"",
    "empty.obj": "",
    "noise.stl": bytes(range(256)) * 4,
    "noise.obj": "\x01\x02 v f\nf x y z\n",
    "cut.stl": stl([TRIANGLE] * 4)[:-30],
    "counts.stl": stl([TRIANGLE], 2_000_000_000),
    "none.stl": stl([]),
    "flat.stl": stl([TRIANGLE]),
    "point.stl": stl([((0, 0, 0),) * 3] * 4),
    "line.stl": stl([((0, 0, 0), (1, 0, 0), (2, 0, 0))] * 4),
    "nan.stl": stl([((NAN, 0, 0), (1, 0, 0), (0, 1, 0))] * 4),
    "infinite.stl": stl([((INF, 0, 0), (1, 0, 0), (0, 1, 0))] * 4),
    "huge.stl": stl([((3e38, 0, 0), (0, 3e38, 0), (0, 0, 3e38))] * 4),
    "text.stl": "solid a\nfacet\nvertex 0 0 0\nvertex 1 0 0\nendsolid",
    "words.stl": "solid a\nvertex a b c\nvertex a b c\nvertex a b c",
    "flat.obj": obj([(x, y, 0) for x, y, _ in CUBE]),
    "thin.obj": obj([(x, y, 1e-12 * z) for x, y, z in CUBE]),
    "nan.obj": obj([*CUBE[:-1], ("nan", 0, 0)]),
    "short.obj": "v 0 0\nf 1 1 1",
    "corner.obj": obj(CUBE, ["1 2 99"]),
    "zero.obj": obj(CUBE, ["0 1 2"]),
    "faceless.obj": obj(CUBE, []),
    "three.obj": obj(CUBE[:3], ["1 2 3"]),
    "binary.obj": b"\xff\xfe\x00v 0 0 0",
}
"""Meshes of no volume, damaged, or with points that are none."""

# ---- URDF

URDF = """<robot name="r"><link name="a"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry>{shape}</geometry></collision></link>
<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/>{joint}
</joint>{more}</robot>"""
BALL = '<sphere radius="0.1"/>'
LIMIT = '<limit lower="-1" upper="1" effort="1" velocity="1"/>'
GROUND = {"ground": True, "floating": True}
TOUCHING = {"self_collision": True}


def urdf(shape: str = BALL, joint: str = LIMIT, more: str = "") -> str:
    """A robot of two links."""
    return URDF.format(shape=shape, joint=joint, more=more)


def mesh_link(name: str, scale: str = "") -> str:
    """A robot whose link touches with a mesh, and with a ball so that it has a foot."""
    size = f' scale="{scale}"' if scale else ""
    ball = f"</geometry></collision><collision><geometry>{BALL}"
    return urdf(f'<mesh filename="{name}"{size}/>{ball}')


PATHS = (
    f"../{SECRET}.stl", f"package://../{SECRET}.stl", f"package://p/../../{SECRET}.stl",
    f"package://p/%2e%2e/%2e%2e/{SECRET}.stl", "package://p", "package://", "package:///etc/passwd",
    "package://p/none.stl", f"file://../{SECRET}.stl", "file:///etc/hosts.stl", "/etc/hosts.stl",
    f"http://localhost/{SECRET}.stl", f"model://{SECRET}.stl", f"..\\{SECRET}.stl", "link.stl",
    ".", "", "none.stl", "a.dae", "a.ply", "a", f"package://p/link/{SECRET}.stl", "C:\\a.stl",
    "~/a.stl", "$HOME/a.stl",
)  # fmt: skip
"""Names of meshes that are not there, of another kind, or outside."""

WRONG_URDF: dict[str, Case] = {
    "mimic itself": Case(urdf(joint=f'{LIMIT}<mimic joint="j"/>')),
    "mimic of infinite ratio": Case(urdf(joint=f'{LIMIT}<mimic joint="j" multiplier="inf"/>')),
    "two axes": Case(urdf(joint=f'{LIMIT}<axis xyz="1 0 0"/>')),
    "axis of words": Case(urdf().replace('"0 1 0"', '"x y z"')),
    "no parent": Case(urdf().replace('<parent link="a"/>', "")),
    "two parents": Case(urdf(joint=f'{LIMIT}<parent link="a"/>')),
    "a joint of a joint": Case(urdf().replace('link="a"/><child', 'link="j"/><child')),
    "moment of nothing": Case(urdf().replace('ixx="1"', "", 1)),
    "mass of nothing": Case(urdf().replace('<mass value="1"/>', "<mass/>", 1)),
    "two masses": Case(urdf().replace('<mass value="1"/>', '<mass value="1"/>' * 2, 1)),
    "negative moment": Case(urdf().replace('ixx="1"', 'ixx="-1"', 1)),
    "box of two": Case(urdf('<box size="1 1"/>'), options=GROUND),
    "box of words": Case(urdf('<box size="a b c"/>'), options=GROUND),
    "negative box": Case(urdf('<box size="-1 1 1"/>'), options=GROUND),
    "flat cylinder": Case(urdf('<cylinder radius="1" length="-1"/>'), options=GROUND),
    "cylinder of nothing": Case(urdf("<cylinder/>"), options=GROUND),
    "capsule of nothing": Case(urdf('<capsule radius="1"/>'), options=GROUND),
    "ball of no size": Case(urdf('<sphere radius="0"/>'), options=GROUND),
    "ball of no size in a pair": Case(
        urdf('<sphere radius="-1"/>', more="").replace(
            "</inertial></link>", f"</inertial><collision><geometry>{BALL}</geometry></collision>"
            "</link>", 1), options=GROUND),
    "xacro": Case(urdf(more=f'<xacro:include filename="../{SECRET}.xml"/>'), note="xacro"),
    "xinclude": Case(urdf(more=f'<include href="../{SECRET}.xml"/>'), note="include"),
    "property of xacro": Case(urdf().replace('value="1"', 'value="${mass}"', 1)),
    "entity of a file": Case(f'<!DOCTYPE r [<!ENTITY a SYSTEM "../{SECRET}.xml">]>' + urdf()),
    "parameter entity": Case(f'<!DOCTYPE r SYSTEM "../{SECRET}.dtd">' + urdf()),
    "billion laughs": Case('<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]>' + urdf()),
    "style sheet": Case(urdf().replace("<robot", f'<?xml-stylesheet href="../{SECRET}.xml"?><x',
                                       1)),
    "UTF-16 without a mark": Case(urdf().encode("utf-16-le")),
    "not UTF-8": Case(urdf().replace("r", "\xff", 1).encode("latin-1")),
    "NUL": Case(urdf().replace('"r"', '"r\0"', 1)),
    "deep": Case('<robot name="r">' + "<link>" * 200 + "</link>" * 200 + "</robot>"),
    "long attribute": Case(urdf().replace('xyz="0 1 0"', f'xyz="{"1 " * 50000}"')),
    "many digits": Case(urdf().replace('value="1"', f'value="1e{"9" * 400}"', 1)),
    "a loop of nobody": Case(urdf(more='<loop name="l" type="revolute"><predecessor link="x"/>'
                                  '<successor link="b"/></loop>')),
    "a loop of no type": Case(urdf(more='<loop name="l"><predecessor link="a"/>'
                                   '<successor link="b"/></loop>')),
    "an SRDF outside": Case(urdf(), options={"srdf": "none.srdf"}),
    "an SRDF of a bomb": Case(urdf(), options={"srdf": '<!DOCTYPE r [<!ENTITY a "a">]><robot/>'}),
    "an SRDF without links": Case(urdf(), options={
        "srdf": '<robot name="r"><disable_collisions link1="a"/></robot>', **TOUCHING}),
    "a limit of a word": Case(urdf(joint='<limit lower="-pi" upper="1"/>'),
                              options={"limits": True}),
    "a limit turned round": Case(urdf(joint='<limit lower="1" upper="-1"/>'),
                                 options={"limits": True}),
    "ros2_control of nobody": Case(
        urdf(more='<ros2_control><joint name="x"><command_interface name="p"/></joint>'
             "</ros2_control>"), options={"motors": "position"}),
    "a base of nobody": Case(urdf(), options={"base": "x"}),
    "a state of nobody": Case(urdf(), options={"pose": {"x": 1}}),
}  # fmt: skip


def urdf_cases() -> dict[str, Case]:
    """Every URDF file, by name."""
    cases = dict(WRONG_URDF)
    for name in PATHS:
        cases[f"mesh {name!r}"] = Case(
            mesh_link(name), options={**GROUND, "package_root": "packages"}, note="mesh"
        )
    for name, data in MESHES.items():
        cases[f"mesh {name}"] = Case(mesh_link(name), {name: data}, GROUND, note="mesh")
    for scale in ("0 1 1", "1 2", "nan 1 1", "a b c", "1e400 1 1"):
        beside = {"a.obj": obj(CUBE)}
        cases[f"scale {scale}"] = Case(mesh_link("a.obj", scale), beside, GROUND, note="scale")
    return cases


# ---- MJCF


def mjcf(body: str = "", more: str = "", head: str = "") -> str:
    """A hinge j of a body a with a ball."""
    return (
        f'<mujoco>{head}<worldbody><body name="a"><joint name="j"/><geom name="g" size="0.1"/>'
        f'<site name="s"/>{body}</body></worldbody>{more}</mujoco>'
    )


def mjcf_mesh(file: str, more: str = "") -> str:
    """A body of a mesh."""
    inside = '<body><joint/><geom type="mesh" mesh="m"/></body>'
    return mjcf(inside, f'<asset><mesh name="m" file="{file}" {more}/></asset>')


def keyframe(text: str) -> str:
    """A state to begin from, with a motor."""
    motor = '<actuator><motor name="m" joint="j"/></actuator>'
    return mjcf(more=f'{motor}<keyframe><key name="k" {text}/></keyframe>')


STRANGERS = {
    "geom": '<geom class="zz" size="1"/>', "site": '<site class="zz"/>',
    "joint": '<body><joint class="zz"/></body>', "camera": '<camera class="zz"/>',
    "light": '<light class="zz"/>', "childclass": '<body childclass="zz"/>',
    "frame": '<frame childclass="zz"><geom size="1"/></frame>',
}  # fmt: skip
FURTHER = {
    "motor": '<actuator><motor class="zz" joint="j"/></actuator>',
    "position": '<actuator><position class="zz" joint="j"/></actuator>',
    "general": '<actuator><general class="zz" joint="j"/></actuator>',
    "fixed": '<tendon><fixed class="zz"><joint joint="j" coef="1"/></fixed></tendon>',
    "spatial": '<tendon><spatial class="zz"><site site="s"/><site site="s"/></spatial></tendon>',
    "connect": '<equality><connect class="zz" body1="a" anchor="0 0 0"/></equality>',
    "weld": '<equality><weld class="zz" body1="a"/></equality>',
    "equality of joints": '<equality><joint class="zz" joint1="j"/></equality>',
    "pair": '<contact><pair class="zz" geom1="g" geom2="g"/></contact>',
    "mesh": '<asset><mesh class="zz" name="m" file="a.obj"/></asset>',
}  # fmt: skip

KEYS = (
    'qpos="1 2"', 'qpos=""', 'qpos="x"', 'qpos="nan"', 'qvel="1 2 3"', 'qvel="inf"', 'ctrl="1 2"',
    'ctrl="x"', 'act="1 2"', 'time="late"', 'mpos="1"', 'mquat="1 0"',
)  # fmt: skip

LOOP = {
    "one.xml": '<mujoco><include file="two.xml"/></mujoco>',
    "two.xml": '<mujoco><include file="three.xml"/></mujoco>',
    "three.xml": '<mujoco><include file="one.xml"/></mujoco>',
}


def included(name: str) -> str:
    """A model that includes a file."""
    return f'<mujoco><include file="{name}"/></mujoco>'


WRONG_MJCF: dict[str, Case] = {
    "a loop of includes": Case(included("one.xml"), LOOP),
    "itself": Case(included("model.xml")),
    "a chain of includes": Case(included("c0.xml"), {
        f"c{k}.xml": included(f"c{k + 1}.xml") for k in range(300)}),
    "an include of noise": Case(included("noise.xml"), {"noise.xml": bytes(range(256))}),
    "an include of nothing": Case(included("empty.xml"), {"empty.xml": ""}),
    "an include of URDF": Case(included("r.xml"), {"r.xml": urdf()}, note="<link>"),
    "an include of a bomb": Case(included("b.xml"), {
        "b.xml": '<!DOCTYPE m [<!ENTITY a "a">]><mujoco model="&a;"/>'}),
    **{f"an include of {x!r}": Case(included(x)) for x in (
        f"../{SECRET}.xml", "/etc/passwd", "link.xml", "..", ".", "", f"x/../../{SECRET}.xml",
        f"file://../{SECRET}.xml", f"..\\{SECRET}.xml", "none.xml", "~/a.xml")},
    "a folder of meshes outside": Case(
        mjcf_mesh(f"{SECRET}.stl").replace("<mujoco>", '<mujoco><compiler meshdir=".."/>')),
    "a folder of assets outside": Case(
        mjcf_mesh(f"{SECRET}.stl").replace("<mujoco>", '<mujoco><compiler assetdir="/etc"/>')),
    "a model outside": Case(
        mjcf('<attach model="m" prefix="p"/>',
             f'<asset><model name="m" file="../{SECRET}.xml"/></asset>')),
    **{f"a class of {x}": Case(mjcf(text)) for x, text in STRANGERS.items()},
    **{f"a class of {x}": Case(mjcf(more=text), {"a.obj": obj(CUBE)})
       for x, text in FURTHER.items()},
    **{f"a keyframe {x}": Case(keyframe(x), note=x[:4] if x[0] == "m" else "") for x in KEYS},
    "a keyframe of nobody": Case(keyframe('qpos="1"'), options={"keyframe": "zz"}),
    "a keyframe of a number": Case(keyframe('qpos="1"'), options={"keyframe": 7}),
    "a pair of nobody": Case(mjcf(more='<contact><pair geom1="g" geom2="zz"/></contact>'),
                             options={"contacts": True}),
    "an exclusion of nobody": Case(
        mjcf(more='<contact><exclude body1="a" body2="zz"/></contact>'),
        options={"contacts": True}),
    "a plugin": Case(mjcf(more='<extension><plugin plugin="p"/></extension>'), note="extension"),
    "a plugin of a body": Case(mjcf('<plugin plugin="p"/>')),
    "a height field of nobody": Case(mjcf('<geom type="hfield" hfield="zz"/>')),
    "a height field outside": Case(
        mjcf('<geom type="hfield" hfield="h"/>',
             f'<asset><hfield name="h" file="../{SECRET}.png" size="1 1 1 1"/></asset>')),
    "not UTF-8": Case(mjcf().replace('"a"', '"\xff"', 1).encode("latin-1")),
    "UTF-16 without a mark": Case(mjcf().encode("utf-16-le")),
}  # fmt: skip


def mjcf_cases() -> dict[str, Case]:
    """Every MJCF file, by name."""
    cases = dict(WRONG_MJCF)
    for name, data in MESHES.items():
        if name != "thin.obj":  # it has some volume, and MuJoCo takes it
            cases[f"mesh {name}"] = Case(mjcf_mesh(name), {name: data})
    for name in (f"../{SECRET}.stl", "link.stl", "/etc/hosts.stl", "none.stl", "", ".", "a.dae"):
        cases[f"mesh {name!r}"] = Case(mjcf_mesh(name))
    fine = obj([(np.cos(k), np.sin(k), k % 7) for k in range(9000)],
               [f"{k} {k + 1} {k + 2}" for k in range(1, 8998, 2)] * 3)  # fmt: skip
    large = mjcf_mesh("fine.obj", 'inertia="convex"')
    cases["a mesh of too many corners for its hull"] = Case(large, {"fine.obj": fine})
    for more in ('scale="0 0 0"', 'scale="a b c"', 'refquat="0 0 0 0"', 'refpos="1 2"'):
        cases[f"mesh {more}"] = Case(mjcf_mesh("a.obj", more), {"a.obj": obj(CUBE)})
    return cases


# ---- the attack

OPENED: list[str] = []
"""Files that were opened since it was last emptied."""


def _hook(event: str, arguments: Any) -> None:
    if event == "open" and isinstance(arguments[0], str | bytes):
        OPENED.append(os.fsdecode(arguments[0]))


def lay_out(folder: Path, suffix: str, case: Case) -> Path:
    """The model in a folder of its own, what is beside it, links, and good files outside."""
    home = folder / "home"
    (home / "packages" / "p").mkdir(parents=True, exist_ok=True)
    good = {".stl": stl([TRIANGLE] * 4), ".xml": mjcf(), ".png": b"", ".dtd": ""}
    for end, data in good.items():
        _write(folder / f"{SECRET}{end}", data)
        if end in (".stl", ".xml") and not (home / f"link{end}").is_symlink():
            (home / f"link{end}").symlink_to(folder / f"{SECRET}{end}")
    if not (home / "packages" / "p" / "link").is_symlink():
        (home / "packages" / "p" / "link").symlink_to(folder)
    for name, data in case.beside.items():
        _write(home / name, data)
    path = home / f"model{suffix}"
    _write(path, case.text)
    return path


def _write(path: Path, data: str | bytes) -> None:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def check_read(path: Path, case: Case) -> None:
    """Reads a model.

    Raises:
        LiaisonError: it is refused, with a place.
        AssertionError: it is refused without one, read without a word, or opens what is outside.
    """
    options = dict(case.options)
    if "package_root" in options:
        options["package_root"] = path.parent / options["package_root"]
    OPENED.clear()
    try:
        content = liaison.reading(path, **options)
        if not case.note or not any(case.note in x for x in content.notes):
            raise AssertionError(f"read without a word: {content.notes}")
    except LiaisonError as error:
        named = (path.name, *map(str, options.values()), "'")
        if not error.place and not any(x in str(error) for x in named):
            raise AssertionError(f"no place: {error}") from None
        raise
    finally:
        outside = [x for x in OPENED if SECRET in x or x.startswith("/etc/")]
        if outside:
            raise AssertionError(f"opened {outside[0]}") from None


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """A row for each language."""
    if _hook not in HOOKED:
        HOOKED.append(_hook)
        sys.addaudithook(_hook)
    step = max(1, int(0.2 / max(scale, 1e-3)))
    for suffix, cases in ((".urdf", urdf_cases()), (".xml", mjcf_cases())):
        row = Row(f"bad robots {suffix}", f"{len(cases)} files, refused or noted; none outside")
        for k, (name, case) in enumerate(list(cases.items())[::step]):
            path = lay_out(folder / f"{suffix[1:]}{k}", suffix, case)
            row.attempt(lambda path=path, case=case: check_read(path, case), name)
        yield row


HOOKED: list[Any] = []
"""The hook, once it is set: it stays for the life of the process."""
