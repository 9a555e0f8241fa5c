"""Differentiate measures by parameters and starts, exactly.

Public names: measure_gradients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Unpack

import numpy as np

from liaison.arguments import checked
from liaison.errors import ArgumentError, SimulationError
from liaison.model.mechanism import Mechanism
from liaison.numeric.progress import working
from liaison.simulation.batch.run import BATCH_SERIES
from liaison.simulation.plan.options import BatchKeywords, run_options
from liaison.studies.variations import Points
from liaison.verbs.given import Value, in_seconds, mechanism_of

from ._asked import asked_of, nominal
from ._gradients import EXACT, Gradients, check_choice
from .study import _TAKEN, _shared, with_reference


@checked
def measure_gradients(
    given: Mechanism | str | Path,
    *,
    measure: Mapping[str, str],
    until: Value,
    by: Sequence[str] = (),
    gradient: Literal["exact", "forward", "adjoint"] = "exact",
    start: Mapping[str, Any] | None = None,
    guess: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **keywords: Unpack[BatchKeywords],
) -> dict[str, dict[str, float]]:
    """Derivatives of measures of one run by parameters and starts, from those of the equations.

    Args:
        given: a mechanism, or the path of its text.
        measure: name -> formula over a run, as for `study`.
        until: the last instant [s].
        by: parameters, and coordinates and rates of the start; all parameters that have a value,
            if none is named.
        gradient: "forward", changes are integrated with the motion, one for each name; "adjoint",
            measures are taken back along the steps of the run, one by one, for all names at once;
            "exact", whichever takes fewer operations.
        start: positions and rates of the run.
        guess: positions and rates near which to assemble.
        parameters: values, by name.
        **keywords: how to run, as for `study`.

    Returns:
        Measure -> name -> derivative, in the unit of the measure by SI.

    Raises:
        ArgumentError: a measure takes the instants of events, and has no exact gradient.
        SimulationError: the run failed.

    Example:
        >>> import liaison
        >>> slopes = liaison.measure_gradients(
        ...     "examples/pendulum.lsd", measure={"angle": "at(A, 0.5 s)"}, by=["l"], until=0.5
        ... )
        >>> round(slopes["angle"]["l"], 6)
        0.471293
    """
    check_choice("gradient", gradient, EXACT)
    chosen = run_options("measure_gradients", None, keywords, _TAKEN, BATCH_SERIES)
    chosen.pop("threads", None)
    chosen.pop("lanes", None)
    mechanism = mechanism_of(given)
    shared = _shared(mechanism, start, guess, parameters)
    own = {**shared["start"], **shared["parameters"]}
    names = list(by) or [x.name for x in mechanism.parameters if x.value is not None]
    values = [nominal(mechanism, x, own) for x in names]
    if None in values:
        raise ArgumentError(f"{names[values.index(None)]!r} has no value to differentiate at.")
    every = chosen.pop("every", None)
    with working("studies", f"differentiating measures of {mechanism.name}"):
        asked = asked_of(
            given, names, measure, until=in_seconds(until, "measure_gradients: until"),
            every=every, record=None, options=chosen, **shared,
        )  # fmt: skip
        row = np.array([values], dtype=float)
        asked, family = with_reference(asked, Points(tuple(names), row, "one"))
        measures, slopes = Gradients(asked, family, gradient)(row[0])
    if not np.all(np.isfinite(measures)):
        raise SimulationError("the run failed, or changes without bound: it has no gradient.")
    listed = zip(asked.measures, slopes.tolist(), strict=True)
    return {x.name: dict(zip(names, line, strict=True)) for x, line in listed}
