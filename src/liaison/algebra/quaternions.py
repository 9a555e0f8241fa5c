"""Quaternions at three levels: as symbols, as a scalar and a vector, as four components.

    q = quaternion("q", unit=True)           symbols: q q* = 1, (p q)* = q* p*
    to_mixed(q * pure(a) * conjugate(q))     a scalar and a vector: (0, (s² − v · v) a + …)
    to_components(q)                         four formulas, scalar first

Each level has its simplification: `reduced` of reduce.py for symbols and for the two parts, the
rules of formulas for components.

Hamilton's product is (s, a)(t, b) = (s t − a · b, s b + t a + a × b).

Public names: quaternion, pure, real, conjugate, Mixed, to_mixed, to_components, scalar_part,
vector_part, norm_squared, rotation_of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.algebra.rules.quaternions import parts
from liaison.algebra.rules.reduce import reduced, simplified

from .build import cross, dot, dyad, tilde
from .components import Components, components
from .node import IDENTITY, ONE, ZERO, Atom, Formal, make, make_one, topological, zero


def quaternion(name: str, *, unit: bool = False, constant: bool = False) -> Formal:
    """A formal quaternion; `unit`: q q* = 1."""
    if type(name) is not str or not name:
        raise TypeError(f"a quaternion is named by a text that is not empty, not by {name!r}")
    traits = [trait for trait, has in (("constant", constant), ("unit", unit)) if has]
    return make("symbol", "quaternion", (), Atom(name, 0, tuple(traits)))


def pure(a: Formal) -> Formal:
    """The quaternion (0, a) of a vector."""
    if type(a) is not Formal or a.kind != "vector":
        raise TypeError(f"pure(a) takes a vector, not {a!r}")
    return zero("quaternion") if a.op == "zero" else make("pure", "quaternion", (a,))


def real(s: Formal | int) -> Formal:
    """The quaternion (s, 0) of a scalar."""
    return s * make_one("quaternion")


def conjugate(q: Formal) -> Formal:
    """The conjugate (s, −v) of (s, v); twice is nothing."""
    if type(q) is not Formal or q.kind != "quaternion":
        raise TypeError(f"conjugate(q) takes a quaternion, not {q!r}")
    if q.op == "conjugate":
        return q.args[0]
    return q if q.op in ("zero", "one") else make("conjugate", "quaternion", (q,))


@final
@dataclass(frozen=True, slots=True)
class Mixed:
    """A quaternion as a formal scalar and a formal vector."""

    scalar: Formal
    vector: Formal

    def __mul__(self, other: Mixed) -> Mixed:
        s, a, t, b = self.scalar, self.vector, other.scalar, other.vector
        return Mixed(s * t - dot(a, b), s * b + t * a + cross(a, b))

    def simplified(self) -> Mixed:
        """Both parts in their shortest form."""
        return Mixed(simplified(self.scalar), simplified(self.vector))

    def reduced(self) -> Mixed:
        """Both parts in normal form."""
        return Mixed(reduced(self.scalar), reduced(self.vector))

    def __str__(self) -> str:
        return f"({self.scalar}, {self.vector})"


def to_mixed(q: Formal) -> Mixed:
    """A quaternion expression as a scalar and a vector, in normal form."""
    if q.kind != "quaternion":
        raise TypeError(f"to_mixed(q) takes a quaternion, not the {q.kind} {q}")
    done: dict[Formal, Mixed] = {}
    for node in topological(q):
        if node.kind == "quaternion":
            done[node] = _mixed(node, done)
    return done[q].reduced()


def _mixed(node: Formal, done: dict[Formal, Mixed]) -> Mixed:
    if node.op == "symbol":
        s, v = parts(node.data)
        return Mixed(make("symbol", "scalar", (), s), make("symbol", "vector", (), v))
    if node.op == "pure":
        return Mixed(ZERO, node.args[0])
    if node.op == "conjugate":
        inner = done[node.args[0]]
        return Mixed(inner.scalar, -inner.vector)
    if node.op == "sum":
        terms = [done[arg] for arg in node.args]
        first = terms[0]
        for term in terms[1:]:
            first = Mixed(first.scalar + term.scalar, first.vector + term.vector)
        return first
    result = Mixed(ZERO if node.op == "zero" else ONE, zero("vector"))
    repeated = node.args * (node.data if node.op == "power" else 1)
    for arg in repeated:
        scale = Mixed(arg, zero("vector")) if arg.kind == "scalar" else done[arg]
        result = result * scale
    return result


def scalar_part(q: Formal) -> Formal:
    """The scalar s of q = (s, v)."""
    return to_mixed(q).scalar


def vector_part(q: Formal) -> Formal:
    """The vector v of q = (s, v)."""
    return to_mixed(q).vector


def norm_squared(q: Formal) -> Formal:
    """s² + v · v of q = (s, v)."""
    return scalar_part(q * conjugate(q))


def rotation_of(q: Formal) -> Formal:
    """The matrix (s² − v · v) 1 + 2 v vᵀ + 2 s ṽ, which takes a to the vector of q a q*."""
    parts_of = to_mixed(q)
    s, v = parts_of.scalar, parts_of.vector
    return (s * s - dot(v, v)) * IDENTITY + 2 * dyad(v, v) + 2 * s * tilde(v)


def to_components(q: Formal, values: Components | None = None) -> NDArray[Any]:
    """The four components of a quaternion expression, scalar first, as formulas."""
    mixed = to_mixed(q)
    first = components(mixed.scalar, values).reshape(1)
    return np.concatenate([first, components(mixed.vector, values)])
