"""Entries as LLVM IR, for one state and for lanes of states; tables, with the search for a knot.

A value is a double, or a vector of doubles that belong to as many states; what the writer needs to
know of that is a `Form`. Functions that processors do not have are called once for each lane.

Tables of data as LLVM IR: a search among the breaks, then one polynomial.

Public names: Form, SCALAR, Arithmetic, NATIVE, Module, Writer, module_ir, table_function,
masked_store, shared_functions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache as memo
from math import copysign
from typing import Any, final

from liaison.expr import Expr, Table
from liaison.program.parts import Call, Shared
from liaison.program.plan import LARGEST_POWER, TURNING, Functions, Item, Piece, Plan
from liaison.program.program import Program

from .sincos import Lines, double, single, slow_function

SEARCH = """\
entry:
  br label %test
test:
  %low = phi i64 [0, %entry], [%lower, %step]
  %high = phi i64 [{n}, %entry], [%higher, %step]
  %going = icmp slt i64 %low, %high
  br i1 %going, label %step, label %found
step:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %place = getelementptr inbounds double, ptr @{name}.breaks, i64 %middle
  %break = load double, ptr %place
  %below = fcmp oge double %break, %x
  %next = add i64 %middle, 1
  %lower = select i1 %below, i64 %low, i64 %next
  %higher = select i1 %below, i64 %middle, i64 %high
  br label %test
found:
  %origin.place = getelementptr inbounds double, ptr @{name}.origins, i64 %low
  %origin = load double, ptr %origin.place
  %t = fsub double %x, %origin
  %row = mul i64 %low, {m}"""


def table_function(table: Table, order: int, name: str, contract: str = "contract ") -> str:
    """A function of one double: the table's derivative of this order; NaN beyond all breaks."""
    coefficients = table.derivative_coefficients(order)
    m = coefficients.shape[1]
    lines = [
        _array(f"{name}.breaks", table.breaks),
        _array(f"{name}.origins", table.origins),
        _array(f"{name}.values", coefficients.ravel()),
        f"define internal double @{name}(double %x) noinline nounwind {{",
        SEARCH.format(n=len(table.breaks), m=m, name=name),
    ]
    for k in range(m):
        lines.append(f"  %i{k} = add i64 %row, {k}")
        lines.append(f"  %p{k} = getelementptr inbounds double, ptr @{name}.values, i64 %i{k}")
        lines.append(f"  %c{k} = load double, ptr %p{k}")
    total = f"%c{m - 1}"
    for k in range(m - 2, -1, -1):
        lines.append(f"  %m{k} = fmul {contract}double {total}, %t")
        lines.append(f"  %s{k} = fadd {contract}double %m{k}, %c{k}")
        total = f"%s{k}"
    return "\n".join([*lines, f"  ret double {total}", "}"])


def _array(name: str, values: Iterable[float]) -> str:
    entries = [f"double {double(float(value))}" for value in values]
    return f"@{name} = internal constant [{len(entries)} x double] [{', '.join(entries)}]"


ARGUMENTS = (
    "double %t, ptr noalias readonly %q, ptr noalias readonly %v, ptr noalias readonly %u, "
    "ptr noalias readonly %p, ptr noalias readonly %x, ptr noalias %out, ptr noalias %work"
)
PASSED = "double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %out, ptr %work"
LIBM = {**dict.fromkeys(("tan", "asin", "acos", "atan", "exp", "log"), 1), "atan2": 2, "pow": 2}
MANY = 64  # zeros among the outputs that are worth a call of memset


@final
@dataclass(frozen=True, slots=True)
class Form:
    """What a value is: a double or float, or a vector of `lanes` of them.

    Attributes:
        lanes: how many.
        real: the type of each.
        contract: a mark of sums and products that may be fused; empty where none may.
    """

    lanes: int = 1
    real: str = "double"
    contract: str = "contract "

    @property
    def kind(self) -> str:
        """The type in IR."""
        return self.real if self.lanes == 1 else f"<{self.lanes} x {self.real}>"

    @property
    def mask(self) -> str:
        """The type of a comparison."""
        return "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"

    def number(self, value: float) -> str:
        """A constant, in every lane."""
        text = double(value) if self.real == "double" else single(value)
        return text if self.lanes == 1 else f"splat ({self.real} {text})"

    @property
    def plain(self) -> dict[str, str]:
        """Operations that are one instruction."""
        return _plain(self)


