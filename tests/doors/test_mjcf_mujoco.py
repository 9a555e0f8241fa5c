"""MJCF beside MuJoCo, where it is installed: the tables are whole, and accelerations agree."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.formats import reading_of_mjcf
from liaison.formats.mjcf.fields import ELEMENTS, verdict
from liaison.model import Memory

mujoco = pytest.importorskip("mujoco")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import robots_mjcf  # noqa: E402 (MuJoCo first)

LINE = re.compile(r"^( *)(\(world\)body|\w+) \((.)\) *(.*)$")
INSIDE = ("", "default", "fixed", "spatial")
"""Parents whose children have no attributes of their own to judge."""


def schema() -> list[tuple[str, str, list[str]]]:
    """(parent, element, attributes) of MuJoCo's own schema."""
    rows: list[tuple[str, str, list[str]]] = []
    path: list[str] = []
    for line in mujoco.mj_printSchema(False, False).splitlines():
        match = LINE.match(line)
        if match:
            depth, tag = len(match[1]) // 3, match[2].replace("(world)", "")
            path = [*path[:depth], tag]
            rows.append((path[-2] if depth else "", tag, match[4].split()))
        elif rows:
            rows[-1][2].extend(line.split())
    return rows


def test_every_element_and_attribute_of_the_schema_has_a_verdict():
    missing = []
    for parent, tag, attributes in schema():
        verdicts = {"read": "body"} if tag == "body" else ELEMENTS.get(parent, {})
        known = {x: kind for kind, words in verdicts.items() for x in words.split()}
        if known and tag not in known:
            missing.append(f"<{tag}> in <{parent}>")
        kind = f"equality {tag}" if parent == "equality" else tag
        if known.get(tag) == "read" and parent not in INSIDE and tag not in ("default", "plugin"):
            missing += [f"{x!r} of <{kind}>" for x in attributes if not verdict(kind, x)]
    assert len(schema()) > 150
    assert not missing


SUMS = """<mujoco><compiler angle="radian"/><option><flag/></option><worldbody>
  <site name="w" pos="0.3 0.2 1"/><body name="a" pos="0 0 0.5" gravcomp="0.3"><joint name="h"
    axis="0 1 0.2" actuatorgravcomp="true" actuatorfrcrange="-5 3"/><geom type="capsule"
    fromto="0 0 0 0.4 0 0.1" size="0.04"/><site name="s" pos="0.3 0 0" euler="1 2 3"/>
    <body name="b" pos="0.4 0 0.1" gravcomp="0.8"><joint name="l" type="slide" axis="1 0 0.3"
      actuatorfrcrange="-5 3"/><geom name="g" type="box" size="0.1 0.2 0.05" pos="0.1 0 0"
      euler="0.1 0.2 0.3"/><site name="e" pos="0 0.1 0" euler="0.3 0.4 0.5"/>
      <body name="c" pos="0.1 0.2 0.3" gravcomp="0.5"><joint name="o" type="ball"
        actuatorgravcomp="true"/><geom type="box" size="0.1 0.2 0.05" pos="0.1 0.1 0.1"/>
        <site name="t" pos="0.2 0.1 0.1" euler="0.3 0.2 0.3"/></body></body></body>
  <body name="d" pos="3 3 3"><joint name="f" type="free"/><geom type="box" size="0.1 0.2 0.3"/>
  </body></worldbody>
  <tendon><spatial name="p"><site site="w"/><site site="s"/><site site="e"/></spatial><fixed
    name="x" actuatorfrcrange="-2 3"><joint joint="h" coef="0.7"/><joint joint="l" coef="-2"/>
    </fixed></tendon>
  <actuator><motor joint="h" gear="3"/><position joint="h" kp="7" kv="0.3" gear="-2"/><motor
    tendon="p" gear="-2"/><position tendon="x" kp="20" forcerange="-7 8"/><motor tendon="x"
    gear="4"/><motor site="t" gear="1 2 3 4 5 6"/><position site="e" refsite="w" gear="1 2 3"
    kp="3" kv="0.2"/><position site="e" refsite="w" gear="0 0 0 1 2 3" kp="3" kv="0.2"/><position
    cranksite="s" slidersite="w" cranklength="2" gear="3" kp="5" kv="0.2"/><position joint="o"
    gear="0 0 0.3" kp="3" kv="0.1" forcerange="-2 2"/><position jointinparent="o" gear="0.3 0.4 0"
    kp="3" kv="0.1"/><velocity joint="l" group="3" kv="3"/><general joint="l" group="3"
    forcerange="1 2" dyntype="filter" dynprm="1"/><velocity joint="f" gear="1 2 3 4 5 6" kv="3"/>
    <position jointinparent="f" gear="1 2 3 4 5 6" kp="2" kv="3"/></actuator></mujoco>"""

