"""Variations: how each value of a study varies, and the points that a design takes of them.

    "9 cm .. 11 cm"                       any value of an interval, all alike
    "normal(30 cm, 1 mm)"                 mean and standard deviation
    "truncated(30 cm, 1 mm, 29 cm, 31 cm)"
    "triangular(9 cm, 10 cm, 12 cm)"      least, most likely, largest
    "lognormal(2 kg, 10 %)"               median, and the standard deviation of ln x
    "30 cm ± 0.1 mm", "± 1 %"             a tolerance: normal, ± is 3σ, nothing beyond; without a
                                          number before it about the value of the mechanism
    ["9 cm", "10 cm", "11 cm"]            these values and no others

A design chooses points of the unit cube, u; the value of a name is the quantile Q(u) of its
variation. Correlated values follow by a Gaussian copula: z = Φ⁻¹(u), z ← L z with L Lᵀ the
correlations, u = Φ(z).

Public names: Variation, Interval, Normal, Triangular, Lognormal, Listed, variation_of, Points,
points_of, DESIGNS.

Source: MBC79 (Latin hypercubes), SOB67 (Sobol' points), NEL06 §2.3 (Gaussian copulas).
"""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, final

import numpy as np

from liaison.errors import ArgumentError, LiaisonError, NamingError
from liaison.numeric import Array
from liaison.units import si_value

MOST_POINTS = 10_000_000
"""Points of one study."""

BOUND = 3.0
"""Standard deviations of a normal value at the corners, and that a tolerance stands for."""


LEAST = 2.0**-54
"""The least coordinate of a point of the unit cube: a normal value has none at 0."""

FARTHEST = 30.0
"""Standard deviations between the mean and the nearer bound; Φ is 0 beyond 38."""


class Variation(ABC):
    """How a value varies."""

    @abstractmethod
    def quantile(self, u: Array) -> Array:
        """The value below which the part u of all values lies."""

    @abstractmethod
    def ends(self) -> tuple[float, float]:
        """The least and the largest value; of unbounded ones at 3 standard deviations."""

    def levels(self, count: int) -> Array:
        """Values of a grid: evenly from one end to the other."""
        return np.linspace(*self.ends(), count)

    @property
    def middle(self) -> float:
        """The median."""
        return float(self.quantile(np.array([0.5]))[0])


@final
@dataclass(frozen=True, slots=True)
class Interval(Variation):
    """Any value from `low` to `high`, all alike."""

    low: float
    high: float

    def __post_init__(self) -> None:
        _ordered("an interval", self.low, self.high)

    def quantile(self, u: Array) -> Array:  # noqa: D102
        return self.low + (self.high - self.low) * u

    def ends(self) -> tuple[float, float]:  # noqa: D102
        return self.low, self.high


@final
@dataclass(frozen=True, slots=True)
class Normal(Variation):
    """Normal with a mean and a standard deviation, nothing below `low` or above `high`."""

    mean: float
    deviation: float
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        _positive("the standard deviation", self.deviation)
        _ordered("the bounds of a normal value", self.low, self.high)
        if max(self.low - self.mean, self.mean - self.high) > FARTHEST * self.deviation:
            raise ArgumentError(
                f"a normal value of mean {self.mean:g} and standard deviation {self.deviation:g} "
                f"is never between {self.low:g} and {self.high:g}."
            )

    def quantile(self, u: Array) -> Array:  # noqa: D102
        from scipy.special import ndtr, ndtri

        # in the lower tail, where Φ has all its digits
        side = -1.0 if self.low > self.mean else 1.0
        bounds = (self.low - self.mean) / self.deviation, (self.high - self.mean) / self.deviation
        least, most = sorted(side * x for x in bounds)
        part = np.asarray(u if side > 0 else 1 - u)
        z = side * ndtri(ndtr(least) + (ndtr(most) - ndtr(least)) * part)
        return np.asarray(np.clip(self.mean + self.deviation * z, self.low, self.high))

    def ends(self) -> tuple[float, float]:  # noqa: D102
        reach = BOUND * self.deviation
        low, high = max(self.low, self.mean - reach), min(self.high, self.mean + reach)
        return (low, high) if low < high else (self.low, self.high)


