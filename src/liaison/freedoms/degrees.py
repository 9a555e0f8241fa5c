"""Mobility: the degrees of freedom in one position, with what of them is proved, and as text.

Public names: Mobility, Generic, paragraph, counted.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, final

from liaison.exact.evidence import Evidence
from liaison.freedoms.local.verdict import Verdict
from liaison.lazy import Shown

from .evidence import mobility_evidence
from .psi import Parametrization
from .redundancy import Redundancy

STATUS = {
    "regular": "every motion that is possible to first order goes on",
    "shaky": "it is shaky: it gives way to first order and then locks",
    "non-reduced": "some velocities that the closures allow lead nowhere, here and at every "
    "position near (the closure is non-reduced)",
    "bifurcation": "some velocities that the closures allow lead nowhere, others go on: branches "
    "of motion may meet in this position",
    "singular": "some velocities that the closures allow lead nowhere; complex branches that are "
    "not real meet in this position",
    "undecided": "what was computed does not decide between the bounds",
}


def paragraph(result: Any) -> str:
    """A `Mobility` as a paragraph of text."""
    low, high = result.finite
    number = f"{low}" if low == high else f"between {low} and {high}"
    sure = "proved" if result.is_proved else "likely" if low == high else "not decided"
    lines = [
        f"{result.name}: finite mobility {number}, {sure}; first-order mobility "
        f"{result.first_order}; {_status(result)}.",
        f"  {counted(result.unknowns, 'joint degree')} of freedom, "
        f"{counted(result.equations, 'equation')} "
        f"({_loops(result.loops)}), rank {result.rank} here, {result.naive_rank} off the variety; "
        f"counting alone (Grübler) gives {result.gruebler}.",
        f"  Why: {result.proof}.",
    ]
    if result.real_proof:
        lines.append(
            f"  Over the real numbers {number}{_complex_number(result)}: {result.real_proof}."
        )
    if result.branches and not result.real:
        lines.append("  " + _branches(result))
    if result.redundancy is not None and result.loops:
        lines += [f"  {line}" for line in result.redundancy.sentences()]
        lines += [f"  {AXES}"] if result.redundancy.undetermined else []
    if result.psi is not None and result.psi.independent:
        lines.append(f"  Independent coordinates: {', '.join(result.psi.independent)}.")
    if result.real:
        lines.append(f"  It is {result.real}.")
    if result.generic is not None:
        lines.append("  " + _generic_line(result.generic))
    lines += [f"  Note: {note}." for note in result.notes]
    if result.primes:
        lines.append(f"  Modulo {len(result.primes)} random primes of 61 bits, seeded.")
    return "\n".join(lines)


def _complex_number(result: Any) -> str:
    """The dimension over the complex numbers, beside the real one."""
    if result.finite_complex is None:
        return ""
    low, high = result.finite_complex
    sure = "" if result.is_proved_complex else " (likely)" if low == high else " (not decided)"
    return f", over the complex ones {low if low == high else f'{low} to {high}'}{sure}"


def _status(result: Any) -> str:
    """What the status means, with the number of real branches where one is proved."""
    if result.status == "bifurcation" and result.real_branches > 1:
        return f"at least {result.real_branches} branches of motion meet in this position"
    return STATUS[result.status]


def _generic_line(generic: Generic) -> str:
    low, high = generic.finite
    number = f"{low}" if low == high else f"between {low} and {high}"
    sure = "proved" if generic.is_proved else "likely" if low == high else "not decided"
    names = ", ".join(generic.parameters)
    return f"For other values of {names} near these: {number}, {sure} ({generic.reason})."


AXES = (
    "(x, y and z are those of the joint's first frame: z is along its axis. "
    "Reactions of runs are in its second.)"
)


def counted(count: int, word: str) -> str:
    """1 equation, 2 equations."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _loops(count: int) -> str:
    return counted(count, "loop") if count else "no loop"


