"""Sensors of MJCF as outputs, against closed forms."""

from typing import Any

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.expr import evaluate, symbol
from liaison.formats import read_lsd, reading_of_mjcf
from liaison.formats.lsd.write.write import write_lsd

TEXT = """<mujoco><option gravity="0 0 0" magnetic="1 2 3"/><worldbody>
  <site name="w" pos="1 0 0" euler="0 0 90"/>
  <body name="a"><joint name="j" axis="0 0 1" {joint}/><inertial mass="2" pos="1 0 0"
    diaginertia="3 4 5" euler="0 0 90"/><site name="s" pos="2 0 0"/>
    <geom name="g" type="capsule" mass="0" fromto="0 0 0 1 0 0" size="0.1"/>
    <body name="b" pos="2 0 0"><joint name="k" type="slide" axis="1 0 0"/>
      <inertial mass="1" pos="0 0 0" diaginertia="0 0 0"/></body></body>
  <body name="c" pos="0 0 5"><geom size="1" mass="3"/></body></worldbody>
  <tendon><fixed name="t" {tendon}><joint joint="j" coef="2"/></fixed></tendon>
  <actuator><motor name="m" joint="j" gear="3" forcerange="-1 1"/><motor name="n" tendon="t"/>
    <motor name="p" site="s" gear="0 1 0 0 0 2"/><adhesion name="o" body="a" ctrlrange="0 1"/>
  </actuator><sensor>{sensors}</sensor></mujoco>"""
Q, W = 0.3, 2.0
U = {"m ctrl": 5.0, "n ctrl": 0.5, "p ctrl": 0.25}
X, Y = np.array([np.cos(Q), np.sin(Q), 0]), np.array([-np.sin(Q), np.cos(Q), 0])
S = 2 * X  # the site s
MIDDLE = (2 * X + 2 * X) / 3  # of a and b together
FAST = (2 * Y + 2 * Y) / 3 * W
SPREAD = 2 * (1 - 4 / 3) ** 2 + 1 * (2 - 4 / 3) ** 2


def content(sensors: str, joint: str = "", tendon: str = "") -> Any:
    return reading_of_mjcf(TEXT.format(sensors=sensors, joint=joint, tendon=tendon))


def values(sensor: str, **more: str) -> np.ndarray:
    """Of one sensor, at a state."""
    mechanism = content(sensor.replace(" ", ' name="x" ', 1), **more).mechanism
    state = {"j": Q, "j'": W, "k": 0.0, "k'": 0.0}
    run = liaison.simulate(mechanism, until=1e-9, start=state, inputs=U)
    return np.array([run[f"outputs.{x.name}"][0] for x in mechanism.outputs])


def of(tag: str, kind: str, name: str, against: tuple[str, str] | None = None) -> str:
    ref = f'reftype="{against[0]}" refname="{against[1]}"' if against else ""
    return f'<{tag} objtype="{kind}" objname="{name}" {ref}/>'


HALF = np.cos(Q / 2), 0, 0, np.sin(Q / 2)
E_W = np.array([1, 0, 0, 1]) / np.sqrt(2)


@pytest.mark.parametrize(
    ("sensor", "expected"),
    [
        (of("framepos", "xbody", "a"), (0, 0, 0)),
        (of("framepos", "body", "a"), X),
        (of("framepos", "body", "world"), (0, 0, 0)),
        (of("framepos", "geom", "g"), X / 2),
        (of("framepos", "site", "s", ("site", "w")), (S[1], -(S[0] - 1), 0)),
        (of("framepos", "site", "w", ("xbody", "a")), (np.cos(Q), -np.sin(Q), 0)),
        (of("framequat", "xbody", "a"), HALF),
        (of("framequat", "xbody", "a", ("xbody", "b")), (1, 0, 0, 0)),
        (of("framexaxis", "xbody", "a"), X),
        (of("framexaxis", "body", "a"), Y),  # its inertia is turned by 90°
        (of("frameyaxis", "body", "a"), -X),
        (of("framezaxis", "geom", "g"), -X),  # from its end back
        (of("frameyaxis", "geom", "g"), Y),
        (of("framexaxis", "site", "w", ("xbody", "a")), (np.sin(Q), np.cos(Q), 0)),
        (of("framelinvel", "site", "s"), 2 * W * Y),
        (of("framelinvel", "geom", "g"), W * Y / 2),
        (of("framelinvel", "site", "s", ("xbody", "a")), (0, 0, 0)),
        (of("framelinvel", "site", "w", ("xbody", "a")), (-W * np.sin(Q), -W * np.cos(Q), 0)),
        (of("frameangvel", "geom", "g"), (0, 0, W)),
        (of("frameangvel", "site", "w", ("xbody", "a")), (0, 0, -W)),
        ('<magnetometer site="w"/>', (2, -1, 3)),
        ('<subtreecom body="a"/>', MIDDLE),
        ('<subtreecom body="b"/>', 2 * X),
        ('<subtreecom body="world"/>', (3 * MIDDLE + 3 * np.array([0, 0, 5])) / 6),
        ('<subtreelinvel body="a"/>', FAST),
        ('<subtreeangmom body="a"/>', (0, 0, (5 + SPREAD) * W)),
        ("<e_kinetic />", [(2 * 1 + 1 * 4 + 5) * W**2 / 2]),
        ('<actuatorpos actuator="m"/>', [3 * Q]),
        ('<actuatorpos actuator="p"/>', [0]),
        ('<actuatorvel actuator="p"/>', [2 * W + 2 * W]),
        ('<actuatorfrc actuator="m"/>', [1]),
        ('<actuatorfrc actuator="p"/>', [0.25]),
        ('<tendonactuatorfrc tendon="t"/>', [0.5]),
        ('<jointactuatorfrc joint="j"/>', [3 * 1 + 2 * 0.5 + (2 + 2) * 0.25]),
    ],
)  # fmt: skip
def test_readings_are_those_of_closed_forms(sensor, expected):
    assert values(sensor) == pytest.approx(np.array(expected), abs=1e-6)


