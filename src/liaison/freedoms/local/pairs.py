"""Relations of low degree between pairs of unknowns along a path, and what a tree of them proves.

Pairs of unknowns x_u(s), x_v(s) that satisfy R(x_u, x_v) = 0 to the order of their series are the
edges of a graph. A tree in it, from an unknown that is left as it is, defines power series x̃
exactly, one unknown after the other: R(x̃_u, ·) has one root near x_v (Hensel's lemma), which agrees
with x_v to an order less by the valuation of ∂R/∂x_v. For the unknowns of a set of equations take
the least part of the tree that joins them, and the curve C of all unknowns in it. The degree of the
field of C over that of x_v alone, hence the number of poles of x_v on C, is at most

    Π deg_{x_w} R  over the edges of that part, w the end farther from v.     (mobility-16)

An equation of degree one in each unknown has at most as many zeros on C as its unknowns have poles.

Public names: Proof, SLACK, dependence, tree_proof.

Source: FUL69 ch. 8; docs/theory/mobility.md (mobility-16).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import log, prod
from typing import Any, TypeAlias, final

from liaison.exact.linear import Series, matrix, valuation
from liaison.freedoms.clock import go_on

SLACK = 6
"""Terms of a series beyond the coefficients of a relation that must agree with it."""

HIGHEST = 4
"""Highest degree of a relation of two unknowns in each of them."""


@final
@dataclass(frozen=True, slots=True)
class Proof:
    """The order to which every equation must vanish along a path, so that it vanishes for ever."""

    order: int
    words: str  # on what the path lies


@final
@dataclass(frozen=True, slots=True)
class _Edge:
    """A relation R(x_u, x_v) = 0: its degree in each, valuation of its derivative by each."""

    ends: tuple[int, int]
    degrees: tuple[int, int]
    slopes: tuple[int, int]

    def degree_in(self, k: int) -> int:
        """Its degree in one of its unknowns."""
        return self.degrees[self.ends.index(k)]

    def slope_in(self, k: int) -> int:
        """The valuation of its derivative by one of its unknowns."""
        return self.slopes[self.ends.index(k)]


Tree: TypeAlias = dict[int, _Edge | None]
"""The relation by which each unknown is reached; None for the first."""

Groups: TypeAlias = Sequence[Sequence[int]]
"""Unknowns of each set of equations."""


def dependence(columns: Sequence[Any], ring: Series) -> list[int] | None:
    """Weights with which the columns up to one sum to 0 to the order; None where none do.

    They are sought on as few terms as there are weights, and SLACK more, and checked on all.
    """
    length = min(ring.order, len(columns) + SLACK)
    rows = [_padded(f, length) for f in columns]
    reduced, rank = matrix(rows, ring.p).transpose().rref()
    column = next((j for j in range(rank) if int(reduced[j, j]) != 1), rank)
    if column >= len(columns):
        return None
    weights = [-int(reduced[i, column]) for i in range(column)] + [1]
    total = ring.zero
    for w, f in zip(weights, columns, strict=False):
        total = total + f * (w % ring.p)
    return weights if valuation(total, ring.order) == ring.order else None


def _padded(f: Any, length: int) -> list[int]:
    listed = [int(c) for c in f.coeffs()][:length]
    return listed + [0] * (length - len(listed))


def tree_proof(path: Sequence[Any], ring: Series, groups: Groups) -> Proof | None:
    """The order that proves what a path satisfies, by relations of pairs; None if they are too few.

    Args:
        path: a series in s for each unknown, without constant term.
        ring: of the series; its order is that of the path.
        groups: unknowns of each set of equations, which are of degree one in each of them.
    """
    moving = [k for k, x in enumerate(path) if not x.is_zero()]
    edges = _edges(path, ring, groups)
    trees = [_tree(root, edges) for root in moving] if len(edges) >= len(moving) - 1 else []
    needs = [_need(tree, path, ring, groups) for tree in trees if len(tree) == len(moving)]
    best = min((need for need in needs if need is not None), default=None)
    if best is None:
        return None
    count = len(moving) - 1
    return Proof(best, f"an algebraic curve, by {count} relations between pairs of unknowns,")


def _need(tree: Tree, path: Sequence[Any], ring: Series, groups: Groups) -> int | None:
    """The order that a tree asks for; None where it does not define the unknowns."""
    agreed = _agreed(tree, ring.order)
    if agreed is None:
        return None
    need = 0
    for group in groups:
        held = [k for k in group if k in tree]
        part = _part(held, tree)
        slowest = min((valuation(path[k], ring.order) for k in held), default=1)
        zeros = sum(_poles(k, part) for k in held)
        lost = ring.order - min((agreed[k] for k in held), default=ring.order)
        need = max(need, slowest * zeros + lost + 1)
    return need


# Relations of pairs -------------------------------------------------------------------------------


def _edges(path: Sequence[Any], ring: Series, groups: Groups) -> list[_Edge]:
    """A relation for each pair of unknowns that occur in one equation, as far as there are."""
    pairs = {(u, v) for group in groups for u in group for v in group if u < v}
    powers = {k: _powers(path[k], ring) for pair in pairs for k in pair if not path[k].is_zero()}
    edges = []
    for u, v in sorted(pairs):
        if u in powers and v in powers:
            go_on()
            edge = _edge((u, v), powers[u], powers[v], ring)
            if edge is not None:
                edges.append(edge)
    return edges


def _powers(x: Any, ring: Series) -> list[Any]:
    powers = [ring.one]
    for _ in range(HIGHEST):
        powers.append(ring.mul(powers[-1], x))
    return powers


def _edge(ends: tuple[int, int], U: list[Any], V: list[Any], ring: Series) -> _Edge | None:
    for top in range(1, HIGHEST + 1):
        if (top + 1) ** 2 + SLACK > ring.order:
            return None
        exponents = sorted(((a, b) for a in range(top + 1) for b in range(top + 1)),
                           key=lambda e: (max(e), sum(e), e))  # fmt: skip
        weights = dependence([ring.mul(U[a], V[b]) for a, b in exponents], ring)
        if weights is not None:
            terms = [(e, w % ring.p) for e, w in zip(exponents, weights, strict=False) if w]
            degrees = (max(e[0] for e, _ in terms), max(e[1] for e, _ in terms))
            return _Edge(ends, degrees, _slopes(terms, U, V, ring)) if all(degrees) else None
    return None


def _slopes(terms: Any, U: list[Any], V: list[Any], ring: Series) -> tuple[int, int]:
    first, second = ring.zero, ring.zero
    for (a, b), w in terms:
        if a:
            first = first + ring.mul(U[a - 1], V[b]) * (a * w % ring.p)
        if b:
            second = second + ring.mul(U[a], V[b - 1]) * (b * w % ring.p)
    return valuation(first, ring.order), valuation(second, ring.order)


# Trees --------------------------------------------------------------------------------------------


def _tree(root: int, edges: Iterable[_Edge]) -> Tree:
    """For each unknown that is reached the relation that does, from the root by short ways; parents
    come before children."""
    touching: dict[int, list[_Edge]] = {}
    for edge in edges:
        for k in edge.ends:
            touching.setdefault(k, []).append(edge)
    tree: Tree = {}
    heap: list[tuple[float, int, int, _Edge | None]] = [(0.0, 0, root, None)]
    count = 0
    while heap:
        way, _, here, reached_by = heappop(heap)
        if here in tree:
            continue
        tree[here] = reached_by
        for edge in touching.get(here, []):
            far = edge.ends[1 - edge.ends.index(here)]
            count += 1
            heappush(heap, (way + 0.1 + log(prod(edge.degrees)), count, far, edge))
    return tree


def _parent(k: int, edge: _Edge) -> int:
    return edge.ends[1 - edge.ends.index(k)]


def _agreed(tree: Tree, order: int) -> dict[int, int] | None:
    """The order to which each x̃ agrees with its series; None where a root is not certain."""
    agreed: dict[int, int] = {}
    for k, edge in tree.items():
        if edge is None:
            agreed[k] = order
            continue
        slope, before = edge.slope_in(k), agreed[_parent(k, edge)]
        if before <= 2 * slope:
            return None
        agreed[k] = before - slope
    return agreed


def _part(held: Sequence[int], tree: Tree) -> dict[int, list[_Edge]]:
    """The least part of the tree that joins some unknowns: relations at each unknown in it."""
    ways = []
    for k in held:
        way, here = [], k
        while (edge := tree[here]) is not None:
            way.append((here, edge))
            here = _parent(here, edge)
        ways.append(way[::-1])
    shared = 0
    for steps in zip(*ways, strict=False):
        if len({k for k, _ in steps}) > 1:
            break
        shared += 1
    part: dict[int, list[_Edge]] = {k: [] for k in held}
    for edge in dict.fromkeys(edge for way in ways for _, edge in way[shared:]):
        for k in edge.ends:
            part.setdefault(k, []).append(edge)
    return part


def _poles(v: int, part: dict[int, list[_Edge]]) -> int:
    """The product of the degrees in the farther ends, seen from v."""
    count, seen, waiting = 1, {v}, [v]
    while waiting:
        here = waiting.pop()
        for edge in part[here]:
            far = _parent(here, edge)
            if far not in seen:
                seen.add(far)
                waiting.append(far)
                count *= edge.degree_in(far)
    return count
