"""A GPU in words: kernels for a device, run on this processor one thread after the other."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Sequence

import numpy as np

from liaison.program.llvm.machine import load

ESTIMATE = re.compile(r"call (\w+) @llvm\.nvvm\.rcp\.approx\.ftz\.[df]\(\w+ (\S+)\)")
REGISTER = re.compile(r"call i32 @llvm\.nvvm\.read\.ptx\.sreg\.(\w+)\.x\(\)")


GOOD = dict.fromkeys(("double", "float"), "0x3FF0000400000000")
"""1 + 2⁻¹⁸, so that an inverse is estimated about as well as a device does."""


def on_this_processor(ir: str) -> str:
    """The same kernel as a function for this processor; its thread is a global number."""
    text = re.sub(r"declare i32 @llvm\.nvvm.*\n", "", ir)
    text = REGISTER.sub(lambda m: f"load i32, ptr @register_{m[1]}", text)
    text = ESTIMATE.sub(lambda m: f"fdiv {m[1]} {GOOD[m[1]]}, {m[2]}", text)
    text = re.sub(r"addrspacecast ptr (\S+) to .*", r"getelementptr i8, ptr \1, i64 0", text)
    text = re.sub(r" addrspace\([145]\)", "", text).replace("define ptx_kernel", "define")
    text = text.replace('"nvvm.maxntid"="128"', "")
    values = {"tid": 0, "ctaid": 0, "ntid": 1}
    return "\n".join([f"@register_{name} = global i32 {v}" for name, v in values.items()] + [text])


def run(ir: str, name: str, count: int, arguments: Sequence[object]) -> None:
    """The kernel for every thread; arrays are given as they are, whole numbers as integers."""
    symbols = [name, "register_ctaid"]
    code = load(on_this_processor(ir), symbols, keep=False)
    given = [_given(x) for x in arguments]
    function = ctypes.CFUNCTYPE(None, *[type(x) for x in given])(code[name])
    thread = ctypes.c_int32.from_address(code["register_ctaid"])
    for k in range(count + 1):  # one thread too many, which has nothing to do
        thread.value = k
        function(*given)


BARRIER = re.compile(r'asm sideeffect "bar\.(\w+) (\d+), (\d+);", "~{memory}"\(\)')
SHUFFLE = re.compile(r"call i32 @llvm\.nvvm\.shfl\.sync\.idx\.i32\(i32 -1, i32 (\S+), .*\)")


class Barriers:
    """Barriers of a block: each lets all go who wait when so many have come."""

    def __init__(self) -> None:
        self.come: dict[int, int] = {}
        self.turns: dict[int, int] = {}
        self.change = threading.Condition()

    def meet(self, number: int, count: int, waits: int) -> None:
        """One more is there, and waits or does not."""
        with self.change:
            turn = self.turns.get(number, 0)
            self.come[number] = self.come.get(number, 0) + 1
            if self.come[number] == count:
                self.come[number], self.turns[number] = 0, turn + 1
                self.change.notify_all()
            elif waits:
                is_over = self.change.wait_for(lambda: self.turns.get(number, 0) > turn, 10.0)
                assert is_over, f"barrier {number} of {count}: not all have come"


def run_blocks(
    ir: str, name: str, blocks: int, threads: int, numbers: int, arguments: Sequence[object]
) -> None:
    """The kernel of one lane, all threads of a block at the same time; blocks in turn.

    Args:
        ir: of the kernel.
        name: of the kernel.
        blocks: how many.
        threads: of a block.
        numbers: of shared memory.
        arguments: as for `run`.
    """
    text = ir.replace("@liaison_block = external", "@liaison_block = internal")
    text = re.sub(r"(global \[0 x \w+\])", r"\1 zeroinitializer", text)
    text = re.sub(r" addrspace\(3\)", "", text).replace("[0 x ", f"[{numbers + 1} x ")
    text = SHUFFLE.sub(r"add i32 \1, 0", text)
    text = text.replace("call i32 @llvm.nvvm.read.ptx.sreg.tid.x()", "call i32 @block_thread()")
    text = BARRIER.sub(_called, text)
    text = re.sub(r'"nvvm\.\w+"="\d+"', "", text)
    pointers = ("@block_thread_place", "@block_meet_place")
    text += "\n".join([*(f"{place} = global ptr null" for place in pointers), CALLS])
    code = load(on_this_processor(text), [name, "register_ctaid", *(p[1:] for p in pointers)],
                keep=False)  # fmt: skip
    own, barriers, done = threading.local(), Barriers(), []
    thread = ctypes.CFUNCTYPE(ctypes.c_int32)(lambda: own.thread)
    meet = ctypes.CFUNCTYPE(None, *[ctypes.c_int32] * 3)(barriers.meet)
    for place, function in zip(pointers, (thread, meet), strict=True):
        where = ctypes.c_void_p.from_address(code[place[1:]])
        where.value = ctypes.cast(function, ctypes.c_void_p).value
    given = [_given(x) for x in arguments]
    kernel = ctypes.CFUNCTYPE(None, *[type(x) for x in given])(code[name])

    def start(number: int) -> None:
        own.thread = number
        kernel(*given)
        done.append(number)

    for block in range(blocks):
        ctypes.c_int32.from_address(code["register_ctaid"]).value = block
        started = [threading.Thread(target=start, args=(k,)) for k in range(threads)]
        for each in started:
            each.start()
        for each in started:
            each.join()
        assert len(done) == (block + 1) * threads


CALLS = """
define internal i32 @block_thread() {
  %function = load ptr, ptr @block_thread_place
  %thread = call i32 %function()
  ret i32 %thread
}
define internal void @block_meet(i32 %number, i32 %count, i32 %waits) {
  %function = load ptr, ptr @block_meet_place
  call void %function(i32 %number, i32 %count, i32 %waits)
  ret void
}
"""


def _called(found: re.Match[str]) -> str:
    waits = int(found[1] == "sync")
    return f"@block_meet(i32 {found[2]}, i32 {found[3]}, i32 {waits})"


def _given(x: object) -> object:
    if isinstance(x, np.ndarray):
        return ctypes.c_void_p(x.ctypes.data)
    if isinstance(x, np.float32):
        return ctypes.c_float(float(x))
    return ctypes.c_double(x) if isinstance(x, float) else ctypes.c_int64(int(x))
