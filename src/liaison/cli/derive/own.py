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
from liaison.equations.formalisms.hamilton import (
    canonical_momenta,
    momentum_symbols,
    potential_and_forces,
)
from liaison.equations.letters import free_letter, multipliers_of, names_in_use
from liaison.equations.readable.readable import numbered_multipliers
from liaison.equations.reading_order import order_of, squares_of
from liaison.equations.reports import TreeReports
from liaison.expr import Expr, as_expr, collector_paused, count_operations, to_text, vanishes
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

Facts = dict[str, dict[str, str]]
"""Formulas as text, by title and name."""

LONGEST = 400
"""A formula of more operations is printed with its shared parts named, not made short."""

REST = "; the rest is 0"
NONE = "It has none besides the equations of motion: leave out --own."
ZERO_TEXT = "  all are zero"


def own_words(mechanism: Mechanism, formalism: str, digits: int) -> dict[str, Any]:
    """The facts: sections of named formulas, and the text of all of them."""
    with collector_paused():
        equations = derive(with_named_gravity(mechanism), formalism, exact=True)
        order, squares = order_of(equations), squares_of(equations)
        numbered = numbered_multipliers(equations)
        formulas_by_title: Facts = {}
        for title, formulas in _sections(equations):
            texts = [short(f, order, digits, squares) for f in numbered([f for _, f in formulas])]
            pairs = zip((name for name, _ in formulas), texts, strict=True)
            is_sparse = title.endswith(REST)
            formulas_by_title[title] = {x: y for x, y in pairs if y != "0" or not is_sparse}
    lines = [f"{mechanism.name}, in the words of {formalism}"]
    for title, texts_by_name in formulas_by_title.items():
        named = [(unicode_name(name), text) for name, text in texts_by_name.items()]
        listed = [f"  {joined(name, text)}" for name, text in named]
        lines += ["", title, *(listed or [ZERO_TEXT])]
    lines += _legend(equations, "\n".join(lines)) if formulas_by_title else ["", NONE]
    return {"own": formulas_by_title, "text": "\n".join(lines)}


def _legend(equations: Equations, text: str) -> list[str]:
    """What the multipliers in a text are."""
    names = [unicode_name(x) for x in multipliers_of(equations)]
    pairs = zip(names, equations.labels["lam"], strict=True)
    listed = [f"  {name}: {label}" for name, label in pairs if name in text]
    return ["", "Multipliers", *listed] if listed else []


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
    if equations.formalism == "lagrange" and isinstance(equations.reports, TreeReports):
        yield from _lagrange(equations, equations.reports)
    for native in equations.native.values():
        kind = WORDS.get(type(native))
        if kind is not None:
            yield from kind(equations, native)


def _lagrange(equations: Equations, reports: TreeReports) -> Iterator[Section]:
    """T, U, V of L, the momenta ∂L/∂v, and forces without a potential."""
    setting = reports.setting
    U, Q = potential_and_forces(setting)
    V = setting.rate_potential
    energies = [("T", reports.energy[0]), ("U", U)]
    if vanishes(V):
        yield "Lagrangian L = T − U", energies
    else:
        yield "Lagrangian L = T − U − V, with V of velocities", [*energies, ("V", V)]
    names = [x.name for x in momentum_symbols(setting)]
    yield "Momenta ∂L/∂v", list(zip(names, canonical_momenta(setting), strict=True))
    if not all(map(vanishes, Q)):
        yield from _efforts(equations, Q, equations.symbols.v, " without a potential")


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
    force = _letter(equations, "Q F")
    entries = [
        (f"{inertia}{i + 1}{j + 1}", x) for (i, j), x in sorted(M.items()) if not vanishes(x)
    ]
    yield "Mass matrix", entries
    yield (
        f"Products of velocities, and weight, {bias} of {inertia} u̇ + {bias} = {force}",
        [(f"{bias} {a.name}", x) for a, x in zip(u, h, strict=True)],
    )
    yield from _efforts(equations, Q, u, ", weight left out")


def _efforts(
    equations: Equations, Q: Sequence[Expr], u: Sequence[Expr], which: str
) -> Iterator[Section]:
    force = _letter(equations, "Q F")
    names = [f"{force} {a.name.replace(' ', '_')}" for a in u]
    yield f"Generalized forces{which}", list(zip(names, Q, strict=True))


def _kane(equations: Equations, own: Kane) -> Iterator[Section]:
    yield from _along(equations, own.M, own.h, own.Q, own.u)
    axes = ("wx", "wy", "wz", "vx", "vy", "vz")
    for body, speeds in own.partial_velocities.items():
        listed = [(f"∂{axis}/∂{speed}", x) for speed, six in speeds.items()
                  for axis, x in zip(axes, six, strict=True) if not vanishes(x)]  # fmt: skip
        yield f"Partial velocities of {body}, in its axes", listed


def _hamel(equations: Equations, own: BoltzmannHamel) -> Iterator[Section]:
    yield "Kinetic energy in quasi-velocities", [(_letter(equations, "T K E"), own.T)]
    rates = list(zip((f"{x.name}'" for x in equations.symbols.q), own.qdot, strict=True))
    if own.u != equations.symbols.v:
        yield "Rates of coordinates", rates
    letter = unicode_name(_letter(equations, "gamma c"))
    gamma = [(f"{letter}_{i + 1},{j + 1},{k + 1}", x) for (i, j, k), x in sorted(own.gamma.items())]
    numbered = (f"{k + 1} {x.replace(' ', '_')}" for k, x in enumerate(own.quasi_velocities))
    yield f"Hamel's coefficients; quasi-velocities {', '.join(numbered)}", gamma
    yield from _efforts(equations, own.Q, own.u, ", weight included")


def _gibbs(equations: Equations, own: GibbsAppell) -> Iterator[Section]:
    yield "Energy of accelerations", [(_letter(equations, "S Z"), own.S)]
    yield from _efforts(equations, own.Q, own.u, ", weight included")


def _group(equations: Equations, own: LieGroup) -> Iterator[Section]:
    names = iter(equations.symbols.v)
    for body, screws in zip(own.bodies, own.screws, strict=True):
        axes = ("wx", "wy", "wz", "vx", "vy", "vz")
        columns = [(next(names).name, screws[:, k]) for k in range(screws.shape[1])]
        listed = [(f"{axis} of {name}", as_expr(x)) for name, column in columns
                  for axis, x in zip(axes, column, strict=True)
                  if not vanishes(as_expr(x))]  # fmt: skip
        yield f"Screws of the joint of {body}, at the ground's origin{REST}", listed


def _reduced(equations: Equations, own: Reduced) -> Iterator[Section]:
    yield (
        "Equations in independent velocities",
        [(f"{line.name}: 0", line.left - line.right) for line in own.statement()],
    )
    independent = {label.name for label in own.independent}
    pairs = zip(equations.symbols.v, own.velocity, strict=True)
    yield "Dependent velocities", [(v.name, x) for v, x in pairs if v.name not in independent]


WORDS: Mapping[type, Callable[[Equations, Any], Iterator[Section]]] = {
    Hamilton: _hamilton,
    Kane: _kane,
    BoltzmannHamel: _hamel,
    GibbsAppell: _gibbs,
    LieGroup: _group,
    Reduced: _reduced,
}
