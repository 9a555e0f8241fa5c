"""Mechanisms at random: a tree, joints that close loops at a known position, loads, relations.

A loop is closed by fitting the second marker of its last joint, so that the drawn position
satisfies every closure exactly; speeds are projected on G v = ν. The state is kept by label, for
every joint, so that it fits any spanning tree of the mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from liaison.equations import newton_euler
from liaison.expr import collector_paused, evaluate
from liaison.model import (
    GROUND,
    Angle,
    Body,
    Distance,
    Gravity,
    Joint,
    Marker,
    Mechanism,
    PointWrench,
    Quaternion,
)
from liaison.tree import Tree, span

from .numbers import KKT_LIMIT, floats, kkt, quaternion
from .random_loads import MOTOR, STIFFNESS, T0, forces, rated, relation
from .random_parts import KINDS, Random, body, joint_position, joint_type, marker

Pose = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Sample:
    """A mechanism and a state of it, by label."""

    mechanism: Mechanism
    seed: int
    q: dict[str, float]
    v: dict[str, float]
    poses: dict[str, Pose]  # R_WB, p_WB
    twists: dict[str, Pose]  # ω and the velocity of the body's origin, in ground's axes
    redrawn: int = 0
    t: float = T0

    def at(self, tree: Any) -> dict[str, Any]:
        """Arguments of a kernel: t, q and v in the order of a tree's, or a program's, labels."""
        if isinstance(tree, Tree):
            labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
        else:
            labels = tree.labels
        known = self.q | self.v | self._free()
        q, v = ([known[label.name] for label in labels[key]] for key in "qv")
        return {"t": self.t, "q": np.array(q), "v": np.array(v)}

    def _free(self) -> dict[str, float]:
        """Coordinates and speeds of the maximal formalism, whose bodies all hang on the ground."""
        found: dict[str, float] = {}
        for name, (omega, velocity) in self.twists.items():
            R, p = self.poses[name]
            numbers = [*p, *quaternion(R), *(R.T @ omega), *(R.T @ velocity)]
            labels = ["x", "y", "z", "qw", "qx", "qy", "qz", "wx", "wy", "wz", "vx", "vy", "vz"]
            found |= {f"free {name}.{k}": float(x) for k, x in zip(labels, numbers, strict=True)}
        return found


@dataclass
class Draft:
    """A mechanism while it is being drawn."""

    rng: Random
    bodies: list[Body] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    q: dict[str, float] = field(default_factory=dict)
    poses: dict[str, Pose] = field(default_factory=lambda: {"ground": (np.eye(3), np.zeros(3))})
    carriers: dict[str, tuple[str, int]] = field(default_factory=dict)  # body -> parent, freedoms
    mobility: int = 0
    floating: bool = False  # nothing but the first body touches the ground
    attitudes: bool = True  # any, not quaternions only

    @property
    def places(self) -> list[str]:
        """Bodies that others may be joined to."""
        names = [*self.poses]
        return names[1:] if self.floating and len(names) > 1 else names

    def hang(self, kinds: list[str]) -> None:
        """One more body on a body that is there, by a joint in either direction."""
        name = f"b{len(self.bodies) + 1}"
        near = self.pick(self.places)
        kind = self.kind(kinds)
        on_near, on_new = marker(self.rng, near), marker(self.rng, name)
        forward = self.rng.random() < 0.6
        ends = (on_near, on_new) if forward else (on_new, on_near)
        joint = Joint(f"j{len(self.joints) + 1}", kind, *ends)
        X_FM = self.place(joint)
        X_near, X_new = (compose(X_FM, invert(pose_of(on_new))), pose_of(on_near))
        if not forward:
            X_near = compose(invert(X_FM), invert(pose_of(on_new)))
        self.poses[name] = compose(self.poses[near], compose(X_new, X_near))
        self.bodies.append(body(self.rng, name))
        self.joints.append(joint)
        self.carriers[name] = (near, kind.nv)
        self.mobility += kind.nv

    def close(self, kinds: list[str]) -> bool:
        """One more joint between bodies that are there, fitted to where they are."""
        names = self.places
        if len(names) < 2:
            return False
        first, second = (str(x) for x in self.rng.choice(names, 2, replace=False))
        kind = self.kind(kinds)
        rows = 6 - kind.nv
        if rows > self.freedoms(first, second) or rows >= self.mobility:
            return False
        F = marker(self.rng, first)
        joint = Joint(f"j{len(self.joints) + 1}", kind, F, Marker(second))
        X_FM = self.place(joint)
        X_WM = compose(compose(self.poses[first], pose_of(F)), X_FM)
        R, p = compose(invert(self.poses[second]), X_WM)
        self.joints.append(replace(joint, successor=Marker(second, R.tolist(), p.tolist())))
        self.mobility -= rows
        return True

    def place(self, joint: Joint) -> Pose:
        """Draws the joint's position, keeps it by label; X_FM."""
        q = joint_position(self.rng, joint.type)
        self.q |= dict(zip(joint.coordinates, q, strict=True))
        R, p = joint.type.pose(q)
        return floats(R), floats(p)

    def freedoms(self, a: str, b: str) -> int:
        """Freedoms of the tree's joints between two bodies."""
        paths = []
        for name in (a, b):
            path = {}
            while name != "ground":
                path[name] = self.carriers[name][1]
                name = self.carriers[name][0]
            paths.append(path)
        return sum(
            (paths[0][x] if x in paths[0] else paths[1][x])
            for x in paths[0].keys() ^ paths[1].keys()
        )

    def kind(self, names: list[str]) -> Any:
        """A joint of one of these types."""
        kind = joint_type(self.rng, self.pick(names))
        plain = self.attitudes or not hasattr(kind, "attitude")
        return kind if plain else replace(kind, attitude=Quaternion())

    def pick(self, listed: list[str]) -> str:
        return str(self.rng.choice(listed))


