"""The general loop of six hinges reduced to one polynomial of degree 16, in ball arithmetic.

The loop J1 X1 J2 X2 … J6 X6 = 1 is read twice on the axis of hinge 6, from either side:

    X2 J3 X3 J4 X4 J5 X5 (axis) = J2⁻¹ X1⁻¹ J1⁻¹ X6⁻¹ (axis)                  (mobility-12)

With p a point of the axis and l its direction, the fifteen numbers 1, p, l, p·p, p·l, p × l and
(p·p) l − 2 (p·l) p move linearly under rigid motions, so that each side is linear in the sine and
cosine of each of its angles. Eight of the fourteen equations eliminate θ1 and θ2; in x = tan(θ/2)
the other six, and x4 times them, are M(x3) (x4^i x5^j) = 0, M of size 12. Its determinant, of
degree 24, has the factor (1 + x3²)⁴.

Public names: Elimination, elimination.

Source: RR93; MC94 §III–IV.
Differs: numbers are balls; equations come from the fifteen numbers above, not from DH tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from liaison.exact.rigid import Motion3, applied, crossed, dotted, reversed_motion

Line: TypeAlias = list[Any]
"""Fifteen numbers of an axis: 1, p, l, p·p, p·l, p × l, (p·p) l − 2 (p·l) p."""

Expanded: TypeAlias = dict[tuple[int, ...], Line]
"""Coefficients by (1, cos or sin: 0, 1, 2) of each angle in turn."""

TRIG = ((1, 0, 1), (1, 0, -1), (0, 2, 0))
"""(1 + x²) times 1, cos θ and sin θ, lowest power of x first."""


def _carried(X: Motion3, w: Line) -> Line:
    """The fifteen numbers of an axis after a rigid motion."""
    R, d = X
    one, p, l, a, b, m, q = w[0], w[1:4], w[4:7], w[7], w[8], w[9:12], w[12:15]
    Rp, Rl, Rm, Rq = (applied(R, v) for v in (p, l, m, q))
    size, along = dotted(d, d), dotted(d, Rl)
    dl, dm = crossed(d, Rl), crossed(d, Rm)
    return [
        one,
        *(Rp[i] + d[i] * one for i in range(3)),
        *Rl,
        a + 2 * dotted(d, Rp) + size * one,
        b + along,
        *(Rm[i] + dl[i] for i in range(3)),
        *(Rq[i] - 2 * dm[i] + size * Rl[i] - 2 * (along + b) * d[i] for i in range(3)),
    ]


def _turned(w: Line, sign: int) -> tuple[Line, Line, Line]:
    """Parts of the fifteen numbers after a turn about z that go with 1, cos θ and sin θ."""
    zero = w[0] * 0
    plain, cosine, sine = [zero] * 15, [zero] * 15, [zero] * 15
    for k in (0, 7, 8):
        plain[k] = w[k]
    for k in (1, 4, 9, 12):
        plain[k + 2] = w[k + 2]
        cosine[k], cosine[k + 1] = w[k], w[k + 1]
        sine[k], sine[k + 1] = -sign * w[k + 1], sign * w[k]
    return plain, cosine, sine


def _expanded(steps: Sequence[Motion3 | int]) -> Expanded:
    """The z axis through rigid motions and turns (±1), the last one first."""
    from flint import arb

    axis = [arb(int(k in (0, 6))) for k in range(15)]
    expansion: Expanded = {(): axis}
    for step in reversed(steps):
        if isinstance(step, int):
            expansion = {(e, *key): part for key, w in expansion.items()
                     for e, part in enumerate(_turned(w, step))}  # fmt: skip
        else:
            expansion = {key: _carried(step, w) for key, w in expansion.items()}
    return expansion


@final
@dataclass(frozen=True)
class Elimination:
    """M(x3) of a loop, its determinant, and the data for back substitution."""

    tensor: list[Any]  # six equations by powers of x3, x4, x5
    polynomial: Any  # of degree 16 in x3
    left: Expanded
    right: Expanded
    pivots: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]  # (of θ2, of θ1)
    back: Any  # inverse of the pivot rows

    def matrix(self, x: Any) -> list[list[Any]]:
        """M at x3 = x: six rows, and x4 times them, on x4^i x5^j, i ≤ 3, j ≤ 2."""
        rows = []
        for shift in (0, 3):
            for equation in self.tensor:
                row = [x * 0] * 12
                for k in range(9):
                    a, b, c = (equation[e][k] for e in range(3))
                    row[k + shift] = a + x * (b + x * c)
                rows.append(row)
        return rows

    def first_two(self, x: Sequence[Any]) -> list[Any]:
        """cos θ1, sin θ1, cos θ2, sin θ2 from x3, x4, x5."""
        scaled = [_trig(v) for v in x]
        total = [x[0] * 0] * 15
        for key, w in self.left.items():
            factor = scaled[0][key[0]] * scaled[1][key[1]] * scaled[2][key[2]]
            total = [t + factor * v for t, v in zip(total, w, strict=True)]
        values = [total[i] - self.right[0, 0][i] for i in self.pivots]
        products = {key: sum((self.back[k, i] * values[i] for i in range(8)), x[0] * 0)
                 for k, key in enumerate(self.columns)}  # fmt: skip
        return [products[0, 1], products[0, 2], products[1, 0], products[2, 0]]


def _trig(x: Any) -> tuple[Any, Any, Any]:
    below = 1 + x * x
    return 1 + x * 0, (1 - x * x) / below, 2 * x / below


def elimination(X: Sequence[Motion3]) -> Elimination | None:
    """The reduction of a loop; None where it degenerates, or the precision does not do.

    Args:
        X: from each hinge's frame, behind it, to the next one's; six of them.
    """
    left = _expanded([X[1], 1, X[2], 1, X[3], 1, X[4]])
    right = _expanded([-1, reversed_motion(X[0]), -1, reversed_motion(X[5])])
    columns = tuple(key for key in right if key != (0, 0))
    pivots = _pivot_rows(np.array([[float(right[k][i]) for k in columns] for i in range(1, 15)]))
    if len(pivots) < 8:
        return None
    try:
        tensor, back = _reduced(left, right, pivots, columns)
        polynomial = _polynomial(tensor)
    except ZeroDivisionError:
        return None
    if polynomial is None:
        return None
    return Elimination(tensor, polynomial, left, right, pivots, columns, back)


def _pivot_rows(A: Any) -> tuple[int, ...]:
    """Eight of the fourteen equations that eliminate best, as places in the fifteen numbers."""
    rows: list[int] = []
    for _ in range(8):
        sizes = np.abs(A)
        sizes[rows] = 0.0
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(sizes)), sizes.shape))
        if A[i, j] == 0.0:
            break
        rows.append(i)
        A = A - np.outer(A[:, j], A[i]) / A[i, j]
    return tuple(i + 1 for i in rows)


def _reduced(
    left: Expanded,
    right: Expanded,
    pivots: tuple[int, ...],
    columns: tuple[tuple[int, ...], ...],
) -> tuple[list[Any], Any]:
    """Six equations without θ1 and θ2 as tensors of powers of x, and what eliminates these."""
    from flint import arb, arb_mat

    rest = [i for i in range(1, 15) if i not in pivots]
    back = arb_mat([[right[k][i] for k in columns] for i in pivots]).inv()
    Z = arb_mat([[right[k][i] for k in columns] for i in rest]) * back
    tensor = [[[arb(0)] * 9 for _ in range(3)] for _ in rest]
    for (e3, e4, e5), w in left.items():
        constant = right[0, 0] if (e3, e4, e5) == (0, 0, 0) else [arb(0)] * 15
        v = [a - b for a, b in zip(w, constant, strict=True)]
        for n, i in enumerate(rest):
            value = v[i] - sum((Z[n, k] * v[j] for k, j in enumerate(pivots)), arb(0))
            for i3, f3 in enumerate(TRIG[e3]):
                for k in range(9):
                    factor = f3 * TRIG[e4][k // 3] * TRIG[e5][k % 3]
                    if factor:
                        tensor[n][i3][k] = tensor[n][i3][k] + factor * value
    return tensor, back


def _polynomial(tensor: list[Any]) -> Any:
    """det M(x3) / (1 + x3²)⁴; None where its leading coefficient may be zero."""
    from flint import arb, arb_mat, arb_poly

    whole = Elimination(tensor, None, {}, {}, (), (), None)
    x = [arb(k) / 8 for k in range(-12, 13)]
    values = [arb_mat(whole.matrix(point)).det() for point in x]
    polynomial = arb_poly.interpolate(x, values)
    coefficients = [polynomial[k] for k in range(25)]
    for _ in range(4):
        quotient = coefficients[2:]
        for k in range(len(quotient) - 1, 1, -1):
            quotient[k - 2] = quotient[k - 2] - quotient[k]
        remainder = (coefficients[0] - quotient[0], coefficients[1] - quotient[1])
        if not all(r.contains(0) for r in remainder):
            return None
        coefficients = quotient
    return None if coefficients[16].contains(0) else arb_poly(coefficients)
