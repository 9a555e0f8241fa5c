"""One mechanism in four parametrizations: the comparison of textbooks, measured.

What a parametrization costs and gives when it runs: time, conditioning, drift, accelerations.

Public names: parametrizations, Parametrizations, Measured, CRITERIA, Moved, moved.

Source: docs/theory/parametrizations.md; JB94 §2.5.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.equations import FORMALISMS, Equations, Reduced
from liaison.equations.transform.parametrization import derived_in
from liaison.equations.transform.treatment import Treated
from liaison.errors import LiaisonError, NamingError
from liaison.exact.degrees import degree_bound
from liaison.expr import Expr, as_expr, collector_paused, count_operations, symbols_of
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.model.contacts import check_bilateral
from liaison.numeric import State
from liaison.program import Entry, Kernel, Program, compile_loops, to_llvm
from liaison.program.lower import lower
from liaison.simulation import Projection
from liaison.simulation import simulate as run
from liaison.tree import Tree, assemble
from liaison.tree.cartesian import PARAMETRIZATIONS, known_parametrization

from .compare import CALLS, repeated

Floats = NDArray[np.float64]

NEVER = 1e30
"""A tolerance of closures under which nothing is ever corrected."""

RANK = 1e-10
"""Singular values below this part of the largest belong to rows that depend on others."""


@final
@dataclass(frozen=True, slots=True)
class Moved:
    """What was measured of one parametrization."""

    bodies: Mapping[str, Floats]  # ω, v, ω̇, v̇ in ground's axes where the mechanism starts
    evaluation: float  # [s]
    condition: float
    drift: float
    rank: int = 0  # of the rows of closures, where the mechanism starts

    def difference(self, other: Moved) -> float:
        """Largest difference of bodies' accelerations, relative to the largest."""
        pairs = [(self.bodies[name][6:], other.bodies[name][6:]) for name in other.bodies]
        size = max([1.0, *(float(np.max(np.abs(b))) for _, b in pairs)])
        return max((float(np.max(np.abs(a - b))) for a, b in pairs), default=0.0) / size


def moved(tree: Tree, equations: Equations, until: float, step: float) -> Moved:
    """Compiles the equations, evaluates them where the mechanism starts, and lets them drift."""
    state, kernel = assemble(tree), to_llvm(lower(equations))
    vdot = kernel.call("forward", state.t, q=state.q, v=state.v)["vdot"]
    motions = kernel.call("motions", state.t, q=state.q, v=state.v, x=vdot)
    bodies = {body.name: motions[body.name] for body in tree.mechanism.bodies[1:]}
    own = equations.native.get("treatment")
    if isinstance(own, Treated):
        code = to_llvm(_program(equations, own.reduced))
        drift = _drift_reduced(code, kernel, own.reduced, state, until, step)
        condition = _condition(_mass(code, own.reduced, state))
        return Moved(bodies, _seconds(code, "motion", state), condition, drift)
    terms = kernel.call("terms", state.t, q=state.q, v=state.v)
    drift = _drift(kernel, state, until, step)
    nv = len(equations.symbols.v)
    G, seconds = terms["G"].reshape(-1, nv), _seconds(kernel, "forward", state)
    rank = int(np.linalg.matrix_rank(G, rtol=RANK)) if G.size else 0
    return Moved(bodies, seconds, _condition(_saddle(terms, nv)), drift, rank)


def _saddle(terms: Mapping[str, Floats], nv: int) -> Floats:
    M, G = terms["M"].reshape(nv, nv), terms["G"].reshape(-1, nv)
    return np.block([[M, G.T], [G, np.zeros((len(G), len(G)))]])


def _condition(matrix: Floats) -> float:
    """Largest over least singular value, of those that are not zero."""
    values = np.linalg.svd(matrix, compute_uv=False)
    return float(values[0] / values[values > RANK * values[0]][-1])


def _drift(kernel: Kernel, state: State, until: float, step: float) -> float:
    """Largest |Φ| at the end of a run that is never corrected."""
    if until <= state.t or not kernel.program.sizes["nphi"]:
        return 0.0
    free = Projection(position=NEVER, velocity=NEVER, lost=NEVER, start=NEVER)
    options: dict[str, Any] = {"step": step, "projection": free, "every": until, "residual": NEVER}
    end = run(kernel, state, until=until, series=(), **options)
    phi = kernel.call("closure", end.t[-1], q=end.q[-1], v=end.v[-1])["phi"]
    return float(np.max(np.abs(phi), initial=0.0))


