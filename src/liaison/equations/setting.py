"""Setting shared by all formalisms: symbols named by labels, kinematics, loads, closures, reports.

Loads as rows: what a force does is its effort times the rate of what it acts along.

A spring, a damper or an actuator acts along a *measure* (a distance, an angle, a coordinate); the
measure's row on v turns the effort into generalised forces, and its pushes into wrenches on
bodies.

    τ = Σ rowᵀ effort − Nᵀ ∂V/∂q − ∂R/∂v                                        (loads-1)

A potential V(q, v, t) of velocities acts by Q = d/dt ∂V/∂v − Σ c v ∂V/∂v − Nᵀ ∂V/∂q. What of it
goes with v̇ is inertia, −∂²V/∂v², and its energy is V − v · ∂V/∂v, so that T + U is v · ∂L/∂v − L.

Public names: Setting, setting_of, shared, shared_settings, Load, Calculus, loads,
check_no_inertia.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, final

from liaison.errors import AssemblyError, DerivationError
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    as_expr,
    atan2,
    cos,
    directional,
    gradient,
    jacobian,
    sin,
    substitute,
    symbol,
    symbols_of,
    vanishes,
)
from liaison.model import (
    AlongMeasure,
    Angle,
    AtMarker,
    Cable,
    Coordinate,
    Distance,
    Field,
    Force,
    Measure,
    Mechanism,
    OfMechanism,
)
from liaison.model.loads.control import GravityCompensation
from liaison.spatial.arrays import Array, array, number, plus, product, times, zeros
from liaison.tree import (
    GROUND,
    Kinematics,
    Node,
    Push,
    Row,
    Tree,
    closure_rows,
    distance_row,
    marker_motion,
    merged,
    power_row,
    regrouped,
    relative_rows,
    row_place,
    stretch_row,
    template,
    turning_path,
)
from liaison.tree.closure import dependent_rates
from liaison.units import MOMENT, Label

from .equations import Chart, Closures, Kinematic, Symbols


@final
@dataclass(frozen=True, slots=True)
class Load:
    """One load: generalised forces, wrenches on bodies, stored energy."""

    name: str
    tau: dict[int, Any]
    pushes: tuple[tuple[Any, Push], ...] = ()  # effort and the push it scales
    potential: Any = 0  # energy; of a potential V of velocities V − v · ∂V/∂v
    rate_potential: Expr | None = None  # V, where it depends on velocities
    inertia: tuple[tuple[tuple[int, int], Expr], ...] = ()  # −∂²V/∂v², lower triangle
    states: tuple[tuple[int, Expr], ...] = ()  # ż of its own states, by their places in v


class Calculus(Protocol):
    """Expression and differentiation of formulas of the description."""

    def expressed(self, formula: Any) -> Expr:
        """A formula of the description in the symbols of the equations."""

    def flows(self, potential: Expr) -> list[Expr]:
        """V -> ∂V along each velocity, the list of Nᵀ ∂V/∂q."""

    def lagrangian_effort(self, potential: Expr) -> list[Expr]:
        """V(q, v, t) -> d/dt ∂V/∂v − Σ c v ∂V/∂v − Nᵀ ∂V/∂q where v̇ = 0."""


def loads(kinematics: Kinematics, forces: Sequence[Force], calculus: Calculus) -> list[Load]:
    """Every load but gravity, which is an acceleration of the ground.

    Args:
        kinematics: of the tree, on formulas.
        forces: of the mechanism.
        calculus: of the equations these loads enter.
    """
    listed = []
    for force in forces:
        if isinstance(force, Field):
            continue
        try:
            listed.append(load(kinematics, force, calculus))
        except ZeroDivisionError as error:
            raise DerivationError(
                f"what {force.name!r} acts along has no direction, wherever the mechanism is.",
                place=force.place,
                hint="The markers of a distance must not stay at one point, nor may x of the "
                "second marker of an angle stay along z of the first.",
            ) from error
    return listed


def load(kinematics: Kinematics, force: Force, calculus: Calculus) -> Load:
    """One force of the mechanism as a load, by the way in which it acts."""
    if isinstance(force, AlongMeasure):
        read = reading(kinematics, calculus)
        pull = without_free_length(kinematics, force, read)
        if pull is not None:
            return pull
        row = measure_row(kinematics, force.along())
        check_continuous(kinematics, force, read)
        effort, stored = (
            force.effort_at(row.value, row.rate, read),
            force.energy_at(row.value, read),
        )
        acting = along(force.name, row, effort, potential=0 if stored is None else stored)
        return with_states(kinematics, force, acting, row.value, row.rate, read)
    if force.states():
        read = reading(kinematics, calculus)
        return with_states(kinematics, force, Load(force.name, {}), 0, 0, read)
    if isinstance(force, AtMarker):
        return point_load(kinematics, force, calculus)
    if isinstance(force, OfMechanism):
        return function_load(kinematics, force, calculus)
    raise DerivationError(
        f"no formula is known for the force {force.name!r}: {type(force).__name__} is neither "
        "AlongMeasure, AtMarker, OfMechanism nor Field.",
        place=force.place,
    )


def with_states(
    kinematics: Kinematics, force: Force, acting: Load, x: Any, rate: Any, read: Any
) -> Load:
    """The load with the rates of its own states."""
    labels = force.states()
    if not labels:
        return acting
    places = [kinematics.places[label.name] for label in labels]
    rates = [as_expr(f) for f in force.state_rates(x, rate, read)]
    return replace(acting, states=tuple(zip(places, rates, strict=True)))


def without_free_length(kinematics: Kinematics, force: AlongMeasure, read: Any) -> Load | None:
    """An effort c·d along a distance d, as of a spring without free length; None of any other.

    The force is c (p_b − p_a), which is smooth where the two points meet and d has no direction.
    """
    factor, measure = slope_without_length(force, read), force.along()
    if factor is None or not isinstance(measure, Distance):
        return None
    stored = force.energy_at(symbol("'distance"), read)
    places = kinematics.tree.located(measure.a), kinematics.tree.located(measure.b)
    row = stretch_row(kinematics, *places)
    return along(force.name, row, factor, potential=0 if stored is None else -factor * row.value)


def slope_without_length(force: AlongMeasure, read: Any) -> Expr | None:
    """c of an effort c·d along a distance d; None of any other."""
    x, rate = symbol("'distance"), symbol("'rate")
    if not isinstance(force.along(), Distance) or force.states():
        return None
    effort = as_expr(force.effort_at(x, rate, read))
    (factor,) = gradient(effort, [x])
    varies = x in symbols_of([factor]) or rate in symbols_of([effort])
    return None if varies or number(substitute([effort], {x: ZERO})[0]) != 0 else factor


def check_continuous(kinematics: Kinematics, force: AlongMeasure, read: Any) -> None:
    """Raises an error for a load that depends on an angle whose turns nothing counts."""
    measure, x = force.along(), symbol("'angle")
    if not isinstance(measure, Angle) or turning_path(kinematics.tree.mechanism, measure):
        return
    effort, stored = force.effort_at(x, symbol("'rate"), read), force.energy_at(x, read)
    formulas = [as_expr(y) for y in (effort, 0 if stored is None else stored)]
    from liaison.expr.periodic import is_periodic

    is_counted = turning_path(kinematics.tree.mechanism, measure) is not None
    if not is_counted and not is_periodic(formulas, x):
        raise DerivationError(
            f"{force.name!r} depends on an angle between {measure.a.body!r} and "
            f"{measure.b.body!r} that jumps from 180 to -180 deg: no joints that turn about z of "
            "the first frame alone lead from one to the other, to count its turns.",
            place=force.place,
            hint="Act on the coordinates of the joints between them, write it as a potential, or "
            "give a law of sines and cosines of the angle, which does not jump.",
        )


def reading(kinematics: Kinematics, calculus: Calculus) -> Callable[[Any], Any]:
    """How fields of a load enter its formulas: numbers of the tree, symbols of the equations."""
    numbers = kinematics.tree.numbers

    def read(x: Any) -> Any:
        known = numbers(x)
        return calculus.expressed(known) if isinstance(known, Expr) else known

    return read


def function_load(kinematics: Kinematics, force: OfMechanism, calculus: Calculus) -> Load:
    """A potential V or a dissipation D of the mechanism: −Nᵀ ∂V/∂q − ∂D/∂v."""
    potential_formula, lost = force.potential(), force.rayleigh()
    if potential_formula is None and lost is None:
        message = f"the force {force.name!r} has neither a potential nor a dissipation."
        raise DerivationError(message, place=force.place)
    stored = Load(force.name, {})
    parts: list[list[Expr]] = []
    if potential_formula is not None:
        potential = calculus.expressed(potential_formula)
        stored, pull = potential_load(force.name, potential, kinematics, calculus)
        parts.append(pull)
    if lost is not None:
        drag = gradient(calculus.expressed(lost), list(kinematics.v))
        parts.append([-x for x in drag])
    pull = parts[0] if len(parts) == 1 else [x + y for x, y in zip(*parts, strict=True)]
    return replace(stored, tau=nonzero(pull))


def potential_load(
    name: str, potential: Expr, kinematics: Kinematics, calculus: Calculus
) -> tuple[Load, list[Expr]]:
    """What a potential stores, its inertia, and its generalised force where v̇ = 0."""
    v = list(kinematics.v)
    if not {*symbols_of([potential])} & {*v}:
        return Load(name, {}, potential=potential), [-x for x in calculus.flows(potential)]
    momenta = [-x for x in gradient(potential, v)]
    inertia = {
        (i, j): entry
        for (i, j), entry in jacobian(momenta, v).items()
        if i >= j and not vanishes(entry)
    }
    energy = potential + sum((p * x for p, x in zip(momenta, v, strict=True)), ZERO)
    stored = Load(
        name,
        {},
        potential=as_expr(energy),
        rate_potential=potential,
        inertia=tuple(inertia.items()),
    )
    return stored, calculus.lagrangian_effort(potential)


def along(name: str, row: Row, effort: Any, potential: Any = 0) -> Load:
    """An effort along a measure."""
    tau = {j: entry * effort for j, entry in row.G.items()}
    return Load(name, tau, tuple((effort, push) for push in row.pushes), potential)


def point_load(kinematics: Kinematics, force: AtMarker, calculus: Calculus) -> Load:
    """A force and a moment at a marker, in the ground's axes or another marker's."""
    tree, numbers = kinematics.tree, kinematics.tree.numbers
    place, turned = tree.located(force.at()), force.turned_with()
    at = marker_motion(kinematics, GROUND, place)
    axes = marker_motion(kinematics, GROUND, tree.located(turned)).R if turned else None
    components = [[numbers(x) for x in part] for part in force.wrench()]
    parts = [
        array([calculus.expressed(x) if isinstance(x, Expr) else x for x in part])
        for part in components
    ]
    moment, pull = parts if axes is None else [product(axes, part) for part in parts]
    push = Push(place[0], GROUND, at.p, moment, pull)
    return Load(force.name, power_row(kinematics, (push,)), ((1, push),))


def measure_row(kinematics: Kinematics, measure: Measure) -> Row:
    """Value, rate and row on v of what a load acts along."""
    tree = kinematics.tree
    match measure:
        case Coordinate(label=label):
            return coordinate_row(kinematics, label)
        case Distance(a=a, b=b):
            return distance_row(kinematics, tree.located(a), tree.located(b))
        case Angle():
            return angle_row(kinematics, measure)
        case Cable():
            return cable_row(kinematics, measure)
    raise DerivationError(f"no row is known for the measure {type(measure).__name__}.")


def cable_row(kinematics: Kinematics, cable: Cable) -> Row:
    """The weighted sum of the rows of a cable's parts."""
    numbers = kinematics.tree.numbers
    total = Row(numbers(cable.offset), {}, 0, 0, 0)
    for factor, measure in cable.terms:
        k, row = numbers(factor), measure_row(kinematics, measure)
        G = dict(total.G)
        for j, entry in row.G.items():
            G[j] = plus(G.get(j, 0), times(k, entry))
        pushes = tuple(
            replace(x, moment=scaled(k, x.moment), force=scaled(k, x.force)) for x in row.pushes
        )
        total = Row(
            plus(total.value, times(k, row.value)),
            G,
            plus(total.rate, times(k, row.rate)),
            0,
            plus(total.gamma, times(k, row.gamma)),
            (*total.pushes, *pushes),
        )
    return total


