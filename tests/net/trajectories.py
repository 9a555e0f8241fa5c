"""Bits of short runs: every example under every method, through the public door alone.

A case is an example and a method, or one of the further cases in `further.py`. Of each the table
keeps the SHA-256 of what it gave, and a few numbers for processors on which the last bits differ.

    python tests/net/trajectories.py                 compare all with the table
    python tests/net/trajectories.py --write         write the table anew
    python tests/net/trajectories.py --only cam      those whose name has "cam" in it

Public names: METHODS, EXAMPLES, case_names, again, differences, known, processor.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import sys
import time
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np
import scipy

import liaison

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TABLE = HERE / "trajectories.json"
MODELS = HERE / "models"
sys.path[:0] = [str(HERE.parent)]

from net.further import FURTHER  # noqa: E402

ADAPTIVE = ("tsitouras", "dormand-prince", "radau")
FIXED = (
    "rk4", "gauss4", "gauss6", "rattle", "rattle4", "rattle6", "generalized-alpha", "moreau",
)  # fmt: skip
METHODS = (*ADAPTIVE, *FIXED)
"""Methods of the table; `euler` and `edwards` have tests of their own."""

DEFAULT = "default"
"""No method named, all series that every run has, with reactions and multipliers."""

SERIES = ("energy", "outputs", "poses", "closure", "contacts", "reactions", "lam")

UNTIL, COUNT = 0.1, 20
"""Length of adaptive runs without contacts [s], and how many fixed steps such a run has."""

UNTIL_CONTACT, COUNT_CONTACT = 0.6, 120
"""The same through contacts: most meet an impact, a lift-off or a slip by then."""

UNTIL_SCENE = 0.05
"""Length of runs of scenes, in steps of 1 ms [s]."""

STEPS = (5e-3, 5e-4, 5e-5)
"""Fixed steps [s]; the table keeps the first with which a case runs, or the first if none does."""

UNSTEADY: tuple[str, ...] = ()
"""Cases left out of the table because two fresh processes give other bits."""

TOLERANCE = 1e-6
"""What numbers may differ by on another processor, relative to 1 + |x|.

