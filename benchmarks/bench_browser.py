"""Pages and modules in Chromium: steps, sliders, the main thread, sizes, beside what is asked.

Steps: of each example that runs in a module, time of a step in the browser over that of machine
code, default and portable, without recording and without what begins a run: the least of several
(in the browser of time that passes, here of processor time). Sliders: from the change of a
parameter to the arrival of its motion, and to the first picture of it that is done. Main thread:
the longest task while a page simulates, in processor time and with waiting (other work on the
machine adds to it). Pictures are computed without a graphics card; the browser does not put pages
together by the same means, which would take seven times as long as the pictures. Without Chromium
or playwright only sizes are printed.

python benchmarks/bench_browser.py [--until SECONDS] [NAME ...]
"""

from __future__ import annotations

import argparse
import base64
import gzip
import importlib.util
import json
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench_wasm import EXAMPLES, listed

import liaison
from liaison.errors import LiaisonError
from liaison.program.llvm.to_llvm import to_llvm
from liaison.simulation.live.module import live_module
from liaison.simulation.live.package import live_script
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.run import Run
from liaison.verbs.ready import ready_for

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--no-first-run", "--disable-sync", "--disable-component-update", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
]  # fmt: skip
STRETCH = 0.003
"""Seconds that are timed at once in the browser, at least: shorter than what other work takes."""

LEAST = 100.0
"""Microseconds of a run that is compared."""

ASKED = {"median": 2.0, "worst": 3.0, "task": 50.0}
MODULES = {"four_bar.lsd": 12.0, "stewart.lsd": 100.0}
PAGES = {"four-bar": 0.8, "Stewart": 1.5, "50 bodies": 4.0, "four-bar, live": 0.9}
SLIDERS = {"four_bar.lsd": ("a", 0.1), "stewart.lsd": ("", 0.3)}
"""What is asked: kB compressed, MB, and seconds after a change of a parameter (the first, if none
is named)."""

SIZES = ((640, 400), (1280, 800))
"""Of the windows in which pages simulate."""

STEPS = """
async ([text, until]) => {
  const bytes = Uint8Array.from(atob(text), (x) => x.charCodeAt(0));
  const run = await liaison.Run.load(bytes);
  const begin = () => run.start({ until, every: until });
  const whole = () => { begin(); return run.advance({ milliseconds: 30000 }); };
  const stretch = (act, times) => {
    const began = performance.now();
    for (let k = 0; k < times; k++) act();
    return (performance.now() - began) / times;
  };
  // the second compiler begins after some calls, in threads of its own, and takes its time for
  // long code: until nothing has become faster for a while
  const least = async (act, patience) => {
    let best = Infinity;
    for (let since = performance.now(); performance.now() - since < patience; ) {
      const times = Math.ceil(STRETCH / (stretch(act, 3) + 1e-2));
      const now = Math.min(...Array.from({ length: 12 }, () => stretch(act, times)));
      if (now < 0.95 * best) since = performance.now();
      best = Math.min(now, best);
      await new Promise((done) => setTimeout(done, 100));
    }
    return best;
  };
  const { status, steps } = whole();
  const spent = (await least(whole, 500 + 0.03 * bytes.length)) - (await least(begin, 300));
  return { status, steps, spent };
}
""".replace("STRETCH", str(1e3 * STRETCH))

SLIDER = """
async (name) => {
  const view = window.liaison;
  const boxes = [...document.querySelectorAll(".knobs input[type=range]")];
  const box = boxes.find((x) => !name || x.getAttribute("aria-label").startsWith(name + " "));
  const label = box.getAttribute("aria-label").split(" ")[0];
  const value = +box.value, times = [], pictures = [];
  for (let k = 0; k < 12; k++) {
    const next = value * (1 + 0.01 * (1 + (k % 3)));
    const began = performance.now();
    box.value = next;
    box.dispatchEvent(new Event("input"));
    while (true) {
      await new Promise((done) => setTimeout(done));
      const now = view.simulation();
      if (now.parameters[label] === +box.value && now.values("energy.T").t.length > 1) break;
      if (performance.now() - began > 5000) return null;
    }
    times.push(performance.now() - began);
    const { begun } = view.pictures();
    while (view.pictures().done <= begun) await new Promise((done) => requestAnimationFrame(done));
    pictures.push(performance.now() - began);
  }
  return { label, times: times.slice(2), pictures: pictures.slice(2) };
}
"""
TASK = "ThreadControllerImpl::RunTask"
"""The name of a task in traces of Chromium."""