@memo
def _plain(form: Form) -> dict[str, str]:
    kind, bits = form.kind, 64 if form.real == "double" else 32
    suffix = f"f{bits}" if form.lanes == 1 else f"v{form.lanes}f{bits}"
    return {
        "add": f"fadd {form.contract}{kind} {{}}, {{}}",
        "sub": f"fsub {form.contract}{kind} {{}}, {{}}",
        "mul": f"fmul {form.contract}{kind} {{}}, {{}}",
        "div": f"fdiv {kind} {{}}, {{}}",
        "neg": f"fneg {kind} {{}}",
        "sqrt": f"call {kind} @llvm.sqrt.{suffix}({kind} {{}})",
        "abs": f"call {kind} @llvm.fabs.{suffix}({kind} {{}})",
    }


SCALAR = Form()


@final
@dataclass(frozen=True, slots=True)
class Arithmetic:
    """How results are rounded: as the machine does it, or the same everywhere (see `portable`).

    Attributes:
        contract: a mark of sums and products that may be fused; empty where none may.
        sincos: writes sines and cosines: of a prefix of names, and so many lanes.
        prefix: of the names of other functions.
        addresses: where these lie; none for functions of the system.
        functions: what computes formulas without symbols; those of Python where empty.
    """

    contract: str = "contract "
    sincos: Callable[[str, int], Lines] = Lines
    prefix: str = ""
    addresses: Callable[[], Mapping[str, int]] = dict
    functions: Functions = field(default_factory=dict)


NATIVE = Arithmetic()


def module_ir(program: Program, plans: Mapping[str, Plan], arithmetic: Arithmetic = NATIVE) -> str:
    """IR text of a module: one function for each plan, by name, and those it is cut into."""
    module = Module(arithmetic)
    bodies = [
        entry_functions(module, name, program, entry_plan) for name, entry_plan in plans.items()
    ]
    return "\n".join([*module.declarations(), *bodies, module.tail(), ""])


def entry_functions(module: Module, name: str, program: Program, entry_plan: Plan) -> str:
    """The function of an entry, and those it is cut into.

    Args:
        module: in which they stand.
        name: of the function.
        program: with the entry.
        entry_plan: how it is computed.
    """
    count = len(entry_plan.pieces)

    def written(head: str, piece: Piece) -> str:
        return Writer(module, program, entry_plan, piece).function(f"{head}({ARGUMENTS})")

    if count == 1:
        return written(f"define void @{name}", entry_plan.pieces[0])
    names = [f"@{name}.{k}" for k in range(count)]
    parts = [
        written(f"define internal void {part}", piece)
        for part, piece in zip(names, entry_plan.pieces, strict=True)
    ]
    calls = [f"  call void {part}({PASSED})" for part in names]
    whole = [f"define void @{name}({ARGUMENTS}) nounwind {{", *calls, "  ret void", "}"]
    return "\n".join([*parts, *whole])


def shared_functions(
    module: Module, program: Program, plans: Mapping[str, Shared], prefix: str
) -> str:
    """The functions of entries that share pieces, by name; rather small than fast.

    Args:
        module: in which they stand.
        program: with the entries.
        plans: name of the function -> how it is computed.
        prefix: of the names of pieces.
    """
    calls = [call for plan in plans.values() for call in plan.calls]
    uses = Counter(id(call.piece) for call in calls)
    texts: list[str] = []
    names: dict[int, str] = {}

    def written(head: str, plan: Shared, piece: Piece) -> None:
        writer = Writer(module, program, Plan((piece,), 0, plan.numbers), piece)
        writer.is_small = True
        texts.append(writer.function(f"{head}({ARGUMENTS}) minsize optsize"))

    for name, plan in plans.items():
        first = plan.calls[0]
        if len(plan.calls) == 1 and uses[id(first.piece)] == 1 and first == Call(first.piece):
            written(f"define void @{name}", plan, first.piece)
            continue
        for call in plan.calls:
            if id(call.piece) not in names:
                names[id(call.piece)] = part = f"@{prefix}.{len(names)}"
                written(f"define internal void {part}", plan, call.piece)
        texts.append(_calling(name, plan, names))
    return "\n".join(texts)


