"""Marches of a block: fixed Runge–Kutta steps of states that several warps share.

What the right-hand side reads lies in shared memory. In every stage each warp computes its part
of the rates, waits until all are done with what they read, and moves on those coordinates of which
it has the rates; their velocities and sums of stages are its own. The steps are those of
`march_ir`.

Source: HNW1 §II.1, table 1.2 (the method); HLW §IV.8 (local coordinates).

Public names: march_block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TypeAlias, final

from liaison.program.llvm.entries import Form
from liaison.program.program import Program

from .block import Shape, Warp, block_module
from .thread import DeviceModule
from .to_ptx import MARCH
from .warps import Division, division

VELOCITIES = ("speed", "xi")
"""Arrays of one number for each velocity, in shared memory after q: v and x of entries."""

Values: TypeAlias = dict[int, str]
"""Index -> a value in a register."""


def march_block(
    program: Program, form: Form, shared: frozenset[str], shape: Shape
) -> tuple[str, Shape]:
    """IR of the kernel `march`, with the arguments of `march_ir`, and how it is launched.

    Args:
        program: with rate and retract, and correct_q and correct_v where it has closures.
        form: double or float.
        shared: arrays that are the same for all states; never q or v.
        shape: warps, lanes and registers.
    """
    module, sizes = DeviceModule(form), program.sizes
    closures = bool(sizes.get("nc")), bool(sizes.get("nc") and sizes.get("nphi"))
    names = ["rate", "retract", *["correct_q"] * closures[1], *["correct_v"] * closures[0]]
    room = shape.room(form)
    entries = {
        name: division(program.entry(name).outputs, shape.warps, room=room) for name in names
    }
    slots = max(each.slots for each in entries.values())
    state = sizes["nq"] + len(VELOCITIES) * sizes["nv"] + shape.warps
    whole = replace(shape, numbers=state + slots)
    warps = [Warp(module, program, whole, shared, number) for number in range(shape.warps)]
    for warp in warps:
        _March(warp, entries, sizes).write()
    return block_module(module, "march", MARCH, warps), whole


@final
class _March:
    """Writes the march of one warp."""

    def __init__(
        self, warp: Warp, entries: Mapping[str, Division], sizes: Mapping[str, int]
    ) -> None:
        self.warp, self.entries, self.tag = warp, entries, f"w{warp.number}"
        self.nq, self.nv = sizes["nq"], sizes["nv"]
        self.kind, self.number = warp.form.kind, warp.form.number
        own = [k for piece in entries["rate"].pieces[warp.number] for k, _ in piece.outputs]
        self.turns = sorted(k for k in own if k < self.nv)
        self.pushes = sorted(k - self.nv for k in own if self.nv <= k < 2 * self.nv)
        self.first = {"q": 0}
        self.first |= {name: self.nq + k * self.nv for k, name in enumerate(VELOCITIES)}
        self.first["worst"] = self.nq + len(VELOCITIES) * self.nv
        self.first["slots"] = self.first["worst"] + warp.shape.warps

    def op(self, name: str, a: str, b: str) -> str:
        """A sum or a product."""
        return self.warp.put(f"{name} contract {self.kind} {a}, {b}")

    def at(self, array: str, index: int) -> str:
        """A number of shared memory."""
        return self.warp.fetched(self.first[array] + index)

    def keep(self, array: str, index: int, value: str) -> None:
        """The same, written."""
        self.warp.keep(self.first[array] + index, value)

    def along(self, start: str, factor: str, value: str) -> str:
        """start + factor value."""
        return self.op("fadd", start, self.op("fmul", factor, value))

    def share(self, size: int) -> range:
        """Indices that are this warp's where any would do."""
        return range(self.warp.number, size, self.warp.shape.warps)

    def enter(self, label: str) -> int:
        """A new block of instructions; where its first line goes."""
        self.warp.lines += [f"  br label %{label}", f"{label}:"]
        self.warp.block = label
        return len(self.warp.lines)

    def again(self, test: str, label: str, beyond: str) -> None:
        """Back to a label while a test holds."""
        self.warp.lines += [f"  br i1 {test}, label %{label}, label %{beyond}", f"{beyond}:"]
        self.warp.block = beyond

    def write(self) -> None:
        """All of it."""
        memory, tag = self.warp.memory, self.tag
        for k in self.share(self.nq):
            self.keep("q", k, memory.load("q", k))
        v = {k: memory.load("v", k) for k in self.pushes}
        is_first = self.warp.number == 0
        worst = memory.load("residual", 0) if is_first else self.number(0.0)
        start, before = memory.load("t", 0), self.warp.block
        memory.forget()
        where = self.enter(f"{tag}steps")
        count = self.warp.put(f"uitofp i64 %{tag}k to {self.kind}")
        now = self.op("fadd", start, self.op("fmul", count, "%step"))
        old = {k: f"%{tag}v{k}" for k in v}
        turned, pushed = self.stages(now, old)
        end = self.op("fadd", now, "%step")
        new, missed = self.moved(end, old, turned, pushed, f"%{tag}worst")
        ahead = self.warp.put(f"add i64 %{tag}k, 1")
        more = self.warp.put(f"icmp ult i64 {ahead}, %steps.count")
        blocks = before, self.warp.block
        self.warp.lines[where:where] = [
            f"  %{tag}k = phi i64 [0, %{before}], [{ahead}, %{self.warp.block}]",
            self.carried(f"{tag}worst", worst, missed, blocks),
            *(self.carried(f"{tag}v{k}", v[k], new[k], blocks) for k in v),
        ]
        self.again(more, f"{tag}steps", f"{tag}finish")
        self.finish(new, missed)

    def carried(self, name: str, first: str, later: str, blocks: tuple[str, str]) -> str:
        """A variable of a loop: its value before, its value from turn to turn."""
        return f"  %{name} = phi {self.kind} [{first}, %{blocks[0]}], [{later}, %{blocks[1]}]"

    def stages(self, now: str, v: Values) -> tuple[Values, Values]:
        """The four stages as a loop: h Σ bᵢ ξ̇ᵢ and h Σ bᵢ v̇ᵢ."""
        tag, zero = self.tag, self.number(0.0)
        for k in self.turns:
            self.keep("xi", k, zero)
        for k in self.pushes:
            self.keep("speed", k, v[k])
        self.warp.wait()
        before = self.warp.block
        where = self.enter(f"{tag}stages")
        when, weight, reach = self.factors(f"%{tag}stage")
        time = self.op("fadd", now, self.op("fmul", when, "%step"))
        outputs = dict(self.entry("rate", time))
        self.warp.wait()
        sums: dict[str, str] = {}
        for k in self.turns:
            self.keep("xi", k, self.op("fmul", reach, outputs[k]))
            sums[f"{tag}t{k}"] = self.along(f"%{tag}t{k}", weight, outputs[k])
        for k in self.pushes:
            push = outputs[self.nv + k]
            self.keep("speed", k, self.along(v[k], reach, push))
            sums[f"{tag}p{k}"] = self.along(f"%{tag}p{k}", weight, push)
        self.warp.wait()
        ahead = self.warp.put(f"add i32 %{tag}stage, 1")
        more = self.warp.put(f"icmp ult i32 {ahead}, 4")
        blocks = before, self.warp.block
        self.warp.lines[where:where] = [
            f"  %{tag}stage = phi i32 [0, %{before}], [{ahead}, %{self.warp.block}]",
            *(self.carried(name, zero, total, blocks) for name, total in sums.items()),
        ]
        self.again(more, f"{tag}stages", f"{tag}update")
        turned = {k: sums[f"{tag}t{k}"] for k in self.turns}
        return turned, {k: sums[f"{tag}p{k}"] for k in self.pushes}

    def factors(self, stage: str) -> tuple[str, str, str]:
        """Of a stage: when it is, its weight, and how far the next one reaches."""
        put, number = self.warp.put, self.number

        def pick(test: str, a: float, b: str) -> str:
            return put(f"select i1 {test}, {self.kind} {number(a)}, {self.kind} {b}")

        is_first, is_third, is_last = (put(f"icmp eq i32 {stage}, {k}") for k in (0, 2, 3))
        is_end = put(f"or i1 {is_first}, {is_last}")
        when = pick(is_first, 0.0, pick(is_last, 1.0, number(0.5)))
        weight = self.op("fmul", pick(is_end, 1 / 6, number(1 / 3)), "%step")
        return when, weight, self.op("fmul", pick(is_third, 1.0, number(0.5)), "%step")

    def entry(self, name: str, t: str) -> list[tuple[int, str]]:
        """This warp's outputs of an entry on what lies in shared memory."""
        read: dict[str, Callable[[int], str]] = {"t": lambda _: t}
        for array, place in {"q": "q", "v": "speed", "x": "xi"}.items():
            read[array] = partial(self.at, place)
        return self.warp.run(self.entries[name], self.first["slots"], read)

    def moved(
        self, t: str, v: Values, turned: Values, pushed: Values, worst: str
    ) -> tuple[Values, str]:
        """Velocities after a step, back on closures; the largest residual before that."""
        for k in self.turns:
            self.keep("xi", k, turned[k])
        for k in self.pushes:
            self.keep("speed", k, v[k])
        self.warp.wait()
        self.replaced("retract", t, "q")
        new = {k: self.op("fadd", v[k], pushed[k]) for k in self.pushes}
        if "correct_v" in self.entries:
            for k in self.pushes:
                self.keep("speed", k, new[k])
            self.warp.wait()
            if "correct_q" in self.entries:
                worst = self.replaced("correct_q", t, "xi", worst)
                self.replaced("retract", t, "q")
            worst = self.replaced("correct_v", t, "xi", worst)
            new = {k: self.op("fadd", new[k], self.at("xi", k)) for k in self.pushes}
            self.warp.wait()
        for value in new.values():
            lost = self.warp.put(f"fsub {self.kind} {value}, {value}")
            worst = self.op("fadd", worst, lost)
        return new, worst

    def replaced(self, name: str, t: str, array: str, worst: str = "") -> str:
        """Writes an array anew by an entry of it; the largest residual, where the entry has one."""
        outputs, size = self.entry(name, t), self.nq if array == "q" else self.nv
        self.warp.wait()
        for index, value in outputs:
            if index < size:
                self.keep(array, index, value)
            elif index == size and worst:
                worst = self.larger(worst, value)
        self.warp.wait()
        return worst

    def larger(self, a: str, b: str) -> str:
        """The larger; NaN where b is NaN."""
        test = self.warp.put(f"fcmp ugt {self.kind} {b}, {a}")
        return self.warp.put(f"select i1 {test}, {self.kind} {b}, {self.kind} {a}")

    def finish(self, v: Values, worst: str) -> None:
        """State and residual back to the device's memory; the first warp joins the residuals."""
        memory = self.warp.memory
        self.keep("worst", self.warp.number, worst)
        self.warp.wait()
        for k in self.share(self.nq):
            memory.store("q", k, self.at("q", k))
        for k, value in v.items():
            memory.store("v", k, value)
        if self.warp.number == 0:
            memory.store("residual", 0, self.joined(worst))

    def joined(self, worst: str) -> str:
        """The largest of all warps; NaN if one of them is."""
        each = [worst, *(self.at("worst", k) for k in range(1, self.warp.shape.warps))]
        for other in each[1:]:
            worst = self.larger(worst, other)
        for other in each:
            lost = self.warp.put(f"fsub {self.kind} {other}, {other}")
            worst = self.op("fadd", worst, lost)
        return worst
