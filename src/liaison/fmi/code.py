"""The code of an FMU as LLVM IR: FMI functions around loops, texts, the first memory, entries.

Loops and entries are those of a run, portable. What is special about one FMU is here: FMI's own
signatures, in the C convention of the target; the table of texts; the content of a new instance;
the addresses of functions in it; and a few functions that the loop language does not have.

Public names: modules, Texts, loops_of, image_of, linked_words, parameters_at,
count_beside.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.program.functions.elementary import FUNCTIONS, portable_routine
from liaison.program.libraries.modules import INNER, Module, inner_module
from liaison.program.llvm.entries import Module as EntryModule
from liaison.program.llvm.entries import shared_functions
from liaison.program.llvm.portable import PORTABLE
from liaison.program.loops.compile import loops_key
from liaison.program.loops.language import Loop
from liaison.program.loops.llvm import ir, loops_ir, routines_ir, unique_names
from liaison.program.loops.read import reachable
from liaison.program.loops.tree import Routine, signature
from liaison.program.wasm.fold import values_in
from liaison.simulation.steps.layout import Run

from .folding import folded_routines, is_foldable, reached, roots_of, unread_words
from .functions import LOOPS, Function, exports
from .layout import Instance
from .memory import Bound, Memory

KINDS = {"I": "ptr", "A": "ptr", "D": "ptr", "q": "ptr", "a": "ptr", "z": "i64", "i": "i32",
         "u": "i32", "b": "i8", "d": "double"}  # fmt: skip
RESULTS = {"s": "i32", "p": "ptr", "v": "void"}
SMALL = "minsize optsize"
"""What LLVM is asked for where speed does not matter, and in loops, which it does not slow down."""

LONG = 400
"""Values in a loop that stands in the place of its only call, at most."""

OURS = re.compile(r"\b(define|declare|call) (\w+ @liaison_)")
"""Functions of inner modules, or called by them, in IR text."""

CLOSE = 4
"""Words of zeros between two stretches of memory that are stored with them."""

ACCESS = """\
define ptr @liaison_words_at(i64 %a) nounwind {
  %p = inttoptr i64 %a to ptr
  ret ptr %p
}
define ptr @liaison_doubles_at(i64 %a) nounwind {
  %p = inttoptr i64 %a to ptr
  ret ptr %p
}
define i64 @liaison_address_of(ptr %p) nounwind {
  %a = ptrtoint ptr %p to i64
  ret i64 %a
}
define i64 @liaison_load_byte(i64 %a) nounwind {
  %p = inttoptr i64 %a to ptr
  %x = load i8, ptr %p, align 1
  %y = zext i8 %x to i64
  ret i64 %y
}
define i64 @liaison_load_half(i64 %a) nounwind {
  %p = inttoptr i64 %a to ptr
  %x = load i32, ptr %p, align 4
  %y = zext i32 %x to i64
  ret i64 %y
}
define i64 @liaison_load_word(i64 %a) nounwind {
  %p = inttoptr i64 %a to ptr
  %x = load i64, ptr %p, align 8
  ret i64 %x
}
define void @liaison_store_byte(i64 %a, i64 %x) nounwind {
  %p = inttoptr i64 %a to ptr
  %y = trunc i64 %x to i8
  store i8 %y, ptr %p, align 1
  ret void
}
define void @liaison_store_half(i64 %a, i64 %x) nounwind {
  %p = inttoptr i64 %a to ptr
  %y = trunc i64 %x to i32
  store i32 %y, ptr %p, align 4
  ret void
}
define void @liaison_store_word(i64 %a, i64 %x) nounwind {
  %p = inttoptr i64 %a to ptr
  store i64 %x, ptr %p, align 8
  ret void
}
"""
"""Memory by its address: in the module of folded loops each stands in the place of its calls."""

MACHINE = """\
@__imp_calloc = external global ptr
@__imp_free = external global ptr
@image = external hidden constant [0 x i64]
@texts = external hidden constant [0 x i8]
@text_starts = external hidden constant [0 x i64]