def _calling(name: str, plan: Shared, names: Mapping[int, str]) -> str:
    """A function of calls."""
    lines = [f"define void @{name}({ARGUMENTS}) nounwind minsize optsize {{"]
    for n, call in enumerate(plan.calls):
        passed = PASSED
        if call.q >= 0:
            lines.append(f"  %q{n} = getelementptr double, ptr %work, i64 {call.q}")
            passed = passed.replace("%q", f"%q{n}")
        if call.out:
            lines.append(f"  %out{n} = getelementptr double, ptr %out, i64 {call.out}")
            passed = passed.replace("%out", f"%out{n}")
        lines.append(f"  call void {names[id(call.piece)]}({passed})")
    return "\n".join([*lines, "  ret void", "}"])


class Module:
    """What the functions of a module share: declarations, cold functions, tables."""

    def __init__(self, arithmetic: Arithmetic = NATIVE) -> None:
        self.arithmetic, self.prefix = arithmetic, arithmetic.prefix
        self.lanes: set[int] = set()
        self.turns: set[int] = set()
        self.tables: dict[tuple[Table, int], str] = {}
        self.spread: dict[tuple[str, int], None] = {}  # (function of doubles, lanes), in order
        self.stores: set[int] = set()  # lanes of vectors of which some are stored

    def declarations(self) -> list[str]:
        """Functions that are made elsewhere."""
        lines = [f"declare double @{self.prefix}{name}(double)" for name in ("sin", "cos")]
        for name, arity in LIBM.items():
            lines.append(f"declare double @{self.prefix}{name}({', '.join(['double'] * arity)})")
        return [*lines, "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)"]

    def tail(self) -> str:
        """The cold functions that were asked for, and the weight of the branches to them."""
        turns = [_turn(lanes, self.arithmetic) for lanes in sorted(self.turns)]
        cold = [slow_function(lanes, self.prefix) for lanes in sorted(self.lanes)]
        contract = self.arithmetic.contract
        tables = [table_function(*key, name, contract) for key, name in self.tables.items()]
        spread = [
            _spread(name, LIBM.get(name.removeprefix(self.prefix), 1), Form(lanes))
            for name, lanes in self.spread
        ]
        return "\n".join(
            [*turns, *cold, *tables, *spread, '!0 = !{!"branch_weights", i32 100000, i32 1}']
        )


def _turn(lanes: int, arithmetic: Arithmetic) -> str:
    """A function of sine and cosine, for entries that are rather small than fast."""
    kind = Form(lanes).kind
    pair = f"{{ {kind}, {kind} }}"
    lines, sine, cosine, _ = arithmetic.sincos("s", lanes).both("%x", "entry")
    return "\n".join([
        f"define internal {pair} @liaison_turn{lanes}({kind} %x) noinline nounwind {{", "entry:",
        *lines,
        f"  %both0 = insertvalue {pair} poison, {kind} {sine}, 0",
        f"  %both = insertvalue {pair} %both0, {kind} {cosine}, 1",
        f"  ret {pair} %both", "}",
    ])  # fmt: skip


def _spread(name: str, arity: int, form: Form) -> str:
    """A function of vectors that calls one of doubles, lane by lane."""
    kind, letters = form.kind, "xy"[:arity]
    arguments = ", ".join(f"{kind} %{letter}" for letter in letters)
    lines = [f"define internal {kind} @{name}.{form.lanes}({arguments}) noinline nounwind {{"]
    result = "poison"
    for i in range(form.lanes):
        for letter in letters:
            lines.append(f"  %{letter}{i} = extractelement {kind} %{letter}, i32 {i}")
        passed = ", ".join(f"double %{letter}{i}" for letter in letters)
        lines.append(f"  %f{i} = call double @{name}({passed})")
        lines.append(f"  %r{i} = insertelement {kind} {result}, double %f{i}, i32 {i}")
        result = f"%r{i}"
    return "\n".join([*lines, f"  ret {kind} {result}", "}"])


def is_positive_zero(x: float | None) -> bool:
    """0.0 and not −0.0."""
    return x == 0.0 and copysign(1.0, x) > 0


