"""A mechanism in an assembled position with exact numbers: joints as screws, loops, relations.

Bodies are placed along the tree by the author's starts; coordinates that assembly found instead
are recognized as simple exact numbers, or the body's place is. Nothing recognized is trusted: the
position counts as exact only where every joint holds modulo the primes used. Loops are a basis of
shortest cycles of the mechanism's graph, each with few joints.

Relations between coordinates (gears, imposed motions, any Φ(q, t) = 0) are rows beside the loops. A
relation that is linear in the coordinates is a row to all orders: Σ c g(τ) = 0, g = atan for
angles. Another one is a formula of τ, to all orders too, where it is made of coordinates and of
sines and cosines of their whole sums. Else it is known to first order only, by its gradient at
home; that decides the mobility where all rows are independent, and only there.

Relations of speeds are decided apart: those that integrate are rows, too.

Relations of speeds: which integrate to relations of positions, and which take none away.

A relation Σ a_k(q) q̇_k = b(t) with constant a integrates by itself. Others are decided together, on
a mechanism without loops and other relations: the vector fields that satisfy them (of positions,
and of time where b is not zero), and brackets of these, span at home the directions of all
positions that can be reached (Chow and Rashevsky). Where they span everything, nothing is taken
away; where the brackets of the fields are combinations of them everywhere, the relations integrate
(Frobenius), each to one equation. What neither decides is named, and the mobility is a pair of
bounds.

Public names: Home, home_of, numeric_home, Step, loops_of, Relations, relations_of, Terms, Rates,
rates_of.

Source: HOR87 (a shortest cycle basis from breadth-first paths, by greedy choice).

Source: MON02 §2 (Chow's theorem, Frobenius' theorem).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, final

from liaison.errors import DerivationError, NamingError
from liaison.exact.choices import CHOICES, check_laws, points_for_choices, square_numbers
from liaison.exact.degrees import degree_bound
from liaison.exact.linear import pivots, primes_from, rank
from liaison.exact.recognize import NEAR, float_of
from liaison.exact.residues import keeps_laws, residues
from liaison.exact.series import constants_of
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    evaluate,
    gradient,
    rewritten,
    substitute,
    symbol,
    symbols_of,
    topological,
)
from liaison.freedoms.local.formulas import Curved, in_tau
from liaison.model import Constraint, Mechanism, OfCoordinates
from liaison.spatial import array, zeros

from .motions import Motion, Transform, motions_of
from .placing import Placing, markers_of, parameter_values, valued
from .screws import Factor, LoopSystem

Field: TypeAlias = list[Expr]
"""A vector field: an entry for each unknown."""

DEPTH = 5
"""Brackets of brackets that are computed."""

MOST = 24
"""Fields beyond which no more brackets are computed."""

POINTS = 2
"""Random points at which relations of speeds that integrate satisfy Frobenius' condition."""

SMOOTH = frozenset({"add", "sub", "neg", "mul", "div", "pow", "sin", "cos", "tan", "sqrt", "exp",
                    "symbol", "const"})  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Rates:
    """Relations of speeds as rows on coordinates, by label."""

    linear: tuple[dict[str, Expr], ...] = ()  # they integrate, with constant coefficients
    tangent: tuple[dict[str, Expr], ...] = ()  # they integrate; their gradients at home
    undecided: tuple[str, ...] = ()  # names of those that are not decided
    notes: tuple[str, ...] = ()