@cache
def sample(seed: int, **options: Any) -> Sample:
    """The sample of a seed, drawn once in a process."""
    return draw(seed, **options)


def draw(
    seed: int,
    *,
    bodies: tuple[int, int] = (2, 4),
    loops: tuple[int, int] = (0, 2),
    kinds: tuple[str, ...] = tuple(KINDS),
    closing: tuple[str, ...] = tuple(KINDS),
    loads: bool = True,
    relations: bool = True,
    floating: bool = False,
    along: bool = True,
    attitudes: bool = True,
) -> Sample:
    """A mechanism and a state whose KKT matrix is no worse conditioned than KKT_LIMIT.

    Args:
        seed: the same seed draws the same sample.
        bodies, loops: least and largest number of them.
        kinds, closing: joint types of the tree and of the joints that close loops.
        loads, relations: whether there are any.
        floating: the first body is free of the ground, and nothing else touches the ground.
        along: loads may act along coordinates.
        attitudes: balls turn by any attitude, not by quaternions only.
    """
    rng = np.random.default_rng(seed)
    for attempt in range(200):
        draft = Draft(rng, floating=floating, attitudes=attitudes)
        for k in range(rng.integers(bodies[0], bodies[1] + 1)):
            draft.hang(["Free"] if floating and k == 0 else list(kinds))
        wanted = rng.integers(loops[0], loops[1] + 1)
        for _ in range(40 * wanted):
            if len(draft.joints) - len(draft.bodies) < wanted:
                draft.close(list(closing))
        mechanism = described(draft, seed, loads=loads, relations=relations, along=along)
        found = moving(draft, mechanism, seed)
        if found is not None and len(draft.joints) - len(draft.bodies) == wanted:
            return replace(found, redrawn=attempt)
    raise AssertionError(f"no regular state in 200 draws from seed {seed}")


def described(draft: Draft, seed: int, *, loads: bool, relations: bool, along: bool) -> Mechanism:
    """The draft with loads and relations, declared in any order."""
    rng, labels = draft.rng, rated(draft.joints[1:] if draft.floating else draft.joints)
    acting: list[Any] = [Gravity(tuple(rng.normal(scale=5.0, size=3).tolist()))]
    if loads:
        acting += forces(rng, draft.places, labels if along else [])
        if draft.floating:
            acting = [force for force in acting if not isinstance(force, PointWrench)]
    held = []
    for k in range(rng.integers(3) if relations else 0):
        if labels and draft.mobility > 1:
            held.append(relation(rng, f"relation {k}", labels, draft.q))
            draft.mobility -= 1
    return Mechanism(
        f"sample {seed}",
        (GROUND, *shuffled(rng, draft.bodies)),
        shuffled(rng, draft.joints),
        constraints=tuple(held),
        forces=tuple(acting),
        parameters=(STIFFNESS,),
        inputs=(MOTOR,),
    )


def shuffled(rng: Random, listed: list[Any]) -> tuple[Any, ...]:
    return tuple(listed[i] for i in rng.permutation(len(listed)))


def moving(draft: Draft, mechanism: Mechanism, seed: int) -> Sample | None:
    """The drawn position with consistent speeds; None where the KKT matrix is near singular."""
    if not all(is_regular(draft.poses, force) for force in mechanism.forces):
        return None
    still = Sample(mechanism, seed, draft.q, {}, draft.poses, {})
    with collector_paused():
        tree = span(mechanism)
        equations = newton_euler(tree)
        names = [label.name for label in tree.velocity_labels()]
        guess = draft.rng.uniform(-1.0, 1.0, len(names))
        still = replace(still, v=dict(zip(names, guess.tolist(), strict=True)))
        M, G, rate = constrained(equations, still)
    if not names or np.linalg.cond(kkt(M, G)) > KKT_LIMIT:
        return None
    v = guess - np.linalg.lstsq(G, rate, rcond=None)[0] if len(G) else guess
    speeds = dict(zip(names, v.tolist(), strict=True))
    twists = body_twists(tree, draft.poses, draft.q, speeds)
    for joint in mechanism.joints:
        if not set(joint.speeds) <= speeds.keys():
            speeds |= speeds_of(joint, draft.poses, draft.q, twists)
    return replace(still, v=speeds, twists=twists)


