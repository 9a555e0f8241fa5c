"""linearize: closed forms, and the motion itself for mechanisms with loops, wheels and balls."""

import numpy as np
import pytest
from scipy.linalg import expm

import liaison
from liaison import analyse
from liaison.errors import ModelError, NamingError
from samples import some


def made(path, **starts):
    tree = liaison.span(liaison.read(path))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    return kernel, liaison.assemble(tree, None, **starts)


def test_a_pendulum_swings_at_its_frequency():
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let bar = body mass = 2 kg, center = [0, 0, -0.5] m, inertia = [0.17, 0.17, 0] kg*m^2 end ;
    let A = join earth and bar with revolute axis = [0, 1, 0] end ;
    """
    found = liaison.linearize(text, liaison.equilibrium(text).state)
    assert found.eigenvalues.imag[0] ** 2 == pytest.approx(9.81 / (0.17 + 0.5), rel=1e-12)
    assert [x.name for x in found.labels] == ["A", "A'"]
    assert found.is_stable


def test_a_sleeping_top_needs_its_speed(examples):
    """Routh: (C n)² > 4 A m g l, with A about the tip."""
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let top = body mass = 0.5 kg, center = [0, 0, 6] cm, inertia = [4, 4, 6] kg*cm^2 end ;
    let S = join earth and top with spherical end ;
    start S.wz = 1 ;
    """
    mgl, about_tip, along = 0.5 * 9.81 * 0.06, 4e-4 + 0.5 * 0.06**2, 6e-4
    critical = np.sqrt(4 * about_tip * mgl) / along
    for factor, stable in ((1.01, True), (0.99, False)):
        found = liaison.linearize(text, start={"S.wz": factor * critical})
        assert found.steadiness == 0
        assert found.is_stable is stable


STEADY = {
    "four_bar.lsd": None,  # at rest
    "reference/whipple.lsd": {"F.roll'": 0.0, "R'": -15.0},
    "reference/hoop.lsd": {},
    "reference/heavy_top.lsd": None,
    "stewart.lsd": None,
}


@pytest.mark.parametrize("model", some(STEADY, 4))
def test_the_motion_follows_the_matrix_exponential(examples, model):
    """Small perturbations of a steady motion, moved by the equations themselves."""
    kernel, state = made(examples / model, **(STEADY[model] or {}))
    if STEADY[model] is None:
        state = analyse.equilibrium(kernel, state).state
    found = analyse.linearize(kernel, state)
    assert found.steadiness < 1e-8
    size, span = 1e-5, 0.02
    rng = np.random.default_rng(3)
    small = size * rng.normal(size=len(found.A))
    ends = [moved(kernel, state, sign * found.shapes @ small, span) for sign in (1, -1)]
    change = kernel("difference", q=ends[1].q, x=ends[0].q) / 2
    swerve = np.concatenate([change, (ends[0].v - ends[1].v) / 2])
    expected = found.shapes @ expm(found.A * span) @ small
    assert swerve == pytest.approx(expected, abs=2e-4 * np.max(np.abs(expected)))


def moved(kernel, state, change, span):
    """The state a while after it was changed."""
    nv = len(state.v)
    q = kernel("retract", q=state.q, x=change[:nv])
    start = liaison.State(state.t, q, state.v + change[nv:], state.labels)
    run = liaison.simulate(kernel, start, until=span, rtol=1e-12, atol=1e-14, only_series=())
    return liaison.State(span, run.q[-1], run.v[-1], state.labels)


def test_inputs_and_outputs_are_differentiated(examples):
    found = liaison.linearize(examples / "slider_crank.lsd")
    kernel, state = made(examples / "slider_crank.lsd")
    pushes = [kernel.call("forward", q=state.q, v=state.v, u=[u])["vdot"] for u in (1.0, -1.0)]
    names = [x.name for x in kernel.program.labels["v"]]
    speeds = [names.index(x.name) for x in found.labels[found.positions :]]
    assert found.B[found.positions :, 0] == pytest.approx((pushes[0] - pushes[1])[speeds] / 2)
    assert found.C.shape == (2, len(found.A))
    assert [x.name for x in found.inputs] == ["drive"]
    assert found.steadiness > 1  # a motion, not a rest


