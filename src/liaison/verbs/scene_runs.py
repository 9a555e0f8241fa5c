"""Runs of mechanisms whose bodies collide in many pairs: as a scene, in their own coordinates.

Public names: run_scene.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from liaison.errors import NamingError, SimulationError
from liaison.expr import Expr, as_expr, evaluate, symbol, symbols_of
from liaison.model import Mechanism
from liaison.model.contacts.collisions import surfaces_of
from liaison.numeric import Array
from liaison.numeric.attitude import quaternion_product
from liaison.simulation import Series, Trajectory
from liaison.simulation.record.resampling import rotation_of
from liaison.simulation.run import DEFAULT_SERIES

from .given import with_starts, with_values
from .scenes import Placed, placed_scene

STEP = 1e-3
"""Default fixed step [s]."""

CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])
"""Signs that turn a quaternion w x y z back."""

OPTIONS = ("tolerance", "depth", "sweeps", "events", "time_limit", "progress")
"""Options that a scene takes unchanged."""


def run_scene(
    mechanism: Mechanism,
    until: float,
    *,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    step: float | None = None,
    every: Any = None,
    method: str | None = None,
    series: Sequence[str] = (),
    **options: Any,
) -> Trajectory:
    """Lets free bodies that collide move, in fixed steps after Moreau and Jean.

    Args:
        mechanism: free bodies with `collide`.
        until: the last instant [s].
        start: positions and rates to begin with, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        step: fixed step [s]; 1 ms if not given.
        every: period of the record [s], taken to whole steps; None: every step.
        method: "moreau" or None.
        series: those of every run; energy, outputs and poses are always recorded.
        **options: of `Scene.simulate`.

    Raises:
        SimulationError: an option that scenes do not have.
    """
    if method not in (None, "moreau"):
        raise _refused(f"method {method!r}", "they are simulated by 'moreau'")
    for name in (x for x in series if x not in DEFAULT_SERIES):
        raise _refused(f"series {name!r}", "their forces are recorded by plane, as 'planes'")
    for name, value in options.items():
        if name not in OPTIONS and value is not None and not _is_empty(name, value):
            raise _refused(f"option {name!r}", f"they take {', '.join(OPTIONS)}")
    taken = STEP if step is None else step
    given = {x: options[x] for x in OPTIONS if x in options}
    placed = placed_scene(
        with_starts(with_values(mechanism, parameters or {}), start or {}), start or {}
    )
    count = _steps(every, taken)
    run = placed.scene.simulate(until, step=taken, every=count, **given)
    return _told(placed, run)


def _is_empty(name: str, value: Any) -> bool:
    """Whether an option asks for nothing that a scene does not do."""
    return (name == "inputs" and not value) or (name == "on_failure" and value == "raise")


def _refused(what: str, instead: str) -> SimulationError:
    return SimulationError(
        f"{what} is not for scenes of bodies that collide: {instead}.",
        status="inconsistent",
        hint="With up to 50 pairs, each is a contact of its own, and all methods run.",
    )


def _steps(every: Any, step: float) -> int:
    """How many steps lie between two records."""
    if every is None:
        return 1
    if not isinstance(every, int | float) or not every > 0:
        raise _refused(f"every = {every!r}", "it is a period, such as 0.01 s")
    return max(1, round(every / step))


def _told(placed: Placed, run: Trajectory) -> Trajectory:
    """The run in the coordinates of the mechanism's joints, with its outputs."""
    tree, mechanism = placed.tree, placed.mechanism
    q, v = _coordinates(placed, run)
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    values: dict[Expr, Any] = {symbol("t"): run.t, **placed.values}
    for names, columns in ((labels["q"], q), (labels["v"], v)):
        values |= {symbol(x.name): columns[:, k] for k, x in enumerate(names)}
    pairs = surfaces_of(mechanism).pairs
    series = dict(run.series) | _outputs(mechanism, values, len(run.t))
    said = f"{pairs} pairs marched as a scene, in steps of {run.meta['step']:g} s"
    return replace(
        run,
        name=mechanism.name,
        q=q,
        v=v,
        labels=labels,
        series=series,
        message=f"{run.message.rstrip('.')}; {said}.",
        counts={**run.counts, "pairs": pairs},
        meta={**run.meta, "mechanism": mechanism.name, "scene": True, "parameters": placed.known},
    )


def _outputs(mechanism: Mechanism, values: Mapping[Expr, Any], size: int) -> dict[str, Series]:
    """The outputs of the mechanism, evaluated along the run."""
    if not mechanism.outputs:
        return {}
    formulas = [as_expr(x.formula) for x in mechanism.outputs]
    for x in symbols_of(formulas):
        if x not in values:
            raise NamingError.unknown("quantity of a scene", x.name, [s.name for s in values])
    columns = [np.broadcast_to(x, size) for x in evaluate(formulas, values)]
    names, units = zip(*((x.name, x.unit) for x in mechanism.outputs), strict=True)
    return {"outputs": Series(np.stack(columns, axis=1), units, {"output": names})}


def _coordinates(placed: Placed, run: Trajectory) -> tuple[Array, Array]:
    """q and v of the free joints, from centers of mass."""
    n = len(placed.tree.nodes)
    pose, speed = run.q.reshape(-1, n, 7), run.v.reshape(-1, n, 6)
    q, v = np.zeros((len(run), 7 * n)), np.zeros((len(run), 6 * n))
    for k, node in enumerate(placed.tree.nodes):
        R0, p0 = placed.base[k]
        center, turn = placed.center[k], pose[:, k, 3:]
        R, back = rotation_of(turn), placed.turn[k] * CONJUGATE
        arm = R @ center
        velocity = speed[:, k, 3:] - np.cross(speed[:, k, :3], arm)
        q[:, node.q] = np.column_stack(
            [(pose[:, k, :3] - arm - p0) @ R0, quaternion_product(back, turn.T).T]
        )
        local = [np.einsum("tji,tj->ti", R, x) for x in (speed[:, k, :3], velocity)]
        v[:, node.v] = np.column_stack(local)
    return q, v
