"""Loops over arrays with a state a lane, as LLVM IR on vectors: what time loops on lanes call.

They are those of `simulation/batch/lane_layout.py`, which says what each computes and runs as plain
Python. Numbers of a lane stay in registers here, which LLVM does not find by itself.

Public names: lane_loops, LANE_LOOPS.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from .entries import Form
from .machine import Code, load

LOOP = """\
define {result} @{name}({arguments}) nounwind {{
entry:
{before}
  br label %test
test:
  %i = phi i64 [0, %entry], [%ahead, %next]
{carried}
  %going = icmp slt i64 %i, %n
  br i1 %going, label %body, label %end
body:
  %offset = mul nsw i64 %i, {lanes}
  %place = getelementptr inbounds double, ptr %x, i64 %offset
  %row = load {kind}, ptr %place, align 8
{body}
next:
{after}
  %ahead = add nsw i64 %i, 1
  br label %test
end:
{end}
}}
"""
"""A loop over rows of an array with a number a lane, from which all below are made."""

LARGEST = {
    "result": "void",
    "arguments": "i64 %n, i64 %lanes, ptr %x, ptr %unit, ptr %most, ptr %bad",
    "before": "",
    "carried": "  %m = phi {kind} [zeroinitializer, %entry], [%m1, %next]\n"
    "  %b = phi {kind} [zeroinitializer, %entry], [%b1, %next]",
    "body": """\
  %size = call {kind} @llvm.fabs.{suffix}({kind} %row)
  %at = getelementptr inbounds double, ptr %unit, i64 %i
  %scale = load double, ptr %at, align 8
  %plain = fcmp oeq double %scale, 1.0
  br i1 %plain, label %next, label %divide