def rates_of(
    relations: Sequence[OfCoordinates],
    values: Mapping[Expr, Expr],
    at: Mapping[str, Any],
    *,
    is_alone: bool,
) -> Rates:
    """Decides relations of speeds.

    Args:
        relations: of speeds.
        values: of parameters.
        at: coordinates at home, by label.
        is_alone: there are no loops and no other relations.
    """
    linear, pending, undecided, notes = [], [], [], []
    for relation in relations:
        row = _coefficients(substitute([relation.vanishing()], dict(values))[0])
        if row is None:
            undecided.append(relation.name)
        elif any(symbols_of([c]) for c in _of_positions(row).values()):
            pending.append((relation.name, row))
        else:
            linear.append(_of_positions(row))
            notes.append(f"the relation '{relation.name}' of speeds integrates, and is counted")
    rows = [row for _, row in pending]
    names = [name for name, _ in pending]
    word = _decided(rows, at) if is_alone and not linear and not undecided else ""
    tangent = _at_home(rows, at) if word == "integrable" else []
    for name in names:
        if word == "integrable":
            notes.append(f"the relation '{name}' of speeds integrates (Frobenius: {_size(rows)}), "
                         "and is counted")  # fmt: skip
        elif word == "free":
            notes.append(
                f"the relation '{name}' of speeds takes no position away (its vector fields and "
                "their brackets span every direction), and is not counted; `check` counts free "
                "velocities"
            )
    undecided += [] if word else names
    notes += [f"the relation '{name}' holds speeds; it is not decided whether it integrates, and "
              "the mobility may be less" for name in undecided]  # fmt: skip
    return Rates(tuple(linear), tuple(tangent), tuple(undecided), tuple(notes))


def _coefficients(formula: Expr) -> dict[str, Expr] | None:
    """Factors of the rates by label, and that of dt as "t"; None where the rest depends on
    positions, or factors on time or rates."""
    rates = [x for x in symbols_of([formula]) if str(x.a).endswith("'")]
    if not rates:
        return None
    slopes = gradient(formula, rates)
    rest = substitute([formula], dict.fromkeys(rates, ZERO))[0]
    if any(str(x.a) != "t" for x in symbols_of([rest])):
        return None
    if any(str(x.a) == "t" or str(x.a).endswith("'") for x in symbols_of(slopes)):
        return None
    row = {str(x.a).removesuffix("'"): c for x, c in zip(rates, slopes, strict=True)}
    return row if rest is ZERO else row | {"t": rest}


def _size(rows: Sequence[Mapping[str, Expr]]) -> str:
    """Bounds the degree of what must vanish: minors of fields, of Cramer's rule, and brackets."""
    entries = [x for row in rows for x in row.values()]
    names = {name for row in rows for name in row} | {str(x.a) for x in symbols_of(entries)}
    degree = degree_bound(entries) * 2 * len(rows) * (len(names) - len(rows) + 1)
    return f"minors of degree at most {degree} vanish at {POINTS} random points"


def _of_positions(row: Mapping[str, Expr]) -> dict[str, Expr]:
    return {name: c for name, c in row.items() if name != "t"}


def _at_home(rows: Sequence[dict[str, Expr]], at: Mapping[str, Any]) -> list[dict[str, Expr]]:
    home = {symbol(name): as_expr(x) for name, x in at.items()}
    return [{name: substitute([c], home)[0] for name, c in _of_positions(row).items()}
            for row in rows]  # fmt: skip


def _decided(rows: Sequence[dict[str, Expr]], at: Mapping[str, Any]) -> str:
    """ "free", "integrable", or "" where neither is shown.

    Where speeds are imposed, Σ a q̇ + b(t) = 0, the fields are those of positions and time.
    """
    entries = [c for row in rows for c in row.values()]
    used = {str(x.a) for x in symbols_of(entries)} | {name for row in rows for name in row}
    smooth = all(node.op in SMOOTH for node in topological(entries))
    here = {**at, "t": 0}
    if not rows or len(rows) > 3 or not smooth or any(name not in here for name in used):
        return ""
    names = sorted(used)
    unknowns = [symbol(name) for name in names]
    A = [[row.get(name, ZERO) for name in names] for row in rows]
    home = {x: as_expr(here[name]) for x, name in zip(unknowns, names, strict=True)}
    try:
        return _spanned(A, unknowns, home)
    except (DerivationError, ValueError, ZeroDivisionError):
        return ""


