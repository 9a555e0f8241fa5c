"""Formulas within sentences: M v̇ + h = τ of a page becomes $M\\,\\dot{v}+h=\\tau$.

A formula is a run of words made of letters that stand alone, numbers, signs and names of functions.
A run with a sign that is not known here stays as it is.
"""

from __future__ import annotations

import re
from unicodedata import combining, normalize

FUNCTIONS = "sin cos tan asin acos atan exp log ln det tr rank max min sign dim ker atan2 cosh sinh"
STANDARD = set("sin cos tan exp log ln det max min dim ker cosh sinh".split())
GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho "
    "varsigma sigma tau upsilon varphi chi psi omega"
).split()
SIGNS = {
    "−": "-", "·": r"\cdot ", "×": r"\times ", "≤": r"\le ", "≥": r"\ge ", "≠": r"\ne ",
    "≈": r"\approx ", "∈": r"\in ", "→": r"\to ", "⇒": r"\Rightarrow ", "∞": r"\infty ",
    "∂": r"\partial ", "∫": r"\int ", "±": r"\pm ", "…": r"\dots ", "½": r"\tfrac{1}{2}",
    "⊞": r"\boxplus ", "∘": r"\circ ", "∇": r"\nabla ", "≪": r"\ll ", "≫": r"\gg ", "⟂": r"\perp ",
    "⅓": r"\tfrac{1}{3}", "¼": r"\tfrac{1}{4}", "∝": r"\propto ", "≡": r"\equiv ", "∩": r"\cap ",
    "ϱ": r"\varrho ", "ℓ": r"\ell ", "∧": r"\wedge ", "°": r"^{\circ}", "‖": r"\Vert ",
    "ϕ": r"\phi ",
}  # fmt: skip
SIGNS |= {chr(0x3B1 + k): f"\\{x} " for k, x in enumerate(GREEK)}
SIGNS |= dict(zip("ΓΔΘΛΞΠΣΦΨΩ", (
    r"\Gamma ", r"\Delta ", r"\Theta ", r"\Lambda ", r"\Xi ", r"\Pi ", r"\sum ", r"\Phi ",
    r"\Psi ", r"\Omega ",
)))  # fmt: skip
ABOVE = {"\u0307": "dot", "\u0308": "ddot", "\u0303": "tilde", "\u0302": "hat", "\u0304": "bar",
         "\u20d7": "vec", "\u20db": "dddot"}  # fmt: skip
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋ᵢⱼₖₙₘₓ", "0123456789+-ijknmx"))
RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ᵀⁿᵏ", ["0", *"123456789", "+", "-", r"\mathsf{T}", "n", "k"]))
OPERATORS = set("= + − - · × / ≤ ≥ ≠ ≈ ∈ < > → ⇒ ± ≪ ≫ ∝ ≡ ∘ ⊞ ∧".split())
BETWEEN = re.compile(r"(`+[^`]*`+|\[[^\]]*\]\([^)]*\)|\$[^$]*\$|<[^>]*>|\*\*?|https?:\S+)")
NAME = re.compile(r"[A-Za-z]{2,}\d*")
LETTER = re.compile(r"[B-HJ-Zb-z]")
PLAIN = re.compile(r"[\d.,;:()–-]*|C|[A-Z]\.")
MEASURED = re.compile(r"[−-]?[\d.,]+(e[−-]?\d+)?( ?[A-Za-z°µ·/²³]{1,3})*")
"""A number, with a unit or without: 0.1 s, 3e-13, 12 N m."""


def with_inline_formulas(text: str) -> str:
    """A page whose sentences have their formulas as TeX."""
    return "\n".join(map(_line, text.split("\n")))


def _line(line: str) -> str:
    if line.startswith(("#", "    ", "|-", "$$", "```")) or line.strip().startswith(":"):
        return line
    parts = BETWEEN.split(line)
    parts[::2] = [_sentence(x) for x in parts[::2]]
    return "".join(parts)


def _sentence(text: str) -> str:
    """Runs of words that are formulas, replaced."""
    words = re.split(r"(\s+)", text)
    shown: list[str] = []
    k = 0
    while k < len(words):
        end = _end_of_run(words, k)
        run = "".join(words[k:end])
        tex = _formula(run) if end > k else ""
        if not tex and run.count("(") > run.count(")"):  # a bracket of the sentence
            shorter = k + 2 * (len(run[: run.rindex("(")].split()) - 1) + 1
            shorter -= 2 * (words[shorter - 1] in OPERATORS)
            tex = _formula("".join(words[k:shorter])) if shorter > k else ""
            end = shorter if tex else end
        shown.append(tex or words[k] if end <= k + 1 else tex or run)
        k = max(end, k + 1)
    return "".join(shown)


def _end_of_run(words: list[str], k: int) -> int:
    """Behind the last word of the run that begins with word k; k where none does."""
    end = j = k
    if words[k] in OPERATORS:
        return k
    while j < len(words) and _is_part(words, j):
        end = j + 1
        so_far = "".join(words[k:end])
        if words[j][-1:] in ",;:." and so_far.count("(") <= so_far.count(")"):
            break
        j += 2
        if j - 1 < len(words) and words[j - 1] != " ":
            break
    while end > k and (words[end - 1] in OPERATORS or _is_name(words[end - 1])):
        end -= 2
    return max(end, k)


