"""Arguments of worlds, checked: values by name, inputs, masks, how far random starts lie apart.

Public names: columns, numbers, Inputs, inputs_of, check_array, check_kind,
check_held, mask_of, world_number, spread_of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError, SimulationError
from liaison.numeric import Array
from liaison.simulation.plan.plan import Plan
from liaison.units import Label, si_value


def columns(
    shared: Array, labels: Sequence[Label], values: Mapping[str, Any], kind: str, count: int
) -> Array:
    """A table of values by name: one column for all worlds, or one for each where a list is given.

    Args:
        shared: the table at hand; what is not named is as it was.
        labels: name and unit of each row.
        values: name -> number, text with a unit, or a number for each world.
        kind: what they are, for messages.
        count: of worlds.
    """
    table = np.array(shared, dtype=float)
    if any(np.ndim(x) for x in values.values()) and table.ndim == 1:
        table = np.repeat(table[:, None], count, axis=1)
    names = [x.name for x in labels]
    for name, value in values.items():
        if name not in names:
            raise NamingError.unknown(kind, name, names)
        k, what = names.index(name), f"{kind} {name!r}"
        number = si_value(value, labels[k].unit, what) if np.ndim(value) == 0 else value
        row = numbers(number, what)
        if row.ndim and row.shape != (count,):
            raise SimulationError(
                f"{what} has shape {row.shape}; it is a number, or one for each of {count} worlds."
            )
        if not np.all(np.isfinite(row)):
            raise SimulationError(f"{what} is not finite in some world.")
        table[k] = row
    return table


def numbers(values: Any, what: str) -> Array:
    """An array of real numbers; anything else is an error."""
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as cause:
        raise SimulationError(
            f"{what} in a step is {values!r:.80}; it is a number, or one for each world.",
            hint="Formulas, tables and functions of time go to worlds(inputs=…).",
        ) from cause


@final
@dataclass(frozen=True, slots=True)
class Inputs:
    """Inputs of worlds as kernels take them.

    Attributes:
        values: an array where kernels run.
        rows: of a table in time; 0 of inputs that hold.
        is_wide: every world has its own; else all share them.
    """

    values: Any
    rows: int
    is_wide: bool

    @property
    def numbers(self) -> dict[str, int]:
        """Arguments of kernels."""
        return {"rows": max(1, self.rows), "u_one": int(self.is_wide)}


def inputs_of(values: Any, nu: int, count: int, real: Any) -> Inputs:
    """What the axes of an array of inputs are, by its shape.

    (nu,) and (rows, nu) are for all worlds, (nu, worlds) and (rows, nu, worlds) for each. A shape
    that is both (nu, worlds) and (rows, nu) is (nu, worlds).

    Args:
        values: an array.
        nu: inputs of a world.
        count: of worlds.
        real: what numbers are on the device; None where worlds are on this processor.

    Raises:
        SimulationError: another shape, or another kind of numbers than kernels take.
    """
    shape = tuple(values.shape)
    if shape == (count, nu) and count not in (1, nu):
        raise SimulationError(
            f"inputs have shape {shape}: a row for each world; rows are inputs, ({nu}, {count}).",
            hint="Transpose them; a table in time for all worlds is (rows, inputs, worlds).",
        )
    is_held = shape in ((nu,), (nu, count))
    rows = shape[0] if shape and not is_held else 0
    if not is_held and (not rows or shape not in ((rows, nu), (rows, nu, count))):
        raise SimulationError(
            f"inputs have shape {shape}; it is ({nu},), ({nu}, {count}), (rows, {nu}) or "
            f"(rows, {nu}, {count})."
        )
    if np.prod(shape, dtype=float) >= 2**31:
        raise SimulationError(
            f"inputs of shape {shape} are more numbers than a launch takes, 2³¹.",
            hint="Give fewer rows at a time.",
        )
    if real is not None or hasattr(values, "__cuda_array_interface__"):
        check_kind(values, "inputs", real)
    return Inputs(values, rows, len(shape) == (3 if rows else 2))


def check_kind(values: Any, what: str, real: Any) -> None:
    """Raises an error for an array that kernels on a device, or on this processor, do not take."""
    interface = getattr(values, "__cuda_array_interface__", None)
    if interface is None:
        raise SimulationError(f"{what} lie on this computer, and worlds on a GPU.")
    if real is None:
        raise SimulationError(f"{what} lie on a GPU, and worlds on this processor.")
    if np.dtype(interface["typestr"]) != real or interface.get("strides") is not None:
        raise SimulationError(
            f"{what} are of {np.dtype(interface['typestr'])}; on the device they are contiguous "
            f"and of {np.dtype(real)}."
        )


def check_array(
    values: Any, name: str, shapes: Sequence[tuple[int, ...]], real: Any, *, is_gpu: bool
) -> None:
    """Raises an error for an array in the place of one of worlds that kernels would misread.

    Args:
        values: the array.
        name: of the attribute it is in.
        shapes: that it may have.
        real: what its numbers are.
        is_gpu: where worlds are.
    """
    if not hasattr(values, "shape") or tuple(values.shape) not in shapes:
        raise SimulationError(
            f"worlds.{name} has shape {getattr(values, 'shape', None)}; it is "
            f"{' or '.join(map(str, shapes))}.",
            hint=f"Write into it, worlds.{name}[…] = …, and do not put another in its place.",
        )
    if is_gpu or hasattr(values, "__cuda_array_interface__"):
        check_kind(values, f"numbers of worlds.{name}", real if is_gpu else None)
    elif values.dtype != real or not values.flags.c_contiguous:
        raise SimulationError(
            f"worlds.{name} is of {values.dtype}; it is contiguous and of {np.dtype(real)}.",
            hint=f"Write into it, worlds.{name}[…] = …, and do not put another in its place.",
        )


def mask_of(which: Any, count: int) -> NDArray[np.bool_]:
    """An entry for each world, of those that are meant: all, by number, or by a mask."""
    mask = np.zeros(count, dtype=bool)
    if which is None:
        mask[:] = True
        return mask
    numbers = np.atleast_1d(np.asarray(which))
    if numbers.dtype == bool:
        if numbers.shape != mask.shape:
            raise SimulationError(f"the mask has shape {numbers.shape}; there are {count} worlds.")
        return numbers
    if numbers.size and (
        numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= count
    ):
        raise SimulationError(f"worlds are numbered 0 to {count - 1}; found {which!r}.")
    mask[numbers.astype(np.int64)] = True
    return mask


def world_number(i: Any, count: int) -> int:
    """The number of one world, checked."""
    if not isinstance(i, Integral) or not 0 <= int(i) < count:
        raise SimulationError(f"worlds are numbered 0 to {count - 1}; found {i!r:.80}.")
    return int(i)


def spread_of(spread: Any, labels: Sequence[Label]) -> Array:
    """How far positions (by velocity coordinate), then velocities, lie from a start at most."""
    nv = len(labels)
    far = np.zeros(2 * nv)
    if spread is None:
        return far
    if not isinstance(spread, Mapping):
        far[:nv] = _width(spread, "spread")
    else:
        velocities = [x.name for x in labels]
        known = {_position(name): k for k, name in enumerate(velocities)}
        known |= {name: nv + k for k, name in enumerate(velocities)}
        for name, value in spread.items():
            if name not in known:
                raise NamingError.unknown("coordinate or velocity", name, known)
            k, what = known[name], f"spread of {name!r}"
            unit = labels[k % nv].unit
            unit = unit if k >= nv else unit.removesuffix("/s")
            far[k] = _width(si_value(value, unit, what), what)
    if not (np.all(np.isfinite(far)) and np.all(far >= 0)):
        raise SimulationError(f"spread is {spread!r}; its numbers are finite and not negative.")
    return far


def _position(velocity: str) -> str:
    """The name of how far one goes along a velocity: "A" of "A'", "F.x" of "F.vx".

    A turn about an axis of a body is called by the entry of the quaternion, "F.qx" of "F.wx".
    """
    joint, _, part = velocity.rpartition(".")
    kinds = {"v": "", "w": "q"}
    is_of_body = len(part) == 2 and part[0] in kinds and part[1] in "xyz" and joint
    return f"{joint}.{kinds[part[0]]}{part[1]}" if is_of_body else velocity.rstrip("'")


def _width(value: Any, what: str) -> float:
    """How far a coordinate may lie from a start, a number."""
    if not isinstance(value, Real):
        raise SimulationError(
            f"{what} is {value!r:.80}; it is a number.",
            hint="Widths with units are given by name, spread={'A': '5 deg'}.",
        )
    return float(value)


def check_held(values: Any, plan: Plan) -> None:
    """Raises an error for an input by name that a formula or a table of the kernel determines."""
    labels = plan.program.labels.get("u", ())
    fixed = [labels[slot].name for slot, _ in plan.inputs.formulas]
    for name in values if isinstance(values, Mapping) else ():
        if name in fixed:
            raise SimulationError(
                f"input {name!r} was given to worlds as a formula or a table, which is part of the "
                "kernel.",
                hint="Give it as a number there, and values in steps.",
            )
