"""Plans: every formula once, after its arguments; level by level where nothing is cut."""

from __future__ import annotations

import pytest
from program_samples import synthetic

from liaison.program.plan import plan


def placed(made):
    return [node for piece in made.pieces for item in piece.items for node in item]


@pytest.mark.parametrize("size", [40, 10**6])
@pytest.mark.parametrize("lanes", [1, 8])
def test_every_formula_is_placed_once_after_its_arguments(size, lanes):
    program = synthetic(600)
    order = placed(plan(program, "f", lanes=lanes, size=size))
    where = {node: k for k, node in enumerate(order)}
    assert len(where) == len(order) == sum(program.operations("f").values())
    for node, k in where.items():
        # sines and cosines of several angles are one item, whose angles come before it
        assert all(where.get(arg, -1) < k for arg in node.args)


def test_an_uncut_entry_goes_level_by_level():
    made = plan(synthetic(600), "f", size=10**6)
    assert len(made.pieces) == 1
    level = {}
    for node in placed(made):
        level[node] = 1 + max((level.get(arg, 0) for arg in node.args), default=0)
    plain = [level[node] for node in placed(made) if node.op not in ("sin", "cos")]
    assert plain == sorted(plain)
