"""Compute which values the variance of a measure comes from.

Public names: sobol_indices.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Unpack

from liaison.arguments import checked
from liaison.model.mechanism import Mechanism
from liaison.simulation.plan.options import BatchKeywords
from liaison.studies.indices import Indices, indices_of
from liaison.verbs.given import Value

from .study import study


@checked
def sobol_indices(
    given: Mechanism | str | Path,
    *,
    vary: Mapping[str, Any],
    measure: Mapping[str, str],
    until: Value,
    count: int = 1024,
    seed: int = 0,
    folder: str | Path | None = None,
    start: Mapping[str, Any] | None = None,
    guess: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    workers: int | None = None,
    cluster: Any = None,
    **keywords: Unpack[BatchKeywords],
) -> Indices:
    """Sobol' indices of measures of a mechanism, with their confidence.

    Args:
        given: a mechanism, or the path of its text.
        vary: how values vary, independently, as for `study`.
        measure: numbers of a run, as for `study`.
        until: the last instant of every run [s].
        count: a power of 2; there are (names + 2) times as many runs.
        seed: of the points.
        folder: of the store, as for `study`; so are start, guess, parameters, workers, cluster.
        start: positions and rates of all runs.
        guess: positions and rates near which to assemble.
        parameters: values of all runs.
        workers: processes.
        cluster: address of a scheduler.
        **keywords: how to run, as for `study`.

    Example:
        >>> import liaison
        >>> swing = {"l": "0.9 m .. 1.1 m", "m": "1 kg .. 2 kg"}
        >>> parts = liaison.sobol_indices(
        ...     "examples/pendulum.lsd", vary=swing, measure={"end": "final(A)"}, until=1, count=64
        ... )
        >>> parts.total.round(1)
        array([[1., 0.]])
    """
    runs = study(
        given, vary=vary, measure=measure, until=until, design="sobol indices", count=count,
        seed=seed, folder=folder, start=start, guess=guess, parameters=parameters,
        workers=workers, cluster=cluster, **keywords,
    )  # fmt: skip
    return indices_of(runs.varied, {x: runs[x] for x in runs.measures}, seed, runs)
