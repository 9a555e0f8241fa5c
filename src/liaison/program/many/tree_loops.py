"""Loops over the nodes of a tree of many bodies: recursions, loads, and entries of a kernel.

A recursion is a row of sweeps; each calls the code of one class of nodes for every node in turn.

Public names: TreeSystem, TreeWork, Pass, ENTRIES, FORWARD, INVERSE, MOTION, sweep_tree, begin_pass,
pass_over, take_loads, load_tree, load_bodies, take_out, still_pass, tree_retract.
"""

from __future__ import annotations

from liaison.program.loops.language import entry_at, f64, flat, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import Part, Record, Rows, inline, rows, size, sized

from .block_layout import Node, State
from .looped import Step
from .sparse_entries import placed

FORWARD, INVERSE, MOTION = range(3)
"""Recursions over the nodes."""


class Pass(Record):
    """A recursion: its sweeps, where the input of each joint goes in a record, and loads."""

    first: i64
    end: i64
    input_slot: i64
    needed_slot: i64  # of the wrench that a body needs, from which loads are taken; -1: none


class BodyLoad(Record):
    """A load on bodies: its class, its bodies among those with loads (−1: none), its numbers."""

    kind: i64
    first: i64
    second: i64
    constants: i64


class TreeSystem(Record):
    """All that the loops know of a tree, for as long as it lives."""

    n_nodes: i64 = size()
    n_joints: i64 = size()  # nodes behind theirs are states of loads
    n_kept: i64 = size()  # nodes behind them that only keep coordinates of cut joints
    n_classes: i64 = size()
    n_local: i64 = size()
    n_sweeps: i64 = size()
    width: i64 = size()
    nq: i64 = size()
    nv: i64 = size()
    n_taus: i64 = size()
    n_frames: i64 = size()
    n_pushed: i64 = size()
    n_loads: i64 = size()
    n_load_kinds: i64 = size()
    n_scratch: i64 = size()
    vdot_slot: i64
    effort_slot: i64
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
    wrench_entries: iptr = sized("n_load_kinds")
    body_potential_entries: iptr = sized("n_load_kinds")  # 0: it stores nothing
    body_power_entries: iptr = sized("n_load_kinds")
    body_loads: Rows[BodyLoad] = rows("n_loads")
    load_constants: ptr = sized()
    passes: Rows[Pass] = rows("3")
    sweeps: Rows[Step] = rows("n_sweeps")
    entries: iptr = sized("n_sweeps", "n_classes")
    retract_entries: iptr = sized("n_local")
    rate_entries: iptr = sized("n_local")
    nodes: Rows[Node] = rows("n_nodes + n_kept")
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
    pair_q: ptr = sized("24")  # of the bodies of one load
    pair_v: ptr = sized("12")
    pair: ptr = sized("12")
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
def begin_pass(system: TreeSystem, k: i64, ground: f64, values: ptr, work: TreeWork) -> None:
    """The ground's record, times a number, and inputs of the joints into the others."""
    these = system.passes[k]
    numbers = work.numbers
    for j in range(system.width):
        numbers[0, j] = ground * system.grounds[k, j]
    for i in range(system.n_nodes):
        node = system.nodes[i]
        for j in range(node.nv):
            numbers[i + 1, these.input_slot + j] = values[node.v + j]


@loop
def pass_over(system: TreeSystem, k: i64, q: ptr, v: ptr, values: ptr, work: TreeWork) -> None:
    """A recursion: the ground, inputs of the joints into the records, then all its sweeps."""
    these = system.passes[k]
    begin_pass(system, k, 1.0, values, work)
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
def look_at_pair(system: TreeSystem, k: i64, work: TreeWork) -> None:
    """Poses and twists of the bodies of one load."""
    load = system.body_loads[k]
    for j in range(12):
        work.pair_q[j] = work.body_q[load.first, j]
    for j in range(6):
        work.pair_v[j] = work.body_v[load.first, j]
    if load.second >= 0:
        for j in range(12):
            work.pair_q[12 + j] = work.body_q[load.second, j]
        for j in range(6):
            work.pair_v[6 + j] = work.body_v[load.second, j]


