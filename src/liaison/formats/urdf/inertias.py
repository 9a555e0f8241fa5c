"""Where bodies are at the start, and the inertia that each joint moves there.

The bodies of a tree move by V_b = Σ s_i v_i, s_i the columns of the joints between b and the base,
and of the base itself where it is free. With M = Σ J_bᵀ I_b J_b, rotors on its diagonal,

    e_j = 1 / (M⁻¹)_jj

is the inertia against which joint j moves while no other joint resists. Loops are open here, and
a joint that mimics another moves with it. A direction that nothing with mass takes part in counts
as held.

A joint that mimics another, q = ratio · q_other + offset, starts where that puts it. Posed itself,
it puts the joint that it follows there: q_other = (q − offset) / ratio.

Public names: posed, couplings_in, led, Placing, placing_of, with_followers, joint_inertias, moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import liaison.model as model
from liaison.errors import ModelError, NamingError
from liaison.formats.quantities import number_of
from liaison.model.values import floats

from .xml import Element, number_in

SINGULAR = 1e-12
"""Of M with a diagonal of ones: eigenvalues below it are taken as 0."""

SLACK = Fraction(1, 10_000)
"""What printed digits may be off between a joint and one that mimics it [rad, m]."""


def posed(
    pose: Mapping[str, Any], joints: Sequence[model.Joint], couplings: Iterable[model.Coupling]
) -> dict[str, Fraction]:
    """Positions by joint, from words such as "*_knee".

    A word that stands for several joints leaves out those that mimic others, and those of several
    coordinates.

    Args:
        pose: numbers [rad, m], or texts with units.
        joints: of the robot.
        couplings: joints that mimic others.

    Raises:
        NamingError: a word that no joint has.
        ModelError: a word for joints of several coordinates alone, or of none.
        ArgumentError: what is no number, or has a unit of another kind.
    """
    following = {x.coordinate for x in couplings}
    single = {x.name: x for x in joints if x.type.nq == 1}
    values: dict[str, Fraction] = {}
    for word, x in pose.items():
        meant = [name for name in single if fnmatchcase(name, word)]
        if not meant:
            _check_single(word, joints)
            raise NamingError.unknown("joint", word, single)
        for name in [name for name in meant if name not in following] or meant:
            units = single[name].type.coordinate_units
            values[name] = exact(number_of(x, f"the pose of joint {name!r}", units))
    return values


def _check_single(word: str, joints: Iterable[model.Joint]) -> None:
    """Raises an error where a word stands for joints of which a pose says nothing."""
    for joint in joints:
        if not fnmatchcase(joint.name, word):
            continue
        kind = type(joint.type).__name__.lower()
        names = ", ".join(joint.coordinates)
        if names:
            what, first = f"has the coordinates {names}", joint.coordinates[0]
            hint = (
                f"Start its coordinates by their names: start={{{first!r}: …}} (--start {first}=…)."
            )
        else:
            what, hint = "does not move", "Leave it out of the pose."
        raise ModelError(
            f"joint {joint.name!r} is {kind} and {what}; a pose takes joints of one coordinate.",
            place=joint.place,
            hint=hint,
        )


def couplings_in(
    elements: Mapping[str, Element],
    joints: Iterable[model.Joint],
    *,
    strict: bool,
    notes: list[str],
) -> list[model.Coupling]:
    """<mimic> of joints: coordinate = multiplier · other + offset.

    Args:
        elements: of the joints, by name.
        joints: of the robot.
        strict: rejects a joint that mimics one that is not there; it is noted otherwise.
        notes: what is not used is added.
    """
    known = {joint.name: joint for joint in joints}
    couplings = []
    for name, element in elements.items():
        mimic = element.one("mimic")
        if mimic is None or not _can_mimic(known[name], mimic, known, strict=strict, notes=notes):
            continue
        other, place = mimic.get("joint"), mimic.place
        ratio, offset = number_in(mimic, "multiplier", "1"), number_in(mimic, "offset", "0")
        couplings.append(
            model.Coupling(f"{name} mimics {other}", name, ratio, other, offset, place=place)
        )
    _check_no_circle(couplings)
    return couplings


def _can_mimic(
    joint: model.Joint, mimic: Element, known: dict[str, model.Joint], *, strict: bool,
    notes: list[str],
) -> bool:  # fmt: skip
    """Whether a joint moves with another; a fixed joint that mimics is only noted."""
    other = mimic.get("joint")
    if joint.type.nq == 0:
        notes.append(f"joint {joint.name!r} is fixed; that it mimics {other!r} is not used")
        return False
    if other not in known:
        if strict:
            raise NamingError.unknown("joint", other, known, place=mimic.place)
        notes.append(f"joint {joint.name!r} mimics {other!r}, which is not there")
        return False
    for end in (joint, known[other]):
        if end.type.nq != 1:
            raise ModelError(
                f"joint {joint.name!r} mimics {other!r}, but {end.name!r} has "
                f"{end.type.nq} coordinates; mimicking takes one.",
                place=mimic.place,
            )
    return True


def _check_no_circle(couplings: Iterable[model.Coupling]) -> None:
    """Raises an error for joints that mimic each other in a circle.

    Raises:
        ModelError: names the joints of the circle.
    """
    follows = {x.coordinate: x for x in couplings}
    for name in follows:
        chain = [name]
        while (last := chain[-1]) in follows and last not in chain[:-1]:
            chain.append(follows[last].other)
        if chain[-1] == name and len(chain) > 1:
            steps = ", ".join(f"{x!r} mimics {y!r}" for x, y in pairwise(chain))
            raise ModelError(
                f"joints mimic each other in a circle: {steps}. None of them leads, and only some "
                "positions, or none, satisfy all.",
                place=follows[name].place,
                hint="Take one <mimic> of them out; that joint then leads the others.",
            )


def led(pose: Mapping[str, Any], couplings: Iterable[model.Coupling]) -> dict[str, Fraction]:
    """The same positions, and those of the joints that posed ones mimic.

    Raises:
        ModelError: a joint and the one that it mimics are at odds.
    """
    follows = {x.coordinate: x for x in couplings}
    values = {name: exact(x) for name, x in pose.items()}
    for name in pose:
        follower = name
        for _ in follows:
            if follower not in follows or follower not in values:
                break
            gear = follows[follower]
            ratio, offset = exact(gear.ratio), exact(gear.offset)
            if ratio:
                values.setdefault(gear.other, (values[follower] - offset) / ratio)
            _check(gear, values[follower], values.get(gear.other, Fraction(0)))
            follower = gear.other
    return values


def _check(gear: model.Coupling, own: Fraction, other: Fraction) -> None:
    """Raises an error for a position that is not where the other joint puts it."""
    implied = exact(gear.ratio) * other + exact(gear.offset)
    if abs(implied - own) <= SLACK:
        return
    raise ModelError(
        f"the pose has joint {gear.coordinate!r} at {float(own):g}; it mimics {gear.other!r}, "
        f"which at {float(other):g} puts it at {float(implied):g}.",
        place=gear.place,
        hint="Pose one of the two; the other one follows.",
    )


def exact(x: Any) -> Fraction:
    """A number as a fraction: the decimals that its text has."""
    return Fraction(str(x)) if isinstance(x, float) else Fraction(x)


class Placing(NamedTuple):
    """Bodies of a tree, placed from its base outwards."""

    poses: dict[str, tuple[Any, Any]]  # R and p of each body from the base
    before: dict[str, tuple[str, model.Joint]]  # a body's neighbour towards the base, and joint


def placing_of(
    joints: Iterable[model.Joint], values: Mapping[str, Any], base: str, turn: Any = None
) -> Placing:
    """Where bodies are over the base, joints at some values; those that are not named at 0.

    Args:
        joints: of the tree.
        values: of joints of one coordinate, and places of free ones.
        base: the body that is placed first.
        turn: R of the base; 1 if None.
    """
    R = np.eye(3) if turn is None else np.array(turn, dtype=float)
    poses = {base: (R, np.zeros(3))}
    before: dict[str, tuple[str, model.Joint]] = {}
    waiting = list(joints)
    while waiting:
        ready = [x for x in waiting if {x.predecessor.body, x.successor.body} & poses.keys()]
        if not ready:
            break
        for joint in ready:
            near, far = joint.predecessor.body, joint.successor.body
            X = _across(joint, values)
            if near not in poses:
                near, far, X = far, near, _back(X)
            if far not in poses:
                poses[far], before[far] = _after(poses[near], X), (near, joint)
        waiting = [x for x in waiting if x not in ready]
    return Placing(poses, before)


def with_followers(
    values: Mapping[str, Any], couplings: Iterable[model.Coupling]
) -> dict[str, Any]:
    """Values of joints by name, and of joints that mimic them, one after another."""
    placed, waiting = dict(values), list(couplings)
    while ready := [x for x in waiting if x.other in placed]:
        placed |= {x.coordinate: x.ratio * placed[x.other] + x.offset for x in ready}
        waiting = [x for x in waiting if x not in ready]
    return placed


def _across(joint: model.Joint, values: Mapping[str, Any]) -> tuple[Any, Any]:
    """The pose of a joint's successor in the axes of its predecessor."""
    F, M = (_numbers((x.R, x.p)) for x in (joint.predecessor, joint.successor))
    X = _numbers(joint.type.pose(np.array(_position(joint, values), dtype=object)))
    return _after(_after(F, X), _back(M))


