"""Printing loops as WebAssembly: structured statements one to one, values on the stack.

Integers are i64, addresses and truth values i32. An address is split into what is known, which
stands in the instruction, and what varies.

Public names: loop_function, loop_key, CHOICES.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial
from typing import Any, final

from liaison.program.loops.language import Loop
from liaison.program.loops.tree import KERNEL_ARGUMENTS, Step, Value

from .encode import (
    OP,
    TYPE,
    VOID,
    Code,
    Function,
    Ref,
    access,
    f64_const,
    i32_const,
    i64_const,
    shortened,
    sorted_locals,
    unsigned,
)
from .fold import (
    Bound,
    Folded,
    Memory,
    all_steps,
    counters_of,
    goes_on,
    is_only,
    is_pure,
    is_small,
    leaves_early,
    read_outside,
    set_in,
    stride,
    values_in,
)

COMPARE = ("lt", "le", "gt", "ge", "eq", "ne")
NATIVE = {"sqrt": "f64.sqrt", "fabs": "f64.abs", "floor": "f64.floor", "copysign": "f64.copysign"}
CHOICES = ("fmin", "fmax")
INDEX = {"add": "i32.add", "sub": "i32.sub", "mul": "i32.mul"}
BITS = {"bitand": "and", "bitor": "or", "bitxor": "xor", "shl": "shl", "shr": "shr"}
HARMLESS = frozenset((
    "const", "local", "cast", "add", "sub", "mul", "div", "neg", "not", "abs", "min", "max", "and",
    "or", *COMPARE,
))  # fmt: skip
MANY = 8
"""What computes without a trap, and how many such values are computed in vain at most."""

LARGEST_OFFSET = 1 << 31


def kind_of(kind: str) -> str:
    """The type of a value on the stack."""
    return kind if kind in ("f64", "i64") else "i32"


def loop_key(loop: Loop[..., Any]) -> Hashable:
    """The key of a loop's function."""
    return ("loop", loop)


def loop_function(
    folded: Folded, others: Mapping[Loop[..., Any], Folded], memory: Memory, module: Any
) -> Function:
    """The function of a folded loop.

    Args:
        folded: the loop.
        others: all loops of the module.
        memory: what is known.
        module: places tables of numbers, and knows functions of other libraries.
    """
    return _Printer(folded, others, memory, module).function()


def is_harmless(value: Value) -> bool:
    """Whether a truth value may be computed though it is not wanted: short, and nothing to miss."""
    values = list(values_in([Step("do", values=(value,))]))
    return len(values) <= MANY and all(
        x.kind in HARMLESS or (x.kind == "field" and x.args[0].kind == "const") for x in values
    )


def chosen(comparison: str) -> Function:
    """The second of two numbers where a comparison holds of it and the first, else the first."""
    x, y = (OP["get"] + unsigned(k) for k in range(2))
    code: Code = [y, x, y, x, OP[comparison], OP["select"]]
    return Function((("f64", "f64"), ("f64",)), (), code)