def scaled(k: Any, vector: Array) -> Array:
    """k times a vector of numbers or formulas."""
    return array([times(k, x) for x in vector])


def angle_row(kinematics: Kinematics, angle: Angle) -> Row:
    """The angle of b's x about z of a; turns are counted by the joints between the two."""
    tree = kinematics.tree
    first, second = tree.located(angle.a), tree.located(angle.b)
    R, _ = template()
    turned = as_expr(atan2(R[1, 0], R[0, 0]))
    turns = turning_path(tree.mechanism, angle)
    if turns is None:
        return relative_rows(kinematics, first, second, [turned])[0]
    near = as_expr(sum((symbol(label) * sense for label, sense in turns), ZERO))
    c, s = cos(near), sin(near)
    rest = as_expr(atan2(R[1, 0] * c - R[0, 0] * s, R[0, 0] * c + R[1, 0] * s))
    plain, counted = relative_rows(kinematics, first, second, [turned, rest])
    return replace(plain, value=near + counted.value)


def coordinate_row(kinematics: Kinematics, label: str) -> Row:
    """A joint coordinate as a measure."""
    if f"{label}'" not in kinematics.places:
        raise DerivationError(
            f"{label!r} has no rate of its own, so nothing can act along it.",
            hint="Act along a coordinate whose velocity is its rate, or apply a wrench.",
        )
    j = kinematics.places[f"{label}'"]
    return Row(symbol(label), {j: 1}, kinematics.v[j], 0, 0)


