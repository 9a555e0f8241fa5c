"""Cases besides `simulate(example, method)`: batches, steppers, scenes, laws of impacts, inputs.

Each is a function without arguments that returns its line of the table. Only public names of
liaison are used, and `examples/n_four_bar.py`.

Public names: FURTHER.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import liaison

EXAMPLES = Path(__file__).parents[2] / "examples"
IMPACTS = ("energetic", "newton", "poisson", "moreau", "stronge")
EVERY_SERIES = (
    "energy", "outputs", "poses", "closure", "reactions", "lam", "accelerations", "motions",
    "momentum",
)  # fmt: skip
STRUCK = ("two_balls", "stops", "box_over_edge", "loop")

FURTHER: dict[str, Callable[[], dict[str, Any]]] = {}
"""Case -> what makes its line."""


def line(arrays: dict[str, Any], t: float, events: list[list[Any]] | None = None) -> dict[str, Any]:
    """A line of the table from named arrays; the first numbers of each are shown."""
    found = hashlib.sha256()
    shown = {"t": [float(t)]}
    for name, values in arrays.items():
        array = np.ascontiguousarray(values, dtype=float)
        found.update(f"{name} {array.shape}".encode() + array.tobytes())
        shown[name] = [float(x) for x in np.nan_to_num(array[-1:].ravel()[:4], nan=-1e9)]
    for event in events or []:
        found.update(repr(event).encode())
    return {
        "sha256": found.hexdigest(),
        "status": "done",
        "rows": len(next(iter(arrays.values()))),
        "end": shown,
        "events": (events or [])[:6],
    }


def trajectory(run: Any) -> dict[str, Any]:
    """The line of one run, its series in the hash as well."""
    arrays = {"t": run.t, "q": run.q, "v": run.v}
    arrays |= {f"{name}": run.series[name].values for name in sorted(run.series)}
    made = line(arrays, run.t[-1], [[e.name, e.what, float(e.t)] for e in run.events])
    return made | {"end": {x: made["end"][x] for x in ("t", "q", "v")}, "status": run.status}


def batch(name: str, **options: Any) -> dict[str, Any]:
    """Many runs of an example: their states stacked, and how each ended."""
    runs = liaison.simulate_batch(EXAMPLES / name, **options)
    arrays = {"q": runs.q, "v": runs.v, "end_q": runs.end_q, "end_v": runs.end_v}
    arrays["end_t"] = runs.end_t
    events = [[e.name, e.what, float(e.t)] for one in runs.events for e in one]
    return line(arrays, runs.t[-1], events) | {"status": " ".join(sorted(set(runs.statuses)))}


def stepped(name: str, count: int, dt: float, **options: Any) -> dict[str, Any]:
    """A stepper, step by step without inputs."""
    its = liaison.stepper(EXAMPLES / name, **options)
    states = [its.step(None, dt) for _ in range(count)]
    arrays = {"q": [x.q for x in states], "v": [x.v for x in states]}
    return line(arrays, states[-1].t)


def scene(**options: Any) -> dict[str, Any]:
    """The pile as a scene of its own."""
    made = liaison.collide(EXAMPLES / "pile.lsd")
    return trajectory(made.simulate(0.06, step=2e-3, **options))


def four_bars(n: int, **options: Any) -> dict[str, Any]:
    """Some four-bars in a row."""
    place = importlib.util.spec_from_file_location("n_four_bar", EXAMPLES / "n_four_bar.py")
    assert place is not None
    assert place.loader is not None
    module = importlib.util.module_from_spec(place)
    place.loader.exec_module(module)
    return trajectory(liaison.simulate(module.n_four_bar(n), until=0.2, **options))


def formalism(name: str, example: str) -> dict[str, Any]:
    """A run of an example whose equations were derived in a formalism."""
    tree = liaison.span(liaison.read(EXAMPLES / example))
    kernel = liaison.to_llvm(liaison.lower(liaison.derive(EXAMPLES / example, name)))
    state = liaison.assemble(tree)
    return trajectory(liaison.simulate(kernel, state, until=0.1, step=0.005, only_series=()))


def one(name: str, **options: Any) -> dict[str, Any]:
    """A run of an example with further options."""
    return trajectory(liaison.simulate(EXAMPLES / name, **({"only_series": ()} | options)))


for _law in IMPACTS:
    for _name in STRUCK:
        FURTHER[f"impacts {_law}, {_name}"] = lambda law=_law, name=_name: one(
            f"contact/{name}.lsd", until=0.6, impacts=law
        )
for _name in ("two_balls", "box_on_hills", "marble_in_bowl", "stick_slip", "skis"):
    FURTHER[f"moreau, theta 0.75, {_name}"] = lambda name=_name: one(
        f"contact/{name}.lsd", until=0.4, step=0.004, method="moreau", theta=0.75
    )
    FURTHER[f"moreau, 6 facets, {_name}"] = lambda name=_name: one(
        f"contact/{name}.lsd", until=0.2, step=0.004, method="moreau", facets=6
    )
for _method in ("tsitouras", "dormand-prince", "radau"):
    FURTHER[f"recorded between steps, {_method}"] = lambda method=_method: one(
        "four_bar.lsd", until=0.5, every=0.013, method=method
    )
for _method in ("rk4", "gauss6", "rattle4", "generalized-alpha"):
    FURTHER[f"recorded between fixed steps, {_method}"] = lambda method=_method: one(
        "spinning_top.lsd", until=0.2, step=0.01, every=0.007, method=method
    )
for _radius in (0.0, 0.5, 1.0):
    FURTHER[f"spectral radius {_radius}"] = lambda radius=_radius: one(
        "slider_crank.lsd", until=0.2, step=0.01, method="generalized-alpha", spectral_radius=radius
    )
for _name in (
    "newton_euler", "dalembert", "balance", "lagrange", "lagrange_reduced", "hamilton", "kane",
    "boltzmann_hamel", "gibbs_appell", "lie_group", "maximal", "stabilized",
):  # fmt: skip
    for _example in ("double_pendulum.lsd", "slider_crank.lsd"):
        FURTHER[f"formalism {_name}, {_example}"] = lambda name=_name, example=_example: formalism(
            name, example
        )

FURTHER |= {
    "stop at a value": lambda: one("pendulum.lsd", until=3.0, stop={"A": 0.0}),
    "all series": lambda: one(
        "four_bar.lsd",
        until=0.1,
        only_series=EVERY_SERIES,
    ),
    "first integrals": lambda: one("spinning_top.lsd", until=0.1, invariants=True),
    "max_step": lambda: one("pendulum.lsd", until=0.3, max_step=0.01, rtol=1e-4),
    "tight tolerances": lambda: one("double_pendulum.lsd", until=0.3, rtol=1e-12, atol=1e-13),
    "batch, pendulum, adaptive": lambda: batch(
        "pendulum.lsd", until=0.5, start={"A": np.linspace(0.1, 1.0, 9)}, every=0.1, threads=2
    ),
    "batch, four-bar, rk4": lambda: batch(
        "four_bar.lsd", until=0.3, start={"A'": np.linspace(0.0, 2.0, 5)}, every=0.1, step=0.01
    ),
    "batch, stops, event-driven": lambda: batch(
        "contact/stops.lsd", until=1.0, start={"A'": np.linspace(0.0, 2.0, 5)}, every=0.1
    ),
    "batch, stops, moreau": lambda: batch(
        "contact/stops.lsd",
        until=1.0,
        start={"A'": np.linspace(0.0, 2.0, 5)},
        every=0.1,
        step=0.005,
        method="moreau",
    ),
    "stepper, pendulum": lambda: stepped("pendulum.lsd", 20, 0.01),
    "stepper, four-bar, rk4": lambda: stepped("four_bar.lsd", 20, 0.01, step=0.005),
    "stepper, two balls": lambda: stepped("contact/two_balls.lsd", 20, 0.02),
    "stepper, stick-slip, moreau": lambda: stepped(
        "contact/stick_slip.lsd", 20, 0.02, step=0.005, method="moreau"
    ),
    "scene": scene,
    "scene, recorded every third step": lambda: scene(every=3),
    "three four-bars": lambda: four_bars(3),
    "three four-bars, rattle": lambda: four_bars(3, step=0.01, method="rattle"),
}
