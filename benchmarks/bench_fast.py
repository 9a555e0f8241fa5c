"""How fast the generated code is, beside its peers in one run: `python benchmarks/bench_fast.py`.

CPU time of this thread, medians; the same models, results compared first. Pinocchio and MuJoCo are
called through their Python bindings: Pinocchio's price of a call is measured on an empty model
and taken off, MuJoCo's (about 1 µs) is in its times. Ratios (peer ÷ liaison) go to
benchmarks/out/ratios.json. Names after the command choose groups: arm, humanoid, loops, stewart,
chain, sympy.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import peers_fast as peers
from bench_corridor import read_arm
from peers_stewart import mujoco_stewart, pinocchio_stewart

from liaison.equations import newton_euler
from liaison.equations.sweeps import sweeps
from liaison.expr import collector_paused
from liaison.formats import read, read_urdf
from liaison.model import Gravity, Parameter
from liaison.program import (
    Kernel,
    at,
    compile_loops,
    i64,
    kernel,
    loop,
    looped,
    lower,
    ptr,
    to_llvm,
)
from liaison.simulate import simulate
from liaison.tree import as_float, assemble, span

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE.parent / "tests")]
from n_four_bar import n_four_bar  # noqa: E402

from samples.chains import chain  # noqa: E402

STATES = 64
MILLION = 10**6
FLOORS = {
    "panda.rnea.pinocchio": 11, "panda.crba.pinocchio": 7, "panda.fd.pinocchio": 12,
    "humanoid.rnea.pinocchio": 7, "humanoid.fd.pinocchio": 5.3,
    "panda.batch_rnea.pinocchio": 34, "panda.batch_crba.pinocchio": 17,
    "panda.batch_fd.pinocchio": 43, "panda.dfd.pinocchio": 5,
    "fourbar1.fd.best": 43, "fourbar4.fd.best": 28, "fourbar16.fd.best": 22,
    "fourbar40.fd.best": 17, "stewart.fd.best": 6.5, "fourbar40.simulate.mujoco": 130,
    "chain1000.fd.mujoco": 100,
    "arm7.derive.sympy": 100, "arm7.evaluate.sympy": 1500,
}  # fmt: skip
MISSING = {
    "panda.*.casadi": "the wheel of Pinocchio has no CasADi module",
    "fourbar40.simulate.exudyn": "not among the peers here",
}
ENTRIES = {"rnea": "inverse", "crba": "mass_matrix", "fd": "forward", "dfd": "d_forward"}

Lines = dict[str, tuple[float, float]]
"""Key -> seconds of liaison and of the peer."""


@loop
def repeat_entry(
    f: kernel, n: i64, states: i64, nq: i64, nv: i64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr,
    out: ptr, work: ptr,
) -> None:  # fmt: skip
    for i in range(n):
        k = i % states
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
    given = (np.ascontiguousarray(a).ravel() for a in (q, v))
    q, v = given
    return peers.median(
        lambda: call(address, n, STATES, nq, nv, q, v, u, p, x.ravel(), out, work), n
    )


def per_state(made: Kernel, entry: str) -> float:
    """Seconds a state in a batch of a million, one thread."""
    q, v, x = np.random.default_rng(0).uniform(-2, 2, (3, made.program.sizes["nv"], MILLION))
    bound = made.bind_batch(entry, q=q, v=v, x=x, threads=1)
    bound()
    return peers.median(bound, MILLION)


def compiled(mechanism: object, *entries: str, cache: bool = True) -> Kernel:
    """A kernel with its entries ready."""
    with collector_paused():
        made = to_llvm(lower(newton_euler(span(mechanism))), cache=cache)
        made.compile(*entries)
    return made


def told(made: Kernel, what: str) -> None:
    """Operations of the entries."""
    counts = {k: sum(made.program.operations(e).values()) for k, e in ENTRIES.items()}
    print(f"{what}: operations {counts}")


def arm() -> Lines:
    """Panda, seven axes."""
    path = peers.robot("panda_description/urdf/panda.urdf")
    compiled(read_arm(path), "forward", cache=False)  # imports, target machine
    begin = peers.cpu()
    compiled(read_arm(path), "forward", cache=False)("forward", q=np.zeros(7), v=np.zeros(7))
    print(f"panda: description to first result {peers.cpu() - begin:.3f} s")
    made, model = compiled(read_arm(path)), peers.panda()
    check_arm(made, model)
    told(made, "panda")
    theirs = peers.pinocchio_times(model)
    found: Lines = {}
    for key, entry in ENTRIES.items():
        found[f"panda.{key}.pinocchio"] = (per_call(made, entry, 20_000), theirs[key][1])
        if key != "dfd":
            found[f"panda.batch_{key}.pinocchio"] = (per_state(made, entry), theirs[key][1])
    print(
        "panda: Pinocchio from Python [µs]", {k: round(1e6 * a, 2) for k, (a, _) in theirs.items()}
    )
    return found


def check_arm(made: Kernel, model: object) -> None:
    """Both sides agree before anything is timed."""
    import pinocchio as pin

    data = model.createData()
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, 7))
    pairs = [
        (made("inverse", q=q, v=v, x=a), pin.rnea(model, data, q, v, a)),
        (made.call("forward", q=q, v=v)["vdot"], pin.aba(model, data, q, v, 0 * a)),
    ]
    pin.computeABADerivatives(model, data, q, v, 0 * a)
    pairs.append((made.call("d_forward", q=q, v=v)["vdot_q"].reshape(7, 7), data.ddq_dq))
    for ours, theirs in pairs:
        assert np.abs(ours - theirs).max() <= 1e-9 * np.abs(theirs).max()


def humanoid() -> Lines:
    """Talos on a floating base."""
    import pinocchio as pin

    text = peers.bare(peers.robot("talos_data/robots/talos_reduced.urdf"))
    begin = peers.cpu()
    read = read_urdf(text, file="talos", floating=True, strict=False)
    made = compiled(replace(read, constraints=(), forces=(Gravity(),)), "forward", cache=False)
    print(f"humanoid: description to code {peers.cpu() - begin:.3f} s")
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    assert model.nv == made.program.sizes["nv"]
    theirs = peers.pinocchio_times(model, 1000)
    return {
        f"humanoid.{key}.pinocchio": (per_call(made, ENTRIES[key], 4000), theirs[key][1])
        for key in ("rnea", "fd")
    }


def loops() -> Lines:
    """N four-bars in a row."""
    found: Lines = {}
    for n in (1, 4, 16, 40):
        mechanism = n_four_bar(n)
        made = compiled(mechanism, "forward")
        state = assemble(span(mechanism))
        ours = per_call(made, "forward", 200_000 // n, state.q)
        calls = max(20, 2000 // n)
        soft = peers.mujoco_forward(*peers.mujoco_four_bar(n), calls)
        proximal = peers.pinocchio_four_bar(n, calls)
        print(f"four-bar {n}: Pinocchio {proximal * 1e6:.1f} µs, MuJoCo {soft * 1e6:.1f} µs")
        found[f"fourbar{n}.fd.best"] = (ours, min(soft, proximal))
    return found | simulated(made, state)


def simulated(made: Kernel, state: object) -> Lines:
    """One second of the chain of forty, at an energy error no larger than the peer's."""
    theirs, error = peers.mujoco_second(40)
    for step in (5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3):
        total = simulate(made, state, until=1.0, step=step, every=1.0)["energy"].sum(axis=1)
        if abs(total[-1] - total[0]) <= error:
            break
    ours = peers.median(
        lambda: simulate(made, state, until=1.0, step=step, every=1.0, series=()), 1, 5
    )
    print(f"four-bar 40: step {step} s, {abs(total[-1] - total[0]):.1e} J; MuJoCo {error:.1e} J")
    return {"fourbar40.simulate.mujoco": (ours, theirs)}


