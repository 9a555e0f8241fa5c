"""Starts beside change points of linkages: energy is kept to 1e-6, or the start is refused.

At a change point a linkage lies flat and two branches of its motion cross; the closures lose rank.
Beside it, at a distance from 1e-3 to 1e-12, positions of both branches satisfy the closures to
rounding, and speeds of the wrong branch nearly do. A start is either kept as it is written, and the
motion keeps its energy, or refused with a reason.

A run that comes to a change point passes it on its branch, or ends with an error.

Public names: LINKAGES, Try, drawn, outcome, drawn_through, passed, change_points.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

import liaison
from attack.table import Row
from liaison.errors import LiaisonError, SimulationError
from liaison.numeric import State
from liaison.program import Kernel

KEPT = 1e-6
"""Part of the energy that a run may lose; of a speed, that it may differ from its start."""

UNTIL = 0.5


def four_bar(a: float, b: float, c: float, d: float) -> str:
    """A linkage in the plane x-y without gravity: crank a, coupler b, rocker c, ground d [m]."""
    return f"""
let crank = body mass = 1 kg, center = [{a / 2!r}, 0, 0] m, inertia = 0.01 kg*m^2 end ;
let coupler = body mass = 1 kg, center = [{b / 2!r}, 0, 0] m, inertia = 0.05 kg*m^2 end ;
let rocker = body mass = 1 kg, center = [{c / 2!r}, 0, 0] m, inertia = 0.01 kg*m^2 end ;
let A = join earth and crank with revolute end ;
let B = join [{a!r}, 0, 0] m @ crank and coupler with revolute end ;
let C = join [{b!r}, 0, 0] m @ coupler and [{c!r}, 0, 0] m @ rocker with revolute end ;
let D = join [{d!r}, 0, 0] m @ earth and rocker with revolute end ;
"""


def slider_crank(a: float) -> str:
    """Crank and rod of one length: the slider stands over the axle at A = 90°."""
    return f"""
