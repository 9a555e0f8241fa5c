"""What MJCF elements take from classes of defaults, and from each other, as in MuJoCo 4."""

import numpy as np
import pytest

import liaison
from liaison.errors import TextError
from liaison.formats import reading_of_mjcf
from liaison.model.values import floats

MOMENT = 2 * (0.4 * 0.1**2 + 1)  # of a ball of 2 kg about an axis at 1 m
ARM = (
    '<mujoco><option gravity="0 0 0"/><default>{outer}<default class="c">{inner}</default>'
    '</default><worldbody><body><joint name="j"/><geom type="sphere" size="0.1" pos="1 0 0" '
    'mass="2"/></body></worldbody><actuator>{actuator}</actuator></mujoco>'
)
LOST = [
    ('<position kp="7" kv="0.4"/>', "", "<velocity {at}/>", 1 * (0.5 - 0.3)),
    ('<position kp="7"/>', '<velocity kv="3"/>', "<position {at}/>", 7 * (0.5 - 0.2)),
    ('<velocity kv="3"/>', '<position kp="7"/>', "<velocity {at}/>", 3 * (0.5 - 0.3)),
    ('<position kp="7"/><velocity kv="3"/>', "", "<position {at}/>", 1 * (0.5 - 0.2)),
    ('<position kp="7"/>', "", "<general {at}/>", 7 * (0.5 - 0.2)),
    ('<general gainprm="7"/>', "<motor/>", "<velocity {at}/>", 7 * (0.5 - 0.3)),
    ('<general gaintype="affine" gainprm="7"/>', "", "<velocity {at}/>", 1 * (0.5 - 0.3)),
    ('<damper kv="3" ctrlrange="0 1"/>', "", "<damper {at}/>", -3 * 0.5 * 0.3),
    ('<cylinder timeconst="2"/>', "", '<position {at} kp="7"/>', 7 * (0.5 - 0.2)),
    ('<muscle gear="2"/>', "", "<motor {at}/>", 2 * 0.5),
]


@pytest.mark.parametrize(("outer", "inner", "actuator", "effort"), LOST)
def test_a_shortcut_takes_what_the_same_shortcut_or_general_has_set(outer, inner, actuator, effort):
    drive = actuator.format(at='name="m" joint="j" class="c"')
    mechanism = reading_of_mjcf(ARM.format(outer=outer, inner=inner, actuator=drive)).mechanism
    state, inputs = {"j": 0.2, "j'": 0.3}, {"m ctrl": 0.5}
    found = liaison.forward_dynamics(mechanism, state, inputs=inputs)
    assert found == pytest.approx([effort / MOMENT], rel=1e-12)


def test_the_law_of_a_muscle_is_not_taken_for_that_of_a_motor():
    text = ARM.format(outer="<muscle/>", inner="", actuator='<general joint="j"/>')
    with pytest.raises(TextError, match="muscle"):
        reading_of_mjcf(text)


PLACED = (
    '<mujoco><option gravity="0 0 0"/><default>{default}</default><worldbody><body name="a">'
    '<freejoint/><geom name="g" {geom}/><site name="s"/></body><body name="b" pos="3 0 0"><joint '
    'name="j"/><geom name="h" type="sphere" size="0.1"/></body></worldbody>{more}</mujoco>'
)


def test_fewer_numbers_than_those_of_a_class_replace_the_first():
    default = '<geom type="box" size="0.1 0.2 0.3" mass="3"/><motor gear="1 2 3 0.4"/>'
    more = '<actuator><motor name="m" site="s" gear="-5"/></actuator>'
    text = PLACED.format(default=default, geom='size="0.5"', more=more)
    mechanism = reading_of_mjcf(text).mechanism
    (box,) = mechanism.body("a").shapes
    assert floats([box.x, box.y, box.z], {}) == pytest.approx([1, 0.4, 0.6])
    a = liaison.forward_dynamics(mechanism, inputs={"m ctrl": 0.9})
    assert a[3:6] * 3 == pytest.approx([-5 * 0.9, 2 * 0.9, 3 * 0.9])
    assert a[0] == pytest.approx(0.4 * 0.9 / (3 * (0.2**2 + 0.3**2) / 3))


