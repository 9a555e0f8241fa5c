"""contact_points: where bodies touch along a run, with forces, moments and the velocities there.

Public names: ContactAlong, contact_points, parameters_had.

Source: LL 1.5.1; docs/theory/contacts.md (contact-2).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.arguments import checked
from liaison.errors import SimulationError
from liaison.expr import Expr, as_expr, evaluate, symbol
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.model.values import floats
from liaison.numeric import Array
from liaison.simulation import Trajectory
from liaison.simulation.hull_places import hull_places
from liaison.tree import ContactPlace, contact_places, on_symbols, span
from liaison.tree.contact.sides import ConvexPair


@final
@dataclass(frozen=True, slots=True, repr=False)
class ContactAlong(Shown):
    """One place of contact over time, in the ground's axes; a row an instant.

    Attributes:
        name: of the gap: that of the contact, or with the number of a corner or rim.
        bodies: what touches, and what is touched.
        is_closed: when it touches.
        point: I [m]; where it is open, where it would touch; of convex bodies whose places loops
            find, a point inside the first.
        normal: from the second body to the first.
        force: on the first body [N].
        moment: on the first body at I, of rolling and pivoting friction [N·m].
        on_first: velocity of the first body's point at I [m/s].
        on_second: of the second's.
        geometric: of I itself, as it goes on over both bodies.

    Example:
        >>> import liaison
        >>> m = liaison.read("examples/contact/table_edge.lsd")
        >>> run = liaison.simulate(m, until=0.1, every=0.05)
        >>> liaison.contact_points(m, run)[0].point.shape
        (3, 3)
    """

    name: str
    bodies: tuple[str, str]
    is_closed: NDArray[np.bool_]
    point: Array
    normal: Array
    force: Array
    moment: Array
    on_first: Array
    on_second: Array
    geometric: Array


@checked
def contact_points(mechanism: Mechanism, run: Trajectory) -> tuple[ContactAlong, ...]:
    """Every place of contact between frames at every recorded instant of a run.

    Args:
        mechanism: that was run.
        run: of it, in the coordinates of its joints.

    Raises:
        SimulationError: the run has other coordinates, or no forces of contacts.

    Example:
        >>> import liaison
        >>> m = liaison.read("examples/contact/table_edge.lsd")
        >>> run = liaison.simulate(m, until=0.1, every=0.05)
        >>> liaison.contact_points(m, run)[0].bodies
        ('puck', 'ground')
    """
    tree = span(mechanism)
    places = (tree.position_labels(), tree.velocity_labels())
    if places != (run.labels.get("q"), run.labels.get("v")) or "contacts" not in run.series:
        raise SimulationError(
            "the run has no contacts of this mechanism: it has other coordinates, or "
            "none of its forces.",
            status="inconsistent",
            hint="Give the mechanism that was run; parametrizations have coordinates of their own.",
        )
    moves, qdot = on_symbols(tree)
    columns = zip([*moves.q, *moves.v], [*run.q.T, *run.v.T], strict=True)
    values = parameters_had(mechanism, run) | {symbol("t"): run.t} | dict(columns)
    listed = contact_places(moves, qdot, with_hulls=True)
    for pair in (x.pair for x in listed if x.pair is not None and x.slot == 0):
        values |= _features_along(pair, values, run)
    return tuple(_along(place, values, run) for place in listed)


def _features_along(
    pair: ConvexPair, values: Mapping[Expr, Any], run: Trajectory
) -> dict[Expr, Array]:
    """What loops find of the places of a pair at every instant; of open ones a point inside."""
    count = len(run.t)
    columns = [np.broadcast_to(x, count) for x in evaluate(list(pair.pose), values)]
    bodies = [(pair.name, pair.first, pair.second)]
    features = hull_places(bodies, np.stack(columns, axis=1))[:, 0]
    for slot in range(features.shape[1]):
        is_open = ~_is_closed(run, f"{pair.name}[{slot + 1}]")
        features[is_open, slot] = 0.0
        features[is_open, slot, 6:9] = pair.first.middle
    return dict(zip(pair.features, features.reshape(count, -1).T, strict=True))


def parameters_had(mechanism: Mechanism, run: Trajectory) -> dict[Expr, Any]:
    """The parameters as the run had them; without those that have no value."""
    had: Mapping[str, Any] = run.meta.get("parameters", {})
    values = {x.name: had.get(x.name, x.value) for x in mechanism.parameters}
    return {symbol(x): float(floats(value, {})) for x, value in values.items() if value is not None}


def _along(place: ContactPlace, values: Mapping[Expr, Any], run: Trajectory) -> ContactAlong:
    """A place of contact with numbers in it."""

    def in_ground(v: Any) -> Array:
        entries = evaluate([as_expr(x) for x in v], values)
        return np.stack([np.broadcast_to(x, run.t.shape) for x in entries], axis=1)

    frame = [in_ground(place.normal), *map(in_ground, place.tangents)]
    turning = [f"{place.name}: pivoting", *(f"{place.name}: rolling {x}" for x in "xy")]
    acting = [place.name, *(f"{place.name}: sliding {x}" for x in "xy")]
    is_used = np.ones(len(run.t), dtype=bool)
    if place.pair is not None:
        # a place that is not in use has no normal
        is_used = np.any(frame[0] != 0, axis=1)
    return ContactAlong(
        place.name,
        place.bodies,
        is_closed=_is_closed(run, place.name) & is_used,
        point=in_ground(place.point),
        normal=frame[0],
        force=_sum(run, acting, frame),
        moment=_sum(run, turning, frame),
        on_first=in_ground(place.on_first),
        on_second=in_ground(place.on_second),
        geometric=in_ground(place.geometric),
    )


def _sum(run: Trajectory, rows: list[str], frame: list[Array]) -> Array:
    """Forces of rows along a normal and two tangents, as vectors."""
    pairs = zip(rows, frame, strict=True)
    return sum((_column(run, row)[:, None] * axis for row, axis in pairs), np.zeros((1, 3)))


def _column(run: Trajectory, row: str) -> Array:
    """The force of a row; 0 where there is none."""
    series = run.series["contacts"]
    (names,) = series.axes.values()
    return series.values[:, names.index(row)] if row in names else np.zeros(len(run.t))


def _is_closed(run: Trajectory, block: str) -> NDArray[np.bool_]:
    series = run.series["modes"]
    (names,) = series.axes.values()
    return np.asarray(series.values[:, names.index(block)] > 0)
