"""The clock of bench_fast, liaison's side of it, and the table it prints."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers_fast import median

from liaison.equations import newton_euler
from liaison.expr import collector_paused
from liaison.program import Kernel, at, compile_loops, i64, kernel, loop, lower, ptr, to_llvm
from liaison.tree import span

cpu = time.thread_time
STATES = 64
MILLION = 10**6
OUT = Path(__file__).parent / "out"
FLOORS = {
    "panda.rnea.pinocchio": 11, "panda.crba.pinocchio": 7, "panda.fd.pinocchio": 12,
    "panda.rnea.casadi": 2.4, "panda.crba.casadi": 3.7, "panda.fd.casadi": 2.3,
    "humanoid.rnea.pinocchio": 7, "humanoid.fd.pinocchio": 5.3,
    "panda.batch_rnea.pinocchio": 34, "panda.batch_crba.pinocchio": 17,
    "panda.batch_fd.pinocchio": 43,
    "fourbar1.fd.best": 43, "fourbar4.fd.best": 28, "fourbar16.fd.best": 22,
    "fourbar40.fd.best": 17, "stewart.fd.best": 6.5,
    "fourbar40.simulate.mujoco": 130, "fourbar40.simulate.exudyn": 450,
    "arm7.derive.sympy": 100, "arm7.evaluate.sympy": 1500,
    "chain1000.fd.mujoco": 100, "panda.dfd.pinocchio": 5, "humanoid.dfd.pinocchio": 5,
}  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A line of the table: CPU seconds of both sides, and what liaison's side is made of."""

    ours: float
    theirs: float
    peer: str
    operations: int | None = None
    compile: float | None = None  # [s]

    @property
    def ratio(self) -> float:
        """Peer ÷ liaison."""
        return self.theirs / self.ours


Rows = dict[str, Row | str]
"""Key -> its line, or why there is none."""


@loop
def repeat_entry(
    f: kernel, n: i64, states: i64, nq: i64, nv: i64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr,
    out: ptr, work: ptr,
) -> None:  # fmt: skip
    for _ in range(n):
        for k in range(states):
            f(0.0, at(q, k * nq), at(v, k * nv), u, p, at(x, k * nv), out, work)


def per_call(made: Kernel, entry: str, n: int, q: np.ndarray | None = None) -> float:
    """Seconds of one call of an entry in a compiled loop, over some states in turn."""
    sizes = made.program.sizes
    rng = np.random.default_rng(0)
    nq, nv = sizes["nq"], sizes["nv"]
    q = rng.uniform(-1, 1, (STATES, nq)) if q is None else np.tile(q, (STATES, 1))
    v, x = rng.uniform(-1, 1, (2, STATES, nv))
    out, work = np.zeros(made.out_size(entry)), np.zeros(made.work_size(entry) + 1)
    u, p = (made.program.defaults[name] for name in "up")
    call, address = compile_loops([repeat_entry])["repeat_entry"], made.address(entry)
    q, v, x = (np.ascontiguousarray(a).ravel() for a in (q, v, x))
    turns = max(1, n // STATES)
    return median(
        lambda: call(address, turns, STATES, nq, nv, q, v, u, p, x, out, work), turns * STATES
    )


def per_state(made: Kernel, entry: str) -> float:
    """Seconds a state in a batch of a million, one thread."""
    q, v, x = np.random.default_rng(0).uniform(-2, 2, (3, made.program.sizes["nv"], MILLION))
    bound = made.bind_batch(entry, q=q, v=v, x=x, threads=1)
    bound()
    return median(bound, MILLION)


def derived(mechanism: object, *, cache: bool = True) -> Kernel:
    """The kernel of a mechanism, nothing compiled yet."""
    with collector_paused():
        return to_llvm(lower(newton_euler(span(mechanism))), cache=cache)


def compiled(mechanism: object, *entries: str, cache: bool = True) -> Kernel:
    """A kernel with its entries ready."""
    made = derived(mechanism, cache=cache)
    made.compile(*entries)
    return made


def compile_times(mechanism: object, entries: Mapping[str, str]) -> dict[str, float]:
    """Seconds to compile each entry alone, without the cache."""
    found = {}
    for key, entry in entries.items():
        made = derived(mechanism, cache=False)
        made.program.operations(entry)
        begin = cpu()
        made.compile(entry)
        found[key] = cpu() - begin
    return found


def operations(made: Kernel, entry: str) -> int:
    """Additions, multiplications and the rest of an entry."""
    return sum(made.program.operations(entry).values())


def agree(ours: object, theirs: object, within: float, what: str) -> None:
    """Both sides give the same, or nothing is timed."""
    a, b = np.asarray(ours, dtype=float).ravel(), np.asarray(theirs, dtype=float).ravel()
    off = float(np.abs(a - b).max() / np.abs(b).max())
    assert a.shape == b.shape, what
    assert off <= within, f"{what}: the two sides are {off:.1e} apart"
    print(f"{what}: both sides agree to {off:.0e}")


def show(found: Rows, *, is_whole: bool) -> None:
    """Prints the table and writes it, and ratios.json, where groups not run keep their ratios."""
    lines = [
        "| key | liaison | peer | floor | measured | | operations | compile | the peer is |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for key, row in found.items():
        floor = FLOORS.get(key, "–")
        if isinstance(row, str):
            lines.append(f"| `{key}` | | | {floor} | – | absent | | | {row} |")
            continue
        mark = "short" if row.ratio < FLOORS.get(key, 0) else ""
        made = "" if row.compile is None else f"{row.compile * 1e3:.0f} ms"
        lines.append(
            f"| `{key}` | {_time(row.ours)} | {_time(row.theirs)} | {floor} | {row.ratio:.3g} | "
            f"{mark} | {row.operations or ''} | {made} | {row.peer} |"
        )
    OUT.mkdir(exist_ok=True)
    kept = OUT / "ratios.json"
    ratios = {} if is_whole or not kept.exists() else json.loads(kept.read_text())
    ratios |= {key: row.ratio for key, row in found.items() if isinstance(row, Row)}
    (OUT / "table.md").write_text("\n".join(lines) + "\n")
    kept.write_text(json.dumps(ratios, indent=2))
    print("\n" + "\n".join(lines))


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
