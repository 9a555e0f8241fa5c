"""Compile a mechanism with its time loop to a WebAssembly module.

Public names: live_module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from liaison.errors import OptionError, SimulationError, checked
from liaison.expr.graph.node import collector_paused
from liaison.model.pairing import is_scene
from liaison.simulation.live.module import SERIES
from liaison.simulation.live.module import live_module as module_of
from liaison.simulation.plan.settings import settings_of
from liaison.units import si_value
from liaison.verbs.assembling import live_starts
from liaison.verbs.given import Given, Value, in_seconds, mechanism_of
from liaison.verbs.ready import ready_for


TIMES = frozenset({"step", "max_step", "every"})


class LiveKeywords(TypedDict, total=False):
    """How the runs of a module go; each is explained at `RunOptions`."""

    step: float | str
    method: str
    rtol: float
    atol: float
    max_step: float | str
    max_steps: int
    every: float | str
    impacts: str
    theta: float
    facets: int
    spectral_radius: float
    watch: bool


@checked
def live_module(
    given: Given,
    *,
    until: Value = 10.0,
    start: Mapping[str, Value] | None = None,
    guess: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    stop: Any = None,
    series: Sequence[str] = SERIES,
    assembles: bool = True,
    **keywords: Unpack[LiveKeywords],
) -> bytes:
    """A module that simulates the mechanism in a browser or in node, without Python.

    Args:
        given: a mechanism, or the path of its text.
        until: when its runs end unless they are told another time [s].
        start: positions and rates to assemble from, instead of the mechanism's own.
        guess: positions and rates near which to assemble.
        parameters: values by name, in the place of the defaults.
        inputs: numbers, which its user may change, formulas and tables.
        stop: what ends a run.
        series: what can be evaluated at recorded states; "reactions" and "momentum" besides.
        assembles: loops close again after a change of lengths or starts.
        **keywords: step, method, rtol, atol, every and others, see `RunOptions`. The balance of
            energy is not watched unless watch=True.

    Returns:
        The bytes of the module; the script `liaison_run.js` runs it (docs/browser.md).

    Raises:
        SimulationError: runs of this mechanism need Python between their steps.
        OptionError: a keyword that a module does not take.
    """
    OptionError.check("live_module", keywords, LiveKeywords.__annotations__)
    mechanism = mechanism_of(given)
    if is_scene(mechanism):
        raise SimulationError(
            f"{mechanism.name!r} cannot run in a module: a scene makes room for more contacts "
            "while it moves.",
            status="not live",
        )
    options: dict[str, Any] = {"watch": False, **keywords}
    for name in TIMES & options.keys():
        options[name] = si_value(options[name], "s", f"live_module: {name}")
    with collector_paused():
        kernel, state = ready_for(mechanism, None, start, parameters, guess=guess)
        starts = live_starts(mechanism, kernel, parameters) if assembles else None
        return module_of(
            kernel, state, in_seconds(until, "live_module: until"), settings_of(**options),
            inputs=inputs, stop=stop, series=series, starts=starts,
        )  # fmt: skip
