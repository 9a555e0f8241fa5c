"""Resultant and moment equations of bodies, sub-systems and joint degrees of freedom.

For a sub-system and any point P, fixed or not, by d'Alembert's principle

    Σ F = Σ m γ(G),   Σ C + PA × F = Σ PG × m γ(G) + J ω̇ + ω × J ω                  (levels-5)

where internal joints do not appear. The sub-system that a joint carries, projected on what the
joint leaves free, is an equation of motion without reactions.

Public names: VectorLine, body_lines, system_lines, joint_lines, freedom_lines.

Source: PA, architecture (levels of detail).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

from liaison.algebra import Formal, as_formal, cross, dot, scalar, vector, zero
from liaison.algebra.node import total
from liaison.spatial.arrays import is_zero

from .intrinsic import Intrinsic


@final
@dataclass(frozen=True, slots=True)
class VectorLine:
    """One equation between vectors or scalars: left = right; `name` is that of its subject."""

    name: str
    left: Formal
    right: Formal

    @property
    def difference(self) -> Formal:
        """left − right."""
        return self.left - self.right


def body_lines(book: Intrinsic) -> list[VectorLine]:
    """Resultant and moment, at its center of mass, of every body by itself."""
    return [line for i in book.numbers for line in system_lines(book, [i], f"G{i}")]


def system_lines(book: Intrinsic, bodies: Sequence[int], point: str) -> list[VectorLine]:
    """Resultant and moment at a point of the bodies taken together."""
    named = ", ".join(book.node(i).body for i in bodies)
    acting, bearing = _actions(book, bodies, point)
    force = total(zero("vector"), *(book.mass(i) * book.acceleration(f"G{i}") for i in bodies))
    return [
        VectorLine(f"{named}: resultant", acting, force),
        VectorLine(f"{named}: moment at {point}", bearing, _dynamic_moment(book, bodies, point)),
    ]


def _actions(book: Intrinsic, bodies: Sequence[int], point: str) -> tuple[Formal, Formal]:
    """What acts on the bodies from outside: the sum of forces, and that of moments at a point."""
    forces, moments = _applied(book, bodies, point)
    inside = set(bodies)
    for k in book.numbers:
        signs = [sign for sign, i in ((1, k), (-1, book.parent(k))) if i in inside]
        if len(signs) == 1:
            sign, F, C = signs[0], book.joint(k, "F"), book.joint(k, "C")
            forces.append(sign * F)
            moments += [sign * C, sign * cross(book.arm(point, f"O{k}"), F)]
    return total(zero("vector"), *forces), total(zero("vector"), *moments)


def _applied(
    book: Intrinsic, bodies: Sequence[int], point: str
) -> tuple[list[Formal], list[Formal]]:
    """Weights and loads on bodies: forces, and moments at a point."""
    forces: list[Formal] = []
    moments: list[Formal] = []
    for i in bodies:
        acting = loads_on(book, i)
        weight = book.mass(i) * vector("g")
        if any(not is_zero(x) for x in book.setting.gravity):
            acting = [(weight, zero("vector")), *acting]
        for force, moment in acting:
            forces.append(force)
            moments += [cross(book.arm(point, f"G{i}"), force), moment]
    return forces, moments


def loads_on(book: Intrinsic, i: int) -> list[tuple[Formal, Formal]]:
    """Loads and closures that push body i: force, and moment at its center of mass."""
    names = dict.fromkeys(name for name, push, _ in book.pushes if push.node == i - 1)
    return [
        (named_vector(book, f"F({name},{i})"), named_vector(book, f"M({name},{i})"))
        for name in names
    ]


def named_vector(book: Intrinsic, name: str) -> Formal:
    """The vector of a name, zero where all its components are."""
    named = vector(name)
    return zero("vector") if all(is_zero(x) for x in book.value(named)) else named


def _dynamic_moment(book: Intrinsic, bodies: Sequence[int], point: str) -> Formal:
    terms = []
    for i in bodies:
        J, omega = book.tensor(i), book.omega(i)
        terms.append(cross(book.arm(point, f"G{i}"), book.mass(i) * book.acceleration(f"G{i}")))
        terms += [J @ book.alpha(i), cross(omega, J @ omega)]
    return total(zero("vector"), *terms)


def freedom_lines(book: Intrinsic) -> list[VectorLine]:
    """What each joint does not transmit: u(A) · F(A) + e(A) · C(A) = τ(A)."""
    lines = []
    for i in book.numbers:
        for label, (e, u) in directions(book, i).items():
            left = total(dot(u, book.joint(i, "F")), dot(e, book.joint(i, "C")))
            lines.append(VectorLine(f"{label}: transmitted", left, _effort(book, i, label)))
    return lines


def joint_lines(book: Intrinsic) -> list[VectorLine]:
    """The equations of motion: all that a joint carries, along what the joint leaves free."""
    lines = []
    for i in book.numbers:
        bodies, point = book.carried(i), f"O{i}"
        for label, (e, u) in directions(book, i).items():
            forces, moments = _applied(book, bodies, point)
            force, moment = _sum(forces), _sum(moments)
            rates = [book.mass(k) * book.acceleration(f"G{k}") for k in bodies]
            spins = _dynamic_moment(book, bodies, point)
            left = total(_effort(book, i, label), dot(u, force), dot(e, moment))
            right = total(dot(u, _sum(rates)), dot(e, spins))
            lines.append(VectorLine(label, left, right))
    return lines


def _sum(terms: Sequence[Formal]) -> Formal:
    return total(zero("vector"), *terms)


def directions(book: Intrinsic, i: int) -> dict[str, tuple[Formal, Formal]]:
    """Of each velocity of body i's joint, how the body turns and slides for a unit of it."""
    return {
        label: (named_vector(book, f"e({label})"), named_vector(book, f"u({label})"))
        for label in book.freedoms(i)
    }


def _effort(book: Intrinsic, i: int, label: str) -> Formal:
    """τ(A), zero where nothing acts along that freedom itself."""
    j = book.node(i).v.start + book.freedoms(i).index(label)
    return as_formal(0) if is_zero(book.effort(j)) else scalar(f"tau({label})")