def _position(joint: model.Joint, values: Mapping[str, Any]) -> Any:
    if joint.type.nq == 1:
        return [values.get(joint.name, 0)]
    return values.get(joint.name) or joint.type.neutral()


def joint_inertias(
    placing: Placing,
    bodies: Iterable[model.Body],
    values: Mapping[str, Any],
    *,
    is_free: bool,
    rotors: Mapping[str, Any],
    mimics: Mapping[str, tuple[str, Any]],
) -> dict[str, float]:
    """Joint of one coordinate -> e_j [kg·m², kg]; 0 where it moves no mass.

    Args:
        placing: of the bodies.
        bodies: with their masses.
        values: of joints, by name.
        is_free: whether the base is.
        rotors: inertia that rotors add to joints, by name.
        mimics: joint -> the one it follows, and how much faster it moves.
    """
    columns: dict[str, Any] = {"": np.eye(6)} if is_free else {}
    columns |= {x.name: _column(x, placing, values) for _, x in placing.before.values()}
    ways, size = _places(columns, mimics)
    M = np.zeros((size, size))
    for body in (x for x in bodies if x.name in placing.poses):
        J = np.zeros((6, size))
        for name, sign in _chain(body.name, placing, is_free):
            for k, (at, ratio) in enumerate(ways[name]):
                J[:, at] += sign * ratio * columns[name][:, k]
        M += J.T @ _inertia(body, placing.poses[body.name]) @ J
    for name, rotor in rotors.items():
        for at, ratio in ways.get(name, ()):
            M[at, at] += float(rotor) * ratio**2
    freed = _freed(M)
    single = {x: y[0][0] for x, y in ways.items() if x and len(y) == 1 and x not in mimics}
    return {x: 1 / freed[at] if freed[at] > 0 else 0.0 for x, at in single.items()}


