"""Entries of a step with small matrices, fused: from positions to velocities in registers.

Loops over the numbers of a small matrix read and write memory for each of them, which is what
sets the pace of a GPU. These entries are formulas from the state to what a step asks for, with the
elimination between them:

    M + h Jᵀc J = LᵀL,   Q R = L⁻ᵀGᵀ with rows scaled to length 1                  (fused-1)
    L v_f = L v + (1 − Q Qᵀ) L⁻ᵀ h f + Q R⁻ᵀ (ν − G v)/θ                              (fused-2)

at q_θ = q ⊞ θ h v, f taken at the mean of v and the v_f that the forces of v lead to; then the
positions q ⊞ ξ that velocities lead to and the gaps there. L begins at the last velocity,
so that those of different branches of a tree stay apart. What of it is a number, or zero, is not
stored. Rows are not exchanged: the least pivot is among the results, and where it is small whoever
calls takes another way. c are slopes of the laws of loads that follow what they act along; whether
their efforts at the end are those that the step applied is among the results, too.

Public names: FUSED, STEP, QUICK, BENDING, fused, LARGEST.

Source: RBDA §8.3 (LᵀL), GVL13 §5.2.8 (modified Gram–Schmidt, twice).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from liaison.errors import ProgramError
from liaison.expr import (
    ONE,
    ZERO,
    Expr,
    absolute,
    constant,
    maximum,
    minimum,
    sqrt,
    substitute,
    symbol,
    topological,
    vanishes,
)
from liaison.program.program import Entry, Program

STEP = ("free", "rows", "row", "push", "again", "back", "land")
"""Entries of every step, in the order in which loops number them."""

QUICK, BENDING = ("sides", "middle", "moved"), ("bend",)
"""Those that steps in registers call besides, and steps in which laws of loads bend."""

FUSED = (*STEP, *QUICK, *BENDING)
"""All of them, in this order."""

LARGEST = 32
"""Velocities at most: beyond, straight code is longer than caches for instructions."""

VISCOUS, LAW = 4, 8
"""The place of the viscous coefficient in a block's law, and the length of one."""

CHANGE = symbol("fused change")
"""J (v₁ − v) of a load."""

LIGHTER = 4.0
"""As in `contacts/stepping/loads.py`."""

Vector = list[Expr]


@final
@dataclass(frozen=True, slots=True)
class _Load:
    """A load that follows what it acts along, and how it is linear about the state."""

    k: int
    J: tuple[Expr, ...]
    x: Expr
    rate: Expr
    effort: Expr
    slope: Expr
    weight: Expr
    light: Expr
    is_linear: bool  # in what it acts along: it is nowhere else than where it was taken


@final
@dataclass(frozen=True, slots=True)
class _Factor:
    """L, Q and R of (fused-1), with inverses of what is divided by."""

    L: tuple[tuple[Expr, ...], ...]  # below the diagonal
    inverse: tuple[Expr, ...]  # of the diagonal of L
    Q: tuple[tuple[Expr, ...], ...]
    R: tuple[tuple[Expr, ...], ...]  # above the diagonal, by columns
    lengths: tuple[Expr, ...]  # inverses of the diagonal of R
    scale: tuple[Expr, ...]

    def numbers(self) -> Vector:
        """All of it, in a fixed order."""
        rows = (*self.L, self.inverse, *self.Q, *self.R, self.lengths, self.scale)
        return [x for row in rows for x in row]

    def renamed(self, values: Sequence[Expr]) -> _Factor:
        """The same with other numbers in this order."""
        rest = iter(values)

        def row(old: Sequence[Expr]) -> tuple[Expr, ...]:
            return tuple(next(rest) for _ in old)

        return _Factor(
            tuple(map(row, self.L)), row(self.inverse), tuple(map(row, self.Q)),
            tuple(map(row, self.R)), row(self.lengths), row(self.scale),
        )  # fmt: skip

    def inwards(self, x: Sequence[Expr]) -> Vector:
        """L⁻ᵀ x."""
        w = list(x)
        for k in reversed(range(len(w))):
            w[k] = w[k] * self.inverse[k]
            for i in range(k):
                w[i] = w[i] - self.L[k][i] * w[k]
        return w

    def outwards(self, w: Sequence[Expr]) -> Vector:
        """L⁻¹ w."""
        x: Vector = []
        for k, value in enumerate(w):
            x.append((value - _dot(self.L[k], x)) * self.inverse[k])
        return x

    def across(self, w: Sequence[Expr]) -> Vector:
        """(1 − Q Qᵀ) w."""
        x = list(w)
        for q in self.Q:
            x = _less(x, _dot(q, x), q)
        return x

    def along(self, right: Sequence[Expr]) -> Vector:
        """Q R⁻ᵀ of what rows ask for: the shortest vector with those products."""
        y: Vector = []
        for i, value in enumerate(right):
            rest = value * self.scale[i] - _dot(self.R[i], y)
            y.append(rest * self.lengths[i])
        return [_dot(y, column) for column in zip(*self.Q, strict=True)] if self.Q else []


