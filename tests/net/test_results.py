"""Results files and checkpoints of version 0.1.0 are still read, or refused with a reason."""

import json

import numpy as np
import pytest

import liaison
from net import results

ROUNDING = 1e-6
"""Of a run taken up on another processor, or with other steps; as in trajectories.py."""


def file(name):
    return results.FOLDER / f"{name}.nc"


@pytest.mark.parametrize("name", results.RESULTS)
def test_a_results_file_has_what_was_written(name):
    found, had = results.contents(liaison.load(file(name))), results.expected()["results"][name]
    assert set(had) <= set(found)
    for part, value in had.items():
        assert found[part] == value, f"{name}.nc: {part}"


def test_every_kind_of_content_is_among_the_files():
    runs = [liaison.load(file(name)) for name in results.RESULTS]
    assert {"done", "stopped"} <= {run.status for run in runs}
    assert any(run.events for run in runs)
    known = {name for run in runs for name in run.series}
    assert {"energy", "outputs", "poses", "position_residual", "contacts", "modes"} <= known
    assert {"reactions", "lam", "self_stress", "invariants"} <= known


@pytest.mark.parametrize("name", ["four_bar", "stops"])
def test_a_results_file_is_plotted_and_shown(name, tmp_path):
    run = liaison.load(file(name))
    mechanism = liaison.read(results.EXAMPLES / results.RESULTS[name][0])
    liaison.save_plot(run, tmp_path / "run.svg", run.labels["q"][0].name)
    liaison.page(run, mechanism, tmp_path / "run.html")
    assert "<svg" in (tmp_path / "run.svg").read_text(encoding="utf-8")
    assert (tmp_path / "run.html").stat().st_size > 10_000


def test_a_results_file_is_written_again_as_it_was(tmp_path):
    run = liaison.load(file("stops"))
    run.save(tmp_path / "again.nc")
    assert results.contents(liaison.load(tmp_path / "again.nc")) == results.contents(run)


@pytest.mark.parametrize("verb", [("verify", "--run"), ("singular", "--along")])
def test_verbs_take_a_results_file(verb, capsys, monkeypatch):
    words = [verb[0], str(results.EXAMPLES / "four_bar.lsd"), verb[1], str(file("four_bar"))]
    status, out = results.command_line([*words, "--json"], capsys, monkeypatch)
    assert status == 0
    assert json.loads(out)["name"] == "four bar"


@pytest.mark.parametrize("name", results.CHECKPOINTS)
def test_a_checkpoint_is_taken_up_right_or_refused_with_a_reason(name):
    found, had = results.resumed(name), results.expected()["checkpoints"][name]
    if isinstance(found, liaison.LiaisonError):
        assert isinstance(found, liaison.SimulationError)
        assert "checkpoint" in str(found)
        return
    for part in ("t", "q", "v"):
        assert getattr(found, part)[-1] == pytest.approx(
            np.array(had[part]), rel=ROUNDING, abs=ROUNDING
        ), f"{name}: {part}"


def test_bytes_that_are_no_checkpoint_are_refused():
    run = results.begun("four_bar")
    with pytest.raises(liaison.SimulationError, match="checkpoint"):
        run.restore(b"liaison")
