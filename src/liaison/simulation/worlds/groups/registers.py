"""Matrices whose rows lie in the registers of a group's threads, one a thread: IR text for a GPU.

A thread knows its registers by number only, so that loops over them are written out. Rows that all
threads need pass through shared memory, from which all read one number at once. J⁻¹ is found in
place by Gauss and Jordan's steps, the last row first,

    f = x_k/p,   x := x − f r,   x_k := −f     (the row r of p itself: r/p and 1/p)      (group-2)

while every row moves on by one number with each step: the column at hand is always in the last
register, and the steps are a loop. Bounds of forces come after their loads in a problem's order, so
that rows of discs that slip, whose pivots are about 1, go before those of the loads they hang on.

A processor has one thread a group and takes the loops of `matrices`.

Public names: register_text. Source: GVL13 §2.1.4, §3.2 (Gauss and Jordan).
"""

from __future__ import annotations

from collections.abc import Iterator

SIZES = (8, 16, 24, 32)
"""Rows of a matrix at most, for each of which there is a text."""

LARGEST = "1.0e7"
"""A pivot whose inverse is larger is for loops that exchange rows."""

ROW = 34
"""Numbers of a row that all threads read, and 1/p behind them."""

ASKED = (
    "{ .reg .pred p, q; setp.ne.u32 p, $1, 0; barrier.red.or.pred q, 0, p; selp.u32 $0, 1, 0, q; }"
)
"""Whether a number of some thread of the block is not 0."""

OTHERS = """\
declare double @llvm.nvvm.rcp.approx.ftz.d(double)
declare double @llvm.nvvm.rsqrt.approx.d(double)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.fabs.f64(double)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
@liaison_posts = internal addrspace(3) global [1024 x i32] undef, align 16
@liaison_turn = internal addrspace(3) global i32 undef, align 4
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare double @llvm.maxnum.f64(double, double)
define internal i32 @liaison_seat() alwaysinline nounwind {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %thread
}
define internal i32 @liaison_seats() alwaysinline nounwind {
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  ret i32 %threads
}
define internal void @liaison_post(i32 %word) alwaysinline nounwind {
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %at = getelementptr i32, ptr addrspace(3) @liaison_posts, i32 %thread
  store i32 %word, ptr addrspace(3) %at
  store i32 0, ptr addrspace(3) @liaison_turn
  ret void
}
define internal i32 @liaison_posted(i32 %k, i32 %own) alwaysinline nounwind {
  %threads = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %there = icmp ult i32 %k, %threads
  %which = select i1 %there, i32 %k, i32 0
  %at = getelementptr i32, ptr addrspace(3) @liaison_posts, i32 %which
  %word = load i32, ptr addrspace(3) %at
  %y = select i1 %there, i32 %word, i32 0
  ret i32 %y
}
define internal i32 @liaison_next_seat(i32 %k) convergent noinline nounwind {
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %lane = and i32 %thread, 31
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %take, label %all
take:
  %old = atomicrmw add ptr addrspace(3) @liaison_turn, i32 1 monotonic
  br label %all
all:
  %mine = phi i32 [%old, %take], [0, %0]
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %y = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %mine, i32 0, i32 31)
  ret i32 %y
}
define internal void @liaison_fetch(i32 %k, ptr %group) alwaysinline nounwind {
  %at = getelementptr inbounds REAL, ptr %group, i32 %k
  call void asm sideeffect "prefetch.global.L2 [$0];", "l"(ptr %at)
  ret void
}
define internal i32 @liaison_any_thread(i32 %x) convergent alwaysinline nounwind {
  %y = call i32 asm sideeffect "ASKED", "=r,r,~{memory}"(i32 %x) convergent
  ret i32 %y
}
define internal void @liaison_meet_block() convergent alwaysinline nounwind {
  call void asm sideeffect "barrier.sync 0;", "~{memory}"() convergent
  ret void
}
define internal double @liaison_inverse_of(double %x) alwaysinline nounwind {
  %minus = fneg double %x
  %y0 = call double @llvm.nvvm.rcp.approx.ftz.d(double %x)
  %e0 = call double @llvm.fma.f64(double %minus, double %y0, double 1.0)
  %d0 = call double @llvm.fma.f64(double %e0, double %e0, double %e0)
  %y1 = call double @llvm.fma.f64(double %y0, double %d0, double %y0)
  %e1 = call double @llvm.fma.f64(double %minus, double %y1, double 1.0)
  %y2 = call double @llvm.fma.f64(double %y1, double %e1, double %y1)
  ret double %y2
}
define internal double @liaison_finite_inverse_root(double %square) alwaysinline nounwind {
  %x = call double @llvm.maxnum.f64(double %square, double 1.0e-290)
  %half = fmul double %x, 0.5
  %y0 = call double @llvm.nvvm.rsqrt.approx.d(double %x)
  %minus0 = fneg double %y0
  %t0 = fmul double %half, %y0
  %e0 = call double @llvm.fma.f64(double %t0, double %minus0, double 0.5)
  %y1 = call double @llvm.fma.f64(double %y0, double %e0, double %y0)
  %minus1 = fneg double %y1
  %t1 = fmul double %half, %y1
  %e1 = call double @llvm.fma.f64(double %t1, double %minus1, double 0.5)
  %y2 = call double @llvm.fma.f64(double %y1, double %e1, double %y1)
  ret double %y2
}"""

