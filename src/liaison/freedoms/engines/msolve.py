"""Input and output of msolve: polynomials as text, bases and rational parametrizations parsed.

Why it is here: Gröbner bases modulo a prime, which python-flint has not, and systems with more than
some twenty solutions, for which FLINT's plain algorithm is too slow.

Public names: Parametrization, parametrization, basis_modulo.

Source: BES21 (msolve and its files).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, TypeAlias, final

from liaison.lazy import Shown

from .engines import MSOLVE, EngineError

Terms: TypeAlias = Mapping[tuple[int, ...], Any]


@final
@dataclass(frozen=True, slots=True, repr=False)
class Parametrization(Shown):
    """x_i = −numerator_i(t) / (scale_i · denominator(t)) where elimination(t) = 0.

    Coefficients are whole numbers, lowest first. The last of `order` is t itself, or not asked for.
    """

    order: list[int]  # the unknown that each numerator is of, and last that which t is; −1 for none
    multiplicity: int
    elimination: list[int]
    denominator: list[int]
    numerators: list[tuple[list[int], int]]


def text_of(polynomials: Sequence[Terms], count: int, characteristic: int = 0) -> str:
    """The input file: names, characteristic, one polynomial a line."""
    lines = []
    for f in polynomials:
        scale = 1 if characteristic else lcm(*(Fraction(c).denominator for c in f.values()))
        terms = [_term(m, int(c * scale)) for m, c in f.items() if c]
        lines.append("".join(terms).removeprefix("+"))
    names = ",".join(f"x{i}" for i in range(count))
    return f"{names}\n{characteristic}\n" + ",\n".join(lines) + "\n"


def _term(monomial: Sequence[int], c: int) -> str:
    powers = [f"x{i}^{e}" for i, e in enumerate(monomial) if e]
    return f"{c:+d}" + "".join(f"*{power}" for power in powers)


def parametrization(polynomials: Sequence[Terms], count: int) -> Parametrization | None:
    """All solutions of a system over the rationals; None where they are infinitely many."""
    answer = MSOLVE.run(["-P", "2", "-f", "in", "-o", "out"], text_of(polynomials, count))
    return _parametrization(answer, count)


def _parametrization(answer: str, count: int) -> Parametrization | None:
    read = _list(answer)
    if read == [-1]:
        return Parametrization([], 0, [1], [1], [])
    if isinstance(read, list) and len(read) == 4 and read[0] == 1 and read[2] == -1:
        return None
    try:
        dimension, (characteristic, unknowns, degree, names, form, (_, (f, df, tops))) = read
        if dimension != 0 or characteristic != 0 or unknowns - count not in (0, 1):
            raise ValueError("another kind of answer")
        if len(tops) != unknowns - 1 or len(names) != len(form) or len(names) != unknowns:
            raise ValueError("not one numerator for each unknown")
        if unknowns == count and (any(form[:-1]) or form[-1] != 1):
            raise ValueError("the last unknown does not separate the solutions")
        numerators = [([_whole(c) for c in top[1]], _whole(scale)) for top, scale in tops]
        return Parametrization(
            [_place(name, count) for name in names], _whole(degree),
            [_whole(c) for c in f[1]], [_whole(c) for c in df[1]], numerators,
        )  # fmt: skip
    except (TypeError, ValueError) as error:
        raise EngineError(f"msolve's answer is not understood: {error}.") from None


def _place(name: str, count: int) -> int:
    """The unknown of a name; −1 for one that msolve added."""
    places = {f"x{i}": i for i in range(count)}
    return places.get(name, -1)


def _whole(x: Any) -> int:
    if type(x) is not int:
        raise ValueError(f"{x!r} is no whole number")
    return x


_WORD = re.compile(r"\s*(?:([\[\],])|(-?\d+)|'(\w+)')")


def _list(answer: str) -> Any:
    """The nested list of whole numbers and names that msolve writes; nothing else is let pass."""
    text = answer.strip().removesuffix(":")
    stack: list[list[Any]] = [[]]
    place, comma = 0, True
    while place < len(text):
        word = _WORD.match(text, place)
        sign = word.group(1) if word else None
        misplaced = sign != "]" and (sign == ",") == comma
        if word is None or misplaced or (sign == "]" and len(stack) == 1):
            raise EngineError(f"msolve's answer is not understood at {text[place : place + 20]!r}.")
        place = word.end()
        if sign == "[":
            stack.append([])
        elif sign == "]":
            done = stack.pop()
            stack[-1].append(done)
        elif sign is None:
            stack[-1].append(word.group(3) or _digits(word.group(2)))
        comma = sign in ("[", ",")
    if len(stack) != 1 or len(stack[0]) != 1:
        raise EngineError("msolve's answer is no list.")
    return stack[0][0]


def _digits(text: str) -> int:
    """A whole number of any length."""
    from flint import fmpz

    return int(fmpz(text)) if len(text) > 4000 else int(text)


def basis_modulo(
    polynomials: Sequence[Terms], count: int, p: int
) -> list[dict[tuple[int, ...], int]]:
    """The reduced standard basis modulo a prime p < 2³¹, order degrevlex."""
    answer = MSOLVE.run(["-g", "2", "-f", "in", "-o", "out"], text_of(polynomials, count, p))
    lines = [line for line in answer.splitlines() if not line.startswith("#")]
    text = "".join("".join(lines).split())
    if f"field characteristic: {p}" not in answer or not re.fullmatch(r"\[.*\]:", text):
        raise EngineError("msolve's basis is not understood.")
    return [_polynomial(word, count, p) for word in text[1:-2].split(",")]


_TERM = re.compile(r"([+-]?)(\d*)((?:\*?x\d+(?:\^\d+)?)*)")


def _polynomial(text: str, count: int, p: int) -> dict[tuple[int, ...], int]:
    """A polynomial as msolve writes it; every character must be understood."""
    terms: dict[tuple[int, ...], int] = {}
    place = 0
    while place < len(text):
        term = _TERM.match(text, place)
        if term is None or term.end() == place:
            raise EngineError(
                f"msolve's polynomial is not understood at {text[place : place + 20]!r}."
            )
        sign, digits, powers = term.groups()
        exponents = [0] * count
        for name, power in re.findall(r"x(\d+)(?:\^(\d+))?", powers):
            exponents[int(name)] += int(power or 1)
        c = int(digits or 1) * (-1 if sign == "-" else 1)
        key = tuple(exponents)
        terms[key] = (terms.get(key, 0) + c) % p
        place = term.end()
    return terms