define i64 @liaison_allocate(i64 %n) nounwind {
  %f = load ptr, ptr @__imp_calloc
  %p = call ptr %f(i64 %n, i64 8)
  %a = ptrtoint ptr %p to i64
  ret i64 %a
}
define void @liaison_release(i64 %a) nounwind {
  %f = load ptr, ptr @__imp_free
  %p = inttoptr i64 %a to ptr
  call void %f(ptr %p)
  ret void
}
define ptr @liaison_image_table() nounwind {
  ret ptr @image
}
define i64 @liaison_text_at(i64 %k) nounwind {
  %place = getelementptr i64, ptr @text_starts, i64 %k
  %start = load i64, ptr %place
  %text = getelementptr i8, ptr @texts, i64 %start
  %a = ptrtoint ptr %text to i64
  ret i64 %a
}
"""
LOG_HEAD = """\
define void @liaison_log_message(i64 %logger, i64 %e, i64 %n, i64 %s, i64 %c, i64 %m) nounwind {
  %f = inttoptr i64 %logger to ptr
  %environment = inttoptr i64 %e to ptr
  %name = inttoptr i64 %n to ptr
  %status = trunc i64 %s to i32
  %category = inttoptr i64 %c to ptr
  %message = inttoptr i64 %m to ptr
"""
LOG2 = (
    LOG_HEAD
    + """\
  call void (ptr, ptr, i32, ptr, ptr, ...) %f(ptr %environment, ptr %name, i32 %status,
    ptr %category, ptr @format, ptr %message)
  ret void
}
@format = internal constant [3 x i8] c"%s\\00"
"""
)
LOG3 = (
    LOG_HEAD
    + """\
  call void %f(ptr %environment, i32 %status, ptr %category, ptr %message)
  ret void
}
"""
)
UPDATE = """\
define i64 @liaison_call_update(i64 %update, i64 %e, double %t, i64 %may) nounwind {
  %f = inttoptr i64 %update to ptr
  %environment = inttoptr i64 %e to ptr
  %wants = alloca i64
  %time = alloca double
  store i64 0, ptr %wants
  store double %t, ptr %time
  %may32 = trunc i64 %may to i32
  call void %f(ptr %environment, double %t, i32 0, i32 1, i32 1, i32 %may32, ptr %wants, ptr %time)
  %asked = load i8, ptr %wants
  %is = icmp ne i8 %asked, 0
  %wide = zext i1 %is to i64
  %both = and i64 %wide, %may
  ret i64 %both
}
"""
"""A Boolean argument is passed as 32 bits, of which whoever is called looks at the lowest."""


@final
@dataclass(frozen=True, slots=True)
class Texts:
    """Texts of an FMU by number; where each group of them begins."""

    listed: tuple[str, ...]
    starts: Mapping[str, int]


def modules(memory: Memory, texts: Texts, version: int) -> list[str | Module]:
    """The code of an FMU, in parts of which those that many FMUs share come from the cache."""
    folds = is_foldable(memory)
    loops = roots_of(memory) if folds else loops_of(memory)
    names = unique_names(loops)
    own = "\n".join([_texts(texts), _image(memory), *_links(memory, names)])
    own = _declared(own, loops, names, memory)
    common = "\n".join([
        ACCESS, MACHINE, LOG2 if version == 2 else LOG3, UPDATE,
        *(_wrapper(x, k, names) for k, x in enumerate(exports(version).values())),
    ])  # fmt: skip
    common = _declared(common.replace(" nounwind {", f" nounwind {SMALL} {{"), loops, names, None)
    common = OURS.sub(rf"\1 {INNER} \2", common)
    if not folds:
        text, key = partial(loops_ir, loops, portable=True), loops_key(loops, portable=True)
        shared = Module(text, key, is_inner=True)
        return [*map(inner_module, (own, _entries(memory))), common, shared]
    return [*map(inner_module, (own, _entries(memory), _folded(memory))), common, _elementary()]


def _folded(memory: Memory) -> str:
    """Loops for one model, small; without elementary functions."""
    elementary = list(FUNCTIONS.values())
    routines = folded_routines(memory, symbol_of)
    own = [x for x in roots_of(memory) if x not in elementary]
    kept = reached(routines, own, elementary)
    inline = ACCESS.replace("define ", "define internal ").replace("nounwind", "alwaysinline")
    calls = Counter(x.data for one in kept for x in values_in(one.body) if x.kind == "call")

    def attributes(one: Routine) -> str:
        is_once = calls[one.loop] == 1 and one.loop not in roots_of(memory)
        is_short = sum(1 for _ in values_in(one.body)) <= LONG
        return f"alwaysinline {SMALL}" if is_once and is_short else SMALL

    text = routines_ir(kept, roots_of(memory), attributes, inline)
    return _declared(text, elementary, unique_names(elementary), None)


def _elementary() -> Module:
    """Elementary functions, the same in every FMU."""
    listed = list(FUNCTIONS.values())

    def text() -> str:
        return routines_ir(reachable(listed, portable_routine), listed, lambda _: SMALL)

    return Module(text, f"{SMALL} {loops_key(listed, portable=True)}", is_inner=True)


def loops_of(memory: Memory) -> list[Loop[..., Any]]:
    """Elementary functions first, so that they have their names; FMI's; those of the run."""
    bound = [x.loop for x in memory.functions if isinstance(x, Bound)]
    own = [x for x in memory.functions if isinstance(x, Loop)]
    return list(dict.fromkeys([*FUNCTIONS.values(), *LOOPS, *own, *bound]))


