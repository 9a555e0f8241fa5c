"""Elementary functions: arguments of every size, the truth, errors in units of the last place."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from flint import arb, ctx

from liaison.program.functions.elementary import FUNCTIONS
from liaison.program.loops.compile import compile_loops
from liaison.program.loops.language import i64, loop, ptr

NAMES = tuple(x for x in FUNCTIONS if x not in ("fmin", "fmax"))
TWO = ("atan2", "pow")
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "atan2": "arctan2", "pow": "power"}
HAS_LONG = np.finfo(np.longdouble).nmant >= 63
"""Whether NumPy has floats of 64 bits and more, whose functions screen ours."""

NEAREST = 6381956970095103.0 * 2.0**797
"""The double that comes nearest to a multiple of π/2."""


def over_one(f):
    @loop
    def each(n: i64, x: ptr, out: ptr) -> None:
        for i in range(n):
            out[i] = f(x[i])

    return each


def over_two(f):
    @loop
    def each(n: i64, x: ptr, y: ptr, out: ptr) -> None:
        for i in range(n):
            out[i] = f(x[i], y[i])

    return each


def loop_over(name):
    """The loop that applies a function to arrays."""
    return (over_two if name in TWO else over_one)(FUNCTIONS[name])


@cache
def compiled(name):
    """A function as machine code, on arrays."""
    each = loop_over(name)
    call = compile_loops([each])[each]

    def of(*arrays):
        arrays = [np.ascontiguousarray(x, dtype=float) for x in arrays]
        out = np.empty_like(arrays[0])
        call(len(out), *arrays, out)
        return out

    return of


class Draw:
    """Random arguments, so many at once."""

    def __init__(self, count, seed=0):
        self.count, self.random = count, np.random.default_rng(seed)

    def sign(self):
        return self.random.choice([-1.0, 1.0], self.count)

    def sized(self, low, high):
        """Between 2^low and 2^high, every size as often; subnormal numbers too."""
        power = self.random.integers(low, high, self.count).astype(np.int32)
        return np.ldexp(1 + self.random.random(self.count), power)

    def within(self, low, high):
        return self.random.uniform(low, high, self.count)

    def whole(self, most):
        return self.random.integers(-most, most, self.count)


def arguments(name, count, seed=0):
    """What the arguments are -> arrays of them."""
    d = Draw(count, seed)
    if name in ("sin", "cos", "tan"):
        return {
            "every size": (d.sign() * d.sized(-1074, 1024),),
            "turns": (d.within(-10, 10),),
            "to the reach": (d.within(-1e5, 1e5),),
            "beyond it": (d.sign() * d.within(1e5, 1e9),),
            "quarter turns": (d.whole(10**9) * (math.pi / 2),),
            "edges of octants": ((d.whole(1000) + 0.5) * (math.pi / 2),),
        }
    if name in ("asin", "acos"):
        return {
            "all": (d.within(-1, 1),),
            "near one": (d.sign() * (1 - d.sized(-53, -1)),),
            "every size": (d.sign() * d.sized(-1074, 0),),
            "near one half": (d.sign() * (0.5 + d.within(-1, 1) * 1e-3),),
        }
    if name == "atan":
        return {
            "every size": (d.sign() * d.sized(-1074, 1024),),
            "near one": (d.sign() * d.sized(-4, 4),),
            "edges": (
                d.random.choice([0.4375, 0.6875, 1.1875, 2.4375], count) * d.within(0.99, 1.01),
            ),
        }
    if name == "atan2":
        return {
            "every size": (d.sign() * d.sized(-1074, 1024), d.sign() * d.sized(-1074, 1024)),
            "alike": (d.sign() * d.sized(-3, 3), d.sign() * d.sized(-3, 3)),
            "far": (d.sign() * d.sized(-70, 0), d.sign() * d.sized(0, 3)),
        }
    if name == "exp":
        return {
            "all": (d.within(-745.2, 709.78),),
            "every size": (d.sign() * d.sized(-1074, 9),),
            "near nought": (d.within(-1, 1),),
            "subnormal": (d.within(-745.2, -708),),
        }
    if name == "log":
        return {
            "every size": (d.sized(-1074, 1024),),
            "near one": (d.within(0.5, 2),),
            "nearer": (1 + d.sign() * d.sized(-52, -2),),
        }
    x, near = d.sized(-1074, 1024), 1 + d.sign() * d.sized(-50, -2)
    return {
        "every size": (x, d.within(-745, 709) / np.log(np.where(x == 1, 2, x))),
        "near one": (near, d.within(-745, 709) / np.log(near)),
        "usual": (d.within(0.1, 10), d.within(-10, 10)),
        "whole": (d.within(-10, 10), d.whole(200).astype(float)),
    }


def exact(name, *x):
    """The truth, as a ball."""
    ctx.prec = 1300 if name in ("sin", "cos", "tan") and abs(x[0]) > 1e5 else 260
    if name == "atan2":
        return arb.atan2(arb(x[0]), arb(x[1]))
    if name == "pow":
        whole = float(x[1]).is_integer()
        return arb(x[0]) ** (int(x[1]) if whole and abs(x[1]) < 1000 else arb(x[1]))
    return getattr(arb(x[0]), name)()


def errors(name, arrays, got):
    """Errors in units in the last place of the truth, one by one."""
    listed = []
    for *x, y in zip(*(a.tolist() for a in arrays), got.tolist(), strict=True):
        truth = exact(name, *x)
        unit = arb(math.ulp(float(abs(truth))))
        listed.append(abs(float((arb(y) - truth) / unit)) if math.isfinite(y) else over(truth, y))
    return np.array(listed)


def over(truth, y):
    """0 where a result that is not finite is right, else inf."""
    return 0.0 if math.isinf(y) and abs(truth) > arb(2) ** 1024 * (1 - arb(2) ** -54) else math.inf


def screened(name, arrays, got):
    """The same by NumPy's long floats, on arrays at once."""
    with np.errstate(all="ignore"):
        truth = getattr(np, NUMPY.get(name, name))(*(x.astype(np.longdouble) for x in arrays))
        near = truth.astype(float)
        unit = np.spacing(np.where(np.isfinite(near), np.abs(near), 1.0)).astype(np.longdouble)
        off = np.abs((got.astype(np.longdouble) - truth) / unit).astype(float)
    same = (got == near) | (np.isnan(got) & np.isnan(near))
    return np.where(np.isfinite(near) & np.isfinite(got), off, np.where(same, 0.0, np.inf))
