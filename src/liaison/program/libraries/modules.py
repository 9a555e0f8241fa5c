"""Modules of libraries: entries of a program, and loops with all that they call.

Both are portable: without contraction, and with elementary functions of the package, so that a
library gives the same bits on every system.

What code of LLVM calls without being asked: copies of memory, whole numbers, probes of stacks.
Every library has its own, as far as it needs them.

Public names: Module, INNER, inner_module, loops_module, entries_module, runtime_object, RUNTIME,
CHECK_STACK, LANES.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.llvm.portable import PORTABLE
from liaison.program.llvm.to_llvm import AnyPlan, columns_plan, module_of
from liaison.program.loops.compile import loops_key
from liaison.program.loops.language import Loop
from liaison.program.loops.llvm import loops_ir
from liaison.program.plan import PIECE, plan
from liaison.program.program import Program

from .objects import Object, Section, Symbol

LANES = 2
"""Doubles in one register of every processor of 64 bits."""


@final
@dataclass(frozen=True, slots=True)
class Module:
    """Code that need not be printed again while its key is the same.

    Attributes:
        text: gives the IR text.
        key: what it depends on.
        optimize: level of code generation, 0 to 3; LLVM's own passes run from 1 on.
        is_inner: only other modules call its functions, so that its code is the same for all
            systems of a processor. Others call them with the convention INNER.
    """

    text: Callable[[], str]
    key: str
    optimize: int = 2
    is_inner: bool = False


INNER = "x86_64_sysvcc"
"""The calling convention of inner modules, by LLVM's name; other processors have one for all."""


def inner_module(text: str) -> Module:
    """An inner module of an IR text."""
    return Module(lambda: text, hashlib.sha256(text.encode()).hexdigest(), is_inner=True)


def loops_module(roots: Sequence[Loop[..., Any]]) -> Module:
    """Loops, the elementary functions, and all that they call.

    A loop is the function `liaison_` with its name; `unique_names` numbers equal ones, in this
    order after the elementary functions.
    """
    listed = [*FUNCTIONS.values(), *(x for x in roots if x not in FUNCTIONS.values())]
    return Module(partial(loops_ir, listed, portable=True), loops_key(listed, portable=True))


def entries_module(program: Program, symbols: Mapping[str, str]) -> tuple[str, dict[str, int]]:
    """IR text of entries, and how many doubles of workspace each wants.

    Args:
        program: has the entries.
        symbols: entry -> the name of its function.
    """
    plans = {symbol: _planned(program, entry) for entry, symbol in symbols.items()}
    works = {entry: plans[symbol].work_size for entry, symbol in symbols.items()}
    return module_of(program, plans, PORTABLE), works


def _planned(program: Program, entry: str) -> AnyPlan:
    columns = program.entry(entry).columns
    if columns is None:
        return plan(program, entry, lanes=LANES, functions=FUNCTIONS)
    return columns_plan(columns, LANES, PIECE, FUNCTIONS)


RUNTIME = """\
declare double @llvm.fabs.f64(double)
declare double @llvm.copysign.f64(double, double)

define ptr @memset(ptr %to, i32 %value, i64 %count) nounwind "no-builtins" {
entry:
  %byte = trunc i32 %value to i8
  %wide = zext i8 %byte to i64
  %eight = mul i64 %wide, 72340172838076673
  br label %words
words:
  %k = phi i64 [0, %entry], [%next, %word]
  %next = add i64 %k, 8
  %fits = icmp ule i64 %next, %count
  br i1 %fits, label %word, label %test
word:
  %target = getelementptr i8, ptr %to, i64 %k
  store i64 %eight, ptr %target, align 1
  br label %words
test:
  %j = phi i64 [%k, %words], [%after, %body]
  %more = icmp ult i64 %j, %count
  br i1 %more, label %body, label %end
body:
  %there = getelementptr i8, ptr %to, i64 %j
  store i8 %byte, ptr %there
  %after = add i64 %j, 1
  br label %test
end:
  ret ptr %to
}

define ptr @memcpy(ptr %to, ptr %from, i64 %count) nounwind "no-builtins" {
entry:
  br label %words
words:
  %k = phi i64 [0, %entry], [%next, %word]
  %next = add i64 %k, 8
  %fits = icmp ule i64 %next, %count
  br i1 %fits, label %word, label %test
word:
  %source = getelementptr i8, ptr %from, i64 %k
  %eight = load i64, ptr %source, align 1
  %target = getelementptr i8, ptr %to, i64 %k
  store i64 %eight, ptr %target, align 1
  br label %words
test:
  %j = phi i64 [%k, %words], [%after, %body]
  %more = icmp ult i64 %j, %count
  br i1 %more, label %body, label %end
body:
  %here = getelementptr i8, ptr %from, i64 %j
  %byte = load i8, ptr %here
  %there = getelementptr i8, ptr %to, i64 %j
  store i8 %byte, ptr %there
  %after = add i64 %j, 1
  br label %test
end:
  ret ptr %to
}

define ptr @memmove(ptr %to, ptr %from, i64 %count) nounwind "no-builtins" {
entry:
  %ahead = icmp ule ptr %to, %from
  br i1 %ahead, label %forward, label %test
forward:
  %done = call ptr @memcpy(ptr %to, ptr %from, i64 %count)
  ret ptr %to
test:
  %k = phi i64 [%count, %entry], [%last, %body]
  %more = icmp ugt i64 %k, 0
  br i1 %more, label %body, label %end
body:
  %last = sub i64 %k, 1
  %here = getelementptr i8, ptr %from, i64 %last
  %byte = load i8, ptr %here
  %there = getelementptr i8, ptr %to, i64 %last
  store i8 %byte, ptr %there
  br label %test
end:
  ret ptr %to
}

define double @floor(double %x) nounwind "no-builtins" {
entry:
  %size = call double @llvm.fabs.f64(double %x)
  %small = fcmp olt double %size, 0x4330000000000000
  br i1 %small, label %whole, label %same
whole:
  %n = fptosi double %x to i64
  %y = sitofp i64 %n to double
  %above = fcmp ogt double %y, %x
  %less = fsub double %y, 1.0
  %low = select i1 %above, double %less, double %y
  %signed = call double @llvm.copysign.f64(double %low, double %x)
  ret double %signed
same:
  ret double %x
}
"""
"""Bytes are copied forwards where the target lies below the source, as `memmove` needs it."""

CHECK_STACK = "___chkstk_ms"
PROBES = bytes.fromhex(
    "5150"  # push rcx; push rax
    "483d00100000"  # cmp rax, 4096
    "488d4c2418"  # lea rcx, [rsp + 24]
    "7219"  # jb last
    "4881e900100000"  # page: sub rcx, 4096
    "48830900"  # or qword [rcx], 0
    "482d00100000"  # sub rax, 4096
    "483d00100000"  # cmp rax, 4096
    "77e7"  # ja page
    "4829c1"  # last: sub rcx, rax
    "48830900"  # or qword [rcx], 0
    "5859c3"  # pop rax; pop rcx; ret
)
"""Touches every page of a frame of rax bytes: Windows enlarges a stack page by page."""


def runtime_object() -> Object:
    """The probes of stacks, which are no LLVM code."""
    section = Section(".text.probes", "text", PROBES, len(PROBES), 16)
    symbols = (Symbol("", 0, 0, False), Symbol(CHECK_STACK, 1, 0, True))
    return Object("x86_64", {1: section}, symbols)
