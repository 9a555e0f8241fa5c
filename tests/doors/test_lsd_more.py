"""Motors with transmissions, tables, tubes and plates, poses to start from."""

import math

import numpy as np
import pytest

from liaison import check, simulate
from liaison.errors import LiaisonError
from liaison.formats import read_lsd, reading
from liaison.model import Coupling, JointFriction
from liaison.spatial import number, rotation_about


def turn(axis, degrees):
    return rotation_about(axis, math.radians(degrees)).astype(float)


ARM = """
let arm = body mass = 1 kg, inertia = 0.5 kg*m^2 end ;
let A = join earth and arm with revolute end ;
"""


def test_a_geared_rotor_adds_its_inertia_by_the_square_of_the_ratio():
    m = read_lsd(ARM + "let M = apply motor torque = 3 N*m, ratio = 20, rotor = 1 g*m^2 end on A ;")
    run = simulate(m, until=1.0)
    # (J + α² j) q̈ = α C
    assert run["A"][-1] == pytest.approx(20 * 3 / (0.5 + 400 * 0.001) / 2, rel=1e-9)
    assert run["M.angle"][-1] == pytest.approx(20 * run["A"][-1], rel=1e-12)


def test_friction_of_both_sides_is_referred_to_the_joint():
    text = """let M = apply motor ratio = -20, rotor = 1 g*m^2,
      viscous = [0.01, 2] N*m*s/rad, dry = [0.1, 3] N*m end on A ;"""
    m = read_lsd(ARM + text)
    (friction,) = [f for f in m.forces if isinstance(f, JointFriction)]
    assert friction.viscous == 400 / 100 + 2
    assert number(friction.dry) == 20 / 10 + 3
    assert [x.name for x in m.inputs] == ["M"]
    assert isinstance(m.constraints[0], Coupling)


def test_a_rotor_across_the_joint_makes_a_gyroscope():
    """The moment of momentum of a rotor about x, carried about z, is turned with the arm."""
    text = """
    let arm = body mass = 1 kg, inertia = 0.5 kg*m^2 end ;
    let T = join earth and arm with revolute axis = [0, 0, 1] end ;
    let pan = body mass = 1 kg, inertia = 0.2 kg*m^2 end ;
    let A = join arm and pan with revolute axis = [1, 0, 0] end ;
    let M = apply motor torque = 0 N*m, ratio = 50, rotor = 1 g*m^2, axis = [1, 0, 0] end on A ;
    start T' = 2 rad/s ; start A' = 1 rad/s ;
    """
    m = read_lsd(text)
    run = simulate(m, until=1.0)
    energy = run.series["energy"].values.sum(axis=1)
    assert np.ptp(energy) < 1e-8
    assert m.joint("M.angle").predecessor.body == "arm"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("apply motor torque = 1, rotor = 1 end on A ;", "belongs to a transmission"),
        ("apply motor torque = 1, ratio = 2 end on A ;", "needs 'rotor = …'"),
        ("apply motor torque = 1, ratio = 0, rotor = 1 end on A ;", "ratio of motor"),
        ("apply motor ratio = 1, rotor = 1 end on angle(earth, arm) ;", "coordinate of a joint"),
        ("let x = table(1, [0, 1], [2]) ;", "two vectors of two numbers"),
        ("let x = table(1 m, [0, 1] s, [2, 3]) ;", "over a time"),
        ("let x = table(1, [0, 0], [2, 3]) ;", "no table"),
        ("let b = body density = 1, shape = tube(1, 2, 3) end ;", "less than the outer"),
        ("let b = body density = 1, shape = plate(1, 2) end ;", "two edges"),
    ],
)
def test_these_are_refused_in_words(text, said):
    with pytest.raises(LiaisonError, match=said):
        read_lsd(ARM + text)


