"""Unilateral constraints simplified for reading: gaps, rates, slips, and bounds of their forces.

Public names: DOTS, Relation, ReadSide, read_sides, is_hard, side_text, side_latex,
side_mathml.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, final

from liaison.equations.equations import COEFFICIENTS, Equations, Side
from liaison.equations.modes import Named, friction_of, load_of, size_of
from liaison.expr import ZERO, Expr, as_expr, symbol, topological, vanishes
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.latex import reading_to_latex
from liaison.expr.reading.mathml import to_mathml
from liaison.expr.reading.reading import Name, Reading, leaves, plain
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.lazy import Shown

from .legible import Legible, in_words

Item: TypeAlias = Reading | str
SIGNS = {"=": "=", "≥": r"\ge", "≤": r"\le", ">": ">", "⟂": r"\perp", ",": r",\;", "−": "-"}
"""Signs between formulas, and what they are in LaTeX."""


NODES, INSIDE = 100, 6
"""Operations of a formula, and within a sine or cosine in it, that is still made short: normal
forms of roots and of angles that are sums take minutes soon after."""


LONGEST, READ = 120, 40
"""Names and numbers in a formula of a block, and in a rate that can be written in words."""

DOTS = Name("…")
"""Stands for what is longer; every format but those for reading has it."""


def is_hard(f: Expr) -> bool:
    """Whether a formula is printed as it was built."""
    nodes = topological([f])
    return len(nodes) > NODES or any(
        x.op in ("sin", "cos") and len(topological([x.args[0]])) > INSIDE for x in nodes
    )


@final
@dataclass(frozen=True, slots=True)
class Relation:
    """Formulas with relation signs between them; `when` is the mode or the meaning."""

    when: str
    items: tuple[Item, ...]

    def text(self, reading: Callable[[Reading], str], sign: Callable[[str], str]) -> str:
        """Every item in its form, one after the other."""
        return "".join(sign(x) if isinstance(x, str) else reading(x) for x in self.items)


@final
@dataclass(frozen=True, slots=True, repr=False)
class ReadSide(Shown):
    """A unilateral block for reading: its name, its kind, and its relations."""

    name: str
    kind: str
    relations: tuple[Relation, ...]


def read_sides(
    legible: Legible, named: Named, modes: Sequence[str] | None, order: Order,
    squares: dict[Expr, Expr],
) -> tuple[ReadSide, ...]:  # fmt: skip
    """Every block, in all modes, or as it is in one.

    Args:
        legible: equations with exact numbers, made fit for reading.
        named: names of the rows.
        modes: that of every block; None for all at once.
        order: of the names on the page.
        squares: see `readable.squares_of`.
    """

    equations = legible.equations
    words = {f: plain(reader) for f, reader in in_words(equations).items()}

    def read(f: Expr) -> Reading:
        if len(topological([f])) > NODES:
            return words.get(f, DOTS)
        try:
            short = plain(f) if is_hard(f) else simplified(f, order, squares)
        except TooLarge:
            short = plain(f)
        return short if leaves(short) <= (READ if f in words else LONGEST) else words.get(f, DOTS)

    blocks = []
    for k, side in enumerate(equations.sides.blocks):
        reader = _Block(equations, side, named, named.gap[k])
        relations = reader.in_all_modes() if modes is None else reader.in_mode(modes[k])
        if modes is None or modes[k] != "open" or side.kind != "friction":
            relations += [
                ("nearest where", [f, "=", ZERO]) for f in legible.feet.get(side.name, ())
            ]
        items = [(w, [x if isinstance(x, str) else read(x) for x in parts])
                 for w, parts in relations]  # fmt: skip
        blocks.append(
            ReadSide(side.name, side.kind, tuple(Relation(w, tuple(x)) for w, x in items))
        )
    return tuple(blocks)


Parts: TypeAlias = list[tuple[str, list[Expr | str]]]


@dataclass(frozen=True, slots=True)
class _Block:
    """The relations of one block."""

    equations: Equations
    side: Side
    named: Named
    gap: Expr

    @property
    def rows(self) -> list[int]:
        """Rows that something moves."""
        first = self.side.first
        rows = range(first, first + self.side.rows)
        return [k for k in rows if not vanishes(self.named.force[k])]

    def coefficient(self, name: str) -> Expr:
        return self.side.coefficients[COEFFICIENTS.index(name)]

    def in_all_modes(self) -> Parts:
        if self.side.kind == "rate":
            mu = self.named.effort[self.side.first]
            return [("", [self.outside, "≤", ZERO, "⟂", mu, "≤", ZERO])]
        if self.side.kind == "gap":
            force = self.named.effort[self.side.first]
            relations: Parts = [
                ("", [*self.gap_is, "≥", ZERO, "⟂", force, "≥", ZERO]),
                *self.rate_is,
            ]
            e = self.coefficient("restitution")
            return relations + ([("restitution", [e])] if not vanishes(e) else [])
        slipping: Parts = [("slips", x) for x in self.slipping]
        if self.side.law == "regularized":
            return [*self.slips, *((("", x) for _, x in slipping))]
        return [*self.slips, ("sticks", self.sticking), *slipping]

    def in_mode(self, word: str) -> Parts:
        """The conditions under which the mode lasts, and the names that its equations use."""
        force = self.named.effort[self.side.first]
        if self.side.kind == "friction":
            if word == "sticks":
                return [("sticks while", self.bounded)]
            return [*self.slips, *self.moving] if word == "slips" else []
        if word == "closed":
            sign = "≤" if self.side.kind == "rate" else "≥"
            return [("closed while", [force, sign, ZERO])]
        if self.side.kind == "rate":
            return [("open while", [self.outside, "≤", ZERO])]
        return [("open while", [*self.gap_is, "≥", ZERO])]

    @property
    def outside(self) -> Expr:
        """W v + w."""
        return as_expr(-self.equations.sides.rate[self.side.first])

    @property
    def gap_is(self) -> list[Expr | str]:
        return [self.gap, "=", self.side.gap]

    @property
    def rate_is(self) -> Parts:
        rate = self.equations.sides.rate[self.side.first]
        return [("", [symbol(f"{self.gap.name}'"), "=", rate])]

    @property
    def slips(self) -> Parts:
        rate, slip = self.equations.sides.rate, self.named.slip
        return [("", [slip[k], "=", rate[k]]) for k in self.rows]

    @property
    def moving(self) -> Parts:
        """‖u‖ > 0; smooth laws never stick."""
        first, slip = self.side.first, self.named.slip
        size = size_of(self.named, self.side, slip[first : first + self.side.rows])
        return [] if self.side.law == "regularized" else [("slips while", [size, ">", ZERO])]

    @property
    def bounded(self) -> list[Expr | str]:
        """‖f‖ ≤ μ₀ f_n; of unlike coefficients by the ellipse."""
        first, load = self.side.first, load_of(self.equations, self.side, self.named)
        forces = [self.named.effort[first + k] for k in range(self.side.rows)]
        static, across = self.coefficient("static"), self.coefficient("across")
        if across is self.coefficient("friction") or len(self.rows) == 1:
            return [size_of(self.named, self.side, forces), "≤", as_expr(static * load)]
        scaled = [forces[0], as_expr(forces[1] * self.coefficient("friction") / across)]
        return [size_of(self.named, self.side, scaled), "≤", as_expr(static * load)]

    @property
    def sticking(self) -> list[Expr | str]:
        still: list[Expr | str] = []
        for k in self.rows:
            still += [self.named.slip[k], "=", ZERO, ","]
        return [*still, *self.bounded]

    @property
    def slipping(self) -> list[list[Expr | str]]:
        dry = friction_of(self.equations, self.side, self.named, viscous=False)
        first, drag = self.side.first, self.coefficient("viscous")
        relations: list[list[Expr | str]] = []
        for k in self.rows:
            slow: list[Expr | str] = ["−", as_expr(drag * self.named.slip[k])]
            relation: list[Expr | str] = [self.named.effort[k], "=", dry[k - first]]
            relations.append(relation + ([] if vanishes(drag) else slow))
        return relations


# Forms ------------------------------------------------------------------------------------------


def side_text(relation: Relation, digits: int) -> str:
    """A relation as text: sticks: u₂ = 0, |f₂| ≤ μ f₁."""
    text = relation.text(lambda x: to_unicode(x, digits), lambda x: ", " if x == "," else f" {x} ")
    return f"{relation.when}: {text}" if relation.when else text


def side_latex(relation: Relation, digits: int) -> tuple[str, str, str]:
    """Its left side, its first sign, and the rest."""
    words = rf"\text{{{relation.when}: }} " if relation.when else ""
    parts = [SIGNS[x] if isinstance(x, str) else reading_to_latex(x, digits)
             for x in relation.items]  # fmt: skip
    return words + parts[0], parts[1] if len(parts) > 1 else "", " ".join(parts[2:])


def side_mathml(relation: Relation, digits: int) -> str:
    """A relation as MathML."""
    return relation.text(lambda x: to_mathml(x, digits), lambda x: f"<mo>{x}</mo>")
