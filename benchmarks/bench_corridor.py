"""What the corridor must reach, measured in one run: `python benchmarks/bench_corridor.py`.

Times are CPU time of this process, the least of several blocks. Pinocchio and MuJoCo are called
as their users call them, from Python, on the same machine in the same run.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from liaison.equations import newton_euler
from liaison.errors import LiaisonError
from liaison.expr import collector_paused
from liaison.formats import read
from liaison.model import Fixed, Gravity
from liaison.program import Kernel, compile_loops, i64, kernel, loop, lower, ptr, to_llvm
from liaison.simulation import simulate
from liaison.tree import assemble, span

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from n_four_bar import n_four_bar

HERE = Path(__file__).parents[1]
cpu = time.process_time
UPRIGHT = math.pi / 2
"""The angle from x at which the example's coordinates are zero."""


@loop
def repeated(f: kernel, n: i64, q: ptr, v: ptr, p: ptr, out: ptr, work: ptr) -> None:
    for _ in range(n):
        f(0.0, q, v, p, p, p, out, work)


def least(run: Callable[[], object], times: int = 7) -> float:
    """CPU seconds of the quickest of several runs."""
    found = math.inf
    for _ in range(times):
        begin = cpu()
        run()
        found = min(found, cpu() - begin)
    return found


def per_call(made: Kernel, entry: str, q: np.ndarray, v: np.ndarray, n: int) -> float:
    """CPU seconds of one call of an entry in a compiled loop."""
    loops = compile_loops([repeated])
    out, work = np.zeros(made.out_size(entry)), np.zeros(made.work_size(entry) + 1)
    nothing = np.zeros(1)
    call = loops["repeated"]
    address = made.address(entry)
    return least(lambda: call(address, n, q, v, nothing, out, work)) / n


def panda() -> dict[str, float]:
    """Forward dynamics of a 7-axis arm, against Pinocchio's ABA."""
    import pinocchio

    robots = Path(sysconfig.get_path("purelib"), "cmeel.prefix/share/example-robot-data/robots")
    path = robots / "panda_description/urdf/panda.urdf"
    _compiled(read_arm(path))  # imports and the target machine, once a process
    begin = cpu()
    made = _compiled(read_arm(path))
    first = made("forward", q=np.zeros(7), v=np.zeros(7))
    seconds = cpu() - begin
    assert np.isfinite(first).all()
    q, v = np.linspace(-1, 1, 7), np.linspace(1, -1, 7)
    ours = per_call(made, "forward", q, v, 200_000)
    whole = pinocchio.buildModelFromUrdf(str(path))
    fingers = [whole.getJointId(name) for name in whole.names if "finger" in name]
    model = pinocchio.buildReducedModel(whole, fingers, pinocchio.neutral(whole))
    data = model.createData()
    tau = np.zeros(model.nv)
    theirs = least(lambda: [pinocchio.aba(model, data, q, v, tau) for _ in range(10_000)]) / 1e4
    return {
        "panda.description_to_code.s": seconds,
        "panda.forward.us": ours * 1e6,
        "panda.forward.pinocchio_python.us": theirs * 1e6,
        "panda.forward.ratio": theirs / ours,
    }


def read_arm(path: Path) -> object:
    """The seven axes of the arm, its fingers held."""
    mechanism = read(path)
    held = tuple(
        replace(joint, type=Fixed(), coordinates=()) if "finger" in joint.name else joint
        for joint in mechanism.joints
    )
    return replace(mechanism, joints=held, constraints=(), forces=(Gravity(),))


def _compiled(mechanism: object) -> Kernel:
    with collector_paused():
        made = to_llvm(lower(newton_euler(span(mechanism))), cache=False)
        made.address("forward")
    return made


def four_bar(n: int = 40) -> dict[str, float]:
    """A chain of loops: derive and compile, one evaluation, one simulated second."""
    mechanism = n_four_bar(n)
    begin = cpu()
    made = _compiled(mechanism)
    seconds = cpu() - begin
    state = assemble(span(mechanism))
    q, v = state.q.copy(), state.v.copy()
    ours = per_call(made, "forward", q, v, 5_000)
    options = {"until": 1.0, "step": 1e-3, "every": 1.0}
    run = simulate(made, state, **options)
    total = run["energy"].sum(axis=1)
    once = least(lambda: simulate(made, state, series=(), **options), times=5)
    theirs = mujoco_four_bar(n)
    return {
        f"fourbar{n}.derive_compile.s": seconds,
        f"fourbar{n}.forward.us": ours * 1e6,
        f"fourbar{n}.forward.mujoco_python.us": theirs * 1e6,
        f"fourbar{n}.forward.ratio": theirs / ours,
        f"fourbar{n}.simulated_second.ms": once * 1e3,
        f"fourbar{n}.energy_error.J": float(abs(total[-1] - total[0])),
    }


