"""`series` adds to what a run evaluates by default, in Python as on the command line."""

import pytest

import liaison
from liaison.errors import ArgumentError
from liaison.simulation.plan.options import DEFAULT_SERIES, run_options

PENDULUM = "examples/pendulum.lsd"


def run(**options):
    return liaison.simulate(PENDULUM, until=0.01, step=0.01, **options)


def test_series_adds_and_only_series_replaces():
    default = set(run().series)
    assert {"energy", "poses"} <= default
    assert set(run(series=("reactions",)).series) == default | {"reactions", "markers"}
    assert set(run(series=()).series) == default
    assert set(run(only_series=("energy",)).series) == {"energy"}
    assert not run(only_series=()).series
    record = liaison.RunOptions(only_series=("energy",))
    assert set(run(options=record).series) == {"energy"}


def test_both_are_rejected():
    with pytest.raises(ArgumentError, match="give one of them"):
        run(series=("lam",), only_series=("lam",))


def test_batches_and_kinematic_runs_do_the_same():
    batch = liaison.simulate_batch(
        PENDULUM, until=0.01, step=0.01, start={"A": [0.1, 0.2]}, series=("momentum",)
    )
    assert {"energy", "momentum"} <= set(batch.series)
    alone = liaison.simulate_batch(
        PENDULUM, until=0.01, step=0.01, start={"A": [0.1, 0.2]}, only_series=("momentum",)
    )
    assert set(alone.series) == {"momentum"}
    motion = {"A": liaison.time}
    more = liaison.kinematic_run(PENDULUM, motion, until=0.01, series=("momentum",))
    assert {"lam", "momentum"} <= set(more.series)
    few = liaison.kinematic_run(PENDULUM, motion, until=0.01, only_series=("momentum",))
    assert set(few.series) == {"momentum"}


def test_what_is_evaluated_is_in_one_order_and_once():
    chosen = run_options("simulate", None, {"series": ("lam", "energy", "lam")})
    assert chosen["series"] == (*DEFAULT_SERIES, "lam")
