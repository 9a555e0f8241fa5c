"""assembly_modes: every way in which a mechanism closes, some of its coordinates held.

Completeness is claimed only where it is proved: planar linkages by one polynomial over the
rationals, six hinges in space by elimination, platforms on six legs through msolve. Otherwise
positions found from many starts are given, each proved to exist, without a claim to be all.

Public names: AssemblyModes, assembly_modes, modes_of.

Source: docs/theory/mobility.md, "All assembly modes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from liaison.errors import DerivationError
from liaison.exact.evidence import Evidence
from liaison.expr import as_expr, evaluate
from liaison.freedoms.clock import MEMORY_LIMIT, TIME_LIMIT, Exhausted, bounded, seconds_left
from liaison.freedoms.engines.engines import EngineError, NotThere
from liaison.freedoms.engines.quotient import Infinite
from liaison.freedoms.engines.systems import PolynomialSystem, Solution, solved
from liaison.freedoms.evidence import modes_evidence
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.numeric import State
from liaison.tree import Tree

from .hinge_modes import hinge_answer
from .legs import Leg, leg_pose, legs_of
from .links import Links, links_of
from .local_modes import LocalAnswer, local_answer
from .modes import Mode, closed, joint_coordinates, mode_at, sorted_modes
from .planar import PlanarLinkage, planar_linkage
from .platforms import plate_answer, some_poses

Poses: TypeAlias = dict[int, tuple[Any, Any]]


@final
@dataclass(frozen=True, slots=True, repr=False)
class AssemblyModes(Shown):
    """Positions in which a mechanism closes, and whether they are all.

    `complex` counts solutions over the complex numbers with multiplicity, as the theory does: 2 for
    a four-bar, 6 for a 3-RPR platform, 16 for six hinges, 40 for six legs; None if not known.

    Example:
        >>> import liaison
        >>> modes = liaison.assembly_modes("examples/four_bar.lsd", at={"A": 1.2})
        >>> len(modes.modes), modes.is_complete
        (2, True)
    """

    name: str
    modes: tuple[Mode, ...]
    is_complete: bool
    why: str  # complete, or not
    method: str
    complex: int | None
    held: Mapping[str, float]
    notes: tuple[str, ...] = ()
    seed: int = 0  # of everything drawn

    def __len__(self) -> int:
        return len(self.modes)

    @property
    def states(self) -> tuple[State, ...]:
        """The modes as states of the mechanism's tree, at rest."""
        return tuple(mode.state for mode in self.modes)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "name": self.name, "count": len(self.modes), "is_complete": self.is_complete,
            "why": self.why, "method": self.method, "complex": self.complex,
            "held": dict(self.held), "modes": [mode.to_dict() for mode in self.modes],
            "notes": list(self.notes), "evidence": [x.to_dict() for x in self.evidence],
        }  # fmt: skip

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """That these modes exist, and that they are all."""
        return modes_evidence(self)

    def __str__(self) -> str:
        count = len(self.modes)
        kind = "assembly mode" if count == 1 else "assembly modes"
        lines = [f"{self.name}: {count} {kind}, {'all' if self.is_complete else 'perhaps not all'}"]
        lines += [f"  {text}" for text in self._listed()]
        counted = "" if self.complex is None else f"; {self.complex} over the complex numbers"
        lines.append(f"  {self.why} ({self.method}{counted})")
        return "\n".join([*lines, *(f"  note: {note}" for note in self.notes)])

    def _listed(self) -> list[str]:
        """Every mode that is proved; of many others the first few."""
        open_ones = [mode for mode in self.modes if not mode.proof]
        left_out = {x.label for x in open_ones[LISTED:]} if len(open_ones) > 2 * LISTED else set()
        texts = [str(mode) for mode in self.modes if mode.label not in left_out]
        more = f"… and {len(left_out)} more that are not proved; --json has them all"
        return [*texts, *([more] if left_out else [])]


