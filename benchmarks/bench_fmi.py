"""Every shipped mechanism as FMUs of both versions, run by fmpy in both kinds, against `simulate`.

Writes out/fmi.json, and prints a row for each mechanism, version and kind: size of the file, CPU
time of the export, largest difference of a coordinate or velocity against a run with tighter
tolerances (relative to its size, at least 1), largest difference of an instant of an event.

Model Exchange has both twice: by fmpy's CVode (BDF at 1e-11), and by steps of order 8 at 1e-13
(`importer_fmi.py`), which show what the FMU itself gives. A row ends in `CVode` where the first is
over the bound and the second within, in `chaotic` where `simulate` itself differs by as much
between two tolerances, and in `!` where the FMU is at fault. Instants are compared both ways:
impacts, sticking, slipping and declared events of `simulate` must be events of the FMU, and all of
the FMU's must be in `simulate`. Bounces slower than 1e-5 are left out: their instants are the
rounding of the gap over the speed. So are contacts that open and close without force.

Last come steps of 1 ms by Co-Simulation from a program in C, against the same steps of `simulate`
in code for this processor, and in portable code: CPU time, the least of several runs.

    python benchmarks/bench_fmi.py [--only NAME …] [--until SECONDS] [--limit SECONDS]
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

import importer_fmi
import numpy as np

import liaison
from liaison.errors import LiaisonError, SimulationError
from liaison.fmi.gate import fmu_problems

ROOT = Path(__file__).parents[1]
KINDS = ("ModelExchange", "CoSimulation")
UNTIL, STEPS, LIMIT = 5.0, 200, 120
"""Length of runs [s], communications, and the longest time of one of them [s]."""

BOUND, INSTANT, CHAOTIC, EVENTS = 1e-8, 1e-9, 1e-8, 100
"""Differences asked for, of states and of instants [s]; that of two tolerances from which a motion
is chaotic; events compared."""

SEEN, ROUNDING = 1e-5, 1e-10
"""Jumps of a velocity between these are bounces whose instants rounding decides."""

FINER = 4
"""Times as many communications where CVode takes more steps between two than fmpy allows it."""

SHORTER = {"andrews": 0.03}
"""Length of runs that are chaotic soon after [s]: as published."""

STEPPED, STEP, COUNT, REPEATS = ("four_bar", "pendulum", "contact/stops"), 1e-3, 50_000, 7
"""Mechanisms whose steps are timed; length of a step [s]; how many, how often."""

ROUGH = 1e-10
"""Tolerance of runs from which on that of an FMU is looked for: rounding leaves no more digits."""

TIGHT = (1e-12, 1e-11, 1e-10, 1e-9, 1e-8)
"""Tolerances of the run that FMUs are compared with: the first at which it runs."""

OUT = ROOT / "out" / "fmi"


def mechanisms() -> list[Path]:
    folders = ("", "contact", "cases", "reference", "robots", "many")
    return sorted(
        x
        for f in folders
        for x in (ROOT / "examples" / f).glob("*")
        if x.suffix in (".lsd", ".urdf", ".xml")
    )


def reference(path: Path, until: float) -> tuple[Any, float]:
    """The run that FMUs are compared with, shortened where it ends early, and its tolerance."""
    for rtol in TIGHT:
        try:
            return run_at(path, until, rtol), rtol
        except SimulationError:
            if rtol == TIGHT[-1]:
                raise
    raise AssertionError


def run_at(path: Path, until: float, rtol: float) -> Any:
    every = until / STEPS
    return liaison.simulate(path, until=until, every=every, rtol=rtol, atol=rtol / 10, watch=False)


def own_tolerances(path: Path, until: float, rtol: float) -> dict[str, float]:
    """Those of an FMU whose motion the usual ones do not resolve: the first at which it runs."""
    if rtol < ROUGH:
        return {}
    for loose in TIGHT[TIGHT.index(rtol) :]:
        try:
            liaison.simulate(path, until=until, every=until / STEPS, rtol=loose, atol=loose / 10,
                             watch=False, back_end="portable")  # fmt: skip
        except SimulationError:
            continue
        return {"rtol": loose, "atol": loose / 10}
    return {}


def sensitivity(path: Path, run: Any, until: float, rtol: float) -> float:
    """How much a run differs from one with looser tolerances: a chaotic motion differs widely."""
    other = run_at(path, until, rtol)
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

    def result(steps: int) -> Any:
        return simulate_fmu(
            str(fmu), fmi_type=kind, stop_time=until, output_interval=until / steps, output=names,
            record_events=True, **more,
        )  # fmt: skip

    try:
        return result(STEPS)
    except RuntimeError as error:
        if "mxstep" not in str(error):
            raise
        return result(FINER * STEPS)


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


def event_times(result: Any) -> Any:
    """Instants that an importer recorded twice: before and after an event."""
    times = np.asarray(result["time"])
    return np.unique(times[1:][np.diff(times) == 0.0])


def row(kind: str, fmu: Path, run: Any, until: float) -> dict[str, Any]:
    """What one run of an FMU gives."""
    begin = time.process_time()
    result = simulated(fmu, kind, until)
    took = time.process_time() - begin
    q, v = columns(result, run)
    times = np.asarray(result["time"])
    places = times.searchsorted(run.t + 1e-9) - 1
    same = np.abs(times[places] - run.t) < 1e-9
    picked = places[same]
    difference = max(relative(q[picked], run.q[same]), relative(v[picked], run.v[same]))
    facts = {"difference": difference, "compared": int(same.sum()), "run_s": took}
    if kind == KINDS[0] and run.events:
        facts["events"] = away(sharp_instants(run), event_times(result))
    return facts


def own_row(fmu: Path, run: Any) -> dict[str, Any]:
    """What steps of order 8 give."""
    record = importer_fmi.integrated(fmu, run.t)
    x, n, nq = np.array(record.x), len(record.x), run.q.shape[1]
    facts = {
        "own": max(relative(x[:, :nq], run.q[:n]), relative(x[:, nq:], run.v[:n])),
        "own_compared": n,
    }
    if run.events:
        # declared events are indicators that count in one direction only
        least = SEEN if any(not x.what for x in run.events) else 0.0
        own = [
            t for t, jump in record.events[:EVENTS] if jump >= least and not ROUNDING < jump < SEEN
        ]
        all_of_run = np.array([x.t for x in run.events])
        facts["own_events"] = max(
            away(sharp_instants(run), np.array([t for t, _ in record.events])),
            away(np.array(own), all_of_run),
        )
    return facts


def sharp_instants(run: Any) -> Any:
    """Instants of events that an FMU must have, of a limited number."""
    blurred = {
        x.t for x in run.events
        if x.before is not None and ROUNDING < np.max(np.abs(x.v - x.before)) < SEEN
    }  # fmt: skip
    dull = ("opens", "closes", "rests", "several solutions")
    return np.array([x.t for x in run.events if x.t not in blurred and x.what not in dull][:EVENTS])


def away(instants: Any, others: Any) -> float:
    """How far the farthest of some instants is from others."""
    return max((float(np.min(np.abs(others - t), initial=np.inf)) for t in instants), default=0.0)


def rows_of(path: Path, until: float) -> list[dict[str, Any]]:
    """All rows of a mechanism."""
    from fmpy.validation import validate_fmu

    run, rtol = reference(path, until)
    end = float(run.t[-1])
    rough = sensitivity(path, run, end, 100 * rtol)
    own = own_tolerances(path, end, rtol)
    rows: list[dict[str, Any]] = []
    for version in ("2.0", "3.0"):
        fmu = OUT / f"{path.stem}_{version[0]}.fmu"
        begin = time.process_time()
        try:
            done = liaison.to_fmu(path, fmu, version=version, until=until, **own)  # type: ignore
        except LiaisonError as error:
            rows.append({"mechanism": path.stem, "version": version, "rejected": str(error)})
            continue
        export = time.process_time() - begin
        problems = [*validate_fmu(str(fmu)), *fmu_problems(fmu)]
        for kind in KINDS:
            facts: dict[str, Any] = {"mechanism": path.stem, "version": version, "kind": kind,
                     "bytes": done.size, "export_s": export, "problems": problems,
                     "until": end, "rough": rough, "reference": rtol, **own}  # fmt: skip
            try:
                facts |= own_row(fmu, run) if kind == KINDS[0] else {}
            except Exception as error:  # what an importer raises is what the table reports
                facts["own_failed"] = f"{error}"
            try:
                facts |= row(kind, fmu, run, end)
            except Exception as error:  # likewise
                facts["failed"] = f"{type(error).__name__}: {error}"
            rows.append(facts)
            print(json.dumps(facts), file=sys.stderr, flush=True)
    return rows


def line(facts: dict[str, Any]) -> str:
    """A row as text."""
    head = f"{facts['mechanism']:26} {facts.get('version', ''):3} {facts.get('kind', ''):13}"
    for word in ("no run", "rejected", "failed"):
        if word in facts:
            return f"{head} {word}: {facts[word].splitlines()[0]}"[:150]
    pairs = []
    for of in ("", "own_"):
        if of and "own" not in facts:
            continue
        number = facts["own" if of else "difference"]
        instants = f"{facts[of + 'events']:.0e}" if of + "events" in facts else "–"
        pairs.append(f"{'order 8 ' if of else ''}{number:.1e} events {instants}")
    rtol = facts["reference"]
    loose = f" (simulate at rtol {rtol:g})" if rtol > TIGHT[0] else ""
    loose += f" (FMU at rtol {facts['rtol']:g})" if "rtol" in facts else ""
    loose += f" ({facts['own_failed']})" if "own_failed" in facts else ""
    return (
        f"{head} {facts['bytes'] / 1000:6.0f} kB {facts['export_s']:5.2f} s  "
        f"{'; '.join(pairs)}  problems {len(facts['problems'])} {mark(facts)}{loose}".rstrip()
    )


def mark(facts: dict[str, Any]) -> str:
    """Who is at fault where a row is over a bound; empty if none is."""
    best = facts.get("own", facts["difference"])
    late = facts.get("own_events", 0.0)
    if best > BOUND or late > INSTANT:
        return "chaotic" if facts["rough"] > CHAOTIC else "!"
    if facts["difference"] > BOUND or facts.get("events", 0.0) > INSTANT:
        return "CVode"
    return ""


def one(path: Path, until: float, limit: int) -> list[dict[str, Any]]:
    """The rows of a mechanism from a process of its own, which may be ended."""
    until = min(until, SHORTER.get(path.stem, until))
    command = [sys.executable, __file__, "--one", str(path), "--until", str(until)]
    name = path.stem
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=10 * limit, check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        text = late.stderr.decode() if isinstance(late.stderr, bytes) else late.stderr or ""
        known = [json.loads(x) for x in text.splitlines() if x.startswith("{")]
        return [*known, {"mechanism": name, "failed": f"over {limit} s"}]
    if done.returncode < 0:
        known = [json.loads(x) for x in done.stderr.splitlines() if x.startswith("{")]
        return [*known, {"mechanism": name, "failed": f"over {limit} s of CPU time"}]
    if done.returncode:
        return [{"mechanism": name, "no run": (done.stderr.strip().splitlines() or [""])[-1]}]
    rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return rows


def step_times(name: str, compiler: str) -> dict[str, Any]:
    """CPU time of a step of 1 ms [s]: in an FMU, and of `simulate` in native and portable code."""
    path = ROOT / "examples" / f"{name}.lsd"
    program, library = OUT / "harness", OUT / "steps.so"
    source = ROOT / "tests/fmi/harness.c"
    subprocess.run([compiler, "-O2", str(source), "-o", str(program), "-ldl"], check=True)
    done = liaison.to_fmu(
        path, OUT / "steps.fmu", until=COUNT * STEP, step=STEP, systems=["linux-x86_64"]
    )
    with zipfile.ZipFile(done.path) as archive:
        inside = next(x for x in archive.namelist() if x.endswith(".so"))
        library.write_bytes(archive.read(inside))
    command = [str(program), str(library), done.token, str(STEP), str(COUNT), "1"]

    def in_fmu() -> float:
        ran = subprocess.run(command, capture_output=True, text=True, check=True)
        return float(ran.stdout.split()[0]) / COUNT

    def native(count: int, back_end: str) -> float:
        end = count * STEP
        begin = time.process_time()
        liaison.simulate(path, until=end, every=end, step=STEP, watch=False, back_end=back_end)
        return time.process_time() - begin

    def least(back_end: str) -> float:
        both = [min(native(n * COUNT, back_end) for _ in range(REPEATS)) for n in (2, 1)]
        return (both[0] - both[1]) / COUNT

    native(10, "llvm")
    native(10, "portable")
    fmu = min(in_fmu() for _ in range(REPEATS))
    return {"steps of": name, "fmu": fmu, "native": least("llvm"), "portable": least("portable")}


def print_step_times() -> list[dict[str, Any]]:
    """The rows of steps, printed."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("no steps from C: there is no C compiler")
        return []
    rows = [step_times(name, compiler) for name in STEPPED]
    for x in rows:
        print(
            f"a step of 1 ms of {x['steps of']:14} {1e6 * x['fmu']:.3f} µs; native "
            f"{1e6 * x['native']:.3f} µs ({x['fmu'] / x['native']:.2f} ×), portable "
            f"{1e6 * x['portable']:.3f} µs ({x['fmu'] / x['portable']:.2f} ×)"
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--until", type=float, default=UNTIL)
    parser.add_argument("--limit", type=int, default=LIMIT)
    parser.add_argument("--one", type=Path)
    options = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    if options.one:
        warnings.simplefilter("ignore")
        print(json.dumps(rows_of(options.one, options.until)))
        return 0
    table: list[dict[str, Any]] = []
    for path in mechanisms():
        if not options.only or path.stem in options.only:
            rows = one(path, options.until, options.limit)
            table += rows
            print("\n".join(map(line, rows)), flush=True)
            (ROOT / "out" / "fmi.json").write_text(json.dumps(table, indent=1))
    steps = [] if options.only else print_step_times()
    (ROOT / "out" / "fmi.json").write_text(json.dumps([*table, *steps], indent=1))
    good = [x for x in table if x.get("own", x.get("difference", 1.0)) <= BOUND]
    print(f"{len(good)} of {len(table)} rows within {BOUND:g}; out/fmi.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
