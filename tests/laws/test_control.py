"""Laws of controlled mechanisms: what feedback promises holds to rounding, also in closed loops."""

from dataclasses import replace

import numpy as np
import pytest

import liaison

TIGHT = {"rtol": 1e-11, "atol": 1e-12}
EXACT = 1e-9
"""Errors of integration with these tolerances, over seconds of motions of order 1."""


def two_link_arm():
    """Two bars in the vertical plane, a motor in each joint."""
    upper = liaison.body("upper", mass=2, center=(0, 0, -0.25), inertia=(0.05, 0.05, 0.01))
    lower = liaison.body("lower", mass=1, center=(0, 0, -0.2), inertia=(0.02, 0.02, 0.005))
    A = liaison.join(liaison.ground, upper, "revolute", name="A", axis=(0, 1, 0))
    B = liaison.join(upper.at((0, 0, -0.5)), lower, "revolute", name="B", axis=(0, 1, 0))
    a, b = liaison.signal("a", "N*m"), liaison.signal("b", "N*m")
    motors = liaison.motor(A, effort=a), liaison.motor(B, effort=b)
    return liaison.mechanism(A, B, a, b, motors, liaison.gravity())


def four_bar(motor="A"):
    """The example with a motor in one of its joints."""
    m = liaison.read("examples/four_bar.lsd")
    u = liaison.signal("u", "N*m")
    return replace(m, inputs=(u,), forces=(*m.forces, liaison.motor(motor, effort=u)))


def delta():
    """The Delta robot of the examples, with torques in the place of its servos."""
    m = liaison.read("examples/robots/delta.lsd")
    inputs = tuple(liaison.signal(f"u{i}", "N*m") for i in (1, 2, 3))
    motors = [liaison.motor(f"A{i}", effort=u) for i, u in enumerate(inputs, 1)]
    others = [x for x in m.forces if type(x).__name__ != "Servo"]
    return replace(m, inputs=inputs, forces=(*others, *motors))


def cart_pole(pole_mass=0.2):
    """A pole that stands on a cart, pushed by a force."""
    cart = liaison.body("cart", mass=1)
    pole = liaison.body("pole", mass=pole_mass, center=(0, 0, 0.5), inertia=(0.02, 0.02, 0.001))
    X = liaison.join(liaison.ground, cart, "prismatic", name="X", axis=(1, 0, 0))
    P = liaison.join(cart, pole, "revolute", name="P", axis=(0, 1, 0))
    f = liaison.signal("f", "N")
    return liaison.mechanism(X, P, f, liaison.motor(X, effort=f), liaison.gravity())


def decaying(e, e_rate, t):
    """The solution of ë + 10 ė + 25 e = 0."""
    return (e + (e_rate + 5 * e) * t) * np.exp(-5 * t)


# PID


@pytest.mark.parametrize("limit", [None, 8])
def test_integral_action_leaves_no_error_under_a_constant_load(limit):
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    gains = {"stiffness": 20, "integral": 20, "damping": 5, "filter": 0.01, "limit": limit}
    arm = liaison.pid(A, target="90 deg", name="P", **gains)
    run = liaison.simulate(liaison.mechanism(A, arm, liaison.gravity()), until=25)
    assert run["A"][-1] == pytest.approx(np.pi / 2, abs=1e-7)
    # at rest the integral alone holds the weight
    assert 20 * run["P.integral"][-1] == pytest.approx(9.81 / 2, abs=1e-6)
    without = liaison.servo(A, target="90 deg", stiffness=20, damping=5)
    off = liaison.simulate(liaison.mechanism(A, without, liaison.gravity()), until=25)
    assert abs(off["A"][-1] - np.pi / 2) > 0.1


def test_bounded_integral_does_not_wind_up():
    """A target that a bound keeps it from for long is passed by little."""
    block = liaison.body("block", mass=0.1)
    X = liaison.join(liaison.ground, block, "prismatic", name="X", axis=(1, 0, 0))
    gains = {"stiffness": 10, "integral": 5, "limit": 2, "name": "P"}
    oil = liaison.damper(X, coefficient=5)
    peaks = {}
    for name, tracking in (("bounded", None), ("wound", 1e6)):
        drive = liaison.pid(X, target=5, tracking=tracking, **gains)
        run = liaison.simulate(liaison.mechanism(X, drive, oil), until=40)
        peaks[name] = run["X"].max()
    assert peaks["bounded"] < 5.3
    assert peaks["wound"] > 6.5


