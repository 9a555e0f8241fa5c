"""Motions that follow time: elementary motions of a link and frames of a joint that depend on t.

`dof1 = (3 rad/s*t) || [0,0,1]` and `[5 cm*sin(2 rad/s*t), 0, 0] @ earth` are coordinates with an
imposed law each. A coordinate of a link is named after its `dof`. A frame that moves becomes a
body without mass, carried by a joint of its own, `J_frame` for the joint J; what is fixed before
and behind its motions stays in the markers. The law is in the mechanism as an imposed motion, so
that its multiplier is the effort that the motion takes, and its rate times that effort the power.

Public names: Driven, Carried, TIME, is_timed, driven_turn, driven_slides, carried, imposed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, final

import liaison.model as model
from liaison.errors import Place
from liaison.expr import Expr, as_expr, symbol, symbols_of
from liaison.formats.lsd.formulas.names import Book
from liaison.formats.lsd.formulas.values import BodyFrame, Quantity, Turn, Turned, Unfit, plain
from liaison.formats.poses import HERE, joined, rows_of
from liaison.model import Composition, Marker, Rotation, Translation
from liaison.spatial import Array, is_zero, rotation_about, vector

TIME = symbol("t")
AXES = ((1, 0, 0), (0, 1, 0), (0, 0, 1))


@final
@dataclass(frozen=True, slots=True)
class Driven:
    """An elementary motion and the law of time that it follows."""

    motion: Any
    law: Expr


def is_timed(*formulas: Any) -> bool:
    """Whether formulas depend on t."""
    return TIME in symbols_of([as_expr(x) for x in formulas])


def driven_turn(axis: Sequence[Any], angle: Any) -> Driven:
    """A turn by an angle of time."""
    return Driven(Rotation(tuple(axis)), as_expr(angle))


def driven_slides(entries: Sequence[Any]) -> list[Driven]:
    """A slide for each component that depends on time."""
    return [
        Driven(Translation(axis), as_expr(x))
        for axis, x in zip(AXES, entries, strict=True)
        if is_timed(x)
    ]


@final
@dataclass(slots=True)
class Carried:
    """A frame that moves, on the body that is made for it, and what is made with it."""

    frame: BodyFrame
    parts: list[Any] = field(default_factory=list)


def carried(frame: BodyFrame, joint: str, place: Place, book: Book) -> Carried:
    """The frame on a body without mass that moves as the frame does; itself if it is fixed.

    Raises:
        Unfit: it turns by a matrix, or about an axis, that depends on time.
    """
    if not is_timed(*frame.R.flat, *frame.p):
        return Carried(frame)
    made = Carried(BodyFrame(frame.body, *HERE))
    waiting: list[Driven] = []
    fixed = HERE  # behind what waits
    for step in _steps(frame):
        if isinstance(step, Driven):
            if waiting and fixed is not HERE:
                _carry(made, waiting, joint, place, book)
                waiting = []
            if not waiting:
                made.frame = _moved(made.frame, fixed)
                fixed = HERE
            waiting.append(step)
        else:
            fixed = joined(*fixed, *step)
    _carry(made, waiting, joint, place, book)
    made.frame = _moved(made.frame, fixed)
    return made


def _moved(frame: BodyFrame, step: tuple[Array, Array]) -> BodyFrame:
    return BodyFrame(frame.body, *joined(frame.R, frame.p, *step))


def _steps(frame: BodyFrame) -> Iterator[Driven | tuple[Array, Array]]:
    """Motions of a frame, one after another: those of time, and fixed poses between them."""
    for step in frame.steps:
        if isinstance(step, Turn):
            axis = [plain(q.value) for q in step.axis.items if isinstance(q, Quantity)]
            if is_timed(*axis):
                raise Unfit("the axis of a turn does not move; write turns one after another.")
            if is_timed(step.angle.value):
                yield driven_turn(axis, step.angle.value)
            else:
                yield rotation_about(axis, step.angle.value), HERE[1]
        elif isinstance(step, Turned):
            if is_timed(*step.R.flat):
                raise Unfit("a rotation matrix cannot depend on time; write turns, angle || axis.")
            yield step.R, HERE[1]
        elif isinstance(step, tuple):
            yield step
        else:
            entries = [plain(q.value) for q in step.items if isinstance(q, Quantity)]
            still = [0 if is_timed(x) else x for x in entries]
            if not all(is_zero(x) for x in still):
                yield HERE[0], vector(still)
            yield from driven_slides(entries)


def _carry(made: Carried, motions: list[Driven], joint: str, place: Place, book: Book) -> None:
    """One more body, on the frame so far, with the motions that wait."""
    name = book.free_name(f"{joint}_frame")
    body = book.free_name(f"{name}_carrier")
    for label in (name, body):
        book.places[label] = place
    names = [f"{'turn' if isinstance(x.motion, Rotation) else 'slide'}{k}"
             for k, x in enumerate(motions, 1)]  # fmt: skip
    kind = Composition(tuple(x.motion for x in motions), tuple(names))
    at = made.frame
    F = Marker(at.body, rows_of(at.R), tuple(at.p), place=place)
    record = model.Joint(name, kind, F, Marker(body, place=place), place=place)
    book.add_joint(record, ())
    made.parts += [model.Body(body, place=place), record]
    made.parts += imposed(record.coordinates, [x.law for x in motions], place, book)
    made.frame = BodyFrame(body, *HERE)


def imposed(
    labels: Sequence[str], laws: Sequence[Expr], place: Place, book: Book
) -> list[model.PrescribedMotion]:
    """The laws of coordinates that follow time."""
    motions = []
    for label, law in zip(labels, laws, strict=True):
        name = book.free_name(f"imposed_{label}")
        book.places[name] = place
        motions.append(model.PrescribedMotion(name, label, law, place=place))
    return motions
