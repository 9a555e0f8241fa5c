"""The log of a run: rows that loops write, and how Python reads them."""

from __future__ import annotations

import numpy as np
import pytest

from liaison.contacts.stepping.phases import MOREAU
from liaison.program import compile_loops
from liaison.program.loops.llvm import loops_ir
from liaison.program.loops.tree import signature
from liaison.simulation.events.log import CROSSES, Event, copy_row, entries_of, note
from liaison.simulation.steps.advance import SMOOTH, advance
from liaison.simulation.steps.layout import Phases, phase

Q, V = np.array([1.0, 2.0]), np.array([3.0])


@pytest.fixture(params=["python", "llvm"])
def loops(request):
    if request.param == "python":
        return note, copy_row
    made = compile_loops([note, copy_row], cache=False)
    return made[note], made[copy_row]


def written(note):
    """Three rows with a state each, the second one earlier than the first."""
    table = np.zeros((3, Event.header + 3))
    for k, (what, first, t) in enumerate([(4, 7, 0.5), (CROSSES, 2, 0.25), (0, 1, 0.5)]):
        note(what, first, -1 - k, t, 0.125 * k, 2, Q + k, 1, V - k, k, table.reshape(-1))
    return table


def test_rows_come_back_by_time_and_as_they_came(loops):
    table = written(loops[0])
    found = list(entries_of(table, 2))
    assert [(x.what, x.first, x.second, x.t, x.speed) for x in found] == [
        (CROSSES, 2, -2, 0.25, 0.125), (4, 7, -1, 0.5, 0.0), (0, 1, -3, 0.5, 0.25),
    ]  # fmt: skip
    assert [x.q.tolist() for x in found] == [[2, 3], [1, 2], [3, 4]]
    assert [x.v.tolist() for x in found] == [[2], [3], [1]]


def test_rows_without_a_state_follow_each_other(loops):
    table = np.zeros((2, Event.header))
    for k in range(2):
        loops[0](k, 10 + k, 20 + k, float(k), 0.0, 0, table[0], 0, table[0], k, table.reshape(-1))
    assert [x[:4] for x in entries_of(table)] == [(0, 10, 20, 0.0), (1, 11, 21, 1.0)]
    assert list(entries_of(table[:0])) == []


def test_a_row_is_copied_to_the_bit(loops):
    table = written(loops[0])
    before = table.view(np.int64).copy()
    loops[1](1, 0, 3, table.reshape(-1))
    np.testing.assert_array_equal(table.view(np.int64), before[[1, 1, 2]])


@pytest.mark.parametrize("steps", [SMOOTH, MOREAU], ids=["smooth", "moreau"])
def test_every_kind_of_step_has_the_phases_of_the_march(steps):
    assert list(steps) == list(Phases.fields)
    assert {signature(x) for x in steps.values()} == {signature(phase)}


def test_a_smooth_march_holds_no_cone_solver():
    smooth = loops_ir([advance, *SMOOTH.values()])
    assert "solve_cones" not in smooth
    assert "liaison_moreau_step" not in smooth
    assert "solve_cones" in loops_ir(list(MOREAU.values()))
    # the march itself holds no step at all
    assert "liaison_stages" not in loops_ir([advance])
