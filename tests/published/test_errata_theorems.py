"""Slips of LL 1.3 to 2.3 in the general theorems and in Lagrange's and Kane's equations.

Each test is named in docs/errata.md: the corrected form holds, and the printed one does not.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.equations.formalisms.virtual_power import rotation, virtual_power
from liaison.expr import as_expr, directional, evaluate, symbol
from liaison.expr.reading.simplify import vanishes_exactly
from liaison.model.describe import (
    body,
    coordinate,
    gravity,
    ground,
    holonomic,
    join,
    mechanism,
)
from liaison.spatial import Frame, Torsor, inertia_violation, product_tensor

ROUNDING = 1e-12  # a few dozen operations on numbers near 1


@pytest.fixture
def random():
    return np.random.default_rng(20090218)


def test_ll_1_3_2_the_rate_of_the_moment_at_a_moving_point(random):
    """The dynamic torsor at A, by change of point, against what LL derives from (1.8)."""
    mass, (A, G, V_A, V_G, gamma, rate) = 2.5, random.normal(size=(6, 3))  # rate: d/dt H_G
    moment = Torsor(Frame("ground"), G, mass * gamma, rate).at(A).moment
    p = mass * V_G
    rest = rate + mass * np.cross(G - A, gamma) + mass * np.cross(V_A, V_G)
    carried = np.cross(V_G - V_A, p)
    assert_allclose(np.asarray(moment, dtype=float), rest + carried, atol=10 * ROUNDING)
    assert not np.allclose(np.asarray(moment, dtype=float), rest + mass * carried)


@pytest.mark.parametrize(
    ("tensor", "zero_of_I", "zeros_of_P"),
    [(np.diag([1.0, 1, 0]), 1, 2), (np.diag([1.0, 1, 2]), 0, 1), (np.zeros((3, 3)), 3, 3)],
    ids=["rod", "plate", "point"],
)
def test_ll_1_4_4_tensors_of_inertia_may_have_no_inverse(tensor, zero_of_I, zeros_of_P):
    """Rods, plates and points are bodies, and I or P of them is not definite."""
    P = np.asarray(product_tensor(tensor), dtype=float)
    assert 3 - np.linalg.matrix_rank(tensor) == zero_of_I
    assert 3 - np.linalg.matrix_rank(P) == zeros_of_P
    assert min(np.linalg.eigvalsh(tensor)[0], np.linalg.eigvalsh(P)[0]) >= -ROUNDING
    assert inertia_violation(1.0, tensor) == ""


@pytest.fixture
def elliptic(examples):
    """Euler's elliptic pendulum by Lagrange, with the ways of time: q → q̇, q̇ → q̈."""
    equations = liaison.derive(examples / "elliptic_pendulum.lsd", "lagrange", exact=True)
    s = equations.symbols
    ways = dict(zip((*s.q, *s.v), (*s.v, *s.vdot), strict=True))
    return equations, ways


def test_ll_2_1_a_rotation_gives_the_theorem_of_the_moment(elliptic):
    """Not "the second part of the theorem of the resultant": that one comes of a translation."""
    equations, ways = elliptic
    found = virtual_power(equations, ["cart", "thread"], rotation([1, 0, 0]))
    moment, along_y = equations.reports.momentum[0], equations.reports.momentum[4]
    assert vanishes_exactly(as_expr(found.inertia + directional([moment], ways)[0]))
    assert not vanishes_exactly(as_expr(found.inertia + directional([along_y], ways)[0]))


def test_ll_2_2_1_the_rate_of_the_part_due_to_time():
    """(2.3): the mixed derivatives are multiplied by q̇_j."""
    t, p, q, dp, dq = (symbol(x) for x in ("t", "p", "q", "p'", "q'"))
    r = liaison.sin(p * t) * q**2 + t**3 * p * q
    along = {t: 1, p: dp, q: dq}
    drawn = directional([r], {t: 1})[0]
    wanted = directional([drawn], along)[0]
    twice = directional([drawn], {t: 1})[0]
    by_p, by_q = (directional([drawn], {x: 1})[0] for x in (p, q))
    assert vanishes_exactly(as_expr(wanted - (twice + by_p * dp + by_q * dq)))
    assert not vanishes_exactly(as_expr(wanted - (twice + by_p + by_q)))
    rdot = directional([r], along)[0]
    assert vanishes_exactly(as_expr(wanted - directional([rdot], {t: 1})[0]))  # what (2.3) says


def pendulum_in_the_plane(length):
    plane = liaison.Composition((liaison.Translation("x"), liaison.Translation("y")))
    place = join(ground, body("bob", mass=2), plane, name="P", coordinates=("x", "y"))
    x, y = coordinate("x"), coordinate("y")
    wire = holonomic("thread", (x**2 + y**2 - length**2) / 2)
    return liaison.compile(mechanism(place, wire, gravity(0, -9.81, 0)))


def test_ll_2_2_3_the_multiplier_of_the_pendulum_is_tension_by_length():
    """x δx + y δy = l δl, so that δW = T δl = (T/l) (x δx + y δy)."""
    length, angle, turning, mass = 0.4, 0.7, 3.0, 2
    away, along = (
        np.array([np.sin(angle), -np.cos(angle)]),
        np.array([np.cos(angle), np.sin(angle)]),
    )
    state = {"q": length * away, "v": length * turning * along}
    lam = pendulum_in_the_plane(length).call("forward", **state)["lam"][0]
    tension = -mass * (length * turning**2 + 9.81 * np.cos(angle))  # negative in a taut thread
    assert_allclose(lam, tension / length, rtol=ROUNDING)
    assert not np.isclose(lam, tension)


