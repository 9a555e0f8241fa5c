"""Every shipped mechanism as FMUs of both versions, run by fmpy in both kinds, against `simulate`.

Writes out/fmi.json, and prints a row for each mechanism, version and kind: size of the file, CPU
time of the export, largest difference of a coordinate or velocity against a run with tighter
tolerances (relative to its size, at least 1), largest difference of an instant of an event.

    python benchmarks/bench_fmi.py [--only NAME …] [--until SECONDS]
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import liaison
from liaison.errors import LiaisonError

ROOT = Path(__file__).parents[1]
KINDS = ("ModelExchange", "CoSimulation")
UNTIL, STEPS, LIMIT = 5.0, 200, 20
"""Length of runs [s], communications, and the longest time of one of them [s]."""

BOUND = 1e-8


def mechanisms() -> list[Path]:
    folders = ("examples", "examples/contact", "examples/cases", "examples/reference")
    return sorted(
        x for f in folders for x in (ROOT / f).glob("*") if x.suffix in (".lsd", ".urdf", ".xml")
    )


class Slow(Exception):
    pass


def limited(call: Any, *args: Any, **kwargs: Any) -> Any:
    def stop(*_: Any) -> None:
        raise Slow(f"over {LIMIT} s")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT)
    try:
        return call(*args, **kwargs)
    finally:
        signal.alarm(0)


def reference(path: Path, until: float) -> Any:
    """The run that FMUs are compared with, shortened where it ends early."""
    return liaison.simulate(
        path, until=until, every=until / STEPS, rtol=1e-12, atol=1e-13, watch=False
    )


def sensitivity(path: Path, run: Any, until: float) -> float:
    """How much a run differs from one with looser tolerances: a chaotic motion differs widely."""
    other = liaison.simulate(
        path, until=until, every=until / STEPS, rtol=1e-10, atol=1e-12, watch=False
    )
    n = min(len(run.t), len(other.t))
    return max(relative(run.q[:n], other.q[:n]), relative(run.v[:n], other.v[:n]))


def relative(x: Any, y: Any) -> float:
    if not np.size(x):
        return 0.0
    size = np.maximum(1.0, np.max(np.abs(y), axis=0))
    return float(np.max(np.abs(np.asarray(x) - y) / size))


def simulated(fmu: Path, kind: str, until: float) -> Any:
    from fmpy import read_model_description, simulate_fmu

    about = read_model_description(str(fmu))
    names = [x.name for x in about.modelVariables if x.causality == "output"]
    more = {"solver": "CVode", "relative_tolerance": 1e-11} if kind == KINDS[0] else {}
    result = simulate_fmu(
        str(fmu), fmi_type=kind, stop_time=until, output_interval=until / STEPS, output=names,
        record_events=False, **more,
    )  # fmt: skip
    return result


def columns(result: Any, run: Any) -> tuple[Any, Any]:
    """q and v of an FMU's run, by the names of the run's labels."""
    flat: dict[str, Any] = {}
    for name in result.dtype.names:
        values = np.asarray(result[name], dtype=float)
        stem, _, last = name.rpartition(".")
        if values.ndim == 2:
            flat |= {f"{stem}.{last}#{k}": values[:, k] for k in range(values.shape[1])}
        else:
            flat[name] = values
    listed = iter([flat[x] for x in flat if x != "time"])
    labels = [*run.labels["q"], *run.labels["v"]]
    table = np.array([next(listed) for _ in labels]).T if labels else np.zeros((len(result), 0))
    nq = len(run.labels["q"])
    return table[:, :nq], table[:, nq:]


def row(path: Path, version: str, kind: str, fmu: Path, run: Any, until: float) -> dict[str, Any]:
    begin = time.process_time()
    result = limited(simulated, fmu, kind, until)
    took = time.process_time() - begin
    q, v = columns(result, run)
    n = min(len(result), len(run.t))
    same = [k for k in range(n) if abs(result["time"][k] - run.t[k]) < 1e-9]
    difference = max(relative(q[same], run.q[same]), relative(v[same], run.v[same]))
    return {"difference": difference, "compared": len(same), "run_s": took}


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--until", type=float, default=UNTIL)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    from fmpy.validation import validate_fmu

    out = ROOT / "out" / "fmi"
    out.mkdir(parents=True, exist_ok=True)
    table: list[dict[str, Any]] = []
    for path in mechanisms():
        if options.only and path.stem not in options.only:
            continue
        try:
            run = limited(reference, path, options.until)
            until = float(run.t[-1])
            rough = limited(sensitivity, path, run, until)
        except (LiaisonError, Slow) as error:
            print(f"{path.stem:28} no run: {str(error).splitlines()[0][:90]}", flush=True)
            table.append({"mechanism": path.stem, "no run": str(error)})
            continue
        for version in ("2.0", "3.0"):
            fmu = out / f"{path.stem}_{version[0]}.fmu"
            begin = time.process_time()
            try:
                done = limited(liaison.to_fmu, path, fmu, version=version, until=options.until)
            except (LiaisonError, Slow) as error:
                print(f"{path.stem:28} {version} rejected: {str(error).splitlines()[0][:90]}", flush=True)
                table.append({"mechanism": path.stem, "version": version, "rejected": str(error)})
                continue
            export = time.process_time() - begin
            problems = validate_fmu(str(fmu))
            for kind in KINDS:
                facts = {"mechanism": path.stem, "version": version, "kind": kind,
                         "bytes": done.size, "export_s": export, "problems": problems,
                         "until": until, "rough": rough}  # fmt: skip
                try:
                    facts |= row(path, version, kind, fmu, run, until)
                except Exception as error:
                    facts["failed"] = f"{type(error).__name__}: {error}"
                table.append(facts)
                text = facts.get("failed") or f"{facts['difference']:.1e} of {facts['compared']}"
                print(
                    f"{path.stem:28} {version} {kind:14} {done.size / 1000:7.1f} kB {export:5.2f} s "
                    f"rough {rough:.0e} until {until:.2f} problems {len(problems)} {text}"[:180],
                    flush=True,
                )
    (ROOT / "out" / "fmi.json").write_text(json.dumps(table, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
