"""A catalog of identities of vectors, tildes, matrices and quaternions, each as left − right.

Public names: Identity, IDENTITIES, ulysse.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from .build import (
    axial,
    cross,
    determinant,
    dot,
    dyad,
    matrix,
    mixed,
    rotation_matrix,
    scalar,
    tilde,
    trace,
    vector,
)
from .derivative import derivative
from .node import IDENTITY, Formal, as_formal, inverse, zero
from .quaternions import conjugate, norm_squared, pure, quaternion, rotation_of, vector_part

_a, _b, _c, _d, _e, _f = map(vector, "abcdef")
_u = vector("u", unit=True)
_s, _t = scalar("s"), scalar("t")
_A, _B, _S = matrix("A"), matrix("B"), matrix("S", symmetric=True)
_W = matrix("W", antisymmetric=True)
_R, _Q = rotation_matrix("R"), rotation_matrix("Q")
_p, _q = quaternion("p"), quaternion("q", unit=True)
_ta, _tb, _tc, _tu = tilde(_a), tilde(_b), tilde(_c), tilde(_u)


@final
@dataclass(frozen=True, slots=True)
class Identity:
    """A law: left = right."""

    name: str
    left: Formal
    right: Formal

    @property
    def difference(self) -> Formal:
        """left − right, which is zero."""
        return self.left - self.right

    def __str__(self) -> str:
        return f"{self.name}: {self.left} = {self.right}"


_PRODUCTS = (
    ("a vector product alternates", cross(_a, _b), -cross(_b, _a)),
    ("a vector product is linear", cross(_s * _a + _b, _c), _s * cross(_a, _c) + cross(_b, _c)),
    ("double vector product", cross(_a, cross(_b, _c)), dot(_a, _c) * _b - dot(_a, _b) * _c),
    ("double vector product, left", cross(cross(_a, _b), _c), dot(_a, _c) * _b - dot(_b, _c) * _a),
    (
        "Jacobi",
        cross(_a, cross(_b, _c)) + cross(_b, cross(_c, _a)),
        -cross(_c, cross(_a, _b)),
    ),
    (
        "Lagrange",
        dot(cross(_a, _b), cross(_a, _b)),
        dot(_a, _a) * dot(_b, _b) - dot(_a, _b) ** 2,
    ),
    (
        "Binet–Cauchy",
        dot(cross(_a, _b), cross(_c, _d)),
        dot(_a, _c) * dot(_b, _d) - dot(_a, _d) * dot(_b, _c),
    ),
    (
        "four vectors",
        cross(cross(_a, _b), cross(_c, _d)),
        mixed(_a, _b, _d) * _c - mixed(_a, _b, _c) * _d,
    ),
    (
        "four vectors, the other way",
        cross(cross(_a, _b), cross(_c, _d)),
        mixed(_a, _c, _d) * _b - mixed(_b, _c, _d) * _a,
    ),
    ("a mixed product turns", mixed(_a, _b, _c), mixed(_b, _c, _a)),
    ("a mixed product alternates", mixed(_a, _b, _c), -mixed(_a, _c, _b)),
    (
        "mixed product of vector products",
        mixed(cross(_a, _b), cross(_b, _c), cross(_c, _a)),
        mixed(_a, _b, _c) ** 2,
    ),
    (
        "Cramer",
        mixed(_a, _b, _c) * _d,
        mixed(_d, _b, _c) * _a + mixed(_a, _d, _c) * _b + mixed(_a, _b, _d) * _c,
    ),
    (
        "reciprocal basis",
        mixed(_a, _b, _c) * _d,
        dot(_a, _d) * cross(_b, _c) + dot(_b, _d) * cross(_c, _a) + dot(_c, _d) * cross(_a, _b),
    ),
    (
        "Gram of three",
        mixed(_a, _b, _c) ** 2,
        dot(_a, _a) * dot(_b, _b) * dot(_c, _c)
        + 2 * dot(_a, _b) * dot(_b, _c) * dot(_c, _a)
        - dot(_a, _a) * dot(_b, _c) ** 2
        - dot(_b, _b) * dot(_c, _a) ** 2
        - dot(_c, _c) * dot(_a, _b) ** 2,
    ),
    (
        "product of mixed products",
        mixed(_a, _b, _c) * mixed(_d, _e, _f),
        dot(_a, _d) * dot(cross(_b, _c), cross(_e, _f))
        + dot(_a, _e) * dot(cross(_b, _c), cross(_f, _d))
        + dot(_a, _f) * dot(cross(_b, _c), cross(_d, _e)),
    ),
    (
        "a plane and a line",
        mixed(_a, _b, cross(_c, _d)),
        dot(_a, _c) * dot(_b, _d) - dot(_a, _d) * dot(_b, _c),
    ),
    (
        "triple vector product",
        cross(_a, cross(_a, cross(_a, _b))),
        -dot(_a, _a) * cross(_a, _b),
    ),
    (
        "a vector by its parts along and across",
        dot(_a, _a) * _b,
        dot(_a, _b) * _a - cross(_a, cross(_a, _b)),
    ),
)
_TILDES = (
    ("tilde", _ta @ _b, cross(_a, _b)),
    ("tilde of its own vector", _ta @ _a, zero("vector")),
    ("tilde is antisymmetric", _ta.T, -_ta),
    ("tilde is linear", tilde(_s * _a + _t * _b), _s * _ta + _t * _tb),
    ("tilde changes sides", _ta @ _b, -_tb @ _a),
    ("product of tildes", _ta @ _tb, _b @ _a.T - dot(_a, _b) * IDENTITY),
    ("tilde of a vector product", tilde(cross(_a, _b)), _b @ _a.T - _a @ _b.T),
    ("commutator", tilde(cross(_a, _b)), _ta @ _tb - _tb @ _ta),
    ("square of a tilde", _ta**2, _a @ _a.T - dot(_a, _a) * IDENTITY),
    ("cube of a tilde", _ta**3, -dot(_a, _a) * _ta),
    ("a tilde between two of another", _ta @ _tb @ _ta, -dot(_a, _b) * _ta),
    (
        "three tildes",
        _ta @ _tb @ _tc + _tc @ _tb @ _ta,
        -dot(_a, _b) * _tc - dot(_b, _c) * _ta,
    ),
    (
        "squares around a tilde",
        _ta @ _ta @ _tb + _ta @ _tb @ _ta + _tb @ _ta @ _ta,
        -dot(_a, _a) * _tb - 2 * dot(_a, _b) * _ta,
    ),
    (
        "dyads and the mixed product",
        cross(_b, _c) @ _a.T + cross(_c, _a) @ _b.T + cross(_a, _b) @ _c.T,
        mixed(_a, _b, _c) * IDENTITY,
    ),
    (
        "tilde of the double vector product",
        tilde(cross(_a, cross(_b, _c))),
        dot(_a, _c) * _tb - dot(_a, _b) * _tc,
    ),
    ("row and tilde", _a.T @ _tb, -(_tb @ _a).T),
    ("mixed product by tilde", _a.T @ _tb @ _c, mixed(_a, _b, _c)),
    ("tilde on a dyad", _ta @ (_b @ _c.T), cross(_a, _b) @ _c.T),
    ("trace of two tildes", trace(_ta @ _tb), -2 * dot(_a, _b)),
    (
        "nested centripetal terms",
        cross(_a, cross(_b, cross(_a, cross(_b, _c)))),
        -dot(_a, _b) * cross(_a, cross(_b, _c)),
    ),
    ("unit: square of the tilde", -_tu @ _tu, IDENTITY - _u @ _u.T),
    ("unit: cube of the tilde", _tu**3, -_tu),
    ("unit: across itself", dot(_u, derivative(_u)), as_formal(0)),
    (
        "unit: angular velocity of a direction",
        cross(cross(_u, derivative(_u)), _u),
        derivative(_u),
    ),
)
_MATRICES = (
    ("turned tilde", _R @ _ta @ _R.T, tilde(_R @ _a)),
    ("turned vector product", cross(_R @ _a, _R @ _b), _R @ cross(_a, _b)),
    ("turned scalar product", dot(_R @ _a, _R @ _b), dot(_a, _b)),
    ("turned mixed product", mixed(_R @ _a, _R @ _b, _R @ _c), mixed(_a, _b, _c)),
    ("inverse of a product of rotations", inverse(_R @ _Q) @ _R, _Q.T),
    ("inverse of a product", inverse(_A @ _B) @ _A, inverse(_B)),
    ("inverse of a transpose", _A.T @ inverse(_A).T @ _a, _a),
    ("sum of inverses", inverse(_A) + inverse(_B), inverse(_A) @ (_A + _B) @ inverse(_B)),
    ("inverse of a sum", (_A + _B) @ inverse(_B + _A) @ _a, _a),
    ("inverse of a symmetric matrix", _a.T @ inverse(_S) @ _b, _b.T @ inverse(_S) @ _a),
    ("trace of a similar matrix", trace(_A @ _B @ inverse(_A)), trace(_B)),
    (
        "inverse and mixed product",
        determinant(_A) * mixed(*(inverse(_A) @ x for x in (_a, _b, _c))),
        mixed(_a, _b, _c),
    ),
    (
        "derivative of an inverse",
        derivative(inverse(_A) @ _a) + inverse(_A) @ derivative(_A) @ inverse(_A) @ _a,
        inverse(_A) @ derivative(_a),
    ),
    (
        "two rotations and a tilde",
        _Q.T @ _R.T @ tilde(_R @ _Q @ _a) @ _R,
        _ta @ _Q.T,
    ),
    ("cofactors", _A.T @ tilde(_A @ _a) @ _A, determinant(_A) * _ta),
    (
        "trace and tilde",
        _ta @ _A + _A.T @ _ta + tilde(_A @ _a),
        trace(_A) * _ta,
    ),
    (
        "trace and mixed product",
        mixed(_A @ _a, _b, _c) + mixed(_a, _A @ _b, _c) + mixed(_a, _b, _A @ _c),
        trace(_A) * mixed(_a, _b, _c),
    ),
    ("a symmetric form", _a.T @ _S @ _b, _b.T @ _S @ _a),
    ("trace of symmetric and antisymmetric", trace(_S @ _ta), as_formal(0)),
    ("an antisymmetric matrix is a tilde", _W @ _a, cross(axial(_W), _a)),
    ("cube of an antisymmetric matrix", _W**3, -dot(axial(_W), axial(_W)) * _W),
    ("transpose of a product", (_A @ _B @ _a).T, _a.T @ _B.T @ _A.T),
    ("dyads multiply", dyad(_a, _b) @ dyad(_c, _d), dot(_b, _c) * dyad(_a, _d)),
    (
        "Steiner: inertia of a point",
        -_ta @ _ta @ _b,
        dot(_a, _a) * _b - dot(_a, _b) * _a,
    ),
    (
        "Euler's torque has no power about its own axis",
        dot(_a, cross(_a, _S @ _a)),
        as_formal(0),
    ),
    ("derivative of R Rᵀ", derivative(_R @ _R.T), derivative(IDENTITY)),
    (
        "acceleration in a turning frame",
        derivative(_R @ _a, 2),
        _R @ derivative(_a, 2)
        + 2 * cross(vector("omega(R)"), _R @ derivative(_a))
        + cross(derivative(vector("omega(R)")), _R @ _a)
        + cross(vector("omega(R)"), cross(vector("omega(R)"), _R @ _a)),
    ),
)
_QUATERNIONS = (
    ("conjugate of a product", conjugate(_p * _q), conjugate(_q) * conjugate(_p)),
    ("a unit quaternion and its conjugate", _q * conjugate(_q) * _p, _p),
    (
        "product of pure quaternions",
        pure(_a) * pure(_b) - pure(_b) * pure(_a),
        2 * pure(cross(_a, _b)),
    ),
    ("norm of a product with a unit quaternion", norm_squared(_p * _q), norm_squared(_p)),
    (
        "Euler's four squares: the norm of a product",
        (_s * _t - dot(_a, _b)) ** 2
        + dot(_s * _b + _t * _a + cross(_a, _b), _s * _b + _t * _a + cross(_a, _b)),
        (_s**2 + dot(_a, _a)) * (_t**2 + dot(_b, _b)),
    ),
    ("turned vector", vector_part(_q * pure(_a) * conjugate(_q)), rotation_of(_q) @ _a),
    ("product of rotations", rotation_of(_p * _q), rotation_of(_p) @ rotation_of(_q)),
    ("a unit quaternion's matrix is orthogonal", rotation_of(_q) @ rotation_of(_q).T, IDENTITY),
)

# name, left, right
IDENTITIES: tuple[Identity, ...] = tuple(
    Identity(*row) for row in (*_PRODUCTS, *_TILDES, *_MATRICES, *_QUATERNIONS)
)


def ulysse() -> Formal:
    """The expression of the document that ULYSSE reduced to zero.

    R₁, r₁₀ and y₁₀ are vectors, I₁₀ any matrix, m₁₀ and the rate of Θ₁ scalars.

    Source: PA, manipulation en ULYSSE.
    """
    rate, m = derivative(scalar("Theta1")), scalar("m10", constant=True)
    R, r, y = vector("R1"), vector("r10"), vector("y10")
    inertia = matrix("I10")
    first = rate**2 * (R.T @ tilde(R) @ inertia @ R)
    second = m * rate**2 * (R.T @ tilde(r) @ tilde(R) @ tilde(R) @ y)
    row = m * (R.T @ tilde(r)) - m * (R.T @ tilde(y))
    commutator = rate * (tilde(R) @ tilde(r)) - rate * (tilde(r) @ tilde(R))
    return -(first - second - rate * (row @ commutator @ R))
