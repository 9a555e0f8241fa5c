"""Scalars, vectors and matrices as the records keep them: immutable, finite, equal by value.

Public names: Symbolic, UPRIGHT, MAX_BITS, LARGEST, excess, scalar, pair, triple, matrix, tensor,
symmetric, check_name.
"""

from __future__ import annotations

import math
import operator
import random
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from liaison.errors import ModelError, Place
from liaison.expr import PI, Expr, as_expr, evaluate, symbol, topological
from liaison.spatial import Scalar
from liaison.units import si_exact

Operator: TypeAlias = Callable[[Any, Any], Expr]


def _operators(of: Callable[[Any, Any], Any]) -> tuple[Operator, Operator]:
    """The operation on a record's symbol, on its left and on its right."""
    return lambda self, other: of(self.symbol, other), lambda self, other: of(other, self.symbol)


class Symbolic:
    """A record that stands for its symbol in formulas: 2 * sin(m) + 1."""

    __slots__ = ()

    name: str
    unit: str

    @property
    def symbol(self) -> Expr:
        """The symbol of its name."""
        return symbol(self.name)

    __add__, __radd__ = _operators(operator.add)
    __sub__, __rsub__ = _operators(operator.sub)
    __mul__, __rmul__ = _operators(operator.mul)
    __truediv__, __rtruediv__ = _operators(operator.truediv)
    __pow__, __rpow__ = _operators(operator.pow)

    def __neg__(self) -> Expr:
        return -self.symbol

    def __pos__(self) -> Expr:
        return self.symbol


Triple = tuple[Any, Any, Any]
Matrix = tuple[Triple, Triple, Triple]
UPRIGHT: Matrix = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def scalar(x: Any, what: str, place: Place | None = None, unit: str | None = None) -> Scalar:
    """One number or formula, exact if it came exact.

    Args:
        x: int, Fraction, Decimal, float, a NumPy number or array without axes, a formula, or a
            text such as "250 g".
        what: whose it is, for the message: "the mass of body 'crank'".
        place: where the author said it.
        unit: the SI unit that a text converts to; None: no text is allowed.

    Raises:
        ModelError: it is no number, not finite or, of a quantity, too large; or the unit of a text
            is not the one meant.
    """
    if type(x) in _EXACT and _is_small(x):
        return x  # type: ignore[no-any-return]
    read: Any = _read(x, what, place, unit)
    if unit and not isinstance(read, Expr) and not abs(read) < LARGEST:
        raise ModelError(
            f"{what} is {float(read):g} {unit}, too large a quantity: products of such are beyond "
            f"what numbers can hold; {LARGEST:g} is the limit.",
            place=place,
        )
    return read  # type: ignore[no-any-return]


LARGEST = 1e100
"""Quantities are less than this in SI, so that moments of inertia and energies are finite."""


def _read(x: Any, what: str, place: Place | None, unit: str | None) -> Scalar:
    """One number or formula: see `scalar`."""
    kind = type(x)
    if kind is float and math.isfinite(x):
        return x  # type: ignore[no-any-return]
    if kind in _EXACT:
        return x if _is_short(x) else _sized(x, what, place)
    if kind is Expr:
        return _plain(x)
    if isinstance(x, Symbolic):
        return x.symbol
    if isinstance(x, str) and unit is not None:
        return _from_text(x, unit, what, place)
    if isinstance(x, np.generic) or (isinstance(x, np.ndarray) and not x.ndim):
        x = x.item()
    if isinstance(x, Decimal) and x.is_finite():
        x = Fraction(x)
    if isinstance(x, bool) or not isinstance(x, int | Fraction | float | Decimal | Expr):
        raise ModelError(f"{what} is {x!r}; it must be a number or a formula.", place=place)
    if isinstance(x, float | Decimal) and not math.isfinite(x):
        raise ModelError(f"{what} is {x}; it must be a finite number.", place=place)
    if isinstance(x, float | Expr):
        return float(x) if isinstance(x, float) else x
    return _sized(Fraction(x) if isinstance(x, Decimal) else x, what, place)


def _from_text(text: str, unit: str, what: str, place: Place | None) -> Scalar:
    """The exact value of a text with a unit, in SI."""
    value, power = si_exact(text, unit, what, error=ModelError, place=place)
    exact: Any = value.numerator if value.denominator == 1 else value
    for _ in range(abs(power)):
        exact = exact * PI if power > 0 else exact / PI
    return exact if isinstance(exact, Expr) else _sized(exact, what, place)


def _plain(x: Expr) -> Scalar:
    """The number of a formula that is one; π stays a formula."""
    is_number = x.op == "const" and type(x.value) in (int, Fraction, float)
    return x.value if is_number and math.isfinite(x.value) else x  # type: ignore[return-value]


_EXACT = frozenset({int, Fraction})
MAX_BITS = 12_000  # of an exact number: some 3600 digits


def _is_short(x: Any) -> bool:
    """Whether an exact number is surely one that a computer can hold and print."""
    return bool(x.numerator.bit_length() < 1000 and x.denominator.bit_length() < 1000)


def _is_small(x: Any) -> bool:
    """Whether an exact number is short, and surely below LARGEST."""
    size: int = x.numerator.bit_length() - x.denominator.bit_length()
    return _is_short(x) and size < 330


