"""Derivatives of forward dynamics of a tree by sweeps, bodies and columns beside each other.

    ∂v̇ = −M⁻¹ ∂(M v̇ + h − τ)                                                     (tree-1)

All is seen from the first node of the tree (`equations.sweeps.common_frame`). What belongs to one
body or one velocity is computed for eight of them at once; sums along branches, the elimination of
M and v̇ as single numbers; then columns of one limb together: their right-hand sides are zero
outside of the limb and what carries it, so that the inward half of the elimination is short.

Elimination of the mass matrix of a tree run by run, many entries of a row at once.

A run is a row of velocities each of which carries the next; a are the velocities that carry it.

    K_r = −M_rr⁻¹ M_ra,   M_aa := M_aa + M_raᵀ K_r,   outermost runs first
    b_a := b_a + K_rᵀ b_r,   x_r = M_rr⁻¹ b_r + K_r x_a                           (runs-1)

M_rr is eliminated as single numbers; rows of K_r and of M_aa are vectors over a.

Source: RBDA §6.5 (sparsity of the mass matrix along branches).
Differs: blocks instead of single velocities.

Public names: tree_columns, runs, Run, Solver, eliminated.

Source: CM18, §III.
Differs: vectors over bodies and columns; M is eliminated once and never inverted by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from liaison.equations.sweeps.common_frame import (
    GROUND,
    Array,
    Swept,
    Tree,
    act_motion,
    apply_inertia,
    array,
    body_terms,
    cross_force,
    cross_motion,
    dot,
    inertia_slope,
    momentum_slope,
    move_inertia,
    own_changes,
    product,
    seen,
    times,
    zeros,
)
from liaison.expr import ONE, ZERO, Expr, as_expr, select, vanishes
from liaison.program.solve import Factor, Saddle, factor

from .columns import Blocks
from .stages import WIDEST, Call, Component, Draft, Result, Stages, padded


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


Entries: TypeAlias = Mapping[tuple[int, int], Expr]

LOWER = ((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))


def tree_columns(
    swept: Swept,
    tau: Sequence[Expr],
    slopes: Mapping[str, Entries],
    widths: Mapping[str, int],
    written_out: Callable[[], Blocks],
) -> Stages:
    """∂v̇ by each of the names.

    Args:
        swept: the tree.
        tau: generalized forces of loads.
        slopes: name -> ∂τ by it; nothing of "tau".
        widths: name -> columns, in order.
        written_out: the same as formulas.
    """
    arranged = _Arranged(swept, tau)
    arranged.sweep()
    for name in widths:
        if name not in ("q", "v", "tau"):
            arranged.load_columns(name, slopes[name], widths[name], list(widths))
    for first, count in runs(swept.kinematics.tree):
        arranged.solve(first, count, slopes, list(widths))
    nv = swept.kinematics.tree.nv
    layout = [(f"vdot_{name}", nv * width) for name, width in widths.items()]
    layout += [(f"lam_{name}", 0) for name in widths]
    return arranged.draft.stages(layout, written_out)


def runs(tree: Tree) -> list[tuple[int, int]]:
    """Columns that are computed together, (first, count): those of one limb, in a row."""
    carried = [0] * len(tree.nodes)
    for node in tree.nodes:
        if node.parent != GROUND:
            carried[node.parent] += 1
    listed: list[tuple[int, int]] = []
    last = GROUND
    for i, node in enumerate(tree.nodes):
        if node.v.start == node.v.stop:
            continue
        for k in range(node.v.start, node.v.stop):
            goes_on = k > node.v.start or (
                node.parent == last != GROUND and carried[node.parent] == 1
            )
            if listed and goes_on and listed[-1][1] < WIDEST:
                listed[-1] = (listed[-1][0], listed[-1][1] + 1)
            else:
                listed.append((k, 1))
        last = i
    return listed


class _Arranged:
    """The stages of one tree while they are put together."""

    def __init__(self, swept: Swept, tau: Sequence[Expr]) -> None:
        self.swept, self.tau = swept, tau
        self.kinematics, self.nodes = swept.kinematics, swept.kinematics.tree.nodes
        self.nv = swept.kinematics.tree.nv
        self.draft = Draft()
        self.width = padded(self.nv) + WIDEST
        self.owner = [i for i, node in enumerate(self.nodes) for _ in range(*_span(node.v))]
        self.carriers = self._carriers()
        self.own: dict[tuple[int, int], Expr] = {}  # −∂τ of S(q) of the joint itself

    def _carriers(self) -> list[set[int]]:
        """By node: those that carry it."""
        carriers: list[set[int]] = []
        for node in self.nodes:
            above = carriers[node.parent] | {node.parent} if node.parent != GROUND else set()
            carriers.append(above)
        return carriers

    def kept(self, rows: Sequence[Any]) -> tuple[Array, Array]:
        """A quantity of every velocity, arrays of one shape: lanes, and entries row by row.

        None stands for what nobody reads.
        """
        shape = next(np.shape(row) for row in rows if row is not None)
        nothing = (None,) * int(np.prod(shape))
        flat = [nothing if row is None else tuple(np.array(row).flat) for row in rows]
        listed = [
            self.draft.kept([None if x is None else as_expr(x) for x in column], self.width)
            for column in zip(*flat, strict=True)
        ]
        return self.shaped(listed, shape)

    def along(self, formulas: Array) -> tuple[Array, Array]:
        """Formulas of lanes, computed for all of them: lanes and entries."""
        kept = self.draft.along([as_expr(x) for x in formulas.flat], self.width, self.nv)
        return self.shaped(kept, formulas.shape)

    def shaped(self, kept: Sequence[Component], shape: tuple[int, ...]) -> tuple[Array, Array]:
        """Lanes and entries of components."""
        lanes = np.array([component.lanes for component in kept], dtype=object)
        rows = [component.entries[: self.nv] for component in kept]
        entries = np.array(rows, dtype=object).reshape(len(kept), self.nv).T
        return lanes.reshape(shape), entries.reshape(self.nv, *shape)

    def of_nodes(self, values: Sequence[Any], *, once: bool = False) -> list[Any]:
        """What nodes have, for each velocity, or for the first one of a node only."""
        starts = {node.v.start for node in self.nodes}
        return [None if once and k not in starts else values[i] for k, i in enumerate(self.owner)]

    def before(self, values: Sequence[Any], at_ground: Callable[[int], Any]) -> list[Any]:
        """What parents have, for each velocity; the ground for a first node."""
        parents = [(i, self.nodes[i].parent) for i in self.owner]
        return [at_ground(i) if k == GROUND else values[k] for i, k in parents]

    def outwards(
        self, at_ground: Callable[[int], Array], own: Sequence[Array], rows: Array, rates: Any
    ) -> list[Array]:
        """Sums along branches of what nodes have, and of rows times rates, for each node."""
        totals: list[Array] = []
        for i, node in enumerate(self.nodes):
            total = at_ground(i) if node.parent == GROUND else totals[node.parent]
            total = total + own[i]
            for k in range(*_span(node.v)):
                total = total + array([times(x, rates[k]) for x in rows[k]])
            totals.append(total)
        return totals

    def sweep(self) -> None:
        """All that columns need."""
        self.moving()
        self.inertias()
        self.eliminated()
        self.changes()

    def moving(self) -> None:
        """Positions, S, twists."""
        views = self.views = seen(self.swept)
        single = self.draft.single
        self.falls = {
            i: array([single(as_expr(x)) for x in views[i].fall])
            for i, node in enumerate(self.nodes)
            if node.parent == GROUND
        }
        self.bias_of = [array([single(as_expr(x)) for x in view.bias]) for view in views]
        self.R, R_of = self.kept(self.of_nodes([view.pose[0] for view in views]))
        self.p, p_of = self.kept(self.of_nodes([view.pose[1] for view in views]))
        own = [self.kinematics.subspace(i) for i in range(len(self.nodes))]
        S, own_of = self.kept([x[:, k] for x in own for k in range(x.shape[1])])
        self.S, self.S_of = self.along(act_motion(self.R, self.p, S))
        for k, i in enumerate(self.owner):
            if self.nodes[i].parent == GROUND:  # seen from itself
                self.S_of[k] = own_of[k]
        speeds = self.kinematics.v
        self.nothing = [zeros(6)] * len(self.nodes)
        V = self.outwards(lambda i: zeros(6), self.nothing, self.S_of, speeds)
        before = self.before(V, lambda i: zeros(6))
        self.V, self.V_before = self.kept(self.of_nodes(V))[0], self.kept(before)[0]
        self.own_changes([(R_of[node.v.start], p_of[node.v.start]) for node in self.nodes], before)

    def own_changes(self, poses: Sequence[tuple[Array, Array]], before: Sequence[Array]) -> None:
        """w, β, and what ψ' has besides, of joints whose S depends on q; see slopes-2.

        What goes with velocities is kept here; ∂S, for v̇, by column.
        """
        speeds = self.kinematics.v
        w, rates, spread = [], [], []
        self.slid: list[list[list[Expr]]] = []
        changes = [x for i in range(len(self.nodes)) for x in own_changes(self.kinematics, i)]
        for k, (i, change) in enumerate(zip(self.owner, changes, strict=True)):
            node, pose = self.nodes[i], poses[i]
            own = act_motion(*pose, product(change.S, speeds[node.v]))
            joint = before[k] + before[k] + self.twist(node)
            w.append(own)
            rates.append(act_motion(*pose, change.by_rate))
            spread.append(act_motion(*pose, change.bias) + cross_motion(joint, own))
            moved = [act_motion(*pose, column) for column in change.S.T]
            self.slid.append([[self.draft.single(as_expr(x)) for x in c] for c in moved])
        self.w, self.rates, self.spread = (self.kept(x) for x in (w, rates, spread))

    def twist(self, node: Any) -> Array:
        """S v of a joint."""
        total = zeros(6)
        for k in range(*_span(node.v)):
            total = total + array([times(x, self.kinematics.v[k]) for x in self.S_of[k]])
        return total

    def inertias(self) -> None:
        """Inertias, momenta and forces of all that nodes carry, where v̇ = 0; rows of M."""
        own = [node.inertia for node in self.nodes]
        flat = [[x[0], *x[1], *(x[2][r, s] for r, s in LOWER)] for x in own]
        owned = self.kept(self.of_nodes(flat, once=True))[0]
        m, h, I = move_inertia(self.R, self.p, owned[0], owned[1:4], _full(owned[4:]))
        terms = body_terms(m, h, I, self.V)
        across = cross_motion(self.V_before, self.S)
        phi = across + cross_motion(self.V, self.S) + self.rates[0]
        listed = [*h, *(I[r, s] for r, s in LOWER), *terms.momentum, *terms.slope.flat]
        lanes, of = self.along(array([*listed, *terms.gyroscopic, *across, *phi]))
        self.across, self.phi, gyroscopic = lanes[27:33], lanes[33:], lanes[21:27]
        self.body = (owned[0], lanes[:3], _full(lanes[3:9]), gyroscopic)
        fallen = self.outwards(
            lambda i: self.falls[i], self.bias_of, of[:, 27:33], self.kinematics.v
        )
        still, self.still_of = self.kept(self.of_nodes(fallen, once=True))
        forces = self.along(self.required(still))[1]
        sums = [[*of[node.v.start][:21], *forces[node.v.start]] for node in self.nodes]
        kept = self.kept(self.of_nodes(self.carried(sums)))[0]
        mass = self.kept(self.of_nodes(self.carried([[x[0]] for x in own])))[0][0]
        self.total = (mass, kept[:3], _full(kept[3:9]))
        self.momentum, self.slope = kept[9:12], kept[12:21].reshape(3, 3)
        self.mass_rows(kept[21:])

    def required(self, acceleration: Array) -> Array:
        """The wrench that each body needs."""
        m, h, I, gyroscopic = self.body
        return apply_inertia(m, h, I, acceleration) + gyroscopic

    def mass_rows(self, force: Array) -> None:
        """Rows of M and of 2 B, and the generalized forces where v̇ = 0."""
        wrench = apply_inertia(*self.total, self.S)
        row = inertia_slope(self.slope, self.momentum, self.S)
        listed = [*wrench, dot(self.S, force), *(-as_expr(x) for x in (*row, *wrench))]
        entries = self.along(array(listed))[1]
        self.wrenches, self.bias, self.rows = entries[:, :6], entries[:, 6], entries[:, 7:]

    def carried(self, own: Sequence[Any]) -> list[Array]:
        """Sums over all that each node carries, itself included."""
        totals = [array(list(x)) for x in own]
        for i in range(len(self.nodes) - 1, -1, -1):
            if self.nodes[i].parent != GROUND:
                totals[self.nodes[i].parent] = totals[self.nodes[i].parent] + totals[i]
        return totals

    def eliminated(self) -> None:
        """M by runs, v̇, and accelerations."""
        M: dict[tuple[int, int], Expr] = {}
        for j in range(self.nv):
            near = self.carriers[self.owner[j]] | {self.owner[j]}
            for i in range(j + 1):
                if self.owner[i] in near:
                    M[j, i] = as_expr(dot(self.S_of[i], self.wrenches[j]))
        labels = [label.name for label in self.kinematics.tree.velocity_labels()]
        self.solver = eliminated(self.draft, M, runs(self.kinematics.tree), labels)
        self.draft.flush()
        f = [force - bias for force, bias in zip(self.tau, self.bias, strict=True)]
        self.accelerated(self.solver.solve(f))

    def accelerated(self, vdot: Sequence[Expr]) -> None:
        """Accelerations of nodes and of parents."""
        more = self.outwards(lambda i: zeros(6), self.nothing, self.S_of, vdot)
        A = [self.still_of[n.v.start] + x for n, x in zip(self.nodes, more, strict=True)]
        self.A = self.kept(self.of_nodes(A, once=True))[0]
        self.A_before = self.kept(self.before(A, lambda i: self.falls[i]))[0]
        spread = []
        for k, rest in enumerate(self.spread[1]):
            total = array(list(rest))
            for column, rate in zip(self.slid[k], vdot[self.nodes[self.owner[k]].v], strict=True):
                total = total + array([times(x, rate) for x in column])
            spread.append(total)
        self.rest = self.kept(spread)[0]

    def changes(self) -> None:
        """ψ, ψ' and ∂F of every column, forces taken off."""
        forces = self.along(self.required(self.A))[1]
        totals = self.carried([forces[node.v.start] for node in self.nodes])
        wrench, wrench_of = self.kept(self.of_nodes(totals))
        psi = self.across + self.w[0]
        again = cross_motion(self.A_before, self.S) + cross_motion(self.V_before, self.across)
        again = again + self.rest
        by_q = cross_force(self.S, wrench) + apply_inertia(*self.total, again)
        by_q = by_q + momentum_slope(self.slope, self.momentum, psi[:3])
        by_v = apply_inertia(*self.total, self.phi)
        by_v = by_v + momentum_slope(self.slope, self.momentum, self.S[:3])
        less = [-as_expr(x) for x in (*by_q, *by_v)]
        kept = self.along(array([*less, *psi[:3], *again]))[0]
        self.inward = {"q": kept[:6], "v": kept[6:12]}
        self.outward = {"q": kept[12:21], "v": array([*self.S[:3], *self.phi])}
        for k, columns in enumerate(self.slid):
            node = self.nodes[self.owner[k]]
            for n, column in enumerate(columns):
                change = as_expr(dot(column, wrench_of[k]))
                if not vanishes(change):
                    self.own[node.v.start + n, k] = -change

    def solve(
        self, first: int, count: int, slopes: Mapping[str, Entries], names: Sequence[str]
    ) -> None:
        """The columns of one run, of every name they have."""
        own = {name: dict(slopes.get(name, {})) for name in ("q", "v")}
        for key, change in self.own.items():
            own["q"][key] = own["q"].get(key, ZERO) + change
        listed = [name for name in ("q", "v", "tau") if name in names]
        places = {name: k * self.nv**2 for k, name in enumerate(names)}
        if self.floats(first, count, own):
            listed = self.floating(first, count, listed, places)
        rights = {name: self.right(name, first, count, own.get(name, {})) for name in listed}
        pattern = sorted({i for rows in rights.values() for i in rows})
        target = {i: self.draft.room(WIDEST) for i in pattern}
        together = max(1, WIDEST // count)  # names whose columns fit beside each other
        parts = [listed[k : k + together] for k in range(0, len(listed), together)]
        solve = -1
        for part in parts:
            for k, name in enumerate(part):
                written = [(target[i] + k * count, rights[name].get(i, ZERO)) for i in pattern]
                index = self.draft.function(written, first=first, lanes=count)
                self.draft.calls.append(Call(index))
            spans = [(k * self.nv**2 + first, k * count, count) for k in range(len(part))]
            if solve < 0 or len(part) < len(parts[0]):
                solve = self.solution(target, spans, len(part) * count, self.nv)
            self.draft.calls.append(Call(solve, 0, places[part[0]]))

    def floats(self, first: int, count: int, own: Mapping[str, Entries]) -> bool:
        """Whether a run is a free body that nothing but gravity holds: S = 1, no load depends."""
        node = self.nodes[self.owner[first]]
        here = range(first, first + count)
        is_free = node.parent == GROUND and _span(node.v) == (first, first + count) and count == 6
        is_unit = is_free and all(
            self.S_of[first + k][n] is (ONE if k == n else ZERO) for k in range(6) for n in range(6)
        )
        return is_unit and not any(j in here for entries in own.values() for _, j in entries)

    def floating(
        self, first: int, count: int, names: Sequence[str], places: Mapping[str, int]
    ) -> list[str]:
        """Columns of a free first body, as far as its own accelerations alone answer them.

        A change of acceleration that all bodies share, ψ' or φ, is answered by the first body's
        v̇: S_iᵀ I ψ' is the row of M. What is left of ∂/∂v is 2 B η of its three turns.
        """
        for name in names:
            if name == "tau":
                continue
            lanes = [-as_expr(x) for x in self.outward[name][3:]]
            rows = [lanes[i - first] if first <= i < first + 6 else ZERO for i in range(self.nv)]
            start = 0 if name == "q" else 3
            results = [
                Result(places[name] + i * self.nv + first + start, row, start, 6 - start)
                for i, row in enumerate(rows)
            ]
            self.draft.calls.append(
                Call(self.draft.function([], results, first=first, lanes=WIDEST))
            )
        if "v" in names:
            turns = self.S[:3]
            written = {
                i: as_expr(dot(self.rows[i][:3], turns))
                for i in range(self.nv)
                if self.owner[first] == self.owner[i]
                or self.owner[first] in self.carriers[self.owner[i]]
            }
            target = {i: self.draft.room(WIDEST) for i in written}
            index = self.draft.function(
                [(target[i], row) for i, row in written.items()], first=first, lanes=3
            )
            self.draft.calls.append(Call(index))
            more = {first + k: -as_expr(x) for k, x in enumerate(self.outward["v"][3:])}
            solve = self.solution(target, [(first, 0, 3)], 3, self.nv, (first, more))
            self.draft.calls.append(Call(solve, 0, places["v"]))
        return [name for name in names if name == "tau"]

    def load_columns(self, name: str, slopes: Entries, width: int, names: Sequence[str]) -> None:
        """Columns of loads alone: of inputs."""
        start = names.index(name) * self.nv**2
        for first in range(0, width, WIDEST):
            count = min(WIDEST, width - first)
            rows = self.loaded(slopes, first, count)
            target = {i: self.draft.room(WIDEST) for i in rows}
            written = [(target[i], row) for i, row in rows.items()]
            self.draft.calls.append(Call(self.draft.function(written, lanes=count)))
            solve = self.solution(target, [(first, 0, count)], count, width)
            self.draft.calls.append(Call(solve, 0, start))

    def loaded(self, slopes: Entries, first: int, count: int) -> dict[int, Expr]:
        """∂τ of some columns, row by row, as lanes."""
        rows: dict[int, Expr] = {}
        columns = range(first, first + count)
        for i in sorted({i for i, j in slopes if j in columns}):
            values = [slopes.get((i, j), ZERO) for j in columns]
            rows[i] = self.draft.kept(values, WIDEST, moves=False).lanes
        return rows

    def right(self, name: str, first: int, count: int, slopes: Entries) -> dict[int, Expr]:
        """Right-hand sides of a run of columns, row by row, zero where nothing is said."""
        columns = range(first, first + count)
        if name == "tau":
            units = {(k, k): ONE for k in columns}
            return self.loaded(units, first, count)
        rows = {}
        for i in range(self.nv):
            row = self.row(name, i, columns)
            if row is not ZERO:
                rows[i] = row
        for i, load in self.loaded(slopes, first, count).items():
            rows[i] = rows.get(i, ZERO) + load
        return rows

    def row(self, name: str, i: int, columns: range) -> Expr:
        """−∂(M v̇ + h) of row i: inwards of what it carries, outwards of what carries it."""
        node, owners = self.owner[i], [self.owner[j] for j in columns]
        inward = [node in self.carriers[k] for k in owners]
        outward = [node == k or k in self.carriers[node] for k in owners]
        value = ZERO
        if any(outward):
            value = as_expr(dot(self.rows[i], self.outward[name]))
            if not all(a or b for a, b in zip(inward, outward, strict=True)):
                value = select(self.mask(outward), value, ZERO)
        if any(inward):
            other = as_expr(dot(self.S_of[i], self.inward[name]))
            value = other if all(inward) else select(self.mask(inward), other, value)
        return value

    def mask(self, lanes: Sequence[bool]) -> Expr:
        """1 in some lanes."""
        values = [ONE if x else ZERO for x in lanes]
        return self.draft.kept(values, WIDEST, moves=False).lanes

    def solution(
        self,
        target: Mapping[int, int],
        spans: Sequence[tuple[int, int, int]],
        lanes: int,
        step: int,
        more: tuple[int, Mapping[int, Expr]] = (0, {}),
    ) -> int:
        """What solves for the rows at these places, zero elsewhere; spans of lanes go to `out`."""
        right = [self.draft.at(target[i]) if i in target else ZERO for i in range(self.nv)]
        x = self.solver.solve(right)
        first, added = more
        x = [value + added[i] if i in added else value for i, value in enumerate(x)]
        results = [
            Result(start + i * step, value, lane, count)
            for i, value in enumerate(x)
            for start, lane, count in spans
        ]
        return self.draft.function([], results, first=first, lanes=lanes)


def _span(part: slice) -> tuple[int, int]:
    return part.start, part.stop


def _full(lower: Array) -> Array:
    """A symmetric matrix from its lower triangle."""
    whole = zeros(3, 3)
    for (r, s), x in zip(LOWER, lower, strict=True):
        whole[r, s] = whole[s, r] = x
    return whole
