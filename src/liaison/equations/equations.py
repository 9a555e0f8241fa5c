"""Equations: the one contract that every formalism fills, its signs and its labels.

    M v̇ + h = τ + Gᵀ λ + Wᵀ μ + Dᵀ f,    G v̇ = γ,    q̇ = N v + n                (equations-1)
    W v + w ≤ 0 ⟂ μ ≤ 0;    gap ≥ 0 ⟂ f_n ≥ 0

What is called force acts on the mechanism. Every symbol is named by the label of the quantity
it stands for: the coordinate `A`, its rate `A'`, its second rate `A''`.

Public names: Equations, Symbols, Kinematic, Dynamics, Closures, Side, Sides, EventFormula, Chart,
Reports, has_rates, curved_rows, check_linear_rates,
chetaev_note.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, final

from liaison.errors import DerivationError
from liaison.expr import ONE, ZERO, Expr, as_expr, symbols_of
from liaison.lazy import Shown, Typeset
from liaison.units import Label

if TYPE_CHECKING:
    from liaison.spatial import Array
    from liaison.tree import Kinematics, SideReading

Entries: TypeAlias = Mapping[tuple[int, int], Expr]
"""A matrix by its nonzeros: (row, column) -> formula."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Symbols(Shown):
    """The unknowns and givens, in order."""

    t: Expr
    q: tuple[Expr, ...]
    v: tuple[Expr, ...]
    vdot: tuple[Expr, ...]
    lam: tuple[Expr, ...]
    u: tuple[Expr, ...]
    p: tuple[Expr, ...]
    xi: tuple[Expr, ...]  # local coordinates of the charts, q = q₀ ⊞ ξ
    stress: tuple[Expr, ...] = ()  # multipliers of every row by itself, vanished ones last
    force: tuple[Expr, ...] = ()  # f of every unilateral row


@final
@dataclass(frozen=True, slots=True)
class Chart:
    """A part of q and v, and what kind of coordinates it has: see `JointType.charts`."""

    kind: str
    q: slice
    v: slice


@final
@dataclass(frozen=True, slots=True, repr=False)
class Kinematic(Shown):
    """How positions follow velocities."""

    N: Entries
    charts: tuple[Chart, ...]
    retract: tuple[Expr, ...]  # q₀ ⊞ ξ, shape (nq,), formulas of q and ξ
    local_rate: tuple[Expr, ...]  # ξ̇, shape (nv,), formulas of q, ξ and v
    difference: tuple[Expr, ...]  # ξ with q ⊞ ξ = q₁, shape (nv,); q₁ in the symbols `target`
    target: tuple[Expr, ...]


@final
@dataclass(frozen=True, slots=True)
class Swept:
    """The tree whose sweeps M and h are, at symbols, and the acceleration of free fall [m/s²]."""

    kinematics: Kinematics
    gravity: Array


@final
@dataclass(frozen=True, slots=True, repr=False)
class Dynamics(Shown):
    """M by its lower triangle, h, τ; f = τ − h; τ of (q, v, v̇)."""

    M: Entries
    h: tuple[Expr, ...]
    tau: tuple[Expr, ...]
    f: tuple[Expr, ...]
    inverse: tuple[Expr, ...]  # M v̇ + h − τ, by recursion where the formalism has one
    articulated: Callable[[], list[Expr]] | None = None
    # v̇ of a tree without closures, by recursion and without M; derived when it is called
    swept: Swept | None = None  # the tree whose sweeps M and h are, nothing added to them
    whole: Dynamics | None = None  # with all multipliers, where M, h and τ have closures eliminated


@final
@dataclass(frozen=True, slots=True, repr=False)
class Closures(Shown):
    """Φ = 0, G v = ν, G v̇ = γ; holonomic rows first, so row k of phi is row k of G."""

    phi: tuple[Expr, ...] = ()
    G: Entries = field(default_factory=lambda: MappingProxyType({}))
    rate: tuple[Expr, ...] = ()  # G v − ν
    nu: tuple[Expr, ...] = ()
    gamma: tuple[Expr, ...] = ()
    vanished: tuple[str, ...] = ()  # rows that hold whatever the mechanism does
    defines: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    # row -> the velocity without inertia that it ties to the others
    reach: tuple[float, ...] = ()  # how large a row's entries can be by rad/s [m, 1]; 0: not known


COEFFICIENTS = ("restitution", "friction", "static", "across", "viscous", "speed")
"""Coefficients of every unilateral block, in this order; 0 where one does not apply."""


@final
@dataclass(frozen=True, slots=True)
class Side:
    """Rows that are active together: a gap, a rate that has one sign, or a slip with friction."""

    name: str
    owner: str  # the contact, relation or friction it belongs to
    kind: str  # "gap", "rate" or "friction"
    first: int  # its first row
    rows: int
    load: int = -1  # of friction: the block whose force bounds it; −1: the bound is its own
    joint: str = ""  # of friction in a bearing: the joint whose force bounds it
    law: str = "coulomb"
    gap: Expr = ZERO
    coefficients: tuple[Expr, ...] = (ZERO,) * len(COEFFICIENTS)
    reading: SideReading | None = None  # of a gap between frames, for reading


