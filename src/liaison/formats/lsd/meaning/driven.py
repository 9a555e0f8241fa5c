"""Motions that follow time: elementary motions of a link, and frames that depend on t.

`dof1 = (3 rad/s*t) || [0,0,1]` and `[5 cm*sin(2 rad/s*t), 0, 0] @ earth` are coordinates with an
imposed law each. A coordinate of a link is named after its `dof`. A frame that moves becomes a
body without mass, carried by a joint of its own, `J_frame` for the joint or load J; what is fixed
before and behind its motions stays in the markers. The law is in the mechanism as an imposed
motion, so that its multiplier is the effort that the motion takes, and its rate times that effort
the power.

Public names: Driven, TIME, is_timed, driven_turn, driven_slides, carried, impose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, final

import liaison.model as model
from liaison.errors import Place, TextError
from liaison.expr import Expr, as_expr, symbol, symbols_of
from liaison.formats.lsd.formulas.names import Book
from liaison.formats.lsd.formulas.values import BodyFrame, Quantity, Turn, Turned, Unfit, plain
from liaison.formats.poses import HERE, joined, rows_of
from liaison.model import Composition, Marker, Prismatic, Revolute, Rotation, Translation
from liaison.spatial import Array, is_zero, rotation_about, rotation_onto_z, vector

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


def carried(frame: BodyFrame, owner: str, place: Place, book: Book) -> BodyFrame:
    """The frame on a body without mass that moves as the frame does; itself if it is fixed.

    Equal frames are one. Bodies, joints and laws are noted in the book.

    Args:
        frame: any.
        owner: the joint or the load that it belongs to, after which it is named.
        place: of the owner.
        book: of the text.

    Raises:
        TextError: it turns by a matrix, or about an axis, that depends on time.
    """
    if not is_timed(*frame.R.flat, *frame.p):
        return frame
    key = (frame.body, *map(as_expr, frame.R.flat), *map(as_expr, frame.p))
    if key not in book.carriers:
        try:
            book.carriers[key] = _carried(frame, owner, place, book)
        except Unfit as error:
            raise TextError(f"a frame of {owner!r}: {error}", place=place) from None
    return book.carriers[key]


def _carried(frame: BodyFrame, owner: str, place: Place, book: Book) -> BodyFrame:
    at = BodyFrame(frame.body, *HERE)
    waiting: list[Driven] = []
    fixed = HERE  # behind what waits
    for step in _steps(frame):
        if isinstance(step, Driven):
            if waiting and fixed is not HERE:
                at = _carrier(at, waiting, owner, place, book)
                waiting = []
            if not waiting:
                at = _moved(at, fixed)
                fixed = HERE
            waiting.append(step)
        else:
            fixed = joined(*fixed, *step)
    return _moved(_carrier(at, waiting, owner, place, book), fixed)


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


def _carrier(
    at: BodyFrame, motions: list[Driven], owner: str, place: Place, book: Book
) -> BodyFrame:
    """One more body, on the frame so far, with the motions that wait."""
    name = book.free_name(f"{owner}_frame")
    body = book.free_name(f"{name}_carrier")
    for label in (name, body):
        book.places[label] = place
    kind, turn = _type(motions)
    F = Marker(at.body, rows_of(joined(at.R, at.p, turn, HERE[1])[0]), tuple(at.p), place=place)
    M = Marker(body, rows_of(turn), place=place)
    record = model.Joint(name, kind, F, M, place=place)
    book.add_joint(record, ())
    book.extras += [model.Body(body, place=place), record]
    impose(record.coordinates, [x.law for x in motions], place, book)
    return BodyFrame(body, *HERE)


def _type(motions: list[Driven]) -> tuple[model.JointType, Array]:
    """The joint of these motions, and what turns its markers' z onto the axis of a single one."""
    first = motions[0].motion
    if len(motions) == 1:
        kind = Revolute() if isinstance(first, Rotation) else Prismatic()
        axis = list(first.axis)
        return kind, HERE[0] if axis == [0, 0, 1] else rotation_onto_z(axis)
    names = [f"{'turn' if isinstance(x.motion, Rotation) else 'slide'}{k}"
             for k, x in enumerate(motions, 1)]  # fmt: skip
    return Composition(tuple(x.motion for x in motions), tuple(names)), HERE[0]


def impose(labels: Sequence[str], laws: Sequence[Expr], place: Place, book: Book) -> None:
    """Notes the laws of coordinates that follow time."""
    for label, law in zip(labels, laws, strict=True):
        name = book.free_name(f"imposed_{label}")
        book.places[name] = place
        book.extras.append(model.PrescribedMotion(name, label, law, place=place))
