"""Texts that would mean something else than they say are errors, with the fix where it is known."""

from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError, ModelError, TextError
from liaison.formats.lsd.read import read_lsd
from liaison.model import Mesh, Rolling, Sphere, body, friction
from liaison.model.values import floats

MODEL = """
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and b with revolute end ;
let c = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let S = join earth and c with prismatic axis = [1, 0, 0] end ;
let d = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let D = join earth and d with revolute axis = [1, 0, 0] end ;
"""
EXACT = 1e-12
EXAMPLES = Path(__file__).parents[2] / "examples"

REFUSED = {
    "force behind a transmission": (
        "apply motor force = 0.2 N, ratio = 50, rotor = 30 g*cm^2 end on S ;", "it has a torque"),
    "rack of slider and hinge": ("couple S and A with rack radius = 5 cm end ;", "'S' is a length"),
    "rack of two hinges": ("couple A and D with rack radius = 5 cm end ;", "'D' is an angle"),
    "gear of a slider": ("couple A and S with gear teeth = [1, 2] end ;", "'S' is a length"),
    "belt of a slider": ("couple S and A with belt radii = [1, 2] cm end ;", "'S' is a length"),
    "ratio of no ratio": ("couple A and D with proportion ratio = 5 kg end ;", "not a mass"),
    "ratio of other sides": ("couple A and S with proportion ratio = 5 rad end ;", "a length"),
    "backwards": ("for i = 3 to 1 output x[i] = A ; end ;", "ends before it begins"),
    "friction at rest only": ("apply friction static = 5 N end on S ;", "no 'dry' in motion"),
    "of a motor": (
        "apply motor torque = 1 N*m, ratio = 5, rotor = 1 g*m^2, static = [1, 2] N*m end on A ;",
        "no 'dry' in motion"),
    "of a contact": ("contact c and earth with point static = 0.4 end ;", "no 'friction' in mot"),
    "cylinder from": ("c.shape = cylinder(from = [0, 0, 1] m, length = 1 m, radius = 1 cm) ;",
                      "needs the point 'to'"),
    "cylinder to": ("c.shape = cylinder(to = [0, 0, 1] m, length = 1 m, radius = 1 cm) ;",
                    "leave 'length' out"),
    "tube to": ("c.shape = tube(to = [0, 0, 1] m, length = 1 m, radius = 1 cm, inner = 1 mm) ;",
                "leave 'length' out"),
    "mesh with a density": (
        'let e = body density = 1, shape = sphere(1 cm), shape = mesh("a.stl") end ;',
        "is not known"),
    "mesh with a mass": ('let e = body mass = 1, shape = sphere(1 cm), shape = mesh("a.stl") end ;',
                         "is not known"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_would_be_ignored_or_misread_is_refused(what):
    line, message = REFUSED[what]
    with pytest.raises(LiaisonError, match=message) as caught:
        read_lsd(MODEL + line)
    assert caught.value.place is not None
    assert caught.value.place.line == 8


CURED = {
    "swapped sides": "couple S and A with rack radius = 5 cm end ;",
    "swapped bounds": "for i = 3 to 1 output x[i] = A ; end ;",
    "friction in motion": "apply friction static = 5 N end on S ;",
    "turns a second": "impose A = 5 Hz*t ;",
    "moment in a plane": "let e = body mass = 1 kg, inertia = [0, 0, 1 + 1] kg*m^2 end ;"
    " join b and e with planar end ;",
}


@pytest.mark.parametrize("what", CURED)
def test_the_cure_makes_it_right(what):
    text = MODEL + CURED[what]
    with pytest.raises(LiaisonError) as caught:
        read_lsd(text)
    read_lsd(caught.value.cure.applied(text))


def test_the_hint_for_a_moment_in_a_plane_is_one_number():
    text = MODEL + CURED["moment in a plane"]
    with pytest.raises(ModelError, match=r"inertia = \(1 \+ 1\)") as caught:
        read_lsd(text)
    mended = read_lsd(caught.value.cure.applied(text))
    assert mended.bodies[-1].inertia == ((2, 0, 0), (0, 2, 0), (0, 0, 2))


def test_a_repetition_up_to_none_is_empty():
    text = MODEL + "let n = 0 ; for i = 1 to n output x[i] = A ; end ;"
    assert read_lsd(text).outputs == ()


def test_a_motor_turns_its_rotor_on_a_slider():
    """x'' = torque·ratio/(m + ratio² j), and friction of both sides counts on the slider."""
    line = (
        "let M = apply motor torque = 0.2 N*m, ratio = 50 rad/m, rotor = 3 g*m^2,"
        " viscous = [0.01 N*m*s/rad, 3 N*s/m] end on S ; start S' = 0.1 m/s ;"
    )
    m = read_lsd(MODEL + line)
    rate = liaison.forward_dynamics(m)
    labels = liaison.tree.span(m).velocity_labels()
    mass, drag = 1 + 50**2 * 0.003, 3 + 50**2 * 0.01
    expected = (0.2 * 50 - drag * 0.1) / mass
    assert rate[[x.name for x in labels].index("S'")] == pytest.approx(expected, rel=1e-9)


def test_python_asks_for_friction_in_motion_too():
    with pytest.raises(ModelError, match="no dry part"):
        friction("S", static=5)
    assert friction("S", static=5, dry=0).static == 5


def test_python_cannot_fill_a_mesh():
    shapes = (Sphere(1), Mesh("a.stl"))
    with pytest.raises(ModelError, match="is not known"):
        body("b", density=1, shapes=shapes)
    with pytest.raises(ModelError, match="is not known"):
        body("b", 1, shapes=shapes)
    assert body("b", 1, inertia=(1, 1, 1), shapes=shapes).mass == 1


FREE = """
let f = body mass = 1 kg, inertia = [1, 2, 2.5] kg*m^2 end ;
let F = join earth and f with {type} end ;
{start}
start F.wx = 1 rad/s ; start F.wy = 2 rad/s ;
"""


def test_rates_of_positions_are_known_in_formulas():
    """F.x' is the rate of F.x, R F.v, also when the body has turned."""
    start = "start F = [0, 0, 1] m ++ 90 deg || [0, 0, 1] ; start F.vx = 1 m/s ;"
    text = FREE.format(type="free", start=start) + "output v = F.y' ; output w = F.qw' ;"
    run = liaison.simulate(text, until=0.1, every=0.1)
    assert run["v"][0] == pytest.approx(1, rel=EXACT)
    assert run["w"][0] == pytest.approx(0, abs=EXACT)
    assert run["v"][-1] == pytest.approx(1, rel=1e-8)


def test_a_relation_may_hold_the_rate_of_a_position():
    start = "start F.vx = 1 m/s ;"
    text = FREE.format(type="free", start=start) + "require F.z' = 1/2*F.x' ;"
    run = liaison.simulate(text, until=0.5, every=0.1)
    z, x = run["F.z"], run["F.x"]
    assert np.allclose(z, x / 2, atol=1e-8)
    assert abs(x[-1]) > 0.1


@pytest.mark.parametrize("type", ["free", "spherical", "spherical attitude = bryant"])
def test_half_a_turn_is_a_start(type):
    text = FREE.format(type=type, start="start F = 180 deg || [0, 0, 1] ;")
    text = text.replace("start F.w", "(* ").replace("rad/s ;", "*)") if "bryant" in type else text
    run = liaison.simulate(text, until=0.01, every=0.01)
    R = liaison.pose(text, "f")[:3, :3]
    assert np.allclose(R, np.diag([-1, -1, 1]), atol=1e-12)
    assert run.status == "done"


def test_error_of_a_ratio_is_a_text_error():
    with pytest.raises(TextError):
        read_lsd(MODEL + "apply motor torque = 1 N*m, ratio = 5 mm, rotor = 1 g*m^2 end on A ;")


ROW = """
let a = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and a with revolute end ;
let B = join {frame} a and b with revolute {axis} end ;
apply spring stiffness = 1 N*m/rad end on {angle} ;
start A' = 2 rad/s ; start B' = 2 rad/s ;
"""


@pytest.mark.parametrize(
    ("frame", "angle", "sign"),
    [("", "angle(earth, b)", 1), ("180 deg || [1, 0, 0] @", "angle(earth, b)", -1),
     ("", "angle(b, earth)", 1), ("[1, 0, 0] m ++ 70 deg || [0, 0, 1] @", "angle(earth, b)", 1)],
)  # fmt: skip
def test_turns_are_counted_along_joints_with_parallel_axes(frame, angle, sign):
    """Both bodies turn by A + B: (A + B)'' = -(A + B), which goes to 4 rad, more than half a turn.

    The torque acts on b and the ground alone, so that a turns on at 2 rad/s.
    """
    text = ROW.format(frame=frame, axis="", angle=angle).replace(
        "start B' = 2", f"start B' = {2 * sign}"
    )
    start = 70 * np.pi / 180 if "70 deg" in frame else 0.0
    run = liaison.simulate(text, until=3, every=3)
    total = run["A"][-1] + sign * run["B"][-1] + start
    assert total == pytest.approx(4 * np.sin(3) + start * np.cos(3), abs=1e-6)


def test_an_angle_that_could_jump_takes_no_spring():
    skew = ROW.format(frame="", axis="axis = [1, 0, 0]", angle="angle(earth, b)")
    with pytest.raises(LiaisonError, match="jumps from 180 to -180"):
        liaison.simulate(skew, until=1)
    damped = skew.replace("spring stiffness = 1 N*m/rad", "damper coefficient = 1 N*m*s/rad")
    assert liaison.simulate(damped, until=0.1).status == "done"


def test_a_table_of_uneven_points_does_not_overshoot():
    """A pulse of 1 kN over 1 ms on 1 kg gives 1 m/s."""
    text = MODEL + (
        "apply force value = [1 kN * table(t/(1 s), [0, 4.999, 5, 5.001, 10], [0, 0, 1, 0, 0]),"
        " 0, 0] end on c ;"
    )
    run = liaison.simulate(text, until=10, every=10)
    assert run["S'"][-1] == pytest.approx(1, rel=1e-6)


@pytest.mark.parametrize("file", sorted(EXAMPLES.glob("*.lsd")), ids=lambda file: file.stem)
def test_wheels_of_examples_are_heaviest_about_their_axles(file):
    mechanism = liaison.read(file)
    bodies = {body.name: body for body in mechanism.bodies}
    for relation in mechanism.constraints:
        if isinstance(relation, Rolling) and relation.kind == "disc":
            body = bodies[relation.wheel.body]
            I = np.array(floats(body.inertia, {x.name: 1.0 for x in mechanism.parameters}))
            axle = np.array(floats(relation.wheel.rotation, {}))[:, 2]
            assert axle @ I @ axle >= np.linalg.eigvalsh(I).max() * (1 - 1e-9)


def test_a_spring_without_free_length_may_begin_where_its_ends_meet():
    """x'' = -k x/m from x = 0: a sine, whose force has no corner where the ends meet."""
    text = FREE.format(type="free", start="start F.vx = 2 m/s ;").replace("start F.w", "(* ")
    text = text.split("(*")[0] + "apply spring stiffness = 4 N/m end on f and earth ;"
    run = liaison.simulate(text, until=2, every=1)
    assert run["F.x"] == pytest.approx(np.sin(2 * run.t), abs=1e-7)
    assert run["energy.T"] + run["energy.U"] == pytest.approx(2, rel=1e-8)


def test_it_pulls_as_a_spring_with_a_vanishing_free_length():
    line = "let P = apply spring stiffness = 4 N/m{} end on [1, 2, 3] cm @ c and [5, 1, 0] cm @ b ;"
    near = liaison.forward_dynamics(read_lsd(MODEL + line.format(", rest = 1e-12 m")))
    assert liaison.forward_dynamics(read_lsd(MODEL + line.format(""))) == pytest.approx(
        near, rel=1e-9, abs=1e-12
    )


def test_the_disc_in_angles_is_the_disc():
    """The same motion as with a quaternion, from equations of three lines."""
    ends = [
        liaison.simulate(EXAMPLES / file, until=0.5, every=0.5)["height"][-1]
        for file in ("rolling_disc.lsd", "cases/rolling_disc_angles.lsd")
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)
    assert 30 - ends[0] > 1e-3


def test_the_equations_of_a_rolling_disc_are_those_of_the_textbook():
    """With A = m r²/4 and m r² = 4 A: every coefficient is a multiple of A."""
    equations = liaison.derive(
        EXAMPLES / "cases" / "rolling_disc_angles.lsd", formalism="lagrange_reduced"
    )
    lines = [x.strip() for x in str(equations.text()).splitlines()]
    motion = [x for x in lines if x.startswith(("P.ψ:", "P.θ:", "φ:"))]
    assert len(motion) == 3
    assert "0.225 P.θ''" in motion[1]  # 5 A, and the weight at the distance r cos θ
    assert "5.88399 cos(P.θ)" in motion[1]
    assert max(map(len, motion)) < 180