def _dot(x: Sequence[Expr], y: Sequence[Expr]) -> Expr:
    total: Expr = ZERO
    for a, b in zip(x, y, strict=False):
        total = total + a * b
    return total


def _minus(x: Sequence[Expr], y: Sequence[Expr]) -> Vector:
    return [a - b for a, b in zip(x, y, strict=True)]


def _less(x: Sequence[Expr], c: Expr, q: Sequence[Expr]) -> Vector:
    return [a - c * b for a, b in zip(x, q, strict=True)]


def _plus(x: Sequence[Expr], y: Sequence[Expr]) -> Vector:
    return [a + b for a, b in zip(x, y, strict=True)] if y else list(x)


def _factor(M: Sequence[Expr], G: Sequence[Sequence[Expr]]) -> tuple[_Factor, Expr]:
    """(fused-1), and the least part that is left of a row by those before it."""
    nv = round(len(M) ** 0.5)
    left = [[M[i * nv + j] for j in range(i + 1)] for i in range(nv)]
    L, inverse, least = [()] * nv, [ZERO] * nv, ONE
    for k in reversed(range(nv)):
        rest = left[k][k]
        least = minimum(least, rest / M[k * nv + k])
        inverse[k] = ONE / sqrt(rest)
        L[k] = tuple(x * inverse[k] for x in left[k][:k])
        for i in range(k):
            for j in range(i + 1):
                left[i][j] = left[i][j] - L[k][i] * L[k][j]
    factor = _Factor(tuple(L), tuple(inverse), (), (), (), ())
    return _with_rows(factor, G, least)


def _with_rows(factor: _Factor, G: Sequence[Sequence[Expr]], least: Expr) -> tuple[_Factor, Expr]:
    """Rows of closures, one after the other, each made orthogonal to those before it."""
    Q: list[Vector] = []
    R: list[tuple[Expr, ...]] = []
    lengths, scale = [], []
    for row in G:
        w = factor.inwards(row)
        size = ONE / sqrt(_dot(w, w))
        w = [x * size for x in w]
        parts: Vector = [ZERO] * len(Q)
        for _ in range(2):
            for k, q in enumerate(Q):
                c = _dot(q, w)
                w = _less(w, c, q)
                parts[k] = parts[k] + c
        square = _dot(w, w) if Q else ONE
        length = ONE / sqrt(square)
        least = minimum(least, square)
        Q.append([x * length for x in w])
        R.append(tuple(parts))
        lengths.append(length)
        scale.append(size)
    whole = _Factor(
        factor.L, factor.inverse, tuple(map(tuple, Q)), tuple(R), tuple(lengths), tuple(scale)
    )
    return whole, least


