"""to_c: a program as C99 text, one function for each entry, with the signature of every kernel.

The text needs a C compiler and libm, nothing else: it includes <math.h> only. Portable text has its
elementary functions within it; compiled with FLAGS, it gives the bits of every other machine.

Public names: to_c, compile_c, c_name, own_functions, entries_c, FLAGS, PRELUDE.
"""

from __future__ import annotations

import ctypes
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache as memo
from functools import partial
from typing import Any, final

from liaison.arguments import checked
from liaison.expr import OPS, Expr, Table
from liaison.program.kernel import MachineKernel
from liaison.program.loops.c import constant, loops_to_c
from liaison.program.loops.language import Loop
from liaison.program.parts import Shared
from liaison.program.plan import LARGEST_POWER, PIECE, Piece, Plan, plan
from liaison.program.program import Program

from .compile_c import compile_c_text

ARGUMENTS = (
    "double t, const double *restrict q, const double *restrict v, const double *restrict u, "
    "const double *restrict p, const double *restrict x, double *restrict out, "
    "double *restrict work"
)
PASSED = "t, q, v, u, p, x, out, work"
PRELUDE = """\
#include <math.h>

static inline double liaison_min(double x, double y) { return y < x || y != y ? y : x; }
static inline double liaison_max(double x, double y) { return y > x || y != y ? y : x; }
static inline double liaison_sign(double x) { return x != x ? x : (x > 0) - (x < 0); }
static inline double liaison_power(double x, int n) {
  double y = 1, s = x;
  for (int k = n < 0 ? -n : n; k; k >>= 1, s *= s)
    if (k & 1) y *= s;
  return n < 0 ? 1 / y : y;
}
static inline double liaison_table(int n, int m, const double *breaks, const double *origins,
                                   const double *coefficients, double x) {
  int low = 0, high = n;
  while (low < high) {
    int middle = (low + high) / 2;
    if (breaks[middle] >= x) high = middle; else low = middle + 1;
  }
  const double *c = coefficients + low * m;
  double t = x - origins[low], y = c[m - 1];
  for (int k = m - 2; k >= 0; k--) y = y * t + c[k];
  return y;
}
"""
NESTED = 400
"""Characters of what stands where it is used, at most."""

FLAGS = ("-ffp-contract=off",)
"""What keeps a C compiler from contracting a product and a sum to one operation."""

NO_CONTRACTION = """\
/* compile with -ffp-contract=off: then the bits of results are the same everywhere */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif
"""
OWN = {"min": "liaison_min({}, {})", "max": "liaison_max({}, {})", "sign": "liaison_sign({})"}


@checked
def to_c(
    program: Program,
    entries: Iterable[str] | None = None,
    *,
    size: int = PIECE,
    portable: bool = False,
) -> str:
    """C99 text of the program's entries (all, if none is named).

    Function `c_name(program, entry)` has the signature said in kernel.py; the size of its
    workspace stands in the comment above it. Portable text contains elementary functions of our
    own, and is to be compiled with FLAGS.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> "_forward(" in liaison.to_c(program, ["forward"])
        True
    """
    names = list(program.entries if entries is None else entries)
    functions = own_functions(portable)
    plans = {name: plan(program, name, size=size, functions=functions) for name in names}
    return module_c(program, plans, portable=portable)


def compile_c(
    program: Program,
    *,
    flags: tuple[str, ...] = ("-O1",),
    size: int = PIECE,
    portable: bool = False,
) -> MachineKernel:
    """A kernel of the C text, through the system's C compiler."""
    functions = own_functions(portable)

    @memo
    def planned(entry: str) -> Plan:
        return plan(program, entry, size=size, functions=functions)

    def compiler(entries: tuple[str, ...]) -> tuple[dict[str, int], Any]:
        plans = {entry: planned(entry) for entry in entries}
        text = module_c(program, plans, portable=portable)
        library = compile_c_text(text, flags=(*flags, *(FLAGS if portable else ())))
        functions = {entry: library[c_name(program, entry)] for entry in entries}
        pointers = {e: ctypes.cast(f, ctypes.c_void_p).value or 0 for e, f in functions.items()}
        return pointers, library

    again = partial(compile_c, flags=flags, size=size, portable=portable)

    def work(entry: str) -> int:
        return planned(entry).work_size

    return MachineKernel(program, compiler, work, recipe=(again, (program,)), portable=portable)


