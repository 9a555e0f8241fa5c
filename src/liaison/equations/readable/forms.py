"""Readable equations as pages: Unicode text, LaTeX, a script for SymPy.

Public names: as_unicode, as_latex, as_sympy, entry_name, title, block_title, multipliers, factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

from liaison.expr.reading.latex import reading_to_latex
from liaison.expr.reading.names import latex_name, unicode_name
from liaison.expr.reading.notation import DIGITS, fraction_of, is_rounded
from liaison.expr.reading.python import identifiers, to_python
from liaison.expr.reading.reading import Number, Power, Product, Reading, names_in
from liaison.expr.reading.text import to_unicode

from .readable import Readable, ReadLine
from .sides import ReadSide, side_latex, side_text

TITLES = {
    "M": "Mass matrix {}",
    "C": "Velocity products {} v, by Christoffel symbols",
    "B": "Velocity products {}",
    "g": "Bias at rest {}",
}
ONE = Number(Fraction(1))


def title(page: Readable) -> str:
    """The title of a page: mechanism and formalism."""
    return f"{page.name}, by {page.formalism.replace('_', ' ')}"


def block_title(key: str, entries: Sequence[tuple[str, Reading]]) -> str:
    """The title of a matrix or vector, by the letter of its entries."""
    return TITLES[key].format(unicode_name(entries[0][0].partition("[")[0]))


def multipliers(page: Readable) -> list[tuple[str, str]]:
    """The name of every multiplier, and what its row transmits."""
    rows = page.labels.get("lam", ())
    return [(f"{page.multiplier}{k + 1}", x) for k, x in enumerate(rows)]


def factor(line: ReadLine) -> tuple[str, Reading] | None:
    """What a row was divided by, or multiplied by where that is 1 over a number; None for 1.

    ("multiplied by", 2) is said of a row whose terms all had ½ in front of them.
    """
    if line.divisor == ONE:
        return None
    number, above, below = fraction_of(line.divisor)
    if number.numerator == 1 < number.denominator:
        scale = (Number(Fraction(number.denominator)),)
        inverse = (*scale, *below, *(Power(x, -1) for x in above))
        return "multiplied by", inverse[0] if len(inverse) == 1 else Product(inverse)
    return "divided by", line.divisor


def line_title(line: ReadLine) -> str:
    """The coordinate a row belongs to, or the name of a row of a closure."""
    return line.name.removesuffix("'")


def entry_name(name: str) -> str:
    """M[1,2] as M₁₂; M[1,12] as M₁,₁₂."""
    head, _, rest = name.partition("[")
    places = [unicode_name(f"x{k}")[1:] for k in rest.rstrip("]").split(",")]
    comma = "," if any(len(k) > 1 for k in places) else ""
    return head + comma.join(places)


def readings_of(page: Readable) -> Iterator[Reading]:
    """Every formula of a page."""
    for line in page.lines:
        yield from (line.left, line.right, line.divisor)
    yield from (x for part in page.blocks.values() for _, x in part)
    yield from (x for _, x in page.quantities)
    yield from (x for _, x, _ in page.integrals)
    for side in page.sides:
        yield from (x for line in side.relations for x in line.items if not isinstance(x, str))


def rounded_note(page: Readable, digits: int) -> str:
    """That numbers were rounded, if some were."""
    if any(is_rounded(x, digits) for x in readings_of(page)):
        return f"Numbers are rounded to {digits} digits."
    return ""


# Text -------------------------------------------------------------------------------------------


def as_unicode(page: Readable, digits: int = DIGITS) -> str:
    """The page as text."""
    parts = [title(page), *_fact_lines(page)]
    if page.quantities:
        lines = [f"  {unicode_name(n)} = {to_unicode(x, digits)}" for n, x in page.quantities]
        parts += ["", "Quantities, each from those before it", *lines]
    parts += ["", motion_title(page), *_equations(page.lines, digits)]
    if page.sides:
        parts += ["", sides_title(page), *_sides(page.sides, digits)]
    for key, entries in page.blocks.items():
        if entries:
            lines = [f"  {entry_name(n)} = {to_unicode(x, digits)}" for n, x in entries]
            parts += ["", block_title(key, entries), *lines]
    if page.integrals:
        lines = [f"  {n}: {to_unicode(x, digits)} = const" for n, x, _ in page.integrals]
        parts += ["", "First integrals", *lines]
    notes = [*page.notes, rounded_note(page, digits)]
    return "\n".join([*parts, *([""] if any(notes) else []), *(x for x in notes if x)])


def motion_title(page: Readable) -> str:
    """Of the equations of motion, with the mode they are of."""
    return f"Equations of motion: {page.mode}" if page.mode else "Equations of motion"


def sides_title(page: Readable) -> str:
    """Title of the section on unilateral constraints."""
    return "Conditions of the mode" if page.mode else "Unilateral constraints"


def _sides(sides: Iterable[ReadSide], digits: int) -> list[str]:
    """Every block, its name before its first relation."""
    titles = [unicode_name(side.name) for side in sides]
    width = max(map(len, titles), default=0)
    return [
        f"  {(name + ':' if k == 0 else ''):<{width + 1}} {side_text(line, digits)}"
        for name, side in zip(titles, sides)
        for k, line in enumerate(side.relations)
    ]


def _fact_lines(page: Readable) -> list[str]:
    """Coordinates, multipliers and values, a line each."""
    names = {"q": "coordinates", "v": "velocities", "u": "inputs"}
    has_rates = [f"{x.partition(' [')[0]}'" for x in page.labels.get("q", ())] == [
        x.partition(" [")[0] for x in page.labels.get("v", ())
    ]
    lines = []
    for key, word in names.items():
        labels = page.labels.get(key, ())
        if labels and not (key == "v" and has_rates):
            lines.append(f"  {word:<12} {', '.join(map(_label, labels))}")
    if page.values:
        text = ", ".join(f"{unicode_name(n)} = {x}" for n, x in page.values)
        lines.append(f"  {'with':<12} {text}")
    if named := multipliers(page):
        text = "; ".join(f"{unicode_name(name)} {x}" for name, x in named)
        lines.append(f"  {'multipliers':<12} {text}")
    if forces := page.labels.get("force", ()):
        lines.append(f"  {'forces':<12} {'; '.join(map(_force, forces))}")
    return lines


def _label(text: str) -> str:
    """A name as in formulas, and its unit."""
    name, bracket, unit = text.partition(" [")
    return f"{unicode_name(name.replace(' ', '_'))}{bracket}{unit}"


def _force(text: str) -> str:
    """The name of a force, then the row it belongs to."""
    name, _, rest = text.partition(" ")
    return f"{unicode_name(name)} {rest}".rstrip()


def _line_name(line: ReadLine) -> str:
    """The coordinate as in formulas; the name of a row of a closure as it is."""
    name = line_title(line)
    return unicode_name(name if ": " in name else name.replace(" ", "_"))


def _equations(lines: Iterable[ReadLine], digits: int) -> list[str]:
    titles = [_line_name(line) for line in lines]
    width = max((len(x) for x in titles), default=0)
    blocks = []
    for name, line in zip(titles, lines):
        text = f"{to_unicode(line.left, digits)} = {to_unicode(line.right, digits)}"
        scale = factor(line)
        note = "" if scale is None else f"      ({scale[0]} {to_unicode(scale[1])})"
        blocks.append(f"  {name + ':':<{width + 1}} {text}{note}")
    return blocks


# LaTeX ------------------------------------------------------------------------------------------


def as_latex(page: Readable, digits: int = DIGITS) -> str:
    """Displayed formulas with their titles as comments; each block is one `aligned`."""
    blocks: list[tuple[str, Iterable[tuple[str, ...]]]] = []
    if page.quantities:
        rows = [(latex_name(n), reading_to_latex(x, digits)) for n, x in page.quantities]
        blocks.append(("quantities, each from those before it", rows))
    equations = [
        (reading_to_latex(x.left, digits), reading_to_latex(x.right, digits)) for x in page.lines
    ]
    blocks.append((motion_title(page).lower(), equations))
    for side in page.sides:
        signed = [side_latex(line, digits) for line in side.relations]
        blocks += [(f"{sides_title(page).lower()}: {side.name}", signed)] if signed else []
    for key, entries in page.blocks.items():
        if entries:
            named = [(latex_name(n), reading_to_latex(x, digits)) for n, x in entries]
            blocks.append((block_title(key, entries), named))
    if page.integrals:
        integrals = [(reading_to_latex(x, digits), r"\text{const}") for _, x, _ in page.integrals]
        blocks.append(("first integrals", integrals))
    return "\n\n".join(f"% {title(page)}: {head}\n{aligned(rows)}" for head, rows in blocks)


def aligned(rows: Iterable[tuple[str, ...]]) -> str:
    """Rows of an `aligned` environment: left and right sides, or left, sign and right."""
    inside = " \\\\\n".join(f"{left} &{sign} {right}" for left, sign, right in map(_signed, rows))
    return f"\\begin{{aligned}}\n{inside}\n\\end{{aligned}}"


def _signed(row: tuple[str, ...]) -> tuple[str, ...]:
    return row if len(row) == 3 else (row[0], "=", row[1])


# SymPy ------------------------------------------------------------------------------------------


def as_sympy(page: Readable) -> str:
    """A script for SymPy: `equations`, `M_matrix`, `C_matrix` or `B_vector`, and `g_vector`."""
    own = {name for name, _ in page.quantities}
    used = set().union(*(names_in(x) for x in readings_of(page))) if page.lines else set()
    names = identifiers(sorted(used | own))
    lines = [f"# {title(page)}, by liaison; exact numbers", "from sympy import *", ""]
    lines += [f"{names[n]} = Symbol({n!r}, real=True)" for n in sorted(used - own - {"π"})]
    lines += [f"{names[n]} = {to_python(x, names)}" for n, x in page.quantities]
    lines += ["", "equations = ["]
    for line in page.lines:
        left, right = to_python(line.left, names), to_python(line.right, names)
        lines.append(f"    Eq({left}, {right}, evaluate=False),  # {line_title(line)}")
    lines.append("]")
    lines += [x for key, part in page.blocks.items() for x in _matrix(key, part, names, page)]
    if page.sides:
        lines += ["", "one_sided = {", *_sympy_sides(page.sides, names), "}"]
    if page.integrals:
        lines += ["", "first_integrals = {"]
        lines += [f"    {n!r}: {to_python(x, names)}," for n, x, _ in page.integrals] + ["}"]
    return "\n".join(lines) + "\n"


def _sympy_sides(sides: Iterable[ReadSide], names: dict[str, str]) -> Iterator[str]:
    """Block -> its relations, each a tuple of what it is and a list of formulas and signs."""
    for side in sides:
        yield f"    {side.name!r}: ["
        for line in side.relations:
            items = (repr(x) if isinstance(x, str) else to_python(x, names) for x in line.items)
            yield f"        ({line.when!r}, [{', '.join(items)}]),"
        yield "    ],"


def _matrix(
    key: str, entries: Iterable[tuple[str, Reading]], names: dict[str, str], page: Readable
) -> list[str]:
    n = len(page.labels.get("v", ()))
    columns = n if key in ("M", "C") else 1
    variable = f"{key}_{'matrix' if key in 'MC' else 'vector'}"
    lines = ["", f"{variable} = zeros({n}, {columns})"]
    for name, reading in entries:
        places = [int(k) - 1 for k in name.partition("[")[2].rstrip("]").split(",")]
        text = to_python(reading, names)
        lines.append(f"{variable}[{', '.join(map(str, places))}] = {text}")
        if key == "M" and places[0] != places[1]:
            lines.append(f"{variable}[{places[1]}, {places[0]}] = {text}")
    return lines