def stewart() -> Lines:
    """A plate on six legs."""
    mechanism = read(HERE.parent / "examples" / "stewart.lsd")
    made, state = compiled(mechanism, "forward"), assemble(span(mechanism))
    plate = next(body for body in mechanism.bodies if body.name == "plate")
    numbers = np.vectorize(as_float, otypes=[float])
    com, inertia = (numbers(np.array(x, dtype=object)) for x in (plate.com, plate.inertia))
    given = (as_float(plate.mass), com, inertia, 1000)
    (proximal, exact), (soft, near) = pinocchio_stewart(*given), mujoco_stewart(*given)
    names = [label.name for label in made.program.labels["v"]]
    vdot = made.call("forward", q=state.q, v=0 * state.v)["vdot"][names.index("P1'")]  # at rest
    print(f"stewart: Pinocchio {proximal * 1e6:.1f} µs, MuJoCo {soft * 1e6:.1f} µs")
    print(f"stewart: first slide {vdot:.6f}, {exact:.6f}, {near:.6f} m/s²")
    assert abs(vdot - exact) <= 1e-6 * abs(exact)
    return {"stewart.fd.best": (per_call(made, "forward", 5000, state.q), min(proximal, soft))}


def long_chain() -> Lines:
    """A chain of a thousand bodies, by looped sweeps."""
    n = 1000
    tree = span(chain(n, skew=1.0))
    begin = peers.cpu()
    made = looped(sweeps(tree))
    q, zero = np.linspace(-0.5, 0.5, n), np.zeros(n)
    made.forward(q, zero, zero)
    print(f"chain of {n}: to first result {peers.cpu() - begin:.2f} s")
    ours = peers.median(lambda: [made.forward(q, zero, zero) for _ in range(20)], 20)
    return {"chain1000.fd.mujoco": (ours, peers.mujoco_chain(n))}