def _places(
    columns: Mapping[str, Any], mimics: Mapping[str, tuple[str, Any]]
) -> tuple[dict[str, list[tuple[int, float]]], int]:
    """Joint -> for each of its velocities the row of M, and how fast it moves by that row."""
    ways: dict[str, list[tuple[int, float]]] = {}
    size = 0
    for name, S in columns.items():
        if name not in mimics:
            ways[name] = [(size + k, 1.0) for k in range(S.shape[1])]
            size += S.shape[1]
    for name in mimics:
        leader, ratio = mimics[name][0], float(mimics[name][1])
        for _ in mimics:
            if leader in mimics:
                leader, ratio = mimics[leader][0], ratio * float(mimics[leader][1])
        ways[name] = [(at, ratio) for at, _ in ways.get(leader, ())]
    return ways, size


def _column(joint: model.Joint, placing: Placing, values: Mapping[str, Any]) -> Any:
    """The twist of a joint's successor for each of its velocities, at the origin of the base."""
    S = floats(joint.type.subspace(np.array(_position(joint, values), dtype=object)), {})
    R, p = moved(*placing.poses[joint.successor.body], joint.successor)
    turns, moves = R @ S[:3], R @ S[3:]
    return np.vstack([turns, moves + np.cross(p, turns, axisb=0, axisc=0)])


def _chain(body: str, placing: Placing, is_free: bool) -> list[tuple[str, float]]:
    """What moves a body: the joints to the base, −1 where one is passed from its successor."""
    chain = [("", 1.0)] if is_free else []
    while body in placing.before:
        near, joint = placing.before[body]
        chain.append((joint.name, 1.0 if joint.successor.body == body else -1.0))
        body = near
    return chain


def _inertia(body: model.Body, pose: tuple[Any, Any]) -> Any:
    """Of a body, for its twist at the origin of the base."""
    R, p = pose
    m, c = float(body.mass), R @ floats(body.com, {}) + p
    C = np.array([[0, -c[2], c[1]], [c[2], 0, -c[0]], [-c[1], c[0], 0]])
    turning = R @ floats(body.inertia, {}) @ R.T - m * C @ C
    return np.block([[turning, m * C], [-m * C, m * np.eye(3)]])


def _freed(M: Any) -> Any:
    """The diagonal of M⁻¹, without the directions in which M is 0."""
    own = np.diagonal(M)
    scale = np.zeros(len(M))
    scale[own > 0] = 1 / np.sqrt(own[own > 0])
    values, vectors = np.linalg.eigh(scale[:, None] * M * scale)
    kept = values > SINGULAR
    return (vectors[:, kept] ** 2 @ (1 / values[kept])) * scale**2


def _numbers(pose: Any) -> tuple[Any, Any]:
    return floats(pose[0], {}), floats(pose[1], {})


def _after(X: Any, Y: Any) -> tuple[Any, Any]:
    return X[0] @ Y[0], X[0] @ Y[1] + X[1]


def _back(X: Any) -> tuple[Any, Any]:
    return X[0].T, -X[0].T @ X[1]


def moved(R: Any, p: Any, marker: model.Marker) -> tuple[Any, Any]:
    """The pose of a marker on a body that is at R, p."""
    return _after((R, p), _numbers((marker.R, marker.p)))
