"""Worlds with many contacts: groups of threads solve them, and steps are those of `simulate`."""

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd
from liaison.program.llvm.machine import ptx
from liaison.program.loops.compile import compile_loops
from liaison.simulation.worlds import module
from liaison.simulation.worlds.groups.matrices import inverted, width_of
from liaison.simulation.worlds.groups.registers import SIZES
from liaison.solvers.cones.cones import reachable_area, reachable_part

H = 1e-3
ONE_STEP = 1e-12
"""Contacts of one body repeat each other: forces differ, velocities do not."""

BODY = """
name = "sledge" ;
gravity = [0, 0, -9.81] m/s^2 ;
let sledge = body mass = 2 kg, inertia = [0.02, 0.03, 0.04] kg*m^2 end ;
let F = join earth and sledge with free end ;
{points}
start F = [0, 0, {height}] ;
start F' = {velocity} ;
"""
POINT = "let p{k} = contact [{x}, {y}, -5] cm @ sledge and earth with point friction = 0.4 end ;"
SLIDES = "[0.3, -0.2, 0, 0, 0, 0]"


def sledge(count, velocity=SLIDES, height="5 cm"):
    """A body on so many points, which slides: were it to turn, friction would not be unique."""
    places = [(10 * np.cos(k), 7 * np.sin(k)) for k in range(count)]
    points = [POINT.format(k=k, x=f"{x:.3f}", y=f"{y:.3f}") for k, (x, y) in enumerate(places)]
    return read_lsd(BODY.format(points="\n".join(points), velocity=velocity, height=height))


def march_of(description, **options):
    """The module of its kernel that marches."""
    worlds = liaison.worlds(description, 1, step=H, device="processor")
    return module.module_of(worlds.plan, ("march",), **options)


@pytest.mark.parametrize("count", [9, pytest.param(13, marks=pytest.mark.slow)])
def test_steps_are_those_of_simulate(count):
    """27 rows are solved by the group, 39 are too many for it: the general loops take them."""
    body = sledge(count)
    worlds = liaison.worlds(body, 2, step=H, device="processor")
    run = liaison.simulate(body, until=40 * H, step=H, method="moreau", every=H)
    for done, k in ((1, 1), (39, 40)):
        worlds.step(done)
        assert np.max(np.abs(worlds.q[:, 1] - run.q[k])) <= ONE_STEP * k
        assert np.max(np.abs(worlds.v[:, 1] - run.v[k])) <= 1e3 * ONE_STEP * k
    assert worlds.lost == 0
    assert worlds.residuals.max() <= 1e-8
    assert worlds.penetrations.max() <= 1e-12


def test_a_sledge_that_lands_while_it_turns_is_that_of_simulate():
    """With up to 12 velocities nothing is left out of what rates change up to the end of a step.

    It touches on few points at a time, so that velocities are unique.
    """
    body = sledge(9, "[0.3, -0.2, -1, 0.5, 0.3, 3]", "8 cm")
    worlds = liaison.worlds(body, 1, step=H, device="processor")
    run = liaison.simulate(body, until=60 * H, step=H, method="moreau", every=H)
    for k in range(1, 61):
        worlds.step(1)
        assert np.max(np.abs(worlds.v[:, 0] - run.v[k])) <= 1e2 * ONE_STEP
    assert worlds.contacts.max() > 2
    assert worlds.lost == 0


def test_a_sledge_slows_down_by_its_friction_and_stays():
    """Friction of 0.4 takes μ g h from the speed in a step while it slides without turning."""
    worlds = liaison.worlds(sledge(9, "[0.5, 0, 0, 0, 0, 0]"), 1, step=H, device="processor")
    worlds.step(100)
    moves = np.flatnonzero(np.abs(worlds.v[:, 0]) > 1e-9)
    assert moves.size == 1
    assert abs(worlds.v[moves[0], 0] - (0.5 - 0.4 * 9.81 * 0.1)) <= 1e-10
    worlds.step(100)
    assert np.max(np.abs(worlds.v)) <= 1e-10


@pytest.mark.slow
def test_single_precision():
    worlds = liaison.worlds(sledge(9), 2, step=H, device="processor", precision="single")
    worlds.step(40)
    assert worlds.lost == 0
    assert worlds.residuals.max() <= 1e-4


@pytest.mark.slow
def test_many_rows_are_marched_in_groups():
    many, few = (march_of(sledge(count), gpu=False) for count in (9, 4))
    assert many.group_words > 0
    assert many.group == 1
    assert few.group_words == 0


@pytest.mark.slow
def test_text_of_a_gpu_shares_memory_of_a_block():
    made = march_of(sledge(9), gpu=True)
    text = ptx(made.text, "sm_90", passes=True)
    assert made.group == 32
    assert made.block == 7 * made.group
    # dynamic: a block has as many groups as there is shared memory for
    assert ".extern .shared" in text
    assert made.group_shared % 16 == 0
    assert 7 * made.group_shared <= 227 * 1024
    for word in ("bar.warp.sync", "barrier.sync", "barrier.red.or.pred", "shfl.sync.idx"):
        assert word in text
    assert text.count("ld.shared.v2") >= sum(SIZES) // 2
    assert text.count("ld.local") > 100


