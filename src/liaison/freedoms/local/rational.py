"""Loops of screws over the rational numbers: the equations that count, and what they leave of W.

A loop is as many equations as the group of motions of its joints has dimensions: rows of the six
that are coordinates of the group's Lie algebra. The others vanish wherever these do. Of relations
that are linear the independent ones count. Pivot equations cut out the smooth germ W; the others
are power series h of the free unknowns t on it, here with rational coefficients, so that signs of
them can be decided.

Where numbers are not rational, the rows that count and the pivots are known modulo a prime, and the
sign of a second-order form is decided in balls.

Public names: rational_system, counted_rows, RationalGerm, Leftover, restricted, ball_system,
sign_in_balls.

Source: docs/theory/mobility.md (the real numbers).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TYPE_CHECKING, Any, final

from liaison.errors import DerivationError
from liaison.exact.balls import balls, precision
from liaison.exact.linear import Balls, Ring, pivots
from liaison.exact.multivariate import RationalSeries, rational_near
from liaison.exact.residues import residues
from liaison.expr import FRACTION, as_expr, evaluate, substitute
from liaison.freedoms.clock import go_on
from liaison.freedoms.screws import LoopSystem, algebra

from .formulas import Curved, tau

if TYPE_CHECKING:
    from liaison.freedoms.home import Home

TRIALS = 40
"""Points at which the sign of a form is looked at."""

BITS = 512
"""Precision of the balls in which rational numbers are recognized."""


def rational_system(home: Home, primes: Sequence[int]) -> LoopSystem | None:
    """The loops and relations over Q; None where a number of theirs is not rational.

    A number that is no plain fraction (a root, a cosine) is recognized in a ball and checked modulo
    the primes. Directions may have any length: one that has a root in it is divided by an entry.
    """
    if any(isinstance(m.pitch, float) for m in home.columns):
        return None
    formulas = home.formulas()[: len(home.formulas()) - len(home.closure)]
    tied = {k for row in home.relations.rows for k, _, _ in row}
    tied |= {k for k, m in enumerate(home.columns) if m.pitch is not None}
    if home.relations.curved:
        tied |= set(range(len(home.columns)))
    for k in range(len(home.columns)):
        direction = formulas[7 * k : 7 * k + 3]
        if k not in tied and not all(map(_is_fraction, direction)):
            values = [abs(float(x)) for x in evaluate(direction)]
            divisor = direction[values.index(max(values))]
            formulas[7 * k : 7 * k + 3] = [x / divisor for x in direction]
    try:
        numbers = _rationals(formulas, primes)
    except (DerivationError, ValueError, ZeroDivisionError):
        return None
    return None if numbers is None else home.assembled(0, numbers)


def _is_fraction(x: Any) -> bool:
    try:
        evaluate(as_expr(x), domain=FRACTION)
    except DerivationError:
        return False
    return True


def _rationals(formulas: Sequence[Any], primes: Sequence[int]) -> list[Any] | None:
    from flint import fmpq

    with precision(BITS):
        guesses = [rational_near(x) for x in balls(formulas)]
    if any(x is None for x in guesses):
        return None
    numbers = [x for x in guesses if x is not None]
    for p in primes[:2]:
        expected = [int(x) for x in evaluate([as_expr(f) for f in formulas], domain=residues(p))]
        if any((x.numerator - c * x.denominator) % p
               for x, c in zip(numbers, expected, strict=True)):  # fmt: skip
            return None
    return [fmpq(x.numerator, x.denominator) for x in numbers]


def restricted(
    system: LoopSystem, columns: Sequence[int], loops: Iterable[int], rows: Iterable[int],
    curved: Iterable[int],
) -> LoopSystem:  # fmt: skip
    """Some loops and relations of a system on some of its unknowns; the others stay at home."""
    place = {column: k for k, column in enumerate(columns)}
    factors = [[replace(f, column=place[f.column]) for f in system.loops[i] if f.column in place]
               for i in loops]  # fmt: skip
    relations = [[(place[k], c, angle) for k, c, angle in system.relations[i] if k in place]
                 for i in rows]  # fmt: skip
    formulas = [system.curved.formulas[i] for i in curved] if system.curved else []  # type: ignore[attr-defined]
    renamed = {tau(k): tau(place[k]) if k in place else as_expr(0) for k in range(system.n)}
    moved = [substitute([f], renamed)[0] for f in formulas]
    constants = getattr(system.curved, "constants", {})
    curved_rows = Curved(moved, len(columns), constants) if moved else None
    return LoopSystem(
        system.p, len(columns), factors, relations, curved_rows,
        is_first_order=system.is_first_order,
    )  # fmt: skip


def _bracket(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    def cross(u: Sequence[Any], v: Sequence[Any]) -> list[Any]:
        return [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]]

    slide = [x + y for x, y in zip(cross(a[:3], b[3:]), cross(a[3:], b[:3]), strict=True)]
    return cross(a[:3], b[:3]) + slide


def _leading(rows: Sequence[Sequence[Any]]) -> list[int]:
    """Columns of a rational matrix that are no combination of those before them."""
    from flint import fmpq_mat

    if not rows or not rows[0]:
        return []
    reduced, size = fmpq_mat(len(rows), len(rows[0]), [x for row in rows for x in row]).rref()
    columns, column = [], 0
    for i in range(size):
        while reduced[i, column] == 0:
            column += 1
        columns.append(column)
    return columns


def _algebra(loop: Sequence[Any]) -> list[list[Any]]:
    """A basis of the Lie algebra of a loop's motions."""
    twists: dict[int, list[Any]] = {}
    for f in loop:
        scale = 1 if f.pitch is None else f.pitch
        old = twists.get(f.column, [0] * 6)
        twists[f.column] = [a + scale * b for a, b in zip(old, f.screw, strict=True)]
    basis: list[list[Any]] = []
    waiting = list(twists.values())
    while waiting and len(basis) < 6:
        twist = waiting.pop()
        if len(_leading([*basis, twist])) > len(basis):
            waiting += [_bracket(twist, other) for other in basis]
            basis.append(twist)
    return basis