REJECTED = [('class="i"', tag) for tag in ("motor", "position", "velocity")]
"""By MuJoCo itself: they have no activation for the class's `actrange`."""

TEXTS = {
    "tendons and servos": """<mujoco><compiler angle="radian"/><default><joint damping="0.2"/>
      <default class="p"><position kp="5" kv="0.3" forcerange="-1 2"/></default></default>
      <worldbody><site name="w" pos="0.2 0.1 1"/>
      <body name="a" pos="0 0 0.5"><joint name="h" axis="0 1 0.2" armature="0.3" ref="0.1"
        springref="0.4" stiffness="2"/><geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.04"/>
        <site name="s" pos="0.3 0 0"/>
        <body name="b" pos="0.4 0 0.1" gravcomp="0.5"><joint name="ball" type="ball" stiffness="1"/>
          <geom type="ellipsoid" size="0.1 0.2 0.05"/><site name="e" pos="0 0.1 0" euler="1 2 3"/>
        </body></body>
      <frame pos="1 0 0" euler="0.3 0 0"><body name="c"><freejoint/>
        <geom type="box" size="0.1 0.2 0.3"/><geom type="cylinder" size="0.1 0.3" pos="0 0 0.4"/>
      </body></frame></worldbody>
      <tendon><spatial name="t" stiffness="3" damping="0.4" armature="0.2"><site site="w"/>
        <site site="s"/><site site="e"/></spatial>
        <fixed name="f" stiffness="2" springlength="-0.1 0.2"><joint joint="h" coef="0.7"/></fixed>
      </tendon>
      <actuator><position class="p" joint="h" gear="2"/><motor tendon="t" gear="-2"/>
        <motor site="e" gear="1 2 3 4 5 6"/><motor joint="ball" gear="1 2 3"/>
        <velocity tendon="f" kv="3"/></actuator></mujoco>""",
    "activations": """<mujoco><default><default class="slow"><position timeconst="0.3"/></default>
      <default class="c"><cylinder timeconst="0.2" area="3"/></default></default><worldbody>
      <body name="a" pos="0 0 0.5"><joint name="h" axis="0 1 0.2"/><joint name="s" type="slide"/>
        <geom type="capsule" fromto="0 0 0 0.4 0 0.1" size="0.04"/></body></worldbody>
      <actuator><position class="slow" joint="h" kp="3" ctrlrange="-0.2 0.3"/>
        <position joint="s" kp="2" timeconst="0.05"/><cylinder class="c" joint="s" bias="1 2 3"/>
        <motor joint="h" gear="2"/><cylinder joint="s" diameter="0.7"/>
        <intvelocity joint="h" kp="4" kv="0.5" actrange="-0.4 0.6"/>
        <general joint="s" dyntype="integrator" gainprm="2" actlimited="true" actrange="-1 0.5"/>
        <general joint="h" dyntype="filter" dynprm="0.7" gaintype="affine" gainprm="1 2 3"
          biastype="affine" biasprm="1 -2 0.3" forcerange="-1 2"/>
        <general joint="h" dyntype="filterexact" dynprm="0.1"/></actuator></mujoco>""",
    "shortcuts over other shortcuts": """<mujoco><default><position kp="4" kv="0.2" gear="2"
      forcerange="-3 3"/><default class="v"><velocity kv="3"/></default><default class="m"><motor
      gear="3"/></default><default class="g"><general gainprm="5 1 2" gaintype="affine"/></default>
      <default class="d"><damper kv="0.7" ctrlrange="0 1"/></default><default class="i"><intvelocity
      kp="2" actrange="-0.3 0.3"/></default><default class="f"><general gainprm="3" dynprm="0.4"
      dyntype="filterexact"/><cylinder timeconst="0.2"/></default></default><worldbody><body><joint
      name="j" axis="0 1 0"/><geom size="0.1" pos="1 0 0"/></body></worldbody><actuator>"""
    + "".join(
        f'<{tag} {group} joint="j"/>'
        for group in ("", 'class="v"', 'class="m"', 'class="g"', 'class="i"', 'class="f"')
        for tag in ("general", "motor", "position", "velocity", "intvelocity", "cylinder")
        if (group, tag) not in REJECTED
    )
    + """<general class="d" joint="j"/><damper class="d" joint="j"/><motor class="d" joint="j"/>
      <position class="d" joint="j"/></actuator></mujoco>""",
    "bounded sums": SUMS,
    "bounded sums with a group off": SUMS.replace("<option", '<option actuatorgroupdisable="3"'),
    "gravity without actuators": SUMS.replace("<flag", '<flag actuation="disable"'),
    "no passive forces": SUMS.replace("<flag", '<flag spring="disable" damper="disable"').replace(
        "<option", '<option density="30" viscosity="1"'
    ),
    "frames in a fluid": """<mujoco><option density="900" viscosity="0.2" wind="1 0 0.5"/>
      <worldbody>
      <body pos="1 2 3" euler="40 50 60"><freejoint/><frame euler="30 40 50" pos="1 2 3"><geom
        type="capsule" fromto="0 0 0 0.3 0.2 0.5" size="0.1"/></frame></body>
      <body><freejoint/><geom type="box" fromto="0 0 0 0.3 0 0" size="0.1"/></body>
      <body><freejoint/><geom size="0.1" pos="0.3 0 0"/><geom size="0.1" pos="0 0.2 0.1"/></body>
      <body><freejoint/><inertial mass="1" pos="0 0.1 0" diaginertia="1 2 2" euler="2 3 4"/></body>
      <body><freejoint/><inertial mass="1" pos="0 0.1 0" fullinertia="1.5 1.5 1 0.5 0 0"/></body>
      <body><freejoint/><inertial mass="1" pos="0 0.1 0" fullinertia="2 1.5 1 0.1 0.2 0.3"/></body>
      </worldbody></mujoco>""",
    "automatic springs": """<mujoco><worldbody><body name="a" pos="0 0 0.5"><joint name="h"
      axis="0 1 0.2" springdamper="0.1 0.8"/><geom size="0.1" pos="0.2 0 0"/><site name="s"
      pos="0.3 0 0"/><body><joint name="k" type="slide" springdamper="0.2 0.4" armature="2"/>
      <geom size="0.1"/></body></body><site name="w" pos="0 1 0"/></worldbody><tendon>
      <fixed name="h" armature="3" stiffness="2"><joint joint="k" coef="2"/></fixed>
      <spatial armature="2"><site site="w"/><site site="s"/></spatial></tendon></mujoco>""",
    "repetitions in a fluid": """<mujoco><option density="900" viscosity="0.2" wind="1 0 0.5"/>
      <compiler settotalmass="5"/><worldbody>
      <replicate count="3" offset="0.1 0.2 1" euler="10 20 30"><body pos="0.1 0 0"><freejoint/>
        <geom type="box" size="0.1 0.2 0.3"/></body></replicate></worldbody></mujoco>""",
}


