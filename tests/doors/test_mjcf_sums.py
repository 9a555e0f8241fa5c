"""Sums of MJCF's actuators and their bounds, gravity carried by them, servos of balls."""

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.formats import read_lsd, reading_of_mjcf
from liaison.formats.lsd.write.write import write_lsd
from liaison.model.values import floats

G = 9.81
STILL = '<option gravity="0 0 0"/>'


def pendulum(joint: str, acts: str, tendon: str = "", option: str = STILL) -> str:
    """A ball of 1 kg, 1 m from a hinge, with a tendon t of twice its angle."""
    return (
        f'<mujoco>{option}<worldbody><site name="w" pos="0 0 1"/><body><joint name="j" '
        f'axis="0 1 0" {joint}/><inertial mass="1" pos="1 0 0" diaginertia="0 0 0"/>'
        f'<site name="tip" pos="1 0 0"/></body></worldbody><tendon><fixed name="t" {tendon}>'
        f'<joint joint="j" coef="2"/></fixed><spatial name="cable"><site site="w"/>'
        f'<site site="tip"/></spatial></tendon><actuator>{acts}</actuator></mujoco>'
    )


def acceleration(text: str, *controls: float) -> float:
    mechanism = reading_of_mjcf(text).mechanism
    inputs = dict(zip((x.name for x in mechanism.inputs), controls, strict=True))
    return float(liaison.forward_dynamics(mechanism, inputs=inputs)[0])


ONE = 'actuatorfrcrange="-1 1"'
ON_JOINT, ON_TENDON = '<motor joint="j" gear="5"/>', '<motor tendon="t" gear="5"/>'
ON_CABLE, ON_SITE = '<motor tendon="cable" gear="5"/>', '<motor site="tip" gear="0 0 -5"/>'
SLOPE = 1 / np.sqrt(2)  # of the cable's length


@pytest.mark.parametrize(
    ("acts", "controls", "expected"),
    [
        (ON_JOINT, (1,), 1),
        (ON_TENDON, (1,), 1),
        (ON_TENDON, (0.05,), 0.5),
        (ON_TENDON, (-1,), -1),
        (ON_CABLE, (1,), 1),
        (ON_CABLE, (0.1,), 0.5 * SLOPE),
        (ON_SITE, (1,), 1),
        (ON_SITE, (0.1,), 0.5),
        (ON_JOINT + ON_TENDON, (1, -0.6), -1),
        (ON_JOINT + ON_TENDON, (1, -0.45), 0.5),
        (ON_JOINT * 2 + ON_SITE, (1, -2, 0.9), -0.5),
    ],
)
def test_a_range_of_a_joint_bounds_all_that_actuators_do_there(acts, controls, expected):
    assert acceleration(pendulum(ONE, acts), *controls) == pytest.approx(expected, abs=1e-12)


def test_a_range_without_zero_pushes_where_any_actuator_is():
    assert acceleration(pendulum('actuatorfrcrange="2 3"', ON_TENDON), 0) == pytest.approx(2)
    assert acceleration(pendulum('actuatorfrcrange="2 3"', "")) == 0


