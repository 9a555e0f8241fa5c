"""Marches of a block: fixed Runge–Kutta steps of states that several warps share.

State and stages lie in shared memory. In every stage each warp computes its part of the
right-hand side, waits until all are done with what they read, and moves on those coordinates of
which it has the rates. The steps are those of `march_ir`.

Public names: march_block.

Source: HNW1 §II.1, table 1.2 (the method); HLW §IV.8 (local coordinates).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import final

from liaison.program.llvm.entries import Form
from liaison.program.program import Program

from .block import Shape, Warp, block_module
from .thread import DeviceModule
from .to_ptx import MARCH
from .warps import Division, division

VELOCITIES = ("v", "speed", "xi", "turned", "pushed")
"""Arrays of one number for each velocity, in shared memory after q."""


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
    module, sizes = DeviceModule(form, tabled=True), program.sizes
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

    def along(self, array: str, index: int, start: str, factor: str, value: str) -> None:
        """array := start + factor value."""
        self.keep(array, index, self.op("fadd", start, self.op("fmul", factor, value)))

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
        for name, size in (("q", self.nq), ("v", self.nv)):
            for k in self.share(size):
                self.keep(name, k, memory.load(name, k))
        is_first = self.warp.number == 0
        worst = memory.load("residual", 0) if is_first else self.number(0.0)
        start, before = memory.load("t", 0), self.warp.block
        memory.forget()
        self.warp.wait()
        where = self.enter(f"{tag}steps")
        count = self.warp.put(f"uitofp i64 %{tag}k to {self.kind}")
        now = self.op("fadd", start, self.op("fmul", count, "%step"))
        self.stages(now)
        missed = self.moved(self.op("fadd", now, "%step"), f"%{tag}worst")
        ahead = self.warp.put(f"add i64 %{tag}k, 1")
        more = self.warp.put(f"icmp ult i64 {ahead}, %steps.count")
        last = self.warp.block
        self.warp.lines[where:where] = [
            f"  %{tag}k = phi i64 [0, %{before}], [{ahead}, %{last}]",
            f"  %{tag}worst = phi {self.kind} [{worst}, %{before}], [{missed}, %{last}]",
        ]
        self.again(more, f"{tag}steps", f"{tag}finish")
        self.finish(missed)

    def stages(self, now: str) -> None:
        """The four stages as a loop: h Σ bᵢ ξ̇ᵢ and h Σ bᵢ v̇ᵢ."""
        tag = self.tag
        for k in self.share(self.nv):
            for name in ("xi", "turned", "pushed"):
                self.keep(name, k, self.number(0.0))
            self.keep("speed", k, self.at("v", k))
        self.warp.wait()
        before = self.warp.block
        where = self.enter(f"{tag}stages")
        when, weight, reach = self.factors(f"%{tag}stage")
        time = self.op("fadd", now, self.op("fmul", when, "%step"))
        outputs = self.entry("rate", time, {"v": "speed", "x": "xi"})
        self.warp.wait()
        for index, value in outputs:
            self.turn_or_push(index, value, weight, reach)
        self.warp.wait()
        ahead = self.warp.put(f"add i32 %{tag}stage, 1")
        more = self.warp.put(f"icmp ult i32 {ahead}, 4")
        phi = f"phi i32 [0, %{before}], [{ahead}, %{self.warp.block}]"
        self.warp.lines.insert(where, f"  %{tag}stage = {phi}")
        self.again(more, f"{tag}stages", f"{tag}update")

    def turn_or_push(self, index: int, value: str, weight: str, reach: str) -> None:
        """What follows from one of the rates."""
        if index < self.nv:
            self.keep("xi", index, self.op("fmul", reach, value))
            self.along("turned", index, self.at("turned", index), weight, value)
        elif index < 2 * self.nv:
            k = index - self.nv
            self.along("speed", k, self.at("v", k), reach, value)
            self.along("pushed", k, self.at("pushed", k), weight, value)

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

    def entry(self, name: str, t: str, arrays: Mapping[str, str]) -> list[tuple[int, str]]:
        """This warp's outputs of an entry on what lies in shared memory."""
        read: dict[str, Callable[[int], str]] = {"t": lambda _: t}
        for array, place in {"q": "q", "v": "v", "x": "xi", **arrays}.items():
            read[array] = partial(self.at, place)
        return self.warp.run(self.entries[name], self.first["slots"], read)

    def moved(self, t: str, worst: str) -> str:
        """The state after a step, back on its closures; the largest residual before that."""
        self.retract(t, "turned", pushes=True)
        if "correct_q" in self.entries:
            worst = self.corrected("correct_q", t, worst, "xi")
            self.retract(t, "xi", pushes=False)
        if "correct_v" in self.entries:
            worst = self.corrected("correct_v", t, worst, "pushed")
            self.push()
        for k in self.share(self.nv):
            v = self.at("v", k)
            worst = self.op("fadd", worst, self.warp.put(f"fsub {self.kind} {v}, {v}"))
        return worst

    def push(self) -> None:
        """v := v + what lies in `pushed`; each warp reads and writes its share alone."""
        for k in self.share(self.nv):
            self.keep("v", k, self.op("fadd", self.at("v", k), self.at("pushed", k)))

    def retract(self, t: str, by: str, *, pushes: bool) -> None:
        """q := q ⊞ ξ; velocities are pushed at the same time."""
        outputs = self.entry("retract", t, {"x": by})
        self.warp.wait()
        for index, value in outputs:
            self.keep("q", index, value)
        if pushes:
            self.push()
        self.warp.wait()

    def corrected(self, name: str, t: str, worst: str, into: str) -> str:
        """A correction written into an array, and the largest residual."""
        outputs = self.entry(name, t, {})
        self.warp.wait()
        for index, value in outputs:
            if index < self.nv:
                self.keep(into, index, value)
            elif index == self.nv:
                worst = self.larger(worst, value)
        self.warp.wait()
        return worst

    def larger(self, a: str, b: str) -> str:
        """The larger; NaN where b is NaN."""
        test = self.warp.put(f"fcmp ugt {self.kind} {b}, {a}")
        return self.warp.put(f"select i1 {test}, {self.kind} {b}, {self.kind} {a}")

    def finish(self, worst: str) -> None:
        """State and residual back to the device's memory; the first warp joins the residuals."""
        memory = self.warp.memory
        self.keep("worst", self.warp.number, worst)
        self.warp.wait()
        for name, size in (("q", self.nq), ("v", self.nv)):
            for k in self.share(size):
                memory.store(name, k, self.at(name, k))
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
