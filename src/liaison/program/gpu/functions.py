"""Functions that a GPU does not have, in double, as LLVM IR: no libdevice is needed.

Each brings its argument into a short interval and sums a series there; errors are a few units in
the last place. A power is exp(y log |x|): its relative error grows with |y log x|.

Source: MUL16, chapters 4 and 11, for the reductions.

Sine and cosine where there is no libm: any angle in double, and a short form in single.

A double beyond the reach of the inline code is reduced by whole numbers: with |x| = m 2ᵉ, m of 53
bits, the bits of 2/π that count for (|x| 2/π) mod 4 are 192 in a row; their product with m, mod
2¹⁹², begins with the quadrant, and 126 bits of the rest are the part of it. No double comes so near
to a multiple of π/2 that fewer than 60 of these are left.

Source: PH83, for the reduction.

Public names: FUNCTIONS, far_function, any_function, quick_sincos.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from math import factorial, nan, pi, sqrt, tan
from typing import TypeAlias

from liaison.program.functions.circular import two_over_pi
from liaison.program.llvm.sincos import COSINE, MAGIC, PI_HALF, REACH, SINE, Lines, double, single

PI_HALF_SHORT = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
SINE_SHORT = (-0.16666654854228477, 0.008332172283069957, -0.00019516479959750328)
COSINE_SHORT = (0.04166665455994526, -0.001388764810967754, 2.4462982206254915e-05)
MAGIC_SHORT = 1.5 * 2.0**23
WORDS = 21  # a word of zeros, so that small exponents need no case of their own, then 2/π
PAIR = "{ double, double }"


@cache
def _bits_in_words() -> tuple[int, ...]:
    """0 and the first 1280 bits of 2/π, in words of 64."""
    bits = 64 * (WORDS - 1)
    value = two_over_pi(bits)
    words = [(value >> (bits - 64 * (k + 1))) & (2**64 - 1) for k in range(WORDS - 1)]
    return (0, *words)


FAR = """\
define internal { double, double } @liaison_sincos1(double %x) noinline cold nounwind {
entry:
  %bits = bitcast double %x to i64
  %size = and i64 %bits, 9223372036854775807
  %biased = lshr i64 %size, 52
  %isno = icmp eq i64 %biased, 2047
  br i1 %isno, label %lost, label %go
lost:
  %nan = fsub double %x, %x
  %lost0 = insertvalue { double, double } poison, double %nan, 0
  %lost1 = insertvalue { double, double } %lost0, double %nan, 1
  ret { double, double } %lost1
go:
  %fraction = and i64 %size, 4503599627370495
  %m = or i64 %fraction, 4503599627370496
  %skip = sub i64 %biased, 1013
  %first = lshr i64 %skip, 6
  %left = and i64 %skip, 63
WORDLOADS
  %h2w = zext i64 %m to i128
  %w2w = zext i64 %w2 to i128
  %p2 = mul i128 %h2w, %w2w
  %w1w = zext i64 %w1 to i128
  %p1 = mul i128 %h2w, %w1w
  %p0 = mul i64 %m, %w0
  %p2h = lshr i128 %p2, 64
  %low128 = add i128 %p1, %p2h
  %p0w = zext i64 %p0 to i128
  %p0s = shl i128 %p0w, 64
  %whole = add i128 %low128, %p0s
  %turn0w = lshr i128 %whole, 126
  %turn0 = trunc i128 %turn0w to i64
  %rest = shl i128 %whole, 2
  %over = icmp slt i128 %rest, 0
  %round = zext i1 %over to i64
  %quadrant = add i64 %turn0, %round
  %negated = sub i128 0, %rest
  %part = select i1 %over, i128 %negated, i128 %rest
  %parth128 = lshr i128 %part, 64
  %parth = trunc i128 %parth128 to i64
  %zeros = call i64 @llvm.ctlz.i64(i64 %parth, i1 false)
  %zerosw = zext i64 %zeros to i128
  %normal = shl i128 %part, %zerosw
  %tops = lshr i128 %normal, 75
  %top = trunc i128 %tops to i64
  %nexts = lshr i128 %normal, 22
  %next0 = trunc i128 %nexts to i64
  %next = and i64 %next0, 9007199254740991
  %topd = uitofp i64 %top to double
  %nextd = uitofp i64 %next to double
  %e1 = sub i64 970, %zeros
  %e1b = shl i64 %e1, 52
  %scale1 = bitcast i64 %e1b to double
  %e2 = sub i64 917, %zeros
  %e2b = shl i64 %e2, 52
  %scale2 = bitcast i64 %e2b to double
  %a0 = fmul double %topd, %scale1
  %b0 = fmul double %nextd, %scale2
  %a1 = fneg double %a0
  %b1 = fneg double %b0
  %a = select i1 %over, double %a1, double %a0
  %b = select i1 %over, double %b1, double %b0
  %r0 = fmul double %a, PI0
  %r0n = fneg double %r0
  %e = call double @llvm.fma.f64(double %a, double PI0, double %r0n)
  %e3 = call double @llvm.fma.f64(double %a, double PI1, double %e)
  %low = call double @llvm.fma.f64(double %b, double PI0, double %e3)
"""


def far_function() -> str:
    """The cold function that the inline code in double calls, without libm."""
    words = ", ".join(f"i64 {word}" for word in _bits_in_words())
    table = f"@liaison_two_over_pi = internal constant [{WORDS} x i64] [{words}]"
    text = FAR.replace("WORDLOADS", "\n".join(_words())).replace("PI0", double(PI_HALF[0]))
    lines = Lines("far", 1)
    sine, cosine = lines.kernels("%r0", "%low")
    sine, cosine = lines.placed("%x", "%quadrant", sine, cosine)
    end = [
        f"  %both0 = insertvalue {PAIR} poison, double {sine}, 0",
        f"  %both = insertvalue {PAIR} %both0, double {cosine}, 1",
        f"  ret {PAIR} %both",
        "}",
    ]
    return "\n".join([table, text.replace("PI1", double(PI_HALF[1])), *lines.lines, *end])


def _words() -> list[str]:
    """192 bits of the table from bit `skip` on, as %w0, %w1, %w2."""
    lines = []
    for k in range(4):
        lines.append(f"  %i{k} = add i64 %first, {k}")
        lines.append(f"  %at{k} = getelementptr i64, ptr @liaison_two_over_pi, i64 %i{k}")
        lines.append(f"  %v{k} = load i64, ptr %at{k}, align 8")
    for k in range(3):
        pair = f"i64 %v{k}, i64 %v{k + 1}, i64 %left"
        lines.append(f"  %w{k} = call i64 @llvm.fshl.i64({pair})")
    return lines


def any_function() -> str:
    """The cold function of one angle, near or far."""
    lines = Lines("any", 1)
    _, sine, cosine, _ = lines.both("%x", "entry")
    return "\n".join(
        [
            f"define internal {PAIR} @liaison_sincos_any(double %x) noinline cold nounwind {{",
            "entry:",
            *lines.lines,
            f"  %both0 = insertvalue {PAIR} poison, double {sine}, 0",
            f"  %both = insertvalue {PAIR} %both0, double {cosine}, 1",
            f"  ret {PAIR} %both",
            "}",
        ]
    )


Turned: TypeAlias = list[tuple[str, str]]


def quick_sincos(
    tag: str, angles: Sequence[str], real: str, block: str
) -> tuple[list[str], Turned, str]:
    """IR that computes sines and cosines of several angles, with one branch for all.

    The remainder is one number instead of two, so that results are within 2 units in the last
    place. If any angle is far, all are computed again by the cold function.

    Source: CW80, chapter 8.
    Differs: π/2 in three parts, and minimax polynomials; in single of relative error 2⁻²⁸ and 2⁻³².

    Args:
        tag: prefix of every name made here, unique in the function.
        angles: operands.
        real: double or float.
        block: label of the block these lines are appended to.

    Returns:
        The lines, sine and cosine of each angle, and the label of the block they end in.
    """
    lines = _Double(tag, 1) if real == "double" else _Single(tag, 1)
    kind, slow, end = lines.kind, f"{tag}.slow", f"{tag}.end"
    near = [lines.near(x) for x in angles]
    quick = [lines.quick(x) for x in angles]
    all_near = reduce(lambda a, b: lines.put(f"and i1 {a}, {b}"), near)
    lines.lines += [f"  br i1 {all_near}, label %{end}, label %{slow}, !prof !0", f"{slow}:"]
    far = [lines.far(x) for x in angles]
    lines.lines += [f"  br label %{end}", f"{end}:"]
    pairs = []
    for (s, c), (s_far, c_far) in zip(quick, far, strict=True):
        sine = lines.put(f"phi {kind} [{s}, %{block}], [{s_far}, %{slow}]")
        cosine = lines.put(f"phi {kind} [{c}, %{block}], [{c_far}, %{slow}]")
        pairs.append((sine, cosine))
    return lines.lines, pairs, end


def near_sincos(tag: str, angles: Sequence[str], real: str) -> tuple[list[str], Turned]:
    """The same without a branch: sines and cosines of angles that are far are NaN."""
    lines = _Double(tag, 1) if real == "double" else _Single(tag, 1)
    kind, pairs = lines.kind, []
    for x in angles:
        near = lines.near(x)
        angle = lines.put(f"select i1 {near}, {kind} {x}, {kind} 0x7FF8000000000000")
        pairs.append(lines.quick(angle))
    return lines.lines, pairs


class _Double(Lines):
    """The inline code."""

    magic, parts = MAGIC, PI_HALF
    coefficients: tuple[tuple[float, ...], tuple[float, ...]] = SINE, COSINE

    def near(self, size: str) -> str:
        """Whether the angle is within reach (false for NaN)."""
        size = self.put(f"call {self.kind} @llvm.fabs.{self.suffix}({self.kind} {size})")
        return self.put(f"fcmp ole {self.kind} {size}, {self.real(REACH)}")

    def quick(self, x: str) -> tuple[str, str]:
        """Within reach: quadrant, remainder, polynomials, signs."""
        shifted = self.fma(x, self.real(0.6366197723675814), self.real(self.magic))
        turns = self.op("fsub", shifted, self.real(self.magic))
        r = x
        for part in self.parts:
            r = self.fma(turns, self.real(-part), r)
        z = self.op("fmul", r, r)
        zz = self.op("fmul", z, z)
        c = self.coefficients
        sine = self.fma(self.op("fmul", r, z), self.polynomial(c[0], z, zz), r)
        top = self.fma(z, self.real(-0.5), self.real(1.0))
        cosine = self.fma(zz, self.polynomial(c[1], z, zz), top)
        return self.exchanged(self.quadrant(shifted), sine, cosine)

    def quadrant(self, shifted: str) -> str:
        """The low 32 bits of a whole number that lies at the end of a float's bits."""
        return self.put(f"trunc i64 {self.cast(shifted, 'double', 'i64')} to i32")

    def exchanged(self, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
        """Exchange for odd quadrants, and signs."""
        odd = self.put(f"trunc i32 {quadrant} to i1")
        kind = self.kind
        s = self.put(f"select i1 {odd}, {kind} {cosine}, {kind} {sine}")
        c = self.put(f"select i1 {odd}, {kind} {sine}, {kind} {cosine}")
        return self.turned(s, quadrant), self.turned(c, self.put(f"add i32 {quadrant}, 1"))

    def turned(self, value: str, quadrant: str) -> str:
        """The value, negative where bit 1 of the quadrant is set."""
        top = self.put(f"shl i32 {quadrant}, 30")
        sign = self.put(f"and i32 {top}, {-(2**31)}")
        if self.width == 64:
            wide = self.put(f"zext i32 {sign} to i64")
            sign = self.op("shl", wide, "32")
        return self.signed(value, sign)

    def far(self, x: str) -> list[str]:
        """By the cold function."""
        both = self.put(f"call {PAIR} @liaison_sincos_any(double {x})")
        return [self.put(f"extractvalue {PAIR} {both}, {i}") for i in (0, 1)]


class _Single(_Double):
    """The inline code in single precision."""

    magic, parts = MAGIC_SHORT, PI_HALF_SHORT
    coefficients = SINE_SHORT, COSINE_SHORT

    def __init__(self, tag: str, lanes: int) -> None:
        super().__init__(tag, lanes)
        self.kind, self.bits, self.suffix = "float", "i32", "f32"
        self.width = 32

    def real(self, value: float) -> str:
        """A constant."""
        return single(value)

    def quadrant(self, shifted: str) -> str:
        """The bits of a float that end in a whole number."""
        return self.cast(shifted, "float", "i32")

    def polynomial(self, c: tuple[float, ...], z: str, zz: str) -> str:
        """c₀ + c₁ z + c₂ z²."""
        return self.fma(self.fma(self.real(c[2]), z, self.real(c[1])), z, self.real(c[0]))

    def far(self, x: str) -> list[str]:
        """As a double."""
        values = super().far(self.put(f"fpext float {x} to double"))
        return [self.put(f"fptrunc double {value} to float") for value in values]


LN2 = (0.6931471803691238, 1.9082149292705877e-10)  # the first has 21 trailing zero bits
PI_LOW = 1.2246467991473532e-16
EXP = [1 / factorial(k) for k in range(14)]
LOG = [2 / (2 * k + 1) for k in range(1, 13)]
ATAN = [(-1) ** k / (2 * k + 1) for k in range(23)]


class _Function(Lines):
    """Writes a function of one or two doubles."""

    def __init__(self) -> None:
        super().__init__("f", 1)

    def whole_text(self, name: str, letters: str, result: str) -> str:
        """The function, its lines written."""
        arguments = ", ".join(f"double %{letter}" for letter in letters)
        head = f"define internal double @liaison_{name}({arguments}) noinline nounwind {{"
        return "\n".join([head, "entry:", *self.lines, f"  ret double {result}", "}"])

    def series(self, c: Sequence[float], z: str) -> str:
        """Σ cₖ zᵏ by Horner's rule."""
        value = self.real(c[-1])
        for number in reversed(c[:-1]):
            value = self.fma(value, z, self.real(number))
        return value

    def one(self, intrinsic: str, x: str) -> str:
        """An operation the device has."""
        return self.put(f"call double @llvm.{intrinsic}.f64(double {x})")

    def called(self, name: str, *args: str) -> str:
        """Another function of this page."""
        passed = ", ".join(f"double {arg}" for arg in args)
        return self.put(f"call double @liaison_{name}({passed})")

    def where(self, relation: str, x: str, y: str, a: str, b: str) -> str:
        """a where x and y are so related, else b."""
        test = self.put(f"fcmp {relation} double {x}, {y}")
        return self.put(f"select i1 {test}, double {a}, double {b}")

    def bits_of(self, x: str) -> str:
        """The bits of a double."""
        return self.cast(x, "double", "i64")

    def scale(self, power: str) -> str:
        """2 to a whole power."""
        biased = self.op("add", power, "1023")
        return self.cast(self.op("shl", biased, "52"), "i64", "double")

    def with_sign(self, x: str, sign: str) -> str:
        """|x| with the sign of another."""
        return self.put(f"call double @llvm.copysign.f64(double {x}, double {sign})")


def _exp() -> str:
    """n = x/ln 2 rounded; eˣ = 2ⁿ e^(x − n ln 2), the power of 2 in two factors."""
    f = _Function()
    x = f.where("ogt", "%x", f.real(800.0), f.real(800.0), "%x")
    x = f.where("olt", x, f.real(-800.0), f.real(-800.0), x)
    n = f.one("rint", f.op("fmul", x, f.real(1.4426950408889634)))
    r = f.fma(n, f.real(-LN2[1]), f.fma(n, f.real(-LN2[0]), x))
    power = f.put(f"fptosi double {f.where('uno', n, n, f.real(0.0), n)} to i64")
    half = f.op("ashr", power, "1")
    value = f.op("fmul", f.series(EXP, r), f.scale(half))
    return f.whole_text("exp", "x", f.op("fmul", value, f.scale(f.op("sub", power, half))))


def _log() -> str:
    """x = 2ᵉ m with m in [√½, √2]; log m = 2 artanh s with s = (m − 1)/(m + 1)."""
    f = _Function()
    small = f.put(f"fcmp olt double %x, {f.real(2.0**-1022)}")
    large = f.op("fmul", "%x", f.real(2.0**54))
    x = f.put(f"select i1 {small}, double {large}, double %x")
    bits = f.op("sub", f.bits_of(x), str(_bits(sqrt(0.5))))
    power = f.op("ashr", bits, "52")
    rest = f.op("sub", f.bits_of(x), f.op("shl", power, "52"))
    m1 = f.op("fsub", f.cast(rest, "i64", "double"), f.real(1.0))
    e = f.put(f"sitofp i64 {power} to double")
    lower = f.op("fsub", e, f.real(54.0))
    e = f.put(f"select i1 {small}, double {lower}, double {e}")
    s = f.op("fdiv", m1, f.op("fadd", m1, f.real(2.0)))
    z = f.op("fmul", s, s)
    half = f.op("fmul", f.op("fmul", m1, m1), f.real(0.5))
    tail = f.op("fmul", z, f.series(LOG, z))
    inner = f.fma(e, f.real(LN2[1]), f.op("fmul", s, f.op("fadd", half, tail)))
    value = f.op("fsub", m1, f.op("fsub", half, inner))
    value = f.fma(e, f.real(LN2[0]), value)
    value = f.where("ult", "%x", f.real(0.0), f.real(nan), value)
    value = f.where("oeq", "%x", f.real(0.0), f.real(float("-inf")), value)
    value = f.where("oeq", "%x", f.real(float("inf")), "%x", value)
    return f.whole_text("log", "x", f.where("uno", "%x", "%x", "%x", value))


def _bits(value: float) -> int:
    return int(double(value), 16)


def _atan() -> str:
    """Beyond 1 by the inverse, beyond tan(π/8) by the difference from π/4."""
    f = _Function()
    size = f.one("fabs", "%x")
    beyond = f.put(f"fcmp ogt double {size}, {f.real(1.0)}")
    inverse = f.op("fdiv", f.real(1.0), size)
    a = f.put(f"select i1 {beyond}, double {inverse}, double {size}")
    steep = f.put(f"fcmp ogt double {a}, {f.real(tan(pi / 8))}")
    turned = f.op("fdiv", f.op("fsub", a, f.real(1.0)), f.op("fadd", a, f.real(1.0)))
    b = f.put(f"select i1 {steep}, double {turned}, double {a}")
    base = f.put(f"select i1 {steep}, double {f.real(pi / 4)}, double {f.real(0.0)}")
    low = f.put(f"select i1 {steep}, double {f.real(PI_LOW / 4)}, double {f.real(0.0)}")
    z = f.op("fmul", b, b)
    rest = f.op("fmul", f.op("fmul", b, z), f.series(ATAN[1:], z))
    near = f.op("fadd", base, f.op("fadd", b, f.op("fadd", rest, low)))
    less = f.op("fsub", f.real(pi / 2), f.op("fsub", near, f.real(PI_LOW / 2)))
    value = f.put(f"select i1 {beyond}, double {less}, double {near}")
    return f.whole_text("atan", "x", f.with_sign(value, "%x"))


def _atan2() -> str:
    """The angle of |x|, |y|, then the half-plane and the side; the origin has angle 0."""
    f = _Function()
    ratio = f.op("fdiv", f.one("fabs", "%y"), f.one("fabs", "%x"))
    total = f.op("fadd", f.one("fabs", "%x"), f.one("fabs", "%y"))
    ratio = f.where("oeq", total, f.real(0.0), f.real(0.0), ratio)
    near = f.called("atan", ratio)
    left = f.op("fsub", f.real(pi), f.op("fsub", near, f.real(PI_LOW)))
    negative = f.put(f"icmp slt i64 {f.bits_of('%x')}, 0")
    value = f.put(f"select i1 {negative}, double {left}, double {near}")
    return f.whole_text("atan2", "yx", f.with_sign(value, "%y"))


def _arc(name: str) -> str:
    """By the other leg, √((1 − x)(1 + x))."""
    f = _Function()
    one = f.real(1.0)
    leg = f.one("sqrt", f.op("fmul", f.op("fsub", one, "%x"), f.op("fadd", one, "%x")))
    legs = ("%x", leg) if name == "asin" else (leg, "%x")
    return f.whole_text(name, "x", f.called("atan2", *legs))


def _tan() -> str:
    """Sine over cosine."""
    f = _Function()
    _, sine, cosine, _ = f.both("%x", "entry")
    return f.whole_text("tan", "x", f.op("fdiv", sine, cosine))


def _pow() -> str:
    """exp(y log |x|), negative for odd y and negative x; NaN for negative x and broken y."""
    f = _Function()
    power = f.called("exp", f.op("fmul", "%y", f.called("log", f.one("fabs", "%x"))))
    half = f.op("fmul", "%y", f.real(0.5))
    minus = f.put(f"fneg double {power}")
    signed = f.where("une", f.one("rint", half), half, minus, power)
    signed = f.where("une", f.one("rint", "%y"), "%y", f.real(nan), signed)
    value = f.where("olt", "%x", f.real(0.0), signed, power)
    return f.whole_text("pow", "xy", f.where("oeq", "%y", f.real(0.0), f.real(1.0), value))


FUNCTIONS: dict[str, str] = {
    "exp": _exp(),
    "log": _log(),
    "atan": _atan(),
    "atan2": _atan2(),
    "asin": _arc("asin"),
    "acos": _arc("acos"),
    "tan": _tan(),
    "pow": _pow(),
}
