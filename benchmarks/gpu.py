"""The table of the GPU: states a second against the limits of memory and arithmetic.

Run on a machine with an NVIDIA GPU and its driver:

    python benchmarks/gpu.py panda.urdf talos.urdf

The first description is a seven-axis arm, the second a floating humanoid (may be left out). Every
kernel is compared with the processor's before it is timed. Times are by the device's own events,
medians of several launches. Limits are measured first: bytes a second of a copy, and fused
multiply-adds a second. The tables of worlds, through contacts, and of scenes follow (see
gpu_worlds.py, gpu_scenes.py), and that of MuJoCo Warp where it is installed (gpu_peers.py).
"""

from __future__ import annotations

import ctypes
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "examples"), str(ROOT / "benchmarks")]

import liaison  # noqa: E402
from liaison.model import Actuator, Coordinate, Fixed, Gravity, Input  # noqa: E402
from liaison.program.gpu.cuda import DeviceArray, driver  # noqa: E402
from liaison.program.gpu.to_ptx import to_ptx  # noqa: E402
from liaison.program.llvm.machine import ptx  # noqa: E402

COUNT = 10_000_000
ROBOTS, STEPS = 524_288, 1000
CHECKED = 20_000
ARITHMETIC = re.compile(r"\b(fma|mul|add|sub|div|sqrt|rcp)\.(?:rn\.)?f(64|32)")


def armed(path: Path, floating: bool = False) -> object:
    """A robot with a motor on every axis, its fingers held."""
    mechanism = liaison.read(path, floating=floating)
    joints = tuple(
        replace(j, type=Fixed(), coordinates=()) if "finger" in j.name else j
        for j in mechanism.joints
    )
    axes = [j.coordinates[0] for j in joints if len(j.coordinates) == 1]
    motors = [f"motor {axis}" for axis in axes]
    forces = [
        Actuator(name, Coordinate(axis), liaison.symbol(name))
        for name, axis in zip(motors, axes, strict=True)
    ]
    return replace(
        mechanism,
        joints=joints,
        constraints=(),
        forces=(Gravity(), *forces),
        inputs=tuple(Input(name, "N.m") for name in motors),
    )


def program_of(mechanism: object) -> object:
    return liaison.lower(liaison.newton_euler(liaison.span(mechanism)))


def seconds(launch: Callable[[], object], repeat: int = 9) -> float:
    """The median time of a launch, by events on the device."""
    made, times = driver(), []
    begin, end = ctypes.c_void_p(), ctypes.c_void_p()
    for event in (begin, end):
        made.call("cuEventCreate", ctypes.byref(event), 0)
    launch()
    made.synchronize()
    for _ in range(repeat):
        made.call("cuEventRecord", begin, None)
        launch()
        made.call("cuEventRecord", end, None)
        made.call("cuEventSynchronize", end)
        taken = ctypes.c_float()
        made.call("cuEventElapsedTime", ctypes.byref(taken), begin, end)
        times.append(1e-3 * taken.value)
    return float(np.median(times))


