"""Equations as the command line prints them: for reading, entry by entry, and as C99.

What is read comes from exact numbers: what was written 0.16 is printed 0.16, not its float.

Public names: FORMS, READINGS, listed, reading, tidied, arrays, entries.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from liaison.equations import Equations
from liaison.equations.equations import COEFFICIENTS
from liaison.equations.readable.forms import as_latex, as_sympy, as_unicode
from liaison.equations.readable.pages import as_html, as_notebook
from liaison.equations.readable.readable import Readable
from liaison.equations.readable.sides import side_text
from liaison.expr import ONE, Expr, as_expr, constant, to_text, topological
from liaison.expr.graph.ops import apply
from liaison.expr.graph.walk import rewritten
from liaison.expr.reading.text import to_unicode
from liaison.model import Mechanism
from liaison.program import Program, to_c
from liaison.program.c.package import EXTRA
from liaison.program.lower import lower
from liaison.verbs.derive.derive import derive
from liaison.verbs.derive.readable import readable

LONGEST = 12
"""Characters of a fraction; one that is longer is printed as a decimal."""

DENOMINATORS = (2, 3, 4, 8, 12)
"""Denominators of fractions that are printed as such, though some could be decimals."""

# What a formula looks like ----------------------------------------------------------------------


def tidied(fs: list[Expr]) -> list[Expr]:
    """The formulas for readers: the numbers of each product in one, decimals of 15 digits."""
    return rewritten(rewritten(_collected(fs), _decimal), _rounded)


def _collected(fs: list[Expr]) -> list[Expr]:
    """The numbers of products multiplied out, but for products that others share."""
    order, top = topological(fs), set(fs)
    uses = Counter(arg for node in order for arg in set(node.args))
    parts: dict[Expr, tuple[Any, Expr]] = {}
    new: dict[Expr, Expr] = {}
    for node in order:
        if _is_number(node):
            parts[node], new[node] = (node.a, ONE), node
        elif node.op == "mul":
            open_ = {x for x in node.args if _is_number(x) or (uses[x] == 1 and x not in top)}
            terms = [parts[x] if x in open_ else (1, new[x]) for x in node.args]
            (a, x), (b, y) = terms
            parts[node] = a * b, x * y
            new[node] = constant(a * b) * (x * y)
        else:
            fresh = tuple(new[x] for x in node.args)
            new[node] = apply(node.op, fresh, node.data) if fresh != node.args else node
            parts[node] = 1, new[node]
    return [new[f] for f in fs]


def _is_number(node: Expr) -> bool:
    return node.op == "const" and isinstance(node.a, int | Fraction | float)


def _decimal(node: Expr) -> Expr | None:
    """A fraction as the decimal it was written as, or as a float where it is long."""
    if node.op != "const" or not isinstance(node.a, Fraction) or node.a.denominator in DENOMINATORS:
        return None
    rest = node.a.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    return constant(float(node.a)) if rest == 1 or len(str(node.a)) > LONGEST else None


def _rounded(node: Expr) -> Expr | None:
    """A float without the digits that rounding left behind."""
    is_float = node.op == "const" and isinstance(node.a, float)
    return constant(float(f"{node.a:.15g}")) if is_float else None


def _formulas(equations: Equations) -> dict[str, Expr]:
    """M, h, τ, and where there are closures Φ, G and γ, entry by entry, zeros left out."""
    dynamics, closures = equations.dynamics, equations.closures
    formulas: dict[str, Any] = {
        f"M[{i + 1},{j + 1}]": x for (i, j), x in sorted(dynamics.M.items())
    }
    for name, entries in (("h", dynamics.h), ("tau", dynamics.tau), ("Phi", closures.phi)):
        formulas |= {f"{name}[{k + 1}]": x for k, x in enumerate(entries)}
    formulas |= {f"G[{i + 1},{j + 1}]": x for (i, j), x in sorted(closures.G.items())}
    formulas |= {f"gamma[{k + 1}]": x for k, x in enumerate(closures.gamma)}
    sides = equations.sides
    formulas |= {f"gap[{x.first + 1}]": x.gap for x in sides.blocks if x.kind == "gap"}
    for name, entries in (("slip", sides.rate), ("bias", sides.bias)):
        formulas |= {f"{name}[{k + 1}]": x for k, x in enumerate(entries)}
    formulas |= {f"D[{i + 1},{j + 1}]": x for (i, j), x in sorted(sides.D.items())}
    formulas |= {f"{word}[{x.first + 1}]": y for x in sides.blocks
              for word, y in zip(COEFFICIENTS, x.coefficients, strict=True)}  # fmt: skip
    nonzero = {name: as_expr(x) for name, x in formulas.items()}
    nonzero = {name: x for name, x in nonzero.items() if not (_is_number(x) and x.a == 0)}
    return dict(zip(nonzero, tidied(list(nonzero.values())), strict=True))


SIDED = (
    "slip = D v + …, slip' = D v' + bias; gap >= 0, slip of a relation of rates >= 0, each with a "
    "force f >= 0; friction and restitution bound and reverse, by the first row of their block."
)
"""Meaning of the entries of unilateral rows."""


def _as_entries(equations: Equations) -> str:
    """The equations as text: what they are, the coordinates, shared quantities, entries."""
    closed = ", G v' = gamma" if equations.closures.gamma else ""
    pushed = " + D^T f" if equations.sides.blocks else ""
    lines = [
        f"{equations.name} by {equations.formalism}: M v' + h = tau + G^T lambda{pushed}{closed}"
    ]
    lines += [SIDED] if pushed else []
    for part in ("q", "v", "lam", "force"):
        named = ", ".join(str(label) for label in equations.labels.get(part, ()))
        lines += [f"{part}: {named}"] if named else []
    formulas = _formulas(equations)
    lines.append("Entries that are not written are zero.")
    return "\n".join([*lines, "", to_text(list(formulas.values()), names=list(formulas))])


# What stands where ------------------------------------------------------------------------------

INTRODUCTION = """\
/* {name}, by liaison. In every function t is time [s], in SI units throughout; work is room
 * for as many numbers as the comment above the function says. Matrices are row by row; vdot, xi,
 * tau, h, f and delta are in the order of v, with phi, nu, rate and gamma in that of lam.
 *
"""

FREE = " without unilateral constraints (one_sided)"

BLOCKS = {
    "energy": " [J]",
    "poses": ": R row by row, then p [m]",
    "reactions": ": Mx My Mz [N*m], Fx Fy Fz [N], on the successor, in its marker's axes",
}
"""What the blocks of an entry hold."""


def arrays(equations: Equations) -> dict[str, list[dict[str, str]]]:
    """Name and unit of every entry of q, v, u, p and λ."""
    return {
        part: [{"name": label.name, "unit": label.unit} for label in labels]
        for part, labels in equations.labels.items()
    }


def entries(program: Program) -> dict[str, dict[str, Any]]:
    """For every function, what x holds and where each block of out begins and how long it is."""
    blocks: dict[str, dict[str, Any]] = {}
    sided = ["one_sided"] if program.facts.get("sides") else []
    for name in [*program.entries, *sided]:
        out, place = [], 0
        for label, size in program.entry(name).layout:
            out.append({"name": label, "from": place, "size": size})
            place += size
        blocks[name] = {"x": EXTRA.get(name, ""), "out": out}
    return blocks


def _as_c(equations: Equations) -> str:
    """C99, below a comment that says what every entry of its arrays is."""
    program = lower(equations)
    lines = [
        f" *   {array}[{k}]  {label}"
        for array in ("q", "v", "u", "p", "lam")
        for k, label in enumerate(program.labels.get(array, ()))
    ]
    for name, entry in entries(program).items():
        free = FREE if name in ("forward", "rate") and equations.sides.blocks else ""
        lines += [" *", f" * {name}:{free}"]
        lines += [f" *   x: {entry['x']}"] if entry["x"] else []
        units = {label.name: label.unit for label in program.labels.get(name, ())}
        lines += [_range(name, block, units) for block in entry["out"] if block["size"]]
    comment = "\n".join(line.replace("*/", "* /") for line in lines)
    names = [*program.entries, *(["one_sided"] if equations.sides.blocks else [])]
    return INTRODUCTION.format(name=program.name) + comment + "\n */\n" + to_c(program, names)


