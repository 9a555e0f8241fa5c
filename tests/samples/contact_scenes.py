"""Contact problems of the tests: boxes and rods pressed together at points, as tables of blocks."""

from dataclasses import dataclass

import numpy as np

from liaison.program.loops.records import Rows
from liaison.solvers.cones.cones import BILATERAL, DISC, ONE_WAY, Cone, Limit, cone_area

UP = np.array([0.0, 0.0, 1.0])
SIGNS = np.array([[x, y, -1] for x in (-1, 1) for y in (-1, 1)], dtype=float)


@dataclass
class Scene:
    """Rows D, inverse masses on the diagonal, velocities, and the tables of the solver.

    A row of `blocks` is a `Cone`, one of `limits` a `Limit`.
    """

    D: np.ndarray
    weight: np.ndarray
    v: np.ndarray
    blocks: np.ndarray
    limits: np.ndarray
    restitution: np.ndarray

    @property
    def tables(self):
        """Both as loops take them."""
        return Rows(Cone, self.blocks), Rows(Limit, self.limits)

    @property
    def A(self):
        A = (self.D * self.weight) @ self.D.T
        return 0.5 * (A + A.T)

    @property
    def b(self):
        """D v, 0 where only rounding is left of it: repeated rows shall not contradict."""
        b = self.D @ self.v
        return np.where(np.abs(b) > 1e-14 * np.abs(self.D) @ np.abs(self.v), b, 0.0)

    def energy_change(self, f):
        """T⁺ − T⁻ from velocities alone, and T⁻."""
        after = self.v + self.weight * (self.D.T @ f)
        before = 0.5 * self.v @ (self.v / self.weight)
        return 0.5 * after @ (after / self.weight) - before, before