def nonzero(entries: Sequence[Expr]) -> dict[int, Expr]:
    """Index -> entry, zeros left out."""
    return {j: entry for j, entry in enumerate(entries) if entry is not ZERO}


if TYPE_CHECKING:
    from liaison.tree import SideBlock


class Setting:
    """A tree on formulas: its symbols, its kinematics, and what follows from them alone."""

    def __init__(self, tree: Tree, alike: Setting | None = None) -> None:
        self.tree = tree
        self.alike = alike  # of a tree that moves alike: its loads and closures are taken
        self.mechanism: Mechanism = tree.mechanism
        self.symbols = self._symbols()
        self.q, self.v = array(list(self.symbols.q)), array(list(self.symbols.v))
        moving = None if alike is None else alike.kinematics
        self.kinematics: Kinematics = Kinematics(tree, self.q, self.v, alike=moving)

    def _symbols(self) -> Symbols:
        speeds = self.tree.velocity_labels()
        return Symbols(
            t=symbol("t"),
            q=tuple(symbol(label.name) for label in self.tree.position_labels()),
            v=tuple(symbol(label.name) for label in speeds),
            vdot=tuple(symbol(f"{label.name}'") for label in speeds),
            lam=(),
            u=tuple(symbol(x.name) for x in self.mechanism.inputs),
            p=tuple(symbol(x.name) for x in self.mechanism.parameters),
            xi=tuple(symbol(f"'xi {label.name}") for label in speeds),
        )

    @cached_property
    def gravity(self) -> Array:
        """The acceleration of free fall [m/s²]."""
        total = zeros(3)
        for force in self.mechanism.forces:
            if isinstance(force, Field):
                total = total + array([self.tree.numbers(x) for x in force.vector])
        return total

    @cached_property
    def qdot(self) -> list[Expr]:
        """q̇ = N v."""
        rates: list[Expr] = []
        for node in self.tree.nodes:
            N = node.joint.type.kinematic_map(self.q[node.q])
            rates += [as_expr(x) for x in product(N, self.v[node.v])]
        return rates

    def expressed(self, formula: Any) -> Expr:
        """A formula of the description in the symbols of these equations."""
        written = as_expr(formula)
        rates = self._rates
        used = {x: rates[x] for x in symbols_of([written]) if x in rates} if rates else {}
        return substitute([written], used)[0] if used else written

    @cached_property
    def _rates(self) -> dict[Expr, Expr]:
        """Rates of coordinates that are no velocity."""
        return dependent_rates(self.q, self.v, self.qdot)

    @cached_property
    def carriers(self) -> dict[Expr, int]:
        """The node that each coordinate belongs to."""
        return {x: i for i, node in enumerate(self.tree.nodes) for x in self.q[node.q]}

    def flows(self, potential: Expr) -> list[Expr]:
        """Nᵀ ∂V/∂q: how V changes for a unit of each velocity."""
        slopes: list[Expr] = [ZERO] * len(self.v)
        used = {self.carriers[x] for x in symbols_of([potential]) if x in self.carriers}
        for node in (self.tree.nodes[i] for i in sorted(used)):
            q = self.q[node.q]
            N = node.joint.type.kinematic_map(q)
            for k in range(N.shape[1]):
                along = {x: as_expr(dx) for x, dx in zip(q, N[:, k], strict=True)}
                slopes[node.v.start + k] = directional([potential], along)[0]
        return slopes

    @cached_property
    def loads(self) -> list[Load]:
        """Every load but gravity."""
        if self.alike is not None:
            return self.alike.loads
        balancing = [x for x in self.mechanism.forces if isinstance(x, GravityCompensation)]
        if not balancing:
            return loads(self.kinematics, self.mechanism.forces, self)
        from liaison.equations.motors.compensation import compensations

        others = [x for x in self.mechanism.forces if x not in balancing]
        efforts = compensations(self, balancing)
        balances = [Load(name, {j: effort}) for name, j, effort in efforts]
        return loads(self.kinematics, others, self) + balances

    def lagrangian_effort(self, potential: Expr) -> list[Expr]:
        """d/dt ∂V/∂v − Σ c v ∂V/∂v − Nᵀ ∂V/∂q where v̇ = 0."""
        from .commutators import commutator_terms

        momenta = gradient(potential, list(self.symbols.v))
        flow = dict(zip(self.symbols.q, self.qdot, strict=True))
        change = directional(momenta, flow | {self.symbols.t: ONE})
        turn = commutator_terms(self.tree, momenta, self.symbols.v)
        along = self.flows(potential)
        return [a - b - c for a, b, c in zip(change, turn, along, strict=True)]

    @cached_property
    def states(self) -> dict[int, Expr]:
        """ż of the states of loads, by their places in v."""
        return {j: f for load in self.loads for j, f in load.states}

    @cached_property
    def rate_potential(self) -> Expr:
        """The sum of all potentials that depend on velocities."""
        listed = [x.rate_potential for x in self.loads if x.rate_potential is not None]
        return as_expr(sum(listed, ZERO))

    def applied(self, *, rate_potentials: bool = True) -> list[Expr]:
        """τ of all loads where v̇ = 0.

        Args:
            rate_potentials: those of potentials that depend on velocities, too.
        """
        tau: list[Any] = [ZERO] * self.tree.nv
        for load in self.loads:
            if load.rate_potential is not None and not rate_potentials:
                continue
            for j, entry in load.tau.items():
                tau[j] = tau[j] + entry
        return tau

    @cached_property
    def rows(self) -> tuple[list[tuple[Label, Row]], list[tuple[Label, Row]]]:
        """Rows that constrain, holonomic first, and those that vanish."""
        if self.alike is not None:
            return self.alike.rows
        kept, vanished = [], []
        for label, row in closure_rows(self.kinematics, self.qdot):
            if not all(map(vanishes, row.G.values())):
                kept.append((label, row))
            else:
                check_holds(self.mechanism, label, row)
                vanished.append((label, row))
        kept.sort(key=lambda pair: pair[1].value is None)
        return kept, vanished

    def closures(self) -> Closures:
        """Φ, G, ν, γ as formulas."""
        return self._closures

    @cached_property
    def _closures(self) -> Closures:
        if self.alike is not None:
            return self.alike.closures()
        kept, vanished = self.rows
        G = {
            (k, j): as_expr(entry)
            for k, (_, row) in enumerate(kept)
            for j, entry in sorted(row.G.items())
            if not vanishes(entry)
        }
        return Closures(
            phi=tuple(as_expr(row.value) for _, row in kept if row.value is not None),
            G=MappingProxyType(G),
            rate=tuple(as_expr(row.rate) for _, row in kept),
            nu=tuple(as_expr(row.nu) for _, row in kept),
            gamma=tuple(as_expr(row.gamma) for _, row in kept),
            vanished=tuple(label.name for label, _ in vanished),
            defines=MappingProxyType(
                {k: row.defines for k, (_, row) in enumerate(kept) if row.defines is not None}
            ),
            reach=tuple(self._reach(label, row) for label, row in kept),
        )

    def _reach(self, label: Label, row: Row) -> float:
        """Entries of a joint's row: a cosine for a moment, an arm for a force."""
        if not row.pushes:
            return 0.0
        arm = self._arms.get(label.name.rpartition(": ")[0])
        return 1.0 if label.unit == MOMENT or not arm else arm

    @cached_property
    def _arms(self) -> dict[str, float]:
        """For each closure the longest offset from a joint of its loop outwards [m]."""
        arms = {}
        for closure in self.tree.closures:
            ends = (closure.predecessor, closure.successor)
            root = self.tree.common_ancestor(ends[0][0], ends[1][0])
            offsets = [p for _, (_, p) in ends]
            for i in (i for node, _ in ends for i in self.tree.path(node, root)):
                if self.tree.nodes[i].parent != root:
                    offsets.append(self.tree.nodes[i].X_PJ[1])
            known = [abs(float(x)) for p in offsets for x in p if not isinstance(x, Expr)]
            arms[closure.joint.name] = max(known, default=0.0)
        return arms

    @cached_property
    def side_blocks(self) -> list[SideBlock]:
        """Unilateral constraints, and friction."""
        if self.alike is not None:
            return self.alike.side_blocks
        if not self.kinematics.tree.mechanism.contacts:
            return []
        from liaison.tree.contact.sides import side_blocks

        return side_blocks(self.kinematics, self.qdot)

    def kinematic(self) -> Kinematic:
        """N, charts and local coordinates."""
        return self._kinematic

    @cached_property
    def _kinematic(self) -> Kinematic:
        if self.alike is not None:
            return self.alike.kinematic()
        N: dict[tuple[int, int], Expr] = {}
        charts, retract, rate, difference = [], [], [], []
        xi = array(list(self.symbols.xi))
        target = array([symbol(f"'target {x.name}") for x in self.symbols.q])
        for node in self.tree.nodes:
            kind, q = node.joint.type, self.q[node.q]
            charts += charts_of(node)
            for (i, j), entry in ndenumerate(kind.kinematic_map(q)):
                if not vanishes(entry):
                    N[node.q.start + i, node.v.start + j] = as_expr(entry)
            retract += list(kind.retract(q, xi[node.v]))
            rate += list(kind.local_rate(q, xi[node.v], self.v[node.v]))
            difference += list(kind.difference(q, target[node.q]))
        return Kinematic(
            N=MappingProxyType(N),
            charts=tuple(charts),
            retract=tuple(as_expr(x) for x in retract),
            local_rate=tuple(as_expr(x) for x in rate),
            difference=tuple(as_expr(x) for x in difference),
            target=tuple(target),
        )


