"""Proof that formalisms say the same: what they ask of v̇, compared exactly modulo large primes.

With r = M v̇ + h − τ of each formalism at residues drawn for q, v, v̇, t, inputs and parameters,

    r_A = r_B at a random point modulo p  =>  M_A = M_B and h_A − τ_A = h_B − τ_B,      (equality-1)

but for a chance of d/p that a difference of degree d vanishes there (Schwartz and Zippel). Nothing
is asked of the closures at that point: they are compared by themselves, so that with equal G and γ
the accelerations are equal wherever they are determined, loops or not.

Public names: Verdict, prove, POINTS.

Source: docs/theory/formalisms.md (equality-1).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from liaison.equations import Equations, Reduced
from liaison.exact.degrees import degree_bound
from liaison.expr import Expr, topological

from .equality_positions import compared_in_floats, prove_closed
from .positions import Position
from .residue_points import SMALLEST, evaluated_somewhere, formulas_of
from .verdict import Verdict

POINTS = 2
"""Primes that must agree."""


def prove(
    reference: Equations,
    others: Mapping[str, Equations],
    *,
    position: Position | None = None,
    seed: int = 0,
    points: int = POINTS,
) -> dict[str, Verdict]:
    """Compares equations with those of a reference.

    Args:
        reference: along the velocities of a tree, derived with exact numbers.
        others: name -> equations of the same tree, derived with exact numbers: along the same
            velocities, fewer of them, or in maximal coordinates with rotation matrices.
        position: where the loops are closed, for equations that are the same only there.
        seed: of everything that is drawn.
        points: primes that must agree.
    """
    plain = {name: x for name, x in others.items() if not _is_closed(reference, x)}
    formulas = {name: formulas_of(x) for name, x in {"": reference, **plain, **others}.items()}
    order = topological([f for group in formulas.values() for f in group])
    degree = degree_bound(*formulas.values(), order=order)
    found = _prove_everywhere(reference, plain, seed, points, degree)
    closed = {name: x for name, x in others.items() if name not in plain}
    found |= prove_closed(reference, closed, position, seed, points, degree)
    for name in others.keys() - found.keys():  # residues do not decide
        found[name] = compared_in_floats(reference, others[name], position, seed)
    return {name: found[name] for name in others}


def _is_closed(reference: Equations, other: Equations) -> bool:
    """Whether equations are comparable only on motions that the closures allow."""
    is_reduced = any(isinstance(x, Reduced) for x in other.native.values())
    return is_reduced or other.symbols.v != reference.symbols.v


def _prove_everywhere(
    reference: Equations, others: Mapping[str, Equations], seed: int, points: int, degree: int
) -> dict[str, Verdict]:
    """By (equality-1); those are left out that residues do not decide."""
    everyone = {"": reference, **others}
    found: dict[str, str] = {}
    doubtful: set[str] = set()
    seen = 0
    for residuals, is_strict in islice(_points(everyone, seed), points if others else 0):
        seen += 1
        for name in others:
            if name not in found and residuals[name] != residuals[""]:
                found[name] = _difference(reference, residuals[name], residuals[""])
                doubtful |= set() if is_strict else {name}
    if seen < points:
        doubtful = set(others)
    return {
        name: _verdict(found.get(name), degree, points) for name in others if name not in doubtful
    }


def _verdict(difference: str | None, degree: int, points: int) -> Verdict:
    chance = (degree / SMALLEST) ** points
    if difference is not None:
        return Verdict(False, "differs modulo a prime", chance, difference)
    return Verdict(True, f"exactly, modulo {points} primes of 61 bits", chance)


def _difference(equations: Equations, found: Sequence[int], wanted: Sequence[int]) -> str:
    """The first equation that is not the same, by name."""
    names = [label.name for label in equations.labels["v"]]
    names += [f"closure {label.name}" for label in equations.labels["lam"] for _ in range(2)]
    if len(found) != len(wanted):
        return "the number of equations"
    places = [k for k, (a, b) in enumerate(zip(found, wanted, strict=True)) if a != b]
    listed = [names[k] if k < len(names) else str(k) for k in places[:3]]
    return ", ".join(dict.fromkeys(listed)) + (", …" if len(places) > 3 else "")


def _points(
    everyone: Mapping[str, Equations], seed: int
) -> Iterator[tuple[dict[str, list[int]], bool]]:
    """What each asks of v̇, and its closures, at one point modulo each prime; no root drawn?"""
    formulas = {name: formulas_of(equations) for name, equations in everyone.items()}
    listed = [f for group in formulas.values() for f in group]
    for values, at, p, is_strict in evaluated_somewhere(everyone[""], listed, seed):
        start, found = 0, {}
        for name, group in formulas.items():
            numbers = values[start : start + len(group)]
            start += len(group)
            found[name] = _residual(everyone[name], numbers, at, p)
        yield found, is_strict


def _residual(
    equations: Equations, numbers: Sequence[int], at: Mapping[Expr, int], p: int
) -> list[int]:
    """M v̇ − f, then for each closure G v̇ − γ and G v − ν, modulo p."""
    symbols, M, G = equations.symbols, equations.dynamics.M, equations.closures.G
    vdot, v = [at[x] for x in symbols.vdot], [at[x] for x in symbols.v]
    masses, rest = numbers[: len(M)], numbers[len(M) :]
    n, rows = len(v), len(equations.closures.gamma)
    r = [-x for x in rest[:n]]
    for (i, j), m in zip(M, masses, strict=True):
        r[i] += m * vdot[j]
        if i != j:
            r[j] += m * vdot[i]
    closing = [-x for pair in zip(rest[len(rest) - 2 * rows : len(rest) - rows],
                                  rest[len(rest) - rows :], strict=True) for x in pair]  # fmt: skip
    for (k, j), entry in zip(G, rest[n:], strict=False):
        closing[2 * k] += entry * vdot[j]
        closing[2 * k + 1] += entry * v[j]
    return [x % p for x in (*r, *closing)]
