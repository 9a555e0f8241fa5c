"""Threads that solve islands of a scene together with the one that marches.

The first thread goes on with the run and tells the others, by a number that it counts up, that
there are islands to solve; each has its own, and counts its number up when it has done them. So
they wait for each other a few times a step, without Python. Numbers are read and written as atomic
ones, and who waits long gives way to other work of the machine.

Public names: Helpers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any, final

from liaison.program.llvm.machine import Code, load
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.simulation.steps.layout import Arrays

from .islands import serve
from .kernel import APART
from .layout import RESERVED, Crew

ARGUMENTS = "double %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %out, ptr %work"

SPINS = 256
"""Looks at a number before a thread gives way."""


def _waiting(name: str, condition: str) -> str:
    """A function that waits until the number at q is, or is not, t."""
    return f"""
define void @{name}({ARGUMENTS}) nounwind {{
begin:
  br label %look
look:
  %k = phi i64 [0, %begin], [%next, %again], [0, %given]
  %bits = load atomic i64, ptr %q acquire, align 8
  %value = bitcast i64 %bits to double
  %done = fcmp {condition} double %value, %t
  br i1 %done, label %end, label %again
again:
  %next = add i64 %k, 1
  %long = icmp uge i64 %next, {SPINS}
  br i1 %long, label %given, label %look
given:
  %_ = call i32 @sched_yield()
  br label %look
end:
  ret void
}}
"""


TEXT = f"""
declare i32 @sched_yield()
define void @tell({ARGUMENTS}) nounwind {{
  %bits = bitcast double %t to i64
  store atomic i64 %bits, ptr %q release, align 8
  ret void
}}
{_waiting("after", "une")}
{_waiting("until", "oeq")}
"""
NAMES = ("tell", "after", "until")
"""In the order of `TELL`, `AFTER`, `UNTIL` of the islands."""


@cache
def _calls() -> Code:
    """The functions above, once a process."""
    function = getattr(ctypes.CDLL(None), "sched_yield")  # noqa: B009
    address = ctypes.cast(function, ctypes.c_void_p).value
    return load(TEXT, NAMES, imports={"sched_yield": int(address or 0)})


@cache
def _compiled() -> CompiledLoops:
    """What further threads do, as machine code, once a process."""
    return compile_loops([serve], apart=APART)


@final
class Helpers:
    """Further threads of one run.

    Args:
        threads: how many there are with the first one.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads - 1, "liaison")
        self._serve: Any = _compiled().function(serve)

    def __call__(self, arrays: Arrays, march: Callable[[], int]) -> int:
        """Goes on with a run, the others at hand."""
        crew = Crew(arrays.scratch[RESERVED:])
        crew.call[:] = [_calls()[name] for name in NAMES]
        crew.order[0] = crew.over[0] = 0.0
        crew.done[:] = 0.0
        where = arrays.run.ints.ctypes.data, arrays.scratch.ctypes.data
        helpers = [self._pool.submit(self._serve, k, *where) for k in range(1, self._threads)]
        try:
            return march()
        finally:
            crew.over[0] = 1.0
            crew.order[0] += 1.0
            wait(helpers)
