"""A session that opens terms: in Python, and through a terminal."""

import os
import pty
import select
import subprocess
import sys
import time

import pytest

import liaison
from liaison.cli import main
from liaison.equations.vector.session import COMMANDS
from liaison.errors import ArgumentError, DerivationError, NamingError


@pytest.fixture(scope="module")
def begun(examples):
    return liaison.session(examples / "double_pendulum.lsd", bodies=["upper", "lower"])


def test_terms_open_and_close(begun, examples):
    """The document's two lines: γ(G₂) opened is γ(O₂) + ω̇₂ × O₂G₂ + ω₂ × (ω₂ × O₂G₂)."""
    opened = begun.open("gamma(G2)")
    wanted = liaison.vector_equations(
        examples / "double_pendulum.lsd", bodies=["upper", "lower"], expand=["gamma(G2)"]
    )
    assert opened.equations.text == wanted.text
    assert "γ(O₂) + ω̇₂ × O₂G₂ + ω₂ × (ω₂ × O₂G₂)" in opened.text
    assert opened.close() is begun
    number = begun.terms.index("gamma(G2)") + 1
    assert begun.open(number).equations.text == wanted.text
    assert opened.open("gamma(O2)").history == ("open gamma(G2)", "open gamma(O2)")
    assert not begun.open("all").terms


def test_errors_of_a_session(begun):
    with pytest.raises(ArgumentError, match="nothing is open"):
        begun.close()
    with pytest.raises(ArgumentError, match="no term 99"):
        begun.open(99)
    with pytest.raises((NamingError, DerivationError)):
        begun.open("gamma(G7)")


def test_lines_of_a_terminal(begun):
    session, text = begun.answer("open gamma(G2)")
    assert session.history == ("open gamma(G2)",)
    assert "γ(O₂)" in text
    same, text = session.answer("opn 1")
    assert same is session
    assert "did you mean 'open'" in text
    assert "acceleration" in session.answer("what gamma(G1)")[1]
    assert session.answer("close")[0] is begun
    assert "\\gamma" in session.answer("latex")[1]
    assert session.answer("quit")[0].is_over
    for word in COMMANDS:
        _, text = session.answer(word)
        assert text or word == "quit"
    columns, _ = begun.answer("columns lower")
    assert "already" in columns.answer("scalars")[1]


def test_scalars_of_a_session_are_the_components(begun):
    """They were an error at every level: the ground's axes were taken for columns."""
    text = begun.answer("scalars")[1]
    assert text == begun.equations.components().text
    assert "upper, lower: resultant, x" in text


def test_a_term_alone_is_opened_and_only_what_changes_is_printed(begun):
    number = str(begun.terms.index("gamma(G2)") + 1)
    for line in ("gamma(G2)", number):
        session, text = begun.answer(line)
        assert session.history == ("open gamma(G2)",)
    session, text = begun.answer("O1G2")
    assert "resultant" not in text
    assert "1 equation stays as before" in text
    assert "resultant" in session.answer("show")[1]
    assert begun.answer("?") == begun.answer("help")
    assert begun.answer("exit")[0].is_over
    assert repr(begun) == "<Session of double pendulum: 2 equations, 7 terms to open>"


def test_multipliers_of_scalars_are_numbered(examples):
    scalars = liaison.session(examples / "chaplygin.lsd").answer("scalars")[1]
    assert "F(S).x = −λ₁ sin(S.angle)" in scalars
    assert scalars.endswith("Multipliers: λ₁ blade.")


def test_without_a_terminal_it_is_an_error(examples, capsys):
    with pytest.raises(SystemExit) as left:
        main(["derive", str(examples / "double_pendulum.lsd"), "--interactive"])
    assert left.value.code == 2
    assert "no terminal" in capsys.readouterr().err


def test_a_session_through_a_terminal(examples):
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "liaison", "derive", str(examples / "pendulum.lsd")]
    run = subprocess.Popen([*command, "--interactive"], stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    try:
        assert "terms: 1 gamma(G1)" in until(ours, "open> ")
        os.write(ours, b"open gamma(G1)\n")
        assert "ω̇₁ × O₁G₁ + ω₁ × (ω₁ × O₁G₁)" in until(ours, "open> ")
        os.write(ours, b"quit\n")
        assert run.wait(timeout=60) == 0
    finally:
        run.kill()
        run.wait()
        os.close(ours)


def until(handle, mark):
    """What comes from a terminal, up to a mark."""
    data, end = b"", time.monotonic() + 120
    while mark.encode() not in data.rpartition(b"\n")[2]:
        ready, _, _ = select.select([handle], [], [], max(0.0, end - time.monotonic()))
        assert ready, data.decode(errors="replace")
        data += os.read(handle, 65536)
    return data.decode()