ON_A_PROCESSOR = """\
define internal i32 @liaison_seat() alwaysinline nounwind {
  ret i32 0
}
define internal i32 @liaison_seats() alwaysinline nounwind {
  ret i32 1
}
define internal void @liaison_post(i32 %word) alwaysinline nounwind {
  ret void
}
define internal i32 @liaison_posted(i32 %k, i32 %own) alwaysinline nounwind {
  ret i32 %own
}
define internal i32 @liaison_next_seat(i32 %k) alwaysinline nounwind {
  %next = add i32 %k, 1
  ret i32 %next
}
define internal void @liaison_fetch(i32 %k, ptr %group) alwaysinline nounwind {
  ret void
}
define internal i32 @liaison_any_thread(i32 %x) alwaysinline nounwind {
  ret i32 %x
}
define internal void @liaison_meet_block() alwaysinline nounwind {
  ret void
}
define internal double @liaison_lanes_most(double %x) alwaysinline nounwind {
  ret double %x
}
define internal double @liaison_lanes_total(double %x) alwaysinline nounwind {
  ret double %x
}
define internal double @liaison_inverse_of(double %x) alwaysinline nounwind {
  %y = fdiv double 1.0, %x
  ret double %y
}
declare double @llvm.sqrt.f64(double)
declare double @llvm.maxnum.f64(double, double)
define internal double @liaison_finite_inverse_root(double %square) alwaysinline nounwind {
  %x = call double @llvm.maxnum.f64(double %square, double 1.0e-290)
  %root = call double @llvm.sqrt.f64(double %x)
  %y = fdiv double 1.0, %root
  ret double %y
}
define internal i32 @liaison_quick_inverse(i32 %m, ptr %J, ptr %rows) alwaysinline nounwind {
  ret i32 0
}
define internal i32 @liaison_quick_products(i32 %m, ptr %X, ptr %A) alwaysinline nounwind {
  ret i32 0
}"""


def register_text(nv: int, real: str, *, gpu: bool) -> list[str]:
    """What threads of a group do by registers, as functions that loops call.

    Args:
        nv: numbers of a row of X.
        real: the kind of numbers that worlds keep.
        gpu: for a GPU; else for one thread of a processor, which leaves it to loops.
    """
    if not gpu:
        return [ON_A_PROCESSOR]
    own = [OTHERS.replace("ASKED", ASKED).replace("REAL", real), *_exchanges()]
    return [*own, *(_inverse(n) for n in SIZES), _inverses(), _products(nv)]


