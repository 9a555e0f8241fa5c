"""to_llvm: a program as machine code, through LLVM, in memory and cached on disk.

IR text is written straight from the plan, and no IR passes run: sharing and folding are done
already, and code generation alone gives faster code in a fraction of the time. Products and sums
may be contracted to fused multiply-adds; nothing else departs from IEEE 754.

Public names: to_llvm, entry_ir.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache as memo
from math import copysign
from typing import Any

from liaison.expr import Expr, Table

from .kernel import MachineKernel
from .machine import load, vector_lanes
from .plan import LARGEST_POWER, PIECE, TURNING, Item, Piece, Plan, plan
from .program import Program
from .sincos import double, sincos_lines, slow_function
from .table_ir import table_function

ARGUMENTS = (
    "double %t, ptr noalias readonly %q, ptr noalias readonly %v, ptr noalias readonly %u, "
    "ptr noalias readonly %p, ptr noalias readonly %x, ptr noalias %out, ptr noalias %work"
)
PASSED = "double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %out, ptr %work"
PLAIN = {
    "add": "fadd contract double {}, {}",
    "sub": "fsub contract double {}, {}",
    "mul": "fmul contract double {}, {}",
    "div": "fdiv double {}, {}",
    "neg": "fneg double {}",
    "sqrt": "call double @llvm.sqrt.f64(double {})",
    "abs": "call double @llvm.fabs.f64(double {})",
    **{n: f"call double @{n}(double {{}})" for n in ("tan", "asin", "acos", "atan", "exp", "log")},
    "atan2": "call double @atan2(double {}, double {})",
}
ZERO, ONE = double(0.0), double(1.0)
MANY = 64  # zeros among the outputs that are worth a call of memset


def to_llvm(
    program: Program, *, optimize: int = 2, cache: bool = True, size: int = PIECE
) -> MachineKernel:
    """A kernel of machine code for this computer; entries are compiled when first asked for.

    Args:
        program: what is computed.
        optimize: level of code generation, 0 (quick to compile) to 3.
        cache: keep object code on disk, and take it from there.
        size: operations in one function, about.
    """

    @memo
    def planned(entry: str) -> Plan:
        return plan(program, entry, lanes=vector_lanes(), size=size)

    def compiler(entries: tuple[str, ...]) -> tuple[dict[str, int], Any]:
        names = {entry: f"liaison_{k}" for k, entry in enumerate(entries)}
        text = module_ir(program, {names[entry]: planned(entry) for entry in entries})
        code = load(text, names.values(), optimize=optimize, keep=cache)
        return {entry: code[name] for entry, name in names.items()}, code

    return MachineKernel(program, compiler, lambda entry: planned(entry).work_size)


def module_ir(program: Program, plans: Mapping[str, Plan]) -> str:
    """IR text of a module: one function for each plan, by name, and those it is cut into."""
    module = _Module()
    bodies = [module.entry(name, program, made) for name, made in plans.items()]
    return "\n".join([*module.declarations(), *bodies, module.tail(), ""])


class _Module:
    """What the functions of a module share: declarations, cold functions, tables."""

    def __init__(self) -> None:
        self.lanes: set[int] = set()
        self.tables: dict[tuple[Table, int], str] = {}

    def entry(self, name: str, program: Program, made: Plan) -> str:
        count = len(made.pieces)
        if count == 1:
            writer = _Writer(self, program, made, made.pieces[0])
            return writer.function(f"define void @{name}")
        names = [f"@{name}.{k}" for k in range(count)]
        parts = [
            _Writer(self, program, made, piece).function(f"define internal void {part}")
            for part, piece in zip(names, made.pieces, strict=True)
        ]
        calls = [f"  call void {part}({PASSED})" for part in names]
        whole = [f"define void @{name}({ARGUMENTS}) nounwind {{", *calls, "  ret void", "}"]
        return "\n".join([*parts, *whole])

    def declarations(self) -> list[str]:
        lines = ["declare double @sin(double)", "declare double @cos(double)"]
        lines += ["declare double @llvm.sqrt.f64(double)", "declare double @llvm.fabs.f64(double)"]
        lines += [
            f"declare double @{n}(double)" for n in ("tan", "asin", "acos", "atan", "exp", "log")
        ]
        lines += [f"declare double @{n}(double, double)" for n in ("atan2", "pow")]
        lines += ["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"]
        return lines

    def tail(self) -> str:
        """The cold functions that were asked for, and the weight of the branches to them."""
        cold = [slow_function(lanes) for lanes in sorted(self.lanes)]
        tables = [table_function(*key, name) for key, name in self.tables.items()]
        return "\n".join([*cold, *tables, '!0 = !{!"branch_weights", i32 100000, i32 1}'])


def is_positive_zero(x: float | None) -> bool:
    """0.0 and not −0.0."""
    return x == 0.0 and copysign(1.0, x) > 0


class _Writer:
    """Writes the function of one piece."""

    def __init__(self, module: _Module, program: Program, made: Plan, piece: Piece) -> None:
        self.module, self.inputs, self.piece = module, program.inputs, piece
        self.lines: list[str] = []
        self.names: dict[Expr, str] = {}
        self.numbers = made.numbers
        self.size = 1 + max((k for part in made.pieces for k, _ in part.outputs), default=-1)
        self.block = "entry"
        self.count = 0

    def function(self, head: str) -> str:
        piece = self.piece
        outputs: dict[Expr, list[int]] = {}
        for index, node in piece.outputs:
            outputs.setdefault(node, []).append(index)
        self.clear(outputs)
        for item in piece.items:
            self.item(item)
            for node in item:
                self.keep(node, outputs.pop(node, ()))
        for node, places in outputs.items():
            self.keep(node, places)
        return "\n".join(
            [f"{head}({ARGUMENTS}) nounwind {{", "entry:", *self.lines, "  ret void", "}"]
        )

    def clear(self, outputs: dict[Expr, list[int]]) -> None:
        """Many zeros among the outputs are written at once, before anything else."""
        zeros = [node for node in outputs if is_positive_zero(self.numbers.get(node))]
        if sum(len(outputs[node]) for node in zeros) < MANY:
            return
        for node in zeros:
            del outputs[node]
        length = f"i64 {8 * self.size}"
        self.lines.append(f"  call void @llvm.memset.p0.i64(ptr %out, i8 0, {length}, i1 false)")

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %n{self.count} = {text}")
        return f"%n{self.count}"

    def keep(self, node: Expr, outputs: Any) -> None:
        if node in self.piece.saves:
            self.store("work", self.piece.saves[node], self.operand(node))
        for index in outputs:
            self.store("out", index, self.operand(node))

    def store(self, array: str, index: int, value: str) -> None:
        self.lines.append(f"  store double {value}, ptr {self.place(array, index)}, align 8")

    def place(self, array: str, index: int) -> str:
        return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {index}")

    def operand(self, node: Expr) -> str:
        """The name of a value; loads it where it is not in this piece yet."""
        name = self.names.get(node)
        if name is None:
            name = self.names[node] = self.fetched(node)
        return name

    def fetched(self, node: Expr) -> str:
        if node in self.numbers:
            return double(self.numbers[node])
        array, index = (
            self.inputs[node] if node.op == "symbol" else ("work", self.piece.loads[node])
        )
        if array == "t":
            return "%t"
        return self.put(f"load double, ptr {self.place(array, index)}, align 8")

    def item(self, item: Item) -> None:
        node = item[0]
        if node.op in TURNING:
            self.turn(item)
            return
        args = [self.operand(arg) for arg in node.args]
        form = PLAIN.get(node.op)
        if form is not None:
            self.names[node] = self.put(form.format(*args))
        else:
            self.names[node] = SPECIAL[node.op](self, node, *args)

    def turn(self, item: Item) -> None:
        """Sines and cosines of one angle, or of several as a vector."""
        angles = list(dict.fromkeys(node.args[0] for node in item))
        lanes = next(n for n in (1, 2, 4, 8) if n >= len(angles))
        self.module.lanes.add(lanes)
        operand = self.gathered([self.operand(angle) for angle in angles], lanes)
        self.count += 1
        tag = f"s{self.count}"
        lines, sine, cosine, self.block = sincos_lines(tag, operand, lanes, self.block)
        self.lines += lines
        for node in item:
            vector = sine if node.op == "sin" else cosine
            lane = angles.index(node.args[0])
            extract = f"extractelement <{lanes} x double> {vector}, i32 {lane}"
            self.names[node] = vector if lanes == 1 else self.put(extract)

    def gathered(self, values: list[str], lanes: int) -> str:
        if lanes == 1:
            return values[0]
        kind = f"<{lanes} x double>"
        vector = "zeroinitializer"
        for lane, value in enumerate(values):
            vector = self.put(f"insertelement {kind} {vector}, double {value}, i32 {lane}")
        return vector

    def smaller(self, node: Expr, x: str, y: str) -> str:
        """y if y < x or y is NaN, else x; the other way round for max."""
        test = self.put(f"fcmp {'ult' if node.op == 'min' else 'ugt'} double {y}, {x}")
        lost = self.put(f"fcmp uno double {x}, {x}")
        chosen = self.put(f"select i1 {test}, double {y}, double {x}")
        return self.put(f"select i1 {lost}, double {x}, double {chosen}")

    def sign(self, node: Expr, x: str) -> str:
        above = self.put(f"fcmp ogt double {x}, {ZERO}")
        below = self.put(f"fcmp olt double {x}, {ZERO}")
        nan = self.put(f"fcmp uno double {x}, {x}")
        rest = self.put(f"select i1 {nan}, double {x}, double {ZERO}")
        lower = self.put(f"select i1 {below}, double {double(-1.0)}, double {rest}")
        return self.put(f"select i1 {above}, double {ONE}, double {lower}")

    def select(self, node: Expr, condition: str, x: str, y: str) -> str:
        test = self.put(f"fcmp ogt double {condition}, {ZERO}")
        return self.put(f"select i1 {test}, double {x}, double {y}")

    def power(self, node: Expr, x: str, y: str) -> str:
        """Whole powers by repeated multiplication, others by libm."""
        exponent = self.numbers.get(node.args[1])
        if exponent is None or exponent != int(exponent) or abs(exponent) > LARGEST_POWER:
            return self.put(f"call double @pow(double {x}, double {y})")
        product, square, left = "", x, abs(int(exponent))
        while left:
            if left & 1:
                product = self.put(f"fmul double {product}, {square}") if product else square
            left >>= 1
            square = self.put(f"fmul double {square}, {square}") if left else square
        return self.put(f"fdiv double {ONE}, {product or ONE}") if exponent < 0 else product or ONE

    def table(self, node: Expr, x: str) -> str:
        name = self.module.tables.setdefault(node.data, f"liaison_table{len(self.module.tables)}")
        return self.put(f"call double @{name}(double {x})")


SPECIAL: dict[str, Callable[..., str]] = {
    "min": _Writer.smaller,
    "max": _Writer.smaller,
    "sign": _Writer.sign,
    "select": _Writer.select,
    "pow": _Writer.power,
    "table": _Writer.table,
}