def check_no_inertia(setting: Setting, where: str) -> None:
    """Raises an error for a potential of velocities that adds inertia to M.

    Args:
        setting: of the tree.
        where: what has no place for such inertia, in the plural.
    """
    for load in setting.loads:
        if load.states:
            raise DerivationError(
                f"{load.name!r} has a state of its own, which {where} do not support.",
                hint="Run or derive the mechanism in its own coordinates by another formalism.",
            )
        if load.inertia:
            raise DerivationError(
                f"the potential {load.name!r} is of degree two or more in velocities: it adds "
                f"inertia that belongs to no body, which {where} do not support.",
                hint="Run or derive the mechanism in its own coordinates by another formalism.",
            )


_SHARED: ContextVar[dict[tuple[int, str], tuple[Tree, Any]] | None]
_SHARED = ContextVar("what formalisms share", default=None)
Value = TypeVar("Value")


@contextmanager
def shared_settings() -> Iterator[None]:
    """Formalisms that are derived in this block share loads, closures and kinematics of a tree."""
    token = _SHARED.set({})
    try:
        yield
    finally:
        _SHARED.reset(token)


def shared(tree: Tree, what: str, make: Callable[[], Value]) -> Value:
    """A value derived from a tree, computed once within `shared_settings`."""
    known = _SHARED.get()
    if known is None:
        return make()
    key = (id(tree), what)
    if key not in known:
        known[key] = (tree, make())  # the tree is kept, so that its id stays its own
    value: Value = known[key][1]
    return value