@final
class _Printer:
    """One function; `value` appends the instructions that push a value."""

    def __init__(
        self,
        folded: Folded,
        others: Mapping[Loop[..., Any], Folded],
        memory: Memory,
        module: Any,
    ) -> None:
        self.folded, self.others, self.memory, self.module = folded, others, memory, module
        self.code: Code = []
        self.places: dict[str, Any] = {name: k for k, (name, _) in enumerate(folded.arguments)}
        self.locals: list[str] = []
        self.free: dict[str, list[int]] = {"f64": [], "i64": [], "i32": []}
        for name, kind in sorted(folded.locals.items(), key=lambda x: kind_of(x[1])):
            self.places[name] = self.new(kind_of(kind))
        self.depth, self.result = 0, 0
        self.exits: list[tuple[int, int]] = []
        self.outside = read_outside(folded.body)
        self.counters = counters_of(folded)

    def function(self) -> Function:
        self.block(self.folded.body)
        has_result = self.folded.result != "void"
        ends = bool(self.folded.body) and self.folded.body[-1].kind == "return"
        if has_result and ends:
            self.code.pop()  # the value is the result
        elif has_result:
            self.put("unreachable")
        results = (kind_of(self.folded.result),) if has_result else ()
        taken = tuple(kind_of(kind) for _, kind in self.folded.arguments)
        return sorted_locals(Function((taken, results), tuple(self.locals), shortened(self.code)))

    # instructions

    def put(self, name: str) -> None:
        self.code.append(OP[name])

    def local(self, name: str, place: int) -> None:
        self.code.append(OP[name] + unsigned(place))

    def new(self, kind: str) -> int:
        """A local without a name."""
        if self.free[kind]:
            return self.free[kind].pop()
        self.locals.append(kind)
        return len(self.folded.arguments) + len(self.locals) - 1

    def release(self, kind: str, *places: int) -> None:
        self.free[kind] += places

    def open(self, name: str, kind: str = "") -> None:
        self.code.append(OP[name] + bytes([TYPE[kind] if kind else VOID]))
        self.depth += 1

    def close(self) -> None:
        self.put("end")
        self.depth -= 1

    def jump(self, name: str, level: int) -> None:
        """To the block that was opened at a depth."""
        self.code.append(OP[name] + unsigned(self.depth - level))

    # statements

    def block(self, steps: Iterable[Step]) -> None:
        for step in steps:
            STEPS[step.kind](self, step)

    def assign(self, step: Step) -> None:
        self.value(step.values[0])
        self.local("set", self.places[step.name])

    def store(self, step: Step) -> None:
        pointer, index, value = step.values
        kind, done = kind_of(value.type), []
        if not is_pure(value):  # what it calls may change what the address follows from
            done = [self.new(kind)]
            self.value(value)
            self.local("set", done[0])
        offset = self.address(pointer, index)
        if done:
            self.local("get", done[0])
        else:
            self.value(value)
        self.code.append(access(f"{kind}.store", offset))
        self.release(kind, *done)

    def put_field(self, step: Step) -> None:
        place, value = step.values
        offset = self.address(place.args[0], None, 8 * place.data.slot)
        self.value(value)
        self.code.append(access(f"{kind_of(value.type)}.store", offset))

    def do(self, step: Step) -> None:
        self.value(step.values[0])
        if step.values[0].type != "void":
            self.put("drop")

    def return_(self, step: Step) -> None:
        if step.values:
            self.value(step.values[0])
        if self.result:
            self.jump("br", self.result)
        else:
            self.put("return")

    def break_(self, step: Step) -> None:
        self.jump("br", self.exits[-1][0])

    def continue_(self, step: Step) -> None:
        self.jump("br", self.exits[-1][1])

    def if_(self, step: Step) -> None:
        test = step.values[0]
        if not step.body:
            test, step = Value("not", "bool", (test,)), Step("if", "", (), step.orelse)
        self.value(test)
        self.open("if")
        self.block(step.body)
        if step.orelse:
            self.put("else")
            self.block(step.orelse)
        self.close()

    def while_(self, step: Step) -> None:
        test = step.values[0]
        is_endless = test.kind == "const"
        self.open("block")
        end = self.depth
        self.open("loop")
        again = self.depth
        if not is_endless:
            self.value(test)
            self.put("i32.eqz")
            self.jump("br_if", end)
        self.exits.append((end, again))
        self.block(step.body)
        self.exits.pop()
        if not (step.body and step.body[-1].kind in ("return", "break", "continue")):
            self.jump("br", again)
        self.close()
        self.close()

    def for_(self, step: Step) -> None:
        """A counter of its own where the body changes the name, or what follows reads it."""
        start, stop, _ = step.values
        changed = set_in(step.body)
        is_plain = step.name not in self.outside and step.name not in changed
        counter = self.places[step.name] if is_plain else self.new("i64")
        is_held = stop.kind == "const" or (stop.kind == "local" and stop.data not in changed)
        last = None if is_held else self.new("i64")
        self.value(start)
        self.local("set", counter)
        if last is not None:
            self.value(stop)
            self.local("set", last)
        push_stop = partial(self.value, stop) if last is None else partial(self.local, "get", last)
        self.counted(step, counter, push_stop, start.kind == stop.kind == "const")
        self.release("i64", *([] if is_plain else [counter]), *([] if last is None else [last]))

    def counted(
        self, step: Step, counter: int, push_stop: Callable[[], None], does_begin: bool
    ) -> None:
        """The body again and again; the comparison stands at its end where it is sure to begin."""
        stride_ = step.values[2].data
        is_plain = counter == self.places[step.name]
        begin = self.depth
        if leaves_early(step.body):
            self.open("block")
        end = self.depth
        self.open("loop")
        again = self.depth

        def compare() -> None:
            push_stop()
            self.put("i64.lt" if stride_ > 0 else "i64.gt")

        if not does_begin:
            self.local("get", counter)
            compare()
            self.open("if")
        if not is_plain:
            self.local("get", counter)
            self.local("set", self.places[step.name])
        self.body_of(step, end)
        self.local("get", counter)
        self.code.append(i64_const(stride_))
        self.put("i64.add")
        self.local("tee" if does_begin else "set", counter)
        if does_begin:
            compare()
        self.jump("br_if" if does_begin else "br", again)
        while self.depth > begin:
            self.close()

    def body_of(self, step: Step, end: int) -> None:
        """The body of a counted loop; where it says `continue`, inside a block of its own."""
        is_inner = goes_on(step.body)
        if is_inner:
            self.open("block")
        self.exits.append((end, self.depth))
        self.block(step.body)
        self.exits.pop()
        if is_inner:
            self.close()

    # values

    def value(self, value: Value) -> None:
        VALUES[value.kind](self, value)

    def const(self, value: Value) -> None:
        kind = kind_of(value.type)
        number = {"f64": f64_const, "i64": i64_const, "i32": i32_const}[kind]
        self.code.append(number(value.data if kind == "f64" else int(value.data)))

    def name(self, value: Value) -> None:
        place = self.places[value.data]
        if isinstance(place, Value):
            self.const(place)
        else:
            self.local("get", place)

    def cast(self, value: Value) -> None:
        self.value(value.args[0])

    def pair(self, value: Value) -> None:
        """Arithmetic and comparisons."""
        kind = kind_of(value.args[0].type)
        for x in value.args:
            self.value(x)
        self.put(f"{kind}.{BITS.get(value.kind, value.kind)}")

    def bits(self, value: Value) -> None:
        """The bits of a float as an integer, and back."""
        self.value(value.args[0])
        self.put(f"{value.type}.reinterpret")

    def neg(self, value: Value) -> None:
        if value.type == "f64":
            self.value(value.args[0])
            self.put("f64.neg")
            return
        self.code.append(i64_const(0))
        self.value(value.args[0])
        self.put("i64.sub")

    def not_(self, value: Value) -> None:
        self.value(value.args[0])
        self.put("i32.eqz")

    def convert(self, value: Value) -> None:
        self.value(value.args[0])
        names = {"bool": "i64.extend_u", "i64": "f64.convert", "f64": "i64.trunc"}
        self.put(names[value.args[0].type])

    def load(self, value: Value) -> None:
        offset = self.address(value.args[0], value.args[1])
        self.code.append(access(f"{kind_of(value.type)}.load", offset))

    def field(self, value: Value) -> None:
        offset = self.address(value.args[0], None, 8 * value.data.slot)
        self.code.append(access(f"{kind_of(value.type)}.load", offset))

    def pointer(self, value: Value) -> None:
        """A pointer some words on."""
        index = value.args[1] if value.kind == "offset" else None
        more = 8 * value.data.slot if value.kind == "inline" else 0
        offset = self.address(value.args[0], index, more, stride(value.type))
        if offset:
            self.code.append(i32_const(offset))
            self.put("i32.add")

    def number_of(self, value: Value) -> None:
        """The number of a function, from a word."""
        self.value(value.args[0])
        self.put("i32.wrap")

    def entry(self, value: Value) -> None:
        offset = self.address(value.args[0], value.args[1])
        self.code.append(access("i64.load", offset))
        self.put("i32.wrap")

    def table(self, value: Value) -> None:
        base = Value("const", "ptr", data=self.module.numbers(value.data, value.type))
        offset = self.address(base, value.args[0])
        self.code.append(access(f"{kind_of(value.type)}.load", offset))

    def address(self, pointer: Value, index: Value | None, offset: int = 0, step: int = 8) -> int:
        """Pushes what varies of an address; returns the rest."""
        while pointer.kind == "cast":
            pointer = pointer.args[0]
        if index is not None and index.kind == "const" and index.data >= 0:
            offset, index = offset + step * index.data, None
        is_known = pointer.kind == "const" and 0 <= offset + pointer.data < LARGEST_OFFSET
        if index is not None and index.kind == "add":
            # at a known address what varies must not be below zero
            numbers = [x.data for x in index.args if x.kind == "const"]
            others = [x for x in index.args if x.kind != "const"]
            is_split = len(others) == 1 and numbers[0] >= 0
            if is_split and (not is_known or self.is_natural(others[0])):
                offset, index = offset + step * numbers[0], others[0]
        if is_known:
            offset += pointer.data
        else:
            self.value(pointer)
        if index is not None:
            self.index(index, step)
            if not is_known:
                self.put("i32.add")
        elif is_known:
            self.code.append(i32_const(0))
        if offset < 0:
            self.code.append(i32_const(offset))
            self.put("i32.add")
            return 0
        return offset

    def is_natural(self, value: Value) -> bool:
        """A counter, or sums and products of such: not below zero."""
        if value.kind in ("add", "mul"):
            return all(map(self.is_natural, value.args))
        if value.kind == "const":
            return bool(value.data >= 0)
        return value.kind == "local" and value.data in self.counters

    def index(self, index: Value, step: int) -> None:
        """An index in bytes."""
        self.small(index)
        if step == 8:
            self.code.append(i32_const(3))
            self.put("i32.shl")
        else:
            self.code.append(i32_const(step))
            self.put("i32.mul")

    def small(self, index: Value) -> None:
        """An integer in 32 bits."""
        if index.kind == "const":
            self.code.append(i32_const(index.data))
        elif index.kind in INDEX:
            for x in index.args:
                self.small(x)
            self.put(INDEX[index.kind])
        else:
            self.value(index)
            self.put("i32.wrap")

    def held(self, value: Value) -> tuple[Callable[[], None], list[int]]:
        """Something that pushes a value again, which is computed once; locals to release."""
        if value.kind in ("const", "local"):
            return (lambda: self.value(value)), []
        place = self.new(kind_of(value.type))
        self.value(value)
        self.local("set", place)
        return (lambda: self.local("get", place)), [place]

    def pick(self, value: Value) -> None:
        """min and max: the second where it is smaller, or larger. Floats by a function for all."""
        kind, name = kind_of(value.type), "lt" if value.kind == "min" else "gt"
        if kind == "f64":
            for arg in value.args:
                self.value(arg)
            key = ("chosen", name)
            self.module.assembly.functions[key] = chosen(f"f64.{name}")
            self.code += [OP["call"], Ref(key)]
            return
        x, y, done = self.two(value)
        y(), x(), y(), x()
        self.put(f"{kind}.{name}")
        self.put("select")
        self.release(kind, *done)

    def two(self, value: Value) -> tuple[Callable[[], None], Callable[[], None], list[int]]:
        x, first = self.held(value.args[0])
        y, second = self.held(value.args[1])
        return x, y, first + second

    def abs_(self, value: Value) -> None:
        if value.type == "f64":
            self.value(value.args[0])
            self.put("f64.abs")
            return
        x, done = self.held(value.args[0])
        self.code.append(i64_const(0))
        x()
        self.put("i64.sub")
        x(), x()
        self.code.append(i64_const(0))
        self.put("i64.lt")
        self.put("select")
        self.release("i64", *done)

    def power(self, value: Value) -> None:
        kind = kind_of(value.type)
        x, done = self.held(value.args[0])
        x()
        for _ in range(value.data - 1):
            x()
            self.put(f"{kind}.mul")
        self.release(kind, *done)

    def divided(self, value: Value) -> None:
        """Quotient or remainder of integers, rounded down."""
        x, y, done = self.two(value)
        rest = self.new("i64")
        x(), y()
        self.put("i64.rem")
        self.local("set", rest)
        if value.kind == "floordiv":
            x(), y()
            self.put("i64.div")
        else:
            self.local("get", rest)
            y()
        self.code.append(i64_const(1 if value.kind == "floordiv" else 0))
        if value.kind == "floordiv":
            self.code.append(i64_const(0))
        # whether the truncated quotient is above the floor
        self.local("get", rest)
        y()
        self.put("i64.xor")
        self.code.append(i64_const(0))
        self.put("i64.lt")
        self.local("get", rest)
        self.code.append(i64_const(0))
        self.put("i64.ne")
        self.put("i32.and")
        self.put("select")
        self.put("i64.sub" if value.kind == "floordiv" else "i64.add")
        self.release("i64", rest, *done)

    def fork(self, value: Value) -> None:
        """`a if c else b`, `and`, `or`: what is not chosen is not computed."""
        test, first, *second = value.args
        yes, no = Value("const", "bool", data=1), Value("const", "bool", data=0)
        then, otherwise = {
            "choice": (first, second[0] if second else no), "and": (first, no), "or": (yes, first),
        }[value.kind]  # fmt: skip
        self.value(test)
        if value.kind != "choice" and is_harmless(first):
            self.value(first)
            self.put(f"i32.{value.kind}")
            return
        self.open("if", kind_of(value.type))
        self.value(then)
        self.put("else")
        self.value(otherwise)
        self.close()

    def math(self, value: Value) -> None:
        name = value.data
        if name == "isfinite":
            self.value(value.args[0])
            self.put("f64.abs")
            self.code.append(f64_const(float("inf")))
            self.put("f64.lt")
        elif name in CHOICES:
            self.other(value)
        else:
            if name in self.memory.elementary:
                self.invoke(self.memory.elementary[name], value.args)
                return
            for x in value.args:
                self.value(x)
            if name in NATIVE:
                self.put(NATIVE[name])
            else:
                self.code += [OP["call"], Ref(self.module.imported(name, len(value.args)))]

    def other(self, value: Value) -> None:
        """The smaller or larger; the other one where one is NaN."""
        x, y, done = self.two(value)
        y(), x(), y(), x()
        self.put("f64.lt" if value.data == "fmin" else "f64.gt")
        x(), x()
        self.put("f64.ne")
        self.put("i32.or")
        self.put("select")
        self.release("f64", *done)

    def call(self, value: Value) -> None:
        self.invoke(value.data, value.args)

    def invoke(self, loop: Loop[..., Any], args: Any) -> None:
        if loop not in self.others:
            self.put("unreachable")
            return
        folded = self.others[loop]
        if is_small(folded) or is_only(folded):
            self.inserted(folded, [args[k] for k in folded.taken])
            return
        for k in folded.taken:
            self.value(args[k])
        self.code += [OP["call"], Ref(loop_key(loop))]

    def inserted(self, folded: Folded, args: Any) -> None:
        """A loop in the place of its call."""
        inner: dict[str, Any] = {}
        used: list[tuple[str, int]] = []
        changed = set_in(folded.body)
        for (name, kind), arg in zip(folded.arguments, args, strict=True):
            place = self.places[arg.data] if arg.kind == "local" else None
            if name not in changed and (arg.kind == "const" or place is not None):
                inner[name] = arg if place is None else place
                continue
            self.value(arg)
            used.append((kind_of(kind), self.new(kind_of(kind))))
            inner[name] = used[-1][1]
            self.local("set", inner[name])
        for name, kind in folded.locals.items():
            used.append((kind_of(kind), self.new(kind_of(kind))))
            inner[name] = used[-1][1]
        outer = self.places, self.counters, self.outside, self.result
        self.places, self.counters = inner, counters_of(folded)
        self.outside, self.result = read_outside(folded.body), self.depth
        self.body(folded)
        self.places, self.counters, self.outside, self.result = outer
        for kind, place in used:
            self.release(kind, place)

    def body(self, folded: Folded) -> None:
        """The statements of a loop that stands in the place of its call, and its result."""
        has_result = folded.result != "void"
        *steps, last = folded.body or (Step("do"),)
        is_last = last.kind == "return"
        early = any(x.kind == "return" for x in all_steps(folded.body if not is_last else steps))
        if early:
            self.open("block", kind_of(folded.result) if has_result else "")
            self.result = self.depth
        self.block(steps if is_last else folded.body)
        if is_last and last.values:
            self.value(last.values[0])
        elif has_result:
            self.put("unreachable")
        if early:
            self.close()

    def kernel(self, value: Value) -> None:
        """An entry, or a loop through a hook: directly where it is known."""
        target, args = value.args[0], value.args[1:]
        if target.kind == "const":
            key = self.memory.functions.get(target.data)
            if isinstance(key, Loop):
                self.invoke(key, args)
                return
            if isinstance(key, Bound):
                first = Value("const", "ptr", data=key.address)
                names = "tqvupx"
                left = [x for k, x in enumerate(args) if names[k : k + 1] not in key.without]
                self.invoke(key.loop, [first, *left])
                return
            if key is None:  # no run gets here
                self.put("unreachable")
                return
            for x in args:
                self.value(x)
            self.code += [OP["call"], Ref(key)]
            return
        for x in args:
            self.value(x)
        self.value(target)
        kinds = tuple(kind_of(x) for x in KERNEL_ARGUMENTS)
        result: tuple[str, ...] = ()
        if value.kind == "hook":
            kinds = tuple(kind_of(x.type) for x in args)
            result = () if value.type == "void" else (kind_of(value.type),)
        self.code += [OP["call_indirect"], Ref((kinds, result)), b"\x00"]