def test_a_part_must_move_alone(examples):
    path, wishes = examples / "reference/whipple.lsd", ("F.roll", "steer", "R")
    found = liaison.linearize(path, start={"F.roll'": 0.0}, independent=wishes)
    part = found.part("F.roll", "steer", "F.roll'", "steer'")
    assert part.A.shape == (4, 4)
    M, _, _ = part.second_order
    assert pytest.approx(M.T) == M
    with pytest.raises(ModelError, match="acts on"):
        found.part("F.roll", "F.roll'")
    with pytest.raises(NamingError, match=r"F\.rol'"):
        found.part("F.rol'")
    with pytest.raises(ModelError, match="do not match"):
        _ = found.second_order


def test_a_redundant_loop_has_the_frequency_of_its_planar_twin(examples):
    """Rows that depend on each other change nothing: Bricard's linkage against its own energy."""
    kernel, state = made(examples / "reference/bricard_A04.lsd")
    rest = analyse.equilibrium(kernel, state)
    exact = {"rtol": 1e-11, "atol": 1e-13, "series": ()}
    run = liaison.simulate(kernel, nudged(rest, 1e-4), until=12.0, every=0.01, **exact)
    angle = run.q[:, 0] - rest.state.q[0]
    turns = run.t[1:][(angle[1:] > 0) & (angle[:-1] <= 0)]
    assert 1 / np.mean(np.diff(turns)) == pytest.approx(rest.linear.frequencies[0], rel=2e-3)


def nudged(rest, rate):
    shape = rest.linear.shapes[:, -1][len(rest.state.v) :]
    return liaison.State(0.0, rest.state.q, rate * shape, rest.state.labels)


def test_plain_data_is_plain(examples):
    import json

    found = liaison.linearize(examples / "four_bar.lsd")
    assert json.loads(json.dumps(found.to_dict()))["states"] == ["A [rad]", "A' [rad/s]"]


def test_an_instant_of_a_run(examples):
    path = examples / "four_bar.lsd"
    run = liaison.simulate(path, until=0.5, every=0.001, rtol=1e-11, atol=1e-13)
    there = liaison.linearize(path, run, at=0.2)
    k = 200
    state = liaison.State(run.t[k], run.q[k], run.v[k], {x: run.labels[x] for x in "qv"})
    again = liaison.linearize(path, state).A
    assert again == pytest.approx(there.A, rel=1e-9)
    assert there.steadiness > 0.1


def test_an_output_without_a_slope_is_left_out(examples):
    """A square root at zero has none; no NaN comes out."""
    found = liaison.linearize(examples / "gimbals.lsd")
    assert np.all(np.isfinite(found.C))
    assert len(found.outputs) == len(found.C)


CART = """
gravity = [0, 0, -9.81] m/s^2 ;
let cart = body mass = 2 kg, inertia = 1 g*m^2 end ;
let rod = body mass = 0.5 kg, center = [0, 0, -0.2] m, inertia = 0 end ;
let x = join earth and cart with prismatic axis = [1, 0, 0] end ;
let theta = join cart and rod with revolute axis = [0, -1, 0] end ;
%s
"""


def test_what_nothing_brings_back_is_named():
    """A cart that is pushed goes on; with a damper it stops elsewhere, with a spring it returns."""
    assert liaison.linearize(CART % "").drifts == ("x",)
    assert "stable, but x may drift" in str(liaison.linearize(CART % ""))
    for load in ("damper coefficient = 1 N*s/m", "spring stiffness = 5 N/m"):
        found = liaison.linearize(CART % f"apply {load} end on x ;")
        assert found.is_stable
        assert found.drifts == ()


def test_an_eigenvalue_at_zero_has_no_damping():
    """Its rounding, 6e-17 + 1e-16i, had the ratio −0.39."""
    hoop = liaison.read("""
    gravity = [0, 0, -9.81] m/s^2 ;
    let hoop = body mass = 500 g, inertia = 20 g*m^2 end ;
    let V = join earth and hoop with revolute end ;
    let bead = body mass = 100 g, inertia = 0, center = [0, 0, -30] cm end ;
    let B = join hoop and bead with revolute axis = [0, 1, 0] end ;
    start V' = 60 rpm ; start B = 10 deg ;
    """)
    small = liaison.linearize(hoop)
    zero = np.abs(small.eigenvalues) < 1e-12
    assert zero.sum() == 2
    assert not small.damping[zero].any()
    assert np.abs(small.damping[~zero]) == pytest.approx(1)
