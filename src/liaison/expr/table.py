"""Functions by data (tables): cubics or lines between their knots, the `breaks`.

The cubic that keeps the shape of the data ("monotone", the default) rises where they rise, and has
its extrema at theirs: it never overshoots. It is once continuously differentiable. A natural spline
("cubic") is so twice, and overshoots where the points are uneven.

Outside the data a table goes on as the straight line of its end slope, or holds its end value
(`outside="hold"`). A table is immutable and equal to another of the same content and name.

Public names: Table, KINDS; the row TABLE.

Source: FritschButland1984, eq. 5; slopes at the ends as in Moler2004, §3.4.
"""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import Any, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.expr.graph.node import ZERO, Expr, Scalar, as_expr, constant, make_many
from liaison.expr.graph.row import Op

from .functions import plain, select

Floats = NDArray[np.float64]


@final
class Table:
    """y(x) through the points (x_i, y_i), x increasing.

    Attributes:
        x, y: the data, read-only.
        kind: "monotone" (keeps the shape of the data), "cubic" (natural spline) or "linear".
        outside: "line" or "hold".
        breaks: where the polynomial changes, shape (n,).
        origins: from where each polynomial counts, shape (n + 1,).
        coefficients: of each polynomial, lowest power first, shape (n + 1, 4 or 2); row i holds
            between breaks[i - 1] (excluded) and breaks[i] (included).

    Example:
        >>> import liaison
        >>> torque = liaison.Table([0, 10, 20], [1.0, 1.5, 0.5], name="torque")
        >>> print(liaison.to_text(torque(liaison.symbol("w"))))
        torque(w)
    """

    __slots__ = ("breaks", "coefficients", "digest", "kind", "name", "origins", "outside", "x", "y")

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        kind: str = "monotone",
        outside: str = "line",
        name: str = "",
    ) -> None:
        if kind not in KINDS or outside not in ("line", "hold"):
            raise ValueError(
                f"kind is {', '.join(map(repr, KINDS))}, outside 'line' or 'hold'; not {kind!r}, "
                f"{outside!r}"
            )
        self.x, self.y = _checked(x, y)
        self.kind, self.outside, self.name = kind, outside, name
        inside = KINDS[kind](self.x, self.y)
        self.coefficients = _with_ends(self.x, inside, outside)
        self.breaks = self.x
        self.origins = np.concatenate((self.x[:1], self.x))
        content = repr((name, kind, outside, self.x.tolist(), self.y.tolist()))
        self.digest = blake2b(content.encode(), digest_size=16).hexdigest()
        for array in (self.coefficients, self.origins):
            array.setflags(write=False)

    def __call__(self, x: Scalar) -> Any:
        """The value at x; a formula of a formula."""
        if isinstance(x, float):
            return self.value(x)
        node = _table_node((self, 0), as_expr(x))
        return node if type(x) is Expr else plain(node)

    def value(self, x: Any, order: int = 0) -> Any:
        """The derivative of this order at x, floats or arrays."""
        x = np.asarray(x, dtype=float)
        rows = np.searchsorted(self.breaks, x, side="left")
        coefficients = self.derivative_coefficients(order)[rows]
        t = x - self.origins[rows]
        total = coefficients[..., -1]
        for power in range(coefficients.shape[-1] - 2, -1, -1):
            total = total * t + coefficients[..., power]
        return float(total) if total.ndim == 0 else total

    def derivative_coefficients(self, order: int) -> Floats:
        """Coefficients of the derivative of this order, lowest power first, shape (n + 1, ·)."""
        coefficients = self.coefficients
        for _ in range(order):
            coefficients = coefficients[:, 1:] * np.arange(1, coefficients.shape[1])
        return coefficients if coefficients.shape[1] else np.zeros((len(coefficients), 1))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and self.digest == other.digest

    def __hash__(self) -> int:
        return int(self.digest[:15], 16)

    def __reduce__(self) -> tuple[Any, ...]:
        return Table, (self.x, self.y, self.kind, self.outside, self.name)

    def __repr__(self) -> str:
        title = f"{self.name!r}, " if self.name else ""
        return f"Table({title}{self.kind}, {len(self.x)} points on [{self.x[0]:g}, {self.x[-1]:g}])"


