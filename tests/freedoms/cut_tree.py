"""The document's way: a tree of joints, and rows that close each cut hinge, in floats."""

from fractions import Fraction
from typing import Any

import numpy as np

from liaison.freedoms.singular import exponential

from .built import bodies_of


class CutTree:
    """A linkage of hinges as a tree from body b0, each other hinge cut into six rows.

    Rows of a cut: the velocity of its point on the one body against that on the other, and
    v × (ω_a − ω_b), v its axis on the second body, as the document writes it.
    """

    def __init__(self, case: dict[str, Any]) -> None:
        names = bodies_of(case)
        self.ends = [(names[k, 0], names[k, 1]) for k in range(len(case["joints"]))]
        self.axes = [unit(joint["direction"]) for joint in case["joints"]]
        self.points = [numbers(joint["point"]) for joint in case["joints"]]
        self.way: dict[str, list[tuple[int, int]]] = {"b0": []}
        self.tree: list[int] = []
        waiting = ["b0"]
        while waiting:
            here = waiting.pop(0)
            for k, (a, b) in enumerate(self.ends):
                far, sign = (b, 1) if a == here else (a, -1)
                if here in (a, b) and far not in self.way:
                    self.way[far] = [*self.way[here], (k, sign)]
                    self.tree.append(k)
                    waiting.append(far)
        self.cuts = [k for k in range(len(self.ends)) if k not in self.tree]

    def motion(self, body: str, q: dict[int, float]) -> tuple[np.ndarray, np.ndarray]:
        """The body's displacement from home, and its twists for unit rates, at the origin."""
        pose, columns = np.eye(4), np.zeros((6, len(self.tree)))
        for k, sign in self.way[body]:
            s = sign * np.concatenate([self.axes[k], np.cross(self.points[k], self.axes[k])])
            turn = pose[:3, :3] @ s[:3]
            slide = pose[:3, :3] @ s[3:] + np.cross(pose[:3, 3], turn)
            columns[:, self.tree.index(k)] = [*turn, *slide]
            pose = pose @ exponential(s, q[k])
        return pose, columns

    def matrix(self, q: dict[int, float]) -> np.ndarray:
        """Six rows a cut, a column for each coordinate of the tree."""
        rows = []
        for k in self.cuts:
            (A, J_a), (B, J_b) = (self.motion(body, q) for body in self.ends[k])
            at_a, at_b = (X[:3, :3] @ self.points[k] + X[:3, 3] for X in (A, B))
            axis = B[:3, :3] @ self.axes[k]
            speed = J_a[3:] - cross(at_a) @ J_a[:3] - J_b[3:] + cross(at_b) @ J_b[:3]
            rows += [speed, cross(axis) @ (J_a[:3] - J_b[:3])]
        return np.vstack(rows)

    def rank(self, q: dict[int, float]) -> int:
        return int(np.linalg.matrix_rank(self.matrix(q), tol=1e-9))


def numbers(values: Any) -> np.ndarray:
    return np.array([float(Fraction(x)) for x in values])


def unit(values: Any) -> np.ndarray:
    found = numbers(values)
    return found / np.linalg.norm(found)


def cross(a: np.ndarray) -> np.ndarray:
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
