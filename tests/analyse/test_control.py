"""Controllers reject what they cannot do, and say why."""

from dataclasses import replace

import numpy as np
import pytest

import liaison


def arm(*motors):
    """Two sliders, with motors on some of them."""
    first, second = liaison.body("first", mass=1), liaison.body("second", mass=1)
    X = liaison.join(liaison.ground, first, "prismatic", name="X", axis=(1, 0, 0))
    Y = liaison.join(first, second, "prismatic", name="Y", axis=(0, 1, 0))
    inputs = [liaison.signal(f"u{x}", "N") for x in motors]
    acting = [liaison.motor(x, effort=u) for x, u in zip(motors, inputs, strict=True)]
    return liaison.mechanism(X, Y, inputs, acting, liaison.gravity())


def follow(**targets):
    return liaison.computed_torque(targets, stiffness=1, damping=2)


def run(mechanism, controller, **options):
    return liaison.simulate(mechanism, until=0.1, controller=controller, **options)


@pytest.mark.parametrize(
    ("motors", "controller", "message"),
    [
        ("X", follow(X=0, Y=0), "under-actuated: 1 motors"),
        ("X", liaison.gravity_compensation(), "under-actuated"),
        ("XY", follow(X=0), "'Y' has no target"),
        ("XY", follow(X=0, Q=0), "no coordinate with a rate is named 'Q'"),
        ("XY", follow(X=liaison.symbol("Y"), Y=0), "depends on 'Y'"),
        ("XY", liaison.computed_torque({"X": 0, "Y": 0}, stiffness={"X": 1}, damping=1), "'Y'"),
        (
            "XY",
            liaison.computed_torque({"X": 0, "Y": 0}, stiffness=1, damping=1, inputs="uZ"),
            "uZ",
        ),
        (
            "XY",
            liaison.computed_torque({"X": 0, "Y": 0}, stiffness=1, damping=1, limits={"uZ": 1}),
            "a limit is given for 'uZ'",
        ),
        ("XY", 3, "controller is 3"),
        ("XY", lambda t, state: 1.0, "inputs={'motor'"),
    ],
)
def test_controllers_say_what_they_lack(motors, controller, message):
    with pytest.raises(liaison.LiaisonError) as caught:
        run(arm(*motors), controller)
    assert message in str(caught.value)


def test_computed_torque_needs_motors_that_act_in_proportion():
    m = arm("X", "Y")
    bent = replace(m.forces[0], effort=liaison.symbol("uX") ** 3)
    with pytest.raises(liaison.DerivationError, match="not proportional"):
        run(replace(m, forces=(bent, *m.forces[1:])), follow(X=0, Y=0))


def test_a_kernel_takes_no_controller():
    m = arm("X", "Y")
    with pytest.raises(liaison.ArgumentError, match="this is a kernel"):
        liaison.simulate(liaison.to_kernel(m), until=1, controller=follow(X=0, Y=0))


def test_regulator_names_what_no_input_reaches():
    with pytest.raises(liaison.ModelError, match="no input reaches") as caught:
        liaison.lqr(arm("X"))
    assert "Y" in str(caught.value)


def test_regulator_needs_a_state_that_its_inputs_hold():
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    cart = liaison.body("cart", mass=1)
    X = liaison.join(liaison.ground, cart, "prismatic", name="X", axis=(1, 0, 0))
    f = liaison.signal("f", "N")
    m = liaison.mechanism(A, X, f, liaison.motor(X, effort=f), liaison.gravity())
    with pytest.raises(liaison.SimulationError, match="cannot hold this state"):
        liaison.lqr(m, start={"A": 0.3})


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ({"state_cost": {"Z": 1}}, "'Z'"),
        ({"state_cost": np.eye(3)}, "shape"),
        ({"state_cost": {"X": -1}}, "not negative"),
        ({"input_cost": 0}, "positive"),
        ({"inputs": "uZ"}, "uZ"),
    ],
)
def test_regulator_rejects_costs_that_are_none(costs, message):
    with pytest.raises(liaison.LiaisonError) as caught:
        liaison.lqr(arm("X", "Y"), **costs)
    assert message in str(caught.value)


def test_controllers_add_up_and_keep_within_limits():
    m = arm("X", "Y")
    push = liaison.lqr(m)
    both = liaison.controlled(m, [push, push])
    once = liaison.controlled(m, push)
    names = [x.name for x in once.outputs]
    start = {"X": 1.0, "Y": 0.5}
    (a,) = [liaison.simulate(x, until=0, start=start)["uX"] for x in (once,)]
    b = liaison.simulate(both, until=0, start=start)["uX"]
    assert names == ["uX", "uY"]
    assert b[0] == pytest.approx(2 * a[0])
    clipped = liaison.lqr(m, limits={"uX": "100 mN"})
    moved = liaison.simulate(m, until=1, start=start, controller=clipped)
    assert np.max(np.abs(moved["uX"])) == pytest.approx(0.1)


