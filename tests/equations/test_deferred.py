"""The pattern of M is known before M, and is the pattern of M."""

from __future__ import annotations

import pytest

from liaison.equations import newton_euler
from liaison.equations.formalisms.newton_euler import Deferred
from liaison.equations.setting import Setting
from liaison.equations.sweeps.recursion import mass_matrix
from liaison.expr import ONE
from liaison.tree import span
from samples import solved
from samples.chains import chain


def test_entries_are_made_once_and_only_when_looked_at():
    made = []
    matrix = Deferred(((0, 0), (1, 0)), lambda: made.append(1) or {(0, 0): ONE, (1, 0): ONE})
    assert len(matrix) == 2
    assert list(matrix) == [(0, 0), (1, 0)]
    assert not made
    assert matrix[0, 0] is ONE
    assert matrix.get((5, 5)) is None
    assert dict(matrix) == {(0, 0): ONE, (1, 0): ONE}
    assert made == [1]


@pytest.mark.parametrize("branching", [1.0, 2.0, 3.0])
def test_the_pattern_of_a_tree_is_that_of_its_mass_matrix(branching):
    tree = span(chain(7, branching=branching, joints="RP"))
    expected = mass_matrix(Setting(tree).kinematics)
    assert list(newton_euler(tree).dynamics.M) == list(expected)


@pytest.mark.parametrize("seed", range(6))
def test_the_pattern_of_random_mechanisms_is_that_of_their_mass_matrix(seed):
    M = solved(seed).equations.dynamics.M
    assert list(M) == list(M._entries)
