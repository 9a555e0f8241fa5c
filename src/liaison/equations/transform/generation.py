"""Automatic generation of the equations: bodies by themselves, then Ψ, then loops.

Each body i has the velocities of its origin and its angular velocity in the ground's axes, V_i.
With r the vector from its origin to its mass center and J its inertia about the origin,

    [ μ 1   −μ r̃ ]        [ −ω × (ω × μ r) ]
    [ μ r̃    J   ] V̇_i =  [ −ω × J ω       ] + F_i                           (generation-1)

The joint between i and j gives V_j = Ψ_ij^i V_i + Ψ_ij^j q̇_j; met breadth first from the ground,
these make V = Ψ q̇, and with V̇ = Ψ q̈ + Ψ̇ q̇ multiplication by ᵀΨ takes all efforts of joints away:

    M q̈ = S + F + ᵀΔ Λ,   M = ᵀΨ 𝓜 Ψ,  S = ᵀΨ (𝓢 − 𝓜 Ψ̇ q̇),  F = ᵀΨ 𝓕 + Q         (generation-2)

Q are efforts along coordinates; Δ, of complementary joints and relations, closes the loops.

Public names: Generation, Step, generation.

Source: PA, « génération des équations », steps 1 to 8; docs/theory/generation.md.
Differs: q̇ is written for its q (velocities of joints), q̈ for its q̇.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.equations.completion import completed, plain_dynamics
from liaison.equations.equations import Entries, Equations
from liaison.equations.setting import Setting, check_no_inertia, setting_of
from liaison.expr import ZERO, Expr, as_expr, directional, to_latex, to_text, vanishes
from liaison.lazy import Shown
from liaison.model.contacts import left_out
from liaison.spatial.arrays import Array, array, cross, dot, identity, plus, product, tilde, zeros
from liaison.tree import GROUND, Motion, Tree


@final
@dataclass(frozen=True, slots=True, repr=False)
class Step(Shown):
    """One step of the algorithm.

    Attributes:
        number: as the document counts.
        title: what is done.
        laws: what is computed, in matrices of blocks, as text.
        entries: what came out, entry by entry, zeros left out.
    """

    number: int
    title: str
    laws: tuple[str, ...]
    entries: Mapping[str, Expr]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """The step with its entries, shared parts first."""
        head = [f"({self.number}) {self.title}", *(f"  {law}" for law in self.laws)]
        if not self.entries:
            return "\n".join(head)
        body = to_text(list(self.entries.values()), names=list(self.entries))
        return "\n".join([*head, *(f"    {line}" for line in body.splitlines())])

    def to_latex(self) -> str:
        """The entries as LaTeX, below the title as a comment."""
        comments = [f"% ({self.number}) {self.title}", *(f"% {law}" for law in self.laws)]
        body = to_latex(list(self.entries.values()), names=list(self.entries))
        return "\n".join([*comments, *([body] if self.entries else [])])


@final
@dataclass(frozen=True, slots=True, repr=False)
class Generation(Shown):
    """The steps, and the equations they end with."""

    steps: tuple[Step, ...]
    equations: Equations
    order: tuple[str, ...]  # bodies as the search met them
    note: str = ""  # what the steps leave out

    def __repr__(self) -> str:
        return f"<Generation {self.equations.name}: {len(self.steps)} steps>"

    def __str__(self) -> str:
        return "\n\n".join([*map(str, self.steps), *([self.note] if self.note else [])])

    def to_latex(self) -> str:
        """All steps."""
        steps = [step.to_latex() for step in self.steps]
        return "\n\n".join([*steps, *([f"% {self.note}"] if self.note else [])])


def generation(tree: Tree) -> Generation:
    """The equations of motion by the algorithm of the document, each step recorded.

    Args:
        tree: of the mechanism; exact numbers make steps that can be read.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/pendulum.lsd"))
        >>> str(liaison.generation(tree)).splitlines()[0]
        '(1) principal and complementary joints, initial constraint matrix'
    """
    setting = setting_of(tree, regroup=False)
    matrices = _Algorithm(setting)
    order = _breadth_first(setting.tree)
    matrices.pass_through(order)
    dynamics = plain_dynamics(setting.symbols.vdot, *matrices.along_joints())
    equations = completed("generation", tree, setting, dynamics)
    nodes = setting.tree.nodes
    steps, names = matrices.steps(order, equations), tuple(nodes[i].body for i in order)
    return Generation(steps, equations, names, left_out(tree.mechanism.contacts))


def _breadth_first(tree: Tree) -> list[int]:
    """Nodes by their distance from the ground."""
    children: dict[int, list[int]] = {}
    for i, node in enumerate(tree.nodes):
        children.setdefault(node.parent, []).append(i)
    order, waiting = [], deque(children.get(GROUND, ()))
    while waiting:
        i = waiting.popleft()
        order.append(i)
        waiting.extend(children.get(i, ()))
    return order


class _Algorithm:
    """Matrices of the bodies by themselves, Ψ, and their products."""

    def __init__(self, setting: Setting) -> None:
        self.setting, self.tree = setting, setting.tree
        self.motions = [setting.kinematics.motion(GROUND, i) for i in range(len(self.tree.nodes))]
        self.bodies = [_inertia(m, n.inertia) for m, n in zip(self.motions, self.tree.nodes)]
        self.loaded: set[str] = set()
        self.forces = self._forces()
        self.psi: dict[int, Array] = {}
        self.blocks: dict[int, tuple[Array, Array]] = {}

    def _forces(self) -> list[Array]:
        """Weight, and loads that are wrenches on bodies, at each origin: force, moment."""
        forces = [_weight(body, self.setting.gravity) for body in self.bodies]
        for load in self.setting.loads:
            if not load.pushes or any(push.root != GROUND for _, push in load.pushes):
                continue
            self.loaded.add(load.name)
            for effort, push in load.pushes:
                if push.node != GROUND:
                    pull = array([effort * x for x in push.force])
                    arm = push.point - self.motions[push.node].p
                    turn = array([effort * x for x in push.moment]) + cross(arm, pull)
                    forces[push.node] = forces[push.node] + array([*pull, *turn])
        return forces

    def pass_through(self, order: Sequence[int]) -> None:
        """Ψ, body by body as the search meets them: its rows are those of V."""
        for j in order:
            node, here = self.tree.nodes[j], self.motions[j]
            S = self.setting.kinematics.subspace(j)
            own = array([*product(here.R, S[3:]).tolist(), *product(here.R, S[:3]).tolist()])
            if not S.shape[1]:
                own = zeros(6, 0)
            rows = zeros(6, self.tree.nv)
            start = zeros(3) if node.parent == GROUND else self.motions[node.parent].p
            carried = _carried(here.p - start)
            if node.parent != GROUND:
                rows = product(carried, self.psi[node.parent])
            rows = array(rows.tolist())
            rows[:, node.v] = own
            self.psi[j], self.blocks[j] = rows, (carried, own)

    def along_joints(self) -> tuple[dict[tuple[int, int], Expr], list[Expr], list[Expr]]:
        """M, h = −S − (weight) and τ, by products with Ψ."""
        n = self.tree.nv
        M: dict[tuple[int, int], Any] = {}
        S, F = [ZERO] * n, [ZERO] * n
        for j, psi in self.psi.items():
            body, bias = self.bodies[j].M, self._bias(j)
            moved = product(body, psi)
            right = self.bodies[j].S(product(psi, self.setting.v)[3:]) - product(body, bias)
            for k in range(n):
                column = psi[:, k]
                if all(vanishes(x) for x in column):
                    continue
                S[k] = plus(S[k], dot(column, right))
                F[k] = plus(F[k], dot(column, self.forces[j]))
                for i in range(k + 1):
                    entry = dot(moved[:, i], column)
                    if not vanishes(entry):
                        M[k, i] = plus(M.get((k, i), 0), entry)
        for k, effort in self.efforts().items():
            F[k] = plus(F[k], effort)
        self.S, self.F = [as_expr(x) for x in S], [as_expr(x) for x in F]
        self.M = {key: as_expr(x) for key, x in M.items()}
        h = [as_expr(-x) for x in self.S]
        return self.M, h, self.F

    def _bias(self, j: int) -> Array:
        """Ψ̇ q̇ of a body."""
        velocity = [as_expr(x) for x in product(self.psi[j], self.setting.v)]
        flow = dict(zip(self.setting.symbols.q, self.setting.qdot, strict=True))
        return array([0 if vanishes(x) else x for x in directional(velocity, flow)])

    def efforts(self) -> dict[int, Any]:
        """Q: loads along coordinates, which are no wrenches given on bodies."""
        check_no_inertia(self.setting, "mass matrices of the bodies")
        efforts: dict[int, Any] = {}
        for load in self.setting.loads:
            if load.name not in self.loaded:
                for k, entry in load.tau.items():
                    efforts[k] = plus(efforts.get(k, 0), entry)
        return efforts

    def steps(self, order: Sequence[int], equations: Equations) -> tuple[Step, ...]:
        """The record."""
        nodes, closures = self.tree.nodes, equations.closures
        carriers = [f"{nodes[j].joint.name} ({nodes[j].body})" for j in order]
        cut = self.tree.cuts
        rows = [label.name for label in equations.labels["lam"]]
        steps = [
            Step(1, "principal and complementary joints, initial constraint matrix", (
                f"principal: {', '.join(carriers)}", f"complementary: {', '.join(cut) or 'none'}",
                *(("Δ₀ V = 0, a force and a moment for each row and body",) if cut else ()),
            ), self._initial_constraints()),
            Step(2, "initial mass matrix: blocks of the bodies", (
                f"𝓜 = diag({', '.join(f'𝓜_{nodes[j].body}' for j in order)})",
                "𝓜_i = [[μ 1, −μ r̃], [μ r̃, J]]",
            ), self._listed("𝓜", {j: self.bodies[j].M for j in order})),
            Step(3, "initial right side", ("𝓢_i = (−ω × (ω × μ r), −ω × J ω)",),
                 self._listed("𝓢", {j: self._own_right(j) for j in order})),
            Step(4, "initial forces", ("𝓕_i = (force, moment at the origin): weight and loads",),
                 self._listed("𝓕", {j: self.forces[j] for j in order})),
            Step(5, "constraint matrix, Δ = Δ₀ Ψ, and rows of relations", tuple(
                f"row {k + 1}: {name}" for k, name in enumerate(rows)
            ), _entries("Δ", closures.G)),
            Step(6, "passage matrix Ψ, breadth first, and products by it", (
                *(_passage(nodes[j], nodes) for j in order),
                f"Ψ = {' '.join(f'Ψ_{nodes[j].body}' for j in reversed(order))}",
                "M = ᵀΨ 𝓜 Ψ,  S = ᵀΨ (𝓢 − 𝓜 Ψ̇ q̇),  F = ᵀΨ 𝓕 + Q",
            ), self._listed("Ψ", {j: self.psi[j] for j in order})),
            Step(7, "substitutions: every matrix in scalars", ("M q̈ = S + F",),
                 _entries("M", self.M) | _vector("S", self.S) | _vector("F", self.F)),
            Step(8, "loop equations", (
                ("M q̈ = S + F + ᵀΔ Λ,  Δ q̈ = γ",) if rows else ("no loop: M q̈ = S + F is all",)
            ), _vector("γ", closures.gamma)),
        ]  # fmt: skip
        return tuple(steps)

    def constraints(self) -> dict[int, dict[int, Array]]:
        """Δ₀ by rows and bodies: the force and moment at a body's origin that a row exerts."""
        delta: dict[int, dict[int, Array]] = {}
        for k, (_, row) in enumerate(self.setting.rows[0]):
            for push in row.pushes:
                if push.node == GROUND:
                    continue
                root = self.setting.kinematics.motion(GROUND, push.root)
                pull, point = product(root.R, push.force), root.p + product(root.R, push.point)
                turn = product(root.R, push.moment) + cross(point - self.motions[push.node].p, pull)
                rows = delta.setdefault(k, {})
                rows[push.node] = rows.get(push.node, zeros(6)) + array([*pull, *turn])
        return delta

    def _initial_constraints(self) -> dict[str, Expr]:
        return {
            f"Δ₀_{self.tree.nodes[j].body}[{k + 1},{a + 1}]": as_expr(x)
            for k, rows in self.constraints().items()
            for j, row in rows.items()
            for a, x in enumerate(row)
            if not vanishes(x)
        }

    def _own_right(self, j: int) -> Array:
        return self.bodies[j].S(product(self.psi[j], self.setting.v)[3:])

    def _listed(self, name: str, blocks: Mapping[int, Array]) -> dict[str, Expr]:
        """Entries that are not zero, by body."""
        entries: dict[str, Expr] = {}
        for j, block in blocks.items():
            body = self.tree.nodes[j].body
            rows = block.tolist()
            for a, row in enumerate(rows):
                for b, x in enumerate(row if isinstance(row, list) else [row]):
                    if not vanishes(x):
                        place = f"{a + 1},{b + 1}" if isinstance(row, list) else f"{a + 1}"
                        entries[f"{name}_{body}[{place}]"] = as_expr(x)
        return entries


