"""The whole contract of Equations around a formalism's M, h and τ.

Public names: completed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from liaison.expr import switches, symbol
from liaison.model import Mechanism
from liaison.tree import Tree, as_float
from liaison.units import Label

from .equations import Dynamics, Equations, EventFormula
from .reports import TreeReports
from .setting import Setting


def completed(formalism: str, tree: Tree, setting: Setting, dynamics: Dynamics) -> Equations:
    """The whole contract around a formalism's M, h and τ."""
    kept, vanished = setting.rows
    mechanism, closures = setting.mechanism, setting.closures()
    lam = tuple(symbol(f"lambda {label.name}") for label, _ in kept)
    stress = tuple(symbol(f"'stress {label.name}") for label, _ in (*kept, *vanished))
    return Equations(
        name=mechanism.name,
        formalism=formalism,
        symbols=replace(setting.symbols, lam=lam, stress=stress),
        kinematics=setting.kinematic(),
        dynamics=dynamics,
        closures=closures,
        reports=TreeReports(setting if tree is setting.tree else Setting(tree), lam, stress),
        outputs=MappingProxyType({x.name: setting.told(x.formula) for x in mechanism.outputs}),
        labels=labels_of(setting),
        defaults=defaults_of(mechanism),
        switches=tuple(switches([*dynamics.f, *closures.gamma])),
        events=tuple(
            EventFormula(x.name, setting.told(x.formula), x.direction, x.action)
            for x in mechanism.events
        ),
        facts=MappingProxyType({"bounds": bounds_of(mechanism)}),
    )


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