def test_filtered_derivative_is_the_low_pass_of_the_rate():
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    drive = liaison.pid(A, target=1, damping=2, filter=0.1, name="P")
    z = liaison.symbol("z")
    rate = liaison.rate(A)
    low = liaison.memory("z", rate=(-rate - z) / 0.1, unit="rad/s")
    m = liaison.mechanism(A, drive, low, liaison.gravity())
    run = liaison.simulate(m, until=2, start={"A": 0.7}, **TIGHT)
    assert np.max(np.abs(run["P.rate"] - run["z"])) < EXACT


# states


@pytest.mark.parametrize(
    ("method", "step", "error"),
    [
        (None, None, 1e-7),
        ("radau", None, 1e-7),
        ("rk4", 0.01, 1e-7),
        ("gauss6", 0.01, 1e-11),
        ("generalized-alpha", 0.01, 2e-4),
        ("rattle", 0.01, 2e-4),
        ("moreau", 0.01, 2e-4),
    ],
)
def test_a_state_follows_its_rate_in_every_kind_of_step(method, step, error):
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    current = liaison.symbol("current")
    winding = liaison.memory("current", rate=(12 - 2 * current) / 0.5, unit="A")
    m = liaison.mechanism(A, winding, liaison.motor(A, effort=0.1 * current))
    run = liaison.simulate(m, until=1, method=method, step=step, start={"current": 1.0})
    assert run["current"][-1] == pytest.approx(6 - 5 * np.exp(-4), abs=error)


def test_states_neither_push_nor_have_energy():
    """A state that nothing reads changes no bit of the motion, and none of its energy."""
    m = liaison.read("examples/four_bar.lsd")
    watching = liaison.memory("z", rate=liaison.symbol("A'") ** 2 - liaison.symbol("z"))
    plain = liaison.simulate(m, until=0.5, step=1e-3)
    watched = liaison.simulate(replace(m, forces=(*m.forces, watching)), until=0.5, step=1e-3)
    assert np.max(np.abs(plain.q - watched.q)) < 1e-12
    assert np.max(np.abs(plain["energy"] - watched["energy"])) < 1e-12
    assert watched["z"][-1] > 0


@pytest.mark.parametrize("formalism", ["dalembert", "lagrange", "kane", "lie_group", "hamilton"])
def test_states_are_the_same_in_every_formalism(formalism):
    drive = liaison.pid(
        "A", target=0.9, stiffness=50, integral=60, damping=10, limit=40, filter=0.01, name="P"
    )
    m = liaison.read("examples/four_bar.lsd")
    tree = liaison.span(replace(m, forces=(*m.forces, drive)))
    state = liaison.assemble(tree, A=0.5).changed({"P.integral": 0.3, "P.rate": 0.2})
    vdot = []
    for name in ("newton_euler", formalism):
        kernel = liaison.to_numpy(liaison.lower(liaison.FORMALISMS[name](tree)))
        p = kernel.program.defaults["p"]
        vdot.append(kernel.call("forward", 0.0, q=state.q, v=state.v, p=p)["vdot"])
    assert np.allclose(*vdot, rtol=1e-10)


def test_linearization_has_one_eigenvalue_for_a_state():
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    drive = liaison.pid(A, stiffness=20, integral=20, damping=5)
    linear = liaison.linearize(liaison.mechanism(A, drive, liaison.gravity()))
    # s (0.25 s² + 5 s + 20 + 4.905) + 20 = 0
    roots = np.roots([0.25, 5, 20 + 9.81 / 2, 20])
    assert np.allclose(np.sort_complex(linear.eigenvalues), np.sort_complex(roots))


# computed torque


def test_errors_of_an_arm_under_computed_torque_decay_linearly():
    targets = {"A": 0.5 * liaison.sin(2 * liaison.t), "B": "40 deg"}
    follow = liaison.computed_torque(targets, stiffness=25, damping=10)
    start = {"A": 0.3, "B": -0.2, "B'": 1}
    run = liaison.simulate(two_link_arm(), until=2, controller=follow, start=start, **TIGHT)
    e_A = 0.5 * np.sin(2 * run.t) - run["A"]
    e_B = np.radians(40) - run["B"]
    assert np.max(np.abs(e_A - decaying(-0.3, 1.0, run.t))) < EXACT
    assert np.max(np.abs(e_B - decaying(np.radians(40) + 0.2, -1.0, run.t))) < EXACT