def copy_rate() -> float:
    """Bytes read and written a second."""
    size = 4 << 30
    a, b = (DeviceArray((size // 8,), np.float64) for _ in range(2))
    places = ctypes.c_uint64(b.address), ctypes.c_uint64(a.address), ctypes.c_size_t(size)
    return 2 * size / seconds(lambda: driver().call("cuMemcpyDtoDAsync_v2", *places, None))


FMA = """\
define ptx_kernel void @burn(i64 %count, i64 %turns, ptr addrspace(1) %out) {
entry:
  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %x = uitofp i32 %tid to KIND
  br label %turn
turn:
  %k = phi i64 [0, %entry], [%ahead, %turn]
PHIS
WORK
  %ahead = add i64 %k, 1
  %more = icmp ult i64 %ahead, %turns
  br i1 %more, label %turn, label %end
end:
SUM
  %a = zext i32 %tid to i64
  %b = zext i32 %block to i64
  %c = shl i64 %b, 8
  %i = add i64 %a, %c
  %place = getelementptr KIND, ptr addrspace(1) %out, i64 %i
  store KIND %s7, ptr addrspace(1) %place
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
"""


def fma_rate(kind: str) -> float:
    """Fused multiply-adds a second, eight chains a thread, sixteen a turn."""
    bits = {"double": 64, "float": 32}[kind]
    phis = "\n".join(f"  %p{i} = phi {kind} [%x, %entry], [%w{i}.3, %turn]" for i in range(8))
    work, total = [], [f"  %s0 = fadd {kind} %w0.3, %w0.3"]
    for n in range(4):
        for i in range(8):
            before = f"%p{i}" if n == 0 else f"%w{i}.{n - 1}"
            call = f"call {kind} @llvm.fma.f{bits}({kind} {before}, {kind} %x, {kind} %x)"
            work.append(f"  %w{i}.{n} = {call}")
    for i in range(1, 8):
        total.append(f"  %s{i} = fadd {kind} %s{i - 1}, %w{i}.3")
    text = FMA.replace("PHIS", phis).replace("WORK", "\n".join(work))
    text = text.replace("SUM", "\n".join(total)).replace("KIND", kind)
    made = driver()
    function = made.load(ptx(text, made.processor), "burn")
    threads, turns = 132 * 2048 * 8, 2000
    out = DeviceArray((threads,), np.float64)
    given = [ctypes.c_uint64(x) for x in (threads, turns, out.address)]
    return threads * turns * 32 / seconds(lambda: function.launch(threads, 256, given), 5)


def work_of(program: object, entry: str, precision: str, rows: tuple[int, ...] | None) -> int:
    """Arithmetic instructions of one state, as the text has them; a division counts as ten."""
    text = to_ptx(program, entry, precision=precision, rows=rows)
    hot = [part for part in text.split("\n}\n") if re.search(r"(piece\d+|evaluate)_param_0", part)]
    found = ARITHMETIC.findall("\n".join(hot))
    return sum(10 if name in ("div", "sqrt", "rcp") else 1 for name, _ in found)


class Table:
    """Rows as they are measured."""

    def __init__(self) -> None:
        self.copy = copy_rate()
        self.fma = {"double": fma_rate("double"), "single": fma_rate("float")}
        self.rows: list[dict[str, object]] = []
        print(f"copy {self.copy:.3g} B/s, fma {self.fma['double']:.3g} /s double, "
              f"{self.fma['single']:.3g} /s single")  # fmt: skip
        print("task | precision | a second | % memory | % arithmetic | registers | spilled | error")

    def add(
        self, task: str, precision: str, rate: float, moved: int, work: int, resources, error: float
    ) -> None:
        row = {
            "task": task,
            "precision": precision,
            "rate": rate,
            "memory": rate * moved / self.copy if moved else None,
            "arithmetic": rate * work / self.fma[precision],
            "registers": resources.registers,
            "spilled": resources.spilled,
            "error": error,
        }
        self.rows.append(row)
        memory = f"{100 * row['memory']:.0f}" if moved else "–"
        print(
            f"{task} | {precision} | {rate:.3g} | {memory} | {100 * row['arithmetic']:.0f} | "
            f"{resources.registers} | {resources.spilled} | {error:.1e}",
            flush=True,
        )


def evaluate(table: Table, name: str, program, entry, precision, count, rows=None) -> None:
    gpu = liaison.to_gpu(program, precision=precision)
    rng = np.random.default_rng(1)
    reads = program.reads(entry)
    arrays = {
        key: rng.uniform(-1, 1, (size, CHECKED))
        for key, size in reads.items()
        if size and key not in ("t", "p")
    }
    normalize(program, arrays)
    wanted = rows or tuple(range(len(program.entry(entry).outputs)))
    expected = liaison.to_llvm(program, cache=False).batch(entry, **arrays)[list(wanted)]
    found = gpu.batch(entry, rows=rows, **arrays)
    scale = np.abs(expected).max(axis=1, keepdims=True) + 1e-300
    error = float(np.max(np.abs(found - expected) / scale))
    assert error <= (1e-10 if precision == "double" else 1e-2), (entry, precision, error)
    times = -(-count // CHECKED)
    placed = {k: DeviceArray.of(np.tile(a, times)[:, :count], gpu.dtype) for k, a in arrays.items()}
    out = DeviceArray((len(wanted), count), gpu.dtype)
    taken = seconds(gpu.bind(entry, rows=rows, out=out, **placed))
    moved = (sum(len(a) for a in arrays.values()) + len(wanted)) * gpu.dtype.itemsize
    shared = frozenset({"t", "q", "v", "u", "p", "x"} - set(arrays))
    resources = gpu.resources(entry, shared, rows)
    work = work_of(program, entry, precision, rows)
    table.add(f"{name} {entry}", precision, count / taken, moved, work, resources, error)


def normalize(program, arrays) -> None:
    """Unit quaternions where there are any."""
    names = [label.name for label in program.labels["q"]]
    where = [k for k, label in enumerate(names) if label.split(".")[-1] in ("qw", "qx", "qy", "qz")]
    if where and "q" in arrays:
        arrays["q"][where] /= np.linalg.norm(arrays["q"][where], axis=0)


def march(table: Table, name: str, program, state, precision, robots, steps) -> None:
    gpu = liaison.to_gpu(program, precision=precision)
    rng = np.random.default_rng(2)
    q0 = np.array(state.q)[:, None].repeat(robots, 1)
    v0 = np.array(state.v)[:, None].repeat(robots, 1)
    if not program.sizes["nc"]:
        v0 = v0 + rng.uniform(-0.1, 0.1, v0.shape)
    short = 100
    _, v = gpu.march(q0[:, :64].copy(), v0[:, :64].copy(), step=1e-4, steps=short)
    run = liaison.simulate(
        liaison.to_llvm(program, cache=False),
        replace(state, q=q0[:, 3], v=v0[:, 3]),
        until=short * 1e-4,
        step=1e-4,
        method="rk4",
    ).v[-1]
    error = float(np.abs(v[:, 3] - run).max() / np.abs(run).max())
    assert error <= (1e-8 if precision == "double" else 1e-2), error
    placed = DeviceArray.of(q0, gpu.dtype), DeviceArray.of(v0, gpu.dtype)
    taken = seconds(lambda: gpu.march(*placed, step=1e-4, steps=steps, check=False), 3)
    shared = frozenset({"t", "u", "p"})
    work = 4 * work_of(program, "rate", precision, None)
    resources = gpu.resources("march", shared)
    rate = robots * steps / taken
    table.add(f"{name} RK4 steps", precision, rate, 0, work, resources, error)


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]]
    driver()
    clock = [time.perf_counter()]
    arm = program_of(armed(paths[0]))
    arm.entry("forward")
    clock.append(time.perf_counter())
    to_ptx(arm, "forward", processor=driver().processor)
    clock.append(time.perf_counter())
    liaison.to_gpu(arm).batch("forward", q=np.zeros((7, 1)), v=np.zeros((7, 1)))
    clock.append(time.perf_counter())
    told = [f"{b - a:.3f}" for a, b in pairwise(clock)]
    print("derive, text, text again with driver and first result [s]:", *told)
    table = Table()
    start = liaison.assemble(liaison.span(armed(paths[0])))
    triangle = tuple(7 * i + j for i in range(7) for j in range(i + 1))
    for precision in ("double", "single"):
        evaluate(table, "arm", arm, "inverse", precision, COUNT)
        evaluate(table, "arm", arm, "mass_matrix", precision, COUNT, triangle)
        evaluate(table, "arm", arm, "forward", precision, COUNT, tuple(range(7)))
        march(table, "arm", arm, start, precision, ROBOTS, STEPS)
    for path in paths[1:2]:
        human = armed(path, floating=True)
        program, state = program_of(human), liaison.assemble(liaison.span(human))
        rows = tuple(range(program.sizes["nv"]))
        for precision in ("double", "single"):
            evaluate(table, "humanoid", program, "inverse", precision, COUNT // 10)
            evaluate(table, "humanoid", program, "forward", precision, COUNT // 10, rows)
            march(table, "humanoid", program, state, precision, ROBOTS // 8, 20)
    from n_four_bar import n_four_bar

    bars = n_four_bar(4)
    state = liaison.assemble(liaison.span(bars))
    march(table, "four-bar N=4", program_of(bars), state, "double", ROBOTS, 200)
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    limits = {"copy": table.copy, "fma": table.fma}
    (out / "gpu.json").write_text(json.dumps({"limits": limits, "rows": table.rows}, indent=1))
    import gpu_peers
    import gpu_scenes
    import gpu_worlds

    sys.argv[1:] = ["--quick"]
    gpu_worlds.main()
    gpu_scenes.main()
    gpu_peers.rows(paths[0])


if __name__ == "__main__":
    main()
