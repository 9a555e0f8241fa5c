"""The verbs most users want, and the package that offers them."""

import gc
import re
import subprocess
import sys
from pathlib import Path

import pytest

import liaison
from liaison.errors import NamingError


@pytest.fixture
def four_bar(examples):
    return liaison.read(examples / "four_bar.lsd")


def test_every_offered_name_exists():
    for name in liaison.__all__:
        assert getattr(liaison, name) is not None


def test_names_the_package_does_not_offer_are_refused():
    with pytest.raises(AttributeError, match="no_such_name"):
        liaison.no_such_name  # noqa: B018


def test_a_verb_is_not_hidden_by_the_room_of_its_name():
    code = (
        "import liaison.simulation.record.trajectory\n"
        "import liaison\n"
        "from liaison.simulation import Trajectory\n"
        "assert liaison.Trajectory is Trajectory\n"
        "assert callable(liaison.simulate), liaison.simulate\n"
        "from liaison import simulate\n"
        "assert callable(simulate)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_imports_no_room():
    code = "import sys, liaison; print(sorted(x for x in sys.modules if x.startswith('liaison')))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == (
        "['liaison', 'liaison.lazy', 'liaison.verbs', 'liaison.verbs.registry']"
    )


def test_the_stub_offers_the_same_names():
    import ast

    stub = Path(liaison.__file__).with_suffix(".pyi")
    names = {
        alias.asname
        for node in ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    shadowing = {"time", "compile", "reduce"}  # not among the names of import *
    assert names == set(liaison.__all__) | shadowing


def test_a_path_and_a_mechanism_give_the_same_run(four_bar, examples):
    by_path = liaison.simulate(examples / "four_bar.lsd", until=0.2)
    given = liaison.simulate(four_bar, until=0.2)
    assert by_path.q.tolist() == given.q.tolist()


def test_the_long_way_gives_the_same_run(four_bar):
    tree = liaison.span(four_bar)
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    start = liaison.assemble(tree)  # by NumPy, and so not to the bit what compiled code finds
    long = liaison.simulate(kernel, start, until=0.2)
    assert long.q.tolist() == liaison.simulate(four_bar, start, until=0.2).q.tolist()
    assert liaison.simulate(four_bar, until=0.2).q[0] == pytest.approx(start.q, abs=1e-14)


def test_a_kernel_that_does_not_know_its_mechanism_needs_a_state(four_bar):
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(liaison.span(four_bar))))
    with pytest.raises(TypeError, match="state"):
        liaison.simulate(kernel, until=0.1)
    other = liaison.compile(four_bar, "maximal")
    with pytest.raises(TypeError, match="coordinates of its formalism"):
        liaison.simulate(other, until=0.1)
    state = liaison.assemble(liaison.span(four_bar))
    with pytest.raises(liaison.SimulationError, match="a start of 'A' beside it"):
        liaison.simulate(liaison.compile(four_bar), state, until=0.1, start={"A": 0.2})


def test_a_start_is_taken_before_assembling(four_bar):
    name = four_bar.coordinates[0]
    run = liaison.simulate(four_bar, until=0.01, start={name: 0.7})
    assert run[name][0] == pytest.approx(0.7, abs=1e-12)


def test_a_value_changes_the_copy_and_not_the_mechanism():
    swing = liaison.read(
        "parameter m = 2 kg ; let bob = body mass = m end ;"
        "let A = join earth and bob with prismatic axis = [1, 0, 0] end ;"
    )
    changed = liaison.with_values(swing, {"m": 3})
    assert (changed.parameters[0].value, swing.parameters[0].value) == (3, 2)
    assert liaison.with_values(swing, {}) is swing


def test_an_unknown_value_is_refused(four_bar):
    with pytest.raises(NamingError, match="nothing_like_it"):
        liaison.with_values(four_bar, {"nothing_like_it": 1})


def test_the_collector_runs_again_afterwards(four_bar):
    assert gc.isenabled()
    liaison.derive(four_bar)
    assert gc.isenabled()


def test_an_unknown_formalism_is_refused(four_bar):
    with pytest.raises(NamingError, match="astrology"):
        liaison.derive(four_bar, "astrology")


def test_a_stepper_takes_a_mechanism_a_path_or_a_kernel(four_bar, examples):
    tree = liaison.span(four_bar)
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    ways = [
        liaison.stepper(four_bar, step=1e-3),
        liaison.stepper(examples / "four_bar.lsd", step=1e-3),
        liaison.stepper(kernel, liaison.assemble(tree), step=1e-3),
    ]
    first, *others = [way.step(None, 0.01) for way in ways]
    for other in others:
        assert other.q.tolist() == first.q.tolist()
    with pytest.raises(TypeError, match="state"):
        liaison.stepper(kernel)


@pytest.mark.parametrize("verb", ["check", "derive", "compile", "stepper", "mobility"])
def test_what_is_no_mechanism_is_refused_in_words(verb):
    with pytest.raises(TypeError, match="given is 3; it must be a Mechanism"):
        getattr(liaison, verb)(3)


def test_help_sends_nobody_to_a_name_that_is_not_there():
    for name in liaison.__all__:
        text = getattr(liaison, name).__doc__ or ""
        for told in re.findall(r"`(liaison(?:\.\w+)+)`", text):
            value = liaison
            for part in told.split(".")[1:]:
                value = getattr(value, part)
