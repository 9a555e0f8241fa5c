"""Small programs written by hand, whose motions are known."""

from __future__ import annotations

import math

import numpy as np

from liaison.expr import ONE, ZERO, as_expr, cos, sin, sqrt, symbol
from liaison.numeric import State
from liaison.program import Entry, Program
from liaison.units import Label


def symbols(name, count):
    return [symbol(f"{name}[{i}]") for i in range(count)]


def program(name, nq, nv, entries, *, nc=0, nphi=None, nu=0, np_=0, labels=None, **more):
    """A program of entries {name: formulas} over t, q[i], v[i], u[i], p[i], x[i]."""
    places = {symbol("t"): ("t", 0)}
    sizes = {"q": nq, "v": nv, "u": nu, "p": np_, "x": max(nq, nv, 1)}
    for array, count in sizes.items():
        places |= {x: (array, i) for i, x in enumerate(symbols(array, count))}
    return Program(
        name,
        {k: Entry(k, tuple(as_expr(x) for x in v)) for k, v in entries.items()},
        places,
        sizes={
            "nq": nq,
            "nv": nv,
            "nc": nc,
            "nphi": nc if nphi is None else nphi,
            "nu": nu,
            "np": np_,
        },
        labels=labels or {},
        **more,
    )


def plain(name, acceleration, n=1, **more):
    """A program with q̇ = v and v̇ = acceleration(q, v); formulas see q ⊞ ξ."""
    q, v, xi = symbols("q", n), symbols("v", n), symbols("x", n)
    moved = [a + b for a, b in zip(q, xi, strict=True)]
    entries = {
        "rate": [*v, *acceleration(moved, v), ZERO],
        "retract": moved,
        **more.pop("entries", {}),
    }
    labels = {
        "q": tuple(Label(f"A{i}" if n > 1 else "A", "rad") for i in range(n)),
        "v": tuple(Label(f"A{i}'" if n > 1 else "A'", "rad/s") for i in range(n)),
        **more.pop("labels", {}),
    }
    return program(name, n, n, entries, labels=labels, **more)


def oscillator(**more):
    """q̈ = −q: from (1, 0), q = cos t."""
    return plain("oscillator", lambda q, v: [-q[0]], **more)


def pendulum():
    """θ̈ = −sin θ, energy v²/2 − cos θ; an event at the bottom."""
    q, v = symbol("q[0]"), symbol("v[0]")
    more = {"energy": [v * v / 2, -cos(q)], "events": [q]}
    facts = {"events": (("bottom", 0, "record"),)}
    return plain("pendulum", lambda x, y: [-sin(x[0])], entries=more, facts=facts)


def pendulum_period(amplitude):
    """4 K(sin(a/2)) by the arithmetic–geometric mean."""
    a, b = 1.0, math.cos(amplitude / 2)
    while abs(a - b) > 1e-15:
        a, b = (a + b) / 2, math.sqrt(a * b)
    return 2 * math.pi / a


def driven(**more):
    """q̈ = u − k q with an input "motor" and a parameter "k" (1 by default)."""
    u, k = symbol("u[0]"), symbol("p[0]")
    labels = {"u": (Label("motor", "N"),), "p": (Label("k"),)}
    defaults = {"u": np.zeros(1), "p": np.ones(1)}
    return plain(
        "driven", lambda q, v: [u - k * q[0]], nu=1, np_=1, labels=labels, defaults=defaults, **more
    )


INERTIA = (1.0, 2.0, 3.0)


def product(a, b):
    """Quaternion product, w x y z."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def top(inertia=INERTIA):
    """A free rigid body: quaternion chart, Euler's equations in body axes.

    The formulas are regular at ξ = 0 by an angle that is never exactly 0: |ξ|² + 1e-30.
    """
    q, v, xi = symbols("q", 4), symbols("v", 3), symbols("x", 3)
    angle2 = xi[0] * xi[0] + xi[1] * xi[1] + xi[2] * xi[2] + 1e-30
    angle = sqrt(angle2)
    s = sin(angle / 2) / angle
    moved = product(q, [cos(angle / 2), *(s * x for x in xi)])
    # dexp⁻¹ for body rates: ω + ξ×ω/2 + c ξ×(ξ×ω), c = (1 − (a/2) cot(a/2)) / a²
    half = angle / 2
    # its series where the closed form cancels
    from liaison.expr import select

    c = select(
        angle - 1e-2,
        (ONE - half * cos(half) / sin(half)) / angle2,
        as_expr(1 / 12) + angle2 / 720 + angle2 * angle2 / 30240,
    )
    once = cross(xi, v)
    twice = cross(xi, once)
    xidot = [w + a / 2 + c * b for w, a, b in zip(v, once, twice, strict=True)]
    I1, I2, I3 = inertia
    vdot = [
        (I2 - I3) / I1 * v[1] * v[2],
        (I3 - I1) / I2 * v[2] * v[0],
        (I1 - I2) / I3 * v[0] * v[1],
    ]
    entries = {
        "rate": [*xidot, *vdot, ZERO],
        "retract": moved,
        "energy": [(I1 * v[0] ** 2 + I2 * v[1] ** 2 + I3 * v[2] ** 2) / 2, ZERO],
    }
    labels = {
        "q": tuple(Label(f"B.{c}") for c in "wxyz"),
        "v": tuple(Label(f"B.{c}'", "rad/s") for c in "xyz"),
    }
    return program("top", 4, 3, entries, labels=labels)


def hanging(gravity=1.0):
    """A point on a rod of length 1, in x and y: one closure x² + y² = 1, mass 1."""
    (x, y), (vx, vy), xi = symbols("q", 2), symbols("v", 2), symbols("x", 2)
    moved = [x + xi[0], y + xi[1]]
    phi = (x * x + y * y - 1) / 2
    rate = x * vx + y * vy
    mx, my = moved
    gamma = -(vx * vx + vy * vy)
    lam = (gamma + my * gravity) / (mx * mx + my * my)
    vdot = [mx * lam, my * lam - gravity]
    square = x * x + y * y
    g0 = -(vx * vx + vy * vy)
    entries = {
        "rate": [vx, vy, *vdot, ZERO],
        "retract": moved,
        "closure": [phi, rate],
        "correct_q": [-phi * x / square, -phi * y / square, phi],
        "correct_v": [-rate * x / square, -rate * y / square, rate],
        "terms": [ONE, ZERO, ZERO, ONE, x, y, ZERO, as_expr(-gravity), g0, phi, ZERO],
        "energy": [(vx * vx + vy * vy) / 2, gravity * y],
    }
    labels = {
        "q": (Label("P.x", "m"), Label("P.y", "m")),
        "v": (Label("P.x'", "m/s"), Label("P.y'", "m/s")),
        "lam": (Label("rod", "N"),),
    }
    return program("hanging", 2, 2, entries, nc=1, labels=labels)


def start(program, q, v, t=0.0):
    return State(t, np.array(q, float), np.array(v, float), {k: program.labels[k] for k in "qv"})