def _spanned(A: list[Field], unknowns: list[Expr], home: Mapping[Expr, Expr]) -> str:
    p, at_home = _residues(A, home)
    rows, columns = pivots(at_home, p)
    if len(rows) < len(A):
        return ""
    fields = _fields(A, columns)
    if keeps_laws([x for row in A for x in row]) and _span_all(fields, unknowns, home):
        return "free"
    first = [_bracket(X, Y, unknowns) for i, X in enumerate(fields) for Y in fields[:i]]
    table = [*fields, *first]
    points = points_for_choices([x for row in table for x in row], POINTS)
    if points is None:
        return ""
    generic = (_residues(table, None, seed) for seed in range(points))
    return "integrable" if all(rank(M, p) == len(fields) for p, M in generic) else ""


def _span_all(fields: list[Field], unknowns: list[Expr], home: Mapping[Expr, Expr]) -> bool:
    """Vector fields and brackets of these span every direction at home."""
    every, last = list(fields), list(fields)
    for _ in range(DEPTH):
        last = [_bracket(X, Y, unknowns) for X in fields for Y in last if X is not Y]
        every += last
        p, M = _residues(every, home)
        if rank(M, p) == len(unknowns):
            return True
        if len(every) > MOST:
            break
    return False


def _residues(
    table: Sequence[Field], home: Mapping[Expr, Expr] | None, seed: int = 0
) -> tuple[int, list[list[int]]]:
    """A prime, and entries modulo it, at home or at a random point.

    Raises:
        DerivationError: a root of theirs has no residue.
    """
    flat = [x for row in table for x in row]
    if home is not None:
        flat = substitute(flat, dict(home))
    p = next(primes_from(0, square_numbers(flat)))
    values = [int(x) for x in evaluate(flat, domain=residues(p, seed))]
    width = len(table[0])
    return p, [values[i : i + width] for i in range(0, len(values), width)]


def _fields(A: list[Field], columns: list[int]) -> list[Field]:
    """Vector fields in the kernel of A, without division: Cramer's rule on the pivot columns."""
    fields = []
    for free in (j for j in range(len(A[0])) if j not in columns):
        field = [ZERO] * len(A[0])
        field[free] = _determinant([[row[j] for j in columns] for row in A])
        for k, column in enumerate(columns):
            swapped = [[row[free] if i == k else row[j] for i, j in enumerate(columns)]
                       for row in A]  # fmt: skip
            field[column] = -_determinant(swapped)
        fields.append(field)
    return fields


def _determinant(M: list[Field]) -> Expr:
    if len(M) == 1:
        return M[0][0]
    total = ZERO
    for j, x in enumerate(M[0]):
        minor = [[c for k, c in enumerate(row) if k != j] for row in M[1:]]
        total = total + x * _determinant(minor) * (-1) ** j
    return total


def _bracket(X: Field, Y: Field, unknowns: list[Expr]) -> Field:
    """X·∇Y − Y·∇X."""
    entries = []
    for x, y in zip(X, Y, strict=True):
        total = ZERO
        slopes = zip(gradient(y, unknowns), gradient(x, unknowns), X, Y, strict=True)
        for dy, dx, a, b in slopes:
            total = total + a * dy - b * dx
        entries.append(total)
    return entries


Terms: TypeAlias = tuple[tuple[int, Expr, bool], ...]
"""(column, coefficient, is an angle) for each term of a row."""


@final
@dataclass(frozen=True, slots=True)
class Relations:
    """Constraint equations of a mechanism on its joint coordinates."""

    linear: tuple[Terms, ...] = ()  # to all orders
    tangent: tuple[Terms, ...] = ()  # to first order
    curved: tuple[Expr, ...] = ()  # the tangent ones as formulas of τ; empty if one of them is none
    uncounted: tuple[str, ...] = ()  # names of relations of positions that are left out
    notes: tuple[str, ...] = ()
    of_speeds: tuple[str, ...] = ()  # names of relations of speeds that may take more away
    closure: tuple[Expr, ...] = ()  # what vanishes where relations of positions hold at home
    unchecked: tuple[str, ...] = ()  # names of those with coordinates that are not known

    @property
    def rows(self) -> tuple[Terms, ...]:
        """All rows, those to all orders first."""
        return self.linear + self.tangent


