"""Proof that formalisms are equivalent: their v̇, compared exactly modulo large primes.

With r = M v̇ + h − τ of each formalism at residues drawn for q, v, v̇, t, inputs and parameters,

    r_A = r_B at a random point modulo p  =>  M_A = M_B and h_A − τ_A = h_B − τ_B,      (equality-1)

but for a chance of d/p that a difference of degree d vanishes there (Schwartz and Zippel). Nothing
is asked of the closures at that point: they are compared by themselves, so that with equal G and γ
the accelerations are equal wherever they are determined, loops or not.

Where equations of closed mechanisms are compared: anywhere, on exact paths, or in floats.

Anywhere modulo primes, if the closures need not hold there: trees, and independent velocities.
Otherwise on a path lifted from an exact position, to a stated order; where there is none,
in floats, which is stated too.

Equations in other coordinates or fewer velocities, compared where the closures hold.

At a position, with v, v̇ and a virtual velocity w at random among those that the closures allow,

    w · (M v̇ + h − τ) of the tree = W · (M v̇ + h − τ) of the others,                (equality-2)

W what the others move by when the tree moves by w; multipliers do no work on it, so that what they
are (and whether closures leave them open) does not matter. Equations in maximal coordinates must
besides allow W, and allow no more: the rank of their closures says so.

Public names: Verdict, prove, POINTS, prove_closed, compared_in_floats. Source:
docs/theory/formalisms.md (equality-1), SceneFormulas, Scene, Rival. Source:
docs/theory/formalisms.md (equality-2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from liaison.analyse.proofs.exact_motion import (
    TRIES,
    all_exist,
    evaluated_somewhere,
    formulas_of,
    primes,
    random_point,
)
from liaison.equations import Equations, Reduced
from liaison.equations.equations import curved_rows
from liaison.errors import DerivationError
from liaison.exact.arithmetic import Arithmetic, Floating, Modular, Rows
from liaison.exact.choices import (
    CHOICES,
    EXTRA,
    POINTS_A_SIDE,
    dependencies,
    dependent_roots,
    radicands,
)
from liaison.exact.degrees import degree_bound
from liaison.exact.evidence import SMALLEST
from liaison.exact.residues import LooseRoots, Ordered, Residues, UnknownChoices, keeps_laws
from liaison.expr import ZERO, Domain, Expr, as_expr, directional, symbols_of, topological

from .positions import ORDER, Position, lifted_point
from .verdict import Verdict


class SceneFormulas:
    """Formulas of a tree's equations that scenes of it evaluate."""

    def __init__(self, equations: Equations) -> None:
        closures = equations.closures
        self.equations = equations
        self.curved = curved_rows(equations)
        self.rows = Ordered([*closures.G.values(), *closures.nu])
        self.rest = Ordered([*closures.gamma, *inertial(equations)])


class Scene:
    """A tree's equations at one position, moving at random as the closures allow."""

    def __init__(
        self,
        formulas: SceneFormulas,
        arithmetic: Arithmetic,
        at: Mapping[Expr, Any],
        *,
        at_rest: bool = False,
    ) -> None:
        self.equations, self.arithmetic = formulas.equations, arithmetic
        symbols, closures = self.equations.symbols, self.equations.closures
        self.width = len(symbols.v)
        if formulas.curved:
            at = dict(at) | dict(zip(symbols.v, arithmetic.element([], self.width), strict=True))
        G = arithmetic.numbers(formulas.rows, at)
        self.rows = matrix(closures.G, G, len(closures.gamma), self.width)
        linear = [k for k in range(len(self.rows)) if k not in formulas.curved]
        rows, right = [self.rows[k] for k in linear], G[len(closures.G) :]
        v = arithmetic.solved(rows, [right[k] for k in linear], self.width)
        v = [0] * self.width if at_rest else v
        self.is_movable = v is not None
        self.at = dict(at) | dict(zip(symbols.v, v or [0] * self.width, strict=True))
        if formulas.curved:  # equations agree at every velocity, those off such rows too
            G = arithmetic.numbers(formulas.rows, self.at)
            self.rows = matrix(closures.G, G, len(closures.gamma), self.width)
        values = arithmetic.numbers(formulas.rest, self.at)
        gamma, rest = values[: len(closures.gamma)], values[len(closures.gamma) :]
        vdot = arithmetic.solved(self.rows, gamma, self.width)
        self.is_movable = self.is_movable and vdot is not None
        self.at |= dict(zip(symbols.vdot, vdot or [0] * self.width, strict=True))
        self.w = arithmetic.element(self.rows, self.width)
        self.freedom = self.width - arithmetic.rank(self.rows)
        self.power, self.scale = power(self.equations, rest, self.at, self.w)


