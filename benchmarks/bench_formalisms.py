"""What the formalisms must reach, measured in one run: `python benchmarks/bench_formalisms.py`.

Times are processor time of this process, the least of several runs; proofs are timed once.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from liaison.analyse.compare.compare import compare, exact_mechanism, sizes
from liaison.analyse.compare.equality import prove
from liaison.analyse.compare.positions import Position
from liaison.equations import FORMALISMS, Equations, hamilton, lagrange, lagrange_reduced, maximal
from liaison.equations.setting import shared_settings
from liaison.expr import collector_paused, count_operations
from liaison.formats import read
from liaison.model import Body, Mechanism, Parameter, RotationMatrix
from liaison.tree import Tree, span

HERE = Path(__file__).parents[1]
sys.path.insert(0, str(HERE / "examples"))
sys.path.insert(0, str(HERE / "tests"))
from n_four_bar import n_four_bar  # noqa: E402

from samples.drawing import draw  # noqa: E402

cpu = time.process_time
WITH_POSITION = ("lagrange_reduced", "maximal")


def least(run: Callable[[], Any], times: int = 5) -> float:
    """Processor seconds of the quickest of several runs."""
    found = math.inf
    for _ in range(times):
        begin = cpu()
        run()
        found = min(found, cpu() - begin)
    return found


def symbolic(mechanism: Mechanism) -> Mechanism:
    """The mechanism with a parameter for every mass, center and moment of inertia."""
    given: list[Parameter] = []

    def named(name: str, value: Any) -> Any:
        given.append(Parameter(name, value))
        return given[-1].symbol

    def body(old: Body) -> Body:
        if old.name == "ground":
            return old
        mass = named(f"m_{old.name}", old.mass)
        com = tuple(named(f"c_{old.name}_{k}", x) for k, x in zip("xyz", old.com, strict=True))
        rows: list[list[Any]] = [[0] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(i + 1):
                rows[i][j] = rows[j][i] = named(f"I_{old.name}_{j}{i}", old.inertia[i][j])
        return replace(old, mass=mass, com=com, inertia=tuple(map(tuple, rows)))

    bodies = tuple(body(x) for x in mechanism.bodies)
    return replace(mechanism, bodies=bodies, parameters=(*mechanism.parameters, *given))


def operations(made: Equations) -> int:
    """Of M and τ − h, every shared part once."""
    M = made.dynamics.M
    return sum(count_operations([*(M[key] for key in M), *made.dynamics.f]).values())


def derived(formalism: Callable[[Tree], Equations], tree: Tree) -> Equations:
    """Equations with all that they defer."""
    with collector_paused():
        made = formalism(tree)
        dict(made.dynamics.M.items())
        return made


def arm() -> dict[str, Any]:
    """A 7-axis arm with symbolic inertial parameters: derivation times and operations."""
    tree = span(symbolic(read(HERE / "examples/arm7.urdf")), exact=True)
    ways: dict[str, Callable[[Tree], Equations]] = dict(FORMALISMS)
    ways["hamilton, implicit"] = lambda tree: hamilton(tree, explicit=False)
    found: dict[str, Any] = {}
    for name, formalism in ways.items():
        seconds = least(lambda formalism=formalism: derived(formalism, tree))
        made = derived(formalism, tree)
        found[name] = {
            "ms": round(1e3 * seconds, 1),
            "operations": operations(made),
            "unknowns": sizes(made)[0],
        }
    best = min(row["operations"] for name, row in found.items() if name != "maximal")
    for row in found.values():
        row["times the best"] = round(row["operations"] / best, 2)
    return found


def chain(n: int = 40) -> dict[str, Any]:
    """N four-bars in Lagrange's formalism with multipliers."""
    tree = span(n_four_bar(n), exact=True)
    made = derived(lagrange, tree)
    return {"s": round(least(lambda: derived(lagrange, tree), 3), 3), "unknowns": sizes(made)[0]}


def satellite() -> dict[str, Any]:
    """The satellite in all formalisms, derived and proved equal."""
    mechanism = read(HERE / "examples/satellite.lsd")
    begin = cpu()
    found = compare(mechanism, timed=False)
    return {"s": round(cpu() - begin, 2), "formalisms": len(found.rows),
            "all proved": found.all_proved}  # fmt: skip


def proved(seed: int) -> dict[str, Any]:
    """All formalisms on one random mechanism of up to eight bodies: seconds and verdicts."""
    sample = draw(seed, bodies=(1, 8))
    begin = cpu()
    with collector_paused(), shared_settings():
        tree = span(exact_mechanism(sample.mechanism), exact=True)
        made = {key: f(tree) for key, f in FORMALISMS.items() if key not in WITH_POSITION}
        made["lagrange_reduced"] = lagrange_reduced(tree, at=sample.q)
        made["maximal"] = maximal(tree, attitude=RotationMatrix())
        found = prove(made.pop("newton_euler"), made, position=Position(sample.q, None, sample.t))
    return {"s": cpu() - begin, "verdicts": found}


def random_mechanisms(count: int = 100) -> dict[str, Any]:
    """Equality of all formalisms on random mechanisms of up to eight bodies."""
    rows = [proved(1000 + seed) for seed in range(count)]
    verdicts = [x for row in rows for x in row["verdicts"].values()]
    return {
        "s": round(sum(row["s"] for row in rows), 1),
        "mechanisms": count,
        "comparisons": len(verdicts),
        "proved": sum(x.is_proved for x in verdicts),
        "numerical": sum(bool(x.equal) and not x.is_proved for x in verdicts),
        "not equal": sum(x.equal is False for x in verdicts),
        "not known": sum(x.equal is None for x in verdicts),
        "largest chance": max((x.chance for x in verdicts if x.is_proved), default=None),
    }


def main() -> None:
    """Prints everything, as JSON."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    found = {
        "7-axis arm with symbolic parameters": arm(),
        "40 four-bars, lagrange": chain(),
        "satellite, all formalisms": satellite(),
        "random mechanisms": random_mechanisms(count),
    }
    print(json.dumps(found, indent=2, ensure_ascii=False))


if __name__ == "__main__":
    main()