def relations_of(
    mechanism: Mechanism, columns: Sequence[Motion], at: Mapping[str, Any]
) -> Relations:
    """Rows of a mechanism's constraints.

    Args:
        mechanism: with its constraints and the values of its parameters.
        columns: its joint coordinates, in order.
        at: the coordinates at home, by label, as far as they are known.
    """
    place = {motion.coordinate: k for k, motion in enumerate(columns) if motion.coordinate}
    values = parameter_values(mechanism)
    rows: dict[bool, list[Terms]] = {True: [], False: []}
    uncounted, notes = [], []
    curved: list[Expr | None] = []
    of_speeds = [x for x in mechanism.constraints if isinstance(x, OfCoordinates) and x.OF_SPEEDS]
    for relation in mechanism.constraints:
        if relation in of_speeds:
            continue
        formula = _formula(relation)
        if formula is not None:
            formula = _one_sided(substitute([formula], values)[0], at)
        terms, is_linear = None, False
        if formula is not None:
            terms, is_linear = _terms(formula, place, columns, at)
        if terms is None:
            uncounted.append(relation.name)
            notes.append(f"the relation '{relation.name}' is not counted: the mobility may be less")
        else:
            rows[is_linear].append(terms)
            if not is_linear and formula is not None:
                curved.append(_in_tau(formula, place, columns, at))
    is_alone = len(of_speeds) == len(mechanism.constraints) and not loops_of(mechanism)
    rates = rates_of(of_speeds, values, at, is_alone=is_alone)
    if all(label in place for row in (*rates.linear, *rates.tangent) for label in row):
        rows[True] += [_labelled(row, place, columns) for row in rates.linear]
        rows[False] += [_labelled(row, place, columns) for row in rates.tangent]
        curved += [None] * len(rates.tangent)
    else:
        uncounted += [x.name for x in of_speeds]
    formulas = tuple(f for f in curved if f is not None)
    exact = formulas if len(formulas) == len(curved) else ()
    closure, unchecked = _closure_of(mechanism, values, at)
    return Relations(
        tuple(rows[True]), tuple(rows[False]), exact, tuple(uncounted), (*notes, *rates.notes),
        rates.undecided, closure, unchecked,
    )  # fmt: skip


def _closure_of(
    mechanism: Mechanism, values: Mapping[Expr, Expr], at: Mapping[str, Any]
) -> tuple[tuple[Expr, ...], tuple[str, ...]]:
    """What vanishes where relations of positions hold at home, at t = 0; and names of those that
    hold coordinates which are not known."""
    closure, unchecked = [], []
    home = {symbol(name): as_expr(x) for name, x in at.items()} | {symbol("t"): ZERO}
    for relation in mechanism.constraints:
        if not isinstance(relation, OfCoordinates) or relation.OF_SPEEDS:
            continue
        formula = _one_sided(substitute([relation.vanishing()], dict(values))[0], at)
        there = None if formula is None else substitute([formula], home)[0]
        if there is None or symbols_of([there]):
            unchecked.append(relation.name)
        elif there is not ZERO:
            closure.append(there)
    return tuple(closure), tuple(unchecked)


def _labelled(
    row: Mapping[str, Expr], place: Mapping[str, int], columns: Sequence[Motion]
) -> Terms:
    """A relation of speeds that integrates, as a row."""
    turns = len(row) > 1
    return tuple((place[x], c, turns and columns[place[x]].is_angle) for x, c in row.items())


def _one_sided(formula: Expr, at: Mapping[str, Any]) -> Expr | None:
    """The formula with the sides that its choices (max, abs, if) take near home; None at a kink."""
    if not any(node.op in CHOICES for node in topological([formula])):
        return formula
    home = {symbol(name): float_of(x) for name, x in at.items()} | {symbol("t"): 0.0}
    try:
        return rewritten([formula], lambda node: _side(node, home))[0]
    except (DerivationError, NamingError):
        return None


