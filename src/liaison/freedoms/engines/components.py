"""All components of a closure: minimal primes of a polynomial ideal, through Singular.

Where a mechanism has several assembly branches the variety of its closure is a union; each
irreducible part (over the rationals) comes with its dimension and its own equations.

Why it is here: neither FLINT nor msolve decomposes an ideal, and branches at a position
(local/obstruction.py) are not components of the whole variety.

Public names: Component, components_of.

Source: CLO15 §4.8 (primary decomposition); the question is PA's ("anneau pas intègre").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from liaison.expr import ZERO, Expr, as_expr, constant
from liaison.freedoms.clock import MEMORY_LIMIT, TIME_LIMIT, bounded

from .engines import SINGULAR, EngineError
from .ideal import polynomials_of


@final
@dataclass(frozen=True, slots=True)
class Component:
    """An irreducible part of a variety."""

    dimension: int
    equations: tuple[Expr, ...]  # generate its prime ideal


PROGRAM = """LIB "primdec.lib";
ring r = 0, ({names}), dp;
short = 0;
ideal i = {ideal};
list l = minAssGTZ(i);
int k; int j;
for (k = 1; k <= size(l); k++)
{{
  ideal g = std(l[k]);
  print("component " + string(dim(g)));
  for (j = 1; j <= size(g); j++) {{ print("= " + string(g[j])); }}
  kill g;
}}
print("end");
quit;
"""


def components_of(
    formulas: Sequence[Any],
    unknowns: Sequence[Expr],
    *,
    time_limit: float = TIME_LIMIT,
    memory_limit: float = MEMORY_LIMIT,
) -> list[Component]:
    """The irreducible components of a variety over the rationals, largest first.

    Args:
        formulas: polynomials with rational coefficients.
        unknowns: of them.
        time_limit: wall clock [s].
        memory_limit: bytes.

    Raises:
        NotThere: Singular is not there.
        Exhausted: out of time or memory.
    """
    names = ",".join(f"x{k}" for k in range(len(unknowns)))
    ideal = ", ".join(_text(f) for f in polynomials_of(formulas, unknowns))
    with bounded(time_limit, memory_limit):
        text = PROGRAM.format(names=names, ideal=ideal)
        answer = SINGULAR.run(["-q", "-t", "--no-rc", "--no-shell", "--no-warn", "in"], text)
    return sorted(_read(answer, unknowns), key=lambda part: -part.dimension)


def _text(f: Any) -> str:
    terms = []
    for m, c in f.to_dict().items():
        powers = [f"*x{k}^{int(e)}" for k, e in enumerate(m) if e]
        terms.append(f"({int(c.p)}/{int(c.q)})" + "".join(powers))
    return "+".join(terms) or "0"


def _read(answer: str, unknowns: Sequence[Expr]) -> list[Component]:
    """Every line must be one that the program prints."""
    lines = [line.strip() for line in answer.splitlines() if line.strip()]
    if not lines or lines[-1] != "end":
        raise EngineError(f"Singular did not come to its end: {' '.join(lines)[-200:]}")
    components: list[tuple[int, list[Expr]]] = []
    for line in lines[:-1]:
        if head := re.fullmatch(r"component (-?\d+)", line):
            components.append((int(head.group(1)), []))
        elif line.startswith("= ") and components:
            components[-1][1].append(_formula(line[2:].replace(" ", ""), unknowns))
        else:
            raise EngineError(f"Singular printed what is not understood: {line[:80]!r}.")
    return [Component(dimension, tuple(equations)) for dimension, equations in components
            if dimension >= 0]  # fmt: skip


_FACTOR = r"(?:x\d+(?:\^\d+)?|\d+(?:/\d+)?)"
_TERM = re.compile(rf"([+-]?)({_FACTOR}(?:\*{_FACTOR})*)")


def _formula(text: str, unknowns: Sequence[Expr]) -> Expr:
    total, place = ZERO, 0
    while place < len(text):
        term = _TERM.match(text, place)
        if term is None:
            raise EngineError(f"Singular's polynomial is not understood: {text[place:][:40]!r}.")
        value = constant(-1 if term.group(1) == "-" else 1)
        for factor in term.group(2).split("*"):
            value = as_expr(value * _factor(factor, unknowns))
        total, place = as_expr(total + value), term.end()
    return total


def _factor(text: str, unknowns: Sequence[Expr]) -> Expr:
    if not text.startswith("x"):
        return constant(Fraction(text))
    name, _, power = text[1:].partition("^")
    return as_expr(unknowns[int(name)] ** int(power or 1))