def _is_name(word: str) -> bool:
    """Whether a word is the name of a function alone: the rank, say, within a sentence."""
    return word.strip("()[]|,;:.") in FUNCTIONS.split()


def _is_part(words: list[str], k: int) -> bool:
    """Whether a word may be part of a formula."""
    word = words[k].strip("()[]|,;:.")
    if not words[k].strip():
        return False
    if words[k] in OPERATORS:
        return True
    if word in ("a", "A", "I"):
        near = {words[j] for j in (k - 2, k + 2) if 0 <= j < len(words)}
        return bool(near & (OPERATORS | {"Σ", "∂"}))
    bare = re.sub(r"_(\{[^}]*\}|\w+)", "", normalize("NFC", word))
    names = [x for x in NAME.findall(normalize("NFD", bare)) if x not in FUNCTIONS.split()]
    return not names and bool(word) and to_tex(word) is not None


def _formula(run: str) -> str:
    """The run as TeX between dollars, the signs of the sentence outside; "" for plain words."""
    before = re.match(r"[(\[]*", run)[0]  # type: ignore[index]
    inner = run[len(before) :]
    tail = re.search(r"[.,;:]*$", inner)[0]  # type: ignore[index]
    inner = inner[: len(inner) - len(tail)]
    while inner.count(")") > inner.count("("):
        if not inner.endswith(")"):
            return ""
        inner, tail = inner[:-1], ")" + tail
    while before and inner.count("(") < inner.count(")") + 0:
        before, inner = before[:-1], before[-1] + inner
    if inner.count("(") != inner.count(")") or inner.count("[") != inner.count("]"):
        return ""
    is_formula = not (PLAIN.fullmatch(inner) or MEASURED.fullmatch(inner))
    is_formula = is_formula and not re.fullmatch(r"[\d\s.,–/−+-]*%?", inner)
    if not is_formula or (len(inner) == 1 and inner.isascii() and not LETTER.fullmatch(inner)):
        return ""
    tex = to_tex(re.sub(r" ([=+−·×/≤≥≠≈∈<>→⇒±≪≫∝≡∘⊞∧-]) ", r"\1", inner))
    tex = re.sub(r"_\{([^{}]*)\}_\{", r"_{\1", tex or "")
    return f"{before}${tex.strip()}${tail}" if tex and not has_double_script(tex) else ""


def has_double_script(tex: str) -> bool:
    """Whether a subscript or superscript follows another one of its kind at once."""
    marks: list[str] = []
    for k, one in enumerate(tex):
        if one == "{":
            marks.append(tex[k - 1] if k and tex[k - 1] in "_^" else "")
        elif one == "}":
            mark = marks.pop()
            if mark and tex[k + 1 : k + 2] == mark:
                return True
    return False


def to_tex(text: str) -> str | None:
    """A formula as TeX; None where a sign is not known."""
    tex, k = "", 0
    text = normalize("NFD", text)
    while k < len(text):
        one = text[k]
        script = LOWERED if one in LOWERED else RAISED if one in RAISED else None
        name = NAME.match(text, k)
        if script is not None:
            end = k
            while end < len(text) and text[end] in script:
                end += 1
            mark = "_" if script is LOWERED else "^"
            tex += f"{mark}{{{''.join(script[x] for x in text[k:end])}}}"
            k = end
        elif one in "_^":
            match = re.match(r"[_^](?:\{([^}]*)\}|([^\W_]+|[+-]))", text[k:])
            inner = match and (to_tex(match[1] or match[2]) if len(match[1] or match[2]) < 2
                               else _script(match[1] or match[2]))  # fmt: skip
            if not match or inner is None:
                return None
            tex, k = tex + f"{one}{{{inner}}}", k + match.end()
        elif one == "√":
            match = re.match(r"√(?:\(([^()]*)\)|(\d+|\w(?![a-z])))", text[k:])
            inner = match and to_tex(match[1] or match[2])
            if not match or inner is None:
                return None
            tex, k = tex + rf"\sqrt{{{inner}}}", k + match.end()
        elif name and name[0] in FUNCTIONS.split():
            word = name[0]
            tex += f"\\{word} " if word in STANDARD else rf"\operatorname{{{word}}} "
            k += len(word)
        elif one in SIGNS or (one.isascii() and (one.isalnum() or one in "=+-/<>()[]|.,;:' !")):
            core, k = SIGNS.get(one, one), k + 1
            while k < len(text) and combining(text[k]):
                if text[k] not in ABOVE:
                    return None
                core, k = rf"\{ABOVE[text[k]]}{{{core.strip()}}}", k + 1
            tex += r"\, " if core == " " else core
        else:
            return None
    return tex


def _script(word: str) -> str | None:
    """A word below or above the line: letters upright, formulas as they are."""
    is_word = word.isascii() and word.isalpha() and not set(word) <= set("ijklmnpqrsxyz")
    return rf"\mathrm{{{word}}}" if is_word else to_tex(word)
