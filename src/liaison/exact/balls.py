"""Balls: numbers with a rigorous bound of their error, as a domain of formulas.

A ball is FLINT's arb (real) or acb (complex): a midpoint and a radius that holds everything the
exact computation could give. The precision is the caller's, by `precision`.

Public names: BALL, precision, ball_of, balls, rational_of, floats_of, kernel_line.

Source: JOH17.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, final

import numpy as np

from liaison.errors import DerivationError
from liaison.expr import FRACTION, Expr, as_expr, evaluate
from liaison.expr.graph.evaluate import Domain

BITS = 256
"""Default precision of certified computations."""

ROUNDED = 96
"""Binary digits behind the point that are kept of a number that is not rational."""


@contextmanager
def precision(bits: int = BITS) -> Iterator[None]:
    """Computes with so many bits inside."""
    from flint import ctx

    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def ball_of(x: Any) -> Any:
    """A ball that holds a number, exact or float."""
    from flint import arb, fmpq

    if isinstance(x, int | float):
        return arb(x)
    exact = Fraction(x)
    return arb(fmpq(exact.numerator, exact.denominator))


def arb_of(c: Any) -> Any:
    """A whole number or a rational of FLINT's as a ball."""
    from flint import arb

    return arb(c)


def _power(x: Any, n: Any) -> Any:
    whole = n.unique_fmpz()
    return x ** int(whole) if whole is not None else x**n


@final
class _BallDomain(Domain):
    """The domain of balls for formulas of constants; smooth operations only."""

    def constant(self, value: Any) -> Any:
        """As tight as the precision allows."""
        from flint import arb

        return ball_of(value) if isinstance(value, int | float | Fraction) else arb.pi()

    def from_value(self, value: Any) -> Any:
        """A ball, or a number."""
        return ball_of(value) if isinstance(value, int | float | Fraction) else value

    def operation(self, node: Expr) -> Callable[..., Any]:
        """From the table below."""
        if node.op not in _OPERATIONS:
            raise DerivationError(f"{node.op} has no value on balls.")
        return _OPERATIONS[node.op]


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "pow": _power,
    "sqrt": lambda x: x.sqrt(),
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "tan": lambda x: x.tan(),
    "asin": lambda x: x.asin(),
    "acos": lambda x: x.acos(),
    "atan": lambda x: x.atan(),
    "atan2": lambda y, x: type(y).atan2(y, x),
    "exp": lambda x: x.exp(),
    "log": lambda x: x.log(),
}

BALL: Domain = _BallDomain()


def balls(formulas: Sequence[Any]) -> list[Any]:
    """Constants as balls; those that are balls stay as they are.

    Raises:
        DerivationError: one is not finite, or no function of balls.
    """
    from flint import arb

    constants = [x for x in formulas if not isinstance(x, arb)]
    values = iter(evaluate([as_expr(x) for x in constants], domain=BALL))
    converted = [x if isinstance(x, arb) else next(values) for x in formulas]
    for x in converted:
        if not x.is_finite():
            raise DerivationError("a number of the description is not finite.")
    return converted


def rational_of(formulas: Sequence[Any], digits: int = ROUNDED) -> tuple[list[Fraction], bool]:
    """Constants as rationals, and whether they are exactly these; else rounded.

    Balls are rounded, and count as inexact unless they are single numbers.
    """
    from flint import arb

    rationals, exact = [], True
    for formula in formulas:
        if isinstance(formula, arb):
            exact = exact and formula.is_exact()
            rationals.append(rounded(formula, digits))
            continue
        try:
            rationals.append(Fraction(evaluate(as_expr(formula), domain=FRACTION)))
        except DerivationError:
            exact = False
            rationals.append(rounded(balls([formula])[0], digits))
    return rationals, exact


def rounded(x: Any, digits: int = ROUNDED) -> Fraction:
    """The rational of so many binary digits behind the point next to a real ball's midpoint."""
    mantissa, exponent = x.mid().man_exp()
    value = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    return Fraction(round(value * 2**digits), 2**digits)


def floats_of(values: Sequence[Any]) -> list[float]:
    """Midpoints of real balls as floats."""
    return [float(x.mid()) for x in values]


def kernel_line(rows: Sequence[Sequence[Any]]) -> list[Any] | None:
    """A vector that spans the kernel of a square matrix of balls, one entry of it 1.

    It is proved that the kernel has dimension one at most; None where that cannot be shown. If the
    matrix is singular, the vector is in its kernel.
    """
    from flint import acb_mat, arb, arb_mat

    kind = arb_mat if isinstance(rows[0][0], arb) else acb_mat
    floats = np.array([[complex(v) for v in row] for row in rows])
    scale = np.max(np.abs(floats), axis=1)
    if not np.all(np.isfinite(floats)) or not np.all(scale):
        return None
    U, _, V = np.linalg.svd(floats / scale[:, None])
    row, column = int(np.argmax(np.abs(U[:, -1]))), int(np.argmax(np.abs(V[-1])))
    other_rows = [k for k in range(len(rows)) if k != row]
    columns = [k for k in range(len(rows)) if k != column]
    A = kind([[rows[i][j] for j in columns] for i in other_rows])
    try:
        solved = A.solve(kind([[-rows[i][column]] for i in other_rows]))
    except ZeroDivisionError:
        return None
    vector = [solved[k, 0] for k in range(len(columns))]
    return [*vector[:column], rows[0][0] * 0 + 1, *vector[column:]]