def _sized(x: int | Fraction, what: str, place: Place | None) -> int | Fraction:
    """An exact number, if it has not too many digits and is no larger than a float can be."""
    problem = excess(x)
    if problem:
        raise ModelError(f"{what} {problem}.", place=place)
    return x


def excess(x: Any) -> str:
    """What is too much about an exact number; "" where it will do."""
    if max(x.numerator.bit_length(), x.denominator.bit_length()) > MAX_BITS:
        return f"has more digits than a number may have; {MAX_BITS} bits are the limit"
    try:
        float(x)
    except OverflowError:
        return "is too large a number; it must stay below 1.8e308"
    return ""


def triple(x: Any, what: str, place: Place | None = None, unit: str | None = None) -> Triple:
    """Three scalars."""
    if (
        type(x) is tuple
        and len(x) == 3
        and _EXACT.issuperset(map(type, x))
        and all(map(_is_small, x))
    ):
        return x
    entries = _entries(x, what, place)
    if len(entries) != 3:
        raise ModelError(
            f"{what} has {len(entries)} components, {tuple(entries)}; it must have three.",
            place=place,
        )
    a, b, c = (scalar(entry, what, place, unit) for entry in entries)
    return a, b, c


def pair(x: Any, what: str, place: Place | None = None, unit: str | None = None) -> tuple[Any, Any]:
    """Two scalars."""
    entries = _entries(x, what, place)
    if len(entries) != 2:
        message = f"{what} has {len(entries)} components, {tuple(entries)}; it must have two."
        raise ModelError(message, place=place)
    a, b = (scalar(entry, what, place, unit) for entry in entries)
    return a, b


def matrix(x: Any, what: str, place: Place | None = None, unit: str | None = None) -> Matrix:
    """Three rows of three scalars."""
    if type(x) is tuple and x == UPRIGHT:
        return UPRIGHT
    rows = _entries(x, what, place)
    if len(rows) != 3:
        raise ModelError(f"{what} has {len(rows)} rows; it must have three.", place=place)
    a, b, c = (triple(row, what, place, unit) for row in rows)
    return a, b, c


def tensor(x: Any, whose: str, place: Place | None = None, unit: str | None = None) -> Matrix:
    """An inertia from principal moments, from six entries xx, yy, zz, xy, xz, yz, or a matrix."""
    what = f"the inertia {whose}"
    entries = _entries(x, what, place)
    if len(entries) == 6:
        xx, yy, zz, xy, xz, yz = (scalar(entry, what, place, unit) for entry in entries)
        return (xx, xy, xz), (xy, yy, yz), (xz, yz, zz)
    if len(entries) == 3 and all(
        hasattr(row, "__len__") and not isinstance(row, str) for row in entries
    ):
        return matrix(entries, what, place, unit)
    if len(entries) == 3:
        xx, yy, zz = triple(entries, what, place, unit)
        return (xx, 0, 0), (0, yy, 0), (0, 0, zz)
    raise ModelError(
        f"{what} has {len(entries)} entries; it must have three (principal moments), six "
        "(Ixx, Iyy, Izz, Ixy, Ixz, Iyz) or be a 3×3 matrix.",
        place=place,
    )


def symmetric(rows: Matrix) -> Matrix | None:
    """The matrix, formulas below its diagonal in the form they have above; None if they differ.

    Numbers are checked by the callers, who know how much rounding there may be.
    """
    if not any(type(x) is Expr for row in rows for x in row):
        return rows
    full = [list(row) for row in rows]
    for i, j in ((0, 1), (0, 2), (1, 2)):
        above, below = as_expr(rows[i][j]), as_expr(rows[j][i])
        if above is not below and differs(above, below):
            return None
        full[j][i] = rows[i][j]
    a, b, c = (triple(row, "a row") for row in full)
    return a, b, c


def differs(a: Expr, b: Expr) -> bool:
    """Whether two formulas are surely not the same: they differ where their symbols are drawn."""
    nodes = topological([a, b])
    if any(node.op == "call" for node in nodes):
        return True
    drawn = random.Random(1)
    at = {node: drawn.uniform(0.3, 1.7) for node in nodes if node.op == "symbol"}
    x, y = evaluate([a, b], at)
    return not math.isclose(x, y, rel_tol=1e-9, abs_tol=1e-12)


def _entries(x: Any, what: str, place: Place | None) -> list[Any]:
    try:
        if isinstance(x, str):
            raise TypeError
        return list(x)
    except TypeError:
        raise ModelError(f"{what} is {x!r}; it must be a list of three.", place=place) from None


def check_name(kind: str, name: Any, place: Place | None = None) -> None:
    """Rejects a name that is no text, is empty, or could not be distinguished from another's rate.

    Raises:
        ModelError: with the name found.
    """
    if not isinstance(name, str) or not name.strip():
        raise ModelError(
            f"a {kind} is named {name!r}; a name is a text that is not empty.", place=place
        )
    if "'" in name or name != name.strip():
        raise ModelError(
            f"{kind} {name!r}: a name has no quotes (they mark rates) and no spaces around it.",
            place=place,
        )
    if "`" in name or not name.isprintable():
        raise ModelError(
            f"{kind} {name!r}: a name has no backquotes, line ends or other signs that cannot be "
            "seen.",
            place=place,
        )
