"""The whole contract of Equations around a formalism's M, h and τ.

Public names: completed, plain_dynamics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from liaison.expr import Expr, switches, symbol
from liaison.model import Mechanism
from liaison.tree import Tree, as_float
from liaison.units import Label

from .equations import Dynamics, Equations, EventFormula
from .reports import TreeReports
from .setting import Setting
from .sides import sides_of


def completed(
    formalism: str,
    tree: Tree,
    setting: Setting,
    dynamics: Dynamics,
    native: Mapping[str, Any] | None = None,
) -> Equations:
    """The whole contract around a formalism's M, h and τ.

    Args:
        formalism: its name.
        tree: of the mechanism, with every weld in it.
        setting: of the tree the formalism worked on.
        dynamics: M, h and τ.
        native: what the formalism knows in its own words.
    """
    kept, vanished = setting.rows
    mechanism, closures = setting.mechanism, setting.closures()
    lam = tuple(symbol(f"lambda {label.name}") for label, _ in kept)
    stress = tuple(symbol(f"'stress {label.name}") for label, _ in (*kept, *vanished))
    sides = sides_of(setting.side_blocks, setting.tree.velocity_labels())
    force = tuple(symbol(f"force {label.name}") for label in sides.labels)
    return Equations(
        name=mechanism.name,
        formalism=formalism,
        symbols=replace(setting.symbols, lam=lam, stress=stress, force=force),
        kinematics=setting.kinematic(),
        dynamics=dynamics,
        closures=closures,
        reports=TreeReports(setting if tree is setting.tree else Setting(tree), lam, stress, force),
        outputs=MappingProxyType({x.name: setting.told(x.formula) for x in mechanism.outputs}),
        labels=MappingProxyType({**labels_of(setting), "force": sides.labels}),
        defaults=defaults_of(mechanism),
        sides=sides,
        switches=tuple(switches([*dynamics.f, *closures.gamma])),
        events=tuple(
            EventFormula(x.name, setting.told(x.formula), x.direction, x.action)
            for x in mechanism.events
        ),
        native=MappingProxyType(dict(native or {})),
        facts=MappingProxyType({"bounds": bounds_of(mechanism)}),
    )


def plain_dynamics(
    vdot: Sequence[Expr],
    M: Mapping[tuple[int, int], Expr],
    h: Sequence[Expr],
    tau: Sequence[Expr],
) -> Dynamics:
    """M by its lower triangle, given so or whole; inverse dynamics as the plain product."""
    lower = {(i, j): entry for (i, j), entry in M.items() if i >= j}
    inverse = [a - b for a, b in zip(h, tau, strict=True)]
    for (i, j), entry in lower.items():
        inverse[i] = inverse[i] + entry * vdot[j]
        if i != j:
            inverse[j] = inverse[j] + entry * vdot[i]
    f = tuple(a - b for a, b in zip(tau, h, strict=True))
    return Dynamics(lower, tuple(h), tuple(tau), f, tuple(inverse))


def labels_of(setting: Setting) -> Mapping[str, tuple[Label, ...]]:
    """A name and a unit for every entry of q, v, u, p, λ and of the outputs."""
    mechanism, tree = setting.mechanism, setting.tree
    return MappingProxyType(
        {
            "q": tree.position_labels(),
            "v": tree.velocity_labels(),
            "u": tuple(Label(x.name, x.unit) for x in mechanism.inputs),
            "p": tuple(Label(x.name, x.unit) for x in mechanism.parameters),
            "lam": tuple(label for label, _ in setting.rows[0]),
            "outputs": tuple(Label(x.name, x.unit) for x in mechanism.outputs),
        }
    )


def defaults_of(mechanism: Mechanism) -> Mapping[str, tuple[float, ...]]:
    """Values of inputs and parameters; NaN where a parameter is unknown."""
    return MappingProxyType(
        {
            "u": tuple(float(as_float(x.default)) for x in mechanism.inputs),
            "p": tuple(
                math.nan if x.value is None else float(as_float(x.value))
                for x in mechanism.parameters
            ),
        }
    )


def bounds_of(mechanism: Mechanism) -> Mapping[str, tuple[float, float]]:
    """Parameter -> least and greatest value allowed, of those that have a bound."""
    return MappingProxyType(
        {
            x.name: (
                -math.inf if x.low is None else float(as_float(x.low)),
                math.inf if x.high is None else float(as_float(x.high)),
            )
            for x in mechanism.parameters
            if not (x.low is None and x.high is None)
        }
    )
