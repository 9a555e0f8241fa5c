"""Equations of motion simplified for reading: rows, M, C and g, or named quantities if large.

Equations of large trees by named intermediate quantities: the recursion, body by body.

Each line holds names of the lines before it: angular velocity ω, angular acceleration α and
acceleration a of every body in its own axes (gravity taken off), then from the tips inwards the
moment n and the force f that its joint transmits to it. What is a number or a single name gets no
line.

M v̇ + B(q, v) + g(q): what of the bias goes with products of velocities, by Christoffel symbols.

    C_ij = ½ Σ_k (∂M_ij/∂q_k + ∂M_ik/∂q_j − ∂M_jk/∂q_i) v_k,    B = C v                 (reading-1)
    vᵀ B = ½ vᵀ Ṁ v                                                                     (reading-2)

(reading-2) holds for every choice of velocities, (reading-1) where they are rates of coordinates.

Source: LL 3.1; RBDA §3.6 for the use of C.

Public names: ReadLine, Readable, readable, numbered_multipliers, NamedRecursion, named_recursion,
read_by_names, Structure, structure, christoffel, power_identity, product_identity.

Source: RBDA §5.3; docs/theory/reading.md (reading-3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm
from typing import Any, final

from liaison.equations.equations import Equations, chetaev_note, has_rates
from liaison.equations.letters import (
    free_letter,
    multiplier_letter,
    multipliers_of,
    names_in_use,
)
from liaison.equations.modes import Named, chosen_modes, efforts_in, named_rows, resting_rows
from liaison.equations.reading_order import forces_of, order_of, squares_of
from liaison.equations.setting import Setting
from liaison.equations.statement import Line, statement
from liaison.equations.sweeps.recursion import (
    State,
    Wrench,
    at_ground,
    at_parent,
    felt,
    link,
    moved,
    required,
    whirl,
)
from liaison.errors import DerivationError
from liaison.expr import (
    ZERO,
    Expr,
    as_expr,
    directional,
    gradient,
    substitute,
    symbol,
    symbols_of,
    topological,
    vanishes,
)
from liaison.expr.graph.node import HALF
from liaison.expr.reading.arrange import (
    NICE,
    ONE,
    Form,
    Monomial,
    Order,
    arranged,
    common_factor,
    quotient,
    scaled,
    sum_of,
)
from liaison.expr.reading.names import unicode_name
from liaison.expr.reading.reading import Name, Number, Reading, leaves, names_in, plain, to_expr
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.shared import Parts
from liaison.expr.reading.simplify import Reader, vanishes_exactly
from liaison.lazy import Shown, Typeset
from liaison.spatial.arrays import Array, array
from liaison.tree import GROUND, Tree, merged

from .legible import AXES, Legible, legible
from .rolling import rolling_of
from .sides import DOTS, ReadSide, is_hard, read_sides


@final
@dataclass(frozen=True, slots=True)
class Structure:
    """M v̇ + B + g = τ + Gᵀ λ.

    Attributes:
        M: all entries, row by row.
        B: what vanishes with the velocities.
        g: the rest of the bias.
    """

    M: tuple[tuple[Expr, ...], ...]
    B: tuple[Expr, ...]
    g: tuple[Expr, ...]


def structure(equations: Equations) -> Structure:
    """The equations by their parts."""
    n = len(equations.symbols.v)
    M = [[ZERO] * n for _ in range(n)]
    for (i, j), entry in equations.dynamics.M.items():
        M[i][j] = M[j][i] = as_expr(entry)
    h = [as_expr(x) for x in equations.dynamics.h]
    g = substitute(h, dict.fromkeys(equations.symbols.v, ZERO))
    B = [as_expr(a - b) for a, b in zip(h, g, strict=True)]
    return Structure(tuple(map(tuple, M)), tuple(B), tuple(g))


def christoffel(equations: Equations) -> tuple[tuple[Expr, ...], ...]:
    """C of (reading-1), row by row.

    Raises:
        DerivationError: some velocities are no rates of coordinates, or a potential depends on
            velocities.
    """
    if not has_rates(equations):
        raise DerivationError(
            f"{equations.name!r} has velocities that are no rates of coordinates; Christoffel "
            "symbols are those of coordinates.",
            hint="Describe attitudes by Euler or Bryant angles, or use B of `structure`.",
        )
    potentials = equations.facts.get("rate_potentials", ())
    if potentials:
        raise DerivationError(
            f"the potential {potentials[0]!r} depends on velocities: what of the bias goes with "
            "velocities is not given by M alone, as Christoffel symbols are.",
            hint="Use B of `structure`.",
        )
    M, q, v = structure(equations).M, equations.symbols.q, equations.symbols.v
    n = len(v)
    slopes = [[gradient(entry, list(q)) for entry in row] for row in M]

    def entry(i: int, j: int) -> Expr:
        total: Any = ZERO
        for k in range(n):
            total = total + (slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * v[k]
        return as_expr(HALF * total)

    return tuple(tuple(entry(i, j) for j in range(n)) for i in range(n))


def power_identity(equations: Equations) -> bool:
    """Whether vᵀ B = ½ vᵀ Ṁ v, exactly: modulo a prime, at random points."""
    parts, v = structure(equations), equations.symbols.v
    flow = dict(zip(equations.symbols.q, _rates(equations), strict=True))
    total: Any = ZERO
    for i, row in enumerate(parts.M):
        total = total - v[i] * parts.B[i]
        for j, change in enumerate(directional(list(row), flow)):
            total = total + HALF * v[i] * change * v[j]
    return vanishes_exactly(as_expr(total))


def product_identity(equations: Equations) -> bool:
    """Whether C v = B and Ṁ − 2 C is skew, exactly: modulo a prime, at random points."""
    parts, C, v = structure(equations), christoffel(equations), equations.symbols.v
    flow = dict(zip(equations.symbols.q, _rates(equations), strict=True))
    for i, row in enumerate(C):
        left: Any = -parts.B[i]
        for x, entry in zip(v, row, strict=True):
            left = left + entry * x
        change = directional(list(parts.M[i]), flow)
        skew = [m - row[j] - C[j][i] for j, m in enumerate(change)]
        if not all(vanishes_exactly(as_expr(x)) for x in (left, *skew)):
            return False
    return True


def _rates(equations: Equations) -> list[Expr]:
    """q̇ = N v."""
    rates: list[Any] = [ZERO] * len(equations.symbols.q)
    for (i, j), entry in equations.kinematics.N.items():
        rates[i] = rates[i] + entry * equations.symbols.v[j]
    return rates


@final
@dataclass(frozen=True, slots=True)
class NamedRecursion:
    """Formulas by names, in the order in which they can be computed.

    Attributes:
        quantities: name and formula of each.
        rows: M v̇ + h for every velocity, in terms of them.
        bodies: which body each number stands for.
        letters: of angular velocity and acceleration, acceleration, moment, force.
    """

    quantities: tuple[tuple[str, Expr], ...]
    rows: tuple[Expr, ...]
    bodies: tuple[str, ...]
    letters: tuple[str, ...]


def named_recursion(tree: Tree) -> NamedRecursion:
    """M v̇ + h of a tree, by names for what every body does and bears."""
    setting = Setting(merged(tree))
    kinematics, nodes = setting.kinematics, setting.kinematics.tree.nodes
    vdot = array(list(setting.symbols.vdot))
    book = _Book(names_in_use(setting.symbols))
    states: dict[int, State] = {GROUND: at_ground(setting.gravity)}
    for i, node in enumerate(nodes):
        state = moved(states[node.parent], link(kinematics, i), vdot[node.v])
        omega = book.entered("omega", i, state.omega)
        alpha = book.entered("alpha", i, state.alpha)
        states[i] = State(omega, alpha, book.entered("a", i, state.a), whirl(omega, alpha))
    own = [required(node.inertia, states[i]) for i, node in enumerate(nodes)]
    rows: list[Any] = [0] * setting.tree.nv
    for i in range(len(nodes) - 1, -1, -1):
        wrench: Wrench = (book.entered("n", i, own[i][0]), book.entered("f", i, own[i][1]))
        rows[nodes[i].v] = map(as_expr, felt(kinematics.subspace(i), wrench))
        parent = nodes[i].parent
        if parent != GROUND:
            moment, force = at_parent(kinematics.pose(i), wrench)
            own[parent] = (own[parent][0] + moment, own[parent][1] + force)
    used = _used(book.lines, rows)
    bodies = tuple(node.body for node in nodes)
    return NamedRecursion(tuple(used), tuple(rows), bodies, tuple(book.letters.values()))


MOTIONS = ("omega Omega", "alpha beta", "a b", "n N", "f F")
"""Letters for what a body does and bears: angular velocity and acceleration, acceleration, moment,
force."""


class _Book:
    """Names in use."""

    def __init__(self, in_use: Sequence[str]) -> None:
        self.lines: list[tuple[str, Expr]] = []
        self.letters = {x.split()[0]: free_letter(in_use, x) for x in MOTIONS}

    def entered(self, kind: str, i: int, entries: Iterable[Any]) -> Array:
        """The entries of a vector by their names; what is short stays as it is."""
        name = f"{self.letters[kind]}{i + 1}"
        return array([self._entered(f"{name}.{x}", e) for x, e in zip("xyz", entries)])

    def _entered(self, name: str, entry: Any) -> Any:
        formula = as_expr(entry)
        if formula.op in ("const", "symbol"):
            return entry
        self.lines.append((name, formula))
        return symbol(name)


def _used(lines: list[tuple[str, Expr]], rows: Sequence[Expr]) -> list[tuple[str, Expr]]:
    """The lines that the rows need, in order."""
    from_names = dict(lines)
    needed: set[str] = set()
    stack = list(rows)
    while stack:
        for node in _symbols(stack.pop()):
            if node in from_names and node not in needed:
                needed.add(node)
                stack.append(from_names[node])
    return [(name, formula) for name, formula in lines if name in needed]


def _symbols(f: Expr) -> list[str]:
    return [str(x.a) for x in symbols_of([f])]


LONGEST = 400
"""Names and numbers in one row; a system with a longer row is read by named quantities."""

NODES = 2000
"""Operations of all rows, shared ones once, beyond which no row is developed for trial."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class ReadLine(Shown):
    """left = right, both simplified; divided by `divisor`, a product of parameters."""

    name: str
    left: Reading
    right: Reading
    divisor: Reading = ONE


