"""Newton–Euler by recursion: τ from accelerations outwards and wrenches inwards.

Public names: newton_euler.
"""

from __future__ import annotations

from liaison.equations.completion import completed
from liaison.equations.equations import Dynamics, Equations
from liaison.equations.setting import setting_of
from liaison.equations.sweeps.articulated import articulated_body
from liaison.equations.sweeps.deferred import Deferred
from liaison.equations.sweeps.recursion import (
    generalized,
    mass_matrix,
    mass_pattern,
    required_wrenches,
)
from liaison.spatial.arrays import array
from liaison.tree import Tree


def newton_euler(tree: Tree) -> Equations:
    """The equations of motion by recursive sweeps.

    Source: RBDA §5.3 (inverse dynamics), §6.2 (composite rigid bodies).
    Differs: classical instead of spatial accelerations, so that no linear velocity appears;
        gravity enters as an upward acceleration of the ground.
    """
    setting = setting_of(tree)
    kinematics, symbols = setting.kinematics, setting.symbols
    tau = setting.applied()
    bias = generalized(kinematics, required_wrenches(kinematics, None, setting.gravity))
    full = generalized(
        kinematics, required_wrenches(kinematics, array(list(symbols.vdot)), setting.gravity)
    )
    dynamics = Dynamics(
        M=Deferred(mass_pattern(kinematics.tree), lambda: mass_matrix(kinematics)),
        h=tuple(bias),
        tau=tuple(tau),
        f=tuple(a - b for a, b in zip(tau, bias, strict=True)),
        inverse=tuple(a - b for a, b in zip(full, tau, strict=True)),
        articulated=lambda: articulated_body(kinematics, tau, setting.gravity),
    )
    return completed("newton_euler", tree, setting, dynamics)
