"""Equations of a mechanism in a parametrization, with its constraints treated as one likes.

Of bodies by themselves in a plane M is constant: what sines and cosines leave of it is folded here.

Public names: derived_in.

Source: docs/theory/parametrizations.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from liaison.equations.completion import plain_dynamics
from liaison.equations.equations import Equations
from liaison.expr import Expr, constant, count_operations
from liaison.expr.graph.walk import rewritten
from liaison.expr.reading.reading import to_expr
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.model import Mechanism, Planar
from liaison.tree import Tree
from liaison.tree.cartesian import known_parametrization, parametrized

from .treatment import names_carriers, treated


def derived_in(
    mechanism: Mechanism,
    formalism: Callable[..., Equations],
    parametrization: str = "joint",
    *,
    exact: bool = False,
    treatment: Mapping[str, str] | None = None,
    independent: Sequence[str] = (),
    **options: Any,
) -> tuple[Tree, Equations]:
    """The tree of a parametrization and its equations of motion.

    Args:
        mechanism: any.
        formalism: a function of a tree.
        parametrization: "minimal" or "strict", "joint", "full_joint", "cartesian".
        exact: keep exact numbers.
        treatment: what becomes of constraints, by name; see `treated`. Where it keeps a joint that
            carries a body, bodies get coordinates of their own and all other joints are eliminated.
        independent: coordinates to keep where closures are eliminated.
        **options: of the formalism.
    """
    kind = known_parametrization(parametrization)
    tree = parametrized(mechanism, kind, exact=exact)
    others = "eliminate" if kind == "minimal" else "multiplier"
    if kind == "joint" and names_carriers(tree, treatment or {}):
        # a joint with rows carries nothing: its body has own coordinates, others carry again
        kind, others = "cartesian", "eliminate"
        tree = parametrized(mechanism, kind, exact=exact)
    if independent and kind != "minimal" and not treatment:
        options["independent"] = independent
    equations = formalism(tree, **options)
    if kind == "cartesian" and any(isinstance(node.joint.type, Planar) for node in tree.nodes):
        equations = _folded(equations, exact=exact)
    is_solved = "lagrange_reduced" in equations.native or not equations.closures.gamma
    if treatment is None and (kind != "minimal" or is_solved):
        return tree, equations
    return tree, treated(equations, tree, treatment or {}, others=others, independent=independent)


def _folded(equations: Equations, *, exact: bool) -> Equations:
    """M and h without sines and cosines that cancel."""
    dynamics = equations.dynamics
    M = {key: _short(entry, exact) for key, entry in dict(dynamics.M).items()}
    M = {key: entry for key, entry in M.items() if not (entry.op == "const" and entry.a == 0)}
    h = [_short(entry, exact) for entry in dynamics.h]
    short = plain_dynamics(equations.symbols.vdot, M, h, dynamics.tau)
    return replace(equations, dynamics=replace(short, whole=dynamics.whole))


def _short(f: Expr, exact: bool) -> Expr:
    """The formula in its normal form, where that takes fewer operations."""
    before = sum(count_operations([f]).values())
    if not 0 < before < LARGE:
        return f
    try:
        short = to_expr(simplified(f))
    except TooLarge:
        return f
    if sum(count_operations([short]).values()) >= before:
        return f
    return short if exact else rewritten([short], _as_float)[0]


LARGE = 200
"""Operations of an entry that is left as it is: it does not belong to a body in a plane."""


def _as_float(node: Expr) -> Expr | None:
    is_fraction = node.op == "const" and isinstance(node.a, Fraction)
    return constant(float(node.a)) if is_fraction else None
