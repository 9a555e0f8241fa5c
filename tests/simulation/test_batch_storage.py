"""Runs as files and tables: what is read back is what was there; tables agree with single runs."""

import csv
import pickle

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError, NamingError

BOUNCING = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 1 kg ;
let ball = body mass = m, inertia = [1, 1, 1] kg*m^2 end ;
let Z = join earth and ball with prismatic axis = [0, 0, 1] end ;
output height = Z ;
require Z >= 0 m with restitution = 0.5 end ;
start Z = 1 m ;
"""


@pytest.fixture(scope="module")
def runs():
    mechanism = liaison.read(BOUNCING)
    return liaison.simulate_batch(
        mechanism,
        until=1.0,
        every=0.25,
        start={"Z": [1.0, 0.5, 2.0]},
        parameters={"m": [1.0, 2.0, 3.0]},
        series=("energy", "outputs", "poses"),
    )


def test_what_was_saved_is_read_back_bit_for_bit(runs, tmp_path):
    runs.save(tmp_path / "runs.nc")
    back = liaison.Runs.load(tmp_path / "runs.nc")
    for name in ("t", "q", "v", "recorded", "parameters", "end_t", "end_q", "end_v"):
        assert np.array_equal(getattr(back, name), getattr(runs, name)), name
    for name in ("name", "labels", "statuses", "messages", "reasons"):
        assert getattr(back, name) == getattr(runs, name), name
    assert list(back.series) == list(runs.series)
    for name in runs.columns("*", "poses"):
        assert np.array_equal(back[name], runs[name]), name
    assert {k: x.tolist() for k, x in back.counts.items()} == {
        k: x.tolist() for k, x in runs.counts.items()
    }
    assert any(runs.events)
    for ours, theirs in zip(back.events, runs.events, strict=True):
        assert [(e.name, e.t, e.what, e.v.tolist()) for e in ours] == [
            (e.name, e.t, e.what, e.v.tolist()) for e in theirs
        ]
    one, other = back[1], runs[1]
    assert one.compare(other) == dict.fromkeys(one.compare(other), 0.0)
    assert one.meta["parameters"] == {"m": 2.0}


def test_one_run_and_many_are_not_taken_for_each_other(runs, tmp_path):
    runs.save(tmp_path / "many.nc")
    runs[0].save(tmp_path / "one.nc")
    with pytest.raises(LiaisonError, match="many runs"):
        liaison.load(tmp_path / "many.nc")
    with pytest.raises(LiaisonError, match="one run"):
        liaison.Runs.load(tmp_path / "one.nc")


def test_a_dataset_has_runs_instants_units_and_parameters(runs):
    data = runs.to_xarray()
    assert data["q"].dims == ("run", "time", "coordinate")
    assert np.array_equal(data["q"].sel(coordinate="Z").values, runs["Z"])
    assert data["m"].dims == ("run",)
    assert data["m"].values.tolist() == [1.0, 2.0, 3.0]
    assert data["energy"].dims == ("run", "time", "part")
    assert float(data["energy"].sel(part="U", run=2).isel(time=0)) == runs["energy.U"][2, 0]


def test_tables_have_a_row_for_each_run_and_instant(runs, tmp_path):
    frame = runs.to_pandas("Z", "height", "energy.*")
    assert frame.index.names == ["run", "t"]
    assert list(frame.columns) == ["m", "Z", "height", "energy.T", "energy.U"]
    assert frame.attrs["units"]["Z"] == "m"
    for k, run in enumerate(runs):
        assert frame.loc[k]["Z"].tolist() == run["Z"].tolist()
        assert frame.loc[k].index.tolist() == run.t.tolist()
    runs.to_csv(tmp_path / "runs.csv", "Z")
    with (tmp_path / "runs.csv").open(newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads == ["run", "t [s]", "m [kg]", "Z [m]"]
    assert [float(row[3]) for row in rows] == runs["Z"].ravel().tolist()


def test_a_run_that_ended_early_has_the_instants_it_reached():
    event = "event low when Z - 20 cm falling stop ;"
    text = BOUNCING.replace("start Z = 1 m ;", event + " start Z = 1 m ;")
    runs = liaison.simulate_batch(
        liaison.read(text), until=1.0, every=0.25, start={"Z": [1.0, 50.0]}, on_failure="return"
    )
    assert runs.recorded[0] < runs.recorded[1] == 5
    assert len(runs.to_pandas()) == runs.recorded.sum()
    assert not runs.to_pandas("Z").isna().any().any()


def test_labels_that_are_not_there_are_named(runs):
    with pytest.raises(NamingError, match="'Y'"):
        runs.to_pandas("Y")
    assert runs.unit("energy.T") == "J"
    assert runs.unit("t") == "s"


def test_they_can_be_pickled(runs):
    back = pickle.loads(pickle.dumps(runs))
    assert np.array_equal(back.q, runs.q)
    assert len(back.events[0]) == len(runs.events[0])


@pytest.mark.parametrize("name", ["energy", "poses", "outputs"])
def test_an_output_comes_before_a_series_of_its_name(name):
    """Value and unit are of the same thing, in a run and in many."""
    mechanism = liaison.read(BOUNCING.replace("output height = Z", f"output {name} = Z in mm"))
    run = liaison.simulate(mechanism, until=0.1, every=0.1)
    assert np.allclose(run[name], 1000 * run["Z"])
    assert run.unit(name) == "mm"
    many = liaison.simulate_batch(mechanism, until=0.1, every=0.1, start={"Z": [1.0, 0.5]})
    assert np.allclose(many[name], 1000 * many["Z"])
    assert np.allclose(many[1][name], many[name][1])


def test_a_value_that_cannot_be_names_its_run():
    """What one run rejects a batch rejects too: a mass below zero, in one row of many."""
    with pytest.raises(LiaisonError, match=r"run 1: .*inertia of body 'ball'"):
        liaison.simulate_batch(liaison.read(BOUNCING), until=0.1, parameters={"m": [1.0, -1.0]})
