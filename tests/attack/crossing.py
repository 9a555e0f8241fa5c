"""Random mechanisms with tables, events, loops and contacts: does an adaptive run see it all?

Each is run at the default tolerance, and twice with short steps at 1e-12 and 1e-13. Where these two
agree to 1e-9 and no event is within 1e-6 of another outcome, the first run must have every event
and its states within 1e-6. Mechanisms whose events change under such a disturbance graze, or are
chaotic; they are counted apart.

    python tests/attack/crossing.py 500 [first seed]

Public names: crossing, tried, text_of.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import liaison
from attack.table import Row
from liaison.errors import LiaisonError

AGREE, NEAR = 1e-9, 1e-6
"""What two exact runs may differ by, and what the run that is tried may be off."""

SHORT = 2000
"""Steps at least of an exact run."""


def number(r: random.Random, low: float, high: float) -> str:
    """A number with four digits."""
    return f"{r.uniform(low, high):.4g}"


def pulses(r: random.Random, end: float, size: float) -> str:
    """A formula of time, a number: tables, bells, switches and waves, most of them narrow."""
    kinds = r.sample(["table", "bell", "switch", "wave"], r.randint(1, 3))
    found = []
    for kind in kinds:
        a, width = r.uniform(0.1, 0.9) * end, 10 ** r.uniform(-3.3, -0.7)
        height = r.uniform(0.3, 1) * size * min(1.0, 0.03 / width) * r.choice((-1, 1))
        if kind == "table":
            x = [0, a, a + 0.5 * width, a + width, a + width + 9]
            y = [0, 0, height, 0, 0]
            listed = [", ".join(f"{z:.6g}" for z in row) for row in (x, y)]
            found.append(f'table(t/(1 s), [{listed[0]}], [{listed[1]}], "linear")')
        elif kind == "bell":
            found.append(f"{height:.5g}*exp(-((t - {a:.5g} s)/({width:.5g} s))^2)")
        elif kind == "switch":
            found.append(f"{height:.5g}*if(t - {a:.5g} s, 1, 0)*if({a + width:.6g} s - t, 1, 0)")
        else:
            found.append(f"{0.2 * size * r.random():.4g}*sin({r.uniform(1, 40):.4g} rad/s*t)")
    return " + ".join(found).replace("+ -", "- ")


def slider(r: random.Random, end: float) -> str:
    """A cart with pulses, a law that bends, and levels it passes."""
    law = r.choice(
        ["-3 N/m*X", "-40 N/m*max(0 m, X - 0.1 m)", "-2 N*X/(0.3 m + abs(X))",
         '0.5 N*table(X/(1 m), [-1, 0.2, 0.21, 0.22, 2], [0, 0, -9, 0, 0], "linear")']
    )  # fmt: skip
    return f"""
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
apply force value = [1 N*({pulses(r, end, 8)}) + {law}, 0, 0] end on b ;
event level when X - {number(r, -0.2, 0.4)} m crossing record ;
event turns when X' crossing record ;
start X' = {number(r, -1, 1)} m/s ;
"""


def pendulums(r: random.Random, end: float) -> str:
    """Two hinges in a row."""
    return f"""
gravity = [0, -9.81, 0] m/s^2 ;
let b = body mass = 1 kg, center = [0.2, 0, 0] m, inertia = 0.02 kg*m^2 end ;
let c = body mass = 0.5 kg, center = [0.1, 0, 0] m, inertia = 0.01 kg*m^2 end ;
let A = join earth and b with hinge axis = [0, 0, 1] end ;
let B = join [0.4, 0, 0] m @ b and c with hinge axis = [0, 0, 1] end ;
apply torque value = [0, 0, 1 N*m*({pulses(r, end, 2)})], body = earth end on b ;
event level when A + {number(r, 0.8, 2)} rad crossing record ;
event fast when B' - {number(r, 1, 3)} rad/s crossing record ;
start A = {number(r, -2, -1)} rad ; start B = {number(r, -0.5, 0.5)} rad ;
"""


def ball(r: random.Random, end: float) -> str:
    """A body that bounces on a floor that a formula of time moves."""
    floor = r.choice(["0 m", f"3 cm*exp(-((t - {0.4 * end:.4g} s)/(30 ms))^2)"])
    return f"""
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let Z = join earth and b with slider axis = [0, 0, 1] end ;
require {floor} - Z <= 0 m with restitution = {number(r, 0.7, 1)} end ;
event level when Z - {number(r, 0.2, 0.6)} m crossing record ;
apply force value = [0, 0, 1 N*({pulses(r, end, 4)})] end on b ;
start Z = {number(r, 0.3, 1)} m ; start Z' = {number(r, -1, 2)} m/s ;
"""


def stuck(r: random.Random, end: float) -> str:
    """Dry friction that holds, gives way and holds again."""
    return f"""
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
apply friction dry = {number(r, 2, 3)} N, static = {number(r, 3, 4)} N end on X ;
apply force value = [1 N*({pulses(r, end, 9)}), 0, 0] end on b ;
event moves when X - {number(r, 0.001, 0.02)} m crossing record ;
"""


def loop(r: random.Random, end: float) -> str:
    """A slider-crank, pushed."""
    return f"""
