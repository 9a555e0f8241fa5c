"""Results files and checkpoints as version 0.1.0 wrote them, and what stands in them.

    python tests/net/results.py --write   write the files of this folder's results/ anew

They are not to be written anew: they stand for files that users have.

Public names: RESULTS, CHECKPOINTS, FOLDER, contents, expected, begun, resumed,
command_line.
"""

from __future__ import annotations

import hashlib
import json
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import liaison

HERE = Path(__file__).parent
FOLDER = HERE / "results"
EXPECTED = FOLDER / "expected.json"
EXAMPLES = HERE.parents[1] / "examples"
REACTIONS = ("energy", "outputs", "poses", "closure", "contacts", "reactions", "lam")

RESULTS: dict[str, tuple[str, Callable[[Path], Any] | list[str]]] = {
    "pendulum": ("pendulum.lsd", ["--until", "0.3", "--every", "0.02"]),
    "four_bar": (
        "four_bar.lsd",
        ["--until", "0.2", "--every", "0.02", "--series", "reactions", "--series", "lam"],
    ),
    "stops": ("contact/stops.lsd", ["--until", "0.8", "--every", "0.05"]),
    "stick_slip": (
        "contact/stick_slip.lsd",
        ["--until", "0.8", "--step", "0.01", "--method", "moreau"],
    ),
    "spinning_top": (
        "spinning_top.lsd",
        lambda path: liaison.simulate(path, until=0.1, step=0.01, only_series=REACTIONS),
    ),
    "stopped": (
        "pendulum.lsd",
        lambda path: liaison.simulate(path, until=3.0, every=0.05, stop={"A": 0.0}),
    ),
    "of_a_batch": (
        "contact/stops.lsd",
        lambda path: liaison.simulate_batch(
            path, until=0.5, start={"A'": np.array([0.5, 1.0, 1.5])}, every=0.1
        )[1],
    ),
}
"""File -> its example, and options of the command line or what makes the run."""

CHECKPOINTS: dict[str, tuple[str, dict[str, Any]]] = {
    "four_bar": ("four_bar.lsd", {"rtol": 1e-8}),
    "stops": ("contact/stops.lsd", {"rtol": 1e-8}),
    "stick_slip": ("contact/stick_slip.lsd", {"step": 0.01, "method": "moreau"}),
    "gauss": ("double_pendulum.lsd", {"step": 0.01, "method": "gauss4"}),
}
"""File -> example and settings of a run that was kept half way."""

UNTIL, TRIES = 0.6, 12


def contents(run: Any) -> dict[str, Any]:
    """All of a run as plain data: arrays by their bytes and first numbers, words as they are."""
    arrays = {"t": run.t, "q": run.q, "v": run.v}
    arrays |= {f"series {name}": x.values for name, x in run.series.items()}
    for k, event in enumerate(run.events):
        arrays |= {f"event {k} q": event.q, f"event {k} v": event.v}
    found = {
        "name": run.name,
        "status": run.status,
        "counts": dict(run.counts),
        "labels": {x: [[y.name, y.unit] for y in found] for x, found in run.labels.items()},
        "series": {
            x: {"unit": y.unit, "axes": {a: list(b) for a, b in y.axes.items()}}
            for x, y in run.series.items()
        },
        "columns": {x: label.unit for x, (label, _) in run.columns().items()},
        "events": [[e.name, e.what, float(e.t)] for e in run.events],
        "arrays": {x: [digest(y), list(np.shape(y)), _first(y)] for x, y in arrays.items()},
    }
    plain: dict[str, Any] = json.loads(json.dumps(found))
    return plain


def digest(values: Any) -> str:
    """SHA-256 of the bytes of an array."""
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:24]


def _first(values: Any) -> list[float]:
    return [float(x) for x in np.nan_to_num(np.ravel(values)[-3:])]


def expected() -> dict[str, Any]:
    """What stood in the files when they were written."""
    found: dict[str, Any] = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return found


def begun(name: str) -> Any:
    """The run of a checkpoint, from its start."""
    example, given = CHECKPOINTS[name]
    mechanism = liaison.read(EXAMPLES / example)
    tree = liaison.span(mechanism)
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    return liaison.Run(kernel, liaison.assemble(tree), UNTIL, liaison.Settings(**given))


def resumed(name: str) -> Any:
    """What comes of a checkpoint that is taken up: a trajectory; or the error that refuses it."""
    run = begun(name)
    try:
        run.restore((FOLDER / f"{name}.checkpoint").read_bytes())
    except liaison.LiaisonError as error:
        return error
    return run.finish(series=())


def command_line(words: list[str], capsys: Any, monkeypatch: Any) -> tuple[int, str]:
    """Exit status and output of `python -m liaison WORDS`, in this process."""
    monkeypatch.setattr(sys, "argv", ["liaison", *words])
    try:
        runpy.run_module("liaison", run_name="__main__")
    except SystemExit as end:
        return int(end.code or 0), capsys.readouterr().out
    return 0, capsys.readouterr().out


def write() -> None:
    """All files anew, and what stands in them."""
    FOLDER.mkdir(exist_ok=True)
    found: dict[str, Any] = {"results": {}, "checkpoints": {}}
    for name, (example, how) in RESULTS.items():
        path = FOLDER / f"{name}.nc"
        if isinstance(how, list):
            words = ["simulate", str(EXAMPLES / example), *how, "--out", str(path)]
            subprocess.run([sys.executable, "-m", "liaison", *words], check=True)
        else:
            how(EXAMPLES / example).save(path)
        found["results"][name] = contents(liaison.load(path))
    for name in CHECKPOINTS:
        run = begun(name)
        run.go(TRIES)
        run.keep(FOLDER / f"{name}.checkpoint")
        run = begun(name).finish(series=())
        found["checkpoints"][name] = {
            "t": float(run.t[-1]),
            "q": run.q[-1].tolist(),
            "v": run.v[-1].tolist(),
        }
    text = json.dumps(found, ensure_ascii=False, indent=1)
    EXPECTED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--write" not in sys.argv[1:]:
        sys.exit(__doc__)
    write()
