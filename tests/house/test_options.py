"""Options of a run are declared once and refused where misspelt (see misspelt_options.py)."""

import inspect
from dataclasses import fields

import pytest

import liaison
from liaison import OptionError, RunOptions
from liaison.errors import ArgumentError
from liaison.simulation.batch.run import simulate_batch
from liaison.simulation.plan.options import (
    OF_BATCHES,
    OF_SCENES,
    OF_STEPS,
    BatchKeywords,
    meanings,
    run_options,
)
from liaison.simulation.plan.settings import Settings
from liaison.simulation.run import simulate


def test_keywords_repeat_names_and_types_of_the_record():
    record = {x.name: x.type for x in fields(RunOptions)}
    typed = {name: x.__forward_arg__ for name, x in BatchKeywords.__annotations__.items()}
    assert typed == record


def test_every_option_is_explained():
    doc = inspect.getdoc(RunOptions) or ""
    assert all(f"    {name}: " in doc for name in meanings())
    assert all(meaning.text.endswith(".") for meaning in meanings().values())


def test_the_record_has_every_option_that_runs_take():
    own = {"self", "kernel", "state", "states", "until", "parameters", "more", "rejected"}
    taken = {*inspect.signature(simulate).parameters, *inspect.signature(simulate_batch).parameters}
    assert taken - own == set(OF_BATCHES) - set(OF_SCENES) - {"only_series"}  # `series` of these
    assert {x.name for x in fields(Settings)} - {"every"} == set(OF_STEPS)


@pytest.mark.parametrize("verb", ["simulate", "simulate_batch", "verify"])
def test_a_misspelt_option_is_refused_with_the_right_one(verb, examples):
    with pytest.raises(OptionError, match="no option 'evry'; did you mean 'every'"):
        getattr(liaison, verb)(examples / "pendulum.lsd", until=1, evry=0.1)
    assert issubclass(OptionError, TypeError)


@pytest.mark.parametrize(
    ("call", "proposed"),
    [
        (lambda f: liaison.stepper(f, metod="rk4"), "method"),
        (lambda f: liaison.mobility(f, prime=2), "primes"),
        (lambda f: liaison.reduce(f, orders=2), "order"),
        (lambda f: liaison.assembly_modes(f, sed=2), "seed"),
        (lambda f: liaison.derive(f, "kane", speed={}), "speeds"),
        (lambda f: liaison.derive(f, "dalembert", momentpoint="joint"), "moment_point"),
    ],
)
def test_other_verbs_propose_the_right_option_too(call, proposed, examples):
    with pytest.raises(OptionError, match=f"did you mean '{proposed}'"):
        call(examples / "four_bar.lsd")


def test_a_record_serves_several_verbs_and_keywords_go_before_it(examples):
    record = RunOptions(step=1e-3, every=0.25, threads=1)
    run = liaison.simulate(examples / "pendulum.lsd", until=0.5, options=record)
    assert run.t.tolist() == [0.0, 0.25, 0.5]
    finer = liaison.simulate(examples / "pendulum.lsd", until=0.5, options=record, every=0.125)
    assert len(finer) == 5
    assert finer.q[-1].tolist() == run.q[-1].tolist()
    masses = {"m": [1.0, 2.0]}
    many = liaison.simulate_batch(
        examples / "pendulum.lsd", until=0.5, parameters=masses, options=record
    )
    assert many.q[0, -1].tolist() == run.q[-1].tolist()
    assert liaison.stepper(examples / "pendulum.lsd", options=record).step(None, 0.1).t == 0.1


def test_options_of_scenes_are_for_scenes(examples):
    with pytest.raises(OptionError, match="sweeps"):
        liaison.simulate(examples / "pendulum.lsd", until=0.1, sweeps=3)
    held = RunOptions(sweeps=3)
    assert liaison.simulate(examples / "pendulum.lsd", until=0.1, options=held).success


def test_options_of_a_run_are_refused_beside_a_run_that_is_over(examples):
    run = liaison.simulate(examples / "pendulum.lsd", until=0.1)
    assert liaison.verify(examples / "pendulum.lsd", run, rtol=None).holds
    for unused in ({"until": 0.2}, {"rtol": 1e-3}):
        with pytest.raises(ArgumentError, match=f"verify: {next(iter(unused))} is of a run"):
            liaison.verify(examples / "pendulum.lsd", run, **unused)


def test_a_kernel_finds_no_first_integrals(examples):
    kernel = liaison.compile(examples / "pendulum.lsd")
    with pytest.raises(ArgumentError, match="first integrals of a mechanism"):
        liaison.simulate(kernel, until=0.1, invariants=True)


def test_what_is_none_is_not_given():
    assert run_options("simulate", RunOptions(rtol=1e-9), {"rtol": None, "step": 0.1}) == {
        "rtol": 1e-9,
        "step": 0.1,
    }


def test_the_old_name_of_chosen_options_warns():
    options = RunOptions(rtol=1e-9)
    with pytest.warns(DeprecationWarning, match=r"RunOptions\.chosen"):
        assert options.given() == options.chosen() == {"rtol": 1e-9}