def own_functions(portable: bool) -> Mapping[str, Loop[..., Any]]:
    """Elementary functions of portable text, which is rarely wanted; none of other text."""
    if not portable:
        return {}
    from liaison.program.functions.elementary import FUNCTIONS

    return FUNCTIONS


def c_name(program: Program, entry: str) -> str:
    """Name of the entry's function: the program's and the entry's, as C allows."""
    return re.sub(r"\W", "_", f"{program.name}_{entry}", flags=re.ASCII).lstrip("_0123456789")


def module_c(program: Program, plans: dict[str, Plan], *, portable: bool = False) -> str:
    """C text of planned entries."""
    text, called = entries_c([(program, plans)], own_functions(portable))
    head = [NO_CONTRACTION, loops_to_c(called, static=True)] if portable else []
    return "\n".join([PRELUDE, *head, text])


def entries_c(
    planned: Iterable[tuple[Program, Mapping[str, Plan | Shared]]],
    functions: Mapping[str, Loop[..., Any]],
    *,
    nested: bool = False,
) -> tuple[str, list[Loop[..., Any]]]:
    """C text of entries alone, and the elementary functions that it calls.

    Args:
        planned: programs and plans of their entries.
        functions: name of an operation -> the loop that computes it.
        nested: what is used once stands where it is used.
    """
    shared = _Shared(functions, nested)
    entries: list[str] = []
    for program, plans in planned:
        for entry, entry_plan in plans.items():
            entries += _entry(program, entry, entry_plan, shared)
    data = [line for key, name in shared.tables.items() for line in _table(key, name)]
    return "\n".join([*data, *entries]), [*shared.called]


@final
class _Shared:
    """What the functions of a text share: tables, and the elementary functions they call."""

    def __init__(self, functions: Mapping[str, Loop[..., Any]], nested: bool) -> None:
        self.functions, self.nested = functions, nested
        self.tables: dict[tuple[Table, int], str] = {}
        self.called: dict[Loop[..., Any], None] = {}
        self.pieces: dict[int, str] = {}

    def form(self, name: str, form: str) -> str:
        """How an operation is written: an elementary function by the name it has in this text."""
        if name not in self.functions:
            return form
        self.called[self.functions[name]] = None
        return f"liaison_{form}"


def _shared_entry(program: Program, entry: str, plan: Shared, shared: _Shared) -> list[str]:
    """An entry of calls, and the pieces that no entry before it has."""
    name, lines, calls = c_name(program, entry), [], []
    for call in plan.calls:
        if id(call.piece) not in shared.pieces:
            shared.pieces[id(call.piece)] = part = f"part{len(shared.pieces)}"
            body = _Writer(program, Plan((), 0, plan.numbers), call.piece, shared).lines()
            lines += [f"static void {part}({ARGUMENTS})", "{", *_unused(body), *body, "}", ""]
        q = f"work + {call.q}" if call.q >= 0 else "q"
        calls.append(
            f"  {shared.pieces[id(call.piece)]}(t, {q}, v, u, p, x, out + {call.out}, work);"
        )
    return [*lines, f"void {name}({ARGUMENTS})", "{", *calls, "}", ""]


def _entry(program: Program, entry: str, entry_plan: Plan | Shared, shared: _Shared) -> list[str]:
    if isinstance(entry_plan, Shared):
        return _shared_entry(program, entry, entry_plan, shared)
    name = c_name(program, entry)
    comment = (
        f"/* {entry}: {len(program.entry(entry).outputs)} outputs, work {entry_plan.work_size} */"
    )
    bodies = [
        _unused(body) + body
        for body in (
            _Writer(program, entry_plan, piece, shared).lines() for piece in entry_plan.pieces
        )
    ]
    if len(bodies) == 1:
        return [comment, f"void {name}({ARGUMENTS})", "{", *bodies[0], "}", ""]
    lines: list[str] = []
    for k, body in enumerate(bodies):
        lines += [f"static void {name}_{k}({ARGUMENTS})", "{", *body, "}", ""]
    calls = [f"  {name}_{k}({PASSED});" for k in range(len(bodies))]
    return [*lines, comment, f"void {name}({ARGUMENTS})", "{", *calls, "}", ""]


