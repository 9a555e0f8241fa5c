"""Gaussian elimination with case splits: the document's matrix, and all cases of linear systems."""

import contextlib
import random
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from liaison.analyse.proofs.linear_cases import residuals, solve_linear
from liaison.errors import DerivationError
from liaison.exact.rank import gauss, is_null
from liaison.expr import FRACTION, Function, as_expr, evaluate, substitute, symbol
from liaison.expr.reading.simplify import vanishes_exactly

x, y, t = symbol("x"), symbol("y"), symbol("t")
a, b, c = symbol("a"), symbol("b"), symbol("c")
UNKNOWNS = [symbol(f"u{k}") for k in range(3)]
DOCUMENT = [[x, 1, 0], [0, 0, 1], [1, y, 1]]


def conditions(case):
    return {str(f): holds for f, holds in case.conditions}


def test_the_documents_matrix_has_three_cases():
    """PA, gausselim: x ≠ 0 and xy ≠ 1 as printed, xy = 1 of rank 2, x = 0 as printed."""
    generic, special, vanishing = gauss(DOCUMENT)
    assert [generic.rank, special.rank, vanishing.rank] == [3, 2, 3]
    printed = [[x, 1, 0], [0, (x * y - 1) / x, 1], [0, 0, 1]]
    assert _same(generic.matrix, printed)
    assert _same(vanishing.matrix, [[1, y, 1], [0, 1, 0], [0, 0, 1]])
    assert special.is_resolved


def _same(found, printed):
    pairs = zip(found.ravel(), np.array(printed, dtype=object).ravel(), strict=True)
    return all(is_null(as_expr(as_expr(p) - as_expr(q))) for p, q in pairs)


def test_entries_may_be_functions_of_time():
    """What Maple refused: x(t) for x."""
    f = Function("x", 1)(t)
    cases = gauss([[f, 1, 0], [0, 0, 1], [1, y, 1]])
    assert [case.rank for case in cases] == [3, 2, 3]


def test_all_cases_of_the_documents_system():
    cases = solve_linear(DOCUMENT, [a, b, c], UNKNOWNS)
    for case in cases:
        if case.solution is not None:
            known = _where_it_holds(case)
            for rest in residuals(DOCUMENT, [a, b, c], UNKNOWNS, case):
                assert vanishes_exactly(substitute([rest], known)[0]), str(case)
    assert any(case.rank == 2 and case.solution is None for case in cases)
    assert any(case.rank == 2 and len(case.free) == 1 for case in cases)


def _where_it_holds(case):
    """Unknowns of the conditions solved for, one after another, as the elimination did."""
    from liaison.exact.rank import _solved

    known = {}
    for f, holds in case.conditions:
        if not holds:
            (g,) = substitute([f], known)
            found = _solved(g, lambda s: not is_null(s) and s.op == "const") or _solved(
                g, lambda s: not is_null(s)
            )
            known = {k: substitute([v], found)[0] for k, v in known.items()} | found
    return known


def test_a_regular_system_has_one_case():
    (only,) = solve_linear([[2, 1], [1, 1]], [a, b], UNKNOWNS[:2])
    u, v = UNKNOWNS[:2]
    assert only.rank == 2
    assert vanishes_exactly(only.solution[u] - (a - b))
    assert vanishes_exactly(only.solution[v] - (2 * b - a))


def test_one_unknown_in_three_cases():
    cases = solve_linear([[a]], [b], UNKNOWNS[:1])
    assert len(cases) == 3
    assert [case.solution is None for case in cases] == [False, True, False]
    assert cases[2].free == (UNKNOWNS[0],)
    assert "no solution" in str(cases[1])


def test_entries_that_are_numbers_in_disguise_split_nothing():
    """After elimination an entry is x − (x − 1): no pivot that could vanish."""
    (only,) = solve_linear([[0, 1], [0, x - 1]], [1, x], UNKNOWNS[:2])
    assert (only.rank, only.solution, only.conditions) == (1, None, ())


def test_cases_whose_conditions_contradict_each_other_are_left_out():
    """Where x ≠ 0, the determinant x² does not vanish."""
    cases = gauss([[x, 1], [0, x * y]])
    assert not any(
        len({str(f) for f, _ in case.conditions}) < len(case.conditions) for case in cases
    )
    assert [case.rank for case in cases if conditions(case).get("x")] == [2, 1]


@pytest.mark.parametrize("seed", range(40))
def test_random_systems_have_at_every_point_one_case_that_is_right(seed):
    """Ranks and residuals in fractions, at points where conditions hold and where they do not."""
    draw = random.Random(seed)
    m, n = draw.choice((1, 2, 3)), draw.choice((1, 2, 3))
    pool = [0, 0, 1, -1, 2, x, x - 1, y, x + y, x * y, x * x - 1]
    A = [[draw.choice(pool) for _ in range(n)] for _ in range(m)]
    right = [draw.choice(pool) for _ in range(m)]
    cases = solve_linear(A, right, UNKNOWNS[:n])
    for _ in range(10):
        at = {x: Fraction(draw.randrange(-2, 3)), y: Fraction(draw.randrange(-2, 3))}
        (case,) = [case for case in cases if _holds(case, at)]
        if case.is_resolved:
            _check_at(case, A, right, UNKNOWNS[:n], at)


def _holds(case, at):
    with contextlib.suppress(ZeroDivisionError):
        return all((evaluate(f, at, FRACTION) != 0) == h for f, h in case.conditions)
    return False


def _check_at(case, A, right, unknowns, at):
    rows = [[evaluate(as_expr(z), at, FRACTION) for z in row] for row in A]
    values = [evaluate(as_expr(z), at, FRACTION) for z in right]
    rank = _rank(rows)
    assert case.rank == rank
    is_solvable = _rank([[*row, z] for row, z in zip(rows, values, strict=True)]) == rank
    assert (case.solution is not None) == is_solvable
    if is_solvable:
        point = at | {u: Fraction(k + 2) for k, u in enumerate(case.free)}
        solved = [evaluate(case.solution.get(u, u), point, FRACTION) for u in unknowns]
        for row, z in zip(rows, values, strict=True):
            assert sum(p * q for p, q in zip(row, solved, strict=True)) == z


def _rank(rows):
    numbers = [fmpq(z.numerator, z.denominator) for row in rows for z in row]
    return fmpq_mat(len(rows), len(rows[0]), numbers).rank()


def test_sizes_that_do_not_fit_are_refused():
    with pytest.raises(DerivationError, match="does not go with"):
        solve_linear([[1, 2]], [a, b], UNKNOWNS[:2])