let crank = body mass = 0.5 kg, center = [0.1, 0, 0] m, inertia = 0.01 kg*m^2 end ;
let rod = body mass = 0.3 kg, center = [0.2, 0, 0] m, inertia = 0.01 kg*m^2 end ;
let piston = body mass = 0.4 kg, inertia = 0.01 kg*m^2 end ;
let A = join earth and crank with hinge axis = [0, 0, 1] end ;
let B = join [0.2, 0, 0] m @ crank and rod with hinge axis = [0, 0, 1] end ;
let C = join [0.5, 0, 0] m @ rod and piston with hinge axis = [0, 0, 1] end ;
let X = join earth and piston with slider axis = [1, 0, 0] end ;
apply torque value = [0, 0, 1 N*m*({pulses(r, end, 1)})], body = earth end on crank ;
event dead when X' crossing record ;
event level when X - {number(r, 0.4, 0.6)} m crossing record ;
start A = {number(r, 0.3, 1)} rad ; start A' = {number(r, 2, 8)} rad/s ;
"""


KINDS = (slider, pendulums, ball, stuck, loop)


def text_of(seed: int) -> tuple[str, float]:
    """The description of a mechanism, and how long it is run [s]."""
    r = random.Random(seed)
    end = r.uniform(1.0, 3.0)
    return KINDS[seed % len(KINDS)](r, end), end


def events_of(run: Any) -> list[tuple[str, str, float]]:
    """Events with their names."""
    return [(event.name, event.what, event.t) for event in run.events]


def alike(one: Any, other: Any, size: float) -> bool:
    """Whether two runs have the same events and ends, to a size."""
    a, b = events_of(one), events_of(other)
    if [x[:2] for x in sorted(a)] != [x[:2] for x in sorted(b)]:
        return False
    times = [abs(x[2] - y[2]) for x, y in zip(sorted(a), sorted(b), strict=True)]
    end = max(np.abs(one.q[-1] - other.q[-1]).max(), np.abs(one.v[-1] - other.v[-1]).max())
    return bool(max([end, *times]) <= size)


def tried(seed: int) -> str:
    """What became of one mechanism: "same", "apart" (grazing or chaotic), or what is wrong."""
    text, end = text_of(seed)
    model = liaison.read(text)
    fine = {"atol": 1e-14, "max_step": end / SHORT, "every": [end]}
    try:
        exact, again = (liaison.simulate(model, until=end, rtol=x, **fine) for x in (1e-12, 1e-13))
        if not alike(exact, again, AGREE):
            return "apart"
        run = liaison.simulate(model, until=end, every=[end])
        if alike(run, exact, NEAR):
            return "same"
        label = next(f"{x}'" for x in "XZA" if f"let {x} = join" in text)
        nudged = {label: float(model_start(model, label)) + NEAR}
        other = liaison.simulate(model, until=end, rtol=1e-12, start=nudged, **fine)
    except LiaisonError as fault:
        return f"seed {seed}: {fault}"
    if not alike(other, exact, 1e4 * NEAR):
        return "apart"
    return f"seed {seed}: {events_of(run)} for {events_of(exact)}, ends {run.q[-1]}, {exact.q[-1]}"


def model_start(model: Any, label: str) -> Any:
    """The start of a rate."""
    return next((x.value for x in model.starts if x.label == label), 0.0)


def crossing(tries: int = 500, first: int = 0) -> dict[str, object]:
    """A row of the table of attacks: area, tries, found, failures, and what came of the tries."""
    outcomes = [tried(seed) for seed in range(first, first + tries)]
    wrong = [x for x in outcomes if x not in ("same", "apart")]
    return {
        "area": "steps that cross tables, events, loops and contacts",
        "tries": tries,
        "found": outcomes.count("same"),
        "failures": len(wrong),
        "counts": {"same": outcomes.count("same"), "apart": outcomes.count("apart")},
        "examples": wrong[:5],
    }


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """One row: every event is found, and states agree to 1e-6."""
    row = Row("steps that cross tables, events, contacts", "500, the same as at 1e-12")
    for seed in range(max(1, round(500 * scale))):
        row.tries += 1
        end = tried(seed)
        row.ends[end if end in ("same", "apart") else "wrong"] += 1
        if end not in ("same", "apart"):
            row.fault(end)
    yield row


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print(crossing(count, int(sys.argv[2]) if len(sys.argv) > 2 else 0))
