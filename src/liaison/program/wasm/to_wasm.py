"""to_wasm: the entries of a program as a WebAssembly module, printed without compiler or linker.

The module has a memory of its own and exports it; an entry is a function of the signature of every
kernel, with addresses in that memory. The section `liaison` says in JSON where free memory begins
and how many numbers an entry writes and works with. Functions that processors do not have (sin, …)
are loops of the package, printed with the rest.

Entries of a program as WebAssembly: values on the stack, in locals where they are used again.

Public names: to_wasm, Builder, IMPORTS, entry_functions, entry_key, HELPERS, smaller, larger,
sign, turn, table_value, ARGUMENTS, SIGNATURE.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from heapq import heappop, heappush
from math import copysign, isfinite, nan
from typing import Any, final

from liaison.arguments import checked
from liaison.expr import Expr
from liaison.program.functions.circular import (
    MAGIC,
    REACH,
    TWO_OVER_PI,
    as_cosine,
    as_sine,
    cosine_of,
    far,
    high_of,
    low_of,
    sine_of,
)
from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.kernel import Kernel
from liaison.program.loops.language import Loop, bits, f64, i64, loop, ptr
from liaison.program.loops.read import routine
from liaison.program.plan import LARGEST_POWER, TURNING, Item, Piece, Plan, plan
from liaison.program.program import Program

from .encode import (
    OP,
    Assembly,
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
from .fold import Bound, Folded, Memory, fold_loops, unread
from .loops import CHOICES, loop_function, loop_key

ARGUMENTS = ("t", "q", "v", "u", "p", "x", "out", "work")
SIGNATURE = (("f64", *["i32"] * 7), ())
PLAIN = {
    "add": "f64.add", "sub": "f64.sub", "mul": "f64.mul", "div": "f64.div", "neg": "f64.neg",
    "sqrt": "f64.sqrt", "abs": "f64.abs",
}  # fmt: skip
DEEP = 40
"""Operations that are nested on the stack at most."""

MANY = 64
"""Zeros among the outputs that are worth one instruction for all."""


@loop
def smaller(x: f64, y: f64) -> f64:
    """The smaller of two; NaN where one is."""
    if x != x:
        return x
    return y if y < x or y != y else x


@loop
def larger(x: f64, y: f64) -> f64:
    """The larger of two; NaN where one is."""
    if x != x:
        return x
    return y if y > x or y != y else x


@loop
def sign(x: f64) -> f64:
    """−1, 0 or 1; NaN of NaN."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return x if x != x else 0.0


@loop
def table_value(x: f64, n: i64, m: i64, breaks: ptr, origins: ptr, values: ptr) -> f64:
    """A table of n breaks and polynomials of m coefficients at x."""
    low = 0
    high = n
    while low < high:
        middle = (low + high) // 2
        if breaks[middle] >= x:
            high = middle
        else:
            low = middle + 1
    t = x - origins[low]
    y = float(values[low * m + m - 1])
    for k in range(m - 2, -1, -1):
        y = y * t + values[low * m + k]
    return float(y)


@loop
def turn(x: f64, out: ptr) -> None:
    """Sine and cosine of an angle, with the bits of `sin` and `cos`."""
    size = abs(x)
    if size <= REACH:
        shifted = size * TWO_OVER_PI + MAGIC
        n = shifted - MAGIC
        quadrant = bits(shifted)
        r = high_of(size, n)
        low = low_of(size, n)
    elif not isfinite(x):
        out[0] = nan
        out[1] = nan
        return
    else:
        quadrant = int(far(x, 0))
        r = far(x, 1)
        low = far(x, 2)
    s = sine_of(r, low)
    c = cosine_of(r, low)
    out[0] = as_sine(x, quadrant, s, c)
    out[1] = as_cosine(quadrant, s, c)


HELPERS: dict[str, Loop[..., Any]] = {"min": smaller, "max": larger, "sign": sign}
"""Operations that are loops."""