@contextmanager
def browser() -> Iterator[Any]:
    """A running Chromium; None where there is none, with a line that says what is missing."""
    path = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
    )
    has_driver = importlib.util.find_spec("playwright") is not None
    if not path or not has_driver:
        print(f"not run in a browser: {'playwright' if path else 'chromium'} is missing")
        yield None
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


def least(begin: Any) -> float:
    """Milliseconds of processor time of a run, without what begins it: the least of several."""

    def spent() -> float:
        run = begin()
        began = time.process_time()
        while not run.is_over:
            run.go()
        return time.process_time() - began

    first = spent()
    return 1e3 * min([first, *(spent() for _ in range(min(30, int(0.3 / first) + 2)))])


def step_row(tab: Any, path: Path, until: float) -> dict[str, Any]:
    """Times of a step in the browser, by machine code and by portable machine code [µs]."""
    kernel, state = ready_for(path, None, None, None)
    portable = to_llvm(kernel.program, portable=True)
    settings = settings_of(watch=False, every=until)
    module = live_module(portable, state, until, settings)
    seen = tab.evaluate(STEPS, [base64.b64encode(module).decode(), until])
    row = {"kB": len(gzip.compress(module, 9)) / 1e3, "steps": seen["steps"]}
    row["browser"] = 1e3 * seen["spent"] / seen["steps"]
    for name, one in (("native", kernel), ("portable", portable)):
        last: list[Any] = []

        def begin(one: Any = one, last: list[Any] = last) -> Any:
            last[:] = [Run(one, state, until, settings)]
            return last[0]

        spent = least(begin)
        row[name] = 1e3 * spent / int(last[0].arrays.run.steps)
    return row


def steps_in(running: Any, names: list[str], until: float) -> None:
    """A line for each example, and what they come to."""
    tab = running.new_page()
    tab.add_script_tag(content=live_script())
    print(
        f"{'a step [µs]':40} {'kB':>7} {'browser':>9} {'native':>8} {'portable':>9} {'ratios':>12}"
    )
    ratios: dict[str, list[float]] = {"native": [], "portable": []}
    for path in listed(names):
        name = str(path.relative_to(EXAMPLES))
        try:
            row = step_row(tab, path, until)
        except LiaisonError as error:
            print(f"{name:40} {type(error).__name__}: {str(error).splitlines()[0][:80]}")
            continue
        line = f"{name:40} {row['kB']:7.1f} {row['browser']:9.2f} {row['native']:8.2f}"
        if row["steps"] * row["native"] < LEAST:
            print(f"{line} {row['portable']:9.2f}  too short to compare", flush=True)
            continue
        both = {x: row["browser"] / row[x] for x in ratios}
        for x, value in both.items():
            ratios[x].append(value)
        line += f" {row['portable']:9.2f} {both['native']:6.2f} {both['portable']:5.2f}"
        print(line, flush=True)
    for x, values in ratios.items():
        if values:
            asked = f"asked {ASKED['median']:g} and {ASKED['worst']:g}" if x == "native" else ""
            print(
                f"step in Chromium against {x}, {len(values)} examples: "
                f"median {median(values):.2f}, worst {max(values):.2f}  {asked}".rstrip()
            )
    tab.close()


def pages_in(running: Any, folder: Path) -> None:
    """Sliders and the longest task of live pages, in two sizes, drawn without a graphics card."""
    for name, (parameter, most) in SLIDERS.items():
        path = EXAMPLES / name
        run = liaison.simulate(path, until=1.0, every=0.02)
        liaison.page(run, path, folder / "live.html", live=True)
        for size in SIZES:
            tab = running.new_page(viewport=dict(zip(("width", "height"), size, strict=True)))
            tab.goto((folder / "live.html").as_uri())
            tab.wait_for_selector("[data-ready]")
            tab.evaluate("window.liaison.play()")
            tab.wait_for_timeout(1500)
            where = f"{name}, {size[0]} × {size[1]}"
            print(f"{where}: {slider_line(tab.evaluate(SLIDER, parameter))}  asked {most:g}")
            print(f"{where}: {task_line(running, tab)}  asked {ASKED['task']:g} ms", flush=True)
            tab.close()


