"""Tables of data as LLVM IR: a search among the breaks, then one polynomial.

Public names: table_function.
"""

from __future__ import annotations

from collections.abc import Iterable

from liaison.expr import Table

from .sincos import double

SEARCH = """\
entry:
  br label %test
test:
  %low = phi i64 [0, %entry], [%lower, %step]
  %high = phi i64 [{n}, %entry], [%higher, %step]
  %going = icmp slt i64 %low, %high
  br i1 %going, label %step, label %found
step:
  %sum = add i64 %low, %high
  %middle = lshr i64 %sum, 1
  %place = getelementptr inbounds double, ptr @{name}.breaks, i64 %middle
  %break = load double, ptr %place
  %below = fcmp oge double %break, %x
  %next = add i64 %middle, 1
  %lower = select i1 %below, i64 %low, i64 %next
  %higher = select i1 %below, i64 %middle, i64 %high
  br label %test
found:
  %origin.place = getelementptr inbounds double, ptr @{name}.origins, i64 %low
  %origin = load double, ptr %origin.place
  %t = fsub double %x, %origin
  %row = mul i64 %low, {m}"""


def table_function(table: Table, order: int, name: str) -> str:
    """A function of one double: the table's derivative of this order; NaN beyond all breaks."""
    coefficients = table.derivative_coefficients(order)
    m = coefficients.shape[1]
    lines = [
        _array(f"{name}.breaks", table.breaks),
        _array(f"{name}.origins", table.origins),
        _array(f"{name}.values", coefficients.ravel()),
        f"define internal double @{name}(double %x) noinline nounwind {{",
        SEARCH.format(n=len(table.breaks), m=m, name=name),
    ]
    for k in range(m):
        lines.append(f"  %i{k} = add i64 %row, {k}")
        lines.append(f"  %p{k} = getelementptr inbounds double, ptr @{name}.values, i64 %i{k}")
        lines.append(f"  %c{k} = load double, ptr %p{k}")
    total = f"%c{m - 1}"
    for k in range(m - 2, -1, -1):
        lines.append(f"  %m{k} = fmul contract double {total}, %t")
        lines.append(f"  %s{k} = fadd contract double %m{k}, %c{k}")
        total = f"%s{k}"
    return "\n".join([*lines, f"  ret double {total}", "}"])


def _array(name: str, values: Iterable[float]) -> str:
    entries = [f"double {double(float(value))}" for value in values]
    return f"@{name} = internal constant [{len(entries)} x double] [{', '.join(entries)}]"
