"""Every reference problem against the numbers others published or that were computed anew.

    python tests/reference/run.py [--out out/reference.json] [name …]

A problem is a file in `problems/` (data with its source) and a model in `examples/reference/`;
what a run of the model cannot say by itself (matrices, inverse dynamics, integrals) is a function
of `special.py`, with contacts and friction of `one_sided.py` and `friction.py`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import adams  # noqa: E402
import friction  # noqa: E402
import one_sided  # noqa: E402
import special  # noqa: E402

PROBLEMS = HERE / "problems"
TABLE = re.compile(r"<!-- table -->.*?<!-- end -->", re.S)
ROOMS = {
    adams: ("adams_joints",),
    special: (
        "andrews_quick", "kuka_inverse", "whipple_linear", "hoop_stability", "sundials_integral",
    ),
    one_sided: ("bouncing_ball", "brake", "painleve_rod", "woodpecker", "slider_crank_clearance"),
    friction: (
        "cylinder_on_incline", "block_on_incline", "ball_on_table", "driven_brake", "freewheel",
        "ratchet", "sleigh_one_sided",
    ),
}  # fmt: skip
FUNCTIONS = {name: getattr(room, name) for room, names in ROOMS.items() for name in names}


@dataclass(frozen=True)
class Outcome:
    """One comparison of one problem: the worst component and what is allowed."""

    problem: str
    check: str
    error: float
    worst: str
    tolerance: float
    cpu: float
    compile: float

    @property
    def passes(self) -> bool:
        return bool(self.error <= self.tolerance)


def names() -> list[str]:
    return sorted(path.stem for path in PROBLEMS.glob("*.json"))


def outcomes(name: str) -> list[Outcome]:
    """All comparisons of a problem; CPU of the run, and of deriving and compiling before it."""
    problem = json.loads((PROBLEMS / f"{name}.json").read_text(encoding="utf-8"))
    found: list[tuple[str, float, str, float]] = []
    spent = {"cpu": 0.0, "compile": 0.0}
    if "until" in problem:
        run, spent = simulated(problem)
        found += [compared(run, check) for check in problem["checks"]]
    if "function" in problem:
        begun = time.process_time()
        found += FUNCTIONS[problem["function"]](problem)
        spent["cpu"] += time.process_time() - begun
    return [Outcome(name, *row, **spent) for row in found]


def simulated(problem: dict[str, Any]) -> tuple[Any, dict[str, float]]:
    """The run at the instants asked for, and the CPU seconds it took."""
    begun = time.process_time()
    kernel, state = special.ready(problem["model"])
    instants = sorted({0.0, *(float(t) for check in problem["checks"] for t in check["rows"])})
    options = {"series": problem["series"], "every": instants, **problem["settings"]}
    special.simulate(kernel, state, until=min(1e-6, problem["until"]), **options | {"every": None})
    ready = time.process_time()
    run = special.simulate(kernel, state, until=problem["until"], **options)
    return run, {"cpu": time.process_time() - ready, "compile": ready - begun}


def compared(run: Any, check: dict[str, Any]) -> tuple[str, float, str, float]:
    """Name, worst error, worst component and tolerance of one comparison."""
    worst, error = "", -1.0
    for instant, row in check["rows"].items():
        k = special.index_of(run, float(instant))
        values = {label: float(special.column(run, label)[k]) for label in row}
        signs = (1, -1) if check.get("up_to_sign") else (1,)
        ways = [special.worst_of(values, row, check["measure"], sign) for sign in signs]
        here = min(ways)
        if not here[0] <= error:
            error, worst = here[0], f"{here[1]} at {instant} s"
    return check["name"], error, worst, check["tol"]


def show(found: list[Outcome]) -> None:
    for x in found:
        verdict = "pass" if x.passes else "FAIL"
        print(
            f"{x.problem:28} {x.check:30} {x.error:9.1e}  {x.tolerance:7.0e}  {verdict}  "
            f"{x.cpu * 1e3:9.1f} ms  {x.worst}",
            flush=True,
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="problems, all if none is named")
    parser.add_argument("--out", type=Path, help="file for the results, as JSON")
    parser.add_argument("--page", type=Path, help="page whose table is to be written anew")
    given = parser.parse_args()
    print(
        f"{'problem':28} {'comparison':30} {'error':>9}  {'allowed':>7}        {'CPU':>12}  worst"
    )
    found: list[Outcome] = []
    for name in given.names or names():
        try:
            here = outcomes(name)
        except Exception as error:  # one problem that raises must not hide the others
            here = [Outcome(name, type(error).__name__, float("inf"), str(error)[:200], 0, 0, 0)]
        show(here)
        found += here
    failed = [x for x in found if not x.passes]
    problems = {x.problem for x in found}
    print(
        f"{len(problems)} problems, {len(found)} comparisons; {len(failed)} failed"
        f"{': ' + ', '.join(sorted({x.problem for x in failed})) if failed else ''}."
    )
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        rows = [asdict(x) | {"pass": x.passes} for x in found]
        given.out.write_text(
            json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    if given.page:
        text = given.page.read_text(encoding="utf-8")
        given.page.write_text(TABLE.sub(lambda _: table(found), text), encoding="utf-8")
    return 1 if failed else 0


def table(found: list[Outcome]) -> str:
    """The table of docs/reference_problems.md."""
    rows = ["| problem | comparison | error | allowed | CPU | worst component |"]
    rows.append("|---|---|---:|---:|---:|---|")
    before = ""
    for x in found:
        first = x.problem != before
        name, cpu = (f"`{x.problem}`", f"{x.cpu * 1e3:.1f} ms") if first else ("", "")
        cells = (name, x.check, f"{x.error:.1e}", f"{x.tolerance:.0e}", cpu, x.worst)
        rows.append(f"| {' | '.join(cells)} |")
        before = x.problem
    return "\n".join(["<!-- table -->", *rows, "<!-- end -->"])


if __name__ == "__main__":
    sys.exit(main())
