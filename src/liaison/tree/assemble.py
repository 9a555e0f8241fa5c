"""assemble: positions and velocities that satisfy every closure, near a start.

Coordinates that the author gave are held; the others move, least and together, by Gauss–Newton
on the closures in local coordinates. Where the given ones leave no solution the error says how
far the nearest configuration is, and at which joint.

Starts that follow from starts: through couplings, and from laws of time.

Assembling moves coordinates a little at a time; a rotor behind a gear may be many turns away.

Error messages of assembly: gaps with units, short numbers, laws that contradict each other.

Starts at which the angles of a joint are singular: an error before any division by zero.

Public names: Assembly, assemble, assembly, followed, against, not_closed, check_defined,
check_known, imposed_twice, unit_along, short, start_place, check_attitudes.

Source: JB94 §3.2 (position problem), §3.3 (velocity problem); LL 4.2.2.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import AssemblyError, NamingError, Place
from liaison.expr import ZERO, Expr, as_expr, evaluate, symbol, symbols_of
from liaison.model import Attitude, Fixed, Joint, Mechanism, OfCoordinates, PrescribedMotion
from liaison.numeric import State
from liaison.spatial.arrays import array
from liaison.spatial.rotations import SINGULAR
from liaison.units import FORCE, MOMENT, Label

from .closure import Located, Relative, closure_rows, marker_motion, relative, row_place
from .kinematics import Kinematics
from .regroup import merged
from .tree import Tree, as_float, identity


def check_attitudes(tree: Tree, state: State) -> None:
    """Raises an error for a state in which the angles of a joint have no rates.

    Raises:
        AssemblyError: the outer two axes of such a joint are one.
    """
    for node in tree.nodes:
        attitude = getattr(node.joint.type, "attitude", None)
        if not isinstance(attitude, Attitude):
            continue
        e = [float(x) for x in state.q[node.q][-len(attitude.NAMES) :]]
        if abs(float(attitude.regularity(e))) < SINGULAR:
            raise _singular(node.joint, e[1])


def _singular(joint: Joint, middle: float) -> AssemblyError:
    first, second, third = joint.coordinates[-3:]
    return AssemblyError(
        f"the angles of joint {joint.name!r} are singular where it starts: at {second} = "
        f"{middle:g} rad, {first} and {third} turn about one axis, and their rates have no values.",
        place=joint.place,
        hint=f"Start at another {second}, or take its attitude as a quaternion or a matrix.",
    )


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


def not_closed(mechanism: Mechanism, row: str, off: str) -> AssemblyError:
    """The error for a loop or a relation that no configuration satisfies.

    Args:
        mechanism: that is assembled.
        row: the worst of its rows.
        off: what it is left with, in words.
    """
    owner = row.rpartition(": ")[0] or row
    is_relation = any(x.name == owner for x in mechanism.constraints)
    what = "relation" if is_relation else "loop through"
    part = "formula of that relation" if is_relation else "lengths and the markers of that joint"
    return AssemblyError(
        f"the {what} {owner!r} cannot be assembled: {off} (row {row!r}).",
        hint=f"Check the {part}, or give a better start.",
        place=row_place(mechanism, row),
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


def start_place(mechanism: Mechanism, labels: Collection[str]) -> Place | None:
    """Where the author gave the last of these starts."""
    places = [start.place for start in mechanism.starts if start.label in labels]
    return places[-1] if places else None


def followed(
    mechanism: Mechanism, starts: Mapping[str, float], fixed: Mapping[Expr, float]
) -> dict[str, float]:
    """Prescribed positions, with those that follow from laws and couplings.

    Args:
        mechanism: whose relations they are.
        starts: positions by label; they stay as they are.
        fixed: the time and the parameters.
    """

    def value(x: Any) -> float:
        return float(evaluate([as_expr(x)], dict(fixed))[0])

    relations = [x for x in mechanism.constraints if isinstance(x, OfCoordinates)]
    alone = [x.implied({}, value) for x in relations]
    known, size = dict(starts), -1
    for implied in alone:
        for label, number in implied.items():
            known.setdefault(label, number)
    linked = [x for x, implied in zip(relations, alone, strict=True) if not implied]
    while size < len(known):
        size = len(known)
        for x in linked:
            for label, number in x.implied(known, value).items():
                known.setdefault(label, number)
    return known


Floats = NDArray[np.float64]

CLOSED = 1e-12
"""|Φ| at which a loop counts as closed, relative to the size of the mechanism [m, 1]."""

ITERATIONS = 60
STARTS = 24


@final
@dataclass(frozen=True, slots=True)
class Assembly:
    """A consistent state and how it was found."""

    state: State
    moved: float  # largest change of a coordinate from its start [m, rad]
    residual: float  # largest |Φ|
    rate_residual: float  # largest |G v − ν|
    attempts: int  # starts tried


def assemble(
    tree: Tree, parameters: Mapping[str, float] | None = None, *, t: float = 0.0, **start: float
) -> State:
    """The consistent state that `assembly` finds."""
    return assembly(tree, parameters, t=t, **start).state


def assembly(
    tree: Tree, parameters: Mapping[str, float] | None = None, *, t: float = 0.0, **start: float
) -> Assembly:
    """Closes the loops from the mechanism's starts and those of the call.

    Args:
        tree: with its closures.
        parameters: values that differ from the mechanism's own, by name.
        t: the time at which imposed motions are taken [s].
        start: positions (`A=0.3`) and, through a mapping `**{"A'": 2.0}`, speeds. The mechanism's
            own starts are held beside them where that is possible; else they only begin the search.

    Raises:
        NamingError: a start that names nothing.
        AssemblyError: no configuration satisfies the closures.
    """
    problem = _Problem(merged(tree), dict(parameters or {}), t)
    starts = problem.start_values(start)
    q, attempts = problem.first_held(problem.positions, starts, start)
    v = problem.first_held(lambda _, held: problem.velocities(q, held), starts, start)
    guess, _ = problem.guess(starts, starts)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    state = State(t, q, v, labels)
    return Assembly(
        state=state,
        moved=float(np.max(np.abs(q - guess), initial=0.0)),
        residual=problem.worst(problem.phi(q)),
        rate_residual=problem.worst(problem.rate(q, v)),
        attempts=attempts,
    )


class _Problem:
    """Closures of a tree as functions of numbers."""

    def __init__(self, tree: Tree, parameters: dict[str, float], t: float) -> None:
        self.tree = tree
        self.q_names = [label.name for label in tree.position_labels()]
        self.v_names = [label.name for label in tree.velocity_labels()]
        self.q = [symbol(name) for name in self.q_names]
        self.v = [symbol(name) for name in self.v_names]
        self.fixed = {symbol("t"): t} | _parameter_values(tree, parameters)
        kinematics = Kinematics(tree, array(self.q), array(self.v))
        rates = _rates(tree, array(self.q), array(self.v))
        self.kinematics = kinematics
        rows = closure_rows(kinematics, rates)
        held = [(label, row) for label, row in rows if row.value is not None]
        self.names = [label.name for label, _ in held]
        self.units = [unit_along(label) for label, _ in held]
        self.rate_names = [label.name for label, _ in rows]
        self.rate_units = [f"{x}/s" if x else "" for x in (unit_along(label) for label, _ in rows)]
        self._phi = [as_expr(row.value) for _, row in held]
        self._rows = [row.G for _, row in held]
        self._all_rows = [row.G for _, row in rows]
        self._rate = [as_expr(row.rate) for _, row in rows]
        self._positive = self._orientation()
        check_known([*self._phi, *self._rate], {*self.q, *self.v, *self.fixed})

    def _orientation(self) -> list[Expr]:
        """What must be positive so that no joint is put together the wrong way round."""
        formulas: list[Any] = []
        for closure in self.tree.closures:
            seen = self._seen(closure.predecessor, closure.successor)
            formulas += closure.joint.type.positive(seen.R, seen.p)
            if closure.ghost is not None:
                seen = self._seen((closure.ghost, identity()), closure.successor)
                formulas += Fixed().positive(seen.R, seen.p)
        return [as_expr(x) for x in formulas]

    def _seen(self, first: Located, second: Located) -> Relative:
        """The second marker as seen from the first."""
        root = self.tree.common_ancestor(first[0], second[0])
        F = marker_motion(self.kinematics, root, first)
        return relative(F, marker_motion(self.kinematics, root, second))

    def values(self, q: Floats, v: Floats | None = None) -> dict[Expr, float]:
        """Symbols and their numbers."""
        numbers = self.fixed | dict(zip(self.q, q.tolist(), strict=True))
        speeds = np.zeros(self.tree.nv) if v is None else v
        return numbers | dict(zip(self.v, speeds.tolist(), strict=True))

    def phi(self, q: Floats) -> Floats:
        """Φ."""
        return numbers(self._phi, self.values(q))

    def rate(self, q: Floats, v: Floats) -> Floats:
        """G v − ν."""
        return numbers(self._rate, self.values(q, v))

    def jacobian(self, q: Floats, rows: list[dict[int, Any]]) -> Floats:
        """G of some rows."""
        places = [(k, j, as_expr(x)) for k, row in enumerate(rows) for j, x in row.items()]
        matrix = np.zeros((len(rows), self.tree.nv))
        entries = numbers([x for _, _, x in places], self.values(q))
        for (k, j, _), value in zip(places, entries, strict=True):
            matrix[k, j] = value
        return matrix

    def worst(self, residual: Floats) -> float:
        """The largest absolute entry."""
        return float(np.max(np.abs(residual), initial=0.0))

    def start_values(self, start: Mapping[str, float]) -> dict[str, float]:
        """Starts of the mechanism, then those of the call, checked."""
        values = {
            s.label: float(evaluate([as_expr(as_float(s.value))], self.fixed)[0])
            for s in self.tree.mechanism.starts
        }
        known = {*self.q_names, *self.v_names}
        mechanism = self.tree.mechanism
        for name in start:
            if name in {*mechanism.coordinates, *mechanism.speeds} - known:
                raise AssemblyError(
                    f"{name!r} is of a joint that is cut in this tree and keeps no coordinates.",
                    hint="Make it a start of the mechanism before spanning, or cut another joint: "
                    "span(mechanism, cuts=…).",
                )
            if name not in known:
                raise NamingError.unknown("coordinate or speed", name, known)
        return {name: value for name, value in (values | dict(start)).items() if name in known}

    def first_held(
        self,
        solve: Callable[[Mapping[str, float], Mapping[str, float]], Any],
        starts: Mapping[str, float],
        firm: Mapping[str, float],
    ) -> Any:
        """The result of `solve` with all starts held, or else with the firm ones."""
        try:
            return solve(starts, starts)
        except AssemblyError:
            if not firm:
                raise
            return solve(starts, firm)

    def guess(
        self, starts: Mapping[str, float], firm: Mapping[str, float]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """The start, and which velocities' directions are held to it: those of the firm ones."""
        q = np.zeros(self.tree.nq)
        held = np.zeros(self.tree.nv, dtype=bool)
        starts = followed(self.tree.mechanism, starts, self.fixed)
        for node in self.tree.nodes:
            q[node.q] = [float(x) for x in node.joint.type.neutral()]
            names = self.q_names[node.q]
            is_firm = [name in firm for name in names]
            q[node.q] = [starts.get(name, x) for name, x in zip(names, q[node.q], strict=True)]
            if node.joint.type.nq == node.joint.type.nv:
                held[node.v] = is_firm
            else:
                held[node.v] = any(is_firm)
                q[node.q] = _on_group(node.joint.type, q[node.q])
        return q, held

    def retract(self, q: Floats, xi: Floats) -> Floats:
        """q ⊞ ξ."""
        moved = q.copy()
        for node in self.tree.nodes:
            kind = node.joint.type
            step = kind.retract(q[node.q].tolist(), xi[node.v].tolist())
            moved[node.q] = [float(evaluate([as_expr(x)], {})[0]) for x in step]
        return np.asarray(moved)

    def positions(
        self, starts: Mapping[str, float], firm: Mapping[str, float]
    ) -> tuple[Floats, int]:
        """q with Φ = 0, near the start; tries other starts for what is not firm."""
        guess, held = self.guess(starts, firm)
        check_defined(self.jacobian(guess, self._all_rows), self.rate_names, self.tree.mechanism)
        nearest = None
        for attempt in range(STARTS if self._phi else 1):
            begin = guess if attempt == 0 else self._shaken(guess, held, attempt)
            q = self._newton(begin, ~held)
            residual = self.worst(self.phi(q))
            if residual <= CLOSED * self._size(q) and self._upright(q):
                return q, attempt + 1
            if nearest is None or residual < nearest[0]:
                nearest = (residual, q)
        assert nearest is not None
        raise self._error(nearest[1], firm)

    def _newton(self, q: Floats, free: NDArray[np.bool_]) -> Floats:
        """Gauss–Newton with the least step, shortened until |Φ| falls."""
        residual = self.phi(q)
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

    def _shaken(self, guess: Floats, held: NDArray[np.bool_], attempt: int) -> Floats:
        """Another start: coordinates without a start moved at random, reproducibly."""
        noise = np.random.default_rng(attempt).uniform(-1.0, 1.0, self.tree.nv)
        reach = 0.05 if attempt < STARTS // 3 else 2.0
        return self.retract(guess, np.where(held, 0.0, reach * noise))

    def _size(self, q: Floats) -> float:
        """A length of the mechanism, at least 1 m: residuals of closures are relative to it."""
        offsets = [as_expr(x) for node in self.tree.nodes for x in node.X_PJ[1]]
        lengths = [1.0, *np.abs(numbers(offsets, self.values(q)))]
        return float(max(lengths))

    def _upright(self, q: Floats) -> bool:
        """No joint is flipped."""
        return bool(np.all(numbers(self._positive, self.values(q)) > 0.0))

    def _error(self, q: Floats, starts: Mapping[str, float]) -> AssemblyError:
        """The error for loops that do not close, in the author's names."""
        loose = self._newton(q, np.ones(self.tree.nv, dtype=bool))
        residual = self.phi(q)
        k = int(np.argmax(np.abs(residual)))
        if twice := imposed_twice(self.tree.mechanism, self.names[k]):
            return twice
        joint = self.names[k].rpartition(": ")[0] or self.names[k]
        gap = f"{abs(residual[k]):.6g} {self.units[k]}".rstrip()
        near = f"the nearest configuration found leaves {gap} at {joint!r}"
        off = near + against(residual, self.names)
        if self.worst(self.phi(loose)) <= CLOSED * self._size(q) and self._upright(loose):
            start_text = ", ".join(f"{name} = {short(x)}" for name, x in sorted(starts.items()))
            near = ", ".join(
                f"{name} = {short(value)}"
                for name, value in zip(self.q_names, loose, strict=True)
                if name in starts
            )
            return AssemblyError(
                f"the start {start_text} is inconsistent: {off} (row {self.names[k]!r}).",
                hint=f"A configuration near it is {near}; give that, or leave some of them out.",
                place=start_place(self.tree.mechanism, starts),
            )
        return not_closed(self.tree.mechanism, self.names[k], off)

    def velocities(self, q: Floats, starts: Mapping[str, float]) -> Floats:
        """v with G v = ν: prescribed speeds held, the others of least norm."""
        v = np.array([starts.get(name, 0.0) for name in self.v_names])
        free = np.array([name not in starts for name in self.v_names], dtype=bool)
        if not self._rate:
            return v
        G = self.jacobian(q, self._all_rows)
        step = np.zeros_like(v)
        step[free] = -least_norm(G[:, free], self.rate(q, v))
        moved = v + step
        residual = self.rate(q, moved)
        if self.worst(residual) > SLOW * max(1.0, self.worst(moved)):
            k = int(np.argmax(np.abs(residual)))
            if twice := imposed_twice(self.tree.mechanism, self.rate_names[k]):
                raise twice
            speeds_text = ", ".join(f"{n} = {starts[n]:.6g}" for n in self.v_names if n in starts)
            raise AssemblyError(
                f"the speeds {speeds_text or 'at rest'} are inconsistent: they leave "
                f"{abs(residual[k]):.6g} {self.rate_units[k]} in the row {self.rate_names[k]!r}"
                f"{against(residual, self.rate_names)}.",
                hint="Give the speeds of independent coordinates only; the others follow.",
                place=start_place(self.tree.mechanism, {n for n in self.v_names if n in starts}),
            )
        return np.asarray(moved)


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


def _parameter_values(tree: Tree, overrides: dict[str, float]) -> dict[Expr, float]:
    """Parameters and inputs by symbol; unknown ones are left out."""
    mechanism = tree.mechanism
    known = [parameter.name for parameter in mechanism.parameters]
    for name in overrides:
        if name not in known:
            raise NamingError.unknown("parameter", name, known)
    values = {
        symbol(x.name): float(as_float(x.value))
        for x in mechanism.parameters
        if x.value is not None
    }
    values |= {symbol(x.name): float(as_float(x.default)) for x in mechanism.inputs}
    return values | {symbol(name): float(value) for name, value in overrides.items()}


def _rates(tree: Tree, q: Any, v: Any) -> list[Any]:
    """q̇ = N v."""
    rates: list[Any] = []
    for node in tree.nodes:
        rates += list(node.joint.type.kinematic_map(q[node.q]) @ v[node.v])
    return rates


def _on_group(kind: Any, q: Floats) -> Floats:
    """A position by numbers, its quaternions normalized."""
    return np.array([float(x) for x in kind.normalized(q.tolist())])
