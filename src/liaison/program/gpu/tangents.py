"""Entries of the derivatives of a step: how terms and unilateral rows change along a direction.

A direction is a change of q in its own numbers, of v, of inputs and of ξ. What loops multiply the
changes of matrices with is among the arguments, so that no matrix is written:

    motion   d(M a − h f − Gᵀλ),   dG w,   dν,   dΦ                                  (tangents-1)
    sides    dDᵀP,   dD w,   the changes of rates, gaps and coefficients              (tangents-2)
    loads    dJᵀF,   dJ a,   dJ w,   the changes of measures, rates and a             (tangents-3)

All lie in x, one after the other in the order of DIRECTION. `edges` says how far the formulas are
from where they bend: the least |a − b|/(|a| + |b|) of all their choices.

Public names: TANGENTS, DIRECTION, tangents.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

from liaison.expr import (
    ZERO,
    Expr,
    absolute,
    constant,
    directional,
    minimum,
    substitute,
    symbol,
    topological,
    vanishes,
)
from liaison.program.program import Entry, Program

TANGENTS = (
    "retract", "motion", "sides", "rates", "local_rate", "local", "inputs", "edges", "side_edges",
    "loads", "laws", "law_edges",
)  # fmt: skip
"""Entries in the order in which loops number them."""

DIRECTION = (
    ("xi", "nv"), ("q", "nq"), ("v", "nv"), ("u", "nu"), ("dxi", "nv"),
    ("a", "nv"), ("w", "nv"), ("h", "1"), ("lam", "nc"), ("P", "nr"),
    ("F", "nf"), ("at", "2 * nf"), ("dat", "2 * nf"),
)  # fmt: skip
"""Parts of x, and their sizes."""

CHOICES = frozenset({"min", "max", "abs", "sign", "select"})
CORNERS = frozenset({"min", "max"})
"""Operations whose slope jumps; of contacts fewer, since the search for the nearest point of a
curved surface selects, too."""

LEAST = 1e-300
"""Beside the size of what is compared, so that 0 and 0 are at an edge."""


@final
class _Writing:
    """Writes the entries of a program."""

    def __init__(self, program: Program, sizes: Mapping[str, int]) -> None:
        self.program = program
        self.places = dict(program.inputs)
        self.x: dict[str, list[Expr]] = {}
        first = 0
        for name, size in DIRECTION:
            times, _, what = size.rpartition(" * ")
            count = 1 if size == "1" else int(times or 1) * sizes[what]
            self.x[name] = [symbol(f"tangent {name} {i}") for i in range(count)]
            self.places |= {node: ("x", first + i) for i, node in enumerate(self.x[name])}
            first += count

    def along(self, outputs: Sequence[Expr], places: Mapping[Expr, tuple[str, int]]) -> list[Expr]:
        """The change of formulas along the direction; their own x is ξ."""
        return directional(outputs, self.direction(outputs, places))

    def direction(
        self, outputs: Sequence[Expr], places: Mapping[Expr, tuple[str, int]]
    ) -> dict[Expr, Expr]:
        """Symbol -> its change, of those that formulas use."""
        names = {"q": "q", "v": "v", "u": "u", "x": "dxi"}
        used = {node for node in topological(outputs) if node.op == "symbol"}
        return {
            node: self.x[names[array]][i]
            for node, (array, i) in places.items()
            if node in used and array in names and i < len(self.x[names[array]])
        }

    def blocks(self, name: str) -> dict[str, list[Expr]]:
        """Outputs of an entry of the program by the names of their blocks."""
        entry, first = self.program.entry(name), 0
        outputs, blocks = list(entry.outputs), {}
        for block, size in entry.layout:
            blocks[block] = outputs[first : first + size]
            first += size
        return blocks

    def of(self, name: str) -> list[Expr]:
        """The change of all outputs of an entry."""
        return self.along(list(self.program.entry(name).outputs), self.program.inputs)

    def motion(self) -> list[Expr]:
        """(tangents-1)."""
        terms, x = self.blocks("terms"), self.x
        nv, nc = len(x["a"]), len(x["lam"])
        M, G = terms["M"], terms["G"]
        rows = [G[k * nv : (k + 1) * nv] for k in range(nc)]
        (h,) = x["h"]
        whole = [
            _dot(M[i * nv : (i + 1) * nv], x["a"]) - h * terms["f"][i]
            - _dot([row[i] for row in rows], x["lam"])
            for i in range(nv)
        ]  # fmt: skip
        turned = [_dot(row, x["w"]) for row in rows]
        return self.along([*whole, *turned, *terms["nu"], *terms["phi"]], self.program.inputs)

    def sides(self) -> list[Expr]:
        """(tangents-2)."""
        sides, x = self.blocks("one_sided"), self.x
        nv, nr = len(x["w"]), len(x["P"])
        rows = [sides["D"][r * nv : (r + 1) * nv] for r in range(nr)]
        pushed = [_dot([row[i] for row in rows], x["P"]) for i in range(nv)]
        turned = [_dot(row, x["w"]) for row in rows]
        rest = [*sides["rate"], *sides["gap"], *sides["coefficients"]]
        return self.along([*pushed, *turned, *rest], self.program.inputs)

    def rates(self) -> list[Expr]:
        """The changes of the rates of unilateral rows."""
        return self.along(self.blocks("one_sided")["rate"], self.program.inputs)

    def loads(self, lighter: float) -> list[Expr]:
        """(tangents-3), and the change of the inverse inertia that each load feels."""
        rows, x = self.blocks("load_rows"), self.x
        M, nv, nf = self.blocks("terms")["M"], len(x["a"]), len(x["F"])
        J = [rows["J"][k * nv : (k + 1) * nv] for k in range(nf)]
        pushed = [_dot([row[i] for row in J], x["F"]) for i in range(nv)]
        turned = [_dot(row, x[name]) for name in ("a", "w") for row in J]
        light = [
            constant(lighter) * _dot(
                [y * y for y in row], [_inverse(M[i * nv + i]) for i in range(nv)]
            )
            for row in J
        ]  # fmt: skip
        listed = [*pushed, *turned, *rows["x"], *rows["rate"], *light]
        return self.along(listed, self.program.inputs)

    def at_measures(self, outputs: Sequence[Expr]) -> tuple[list[Expr], dict[Expr, Expr]]:
        """Formulas of measures and rates in x, read from their place; and how these change."""
        used = {node for node in topological(outputs) if node.op == "symbol"}
        own = {
            node: i for node, (array, i) in self.program.inputs.items()
            if array == "x" and node in used
        }  # fmt: skip
        moved = substitute(outputs, {node: self.x["at"][i] for node, i in own.items()})
        return moved, {self.x["at"][i]: self.x["dat"][i] for i in own.values()}

    def laws(self) -> list[Expr]:
        """Changes of efforts, damping and stiffness of loads."""
        outputs, measures = self.at_measures(list(self.program.entry("load_laws").outputs))
        return directional(outputs, self.direction(outputs, self.program.inputs) | measures)

    def law_edges(self) -> list[Expr]:
        """How far efforts are from where they bend."""
        efforts = self.blocks("load_laws")["effort"]
        return [_edge(self.at_measures(efforts)[0])]

    def local(self) -> list[Expr]:
        """ξ that leads from q to where q changes to."""
        here = {i: node for node, (array, i) in self.program.inputs.items() if array == "q"}
        outputs = list(self.program.entry("difference").outputs)
        used = {node for node in topological(outputs) if node.op == "symbol"}
        target = {
            node: i for node, (array, i) in self.program.inputs.items()
            if array == "x" and node in used
        }  # fmt: skip
        changed = directional(outputs, {node: self.x["q"][i] for node, i in target.items()})
        return substitute(changed, {node: here[i] for node, i in target.items()})


def _dot(xs: Sequence[Expr], ys: Sequence[Expr]) -> Expr:
    total: Expr = ZERO
    for x, y in zip(xs, ys, strict=True):
        total = total + x * y
    return total


def _inverse(x: Expr) -> Expr:
    return ZERO if vanishes(x) else constant(1.0) / x


def _edge(outputs: Sequence[Expr], choices: frozenset[str] = CHOICES) -> Expr:
    """How near the closest choice among formulas is to being another one; 1 where there is none."""
    least: Expr = constant(1.0)
    for node in topological(outputs):
        if node.op in choices:
            off, size = _margin(node)
            least = least if off.op == "const" else minimum(least, absolute(off) / (LEAST + size))
    return least


def _margin(node: Expr) -> tuple[Expr, Expr]:
    """By how much a choice is what it is, and the size of what it compares."""
    condition = node.args[0]
    if node.op in ("min", "max") or condition.op == "sub":
        first, second = node.args if node.op in ("min", "max") else condition.args
        return first - second, absolute(first) + absolute(second)
    return condition, absolute(condition) + 1.0


def tangents(
    program: Program, added: Program | None, *, nu: int, nf: int = 0, lighter: float = 0.0
) -> Program:
    """Entries named TANGENTS, each with "tangent_" before it, of those that the program has.

    Args:
        program: of a mechanism.
        added: with the entry `inputs`, where inputs are formulas.
        nu: inputs.
        nf: loads that steps take implicitly.
        lighter: the factor of the inverse inertia that they feel.
    """
    sizes = dict(program.sizes) | {"nu": nu, "nf": nf}
    sizes["nr"] = dict(program.entry("one_sided").layout)["rate"]
    writer = _Writing(program, sizes)
    outputs = {
        "retract": writer.of("retract"), "motion": writer.motion(), "sides": writer.sides(),
        "rates": writer.rates(), "local": writer.local(),
        "edges": [_edge(list(program.entry("terms").outputs))],
        "side_edges": [_edge(list(program.entry("one_sided").outputs), CORNERS)],
    }  # fmt: skip
    if "local_rate" in program.entries:
        outputs["local_rate"] = writer.of("local_rate")
    if nf:
        outputs |= {"loads": writer.loads(lighter), "laws": writer.laws()}
        outputs["law_edges"] = writer.law_edges()
    if added is not None and "inputs" in added.entries:
        writer.places |= dict(added.inputs)
        outputs["inputs"] = writer.along(list(added.entry("inputs").outputs), added.inputs)
    entries = {f"tangent_{x}": Entry(f"tangent_{x}", fs) for x, fs in outputs.items()}
    return Program(program.name, entries, writer.places, sizes)