def cross(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def axes_of(n):
    t = np.cross(n, np.eye(3)[np.argmin(abs(n))])
    t /= np.linalg.norm(t)
    return np.array([n, t, np.cross(n, t)])


def contact_rows(bodies, i, p, n, j=None, pj=None):
    """Normal, two tangents, two rolling rows and pivoting of a point p of body i (against j)."""
    R = axes_of(n)
    D = np.zeros((6, 6 * bodies))
    for body, arm, sign in ((i, p, 1), (j, pj, -1)):
        if body is not None:
            c = slice(6 * body, 6 * body + 3)
            w = slice(6 * body + 3, 6 * body + 6)
            D[:3, c], D[:3, w] = sign * R, -sign * R @ cross(arm)
            D[3:5, w], D[5, w] = sign * R[1:], sign * R[0]
    return D


def box(mass, half):
    """Inverse masses of a box of half-sides, velocities of its centre first."""
    x, y, z = half
    inertia = mass / 3 * np.array([y * y + z * z, x * x + z * z, x * x + y * y])
    return np.concatenate([np.full(3, 1 / mass), 1 / inertia])


class Builder:
    """Collects contacts into the tables of the solver."""

    def __init__(self):
        self.rows, self.blocks, self.limits, self.restitution = [], [], [], []

    def add(self, kind, rows, limits=(0, 0, 0), load=-1, e=0.0):
        rows = np.atleast_2d(rows)
        first = sum(len(r) for r in self.rows)
        self.rows.append(rows)
        self.blocks.append((kind, first, len(rows), load))
        self.limits.append(limits)
        self.restitution.append(e)
        return len(self.blocks) - 1

    def contact(self, D, mu=0.0, across=None, rolling=None, pivoting=None, e=0.0):
        load = self.add(ONE_WAY, D[0], e=e)
        if mu > 0:
            self.add(DISC, D[1:3], (mu, mu if across is None else across, 0), load)
        if rolling is not None:
            self.add(DISC, D[3:5], (rolling, rolling, 0), load)
        if pivoting is not None:
            self.add(DISC, D[5], (pivoting, 0, 0), load)
        return load

    def scene(self, weight, v):
        return Scene(
            np.vstack(self.rows), np.asarray(weight, float), np.asarray(v, float),
            np.array(self.blocks, dtype=np.int64), np.array(self.limits, dtype=float),
            np.array(self.restitution, dtype=float),
        )  # fmt: skip


def solved(run, scene, b=None, start=None):
    """Residual, f and u of a scene."""
    m, nb = len(scene.D), len(scene.blocks)
    f = np.zeros(m) if start is None else start.copy()
    b = scene.b if b is None else np.asarray(b, dtype=float)
    residual = run(
        m, nb, scene.A.ravel(), b, *scene.tables, f,
        np.full(cone_area(m, nb), np.nan),
    )  # fmt: skip
    return residual, f, scene.A @ f + b


def box_on_floor(v, mu=0.5, e=0.0, half=(0.5, 0.4, 0.3), mass=2.0):
    """A box that stands on its four corners: 12 rows of rank 6."""
    build = Builder()
    for sign in SIGNS:
        build.contact(contact_rows(1, 0, sign * half, UP), mu=mu, e=e)
    return build.scene(box(mass, half), v)


def stack(rng, ratio=1e4):
    """Two to five boxes on each other, on all corners: masses that differ by up to `ratio`."""
    boxes = int(rng.integers(2, 6))
    build, weight = Builder(), []
    below = half = 10 ** rng.uniform(-1.3, -0.3, 3)
    for k in range(boxes):
        half = half * rng.uniform(0.9, 1.0, 3)
        weight.append(box(ratio ** rng.uniform(-0.5, 0.5), half))
        for sign in SIGNS:
            p, under = sign * half, (None, None)
            if k > 0:
                under = (k - 1, np.array([p[0], p[1], below[2]]))
            D = contact_rows(boxes, k, p, UP, *under)
            build.contact(D, mu=rng.choice([0, 0.1, 0.5, 1.0, 1.5]), e=rng.choice([0, 0.5, 0.9]))
        below = half
    return build.scene(np.concatenate(weight), rng.normal(size=6 * boxes))


def random_contact(rng, halves, earlier):
    """Rows of a contact of random bodies, on a corner or anywhere; sometimes one from before."""
    bodies = len(halves)
    if earlier and rng.random() < 0.25:
        return earlier[rng.integers(len(earlier))]
    i = int(rng.integers(bodies))
    p, n = halves[i] * SIGNS[rng.integers(4)], UP
    if rng.random() < 0.4:
        n = rng.normal(size=3)
        p, n = halves[i] * rng.uniform(-1, 1, 3), n / np.linalg.norm(n)
    if bodies > 1 and rng.random() < 0.4:
        j = int((i + rng.integers(1, bodies)) % bodies)
        return contact_rows(bodies, i, p, n, j, halves[j] * rng.uniform(-1, 1, 3))
    return contact_rows(bodies, i, p, n)


def random_scene(rng, most=20, held=0.0):
    """Up to four bodies, boxes and rods of very different sizes, with up to `most` contacts."""
    bodies = int(rng.integers(1, 5))
    halves = 10 ** rng.uniform(-1.5, 0.3, (bodies, 3))
    weight = np.concatenate([box(10 ** rng.uniform(-1, 1), half) for half in halves])
    build, earlier = Builder(), []
    for _ in range(rng.integers(1, most + 1)):
        D = random_contact(rng, halves, earlier)
        earlier.append(D)
        if rng.random() < held:
            build.add(BILATERAL, D[0])
            continue
        mu = rng.choice([0, 0.1, 0.3, 0.5, 0.8, 1.2])
        build.contact(
            D,
            mu=mu,
            across=mu * rng.choice([1, 1, 1, 0.5]),
            rolling=10 ** rng.uniform(-3, -1) if rng.random() < 0.3 else None,
            pivoting=10 ** rng.uniform(-3, -1) if rng.random() < 0.3 else None,
            e=rng.choice([0, 0.3, 0.5, 0.9, 1.0]),
        )
    falls = np.tile([0.5 * rng.normal(), 0, -1, 0, 0, 0], bodies)
    v = falls if rng.random() < 0.3 else rng.normal(size=6 * bodies)
    return build.scene(weight, v)


def planar_scene(rng, most=6, friction=(0.1, 0.3, 0.5), spread=np.pi):
    """Rods in a plane that touch at points: normals and tangents of one row each."""
    bodies = int(rng.integers(1, 4))
    lengths = 10 ** rng.uniform(-1, 0.3, bodies)
    masses = 10 ** rng.uniform(-1, 1, bodies)
    build = Builder()
    for _ in range(rng.integers(1, most + 1)):
        i = int(rng.integers(bodies))
        p = lengths[i] * np.array([np.cos(a := rng.uniform(0, 2 * np.pi)), np.sin(a)])
        angle = np.pi / 2 if rng.random() < 0.6 else np.pi / 2 + spread * rng.uniform(-1, 1)
        n = np.array([np.cos(angle), np.sin(angle)])
        D = np.zeros((2, 3 * bodies))
        for row, d in enumerate((n, np.array([-n[1], n[0]]))):
            D[row, 3 * i : 3 * i + 3] = [*d, p[0] * d[1] - p[1] * d[0]]
        load = build.add(ONE_WAY, D[0])
        build.add(DISC, D[1], (rng.choice(friction), 0, 0), load)
    weight = np.concatenate([[1 / w, 1 / w, 3 / (w * l * l)] for w, l in zip(masses, lengths)])
    return build.scene(weight, rng.normal(size=3 * bodies))
