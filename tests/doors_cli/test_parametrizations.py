"""Coordinates, treatments and steps on the command line."""

import json

import pytest

from liaison.cli import main


@pytest.fixture
def called(capsys, examples):
    def call(verb, name, *words, status=0):
        with pytest.raises(SystemExit) as left:
            main([verb, str(examples / f"{name}.lsd"), *words])
        captured = capsys.readouterr()
        assert left.value.code == status
        return captured.out if status == 0 else captured.err

    return call


def test_the_table_for_people_and_programs(called):
    text = called("parametrizations", "four_bar", "--until", "0.01")
    assert "algebraic constraints" in text
    facts = json.loads(called("parametrizations", "four_bar", "--until", "0.01", "--json"))
    counts = [(x["parameters"], x["constraints"]) for x in facts["parametrizations"]]
    assert counts == [(1, 0), (3, 2), (4, 3), (9, 8)]


def test_equations_in_other_coordinates(called):
    words = ("--formalism", "lagrange", "--parametrization")
    assert "crank.θ''" in called("derive", "four_bar", *words, "cartesian")
    text = called("derive", "four_bar", *words, "minimal")
    assert "Ψ.B = " in text
    assert "multipliers" not in text
    facts = json.loads(called("derive", "four_bar", *words, "full_joint", "--json"))
    assert [x.partition(" ")[0] for x in facts["labels"]["q"]] == ["A", "B", "D", "C"]
    listed = called("derive", "four_bar", *words, "cartesian", "--format", "entries")
    assert "M[9,9] = " in listed


def test_a_reaction_by_its_name(called):
    words = ("--formalism", "lagrange", "--treat")
    assert "m bar.x'' = X_A" in called("derive", "pendulum", *words, "A=reaction")
    assert "X_{A}" in called("derive", "pendulum", *words, "A=reaction", "--format", "latex")
    assert " T" in called("derive", "pendulum", *words, "A: force along x of ground=reaction T")


def test_the_steps_of_the_generation(called):
    text = called("derive", "four_bar", "--steps")
    assert "(8) loop equations" in text
    facts = json.loads(called("derive", "four_bar", "--steps", "--json"))
    assert facts["order"] == ["crank", "rocker", "coupler"]
    assert [step["number"] for step in facts["steps"]] == list(range(1, 9))
    assert "aligned" in called("derive", "four_bar", "--steps", "--format", "latex")


def test_wrong_words_are_refused(called):
    text = called("derive", "four_bar", "--parametrization", "polar", status=2)
    assert "no parametrization is named 'polar'" in text
    assert "NAME=HOW" in called("derive", "four_bar", "--treat", "C", status=2)
    assert "'Z'" in called("derive", "four_bar", "--treat", "Z=reaction", status=2)
    assert "none of" in called("derive", "four_bar", "--treat", "C=ignore", status=2)
    assert "--format" in called("derive", "four_bar", "--steps", "--format", "c", status=2)
