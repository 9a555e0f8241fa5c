"""The matrix of bodies that touch in panels of eight columns: L U, and solutions, on vectors.

Of a group of w bodies the rows of U and the transposed columns of L lie in panels of 6 w rows of
eight numbers. What one pair of panels does to a block is one long product,

    out −= Xᵀ Y,   X of 6 w by 6 numbers, Y of 6 w by 8                              (panels-1)

with x from L and y from U where a block of U changes, and from U and L where one of Lᵀ does. Terms
are subtracted one after the other, so that vectors of any length give the same bits.

Public names: factorize_panels, solve_panels, weighted, add_weighted, add_row, put_six,
SIDE.

Source: GVL13 §3.2.10 (block LU); DAV06 §4.8 (supernodes); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from liaison.contacts.scene.layout import Panels, Twist
from liaison.program.loops.language import f64, i64, loop, ptr, written
from liaison.program.loops.records import Rows

from .block_factors import BLOCK

SIDE, WIDE = 6, 8
"""Rows of a block, and numbers in a row of a panel."""

TINY = 1e-300
"""Pivots up to this vanish."""

VECTOR = f"<{WIDE} x double>"


def _row(name: str, at: str, pointer: str, offset: int | str) -> list[str]:
    """Lines that load a row of eight numbers."""
    return [
        f"  %{at} = getelementptr inbounds double, ptr {pointer}, i64 {offset}",
        f"  %{name} = load {VECTOR}, ptr %{at}, align 8",
    ]


def _times(name: str, scalar: str, row: str) -> list[str]:
    """Lines of a number times a row."""
    return [
        f"  %{name}.one = insertelement {VECTOR} poison, double {scalar}, i64 0",
        f"  %{name}.all = shufflevector {VECTOR} %{name}.one, {VECTOR} poison, "
        f"<{WIDE} x i32> zeroinitializer",
        f"  %{name} = fmul {VECTOR} %{name}.all, {row}",
    ]


def _minus_panel() -> str:
    """The text of `minus_panel`: six rows of sums stay in registers."""
    lines = ["define internal void @liaison_minus_panel(ptr %x, ptr %y, ptr %out, i64 %rows)"]
    lines += ["nounwind {", "begin:"]
    for i in range(SIDE):
        lines += _row(f"b{i}", f"o{i}", "%out", WIDE * i)
    lines += ["  br label %go", "go:", "  %k = phi i64 [0, %begin], [%next, %go]"]
    lines += [
        f"  %s{i} = phi {VECTOR} [%b{i}, %begin], [%e{i}, %go]" for i in range(SIDE)
    ]  # fmt: skip
    lines += [f"  %at = mul i64 %k, {WIDE}", *_row("row", "py", "%y", "%at")]
    lines += ["  %px = getelementptr inbounds double, ptr %x, i64 %at"]
    for i in range(SIDE):
        lines += [
            f"  %p{i} = getelementptr inbounds double, ptr %px, i64 {i}",
            f"  %x{i} = load double, ptr %p{i}, align 8",
            *_times(f"t{i}", f"%x{i}", "%row"),
            f"  %e{i} = fsub {VECTOR} %s{i}, %t{i}",
        ]
    lines += ["  %next = add i64 %k, 1", "  %more = icmp slt i64 %next, %rows"]
    lines += ["  br i1 %more, label %go, label %end", "end:"]
    lines += [f"  store {VECTOR} %e{i}, ptr %o{i}, align 8" for i in range(SIDE)]
    return "\n".join([*lines, "  ret void", "}"])


def _divided(name: str, is_upper: bool) -> str:
    """The text of `divide_lower`, or of `divide_upper`."""
    lines = [f"define internal void @liaison_{name}(ptr %pivot, ptr %inverse, ptr %out)"]
    lines += ["nounwind {"]
    for i in range(SIDE):
        lines += _row(f"r{i}", f"o{i}", "%out", WIDE * i)
    rows = [f"%r{i}" for i in range(SIDE)]
    for p in range(SIDE):
        if is_upper:
            lines += [
                f"  %pi{p} = getelementptr inbounds double, ptr %inverse, i64 {p}",
                f"  %i{p} = load double, ptr %pi{p}, align 8", *_times(f"d{p}", f"%i{p}", rows[p]),
            ]  # fmt: skip
            rows[p] = f"%d{p}"
        for i in range(p + 1, SIDE):
            place = WIDE * p + i if is_upper else WIDE * i + p
            lines += [
                f"  %pa{p}{i} = getelementptr inbounds double, ptr %pivot, i64 {place}",
                f"  %a{p}{i} = load double, ptr %pa{p}{i}, align 8",
                *_times(f"t{p}{i}", f"%a{p}{i}", rows[p]),
                f"  %e{p}{i} = fsub {VECTOR} {rows[i]}, %t{p}{i}",
            ]
            rows[i] = f"%e{p}{i}"
    lines += [f"  store {VECTOR} {rows[i]}, ptr %o{i}, align 8" for i in range(SIDE)]
    return "\n".join([*lines, "  ret void", "}"])


@written(_minus_panel())
def minus_panel(x: ptr, y: ptr, out: ptr, rows: i64) -> None:
    """A block of six rows less Xᵀ Y, over one row at least."""
    block = out[:BLOCK].reshape(SIDE, WIDE)
    for k in range(rows):
        block -= x[WIDE * k : WIDE * k + SIDE, None] * y[None, WIDE * k : WIDE * (k + 1)]


@written(_divided("divide_lower", is_upper=False))
def divide_lower(pivot: ptr, inverse: ptr, out: ptr) -> None:
    """out := L⁻¹ out, L of the pivot's block with ones on its diagonal."""
    block = out[:BLOCK].reshape(SIDE, WIDE)
    for p in range(SIDE):
        for i in range(p + 1, SIDE):
            block[i] -= pivot[WIDE * i + p] * block[p]


