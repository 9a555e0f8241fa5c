"""The size of a step: the first one, the next one, and when it is too small.

Public names: first_step, choose_step, divide, reject, adapt.

Source: HNW1 §II.4 (initial step, step size control with memory).
"""

from __future__ import annotations

from math import isfinite, pow

from liaison.program.loops.language import at, f64, i64, iptr, loop, ptr
from liaison.solvers.linear.dense import largest

from .explicit import derivative, size_of
from .layout import (
    ATOL,
    BASE_STEPS,
    BREAKS,
    BREAKS_PASSED,
    ERROR_BEFORE,
    GOOD,
    H_MAX,
    H_NEXT,
    H_PART,
    IS_ADAPTIVE,
    IS_FRESH,
    IS_PART,
    NOT_FINITE,
    NS,
    NV,
    O_BREAKS,
    O_K,
    O_STAGE,
    O_V,
    O_Y,
    ORDER,
    REJECTED,
    RTOL,
    STEP,
    STEP_TOO_SMALL,
    T_BASE,
    T_CONTROL,
    T_END,
    T_NEW,
    T_START,
    WAS_REJECTED,
    H,
    T,
)

SAFETY, SHRINK, GROW = 0.9, 0.2, 8.0
MEMORY = 0.04  # exponent of the error of the step before
PULLED = 0.01  # part of what a fixed step did that projection may undo
SHORTEST = 1.0 / 4096.0  # part of a fixed step, at least
BESIDE = 4.5e-16  # relative; two or more floats away
ROUNDING = 8.9e-16  # relative; steps of the size of time's rounding are refused


@loop
def first_step(e: iptr, w: ptr, n: iptr, scratch: ptr) -> i64:
    """A first step from the sizes of y, ẏ and ÿ, measured by the tolerances."""
    nv = n[NV]
    y = at(w, n[O_STAGE])
    k0 = at(w, n[O_K])
    k1 = at(w, n[O_K] + 2 * nv + 1)
    v = at(w, n[O_V])
    for i in range(nv):
        y[i] = 0.0
        y[nv + i] = v[i]
    status = derivative(e, w[T], y, k0, w, n, scratch)
    if status != GOOD:
        return status
    d0 = 0.0
    d1 = 0.0
    for i in range(2 * nv):
        size = size_of(i, 0.0, w, n) if i < nv else abs(v[i - nv])
        scale = w[ATOL] + w[RTOL] * size
        d0 = max(d0, size / scale)
        d1 = max(d1, abs(k0[i]) / scale)
    h = 0.01 * d0 / d1 if d0 > 1e-5 and d1 > 1e-5 else 1e-6
    h = min(h, w[H_MAX])
    for i in range(2 * nv):
        y[i] += h * k0[i]
    status = derivative(e, w[T] + h, y, k1, w, n, scratch)
    if status != GOOD:
        return status
    d2 = 0.0
    for i in range(2 * nv):
        size = size_of(i, 0.0, w, n) if i < nv else abs(v[i - nv])
        d2 = max(d2, abs(k1[i] - k0[i]) / (w[ATOL] + w[RTOL] * size) / h)
    d = max(d1, d2)
    longer = pow(0.01 / d, 1.0 / float(n[ORDER])) if d > 1e-15 else max(1e-6, 1e-3 * h)
    longer = min(100.0 * h, longer)
    w[H_NEXT] = longer if isfinite(longer) and longer > 0.0 else 1e-6
    n[IS_FRESH] = 1
    return GOOD


@loop
def before_break(stop: f64, w: ptr, n: iptr) -> f64:
    """Just before the next instant at which formulas jump or bend, or `stop` where none is before.

    A step that ended there goes on just after it, from the same state.
    """
    while n[BREAKS_PASSED] < n[BREAKS]:
        instant = w[n[O_BREAKS] + n[BREAKS_PASSED]]
        slack = BESIDE * abs(instant)
        if w[T] < instant - slack:
            return instant - slack if instant + slack < stop else stop
        if w[T] <= instant:
            w[T] = instant + slack
            n[IS_FRESH] = 0
        n[BREAKS_PASSED] += 1
    return stop