def _range(entry: str, block: Mapping[str, Any], units: Mapping[str, str]) -> str:
    first, last = block["from"], block["from"] + block["size"] - 1
    places = f"out[{first}]" if first == last else f"out[{first}..{last}]"
    unit = units.get(block["name"], "")
    note = f" [{unit}]" if unit else BLOCKS.get(entry, "")
    return f" *   {places}  {block['name']}{note}"


FORMS: Mapping[str, Callable[[Equations], str]] = {"entries": _as_entries, "c": _as_c}
"""How all of the equations are printed, whatever their size, by the word for it."""


def listed(mechanism: Mechanism, formalism: str, form: str) -> dict[str, Any]:
    """The facts of one of FORMS."""
    equations = derive(mechanism, formalism, exact=form != "c")
    facts = _sizes(equations) | {"text": FORMS[form](equations)}
    if form == "c":
        facts["entries"] = entries(lower(equations))
    return facts


def _sides(equations_read: Readable, digits: int) -> list[dict[str, Any]]:
    """Unilateral blocks: name, kind, and formulas of each."""
    return [
        {"name": x.name, "kind": x.kind, "relations": [side_text(y, digits) for y in x.relations]}
        for x in equations_read.sides
    ]


def _sizes(equations: Equations) -> dict[str, Any]:
    sizes = {name: len(labels) for name, labels in equations.labels.items()}
    return {"sizes": sizes, "arrays": arrays(equations)}


# For reading ------------------------------------------------------------------------------------

READINGS: Mapping[str, Callable[[Readable, int], str]] = {
    "text": as_unicode,
    "latex": as_latex,
    "sympy": lambda equations_read, digits: as_sympy(equations_read),
    "html": as_html,
    "notebook": as_notebook,
}
"""How equations made short are written, by the word for it."""


def reading(
    mechanism: Mechanism,
    formalism: str,
    form: str,
    digits: int,
    modes: Mapping[str, str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The facts of one of READINGS; of one contact mode, or in other coordinates, if requested."""
    equations_read = readable(mechanism, formalism, modes=modes, **options)
    labels = {name: list(part) for name, part in equations_read.labels.items()}
    lines = [
        {"name": x.name, "left": to_unicode(x.left, digits), "right": to_unicode(x.right, digits)}
        for x in equations_read.lines
    ]
    integrals = [
        {"name": name, "formula": to_unicode(x, digits), "why": why}
        for name, x, why in equations_read.integrals
    ]
    facts = {"labels": labels, "equations": lines, "integrals": integrals}
    if equations_read.sides:
        facts |= {"one_sided": _sides(equations_read, digits), "mode": equations_read.mode}
    return facts | {"text": READINGS[form](equations_read, digits)}
