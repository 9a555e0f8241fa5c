"""Newton–Euler by recursion: τ from accelerations outwards and wrenches inwards.

A matrix whose pattern is known before its entries are derived.

Public names: newton_euler, Deferred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import final

from liaison.equations.completion import completed
from liaison.equations.equations import Dynamics, Equations, Swept
from liaison.equations.setting import Setting, setting_of
from liaison.equations.sweeps.recursion import (
    generalized,
    mass_matrix,
    mass_pattern,
    required_wrenches,
)
from liaison.expr import Expr
from liaison.spatial.arrays import array
from liaison.tree import Kinematics, Tree

from .formalism import formalism


@final
class Deferred(Mapping[tuple[int, int], Expr]):
    """A matrix by its nonzeros, derived when the first of them is looked at.

    Args:
        keys: (row, column) of the nonzeros.
        make: gives the formulas of all of them.
    """

    def __init__(
        self,
        keys: tuple[tuple[int, int], ...],
        make: Callable[[], Mapping[tuple[int, int], Expr]],
    ) -> None:
        self._keys = keys
        self._make = make

    @cached_property
    def _entries(self) -> Mapping[tuple[int, int], Expr]:
        return self._make()

    def __getitem__(self, key: tuple[int, int]) -> Expr:
        return self._entries[key]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return iter(self._keys)

    def __len__(self) -> int:
        return len(self._keys)


@formalism(rank=0)
def newton_euler(tree: Tree) -> Equations:
    """The equations of motion by recursive sweeps.

    Source: RBDA §5.3 (inverse dynamics), §6.2 (composite rigid bodies).
    Differs: classical instead of spatial accelerations, so that no linear velocity appears;
        gravity enters as an upward acceleration of the ground.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> liaison.newton_euler(tree)
        <Equations pendulum, by newton euler: 1 equation>
    """
    setting = setting_of(tree)
    kinematics, symbols = setting.kinematics, setting.symbols
    tau = setting.applied()
    bias = generalized(kinematics, required_wrenches(kinematics, None, setting.gravity))
    full = generalized(
        kinematics, required_wrenches(kinematics, array(list(symbols.vdot)), setting.gravity)
    )
    dynamics = Dynamics(
        M=Deferred(mass_pattern(kinematics.tree), partial(mass_matrix, kinematics)),
        h=tuple(bias),
        tau=tuple(tau),
        f=tuple(a - b for a, b in zip(tau, bias, strict=True)),
        inverse=tuple(a - b for a, b in zip(full, tau, strict=True)),
        articulated=partial(_articulated, kinematics, tau, setting),
        swept=Swept(kinematics, setting.gravity),
    )
    return completed("newton_euler", tree, setting, dynamics)


def _articulated(kinematics: Kinematics, tau: Sequence[Expr], setting: Setting) -> list[Expr]:
    """v̇ by articulated bodies; few mechanisms need it."""
    from liaison.equations.sweeps.articulated import articulated_body

    return articulated_body(kinematics, tau, setting.gravity)
