"""Real zeros of forms at which their derivatives are independent, certified by Krawczyk's operator.

Public names: is_regular_zero.

Source: RUM10 §13 (Krawczyk's operator: K(X) inside X proves one zero in X).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from liaison.exact.signs import Terms, form_at

Floats = NDArray[np.float64]

RADIUS = 1e-9
"""Half the width of the box in which a zero is certified."""


def is_regular_zero(forms: Sequence[Terms], u: Floats, c: int, *, is_certain: bool) -> bool:
    """From u Newton's steps lead to a zero at which c derivatives are independent.

    Args:
        forms: that vanish.
        u: where to begin, of length one.
        c: the rank of the derivatives that is asked for.
        is_certain: as many forms as that rank, and the zero is certified.
    """
    table = [[(np.array(e), float(v)) for e, v in ((e, float(x.p) / float(x.q))
              for e, x in form.items())] for form in forms]  # fmt: skip
    for _ in range(60):
        value, J = _floats(table, u)
        u = u - np.linalg.pinv(J, rcond=1e-8) @ value
        size = float(np.linalg.norm(u))
        if not 1e-3 < size < 1e3:
            return False
        u = u / size
    value, J = _floats(table, u)
    sizes = np.linalg.svd(J, compute_uv=False)
    if np.max(np.abs(value)) > 1e-12 * (1 + np.max(np.abs(J))) or len(sizes) < c:
        return False
    if int(np.sum(sizes > 1e-6 * max(1.0, sizes[0]))) != c:
        return False
    return _certified(forms, u, J) if is_certain else True


def _floats(table: Any, u: Floats) -> tuple[Floats, Floats]:
    value, J = np.zeros(len(table)), np.zeros((len(table), len(u)))
    for i, form in enumerate(table):
        for e, c in form:
            value[i] += c * np.prod(u**e)
            for k in np.flatnonzero(e):
                lower = e.copy()
                lower[k] -= 1
                J[i, k] += c * e[k] * np.prod(u**lower)
    return value, J


def _certified(forms: Sequence[Terms], u: Floats, J: Floats) -> bool:
    """Krawczyk's operator on as many entries of u as there are forms, the others held."""
    from flint import arb

    chosen: list[int] = []
    work = J.copy()
    for i in range(len(forms)):
        j = int(np.argmax(np.abs(work[i])))
        if abs(work[i, j]) < 1e-9:
            return False
        chosen.append(j)
        work = work - np.outer(work[:, j] / work[i, j], work[i])
    C = np.linalg.inv(J[:, chosen])
    middle = [arb(float(x)) for x in u]
    box = [arb(float(x), RADIUS if k in chosen else 0.0) for k, x in enumerate(u)]
    value = [_ball(form, middle) for form in forms]
    slopes = [[_ball(_derivative(form, j), box) for j in chosen] for form in forms]
    m = len(forms)
    for a in range(m):
        step = sum((arb(C[a, i]) * value[i] for i in range(m)), arb(0))
        spread = arb(0)
        for b in range(m):
            entry = arb(int(a == b)) - sum((arb(C[a, i]) * slopes[i][b] for i in range(m)), arb(0))
            spread = spread + entry * arb(0, RADIUS)
        if not (-step + spread).abs_upper() < arb(RADIUS):
            return False
    return True


def _ball(form: Terms, point: Sequence[Any]) -> Any:
    from flint import arb

    return arb(0) + form_at({e: arb(c) for e, c in form.items()}, point)


def _derivative(form: Terms, k: int) -> Terms:
    return {
        tuple(e - (j == k) for j, e in enumerate(exponents)): c * exponents[k]
        for exponents, c in form.items()
        if exponents[k]
    }
