"""What mobility must reach, measured in one run: `python benchmarks/bench_mobility.py`.

CPU time of this process, one core. Each mechanism is examined from its exact geometry modulo one
prime, to the order that proves where one is in reach; then the same with three primes.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
import liaison
from freedoms.antenna import patch
from freedoms.linkages import (
    CASES,
    chained,
    formula_systems,
    line_symmetric,
    loop_systems,
)
from freedoms.test_oracles import ROWS
from liaison.freedoms import Mobility, mobility_of_systems

LIMITS = {"four_bar": 0.05, "bennett": 0.05, "goldberg": 0.05, "hexagon": 10.0, "screen": 5.0}
"""CPU seconds allowed."""

TOTAL = 30.0
"""For all rows of the table of known mobilities."""


def systems() -> Iterator[tuple[str, Callable[[], Any], dict[str, Any]]]:
    """Name, equations modulo one prime after the other, options."""
    for name, case in CASES.items():
        yield name, lambda case=case: loop_systems(case), {}
    for name, row in ROWS.items():
        yield f"{name} (s, c)", lambda row=row: formula_systems(*row[0]), {}
    bricard = line_symmetric([(1, 2, 0), (3, -1, 1), (-2, 2, 4)])
    yield "bricard octahedron", lambda: formula_systems(*bricard), {"order": 5000}


def measured(name: str, source: Callable[[], Any], **options: Any) -> tuple[float, Mobility]:
    """CPU seconds and the answer; printed."""
    begin = time.process_time()
    found = mobility_of_systems(name, source(), **options)
    spent = time.process_time() - begin
    sure = "proved" if found.is_proved else "likely"
    print(f"{name:30s} {found.unknowns:4d} {found.equations:4d} {found.naive_rank:6d} "
          f"{found.rank:5d} {found.first_order:6d} {found.finite[0]:4d}-{found.finite[1]:<3d} "
          f"{found.status:12s} {sure:7s} {spent:8.3f}")  # fmt: skip
    return spent, found


def whole_way(name: str) -> float:
    """CPU seconds of `liaison.mobility` for an example, the least of three."""
    mechanism = liaison.read(Path(__file__).parents[1] / "examples" / f"{name}.lsd")
    found = []
    for _ in range(3):
        begin = time.process_time()
        liaison.mobility(mechanism)
        found.append(time.process_time() - begin)
    return min(found)


def main() -> int:
    """Prints the table; 1 where a limit is passed."""
    print(f"{'mechanism':30s} {'n':>4s} {'eqs':>4s} {'naive':>6s} {'rank':>5s} {'first':>6s} "
          f"{'finite':>8s} {'status':12s} {'proof':7s} {'CPU s':>8s}")  # fmt: skip
    mobility_of_systems("loads the libraries", loop_systems(CASES["generic_4r"]), primes=1)
    spent = {name: measured(name, source, primes=1, **options)[0]
             for name, source, options in systems()}  # fmt: skip
    hexagon, row = patch(6), chained(40)
    extra = {
        "hexagon": measured("hexagon", lambda: loop_systems(hexagon), primes=1)[0],
        "screen": measured("40 Bricard linkages", lambda: loop_systems(row), primes=1)[0],
    }
    print(f"total of the table, one prime: {sum(spent.values()):.2f} s (at most {TOTAL:g} s)")
    begin = time.process_time()
    for name, source, options in systems():
        mobility_of_systems(name, source(), **options)
    print(f"the same, three primes:        {time.process_time() - begin:.2f} s")
    doors = {name: whole_way(name) for name in ("four_bar", "bennett", "goldberg")}
    print("from the description, three primes, with redundancy and Ψ: "
          + ", ".join(f"{name} {1e3 * x:.0f} ms" for name, x in doors.items()))  # fmt: skip
    over = [f"{name}: {x:.3f} s > {LIMITS[name]:g} s" for name, x in (spent | extra).items()
            if x > LIMITS.get(name, TOTAL)]  # fmt: skip
    print("\n".join(over) or "every limit is kept")
    return int(bool(over) or sum(spent.values()) > TOTAL)


if __name__ == "__main__":
    sys.exit(main())
