"""Studies: CPU of a hundred thousand runs, of a million rows, and of searches with gradients.

    python benchmarks/bench_studies.py [rows] [runs] [search] [gradients] [cluster]

What is asked: 10⁵ runs of 0.1 s of the four-bar with four lengths varied in 60 s of CPU, of which
at most 30 % outside compiled code; a store of 10⁶ rows opened, filtered and plotted in 1 s; a
search of a linkage with ten parameters by exact gradients in a quarter of the time of differences;
four workers of a cluster on this machine at 85 % of the rate of four processes.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import liaison
from liaison.program.kernel import MachineKernel
from liaison.simulation import assembly
from liaison.simulation.batch import run as batch
from liaison.studies.chunks import encoded
from liaison.studies.store import Store
from liaison.studies.variations import Points
from liaison.verbs.studies._gradients import Gradients
from liaison.verbs.studies._studying import Making, asked_of, keys_of
from liaison.verbs.studies.study import with_reference

optimizing = importlib.import_module("liaison.verbs.studies.optimize")

FOUR_BAR, PATH = "examples/four_bar.lsd", "examples/path_linkage.lsd"
TEN = {
    "a": (0.07, 0.13), "b": (0.24, 0.36), "c": (0.29, 0.41), "d": (0.39, 0.51),
    "x0": (-0.1, 0.1), "z0": (-0.1, 0.1), "tilt": (-0.3, 0.3), "phase": (1.3, 1.9),
    "px": (0.1, 0.2), "pz": (0.05, 0.15),
}  # fmt: skip


class Compiled:
    """CPU seconds inside compiled code: of the time loop, of assembly, of entries over states."""

    def __init__(self) -> None:
        self.seconds = 0.0
        bound, call, entry = batch._Worker._bound, assembly.Assembler.__call__, MachineKernel.batch

        def timed_loop(worker):
            if not hasattr(worker, "_timed"):
                worker._call, worker._timed = self.timed(worker._call, time.thread_time), True
            return bound(worker)

        batch._Worker._bound = timed_loop
        assembly.Assembler.__call__ = self.timed(call, time.thread_time)
        MachineKernel.batch = self.timed(entry, time.process_time)

    def timed(self, function, clock):
        def called(*args, **keywords):
            begin = clock()
            try:
                return function(*args, **keywords)
            finally:
                self.seconds += clock() - begin

        return called


def runs(count: int = 100_000) -> None:
    compiled = Compiled()
    begin = time.process_time()
    study = liaison.study(
        FOUR_BAR, vary=dict.fromkeys("abcd", "± 1 %"), until=0.1, count=count, design="monte carlo",
        measure={"swing": "max(D) in deg", "speed": "rms(D')"}, every=0.001,
    )  # fmt: skip
    spent = time.process_time() - begin
    outside = 1 - compiled.seconds / spent
    print(f"{count} runs: {spent:.1f} s of CPU, {100 * outside:.0f} % outside compiled code")
    assert not study.failures


def rows(count: int = 1_000_000) -> None:
    with tempfile.TemporaryDirectory() as folder:
        _fill(Path(folder) / "store", count)
        import matplotlib.figure  # noqa: F401  (loaded before: most processes have it)

        begin = time.process_time()
        study = liaison.open_study(Path(folder) / "store")
        opened = time.process_time() - begin
        some = study.where(swing="> 20 deg")
        filtered = time.process_time() - begin
        some.save_plot(Path(folder) / "plot.png", x="a", y="swing")
        spent = time.process_time() - begin
        print(
            f"{count} rows: open {opened:.2f}, filter {filtered - opened:.2f} ({len(some)} left), "
            f"plot {spent - filtered:.2f}; {spent:.2f} s of CPU"
        )


def _fill(folder: Path, count: int) -> None:
    """A store as a study leaves it, from rows of a small one again and again."""
    kept: list[bytes] = []
    real = Making.__call__

    def keep(making, *args):
        kept.append(real(making, *args))
        return kept[-1]

    Making.__call__ = keep
    small = liaison.study(
        FOUR_BAR, vary=dict.fromkeys("abcd", "± 10 %"), until=0.1, count=256, every=0.01,
        measure={"swing": "range(D) in deg", "speed": "rms(D')"},
    )  # fmt: skip
    Making.__call__ = real
    from liaison.studies.chunks import decoded

    columns, header = decoded(kept[0])
    drawn = np.random.default_rng(1)
    values = np.tile(columns["value"], (count // 256 + 1, 1))[:count]
    values = values * (1 + 1e-3 * drawn.random(values.shape))
    keys = keys_of(small.definition.family, values)
    store = Store(folder)
    more = {k: x for k, x in header.items() if k not in ("columns", "size")}
    for first in range(0, count, 4096):
        own = np.arange(first, min(first + 4096, count))
        part = {name: x[own % len(x)] for name, x in columns.items()}
        part |= {"value": values[own], "key": keys[own]}
        store.add(encoded(part, {**more, "first": first}))
    store.put_study({"value": values, "key": keys}, small.definition.header())
    store.close()


def search() -> None:
    """The path of a linkage with other values, found again: 60 points of 1 s."""
    true = {
        x: 0.5 * (a + b) + 0.2 * (b - a) * (-1) ** k for k, (x, (a, b)) in enumerate(TEN.items())
    }
    run = liaison.simulate(PATH, until=1, every=1 / 59, parameters=true, only_series=["outputs"])
    text = Path(PATH).read_text(encoding="utf-8")
    for name in ("x", "z"):
        times, places = (
            ", ".join(map(repr, np.asarray(y).tolist())) for y in (run.t, run[name] / 1e3)
        )
        text += f"\nlet want_{name} = table(t/(1 s), [{times}], [{places}]) * 1 m ;"
    measure = {"miss": "mean((position(tip).x - want_x)^2 + (position(tip).z - want_z)^2)/1e-6"}
    spent: dict[str, float] = {}
    searched = optimizing._searched

    def timed(*args):
        begin = time.process_time()
        result = searched(*args)
        spent["search"] = time.process_time() - begin
        return result

    optimizing._searched = timed
    for how in ("exact", "differences") * 2:  # the second time all is compiled
        found = liaison.optimize(
            text, vary=TEN, measure=measure, minimize="miss", until=1.0, every=1 / 59,
            gradient=how, iterations=200,
        )  # fmt: skip
        spent[how] = spent["search"]
        print(
            f"{how}: miss {found.measures['miss']:.3g} mm², {len(found.history)} points, "
            f"{1e3 * spent[how]:.0f} ms of CPU"
        )
    print(f"exact gradients are {spent['differences'] / spent['exact']:.1f} times as fast")


def gradients() -> None:
    """One measure of a chain of springs by ever more parameters: with the motion, and back."""
    for count in (2, 8, 32):
        text = 'name = "chain" ; gravity = [0, 0, -9.81] m/s^2 ;\n'
        for k in range(8):
            before = f"b{k - 1}" if k else "earth"
            text += (
                f"let b{k} = body mass = {1 + k} kg, inertia = 1 g*m^2 end ;\n"
                f"let S{k} = join {before} and b{k} with prismatic axis = [0, 0, 1] end ;\n"
                f"start S{k} = 0 ; start S{k}' = 0 ;\n"
            )
        for k in range(count):
            joint = f"S{k % 8}"
            text += f"parameter k{k} = {400 * 8 / count} N/m ;\n"
            text += f"apply motor force = -k{k}*{joint} end on {joint} ;\n"
        spent = {how: _gradient_seconds(text, how) for how in ("forward", "adjoint")}
        each = ", ".join(f"{how} {1e3 * x:.1f} ms" for how, x in spent.items())
        print(f"gradient of one measure by {count} parameters: {each} of CPU")


def _gradient_seconds(text: str, how: str) -> float:
    """CPU of one gradient, the least of several, all compiled."""
    names = [x.name for x in liaison.read(text).parameters]
    asked = asked_of(
        text, names, {"low": "final(S0)"}, until=1.0, every=0.05, record=None, options={},
        start={}, guess={}, parameters={},
    )  # fmt: skip
    row = np.array([[float(x.value) for x in liaison.read(text).parameters]])
    asked, family = with_reference(asked, Points(tuple(names), row, "one"))
    gradient, seconds = Gradients(asked, family, how), []
    for _ in range(6):
        begin = time.process_time()
        gradient(row[0])
        seconds.append(time.process_time() - begin)
    return min(seconds[1:])


def cluster(count: int = 40_000) -> None:
    """The same study by four processes, and by four workers of a scheduler on this machine."""
    import psutil
    from distributed import LocalCluster

    def spent(processes) -> float:
        """CPU of some processes, and of those that ended below this one."""
        whole = [x.cpu_times() for x in (psutil.Process(), *processes)]
        below = psutil.Process().cpu_times()
        return sum(x.user + x.system for x in whole) + below.children_user + below.children_system

    def made(seed: int, processes, **where) -> tuple[float, float, bytes]:
        cpu, begin = spent(processes()), time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            study = liaison.study(
                FOUR_BAR, vary=dict.fromkeys("abcd", "± 1 %"), until=0.1, count=count, seed=seed,
                design="monte carlo", measure={"swing": "max(D) in deg", "speed": "rms(D')"},
                every=0.001, folder=Path(folder) / "study", **where,
            )  # fmt: skip
            wall, cpu = time.perf_counter() - begin, spent(processes()) - cpu
            study.export(Path(folder) / "rows")
            return wall, cpu, (Path(folder) / "rows").read_bytes()

    with LocalCluster(
        n_workers=4, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as local:
        address = local.scheduler_address

        def of_cluster() -> list[psutil.Process]:
            return psutil.Process().children(recursive=True)

        for seed in range(3):
            wall, cpu, rows = made(seed, list, workers=4)
            own_wall, own_cpu, same = made(seed, of_cluster, cluster=address)
            assert rows == same
            print(
                f"{count} runs, four processes: {wall:.1f} s, {cpu:.1f} s of CPU; "
                f"four workers of a cluster: {own_wall:.1f} s, {own_cpu:.1f} s of CPU; "
                f"rate {100 * wall / own_wall:.0f} %, by CPU {100 * cpu / own_cpu:.0f} %"
            )


ROWS = {"rows": rows, "runs": runs, "search": search, "gradients": gradients, "cluster": cluster}

if __name__ == "__main__":
    is_there = importlib.util.find_spec("distributed") is not None  # the extra `cluster`
    for name in sys.argv[1:] or [x for x in ROWS if is_there or x != "cluster"]:
        ROWS[name]()