@written(_divided("divide_upper", is_upper=True))
def divide_upper(pivot: ptr, inverse: ptr, out: ptr) -> None:
    """out := U⁻ᵀ out, U of the pivot's block, whose diagonal is inverted."""
    block = out[:BLOCK].reshape(SIDE, WIDE)
    for p in range(SIDE):
        block[p] *= inverse[p]
        for i in range(p + 1, SIDE):
            block[i] -= pivot[WIDE * p + i] * block[p]


@loop
def factorize_panels(p: Panels) -> i64:
    """A = L U in place; 0 if done, 1 where a block has no factors.

    Pivots are numbers, within blocks too: inverses of blocks would lose what inertia says, beside
    stiff contacts.

    Args:
        p: what `order_panels` made of it, and its matrix.
    """
    upper = p.upper[p.shift :]
    lower = p.lower[p.shift :]
    pair = 0
    for k in range(p.groups):
        wide = p.begin[k + 1] - p.begin[k]
        rows = SIDE * wide
        size = BLOCK * wide
        count = p.row_first[k + 1] - p.row_first[k]
        if factorize_group(k, wide, wide + count, p) != 0:
            return 1
        first = p.panel[k] + size * wide
        for a in range(count):
            u = upper[first + size * a :]
            v = lower[first + size * a :]
            minus_panel(v, u, upper[p.target[pair] :], rows)
            pair += 1
            for b in range(a + 1, count):
                there = p.target[pair]
                pair += 1
                minus_panel(v, upper[first + size * b :], upper[there:], rows)
                minus_panel(u, lower[first + size * b :], lower[there:], rows)
    return 0


@loop
def factorize_group(k: i64, wide: i64, panels: i64, p: Panels) -> i64:
    """The panels of a group divided by its own factors; 1 where a block has none."""
    size = BLOCK * wide
    upper = p.upper[p.shift + p.panel[k] :]
    lower = p.lower[p.shift + p.panel[k] :]
    for c in range(wide):
        u = upper[size * c :]
        v = lower[size * c :]
        at = BLOCK * c
        if c > 0:
            for j in range(c, panels):
                minus_panel(v, upper[size * j :], upper[size * j + at :], SIDE * c)
            for j in range(c + 1, panels):
                minus_panel(u, lower[size * j :], lower[size * j + at :], SIDE * c)
        pivot = u[at:]
        if factorize_pivot(pivot) != 0:
            return 1
        for i in range(SIDE):
            p.inverse[i] = 1.0 / pivot[9 * i]
        for j in range(c + 1, panels):
            divide_lower(pivot, p.inverse, upper[size * j + at :])
            divide_upper(pivot, p.inverse, lower[size * j + at :])
    return 0


@loop
def factorize_pivot(a: ptr) -> i64:
    """A block := its factors L U, L with ones on its diagonal; 1 where a pivot vanishes."""
    for p in range(SIDE):
        pivot = a[9 * p]
        if not (abs(pivot) > TINY):
            return 1
        for i in range(p + 1, SIDE):
            t = a[8 * i + p] / pivot
            a[8 * i + p] = t
            for j in range(p + 1, SIDE):
                a[8 * i + j] -= t * a[8 * p + j]
    return 0


@loop
def solve_panels(p: Panels, x: Rows[Twist]) -> None:
    """x := A⁻¹ x with the factors of `factorize_panels`."""
    y = p.x
    for number in range(p.bodies):
        v = x[p.order[number]].floats
        for i in range(SIDE):
            y[8 * number + i] = v[i]
        for i in range(SIDE, WIDE):
            y[8 * number + i] = 0.0
    for k in range(p.groups):
        forward(k, p)
    for back in range(p.groups):
        backward(p.groups - 1 - back, p)
    for number in range(p.bodies):
        v = x[p.order[number]].floats
        for i in range(SIDE):
            v[i] = y[8 * number + i]