Runs are short, so that rounding (1e-16 a step, and what an adaptive step makes of it within its
tolerance of 1e-8) grows by less than a hundred.
"""

SHOWN, EVENTS = 4, 6
"""How many numbers of each array, and how many events, stand in the table beside the hash."""


def example_paths() -> dict[str, Path]:
    """Every description under examples/ but for many bodies, and those of this folder, by name."""
    folder = ROOT / "examples"
    paths = [p for p in folder.rglob("*") if p.suffix in (".lsd", ".urdf", ".xml", ".mjcf")]
    found = {str(p.relative_to(folder)): p for p in paths if p.parent.name != "many"}
    found |= {f"net/{p.name}": p for p in MODELS.iterdir()}
    return dict(sorted(found.items()))


EXAMPLES = example_paths()


def case_names() -> list[str]:
    """Names of all cases: `example | method`, and further ones."""
    pairs = [f"{name} | {method}" for name in EXAMPLES for method in (DEFAULT, *METHODS)]
    return [*pairs, *(f"further | {name}" for name in FURTHER)]


@lru_cache(maxsize=2)
def mechanism(name: str) -> Any:
    """An example, read once for all methods."""
    return liaison.read(EXAMPLES[name])


def has_contacts(name: str) -> bool:
    """Whether a description has gaps, friction or collisions."""
    return bool(mechanism(name).contacts)


def options(name: str, method: str, step: float | None) -> dict[str, Any]:
    """How a case is run."""
    if name == "pile.lsd":
        return {"until": UNTIL_SCENE} | ({} if method == DEFAULT else {"method": method})
    until, count = (UNTIL_CONTACT, COUNT_CONTACT) if has_contacts(name) else (UNTIL, COUNT)
    if method == DEFAULT:
        return {"until": until, "only_series": SERIES}
    found: dict[str, Any] = {"until": until, "only_series": (), "method": method}
    return found if step is None else found | {"step": step, "until": count * step}


def outcome(case: str, step: float | None = None) -> dict[str, Any]:
    """What a case gives: hash and numbers, or the class of the error that refuses it."""
    name, method = case.split(" | ")
    try:
        if name == "further":
            return FURTHER[method]()
        found = described(liaison.simulate(mechanism(name), **options(name, method, step)))
    except liaison.LiaisonError as error:
        found = {"refused": type(error).__name__}
    return found if step is None else found | {"step": step}


def first_outcome(case: str) -> dict[str, Any]:
    """The same with the longest step that does."""
    if case.split(" | ")[1] not in FIXED:
        return outcome(case)
    tried = (outcome(case, step) for step in STEPS)
    first = next(tried)
    return (
        first if "refused" not in first else next((x for x in tried if "refused" not in x), first)
    )


def described(run: Any) -> dict[str, Any]:
    """A run as the table holds it."""
    events = [(e.name, str(getattr(e, "what", "")), float(e.t)) for e in run.events]
    parts = {"t": run.t, "q": run.q, "v": run.v}
    parts |= {f"series {x}": run.series[x].values for x in sorted(run.series)}
    return {
        "sha256": digest(parts, events),
        "status": run.status,
        "rows": len(run.t),
        "end": {x: shown(parts[x][-1]) for x in ("t", "q", "v")},
        "events": [list(e) for e in events[:EVENTS]],
    }


def digest(parts: dict[str, Any], events: list[tuple[str, str, float]]) -> str:
    """SHA-256 over names, shapes and bytes of arrays, and over events."""
    found = hashlib.sha256()
    for name, values in parts.items():
        array = np.ascontiguousarray(values)
        found.update(f"{name} {array.dtype.str} {array.shape}".encode())
        found.update(array.tobytes())
    for name, what, t in events:
        found.update(f"{name} {what} {t.hex()}".encode())
    return found.hexdigest()


def shown(values: Any) -> list[float]:
    """The first few numbers of an array, and its norm."""
    flat = np.atleast_1d(np.asarray(values, dtype=float)).ravel()
    norm = [float(np.linalg.norm(flat))] if flat.size > SHOWN else []
    return [float(x) for x in flat[:SHOWN]] + norm


@lru_cache(maxsize=1)
def processor() -> dict[str, str]:
    """What decides the last bits of a result."""
    features = llvm.get_host_cpu_features().flatten()
    return {
        "cpu": llvm.get_host_cpu_name(),
        "features": hashlib.sha256(features.encode()).hexdigest()[:16],
        "triple": llvm.get_process_triple(),
        "llvmlite": llvmlite.__version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "libc": " ".join(platform.libc_ver()),
    }


@lru_cache(maxsize=1)
def known() -> dict[str, Any]:
    """The table as it was written."""
    found: dict[str, Any] = json.loads(TABLE.read_text(encoding="utf-8"))
    return found


def differences(case: str, got: dict[str, Any], had: dict[str, Any]) -> list[str]:
    """What differs between a case and its line in the table; bits on the same processor."""
    if "refused" in had or "refused" in got:
        return [] if got == had else [f"{case}: {_brief(had)} in the table, {_brief(got)} now"]
    if known()["processor"] == processor():
        return [] if got == had else [f"{case}: other bits: " + "; ".join(_unequal(got, had))]
    return [f"{case}: {line}" for line in _apart(got, had)]


def _brief(x: dict[str, Any]) -> str:
    return f"refused with {x['refused']}" if "refused" in x else f"ran to t = {x['end']['t'][0]:g}"


def _unequal(got: dict[str, Any], had: dict[str, Any]) -> list[str]:
    """Fields that are not the same, both values told; the hash last."""
    names = [x for x in had if x != "sha256" and got.get(x) != had[x]]
    if not names:
        return ["end state and events are equal; earlier rows or series differ"]
    return [f"{x} is {got.get(x)}, was {had[x]}" for x in names]


def _apart(got: dict[str, Any], had: dict[str, Any]) -> list[str]:
    """Numbers further apart than rounding explains; other words."""
    found = []
    if got["status"] != had["status"]:
        found.append(f"status is {got['status']!r}, was {had['status']!r}")
    for x, values in had["end"].items():
        a, b = np.array(got["end"][x]), np.array(values)
        if a.shape != b.shape or np.any(np.abs(a - b) > TOLERANCE * (1 + np.abs(b))):
            found.append(f"last {x} is {a.tolist()}, was {b.tolist()}")
    for mine, (name, what, t) in zip(got["events"], had["events"]):
        if mine[:2] != [name, what] or abs(mine[2] - t) > TOLERANCE * (1 + abs(t)):
            found.append(f"event is {mine}, was {[name, what, t]}")
            break
    return found


def write(path: Path, cases: list[str], table: dict[str, Any]) -> None:
    """The table as text, one case a line, so that a difference shows as a line."""
    lines = [f"    {json.dumps(x)}: {json.dumps(table[x])}" for x in cases]
    head = json.dumps(processor())
    text = f'{{\n  "processor": {head},\n  "cases": {{\n' + ",\n".join(lines) + "\n  }\n}\n"
    path.write_text(text, encoding="utf-8")


def again(case: str) -> dict[str, Any]:
    """What a case gives now, run as the table says."""
    return outcome(case, known()["cases"][case].get("step"))


def _run_all(
    cases: list[str], run: Callable[[str], dict[str, Any]], *, tell: bool
) -> tuple[dict[str, Any], dict[str, float]]:
    table, spent = {}, {}
    for case in cases:
        begin = time.process_time()
        table[case] = run(case)
        spent[case] = time.process_time() - begin
        if tell:
            print(f"{spent[case]:7.3f} s  {case}: {_brief(table[case])}", flush=True)
    return table, spent


def main() -> int:
    """Compare with the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the table anew")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with TEXT in their name")
    parser.add_argument("--tell", action="store_true", help="print every case with its CPU time")
    parser.add_argument("--table", type=Path, default=TABLE, help="where to write the table")
    asked = parser.parse_args()
    cases = [x for x in case_names() if asked.only in x]
    table, spent = _run_all(cases, first_outcome if asked.write else again, tell=asked.tell)
    print(f"{len(cases)} cases, {sum(spent.values()):.0f} s of CPU")
    if asked.write:
        old = known()["cases"] if asked.only else {}
        write(asked.table, [x for x in case_names() if x in table or x in old], old | table)
        return 0
    told = [line for x in cases for line in differences(x, table[x], known()["cases"][x])]
    print("\n".join(told) or "all as in the table")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
