"""Rules of space: tildes and mixed products opened, until each term holds at most one of them.

A tilde or a mixed product is an alternating tensor ε whose three slots lead along words to
vectors, or to slots again. Two of them in a term are six terms of scalar products:

    ε_ijk ε_lmn = det [δ_il δ_im δ_in; δ_jl …; …]                                   (algebra-2)

which says ã b̃ = b aᵀ − (a · b) 1, a × (b × c) = b (a · c) − c (a · b), the laws of Lagrange and
of Binet–Cauchy, and what becomes of ã B c̃ with a matrix B between, all at once.

The rule that space has three dimensions: four vectors are never independent.

Alternating over four of the vectors of a term, whether they stand in its mixed product or in
scalar products, gives zero; so the greatest of these terms is a sum of smaller ones:

    [a, b, c] d − [b, c, d] a + [c, d, a] b − [d, a, b] c = 0                        (algebra-3)

and, of four scalar products, Gram's determinant of four vectors. With this rule the normal form
of scalar products, vector products and tildes is complete: what is zero reduces to zero.

Source: WEY39 chapter II, the second main theorem on vector invariants.

Public names: ROWS, four_vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, TypeAlias

from liaison.algebra.node import Atom

from .rule import Rows, measure
from .terms import (
    Factor,
    Monomial,
    Polynomial,
    Ray,
    Word,
    added,
    flipped,
    is_orthogonal_letter,
    is_rotation,
    is_tilde,
    monomial,
    scaled,
    transposed,
)
from .words import best_chain

Normal = Callable[[Monomial], Polynomial]

# A place of a ray in a term: (index of the factor, index in a triple), or the index of a chain,
# where it is cut, and which side of the cut.
Place = tuple[int, ...]


@cache
def _signed_orders() -> tuple[tuple[int, tuple[int, ...]], ...]:
    orders = []
    for order in permutations(range(4)):
        inversions = sum(order[j] > order[i] for i in range(4) for j in range(i))
        orders.append((-1 if inversions % 2 else 1, order))
    return tuple(orders)


def _chain_places(index: int, factor: Factor) -> Iterator[tuple[Place, Ray]]:
    _, a, word, b = factor
    for cut in range(len(word) + 1):
        yield (index, cut, 0), (transposed(word[:cut]), a)
        yield (index, cut, 1), (word[cut:], b)


def _chains(term: Monomial) -> list[list[tuple[Place, Ray]]]:
    """The places of each chain; of a power, as many as could be chosen differently."""
    chains: list[list[tuple[Place, Ray]]] = []
    times: dict[Factor, int] = {}
    for i, factor in enumerate(term):
        if factor[0] == "dot":
            times[factor] = times.get(factor, 0) + 1
            if times[factor] <= 2 * (len(factor[2]) + 1):
                chains.append(list(_chain_places(i, factor)))
    return chains


def _choices(term: Monomial) -> Iterator[tuple[list[Place], list[Ray]]]:
    """Four different rays of a term: some of its triple, and at most one of each chain."""
    triple = next((i for i, f in enumerate(term) if f[0] == "mix"), None)
    slots: list[tuple[Place, Ray]] = []
    if triple is not None:
        slots = [((triple, i), term[triple][i]) for i in (1, 2, 3)]
    chains = _chains(term)
    seen: set[tuple[object, ...]] = set()
    for k in range(min(3, len(slots)), max(-1, 3 - len(chains)), -1):
        for chosen in combinations(slots, k):
            for some in combinations(chains, 4 - k):
                for ends in product(*some):
                    picked = (*chosen, *ends)
                    if len({ray for _, ray in picked}) < 4:
                        continue
                    key = tuple(sorted((term[place[0]], place[1:]) for place, _ in picked))
                    if key not in seen:
                        seen.add(key)
                        yield [place for place, _ in picked], [ray for _, ray in picked]


def _replaced(
    term: Monomial, places: list[Place], rays: list[Ray], only: Iterable[int] | None = None
) -> Monomial:
    """The term, or `only` some of its factors, with other rays at some places."""
    factors = list(term)
    for place, ray in zip(places, rays, strict=True):
        factor = factors[place[0]]
        if len(place) == 2:
            factors[place[0]] = (*factor[: place[1]], ray, *factor[place[1] + 1 :])
        else:
            factors[place[0]] = _with_end(factor, place, ray)
    return monomial(factors if only is None else (factors[index] for index in only))


def _with_end(factor: Factor, place: Place, ray: Ray) -> Factor:
    _, a, word, b = factor
    cut: int = place[1]
    left: Word = word[:cut]
    if place[2] == 0:
        return ("dot", ray[1], transposed(ray[0]) + word[cut:], b)
    return ("dot", a, left + ray[0], ray[1])


def _relation(term: Monomial, places: list[Place], rays: list[Ray], normal: Normal) -> Polynomial:
    """The alternating sum over four rays, which is zero, each term brought to normal form."""
    parts = []
    for sign, order in _signed_orders():
        moved = _replaced(term, places, [rays[i] for i in order])
        parts.append(scaled(normal(moved), sign))
    return added(*parts)


def _may_lead(term: Monomial, places: list[Place], rays: list[Ray], normal: Normal) -> bool:
    """No exchange of two of the rays gives a greater term: what most choices fail, cheaply."""
    here = measure(term)
    for i, j in combinations(range(4), 2):
        moved = [rays[j], rays[i]]
        where = [places[i], places[j]]
        touched = {place[0] for place in where}
        if not any(_may_cancel(term[index]) for index in touched):
            # the other factors are the same in both, and do not change the order
            new = _replaced(term, where, moved, touched)
            if _written(new) > _written(term[index] for index in touched) and not _is_null(new):
                return False
        elif any(
            other != term and measure(other) > here
            for other in normal(_replaced(term, where, moved))
        ):
            return False
    return True


def _is_null(factors: Iterable[Factor]) -> bool:
    """A mixed product with the same ray twice is among the factors."""
    return any(f[0] == "mix" and len(set(f[1:])) < 3 for f in factors)


def _may_cancel(factor: Factor) -> bool:
    """A word of the factor holds an orthogonal letter, which may meet its transpose."""
    words = [factor[2]] if factor[0] == "dot" else [ray[0] for ray in factor[1:]]
    return any(is_orthogonal_letter(letter) for word in words for letter in word)


def _written(factors: Iterable[Factor]) -> list[Factor]:
    """Factors each in its normal order, and sorted."""
    return sorted(
        best_chain(f[1], f[2], f[3])[1] if f[0] == "dot" else ("mix", *sorted(f[1:]))
        for f in factors
    )


def four_vectors(term: Monomial, normal: Normal) -> Polynomial | None:
    """The term by smaller ones, where it is the greatest of an alternating sum over four rays."""
    here = measure(term)
    for places, rays in _choices(term):
        if not _may_lead(term, places, rays, normal):
            continue
        relation = _relation(term, places, rays, normal)
        coefficient = relation.get(term)
        if coefficient and all(other == term or measure(other) < here for other in relation):
            rest = {other: c for other, c in relation.items() if other != term}
            return scaled(rest, Fraction(-1) / Fraction(coefficient))
    return None


ROWS = Rows()

# A slot of an ε: its number in the term. An edge is (end, word, end): endᵀ word end.
End: TypeAlias = Atom | int
Edge: TypeAlias = tuple[End, Word, End]
_RING: Factor = ("trace", ())  # δ_ii = 3
_EVEN = {(0, 1, 2), (1, 2, 0), (2, 0, 1)}


# Terms as graphs --------------------------------------------------------------------------------


def _edges_of(factor: Factor, slot: int) -> list[Edge]:
    """The edges of a triple whose slots are numbered from `slot`."""
    return [(slot + i, ray[0], ray[1]) for i, ray in enumerate(factor[1:])]


def _opened(edge: Edge, slot: int) -> list[Edge] | None:
    """An edge a W ã V b cut at its first tilde: three edges into the slots of a new ε, or None."""
    a, word, b = edge
    for i, letter in enumerate(word):
        if is_tilde(letter) and not letter.turned:
            inner, atom = letter.ray
            return [(a, word[:i], slot), (slot + 1, inner, atom), (slot + 2, word[i + 1 :], b)]
    return None


def _first_tilde(edges: list[Edge], slot: int) -> list[Edge] | None:
    """The edges with the first tilde among them cut open."""
    for index, edge in enumerate(edges):
        cut = _opened(edge, slot)
        if cut is not None:
            return [*edges[:index], *cut, *edges[index + 1 :]]
    return None


def _graph(term: Monomial) -> tuple[list[Edge], list[Factor], int]:
    """Edges of a term, its other factors, and the number of slots after opening up to two ε."""
    edges: list[Edge] = []
    rest: list[Factor] = []
    slots = 0
    for factor in term:
        if factor[0] == "mix" and slots < 6:
            edges += _edges_of(factor, slots)
            slots += 3
        elif factor[0] == "trace" and slots < 6 and (ring := _ring(factor[1], slots)):
            edges += ring
            slots += 3
        elif factor[0] == "dot":
            edges.append((factor[1], factor[2], factor[3]))
        else:
            rest.append(factor)
    while slots < 6 and (more := _first_tilde(edges, slots)) is not None:
        edges, slots = more, slots + 3
    return edges, rest, slots


def _ring(word: Word, slot: int) -> list[Edge] | None:
    """The edges of a trace, cut at its first tilde; None where it has none."""
    for i, letter in enumerate(word):
        if is_tilde(letter) and not letter.turned:
            inner, atom = letter.ray
            return [(slot + 1, inner, atom), (slot + 2, word[i + 1 :] + word[:i], slot)]
    return None


def _joined(edges: list[Edge], partner: dict[int, int]) -> list[Factor]:
    """Edges walked through joined slots: chains between vectors, and traces of closed rings."""
    at: dict[End, list[Edge]] = {}
    for a, word, b in edges:
        at.setdefault(a, []).append((a, word, b))
        at.setdefault(b, []).append((b, transposed(word), a))
    factors: list[Factor] = []
    seen: set[int] = set()
    for a, word, b in edges:
        if type(a) is not int and type(b) is not int:
            factors.append(("dot", a, word, b))
    for start in [e for e in at if type(e) is not int]:
        for edge in at[start]:
            if type(edge[2]) is int and edge[2] not in seen:
                factors.append(_walk(edge, at, partner, seen))
    for slot in partner:
        if slot not in seen:
            seen.add(slot)
            (first,) = at[slot]
            factors.append(_walk(first, at, partner, seen))
    return factors


def _walk(edge: Edge, at: dict[End, list[Edge]], partner: dict[int, int], seen: set[int]) -> Factor:
    start, word, end = edge
    while type(end) is int:
        seen.add(end)
        if partner[end] == start:
            return ("trace", word)
        seen.add(partner[end])
        ((_, more, nxt),) = at[partner[end]]
        word, end = word + more, nxt
    return ("dot", start, word, end)


@ROWS.rule(
    "two tildes", "ε ε = det δ: ã b̃ = b aᵀ − (a · b) 1, [a, b, c] [d, e, f] = det (a · d, …)"
)
def _two(term: Monomial) -> Polynomial | None:
    edges, rest, slots = _graph(term)
    if slots < 6:
        return None
    result: list[Polynomial] = []
    for order in permutations(range(3)):
        partner = {i: 3 + order[i] for i in range(3)}
        partner |= {j: i for i, j in partner.items()}
        joined = _joined(edges, partner)
        rings = joined.count(_RING)
        new = monomial((*(f for f in joined if f != _RING), *rest))
        result.append({new: (1 if order in _EVEN else -1) * 3**rings})
    return added(*result)


@ROWS.rule("tilde", "aᵀ b̃ c = [a, b, c]")
def _one(term: Monomial) -> Polynomial | None:
    for index, factor in enumerate(term):
        if factor[0] != "dot":
            continue
        cut = _opened((factor[1], factor[2], factor[3]), 0)
        if cut is not None:
            (a, before, _), (_, inner, b), (_, after, c) = cut
            triple = ("mix", (transposed(before), a), (inner, b), (after, c))
            return {monomial((*term[:index], triple, *term[index + 1 :])): 1}
    return None


# Mixed products ---------------------------------------------------------------------------------


def _of_triple(term: Monomial) -> tuple[list[Ray], list[Factor]] | None:
    """The rays of the one triple of a term, and its other factors."""
    for index, factor in enumerate(term):
        if factor[0] == "mix":
            return list(factor[1:]), [*term[:index], *term[index + 1 :]]
    return None


def _sorted_triple(rays: list[Any]) -> tuple[int, Factor]:
    order = sorted(range(3), key=lambda i: rays[i])
    return (1 if tuple(order) in _EVEN else -1), ("mix", *(rays[i] for i in order))


@ROWS.rule("alternating", "[a, b, c] = −[b, a, c], so [a, a, c] = 0")
def _alternating(term: Monomial) -> Polynomial | None:
    split = _of_triple(term)
    if split is None:
        return None
    rays, rest = split
    if rays[0] == rays[1] or rays[1] == rays[2] or rays[0] == rays[2]:
        return {}
    sign, triple = _sorted_triple(rays)
    return None if triple == ("mix", *rays) else {monomial((*rest, triple)): sign}


@ROWS.rule("turned together", "[R a, R b, c] = [a, b, Rᵀ c] for R a rotation")
def _turned_together(term: Monomial) -> Polynomial | None:
    triple = _of_triple(term)
    if triple is None:
        return None
    rays, rest = triple
    firsts = [word[0] for word, _ in rays if word and is_rotation(word[0])]
    for first in firsts:
        if firsts.count(first) >= 2:
            turned = [_turned_back(ray, first) for ray in rays]
            return {monomial((*rest, ("mix", *turned))): 1}
    return None


def _turned_back(ray: Ray, first: Any) -> Ray:
    word, atom = ray
    return (word[1:], atom) if word and word[0] == first else ((flipped(first), *word), atom)


@ROWS.rule("determinant", "[A a, A b, A c] = det A [a, b, c]")
def _determinant(term: Monomial) -> Polynomial | None:
    split = _of_triple(term)
    if split is None or not all(word for word, _ in split[0]):
        return None
    rays, rest = split
    if len({word[0] for word, _ in rays}) > 1:
        return None
    first = rays[0][0][0]._replace(turned=False)
    triple = ("mix", *((word[1:], atom) for word, atom in rays))
    return {monomial((*rest, ("det", first), triple)): 1}


@ROWS.rule("trace", "tr A [a, b, c] = [A a, b, c] + [a, A b, c] + [a, b, A c]")
def _trace(term: Monomial) -> Polynomial | None:
    triple = _of_triple(term)
    if triple is None:
        return None
    rays, rest = triple
    for index, factor in enumerate(rest):
        if factor[0] == "trace":
            others = [*rest[:index], *rest[index + 1 :]]
            return added(*(_with_word(rays, i, factor[1], others) for i in range(3)))
    return None


def _with_word(rays: list[Ray], i: int, word: Word, others: list[Factor]) -> Polynomial:
    new = list(rays)
    new[i] = ((*word, *rays[i][0]), rays[i][1])
    return {monomial((*others, ("mix", *new))): 1}
