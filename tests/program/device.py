"""A GPU in words: kernels for a device, run on this processor one thread after the other."""

from __future__ import annotations

import ctypes
import re
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
    text = re.sub(r" addrspace\([15]\)", "", text).replace("define ptx_kernel", "define")
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


def _given(x: object) -> object:
    if isinstance(x, np.ndarray):
        return ctypes.c_void_p(x.ctypes.data)
    if isinstance(x, np.float32):
        return ctypes.c_float(float(x))
    return ctypes.c_double(x) if isinstance(x, float) else ctypes.c_int64(int(x))
