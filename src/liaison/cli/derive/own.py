"""Equations in a formalism's own variables: H, S, γ, partial velocities, screws, as text.

Public names: own_words, Section, short, joined.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from liaison.equations import (
    BoltzmannHamel,
    Entries,
    Equations,
    GibbsAppell,
    Hamilton,
    Kane,
    LieGroup,
    Reduced,
)
from liaison.equations.letters import free_letter, multipliers_of, names_in_use
from liaison.equations.reading_order import order_of, squares_of
from liaison.expr import (
    Expr,
    as_expr,
    collector_paused,
    count_operations,
    substitute,
    symbol,
    to_text,
)
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.names import unicode_name
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.model import Mechanism
from liaison.verbs.derive.derive import derive
from liaison.verbs.gravity import with_named_gravity

Section = tuple[str, list[tuple[str, Expr]]]
"""A title, and named formulas."""

LONGEST = 400
"""A formula of more operations is printed with its shared parts named, not made short."""


def own_words(mechanism: Mechanism, formalism: str, digits: int) -> dict[str, Any]:
    """The facts: sections of named formulas, and the text of all of them."""
    with collector_paused():
        equations = derive(with_named_gravity(mechanism), formalism, exact=True)
        order, squares = order_of(equations), squares_of(equations)
        numbers = [symbol(x) for x in multipliers_of(equations)]
        numbered = dict(zip(equations.symbols.lam, numbers, strict=True))
        formulas_by_title = {
            title: {
                name: short(substitute([f], numbered)[0], order, digits, squares)
                for name, f in formulas
            }
            for title, formulas in _sections(equations)
        }
    lines = [f"{mechanism.name}, in the words of {formalism}"]
    rows = zip(numbers, equations.labels["lam"], strict=True)
    lines += [f"  {unicode_name(x.name)} is the multiplier of {label}" for x, label in rows]
    for title, formulas in formulas_by_title.items():
        named = [(unicode_name(name), text) for name, text in formulas.items()]
        lines += ["", title] + [f"  {joined(name, text)}" for name, text in named]
    if not formulas_by_title:
        lines += ["", "It has none besides the equations of motion: leave out --own."]
    return {"own": formulas_by_title, "text": "\n".join(lines)}


def joined(name: str, text: str) -> str:
    """A named formula on a line, with its shared parts below."""
    first, _, rest = text.rpartition("\n")
    shared = first.replace("\n", "\n    ")
    return f"{name} = {rest}" + (f"\n    with {shared}" if shared else "")


def short(f: Expr, order: Order, digits: int, squares: Mapping[Expr, Expr] | None = None) -> str:
    """A formula made short, where that can be done; else with named parts."""
    if sum(count_operations([f]).values()) <= LONGEST:
        try:
            return str(to_unicode(simplified(f, order, squares), digits))
        except TooLarge:
            pass
    return to_text(f)


def _sections(equations: Equations) -> Iterator[Section]:
    for native in equations.native.values():
        kind = WORDS.get(type(native))
        if kind is not None:
            yield from kind(equations, native)


def _hamilton(equations: Equations, own: Hamilton) -> Iterator[Section]:
    H, Q = _letter(equations, "H K E"), _letter(equations, "Q F")
    note = re.sub(r"\bQ\b", Q, re.sub(r"\bH\b", H, own.note))
    yield f"{note}\nHamiltonian", [(H, own.H)]
    names = [f"{x.name}'" for x in equations.symbols.q]
    yield "Rates of coordinates", list(zip(names, own.qdot, strict=True))
    yield "Rates of momenta", [(f"{p.name}'", x) for p, x in zip(own.p, own.pdot, strict=True)]
    yield "Momenta", [(p.name, x) for p, x in zip(own.p, own.momenta, strict=True)]


def _letter(equations: Equations, letters: str) -> str:
    """The first of the letters that the mechanism has no name for."""
    return free_letter(names_in_use(equations.symbols), letters, alone=True)


def _along(
    equations: Equations, M: Entries, h: Sequence[Expr], Q: Sequence[Expr], u: Sequence[Expr]
) -> Iterator[Section]:
    inertia, bias = _letter(equations, "M A J"), _letter(equations, "h b")
    yield "Mass matrix", [(f"{inertia}{i + 1}{j + 1}", x) for (i, j), x in sorted(M.items())]
    yield (
        "What else inertia and weight ask for",
        [(f"{bias} {a.name}", x) for a, x in zip(u, h, strict=True)],
    )
    yield from _efforts(equations, Q, u)


def _efforts(equations: Equations, Q: Sequence[Expr], u: Sequence[Expr]) -> Iterator[Section]:
    force = _letter(equations, "Q F")
    yield "Generalized forces", [(f"{force} {a.name}", x) for a, x in zip(u, Q, strict=True)]


def _kane(equations: Equations, own: Kane) -> Iterator[Section]:
    yield from _along(equations, own.M, own.h, own.Q, own.u)
    axes = ("wx", "wy", "wz", "vx", "vy", "vz")
    for body, speeds in own.partial_velocities.items():
        listed = [(f"∂{axis}/∂{speed}", x) for speed, six in speeds.items()
                  for axis, x in zip(axes, six, strict=True) if x is not as_expr(0)]  # fmt: skip
        yield f"Partial velocities of {body}, in its axes", listed


def _hamel(equations: Equations, own: BoltzmannHamel) -> Iterator[Section]:
    yield "Kinetic energy in quasi-velocities", [(_letter(equations, "T K E"), own.T)]
    letter = unicode_name(_letter(equations, "gamma c"))
    gamma = [(f"{letter}_{i + 1},{j + 1},{k + 1}", x) for (i, j, k), x in sorted(own.gamma.items())]
    yield f"Hamel's coefficients; quasi-velocities {', '.join(own.quasi_velocities)}", gamma
    yield from _efforts(equations, own.Q, own.u)


def _gibbs(equations: Equations, own: GibbsAppell) -> Iterator[Section]:
    yield "Energy of accelerations", [(_letter(equations, "S Z"), own.S)]
    yield from _efforts(equations, own.Q, own.u)


def _group(equations: Equations, own: LieGroup) -> Iterator[Section]:
    for body, screws in zip(own.bodies, own.screws, strict=True):
        axes = ("wx", "wy", "wz", "vx", "vy", "vz")
        listed = [(f"X{k + 1} {axis}", as_expr(x)) for k in range(screws.shape[1])
                  for axis, x in zip(axes, screws[:, k], strict=True)]  # fmt: skip
        yield f"Screws of the joint of {body}, at the ground's origin", listed


def _reduced(equations: Equations, own: Reduced) -> Iterator[Section]:
    yield (
        "Equations in independent velocities",
        [(f"{line.name}: left − right", line.left - line.right) for line in own.statement()],
    )
    names = [x.name for x in equations.symbols.v]
    dependent = [(name, x) for name, x in zip(names, own.velocity, strict=True)
                 if x.op != "symbol"]  # fmt: skip
    yield "Dependent velocities", dependent


WORDS: Mapping[type, Callable[[Equations, Any], Iterator[Section]]] = {
    Hamilton: _hamilton,
    Kane: _kane,
    BoltzmannHamel: _hamel,
    GibbsAppell: _gibbs,
    LieGroup: _group,
    Reduced: _reduced,
}