def _side(node: Expr, home: Mapping[Expr, float]) -> Expr | None:
    """What a choice is near home; None to leave another node as it is."""
    if node.op not in CHOICES:
        return None
    first = node.args[0]
    condition = first - node.args[1] if node.op in ("min", "max") else first
    value = float(evaluate(as_expr(condition), dict(home)))
    if not abs(value) > KINK:
        raise DerivationError("a choice changes its side at home.")
    up = value > 0
    if node.op == "sign":
        return as_expr(1 if up else -1)
    if node.op == "abs":
        return first if up else as_expr(-first)
    if node.op == "select":
        return node.args[1] if up else node.args[2]
    return first if up == (node.op == "max") else node.args[1]


def _in_tau(
    formula: Expr, place: Mapping[str, int], columns: Sequence[Motion], at: Mapping[str, Any]
) -> Expr | None:
    """The relation of an instant as a formula of τ."""
    return in_tau(substitute([formula], {symbol("t"): ZERO})[0], place, columns, at)


def _formula(relation: Constraint) -> Expr | None:
    """What vanishes, up to what depends on time only; None of one between frames, which the
    caller notes as not counted."""
    return relation.tangent() if isinstance(relation, OfCoordinates) else None


def _terms(
    formula: Expr, place: Mapping[str, int], columns: Sequence[Motion], at: Mapping[str, Any]
) -> tuple[Terms | None, bool]:
    """Terms of a formula's row, and whether they hold to all orders; None if they are not known."""
    unknowns = [x for x in symbols_of([formula]) if str(x.a) != "t"]
    if any(str(x.a) not in place for x in unknowns):
        return None, False
    slopes = gradient(formula, unknowns) if unknowns else []
    is_linear = not any(symbols_of([slope]) for slope in slopes)
    constants = {x: as_expr(at[str(x.a)]) for x in unknowns if str(x.a) in at}
    constants[symbol("t")] = ZERO
    slopes = substitute(slopes, constants) if slopes else []
    if any(symbols_of([slope]) for slope in slopes):
        return None, False
    columns_of = [place[str(x.a)] for x in unknowns]
    terms = list(zip(columns_of, slopes, strict=True))
    # a single angle that is held is τ = 0, without arc tangent
    turns = len(terms) > 1
    return tuple((k, c, turns and columns[k].is_angle) for k, c in terms), is_linear


Step: TypeAlias = tuple[int, int]
"""A joint on the way around a loop, and +1 from predecessor to successor, −1 back."""

Ends: TypeAlias = tuple[str, str]

KINK = 1e-9
"""Distance of a condition from zero within which a choice counts as undecided."""

LARGE = 80
"""Joints beyond which cycles of one tree from the ground do."""


def loops_of(mechanism: Mechanism) -> tuple[tuple[Step, ...], ...]:
    """Independent loops of a mechanism, each as joints with the direction they are passed in."""
    ends = [(joint.predecessor.body, joint.successor.body) for joint in mechanism.joints]
    count = len(ends) - (len(mechanism.bodies) - 1)
    roots = [body.name for body in mechanism.bodies] if len(ends) <= LARGE else ["ground"]
    candidates = [cycle for root in roots for cycle in _cycles(ends, root)]
    loops: list[tuple[Step, ...]] = []
    reduced: dict[int, int] = {}
    for cycle in sorted(candidates, key=lambda cycle: (len(cycle), sorted(k for k, _ in cycle))):
        if len(loops) < count and _is_new(sum(1 << k for k, _ in cycle), reduced):
            loops.append(cycle)
    return tuple(loops)


def _is_new(bits: int, reduced: dict[int, int]) -> bool:
    """Whether a set of joints is no sum of those before; remembers it if so."""
    while bits:
        top = bits.bit_length()
        if top not in reduced:
            reduced[top] = bits
            return True
        bits ^= reduced[top]
    return False


def _cycles(ends: Sequence[Ends], root: str) -> list[tuple[Step, ...]]:
    """For each joint off a breadth-first tree: down to it, across, and back."""
    way, used = _paths(ends, root)
    cycles = []
    for k, (a, b) in enumerate(ends):
        if k not in used:
            down, back = way[a], way[b]
            while down and back and down[0] == back[0]:
                down, back = down[1:], back[1:]
            cycles.append((*down, (k, 1), *((j, -sign) for j, sign in reversed(back))))
    return cycles