@final
@dataclass(frozen=True, slots=True)
class Triangular(Variation):
    """From `low` to `high`, `mode` the most likely."""

    low: float
    mode: float
    high: float

    def __post_init__(self) -> None:
        _ordered("a triangular value", self.low, self.high)
        if not self.low <= self.mode <= self.high:
            raise ArgumentError(
                f"the most likely value {self.mode:g} is not between {self.low:g} and "
                f"{self.high:g}."
            )

    def quantile(self, u: Array) -> Array:  # noqa: D102
        width, left, right = self.high - self.low, self.mode - self.low, self.high - self.mode
        rising = self.low + np.sqrt(u * width * left)
        falling = self.high - np.sqrt((1 - u) * width * right)
        return np.where(u * width < left, rising, falling)

    def ends(self) -> tuple[float, float]:  # noqa: D102
        return self.low, self.high


@final
@dataclass(frozen=True, slots=True)
class Lognormal(Variation):
    """ln x is normal: its mean ln `median`, its standard deviation `deviation`."""

    median: float
    deviation: float

    def __post_init__(self) -> None:
        _positive("the median", self.median)
        _positive("the standard deviation", self.deviation)

    def quantile(self, u: Array) -> Array:  # noqa: D102
        from scipy.special import ndtri

        return np.asarray(self.median * np.exp(self.deviation * ndtri(u)))

    def ends(self) -> tuple[float, float]:  # noqa: D102
        reach = math.exp(BOUND * self.deviation)
        return self.median / reach, self.median * reach