def _exchanges() -> Iterator[str]:
    """The largest of what all threads give, and the sum: five exchanges, of 1 to 16 beyond."""
    joins = {
        "most": "call double @llvm.maxnum.f64(double %x{k}, double %y{k})",
        "total": "fadd double %x{k}, %y{k}",
    }
    for name, join in joins.items():
        yield f"define internal double @liaison_lanes_{name}(double %x0) convergent nounwind {{"
        for k in range(5):
            yield from (
                f"  %w{k} = bitcast double %x{k} to <2 x i32>",
                f"  %a{k} = extractelement <2 x i32> %w{k}, i32 0",
                f"  %b{k} = extractelement <2 x i32> %w{k}, i32 1",
                f"  %c{k} = {_far('a', k)}",
                f"  %d{k} = {_far('b', k)}",
                f"  %e{k} = insertelement <2 x i32> undef, i32 %c{k}, i32 0",
                f"  %f{k} = insertelement <2 x i32> %e{k}, i32 %d{k}, i32 1",
                f"  %y{k} = bitcast <2 x i32> %f{k} to double",
                f"  %x{k + 1} = {join.format(k=k)}",
            )
        yield "  ret double %x5\n}"


def _far(name: str, k: int) -> str:
    """A number of the thread 2ᵏ beyond."""
    return f"call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %{name}{k}, i32 {1 << k}, i32 31)"


NEAR = "ptr addrspace(3)"


def _inverses() -> str:
    """The text for the size of a matrix; 0 where there is none, or a pivot is small."""
    lines = [
        "define internal i32 @liaison_quick_inverse(i32 %m, ptr %J, ptr %rows)"
        " convergent noinline nounwind {",
        f"  %J.near = addrspacecast ptr %J to {NEAR}",
        f"  %rows.near = addrspacecast ptr %rows to {NEAR}",
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %me = and i32 %thread, 31",
    ]
    for n in SIZES:
        lines += [
            f"  %fits{n} = icmp ule i32 %m, {n}",
            f"  br i1 %fits{n}, label %of{n}, label %over{n}",
            f"of{n}:",
            f"  %y{n} = call i32 @liaison_inverse_{n}"
            f"(i32 %m, i32 %me, {NEAR} %J.near, {NEAR} %rows.near)",
            f"  ret i32 %y{n}",
            f"over{n}:",
        ]
    return "\n".join([*lines, "  ret i32 0", "}"])


def _inverse(n: int) -> str:
    """J⁻¹ in the place of J by (group-2), rows in n registers; 1 where it is, 0 if J is as it was.

    `rows` has room for two rows, one of which is read while the other is written.
    """
    head = f"i32 %m, i32 %me, {NEAR} %J, {NEAR} %rows"
    lines = [
        f"define internal i32 @liaison_inverse_{n}({head}) convergent noinline nounwind {{",
        "enter:",
        *_begun(n),
        "  br label %step",
        "step:",
        *_pivot(n),
        "  br i1 %own, label %give, label %wait",
        "give:",
        *_pivot_row(n),
        f"  %own.at = getelementptr double, {NEAR} %row, i32 {ROW - 2}",
        f"  store double %own.inverse, {NEAR} %own.at, align 16",
        "  br label %wait",
        "wait:",
        "  call void @llvm.nvvm.bar.warp.sync(i32 -1)",
        *_read("row", n),
        *_step(n),
        "  %before = sub i32 %k, 1",
        "  %more = icmp sgt i32 %k, 0",
        "  br i1 %more, label %step, label %end",
        "end:",
        "  %result = zext i1 %all.good to i32",
        "  %keeps = and i1 %mine, %all.good",
        "  br i1 %keeps, label %keep0, label %done",
    ]
    return "\n".join([*lines, *_kept(n), "}"])


