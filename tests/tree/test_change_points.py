"""Starts at and beside change points: kept with their energy, or refused with the reason."""

import pytest

from attack.change_points import (
    LINKAGES,
    Try,
    change_points,
    drawn_through,
    outcome,
    passed,
)
from liaison.errors import AssemblyError
from liaison.formats import read
from liaison.tree import assemble, span

FLAT = LINKAGES["parallelogram"]


def test_speeds_of_the_other_branch_are_refused():
    """A' = 2 and D' = −2 leave 1e-9 m/s in the closures, and belong to no branch."""
    start = {"A": 1e-9, "B": -1e-9, "D": 1e-9, "A'": 2.0, "D'": -2.0}
    with pytest.raises(AssemblyError, match=r"A' = 2, D' = -2 are of no branch.*change point"):
        assemble(span(read(FLAT.text)), **start)


def test_a_motion_into_a_change_point_is_refused_and_one_out_of_it_goes_on():
    tree = span(read(FLAT.text))
    with pytest.raises(AssemblyError, match=r"lies 0\.0001 rad or m before a change point"):
        assemble(tree, **{"A": -1e-4, "B": 1e-4, "D": -1e-4, "A'": 2.0})
    state = assemble(tree, **{"A": 1e-4, "B": -1e-4, "D": 1e-4, "A'": 2.0})
    assert state["D'"] == pytest.approx(2.0, rel=1e-6)


@pytest.mark.parametrize("name", LINKAGES)
@pytest.mark.parametrize("branch", [0, 1])
def test_on_the_change_point_speeds_choose_the_branch(name, branch):
    linkage = LINKAGES[name]
    speeds = {f"{x}'": 2.0 * rate for x, rate in linkage.branches[branch].items()}
    assert outcome(Try(name, {**linkage.flat, **speeds})) == "kept"


def test_starts_by_chance_keep_their_energy_or_are_refused():
    row = change_points(60, seed=3)
    assert row["failures"] == 0, row["examples"]
    assert row["counts"]["kept"] > 3


@pytest.mark.parametrize(
    "case",
    [
        ("parallelogram", 0, 0.5985, 1e-8),
        ("parallelogram", 0, 0.5719, 1e-10),
        ("change-point linkage", 0, 0.3478, 1e-10),
        ("change-point linkage", 1, 0.1506, 1e-8),
        ("kite", 0, 0.5871, 1e-8),
    ],
)
def test_runs_that_land_beside_a_change_point_lose_no_energy_in_silence(case):
    """Velocities of one branch, brought to another, lost 0.4 to 100 % of the energy."""
    assert not passed(*case).startswith("WRONG")


def test_runs_through_change_points_stay_on_their_branch_or_end():
    ends = [passed(*case) for case in drawn_through(40, seed=1)]
    assert not [end for end in ends if end.startswith("WRONG")]
    assert ends.count("kept") >= 25
