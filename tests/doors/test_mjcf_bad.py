"""MJCF that cannot be: every text is rejected in words, with its file and line."""

import numpy as np
import pytest

from liaison.errors import LiaisonError
from liaison.formats import reading_of_mjcf

BALL = '<geom size="0.1"/>'


def model(body: str = "", more: str = "", head: str = "") -> str:
    """A hinge j on a body a, with a site s."""
    return (
        f'<mujoco>{head}<worldbody>\n<site name="w"/><body name="a"><joint name="j"/>{BALL}'
        f'<site name="s"/>{body}</body>\n</worldbody>{more}</mujoco>'
    )


def alone(joint: str = "<joint/>", geom: str = BALL) -> str:
    return f'<mujoco><worldbody>\n<body name="a">{joint}{geom}</body></worldbody></mujoco>'


def drive(kind: str, attributes: str = 'joint="j"') -> str:
    return model(more=f'<actuator><{kind} name="m" {attributes}/></actuator>')


def tendon(text: str) -> str:
    return model(more=f"<tendon>{text}</tendon>")


def held(text: str) -> str:
    return model(more=f"<equality>{text}</equality>")


def key(text: str) -> str:
    return model(more=f"<keyframe><key {text}/></keyframe>")


def mesh(attributes: str) -> str:
    geom = '<geom type="mesh" mesh="m"/>'
    return model(f"<body><joint/>{geom}</body>", f'<asset><mesh name="m" {attributes}/></asset>')


BILLION = (
    '<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'
    '<mujoco model="&c;"/>'
)
DEEP = "<mujoco><worldbody>" + "<body>" * 80 + "</body>" * 80 + "</worldbody></mujoco>"
TRIANGLE = 'vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"'

