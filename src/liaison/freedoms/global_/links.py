"""A mechanism with some coordinates held: rigid links, and the joints between them that may move.

Bodies that fixed or held joints tie together are one link; joints that no loop passes are held at
their starts. What is left is a graph of links in which every joint is on a loop; all solvers of
assembly modes begin from it.

Public names: Passive, Links, links_of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.errors import AssemblyError, DerivationError, NamingError
from liaison.expr import Expr, as_expr, evaluate, substitute, symbol, symbols_of
from liaison.freedoms.motions import Transform
from liaison.freedoms.placing import across, as_written, parameter_values, valued
from liaison.model import Constraint, Joint, Mechanism, OfCoordinates
from liaison.spatial import compose, identity, inverse, zeros

NEAR = 1e-9
"""Gap at a joint beyond which held coordinates contradict each other [m, 1]."""

Numbers: TypeAlias = dict[str, Any]


@final
@dataclass(frozen=True, slots=True)
class Passive:
    """A joint that may move, with its markers on two links."""

    joint: Joint
    a: int  # the link of the predecessor
    F: Transform  # the predecessor's marker in it
    b: int  # the link of the successor
    M: Transform

    @property
    def name(self) -> str:
        """Of the joint."""
        return self.joint.name


@final
@dataclass(frozen=True, slots=True)
class Links:
    """Rigid links and the joints between them; link 0 holds the ground."""

    mechanism: Mechanism
    bodies: Mapping[str, tuple[int, Transform]]  # body -> link, pose in it
    joints: tuple[Passive, ...]  # that may move, each on a loop
    held: Numbers
    notes: tuple[str, ...]

    @property
    def count(self) -> int:
        """How many links the loops have, with the ground."""
        return len({0} | {k for joint in self.joints for k in (joint.a, joint.b)})


def links_of(mechanism: Mechanism, at: Mapping[str, Any]) -> Links:
    """The links of a mechanism in which some coordinates are held.

    Args:
        mechanism: with parameters that have values.
        at: held coordinates by label [m, rad], exact where they can be.

    Raises:
        NamingError: a label that no coordinate has.
        DerivationError: relations that are not known here.
        AssemblyError: what is held contradicts itself.
    """
    for label in at:
        if label not in mechanism.coordinates:
            raise NamingError.unknown("coordinate", label, mechanism.coordinates)
    notes: list[str] = []
    exact = valued(mechanism, notes)
    held = _held_coordinates(exact, at)
    fixed = [joint for joint in exact.joints if _has_held_coordinates(joint, held)]
    resting = _bridges([joint for joint in exact.joints if joint not in fixed], fixed)
    if resting:
        names = ", ".join(joint.name for joint in resting)
        notes.append(f"no loop passes {names}: they keep their starts")
    fixed += resting
    bodies = _rigid(exact, fixed, _rests(exact, resting) | held)
    joints = tuple(_passive(joint, bodies) for joint in exact.joints if joint not in fixed)
    _check(fixed, bodies)
    return Links(exact, bodies, joints, held, tuple(notes))


def _bridges(free: Sequence[Joint], fixed: Sequence[Joint]) -> list[Joint]:
    """Free joints that no loop passes: without them their bodies are not connected."""
    ends = [(j.predecessor.body, j.successor.body) for j in (*free, *fixed)]
    return [joint for k, joint in enumerate(free) if not _are_joined(ends, k)]


def _are_joined(ends: Sequence[tuple[str, str]], but: int) -> bool:
    """Whether the ends of one edge are connected by the others."""
    start, goal = ends[but]
    seen, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        for k, pair in enumerate(ends):
            if k != but and here in pair:
                far = pair[1] if pair[0] == here else pair[0]
                if far not in seen:
                    seen.add(far)
                    waiting.append(far)
    return goal in seen


def _rests(mechanism: Mechanism, joints: Sequence[Joint]) -> Numbers:
    """Starts of joints, or their zero positions."""
    starts = {start.label: start.value for start in mechanism.starts}
    rests: Numbers = {}
    for joint in joints:
        neutral = joint.type.neutral()
        rests |= {k: starts.get(k, x) for k, x in zip(joint.coordinates, neutral, strict=True)}
    return rests


def _held_coordinates(mechanism: Mechanism, at: Mapping[str, Any]) -> Numbers:
    """Prescribed coordinates: by the caller, by imposed motions at t = 0, by couplings to these."""
    values = parameter_values(mechanism) | {symbol("t"): as_expr(0)}
    held: Numbers = {label: as_written(x) for label, x in at.items()}
    waiting: list[OfCoordinates] = []

    def value(formula: Any) -> Expr:
        return _number(formula, values)

    for relation in mechanism.constraints:
        if isinstance(relation, OfCoordinates) and relation.OF_SPEEDS:
            continue
        alone = _solvable(relation).implied({}, value)
        for label, x in alone.items():
            held.setdefault(label, x)
        waiting += [] if alone else [_solvable(relation)]
    for _ in range(len(waiting)):
        waiting = [relation for relation in waiting if not _follows(relation, held, value)]
    if waiting:
        raise DerivationError(
            f"the coupling '{waiting[0].name}' ties two coordinates of which none is held.",
            hint=f"Hold one of them: at={{{waiting[0].labels()[0]!r}: …}}.",
        )
    return held


def _number(formula: Any, values: Mapping[Expr, Expr]) -> Expr:
    number = substitute([as_expr(formula)], dict(values))[0]
    if symbols_of([number]):
        names = ", ".join(str(x) for x in symbols_of([number]))
        raise DerivationError(f"an imposed motion depends on {names}, which has no value.")
    return number


def _solvable(relation: Constraint) -> OfCoordinates:
    """Checks that a relation gives one coordinate from others; raises an error otherwise."""
    if isinstance(relation, OfCoordinates) and type(relation).implied is not OfCoordinates.implied:
        return relation
    raise DerivationError(
        f"assembly modes with the relation '{relation.name}' are not computed.",
        hint="Imposed motions and couplings to held coordinates are known.",
    )


def _follows(relation: OfCoordinates, held: Numbers, value: Callable[[Any], Expr]) -> bool:
    """Whether one side is known, and then the other."""
    implied = relation.implied(held, value)
    for label, x in implied.items():
        held.setdefault(label, x)
    return bool(implied)


def _has_held_coordinates(joint: Joint, held: Numbers) -> bool:
    is_held = [label in held for label in joint.coordinates]
    if any(is_held) and not all(is_held):
        missing = [x for x in joint.coordinates if x not in held]
        raise DerivationError(
            f"joint '{joint.name}' is held in part only; {', '.join(missing)} is free.",
            hint="Hold all coordinates of a joint, or none.",
        )
    return joint.type.nv == 0 or (bool(is_held) and all(is_held))


def _rigid(
    mechanism: Mechanism, fixed: Sequence[Joint], held: Numbers
) -> dict[str, tuple[int, Transform]]:
    """Each body's link and its pose there, along the joints that are known."""
    frames: dict[str, tuple[int, Transform]] = {}
    names = ["ground", *(body.name for body in mechanism.bodies if body.name != "ground")]
    steps = [(joint, across(joint, [held[x] for x in joint.coordinates])) for joint in fixed]
    count = 0
    for name in names:
        if name in frames:
            continue
        frames[name] = count, (identity(3), zeros(3))
        waiting = [name]
        while waiting:
            body = waiting.pop()
            for joint, X in steps:
                ends = joint.predecessor.body, joint.successor.body
                if body == ends[0] and ends[1] not in frames:
                    frames[ends[1]] = count, compose(*frames[body][1], *X)
                    waiting.append(ends[1])
                elif body == ends[1] and ends[0] not in frames:
                    frames[ends[0]] = count, compose(*frames[body][1], *inverse(*X))
                    waiting.append(ends[0])
        count += 1
    return frames


def _passive(joint: Joint, bodies: Mapping[str, tuple[int, Transform]]) -> Passive:
    first, second = joint.predecessor, joint.successor
    a, X_a = bodies[first.body]
    b, X_b = bodies[second.body]
    F = compose(*X_a, first.rotation, first.position)
    return Passive(joint, a, F, b, compose(*X_b, second.rotation, second.position))


def _check(fixed: Sequence[Joint], bodies: Mapping[str, tuple[int, Transform]]) -> None:
    """Raises an error where joints that are held violate the closure of their loop."""
    for joint in fixed:
        passive = _passive(joint, bodies)
        seen = compose(*inverse(*passive.F), *passive.M)
        rows = [float(evaluate(as_expr(x))) for x in joint.type.residual(*seen) or []]
        gap = max((abs(x) for x in rows), default=0.0)
        if passive.a == passive.b and gap > NEAR:
            raise AssemblyError(
                f"what is held leaves {gap:.3g} at joint '{joint.name}'.",
                hint="Hold fewer coordinates, or others.",
                place=joint.place,
            )
