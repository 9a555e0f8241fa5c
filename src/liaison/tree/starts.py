"""Starts of a tree: where assembling begins, which coordinates are held there, which may move.

A *start* is held; a *guess* is where the search begins, and moves as the closures need. Starts that
follow from starts: through couplings, and from laws of time. Assembling moves coordinates a little
at a time; a rotor behind a gear may be many turns away.

Starts at which the angles of a joint are singular: an error before any division by zero.

At a change point two branches of a motion cross, and the closures lose rank. With σ the singular
value of G that vanishes there, positions are known to rounding over σ, and the direction of the
branch to rounding over σ². A start is an error where its speeds belong to no branch to KEPT, where
the change point is nearer than LEAST, or ahead of the motion and nearer than AHEAD: what the motion
does then depends on rounding. On the change point itself the speeds say by which branch it leaves.

Public names: Starts, Begin, followed, fixed_values, start_place, check_attitudes, check_speeds,
is_weak, uncertainty, check_distance, AHEAD.

Source: docs/theory/closures.md (closure-5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import AssemblyError, NamingError, Place
from liaison.expr import Expr, as_expr, evaluate, symbol, symbols_of
from liaison.model import Attitude, Joint, Mechanism, OfCoordinates
from liaison.numeric import State
from liaison.spatial import number
from liaison.spatial.rotations import SINGULAR

from .described import Described
from .tree import Tree, as_float

Floats = NDArray[np.float64]

ROUNDING = 1e-12
"""How far the square of a quaternion's length may be from 1."""

KEPT = 1e-7
"""Part of the speeds that meeting the closures in full may change."""

EXACT = 1e-13
"""Part of the largest singular value up to which another is 0 by rounding."""

SMALL = 3e-3
"""Part of the largest up to which one is looked at closer."""

LOOSE = 1e-6
"""Part of the largest up to which one is 0 away from a change point."""

AHEAD = 1e-3
"""Way of the fastest coordinate within which a change point is looked for [rad, m]."""

UNCORRECTED = 1e-16
"""|Φ| beside 1 + |q| that a run leaves as it is."""

LEAST = 3e-7
"""The nearest a motion may begin that leaves a change point, likewise."""

HINT = (
    "Start on the change point itself with the speeds of one branch, or {far:.0e} or more off it."
)

POLE = 1e-3
"""Cosine of the angle above the equator, below which a direction counts as the pole."""


@final
@dataclass(frozen=True, slots=True)
class Begin:
    """Starts and guesses by label, from the mechanism and from a call.

    Attributes:
        values: where each coordinate and speed begins.
        held: labels that are held where that is possible: all starts.
        firm: labels that are held in any case: the starts of the call; of none, all starts.
    """

    values: Mapping[str, float]
    held: frozenset[str]
    firm: frozenset[str]


