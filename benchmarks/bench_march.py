"""Time loops and entries of two source trees beside each other: instructions, and CPU time.

    python benchmarks/bench_march.py                                   this tree alone
    python benchmarks/bench_march.py --before ../old/src --after src   two trees, in turn
    python benchmarks/bench_march.py --only code                       instructions alone (or: time)

Every measurement runs in a process of its own with PYTHONPATH set to the tree, and uses public
names of liaison alone, so that trees may differ inside. Instructions are counted by objdump in the
object code which a fresh LIAISON_CACHE holds after the work. Times are CPU seconds of whole runs
that record two instants: medians of three in a process, then of five processes a tree.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXAMPLES = ROOT / "examples"
PAIRS, REPEATS = 5, 3

RUNS = {
    "pendulum, rk4": ("pendulum.lsd", {"until": 1000.0, "step": 1e-3, "method": "rk4"}),
    "pendulum, dormand-prince": ("pendulum.lsd", {"until": 10_000.0, "method": "dormand-prince"}),
    "four-bar, dormand-prince": ("four_bar.lsd", {"until": 800.0, "method": "dormand-prince"}),
    "four-bar, radau": ("four_bar.lsd", {"until": 60.0, "method": "radau"}),
    "cam with lift-off, moreau": (
        "contact/cam_lift_off.lsd",
        {"until": 40.0, "step": 1e-3, "method": "moreau"},
    ),
    "Stewart platform, dormand-prince": (
        "stewart.lsd",
        {"until": 30.0, "method": "dormand-prince"},
    ),
}
"""Runs whose time loop is measured: example, and options of `simulate`."""

LOOPS = {
    "stops, event-driven": ("contact/stops.lsd", {"until": 0.3}),
    "two balls, event-driven": ("contact/two_balls.lsd", {"until": 0.3}),
    "two balls, moreau, 6 facets": (
        "contact/two_balls.lsd",
        {"until": 0.3, "step": 5e-3, "method": "moreau", "facets": 6},
    ),
    "four-bar, rattle4": ("four_bar.lsd", {"until": 0.1, "step": 5e-3, "method": "rattle4"}),
    "four-bar, generalized-alpha": (
        "four_bar.lsd",
        {"until": 0.1, "step": 5e-3, "method": "generalized-alpha"},
    ),
}
"""Further runs whose code is counted and whose time is not measured."""

ENTRIES = {
    "arm of 7, inverse": ("arm7.urdf", "inverse"),
    "arm of 7, mass_matrix": ("arm7.urdf", "mass_matrix"),
    "arm of 7, forward": ("arm7.urdf", "forward"),
    "arm of 7, d_forward": ("arm7.urdf", "d_forward"),
    "1 four-bar, forward": (1, "forward"),
    "4 four-bars, forward": (4, "forward"),
    "16 four-bars, forward": (16, "forward"),
    "Stewart platform, forward": ("stewart.lsd", "forward"),
}
"""Entries that bench_fast measures: example, or how many four-bars in a row."""


# what a process of a tree does


def made(name: str | int):
    """Kernel and start of an example; nothing is compiled yet."""
    import liaison

    if isinstance(name, int):
        sys.path.insert(0, str(EXAMPLES))
        from n_four_bar import n_four_bar

        mechanism = n_four_bar(name)
    else:
        mechanism = liaison.read(EXAMPLES / name)
    tree = liaison.span(mechanism)
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    return kernel, liaison.assemble(tree)


def do(what: str, key: str) -> None:
    """Makes the code of an entry, or of a time loop with all that it calls."""
    import liaison

    if what == "entry":
        name, entry = ENTRIES[key]
        made(name)[0].compile(entry)
        return
    name, options = (RUNS | LOOPS)[key]
    short = {**options, "until": 20 * options.get("step", 1e-3)} if key in RUNS else options
    liaison.simulate(*made(name), only_series=(), **short)


def times() -> dict[str, float]:
    """CPU seconds of each run, the median of some."""
    import liaison

    found = {}
    for key, (name, options) in RUNS.items():
        kernel, state = made(name)
        whole = {**options, "every": options["until"], "series": ()}
        liaison.simulate(kernel, state, **{**whole, "until": options["until"] / 50, "every": None})
        spent = []
        for _ in range(REPEATS):
            begin = time.process_time()
            liaison.simulate(kernel, state, **whole)
            spent.append(time.process_time() - begin)
        found[key] = statistics.median(spent)
    return found


# what the measuring process does


def child(tree: Path, cache: str, *words: str) -> str:
    """The output of this file, run with a tree."""
    env = {**os.environ, "PYTHONPATH": str(tree.resolve()), "LIAISON_CACHE": cache}
    call = [sys.executable, __file__, *words]
    return subprocess.run(call, env=env, check=True, capture_output=True, text=True).stdout


def code_of(folder: Path) -> dict[str, int]:
    """Instructions and bytes of all object code in a cache."""
    found = {"instructions": 0, "bytes": 0}
    for file in sorted(folder.glob("*.o")):
        data = file.read_bytes()
        bare = folder / "bare.elf"
        bare.write_bytes(data[data.index(b"\x7fELF") :])  # a digest stands before it
        text = subprocess.run(
            ["objdump", "-d", "--insn-width=16", str(bare)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        for line in text.splitlines():
            if part := re.match(r"\s*[0-9a-f]+:\t((?:[0-9a-f]{2} )+)", line):
                found["instructions"] += 1
                found["bytes"] += len(part[1].split())
        bare.unlink()
    return found


def code(tree: Path) -> dict[str, dict[str, int]]:
    """Instructions of every entry and time loop of a tree."""
    found = {}
    for what, keys in (("entry", ENTRIES), ("run", RUNS | LOOPS)):
        for key in keys:
            with tempfile.TemporaryDirectory() as cache:
                child(tree, cache, "--do", what, key)
                found[f"{what}: {key}"] = code_of(Path(cache))
    return found


def show_code(trees: list[Path]) -> None:
    """The table of instructions."""
    if shutil.which("objdump") is None:
        print("no objdump here: instructions are not counted")
        return
    counted = [code(tree) for tree in trees]
    print("| code | instructions | bytes |" + " after | bytes | change |" * (len(trees) > 1))
    print("|---|---:|---:|" + "---:|---:|---:|" * (len(trees) > 1))
    for key, before in counted[0].items():
        cells = [f"{before['instructions']:,}", f"{before['bytes']:,}"]
        for after in (x[key] for x in counted[1:]):
            change = after["instructions"] / before["instructions"] - 1
            cells += [f"{after['instructions']:,}", f"{after['bytes']:,}", f"{change:+.1%}"]
        print(f"| {key} | " + " | ".join(cells) + " |")


def show_times(trees: list[Path]) -> None:
    """The table of times, trees in turn."""
    found: list[dict[str, list[float]]] = [{key: [] for key in RUNS} for _ in trees]
    with tempfile.TemporaryDirectory() as cache:
        for pair in range(PAIRS):
            order = list(enumerate(trees))
            for k, tree in order if pair % 2 == 0 else reversed(order):
                for key, spent in json.loads(child(tree, cache, "--times")).items():
                    found[k][key].append(spent)
    print(f"| run, CPU seconds, median of {PAIRS} (least to most) |", end="")
    print(" before | after | median | least |" if len(trees) > 1 else " this tree |")
    print("|---|" + ("---:|---:|---:|---:|" if len(trees) > 1 else "---:|"))
    for key in RUNS:
        spent = [x[key] for x in found]
        cells = [f"{statistics.median(x):.4f} ({min(x):.4f} to {max(x):.4f})" for x in spent]
        if len(trees) > 1:
            cells += [f"{of(spent[1]) / of(spent[0]) - 1:+.1%}" for of in (statistics.median, min)]
        print(f"| {key} | " + " | ".join(cells) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", type=Path, default=ROOT / "src", help="folder with liaison")
    parser.add_argument("--after", type=Path, help="the same of another tree")
    parser.add_argument("--only", choices=("code", "time"))
    parser.add_argument("--do", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--times", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.do:
        return do(*asked.do)
    if asked.times:
        return print(json.dumps(times()))
    trees = [asked.before] + ([asked.after] if asked.after else [])
    if asked.only != "time":
        show_code(trees)
    if asked.only != "code":
        show_times(trees)
    return None


if __name__ == "__main__":
    main()
