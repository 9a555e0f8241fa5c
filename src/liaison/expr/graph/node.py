"""Expr: one operation on its arguments, interned and immutable.

Equal formulas are one object: a common subexpression is found by being built twice, and `is`
compares formulas. Nodes are held weakly, so a dropped graph is freed. Every node stores a hash of
its structure, the same in every process, by which commutative arguments are ordered: neither text
nor code depends on what was built first. Local rules (rules.py) act while building.

Numbers of constants, and hashes that are the same in every process.

What building costs: formulas alive, and the collector paused while many are made.

Public names: Expr, Pi, Scalar, symbol, constant, as_expr, vanishes, ZERO, ONE, TWO, HALF, PI; for
this room's own builders make, make_many, combine, unary and the tables of rules, Number, Value,
THE_PI, exact_or_float, stable_hash, known_nodes, collector_paused.
"""

from __future__ import annotations

import gc
import math
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from hashlib import blake2b
from importlib import import_module
from numbers import Integral, Rational, Real
from threading import RLock
from typing import Any, NoReturn, TypeAlias, final
from weakref import ref

import numpy as np


@final
class Pi:
    """The number π as an exact constant; `float(value)` rounds it."""

    __slots__ = ()

    def __float__(self) -> float:
        return math.pi

    def __repr__(self) -> str:
        return "pi"


THE_PI = Pi()
Number: TypeAlias = int | Fraction | float
Value: TypeAlias = int | Fraction | float | Pi
BITS = (1 << 59) - 1


def exact_or_float(x: object) -> Value | None:
    """The number of any numeric type: int, Fraction, float or Pi; None for anything else.

    NumPy integers and Decimal are exact, NumPy floats are floats.
    """
    if isinstance(x, float):
        return float(x)
    if isinstance(x, bool | np.bool_):
        raise TypeError(f"{x!r} is a truth value, not a number")
    if isinstance(x, Integral):
        return int(x)
    if isinstance(x, Rational):
        return Fraction(int(x.numerator), int(x.denominator))
    if isinstance(x, Decimal):
        return Fraction(x)
    if isinstance(x, Real):
        return float(x)
    return THE_PI if isinstance(x, Pi) else None


def stable_hash(*parts: object) -> int:
    """59 bits of the content of `parts`, the same in every process."""
    text = "\x1f".join(str(part) for part in parts)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") & BITS


__all__ = [
    "COMMUTATIVE", "HALF", "MINUS_ONE", "ONE", "PI", "RULES", "RULES_ONE", "RULES_SAME", "TWO",
    "ZERO", "Expr", "Number", "Pi", "Scalar", "Value", "as_expr", "combine", "constant", "make",
    "make_many", "symbol", "unary", "vanishes",
]  # fmt: skip


Operator: TypeAlias = Callable[["Expr", "Scalar"], "Expr"]


def _operators(op: str) -> tuple[Operator, Operator]:
    """Of a formula x and any scalar y: op(x, y), and op(y, x) where y does not define it."""

    def left(self: Expr, other: Scalar) -> Expr:
        b = other if type(other) is Expr else _operand(other)
        return NotImplemented if b is None else combine(op, self, b)

    def right(self: Expr, other: Scalar) -> Expr:
        b = other if type(other) is Expr else _operand(other)
        return NotImplemented if b is None else combine(op, b, self)

    return left, right


@final
class Expr:
    """A scalar formula: an operation `op` on arguments, interned.

    Flat slots keep a node small. `a` and `b` hold the arguments of unary and binary operations;
    leaves keep their value or name in `a`; any other operation keeps its data in `a` and the tuple
    of its arguments in `b`. Read them through `args`, `name`, `value` and `data`.

    Example:
        >>> import liaison
        >>> x = liaison.symbol("x")
        >>> print(liaison.to_text(x * x + 2 * x))
        2*x + x**2
    """

    __slots__ = ("__weakref__", "a", "b", "h", "op")

    op: str
    a: Any
    b: Any
    h: int

    @property
    def args(self) -> tuple[Expr, ...]:
        """Arguments of the operation; none for symbols and constants."""
        a, b = self.a, self.b
        if type(b) is Expr:
            return (a, b)
        if type(b) is tuple:
            return b
        return (a,) if type(a) is Expr else ()

    @property
    def data(self) -> Any:
        """What the operation carries besides arguments: (Table, order), (Function, orders), …"""
        return self.a if type(self.b) is tuple else None

    @property
    def name(self) -> str:
        """Name of a symbol."""
        if self.op != "symbol":
            raise AttributeError(f"only a symbol has a name; this is {self!r}")
        return str(self.a)

    @property
    def value(self) -> Value:
        """Value of a constant: int or Fraction (exact), Pi (exact) or float."""
        if self.op != "const":
            raise AttributeError(f"only a constant has a value; this is {self!r}")
        value: Value = self.a
        return value

    __add__, __radd__ = _operators("add")
    __sub__, __rsub__ = _operators("sub")
    __mul__, __rmul__ = _operators("mul")
    __truediv__, __rtruediv__ = _operators("div")
    __pow__, __rpow__ = _operators("pow")

    def __neg__(self) -> Expr:
        return unary("neg", self)

    def __pos__(self) -> Expr:
        return self

    def __abs__(self) -> Expr:
        return unary("abs", self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"a formula is neither true nor false: {self!r}. Compare formulas with `is`; "
            "choose between values with select(condition, x, y)."
        )

    def __float__(self) -> float:
        if self.op != "const":
            raise TypeError(
                f"{self!r} is a formula, not a number; liaison.sin, cos, sqrt, … take formulas, "
                "and evaluate(f, values) gives numbers"
            )
        return float(self.a)

    def _no_order(self, other: object) -> NoReturn:
        raise TypeError(
            f"formulas have no order: {self!r} and {other!r}. "
            "minimum, maximum and select(condition, x, y) choose by value."
        )

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if not _REDUCE:
            import_module("liaison.expr.graph.pack")
        return _REDUCE[0](self)

    def __repr__(self) -> str:
        return _printer(0)(self)

    def _repr_latex_(self) -> str:
        return _printer(1)(self)