@final
@dataclass(frozen=True, slots=True, repr=False)
class Readable(Typeset):
    """Equations for reading.

    Attributes:
        name, formalism: of the mechanism; how it was derived.
        labels: of q, v and λ, with units; of unilateral forces, each behind its name.
        lines: M v̇ + h = τ + Gᵀ λ, velocity by velocity, then G v̇ = γ.
        blocks: entries that are not zero of "M", "C" (Christoffel) or "B", and "g".
        quantities: names used in the lines, where these would be too long.
        integrals: what stays constant: name, formula, and why.
        values: numbers that the names stand for.
        notes: what a reader should know.
        sides: unilateral constraints, block by block.
        mode: which of its modes the lines are of; "" for all at once.
        multiplier: the letter of multipliers: `lambda`, where the mechanism has no λ.
    """

    name: str
    formalism: str
    labels: Mapping[str, tuple[str, ...]]
    lines: tuple[ReadLine, ...]
    blocks: Mapping[str, tuple[tuple[str, Reading], ...]] = field(default_factory=dict)
    quantities: tuple[tuple[str, Reading], ...] = ()
    integrals: tuple[tuple[str, Reading, str], ...] = ()
    values: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
    sides: tuple[ReadSide, ...] = ()
    mode: str = ""
    multiplier: str = "lambda"


