"""Entries as C text in single or double precision, with elementary functions of the text's own.

A text names only what it uses, converts no number from one type to another by itself, and calls
functions of libm or none at all. In single precision the functions of the text are within a few
units in the last place: sine and cosine up to 10⁴ rad, a power to (1 + |y ln x|) 2⁻²³.

Public names: Real, EntryText, entry_text, helpers_text.

Source: CW80, chapters 5, 6, 8, 10 and 11, for the reductions.
Differs: the polynomials are minimax fits (Remez exchange) of (sin r − r)/r³, (cos r − 1 + r²/2)/r⁴
and (atan t − t)/t³ in squares, relative errors 2⁻²⁸, 2⁻³³ and 2⁻²⁶; of (asin x − x)/x³,
(exp r − 1 − r)/r² and (2 artanh s − 2 s)/s³ likewise, errors below 2⁻²⁷.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np

from liaison.errors import ProgramError
from liaison.expr import OPS, Expr, Table
from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.loops.c import constant, loops_to_c
from liaison.program.loops.language import Loop
from liaison.program.plan import LARGEST_POWER, TURNING, Piece, Plan, plan
from liaison.program.program import Program

GENERAL: Mapping[str, str] = {
    "min": "static REAL liaison_min(REAL x, REAL y) { return y < x || y != y ? y : x; }",
    "max": "static REAL liaison_max(REAL x, REAL y) { return y > x || y != y ? y : x; }",
    "sign": """\
static REAL liaison_sign(REAL x)
{
  return x > 0.0@ ? 1.0@ : (x < 0.0@ ? -1.0@ : x);
}""",
    "power": """\
static REAL liaison_power(REAL x, int n)
{
  REAL y = 1.0@, s = x;
  for (int k = n < 0 ? -n : n; k > 0; k /= 2) {
    if (k % 2 == 1) y *= s;
    s *= s;
  }
  return n < 0 ? 1.0@ / y : y;
}""",
    "table": """\
static REAL liaison_table(int n, int m, const REAL *breaks, const REAL *origins,
                          const REAL *coefficients, REAL x)
{
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (breaks[middle] >= x) high = middle; else low = middle + 1;
  }
  const REAL *c = coefficients + low * m;
  const REAL t = x - origins[low];
  REAL y = c[m - 1];
  for (int k = m - 2; k >= 0; k--) y = y * t + c[k];
  return y;
}""",
}
"""Functions of both precisions; a table takes as many comparisons as its length has bits."""

SINGLE: Mapping[str, tuple[tuple[str, ...], str]] = {
    "abs": ((), "static float liaison_abs(float x) { return x < 0.0f ? -x : x; }"),
    "bits": ((), """\
static int32_t liaison_bits(float x)
{
  union { float x; int32_t i; } word;
  word.x = x;
  return word.i;
}"""),
    "from_bits": ((), """\
static float liaison_from_bits(int32_t i)
{
  union { float x; int32_t i; } word;
  word.i = i;
  return word.x;
}"""),
    "sqrt": (("bits", "from_bits"), """\
static float liaison_sqrt(float x)
{
  if (!(x > 0.0f) || x > 3.4e38f) return x < 0.0f ? (x - x) / (x - x) : x;
  const float scale = x < 1e-30f ? 1.8446744e19f : 1.0f;
  const float a = x * scale;
  float y = liaison_from_bits(0x1fbb67a8 + liaison_bits(a) / 2);
  for (int k = 0; k < 3; k++) y = 0.5f * (y + a / y);
  return scale > 1.0f ? y * 2.3283064e-10f : y;
}"""),
    "sincos": ((), """\
static void liaison_sincos(float x, float *sine, float *cosine)
{
  const float turns = x * 0.63661975f;
  const int32_t n = (int32_t)(turns + (turns < 0.0f ? -0.5f : 0.5f));
  const float k = (float)n;
  const float r = ((x - k * 1.5703125f) - k * 0.00048351287841796875f) - k * 3.1391647e-07f;
  const float z = r * r;
  const float s = r + r * z * (-0.16666655f + z * (0.008332178f + z * -0.00019517292f));
  const float c = (1.0f - 0.5f * z)
    + z * z * (0.041666646f + z * (-0.0013887368f + z * 2.443843e-05f));
  const float a = n & 1 ? c : s, b = n & 1 ? s : c;
  *sine = n & 2 ? -a : a;
  *cosine = (n + 1) & 2 ? -b : b;
}"""),
    "sin": (("sincos",), """\
