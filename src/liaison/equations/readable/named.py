"""Equations of large trees by named intermediate quantities: the recursion, body by body.

Each line holds names of the lines before it: angular velocity ω, angular acceleration α and
acceleration a of every body in its own axes (gravity taken off), then from the tips inwards the
moment n and the force f that its joint hands to it. What is a number or a single name gets no line.

Public names: Named, named_recursion.

Source: RBDA §5.3; docs/theory/reading.md (reading-3).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.setting import Setting
from liaison.equations.sweeps.recursion import (
    State,
    Wrench,
    at_ground,
    at_parent,
    felt,
    link,
    moved,
    required,
    whirl,
)
from liaison.expr import Expr, as_expr, symbol, symbols_of
from liaison.spatial.arrays import Array, array
from liaison.tree import GROUND, Tree, merged


@final
@dataclass(frozen=True, slots=True)
class Named:
    """Formulas by names, in the order in which they can be computed.

    Attributes:
        quantities: name and formula of each.
        rows: M v̇ + h for every velocity, in terms of them.
        bodies: which body each number stands for.
    """

    quantities: tuple[tuple[str, Expr], ...]
    rows: tuple[Expr, ...]
    bodies: tuple[str, ...]


def named_recursion(tree: Tree) -> Named:
    """M v̇ + h of a tree, by names for what every body does and bears."""
    setting = Setting(merged(tree))
    kinematics, nodes = setting.kinematics, setting.kinematics.tree.nodes
    vdot = array(list(setting.symbols.vdot))
    book = _Book()
    states: dict[int, State] = {GROUND: at_ground(setting.gravity)}
    for i, node in enumerate(nodes):
        state = moved(states[node.parent], link(kinematics, i), vdot[node.v])
        omega = book.entered("omega", i, state.omega)
        alpha = book.entered("alpha", i, state.alpha)
        states[i] = State(omega, alpha, book.entered("a", i, state.a), whirl(omega, alpha))
    own = [required(node.inertia, states[i]) for i, node in enumerate(nodes)]
    rows: list[Any] = [0] * setting.tree.nv
    for i in range(len(nodes) - 1, -1, -1):
        wrench: Wrench = (book.entered("n", i, own[i][0]), book.entered("f", i, own[i][1]))
        rows[nodes[i].v] = map(as_expr, felt(kinematics.subspace(i), wrench))
        parent = nodes[i].parent
        if parent != GROUND:
            moment, force = at_parent(kinematics.pose(i), wrench)
            own[parent] = (own[parent][0] + moment, own[parent][1] + force)
    used = _used(book.lines, rows)
    return Named(tuple(used), tuple(rows), tuple(node.body for node in nodes))


class _Book:
    """Names in use."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, Expr]] = []

    def entered(self, kind: str, i: int, entries: Iterable[Any]) -> Array:
        """The entries of a vector by their names; what is short stays as it is."""
        return array([self._entered(f"{kind}{i + 1}.{x}", e) for x, e in zip("xyz", entries)])

    def _entered(self, name: str, entry: Any) -> Any:
        formula = as_expr(entry)
        if formula.op in ("const", "symbol"):
            return entry
        self.lines.append((name, formula))
        return symbol(name)


def _used(lines: list[tuple[str, Expr]], rows: Sequence[Expr]) -> list[tuple[str, Expr]]:
    """The lines that the rows need, in order."""
    from_names = dict(lines)
    needed: set[str] = set()
    stack = list(rows)
    while stack:
        for node in _symbols(stack.pop()):
            if node in from_names and node not in needed:
                needed.add(node)
                stack.append(from_names[node])
    return [(name, formula) for name, formula in lines if name in needed]


def _symbols(f: Expr) -> list[str]:
    return [str(x.a) for x in symbols_of([f])]
