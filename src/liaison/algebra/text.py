"""Formal expressions in any notation of formulas: Unicode text, LaTeX, MathML.

Public names: to_text, to_latex, to_mathml, written.
"""

from __future__ import annotations

from liaison.expr import Expr
from liaison.expr.graph.row import ATOM, CROSS, POWER, PRODUCT, SIGNED, SUM
from liaison.expr.reading.latex import LATEX
from liaison.expr.reading.mathml import MathML
from liaison.expr.reading.notation import Notation, Written
from liaison.expr.reading.shared import listing
from liaison.expr.reading.text import TEXT

from .node import _REPR, Atom, Formal, topological


def to_text(x: Formal) -> str:
    """Unicode text: ω̃ (J ω), [a, b, c], R̃₁ᵀ."""
    return written(x, TEXT)


def to_latex(x: Formal) -> str:
    """LaTeX, without dollars."""
    return written(x, LATEX)


def to_mathml(x: Formal) -> str:
    """The inside of a <math> element."""
    return f"<mrow>{written(x, MathML())}</mrow>"


def written(root: Formal, notation: Notation) -> str:
    """A formal expression in a notation that has vectors."""
    done: dict[Formal, Written] = {}
    for node in topological(root):
        done[node] = _one(node, [done[arg] for arg in node.args], notation)
    return done[root].text


def _one(node: Formal, args: list[Written], notation: Notation) -> Written:
    op = node.op
    if op == "symbol":
        return Written(_symbol(node, notation, tilde=False))
    if op == "expr":
        return _formula(node.data, notation)
    if op == "zero":
        return notation.number(0)
    if op == "sum":
        return Written(_sum(args, notation), SUM)
    if op == "product":
        return _product(args, notation)
    if op in ("cross", "dot"):
        both = [notation.wrapped(arg, POWER) for arg in args]
        return Written(notation.mark(op).format(*both), CROSS)
    if op == "operator":
        inner = notation.comma.join(arg.text for arg in args)
        return Written(notation.mark(op).format(notation.name(node.data.name), inner))
    if op == "power":
        return Written(notation.raised(notation.wrapped(args[0], ATOM), node.data), POWER)
    if op in ("inverse", "transpose"):
        return Written(notation.mark(op).format(notation.wrapped(args[0], ATOM)), POWER)
    if op == "tilde" and node.args[0].op == "symbol":
        return Written(_symbol(node.args[0], notation, tilde=True))
    if op == "conjugate":
        return Written(notation.mark(op).format(notation.wrapped(args[0], ATOM)))
    return Written(notation.mark(op).format(notation.comma.join(arg.text for arg in args)))


def _symbol(node: Formal, notation: Notation, *, tilde: bool) -> str:
    atom: Atom = node.data
    is_vector = node.kind == "vector"
    return notation.symbol(atom.name, order=atom.order, is_vector=is_vector, tilde=tilde)


_RANKS = {"add": SUM, "sub": SUM, "neg": SIGNED, "mul": PRODUCT, "div": PRODUCT, "pow": POWER}


def _formula(f: Expr, notation: Notation) -> Written:
    """A scalar formula in full: a factor has no lines of its own for shared parts."""
    (text,) = listing(f, notation, share=False).results
    if f.op == "const":
        is_negative = text.startswith(notation.sign)
        return Written(text, SIGNED if is_negative else PRODUCT if "/" in text else ATOM)
    return Written(text, _RANKS.get(f.op, ATOM))


def _sum(args: list[Written], notation: Notation) -> str:
    terms = [notation.wrapped(arg, SIGNED) for arg in args]
    sign = notation.sign
    return notation.joined(
        [(-1, x.removeprefix(sign)) if x.startswith(sign) else (1, x) for x in terms]
    )


def _product(args: list[Written], notation: Notation) -> Written:
    sign, parts = "", list(args)
    minus_one = Written(notation.number(-1).text, SIGNED)
    while len(parts) > 1 and parts[0] == minus_one:
        sign = "" if sign else notation.sign
        parts = parts[1:]
    if len(parts) == 1:
        text = sign + notation.wrapped(parts[0], PRODUCT)
        return Written(text, SIGNED if sign else parts[0].rank)
    first, rank = parts[0]
    if rank == SIGNED and first.startswith(notation.sign):
        sign = "" if sign else notation.sign
        parts[0] = Written(first.removeprefix(notation.sign), PRODUCT)
    texts = [notation.wrapped(part, PRODUCT) for part in parts]
    return Written(sign + notation.mark("product").join(texts), SIGNED if sign else PRODUCT)


_REPR += [to_text, to_latex]