def readable(
    equations: Equations,
    tree: Tree | None = None,
    longest: int = LONGEST,
    modes: Mapping[str, str] | None = None,
) -> Readable:
    """The equations, short; by named quantities where a row would be too long.

    Args:
        equations: derived with exact numbers (`derive(…, exact=True)`), or decimals come as the
            binary fractions they are.
        tree: what they were derived of; where it is given and has the same velocities, quantities
            are named by what bodies do and bear.
        longest: names and numbers in a row.
        modes: one mode of unilateral constraints: "open", "closed", "sticks" or "slips" by
            the name of a contact, a relation or a friction (`chosen_modes`); all if not given.
    """
    case, prepared = _Case.of(equations, modes), legible(equations)
    try:
        page = _developed(prepared.equations, case, longest)
    except TooLarge:
        prepared = prepared.by_axes()
        is_of_tree = tree and _names(equations) == [x.name for x in tree.velocity_labels()]
        page = (tree and is_of_tree and _rolling(equations, tree)) or _by_names(
            prepared, case, tree if is_of_tree else None
        )
    sides = case.sides(prepared)
    items = [x for side in sides for line in side.relations for x in line.items]
    in_words = AXES not in prepared.notes and any(
        not isinstance(x, str) and names_in(x) & {"V_rel", "Omega_rel"} for x in items
    )
    notes = (AXES,) * in_words + (LEFT_OUT,) * (DOTS in items)
    chosen = tuple(chetaev_note(name) for name in equations.facts.get("nonlinear_rates", ()))
    notes = (*page.notes, *prepared.notes, *notes, *chosen)
    return replace(page, sides=sides, mode=case.mode_text(equations), notes=notes)


