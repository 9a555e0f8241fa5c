"""Loops with what is known of a run folded in: sizes, places of arrays, entries, choices.

A module for one mechanism holds its records at fixed addresses. What no loop ever changes there
becomes a number in the code; branches that are never taken go; an argument that is the same number
in every call is no argument any more. What remains is a small part of what the loops could do.

Public names: Memory, Folded, fold_loops, unread, Bound, values_in, stride, is_pure, is_small,
is_only, counters_of, read_outside, all_steps, set_in, leaves_early, goes_on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any, TypeAlias, final

from liaison.program.functions.elementary import broken_power
from liaison.program.loops.language import Loop
from liaison.program.loops.read import routine
from liaison.program.loops.tree import Kind, Routine, Step, Value

AnyLoop: TypeAlias = Loop[..., Any]
Numbers: TypeAlias = dict[str, int | float]
VARIES, MANY = "varies", 1000
SMALL, LONG = 24, 400
"""Values in a loop of plain assignments that stands in place of its calls, or of the only one."""


@final
@dataclass(frozen=True, slots=True)
class Bound:
    """An entry that is a loop with the address of a record before the arguments of every entry."""

    loop: AnyLoop
    address: int
    without: tuple[str, ...] = ()


@final
@dataclass(slots=True)
class Memory:
    """What is known before a run begins.

    Attributes:
        words: address -> number that never changes.
        owners: address of such a number -> the record whose field it is.
        functions: number of a function -> its key: a loop, a `Bound`, or any other of an entry.
        elementary: name of a function such as sin -> the loop that computes it.
        idle: loops that no run calls.
        fields: record and name of a field -> its number, of records that exist once each.
        instead: loop -> the one that is called in its place.
        reader: what reads a loop.
        used: those of `fields` that some loop reads, in the end.
    """

    words: dict[int, int] = field(default_factory=dict)
    owners: dict[int, type] = field(default_factory=dict)
    functions: dict[int, Hashable] = field(default_factory=dict)
    elementary: Mapping[str, AnyLoop] = field(default_factory=dict)
    idle: frozenset[AnyLoop] = frozenset()
    fields: Mapping[tuple[type, str], int] = field(default_factory=dict)
    instead: Mapping[AnyLoop, AnyLoop] = field(default_factory=dict)
    reader: Callable[[AnyLoop], Routine] = routine
    used: set[tuple[type, str]] = field(default_factory=set)


@final
@dataclass(frozen=True, slots=True)
class Folded:
    """A loop as it is printed: the arguments that are left, its statements, and its locals.

    Attributes:
        loop: the loop.
        arguments: names and types of those that are passed.
        taken: which they are among all arguments.
        result: its type.
        body: statements.
        locals: name -> type.
        sites: calls of it in other loops.
    """

    loop: AnyLoop
    arguments: tuple[tuple[str, str], ...]
    taken: tuple[int, ...]
    result: str
    body: tuple[Step, ...]
    locals: Mapping[str, str]
    sites: int = 0


def fold_loops(
    roots: Mapping[AnyLoop, Sequence[int | None]], bound: Iterable[Bound], memory: Memory
) -> dict[AnyLoop, Folded]:
    """The loops and all they call, folded.

    Args:
        roots: loop -> its arguments, None for those that whoever calls it passes.
        bound: entries that are loops.
        memory: what is known.
    """
    known: dict[AnyLoop, list[Any]] = {}
    waiting: dict[AnyLoop, None] = {}
    folded: dict[AnyLoop, Folded] = {}

    def meet(loop: AnyLoop, numbers: Sequence[int | float | None]) -> None:
        values = [VARIES if x is None else x for x in numbers]
        before = known.get(loop)
        joined = values if before is None else [_met(x, y) for x, y in zip(before, values)]
        if joined != before:
            known[loop] = joined
            waiting[loop] = None

    for loop, numbers in roots.items():
        meet(loop, numbers)
    for one in bound:
        rest = len(memory.reader(one.loop).arguments) - 1
        meet(one.loop, [one.address, *[None] * rest])
    while waiting:
        loop = next(iter(waiting))
        del waiting[loop]
        folded[loop] = _Folding(loop, known[loop], memory).folded()
        for callee, args in called(folded[loop].body, memory):
            if callee in memory.idle:
                continue
            meet(callee, [_number(x) for x in args])
    sites = Counter(x for one in folded.values() for x, _ in called(one.body, memory))
    elsewhere = {*roots, *(x.loop for x in bound)}
    return {
        loop: replace(one, sites=MANY if loop in elsewhere else sites[loop])
        for loop, one in folded.items()
    }


def unread(folded: Iterable[Folded], memory: Memory) -> set[int]:
    """Addresses of known words that no loop reads: they stand in the code."""
    addresses: set[int] = set()
    elsewhere: set[type] = set()
    for value in (x for one in folded for x in values_in(one.body) if x.kind == "field"):
        place = value.args[0]
        if place.kind == "const":
            addresses.add(place.data + 8 * value.data.slot)
        else:
            elsewhere.add(place.type.record)  # type: ignore[attr-defined]
    return {x for x, owner in memory.owners.items() if owner not in elsewhere} - addresses


def _number(value: Value) -> int | None:
    """What an argument always is; floats are left, since −0 equals 0."""
    return value.data if value.kind == "const" and value.type != "f64" else None


def _met(x: Any, y: Any) -> Any:
    return x if type(x) is type(y) and x == y else VARIES


def values_in(steps: Iterable[Step]) -> Iterator[Value]:
    """All values of statements, each before its arguments."""
    todo = list(steps)
    while todo:
        step = todo.pop()
        todo += [*step.body, *step.orelse]
        values = list(step.values)
        while values:
            value = values.pop()
            yield value
            values += value.args


def called(steps: Iterable[Step], memory: Memory) -> Iterator[tuple[AnyLoop, tuple[Value, ...]]]:
    """The loops that statements call, with their arguments."""
    for value in values_in(steps):
        if value.kind == "call":
            yield value.data, value.args
        elif value.kind == "math" and value.data in memory.elementary:
            yield memory.elementary[value.data], value.args
        elif value.kind == "hook" and value.args[0].kind == "const" and value.args[0].data:
            target = memory.functions[value.args[0].data]
            assert isinstance(target, Loop)
            yield target, value.args[1:]


def _assigned(steps: Iterable[Step]) -> dict[str, int]:
    """Name -> how often it is assigned to; the counter of a loop counts as twice."""
    counts: dict[str, int] = {}
    todo = list(steps)
    while todo:
        step = todo.pop()
        todo += [*step.body, *step.orelse]
        if step.kind in ("assign", "for"):
            counts[step.name] = counts.get(step.name, 0) + (2 if step.kind == "for" else 1)
    return counts


@final
class _Folding:
    """Folds one loop under what is known of its arguments."""

    def __init__(self, loop: AnyLoop, arguments: Sequence[Any], memory: Memory) -> None:
        self.read, self.memory = memory.reader(loop), memory
        changed = _assigned(self.read.body)
        names = [name for name, _ in self.read.arguments]
        self.numbers: Numbers = {
            name: x
            for name, x in zip(names, arguments, strict=True)
            if x is not VARIES and name not in changed
        }

    def folded(self) -> Folded:
        body = self.block(self.read.body)
        while True:
            counts = _assigned(body)
            single = {
                step.name: step.values[0].data
                for step in _assignments(body)
                if counts[step.name] == 1 and step.values[0].kind == "const"
                and step.name in self.read.locals
            }  # fmt: skip
            if not single:
                break
            self.numbers |= single
            body = self.block(body)
        used = {x.data for x in values_in(body) if x.kind == "local"} | {*_assigned(body)}
        taken = tuple(
            k for k, (name, _) in enumerate(self.read.arguments) if name not in self.numbers
        )
        return Folded(
            self.read.loop,
            tuple(self.read.arguments[k] for k in taken),
            taken,
            self.read.result,
            body,
            {name: kind for name, kind in self.read.locals.items() if name in used},
        )

    def block(self, steps: Iterable[Step]) -> tuple[Step, ...]:
        folded: list[Step] = []
        for step in steps:
            folded += self.step(step)
            if folded and folded[-1].kind in ("return", "break", "continue"):
                break
        return tuple(folded)

    def step(self, step: Step) -> Sequence[Step]:
        """The statements that are left of one."""
        if step.kind == "assign" and step.name in self.numbers:
            return ()
        values = tuple(self.value(x) for x in step.values)
        first = values[0] if values else None
        if step.kind == "if" and first is not None and first.kind == "const":
            return self.block(step.body if first.data else step.orelse)
        if step.kind == "while" and first is not None and first.kind == "const" and not first.data:
            return ()
        if step.kind == "for" and _is_empty(values):
            return ()
        body, orelse = self.block(step.body), self.block(step.orelse)
        if step.kind == "if" and not body and not orelse and is_pure(values[0]):
            return ()
        return (Step(step.kind, step.name, values, body, orelse),)

    def value(self, value: Value) -> Value:
        if value.kind == "local":
            number = self.numbers.get(value.data)
            return value if number is None else Value("const", value.type, data=number)
        if not value.args:
            return value
        args = tuple([self.value(x) for x in value.args])
        rule = RULES.get(value.kind)
        result = rule(self, value, args) if rule else None
        return Value(value.kind, value.type, args, value.data) if result is None else result

    # rules: the folded value, or None where nothing folds

    def cast(self, value: Value, args: Sequence[Value]) -> Value | None:
        return _same(value, args[0].data) if args[0].kind == "const" else None

    def field(self, value: Value, args: Sequence[Value]) -> Value | None:
        kind = args[0].type
        if args[0].kind == "const":
            word = self.memory.words.get(args[0].data + 8 * value.data.slot)
        elif isinstance(kind, Kind):
            key: tuple[type, str] = (kind.record, value.data.name)
            self.memory.used.add(key)
            word = self.memory.fields.get(key)
        else:
            return None
        return None if word is None or value.type != "i64" else _same(value, word)

    def call(self, value: Value, args: Sequence[Value]) -> Value | None:
        other = self.memory.instead.get(value.data)
        return None if other is None else Value("call", value.type, tuple(args), other)

    def inline(self, value: Value, args: Sequence[Value]) -> Value | None:
        if args[0].kind != "const":
            return None
        return _same(value, args[0].data + 8 * value.data.slot)

    def offset(self, value: Value, args: Sequence[Value]) -> Value | None:
        if any(x.kind != "const" for x in args):
            return _further(value, args) if self.memory.fields else None
        return _same(value, args[0].data + stride(value.type) * args[1].data)

    def quotient(self, value: Value, args: Sequence[Value]) -> Value | None:
        x, y = args
        is_known = x.kind == y.kind == "const" and y.data != 0
        return _same(value, x.data / y.data) if is_known else None

    def math(self, value: Value, args: Sequence[Value]) -> Value | None:
        """A power whose exponent is known to be broken has fewer cases."""
        if value.data != "pow" or "pow" not in self.memory.elementary or args[1].kind != "const":
            return None
        is_broken = isfinite(args[1].data) and args[1].data % 1 != 0
        return Value("call", "f64", tuple(args), broken_power) if is_broken else None

    def arithmetic(self, value: Value, args: Sequence[Value]) -> Value | None:
        """Operations on numbers; those on floats round as they do when a run computes them."""
        x, y = args
        if x.kind == y.kind == "const" and x.type == y.type == "f64" and value.kind in FLOAT:
            return _same(value, INTEGER[value.kind](x.data, y.data))
        if x.kind == y.kind == "const" and x.type == y.type == "i64":
            if value.kind in ("floordiv", "mod") and y.data == 0:
                return None
            return _same(value, INTEGER[value.kind](x.data, y.data))
        zeros = [k for k, z in enumerate(args) if (z.kind, z.type, z.data) == ("const", "i64", 0)]
        if value.kind == "add" and zeros:
            return args[1 - zeros[0]]
        if value.kind == "sub" and zeros == [1]:
            return x
        if value.kind == "mul" and zeros and all(map(is_pure, args)):
            return args[zeros[0]]
        ones = [k for k, z in enumerate(args) if (z.kind, z.type, z.data) == ("const", "i64", 1)]
        return args[1 - ones[0]] if value.kind == "mul" and ones else None

    def compare(self, value: Value, args: Sequence[Value]) -> Value | None:
        x, y = args
        if x.kind == y.kind == "const":
            return Value("const", "bool", data=INTEGER[value.kind](x.data, y.data))
        return None

    def negated(self, value: Value, args: Sequence[Value]) -> Value | None:
        x = args[0]
        if x.kind != "const":
            return None
        return _same(value, -x.data if value.kind == "neg" else not x.data)

    def convert(self, value: Value, args: Sequence[Value]) -> Value | None:
        x = args[0]
        if x.kind != "const" or x.type == "f64":
            return None
        return _same(value, float(x.data) if value.type == "f64" else int(x.data))

    def choice(self, value: Value, args: Sequence[Value]) -> Value | None:
        return (args[1] if args[0].data else args[2]) if args[0].kind == "const" else None

    def both(self, value: Value, args: Sequence[Value]) -> Value | None:
        """`and` and `or` where one side is known."""
        decides = value.kind == "or"
        if args[0].kind == "const":
            return args[0] if bool(args[0].data) is decides else args[1]
        if args[1].kind == "const" and bool(args[1].data) is not decides:
            return args[0]
        return args[1] if args[1].kind == "const" and is_pure(args[0]) else None


def _same(value: Value, number: Any) -> Value:
    return Value("const", value.type, data=number)


def _further(value: Value, args: Sequence[Value]) -> Value | None:
    """A place some words behind a place some words behind another: the sum of both."""
    base, words = args
    while base.kind == "cast":
        base = base.args[0]
    if base.kind != "offset" or words.kind != "const" or base.args[1].kind != "const":
        return None
    if stride(value.type) != stride(base.type):
        return None
    total = Value("const", "i64", data=base.args[1].data + words.data)
    return Value("offset", value.type, (Value("cast", value.type, (base.args[0],)), total))


def stride(kind: str) -> int:
    """Bytes from one element to the next."""
    is_record = isinstance(kind, Kind) and kind.family == "record"
    return 8 * (kind.record.header if is_record else 1)  # type: ignore[attr-defined]


def is_pure(value: Value) -> bool:
    """Whether computing it changes nothing else."""
    return value.kind not in ("call", "hook", "kernel") and all(map(is_pure, value.args))


def _is_empty(values: Sequence[Value]) -> bool:
    start, stop, step = values
    if start.kind != "const" or stop.kind != "const":
        return False
    return not range(start.data, stop.data, step.data)


def _assignments(steps: Iterable[Step]) -> Iterator[Step]:
    return (step for step in all_steps(steps) if step.kind == "assign")


def is_small(folded: Folded) -> bool:
    """Whether a loop is a few plain assignments and a result."""
    *steps, last = folded.body or (Step("do"),)
    names = {name for name, _ in folded.arguments}
    is_plain = last.kind == "return" and bool(last.values)
    is_plain = is_plain and all(x.kind == "assign" and x.name not in names for x in steps)
    return is_plain and sum(1 for _ in values_in(folded.body)) <= SMALL


def is_only(folded: Folded) -> bool:
    """Whether a loop is called at one place, where it stands then."""
    return folded.sites == 1 and sum(1 for _ in values_in(folded.body)) <= LONG


def all_steps(steps: Iterable[Step]) -> Iterator[Step]:
    """Statements and those in them."""
    todo = list(steps)
    while todo:
        step = todo.pop()
        yield step
        todo += [*step.body, *step.orelse]


def set_in(steps: Iterable[Step]) -> set[str]:
    """Names that statements assign to."""
    return {step.name for step in all_steps(steps) if step.kind in ("assign", "for")}


def counters_of(folded: Folded) -> set[str]:
    """Names that only count upwards, from a number that is not below zero."""
    counters: set[str] = set()
    others = {name for name, _ in folded.arguments}
    todo = list(folded.body)
    while todo:
        step = todo.pop()
        todo += [*step.body, *step.orelse]
        if step.kind == "for":
            start, _, stride_ = step.values
            is_up = start.kind == "const" and start.data >= 0 and stride_.data > 0
            (counters if is_up else others).add(step.name)
        elif step.kind == "assign":
            others.add(step.name)
    return counters - others


def read_outside(steps: Iterable[Step]) -> set[str]:
    """Names that are read outside all counted loops over them."""
    names: set[str] = set()
    todo = [(step, frozenset[str]()) for step in steps]
    while todo:
        step, inside = todo.pop()
        here = [x.data for x in values_in([Step("do", values=step.values)]) if x.kind == "local"]
        names |= {*here} - inside
        within = inside | {step.name} if step.kind == "for" else inside
        todo += [(x, within) for x in (*step.body, *step.orelse)]
    return names


def own_steps(steps: Iterable[Step]) -> list[Step]:
    """Statements of a loop's body without those of loops in it."""
    own: list[Step] = []
    todo = list(steps)
    while todo:
        step = todo.pop()
        own.append(step)
        if step.kind not in ("for", "while"):
            todo += [*step.body, *step.orelse]
    return own