@pytest.mark.parametrize("motor", ["A", "D"])
def test_errors_of_a_closed_loop_under_computed_torque_decay_linearly(motor):
    follow = liaison.computed_torque({"A": 1.0 + liaison.t}, stiffness=25, damping=10)
    start = {"A": 1.1, "A'": 1}
    run = liaison.simulate(four_bar(motor), until=1, controller=follow, start=start, **TIGHT)
    assert np.max(np.abs(1 + run.t - run["A"] - decaying(-0.1, 0.0, run.t))) < EXACT


def test_errors_of_a_delta_robot_under_computed_torque_decay_linearly():
    targets = {f"A{i}": 0.5 + 0.1 * i for i in (1, 2, 3)}
    follow = liaison.computed_torque(targets, stiffness=25, damping=10)
    run = liaison.simulate(delta(), until=0.5, controller=follow, rtol=1e-9, atol=1e-11)
    for i in (1, 2, 3):
        e = targets[f"A{i}"] - run[f"A{i}"]
        assert np.max(np.abs(e - decaying(e[0], 0.0, run.t))) < 1e-7


# gravity compensation


@pytest.mark.parametrize(
    ("make", "start"),
    [(two_link_arm, {"A": 1.0, "B": -0.7}), (four_bar, {"A": 1.2, "A'": 0}), (delta, {})],
)
def test_gravity_compensation_holds_any_position(make, start):
    hold = liaison.gravity_compensation()
    run = liaison.simulate(make(), until=2, controller=hold, start=start)
    assert np.max(np.abs(run.q - run.q[0])) < EXACT


@pytest.mark.parametrize(
    ("make", "joints"),
    [(two_link_arm, ["A", "B"]), (four_bar, ["A"]), (delta, ["A1", "A2", "A3"])],
)
def test_balanced_joints_do_the_same(make, joints):
    m = make()
    loads = liaison.controlled(m, [liaison.balanced(x) for x in joints])
    formulas = liaison.controlled(m, liaison.gravity_compensation())
    a, b = (liaison.forward_dynamics(x) for x in (loads, formulas))
    assert np.max(np.abs(a - b)) < EXACT * (1 + np.max(np.abs(a)))


# LQR


def test_regulator_has_the_eigenvalues_of_its_riccati_equation():
    m = cart_pole()
    costs = {"X": 10, "P": 10, "X'": 1, "P'": 1}
    balance = liaison.lqr(m, state_cost=costs, input_cost=0.1)
    A, B, P, K = balance.linear.A, balance.linear.B, balance.P, balance.K
    left = A.T @ P + P @ A - P @ B @ B.T @ P / 0.1 + np.diag(list(costs.values()))
    assert np.max(np.abs(left)) < 1e-9 * np.max(np.abs(P))
    assert np.allclose(K, B.T @ P / 0.1)
    closed = liaison.linearize(liaison.controlled(m, balance))
    # polynomials, since rounding decides which of two conjugates is sorted first
    assert np.allclose(np.poly(closed.eigenvalues), np.poly(balance.eigenvalues), atol=1e-9)
    assert np.max(balance.eigenvalues.real) < 0


def test_regulator_costs_less_than_its_neighbours():
    """∫ xᵀ Q x + wᵀ R w of small motions is xᵀ P x, and more with other gains."""
    m = cart_pole()
    balance = liaison.lqr(m, state_cost=1, input_cost=1)
    x0 = 1e-3
    costs = []
    for factor in (1.0, 0.9, 1.1):
        other = replace(balance, K=balance.K * factor)
        run = liaison.simulate(m, until=30, controller=other, start={"P": x0}, **TIGHT)
        x = np.stack([run[label.name] for label in balance.labels])
        integrand = np.sum(x**2, axis=0) + run["f"] ** 2
        costs.append(np.trapezoid(integrand, run.t) / x0**2)
    k = [label.name for label in balance.labels].index("P")
    assert costs[0] == pytest.approx(balance.P[k, k], rel=1e-3)
    assert costs[0] < min(costs[1:])


def test_regulator_of_a_closed_loop_in_independent_coordinates():
    m = delta()
    hold = liaison.lqr(m, independent=["A1", "A2", "A3"])
    assert [x.name for x in hold.labels][:3] == ["A1", "A2", "A3"]
    closed = liaison.linearize(liaison.controlled(m, hold), independent=["A1", "A2", "A3"])
    assert np.allclose(np.sort(closed.eigenvalues.real), np.sort(hold.eigenvalues.real), rtol=1e-8)