def is_regular(poses: dict[str, Pose], force: Any) -> bool:
    """What a load acts along has a direction: markers apart, and b's x axis not along a's z."""
    measure = getattr(force, "measure", None)
    if not isinstance(measure, Distance | Angle):
        return True
    A, B = (compose(poses[m.body], pose_of(m)) for m in (measure.a, measure.b))
    if isinstance(measure, Distance):
        return bool(np.linalg.norm(B[1] - A[1]) > 0.1)
    return bool(abs(A[0][:, 2] @ B[0][:, 0]) < 0.95)


def constrained(equations: Any, state: Sample) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, G and G v − ν at a state."""
    at = state.at(equations)
    values = values_of(equations, at)
    nv, nc = len(equations.symbols.v), len(equations.closures.rate)
    M, G = np.zeros((nv, nv)), np.zeros((nc, nv))
    for where, entries in ((M, equations.dynamics.M), (G, equations.closures.G)):
        keys = list(entries)
        for key, x in zip(keys, evaluate([entries[k] for k in keys], values), strict=True):
            where[key] = x
    rate = np.array([float(x) for x in evaluate(list(equations.closures.rate), values)])
    return M + np.tril(M, -1).T, G, rate


def values_of(equations: Any, at: dict[str, Any]) -> dict[Any, float]:
    """Symbols of the equations and their numbers."""
    symbols = equations.symbols
    values = {symbols.t: at["t"]}
    values |= dict(zip(symbols.q, at["q"].tolist(), strict=True))
    values |= dict(zip(symbols.v, at["v"].tolist(), strict=True))
    values |= dict(zip(symbols.u, equations.defaults["u"], strict=True))
    return values | dict(zip(symbols.p, equations.defaults["p"], strict=True))


def body_twists(
    tree: Tree, poses: dict[str, Pose], q: dict[str, float], v: dict[str, float]
) -> dict[str, Pose]:
    """ω and the origin's velocity of every body, by walking out along the tree's joints."""
    found = {"ground": (np.zeros(3), np.zeros(3))}
    for node in tree.nodes:
        if node.body not in poses:
            continue  # a ghost
        joint = node.joint
        turn, slide, point = relative_twist(joint, poses, q, v)
        near = joint.successor.body if node.is_reversed else joint.predecessor.body
        sign = -1 if node.is_reversed else 1
        omega, velocity = found[near]
        new = omega + sign * turn
        at_point = velocity + np.cross(omega, point - poses[near][1]) + sign * slide
        found[node.body] = (new, at_point + np.cross(new, poses[node.body][1] - point))
    return found


def relative_twist(
    joint: Joint, poses: dict[str, Pose], q: dict[str, float], v: dict[str, float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of M in F, in ground's axes: ω, the velocity of M's origin seen from F, M's origin."""
    R, p = compose(poses[joint.successor.body], pose_of(joint.successor))
    S = floats(joint.type.subspace([q[x] for x in joint.coordinates]))
    V = S @ np.array([v[x] for x in joint.speeds])
    return R @ V[:3], R @ V[3:], p


def speeds_of(
    joint: Joint, poses: dict[str, Pose], q: dict[str, float], twists: dict[str, Pose]
) -> dict[str, float]:
    """A joint's speeds from the twists of its bodies; they must lie in its motion subspace."""
    R, p = compose(poses[joint.successor.body], pose_of(joint.successor))
    turns, slides = [], []
    for end in (joint.successor.body, joint.predecessor.body):
        omega, velocity = twists[end]
        turns.append(omega)
        slides.append(velocity + np.cross(omega, p - poses[end][1]))
    V = np.concatenate([R.T @ (turns[0] - turns[1]), R.T @ (slides[0] - slides[1])])
    S = floats(joint.type.subspace([q[x] for x in joint.coordinates]))
    v = np.linalg.lstsq(S, V, rcond=None)[0]
    assert np.allclose(S @ v, V, atol=1e-9), f"joint {joint.name} does not let its bodies move so"
    return dict(zip(joint.speeds, v.tolist(), strict=True))


def pose_of(at: Marker) -> Pose:
    """X_BM in floats."""
    return floats(at.R), floats(at.p)


def compose(A: Pose, B: Pose) -> Pose:
    return A[0] @ B[0], A[0] @ B[1] + A[1]


def invert(A: Pose) -> Pose:
    return A[0].T, -A[0].T @ A[1]
