"""MJCF beside MuJoCo, where it is installed: the tables are whole, and accelerations agree."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from liaison.formats import reading_of_mjcf
from liaison.formats.mjcf.fields import ELEMENTS, verdict

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
  <contact><exclude body1="a" body2="c"/><pair geom1="g5" geom2="g1" condim="1"/></contact>
  </mujoco>"""


def test_the_pairs_that_may_touch_are_those_of_mujoco():
    wide = '<mujoco><default><geom margin="1e3"/><pair margin="1e3"/></default>'
    model = mujoco.MjModel.from_xml_string(TOUCHING.replace("<mujoco>", wide))
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