def matrix(entries: Mapping[tuple[int, int], Any], numbers: Sequence[Any], rows: int,
           width: int) -> Rows:  # fmt: skip
    """A dense matrix from its nonzeros."""
    dense: Rows = [[0] * width for _ in range(rows)]
    for (k, j), x in zip(entries, numbers, strict=False):
        dense[k][j] = x
    return dense


def inertial(equations: Equations) -> list[Expr]:
    """M by its lower triangle, then τ − h."""
    M = equations.dynamics.M
    return [*(M[key] for key in M), *equations.dynamics.f]


def power(
    equations: Equations, numbers: Sequence[Any], at: Mapping[Expr, Any], w: Sequence[Any]
) -> tuple[Any, list[Any]]:
    """w · (M v̇ + h − τ), and its terms, from the numbers of `inertial`."""
    M = equations.dynamics.M
    vdot = [at[x] for x in equations.symbols.vdot]
    terms = [-(a * b) for a, b in zip(w, numbers[len(M) :], strict=True)]
    for (i, j), m in zip(M, numbers, strict=False):
        terms.append(w[i] * m * vdot[j])
        if i != j:
            terms.append(w[j] * m * vdot[i])
    return (sum_of(terms) if terms else 0), terms


class Rival:
    """Equations that are compared with those of a tree, wherever a scene of the tree is.

    Their formulas of the motion of bodies are derived once.
    """

    def __init__(self, reference: Equations, other: Equations) -> None:
        self.other = other
        self.is_along = other.symbols.v == reference.symbols.v
        symbols = reference.symbols
        bodies = {} if self.is_along else reference.reports.poses
        flow = dict(zip(symbols.q, qdot(reference), strict=True))
        turning = flow | dict(zip(symbols.v, symbols.vdot, strict=True))
        self.names = list(bodies)
        poses = [x for pose in bodies.values() for x in pose]
        rates = directional(poses, flow)
        self.count = len(poses)
        self.moving = Ordered([*poses, *rates, *directional(rates, turning)])
        self.turning = Ordered([*poses, *rates])
        closures = other.closures
        self.curved = curved_rows(other)
        formulas = [] if self.is_along else [*closures.G.values(), *closures.nu, *closures.gamma]
        self.formulas = Ordered([*formulas, *inertial(other)])

    def difference(self, scene: Scene) -> str | None:
        """Where they differ at a scene, in words; None if they do not."""
        if not self.is_along:
            return _Star(scene, self).difference()
        numbers = scene.arithmetic.numbers(self.formulas, scene.at)
        rival_power, terms = power(self.other, numbers, scene.at, scene.w)
        same = scene.arithmetic.vanish([rival_power - scene.power], [*terms, *scene.scale])
        return None if same else "the power of a motion that the closures allow"


