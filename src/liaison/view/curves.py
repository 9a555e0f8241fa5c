"""Curves over time as SVG elements, for pages that bring everything with them.

Axes and texts take the color of what is around them; names stand in a column beside the curves.

Public names: Line, curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from typing import final

import numpy as np

from .plot import COLORS, Array

WIDTH, HEIGHT = 760.0, 230.0
LEFT, TOP, BOTTOM = 74.0, 14.0, 40.0
LETTER = 7.4
"""Width of a letter at the size of the texts."""

MOST = 14
"""Curves of one plot."""

POINTS = 700
"""Of one curve; of longer ones the extremes of groups are drawn."""

DASHES = ("", "6 3", "2 3")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A curve: its name, instants and values; NaN where it breaks."""

    name: str
    t: Array
    values: Array


def curves(lines: Sequence[Line], title: str, unit: str, marks: Sequence[float] = ()) -> str:
    """A plot of one unit as an SVG element; nothing where no value is finite.

    Args:
        lines: curves, of which the first ones are drawn.
        title: of the quantity.
        unit: of its values.
        marks: instants with a dashed line [s].
    """
    shown = [x for x in lines if np.any(np.isfinite(x.values))][:MOST]
    if not shown:
        return ""
    low, high = _range(shown)
    begin, end = (f(float(f(x.t)) for x in shown) for f in (min, max))
    names = max(len(x.name) for x in shown)
    right = min(260.0, 34 + LETTER * names)
    tall = max(HEIGHT, TOP + BOTTOM + 17 * len(shown))
    frame = (LEFT, TOP, WIDTH - right, tall - BOTTOM)

    def place(t: Array, y: Array) -> Array:
        x = frame[0] + (t - begin) / ((end - begin) or 1.0) * (frame[2] - frame[0])
        return np.column_stack([x, frame[3] - (y - low) / (high - low) * (frame[3] - frame[1])])

    parts = [*_grid(frame, (begin, end), (low, high))]
    inside = [t for t in marks if begin <= t <= end][:40]
    for x in place(np.array(inside), np.full(len(inside), low))[:, 0]:
        parts.append(
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{frame[1]:.0f}" y2="{frame[3]:.0f}" '
            'stroke="currentColor" stroke-dasharray="4 3" opacity=".45"/>'
        )
    for k, line in enumerate(shown):
        parts.append(_curve(line, k, place))
        parts.append(_key(k, line.name, frame[2] + 12, frame[1] + 10 + 17 * k))
    middle = (frame[1] + frame[3]) / 2
    axis = f"{title} [{unit}]" if unit else title
    parts.append(
        f'<text transform="translate(13 {middle:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(axis)}</text>"
    )
    return (
        f'<svg class="plot" role="img" aria-label="{escape(axis)}" width="{WIDTH:.0f}" '
        f'viewBox="0 0 {WIDTH:.0f} {tall:.0f}" font-size="12" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


FLAT = 1e-6
"""Part of its size by which a curve changes that is drawn as a constant: labels have no more."""


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    """Least and greatest value with some space; a constant is in the middle."""
    low = min(float(np.nanmin(np.where(np.isfinite(x.values), x.values, np.nan))) for x in lines)
    high = max(float(np.nanmax(np.where(np.isfinite(x.values), x.values, np.nan))) for x in lines)
    size = max(abs(low), abs(high))
    if high - low <= FLAT * size or size == 0:
        half = 0.5 * size or 1.0
        return (low + high) / 2 - half, (low + high) / 2 + half
    return low - 0.05 * (high - low), high + 0.05 * (high - low)


def _ticks(low: float, high: float, count: int) -> list[float]:
    """Round numbers between two, about so many."""
    raw = (high - low) / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(k * power for k in (1, 2, 5, 10) if k * power >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, math.floor(high / step + 1e-9) + 1)]


def _grid(
    frame: tuple[float, float, float, float], time: tuple[float, float], y: tuple[float, float]
) -> list[str]:
    left, top, right, bottom = frame
    parts = []
    heights = _ticks(*y, 5)
    for value in heights:
        at = bottom - (value - y[0]) / (y[1] - y[0]) * (bottom - top)
        parts.append(
            f'<line x1="{left:.0f}" x2="{right:.0f}" y1="{at:.1f}" y2="{at:.1f}" '
            f'stroke="currentColor" opacity=".15"/><text x="{left - 6:.0f}" y="{at + 4:.1f}" '
            f'text-anchor="end">{_number(value, _digits(heights))}</text>'
        )
    for value in _ticks(*time, 8) if time[1] > time[0] else [time[0]]:
        at = left + (value - time[0]) / ((time[1] - time[0]) or 1.0) * (right - left)
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{bottom:.0f}" y2="{bottom + 4:.0f}" '
            f'stroke="currentColor"/><text x="{at:.1f}" y="{bottom + 17:.0f}" '
            f'text-anchor="middle">{_number(value)}</text>'
        )
    parts.append(
        f'<path d="M{left:.0f} {top:.0f}V{bottom:.0f}H{right:.0f}" fill="none" '
        f'stroke="currentColor"/><text x="{(left + right) / 2:.0f}" y="{bottom + 34:.0f}" '
        'text-anchor="middle">t [s]</text>'
    )
    return parts


def _digits(ticks: Sequence[float]) -> int:
    """Digits by which one label differs from the next."""
    largest = max(map(abs, ticks), default=0.0)
    step = min((b - a for a, b in pairwise(ticks)), default=0.0)
    if not largest or not step:
        return 6
    return max(6, 1 + math.floor(math.log10(largest)) - math.floor(math.log10(step) + 1e-9))


def _number(value: float, digits: int = 6) -> str:
    return f"{round(value, 12) + 0.0:.{digits}g}".replace("-", "−")


def _curve(line: Line, k: int, place: Callable[[Array, Array], Array]) -> str:
    """A path, broken where values are missing."""
    t, y = _thinned(line.t, line.values)
    spots = place(t, y)
    words: list[str] = []
    is_pen_up = True
    for (x, h), value in zip(spots.tolist(), y.tolist(), strict=True):
        if not math.isfinite(value):
            is_pen_up = True
            continue
        words.append(f"{'M' if is_pen_up else 'L'}{x:.1f} {h:.1f}")
        is_pen_up = False
    return f'<path d="{"".join(words)}" fill="none" {_pen(k)}/>'


def _pen(k: int) -> str:
    dash = DASHES[k // len(COLORS) % len(DASHES)]
    style = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{COLORS[k % len(COLORS)]}" stroke-width="1.6" stroke-linejoin="round"{style}'


def _thinned(t: Array, y: Array) -> tuple[Array, Array]:
    """Of many values the least and the greatest of every few, in their order."""
    if len(t) <= POINTS:
        return t, y
    chosen = {0, len(t) - 1}
    for part in np.array_split(np.arange(len(t)), POINTS // 2):
        values = y[part]
        if np.all(np.isfinite(values)):
            chosen |= {int(part[values.argmin()]), int(part[values.argmax()])}
        else:
            chosen |= {int(k) for k in part}
    order = np.array(sorted(chosen))
    return t[order], y[order]


def _key(k: int, name: str, x: float, y: float) -> str:
    return (
        f'<path d="M{x:.0f} {y - 4:.0f}h14" {_pen(k)}/>'
        f'<text x="{x + 19:.0f}" y="{y:.0f}">{escape(name)}</text>'
    )
