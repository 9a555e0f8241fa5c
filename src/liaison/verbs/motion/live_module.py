"""Compile a mechanism and its time loop to WebAssembly.

Public names: live_module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from liaison.arguments import checked
from liaison.equations.start_checks import is_completed
from liaison.errors import OptionError, SimulationError
from liaison.expr import Expr, symbols_of
from liaison.expr.graph.node import collector_paused
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import is_scene
from liaison.numeric.progress import lasting
from liaison.program.kernel import Kernel
from liaison.simulation.live.module import SERIES
from liaison.simulation.live.module import live_module as module_of
from liaison.simulation.live.starts import LiveStarts
from liaison.simulation.live.touching import LiveMarks
from liaison.simulation.plan.settings import settings_of
from liaison.tree.starts import Starts, fixed_values
from liaison.tree.tree import span
from liaison.units import si_value
from liaison.verbs.assembling import shakes_of
from liaison.verbs.given import Given, Value, in_seconds, mechanism_of, with_values
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


@lasting("program")
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
    marks: LiveMarks | None = None,
    **keywords: Unpack[LiveKeywords],
) -> bytes:
    """A module that simulates the mechanism in a browser or in node, without Python.

    Args:
        given: a mechanism, or the path of its text.
        until: when its runs end, unless their user chooses another time [s].
        start: positions and rates to assemble from, instead of the mechanism's own.
        guess: positions and rates near which to assemble.
        parameters: values by name, in the place of the defaults.
        inputs: numbers, which its user may change, formulas and tables.
        stop: what ends a run.
        series: what can be evaluated at recorded states; besides, "reactions", "momentum", and
            "contacts" with their modes and gaps.
        assembles: loops close again after a change of lengths or starts.
        marks: formulas of t, q, v and parameters that can be evaluated there too.
        **keywords: step, method, rtol, atol, every and others, see `RunOptions`.

    Returns:
        The bytes of the module; the script `liaison_run.js` runs it (docs/browser.md).

    Raises:
        SimulationError: runs of this mechanism need Python between their steps.
        OptionError: a keyword that a module does not take.

    Example:
        >>> import liaison
        >>> module = liaison.live_module("examples/pendulum.lsd")
        >>> module[:4], len(module) < 50_000
        (b'\\x00asm', True)
    """
    OptionError.check("live_module", keywords, LiveKeywords.__annotations__)
    mechanism = mechanism_of(given)
    if is_scene(mechanism):
        raise SimulationError(
            f"{mechanism.name!r} cannot run in a module: a scene makes room for more contacts "
            "while it moves.",
            status="not live",
        )
    options: dict[str, Any] = {**keywords}
    for name in TIMES & options.keys():
        options[name] = si_value(options[name], "s", f"live_module: {name}")
    with collector_paused():
        kernel, state = ready_for(mechanism, None, start, parameters, guess=guess)
        starts = _starts_of(mechanism, kernel, parameters) if assembles else None
        return module_of(
            kernel, state, in_seconds(until, "live_module: until"), settings_of(**options),
            inputs=inputs, stop=stop, series=series, starts=starts,
            marks=marks,
        )  # fmt: skip


def _starts_of(
    mechanism: Mechanism, kernel: Kernel, parameters: Mapping[str, Any] | None = None
) -> LiveStarts | None:
    """Starts for a module that assembles; None where closures were completed before the run.

    Args:
        mechanism: before its parameters were given other values.
        kernel: of its equations.
        parameters: these values.
    """
    if is_completed(kernel.program.labels["lam"]):
        return None
    tree = span(with_values(mechanism, parameters or {}))
    starts = Starts(tree)
    fixed: Mapping[Expr, float] = fixed_values(tree, {}, 0.0) if starts.take_values else {}
    begin = starts.begin({}, {}, fixed)
    known = kernel.program.inputs
    formulas = {
        label: x
        for label, (x, _) in starts.own.items()
        if isinstance(x, Expr) and all(y in known for y in symbols_of([x]))
    }
    curved = [node for node in tree.nodes if node.joint.type.nq != node.joint.type.nv]
    return LiveStarts(
        kernel,
        shakes_of(tree.nv),
        starts.positions(begin, begin.held, fixed)[0],
        {x: begin.values[x] for x in starts.own if x not in formulas},
        formulas,
        [label for label, (_, is_guess) in starts.own.items() if is_guess],
        [
            np.flatnonzero(starts.positions(begin, {name}, fixed)[1]).tolist()
            for name in starts.q_names
        ],
        [x.name for node in curved for x in tree.position_labels()[node.q] if not x.unit],
    )
