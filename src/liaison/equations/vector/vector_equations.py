"""The equations of a mechanism at the level of detail one wants: vectors, matrices, scalars.

    found = vector_equations(tree)          F(A) + m₁ g = m₁ γ(G₁), …
    found.expand("gamma(G1)")               one term one level down
    found.matrices("bar")                   columns, rows and tildes in the axes of a body
    found.components("ground")              developed scalars

Every level has the value of the one before. Names are explained in intrinsic.py.

What a body carries, as a column in the body's own axes: r₁(G₁), e₁(A), I₁.

What the names of vector equations mean, a sentence each.

Resultant and moment equations of bodies, sub-systems and joint degrees of freedom.

For a sub-system and any point P, fixed or not, by d'Alembert's principle

    Σ F = Σ m γ(G),   Σ C + PA × F = Σ PG × m γ(G) + J ω̇ + ω × J ω                  (levels-5)

where internal joints do not appear. The sub-system that a joint carries, projected on what the
joint leaves free, is an equation of motion without reactions.

Public names: VectorEquations, vector_equations, column, column_value, rotation_name, meaning,
VectorLine, body_lines, system_lines, joint_lines, freedom_lines.

Source: PA, architecture (levels of detail).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import final

from liaison.algebra import (
    Formal,
    as_formal,
    components,
    cross,
    dot,
    matrix,
    replaced,
    rotation_matrix,
    scalar,
    simplified,
    tilde,
    to_latex,
    to_text,
    vector,
    zero,
)
from liaison.algebra.node import Atom, topological, total, transpose
from liaison.algebra.node import product as product_of
from liaison.equations.statement import Line
from liaison.errors import DerivationError, NamingError
from liaison.expr import as_expr
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.names import unicode_symbol
from liaison.lazy import Shown
from liaison.model.contacts import left_out
from liaison.spatial.arrays import Array, is_zero, product
from liaison.tree import Tree

from .intrinsic import Intrinsic
from .scalar_equations import ScalarEquations, is_empty, listed


@final
@dataclass(frozen=True, slots=True, repr=False)
class VectorLine(Shown):
    """One equation between vectors or scalars: left = right; `name` is that of its subject."""

    name: str
    left: Formal
    right: Formal

    @property
    def difference(self) -> Formal:
        """left − right."""
        return self.left - self.right


def body_lines(book: Intrinsic) -> list[VectorLine]:
    """Resultant and moment, at its center of mass, of every body by itself."""
    return [line for i in book.numbers for line in system_lines(book, [i], f"G{i}")]


def system_lines(book: Intrinsic, bodies: Sequence[int], point: str) -> list[VectorLine]:
    """Resultant and moment at a point of the bodies taken together."""
    named = ", ".join(book.node(i).body for i in bodies)
    acting, bearing = _actions(book, bodies, point)
    force = total(zero("vector"), *(book.mass(i) * book.acceleration(f"G{i}") for i in bodies))
    return [
        VectorLine(f"{named}: resultant", acting, force),
        VectorLine(f"{named}: moment at {point}", bearing, _dynamic_moment(book, bodies, point)),
    ]


def _actions(book: Intrinsic, bodies: Sequence[int], point: str) -> tuple[Formal, Formal]:
    """What acts on the bodies from outside: the sum of forces, and that of moments at a point."""
    forces, moments = _applied(book, bodies, point)
    inside = set(bodies)
    for k in book.numbers:
        signs = [sign for sign, i in ((1, k), (-1, book.parent(k))) if i in inside]
        if len(signs) == 1:
            sign, F, C = signs[0], book.joint(k, "F"), book.joint(k, "C")
            forces.append(sign * F)
            moments += [sign * C, sign * cross(book.arm(point, f"O{k}"), F)]
    return total(zero("vector"), *forces), total(zero("vector"), *moments)


def _applied(
    book: Intrinsic, bodies: Sequence[int], point: str
) -> tuple[list[Formal], list[Formal]]:
    """Weights and loads on bodies: forces, and moments at a point."""
    forces: list[Formal] = []
    moments: list[Formal] = []
    for i in bodies:
        acting = loads_on(book, i)
        weight = book.mass(i) * vector("g")
        if any(not is_zero(x) for x in book.setting.gravity):
            acting = [(weight, zero("vector")), *acting]
        for force, moment in acting:
            forces.append(force)
            moments += [cross(book.arm(point, f"G{i}"), force), moment]
    return forces, moments


def loads_on(book: Intrinsic, i: int) -> list[tuple[Formal, Formal]]:
    """Loads and closures that push body i: force, and moment at its center of mass."""
    names = dict.fromkeys(name for name, push, _ in book.pushes if push.node == i - 1)
    return [
        (named_vector(book, f"F({name},{i})"), named_vector(book, f"M({name},{i})"))
        for name in names
    ]


def named_vector(book: Intrinsic, name: str) -> Formal:
    """The vector of a name, zero where all its components are."""
    named = vector(name)
    return zero("vector") if all(is_zero(x) for x in book.value(named)) else named


def _dynamic_moment(book: Intrinsic, bodies: Sequence[int], point: str) -> Formal:
    terms = []
    for i in bodies:
        J, omega = book.tensor(i), book.omega(i)
        terms.append(cross(book.arm(point, f"G{i}"), book.mass(i) * book.acceleration(f"G{i}")))
        terms += [J @ book.alpha(i), cross(omega, J @ omega)]
    return total(zero("vector"), *terms)


def freedom_lines(book: Intrinsic) -> list[VectorLine]:
    """What each joint does not transmit: u(A) · F(A) + e(A) · C(A) = τ(A)."""
    lines = []
    for i in book.numbers:
        for label, (e, u) in directions(book, i).items():
            left = total(dot(u, book.joint(i, "F")), dot(e, book.joint(i, "C")))
            lines.append(VectorLine(f"{label}: transmitted", left, _effort(book, i, label)))
    return lines


def joint_lines(book: Intrinsic) -> list[VectorLine]:
    """The equations of motion: all that a joint carries, along what the joint leaves free."""
    lines = []
    for i in book.numbers:
        bodies, point = book.carried(i), f"O{i}"
        for label, (e, u) in directions(book, i).items():
            forces, moments = _applied(book, bodies, point)
            force, moment = _sum(forces), _sum(moments)
            rates = [book.mass(k) * book.acceleration(f"G{k}") for k in bodies]
            spins = _dynamic_moment(book, bodies, point)
            left = total(_effort(book, i, label), dot(u, force), dot(e, moment))
            right = total(dot(u, _sum(rates)), dot(e, spins))
            lines.append(VectorLine(label, left, right))
    return lines


def _sum(terms: Sequence[Formal]) -> Formal:
    return total(zero("vector"), *terms)


def directions(book: Intrinsic, i: int) -> dict[str, tuple[Formal, Formal]]:
    """Of each velocity of body i's joint, how the body turns and slides for a unit of it."""
    return {
        label: (named_vector(book, f"e({label})"), named_vector(book, f"u({label})"))
        for label in book.freedoms(i)
    }