def _branches(result: Any) -> str:
    each = ", ".join(f"rank {b['rank']}, mobility {b['mobility']}" for b in result.branches)
    counts = {len(v.branches) for v in result.verdicts}
    text = f"Branches followed modulo a prime: {len(result.branches)} ({each})."
    if len(counts) > 1:
        text += (
            f" Their number depends on the prime ({', '.join(map(str, sorted(counts)))}): "
            "some are not defined over the rationals, and may not be real."
        )
    return text


@final
@dataclass(frozen=True, slots=True, repr=False)
class Generic(Shown):
    """The mobility for generic values of parameters in lengths, near the values taken."""

    parameters: tuple[str, ...]
    finite: tuple[int, int]
    is_proved: bool
    reason: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class Mobility(Shown):
    """The mobility of a mechanism in one position: numbers, proof, branches, redundancy.

    `finite` is (low, high) of the dimension of the real solution set near the position: high is
    proved always in mode "exact", low where `is_proved`. `finite_complex` is that of the complex
    solution set, which may be larger. `status` is one of regular (every first-order motion goes
    on), shaky (none does), non-reduced (fewer go on, at every position near), bifurcation (some go
    on, others do not; at least `real_branches` meet here), singular (complex branches that are not
    real meet here), undecided.

    Example:
        >>> import liaison
        >>> result = liaison.mobility("examples/four_bar.lsd")
        >>> result.finite, result.is_proved
        ((1, 1), True)
    """

    name: str
    unknowns: int
    equations: int
    loops: int
    gruebler: int  # unknowns − 6 a loop − relations
    naive_rank: int
    rank: int
    first_order: int
    finite: tuple[int, int]
    status: str
    proof: str
    is_proved: bool
    primes: tuple[int, ...]
    verdicts: tuple[Verdict, ...] = ()
    redundancy: Redundancy | None = None
    mode: str = "exact"
    real: str = ""  # what differs over the real numbers
    psi: Parametrization | None = None  # velocities of all joints from independent ones
    notes: tuple[str, ...] = ()
    finite_complex: tuple[int, int] | None = None  # None: not computed
    is_proved_complex: bool = False
    real_proof: str = ""  # how the real number follows
    generic: Generic | None = None  # for other values of parameters in lengths
    real_branches: int = 0  # at least so many real branches meet here; 0: not counted
    seed: int = 0  # of primes, directions and slices
    at: tuple[tuple[str, str], ...] = ()  # coordinates that were asked for, as text

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Of the number, of redundant rows, of reactions that are determined."""
        return mobility_evidence(self)

    @property
    def redundant_rows(self) -> int:
        """Equations that follow from the others, to first order."""
        return self.equations - self.rank

    @property
    def branches(self) -> tuple[dict[str, int], ...]:
        """Rank and mobility on each branch that was followed, on a random slice."""
        branches = self.verdicts[0].branches if self.verdicts else ()
        return tuple({"rank": b.rank, "mobility": self.unknowns - b.rank, "order": b.order}
                     for b in branches)  # fmt: skip

    def __str__(self) -> str:
        return paragraph(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        facts: dict[str, Any] = {
            "name": self.name, "mode": self.mode, "unknowns": self.unknowns,
            "equations": self.equations, "loops": self.loops, "gruebler": self.gruebler,
            "naive_rank": self.naive_rank, "rank": self.rank, "first_order": self.first_order,
            "finite": list(self.finite), "status": self.status, "proof": self.proof,
            "is_proved": self.is_proved, "branches": list(self.branches),
            "redundant_rows": self.redundant_rows, "primes": list(self.primes),
            "obstruction_order": self.verdicts[0].obstruction if self.verdicts else None,
            "real": self.real, "notes": list(self.notes), "summary": paragraph(self),
            "finite_complex": self.finite_complex and list(self.finite_complex),
            "is_proved_complex": self.is_proved_complex, "real_proof": self.real_proof,
            "real_branches": self.real_branches,
            "evidence": [x.to_dict() for x in self.evidence],
        }  # fmt: skip
        if self.generic is not None:
            facts["generic"] = asdict(self.generic)
        if self.psi is not None:
            facts["independent"] = list(self.psi.independent)
        return facts | ({"redundancy": self.redundancy.to_dict()} if self.redundancy else {})
