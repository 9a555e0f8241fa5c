"""What becomes of each constraint: eliminated, kept with a multiplier, or with a named reaction.

Rows that are eliminated are solved for dependent velocities and drop out with their multipliers;
those that are kept stay beside the equations in the velocities u that are left:

    v = Ψ u + ψ,   Ψᵀ M Ψ u̇ = Ψᵀ (τ − h − M β) + (G Ψ)ᵀ λ,   G Ψ u̇ = γ − G β       (treatment-1)

λ of a row is the effort that the row exerts; "reaction" gives it the name of a component of a
force or a moment (X_A, Y_A, …, N_A) instead of a number. With every row eliminated these are the
equations in as many velocities as there are degrees of freedom: the minimal parametrization.

In the contract `Equations` the reduced rows stand at u, the others are empty, and all closures give
the other accelerations; λ of eliminated rows then means nothing.

Public names: TREATMENTS, Treated, treated, minimal.

Source: LL 1.5.2, 2.2.3, 2.2.10; docs/theory/parametrizations.md (treatment-1).
Differs: what is kept is called « non-holonôme » there, whether it can be integrated or not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from liaison.equations.completion import plain_dynamics
from liaison.equations.equations import Closures, Entries, Equations
from liaison.equations.formalisms.lagrange_reduced import position_values
from liaison.equations.letters import multipliers_of
from liaison.equations.statement import Line
from liaison.errors import NamingError
from liaison.expr import ZERO, Expr, as_expr, substitute, symbol
from liaison.tree import Tree
from liaison.units import Label

from .transform import Reduced, reduced

TREATMENTS = ("eliminate", "multiplier", "reaction")

COMPONENTS = {
    "force along x": "X",
    "force along y": "Y",
    "force along z": "Z",
    "moment about x": "L",
    "moment about y": "M",
    "moment about z": "N",
    "contact": "N",
    "slip along x": "X",
    "slip along y": "Y",
}
"""Letters of the components of a force and a moment, by what a row's multiplier is."""


@final
@dataclass(frozen=True, slots=True)
class Treated:
    """Equations in the velocities that elimination left, with the rows that were kept.

    Attributes:
        reduced: Ψ, Ψᵀ M Ψ, Ψᵀ (τ − h − M β) and v as formulas of u.
        names: of the kept rows.
        efforts: of the kept rows: λ₁, λ₂, … and named reactions.
        GPsi: G Ψ of the kept rows, (row, velocity) -> formula.
        gamma: γ − G β of the kept rows.
        reactions: names of the efforts that are reactions, with their units and their rows.
        whole: the equations before.
        gone: places of the eliminated rows in them.
    """

    reduced: Reduced
    names: tuple[str, ...]
    efforts: tuple[Expr, ...]
    GPsi: Entries
    gamma: tuple[Expr, ...]
    reactions: Mapping[str, Label]
    whole: Equations
    gone: tuple[int, ...]

    @property
    def unknowns(self) -> int:
        """Accelerations and efforts."""
        return self.reduced.mobility + len(self.names)

    def statement(self) -> tuple[Line, ...]:
        """An equation for each velocity left, then one for each row kept."""
        reduction = self.reduced
        right = list(reduction.force)
        rows = [ZERO] * len(self.names)
        for (k, j), entry in self.GPsi.items():
            right[j] = as_expr(right[j] + entry * self.efforts[k])
            rows[k] = as_expr(rows[k] + entry * reduction.udot[j])
        motion = [
            Line(a.name, a.left, b) for a, b in zip(reduction.statement(), right, strict=True)
        ]
        kept = [Line(n, a, b) for n, a, b in zip(self.names, rows, self.gamma, strict=True)]
        return (*motion, *kept)


def minimal(equations: Equations, tree: Tree, independent: Sequence[str] = ()) -> Equations:
    """The equations in independent velocities; every closure is eliminated.

    Args:
        equations: of the tree, in any formalism.
        tree: of the mechanism.
        independent: coordinates to keep where that is possible; those whose rates the mechanism
            starts with, if not given.
    """
    return treated(equations, tree, {}, others="eliminate", independent=independent)


def treated(
    equations: Equations,
    tree: Tree,
    treatment: Mapping[str, str],
    *,
    others: str = "multiplier",
    independent: Sequence[str] = (),
) -> Equations:
    """The equations with each constraint treated as requested.

    Args:
        equations: of the tree, in any formalism.
        tree: of the mechanism.
        treatment: "eliminate", "multiplier" or "reaction" by the name of a joint, of a relation, or
            of one row of it ("C: force along x of ground"); "reaction T" calls the force T.
        others: for rows that are not named.
        independent: coordinates to keep where that is possible.

    Returns:
        Equations; `native["treatment"]` is a `Treated`, and `native["reduced"]` a `Reduced` where
        no row is kept.

    Raises:
        NamingError: no row, joint or relation with closures has that name; no such treatment.
        DerivationError: a parameter has no value, so that no pivot can be chosen.
    """
    names = [label.name for label in equations.labels["lam"]]
    ways = _ways(tree, names, treatment, others)
    gone = [k for k, way in enumerate(ways) if way == "eliminate"]
    kept = [k for k, way in enumerate(ways) if way != "eliminate"]
    reduction = _reduced(equations, tree, gone, independent)
    efforts, reactions = _efforts(equations, ways, kept)
    GPsi, gamma = _kept_rows(equations.closures, kept, reduction, equations.labels["v"])
    own = Treated(
        reduction,
        tuple(names[k] for k in kept),
        efforts,
        GPsi,
        gamma,
        reactions,
        equations,
        tuple(gone),
    )
    native: dict[str, Any] = {**equations.native, "treatment": own}
    if not kept:
        native["reduced"] = reduction
    if not gone:
        return replace(equations, native=native)
    return replace(_in_contract(equations, reduction), native=native)