def test_friction_of_a_class_is_kept_where_less_is_given():
    default = '<geom size="0.1" friction="0.5 0.01 0.02" condim="6"/>'
    text = PLACED.format(default=default, geom='friction="0.8"', more="")
    (contact,) = reading_of_mjcf(text, contacts=True).mechanism.contacts
    friction = contact.friction
    values = [float(x) for x in (friction.sliding, friction.pivoting, friction.rolling)]
    assert values == pytest.approx([0.8, 0.01, 0.02])


def test_the_ends_of_a_geom_replace_the_turn_of_its_class():
    ends = 'type="capsule" size="0.1" fromto="0 0 0 1 0 0"'
    turned, plain = (
        reading_of_mjcf(PLACED.format(default=x, geom=ends, more="")).mechanism.body("a")
        for x in ('<geom euler="10 20 30"/>', "")
    )
    assert floats(turned.inertia, {}) == pytest.approx(floats(plain.inertia, {}), abs=1e-14)


@pytest.mark.parametrize(
    ("coefficients", "expected"), [("0.3", 0.3 + 0.2), ("0.3 2", 0.3 + 2 * 0.2), ("", 0.2)]
)
def test_coefficients_that_are_not_given_are_those_of_a_line(coefficients, expected):
    own = f'polycoef="{coefficients}"' if coefficients else ""
    joints = '<joint name="{}" type="slide" axis="1 0 0"/><geom type="sphere" size="0.1"/>'
    text = (
        f"<mujoco><worldbody><body>{joints.format('x')}</body><body>{joints.format('y')}</body>"
        f'</worldbody><equality><joint joint1="x" joint2="y" {own}/></equality></mujoco>'
    )
    tree = liaison.span(reading_of_mjcf(text).mechanism)
    state = liaison.assemble(tree, guess={"x": 0}, y=0.2)
    assert state.q == pytest.approx([expected, 0.2])


INERTIAL = '<inertial pos="1 2 3" mass="2" diaginertia="0.1 0.2 0.2"/>'


@pytest.mark.parametrize(
    ("compiler", "inside", "mass", "center"),
    [
        ("", INERTIAL, 2, (1, 2, 3)),
        ("", INERTIAL + '<geom size="0.1" mass="0"/>', 2, (1, 2, 3)),
        ('inertiagrouprange="1 2"', INERTIAL + '<geom size="0.1"/>', 2, (1, 2, 3)),
        ("", INERTIAL + '<geom size="0.1" mass="4" pos="0 1 0"/>', 4, (0, 1, 0)),
        ('boundmass="0.5"', "", 0.5, (4, 5, 6)),
        ('boundmass="0.5"', '<geom size="0.1" mass="0" pos="7 8 9"/>', 0.5, (4, 5, 6)),
    ],
)
def test_mass_of_geoms_replaces_an_inertial_only_where_there_is_some(
    compiler, inside, mass, center
):
    text = (
        f'<mujoco><compiler inertiafromgeom="true" {compiler}/><worldbody><body name="b" '
        f'pos="4 5 6"><freejoint/>{inside}</body></worldbody></mujoco>'
    )
    body = reading_of_mjcf(text).mechanism.body("b")
    assert float(floats(body.mass, {})) == pytest.approx(mass)
    assert floats(body.com, {}) == pytest.approx(center)


def test_a_moving_site_against_itself_is_no_force_in_its_axes():
    more = '<actuator><motor site="s" refsite="s" gear="1"/></actuator>'
    text = PLACED.format(default="", geom='size="0.1"', more=more)
    with pytest.raises(TextError, match="'refsite'"):
        reading_of_mjcf(text)


def test_a_body_without_mass_has_no_angular_momentum():
    text = (
        '<mujoco><worldbody><body name="a" pos="1 2 3"><joint name="j"/></body></worldbody>'
        '<sensor><subtreeangmom name="L" body="a"/><subtreecom name="c" body="a"/></sensor>'
        "</mujoco>"
    )
    outputs = {x.name: float(floats(x.formula, {})) for x in reading_of_mjcf(text).mechanism.outputs
               if x.name[0] == "L"}  # fmt: skip
    assert np.array([*outputs.values()]) == pytest.approx(np.zeros(3))
