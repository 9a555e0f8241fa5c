"""Reactions of redundant closures: named, left out of tables and plots, refused where asked for."""

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError


@pytest.fixture(scope="module")
def run(examples):
    series = ("reactions", "lam", "energy")
    return liaison.simulate(examples / "four_bar.lsd", until=0.1, every=0.05, series=series)


def test_a_run_says_which_reactions_are_not_determined(run, examples):
    """The same components that mobility names, from the geometry alone."""
    assert "Not determined, since closures are redundant" in run.message
    known = liaison.mobility(examples / "four_bar.lsd").redundancy.undetermined
    lost = {tuple(x.removeprefix("reactions.").rsplit(".", 1)) for x in run.undetermined
            if x.startswith("reactions.")}  # fmt: skip
    short = {f"{what} {axis}": f"{letter}{axis[-1]}" for what, letter, axes in (
        ("force", "F", ("along x", "along y", "along z")),
        ("moment", "M", ("about x", "about y", "about z")),
    ) for axis in axes}  # fmt: skip
    assert lost == {(joint, short[part]) for joint, parts in known for part in parts}
    for joint, _ in known:
        assert joint in run.message


def test_tables_and_files_have_no_empty_columns(run, tmp_path):
    run.to_csv(tmp_path / "run.csv", "reactions")
    head = (tmp_path / "run.csv").read_text().splitlines()[0]
    table = np.loadtxt(tmp_path / "run.csv", delimiter=",", skiprows=1)
    assert np.all(np.isfinite(table))
    assert table.shape[1] == 1 + 24 - sum(x.startswith("reactions.") for x in run.undetermined)
    assert not any(x in head for x in run.undetermined)
    frame = run.to_pandas()
    assert not frame.isna().any().any()
    assert np.isnan(run["reactions"]).any()


def test_what_is_named_and_not_determined_is_an_error(run, tmp_path):
    with pytest.raises(SimulationError, match="not determined by the motion"):
        run.to_csv(tmp_path / "run.csv", run.undetermined[0])
    with pytest.raises(SimulationError, match="not determined by the motion"):
        liaison.plot(run, run.undetermined[0])


def test_a_plot_leaves_them_out_and_says_so(run):
    ax = liaison.plot(run, "reactions.A.*")
    names = [x.get_label() for axes in ax.figure.axes for x in axes.get_lines()]
    assert "reactions.A.Fx" in names
    assert not {*names} & {*run.undetermined}
    assert "left out" in ax.get_title(loc="right")


def test_what_is_determined_is_not_mentioned(examples):
    run = liaison.simulate(examples / "double_pendulum.lsd", until=0.1, series=("reactions",))
    assert run.undetermined == ()
    assert "determined" not in run.message