def _paths(ends: Sequence[Ends], root: str) -> tuple[dict[str, tuple[Step, ...]], set[int]]:
    """The way from the root to each body, and the joints used for it."""
    touching: dict[str, list[tuple[int, int, str]]] = {}
    for k, (a, b) in enumerate(ends):
        touching.setdefault(a, []).append((k, 1, b))
        touching.setdefault(b, []).append((k, -1, a))
    way: dict[str, tuple[Step, ...]] = {root: ()}
    level, used = [root], set()
    while level:
        paths = []
        for body in level:
            for k, sign, far in touching.get(body, []):
                if far not in way:
                    way[far] = (*way[body], (k, sign))
                    used.add(k)
                    paths.append(far)
        level = paths
    return way, used


@final
@dataclass(frozen=True, slots=True)
class Home:
    """A mechanism at one assembled position: motions, loops and relations."""

    mechanism: Mechanism
    motions: tuple[tuple[Motion, ...], ...]  # of each joint
    loops: tuple[tuple[Step, ...], ...]
    markers: tuple[Transform, ...]  # of each joint on its predecessor, ground's axes
    closure: tuple[Expr, ...]  # what must vanish for the position to be exact
    relations: Relations
    notes: tuple[str, ...]
    poses: Mapping[str, Transform]  # of the bodies

    @property
    def columns(self) -> tuple[Motion, ...]:
        """All motions, joint after joint."""
        return tuple(motion for group in self.motions for motion in group)

    def formulas(self) -> list[Expr]:
        """Seven numbers for each motion (direction, point, pitch), then ratios, then closure."""
        formulas: list[Any] = []
        for motion in self.columns:
            point = zeros(3) if motion.point is None else motion.point
            formulas += [*motion.direction, *point, 0 if motion.pitch is None else motion.pitch]
        formulas += [ratio for row in self.relations.rows for _, ratio, _ in row]
        return [as_expr(x) for x in (*formulas, *self.closure)]

    def numbers(self) -> list[Expr]:
        """All that has a residue: `formulas`, then functions of numbers in curved relations."""
        return [*self.formulas(), *constants_of(self.relations.curved)]

    def check_laws(self) -> None:
        """Raises an error where ranks modulo primes may be larger than they are: of functions whose
        laws residues do not keep. What only has to vanish may hold any."""
        formulas = self.formulas()
        count = len(formulas) - len(self.closure)
        check_laws([*formulas[:count], *self.relations.curved], series=True)

    def system(self, p: int) -> LoopSystem | None:
        """The loops modulo p; None where p lacks a root, or the position is not exact."""
        try:
            numbers = [int(x) for x in evaluate(self.numbers(), domain=residues(p))]
        except (DerivationError, ValueError):
            return None
        constants = constants_of(self.relations.curved)
        first = len(numbers) - len(constants)
        if any(numbers[first - len(self.closure) : first]):
            return None
        values = dict(zip(constants, numbers[first:], strict=True))
        return self.assembled(p, numbers[:first], values)

    def failure(self, p: int) -> DerivationError:
        """Why there is no system: a number without residue modulo p, or joints that do not hold."""
        hint = "Give the starts as exact numbers or formulas that close the loops."
        name = self.mechanism.name
        text = (
            f"the position of '{name}' is not exact: its joints do not hold modulo any prime tried."
        )
        try:
            evaluate(self.numbers(), domain=residues(p))
        except (DerivationError, ValueError) as error:
            why = getattr(error, "message", str(error)).rstrip(".")
            text = f"'{name}' has a number that is not computed modulo primes: {why}."
        return DerivationError(text, hint=hint)

    def assembled(
        self, p: int, numbers: Sequence[int], constants: Mapping[Expr, int] | None = None
    ) -> LoopSystem:
        """The system from the numbers of `formulas`, and of functions in curved relations."""
        screws = [_screws(m, numbers[7 * k : 7 * k + 7], p) for k, m in enumerate(self.columns)]
        first, places = 0, []
        for group in self.motions:
            places.append(range(first, first + len(group)))
            first += len(group)
        loops = [
            [f for joint, sign in loop for f in _factors(places[joint], sign, screws)]
            for loop in self.loops
        ]
        ratios = iter(numbers[7 * first :])
        rows = [[(column, next(ratios), angle) for column, _, angle in row]
                for row in self.relations.rows]  # fmt: skip
        if not self.relations.curved:
            return LoopSystem(p, first, loops, rows, is_first_order=bool(self.relations.tangent))
        linear = rows[: len(self.relations.linear)]
        return LoopSystem(
            p, first, loops, linear, Curved(self.relations.curved, first, constants or {})
        )