static float liaison_sin(float x) { float s, c; liaison_sincos(x, &s, &c); return s; }"""),
    "cos": (("sincos",), """\
static float liaison_cos(float x) { float s, c; liaison_sincos(x, &s, &c); return c; }"""),
    "tan": (("sincos",), """\
static float liaison_tan(float x) { float s, c; liaison_sincos(x, &s, &c); return s / c; }"""),
    "atan": ((), """\
static float liaison_atan(float x)
{
  const float a = x < 0.0f ? -x : x;
  float base = 0.0f, low = 0.0f, t = a;
  if (a > 2.4142137f) { base = 1.5707964f; low = -4.371139e-08f; t = -1.0f / a; }
  else if (a > 0.41421357f) {
    base = 0.7853982f; low = -2.1855694e-08f; t = (a - 1.0f) / (a + 1.0f);
  }
  const float z = t * t;
  const float p = t * z * (-0.33332956f + z * (0.1997793f + z * (-0.13879886f + z * 0.08060405f)));
  const float y = base + (t + (p + low));
  return x < 0.0f ? -y : y;
}"""),
    "atan2": (("atan", "bits"), """\
static float liaison_atan2(float y, float x)
{
  const float pi = 3.1415927f, low = -8.742278e-08f;
  const int below = liaison_bits(y) < 0, behind = liaison_bits(x) < 0;
  if (x != x || y != y) return x + y;
  float angle;
  if (x == 0.0f) angle = y == 0.0f ? 0.0f : 1.5707964f;
  else if (x - x != 0.0f) angle = y - y != 0.0f ? 0.7853982f : 0.0f;
  else { angle = liaison_atan(y / x); angle = angle < 0.0f ? -angle : angle; }
  if (behind) angle = pi - (angle - low);
  return below ? -angle : angle;
}"""),
    "asin_rest": ((), """\
static float liaison_asin_rest(float x, float z)
{
  return x * z * (0.16666754f + z * (0.07495241f
    + z * (0.04547725f + z * (0.024146855f + z * 0.04221981f))));
}"""),
    "asin": (("sqrt", "asin_rest"), """\
static float liaison_asin(float x)
{
  const float a = x < 0.0f ? -x : x;
  if (!(a <= 1.0f)) return (x - x) / (x - x);
  if (a <= 0.5f) return x + liaison_asin_rest(x, x * x);
  const float w = 0.5f * (1.0f - a), s = liaison_sqrt(w);
  const float y = 1.5707964f - (2.0f * (s + liaison_asin_rest(s, w)) + 4.371139e-08f);
  return x < 0.0f ? -y : y;
}"""),
    "acos": (("sqrt", "asin_rest"), """\
static float liaison_acos(float x)
{
  const float a = x < 0.0f ? -x : x;
  if (!(a <= 1.0f)) return (x - x) / (x - x);
  if (a <= 0.5f) return 1.5707964f - (x + (liaison_asin_rest(x, x * x) + 4.371139e-08f));
  const float w = 0.5f * (1.0f - a), s = liaison_sqrt(w);
  const float y = 2.0f * (s + liaison_asin_rest(s, w));
  return x < 0.0f ? 3.1415927f - (y + 8.742278e-08f) : y;
}"""),
    "exp": (("from_bits",), """\
static float liaison_exp(float x)
{
  if (x != x) return x;
  if (x > 88.8f) return 3.4e38f * 10.0f;
  if (x < -103.9f) return 0.0f;
  const float turns = x * 1.442695f;
  const int32_t n = (int32_t)(turns + (turns < 0.0f ? -0.5f : 0.5f));
  const float k = (float)n;
  const float r = ((x - k * 0.69140625f) - k * 0.0017406940460205078f) - k * 2.3651393e-07f;
  const float y = 1.0f + (r + r * r * (0.5f + r * (0.16666576f + r * (0.041666374f
    + r * (0.008363238f + r * 0.0013941216f)))));
  const int32_t half = n / 2;
  return y * liaison_from_bits((half + 127) * 8388608)
    * liaison_from_bits((n - half + 127) * 8388608);
}"""),
    "log": (("bits", "from_bits"), """\