BAD = {
    # text
    "empty": ("", "the text is empty"),
    "no XML": ("mujoco", "not well-formed"),
    "open element": ("<mujoco><worldbody></mujoco>", "not well-formed"),
    "other root": ("<robot/>", "MJCF begins with <mujoco>"),
    "entity": ('<!DOCTYPE m [<!ENTITY a "x">]><mujoco model="&a;"/>', "entities are not read"),
    "entity bomb": (BILLION, "entities are not read"),
    "external entity": ('<!DOCTYPE m [<!ENTITY a SYSTEM "file:///etc/passwd">]><mujoco/>',
                        "entities are not read"),
    "NUL": ("<mujoco>\0</mujoco>", "NUL character"),
    "deep": (DEEP, "deep|levels|nested"),
    "attribute twice": ('<mujoco model="a" model="b"/>', "not well-formed"),
    # files
    "include in a text": (model(head='<include file="b.xml"/>'), "a text has no folder"),
    "include without file": (model(head="<include/>"), "has no attribute 'file'"),
    "mesh in a text": (mesh('file="m.stl"'), "a text has no folder"),
    "model": (model('<attach model="zz" prefix="p"/>'), "no model is named 'zz'"),
    "frame of a model": (model('<attach model="zz" frame="f"/>'), "attaches a frame"),
    # settings
    "angle": (model(head='<compiler angle="grad"/>'), "angle of <compiler>"),
    "eulerseq": (model(head='<compiler eulerseq="xyzx"/>'), "three of x, y, z"),
    "coordinate": (model(head='<compiler coordinate="global"/>'), "only local coordinates"),
    "inertiafromgeom": (model(head='<compiler inertiafromgeom="maybe"/>'), "inertiafromgeom"),
    "groups": (model(head='<compiler inertiagrouprange="1"/>'), "two whole numbers"),
    "boundmass": (model(head='<compiler boundmass="much"/>'), "no finite number"),
    "settotalmass": (model(head='<compiler settotalmass="nan"/>'), "no finite number"),
    "flag": (model(head='<option><flag gravity="off"/></option>'), "state of flag"),
    "gravity": (model(head='<option gravity="0 0"/>'), "it takes 3"),
    "density": (model(head='<option density="thick"/>'), "no finite number"),
    # classes
    "class": (alone('<joint class="zz"/>'), "no class is named 'zz'"),
    "childclass": (model('<body childclass="zz"/>'), "no class is named 'zz'"),
    "class of an actuator": (drive("motor", 'joint="j" class="zz"'), "no class is named 'zz'"),
    "class without name": (model(head="<default><default/></default>"), "no attribute 'class'"),
    "class twice": (model(head='<default><default class="c"/><default class="c"/></default>'),
                    "'c' is given to two classes"),
    "default that cannot be": (
        model("<body><joint/></body>", head='<default><joint damping="x"/></default>'),
        "no finite number"),
    "class at the top": (model(head='<default class="x"/>'), "the class of all is 'main'"),
    "second class at the top": (model(head='<default/><default class="x"/>'), "is 'main'"),
    # numbers
    "NaN": (alone(geom='<geom size="nan"/>'), "no finite number"),
    "infinite": (alone(geom='<geom size="inf"/>'), "no finite number"),
    "huge": (alone(geom='<geom size="1e999"/>'), "not finite"),
    "too large": (alone(geom='<geom size="1e200"/>'), "too large|not finite|impossible"),
    "comma": (alone(geom='<geom size="0,1"/>'), "no finite number"),
    "hexadecimal": (alone(geom='<geom size="0x1p3"/>'), "no finite number"),
    "two for three": (model('<body pos="1 2"/>'), "it takes 3"),
    "zero quaternion": (model('<body quat="0 0 0 0"/>'), "is zero"),
    "two turns": (model('<body quat="1 0 0 0" euler="0 0 1"/>'), "turn twice"),
    # bodies
    "two bodies": (model('<body name="a"/>'), "'a' is given to two bodies"),
    "two joints": (model('<body><joint name="j"/></body>'), "'j' is given to two joints"),
    "two sites": (model('<site name="s"/>'), "'s' is given to two sites"),
    "body of the world's name": (model('<body name="world"/>'), "'world' is given to two bodies"),
    "two geoms": (model('<geom name="g" size="1"/><geom name="g" size="1"/>'),
                  "'g' is given to two geoms"),
    "two cameras": (model('<camera name="k"/><camera name="k"/>'), "two cameras"),
    "two sensors": (model(more='<sensor><clock name="k"/><clock name="k"/></sensor>'),
                    "two sensors"),
    "two equalities": (held('<joint name="k" joint1="j"/><weld name="k" body1="a"/>'),
                       "two equalities"),
    "two actuators": (drive("motor").replace("</actuator>", '<adhesion name="m" body="a"/>'
                      "</actuator>"), "two actuators"),
    "two exclusions": (model(more='<contact><exclude name="k" body1="a" body2="world"/><exclude '
                       'name="k" body1="a" body2="world"/></contact>'), "two exclusions"),
    "two meshes": (model(more='<asset><mesh file="k.stl"/><mesh file="b/k.obj"/></asset>'),
                   "two meshes"),
    "joint type": (alone('<joint type="hing"/>'), "no joint type is named 'hing'"),
    "axis": (alone('<joint axis="0 0 0"/>'), "no direction"),
    "free inside": (model("<body><freejoint/></body>"), "inside another"),
    "joint of the world": ("<mujoco><worldbody>\n<joint/></worldbody></mujoco>", "<joint> in"),
    "geom type": (alone(geom='<geom type="cone" size="1"/>'), "no type of geom is named 'cone'"),
    "sizes": (alone(geom='<geom type="box" size="1 2"/>'), "a box takes 3"),
    "no size": (alone(geom='<geom type="capsule" size="1 0"/>'), "sizes of a capsule are pos"),
    "negative size": (alone(geom='<geom size="-0.1"/>'), "a size of <geom> is -0.1; the sizes of"),
    "negative size of a geom without mass": (
        model('<geom type="box" size="1 -1 1" mass="0"/>'), "the sizes of a box are positive"),
    "negative size in the world": (
        f'<mujoco><worldbody>\n<geom size="-1"/><body><joint/>{BALL}</body></worldbody></mujoco>',
        "the sizes of a sphere"),
    "ends of a sphere": (alone(geom='<geom size="1" fromto="0 0 0 1 0 0"/>'), "has 'fromto'"),
    "ends and a place": (alone(geom='<geom type="capsule" size="1" fromto="0 0 0 1 0 0" '
                         'pos="0 0 0"/>'), "both 'fromto' and 'pos'"),
    "ends in a frame": (alone(geom='<frame><geom size="1" fromto="0 0 0 1 0 0"/></frame>'),
                        "has 'fromto'"),
    "full inertia turned": (
        alone(geom='<inertial mass="1" pos="0 0 0" fullinertia="1 1 1 0 0 0" quat="1 0 0 0"/>'),
        "both 'fullinertia' and 'quat'"),
    "half a group": (alone(geom='<geom size="1" group="0.5"/>'), "it is a whole number"),
    "friction": (model(more='<contact><pair geom1="g" geom2="h" friction="-1"/></contact>',
                 body='<geom name="g" size="1"/><body><joint/><geom name="h" size="1"/></body>'),
                 "it is not negative"),
    "point to itself": (alone(geom='<geom type="capsule" size="1" fromto="0 0 0 0 0 0"/>'),
                        "to itself"),
    "negative mass": (alone(geom='<geom size="1" mass="-1"/>'), "negative"),
    "negative density": (alone(geom='<geom size="1" density="-1"/>'), "negative"),
    "negative inertial": (alone(geom='<inertial pos="0 0 0" mass="-1"/>'), "negative"),
    "impossible": (alone(geom='<inertial pos="0 0 0" mass="1" diaginertia="1 1 5"/>'),
                   "impossible"),
    "two inertials": (alone(geom='<inertial pos="0 0 0" mass="1"/>' * 2), "it takes one"),
    "negative armature": (alone('<joint armature="-1"/>'), "not negative"),
    "negative stiffness": (alone('<joint stiffness="-1"/>'), "not negative"),
    "range": (alone('<joint range="1 -1"/>'), "below its begin"),
    "limited": (alone('<joint limited="perhaps" range="0 1"/>'), "value of 'limited'"),
    "not said": ('<mujoco><compiler autolimits="false"/><worldbody>\n<body><joint range="0 1"/>'
                 f"{BALL}</body></worldbody></mujoco>", "whether it is limited"),
    "range of a motor not said": (
        drive("motor", 'joint="j" ctrlrange="0 1"').replace(
            "<mujoco>", '<mujoco><compiler autolimits="false"/>'), "whether it is limited"),
    "range of a tendon not said": (
        tendon('<fixed range="0 1"><joint joint="j" coef="1"/></fixed>').replace(
            "<mujoco>", '<mujoco><compiler autolimits="false"/>'), "whether it is limited"),
    "copies": (model('<replicate count="1000000"><site/></replicate>'), "up to 10000"),
    "half a copy": (model('<replicate count="1.5"><site/></replicate>'), "up to 10000"),
    "copies of copies": (
        model('<replicate count="200">' * 3 + '<site/>' + "</replicate>" * 3), "more than 10000"),
    # meshes
    "mesh": (model('<geom type="mesh" mesh="zz"/>'), "no mesh is named 'zz'"),
    "flat mesh": (mesh(TRIANGLE), "encloses no mass"),
    "mesh without faces": (mesh('vertex="0 0 0 1 0 0 0 1 0"'), "four or more"),
    "flat corners": (mesh('vertex="0 0 0 1 0 0 0 1 0 1 1 0"'), "lie in a plane"),
    "corner that is not there": (mesh('vertex="0 0 0 1 0 0" face="0 1 2"'), "is not there"),
    "odd mesh": (mesh('vertex="0 0 0 1" face="0 1 2"'), "not three each"),
    "builtin": (mesh('builtin="sphere"'), "builtin, which is not read"),
    "fitted": (model('<geom type="box" mesh="m"/>'), "fitted to a mesh"),
    # tendons
    "joint of a tendon": (tendon('<fixed><joint joint="zz" coef="1"/></fixed>'), "no joint is"),
    "no coefficient": (tendon('<fixed><joint joint="j"/></fixed>'), "no attribute 'coef'"),
    "empty tendon": (tendon("<fixed/>"), "has no joint"),
    "site of a tendon": (tendon('<spatial><site site="zz"/></spatial>'), "no site is named 'zz'"),
    "one site": (tendon('<spatial><site site="s"/></spatial>'), "no two sites"),
    "divisor": (tendon('<spatial><site site="w"/><site site="s"/><pulley divisor="0"/></spatial>'),
                "not positive"),
    "two tendons": (tendon('<fixed name="t"><joint joint="j" coef="1"/></fixed>' * 2),
                    "'t' is given to two tendons"),
    "springlength": (tendon('<fixed stiffness="1" springlength="2 1"><joint joint="j" coef="1"/>'
                            "</fixed>"), "ends below its begin"),
    "wrapping": (tendon('<spatial><site site="w"/><geom geom="g"/><site site="s"/></spatial>'),
                 "wraps around a geom"),
    # words, and limits without ends
    "gravcomp": (alone('<joint actuatorgravcomp="yes"/>'), "value of 'actuatorgravcomp'"),
    "active": (held('<joint joint1="j" active="no"/>'), "value of 'active'"),
    "balanceinertia": (model(head='<compiler balanceinertia="yes"/>'), "balanceinertia of"),
    "autolimits": (model(head='<compiler autolimits="0"/>'), "autolimits of"),
    "limited joint": (alone('<joint limited="true"/>'), "has no 'range'"),
    "limited tendon": (tendon('<fixed limited="true"><joint joint="j" coef="1"/></fixed>'),
                       "has no 'range'"),
    "word of a tendon": (tendon('<fixed limited="TRUE" range="0 1"><joint joint="j" coef="1"/>'
                                "</fixed>"), "value of 'limited'"),
    "springdamper": (alone('<joint springdamper="0 1"/>'), "not positive"),
    # equalities
    "body of a weld": (held('<weld body1="zz"/>'), "no body is named 'zz'"),
    "site of a connect": (held('<connect site1="zz" site2="s"/>'), "no site is named 'zz'"),
    "sites of one body": (held('<connect site1="s" site2="s"/>'), "both sites"),
    "joint of an equality": (held('<joint joint1="zz"/>'), "no joint is named 'zz'"),
    "polycoef": (held('<joint joint1="j" polycoef="1 2 3 4 5 6"/>'), "at most 5"),
    "tendon of an equality": (held('<tendon tendon1="zz"/>'), "no tendon is named 'zz'"),
    # actuators
    "joint of a motor": (drive("motor", 'joint="zz"'), "no joint is named 'zz'"),
    "motor on nothing": (drive("motor", ""), "acts on nothing"),
    "motor on two": (drive("motor", 'joint="j" site="s"'), "one thing"),
    "gear": (drive("motor", 'joint="j" gear="1 2 3 4 5 6 7"'), "up to 6"),
    "ctrlrange": (drive("motor", 'joint="j" ctrlrange="1 -1"'), "not above its begin"),
    "forcelimited": (drive("motor", 'joint="j" forcelimited="no"'), "value of 'forcelimited'"),
    "gaintype": (drive("general", 'joint="j" gaintype="user"'), "which is not read"),
    "kp": (drive("position", 'joint="j" kp="stiff"'), "no finite number"),
    "muscle": (drive("muscle"), "<muscle> in <actuator> is not read"),
    "crank": (drive("motor", 'cranksite="s" slidersite="w" cranklength="0"'), "it is positive"),
    # keyframes, sensors
    "qpos": (key('qpos="1 2"'), "it takes 1"),
    "qvel": (key('qvel=""'), "it takes 1"),
    "ctrl": (key('ctrl="1"'), "it takes 0"),
    "sensor": (model(more='<sensor><jointpos joint="zz"/></sensor>'), "no joint is named 'zz'"),
    "site of a sensor": (model(more='<sensor><gyro site="zz"/></sensor>'), "no site is named"),
    "no ball": (model(more='<sensor><ballquat joint="j"/></sensor>'), "is no ball"),
    # what MuJoCo's compiler rejects
    "plane that moves": (alone(geom='<geom type="plane" size="1 1 1"/>'), "on body 'a', which mov"),
    "turn after a ball": (alone('<joint type="ball"/><joint/>'), "one that turns after it"),
    "mocap that moves": (model('<body mocap="true"/>'), "led from outside"),
    "range of a ball": (alone('<joint type="ball" range="1 40"/>'), "begins at 0"),
    "inertial without place": (model('<inertial mass="1"/>'), "has no attribute 'pos'"),
    "two inertias": (
        model('<inertial mass="1" pos="0 0 0" diaginertia="1 1 1" fullinertia="1 1 1 0 0 0"/>'),
        "both 'fullinertia' and 'diaginertia'"),
    "four sizes": (alone(geom='<geom size="1 2 3 4"/>'), "it takes at most 3"),
    "ends of a ball": (model('<site fromto="0 0 0 1 1 1"/>'), "is a sphere and has 'fromto'"),
    "place of a site": (
        model('<site type="box" pos="1 2 3" fromto="0 0 0 1 1 1"/>'), "both 'fromto' and 'pos'"),
    "activation of none": (drive("motor", 'joint="j" actrange="-1 1"'), "no activation"),
    "damper that drives": (drive("damper", 'joint="j" kv="-1" ctrlrange="0 1"'), "not negative"),
    "sites and bodies": (
        held('<connect site1="w" site2="s" body1="a"/>'), "both 'site1' and 'body1'"),
    "defaults twice": (
        model(head="<default><geom/><joint/><geom/></default>"), "<default> has two <geom>"),
    "damper by its class": (
        model(more='<actuator><damper joint="j" ctrlrange="0 1"/></actuator>',
              head='<default><general gaintype="affine" gainprm="0 0 2"/></default>'),
        "'kv' of <damper> is -2"),
    "damper that may drive": (drive("damper", 'joint="j" ctrlrange="-1 1"'), "not negative"),
    "refsite of a joint": (drive("motor", 'joint="j" refsite="s"'), "it goes with 'site'"),
    "crank of a joint": (drive("motor", 'joint="j" cranklength="1"'), "it goes with 'cranksite'"),
    "joint twice": (
        tendon('<fixed><joint joint="j" coef="1"/><joint joint="j" coef="1"/></fixed>'),
        "is in <fixed> twice"),
    "site twice": (
        tendon('<spatial><site site="w"/><site site="s"/><site site="s"/></spatial>'),
        "the site 's' of .* follows itself"),
    "last pulley": (
        tendon('<spatial><site site="w"/><site site="s"/><pulley divisor="2"/></spatial>'),
        "has nothing behind it"),
    "site alone": (
        tendon('<spatial><site site="w"/><site site="s"/><pulley divisor="2"/><site site="s"/>'
               "</spatial>"), "has no neighbor"),
    "medium": (model(head='<option density="-1"/>'), "it is not negative"),
    # what would make or move bodies
    "plugin": (model('<plugin plugin="p"/>'), "<plugin> in <body> is not read"),
    "flexcomp": (model("<flexcomp/>"), "<flexcomp> in <body> is not read"),
    "composite": (model("<composite/>"), "<composite> in <body> is not read"),
    "flex": (model(more='<deformable><flex name="f"/></deformable>'), "<flex> in <deformable>"),
    "flex equality": (held('<flex flex="f"/>'), "<flex> in <equality>"),
    "ellipsoid in a fluid": (alone(geom='<geom size="1" fluidshape="ellipsoid"/>'), "fluidshape"),
    "late": (drive("motor", 'joint="j" delay="0.1" nsample="2"'), "delay"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_is_rejected_in_words(name):
    text, words = BAD[name]
    with np.errstate(all="ignore"), pytest.raises(LiaisonError, match=words) as error:
        reading_of_mjcf(text, file="m.xml")
    assert "m.xml, line" in str(error.value)


def test_there_are_many():
    assert len(BAD) >= 60


# ---- files


def written(folder, **texts: str) -> str:
    for name, text in texts.items():
        (folder / f"{name}.xml").write_text(text)
    return str(folder / "m.xml")


FILES = {
    "itself": ({"m": '<mujoco><include file="m.xml"/></mujoco>'}, "included twice"),
    "a loop": (
        {"m": '<mujoco><include file="b.xml"/></mujoco>',
         "b": '<mujoco><include file="c.xml"/></mujoco>',
         "c": '<mujoco><include file="b.xml"/></mujoco>'}, "included twice"),
    "not there": ({"m": '<mujoco><include file="b.xml"/></mujoco>'}, "which is not there"),
    "outside": ({"m": '<mujoco><include file="../../etc/passwd"/></mujoco>'}, "outside the folder"),
    "from the root": ({"m": '<mujoco><include file="/etc/passwd"/></mujoco>'}, "outside the fold"),
    "a folder": ({"m": '<mujoco><include file="."/></mujoco>'}, "which is not there"),
    "no XML": ({"m": '<mujoco><include file="b.xml"/></mujoco>', "b": "x"}, "not well-formed"),
    "attached to itself": (
        {"m": '<mujoco><asset><model name="m" file="m.xml"/></asset><worldbody>'
              '<attach model="m" prefix="p"/></worldbody></mujoco>'}, "to itself"),
    "attached in a loop": (
        {"m": '<mujoco><asset><model name="b" file="b.xml"/></asset><worldbody>'
              '<attach model="b" prefix="p"/></worldbody></mujoco>',
         "b": '<mujoco><asset><model name="m" file="m.xml"/></asset><worldbody>'
              '<attach model="m" prefix="p"/></worldbody></mujoco>'}, "to itself"),
    "a damaged mesh": (
        {"m": mesh('file="m.xml.stl"'), "m.xml.stl": ""}, "which is not there|is damaged"),
    "a mesh of another kind": ({"m": mesh('file="m.xml"')}, "no .obj, .stl or .msh"),
    "a mesh outside": ({"m": mesh('file="../m.stl"')}, "outside the folder"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_files_that_cannot_be_opened_are_rejected(name, tmp_path):
    texts, words = FILES[name]
    path = written(tmp_path, **texts)
    with pytest.raises(LiaisonError, match=words) as error:
        reading_of_mjcf(texts["m"], file=path)
    assert ".xml, line" in str(error.value)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("m.stl", b"solid", "is damaged"),
        ("m.stl", bytes(80) + b"\xff\xff\xff\x7f", "its header counts"),
        ("m.stl", bytes(84), "no triangle"),
        ("m.obj", b"v 0 0\nf 1 1 1", "is damaged"),
        ("m.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3", "its point 1 is"),
        ("m.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9", "is not there"),
        ("m.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 three", "is damaged"),
        ("m.msh", b"\0\0\0", "is damaged"),
        ("m.msh", b"\xff" * 64, "is damaged"),
    ],
)
def test_damaged_meshes_are_rejected(name, data, words, tmp_path):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(LiaisonError, match=words):
        reading_of_mjcf(mesh(f'file="{name}"'), file="m.xml", folder=tmp_path)


def test_a_keyframe_that_is_not_there():
    with pytest.raises(LiaisonError, match="no keyframe is named 'up'"):
        reading_of_mjcf(key('name="down" qpos="1"'), keyframe="up")
