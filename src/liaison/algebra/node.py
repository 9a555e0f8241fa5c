"""Formal: a formal scalar, vector, row, matrix or quaternion, interned and immutable.

Equal expressions are one object, held weakly, and each stores a hash of its structure that is the
same in every process. Building writes down what the author said and no more: zeros and ones
vanish, sums and products are flat. What is equal by a law of algebra is found by reduce.py.

Vectors are columns of three; `.T` makes rows. `@` multiplies rows, columns and matrices, `*`
multiplies by scalars (and quaternions with each other), `**` takes whole powers.

Public names: Formal, Atom, Kind, make, as_formal, number, ZERO, ONE, IDENTITY, zero, topological,
inverse, is_orthogonal.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from threading import RLock
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias, final
from weakref import WeakValueDictionary

from liaison.expr import Expr, as_expr
from liaison.expr.graph.node import stable_hash

Kind: TypeAlias = Literal["scalar", "vector", "row", "matrix", "quaternion"]
Operand: TypeAlias = "Formal | Expr | int | Fraction | float"

# rows and columns of each kind; quaternions have a product of their own
SHAPES: dict[str, tuple[int, int]] = {
    "scalar": (1, 1),
    "vector": (3, 1),
    "row": (1, 3),
    "matrix": (3, 3),
}
_KINDS: dict[tuple[int, int], Kind] = {
    (1, 1): "scalar",
    (3, 1): "vector",
    (1, 3): "row",
    (3, 3): "matrix",
}


class Atom(NamedTuple):
    """What a symbol stands for: its name, how often it is differentiated, and its properties."""

    name: str
    order: int = 0
    traits: tuple[str, ...] = ()


@final
class Formal:
    """An operation `op` on arguments, of one kind; `data` is what a leaf or a power carries."""

    __slots__ = ("__weakref__", "args", "data", "h", "kind", "op")

    op: str
    kind: Kind
    args: tuple[Formal, ...]
    data: Any
    h: int

    def __add__(self, other: Operand) -> Formal:
        return total(self, as_formal(other))

    def __radd__(self, other: Operand) -> Formal:
        return total(as_formal(other), self)

    def __sub__(self, other: Operand) -> Formal:
        return total(self, -as_formal(other))

    def __rsub__(self, other: Operand) -> Formal:
        return total(as_formal(other), -self)

    def __neg__(self) -> Formal:
        return product(number(-1), self)

    def __pos__(self) -> Formal:
        return self

    def __mul__(self, other: Operand) -> Formal:
        return _scaled(self, as_formal(other))

    def __rmul__(self, other: Operand) -> Formal:
        return _scaled(as_formal(other), self)

    def __matmul__(self, other: Formal) -> Formal:
        return product(self, as_formal(other))

    def __truediv__(self, other: Operand) -> Formal:
        divisor = as_formal(other)
        if divisor.kind != "scalar":
            raise TypeError(f"{self} is divided by the {divisor.kind} {divisor}; only a scalar can")
        return _scaled(power(divisor, -1), self)

    def __rtruediv__(self, other: Operand) -> Formal:
        return as_formal(other) / self

    def __pow__(self, exponent: int) -> Formal:
        return power(self, exponent)

    @property
    def T(self) -> Formal:
        """The transpose: of a vector the row, of a scalar itself."""
        return transpose(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(f"neither true nor false: {self!r}. Ask is_zero(x) or is_equal(x, y).")

    def __copy__(self) -> Formal:
        return self

    def __deepcopy__(self, memo: object) -> Formal:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return make, (self.op, self.kind, self.args, self.data)

    def __repr__(self) -> str:
        return _printer(0)(self)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {_printer(1)(self)}$"


# Filled by text.py, which stands on this file: text and LaTeX.
_REPR: list[Callable[[Formal], str]] = []


def _printer(form: int) -> Callable[[Formal], str]:
    """How a formula is shown; the printers are loaded when the first one is."""
    if not _REPR:
        import_module("liaison.algebra.text")
    return _REPR[form]


_NODES: WeakValueDictionary[Any, Formal] = WeakValueDictionary()
_LOCK = RLock()


def make(op: str, kind: Kind, args: tuple[Formal, ...] = (), data: Any = None) -> Formal:
    """The one node of that operation, kind, arguments and data; nothing is simplified."""
    token = data.h if type(data) is Expr else data
    key = (op, kind, args, type(data), data)
    with _LOCK:
        node = _NODES.get(key)
        if node is None:
            node = object.__new__(Formal)
            node.op, node.kind, node.args, node.data = op, kind, args, data
            node.h = stable_hash("formal", op, kind, token, *(arg.h for arg in args))
            _NODES[key] = node
    return node


def topological(root: Formal) -> list[Formal]:
    """Every node below `root` once, arguments first; without recursion."""
    order: dict[Formal, None] = {}
    waiting = [root]
    while waiting:
        node = waiting[-1]
        missing = [arg for arg in node.args if arg not in order]
        if missing:
            waiting += reversed(missing)
        else:
            order[waiting.pop()] = None
    return list(order)


# Leaves -----------------------------------------------------------------------------------------


def number(x: Expr | int | Fraction | float) -> Formal:
    """The formal scalar of a number or of a formula."""
    return make("expr", "scalar", (), as_expr(x))


def zero(kind: Kind) -> Formal:
    """The zero of a kind."""
    return ZERO if kind == "scalar" else make("zero", kind)


ZERO, ONE = number(0), number(1)
IDENTITY = make("identity", "matrix")


def as_formal(x: object) -> Formal:
    """Itself, or the formal scalar of a number or a formula."""
    return x if type(x) is Formal else number(x)  # type: ignore[arg-type]


def is_zero_leaf(x: Formal) -> bool:
    """Written as zero: the zero of its kind."""
    return x is ZERO or x.op == "zero"


# Operations every kind has ----------------------------------------------------------------------


def total(*terms: Formal) -> Formal:
    """The sum of terms of one kind; zeros are left out."""
    kinds = {term.kind for term in terms}
    if len(kinds) > 1:
        named = " and ".join(f"the {term.kind} {term}" for term in terms[:2])
        raise TypeError(f"cannot add {named}: a sum has terms of one kind")
    flat: list[Formal] = []
    for term in terms:
        flat += term.args if term.op == "sum" else () if is_zero_leaf(term) else (term,)
    if not flat:
        return zero(terms[0].kind)
    return flat[0] if len(flat) == 1 else make("sum", terms[0].kind, tuple(flat))


def _scaled(a: Formal, b: Formal) -> Formal:
    if "scalar" not in (a.kind, b.kind) and not a.kind == b.kind == "quaternion":
        raise TypeError(
            f"cannot write {a} * {b}: `*` multiplies by a scalar. Write `@` for the product of "
            "matrices, dot(a, b) and cross(a, b) for vectors."
        )
    return product(a, b)


def product(*factors: Formal) -> Formal:
    """The product in that order; scalars stand in front, the identity and ones are left out."""
    kind = _kind_of_product(factors)
    if any(is_zero_leaf(factor) for factor in factors):
        return zero(kind)
    scalars: list[Formal] = []
    others: list[Formal] = []
    for factor in factors:
        parts = factor.args if factor.op == "product" and _is_flat(factor) else (factor,)
        scalars += [part for part in parts if part.kind == "scalar" and part is not ONE]
        others += [part for part in parts if part.kind != "scalar" and part is not IDENTITY]
    if not others and kind == "matrix":
        others = [IDENTITY]
    parts = (*scalars, *others)
    if not parts:
        return ONE
    return parts[0] if len(parts) == 1 else make("product", kind, parts)


def _is_flat(node: Formal) -> bool:
    """A product whose factors may stand among others: no row meets a vector in it."""
    return node.kind != "scalar" or all(arg.kind == "scalar" for arg in node.args)


def _kind_of_product(factors: tuple[Formal, ...]) -> Kind:
    others = [factor for factor in factors if factor.kind != "scalar"]
    if not others:
        return "scalar"
    if any(factor.kind == "quaternion" for factor in others):
        if {factor.kind for factor in others} != {"quaternion"}:
            raise TypeError(
                f"cannot multiply {others[0]} and {others[1]}: a quaternion meets quaternions "
                "only; pure(a) is the quaternion of a vector."
            )
        return "quaternion"
    rows, columns = SHAPES[others[0].kind]
    for before, after in pairwise(others):
        if columns != SHAPES[after.kind][0]:
            raise TypeError(
                f"cannot multiply the {before.kind} {before} by the {after.kind} {after}: "
                f"{columns} columns meet {SHAPES[after.kind][0]} rows. A scalar product is "
                "dot(a, b) or a.T @ b, a dyad a @ b.T."
            )
        columns = SHAPES[after.kind][1]
    return _KINDS[rows, columns]


def power(base: Formal, exponent: int) -> Formal:
    """A whole power of a scalar, a matrix or a quaternion; a quaternion has no negative ones."""
    if type(exponent) is not int:
        raise TypeError(f"{base} ** {exponent!r}: a power has a whole number as exponent")
    if base.kind in ("vector", "row"):
        raise TypeError(f"{base} ** {exponent}: a {base.kind} has no powers; dot(a, a) is a²")
    if exponent == 1:
        return base
    if exponent == 0:
        return IDENTITY if base.kind == "matrix" else make_one(base.kind)
    if is_zero_leaf(base):
        if exponent < 0:
            raise ZeroDivisionError(f"zero has no power {exponent}")
        return base
    if exponent < 0 and base.kind == "matrix":
        return power(inverse(base), -exponent)
    if exponent < 0 and base.kind == "quaternion":
        raise ValueError(f"{base} ** {exponent}: write conjugate(q) / norm_squared(q)")
    if base.op == "expr" and base.data.op == "const":
        return number(base.data**exponent)
    return make("power", base.kind, (base,), exponent)


def make_one(kind: Kind) -> Formal:
    """What a product of that kind starts from."""
    return ONE if kind == "scalar" else make("one", kind)


def transpose(a: Formal) -> Formal:
    """The transpose; twice is nothing."""
    if a.kind == "quaternion":
        raise TypeError(f"the quaternion {a} has a conjugate, not a transpose")
    if a.kind == "scalar" or a is IDENTITY:
        return a
    if a.op == "transpose":
        return a.args[0]
    kind: Kind = {"vector": "row", "row": "vector", "matrix": "matrix"}[a.kind]  # type: ignore[assignment]
    return zero(kind) if a.op == "zero" else make("transpose", kind, (a,))


def inverse(a: Formal) -> Formal:
    """The inverse of a matrix: of products in turn, of orthogonal matrices the transpose.

    Raises:
        ValueError: the matrix has the determinant 0 whatever its symbols are.
    """
    if type(a) is not Formal or a.kind != "matrix":
        description = f"the {a.kind} {a}" if type(a) is Formal else repr(a)
        raise TypeError(f"inverse(A) takes a matrix, not {description}")
    if is_singular(a):
        raise ValueError(f"{a} has the determinant 0: it has no inverse")
    if a is IDENTITY or is_orthogonal(a):
        return transpose(a)
    if a.op == "inverse":
        return a.args[0]
    if a.op == "transpose":
        return transpose(inverse(a.args[0]))
    if a.op == "power":
        return power(inverse(a.args[0]), a.data)
    if a.op == "product":
        scalars = [power(x, -1) for x in a.args if x.kind == "scalar"]
        return product(*scalars, *(inverse(x) for x in reversed(a.args) if x.kind == "matrix"))
    return make("inverse", "matrix", (a,))


def is_singular(a: Formal) -> bool:
    """Whether a matrix is written as one of determinant 0: zero, a tilde, a dyad."""
    if a.op == "symbol":
        return "antisymmetric" in a.data.traits
    return a.op in ("zero", "tilde") or (
        a.op == "product" and any(x.kind == "vector" for x in a.args)
    )


def is_orthogonal(a: Formal) -> bool:
    """Whether it is declared orthogonal, or the transpose of an orthogonal matrix."""
    a = a.args[0] if a.op == "transpose" else a
    return a.op == "symbol" and bool({"orthogonal", "rotation"} & set(a.data.traits))
