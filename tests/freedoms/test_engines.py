"""msolve and Singular: found or not, bounded, killed with all they started, read strictly."""

import os
import signal
import stat
import threading
import time
from fractions import Fraction as F

import pytest

from liaison import read
from liaison.errors import ModelError
from liaison.freedoms import mobility
from liaison.freedoms.clock import Exhausted, bounded, go_on, seconds_left
from liaison.freedoms.engines import engines, finite
from liaison.freedoms.engines.engines import MSOLVE, SINGULAR, Engine, EngineError, NotThere
from liaison.freedoms.engines.msolve import _parametrization, basis_modulo, text_of

needs_msolve = pytest.mark.skipif(MSOLVE.path() is None, reason="msolve: make algebra")
needs_singular = pytest.mark.skipif(SINGULAR.path() is None, reason="Singular: make algebra")

HYPERBOLA = [{(2, 0): F(1), (0, 2): F(1), (0, 0): F(-5)}, {(1, 1): F(1), (0, 0): F(-2)}]
"""x² + y² = 5, x y = 2: (±1, ±2), (±2, ±1)."""


@pytest.fixture
def hidden(monkeypatch):
    monkeypatch.setattr(Engine, "path", lambda self: None)


@pytest.fixture
def script(tmp_path, monkeypatch):
    """An executable of this text in the place of msolve."""

    def made(text):
        file = tmp_path / "msolve"
        file.write_text("#!/bin/sh\n" + text)
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
        assert MSOLVE.path() == file

    return made


def test_an_engine_that_is_not_there_says_how_to_get_it(hidden):
    with pytest.raises(NotThere, match="msolve is not installed") as caught:
        MSOLVE.run([], "")
    assert "make algebra" in str(caught.value)
    assert engines.version_of(MSOLVE) is None
    assert engines.installed_versions() == "msolve is not there, Singular is not there"


def test_what_is_small_needs_no_engine(hidden):
    found = finite.all_points(HYPERBOLA, 2)
    assert sorted(tuple(round(float(v.mid())) for v in p.x) for p in found.real) == [
        (-2, -1), (-1, -2), (1, 2), (2, 1),
    ]  # fmt: skip


def test_what_is_large_is_not_computed_without_one(hidden, monkeypatch):
    monkeypatch.setattr(finite, "LIMITS", (1, 1, 1))
    with pytest.raises(NotThere):
        finite.all_points(HYPERBOLA, 2)


@needs_msolve
def test_both_engines_find_the_same_points(monkeypatch):
    plain = finite.all_points(HYPERBOLA, 2)
    monkeypatch.setattr(finite, "LIMITS", (1, 1, 1))
    other = finite.all_points(HYPERBOLA, 2)
    assert (plain.engine, other.engine) == ("FLINT", "msolve")
    assert plain.multiplicity == other.multiplicity == 4
    first, second = ({tuple(round(float(v.mid()), 12) for v in p.x) for p in found.real}
                     for found in (plain, other))  # fmt: skip
    assert first == second


@needs_msolve
def test_a_basis_modulo_a_prime():
    p = 2**30 + 3
    basis = basis_modulo([{m: int(c) for m, c in f.items()} for f in HYPERBOLA], 2, p)
    leads = {max(f, key=lambda m: (sum(m), -m[1])) for f in basis}
    assert leads == {(1, 1), (2, 0), (0, 3)}


@needs_singular
def test_singular_answers():
    text = "ring r=0,(x,y),dp;ideal i=std(ideal(x2+y2-5,xy-2));vdim(i);quit;"
    assert SINGULAR.run(["-q", "--no-rc", "--no-shell", "in"], text).split() == ["4"]


