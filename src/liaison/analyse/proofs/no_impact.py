"""Proof that unilateral relations of rates are entered without impact: theorem 1, before any run.

Where the bilateral rows together with the active rows of W v + w ≤ 0 are independent, the
complementarity of accelerations d/dt (W v + w) ≤ 0 ⟂ μ ≤ 0 has one solution with bounded μ, and
velocities do not jump. That is proved for all positions, or refuted by a position, or neither is
done and the nearest one seen is reported.

Search for positions at which rows of rates become dependent while they are active.

Such a position is looked for from many sides by least squares on c · B(q) = 0, |c| = 1, and given
exactly where its coordinates are simple numbers that solve it exactly.

Public names: NoImpact, Entry, no_impact, losses, least_size.

Source: SK 2.2 (theorem 1), with the rank of A and the *active* rows of W;
docs/theory/unilateral.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import DerivationError
from liaison.exact.intervals import Interval
from liaison.expr import ARRAY, PI, Expr, as_expr, evaluate, substitute, symbol
from liaison.expr.reading.integrate import potential
from liaison.expr.reading.simplify import simplified, vanishes_exactly
from liaison.expr.reading.text import to_unicode
from liaison.model import Mechanism

from .rank_effect import DEPENDENT, Loss, losses_at
from .rank_proof import MOST_BOXES, MOST_ROWS, gram_determinant, independent_everywhere
from .rate_rows import RateRows, rate_rows

Floats = NDArray[np.float64]

SAMPLES, BEGINNINGS = 256, 12
"""Random positions, and how many of them (with the least singular values) a search begins at."""

ASIDE = 0.1
"""How far from such a position rows are looked at again [m, rad]."""

FINEST = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-15}
"""Least squares goes on until rounding stops it."""


def sampled(rates: RateRows, seed: int = 0) -> dict[Expr, Floats]:
    """Positions at random, the start and the origin among them, nearly on the closures."""
    draw = np.random.default_rng(seed)
    points: dict[Expr, Floats] = {}
    for x, part in rates.domain.items():
        scale = 10.0 ** draw.uniform(-1, 1, SAMPLES)
        wide = draw.standard_normal(SAMPLES) * scale
        even = draw.uniform(-1, 1, SAMPLES) * min(part.high, 1e3)
        points[x] = even if math.isfinite(part.high) else wide
        points[x][:2] = rates.start[x], 0.0
    return points


def sizes_at(rates: RateRows, points: Mapping[Expr, Floats]) -> Floats:
    """The least singular value of the rows at each point."""
    matrices = np.broadcast_to(rates.at(points), (SAMPLES, len(rates.rows), len(rates.v) + 1))
    usable = np.where(np.isfinite(matrices), matrices, 1e30)
    return np.asarray(np.linalg.svd(usable, compute_uv=False)[:, -1])


def least_size(rates: RateRows) -> float:
    """The least singular value seen at positions that satisfy the closures."""
    points = sampled(rates)
    sizes = sizes_at(rates, points)
    if not rates.conditions:
        return float(np.min(sizes))
    nearest = np.argsort(sizes)[:BEGINNINGS].tolist()
    return min(_size(rates, _on_closures(rates, points, k)) for k in nearest)


def _on_closures(rates: RateRows, points: Mapping[Expr, Floats], k: int) -> dict[Expr, float]:
    """A sampled position moved onto the closures."""
    names = list(points)
    place = np.array([points[x][k] for x in names])
    if rates.conditions:
        place = _solved(lambda z: _closed(rates, names, z), place)
    return dict(zip(names, place.tolist(), strict=True))


def _solved(misses: Callable[[Floats], Floats], begin: Floats) -> Floats:
    """Least squares; its library is slow to load."""
    from scipy.optimize import least_squares

    return np.asarray(least_squares(misses, begin, **FINEST).x)


def _closed(rates: RateRows, names: Sequence[Expr], z: Floats) -> Floats:
    values = {x: np.array(value) for x, value in zip(names, z, strict=True)}
    return np.asarray(evaluate(np.array(rates.conditions, dtype=object), values, ARRAY), float)


def losses(rates: RateRows) -> list[Loss]:
    """Losses of rank at a position where the rows are dependent; none if none is found.

    One where velocities may have to jump, if there is one among those found.
    """
    if len(rates.rows) <= MOST_ROWS and _vanish_together(rates.rows):
        place = _on_closures(rates, sampled(rates), 2)
        return losses_at(rates, place, is_exact=True, everywhere=True)
    first: list[Loss] = []
    for there, is_exact in _places(rates):
        lost = losses_at(rates, there, is_exact=is_exact)
        if any(loss.effect != "free" for loss in lost):
            return lost
        first = first or lost
    return first


def _places(rates: RateRows) -> Iterator[tuple[Mapping[Expr, Any], bool]]:
    """Positions where the rows are dependent, and whether by proof: those with proof first."""
    points = sampled(rates)
    order = np.argsort(sizes_at(rates, points))[:BEGINNINGS]
    rounded: list[tuple[float, dict[Expr, float]]] = []
    for k in [0, 1, *order.tolist()]:
        place = _searched(rates, {x: float(values[k]) for x, values in points.items()})
        exact = _exact_place(rates, place)
        if exact is not None:
            yield exact, True
        else:
            rounded.append((_size(rates, place), place))
    for size, place in sorted(rounded, key=lambda pair: pair[0]):
        if size <= DEPENDENT and _is_isolated(rates, place, size):
            yield place, False


def _vanish_together(rows: Sequence[Sequence[Expr]], more: Sequence[Expr] = ()) -> bool:
    """Whether rows are dependent, and more formulas zero, by proof."""
    try:
        return all(map(vanishes_exactly, more)) and vanishes_exactly(gram_determinant(rows))
    except (DerivationError, ZeroDivisionError):
        return False


def _is_isolated(rates: RateRows, place: Mapping[Expr, float], size: float) -> bool:
    """Whether rows get independent beside the place: not where they only fade far away."""
    beside = [
        float(np.linalg.svd(rates.at(_moved(place, x, step)), compute_uv=False)[-1])
        for x in place
        for step in (-ASIDE, ASIDE)
    ]
    return size <= 1e-5 * max(beside, default=math.inf)


def _moved(place: Mapping[Expr, float], x: Expr, step: float) -> dict[Expr, Floats]:
    return {y: np.array(value + (step if y is x else 0.0)) for y, value in place.items()}


def _searched(rates: RateRows, begin: Mapping[Expr, float]) -> dict[Expr, float]:
    """Nearby, where the rows are as dependent as can be and the closures hold."""
    names = list(begin)
    n, m = len(names), len(rates.rows)

    def misses(z: Floats) -> Floats:
        values = {x: np.array(value) for x, value in zip(names, z[:n], strict=True)}
        left, c = rates.at(values), z[n:]
        parts = [c @ left, np.array([c @ c - 1])]
        if rates.conditions:
            parts.append(_closed(rates, names, z[:n]))
        return np.asarray(np.nan_to_num(np.concatenate(parts), nan=1e6, posinf=1e6, neginf=-1e6))

    start = rates.at({x: np.array(value) for x, value in begin.items()})
    c = np.linalg.svd(np.nan_to_num(start))[0][:, -1] if m else np.zeros(0)
    where = _solved(misses, np.concatenate([list(begin.values()), c]))
    return {x: _within(z, rates.domain[x]) for x, z in zip(names, where.tolist())}


def _within(value: float, part: Interval) -> float:
    """The same turn within one period."""
    return value if math.isinf(part.width) else math.remainder(value, 2 * part.high)


def _size(rates: RateRows, place: Mapping[Expr, Any]) -> float:
    """The least singular value at a place; infinite where a closure does not hold."""
    values = {x: np.array(float(evaluate(as_expr(value), {}))) for x, value in place.items()}
    if rates.conditions:
        gap = _closed(rates, list(values), np.array([float(x) for x in values.values()]))
        if not np.max(np.abs(gap)) <= DEPENDENT:
            return math.inf
    matrix = rates.at(values)
    if not np.all(np.isfinite(matrix)):
        return math.inf
    return float(np.linalg.svd(matrix, compute_uv=False)[-1])


def _exact_place(rates: RateRows, place: Mapping[Expr, float]) -> dict[Expr, Expr] | None:
    """Simple numbers near the place at which the rows are dependent by proof; None without."""
    if len(rates.rows) > MOST_ROWS:
        return None
    near = {x: _simple(value, rates.domain[x]) for x, value in place.items()}
    rows = [substitute(list(row), near) for row in rates.rows]
    proved = _vanish_together(rows, substitute(list(rates.conditions), near))
    return near if proved and _size(rates, near) <= DEPENDENT else None


def _simple(value: float, part: Interval) -> Expr:
    """The nearest twelfth of π for what turns, else the nearest fraction by small numbers."""
    if math.isfinite(part.high):
        return as_expr(Fraction(round(12 * value / math.pi), 12) * PI)
    return as_expr(Fraction(value).limit_denominator(12))


MOST_SETS = 31
"""Sets of relations looked at one by one; of more relations than five, singles and pairs only."""


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """The result for one set of relations that may become active together.

    Attributes:
        relations: their names.
        verdict: "proved", "fails" or "not proved".
        text: the same in words, with the reason.
        losses: positions where the rows become dependent, if it fails.
        least: least singular value of the rows at sampled positions, if it is not proved.
    """

    relations: tuple[str, ...]
    verdict: str
    text: str
    losses: tuple[Loss, ...] = ()
    least: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "relations": list(self.relations),
            "verdict": self.verdict,
            "text": self.text,
            "losses": [_plain(loss) for loss in self.losses],
            "least_singular_value": self.least,
        }


@final
@dataclass(frozen=True, slots=True)
class NoImpact:
    """The answer of theorem 1 for a mechanism.

    Attributes:
        entries: the sets of relations looked at; one only where all together are proved.
        left_out: unilateral relations of positions and contacts, where arriving is an impact.
        velocities: labels, in the order of the forms and held rows of losses.
    """

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...]
    velocities: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """ "proved", "fails", "not proved", or "nothing to prove" without relations of rates."""
        verdicts = {entry.verdict for entry in self.entries}
        ranked = ("fails", "not proved", "proved")
        return next((x for x in ranked if x in verdicts), "nothing to prove")

    @property
    def is_proved(self) -> bool:
        """Every relation of rates is entered without impact."""
        return self.verdict == "proved"

    @property
    def is_impact_possible(self) -> bool:
        """A position was found at which velocities may have to jump."""
        return any(loss.effect != "free" for entry in self.entries for loss in entry.losses)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was not proved, in words."""
        return tuple(entry.text for entry in self.entries if entry.verdict != "proved")

    @property
    def text(self) -> str:
        """All of it as text."""
        return "\n".join(entry.text for entry in self.entries)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "verdict": self.verdict,
            "is_impact_possible": self.is_impact_possible,
            "entries": [entry.to_dict() for entry in self.entries],
            "left_out": list(self.left_out),
            "velocities": list(self.velocities),
        }