def task_line(running: Any, tab: Any, seconds: float = 4.0) -> str:
    """The longest tasks of the main thread while a page simulates, in words."""
    running.start_tracing(page=tab, categories=["toplevel"])
    tab.wait_for_timeout(1e3 * seconds)
    events = json.loads(running.stop_tracing())["traceEvents"]
    threads = {
        (x["pid"], x["tid"])
        for x in events
        if x["name"] == "thread_name" and x["args"]["name"] == "CrRendererMain"
    }
    tasks = [x for x in events if x["name"] == TASK and (x["pid"], x["tid"]) in threads]
    wall, spent = (
        [x.get(key, 0) / 1e3 for x in tasks if x.get("ph") == "X"] for key in ("dur", "tdur")
    )
    long = sum(x > ASKED["task"] for x in wall)
    words = f"longest task {max(spent):.0f} ms of the processor, {max(wall):.0f} ms with waiting"
    return f"{words}, {long} of {len(wall)} over {ASKED['task']:g} ms"


def slider_line(seen: dict[str, Any] | None) -> str:
    """How long it took, in words."""
    if seen is None:
        return "no new motion within 5 s"
    motion, picture = (sorted(x / 1e3 for x in seen[key]) for key in ("times", "pictures"))
    words = f"from slider {seen['label']!r} to its motion"
    return (
        f"{words} {median(motion):.3f} s, longest {motion[-1]:.3f} s; "
        f"to its picture {median(picture):.3f} s, longest {picture[-1]:.3f} s"
    )


def module_sizes() -> None:
    """Kilobytes of modules, compressed: fixed or adaptive steps, with and without assembly."""
    for name, most in MODULES.items():
        for assembles in (False, True):
            for words, options in (("fixed steps", {"step": 1e-3}), ("adaptive", {})):
                module = liaison.live_module(EXAMPLES / name, assembles=assembles, **options)
                size = len(gzip.compress(module, 9)) / 1e3
                beside = "with assembly" if assembles else "without assembly"
                print(f"module, {name}, {words}, {beside}: {size:.1f} kB  asked {most:g}")


def chain(count: int) -> liaison.Mechanism:
    """Rods on hinges whose axes turn from one to the next: every one moves in its own way."""
    axes = ((1, 0, 0), (0, 1, 0), (1, 1, 0))
    rods = [
        liaison.body(f"rod{k}", 1, center=(0, 0, -0.05), inertia=(1e-3, 1e-3, 1e-4))
        for k in range(count)
    ]
    joints = [
        liaison.join(
            liaison.ground if k == 0 else rods[k - 1].at((0, 0, -0.1)), rod, liaison.Revolute,
            name=f"J{k}", axis=axes[k % 3],
        )
        for k, rod in enumerate(rods)
    ]  # fmt: skip
    parts = [*joints, liaison.gravity(), liaison.start("J0", 1.2), liaison.start("J1", 0.7)]
    return liaison.mechanism(*parts, name="chain")


def page_sizes(folder: Path) -> None:
    """Megabytes of pages of 10 s, with what poses are rounded by."""
    sources: dict[str, Any] = {
        "four-bar": EXAMPLES / "four_bar.lsd", "Stewart": EXAMPLES / "stewart.lsd",
        "50 bodies": chain(50), "four-bar, live": EXAMPLES / "four_bar.lsd",
    }  # fmt: skip
    for name, source in sources.items():
        file = folder / "page.html"
        run = liaison.simulate(source, until=10.0, every=1 / 60, on_failure="return")
        liaison.page(run, source, file, live="live" in name)
        text = file.read_text(encoding="utf-8")
        scene = re.search(r'<script[^>]*id="?scene"?[^>]*>(.*?)</script>', text, re.DOTALL)
        error = json.loads(scene[1])["poses"]["error"] if scene else {}
        rounded = ", ".join(f"{x} {value:.1e}" for x, value in error.items() if x != "shape")
        size = file.stat().st_size / 1e6
        line = f"page, {name}, {run.t[-1]:.0f} s: {size:.2f} MB  asked {PAGES[name]:g}"
        print(f"{line}; poses rounded by {rounded}")


def main() -> None:
    """All rows."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--until", type=float, default=2.0)
    reader.add_argument("names", nargs="*")
    asked = reader.parse_args()
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder, browser() as running:
        if running is not None:
            steps_in(running, asked.names, asked.until)
            if not asked.names:
                pages_in(running, Path(folder))
        if not asked.names:
            module_sizes()
            page_sizes(Path(folder))


if __name__ == "__main__":
    main()