def _screws(motion: Motion, numbers: Sequence[int], p: int) -> list[tuple[Any, int | None]]:
    """The screws of a motion with their pitches: one, or two for a screw joint."""
    d, q, pitch = numbers[:3], numbers[3:6], numbers[6]
    slide = (0, 0, 0, *d)
    if motion.point is None:
        return [(slide, None)]
    turn = (*d, *(x % p if p else x for x in _cross(q, d)))
    return [(turn, None)] if motion.pitch is None else [(turn, None), (slide, pitch)]


def _cross(a: Sequence[int], b: Sequence[int]) -> list[int]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _factors(places: range, sign: int, screws: Sequence[Any]) -> list[Factor]:
    factors = [Factor(k, sign, s, pitch) for k in places for s, pitch in screws[k]]
    return factors if sign > 0 else factors[::-1]


def _flat(groups: Sequence[Sequence[Motion]]) -> list[Motion]:
    return [motion for group in groups for motion in group]


def home_of(
    mechanism: Mechanism,
    q: Mapping[str, float] | None = None,
    poses: Mapping[str, Any] | None = None,
    within: float = NEAR,
) -> Home:
    """The exact position that the starts give, or the one near a position assembled in floats.

    Args:
        mechanism: with parameters that have values.
        q: each coordinate that assembly knows, by label; if not given, starts and zeros are taken.
        poses: (R, p) of each body in ground's axes, in floats.
        within: distance of floats from simple numbers, NEAR or WIDE.

    Raises:
        DerivationError: nothing simple and exact is near.
    """
    notes: list[str] = []
    mechanism = valued(mechanism, notes)
    placing = Placing(mechanism, q, poses, notes, within)
    placing.place()
    if q is None and not placing.is_upright():
        raise DerivationError("the starts put a joint together the wrong way round.")
    motions = tuple(placing.motions(joint) for joint in mechanism.joints)
    relations = relations_of(mechanism, _flat(motions), placing.values_by_label())
    if q is None and relations.unchecked:
        name = relations.unchecked[0]
        raise DerivationError(f"whether the starts satisfy '{name}' is not known.")
    return Home(
        mechanism=mechanism,
        motions=motions,
        loops=loops_of(mechanism),
        markers=tuple(markers_of(joint, placing.poses)[0] for joint in mechanism.joints),
        closure=(*placing.closure(), *relations.closure),
        relations=relations,
        notes=(*notes, *relations.notes),
        poses=placing.poses,
    )


def numeric_home(mechanism: Mechanism, q: Mapping[str, float], poses: Mapping[str, Any]) -> Home:
    """A position in floats, where none that is exact is near."""
    notes: list[str] = []
    mechanism = valued(mechanism, notes, rounded=True)
    placing = Placing(mechanism, q, poses, notes)
    placing.poses |= {body: (array(R), array(p)) for body, (R, p) in poses.items()}
    motions = []
    for joint in mechanism.joints:
        F, M = markers_of(joint, placing.poses)
        near = [q.get(label, 0.0) for label in joint.coordinates]
        motions.append(tuple(motions_of(joint, F, M, near)))
    relations = relations_of(mechanism, _flat(motions), q)
    return Home(
        mechanism=mechanism,
        motions=tuple(motions),
        loops=loops_of(mechanism),
        markers=tuple(markers_of(joint, placing.poses)[0] for joint in mechanism.joints),
        closure=tuple(placing.closure()),
        relations=relations,
        notes=(*notes, *relations.notes),
        poses=placing.poses,
    )