def assembly_modes(
    model: Mechanism | Tree,
    *,
    at: Mapping[str, Any] | None = None,
    seed: int = 0,
    time_limit: float | str = TIME_LIMIT,
    memory_limit: float = MEMORY_LIMIT,
) -> AssemblyModes:
    """Every way in which a mechanism closes while some of its coordinates are held.

    Args:
        model: a mechanism, or a tree of one.
        at: held coordinates by label [m, rad], exact where they can be; imposed motions are held at
            t = 0 besides. As many as its mobility.
        seed: of everything drawn.
        time_limit: wall clock [s].
        memory_limit: bytes.

    Raises:
        DerivationError: the mechanism still moves, or a relation is not known here.
        AssemblyError: what is held contradicts itself.
    """
    mechanism = model.mechanism if isinstance(model, Tree) else model
    with bounded(time_limit, memory_limit):
        return replace(modes_of(mechanism, mechanism, at or {}, seed), seed=seed)


def modes_of(
    closed_one: Mechanism, mechanism: Mechanism, at: Mapping[str, Any], seed: int
) -> AssemblyModes:
    """All modes of one mechanism, as states of another that has the same joints or fewer."""
    return _solved(mechanism, links_of(closed_one, at), seed)


def _solved(mechanism: Mechanism, links: Links, seed: int) -> AssemblyModes:
    if not links.joints:
        modes = [mode_at(mechanism, links, {}, _ALONE)]
        return _answer(mechanism, links, modes, (True, "no loop is left to close"), "held", 1)
    try:
        with bounded(max(ENGINES * seconds_left(), OVER)):
            answer = _completely(mechanism, links, seed)
        if answer is not None:
            return answer
        return _locally(mechanism, links, seed, UNKNOWN_KIND)
    except Infinite:
        raise _still_moving(mechanism, links) from None
    except (NotThere, EngineError, Exhausted) as error:
        return _locally(mechanism, links, seed, f"not computed: {error.message.rstrip('.')}")


def _completely(mechanism: Mechanism, links: Links, seed: int) -> AssemblyModes | None:
    """By a method that knows all modes; None where none fits."""
    plane = planar_linkage(links)
    if plane is not None:
        return _in_the_plane(mechanism, plane, seed)
    hinges = hinge_answer(links, seed)
    if hinges is not None and (hinges.is_complete or hinges.positions):
        modes = [mode_at(mechanism, links, poses, solution) for poses, solution in hinges.positions]
        complete = hinges.is_complete, hinges.why
        return _answer(mechanism, links, modes, complete, hinges.method, hinges.complex)
    platform = legs_of(links)
    return None if platform is None else _on_legs(mechanism, links, *platform, seed)


def _on_legs(
    mechanism: Mechanism, links: Links, plate: int, legs: Sequence[Leg], seed: int
) -> AssemblyModes:
    """A plate on legs: its poses, and then those of the legs."""
    try:
        with bounded(max(ENGINES * seconds_left(), OVER)):
            answer, complete = plate_answer(legs, seed), None
    except (NotThere, EngineError, Exhausted) as error:
        answer = some_poses(legs, seed)
        complete = (
            False,
            f"not computed: {error.message.rstrip('.')}; these were found from drawn starts",
        )
    modes = []
    for pose, solution in zip(answer.poses, answer.solved.real, strict=True):
        poses: Poses = {0: (np.eye(3), np.zeros(3)), plate: pose}
        for leg in legs:
            if leg.link is not None:
                poses[leg.link] = _leg(mechanism, links, leg, poses, plate)
        modes.append(mode_at(mechanism, links, poses, solution))
    method = f"plate on {len(legs)} legs, {answer.solved.engine}"
    count = answer.solved.multiplicity or None
    return _answer(mechanism, links, modes, complete or closed(answer.solved), method, count)


def _leg(mechanism: Mechanism, links: Links, leg: Leg, poses: Poses, plate: int) -> tuple[Any, Any]:
    """The pose of a leg that turns its joints least from their starts."""
    starts = {s.label: float(evaluate(as_expr(s.value))) for s in links.mechanism.starts}
    choices = [leg_pose(leg, poses, plate, turned) for turned in (False, True)]

    def away(pose: tuple[Any, Any]) -> float:
        total = 0.0
        for end in leg.ends:
            if end.axis is not None:
                values = joint_coordinates(links, end.joint, {**poses, leg.link or 0: pose})
                labels = end.joint.joint.coordinates
                total += sum(
                    abs(x - starts.get(k, 0.0)) for k, x in zip(labels, values, strict=True)
                )
        return total

    return min(choices, key=away)


