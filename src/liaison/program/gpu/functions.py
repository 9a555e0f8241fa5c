"""Functions that a GPU does not have, in double, as LLVM IR: no libdevice is needed.

Each brings its argument into a short interval and sums a series there; errors are a few units in
the last place. A power is exp(y log |x|): its relative error grows with |y log x|.

Source: MUL16, chapters 4 and 11, for the reductions.

Public names: FUNCTIONS.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import factorial, nan, pi, sqrt, tan

from liaison.program.llvm.sincos import Lines, double

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
        given = ", ".join(f"double %{letter}" for letter in letters)
        head = f"define internal double @liaison_{name}({given}) noinline nounwind {{"
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