def _unused(body: list[str]) -> list[str]:
    """A line that names the arguments of which nothing is read, for compilers that warn of them."""
    used = set(re.findall(r"\b[a-z]+\b", "\n".join(body)))
    unused = [f"(void){x};" for x in PASSED.split(", ") if x not in used]
    return ["  " + " ".join(unused)] if unused else []


def _table(key: tuple[Table, int], name: str) -> list[str]:
    table, order = key
    arrays = {
        "breaks": table.breaks,
        "origins": table.origins,
        "values": table.derivative_coefficients(order).ravel(),
    }
    return [
        f"static const double {name}_{part}[] = {{{', '.join(constant(n, 'f64') for n in array)}}};"
        for part, array in arrays.items()
    ]


class _Writer:
    """Writes the assignments of one piece."""

    def __init__(self, program: Program, entry_plan: Plan, piece: Piece, shared: _Shared) -> None:
        self.inputs, self.numbers = program.inputs, entry_plan.numbers
        self.piece, self.shared = piece, shared
        self.names: dict[Expr, str] = {}
        self.uses: Counter[Expr] = Counter()
        if shared.nested:
            nodes = [node for item in piece.items for node in item]
            self.uses.update(x for node in nodes for x in node.args)
            self.uses.update([*piece.saves, *(x for _, x in (*piece.outputs, *piece.puts))])

    def lines(self) -> list[str]:
        lines = []
        count = 0
        for item in self.piece.items:
            for node in item:
                value = self.value(node)
                if self.uses[node] == 1 and len(value) <= NESTED:
                    self.names[node] = value
                    continue
                self.names[node] = name = f"t{count}"
                count += 1
                lines.append(f"  const double {name} = {value};")
        saves = self.piece.saves.items()
        lines += [f"  work[{place}] = {self.names[node]};" for node, place in saves]
        lines += [f"  work[{k}] = {self.operand(node)};" for k, node in self.piece.puts]
        return lines + [f"  out[{i}] = {self.operand(node)};" for i, node in self.piece.outputs]

    def operand(self, node: Expr) -> str:
        if node in self.names:
            return self.names[node]
        if node in self.numbers:
            return constant(self.numbers[node], "f64")
        if node.op != "symbol" or node in self.piece.loads:
            return f"work[{self.piece.loads[node]}]"
        array, index = self.inputs[node]
        return "t" if array == "t" else f"{array}[{index}]"

    def value(self, node: Expr) -> str:
        special = SPECIAL.get(node.op)
        if special is not None:
            return special(self, node)
        form = OWN.get(node.op) or self.shared.form(node.op, OPS[node.op].c)
        return form.format(*(self.operand(arg) for arg in node.args))

    def power(self, node: Expr) -> str:
        base, exponent = node.args
        n = self.numbers.get(exponent)
        if n is not None and abs(n) <= LARGEST_POWER and n % 1 == 0:
            return f"liaison_power({self.operand(base)}, {int(n)})"
        form = self.shared.form("pow", "pow({}, {})")
        return form.format(self.operand(base), self.operand(exponent))

    def table(self, node: Expr) -> str:
        table, order = node.data
        known = self.shared.tables
        name = known.setdefault((table, order), f"table{len(known)}")
        n, m = len(table.breaks), table.derivative_coefficients(order).shape[1]
        data = f"{name}_breaks, {name}_origins, {name}_values"
        return f"liaison_table({n}, {m}, {data}, {self.operand(node.args[0])})"


SPECIAL: dict[str, Callable[[_Writer, Expr], str]] = {
    "pow": _Writer.power,
    "table": _Writer.table,
}
