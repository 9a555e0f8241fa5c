"""How fast the generated code is, beside its peers in one run: `python benchmarks/bench_fast.py`.

CPU time of this thread, medians; the same models, results compared first. Pinocchio runs in C++
(native/, built once), or through its binding with the binding's price taken off where it cannot be
built; MuJoCo is called from Python, about 1 µs of its times. The table and the ratios (peer ÷
liaison) go to benchmarks/out. Names after the command choose groups: arm, humanoid, loops, stewart,
chain, sympy. docs/performance.md tells how to read it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import peers_fast as peers
from bench_corridor import read_arm
from measured import (
    STATES,
    Row,
    Rows,
    agree,
    compile_times,
    compiled,
    operations,
    per_call,
    per_state,
    show,
)
from peers_exudyn import exudyn_second
from peers_native import Absent, CasadiCode, Pinocchio
from peers_stewart import mujoco_stewart, pinocchio_stewart

from liaison.equations import blocks_of, sweeps
from liaison.formats import read, read_urdf
from liaison.model import Gravity, Parameter
from liaison.program import Kernel, looped, looped_loops
from liaison.simulation import simulate
from liaison.tree import as_float, assemble, span

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "examples"), str(HERE.parent / "tests")]
from n_four_bar import n_four_bar  # noqa: E402

from samples.chains import chain  # noqa: E402

ENTRIES = {"rnea": "inverse", "crba": "mass_matrix", "fd": "forward", "dfd": "d_forward"}
CASADI = {"rnea": "rnea", "crba": "crba", "fd": "aba_local"}
LOWER = np.tril_indices(7)
TURNED = 0.3  # [rad], the angle of the four-bars whose accelerations are compared


def arm() -> Rows:
    """Panda, seven axes."""
    mechanism, model = read_arm(peers.robot("panda_description/urdf/panda.urdf")), peers.panda()
    compiled(mechanism, "forward", cache=False)  # imports, target machine
    first_result("panda", lambda: mechanism, 0.1)
    made, built = compiled(mechanism), compile_times(mechanism, ENTRIES)
    theirs, kind = pinocchio_times(made, model)
    found: Rows = {}
    for key, entry in ENTRIES.items():
        told = (operations(made, entry), built[key])
        ours = per_call(made, entry, 20_000)
        found[f"panda.{key}.pinocchio"] = Row(ours, theirs[key], kind, *told)
        if key != "dfd":
            many = per_state(made, entry)
            found[f"panda.batch_{key}.pinocchio"] = Row(many, theirs[key], kind, told[0])
    return found | casadi(made, model, found)


def arm_results(made: Kernel, q, v, x) -> dict[str, np.ndarray]:
    """What liaison gives: torques, the lower triangle of M, accelerations and their ∂/∂q."""
    return {
        "rnea": made("inverse", q=q, v=v, x=x),
        "crba": made("mass_matrix", q=q).reshape(-1),
        "fd": made.call("forward", q=q, v=v)["vdot"],
        "dfd": made.call("d_forward", q=q, v=v)["vdot_q"],
    }


def first_result(what: str, describe: Callable[[], object], limit: float) -> Kernel:
    """Seconds from a description to the first result, no cache; the kernel."""
    begin = peers.cpu()
    made = compiled(describe(), "forward", cache=False)
    sizes = made.program.sizes
    made("forward", q=np.ones(sizes["nq"]), v=np.zeros(sizes["nv"]))
    print(f"{what}: description to first result {peers.cpu() - begin:.3f} s, allowed {limit} s")
    return made


def states_of(nq: int, nv: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Some states, and rows of x: accelerations or torques."""
    rng = np.random.default_rng(0)
    return rng.uniform(-1, 1, (STATES, nq)), *rng.uniform(-1, 1, (2, STATES, nv))


