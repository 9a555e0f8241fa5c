"""`guess` in LSD, in Python and on the command line: near where the loops are closed."""

import json
import math

import pytest

import liaison
from liaison.errors import AssemblyError
from liaison.model import Start

LINKAGE = """
parameter a = 10 cm ;
let crank = body mass = 0.2 kg, inertia = 1 g*m^2 end ;
let coupler = body mass = 0.5 kg, inertia = 4 g*m^2 end ;
let rocker = body mass = 0.6 kg, inertia = 6 g*m^2 end ;
let A = join earth and crank with revolute end ;
let B = join [a, 0, 0] @ crank and coupler with revolute end ;
let C = join [30, 0, 0] cm @ coupler and [35, 0, 0] cm @ rocker with revolute end ;
let D = join [45, 0, 0] cm @ earth and rocker with revolute end ;
"""
UP, DOWN = "guess B = -0.9 ; guess D = 2.2 ;", "guess B = -2.5 ; guess D = -2.5 ;"


def start_of(text, **options):
    return liaison.check(liaison.read(text), **options).start.state


def test_a_guess_chooses_the_branch_and_follows_lengths():
    for a in ("10 cm", "12 cm"):
        text = LINKAGE.replace("10 cm", a) + "start A = 90 deg ; "
        up, down = start_of(text + UP), start_of(text + DOWN)
        assert up["A"] == down["A"] == math.pi / 2
        assert math.sin(up["D"]) > 0 > math.sin(down["D"])


def test_guesses_are_written_and_read_again():
    mechanism = liaison.read(LINKAGE + "start A = 1 rad ; guess A' = 2 rad/s ;" + UP)
    again = liaison.read(liaison.write_lsd(mechanism))
    assert again.starts == mechanism.starts
    assert [x.label for x in again.starts if x.is_guess] == ["A'", "B", "D"]


def test_python_guesses_beside_starts():
    text = LINKAGE + "start A = 90 deg ; "
    run = liaison.simulate(text, until=0.01, guess={"B": -2.5, "D": -2.5})
    assert run["A"][0] == math.pi / 2
    assert math.sin(run["D"][0]) < 0
    begun = liaison.check(text, {"A": 1.0}, guess={"B": -2.5, "D": -2.5}).start.state
    assert begun["A"] == 1.0
    assert liaison.guess("A", 0.7, 2.0) == (
        Start("A", 0.7, is_guess=True),
        Start("A'", 2.0, is_guess=True),
    )
    with pytest.raises(liaison.errors.NamingError, match="'E'"):
        liaison.simulate(text, until=0.01, guess={"E": 1.0})


def test_a_start_takes_the_place_of_a_guess_and_the_other_way_round():
    mechanism = liaison.read(LINKAGE + "start A = 90 deg ; guess D = 2.2 ;")
    changed = liaison.with_starts(mechanism, {"D": 2.2}, {"A": 1.5})
    assert {x.label: x.is_guess for x in changed.starts} == {"D": False, "A": True}


def test_the_advice_of_an_inconsistent_start_works_when_copied():
    """The text printed after "Hold fewer starts" is assembled near what was written."""
    starts = "start A = 1.5707 ; start B = -0.93 ; start D = 2.2 ;"
    with pytest.raises(AssemblyError, match="is inconsistent") as error:
        start_of(LINKAGE + starts)
    advice = error.value.hint.partition("need: ")[2]
    assert advice.startswith("start A = 1.5707 ; guess B = -0.92")
    state = start_of(LINKAGE + advice)
    assert state["A"] == 1.5707
    assert state["D"] == pytest.approx(2.2, abs=0.1)


def test_the_command_line_has_guesses(tmp_path, capsys):
    path = tmp_path / "linkage.lsd"
    path.write_text(LINKAGE + "start A = 90 deg ;", encoding="utf-8")
    from liaison.cli.entry import main

    options = ["check", str(path), "--guess", "B=-2.5", "--guess", "D=-143 deg", "--json"]
    with pytest.raises(SystemExit) as ended:
        main(options)
    assert ended.value.code in (0, None)
    begun = json.loads(capsys.readouterr().out)["start"]
    text = json.dumps(begun)
    assert "-2.65" in text