def counted_rows(system: LoopSystem) -> list[int]:
    """Equations of a rational system from which all others follow near the position."""
    rows = []
    for i, loop in enumerate(system.loops):
        rows += [6 * i + k for k in _leading(_algebra(loop))]
    first = 6 * len(system.loops)
    linear = [[0] * system.n for _ in system.relations]
    for row, relation in zip(linear, system.relations, strict=True):
        for column, c, _ in relation:
            row[column] = row[column] + c
    columns = [list(column) for column in zip(*linear, strict=True)]
    rows += [first + k for k in _leading(columns)]
    first += len(system.relations)
    return rows + [first + k for k in range(len(system.curved or ()))]


@final
@dataclass(frozen=True, slots=True)
class Leftover:
    """The counted equations beyond the pivots, on W."""

    ring: RationalSeries
    series: tuple[Any, ...]


@final
class RationalGerm:
    """W over the rational numbers: pivots among the counted equations.

    Attributes:
        dimension: of W.
        excess: counted equations beyond the pivots.
    """

    def __init__(self, system: LoopSystem) -> None:
        from flint import fmpq_mat

        self.system, self.counted = system, counted_rows(system)
        home = RationalSeries(1, 0)
        J = system.jacobian(home, [home.zero] * system.n)
        table = [[_number(x) for x in J[i]] for i in self.counted]
        self.columns = _leading(table)
        chosen = _leading([list(column) for column in zip(*table, strict=True)])
        self.rows = [self.counted[k] for k in chosen]
        self.left = [i for i in self.counted if i not in set(self.rows)]
        self.free = [j for j in range(system.n) if j not in set(self.columns)]
        self.dimension, self.excess = len(self.free), len(self.left)
        size = len(self.rows)
        entries = [table[i][j] for i in chosen for j in self.columns]
        self._inverse: Any = fmpq_mat(size, size, entries).inv() if size else None

    def leftover(self, degree: int) -> Leftover:
        """h to a total degree."""
        ring = RationalSeries(self.dimension, degree)
        x = [ring.zero] * self.system.n
        for j, t in zip(self.free, ring.gens, strict=True):
            x[j] = t
        size = len(self.rows)
        for _ in range(degree):
            go_on()
            values = self.system.values(ring, x)
            residual = [values[i] for i in self.rows]
            for i, j in enumerate(self.columns):
                step = sum((residual[k] * self._inverse[i, k] for k in range(size)), ring.zero)
                x[j] = x[j] - step
        values = self.system.values(ring, x)
        return Leftover(ring, tuple(values[i] for i in self.left))


def _number(x: Any) -> Any:
    """The constant term of a polynomial in one unknown."""
    from flint import fmpq

    return x.to_dict().get((0,), fmpq(0))


# Irrational numbers -------------------------------------------------------------------------------


