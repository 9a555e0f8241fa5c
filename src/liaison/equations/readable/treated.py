"""Equations with treated constraints, simplified for reading: reactions by their names.

Public names: readable_treated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from liaison.equations.equations import Equations
from liaison.equations.letters import multiplier_letter
from liaison.equations.reading_order import order_of, squares_of
from liaison.equations.statement import Line, statement
from liaison.equations.transform.treatment import Treated
from liaison.expr import ZERO, Expr, as_expr, symbol
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.names import unicode_name
from liaison.expr.reading.reading import leaves
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.shared import Parts
from liaison.expr.reading.simplify import Reader, simplified
from liaison.expr.reading.text import to_unicode

from .readable import LONGEST, Readable, read_by_names, read_line

SHORT = 60
"""Names and numbers of a dependent velocity that is shown."""


def readable_treated(equations: Equations, longest: int = LONGEST) -> Readable:
    """The equations in the velocities that are left, and the rows that are kept.

    Where they would be too long they are sums of the rows before, each times its Ψ (Maggi), beside
    the rows that were solved for Ψ.

    Args:
        equations: derived with exact numbers and a treatment of its constraints.
        longest: names and numbers in a row.
    """
    own: Treated = equations.native["treatment"]
    try:
        result = _read(equations, own, _Page(own.statement(), own.reduced.u, own.reduced.udot))
        notes = (*_named(own), *_dependent(equations, own))
        if max((leaves(x.left) + leaves(x.right) for x in result.lines), default=0) <= longest:
            return replace(result, notes=notes)
    except TooLarge:
        pass
    page = _maggi(own)
    try:
        return replace(_read(equations, own, page), notes=(*_named(own), MAGGI))
    except TooLarge:
        return _by_parts(equations, own, page)


def _by_parts(equations: Equations, own: Treated, page: _Page) -> Readable:
    """The same page by plain parts of formulas, each named."""
    parts = Parts()
    for name, f in page.quantities:
        parts.named(name, f)
    sides = [*(line.left for line in page.lines), *(line.right for line in page.lines)]
    rows = [parts.cut(as_expr(f)) for f in sides]
    titles, notes = [line.name for line in page.lines], (*_named(own), MAGGI, PARTS)
    result = read_by_names(equations, titles, parts.names, rows, notes)
    return replace(result, labels=_labels(equations, own))


PARTS = "The rows are too long to be developed; they are given by named quantities."
MAGGI = (
    "Each equation is the sum of the rows of all velocities, each times its Ψ, on which reactions "
    "do no work; the eliminated rows give the other accelerations."
)


@dataclass(frozen=True, slots=True)
class _Page:
    """Lines, the velocities and accelerations in them, and quantities they name."""

    lines: Sequence[Line]
    v: tuple[Expr, ...]
    vdot: tuple[Expr, ...]
    quantities: Sequence[tuple[str, Expr]] = ()


def _read(equations: Equations, own: Treated, page: _Page) -> Readable:
    """The page, simplified."""
    multipliers = [x for x in own.efforts if x.name not in own.reactions]
    reactions = [x for x in own.efforts if x.name in own.reactions]
    symbols = replace(
        equations.symbols, v=page.v, vdot=page.vdot, lam=tuple(multipliers),
        u=(*equations.symbols.u, *reactions),
    )  # fmt: skip
    seen = replace(equations, symbols=symbols)
    order, squares = order_of(seen), squares_of(equations)
    sides = [as_expr(x) for line in page.lines for x in (line.left, line.right)]
    reader = Reader([*sides, *squares.values()], order, squares)
    rows = tuple(
        read_line(reader, seen, line.name, sides[2 * k], sides[2 * k + 1])
        for k, line in enumerate(page.lines)
    )
    quantities = tuple((name, simplified(f, order, squares)) for name, f in page.quantities)
    labels = _labels(equations, own)
    return Readable(
        equations.name,
        equations.formalism,
        labels,
        rows,
        quantities=quantities,
        multiplier=multiplier_letter(equations),
    )


def _maggi(own: Treated) -> _Page:
    """Ψᵀ (M v̇ + h) = Ψᵀ (τ + Gᵀ λ) with Ψ by names, and the rows that were eliminated."""
    whole, reduction = own.whole, own.reduced
    lines, n = statement(whole), len(whole.symbols.v)
    kept = [k for k in range(len(whole.closures.gamma)) if k not in own.gone]
    efforts = dict(zip(kept, own.efforts, strict=True))
    right = list(whole.dynamics.tau)
    for (k, j), entry in whole.closures.G.items():
        if k in efforts:
            right[j] = as_expr(right[j] + entry * efforts[k])
    names: dict[tuple[int, int], Expr] = {}
    quantities = []
    for (j, k), entry in reduction.psi.items():
        names[j, k] = entry
        if entry.op != "const":
            numbered = f"_{k + 1}" if reduction.mobility > 1 else ""
            name = f"Psi.{whole.labels['v'][j].name.rstrip(chr(39))}{numbered}"
            names[j, k] = symbol(name)
            quantities.append((name, entry))
    a, b = [ZERO] * reduction.mobility, [ZERO] * reduction.mobility
    for (j, k), psi in names.items():
        a[k], b[k] = as_expr(a[k] + psi * lines[j].left), as_expr(b[k] + psi * right[j])
    motion = [Line(x.name, y, z) for x, y, z in zip(reduction.independent, a, b, strict=True)]
    solved = [lines[n + k] for k in (*own.gone, *kept)]
    return _Page([*motion, *solved], whole.symbols.v, whole.symbols.vdot, quantities)


def _labels(equations: Equations, own: Treated) -> dict[str, tuple[str, ...]]:
    labels = equations.labels
    rows = {label.name: label for label in labels["lam"]}
    kept = [
        rows[name]
        for name, effort in zip(own.names, own.efforts, strict=True)
        if effort.name not in own.reactions
    ]
    parts = {"q": labels["q"], "v": own.reduced.independent, "lam": kept}
    parts |= {"u": labels["u"], "p": labels["p"]}
    return {key: tuple(map(str, part)) for key, part in parts.items()}


def _named(own: Treated) -> list[str]:
    """What every named reaction is."""
    return [
        f"{unicode_name(name)} is the {_words(label.name)}"
        + (f" [{label.unit}]." if label.unit else ".")
        for name, label in own.reactions.items()
    ]


def _words(row: str) -> str:
    owner, _, what = row.rpartition(": ")
    return f"{what} in {owner}" if owner else f"reaction of {what}"


def _dependent(equations: Equations, own: Treated) -> list[str]:
    """Dependent velocities as formulas of the others, where these are short."""
    reduction, order = own.reduced, order_of(equations)
    independent = {label.name for label in reduction.independent}
    sentences = []
    for label, formula in zip(equations.labels["v"], reduction.velocity, strict=True):
        if label.name not in independent:
            text = _short_text(formula, order)
            sentences.append(
                f"Eliminated: {unicode_name(label.name)}" + (f" = {text}." if text else ".")
            )
    return sentences


def _short_text(formula: Expr, order: Order) -> str:
    try:
        reading = Reader([formula], order).read(formula)
    except TooLarge:
        return ""
    return to_unicode(reading) if leaves(reading) <= SHORT else ""