def test_bounded_sums_are_written_as_lsd():
    text = pendulum(ONE, ON_JOINT + ON_TENDON + ON_CABLE, ONE)
    mechanism = reading_of_mjcf(text).mechanism
    assert read_lsd(write_lsd(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("gears", "ranges", "bound", "controls", "expected"),
    [
        ((1, 1), ("-9 9", "-9 9"), "-1 1", (3, 2), 1.0),
        ((2, 1), ("-9 9", "-9 9"), "-1 1", (3, 2), 2 * 0.6 + 0.4),
        ((2, 1), ("-1 1", "-9 9"), "-4 4", (3, 2), 2 * 1 + 1.6),
        ((2, 1), ("-1 1", "-9 9"), "-2 2", (3, 2), 2 * 1 + 0.8),
        ((2, 1), ("-9 9", "-9 9"), "-1 1", (3, -2.9), 2 * 3 - 2.9),
        ((2, 1), ("-9 9", "-9 9"), "-1 0", (3, -3), 2 * 3 - 3),
    ],
)
def test_a_range_of_a_tendon_makes_all_its_forces_smaller(gears, ranges, bound, controls, expected):
    """By one factor, before their own ranges. Source: MuJoCo 4.0.0, which gives these."""
    acts = "".join(
        f'<motor tendon="t" gear="{g}" forcerange="{r}"/>'
        for g, r in zip(gears, ranges, strict=True)
    )
    text = pendulum("", acts, f'actuatorfrcrange="{bound}"')
    assert acceleration(text, *controls) == pytest.approx(2 * expected, rel=1e-12)


def test_a_range_of_a_tendon_includes_zero():
    with pytest.raises(LiaisonError, match="does not include 0"):
        reading_of_mjcf(pendulum("", ON_TENDON, 'actuatorfrcrange="1 2"'))


def lifted(joint: str, acts: str = "", flags: str = "", head: str = "", gravcomp: float = 1) -> str:
    return (
        f"<mujoco><option {head}><flag {flags}/></option><worldbody><body gravcomp='{gravcomp}'>"
        f'<joint name="j" type="slide" axis="0 0 1" {joint}/><geom size="0.1" mass="2"/></body>'
        f"</worldbody><actuator>{acts}</actuator></mujoco>"
    )


CARRY, MOTOR = 'actuatorgravcomp="true"', '<motor joint="j"/>'
OFF = 'spring="disable" damper="disable"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (lifted("", MOTOR), 0),
        (lifted(CARRY, MOTOR), 0),
        (lifted(CARRY, MOTOR, gravcomp=0.25), -0.75 * G),
        (lifted(CARRY), -G),  # no actuator, nothing that carries
        (lifted(CARRY, MOTOR, 'actuation="disable"'), -G),
        (lifted("", MOTOR, 'actuation="disable"'), 0),
        (lifted(f"{CARRY} {ONE}", MOTOR), 0.5 - G),
        (lifted(ONE, MOTOR), 0),
        (lifted("", MOTOR, OFF), -G),  # no passive force at all
        (lifted(CARRY, MOTOR, OFF), -G),
        (lifted("", MOTOR, 'spring="disable"'), 0),
        (lifted(CARRY, MOTOR.replace("/", ' group="3"/'), head='actuatorgroupdisable="3"'), 0),
    ],
)
def test_gravity_is_carried_by_joints_or_by_their_actuators(text, expected):
    """Source: MuJoCo 4.0.0, which gives these."""
    inputs = (0.0,) if "<motor" in text else ()
    assert acceleration(text, *inputs) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_springs_and_dampers_off_take_the_fluid_with_them():
    for flags, is_slowed in (('spring="disable"', True), (OFF, False)):
        text = lifted("", "", flags, 'gravity="0 0 0" viscosity="3"')
        mechanism = reading_of_mjcf(text).mechanism
        assert (liaison.forward_dynamics(mechanism, {"j'": 1.0})[0] < 0) == is_slowed


def test_joints_that_carry_nothing_are_beside_others_that_do():
    """Of two slides, one has actuators for its gravity and there are none: it falls."""
    text = lifted(CARRY).replace("<geom", '<joint name="k" type="slide" axis="0 0.6 0.8"/><geom')
    found = liaison.forward_dynamics(reading_of_mjcf(text).mechanism)
    weight, mass = 2 * G, np.array([[2, 1.6], [1.6, 2]])
    assert found == pytest.approx(np.linalg.solve(mass, [-weight, 0]), rel=1e-12)


def test_a_group_of_actuators_may_be_off():
    acts = ON_JOINT + ON_TENDON.replace("/>", ' group="3"/>')
    off = '<option gravity="0 0 0" actuatorgroupdisable="1 3"/>'
    assert acceleration(pendulum("", acts, option=off), 1, 1) == pytest.approx(5)
    assert acceleration(pendulum("", acts), 1, 1) == pytest.approx(15)
    for groups in ("31", "-1", "a"):
        with pytest.raises(LiaisonError, match="whole numbers from 0 to 30"):
            reading_of_mjcf(f'<mujoco><option actuatorgroupdisable="{groups}"/></mujoco>')