@loop
def forward(k: i64, p: Panels) -> None:
    """y := L⁻¹ y of the numbers of a group, and what that takes off those it reaches."""
    begin = p.begin[k]
    wide = p.begin[k + 1] - begin
    size = BLOCK * wide
    lower = p.lower[p.shift + p.panel[k] :]
    own = p.x[8 * begin :]
    for c in range(wide):
        pivot = p.upper[p.shift + p.pivot[begin + c] :]
        y = own[8 * c :]
        if c > 0:
            minus_columns(lower[size * c :], own, y, c)
        for i in range(1, SIDE):
            total = y[i]
            for j in range(i):
                total -= pivot[8 * i + j] * y[j]
            y[i] = total
    first = p.row_first[k]
    for j in range(p.row_first[k + 1] - first):
        minus_columns(lower[size * (wide + j) :], own, p.x[8 * p.row[first + j] :], wide)


@loop
def put_six(a: f64, b: f64, c: f64, d: f64, e: f64, f: f64, out: ptr) -> None:
    """Six numbers into their places, after all that is read from there."""
    out[0] = a
    out[1] = b
    out[2] = c
    out[3] = d
    out[4] = e
    out[5] = f


@loop
def minus_columns(panel: ptr, x: ptr, out: ptr, wide: i64) -> None:
    """out −= Pᵀ x, x of so many bodies."""
    a = out[0]
    b = out[1]
    c = out[2]
    d = out[3]
    e = out[4]
    f = out[5]
    for body in range(wide):
        for i in range(SIDE):
            t = x[8 * body + i]
            row = panel[48 * body + 8 * i :]
            a -= row[0] * t
            b -= row[1] * t
            c -= row[2] * t
            d -= row[3] * t
            e -= row[4] * t
            f -= row[5] * t
    put_six(a, b, c, d, e, f, out)


@loop
def backward(k: i64, p: Panels) -> None:
    """y := U⁻¹ y of the numbers of a group, those it reaches being known."""
    begin = p.begin[k]
    wide = p.begin[k + 1] - begin
    size = BLOCK * wide
    upper = p.upper[p.shift + p.panel[k] :]
    own = p.x[8 * begin :]
    first = p.row_first[k]
    for j in range(p.row_first[k + 1] - first):
        minus_rows(upper[size * (wide + j) :], p.x[8 * p.row[first + j] :], own, wide)
    for back in range(wide):
        c = wide - 1 - back
        pivot = p.upper[p.shift + p.pivot[begin + c] :]
        y = own[8 * c :]
        for turned in range(SIDE):
            i = SIDE - 1 - turned
            total = y[i]
            for j in range(i + 1, SIDE):
                total -= pivot[8 * i + j] * y[j]
            y[i] = total / pivot[9 * i]
        if c > 0:
            minus_rows(upper[size * c :], y, own, c)


@loop
def minus_rows(panel: ptr, x: ptr, out: ptr, wide: i64) -> None:
    """out −= P x, out of so many bodies."""
    a = x[0]
    b = x[1]
    c = x[2]
    d = x[3]
    e = x[4]
    f = x[5]
    for body in range(wide):
        for i in range(SIDE):
            row = panel[48 * body + 8 * i :]
            out[8 * body + i] -= total_of(row, a, b, c, d, e, f)


@loop
def total_of(row: ptr, a: f64, b: f64, c: f64, d: f64, e: f64, f: f64) -> f64:
    """Six numbers times six others, in three pairs."""
    total = (row[0] * a + row[1] * b) + (row[2] * c + row[3] * d) + (row[4] * e + row[5] * f)
    return float(total)


@loop
def weighted(rows: ptr, g: ptr, is_turned: i64, out: ptr) -> None:
    """G or Gᵀ times three rows; nothing along n hangs on what is across it."""
    x = g[3] if is_turned == 0 else 0.0
    y = g[6] if is_turned == 0 else 0.0
    s = g[3] if is_turned == 1 else 0.0
    t = g[6] if is_turned == 1 else 0.0
    p = g[5] if is_turned == 0 else g[7]
    q = g[7] if is_turned == 0 else g[5]
    for j in range(6):
        n = rows[j]
        a = rows[6 + j]
        b = rows[12 + j]
        out[j] = g[0] * n + s * a + t * b
        out[6 + j] = x * n + g[4] * a + p * b
        out[12 + j] = y * n + q * a + g[8] * b


@loop
def add_weighted(rows: ptr, weighted_rows: ptr, out: ptr) -> None:
    """out += Dᵀ (G D), rows of eight numbers."""
    b = weighted_rows[6:]
    c = weighted_rows[12:]
    for i in range(6):
        add_row(rows[i], weighted_rows, rows[6 + i], b, rows[12 + i], c, out[8 * i :])


@loop
def add_row(x: f64, a: ptr, y: f64, b: ptr, t: f64, c: ptr, out: ptr) -> None:
    """out += x a + y b + t c, six numbers each."""
    k = out[0] + (x * a[0] + y * b[0] + t * c[0])
    m = out[1] + (x * a[1] + y * b[1] + t * c[1])
    n = out[2] + (x * a[2] + y * b[2] + t * c[2])
    p = out[3] + (x * a[3] + y * b[3] + t * c[3])
    q = out[4] + (x * a[4] + y * b[4] + t * c[4])
    r = out[5] + (x * a[5] + y * b[5] + t * c[5])
    put_six(k, m, n, p, q, r, out)