def bead_on_a_turning_wire(spin):
    plane = liaison.Composition((liaison.Translation("x"), liaison.Translation("y")))
    place = join(ground, body("bead", mass=2), plane, name="P", coordinates=("x", "y"))
    phase = spin * liaison.time
    line = coordinate("x") * liaison.sin(phase) - coordinate("y") * liaison.cos(phase)
    return mechanism(place, holonomic("wire", line))


def test_ll_2_2_7_kept_constraints_that_move_do_work():
    """L has no time and no L₁, L₀, yet L₂ − L₀ = T is not constant: Ṫ = λ c₀, with C q̇ = c₀."""
    t, spin, far, out = 0.2, 3.0, 0.5, 0.8
    made = bead_on_a_turning_wire(spin)
    away = np.array([np.cos(spin * t), np.sin(spin * t)])
    across = np.array([-away[1], away[0]])
    q, v = far * away, out * away + spin * far * across
    kernel = liaison.compile(made)
    found, terms = (kernel.call(entry, q=q, v=v, t=t) for entry in ("forward", "terms"))
    assert_allclose(terms["G"] @ v, terms["nu"], atol=ROUNDING)
    changes = 2 * v @ found["vdot"]
    assert_allclose(changes, found["lam"] @ terms["nu"], rtol=10 * ROUNDING)
    assert_allclose(changes, 2 * 2 * out * spin**2 * far, rtol=10 * ROUNDING)  # 2 m ω² r ṙ
    assert not np.isclose(changes, 0)  # (2.19)
    assert liaison.first_integrals(made) == ()


def test_ll_2_2_7_the_footnote_takes_the_total_derivative():
    """dT/dt with q̈ beside ∂T/∂q̇; with these the identity that it is to prove holds."""
    t, q, v, a = (symbol(x) for x in ("t", "q", "q'", "q''"))
    two, one, none = liaison.cos(q) * v**2, t * q * v, liaison.sin(t) * q**2
    T = two + one + none
    by = {x: directional([T], {x: 1})[0] for x in (t, q, v)}
    total = directional([T], {t: 1, q: v, v: a})[0]
    assert vanishes_exactly(as_expr(total - (by[t] + by[v] * a + by[q] * v)))
    assert not vanishes_exactly(as_expr(by[t] - (by[t] + by[v] * v + by[q] * v)))
    lagrange = directional([by[v]], {t: 1, q: v, v: a})[0] - by[q]
    changed = directional([two - none], {t: 1, q: v, v: a})[0]
    assert vanishes_exactly(as_expr(lagrange * v - changed - by[t]))


def values_of(equations, random):
    s = equations.symbols
    names = {x: float(value) for x, value in zip(s.p, (3, 1, 0.8), strict=True)}
    return names | {x: float(random.normal()) for x in (*s.q, *s.v)}


def test_ll_2_2_10_the_partial_derivatives_of_the_elliptic_pendulum(elliptic, random):
    """∂L/∂θ and ∂L/∂θ̇ stand under each other's name, and θ̇ lacks in the first."""
    equations, _ = elliptic
    T, U = equations.reports.energy
    (_, theta), (dy, dtheta) = equations.symbols.q, equations.symbols.v
    at = values_of(equations, random)
    m2, a, g = 1, 0.8, 9.81
    by_angle, by_rate = (
        evaluate(as_expr(directional([T - U], {x: 1})[0]), at) for x in (theta, dtheta)
    )
    sine, cosine = np.sin(at[theta]), np.cos(at[theta])
    right = -m2 * (a * at[dy] * at[dtheta] * sine + g * a * sine)
    assert_allclose(float(by_rate), m2 * (a**2 * at[dtheta] + a * at[dy] * cosine), rtol=ROUNDING)
    assert_allclose(float(by_angle), right, rtol=ROUNDING)
    assert not np.isclose(float(by_angle), -m2 * (a * at[dy] * sine + g * a * sine))
    assert not np.isclose(float(by_angle), float(by_rate))


def test_ll_2_2_10_the_energy_of_the_elliptic_pendulum(elliptic, random):
    """E has the cross term a ẏ θ̇ cos θ, as T has."""
    equations, _ = elliptic
    T, U = equations.reports.energy
    (_, theta), (dy, dtheta) = equations.symbols.q, equations.symbols.v
    at = values_of(equations, random)
    m1, m2, a, g, cosine = 3, 1, 0.8, 9.81, np.cos(at[theta])
    E = float(evaluate(as_expr(T + U), at))
    rest = (m1 + m2) * at[dy] ** 2 / 2 + m2 * (a**2 * at[dtheta] ** 2 / 2 - g * a * cosine)
    assert_allclose(E, rest + m2 * a * at[dy] * at[dtheta] * cosine, rtol=10 * ROUNDING)
    assert not np.isclose(E, rest + m2 * a * at[dtheta] * cosine)


def test_ll_2_3_the_thread_turns_about_i(examples):
    """About k, which is vertical, V_M = ẏ j + θ̇ axis × CM would leave the plane of the figure."""
    kernel = liaison.compile(examples / "elliptic_pendulum.lsd")
    angle, a = 0.3, 0.8
    R = kernel.call("poses", q=[0.0, angle])["thread"][:9].reshape(3, 3)
    i, k = np.eye(3)[[0, 2]]
    assert_allclose(R @ i, i, atol=ROUNDING)
    assert not np.allclose(R @ k, k)
    CM = R @ [0.0, 0.0, -a]
    wanted = [0, a * np.cos(angle), a * np.sin(angle)]
    assert_allclose(np.cross(i, CM), wanted, atol=ROUNDING)
    assert not np.allclose(np.cross(k, CM), wanted)