# inverse kinematics


def test_path_of_joints_reaches_its_targets_within_limits():
    arm, point = "examples/double_pendulum.lsd", (0, 0, -1)
    t = liaison.t
    place = (0.9 + 0.2 * liaison.cos(3 * t), 0, -0.9 + 0.2 * liaison.sin(3 * t))
    times = np.linspace(0, 2, 21)
    limits = {"B": (0.0, 3.0)}
    options = {"point": point, "times": times, "limits": limits, "start": {"A": 0.2, "B": 0.5}}
    path = liaison.joint_path(arm, "lower", position=place, **options)
    assert np.max(path.missed) < 1e-9
    assert np.min(path["B"]) >= 0.0
    for k in (0, 7, 20):
        hand = liaison.pose(arm, "lower", {"A": path["A"][k], "B": path["B"][k]})
        x, _, z, _ = hand @ [*point, 1]
        assert x == pytest.approx(0.9 + 0.2 * np.cos(3 * times[k]), abs=1e-9)
        assert z == pytest.approx(-0.9 + 0.2 * np.sin(3 * times[k]), abs=1e-9)


def test_path_of_joints_closes_loops():
    m = delta()
    times = np.linspace(0, 0.4, 5)
    path = liaison.joint_path(m, "plate", position=(0.05 * liaison.t, 0, -0.53), times=times)
    assert np.max(path.missed) < 1e-9
    tree = liaison.span(m)
    kernel = liaison.to_numpy(liaison.lower(liaison.newton_euler(tree)))
    p = kernel.program.defaults["p"]
    for q in path.q:
        phi = kernel.call("closure", 0.0, q=q, v=np.zeros(tree.nv), u=np.zeros(3), p=p)["phi"]
        assert np.max(np.abs(phi)) < 1e-9


def test_path_to_a_pose_turns_the_body():
    arm = "examples/double_pendulum.lsd"
    want = liaison.pose(arm, "lower", {"A": 0.4, "B": 0.5})
    options = {"position": want[:3, 3], "rotation": want[:3, :3], "start": {"A": 0.1, "B": 0.2}}
    path = liaison.joint_path(arm, "lower", **options)
    assert path["A"][0] == pytest.approx(0.4, abs=1e-9)
    assert path["B"][0] == pytest.approx(0.5, abs=1e-9)


def test_a_state_on_a_long_chain_changes_nothing_else():
    """Forward dynamics of deep trees go by articulated bodies, which states leave alone."""
    joints, place = [], liaison.ground
    for k in range(12):
        link = liaison.body(f"b{k}", mass=1, center=(0, 0, -0.05), inertia=(1e-3, 1e-3, 1e-3))
        joints.append(liaison.join(place, link, "revolute", name=f"J{k}", axis=(0, 1, 0)))
        place = link.at((0, 0, -0.1))
    m = liaison.mechanism(joints, liaison.gravity())
    z = liaison.memory("z", rate=liaison.symbol("J3") - liaison.symbol("z"), unit="rad")
    watched = liaison.mechanism(joints, liaison.gravity(), z)
    vdot = []
    for x in (m, watched):
        equations = liaison.newton_euler(liaison.span(x))
        symbols = (*equations.symbols.q, *equations.symbols.v)
        values = {s: np.sin(sum(map(ord, s.name))) for s in symbols}
        vdot.append(liaison.expr.evaluate(equations.dynamics.articulated(), values))
    assert np.allclose(vdot[0], vdot[1][:12], rtol=1e-12)
    J3, z = (np.sin(sum(map(ord, name))) for name in ("J3", "z"))
    assert vdot[1][12] == pytest.approx(J3 - z)


def test_theorems_and_reactions_leave_states_alone():
    m = liaison.read("examples/four_bar.lsd")
    drive = liaison.pid("A", target=0.9, stiffness=5, integral=6, damping=1, name="P")
    m = replace(m, forces=(*m.forces, drive))
    run = liaison.simulate(m, until=0.2, series=("reactions",), **TIGHT)
    assert "P.integral" not in run.series["reactions"].axes["joint"]
    assert all(x.error < 1e-6 for x in liaison.verify(m, run).theorems)