def test_efforts_are_within_their_ranges():
    assert values('<jointactuatorfrc joint="j"/>', joint='actuatorfrcrange="-4 4"') == [4]
    read = values('<tendonactuatorfrc tendon="t"/>', tendon='actuatorfrcrange="-0.25 0.25"')
    assert read == pytest.approx([0.25])


def test_armature_has_kinetic_energy():
    assert values("<e_kinetic />", joint='armature="3"') == pytest.approx([(11 + 3) * W**2 / 2])


def test_sensors_are_written_as_lsd():
    mechanism = content(of("framequat", "geom", "g", ("body", "a"))).mechanism
    assert read_lsd(write_lsd(mechanism)) == mechanism


def test_sensors_that_are_not_read_are_named():
    notes = content(
        '<accelerometer site="s"/><jointlimitpos joint="j"/><e_potential/><touch site="s"/>'
        '<actuatorpos actuator="o"/><framepos objtype="camera" objname="k"/>'
    ).notes
    for word in ("<accelerometer> in <sensor>", "<jointlimitpos> in <sensor>",
                 "<e_potential> in <sensor>", "<touch> in <sensor>", "<framepos> of a camera",
                 "<actuatorpos> of an actuator that is not read"):  # fmt: skip
        assert any(note.startswith(f"{word} is not used") for note in notes), word


@pytest.mark.parametrize(
    ("sensor", "words"),
    [
        (of("framepos", "geom", "zz"), "no geom is named 'zz'"),
        (of("framepos", "tendon", "t"), "no value of 'objtype' is named 'tendon'"),
        (of("framepos", "site", "s", ("xbody", "zz")), "no body is named 'zz'"),
        ('<framepos objname="a"/>', "has no attribute 'objtype'"),
        ('<framepos objtype="site" objname="s" refname="w"/>', "has no attribute 'reftype'"),
        ('<subtreecom body="zz"/>', "no body is named 'zz'"),
        ('<actuatorpos actuator="zz"/>', "no actuator is named 'zz'"),
    ],
)
def test_sensors_of_nothing_are_rejected(sensor, words):
    with pytest.raises(LiaisonError, match=words):
        content(sensor)


def test_a_sensor_of_a_body_without_mass_is_where_it_is():
    """Its inertia is placed as its frame is, in it: R p + p and R R. Source: MuJoCo 4.0."""
    text = (
        '<mujoco><worldbody><body name="a" pos="1 2 3" euler="0 0 90"><site name="s"/></body>'
        '</worldbody><sensor><subtreecom name="x" body="a"/><framepos name="p" objtype="body" '
        'objname="a"/><framexaxis name="e" objtype="body" objname="a"/><framepos name="o" '
        'objtype="xbody" objname="a"/></sensor></mujoco>'
    )
    outputs = reading_of_mjcf(text).mechanism.outputs
    expected = [*(-1, 3, 6), *(-1, 3, 6), *(-1, 0, 0), *(1, 2, 3)]
    assert [float(x.formula) for x in outputs] == pytest.approx(expected, abs=1e-12)


def test_without_actuation_an_actuator_has_a_length_and_no_rate():
    """Source: MuJoCo 4.0, whose `actuatorvel` is 0 then."""
    text = TEXT.replace("<worldbody>", '<option><flag actuation="disable"/></option><worldbody>', 1)
    sensors = '<actuatorpos name="l" actuator="m"/><actuatorvel name="r" actuator="m"/>'
    text = text.format(joint="", tendon="", sensors=sensors)
    length, rate = (x.formula for x in reading_of_mjcf(text).mechanism.outputs)
    assert evaluate(length, {symbol("j"): Q}) == pytest.approx(3 * Q)
    assert float(rate) == 0
