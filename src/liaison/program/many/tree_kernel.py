"""tree_kernel: a kernel for trees of many bodies, its entries loops over their nodes.

In the coordinates of the tree itself, as unrolled code has them. Code for one node of each class is
compiled, not for each of them; what acts along coordinates, outputs and events are written out.

Public names: tree_kernel, TreeSystem, TreeWork, Pass, ENTRIES.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.equations.completion import bounds_of, defaults_of
from liaison.equations.sweeps.looped_tree import LoopedTree
from liaison.equations.sweeps.recursions import Recursion
from liaison.expr import ZERO, Expr
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.llvm.trampolines import Trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import entry_at, f64, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import (
    Part,
    Record,
    Rows,
    evaluate,
    inline,
    rows,
    size,
    sized,
)
from liaison.program.program import Entry, Program

from .block_layout import Node, State
from .looped import Step
from .sparse_entries import placed

FORWARD, INVERSE, MOTION = range(3)
"""Recursions over the nodes."""

WRITTEN_OUT = "Derive the equations by newton_euler to see them."
"""Where formulas of entries are that are loops here."""


class Pass(Record):
    """A recursion: its sweeps, and where the input of each joint goes in a record."""

    first: i64
    end: i64
    input_slot: i64


class TreeSystem(Record):
    """All that the loops know of a tree, for as long as it lives."""

    n_nodes: i64 = size()
    n_classes: i64 = size()
    n_sweeps: i64 = size()
    width: i64 = size()
    nq: i64 = size()
    nv: i64 = size()
    n_taus: i64 = size()
    n_frames: i64 = size()
    n_scratch: i64 = size()
    vdot_slot: i64
    reaction_slot: i64
    kinetic_slot: i64
    moment_slot: i64
    momentum_slot: i64
    gravity: ptr = inline(3)
    tau_entry: kernel
    potential_entry: kernel
    power_entry: kernel
    has_potential: i64
    has_power: i64
    passes: Rows[Pass] = rows("3")
    sweeps: Rows[Step] = rows("n_sweeps")
    entries: iptr = sized("n_sweeps", "n_classes")
    retract_entries: iptr = sized("n_classes")
    rate_entries: iptr = sized("n_classes")
    nodes: Rows[Node] = rows("n_nodes")
    taus: iptr = sized("n_taus")
    framed: iptr = sized("n_frames")
    marked: iptr = sized("n_nodes")
    frames: ptr = sized("n_frames", "12")
    markers: ptr = sized("n_nodes", "12")
    grounds: ptr = sized("3", "width")
    constants: ptr = sized()


class TreeWork(Part):
    """Scratch space of an entry, sized by its system."""

    numbers: ptr = sized("n_nodes + 1", "width")  # a record for each node, the ground first
    tau: ptr = sized("nv")
    loads: ptr = sized("n_taus")
    moved: ptr = sized("nq")
    pose: ptr = sized("12")
    scratch: ptr = sized("n_scratch")


@loop
def sweep_tree(system: TreeSystem, s: i64, q: ptr, v: ptr, work: TreeWork) -> None:
    """One sweep: every node's kernel in turn, and inwards what it hands to its parent."""
    step = system.sweeps[s]
    entries = system.entries[s]
    n = system.n_nodes
    for k in range(n):
        i = n - 1 - k if step.is_inward else k
        node = system.nodes[i]
        own = work.numbers[i + 1]
        parent = work.numbers[node.parent + 1]
        f = entry_at(entries, node.kind)
        result = own[step.writes :]
        constants = system.constants[node.constants :]
        f(0.0, q[node.q :], v[node.v :], own, constants, parent, result, work.scratch)
        target = parent[step.receives :]
        for j in range(step.hands):
            target[j] += result[j]


@loop
def pass_over(system: TreeSystem, k: i64, q: ptr, v: ptr, values: ptr, work: TreeWork) -> None:
    """A recursion: the ground, inputs of the joints into the records, then all its sweeps."""
    these = system.passes[k]
    numbers = work.numbers
    for j in range(system.width):
        numbers[0, j] = system.grounds[k, j]
    for i in range(system.n_nodes):
        node = system.nodes[i]
        for j in range(node.nv):
            numbers[i + 1, these.input_slot + j] = values[node.v + j]
    for s in range(these.first, these.end):
        sweep_tree(system, s, q, v, work)