@pytest.mark.parametrize("name", TEXTS)
def test_mujoco_accelerates_alike(name):
    text = TEXTS[name]
    pair = robots_mjcf.Pair(reading_of_mjcf(text).mechanism, mujoco.MjModel.from_xml_string(text))
    assert pair.inertia < 1e-9
    rng = np.random.default_rng(1)
    assert max(pair.difference(rng) for _ in range(10)) < robots_mjcf.TOLERANCE


def test_a_difference_is_seen():
    text = TEXTS["tendons and servos"]
    model = mujoco.MjModel.from_xml_string(text.replace('armature="0.3"', 'armature="0.31"'))
    pair = robots_mjcf.Pair(reading_of_mjcf(text).mechanism, model)
    assert pair.difference(np.random.default_rng(1)) > 1e-6


TOUCHING = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 2"><freejoint/><geom name="g1" size="0.1"/>
    <body name="fixed" pos="0.5 0 0"><geom name="g2" size="0.1"/></body>
    <body name="b" pos="0 0 0.5"><joint/><geom name="g3" type="capsule" size="0.1 0.2"/>
      <body name="c" pos="0 0 0.5"><joint/><geom name="g4" size="0.2" condim="4"
        friction="0.3 0.02"/></body></body></body>
  <body name="d" pos="3 0 1"><freejoint/><geom name="g5" size="0.1" contype="2" conaffinity="2"/>
    <geom name="g6" size="0.1" pos="0 0 1" priority="1" friction="0.7" condim="6"/></body>
  <body name="e"><geom name="g7" type="capsule" size="0.1 0.1"/></body></worldbody>
  <contact><exclude body1="a" body2="c"/><pair geom1="g5" geom2="g1" condim="1"/>
    <pair geom1="g4" geom2="g1" friction="0.1 0.1 0.2 0.3 0.3" condim="6"/><pair geom1="g6"
    geom2="floor"/><pair geom1="g3" geom2="g1" condim="4"/></contact>
  </mujoco>"""


def wide(text: str):
    """MuJoCo's model, with contacts of all pairs wherever they are."""
    margins = '<mujoco><default><geom margin="1e3"/><pair margin="1e3"/></default>'
    text = text.replace("<mujoco>", margins).replace("o_friction", 'o_margin="1e3" o_friction')
    return mujoco.MjModel.from_xml_string(text)


