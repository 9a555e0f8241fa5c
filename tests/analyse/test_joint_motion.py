"""Maximal coordinates: multipliers are reactions, joints tell turns and slides, attitudes."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.analyse.along.attitude_along import attitude_along
from liaison.analyse.along.joint_motion import joint_motion
from liaison.analyse.along.maximal_run import maximal_run
from liaison.equations.vector.basic_joints import Side, basic_rows, wrench_of
from liaison.errors import AssemblyError, ModelError, NamingError, SimulationError
from liaison.expr import sin, symbol
from samples import some

TIGHT = {"rtol": 1e-10, "atol": 1e-12, "every": 0.02}

ARM = """
gravity = [0, 0, -9.81] m/s^2 ;
let a = body mass = 2 kg, center = [0.5, 0, 0] m, inertia = [0.01, 0.2, 0.2] kg*m^2 end ;
let b = body mass = 1 kg, center = [0.3, 0.1, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end ;
let A = join [0, 0, 2] m @ earth and a with revolute axis = [0, 1, 0] end ;
let B = join [1, 0, 0] m @ a and b with {joint} end ;
start A = 0.3 rad ; start A' = 12 rad/s ; {start}
"""

CASES = {
    "cylindrical": ("cylindrical axis = [1, 0, 0]", "start B.angle' = 30 rad/s ;"),
    "universal": ("universal", "start B.angle_x' = 25 rad/s ;"),
    "spherical": ("spherical", "start B.wx = 3 rad/s ; start B.wz = -2 rad/s ;"),
    "prismatic": ("prismatic axis = [1, 0, 0]", "start B' = 1 m/s ;"),
    "helical": ("helical axis = [1, 0, 0], pitch = 0.01 m/rad", "start B' = 30 rad/s ;"),
}


@pytest.fixture(scope="module", params=some(CASES, 3))
def both(request):
    """A mechanism, its run in maximal coordinates, and the one in its own."""
    joint, start = CASES[request.param]
    mechanism = liaison.read(ARM.format(joint=joint, start=start))
    own = liaison.simulate(
        mechanism, until=1, series=("poses", "motions", "accelerations", "reactions"), **TIGHT
    )
    return mechanism, maximal_run(mechanism, until=1, **TIGHT), own


def test_joints_move_as_in_their_own_coordinates(both):
    """Turns counted, slides, rates and accelerations; two integrations to 1e-10 a step."""
    mechanism, run, own = both
    for joint in mechanism.joints:
        if joint.type.name == "Spherical":
            with pytest.raises(ModelError, match="no angle and no displacement"):
                joint_motion(mechanism, run, joint.name)
            continue
        told = joint_motion(mechanism, run, joint.name)
        for k, label in enumerate(told.axes["motion"]):
            assert_allclose(told.values[:, k], own[label], rtol=1e-6, atol=1e-6, err_msg=label)
            assert told.unit[k] == own.unit(label)


def test_multipliers_are_the_reactions_they_are_called(both):
    """A row "J: force along x" is the component of run.reaction in the axes it names."""
    mechanism, run, own = both
    lam, compared = run.series["lam"], 0
    components = {f"{kind} {way} {x}": i for i, (kind, way, x) in enumerate(
        (kind, way, x) for kind, way in (("moment", "about"), ("force", "along")) for x in "xyz"
    )}  # fmt: skip
    for k, name in enumerate(lam.axes["row"]):
        joint, _, row = name.partition(": ")
        row, _, frame = row.partition(" of ")
        if row not in components or (joint == "B" and not frame):
            continue  # in the axes of a marker that moves: see the next test
        assert lam.unit[k] == ("N*m" if "moment" in row else "N")
        if frame:
            reaction = own.reaction(joint, frame=frame)
            expected = reaction.values[:, components[row]]
        else:
            expected = in_axes_of_f(mechanism, own, joint)[:, components[row]]
        assert_allclose(lam.values[:, k], expected, rtol=1e-5, atol=1e-5, err_msg=name)
        compared += 1
    assert compared >= 5


def in_axes_of_f(mechanism, run, name):
    """The reaction of a joint on its successor at M, in the axes of marker F, from the ground's."""
    joint = next(x for x in mechanism.joints if x.name == name)
    R = np.array([[float(x) for x in row] for row in joint.predecessor.R])
    turned = np.broadcast_to(R, (len(run.t), 3, 3))
    if joint.predecessor.body != "ground":
        k = run.series["poses"].axes["body"].index(joint.predecessor.body)
        turned = run.series["poses"].values[:, k, :, :3] @ R
    told = run.reaction(name, frame="ground").values
    parts = [np.einsum("nji,nj->ni", turned, x) for x in (told[:, :3], told[:, 3:])]
    return np.hstack(parts)


def test_multipliers_of_a_cylinder_are_in_the_axes_of_its_predecessor():
    joint, start = CASES["cylindrical"]
    mechanism = liaison.read(ARM.format(joint=joint, start=start))
    run = maximal_run(mechanism, until=0.4, **TIGHT)
    names, lam = run.series["lam"].axes["row"], run.series["lam"].values
    expected = in_axes_of_f(mechanism, run, "B")
    rows = {"moment about x": 0, "moment about y": 1, "force along x": 3, "force along y": 4}
    for row, k in rows.items():
        assert_allclose(lam[:, names.index(f"B: {row}")], expected[:, k], atol=1e-8)


def test_turns_are_counted_over_many_and_refused_where_too_few_instants_tell():
    mechanism = liaison.read("""
let a = body mass = 1 kg, inertia = [0.1, 0.1, 0.1] kg*m^2 end ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
start A' = 100 rad/s ;
""")
    run = maximal_run(mechanism, until=3, every=0.25)  # four turns between two instants
    told = joint_motion(mechanism, run, "A").values
    assert_allclose(told[:, 0], 100 * run.t, atol=1e-6)
    assert_allclose(told[:, 1], 100, atol=1e-9)
    later = joint_motion(mechanism, run, "A", start={"A": 4 * np.pi})
    assert_allclose(later.values[:, 0], 100 * run.t + 4 * np.pi, atol=1e-6)
    swung = liaison.read("""
gravity = [0, -9.81, 0] m/s^2 ;
let a = body mass = 1 kg, center = [0.1, 0, 0] m, inertia = [0, 0.001, 0.001] kg*m^2 end ;
let A = join earth and a with revolute axis = [0, 0, 1] end ;
start A' = 12 rad/s ;
""")
    coarse = liaison.simulate(swung, until=4, every=1.0, series=("poses", "motions"))
    recorded = replace(coarse, message="from a file")  # without its equations
    with pytest.raises(SimulationError, match="do not determine how many turns"):
        joint_motion(swung, recorded, "A")
    assert_allclose(joint_motion(swung, coarse, "A").values[:, 0], coarse["A"], atol=1e-6)


def test_rotation_matrices_give_the_same_run():
    mechanism = liaison.read(ARM.format(joint=CASES["universal"][0], start=""))
    one = maximal_run(mechanism, until=0.3, **TIGHT)
    other = maximal_run(mechanism, until=0.3, attitude=liaison.RotationMatrix(), **TIGHT)
    a, b = (joint_motion(mechanism, x, "B").values for x in (one, other))
    assert_allclose(a, b, rtol=1e-7, atol=1e-7)


# attitudes


@pytest.fixture(scope="module")
def gyroscope():
    text = """
let a = body mass = 1 kg, inertia = [0.1, 0.2, 0.3] kg*m^2 end ;
let A = join earth and a with spherical end ;
start A.wx = 4 rad/s ; start A.wy = 1 rad/s ; start A.wz = 9 rad/s ;
"""
    return liaison.simulate(text, until=2, every=0.01, series=("poses",))


@pytest.mark.parametrize("name", ["quaternion", "euler_zxz", "bryant_xyz", "matrix"])
def test_attitudes_are_continuous_and_turn_back_into_the_pose(gyroscope, name):
    from liaison.analyse.along.attitude_along import attitudes

    told = attitude_along(gyroscope, "a", name)
    R = gyroscope.series["poses"].values[:, 0, :, :3]
    again = [attitudes()[name].rotation(list(row)) for row in told.series.values]
    assert_allclose(np.array(again, dtype=float), R, atol=1e-7)
    if name != "euler_zxz":
        assert (told.singular, told.message) == ((), "")
        steps = np.abs(np.diff(told.series.values, axis=0))
        assert np.max(steps) < 1.0  # no jump by a sign or by half a turn


def test_singular_positions_are_told(gyroscope):
    told = attitude_along(gyroscope, "a", "euler_zxz")
    assert told.singular == (0.0,)  # it starts along the axes of the ground: nutation 0
    assert "only the sum or difference of precession and spin" in told.message
    assert np.all(np.isnan(told.series.shown[0, [0, 2]]))
    assert np.all(np.isfinite(told.series.values))


def test_names_that_are_not_there(gyroscope, both):
    with pytest.raises(NamingError, match="euler"):
        attitude_along(gyroscope, "a", "eulerian")
    with pytest.raises(NamingError, match="'bb'"):
        attitude_along(gyroscope, "bb")
    with pytest.raises(NamingError, match="'Z'"):
        joint_motion(both[0], both[1], "Z")
    with pytest.raises(SimulationError, match="motions"):
        joint_motion(both[0], liaison.simulate(both[0], until=0.01), "A")


@pytest.mark.parametrize(
    ("attitude", "start", "middle"),
    [("euler", "", "A.nutation"), ("bryant", "start A.angle_y = 90 deg ;", "A.angle_y")],
)
def test_a_start_at_which_angles_have_no_rates_is_refused(attitude, start, middle):
    text = f"""
let a = body mass = 1 kg, inertia = [0.1, 0.2, 0.3] kg*m^2 end ;
let A = join earth and a with spherical attitude = {attitude} end ; {start}
"""
    with pytest.raises(AssemblyError, match=f"singular where it starts: at {middle} = "):
        liaison.simulate(text, until=0.1)
    turned = text + f"start {middle} = 0.5 rad ;" if not start else text.replace("90", "60")
    assert liaison.simulate(turned, until=0.1).success


def test_multipliers_of_the_basic_constraints_are_the_reactions(both):
    """Newton and Euler of each body by itself with J and Γ of LL 4.5, against run.reaction."""
    mechanism, _, own = both
    n, sides, K, right = 20, {}, np.zeros((12, 12)), np.zeros(12)
    for k, body in enumerate(mechanism.bodies[1:]):
        pose, motion = own.series["poses"].values[n, k], own.series["motions"].values[n, k]
        R, w, arm = pose[:, :3], motion[:3], pose[:, :3] @ np.array(body.com, dtype=float)
        I = R @ np.array(body.inertia, dtype=float) @ R.T
        sides[body.name] = (pose[:, 3] + arm, motion[3:6] + np.cross(w, arm), w, R, arm)
        v, turn = slice(3 * k, 3 * k + 3), slice(6 + 3 * k, 9 + 3 * k)
        K[v, v], K[turn, turn] = float(body.mass) * np.eye(3), I
        right[v], right[turn] = [0, 0, -9.81 * float(body.mass)], -np.cross(w, I @ w)
    sides["ground"] = (np.zeros(3), np.zeros(3), np.zeros(3), np.eye(3), np.zeros(3))
    J, gamma, found = [], [], []
    for joint in mechanism.joints:
        i, j = (side_of(sides[x.body], x) for x in (joint.predecessor, joint.successor))
        found.append((joint.name, basic_rows(joint.type, i, j)))
        for row in found[-1][1]:
            line = np.zeros(12)
            for end, body in enumerate((joint.predecessor.body, joint.successor.body)):
                if body != "ground":
                    k = [x.name for x in mechanism.bodies[1:]].index(body)
                    line[3 * k : 3 * k + 3] += np.array(row.J[end], dtype=float)
                    line[6 + 3 * k : 9 + 3 * k] += np.array(row.J[2 + end], dtype=float)
            J.append(line)
            gamma.append(float(row.gamma))
    saddle = np.block([[K, -np.array(J).T], [np.array(J), np.zeros((len(J), len(J)))]])
    lam = np.linalg.solve(saddle, [*right, *gamma])[12:]
    for name, rows in found:
        moment, force = wrench_of(rows, lam[: len(rows)])
        lam = lam[len(rows) :]
        expected = own.reaction(name, frame="ground").values[n]
        assert_allclose([*moment, *force], expected, rtol=1e-6, atol=1e-6, err_msg=name)


def side_of(moving, marker):
    place, velocity, omega, R, center = moving
    p, axes = np.array(marker.p, dtype=float), np.array(marker.R, dtype=float)
    return Side(place, velocity, omega, R @ p - center, R @ axes)


def test_turns_between_far_instants_are_counted():
    """A rotor at 1 + 2π (1 − cos 2πt) rad/s: at whole seconds only 1 rad/s is seen of it."""
    text = """
    let rotor = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let A = join earth and rotor with revolute axis = [0, 0, 1] end ;
    let u = apply motor end on A ;
    start A' = 1 rad/s ;
    """
    t = symbol("t")
    inputs = {"u": 4 * np.pi**2 * sin(2 * np.pi * t)}
    run = liaison.simulate(text, until=5.0, every=1.0, inputs=inputs, series=("poses", "motions"))
    found = joint_motion(liaison.read(text), run, "A")
    np.testing.assert_allclose(run["A"], (1 + 2 * np.pi) * run.t, atol=1e-6)
    np.testing.assert_allclose(found.values[:, 0], run["A"], atol=1e-6)