def _effort(book: Intrinsic, i: int, label: str) -> Formal:
    """τ(A), zero where nothing acts along that freedom itself."""
    j = book.node(i).v.start + book.freedoms(i).index(label)
    return as_formal(0) if is_zero(book.effort(j)) else scalar(f"tau({label})")


_POINTS = {"O": "the joint's origin on {}", "G": "the center of mass of {}"}

# pattern of a name -> what it means; {0}, {1}, … are its groups, numbers as bodies
_MEANINGS = (
    (r"g", "acceleration of free fall [m/s²]"),
    (r"m(\d+)", "mass of {0} [kg]"),
    (r"J(\d+)", "inertia tensor of {0} at its center of mass [kg·m²]"),
    (r"I(\d+)", "inertia tensor of {0} at its center of mass, in its own axes [kg·m²]"),
    (r"omega(\d+)", "angular velocity of {0} [rad/s]"),
    (r"omega(\d+)'", "angular acceleration of {0} [rad/s²]"),
    (r"gamma\(([OG]\d+)\)", "acceleration of {0} [m/s²]"),
    (r"([OG]\d+)([OG]\d+)", "from {0} to {1} [m]"),
    (r"r(\d+)\(([OG]\d+)\)", "place of {1} in the axes of {0} [m]"),
    (r"R(\d)(\d)", "axes of {1} in those of {0}"),
    (r"R\((\d+),(\d+)\)", "axes of {1} in those of {0}"),
    (r"F\((.*),(\d+)\)", "force of {0!r} on {1} [N]"),
    (r"M\((.*),(\d+)\)", "moment of {0!r} on {1} at its center of mass [N·m]"),
    (r"F\((.*)\)", "force of joint {0!r}, and of what acts in it, on the body it carries [N]"),
    (r"C\((.*)\)", "couple of joint {0!r}, and of what acts in it, on the body it carries [N·m]"),
    (r"Omega\((.*)\)", "angular velocity across joint {0!r} [rad/s]"),
    (r"alpha\((.*)\)", "angular acceleration across joint {0!r} [rad/s²]"),
    (r"V\((.*)\)", "sliding velocity across joint {0!r} [m/s]"),
    (r"Gamma\((.*)\)", "sliding acceleration across joint {0!r} [m/s²]"),
    (r"b\((.*)\)", "part of the angular acceleration across joint {0!r} without v̇ [rad/s²]"),
    (r"c\((.*)\)", "part of the sliding acceleration across joint {0!r} without v̇ [m/s²]"),
    (r"e\((.*)\)", "how the body turns for a unit velocity of {0!r}"),
    (r"u\((.*)\)", "how the body slides for a unit velocity of {0!r}"),
    (r"e(\d+)\((.*)\)", "how {0} turns for a unit velocity of {1!r}, in its own axes"),
    (r"u(\d+)\((.*)\)", "how {0} slides for a unit velocity of {1!r}, in its own axes"),
    (r"tau\((.*)\)", "effort along {0!r} itself: motors, springs, relations of coordinates"),
)