def mujoco_four_bar(n: int) -> float:
    """CPU seconds of mj_forward on the same chain, its loops as soft `connect`s."""
    import mujoco

    rod = '<geom type="capsule" fromto="0 0 0 1 0 0" size="0.01" mass="1" contype="0"/>'
    hinge = '<joint type="hinge" axis="0 0 1"/>'
    bodies, ties = [], []
    for i in range(n + 1):
        inner = ""
        if i < n:
            inner = f'<body name="h{i}" pos="1 0 0" euler="0 0 -90">{hinge}{rod}</body>'
            ties.append(f'<connect body1="h{i}" body2="v{i + 1}" anchor="1 0 0"/>')
        bodies.append(f'<body name="v{i}" pos="{i} 0 0" euler="0 0 90">{hinge}{rod}{inner}</body>')
    text = (
        '<mujoco><option gravity="0 -9.81 0"/><worldbody>'
        + "".join(bodies)
        + "</worldbody><equality>"
        + "".join(ties)
        + "</equality></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    return least(lambda: [mujoco.mj_forward(model, data) for _ in range(200)]) / 200


def starts_near_flat(count: int = 256) -> dict[str, float]:
    """Random starts of N = 4 near its flat position, against the exact motion of one freedom."""
    from scipy.integrate import solve_ivp

    n = 4
    mechanism = n_four_bar(n)
    tree = span(mechanism)
    made = _compiled(mechanism)
    moment, weight = (n + 1) / 3 + n, ((n + 1) / 2 + n) * 9.81
    names = [label.name for label in tree.position_labels()]
    crank = next(name for name in names if name.startswith("A"))
    rng = np.random.default_rng(0)
    worst, refused, nonfinite = 0.0, 0, 0
    for _ in range(count):
        angle = rng.uniform(-0.1, 0.1) + math.pi * rng.integers(0, 2)
        speed = rng.uniform(-2.0, 2.0)
        try:
            state = on_parallelogram(tree, angle, speed)
            run = simulate(made, state, until=1.0, step=1e-3, every=1.0, series=())
        except LiaisonError:
            refused += 1
            continue
        exact = solve_ivp(
            lambda t, y: [y[1], -weight * math.cos(y[0]) / moment],
            (0, 1), [angle, speed], method="DOP853", rtol=1e-13, atol=1e-13,
        )  # fmt: skip
        nonfinite += not np.isfinite(run.q[-1]).all()
        worst = max(worst, abs(run[crank][-1] + UPRIGHT - exact.y[0, -1]))
    return {
        "fourbar4.starts": count,
        "fourbar4.nonfinite": nonfinite,
        "fourbar4.refused": refused,
        "fourbar4.worst_crank.rad": worst,
    }


def on_parallelogram(tree: object, angle: float, speed: float) -> object:
    """The state of the chain whose rods all stand at one angle from x."""
    given = {}
    for label in tree.position_labels():
        side = 1.0 if label.name.startswith("A") else -1.0
        given[label.name] = side * (angle - UPRIGHT)
        given[f"{label.name}'"] = side * speed
    return assemble(tree, **given)


def memory(n: int = 40) -> dict[str, float]:
    """Peak memory of a process that derives N = 40 [MB]."""
    code = (
        "import sys; sys.path.insert(0, 'examples')\n"
        "from n_four_bar import n_four_bar\n"
        "from liaison.tree import span\n"
        "from liaison.equations import newton_euler\n"
        "from liaison.program import lower\n"
        f"lower(newton_euler(span(n_four_bar({n})))).entries['forward']\n"
        "import resource; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=HERE, capture_output=True, text=True, check=True
    )
    return {f"fourbar{n}.derive.MB": float(found.stdout)}


LIMITS = {
    "panda.description_to_code.s": 0.15,
    "panda.forward.us": 0.2,
    "fourbar40.derive_compile.s": 1.0,
    "fourbar40.forward.us": 3.0,
    "fourbar40.simulated_second.ms": 15.0,
    "fourbar40.energy_error.J": 1e-4,
    "fourbar4.nonfinite": 0,
    "fourbar4.worst_crank.rad": 1e-6,
    "fourbar40.derive.MB": 300.0,
}


def main() -> None:
    found: dict[str, float] = {}
    for measure in (panda, four_bar, starts_near_flat, memory):
        found |= measure()
    print(f"{'figure':38} {'measured':>12} {'at most':>10}")
    for name, value in found.items():
        limit = LIMITS.get(name)
        mark = "" if limit is None else ("  ok" if value <= limit else "  OVER")
        print(f"{name:38} {value:12.5g} {limit if limit is not None else '':>10}{mark}")
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "bench_corridor.json").write_text(json.dumps(found, indent=2))
    print(
        f"peak of this process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB"
    )


if __name__ == "__main__":
    main()
