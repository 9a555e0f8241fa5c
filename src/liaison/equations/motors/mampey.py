"""Mampey's backward recursion for the mass matrix: the kinetic energy of all that a joint carries.

With W_k, Ω_k of a node's origin and axes, the energy of node k and all that it carries is

    2 T_k = M_k W·W + Ω·J_k Ω + 2 W·(p_k × Ω) + 2 Ω·Σ h_ki q̇_i + 2 W·Σ r_ki q̇_i + Σ Σ a_ij q̇_i q̇_j

and T_P = t_P + T_k for the carrier P gives M, J, p, h, r of P from those of k; p is minus the first
moment of mass. A column (w, s) of the joint — turning, sliding — makes                   (mampey-1)

    r = M s + p × w,   h = J w − p × s + λ × r,   a_ki = w_k·h_i + s_k·r_i
    h_P = h + λ × r,   J_P = J + J_k − M λ̃² + λ̃ p̃ + (λ̃ p̃)ᵀ,   p_P = p + p_k − M λ        (mampey-2)

A rotor of axial inertia j, driven with ratio α, adds α j ε to h on its carrier and α² j to a_kk.

Public names: mampey.

Source: LL 3.2.2 (algorithme de Mampey).
Differs: trees and joints of any columns instead of chains of hinges and slides; rotors on any body;
    h = S h + λ × r where the organised form prints a minus, and α² j in every a_kk (errata).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from liaison.expr import Expr, as_expr
from liaison.spatial.arrays import (
    Array,
    array,
    cross,
    dot,
    identity,
    minus,
    plus,
    product,
    times,
    zeros,
)
from liaison.tree import GROUND, Inertia, Kinematics

from .transmissions import Rotor

Entries: TypeAlias = dict[tuple[int, int], Any]


def mampey(kinematics: Kinematics, rotors: Sequence[Rotor] = ()) -> dict[tuple[int, int], Expr]:
    """The lower triangle of the mass matrix.

    Args:
        kinematics: of a tree without rotors, their masses in its bodies (`geared`).
        rotors: what turns faster.
    """
    nodes = kinematics.tree.nodes
    carried = [_about_origin(i, node.inertia, rotors) for i, node in enumerate(nodes)]
    a: Entries = {}
    for k in range(len(nodes) - 1, -1, -1):
        R, offset = _axes(kinematics, k)
        m, p, J = carried[k]
        p, J = product(R, p), _turned(R, J)
        _columns(kinematics, a, k, (m, p, J), rotors)
        if nodes[k].parent != GROUND:
            carried[nodes[k].parent] = _combined(carried[nodes[k].parent], (m, p, J), offset)
    for rotor in rotors:
        _add(a, rotor.driven, rotor.driven, times(times(rotor.ratio, rotor.ratio), rotor.axial))
        if rotor.carrier != _before(kinematics, rotor):
            _elsewhere(kinematics, a, rotor)
    return {key: as_expr(entry) for key, entry in a.items()}


def _axes(kinematics: Kinematics, k: int) -> tuple[Array, Array]:
    """The pose of a node in its carrier; of one on the ground in itself, for T does not know it."""
    if kinematics.tree.nodes[k].parent == GROUND:
        return identity(), zeros(3)
    return kinematics.pose(k)


def _about_origin(i: int, inertia: Inertia, rotors: Sequence[Rotor]) -> Inertia:
    """m, p = −m d and C = I − m d̃² of a body with the rotors it carries, standing still in it."""
    m, h, I = inertia
    for rotor in rotors:
        if rotor.carrier == i:
            I = I + rotor.tensor()
    return m, array([minus(0, x) for x in h]), I


def _columns(
    kinematics: Kinematics, a: Entries, k: int, carried: Inertia, rotors: Sequence[Rotor]
) -> None:
    """a_kk, and a_ki of all joints i that carry k; `carried` is M, p, J in its carrier's axes."""
    m, p, J = carried
    R, offset = _axes(kinematics, k)
    S, node = kinematics.subspace(k), kinematics.tree.nodes[k]
    columns = [(product(R, S[:3, n]), product(R, S[3:, n])) for n in range(S.shape[1])]
    for n, (w, s) in enumerate(columns):
        row = node.v.start + n
        r = _scaled(m, s) + cross(p, w)
        h = product(J, w) - cross(p, s)
        for other, (turn, slide) in enumerate(columns[: n + 1]):
            _add(a, row, node.v.start + other, plus(dot(turn, h), dot(slide, r)))
        h = h + cross(offset, r)
        for rotor in rotors:
            if rotor.driven == row and rotor.carrier == node.parent:
                h = h + _spin(rotor)
        _outwards_in(kinematics, a, row, node.parent, (h, r))


def _outwards_in(
    kinematics: Kinematics, a: Entries, row: int, node: int, pair: tuple[Array, Array]
) -> None:
    """a_ki of all joints i from a node down to the ground: h = S h + λ × r, r = S r."""
    h, r = pair
    while node != GROUND:
        S, start = kinematics.subspace(node), kinematics.tree.nodes[node].v.start
        for n in range(S.shape[1]):
            _add(a, row, start + n, plus(dot(S[:3, n], h), dot(S[3:, n], r)))
        R, offset = kinematics.pose(node)
        r = product(R, r)
        h = product(R, h) + cross(offset, r)
        node = kinematics.tree.nodes[node].parent


def _elsewhere(kinematics: Kinematics, a: Entries, rotor: Rotor) -> None:
    """α j ε of a rotor that does not sit on the body before the joint that it drives."""
    entries: Entries = {}
    _outwards_in(kinematics, entries, rotor.driven, rotor.carrier, (_spin(rotor), zeros(3)))
    for (i, j), entry in entries.items():
        _add(a, i, j, plus(entry, entry) if i == j else entry)


def _before(kinematics: Kinematics, rotor: Rotor) -> int:
    """The body before the joint that a rotor drives."""
    nodes = kinematics.tree.nodes
    return next(n.parent for n in nodes if n.v.start <= rotor.driven < n.v.stop)


def _spin(rotor: Rotor) -> Array:
    """α j ε."""
    return _scaled(times(rotor.ratio, rotor.axial), rotor.axis)


def _combined(carrier: Inertia, carried: Inertia, offset: Array) -> Inertia:
    """M, p and J of the carrier with those of what it carries."""
    m, p, J = carried
    moved = _scaled(m, offset)
    half = p - moved  # λ̃ p̃ + (λ̃ p̃)ᵀ − M λ̃² = half λᵀ + λ pᵀ − (λ·half + λ·p) 1
    trace = plus(dot(offset, half), dot(offset, p))
    total = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            mixed = plus(times(half[i], offset[j]), times(offset[i], p[j]))
            entry = minus(mixed, trace) if i == j else mixed
            entry = plus(plus(carrier[2][i, j], J[i, j]), entry)
            total[i, j] = total[j, i] = entry
    return plus(carrier[0], m), carrier[1] + half, total


def _turned(R: Array, J: Array) -> Array:
    """R J Rᵀ, which is symmetric."""
    half = product(R, J)
    turned = zeros(3, 3)
    for i in range(3):
        for j in range(i + 1):
            turned[i, j] = turned[j, i] = dot(half[i], R[j])
    return turned


def _scaled(x: Any, a: Array) -> Array:
    return array([times(x, y) for y in a])


def _add(a: Entries, i: int, j: int, entry: Any) -> None:
    key = (max(i, j), min(i, j))
    a[key] = plus(a[key], entry) if key in a else entry
