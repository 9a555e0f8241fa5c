"""One mechanism in four parametrizations: the comparison of textbooks, measured.

Public names: parametrizations, Parametrizations, Measured, CRITERIA.

Source: docs/theory/parametrizations.md; JB94 §2.5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, final

from liaison.equations import FORMALISMS, Equations
from liaison.equations.transform.parametrization import derived_in
from liaison.equations.transform.treatment import Treated
from liaison.errors import LiaisonError, NamingError
from liaison.exact.degrees import degree_bound
from liaison.expr import Expr, as_expr, collector_paused, count_operations, symbols_of
from liaison.model import Mechanism
from liaison.model.contacts import refuse_sides
from liaison.tree import Tree
from liaison.tree.parametrize.cartesian import PARAMETRIZATIONS, known_parametrization

from .parametrizations_run import Moved, moved


@final
@dataclass(frozen=True, slots=True)
class Measured:
    """One parametrization of a mechanism: a column of the table.

    Attributes:
        name: of the parametrization.
        why_not: why it does not apply; empty if it does.
        parameters: coordinates whose accelerations are unknowns.
        constraints: rows between them, those left out that no motion can violate.
        independent: rows that do not follow from others, where the mechanism starts.
        kept: further coordinates, of joints that loads or outputs name, each tied by a row.
        degree: of the equations as rational functions of velocities, lengths, sines and cosines.
        coupled: coordinates in one equation at most, and coordinates.
        operations: of M, τ − h, G and γ, every shared part once.
        derivation: processor time [s].
        evaluation: of all accelerations, once, in machine code [s].
        condition: of the matrix that is solved for them, where the mechanism starts.
        drift: largest |Φ| after a run without corrections [m, 1].
        reactions: joints whose reaction is among the unknowns, and joints.
        difference: of the accelerations of all bodies from those of "joint", relative.
    """

    name: str
    why_not: str = ""
    parameters: int = 0
    constraints: int = 0
    independent: int = 0
    kept: int = 0
    degree: int = 0
    coupled: tuple[int, int] = (0, 0)
    operations: int = 0
    derivation: float = math.nan
    evaluation: float = math.nan
    condition: float = math.nan
    drift: float = math.nan
    reactions: tuple[int, int] = (0, 0)
    difference: float = math.nan

    def facts(self) -> dict[str, Any]:
        """As JSON takes it."""
        found = asdict(self)
        return {k: None if isinstance(x, float) and math.isnan(x) else x for k, x in found.items()}


CRITERIA: Sequence[tuple[str, Callable[[Measured], str]]] = (
    ("parameters", lambda x: str(x.parameters) + (f" + {x.kept}" if x.kept else "")),
    ("differential equations", lambda x: str(x.parameters + x.kept)),
    ("algebraic constraints", lambda x: str(x.constraints) + (f" + {x.kept}" if x.kept else "")),
    ("of them independent", lambda x: str(x.independent)),
    ("degree of the equations", lambda x: str(x.degree)),
    ("deriving: operations", lambda x: str(x.operations)),
    ("deriving: time", lambda x: f"{x.derivation * 1e3:.1f} ms"),
    ("one evaluation", lambda x: f"{x.evaluation * 1e6:.2f} µs"),
    ("coordinates in one equation", lambda x: "{} of {}".format(*x.coupled)),
    ("condition number", lambda x: f"{x.condition:.2g}"),
    ("drift of closures", lambda x: f"{x.drift:.1e}"),
    ("joints with reactions at once", lambda x: "{} of {}".format(*x.reactions)),
    ("bodies' accelerations differ by", lambda x: f"{x.difference:.1e}"),
)
"""Lines of the table: the seven criteria of the document, then what users ask next."""


@final
@dataclass(frozen=True, slots=True)
class Parametrizations:
    """The table: every criterion for every parametrization."""

    name: str
    formalism: str
    columns: tuple[Measured, ...]

    def __getitem__(self, name: str) -> Measured:
        found = {column.name: column for column in self.columns}
        if name not in found:
            raise NamingError.unknown("parametrization", name, found)
        return found[name]

    def facts(self) -> dict[str, Any]:
        """As JSON takes it."""
        columns = [column.facts() for column in self.columns]
        return {"name": self.name, "formalism": self.formalism, "parametrizations": columns}

    def __str__(self) -> str:
        good = [column for column in self.columns if not column.why_not]
        lines = [(f"{self.name}, by {self.formalism}", *(x.name for x in good))]
        lines += [(word, *(told(x) for x in good)) for word, told in CRITERIA]
        widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
        table = [
            "  ".join([line[0].ljust(widths[0]),
                       *(x.rjust(w) for x, w in zip(line[1:], widths[1:], strict=True))])
            for line in lines
        ]  # fmt: skip
        return "\n".join([*table, *(f"{x.name}: {x.why_not}" for x in self.columns if x.why_not)])


def parametrizations(
    mechanism: Mechanism,
    names: Iterable[str] = PARAMETRIZATIONS,
    *,
    formalism: str = "lagrange",
    until: float = 1.0,
    step: float = 1e-3,
) -> Parametrizations:
    """Derives, compiles and runs a mechanism in several parametrizations, and compares them.

    Args:
        mechanism: any that can be assembled.
        names: of parametrizations.
        formalism: by name.
        until: how long closures may drift [s].
        step: of the fourth-order method that lets them [s].

    Raises:
        NamingError: no such parametrization or formalism.
        DerivationError: something holds on one side only.
    """
    refuse_sides(mechanism.contacts, "parametrizations")
    if formalism not in FORMALISMS:
        raise NamingError.unknown("formalism", formalism, FORMALISMS)
    asked = list(dict.fromkeys(known_parametrization(name) for name in names))
    with collector_paused():
        reference = _moved(mechanism, "joint", formalism, (0.0, step))
        found = [_measured(mechanism, name, formalism, (until, step), reference) for name in asked]
    return Parametrizations(mechanism.name, formalism, tuple(found))


def _derived(mechanism: Mechanism, name: str, formalism: str) -> tuple[Tree, Equations]:
    tree, made = derived_in(mechanism, FORMALISMS[formalism], name)
    dict(made.dynamics.M)  # what is deferred is derived, too
    return tree, made


def _moved(mechanism: Mechanism, name: str, formalism: str, run: tuple[float, float]) -> Moved:
    tree, made = _derived(mechanism, name, formalism)
    return moved(tree, made, *run)


def _measured(
    mechanism: Mechanism,
    name: str,
    formalism: str,
    run: tuple[float, float],
    reference: Moved,
) -> Measured:
    """One column, or why there is none."""
    try:
        seconds = math.inf
        for _ in range(2):  # the first one also loads what it needs
            begin = time.process_time()
            tree, made = _derived(mechanism, name, formalism)
            seconds = min(seconds, time.process_time() - begin)
        found = moved(tree, made, *run)
    except LiaisonError as error:
        return Measured(name, why_not=error.message)
    rows = equation_rows(made)
    terms = [f for row in rows for f in row]
    parameters, constraints, kept = counts(tree, made, name)
    return Measured(
        name=name,
        parameters=parameters,
        constraints=constraints,
        independent=found.rank - kept,
        kept=kept,
        degree=degree_bound(terms) // 4,
        coupled=_coupled(made, rows),
        operations=sum(count_operations(terms).values()),
        derivation=seconds,
        evaluation=found.evaluation,
        condition=found.condition,
        drift=found.drift,
        reactions=(_told_reactions(tree, made), len(mechanism.joints)),
        difference=found.difference(reference),
    )


def counts(tree: Tree, made: Equations, name: str = "joint") -> tuple[int, int, int]:
    """Parameters, constraints, and coordinates of joints that are kept because somebody uses them.

    Kept ones count among the parameters where the parametrization is made of joints.
    """
    own = made.native.get("treatment")
    if isinstance(own, Treated):
        return own.reduced.mobility, len(own.names), 0
    bodies = {body.name for body in tree.mechanism.bodies}
    ghosts = [node.joint.type.nv for node in tree.nodes if node.body not in bodies]
    kept = sum(ghosts) if name == "cartesian" else 0
    return tree.nv - kept, len(made.closures.gamma) - kept, kept


def equation_rows(made: Equations) -> list[list[Expr]]:
    """The formulas of each equation: its row of M, τ − h, and what closures add to it."""
    own = made.native.get("treatment")
    if isinstance(own, Treated):
        told = own.reduced
        return [
            [*(x for (i, j), x in told.M.items() if k in (i, j)), told.force[k]]
            for k in range(told.mobility)
        ]
    M, G = made.dynamics.M, made.closures.G
    motion = [
        [*(x for (i, j), x in M.items() if k in (i, j)), as_expr(f),
         *(x for (_, j), x in G.items() if j == k)]
        for k, f in enumerate(made.dynamics.f)
    ]  # fmt: skip
    closed = [
        [*(x for (i, _), x in G.items() if i == k), as_expr(gamma)]
        for k, gamma in enumerate(made.closures.gamma)
    ]
    return motion + closed


def _coupled(made: Equations, rows: Sequence[Sequence[Expr]]) -> tuple[int, int]:
    q = set(made.symbols.q)
    return max((len({*symbols_of(row)} & q) for row in rows), default=0), len(q)


def _told_reactions(tree: Tree, made: Equations) -> int:
    """Joints of the mechanism whose rows have multipliers."""
    own = made.native.get("treatment")
    if isinstance(own, Treated):
        return 0
    return len({closure.joint.name for closure in tree.closures})
