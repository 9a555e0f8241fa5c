"""Printing loops as LLVM IR: one function for each, locals on the stack (passes lift them).

Public names: loops_ir, routines_ir, unique_names, reader_of, declaration, ir, number.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from .language import Loop
from .read import reachable, routine
from .records import Field
from .tree import KERNEL_ARGUMENTS, SATURATING, Kind, Routine, Step, Value, signature

NAMES = {
    "f64": "double", "i64": "i64", "bool": "i1", "ptr": "ptr", "iptr": "ptr", "kernel": "ptr",
    "void": "void",
}  # fmt: skip
INVARIANT = "!0 = !{}"
FLOAT = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
INTEGER = {
    "add": "add", "sub": "sub", "mul": "mul", "bitand": "and", "bitor": "or", "bitxor": "xor",
    "shl": "shl", "shr": "ashr",
}  # fmt: skip
ORDERED = {"lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "eq": "oeq", "ne": "une"}
SIGNED = {"lt": "slt", "le": "sle", "gt": "sgt", "ge": "sge", "eq": "eq", "ne": "ne"}
INTRINSICS = {"sqrt", "fabs", "floor", "copysign"}
RENAMED = {"fmin": "minnum", "fmax": "maxnum"}
TO_INTEGER = "llvm.fptosi.sat.i64.f64"
TWO = {"copysign", "minnum", "maxnum", "atan2", "pow"}


def loops_ir(
    roots: Sequence[Loop[..., Any]],
    *,
    portable: bool = False,
    apart: Sequence[Loop[..., Any]] = (),
) -> str:
    """IR text of the loops and of all they call; `unique_names(roots)` are the symbols.

    Args:
        roots: the loops.
        portable: with functions of our own instead of the mathematical library of the system.
        apart: loops that they call and that another module defines.
    """
    return routines_ir(reachable(roots, reader_of(portable), apart), roots, apart=apart)


def routines_ir(
    routines: Sequence[Routine],
    roots: Sequence[Loop[..., Any]],
    attributes: Callable[[Routine], str] = lambda _: "",
    inline: str = "",
    *,
    apart: Sequence[Loop[..., Any]] = (),
) -> str:
    """IR text of routines.

    Args:
        routines: of the loops, and of all they call.
        roots: loops that others see.
        attributes: of a routine's function, as IR has them.
        inline: definitions of functions that are no loops, which stand in this module.
        apart: loops that they call and that another module defines.
    """
    names = unique_names([*roots, *apart, *(read.loop for read in routines)])
    printers = [
        _Printer(routine, names, set(roots), set(apart), attributes(routine))
        for routine in routines
    ]
    texts = [printer.text() for printer in printers]
    used = {name: None for printer in printers for name in printer.used}
    tables = [line for printer in printers for line in printer.tables]
    outside = {x: None for printer in printers for x in printer.outside}
    entries = {x: None for printer in printers for x in printer.entries}
    outside = {x: None for x in outside if f"@liaison_{x.name}(" not in inline}
    inline = "\n".join([inline, *(x.text for x in outside if x.text)])
    outside = {x: None for x in outside if not x.text}
    declared = [inline, *map(declaration, used), *map(external_declaration, outside)]
    kinds = ", ".join(ir(kind) for kind in KERNEL_ARGUMENTS)
    declared += [f"declare void @{name}({kinds})" for name in entries]
    return "\n".join([*declared, *tables, *texts, INVARIANT, ""])


def reader_of(portable: bool) -> Callable[[Loop[..., Any]], Routine]:
    """What reads loops: as they are, or with functions of our own, which few runs need."""
    if not portable:
        return routine
    from liaison.program.functions.elementary import portable_routine

    return portable_routine


def unique_names(loops: Iterable[Loop[..., Any]]) -> dict[Loop[..., Any], str]:
    """A symbol for each loop; equal names (from enclosing functions) are numbered."""
    names: dict[Loop[..., Any], str] = {}
    seen: dict[str, int] = {}
    for loop in loops:
        if loop not in names:
            count = seen[loop.name] = seen.get(loop.name, 0) + 1
            names[loop] = f"liaison_{loop.name}" + (f"_{count}" if count > 1 else "")
    return names


def ir(kind: str) -> str:
    """A type as IR writes it."""
    return "ptr" if isinstance(kind, Kind) else NAMES[kind]


def declaration(function: str) -> str:
    """`declare` line of a function of doubles (libm or intrinsic)."""
    if function == TO_INTEGER:
        return f"declare i64 @{function}(double)"
    arity = 2 if function.split(".")[-2 if "." in function else 0] in TWO else 1
    return f"declare double @{function}({', '.join(['double'] * arity)})"


def external_declaration(function: Loop[..., Any]) -> str:
    """`declare` line of a function that is no loop."""
    arguments, result = signature(function)
    kinds = ", ".join(ir(kind) for _, kind in arguments)
    return f"declare {ir(result)} @liaison_{function.name}({kinds})"


def number(value: float | int, kind: str) -> str:
    """A constant as IR writes it; floats by their bits."""
    if kind == "f64":
        return "0x" + struct.pack(">d", float(value)).hex().upper()
    return str(int(value))


class _Printer:
    """One function; `value` appends the lines of an expression and returns its operand."""

    def __init__(
        self,
        routine: Routine,
        names: dict[Loop[..., Any], str],
        roots: set[Loop[..., Any]],
        apart: Collection[Loop[..., Any]] = (),
        attributes: str = "",
    ) -> None:
        self.routine, self.names, self.apart = routine, names, apart
        self.attributes = f"nounwind {attributes}".rstrip()
        self.linkage = "" if routine.loop in roots else "internal "
        self.lines: list[str] = []
        self.used: dict[str, None] = {}
        self.outside: dict[Loop[..., Any], None] = {}
        self.entries: dict[str, None] = {}
        self.tables: list[str] = []
        self.named_tables: dict[str, str] = {}
        self.count = 0
        self.label = "entry"
        self.exits: list[tuple[str, str]] = []

    def text(self) -> str:
        read = self.routine
        arguments = ", ".join(f"{ir(kind)} %a.{name}" for name, kind in read.arguments)
        symbol = self.names[read.loop]
        kind = f"{self.linkage}{ir(read.result)}"
        head = f"define {kind} @{symbol}({arguments}) {self.attributes} {{"
        for name, kind in [*read.arguments, *read.locals.items()]:
            self.lines.append(f"  %v.{name} = alloca {ir(kind)}")
        for name, kind in read.arguments:
            self.lines.append(f"  store {ir(kind)} %a.{name}, ptr %v.{name}")
        self.block(read.body)
        self.lines.append("  ret void" if read.result == "void" else "  unreachable")
        return "\n".join([head, "entry:", *self.lines, "}"])

    def fresh(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %x{self.count} = {text}")
        return f"%x{self.count}"

    def mark(self, word: str) -> str:
        self.count += 1
        return f"{word}.{self.count}"

    def place(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        self.lines.append(f"  br label %{label}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        self.lines.append(f"  br i1 {condition}, label %{then}, label %{otherwise}")

    # statements

    def block(self, steps: tuple[Step, ...]) -> None:
        for step in steps:
            getattr(self, f"step_{step.kind}")(step)

    def step_assign(self, step: Step) -> None:
        value = step.values[0]
        self.lines.append(f"  store {ir(value.type)} {self.value(value)}, ptr %v.{step.name}")

    def step_store(self, step: Step) -> None:
        pointer, index, value = step.values
        stored = self.value(value)
        place = self.offset(self.value(pointer), value.type, self.value(index))
        self.lines.append(f"  store {ir(value.type)} {stored}, ptr {place}")

    def step_put(self, step: Step) -> None:
        place, value = step.values
        stored = self.value(value)
        record = self.value(place.args[0])
        self.lines.append(f"  store {ir(value.type)} {stored}, ptr {self.slot(record, place.data)}")

    def step_do(self, step: Step) -> None:
        self.value(step.values[0])

    def step_return(self, step: Step) -> None:
        if step.values:
            self.lines.append(f"  ret {ir(step.values[0].type)} {self.value(step.values[0])}")
        else:
            self.lines.append("  ret void")
        self.place(self.mark("after"))

    def step_break(self, step: Step) -> None:
        self.jump(self.exits[-1][0])
        self.place(self.mark("after"))

    def step_continue(self, step: Step) -> None:
        self.jump(self.exits[-1][1])
        self.place(self.mark("after"))

    def step_if(self, step: Step) -> None:
        then, otherwise, end = self.mark("then"), self.mark("else"), self.mark("end")
        self.branch(self.value(step.values[0]), then, otherwise)
        for label, body in ((then, step.body), (otherwise, step.orelse)):
            self.place(label)
            self.block(body)
            self.jump(end)
        self.place(end)

    def step_while(self, step: Step) -> None:
        test, body, end = self.mark("test"), self.mark("body"), self.mark("end")
        self.jump(test)
        self.place(test)
        self.branch(self.value(step.values[0]), body, end)
        self.inside(body, step, end, test)
        self.jump(test)
        self.place(end)

    def step_for(self, step: Step) -> None:
        start, stop, stride = step.values
        first, last = self.value(start), self.value(stop)
        head, body, again, end = (self.mark(word) for word in ("test", "body", "next", "end"))
        before = self.label
        self.jump(head)
        self.place(head)
        counter, following = f"%i.{head}", f"%j.{head}"
        self.lines.append(f"  {counter} = phi i64 [{first}, %{before}], [{following}, %{again}]")
        going = self.fresh(f"icmp {'slt' if stride.data > 0 else 'sgt'} i64 {counter}, {last}")
        self.branch(going, body, end)
        self.lines.append(f"{body}:")
        self.lines.append(f"  store i64 {counter}, ptr %v.{step.name}")
        inner = self.mark("body")
        self.jump(inner)
        self.inside(inner, step, end, again)
        self.jump(again)
        self.place(again)
        self.lines.append(f"  {following} = add nsw i64 {counter}, {stride.data}")
        self.jump(head)
        self.place(end)

    def inside(self, label: str, step: Step, end: str, again: str) -> None:
        self.exits.append((end, again))
        self.place(label)
        self.block(step.body)
        self.exits.pop()

    # values

    def value(self, value: Value) -> str:
        special = getattr(self, f"value_{value.kind}", None)
        if special is not None:
            return str(special(value))
        args = [self.value(a) for a in value.args]
        kind = value.args[0].type
        if value.kind in ORDERED:
            test = f"fcmp {ORDERED[value.kind]}" if kind == "f64" else f"icmp {SIGNED[value.kind]}"
            return self.fresh(f"{test} {ir(kind)} {args[0]}, {args[1]}")
        name = FLOAT[value.kind] if kind == "f64" else INTEGER[value.kind]
        return self.fresh(f"{name} {ir(kind)} {args[0]}, {args[1]}")

    def value_const(self, value: Value) -> str:
        return number(value.data, value.type)

    def value_symbol(self, value: Value) -> str:
        """An entry by its name."""
        self.entries[value.data] = None
        return f"@{value.data}"

    def value_local(self, value: Value) -> str:
        return self.fresh(f"load {ir(value.type)}, ptr %v.{value.data}")

    def offset(self, pointer: str, kind: str, index: str) -> str:
        return self.fresh(f"getelementptr inbounds {ir(kind)}, ptr {pointer}, i64 {index}")

    def value_load(self, value: Value) -> str:
        pointer, index = (self.value(a) for a in value.args)
        return self.fresh(
            f"load {ir(value.type)}, ptr {self.offset(pointer, value.type, index)}, align 8"
        )

    def value_offset(self, value: Value) -> str:
        pointer, index = (self.value(a) for a in value.args)
        if isinstance(value.type, Kind) and value.type.family == "record":
            kind = f"[{value.type.record.header} x i64]"
            return self.fresh(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")
        return self.offset(pointer, "i64", index)

    def value_cast(self, value: Value) -> str:
        return self.value(value.args[0])

    def slot(self, record: str, field: Field) -> str:
        return self.offset(record, "i64", str(field.slot))

    def value_field(self, value: Value) -> str:
        place = self.slot(self.value(value.args[0]), value.data)
        # counts and offsets are the same as long as the block lives
        mark = ", !invariant.load !0" if value.data.is_fixed else ""
        return self.fresh(f"load {ir(value.type)}, ptr {place}, align 8{mark}")

    def value_inline(self, value: Value) -> str:
        return self.slot(self.value(value.args[0]), value.data)

    def value_address(self, value: Value) -> str:
        return self.fresh(f"inttoptr i64 {self.value(value.args[0])} to ptr")

    def value_entry(self, value: Value) -> str:
        pointer, index = (self.value(a) for a in value.args)
        word = self.fresh(f"load i64, ptr {self.offset(pointer, 'i64', index)}, align 8")
        return self.fresh(f"inttoptr i64 {word} to ptr")

    def value_table(self, value: Value) -> str:
        kind = ir(value.type)
        entries = ", ".join(f"{kind} {number(n, value.type)}" for n in value.data)
        content = f"internal constant [{len(value.data)} x {kind}] [{entries}]"
        known = self.named_tables
        name = known.setdefault(content, f"@{self.names[self.routine.loop]}.table{len(known)}")
        if len(known) > len(self.tables):
            self.tables.append(f"{name} = {content}")
        place = self.offset(name, value.type, self.value(value.args[0]))
        return self.fresh(f"load {kind}, ptr {place}, align 8")

    def value_neg(self, value: Value) -> str:
        x = self.value(value.args[0])
        return self.fresh(f"fneg double {x}" if value.type == "f64" else f"sub i64 0, {x}")

    def value_not(self, value: Value) -> str:
        return self.fresh(f"xor i1 {self.value(value.args[0])}, true")

    def value_convert(self, value: Value) -> str:
        x, before = self.value(value.args[0]), value.args[0].type
        if value.data == SATURATING:
            self.used[TO_INTEGER] = None
            return self.fresh(f"call i64 @{TO_INTEGER}(double {x})")
        name = {"bool": "zext", "i64": "sitofp", "f64": "fptosi"}[before]
        return self.fresh(f"{name} {ir(before)} {x} to {ir(value.type)}")

    def value_bits(self, value: Value) -> str:
        return self.fresh(f"bitcast double {self.value(value.args[0])} to i64")

    def value_from_bits(self, value: Value) -> str:
        return self.fresh(f"bitcast i64 {self.value(value.args[0])} to double")

    def value_power(self, value: Value) -> str:
        x = self.value(value.args[0])
        name = "fmul double" if value.type == "f64" else "mul i64"
        product = x
        for _ in range(value.data - 1):
            product = self.fresh(f"{name} {product}, {x}")
        return product

    def value_floordiv(self, value: Value) -> str:
        x, y = (self.value(a) for a in value.args)
        quotient = self.fresh(f"sdiv i64 {x}, {y}")
        down = self.fresh(f"zext i1 {self.rounds_up(x, y)[1]} to i64")
        return self.fresh(f"sub i64 {quotient}, {down}")

    def value_mod(self, value: Value) -> str:
        x, y = (self.value(a) for a in value.args)
        rest, wrong = self.rounds_up(x, y)
        added = self.fresh(f"select i1 {wrong}, i64 {y}, i64 0")
        return self.fresh(f"add i64 {rest}, {added}")

    def rounds_up(self, x: str, y: str) -> tuple[str, str]:
        """The remainder of the truncated division, and whether that was not the floor."""
        rest = self.fresh(f"srem i64 {x}, {y}")
        signs = self.fresh(f"icmp slt i64 {self.fresh(f'xor i64 {rest}, {y}')}, 0")
        left = self.fresh(f"icmp ne i64 {rest}, 0")
        return rest, self.fresh(f"and i1 {signs}, {left}")

    def value_min(self, value: Value) -> str:
        x, y = (self.value(a) for a in value.args)
        names = ORDERED if value.type == "f64" else SIGNED
        test = "fcmp" if value.type == "f64" else "icmp"
        kind = ir(value.type)
        better = names["lt" if value.kind == "min" else "gt"]
        swap = self.fresh(f"{test} {better} {kind} {y}, {x}")
        return self.fresh(f"select i1 {swap}, {kind} {y}, {kind} {x}")

    value_max = value_min

    def value_abs(self, value: Value) -> str:
        if value.type == "f64":
            return self.function("llvm.fabs.f64", [self.value(value.args[0])])
        x = self.value(value.args[0])
        below = self.fresh(f"icmp slt i64 {x}, 0")
        return self.fresh(f"select i1 {below}, i64 {self.fresh(f'sub i64 0, {x}')}, i64 {x}")

    def value_and(self, value: Value) -> str:
        return self.fork(value.args[0], value.args[1], None)

    def value_or(self, value: Value) -> str:
        return self.fork(value.args[0], None, value.args[1])

    def value_choice(self, value: Value) -> str:
        return self.fork(value.args[0], value.args[1], value.args[2])

    def fork(self, test: Value, then: Value | None, otherwise: Value | None) -> str:
        """The value of the branch taken; None stands for the test's own value."""
        kind = ir((then or otherwise or test).type)
        labels = self.mark("then"), self.mark("else"), self.mark("end")
        condition = self.value(test)
        self.branch(condition, labels[0], labels[1])
        joined = []
        for label, value in zip(labels, (then, otherwise), strict=False):
            self.place(label)
            operand = condition if value is None else self.value(value)
            joined.append(f"[{operand}, %{self.label}]")
            self.jump(labels[2])
        self.place(labels[2])
        return self.fresh(f"phi {kind} {', '.join(joined)}")

    def value_math(self, value: Value) -> str:
        args = [self.value(a) for a in value.args]
        if value.data == "isfinite":
            size = self.function("llvm.fabs.f64", args)
            return self.fresh(f"fcmp olt double {size}, {number(float('inf'), 'f64')}")
        name = RENAMED.get(value.data, value.data)
        intrinsic = name in INTRINSICS or value.data in RENAMED
        return self.function(f"llvm.{name}.f64" if intrinsic else name, args)

    def function(self, name: str, args: list[str]) -> str:
        self.used[name] = None
        return self.fresh(f"call double @{name}({', '.join(f'double {a}' for a in args)})")

    def value_call(self, value: Value) -> str:
        if value.data in self.apart:
            return self.value_external(value)
        args = ", ".join(f"{ir(a.type)} {self.value(a)}" for a in value.args)
        return self.invoke(ir(value.type), f"@{self.names[value.data]}", args)

    def value_external(self, value: Value) -> str:
        self.outside[value.data] = None
        args = ", ".join(f"{ir(a.type)} {self.value(a)}" for a in value.args)
        return self.invoke(ir(value.type), f"@liaison_{value.data.name}", args)

    def value_kernel(self, value: Value) -> str:
        target = self.value(value.args[0])
        kinds = ", ".join(ir(kind) for kind in KERNEL_ARGUMENTS)
        args = ", ".join(f"{ir(a.type)} {self.value(a)}" for a in value.args[1:])
        return self.invoke(f"void ({kinds})", target, args)

    def value_hook(self, value: Value) -> str:
        target = self.value(value.args[0])
        kinds = ", ".join(ir(a.type) for a in value.args[1:])
        args = ", ".join(f"{ir(a.type)} {self.value(a)}" for a in value.args[1:])
        return self.invoke(f"{ir(value.type)} ({kinds})", target, args)

    def invoke(self, kind: str, target: str, args: str) -> str:
        if kind.startswith("void"):
            self.lines.append(f"  call {kind} {target}({args})")
            return ""
        return self.fresh(f"call {kind} {target}({args})")