@loop
def still_pass(system: TreeSystem, q: ptr, v: ptr, work: TreeWork) -> None:
    """Poses, velocities and energies of all nodes."""
    for k in range(system.nv):
        work.tau[k] = 0.0
    pass_over(system, MOTION, q, v, work.tau, work)


@loop
def accelerate(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, vdot: ptr, work: TreeWork
) -> None:
    """v̇ under gravity and loads."""
    for k in range(system.nv):
        work.tau[k] = 0.0
    if system.n_taus > 0:
        system.tau_entry(t, q, v, u, p, u, work.loads, work.scratch)
    for k in range(system.n_taus):
        work.tau[system.taus[k]] = work.loads[k]
    pass_over(system, FORWARD, q, v, work.tau, work)
    for i in range(system.n_nodes):
        node = system.nodes[i]
        for j in range(node.nv):
            vdot[node.v + j] = work.numbers[i + 1, system.vdot_slot + j]


@loop
def tree_forward(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """v̇, and no residual: there are no closures."""
    accelerate(system, t, q, v, u, p, out, TreeWork(area, system))
    out[system.nv] = 0.0


@loop
def tree_retract(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """q ⊞ ξ."""
    work = TreeWork(area, system)
    for i in range(system.n_nodes):
        node = system.nodes[i]
        if node.nv > 0:
            f = entry_at(system.retract_entries, node.kind)
            f(t, q[node.q :], v, u, p, x[node.v :], out[node.q :], work.scratch)


@loop
def tree_rate(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """ξ̇, v̇ and no residual, at q ⊞ ξ."""
    work = TreeWork(area, system)
    moved = work.moved
    tree_retract(system, t, q, v, u, p, x, moved, area)
    for i in range(system.n_nodes):
        node = system.nodes[i]
        if node.nv > 0:
            f = entry_at(system.rate_entries, node.kind)
            f(t, q[node.q :], v[node.v :], u, p, x[node.v :], out[node.v :], work.scratch)
    accelerate(system, t, moved, v, u, p, out[system.nv :], work)
    out[2 * system.nv] = 0.0


@loop
def tree_energy(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """T = Σ ½ V · I V; U of gravity and loads."""
    work = TreeWork(area, system)
    still_pass(system, q, v, work)
    out[0] = 0.0
    out[1] = 0.0
    if system.has_potential > 0:
        system.potential_entry(t, q, v, u, p, u, out[1:], work.scratch)
    g = system.gravity
    for i in range(system.n_nodes):
        own = work.numbers[i + 1]
        moment = own[system.moment_slot :]
        out[0] += own[system.kinetic_slot]
        out[1] -= g[0] * moment[0] + g[1] * moment[1] + g[2] * moment[2]


@loop
def tree_work(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """T, U, and the power of loads that are not stored."""
    tree_energy(system, t, q, v, u, p, x, out, area)
    work = TreeWork(area, system)
    out[2] = 0.0
    if system.has_power > 0:
        system.power_entry(t, q, v, u, p, u, out[2:], work.scratch)


@loop
def tree_momentum(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """About the ground's origin, in its axes: moment, then resultant."""
    work = TreeWork(area, system)
    still_pass(system, q, v, work)
    for j in range(6):
        out[j] = 0.0
        for i in range(system.n_nodes):
            out[j] += work.numbers[i + 1, system.momentum_slot + j]


@loop
def tree_poses(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """R row by row and p of every body's frame."""
    work = TreeWork(area, system)
    still_pass(system, q, v, work)
    for b in range(system.n_frames):
        placed(work.numbers[system.framed[b] + 1], system.frames[b], out[12 * b :])


@loop
def tree_markers(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """R row by row and p of the marker in which each joint's reaction is expressed."""
    work = TreeWork(area, system)
    still_pass(system, q, v, work)
    for k in range(system.n_nodes):
        placed(work.numbers[system.marked[k] + 1], system.markers[k], out[12 * k :])


@loop
def tree_reactions(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """The wrench of each joint on its successor, in M's axes at M, of v̇ in x."""
    work = TreeWork(area, system)
    pass_over(system, INVERSE, q, v, x, work)
    for i in range(system.n_nodes):
        for j in range(6):
            out[6 * i + j] = work.numbers[i + 1, system.reaction_slot + j]


@loop
def tree_motions(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """ω, v, ω̇, v̇ of every body's frame in the ground's axes, of v̇ in x."""
    work = TreeWork(area, system)
    pass_over(system, MOTION, q, v, x, work)
    arm = work.pose[9:]
    for b in range(system.n_frames):
        node = State(work.numbers[system.framed[b] + 1])
        placed(node.floats, system.frames[b], work.pose)
        for j in range(3):
            arm[j] -= node.p[j]
        row = out[12 * b :]
        omega = node.twist
        alpha = node.drift
        for j in range(6):
            row[j] = node.twist[j]
            row[6 + j] = node.drift[j]
        along = omega[0] * arm[0] + omega[1] * arm[1] + omega[2] * arm[2]
        square = omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]
        for j in range(3):
            a = (j + 1) % 3
            c = (j + 2) % 3
            row[3 + j] += omega[a] * arm[c] - omega[c] * arm[a]
            row[9 + j] += alpha[a] * arm[c] - alpha[c] * arm[a]
            row[9 + j] += omega[j] * along - square * arm[j]


ENTRIES = {
    "forward": tree_forward, "rate": tree_rate, "retract": tree_retract, "energy": tree_energy,
    "work": tree_work, "momentum": tree_momentum, "poses": tree_poses, "markers": tree_markers,
    "reactions": tree_reactions, "motions": tree_motions,
}  # fmt: skip
"""Name -> loop."""

LOCAL, LOADS, STORED = "local", "loads", "stored"

NEEDS: dict[str, tuple[int | str, ...]] = {
    "forward": (FORWARD, LOADS), "rate": (FORWARD, LOADS, LOCAL), "retract": (LOCAL,),
    "energy": (MOTION, STORED), "work": (MOTION, STORED), "reactions": (INVERSE,),
}  # fmt: skip
"""What an entry calls: recursions over nodes, steps of joints, written-out formulas; MOTION alone
of all others."""


def tree_kernel(
    model: LoopedTree, *, starts: Mapping[str, Mapping[str, float]] | None = None
) -> MachineKernel:
    """The kernel of a tree of many bodies.

    Args:
        model: of the tree.
        starts: label of each start -> its derivatives by parameters, for those who look at a run.
    """
    tables = _Tables(model)
    written = to_llvm(_written_out(model))
    program = _program(model, written.program, {"starts": starts or {}})

    def compiler(names: tuple[str, ...]) -> tuple[dict[str, int], Any]:
        looped = [name for name in names if name in ENTRIES]
        tables.fill({need for name in looped for need in NEEDS.get(name, (MOTION,))})
        addresses = {name: _loops().address(ENTRIES[name]) for name in looped}
        code = Trampoline(addresses, 1) if looped else None
        if code is not None:
            code.pass_on([tables.system.ints.ctypes.data])
        compiled = {name: code[name] for name in looped} if code else {}
        compiled |= {name: written.address(name) for name in names if name not in ENTRIES}
        return compiled, (code, tables, written)

    def work_size(name: str) -> int:
        return tables.work_size if name in ENTRIES else written.work_size(name)

    sizes = program.sizes
    whole = {"t": 1, **{x: sizes[f"n{x}"] for x in "qvup"}, "x": 0}
    reads = dict.fromkeys(ENTRIES, whole) | {"retract": {**whole, "v": 0, "x": model.nv}}
    reads |= {name: {**whole, "x": model.nv} for name in ("rate", "motions", "reactions")}
    return MachineKernel(program, compiler, work_size, reads=reads)


@final
class _Tables:
    """The system of a tree, and the kernels of its nodes, each compiled when it is first needed."""

    def __init__(self, model: LoopedTree) -> None:
        self.model = model
        self.passes = (model.forward, model.inverse, model.motion)
        local = {f"retract {c}": Entry(f"retract {c}", x) for c, x in enumerate(model.retract) if x}
        local |= {f"rate {c}": Entry(f"rate {c}", x) for c, x in enumerate(model.rate) if x}
        name = model.mechanism.name
        self._nodes = to_llvm(Program(f"{name}, nodes", self._node_entries(), model.inputs))
        self._local = to_llvm(Program(f"{name}, steps of joints", local, model.local_inputs))
        self._loads = to_llvm(_load_program(model))
        self._filled: set[int | str] = set()
        self.system = self._system()

    @property
    def work_size(self) -> int:
        """Doubles of work space that every entry wants."""
        return evaluate(TreeWork.length(), self.system.counts)

    def fill(self, needs: Iterable[int | str]) -> None:
        """Compiles what is needed and not there yet, and enters its addresses."""
        for need in sorted({*needs} - self._filled, key=str):
            if isinstance(need, int):
                self._fill_pass(need)
            elif need == LOCAL:
                self._fill_local()
            else:
                self._fill_loads(need)
            self._filled.add(need)

    def _node_entries(self) -> dict[str, Entry]:
        listed = [
            (name, sweep.formulas[c])
            for one in self.passes
            for sweep in one.sweeps
            for c, name in enumerate(_names(one, sweep.name))
        ]
        return {name: Entry(name, formulas) for name, formulas in listed}

    def _system(self) -> TreeSystem:
        model, written = self.model, self.model.written
        kernels = (self._nodes, self._local, self._loads)
        system = TreeSystem.new(
            {"constants": len(model.constants)},
            n_nodes=len(model.nodes),
            n_classes=len(model.retract),
            n_sweeps=sum(len(one.sweeps) for one in self.passes),
            width=max(len(one.ground) for one in self.passes),
            nq=model.nq,
            nv=model.nv,
            n_taus=len(written.tau),
            n_frames=len(model.frames),
            n_scratch=max(1, *(x.work_size(name) for x in kernels for name in x.program.entries)),
        )
        self._fill_steps(system)
        system.nodes.ints[:] = model.nodes
        system.constants[:], system.gravity[:] = model.constants, model.gravity
        system.taus[:] = [*written.tau]
        system.framed[:], system.frames[:] = model.frames[:, 0], model.frames[:, 1:]
        system.marked[:], system.markers[:] = model.markers[:, 0], model.markers[:, 1:]
        system.has_potential = int(written.potential is not ZERO)
        system.has_power = int(written.power is not ZERO)
        return system

    def _fill_steps(self, system: TreeSystem) -> None:
        """Sweeps of all recursions, and slots of their records."""
        steps = [sweep for one in self.passes for sweep in one.sweeps]
        for step, sweep in zip(system.sweeps, steps, strict=True):
            step.is_inward, step.writes = int(sweep.is_inward), sweep.writes
            step.hands, step.receives = sweep.hands, sweep.receives
        first = 0
        for k, (row, one) in enumerate(zip(system.passes, self.passes, strict=True)):
            row.first, row.end, row.input_slot = first, first + len(one.sweeps), one.input_slot
            first += len(one.sweeps)
            system.grounds[k, : len(one.ground)] = one.ground
        forward, inverse, motion = self.passes
        system.vdot_slot, system.reaction_slot = forward.output_slot, inverse.places["reaction"]
        system.kinetic_slot, system.moment_slot = motion.places["kinetic"], motion.places["moment"]
        system.momentum_slot = motion.places["momentum"]

    def _fill_pass(self, k: int) -> None:
        one = self.passes[k]
        names = [_names(one, sweep.name) for sweep in one.sweeps]
        names = [row[: len(self.model.retract)] for row in names]
        self._nodes.compile(*(name for row in names for name in row))
        first = int(self.system.passes[k].first)
        for s, row in enumerate(names):
            self.system.entries[first + s, :] = [self._nodes.address(name) for name in row]

    def _fill_local(self) -> None:
        known = self._local.program.entries
        self._local.compile(*known)
        for kind, row in (
            ("retract", self.system.retract_entries),
            ("rate", self.system.rate_entries),
        ):
            names = [f"{kind} {c}" for c in range(len(self.model.retract))]
            row[:] = [self._local.address(name) if name in known else 0 for name in names]

    def _fill_loads(self, need: int | str) -> None:
        system, known = self.system, self._loads.program.entries
        wanted = ("tau",) if need == LOADS else ("potential", "power")
        names = [name for name in wanted if name in known]
        if names:
            self._loads.compile(*names)
        for name in names:  # a field of this type reads as a function and is set to an address
            setattr(system, f"{name}_entry", self._loads.address(name))


def _names(one: Recursion, sweep: str) -> list[str]:
    """Names of the entries of a sweep, one for each class."""
    classes = range(len(one.sweeps[0].formulas))
    return [f"{one.name} {sweep} {c}" for c in classes]


def _load_program(model: LoopedTree) -> Program:
    """What loads do, where there are any."""
    written = model.written
    formulas: dict[str, Sequence[Expr]] = {"tau": [*written.tau.values()]}
    formulas |= {
        name: [x]
        for name, x in (("potential", written.potential), ("power", written.power))
        if x is not ZERO
    }
    entries = {name: Entry(name, x) for name, x in formulas.items() if x}
    return Program(f"{model.mechanism.name}, loads", entries, written.places)


def _written_out(model: LoopedTree) -> Program:
    """Outputs and events, which are no loops."""
    written = model.written
    outputs = Entry("outputs", [*written.outputs.values()], tuple((x, 1) for x in written.outputs))
    entries = {"outputs": outputs} if written.outputs else {}
    if written.events:
        layout = tuple((event[0], 1) for event in written.events)
        entries["events"] = Entry("events", [event[1] for event in written.events], layout)
    return Program(f"{model.mechanism.name}, outputs", entries, written.places)


def _program(model: LoopedTree, written: Program, facts: Mapping[str, Any]) -> Program:
    """What the kernel offers: names, sizes and labels; its loops have no formulas."""
    nq, nv, labels, mechanism = model.nq, model.nv, model.labels, model.mechanism
    layouts: dict[str, tuple[tuple[str, int], ...]] = {
        "forward": (("vdot", nv), ("lam", 0), ("residual", 1)),
        "rate": (("xidot", nv), ("vdot", nv), ("residual", 1)),
        "retract": (("q", nq),),
        "energy": (("T", 1), ("U", 1)),
        "work": (("T", 1), ("U", 1), ("power", 1)),
        "momentum": (("moment", 3), ("force", 3)),
        "poses": tuple((name, 12) for name in model.bodies),
        "motions": tuple((name, 12) for name in model.bodies),
        "markers": tuple((name, 12) for name in model.joints),
        "reactions": tuple((name, 6) for name in model.joints),
    }
    entries = {name: Entry.of_loop(name, x, hint=WRITTEN_OUT) for name, x in layouts.items()}
    sizes = {"nq": nq, "nv": nv, "nc": 0, "nphi": 0, "nu": len(labels["u"]), "np": len(labels["p"])}
    defaults = {key: np.array(x, dtype=float) for key, x in defaults_of(mechanism).items()}
    return Program(
        name=mechanism.name,
        entries=MappingProxyType(entries | dict(written.entries)),
        inputs=model.written.places,
        sizes=MappingProxyType({**sizes, "nx": max(nq, nv)}),
        labels=labels,
        defaults=MappingProxyType(defaults),
        facts=MappingProxyType({**_facts(model), **facts}),
    )


def _facts(model: LoopedTree) -> dict[str, Any]:
    written = model.written
    laws = [*written.tau.values()]
    return {
        "formalism": "newton_euler, looped",
        "charts": model.charts,
        "events": tuple((name, way, action) for name, _, way, action in written.events),
        "vanished": (),
        "formulas": lambda: [*laws, *(event[1] for event in written.events)],
        "laws": lambda: laws,
        "closures": list,
        "energy": lambda: _watch(model),
        "mechanism": model.mechanism,
        "bounds": bounds_of(model.mechanism),
        "identity": model.identity,
    }


def _watch(model: LoopedTree) -> tuple[str, str]:
    """The entry by which the balance of energy is kept; "" and why there is none."""
    if model.written.unwatched:
        return "", model.written.unwatched
    return ("energy" if model.written.power is ZERO else "work"), ""


@cache
def _loops() -> CompiledLoops:
    """All entries, once a process."""
    return compile_loops([*ENTRIES.values()], optimize=3)