def setting_of(tree: Tree, *, regroup: bool = True) -> Setting:
    """The tree without its welds, on formulas; inertia moved to carriers where joints feel none.

    Args:
        tree: of the mechanism.
        regroup: also regroup inertia, which leaves T and M as they are, but single bodies without
            meaning.
    """
    plain = shared(tree, "setting", lambda: Setting(merged(tree)))
    if not regroup:
        return plain
    return shared(tree, "regrouped", lambda: Setting(regrouped(plain.tree), plain))


def charts_of(node: Node) -> list[Chart]:
    """The charts of a joint, where they lie in q and v."""
    charts, q, v = [], node.q.start, node.v.start
    for kind, nq, nv in node.joint.type.charts:
        charts.append(Chart(kind, slice(q, q + nq), slice(v, v + nv)))
        q, v = q + nq, v + nv
    return charts


def ndenumerate(matrix: Array) -> list[tuple[tuple[int, int], Any]]:
    """((row, column), entry) of every entry."""
    rows, columns = matrix.shape
    return [((i, j), matrix[i, j]) for i in range(rows) for j in range(columns)]


def check_holds(mechanism: Mechanism, label: Label, row: Row) -> None:
    """A row that no motion can change must be met already."""
    if row.value is None:
        return
    value = as_expr(row.value)
    if value.op == "const" and abs(float(value.value)) > NEVER:
        raise AssemblyError(
            f"the row {label.name!r} is off by {float(value.value):.6g} in every position: "
            "no motion of the mechanism can change it.",
            hint="Check the positions and directions of that joint's two markers.",
            place=row_place(mechanism, label.name),
        )


NEVER = 1e-9
"""A constant residual over this [m, 1] is geometry, not rounding."""
