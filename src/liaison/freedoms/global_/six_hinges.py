"""All positions of a loop of six hinges: at most sixteen, each proved, real and complex.

The loop J1 X1 J2 X2 … J6 X6 = 1 is read twice on the axis of hinge 6, from either side:

    X2 J3 X3 J4 X4 J5 X5 (axis) = J2⁻¹ X1⁻¹ J1⁻¹ X6⁻¹ (axis)                  (mobility-12)

With p a point of the axis and l its direction, the fifteen numbers 1, p, l, p·p, p·l, p × l and
(p·p) l − 2 (p·l) p move linearly under rigid motions, so that each side is linear in the sine and
cosine of each of its angles. Eight of the fourteen equations eliminate θ1 and θ2; in x = tan(θ/2)
the other six, and x4 times them, are M(x3) (x4^i x5^j) = 0, M of size 12. Its determinant, of
degree 24, has the factor (1 + x3²)⁴; the roots of the rest, of degree 16, are isolated in balls.
Over a root where M(x3) has a kernel of dimension one there is at most one position; it is sought,
and proved on the closure itself by Krawczyk's test. Where that succeeds for every root, all
positions are known. The loop may be read from any of its hinges; where one reading degenerates
others are tried.

Why it is here: FLINT's Gröbner basis is out of reach for sixteen solutions, and msolve's answer is
one for rounded data; this one is proved for the data, in tenths of a second.

Public names: HingePosition, HingeLoop, LoopClosure, hinge_positions, last_angle, angle_of,
Elimination, elimination.

Source: RR93 (sixteen at most); MC94 §III–IV; docs/theory/mobility.md (mobility-12).
Differs: numbers are balls; equations come from the fifteen numbers above, not from DH tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from liaison.exact.balls import kernel_line, precision
from liaison.exact.rigid import (
    Motion3,
    applied,
    crossed,
    dotted,
    moved,
    reversed_motion,
    slide_z,
    turn_z,
)
from liaison.freedoms.clock import go_on
from liaison.freedoms.engines.certify import Certificate, Square, certified

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


PRECISION = 640
"""Bits of the elimination; about a third of them are lost on the way."""

TIGHT = 1e-60
"""Radius to which roots are isolated."""

TURNS = (0.62, -1.17, 1.91, -2.43, 0.29, 2.87, -0.84, 1.36)
"""Turns [rad] by which hinges are read off, so that no position is at half a turn by accident."""


@final
@dataclass(frozen=True, slots=True)
class HingePosition:
    """One position of the loop: its angles [rad], real or complex."""

    angles: tuple[complex, ...]
    box: Certificate

    @property
    def is_real(self) -> bool:
        """It can be built."""
        return self.box.is_real


@final
@dataclass(frozen=True, slots=True)
class HingeLoop:
    """All positions, and whether they are."""

    positions: tuple[HingePosition, ...]
    is_complete: bool  # all real ones are there, proved
    roots: int  # of the polynomial
    open_roots: int  # that gave no position, nor a proof that there is none

    @property
    def real(self) -> tuple[HingePosition, ...]:
        """Those that can be built."""
        return tuple(position for position in self.positions if position.is_real)


@final
class LoopClosure(Square):
    """J1 X1 … Jn Xn = 1: six equations in six joint values, or those of rotation in three.

    Joints turn about z, sliders among them slide along it.
    """

    def __init__(self, X: Sequence[Motion3], sliders: Sequence[int] = ()) -> None:
        self.X, self.sliders = X, frozenset(sliders)

    def _frames(self, x: Sequence[Any]) -> list[Motion3]:
        """Each hinge's frame before it turns, and at last the whole way round."""
        frames: list[Motion3] = [turn_z(x[0] * 0)]
        for k, (value, step) in enumerate(zip(x, self.X, strict=True)):
            frames.append(moved(moved(frames[-1], self.joint(k, value)), step))
        return frames

    def joint(self, k: int, value: Any) -> Motion3:
        """The motion of a joint."""
        return slide_z(value) if k in self.sliders else turn_z(value)

    def values(self, x: Sequence[Any]) -> list[Any]:
        """Twice the vector of the rotation that is left, and the way that is left."""
        R, p = self._frames(x)[-1]
        turn = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]
        return turn if len(x) == 3 else turn + p

    def jacobian(self, x: Sequence[Any]) -> list[list[Any]]:
        """From the axis of each hinge."""
        *frames, (R, p) = self._frames(x)
        zero = x[0] * 0
        columns = []
        for k, (turned, place) in enumerate(frames):
            w = applied(turned, [zero, zero, zero + 1])
            if k in self.sliders:
                columns.append([zero, zero, zero, *w])
                continue
            d = [crossed(w, [R[0][j], R[1][j], R[2][j]]) for j in range(3)]  # columns of ∂R
            turn = [d[1][2] - d[2][1], d[2][0] - d[0][2], d[0][1] - d[1][0]]
            columns.append(turn + crossed(w, [a - b for a, b in zip(p, place, strict=True)]))
        return [[column[i] for column in columns] for i in range(len(x))]

    def holds(self, box: Sequence[Any]) -> bool:
        """The rotation left is none, rather than half a turn."""
        R, _ = self._frames(box)[-1]
        return bool(abs(R[0][0] + R[1][1] + R[2][2] - 3) < 1)