Scalar: TypeAlias = int | Fraction | float | Expr
Rule1: TypeAlias = Callable[[Expr], Expr | None]
Rule2: TypeAlias = Callable[[Expr, Expr], Expr | None]

# Filled by pack.py and reading/shared.py, which stand on this file: pickling; text and LaTeX.
_REDUCE: list[Callable[[Expr], tuple[Any, ...]]] = []
_REPR: list[Callable[[Expr], str]] = []


def _printer(form: int) -> Callable[[Expr], str]:
    """How a formula is shown; the printers are loaded when the first one is."""
    if not _REPR:
        import_module("liaison.expr.reading.shared")
    return _REPR[form]


# Interning --------------------------------------------------------------------------------------

_INNER = 1 << 59  # set for all but constants, so that these come first among commutative arguments
COMMUTATIVE = frozenset({"add", "mul", "min", "max"})


class _Interned(ref[Expr]):
    """A weak reference that knows its key in the table."""

    __slots__ = ("key",)
    key: Any


_NODES: dict[Any, _Interned] = {}
_interned = _NODES.get
_keep = _NODES.setdefault
_new = object.__new__
_LOCK = RLock()  # who takes an entry out holds it; a finalizer may run while it does


def _forget(reference: _Interned, table: dict[Any, _Interned] = _NODES, lock: Any = _LOCK) -> None:
    # table and lock are arguments: at exit the module's names go before its last nodes
    with lock:
        key = reference.key
        if key in table and table[key] is reference:
            del table[key]


class _Salts(dict[str, int]):
    def __missing__(self, op: str) -> int:
        self[op] = stable_hash("op", op)
        return self[op]


_SALT = _Salts()


def make(op: str, a: Any, b: Any = None) -> Expr:
    """The one node for (op, a, b) of one or two arguments; no rule is applied.

    The key is the hash of the structure. CPython hashes tuples of integers alike in every process.
    """
    h = hash((_SALT[op], a.h, b.h if b is not None else 7)) & BITS | _INNER
    interned = _interned(h)
    if interned is not None:
        node = interned()
        if node is not None and node.a is a and node.b is b and node.op == op:
            return node
        return _intern(op, a, b, h, h)
    node = _new(Expr)
    node.op = op
    node.a = a
    node.b = b
    node.h = h
    reference = _Interned(node, _forget)
    reference.key = h
    return node if _keep(h, reference) is reference else _intern(op, a, b, h, h)


def make_many(op: str, data: Any, args: tuple[Expr, ...], token: object = "") -> Expr:
    """The one node for an operation with data or with three arguments and more.

    Args:
        op: name of a row of OPS.
        data: what the node carries besides arguments, comparable and immutable.
        args: its arguments.
        token: text that identifies `data` in every process.
    """
    h = hash((_SALT[op], stable_hash(token), *(arg.h for arg in args))) & BITS | _INNER
    return _intern(op, data, args, h, h)


def _intern(op: str, a: Any, b: Any, h: int, key: Any) -> Expr:
    """The node under `key`, or under the next free key where another formula has this hash."""
    while True:
        interned = _interned(key)
        node = interned() if interned is not None else None
        if node is None:
            if interned is not None:
                _forget(interned)
            node = _new(Expr)
            node.op, node.a, node.b, node.h = op, a, b, h
            reference = _Interned(node, _forget)
            reference.key = key
            if _keep(key, reference) is reference:
                return node
        elif node.op == op and (node.a is a or node.a == a) and (node.b is b or node.b == b):
            return node
        else:
            key += 1 << 60


