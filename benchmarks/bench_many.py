"""Many bodies by themselves: processor seconds from a text through `simulate` to the first steps.

    python benchmarks/bench_many.py [names …] [--method NAME]

Every row is in one process, without a cache; what belongs to no mechanism (the time loop, the loops
over nodes) is compiled before, by a first run of another model. Beside each row stands what is
asked of it. Names choose rows: those that contain one of them.

Chains of hinged rods; a closed chain; chains with gears between their joints; four-bars in a row,
on top of each other and in many separate frames; wheels that roll; a net of rods with ball joints;
a tree of rods; the track of 200 shoes of `examples/many/crawler.lsd`, whose pins meet wheels and
teeth in 3600 springs; chains and nets that lie on a plane with balls. The run with reactions is a
second one, which finds code of the first in the cache. `--method NAME` takes other steps.
"""

from __future__ import annotations

import math
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from bench_maximal import hinged
from n_four_bar import n_four_bar

from liaison import forward_dynamics, read, simulate, write_lsd

EXAMPLES = Path(__file__).parents[1] / "examples"

STEP, STEPS = 0.001, 10

T = TypeVar("T")

HOW: dict[str, Any] = {}
"""Options of all runs."""

ROD = "inertia = [0.01, 0.1, 0.1] kg*m^2"


def ring(n: int) -> str:
    """LSD of a closed chain of n hinges: n − 1 rods, and the ground between its ends."""
    turn = 360 / n
    x, y = -math.cos(math.radians(turn)), math.sin(math.radians(turn))
    text = ["gravity = [0, -9.81, 0] m/s^2 ;"]
    for k in range(n - 1):
        on = f"[1, 0, 0] m @ b{k - 1}" if k else "earth"
        text += [
            f"let b{k} = body mass = 1 kg, center = [0.5, 0, 0] m, {ROD} end ;",
            f"let J{k} = join {on} and b{k} with revolute axis = [0, 0, 1] end ;",
            f"guess J{k} = {turn if k else 0.0!r} deg ;",
        ]
    last = f"[{x!r}, {y!r}, 0] m @ earth"
    text.append(
        f"let C = join [1, 0, 0] m @ b{n - 2} and {last} with revolute axis = [0, 0, 1] end ;"
    )
    return "\n".join(text)


def geared(n: int, relations: int) -> str:
    """LSD of a chain of n hinges, relations between the first and the second of two, and so on."""
    listed = [f"require J{2 * k} + 2*J{2 * k + 1} = 0 ;" for k in range(relations)]
    return "\n".join([hinged(n, "revolute"), *listed])


def lattice(columns: int, floors: int) -> str:
    """LSD of four-bars beside and on top of each other: posts on hinges, floors of bars."""
    text = ["gravity = [0, -9.81, 0] m/s^2 ;"]
    for j in range(floors):
        for i in range(columns + 1):
            on = f"[{i}, 0, 0] m @ earth" if j == 0 else f"[0, 1, 0] m @ p{i}_{j - 1}"
            text += [
                f"let p{i}_{j} = body mass = 1 kg, center = [0, 0.5, 0] m, {ROD} end ;",
                f"let A{i}_{j} = join {on} and p{i}_{j} with revolute axis = [0, 0, 1] end ;",
                f"guess A{i}_{j} = {'-10' if j == 0 else '0'} deg ;",
            ]
        for i in range(columns):
            text += [
                f"let t{i}_{j} = body mass = 1 kg, center = [0.5, 0, 0] m, {ROD} end ;",
                f"let B{i}_{j} = join [0, 1, 0] m @ p{i}_{j} and t{i}_{j} with revolute "
                "axis = [0, 0, 1] end ;",
                f"guess B{i}_{j} = 10 deg ;",
                f"let C{i}_{j} = join [1, 0, 0] m @ t{i}_{j} and [0, 1, 0] m @ p{i + 1}_{j} "
                "with revolute axis = [0, 0, 1] end ;",
            ]
    return "\n".join(text)


def net(n: int) -> str:
    """LSD of a net of n by n rods that hangs from a beam: ball joints at all knots."""
    text = ["gravity = [0, 0, -9.81] m/s^2 ;"]
    for i in range(n):
        for j in range(n):
            on = f"[{i}, 0, 0] m @ earth" if j == 0 else f"[0, 0, -1] m @ d{i}_{j - 1}"
            text += [
                f"let d{i}_{j} = body mass = 1 kg, center = [0, 0, -0.5] m, "
                "inertia = [0.1, 0.1, 0.01] kg*m^2 end ;",
                f"let D{i}_{j} = join {on} and d{i}_{j} with ball end ;",
            ]
            if i:
                text += [
                    f"let a{i}_{j} = body mass = 1 kg, center = [0.5, 0, 0] m, "
                    "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;",
                    f"let K{i}_{j} = join [0, 0, -1] m @ d{i - 1}_{j} and a{i}_{j} with ball end ;",
                    f"let L{i}_{j} = join [1, 0, 0] m @ a{i}_{j} and [0, 0, -1] m @ d{i}_{j} "
                    "with ball end ;",
                ]
    return "\n".join(text)


