"""Sine and cosine together, inline, on one angle or on a vector of angles; as LLVM IR.

The angle is brought to |r| ≤ π/4 by r = |x| − n π/2, with π/2 in three parts, so that r + low has
more than 100 bits; then two polynomials give sin r and cos r, and n mod 4 says which is which.
For |x| ≤ 1e5 the result is within 1 unit in the last place; above, for inf and for NaN, a cold
branch asks libm.

The first step is exact: n P1 is a multiple of 2⁻⁵² (P1 has 53 bits and lies in [1, 2)), and so is
|x| ≥ 1; their difference is below 1 and fits 53 bits, hence fma makes no rounding.

Source: CW80, chapter 8 (sine and cosine), for the reduction.
Differs: the polynomials are minimax fits (Remez exchange, 300 bits) of
(sin r − r)/r³ and (cos r − 1 + r²/2)/r⁴ in r², relative error 2⁻⁵⁸ and 2⁻⁶⁴.

Vectors of angles have one branch for all of them, and in the cold branch only angles that are far
ask libm: what a lane gives does not depend on its neighbours.

Public names: slow_function, Lines, turned_together, double, single, REACH.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import reduce

import numpy as np

REACH = 1e5  # largest angle [rad] the inline code takes; beyond, the cold branch
MAGIC = 1.5 * 2.0**52  # adding it rounds to a whole number, which is then in the low bits
PI_HALF = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
SINE = (
    -0.16666666666666632, 0.008333333333322398, -0.00019841269829794572,
    2.755731368713254e-06, -2.5050757337589606e-08, 1.5896749024600285e-10,
)  # fmt: skip
COSINE = (
    0.0416666666666666, -0.0013888888888874103, 2.480158728946824e-05,
    -2.7557314348124705e-07, 2.0875722678413635e-09, -1.1359615890845181e-11,
)  # fmt: skip


def double(value: float) -> str:
    """A double as IR writes it: its bits."""
    return "0x" + struct.pack(">d", value).hex().upper()


def single(value: float) -> str:
    """A float as IR writes it: the bits of the double it equals."""
    return double(float(np.float32(value)))


def slow_function(lanes: int, prefix: str = "") -> str:
    """The cold function: sine and cosine by libm, or by functions with a prefix.

    That of several lanes takes what the inline code gave, and replaces it where an angle is far.
    """
    kind = _kinds(lanes)[0]
    pair = f"{{ {kind}, {kind} }}"
    near = "" if lanes == 1 else f", {kind} %sin, {kind} %cos"
    name = f"@liaison_sincos{lanes}({kind} %x{near})"
    lines = [f"define internal {pair} {name} noinline cold nounwind {{"]
    results = [_by_libm(name, lanes, prefix, lines) for name in ("sin", "cos")]
    if lanes > 1:
        own = Lines("near", lanes)
        size = own.put(f"call {kind} @llvm.fabs.{own.suffix}({kind} %x)")
        test = own.put(f"fcmp ole {kind} {size}, {own.real(REACH)}")
        pick = f"select <{lanes} x i1> {test}, {kind}"
        results = [
            own.put(f"{pick} %{name}, {kind} {x}")
            for name, x in zip(("sin", "cos"), results, strict=True)
        ]
        lines += own.lines
    lines.append(f"  %both0 = insertvalue {pair} poison, {kind} {results[0]}, 0")
    lines.append(f"  %both = insertvalue {pair} %both0, {kind} {results[1]}, 1")
    return "\n".join([*lines, f"  ret {pair} %both", "}"])


def _by_libm(name: str, lanes: int, prefix: str, lines: list[str]) -> str:
    """The operand of a function of every lane; its lines are appended."""
    if lanes == 1:
        lines.append(f"  %{name}0 = call double @{prefix}{name}(double %x)")
        return f"%{name}0"
    kind, previous = _kinds(lanes)[0], "poison"
    for i in range(lanes):
        lines.append(f"  %{name}x{i} = extractelement {kind} %x, i32 {i}")
        lines.append(f"  %{name}y{i} = call double @{prefix}{name}(double %{name}x{i})")
        value = f"double %{name}y{i}, i32 {i}"
        lines.append(f"  %{name}{i} = insertelement {kind} {previous}, {value}")
        previous = f"%{name}{i}"
    return previous


def turned_together(
    writers: Sequence[Lines], operands: Sequence[str], block: str
) -> tuple[list[str], list[tuple[str, str]], str]:
    """IR that computes sines and cosines of several vectors of angles, with one branch for all.

    Args:
        writers: one for each vector, with names of its own.
        operands: the vectors.
        block: label of the block these lines are appended to.

    Returns:
        The lines, the operands of sine and cosine of each, and the label of the block they end in.
    """
    first = writers[0]
    kind, slow, end = first.kind, f"{first.tag}.slow", f"{first.tag}.end"
    pair = f"{{ {kind}, {kind} }}"
    near, quick = [], []
    for own, x in zip(writers, operands, strict=True):
        size = own.put(f"call {kind} @llvm.fabs.{own.suffix}({kind} {x})")
        near.append(own.near(size))
        quick.append(own.fast(x, size))
    lines = [line for own in writers for line in own.lines]
    last = Lines(f"{first.tag}.all", first.lanes)
    all_near = reduce(lambda a, b: last.put(f"and i1 {a}, {b}"), near)
    last.lines += [f"  br i1 {all_near}, label %{end}, label %{slow}, !prof !0", f"{slow}:"]
    far = []
    for x, (sine, cosine) in zip(operands, quick, strict=True):
        passed = f"{kind} {x}, {kind} {sine}, {kind} {cosine}"
        both = last.put(f"call {pair} @liaison_sincos{first.lanes}({passed})")
        far.append([last.put(f"extractvalue {pair} {both}, {i}") for i in (0, 1)])
    last.lines += [f"  br label %{end}", f"{end}:"]
    turned = [
        tuple(
            last.put(f"phi {kind} [{a}, %{block}], [{b}, %{slow}]")
            for a, b in zip(x, y, strict=True)
        )
        for x, y in zip(quick, far, strict=True)
    ]
    return [*lines, *last.lines], [(s, c) for s, c in turned], end


def _kinds(lanes: int) -> tuple[str, str, str]:
    """Types of values and of their bits, and the suffix of intrinsics."""
    if lanes == 1:
        return "double", "i64", "f64"
    return f"<{lanes} x double>", f"<{lanes} x i64>", f"v{lanes}f64"


class Lines:
    """Appends lines; each helper is one instruction and returns its operand."""

    def __init__(self, tag: str, lanes: int) -> None:
        self.tag, self.lanes = tag, lanes
        self.kind, self.bits, self.suffix = _kinds(lanes)
        self.width = 64
        self.lines: list[str] = []

    def put(self, text: str) -> str:
        """Appends an instruction and names its value."""
        name = f"%{self.tag}.{len(self.lines)}"
        self.lines.append(f"  {name} = {text}")
        return name

    def splat(self, literal: str, kind: str) -> str:
        """A literal, in every lane."""
        if self.lanes == 1:
            return literal
        return "<" + ", ".join([f"{kind} {literal}"] * self.lanes) + ">"

    def real(self, value: float) -> str:
        """A constant."""
        return self.splat(double(value), "double")

    def whole(self, value: int) -> str:
        """A whole number."""
        return self.splat(str(value), "i64")

    def fma(self, a: str, b: str, c: str) -> str:
        """a b + c, rounded once."""
        kind = self.kind
        return self.put(f"call {kind} @llvm.fma.{self.suffix}({kind} {a}, {kind} {b}, {kind} {c})")

    def op(self, name: str, a: str, b: str) -> str:
        """An operation on two values, or on their bits."""
        kind = self.kind if name[0] == "f" else self.bits
        return self.put(f"{name} {kind} {a}, {b}")

    def cast(self, a: str, before: str, after: str) -> str:
        """The same bits as another type."""
        return self.put(f"bitcast {before} {a} to {after}")

    def both(self, x: str, block: str) -> tuple[list[str], str, str, str]:
        """IR that computes sine and cosine of the operand `x`.

        Args:
            x: a double, or a vector of doubles.
            block: label of the block these lines are appended to.

        Returns:
            The lines, the operands of sine and cosine, and the label of the block they end in.
        """
        if self.lanes > 1:
            lines, ((sine, cosine),), end = turned_together([self], [x], block)
            return lines, sine, cosine, end
        return self.branched(x)

    def branched(self, x: str) -> tuple[list[str], str, str, str]:
        """Of one angle: fast path, range check and cold branch, joined."""
        kind, tag = self.kind, self.tag
        size = self.put(f"call {kind} @llvm.fabs.{self.suffix}({kind} {x})")
        near = self.near(size)
        fast, slow, end = f"{tag}.fast", f"{tag}.slow", f"{tag}.end"
        self.lines.append(f"  br i1 {near}, label %{fast}, label %{slow}, !prof !0")
        self.lines.append(f"{fast}:")
        sine, cosine = self.fast(x, size)
        pair = f"{{ {kind}, {kind} }}"
        self.lines += [f"  br label %{end}", f"{slow}:"]
        both = self.put(f"call {pair} @liaison_sincos{self.lanes}({kind} {x})")
        far = [self.put(f"extractvalue {pair} {both}, {i}") for i in (0, 1)]
        self.lines += [f"  br label %{end}", f"{end}:"]
        s = self.put(f"phi {kind} [{sine}, %{fast}], [{far[0]}, %{slow}]")
        c = self.put(f"phi {kind} [{cosine}, %{fast}], [{far[1]}, %{slow}]")
        return self.lines, s, c, end

    def near(self, size: str) -> str:
        """Whether every lane is within reach (false for NaN)."""
        test = self.put(f"fcmp ole {self.kind} {size}, {self.real(REACH)}")
        if self.lanes == 1:
            return test
        mask = self.cast(test, f"<{self.lanes} x i1>", f"i{self.lanes}")
        return self.put(f"icmp eq i{self.lanes} {mask}, -1")

    def fast(self, x: str, size: str) -> tuple[str, str]:
        """Within reach: quadrant, remainder, polynomials, signs."""
        shifted = self.fma(size, self.real(0.6366197723675814), self.real(MAGIC))
        turns = self.op("fsub", shifted, self.real(MAGIC))
        quadrant = self.cast(shifted, self.kind, self.bits)
        high, low = self.reduced(size, turns)
        sine, cosine = self.kernels(high, low)
        return self.placed(x, quadrant, sine, cosine)

    def reduced(self, size: str, turns: str) -> tuple[str, str]:
        """|x| − n π/2 as high + low."""
        first = self.fma(turns, self.real(-PI_HALF[0]), size)
        product = self.op("fmul", turns, self.real(PI_HALF[1]))
        rounding = self.fma(turns, self.real(-PI_HALF[1]), product)
        high = self.op("fsub", first, product)
        lost = self.op("fsub", self.op("fsub", first, high), product)
        low = self.op("fadd", lost, rounding)
        return high, self.fma(turns, self.real(-PI_HALF[2]), low)

    def kernels(self, r: str, low: str) -> tuple[str, str]:
        """sin(r + low) and cos(r + low) for |r| ≤ π/4."""
        z = self.op("fmul", r, r)
        zz = self.op("fmul", z, z)
        half = self.op("fmul", z, self.real(0.5))
        top = self.op("fsub", self.real(1.0), half)
        cube = self.op("fmul", r, z)
        small = self.fma(cube, self.polynomial(SINE, z, zz), self.op("fmul", low, top))
        sine = self.op("fadd", r, small)
        rest = self.op("fsub", self.op("fsub", self.real(1.0), top), half)
        tail = self.fma(r, self.put(f"fneg {self.kind} {low}"), rest)
        tail = self.fma(zz, self.polynomial(COSINE, z, zz), tail)
        return sine, self.op("fadd", top, tail)

    def polynomial(self, c: tuple[float, ...], z: str, zz: str) -> str:
        """c₀ + c₁ z + … + c₅ z⁵, in pairs so that few operations wait for each other."""
        pairs = [self.fma(self.real(c[i + 1]), z, self.real(c[i])) for i in (0, 2, 4)]
        return self.fma(self.fma(pairs[2], zz, pairs[1]), zz, pairs[0])

    def placed(self, x: str, quadrant: str, sine: str, cosine: str) -> tuple[str, str]:
        """Exchange for odd quadrants, and signs."""
        odd = self.op("and", quadrant, self.whole(1))
        swap = self.op("icmp ne", odd, self.whole(0))
        mask = "i1" if self.lanes == 1 else f"<{self.lanes} x i1>"
        pick = f"select {mask} {swap}, {self.kind}"
        s = self.put(f"{pick} {cosine}, {self.kind} {sine}")
        c = self.put(f"{pick} {sine}, {self.kind} {cosine}")
        top, shift = self.whole(-(2 ** (self.width - 1))), self.whole(self.width - 2)
        sign = self.op("and", self.cast(x, self.kind, self.bits), top)
        turned = self.op("and", self.op("shl", quadrant, shift), top)
        ahead = self.op("add", quadrant, self.whole(1))
        other = self.op("and", self.op("shl", ahead, shift), top)
        return self.signed(s, self.op("xor", sign, turned)), self.signed(c, other)

    def signed(self, value: str, sign: str) -> str:
        """The value with its sign bit flipped where `sign` has it."""
        bits = self.cast(value, self.kind, self.bits)
        return self.cast(self.op("xor", bits, sign), self.bits, self.kind)
