"""to_wasm: the entries of a program as a WebAssembly module, printed without compiler or linker.

The module has a memory of its own and exports it; an entry is a function of the signature of every
kernel, with addresses in that memory. The section `liaison` says in JSON where free memory begins
and how many numbers an entry writes and works with. Functions that processors do not have (sin, …)
are loops of the package, printed with the rest.

Public names: to_wasm, Builder, IMPORTS.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, final

from liaison.errors import checked
from liaison.program.functions.table import FUNCTIONS
from liaison.program.kernel import Kernel
from liaison.program.loops.language import Loop
from liaison.program.loops.read import routine
from liaison.program.plan import Plan, plan
from liaison.program.program import Program

from .encode import OP, Assembly, Code, Function, Ref, i32_const, unsigned
from .entries import ARGUMENTS, SIGNATURE, entry_functions, entry_key
from .fold import Bound, Folded, Memory, fold_loops, unread
from .loops import CHOICES, loop_function, loop_key

ELEMENTARY: Mapping[str, Loop[..., Any]] = {
    name: x for name, x in FUNCTIONS.items() if name not in CHOICES
}
"""Functions that processors do not have, as loops."""

IMPORTS = "math"
"""The module from which functions are imported that are not printed."""

SIZE = 8000
"""Operations in one function, about: what crosses a cut costs three times the bytes."""

FIRST = 64
"""The first address in use: none is 0."""


@final
class Builder:
    """A module under construction: entries, loops, and memory.

    Args:
        elementary: name of a function such as sin -> the loop that computes it.
    """

    def __init__(self, elementary: Mapping[str, Loop[..., Any]] | None = None) -> None:
        self.assembly = Assembly()
        self.memory = Memory(elementary=dict(ELEMENTARY if elementary is None else elementary))
        self.end = FIRST
        self.turned = self.place(2)
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._needed: dict[Loop[..., Any], None] = {}
        self._plans: dict[Hashable, Plan] = {}

    def place(self, words: int) -> int:
        """The address of so many words, which are zero at the start."""
        address, self.end = self.end, self.end + 8 * words
        return address

    def numbers(self, values: Sequence[float | int], kind: str) -> int:
        """The address of a table of numbers."""
        key = (kind, struct.pack(f"<{len(values)}{'d' if kind == 'f64' else 'q'}", *values))
        if key not in self._numbers:
            self._numbers[key] = address = self.place(len(values))
            self.assembly.data[address] = key[1]
        return self._numbers[key]

    def needed(self, loop: Loop[..., Any]) -> Loop[..., Any]:
        """A loop that entries call."""
        self._needed[loop] = None
        return loop

    def elementary(self, name: str, arity: int) -> Hashable:
        """The key of a function such as sin."""
        if name in self.memory.elementary:
            return loop_key(self.needed(self.memory.elementary[name]))
        return self.imported(name, arity)

    def imported(self, name: str, arity: int) -> Hashable:
        """The key of a function of the importing program's library."""
        key = ("import", name)
        self.assembly.imports[key] = (IMPORTS, name, (("f64",) * arity, ("f64",)))
        return key

    def entry(self, program: Program, name: str) -> Hashable:
        """The key of an entry, which is printed with its pieces."""
        key = entry_key(program, name)
        if key not in self._plans:
            self._plans[key] = entry_plan = plan(
                program, name, size=SIZE, functions=FUNCTIONS, by_level=False
            )
            self.assembly.functions |= entry_functions(program, name, entry_plan, self)
        return key

    def work_size(self, program: Program, name: str) -> int:
        """Doubles of workspace of an entry."""
        key = self.entry(program, name)
        return self._plans[key].work_size

    def loops(
        self,
        roots: Mapping[Loop[..., Any], Sequence[int | None]],
        bound: Iterable[Bound] = (),
    ) -> set[int]:
        """Prints loops and all that they and the entries call.

        Args:
            roots: loop -> its arguments, None for those that whoever calls it passes.
            bound: entries that are loops.

        Returns:
            Addresses of words that stand in the code, and are not read in memory.
        """
        bound = list(bound)
        free = {x: [None] * len(routine(x).arguments) for x in self._needed if x not in roots}
        folded = fold_loops({**roots, **free}, bound, self.memory)
        for loop, one in folded.items():
            self.assembly.functions[loop_key(loop)] = loop_function(one, folded, self.memory, self)
        for entry in bound:
            self.assembly.functions[entry] = self.bound_entry(entry, folded[entry.loop])
        return unread(folded.values(), self.memory)

    def bound_entry(self, bound: Bound, folded: Folded) -> Function:
        """An entry that is a loop with a record, as a function of its own."""
        names = [x for x in ("t", "q", "v", "u", "p", "x", "out", "work") if x not in bound.without]
        code: Code = []
        for k in folded.taken:
            own = i32_const(bound.address)
            code.append(OP["get"] + unsigned(ARGUMENTS.index(names[k - 1])) if k else own)
        return Function(SIGNATURE, (), [*code, OP["call"], Ref(loop_key(bound.loop))])

    def module(self, notes: Mapping[str, Any], size: int = 0) -> bytes:
        """The bytes of the module, with notes in its section `liaison`."""
        self.assembly.size = max(self.end, size)
        text = json.dumps(notes, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        self.assembly.notes["liaison"] = text.encode()
        return self.assembly.module()


@checked
def to_wasm(
    what: Kernel | Program,
    entries: Iterable[str] | None = None,
    *,
    elementary: Mapping[str, Loop[..., Any]] | None = None,
) -> bytes:
    """A WebAssembly module of entries (all, if none is named).

    Args:
        what: a kernel, or its program.
        entries: names.
        elementary: loops of functions such as sin, in the place of those of the package.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> liaison.to_wasm(program, ["mass_matrix"])[:4]
        b'\\x00asm'
    """
    program = what.program if isinstance(what, Kernel) else what
    builder = Builder(elementary)
    names = list(program.entries if entries is None else entries)
    facts = {}
    for name in names:
        builder.assembly.exports[name] = builder.entry(program, name)
        out = len(program.entry(name).outputs)
        facts[name] = {"out": out, "work": builder.work_size(program, name)}
    builder.loops({})
    sizes = {x: int(n) for x, n in program.sizes.items()}
    room = max((x["out"] + x["work"] for x in facts.values()), default=0)
    arrays = sum(sizes.get(x, 0) for x in ("nq", "nv", "nu", "np")) + sizes.get("nx", 0) + 64
    notes = {"name": program.name, "heap": builder.end, "sizes": sizes, "entries": facts}
    return builder.module(notes, builder.end + 8 * (room + arrays))
