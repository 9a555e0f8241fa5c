"""to_llvm: a program as machine code, through LLVM, in memory and cached on disk.

IR text is written straight from the plan, and no IR passes run: sharing and folding are done
already, and code generation alone gives faster code in a fraction of the time. Products and sums
may be contracted to fused multiply-adds; nothing else departs from IEEE 754.

Columns as LLVM IR: what they share first, then right-hand sides and solution, a column a lane.

The first stage is an entry like any other, whose results lie in the workspace. For each block of
columns follows a function that writes its right-hand sides as vectors, and a call of the one
function that solves for them.

Public names: to_llvm, ColumnsPlan, columns_plan, module_of, arithmetic_of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache as memo
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, final

from liaison.arguments import checked
from liaison.expr import Expr, collector_paused
from liaison.program.derivatives.columns import LANES, Columns, steps_of, unit
from liaison.program.kernel import MachineKernel
from liaison.program.plan import PIECE, Functions, Piece, Plan, plan, plan_of
from liaison.program.program import Program

from .batch import BatchCode, Variant, batch_ir
from .entries import (
    ARGUMENTS,
    NATIVE,
    PASSED,
    Arithmetic,
    Form,
    Module,
    Writer,
    entry_functions,
    masked_store,
)
from .machine import Code, load, vector_lanes
from .sincos import double

if TYPE_CHECKING:
    from liaison.program.derivatives.stages import Stages

    from .lanes import LaneCode
    from .stages import StagesPlan

VECTOR, MASK = f"<{LANES} x double>", f"<{LANES} x i1>"
STORE = masked_store(LANES)


@final
@dataclass(frozen=True, slots=True)
class ColumnsPlan:
    """How an entry of columns is computed: its first stage, then its blocks."""

    columns: Columns
    first: Plan

    @property
    def work_size(self) -> int:
        """Doubles of workspace: the first stage's own, its results, and a block's columns."""
        right = LANES * len(self.columns.right)
        return self.first.work_size + len(self.columns.shared) + right

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """Functions of the first stage."""
        return self.first.pieces


AnyPlan: TypeAlias = "Plan | ColumnsPlan | StagesPlan"


def columns_plan(
    columns: Columns | Stages,
    lanes: int,
    size: int = PIECE,
    functions: Functions = MappingProxyType({}),
) -> ColumnsPlan | StagesPlan:
    """The plan of an entry of columns or stages; so many angles may be turned at once."""
    if not isinstance(columns, Columns):
        from .stages import stages_plan

        return stages_plan(columns, lanes, size, functions)
    shared = plan_of(columns.shared, lanes=lanes, size=size, functions=functions)
    return ColumnsPlan(columns, shared)


def module_of(
    program: Program, plans: Mapping[str, AnyPlan], arithmetic: Arithmetic = NATIVE
) -> str:
    """IR text of a module: one function for each plan, by name, and those it is cut into."""
    module, bodies = Module(arithmetic), []
    for name, entry_plan in plans.items():
        if isinstance(entry_plan, ColumnsPlan):
            bodies.append(columns_functions(module, name, program, entry_plan))
            module.stores.add(LANES)
        elif isinstance(entry_plan, Plan):
            bodies.append(entry_functions(module, name, program, entry_plan))
        else:
            from .stages import stages_functions

            bodies.append(stages_functions(module, name, program, entry_plan))
    declared = module.declarations()
    for n in sorted(module.stores):
        kinds = f"<{n} x double>, ptr, i32, <{n} x i1>"
        declared.append(f"declare void {masked_store(n)}({kinds})")
    return "\n".join([*declared, *bodies, module.tail(), ""])


def columns_functions(
    module: Module, name: str, program: Program, columns_plan: ColumnsPlan
) -> str:
    """The functions of an entry: pieces of its first stage, blocks, solution, and the whole."""
    staged = ARGUMENTS.replace("ptr noalias %out, ptr noalias %work", "ptr %out, ptr %work")
    parts = [f"@{name}.{k}" for k in range(len(columns_plan.first.pieces))]
    texts = []
    for part, piece in zip(parts, columns_plan.first.pieces, strict=True):
        writer = Writer(module, program, columns_plan.first, piece)
        texts.append(writer.function(f"define internal void {part}({staged})"))
    texts += [
        _Right(module, program, columns_plan, k).written(f"@{name}.right{k}")
        for k in range(len(columns_plan.columns.blocks))
    ]
    texts.append(_Solution(module, program, columns_plan).written(f"@{name}.solve"))
    return "\n".join([*texts, _whole(name, parts, columns_plan)])


def _whole(name: str, parts: list[str], columns_plan: ColumnsPlan) -> str:
    """The function of the entry: calls of all others."""
    first, shared = columns_plan.first.work_size, len(columns_plan.columns.shared)
    lines = [f"define void @{name}({ARGUMENTS}) nounwind {{"]
    lines.append(f"  %stage = getelementptr double, ptr %work, i64 {first}")
    lines.append(f"  %right = getelementptr double, ptr %work, i64 {first + shared}")
    passed = PASSED.replace("%out", "%stage")
    lines += [f"  call void {part}({passed})" for part in parts]
    k = 0
    for group, starts in zip(
        columns_plan.columns.groups, _starts(columns_plan.columns), strict=True
    ):
        for column in range(0, group.width, LANES):
            lines.append(f"  call void @{name}.right{k}(ptr %stage, ptr %right)")
            arguments = [f"ptr %stage, ptr %right, i64 {group.width - column}, i64 {group.width}"]
            for part, start in enumerate(starts):
                place = f"%o{k}.{part}"
                lines.append(f"  {place} = getelementptr double, ptr %out, i64 {start + column}")
                arguments.append(f"ptr {place}")
            lines.append(f"  call void @{name}.solve({', '.join(arguments)})")
            k += 1
    return "\n".join([*lines, "  ret void", "}"])


def _starts(columns: Columns) -> list[list[int]]:
    """Where the block of each group and part begins among the outputs."""
    starts: list[list[int]] = [[] for _ in columns.groups]
    start = 0
    for k, (_, size) in enumerate(columns.layout):
        starts[k % len(columns.groups)].append(start)
        start += size
    return starts


class _Vectors(Writer):
    """Writes formulas of some symbols for a vector of columns; the rest is in the first stage."""

    form = Form(LANES)

    def __init__(
        self,
        module: Module,
        program: Program,
        columns_plan: ColumnsPlan,
        formulas: Sequence[Expr],
        symbols: Mapping[Expr, Callable[[], str]],
    ) -> None:
        steps = steps_of(formulas, list(symbols))
        read = [*(arg for node in steps for arg in node.args), *formulas]
        numbers = {node: float(node.value) for node in read if node.op == "const"}
        items = tuple((node,) for node in steps)
        plan = replace(columns_plan.first, pieces=(), numbers=numbers)
        super().__init__(module, program, plan, Piece(items, {}, {}, ()))
        self.symbols = symbols
        self.places = {node: k for k, node in enumerate(columns_plan.columns.shared)}

    def computed(self) -> None:
        """All operations."""
        for item in self.piece.items:
            self.item(item)

    def ended(self, name: str, arguments: str) -> str:
        """The whole function."""
        head = f"define internal void {name}({arguments}) noinline nounwind {{"
        return "\n".join([head, "entry:", *self.lines, "  ret void", "}"])

    def fetched(self, node: Expr) -> str:
        """A number, a symbol's vector, or what all columns share, in every lane."""
        if node in self.numbers:
            return self.form.number(self.numbers[node])
        if node in self.symbols:
            return self.symbols[node]()
        place = self.put(f"getelementptr double, ptr %stage, i64 {self.places[node]}")
        return self.splat(VECTOR, "double " + self.put(f"load double, ptr {place}, align 8"))

    def splat(self, kind: str, value: str) -> str:
        """A value in every lane."""
        one = self.put(f"insertelement {kind} poison, {value}, i32 0")
        order = f"<{LANES} x i32> zeroinitializer"
        return self.put(f"shufflevector {kind} {one}, {kind} poison, {order}")