def _ways(tree: Tree, names: Sequence[str], treatment: Mapping[str, str], others: str) -> list[str]:
    """The treatment of each row."""
    owners = [name.rpartition(": ")[0] or name for name in names]
    gone = {joint.name for joint in tree.mechanism.joints} - {*owners}
    for name, way in treatment.items():
        if way.partition(" ")[0] not in TREATMENTS:
            raise NamingError.unknown("treatment", way, TREATMENTS)
        if name not in names and name not in owners and not (name in gone and way == "eliminate"):
            raise NamingError.unknown("joint or relation that is kept as a row", name, owners)
    return [
        treatment.get(name, treatment.get(owner, others))
        for name, owner in zip(names, owners, strict=True)
    ]


def _reduced(
    equations: Equations, tree: Tree, gone: Sequence[int], independent: Sequence[str]
) -> Reduced:
    """The equations without the rows that are eliminated."""
    closures = equations.closures
    place = {k: i for i, k in enumerate(gone)}
    part = Closures(
        G={(place[k], j): x for (k, j), x in closures.G.items() if k in place},
        nu=tuple(closures.nu[k] for k in gone),
        gamma=tuple(closures.gamma[k] for k in gone),
    )
    values = position_values(tree, equations) if gone else {}
    speeds = {label.name for label in equations.labels["v"]}
    chosen = independent or [x.label for x in tree.mechanism.starts if x.label in speeds]
    return reduced(replace(equations, closures=part), values, chosen)


def _efforts(
    equations: Equations, ways: Sequence[str], kept: Sequence[int]
) -> tuple[tuple[Expr, ...], dict[str, Label]]:
    """λ₁, λ₂, … of multipliers and the names of reactions, each once."""
    labels, multipliers = equations.labels["lam"], iter(multipliers_of(equations))
    efforts: list[Expr] = []
    reactions: dict[str, Label] = {}
    for k in kept:
        way, _, chosen_name = ways[k].partition(" ")
        if way == "reaction":
            name = _unique(chosen_name or reaction_name(labels[k].name), reactions)
            reactions[name] = labels[k]
        else:
            name = next(multipliers)
        efforts.append(symbol(name))
    return tuple(efforts), reactions


def reaction_name(row: str) -> str:
    """X_A for "A: force along x of ground", R_roll for a relation `roll`."""
    owner, _, what = row.rpartition(": ")
    letter = next((x for words, x in COMPONENTS.items() if what.startswith(words)), "R")
    return f"{letter}_{owner or what}".replace(" ", "_")


def names_carriers(tree: Tree, treatment: Mapping[str, str]) -> bool:
    """Whether a joint of the tree is to be kept: it has no rows while it carries its body."""
    carriers = {node.joint.name for node in tree.nodes} - {x.joint.name for x in tree.closures}
    kept = [name for name, way in treatment.items() if way != "eliminate"]
    return any((name.rpartition(": ")[0] or name) in carriers for name in kept)


def _unique(name: str, in_use: Mapping[str, Any]) -> str:
    number, candidate = 1, name
    while candidate in in_use:
        number += 1
        candidate = f"{name}{number}"
    return candidate


def _kept_rows(
    closures: Closures, kept: Sequence[int], reduction: Reduced, labels: Sequence[Label]
) -> tuple[dict[tuple[int, int], Expr], tuple[Expr, ...]]:
    """G Ψ and γ − G β of the rows that stay."""
    place = {k: i for i, k in enumerate(kept)}
    by_velocity: dict[int, list[tuple[int, Expr]]] = {}
    for (j, u), entry in reduction.psi.items():
        by_velocity.setdefault(j, []).append((u, entry))
    GPsi: dict[tuple[int, int], Expr] = {}
    speeds = {symbol(label.name): x for label, x in zip(labels, reduction.velocity, strict=True)}
    gamma = substitute([closures.gamma[k] for k in kept], speeds)
    for (k, j), entry in closures.G.items():
        if k in place:
            row = place[k]
            gamma[row] = as_expr(gamma[row] - entry * reduction.bias[j])
            for u, x in by_velocity.get(j, ()):
                GPsi[row, u] = as_expr(GPsi.get((row, u), ZERO) + entry * x)
    return GPsi, tuple(gamma)


def _in_contract(equations: Equations, reduction: Reduced) -> Equations:
    """The reduced equations in the rows of their velocities; nothing in the others."""
    symbols = equations.symbols
    places = [symbols.v.index(x) for x in reduction.u]
    M = {(places[i], places[j]): entry for (i, j), entry in reduction.M.items()}
    M = {(max(key), min(key)): entry for key, entry in M.items()}
    h = [ZERO] * len(symbols.v)
    for place, force in zip(places, reduction.force, strict=True):
        h[place] = as_expr(-force)
    dynamics = plain_dynamics(symbols.vdot, M, h, [ZERO] * len(h))
    return replace(equations, dynamics=replace(dynamics, whole=equations.dynamics))