def _entries(memory: Memory) -> str:
    """All entries."""
    module = EntryModule(PORTABLE)
    bodies = []
    for k, program in enumerate(memory.programs):
        plans = {symbol_of(x): y for x, y in memory.plans.items() if x[0] == k}
        bodies.append(shared_functions(module, program, plans, f"part_{k}"))
    return "\n".join([*module.declarations(), *bodies, module.tail(), ""])


def symbol_of(key: Hashable) -> str:
    """The symbol of an entry, or of a loop with a record."""
    if isinstance(key, Bound):
        return f"bound_{key.loop.name}"
    assert isinstance(key, tuple)
    return f"entry_{key[0]}_{key[1]}"


def _texts(texts: Texts) -> str:
    """Texts in a row, each ended by a zero, and where each begins."""
    blob, starts = b"", []
    for text in texts.listed:
        starts.append(len(blob))
        blob += text.encode() + b"\0"
    body = "".join(f"\\{x:02X}" for x in blob)
    places = ", ".join(f"i64 {x}" for x in starts)
    return (
        f'@texts = hidden constant [{len(blob)} x i8] c"{body}"\n'
        f"@text_starts = hidden constant [{len(starts)} x i64] [{places}]\n"
    )


def image_of(memory: Memory) -> list[int]:
    """The table that a new instance is filled from."""
    words: NDArray[np.int64] = memory.words.copy()
    words[[*memory.marked, *unread_words(memory)]] = 0
    filled = np.flatnonzero(words)
    table = [memory.end, 0]
    if filled.size:
        cuts = np.flatnonzero(np.diff(filled) > 1 + CLOSE)
        starts, ends = filled[[0, *(cuts + 1)]], filled[[*cuts, -1]] + 1
        table[1] = len(starts)
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            table += [start, end - start, *words[start:end].tolist()]
    return table


def _image(memory: Memory) -> str:
    table = image_of(memory)
    body = ", ".join(f"i64 {x}" for x in table)
    return f"@image = hidden constant [{len(table)} x i64] [{body}]\n"


def linked_words(memory: Memory) -> dict[int, Hashable]:
    """Word of an instance -> the function whose address is read there."""
    unread = {*unread_words(memory)}
    return {place: key for place, key in memory.marked.items() if place not in unread}


def _links(memory: Memory, names: Mapping[Loop[..., Any], str]) -> list[str]:
    """What writes the addresses of functions, and entries that are loops with a record."""
    lines = ["define void @liaison_link_functions(ptr %words) nounwind {"]
    for n, (place, key) in enumerate(linked_words(memory).items()):
        symbol = names[key] if isinstance(key, Loop) else symbol_of(key)
        lines.append(f"  %p{n} = getelementptr i64, ptr %words, i64 {place}")
        lines.append(f"  store ptr @{symbol}, ptr %p{n}")
    lines += ["  ret void", "}", ""]
    return ["\n".join(lines), *_bound(memory, names)]


def parameters_at(memory: Memory) -> int:
    """The word of an instance at which parameters begin."""
    fmu = Instance(memory.blocks[0])
    run = Run(memory.blocks[memory.starts.index(int(fmu.run_at))])
    return int(fmu.run_at) + int(run.span("p").start)


def _bound(memory: Memory, names: Mapping[Loop[..., Any], str]) -> list[str]:
    """Entries that are loops with a record, which lies at a known distance from parameters."""
    texts = []
    for key in memory.functions:
        if isinstance(key, Bound):
            places = {x.ctypes.data: k for k, x in zip(memory.starts, memory.blocks, strict=True)}
            away = places[key.block] - parameters_at(memory)
            texts.append(
                f"define void @{symbol_of(key)}(double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, "
                "ptr %out, ptr %work) nounwind {\n"
                f"  %record = getelementptr i64, ptr %p, i64 {away}\n"
                f"  call void @{names[key.loop]}(ptr %record, double %t, ptr %q, ptr %v, ptr %u, "
                "ptr %p, ptr %x, ptr %out, ptr %work)\n  ret void\n}\n"
            )
    return texts