@pytest.mark.slow
def test_problems_of_single_precision_are_solved_in_double():
    text = march_of(sledge(9), gpu=True, single=True).text
    solver = text[text.index("@liaison_wide_newton") :]
    solver = solver[: solver.index("\n}")]
    assert "double" in solver
    assert "float" not in solver
    # of worlds in single precision: what they leave, and nothing else
    given = text[text.index("@liaison_kept_number(") :]
    assert "fpext float" in given[: given.index("\n}")]


FLAP = """
name = "sledge with a flap" ;
gravity = [0, 0, -9.81] m/s^2 ;
let sledge = body mass = 2 kg, inertia = [0.02, 0.03, 0.04] kg*m^2 end ;
let flap = body mass = 0.5 kg, center = [0, 0, -3] cm, inertia = [500, 500, 100] g*cm^2 end ;
let F = join earth and sledge with free end ;
let H = join sledge and flap with revolute axis = [0, 1, 0] end ;
{points}
let tip = contact [0, 0, -5.02] cm @ flap and earth with point end ;
start F = [0, 0, 5 cm] ;
start H = 0.12 ;
start H' = -2 ;
"""


def test_contacts_open_where_what_is_held_leaves_only_a_long_way():
    """A flap that is nearly upright comes down to the floor: turning it back is the long way out,
    and lifting the body, which stands, the short one. Without friction motions are unique."""
    places = [(10 * np.cos(k), 7 * np.sin(k)) for k in range(25)]
    point = POINT.replace(" friction = 0.4", "")
    points = [point.format(k=k, x=f"{x:.3f}", y=f"{y:.3f}") for k, (x, y) in enumerate(places)]
    body = read_lsd(FLAP.format(points="\n".join(points)))
    worlds = liaison.worlds(body, 1, step=H, device="processor")
    run = liaison.simulate(body, until=60 * H, step=H, method="moreau", every=H)
    lifted = 0.0
    for k in range(1, 61):
        worlds.step(1)
        assert np.max(np.abs(worlds.q[:, 0] - run.q[k])) <= ONE_STEP
        lifted = max(lifted, worlds.q[2, 0] - 0.05)
    assert lifted > 1e-5
    assert worlds.lost == 0
    assert worlds.penetrations.max() <= 1e-12


class Plain:
    """Numbers by name, for loops as plain Python."""

    def __init__(self, **numbers):
        vars(self).update(numbers)


@pytest.mark.parametrize("kind", ["definite", "dependent", "any", "no pivot"])
def test_inverse_of_a_matrix_in_place(kind):
    """J⁻¹ J = 1, also where rows depend on each other but for ρ, and where rows are exchanged."""
    m, rng = 13, np.random.default_rng(3)
    X = rng.normal(size=(m, 5 if kind == "dependent" else m))
    J = X @ X.T / 4 + 1e-5 * np.eye(m) if kind != "any" else X
    if kind == "no pivot":
        J = J[::-1].copy()
        J[-1, -1] = 0.0
    width = width_of(m)
    laid = np.zeros((m, width))
    laid[:, :m] = J
    shared = Plain(J=laid.ravel(), row=np.zeros(36), order=np.zeros(36))
    assert inverted(0, m, Plain(lanes=1), shared) == 0
    inverse = shared.J.reshape(m, width)[:, :m]
    assert np.max(np.abs(inverse @ J - np.eye(m))) <= 1e-15 * m * np.linalg.cond(J) + 1e-12


def test_a_singular_matrix_has_no_inverse():
    shared = Plain(J=np.zeros(9), row=np.zeros(36), order=np.zeros(36))
    assert inverted(0, 3, Plain(lanes=1), shared) == 1


def test_rates_that_no_force_can_change_are_left_out():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(9, 4))
    A, x = X @ X.T, rng.normal(size=9)
    part = compile_loops([reachable_part])[reachable_part]
    y, area = x.copy(), np.zeros(reachable_area(9))
    part(9, A.ravel(), y, area)
    # what is left out is across all rates that forces make, each measured by its mobility
    weights = 1.0 / np.diag(A)
    assert np.max(np.abs(X @ np.linalg.lstsq(X, y, rcond=None)[0] - y)) <= 1e-8
    assert np.max(np.abs(X.T @ (weights * (x - y)))) <= 1e-8


def test_rates_of_independent_rows_stay():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(4, 9))
    x = rng.normal(size=4)
    y = x.copy()
    part = compile_loops([reachable_part])[reachable_part]
    part(4, (X @ X.T).ravel(), y, np.zeros(reachable_area(4)))
    assert np.array_equal(x, y)