class _Star:
    """Equations with free bodies at the position, and in the motion, of a scene."""

    def __init__(self, scene: Scene, rival: Rival) -> None:
        self.scene, self.rival, self.other = scene, rival, rival.other
        self.numbers = scene.arithmetic.numbers
        self.at = self._moved()

    def _moved(self) -> dict[Expr, Any]:
        """Values of the others' symbols: by label, or from the motion of bodies."""
        scene, symbols = self.scene, self.other.symbols
        known = {x.name: value for x, value in scene.at.items()}
        rival = self.rival
        values = self.numbers(rival.moving, scene.at)
        count = rival.count
        for k, body in enumerate(rival.names):
            parts = [values[i * count + 12 * k : i * count + 12 * k + 12] for i in range(3)]
            known |= {f"free {body}.{key}": x for key, x in _free(*parts).items()}
        every = (symbols.t, *symbols.q, *symbols.v, *symbols.vdot, *symbols.u, *symbols.p)
        return {x: known[x.name] for x in every}

    def _virtual(self) -> list[Any]:
        """How the others move where the tree moves by w."""
        symbols = self.scene.equations.symbols
        at = self.scene.at | dict(zip(symbols.v, self.scene.w, strict=True))
        rival = self.rival
        values = self.numbers(rival.turning, at)
        known = {x.name: value for x, value in zip(symbols.v, self.scene.w, strict=True)}
        for k, body in enumerate(rival.names):
            pose, rate = values[12 * k : 12 * k + 12], values[rival.count + 12 * k :][:12]
            twist = _twist(pose, rate)
            known |= {f"free {body}.{key}": x for key, x in zip(TWIST, twist, strict=True)}
        return [known[x.name] for x in self.other.symbols.v]

    def difference(self) -> str | None:
        """The first difference, in words."""
        scene, other, closures = self.scene, self.other, self.other.closures
        vanish = scene.arithmetic.vanish
        W, n = self._virtual(), len(other.symbols.v)
        numbers = self.numbers(self.rival.formulas, self.at)
        first = len(closures.G) + 2 * len(closures.gamma)
        numbers, rest = numbers[:first], numbers[first:]
        rows = matrix(closures.G, numbers, len(closures.gamma), n)
        right = numbers[len(closures.G) :]
        nu, gamma = right[: len(rows)], right[len(rows) :]
        v, vdot = ([self.at[x] for x in group] for group in (other.symbols.v, other.symbols.vdot))
        left = [x for k, x in enumerate(_left(rows, v, nu)) if k not in self.rival.curved]
        if not vanish(left) or not vanish(_left(rows, W, [0] * len(rows))):
            return "velocities that the closures allow"
        if not vanish(_left(rows, vdot, gamma), gamma):
            return "accelerations that the closures allow"
        if n - scene.arithmetic.rank(rows) != scene.freedom:
            return "the number of degrees of freedom"
        rival_power, terms = power(other, rest, self.at, W)
        if not vanish([rival_power - scene.power], [*terms, *scene.scale]):
            return "the power of a motion that the closures allow"
        return None


TWIST = ("wx", "wy", "wz", "vx", "vy", "vz")
POSE = ("x", "y", "z", "rxx", "rxy", "rxz", "ryx", "ryy", "ryz", "rzx", "rzy", "rzz")


