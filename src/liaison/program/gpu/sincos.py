"""Sine and cosine where there is no libm: any angle in double, and a short form in single.

A double beyond the reach of the inline code is reduced by whole numbers: with |x| = m 2ᵉ, m of 53
bits, the bits of 2/π that count for (|x| 2/π) mod 4 are 192 in a row; their product with m, mod
2¹⁹², begins with the quadrant, and 126 bits of the rest are the part of it. No double comes so near
to a multiple of π/2 that fewer than 60 of these are left.

Source: PH83, for the reduction.

Public names: far_function, any_function, quick_sincos.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, reduce
from typing import TypeAlias

from liaison.program.llvm.sincos import COSINE, MAGIC, PI_HALF, REACH, SINE, Lines, double, single

PI_HALF_SHORT = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)
SINE_SHORT = (-0.16666654854228477, 0.008332172283069957, -0.00019516479959750328)
COSINE_SHORT = (0.04166665455994526, -0.001388764810967754, 2.4462982206254915e-05)
MAGIC_SHORT = 1.5 * 2.0**23
WORDS = 21  # a word of zeros, so that small exponents need no case of their own, then 2/π
PAIR = "{ double, double }"


@cache
def two_over_pi() -> tuple[int, ...]:
    """0 and the first 1280 bits of 2/π, in words of 64, by Machin's formula on whole numbers."""
    bits = 64 * (WORDS - 1)
    one = 1 << (bits + 64)

    def arctangent(n: int) -> int:
        total, term, k = 0, one // n, 1
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term, k = term // (n * n), k + 2
        return total

    pi = 4 * (4 * arctangent(5) - arctangent(239))
    value = (2 * one << bits) // pi
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
    words = ", ".join(f"i64 {word}" for word in two_over_pi())
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
    found = []
    for (s, c), (s_far, c_far) in zip(quick, far, strict=True):
        sine = lines.put(f"phi {kind} [{s}, %{block}], [{s_far}, %{slow}]")
        cosine = lines.put(f"phi {kind} [{c}, %{block}], [{c_far}, %{slow}]")
        found.append((sine, cosine))
    return lines.lines, found, end


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
        found = super().far(self.put(f"fpext float {x} to double"))
        return [self.put(f"fptrunc double {value} to float") for value in found]