def pinocchio_times(made: Kernel, model) -> tuple[dict[str, float], str]:
    """Seconds of each algorithm, and how Pinocchio was reached; results compared first."""
    q, v, x = states_of(7, 7)
    try:
        native = Pinocchio(model)
    except Absent as why:
        print(f"Pinocchio in C++: {why}")
        check_by_binding(made, model, q[0], v[0], x[0])
        spent = peers.pinocchio_times(model)
        print("Pinocchio from Python [µs]", {k: round(1e6 * a, 2) for k, (a, _) in spent.items()})
        return {key: less for key, (_, less) in spent.items()}, "binding, less its price"
    ours = arm_results(made, q[0], v[0], x[0])
    for key, mine in ours.items():
        forces = x if key == "rnea" else 0 * x
        theirs = native.result(key, q[:1].copy(), v[:1].copy(), forces[:1].copy())
        if key == "crba":
            theirs = (
                theirs.T[LOWER] if mine.size == len(LOWER[0]) else theirs + np.tril(theirs.T, -1)
            )
        agree(mine, theirs, 1e-9, f"panda, {key}, Pinocchio in C++")
    return native.times(20_000, q, v, x), "C++, -O3 -march=native"


def check_by_binding(made: Kernel, model, q, v, x) -> None:
    import pinocchio as pin

    data, ours = model.createData(), arm_results(made, q, v, x)
    agree(ours["rnea"], pin.rnea(model, data, q, v, x), 1e-9, "panda, rnea, Pinocchio")
    agree(ours["fd"], pin.aba(model, data, q, v, 0 * x), 1e-9, "panda, fd, Pinocchio")
    pin.computeABADerivatives(model, data, q, v, 0 * x)
    agree(ours["dfd"], data.ddq_dq, 1e-9, "panda, dfd, Pinocchio")


def casadi(made: Kernel, model, known: Rows) -> Rows:
    """The same through CasADi's formulas and gcc."""
    try:
        code = CasadiCode(model)
    except Absent as why:
        return {f"panda.{key}.casadi": str(why) for key in CASADI}
    q, v, x = states_of(7, 7)
    ours, found = arm_results(made, q[0], v[0], x[0]), {}
    print(f"CasADi: instructions {code.instructions}")
    for key, entry in CASADI.items():
        given = (a[0].copy() for a in (q, v, x if key == "rnea" else 0 * x))
        theirs = code.result(entry, *given)
        theirs = theirs[LOWER] if key == "crba" and ours[key].size == len(LOWER[0]) else theirs
        agree(ours[key], theirs, 1e-9, f"panda, {key}, CasADi")
        row = known[f"panda.{key}.pinocchio"]
        spent = code.seconds(entry, 20_000, q, v, x)
        found[f"panda.{key}.casadi"] = replace(row, theirs=spent, peer="CasADi C, gcc -O3")
        quicker = code.seconds(f"{entry}_cse", 20_000, q, v, x)
        print(f"CasADi: {key} {spent * 1e9:.0f} ns, with its cse {quicker * 1e9:.0f} ns")
    return found


def humanoid() -> Rows:
    """Talos on a floating base."""
    import pinocchio as pin

    text = peers.bare(peers.robot("talos_data/robots/talos_reduced.urdf"))
    mechanism = read_urdf(text, file="talos", floating=True, strict=False)
    mechanism = replace(mechanism, constraints=(), forces=(Gravity(),))
    made = first_result("humanoid", lambda: mechanism, 1.0)
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer())
    keys = {key: ENTRIES[key] for key in ("rnea", "fd", "dfd")}
    check_humanoid(made, model)
    try:
        q = np.array([pin.randomConfiguration(model, *reach(model)) for _ in range(STATES)])
        _, v, x = states_of(1, model.nv)
        theirs, kind = Pinocchio(model).times(1000, q, v, x), "C++, -O3 -march=native"
    except Absent:
        theirs = {k: less for k, (_, less) in peers.pinocchio_times(model, 1000).items()}
        kind = "binding, less its price"
    built = compile_times(mechanism, keys)
    return {
        f"humanoid.{key}.pinocchio": Row(
            per_call(made, entry, 4000), theirs[key], kind, operations(made, entry), built[key]
        )
        for key, entry in keys.items()
    }


def reach(model) -> list[np.ndarray]:
    return [side * np.ones(model.nq) for side in (-1, 1)]


