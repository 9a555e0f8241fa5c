"""One Runge–Kutta step of a mechanism, written once for arrays of any framework.

A step from (q, v) over h works in local coordinates ξ about q, as runs do, and solves multipliers
within each stage (the closures at acceleration level):

    (ξ̇_i, v̇_i) = rate(t + c_i h, q, h Σ_j a_ij ξ̇_j, v + h Σ_j a_ij v̇_j)
    q₁ = q ⊞ h Σ b_i ξ̇_i,   v₁ = v + h Σ b_i v̇_i                                 (one-step-1)

Then a fixed number of corrections returns q₁ and v₁ to the closures, in the metric of M.

Public names: Coefficients, Parts, explicit_step, ended, corrected, stage, check_steps.

Source: HNW1 §II.1; HW2 §VII.2 (projection).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import ProgramError
from liaison.program.program import Program


@final
@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of a Runge–Kutta method: rows of a (of an implicit method as long as b), b and c."""

    a: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]
    c: tuple[float, ...]

    @property
    def is_implicit(self) -> bool:
        """Whether stages depend on each other."""
        return any(any(row[i:]) for i, row in enumerate(self.a))


@final
@dataclass(frozen=True, slots=True)
class Parts:
    """What a step asks of a mechanism, as functions of t, q, v and ξ.

    Attributes:
        rate: (t, q, ξ, v) -> ξ̇, v̇ at q ⊞ ξ.
        retract: (q, ξ) -> q ⊞ ξ.
        correct_q: (t, q, v) -> δ that takes q back to the closures; None where there are none.
        correct_v: (t, q, v) -> the same for v.
    """

    rate: Callable[..., tuple[Any, Any]]
    retract: Callable[[Any, Any], Any]
    correct_q: Callable[..., Any] | None = None
    correct_v: Callable[..., Any] | None = None


def explicit_step(
    parts: Parts, method: Coefficients, t: Any, q: Any, v: Any, h: Any
) -> tuple[Any, Any]:
    """The state after a step of an explicit method, before corrections."""
    slopes: list[tuple[Any, Any]] = []
    for i in range(len(method.b)):
        slopes.append(stage(parts, method, i, slopes, t, q, v, h))
    return ended(parts, method, slopes, q, v, h)


def stage(
    parts: Parts, method: Coefficients, i: int, slopes: Sequence[tuple[Any, Any]],
    t: Any, q: Any, v: Any, h: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """(ξ̇, v̇) at stage i, from the slopes of the stages that it depends on."""
    xi, speed = _moved(method.a[i], slopes, v, h)
    return parts.rate(t + method.c[i] * h, q, xi, speed)


def ended(
    parts: Parts, method: Coefficients, slopes: Sequence[tuple[Any, Any]], q: Any, v: Any, h: Any
) -> tuple[Any, Any]:
    """(q₁, v₁) of (one-step-1)."""
    xi, speed = _moved(method.b, slopes, v, h)
    return parts.retract(q, xi), speed


def corrected(parts: Parts, t: Any, q: Any, v: Any, count: int) -> tuple[Any, Any]:
    """The state after so many corrections of positions, then one of velocities (linear in v)."""
    if parts.correct_q is None or parts.correct_v is None or not count:
        return q, v
    for _ in range(count):
        q = parts.retract(q, parts.correct_q(t, q, v))
    return q, v + parts.correct_v(t, q, v)


def _moved(
    weights: Sequence[float], slopes: Sequence[tuple[Any, Any]], v: Any, h: Any
) -> tuple[Any, Any]:
    """h Σ w ξ̇ and v + h Σ w v̇."""
    xi: Any = 0 * v
    speed: Any = v
    for weight, (xidot, vdot) in zip(weights, slopes, strict=False):
        if weight:
            xi, speed = xi + h * weight * xidot, speed + h * weight * vdot
    return xi, speed


def check_steps(program: Program) -> None:
    """Rejects a mechanism whose steps are more than one smooth formula.

    Raises:
        ProgramError: it has contacts, stops or dry friction, whose events a run looks for.
    """
    sides = program.facts.get("sides", ())
    if sides:
        names = ", ".join(dict.fromkeys(side[0] for side in sides))
        raise ProgramError(
            f"a step of {program.name!r} is no formula: {names} has events (contact, stop or dry "
            "friction), which a run looks for.",
            hint="Replace it by a smooth law, or use liaison.simulate.",
        )