def test_an_engine_is_ended_at_the_time_limit_with_all_it_started(script, tmp_path):
    file = tmp_path / "pid"
    script(f"sleep 60 & echo $! > {file}\nwait\n")
    begun = time.monotonic()
    with bounded(0.5), pytest.raises(Exhausted, match="time limit"):
        MSOLVE.run([], "")
    assert time.monotonic() - begun < 10
    deadline = time.monotonic() + 5
    while _runs(int(file.read_text())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not _runs(int(file.read_text()))


def _runs(pid):
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_the_memory_of_an_engine_is_bounded(script):
    script("ulimit -v\n")
    with bounded(10, 3e9):
        assert MSOLVE.run([], "").split() == [str(int(3e9) // 1024)]


def test_an_engine_sees_a_private_folder_that_is_gone_afterwards(script):
    script("pwd\ncat in\n")
    folder, text = MSOLVE.run([], "words").split()
    assert text == "words"
    assert not os.path.exists(folder)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("exit 3", "status 3"),
        ("true", "wrote nothing"),
        ("echo '[0, [0, 2' > out", "no list"),
        ("echo '__import__(1)' > out", "not understood at '__import"),
        ("echo '[1, 2 3]:' > out", "not understood at ' 3"),
        ("echo '[1, 2]], [3]:' > out", "not understood at '], "),
        ("echo '[0, [7, 2]]:' > out", "not understood"),
    ],
)
def test_any_other_answer_is_an_error(script, monkeypatch, text, message):
    script(text + "\n")
    monkeypatch.setattr(finite, "LIMITS", (1, 1, 1))
    with pytest.raises(EngineError, match=message):
        finite.all_points(HYPERBOLA, 2)


def test_answers_of_msolve_are_understood():
    assert _parametrization("[-1]:", 2).multiplicity == 0
    assert _parametrization("[1, 2, -1, []]:", 2) is None
    found = _parametrization(
        "[0, [0, \n2, \n4, \n['x0', 'x1'],\n[0, 1],\n[1,\n[[4, [4, 0, -5, 0, 1]],\n"
        "[3, [0, -10, 0, 4]],\n[\n[[3, [20, 0, -8, 0]],\n1]\n]]]]]:",
        2,
    )
    assert (found.order, found.multiplicity) == ([0, 1], 4)
    assert found.elimination == [4, 0, -5, 0, 1]


def test_polynomials_are_written_without_denominators():
    text = text_of([{(2, 0): F(1, 2), (0, 1): F(-1, 3), (0, 0): F(1)}], 2)
    assert text == "x0,x1\n0\n3*x0^2-2*x1^1+6\n"


def test_bounds_are_nested_and_positive():
    with bounded(100):
        with bounded(1):
            assert seconds_left() <= 1
        assert seconds_left() > 50
        with bounded(1000):
            assert seconds_left() < 101
    with pytest.raises(ModelError, match="positive"), bounded(-1):
        pass


def test_too_much_memory_of_our_own_is_seen():
    with bounded(None, 1e3), pytest.raises(Exhausted, match="memory"):
        go_on()


def test_mobility_says_so_when_its_time_is_up():
    found = mobility(read("examples/bricard_line.lsd"), time_limit=1e-6)
    assert (found.rank, found.first_order) == (5, 1)
    assert (found.finite, found.status, found.is_proved) == ((0, 1), "undecided", False)
    assert "time limit" in found.proof


def test_bounds_that_are_not_reached_change_nothing():
    bennett = read("examples/bennett.lsd")
    assert mobility(bennett, time_limit=60).to_dict() == mobility(bennett).to_dict()


def test_an_interrupt_ends_the_engine_too(script, tmp_path):
    """Ctrl-C while the engine runs: the signal comes through, and nothing is left running."""
    file = tmp_path / "pid"
    script(f"echo $$ > {file}\nsleep 60\n")

    def interrupt():
        while not file.exists() or not file.read_text().strip():
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    # whoever starts tests in the background has the signal ignored
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    worker = threading.Thread(target=interrupt)
    worker.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            MSOLVE.run([], "")
    finally:
        signal.signal(signal.SIGINT, before)
        worker.join()
    assert not _runs(int(file.read_text()))
