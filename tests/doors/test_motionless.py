"""Mechanisms in which nothing moves: they stand still, and analyses of motions say that."""

import pytest

import liaison
from doors.test_write_cli import run as run_command
from liaison.errors import DerivationError, ModelError

LINK = '<robot name="r"><link name="a"/></robot>'
WELDED = """let w = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let F = join earth and w with fixed end ;"""
BOTH = pytest.mark.parametrize("text", [LINK, WELDED])


@BOTH
@pytest.mark.parametrize("options", [{}, {"method": "moreau", "step": 0.05}])
def test_what_cannot_move_stands_still(text, options):
    run = liaison.simulate(text, until=0.1, **options)
    assert (run.status, run.q.shape[1], run.v.shape[1]) == ("done", 0, 0)
    assert liaison.stepper(text).step(None, 0.1).t == 0.1
    assert liaison.massless_motions(liaison.read(text)) == ()


@BOTH
def test_theorems_hold_where_nothing_moves(text):
    # without mass there is no mass center: its theorems say 0 = 0, not nan
    assert liaison.verify(text, until=0.1).holds


@BOTH
@pytest.mark.parametrize("verb", ["linearize", "equilibrium", "solutions", "parametrizations"])
def test_analyses_of_motions_say_that_nothing_moves(text, verb):
    with pytest.raises(ModelError, match=f"{verb}: nothing moves in"):
        getattr(liaison, verb)(text)
    with pytest.raises(DerivationError, match="has no loop"):
        liaison.psi(text)


def test_commands_run_a_robot_of_one_link(tmp_path, capsys):
    file = tmp_path / "r.urdf"
    file.write_text(LINK)
    for words in (("simulate",), ("animate", "--out", tmp_path / "r.html")):
        code, _, message = run_command(capsys, words[0], file, "--until", "0.1", *words[1:])
        assert (code, "zero-size" in message) == (0, False)