def entry_key(program: Program, entry: str) -> Hashable:
    """The key of an entry's function."""
    return ("entry", id(program), entry)


def entry_functions(
    program: Program, entry: str, entry_plan: Plan, module: Any
) -> dict[Hashable, Function]:
    """The function of an entry, and of the pieces that it is cut into."""
    key = entry_key(program, entry)
    size = len(program.entry(entry).outputs)
    pieces = [
        _Writer(program, entry_plan, piece, size, module).function() for piece in entry_plan.pieces
    ]
    if len(pieces) == 1:
        return {key: pieces[0]}
    functions: dict[Hashable, Function] = {(key, k): x for k, x in enumerate(pieces)}
    passed = b"".join(OP["get"] + unsigned(k) for k in range(len(ARGUMENTS)))
    code: Code = []
    for part in functions:
        code += [passed, OP["call"], Ref(part)]
    functions[key] = Function(SIGNATURE, (), code)
    return functions


@final
class _Writer:
    """Writes one piece. A value is computed where it is first used, or stored."""

    def __init__(
        self, program: Program, entry_plan: Plan, piece: Piece, size: int, module: Any
    ) -> None:
        self.inputs, self.numbers, self.piece = program.inputs, entry_plan.numbers, piece
        self.size, self.module = size, module
        self.code: Code = []
        self.outputs: dict[Expr, list[int]] = {}
        for index, node in piece.outputs:
            self.outputs.setdefault(node, []).append(index)
        self.left = self.uses()
        self.waiting: dict[Expr, int] = {}
        self.local: dict[Expr, int] = {}
        self.free: list[int] = []
        self.count = 0

    def uses(self) -> dict[Expr, int]:
        """How often each value is wanted."""
        uses: dict[Expr, int] = {}
        for item in self.piece.items:
            for node in item[:1] if item[0].op in TURNING else item:
                for arg in self.operands(node):
                    uses[arg] = uses.get(arg, 0) + 1
        for node, places in self.outputs.items():
            uses[node] = uses.get(node, 0) + len(places)
        for node in self.piece.saves:
            uses[node] = uses.get(node, 0) + 1
        return uses

    def operands(self, node: Expr) -> tuple[Expr, ...]:
        """Arguments that are computed: the exponent of a whole power is none."""
        return node.args[:1] if self.whole(node) is not None else tuple(node.args)

    def whole(self, node: Expr) -> int | None:
        """The exponent of a power that is a product."""
        if node.op != "pow":
            return None
        n = self.numbers.get(node.args[1])
        return None if n is None or not abs(n) <= LARGEST_POWER or n % 1 else int(n)

    def function(self) -> Function:
        self.clear()
        for item in self.piece.items:
            if item[0].op in TURNING:
                self.turn(item)
                continue
            for node in item:
                self.node(node)
        for node, places in self.outputs.items():
            for index in places:
                self.store("out", index, partial(self.value, node))
        code = shortened(self.code)
        return sorted_locals(Function(SIGNATURE, ("f64",) * self.count, code))

    def clear(self) -> None:
        """Many zeros among the outputs are written at once, before anything else."""
        zeros = [x for x in self.outputs if _is_zero(self.numbers.get(x))]
        if sum(len(self.outputs[x]) for x in zeros) < MANY:
            return
        for node in zeros:
            del self.outputs[node]
        self.get("out")
        self.code += [i32_const(0), i32_const(8 * self.size), OP["fill"]]

    def get(self, array: str) -> None:
        self.code.append(OP["get"] + unsigned(ARGUMENTS.index(array)))

    def new(self) -> int:
        if self.free:
            return heappop(self.free)
        self.count += 1
        return len(ARGUMENTS) + self.count - 1

    def node(self, node: Expr) -> None:
        """Computes a value now where it is stored; otherwise where it is first used."""
        places = self.outputs.pop(node, [])
        stored = [("out", index) for index in places]
        if node in self.piece.saves:
            stored.append(("work", self.piece.saves[node]))
        depth = 1 + max((self.waiting.get(x, 0) for x in node.args), default=0)
        if not stored and depth < DEEP:
            self.waiting[node] = depth
            return
        further = self.left.get(node, 0) - len(stored)
        if stored and len(stored) + further == 1:
            self.store(*stored[0], lambda: self.operation(node))
            return
        place = self.new()
        if stored:
            self.store(*stored[0], lambda: self.kept(node, place))
        else:
            self.operation(node)
            self.code.append(OP["set"] + unsigned(place))
        self.local[node] = place
        self.left[node] = further + max(0, len(stored) - 1)
        for array, index in stored[1:]:
            self.store(array, index, lambda: self.value(node))

    def turn(self, item: Item) -> None:
        """Sine and cosine of one angle, computed together."""
        place = self.module.turned
        self.value(item[0].args[0])
        self.code += [i32_const(place), OP["call"], Ref(loop_key(self.module.needed(turn)))]
        for node in item:
            stored = [("out", k) for k in self.outputs.pop(node, [])]
            stored += [("work", self.piece.saves[node])] if node in self.piece.saves else []
            if not self.left.get(node, 0):
                continue
            self.local[node] = self.new()
            self.code += [i32_const(0), access("f64.load", place + 8 * (node.op == "cos"))]
            self.code.append(OP["set"] + unsigned(self.local[node]))
            for array, index in stored:
                self.store(array, index, partial(self.value, node))

    def kept(self, node: Expr, place: int) -> None:
        self.operation(node)
        self.code.append(OP["tee"] + unsigned(place))

    def store(self, array: str, index: int, push: Callable[[], None]) -> None:
        self.get(array)
        push()
        self.code.append(access("f64.store", 8 * index))

    def value(self, node: Expr) -> None:
        """Pushes a value that is known, waiting, or in an array."""
        if node in self.numbers:
            self.code.append(f64_const(self.numbers[node]))
        elif node in self.local:
            self.take(node)
        elif node in self.waiting:
            del self.waiting[node]
            self.operation(node)
            if self.left[node] > 1:
                self.hold(node)
        else:
            self.fetch(node)

    def take(self, node: Expr) -> None:
        """From a local, which is free after the last use."""
        place = self.local[node]
        self.code.append(OP["get"] + unsigned(place))
        self.left[node] -= 1
        if not self.left[node]:
            del self.local[node]
            heappush(self.free, place)

    def fetch(self, node: Expr) -> None:
        """From an array."""
        array, index = ("work", -1) if node.op != "symbol" else self.inputs[node]
        if array == "t":
            self.get("t")
            return
        self.get(array)
        place = self.piece.loads[node] if index < 0 else index
        self.code.append(access("f64.load", 8 * place))

    def hold(self, node: Expr) -> None:
        """What was just computed, for further uses as well."""
        self.local[node] = self.new()
        self.code.append(OP["tee"] + unsigned(self.local[node]))
        self.left[node] -= 1

    def operation(self, node: Expr) -> None:
        exponent = self.whole(node)
        if exponent is not None:
            self.power(node, exponent)
            return
        special = SPECIAL.get(node.op)
        if special is not None:
            special(self, node)
            return
        # sums and products alike: what is computed first, then what is only fetched
        is_free = node.op in ("add", "mul")
        for arg in sorted(node.args, key=self.depth, reverse=True) if is_free else node.args:
            self.value(arg)
        if node.op in PLAIN:
            self.code.append(OP[PLAIN[node.op]])
        else:
            self.code += [OP["call"], Ref(self.function_of(node))]

    def depth(self, node: Expr) -> int:
        """Operations nested in a value that is computed where it is used."""
        return self.waiting.get(node, 0)

    def function_of(self, node: Expr) -> Hashable:
        """The function of an operation that is none of the processor's."""
        if node.op in HELPERS:
            return loop_key(self.module.needed(HELPERS[node.op]))
        return self.module.elementary(node.op, len(node.args))  # type: ignore[no-any-return]

    def power(self, node: Expr, exponent: int) -> None:
        """Whole powers by repeated multiplication, as other back ends order it."""
        if exponent < 0:
            self.code.append(f64_const(1.0))
        if not exponent:
            self.code.append(f64_const(1.0))
            return
        self.value(node.args[0])
        square, product = self.new(), self.new()
        self.code.append(OP["set"] + unsigned(square))
        left, is_begun = abs(exponent), False
        while left:
            if left & 1:
                self.code.append(OP["get"] + unsigned(square))
                if is_begun:
                    self.code += [OP["get"] + unsigned(product), OP["f64.mul"]]
                self.code.append(OP["set"] + unsigned(product))
                is_begun = True
            left >>= 1
            if left:
                twice = OP["get"] + unsigned(square)
                self.code += [twice, twice, OP["f64.mul"], OP["set"] + unsigned(square)]
        self.code.append(OP["get"] + unsigned(product))
        if exponent < 0:
            self.code.append(OP["f64.div"])
        heappush(self.free, square)
        heappush(self.free, product)

    def select(self, node: Expr) -> None:
        """x where the condition is positive, else y."""
        condition, x, y = node.args
        self.value(x)
        self.value(y)
        self.value(condition)
        self.code += [f64_const(0.0), OP["f64.gt"], OP["select"]]

    def table(self, node: Expr) -> None:
        """A function given by data."""
        table, order = node.data
        coefficients = table.derivative_coefficients(order)
        arrays = table.breaks, table.origins, coefficients.ravel()
        places = [self.module.numbers(tuple(map(float, x)), "f64") for x in arrays]
        self.value(node.args[0])
        self.code += [i64_const(len(table.breaks)), i64_const(coefficients.shape[1])]
        self.code += [i32_const(x) for x in places]
        self.code += [OP["call"], Ref(loop_key(self.module.needed(table_value)))]


