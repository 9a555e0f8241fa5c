"""assemble: positions and velocities that satisfy every closure, near a start.

Coordinates with a start are held; the others move, least and together, by Gauss–Newton on the
closures in local coordinates. Where the starts leave no solution the error says how far the nearest
configuration is, and at which joint. Formulas are interpreted: this serves analyses that have no
kernel, and messages. Runs begin by `simulation/assembly.py`, which does the same in compiled code.

Error messages of assembly: gaps with units, short numbers, laws that contradict each other.

Bodies that are welded or massless are merged first: inertias that joints do not feel move to what
carries them.

Public names: Assembly, assemble, assembly, orientation, offsets, against, not_closed,
check_defined, check_known, imposed_twice, unit_along, short, merged, regrouped.

Source: JB94 §3.2 (position problem), §3.3 (velocity problem); LL 4.2.2; RBDA §9.7
(inertial parameters); the regrouping is Khalil's.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import checked
from liaison.errors import AssemblyError
from liaison.expr import FLOAT, ZERO, Expr, as_expr, evaluate, symbol, symbols_of, topological
from liaison.expr.graph.evaluate import numbers_of
from liaison.lazy import Shown
from liaison.model import Fixed, Mechanism, PrescribedMotion, Prismatic, Revolute
from liaison.numeric import State
from liaison.spatial.arrays import array, minus, plus, zeros
from liaison.spatial.plucker import compose, move_inertia
from liaison.units import FORCE, MOMENT, Label

from .closure import Located, Relative, closure_rows, is_curved, marker_motion, relative, row_place
from .kinematics import Kinematics
from .starts import (
    AHEAD,
    Begin,
    Starts,
    check_attitudes,
    check_distance,
    check_speeds,
    fixed_values,
    is_weak,
    start_place,
    uncertainty,
)
from .tree import GROUND, Closure, Inertia, Node, Transform, Tree, identity


def merged(tree: Tree) -> Tree:
    """The same tree without the nodes that cannot move: their inertia goes to their carrier.

    Coordinates and closures keep their places. Used where reactions inside a welded group are
    not asked for.
    """
    if all(node.joint.type.nv for node in tree.nodes):
        return tree
    place: dict[int, tuple[int, Transform]] = {GROUND: (GROUND, identity())}
    nodes: list[Node] = []
    for i, node in enumerate(tree.nodes):
        parent, X = place[node.parent]
        moved = replace(node, parent=parent, X_PJ=compose(*X, *node.X_PJ))
        if node.joint.type.nv:
            place[i] = (len(nodes), identity())
            nodes.append(moved)
            continue
        place[i] = (parent, moved.X_PJ)
        if parent != GROUND:
            total = added(nodes[parent].inertia, move_inertia(*moved.X_PJ, *node.inertia))
            nodes[parent] = replace(nodes[parent], inertia=total)

    def moved_to(where: tuple[int, Transform]) -> tuple[int, Transform]:
        node, X = place[where[0]]
        return node, compose(*X, *where[1])

    def moved_closure(closure: Closure) -> Closure:
        return replace(
            closure,
            predecessor=moved_to(closure.predecessor),
            successor=moved_to(closure.successor),
            ghost=None if closure.ghost is None else place[closure.ghost][0],
        )

    return replace(
        tree,
        nodes=tuple(nodes),
        closures=tuple(map(moved_closure, tree.closures)),
        frames=MappingProxyType({body: moved_to(where) for body, where in tree.frames.items()}),
    )


def regrouped(tree: Tree) -> Tree:
    """The same τ, M and forward dynamics from fewer numbers.

    What turning about a revolute joint's z does not change — m, the arm along z, and a moment of
    inertia I_yy about both x and y — moves with the carrier just as well. A slider turns as its
    carrier does, so all of its I may. Single bodies lose their meaning: energies and reactions
    need the tree as it was.
    """
    nodes = list(tree.nodes)
    for i in range(len(nodes) - 1, -1, -1):
        node = nodes[i]
        unfelt = _unfelt(node)
        if unfelt is None:
            continue
        nodes[i] = replace(node, inertia=_less(node.inertia, unfelt))
        if node.parent != GROUND:
            carrier = nodes[node.parent]
            total = added(carrier.inertia, move_inertia(*node.X_PJ, *unfelt))
            nodes[node.parent] = replace(carrier, inertia=total)
    return replace(tree, nodes=tuple(nodes))


def _unfelt(node: Node) -> Inertia | None:
    """The part of a node's inertia that its carrier may hold, in the joint's frame at q = 0."""
    m, h, I = node.inertia
    if isinstance(node.joint.type, Revolute):
        J = I[1, 1]
        return m, array([0, 0, h[2]]), array([[J, 0, 0], [0, J, 0], [0, 0, 0]])
    if isinstance(node.joint.type, Prismatic):
        return 0, zeros(3), I
    return None


def added(a: Inertia, b: Inertia) -> Inertia:
    """The inertia of two bodies held together, in one frame."""
    return _combined(plus, a, b)


def _less(a: Inertia, b: Inertia) -> Inertia:
    """The difference of two inertias; equal parts leave an exact 0."""
    return _combined(_difference, a, b)


def _combined(operation: Callable[[Any, Any], Any], a: Inertia, b: Inertia) -> Inertia:
    flat = [operation(x, y) for x, y in zip(a[2].flat, b[2].flat, strict=True)]
    return (
        operation(a[0], b[0]),
        array([operation(x, y) for x, y in zip(a[1], b[1], strict=True)]),
        array(flat).reshape(3, 3),
    )


def _difference(x: Any, y: Any) -> Any:
    left = minus(x, y)
    return 0 if left.__class__ is float and left == 0.0 else left


PART, LISTED = 1e-3, 4
"""Rows with this part of the worst residual share in it; so many are named."""

ROUNDING = 1e-12
"""A position below this is shown as 0 [m, rad]."""


def against(residual: Any, names: Sequence[str]) -> str:
    """The other joints and relations that share in what cannot be met, ", against 'A', 'B'".

    Where the sum of squares is least, Gᵀ r = 0: rows with a part in r contradict each other.
    """
    size = np.abs(residual)
    owners = [name.rpartition(": ")[0] or name for name in names]
    worst = owners[int(np.argmax(size))]
    shared = [x for x, s in zip(owners, size, strict=True) if s > PART * np.max(size)]
    others = [repr(x) for x in dict.fromkeys(shared) if x != worst]
    more = f" and {len(others) - LISTED} more" if len(others) > LISTED else ""
    return f", against {', '.join(others[:LISTED])}{more}" if others else ""


def not_closed(mechanism: Mechanism, row: str, off: str, held: Sequence[str] = ()) -> AssemblyError:
    """The error for a loop or a relation that no configuration satisfies.

    Args:
        mechanism: that is assembled.
        row: the worst of its rows.
        off: what it is left with, in words.
        held: coordinates that starts hold.
    """
    owner = row.rpartition(": ")[0] or row
    is_relation = any(x.name == owner for x in mechanism.constraints)
    what = "relation" if is_relation else "loop through"
    part = "formula of that relation" if is_relation else "lengths and the markers of that joint"
    return AssemblyError(
        f"the {what} {owner!r} cannot be assembled: {off} (row {row!r}).",
        hint=f"Check the {part}, or give a better start.{_may_move(held)}",
        place=row_place(mechanism, row),
    )


def _may_move(held: Sequence[str]) -> str:
    """What holds coordinates, and how to let go of them."""
    if not held:
        return ""
    return (
        f" Held by starts: {', '.join(held)}; as a guess (guess=, --guess, LSD's guess) each may "
        "move as the closures need."
    )


def check_defined(G: Any, names: Sequence[str], mechanism: Mechanism) -> None:
    """Raises an error at a start where a row of the closures has no value.

    Args:
        G: rows of the closures at the start.
        names: of the rows.
        mechanism: that is assembled.
    """
    undefined = ~np.all(np.isfinite(G), axis=1)
    if not np.any(undefined):
        return
    name = names[int(np.argmax(undefined))]
    raise AssemblyError(
        f"the relation {name!r} has no value at the start: a formula of it divides by zero there, "
        "or has no derivative.",
        hint="Give another start. A disc that lies flat on its plane has no lowest point; two "
        "points that coincide have no direction from one to the other.",
        place=row_place(mechanism, name),
    )


def check_known(formulas: list[Expr], known: set[Expr]) -> None:
    """Raises an error for formulas of the closures whose symbols have no value."""
    unknown = [x.name for x in symbols_of([f for f in formulas if f is not ZERO]) if x not in known]
    if unknown:
        raise AssemblyError(
            f"the loops depend on {', '.join(unknown)}, which have no value.",
            hint="Give each a value (--set name=value) before assembling.",
        )


def imposed_twice(mechanism: Mechanism, row: str) -> AssemblyError | None:
    """The error for two laws of one coordinate, where the row is of one of them."""
    laws = [x for x in mechanism.constraints if isinstance(x, PrescribedMotion)]
    label = next((x.coordinate for x in laws if x.name == row), "")
    both = [x for x in laws if x.coordinate == label]
    if len(both) < 2:
        return None
    return AssemblyError(
        f"the coordinate {label!r} is imposed {len(both)} times, and the laws differ: "
        f"{', '.join(repr(x.name) for x in both)}.",
        hint="Leave one law for each coordinate; write their sum if both are meant.",
        place=both[-1].place,
    )


def unit_along(multiplier: Label) -> str:
    """The unit of what a closure holds, from that of its multiplier."""
    return {FORCE: "m", MOMENT: "rad"}.get(multiplier.unit, "")


def short(x: float) -> str:
    """A position as text: rounding errors beside 1 m or 1 rad become 0."""
    return f"{x:.6g}" if abs(x) > ROUNDING else "0"


Floats = NDArray[np.float64]

CLOSED = 1e-12
"""|Φ| at which a loop counts as closed, relative to the size of the mechanism [m, 1]."""

UNMOVED = 4e-16
"""|Φ| up to which a start that closes the loops is left as it is, likewise."""

ITERATIONS = 60
STARTS = 24


@final
@dataclass(frozen=True, slots=True, repr=False)
class Assembly(Shown):
    """A consistent state and how it was found."""

    state: State
    moved: float  # largest change of a coordinate from its start [m, rad]
    residual: float  # largest |Φ|
    rate_residual: float  # largest |G v − ν|
    attempts: int  # starts tried


@checked
def assemble(
    tree: Tree,
    parameters: Mapping[str, float] | None = None,
    *,
    t: float = 0.0,
    guess: Mapping[str, float] | None = None,
    **start: float,
) -> State:
    """The consistent state that `assembly` finds.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/four_bar.lsd"))
        >>> state = liaison.assemble(tree, A=1.2)
        >>> round(state["D"], 6)
        2.146389
    """
    return assembly(tree, parameters, t=t, guess=guess, **start).state


def assembly(
    tree: Tree,
    parameters: Mapping[str, float] | None = None,
    *,
    t: float = 0.0,
    guess: Mapping[str, float] | None = None,
    **start: float,
) -> Assembly:
    """Closes the loops from the mechanism's starts and those of the call.

    Args:
        tree: with its closures.
        parameters: values that differ from the mechanism's own, by name.
        t: the time at which imposed motions are taken [s].
        guess: positions and speeds that begin the search and may move, by label.
        start: positions (`A=0.3`) and, through a mapping `**{"A'": 2.0}`, speeds. The mechanism's
            own starts are held beside them where that is possible; else they only begin the search.

    Raises:
        NamingError: a start that names nothing.
        AssemblyError: no configuration satisfies the closures.
    """
    starts = Starts(tree)
    fixed = fixed_values(tree, parameters or {}, t)
    begin = starts.begin(start, guess or {}, fixed)
    problem = _Problem(merged(tree), starts, begin, fixed)
    q, attempts = problem.first_held(problem.positions)
    v = problem.first_held(lambda held: problem.velocities(q, held))
    first, _ = starts.positions(begin, begin.held, fixed)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    state = State(t, q, v, labels)
    return Assembly(
        state=state,
        moved=float(np.max(np.abs(q - first), initial=0.0)),
        residual=problem.worst(problem.phi(q)),
        rate_residual=problem.worst(problem.rate(q, v)),
        attempts=attempts,
    )


def orientation(kinematics: Kinematics) -> list[Expr]:
    """What must be positive so that no joint is put together the wrong way round."""
    formulas: list[Any] = []
    for closure in kinematics.tree.closures:
        seen = _seen(kinematics, closure.predecessor, closure.successor)
        formulas += closure.joint.type.positive(seen.R, seen.p)
        if closure.ghost is not None:
            seen = _seen(kinematics, (closure.ghost, identity()), closure.successor)
            formulas += Fixed().positive(seen.R, seen.p)
    return [as_expr(x) for x in formulas]


def _seen(kinematics: Kinematics, first: Located, second: Located) -> Relative:
    """The second marker as seen from the first."""
    root = kinematics.tree.common_ancestor(first[0], second[0])
    F = marker_motion(kinematics, root, first)
    return relative(F, marker_motion(kinematics, root, second))


def offsets(tree: Tree) -> list[Expr]:
    """Lengths of a mechanism, of either sign [m]: residuals are relative to the largest, or 1 m."""
    return [as_expr(x) for node in tree.nodes for x in node.X_PJ[1]]


class _Problem:
    """Closures of a tree as functions of numbers."""

    def __init__(
        self, tree: Tree, starts: Starts, begin: Begin, fixed: Mapping[Expr, float]
    ) -> None:
        self.tree = tree
        self.starts, self.begin, self.fixed = starts, begin, dict(fixed)
        self.q_names, self.v_names = starts.q_names, starts.v_names
        self.q = [symbol(name) for name in self.q_names]
        self.v = [symbol(name) for name in self.v_names]
        kinematics = Kinematics(tree, array(self.q), array(self.v))
        rates = _rates(tree, array(self.q), array(self.v))
        rows = closure_rows(kinematics, rates)
        held = [(label, row) for label, row in rows if row.value is not None]
        self.names = [label.name for label, _ in held]
        self.units = [unit_along(label) for label, _ in held]
        self.rate_names = [label.name for label, _ in rows]
        self.rate_units = [f"{x}/s" if x else "" for x in (unit_along(label) for label, _ in rows)]
        self._phi = [as_expr(row.value) for _, row in held]
        self._phi_order = topological(self._phi)
        self._rows = [row.G for _, row in held]
        self._all_rows = [row.G for _, row in rows]
        self._rate = [as_expr(row.rate) for _, row in rows]
        self._positive = orientation(kinematics)
        known = {*self.q, *self.v, *self.fixed}
        check_known([*self._phi, *self._rate], known)
        self._lengths = [x for x in offsets(tree) if known.issuperset(symbols_of([x]))]
        self.curved = [k for k, row in enumerate(self._all_rows) if is_curved(row, self.v)]

    def values(self, q: Floats, v: Floats | None = None) -> dict[Expr, float]:
        """Symbols and their numbers."""
        numbers = self.fixed | dict(zip(self.q, q.tolist(), strict=True))
        speeds = np.zeros(self.tree.nv) if v is None else v
        return numbers | dict(zip(self.v, speeds.tolist(), strict=True))

    def phi(self, q: Floats) -> Floats:
        """Φ."""
        with np.errstate(all="ignore"):
            numbers = numbers_of(self._phi_order, self.values(q), FLOAT)
        return np.array([float(numbers[x]) for x in self._phi])

    def rate(self, q: Floats, v: Floats) -> Floats:
        """G v − ν."""
        return numbers(self._rate, self.values(q, v))

    def jacobian(self, q: Floats, rows: list[dict[int, Any]], v: Floats | None = None) -> Floats:
        """G of some rows; of velocities where they are not linear in them."""
        places = [(k, j, as_expr(x)) for k, row in enumerate(rows) for j, x in row.items()]
        matrix = np.zeros((len(rows), self.tree.nv))
        entries = numbers([x for _, _, x in places], self.values(q, v))
        for (k, j, _), value in zip(places, entries, strict=True):
            matrix[k, j] = value
        return matrix

    def worst(self, residual: Floats) -> float:
        """The largest absolute entry."""
        return float(np.max(np.abs(residual), initial=0.0))

    def first_held(self, solve: Callable[[Collection[str]], Any]) -> Any:
        """The result of `solve` with all starts held, or else with the firm ones."""
        try:
            return solve(self.begin.held)
        except AssemblyError:
            if self.begin.firm == self.begin.held:
                raise
            return solve(self.begin.firm)

    def retract(self, q: Floats, xi: Floats) -> Floats:
        """q ⊞ ξ."""
        moved = q.copy()
        for node in self.tree.nodes:
            kind = node.joint.type
            step = kind.retract(q[node.q].tolist(), xi[node.v].tolist())
            moved[node.q] = [x if isinstance(x, float) else float(evaluate(x)) for x in step]
        return np.asarray(moved)

    def positions(self, firm: Collection[str]) -> tuple[Floats, int]:
        """q with Φ = 0, near the start; tries other starts for what is not firm."""
        first, held = self.starts.positions(self.begin, firm, self.fixed)
        speeds = self.starts.speeds(self.begin, firm)[0] if self.curved else None
        G = self.jacobian(first, self._all_rows, speeds)
        check_defined(G, self.rate_names, self.tree.mechanism)
        nearest = None
        for attempt in range(STARTS if self._phi else 1):
            tried = first if attempt == 0 else self._shaken(first, held, attempt)
            q = self._newton(tried, ~held)
            residual = self.worst(self.phi(q))
            if self._closes(q):
                return q, attempt + 1
            if attempt == 0:
                self._check_reach()
            if nearest is None or residual < nearest[0]:
                nearest = (residual, q)
        assert nearest is not None
        raise self._error(nearest[1], firm)

    def _check_reach(self) -> None:
        from .reach import too_short

        if impossible := too_short(self.tree, self.fixed):
            raise impossible

    def _newton(self, q: Floats, free: NDArray[np.bool_]) -> Floats:
        """Gauss–Newton with the least step, shortened until |Φ| falls."""
        residual = self.phi(q)
        if self.worst(residual) <= UNMOVED * self._size(q):
            return q
        for _ in range(ITERATIONS):
            size = float(np.linalg.norm(residual))
            if size == 0.0 or not free.any():
                break
            G = self.jacobian(q, self._rows)[:, free]
            if not np.all(np.isfinite(G)):
                break
            step = np.zeros(self.tree.nv)
            step[free] = -least_norm(G, residual)
            q_new, residual_new, scale = self._shortened(q, step, size)
            if scale == 0.0:
                break
            settled = float(np.linalg.norm(residual_new)) >= 0.5 * size and size < CLOSED
            q, residual = q_new, residual_new
            if settled:
                break
        return q

    def _shortened(self, q: Floats, step: Floats, size: float) -> tuple[Floats, Floats, float]:
        """The longest of step, step/2, … that makes |Φ| smaller; scale 0 if none does."""
        limit = max(1.0, float(np.max(np.abs(step), initial=0.0)) / LONGEST)
        scale = 1.0 / limit
        while scale > 1e-10:
            moved = self.retract(q, scale * step)
            residual = self.phi(moved)
            if float(np.linalg.norm(residual)) < size:
                return moved, residual, scale
            scale /= 2
        return q, self.phi(q), 0.0

    def _shaken(self, first: Floats, held: NDArray[np.bool_], attempt: int) -> Floats:
        """Another start: coordinates without a start moved at random, reproducibly."""
        return self.retract(first, np.where(held, 0.0, shake(attempt, self.tree.nv)))

    def _size(self, q: Floats) -> float:
        """A length of the mechanism, at least 1 m: residuals of closures are relative to it.

        Lengths without a value, which no closure depends on, are left out.
        """
        lengths = [1.0, *np.abs(numbers(self._lengths, self.values(q)))]
        return float(max(lengths))

    def _upright(self, q: Floats) -> bool:
        """No joint is flipped."""
        return bool(np.all(numbers(self._positive, self.values(q)) > 0.0))

    def _error(self, q: Floats, firm: Collection[str]) -> AssemblyError:
        """The error for loops that do not close, in the author's names."""
        loose = self._loose(q, firm)
        residual = self.phi(q)
        k = int(np.argmax(np.abs(residual)))
        if twice := imposed_twice(self.tree.mechanism, self.names[k]):
            return twice
        joint = self.names[k].rpartition(": ")[0] or self.names[k]
        gap = f"{abs(residual[k]):.6g} {self.units[k]}".rstrip()
        near = f"the nearest configuration found leaves {gap} at {joint!r}"
        off = near + against(residual, self.names)
        held = [name for name in self.q_names if name in firm]
        if loose is not None:
            places = zip(self.q_names, loose.tolist(), strict=True)
            return self._inconsistent(firm, {name: x for name, x in places if name in firm}, off, k)
        return not_closed(self.tree.mechanism, self.names[k], off, held)

    def _loose(self, q: Floats, firm: Collection[str]) -> Floats | None:
        """A configuration near q or the start where nothing is held; None where none was found."""
        free = np.ones(self.tree.nv, dtype=bool)
        first, _ = self.starts.positions(self.begin, firm, self.fixed)
        loose = (self._newton(x, free) for x in (q, first))
        return next((x for x in loose if self._closes(x)), None)

    def _closes(self, q: Floats) -> bool:
        """Whether this is a configuration of the mechanism."""
        return self.worst(self.phi(q)) <= CLOSED * self._size(q) and self._upright(q)

    def _inconsistent(
        self, firm: Collection[str], near: Mapping[str, float], off: str, row: int
    ) -> AssemblyError:
        """The error for starts that contradict each other, with a text that is assembled."""
        values = self.begin.values
        kept = self._holdable(list(near))
        start_text = ", ".join(f"{name} = {short(values[name])}" for name in sorted(near))
        near_text = ", ".join(f"{name} = {short(x)}" for name, x in near.items())
        advice = [f"start {name} = {values[name]!r} ;" for name in near if name in kept]
        advice += [f"guess {name} = {short(near[name])} ;" for name in near if name not in kept]
        return AssemblyError(
            f"the start {start_text} is inconsistent: {off} (row {self.names[row]!r}).",
            hint=f"A configuration near it is {near_text}. Hold fewer starts; a guess may move as "
            f"the closures need: {' '.join(advice)}",
            place=start_place(self.tree.mechanism, near),
        )

    def _holdable(self, labels: Sequence[str]) -> set[str]:
        """The first of these starts that can be held together."""
        kept: set[str] = set()
        for name in labels:
            first, mask = self.starts.positions(self.begin, {*kept, name}, self.fixed)
            if self._closes(self._newton(first, ~mask)):
                kept.add(name)
        return kept

    def velocities(self, q: Floats, held: Collection[str]) -> Floats:
        """v with G v = ν: prescribed speeds held, the others of least norm."""
        v, fixed = self.starts.speeds(self.begin, held)
        free = ~fixed
        if not self._rate:
            return v
        moved, G = self._corrected(q, v, free)
        residual = self.rate(q, moved)
        if self.worst(residual) > SLOW * max(1.0, self.worst(moved)):
            k = int(np.argmax(np.abs(residual)))
            if twice := imposed_twice(self.tree.mechanism, self.rate_names[k]):
                raise twice
            speeds = {n: self.begin.values[n] for n in self.v_names if n in held}
            speeds_text = ", ".join(f"{n} = {x:.6g}" for n, x in speeds.items())
            raise AssemblyError(
                f"the speeds {speeds_text or 'at rest'} are inconsistent: they leave "
                f"{abs(residual[k]):.6g} {self.rate_units[k]} in the row {self.rate_names[k]!r}"
                f"{against(residual, self.rate_names)}.",
                hint="Give the speeds of independent coordinates only; the others follow.",
                place=start_place(self.tree.mechanism, speeds),
            )
        self._check_branch(q, np.asarray(moved), G, residual, held)
        return np.asarray(moved)

    def _corrected(self, q: Floats, v: Floats, free: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """v with G v = ν, and G there: one step of Newton, more where rows are not linear."""
        for _ in range(ITERATIONS if self.curved else 1):
            G = self.jacobian(q, self._all_rows, v)
            self._check_directions(G)
            if not np.all(np.isfinite(G)):
                check_attitudes(self.tree, State(0.0, q, v))
                check_defined(G, self.rate_names, self.tree.mechanism)
            step = np.zeros_like(v)
            step[free] = -least_norm(G[:, free], self.rate(q, v))
            v = v + step
            if self.worst(step) <= UNMOVED * self.worst(v):
                break
        return np.asarray(v), self.jacobian(q, self._all_rows, v) if self.curved else G

    def _check_directions(self, G: Floats) -> None:
        """Raises an error where ∂Φ/∂v of a relation that is not linear in v vanishes."""
        for k in self.curved:
            if not np.max(np.abs(G[k])) > 0.0:
                name = self.rate_names[k]
                raise AssemblyError(
                    f"the relation {name!r} has no direction at these speeds: ∂Φ/∂q̇ vanishes or "
                    "has no value, and with it the reaction that Chetaev's rule gives it.",
                    hint="Give starts of the rates that it holds (start x' = … ;), not all zero.",
                    place=row_place(self.tree.mechanism, name),
                )

    def _check_branch(
        self, q: Floats, v: Floats, G: Floats, residual: Floats, held: Collection[str]
    ) -> None:
        """Raises an error beside a change point, where the branch of the motion is not certain."""
        speeds = {n: self.begin.values[n] for n in self.v_names if n in held}
        check_speeds(G, residual, v, speeds, start_place(self.tree.mechanism, speeds))
        fastest = self.worst(v)
        slides = [label.unit == "m/s" for label in self.tree.velocity_labels()]
        lengths = [unit == "m/s" for unit in self.rate_units]
        if fastest == 0.0 or not is_weak(G, lengths, slides):
            return
        free = np.ones(self.tree.nv, dtype=bool)
        sides = (self.retract(q, sign * AHEAD / fastest * v) for sign in (1.0, -1.0))
        ahead, behind = (self.jacobian(self._newton(x, free), self._all_rows, v) for x in sides)
        drift = uncertainty(self.jacobian(q, self._rows), self.phi(q), q)
        place = start_place(self.tree.mechanism, self.begin.values)
        check_distance(G, ahead, behind, drift, place)


def shake(attempt: int, nv: int) -> Floats:
    """The local coordinates that a further attempt begins with, random and the same every time."""
    noise = np.random.default_rng(attempt).uniform(-1.0, 1.0, nv)
    coarse = np.round(noise * SHAKES) / SHAKES
    return np.asarray((1 / 16 if attempt < STARTS // 3 else 2.0) * coarse)


SHAKES = 128
"""Steps from 0 to 1 of the random numbers of an attempt: of few bits, so that modules are short."""

LONGEST = 1.0
"""The longest step of one iteration [m, rad]."""

SLOW = 1e-9
"""|G v − ν| at which speeds count as consistent, relative to the largest of them."""


def least_norm(G: Floats, residual: Floats) -> Floats:
    """The least step x with G x = residual in the least-squares sense."""
    return np.asarray(np.linalg.lstsq(G, residual, rcond=RANK)[0])


RANK = 1e-9
"""Singular values under this share of the largest are taken as zero: a near-singular start
moves a little instead of far."""


def numbers(formulas: list[Expr], values: Mapping[Expr, float]) -> Floats:
    """Formulas as floats."""
    return np.array([float(x) for x in evaluate(formulas, values)])


def _rates(tree: Tree, q: Any, v: Any) -> list[Any]:
    """q̇ = N v."""
    rates: list[Any] = []
    for node in tree.nodes:
        rates += list(node.joint.type.kinematic_map(q[node.q]) @ v[node.v])
    return rates
