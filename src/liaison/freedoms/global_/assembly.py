"""assembly_modes: every way in which a mechanism closes, some of its coordinates held.

Completeness is claimed only where it is proved: planar linkages by one polynomial over the
rationals, six hinges in space by elimination, platforms on six legs through msolve. Otherwise
positions found from many starts are given, each proved to exist, without a claim to be all.

Planar linkages as polynomial equations: headings on circles, slides, two rows for each loop.

Links that hinges with parallel axes and sliders across them join stay in parallel planes. The
heading of a link is a point (c, s) of the unit circle; links that sliders join share it. Along a
tree of the graph every link's place is a polynomial; each joint off the tree asks two equations:

    r_a + R_a (F + x d) − (r_b + R_b M) = 0,   c² + s² = 1                     (mobility-11)

Why it is here: it is the only complete solver for several loops; in space their equations are too
many for any engine.

Source: JB94 §2.1 (natural coordinates); docs/theory/mobility.md (mobility-11).

Public names: AssemblyModes, assembly_modes, modes_of, PlanarLinkage, planar_linkage.

Source: docs/theory/mobility.md, "All assembly modes".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, final

import numpy as np

from liaison.errors import DerivationError
from liaison.exact.evidence import Evidence
from liaison.expr import as_expr, evaluate
from liaison.freedoms.clock import MEMORY_LIMIT, TIME_LIMIT, Exhausted, bounded, seconds_left
from liaison.freedoms.engines.engines import EngineError, NotThere
from liaison.freedoms.engines.quotient import Infinite
from liaison.freedoms.engines.systems import PolynomialSystem, Solution, solved
from liaison.freedoms.engines.terms import Terms, combined, raised
from liaison.freedoms.evidence import modes_evidence
from liaison.lazy import Shown
from liaison.model import Mechanism, Prismatic, Revolute
from liaison.numeric import State
from liaison.spatial import Array, product
from liaison.tree import Tree

from .hinge_modes import hinge_answer
from .legs import Leg, leg_pose, legs_of
from .links import Links, Passive, links_of
from .local_modes import LocalAnswer, local_answer
from .modes import Mode, closed, joint_coordinates, mode_at, sorted_modes
from .platforms import plate_answer, some_poses

PARALLEL = 1e-12
"""Sine of an angle below which axes count as parallel, and gap along them [m] as none."""


@final
@dataclass(frozen=True, slots=True)
class PlanarLinkage:
    """Equations of a planar linkage, and how poses follow from their unknowns."""

    links: Links
    count: int  # unknowns
    equations: tuple[Terms, ...]
    headings: dict[int, tuple[Terms, Terms]]  # cosine and sine of each link's heading
    places: dict[int, tuple[Terms, Terms]]  # of each link's origin in the plane
    heights: dict[int, Any]
    frames: dict[int, Array]  # of each link: two axes in the plane, and the normal, as columns
    unclosed: str = ""  # why no position closes it, if so


@final
@dataclass
class _Builder:
    links: Links
    frames: dict[int, Array] = field(default_factory=dict)
    tree: list[tuple[Passive, bool]] = field(default_factory=list)  # and whether from a to b
    chords: list[Passive] = field(default_factory=list)

    def hang(self) -> bool:
        """Spans the links from the ground; False where they are not planar."""
        joints = self.links.joints
        hinge = next((j for j in joints if isinstance(j.joint.type, Revolute)), None)
        if hinge is None or not all(isinstance(j.joint.type, Revolute | Prismatic) for j in joints):
            return False
        self.frames = {hinge.a: hinge.F[0]}
        for j, forward in self._spanned(hinge.a)[0]:
            turned = product(j.M[0], j.F[0].T)  # a's axes seen in b, the joint at zero
            if forward:
                self.frames[j.b] = product(turned, self.frames[j.a])
            else:
                self.frames[j.a] = product(turned.T, self.frames[j.b])
        self.tree, self.chords = self._spanned(0)
        return all(self._is_planar(j) for j in joints)

    def _spanned(self, root: int) -> tuple[list[tuple[Passive, bool]], list[Passive]]:
        """Joints of a tree from a link on, each with whether it is passed from a to b; the rest."""
        reached, waiting = {root}, list(self.links.joints)
        tree_joints: list[tuple[Passive, bool]] = []
        while step := next((j for j in waiting if (j.a in reached) != (j.b in reached)), None):
            waiting.remove(step)
            tree_joints.append((step, step.a in reached))
            reached |= {step.a, step.b}
        return tree_joints, waiting

    def _is_planar(self, j: Passive) -> bool:
        """Its axis is along the normal on both links (hinge) or across it (slider)."""
        along = [self._seen(j.F[0][:, 2], j.a), self._seen(j.M[0][:, 2], j.b)]
        if isinstance(j.joint.type, Revolute):
            return all(abs(v[0]) + abs(v[1]) < PARALLEL for v in along)
        return all(abs(v[2]) < PARALLEL for v in along)

    def _seen(self, v: Array, link: int) -> list[float]:
        return [float(evaluate(as_expr(x))) for x in product(self.frames[link].T, v)]


def planar_linkage(links: Links) -> PlanarLinkage | None:
    """The equations of a planar linkage; None where the links are not planar."""
    builder = _Builder(links)
    return _Equations(builder).linkage() if builder.hang() else None


class _Equations:
    """Headings, places and equations, as polynomials of the unknowns."""

    def __init__(self, builder: _Builder) -> None:
        self.builder, self.links, self.frames = builder, builder.links, builder.frames
        self.unclosed = ""
        self.offsets = self._classes()
        roots = sorted({root for root, _, _ in self.offsets.values()} - {0})
        self.place = {root: 2 * k for k, root in enumerate(roots)}
        sliders = [j for j in self.links.joints if isinstance(j.joint.type, Prismatic)]
        self.slide = {j.name: 2 * len(roots) + k for k, j in enumerate(sliders)}
        self.count = 2 * len(roots) + len(sliders)

    def _classes(self) -> dict[int, tuple[int, Any, Any]]:
        """Each link's class of one heading: its root, and the turn from the root's heading."""
        classes = {link: (link, 1, 0) for link in self.frames}
        for j in self.links.joints:
            if not isinstance(j.joint.type, Prismatic):
                continue
            turned = product(
                product(self.frames[j.a].T, j.F[0]), product(j.M[0].T, self.frames[j.b])
            )
            c, s = turned[0, 0], turned[1, 0]  # b's heading is a's, turned by this
            (ra, ca, sa), (rb, cb, sb) = classes[j.a], classes[j.b]
            c1, s1 = ca * c - sa * s, sa * c + ca * s  # b's heading from a's root
            if _float(turned[2, 2]) < 0:
                self.unclosed = f"slider '{j.name}' would have to be put in the wrong way round"
            elif ra == rb:
                if abs(_float(c1 - cb)) + abs(_float(s1 - sb)) > PARALLEL:
                    self.unclosed = f"the directions at slider '{j.name}' do not fit"
            else:
                low, high = min(ra, rb), max(ra, rb)
                c2, s2 = c1 * cb + s1 * sb, s1 * cb - c1 * sb  # b's root from a's root
                turn = (c2, s2) if low == ra else (c2, -s2)
                classes = {link: (low, *_turned((c, s), turn)) if root == high else (root, c, s)
                         for link, (root, c, s) in classes.items()}  # fmt: skip
        return classes

    def linkage(self) -> PlanarLinkage:
        """All of it."""
        headings = {link: self._heading(link) for link in self.frames}
        places: dict[int, tuple[Terms, Terms]] = {0: ({}, {})}
        heights: dict[int, Any] = {0: 0}
        for j, forward in self.builder.tree:
            near, far = (j.a, j.b) if forward else (j.b, j.a)
            step = self._step(j, headings)
            sign = 1 if forward else -1
            places[far] = _pair(places[near], step, sign)
            heights[far] = heights[near] + sign * self._rise(j)
        equations: list[Terms] = [
            {self._power(k, 2): 1, self._power(k + 1, 2): 1, self._power(k, 0): -1}
            for k in self.place.values()
        ]
        for j in self.builder.chords:
            gap = _pair(_pair(places[j.a], self._step(j, headings), 1), places[j.b], -1)
            equations += [row for row in gap if row]
            self._fits(j, heights)
        for j in self.links.joints:
            self._stands(j)
        return PlanarLinkage(self.links, self.count, tuple(equations), headings, places, heights,
                             self.frames, self.unclosed)  # fmt: skip

    def _fits(self, j: Passive, heights: dict[int, Any]) -> None:
        """Notes a joint off the tree that the normal direction keeps open."""
        gap = _float(heights[j.a] + self._rise(j) - heights[j.b])
        if abs(gap) > PARALLEL:
            self.unclosed = f"joint '{j.name}' stays open by {abs(gap):.6g} m across the plane"

    def _stands(self, j: Passive) -> None:
        """Notes a hinge whose axis points one way on one link and the other way on the other."""
        if not isinstance(j.joint.type, Revolute):
            return
        up, down = (
            _float(product(self.frames[k].T, X[0][:, 2])[2]) for k, X in ((j.a, j.F), (j.b, j.M))
        )
        if up * down < 0:
            self.unclosed = f"hinge '{j.name}' would have to be put in the wrong way round"

    def _rise(self, j: Passive) -> Any:
        """From a's origin to b's along the normal."""
        first = product(self.frames[j.a].T, j.F[1])[2]
        return first - product(self.frames[j.b].T, j.M[1])[2]

    def _step(self, j: Passive, headings: dict[int, tuple[Terms, Terms]]) -> tuple[Terms, Terms]:
        """From a's origin to b's in the plane."""
        F = product(self.frames[j.a].T, j.F[1])
        M = product(self.frames[j.b].T, j.M[1])
        first = _rotated(headings[j.a], F)
        offset = _pair(first, _rotated(headings[j.b], M), -1)
        if j.name in self.slide:
            along = _rotated(headings[j.a], product(self.frames[j.a].T, j.F[0][:, 2]))
            x = self.slide[j.name]
            offset = _pair(offset, (raised(along[0], x), raised(along[1], x)), 1)
        return offset

    def _power(self, k: int, e: int) -> tuple[int, ...]:
        return tuple(e if i == k else 0 for i in range(self.count))

    def _heading(self, link: int) -> tuple[Terms, Terms]:
        root, c, s = self.offsets[link]
        if root == 0:
            one = self._power(0, 0)
            return {one: c}, {one: s}
        C, S = self._power(self.place[root], 1), self._power(self.place[root] + 1, 1)
        return {C: c, S: -s}, {S: c, C: s}


def _turned(pair: tuple[Any, Any], turn: tuple[Any, Any]) -> tuple[Any, Any]:
    (c, s), (a, b) = pair, turn
    return c * a - s * b, s * a + c * b


def _rotated(heading: tuple[Terms, Terms], v: Array) -> tuple[Terms, Terms]:
    """A vector of a link in the plane's axes."""
    C, S = heading
    return combined((v[0], -v[1]), (C, S)), combined((v[0], v[1]), (S, C))


def _pair(a: tuple[Terms, Terms], b: tuple[Terms, Terms], sign: int) -> tuple[Terms, Terms]:
    return combined((1, sign), (a[0], b[0])), combined((1, sign), (a[1], b[1]))


def _float(x: Any) -> float:
    return float(evaluate(as_expr(x)))


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
