"""A formalism in one file: Maggi's equations, with kinematic parameters of the tree's own.

Velocities are v = A e with parameters e; Maggi projects Lagrange's equations on the columns of A:
Aᵀ (d/dt ∂T/∂v − …) = Aᵀ τ. With a constant, unimodular A the equations along v come back as
M = A⁻ᵀ (Aᵀ M A) A⁻¹, h = A⁻ᵀ (Aᵀ h): another way through the same mechanics.
"""

from __future__ import annotations

from liaison.equations import Equations, lagrange
from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.setting import setting_of
from liaison.expr import ZERO, as_expr


def maggi(tree) -> Equations:
    """The equations of motion by projection on sums of neighbouring velocities."""
    made = lagrange(tree)
    M, h, tau = dict(made.dynamics.M), list(made.dynamics.h), list(made.dynamics.tau)
    n = len(h)
    full = [[as_expr(M.get((i, j), M.get((j, i), ZERO))) for j in range(n)] for i in range(n)]
    # v_i = e_i + e_(i+1): the columns of A are unit vectors and their forerunners
    projected = [_plus(full[i], full[i - 1] if i else None) for i in range(n)]
    loads = [h[i] + (h[i - 1] if i else ZERO) for i in range(n)]
    # and back: row i less the row before it, as it was taken back
    for i in range(1, n):
        projected[i] = [a - b for a, b in zip(projected[i], projected[i - 1], strict=True)]
        loads[i] = loads[i] - loads[i - 1]
    kept = {(i, j): projected[i][j] for (i, j) in M}
    setting = setting_of(tree)
    return completed("maggi", tree, setting, plain_dynamics(made.symbols.vdot, kept, loads, tau))


def _plus(a, b):
    return a if b is None else [x + y for x, y in zip(a, b, strict=True)]
