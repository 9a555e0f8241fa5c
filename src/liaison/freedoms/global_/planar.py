"""Planar linkages as polynomial equations: headings on circles, slides, two rows for each loop.

Links that hinges with parallel axes and sliders across them join stay in parallel planes. The
heading of a link is a point (c, s) of the unit circle; links that sliders join share it. Along a
tree of the graph every link's place is a polynomial; each joint off the tree asks two equations:

    r_a + R_a (F + x d) − (r_b + R_b M) = 0,   c² + s² = 1                     (mobility-11)

Why it is here: it is the only complete solver for several loops; in space their equations are too
many for any engine.

Public names: PlanarLinkage, planar_linkage.

Source: JB94 §2.1 (natural coordinates); docs/theory/mobility.md (mobility-11).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, final

from liaison.expr import as_expr, evaluate
from liaison.freedoms.engines.terms import Terms, combined, raised
from liaison.model import Prismatic, Revolute
from liaison.spatial import Array, product

from .links import Links, Passive

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