@final
@dataclass(frozen=True, slots=True)
class _Body:
    """A body by itself, in the ground's axes at its origin."""

    m: Any
    moment: Array  # μ r
    J: Array

    @property
    def M(self) -> Array:
        r, unit = tilde(self.moment), identity(3)
        M = zeros(6, 6)
        M[:3, :3], M[:3, 3:] = self.m * unit, -r
        M[3:, :3], M[3:, 3:] = r, self.J
        return array(M)

    def S(self, omega: Array) -> Array:
        """−ω × (ω × μ r), −ω × J ω."""
        pull = cross(omega, cross(omega, self.moment))
        return array([-x for x in (*pull, *cross(omega, product(self.J, omega)))])


def _inertia(motion: Motion, inertia: Any) -> _Body:
    m, moment, I = inertia
    return _Body(m, product(motion.R, moment), product(product(motion.R, I), motion.R.T))


def _weight(body: _Body, gravity: Array) -> Array:
    return array([*(body.m * x for x in gravity), *cross(body.moment, gravity)])


def _carried(r: Array) -> Array:
    """What a body carries its next by: (v, ω) -> (v + ω × r, ω)."""
    matrix = zeros(6, 6)
    matrix[:3, :3] = matrix[3:, 3:] = identity(3)
    matrix[:3, 3:] = -tilde(r)
    return array(matrix)


def _passage(node: Any, nodes: Sequence[Any]) -> str:
    """The law of one joint, in blocks."""
    q = ", ".join(node.joint.speeds)
    if node.parent == GROUND:
        return f"V_{node.body} = [R S] ({q})"
    parent = nodes[node.parent].body
    return f"V_{node.body} = [[1, −r̃], [0, 1]] V_{parent} + [R S] ({q})"


def _entries(name: str, entries: Entries) -> dict[str, Expr]:
    return {f"{name}[{i + 1},{j + 1}]": x for (i, j), x in sorted(entries.items())}


def _vector(name: str, entries: Sequence[Expr]) -> dict[str, Expr]:
    return {f"{name}[{k + 1}]": x for k, x in enumerate(entries) if not vanishes(x)}
