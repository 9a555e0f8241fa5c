"""Numbers of a description once its parameters have values.

Public names: floats, heights, radii, curve_points.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError
from liaison.expr import as_expr, evaluate, symbol, symbols_of
from liaison.model.contacts.targets import CURVE, PROFILE, SURFACE


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
    for one in symbols:
        if one.name not in parameters:
            raise NamingError.unknown("parameter with a value", one.name, parameters)
    numbers = evaluate(formulas, {s: float(parameters[s.name]) for s in symbols})
    return np.array(numbers, dtype=float).reshape(entries.shape)


def heights(
    surface: Any, x: NDArray[np.float64], y: NDArray[np.float64], parameters: Mapping[str, float]
) -> NDArray[np.float64]:
    """z = h(x, y) of the surface of a contact, at many places [m].

    Args:
        surface: a formula of `SURFACE` and parameters.
        x: along the first axis [m].
        y: along the second, shaped alike [m].
        parameters: a value for each that occurs.
    """
    values: dict[Any, Any] = {symbol(name): float(value) for name, value in parameters.items()}
    values |= zip(SURFACE, (x, y), strict=True)
    (z,) = evaluate([as_expr(surface)], values)
    return np.array(np.broadcast_to(np.asarray(z, dtype=float), x.shape))


def curve_points(
    curve: tuple[Any, Any], s: NDArray[np.float64], parameters: Mapping[str, float]
) -> NDArray[np.float64]:
    """x(s) and y(s) of the curve of a contact [m], a row each parameter."""
    values: dict[Any, Any] = {symbol(name): float(value) for name, value in parameters.items()}
    coordinates = evaluate([as_expr(f) for f in curve], values | {CURVE: s})
    return np.stack(
        [np.broadcast_to(np.asarray(x, dtype=float), s.shape) for x in coordinates], axis=1
    )


def radii(
    profile: Any, angle: NDArray[np.float64], parameters: Mapping[str, float]
) -> NDArray[np.float64]:
    """ϱ(angle) of the profile of a contact, at many angles [rad]: distances from its axis [m]."""
    values: dict[Any, Any] = {symbol(name): float(value) for name, value in parameters.items()}
    (rho,) = evaluate([as_expr(profile)], values | {PROFILE: angle})
    return np.array(np.broadcast_to(np.asarray(rho, dtype=float), angle.shape))
