"""tree_kernel: a kernel for trees of many bodies, its entries loops over their nodes.

In the coordinates of the tree itself, as unrolled code has them. Code for one node of each class is
compiled, not for each of them; what acts along coordinates, outputs and events are written out.

Public names: tree_kernel, TreeTables, written_out, facts_of, WRITTEN_OUT, LOCAL, LOADS, STORED.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, final

import numpy as np

from liaison.equations.completion import bounds_of, defaults_of
from liaison.equations.sweeps.body_loads import LoadClass
from liaison.equations.sweeps.looped_tree import LoopedTree, WrittenOut
from liaison.equations.sweeps.recursions import Recursion
from liaison.expr import ZERO, Expr, vanishes
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.llvm.trampolines import Trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.records import evaluate
from liaison.program.program import Entry, Program

from .tree_loops import ENTRIES, FORWARD, INVERSE, MOTION, TreeSystem, TreeWork

WRITTEN_OUT = "Derive the equations by newton_euler to see them."
"""Where formulas of entries are that are loops here."""

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
    tables = TreeTables(model)
    written = to_llvm(written_out(model))
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
class TreeTables:
    """The system of a tree, and the kernels of its nodes, each compiled when it is first needed.

    Args:
        model: of the tree.
        scratch: numbers that further code wants.
    """

    def __init__(self, model: LoopedTree, scratch: int = 1) -> None:
        self._scratch = scratch
        self.model = model
        self.passes = (model.forward, model.inverse, model.motion)
        local = {f"retract {c}": Entry(f"retract {c}", x) for c, x in enumerate(model.retract) if x}
        local |= {f"rate {c}": Entry(f"rate {c}", x) for c, x in enumerate(model.rate) if x}
        name = model.mechanism.name
        self._nodes = to_llvm(Program(f"{name}, nodes", self._node_entries(), model.inputs))
        self._local = to_llvm(Program(f"{name}, steps of joints", local, model.local_inputs))
        self._loads = to_llvm(_load_program(model))
        classes = () if model.pushed is None else model.pushed.classes
        self._pushed = [to_llvm(_body_program(name, one)) for one in classes]
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
        kernels = (self._nodes, self._local, self._loads, *self._pushed)
        pushed = model.pushed
        system = TreeSystem.new(
            {
                "constants": len(model.constants),
                "load_constants": 0 if pushed is None else len(pushed.constants),
            },
            n_nodes=len(model.nodes) - model.kept,
            n_joints=len(model.joints),
            n_kept=model.kept,
            n_classes=len(model.forward.sweeps[0].formulas),
            n_local=len(model.retract),
            n_sweeps=sum(len(one.sweeps) for one in self.passes),
            width=max(len(one.ground) for one in self.passes),
            nq=model.nq,
            nv=model.nv,
            n_taus=len(written.tau),
            n_frames=len(model.frames),
            n_pushed=0 if pushed is None else len(pushed.bodies),
            n_loads=0 if pushed is None else len(pushed.table),
            n_load_kinds=0 if pushed is None else len(pushed.classes),
            n_scratch=max(
                [self._scratch] + [x.work_size(name) for x in kernels for name in x.program.entries]
            ),
        )
        self._fill_steps(system)
        system.nodes.ints[:] = model.nodes
        system.constants[:], system.gravity[:] = model.constants, model.gravity
        system.taus[:] = [*written.tau]
        system.framed[:], system.frames[:] = model.frames[:, 0], model.frames[:, 1:]
        system.marked[:], system.markers[:] = model.markers[:, 0], model.markers[:, 1:]
        for name in ("potential", "power"):
            setattr(system, f"has_{name}", int(name in self._loads.program.entries))
        if pushed is not None:
            system.pushed[:], system.load_constants[:] = pushed.bodies, pushed.constants
            system.body_loads.ints[:] = pushed.table
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
        system.momentum_slot, system.effort_slot = motion.places["momentum"], inverse.output_slot

    def _fill_pass(self, k: int) -> None:
        one = self.passes[k]
        names = [_names(one, sweep.name) for sweep in one.sweeps]
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
        names = [x for x in self._loads.program.entries if (x == "tau") == (need == LOADS)]
        if names:
            self._loads.compile(*names)
        for name in names:  # a field of this type reads as a function and is set to an address
            setattr(self.system, f"{name}_entry", self._loads.address(name))
        for kind in ("wrench",) if need == LOADS else ("body_potential", "body_power"):
            for c, code in enumerate(self._pushed):
                if kind in code.program.entries:
                    getattr(self.system, f"{kind}_entries")[c] = code.address(kind)
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


def _body_program(name: str, one: LoadClass) -> Program:
    """What the loads on bodies of a class do."""
    formulas: dict[str, Sequence[Expr]] = {"wrench": one.wrenches}
    formulas |= {
        name: [x]
        for name, x in (("body_potential", one.potential), ("body_power", one.power))
        if x is not ZERO
    }
    entries = {name: Entry(name, x) for name, x in formulas.items()}
    return Program(f"{name}, loads on bodies", entries, one.places)


def written_out(model: LoopedTree) -> Program:
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
        facts=MappingProxyType({**facts_of(model), **facts}),
    )


def facts_of(model: LoopedTree) -> dict[str, Any]:
    """What a kernel of a tree says of itself."""
    written = model.written
    relations = () if model.cuts is None else model.cuts.relations
    laws = [*written.tau.values(), *(x.second for x in relations)]
    related = [y for x in relations for y in (ZERO if x.phi is None else x.phi, x.nu)]
    classes = () if model.pushed is None else model.pushed.classes
    pushes = [x for one in classes for x in one.wrenches]
    return {
        "formalism": "newton_euler, looped",
        "charts": model.charts,
        "events": tuple((name, way, action) for name, _, way, action in written.events),
        "vanished": (),
        "formulas": lambda: [*laws, *related, *pushes, *(event[1] for event in written.events)],
        "laws": lambda: laws,
        "closures": list,
        "energy": lambda: _watch(model),
        "mechanism": model.mechanism,
        "bounds": bounds_of(model.mechanism),
        "identity": model.identity,
        "rotors": model.rotors,
    }


def _watch(model: LoopedTree) -> tuple[str, str]:
    """The entry by which the balance of energy is kept; "" and why there is none."""
    listed: list[WrittenOut | LoadClass] = [model.written]
    listed += () if model.pushed is None else model.pushed.classes
    for one in listed:
        if one.unwatched:
            return "", one.unwatched
    relations = () if model.cuts is None else model.cuts.relations
    is_plain = all(one.power is ZERO for one in listed) and all(vanishes(x.nu) for x in relations)
    return ("energy" if is_plain else "work"), ""


@cache
def _loops() -> CompiledLoops:
    """All entries, once a process."""
    return compile_loops([*ENTRIES.values()])
