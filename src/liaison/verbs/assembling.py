"""Starts of a mechanism assembled in compiled code, one or many, with parameters that vary.

Starts of closed mechanisms of many bodies, assembled by the loops of their kernel.

The same steps as `simulation/assembly.py`, on the same norm; what is dense there is sparse here.
Where they do not close, or a start lies near a change point, formulas are interpreted instead.

Public names: Assembling, Wanted, Origin, tree_keeping, attempt, of_run, row_of, shakes_of,
closed_start, is_obstructed_start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.equations.start_checks import LOOSE, OBSTRUCTED, is_completed
from liaison.equations.start_checks import TRIES as TRIALS
from liaison.equations.sweeps.classes import number
from liaison.equations.sweeps.sweeps import known_values
from liaison.errors import ArgumentError, AssemblyError, NamingError, SimulationError
from liaison.expr import Expr
from liaison.model.mechanism import Mechanism
from liaison.numeric import Array, State
from liaison.program.kernel import Kernel, MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.lower import lower
from liaison.simulation.assembly import (
    CLOSED,
    ITERATIONS,
    LONGEST,
    SHORTEST,
    SLOW,
    TOLERANCE,
    UNMOVED,
    Assembler,
    Rows,
)
from liaison.simulation.batch.plan import value_of
from liaison.simulation.loose_rows import LooseRows, SparseRows, loose_rows
from liaison.tree.assemble import STARTS, assemble, shake
from liaison.tree.reach import too_short
from liaison.tree.starts import EXACT, SMALL, Begin, Starts, check_attitudes, fixed_values
from liaison.tree.tree import GROUND, Tree, as_float, span
from liaison.units import FORCE
from liaison.verbs.given import with_starts

WEAK = 1e-5
"""Least part of a pivot beside its row, the square of what counts as a small singular value."""

FULL = 1e-10
"""The same from which on the rows are independent for certain."""

TRIES = 4
"""Places from which loops are closed before formulas are interpreted, which try more of them."""


def closed_start(
    tree: Tree,
    kernel: Kernel,
    start: Mapping[str, float],
    *,
    t: float,
    guess: Mapping[str, float] | None = None,
) -> State:
    """The consistent state near starts.

    Args:
        tree: of the mechanism.
        kernel: of its loops.
        start: positions and speeds that are held, by label, instead of the mechanism's own.
        t: the time [s].
        guess: positions and speeds that begin the search and may move.

    Raises:
        AssemblyError: no configuration satisfies the closures.
        NamingError: a label that there is none of.
    """
    starts = Starts(tree)
    fixed = fixed_values(tree, {}, t) if starts.take_values else {}
    begin = starts.begin(start, guess or {}, fixed)
    levels = (begin.held,) if begin.firm == begin.held else (begin.held, begin.firm)
    closing = _Closing(tree, kernel, t)
    q = _first(closing.positions(*starts.positions(begin, held, fixed)) for held in levels)
    if q is not None:
        v = _first(closing.velocities(q, *starts.speeds(begin, held)) for held in levels)
        if v is not None:
            labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
            return State(t, q, v, labels)
    elif impossible := too_short(tree, fixed or fixed_values(tree, {}, t)):
        raise impossible
    return assemble(tree, None, t=t, guess=guess, **start)


def _first(attempts: Any) -> Array | None:
    """The first attempt that came to something."""
    return next((x for x in attempts if x is not None), None)


class _Closing:
    """Entries of a kernel that close its loops."""

    def __init__(self, tree: Tree, kernel: Kernel, t: float) -> None:
        self.tree, self.kernel, self.t = tree, kernel, t
        self._known = known_values(tree, None)
        offsets = [as_float(x) for node in tree.nodes for x in node.X_PJ[1]]
        self.size = max([1.0, *(abs(float(x)) for x in offsets if isinstance(x, int | float))])

    def positions(self, first: Array, held: Any) -> Array | None:
        """q with Φ = 0 near a start, or None."""
        free = (~held).astype(float)
        nv = self.tree.nv
        for attempt in range(TRIES):
            q = first
            if attempt:
                q = self.kernel("retract", q=first, x=np.where(held, 0.0, shake(attempt, nv)))
            q, left = self._newton(q, free)
            if left <= TOLERANCE * self.size and self._is_upright(q):
                return q
        return None

    def _newton(self, q: Array, free: Array) -> tuple[Array, float]:
        """Gauss–Newton with the least step, shortened until |Φ| falls; and the largest |Φ|."""
        still = np.zeros(self.tree.nv)
        phi = self._phi(q)
        for _ in range(ITERATIONS):
            before = float(np.linalg.norm(phi))
            if not before > 0.0 or np.max(np.abs(phi)) <= UNMOVED * self.size or not free.any():
                break
            step = self.kernel.call("close_q", self.t, q=q, v=still, x=free)["delta"]
            moved = self._moved(q, step, before)
            if moved is None:
                break
            q, phi = moved
            if np.linalg.norm(phi) >= 0.5 * before and before < TOLERANCE:
                break
        return q, float(np.max(np.abs(phi), initial=0.0))

    def _moved(self, q: Array, step: Array, before: float) -> tuple[Array, Array] | None:
        scale = 1.0 / max(1.0, float(np.max(np.abs(step), initial=0.0)) / LONGEST)
        while np.isfinite(scale) and scale > SHORTEST:
            trial = self.kernel("retract", q=q, x=scale * step)
            phi = self._phi(trial)
            if np.linalg.norm(phi) < before:
                return trial, phi
            scale /= 2.0
        return None

    def _phi(self, q: Array) -> Array:
        still = np.zeros(self.tree.nv)
        return np.asarray(self.kernel.call("closure", self.t, q=q, v=still)["phi"])

    def velocities(self, q: Array, v: Array, held: Any) -> Array | None:
        """v with G v = ν near speeds; None where they clash, or the branch is not certain."""
        step = self.kernel.call("close_v", self.t, q=q, v=v, x=(~held).astype(float))
        v = v + step["delta"]
        rate = self.kernel.call("closure", self.t, q=q, v=v)["rate"]
        left = float(np.max(np.abs(rate), initial=0.0))
        if not left <= SLOW * max(1.0, float(np.max(np.abs(v), initial=0.0))):
            return None
        return v if step["weakest"][0] > WEAK or self._is_certain(q, v) else None

    def _is_certain(self, q: Array, v: Array) -> bool:
        """Whether the closures are no change point, nor near one: as `is_weak`, by sparse rows.

        At rest nothing depends on it.
        """
        if not np.any(v):
            return True
        sparse, values, length, _ = _rows_at(self.kernel, self.t, q, v)
        labels = self.kernel.program.labels
        lengths = np.array([x.unit == FORCE for x in labels["lam"]])
        slides = np.array([x.unit == "m/s" for x in labels["v"]])
        turned = np.where(sparse.of_columns(slides), 0.0, np.abs(values))
        unit = float(np.max(turned[sparse.of_rows(lengths)], initial=0.0)) or 1.0
        alike = values * sparse.of_columns(np.where(slides, unit, 1.0))
        alike = sparse.scaled(alike, np.where(lengths, 1.0 / unit, 1.0))
        small = sparse.below(alike, SMALL**2 * sparse.largest_eigenvalue(alike))
        unmoved = np.where(length > EXACT * np.max(length), length, np.inf)
        begins, _, _ = sparse.null_vectors(sparse.scaled(values, 1.0 / unmoved), EXACT)
        return small <= len(begins) - 1

    def _is_upright(self, q: Array) -> bool:
        """No joint is put together the wrong way round."""
        poses = self.kernel.call("poses", q=q, v=np.zeros(self.tree.nv))
        for closure in self.tree.closures:
            (R_F, p_F), (R_M, p_M) = (
                self._pose(poses, *place) for place in (closure.predecessor, closure.successor)
            )
            positive = closure.joint.type.positive(R_F.T @ R_M, R_F.T @ (p_M - p_F))
            if not np.all(self._numbers(positive) > 0.0):
                return False
        return True

    def _pose(self, poses: Mapping[str, Array], node: int, marker: Any) -> tuple[Array, Array]:
        """A marker on a node, in the ground."""
        R, p = (self._numbers(part.flat) for part in marker)
        R = R.reshape(3, 3)
        if node == GROUND:
            return R, p
        body = self.tree.nodes[node].body
        R_NB, p_NB = (self._numbers(part.flat) for part in self.tree.frames[body][1])
        R_B, p_B = poses[body][:9].reshape(3, 3), poses[body][9:]
        R_N = R_B @ R_NB.reshape(3, 3).T
        return R_N @ R, p_B - R_N @ p_NB + R_N @ p

    def _numbers(self, formulas: Iterable[Any]) -> Array:
        """Numbers of a marker or a joint type, which may be formulas of parameters."""
        return np.array([float(number(x, self._known)) for x in formulas])


def is_obstructed_start(kernel: Kernel, state: State) -> bool:
    """True if some velocity that the closures allow at a state leads nowhere, by (analysis-7).

    Looked at where rows depend on each other.
    """
    ones, v = np.ones(len(state.v)), np.asarray(state.v)
    weakest = kernel.call("close_v", t=state.t, q=state.q, v=v, x=ones)["weakest"][0]
    if weakest > FULL:
        return False
    sparse, values, length, _ = _rows_at(kernel, state.t, state.q, v)
    longest = float(np.max(length))
    scale = np.where(length > LOOSE * longest, length, max(1.0, longest))
    loose = loose_rows(sparse, values[None], scale[None], LOOSE)
    if not loose or len(length) - len(loose[0].begins) + 1 == len(v):
        return False
    speed = max(1.0, float(np.linalg.norm(v)))
    for draw in np.random.default_rng(0).normal(size=(TRIALS, len(v))):
        faster = v + speed * _allowed(kernel, state, draw)
        gamma = _rows_at(kernel, state.t, state.q, faster)[3]
        if _misses(loose[0], gamma, speed):
            return True
    return False


def _rows_at(
    kernel: Kernel, t: float, q: Array, v: Array
) -> tuple[SparseRows, Array, Array, Array]:
    """G at a state: its loops, its sorted numbers, the lengths of its rows; and γ."""
    out = kernel.call("rows", t, q=q, v=v)
    sparse = SparseRows(kernel)
    values = sparse.sorted(out["G"][None])
    return sparse, values[0], sparse.lengths(values)[0], out["gamma"]


def _allowed(kernel: Kernel, state: State, draw: Array) -> Array:
    """The part of a velocity that the closures allow, where they do not move themselves."""
    ones, still = np.ones(len(draw)), np.zeros(len(draw))
    steps = [
        kernel.call("close_v", state.t, q=state.q, v=x, x=ones)["delta"] for x in (draw, still)
    ]
    return np.asarray(draw + steps[0] - steps[1])


def _misses(loose: LooseRows, gamma: Array, speed: float) -> bool:
    """Whether γ along a velocity has a part that no acceleration meets, as `is_obstructed_by`."""
    parts = loose.values[0] * gamma[loose.rows]
    part = np.abs(np.add.reduceat(parts, loose.begins[:-1]))
    size = np.add.reduceat(np.abs(parts), loose.begins[:-1])
    return bool(np.any(part > OBSTRUCTED * (size + speed**2 * LOOSE)))


@final
@dataclass(frozen=True, slots=True)
class Wanted:
    """What to assemble from: numbers hold for all rows, arrays have one for each.

    Attributes:
        start: positions and speeds that are held, by label, instead of the mechanism's own.
        guess: positions and speeds that begin the search and may move.
        parameters: values by name, in SI.
        t: the time [s].
    """

    start: Mapping[str, Any]
    guess: Mapping[str, Any]
    parameters: Mapping[str, Any]
    t: float = 0.0

    def row(self, k: int) -> Wanted:
        """Those of row k."""
        return Wanted(
            row_of(self.start, k), row_of(self.guess, k), row_of(self.parameters, k), self.t
        )


@final
class Assembling:
    """Assembles one tree again and again, as `tree.assemble` does, in some microseconds each.

    Args:
        tree: of a mechanism.
        kernel: machine code of its equations.
    """

    def __init__(self, tree: Tree, kernel: Kernel) -> None:
        self.tree = tree
        self.starts = Starts(tree)
        self._labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
        self._defaults = kernel.program.defaults
        self._parameters = [label.name for label in kernel.program.labels.get("p", ())]
        if is_completed(kernel.program.labels["lam"]):
            # relations that were added to the closures hold speeds, and are met in the run
            kernel = to_llvm(lower(newton_euler(tree)), portable=kernel.portable)
        self._assembler = Assembler(kernel, shakes_of(tree.nv))

    def state(
        self,
        start: Mapping[str, float] | None = None,
        guess: Mapping[str, float] | None = None,
        parameters: Mapping[str, float] | None = None,
        *,
        t: float = 0.0,
    ) -> State:
        """The consistent state near starts and guesses; the arguments are those of `Wanted`.

        Raises:
            AssemblyError: no configuration satisfies the closures.
            NamingError: a label or a parameter that there is none of.
        """
        return self.states(Wanted(start or {}, guess or {}, parameters or {}, t), 1)[0]

    def states(self, wanted: Wanted, rows: int) -> list[State]:
        """The same for many rows; an error names its row, as run k."""
        listed: list[State] = []
        for k, x in enumerate(self.attempts(wanted, rows)):
            if isinstance(x, AssemblyError):
                raise of_run(x, k) if rows > 1 else x
            listed.append(x)
        return listed

    def attempts(self, wanted: Wanted, rows: int) -> Iterator[State | AssemblyError]:
        """The state of each row, or the error that says why there is none."""
        closed, errors = self.rows(wanted, rows)
        for k in range(rows):
            x = errors.get(k) or State(wanted.t, closed.q[k], closed.v[k], self._labels)
            yield x

    def rows(self, wanted: Wanted, rows: int) -> tuple[Rows, dict[int, AssemblyError]]:
        """Arrays of all states, and the errors that say why some rows have none, by row.

        A row whose compiled attempt fails is assembled again by interpreted formulas, which close
        it or say why it cannot be.
        """
        begin, fixed = self._begin(wanted.row(0))
        levels = (begin.held,) if begin.firm == begin.held else (begin.held, begin.firm)
        of_q = [self.starts.positions(begin, x, fixed)[1] for x in levels]
        of_v = [self.starts.speeds(begin, x)[1] for x in levels]
        q, v = self._filled(wanted, begin, fixed, levels, rows)
        u = np.tile(self._defaults["u"], (rows, 1))
        p = self._table(wanted.parameters, rows)
        closed = self._assembler(wanted.t, q, v, u, p, np.array([of_q, of_v]))
        errors: dict[int, AssemblyError] = {}
        for k in np.flatnonzero(closed.status != CLOSED).tolist():
            x = attempt(self.tree, wanted.row(k))
            if isinstance(x, AssemblyError):
                errors[k] = x
            else:
                closed.q[k], closed.v[k] = x.q, x.v
        return closed, errors

    def _begin(self, wanted: Wanted) -> tuple[Begin, Mapping[Expr, float]]:
        fixed: Mapping[Expr, float] = {}
        if self.starts.take_values:
            fixed = fixed_values(self.tree, wanted.parameters, wanted.t)
        return self.starts.begin(wanted.start, wanted.guess, fixed), fixed

    def _filled(
        self,
        wanted: Wanted,
        begin: Begin,
        fixed: Mapping[Expr, float],
        levels: tuple[frozenset[str], ...],
        rows: int,
    ) -> tuple[Array, NDArray[np.float64]]:
        """Where the search begins in every row, and the speeds that each level begins with."""
        q = np.tile(self.starts.positions(begin, begin.held, fixed)[0], (rows, 1))
        v = np.tile([self.starts.speeds(begin, x)[0] for x in levels], (rows, 1, 1))
        varying = {k: x for k, x in {**wanted.start, **wanted.guess}.items() if np.ndim(x)}
        others = {k for k, x in wanted.parameters.items() if np.ndim(x)}
        is_alike = not (self._is_curved(varying) or self.starts.vary(begin, varying, others))
        if self.starts.are_numbers and is_alike:
            self._fill(q, v, varying, begin, levels)
            return q, v
        for k in range(1, rows):
            other, values = self._begin(wanted.row(k))
            q[k] = self.starts.positions(other, other.held, values)[0]
            v[k] = [self.starts.speeds(other, x)[0] for x in levels]
        return q, v

    def _fill(
        self,
        q: Array,
        v: NDArray[np.float64],
        varying: Mapping[str, Any],
        begin: Begin,
        levels: tuple[frozenset[str], ...],
    ) -> None:
        """Columns of the labels that vary."""
        for name, values in varying.items():
            numbers = np.asarray(values, dtype=float)
            if not np.all(np.isfinite(numbers)):
                k = int(np.argmax(~np.isfinite(numbers)))
                raise SimulationError(f"start {name!r} is {numbers[k]} in run {k}.")
            if name in self.starts.q_names:
                q[:, self.starts.q_names.index(name)] = numbers
                continue
            for level, held in enumerate(levels):
                if name in held or name not in begin.held:
                    v[:, level, self.starts.v_names.index(name)] = numbers

    def _is_curved(self, varying: Mapping[str, Any]) -> bool:
        """Whether a label that varies is of a joint whose positions are made unit."""
        return any(
            name in self.starts.q_names[node.q]
            for node in self.tree.nodes
            if node.joint.type.nq != node.joint.type.nv
            for name in varying
        )

    def _table(self, parameters: Mapping[str, Any], rows: int) -> Array:
        """Rows of parameters."""
        table = np.tile(self._defaults["p"], (rows, 1))
        for name, values in parameters.items():
            if name not in self._parameters:
                raise NamingError.unknown("parameter", name, self._parameters)
            table[:, self._parameters.index(name)] = np.asarray(values, dtype=float)
        return table


@final
class Origin:
    """What a kernel was compiled from: it assembles starts of the kernel's runs.

    Args:
        mechanism: that was derived.
        has_closures: the kernel has the closures of the spanning tree; equations of other
            formalisms may have eliminated them.
    """

    def __init__(self, mechanism: Mechanism, has_closures: bool) -> None:
        self.mechanism, self._has_closures = mechanism, has_closures
        self._assembling: Assembling | None = None  # made when it is first used

    def __reduce__(self) -> tuple[type[Origin], tuple[Mechanism, bool]]:
        """Without what was compiled."""
        return Origin, (self.mechanism, self._has_closures)

    @cached_property
    def _tree(self) -> Tree:
        return span(self.mechanism)

    def state(
        self,
        kernel: Kernel,
        start: Mapping[str, float] | None,
        guess: Mapping[str, float] | None,
        parameters: Mapping[str, float] | None,
    ) -> State:
        """Where a run of the kernel starts; the other arguments are those of `Wanted`.

        Raises:
            ArgumentError: the kernel has other coordinates than the mechanism's spanning tree.
            AssemblyError: no configuration satisfies the closures, or angles are singular there.
        """
        self._check(kernel)
        if not isinstance(kernel, MachineKernel):
            begin = assemble(self._tree, parameters, guess=guess, **(start or {}))
        else:
            if self._assembling is None:
                own: Kernel = kernel
                if not self._has_closures:
                    own = to_llvm(lower(newton_euler(self._tree)), portable=kernel.portable)
                self._assembling = Assembling(self._tree, own)
            begin = self._assembling.state(start, guess, parameters)
        check_attitudes(self._tree, begin)
        return begin

    def _check(self, kernel: Kernel) -> None:
        tree, labels = self._tree, kernel.program.labels
        for name, own in (("q", tree.position_labels()), ("v", tree.velocity_labels())):
            if [x.name for x in own] != [x.name for x in labels.get(name, ())]:
                raise ArgumentError(
                    f"the kernel of {self.mechanism.name!r} is in coordinates of its formalism, "
                    "which starts do not name: simulate(kernel, state, until=…) needs a state.",
                    hint="For maximal coordinates: maximal_run(mechanism, until=…).",
                )


def tree_keeping(mechanism: Mechanism, one: Wanted) -> Tree:
    """A tree that keeps the coordinates of all starts and guesses, of joints that are cut, too."""
    tree = span(mechanism)
    kept = {x.name for x in (*tree.position_labels(), *tree.velocity_labels())}
    cut = {*mechanism.coordinates, *mechanism.speeds} - kept
    if not cut & {*one.start, *one.guess}:
        return tree
    start = {name: x for name, x in one.start.items() if name in cut}
    guess = {name: x for name, x in one.guess.items() if name in cut}
    return span(with_starts(mechanism, start, guess))


def attempt(tree: Tree, wanted: Wanted) -> State | AssemblyError:
    """The state of one row by interpreted formulas, or the error that says why there is none."""
    try:
        state = assemble(tree, wanted.parameters, t=wanted.t, guess=wanted.guess, **wanted.start)
        check_attitudes(tree, state)
    except AssemblyError as error:
        return error
    return state


def of_run(error: AssemblyError, k: int) -> AssemblyError:
    """The error of a row, which names it."""
    return AssemblyError(f"run {k}: {error.message}", place=error.place, hint=error.hint)


@lru_cache(maxsize=64)
def shakes_of(nv: int) -> Array:
    """Local coordinates that further attempts begin with, shape (attempts − 1, nv)."""
    return np.array([shake(k, nv) for k in range(1, STARTS)])


def row_of(values: Mapping[str, Any], k: int) -> dict[str, float]:
    """The values of row k: arrays have one for each row, numbers hold for all."""
    return {name: value_of(x, k) for name, x in values.items()}