def _program(equations: Equations, reduced_form: Reduced) -> Program:
    """u̇, q̇ and Ψᵀ M Ψ as entries of q and u, u in the place of v."""
    symbols = equations.symbols
    places: dict[Expr, tuple[str, int]] = {reduced_form.t: ("t", 0)}
    for array, names in (
        ("q", reduced_form.q),
        ("v", reduced_form.u),
        ("u", symbols.u),
        ("p", symbols.p),
    ):
        places |= {name: (array, k) for k, name in enumerate(names)}
    motion = Entry("motion", (*reduced_form.accelerations(), *reduced_form.rates))
    mass = Entry("mass", tuple(reduced_form.M.values()))
    speeds = Entry("speeds", reduced_form.velocity)
    defaults = {name: np.array(values, float) for name, values in equations.defaults.items()}
    entries = {entry.name: entry for entry in (motion, mass, speeds)}
    return Program(reduced_form.name, entries, places, defaults=defaults)


def _start(reduced_form: Reduced, state: State) -> Floats:
    names = [label.name for label in state.labels["v"]]
    return state.v[[names.index(label.name) for label in reduced_form.independent]]


def _mass(code: Kernel, reduced_form: Reduced, state: State) -> Floats:
    mass = np.zeros((reduced_form.mobility, reduced_form.mobility))
    entries = code("mass", state.t, q=state.q, v=_start(reduced_form, state))
    for (i, j), x in zip(reduced_form.M, entries, strict=True):
        mass[i, j] = mass[j, i] = x
    return mass


def _drift_reduced(
    code: Kernel, whole: Kernel, reduced_form: Reduced, state: State, until: float, step: float
) -> float:
    """The same for dependent positions that follow q̇ = N (Ψ u + ψ)."""
    if until <= state.t:
        return 0.0
    n, count = reduced_form.mobility, max(1, round((until - state.t) / step))
    y, t = np.concatenate([_start(reduced_form, state), state.q]), state.t

    def slope(t: float, y: Floats) -> Floats:
        return code("motion", t, q=y[n:], v=y[:n])

    for k in range(count):
        t = state.t + k * step
        a = slope(t, y)
        b = slope(t + step / 2, y + step / 2 * a)
        c = slope(t + step / 2, y + step / 2 * b)
        y = y + step / 6 * (a + 2 * b + 2 * c + slope(t + step, y + step * c))
    v = code("speeds", until, q=y[n:], v=y[:n])
    phi = whole.call("closure", until, q=y[n:], v=v)["phi"]
    return float(np.max(np.abs(phi), initial=0.0))


@lru_cache(maxsize=1)
def _repeated() -> Any:
    return compile_loops([repeated])["repeated"]


def _seconds(code: Kernel, entry: str, state: State) -> float:
    """Seconds of one call of an entry, the quickest of three blocks."""
    program = code.program
    u, p = (np.append(program.defaults.get(key, ()), 0.0) for key in ("u", "p"))
    out, work = np.zeros(code.out_size(entry) + 1), np.zeros(code.work_size(entry) + 1)
    address, call = code.address(entry), _repeated()
    best = math.inf
    for _ in range(3):
        begin = time.process_time()
        call(address, CALLS, state.q, state.v, u, p, out, work)
        best = min(best, time.process_time() - begin)
    return best / CALLS