class _Right(_Vectors):
    """Writes the right-hand sides of a block."""

    def __init__(self, module: Module, program: Program, columns_plan: ColumnsPlan, k: int) -> None:
        block = columns_plan.columns.blocks[k]
        symbols = {
            seed: lambda lane=lane: f"<{', '.join(f'double {double(x)}' for x in unit(lane))}>"
            for lane, seed in enumerate(block.seeds)
        }
        self.rows = block.rows
        super().__init__(module, program, columns_plan, block.rows, symbols)

    def written(self, name: str) -> str:
        """The whole function."""
        self.computed()
        for i, row in enumerate(self.rows):
            value = self.operand(row)
            place = self.put(f"getelementptr double, ptr %right, i64 {LANES * i}")
            self.lines.append(f"  store {VECTOR} {value}, ptr {place}, align 8")
        return self.ended(name, "ptr %stage, ptr %right")


class _Solution(_Vectors):
    """Writes x(b) for the right-hand sides of any block."""

    def __init__(self, module: Module, program: Program, columns_plan: ColumnsPlan) -> None:
        columns = self.columns = columns_plan.columns
        symbols = {b: lambda i=i: self.side(i) for i, b in enumerate(columns.right)}
        super().__init__(module, program, columns_plan, columns.solution, symbols)

    def side(self, row: int) -> str:
        """A row of the right-hand sides."""
        place = self.put(f"getelementptr double, ptr %right, i64 {LANES * row}")
        return self.put(f"load {VECTOR}, ptr {place}, align 8")

    def written(self, name: str) -> str:
        """The whole function."""
        kind, numbers = f"<{LANES} x i64>", ", ".join(f"i64 {k}" for k in range(LANES))
        mask = self.put(f"icmp ult {kind} <{numbers}>, {self.splat(kind, 'i64 %left')}")
        self.computed()
        for part, (_, rows) in enumerate(self.columns.parts):
            for i, row in enumerate(rows):
                value, step = self.operand(row), self.put(f"mul i64 %width, {i}")
                place = self.put(f"getelementptr double, ptr %o{part}, i64 {step}")
                arguments = f"{VECTOR} {value}, ptr {place}, i32 8, {MASK} {mask}"
                self.lines.append(f"  call void {STORE}({arguments})")
        outs = "".join(f", ptr %o{k}" for k in range(len(self.columns.parts)))
        return self.ended(name, f"ptr %stage, ptr %right, i64 %left, i64 %width{outs}")


