"""Printing loops as C99 text.

Public names: loops_to_c, routines_to_c.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from .language import Loop
from .llvm import reader_of, unique_names
from .read import reachable
from .records import Field, Record
from .tree import SATURATING, Kind, Routine, Step, Value, signature

Names: TypeAlias = dict[Any, str]
"""A record, or a loop that stands for a signature -> its C name."""

C = {
    "f64": "double", "i64": "int64_t", "bool": "int", "ptr": "double *", "iptr": "int64_t *",
    "kernel": "liaison_kernel ", "void": "void",
}  # fmt: skip
INFIX = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "eq": "==", "ne": "!=", "and": "&&", "or": "||", "bitand": "&", "bitor": "|", "bitxor": "^",
    "shr": ">>",
}  # fmt: skip
PRELUDE = """\
#include <math.h>
#include <stdint.h>

typedef void (*liaison_kernel)(double, const double *, const double *, const double *,
                               const double *, const double *, double *, double *);

static inline double min_f64(double x, double y) { return y < x ? y : x; }
static inline double max_f64(double x, double y) { return y > x ? y : x; }
static inline double abs_f64(double x) { return fabs(x); }
static inline int64_t min_i64(int64_t x, int64_t y) { return y < x ? y : x; }
static inline int64_t max_i64(int64_t x, int64_t y) { return y > x ? y : x; }
static inline int64_t abs_i64(int64_t x) { return x < 0 ? -x : x; }
static inline int64_t mod_i64(int64_t x, int64_t y) {
  int64_t r = x % y;
  return r != 0 && (r ^ y) < 0 ? r + y : r;
}
static inline int64_t floordiv_i64(int64_t x, int64_t y) {
  int64_t q = x / y;
  return x % y != 0 && ((x % y) ^ y) < 0 ? q - 1 : q;
}
static inline int64_t shl_i64(int64_t x, int64_t n) { return (int64_t)((uint64_t)x << n); }
static inline int64_t whole_i64(double x) {
  if (x >= 0x1p63) return INT64_MAX;
  if (x < -0x1p63) return INT64_MIN;
  return x == x ? (int64_t)x : 0;
}
static inline int64_t bits(double x) {
  union { double x; int64_t i; } u;
  u.x = x;
  return u.i;
}
static inline double from_bits(int64_t i) {
  union { double x; int64_t i; } u;
  u.i = i;
  return u.x;
}
static inline double power_f64(double x, int n) {
  double y = x;
  while (--n > 0) y *= x;
  return y;
}
static inline int64_t power_i64(int64_t x, int n) {
  int64_t y = x;
  while (--n > 0) y *= x;
  return y;
}
"""


def loops_to_c(
    roots: Sequence[Loop[..., Any]], *, portable: bool = False, static: bool = False
) -> str:
    """C99 text of the loops and of all they call; the roots are visible from outside.

    Names are those of the LLVM symbols: `liaison_` and the loop's own.

    Args:
        roots: the loops.
        portable: with functions of our own instead of libm; a compiler that is kept from
            contracting sums of products (-ffp-contract=off) then gives the bits of every other.
        static: the roots are not visible from outside either.
    """
    return routines_to_c(reachable(roots, reader_of(portable)), roots, static=static)


def routines_to_c(
    routines: Sequence[Routine],
    roots: Sequence[Loop[..., Any]],
    *,
    static: bool = False,
    short: bool = False,
) -> str:
    """C99 text of routines.

    Args:
        routines: of the loops, and of all they call.
        roots: loops that are visible from outside.
        static: they are not either.
        short: functions come before those that call them, and are not declared; of records only
            what is used has a name.
    """
    names = unique_names([*roots, *(read.loop for read in routines)])
    structs = _structs(routines)
    visible = set() if static else set(roots)
    heads = [_head(read, names, read.loop in visible, structs) for read in routines]
    printers = [_Printer(read, names, structs, " " if short else "  ") for read in routines]
    bodies = [printer.lines() for printer in printers]
    tables = [line for printer in printers for line in printer.tables]
    used = {x for printer in printers for x in printer.fields} if short else None
    kinds = [x for x in structs if not isinstance(x, Loop)]
    records = [line for x in kinds for line in _typedef(x, structs, used)]
    records += [_hook(x, structs) for x in structs if isinstance(x, Loop)]
    parts = [PRELUDE, *records, *tables, *(() if short else (f"{head};" for head in heads))]
    for head, body in zip(heads, bodies, strict=True):
        parts += ["", f"{head} {{", *body, "}"]
    return "\n".join([*parts, ""])


def bare(text: str) -> str:
    """A value without a pair of parentheses around all of it."""
    depth = 0
    for k, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return text[1:-1] if text[0] == "(" and k == len(text) - 1 else text
    return text


def constant(value: float | int, kind: str) -> str:
    """A number as C writes it, to the last bit."""
    if kind == "i64" and value == -(2**63):
        return f"(-INT64_C({2**63 - 1}) - 1)"
    if kind == "i64":
        return f"INT64_C({value})" if abs(value) > 2**31 - 1 else f"{value}"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value))
    return text if float(value) >= 0 and text[0] != "-" else f"({text})"


def _structs(routines: Sequence[Routine]) -> Names:
    """The records and the signatures of hooks that occur, each with a name; equal are numbered."""
    struct_names: Names = {}
    seen: dict[str, int] = {}
    for record in (x for read in routines for kind in _kinds(read) for x in _named(kind)):
        if record not in struct_names:
            is_hook = isinstance(record, Loop)
            name = f"liaison_hook_{record.name}" if is_hook else f"liaison_{record.__name__}"
            count = seen[name] = seen.get(name, 0) + 1
            struct_names[record] = name + (f"_{count}" if count > 1 else "")
    return struct_names


def _named(kind: str) -> list[Any]:
    """Records, and loops that stand for the signature of hooks, which a type names."""
    if not isinstance(kind, Kind):
        return []
    if kind.family == "hook":
        inner = [x for _, each in signature(kind.record)[0] for x in _named(each)]
        return [*inner, kind.record]
    return _with_nested(kind.record) if kind.family in ("record", "rows") else []


def _with_nested(record: type[Record]) -> list[type[Record]]:
    """A record after those that it contains."""
    inner = [x.record for x in record.fields.values() if x.layout == "nested"]
    return [*(each for one in inner for each in _with_nested(one)), record]


def _kinds(read: Routine) -> Iterator[str]:
    """All types that occur in a loop."""
    yield from (kind for _, kind in read.arguments)
    yield from read.locals.values()
    steps = list(read.body)
    values: list[Value] = []
    while steps or values:
        if steps:
            step = steps.pop(0)
            steps = [*step.body, *step.orelse, *steps]
            values += step.values
        else:
            value = values.pop(0)
            values = [*value.args, *values]
            yield value.type


def _typedef(record: type[Record], structs: Names, used: set[tuple[type, str]] | None) -> list[str]:
    """The header of a record; arrays, behind it, are there by their offsets in words."""
    lines: list[str] = []
    rest = 0 if record.is_fixed else 1
    lines += ["  int64_t words;"] if rest and used is None else []
    for field in record.fields.values():
        if used is not None and (record, field.name) not in used:
            rest += field.width
            continue
        lines += [f"  int64_t rest{len(lines)}[{rest}];"] if rest and used is not None else []
        lines.append(_member(field, structs))
        rest = 0
    lines += [f"  int64_t rest[{rest}];"] if rest and used is not None else []
    return ["typedef struct {", *lines, f"}} {structs[record]};", ""]


def _member(field: Field, structs: Names) -> str:
    """A field of the header."""
    if field.layout == "nested":
        return f"  {structs[field.record]} {field.name}_;"
    if field.layout == "inline":
        return f"  {C[field.type]}{field.name}_[{field.width}];".replace(" *", " ")
    kind = "double" if field.type == "f64" else "int64_t"
    return f"  {kind} {field.name}_;{'  /* offset */' if field.is_array else ''}"


def _hook(like: Loop[..., Any], structs: Names) -> str:
    """The type of pointers to loops of a signature."""
    arguments, result = signature(like)
    listed = ", ".join(_type(kind, structs).strip() for _, kind in arguments)
    return f"typedef {C[result]} (*{structs[like]})({listed or 'void'});\n"


def _type(kind: str, structs: Names) -> str:
    """A type as C writes it."""
    if not isinstance(kind, Kind):
        return C[kind]
    if kind.family == "hook":
        return f"{structs[kind.record]} "
    if kind.family in ("record", "rows"):
        return f"{structs[kind.record]} *"
    return C[kind.element or "ptr"]


def _head(read: Routine, names: dict[Loop[..., Any], str], visible: bool, structs: Names) -> str:
    listed = [(name, _type(kind, structs)) for name, kind in read.arguments]
    arguments = ", ".join(f"{kind} {name}_".replace("* ", "*") for name, kind in listed)
    linkage = "" if visible else "static "
    return f"{linkage}{C[read.result]} {names[read.loop]}({arguments or 'void'})"


class _Printer:
    """Statements as lines, values as text; local names end in _ so that none is a C word."""

    def __init__(
        self, routine: Routine, names: dict[Loop[..., Any], str], structs: Names, indent: str
    ) -> None:
        self.routine, self.names, self.structs = routine, names, structs
        self.indent = indent
        self.tables: list[str] = []
        self.named_tables: dict[tuple[Any, str], str] = {}
        self.fields: set[tuple[type, str]] = set()
        self.count = 0

    def lines(self) -> list[str]:
        start = {"f64": " = 0", "i64": " = 0", "bool": " = 0"}
        local = [
            f"{self.indent}{_type(kind, self.structs)} {name}_{start.get(kind, '')};".replace(
                "* ", "*"
            )
            for name, kind in self.routine.locals.items()
        ]
        body = self.block(self.routine.body, self.indent)
        steps = self.routine.body
        ends = self.routine.result == "void" or (steps and steps[-1].kind == "return")
        return [*local, *body, *([] if ends else [f"{self.indent}return 0;"])]

    def block(self, steps: tuple[Step, ...], indent: str) -> list[str]:
        return [line for step in steps for line in self.step(step, indent)]

    def step(self, step: Step, indent: str) -> list[str]:
        values = [self.value(value) for value in step.values]
        deeper = indent + self.indent
        if step.kind == "for":
            return self.for_(step, values, indent)
        if step.kind in ("while", "if"):
            test = bare(values[0])  # compilers warn of two pairs of parentheses
        if step.kind == "while":
            inner = self.block(step.body, deeper)
            return [f"{indent}while ({test}) {{", *inner, f"{indent}}}"]
        if step.kind == "if":
            lines = [f"{indent}if ({test}) {{", *self.block(step.body, deeper)]
            if step.orelse:
                lines += [f"{indent}}} else {{", *self.block(step.orelse, deeper)]
            return [*lines, f"{indent}}}"]
        return [indent + self.simple(step, values)]

    def simple(self, step: Step, values: list[str]) -> str:
        values = [bare(x) for x in values]
        if step.kind == "assign":
            return f"{step.name}_ = {values[0]};"
        if step.kind == "store":
            return f"{self.value(step.values[0])}[{values[1]}] = {values[2]};"
        if step.kind == "put":
            return f"{values[0]} = {values[1]};"
        if step.kind == "do":
            return f"{values[0]};"
        return f"{' '.join([step.kind, *values])};"

    def for_(self, step: Step, values: list[str], indent: str) -> list[str]:
        """A hidden counter, so that the name may be changed in the body as in Python."""
        self.count += 1
        i, end = f"i{self.count}", f"n{self.count}"
        sign = "<" if step.values[2].data > 0 else ">"
        start = f"int64_t {i} = {values[0]}, {end} = {values[1]}"
        head = f"for ({start}; {i} {sign} {end}; {i} += {values[2]})"
        deeper = indent + self.indent
        inner = [f"{deeper}{step.name}_ = {i};", *self.block(step.body, deeper)]
        return [f"{indent}{head} {{", *inner, f"{indent}}}"]

    def value(self, value: Value) -> str:
        if value.kind == "cast":
            return self.cast(value)
        kind, args = value.kind, [self.value(a) for a in value.args]
        if kind in INFIX:
            return f"({args[0]} {INFIX[kind]} {args[1]})"
        if kind == "convert" and value.data == SATURATING:
            return f"whole_i64({args[0]})"
        if kind == "load":
            return f"{args[0]}[{bare(args[1])}]"
        if kind in FORMS:
            return FORMS[kind].format(*args, type=_type(value.type, self.structs), kind=value.type)
        if kind == "const":
            return constant(value.data, value.type)
        if kind == "table":
            return f"{self.table(value)}[{bare(args[0])}]"
        if kind in ("field", "inline"):
            self.fields.add((value.args[0].type.record, value.data.name))  # type: ignore[attr-defined]
            place = f"{args[0]}->{value.data.name}{'' if value.data.name == 'words' else '_'}"
            return f"(&{place})" if value.data.layout == "nested" else place
        if kind == "symbol":
            return str(value.data)
        if kind == "external":
            return f"liaison_{value.data.name}({', '.join(map(bare, args))})"
        if kind in ("kernel", "hook"):
            return f"{args[0]}({', '.join(map(bare, args[1:]))})"
        if kind == "power":
            return f"power_{value.type}({args[0]}, {value.data})"
        names = {"call": self.names.get(value.data, "") if kind == "call" else ""}
        name = names.get(kind) or (f"{value.data}_" if kind != "math" else value.data)
        return name if kind == "local" else f"{name}({', '.join(map(bare, args))})"

    def cast(self, value: Value) -> str:
        """A pointer of another type, where it is one."""
        inner = value.args[0]
        while inner.kind == "cast":
            inner = inner.args[0]
        kind = _type(value.type, self.structs)
        text = self.value(inner)
        return text if _type(inner.type, self.structs) == kind else f"(({kind}){text})"

    def table(self, value: Value) -> str:
        entries = ", ".join(constant(n, value.type) for n in value.data)
        known = self.named_tables
        name = known.setdefault(
            (value.type, entries), f"{self.names[self.routine.loop]}_table{len(known)}"
        )
        if len(known) > len(self.tables):
            self.tables.append(f"static const {C[value.type]} {name}[] = {{{entries}}};")
        return name


FORMS = {
    "neg": "(-{0})",
    "not": "(!{0})",
    "convert": "(({type}){0})",
    "offset": "({0} + {1})",
    "address": "(({type})(intptr_t){0})",
    "entry": "((liaison_kernel)(intptr_t){0}[{1}])",
    "choice": "({0} ? {1} : {2})",
    **{name: f"{name}_{{kind}}({{0}}, {{1}})" for name in ("min", "max", "floordiv", "mod")},
    "abs": "abs_{kind}({0})",
    "shl": "shl_i64({0}, {1})",
    "bits": "bits({0})",
    "from_bits": "from_bits({0})",
}