def symbolic() -> Lines:
    """A 7-axis arm whose inertias are symbols, against Kane's method in SymPy."""
    mechanism = with_parameters(chain(7))
    compiled(mechanism, "forward", cache=False)
    begin = peers.cpu()
    made = compiled(mechanism, "forward", cache=False)
    ours = peers.cpu() - begin
    theirs, evaluated = peers.sympy_arm()
    return {
        "arm7.derive.sympy": (ours, theirs),
        "arm7.evaluate.sympy": (per_call(made, "forward", 20_000), evaluated),
    }


def with_parameters(mechanism: object) -> object:
    """Masses, centers and moments of inertia as parameters."""
    from liaison.expr import symbol

    known, bodies = [], []
    for k, body in enumerate(mechanism.bodies):
        if k == 0:
            bodies.append(body)
            continue
        names = [f"{letter}{k}" for letter in ("m", "c", "A", "B", "C")]
        values = [body.mass, body.com[0], *(body.inertia[i][i] for i in range(3))]
        known += [Parameter(n, float(x)) for n, x in zip(names, values, strict=True)]
        m, c, *I = map(symbol, names)
        tensor = tuple(tuple(I[i] if i == j else 0 for j in range(3)) for i in range(3))
        bodies.append(replace(body, mass=m, com=(c, 0, 0), inertia=tensor))
    return replace(mechanism, bodies=tuple(bodies), parameters=tuple(known))


GROUPS: dict[str, Callable[[], Lines]] = {
    "arm": arm, "humanoid": humanoid, "loops": loops, "stewart": stewart,
    "chain": long_chain, "sympy": symbolic,
}  # fmt: skip


def main() -> None:
    found: Lines = {}
    for name in sys.argv[1:] or GROUPS:
        begin = time.time()
        found |= GROUPS[name]()
        print(f"({name}: {time.time() - begin:.0f} s; load {os.getloadavg()[0]:.1f})", flush=True)
    print(f"\n{'key':30} {'liaison':>12} {'peer':>12} {'ratio':>8} {'floor':>6}")
    ratios = {key: theirs / ours for key, (ours, theirs) in found.items()}
    for key, (ours, theirs) in found.items():
        mark = "" if ratios[key] >= FLOORS[key] else "  short"
        print(
            f"{key:30} {ours * 1e6:9.4f} µs {theirs * 1e6:9.3f} µs"
            f" {ratios[key]:8.1f} {FLOORS[key]:6}{mark}"
        )
    for key, why in MISSING.items():
        print(f"{key:30} not measured: {why}")
    out = HERE / "out"
    out.mkdir(exist_ok=True)
    (out / "ratios.json").write_text(json.dumps(ratios, indent=2))


if __name__ == "__main__":
    main()