def ball(actuator: str, angle: float, control: float, rate: float = 0.0) -> float:
    text = (
        f'<mujoco>{STILL}<worldbody><body><joint name="b" type="ball"/><geom size="0.1" '
        f'mass="250"/></body></worldbody><actuator><{actuator}/></actuator></mujoco>'
    )
    mechanism = reading_of_mjcf(text).mechanism
    state = {"b.qw": np.cos(angle / 2), "b.qz": np.sin(angle / 2), "b.wz": rate}
    found = liaison.forward_dynamics(
        mechanism, state | {"b.qx": 0.0, "b.qy": 0.0}, inputs={mechanism.inputs[0].name: control}
    )
    return float(found[2])  # the moment of inertia is 1


@pytest.mark.parametrize(
    ("gear", "angle", "control", "turns"),
    [("1", 0.5, 3, 0), ("1", 0.5, 4, 1), ("1", 0.5, 10, 2), ("1", -2, 3, 1), ("1", 3, -4, -1),
     ("2", 0.5, 4, 0), ("2", 0.5, 10, 1)],
)  # fmt: skip
def test_a_servo_of_a_ball_takes_the_shorter_way(gear, angle, control, turns):
    """The error is taken to within half a turn. Source: MuJoCo 4.0.0, which gives these."""
    size = float(gear)
    error = control - size * angle - turns * size * 2 * np.pi
    for where in ("joint", "jointinparent"):
        actuator = f'position {where}="b" gear="0 0 {gear}" kp="3" kv="0.2"'
        expected = size * (3 * error - 0.2 * size * 0.7)
        assert ball(actuator, angle, control, 0.7) == pytest.approx(expected, rel=1e-9)


def test_other_laws_of_a_ball_do_not():
    law = 'general joint="b" gear="0 0 1" gainprm="3" biastype="affine" biasprm="0 -2 0"'
    assert ball(law, 0.5, 4) == pytest.approx(12 - 1, rel=1e-9)
    assert ball('cylinder joint="b" gear="0 0 1" diameter="2"', 0.5, 4) == 0  # no pressure yet


def test_a_damping_ratio_is_not_taken_for_a_damping():
    """MuJoCo takes a positive third number beside g₀ = −b₁ for a ratio."""
    law = '<general joint="j" gainprm="8" biastype="affine" biasprm="0 -8 1.3"/>'
    with pytest.raises(LiaisonError, match="ends with a damping ratio"):
        reading_of_mjcf(pendulum("", law))
    assert reading_of_mjcf(pendulum("", law.replace("-8", "-7"))).mechanism.inputs


def test_a_servo_in_the_axes_of_a_parent_is_damped_in_them():
    """Its rate is of the turn in those axes: R ω, not ω."""
    text = (
        f'<mujoco>{STILL}<worldbody><body><joint name="b" type="ball"/><geom size="0.1" '
        'mass="250"/></body></worldbody><actuator><velocity jointinparent="b" gear="1 0 0" '
        'kv="3"/></actuator></mujoco>'
    )
    mechanism = reading_of_mjcf(text).mechanism
    half = np.sqrt(0.5)  # x of the body is y of the ground
    state = {"b.qw": half, "b.qx": 0.0, "b.qy": 0.0, "b.qz": half, "b.wx": 1.0, "b.wy": 2.0}
    found = liaison.forward_dynamics(mechanism, state, inputs={mechanism.inputs[0].name: 0.0})
    assert found == pytest.approx([0, -3 * 2, 0], abs=1e-9)


