"""Balls for scenes: some at given places, a loose heap, and walls around it."""

import numpy as np

from liaison.contacts.scene import Bodies

FLOOR = np.array([[0.0, 0.0, 1.0, 0.0]])


def balls(places, radius=0.05, mass=1.0, speeds=None):
    """Equal balls at these places."""
    n = len(places)
    pose = np.column_stack([np.array(places, dtype=float), np.ones(n), np.zeros((n, 3))])
    speed = np.zeros((n, 6)) if speeds is None else np.array(speeds, dtype=float)
    inertia = np.tile(0.4 * mass * radius**2 * np.eye(3), (n, 1, 1))
    return Bodies(
        names=tuple(f"b{k}" for k in range(n)), mass=np.full(n, mass), inertia=inertia, pose=pose,
        speed=speed, owner=np.arange(n), ball=np.tile([0, 0, 0, radius], (n, 1)),
    )  # fmt: skip


def heap(n, side=4, seed=1, gap=1.1):
    """Balls on a loose grid, none quite above another."""
    rng = np.random.default_rng(seed)
    wide = 0.1 * gap
    grid = [(k % side, k // side % side, k // side**2) for k in range(n)]
    jitter = rng.uniform(-0.004, 0.004, (n, 3))
    return np.array(grid) * wide + jitter + np.array([0.055, 0.055, 0.056])


def walls(wide):
    """A floor and four walls around a square."""
    return np.array(
        [[0, 0, 1, 0], [1, 0, 0, 0], [-1, 0, 0, -wide], [0, 1, 0, 0], [0, -1, 0, -wide]],
        dtype=float,
    )