def test_controlled_mechanisms_run_in_batches_and_step_by_step():
    m, balance = arm("X", "Y"), liaison.lqr(arm("X", "Y"))
    starts = {"X": [1.0, -1.0]}
    runs = liaison.simulate_batch(m, until=1, start=starts, controller=balance, every=0.5)
    alone = liaison.simulate(m, until=1, start={"X": 1.0}, controller=balance, every=0.5)
    stepper = liaison.stepper(m, start={"X": 1.0}, controller=balance)
    stepper.step(None, 0.5)
    assert runs[0]["X"][-1] == pytest.approx(alone["X"][-1], abs=1e-9)
    assert runs[1]["X"][-1] == pytest.approx(-alone["X"][-1], abs=1e-9)
    assert stepper.step(None, 0.5)["X"] == pytest.approx(alone["X"][-1], abs=1e-7)


def test_controlled_mechanism_reads_back_from_lsd():
    m = liaison.controlled(arm("X", "Y"), follow(X=liaison.sin(liaison.t), Y=1))
    assert liaison.read(liaison.write_lsd(m)) == m


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"position": (9, 0, 0)}, "out of reach"),
        ({"position": (0.9, 0, -0.9), "limits": {"B": ("-10 deg", "10 deg")}}, "B at a limit"),
        ({"position": (0.9, 0, -0.9), "limits": {"B": (1, 0)}}, "lower must not exceed"),
        ({"position": (0.9, 0, -0.9), "limits": {"B": 1}}, "a pair"),
        ({"position": (0.9, 0, -0.9), "limits": {"Q": (0, 1)}}, "'Q'"),
        ({"position": (0.9, 0)}, "three components"),
        ({"position": (liaison.symbol("x"), 0, 0)}, "depends on 'x'"),
        ({"position": (0.9, 0, -0.9), "rotation": np.diag([1, 1, 2])}, "no rotation"),
        ({"position": (0.9, 0, -0.9), "times": [1.0, 0.0]}, "increase"),
    ],
)
def test_paths_of_joints_say_what_is_out_of_reach(options, message):
    with pytest.raises(liaison.LiaisonError) as caught:
        liaison.joint_path("examples/double_pendulum.lsd", "lower", point=(0, 0, -1), **options)
    assert message in str(caught.value)


def test_stops_of_a_mechanism_limit_its_paths():
    m = liaison.read("examples/double_pendulum.lsd")
    stops = liaison.stops("B", upper=-0.2)
    m = replace(m, contacts=(*m.contacts, *stops), starts=())
    options = {"point": (0, 0, -1), "position": (0.9, 0, -0.9)}
    path = liaison.joint_path(m, "lower", start={"A": 1.5, "B": -1.0}, **options)
    assert path["B"][0] < -0.2


def test_equilibrium_says_that_states_have_none():
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    m = liaison.mechanism(A, liaison.pid(A, stiffness=1, integral=1), liaison.gravity())
    with pytest.raises(liaison.SimulationError, match="state of a load"):
        liaison.equilibrium(m)


def bounded(effort):
    """A rod whose motor has a greatest effort, as motors of URDF files have."""
    rod = liaison.body("rod", mass=1, center=(0, 0, -0.5))
    A = liaison.join(liaison.ground, rod, "revolute", name="A", axis=(0, 1, 0))
    u = liaison.signal("u", "N*m")
    motor = liaison.servo(A, effort=u, limit=effort, no_load=50)
    return liaison.mechanism(A, u, motor, liaison.gravity())


def test_bounds_of_a_motor_clip_what_a_controller_asks_for():
    """Within them errors decay as they should; a motor that is too weak hangs where it balances."""
    follow = liaison.computed_torque({"A": 1.0}, stiffness=25, damping=10)
    strong, weak = (
        liaison.simulate(bounded(x), until=4, controller=follow, rtol=1e-10) for x in (20, 2)
    )
    e = (1 + 5 * strong.t) * np.exp(-5 * strong.t)
    assert np.allclose(1 - strong["A"], e, atol=1e-8)
    assert abs(weak["A"][-1] - 1) > 0.3
    assert np.max(weak["A"]) < 1  # 2 N·m lift 4.905 N·m sin A to 0.42 rad, and swing to twice that


def test_friction_that_is_steep_at_rest_is_noted():
    """F v/√(v² + s²) has the slope F/s at rest; at v ≫ s it damps by F/v alone."""
    m = arm("X", "Y")
    assert liaison.lqr(m).notes == ()
    viscous = replace(m, forces=(*m.forces, liaison.friction("X", viscous=2)))
    assert liaison.lqr(viscous).notes == ()
    rough = replace(m, forces=(*m.forces, liaison.friction("X", dry=0.3, smoothing=0.002)))
    feedback = liaison.lqr(rough)
    (note,) = feedback.notes
    assert "slope at rest" in note
    assert "X 150" in note
    assert note in str(feedback)
