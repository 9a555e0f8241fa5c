"""Elimination of the mass matrix of a tree run by run, many entries of a row at once.

A run is a row of velocities each of which carries the next; a are the velocities that carry it.

    K_r = −M_rr⁻¹ M_ra,   M_aa := M_aa + M_raᵀ K_r,   outermost runs first
    b_a := b_a + K_rᵀ b_r,   x_r = M_rr⁻¹ b_r + K_r x_a                           (runs-1)

M_rr is eliminated as single numbers; rows of K_r and of M_aa are vectors over a.

Public names: Run, Solver, eliminated.

Source: RBDA §6.5 (sparsity of the mass matrix along branches).
Differs: blocks instead of single velocities.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import final

from liaison.expr import ZERO, Expr
from liaison.program.solve import Factor, Saddle, factor

from .stages import WIDEST, Draft


@final
@dataclass(frozen=True, slots=True)
class Run:
    """Velocities from `first` on, those that carry them, and M_rr⁻¹ and K_r as kept numbers."""

    first: int
    count: int
    above: tuple[int, ...]
    own: Factor
    K: tuple[tuple[Expr, ...], ...]  # by velocity: entries over `above`

    @property
    def velocities(self) -> range:
        """Of the run."""
        return range(self.first, self.first + self.count)


@final
@dataclass(frozen=True, slots=True)
class Solver:
    """M⁻¹ of a right-hand side, of numbers or of lanes."""

    runs: tuple[Run, ...]

    def solve(self, right: Sequence[Expr]) -> list[Expr]:
        """x of M x = b; what is zero in b costs nothing inwards."""
        b, x = list(right), [ZERO] * len(right)
        for run in reversed(self.runs):
            for k, row in zip(run.velocities, run.K, strict=True):
                if b[k] is not ZERO:
                    for i, entry in zip(run.above, row, strict=True):
                        b[i] = b[i] + entry * b[k]
        for run in self.runs:
            own = b[run.first : run.first + run.count]
            if any(value is not ZERO for value in own):
                own, _, _ = run.own.solve(own, [], refinements=0)
            for k, value, row in zip(run.velocities, own, run.K, strict=True):
                for i, entry in zip(run.above, row, strict=True):
                    if x[i] is not ZERO:
                        value = value + entry * x[i]
                x[k] = value
        return x


def eliminated(
    draft: Draft,
    M: Mapping[tuple[int, int], Expr],
    runs: Sequence[tuple[int, int]],
    names: Sequence[str],
) -> Solver:
    """The stages that eliminate M, appended to a draft, and what solves with their results.

    Args:
        draft: to which they are appended.
        M: the lower triangle, by its nonzeros.
        runs: (first, count) of each, those that carry others first.
        names: of the velocities.
    """
    entries, finished = dict(M), dict[int, Run]()
    home = {k: n for n, (first, count) in enumerate(runs) for k in range(first, first + count)}
    above = [tuple(i for i in range(first) if (first, i) in M) for first, _ in runs]
    waiting = [{n for n, a in enumerate(above) if a and home[a[-1]] == k} for k in range(len(runs))]
    while len(finished) < len(runs):
        ready = [n for n in range(len(runs)) if n not in finished and waiting[n] <= {*finished}]
        begun = [_begun(draft, entries, runs[n], above[n], names) for n in ready]
        for n, (own, rows) in zip(ready, begun, strict=True):
            finished[n] = _finished(draft, entries, runs[n], above[n], own, rows)
    return Solver(tuple(finished[n] for n in range(len(runs))))


Rows = list[list[tuple[Expr, tuple[Expr, ...]]]]
"""Of each chunk of `above`, by velocity: lanes and entries of M_ra."""


def _begun(
    draft: Draft,
    entries: Mapping[tuple[int, int], Expr],
    run: tuple[int, int],
    above: tuple[int, ...],
    names: Sequence[str],
) -> tuple[Factor, Rows]:
    """M_rr eliminated, and M_ra kept as lanes."""
    first, count = run
    square = {(i, j): entries[first + i, first + j] for i in range(count) for j in range(i + 1)}
    known = factor(Saddle(count, 0, square, {}), names[first : first + count])
    own = replace(
        known,
        columns=tuple({i: draft.single(x) for i, x in c.items()} for c in known.columns),
        reciprocals=tuple(draft.single(x) for x in known.reciprocals),
    )
    rows: Rows = []
    for start in range(0, len(above), WIDEST):
        part = above[start : start + WIDEST]
        kept = [
            draft.kept([entries[first + k, i] for i in part], WIDEST, moves=False)
            for k in range(count)
        ]
        rows.append([(row.lanes, row.entries) for row in kept])
    return own, rows


def _finished(
    draft: Draft,
    entries: dict[tuple[int, int], Expr],
    run: tuple[int, int],
    above: tuple[int, ...],
    own: Factor,
    rows: Rows,
) -> Run:
    """K_r, and M_aa with what the run adds."""
    first, count = run
    K: list[list[Expr]] = [[] for _ in range(count)]
    beside = [[x for chunk in rows for x in chunk[k][1]] for k in range(count)]
    for n, chunk in enumerate(rows):
        part = above[n * WIDEST : (n + 1) * WIDEST]
        solved, _, _ = own.solve([lanes for lanes, _ in chunk], [], refinements=0)
        answers = [-x for x in solved]
        sums = []
        for p in range(n * WIDEST, len(above)):
            total = ZERO
            for k in range(count):
                total = total + beside[k][p] * answers[k]
            sums.append(total)
        kept = draft.once([*answers, *sums], len(part))
        for k in range(count):
            K[k] += kept[k].entries
        for p, more in zip(range(n * WIDEST, len(above)), kept[count:], strict=True):
            for b, i in enumerate(part):
                if i <= above[p]:
                    key = above[p], i
                    entries[key] = entries[key] + more.entries[b]
    return Run(first, count, above, own, tuple(map(tuple, K)))
