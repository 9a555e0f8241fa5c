"""Formulas of many-body mechanisms outside the loops: loads, relations, outputs, events.

Joints of a kind are alike and become loops; what the author adds here and there is written out,
over the coordinates of the tree. In maximal coordinates each formula is short: it knows the two
bodies it refers to, and no chain of joints between them.

Public names: Rest, RestRow, rest_of, short_rows, short_relation, nodes_by_name, rest_row,
check_carried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

from liaison.equations.completion import defaults_of, nonlinear_rates
from liaison.equations.equations import Chart
from liaison.equations.setting import Setting, charts_of, check_no_inertia
from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, substitute, symbols_of, vanishes
from liaison.model import BetweenFrames, Constraint, OfCoordinates
from liaison.spatial.arrays import array
from liaison.tree import Tree
from liaison.tree.closure import (
    Row,
    is_curved,
    joint_labels,
    relation_row,
    relation_rows,
    relation_unit,
    tie_labels,
    with_rates,
)
from liaison.units import Label

from .sweeps import known_values


@final
@dataclass(frozen=True, slots=True)
class RestRow:
    """A relation: Φ̈ at v̇ = 0, Φ (None where it holds speeds), Φ̇ = G v − ν, its row on v, ν."""

    label: Label
    second: Expr
    phi: Expr | None
    rate: Expr
    G: Mapping[int, Expr]
    nu: Expr


@final
@dataclass(frozen=True, slots=True)
class Rest:
    """Formulas over the symbols of a tree, parameters replaced by their values.

    Attributes:
        tau: velocity -> generalized force of all loads.
        potential: energy that loads store [J].
        rows: relations, those of positions first.
        outputs: of the mechanism, by name.
        events: name, formula, direction, action.
        places: symbol -> (array, index).
        labels: of q, v, u, outputs; of λ those of cut joints, then of relations.
        defaults: of inputs.
        charts: kinds of coordinates.
    """

    tau: Mapping[int, Expr]
    potential: Expr
    rows: tuple[RestRow, ...]
    outputs: Mapping[str, Expr]
    events: tuple[tuple[str, Expr, int, str], ...]
    places: Mapping[Expr, tuple[str, int]]
    labels: Mapping[str, tuple[Label, ...]]
    defaults: tuple[float, ...]
    charts: tuple[Chart, ...]


def rest_of(tree: Tree, values: Mapping[str, float] | None = None) -> Rest:
    """Loads, relations, outputs and events of a mechanism, besides `blocks_of` it.

    Raises:
        DerivationError: the mechanism has unilateral relations, or a potential that adds inertia.
    """
    mechanism = tree.mechanism
    if mechanism.contacts:
        raise DerivationError(
            f"{mechanism.contacts[0].name!r} is unilateral, which looped kernels do not support.",
            hint="Run the mechanism in its own coordinates.",
        )
    setting = Setting(tree)
    check_no_inertia(setting, "looped kernels")
    for name in nonlinear_rates(setting):
        raise _nonlinear(name)
    numbers = _Numbers(known_values(tree, values))
    tau = {j: x for j, x in enumerate(numbers(setting.applied())) if not vanishes(x)}
    related = relation_rows(setting.kinematics, setting.qdot) if mechanism.constraints else []
    rows = [_row(numbers, label, row) for label, row in related]
    rows.sort(key=lambda row: row.phi is None)
    stored = sum((load.potential for load in setting.loads), as_expr(0))
    return Rest(
        tau=MappingProxyType(tau),
        potential=numbers([stored])[0],
        rows=tuple(rows),
        outputs=MappingProxyType(
            {x.name: numbers([setting.expressed(x.formula)])[0] for x in mechanism.outputs}
        ),
        events=tuple(
            (x.name, numbers([setting.expressed(x.formula)])[0], x.direction, x.action)
            for x in mechanism.events
        ),
        places=MappingProxyType(_places(setting)),
        labels=MappingProxyType(_labels(setting, rows)),
        defaults=tuple(defaults_of(mechanism)["u"]),
        charts=tuple(chart for node in tree.nodes for chart in charts_of(node)),
    )


def _nonlinear(name: str) -> DerivationError:
    return DerivationError(
        f"the relation {name!r} is not linear in the rates, which looped kernels do not support.",
        hint="Run the mechanism in its own coordinates.",
    )


def short_rows(setting: Setting) -> tuple[RestRow, ...]:
    """Relations between coordinates, each over the few joints that it names; positions first.

    Raises:
        DerivationError: a relation is not linear in the rates, or neither of coordinates nor
            between frames.
    """
    mechanism = setting.mechanism
    if not mechanism.constraints:
        return ()
    named = nodes_by_name(setting)
    listed = [x for x in mechanism.constraints if not isinstance(x, BetweenFrames)]
    rows = [rest_row(*_short_row(setting, named, x)) for x in listed]
    return tuple(sorted(rows, key=lambda row: row.phi is None))


def nodes_by_name(setting: Setting) -> dict[str, int]:
    """Name of each coordinate and each velocity -> its node."""
    nodes = setting.tree.nodes
    named = {x.name: i for i, node in enumerate(nodes) for x in setting.q[node.q]}
    return named | {x.name: i for i, node in enumerate(nodes) for x in setting.v[node.v]}


def check_carried(tree: Tree, velocities: Iterable[int], name: str) -> None:
    """Raises an error for velocities that joints which close loops keep: no path carries them."""
    ghosts = [tree.nodes[x.ghost].v for x in tree.closures if x.ghost is not None]
    if not {j for v in ghosts for j in range(v.start, v.stop)}.isdisjoint(velocities):
        raise DerivationError(
            f"{name} is about a coordinate of a joint that closes a loop, which loops over nodes "
            "do not know there.",
            hint="Derive the equations by newton_euler.",
        )


def rest_row(label: Label, row: Row) -> RestRow:
    """A row that is written out as it is.

    Raises:
        DerivationError: it holds nothing that moves.
    """
    return _row(_as_they_are, label, row)


def _as_they_are(formulas: Sequence[Any]) -> list[Expr]:
    return [as_expr(x) for x in formulas]


def _short_row(
    setting: Setting, named: Mapping[str, int], relation: Constraint
) -> tuple[Label, Row]:
    """A relation over the coordinates of the joints that it names, by their nodes."""
    if not isinstance(relation, OfCoordinates):
        raise DerivationError(
            f"{relation.name!r} is neither of coordinates nor between frames, which loops over "
            "nodes do not know.",
            hint="Derive the equations by newton_euler.",
        )
    row = short_relation(setting, named, relation.vanishing(), of_speeds=relation.OF_SPEEDS)
    if row is None:
        raise _nonlinear(relation.name)
    return Label(relation.name, relation_unit(setting.tree, relation)), row


def short_relation(
    setting: Setting, named: Mapping[str, int], formula: Any, *, of_speeds: bool | None
) -> Row | None:
    """The row of a formula over the coordinates of the joints that it names.

    Args:
        setting: of the mechanism.
        named: node of each coordinate and velocity.
        formula: of the author.
        of_speeds: whether it holds speeds; None: if it has some.

    Returns:
        The row; None where it is not linear in the rates.
    """
    names = [x.name for x in symbols_of([as_expr(formula)])]
    used = {named[y] for x in names for y in (x, x.removesuffix("'")) if y in named}
    nodes = [setting.tree.nodes[i] for i in sorted(used)]
    q = array([x for node in nodes for x in setting.q[node.q]])
    v = array([x for node in nodes for x in setting.v[node.v]])
    qdot = [x for node in nodes for x in setting.qdot[node.q]]
    formula = with_rates(as_expr(formula), q, v, qdot)
    if of_speeds is None:
        of_speeds = not {*v}.isdisjoint(symbols_of([formula]))
    row = relation_row(formula, q, v, qdot, of_speeds=of_speeds)
    if is_curved(row.G, list(v)):
        return None
    places = [j for node in nodes for j in range(node.v.start, node.v.stop)]
    return replace(row, G={places[j]: x for j, x in row.G.items()})


class _Numbers:
    """Formulas with parameters replaced by their values."""

    def __init__(self, values: Mapping[Expr, Any]) -> None:
        self._values = {name: as_expr(value) for name, value in values.items()}

    def __call__(self, formulas: Sequence[Any]) -> list[Expr]:
        return substitute([as_expr(x) for x in formulas], self._values)


def _row(numbers: Callable[[Sequence[Any]], list[Expr]], label: Label, row: Any) -> RestRow:
    entries = dict(zip(row.G, numbers(list(row.G.values())), strict=True))
    second, rate, nu = numbers([-as_expr(row.gamma), row.rate, row.nu])
    phi = None if row.value is None else numbers([row.value])[0]
    nonzero = {j: x for j, x in entries.items() if not vanishes(x)}
    if not nonzero:
        raise DerivationError(f"the relation {label.name!r} holds nothing that moves.")
    return RestRow(label, second, phi, rate, MappingProxyType(nonzero), nu)


def _places(setting: Setting) -> dict[Expr, tuple[str, int]]:
    symbols = setting.symbols
    listed = (("t", (symbols.t,)), ("q", symbols.q), ("v", symbols.v), ("u", symbols.u))
    return {x: (array, i) for array, group in listed for i, x in enumerate(group)}


def _labels(setting: Setting, rows: Sequence[RestRow]) -> dict[str, tuple[Label, ...]]:
    tree, mechanism = setting.tree, setting.mechanism
    lam: list[Label] = []
    for closure in tree.closures:
        lam += joint_labels(setting.tree, closure)
        lam += tie_labels(closure.joint) if closure.ghost is not None else []
    return {
        "q": tree.position_labels(),
        "v": tree.velocity_labels(),
        "u": tuple(Label(x.name, x.unit) for x in mechanism.inputs),
        "lam": (*lam, *(row.label for row in rows)),
        "outputs": tuple(Label(x.name, x.unit) for x in mechanism.outputs),
    }