@checked
def to_llvm(
    program: Program,
    *,
    optimize: int | None = None,
    cache: bool = True,
    size: int = PIECE,
    lanes: int | None = None,
    portable: bool = False,
) -> MachineKernel:
    """A kernel of machine code for this computer; entries are compiled when first asked for.

    Args:
        program: what is computed.
        optimize: level of code generation, 0 (quick to compile) to 3; None for 2, and 1 where an
            entry is so long that it is cut: a fifth less time to compile, a hundredth more to run.
        cache: keep object code on disk, and take it from there.
        size: operations in one function, about.
        lanes: states that a batch computes at once, and runs that march together; as many as a
            register holds if None.
        portable: results with the same bits on every machine: functions of our own, no
            contraction. Loops that call such a kernel are compiled likewise.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> liaison.to_llvm(program)("mass_matrix", q=[0.3]).round(6)
        array([0.333333])
    """
    arithmetic = arithmetic_of(portable)
    options: dict[str, Any] = {"optimize": optimize, "cache": cache, "size": size, "lanes": lanes}

    @memo
    def planned(entry: str, angles: int) -> Plan:
        return plan(program, entry, lanes=angles, size=size, functions=arithmetic.functions)

    @memo
    def arranged(entry: str) -> AnyPlan:
        columns = program.entry(entry).columns
        if columns is None:
            return planned(entry, vector_lanes())
        return columns_plan(columns, vector_lanes(), size, arithmetic.functions)

    def loaded(text: str, symbols: Iterable[str], *plans: AnyPlan) -> Code:
        level = _level(plans) if optimize is None else optimize
        return load(text, symbols, optimize=level, keep=cache, imports=arithmetic.addresses())

    def compiler(entries: tuple[str, ...]) -> tuple[dict[str, int], Any]:
        names = {entry: f"liaison_{k}" for k, entry in enumerate(entries)}
        with collector_paused():  # many small objects, no cycles
            plans = {names[entry]: arranged(entry) for entry in entries}
            text = module_of(program, plans, arithmetic)
        code = loaded(text, names.values(), *plans.values())
        return {entry: code[name] for entry, name in names.items()}, code

    def batch_compiler(entry: str, variant: Variant) -> BatchCode:
        entry_plan, width = planned(entry, 1), lanes or vector_lanes()
        text = batch_ir(program, entry_plan, "liaison_batch", width, variant, arithmetic)
        code = loaded(text, ["liaison_batch"], entry_plan)
        numbers = tuple(entry_plan.numbers_written())
        return BatchCode(code["liaison_batch"], width, entry_plan.work_size, numbers, code)

    def work(entry: str) -> int:
        return arranged(entry).work_size

    side_by_side = partial(_lane_code, program, arithmetic, lanes, arranged, loaded)
    recipe = partial(to_llvm, **options, portable=portable), (program,)
    more: dict[str, Any] = {"lane_compiler": side_by_side, "recipe": recipe, "portable": portable}
    return MachineKernel(program, compiler, work, batch_compiler, **more)


def _lane_code(
    program: Program,
    arithmetic: Arithmetic,
    lanes: int | None,
    arranged: Callable[[str], AnyPlan],
    loaded: Callable[..., Code],
    entries: tuple[str, ...],
) -> LaneCode | None:
    """Entries over the lanes of a register; None where they are columns, or there is one lane."""
    from .lanes import LaneCode, lanes_ir

    arrangements, width = [arranged(entry) for entry in entries], lanes or vector_lanes()
    plans = {f"liaison_{k}": x for k, x in enumerate(arrangements) if isinstance(x, Plan)}
    if len(plans) < len(entries) or width == 1:
        return None
    code = loaded(lanes_ir(program, plans, width, arithmetic), plans, *plans.values())
    work_size = width * max(x.work_size for x in plans.values())
    addresses = {entry: code[name] for entry, name in zip(entries, plans, strict=True)}
    return LaneCode(addresses, width, work_size, code)


def _level(plans: Iterable[AnyPlan]) -> int:
    """Of code generation, where none is chosen."""
    return 2 if all(len(entry_plan.pieces) == 1 for entry_plan in plans) else 1


def arithmetic_of(portable: bool) -> Arithmetic:
    """How results are rounded."""
    if not portable:
        return NATIVE
    from .portable import PORTABLE

    return PORTABLE
