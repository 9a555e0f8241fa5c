"""Formulas as text and as LaTeX, with shared parts as named intermediate quantities.

Public names: to_text, to_latex, Listing, listing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from liaison.expr.graph import node as _node
from liaison.expr.graph.node import Expr, Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.walk import Formulas, listed, topological

_ATOM = 9


@final
@dataclass(frozen=True, slots=True)
class Listing:
    """Assignments of intermediate quantities, then the formulas in terms of them."""

    assignments: tuple[tuple[str, str], ...]
    results: tuple[str, ...]


@final
@dataclass(frozen=True, slots=True)
class _Style:
    """How leaves and operations are written."""

    constant: Callable[[Value], tuple[str, int]]
    symbol: Callable[[str], str]
    pattern: Callable[[Expr], str]
    data: Callable[[Expr], str]
    parentheses: str
    is_typeset: bool


# Leaves -----------------------------------------------------------------------------------------


def _plain_constant(value: Value) -> tuple[str, int]:
    text = str(value) if not isinstance(value, float) else repr(value)
    if text.startswith("-"):
        return text, 1
    return text, 2 if "/" in text else _ATOM


def _latex_constant(value: Value) -> tuple[str, int]:
    if isinstance(value, Fraction):
        return rf"\frac{{{value.numerator}}}{{{value.denominator}}}", _ATOM
    if isinstance(value, float):
        mantissa, _, exponent = repr(value).partition("e")
        text = rf"{mantissa} \times 10^{{{int(exponent)}}}" if exponent else mantissa
        return text.replace("inf", r"\infty"), 2 if exponent else (1 if value < 0 else _ATOM)
    text = r"\pi" if repr(value) == "pi" else str(value)
    return text, 1 if text.startswith("-") else _ATOM


_GREEK_WORDS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_GREEK = frozenset(_GREEK_WORDS.split())


def _latex_word(word: str) -> str:
    if word in _GREEK:
        return "\\" + word
    escaped = re.sub(r"([_%&#$])", r"\\\1", word)
    return escaped if len(word) <= 1 or word.isdigit() else rf"\mathrm{{{escaped}}}"


def latex_name(name: str) -> str:
    """A symbol's name typeset: q[0] → q_{0}, crank.x → crank_{x}, A' → \\dot{A}, m1 → m_{1}."""
    base = name.rstrip("'")
    dots = len(name) - len(base)
    words = [word for word in re.split(r"[\[\].,_ ]+", base) if word]
    numbered = re.fullmatch(r"([A-Za-z]+?)(\d+)", words[0]) if words else None
    if numbered:
        words[:1] = [numbered[1], numbered[2]]
    head, *rest = words or [base]
    text = _latex_word(head)
    if dots:
        text = rf"\{'d' * dots}ot{{{text}}}" if dots <= 3 else rf"{text}^{{({dots})}}"
    return text + (rf"_{{{','.join(map(_latex_word, rest))}}}" if rest else "")


def _latex_data(node: Expr) -> str:
    token = OPS[node.op].token(node.data).partition("#")[0]
    if node.op != "call":
        return token.replace("_", r"\_")
    function, orders = node.data
    marks = ",".join(map(str, orders))
    return latex_name(function.name) + (rf"^{{({marks})}}" if any(orders) else "")


_TEXT = _Style(
    _plain_constant,
    str,
    lambda node: OPS[node.op].text,
    lambda node: OPS[node.op].token(node.data).partition("#")[0],
    "({})",
    is_typeset=False,
)
_LATEX = _Style(
    _latex_constant,
    latex_name,
    lambda node: OPS[node.op].latex,
    _latex_data,
    r"\left({}\right)",
    is_typeset=True,
)

# Operations -------------------------------------------------------------------------------------

Written = tuple[str, int]
_BEGINS_WITH_A_NUMBER = re.compile(r"\d|\\frac\{-?\d")
_UNDELIMITED = frozenset({"sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "sign"})


def _wrapped(style: _Style, written: Written, least: int) -> str:
    text, rank = written
    return text if rank >= least else style.parentheses.format(text)


def _least_ranks(op: str, args: tuple[Expr, ...], style: _Style) -> tuple[int, ...]:
    """How tightly each argument must bind to stand without parentheses."""
    if op in ("sub", "neg"):
        return (1, 2) if op == "sub" else (2,)
    if op == "mul":
        return (2, 3 if args[1].op == "div" and not style.is_typeset else 2)
    if op == "div":
        return (0, 0) if style.is_typeset else (2, 4)
    if op == "pow":
        return (_ATOM, 0 if style.is_typeset else 5)
    if style.is_typeset and op in _UNDELIMITED:
        return (99,)
    return (0,) * len(args)


def _in_reading_order(node: Expr, parts: list[Written]) -> tuple[tuple[Expr, ...], list[Written]]:
    """Commutative arguments by their text; a number comes first in a product, last in a sum."""
    args = node.args
    if node.op not in ("add", "mul"):
        return args, parts
    is_number = args[0].op == "const"
    is_turned = node.op == "add" if is_number else parts[1][0] < parts[0][0]
    return (args[::-1], parts[::-1]) if is_turned else (args, parts)


def _written(node: Expr, parts: list[Written], style: _Style) -> Written:
    if node.op == "mul" and node.a is node.b:
        pattern = OPS["pow"].latex if style.is_typeset else OPS["pow"].text
        return pattern.format(_wrapped(style, parts[0], _ATOM), 2), 4
    args, parts = _in_reading_order(node, parts)
    ranks = _least_ranks(node.op, args, style)
    texts = [_wrapped(style, part, least) for part, least in zip(parts, ranks)]
    pattern, row = style.pattern(node), OPS[node.op]
    if style.is_typeset and node.op == "mul" and _BEGINS_WITH_A_NUMBER.match(texts[1]):
        pattern = r"{} \cdot {}"
    rank = _ATOM if style.is_typeset and node.op == "div" else row.rank
    if row.build is None:
        return pattern.format(*texts), rank
    if row.arity < 0:
        texts = [", ".join(texts)]
    return pattern.format(*texts, data=style.data(node)), rank


def listing(
    fs: Formulas, style: _Style, *, share: bool = True, prefix: str = "w", width: int = 100,
    limit: int = 1_000_000,
) -> Listing:  # fmt: skip
    """Names for shared and long parts, and the formulas in terms of them."""
    roots = listed(fs)
    order = topological(roots)
    uses = Counter(arg for node in order for arg in set(node.args))
    prefix = _free_prefix(order, prefix)
    written: dict[Expr, Written] = {}
    assignments: list[tuple[str, str]] = []
    top = set(roots)
    for node in order:
        if node.op == "const":
            written[node] = style.constant(node.a)
            continue
        if node.op == "symbol":
            written[node] = style.symbol(node.a), _ATOM
            continue
        text, rank = _written(node, [written[arg] for arg in node.args], style)
        is_shared = uses[node] + (node in top) > 1 and node.op != "neg"
        if share and uses[node] and (is_shared or len(text) > width):
            name = style.symbol(f"{prefix}{len(assignments) + 1}")
            assignments.append((name, text))
            text, rank = name, _ATOM
        elif len(text) > limit:
            raise ValueError(
                f"the formula has more than {limit} characters when nothing is shared; "
                "print it with share=True, or raise the limit"
            )
        written[node] = text, rank
    return Listing(tuple(assignments), tuple(written[root][0] for root in roots))


def _free_prefix(order: list[Expr], prefix: str) -> str:
    names = {node.a for node in order if node.op == "symbol"}
    while any(re.fullmatch(rf"{re.escape(prefix)}\d+", name) for name in names):
        prefix += "w"
    return prefix


def _result_names(fs: Formulas, count: int, names: Sequence[str] | None) -> list[str]:
    if names is not None:
        if len(names) != count:
            raise ValueError(f"{count} formulas, but {len(names)} names for them")
        return list(names)
    return [""] if type(fs) is Expr else [f"f{i + 1}" for i in range(count)]


def to_text(
    fs: Formulas, *, names: Sequence[str] | None = None, share: bool = True, prefix: str = "w",
    width: int = 100, limit: int = 1_000_000,
) -> str:  # fmt: skip
    """Formulas as readable text, one line each, after the lines of what they share.

    Args:
        fs: one formula (its last line is the formula itself) or several (`f1 = …`).
        names: for the formulas, instead of f1, f2, ….
        share: False writes every formula in full.
        prefix: of the names of intermediate quantities: w1, w2, …
        width: a part longer than this is named too.
        limit: with share=False, the longest text allowed; an error beyond.
    """
    output = listing(fs, _TEXT, share=share, prefix=prefix, width=width, limit=limit)
    titles = _result_names(fs, len(output.results), names)
    lines = [f"{name} = {text}" for name, text in output.assignments]
    lines += [f"{name} = {text}" if name else text for name, text in zip(titles, output.results)]
    return "\n".join(lines)


def to_latex(
    fs: Formulas, *, names: Sequence[str] | None = None, share: bool = True, prefix: str = "w",
    width: int = 200, limit: int = 1_000_000,
) -> str:  # fmt: skip
    """The same as LaTeX; several lines come as the inside of an `aligned` environment.

    Args:
        fs, names, share, prefix, width, limit: as in to_text; names are typeset like symbols.
    """
    lines = listing(fs, _LATEX, share=share, prefix=prefix, width=width, limit=limit)
    titles = [latex_name(n) if n else "" for n in _result_names(fs, len(lines.results), names)]
    if not lines.assignments and titles == [""]:
        return lines.results[0]
    rows = [f"{name} &= {text}" for name, text in lines.assignments]
    rows += [
        f"{name} &= {text}" if name else f"& {text}" for name, text in zip(titles, lines.results)
    ]
    return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"


# Short form -------------------------------------------------------------------------------------

_SHORT = 60


def _short(root: Expr) -> str:
    """The formula in one line; what lies beyond its first sixty nodes is left out."""
    near: dict[Expr, None] = {root: None}
    queue = [root]
    while queue and len(near) < _SHORT:
        queue += [arg for arg in queue.pop(0).args if arg not in near]
        near.update(dict.fromkeys(queue))
    written: dict[Expr, Written] = {}
    for node in _order_within(root, near):
        if node.op == "const":
            written[node] = _plain_constant(node.a)
        elif node.op == "symbol":
            written[node] = node.a, _ATOM
        else:
            parts = [written.get(arg, ("…", _ATOM)) for arg in node.args]
            text, rank = _written(node, parts, _TEXT)
            written[node] = (text, rank) if len(text) < 500 or node is root else ("…", _ATOM)
    return written[root][0]


def _order_within(root: Expr, near: dict[Expr, None]) -> list[Expr]:
    """Nodes of a small set, arguments first."""
    order: dict[Expr, None] = {}
    stack = [root]
    while stack:
        node = stack[-1]
        waiting = [arg for arg in node.args if arg in near and arg not in order]
        stack += waiting
        if not waiting:
            order[stack.pop()] = None
    return list(order)


def _notebook(root: Expr) -> str:
    return f"$\\displaystyle {to_latex(root)}$"


_node._REPR[:] = [_short, _notebook]