def meaning(book: Intrinsic, name: Formal) -> str:
    """What a name of the equations of a mechanism means."""
    text = name.data.name + "'" * name.data.order
    for pattern, sentence in _MEANINGS:
        if match := re.fullmatch(pattern, text):
            return sentence.format(*(_part_text(book, part) for part in match.groups()))
    return "a scalar of the description"


def _part_text(book: Intrinsic, part: str) -> str:
    """A number as its body, a point in words, a name of the author as it is."""
    if match := re.fullmatch(r"([OG])(\d+)", part):
        return _POINTS[match[1]].format(_body(book, int(match[2])))
    return _body(book, int(part)) if part.isdigit() else part


def _body(book: Intrinsic, i: int) -> str:
    return book.node(i).body if i else "ground"


def column(book: Intrinsic, name: Formal) -> tuple[int, Formal] | None:
    """The body in whose axes a vector is constant, and its name there; None without one.

    O1G1 is r1(G1) in the axes of body 1, e(A) is e1(A), J1 is I1.
    """
    text = name.data.name
    if match := re.fullmatch(r"J(\d+)", text):
        return int(match[1]), matrix(f"I{match[1]}", symmetric=True, constant=True)
    if book.is_arm(name) and text.startswith("O") and book.definition(name) is None:
        i, end = re.findall(r"\d+", text)[0], re.findall(r"[OG]\d+", text)[1]
        return int(i), vector(f"r{i}({end})")
    if match := re.fullmatch(r"([eu])\((.*)\)", text):
        i = book.with_freedom(match[2])
        return i, vector(f"{match[1]}{i}({match[2]})")
    return None


def column_value(book: Intrinsic, name: Formal) -> Array | None:
    """The components of a `column` in its body's axes; None for other names."""
    text = name.data.name
    if match := re.fullmatch(r"I(\d+)", text):
        return book.central_inertia(int(match[1]))
    if match := re.fullmatch(r"r(\d+)\(([OG])(\d+)\)", text):
        i, k = int(match[1]), int(match[3])
        return book.center(i) if match[2] == "G" else book.kinematics.pose(k - 1)[1]
    if match := re.fullmatch(r"([eu])(\d+)\((.*)\)", text):
        i = int(match[2])
        S = book.kinematics.subspace(i - 1)[:, book.freedoms(i).index(match[3])]
        return S[:3] if match[1] == "e" else S[3:]
    return None


def rotation_name(basis: int, i: int) -> str:
    """The rotation matrix from the axes of body i to those of the basis."""
    return f"R{basis}{i}" if max(basis, i) < 10 else f"R({basis},{i})"


GROUND_WORDS = ("ground", "earth", "0")