def test_the_pairs_that_may_touch_are_those_of_mujoco():
    model = wide(TOUCHING)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    theirs = {frozenset(model.geom(int(k)).name for k in contact.geom) for contact in data.contact}
    laws = {
        frozenset(model.geom(int(k)).name for k in x.geom): (x.dim, tuple(x.friction[[0, 2, 3]]))
        for x in data.contact
    }
    content = reading_of_mjcf(TOUCHING, contacts=True)
    ours = {frozenset(x.name.removeprefix("contact ").split("-")): x for x in
            content.mechanism.contacts}  # fmt: skip
    assert ours.keys() == theirs
    for pair, contact in ours.items():
        dim, (sliding, pivoting, rolling) = laws[pair]
        friction = contact.friction
        assert float(friction.sliding) == pytest.approx(sliding if dim >= 3 else 0), pair
        assert float(friction.pivoting) == pytest.approx(pivoting if dim >= 4 else 0), pair
        assert float(friction.rolling) == pytest.approx(rolling if dim >= 6 else 0), pair
    noted = reading_of_mjcf(TOUCHING).notes
    assert any(x.startswith(f"{len(theirs)} pairs of geoms may touch") for x in noted)


@pytest.mark.parametrize("flag", ['filterparent="disable"', 'override="enable"'])
def test_flags_of_contacts_are_those_of_mujoco(flag):
    option = f'<mujoco><option o_friction="0.3 0.3 0.2 0.1 0.1"><flag {flag}/></option>'
    text = TOUCHING.replace("<mujoco>", option)
    data = mujoco.MjData(model := wide(text))
    mujoco.mj_forward(model, data)
    theirs = {frozenset(model.geom(int(k)).name for k in x.geom): x for x in data.contact}
    ours = {frozenset(x.name.removeprefix("contact ").split("-")): x for x in
            reading_of_mjcf(text, contacts=True).mechanism.contacts}  # fmt: skip
    assert ours.keys() == theirs.keys()
    for pair, contact in ours.items():
        sliding = theirs[pair].friction[0] if theirs[pair].dim >= 3 else 0
        assert float(contact.friction.sliding) == pytest.approx(sliding), pair