def test_a_table_goes_through_its_points():
    m = read_lsd(
        ARM + "output lift = table(A, [0, 90, 180] deg, [0, 10, 0] mm) ; start A = 90 deg ;"
    )
    run = simulate(m, until=0.1)
    assert run["lift"][0] == pytest.approx(0.01, rel=1e-12)


def test_tubes_and_plates_have_the_mass_of_their_material():
    m = read_lsd("""
    let pipe = body density = 1000 kg/m^3, shape = tube(10 cm, 8 cm, 1 m) end ;
    join earth and pipe with revolute end ;
    let sheet = body density = 1000 kg/m^3, shape = plate([2, 3] m, 1 cm) end ;
    join earth and sheet with revolute end ;
    """)  # fmt: skip
    pipe, sheet = m.body("pipe"), m.body("sheet")
    mass = math.pi * (0.01 - 0.0064) * 1000
    assert number(pipe.mass) == pytest.approx(mass, rel=1e-14)
    assert number(pipe.inertia[2][2]) == pytest.approx(mass * (0.01 + 0.0064) / 2, rel=1e-14)
    across = mass * ((0.01 + 0.0064) / 4 + 1 / 12)
    assert number(pipe.inertia[0][0]) == pytest.approx(across, rel=1e-14)
    assert number(sheet.mass) == 60


# ---- where frames are

CHAIN = """
let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
let S = join [0, 0, 1] m @ earth and [0.1, 0, 0] m @ a with spherical end ;
let B = join [0, 1, 0] m @ b and [0, 0, 2] m @ a with cylindrical axis = [1, 2, 3] end ;
let tip = [0.3, 0.2, 0.1] m @ b ;
start S = 40 deg || [1, 2, 0] ; start S' = [1, -2, 0.5] rad/s ;
start B = [30 deg, 20 cm] ; start B' = [2 rad/s, 0.3 m/s] ;
"""


def test_positions_of_frames_are_those_of_the_bodies():
    outputs = "".join(
        f"output p{x} = position(tip).{x} ; output v{x} = velocity(tip).{x} ;"
        f"output r{x} = position(tip, a).{x} ;"
        for x in "xyz"
    )
    run = simulate(read_lsd(CHAIN + outputs), until=0.2, every=0.001)
    poses = run.series["poses"].values  # instant, body, 3 × 4
    names = run.series["poses"].axes["body"]
    a, b = (poses[:, list(names).index(body)] for body in "ab")
    tip = b[:, :, :3] @ [0.3, 0.2, 0.1] + b[:, :, 3]
    seen = np.einsum("nij,ni->nj", a[:, :, :3], tip - a[:, :, 3])
    for k, x in enumerate("xyz"):
        assert run[f"p{x}"] == pytest.approx(tip[:, k], abs=1e-12)
        assert run[f"r{x}"] == pytest.approx(seen[:, k], abs=1e-12)
        # central differences over 1 ms of a motion of some rad/s
        rate = np.gradient(tip[:, k], 0.001)[2:-2]
        assert run[f"v{x}"][2:-2] == pytest.approx(rate, abs=1e-4)