LEFT_OUT = "… stands for formulas of contacts that are too long to be read; `entries` has them."


@final
@dataclass(frozen=True, slots=True)
class _Case:
    """Unilateral rows of a page: their forces, and which of them are active."""

    named: Named
    words: list[str] | None
    efforts: list[Expr]
    held: list[int]

    @classmethod
    def of(cls, equations: Equations, modes: Mapping[str, str] | None) -> _Case:
        words = None if modes is None else chosen_modes(equations, modes)
        named = named_rows(equations)
        held = [] if words is None else resting_rows(equations, words)
        return cls(named, words, efforts_in(equations, named, words), held)

    def statement(self, equations: Equations) -> tuple[Line, ...]:
        return statement(equations, self.efforts, self.held)

    def sides(self, prepared: Legible) -> tuple[ReadSide, ...]:
        equations = prepared.equations
        if not equations.sides.blocks:
            return ()
        order, squares = order_of(equations), squares_of(equations)
        return read_sides(prepared, self.named, self.words, order, squares)

    def mode_text(self, equations: Equations) -> str:
        """The mode in words: "floor closed, floor: sliding slips"."""
        pairs = zip(equations.sides.blocks, self.words or (), strict=False)
        return ", ".join(f"{side.name} {word}" for side, word in pairs)


def _names(equations: Equations) -> list[str]:
    return [label.name for label in equations.labels["v"]]


def _labels(equations: Equations) -> dict[str, tuple[str, ...]]:
    kept = ("q", "v", "lam", "u", "p")
    labels = {part: tuple(map(str, equations.labels.get(part, ()))) for part in kept}
    if equations.sides.blocks:
        named = named_rows(equations)
        rows = zip(named.effort, named.force, equations.sides.labels, strict=True)
        labels["force"] = tuple(f"{x.name} {label}" for x, f, label in rows if not vanishes(f))
    return labels


def numbered_multipliers(equations: Equations) -> Callable[[Sequence[Expr]], list[Expr]]:
    """Formulas with multipliers called λ₁, λ₂, …"""
    numbers = map(symbol, multipliers_of(equations))
    names = dict(zip(equations.symbols.lam, numbers, strict=True))
    return lambda fs: substitute(list(fs), names) if names else list(fs)