def hinge_positions(X: Sequence[Motion3]) -> HingeLoop | None:
    """All positions of a loop of six hinges; None where every reading of it degenerates.

    Args:
        X: from each hinge's frame (z its axis), behind it, to the next one's; of balls that are
            tight to `PRECISION`.
    """
    best: HingeLoop | None = None
    for attempt in range(12):
        go_on()
        first = attempt % 6
        turns = [TURNS[(attempt + k) % len(TURNS)] for k in range(6)]
        with precision(PRECISION):
            loop = _read(X, first, turns)
        if loop is not None and (best is None or len(loop.positions) > len(best.positions)):
            best = loop
        if best is not None and best.is_complete:
            break
    return best


def _read(X: Sequence[Motion3], first: int, turns: Sequence[float]) -> HingeLoop | None:
    """The positions by one reading: from hinge `first` on, each hinge turned by a constant."""
    from flint import arb

    order = [(first + k) % 6 for k in range(6)]
    offset = [arb(turn) for turn in turns]
    read = [moved(X[j], turn_z(offset[(k + 1) % 6])) for k, j in enumerate(order)]
    eliminant = elimination(read)
    if eliminant is None:
        return None
    try:
        roots = eliminant.polynomial.complex_roots(tol=TIGHT)
    except ValueError:
        return None
    closure = LoopClosure(X)
    positions, unsolved = [], 0
    for root in roots:
        go_on()
        near = _recovered(eliminant, _real_if_so(root, roots))
        position = None if near is None else _proved(closure, near, order, offset)
        if position is not None:
            positions.append(position)
        elif near is None or not _is_excluded(near):
            unsolved += 1
    return HingeLoop(tuple(positions), unsolved == 0, len(roots), unsolved)


def _real_if_so(root: Any, roots: Sequence[Any]) -> Any:
    """A real ball for a root that is real: one whose mirror image meets no other root."""
    mirrored = root.conjugate()
    others = [other for other in roots if other is not root]
    is_real = root.imag.contains(0) and not any(mirrored.overlaps(other) for other in others)
    return root.real if is_real else root


def _recovered(eliminant: Elimination, x3: Any) -> list[Any] | None:
    """x3, x4, x5 and the cosines and sines of θ1 and θ2; None where the kernel is not a line."""
    kernel = kernel_line(eliminant.matrix(x3))
    if kernel is None:
        return None
    sizes = [float(abs(v).mid()) for v in kernel]
    k4 = max(range(9), key=sizes.__getitem__)
    k5 = max((k for k in range(12) if k % 3 < 2), key=sizes.__getitem__)
    if kernel[k4].contains(0) or kernel[k5].contains(0):
        return None
    x4, x5 = kernel[k4 + 3] / kernel[k4], kernel[k5 + 1] / kernel[k5]
    if any((1 + x * x).contains(0) for x in (x3, x4, x5)):
        return None
    return [x3, x4, x5, *eliminant.first_two([x3, x4, x5])]


def _is_excluded(near: Sequence[Any]) -> bool:
    """No position is over this root: a cosine and a sine do not fit together."""
    c1, s1, c2, s2 = near[3:]
    return not ((c1 * c1 + s1 * s1 - 1).contains(0) and (c2 * c2 + s2 * s2 - 1).contains(0))


def _proved(
    closure: LoopClosure, near: Sequence[Any], order: Sequence[int], offset: Sequence[Any]
) -> HingePosition | None:
    """The position near what was recovered, proved on the closure."""
    x3, x4, x5, c1, s1, c2, s2 = near
    is_real = isinstance(x3, type(offset[0]))
    read = [
        angle_of(c1, s1, is_real),
        angle_of(c2, s2, is_real),
        *(2 * x.atan() for x in (x3, x4, x5)),
    ]
    angles: list[Any] = [None] * 6
    for k, angle in enumerate(read):
        angles[order[k]] = angle + offset[k]
    angles[order[5]] = last_angle(closure, angles, order[5], is_real)
    box = certified(closure, angles)
    if box is None or not closure.holds(box.box):
        return None
    return HingePosition(tuple(complex(x) for x in box.box), box)


def angle_of(c: Any, s: Any, is_real: bool) -> Any:
    """The angle of a cosine and a sine, which may be complex."""
    from flint import acb, arb

    if is_real:
        return arb.atan2(s, c)
    return (acb(c) + acb(0, 1) * s).log() * acb(0, -1)


def last_angle(closure: LoopClosure, values: Sequence[Any], place: int, is_real: bool) -> Any:
    """The angle of one hinge, from the way round that the others leave; its own is not read."""
    from flint import acb, arb

    zero = arb(0) if is_real else acb(0)
    before = turn_z(zero)
    for k in range(place):
        before = moved(moved(before, closure.joint(k, values[k])), closure.X[k])
    after = closure.X[place]
    for k in range(place + 1, len(closure.X)):
        after = moved(moved(after, closure.joint(k, values[k])), closure.X[k])
    R, _ = moved(after, before)  # its inverse is the turn that closes the loop
    return angle_of(R[0][0], -R[1][0], is_real)
