"""The motion of a mode: one period of a small motion, large enough to be seen.

    q(t) = q₀ ⊞ a Re(x e^{iωt})

x is the shape of the mode in all coordinates, ω = |Im s|; growth and decay are left out. Positions
are moved to the closures, which the linear motion meets to first order.

Public names: mode_motion, by_frequency, PICTURES.
"""

from __future__ import annotations

import numpy as np

from liaison.analyse.along.along import poses_at
from liaison.errors import ArgumentError, SimulationError
from liaison.numeric import Array, State
from liaison.program import Kernel
from liaison.simulation.record.trajectory import Trajectory

from .linearize import Complex, Linearization

PICTURES = 64
"""Instants of a period."""

SEEN = 2.0
"""Seconds in which a period is shown."""

ANGLE = 0.3
"""Largest turn of a coordinate, where no amplitude is given [rad]."""

LENGTH = 0.15
"""Largest displacement of a coordinate, in lengths of the mechanism, likewise."""

TURNS, CLOSED = 12, 1e-9
"""Corrections of a position, and the residual of closures at which they end, in [m] or [rad]."""

STILL = 1e-9
"""|Im s| below this part of |s| is no oscillation."""


def mode_motion(
    kernel: Kernel, state: State, linear: Linearization, mode: int, amplitude: float | None
) -> Trajectory:
    """One period of a mode about a state, with poses.

    Args:
        kernel: of the mechanism.
        state: about which it moves.
        linear: the small motions about it.
        mode: its number, from 0 on, in the order of `by_frequency`.
        amplitude: of the coordinate that moves most, in its unit; chosen if not given.

    Raises:
        ArgumentError: no such mode, or an amplitude that is not positive.
        SimulationError: nothing moves in the mode, or the closures cannot follow so far.
    """
    order = by_frequency(linear)
    if not 0 <= mode < len(order):
        listed = ", ".join(f"{x:.4g}" for x in linear.frequencies[order])
        raise ArgumentError(
            f"mode {mode}: there are {len(order)}, from 0 on, of {listed} Hz.",
            hint="`linearize` shows eigenvalues and shapes.",
        )
    s = linear.eigenvalues[order[mode]]
    shape = linear.modes[: kernel.program.sizes["nv"], order[mode]]
    scale = _scale(kernel, state, shape, amplitude)
    is_swinging = s.imag > STILL * abs(s)
    omega = s.imag if is_swinging else 2 * np.pi
    t = np.linspace(0.0, 2 * np.pi / omega, PICTURES + 1)
    wave = scale * np.outer(np.exp(1j * omega * t), shape)
    q = np.array([_closed(kernel, state, _moved(kernel, state, state.q, x)) for x in wave.real])
    v = np.asarray((1j * omega * wave).real, dtype=float)
    what = f"{omega / (2 * np.pi):.4g} Hz" if is_swinging else "no oscillation"
    return Trajectory(
        name=f"{kernel.program.name}, mode {mode}: {what}",
        t=t,
        q=q,
        v=v,
        labels={part: kernel.program.labels[part] for part in ("q", "v")},
        series={"poses": poses_at(kernel, q, t=state.t)},
        message=f"the shape of a mode, s = {s.real:.4g} {s.imag:+.4g}i 1/s; velocities to "
        "first order",
        meta={"mode": mode, "parameters": _parameters(kernel), "speed": t[-1] / SEEN},
    )


def by_frequency(linear: Linearization) -> list[int]:
    """Indices of the modes, the slowest first; of a conjugate pair that with Im s > 0.

    Modes that do not oscillate come first, those that grow before those that decay.
    """
    s = linear.eigenvalues
    frequency = np.where(np.abs(s.imag) > STILL * np.abs(s), s.imag, 0.0)
    one_of_each = [k for k in range(len(s)) if frequency[k] >= 0]
    return sorted(one_of_each, key=lambda k: (frequency[k], -s[k].real))


def _parameters(kernel: Kernel) -> dict[str, float]:
    names = [label.name for label in kernel.program.labels.get("p", ())]
    return dict(zip(names, kernel.program.defaults["p"].tolist(), strict=True))


def _scale(kernel: Kernel, state: State, shape: Complex, amplitude: float | None) -> float:
    """The factor of a shape."""
    size = np.abs(shape)
    if not size.max(initial=0.0) > 1e-12:
        raise SimulationError("nothing moves in this mode: only velocities take part in it.")
    if amplitude is not None:
        if not (np.isfinite(amplitude) and amplitude > 0):
            raise ArgumentError(f"the amplitude is {amplitude}; it must be positive.")
        return float(amplitude / size.max())
    turning = np.array([label.unit == "rad/s" for label in kernel.program.labels["v"]])
    angle = float(size[turning].max(initial=0.0))
    length = float(size[~turning].max(initial=0.0))
    reach = _length(poses_at(kernel, state.q[None], t=state.t).values[0])
    limits = [ANGLE / angle] if angle > 0 else []
    limits += [LENGTH * reach / length] if length > 0 else []
    return min(limits)


def _length(poses: Array) -> float:
    """The largest distance of bodies from each other and from the ground's origin, or 1 m."""
    places = np.vstack([np.zeros((1, 3)), poses[:, :, 3]])
    return float(np.ptp(places, axis=0).max()) or 1.0


def _moved(kernel: Kernel, state: State, q: Array, step: Array) -> Array:
    """q ⊞ step."""
    moved: Array = kernel("retract", state.t, q=q, v=state.v, x=step)
    return moved


def _closed(kernel: Kernel, state: State, q: Array) -> Array:
    """The position on the closures beside q."""
    if not kernel.program.sizes.get("nphi", 0):
        return q
    for _ in range(TURNS):
        step = kernel.call("correct_q", state.t, q=q, v=state.v)
        if step["worst"][0] <= CLOSED:
            return q
        q = _moved(kernel, state, q, step["delta"])
    raise SimulationError(
        f"the loops of {kernel.program.name!r} cannot follow the mode so far: they stay open by "
        f"{step['worst'][0]:.2g}.",
        hint="Give a smaller amplitude.",
    )
