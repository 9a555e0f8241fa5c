"""Stages as LLVM IR: functions of single numbers and of vectors, and the entry that calls them.

Public names: StagesPlan, stages_plan, stages_functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from liaison.expr import Expr, topological
from liaison.program.derivatives.stages import Numbers, Stages, Vectors
from liaison.program.plan import Functions, Piece, Plan, plan_of
from liaison.program.program import Program

from .entries import ARGUMENTS, Form, Module, Writer, masked_store
from .sincos import double

STAGED = f"{ARGUMENTS}, ptr noalias readonly %stage"
"""No function writes a place that it reads: reads by `stage` and writes by `out` never meet."""

MOVED = (
    "ptr noalias readonly %stage0, ptr noalias readonly %stage1, ptr noalias readonly %lanes, "
    "ptr noalias %target, ptr noalias readonly %constants, ptr noalias %out"
)
SHORT = 150  # operations of a piece: as many stores make a compiler take more than linear time
LINE = 8  # doubles of a cache line, at which the workspace begins


@final
@dataclass(frozen=True, slots=True)
class StagesPlan:
    """How stages are computed: the plan of each function of single numbers, by its place."""

    stages: Stages
    plans: Mapping[int, Plan]

    @property
    def work_size(self) -> int:
        """Doubles of workspace: places, what is left to begin at a cache line, plans' own."""
        return LINE + self.stages.size + max((p.work_size for p in self.plans.values()), default=0)

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All functions of single numbers."""
        return tuple(piece for plan in self.plans.values() for piece in plan.pieces)


def stages_plan(stages: Stages, lanes: int, size: int, functions: Functions) -> StagesPlan:
    """The plan of an entry of stages; so many angles may be turned at once."""
    plans = {}
    for k, function in enumerate(stages.functions):
        if isinstance(function, Numbers):
            formulas, places = [x for _, x in function.writes], [i for i, _ in function.writes]
            plan = plan_of(formulas, lanes=lanes, size=min(size, SHORT), functions=functions)
            pieces = [
                replace(piece, outputs=tuple((places[i], node) for i, node in piece.outputs))
                for piece in plan.pieces
            ]
            plans[k] = replace(plan, pieces=tuple(pieces))
    return StagesPlan(stages, plans)


def stages_functions(module: Module, name: str, program: Program, plan: StagesPlan) -> str:
    """The functions of an entry, and the whole that calls them."""
    texts, stages = [], plan.stages
    if stages.constants:
        listed = ", ".join(f"double {double(x)}" for x in stages.constants)
        kind = f"[{len(stages.constants)} x double]"
        texts.append(f"@{name}.constants = internal constant {kind} [{listed}], align 64")
    for k, function in enumerate(stages.functions):
        if isinstance(function, Vectors):
            texts.append(_OfVectors(module, program, plan, function).written(f"@{name}.{k}"))
            continue
        for n, piece in enumerate(plan.plans[k].pieces):
            writer = _OfNumbers(module, program, plan, k, piece)
            texts.append(writer.function(f"define internal void @{name}.{k}.{n}({STAGED})"))
    return "\n".join([*texts, _whole(name, plan)])


def _whole(name: str, plan: StagesPlan) -> str:
    """The function of the entry: calls of all others."""
    stages = plan.stages
    lines = [f"define void @{name}({ARGUMENTS}) nounwind {{"]
    lines += [
        "  %address = ptrtoint ptr %work to i64",
        "  %behind = sub i64 0, %address",
        f"  %skip = and i64 %behind, {8 * LINE - 1}",
        "  %stage = getelementptr i8, ptr %work, i64 %skip",
        f"  %own = getelementptr double, ptr %stage, i64 {stages.size}",
    ]
    passed = "double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %stage, ptr %own, ptr %stage"
    constants = f"@{name}.constants" if stages.constants else "%stage"
    for n, call in enumerate(stages.calls):
        if call.function in plan.plans:
            count = len(plan.plans[call.function].pieces)
            lines += [f"  call void @{name}.{call.function}.{k}({passed})" for k in range(count)]
            continue
        starts = [("%stage", call.shift), (constants, call.shift), ("%out", call.out)]
        order = (0, 0, 1, 2)
        lines += [
            f"  %a{n}.{k} = getelementptr double, ptr {base}, i64 {shift}"
            for k, (base, shift) in enumerate(starts)
        ]
        arguments = ", ".join(f"ptr %a{n}.{k}" for k in order)
        lines.append(f"  call void @{name}.{call.function}(ptr %stage, ptr %stage, {arguments})")
    return "\n".join([*lines, "  ret void", "}"])


class _OfNumbers(Writer):
    """Writes a piece of a function of single numbers; places are read and written by `out`."""

    def __init__(
        self, module: Module, program: Program, plan: StagesPlan, k: int, piece: Piece
    ) -> None:
        super().__init__(module, program, plan.plans[k], piece)
        self.inputs = _Inputs(program.inputs, plan.stages.places)

    def clear(self, outputs: dict[Expr, list[int]]) -> None:
        """Nothing is written at once: places between those written here belong to others."""


class _Inputs(dict[Expr, tuple[str, int]]):
    """Where a symbol is found: a place, or an argument of the entry."""

    def __init__(self, inputs: Mapping[Expr, tuple[str, int]], places: Mapping[Expr, int]) -> None:
        super().__init__()
        self.known, self.places = inputs, places

    def __missing__(self, x: Expr) -> tuple[str, int]:
        return ("stage", self.places[x]) if x in self.places else self.known[x]


class _OfVectors(Writer):
    """Writes a function of vectors."""

    def __init__(
        self, module: Module, program: Program, plan: StagesPlan, vectors: Vectors
    ) -> None:
        order = topological(vectors.formulas)
        numbers = {node: float(node.value) for node in order if node.op == "const"}
        items = tuple((node,) for node in order if node.op not in ("const", "symbol"))
        self.form = Form(vectors.lanes)
        super().__init__(module, program, Plan((), 0, numbers), Piece(items, {}, {}, ()))
        self.vectors, self.places = vectors, plan.stages.places
        self.mask = f"<{vectors.lanes} x i1>"
        self.used: dict[Expr, int] = {}  # single number -> by which name it was loaded last

    def written(self, name: str) -> str:
        """The whole function."""
        lanes = self.vectors.lanes
        targets: dict[Expr, list[tuple[str, int, int, int]]] = {}
        for place, node in self.vectors.writes:
            targets.setdefault(node, []).append(("target", place, 0, lanes))
        for result in self.vectors.results:
            target = ("out", result.index - result.first, result.first, result.count)
            targets.setdefault(result.formula, []).append(target)
        for item in self.piece.items:
            self.item(item)
            for target in targets.pop(item[0], ()):
                self.kept(*target, self.operand(item[0]))
        for node, places in targets.items():
            for target in places:
                self.kept(*target, self.operand(node))
        head = f"define internal void {name}({MOVED}) noinline nounwind {{"
        return "\n".join([head, "entry:", *self.lines, "  ret void", "}"])

    def kept(self, array: str, place: int, first: int, count: int, value: str) -> None:
        """Stores lanes: all of them, or some."""
        kind = self.form.kind
        target = self.put(f"getelementptr double, ptr %{array}, i64 {place}")
        if count == self.vectors.lanes:
            self.lines.append(f"  store {kind} {value}, ptr {target}, align 8")
            return
        stored = range(first, first + count)
        bits = ", ".join(f"i1 {int(k in stored)}" for k in range(self.vectors.lanes))
        store = masked_store(self.vectors.lanes)
        self.module.stores.add(self.vectors.lanes)
        arguments = f"{kind} {value}, ptr {target}, i32 8, {self.mask} <{bits}>"
        self.lines.append(f"  call void {store}({arguments})")

    def fetched(self, node: Expr) -> str:
        """A number, lanes, or a single number in every lane."""
        if node in self.numbers:
            return self.form.number(self.numbers[node])
        for array, listed in (
            ("lanes", self.vectors.reads),
            ("constants", self.vectors.constants),
        ):
            if node in listed:
                place = self.place(array, listed[node])
                return self.put(f"load {self.form.kind}, ptr {place}, align 8")
        raise KeyError(node)

    def operand(self, node: Expr) -> str:
        """The name of a value; a single number is loaded anew where it is used again.

        It is a part of the instruction then. Kept in a register as wide as a vector it would be
        stored meanwhile: the same place by two names is loaded twice.
        """
        if node not in self.places or node in self.vectors.reads:
            return super().operand(node)
        self.used[node] = 1 - self.used.get(node, 1)
        place = self.place(f"stage{self.used[node]}", self.places[node])
        if self.form.lanes == 1:
            return self.put(f"load double, ptr {place}, align 8")
        one = self.put(f"load <1 x double>, ptr {place}, align 8")
        everywhere = f"<{self.form.lanes} x i32> zeroinitializer"
        return self.put(f"shufflevector <1 x double> {one}, <1 x double> poison, {everywhere}")
