"""Names of symbols as they are printed: theta1' is θ₁' in Unicode and \\dot{\\theta}_{1} in LaTeX.

Labels of formulas carry primes for rates; symbols of vectors carry an order of differentiation, an
arrow and a tilde.

Public names: GREEK, unicode_name, unicode_symbol, latex_name, latex_symbol, raised.
"""

from __future__ import annotations

import re
from unicodedata import normalize

_GREEK_NAMES = [
    "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "omicron", "pi", "rho", "final_sigma", "sigma", "tau", "upsilon",
    "phi", "chi", "psi", "omega",
]  # fmt: skip
GREEK = {name: chr(0x3B1 + k) for k, name in enumerate(_GREEK_NAMES)}
GREEK |= {name.capitalize(): chr(0x391 + k) for k, name in enumerate(_GREEK_NAMES)}
_VARIANTS = {
    "varepsilon": "ϵ", "vartheta": "ϑ", "varkappa": "ϰ", "varpi": "ϖ", "varrho": "ϱ",
    "varsigma": "ς", "varphi": "ϕ",
}  # fmt: skip
GREEK |= _VARIANTS
_TEX_CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
_TEX_WORDS = {*_GREEK_NAMES, *_VARIANTS, *_TEX_CAPITALS.split()} - {"omicron", "final_sigma"}
_TEX_GREEK = {name: GREEK[name] for name in _TEX_WORDS}
_TEX_LETTERS = {letter: name for name, letter in _TEX_GREEK.items()}
_NUMBERED = re.compile(r"([^\W\d_]+?)_?(\d+)")
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_DOTS = {1: "\u0307", 2: "\u0308"}
_TILDE = "\u0303"


def raised(n: int) -> str:
    """A whole number as a Unicode exponent."""
    return str(n).translate(_RAISED)


# Labels of formulas -----------------------------------------------------------------------------


def unicode_name(name: str) -> str:
    """A label as it is read: theta'' is θ'', m1 is m₁, Omega_x is Ω_x.

    Rates have primes, as in descriptions and in names of columns: fonts of terminals put dots
    beside a Greek letter, and Ä is a letter of its own.
    """
    base = name.rstrip("'")
    dots = len(name) - len(base)
    if not re.fullmatch(r"[^\W\d]\w*(\.\w+)*", base):
        return name
    first, *rest = base.split(".")
    head, mark, index = first.partition("_")
    if not (mark and index) or index.isdigit():
        head, mark, index = _unicode_word(first), "", ""
    else:
        head, index = _unicode_word(head), "_".join(map(_unicode_index, index.split("_")))
    behind = mark + index + "".join(f".{_unicode_index(x)}" for x in rest)
    return head + behind + "'" * dots


def _unicode_index(word: str) -> str:
    """theta1 → θ₁, x2 → x₂; the number of a word stays on its line, dof1."""
    shown = _unicode_word(word)
    return shown if not shown[1:].strip("₀₁₂₃₄₅₆₇₈₉") else GREEK.get(word, word)


def _unicode_word(word: str) -> str:
    """theta1 → θ₁, x → x; a word keeps its letters."""
    numbered = _NUMBERED.fullmatch(word)
    head, index = numbered.groups() if numbered else (word, "")
    return GREEK.get(head, head) + index.translate(_LOWERED)


def latex_name(name: str) -> str:
    """A label typeset: q[0] → q_{0}, crank.x → crank_{x}, A' → \\dot{A}, m1 → m_{1}."""
    base = name.rstrip("'")
    dots = len(name) - len(base)
    words = [word for word in re.split(r"[\[\].,_ ]+", base) if word]
    numbered = _NUMBERED.fullmatch(words[0]) if words else None
    if numbered:
        words[:1] = [numbered[1], numbered[2]]
    head, *rest = words or [base]
    text = _dotted(_latex_word(head), dots)
    return text + (rf"_{{{','.join(map(_latex_index, rest))}}}" if rest else "")


def _latex_index(word: str) -> str:
    """A word below the line; a Greek letter with its own number, \\theta_{1}."""
    numbered = _NUMBERED.fullmatch(word)
    if numbered and {numbered[1]} & {*_TEX_GREEK, *_TEX_LETTERS}:
        return rf"{_latex_word(numbered[1])}_{{{numbered[2]}}}"
    return _latex_word(word)


def _latex_word(word: str) -> str:
    if word in _TEX_GREEK or word in _TEX_LETTERS:
        return "\\" + _TEX_LETTERS.get(word, word)
    escaped = re.sub(r"([_%&#$])", r"\\\1", word)
    return escaped if len(word) <= 1 or word.isdigit() else rf"\mathrm{{{escaped}}}"


def _dotted(core: str, dots: int) -> str:
    if not dots:
        return core
    return rf"\{'d' * dots}ot{{{core}}}" if dots <= 3 else rf"{core}^{{({dots})}}"


# Symbols of vectors and matrices ----------------------------------------------------------------


def _head_and_rest(name: str) -> tuple[str, str]:
    """The letter or word that marks stand on, and all behind it."""
    match = re.match(r"([A-Za-z]+?)(?=\d|_|\(|$)", name)
    return (match[1], name[match.end() :]) if match else (name, "")


def unicode_symbol(name: str, *, order: int = 0, tilde: bool = False) -> str:
    """A name in Unicode: gamma(G1) → γ(G₁), r10 → r₁₀; with its dots and its tilde."""
    head, rest = _head_and_rest(name)
    head = _TEX_GREEK.get(head, head)
    tail = _unicode_rest(rest)
    is_plain = rest.startswith("_") or not re.search("[A-Za-z]", rest.partition("(")[0])
    if len(head) == 1 and order <= 2 and is_plain:
        marked = head + _DOTS.get(order, "") + (_TILDE if tilde else "")
        return normalize("NFC", marked) + tail
    text = head + tail + "'" * order
    return f"({text})~" if tilde else text


def _unicode_rest(rest: str) -> str:
    """What follows the head: an index, and in parentheses names of their own."""
    index, opening, inner = rest.partition("(")
    if opening:
        inner = ",".join(map(_unicode_inner, inner.removesuffix(")").split(","))) + ")"
    words = re.split(r"([A-Za-z]+)", index.lstrip("_"))
    lowered = "".join(_TEX_GREEK.get(word, word).translate(_LOWERED) for word in words)
    return lowered + opening + inner


def _unicode_inner(part: str) -> str:
    """A point like G1 with its index, a Greek letter; any other name as it is."""
    is_symbol = re.fullmatch(r"[A-Za-z]\d+", part) or part in _TEX_GREEK
    return unicode_symbol(part) if is_symbol else part


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
    core = _dotted(core, order)
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