def _wrapper(function: Function, number: int, names: Mapping[Loop[..., Any], str]) -> str:
    """An FMI function: the state checked, arrays looked at, the loop called."""
    kinds = [KINDS[x] for x in function.arguments]
    arguments = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds))
    result = RESULTS[function.result]
    lines = [f"define {result} @{function.name}({arguments}) nounwind {{"]
    if function.loop is None:
        return "\n".join([*lines, *_text_returned(function), "}", ""])
    if function.mask:
        lines += _checks(function, number)
    lines += _call(function, number, function.loop, names)
    return "\n".join([*lines, "}", ""])


def _text_returned(function: Function) -> list[str]:
    if not function.passed:
        return ["  ret ptr null"]
    number = function.passed[0].removeprefix("#")
    return [
        f"  %a = call i64 @liaison_text_at(i64 {number})", "  %p = inttoptr i64 %a to ptr",
        "  ret ptr %p",
    ]  # fmt: skip


def _checks(function: Function, number: int) -> list[str]:
    """An error is returned in the wrong state, and where an array is missing."""
    lines = [
        f"  %is = call i64 @liaison_is_allowed(ptr %a0, i64 {number}, i64 {function.mask})",
        "  %bad = icmp eq i64 %is, 0",
        "  br i1 %bad, label %wrong, label %check1",
        "wrong:",
        "  ret i32 3",
    ]
    letters = function.arguments
    for k, letter in enumerate(letters):
        lines += [f"check{k}:"] if k else []
        if k == 0:
            continue
        after = f"check{k + 1}"
        if letter in "ADq":
            count = "1" if letter == "q" else f"%a{count_beside(letters, k)}"
            lines += [
                f"  %n{k} = ptrtoint ptr %a{k} to i64",
                f"  %m{k} = call i64 @liaison_is_missing(ptr %a0, i64 {number}, i64 %n{k}, "
                f"i64 {count})",
                f"  %b{k} = icmp ne i64 %m{k}, 0",
                f"  br i1 %b{k}, label %wrong, label %{after}",
            ]
        else:
            lines.append(f"  br label %{after}")
    return [*lines, f"check{len(letters)}:"]


def count_beside(letters: str, k: int) -> int:
    """The argument that counts an array: the next size after it, else the one before."""
    later = letters.find("z", k)
    return later if later >= 0 else letters.rfind("z", 0, k)


def _call(
    function: Function, number: int, loop: Loop[..., Any], names: Mapping[Loop[..., Any], str]
) -> list[str]:
    """The call of the loop with arguments as it takes them."""
    lines: list[str] = []
    own = ["ptr %a0"] if function.arguments.startswith("I") else []
    own += [f"i64 {number}"] if function.mask else []
    kinds = [kind for _, kind in signature(loop)[0]][len(own) :]
    for n, (place, kind) in enumerate(zip(function.passed, kinds, strict=True)):
        if place.startswith("#"):
            own.append(f"i64 {place[1:]}")
            continue
        kind_c = KINDS[function.arguments[int(place)]]
        wanted = ir(kind)
        if kind_c == wanted:
            own.append(f"{wanted} %a{place}")
            continue
        word = {"ptr": "ptrtoint", "i32": "sext", "i8": "zext"}[kind_c]
        if function.arguments[int(place)] == "u":
            word = "zext"
        lines.append(f"  %x{n} = {word} {kind_c} %a{place} to {wanted}")
        own.append(f"{wanted} %x{n}")
    call = f"@{names[loop]}({', '.join(own)})"
    if function.result == "v":
        return [*lines, f"  call void {call}", "  ret void"]
    lines.append(f"  %r = call i64 {call}")
    word = "trunc i64 %r to i32" if function.result == "s" else "inttoptr i64 %r to ptr"
    return [*lines, f"  %s = {word}", f"  ret {RESULTS[function.result]} %s"]


def _declared(
    text: str,
    loops: Sequence[Loop[..., Any]],
    names: Mapping[Loop[..., Any], str],
    memory: Memory | None,
) -> str:
    """The text with declarations of loops and entries that other parts define."""
    lines = []
    for loop in dict.fromkeys(loops):
        if f"@{names[loop]}(" in text or f"@{names[loop]}," in text:
            arguments, result = signature(loop)
            kinds = ", ".join(ir(kind) for _, kind in arguments)
            lines.append(f"declare {ir(result)} @{names[loop]}({kinds})")
    entry = "double, ptr, ptr, ptr, ptr, ptr, ptr, ptr"
    for key in memory.functions if memory else ():
        if isinstance(key, tuple):
            lines.append(f"declare void @{symbol_of(key)}({entry})")
    return "\n".join([*lines, text])