def check_humanoid(made: Kernel, model) -> None:
    """Torques and accelerations by name; Pinocchio tells linear velocities first, quaternions' w
    last."""
    import pinocchio as pin

    labels, rng = made.program.labels, np.random.default_rng(1)
    theirs = pin.randomConfiguration(model, *reach(model))
    base = ["root.x", "root.y", "root.z", "root.qx", "root.qy", "root.qz", "root.qw"]
    speeds = ["root.vx", "root.vy", "root.vz", "root.wx", "root.wy", "root.wz"]

    def joint(name: str):
        return model.joints[model.getJointId(name)]

    where = [base.index(x.name) if x.name in base else joint(x.name).idx_q for x in labels["q"]]
    order = [
        speeds.index(x.name) if x.name in speeds else joint(x.name.removesuffix("'")).idx_v
        for x in labels["v"]
    ]
    q, (v, a) = theirs[where], rng.uniform(-1, 1, (2, model.nv))
    sides = [np.zeros(model.nv), np.zeros(model.nv)]
    sides[0][order], sides[1][order] = v, a
    data = model.createData()
    torques = pin.rnea(model, data, theirs, *sides)[order]
    agree(made("inverse", q=q, v=v, x=a), torques, 1e-9, "humanoid, rnea, Pinocchio")
    found = pin.aba(model, data, theirs, sides[0], 0 * a)[order]
    agree(made.call("forward", q=q, v=v)["vdot"], found, 1e-8, "humanoid, fd, Pinocchio")
    pin.computeABADerivatives(model, data, theirs, sides[0], 0 * a)
    slopes = made.call("d_forward", q=q, v=v)
    for name, matrix in (("vdot_q", data.ddq_dq), ("vdot_v", data.ddq_dv)):
        agree(slopes[name], matrix[np.ix_(order, order)], 1e-8, f"humanoid, {name}, Pinocchio")


