"""Impacts along their path, against SciPy's integration in the impulse, closed forms and laws."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from liaison.program.loops.compile import compile_loops
from liaison.program.loops.records import Rows
from liaison.solvers.cones.cones import DISC, ONE_WAY, Cone, Limit
from liaison.solvers.impacts.routh import PATH_AREA, strike_one


@pytest.fixture(scope="module", params=["plain", "compiled"])
def run(request):
    if request.param == "plain":
        return strike_one
    return compile_loops([strike_one])[strike_one]


@pytest.fixture(scope="module")
def compiled():
    return compile_loops([strike_one])[strike_one]


def struck(run, A, u, mu, e):
    """Impulses of one contact whose rows are its gap and one or two slips."""
    A, u = np.asarray(A, float), np.asarray(u, float)
    blocks = Rows(Cone, np.array([ONE_WAY, 0, 1, -1, DISC, 1, len(u) - 1, 0]))
    limits = Rows(Limit, np.array([0, 0, 0, *np.broadcast_to(mu, 2), 0.0], dtype=float))
    f = np.full(len(u), np.nan)
    area = np.full(PATH_AREA + 1, 7.25)
    assert run(len(u), 2, A.ravel(), u, blocks, limits, np.array([e, 0.0]), f, area) == 1
    assert area[-1] == 7.25
    return f


def random_contact(rng, rows=3):
    """Mobility of a random body at a random point, and rates that close."""
    D = rng.normal(size=(rows, 6))
    u = rng.normal(size=rows)
    u[0] = -abs(u[0]) - 0.1
    return D @ np.diag(rng.uniform(0.2, 2, 6)) @ D.T, u


def friction_at_rest(A, mu):
    """d of (routh-1) where slip has ended, for the same coefficient both ways."""
    b, B = mu * A[1:, 0], mu * mu * A[1:, 1:]
    d = np.linalg.solve(B, b)
    if np.linalg.norm(d) <= 1:
        return d
    away = lambda s: np.linalg.solve(B + s * np.eye(len(b)), b)  # noqa: E731
    return away(brentq(lambda s: np.linalg.norm(away(s)) - 1, 0, np.linalg.norm(b), xtol=1e-15))


def by_scipy(A, u, mu, e):
    """Rates after the impact: slip integrated in the impulse until it is small, then from rest."""

    def slopes(p, y):
        d = y[1:-1] / np.linalg.norm(y[1:-1])
        return [*(A @ np.concatenate([[1], -mu * d])), y[0]]

    def stops(p, y):
        return np.linalg.norm(y[1:-1]) - 1e-7 * np.linalg.norm(u[1:])

    stops.terminal = True
    end = 40 * abs(u[0]) / np.linalg.eigvalsh(A)[0]
    options = {"rtol": 1e-11, "atol": 1e-13, "dense_output": True, "method": "DOP853"}
    slip = solve_ivp(slopes, (0, end), [*u, 0], events=stops, **options)
    d = friction_at_rest(A, mu)
    rest = A @ np.concatenate([[1], -mu * d])
    turn = slip.t[-1]
    last = slip.y[:, -1]

    def state(p):
        if p <= turn:
            return slip.sol(p)
        more = p - turn
        return np.concatenate(
            [last[:-1] + more * rest, [last[-1] + more * last[0] + more * more * rest[0] / 2]]
        )

    far = turn + 10 * abs(u[0]) / rest[0] + 1e-9
    while state(far)[0] < 0:
        far *= 2
    middle = brentq(lambda p: state(p)[0], 0, far, xtol=1e-15)
    work = (1 - e * e) * state(middle)[-1]
    top = middle + 1e-12
    while state(top)[-1] < work:
        top = middle + 2 * (top - middle)
    return state(brentq(lambda p: state(p)[-1] - work, middle, top, xtol=1e-15))[:-1]


def test_slip_that_turns_is_integrated(compiled):
    rng = np.random.default_rng(5)
    seen = 0
    for _ in range(40):
        A, u = random_contact(rng)
        mu, e = rng.uniform(0.1, 3.0), rng.uniform(0.1, 1.0)
        after = A @ struck(compiled, A, u, mu, e) + u
        # SciPy's slip ends at 1e-7 of its start, where it still has a direction
        assert_allclose(after, by_scipy(A, u, mu, e), atol=3e-6)
        seen += np.linalg.norm(after[1:]) < 1e-9
    assert 5 < seen < 35  # some stick in the end, some slip


def test_a_ball_slips_throughout_or_rolls(run):
    """A solid ball, rates (u_n, u_t): mobilities 1/m and 7/2 m do not depend on each other."""
    A = np.diag([1.0, 3.5, 3.5])
    for mu, e, slip in [(0.1, 0.8, 2.0), (0.4, 0.5, 1.0)]:
        u = np.array([-1.0, slip * 0.6, slip * 0.8])
        f = struck(run, A, u, mu, e)
        assert f[0] == pytest.approx(1 + e, rel=1e-12)
        whole = min(mu * (1 + e), slip / 3.5)
        assert_allclose(f[1:], [-0.6 * whole, -0.8 * whole], rtol=1e-11)


def planar(A, u, mu, e):
    """Routh's construction in a plane: straight parts of the path, one after the other."""
    u, f, work, ends = np.array(u), np.zeros(2), 0.0, None
    d = np.sign(u[1])
    for _ in range(4):
        grows = A @ [1, -mu * d]
        parts = []
        if u[1] * d > 0 and grows[1] * d < 0:
            parts.append((-u[1] / grows[1], "rest"))
        if ends is None and grows[0] > 0:
            parts.append((-u[0] / grows[0], "half"))
        if ends is not None:
            a, b, c = grows[0] / 2, u[0], work - ends
            roots = np.roots([a, b, c])
            parts += [(x.real, "over") for x in roots if abs(x.imag) < 1e-12 and x.real >= 0]
        p, what = min(parts)
        work += p * u[0] + p * p * grows[0] / 2
        u, f = u + p * grows, f + np.array([p, -mu * d * p])
        if what == "over":
            break
        if what == "half":
            ends = (1 - e * e) * work
        else:
            d = friction_at_rest(A, mu)[0]
            u[1] = 0.0
    return f


