"""Proof before any run that unilateral relations of rates are entered without impact.

Where the bilateral rows together with the active rows of W v + w ≤ 0 are independent, the
complementarity of accelerations d/dt (W v + w) ≤ 0 ⟂ μ ≤ 0 has one solution with bounded μ, and
velocities do not jump. That is proved for all positions, or refuted by a position, or neither is
done and the nearest one seen is reported.

Search for positions at which rows of rates become dependent while they are active.

Such a position is looked for from many sides by least squares on c · B(q) = 0, |c| = 1, and given
exactly where its coordinates are simple numbers that solve it exactly.

What follows where active rows of rates are dependent: a jump, nothing, or nothing decided.

No acceleration changes Σ c_k d/dt(row k) = v · Q v where Σ c_k row k = 0. If c pushes all
unilateral rows to one side, the form must not be positive, and the relation itself says what the
velocity is (see `numeric.degenerate`).

Public names: NoImpact, Entry, no_impact, losses, least_size, Loss, losses_at, reduced.

Source: SK 2.2 (theorem 1), with the rank of A and the *active* rows of W;
docs/theory/unilateral.md (degenerate-1).
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
from liaison.expr import ARRAY, PI, ZERO, Expr, as_expr, evaluate, substitute, symbol
from liaison.expr.reading.integrate import potential
from liaison.expr.reading.simplify import simplified, vanishes_exactly
from liaison.expr.reading.text import to_unicode
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.numeric.degenerate import degenerate_rule, quadratic_form

from .rank_proof import MOST_BOXES, MOST_ROWS, gram_determinant, independent_everywhere
from .rate_rows import RateRows, rate_rows

DEPENDENT = 1e-9
"""Least singular value at which rows count as dependent."""

NEAR = 1e-3
"""How far forms are looked at where they vanish with the row [m, rad]."""


@final
@dataclass(frozen=True, slots=True)
class Loss:
    """A position where rows that can be active depend on each other.

    Attributes:
        rows: names of the rows whose combination vanishes.
        position: coordinates (and time) by label.
        is_exact: whether they depend there exactly, by proof; otherwise up to rounding.
        size: least singular value of the rows there.
        effect: "jump", "free" or "undecided", as `numeric.degenerate_rule` says.
        form: Q of the rate of the combination, over the velocities.
        held: rows over the velocities that are zero from there on.
        after: the same with the rows that were active, each for one velocity as far as they go.
    """

    rows: tuple[str, ...]
    position: Mapping[str, Any]
    is_exact: bool
    size: float
    effect: str
    form: Floats
    held: Floats
    after: Floats


def losses_at(
    rates: RateRows, place: Mapping[Expr, Any], *, is_exact: bool, everywhere: bool = False
) -> list[Loss]:
    """Losses of rank at a position: rows that vanish one by one, or else their combination."""
    values = {x: float(evaluate(as_expr(value), {})) for x, value in place.items()}
    matrix = rates.at({x: np.array(value) for x, value in values.items()})
    names = (*rates.bilateral, *rates.one_sided)
    gone = [k for k in range(len(names)) if np.max(np.abs(matrix[k])) <= DEPENDENT]
    ways = [np.eye(len(names))[k] for k in gone]
    if not ways:
        ways = [np.linalg.svd(matrix)[0][:, -1]]
    position = {} if everywhere else {x.name: value for x, value in place.items()}
    return [_loss(rates, matrix, values, position, c, is_exact=is_exact) for c in ways]


def _loss(
    rates: RateRows,
    matrix: Floats,
    values: Mapping[Expr, float],
    position: Mapping[str, Any],
    way: Floats,
    *,
    is_exact: bool,
) -> Loss:
    """The loss of one combination of rows."""
    c = np.where(np.abs(way) > 1e-6, way, 0.0)
    names = (*rates.bilateral, *rates.one_sided)
    part = tuple(name for name, x in zip(names, c, strict=True) if x)
    effect, form, held = _loss_effect(rates, matrix, values, c)
    active = _active(rates, c)
    kept = active if len(held) and np.max(np.abs(matrix[active, -1])) <= DEPENDENT else []
    after = reduced(np.vstack([matrix[kept, :-1], held]))
    return Loss(
        part, position, is_exact, float(np.linalg.norm(c @ matrix)), effect, form, held, after
    )


def _active(rates: RateRows, c: Floats) -> list[int]:
    """Bilateral rows, and those that a combination takes part of."""
    return [k for k in range(len(c)) if k < len(rates.bilateral) or c[k]]


def reduced(rows: Floats) -> Floats:
    """Rows of the same span with a 1 and zeros above and below it, as far as they go."""
    rows = np.array(rows, dtype=float)
    done = 0
    for j in range(rows.shape[1]):
        if done == len(rows):
            break
        k = done + int(np.argmax(np.abs(rows[done:, j])))
        if abs(rows[k, j]) < 1e-9:
            continue
        rows[[done, k]] = rows[[k, done]]
        rows[done] /= rows[done, j]
        for i in range(len(rows)):
            if i != done:
                rows[i] -= rows[i, j] * rows[done]
        done += 1
    return np.where(np.abs(rows[:done]) > 1e-9, rows[:done], 0.0)


def _loss_effect(
    rates: RateRows, matrix: Floats, values: Mapping[Expr, float], c: Floats
) -> tuple[str, Floats, Floats]:
    """Whether velocities must jump there, Q, and the constraint afterwards."""
    first, nv = len(rates.bilateral), len(rates.v)
    pushed = c[first:]
    if np.any(pushed > 0) and np.any(pushed < 0):
        return "free", np.zeros((nv, nv)), np.zeros((0, nv))
    c = c if np.sum(pushed) >= 0 else -c
    form = _form(rates, values, c)
    if form is None:
        return "undecided", np.zeros((nv, nv)), np.zeros((0, nv))
    if not np.any(form) and values:
        return _beyond(rates, values, c)
    rows = matrix[_active(rates, c), :-1]
    rule = degenerate_rule(
        np.eye(nv), form, np.ones(nv), np.where(np.abs(rows) > DEPENDENT, rows, 0.0)
    )
    return ("jump" if rule.kind == "rest" else rule.kind), form, rule.held


def _form(rates: RateRows, values: Mapping[Expr, float], c: Floats) -> Floats | None:
    """Q of the rate of a combination at a place; None where it is no quadratic form of v."""
    total = as_expr(sum((as_expr(float(x)) * b for x, b in zip(c, rates.biases)), ZERO))
    nv = len(rates.v)

    def rate(v: Floats) -> float:
        there = {**rates.start, **values, **dict(zip(rates.v, v.tolist()))}
        return float(evaluate(total, there))

    form = quadratic_form(rate, nv)
    probe = np.arange(1.0, nv + 1)
    is_form = abs(rate(probe) - probe @ form @ probe) <= 1e-9 * (1 + abs(rate(probe)))
    return np.where(np.abs(form) > 1e-12, form, 0.0) if is_form else None


def _beyond(rates: RateRows, values: Mapping[Expr, float], c: Floats) -> tuple[str, Floats, Floats]:
    """The same where Q vanishes, by Q beside the place: of x³ ẋ ≤ 0 it is 3 x² ẋ²."""
    nv = len(rates.v)
    nothing = np.zeros((nv, nv)), np.zeros((0, nv))
    beside = [_form(rates, {**values, x: values[x] + e}, c) for x in values for e in (-NEAR, NEAR)]
    forms = [Q for Q in beside if Q is not None]
    if rates.conditions or len(forms) < len(beside):
        return "undecided", *nothing
    rules = [degenerate_rule(np.eye(nv), Q, np.ones(nv)).kind for Q in forms]
    if all(kind == "free" for kind in rules):
        return "free", *nothing
    total = np.asarray(sum(forms))
    if all(np.linalg.eigvalsh(Q)[0] >= -1e-9 * np.max(np.abs(total)) for Q in forms):
        return "jump", nothing[0], degenerate_rule(np.eye(nv), total, np.ones(nv)).held
    return ("undecided" if _is_barred(rates, values, c) else "free"), *nothing


def _is_barred(relations: RateRows, values: Mapping[Expr, float], c: Floats) -> bool:
    """Whether some motion straight through the place keeps the relation before it only."""
    draw = np.random.default_rng(0)
    for v in draw.standard_normal((200, len(relations.v))):
        rates = {str(x.name).removesuffix("'"): y for x, y in zip(relations.v, v, strict=True)}
        sides = []
        for s in (-NEAR, NEAR):
            there = {x: np.array(z + s * rates.get(str(x.name), 0.0)) for x, z in values.items()}
            sides.append(float(c @ (relations.at(there) @ np.append(v, 1.0))))
        if sides[0] <= 0 < sides[1]:
            return True
    return False


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
@dataclass(frozen=True, slots=True, repr=False)
class Entry(Shown):
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

    def __str__(self) -> str:
        return self.text

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
@dataclass(frozen=True, slots=True, repr=False)
class NoImpact(Shown):
    """The answer of theorem 1 for a mechanism.

    Attributes:
        entries: the sets of relations looked at; one only where all together are proved.
        left_out: unilateral relations of positions and contacts, where arriving is an impact.
        velocities: labels, in the order of the forms and held rows of losses.

    Example:
        >>> import liaison
        >>> result = liaison.no_impact("examples/chaplygin_unilateral.lsd")
        >>> result.entries[0].verdict
        'proved'
    """

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...]
    velocities: tuple[str, ...]

    def __str__(self) -> str:
        more = f"Impacts are possible at {', '.join(self.left_out)}." if self.left_out else ""
        return "\n".join([*(x.text for x in self.entries), *[more] * bool(more)])

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
