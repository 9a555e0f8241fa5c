"""Progress of long work is shown where somebody can see it; loggers of rooms are silent."""

import io
import logging
import subprocess
import sys
import time

import pytest

import liaison
from liaison.numeric import progress

PENDULUM = "examples/pendulum.lsd"


class Screen(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self):
        return True


def terminal(monkeypatch, patience=0.02):
    """Standard output and error as a terminal; within the test, as pytest sets them before."""
    stream = Screen()
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(progress, "PERIOD", 0.01)
    return stream


@pytest.fixture(autouse=True)
def _on():
    liaison.show_progress(True)
    yield
    liaison.show_progress(True)


def wait(stream, words):
    end = time.monotonic() + 5
    while words not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.005)


def test_long_work_has_a_line_that_is_removed(monkeypatch):
    screen = terminal(monkeypatch)
    with progress.working("program", "compiling") as fraction:
        wait(screen, "compiling: 0 s")
        fraction(0.5)
        wait(screen, "compiling: 50 %, 0 s")
    text = screen.getvalue()
    assert "compiling: 0 s" in text
    assert "compiling: 50 %, 0 s" in text
    assert text.endswith(progress.CLEARED)


def test_inner_work_is_named_and_one_line_ends_with_the_last(monkeypatch):
    screen = terminal(monkeypatch)
    with progress.working("equations", "preparing"), progress.working("program", "compiling"):
        wait(screen, "compiling: ")
    assert "compiling: " in screen.getvalue()
    assert screen.getvalue().endswith(progress.CLEARED)


def test_short_work_and_what_is_switched_off_leave_nothing(monkeypatch):
    screen = terminal(monkeypatch)
    with progress.working("program", "compiling"):
        pass
    assert not screen.getvalue()
    liaison.show_progress(False)
    assert not progress.is_shown()
    with progress.working("program", "compiling"):
        time.sleep(0.1)
    assert not screen.getvalue()


def test_runs_are_shown(monkeypatch):
    screen = terminal(monkeypatch, patience=0.0)
    liaison.simulate(PENDULUM, until=2, step=1e-5, every=2)
    assert "simulating pendulum: " in screen.getvalue()
    assert screen.getvalue().endswith(progress.CLEARED)


def test_nothing_is_written_into_a_pipe():
    code = (
        "import time; from liaison.numeric import progress\n"
        "progress.PATIENCE = progress.PERIOD = 0.01\n"
        "with progress.working('program', 'compiling'): time.sleep(0.1)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_rooms_say_what_they_did(caplog):
    with caplog.at_level(logging.INFO, "liaison"):
        liaison.simulate(PENDULUM, until=0.01, step=0.01)
    assert any(x.name == "liaison.simulation" and "rk4" in x.message for x in caplog.records)


def test_what_took_long_is_logged(caplog, monkeypatch):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with caplog.at_level(logging.INFO, "liaison"), progress.working("freedoms", "mobility of x"):
        pass
    assert caplog.records[0].name == "liaison.freedoms"
    assert caplog.records[0].message.startswith("mobility of x took")


def test_loggers_are_silent_by_default():
    code = "import liaison; liaison.simulate('examples/pendulum.lsd', until=0.01)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout + done.stderr == ""


def test_a_lasting_function_is_named_with_what_it_works_on(monkeypatch):
    screen = terminal(monkeypatch)

    @progress.lasting("analyse")
    def first_integrals(given):
        wait(screen, "first integrals of pendulum: 0 s")
        return given.name

    assert first_integrals(liaison.read(PENDULUM)) == "pendulum"
    assert "first integrals of pendulum: 0 s" in screen.getvalue()
    assert screen.getvalue().endswith(progress.CLEARED)