BALL = "with ball radius = 10 cm, friction = 0.3, restitution = 0.5 end ;"


def touching(n: int) -> str:
    """LSD of a chain of n hinges that lies on a plane with a ball at its end."""
    return "\n".join(
        [
            hinged(n, "revolute"),
            f"contact [1, 0, 0] m @ b{n - 1} and [0, 0, -0.1] m @ earth {BALL}",
        ]
    )


def stopped(n: int) -> str:
    """The same with a stop in every hinge, none of them met."""
    return "\n".join([touching(n), *(f"require J{k} >= -170 deg ;" for k in range(n))])


def standing(n: int) -> str:
    """LSD of a net of n by n rods, n of which stand on a plane with a ball each."""
    plane = f"[0, 0, {-n - 0.1}] m @ earth"
    return "\n".join(
        [net(n), *(f"contact [0, 0, -1] m @ d{i}_{n - 1} and {plane} {BALL}" for i in range(n))]
    )


def wheeled(n: int) -> str:
    """LSD of a chain of n hinges on a wheel that rolls."""
    text = [
        "gravity = [0, 0, -9.81] m/s^2 ;",
        "let wheel = body mass = 2 kg, inertia = [0.05, 0.05, 0.09] kg*m^2 end ;",
        "let F = join earth and wheel with free end ;",
        "couple wheel and earth with rolling_disc radius = 0.3 m end ;",
        "guess F = [0, 0, 0.3] m ++ 80 deg || [1, 0, 0] ;",
        "start F.wz = 4 rad/s ;",
    ]
    for k in range(n):
        on, axis = (f"[0.1, 0, 0] m @ b{k - 1}" if k else "wheel"), f"[0, {k % 2}, {1 - k % 2}]"
        text += [
            f"let b{k} = body mass = 0.02 kg, center = [0.05, 0, 0] m, "
            "inertia = [0.1, 1, 1] kg*cm^2 end ;",
            f"let J{k} = join {on} and b{k} with revolute axis = {axis} end ;",
        ]
    return "\n".join(text)


def train(n: int) -> str:
    """LSD of n wagons on a track, two wheels that roll on each, springs between them."""
    text = ["gravity = [0, 0, -9.81] m/s^2 ;", "apply force value = [200, 0, 0] N end on w0 ;"]
    for k in range(n):
        text += [
            f"let w{k} = body mass = 100 kg, inertia = [10, 10, 10] kg*m^2 end ;",
            f"let T{k} = join [{3 * k}, 0, 0.5] m @ earth and w{k} with prismatic "
            "axis = [1, 0, 0] end ;",
        ]
        for side in (-1, 1):
            name = f"{k}{'ab'[side > 0]}"
            text += [
                f"let r{name} = body mass = 10 kg, inertia = [0.3, 0.3, 0.5] kg*m^2 end ;",
                f"let A{name} = join 90 deg || [1, 0, 0] @ ([{side}, 0, 0] m @ w{k}) and r{name} "
                "with revolute end ;",
                f"couple r{name} and earth with rolling_disc radius = 0.5 m end ;",
            ]
        if k:
            text.append(f"apply spring stiffness = 1 kN/m, rest = 3 m end on w{k - 1} and w{k} ;")
    return "\n".join(text)


def geared_bars(n: int) -> str:
    """LSD of n four-bars in a row, cranks geared that their bars keep parallel already."""
    listed = [f"require A{i} - A{i + 1} = 0 ;" for i in range(0, n, 2)]
    return "\n".join([write_lsd(n_four_bar(n)), *listed])


def branches(n: int) -> str:
    """LSD of a tree of n rods: two on the tip of each."""
    text = ["gravity = [0, 0, -9.81] m/s^2 ;"]
    for k in range(n):
        on = f"[1, 0, 0] m @ b{(k - 1) // 2}" if k else "earth"
        axis = "[0, 1, 0]" if k % 2 else "[0, 0, 1]"
        text += [
            f"let b{k} = body mass = 1 kg, center = [0.5, 0, 0] m, {ROD} end ;",
            f"let J{k} = join {on} and b{k} with revolute axis = {axis} end ;",
        ]
    return "\n".join(text)


