"""The shipped examples, through the doors: the verb and the command line."""

import json
import runpy

import pytest

import liaison
from liaison.cli import main

# unknowns, naive rank, rank, first order, finite, status
VERDICTS = {
    "four_bar": (4, 3, 3, 1, 1, "regular"),
    "slider_crank": (4, 3, 3, 1, 1, "regular"),
    "slider_crank_equal": (4, 3, 2, 2, 1, "bifurcation"),
    "stewart": (36, 30, 30, 6, 6, "regular"),
    "stewart_welded": (35, 30, 30, 5, 5, "regular"),
    "shaky_6r": (6, 6, 5, 1, 0, "shaky"),
    "triangle": (6, 3, 3, 3, 3, "regular"),
    "triangle_flat": (6, 3, 2, 4, 3, "non-reduced"),
    "door": (3, 2, 2, 1, 1, "regular"),
    "bennett": (4, 4, 3, 1, 1, "regular"),
    "goldberg": (5, 5, 4, 1, 1, "regular"),
    "bricard_line": (6, 6, 5, 1, 1, "regular"),
    "bricard_trihedral": (6, 6, 5, 1, 1, "regular"),
    "sarrus": (6, 6, 5, 1, 1, "regular"),
    "double_cardan": (6, 6, 5, 1, 1, "regular"),
    "saliere": (4, 3, 3, 1, 1, "regular"),
    "three_upu": (15, 12, 12, 3, 3, "regular"),
    "antenna_mesh": (9, 6, 5, 4, 3, "non-reduced"),
    "antenna_shared": (15, 12, 10, 5, 4, "non-reduced"),
    "antenna_double": (18, 15, 14, 4, 3, "non-reduced"),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_an_example_has_the_mobility_that_is_known(name, examples):
    found = liaison.mobility(examples / f"{name}.lsd", order=130, primes=1)
    n, naive, rank, first, finite, status = VERDICTS[name]
    assert found.mode == "exact"
    assert (found.unknowns, found.naive_rank, found.rank) == (n, naive, rank)
    assert (found.first_order, found.finite, found.status) == (first, (finite, finite), status)


def run(capsys, *words) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stopped:
        main([str(word) for word in words])
    return stopped.value.code, capsys.readouterr().out


def test_the_command_line_tells_it_in_words_and_in_json(capsys, examples):
    status, text = run(capsys, "mobility", examples / "four_bar.lsd")
    assert (status, "finite mobility 1, proved" in text) == (0, True)
    status, text = run(capsys, "mobility", examples / "four_bar.lsd", "--json")
    assert json.loads(text)["finite"] == [1, 1]


def test_a_position_can_be_given(capsys, examples):
    path = examples / "slider_crank.lsd"
    status, text = run(capsys, "mobility", path, "--at", "A=0 deg", "--json")
    assert (status, json.loads(text)["mode"]) == (0, "exact")
    status, _ = run(capsys, "mobility", path, "--at", "nothing=0")
    assert status == 2


def test_the_fortune_teller_branches_where_it_is_flat(examples):
    flat = dict.fromkeys(("C1", "C2", "C3", "C4"), 0)
    found = liaison.mobility(examples / "saliere.lsd", at=flat, primes=1)
    assert (found.rank, found.first_order, found.finite) == (2, 2, (1, 1))
    assert (found.status, [branch["rank"] for branch in found.branches]) == ("bifurcation", [3, 3])


def test_ten_four_bars_in_a_row_have_one_freedom(examples):
    row = runpy.run_path(str(examples / "n_four_bar.py"))["n_four_bar"](10)
    found = liaison.mobility(row, primes=1)
    assert (found.unknowns, found.rank, found.finite, found.is_proved) == (31, 30, (1, 1), True)
