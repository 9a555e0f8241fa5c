"""The rank methods of the document, on its own matrices and with its own numbers."""

import numpy as np
import pytest

from liaison.exact.rank import gauss, rank_modular, rank_probabilistic, rank_probabilistic_modular
from liaison.exact.residues import residues
from liaison.expr import ONE, Function, as_expr, cos, evaluate, sin, sqrt, symbol

x, y, t = symbol("x"), symbol("y"), symbol("t")
MATRIX = [
    [(x + y) / (x * y), (2 * x + y) / (1 + y**2), y / (x - y)],
    [(x - y) / x**2, 2 * x / (x**2 - y), x / (x - y**2)],
    [(x**2 - y**2) / (x * y), (x**2 + 1) / (x + y), y / x],
]


def equal(a, b) -> bool:
    """Equal as functions, at a random point modulo a prime of 61 bits."""
    return int(evaluate(as_expr(a) - as_expr(b), domain=residues(seed=7))) == 0


def test_elimination_splits_as_the_document_does():
    cases = gauss([[x, 1, 0], [0, 0, 1], [1, y, 1]])
    assert [case.rank for case in cases] == [3, 2, 3]
    general, special, other = cases
    expected = [[x, 1, 0], [0, (y * x - 1) / x, 1], [0, 0, 1]]
    assert all(equal(a, b) for a, b in zip(general.matrix.ravel(), np.ravel(expected)))
    assert [holds for _, holds in general.conditions] == [True, True]
    assert equal(special.conditions[1][0], y - 1 / x)
    assert special.conditions[1][1] is False
    printed = [[1, y, 1], [0, 1, 0], [0, 0, 1]]
    assert all(equal(a, b) for a, b in zip(other.matrix.ravel(), np.ravel(printed)))
    assert other.conditions[0][0] is x
    assert all(case.is_resolved for case in cases)


def test_entries_may_be_unknown_functions_of_time():
    moving = Function("x", 1)(t)
    cases = gauss([[moving, 1, 0], [0, 0, 1], [1, y, 1]])
    assert sorted(case.rank for case in cases) == [2, 3, 3]


def test_the_rational_evaluation_is_the_documents():
    found = rank_probabilistic(MATRIX, at={"x": 71, "y": 98})
    printed = ["169/6958", "48/1921", "-98/27", "-27/5041", "142/4943", "-71/9533",
               "-4563/6958", "5042/169", "98/71"]  # fmt: skip
    assert found.rank == 3
    # 240/9605 = 48/1921: the document reduces its fractions, as we do
    assert [str(value) for value in found.matrix.ravel()] == printed


def test_the_whole_numbers_are_the_documents():
    found = rank_modular(MATRIX, at={"x": 71, "y": 98}, primes=(997,))
    assert found.rank == 3
    assert found.matrix.tolist() == [
        [4956134576065702263, 5098643920827501408, -740633107443783765484],
        [-1092918750585036102, 5861901873066152004, -1519740950307667542],
        [-133815633553773961101, 6087751929039491554788, 281649209872988192508],
    ]


def test_the_residues_are_the_documents():
    found = rank_probabilistic_modular(MATRIX, p=997, at={"x": 440, "y": 43})
    assert found.rank == 3
    assert found.matrix.tolist() == [[976, 319, 530], [172, 408, 299], [636, 149, 93]]


def angles(*names):
    return [(cos(symbol(name)), sin(symbol(name))) for name in names]


def crease() -> list[list]:
    (c1, s1), (c2, s2), (c3, s3) = angles("a1", "a2", "a3")
    return [[0, -s2, s3], [c1 * s2, s1 * c2, 0], [-s1 * s2, c1 * c2, -c3]]


def slider() -> list[list]:
    (c1, s1), (c2, s2) = angles("a1", "a12")
    l1, l2 = symbol("l1"), symbol("l2")
    up, across = s1 * c2 + c1 * s2, c1 * c2 - s1 * s2
    return [[-l1 * s1 - l2 * up, -l2 * up, -1], [l1 * c1 + l2 * across, l2 * across, 0]]


@pytest.mark.parametrize(("matrix", "rank"), [(crease(), 3), (slider(), 2)])
def test_free_ranks_of_the_documents_closures(matrix, rank):
    """Off the variety: 3 for the salière, where the true rank is 2."""
    assert rank_probabilistic(matrix).rank == rank
    assert rank_modular(matrix).rank == rank
    assert rank_probabilistic_modular(matrix).rank == rank


def test_roots_are_residues_too():
    assert rank_probabilistic_modular([[sqrt(3), 3], [1, sqrt(3)]]).rank == 1


def test_a_matrix_of_numbers_needs_no_cases():
    (case,) = gauss([[1, 2], [2, 4 * ONE]])
    assert (case.rank, case.conditions) == (1, ())