divide:
  %one = insertelement {kind} poison, double %scale, i32 0
  %all = shufflevector {kind} %one, {kind} poison, <{lanes} x i32> zeroinitializer
  %quotient = fdiv {kind} %size, %all
  br label %next""",
    "after": """\
  %s = phi {kind} [%size, %body], [%quotient, %divide]
  %zero = fsub {kind} %s, %s
  %b1 = fadd {kind} %b, %zero
  %larger = fcmp ogt {kind} %s, %m
  %m1 = select <{lanes} x i1> %larger, {kind} %s, {kind} %m""",
    "end": "  %sum = fadd {kind} %m, %b\n  store {kind} %sum, ptr %most, align 8\n  ret void",
}

INFINITE = {
    "result": "i64",
    "arguments": "i64 %n, i64 %lanes, ptr %x, ptr %bad",
    "before": "",
    "carried": "  %b = phi {kind} [zeroinitializer, %entry], [%b1, %next]",
    "body": "  br label %next",
    "after": "  %zero = fsub {kind} %row, %row\n  %b1 = fadd {kind} %b, %zero",
    "end": """\
  store {kind} %b, ptr %bad, align 8
  %isbad = fcmp une {kind} %b, zeroinitializer
  %mask = zext <{lanes} x i1> %isbad to <{lanes} x i64>
  %count = call i64 @llvm.vector.reduce.add.v{lanes}i64(<{lanes} x i64> %mask)
  ret i64 %count""",
}

REPLACED = {
    "result": "void",
    "arguments": "i64 %n, i64 %lanes, ptr %where, ptr %x, ptr %y",
    "before": "  %marks = load <{lanes} x i64>, ptr %where, align 8\n"
    "  %takes = icmp sgt <{lanes} x i64> %marks, zeroinitializer",
    "carried": "",
    "body": "  br label %next",
    "after": """\
  %to = getelementptr inbounds double, ptr %y, i64 %offset
  %old = load {kind}, ptr %to, align 8
  %new = select <{lanes} x i1> %takes, {kind} %row, {kind} %old
  store {kind} %new, ptr %to, align 8""",
    "end": "  ret void",
}

ABOVE = """\
define i64 @count_above(i64 %lanes, double %limit, ptr %x, ptr %where) nounwind {{
  %one = insertelement {kind} poison, double %limit, i32 0
  %limits = shufflevector {kind} %one, {kind} poison, <{lanes} x i32> zeroinitializer
  %numbers = load {kind}, ptr %x, align 8
  %marks = load {whole}, ptr %where, align 8
  %low = fcmp ole {kind} %numbers, %limits
  %counted = select {mask} %low, {whole} zeroinitializer, {whole} %marks
  %count = call i64 @{sum}({whole} %counted)
  ret i64 %count
}}
"""

PENDING = """\
define i64 @count_pending(
  i64 %lanes, double %tolerance, ptr %worst, ptr %measure, ptr %limit, ptr %done, ptr %pending
) nounwind {{
  %one = insertelement {kind} poison, double %tolerance, i32 0
  %all = shufflevector {kind} %one, {kind} poison, <{lanes} x i32> zeroinitializer
  %w = load {kind}, ptr %worst, align 8
  %m = load {kind}, ptr %measure, align 8
  %d = load {whole}, ptr %done, align 8
  %size = fadd {kind} splat (double 1.0), %m
  %limits = fmul {kind} %all, %size
  store {kind} %size, ptr %measure, align 8
  store {kind} %limits, ptr %limit, align 8
  %low = fcmp ole {kind} %w, %limits
  %there = select {mask} %low, {whole} splat (i64 1), {whole} %d
  %left = sub {whole} splat (i64 1), %there
  store {whole} %left, ptr %pending, align 8
  %count = call i64 @{sum}({whole} %left)
  ret i64 %count
}}
"""

OPEN = """\
define i64 @count_open(i64 %lanes, ptr %worst, ptr %limit, ptr %pending) nounwind {{
  %w = load {kind}, ptr %worst, align 8
  %limits = load {kind}, ptr %limit, align 8
  %p = load {whole}, ptr %pending, align 8
  %low = fcmp ole {kind} %w, %limits
  %left = select {mask} %low, {whole} zeroinitializer, {whole} %p
  store {whole} %left, ptr %pending, align 8
  %count = call i64 @{sum}({whole} %left)
  ret i64 %count
}}
"""

COMPARED = """\
define i64 @count_stuck(
  i64 %lanes, double %stall, double %slack, ptr %worst, ptr %after, ptr %limit, ptr %pending,
  ptr %stuck, ptr %moved
) nounwind {{
  %stall.one = insertelement {kind} poison, double %stall, i32 0
  %stalls = shufflevector {kind} %stall.one, {kind} poison, <{lanes} x i32> zeroinitializer
  %slack.one = insertelement {kind} poison, double %slack, i32 0
  %slacks = shufflevector {kind} %slack.one, {kind} poison, <{lanes} x i32> zeroinitializer
  %w = load {kind}, ptr %worst, align 8
  %a = load {kind}, ptr %after, align 8
  %limits = load {kind}, ptr %limit, align 8
  %p = load {whole}, ptr %pending, align 8
  %m = load {whole}, ptr %moved, align 8
  %most = fmul {kind} %stalls, %w
  %less = fcmp olt {kind} %a, %most
  %helps = select {mask} %less, {whole} %p, {whole} zeroinitializer
  %near = fmul {kind} %slacks, %limits
  %rounding = fcmp ole {kind} %w, %near
  %stalled = sub {whole} %p, %helps
  %left = select {mask} %rounding, {whole} zeroinitializer, {whole} %stalled
  %takes = icmp sgt {whole} %helps, zeroinitializer
  %new = select {mask} %takes, {kind} %a, {kind} %w
  %both = or {whole} %m, %helps
  store {kind} %new, ptr %worst, align 8
  store {whole} %helps, ptr %pending, align 8
  store {whole} %left, ptr %stuck, align 8
  store {whole} %both, ptr %moved, align 8
  %count = call i64 @{sum}({whole} %left)
  ret i64 %count
}}
"""

ROWS: Mapping[str, Mapping[str, str]] = {
    "largest_of": LARGEST,
    "infinite_of": INFINITE,
    "replaced": REPLACED,
}
SINGLE = {
    "count_above": ABOVE,
    "count_pending": PENDING,
    "count_open": OPEN,
    "count_stuck": COMPARED,
}

LANE_LOOPS = (*ROWS, *SINGLE)
"""Names of these loops."""


def _ir(lanes: int) -> str:
    """IR text of a module with these loops, for so many lanes."""
    form, sum_of = Form(lanes), f"llvm.vector.reduce.add.v{lanes}i64"
    fill = {
        "kind": form.kind, "mask": form.mask, "whole": f"<{lanes} x i64>", "lanes": lanes,
        "suffix": f"v{lanes}f64", "sum": sum_of,
    }  # fmt: skip
    texts = [f"declare i64 @{sum_of}(<{lanes} x i64>)"]
    for name, parts in ROWS.items():
        written = {key: text.format(**fill) for key, text in parts.items()}
        texts.append(LOOP.format(name=name, **written, **fill))
    return "\n".join([*texts, *(text.format(**fill) for text in SINGLE.values())])


@cache
def lane_loops(lanes: int) -> Code:
    """These loops as machine code, once a process."""
    return load(_ir(lanes), LANE_LOOPS)
