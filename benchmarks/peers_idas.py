"""SUNDIALS IDAS through CasADi: the same equations as liaison's, as implicit systems of two forms.

Index 1: M v̇ = f + Gᵀ λ, G v̇ = γ, with v̇ and λ algebraic; nothing holds the closures themselves.
GGL (Gear, Gupta and Leimkuhler): M v̇ = f + Gᵀ λ, G v = ν, q̇ = N (v + μ), M μ = Gᵀ η, Φ = 0, of
index 2. Algebraic variables are left out of the error test, which is quicker in both. Formulas
become CasADi's own (SX), their derivatives are exact, the linear solver is the default.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from liaison.equations import Equations
from liaison.expr import Expr, topological
from liaison.numeric import State

OPS = {
    "add": lambda c, a, b: a + b, "sub": lambda c, a, b: a - b, "mul": lambda c, a, b: a * b,
    "div": lambda c, a, b: a / b, "neg": lambda c, a: -a, "pow": lambda c, a, b: a**b,
    "sqrt": lambda c, a: c.sqrt(a), "sin": lambda c, a: c.sin(a), "cos": lambda c, a: c.cos(a),
    "tan": lambda c, a: c.tan(a), "atan2": lambda c, a, b: c.atan2(a, b),
    "asin": lambda c, a: c.asin(a), "acos": lambda c, a: c.acos(a), "exp": lambda c, a: c.exp(a),
}  # fmt: skip


def in_casadi(formulas: Sequence[Expr], known: dict[Expr, object]) -> list[object]:
    """Formulas as CasADi's, each node once."""
    import casadi

    made = dict(known)
    for node in topological(list(formulas)):
        if node in made:
            continue
        if node.op == "const":
            made[node] = casadi.SX(float(node.value))
        else:
            made[node] = OPS[node.op](casadi, *(made[x] for x in node.args))
    return [made[x] for x in formulas]


class Idas:
    """One mechanism as a DAE of CasADi."""

    def __init__(self, equations: Equations, state: State, until: float, *, ggl: bool) -> None:
        import casadi

        self.casadi, self.equations, self.state, self.until = casadi, equations, state, until
        self.ggl = ggl
        s, closures, dynamics = equations.symbols, equations.closures, equations.dynamics
        nq, nv, nc = len(s.q), len(s.v), len(s.lam)
        q, v = casadi.SX.sym("q", nq), casadi.SX.sym("v", nv)
        t, a, lam = casadi.SX.sym("t"), casadi.SX.sym("a", nv), casadi.SX.sym("lam", nc)
        known = {s.t: t} | dict(zip(s.q, casadi.vertsplit(q), strict=True))
        known |= dict(zip(s.v, casadi.vertsplit(v), strict=True))
        known |= {
            x: casadi.SX(value) for x, value in zip(s.p, equations.defaults["p"], strict=True)
        }
        known |= {
            x: casadi.SX(value) for x, value in zip(s.u, equations.defaults["u"], strict=True)
        }

        def told(formulas: Sequence[Expr]) -> object:
            return casadi.vertcat(*in_casadi(formulas, known)) if formulas else casadi.SX(0, 1)

        M, N, G = casadi.SX(nv, nv), casadi.SX(nq, nv), casadi.SX(nc, nv)
        for (i, j), x in zip(dynamics.M, in_casadi([*dynamics.M.values()], known), strict=True):
            M[i, j] = M[j, i] = x
        for matrix, entries in ((N, equations.kinematics.N), (G, closures.G)):
            for (i, j), x in zip(entries, in_casadi([*entries.values()], known), strict=True):
                matrix[i, j] = x
        balance = M @ a - told(dynamics.f) - G.T @ lam
        if ggl:
            mu, eta = casadi.SX.sym("mu", nv), casadi.SX.sym("eta", len(closures.phi))
            z = casadi.vertcat(a, lam, mu, eta)
            rows = casadi.vertcat(told(closures.rate), M @ mu - G[: eta.shape[0], :].T @ eta)
            alg = casadi.vertcat(balance, rows, told(closures.phi))
            qdot = N @ (v + mu)
        else:
            z, qdot = casadi.vertcat(a, lam), N @ v
            alg = casadi.vertcat(balance, G @ a - told(closures.gamma))
        self.dae = {"x": casadi.vertcat(q, v), "z": z, "t": t, "alg": alg}
        self.dae["ode"] = casadi.vertcat(qdot, a)
        self.q, self.v, self.N = q, v, N

    def qdot(self) -> np.ndarray:
        """N v at the start."""
        f = self.casadi.Function("f", [self.q, self.v], [self.N @ self.v])
        return np.array(f(self.state.q, self.state.v)).ravel()

    def start(self, forward: np.ndarray) -> np.ndarray:
        """Algebraic variables at the start, from v̇ and λ there."""
        more = len(self.equations.symbols.v) + len(self.equations.closures.phi)
        return np.concatenate([forward, np.zeros(more if self.ggl else 0)])

    def run(self, forward: np.ndarray, tolerance: float) -> tuple[float, np.ndarray]:
        """CPU seconds of one run, and q at its end."""
        options = {
            "reltol": tolerance, "abstol": tolerance * 1e-2, "max_num_steps": 1_000_000,
            "suppress_algebraic": True, "calc_ic": False,
            # its own first step is so short that index 2 leaves nothing of the corrector's digits
            "step0": 1e-4 * (self.until - self.state.t),
            "init_xdot": np.concatenate([self.qdot(), forward[: len(self.state.v)]]).tolist(),
        }  # fmt: skip
        made = self.casadi.integrator(
            "run", "idas", self.dae, self.state.t, self.until, options
        )  # fmt: skip
        given = {"x0": np.concatenate([self.state.q, self.state.v]), "z0": self.start(forward)}
        spent, found = clocked(lambda: made(**given))
        return spent, np.array(found["xf"]).ravel()[: len(self.state.q)]


def clocked(call: Callable[[], object], repeats: int = 3) -> tuple[float, object]:
    """CPU seconds, the least of some calls, and the answer."""
    spent, found = [], None
    for _ in range(repeats):
        begin = time.process_time()
        found = call()
        spent.append(time.process_time() - begin)
    return min(spent), found
