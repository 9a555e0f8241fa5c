"""Formal expressions as Unicode text and as LaTeX.

Public names: to_text, to_latex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

from liaison.expr import Expr
from liaison.expr import to_latex as expr_latex
from liaison.expr import to_text as expr_text

from .names import latex_symbol, pretty_name, superscript
from .node import _REPR, Atom, Formal, topological

# How strongly a text holds together: sums least, symbols most.
_SUM, _SIGN, _OF_VECTORS, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4, 5, 6
Written = tuple[str, int]


@final
@dataclass(frozen=True, slots=True)
class _Style:
    """What differs between text and LaTeX."""

    symbol: Callable[[Formal, bool], str]
    formula: Callable[[Expr], str]
    parentheses: str
    space: str
    cross: str
    dot: str
    power: Callable[[str, int], str]
    transposed: str
    tilde: str
    words: dict[str, str]


def _text_symbol(node: Formal, tilde: bool) -> str:
    atom: Atom = node.data
    return pretty_name(atom.name, order=atom.order, tilde=tilde)


def _latex_of_symbol(node: Formal, tilde: bool) -> str:
    atom: Atom = node.data
    is_vector = node.kind == "vector"
    return latex_symbol(atom.name, order=atom.order, is_vector=is_vector, tilde=tilde)


_TEXT = _Style(
    _text_symbol,
    lambda f: expr_text(f),
    "({})",
    " ",
    "{} × {}",
    "{} · {}",
    lambda base, n: base + superscript(n),
    "{}ᵀ",
    "({})~",
    {"mixed": "[{}]", "identity": "1", "one": "1", "trace": "tr({})", "determinant": "det({})",
     "axial": "axial({})", "conjugate": "{}*", "pure": "({})"},
)  # fmt: skip
_LATEX = _Style(
    _latex_of_symbol,
    lambda f: expr_latex(f),
    r"\left({}\right)",
    r"\,",
    r"{} \times {}",
    r"{} \cdot {}",
    lambda base, n: f"{{{base}}}^{{{n}}}",
    r"{{{}}}^{{\mathsf{{T}}}}",
    r"\widetilde{{{}}}",
    {"mixed": r"\left[{}\right]", "identity": r"\mathbf{{1}}", "one": "1",
     "trace": r"\operatorname{{tr}}\left({}\right)", "determinant": r"\det\left({}\right)",
     "axial": r"\operatorname{{axial}}\left({}\right)", "conjugate": r"\overline{{{}}}",
     "pure": r"\left({}\right)"},
)  # fmt: skip


def to_text(x: Formal) -> str:
    """Unicode text: ω̃ (J ω), [a, b, c], R̃₁ᵀ."""
    return _written(x, _TEXT)


def to_latex(x: Formal) -> str:
    """LaTeX, without dollars."""
    return _written(x, _LATEX)


def _written(root: Formal, style: _Style) -> str:
    done: dict[Formal, Written] = {}
    for node in topological(root):
        done[node] = _one(node, [done[arg] for arg in node.args], style)
    return done[root][0]


def _wrapped(written: Written, least: int, style: _Style) -> str:
    text, rank = written
    return text if rank >= least else style.parentheses.format(text)


def _one(node: Formal, args: list[Written], style: _Style) -> Written:
    op = node.op
    if op == "symbol":
        return style.symbol(node, False), _ATOM
    if op == "expr":
        return _formula(node.data, style)
    if op == "zero":
        return "0", _ATOM
    if op == "sum":
        return _sum(args, style), _SUM
    if op == "product":
        return _product(args, style)
    if op in ("cross", "dot"):
        both = [_wrapped(arg, _POWER, style) for arg in args]
        return (style.cross if op == "cross" else style.dot).format(*both), _OF_VECTORS
    if op == "power":
        return style.power(_wrapped(args[0], _ATOM, style), node.data), _POWER
    if op == "transpose":
        return style.transposed.format(_wrapped(args[0], _ATOM, style)), _POWER
    if op == "tilde":
        inner = node.args[0]
        is_symbol = inner.op == "symbol"
        text = style.symbol(inner, True) if is_symbol else style.tilde.format(args[0][0])
        return text, _ATOM
    if op == "conjugate":
        return style.words[op].format(_wrapped(args[0], _ATOM, style)), _ATOM
    return style.words.get(op, op + "({})").format(", ".join(arg[0] for arg in args)), _ATOM


def _formula(f: Expr, style: _Style) -> Written:
    text = style.formula(f)
    if f.op == "const":
        return text, _SIGN if text.startswith("-") else _PRODUCT if "/" in text else _ATOM
    rank = {"add": _SUM, "sub": _SUM, "neg": _SIGN, "mul": _PRODUCT, "div": _PRODUCT}
    return text, rank.get(f.op, _POWER if f.op == "pow" else _ATOM)


def _sum(args: list[Written], style: _Style) -> str:
    text = _wrapped(args[0], _SIGN, style)
    for arg in args[1:]:
        term = _wrapped(arg, _SIGN, style)
        text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def _product(args: list[Written], style: _Style) -> Written:
    sign = ""
    parts = list(args)
    while parts and parts[0] in (("-1", _SIGN),) and len(parts) > 1:
        sign = "" if sign else "-"
        parts = parts[1:]
    if len(parts) == 1:
        return sign + _wrapped(parts[0], _PRODUCT, style), _SIGN if sign else parts[0][1]
    first, rank = parts[0]
    if rank == _SIGN and first.startswith("-"):
        sign, parts[0] = ("" if sign else "-"), (first[1:], _PRODUCT)
    texts = [_wrapped(part, _PRODUCT, style) for part in parts]
    return sign + style.space.join(texts), _SIGN if sign else _PRODUCT


_REPR += [to_text, to_latex]