def loops() -> Rows:
    """N four-bars in a row."""
    found: Rows = {}
    for n in (1, 4, 16, 40):
        mechanism = n_four_bar(n)
        made, state = compiled(mechanism, "forward"), assemble(span(mechanism), A0=-TURNED)
        names = [label.name for label in made.program.labels["v"]]
        first = made.call("forward", q=state.q, v=state.v)["vdot"][names.index("A0'")]
        calls = max(20, 2000 // n)
        soft, near = peers.mujoco_forward(*peers.mujoco_four_bar(n, angle=TURNED), calls)
        model, ties = peers.pinocchio_four_bar(n)
        signs = np.array([-1.0 if name[0] == "A" else 1.0 for name in list(model.names)[1:]])
        proximal, exact, kind = constrained(model, ties, TURNED * signs, signs, calls)
        print(f"four-bar {n}: Pinocchio {proximal * 1e6:.1f} µs, MuJoCo {soft * 1e6:.1f} µs")
        agree([first], [exact[0]], 1e-6, f"four-bar {n}, Pinocchio")
        agree([first], [near[0]], 3e-2, f"four-bar {n}, MuJoCo (soft)")
        best = min((proximal, f"Pinocchio, {kind}"), (soft, "MuJoCo, called from Python"))
        built = compile_times(mechanism, {"fd": "forward"})["fd"]
        ours = per_call(made, "forward", 200_000 // n, state.q)
        found[f"fourbar{n}.fd.best"] = Row(ours, *best, operations(made, "forward"), built)
    return found | simulated(made, assemble(span(mechanism)))


def constrained(model, ties, q, v, calls: int) -> tuple[float, np.ndarray, str]:
    """Seconds of constraintDynamics, the accelerations, and how Pinocchio was quicker.

    With wide vectors its many small matrices are slower than in its wheel: both are tried.
    """
    spent, found = peers.constrained_by_binding(model, ties, q, v, calls)
    try:
        native = Pinocchio(model, ties)
    except Absent:
        return spent, found, "called from Python"
    rows = [np.array([a]) for a in (q, v, 0 * v)]
    agree(native.result("constrained", *rows), found, 1e-6, "Pinocchio in C++ and from Python")
    own = native.seconds("constrained", calls, *rows)
    return (own, found, "C++") if own < spent else (spent, found, "called from Python")


def simulated(made: Kernel, state: object) -> Rows:
    """One second of the chain of forty, at an energy error no larger than the peer's."""
    found: Rows = {}
    for name, peer in (("mujoco", peers.mujoco_second), ("exudyn", exudyn_second)):
        key = f"fourbar40.simulate.{name}"
        try:
            theirs, allowed = peer(40)
        except ImportError as why:
            found[key] = str(why)
            continue
        step, error = longest_step(made, state, allowed)
        options = {"until": 1.0, "step": step, "every": 1.0, "series": ()}
        ours = peers.median(lambda o=options: [simulate(made, state, **o) for _ in range(10)], 10)
        print(f"four-bar 40: step {step} s, {error:.1e} J; {name} 0.001 s, {allowed:.1e} J")
        found[key] = Row(ours, theirs, f"energy error {allowed:.0e} J, liaison {error:.0e} J")
    return found


def longest_step(made: Kernel, state: object, allowed: float) -> tuple[float, float]:
    """The step at which the energy is as good, and its error [J]."""
    for step in (5e-2, 2e-2, 1e-2, 5e-3, 2e-3, 1e-3):
        total = simulate(made, state, until=1.0, step=step, every=1.0)["energy"].sum(axis=1)
        error = float(abs(total[-1] - total[0]))
        if error <= allowed:
            return step, error
    raise AssertionError(f"no step reaches {allowed:.1e} J")


def stewart() -> Rows:
    """A plate on six legs."""
    mechanism = read(HERE.parent / "examples" / "stewart.lsd")
    made, state = compiled(mechanism, "forward"), assemble(span(mechanism))
    plate = next(body for body in mechanism.bodies if body.name == "plate")
    numbers = np.vectorize(as_float, otypes=[float])
    com, inertia = (numbers(np.array(x, dtype=object)) for x in (plate.com, plate.inertia))
    given = (as_float(plate.mass), com, inertia)
    model, ties, q = pinocchio_stewart(*given)
    proximal, exact, kind = constrained(model, ties, q, np.zeros(model.nv), 1000)
    soft, near = mujoco_stewart(*given, 1000)
    names = [label.name for label in made.program.labels["v"]]
    vdot = made.call("forward", q=state.q, v=0 * state.v)["vdot"][names.index("P1'")]  # at rest
    print(f"stewart: Pinocchio {proximal * 1e6:.1f} µs, MuJoCo {soft * 1e6:.1f} µs")
    agree([vdot], [exact[2]], 1e-6, "stewart, Pinocchio")
    agree([vdot], [near], 1e-2, "stewart, MuJoCo (soft)")
    best = min((proximal, f"Pinocchio, {kind}"), (soft, "MuJoCo, called from Python"))
    built = compile_times(mechanism, {"fd": "forward"})["fd"]
    ours = per_call(made, "forward", 5000, state.q)
    return {"stewart.fd.best": Row(ours, *best, operations(made, "forward"), built)}


def long_chain() -> Rows:
    """Chains by looped sweeps: a thousand bodies beside MuJoCo, ten thousand alone."""
    first_result("chain of 100", lambda: chain(100, skew=1.0), 2.0)
    made, ours, begun = chain_seconds(1000)
    theirs, expected = peers.mujoco_chain(1000)
    zero = np.zeros(1000)
    found = made.forward(np.linspace(-0.5, 0.5, 1000), zero, zero)
    agree(found, expected, 1e-4, "chain of 1000, MuJoCo (a matrix of condition 1e12)")
    _, longer, first = chain_seconds(10_000)
    print(f"chain of 10000: to first result {first:.1f} s, forward {longer * 1e3:.2f} ms")
    print(f"ten times the bodies cost {longer / ours:.1f} times")
    for n in (200, 1000, 5000):
        print("four-bars {}: ready after {:.1f} s, forward {:.2f} ms".format(n, *loop_seconds(n)))
    row = Row(ours, theirs, "MuJoCo, called from Python", compile=begun)
    return {"chain1000.fd.mujoco": row}


def chain_seconds(n: int):
    """The chain, seconds of its forward dynamics, and from description to first result."""
    begin = peers.cpu()
    made = looped(sweeps(span(chain(n, skew=1.0))))
    q, zero = np.linspace(-0.5, 0.5, n), np.zeros(n)
    made.forward(q, zero, zero)
    begun = peers.cpu() - begin
    calls = 20_000 // n
    spent = peers.median(lambda: [made.forward(q, zero, zero) for _ in range(calls)], calls)
    return made, spent, begun


def loop_seconds(n: int) -> tuple[float, float]:
    """A chain of loops by looped blocks: seconds to the first result, milliseconds of a call."""
    begin = peers.cpu()
    tree = span(n_four_bar(n))
    made = looped_loops(blocks_of(tree))
    signs = np.array([-1.0 if x.name[0] == "A" else 1.0 for x in tree.position_labels()])
    made.forward(TURNED * signs, signs)
    begun = peers.cpu() - begin
    return begun, 1e3 * peers.median(lambda: made.forward(TURNED * signs, signs), 1, 5)


def symbolic() -> Rows:
    """A 7-axis arm whose inertias are symbols, against Kane's method in SymPy."""
    mechanism = with_parameters(chain(7))
    compiled(mechanism, "forward", cache=False)
    begin = peers.cpu()
    made = compiled(mechanism, "forward", cache=False)
    ours = peers.cpu() - begin
    theirs, evaluated, vdot = peers.sympy_arm(*arm_numbers(mechanism))
    q, v = np.linspace(-1, 1, 7), np.linspace(1, 2, 7)
    agree(made.call("forward", q=q, v=v)["vdot"], vdot(q, v), 1e-9, "arm of 7, SymPy")
    count, kind = operations(made, "forward"), "SymPy Kane, lambdify with cse"
    return {
        "arm7.derive.sympy": Row(ours, theirs, kind, count),
        "arm7.evaluate.sympy": Row(per_call(made, "forward", 20_000), evaluated, kind, count),
    }


def arm_numbers(mechanism: object) -> tuple[int, np.ndarray]:
    """How many links, and m, c, l, A, B, C of each."""
    values = {p.name: float(p.value) for p in mechanism.parameters}
    names = ("m", "c", "l", "A", "B", "C")
    rows = [[values.get(f"{x}{k}", 1.0) for x in names] for k in range(1, 8)]
    return 7, np.array(rows)


def with_parameters(mechanism: object) -> object:
    """Masses, centers and moments of inertia as parameters."""
    from liaison.expr import symbol

    known, bodies = [], []
    for k, body in enumerate(mechanism.bodies):
        names = [f"{letter}{k}" for letter in ("m", "c", "A", "B", "C")]
        if k == 0 and body.name == "ground":
            bodies.append(body)
            continue
        values = [body.mass, body.com[0], *(body.inertia[i][i] for i in range(3))]
        known += [Parameter(n, float(x)) for n, x in zip(names, values, strict=True)]
        m, c, *I = map(symbol, names)
        tensor = tuple(tuple(I[i] if i == j else 0 for j in range(3)) for i in range(3))
        bodies.append(replace(body, mass=m, com=(c, 0, 0), inertia=tensor))
    return replace(mechanism, bodies=tuple(bodies), parameters=tuple(known))


GROUPS: dict[str, Callable[[], Rows]] = {
    "arm": arm, "humanoid": humanoid, "loops": loops, "stewart": stewart,
    "chain": long_chain, "sympy": symbolic,
}  # fmt: skip


def main() -> None:
    found: Rows = {}
    for name in sys.argv[1:] or GROUPS:
        begin = time.time()
        found |= GROUPS[name]()
        print(f"({name}: {time.time() - begin:.0f} s; load {os.getloadavg()[0]:.1f})", flush=True)
    show(found, is_whole=len(sys.argv) == 1)


if __name__ == "__main__":
    main()