def _locally(mechanism: Mechanism, links: Links, seed: int, why: str) -> AssemblyModes:
    """Positions near drawn starts, without a claim to be all."""
    try:
        answer = local_answer(links, seed)
    except Exhausted as error:
        answer = LocalAnswer((), 0, -1, 0, False)
        why = f"{why}; {error.message.rstrip('.')}"
    if 0 <= answer.rank < answer.unknowns and not _has_idle_motion(links):
        raise _still_moving(mechanism, links)
    modes = [mode_at(mechanism, links, poses, solution) for poses, solution in answer.positions]
    text = f"{why}; these were found from {answer.starts} starts"
    result = _answer(mechanism, links, modes, (False, text), "Newton's steps", None)
    notes = [REDUNDANT] if answer.is_redundant else []
    if answer.singular and answer.rank == answer.unknowns:
        notes.append(SINGULAR.format(answer.singular, len(modes)))
    return replace(result, notes=(*result.notes, *notes))


UNKNOWN_KIND = "all modes are known for planar linkages, loops of six hinges and plates on six legs"
REDUNDANT = (
    "more equations than unknowns: proofs are of independent ones, the others hold in floats"
)
SINGULAR = (
    "at {} of these {} positions the equations lose rank: they may be points of a motion that is "
    "left, not single modes"
)
LISTED = 3
"""Modes without proof that are printed, where there are many."""

ENGINES = 0.7
"""Part of the time that complete methods may take, before single modes are sought."""

OVER = 1e-9
"""Seconds for complete methods where the time is over already: they end at their first look."""


def _has_idle_motion(links: Links) -> bool:
    """A rod between two ball joints spins freely: positions are not isolated, and need not be."""
    platform = legs_of(links)
    return platform is not None and any(
        leg.link is not None and all(end.axis is None for end in leg.ends) for leg in platform[1]
    )


_ALONE = Solution((), "exact", 0.0, 1)


def _in_the_plane(mechanism: Mechanism, plane: PlanarLinkage, seed: int) -> AssemblyModes:
    """A planar linkage: its polynomial system, solved."""
    links = plane.links
    if plane.unclosed:
        return _answer(mechanism, links, [], (True, f"none: {plane.unclosed}"), "planar", 0)
    system = PolynomialSystem(plane.count, plane.equations)
    solution = solved(system, seed=seed)
    modes = [mode_at(mechanism, links, _planar_poses(plane, s.x), s) for s in solution.real]
    complete = closed(solution)
    return _answer(
        mechanism, links, modes, complete, f"planar, {solution.engine}", solution.multiplicity
    )


def _planar_poses(plane: PlanarLinkage, x: tuple[float, ...]) -> Poses:
    """Poses of the links in ground's axes."""

    def number(c: Any) -> float:
        return float(evaluate(as_expr(c)))

    def at(f: Any) -> float:
        return sum(number(c) * float(np.prod([v**e for v, e in zip(x, m, strict=True)]))
                   for m, c in f.items())  # fmt: skip

    frames = {k: np.array([[number(e) for e in row] for row in B]) for k, B in plane.frames.items()}
    poses: Poses = {}
    for link, (C, S) in plane.headings.items():
        c, s = at(C), at(S)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        place = [at(f) for f in plane.places[link]] + [number(plane.heights[link])]
        poses[link] = frames[0] @ turn @ frames[link].T, frames[0] @ np.array(place)
    return poses


def _answer(
    mechanism: Mechanism,
    links: Links,
    modes: list[Mode],
    complete: tuple[bool, str],
    method: str,
    complex_count: int | None,
) -> AssemblyModes:
    held = {label: float(evaluate(as_expr(x))) for label, x in links.held.items()}
    return AssemblyModes(
        mechanism.name, sorted_modes(modes), *complete, method, complex_count, held, links.notes
    )


def _still_moving(mechanism: Mechanism, links: Links) -> DerivationError:
    free = [label for j in links.joints for label in j.joint.coordinates]
    return DerivationError(
        f"'{mechanism.name}' still moves, or could over the complex numbers, with what is held: it "
        "closes in infinitely many positions.",
        hint=f"Hold one more of {', '.join(free[:12])}.",
    )
