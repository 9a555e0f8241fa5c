"""Solutions that are proved to exist: Krawczyk's test in ball arithmetic.

Given a square system F with Jacobian J and a point near a solution, Newton's steps improve the
point, and the test looks for a box X around it with

    K(X) = m − Y F(m) + (1 − Y J(X)) (X − m)  inside the interior of X           (mobility-9)

where Y is near the inverse of J(m). Then X holds exactly one solution, and it is simple. Real
balls prove a real solution; complex ones a complex one.

Public names: Square, Certificate, certified.

Source: NEU90 §5.1 (Krawczyk's operator); docs/theory/mobility.md (mobility-9).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.exact.balls import BITS, precision
from liaison.freedoms.clock import go_on

STEPS = 60
"""Newton's steps at most; each about doubles the digits."""


class Square(ABC):
    """As many equations as unknowns, on balls of any precision."""

    @abstractmethod
    def values(self, x: Sequence[Any]) -> list[Any]:
        """F(x)."""

    @abstractmethod
    def jacobian(self, x: Sequence[Any]) -> list[list[Any]]:
        """∂F/∂x, by rows."""


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """A box that holds exactly one solution."""

    box: tuple[Any, ...]  # balls
    radius: float  # the largest of the box
    is_real: bool


def certified(system: Square, near: Sequence[Any], *, bits: int = BITS) -> Certificate | None:
    """The one solution near a point, in a box; None where that cannot be shown.

    Args:
        system: the equations.
        near: floats, complex numbers or balls; real ones ask for a real solution.
        bits: precision of the computation.
    """
    with precision(bits):
        is_real = all(_is_real(x) for x in near)
        m = _newton(system, [_midpoint(x, is_real) for x in near])
        return None if m is None else _tested(system, m, is_real)


def _is_real(x: Any) -> bool:
    from flint import acb

    return not isinstance(x, acb | complex)


def _midpoint(x: Any, is_real: bool) -> Any:
    """The point itself, as a ball without radius."""
    from flint import acb, arb

    if isinstance(x, arb | acb):
        return arb(x.mid()) if is_real else acb(x.real.mid(), x.imag.mid())
    return arb(x) if is_real else acb(x)


def _matrix(rows: Sequence[Sequence[Any]], is_real: bool) -> Any:
    from flint import acb_mat, arb_mat

    kind = arb_mat if is_real else acb_mat
    return kind(len(rows), len(rows[0]), [x for row in rows for x in row])


def _size(x: Any) -> float:
    return float(abs(x).upper())


def _newton(system: Square, m: list[Any]) -> list[Any] | None:
    """A point improved until its steps no longer shrink; None where they do not."""
    is_real = all(_is_real(x) for x in m)
    last = float("inf")
    for _ in range(STEPS):
        go_on()
        step = _step(system, m, is_real)
        if step is None:
            return None
        size = max(_size(x) for x in step)
        if not size < 1e6:
            return None
        m = [_midpoint(a - b, is_real) for a, b in zip(m, step, strict=True)]
        if size == 0 or (size < 1e-20 and size >= last / 2):
            return m
        last = size
    return m if last < 1e-12 else None


def _step(system: Square, m: Sequence[Any], is_real: bool) -> list[Any] | None:
    J = _matrix(system.jacobian(m), is_real)
    F = _matrix([[x] for x in system.values(m)], is_real)
    try:
        solved = J.solve(F)
    except ZeroDivisionError:
        return None
    return [solved[i, 0] for i in range(len(m))]


def _tested(system: Square, m: list[Any], is_real: bool) -> Certificate | None:
    """Krawczyk's test on boxes of growing size around a point."""
    try:
        Y = _matrix(system.jacobian(m), is_real).inv()
    except ZeroDivisionError:
        return None
    n = len(m)
    Y = _matrix([[_midpoint(Y[i, j], is_real) for j in range(n)] for i in range(n)], is_real)
    shift = Y * _matrix([[x] for x in system.values(m)], is_real)
    least = max(max(_size(shift[i, 0]) for i in range(n)), 2.0**-200)
    for factor in (4.0, 64.0, 2.0**20, 2.0**40):
        if least * factor > 1e-3:
            return None
        box = _box(m, least * factor, is_real)
        if _holds(system, m, box, Y, shift):
            return Certificate(tuple(box), least * factor, is_real)
    return None


def _box(m: Sequence[Any], radius: float, is_real: bool) -> list[Any]:
    from flint import acb, arb

    around = arb(0, radius)
    return [x + around if is_real else x + acb(around, around) for x in m]


def _holds(system: Square, m: list[Any], box: list[Any], Y: Any, shift: Any) -> bool:
    n, is_real = len(m), _is_real(m[0])
    slope = Y * _matrix(system.jacobian(box), is_real)
    rest = _matrix([[int(i == j) - slope[i, j] for j in range(n)] for i in range(n)], is_real)
    wide = _matrix([[x - c] for x, c in zip(box, m, strict=True)], is_real)
    spread = rest * wide - shift
    return all((box[i] - m[i]).contains_interior(spread[i, 0]) if is_real
               else _inside(spread[i, 0], box[i] - m[i]) for i in range(n))  # fmt: skip


def _inside(a: Any, b: Any) -> bool:
    """The complex ball a is in the interior of b, both as rectangles."""
    return bool(b.real.contains_interior(a.real) and b.imag.contains_interior(a.imag))
