"""One mechanism in every formalism: how large the equations are, how fast, and proved equal.

A mechanism with exact numbers: floats as the rationals they stand for, rotations made exact.

A rotation or a direction given in floats is one to rounding only; it is taken for the exact one
next to it, within a billionth. What is exact already stays as it is.

Public names: compare, Comparison, Derived, exact_mechanism.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, final

import numpy as np

from liaison.equations import FORMALISMS, Equations, Hamilton, Reduced
from liaison.errors import LiaisonError, NamingError
from liaison.exact.evidence import COEFFICIENTS, FLOATS, RESIDUES, SCHWARTZ, Evidence
from liaison.expr import Expr, collector_paused, count_operations
from liaison.lazy import Shown
from liaison.model import Body, Marker, Mechanism
from liaison.model.contacts import left_out
from liaison.model.joints import Motion
from liaison.program import compile_loops, i64, kernel, loop, ptr, to_llvm
from liaison.program.lower import lower
from liaison.spatial import quaternion_of
from liaison.tree import Tree, span

from .equality import POINTS, prove
from .positions import assembled_position
from .verdict import Verdict

FINE = 2**30
"""Steps of a unit to which quaternions and directions are rounded."""


def exact_mechanism(mechanism: Mechanism) -> Mechanism:
    """The mechanism next to this one, without floats."""
    result: Mechanism = _exact(mechanism)
    return result


def _exact(x: Any) -> Any:
    if isinstance(x, float):
        return _plain(Fraction(x))
    if isinstance(x, tuple):
        parts = tuple(_exact(part) for part in x)
        return x if all(a is b for a, b in zip(parts, x, strict=True)) else parts
    if isinstance(x, Marker) and _has_floats(x.R):
        return replace(x, R=_rotation(x.R), p=_exact(x.p))
    if isinstance(x, Motion) and _has_floats((x.axis,)):
        motion: Any = x
        return replace(motion, axis=_direction(x.axis), **_rest(x, "axis"))
    if is_dataclass(x) and not isinstance(x, Expr):
        return _replaced(x)
    return x


def _replaced(x: Any) -> Any:
    left_out = ("shapes", "place", "owner") if isinstance(x, Body | Marker) else ("place",)
    changed = {}
    for part in fields(x):
        if part.init and part.name not in left_out:
            old = getattr(x, part.name)
            new = _exact(old)
            if new is not old:
                changed[part.name] = new
    return replace(x, **changed) if changed else x


def _rest(x: Any, name: str) -> dict[str, Any]:
    return {part.name: _exact(getattr(x, part.name)) for part in fields(x) if part.name != name}


def _has_floats(rows: Sequence[Sequence[Any]]) -> bool:
    return any(isinstance(x, float) for row in rows for x in row)


def _plain(x: Fraction) -> int | Fraction:
    return x.numerator if x.denominator == 1 else x


def _rotation(R: Sequence[Sequence[Any]]) -> Any:
    """The exact rotation next to a matrix of floats, by a quaternion of whole numbers."""
    near = quaternion_of([[float(x) for x in row] for row in R])
    w, x, y, z = (round(float(e) * FINE) for e in near)
    square = w * w + x * x + y * y + z * z
    rows = (
        (w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z),
    )
    return tuple(tuple(_plain(Fraction(entry, square)) for entry in row) for row in rows)


def _direction(axis: Sequence[Any]) -> tuple[Any, ...]:
    """The unit vector of rationals next to a direction, by projection from a pole."""
    x, y, z = (float(a) for a in axis)
    length = (x * x + y * y + z * z) ** 0.5
    side = -1 if z < 0 else 1
    a, b = (Fraction(round(e / (length + side * z) * FINE), FINE) for e in (x, y))
    square = a * a + b * b
    return tuple(_plain(e / (1 + square)) for e in (2 * a, 2 * b, side * (1 - square)))


REFERENCE = "newton_euler"
NOTHING = Verdict(None, "not compared")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Derived(Shown):
    """One formalism on the mechanism: a line of the table."""

    formalism: str
    unknowns: int = 0  # accelerations and multipliers; rates of q and p for Hamilton
    equations: int = 0
    operations: int = 0  # of M, τ − h, G and γ, every shared part once
    derivation: float = math.nan  # processor time [s]
    evaluation: float | None = None  # of one call in machine code [s]
    verdict: Verdict = NOTHING

    def facts(self) -> dict[str, Any]:
        """As JSON takes it."""
        return {
            "formalism": self.formalism,
            "unknowns": self.unknowns,
            "equations": self.equations,
            "operations": self.operations,
            "derivation_s": None if math.isnan(self.derivation) else self.derivation,
            "evaluation_s": self.evaluation,
            "equal": self.verdict.equal,
            "proved": self.verdict.is_proved,
            "how": self.verdict.how,
            "chance": self.verdict.chance,
            "difference": self.verdict.difference,
        }


@final
@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """Every formalism on one mechanism.

    Example:
        >>> import liaison
        >>> comparison = liaison.compare("examples/pendulum.lsd", ["lagrange", "kane"], timed=False)
        >>> comparison.all_proved
        True
    """

    name: str
    rows: tuple[Derived, ...]
    note: str = ""  # what is not compared
    seed: int = 0  # of everything drawn

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """That each formalism that applies is equivalent to the reference."""
        others = [x for x in self.rows if x.equations and x.formalism != REFERENCE]
        return tuple(_evidence(self.name, x, self.seed) for x in others)

    @property
    def all_equal(self) -> bool:
        """Whether every formalism that applies is equivalent to the reference."""
        verdicts = [row.verdict.equal for row in self.rows if row.equations]
        return bool(verdicts) and all(verdicts)

    @property
    def all_proved(self) -> bool:
        """And none of that rests on floats."""
        return self.all_equal and all(x.verdict.is_proved for x in self.rows if x.equations)

    def facts(self) -> dict[str, Any]:
        """As JSON takes it.

        Example:
            >>> import liaison
            >>> comparison = liaison.compare("examples/pendulum.lsd", ["kane"], timed=False)
            >>> comparison.facts()["all_proved"]
            True
        """
        rows = [row.facts() for row in self.rows]
        return {"name": self.name, "all_equal": self.all_equal, "all_proved": self.all_proved,
                "note": self.note, "rows": rows,
                "evidence": [x.to_dict() for x in self.evidence]}  # fmt: skip


def _evidence(name: str, row: Derived, seed: int) -> Evidence:
    verdict = row.verdict
    word = {True: "is equivalent to", False: "differs from", None: "is not compared with"}
    is_residual = verdict.chance is not None
    is_proved = verdict.is_proved or (verdict.equal is False and is_residual)
    points = len(verdict.primes)
    missing = "floats, or one choice of signs of square roots, prove no identity"
    return Evidence(
        f"{name}: {row.formalism} {word[verdict.equal]} {REFERENCE}", is_proved,
        f"M v̇ + h − τ and the closures of both at random states: {verdict.how}"
        + (f" ({verdict.difference})" if verdict.difference else ""),
        RESIDUES if is_residual or "modulo" in verdict.how else FLOATS,
        (SCHWARTZ if verdict.equal else "different residues belong to different numbers")
        if is_proved else missing,
        chance=verdict.chance if verdict.equal else 0.0 if is_proved else None,
        bound=f"degree at most {verdict.degree}, {points} points, {COEFFICIENTS}"
        if verdict.is_proved else "",
        primes=verdict.primes, seed=seed,
        repeat=f"liaison.compare(FILE, [{row.formalism!r}], seed={seed})",
    )  # fmt: skip


def compare(
    mechanism: Mechanism,
    formalisms: Iterable[str] | None = None,
    *,
    seed: int = 0,
    timed: bool = True,
    points: int = POINTS,
) -> Comparison:
    """Derives a mechanism in every formalism and proves that all are equivalent.

    Args:
        mechanism: with exact numbers where it has them; rotations in floats are taken for the
            exact ones next to them.
        formalisms: names; all if not given. Newton and Euler's is the one compared with.
        seed: of everything that is drawn for the proof.
        timed: also compile each, and measure one evaluation.
        points: primes that must agree.

    Raises:
        NamingError: no formalism has that name.
    """
    names = list(FORMALISMS if formalisms is None else formalisms)
    for name in names:
        if name not in FORMALISMS:
            raise NamingError.unknown("formalism", name, FORMALISMS)
    with collector_paused():
        tree = span(exact_mechanism(mechanism), exact=True)
        reference = FORMALISMS[REFERENCE](tree)
        derivations = {name: _derived(tree, name) for name in names}
        good = {name: x[0] for name, x in derivations.items() if isinstance(x[0], Equations)}
        verdicts = proofs(tree, reference, good, seed=seed, points=points)
        times = _evaluations(span(mechanism), list(good)) if timed else {}
    rows = [_row(name, *derivations[name], verdicts.get(name), times.get(name)) for name in names]
    return Comparison(mechanism.name, tuple(rows), left_out(mechanism.contacts), seed)


def proofs(
    tree: Tree, reference: Equations, derivations: Mapping[str, Equations], **options: Any
) -> dict[str, Verdict]:
    """Every derivation against the reference; the reference is itself."""
    others = {name: x for name, x in derivations.items() if name != REFERENCE}
    for name in others:
        options_of = FORMALISMS.for_proof(name)
        if options_of:
            others[name] = FORMALISMS[name](tree, **options_of)
    verdicts = prove(reference, others, position=assembled_position(tree), **options)
    return verdicts | {REFERENCE: Verdict(True, "the others are compared with it", 0.0)}


def _derived(tree: Tree, name: str) -> tuple[Equations | LiaisonError, float]:
    """Equations, or why there are none; and the processor time of it."""
    begin = time.process_time()
    try:
        equations: Equations | LiaisonError = FORMALISMS[name](tree)
        if isinstance(equations, Equations):
            dict(equations.dynamics.M)  # what is deferred is derived, too
    except LiaisonError as error:
        equations = error
    return equations, time.process_time() - begin


def _row(
    name: str,
    derivation: Equations | LiaisonError,
    seconds: float,
    verdict: Verdict | None,
    evaluation: float | None,
) -> Derived:
    if not isinstance(derivation, Equations):
        return Derived(name, verdict=Verdict(None, f"does not apply: {derivation.message}"))
    unknowns, equations = sizes(derivation)
    return Derived(
        formalism=name,
        unknowns=unknowns,
        equations=equations,
        operations=sum(count_operations(_terms(derivation)).values()),
        derivation=seconds,
        evaluation=evaluation,
        verdict=verdict or NOTHING,
    )


def sizes(equations: Equations) -> tuple[int, int]:
    """Unknowns and equations, as the formalism counts them."""
    rows, n = len(equations.closures.gamma), len(equations.symbols.v)
    for native in equations.native.values():
        if isinstance(native, Reduced):
            return native.mobility, native.mobility
        if isinstance(native, Hamilton):
            return len(native.qdot) + n + rows, len(native.qdot) + n + rows
    return n + rows, n + rows


def _terms(equations: Equations) -> list[Expr]:
    M, closures = equations.dynamics.M, equations.closures
    return [*(M[key] for key in M), *equations.dynamics.f, *closures.G.values(), *closures.gamma]


@loop
def repeated(f: kernel, n: i64, q: ptr, v: ptr, u: ptr, p: ptr, out: ptr, work: ptr) -> None:
    """An entry, many times."""
    for _ in range(n):
        f(0.0, q, v, u, p, p, out, work)


@lru_cache(maxsize=1)
def _repeated() -> Callable[..., Any]:
    function: Callable[..., Any] = compile_loops([repeated])["repeated"]
    return function


CALLS = 2000
"""Calls that are timed together, three times."""


def _evaluations(tree: Tree, names: Iterable[str]) -> dict[str, float]:
    """Seconds of one evaluation of M, τ − h, G and γ in machine code, of each."""
    times = {}
    for name in names:
        try:
            times[name] = evaluation_time(FORMALISMS[name](tree))
        except LiaisonError:
            continue
    return times


def evaluation_time(equations: Equations, calls: int = CALLS) -> float:
    """Seconds of one call of the entry `terms`, the quickest of three blocks."""
    code = to_llvm(lower(equations))
    draw = np.random.default_rng(0)
    q, v = (
        draw.uniform(0.1, 0.9, len(equations.symbols.q)),
        draw.uniform(-1, 1, len(equations.symbols.v)),
    )
    u, p = (np.nan_to_num(np.array([*equations.defaults[key], 0.0])) for key in ("u", "p"))
    out, work = np.zeros(code.out_size("terms") + 1), np.zeros(code.work_size("terms") + 1)
    address, call = code.address("terms"), _repeated()
    best = math.inf
    for _ in range(3):
        begin = time.process_time()
        call(address, calls, q, v, u, p, out, work)
        best = min(best, time.process_time() - begin)
    return best / calls
