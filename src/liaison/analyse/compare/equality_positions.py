"""Where equations of closed mechanisms are compared: anywhere, on exact paths, or in floats.

Anywhere modulo primes, if the closures need not hold there: trees, and independent velocities.
Otherwise on a path lifted from an exact position, to an order that is told; where there is none,
in floats, and that is told too.

Public names: prove_closed, compared_in_floats.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from liaison.equations import Equations
from liaison.errors import DerivationError
from liaison.exact.arithmetic import Floating, Modular
from liaison.exact.residues import Residues
from liaison.expr import ZERO, Domain, Expr, symbols_of, topological

from .equality_closed import Rival, Scene, Told
from .lifting import ORDER, lifted_point
from .points import random_point
from .positions import Position
from .residue_points import SMALLEST, TRIES, LooseRoots, all_exist, formulas_of, primes
from .verdict import Verdict


def prove_closed(
    reference: Equations,
    others: Mapping[str, Equations],
    position: Position | None,
    seed: int,
    points: int,
    degree: int,
) -> dict[str, Verdict]:
    """Compares on motions that the closures allow, in the strongest way there is.

    `degree` bounds that of every formula; with those of v and v̇, by Cramer's rule, it bounds the
    chance that a difference vanishes by accident.
    """
    if position is None and reference.closures.gamma:
        unknown = Verdict(None, "not compared: no position where the closures hold is known")
        return dict.fromkeys(others, unknown)
    size = len(reference.symbols.v) + len(reference.closures.gamma) + 1
    chance = min(1.0, size * degree / SMALLEST)
    scenes = _Scenes(reference, position, seed) if others else None
    found = {}
    for name, other in others.items():
        rival = Rival(reference, other)
        verdict = _anywhere(scenes, rival, points, chance) if scenes else None
        if verdict is None and position is not None:
            verdict = _on_path(reference, rival, position, seed, points, chance)
        if verdict is None and position is not None:
            verdict = _in_floats(reference, rival, position, seed)
        found[name] = verdict or Verdict(None, "not compared: no point where there are values")
    return found


class _Scenes:
    """The reference at random points modulo primes, each made once for all that is compared."""

    def __init__(self, reference: Equations, position: Position | None, seed: int) -> None:
        self.reference, self.seed = reference, seed
        self.told = Told(reference)
        self.freedom = len(reference.symbols.v)
        if position is not None:
            at = _float_values(reference, position)
            self.freedom = Scene(self.told, Floating(seed), at).freedom
        order = topological(formulas_of(reference))
        self.roots = [x.a for x in order if x.op == "sqrt"]
        self._made: dict[tuple[int, int], Scene | None] = {}

    def primes(self) -> Iterator[int]:
        """Primes modulo which the roots of constants exist."""
        return primes(self.seed, [x for x in self.roots if not symbols_of([x])])

    def at(self, p: int, trial: int) -> Scene | None:
        """A scene where as many velocities are left as where the closures hold; None if none."""
        if (p, trial) not in self._made:
            self._made[p, trial] = self._drawn(p, self.seed + 101 * trial)
        found = self._made[p, trial]
        fits = found is not None and found.is_movable and found.freedom == self.freedom
        return found if fits else None

    def _drawn(self, p: int, seed: int) -> Scene | None:
        """At a random point where its roots exist, or are drawn."""
        for attempt in range(TRIES):
            domain = Residues(p, seed * TRIES + attempt)
            at = random_point(self.reference, domain)
            last = attempt == TRIES - 1
            if not last and not all_exist(self.roots, at, domain):
                continue
            used: Domain = LooseRoots(domain) if last else domain
            try:
                return Scene(self.told, Modular(p, used, seed + attempt), at)
            except DerivationError:
                continue
        return None


SIGNS = 8
"""Points tried for one prime until roots have the signs that fit."""


def _anywhere(scenes: _Scenes, rival: Rival, points: int, chance: float) -> Verdict | None:
    """At random positions; None where that decides nothing.

    It does where as many velocities are left there as where the closures hold: then what is the
    same at every position is the same there. A root may have the sign that its argument's angle
    would not give it; other points are then tried.
    """
    reference = scenes.reference
    signs = SIGNS if scenes.roots or _has_roots(rival.other) else 1
    for p in islice(scenes.primes(), points):
        difference: str | None = "no point"
        for trial in range(signs):
            scene = scenes.at(p, trial)
            if scene is None:
                return None
            try:
                difference = rival.difference(scene)
            except DerivationError:  # a root of its own does not exist there
                continue
            if difference is None:
                break
        if difference is not None:
            sure = signs == 1 and not reference.closures.gamma
            return Verdict(False, "differs modulo a prime", 0.0, difference) if sure else None
    how = f"exactly, modulo {points} primes of 61 bits"
    return Verdict(True, how, min(1.0, signs * chance) ** points)


def _has_roots(equations: Equations) -> bool:
    nodes = topological(formulas_of(equations))
    return any(x.op == "sqrt" and x.a.op != "const" for x in nodes)


PATHS = 2
"""Primes that may fail to give a path before floats are taken."""


def _on_path(
    reference: Equations,
    rival: Rival,
    position: Position,
    seed: int,
    points: int,
    chance: float,
) -> Verdict | None:
    """On paths from the exact position; None where there is none, or functions have no series."""
    if position.exact is None:
        return None
    agreed = 0
    for residues, home, firm in islice(_homes(reference, position, seed), points + PATHS):
        try:
            found = lifted_point(reference, residues, home, firm)
            if found is None:
                continue
            scene = Scene(Told(reference), *found)
            if not scene.is_movable:
                continue
            difference = rival.difference(scene)
        except (DerivationError, ZeroDivisionError):
            continue
        if difference is not None:
            return Verdict(False, "differs on an exact path", 0.0, difference)
        agreed += 1
        if agreed == points:
            how = f"exactly to order {ORDER} on {points} paths from the start, modulo primes"
            return Verdict(True, how, min(1.0, ORDER * chance) ** points)
    return None


def _homes(
    reference: Equations, position: Position, seed: int
) -> Iterator[tuple[Residues, dict[Expr, Expr], dict[Expr, int]]]:
    """Primes, with the exact position and values of inputs and parameters."""
    symbols = reference.symbols
    exact = position.exact or {}
    home = {x: exact[x.name] for x in symbols.q} | {symbols.t: ZERO}
    roots = [x.a for x in topological([*formulas_of(reference), *home.values()])
             if x.op == "sqrt" and not symbols_of([x])]  # fmt: skip
    for k, p in enumerate(primes(seed, roots)):
        residues = Residues(p, seed + k)
        given = {x: value for group, key in ((symbols.u, "u"), (symbols.p, "p"))
                 for x, value in zip(group, reference.defaults[key], strict=True)}  # fmt: skip
        yield residues, home, {x: int(residues.given(value)) for x, value in given.items()}


def compared_in_floats(
    reference: Equations, other: Equations, position: Position | None, seed: int
) -> Verdict:
    """The weakest way: where the mechanism is assembled, if it is."""
    found = None
    if position is not None:
        found = _in_floats(reference, Rival(reference, other), position, seed)
    return found or Verdict(None, "not compared: residues do not decide, no position is known")


def _float_values(reference: Equations, position: Position) -> dict[Expr, Any]:
    symbols = reference.symbols
    at: dict[Expr, Any] = {x: position.at[x.name] for x in symbols.q} | {symbols.t: position.t}
    at |= dict(zip(symbols.u, reference.defaults["u"], strict=True))
    return at | dict(zip(symbols.p, reference.defaults["p"], strict=True))


def _in_floats(reference: Equations, rival: Rival, position: Position, seed: int) -> Verdict | None:
    """Where the mechanism is assembled, moving at random; at rest where that is singular."""
    arithmetic = Floating(seed)
    at = _float_values(reference, position)
    told = Told(reference)
    scene = Scene(told, arithmetic, at)
    where = ""
    if not scene.is_movable:
        where = ", at rest"
        scene = Scene(told, arithmetic, at, at_rest=True)
    if not scene.is_movable:
        return Verdict(None, "not compared: the speeds at the start belong to no motion")
    difference = rival.difference(scene)
    if difference is not None:
        return Verdict(False, f"differs numerically{where}", None, difference)
    return Verdict(True, f"numerically{where}, to {max(arithmetic.worst, 1e-16):.0e}")
