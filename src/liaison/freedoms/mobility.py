"""mobility: degrees of freedom in one assembled position, and what of it is proved.

Three numbers are distinguished: the naive rank (off the variety, of no mechanical meaning), the
first-order mobility (velocities that the closures allow in this position) and the finite mobility
(the dimension of the positions that can be reached), as an interval.

The finite mobility is that of the real solution set (local/real.py); the complex one stands beside
it. A position in floats is proved where its rank is full in the groups of the loops
(local/open_loops.py), or where a proof at an exact position can be carried to it along the motion
(local/transport.py); elsewhere it is computed in floats (local/float_loops.py).

Public names: Mobility, Generic, mobility, mobility_of_systems, singularities, paragraph.

Source: docs/theory/mobility.md; the question is PA's (rank of Δ on the variety).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import islice
from typing import Any, TypeAlias, final

from liaison.errors import AssemblyError, DerivationError
from liaison.exact.choices import square_numbers
from liaison.exact.evidence import Evidence
from liaison.exact.linear import primes_from
from liaison.exact.recognize import WIDE
from liaison.expr import Expr, evaluate, symbols_of, to_text
from liaison.freedoms.local.float_loops import FloatVerdict, float_verdict
from liaison.freedoms.local.open_loops import (
    Anywhere,
    full_rank_near,
    group_sizes,
)
from liaison.freedoms.local.rational import ball_system, rational_system
from liaison.freedoms.local.real import SMOOTH, Real, RealExamination
from liaison.freedoms.local.transport import Carried, carried
from liaison.freedoms.local.verdict import ORDER, Verdict, verdict
from liaison.lazy import Shown
from liaison.model import Mechanism, Start
from liaison.model.contacts import left_out
from liaison.spatial import compose, identity, zeros
from liaison.tree import GROUND, Tree, as_float, assemble, span
from liaison.tree.kinematics import Kinematics

from .clock import MEMORY_LIMIT, TIME_LIMIT, bounded
from .evidence import mobility_evidence
from .home import Home, home_of, loops_of, numeric_home
from .placing import as_written, valued
from .psi import Parametrization, parametrization_of
from .redundancy import Redundancy, redundancy_of
from .screws import LoopSystem, System
from .singular import STEP, STEPS, Singularities, driven_by_time, singular_positions

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


PRIMES = 3
CLOSED = 1e-9
"""Largest residual in floats of a position that is then shown to be exact [m, 1]."""

AGREEING = 40
"""Order of the series at the primes after the first, which must only agree."""

TRIALS = 40
"""Primes tried before a position counts as not exact."""


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


def mobility(
    model: Mechanism | Tree,
    *,
    at: Mapping[str, Any] | None = None,
    order: int = ORDER,
    primes: int = PRIMES,
    seed: int = 0,
    time_limit: float | str = TIME_LIMIT,
    memory_limit: float = MEMORY_LIMIT,
) -> Mobility:
    """The mobility of a mechanism in the position where it is assembled.

    Args:
        model: a mechanism, or a tree of one.
        at: positions by label instead of the mechanism's starts [m, rad], exact where they can be.
        order: highest order of power series computed for a proof.
        primes: how many random primes must agree.
        seed: of primes, directions and slices.
        time_limit: wall clock [s]; what is not decided by then is "undecided".
        memory_limit: bytes.

    Raises:
        AssemblyError: the loops cannot be closed.
    """
    mechanism = model.mechanism if isinstance(model, Tree) else model
    with bounded(time_limit, memory_limit):
        result = _examined(mechanism, at, order, primes, seed)
        position = tuple((name, _as_typed(x)) for name, x in (at or {}).items())
        result = replace(result, generic=_generic(mechanism, result), seed=seed, at=position)
    excluded = left_out(mechanism.contacts)  # a sentence, and here a note
    notes = [f"w{excluded[1:-1]}"] if excluded else []
    if drives := driven_by_time(mechanism):
        takes = "takes its degree" if len(drives) == 1 else "take their degrees"
        notes.append(f"{', '.join(drives)}, imposed over time, {takes} of freedom away")
    return replace(result, notes=(*result.notes, *notes)) if notes else result


def _as_typed(x: Any) -> str:
    """A coordinate as it can be typed."""
    return to_text(x) if isinstance(x, Expr) else str(x)


def _examined(
    mechanism: Mechanism, at: Mapping[str, Any] | None, order: int, primes: int, seed: int
) -> Mobility:
    begun = _begun(mechanism, at or {})
    near: list[Assembled] = []  # in floats, once it is needed
    try:
        return _exactly(_home(begun, at or {}, near), order, primes, seed)
    except DerivationError as error:
        seen = near or [_assembled(begun, at or {})]
        result = _in_floats(begun, list(at or {}), seen, error)
    if result.is_proved:
        return result
    if result.status == "undecided":  # floats next to a singular position have half their digits
        with suppress(DerivationError):
            return _exactly(home_of(begun, *seen[0], WIDE), order, primes, seed)
    return _moved_here(mechanism, result, list(at or {}), seen)


def _exactly(home: Home, order: int, primes: int, seed: int) -> Mobility:
    """At a position with exact numbers.

    Raises:
        DerivationError: it is none, or residues do not decide.
    """
    source = systems(home, seed)
    name = home.mechanism.name
    result = mobility_of_systems(name, source, order=order, primes=primes, seed=seed)
    if home.relations.uncounted:
        proof = f"at most {result.finite[1]}, without {', '.join(home.relations.uncounted)}"
        result = replace(
            result, finite=(0, result.finite[1]), status="undecided", is_proved=False,
            proof=f"{proof}: {result.proof}",
        )  # fmt: skip
    result = _less_rates(_over_reals(home, result, order, seed), home)
    loops = len(home.loops)
    rows = 6 * loops + len(home.relations.rows)
    return replace(
        result, loops=loops, gruebler=result.unknowns - rows, notes=home.notes,
        redundancy=redundancy_of(home, result.rank, is_regular=result.status == "regular",
                                 source=systems(home, seed)),
        psi=_psi(home, result),
    )  # fmt: skip


def _generic(mechanism: Mechanism, result: Mobility) -> Generic | None:
    """What holds for other values of parameters in lengths; None where there are none."""
    names = {str(x.name) for x in mechanism.parameters}
    scalars = [x for joint in mechanism.joints for marker in (joint.predecessor, joint.successor)
               for x in marker.scalars() if isinstance(x, Expr)]  # fmt: skip
    used = tuple(sorted({str(x.a) for x in symbols_of(scalars)} & names)) if scalars else ()
    if not used:
        return None
    loops = loops_of(mechanism)
    here, anywhere = (group_sizes(m, loops) for m in (valued(mechanism, []), mechanism))
    high = result.first_order
    if mechanism.constraints or here is None or anywhere is None:
        return Generic(used, (0, high), False, "the loops may not close for other values")
    if here != anywhere or result.first_order != result.unknowns - sum(anywhere):
        text = "the rank is not full in the groups of motions that the loops have then"
        return Generic(used, (0, high), False, f"{text}; they may not close")
    reason = "the rank is full in the groups of motions of the loops, which stay the same"
    return Generic(used, result.finite, result.is_proved, reason)


def _psi(home: Home, result: Mobility) -> Parametrization | None:
    """Ψ, where the finite mobility is known and one branch passes here."""
    if result.finite[0] != result.finite[1] or result.status not in ("regular", "non-reduced"):
        return None
    starts = [start.label for start in home.mechanism.starts]
    return parametrization_of(home, result.rank, result.finite[0], starts)


def _over_reals(home: Home, result: Mobility, order: int, seed: int) -> Mobility:
    """The same with the dimension of the real solution set, and what differs from the complex."""
    if home.relations.uncounted:
        return result
    modular = [system for p in result.primes if (system := home.system(p)) is not None]

    def examine(parts: list[LoopSystem]) -> Mobility:
        return mobility_of_systems("", iter(parts), order=order, primes=len(parts), seed=seed)

    needed = result.finite[1] > 0 and result.status != "regular"
    exact = rational_system(home, result.primes) if needed else None
    near = ball_system(home) if needed and exact is None else None
    real = RealExamination(exact, modular, examine, near).real(result)
    finite = (real.low, real.high)
    is_whole = (
        real.is_proved and real.low == result.finite[1]
    )  # then the complex one is proved, too
    both = (real.high, real.high) if is_whole else result.finite
    return replace(
        result, finite=finite, is_proved=real.is_proved, real_proof=real.reason,
        finite_complex=both, is_proved_complex=is_whole or result.is_proved_complex,
        status=_real_status(result, real), real=_difference(result, real),
        real_branches=real.branches,
    )  # fmt: skip


def _less_rates(result: Mobility, home: Home) -> Mobility:
    """The same with a lower bound that relations of speeds, not decided, may reach."""
    high = result.finite[1]
    if not home.relations.of_speeds or high == 0:
        return result
    return replace(
        result, finite=(0, high), is_proved=False, status="undecided",
        proof=f"without relations of speeds: {result.proof}",
        real_proof=f"at most {high}; relations of speeds may take more away",
    )  # fmt: skip


def _real_status(result: Mobility, real: Real) -> str:
    """The status over the real numbers."""
    if real.high == 0 and result.finite[1] > 0:
        return "shaky"
    if real.low < real.high:
        return "undecided"
    if real.high < result.finite[1]:
        return "singular"
    # ξ² + g(y) with g other than zero has no multiple factor, whatever an order of it looks like
    is_reduced = real.is_proved and "splitting lemma" in real.reason
    return "bifurcation" if is_reduced and result.status == "non-reduced" else result.status


def _difference(result: Mobility, real: Real) -> str:
    """What the real solution set has less than the complex one."""
    if real.high == result.finite[1]:
        return ""
    low, high = result.finite
    number = f"{high}" if low == high else f"{low} to {high}"
    text = f"of dimension {number} over the complex numbers, by families that are not real"
    return f"isolated over the real numbers, {text}" if real.high == 0 else text


def singularities(
    model: Mechanism | Tree,
    *,
    at: Mapping[str, Any] | None = None,
    step: float = STEP,
    steps: int = STEPS,
) -> Singularities:
    """Bifurcations and dead points along the motion of a mechanism of mobility one, in floats.

    Args:
        model: a mechanism, or a tree of one.
        at: positions by label instead of the mechanism's starts [m, rad].
        step: arc length of a step [rad, m].
        steps: how many at most.

    Where imposed motions of time leave no mobility, the motion is followed without them.
    """
    mechanism = model.mechanism if isinstance(model, Tree) else model
    begun = _begun(mechanism, at or {})
    q, poses = _assembled(begun, at or {})
    drives = driven_by_time(mechanism)
    try:
        home = _started_home(begun) or numeric_home(begun, q, poses)
        return singular_positions(home, begin=q, step=step, steps=steps)
    except DerivationError:
        if not drives:
            raise
    kept = tuple(x for x in begun.constraints if x.name not in drives)
    free = replace(begun, constraints=kept)
    home = _started_home(free) or numeric_home(free, q, poses)
    return replace(
        singular_positions(home, begin=q, step=step, steps=steps), left_out=tuple(drives)
    )


def _home(begun: Mechanism, at: Mapping[str, Any], near: list[Assembled]) -> Home:
    """The assembled position, with exact numbers; what assembly finds in floats goes to `near`."""
    home = _started_home(begun)
    if home is None:
        near.append(_assembled(begun, at))
        home = home_of(begun, *near[0])
    return home


def _started_home(mechanism: Mechanism) -> Home | None:
    """The position that the starts alone give, if it closes the loops."""
    try:
        home = home_of(mechanism)
    except DerivationError:
        return None
    residual = [abs(float(x)) for x in evaluate(list(home.closure))] if home.closure else []
    return home if max(residual, default=0.0) < CLOSED else None


def _begun(mechanism: Mechanism, at: Mapping[str, Any]) -> Mechanism:
    """The mechanism with other starts."""
    other_starts = tuple(start for start in mechanism.starts if start.label not in at)
    return replace(
        mechanism, starts=other_starts + tuple(Start(k, as_written(x)) for k, x in at.items())
    )


Assembled: TypeAlias = tuple[dict[str, float], dict[str, Any]]
"""Coordinates by label, and poses of bodies."""


def _assembled(begun: Mechanism, at: Mapping[str, Any]) -> Assembled:
    """Coordinates and poses of bodies that assembly finds in floats."""
    tree = span(valued(begun, [], rounded=True))
    start = {name: float(as_float(x)) for name, x in at.items()}
    state = assemble(tree, None, guess=None, **start)
    kinematics = Kinematics(tree, state.q)
    poses = {}
    for body, (node, X_NB) in tree.frames.items():
        if node != GROUND:
            seen = kinematics.motion(GROUND, node)
            poses[body] = compose(seen.R, seen.p, *X_NB)
    q = {label.name: float(x) for label, x in zip(tree.position_labels(), state.q, strict=True)}
    return q, poses


def _in_floats(
    begun: Mechanism, held: list[str], near: list[Assembled], why: DerivationError
) -> Mobility:
    """The mobility in floats, where no exact position is near."""
    q, poses = near[0]
    home = numeric_home(begun, q, poses)
    seen = float_verdict(home)
    everywhere = {"ground": (identity(3), zeros(3)), **poses}
    sure = full_rank_near(replace(home, mechanism=valued(begun, [])), everywhere, held)
    reason = why.message.rstrip(".")
    note = f"not exact, computed in floats: {reason}; {ELSEWHERE}"
    rows = 6 * len(home.loops) + len(home.relations.rows)
    n = len(home.columns)
    is_open = bool(home.relations.of_speeds or home.relations.uncounted)
    low = 0 if is_open or seen.status != "regular" else seen.low
    result = Mobility(
        name=begun.name, unknowns=n, equations=rows, loops=len(home.loops), gruebler=n - rows,
        naive_rank=seen.naive_rank, rank=seen.rank, first_order=n - seen.rank,
        finite=(low, seen.high), status="undecided" if is_open else seen.status,
        proof=seen.proof, is_proved=False, primes=(), mode="numeric", notes=(*home.notes, note),
        redundancy=redundancy_of(home, seen.rank, is_regular=seen.status == "regular"),
        psi=_psi_in_floats(home, seen),
    )  # fmt: skip
    if sure is not None:
        return _enclosed(_certain(result, sure), note)
    why_not = f"{result.proof}; {_uncertain(valued(begun, []), home, seen.rank)}"
    return replace(result, proof=why_not)


ELSEWHERE = "another position may be, at simple angles and lengths such as 0 or 90 deg"
ENCLOSED = "the position is not a simple exact one: the proof is of one that balls enclose"


def _enclosed(result: Mobility, note: str) -> Mobility:
    """The same with another note: what is proved is not in floats only."""
    return replace(result, notes=(*(x for x in result.notes if x != note), ENCLOSED))


def _uncertain(mechanism: Mechanism, home: Home, rank: int) -> str:
    """Why a position in floats is not proved."""
    sizes = group_sizes(mechanism, home.loops)
    if mechanism.constraints:
        return "not proved: relations are certified at exact positions only"
    if sizes is None:
        return "not proved: the group of motions of a loop is not known"
    if rank < sum(sizes):
        return (
            f"not proved: the rank is {rank}, the groups of motions of the loops have {sum(sizes)} "
            "dimensions, and that the other equations hold is proved at exact positions only"
        )
    return "not proved: no position could be certified near the floats"


def _moved_here(
    mechanism: Mechanism, result: Mobility, held: list[str], near: list[Assembled]
) -> Mobility:
    """The same with the proof of an exact position on the same motion, if one is known."""
    if mechanism.constraints or result.status != "regular":
        return result
    starts = tuple(x for x in mechanism.starts if x.label not in mechanism.coordinates)
    others = [mechanism] if held else []  # else it is what was tried already
    others += [replace(mechanism, starts=starts)] if starts != mechanism.starts else []
    for other in others:
        try:
            home = _home(other, {}, [])
            there = mobility_of_systems("", systems(home), primes=2)
        except (DerivationError, AssemblyError):
            continue
        if there.status == "regular" and there.is_proved and there.rank == result.rank:
            poses = {"ground": (identity(3), zeros(3)), **near[0][1]}
            answer = carried(home, there.first_order, poses, held)
            if isinstance(answer, Carried):
                return _enclosed(_arrived(result, answer, there.proof), result.notes[-1])
            return replace(result, proof=f"{result.proof}; {answer}")
    return result


def _arrived(result: Mobility, way: Carried, there: str) -> Mobility:
    proof = (
        f"carried along the motion from an exact position, in {way.pieces} pieces (Krawczyk's test "
        "in balls and the identity theorem); a position exists within "
        f"{max(way.radius, 1e-15):.0e} of the one in floats; at the exact one {there}"
    )
    finite = (way.dimension, way.dimension)
    return replace(
        result, finite=finite, finite_complex=finite, status="regular", proof=proof,
        is_proved=True, is_proved_complex=True, real_proof=SMOOTH,
    )  # fmt: skip


def _certain(result: Mobility, sure: Anywhere) -> Mobility:
    """The same where the rank is proved to be full in the loops' groups."""
    sizes = ", ".join(map(str, sure.groups))
    proof = (
        f"full rank within the groups of motions of the loops (dimension {sizes}): a position "
        f"exists within {max(sure.radius, 1e-15):.0e} of the one in floats (Krawczyk's test, in "
        "balls), and the implicit function theorem holds there"
    )
    if not sure.groups:
        proof = "no loop is to be closed: every joint moves freely"
    finite = (sure.dimension, sure.dimension)
    return replace(
        result, finite=finite, finite_complex=finite, status="regular", proof=proof,
        is_proved=True, is_proved_complex=True, real_proof=SMOOTH,
        rank=result.unknowns - sure.dimension, first_order=sure.dimension,
    )  # fmt: skip


