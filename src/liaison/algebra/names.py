"""Printed names of symbols: omega1 as ω₁ in text, with arrows and dots in LaTeX.

Public names: pretty_name, latex_symbol.
"""

from __future__ import annotations

import re
from unicodedata import normalize

from liaison.expr.reading.shared import latex_name

_GREEK_WORDS = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon phi chi psi omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
_GREEK = dict(zip(_GREEK_WORDS.split(), "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", strict=True))
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_HIGH = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_MARKS = {"tilde": "\u0303", 1: "\u0307", 2: "\u0308"}


def superscript(n: int) -> str:
    """A number as an exponent in text."""
    return str(n).translate(_HIGH)


def _head_and_rest(name: str) -> tuple[str, str]:
    """The letter or word that marks stand on, and all behind it."""
    match = re.match(r"([A-Za-z]+?)(?=\d|_|\(|$)", name)
    return (match[1], name[match.end() :]) if match else (name, "")


def _pretty_rest(rest: str) -> str:
    """What stands behind the head: an index, and in parentheses names of their own."""
    index, opening, inner = rest.partition("(")
    if opening:
        inner = ",".join(map(_inner, inner.removesuffix(")").split(","))) + ")"
    words = re.split(r"([A-Za-z]+)", index.lstrip("_"))
    return "".join(_GREEK.get(word, word).translate(_LOW) for word in words) + opening + inner


def _inner(part: str) -> str:
    """A point like G1 with its index, a Greek letter; any other name as it is."""
    return pretty_name(part) if re.fullmatch(r"[A-Za-z]\d+", part) or part in _GREEK else part


def pretty_name(name: str, *, order: int = 0, tilde: bool = False) -> str:
    """A name in Unicode: gamma(G1) → γ(G₁), r10 → r₁₀; with its dots and its tilde."""
    head, rest = _head_and_rest(name)
    head = _GREEK.get(head, head)
    tail = _pretty_rest(rest)
    is_plain = rest.startswith("_") or not re.search("[A-Za-z]", rest.partition("(")[0])
    if len(head) == 1 and order <= 2 and is_plain:
        marked = head + _MARKS.get(order, "") + (_MARKS["tilde"] if tilde else "")
        return normalize("NFC", marked) + tail
    text = head + tail + "'" * order
    return f"({text})~" if tilde else text


def latex_symbol(name: str, *, order: int = 0, is_vector: bool = False, tilde: bool = False) -> str:
    """A name typeset, with an arrow over a vector, dots for derivatives, and its tilde."""
    points = re.fullmatch(r"([A-Z]\d*)([A-Z]\d*)", name)
    if points:
        core = "".join(latex_name(point) for point in points.groups())
        return _marked(core, order, is_vector, tilde)
    head, rest = _head_and_rest(name)
    typeset = latex_name(head) if head else ""
    return _marked(typeset, order, is_vector, tilde) + _latex_rest(rest)


def _marked(core: str, order: int, is_vector: bool, tilde: bool) -> str:
    is_wide = len(core.lstrip("\\")) > 1 and not re.fullmatch(r"\\[A-Za-z]+", core)
    if is_vector and not tilde:
        core = rf"\overrightarrow{{{core}}}" if is_wide else rf"\vec{{{core}}}"
    if order:
        core = rf"\{'d' * order}ot{{{core}}}" if order <= 3 else rf"{core}^{{({order})}}"
    if tilde:
        core = rf"\widetilde{{{core}}}" if is_wide or order else rf"\tilde{{{core}}}"
    return core


def _latex_rest(rest: str) -> str:
    if not rest:
        return ""
    match = re.fullmatch(r"_?([A-Za-z0-9]*)((?:\(.*\))?)", rest)
    if not match:
        return latex_name("x" + rest)[1:]
    low = rf"_{{{latex_name(match[1])}}}" if match[1] else ""
    inner = match[2][1:-1]
    return low + (
        f"({','.join(latex_name(part.strip()) for part in inner.split(','))})" if inner else ""
    )