def test_all_cases_of_a_rod(run):
    """A uniform rod at an angle: it slips on, sticks or slips back, in compression or later."""
    rng = np.random.default_rng(2)
    for _ in range(60):
        angle = rng.uniform(0.2, 1.4)
        D = np.array([[0, 1, 0.5 * math.cos(angle)], [1, 0, -0.5 * math.sin(angle)]])
        A = D @ np.diag([1, 1, 12]) @ D.T
        mu, e = rng.uniform(0.05, 1.2), rng.uniform(0.1, 1)
        slip = rng.choice([-1, 1]) * rng.uniform(0.01, 1)
        f = struck(run, A, [-1.0, slip], mu, e)
        assert_allclose(f, planar(A, [-1.0, slip], mu, e), atol=1e-11)


def test_energy_never_grows_and_all_of_it_is_kept_without_friction(compiled):
    rng = np.random.default_rng(9)
    for _ in range(2000):
        A, u = random_contact(rng, int(rng.integers(2, 4)))
        mu, e = rng.uniform(0, 3, 2), rng.uniform(0, 1)
        f = struck(compiled, A, u, mu, e)
        after = A @ f + u
        change = f @ (u + after) / 2
        size = f[0] * (abs(u[0]) + abs(after[0])) + np.abs(f[1:]) @ (np.abs(u) + np.abs(after))[1:]
        assert change <= 1e-11 * size
        assert after[0] >= -1e-11 * abs(u[0])
        share = f[1:] / np.maximum(mu[: len(f) - 1], 1e-300)
        assert share @ share <= f[0] ** 2 * (1 + 1e-9)
        free = struck(compiled, A, u, 0.0, e)
        assert_allclose(free[0], -(1 + e) * u[0] / A[0, 0], rtol=1e-12)


def test_several_contacts_are_not_of_this_kind(run):
    blocks = Rows(Cone, np.array([ONE_WAY, 0, 1, -1, ONE_WAY, 1, 1, -1]))
    limits = Rows(Limit, np.zeros(6))
    f, area = np.zeros(2), np.zeros(PATH_AREA)
    assert run(2, 2, np.eye(2).ravel(), -np.ones(2), blocks, limits, np.ones(2), f, area) == 0
