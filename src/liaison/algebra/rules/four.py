"""The rule that space has three dimensions: four vectors are never independent.

Alternating over four of the vectors of a term, whether they stand in its mixed product or in
scalar products, gives zero; so the greatest of these terms is a sum of smaller ones:

    [a, b, c] d − [b, c, d] a + [c, d, a] b − [d, a, b] c = 0                        (algebra-3)

and, of four scalar products, Gram's determinant of four vectors. With this rule the normal form
of scalar products, vector products and tildes is complete: what is zero reduces to zero.

Source: WEY39 chapter II, the second main theorem on vector invariants.

Public names: four_vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, permutations, product

from .rule import measure
from .terms import (
    Factor,
    Monomial,
    Polynomial,
    Ray,
    Word,
    added,
    is_orthogonal_letter,
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