class Writer:
    """Writes the function of one piece, for one state."""

    form = SCALAR
    is_small = False

    def __init__(self, module: Module, program: Program, entry_plan: Plan, piece: Piece) -> None:
        self.module, self.inputs, self.piece = module, program.inputs, piece
        self.form = replace(self.form, contract=module.arithmetic.contract)
        self.lines: list[str] = []
        self.names: dict[Expr, str] = {}
        self.puts: dict[Expr, list[int]] = {}
        self.numbers = entry_plan.numbers
        self.size = 1 + max((k for part in entry_plan.pieces for k, _ in part.outputs), default=-1)
        self.block = "entry"
        self.count = 0

    def function(self, head: str) -> str:
        """The whole function; `head` is its first line up to the brace."""
        piece = self.piece
        outputs: dict[Expr, list[int]] = {}
        for index, node in piece.outputs:
            outputs.setdefault(node, []).append(index)
        for place, node in piece.puts:
            self.puts.setdefault(node, []).append(place)
        self.clear(outputs)
        for item in piece.items:
            self.item(item)
            for node in item:
                self.keep(node, outputs.pop(node, ()))
        for node, places in outputs.items():
            self.keep(node, places)
        for node in [*self.puts]:
            self.keep(node, ())
        return "\n".join([f"{head} nounwind {{", "entry:", *self.lines, "  ret void", "}"])

    def clear(self, outputs: dict[Expr, list[int]]) -> None:
        """Many zeros among the outputs are written at once, before anything else."""
        zeros = [node for node in outputs if is_positive_zero(self.numbers.get(node))]
        if sum(len(outputs[node]) for node in zeros) < MANY:
            return
        for node in zeros:
            del outputs[node]
        length = f"i64 {8 * self.size * self.form.lanes}"
        self.lines.append(f"  call void @llvm.memset.p0.i64(ptr %out, i8 0, {length}, i1 false)")

    def put(self, text: str) -> str:
        """Appends an instruction and names its value."""
        self.count += 1
        self.lines.append(f"  %n{self.count} = {text}")
        return f"%n{self.count}"

    def keep(self, node: Expr, outputs: Any) -> None:
        """Stores a value where later pieces or the caller want it."""
        if node in self.piece.saves:
            self.store("work", self.piece.saves[node], self.operand(node))
        for index in outputs:
            self.store("out", index, self.operand(node))
        for place in self.puts.pop(node, ()):
            self.store("work", place, self.operand(node))

    def store(self, array: str, index: int, value: str) -> None:
        """Into an array."""
        place = self.place(array, index)
        self.lines.append(f"  store {self.form.kind} {value}, ptr {place}, align 8")

    def place(self, array: str, index: int) -> str:
        """The address of an entry of an array."""
        return self.put(f"getelementptr inbounds double, ptr %{array}, i64 {index}")

    def load(self, array: str, index: int) -> str:
        """From an array."""
        if array == "t":
            return "%t"
        return self.put(f"load double, ptr {self.place(array, index)}, align 8")

    def operand(self, node: Expr) -> str:
        """The name of a value; loads it where it is not in this piece yet."""
        name = self.names.get(node)
        if name is None:
            name = self.names[node] = self.fetched(node)
        return name

    def fetched(self, node: Expr) -> str:
        """A number, or a value from an array."""
        if node in self.numbers:
            return self.form.number(self.numbers[node])
        if node.op == "symbol" and node not in self.piece.loads:
            return self.load(*self.inputs[node])
        return self.load("work", self.piece.loads[node])

    def item(self, item: Item) -> None:
        """One operation, or sines and cosines together."""
        node = item[0]
        if node.op in TURNING:
            self.turn(item)
            return
        args = [self.operand(arg) for arg in node.args]
        text = self.form.plain.get(node.op)
        if text is not None:
            self.names[node] = self.put(text.format(*args))
        elif node.op in SPECIAL:
            self.names[node] = SPECIAL[node.op](self, node, *args)
        else:
            self.names[node] = self.call(node.op, *args)

    def call(self, name: str, *args: str) -> str:
        """A function of doubles, on every lane."""
        form = self.form
        name = f"{self.module.prefix}{name}" if name in LIBM else name
        if form.lanes > 1:
            self.module.spread[name, form.lanes] = None
            name = f"{name}.{form.lanes}"
        passed = ", ".join(f"{form.kind} {arg}" for arg in args)
        return self.put(f"call {form.kind} @{name}({passed})")

    def turn(self, item: Item) -> None:
        """Sines and cosines of one angle, or of several as a vector."""
        angles = list(dict.fromkeys(node.args[0] for node in item))
        least = 2 if self.is_small else 1  # one function serves all
        lanes = next(n for n in (1, 2, 4, 8) if n >= max(least, len(angles)))
        sine, cosine = self.turned(self.gathered([self.operand(a) for a in angles], lanes), lanes)
        for node in item:
            vector = sine if node.op == "sin" else cosine
            lane = angles.index(node.args[0])
            extract = f"extractelement <{lanes} x double> {vector}, i32 {lane}"
            self.names[node] = vector if lanes == 1 else self.put(extract)

    def turned(self, operand: str, lanes: int) -> tuple[str, str]:
        """Sine and cosine of a vector."""
        self.module.lanes.add(lanes)
        self.count += 1
        if self.is_small:
            self.module.turns.add(lanes)
            pair = f"{{ {Form(lanes).kind}, {Form(lanes).kind} }}"
            both = self.put(f"call {pair} @liaison_turn{lanes}({Form(lanes).kind} {operand})")
            sine, cosine = (self.put(f"extractvalue {pair} {both}, {k}") for k in (0, 1))
            return sine, cosine
        writer = self.module.arithmetic.sincos(f"s{self.count}", lanes)
        lines, sine, cosine, self.block = writer.both(operand, self.block)
        self.lines += lines
        return sine, cosine

    def gathered(self, values: list[str], lanes: int) -> str:
        """Doubles as one vector."""
        if lanes == 1:
            return values[0]
        kind = f"<{lanes} x double>"
        vector = "zeroinitializer"
        for lane, value in enumerate(values):
            vector = self.put(f"insertelement {kind} {vector}, double {value}, i32 {lane}")
        return vector

    def test(self, relation: str, x: str, y: str) -> str:
        """A comparison, to be given to `choose`."""
        return self.put(f"fcmp {relation} {self.form.kind} {x}, {y}")

    def choose(self, test: str, x: str, y: str) -> str:
        """x where the test holds, else y."""
        kind = self.form.kind
        return self.put(f"select {self.form.mask} {test}, {kind} {x}, {kind} {y}")

    def smaller(self, node: Expr, x: str, y: str) -> str:
        """y if y < x or y is NaN, else x; the other way round for max."""
        test = self.test("ult" if node.op == "min" else "ugt", y, x)
        lost = self.test("uno", x, x)
        return self.choose(lost, x, self.choose(test, y, x))

    def sign(self, node: Expr, x: str) -> str:
        """−1, 0 or 1; NaN of NaN."""
        zero = self.form.number(0.0)
        above, below = self.test("ogt", x, zero), self.test("olt", x, zero)
        rest = self.choose(self.test("uno", x, x), x, zero)
        lower = self.choose(below, self.form.number(-1.0), rest)
        return self.choose(above, self.form.number(1.0), lower)

    def select(self, node: Expr, condition: str, x: str, y: str) -> str:
        """x where the condition is positive, else y."""
        return self.choose(self.test("ogt", condition, self.form.number(0.0)), x, y)

    def power(self, node: Expr, x: str, y: str) -> str:
        """Whole powers by repeated multiplication, others by libm."""
        exponent, kind, one = self.numbers.get(node.args[1]), self.form.kind, self.form.number(1.0)
        if exponent is None or not abs(exponent) <= LARGEST_POWER or exponent % 1:
            return self.call("pow", x, y)
        product, square, left = "", x, abs(int(exponent))
        while left:
            if left & 1:
                product = self.put(f"fmul {kind} {product}, {square}") if product else square
            left >>= 1
            square = self.put(f"fmul {kind} {square}, {square}") if left else square
        return self.put(f"fdiv {kind} {one}, {product or one}") if exponent < 0 else product or one

    def table(self, node: Expr, x: str) -> str:
        """A table of data."""
        name = self.module.tables.setdefault(node.data, f"liaison_table{len(self.module.tables)}")
        return self.call(name, x)


SPECIAL: dict[str, Callable[..., str]] = {
    "min": Writer.smaller,
    "max": Writer.smaller,
    "sign": Writer.sign,
    "select": Writer.select,
    "pow": Writer.power,
    "table": Writer.table,
}


def masked_store(lanes: int) -> str:
    """The name of the function that stores some lanes of a vector."""
    return f"@llvm.masked.store.v{lanes}f64.p0"
