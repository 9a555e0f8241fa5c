"""From event to event against the same in a loop of Python: `python benchmarks/bench_events.py`.

Four mechanisms of `examples/reference`: CPU of both at the loosest tolerance that finds every
instant to 1e-9 s, SciPy with its quickest method. Errors are those of instants, against closed
forms (bouncing ball, brakes) or a run of tighter tolerance (woodpecker). Written to
benchmarks/out/events.json.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import events_in_python as python
import numpy as np
from scipy.optimize import brentq

import liaison

HERE = Path(__file__).parent
MODELS = HERE.parent / "examples" / "reference"
ACCURACY = 1e-9
"""Error of every instant that both sides keep below [s]."""
FLOOR = 10.0
"""How many times quicker liaison is, at least."""
FALL = math.sqrt(2 / 9.81)
IMPACTS = FALL + np.cumsum([0, *(2 * FALL * 0.9**k for k in range(1, 40))])
PECKING = 1.0
METHODS = ("RK45", "DOP853")

Timed = tuple[float, float, str]
"""CPU seconds, worst error of an instant [s], how."""


def least(run: Callable[[], Any]) -> float:
    """CPU seconds of the quickest of runs that take some 0.3 s, at least ten."""
    best, times, over = math.inf, 0, time.process_time() + 0.3
    while times < 10 or time.process_time() < over:
        begun = time.process_time()
        run()
        best, times = min(best, time.process_time() - begun), times + 1
    return best


def ours(model: str, until: float, read: Callable[[Any], Any], want: Any) -> Timed:
    """Liaison's run, compiled before, at the loosest tolerance that is accurate enough."""
    tree = liaison.span(liaison.read(MODELS / f"{model}.lsd"))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    state = liaison.assemble(tree)

    def run(rtol: float, atol: float) -> Any:
        return read(
            liaison.simulate(kernel, state, until=until, rtol=rtol, atol=atol, only_series=())
        )

    return quickest(run, {}, want)


def quickest(run: Callable[..., Any], fixed: dict[str, Any], want: Any) -> Timed:
    """A run at the loosest of tolerances that misses no instant by more than ACCURACY."""
    for exponent in range(6, 14):
        options = {**fixed, "rtol": 10.0**-exponent, "atol": 10.0**-exponent / 100}
        error = miss(run(**options), want)
        if error <= ACCURACY:
            spent = least(lambda o=options: run(**o))
            return spent, error, f"{' '.join(fixed.values())} rtol 1e-{exponent}".strip()
    return math.inf, error, "not reached"


def theirs(run: Callable[..., Any], want: Any) -> Timed:
    """SciPy's quickest method."""
    return min(quickest(run, {"method": method}, want) for method in METHODS)


def miss(found: Sequence[float], want: Sequence[float]) -> float:
    """The largest error of an instant; infinite where there are others."""
    if len(found) != len(want):
        return math.inf
    return float(np.max(np.abs(np.subtract(found, want))))


def instants(name: str, what: str) -> Callable[[Any], list[float]]:
    return lambda run: [x.t for x in run.events if (x.name, x.what) == (name, what)]


def pecks() -> list[float]:
    """Of a run of tighter tolerance."""
    model = MODELS / "woodpecker.lsd"
    run = liaison.simulate(model, until=PECKING, rtol=1e-13, atol=1e-15, only_series=())
    return instants("beak", "impact")(run)


def slides() -> list[float]:
    """Instants at which the driven brake lets go and holds, in 20 s, by its closed form."""
    F, R, w = 2.0, 1.4, 2 * math.pi
    begin = math.asin(R / F) / w
    speed = lambda t: F / w * (math.cos(w * begin) - math.cos(w * t)) - R * (t - begin)  # noqa: E731
    end = brentq(speed, 0.5 - begin, begin + 0.5, xtol=1e-15)
    return [x + k / 2 for k in range(40) for x in (begin, end)]


def rows() -> dict[str, tuple[Timed, Timed]]:
    """Both sides of each mechanism."""
    bird, want = python.Woodpecker(), pecks()
    cases = {
        "bouncing_ball": (
            8.45, instants("floor", "impact"), IMPACTS,
            lambda **o: python.bouncing_ball(40, **o),
        ),
        "brake": (
            2.0, lambda run: [*instants("pad", "sticks")(run), run.q[-1, 0]], [1.1, 0.6],
            lambda **o: python.brake(2.0, **o),
        ),
        "driven_brake": (
            20.1, lambda run: [x.t for x in run.events], slides(),
            lambda **o: python.driven_brake(20.1, **o),
        ),
        "woodpecker": (
            PECKING, instants("beak", "impact"), want,
            lambda **o: bird.pecks(PECKING, **o),
        ),
    }  # fmt: skip
    found = {}
    for model, (until, read, exact, loop) in cases.items():
        found[model] = ours(model, until, read, exact), theirs(loop, exact)
    return found


def main() -> int:
    """Prints the table; 1 if liaison is less than FLOOR times quicker anywhere."""
    print(
        f"{'mechanism':15} {'liaison':>10} {'error':>8}  {'SciPy':>10} {'error':>8}  {'ratio':>6}"
    )
    told, slow = {}, []
    for model, (mine, other) in rows().items():
        ratio = other[0] / mine[0]
        print(
            f"{model:15} {mine[0] * 1e3:7.2f} ms {mine[1]:8.1e}  {other[0] * 1e3:7.2f} ms "
            f"{other[1]:8.1e}  {ratio:5.1f}x  (at least {FLOOR:.0f}x; {mine[2]}; {other[2]})"
        )
        told[model] = {"liaison": mine, "scipy": other, "ratio": ratio}
        slow += [model] if ratio < FLOOR else []
    out = HERE / "out" / "events.json"
    out.parent.mkdir(exist_ok=True)
    out.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