ROWS: dict[str, tuple[Callable[[], str], float | None, float | None]] = {
    "chain of 100": (lambda: hinged(100, "revolute"), 0.2, 0.2),
    "chain of 1000": (lambda: hinged(1000, "revolute"), 0.8, 0.5),
    "chain of 3000": (lambda: hinged(3000, "revolute"), 2.5, 1.5),
    "chain of 10 000": (lambda: hinged(10_000, "revolute"), 8.0, 5.0),
    "closed chain of 100 hinges": (lambda: ring(100), 2.0, None),
    "closed chain of 1000 hinges": (lambda: ring(1000), None, None),
    "chain of 100 hinges with a gear relation": (lambda: geared(100, 1), 2.0, None),
    "chain of 1000 hinges with a gear relation": (lambda: geared(1000, 1), None, None),
    "chain of 100 hinges with 50 gear relations": (lambda: geared(100, 50), None, None),
    "200 four-bars in a row": (lambda: write_lsd(n_four_bar(200)), 1.5, None),
    "1000 four-bars in a row": (lambda: write_lsd(n_four_bar(1000)), None, None),
    "100 four-bars with 50 gear relations": (lambda: geared_bars(100), None, None),
    "chain of 100 hinges on a wheel that rolls": (lambda: wheeled(100), None, None),
    "train of 50 wagons on 100 wheels that roll": (lambda: train(50), None, None),
    "lattice of 40 by 5 four-bars": (lambda: lattice(40, 5), None, None),
    "net of 12 by 12 rods": (lambda: net(12), None, None),
    "chain of 50 hinges with a ball on a plane": (lambda: touching(50), None, None),
    "chain of 100 hinges with a ball on a plane": (lambda: touching(100), 0.5, None),
    "chain of 200 hinges with a ball on a plane": (lambda: touching(200), None, None),
    "chain of 1000 hinges with a ball on a plane": (lambda: touching(1000), 3.0, None),
    "chain of 200 hinges with a ball on a plane and 200 stops": (lambda: stopped(200), None, None),
    "net of 6 by 6 rods on six balls": (lambda: standing(6), None, None),
    "net of 12 by 12 rods on twelve balls": (lambda: standing(12), None, None),
    "tree of 10 000 rods": (lambda: branches(10_000), None, None),
    "crawler, 200 shoes": (lambda: (EXAMPLES / "many" / "crawler.lsd").read_text(), None, None),
}
"""Name -> text; seconds asked to ten steps, and from a mechanism to its accelerations."""


def main(names: list[str]) -> None:
    """Prints a line for each row that is asked for."""
    if "--method" in names:
        k = names.index("--method")
        HOW["method"] = names[k + 1]
        names = [*names[:k], *names[k + 2 :]]
    print(
        "| | velocities | multipliers | text to ten steps | asked | again, with reactions | "
        "mechanism to v̇ | asked | Φ |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    uncached(warm)
    for name, row in ROWS.items():
        if not names or any(x in name for x in names):
            print(uncached(lambda name=name, row=row: line(name, row[0](), *row[1:])), flush=True)


def uncached(make: Callable[[], T]) -> T:
    """What is made with an empty cache of its own."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LIAISON_CACHE"] = folder
        try:
            return make()
        finally:
            del os.environ["LIAISON_CACHE"]


def warm() -> None:
    """Compiles what all share, by models that are not measured."""
    for text in (hinged(70, "slider"), net(4), stopped(45), standing(3)):
        simulate(text, until=STEP * STEPS, step=STEP, only_series=("reactions",), **HOW)
        to_accelerations(text)


def to_accelerations(text: str) -> float | None:
    """Seconds from a mechanism to its accelerations; None where these depend on what touches."""
    mechanism = read(text)
    if mechanism.contacts:
        return None
    clock = time.process_time()
    forward_dynamics(mechanism)
    return time.process_time() - clock


def line(name: str, text: str, first: float | None, second: float | None) -> str:
    """Seconds of a model, beside those that are asked for."""
    clock = time.process_time()
    run = simulate(text, until=STEP * STEPS, step=STEP, only_series=("closure",), **HOW)
    spent = time.process_time() - clock
    assert run.status == "done", run.message
    clock = time.process_time()
    simulate(text, until=STEP * STEPS, step=STEP, only_series=("reactions",), **HOW)
    reacting = time.process_time() - clock
    ready = to_accelerations(text)
    left = run.series.get("position_residual")
    cells = [
        name, str(run.v.shape[1]), str(len(run.labels.get("lam", ()))),
        f"{spent:.2f} s", asked(first), f"{reacting:.2f} s",
        "–" if ready is None else f"{ready:.2f} s", asked(second),
        "–" if left is None else f"{np.max(left.values, initial=0.0):.0e}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def asked(seconds: float | None) -> str:
    """Seconds, or a dash."""
    return "–" if seconds is None else f"{seconds:g} s"


if __name__ == "__main__":
    main(sys.argv[1:])
