"""The normal form of vectors is complete: as many normal terms as there are invariants."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings

from liaison.algebra import is_zero, is_zero_by_components
from liaison.algebra.node import Atom
from liaison.algebra.rules.reduce import RULES
from liaison.algebra.rules.terms import monomial
from samples.formal import expressions

PRIME = 1_000_003


def matchings(atoms):
    """All ways to pair atoms off, as chains."""
    if not atoms:
        yield ()
        return
    for i in range(1, len(atoms)):
        rest = atoms[1:i] + atoms[i + 1 :]
        for others in matchings(rest):
            yield (("dot", atoms[0], (), atoms[i]), *others)


def terms_of(atoms):
    """All products of scalar products, and of one mixed product where their number is odd."""
    if len(atoms) % 2 == 0:
        return {monomial(m) for m in matchings(atoms)}
    found = set()
    n = len(atoms)
    for i in range(n):
        for j in range(i):
            for k in range(j):
                if len({atoms[i], atoms[j], atoms[k]}) == 3:
                    triple = (
                        "mix",
                        *(((), atom) for atom in sorted((atoms[i], atoms[j], atoms[k]))),
                    )
                    rest = tuple(atoms[x] for x in range(n) if x not in (i, j, k))
                    found |= {monomial((triple, *m)) for m in matchings(rest)}
    return found


def value(term, at):
    """The residue of a term whose vectors have integer components."""
    result = 1
    for factor in term:
        if factor[0] == "dot":
            result *= sum(x * y for x, y in zip(at[factor[1]], at[factor[3]], strict=True))
        else:
            (a, b, c), (d, e, f), (g, h, i) = (at[ray[1]] for ray in factor[1:])
            result *= a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
    return result % PRIME


def rank(rows):
    """The rank of a matrix of residues."""
    rows, count = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(count, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[count], rows[pivot] = rows[pivot], rows[count]
        inverse = pow(rows[count][column], -1, PRIME)
        for i in range(count + 1, len(rows)):
            factor = rows[i][column] * inverse % PRIME
            if factor:
                rows[i] = [
                    (x - factor * y) % PRIME for x, y in zip(rows[i], rows[count], strict=True)
                ]
        count += 1
    return count


# how often each of the vectors a, b, … stands in a term
@pytest.mark.parametrize(
    "degrees",
    ["11111", "1111111", "11111111", "2111", "22111", "2222", "3211", "31111", "221111", "33111"],
)
def test_as_many_terms_are_normal_as_are_independent(degrees):
    atoms = tuple(Atom("abcdefgh"[i]) for i, n in enumerate(degrees) for _ in range(int(n)))
    terms = sorted(terms_of(atoms))
    normal = [term for term in terms if all(rule.apply(term) is None for rule in RULES)]
    draw = random.Random(7)
    points = [
        {atom: [draw.randrange(PRIME) for _ in range(3)] for atom in Counter(atoms)}
        for _ in range(len(terms))
    ]
    independent = rank([[value(term, at) for term in terms] for at in points])
    assert len(normal) == independent


@given(expressions(depth=3))
@settings(max_examples=150)
def test_the_rules_and_the_components_agree_on_vectors_and_tildes(x):
    assert is_zero(x) == is_zero_by_components(x)