def _begun(n: int) -> Iterator[str]:
    """Where a thread's row is, its numbers, and the inverse of the last."""
    yield "  %width = or i32 %m, 1"
    yield "  %last = sub i32 %m, 1"
    yield "  %mine = icmp slt i32 %me, %m"
    yield "  %line = select i1 %mine, i32 %me, i32 %last"
    yield "  %first = mul i32 %line, %width"
    yield f"  %shift = sub i32 {n}, %m"
    yield from _taken(n)
    yield f"  %own.first = call double @liaison_inverse_of(double %i{n - 1})"


def _pivot(n: int) -> Iterator[str]:
    """What a step begins with, and where the row of its pivot passes."""
    yield "  %k = phi i32 [%last, %enter], [%before, %wait]"
    yield "  %so.far = phi i1 [true, %enter], [%all.good, %wait]"
    yield "  %own.inverse = phi double [%own.first, %enter], [%own.next, %wait]"
    for j in range(n):
        yield f"  %x{j} = phi double [%i{j}, %enter], [%n{j}, %wait]"
    yield "  %own = icmp eq i32 %me, %k"
    yield "  %odd = and i32 %k, 1"
    yield f"  %half = mul i32 %odd, {ROW}"
    yield f"  %row = getelementptr double, {NEAR} %rows, i32 %half"


def _taken(n: int) -> Iterator[str]:
    """A row of J into registers, its last number into the last of them."""
    for j in range(n):
        yield f"  %c{j} = sub i32 {j}, %shift"
        yield f"  %is{j} = icmp sge i32 %c{j}, 0"
        yield f"  %to{j} = select i1 %is{j}, i32 %c{j}, i32 0"
        yield f"  %at{j} = add i32 %first, %to{j}"
        yield f"  %p{j} = getelementptr double, {NEAR} %J, i32 %at{j}"
        yield f"  %l{j} = load double, {NEAR} %p{j}"
        yield f"  %both{j} = and i1 %is{j}, %mine"
        yield f"  %i{j} = select i1 %both{j}, double %l{j}, double 0.0"


def _pivot_row(n: int) -> Iterator[str]:
    """The row of a pivot for all to read, two numbers at a time."""
    for j in range(0, n, 2):
        yield f"  %u{j} = insertelement <2 x double> undef, double %x{j}, i32 0"
        yield f"  %v{j} = insertelement <2 x double> %u{j}, double %x{j + 1}, i32 1"
        yield f"  %g{j} = getelementptr double, {NEAR} %row, i32 {j}"
        yield f"  store <2 x double> %v{j}, {NEAR} %g{j}, align 16"


def _read(name: str, n: int) -> Iterator[str]:
    """Numbers of a row that all threads read, two at a time, the last first."""
    for j in reversed(range(0, n, 2)):
        yield f"  %{name}.a{j} = getelementptr double, {NEAR} %{name}, i32 {j}"
        yield f"  %{name}.b{j} = load <2 x double>, {NEAR} %{name}.a{j}, align 16"
        yield f"  %{name}{j} = extractelement <2 x double> %{name}.b{j}, i32 0"
        yield f"  %{name}{j + 1} = extractelement <2 x double> %{name}.b{j}, i32 1"


def _step(n: int) -> Iterator[str]:
    """(group-2); of the row of the pivot f is 1 − 1/p.

    The number of the next column comes first, and its inverse, while the others follow: what all
    wait for is then under way.
    """
    yield f"  %inverse.at = getelementptr double, {NEAR} %row, i32 {ROW - 2}"
    yield f"  %inverse = load double, {NEAR} %inverse.at, align 16"
    yield "  %size = call double @llvm.fabs.f64(double %inverse)"
    yield f"  %good = fcmp olt double %size, {LARGEST}"
    yield "  %all.good = and i1 %good, %so.far"
    yield f"  %part = fmul double %x{n - 1}, %inverse"
    yield "  %rest = fsub double 1.0, %inverse"
    yield "  %f = select i1 %own, double %rest, double %part"
    yield "  %minus = fneg double %f"
    yield "  %n0 = select i1 %own, double %inverse, double %minus"
    for j in reversed(range(n - 1)):
        terms = f"double %minus, double %row{j}, double %x{j}"
        yield f"  %n{j + 1} = call double @llvm.fma.f64({terms})"
        if j == n - 2:
            yield f"  %own.next = call double @liaison_inverse_of(double %n{n - 1})"