def symbol(name: str) -> Expr:
    """The symbol of that name; there is one for each name.

    Example:
        >>> import liaison
        >>> x = liaison.symbol("x")
        >>> x is liaison.symbol("x")
        True
    """
    if type(name) is not str or not name:
        raise TypeError(f"a symbol is named by a text that is not empty, not by {name!r}")
    interned = _interned(name)
    node = interned() if interned is not None else None
    if node is not None:
        return node
    return _intern("symbol", name, None, stable_hash("symbol", name) | _INNER, name)


def constant(value: Value) -> Expr:
    """The constant of that value and type: 1, Fraction(1, 2) and 0.5 are kept as they come.

    int and Fraction are exact, float is float; 0.0 and -0.0 differ; NaN is an error.
    """
    kind = type(value)
    if kind is int:
        key: Any = ("exact", value, 1)
    elif kind is Fraction:
        if value.denominator == 1:  # type: ignore[union-attr]
            value = value.numerator  # type: ignore[union-attr]
            key = ("exact", value, 1)
        else:
            key = ("exact", value.numerator, value.denominator)  # type: ignore[union-attr]
    elif kind is float:
        if value != value:
            raise ValueError("NaN is no constant: every formula of it would be NaN")
        key = struct.pack("<d", value)
    elif kind is Pi:
        key = ("pi",)
    else:
        raise TypeError(
            f"no constant is made of {value!r} ({kind.__name__}); give int, Fraction, float"
        )
    interned = _interned(key)
    node = interned() if interned is not None else None
    if node is not None:
        return node
    return _intern("const", value, None, _constant_hash(value), key)


def _constant_hash(value: Value) -> int:
    """By type and value; π comes after every number, so that 2π is mul(2, π)."""
    if isinstance(value, Pi):
        return BITS
    if isinstance(value, float):
        return hash((_SALT["float"], int.from_bytes(struct.pack("<d", value), "little"))) & BITS
    # hash(-1) is hash(-2), so the sign stands apart
    return hash((_SALT["exact"], value < 0, abs(value.numerator), value.denominator)) & BITS


def _operand(x: object) -> Expr | None:
    kind = type(x)
    if kind is int or kind is float or kind is Fraction:
        return constant(x)  # type: ignore[arg-type]
    if kind is np.ndarray:
        return None
    value = exact_or_float(x)
    if value is not None:
        return constant(value)
    symbol_attribute = getattr(x, "symbol", None)
    return symbol_attribute if type(symbol_attribute) is Expr else None


def as_expr(x: Scalar) -> Expr:
    """The formula of a scalar: itself, the constant of a number, or what has a `symbol`: that."""
    if type(x) is Expr:
        return x
    node = _operand(x)
    if node is None and isinstance(x, np.ndarray) and x.ndim == 0:
        return as_expr(x.item())
    if node is None:
        raise TypeError(f"no formula is made of {x!r} ({type(x).__name__}); give a number or Expr")
    return node


def vanishes(x: Scalar) -> bool:
    """Zero whatever the symbols are: the exact number, or what floats alone came to."""
    return x.op == "const" and bool(x.a == 0) if type(x) is Expr else bool(x == 0)


# Building with rules ----------------------------------------------------------------------------

# RULES[op][kind of a][kind of b], RULES_ONE[op][kind of a], RULES_SAME[op]: filled by rules.py
RULES: dict[str, dict[str, dict[str, tuple[Rule2, ...]]]] = {}
RULES_ONE: dict[str, dict[str, tuple[Rule1, ...]]] = {}
RULES_SAME: dict[str, Rule1] = {}


def combine(op: str, a: Expr, b: Expr) -> Expr:
    """op(a, b) for a binary operation, after the local rules."""
    for rule in RULES[op][a.op][b.op]:
        simplified = rule(a, b)
        if simplified is not None:
            return simplified
    if a is b and op in RULES_SAME:
        simplified = RULES_SAME[op](a)
        if simplified is not None:
            return simplified
    if a.h > b.h and op in COMMUTATIVE:
        return make(op, b, a)
    return make(op, a, b)


def unary(op: str, a: Expr) -> Expr:
    """op(a) for a unary operation, after the local rules."""
    for rule in RULES_ONE[op][a.op]:
        simplified = rule(a)
        if simplified is not None:
            return simplified
    return make(op, a)


ZERO, ONE, TWO, HALF = constant(0), constant(1), constant(2), constant(Fraction(1, 2))
MINUS_ONE = constant(-1)
PI = constant(THE_PI)
"""π, exactly.

Example:
    >>> import liaison
    >>> liaison.sin(liaison.PI / 6)
    1/2
    >>> float(liaison.PI)
    3.141592653589793
"""


def known_nodes() -> int:
    """How many formulas are alive in this process."""
    return len(_NODES)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Building without the cyclic collector: nodes form no cycles, and it takes half the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
