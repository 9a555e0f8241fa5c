"""Instants that formulas of time alone ask steps to see: where they jump, bend or vary.

A step of an adaptive method is as long as the motion is smooth, and what a formula of time does
between its stages is not seen. Three things are known in advance:

- *breaks*, where a switch passes zero or a table passes a point: a step ends there;
- *waypoints* tᵢ with a *reach* each: a step that begins at tᵢ or later ends at reachᵢ or before;
- the *longest step* over which a steady oscillation is still seen.

Waypoints follow from a bound of f″ by interval arithmetic, halved where that pays: on a piece of
length ℓ a formula leaves its chord by sup|f″| ℓ²/8, at most a quarter of what it varies there.

Public names: Timed, Instants, NOTHING, timed, knots, instants_between, jumps_between, joined.

Source: NEU90 §2 (ranges by subdivision).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.expr import (
    Expr,
    Table,
    evaluate,
    gradient,
    substitute,
    switches,
    symbols_of,
    topological,
)
from liaison.expr.graph.walk import depends_on

if TYPE_CHECKING:
    from liaison.exact.intervals import Interval

Floats = NDArray[np.float64]
Values = Mapping[Expr, float]

PLAIN = frozenset({"add", "sub", "mul", "neg", "abs", "sign", "min", "max", "select", "table"})
"""Operations that vary no faster than what they are made of, or only at breaks."""

PART = 0.25
"""Of what a formula varies on a piece: by so much at most it leaves its chord there."""

NEGLIGIBLE = 1e-7
"""Of the largest value of a formula: what is smaller needs not be seen."""

CUTS, ALIKE = 4, 2.5
"""A piece is cut into so many; it is left whole where they differ by less than this factor."""

NEAR = 1e-8
"""Of a run: how near to a break a formula is looked at on both sides; of its size: a jump."""

SAME = 1e-13
"""Of a run: breaks so near to its start are at its start."""

TINY = 1e-200
"""A formula that stays below this is none."""

FINEST, MOST, PATIENCE = 1e-11, 1_000_000, 4000
"""Shortest piece as a share of the run; most instants; most pieces looked at."""

LOOKS = 8
"""Looks between two waypoints for zeros of a switch."""


@final
@dataclass(frozen=True, slots=True)
class Timed:
    """Formulas of time alone, with constants of a run in them.

    Attributes:
        t: time.
        switching: formulas whose change of sign marks a kink or a jump.
        tables: tables with the formulas they are asked at.
        varying: formulas that vary by themselves, as sines and powers do.
    """

    t: Expr
    switching: tuple[Expr, ...]
    tables: tuple[tuple[Table, Expr], ...]
    varying: tuple[Expr, ...]

    @property
    def constants(self) -> tuple[Expr, ...]:
        """Symbols besides time."""
        asked = [*self.switching, *(x for _, x in self.tables), *self.varying]
        return tuple(x for x in symbols_of(asked) if x is not self.t)


@final
@dataclass(frozen=True, slots=True)
class Instants:
    """What steps of a run respect.

    Attributes:
        breaks: instants at which a step ends.
        waypoints: instants from which on `reach` holds, up to the next.
        reach: instants up to which a step may go.
        longest: longest step [s].
        unbounded: how many formulas are not bounded everywhere; they are sampled.
        corners: breaks at which rates of closures jump, with the row of each.
    """

    breaks: Floats
    waypoints: Floats
    reach: Floats
    longest: float = math.inf
    unbounded: int = 0
    corners: tuple[tuple[float, int], ...] = ()


NONE: Floats = np.empty(0)
NOTHING = Instants(NONE, NONE, NONE)
"""Of a program that does not depend on time."""


def timed(t: Expr, formulas: Sequence[Expr], constants: Iterable[Expr]) -> Timed | None:
    """What of these formulas depends on time alone; None if nothing does.

    Args:
        t: time.
        formulas: of equations, events, constraints, inputs.
        constants: symbols that keep their values during a run.
    """
    order = topological(formulas)
    if not any(x is t for x in order):
        return None
    kept = {t, *constants}
    moving = {x for x in order if x.op == "symbol" and x not in kept}
    alone = depends_on(order, [t]) - depends_on(order, moving)
    cut = switches(formulas)
    inside = topological(cut)
    alone_cut = depends_on(inside, [t]) - depends_on(inside, moving)
    switching = tuple(f for f in cut if f in alone_cut)
    tables = tuple((table, x) for table, x in _tables(formulas) if x in alone)
    varying = tuple(x for x in order if x in alone and x.op not in PLAIN and x is not t)
    return Timed(t, switching, tables, varying)


def knots(formulas: Sequence[Expr], constants: Iterable[Expr]) -> tuple[tuple[Expr, Floats], ...]:
    """Formulas of the state, and the levels at which others jump, bend or pass a point of a table.

    Args:
        formulas: of forces and accelerations of closures.
        constants: symbols that the state does not change.
    """
    cut = [(f, np.zeros(1)) for f in switches(formulas)]
    cut += [(x, table.breaks) for table, x in _tables(formulas)]
    order = topological([f for f, _ in cut])
    kept = set(constants)
    depends = depends_on(order, {x for x in order if x.op == "symbol" and x not in kept})
    levels_of: dict[Expr, Floats] = {}
    for f, levels in cut:
        if f in depends:
            levels_of[f] = _distinct(np.concatenate([levels_of.get(f, NONE), levels]))
    return tuple(levels_of.items())


def _tables(formulas: Sequence[Expr]) -> list[tuple[Table, Expr]]:
    """Tables with the formulas they are asked at, each once."""
    nodes = [node for node in topological(formulas) if node.op == "table"]
    return list(dict.fromkeys((node.data[0], node.args[0]) for node in nodes))


def instants_between(one: Timed | None, start: float, end: float, values: Values) -> Instants:
    """Instants of a run from `start` to `end` [s], with the values of its constants."""
    if one is None or not end > start:
        return NOTHING
    fast = _Fast(one.t, start, end, values)
    breaks = [_zeros(fast, f, [0.0]) for f in one.switching]
    breaks += [_zeros(fast, x, table.breaks) for table, x in one.tables]
    times = np.concatenate(breaks) if breaks else NONE
    times = _distinct(np.where(np.abs(times - start) <= SAME * (end - start), start, times))
    edges = times[(times > start) & (times < end)]
    for f in one.varying:
        fast.look_at(f, edges)
    return Instants(times, *fast.together(), fast.longest, fast.unbounded)


def jumps_between(
    t: Expr, f: Expr, constants: Iterable[Expr], span: tuple[float, float], values: Values
) -> list[tuple[float, float]]:
    """Instants at which time alone makes a formula jump, and by how much.

    Args:
        t: time.
        f: the formula; what of it depends on time alone is looked at.
        constants: symbols that keep their values.
        span: from when to when [s].
        values: of the constants.
    """
    order = topological([f])
    if not any(x is t for x in order):
        return []
    moving = {x for x in order if x.op == "symbol" and x is not t} - set(constants)
    alone = depends_on(order, [t]) - depends_on(order, moving)
    inner = {x for node in order if node in alone for x in node.args}
    instants: list[tuple[float, float]] = []
    for part in (x for x in order if x in alone and (x is f or x not in inner)):
        one = timed(t, [part], constants)
        breaks = NONE if one is None else instants_between(one, *span, values).breaks
        times = breaks[(breaks >= span[0]) & (breaks < span[1])]
        instants += _jumps(_Fast(t, *span, values), part, times)
    return instants


def _jumps(fast: _Fast, f: Expr, times: Floats) -> list[tuple[float, float]]:
    """Those of the instants at which f jumps: by as much however near one looks.

    At the start it is compared with its value there, which the start has met.
    """
    if not len(times):
        return []
    beside = NEAR * (fast.end - fast.start)
    wide, close = (
        np.abs(fast.sampled(f, times + x) - fast.sampled(f, np.maximum(times - x, fast.start)))
        for x in (beside, beside / 8)
    )
    size = np.max(np.abs(fast.sampled(f, np.linspace(fast.start, fast.end, 65))), initial=0.0)
    is_jump = (close > 0.5 * wide) & (close > NEAR * max(size, np.max(wide)))
    return [(float(x), float(y)) for x, y in zip(times[is_jump], close[is_jump], strict=True)]


def joined(several: Sequence[Instants]) -> Instants:
    """Instants that suit several runs at once."""
    if len(several) == 1:
        return several[0]
    breaks = _distinct(np.concatenate([x.breaks for x in several]))
    waypoints = _distinct(np.concatenate([x.waypoints for x in several]))
    reach = np.full(len(waypoints), math.inf)
    for one in several:
        if len(one.waypoints):
            place = np.searchsorted(one.waypoints, waypoints, side="right") - 1
            reach = np.minimum(reach, np.where(place < 0, math.inf, one.reach[place]))
    longest = min((x.longest for x in several), default=math.inf)
    corners = tuple(sorted({x for one in several for x in one.corners}))
    unbounded = max(x.unbounded for x in several)
    return Instants(breaks, waypoints, reach, longest, unbounded, corners)


def _distinct(times: Floats) -> Floats:
    """In order, each once."""
    ordered = np.sort(times)
    return ordered[np.append(True, np.diff(ordered) > 0)] if len(ordered) else ordered


# Zeros ------------------------------------------------------------------------------------------


def _zeros(fast: _Fast, f: Expr, levels: Sequence[float] | Floats) -> Floats:
    """Instants at which a formula of time passes one of the levels, which increase."""
    wanted = np.asarray(levels, dtype=float)
    (slope,) = gradient(f, [fast.t])
    if fast.t not in topological([slope]):
        value, rate = (float(x) for x in evaluate([f, slope], {**fast.values, fast.t: 0.0}))
        zeros = (wanted - value) / rate if rate else NONE
        return np.asarray(zeros[np.isfinite(zeros)])
    grid = _with_turns(fast, slope, fast.grid(f))
    y = fast.sampled(f, grid)
    index = np.searchsorted(wanted, y, side="left")
    rows = np.flatnonzero(np.diff(index) != 0)
    if not len(rows):
        return NONE
    low, high = np.minimum(index[rows], index[rows + 1]), np.maximum(index[rows], index[rows + 1])
    counts = high - low
    left, right = np.repeat(grid[rows], counts), np.repeat(grid[rows + 1], counts)
    offsets = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    level = wanted[np.repeat(low, counts) + offsets]
    return _bisected(fast, f, left, right, level)


def _with_turns(fast: _Fast, slope: Expr, grid: Floats) -> Floats:
    """Instants of a grid, and those between them at which a formula turns back."""
    y = fast.sampled(slope, grid)
    rows = np.flatnonzero(y[:-1] * y[1:] < 0)
    if not len(rows):
        return grid
    turns = _bisected(fast, slope, grid[rows], grid[rows + 1], np.zeros(len(rows)))
    return _distinct(np.concatenate([grid, turns]))


def _bisected(fast: _Fast, f: Expr, left: Floats, right: Floats, level: Floats) -> Floats:
    """The instants between `left` and `right` at which f passes its level."""
    is_below = fast.sampled(f, left) <= level
    for _ in range(60):
        middle = 0.5 * (left + right)
        same = (fast.sampled(f, middle) <= level) == is_below
        left, right = np.where(same, middle, left), np.where(same, right, middle)
    return right


# Variation --------------------------------------------------------------------------------------


@final
class _Fast:
    """How fast formulas of time vary over a run: waypoints of each, and the longest step of all."""

    def __init__(self, t: Expr, start: float, end: float, values: Values) -> None:
        self.t, self.start, self.end, self.values = t, start, end, dict(values)
        self.longest, self.unbounded = math.inf, 0
        self._points: list[Floats] = []

    def sampled(self, f: Expr, times: Floats) -> Floats:
        """Values at these instants."""
        samples = evaluate([f], {**self.values, self.t: times})[0]
        return np.broadcast_to(np.asarray(samples, dtype=float), times.shape)

    def grid(self, f: Expr) -> Floats:
        """Instants between which a formula passes zero once at most, as far as its bounds show."""
        alone = _Fast(self.t, self.start, self.end, self.values)
        inside = topological([f])
        depends = depends_on(inside, [self.t])
        for x in inside:
            if x in depends and x.op not in PLAIN and x is not self.t:
                alone.look_at(x, NONE)
        points = [np.array([self.start, self.end]), *alone._points]
        count = (self.end - self.start) / min(alone.longest, self.end - self.start)
        points.append(np.linspace(self.start, self.end, int(min(4 * count + 2, MOST / LOOKS))))
        coarse = _distinct(np.concatenate(points))
        parts = np.arange(LOOKS) / LOOKS
        fine = coarse[:-1, None] + np.diff(coarse)[:, None] * parts
        return np.append(fine.ravel(), self.end)

    def together(self) -> tuple[Floats, Floats]:
        """Waypoints of all formulas, and how far a step from each may reach."""
        if not self._points:
            return NONE, NONE
        times = _distinct(np.concatenate([[self.start], *self._points]))
        reach = np.full(len(times), math.inf)
        for points in self._points:
            second = np.searchsorted(points, times, side="right") + 1
            known = second < len(points)
            reach[known] = np.minimum(reach[known], points[second[known]])
        return times, reach

    def look_at(self, f: Expr, edges: Floats) -> None:
        """Takes a formula in; `edges` are instants between which it is smooth."""
        steady = self._steady(f)
        if steady:
            self.longest = min(self.longest, steady)
            return
        (slope,) = gradient(f, [self.t])
        (second,) = gradient(slope, [self.t])
        if second.op == "const" and second.a == 0:
            return
        points, is_bounded = _Pieces(self, f, second).between(edges)
        self.unbounded += not is_bounded
        if len(points) > 2:
            self._points.append(points)

    def _steady(self, f: Expr) -> float:
        """The longest step of a sine or cosine of an affine formula; 0 of another formula."""
        if f.op not in ("sin", "cos"):
            return 0.0
        (slope,) = gradient(f.args[0], [self.t])
        if self.t in topological([slope]):
            return 0.0
        rate = abs(float(evaluate([slope], self.values)[0]))
        return 2 * math.sqrt(8 * PART * 2) / rate if rate else math.inf


@final
class _Pieces:
    """Pieces of a run on which a formula of time is near its chord."""

    def __init__(self, fast: _Fast, f: Expr, second: Expr) -> None:
        self._fast, self._t = fast, fast.t
        self._f, self._second = substitute([f, second], fast.values)
        from liaison.exact.intervals import Interval

        whole = Interval.of((fast.start, fast.end))
        size = _magnitude(self._range(self._f, whole))
        if not math.isfinite(size):
            grid = np.linspace(fast.start, fast.end, 1 + 64)
            y = fast.sampled(f, grid)
            size = float(np.max(np.abs(y[np.isfinite(y)]), initial=0.0))
        self._least = max(NEGLIGIBLE * size, TINY)
        self._looks = 0

    def between(self, edges: Floats) -> tuple[Floats, bool]:
        """Ends of the pieces, the start first; whether all of them are bounded."""
        fast = self._fast
        marks = [fast.start, *edges.tolist(), fast.end]
        is_bounded, points = True, [np.array([fast.start])]
        for a, b in pairwise(marks):
            for left, right, count in self._divided(a, b):
                is_bounded = is_bounded and math.isfinite(count)
                if left == fast.start and right == fast.end and 1 < count < math.inf:
                    fast.longest = min(fast.longest, 2 * (right - left) / count)
                    return NONE, True
                is_short = right - left <= 2 * FINEST * (fast.end - fast.start)
                whole = math.ceil(count) if math.isfinite(count) and not is_short else 1
                parts = min(max(whole, 1), MOST)
                points.append(left + (right - left) * np.arange(1, parts + 1) / parts)
        return np.concatenate(points), is_bounded

    def _divided(self, a: float, b: float) -> Iterator[tuple[float, float, float]]:
        """Pieces from a to b in order, each with how many equal parts it needs."""
        stack = [(a, b, self._needed(a, b))]
        shortest = FINEST * (self._fast.end - self._fast.start)
        while stack:
            left, right, count = stack.pop()
            if count <= 1 or right - left <= shortest or self._looks > PATIENCE:
                yield left, right, count
                continue
            marks = np.linspace(left, right, CUTS + 1).tolist()
            pieces = [(x, y, self._needed(x, y)) for x, y in pairwise(marks)]
            each = [count for *_, count in pieces]
            if max(each) < math.inf and max(each) <= ALIKE * min(each):
                yield left, right, count
            else:
                stack += reversed(pieces)

    def _needed(self, a: float, b: float) -> float:
        """How many equal parts a piece needs; infinite where there is no bound."""
        from liaison.exact.intervals import Interval

        self._looks += 1
        width = b - a
        margin = 1e-9 * width
        bound = _magnitude(self._range(self._second, Interval.of((a + margin, b - margin))))
        y = self._fast.sampled(self._f, np.linspace(a + margin, b - margin, 9))
        varies = float(np.max(y) - np.min(y))
        allowed = 8 * PART * max(varies, self._least)
        return width * math.sqrt(bound / allowed) if bound == bound else math.inf

    def _range(self, f: Expr, times: Interval) -> Interval:
        from liaison.exact.intervals import INTERVAL, Interval

        bounds: Any = evaluate([f], {self._t: times}, INTERVAL)[0]
        return bounds if isinstance(bounds, Interval) else Interval.of(bounds)


def _magnitude(x: Interval) -> float:
    """The largest absolute value; infinite where there is none."""
    return math.inf if x.is_empty else max(abs(x.low), abs(x.high))
