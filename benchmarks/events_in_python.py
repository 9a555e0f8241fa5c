"""The same contacts in a loop of Python: SciPy's solve_ivp up to each event, a jump, and on.

The equations are written by hand, constant matrices are made beforehand, and each mode is one
affine right-hand side: what a careful user of SciPy writes for one mechanism.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

G = 9.81


def bouncing_ball(impacts: int, **options: Any) -> list[float]:
    """Instants of the impacts."""

    def floor(t: float, y: Any) -> float:
        return float(y[0])

    floor.terminal, floor.direction = True, -1  # type: ignore[attr-defined]
    t, y, found = 0.0, [1.0, 0.0], []
    while len(found) < impacts:
        run = solve_ivp(lambda t, y: (y[1], -G), (t, t + 10), y, events=floor, **options)
        t = float(run.t_events[0][0])
        y = [0.0, -0.9 * float(run.y_events[0][0][1])]
        found.append(t)
    return found


def brake(until: float, **options: Any) -> tuple[float, float]:
    """The instant of rest, and the place."""
    run = solve_ivp(lambda t, y: (y[1], 0.0), (0.0, 0.1), [0.0, 1.0], **options)

    def stops(t: float, y: Any) -> float:
        return float(y[1])

    stops.terminal, stops.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(lambda t, y: (y[1], -1.0), (0.1, until), run.y[:, -1], events=stops, **options)
    t, (s, _) = float(run.t_events[0][0]), run.y_events[0][0]
    run = solve_ivp(lambda t, y: (0.0, 0.0), (t, until), [s, 0.0], **options)
    return t, float(run.y[0, -1])


def driven_brake(until: float, **options: Any) -> list[float]:
    """Instants at which a mass pushed to and fro is let go, and held."""
    F, R, w = 2.0, 1.4, 2 * math.pi

    def loose(t: float, y: Any) -> float:
        return R - F * abs(math.sin(w * t))

    loose.terminal, loose.direction = True, -1  # type: ignore[attr-defined]
    t, y, way, found = 0.0, [0.0, 0.0], 0, []
    while t < until:
        if way:
            rate = lambda t, y, r=way * R: (y[1], F * math.sin(w * t) - r)  # noqa: E731
            ends = lambda t, y, way=way: way * y[1]  # noqa: E731
            ends.terminal, ends.direction = True, -1  # type: ignore[attr-defined]
        else:
            rate, ends = (lambda t, y: (0.0, 0.0)), loose
        run = solve_ivp(rate, (t, until), y, events=ends, max_step=0.25, **options)
        if not len(run.t_events[0]):
            break
        t, y = float(run.t_events[0][0]), [float(run.y_events[0][0][0]), 0.0]
        found.append(t)
        push = F * math.sin(w * t)
        way = 0 if way and abs(push) < R else int(math.copysign(1, push))
    return found


class Woodpecker:
    """The toy by its matrices; a mode is the contact that is closed, and the sign of its slip."""

    mM, JM, mS, JS, c, r0 = 0.0003, 5e-9, 0.0045, 7e-7, 0.0056, 0.0025
    rM, hM, lM, lG, hS, lS, mu = 0.0031, 0.0058, 0.01, 0.015, 0.02, 0.0201, 0.3

    def __init__(self) -> None:
        m = self
        self.M = np.array(
            [
                [m.mS + m.mM, m.mS * m.lM, m.mS * m.lG],
                [m.mS * m.lM, m.JM + m.mS * m.lM**2, m.mS * m.lM * m.lG],
                [m.mS * m.lG, m.mS * m.lM * m.lG, m.JS + m.mS * m.lG**2],
            ]
        )
        self.K = m.c * np.array([[0, 0, 0], [0, -1, 1], [0, 1, -1]])
        self.k = -G * np.array([m.mS + m.mM, m.mS * m.lM, m.mS * m.lG])
        self.normal = np.array([[0, 0, -m.hS], [0, m.hM, 0], [0, -m.hM, 0]])
        self.gap0 = np.array([m.lM + m.lG - m.lS - m.r0, m.rM - m.r0, m.rM - m.r0])
        self.slip = np.array([[1, m.lM, m.lG - m.lS], [1, m.rM, 0], [1, m.rM, 0]])
        self.e = (0.5, 0.0, 0.0)
        self.modes: dict[tuple[int, int], Any] = {}

    def mode(self, contact: int, way: int) -> Any:
        """v̇ = A q + a and forces F q + f (normal, then friction) of a mode; contact −1: none."""
        key = contact, way
        if key not in self.modes:
            inverse = np.linalg.inv(self.M)
            A, a = inverse @ self.K, inverse @ self.k
            F, f = np.zeros((2, 3)), np.zeros(2)
            if contact >= 0:
                n, t = self.normal[contact], self.slip[contact]
                rows = np.array([n]) if way else np.array([n, t])
                pulls = np.array([n - way * self.mu * t]) if way else rows
                response = np.linalg.inv(rows @ inverse @ pulls.T)
                forces, force = -response @ rows @ A, -response @ rows @ a
                A, a = A + inverse @ pulls.T @ forces, a + inverse @ pulls.T @ force
                F[: len(rows)], f[: len(rows)] = forces, force
            self.modes[key] = A, a, F, f
        return self.modes[key]

    def events(self, contact: int, way: int) -> list[Callable[[float, Any], float]]:
        """Gaps of open contacts; of the closed one its force, and where its friction changes."""
        _, _, F, f = self.mode(contact, way)
        found = [
            lambda t, y, n=self.normal[i], g=self.gap0[i]: g + n @ y[:3]
            for i in range(3)
            if i != contact
        ]
        if contact >= 0:
            found.append(lambda t, y: F[0] @ y[:3] + f[0])
            if way:
                s = way * self.slip[contact]
                found.append(lambda t, y: s @ y[3:])
            else:
                found.append(lambda t, y: self.inside(F @ y[:3] + f))
        for x in found:
            x.terminal, x.direction = True, -1  # type: ignore[attr-defined]
        return found

    def inside(self, force: Any) -> float:
        return float(self.mu * force[0] - abs(force[1]))

    def struck(self, i: int, u: Any) -> Any:
        """Velocities after an impact with friction on one contact."""
        rows = np.array([self.normal[i], self.slip[i]])
        A = rows @ np.linalg.solve(self.M, rows.T)
        before = rows @ u
        wanted = np.array([-self.e[i] * before[0], 0.0])
        p = np.linalg.solve(A, wanted - before)
        if abs(p[1]) > self.mu * p[0]:
            way = math.copysign(1, p[1])
            size = (wanted[0] - before[0]) / (A[0, 0] + way * self.mu * A[0, 1])
            p = size * np.array([1, way * self.mu])
        return u + np.linalg.solve(self.M, rows.T @ p)

    def settled(self, contact: int, y: Any, end: str = "") -> tuple[int, int]:
        """The mode after an event: whether the contact stays, sticks, and which way it slips."""
        s = self.slip[contact] @ y[3:]
        if abs(s) > 1e-12 and not end:
            way = int(math.copysign(1, s))
        else:
            _, _, F, f = self.mode(contact, 0)
            force = F @ y[:3] + f
            sticks = end != "stick" and self.inside(force) > 0
            way = 0 if sticks else -int(math.copysign(1, force[1]))
        _, _, F, f = self.mode(contact, way)
        return (contact, way) if F[0] @ y[:3] + f[0] > 0 else (-1, 0)

    def pecks(self, until: float, **options: Any) -> list[float]:
        """Instants at which the beak strikes."""
        q = [0.0, -self.gap0[1] / self.hM, -0.2788]
        t, y, found = 0.0, np.array([*q, -0.3411, 0.0, -7.4583]), []
        contact, way = self.settled(1, y)
        while t < until:
            A, a, _, _ = self.mode(contact, way)
            watched = self.events(contact, way)
            rate = lambda t, y, A=A, a=a: np.concatenate((y[3:], A @ y[:3] + a))  # noqa: E731
            run = solve_ivp(rate, (t, until), y, events=watched, **options)
            t, y = float(run.t[-1]), run.y[:, -1].copy()
            fired = [k for k, x in enumerate(run.t_events) if len(x)]
            if not fired:
                break
            k, opens = fired[0], [i for i in range(3) if i != contact]
            if k < len(opens):
                contact = opens[k]
                if contact == 0:
                    found.append(t)
                y[3:] = self.struck(contact, y[3:])
                stays = abs(self.normal[contact] @ y[3:]) < 1e-10
                contact, way = self.settled(contact, y) if stays else (-1, 0)
            elif k == len(opens):
                contact, way = -1, 0
            else:
                contact, way = self.settled(contact, y, "slip" if way else "stick")
        return found