def _developed(equations: Equations, case: _Case, longest: int) -> Readable:
    lines, numbered = case.statement(equations), numbered_multipliers(equations)
    left = [as_expr(line.left) for line in lines]
    right = numbered([as_expr(line.right) for line in lines])
    if len(topological([*left, *right])) > NODES or any(map(is_hard, equations.sides.D.values())):
        raise TooLarge(f"the equations have more than {NODES} operations")
    blocks = _blocks(equations)
    order, squares = order_of(equations), squares_of(equations)
    everything = [*left, *right, *(f for part in blocks.values() for _, f in part)]
    reader = Reader([*everything, *squares.values()], order, squares)
    rows = []
    for line, a, b in zip(lines, left, right, strict=True):
        row = read_line(reader, equations, line.name, a, b)
        if leaves(row.left) + leaves(row.right) > longest:
            raise TooLarge(f"a row has more than {longest} names and numbers")
        rows.append(row)
    read = {key: [(n, reader.read(f)) for n, f in part] for key, part in blocks.items()}
    kept = {key: tuple((n, x) for n, x in part if leaves(x) > 1 or not _is_zero(x))
            for key, part in read.items()}  # fmt: skip
    return Readable(
        equations.name, equations.formalism, _labels(equations), tuple(rows), kept,
        multiplier=multiplier_letter(equations),
    )  # fmt: skip


def _is_zero(reading: Reading) -> bool:
    return sum_of([reading]) == sum_of([])


LETTERS = ("M A J", "C K Gamma", "B b", "g G h")
"""Of the mass matrix, of velocity products in two ways, and of the bias at rest."""


def _blocks(equations: Equations) -> dict[str, list[tuple[str, Expr]]]:
    """Formulas of M's lower triangle, of C or B, and of g."""
    terms, in_use = structure(equations), names_in_use(equations.symbols)
    M, C, B, g = (free_letter(in_use, x, alone=True) for x in LETTERS)
    n = len(terms.g)
    lower = [(i, j) for i in range(n) for j in range(i + 1)]
    blocks = {"M": [(f"{M}[{i + 1},{j + 1}]", terms.M[i][j]) for i, j in lower]}
    if has_rates(equations) and not equations.facts.get("rate_potentials"):
        rows = enumerate(christoffel(equations))
        blocks["C"] = [(f"{C}[{i + 1},{j + 1}]", x) for i, row in rows for j, x in enumerate(row)]
    else:
        blocks["B"] = [(f"{B}[{i + 1}]", x) for i, x in enumerate(terms.B)]
    blocks["g"] = [(f"{g}[{i + 1}]", x) for i, x in enumerate(terms.g)]
    return blocks


# One row ----------------------------------------------------------------------------------------


def read_line(reader: Reader, equations: Equations, name: str, left: Expr, right: Expr) -> ReadLine:
    """One equation by accelerations and products of velocities, divided by parameters."""
    symbols = equations.symbols
    by = [*symbols.v, *symbols.vdot]
    lam = map(symbol, multipliers_of(equations))
    others = [*lam, *forces_of(equations), *symbols.u]
    sides = [reader.collected(left, by), reader.collected(right, [*by, *others])]
    forms = [form for side in sides for form in side.values() if form]
    if sum(map(len, forms)) > LONGEST:
        raise TooLarge(f"a row has more than {LONGEST} terms")
    divisor = _divisor(forms, reader.order)
    order = reader.order
    a, b = (
        sum_of(_terms({m: quotient(f, divisor, order) for m, f in side.items()}, order))
        for side in sides
    )
    return ReadLine(name, a, b, arranged(divisor, order))


def _terms(side: Mapping[Monomial, Form], order: Order) -> Iterable[Reading]:
    return (scaled(arranged(form, order), m) for m, form in side.items())


def _divisor(forms: Sequence[Form], order: Order) -> Form:
    """The common factor of all terms: parameters, and a number that makes coefficients integers."""
    if not forms:
        return {(): Fraction(1)}
    pure = _parameters_only(common_factor(forms, order), order)
    left = [quotient(form, pure, order) for form in forms]
    coefficients = [c for form in left for c in form.values()]
    if any(c.denominator > NICE or abs(c.numerator) > 1000 for c in coefficients):
        return pure
    scale = Fraction(
        gcd(*(c.numerator for c in coefficients)), lcm(*(c.denominator for c in coefficients))
    )
    return {m: c * scale for m, c in pure.items()}


