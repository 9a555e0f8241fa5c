"""Unbound functions: nodes without a value, with their partial derivatives as nodes.

    f = Function("f", 2)
    gradient(f(x, y) * x, [x])                       # f(x, y) + x f_1(x, y)
    bind([…], {f: lambda a, b: a * b})               # puts the formula in, derivatives included

Public names: Function; the row CALL. `bind` stands in bind.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn, final

from liaison.errors import DerivationError
from liaison.expr.graph.node import Expr, Scalar, as_expr, make_many
from liaison.expr.graph.row import Op


@final
@dataclass(frozen=True, slots=True)
class Function:
    """An unknown function of `arity` scalars; two of the same name and arity are the same.

    Example:
        >>> import liaison
        >>> f = liaison.Function("f")
        >>> print(liaison.to_text(f(liaison.symbol("x"))))
        f(x)
    """

    name: str
    arity: int = 1

    def __call__(self, *args: Scalar) -> Expr:
        """The function at these arguments."""
        if len(args) != self.arity:
            raise TypeError(f"{self.name} takes {self.arity} arguments, {len(args)} are given")
        return self.partial((0,) * self.arity, *args)

    def partial(self, orders: tuple[int, ...], *args: Scalar) -> Expr:
        """The derivative of these orders in its arguments, at these arguments."""
        return _call_node((self, orders), *map(as_expr, args))


Data = tuple[Function, tuple[int, ...]]


def _call_node(data: Data, *args: Expr) -> Expr:
    return make_many("call", data, args, _token(data))


def _token(data: Data) -> str:
    function, orders = data
    marks = "_" + ",".join(map(str, orders)) if any(orders) else ""
    return f"{function.name}{marks}#{(function.name, orders)!r}"


def _slope(data: Data, args: tuple[Expr, ...], index: int) -> Expr:
    function, orders = data
    raised = tuple(order + (i == index) for i, order in enumerate(orders))
    return _call_node((function, raised), *args)


def _no_value(data: Data, *args: Any) -> NoReturn:
    raise DerivationError(
        f"the function {data[0].name!r} is unknown, so it has no value",
        hint=f"Give it a formula first: bind(formulas, {{{data[0].name}: lambda …: …}}).",
    )


CALL = Op(
    -1,
    _no_value,
    _no_value,
    (_slope,),
    "",
    r"{data}\left({}\right)",
    "{data}({})",
    build=_call_node,
    token=_token,
)
