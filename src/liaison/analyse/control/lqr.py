"""Linear-quadratic regulator: optimal linear feedback about an equilibrium, from exact matrices.

    ẋ = A x + B w,   cost ∫ xᵀ Q x + wᵀ R w dt,   w = −K x,   K = R⁻¹ Bᵀ P,              (lqr-1)
    Aᵀ P + P A − P B R⁻¹ Bᵀ P + Q = 0,

with x the independent coordinates, speeds and states less those of the equilibrium, and w the
inputs less those that hold it. Closed loops are linearized in independent coordinates.

Public names: Regulator, regulator, holding_inputs.

Source: AM07 §2.3, §3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liaison.analyse.rest.linearize import Linearization, linearize
from liaison.analyse.rest.local import Local, local
from liaison.errors import ArgumentError, ModelError, NamingError, SimulationError
from liaison.expr import Expr, as_expr, symbol
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.units import Label

from .controlled import NO_LIMITS, clipped

HELD = 1e-9
"""Part of the forces at rest that inputs may leave, and still hold an equilibrium."""

REACHED = 1e-9
"""Smallest singular value of (λ − A, B), relative to the largest, of a mode that inputs reach."""

GROWS = -1e-9
"""Growth of a mode, relative to the fastest, from which inputs must reach it."""


@final
@dataclass(frozen=True, repr=False)
class Regulator(Shown):
    """Linear feedback u = u₀ − K (x − x₀) about an equilibrium.

    Attributes:
        K: gains, shape (inputs, states).
        P: of the Riccati equation: the cost from x is (x − x₀)ᵀ P (x − x₀), shape (n, n).
        labels: of the states.
        center: x₀.
        inputs: names of the inputs.
        held: u₀, which hold the equilibrium.
        linear: A, B and labels that it was made from.
        limits: greatest magnitude by input.
        notes: what the linear model leaves out.
    """

    K: Array
    P: Array
    labels: tuple[Label, ...]
    center: Array
    inputs: tuple[str, ...]
    held: Array
    linear: Linearization
    limits: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def eigenvalues(self) -> Any:
        """Of A − B K [1/s], the slowest first."""
        values = np.linalg.eigvals(self.linear.A - self._columns() @ self.K)
        return values[np.lexsort((values.imag, -values.real))]

    def _columns(self) -> Array:
        """B of these inputs."""
        names = [x.name for x in self.linear.inputs]
        return self.linear.B[:, [names.index(x) for x in self.inputs]]

    def formulas(self, mechanism: Mechanism) -> dict[str, Expr]:
        """Input -> formula; see `Controller`."""
        known = {*mechanism.coordinates, *mechanism.speeds}
        for label in self.labels:
            if label.name not in known:
                raise ModelError(
                    f"the feedback is of {label.name!r}, which {mechanism.name!r} has no "
                    "coordinate for.",
                    hint="Give joints with angles in the place of attitudes by quaternions.",
                )
        off = [symbol(x.name) - float(x0) for x, x0 in zip(self.labels, self.center, strict=True)]
        listed = {}
        for name, u0, row in zip(self.inputs, self.held, self.K, strict=True):
            total = as_expr(float(u0))
            for gain, x in zip(row, off, strict=True):
                total = total - float(gain) * x
            listed[name] = total
        return clipped(listed, self.limits, mechanism)


def regulator(
    kernel: Kernel,
    state: State,
    *,
    inputs: Sequence[str] = (),
    state_cost: Any = None,
    input_cost: Any = None,
    independent: Sequence[str] = (),
    limits: Mapping[str, Any] = NO_LIMITS,
) -> Regulator:
    """The optimal linear feedback about an equilibrium.

    Args:
        kernel: of the mechanism.
        state: the equilibrium; inputs that hold it are found.
        inputs: those that are controlled; all if not given.
        state_cost: Q: by label, or a matrix; 1 for each if not given.
        input_cost: R: by input, or a matrix; 1 for each if not given.
        independent: coordinates to express the others by.
        limits: greatest magnitude by input.

    Raises:
        ModelError: no input reaches a mode that does not decay.
        SimulationError: the inputs cannot hold the state.
    """
    from scipy.linalg import solve_continuous_are

    known = [x.name for x in kernel.program.labels["u"]]
    for name in inputs:
        if name not in known:
            raise NamingError.unknown("input", name, known)
    chosen = tuple(inputs) or tuple(known)
    if not chosen:
        raise ArgumentError(f"{kernel.program.name!r} has no inputs to control it by.")
    R = _cost("input_cost", input_cost, chosen)
    _check_labels(state_cost, kernel)
    held = holding_inputs(kernel, state, chosen)
    linear = linearize(kernel, state, inputs=held, independent=independent)
    B = linear.B[:, [known.index(x) for x in chosen]]
    Q = _cost("state_cost", state_cost, [x.name for x in linear.labels])
    _check_costs(Q, R)
    check_stabilizable(linear, B)
    try:
        P = solve_continuous_are(linear.A, B, Q, R)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ModelError(
            f"the Riccati equation has no stabilizing solution: {error}",
            hint="Give a cost to every coordinate that does not decay by itself.",
        ) from None
    K = np.linalg.solve(R, B.T @ P)
    center = np.array([_value(state, x.name) for x in linear.labels])
    u0 = np.array([held[x] for x in chosen])
    return Regulator(K, P, linear.labels, center, chosen, u0, linear, limits)


def _value(state: State, label: str) -> float:
    """Of a coordinate or speed; 0 of what has no coordinate."""
    return 0.0 if label.startswith("∫") else float(state[label])


def _cost(what: str, cost: Any, names: Sequence[str]) -> Array:
    """A diagonal by names, or a matrix."""
    if cost is None:
        return np.eye(len(names))
    if isinstance(cost, Mapping):
        for name in cost:
            if name not in names:
                raise NamingError.unknown(f"state or input in {what}", name, names)
        return np.diag([float(cost.get(name, 0.0)) for name in names])
    matrix = np.asarray(cost, dtype=float)
    if matrix.ndim == 0:
        return np.eye(len(names)) * float(matrix)
    if matrix.shape != (len(names), len(names)):
        raise ArgumentError(
            f"{what} has shape {matrix.shape}; it must be ({len(names)}, {len(names)}), for "
            f"{', '.join(names)}."
        )
    return matrix


def _check_labels(cost: Any, kernel: Kernel) -> None:
    """Raises an error for the cost of a state that there is not, or one below 0."""
    known = [x.name for part in ("q", "v") for x in kernel.program.labels[part]]
    for name, value in cost.items() if isinstance(cost, Mapping) else ():
        if name not in known:
            raise NamingError.unknown("state in state_cost", name, known)
        if not float(value) >= 0:
            raise ArgumentError(f"state_cost must be not negative; that of {name!r} is {value}.")


def _check_costs(Q: Array, R: Array) -> None:
    """Raises an error for costs that are no costs."""
    for what, matrix, least in (("state_cost", Q, -1e-12), ("input_cost", R, 1e-300)):
        if not np.all(np.isfinite(matrix)) or not np.allclose(matrix, matrix.T):
            raise ArgumentError(f"{what} must be finite and symmetric.")
        if np.min(np.linalg.eigvalsh(matrix)) < least * max(1.0, float(np.max(np.abs(matrix)))):
            kind = "positive" if what == "input_cost" else "not negative"
            raise ArgumentError(f"{what} must be {kind} in every direction.")


def holding_inputs(kernel: Kernel, state: State, inputs: Sequence[str]) -> dict[str, float]:
    """Values of inputs that hold a mechanism at a state: the shortest that do.

    Args:
        kernel: of the mechanism.
        state: at rest.
        inputs: those that may be changed.

    Raises:
        SimulationError: the state moves, or no inputs hold it.
    """
    here = local(kernel, state)
    names = [x.name for x in kernel.program.labels["u"]]
    columns = [names.index(x) for x in inputs]
    Z = here.velocities.basis
    B = -here.residual_slopes["u"][: here.nv, columns]
    u = here.u.copy()
    change = np.linalg.lstsq(Z.T @ B, -(Z.T @ here.forces), rcond=1e-12)[0]
    u[columns] = here.u[columns] + change
    there = Local(kernel, state, u, here.p)
    moving = [j for j, x in enumerate(there.solution[0]) if abs(x) > _allowed(there)]
    if moving:
        label = kernel.program.labels["v"][moving[0]].name
        raise SimulationError(
            f"the inputs {', '.join(inputs)} cannot hold this state: {label!r} changes by "
            f"{there.solution[0][moving[0]]:.3g} a second.",
            status="no equilibrium",
            hint="Take an equilibrium: equilibrium(mechanism, kind='nearest').state.",
        )
    return {x: float(u[k]) for x, k in zip(names, range(len(names)), strict=True)}


def _allowed(here: Local) -> float:
    """Acceleration that counts as none, beside what forces could cause."""
    size = np.max(np.abs(here.weights), initial=0.0)
    lightest = np.min(np.abs(np.diag(here.M)), initial=np.inf)
    return float(HELD * max(1.0, size / max(lightest, 1e-12)))


def check_stabilizable(linear: Linearization, B: Array) -> None:
    """Raises an error for a mode that neither decays nor is reached by the inputs (Hautus)."""
    A = linear.A
    values = np.linalg.eigvals(A)
    size = max(float(np.max(np.abs(A), initial=0.0)), float(np.max(np.abs(B), initial=0.0)), 1e-300)
    for value in values:
        if value.real < GROWS * max(float(np.max(np.abs(values))), 1.0):
            continue
        test = np.hstack([value * np.eye(len(A)) - A, B])
        ways, singular, _ = np.linalg.svd(test, full_matrices=False)
        if singular[-1] > REACHED * size:
            continue
        worst = linear.labels[int(np.argmax(np.abs(ways[:, -1])))].name
        grows = "grows" if value.real > 1e-9 * size else "does not decay"
        raise ModelError(
            f"no input reaches a mode with eigenvalue {value:.4g} 1/s, which {grows}; most of it "
            f"is {worst!r}: linear feedback cannot make it stable.",
            hint="Add a motor that acts on it, or hold that coordinate by a joint or a spring.",
        )
