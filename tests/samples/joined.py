"""Two bodies that move as a joint allows, with velocities by differences of fourth order."""

from __future__ import annotations

import numpy as np

from liaison.equations.vector.basic_joints import Side, basic_rows


def first(y, h):
    return (y[0] - 8 * y[1] + 8 * y[3] - y[4]) / (12 * h)


def second(y, h):
    return (-y[0] + 16 * y[1] - 30 * y[2] + 16 * y[3] - y[4]) / (12 * h * h)


def turn(vector):
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


class Motion:
    """Two bodies on smooth paths that a joint allows: C_j is placed on C_i by q(t)."""

    def __init__(self, random, kind):
        self.kind = kind
        self.r, self.v, self.a = random.normal(size=(3, 3))
        self.w, self.dw = random.normal(size=(2, 3))
        self.R = turn(random.normal(size=3))
        self.arm = random.normal(size=(2, 3))
        q = np.array([float(x) for x in kind.neutral()])
        self.q = q + 0.4 * random.normal(size=kind.nq)
        self.q = np.array([float(x) for x in kind.normalized(list(self.q))])
        self.qdot, self.qddot = random.normal(size=(2, kind.nv))

    def poses(self, t):
        """(R, G) of both bodies, markers along the bodies' axes."""
        R_i = self.R @ turn(self.w * t + self.dw * t * t / 2)
        G_i = self.r + self.v * t + self.a * t * t / 2
        R, p = self.kind.pose(list(self.at(t)))
        R_j = R_i @ np.array(R, dtype=float)
        P = G_i + R_i @ (self.arm[0] + np.array(p, dtype=float))
        return (R_i, G_i), (R_j, P - R_j @ self.arm[1])

    def at(self, t):
        step = self.qdot * t + self.qddot * t * t / 2
        return np.array([float(x) for x in self.kind.retract(list(self.q), list(step))])

    def sides(self, t):
        """Velocities by differences of fourth order, good to 1e-10."""
        h, made = 1e-3, []
        for k in (0, 1):
            R, G = self.poses(t)[k]
            path = [self.poses(t + x * h)[k] for x in (-2, -1, 0, 1, 2)]
            Rdot, v = first([x[0] for x in path], h), first([x[1] for x in path], h)
            S = Rdot @ R.T
            omega = np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2
            made.append(Side(G, v, omega, R @ self.arm[k], R))
        return made

    def rows(self, t):
        return basic_rows(self.kind, *self.sides(t))

    def alpha(self, k, t=0.0):
        h = 1e-3
        return first([self.sides(t + x * h)[k].omega for x in (-2, -1, 0, 1, 2)], h)

    def accelerated(self, row):
        h = 1e-3
        path = [self.sides(x * h) for x in (-2, -1, 0, 1, 2)]
        a = [first([x[k].velocity for x in path], h) for k in (0, 1)]
        columns = zip(row.J, (*a, self.alpha(0), self.alpha(1)), strict=True)
        return sum(J @ x for J, x in columns) - row.gamma
