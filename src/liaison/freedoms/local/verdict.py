"""Local dimension of a system at its known solution modulo one prime: ranks, bounds, reasons.

Ranks decide most positions, paths of the germ W (series.py) those that are not obstructed, slices,
deflation and branches (obstruction.py) the others.

One lower bound is of its own: sides that fold without turning. Parallel hinges that follow each
other form a side. Ask of each side that its angles sum to zero: one equation a side, and the side
moves its far end by a pure translation t, across its axis. A loop of such sides closes where
Σ ± t = 0, which is linear in the t. So the variety holds a set cut out by as many equations as
there are sides, plus the rank of these sums, and Krull's theorem bounds its dimension from below.
This proves antenna meshes, whose closures are non-reduced and for which deflation has evidence
only, and holds for screw joints as well.

Public names: Verdict, verdict, translating_dimension, is_folding_smooth.

Source: docs/theory/mobility.md (mobility-8); FUL98 example 8.4.6 for the orders that prove.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any, TypeAlias, final

from liaison.exact.linear import Field, Series, rank, valuation
from liaison.freedoms.clock import Exhausted
from liaison.freedoms.screws import Factor, LoopSystem, System
from liaison.lazy import Shown

from .curves import proof_of
from .obstruction import Branch, branches, deflation, hessians, upper_bound
from .pairs import Proof
from .series import Germ

Side: TypeAlias = tuple[tuple[int, int], ...]
"""(column, sign) of hinges that follow each other."""


def translating_dimension(system: LoopSystem) -> int:
    """The variety through the known point has at least this dimension; 0 if this shows nothing."""
    if system.relations or system.curved:
        return 0
    # a screw joint's advance goes with its turn
    pitches = {f.column: f.pitch for loop in system.loops for f in loop if f.pitch is not None}
    loops = [[f for f in loop if f.pitch is None] for loop in system.loops]
    sides = _common(_runs(loops, system.p))
    screws = {f.column: f.screw for loop in loops for f in loop}
    hinges = sum(any(screw[:3]) for screw in screws.values())
    equations = hinges - sum(len(side) - 1 for side in sides)
    sums = [_sums(loop, sides, screws, pitches) for loop in loops]
    return max(0, system.n - equations - rank([row for block in sums for row in block], system.p))


def is_folding_smooth(system: LoopSystem, dimension: int) -> bool:
    """The set of folding sides has this dimension and is smooth, hence real.

    It lies within the smooth germ of its own sums of angles and of pivot equations; where that germ
    has the dimension which Krull's theorem asks of the set, both are the same.
    """
    if translating_dimension(system) != dimension or system.relations:
        return False
    p, n = system.p, system.n
    loops = [[f for f in loop if f.pitch is None] for loop in system.loops]
    sides = _common(_runs(loops, p))
    screws = {f.column: f.screw for loop in loops for f in loop}
    folding = {column for side in sides for column, _ in side}
    rows = [[int(j == column) for j in range(n)]
            for column, s in screws.items() if any(s[:3]) and column not in folding]  # fmt: skip
    for side in sides:
        first = screws[side[0][0]][:3]
        k = next(k for k in range(3) if first[k] % p)
        row = [0] * n
        for column, sign in side:
            row[column] = sign * screws[column][k] * pow(first[k], -1, p)
        rows.append(row)
    return rank([*rows, *system.jacobian_home()], p) == n - dimension


def _runs(loops: Sequence[Sequence[Factor]], p: int) -> list[list[Side]]:
    """Hinges of each loop with parallel axes, as long as they follow each other around it.

    A run ends where the hinges begin to belong to other loops: two folding sides with one axis, one
    above the other, are a plane loop by themselves and yet two sides.
    """
    members: dict[int, frozenset[int]] = {}
    for i, loop in enumerate(loops):
        for f in loop:
            members[f.column] = members.get(f.column, frozenset()) | {i}
    return [_runs_of(loop, members, p) for loop in loops]


def _runs_of(loop: Sequence[Factor], members: dict[int, frozenset[int]], p: int) -> list[Side]:
    turned = [any(f.screw[:3]) for f in loop]
    joined = [
        turned[k - 1] and turned[k] and _is_parallel(loop[k - 1], loop[k], p)
        and members[loop[k - 1].column] == members[loop[k].column]
        for k in range(len(loop))
    ]  # fmt: skip
    first = joined.index(False) if False in joined else 0
    runs: list[list[tuple[int, int]]] = []
    for k in range(len(loop)):
        i = (first + k) % len(loop)
        if turned[i]:
            entry = (loop[i].column, loop[i].sign)
            if k and joined[i]:
                runs[-1].append(entry)
            else:
                runs.append([entry])
    return [tuple(run) for run in runs]


def _is_parallel(a: Factor, b: Factor, p: int) -> bool:
    (x, y, z), (u, v, w) = a.screw[:3], b.screw[:3]
    return not any(c % p for c in (y * w - z * v, z * u - x * w, x * v - y * u))


def _common(runs: Sequence[Sequence[Side]]) -> list[Side]:
    """Sides of two hinges and more that each loop passes whole, forth or back, or not at all."""
    sides = {_upright(run) for loop in runs for run in loop if len(run) > 1}
    axes = []
    for side in sorted(sides):
        columns = {column for column, _ in side}
        touching = [run for loop in runs for run in loop if columns & {c for c, _ in run}]
        if all(_upright(run) == side for run in touching):
            axes.append(side)
    return axes


def _upright(side: Side) -> Side:
    """The side in that one of its two directions which comes first."""
    return min(side, tuple((column, -sign) for column, sign in reversed(side)))


def _sums(
    loop: Sequence[Factor],
    sides: Sequence[Side],
    screws: dict[int, tuple[int, ...]],
    pitches: dict[int, int],
) -> list[list[int]]:
    """Rows of Σ ± t of a loop: t across the axis of each side, along each slider.

    A side of screws moves along its axis too, unless all have one pitch.
    """
    passed = {f.column: f.sign for f in loop}
    rows: list[list[int]] = [[], [], []]
    for side in sides:
        column, sign = side[0]
        x, y, z = screws[column][:3]
        way = passed.get(column, 0) * sign
        blocks: list[tuple[int, ...]] = [(0, -z, y), (z, 0, -x), (-y, x, 0)]
        if len({pitches.get(c, 0) for c, _ in side}) > 1:
            blocks = [(*block, c) for block, c in zip(blocks, (x, y, z), strict=True)]
        for row, entries in zip(rows, blocks, strict=True):
            row.extend(way * c for c in entries)
    for column, screw in screws.items():
        if not any(screw[:3]):
            for row, c in zip(rows, screw[3:], strict=True):
                row.append(passed.get(column, 0) * c)
    return rows


ORDER = 800
"""Default of the highest order of a series that a proof may use."""

SIDES = "at least {} by counting equations for sides that fold without turning (Krull)"

ADDED = (
    "each loop by itself is proved to move in every way that is possible to first order, and the "
    "ranks of the loops add up: the implicit function theorem"
)

TRANSCENDENTAL = (
    "no bound can prove it: screw joints and relations of angles are power series, not polynomials"
)

NO_CURVE = (
    "no bound within reach proves it: Bézout's is too large, and the path lies on no algebraic "
    "curve of low degree to this order"
)

FAR = (
    "it lies on an algebraic curve to this order, and order {} would prove that it closes for "
    "ever, which is beyond the limit of the order"
)

NO_BOUND = "no bound within reach proves it"

LARGE = 30
"""Rank from which a path is lengthened coefficient by coefficient."""

SCREEN = 10
"""Order at which an obstruction is looked for first."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Shown):
    """The result of a computation modulo one prime."""

    p: int
    naive_rank: int
    rank: int
    first_order: int
    low: int
    high: int
    status: str  # regular, shaky, non-reduced, bifurcation, undecided
    proof: str
    is_proved: bool  # low as well as high; high always is
    obstruction: int | None = None  # order at which first-order motions are stopped
    multiplicity: int | None = None
    branches: tuple[Branch, ...] = ()
    order: int = 1
    bound: int | None = None
    is_cut_short: bool = False  # by a bound on time or memory