static float liaison_log(float x)
{
  if (!(x > 0.0f)) return x == 0.0f ? -3.4e38f * 10.0f : (x - x) / (x - x);
  if (x > 3.4028235e38f) return x;
  const int is_small = x < 1.1754944e-38f;
  const int32_t word = liaison_bits(is_small ? x * 16777216.0f : x);
  const int32_t shifted = word - 0x3f3504f3;
  const int32_t j = (shifted - (shifted & 0x7fffff)) / 8388608;
  const float f = liaison_from_bits(word - j * 8388608) - 1.0f;
  const float k = (float)(is_small ? j - 24 : j);
  const float s = f / (2.0f + f), z = s * s;
  const float half = 0.5f * f * f;
  const float rest = s * (half + z * (0.66666776f + z * (0.39977536f + z * 0.29871842f)));
  return k * 0.69140625f + (f - (half - (rest + k * 0.0017409306f)));
}"""),
    "pow": (("exp", "log", "abs"), """\
static float liaison_pow(float x, float y)
{
  if (y == 0.0f || x == 1.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  int is_whole = 1, is_odd = 0;
  const float a = liaison_abs(y);
  if (a < 16777216.0f) {
    const int32_t n = (int32_t)a;
    is_whole = (float)n == a;
    is_odd = is_whole && n % 2 == 1;
  }
  if (x == 0.0f) {
    const float zero = is_odd ? x : 0.0f;
    return y > 0.0f ? zero : 1.0f / zero;
  }
  if (x < 0.0f && !is_whole) return (x - x) / (x - x);
  const float size = liaison_exp(y * liaison_log(liaison_abs(x)));
  return x < 0.0f && is_odd ? -size : size;
}"""),
}  # fmt: skip
"""Functions in single precision: what each needs, and its text."""

DOUBLE = """\
#define NAN (0.0 / 0.0)
#define INFINITY (1.0 / 0.0)
#define isfinite(x) ((x) - (x) == 0.0)
static inline double liaison_fabs(double x) { return x < 0.0 ? -x : x; }
static inline double liaison_copysign(double x, double y)
{
  return from_bits((bits(x) & INT64_MAX) | (bits(y) & INT64_MIN));
}
static inline double liaison_floor(double x)
{
  if (!(liaison_fabs(x) < 4503599627370496.0)) return x;
  const double n = (double)(int64_t)x;
  return n > x ? n - 1.0 : n;
}
static inline double liaison_sqrt(double x)
{
  if (!(x > 0.0) || x > 1.7e308) return x < 0.0 ? (x - x) / (x - x) : x;
  const double scale = x < 1e-290 ? 0x1p200 : 1.0;
  const double a = x * scale;
  double y = from_bits(INT64_C(0x1ff7a3bea91d9b1b) + bits(a) / 2);
  for (int k = 0; k < 4; k++) y = 0.5 * (y + a / y);
  return scale > 1.0 ? y * 0x1p-100 : y;
}
"""
"""What functions in double precision take from libm, without it."""

LIBM = re.compile(r"\b(fabs|copysign|floor|sqrt)\(")
INLINE = re.compile(
    r"^static inline \w+ (\w+)\([^\n]*?\)\s*(?:\{[^\n]*\}|\{\n.*?\n\})\n", re.MULTILINE | re.DOTALL
)
PRELUDE_END = "static inline double power_f64"


@final
@dataclass(frozen=True, slots=True)
class Real:
    """A type of numbers, and who computes elementary functions.

    Attributes:
        name: float or double.
        is_own: elementary functions are those of the text; otherwise those of libm.
    """

    name: str
    is_own: bool = False

    @property
    def suffix(self) -> str:
        """Of literals, and of functions of libm."""
        return "f" if self.name == "float" else ""

    def number(self, value: float) -> str:
        """A literal."""
        if self.name == "double":
            if not math.isfinite(value):
                return "(0.0 / 0.0)" if math.isnan(value) else f"({math.copysign(1, value)} / 0.0)"
            return constant(value, "f64")
        if math.isnan(value):
            return "(0.0f / 0.0f)"
        if abs(value) > np.finfo(np.float32).max:
            return f"({math.copysign(1.0, value)}f / 0.0f)"
        text = str(np.float32(value))
        return f"({text}f)" if text.startswith("-") else f"{text}f"

    def filled(self, text: str) -> str:
        """Text for this type: REAL is its name, @ ends a literal."""
        return text.replace("REAL", self.name).replace("@", self.suffix)


@final
@dataclass(slots=True)
class EntryText:
    """Functions of one entry, and what they need.

    Attributes:
        lines: the text.
        arguments: arrays that are read, in order; out and work follow.
        work: numbers of workspace.
        operations: how many of them, by name.
    """

    lines: list[str]
    arguments: tuple[str, ...]
    work: int
    operations: dict[str, int]


@final
@dataclass(slots=True)
class Needs:
    """What the functions of a text share: elementary functions, tables."""

    real: Real
    names: dict[str, None] = field(default_factory=dict)
    tables: dict[tuple[Table, int], str] = field(default_factory=dict)

    def call(self, op: str) -> str:
        """The name of a function."""
        if op in GENERAL or self.real.is_own:
            self.names[op] = None
            is_size = op == "abs" and self.real.name == "double"
            return "liaison_fabs" if is_size else f"liaison_{op}"
        return f"{'fabs' if op == 'abs' else op}{self.real.suffix}"


INFIX = ("add", "sub", "mul", "div", "neg")
ARRAYS = ("t", "q", "v", "u", "p", "x")


def entry_text(program: Program, entry: str, name: str, needs: Needs) -> EntryText:
    """The functions of an entry under a name, visible in their text only.

    Raises:
        ProgramError: an operation that C text does not know.
    """
    functions = FUNCTIONS if needs.real.is_own and needs.real.name == "double" else {}
    entry_plan = plan(program, entry, functions=functions)
    pieces = [_PieceText(program, entry_plan, x, needs) for x in entry_plan.pieces]
    bodies = [x.lines() for x in pieces]
    read = tuple(x for x in ARRAYS if any(x in piece.read for piece in pieces))
    many = len(bodies) > 1
    listed, passed = _arguments(read, needs.real.name, work=many)
    lines: list[str] = []
    for k, body in enumerate(bodies):
        title = f"{name}_{k}" if many else name
        known = [*read, "out", *(["work"] if many else [])]
        unused = [f"  (void){x};" for x in known if x not in pieces[k].read]
        lines += [f"static void {title}({listed})", "{", *unused, *body, "}", ""]
    if many:
        calls = [f"  {name}_{k}({passed});" for k in range(len(bodies))]
        lines += [f"static void {name}({listed})", "{", *calls, "}", ""]
    counted: dict[str, int] = {}
    for piece in entry_plan.pieces:
        for node in (x for item in piece.items for x in item):
            counted[node.op] = counted.get(node.op, 0) + 1
    return EntryText(lines, read, entry_plan.work_size if many else 0, counted)


def _arguments(read: Iterable[str], real: str, *, work: bool) -> tuple[str, str]:
    """As declared, and as passed on."""
    listed = [f"{real} t" if x == "t" else f"const {real} *{x}" for x in read]
    listed += [f"{real} *out", *([f"{real} *work"] if work else [])]
    passed = [*read, "out", *(["work"] if work else [])]
    return ", ".join(listed), ", ".join(passed)


@final
class _PieceText:
    """Assignments of one piece."""

    def __init__(self, program: Program, entry_plan: Plan, piece: Piece, needs: Needs) -> None:
        self.program, self.numbers, self.piece = program, entry_plan.numbers, piece
        self.needs, self.real = needs, needs.real
        self.names: dict[Expr, str] = {}
        self.read: set[str] = set()

    def lines(self) -> list[str]:
        """The body of the function."""
        lines: list[str] = []
        for item in self.piece.items:
            if len(item) > 1 and self.real.is_own and self.real.name == "float":
                lines += self.turned(item)
                continue
            for node in item:
                value = self.value(node)
                lines.append(f"  const {self.real.name} {self.named(node)} = {value};")
        saves = self.piece.saves.items()
        self.read |= {"work"} if saves else set()
        self.read |= {"out"} if self.piece.outputs else set()
        lines += [f"  work[{place}] = {self.operand(node)};" for node, place in saves]
        return lines + [f"  out[{i}] = {self.operand(x)};" for i, x in self.piece.outputs]

    def named(self, node: Expr) -> str:
        """A new name."""
        self.names[node] = name = f"t{len(self.names)}"
        return name

    def turned(self, item: tuple[Expr, ...]) -> list[str]:
        """Sine and cosine of one angle together."""
        self.needs.names["sincos"] = None
        angle = self.operand(item[0].args[0])
        names = {node.op: self.named(node) for node in item}
        assert set(names) == TURNING
        kind = self.real.name
        return [f"  {kind} {names['sin']}, {names['cos']};",
                f"  liaison_sincos({angle}, &{names['sin']}, &{names['cos']});"]  # fmt: skip

    def operand(self, node: Expr) -> str:
        """A name, a number, or a place in an array."""
        if node in self.names:
            return self.names[node]
        if node in self.numbers:
            return self.real.number(self.numbers[node])
        if node.op != "symbol":
            self.read.add("work")
            return f"work[{self.piece.loads[node]}]"
        array, index = self.program.inputs[node]
        self.read.add(array)
        return "t" if array == "t" else f"{array}[{index}]"

    def value(self, node: Expr) -> str:
        """An operation."""
        args = [self.operand(x) for x in node.args]
        if node.op in INFIX:
            return OPS[node.op].c.format(*args)
        if node.op == "select":
            return f"({args[0]} > {self.real.number(0.0)} ? {args[1]} : {args[2]})"
        if node.op == "pow":
            return self.power(node, args)
        if node.op == "table":
            return self.table(node, args[0])
        if node.op not in OPS or OPS[node.op].expand is not None:
            raise ProgramError(f"the operation {node.op!r} has no C text.")
        return f"{self.needs.call(node.op)}({', '.join(args)})"

    def power(self, node: Expr, args: list[str]) -> str:
        """Whole powers by multiplication."""
        n = self.numbers.get(node.args[1])
        if n is not None and abs(n) <= LARGEST_POWER and n % 1 == 0:
            self.needs.names["power"] = None
            return f"liaison_power({args[0]}, {int(n)})"
        return f"{self.needs.call('pow')}({', '.join(args)})"

    def table(self, node: Expr, x: str) -> str:
        """A table of data."""
        table, order = node.data
        known = self.needs.tables
        name = known.setdefault((table, order), f"table{len(known)}")
        self.needs.names["table"] = None
        n, m = len(table.breaks), table.derivative_coefficients(order).shape[1]
        return f"liaison_table({n}, {m}, {name}_breaks, {name}_origins, {name}_values, {x})"


def helpers_text(needs: Needs) -> str:
    """Elementary functions and tables that a text uses."""
    real, names = needs.real, dict(needs.names)
    texts = [real.filled(GENERAL[x]) for x in GENERAL if x in names]
    own = [x for x in names if x not in GENERAL]
    if real.name == "float":
        while more := [y for x in names for y in SINGLE.get(x, ((), ""))[0] if y not in names]:
            names |= dict.fromkeys(more)
        texts += [text for x, (_, text) in SINGLE.items() if x in names]
    elif own:
        texts.append(_double_text(own))
    for (table, order), name in needs.tables.items():
        arrays = {"breaks": table.breaks, "origins": table.origins,
                  "values": table.derivative_coefficients(order).ravel()}  # fmt: skip
        for part, array in arrays.items():
            numbers = ", ".join(real.number(float(x)) for x in array)
            texts.append(f"static const {real.name} {name}_{part}[] = {{{numbers}}};")
    return "\n".join(texts) + "\n" if texts else ""


def _double_text(names: Iterable[str]) -> str:
    """Functions in double precision as loops, without libm."""
    basic = {"abs": "fabs", "sqrt": "sqrt"}
    loops: list[Loop[..., Any]] = [FUNCTIONS[x] for x in names if x not in basic]
    text = loops_to_c(loops, static=True).replace("#include <math.h>\n", "")
    text = text.replace("fabs(x); }", "x < 0 ? -x : x; }")
    head, mark, tail = text.partition(PRELUDE_END)
    end = tail.index("static inline int64_t power_i64")
    text = head + mark + tail[:end] + DOUBLE + LIBM.sub(r"liaison_\1(", tail[end:])
    return _pruned(text, [basic[x] for x in names if x in basic])


def _pruned(text: str, called: Iterable[str]) -> str:
    """Text without functions that nothing in it calls, besides those that others call."""
    kept = {f"liaison_{x}" for x in called}
    while True:
        idle = [
            x
            for x in INLINE.finditer(text)
            if x[1] not in kept and len(re.findall(rf"\b{x[1]}\b", text)) == 1
        ]
        if not idle:
            return text
        for one in reversed(idle):
            text = text[: one.start()] + text[one.end() :]
