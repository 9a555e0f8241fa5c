"""The text of kernels whose worlds are marched in groups, as far as it is theirs alone.

Public names: GROUP_HEAD, GROUP_TAIL, in_spaces, entry_in_spaces, shared_text, place_text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from liaison.program.gpu.pointers import NAMES
from liaison.program.llvm.entries import Form

SPACES = {"%a.run": 5, "%a.scratch": 5, "%a.s": 3}
"""Memory that arguments of loops of a group point to: a thread's own, and that of a block."""

DEFINED = re.compile(
    r"^define internal (\S+) (@\S+?)\(([^\n]*)\)( [^\n]*)\{\nentry:\n(.*?)^\}", re.M | re.S
)


def in_spaces(text: str) -> str:
    """The same loops, each of which knows which memory its arguments point to.

    Functions that are called take pointers of the kind of memory, and what is called in their place
    says so: loads and stores are then of that kind.
    """

    def known(match: re.Match[str]) -> str:
        arguments = [x.rsplit(" ", 1) for x in match[3].split(", ")]
        spaces = {name: SPACES[name] for _, name in arguments if name in SPACES}
        if "alwaysinline" in match[4] or not spaces:
            return match[0]
        casts = [
            f"  {x} = addrspacecast ptr addrspace({space}) {x}.near to ptr"
            for x, space in spaces.items()
        ]
        return _twofold(match, spaces, "\n".join(casts) + "\n" + match[5], ".near")

    return DEFINED.sub(known, text)


def entry_in_spaces(text: str) -> str:
    """The same entry, which reads and writes a thread's own memory."""

    def known(match: re.Match[str]) -> str:
        if "noalias" not in match[3]:
            return match[0]
        spaces = dict.fromkeys((f"%{x}" for x in NAMES), 5)
        return _twofold(match, spaces, match[5].replace("ptr %", "ptr addrspace(5) %"), "")

    return DEFINED.sub(known, text)


def _twofold(match: re.Match[str], spaces: Mapping[str, int], body: str, mark: str) -> str:
    """A function of pointers to kinds of memory, and one of any pointers that calls it."""
    kind, name, text, marks = match[1], match[2], match[3], match[4]
    own, passed, casts = [], [], []
    for argument in text.split(", "):
        form, value = argument.rsplit(" ", 1)
        space = spaces.get(value)
        if space is None:
            own.append(argument)
            passed.append(argument)
            continue
        pointer = f"ptr addrspace({space})"
        own.append(f"{form.replace('ptr', pointer)} {value}{mark}")
        passed.append(f"{pointer} {value}.to")
        casts.append(f"  {value}.to = addrspacecast ptr {value} to {pointer}")
    call = f"call {kind} {name}.own({', '.join(passed)})"
    ends = [f"  {call}", "  ret void"] if kind == "void" else [f"  %r = {call}", f"  ret {kind} %r"]
    plain = text.replace(" noalias", "")
    quick = marks.replace("noinline", "").rstrip() + " alwaysinline"
    inner = f"define internal {kind} {name}.own({', '.join(own)}){marks}{{"
    outer = f"define internal {kind} {name}({plain}){quick} {{"
    return "\n".join([inner, "entry:", body.rstrip(), "}", outer, *casts, *ends, "}"])


LANE = """\
define internal i32 @liaison_lane() alwaysinline nounwind {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %thread
}"""
ONE_LANE = """\
define internal i32 @liaison_lane() alwaysinline nounwind {
  ret i32 0
}"""
INVERSE = """\
define internal {real} @liaison_inverse_of({real} %x) alwaysinline nounwind {{
  %y = fdiv {real} {one}, %x
  ret {real} %y
}}"""
QUICK_INVERSE = """\
declare {real} @llvm.nvvm.rcp.approx.ftz.{letter}({real})
define internal {real} @liaison_inverse_of({real} %x) alwaysinline nounwind {{
  %minus = fneg {real} %x
  %y0 = call {real} @llvm.nvvm.rcp.approx.ftz.{letter}({real} %x)
  %e0 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y0, {real} {one})
  %y1 = call {real} @llvm.fma.f{bits}({real} %y0, {real} %e0, {real} %y0)
  %e1 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y1, {real} {one})
  %y2 = call {real} @llvm.fma.f{bits}({real} %y1, {real} %e1, {real} %y1)
  %e2 = call {real} @llvm.fma.f{bits}({real} %minus, {real} %y2, {real} {one})
  %y3 = call {real} @llvm.fma.f{bits}({real} %y2, {real} %e2, {real} %y2)
  ret {real} %y3
}}"""


def shared_text(words_shared: int, form: Form, *, gpu: bool) -> list[str]:
    """What threads of a group share, and which of them one is."""
    bits = 64 if form.real == "double" else 32
    words = {"real": form.real, "letter": form.real[0], "bits": bits, "one": form.number(1.0)}
    inverse = (QUICK_INVERSE if gpu else INVERSE).format(**words)
    if not gpu:
        return [ONE_LANE, inverse]
    size = f"[{words_shared} x {form.real}]"
    return [LANE, inverse, f"@liaison_shared = internal addrspace(3) global {size} undef, align 16"]


GROUP_HEAD = """\
enter:
  %run = alloca [{words} x {bits}], align 8
  %scratch = alloca [{scratch} x {real}], align 8
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %width = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %before = mul i32 %block, %width
  %i = add i32 %before, %thread
  %shared = addrspacecast ptr addrspace(3) @liaison_shared to ptr
  br label %world
world:"""
GROUP_PLACE = """\
  %all = zext i32 %count to i64
  %behind = mul i64 %all, {carried}
  %which = zext i32 {which} to i64
  %own = mul i64 %which, {group}
  %far = add i64 %behind, %own
  %group = getelementptr inbounds {real}, ptr {pointer}, i64 %far"""
GROUP_TAIL = """\
  ret void
}"""


def place_text(carried: int, group: int, real: str, *, gpu: bool) -> list[str]:
    """Where what a group keeps begins."""
    place = GROUP_PLACE.format(
        carried=carried, group=group, real=real, which="%block" if gpu else "%i",
        pointer="%carried.any" if gpu else "%carried",
    )  # fmt: skip
    return [place] if gpu else [place, f"  %shared = getelementptr {real}, ptr %pool, i64 0"]