def _is_zero(value: float | None) -> bool:
    return value == 0.0 and copysign(1.0, value) > 0


SPECIAL: Mapping[str, Callable[[_Writer, Expr], None]] = {
    "select": _Writer.select,
    "table": _Writer.table,
}


ELEMENTARY: Mapping[str, Loop[..., Any]] = {
    name: x for name, x in FUNCTIONS.items() if name not in CHOICES
}
"""Functions that processors do not have, as loops."""

IMPORTS = "math"
"""The module from which functions are imported that are not printed."""

SIZE = 8000
"""Operations in one function, about: what crosses a cut costs three times the bytes."""

FIRST = 64
"""The first address in use: none is 0."""


@final
class Builder:
    """A module under construction: entries, loops, and memory.

    Args:
        elementary: name of a function such as sin -> the loop that computes it.
    """

    def __init__(self, elementary: Mapping[str, Loop[..., Any]] | None = None) -> None:
        self.assembly = Assembly()
        self.memory = Memory(elementary=dict(ELEMENTARY if elementary is None else elementary))
        self.end = FIRST
        self.turned = self.place(2)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._needed: dict[Loop[..., Any], None] = {}
        self._plans: dict[Hashable, Plan] = {}

    def place(self, words: int) -> int:
        """The address of so many words, which are zero at the start."""
        address, self.end = self.end, self.end + 8 * words
        return address

    def numbers(self, values: Sequence[float | int], kind: str) -> int:
        """The address of a table of numbers."""
        key = (kind, struct.pack(f"<{len(values)}{'d' if kind == 'f64' else 'q'}", *values))
        if key not in self._numbers:
            self._numbers[key] = address = self.place(len(values))
            self.assembly.data[address] = key[1]
        return self._numbers[key]

    def needed(self, loop: Loop[..., Any]) -> Loop[..., Any]:
        """A loop that entries call."""
        self._needed[loop] = None
        return loop

    def elementary(self, name: str, arity: int) -> Hashable:
        """The key of a function such as sin."""
        if name in self.memory.elementary:
            return loop_key(self.needed(self.memory.elementary[name]))
        return self.imported(name, arity)

    def imported(self, name: str, arity: int) -> Hashable:
        """The key of a function of the importing program's library."""
        key = ("import", name)
        self.assembly.imports[key] = (IMPORTS, name, (("f64",) * arity, ("f64",)))
        return key

    def entry(self, program: Program, name: str) -> Hashable:
        """The key of an entry, which is printed with its pieces."""
        key = entry_key(program, name)
        if key not in self._plans:
            self._plans[key] = entry_plan = plan(
                program, name, size=SIZE, functions=FUNCTIONS, by_level=False
            )
            self.assembly.functions |= entry_functions(program, name, entry_plan, self)
        return key

    def work_size(self, program: Program, name: str) -> int:
        """Doubles of workspace of an entry."""
        key = self.entry(program, name)
        return self._plans[key].work_size

    def loops(
        self,
        roots: Mapping[Loop[..., Any], Sequence[int | None]],
        bound: Iterable[Bound] = (),
    ) -> set[int]:
        """Prints loops and all that they and the entries call.

        Args:
            roots: loop -> its arguments, None for those that whoever calls it passes.
            bound: entries that are loops.

        Returns:
            Addresses of words that stand in the code, and are not read in memory.
        """
        bound = list(bound)
        free = {x: [None] * len(routine(x).arguments) for x in self._needed if x not in roots}
        folded = fold_loops({**roots, **free}, bound, self.memory)
        for each, one in folded.items():
            self.assembly.functions[loop_key(each)] = loop_function(one, folded, self.memory, self)
        for entry in bound:
            self.assembly.functions[entry] = self.bound_entry(entry, folded[entry.loop])
        return unread(folded.values(), self.memory)

    def bound_entry(self, bound: Bound, folded: Folded) -> Function:
        """An entry that is a loop with a record, as a function of its own."""
        names = [x for x in ("t", "q", "v", "u", "p", "x", "out", "work") if x not in bound.without]
        code: Code = []
        for k in folded.taken:
            own = i32_const(bound.address)
            code.append(OP["get"] + unsigned(ARGUMENTS.index(names[k - 1])) if k else own)
        return Function(SIGNATURE, (), [*code, OP["call"], Ref(loop_key(bound.loop))])

    def module(self, notes: Mapping[str, Any], size: int = 0) -> bytes:
        """The bytes of the module, with notes in its section `liaison`."""
        self.assembly.size = max(self.end, size)
        text = json.dumps(notes, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self.assembly.notes["liaison"] = text.encode()
        return self.assembly.module()


@checked
def to_wasm(
    what: Kernel | Program,
    entries: Iterable[str] | None = None,
    *,
    elementary: Mapping[str, Loop[..., Any]] | None = None,
) -> bytes:
    """A WebAssembly module of entries (all, if none is named).

    Args:
        what: a kernel, or its program.
        entries: names.
        elementary: loops of functions such as sin, in the place of those of the package.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> liaison.to_wasm(program, ["mass_matrix"])[:4]
        b'\\x00asm'
    """
    program = what.program if isinstance(what, Kernel) else what
    builder = Builder(elementary)
    names = list(program.entries if entries is None else entries)
    facts = {}
    for name in names:
        builder.assembly.exports[name] = builder.entry(program, name)
        out = len(program.entry(name).outputs)
        facts[name] = {"out": out, "work": builder.work_size(program, name)}
    builder.loops({})
    sizes = {x: int(n) for x, n in program.sizes.items()}
    room = max((x["out"] + x["work"] for x in facts.values()), default=0)
    arrays = sum(sizes.get(x, 0) for x in ("nq", "nv", "nu", "np")) + sizes.get("nx", 0) + 64
    notes = {"name": program.name, "heap": builder.end, "sizes": sizes, "entries": facts}
    return builder.module(notes, builder.end + 8 * (room + arrays))