@final
class Starts:
    """The starts of one tree, as numbers.

    Args:
        tree: any.
    """

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.mechanism = tree.mechanism
        self.q_names = [label.name for label in tree.position_labels()]
        self.v_names = [label.name for label in tree.velocity_labels()]
        self.known = {*self.q_names, *self.v_names}
        self.neutral = np.array(
            [float(x) for node in tree.nodes for x in node.joint.type.neutral()], dtype=float
        )
        self.relations = [x for x in self.mechanism.constraints if isinstance(x, OfCoordinates)]
        self.described = Described(tree)
        self.own = {
            s.label: (as_float(s.value), s.is_guess)
            for s in self.mechanism.starts
            if s.label in self.known
        }
        formulas = [x for x, _ in self.own.values() if isinstance(x, Expr)]
        lengths = [_length(x.joint) for x in tree.nodes if x.joint.type.OWN_ROWS]
        formulas += symbols_of(lengths)
        self.are_numbers = not (self.relations or formulas)  # nothing depends on parameters
        self.take_values = not self.are_numbers or bool(self.described.parameters)

    def begin(
        self,
        start: Mapping[str, float],
        guess: Mapping[str, float],
        fixed: Mapping[Expr, float],
    ) -> Begin:
        """Starts and guesses of the mechanism, then those of the call, checked.

        Args:
            start: starts of the call; they take the place of the mechanism's own.
            guess: guesses of the call, likewise.
            fixed: the time and the parameters.

        Raises:
            NamingError: a label that no coordinate or speed has.
            AssemblyError: a value that is not finite, or of a coordinate that is not kept.
        """
        self.check((*start, *guess))
        values = {
            label: float(evaluate([x], dict(fixed))[0] if isinstance(x, Expr) else x)
            for label, (x, _) in self.own.items()
        }
        values |= {name: float(x) for name, x in {**start, **guess}.items()}
        for name, x in values.items():
            if not math.isfinite(x):
                raise AssemblyError(
                    f"the start of {name!r} is {x}; it must be a finite number.",
                    place=start_place(self.mechanism, {name}),
                )
        loose = {label for label, (_, is_guess) in self.own.items() if is_guess}
        held = frozenset(values.keys() - ((loose | guess.keys()) - start.keys()))
        return Begin(values, held, frozenset(start) if start else held)

    def check(self, labels: Collection[str]) -> None:
        """Raises an error for a label of a call that is none of this tree's."""
        of_mechanism = {*self.mechanism.coordinates, *self.mechanism.speeds}
        for name in labels:
            if name in of_mechanism - self.known:
                raise AssemblyError(
                    f"{name!r} is of a joint that is cut in this tree and keeps no coordinates.",
                    hint="Make it a start of the mechanism before spanning, or cut another joint: "
                    "span(mechanism, cuts=…).",
                )
            if name not in self.known:
                raise NamingError.unknown("coordinate or speed", name, self.known)

    def vary(self, begin: Begin, labels: Collection[str], parameters: Collection[str]) -> bool:
        """Whether positions without a start follow from labels or parameters that vary."""
        changes = {*self.q_names, *self.described.parameters} & {*labels, *parameters}
        return bool(changes) and bool(self.described.following(begin.values))

    def positions(
        self, begin: Begin, held: Collection[str], fixed: Mapping[Expr, float]
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Where the search begins, and which velocities' directions are held."""
        firm = {name: x for name, x in begin.values.items() if name in begin.held}
        starts = dict(begin.values)
        if self.relations:
            known = followed(self.relations, firm, fixed)
            starts = followed(self.relations, {**begin.values, **known}, fixed)
            starts = self._led(starts, fixed)
        q = np.array(
            [starts.get(name, x) for name, x in zip(self.q_names, self.neutral, strict=True)],
            dtype=float,
        )
        q = self.described.positions(q, starts, held, fixed)
        mask = np.zeros(self.tree.nv, dtype=bool)
        for node in self.tree.nodes:
            kind = node.joint.type
            is_held = [name in held for name in self.q_names[node.q]]
            if kind.nq == kind.nv:
                mask[node.v] = is_held
            else:
                mask[node.v] = any(is_held)
                if kind.OWN_ROWS:  # a twist: the turn, then the place of the origin
                    mask[node.v] = [*[any(is_held[3:])] * 3, *[any(is_held[:3])] * 3]
                    q[node.q] = self._on_the_sphere(node.joint, q[node.q], begin, fixed)
                q[node.q] = self._attitude(node.joint, q[node.q], begin.values)
        return q, mask

    def _led(self, starts: dict[str, float], fixed: Mapping[Expr, float]) -> dict[str, float]:
        """Starts with those that follow from coordinates at zero: a follower leads nobody."""
        neutral = dict(zip(self.q_names, self.neutral.tolist(), strict=True))
        waiting = [x for x in self.relations if x.holds() in neutral.keys() - starts.keys()]
        while waiting:
            following = {x.holds() for x in waiting}
            ready = [x for x in waiting if not following & ({*x.labels()} - {x.holds()})]
            for x in ready:
                leaders = {*x.labels()} - {x.holds()}
                at_zero = {name: starts.get(name, neutral.get(name, 0.0)) for name in leaders}
                value = followed([x], at_zero, fixed).get(x.holds(), neutral[x.holds()])
                if value != neutral[x.holds()]:
                    starts = {**starts, **at_zero, x.holds(): value}
            waiting = [x for x in waiting if x not in ready] if ready else []
        return starts

    def _on_the_sphere(
        self, joint: Joint, q: Floats, begin: Begin, fixed: Mapping[Expr, float]
    ) -> Floats:
        """Coordinates of a rod: parts of its place that are not held make up its length."""
        names = joint.coordinates[:3]
        kept = np.array([name in begin.held for name in names], dtype=bool)
        named = np.array([name in begin.values for name in names], dtype=bool)
        length = _length(joint)
        if not kept.any() or kept.all() or not set(symbols_of([length])) <= fixed.keys():
            return q
        place = q[:3].copy()
        if np.any(place[named & ~kept]):  # guesses go before the neutral position
            place[~named] = 0.0
        left = float(evaluate([length], dict(fixed))[0]) ** 2 - float(np.sum(place[kept] ** 2))
        if not np.any(place[~kept]):
            place[np.argmin(kept)] = 1.0
        place[~kept] *= np.sqrt(max(left, 0.0)) / np.linalg.norm(place[~kept])
        return np.concatenate([place, q[3:]])

    def _attitude(self, joint: Joint, q: Floats, values: Mapping[str, float]) -> list[float]:
        """Coordinates that are an attitude; of a quaternion the parts that are given stay.

        Raises:
            AssemblyError: no unit quaternion has these parts, or they do not determine the others.
        """
        kind = joint.type
        attitude = getattr(kind, "attitude", None)
        count = len(attitude.NAMES) if isinstance(attitude, Attitude) else 0
        kept = np.array([name in values for name in joint.coordinates[-count:]], dtype=bool)
        if count != 4 or not 0 < np.count_nonzero(kept) < count:
            return [float(x) for x in kind.normalized(q.tolist())]
        e = np.array(q[-count:])
        left, others = 1.0 - float(np.sum(e[kept] ** 2)), float(np.sum(e[~kept] ** 2))
        names = [x for x, is_kept in zip(joint.coordinates[-count:], kept, strict=True) if is_kept]
        if left < -ROUNDING or (left > ROUNDING and others == 0.0):
            why = "is longer than 1" if left < 0 else "leaves the others open"
            raise AssemblyError(
                f"the part {', '.join(names)} of the quaternion of joint {joint.name!r} {why}: it "
                "must be of length 1.",
                place=start_place(self.mechanism, set(names)),
                hint="Give all four parts, or an angle and an axis.",
            )
        e[~kept] *= np.sqrt(max(left, 0.0) / others) if others else 0.0
        return [*q[:-count].tolist(), *e.tolist()]

    def speeds(self, begin: Begin, held: Collection[str]) -> tuple[Floats, NDArray[np.bool_]]:
        """The speeds from which the least change is taken, and which of them are held."""
        begun = {k: x for k, x in begin.values.items() if k in held or k not in begin.held}
        v = np.array([begun.get(name, 0.0) for name in self.v_names], dtype=float)
        return v, np.array([name in held for name in self.v_names], dtype=bool)


def _length(rod: Joint) -> Expr:
    return as_expr(rod.type.length)  # type: ignore[attr-defined]


def fixed_values(tree: Tree, overrides: Mapping[str, float], t: float) -> dict[Expr, float]:
    """The time, parameters and inputs by symbol; parameters without a value are left out.

    Raises:
        NamingError: no parameter has that name.
    """
    mechanism = tree.mechanism
    known = [parameter.name for parameter in mechanism.parameters]
    for name in overrides:
        if name not in known:
            raise NamingError.unknown("parameter", name, known)
    values = {
        symbol(x.name): float(as_float(x.value))
        for x in mechanism.parameters
        if x.value is not None
    }
    values |= {symbol(x.name): float(as_float(x.default)) for x in mechanism.inputs}
    values |= {symbol(name): float(value) for name, value in overrides.items()}
    return {symbol("t"): t} | values


def followed(
    relations: Collection[OfCoordinates],
    starts: Mapping[str, float],
    fixed: Mapping[Expr, float],
) -> dict[str, float]:
    """Prescribed positions, with those that follow from laws and couplings.

    Args:
        relations: of the mechanism, between coordinates.
        starts: positions by label; they stay as they are.
        fixed: the time and the parameters.
    """

    return implied_starts(
        relations, starts, lambda x: float(evaluate([as_expr(x)], dict(fixed))[0])
    )


def implied_starts(
    relations: Collection[OfCoordinates], starts: Mapping[str, Any], value: Callable[[Any], Any]
) -> dict[str, Any]:
    """The same on numbers of any kind, which `value` makes of formulas."""
    alone = [x.implied({}, value) for x in relations]
    known, size = dict(starts), -1
    for implied in alone:
        for label, position in implied.items():
            known.setdefault(label, position)
    linked = [x for x, implied in zip(relations, alone, strict=True) if not implied]
    while size < len(known):
        size = len(known)
        for x in linked:
            for label, position in x.implied(known, value).items():
                known.setdefault(label, position)
    return known


def start_place(mechanism: Mechanism, labels: Collection[str]) -> Place | None:
    """Where the author gave the last of these starts."""
    places = [start.place for start in mechanism.starts if start.label in labels]
    return places[-1] if places else None


def check_attitudes(tree: Tree, state: State) -> None:
    """Raises an error for a state in which the angles of a joint have no rates.

    Raises:
        AssemblyError: the outer two axes of such a joint are one, or a rod points along z.
    """
    for node in tree.nodes:
        size = number(node.joint.type.regularity(state.q[node.q].tolist()))
        if size is not None and abs(size) < POLE:
            raise _at_pole(node.joint)
        attitude = getattr(node.joint.type, "attitude", None)
        if not isinstance(attitude, Attitude):
            continue
        e = [float(x) for x in state.q[node.q][-len(attitude.NAMES) :]]
        if abs(float(attitude.regularity(e))) < SINGULAR:
            raise _singular(node.joint, e[1])


def _at_pole(joint: Joint) -> AssemblyError:
    first, second = joint.coordinates[:2]
    return AssemblyError(
        f"the rod {joint.name!r} starts along z of its first frame, where "
        f"{first} has no rate: {second} is 90 deg there.",
        place=joint.place,
        hint=f"Do not name {first} and {second}: a rod without these angles starts and passes "
        f"there (start {joint.name} = [0, 0, -1] m). Or turn both frames so that z is across it: "
        "join 90 deg || [0, 1, 0] @ … and 90 deg || [0, 1, 0] @ … with rod …",
    )


def _singular(joint: Joint, middle: float) -> AssemblyError:
    first, second, third = joint.coordinates[-3:]
    return AssemblyError(
        f"the angles of joint {joint.name!r} are singular where it starts: at {second} = "
        f"{middle:g} rad, {first} and {third} turn about one axis, and their rates have no values.",
        place=joint.place,
        hint=f"Start at another {second}, or take its attitude as a quaternion or a matrix.",
    )


def check_speeds(
    G: Floats, residual: Floats, v: Floats, held: Mapping[str, float], place: Place | None
) -> None:
    """Raises an error for speeds that are of no branch, though they leave little in the closures.

    Args:
        G: rows of the closures.
        residual: G v − ν.
        v: speeds.
        held: speeds that are held, by label.
        place: where they are written.
    """
    missing = np.linalg.lstsq(G, residual, rcond=EXACT)[0]
    size = float(np.max(np.abs(missing), initial=0.0))
    if size <= KEPT * max(1.0, float(np.max(np.abs(v), initial=0.0))):
        return
    speeds = ", ".join(f"{name} = {x:.6g}" for name, x in held.items())
    raise AssemblyError(
        f"the speeds {speeds or 'at rest'} are of no branch of the motion: the start lies beside a "
        f"change point, where branches cross, and meeting the closures changes speeds by "
        f"{size:.2g}.",
        hint=HINT.format(far=AHEAD),
        place=place,
    )


def is_weak(G: Floats, lengths: Sequence[bool], slides: Sequence[bool]) -> bool:
    """Whether some singular value is small, and more than rounding, in a unit of length of G's own.

    Args:
        G: rows of the closures.
        lengths: which rows hold lengths.
        slides: which velocities are in m/s.
    """
    rows, columns = np.asarray(lengths, dtype=bool), np.asarray(slides, dtype=bool)
    unit = float(np.max(np.abs(G[np.ix_(rows, ~columns)]), initial=0.0)) or 1.0
    scaled = np.where(rows[:, None], G / unit, G) * np.where(columns, unit, 1.0)
    s = np.linalg.svd(scaled, compute_uv=False) if G.size else np.zeros(0)
    most = float(np.max(s, initial=0.0))
    return bool(np.any((s > EXACT * most) & (s < SMALL * most)))


def uncertainty(G: Floats, phi: Floats, q: Floats) -> float:
    """How far positions are off the closures, where a run would correct them [rad, m].

    Args:
        G: rows of the closures of positions.
        phi: Φ.
        q: positions.
    """
    if np.max(np.abs(phi), initial=0.0) <= UNCORRECTED * (1.0 + np.max(np.abs(q), initial=0.0)):
        return 0.0
    return float(np.max(np.abs(np.linalg.lstsq(G, phi, rcond=EXACT)[0]), initial=0.0))


def check_distance(
    here: Floats, ahead: Floats, behind: Floats, drift: float, place: Place | None
) -> None:
    """Raises an error for a motion that begins too near a change point, or runs into one.

    Near it σ = k |s − s*| along the motion, so that |s*| = 2 h σ(0) / (σ(h) + σ(−h)).

    Args:
        here: G at the start.
        ahead: G a way h = AHEAD on, on the closures.
        behind: G as much before.
        drift: how far positions are off the closures.
        place: of the start.
    """
    now, after, before = (np.linalg.svd(x, compute_uv=False) for x in (here, ahead, behind))
    rank = min(int(np.sum(s > LOOSE * np.max(s))) for s in (after, before))
    if rank == 0 or now[rank - 1] <= EXACT * now[0]:
        return
    weakest: Any = [s[rank - 1] / s[0] for s in (now, after, before)]
    distance = 2 * AHEAD * float(weakest[0] / (weakest[1] + weakest[2]))
    is_approached = weakest[1] < weakest[2]
    least = 0.99 * AHEAD if is_approached else max(LEAST, drift / KEPT)
    if distance >= least:
        return
    where = "before" if is_approached else "behind"
    raise AssemblyError(
        f"the start lies {distance:.2g} rad or m {where} a change point, where two "
        "branches of the motion cross: which one it takes depends on rounding.",
        hint=HINT.format(far=AHEAD),
        place=place,
    )