@final
@dataclass(frozen=True, slots=True, repr=False)
class Measured(Shown):
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
        facts = asdict(self)
        return {k: None if isinstance(x, float) and math.isnan(x) else x for k, x in facts.items()}


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
@dataclass(frozen=True, slots=True, repr=False)
class Parametrizations(Shown):
    """The table: every criterion for every parametrization."""

    name: str
    formalism: str
    columns: tuple[Measured, ...]

    def __getitem__(self, name: str) -> Measured:
        by_name = {column.name: column for column in self.columns}
        if name not in by_name:
            raise NamingError.unknown("parametrization", name, by_name)
        return by_name[name]

    def facts(self) -> dict[str, Any]:
        """As JSON takes it."""
        columns = [column.facts() for column in self.columns]
        return {"name": self.name, "formalism": self.formalism, "parametrizations": columns}

    def __str__(self) -> str:
        good = [column for column in self.columns if not column.why_not]
        lines = [(f"{self.name}, by {self.formalism}", *(x.name for x in good))]
        lines += [(word, *(description(x) for x in good)) for word, description in CRITERIA]
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
        DerivationError: there is a unilateral constraint.
    """
    check_bilateral(mechanism.contacts, "parametrizations")
    if formalism not in FORMALISMS:
        raise NamingError.unknown("formalism", formalism, FORMALISMS)
    chosen = list(dict.fromkeys(known_parametrization(name) for name in names))
    with collector_paused():
        reference = _moved(mechanism, "joint", formalism, (0.0, step))
        columns = [
            _measured(mechanism, name, formalism, (until, step), reference) for name in chosen
        ]
    return Parametrizations(mechanism.name, formalism, tuple(columns))


def _derived(mechanism: Mechanism, name: str, formalism: str) -> tuple[Tree, Equations]:
    tree, equations = derived_in(mechanism, FORMALISMS[formalism], name)
    dict(equations.dynamics.M)  # what is deferred is derived, too
    return tree, equations


def _moved(mechanism: Mechanism, name: str, formalism: str, run: tuple[float, float]) -> Moved:
    tree, equations = _derived(mechanism, name, formalism)
    return moved(tree, equations, *run)


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
            tree, equations = _derived(mechanism, name, formalism)
            seconds = min(seconds, time.process_time() - begin)
        motion = moved(tree, equations, *run)
    except LiaisonError as error:
        return Measured(name, why_not=error.message)
    rows = equation_rows(equations)
    terms = [f for row in rows for f in row]
    parameters, constraints, kept = counts(tree, equations, name)
    return Measured(
        name=name,
        parameters=parameters,
        constraints=constraints,
        independent=motion.rank - kept,
        kept=kept,
        degree=degree_bound(terms) // 4,
        coupled=_coupled(equations, rows),
        operations=sum(count_operations(terms).values()),
        derivation=seconds,
        evaluation=motion.evaluation,
        condition=motion.condition,
        drift=motion.drift,
        reactions=(_joint_reactions(tree, equations), len(mechanism.joints)),
        difference=motion.difference(reference),
    )


def counts(tree: Tree, equations: Equations, name: str = "joint") -> tuple[int, int, int]:
    """Parameters, constraints, and coordinates of joints that are kept because they are used.

    Kept ones count among the parameters where the parametrization is made of joints.
    """
    own = equations.native.get("treatment")
    if isinstance(own, Treated):
        return own.reduced.mobility, len(own.names), 0
    bodies = {body.name for body in tree.mechanism.bodies}
    ghosts = [node.joint.type.nv for node in tree.nodes if node.body not in bodies]
    kept = sum(ghosts) if name == "cartesian" else 0
    return tree.nv - kept, len(equations.closures.gamma) - kept, kept


def equation_rows(equations: Equations) -> list[list[Expr]]:
    """The formulas of each equation: its row of M, τ − h, and what closures add to it."""
    own = equations.native.get("treatment")
    if isinstance(own, Treated):
        reduced_form = own.reduced
        return [
            [*(x for (i, j), x in reduced_form.M.items() if k in (i, j)), reduced_form.force[k]]
            for k in range(reduced_form.mobility)
        ]
    M, G = equations.dynamics.M, equations.closures.G
    motion = [
        [*(x for (i, j), x in M.items() if k in (i, j)), as_expr(f),
         *(x for (_, j), x in G.items() if j == k)]
        for k, f in enumerate(equations.dynamics.f)
    ]  # fmt: skip
    closed = [
        [*(x for (i, _), x in G.items() if i == k), as_expr(gamma)]
        for k, gamma in enumerate(equations.closures.gamma)
    ]
    return motion + closed


def _coupled(equations: Equations, rows: Sequence[Sequence[Expr]]) -> tuple[int, int]:
    q = set(equations.symbols.q)
    return max((len({*symbols_of(row)} & q) for row in rows), default=0), len(q)


def _joint_reactions(tree: Tree, equations: Equations) -> int:
    """Joints of the mechanism whose rows have multipliers."""
    own = equations.native.get("treatment")
    if isinstance(own, Treated):
        return 0
    return len({closure.joint.name for closure in tree.closures})