@final
class _Jets(Ring):
    """Polynomials in s of balls, known modulo s³."""

    def __init__(self) -> None:
        from flint import arb_poly

        self.p, self.zero, self.one = 0, arb_poly([0]), arb_poly([1])

    def mul(self, a: Any, b: Any) -> Any:
        """The product modulo s³."""
        from flint import arb_poly

        return arb_poly([sum((a[i] * b[k - i] for i in range(k + 1)), 0 * a[0]) for k in range(3)])

    def atan(self, a: Any) -> Any:
        """Of a series without constant term."""
        return a

    def inverse(self, a: Any) -> Any:
        """Relations of angles are not asked for."""
        raise DerivationError("no relations of angles in balls.")


def ball_system(home: Home) -> LoopSystem:
    """The loops with balls for numbers."""
    with precision(BITS):
        return home.assembled(0, balls(home.formulas()))


def sign_in_balls(system: LoopSystem, modular: LoopSystem) -> tuple[str, int]:
    """Of the second-order form of the one equation that counts beyond the pivots: "both" where it
    takes both signs, "definite", or "" where that is not decided, or there are more equations; and
    in how many unknowns.

    Args:
        system: loops with balls for numbers.
        modular: the same modulo a prime.
    """
    factors = [f for loop in system.loops for f in loop]
    if system.relations or system.curved or any(f.pitch is not None for f in factors):
        return "", 0
    p, counted = modular.p, []
    for i, loop in enumerate(modular.loops):
        basis = algebra(list({f.column: f.screw for f in loop}.values()), p)
        counted += [6 * i + k for k in pivots(basis, p)[1]]
    J = modular.jacobian_home()
    chosen, columns = pivots([J[i] for i in counted], p)
    left = [i for k, i in enumerate(counted) if k not in set(chosen)]
    if len(left) != 1:
        return "", 0
    with precision(BITS):
        try:
            form = _BallForm(system, [counted[k] for k in chosen], columns, left[0])
        except ZeroDivisionError:  # a pivot that is not seen to differ from zero
            return "", 0
        word = "both" if form.takes_both_signs() else "definite" if form.is_definite() else ""
    return word, len(form.free)


@final
class _BallForm:
    """The second-order form of one leftover equation on the kernel of the pivot rows, in balls."""

    def __init__(self, system: LoopSystem, rows: list[int], columns: list[int], left: int) -> None:
        from flint import arb_mat

        self.system, self.rows, self.columns, self.left = system, rows, columns, left
        self.free = [j for j in range(system.n) if j not in set(columns)]
        ring = Balls()
        J = system.jacobian(ring, [ring.zero] * system.n)
        r = len(rows)
        back = arb_mat(r, r, [J[i][j] for i in rows for j in columns]).inv()
        side = arb_mat(r, len(self.free), [J[i][j] for i in rows for j in self.free])
        self.slopes = back * side
        self.weights = arb_mat(1, r, [J[left][j] for j in columns]) * back

    def value(self, u: Sequence[int]) -> Any:
        """The form at whole values of the free unknowns."""
        from flint import arb, arb_poly

        x = [arb(0)] * self.system.n
        for j, value in zip(self.free, u, strict=True):
            x[j] = arb(value)
        for i, j in enumerate(self.columns):
            x[j] = -sum((self.slopes[i, k] * value for k, value in enumerate(u)), arb(0))
        f = self.system.values(_Jets(), [arb_poly([0, value]) for value in x])
        return f[self.left][2] - sum((self.weights[0, k] * f[i][2]
                                      for k, i in enumerate(self.rows)), arb(0))  # fmt: skip

    def takes_both_signs(self) -> bool:
        """Whether values of both signs are seen; balls prove each."""
        draw = Random(len(self.free))
        signs = set()
        for _ in range(TRIALS):
            go_on()
            value = self.value([draw.randrange(-5, 6) for _ in self.free])
            signs |= {1} if value > 0 else {-1} if value < 0 else set()
        return len(signs) == 2

    def is_definite(self) -> bool:
        """Whether all pivots of an elimination without exchanges have one sign."""
        d = len(self.free)
        one = [[int(i == k) for i in range(d)] for k in range(d)]
        at = [self.value(u) for u in one]
        M = [[at[i] if i == j else (self.value([a + b for a, b in zip(one[i], one[j], strict=True)])
                                    - at[i] - at[j]) / 2 for j in range(d)]
             for i in range(d)]  # fmt: skip
        signs = set()
        for k in range(d):
            pivot = M[k][k]
            signs.add(1 if pivot > 0 else -1 if pivot < 0 else 0)
            if 0 in signs:
                return False
            for i in range(k + 1, d):
                factor = M[i][k] / pivot
                M[i] = [a - factor * b for a, b in zip(M[i], M[k], strict=True)]
        return len(signs) == 1