KINDS = {"body": ("b", "a"), "xbody": ("c", "b"), "geom": ("g", "g"), "site": ("t", "s")}


def sensors() -> str:
    """Every frame against every other, and all that is read of SUMS."""
    lines = ['<e_kinetic name="T"/><magnetometer name="mag" site="t"/><gyro name="gyro" site="t"/>'
             '<velocimeter name="v" site="e"/>']  # fmt: skip
    for tag in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel"):
        for kind, (name, _) in KINDS.items():
            first = f'<frame{tag} name="{tag} {kind}" objtype="{kind}" objname="{name}"'
            lines.append(f"{first}/>")
            lines += [f'{first} reftype="{x}" refname="{ref}"/>'.replace(kind, f"{kind} {x}", 1)
                      for x, (_, ref) in KINDS.items()]  # fmt: skip
    for tag in ("subtreecom", "subtreelinvel", "subtreeangmom"):
        lines += [f'<{tag} name="{tag} {x}" body="{x}"/>' for x in ("world", "a", "b", "d")]
    lines += [f'<jointactuatorfrc name="effort {x}" joint="{x}"/>' for x in "hl"]
    lines += [f'<tendonactuatorfrc name="pull {x}" tendon="{x}"/>' for x in "px"]
    lines += [f'<actuator{tag} name="{tag} {k}" actuator="m{k}"/>'
              for tag in ("pos", "vel", "frc") for k in range(15)]  # fmt: skip
    return "".join(lines)


def test_sensors_read_what_those_of_mujoco_read():
    parts = re.split(r"(?<=<)(motor|position|velocity|general)(?=\s)", SUMS)
    count = iter(range(20))
    named = "".join(f'{x} name="m{next(count)}"' if k % 2 else x for k, x in enumerate(parts))
    text = named.replace("</actuator>", f"</actuator><sensor>{sensors()}</sensor>")
    mechanism = reading_of_mjcf(text).mechanism
    pair = robots_mjcf.Pair(mechanism, model := mujoco.MjModel.from_xml_string(text))
    kernel, rng = liaison.compile(mechanism), np.random.default_rng(2)
    names = [x.name for x in mechanism.outputs]
    for _ in range(3):
        pair.difference(rng)  # sets the state
        q, v, u = state(pair)
        outputs = np.concatenate(
            [np.ravel(x) for x in kernel.call("outputs", t=0, q=q, v=v, u=u).values()]
        )
        ours = dict(zip(names, outputs, strict=True))
        for k in range(model.nsensor):
            sensor, at = model.sensor(k), model.sensor_adr[k]
            theirs = pair.data.sensordata[at : at + model.sensor_dim[k]]
            own = np.array([x for name, x in ours.items() if name.split(".")[0] == sensor.name])
            if len(own) == 4 and own @ theirs < 0:
                own = -own  # a turn has two quaternions
            assert own == pytest.approx(theirs, abs=1e-9), sensor.name


def state(pair) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """q, v, u of where MuJoCo is."""
    model, data, labels = pair.model, pair.data, pair.labels
    values = {}
    for joint, k in pair.joints:
        n = len(joint.coordinates)
        own = (
            data.qpos[model.jnt_qposadr[k] :][:n]
            - (model.jnt_type[k] > 1) * model.qpos0[model.jnt_qposadr[k] :][:n]
        )
        speeds = data.qvel[model.jnt_dofadr[k] :][: len(joint.speeds)].copy()
        if n == 7:
            R = np.array(joint.type.pose(own)[0], dtype=float)
            speeds = np.concatenate((speeds[3:], R.T @ speeds[:3]))
        values |= dict(zip(joint.coordinates, own, strict=True))
        values |= dict(zip(joint.speeds, speeds, strict=True))
    memories = [x.name for x in pair.mechanism.forces if isinstance(x, Memory)]
    values |= dict(zip(memories, data.act, strict=True))
    values |= dict(zip(labels["u"], data.ctrl, strict=True))
    q, v, u = (np.array([values[x] for x in labels[key]]) for key in "qvu")
    return q, v, u