@final
class _Fusing:
    """Writes the entries of a program.

    What `free` leaves is read by others as x from its second number on: velocities, gaps and
    positions at the end, h, the time at the end, v, what closures ask for, the factor.
    """

    def __init__(
        self, program: Program, theta: float, settled: tuple[float, float] | None = None
    ) -> None:
        self.program, self.theta = program, constant(theta)
        self.nv, self.nc = program.sizes["nv"], program.sizes.get("nc", 0)
        self.nq = program.sizes["nq"]
        self.by_place = {place: node for node, place in program.inputs.items()}
        self.inputs = dict(program.inputs)
        self.h = symbol("fused step") if settled else ZERO
        terms, nv = _blocks(program, "terms"), self.nv
        self.M, self.f, self.phi, self.nu = (list(terms[x]) for x in ("M", "f", "phi", "nu"))
        self.G = [list(terms["G"][k * nv : (k + 1) * nv]) for k in range(self.nc)]
        self.gaps = list(_blocks(program, "one_sided")["gap"])
        self.v = self.listed("v", 0, nv)
        self.loads = () if settled is None else tuple(self.laws_of(_blocks(program, "load_rows")))
        self.settled = settled or (0.0, 0.0)
        self.factor, self.least = _factor(self.M, self.G)
        self.step_factor, self.step_least = _factor(self.stepped(), self.G)
        self.numbers, plain = self.step_factor.numbers(), self.factor.numbers()
        # what is a number already is not stored
        pairs = enumerate(zip(self.numbers, plain, strict=True))
        self.kept = [i for i, (x, y) in pairs if x.op != "const" or x is not y]

    def laws_of(self, rows: dict[str, Sequence[Expr]]) -> Iterator[_Load]:
        """Loads that follow what they act along, those that do."""
        nv, h = self.nv, self.h
        for k, (x, rate) in enumerate(zip(rows["x"], rows["rate"], strict=True)):
            J = list(rows["J"][k * nv : (k + 1) * nv])
            if all(vanishes(y) for y in J):
                continue
            parts = [y * y / self.M[i * nv + i] for i, y in enumerate(J) if not vanishes(y)]
            light = constant(LIGHTER) * sum(parts, ZERO)
            effort, s, stiffness = self.law(k, x, rate)
            s, stiffness = maximum(s, ZERO), maximum(stiffness, ZERO)
            z = h * s * light
            weight = (constant(3.0) + z) / (constant(6.0) + z)
            slope = weight * s + self.theta * self.theta * h * stiffness
            yield _Load(k, tuple(J), x, rate, effort, slope, weight, light, self.is_linear(k))

    def is_linear(self, k: int) -> bool:
        """Whether damping and stiffness of a load are the same at every measure and rate."""
        laws = _blocks(self.program, "load_laws")
        n = len(laws["effort"])
        own = {y for y, at in self.program.inputs.items() if at in (("x", k), ("x", n + k))}
        return own.isdisjoint(topological([laws["damping"][k], laws["stiffness"][k]]))

    def law(self, k: int, x: Expr, rate: Expr) -> tuple[Expr, Expr, Expr]:
        """Effort, damping and stiffness of a load at a measure and its rate."""
        laws = _blocks(self.program, "load_laws")
        n = len(laws["effort"])
        places = {("x", k): x, ("x", n + k): rate}
        values = {y: places[at] for y, at in self.program.inputs.items() if at in places}
        e, s, stiffness = substitute(
            [laws[name][k] for name in ("effort", "damping", "stiffness")], values
        )
        return e, s, stiffness

    def stepped(self, slopes: Mapping[int, Expr] = MappingProxyType({})) -> Vector:
        """M + h Jᵀc J, with slopes other than those of the beginning where some are given."""
        M, nv = list(self.M), self.nv
        for load in self.loads:
            slope = slopes.get(load.k, load.slope)
            for i, a in enumerate(load.J):
                for j, b in enumerate(load.J):
                    M[i * nv + j] = M[i * nv + j] + self.h * slope * a * b
        return M

    def at_change(
        self, load: _Load, f: Expr, before: Sequence[Expr], after: Sequence[Expr], h: Expr
    ) -> Expr:
        """A formula of CHANGE of a load, of the state and of h, in a step between velocities."""
        along = _dot(load.J, _minus(after, before))
        values = self.instead("v", before) | {CHANGE: along, self.h: h}
        return substitute([f], values)[0]

    def bent(self, before: Sequence[Expr], after: Sequence[Expr], h: Expr) -> Expr:
        """Above 0 where the effort of a load at the end is another than the step applies."""
        most: Expr = constant(-1.0)
        part, least = map(constant, self.settled)
        for load in self.loads:
            if load.is_linear:
                continue
            x = load.x + self.theta * self.theta * self.h * CHANGE
            effort, _, _ = self.law(load.k, x, load.rate + load.weight * CHANGE)
            applied = load.effort - load.slope * CHANGE
            off = absolute(effort - applied)
            size = maximum(absolute(effort), absolute(applied))
            worst = minimum(off - part * size, off * self.h * load.light - least)
            most = maximum(most, self.at_change(load, worst, before, after, h))
        return most

    def at(self, array: str, i: int) -> Expr:
        """The symbol of a place."""
        if (array, i) not in self.by_place:
            node = symbol(f"fused {array}{i}")
            self.by_place[array, i], self.inputs[node] = node, (array, i)
        return self.by_place[array, i]

    def listed(self, array: str, first: int, size: int) -> Vector:
        """The symbols of places in a row."""
        return [self.at(array, first + i) for i in range(size)]

    def instead(self, array: str, values: Sequence[Expr]) -> dict[Expr, Expr]:
        """Symbol -> value, of all symbols that are found in an array."""
        places = self.program.inputs.items()
        return {x: values[i] for x, (name, i) in places if name == array and i < len(values)}

    def read(self, first: int) -> _Factor:
        """The factor from where it was stored, in x."""
        values = list(self.numbers)
        for place, i in enumerate(self.kept):
            values[i] = self.at("x", first + place)
        return self.factor.renamed(values)

    def displaced(self, xi: Sequence[Expr], t: Expr | None = None) -> Vector:
        """q ⊞ ξ, at another time where one is given."""
        values = self.instead("x", xi) | ({} if t is None else self.instead("t", [t]))
        return substitute(self.program.entry("retract").outputs, values)

    def midway(self, fs: Sequence[Expr], v: Sequence[Expr], h: Expr) -> Vector:
        """Formulas of q at q_θ."""
        q = self.displaced([self.theta * h * x for x in v])
        return substitute(fs, self.instead("q", q))

    def mean(self, before: Sequence[Expr], after: Sequence[Expr]) -> Vector:
        """(1 − θ) v + θ v₁."""
        theta = self.theta
        return [(ONE - theta) * a + theta * b for a, b in zip(before, after, strict=True)]

    def free_change(
        self, factor: _Factor, f: Sequence[Expr], h: Expr, right: Sequence[Expr]
    ) -> Vector:
        """v_f − v of (fused-2)."""
        w = factor.across(factor.inwards([h * x for x in f]))
        return factor.outwards(_plus(w, factor.along(right)))

    def forces(
        self,
        before: Sequence[Expr],
        after: Sequence[Expr],
        efforts: Mapping[int, Expr] = MappingProxyType({}),
    ) -> Vector:
        """f at the mean of two velocities, with efforts of loads as they are linear."""
        f = substitute(self.f, self.instead("v", self.mean(before, after)))
        for load in self.loads:
            there, _, _ = self.law(load.k, load.x, load.rate + self.theta * CHANGE)
            effort = efforts.get(load.k, load.effort)
            rest = self.at_change(load, effort - there, before, after, self.h)
            f = [x + y * rest for x, y in zip(f, load.J, strict=True)]
        return f

    def ends(self, before: Sequence[Expr], after: Sequence[Expr], h: Expr, t_new: Expr) -> Vector:
        """Velocities at the end, gaps there, positions there."""
        mean = self.mean(before, after)
        xi = [h * x for x in mean]
        if "local_rate" in self.program.entries:
            values = self.instead("v", mean) | self.instead("x", [self.theta * x for x in xi])
            rate = substitute(self.program.entry("local_rate").outputs, values)
            xi = [h * x for x in rate]
        q = self.displaced(xi, t_new)
        gaps = substitute(self.gaps, self.instead("t", [t_new]) | self.instead("q", q))
        return [*after, *gaps, *q]

    def free(self) -> Vector:
        """Whether laws bend, least pivot, the end of the free motion, and what others read.

        x holds h and t_new.
        """
        h, t_new, v = self.at("x", 0), self.at("x", 1), self.v
        right = [(n - _dot(row, v)) / self.theta for n, row in zip(self.nu, self.G, strict=True)]
        factor = self.step_factor
        first = _plus(v, self.free_change(factor, self.f, h, right))
        second = _plus(v, self.free_change(factor, self.forces(v, first), h, right))
        stored = [self.numbers[i] for i in self.kept]
        size = len(second)
        bent = self.bent(v, second, self.h)
        outputs = self.midway([bent, self.step_least, *second, *right, *stored], v, h)
        outputs = substitute(outputs, {self.h: h}) if self.loads else outputs
        second, rest = outputs[2 : 2 + size], outputs[2 + size :]
        return [*outputs[:2], *self.ends(v, second, h, t_new), h, t_new, *v, *rest]

    def left(self) -> tuple[Vector, Expr, Expr, Vector, Vector, _Factor]:
        """What `free` left: v_f, h, t_new, v, what closures ask for, the factor."""
        nv, first = self.nv, self.nv + len(self.gaps) + self.nq
        h, t_new = self.listed("x", first, 2)
        v, right = self.listed("x", first + 2, nv), self.listed("x", first + 2 + nv, self.nc)
        return self.listed("x", 0, nv), h, t_new, v, right, self.read(first + 2 + nv + self.nc)

    def rows(self) -> Vector:
        """Unilateral rows at q_θ; x is what `free` left."""
        _, h, *_ = self.left()
        return self.midway(self.program.entry("one_sided").outputs, self.v, h)

    middle = rows

    def sides(self) -> Vector:
        """Unilateral rows of a state."""
        return list(self.program.entry("one_sided").outputs)

    def moved(self) -> Vector:
        """q ⊞ ξ, of ξ given as x."""
        return list(self.program.entry("retract").outputs)

    def again(self) -> Vector:
        """v_f with forces at the mean of v and velocities given as v."""
        _, h, _, before, right, factor = self.left()
        forces = self.midway(self.forces(before, self.v), before, h)
        return _plus(before, self.free_change(factor, forces, h, right))

    def bend(self) -> Vector:
        """As `free`, with laws that are linear elsewhere: slopes c and e + c J Δ there.

        x holds h, t_new and v, then both of all loads; forces are at the mean of v and what is
        given as v. A law that is linear everywhere has those of the beginning.
        """
        nv = self.nv
        h, t_new, *before = self.listed("x", 0, 2 + nv)
        nf = len(_blocks(self.program, "load_laws")["effort"]) if self.loads else 0
        bending = [load.k for load in self.loads if not load.is_linear]
        slopes = {k: self.at("x", 2 + nv + k) for k in bending}
        efforts = {k: self.at("x", 2 + nv + nf + k) for k in bending}
        factor, least = _factor(self.stepped(slopes), self.G)
        right = [
            (n - _dot(row, self.v)) / self.theta for n, row in zip(self.nu, self.G, strict=True)
        ]
        numbers = factor.numbers()
        firsts = [least, *right, *(numbers[i] for i in self.kept)]
        firsts = substitute(firsts, self.instead("v", before))
        least, right = firsts[0], firsts[1 : 1 + self.nc]
        whole = factor.renamed(self.filled(firsts[1 + self.nc :], numbers))
        change = self.free_change(whole, self.forces(before, self.v, efforts), h, right)
        ends = self.midway([*firsts, *_plus(before, change)], before, h)
        ends = substitute(ends, {self.h: h}) if self.loads else ends
        second, firsts = ends[-nv:], ends[:-nv]
        after = self.ends(before, second, h, t_new)
        return [constant(-1.0), firsts[0], *after, h, t_new, *before, *firsts[1:]]

    def filled(self, stored: Sequence[Expr], numbers: Sequence[Expr]) -> Vector:
        """All numbers of a factor, with those that are stored in their places."""
        values = list(numbers)
        for i, value in zip(self.kept, stored, strict=True):
            values[i] = value
        return values

    def push(self) -> Vector:
        """The end of a step under impulses, whose X P is given as v."""
        free, h, t_new, before, _, factor = self.left()
        after = _plus(free, factor.outwards(self.v))
        bent = self.midway([self.bent(before, after, h)], before, h)
        return [*self.ends(before, after, h, t_new), *bent]

    def row(self) -> Vector:
        """(1 − Q Qᵀ) L⁻ᵀ of a row given as v; x is the factor."""
        factor = self.read(0)
        return factor.across(factor.inwards(self.v))

    def back(self) -> Vector:
        """L⁻¹ of a vector given as v; x is the factor."""
        return self.read(0).outwards(self.v)

    def land(self) -> Vector:
        """What a new state misses: least pivot, δ and v on closures, residuals, gaps, the factor.

        δ is the shortest with G δ = −Φ, and v the nearest with G v = ν; residuals are Φ, G v − ν
        before, and the same after.
        """
        nothing: Vector = [ZERO] * self.nv
        v = self.v

        def missed(v: Sequence[Expr]) -> Vector:
            return [_dot(row, v) - n for n, row in zip(self.nu, self.G, strict=True)]

        def shortest(right: Sequence[Expr]) -> Vector:
            return self.factor.outwards(_plus(nothing, self.factor.along(right)))

        before = missed(v)
        after = _plus(v, shortest([-x for x in before]))
        delta = shortest([-x for x in self.phi])
        left = [*self.phi, *before, *missed(after)]
        plain = self.factor.numbers()
        stored = [plain[i] for i in self.kept]
        return [self.least, *delta, *after, *left, *self.gaps, *stored]