@final
@dataclass(frozen=True, slots=True, repr=False)
class VectorEquations(Shown):
    """Equations between named vectors; `basis` is the number of a body once they are columns."""

    book: Intrinsic
    lines: tuple[VectorLine, ...]
    level: str = "vector"
    basis: int = 0

    # Reading ------------------------------------------------------------------------------------

    @property
    def text(self) -> str:
        """Unicode text, a line an equation, below what the numbers stand for."""
        rows = [(line.name, to_text(line.left), to_text(line.right)) for line in self.lines]
        note = left_out(self.book.setting.mechanism.contacts)
        return "\n".join([self.legend, "", *listed(rows), *(["", note] if note else [])])

    @property
    def latex(self) -> str:
        """LaTeX, aligned at the signs of equality."""
        rows = [rf"{to_latex(line.left)} &= {to_latex(line.right)}" for line in self.lines]
        return "\\begin{aligned}\n" + " \\\\\n".join(rows) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex}$"

    def __str__(self) -> str:
        return self.text

    @property
    def legend(self) -> str:
        """Which number stands for which body, and in whose axes columns are."""
        book = self.book
        bodies = ", ".join(
            f"{i} {book.node(i).body} (on {book.joint_name(i)})" for i in book.numbers
        )
        line = f"{book.setting.mechanism.name}: 0 ground, {bodies}"
        if self.level == "vector":
            return line
        axes = book.node(self.basis).body if self.basis else "ground"
        return f"{line}; columns in the axes of {axes}"

    # One level down -----------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Every name in the equations, as `expand` takes it."""
        return tuple(_name(node.data) for node in self._symbols())

    @property
    def meanings(self) -> dict[str, str]:
        """What every name in the equations means."""
        return {_name(x.data): meaning(self.book, x) for x in self._symbols()}

    @property
    def expandable(self) -> tuple[str, ...]:
        """The names defined by others."""
        return tuple(_name(x.data) for x in self._symbols() if self._definition(x) is not None)

    def _symbols(self) -> list[Formal]:
        symbols: dict[Formal, None] = {}
        for line in self.lines:
            for side in (line.left, line.right):
                symbols |= {node: None for node in topological(side) if node.op == "symbol"}
        return list(symbols)

    def _definition(self, x: Formal) -> Formal | None:
        if x.kind != "vector":
            return None
        definition = self.book.definition(x)
        return (
            definition
            if definition is None or self.level == "vector"
            else self._as_columns(definition)
        )

    def expand(self, *names: str) -> VectorEquations:
        """The equations with each name replaced by its definition, one level down.

        Args:
            names: as `expandable` lists them, or as they are printed; none means all of them.

        Raises:
            NamingError: the equations hold no such name.
            DerivationError: the name is given, and made of no others.
        """
        parts: dict[Formal, Formal] = {}
        for x in self._symbols():
            known = (_name(x.data), unicode_symbol(x.data.name, order=x.data.order))
            if not names or set(known) & set(names):
                definition = self._definition(x)
                if definition is not None:
                    parts[x] = definition
                elif names:
                    raise _not_expandable(_name(x.data), self.expandable)
        names_of_parts = {_name(x.data) for x in parts} | {to_text(x) for x in parts}
        for name in names:
            if name not in names_of_parts:
                raise NamingError.unknown("term of these equations", name, self.names)
        return self._with(lambda side: replaced(side, parts))

    def expand_all(self) -> VectorEquations:
        """Every name replaced until only given quantities are left."""
        expanded, more = self, self.expand()
        while more.lines != expanded.lines:
            expanded, more = more, more.expand()
        return expanded

    def simplified(self) -> VectorEquations:
        """Each side in its shortest form by the laws of vectors and tildes."""
        return self._with(simplified)

    def _with(self, change: Callable[[Formal], Formal]) -> VectorEquations:
        lines = tuple(replace(x, left=change(x.left), right=change(x.right)) for x in self.lines)
        return replace(self, lines=lines)

    # Matrices -----------------------------------------------------------------------------------

    def matrices(self, basis: str = "ground") -> VectorEquations:
        """The same with columns, rows and tildes in the axes of the ground or of a body.

        What is fixed in body i is expressed by its constant column there, R₀₁ r₁(G₁), R₀₁ I₁ R₀₁ᵀ.

        Raises:
            NamingError: no body has that name.
        """
        equations = replace(self, level="matrix", basis=self._number(basis))
        return equations._with(equations._as_columns)

    def _number(self, basis: str) -> int:
        bodies = {self.book.node(i).body: i for i in reversed(self.book.numbers)}
        if basis in GROUND_WORDS:
            return 0
        if basis not in bodies:
            raise NamingError.unknown("body", basis, [*bodies, "ground"])
        return bodies[basis]

    def _as_columns(self, x: Formal) -> Formal:
        """Products of vectors as tildes and rows, and what a body carries by its own column."""
        done: dict[Formal, Formal] = {}
        for node in topological(x):
            if node.op == "cross":
                done[node] = _tilde(done[node.args[0]]) @ done[node.args[1]]
            elif node.op == "dot":
                done[node] = transpose(done[node.args[0]]) @ done[node.args[1]]
            elif node.op == "symbol":
                done[node] = self._column(node)
            else:
                done[node] = replaced(node, {arg: done[arg] for arg in node.args})
        return done[x]

    def _column(self, node: Formal) -> Formal:
        named = column(self.book, node)
        if named is None:
            path = self.book.definition(node) if self.book.is_arm(node) else None
            return node if path is None else self._as_columns(path)
        i, own = named
        if i == self.basis:
            return own
        R = rotation_matrix(rotation_name(self.basis, i))
        return R @ own @ transpose(R) if own.kind == "matrix" else R @ own

    # Scalars ------------------------------------------------------------------------------------

    def value(self, x: Formal) -> Array:
        """The components of a side or a difference, in the axes of the ground or of the basis."""
        leaves = [node for node in topological(x) if node.op == "symbol"]
        return components(x, {node: self._leaf(node) for node in leaves})

    def _leaf(self, node: Formal) -> Array:
        book = self.book
        own = column_value(book, node)
        if own is not None:
            return own
        back = book.rotation(self.basis).T
        for i in (0, *book.numbers):
            if node.data.name == rotation_name(self.basis, i):
                return product(back, book.rotation(i))
        value = book.value(node)
        if node.kind == "scalar" or not self.basis:
            return value
        return (
            product(product(back, value), back.T) if node.kind == "matrix" else product(back, value)
        )

    def components(self, basis: str = "ground") -> ScalarEquations:
        """Developed scalars: every equation along x, y and z of a basis, in q, v, v̇ and λ.

        Forces and couples of joints stay unknowns in the ground's axes: F(A).x, …. What is
        0 = 0 is left out.
        """
        axes = self._number(basis)
        turn = product(self.book.rotation(axes).T, self.book.rotation(self.basis))
        is_same = axes == self.basis
        lines: list[Line] = []
        for line in self.lines:
            left, right = self.value(line.left), self.value(line.right)
            if left.ndim == 0:
                lines.append(Line(line.name, as_expr(left.item()), as_expr(right.item())))
                continue
            sides = (left, right) if is_same else (product(turn, left), product(turn, right))
            for axis, a, b in zip("xyz", *sides, strict=True):
                lines.append(Line(f"{line.name}, {axis}", as_expr(a), as_expr(b)))
        nonempty = tuple(line for line in lines if not is_empty(line))
        mechanism = self.book.setting.mechanism
        return ScalarEquations(
            mechanism.name, nonempty, self._order(), left_out(mechanism.contacts), self.book.lam
        )

    def _order(self) -> Order:
        """Parameters first, then positions, velocities, accelerations."""
        symbols = self.book.setting.symbols
        kinds = {
            "parameter": symbols.p,
            "position": (symbols.t, *symbols.q),
            "velocity": symbols.v,
            "acceleration": symbols.vdot,
            "multiplier": (*symbols.u, *self.book.lam),
        }
        return Order({kind: [x.name for x in named] for kind, named in kinds.items()})