@final
@dataclass(frozen=True, slots=True, repr=False)
class Sides(Shown):
    """Unilateral constraints, and friction: u = D v + d, u̇ = D v̇ + bias, effort Dᵀ f."""

    blocks: tuple[Side, ...] = ()
    D: Entries = field(default_factory=lambda: MappingProxyType({}))
    rate: tuple[Expr, ...] = ()  # u
    bias: tuple[Expr, ...] = ()
    labels: tuple[Label, ...] = ()  # of f, row by row
    pairs: tuple[Any, ...] = ()  # convex bodies whose places of contact loops find: ConvexPair


@final
@dataclass(frozen=True, slots=True, repr=False)
class EventFormula(Shown):
    """An event: a formula that changes sign, and the action then."""

    name: str
    formula: Expr
    direction: int  # +1 rising, −1 falling, 0 both
    action: str


class Reports(Protocol):
    """Energy, momentum, poses and reactions, as formulas."""

    @property
    def energy(self) -> tuple[Expr, Expr]:
        """T and U [J]."""

    @property
    def power(self) -> Expr:
        """Power of loads that U does not hold [W]."""

    @property
    def momentum(self) -> tuple[Expr, ...]:
        """About the ground's origin, in its axes: moment, then resultant."""

    @property
    def poses(self) -> Mapping[str, tuple[Expr, ...]]:
        """Body -> R_WB row by row (9), p_WB (3)."""

    @property
    def reactions(self) -> Mapping[str, tuple[Expr, ...]]:
        """Joint -> wrench on its successor (moment, force), in M's axes at M, of v̇ and λ."""

    @property
    def motions(self) -> Mapping[str, tuple[Expr, ...]]:
        """Body -> ω, v, ω̇, v̇ of its frame, in the ground's axes, of v̇."""

    @property
    def markers(self) -> Mapping[str, tuple[Expr, ...]]:
        """Joint -> R_WM row by row (9), p_WM (3), of the marker of its reaction."""

    @property
    def balance(self) -> Mapping[str, tuple[Expr, ...]]:
        """Both sides of the general theorems, of v̇ and λ."""

    @property
    def self_stress(self) -> Mapping[str, tuple[Expr, ...]]:
        """The part of `reactions` that multipliers alone cause, of the symbols `stress`."""

    @property
    def upright(self) -> tuple[Expr, ...]:
        """What is positive where no joint of a closure is put together the wrong way round."""

    @property
    def offsets(self) -> tuple[Expr, ...]:
        """Lengths of the mechanism, of either sign: the scale of errors of closing [m]."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Equations(Typeset):
    """The equations of motion of one mechanism in one formalism.

    Example:
        >>> import liaison
        >>> equations = liaison.derive("examples/pendulum.lsd", "lagrange")
        >>> equations
        <Equations pendulum, by lagrange: 1 equation>
        >>> print(equations.text().splitlines()[4])
          A: ⅓ l A'' + 4.905 sin(A) = 0      (divided by m l)
    """

    name: str
    formalism: str
    symbols: Symbols
    kinematics: Kinematic
    dynamics: Dynamics
    closures: Closures
    reports: Reports  # energy, momentum, poses, reactions: derived when first asked for
    outputs: Mapping[str, Expr]
    labels: Mapping[str, tuple[Label, ...]]
    defaults: Mapping[str, tuple[float, ...]]
    sides: Sides = field(default_factory=Sides)
    switches: tuple[Expr, ...] = ()
    events: tuple[EventFormula, ...] = ()
    invariants: Mapping[str, Expr] = field(default_factory=lambda: MappingProxyType({}))
    native: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))  # handed on


def curved_rows(equations: Equations) -> frozenset[int]:
    """Rows of relations that are not linear in velocities: their G depends on these."""
    first, speeds = len(equations.closures.phi), {*equations.symbols.v}
    rated = [(k, x) for (k, _), x in equations.closures.G.items() if k >= first]
    return frozenset(k for k, x in rated if not speeds.isdisjoint(symbols_of([x])))


def check_linear_rates(equations: Equations, where: str) -> None:
    """Raises an error where a relation is not linear in velocities.

    Args:
        equations: with their closures.
        where: what needs linear rows, and why.
    """
    for k in sorted(curved_rows(equations)):
        raise DerivationError(
            f"the relation {equations.labels['lam'][k].name!r} is not linear in the rates: {where}"
        )


def chetaev_note(name: str) -> str:
    """What is chosen where a relation is not linear in velocities."""
    return (
        f"{name} is not linear in the rates: its reaction is along ∂Φ/∂q̇ by Chetaev's rule, which "
        "is a choice; other realizations of the same relation move otherwise."
    )


def has_rates(equations: Equations) -> bool:
    """Whether every velocity is the rate of its coordinate."""
    N, n = equations.kinematics.N, len(equations.symbols.v)
    is_square = len(equations.symbols.q) == n == len(N)
    return is_square and all(i == j and as_expr(x) is ONE for (i, j), x in N.items())
