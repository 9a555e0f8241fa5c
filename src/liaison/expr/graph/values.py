"""Values of each operation on floats and on NumPy arrays, by IEEE 754: no exception is raised.

Both branches of a choice are evaluated, so 1/0 is inf and sqrt(-1) is NaN, as in compiled code.

Public names: FLOAT_VALUES, ARRAY_VALUES.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np


def _safe(function: Callable[..., float]) -> Callable[..., float]:
    """Functions of `math` with NaN outside their domain and inf beyond the largest float."""

    def value(*x: float) -> float:
        try:
            return function(*x)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return value


def _divide(x: float, y: float) -> float:
    try:
        return x / y
    except ZeroDivisionError:
        if x == 0 or x != x:
            return math.nan
        return math.copysign(math.inf, x) * math.copysign(1.0, y)


def _log(x: float) -> float:
    return math.log(x) if x > 0 else (-math.inf if x == 0 else math.nan)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except ValueError:
        return math.inf if x == 0 else math.nan
    except OverflowError:
        return -math.inf if x < 0 and y % 2 == 1 else math.inf


def _sign(x: float) -> float:
    return float((x > 0) - (x < 0)) if x == x else x


FLOAT_VALUES: Mapping[str, Callable[..., float]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "div": _divide,
    "neg": operator.neg,
    "pow": _power,
    "sqrt": _safe(math.sqrt),
    "sin": _safe(math.sin),
    "cos": _safe(math.cos),
    "tan": _safe(math.tan),
    "asin": _safe(math.asin),
    "acos": _safe(math.acos),
    "atan": math.atan,
    "atan2": math.atan2,
    "exp": _safe(math.exp),
    "log": _log,
    "abs": abs,
    "sign": _sign,
    "min": lambda x, y: y if y < x or y != y else x,  # NaN goes through from either side
    "max": lambda x, y: y if y > x or y != y else x,
    "select": lambda c, x, y: x if c > 0 else y,
}

ARRAY_VALUES: Mapping[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.true_divide,
    "neg": np.negative,
    "pow": np.power,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "exp": np.exp,
    "log": np.log,
    "abs": np.abs,
    "sign": np.sign,
    "min": np.minimum,
    "max": np.maximum,
    "select": lambda c, x, y: np.where(c > 0, x, y),
}