def _blocks(program: Program, name: str) -> dict[str, Sequence[Expr]]:
    """Outputs of an entry by the names of their blocks."""
    entry, first = program.entry(name), 0
    blocks: dict[str, Sequence[Expr]] = {}
    outputs = list(entry.outputs)
    for block, size in entry.layout:
        blocks[block] = outputs[first : first + size]
        first += size
    return blocks


def fused(
    program: Program,
    theta: float,
    settled: tuple[float, float] | None = None,
    names: Sequence[str] = FUSED,
) -> Program | None:
    """Some of FUSED, each with "fused_" before its name; None where loops are the better way.

    Args:
        program: of a mechanism with unilateral rows.
        theta: of Moreau and Jean's steps.
        settled: by what part of themselves, or in a velocity, efforts of loads may be off that
            follow what they act along; None where there are none.
        names: of the entries.
    """
    sizes = program.sizes
    if sizes["nv"] > LARGEST or sizes.get("nphi", 0) != sizes.get("nc", 0):
        return None
    try:
        laws = _blocks(program, "one_sided")["coefficients"]
        if not all(vanishes(x) for x in laws[VISCOUS::LAW]):
            return None
        writer = _Fusing(program, theta, settled)
        entries = {f"fused_{x}": Entry(f"fused_{x}", getattr(writer, x)()) for x in names}
    except (ProgramError, ZeroDivisionError):
        return None  # loops over bodies, which have no formulas; or a velocity without inertia
    return Program(program.name, entries, writer.inputs, sizes)