def _psi_in_floats(home: Home, seen: FloatVerdict) -> Parametrization | None:
    if seen.status != "regular":
        return None
    starts = [start.label for start in home.mechanism.starts]
    return parametrization_of(home, seen.rank, seen.high, starts)


def systems(home: Home, seed: int = 0) -> Iterator[System]:
    """The loops modulo one random prime after the other, those where the position is exact.

    Raises:
        DerivationError: residues do not decide what the numbers are, or the position is not exact.
    """
    failures = 0
    home.check_laws()
    for p in primes_from(seed, square_numbers(home.numbers())):
        system = home.system(p)
        if system is None:
            failures += 1
            if failures > TRIALS:
                raise home.failure(p)
        else:
            failures = 0
            yield system


def mobility_of_systems(
    name: str,
    source: Iterator[System],
    *,
    order: int = ORDER,
    primes: int = PRIMES,
    seed: int = 0,
) -> Mobility:
    """The mobility of equations at their known solution, from systems modulo several primes.

    Residues know no order: `finite` is the dimension of the complex solution set here.
    """
    verdicts = []
    for k, system in enumerate(islice(source, primes)):
        limit = order if k == 0 else min(order, AGREEING)
        decision = verdict(system, limit, seed + k + 1)
        if k and decision.is_cut_short:
            break
        verdicts.append(decision)
    best = max(v.rank for v in verdicts)
    best_ones = tuple(v for v in verdicts if v.rank == best)
    high, low = min(v.high for v in best_ones), min(v.low for v in best_ones)
    main = next((v for v in best_ones if (v.low, v.high) == (low, high)), best_ones[0])
    status = main.status if len({v.status for v in best_ones}) == 1 else "undecided"
    # a proof of other bounds, modulo another prime, proves nothing of these
    is_proved = low == high and any(
        v.is_proved and (v.low, v.high) == (low, high) for v in best_ones
    )
    return Mobility(
        name=name, unknowns=system.n, equations=system.size, loops=0,
        gruebler=system.n - system.size, naive_rank=max(v.naive_rank for v in verdicts),
        rank=best, first_order=system.n - best, finite=(min(low, high), high), status=status,
        proof=main.proof, is_proved=is_proved,
        primes=tuple(v.p for v in verdicts), finite_complex=(min(low, high), high),
        is_proved_complex=is_proved,
        verdicts=(main, *(v for v in best_ones if v is not main)),
    )  # fmt: skip
