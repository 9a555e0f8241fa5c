"""Programs and kernels, shown: sizes, labels, and the entries that can be called.

Public names: title, page.
"""

from __future__ import annotations

from liaison.lazy import listed
from liaison.program.kernel import Kernel
from liaison.program.program import Program

from .page import Page, Table, plural

ARRAYS = {
    "q": "positions", "v": "velocities", "u": "inputs", "p": "parameters", "lam": "multipliers",
    "outputs": "outputs",
}  # fmt: skip


def title(shown: Kernel | Program) -> str:
    """Its mechanism, and how much is in it."""
    program = shown if isinstance(shown, Program) else shown.program
    counts = [
        plural(int(program.sizes.get("nq", 0)), "position"),
        plural(int(program.sizes.get("nv", 0)), "velocity", "velocities"),
        plural(len(program.entries), "entry", "entries"),
    ]
    return f"{program.name}: {', '.join(counts)}"


def page(shown: Kernel | Program) -> Page:
    """Labels, and entries with their blocks."""
    program = shown if isinstance(shown, Program) else shown.program
    facts = [
        (f"{name}, {word}", listed([str(x) for x in program.labels.get(name, ())]))
        for name, word in ARRAYS.items()
    ]
    rows = tuple(
        (name, listed([f"{block} ({size})" for block, size in entry.layout], 8))
        for name, entry in program.entries.items()
    )
    calls = "kernel(entry, t, q=…, v=…, u=…, p=…, x=…) is one array, kernel.call(…) its blocks."
    return Page(
        title(shown),
        tuple((name, text) for name, text in facts if text),
        (Table(("entry", "blocks (size)"), rows),),
        () if isinstance(shown, Program) else (calls,),
    )
