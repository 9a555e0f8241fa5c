"""C for small machines: one step of fixed size with closures, in single or double precision.

    q := q ⊞ Δ, v := v + Δ by the classical Runge–Kutta method of order 4 on (ξ, v), q ⊞ ξ;
    then n times q := q ⊞ δ with G δ = −Φ, and v := v + δ with G (v + δ) = ν, δᵀM δ least

Every step takes the same operations: no recursion, no memory but the state's own and a stack of a
known depth, no loop whose length depends on numbers. What is left of Φ is returned. Sums that go on
from step to step keep what rounding takes away; angles that enter through sines and cosines only
are kept within half a turn, with their turns counted.

Public names: small_package, SmallPackage, StepParts, step_parts.

Source: HNW1 §II.1 (the method); HLW §VIII.5 (compensated sums); HW2 §VII.2 (projection).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

from liaison.errors import ProgramError
from liaison.expr import Expr, topological
from liaison.numeric import State
from liaison.program.plan import TURNING
from liaison.program.program import Program

from .package import stem
from .real import EntryText, Needs, Real, entry_text, helpers_text

PRECISIONS = {"single": "float", "double": "double"}
STEP = ("rate", "correct_q", "correct_v", "closure")
"""Entries that a step calls."""

TURN = {
    "float": ("6.2831855f", "-1.7484555e-07f"),
    "double": ("6.283185307179586", "2.4492935982947064e-16"),
}
"""2π and what its rounding leaves."""


@final
@dataclass(frozen=True, slots=True)
class StepParts:
    """What a step of a program is made of.

    Attributes:
        program: what is computed.
        iterations: corrections of positions in each step.
        moves: for each position the velocity whose increment is added to it; -1 where positions
            move together, as those of an attitude do.
        turning: positions that are kept within half a turn.
    """

    program: Program
    iterations: int
    moves: tuple[int, ...]
    turning: tuple[int, ...]

    def size(self, name: str) -> int:
        """nq, nv, …"""
        return int(self.program.sizes.get(name, 0))

    @property
    def entries(self) -> tuple[str, ...]:
        """Entries that a step calls."""
        names = STEP if self.size("nc") else STEP[:1]
        return (*names, *(["retract"] if -1 in self.moves else []))


def step_parts(program: Program, iterations: int = 1) -> StepParts:
    """What a step of a program is made of.

    Raises:
        ProgramError: a program whose steps cannot have a fixed number of operations.
    """
    if program.facts.get("sides"):
        raise ProgramError(
            f"{program.name!r} has contacts or dry friction, and a step of fixed cost has none.",
            hint="Write its entries with --target c alone, or leave contacts out of the model.",
        )
    if "sparse" in str(program.facts.get("formalism", "")):
        raise ProgramError(f"the entries of {program.name!r} are loops over bodies, no formulas.")
    if iterations < 1:
        raise ProgramError(f"{iterations} corrections in a step: there has to be at least one.")
    moves = tuple(_moves(program))
    names = [x for x in STEP if x in program.entries]
    fixed = {k for name in names for k in not_periodic(program, name)}
    free = [k for k, move in enumerate(moves) if move >= 0 and k not in fixed]
    used = {program.inputs[x] for name in names for x in _symbols(program, name)}
    turning = tuple(k for k in free if ("q", k) in used)
    return StepParts(program, iterations, moves, turning)


def _symbols(program: Program, entry: str) -> list[Expr]:
    return [x for x in program.schedule(entry) if x.op == "symbol"]


def _moves(program: Program) -> list[int]:
    """The increment that is added to each position; -1 where there is more to it."""
    moves = []
    for k, node in enumerate(program.entry("retract").outputs):
        places = [program.inputs.get(x) for x in node.args] if node.op == "add" else []
        added = [x[1] for x in places if x is not None and x[0] == "x"]
        moves.append(added[0] if ("q", k) in places and added else -1)
    return moves


def not_periodic(program: Program, entry: str) -> set[int]:
    """Positions on which an entry depends otherwise than through sines and cosines."""
    sums: dict[Expr, dict[int, int] | None] = {}  # whole multiples of positions; None: anything
    tainted: dict[Expr, set[int]] = {}
    order = topological(program.entry(entry).outputs)
    for node in order:
        known = [sums[x] for x in node.args]
        beside = {k for x in node.args for k in tainted[x]}
        total = _sum(program, node, known)
        if total is None and node.op not in TURNING:
            beside |= {k for x in known for k in x or ()}
        sums[node], tainted[node] = (total if total is not None else {}), beside
    return {k for x in program.entry(entry).outputs for k in (*tainted[x], *(sums[x] or ()))}


def _sum(
    program: Program, node: Expr, known: Sequence[dict[int, int] | None]
) -> dict[int, int] | None:
    """A node as a sum of whole multiples of positions; None where it is something else."""
    if node.op == "symbol":
        array, index = program.inputs[node]
        return {index: 1} if array == "q" else {}
    if node.op in ("add", "sub", "neg"):
        signs = {"add": (1, 1), "sub": (1, -1), "neg": (-1,)}[node.op]
        total: dict[int, int] = {}
        for sign, part in zip(signs, known, strict=True):
            for k, n in (part or {}).items():
                total[k] = total.get(k, 0) + sign * n
        return total
    if node.op == "mul":
        for one, other in ((0, 1), (1, 0)):
            factor = node.args[one]
            if factor.op == "const" and float(factor.value) % 1 == 0:
                return {k: int(float(factor.value)) * n for k, n in (known[other] or {}).items()}
    return {} if not any(known) else None


@final
@dataclass(frozen=True, slots=True)
class SmallPackage:
    """The files of a package, and the operations of one step by name."""

    header: Path
    source: Path
    cmake: Path
    operations: Mapping[str, int]


def small_package(
    parts: StepParts,
    folder: Path,
    state: State,
    *,
    precision: str = "single",
    libm: bool = True,
    note: str = "",
) -> SmallPackage:
    """Writes header, source and CMakeLists.txt of a step.

    Args:
        parts: of the step.
        folder: where to write; made if it is not there.
        state: where runs begin.
        precision: "single" or "double".
        libm: elementary functions come from libm; otherwise from the text.
        note: a sentence for the header, on accuracy.

    Raises:
        ProgramError: no such precision.
    """
    if precision not in PRECISIONS:
        raise ProgramError(f"no precision {precision!r}: single or double.")
    text = _Text(parts, Real(PRECISIONS[precision], is_own=not libm), state)
    folder.mkdir(parents=True, exist_ok=True)
    name = text.name
    paths = folder / f"{name}.h", folder / f"{name}.c", folder / "CMakeLists.txt"
    source = text.source()
    paths[0].write_text(text.header(note), encoding="utf-8")
    paths[1].write_text(source, encoding="utf-8")
    paths[2].write_text(_cmake(name, libm), encoding="utf-8")
    return SmallPackage(*paths, text.operations)


def _cmake(name: str, libm: bool) -> str:
    lines = [
        "cmake_minimum_required(VERSION 3.13)",
        f"project({name} C)",
        f"add_library({name} STATIC {name}.c)",
        f"target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})",
        f"set_target_properties({name} PROPERTIES C_STANDARD 99)",
        *([f"target_link_libraries({name} PUBLIC m)"] if libm else []),
    ]
    return "\n".join([*lines, ""])


@final
class _Text:
    """Header and source of a step."""

    def __init__(self, parts: StepParts, real: Real, state: State) -> None:
        self.parts, self.real, self.state = parts, real, state
        self.program, self.name = parts.program, stem(parts.program)
        self.needs = Needs(real)
        extra = ["outputs"] if parts.program.entry("outputs").outputs else []
        names = [*parts.entries, *extra]
        self.entries: dict[str, EntryText] = {
            x: entry_text(self.program, x, f"{self.name}_{x}", self.needs) for x in names
        }
        self.work = max(x.work for x in self.entries.values())

    @property
    def operations(self) -> dict[str, int]:
        """Of one step, by name."""
        times = {"rate": 4, "correct_q": self.parts.iterations, "correct_v": 1, "closure": 1,
                 "retract": 1 + self.parts.iterations}  # fmt: skip
        counted: dict[str, int] = {}
        for entry in self.parts.entries:
            for op, n in self.entries[entry].operations.items():
                counted[op] = counted.get(op, 0) + times[entry] * n
        return counted

    def call(self, entry: str, out: str, **changed: str) -> str:
        """A call of an entry on the state `s`, some arguments changed."""
        text = self.entries[entry]
        known = {"t": "s->t", "q": "s->q", "v": "s->v", "u": "u", "p": "s->p", "x": "s->q"}
        passed = [(known | changed)[x] for x in text.arguments]
        work = ["s->work"] if text.work else []
        return f"{self.name}_{entry}({', '.join([*passed, out, *work])});"

    # header

    def header(self, note: str) -> str:
        """Names, units, sizes, the state, and what can be done with it."""
        name, real, upper = self.name, self.real.name, self.name.upper()
        total = sum(self.operations.values())
        listed = ", ".join(f"{n} {op}" for op, n in sorted(self.operations.items()))
        lines = [
            f"/* {self.program.name}: generated by liaison. C99, no recursion, no allocation.",
            " *",
            f" * One step takes {total} operations, whatever the numbers are:",
            *_wrapped(listed),
            *(_wrapped(note) if note else []),
            " *",
            *self.labels(),
            " * Numbers are in SI units. */",
            f"#ifndef {upper}_H", f"#define {upper}_H", "", "#include <stdint.h>", "",
        ]  # fmt: skip
        for size in ("nq", "nv", "nu", "np", "nc"):
            lines.append(f"#define {upper}_{size.upper()} {self.parts.size(size)}")
        outputs = self.outputs()
        lines.append(f"#define {upper}_NOUT {len(outputs)}")
        inputs = [self.real.number(float(x)) for x in self.program.defaults.get("u", ())]
        if inputs:
            lines.append(f"#define {upper}_DEFAULT_U {{{', '.join(inputs)}}}")
        lines += ["", "#ifdef __cplusplus", 'extern "C" {', "#endif", "", *self.struct()]
        lines += [
            "/* The start of the description. */",
            f"void {name}_start({name}_state *s);", "",
            "/* One step of h [s] with inputs u (NULL where there are none), which stay the same",
            " * during the step. Returns the largest |phi| of the closures that is left. */",
            f"{real} {name}_step({name}_state *s, const {real} *u, {real} h);", "",
        ]  # fmt: skip
        if outputs:
            lines += [
                "/* Outputs at the present state. */",
                f"void {name}_outputs_at({name}_state *s, const {real} *u, {real} *out);", "",
            ]  # fmt: skip
        return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])

    def outputs(self) -> list[str]:
        """Names of outputs, numbered where there are several numbers."""
        layout = self.program.entry("outputs").layout
        return [x if n == 1 else f"{x}[{k}]" for x, n in layout for k in range(n)]

    def labels(self) -> list[str]:
        """Name and unit of every number."""
        lines = []
        for array in ("q", "v", "u", "p"):
            for k, label in enumerate(self.program.labels.get(array, ())):
                turns = " (and turns)" if array == "q" and k in self.parts.turning else ""
                lines.append(f" *   {array}[{k}]  {str(label).replace('*/', '* /')}{turns}")
        return lines + [f" *   out[{k}]  {x}" for k, x in enumerate(self.outputs())]

    def struct(self) -> list[str]:
        """The state."""
        real = self.real.name
        nq, nv, np_ = (self.parts.size(x) for x in ("nq", "nv", "np"))
        fields = [f"{real} t, q[{nq}], v[{nv}];  /* what a user reads */"]
        fields += [f"{real} p[{np_}];  /* parameters; closures are met anew after a change */"] * (
            np_ > 0
        )
        fields += [f"int32_t turns[{nq}];  /* of angles that are kept within half a turn */"]
        fields += [f"{real} t_low, q_low[{nq}], v_low[{nv}];  /* what rounding took from sums */"]
        missed = "what accelerations of the last step missed of the closures"
        fields += [f"{real} missed;  /* {missed} */"] * (self.parts.size("nc") > 0)
        fields += [f"{real} work[{self.work}];"] * (self.work > 0)
        return ["typedef struct {", *(f"  {x}" for x in fields), f"}} {self.name}_state;", ""]

    # source

    def source(self) -> str:
        """The whole text."""
        texts = [line for x in self.entries.values() for line in x.lines]
        own = [*self.add(), *self.start(), *self.move(), *self.step(), *self.outputs_at()]
        include = ["#include <math.h>"] if not self.real.is_own else []
        head = [f'#include "{self.name}.h"', *include, "#include <stdint.h>", ""]
        return "\n".join([*head, helpers_text(self.needs), *texts, *own])

    def add(self) -> list[str]:
        """A sum that keeps what rounding takes away."""
        real = self.real.name
        return [
            f"static void liaison_add({real} *sum, {real} *low, {real} x)", "{",
            f"  const {real} y = x + *low;", f"  const {real} s = *sum + y;",
            "  *low = y - (s - *sum);", "  *sum = s;", "}", "",
        ]  # fmt: skip

    def start(self) -> list[str]:
        """The start."""
        real, number = self.real.name, self.real.number
        values = {"q": self.state.q, "v": self.state.v, "p": self.program.defaults.get("p", ())}
        lines = [f"void {self.name}_start({self.name}_state *s)", "{"]
        for array, numbers in values.items():
            if len(numbers):
                listed = ", ".join(number(float(x)) for x in numbers)
                lines.append(f"  static const {real} {array}[] = {{{listed}}};")
        lines.append(f"  s->t = {number(self.state.t)};")
        lines.append(f"  s->t_low = {number(0.0)};")
        lines += [f"  s->missed = {number(0.0)};"] * (self.parts.size("nc") > 0)
        for array, numbers in values.items():
            if len(numbers):
                low = f" s->{array}_low[k] = {number(0.0)};" if array != "p" else ""
                body = f"s->{array}[k] = {array}[k];{low}"
                lines.append(f"  for (int k = 0; k < {len(numbers)}; k++) {{ {body} }}")
        lines.append(f"  for (int k = 0; k < {self.parts.size('nq')}; k++) s->turns[k] = 0;")
        return [*lines, "}", ""]

    def move(self) -> list[str]:
        """q := q ⊞ x."""
        moves, real = self.parts.moves, self.real.name
        lines = [f"static void {self.name}_move({self.name}_state *s, const {real} *x)", "{"]
        if -1 in moves:
            lines += [f"  {real} out[{len(moves)}];", f"  {self.call('retract', 'out', x='x')}"]
        for k, j in enumerate(moves):
            plain = f"  liaison_add(&s->q[{k}], &s->q_low[{k}], x[{j}]);"
            lines.append(plain if j >= 0 else f"  s->q[{k}] = out[{k}];")
        turn, low = TURN[real]
        half = self.real.number(3.141592653589793)
        for k in self.parts.turning:
            for sign, test in (("-", f"> {half}"), ("+", f"< -{half}")):
                back = f"s->q[{k}] {sign}= {turn}; s->q_low[{k}] {sign}= {low};"
                count = "++" if sign == "-" else "--"
                lines.append(f"  if (s->q[{k}] {test}) {{ {back} s->turns[{k}]{count}; }}")
        return [*lines, "}", ""]

    def step(self) -> list[str]:
        """The step."""
        real, nv, parts = self.real.name, self.parts.size("nv"), self.parts
        number, has_closures, last = self.real.number, parts.size("nc") > 0, 2 * nv
        half, one, two = number(0.5), number(1.0), number(2.0)
        lines = [
            f"{real} {self.name}_step({self.name}_state *s, const {real} *u, {real} h)", "{",
            f"  static const {real} part[] = {{{number(0.0)}, {half}, {half}, {one}}};",
            f"  static const {real} weight[] = {{{one}, {two}, {two}, {one}}};",
            f"  {real} xi[{nv}], v[{nv}], sum[{2 * nv}], out[{2 * nv + 1}];",
            "  (void)u, (void)xi, (void)v;",
            f"  for (int k = 0; k < {2 * nv}; k++) sum[k] = out[k] = {number(0.0)};",
            *([f"  s->missed = {number(0.0)};"] * has_closures),
            "  for (int stage = 0; stage < 4; stage++) {",
            f"    const {real} c = part[stage] * h;",
            f"    for (int k = 0; k < {nv}; k++) {{",
            "      xi[k] = c * out[k];", f"      v[k] = s->v[k] + c * out[{nv} + k];", "    }",
            f"    {self.call('rate', 'out', t='s->t + c', v='v', x='xi')}",
            f"    for (int k = 0; k < {2 * nv}; k++) sum[k] += weight[stage] * out[k];",
            *([f"    if (!(out[{last}] <= s->missed)) s->missed = out[{last}];"] * has_closures),
            "  }",
            f"  for (int k = 0; k < {2 * nv}; k++) sum[k] *= h / {number(6.0)};",
            f"  {self.name}_move(s, sum);",
            f"  for (int k = 0; k < {nv}; k++) liaison_add(&s->v[k], &s->v_low[k], sum[{nv} + k]);",
            "  liaison_add(&s->t, &s->t_low, h);",
        ]  # fmt: skip
        if not parts.size("nc"):
            return [*lines, f"  return {number(0.0)};", "}", ""]
        return [*lines, *self.closed(), "}", ""]

    def closed(self) -> list[str]:
        """Back to the closures; what is left of them."""
        nv, nphi = self.parts.size("nv"), self.parts.size("nphi")
        real, zero = self.real.name, self.real.number(0.0)
        rows = self.parts.size("nphi") + self.parts.size("nc")
        return [
            f"  {real} delta[{nv + 1}], phi[{rows}], worst = {zero};",
            f"  for (int k = 0; k < {self.parts.iterations}; k++) {{",
            f"    {self.call('correct_q', 'delta')}",
            f"    {self.name}_move(s, delta);", "  }",
            f"  {self.call('correct_v', 'delta')}",
            f"  for (int k = 0; k < {nv}; k++) liaison_add(&s->v[k], &s->v_low[k], delta[k]);",
            f"  {self.call('closure', 'phi')}",
            f"  for (int k = 0; k < {nphi}; k++) {{",
            f"    const {real} size = phi[k] < {zero} ? -phi[k] : phi[k];",
            "    if (!(size <= worst)) worst = size;", "  }",
            "  return worst;",
        ]  # fmt: skip

    def outputs_at(self) -> list[str]:
        """Outputs, of angles with their turns."""
        if "outputs" not in self.entries:
            return []
        real, nq = self.real.name, self.parts.size("nq")
        head = f"void {self.name}_outputs_at({self.name}_state *s, const {real} *u, {real} *out)"
        lines = [head, "{", "  (void)u;"]
        if "q" in self.entries["outputs"].arguments:
            turn = TURN[real][0]
            lines += [
                f"  {real} q[{nq}];",
                f"  for (int k = 0; k < {nq}; k++) q[k] = s->q[k] + {turn} * ({real})s->turns[k];",
            ]
        return [*lines, f"  {self.call('outputs', 'out', q='q')}", "}", ""]


def _wrapped(text: str, width: int = 90) -> list[str]:
    """Lines of a comment."""
    lines = [" *  "]
    for word in text.split():
        if len(lines[-1]) + len(word) > width:
            lines.append(" *  ")
        lines[-1] += f" {word}"
    return lines
