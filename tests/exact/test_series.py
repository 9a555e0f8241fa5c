"""Formulas on power series modulo a prime: laws of functions, and two domains that agree."""

import pytest

from liaison.errors import DerivationError
from liaison.exact.linear import Series
from liaison.exact.residues import Residues, residues
from liaison.exact.series import Lifted, PathDomain, RingDomain, Truncated, constants_of
from liaison.expr import (
    PI,
    as_expr,
    atan,
    atan2,
    cos,
    evaluate,
    exp,
    gradient,
    sin,
    sqrt,
    stumpff,
    symbol,
)

x, y = symbol("x"), symbol("y")
ORDER = 7
HOME = {x: PI / 3, y: as_expr(2)}


@pytest.fixture(scope="module")
def path():
    """x and y along a drawn path from π/3 and 2."""
    domain = PathDomain(Residues(), ORDER, HOME, {})
    arithmetic = Lifted(domain, 5)
    begin = evaluate(list(HOME.values()), {}, Residues())
    at = {s: domain.from_value(int(b)) + arithmetic.drawn(1) for s, b in zip(HOME, begin)}
    return domain, at


ZEROS = [
    sin(x) ** 2 + cos(x) ** 2 - 1,
    sin(2 * x) - 2 * sin(x) * cos(x),
    sqrt(y * y + 5) ** 2 - y * y - 5,
    stumpff(2, (y - 2) ** 2) * (y - 2) ** 2 - 1 + stumpff(0, (y - 2) ** 2),
    y**-2 * y**3 - y,
]


@pytest.mark.parametrize("zero", ZEROS, ids=str)
def test_laws_hold_along_a_path(path, zero):
    domain, at = path
    assert all(c == 0 for c in evaluate(as_expr(zero), at, domain).coefficients())


def rate(series):
    return Truncated(series.ring, series.poly.derivative())


SMOOTH = [sin(x) * y, sqrt(y) / (1 + x), atan(x * y), atan2(y, x), exp(x * y), y**3 - cos(x)]


@pytest.mark.parametrize("f", SMOOTH, ids=str)
def test_the_chain_rule_holds_along_a_path(path, f):
    """d/ds f(x(s), y(s)) = f_x x' + f_y y', to the order that is known."""
    domain, at = path
    slopes = evaluate(gradient(f, [x, y]), at, domain)
    right = slopes[0] * rate(at[x]) + slopes[1] * rate(at[y])
    left = rate(evaluate(f, at, domain))
    assert left.coefficients()[: ORDER - 1] == right.coefficients()[: ORDER - 1]


def test_both_domains_agree_on_polynomials(path):
    domain, at = path
    ring = Series(domain.ring.p, ORDER)
    f = (x + y * 3) ** 4 / (1 + y * y) - sqrt(2) * x
    roots = constants_of([f])
    values = dict(zip(roots, evaluate(roots, domain=residues(ring.p)), strict=True))
    plain = evaluate(f, {s: series.poly for s, series in at.items()}, RingDomain(ring, values))
    assert plain == evaluate(f, at, domain).poly


def test_what_has_no_series_is_refused(path):
    domain, at = path
    with pytest.raises(DerivationError, match="has no series here"):
        evaluate(as_expr(abs(x)), at, domain)
    with pytest.raises(DerivationError, match="not zero where the path begins"):
        evaluate(as_expr(stumpff(1, y)), at, domain)
    with pytest.raises(DerivationError, match="division by zero where the path begins"):
        evaluate(1 / (x - PI / 3), at, domain)
