"""Move sliders of a mechanism in a notebook; see its motion.

Public names: explore.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.errors import ArgumentError, NamingError
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import is_scene
from liaison.numeric.progress import lasting
from liaison.program.kernel import Kernel
from liaison.simulation.plan.options import RunOptions
from liaison.simulation.record.trajectory import Trajectory
from liaison.verbs.derive.compile import compile
from liaison.verbs.given import Given, Value, in_seconds, mechanism_of, units
from liaison.verbs.pictures import PictureKeywords
from liaison.view.notebook.animation import Animation
from liaison.view.notebook.explorer import Explorer
from liaison.view.notebook.slider import slider

from .animation import HEIGHT, animation
from .simulate import simulate

INSTANTS = 400
"""Recorded instants of a motion, where no period is given."""


@lasting("view")
@checked
def explore(
    given: Given,
    sliders: Mapping[str, Sequence[Value]],
    *,
    until: Value,
    options: RunOptions | None = None,
    height: int = HEIGHT,
    **picture: Unpack[PictureKeywords],
) -> Explorer:
    """Sliders for parameters, inputs and starts, with the motion that follows from them.

    As the last line of a cell both are shown. Each move of a slider simulates again, in Python; an
    error of the simulation is shown below the sliders, and the last motion stays. A saved notebook
    keeps the last motion. `explorer.result` is the run.

    Args:
        given: the mechanism, or the path of its text.
        sliders: by label of a parameter, an input, a coordinate or a rate (as a start) its range:
            (low, high) or (low, high, step), in SI or as texts such as "8 cm".
        until: the last instant [s].
        options: of the runs.
        height: of the picture [px].
        **picture: of `page`: speed, fps, trace, forces, frames, labels, contacts.

    Raises:
        MissingModule: the extra `notebook` is not installed.
        NamingError: a label that the mechanism does not have.
        ArgumentError: an empty range, or one without the value that the mechanism begins with.

    Example:
        >>> import liaison
        >>> sliders = {"l": ("50 cm", "2 m")}
        >>> view = liaison.explore("examples/pendulum.lsd", sliders, until="2 s")
        >>> view.set({"l": 80})
        >>> round(view.values["l"], 12)
        0.8
    """
    mechanism, end = mechanism_of(given), in_seconds(until, "explore: until")
    if is_scene(mechanism):
        raise ArgumentError(
            f"{mechanism.name!r} is a scene of bodies that collide, which has no sliders.",
            hint="Simulate it, and show the run: liaison.animation(run, mechanism).",
        )
    if not sliders:
        raise ArgumentError("explore: there is no slider.", hint='sliders={"a": ("8 cm", "12 cm")}')
    kernel = compile(mechanism)
    chosen = options or RunOptions()
    every = chosen.every if chosen.every is not None else end / INSTANTS
    known = units(mechanism)
    starts = _start_values(mechanism, kernel)
    for name in sliders:
        if name not in starts:
            raise NamingError.unknown("parameter, input, coordinate or rate", name, starts)
    rows = [slider(x, known.get(x, ""), starts[x], bounds) for x, bounds in sliders.items()]

    def motion(values: dict[str, float]) -> tuple[Trajectory, Animation]:
        run = simulate(kernel, until=end, options=chosen, every=every, **_sorted(mechanism, values))
        return run, animation(run, mechanism, height=height, **picture)

    return Explorer(mechanism.name, rows, motion)


def _sorted(mechanism: Mechanism, values: Mapping[str, float]) -> dict[str, Any]:
    """Values by what they are of: parameters, inputs, starts."""
    parameters = {x.name for x in mechanism.parameters}
    inputs = {x.name for x in mechanism.inputs}
    others = {x: y for x, y in values.items() if x not in parameters | inputs}
    return {
        "parameters": {x: y for x, y in values.items() if x in parameters},
        "inputs": {x: y for x, y in values.items() if x in inputs},
        "start": others,
    }


def _start_values(mechanism: Mechanism, kernel: Kernel) -> dict[str, float]:
    """What every parameter and input is, and where every coordinate and rate begins, in SI."""
    labels, defaults = kernel.program.labels, kernel.program.defaults
    values: dict[str, float] = {}
    for part in ("p", "u"):
        numbers = defaults.get(part, ())
        values |= {x.name: float(y) for x, y in zip(labels.get(part, ()), numbers, strict=True)}
    state = kernel.origin.state(kernel, {}, {}, {})
    for part in ("q", "v"):
        numbers = getattr(state, part)
        values |= {x.name: float(y) for x, y in zip(labels[part], numbers, strict=True)}
    return values
