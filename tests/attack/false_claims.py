"""Random systems, most of them without first integrals: what is claimed of them must hold.

Two to four coordinates, driven, damped, with imposed motions or with rows of speeds. Each formula
that is called constant is followed along a run at a tight tolerance; each row of speeds is examined
by Frobenius' condition in floats, with differences in the place of derivatives.

Public names: SYSTEMS, System, drawn, faults_of, attack.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import liaison
from attack.table import Row
from liaison.errors import SimulationError
from liaison.expr import (
    Expr,
    absolute,
    as_expr,
    cos,
    evaluate,
    exp,
    gradient,
    maximum,
    sin,
    sqrt,
    symbol,
)
from liaison.model import Mechanism, Prismatic, Revolute
from liaison.model.describe import (
    body,
    gravity,
    ground,
    guess,
    imposed,
    join,
    mechanism,
    motor,
    nonholonomic,
)

SYSTEMS = 200
KINDS = ("driven", "damped", "rheonomic", "nonholonomic")

DRIFT = 1e-9
"""Part of its size by which what is claimed constant may change along a run."""

UNTIL = 1.0
t = symbol("t")


@dataclass(frozen=True)
class System:
    """A random system: what is claimed of it is known by its parts.

    Attributes:
        kind: one of KINDS.
        mechanism: itself.
        forms: coefficients of each row of speeds, of the coordinates in order and of time.
    """

    kind: str
    mechanism: Mechanism
    names: tuple[str, ...]
    forms: tuple[tuple[Expr, ...], ...] = ()


def drawn(seed: int) -> System:
    """The system of a seed."""
    draw = Random(seed)
    kind = KINDS[seed % len(KINDS)]
    count = draw.randint(3, 4) if kind == "nonholonomic" else draw.randint(2, 3)
    names = tuple(f"Q{k}" for k in range(count))
    parts = _joints(draw, names)
    if draw.random() < 0.5:
        parts.append(gravity(0, draw.choice((-1, -2)), 0))
    if kind == "driven":
        parts += _motors(draw, names, _driving, draw.randint(1, count))
    if kind == "damped" or draw.random() < 0.25:
        parts += _motors(draw, names, _damping, draw.randint(1, count))
    if kind == "rheonomic":
        parts.append(imposed(names[0], _of_time(draw)))
    forms: tuple[tuple[Expr, ...], ...] = ()
    if kind == "nonholonomic":
        forms = tuple(_form(draw, names) for _ in range(draw.randint(1, count - 2)))
        rates = [symbol(f"{x}'") for x in names]
        for k, form in enumerate(forms):
            row = sum((a * v for a, v in zip(form[:-1], rates, strict=True)), form[-1])
            parts.append(nonholonomic(f"row{k}", as_expr(row)))
    return System(kind, mechanism(*parts, name=f"{kind} {seed}"), names, forms)


def _joints(draw: Random, names: Sequence[str]) -> list[Any]:
    """A chain, or joints side by side, of hinges and sliders."""
    last, parts = ground, []
    for name in names:
        mass = draw.randint(1, 3)
        moved = body(f"B{name}", mass=mass, center=(1, draw.randint(0, 1), 0), inertia=(1, 2, 3))
        if draw.random() < 0.5:
            axis = draw.choice(((1, 0, 0), (0, 1, 0)))
            parts.append(join(last, moved, Prismatic, name=name, axis=axis))
        else:
            parts.append(join(last.at((draw.randint(0, 1), 0, 0)), moved, Revolute, name=name))
        last = moved if draw.random() < 0.7 else ground
    speeds = {f"{name}'": draw.randint(-2, 2) / 2 for name in names}
    return [*parts, guess({name: draw.randint(-2, 2) / 4 for name in names} | speeds)]


def _motors(draw: Random, names: Sequence[str], law: Any, count: int) -> list[Any]:
    return [motor(name, effort=as_expr(law(draw, name)), name=f"{law.__name__}{name}")
            for name in draw.sample(names, count)]  # fmt: skip


def _of_time(draw: Random) -> Expr:
    a, w = draw.randint(1, 3), draw.randint(1, 4)
    return as_expr(draw.choice((sin(w * t) * a / 4, a * t / 2, t**2 * a / 4, exp(-w * t) / a)))


def _driving(draw: Random, name: str) -> Any:
    q, a, w = symbol(name), draw.randint(1, 3), draw.randint(1, 4)
    return draw.choice((a * sin(w * t), a * t * q, cos(q + w * t), -a * q + t, a * exp(-t) * q,
                        sqrt(1 + q**2) * sin(t), maximum(0, q) * cos(w * t)))  # fmt: skip


def _damping(draw: Random, name: str) -> Any:
    q, v, a = symbol(name), symbol(f"{name}'"), draw.randint(1, 3)
    return draw.choice((-a * v, -a * v**3, -v * (1 + q**2), -a * v * absolute(v), -q - v / a,
                        -v * sqrt(1 + q**2), -v * maximum(0, q), -v * sqrt(q**2 + 2 * q + 1),
                        -a * v * cos(q) ** 2))  # fmt: skip


def _form(draw: Random, names: Sequence[str]) -> tuple[Expr, ...]:
    """A row of speeds: the differential of a function, the same times a factor, or any."""
    qs = [symbol(x) for x in draw.sample(names, len(names))]
    x, y, z = qs[:3]
    way = draw.randrange(3)
    if way == 2:
        free = (sin(x), cos(x), y, 1 + x * y, absolute(y) + 1, sqrt(1 + z**2), as_expr(1), t)
        form = {q: draw.choice(free) for q in (x, y, z)} | {t: draw.choice((as_expr(0), y))}
    else:
        F = draw.choice((x + y * z, sin(x) + z, x * y + cos(z), z + t * y, x**2 + y + z**2))
        factor = draw.choice((exp(y), 2 + sin(z), 1 + x**2)) if way else as_expr(1)
        form = {
            v: as_expr(factor * s) for v, s in zip((*qs, t), gradient(F, [*qs, t]), strict=True)
        }
    return tuple(as_expr(form.get(symbol(v), as_expr(0))) for v in (*names, "t"))


# What is claimed --------------------------------------------------------------------------------


def faults_of(system: System) -> tuple[int, list[str]]:
    """How many things are claimed of a system, and those that do not hold."""
    claims = [(x.name, x.formula) for x in liaison.first_integrals(system.mechanism)]
    faults = []
    if system.forms:
        verdict = liaison.integrability(system.mechanism)
        claims += [(x.name, x.integral) for x in verdict.rows if x.integral is not None]
        truths = [is_integrable([form], system.names) for form in system.forms]
        for row, truth in zip(verdict.rows, truths, strict=True):
            if row.is_integrable != truth:
                faults.append(f"{row.name}: called {row.is_integrable}, is {truth}")
        if verdict.is_holonomic != is_integrable(system.forms, system.names):
            faults.append(f"together: called {verdict.is_holonomic}")
    faults += [f"{name} drifts by {drift:.1e}" for name, drift in _drifts(system, claims)
               if not drift <= DRIFT]  # fmt: skip
    return len(claims) + len(system.forms), [f"{system.mechanism.name}: {x}" for x in faults]


def _drifts(system: System, claims: Sequence[tuple[str, Expr]]) -> Iterator[tuple[str, float]]:
    """How far each formula changes along a run, against its size and that of 1."""
    if not claims:
        return
    run = _run(system.mechanism)
    at: dict[Expr, Any] = {t: np.asarray(run.t)}
    for name in system.names:
        at |= {symbol(x): np.asarray(run[x]) for x in (name, f"{name}'")}
    for name, formula in claims:
        value = np.broadcast_to(np.asarray(evaluate(formula, at), dtype=float), run.t.shape)
        yield name, float(np.ptp(value) / max(1.0, float(np.max(np.abs(value)))))


def _run(system: Mechanism) -> Any:
    """A run at a tight tolerance; a short one where the motion leaves all bounds soon."""
    for until in (UNTIL, UNTIL / 4):
        with suppress(SimulationError):
            return liaison.simulate(system, until=until, every=until / 20, rtol=1e-12, atol=1e-13)
    raise AssertionError(f"{system.name} has no run")


STEP = 1e-5
ZERO = 1e-6
"""Largest dω that is rounding of differences with this step."""


def is_integrable(forms: Sequence[Sequence[Expr]], names: Sequence[str]) -> bool:
    """Frobenius' condition in floats: dω on pairs of motions that the rows allow, at points."""
    xs = [*(symbol(x) for x in names), t]
    draw = np.random.default_rng(3)

    def rows(point: Any) -> Any:
        at = dict(zip(xs, point, strict=True))
        return np.array([[float(evaluate(a, at)) for a in form] for form in forms])

    for _ in range(12):
        point = draw.uniform(-1.5, 1.5, len(xs))
        slopes = np.array([(rows(point + STEP * e) - rows(point - STEP * e)) / (2 * STEP)
                           for e in np.eye(len(xs))])  # fmt: skip
        allowed = np.linalg.svd(rows(point))[2][len(forms) :]
        for a, b in combinations(allowed, 2):
            d = np.einsum("i,ikj,j->k", a, slopes, b) - np.einsum("i,ikj,j->k", b, slopes, a)
            if np.max(np.abs(d)) > ZERO:
                return False
    return True


def attack(folder: Path, scale: float) -> list[Row]:
    """As many systems as are asked for; none may be claimed to have what it has not."""
    row = Row("claims of random systems", f"{SYSTEMS} systems, drift ≤ {DRIFT:g}")
    for seed in range(max(1, round(scale * SYSTEMS))):
        row.tries += 1
        claimed, faults = faults_of(drawn(seed))
        row.ends["systems with claims" if claimed else "systems without"] += 1
        for fault in faults:
            row.fault(fault)
    return [row]