def test_feedback_at_a_site_counts_against_another():
    """kp (u − x) − kv ẋ along x of the ground; no length without another site."""
    site = '<position site="tip" refsite="w" gear="0 0 -1" kp="3" kv="0.5"/>'
    mechanism = reading_of_mjcf(pendulum("", site)).mechanism
    name = mechanism.inputs[0].name
    found = liaison.forward_dynamics(mechanism, {"j": 0.0, "j'": 2.0}, inputs={name: 0.4})
    assert found[0] == pytest.approx(3 * (0.4 - 1) - 0.5 * 2, rel=1e-12)  # z is 1 below w
    alone = site.replace('refsite="w"', "")
    mechanism = reading_of_mjcf(pendulum("", alone)).mechanism
    found = liaison.forward_dynamics(mechanism, {"j": 0.0, "j'": 2.0}, inputs={name: 0.4})
    assert found[0] == pytest.approx(3 * 0.4 - 0.5 * 2, rel=1e-12)


def test_the_armature_of_tendons_counts_for_springs_of_joints():
    """M = [3 2; 2 5] with 3 of a tendon on b: 1/(M⁻¹)₁₁ = 11/5. Source: MuJoCo gives 343.75, 44."""
    text = (
        '<mujoco><worldbody><body><joint name="a" type="slide" springdamper="0.1 0.8"/><geom '
        'size="0.1" mass="1"/><body><joint name="b" type="slide"/><geom size="0.1" mass="2"/>'
        '</body></body></worldbody><tendon><fixed name="a" armature="3" stiffness="1"><joint '
        'joint="b" coef="1"/></fixed></tendon></mujoco>'
    )
    forces = {x.name: x for x in reading_of_mjcf(text).mechanism.forces}
    assert float(forces["spring of a"].stiffness) == pytest.approx(343.75)
    assert float(forces["friction of a"].viscous) == pytest.approx(44)
    assert float(forces["spring of a_"].stiffness) == 1  # of the tendon of the same name


def test_springs_of_joints_count_where_they_are_described():
    """At 0, out of the range. Source: MuJoCo 4.0 gives 21.16175473 and 8.46470189."""
    limb = '<joint name="{}" axis="0 1 0" range="30 60"/><geom size="0.1" pos="1 0 0"/>'
    inner = limb.format('k" springdamper="0.2 1')
    text = f"""<mujoco><worldbody><body>{limb.format("j")}<body pos="1 0 0">{inner}</body></body>
      </worldbody></mujoco>"""
    forces = {x.name: x for x in reading_of_mjcf(text).mechanism.forces}
    assert float(forces["spring of k"].stiffness) == pytest.approx(21.16175473)
    assert float(forces["friction of k"].viscous) == pytest.approx(8.46470189)


TILTED = np.array([0.3, 0.2, 0.5])


@pytest.mark.parametrize("place", ["", 'frame euler="30 40 50"'])
def test_a_fluid_meets_a_capsule_along_axes_turned_from_its_end_back(place):
    """z of the geom is turned onto from − to by the least turn, in the frame where it is."""
    geom = '<geom type="capsule" fromto="0 0 0 0.3 0.2 0.5" size="0.1" mass="2"/>'
    inner = f"<{place}>{geom}</frame>" if place else geom
    text = (
        '<mujoco><option gravity="0 0 0" density="900"/><worldbody><body name="a"><freejoint '
        f'name="f"/>{inner}</body></worldbody></mujoco>'
    )
    mechanism = reading_of_mjcf(text).mechanism
    turn = np.eye(3)
    if place:
        x, y, z = np.radians((30, 40, 50))
        turn = np.array(rotation_x(x) @ rotation_y(y) @ rotation_z(z), dtype=float)
    R = turn @ least_turn(-TILTED / np.linalg.norm(TILTED))
    moments = np.diag(R.T @ floats(mechanism.body("a").inertia, {}) @ R)
    b = np.sqrt((moments.sum() - 2 * moments) / 2 * 6)
    v = R.T @ (1.0, 2.0, 3.0)
    force = R @ (-450 * np.abs(v) * v * np.roll(b, -1) * np.roll(b, -2))
    state = {"f.vx": 1.0, "f.vy": 2.0, "f.vz": 3.0}
    com = floats(mechanism.body("a").com, {})
    found = liaison.forward_dynamics(mechanism, state)
    spin, slide = found[:3], found[3:]
    assert slide + np.cross(spin, com) == pytest.approx(force / 2, rel=1e-9)


