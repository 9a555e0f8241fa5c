"""Loops: Python functions in a small subset, which also become LLVM code and C99 text.

    @loop
    def axpy(n: i64, a: f64, x: ptr, y: ptr) -> None:
        for i in range(n):
            y[i] = y[i] + a * x[i]

Called, a loop runs as plain Python on NumPy arrays: that is its test. `compile_loops([axpy])`
gives machine code, `loops_to_c([axpy])` gives text. The subset:

- arguments are annotated `f64` (double), `i64` (int64), `ptr` (double *), `iptr` (int64 *),
  `kernel` (an entry of a kernel) or by a record (see `loops_records`); the result is `f64`, `i64`
  or None;
- `for i in range(...)` (a step must be a literal), `while`, `if`/`elif`/`else`, `break`,
  `continue`, `return`, assignment to names, to `p[i]` and to fields, also `+=` and its like;
- `+ - * /` and unary minus, `//` and `%` on integers (rounding down), `**`, comparisons,
  `and` `or` `not`, `a if c else b`; `min`, `max`, `abs`, `float`, `int`;
- `& | ^ << >>` on integers of 64 bits; `>>` keeps the sign, a shift is by 0 to 63 places;
- `bits(x)`, the 64 bits of a float as an integer, and `from_bits(i)`, the float of these bits;
- `p[n:]` or `at(p, n)` is the pointer n elements on; there are no other slices and no `p + n`;
- fields of records: `run.t`, `run.t = x`, `run.q[i]`, `run.k[j, i]`, `run.blocks[k].kind`;
  `flat(m)` is a matrix row by row;
- sqrt sin cos tan asin acos atan atan2 exp log pow copysign isfinite from `math`, and `fmin`,
  `fmax`, `floor` from here;
- calls of other loops, and of kernels `f(t, q, v, u, p, x, out, work)`;
- `f = entry_at(addresses, i)` is the kernel whose address is `addresses[i]` (an `iptr`);
- calls of loops by address: `e.land(e, run)`, where the field `land` of a record is a `hook`;
- calls of functions that are no loops, marked `@external`: whoever links the code defines them as
  `liaison_` and their name; as plain Python their own body runs. `@written(text)` marks one whose
  IR is at hand;
- numbers, and flat tuples of numbers (`A[i]`), from the module or an enclosing function;
- a local name keeps the type of its first value: begin a sum of floats with 0.0.

Three differences: where plain Python raises (division by zero, sqrt(-1)), compiled code gives
inf or NaN; integers of plain Python have no end, compiled ones have 64 bits; and plain Python's
`at` cannot go backwards.

Public names: loop, external, written, Loop, f64, i64, ptr, iptr, kernel, hook, at, flat, entry_at,
fmin, fmax, floor, bits, from_bits, signature_text, handle_of, loop_at.
"""

from __future__ import annotations

import ctypes
import math
import struct
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, TypeAlias, TypeVar, final

import numpy as np
from numpy.typing import NDArray

from liaison.program.kernel import SIGNATURE, Function

f64: TypeAlias = float
i64: TypeAlias = int
ptr: TypeAlias = NDArray[np.float64]
iptr: TypeAlias = NDArray[np.int64]
kernel: TypeAlias = Function
hook: TypeAlias = Callable[..., Any]

P = ParamSpec("P")
R = TypeVar("R")
Pointer = TypeVar("Pointer", ptr, iptr)