STEPS: dict[str, Callable[[_Printer, Step], None]] = {
    "assign": _Printer.assign, "store": _Printer.store, "put": _Printer.put_field,
    "do": _Printer.do, "return": _Printer.return_, "break": _Printer.break_,
    "continue": _Printer.continue_, "if": _Printer.if_, "while": _Printer.while_,
    "for": _Printer.for_,
}  # fmt: skip
VALUES: dict[str, Callable[[_Printer, Value], None]] = {
    "const": _Printer.const, "local": _Printer.name, "cast": _Printer.cast,
    **dict.fromkeys(("add", "sub", "mul", "div", *COMPARE, *BITS), _Printer.pair),
    "bits": _Printer.bits, "from_bits": _Printer.bits,
    "neg": _Printer.neg, "not": _Printer.not_, "convert": _Printer.convert,
    "load": _Printer.load, "field": _Printer.field, "inline": _Printer.pointer,
    "offset": _Printer.pointer, "address": _Printer.number_of, "entry": _Printer.entry,
    "table": _Printer.table, "min": _Printer.pick, "max": _Printer.pick, "abs": _Printer.abs_,
    "power": _Printer.power, "floordiv": _Printer.divided, "mod": _Printer.divided,
    "choice": _Printer.fork, "and": _Printer.fork, "or": _Printer.fork, "math": _Printer.math,
    "call": _Printer.call, "kernel": _Printer.kernel, "hook": _Printer.kernel,
}  # fmt: skip