def _parameters_only(form: Form, order: Order) -> Form:
    """The greatest divisor that holds no position: all of it, or the monomial of its parameters."""
    if all(order.kind(atom) == 0 for m in form for atom, _ in m):
        lead = next(iter(form.values()))
        return {m: c / lead for m, c in form.items()} if len(form) == 1 else form
    shared: dict[Reading, int] | None = None
    for m in form:
        powers = {atom: e for atom, e in m if order.kind(atom) == 0}
        shared = powers if shared is None else {
            a: min(e, powers[a]) for a, e in shared.items() if a in powers
        }  # fmt: skip
    return {order.sorted(shared or {}): Fraction(1)}


# Large systems ----------------------------------------------------------------------------------


def _by_names(prepared: Legible, case: _Case, tree: Tree | None) -> Readable:
    """Rows by named quantities: the recursion from body to body, or plain parts of formulas."""
    equations = prepared.equations
    lines, numbered = case.statement(equations), numbered_multipliers(equations)
    left = [as_expr(line.left) for line in lines]
    right = numbered([as_expr(line.right) for line in lines])
    parts = Parts(free_letter(names_in_use(equations.symbols), "w z y"))
    notes = ["The rows are too long to be developed; they are given by named quantities."]
    if tree is not None:
        recursion = named_recursion(tree)
        for name, f in recursion.quantities:
            parts.named(name, f)
        left[: len(recursion.rows)] = recursion.rows
        numbers = ", ".join(f"{k + 1} {body}" for k, body in enumerate(recursion.bodies))
        notes += [
            RECURSION.format(*map(unicode_name, recursion.letters)),
            f"Bodies by number: {numbers}.",
        ]
    for direction, f in prepared.axes:
        parts.named(direction.name, f)
    rows = [parts.cut(f) for f in (*left, *right)]
    return read_by_names(equations, [x.name for x in lines], parts.names, rows, notes)


def _rolling(equations: Equations, tree: Tree) -> Readable | None:
    """The page of a body that rolls, where closures are eliminated; None for any other."""
    if equations.dynamics.whole is None:
        return None
    recursion = named_recursion(tree)
    rolling = rolling_of(equations, recursion.quantities, recursion.rows)
    if rolling is None:
        return None
    rows = [*rolling.rows, *(as_expr(0) for _ in rolling.rows)]
    page = read_by_names(equations, rolling.titles, rolling.names, rows, rolling.notes)
    return replace(page, labels={**page.labels, "lam": ()})


MANY = 250
"""Named quantities beyond which formulas are given as they were built."""

RECURSION = (
    "{0}, {1} and {2} are the angular velocity, angular acceleration and acceleration of each body "
    "in its own axes, gravity taken off {2}; {3} and {4} are the moment and the force that its "
    "joint transmits to it."
)


def read_by_names(
    equations: Equations,
    titles: Sequence[str],
    names: Sequence[tuple[str, Expr]],
    rows: Sequence[Expr],
    notes: Sequence[str],
) -> Readable:
    """The page line by line; numbers and plain names get no line."""
    order, squares = order_of(equations), squares_of(equations)
    short: dict[Expr, Expr] = {}

    def read(f: Expr) -> Reading:
        (g,) = substitute([f], short)
        return plain(g) if len(names) > MANY else Reader([g], order, squares).read(g)

    quantities = []
    known: dict[Reading, str] = {}
    for name, f in names:
        reading = read(f)
        if isinstance(reading, Number | Name):
            short[symbol(name)] = to_expr(reading)
        elif reading in known and name.startswith("w"):
            short[symbol(name)] = symbol(known[reading])
        else:
            known.setdefault(reading, name)
            quantities.append((name, reading))
    n = len(titles)
    lines = tuple(
        ReadLine(name, read(a), read(b))
        for name, a, b in zip(titles, rows[:n], rows[n:], strict=True)
    )
    page = Readable(equations.name, equations.formalism, _labels(equations), lines)
    letter = multiplier_letter(equations)
    return replace(page, quantities=tuple(quantities), notes=tuple(notes), multiplier=letter)