def no_impact(mechanism: Mechanism, *, boxes: int = MOST_BOXES) -> NoImpact:
    """Whether theorem 1 holds for the unilateral relations of rates of a mechanism.

    Args:
        mechanism: with relations `W v + w <= 0`; others on one side are named and left out.
        boxes: of positions that a proof may look at, for each set of relations.
    """
    rates = rate_rows(mechanism)
    speeds = tuple(x.name for x in rates.v)
    if not rates.one_sided:
        return NoImpact((), rates.left_out, speeds)
    together = _entry(rates, boxes)
    if together.verdict == "proved" or len(rates.one_sided) == 1:
        return NoImpact((together,), rates.left_out, speeds)
    entries = [_entry(rates.with_active(names), boxes) for names in _sets(rates.one_sided)]
    return NoImpact((*_least(entries), *_rest(together, entries)), rates.left_out, speeds)


def _sets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Sets of relations that may be active together, smaller ones first, without all of them."""
    most = len(names) - 1 if 2 ** len(names) - 1 <= MOST_SETS else 2
    return [part for size in range(1, most + 1) for part in combinations(names, size)]


def _least(entries: list[Entry]) -> list[Entry]:
    """Without sets that fail or are open only because a smaller one does."""
    bad: list[set[str]] = []
    minimal = []
    for entry in entries:
        if any(small < set(entry.relations) for small in bad):
            continue
        if entry.verdict != "proved":
            bad.append(set(entry.relations))
        minimal.append(entry)
    return minimal


def _rest(together: Entry, entries: list[Entry]) -> list[Entry]:
    """All relations together, where no smaller set explains why they are not proved."""
    return [together] if all(entry.verdict == "proved" for entry in entries) else []


def _entry(rates: RateRows, boxes: int) -> Entry:
    """Proved, refuted, or neither."""
    names = rates.one_sided
    listed = ", ".join(names)
    reason = independent_everywhere(rates, boxes)
    if reason is not None:
        return Entry(names, "proved", f"{listed}: entry is free of impact, proved: {reason}.")
    lost = losses(rates)
    if lost:
        return Entry(names, "fails", " ".join(_words(rates, x) for x in lost), tuple(lost))
    least = least_size(rates)
    text = (
        f"{listed}: whether entry is free of impact is not proved; the least singular value of the "
        f"rows at sampled positions is {least:.3g}. More boxes than {boxes} may prove it "
        "(no_impact(…, boxes=…))."
    )
    return Entry(names, "not proved", text, least=least)


def _words(rates: RateRows, loss: Loss) -> str:
    """A loss as text."""
    names = ", ".join(loss.rows)
    verb = "vanishes" if len(loss.rows) == 1 else "are dependent"
    what = f"the row {names}" if len(loss.rows) == 1 else f"the rows {names}"
    return f"{names}: {_where(loss)} {what} {verb}: {_effect(rates, loss)}"


def _where(loss: Loss) -> str:
    coordinates = ", ".join(f"{name} = {_number(value)}" for name, value in loss.position.items())
    if not coordinates:
        return "everywhere"
    return f"at {coordinates}" if loss.is_exact else f"at {coordinates} (up to rounding)"


def _number(value: Any) -> str:
    return to_unicode(simplified(value)) if isinstance(value, Expr) else f"{value:.9g}"


def _effect(rates: RateRows, loss: Loss) -> str:
    """What becomes of velocities there."""
    if loss.effect == "free":
        return "theorem 1 does not apply there, but no velocity has to jump."
    possible = "an impact is possible there, and its reaction is not of the form Wᵀμ; "
    if loss.effect == "undecided":
        return (
            possible + "the relation determines no velocity after it: several remain, or it moves."
        )
    after = ", ".join(_held(rates, row) for row in loss.after)
    text = "the velocity after it follows from the relation itself"
    return f"{possible}{text}{_own(rates, loss)}: {after}."


def _own(rates: RateRows, loss: Loss) -> str:
    """ " (d/dt (½ X²) ≤ 0)" where one row that vanishes is the rate of something."""
    k = (*rates.bilateral, *rates.one_sided).index(loss.rows[0])
    slopes = {}
    for v, entry in zip(rates.v, rates.rows[k], strict=False):
        slopes[symbol(str(v.name).removesuffix("'"))] = entry
    if len(loss.rows) > 1 or any(not str(v.name).endswith("'") for v in rates.v):
        return ""
    F = potential(slopes)
    return "" if F is None else f" (d/dt ({to_unicode(simplified(as_expr(F)))}) ≤ 0)"


def _held(rates: RateRows, row: Any) -> str:
    """ "X' = 0"."""
    terms = [
        v.name if x == 1 else f"{x:.6g} {v.name}" for v, x in zip(rates.v, row, strict=True) if x
    ]
    return " + ".join(terms).replace("+ -", "− ") + " = 0"


def _plain(loss: Loss) -> dict[str, Any]:
    position = {x: float(evaluate(as_expr(value), {})) for x, value in loss.position.items()}
    return {
        "rows": list(loss.rows),
        "position": position,
        "is_exact": loss.is_exact,
        "singular_value": loss.size,
        "effect": loss.effect,
        "form": loss.form.tolist(),
        "held": loss.held.tolist(),
        "after": loss.after.tolist(),
    }