def test_a_frame_may_be_held_by_a_relation():
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let a = body mass = 1 kg, center = [0.5, 0, 0] m, inertia = [0, 1, 1] * 0.1 kg*m^2 end ;
    let J = join earth and a with cylindrical axis = [0, 1, 0] end ;
    let tip = [1, 0, 0] m @ a ;
    require position(tip).y = 0.1 m * sin(position(tip).x / (1 m)) ;
    start J.angle = 20 deg ;
    output off = position(tip).y - 0.1 m * sin(position(tip).x / (1 m)) ;
    """
    run = simulate(read_lsd(text), until=1.0)
    assert np.abs(run["off"]).max() < 1e-8


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("output x = position(3).x ;", "takes a frame on a body, not a number"),
        ("output x = position().x ;", "takes a frame"),
        ("output x = velocity(a, b).x ;", "takes a frame"),
        ("output x = positon(a).x ;", "did you mean 'position'"),
        ("let c = body mass = 1, inertia = 0, center = position(a) end ;", "no joints lead"),
    ],
)
def test_places_are_refused_in_words(text, said):
    with pytest.raises(LiaisonError, match=said):
        read_lsd(CHAIN + text)


BALLS = """
let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
let F = join earth and b with {kind} end ;
start F = {pose} ;
"""
POSES = {
    "[0, 0, 1] m": ((0, 0, 1), np.eye(3)),
    "30 deg || [1, 0, 0]": ((0, 0, 0), turn((1, 0, 0), 30)),
    "[1, 2, 3] cm ++ 30 deg || [0, 0, 1] ++ 20 deg || [1, 2, 2]": (
        (0.01, 0.02, 0.03), turn((0, 0, 1), 30) @ turn((1, 2, 2), 20),
    ),
    "[[0, -1, 0], [1, 0, 0], [0, 0, 1]]": ((0, 0, 0), turn((0, 0, 1), 90)),
    "40 deg || [0, 0, 1]": ((0, 0, 0), turn((0, 0, 1), 40)),
    "40 deg || [1, 0, 0] ++ 90 deg || [0, 1, 0]": (
        (0, 0, 0), turn((1, 0, 0), 40) @ turn((0, 1, 0), 90),
    ),
}  # fmt: skip


@pytest.mark.parametrize("attitude", ["quaternion", "euler", "bryant", "matrix"])
@pytest.mark.parametrize("pose", POSES)
def test_a_free_body_starts_at_a_pose_in_any_attitude(pose, attitude):
    m = read_lsd(BALLS.format(kind=f"free attitude = {attitude}", pose=pose))
    q = [number(start.value) for start in m.starts]
    R, p = m.joint("F").type.pose(np.array(q))
    assert np.allclose(p.astype(float), POSES[pose][0], rtol=0, atol=1e-15)
    assert np.allclose(R.astype(float), POSES[pose][1], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("kind", "pose", "expected"),
    [
        ("spherical attitude = bryant", "30 deg || [1, 0, 0]", [math.pi / 6, 0, 0]),
        ("planar", "[1, 2, 0] m ++ 90 deg || [0, 0, 1]", [1, 2, math.pi / 2]),
        ("cylindrical", "[0, 0, 2] m ++ 90 deg || [0, 0, 1]", [math.pi / 2, 2]),
        ("point_on_plane", "[1, 2, 0] m", [1, 2, 1, 0, 0, 0]),
        ("point_on_line", "[0, 0, 2] m", [2, 1, 0, 0, 0]),
    ],
)
def test_other_joints_start_at_a_pose_too(kind, pose, expected):
    m = read_lsd(BALLS.format(kind=kind, pose=pose))
    assert [number(start.value) for start in m.starts] == pytest.approx(expected, abs=1e-15)


def test_a_relation_that_speaks_of_nothing_is_noted_where_it_holds():
    found = reading(ARM + "require 3 = 3 ; let B = require 3 <= 4 ; require A = 0 ;")
    assert [note.partition(";")[0] for note in found.notes] == [
        "relation 'relation' contains no coordinate",
        "relation 'B' contains no coordinate",
    ]


def test_a_comment_may_hold_a_quote():
    read_lsd(ARM + '(* a pipe of 5" and a ` *) name = "x" ;')


def test_a_rotor_is_where_the_start_of_its_joint_puts_it():
    drives = "let M = apply motor torque = 1 N*m, ratio = 50, rotor = 1 g*m^2 end on A ;"
    state = check(read_lsd(ARM + drives + "start A = 80 deg ;")).start.state
    assert state["A"] == pytest.approx(math.radians(80), abs=1e-15)
    assert state["M.angle"] == pytest.approx(50 * math.radians(80), rel=1e-14)
    back = check(read_lsd(ARM + drives + "start M.angle = 20 rev ;")).start.state
    assert back["A"] == pytest.approx(20 * 2 * math.pi / 50, rel=1e-14)