def _checked(x: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    xs, ys = np.array(x, dtype=float), np.array(y, dtype=float)
    if xs.ndim != 1 or xs.shape != ys.shape or len(xs) < 2:
        raise ValueError(
            f"a table needs two lists of one length, 2 or more; not {xs.shape} and {ys.shape}"
        )
    if not (np.isfinite(xs).all() and np.isfinite(ys).all()):
        raise ValueError("a table holds finite numbers only")
    if (np.diff(xs) <= 0).any():
        i = int(np.argmax(np.diff(xs) <= 0))
        raise ValueError(f"the x of a table increase; here {xs[i]:g} is followed by {xs[i + 1]:g}")
    xs.setflags(write=False)
    ys.setflags(write=False)
    return xs, ys


def _lines(x: Floats, y: Floats) -> Floats:
    return np.column_stack((y[:-1], np.diff(y) / np.diff(x)))


def _spline(x: Floats, y: Floats) -> Floats:
    """Natural cubic spline: polynomials between the points, from the curvatures at them."""
    h, slope = np.diff(x), np.diff(y) / np.diff(x)
    curvature = _curvatures(h, slope)
    c = curvature[:-1] / 2
    d = np.diff(curvature) / (6 * h)
    b = slope - h * (2 * curvature[:-1] + curvature[1:]) / 6
    return np.column_stack((y[:-1], b, c, d))


def _curvatures(h: Floats, slope: Floats) -> Floats:
    """Second derivatives at the points, zero at both ends: a tridiagonal system."""
    n = len(h) + 1
    curvature = np.zeros(n)
    if n == 2:
        return curvature
    diagonal, right = 2 * (h[:-1] + h[1:]), 6 * np.diff(slope)
    for i in range(1, n - 2):
        factor = h[i] / diagonal[i - 1]
        diagonal[i] -= factor * h[i]
        right[i] -= factor * right[i - 1]
    for i in range(n - 3, -1, -1):
        curvature[i + 1] = (right[i] - h[i + 1] * curvature[i + 2]) / diagonal[i]
    return curvature


def _monotone(x: Floats, y: Floats) -> Floats:
    """Hermite cubics whose slopes at the points keep the shape of the data."""
    h, secant = np.diff(x), np.diff(y) / np.diff(x)
    slope = _slopes(h, secant)
    a, b = slope[:-1], slope[1:]
    return np.column_stack((y[:-1], a, (3 * secant - 2 * a - b) / h, (a + b - 2 * secant) / h**2))


def _slopes(h: Floats, secant: Floats) -> Floats:
    """Weighted harmonic means of the secants on both sides; 0 where they have not one sign."""
    if len(h) == 1:
        return np.repeat(secant, 2)
    slope = np.zeros(len(h) + 1)
    rising = np.sign(secant[:-1]) * np.sign(secant[1:]) > 0
    first, second = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    left, right = secant[:-1][rising], secant[1:][rising]
    weights = first[rising], second[rising]
    slope[1:-1][rising] = sum(weights) / (weights[0] / left + weights[1] / right)
    slope[0] = _end_slope(h[0], h[1], secant[0], secant[1])
    slope[-1] = _end_slope(h[-1], h[-2], secant[-1], secant[-2])
    return slope


def _end_slope(h: float, beyond: float, secant: float, other: float) -> float:
    """Of the parabola through three points, as far as it keeps their shape."""
    slope = ((2 * h + beyond) * secant - h * other) / (h + beyond)
    if np.sign(slope) != np.sign(secant):
        return 0.0
    if np.sign(secant) != np.sign(other) and abs(slope) > 3 * abs(secant):
        return float(3 * secant)
    return float(slope)


KINDS = {"monotone": _monotone, "cubic": _spline, "linear": _lines}
"""How the points are joined -> coefficients between them, shape (n − 1, 4 or 2)."""


def _with_ends(x: Floats, inside: Floats, outside: str) -> Floats:
    powers = np.arange(inside.shape[1])
    t = x[-1] - x[-2]
    last_value = inside[-1] @ t**powers
    last_slope = inside[-1, 1:] @ (powers[1:] * t ** powers[:-1])
    ends = np.zeros((2, inside.shape[1]))
    ends[:, 0] = inside[0, 0], last_value
    if outside == "line":
        ends[:, 1] = inside[0, 1], last_slope
    return np.vstack((ends[:1], inside, ends[1:]))


# The row ----------------------------------------------------------------------------------------

Data = tuple[Table, int]


def _table_node(data: Data, x: Expr) -> Expr:
    table, order = data
    if order >= table.coefficients.shape[1]:
        return ZERO
    if x.op == "const" and type(x.a) is float and math.isfinite(x.a):
        return constant(table.value(x.a, order))
    return make_many("table", data, (x,), _token(data))


def _token(data: Data) -> str:
    table, order = data
    name = table.name or f"table {table.digest[:8]}"
    return name + "'" * order + f"#{order} {table.digest}"


def _expanded(data: Data, x: Expr) -> Expr:
    """Coefficients chosen by bisection, then one polynomial: about 4 n choices for n points."""
    table, order = data
    columns = table.derivative_coefficients(order).T
    t = x - _chosen(table.breaks, table.origins, x)
    total = _chosen(table.breaks, columns[-1], x)
    for column in columns[-2::-1]:
        total = total * t + _chosen(table.breaks, column, x)
    return total


def _chosen(breaks: Floats, values: Floats, x: Expr) -> Expr:
    """values[i] for x in the i-th interval between breaks, halving the intervals level by level."""
    level = [(constant(float(value)), i) for i, value in enumerate(values)]
    while len(level) > 1:
        paired = []
        for (low, first), (high, second) in zip(level[::2], level[1::2]):
            paired.append(
                (as_expr(select(x - constant(float(breaks[second - 1])), high, low)), first)
            )
        level = paired + (level[-1:] if len(level) % 2 else [])
    return level[0][0]


TABLE = Op(
    1,
    lambda data, x: data[0].value(x, data[1]),
    lambda data, x: data[0].value(x, data[1]),
    (lambda data, x: _table_node((data[0], data[1] + 1), x),),
    "",
    r"\operatorname{{{data}}}\left({}\right)",
    "{data}({})",
    build=_table_node,
    expand=_expanded,
    token=_token,
)
