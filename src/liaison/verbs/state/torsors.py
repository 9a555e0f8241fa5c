"""Evaluate torsors of velocity, momentum and its rate.

Public names: torsors, BodyTorsors, Torsors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from liaison.arguments import checked
from liaison.lazy import Shown
from liaison.numeric import Array
from liaison.spatial import WORLD, Inertia, Torsor
from liaison.verbs.at_state import Positions, Velocities, accelerations, at_state, point_of
from liaison.verbs.given import Given, Value, mechanism_of
from liaison.verbs.short import row

from .inertia import inertias_at


@final
@dataclass(frozen=True, slots=True, repr=False)
class BodyTorsors(Shown):
    """Of one body, or of all together (without a kinematic one), at a point of the ground.

    Attributes:
        kinematic: resultant ω [rad/s], moment the velocity of the body's point there [m/s].
        kinetic: resultant m v_G [kg·m/s], moment the angular momentum [kg·m²/s].
        dynamic: resultant m a_G [N], moment the dynamic moment [N·m].
        energy: T [J].
        energy_of_center: ½ m v_G², Koenig's first part [J].
    """

    kinematic: Torsor | None
    kinetic: Torsor
    dynamic: Torsor
    energy: float
    energy_of_center: float


@final
@dataclass(frozen=True, slots=True, repr=False)
class Torsors(Shown):
    """Torsors of every body, and of all of them together."""

    point: Array
    bodies: dict[str, BodyTorsors]
    whole: BodyTorsors

    @property
    def text(self) -> str:
        """A block for each body: resultant and moment of each torsor."""
        lines = [f"at the point {row(self.point)} m of the ground, in its axes: resultant, moment"]
        for name, x in (*self.bodies.items(), ("all", self.whole)):
            lines.append(name)
            kinds = (("kinematic", x.kinematic), ("kinetic", x.kinetic), ("dynamic", x.dynamic))
            lines += [f"    {kind:<10} {row(y.resultant)}  {row(y.moment)}  {UNITS[kind]}"
                      for kind, y in kinds if y is not None]  # fmt: skip
            about = x.energy - x.energy_of_center
            lines.append(
                f"    energy     {x.energy:.9g} J = {x.energy_of_center:.9g} (center) + {about:.9g}"
            )
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {"point": self.point.tolist()} | {
            name: {
                "kinematic": None if x.kinematic is None else _plain(x.kinematic),
                "kinetic": _plain(x.kinetic),
                "dynamic": _plain(x.dynamic),
                "energy": x.energy,
                "energy_of_center": x.energy_of_center,
            }
            for name, x in (*self.bodies.items(), ("all", self.whole))
        }


UNITS = {"kinematic": "rad/s, m/s", "kinetic": "kg·m/s, kg·m²/s", "dynamic": "N, N·m"}
"""Of the resultant and the moment."""


def _plain(x: Torsor) -> list[list[float]]:
    return [[float(y) for y in x.resultant], [float(y) for y in x.moment]]


@checked
def torsors(
    given: Given,
    q: Positions = None,
    v: Velocities = None,
    *,
    point: Sequence[float | str] = (0.0, 0.0, 0.0),
    t: Value = 0.0,
    inputs: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Value] | None = None,
) -> Torsors:
    """Velocities, momenta and their rates as torsors, reduced at a point of the ground.

    Args:
        given: the mechanism, the path of its text, or the text.
        q: a State; an array (nq,); positions by label, the others assembled; or the start.
        v: an array (nv,); velocities by label; those of the state, or zero beside an array q.
        point: at which moments are taken, fixed in the ground [m].
        t: time [s].
        inputs: values of inputs, by name; their defaults if not named.
        parameters: other values of parameters, by name.

    Raises:
        DerivationError: contacts decide on the accelerations.
        SimulationError: the state is not on the closures.

    Example:
        >>> import liaison
        >>> print(str(liaison.torsors("examples/pendulum.lsd")).splitlines()[0])
        at the point (0, 0, 0) m of the ground, in its axes: resultant, moment
    """
    at = point_of("torsors", point)
    mechanism = mechanism_of(given)
    state = at_state(mechanism, q, v, t=t, inputs=inputs, parameters=parameters)
    vdot = accelerations(state)
    rest = np.zeros(int(state.kernel.program.sizes.get("nc", 0)))
    motions, poses = state("motions", np.concatenate([vdot, rest])), state("poses")
    bodies = {
        name: _of_body(x, poses[name][9:], motions[name], at)
        for name, x in inertias_at(mechanism, state).items()
    }
    first, *others = bodies.values()
    whole = replace(first, kinematic=None)
    for x in others:
        whole = BodyTorsors(
            None, whole.kinetic + x.kinetic, whole.dynamic + x.dynamic, whole.energy + x.energy, 0.0
        )
    mass = sum(float(x.mass) for x in inertias_at(mechanism, state).values())
    P = np.asarray(whole.kinetic.resultant, dtype=float)
    of_center = float(P @ P) / (2 * mass) if mass else 0.0
    return Torsors(at, bodies, replace(whole, energy_of_center=of_center))


def _of_body(own: Inertia, origin: Array, motion: Array, point: Array) -> BodyTorsors:
    """From ω, v, ω̇ and v̇ of a body's origin, in the ground's axes."""
    omega, velocity, alpha, rate = motion[:3], motion[3:6], motion[6:9], motion[9:12]
    mass, G = float(own.mass), np.asarray(own.com, dtype=float)
    tensor = np.asarray(own.rotational, dtype=float)
    r = G - origin
    v_G = velocity + np.cross(omega, r)
    a_G = rate + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
    spin = tensor @ omega
    turning = tensor @ alpha + np.cross(omega, spin)
    energy_of_center = 0.5 * mass * float(v_G @ v_G)
    return BodyTorsors(
        kinematic=Torsor(WORLD, origin, omega, velocity).at(point),
        kinetic=Torsor(WORLD, G, mass * v_G, spin).at(point),
        dynamic=Torsor(WORLD, G, mass * a_G, turning).at(point),
        energy=energy_of_center + 0.5 * float(omega @ spin),
        energy_of_center=energy_of_center,
    )
