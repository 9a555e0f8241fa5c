"""Random convex bodies and poses, and their signed distance by three ways that know no simplex.

Features: the least distance of corners from triangles and of edges from edges; where bodies
overlap, the least width over the normals of faces and the products of edges. A quadratic program:
the weights of corners whose points are nearest, by an active set (NNLS).
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from liaison.numeric import Array
from liaison.numeric.hulls import Polytope, convex_hull

GAPS = (0.0, 1e-12, -1e-12, 1e-9, -1e-9, 1e-6, -1e-6, 1e-4)
"""Distances beside the size at which every fourth pose is taken."""


class Pose(NamedTuple):
    """The first body seen from the second."""

    R: Array
    p: Array


def random_polytope(draw: Generator) -> Polytope:
    """A box, a prism, a plate or a cloud of points, of any size."""
    kind = draw.integers(4)
    if kind == 0:
        points = np.array(list(itertools.product((-1, 1), repeat=3))) * draw.uniform(0.2, 1, 3)
    elif kind == 1:
        points = draw.normal(size=(draw.integers(4, 30), 3))
    elif kind == 2:
        turn = np.linspace(0, 2 * np.pi, draw.integers(3, 16), endpoint=False)
        rim = np.column_stack([np.cos(turn), np.sin(turn), 0 * turn + 0.5])
        points = np.concatenate([rim, rim * [1, 1, -1]])
    else:
        points = draw.uniform(-1, 1, (12, 3)) * [1, 1, 0.05]
    return convex_hull(points * 10 ** draw.uniform(-0.5, 0.5))


def random_rotation(draw: Generator) -> Array:
    """Uniform over all attitudes."""
    w, x, y, z = (q := draw.normal(size=4)) / np.linalg.norm(q)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def random_pose(draw: Generator, number: int, a: Polytope, b: Polytope) -> Pose:
    """Anywhere; every fifth with parallel axes, every fourth touching or nearly so."""
    turned = np.linalg.matrix_power(np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]]), number // 10)
    R = turned if number % 5 == 0 else random_rotation(draw)
    d = np.eye(3)[draw.integers(3)] if number % 5 == 0 else draw.normal(size=3)
    d = d / np.linalg.norm(d)
    size = a.size + b.size
    far = size * draw.uniform(0, 1.3)
    if number % 4 == 0:
        far = float(np.max(b.vertices @ d) - np.min(a.vertices @ R.T @ d))
        far += size * float(draw.choice(GAPS))
    return Pose(R, far * d)


class Features(NamedTuple):
    """Corners, triangles as corners, ends of edges, and normals."""

    corners: Array
    triangles: Array
    starts: Array
    ends: Array
    normals: Array


def features(body: Polytope, pose: Pose | None = None) -> Features:
    """Of a body at a pose."""
    R, p = pose or Pose(np.eye(3), np.zeros(3))
    corners = body.vertices @ R.T + p
    pairs = {
        (min(a, b), max(a, b)) for f in body.faces for a, b in zip(f, (*f[1:], f[0]), strict=True)
    }
    edges = np.array(sorted(pairs))
    starts, ends = corners[edges[:, 0]], corners[edges[:, 1]]
    return Features(corners, corners[body.triangles()], starts, ends, body.normals @ R.T)


def signed_distance(a: Features, b: Features) -> float:
    """Distance of two bodies; minus the depth where they overlap."""
    edges, others = a.ends - a.starts, b.ends - b.starts
    products = np.cross(edges[:, None], others[None]).reshape(-1, 3)
    length = np.linalg.norm(products, axis=1)
    long = np.outer(np.linalg.norm(edges, axis=1), np.linalg.norm(others, axis=1)).ravel()
    keep = length > 1e-9 * long
    across = products[keep] / length[keep, None]
    n = np.concatenate([a.normals, -a.normals, b.normals, -b.normals, across, -across])
    widths = np.max(a.corners @ n.T, axis=0) - np.min(b.corners @ n.T, axis=0)
    if np.min(widths) >= 0:
        return -float(np.min(widths))
    parts = (
        _corners_to_triangles(a.corners, b.triangles),
        _corners_to_triangles(b.corners, a.triangles),
        _edges_to_edges(a, b),
    )
    return float(min(np.min(x) for x in parts))


def _corners_to_triangles(points: Array, triangles: Array) -> Array:
    """Distances of points from triangles that they are above; infinite elsewhere."""
    a, b, c = (triangles[:, k] for k in range(3))
    n = np.cross(b - a, c - a)
    square = np.sum(n * n, axis=1)
    d = points[:, None] - a[None]
    v = np.einsum("nmi,mi->nm", np.cross((b - a)[None], d), n) / square
    w = np.einsum("nmi,mi->nm", np.cross(d, (c - a)[None]), n) / square
    above = (v >= -1e-12) & (w >= -1e-12) & (v + w <= 1 + 1e-12)
    height = np.abs(np.einsum("nmi,mi->nm", d, n)) / np.sqrt(square)
    return np.where(above, height, np.inf)


def _edges_to_edges(one: Features, other: Features) -> Array:
    """Distances of all edges from all edges."""
    d1, d2 = (one.ends - one.starts)[:, None], (other.ends - other.starts)[None]
    r = one.starts[:, None] - other.starts[None]
    a, e, b = (np.sum(x * y, axis=-1) for x, y in ((d1, d1), (d2, d2), (d1, d2)))
    c, f = np.sum(d1 * r, axis=-1), np.sum(d2 * r, axis=-1)
    wide = a * e - b * b
    parallel = wide <= 1e-14 * a * e
    s = np.where(parallel, 0, np.clip((b * f - c * e) / np.where(parallel, 1, wide), 0, 1))
    t = np.clip((b * s + f) / e, 0, 1)
    s = np.clip((b * t - c) / a, 0, 1)
    return np.asarray(np.linalg.norm(r + s[..., None] * d1 - t[..., None] * d2, axis=-1))


def quadratic_program(a: Array, b: Array) -> float:
    """The distance of the hulls of two sets of points: min |Aᵀλ − Bᵀμ|, λ, μ ≥ 0 of sum 1."""
    from scipy.optimize import nnls

    size = max(np.ptp(a, axis=0).max(), np.ptp(b, axis=0).max())
    middle = (np.mean(a, axis=0) + np.mean(b, axis=0)) / 2
    left, right = (a - middle) / size, (b - middle) / size
    rows = np.zeros((5, len(a) + len(b)))
    rows[:3, : len(a)], rows[:3, len(a) :] = left.T, -right.T
    heavy = 1e3
    rows[3, : len(a)] = rows[4, len(a) :] = heavy
    weights, _ = nnls(rows, np.array([0, 0, 0, heavy, heavy]), maxiter=1000)
    # exact on the corners that have weight
    one, two = np.flatnonzero(weights[: len(a)] > 0), np.flatnonzero(weights[len(a) :] > 0)
    base = left[one[0]] - right[two[0]]
    span = np.concatenate([left[one[1:]] - left[one[0]], right[two[0]] - right[two[1:]]]).T
    if span.size:
        base = base + span @ np.linalg.lstsq(span, -base, rcond=None)[0]
    return float(np.linalg.norm(base)) * float(size)