let crank = body mass = 1 kg, center = [{a / 2!r}, 0, 0] m, inertia = 0.01 kg*m^2 end ;
let rod = body mass = 1 kg, center = [{a / 2!r}, 0, 0] m, inertia = 0.02 kg*m^2 end ;
let block = body mass = 1 kg, inertia = 0.01 kg*m^2 end ;
let A = join earth and crank with revolute end ;
let B = join [{a!r}, 0, 0] m @ crank and rod with revolute end ;
let C = join [{a!r}, 0, 0] m @ rod and block with revolute end ;
let X = join earth and block with prismatic axis = [1, 0, 0] end ;
"""


@dataclass(frozen=True)
class Linkage:
    """A linkage at a change point.

    Attributes:
        text: in LSD, without starts.
        flat: positions of its coordinates there.
        branches: directions in which the branches leave it, in the same coordinates.
    """

    text: str
    flat: dict[str, float]
    branches: tuple[dict[str, float], ...]


def of_bars(a: float, b: float, c: float, d: float, angles: tuple[float, float, float]) -> Linkage:
    """A four-bar that lies flat at some angles A, B, D; its branches from the second order of Φ."""
    x, z = angles[0] + angles[1], angles[2]
    signs = [math.cos(angles[0]), math.cos(x), math.cos(z)]
    # first order: a s1 dA + b s2 dX - c s3 dZ = 0 (y); second: a s1 dA² + b s2 dX² - c s3 dZ² = 0
    p, q, r = a * signs[0], b * signs[1], c * signs[2]
    # dA = 1, dX = (r dZ - p)/q: p + (r dZ - p)²/q - r dZ² = 0
    roots = np.roots([r * r / q - r, -2 * r * p / q, p + p * p / q])
    branches = []
    for dz in sorted(float(k.real) for k in roots):
        dx = (r * dz - p) / q
        branches.append({"A": 1.0, "B": dx - 1.0, "D": dz})
    return Linkage(four_bar(a, b, c, d), dict(zip("ABD", angles, strict=True)), tuple(branches))


LINKAGES = {
    "parallelogram": of_bars(0.3, 1.0, 0.3, 1.0, (0.0, 0.0, 0.0)),
    "parallelogram, other end": of_bars(0.3, 1.0, 0.3, 1.0, (math.pi, -math.pi, math.pi)),
    "kite": Linkage(
        four_bar(0.3, 0.8, 0.8, 0.3),
        {"A": 0.0, "B": math.pi, "D": math.pi},
        ({"A": 1.0, "B": -0.3125, "D": 0.3125}, {"A": 0.0, "B": 1.0, "D": 1.0}),
    ),
    "change-point linkage": of_bars(0.2, 0.5, 0.4, 0.3, (0.0, 0.0, 0.0)),
    "slider-crank": Linkage(
        slider_crank(0.4),
        {"A": math.pi / 2, "B": math.pi, "X": 0.0},
        ({"A": 1.0, "B": -2.0, "X": -0.8}, {"A": 1.0, "B": 0.0, "X": 0.0}),
    ),
}


@dataclass(frozen=True)
class Try:
    """A start beside a change point."""

    linkage: str
    start: dict[str, float]


def drawn(count: int, seed: int = 0) -> Iterator[Try]:
    """Starts by chance: a distance, a branch for positions, one for speeds, and what is given."""
    rng = np.random.default_rng(seed)
    names = list(LINKAGES)
    for k in range(count):
        linkage = LINKAGES[names[k % len(names)]]
        delta = float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-12, -3))
        there, moving = (linkage.branches[int(rng.integers(2))] for _ in range(2))
        labels = list(linkage.flat)
        taken = labels if rng.random() < 0.7 else labels[:1]
        speeds = labels if rng.random() < 0.3 else [labels[0], labels[-1]]
        if rng.random() < 0.3:
            speeds = labels[:1]
        start = {name: linkage.flat[name] + delta * there[name] for name in taken}
        start |= {f"{name}'": 2.0 * moving[name] for name in speeds}
        yield Try(names[k % len(names)], start)


def outcome(one: Try) -> str:
    """ "kept", "refused: …", or what was wrong."""
    mechanism = liaison.read(LINKAGES[one.linkage].text)
    try:
        run = liaison.simulate(mechanism, until=UNTIL, start=one.start, max_steps=200_000)
    except LiaisonError as error:
        return f"refused: {type(error).__name__}: {error}"
    first = State(run.t[0], run.q[0], run.v[0], run.labels)
    for name, value in one.start.items():
        if abs(first[name] - value) > KEPT * max(1.0, abs(value)):
            return f"WRONG: {name} = {first[name]:.9g} at the start, not {value:.9g}"
    energy = run["energy"].sum(axis=1)
    lost = float(np.max(np.abs(energy - energy[0]))) / max(float(energy[0]), 1e-300)
    return "kept" if lost <= KEPT else f"WRONG: {lost:.2g} of the energy goes"


def drawn_through(count: int, seed: int = 0) -> Iterator[tuple[str, int, float, float]]:
    """Linkage, branch, way before its change point [rad, m] and rtol of runs through it."""
    rng = np.random.default_rng(seed)
    names = list(LINKAGES)
    for k in range(count):
        way, digits = float(rng.uniform(0.05, 0.6)), float(rng.uniform(6, 11))
        yield names[k % len(names)], int(rng.integers(2)), way, 10.0**-digits


@cache
def kernel_of(linkage: str) -> Kernel:
    """Its equations, compiled once."""
    return liaison.compile(LINKAGES[linkage].text)


def passed(linkage: str, branch: int, way: float, rtol: float) -> str:
    """ "kept" on its branch, "switched: …" with its energy, "ended: …", or what was wrong."""
    flat, moving = LINKAGES[linkage].flat, LINKAGES[linkage].branches[branch]
    lead = next(x for x, rate in moving.items() if rate)
    before = {x: flat[x] - way * rate for x, rate in moving.items()}
    start = {lead: before.pop(lead), f"{lead}'": 2.0 * moving[lead]}
    try:
        run = liaison.simulate(
            kernel_of(linkage), until=2.0, start=start, guess=before, rtol=rtol, max_steps=200_000
        )
    except SimulationError as error:
        return f"ended: {error.status}"
    energy = run["energy"].sum(axis=1)
    lost = float(np.max(np.abs(energy - energy[0]))) / float(energy[0])
    if lost > max(KEPT, 1e3 * rtol):
        return f"WRONG: {lost:.2g} of the energy goes"
    ends = [branch_of(linkage, q) for q in (run.q[0], run.q[-1])]
    return "kept" if ends[0] == ends[1] else f"switched: on branch {ends[1]}, not {ends[0]}"


def branch_of(linkage: str, q: np.ndarray) -> str:
    """The branch of a position away from the change points, where branches differ by what stays."""
    kept = {"kite": q[0], "slider-crank": q[-1]}.get(linkage, q[0] - q[-1])
    if linkage == "change-point linkage":
        return ""  # one curve with a node, whose branches change into each other
    return "first" if abs(math.remainder(kept, 2 * math.pi)) < 1e-5 else "second"


def change_points(count: int = 1000, seed: int = 0) -> dict[str, object]:
    """A row of the table of attacks: area, tries, failures, and what came of the tries."""
    outcomes = [(one, outcome(one)) for one in drawn(count, seed)]
    failures = [f"{one.linkage} {one.start}: {x}" for one, x in outcomes if x.startswith("WRONG")]
    counts = Counter(x.partition(":")[0] for _, x in outcomes)
    return {
        "area": "starts beside change points",
        "tries": count,
        "failures": len(failures),
        "counts": dict(counts),
        "examples": failures[:5],
    }


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """Two rows: energy kept to 1e-6, or an error."""
    row = Row("starts beside change points", "1000, energy kept to 1e-6 or refused")
    for one in drawn(max(1, round(1000 * scale))):
        row.tries += 1
        end = outcome(one)
        row.ends[end.partition(":")[0]] += 1
        if end.startswith("WRONG"):
            row.fault(f"{one.linkage} {one.start}: {end}")
    yield row
    row = Row("runs through change points", "1000, energy kept or an error")
    for case in drawn_through(max(1, round(1000 * scale))):
        row.tries += 1
        end = passed(*case)
        row.ends[end.partition(":")[0]] += 1
        if end.startswith("WRONG"):
            row.fault(f"{case}: {end}")
    yield row
