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
from liaison.program.loops.language import entry_at, f64, flat, i64, iptr, kernel, loop, ptr
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
    """A recursion: its sweeps, where the input of each joint goes in a record, and loads."""

    first: i64
    end: i64
    input_slot: i64
    needed_slot: i64  # of the wrench that a body needs, from which loads are taken; -1: none


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
    n_pushed: i64 = size()
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
    wrench_entry: kernel
    body_potential_entry: kernel
    body_power_entry: kernel
    has_potential: i64
    has_power: i64
    has_body_potential: i64
    has_body_power: i64
    passes: Rows[Pass] = rows("3")
    sweeps: Rows[Step] = rows("n_sweeps")
    entries: iptr = sized("n_sweeps", "n_classes")
    retract_entries: iptr = sized("n_classes")
    rate_entries: iptr = sized("n_classes")
    nodes: Rows[Node] = rows("n_nodes")
    taus: iptr = sized("n_taus")
    framed: iptr = sized("n_frames")
    pushed: iptr = sized("n_pushed")  # rows of `frames` of bodies with loads
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
    body_q: ptr = sized("n_pushed", "12")  # p, R of bodies with loads
    body_v: ptr = sized("n_pushed", "6")  # ω, v in their axes
    wrenches: ptr = sized("n_pushed", "6")
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
        if s == these.first and these.needed_slot >= 0:
            take_loads(system, these.needed_slot, work)


@loop
def take_loads(system: TreeSystem, slot: i64, work: TreeWork) -> None:
    """What bodies need less what loads give them, moved to the nodes' frames."""
    for b in range(system.n_pushed):
        frame = system.frames[system.pushed[b]]
        wrench = work.wrenches[b]
        need = work.numbers[system.framed[system.pushed[b]] + 1, slot:]
        turned = work.pose
        for i in range(3):
            turned[i] = 0.0
            turned[3 + i] = 0.0
            for j in range(3):
                turned[i] += frame[3 * i + j] * wrench[j]
                turned[3 + i] += frame[3 * i + j] * wrench[3 + j]
        for i in range(3):
            a = (i + 1) % 3
            c = (i + 2) % 3
            need[i] -= turned[i] + frame[9 + a] * turned[3 + c] - frame[9 + c] * turned[3 + a]
            need[3 + i] -= turned[3 + i]


@loop
def look_at_bodies(system: TreeSystem, work: TreeWork) -> None:
    """Poses and twists of bodies with loads, after a pass of motions."""
    for b in range(system.n_pushed):
        k = system.pushed[b]
        node = State(work.numbers[system.framed[k] + 1])
        pose = work.pose
        placed(node.floats, system.frames[k], pose)
        q = work.body_q[b]
        v = work.body_v[b]
        for i in range(3):
            q[i] = pose[9 + i]
            v[i] = 0.0
            v[3 + i] = 0.0
        for i in range(9):
            q[3 + i] = pose[i]
        for j in range(3):
            a = (j + 1) % 3
            c = (j + 2) % 3
            speed = node.twist[3 + j] + node.twist[a] * (q[c] - node.p[c])
            speed -= node.twist[c] * (q[a] - node.p[a])
            for i in range(3):
                v[i] += pose[3 * j + i] * node.twist[j]
                v[3 + i] += pose[3 * j + i] * speed


@loop
def load_bodies(system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: TreeWork) -> None:
    """Wrenches of loads on bodies."""
    if system.n_pushed > 0:
        still_pass(system, q, v, work)
        look_at_bodies(system, work)
        bodies = flat(work.body_q)
        twists = flat(work.body_v)
        system.wrench_entry(t, bodies, twists, u, p, u, flat(work.wrenches), work.scratch)


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
    load_bodies(system, t, q, v, u, p, work)
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
    if system.has_body_potential > 0:
        look_at_bodies(system, work)
        bodies = flat(work.body_q)
        twists = flat(work.body_v)
        system.body_potential_entry(t, bodies, twists, u, p, u, work.pose, work.scratch)
        out[1] += work.pose[0]
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
    if system.has_body_power > 0:
        look_at_bodies(system, work)
        bodies = flat(work.body_q)
        twists = flat(work.body_v)
        system.body_power_entry(t, bodies, twists, u, p, u, work.pose, work.scratch)
        out[2] += work.pose[0]


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
    load_bodies(system, t, q, v, u, p, work)
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
    "energy": (MOTION, STORED), "work": (MOTION, STORED), "reactions": (INVERSE, LOADS),
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
        self._pushed = to_llvm(_body_program(model))
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
        kernels = (self._nodes, self._local, self._loads, self._pushed)
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
            n_pushed=0 if model.pushed is None else len(model.pushed.bodies),
            n_scratch=max(1, *(x.work_size(name) for x in kernels for name in x.program.entries)),
        )
        self._fill_steps(system)
        system.nodes.ints[:] = model.nodes
        system.constants[:], system.gravity[:] = model.constants, model.gravity
        system.taus[:] = [*written.tau]
        system.framed[:], system.frames[:] = model.frames[:, 0], model.frames[:, 1:]
        system.marked[:], system.markers[:] = model.markers[:, 0], model.markers[:, 1:]
        for name in ("potential", "power"):
            setattr(system, f"has_{name}", int(name in self._loads.program.entries))
        for name in ("body_potential", "body_power"):
            setattr(system, f"has_{name}", int(name in self._pushed.program.entries))
        system.pushed[:] = () if model.pushed is None else model.pushed.bodies
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
            row.needed_slot = one.places.get("needed", -1)
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
        of_forces = ("tau", "wrench")
        for code in (self._loads, self._pushed):
            names = [x for x in code.program.entries if (x in of_forces) == (need == LOADS)]
            if names:
                code.compile(*names)
            for name in names:  # a field of this type reads as a function and is set to an address
                setattr(self.system, f"{name}_entry", code.address(name))
        if need == LOADS and self.model.pushed is not None:
            self.fill({MOTION})


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


def _body_program(model: LoopedTree) -> Program:
    """What loads on bodies do, where there are any."""
    pushed = model.pushed
    if pushed is None:
        return Program(f"{model.mechanism.name}, loads on bodies", {}, {})
    formulas: dict[str, Sequence[Expr]] = {"wrench": pushed.wrenches}
    formulas |= {
        name: [x]
        for name, x in (("body_potential", pushed.potential), ("body_power", pushed.power))
        if x is not ZERO
    }
    entries = {name: Entry(name, x) for name, x in formulas.items()}
    return Program(f"{model.mechanism.name}, loads on bodies", entries, pushed.places)


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
    pushes = () if model.pushed is None else model.pushed.wrenches
    return {
        "formalism": "newton_euler, looped",
        "charts": model.charts,
        "events": tuple((name, way, action) for name, _, way, action in written.events),
        "vanished": (),
        "formulas": lambda: [*laws, *pushes, *(event[1] for event in written.events)],
        "laws": lambda: laws,
        "closures": list,
        "energy": lambda: _watch(model),
        "mechanism": model.mechanism,
        "bounds": bounds_of(model.mechanism),
        "identity": model.identity,
    }


def _watch(model: LoopedTree) -> tuple[str, str]:
    """The entry by which the balance of energy is kept; "" and why there is none."""
    listed = [model.written] + ([] if model.pushed is None else [model.pushed])
    for one in listed:
        if one.unwatched:
            return "", one.unwatched
    return ("energy" if all(one.power is ZERO for one in listed) else "work"), ""


@cache
def _loops() -> CompiledLoops:
    """All entries, once a process."""
    return compile_loops([*ENTRIES.values()])
