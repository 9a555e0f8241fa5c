"""lower: which entries a simulation, a report or an export needs, as formulas in one graph.

An entry is derived when it is first asked for: forward dynamics alone does not pay for reactions.

Public names: lower.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from liaison.arguments import checked
from liaison.equations import Equations
from liaison.equations.completion import ImplicitLoad, measure_symbols, measured
from liaison.errors import DerivationError, NamingError, ProgramError
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    absolute,
    as_expr,
    count_operations,
    maximum,
    rewritten,
    sqrt,
    substitute,
    symbol,
    symbols_of,
    vanishes,
)
from liaison.program.derivatives.columns import Columns
from liaison.units import FORCE

from .program import Entry, Program
from .solve import Factor, Saddle, dense, factor, solved, with_metric

if TYPE_CHECKING:
    from liaison.program.derivatives.stages import Stages

Blocks: TypeAlias = list[tuple[str, Sequence[Expr]]]

SHALLOW, DEEP = 5, 8
"""Entries of M a row up to which elimination, and from which articulated bodies, take fewer
operations for certain: chains of revolute joints cross at 6."""

ARTICULATED_WEIGHT = 1.15
"""Their operations wait for each other more: measured, a seventh more time for as many."""

Makers: TypeAlias = "Mapping[str, Callable[[], Blocks | Columns | Stages]]"


@checked
def lower(equations: Equations) -> Program:
    """The program of a mechanism: every entry of the kernel contract.

    Args:
        equations: of any formalism.

    Returns:
        forward, rate, inverse, mass_matrix, bias, applied, closure, terms, correct_q, correct_v,
        retract, difference, energy, momentum, poses, reactions, outputs, events; and, where asked
        for by name, assembly (what closing the loops asks of a state), d_inverse, d_inverse_p,
        d_forward, d_forward_p (see derivatives.py) and h_inverse (see curvature.py), self_stress
        (what multipliers alone cause in joints), motions (of bodies, x = v̇), markers (poses of
        joints), balance (the general theorems), work (T, U and the power of what is not stored),
        invariants (first integrals), d_residual, d_motion and tangent (see tangent.py), variation
        and varied (see variation.py), adjoint, adjoint_motion and adjoint_closing (likewise), qdot
        (q̇ = N v), solve (v̇ and λ of any f and γ, where closures are not eliminated), kick, leap,
        d_leap, reach and turn (see variation.py).

    Example:
        >>> import liaison
        >>> liaison.lower(liaison.derive("examples/pendulum.lsd"))
        <Program pendulum: 1 position, 1 velocity, 18 entries>
    """
    symbols = equations.symbols
    nq, nv, nc = len(symbols.q), len(symbols.v), len(symbols.lam)
    return Program(
        name=equations.name,
        entries=_entries_of(equations),
        inputs=MappingProxyType(_places(equations)),
        sizes=MappingProxyType(
            {
                "nq": nq,
                "nv": nv,
                "nc": nc,
                "nphi": len(equations.closures.phi),
                "nu": len(symbols.u),
                "np": len(symbols.p),
                "nx": max(
                    nq,
                    nv + nc + len(symbols.force) + len(_features(equations)),
                    len(_measures(equations)),
                ),
            }
        ),
        labels=equations.labels,
        defaults=MappingProxyType(
            {key: np.array(values, dtype=float) for key, values in equations.defaults.items()}
        ),
        facts=MappingProxyType(_facts(equations)),
    )


def _curvature_places(equations: Equations) -> list[Expr]:
    """What x holds after v̇ and λ: the weights w, then d along q, v and v̇, nv each."""
    speeds = [x.name for x in equations.symbols.v]
    kinds = ("weight", "direction q", "direction v", "direction vdot")
    return [symbol(f"{kind} {name}") for kind in kinds for name in speeds]


def _changes(equations: Equations) -> list[Expr]:
    """What x holds in the entry `variation`: δq, δv, δu, δp."""
    symbols = equations.symbols
    varied = (*symbols.q, *symbols.v, *symbols.u, *symbols.p)
    return [symbol(f"change of {x.name}") for x in varied]


def right_sides(equations: Equations) -> list[Expr]:
    """What x holds in the entry `solve`: f and γ."""
    return [
        symbol(f"right side {k}") for k in range(len(equations.symbols.v + equations.symbols.lam))
    ]


def _weights(equations: Equations) -> list[Expr]:
    """What x holds in the entry `adjoint`: weights of q̇, v̇ and the outputs."""
    symbols = equations.symbols
    listed = [*(x.name for x in (*symbols.q, *symbols.v)), *equations.outputs]
    return [symbol(f"weight {k} of {name}") for k, name in enumerate(listed)]


def _places(equations: Equations) -> dict[Expr, tuple[str, int]]:
    """Where each symbol is found; v̇, λ, f and places of hulls, ξ, and a target each begin x.

    Raises:
        NamingError: two quantities share a name.
    """
    symbols = equations.symbols
    listed = [("t", (symbols.t,)), ("q", symbols.q), ("v", symbols.v), ("u", symbols.u)]
    extra = (*symbols.vdot, *symbols.lam, *_curvature_places(equations))
    listed += [("p", symbols.p), ("x", extra), ("x", symbols.xi)]
    listed += [("x", equations.kinematics.target), ("x", symbols.stress)]
    after = [solved(x) for x in (*symbols.vdot, *symbols.lam)]
    listed += [("x", (*_changes(equations), *after)), ("x", tuple(_weights(equations)))]
    listed += [("x", tuple(right_sides(equations))), ("x", _measures(equations))]
    places: dict[Expr, tuple[str, int]] = {}
    for array, group in listed:
        for i, x in enumerate(group):
            if x in places:
                raise NamingError.double("quantities", x.name)
            places[x] = (array, i)
    first = len(symbols.vdot) + len(symbols.lam)
    behind = (*symbols.force, *_features(equations))
    return places | {x: ("x", first + i) for i, x in enumerate(behind)}


def _measures(equations: Equations) -> tuple[Expr, ...]:
    """What x holds in the entry `load_laws`: measures that loads act along, then their rates."""
    mechanism = equations.facts.get("mechanism")
    both = [measure_symbols(x.name) for x in measured(mechanism)] if mechanism else []
    return tuple(x for group in zip(*both, strict=True) for x in group)


def _features(equations: Equations) -> tuple[Expr, ...]:
    """What x holds behind v̇, λ and f: places of contact that loops find."""
    return tuple(x for pair in equations.sides.pairs for x in pair.features)


def _facts(equations: Equations) -> dict[str, object]:
    return {
        "formalism": equations.formalism,
        "charts": equations.kinematics.charts,
        "events": tuple((e.name, e.direction, e.action) for e in equations.events),
        "vanished": equations.closures.vanished,
        "sides": tuple(
            (x.name, x.owner, x.kind, x.first, x.rows, x.load, x.law)
            for x in equations.sides.blocks
        ),
        "bearings": tuple(k for k, x in enumerate(equations.sides.blocks) if x.joint),
        "convex": tuple((x.name, x.first, x.second) for x in equations.sides.pairs),
        "formulas": partial(watched_formulas, equations),
        "laws": partial(_laws, equations),
        "closures": partial(closure_rows, equations),
        "energy": partial(watched_energy, equations),
        **equations.facts,
        "implicit_loads": partial(implicit_count, equations),
    }


def _laws(equations: Equations) -> list[Expr]:
    """Forces, and what accelerations of closures depend on."""
    return [*equations.dynamics.f, *equations.closures.gamma]


def closure_rows(equations: Equations) -> list[tuple[Expr, Expr]]:
    """Φ (0 of rows of rates) and ν of every closure."""
    phi, nu = equations.closures.phi, equations.closures.nu
    return [(phi[k] if k < len(phi) else ZERO, rate) for k, rate in enumerate(nu)]


def watched_energy(equations: Equations) -> tuple[str, str]:
    """The entry by which the balance of energy is kept along a run; "" and why there is none.

    Where nothing but what is stored changes T + U it is `energy`, otherwise `work`.
    """
    symbols, reports, sides = equations.symbols, equations.reports, equations.sides
    if {*symbols_of([reports.energy[1]])} & {*symbols.u}:
        return "", "what is stored depends on an input"
    drives = not all(map(vanishes, equations.closures.nu))
    if sides.blocks and drives:
        return "", "a drive acts beside contacts"
    at_rest = substitute(list(sides.rate), dict.fromkeys(symbols.v, ZERO))
    if not all(map(vanishes, rewritten(at_rest, _without_choice))):
        return "", "a contact moves with time"
    try:
        power = reports.power
    except DerivationError as error:
        return "", error.message.rstrip(".")
    if power is ZERO and not drives:
        return "energy", ""
    return "work", ""


def _without_choice(node: Expr) -> Expr | None:
    """0 in the place of a choice between zeros, of which one may be a float."""
    if node.op == "select" and vanishes(node.args[1]) and vanishes(node.args[2]):
        return ZERO
    return None


def watched_formulas(equations: Equations) -> list[Expr]:
    """What steps depend on: forces, closures, unilateral constraints, events."""
    closures, sides = equations.closures, equations.sides
    formulas = [*equations.dynamics.f, *closures.phi, *closures.nu, *closures.gamma]
    formulas += [x for block in sides.blocks for x in (block.gap, *block.coefficients)]
    formulas += [*sides.rate, *sides.bias, *(event.formula for event in equations.events)]
    return formulas


class LazyEntries(Mapping[str, Entry]):
    """Entries by name, each made when it is first looked up.

    Args:
        makers: of the entries.
        hidden: more of them, found by name but not listed: who wants all does not want these.
        further: makes still more of those; called for a name that is none of the others.
        equations: of which these are all entries; a copy is made from them.
    """

    def __init__(
        self,
        makers: Makers,
        hidden: Makers = MappingProxyType({}),
        further: Callable[[], Makers] | None = None,
        equations: Equations | None = None,
    ) -> None:
        self._equations = equations
        self._listed = tuple(makers)
        self._makers = {**makers, **hidden}
        self._further = further
        self._entries: dict[str, Entry] = {}

    def __repr__(self) -> str:
        return f"<LazyEntries {', '.join(self._listed)}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._equations is None:
            raise ProgramError("a program whose entries are not those of equations has no copy.")
        return _entries_of, (self._equations,)

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            if name not in self:
                raise NamingError.unknown("entry", name, self._makers)
            self._entries[name] = _entry(name, self._makers[name]())
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        if name not in self._makers and self._further is not None:
            further, self._further = self._further, None
            self._makers |= further()
        return name in self._makers

    def __iter__(self) -> Iterator[str]:
        return iter(self._listed)

    def __len__(self) -> int:
        return len(self._listed)


def _entries_of(equations: Equations) -> LazyEntries:
    """All entries of some equations."""
    lowering = _Lowering(equations)
    return LazyEntries(lowering.makers(), lowering.reports(), lowering.derivatives, equations)


def _entry(name: str, content: Blocks | Columns | Stages) -> Entry:
    if not isinstance(content, list):  # columns, or stages
        return Entry.of_columns(name, content)
    return Entry(
        name,
        tuple(as_expr(x) for _, block in content for x in block),
        tuple((label, len(block)) for label, block in content),
    )


class _Lowering:
    """The entries of one set of equations; what several of them share is derived once."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.symbols = equations.symbols
        self.nv, self.nc = len(self.symbols.v), len(self.symbols.lam)

    def makers(self) -> dict[str, Callable[[], Blocks]]:
        """Name -> what makes the entry."""
        dynamics, closures = self.equations.dynamics, self.equations.closures
        kinematics, reports = self.equations.kinematics, self.equations.reports
        return {
            "forward": self.forward,
            "rate": self.rate,
            "inverse": lambda: [("tau", dynamics.inverse)],
            "mass_matrix": lambda: [("M", self.dense_mass())],
            "bias": lambda: [("h", dynamics.h)],
            "applied": lambda: [("tau", dynamics.tau)],
            "closure": lambda: [("phi", closures.phi), ("rate", closures.rate)],
            "terms": self.terms,
            "correct_q": self.correct_q,
            "correct_v": self.correct_v,
            "retract": lambda: [("q", kinematics.retract)],
            "difference": lambda: [("xi", kinematics.difference)],
            "energy": lambda: [("T", reports.energy[:1]), ("U", reports.energy[1:])],
            "momentum": lambda: [("moment", reports.momentum[:3]), ("force", reports.momentum[3:])],
            "poses": lambda: list(reports.poses.items()),
            "reactions": lambda: list(reports.reactions.items()),
            "outputs": lambda: [(name, [f]) for name, f in self.equations.outputs.items()],
            "events": lambda: [(event.name, [event.formula]) for event in self.equations.events],
        }

    def reports(self) -> dict[str, Callable[[], Blocks]]:
        """What only some runs and reports ask for."""
        reports = self.equations.reports
        return {
            "self_stress": lambda: list(reports.self_stress.items()),
            "motions": lambda: list(reports.motions.items()),
            "markers": lambda: list(reports.markers.items()),
            "balance": lambda: list(reports.balance.items()),
            "work": self.work,
            "invariants": lambda: [(name, [f]) for name, f in self.equations.invariants.items()],
            "local_rate": lambda: [("xidot", self.equations.kinematics.local_rate)],
            "qdot": lambda: [("qdot", position_rates(self.equations))],
            "assembly": self.assembly,
            "one_sided": self.one_sided,
            "gaps": lambda: self.one_sided()[:2],
            "one_sided_from": self.one_sided,
            "passes": lambda: [("pair", [ZERO]), ("part", [ZERO])],
            "frames": lambda: [(x.name, list(x.pose)) for x in self.equations.sides.pairs],
            "bearings": self.bearings,
            "load_rows": self.load_rows,
            "load_laws": self.load_laws,
            **({"solve": self.solve} if self.equations.dynamics.whole is None else {}),
        }

    def derivatives(self) -> dict[str, Callable[[], Blocks | Columns | Stages]]:
        """The same for derivatives; their modules are loaded now."""
        from liaison.program.derivatives import derivatives as of
        from liaison.program.derivatives.variation import (
            adjoint_makers,
            closing_makers,
            discrete_makers,
            variation_makers,
        )

        whole, equations = self.whole, self.whole.equations
        factored, solution = (lambda: whole.factored), (lambda: whole.solution)
        derivatives = of.Derivatives(equations, factored, solution)
        return {
            **of.derivative_makers(equations, factored, solution),
            **of.curvature_makers(equations, _curvature_places(equations)),
            **of.tangent_makers(equations, derivatives),
            **variation_makers(equations, derivatives),
            **adjoint_makers(equations, derivatives, _weights(equations)),
            **closing_makers(
                equations,
                lambda: (whole.factored_positions, whole.factored),
                _weights(equations),
            ),
            **discrete_makers(equations),
        }

    @cached_property
    def factored(self) -> Factor:
        """L D Lᵀ of the whole saddle."""
        names = [label.name for label in self.equations.labels["v"]]
        return factor(self.saddle(self.nc), names)

    @cached_property
    def factored_positions(self) -> Factor:
        """The same with the holonomic rows only."""
        n = len(self.equations.closures.phi)
        if n == self.nc:
            return self.factored
        return factor(self.saddle(n))

    def saddle(self, nc: int) -> Saddle:
        """M and the first rows of G, with what is known of them."""
        closures, speeds = self.equations.closures, self.equations.labels["v"]
        return Saddle(
            nv=self.nv,
            nc=nc,
            M=with_metric(self.equations.dynamics.M, closures.G, nc, self.attitudes),
            G={key: entry for key, entry in closures.G.items() if key[0] < nc},
            defines={k: j for k, j in closures.defines.items() if k < nc},
            reach=closures.reach,
            slides=frozenset(j for j, label in enumerate(speeds) if label.unit == "m/s"),
            attitudes=self.attitudes,
        )

    @property
    def attitudes(self) -> list[tuple[Expr, ...]]:
        """Coordinates that are unit quaternions, and those that are rotation matrices."""
        sizes = {"quaternion": 4, "free": 4, "matrix": 9, "free matrix": 9}
        charts = [chart for chart in self.equations.kinematics.charts if chart.kind in sizes]
        return [self.symbols.q[chart.q][-sizes[chart.kind] :] for chart in charts]

    @cached_property
    def solution(self) -> tuple[list[Expr], list[Expr], Expr]:
        """v̇, λ and the residual: of a tree by the shorter of elimination and articulated bodies."""
        dynamics = self.equations.dynamics
        depth = len(dynamics.M) / max(1, self.nv)
        if self.nc or dynamics.articulated is None or depth <= SHALLOW:
            return self.eliminated
        vdot = dynamics.articulated()
        if (
            depth <= DEEP
            and operations(self.eliminated[0]) <= operations(vdot) * ARTICULATED_WEIGHT
        ):
            return self.eliminated
        return vdot, [], ZERO

    @cached_property
    def eliminated(self) -> tuple[list[Expr], list[Expr], Expr]:
        """The solution by L D Lᵀ."""
        return self.factored.solve(self.equations.dynamics.f, self.equations.closures.gamma)

    @property
    def whole(self) -> _Lowering:
        """The same with every multiplier, where the equations have closures eliminated."""
        return self if self.equations.dynamics.whole is None else self.unreduced

    @cached_property
    def unreduced(self) -> _Lowering:
        """The equations before closures were eliminated."""
        dynamics = self.equations.dynamics.whole
        assert dynamics is not None
        return _Lowering(replace(self.equations, dynamics=dynamics))

    def forward(self) -> Blocks:
        """v̇, λ and the largest |γ − G v̇|."""
        vdot, _, residual = self.solution
        return [("vdot", vdot), ("lam", self.whole.solution[1]), ("residual", [residual])]

    def rate(self) -> Blocks:
        """ξ̇, v̇ and the residual at q ⊞ ξ: what a stage of the time loop asks."""
        vdot, _, residual = self.solution
        chart = self.equations.kinematics
        moved = dict(zip(self.symbols.q, chart.retract, strict=True))
        formulas = substitute([*vdot, residual], moved)
        return [("xidot", chart.local_rate), ("vdot", formulas[:-1]), ("residual", formulas[-1:])]

    def solve(self) -> Blocks:
        """v̇, λ and the largest |γ − G v̇| of any f and γ."""
        right = right_sides(self.equations)
        vdot, lam, residual = self.factored.solve(right[: self.nv], right[self.nv :])
        return [("vdot", vdot), ("lam", lam), ("residual", [residual])]

    def dense_mass(self) -> list[Expr]:
        """M row by row."""
        M = self.equations.dynamics.M
        square = range(self.nv)
        return [M.get((max(i, j), min(i, j)), ZERO) for i in square for j in square]

    def terms(self) -> Blocks:
        """The numbers of the constrained system, for algebra at run time."""
        closures = self.equations.closures
        return [
            ("M", self.whole.dense_mass()),
            ("G", dense(closures.G, self.nc, self.nv)),
            ("f", self.whole.equations.dynamics.f),
            ("gamma", closures.gamma),
            ("phi", closures.phi),
            ("nu", closures.nu),
        ]

    def assembly(self) -> Blocks:
        """What closing the loops asks of a state: Φ, G, G v − ν, the sense of joints, a length."""
        closures, reports = self.equations.closures, self.equations.reports
        return [
            ("phi", closures.phi),
            ("G", dense(closures.G, self.nc, self.nv)),
            ("rate", closures.rate),
            ("extent", [maximum(ONE, worst(reports.offsets))]),
            ("upright", reports.upright),
        ]

    def one_sided(self) -> Blocks:
        """The numbers of unilateral constraints, for the march that finds their events."""
        sides = self.equations.sides
        return [
            ("gap", [block.gap for block in sides.blocks]),
            ("rate", sides.rate),
            ("bias", sides.bias),
            ("D", dense(sides.D, len(sides.rate), self.nv)),
            ("coefficients", [x for b in sides.blocks for x in (*b.coefficients, ZERO, ZERO)]),
        ]

    @cached_property
    def implicit(self) -> list[ImplicitLoad]:
        """Loads that follow what they act along."""
        return implicit_loads_of(self.equations)

    def load_rows(self) -> Blocks:
        """x, ẋ, whether U lacks its work, and J of every load that follows what it acts along."""
        loads = self.implicit
        J = {(k, j): entry for k, load in enumerate(loads) for j, entry in load.J.items()}
        return [
            ("x", [load.value for load in loads]),
            ("rate", [load.rate for load in loads]),
            ("counted", [ZERO if load.is_stored else ONE for load in loads]),
            ("J", dense(J, len(loads), self.nv)),
        ]

    def load_laws(self) -> Blocks:
        """Their efforts, −∂e/∂ẋ and −∂e/∂x, at measures and rates given in x."""
        loads = self.implicit
        return [
            ("effort", [load.effort for load in loads]),
            ("damping", [load.damping for load in loads]),
            ("stiffness", [load.stiffness for load in loads]),
        ]

    def bearings(self) -> Blocks:
        """What every bearing with friction transmits, across its axis if it slides; of v̇, λ, f."""
        reactions = self.equations.reports.reactions
        blocks: Blocks = []
        for block in self.equations.sides.blocks:
            if block.joint:
                force = reactions[block.joint][3:]
                slides = self.equations.sides.labels[block.first].unit == FORCE
                parts = force[:2] if slides and block.rows == 1 else force
                blocks.append((block.name, [sqrt(sum((x * x for x in parts), ZERO))]))
        return blocks

    def work(self) -> Blocks:
        """T, U, and the power of what is not stored: loads, and closures that move, λ·ν."""
        reports, nu = self.equations.reports, self.equations.closures.nu
        power = reports.power
        if not all(map(vanishes, nu)):
            power = sum((x * y for x, y in zip(self.whole.solution[1], nu, strict=True)), power)
        T, U = reports.energy
        return [("T", [T]), ("U", [U]), ("power", [power])]

    def correct_q(self) -> Blocks:
        """δ of least kinetic energy with G δ = −Φ, and the largest |Φ|."""
        phi = self.equations.closures.phi
        delta, _, _ = self.factored_positions.solve([ZERO] * self.nv, [-x for x in phi])
        return [("delta", delta), ("worst", [worst(phi)])]

    def correct_v(self) -> Blocks:
        """δ of least kinetic energy with G (v + δ) = ν, and the largest |G v − ν|."""
        rate = self.equations.closures.rate
        delta, _, _ = self.factored.solve([ZERO] * self.nv, [-x for x in rate])
        return [("delta", delta), ("worst", [worst(rate)])]


def implicit_loads_of(equations: Equations) -> list[ImplicitLoad]:
    """Loads that follow what they act along; none where velocities are not those of their rows."""
    loads = equations.facts.get("implicit_loads")
    if loads is None or loads.setting.symbols.v != equations.symbols.v:
        return []
    return list(loads.rows)


def implicit_count(equations: Equations) -> int:
    """How many rows they have; 0 where no effort follows what it acts along."""
    loads = implicit_loads_of(equations)
    return len(loads) if any(load.J for load in loads) else 0


def position_rates(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    rates: list[Expr] = [ZERO] * len(equations.symbols.q)
    for (i, k), entry in equations.kinematics.N.items():
        rates[i] = rates[i] + entry * equations.symbols.v[k]
    return rates


def operations(formulas: Sequence[Expr]) -> int:
    """How many operations the formulas take together."""
    return sum(count_operations(formulas).values())


def worst(entries: Sequence[Expr]) -> Expr:
    """The largest absolute value; zero of none."""
    largest: Expr = ZERO
    for x in entries:
        largest = absolute(x) if largest is ZERO else maximum(largest, absolute(x))
    return largest
