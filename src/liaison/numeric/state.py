"""State: the time, positions and velocities of a mechanism, with a name for every number.

Public names: Array, State.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from liaison.errors import NamingError, SimulationError
from liaison.lazy import Fitted
from liaison.units import Label, si_value

Array: TypeAlias = NDArray[np.float64]


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class State(Fitted):
    """Where a mechanism is and how it moves at one instant.

    The arrays are copied and cannot be written to. Entries are read by label:
    `state["A"]` is a position, `state["A'"]` its rate.

    Attributes:
        t: time [s].
        q: positions [m, rad, 1], shape (nq,).
        v: velocities [m/s, rad/s], shape (nv,).
        labels: "q" and "v" -> a name and a unit for every entry; may be empty.

    Example:
        >>> import liaison
        >>> state = liaison.assemble(liaison.span(liaison.read("examples/pendulum.lsd")))
        >>> round(state["A"], 6)
        0.523599
        >>> state.changed({"A": "90 deg"})["A"]
        1.5707963267948966
    """

    t: float
    q: Array
    v: Array
    labels: Mapping[str, tuple[Label, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", float(self.t))
        object.__setattr__(self, "q", _fixed("q", self.q))
        object.__setattr__(self, "v", _fixed("v", self.v))
        object.__setattr__(self, "labels", {k: tuple(x) for k, x in self.labels.items()})
        for name, array in (("q", self.q), ("v", self.v)):
            named = len(self.labels.get(name, ()))
            if named and named != array.size:
                raise SimulationError(f"{array.size} numbers in {name} do not fit {named} labels.")

    def __getitem__(self, name: str) -> float:
        array, index = self._slot(name)
        return float((self.q if array == "q" else self.v)[index])

    def changed(
        self, values: Mapping[str, float | str] | None = None, *, t: float | str | None = None
    ) -> State:
        """A copy with other values of some labels, such as "40 deg"; closures are not looked at.

        Example:
            >>> import liaison
            >>> state = liaison.check("examples/pendulum.lsd").start.state
            >>> state.changed({"A": "90 deg"})["A"]
            1.5707963267948966
        """
        arrays = {"q": self.q.copy(), "v": self.v.copy()}
        for name, value in (values or {}).items():
            array, index = self._slot(name)
            unit = self.labels[array][index].unit
            arrays[array][index] = si_value(value, unit, f"the value of {name!r}")
        now = self.t if t is None else si_value(t, "s", "t")
        return State(now, arrays["q"], arrays["v"], self.labels)

    def __repr__(self) -> str:
        parts = [f"t={self.t:.9g}"]
        for name, array in (("q", self.q), ("v", self.v)):
            labels = self.labels.get(name, ())
            names = [x.name for x in labels] or [f"{name}[{i}]" for i in range(array.size)]
            parts += [f"{label}={value:.9g}" for label, value in zip(names, array, strict=True)]
        return f"State({', '.join(parts)})"

    def _slot(self, name: str) -> tuple[str, int]:
        for array in ("q", "v"):
            for index, label in enumerate(self.labels.get(array, ())):
                if label.name == name:
                    return array, index
        known = [label.name for array in ("q", "v") for label in self.labels.get(array, ())]
        raise NamingError.unknown("coordinate or rate", name, known)


def _fixed(name: str, values: ArrayLike) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1:
        raise SimulationError(
            f"{name} of a state is a vector, not an array of shape {array.shape}."
        )
    array.setflags(write=False)
    return array