def qdot(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    rates = [as_expr(0)] * len(equations.symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        rates[i] = rates[i] + entry * equations.symbols.v[j]
    return rates


def _left(rows: Rows, x: Sequence[Any], right: Sequence[Any]) -> list[Any]:
    residuals = []
    for row, b in zip(rows, right, strict=True):
        total: Any = -b
        for a, y in zip(row, x, strict=True):
            if not (isinstance(a, int) and a == 0):
                total = total + a * y
        residuals.append(total)
    return residuals


def _free(pose: Sequence[Any], rate: Sequence[Any], second: Sequence[Any]) -> dict[str, Any]:
    """Coordinates, velocities and accelerations of a free body, in its own axes."""
    R, p = pose[:9], pose[9:]
    values = dict(zip(POSE, [*p, *R], strict=True))
    twist = _twist(pose, rate)
    values |= dict(zip(TWIST, twist, strict=True))
    (x, y, z), v = twist[:3], twist[3:]
    whirl = _turned(R, second[:9])  # Rᵀ R̈ = α̃ + ω̃ ω̃
    alpha = [whirl[7] - y * z, whirl[2] - x * z, whirl[3] - x * y]
    straight = _back(R, second[9:])
    spin = [y * v[2] - z * v[1], z * v[0] - x * v[2], x * v[1] - y * v[0]]
    slide = [a - b for a, b in zip(straight, spin, strict=True)]
    return values | {f"{key}'": x for key, x in zip(TWIST, [*alpha, *slide], strict=True)}


def _twist(pose: Sequence[Any], rate: Sequence[Any]) -> list[Any]:
    """ω and the origin's velocity in the body's axes: Rᵀ Ṙ = ω̃."""
    spin = _turned(pose[:9], rate[:9])
    return [spin[7], spin[2], spin[3], *_back(pose[:9], rate[9:])]


def _turned(R: Sequence[Any], X: Sequence[Any]) -> list[Any]:
    """Rᵀ X, row by row."""
    return [sum_of([R[3 * k + i] * X[3 * k + j] for k in range(3)]) for i in range(3)
            for j in range(3)]  # fmt: skip


def _back(R: Sequence[Any], x: Sequence[Any]) -> list[Any]:
    """Rᵀ x."""
    return [sum_of([R[3 * k + i] * x[k] for k in range(3)]) for i in range(3)]


def sum_of(terms: Sequence[Any]) -> Any:
    """Their sum."""
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


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
    verdicts = {}
    drawn = tuple(islice(scenes.primes(), points)) if scenes else ()
    for name, other in others.items():
        rival = Rival(reference, other)
        verdict = _anywhere(scenes, rival, points, chance) if scenes else None
        if verdict is None and position is not None:
            verdict = _on_path(reference, rival, position, seed, points, chance)
        if verdict is None and position is not None:
            verdict = _in_floats(reference, rival, position, seed)
        if verdict is not None and verdict.chance is not None:
            verdict = replace(verdict, degree=size * degree, primes=drawn)
        verdicts[name] = verdict or Verdict(None, "not compared: no point where there are values")
    return verdicts


class _Scenes:
    """The reference at random points modulo primes, each evaluated once for all comparisons."""

    def __init__(self, reference: Equations, position: Position | None, seed: int) -> None:
        self.reference, self.seed = reference, seed
        self.formulas = SceneFormulas(reference)
        self.freedom = len(reference.symbols.v)
        if position is not None:
            at = _float_values(reference, position)
            self.freedom = Scene(self.formulas, Floating(seed), at).freedom
        order = topological(formulas_of(reference))
        self.roots = [x.a for x in order if x.op == "sqrt"]
        self._scenes: dict[tuple[int, int], Scene | None] = {}

    def primes(self) -> Iterator[int]:
        """Primes modulo which the roots of constants exist."""
        return primes(self.seed, [x for x in self.roots if not symbols_of([x])])

    def at(self, p: int, trial: int) -> Scene | None:
        """A scene where as many velocities are left as where the closures hold; None if none."""
        if (p, trial) not in self._scenes:
            self._scenes[p, trial] = self._drawn(p, self.seed + 101 * trial)
        scene = self._scenes[p, trial]
        fits = scene is not None and scene.is_movable and scene.freedom == self.freedom
        return scene if fits else None

    def _drawn(self, p: int, seed: int) -> Scene | None:
        """At a random point where its roots exist, or are drawn."""
        for attempt in range(TRIES):
            domain = Residues(p, seed * TRIES + attempt)
            at = random_point(self.reference, domain)
            last = attempt == TRIES - 1
            if not last and not all_exist(self.roots, at, domain):
                continue
            used: Domain = UnknownChoices(LooseRoots(domain) if last else domain)
            try:
                return Scene(self.formulas, Modular(p, used, seed + attempt), at)
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
    is_plain = not has_choices(reference) and not has_choices(rival.other)
    misfits = 0
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
            misfits += 1
        if difference is not None:
            sure = signs == 1 and is_plain and not reference.closures.gamma
            return Verdict(False, "differs modulo a prime", 0.0, difference) if sure else None
    how = f"exactly, modulo {points} primes of 61 bits"
    if signs > 1 and (misfits or related_roots(scenes, rival) != 0):
        return Verdict(True, f"{how}, for those signs of square roots that fit")
    return Verdict(True, how, min(1.0, signs * chance) ** points)


def _has_roots(equations: Equations) -> bool:
    nodes = topological(formulas_of(equations))
    return any(x.op == "sqrt" and x.a.op != "const" for x in nodes)


def has_choices(equations: Equations) -> bool:
    """Whether a formula takes sides: max, min, abs, sign, if."""
    return any(x.op in CHOICES for x in topological(formulas_of(equations)))


def related_roots(scenes: _Scenes, rival: Rival) -> int | None:
    """How many products of radicands, of either, are squares: the sign of such roots is not free.

    Radicands of equations in other coordinates are taken at scenes of the tree; those that have the
    value of one of the tree's at all of them are that one.
    """
    reference, p = scenes.reference, next(scenes.primes())
    own = radicands(formulas_of(reference))
    theirs = radicands(rival.formulas.formulas)

    def draw(k: int) -> tuple[Residues, dict[Expr, int]]:
        domain = Residues(p, 7000 + k)
        return domain, random_point(reference, domain)

    if rival.is_along:
        return dependent_roots(list(dict.fromkeys([*own, *theirs])), draw)
    first = dependent_roots(own, draw)
    moving = [x for x in theirs if symbols_of([x])]
    if first is None or not moving:
        return first
    values: list[tuple[list[int], list[int]]] = []
    for trial in range(4 * (len(moving) + EXTRA)):
        scene = scenes.at(p, trial)
        if scene is not None:
            there = scene.arithmetic.numbers(moving, _Star(scene, rival).at)
            values.append((scene.arithmetic.numbers(own, scene.at), there))
        if len(values) == len(moving) + EXTRA:
            break
    known = set(zip(*(mine for mine, _ in values), strict=True)) if own else set()
    columns = {x for x in zip(*(there for _, there in values), strict=True) if x not in known}
    bits = [[int(not Residues(p).is_positive(x)) for x in row]
            for row in zip(*sorted(columns), strict=True)]  # fmt: skip
    more = dependencies(iter(bits), len(columns)) if columns else []
    return None if more is None else first + len(more)


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
    if position.exact is None or has_choices(reference) or has_choices(rival.other):
        return None
    agreed = 0
    for residues, home, firm in islice(_homes(reference, position, seed), points + PATHS):
        try:
            lifted = lifted_point(reference, residues, home, firm)
            if lifted is None:
                continue
            scene = Scene(SceneFormulas(reference), *lifted)
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
            roots = radicands([*formulas_of(reference), *formulas_of(rival.other)])
            is_moving = not rival.is_along and any(symbols_of([x]) for x in roots)
            if is_moving or dependent_roots(roots) != 0:
                return Verdict(True, f"{how}, for one choice of signs of square roots")
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
        values = {x: value for group, key in ((symbols.u, "u"), (symbols.p, "p"))
                 for x, value in zip(group, reference.defaults[key], strict=True)}  # fmt: skip
        yield residues, home, {x: int(residues.from_value(value)) for x, value in values.items()}


def compared_in_floats(
    reference: Equations, other: Equations, position: Position | None, seed: int
) -> Verdict:
    """The weakest way: where the mechanism is assembled, if it is."""
    verdict = None
    if position is not None:
        verdict = _in_floats(reference, Rival(reference, other), position, seed)
    return verdict or Verdict(None, "not compared: residues do not decide, no position is known")


def _float_values(reference: Equations, position: Position) -> dict[Expr, Any]:
    symbols = reference.symbols
    at: dict[Expr, Any] = {x: position.at[x.name] for x in symbols.q} | {symbols.t: position.t}
    at |= dict(zip(symbols.u, reference.defaults["u"], strict=True))
    return at | dict(zip(symbols.p, reference.defaults["p"], strict=True))


def _in_floats(reference: Equations, rival: Rival, position: Position, seed: int) -> Verdict | None:
    """Where the mechanism is assembled, moving at random; at rest where that is singular."""
    arithmetic = Floating(seed)
    at = _float_values(reference, position)
    formulas = SceneFormulas(reference)
    scene = Scene(formulas, arithmetic, at)
    where = ""
    if not scene.is_movable:
        where = ", at rest"
        scene = Scene(formulas, arithmetic, at, at_rest=True)
    if not scene.is_movable:
        return Verdict(None, "not compared: the speeds at the start belong to no motion")
    difference = rival.difference(scene)
    if difference is not None:
        return Verdict(False, f"differs numerically{where}", None, difference)
    return Verdict(True, f"numerically{where}, to {max(arithmetic.worst, 1e-16):.0e}")


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
    enough = points_for_roots(reference, formulas, points) if plain else points
    verdicts = _prove_everywhere(reference, plain, seed, enough, degree) if enough else {}
    if enough != points:  # a root's sign may make a difference that is none
        verdicts = {k: replace(x, chance=MISSED) for k, x in verdicts.items() if x.equal}
    is_equal = all(x.equal for x in verdicts.values())
    if not is_equal and not keeps_laws([f for group in formulas.values() for f in group]):
        verdicts = {k: x for k, x in verdicts.items() if x.equal}  # the others may be, too
    closed = {name: x for name, x in others.items() if name not in plain}
    verdicts |= prove_closed(reference, closed, position, seed, points, degree)
    for name in others.keys() - verdicts.keys():  # residues do not decide
        verdicts[name] = compared_in_floats(reference, others[name], position, seed)
    return {name: verdicts[name] for name in others}


def points_for_roots(
    reference: Equations, formulas: Mapping[str, Sequence[Expr]], points: int
) -> int | None:
    """Points that are enough for all signs of related square roots; None if they are too many."""
    roots = radicands([f for group in formulas.values() for f in group])
    if not roots:
        return points
    p = next(primes(0, [x for x in roots if not symbols_of([x])]))

    def draw(k: int) -> tuple[Residues, dict[Expr, int]]:
        domain = Residues(p, 7000 + k)
        return domain, random_point(reference, domain)

    related = dependent_roots(roots, draw)
    if related is None or related > MOST_RELATED:
        return None
    return max(points, POINTS_A_SIDE * 2**related) if related else points


MISSED = 1e-6
"""Chance that a choice of signs is not met at so many points, at most."""

MOST_RELATED = 2
"""Related square roots beyond which formalisms are compared in floats."""


def _is_closed(reference: Equations, other: Equations) -> bool:
    """Whether equations are comparable only on motions that the closures allow."""
    is_reduced = any(isinstance(x, Reduced) for x in other.native.values())
    return is_reduced or other.symbols.v != reference.symbols.v


def _prove_everywhere(
    reference: Equations, others: Mapping[str, Equations], seed: int, points: int, degree: int
) -> dict[str, Verdict]:
    """By (equality-1); those are left out that residues do not decide."""
    everyone = {"": reference, **others}
    differences: dict[str, str] = {}
    doubtful: set[str] = set()
    drawn: list[int] = []
    for residuals, p, is_strict in islice(_points(everyone, seed), points if others else 0):
        drawn.append(p)
        for name in others:
            if name not in differences and residuals[name] != residuals[""]:
                differences[name] = _difference(reference, residuals[name], residuals[""])
                doubtful |= set() if is_strict else {name}
    if len(drawn) < points:
        doubtful = set(others)
    return {
        name: _verdict(differences.get(name), degree, tuple(drawn))
        for name in others
        if name not in doubtful
    }


def _verdict(difference: str | None, degree: int, drawn: tuple[int, ...]) -> Verdict:
    chance = (degree / SMALLEST) ** len(drawn)
    if difference is not None:
        return Verdict(False, "differs modulo a prime", chance, difference, degree, drawn)
    how = f"exactly, modulo {len(drawn)} primes of 61 bits"
    return Verdict(True, how, chance, "", degree, drawn)


def _difference(equations: Equations, residuals: Sequence[int], expected: Sequence[int]) -> str:
    """The first equation that is not the same, by name."""
    names = [label.name for label in equations.labels["v"]]
    names += [f"closure {label.name}" for label in equations.labels["lam"] for _ in range(2)]
    if len(residuals) != len(expected):
        return "the number of equations"
    places = [k for k, (a, b) in enumerate(zip(residuals, expected, strict=True)) if a != b]
    listed = [names[k] if k < len(names) else str(k) for k in places[:3]]
    return ", ".join(dict.fromkeys(listed)) + (", …" if len(places) > 3 else "")


def _points(
    everyone: Mapping[str, Equations], seed: int
) -> Iterator[tuple[dict[str, list[int]], int, bool]]:
    """What each asks of v̇, and its closures, at one point modulo each prime; no root drawn?"""
    formulas = {name: formulas_of(equations) for name, equations in everyone.items()}
    listed = [f for group in formulas.values() for f in group]
    for values, at, p, is_strict in evaluated_somewhere(everyone[""], listed, seed):
        start, residuals = 0, {}
        for name, group in formulas.items():
            numbers = values[start : start + len(group)]
            start += len(group)
            residuals[name] = _residual(everyone[name], numbers, at, p)
        yield residuals, p, is_strict


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