@loop
def load_bodies(system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: TreeWork) -> None:
    """Wrenches of loads on bodies."""
    if system.n_pushed > 0:
        still_pass(system, q, v, work)
        look_at_bodies(system, work)
        wrenches = flat(work.wrenches)
        for k in range(6 * system.n_pushed):
            wrenches[k] = 0.0
        for k in range(system.n_loads):
            load = system.body_loads[k]
            look_at_pair(system, k, work)
            f = entry_at(system.wrench_entries, load.kind)
            numbers = system.load_constants[load.constants :]
            f(t, work.pair_q, work.pair_v, u, p, numbers, work.pair, work.scratch)
            for j in range(6):
                work.wrenches[load.first, j] += work.pair[j]
            if load.second >= 0:
                for j in range(6):
                    work.wrenches[load.second, j] += work.pair[6 + j]


@loop
def sum_over_loads(
    system: TreeSystem, entries: iptr, t: f64, u: ptr, p: ptr, work: TreeWork
) -> f64:
    """What entries give of loads on bodies that have them, after a pass of motions."""
    total = 0.0
    if system.n_pushed > 0:
        look_at_bodies(system, work)
    for k in range(system.n_loads):
        load = system.body_loads[k]
        if entries[load.kind] != 0:
            look_at_pair(system, k, work)
            f = entry_at(entries, load.kind)
            numbers = system.load_constants[load.constants :]
            f(t, work.pair_q, work.pair_v, u, p, numbers, work.pair, work.scratch)
            total += work.pair[0]
    return total


@loop
def still_pass(system: TreeSystem, q: ptr, v: ptr, work: TreeWork) -> None:
    """Poses, velocities and energies of all nodes."""
    for k in range(system.nv):
        work.tau[k] = 0.0
    pass_over(system, MOTION, q, v, work.tau, work)


@loop
def load_tree(system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, work: TreeWork) -> None:
    """Wrenches of loads on bodies, and τ of those along coordinates."""
    load_bodies(system, t, q, v, u, p, work)
    for k in range(system.nv):
        work.tau[k] = 0.0
    if system.n_taus > 0:
        system.tau_entry(t, q, v, u, p, u, work.loads, work.scratch)
    for k in range(system.n_taus):
        work.tau[system.taus[k]] = work.loads[k]


@loop
def take_out(system: TreeSystem, slot: i64, work: TreeWork, values: ptr) -> None:
    """A number for each velocity, from a slot of the records."""
    for i in range(system.n_nodes):
        node = system.nodes[i]
        for j in range(node.nv):
            values[node.v + j] = work.numbers[i + 1, slot + j]


@loop
def accelerate(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, vdot: ptr, work: TreeWork
) -> None:
    """v̇ under gravity and loads."""
    load_tree(system, t, q, v, u, p, work)
    pass_over(system, FORWARD, q, v, work.tau, work)
    take_out(system, system.vdot_slot, work, vdot)


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
    for i in range(system.n_nodes + system.n_kept):
        node = system.nodes[i]
        if node.nv > 0 and system.retract_entries[node.kind] != 0:
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
    out[1] += sum_over_loads(system, system.body_potential_entries, t, u, p, work)
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
    out[2] += sum_over_loads(system, system.body_power_entries, t, u, p, work)


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
    for k in range(system.n_joints):
        placed(work.numbers[system.marked[k] + 1], system.markers[k], out[12 * k :])


@loop
def tree_reactions(
    system: TreeSystem, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, area: ptr
) -> None:
    """The wrench of each joint on its successor, in M's axes at M, of v̇ in x."""
    work = TreeWork(area, system)
    load_bodies(system, t, q, v, u, p, work)
    pass_over(system, INVERSE, q, v, x, work)
    for i in range(system.n_joints):
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
