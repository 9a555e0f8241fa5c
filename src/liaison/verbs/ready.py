"""A mechanism made ready to run: assembled, derived and compiled, its closures completed.

Public names: ready_for, kernel_at.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.analyse.proofs.massless import check_inertia
from liaison.analyse.proofs.obstructed import is_obstructed, moving
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.expr.graph.node import collector_paused
from liaison.numeric import State
from liaison.program.kernel import Kernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.lower import lower
from liaison.tree.assemble import assemble, check_attitudes
from liaison.tree.tree import Tree, span

from .given import Given, mechanism_of, with_starts, with_values


def ready_for(
    given: Given,
    state: State | None,
    start: Mapping[str, float] | None,
    parameters: Mapping[str, Any] | None,
    *,
    invariants: bool = False,
) -> tuple[Kernel, State]:
    """The machine code of a mechanism, and where it starts."""
    mechanism = with_values(mechanism_of(given), parameters or {})
    mechanism = with_starts(mechanism, start or {})
    with collector_paused():
        tree = span(mechanism)
        begin = state or assemble(tree, None, **(start or {}))
        check_attitudes(tree, begin)
        kernel = kernel_at(tree, begin, invariants=invariants)
        firm = [x.label for x in mechanism.starts]
        return kernel, begin if state else moving(kernel, begin, firm)


def kernel_at(tree: Tree, state: State, *, invariants: bool = False) -> Kernel:
    """The machine code of a mechanism that starts somewhere, its closures completed if need be.

    Raises:
        DerivationError: it cannot move there, or some motion of it has no inertia.
    """
    kernel = _machine_code(tree, invariants, state)
    if not is_obstructed(kernel, state):
        return kernel
    from liaison.analyse.proofs.deflate import held

    whole = held(tree.mechanism)
    same = whole is tree.mechanism
    return kernel if same else _machine_code(span(whole), invariants, state)


def _machine_code(tree: Tree, invariants: bool, state: State) -> Kernel:
    equations = newton_euler(tree)
    check_inertia(tree, equations, state)
    if invariants:
        from .invariants import with_invariants

        equations = with_invariants(equations, tree)
    return to_llvm(lower(equations))
