"""Constructors of formal expressions: symbols with properties, products of vectors, tilde, dyads.

Public names: scalar, vector, matrix, rotation_matrix, dot, cross, mixed, tilde, dyad, trace,
determinant, axial.
"""

from __future__ import annotations

from .node import (
    IDENTITY,
    Atom,
    Formal,
    Kind,
    is_zero_leaf,
    make,
    number,
    product,
    transpose,
    zero,
)

_EXCLUSIVE = ("symmetric", "antisymmetric", "orthogonal", "rotation")


def _symbol(
    kind: Kind, name: str, traits: dict[str, bool], args: tuple[Formal, ...] = ()
) -> Formal:
    if type(name) is not str or not name:
        raise TypeError(f"a {kind} is named by a text that is not empty, not by {name!r}")
    return make("symbol", kind, args, Atom(name, 0, tuple(t for t, has in traits.items() if has)))


def scalar(name: str, *, constant: bool = False) -> Formal:
    """A formal scalar; `constant`: its time derivative is zero."""
    return _symbol("scalar", name, {"constant": constant})


def vector(name: str, *, constant: bool = False, unit: bool = False) -> Formal:
    """A formal vector of space, a column of three; `unit`: a · a = 1."""
    return _symbol("vector", name, {"constant": constant, "unit": unit})


def matrix(
    name: str,
    *,
    constant: bool = False,
    symmetric: bool = False,
    antisymmetric: bool = False,
    orthogonal: bool = False,
) -> Formal:
    """A formal 3 × 3 matrix with its properties; a rotation is a `rotation_matrix`."""
    traits = {
        "antisymmetric": antisymmetric,
        "constant": constant,
        "orthogonal": orthogonal,
        "symmetric": symmetric,
    }
    exclusive = [trait for trait in _EXCLUSIVE if traits.get(trait)]
    if symmetric and antisymmetric:
        raise ValueError(f"{name} is symmetric and antisymmetric: it is zero('matrix')")
    if antisymmetric and orthogonal:
        raise ValueError(f"{name} is antisymmetric, so det {name} = 0, and cannot be orthogonal")
    if len(exclusive) > 1:
        raise ValueError(f"{name} is declared {' and '.join(exclusive)}; give one of them")
    return _symbol("matrix", name, traits)


def rotation_matrix(name: str, *, constant: bool = False, omega: Formal | None = None) -> Formal:
    """An orthogonal matrix with determinant 1; `omega` is its angular velocity: Ṙ = ω̃ R."""
    if omega is not None and (constant or omega.kind != "vector"):
        raise ValueError(f"{name} turns with omega = {omega}: give a vector, or constant=True")
    args = () if omega is None else (omega,)
    return _symbol("matrix", name, {"constant": constant, "rotation": True}, args)


def _of_kind(kind: Kind, operation: str, *argument: Formal) -> None:
    for x in argument:
        if type(x) is not Formal or x.kind != kind:
            description = f"the {x.kind} {x}" if type(x) is Formal else repr(x)
            raise TypeError(f"{operation} takes a {kind}, not {description}")


def dot(a: Formal, b: Formal) -> Formal:
    """The scalar product a · b of two vectors."""
    _of_kind("vector", "dot(a, b)", a, b)
    return number(0) if is_zero_leaf(a) or is_zero_leaf(b) else make("dot", "scalar", (a, b))


def cross(a: Formal, b: Formal) -> Formal:
    """The vector product a × b (French: a ∧ b)."""
    _of_kind("vector", "cross(a, b)", a, b)
    return zero("vector") if is_zero_leaf(a) or is_zero_leaf(b) else make("cross", "vector", (a, b))


def mixed(a: Formal, b: Formal, c: Formal) -> Formal:
    """The mixed product [a, b, c] = a · (b × c)."""
    _of_kind("vector", "mixed(a, b, c)", a, b, c)
    if any(is_zero_leaf(x) for x in (a, b, c)):
        return number(0)
    return make("mixed", "scalar", (a, b, c))


def tilde(a: Formal) -> Formal:
    """The antisymmetric matrix ã of a vector, such that ã b = a × b."""
    _of_kind("vector", "tilde(a)", a)
    return zero("matrix") if is_zero_leaf(a) else make("tilde", "matrix", (a,))


def axial(a: Formal) -> Formal:
    """The vector a of an antisymmetric matrix A = ã that is a symbol."""
    _of_kind("matrix", "axial(A)", a)
    if a.op != "symbol" or "antisymmetric" not in a.data.traits:
        raise ValueError(f"axial({a}): only a symbol declared antisymmetric has an axial vector")
    return make("axial", "vector", (a,))


def dyad(a: Formal, b: Formal) -> Formal:
    """The matrix a bᵀ."""
    _of_kind("vector", "dyad(a, b)", a, b)
    return product(a, transpose(b))


def trace(a: Formal) -> Formal:
    """The sum of the diagonal of a matrix."""
    _of_kind("matrix", "trace(A)", a)
    return (
        number(3)
        if a is IDENTITY
        else number(0)
        if a.op == "zero"
        else make("trace", "scalar", (a,))
    )


def determinant(a: Formal) -> Formal:
    """The determinant of a matrix that is a symbol or an inverse."""
    _of_kind("matrix", "determinant(A)", a)
    if a.op not in ("symbol", "inverse"):
        raise ValueError(f"determinant({a}): only that of a symbol is known; use mixed(a, b, c)")
    return make("determinant", "scalar", (a,))