def leaves_early(steps: Iterable[Step]) -> bool:
    """Whether the body of a loop says `break`."""
    return any(step.kind == "break" for step in own_steps(steps))


def goes_on(steps: Iterable[Step]) -> bool:
    """Whether the body of a loop says `continue`."""
    return any(step.kind == "continue" for step in own_steps(steps))


INTEGER: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "floordiv": lambda x, y: x // y, "mod": lambda x, y: x % y, "min": min, "max": max,
    "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "gt": lambda x, y: x > y,
    "ge": lambda x, y: x >= y, "eq": lambda x, y: x == y, "ne": lambda x, y: x != y,
}  # fmt: skip
FLOAT = ("add", "sub", "mul")
RULES: dict[str, Callable[[_Folding, Value, Sequence[Value]], Value | None]] = {
    "cast": _Folding.cast,
    "address": _Folding.cast,
    "field": _Folding.field,
    "call": _Folding.call,
    "inline": _Folding.inline,
    "offset": _Folding.offset,
    **dict.fromkeys(("add", "sub", "mul", "floordiv", "mod", "min", "max"), _Folding.arithmetic),
    "div": _Folding.quotient,
    "math": _Folding.math,
    **dict.fromkeys(("lt", "le", "gt", "ge", "eq", "ne"), _Folding.compare),
    "neg": _Folding.negated,
    "not": _Folding.negated,
    "convert": _Folding.convert,
    "choice": _Folding.choice,
    "and": _Folding.both,
    "or": _Folding.both,
}
