"""Numbers of a description once its parameters have values.

Public names: floats.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError
from liaison.expr import as_expr, evaluate, symbols_of


def floats(x: Any, parameters: Mapping[str, float]) -> NDArray[np.float64]:
    """A scalar, vector or matrix of numbers and formulas as an array of floats.

    Args:
        x: numbers and formulas, nested as they are shaped.
        parameters: a value for each parameter that occurs.

    Raises:
        NamingError: a parameter occurs that has no value.
    """
    entries = np.asarray(x, dtype=object)
    formulas = [as_expr(entry) for entry in entries.ravel()]
    symbols = symbols_of(formulas)
    for symbol in symbols:
        if symbol.name not in parameters:
            raise NamingError.unknown("parameter with a value", symbol.name, parameters)
    numbers = evaluate(formulas, {s: float(parameters[s.name]) for s in symbols})
    return np.array(numbers, dtype=float).reshape(entries.shape)
