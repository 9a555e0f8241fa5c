"""Program: named entries over one graph of formulas, ready for any back end.

A `Program` says which formulas each entry gives, and where every symbol is found when the
entry runs. Back ends ask it for a schedule (each formula once, arguments first) and turn that
into an interpreter, machine code or text.

Public names: ARRAYS, Entry, Program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import NamingError, ProgramError
from liaison.expr import Expr, topological
from liaison.lazy import Shown
from liaison.program.derivatives.columns import Columns, Later
from liaison.units import Label

if TYPE_CHECKING:
    from liaison.program.derivatives.stages import Stages

Array: TypeAlias = NDArray[np.float64]

ARRAYS = ("t", "q", "v", "u", "p", "x")
"""The arguments of every entry: time, positions, velocities, inputs, parameters, extra."""

LEAVES = frozenset({"symbol", "const"})


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """One question a kernel answers: formulas, flattened, and the names of their blocks.

    Attributes:
        name: of the entry.
        outputs: the formulas; made when first looked at where there are columns.
        layout: name and size of each block.
        columns: the same as one linear system with many right-hand sides, where it is one.
            Or as stages, on single numbers and on vectors.
    """

    name: str
    outputs: Sequence[Expr]
    layout: tuple[tuple[str, int], ...] = ()
    columns: Columns | Stages | None = None

    @staticmethod
    def of_columns(name: str, columns: Columns | Stages) -> Entry:
        """The same linear system for many right-hand sides; written out where someone looks."""
        size = sum(size for _, size in columns.layout)
        later = Later(size, lambda: [x for _, block in columns.written_out() for x in block])
        return Entry(name, later, columns.layout, columns)

    @staticmethod
    def of_loop(name: str, layout: tuple[tuple[str, int], ...], *, hint: str = "") -> Entry:
        """An entry that is a loop over bodies: looking at its formulas raises an error."""

        def refuse() -> list[Expr]:
            raise ProgramError(
                f"the entry {name!r} is a loop over bodies and has no formulas.", hint=hint
            )

        return Entry(name, Later(sum(size for _, size in layout), refuse), layout)

    @property
    def formulas(self) -> Sequence[Expr]:
        """Outputs, or what they come from where columns are not written out."""
        return self.outputs if self.columns is None else self.columns.formulas

    def __post_init__(self) -> None:
        if not self.layout:
            object.__setattr__(self, "layout", ((self.name, len(self.outputs)),))
        total = sum(size for _, size in self.layout)
        if total != len(self.outputs):
            raise ProgramError(
                f"entry {self.name!r} has {len(self.outputs)} outputs, its layout names {total}."
            )


@final
@dataclass(frozen=True, slots=True, repr=False)
class Program(Shown):
    """Entries over one graph, and the place of every symbol in the arguments of an entry.

    Attributes:
        name: of the mechanism, used in messages and in the names of generated functions.
        entries: by name.
        inputs: symbol -> (array, index), array one of t, q, v, u, p, x.
        sizes: nq, nv, nc, nu, np, …
        labels: a name and a unit for every entry of q, v, u, p, λ, …
        defaults: values of "u" and "p" used where the caller gives none; of "q" and "v" where the
            mechanism starts, in a program that is written as C.
        facts: what the rooms to the right want besides numbers (charts, bodies for pictures).

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> list(program.entries)[:3]
        ['forward', 'rate', 'inverse']
    """

    name: str
    entries: Mapping[str, Entry]
    inputs: Mapping[Expr, tuple[str, int]]
    sizes: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    labels: Mapping[str, tuple[Label, ...]] = field(default_factory=lambda: MappingProxyType({}))
    defaults: Mapping[str, Array] = field(default_factory=lambda: MappingProxyType({}))
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __post_init__(self) -> None:
        for symbol, (array, _) in self.inputs.items():
            if array not in ARRAYS:
                raise NamingError.unknown(f"array (for {symbol.name})", array, ARRAYS)
        kept = {name: _read_only(values) for name, values in self.defaults.items()}
        object.__setattr__(self, "defaults", MappingProxyType(kept))

    def entry(self, name: str) -> Entry:
        """The entry of that name; rejects an unknown name and proposes the nearest."""
        if name not in self.entries:
            raise NamingError.unknown("entry", name, self.entries)
        return self.entries[name]

    def schedule(self, name: str) -> list[Expr]:
        """Every formula the entry needs, once, arguments first; symbols and constants included."""
        order = topological(self.entry(name).outputs)
        for node in order:
            self._check(name, node)
        return order

    def operations(self, name: str) -> Counter[str]:
        """How many operations of each kind the entry takes, shared formulas counted once."""
        columns = self.entry(name).columns
        order = self.schedule(name) if columns is None else columns.operations()
        return Counter(node.op for node in order if node.op not in LEAVES)

    def reads(self, name: str) -> dict[str, int]:
        """How many leading elements of each array the entry looks at."""
        order = topological(self.entry(name).formulas)
        for node in order:
            self._check(name, node)
        return extent(self.inputs[node] for node in order if node.op == "symbol")

    def _check(self, entry: str, node: Expr) -> None:
        if node.op == "symbol" and node not in self.inputs:
            known = [symbol.name for symbol in self.inputs]
            raise NamingError.unknown(f"input (of entry {entry!r})", node.name, known)
        if node.op == "call":
            raise ProgramError(
                f"entry {entry!r} uses the function {node.data[0].name!r}, which has no value.",
                hint="Bind it to a formula, a table or an input before lowering.",
            )


def _read_only(values: Array) -> Array:
    """The values, or a copy of them that nobody can change."""
    if not values.flags.writeable:
        return values
    kept = values.copy()
    kept.setflags(write=False)
    return kept


def extent(slots: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Array -> one past its largest index among the slots; 0 where none is used."""
    size = dict.fromkeys(ARRAYS, 0)
    for array, index in slots:
        size[array] = max(size[array], index + 1)
    return size
