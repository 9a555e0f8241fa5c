"""Torsors of inertia forces in the ground's axes: moment and resultant at a point.

Public names: Torsor, body_torsor, moved_to.

Source: LL 1.2 (torseur dynamique).
"""

from __future__ import annotations

from typing import NamedTuple

from liaison.spatial.arrays import Array, array, cross, product, times, zeros
from liaison.spatial.plucker import move_inertia
from liaison.tree import Inertia, Motion


class Torsor(NamedTuple):
    """Moment at a point the caller knows, and resultant, in the ground's axes [N·m, N]."""

    moment: Array
    force: Array


def body_torsor(inertia: Inertia, frame: Motion, gravity: Array) -> Torsor:
    """The inertia torsor of a body, less its weight, at the origin of its frame.

    f = m (a − g) + α × h + ω × (ω × h),  n = I α + ω × I ω + h × (a − g),  h = m c
    """
    m, h, I = move_inertia(frame.R, zeros(3), *inertia)
    omega, alpha = frame.omega, frame.alpha
    felt = frame.acceleration - gravity
    force = array([times(m, x) for x in felt]) + cross(alpha, h) + cross(omega, cross(omega, h))
    moment = product(I, alpha) + cross(omega, product(I, omega)) + cross(h, felt)
    return Torsor(moment, force)


def moved_to(torsor: Torsor, origin: Array, point: Array) -> Torsor:
    """The torsor at another point: n(P) = n(O) + (O − P) × f."""
    if origin is point:
        return torsor
    return Torsor(torsor.moment + cross(origin - point, torsor.force), torsor.force)