@final
@dataclass(frozen=True, slots=True)
class Listed(Variation):
    """These values and no others, all alike."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ArgumentError("the list of values is empty.")

    def quantile(self, u: Array) -> Array:  # noqa: D102
        count = len(self.values)
        return np.array(self.values)[np.minimum((u * count).astype(np.intp), count - 1)]

    def ends(self) -> tuple[float, float]:  # noqa: D102
        return min(self.values), max(self.values)

    def levels(self, count: int) -> Array:  # noqa: D102
        return np.array(self.values)


def _ordered(what: str, low: float, high: float) -> None:
    if not low < high:
        raise ArgumentError(f"{what} goes from {low:g} to {high:g}; the first must be smaller.")


def _positive(what: str, x: float) -> None:
    if not 0 < x < math.inf:
        raise ArgumentError(f"{what} is {x:g}; it must be positive.")


FUNCTIONS: Mapping[str, tuple[int, Callable[..., Variation]]] = {
    "uniform": (2, Interval),
    "normal": (2, Normal),
    "truncated": (4, Normal),
    "triangular": (3, Triangular),
    "lognormal": (2, Lognormal),
}
"""Distributions by name: how many arguments, and what they make."""

_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*", re.S)
_TOLERANCE = re.compile(r"(.*?)(?:±|\+-|\+/-)(.*)", re.S)


def variation_of(value: Any, unit: str, nominal: float | None, what: str) -> Variation:
    """The variation that a value of `vary` means.

    Args:
        value: a variation, a text, a pair (low, high), or a list of values.
        unit: of the numbers, SI.
        nominal: the value of the mechanism, where it has one.
        what: for messages: "vary: 'a'".

    Raises:
        ArgumentError: a text that means no variation, or one that cannot be.
    """
    try:
        return _variation(value, unit, nominal, what)
    except ArgumentError as error:
        if error.message.startswith(what):
            raise
        raise ArgumentError(f"{what}: {error.message}", hint=error.hint) from None


def _variation(value: Any, unit: str, nominal: float | None, what: str) -> Variation:
    if isinstance(value, Variation):
        return value
    if isinstance(value, str):
        return _read(value, unit, nominal, what)
    if isinstance(value, tuple) and len(value) == 2:
        low, high = (_number(x, unit, what) for x in value)
        return Interval(low, high)
    if isinstance(value, list | tuple | np.ndarray):
        return Listed(tuple(_number(x, unit, what) for x in value))
    raise ArgumentError(
        f"{what} is {value!r}; it must be a text, a pair (low, high) or a list of values.",
        hint='For example "9 cm .. 11 cm", "normal(10 cm, 1 mm)" or "10 cm ± 0.1 mm".',
    )


def _read(text: str, unit: str, nominal: float | None, what: str) -> Variation:
    if ".." in text or "…" in text:
        low, _, high = text.replace("…", "..").partition("..")
        return Interval(_number(low, unit, what), _number(high, unit, what))
    if (split := _TOLERANCE.fullmatch(text)) is not None:
        return _tolerance(split[1], split[2], unit, nominal, what)
    call = _CALL.fullmatch(text)
    if call is None:
        raise ArgumentError(
            f"{what} is {text!r}, which is no variation.",
            hint='It is an interval "9 cm .. 11 cm", a tolerance "10 cm ± 0.1 mm", or one of '
            f"{', '.join(f'{x}(…)' for x in FUNCTIONS)}.",
        )
    name, parts = call[1], call[2].split(",")
    if name not in FUNCTIONS:
        error = NamingError.unknown("distribution", name, FUNCTIONS)
        raise ArgumentError(error.message, hint=error.hint)
    count, kind = FUNCTIONS[name]
    if len(parts) != count:
        raise ArgumentError(f"{name} takes {count} numbers, not {len(parts)}.")
    numbers = [_number(parts[0], unit, what)]
    of_mean = numbers[0] if kind is Normal else None
    own = "" if kind is Lognormal else unit
    numbers.append(_number(parts[1], own, what, of=of_mean))
    return kind(*numbers, *(_number(x, unit, what) for x in parts[2:]))


def _tolerance(before: str, after: str, unit: str, nominal: float | None, what: str) -> Variation:
    if before.strip():
        mean = _number(before, unit, what)
    elif nominal is None:
        raise ArgumentError("the mechanism has no value that a tolerance could be about.")
    else:
        mean = nominal
    reach = _number(after, unit, what, of=mean)
    return Normal(mean, reach / BOUND, mean - reach, mean + reach)


def _number(x: Any, unit: str, what: str, of: float | None = None) -> float:
    """A finite number in SI; of a text with % that part of something, where there is something."""
    if isinstance(x, str):
        text = x.strip()
        if text.endswith("%"):
            of = 1.0 if of is None and not unit else of
            if of is None:
                raise ArgumentError(
                    f"{text!r} is a part, and it is not clear of what; it must be in {unit}.",
                    hint='A tolerance may be a part of the value: "± 1 %", "10 cm ± 1 %".',
                )
            return 0.01 * abs(of) * _number(text[:-1].strip(), "", what)
        try:
            value = float(text) if not unit else si_value(text, unit, what)
        except ValueError:
            raise ArgumentError(f"{text!r} is no number.") from None
    else:
        value = x
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{value!r} is no number.") from None
    if not math.isfinite(number):
        raise ArgumentError(f"{number} is no finite number.")
    return number


# ---- designs


@final
@dataclass(frozen=True, slots=True)
class Points:
    """Points of a study: a row of values for each run.

    Attributes:
        names: of what varies, in order.
        values: shape (runs, names), in SI.
        design: how they were chosen.
        seed: of designs that draw.
    """

    names: tuple[str, ...]
    values: Array
    design: str
    seed: int = 0

    def __len__(self) -> int:
        return len(self.values)


def _grid(kinds: Sequence[Variation], count: int, levels: int, seed: int) -> Array:
    columns = [x.levels(levels) for x in kinds]
    _check_count(math.prod(map(len, columns)))
    return np.array(list(product(*columns)), dtype=float).reshape(-1, len(kinds))


def _one_at_a_time(kinds: Sequence[Variation], count: int, levels: int, seed: int) -> Array:
    middle = [x.middle for x in kinds]
    rows = [middle]
    for k, x in enumerate(kinds):
        rows += [[*middle[:k], level, *middle[k + 1 :]] for level in x.levels(levels).tolist()]
    return np.array(rows, dtype=float)


def _corners(kinds: Sequence[Variation], count: int, levels: int, seed: int) -> Array:
    _check_count(2 ** len(kinds))
    return np.array(list(product(*(x.ends() for x in kinds))), dtype=float)


def _latin(kinds: Sequence[Variation], count: int, levels: int, seed: int) -> Array:
    from scipy.stats.qmc import LatinHypercube

    return np.asarray(LatinHypercube(len(kinds), rng=seed).random(count))


def _sobol(kinds: Sequence[Variation], count: int, levels: int, seed: int) -> Array:
    from scipy.stats.qmc import Sobol

    whole = 1 << max(0, math.ceil(math.log2(count)))
    return np.asarray(np.maximum(Sobol(len(kinds), rng=seed).random(whole)[:count], LEAST))


def _monte_carlo(kinds: Sequence[Variation], count: int, levels: int, seed: int) -> Array:
    drawn = np.random.Generator(np.random.Philox(seed)).random((count, len(kinds)))
    return np.asarray(np.maximum(drawn, LEAST))


DESIGNS: Mapping[str, tuple[Callable[..., Array], bool]] = {
    "grid": (_grid, False),
    "one at a time": (_one_at_a_time, False),
    "corners": (_corners, False),
    "latin hypercube": (_latin, True),
    "sobol": (_sobol, True),
    "monte carlo": (_monte_carlo, True),
}
"""Designs by name: what makes them, and whether of points of the unit cube or of values."""


def points_of(
    kinds: Mapping[str, Variation],
    design: str | None = None,
    *,
    count: int | None = None,
    levels: int = 5,
    seed: int = 0,
    correlation: Mapping[str, float] | None = None,
) -> Points:
    """The points of a design.

    Args:
        kinds: how each name varies.
        design: a name of DESIGNS; "grid" where lists of values alone vary, else "sobol".
        count: of points, where the design does not say it itself; 1024.
        levels: of a grid or of one at a time, for what is no list.
        seed: of designs that draw.
        correlation: of pairs of names, "a b", −1 to 1; of designs that draw.

    Raises:
        ArgumentError: no names, or numbers that cannot be.
        NamingError: a design or a name that there is none of.
    """
    if not kinds:
        raise ArgumentError("nothing varies: vary is empty.", hint='vary={"a": "9 cm .. 11 cm"}')
    if design is None:
        design = "grid" if all(isinstance(x, Listed) for x in kinds.values()) else "sobol"
    if design not in DESIGNS:
        raise NamingError.unknown("design", design, DESIGNS)
    make, is_drawn = DESIGNS[design]
    if count is not None and not is_drawn:
        raise ArgumentError(
            f"design {design!r} has as many points as it has: count = {count} has no effect.",
            hint="Leave it out; `levels` is how many values of a name there are.",
        )
    count = 1024 if count is None else _whole("count", count, 1, MOST_POINTS)
    check_seed(seed)
    table = make(list(kinds.values()), count, _whole("levels", levels, 2, 100_000), seed)
    if is_drawn:
        table = _correlated(table, tuple(kinds), correlation or {})
        table = np.column_stack([x.quantile(u) for x, u in zip(kinds.values(), table.T)])
    elif correlation:
        raise ArgumentError(
            f"design {design!r} draws nothing: correlation has no effect.",
            hint='Use design="monte carlo".',
        )
    return Points(tuple(kinds), np.ascontiguousarray(table), design, seed)


def _whole(what: str, x: int, least: int, most: int) -> int:
    if not least <= x <= most:
        raise ArgumentError(f"{what} is {x}; it must be from {least} to {most}.")
    return x


def check_seed(seed: int) -> None:
    """Raises an error where a number is no seed."""
    _whole("seed", seed, 0, 2**63 - 1)


def _check_count(count: int) -> None:
    if count > MOST_POINTS:
        raise ArgumentError(
            f"the design has {count} points; a study takes {MOST_POINTS} at most.",
            hint='Use fewer levels, or design="sobol" with a count.',
        )


def _pair(text: str) -> tuple[str, str]:
    """Two names with a space between them."""
    names = text.split()
    if len(names) != 2:
        raise ArgumentError(
            f"correlation: {text!r} is no pair of names.", hint='It is written as {"a b": 0.5}.'
        )
    return names[0], names[1]


def _correlated(u: Array, names: tuple[str, ...], correlation: Mapping[str, float]) -> Array:
    """Points of the unit cube with the correlations of a Gaussian copula."""
    if not correlation:
        return u
    matrix, seen = np.eye(len(names)), set[frozenset[str]]()
    for pair, r in correlation.items():
        a, b = _pair(pair)
        for x in (a, b):
            if x not in names:
                raise NamingError.unknown("name that varies", x, names)
        if frozenset((a, b)) in seen:
            raise ArgumentError(f"the correlation of {a!r} and {b!r} is named twice.")
        seen.add(frozenset((a, b)))
        if a == b or not -1 < r < 1:
            raise ArgumentError(f"the correlation of {a!r} and {b!r} is {r}; it must be within ±1.")
        i, j = names.index(a), names.index(b)
        matrix[i, j] = matrix[j, i] = r
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        least = float(np.linalg.eigvalsh(matrix)[0])
        raise LiaisonError(
            "the correlations contradict each other: their matrix has the eigenvalue "
            f"{least:.3g}, and none may be negative.",
            hint="Three pairs of three names cannot all be chosen at will.",
        ) from None
    from scipy.special import ndtr, ndtri

    tiny = np.finfo(float).tiny
    return np.asarray(ndtr(ndtri(np.clip(u, tiny, 1 - 2**-53)) @ lower.T))