def rotation_x(a):
    return np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])


def rotation_y(a):
    return np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])


def rotation_z(a):
    return np.array([[np.cos(a), -np.sin(a), 0], [np.sin(a), np.cos(a), 0], [0, 0, 1]])


def least_turn(u: np.ndarray) -> np.ndarray:
    """z onto u."""
    axis = np.cross((0, 0, 1), u)
    across = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + across + across @ across / (1 + u[2])


@pytest.mark.parametrize("turn", ['quat="1 0.3 0 0"', 'euler="10 20 30"', 'zaxis="1 2 3"'])
@pytest.mark.parametrize("where", ["class", "own"])
@pytest.mark.parametrize("place", ["frame", 'frame euler="30 40 50"'])
def test_ends_of_a_geom_turn_it_whatever_else_does(turn, where, place):
    def inertia(default: str, own: str) -> np.ndarray:
        text = (
            f"<mujoco><default><geom {default}/></default><worldbody><body name='a'><freejoint/>"
            f"<{place}><geom {own} type='capsule' fromto='0 0 0 0.3 0.2 0.5' size='0.1'/></frame>"
            "</body></worldbody></mujoco>"
        )
        body = reading_of_mjcf(text).mechanism.body("a")
        return np.array([*floats(body.com, {}), *floats(body.inertia, {}).ravel()])

    turned = inertia(turn, "") if where == "class" else inertia("", turn)
    assert turned == pytest.approx(inertia("", ""), abs=1e-12)


def test_fewer_numbers_than_the_class_has_replace_its_first_ones():
    text = """<mujoco><default><geom size="0.1 0.2 0.3" type="box" friction="0.3 0.02 0.004"/>
      <motor gear="1 2 3 4 5 6"/><default class="c"><geom friction="0.5 0.03" condim="6"/></default>
      </default><worldbody><geom type="plane" size="1 1 1" friction="0.1"/><body name="a"
      pos="0 0 2"><freejoint/><site name="s"/><geom class="c" size="0.05" friction="0.6"/></body>
      </worldbody><actuator><motor name="m" site="s" gear="7"/></actuator></mujoco>"""
    mechanism = reading_of_mjcf(text, contacts=True).mechanism
    assert float(floats(mechanism.body("a").mass, {})) == pytest.approx(8 * 0.05 * 0.2 * 0.3 * 1000)
    law = mechanism.contacts[0].friction
    assert [float(x) for x in (law.sliding, law.pivoting, law.rolling)] == [0.6, 0.03, 0.004]
    alone = reading_of_mjcf(text).mechanism
    pushed, left = (liaison.forward_dynamics(alone, inputs={"m ctrl": u}) for u in (1.0, 0.0))
    assert 8 * 0.05 * 0.2 * 0.3 * 1000 * (pushed - left)[3:] == pytest.approx([7, 2, 3])


@pytest.mark.parametrize(
    ("given", "constant", "slope"), [("7", 7, 1), ("", 0, 1), ("0.5 -2", 0.5, -2), ("1 0 0", 1, 0)]
)
def test_a_polynomial_is_proportional_as_far_as_it_is_not_given(given, constant, slope):
    body = '<body><joint name="{}" type="slide"/><geom size="0.1"/></body>'
    key = f'polycoef="{given}"' if given else ""
    mechanism = reading_of_mjcf(
        f"<mujoco><worldbody>{body.format('x')}{body.format('y')}</worldbody><equality><joint "
        f'joint1="x" joint2="y" {key}/></equality></mujoco>'
    ).mechanism
    state = liaison.assemble(liaison.span(mechanism), y=0.3)
    assert state["x"] == pytest.approx(constant + slope * 0.3)