def _name(atom: Atom) -> str:
    return atom.name + "'" * atom.order


def _tilde(x: Formal) -> Formal:
    """The tilde of a column, with its scalars in front."""
    if x.op != "product":
        return tilde(x)
    scalars = [factor for factor in x.args if factor.kind == "scalar"]
    others = [factor for factor in x.args if factor.kind != "scalar"]
    return product_of(*scalars, tilde(product_of(*others)))


def _not_expandable(name: str, expandable: Sequence[str]) -> DerivationError:
    listed = ", ".join(expandable) or "none"
    return DerivationError(
        f"{name!r} is given and made of no other vectors.",
        hint=f"These can be expanded: {listed}. components(basis) gives its scalars.",
    )


def vector_equations(
    tree: Tree, bodies: Sequence[str] = (), point: str | None = None
) -> VectorEquations:
    """The equations of a mechanism as intrinsic vectors.

    Args:
        tree: of the mechanism, spanned with exact numbers.
        bodies: of a sub-system, by name: its resultant and its moment. By default every body by
            itself, what each joint transmits, and the equations of motion.
        point: of the moments of the sub-system: O0, O1, G1, …; by default O of its first body.

    Raises:
        NamingError: no body, or no point, has that name.
    """
    book = Intrinsic(tree)
    if not bodies and point is None:
        lines = [*body_lines(book), *freedom_lines(book), *joint_lines(book)]
        return VectorEquations(book, tuple(lines))
    numbers = _numbers(book, bodies)
    at = point or f"O{numbers[0]}"
    points = ["O0", *(f"{kind}{i}" for i in book.numbers for kind in "OG")]
    if at not in points:
        raise NamingError.unknown("point", at, points)
    return VectorEquations(book, tuple(system_lines(book, numbers, at)))


def _numbers(book: Intrinsic, bodies: Sequence[str]) -> list[int]:
    """The numbers of bodies by name; all of them where none is named."""
    known = {book.node(i).body: i for i in reversed(book.numbers)}
    for name in bodies:
        if name not in known:
            raise NamingError.unknown("body", name, known)
    return sorted({known[name] for name in bodies}) or list(book.numbers)