@final
class _Case:
    """One system under examination."""

    def __init__(self, system: System, order: int, seed: int) -> None:
        self.system, self.limit, self.seed = system, order, seed
        self.germ = Germ(system)
        self.path: list[Any] = []  # followed so far
        draw = Random(seed)
        point = [draw.randrange(system.p) for _ in range(system.n)]
        naive = system.jacobian(Field(system.p), point)
        self.naive = rank([[x % system.p for x in row] for row in naive], system.p)

    @cached_property
    def least(self) -> int:
        """What counting equations shows: within groups of motions, or for sides that only fold."""
        bound = max(0, self.system.least_dimension())
        if isinstance(self.system, LoopSystem):
            bound = max(bound, translating_dimension(self.system))
        return bound

    def _reason(self) -> str:
        """Why the variety has at least that dimension."""
        if self.least > self.system.least_dimension():
            return SIDES.format(self.least)
        return f"at least {self.least} by counting equations (Krull)"

    def result(self, low: int, high: int, status: str, proof: str, **facts: object) -> Verdict:
        """The verdict, with the counts it shares with all others."""
        options = {"is_proved": low == high} | facts
        germ = self.germ
        return Verdict(
            self.system.p, self.naive, germ.rank, germ.dimension, low, high, status, proof,
            **options,  # type: ignore[arg-type]
        )  # fmt: skip

    def examined(self) -> Verdict:
        """First order, then finite motion along a path, then what stops it."""
        germ, system = self.germ, self.system
        if germ.dimension == 0:
            return self.result(0, 0, "regular", "the Jacobian has full column rank: no motion")
        if germ.dimension == system.least_dimension():
            return self.result(germ.dimension, germ.dimension, "regular", self._full_row_rank())
        if germ.dimension == self.least:
            return self.result(germ.dimension, germ.dimension, "regular", SIDES.format(self.least))
        if system.is_first_order:
            least = self.least
            proof = "at most the first-order mobility; some relations are known to first order only"
            return self.result(least, germ.dimension, "undecided", proof)
        try:
            if self._adds_up():
                return self.result(germ.dimension, germ.dimension, "regular", ADDED)
            stopped = self._obstruction(SCREEN)
            return self._moving() if stopped is None else self._stopped(stopped)
        except Exhausted as error:
            proof = f"{self._reason()}; given up: {error.message.rstrip('.')}"
            return self.result(self.least, germ.dimension, "undecided", proof, is_cut_short=True)

    def _adds_up(self) -> bool:
        """Each loop by itself is proved regular, and their ranks sum up to that of all."""
        parts = self.system.parts() if isinstance(self.system, LoopSystem) else []
        if len(parts) < 2 or sum(Germ(part).rank for part in parts) != self.germ.rank:
            return False
        verdicts = (verdict(part, self.limit, self.seed) for part in parts)
        return all(part.status == "regular" and part.is_proved for part in verdicts)

    def _full_row_rank(self) -> str:
        if self.germ.rank == self.system.size:
            return "full row rank: the implicit function theorem"
        assert isinstance(self.system, LoopSystem)
        sizes = ", ".join(map(str, self.system.group_dimensions()))
        return (
            f"full rank within the groups of motions of the loops (dimension {sizes}): "
            "the implicit function theorem there"
        )

    def _obstruction(self, order: int) -> int | None:
        """The order at which the leftover equations stop a random path; None if they do not."""
        ring = Series(self.system.p, order)
        t = [ring.of([0, v]) for v in self.germ.direction(self.seed)]
        if self.germ.rank > LARGE and self.path:  # the inverse as a series would take long
            self.path = self.germ.lift(ring, t, start=self.path)
        else:
            self.path = self.germ.lift(ring, t, short=self.path)
        h = self.germ.leftover(ring, self.path)
        least = min((valuation(f, order) for f in h), default=order)
        return least if least < order else None

    def _moving(self) -> Verdict:
        """No obstruction at low order: on to the order that proves, if it is within reach."""
        d = self.germ.dimension
        bound = self.system.bound(self.germ.rows)
        order = bound + 1 if bound is not None and bound < self.limit else self._evidence()
        stopped = self._obstruction(order)
        if stopped is not None:
            return self._stopped(stopped)
        if bound is not None and order > bound:
            proof = f"a path satisfies every equation to order {order} > {bound} (Bézout)"
            return self.result(d, d, "regular", proof, order=order, bound=bound)
        if bound is None or not isinstance(self.system, LoopSystem):
            why = TRANSCENDENTAL if bound is None else NO_BOUND
            proof = f"a path satisfies every equation to order {order}; {why}"
            return self.result(d, d, "regular", proof, is_proved=False, order=order, bound=bound)
        return self._on_curve(order)

    def _on_curve(self, order: int) -> Verdict:
        """Whether the path lies on an algebraic curve of low degree, which proves it."""
        d, system = self.germ.dimension, self.system
        assert isinstance(system, LoopSystem)
        need: int | None = order
        while need is not None and need <= self.limit:
            if need > order:
                order = need
                stopped = self._obstruction(order)
                if stopped is not None:
                    return self._stopped(stopped)
            proof = proof_of(self.path, Series(system.p, order), system.groups_of_columns())
            need = None if proof is None else proof.order
            if proof is None and 2 * order <= self._patience():
                need = 2 * order
            elif proof is not None and proof.order <= order:
                return self.result(d, d, "regular", _on_curve(order, proof), order=order,
                                   bound=proof.order - 1)  # fmt: skip
        why = NO_CURVE if need is None else FAR.format(need)
        text = f"a path satisfies every equation to order {order}; {why}"
        return self.result(d, d, "regular", text, is_proved=False, order=order)

    def _patience(self) -> int:
        """The highest order at which a curve is looked for."""
        size = self.system.n * max(1, self.system.size)
        return min(self.limit, 512 if size <= 600 else 256 if size <= 2000 else 64)

    def _evidence(self) -> int:
        """An order that is quick: long for small systems."""
        size = self.system.n * max(1, self.system.size)
        return min(self.limit, 120 if size <= 150 else 48 if size <= 600 else 16)

    def _stopped(self, order: int) -> Verdict:
        """The path is obstructed: bounds from slices, deflation and branches."""
        germ = self.germ
        H = hessians(germ)
        deflated = deflation(germ, H)
        least = self.least
        low = max(least, deflated.dimension if deflated.holds else 0)
        high, times = upper_bound(germ, low, self.seed)
        facts: dict[str, object] = {"obstruction": order, "multiplicity": times}
        if high == 0:
            proof = f"isolated, of multiplicity {times} (Nakayama); obstructed at order {order}"
            return self.result(0, 0, "shaky", proof, **facts)
        if high == low and deflated.holds and deflated.dimension == high:
            proof = (
                f"at most {high} by a slice of multiplicity {times} (Nakayama); at least {low} by "
                f"a deflated path to order {deflated.order}"
            )
            if least == high:
                proof = proof.partition("; ")[0] + "; " + self._reason()
            facts |= {"order": deflated.order, "is_proved": least == high}
            return self.result(low, high, "non-reduced", proof, **facts)
        return self._branched(least, high, facts)

    def _branched(self, least: int, high: int, facts: dict[str, object]) -> Verdict:
        bound = self.system.bound(self.germ.rows, self.germ.dimension - high)
        order = bound + 1 if bound is not None and bound <= 130 else 24
        branch_list = tuple(branches(self.germ, high, order))
        text = f"at most {high} by a slice of multiplicity {facts['multiplicity']} (Nakayama)"
        if not branch_list:
            low = least if least < high else high
            status = "undecided" if low < high else "bifurcation"
            return self.result(low, high, status, text, **facts)
        proved = bound is not None and order > bound
        word = f"> {bound} (Bézout)" if proved else "reached"
        if bound is not None and not proved and any(self._closes(b) for b in branch_list):
            proved, word = True, "beyond the zeros on its curve (as many zeros as poles)"
        ranks = ", ".join(str(branch.rank) for branch in branch_list)
        count = "1 branch" if len(branch_list) == 1 else f"{len(branch_list)} branches"
        text += f"; {count} followed to order {order} {word}, of rank {ranks}"
        facts |= {"branches": branch_list, "order": order, "bound": bound}
        facts["is_proved"] = proved or least == high
        return self.result(high, high, "bifurcation", text, **facts)

    def _closes(self, branch: Branch) -> bool:
        """Every equation, those of the slice too, vanishes on the whole branch."""
        if not isinstance(self.system, LoopSystem):
            return False
        ring = Series(self.system.p, branch.order)
        path = [x.truncate(branch.order) for x in branch.path]
        proof = proof_of(path, ring, [*self.system.groups_of_columns(), self.germ.free])
        return proof is not None and proof.order <= branch.order


def _on_curve(order: int, proof: Proof) -> str:
    return (
        f"a path lies on {proof.words} on which no equation that is not 0 has more than "
        f"{proof.order - 1} zeros, and satisfies every equation to order {order} (as many zeros as "
        "poles)"
    )


def verdict(system: System, order: int = ORDER, seed: int = 1) -> Verdict:
    """Examines a system modulo its prime.

    Args:
        system: with its known solution x = 0.
        order: highest order of series computed.
        seed: of directions, slices and points.
    """
    return _Case(system, order, seed).examined()