@final
class Loop(Generic[P, R]):
    """A function of the subset: callable as plain Python, translatable to machine code."""

    def __init__(
        self,
        function: Callable[P, R],
        near: Mapping[str, Any] = MappingProxyType({}),
        *,
        is_external: bool = False,
        text: str = "",
    ) -> None:
        self.function = function
        self.near = near
        self.is_external = is_external
        self.text = text
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run as plain Python."""
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<loop {self.name}>"


def loop(function: Callable[P, R]) -> Loop[P, R]:
    """Mark a function as a loop; the subset is checked when it is translated."""
    frame = sys._getframe(1)
    if frame.f_locals is frame.f_globals:
        return Loop(function)
    # classes of an enclosing function that annotations alone name
    names = [
        x.removeprefix("Rows[").rstrip("]") for x in map(str, function.__annotations__.values())
    ]
    return Loop(function, {x: frame.f_locals[x] for x in names if x in frame.f_locals})


def external(function: Callable[P, R]) -> Loop[P, R]:
    """Mark a function that loops call and that other code defines; only its signature counts."""
    return Loop(function, is_external=True)


def written(text: str) -> Callable[[Callable[P, R]], Loop[P, R]]:
    """Mark a function that loops call and that is written in LLVM IR, for vectors of the processor.

    Its own body runs as plain Python, and says what the text does, to the bit.

    Args:
        text: the definition of a function `@liaison_` and its name, with its arguments.
    """

    def mark(function: Callable[P, R]) -> Loop[P, R]:
        return Loop(function, is_external=True, text=text)

    return mark


def at(pointer: Pointer, n: int) -> Pointer:
    """The pointer n elements further on."""
    return pointer[n:]


def flat(matrix: Pointer) -> Pointer:
    """The elements of a matrix, row by row."""
    return matrix.reshape(-1)


def entry_at(addresses: iptr, i: int) -> Function:
    """The kernel at an address from a table of them, as `Kernel.address` gives it.

    Loops that choose a kernel while they run take it from such a table. Whoever makes the table
    keeps the kernels alive.
    """
    call = SIGNATURE(int(addresses[i]))

    def run(t: float, *arrays: ptr) -> None:
        call(t, *(array.ctypes.data for array in arrays))

    return run


def fmin(x: float, y: float) -> float:
    """The smaller number; the other one where one is NaN, as in C."""
    return y if y < x or math.isnan(x) else x


def fmax(x: float, y: float) -> float:
    """The larger number; the other one where one is NaN, as in C."""
    return y if y > x or math.isnan(x) else x


def floor(x: float) -> float:
    """The largest whole number not above x, as a float."""
    return float(math.floor(x))


def bits(x: float) -> int:
    """The 64 bits of a float (IEEE 754) as a signed integer."""
    number: int = struct.unpack("<q", struct.pack("<d", x))[0]
    return number


def from_bits(i: int) -> float:
    """The float whose 64 bits are those of a signed integer."""
    x: float = struct.unpack("<d", struct.pack("<q", i))[0]
    return x


# Hooks: words of a record that stand for loops. A word above zero is the address of machine code,
# one below zero stands for a loop that runs as plain Python; zero is none.

NUMBERS: dict[str, Any] = {"f64": ctypes.c_double, "i64": ctypes.c_int64}

_PLAIN: list[Loop[..., Any]] = []
"""Loops that hooks call as plain Python: a hook holds -1 - its place here."""


def signature_text(loop: Loop[..., Any]) -> str:
    """Types of arguments and result as a loop's text has them."""
    kinds, result = _types(loop)
    return f"({', '.join(kinds)}) -> {result}"


def _types(loop: Loop[..., Any]) -> tuple[list[str], str]:
    kinds = {name: str(kind) for name, kind in loop.function.__annotations__.items()}
    result = kinds.pop("return", "None")
    return list(kinds.values()), result


def handle_of(loop: Loop[..., Any]) -> int:
    """The word that stands for a loop as plain Python."""
    if loop not in _PLAIN:
        _PLAIN.append(loop)
    return -1 - _PLAIN.index(loop)


def loop_at(word: int, like: Loop[..., Any], address: Callable[[Any], int]) -> Callable[..., Any]:
    """What a word other than 0 stands for, as a function of records, arrays and numbers.

    Args:
        word: of a hook.
        like: a loop whose signature it has.
        address: where a record or an array begins.
    """
    if word < 0:
        return _PLAIN[-1 - word]
    kinds, result = _types(like)
    listed = [NUMBERS.get(kind, ctypes.c_void_p) for kind in kinds]
    call = ctypes.CFUNCTYPE(NUMBERS.get(result), *listed)(word)

    def run(*args: Any) -> Any:
        return call(*(x if isinstance(x, int | float) else address(x) for x in args))

    return run
