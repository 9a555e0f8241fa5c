"""Whether one-sided relations of rates are entered without impact: theorem 1, before any run.

Where the bilateral rows together with the active rows of W v + w ≤ 0 are independent, the
complementarity of accelerations d/dt (W v + w) ≤ 0 ⟂ μ ≤ 0 has one solution with bounded μ, and
velocities do not jump. That is proved for all positions, or refuted by a position, or neither is
done and the nearest seen is told.

Public names: NoImpact, Entry, no_impact.

Source: SK 2.2 (theorem 1), with the rank of A and the *active* rows of W;
docs/theory/unilateral.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, final

from liaison.expr import Expr, as_expr, evaluate, symbol
from liaison.expr.reading.integrate import potential
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.model import Mechanism

from .rank_effect import Loss
from .rank_loss import least_size, losses
from .rank_proof import MOST_BOXES, independent_everywhere
from .rate_rows import RateRows, rate_rows

MOST_SETS = 31
"""Sets of relations looked at one by one; of more relations than five, singles and pairs only."""


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one set of relations that may become active together.

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
        left_out: one-sided relations of positions and contacts, where arriving is an impact.
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
        """All of it for people."""
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
    """Whether theorem 1 holds for the one-sided relations of rates of a mechanism.

    Args:
        mechanism: with relations `W v + w <= 0`; others on one side are named and left out.
        boxes: of positions that a proof may look at, for each set of relations.
    """
    found = rate_rows(mechanism)
    speeds = tuple(x.name for x in found.v)
    if not found.one_sided:
        return NoImpact((), found.left_out, speeds)
    together = _entry(found, boxes)
    if together.verdict == "proved" or len(found.one_sided) == 1:
        return NoImpact((together,), found.left_out, speeds)
    entries = [_entry(found.with_active(names), boxes) for names in _sets(found.one_sided)]
    return NoImpact((*_least(entries), *_rest(together, entries)), found.left_out, speeds)


def _sets(names: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Sets of relations that may be active together, smaller ones first, without all of them."""
    most = len(names) - 1 if 2 ** len(names) - 1 <= MOST_SETS else 2
    return [part for size in range(1, most + 1) for part in combinations(names, size)]


def _least(entries: list[Entry]) -> list[Entry]:
    """Without sets that fail or are open only because a smaller one does."""
    bad: list[set[str]] = []
    kept = []
    for entry in entries:
        if any(small < set(entry.relations) for small in bad):
            continue
        if entry.verdict != "proved":
            bad.append(set(entry.relations))
        kept.append(entry)
    return kept


def _rest(together: Entry, entries: list[Entry]) -> list[Entry]:
    """All relations together, where no smaller set tells why they are not proved."""
    return [together] if all(entry.verdict == "proved" for entry in entries) else []


def _entry(found: RateRows, boxes: int) -> Entry:
    """Proved, refuted, or neither."""
    names = found.one_sided
    told = ", ".join(names)
    reason = independent_everywhere(found, boxes)
    if reason is not None:
        return Entry(names, "proved", f"{told}: entry is free of impact, proved: {reason}.")
    lost = losses(found)
    if lost:
        return Entry(names, "fails", " ".join(_words(found, x) for x in lost), tuple(lost))
    least = least_size(found)
    said = (
        f"{told}: whether entry is free of impact is not proved; the least singular value of the "
        f"rows at sampled positions is {least:.3g}. More boxes than {boxes} may prove it "
        "(no_impact(…, boxes=…))."
    )
    return Entry(names, "not proved", said, least=least)


def _words(found: RateRows, loss: Loss) -> str:
    """A loss for people."""
    names = ", ".join(loss.rows)
    verb = "vanishes" if len(loss.rows) == 1 else "are dependent"
    what = f"the row {names}" if len(loss.rows) == 1 else f"the rows {names}"
    return f"{names}: {_where(loss)} {what} {verb}: {_effect(found, loss)}"


def _where(loss: Loss) -> str:
    told = ", ".join(f"{name} = {_number(value)}" for name, value in loss.position.items())
    if not told:
        return "everywhere"
    return f"at {told}" if loss.is_exact else f"at {told} (up to rounding)"


def _number(value: Any) -> str:
    return to_unicode(simplified(value)) if isinstance(value, Expr) else f"{value:.9g}"


def _effect(found: RateRows, loss: Loss) -> str:
    """What becomes of velocities there."""
    if loss.effect == "free":
        return "theorem 1 does not speak there, but no velocity has to jump."
    possible = "an impact is possible there, and its reaction is not of the form Wᵀμ; "
    if loss.effect == "undecided":
        return possible + "the relation tells no velocity after it: several remain, or it moves."
    after = ", ".join(_held(found, row) for row in loss.after)
    said = "the velocity after it follows from the relation itself"
    return f"{possible}{said}{_own(found, loss)}: {after}."


def _own(found: RateRows, loss: Loss) -> str:
    """ " (d/dt (½ X²) ≤ 0)" where one row that vanishes is the rate of something."""
    k = (*found.bilateral, *found.one_sided).index(loss.rows[0])
    slopes = {}
    for v, entry in zip(found.v, found.rows[k], strict=False):
        slopes[symbol(str(v.name).removesuffix("'"))] = entry
    if len(loss.rows) > 1 or any(not str(v.name).endswith("'") for v in found.v):
        return ""
    F = potential(slopes)
    return "" if F is None else f" (d/dt ({to_unicode(simplified(as_expr(F)))}) ≤ 0)"


def _held(found: RateRows, row: Any) -> str:
    """ "X' = 0"."""
    terms = [
        v.name if x == 1 else f"{x:.6g} {v.name}" for v, x in zip(found.v, row, strict=True) if x
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
