"""What a body carries, told by its column in the body's own axes: r₁(G₁), e₁(A), I₁.

Public names: column, column_value, rotation_name.
"""

from __future__ import annotations

import re

from liaison.algebra import Formal, matrix, vector
from liaison.spatial.arrays import Array

from .intrinsic import Intrinsic


def column(book: Intrinsic, name: Formal) -> tuple[int, Formal] | None:
    """The body whose axes tell a name best, and its name there; None for what no body carries.

    O1G1 is r1(G1) in the axes of body 1, e(A) is e1(A), J1 is I1.
    """
    text = name.data.name
    if found := re.fullmatch(r"J(\d+)", text):
        return int(found[1]), matrix(f"I{found[1]}", symmetric=True, constant=True)
    if book.is_arm(name) and text.startswith("O") and book.definition(name) is None:
        i, end = re.findall(r"\d+", text)[0], re.findall(r"[OG]\d+", text)[1]
        return int(i), vector(f"r{i}({end})")
    if found := re.fullmatch(r"([eu])\((.*)\)", text):
        i = book.with_freedom(found[2])
        return i, vector(f"{found[1]}{i}({found[2]})")
    return None


def column_value(book: Intrinsic, name: Formal) -> Array | None:
    """The components, in its body's axes, of what `column` made; None for other names."""
    text = name.data.name
    if found := re.fullmatch(r"I(\d+)", text):
        return book.central_inertia(int(found[1]))
    if found := re.fullmatch(r"r(\d+)\(([OG])(\d+)\)", text):
        i, k = int(found[1]), int(found[3])
        return book.center(i) if found[2] == "G" else book.kinematics.pose(k - 1)[1]
    if found := re.fullmatch(r"([eu])(\d+)\((.*)\)", text):
        i = int(found[2])
        S = book.kinematics.subspace(i - 1)[:, book.freedoms(i).index(found[3])]
        return S[:3] if found[1] == "e" else S[3:]
    return None


def rotation_name(basis: int, i: int) -> str:
    """The rotation matrix from the axes of body i to those of the basis."""
    return f"R{basis}{i}" if max(basis, i) < 10 else f"R({basis},{i})"