def _kept(n: int) -> Iterator[str]:
    """J⁻¹ from registers."""
    for j in range(n):
        yield f"keep{j}:"
        yield f"  %z{j} = add i32 %first, {j}"
        yield f"  %q{j} = getelementptr double, {NEAR} %J, i32 %z{j}"
        yield f"  store double %n{j}, {NEAR} %q{j}"
        yield f"  %on{j} = icmp sgt i32 %m, {j + 1}"
        follows = f"keep{j + 1}" if j + 1 < n else "done"
        yield f"  br i1 %on{j}, label %{follows}, label %done"
    yield from ("done:", "  call void @llvm.nvvm.bar.warp.sync(i32 -1)", "  ret i32 %result")


def stride_of(nv: int) -> int:
    """Numbers from a row of X to the next: 16 bytes are read at a time, of floats also."""
    return (nv + 3) // 4 * 4


def _products(nv: int) -> str:
    """A = X Xᵀ, a column a thread; 1 where it is, 0 where there are more rows than threads."""
    n = stride_of(nv)
    head = "i32 @liaison_quick_products(i32 %m, ptr %X, ptr %A) convergent noinline nounwind"
    lines = [
        f"define internal {head} {{",
        "enter:",
        f"  %rows = addrspacecast ptr %X to {NEAR}",
        f"  %to = addrspacecast ptr %A to {NEAR}",
        "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()",
        "  %me = and i32 %thread, 31",
        "  %width = or i32 %m, 1",
        "  %last = sub i32 %m, 1",
        "  %mine = icmp slt i32 %me, %m",
        "  %line = select i1 %mine, i32 %me, i32 %last",
        f"  %first = mul i32 %line, {n}",
        f"  %own = getelementptr double, {NEAR} %rows, i32 %first",
        *_read("own", n),
        "  %fits = icmp ule i32 %m, 32",
        "  br i1 %fits, label %each, label %over",
        "each:",
        "  %i = phi i32 [0, %enter], [%next, %on]",
        f"  %at = mul i32 %i, {n}",
        f"  %row = getelementptr double, {NEAR} %rows, i32 %at",
        *_read("row", n),
        *_summed(nv),
        "  br i1 %mine, label %keep, label %on",
    ]
    return "\n".join([*lines, COLUMN])


COLUMN = f"""\
keep:
  %far = mul i32 %i, %width
  %place = add i32 %far, %me
  %q = getelementptr double, {NEAR} %to, i32 %place
  store double %sum, {NEAR} %q
  br label %on
on:
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %m
  br i1 %more, label %each, label %done
done:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ret i32 1
over:
  ret i32 0
}}"""
"""A number of a column of A, and the next."""

CHAINS = 4
"""Sums that are made side by side: one number waits for another."""


def _summed(nv: int) -> Iterator[str]:
    """The product of two rows."""
    for j in range(min(CHAINS, nv)):
        yield f"  %s{j} = fmul double %own{j}, %row{j}"
    for j in range(CHAINS, nv):
        before = f"%s{j - CHAINS}"
        yield (
            f"  %s{j} = call double @llvm.fma.f64(double %own{j}, double %row{j}, double {before})"
        )
    ends = [f"%s{j}" for j in range(max(0, nv - CHAINS), nv)] + ["0.0"] * (nv == 1)
    for k, end in enumerate(ends[1:]):
        first = ends[0] if k == 0 else f"%t{k - 1}"
        name = "%sum" if k == len(ends) - 2 else f"%t{k}"
        yield f"  {name} = fadd double {first}, {end}"