@loop
def choose_step(w: ptr, n: iptr) -> None:
    """The end and the size of the next step: never past the end or a control instant."""
    stop = min(w[T_END], w[T_CONTROL])
    if n[IS_ADAPTIVE] > 0:
        stop = before_break(stop, w, n)
        h = min(w[H_NEXT], w[H_MAX])
        new = w[T] + h
        if new + 0.01 * h >= stop:
            new = stop
        elif new + h > stop:
            new = w[T] + 0.5 * (stop - w[T])
    else:
        new = w[T_BASE] + float(n[BASE_STEPS] + 1) * w[STEP]
        if new + 1e-6 * w[STEP] >= stop:
            new = stop
        n[IS_PART] = 1 if w[H_PART] > 0.0 and w[T] + 1.5 * w[H_PART] < new else 0
        if n[IS_PART] > 0:
            new = w[T] + w[H_PART]
    w[T_NEW] = new
    w[H] = new - w[T]


@loop
def is_pulled(v: ptr, w: ptr, n: iptr) -> i64:
    """1 if closures changed the new velocities by a noticeable part of what the step did.

    Where closures lose rank, as in a flat position, v̇ is not determined and turns within an
    instant; what the step did across the closures that come back is undone by projection. The part
    undone goes with h⁴ where all is regular, and stays the same however short the step is here.
    """
    nv = n[NV]
    most = 0.0
    pull = 0.0
    for i in range(nv):
        pull = max(pull, abs(v[i] - w[n[O_Y] + nv + i]))
        for j in range(n[NS]):
            most = max(most, abs(w[n[O_K] + j * (2 * nv + 1) + nv + i]))
    return 1 if pull > PULLED * most * w[H] + ROUNDING * largest(nv, v) else 0


@loop
def divide(status: i64, v: ptr, w: ptr, n: iptr) -> i64:
    """1 if a fixed step is to be taken again in parts, which grow again; v: velocities on closures.

    So is the first step, if it is pulled, and any whose end cannot be brought back to the closures.
    A later one that comes by a singular position is better taken in one go than in many parts
    that land near it.
    """
    is_wrong = 0 if status == GOOD else 1
    if w[T] < w[T_START] + 0.5 * w[STEP]:
        is_wrong += is_pulled(v, w, n)
    if is_wrong > 0 and w[H] > 1.5 * SHORTEST * w[STEP]:
        w[H_PART] = max(w[H] / 16.0, SHORTEST * w[STEP])
        n[REJECTED] += 1
        return 1
    w[H_PART] = 2.0 * w[H_PART] if n[IS_PART] > 0 else 0.0
    return 0


@loop
def reject(error: f64, status: i64, w: ptr, n: iptr) -> i64:
    """A smaller step next; refuses when it would drown in the rounding of time."""
    n[REJECTED] += 1
    n[WAS_REJECTED] = 1
    factor = SHRINK
    if error > 1.0:
        factor = max(SHRINK, SAFETY * pow(error, -1.0 / float(n[ORDER])))
    w[H_NEXT] = w[H] * factor
    if w[H_NEXT] < 16.0 * ROUNDING * max(abs(w[T]), 1e-6 * (w[T_END] - w[T_START])):
        if status != GOOD:
            return status
        return STEP_TOO_SMALL if error > 0.0 else NOT_FINITE
    return GOOD


@loop
def adapt(error: f64, w: ptr, n: iptr) -> None:
    """The next step from this error and the one before; a shortened step does not shorten it."""
    e = max(error, 1e-10)
    exponent = 1.0 / float(n[ORDER])
    factor = SAFETY * pow(e, -(exponent - 0.75 * MEMORY)) * pow(w[ERROR_BEFORE], MEMORY)
    factor = min(1.0 if n[WAS_REJECTED] > 0 else GROW, max(SHRINK, factor))
    was_shortened = 1 if w[H] < 0.99 * min(w[H_NEXT], w[H_MAX]) else 0
    longer = w[H] * factor
    w[H_NEXT] = max(w[H_NEXT], longer) if was_shortened == 1 else longer
    w[ERROR_BEFORE] = max(e, 1e-4)
    n[WAS_REJECTED] = 0
