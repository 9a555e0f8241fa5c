"""The store: nothing lost, nothing doubled, damage reported, whatever the order and the workers."""

import os
import sqlite3

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.studies.chunks import Chunk, encoded
from liaison.studies.store import BLOCK, Store

FOUR_BAR = "examples/four_bar.lsd"
VARY = {"a": "9 cm .. 11 cm", "d": "44 cm .. 46 cm"}
MEASURE = {"swing": "range(D) in deg", "fast": "max(abs(D'))"}


def made(folder=None, count=100, **more):
    options = {
        "vary": VARY,
        "measure": MEASURE,
        "until": 0.05,
        "count": count,
        "every": 0.005,
    } | more
    return liaison.study(FOUR_BAR, folder=folder, **options)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    return made(tmp_path_factory.mktemp("whole") / "store")


def exported(study, folder):
    path = folder / "export.rows"
    study.export(path)
    return path.read_bytes()


def test_rows_are_the_runs_of_a_batch_bit_for_bit(whole):
    runs = whole.runs()
    names = dict(zip(whole.varied, whole.values.T, strict=True))
    batch = liaison.simulate_batch(FOUR_BAR, until=0.05, parameters=names)
    for name in ("t", "q", "v", "end_q", "end_v", "parameters"):
        assert getattr(runs, name).tobytes() == np.ascontiguousarray(getattr(batch, name)).tobytes()
    for name, (values, _) in batch.series.items():
        assert runs.series[name][0].tobytes() == values.tobytes(), name
    assert runs.statuses == batch.statuses
    assert runs.messages == batch.messages
    assert runs[3].status == "done"


def test_known_runs_are_not_made_again(whole, tmp_path):
    seen = []
    again = made(whole.store.folder, watch_progress=seen.append)
    assert seen == []
    assert len(again.store) == 100
    more = made(whole.store.folder, count=150, watch_progress=seen.append)
    assert seen[-1].known == 100  # the first points of a sequence of Sobol' are the same
    assert more["swing"][:100].tobytes() == whole["swing"].tobytes()


def test_a_trajectory_is_made_again_from_its_key(whole):
    run = whole.run(whole.key(7))
    assert run.q[-1].tobytes() == whole.runs().end_q[7].tobytes()
    assert np.ptp(np.degrees(run["D"])) == pytest.approx(whole["swing"][7], rel=1e-12)


def test_a_run_that_ends_elsewhere_than_the_stored_one_is_rejected(whole):
    study = liaison.open_study(whole.store.folder, whole.name)
    make = study._maker
    study._maker = lambda definition, values: make(definition, values * 1.001)
    with pytest.raises(LiaisonError, match="ends elsewhere"):
        study.run(3)


def test_a_store_is_opened_again(whole):
    study = liaison.open_study(whole.store.folder)
    assert study["swing"].tobytes() == whole["swing"].tobytes() or len(study) == 150
    assert study.unit("swing") == "deg"
    assert study.run(2).q[-1].tobytes() == study.runs().end_q[2].tobytes()


def test_order_and_workers_change_nothing(whole, tmp_path):
    first = liaison.study(
        FOUR_BAR, vary=VARY, measure=MEASURE, until=0.05, count=40, every=0.005,
        folder=tmp_path / "b",
    )  # fmt: skip
    assert len(first) == 40
    other = made(tmp_path / "b", threads=1)  # in other chunks, after others
    assert exported(other, tmp_path) == exported(made(tmp_path / "c"), tmp_path)


def test_points_are_selected_by_conditions(whole):
    middle = float(np.median(whole["swing"]))
    some = whole.where(swing=f"> {middle} deg", status="== done")
    assert len(some) == 50
    assert some["swing"].min() > middle
    assert some.runs().q.shape[0] == len(some)
    with pytest.raises(LiaisonError, match="condition"):
        whole.where(swing="big")
    with pytest.raises(LiaisonError, match="speed"):
        whole.where(speed="> 1")


def test_failures_are_rows_with_their_cause(tmp_path):
    text = "let w = body mass = m, inertia = 1 kg*m^2 end ; parameter m = 1 kg ;" \
           "let S = join earth and w with prismatic axis = [0, 0, 1] end ;"  # fmt: skip
    heavy = liaison.study(text, vary={"m": [-1, 1, 2]}, measure={"z": "final(S)"}, until=0.1)
    assert heavy["status"].tolist() == ["failed", "done", "done"]
    assert "mass ≥ 0 fails" in heavy["message"][0]
    assert np.isnan(heavy["z"]).tolist() == [True, False, False]
    loops = made(vary={"a": [0.1, 3.0]}, count=None)
    assert loops.failures == {"not assembled": 1}
    assert "C" in loops["message"][1]


def test_damage_is_reported_and_repaired_by_deleting_the_file(tmp_path):
    study = made(tmp_path / "s", count=64)
    before = exported(study, tmp_path)
    (path, *_) = sorted((tmp_path / "s" / "rows").glob("*.rows"))
    data = bytearray(path.read_bytes())
    place = Chunk(path).header["columns"]["measure.swing"]["at"] + Chunk(path)._begin
    data[place] ^= 1
    path.write_bytes(data)
    with pytest.raises(LiaisonError, match=r"damaged.*measure.swing"):
        liaison.open_study(tmp_path / "s")["swing"]
    path.unlink()
    assert exported(made(tmp_path / "s", count=64), tmp_path) == before


@pytest.mark.parametrize("cut", [0, 10, 60, 2000, -1])
def test_a_file_that_was_cut_is_damaged(cut):
    data = encoded({"key": np.zeros((300, 16), np.uint8)}, {"family": ""})
    with pytest.raises(LiaisonError, match="damaged"):
        Chunk(data[:cut])


def test_an_index_that_is_lost_is_made_again(tmp_path):
    study = made(tmp_path / "s", count=64)
    before = exported(study, tmp_path)
    study.store.close()
    for path in (tmp_path / "s").glob("index*"):
        path.unlink()
    assert exported(liaison.open_study(tmp_path / "s"), tmp_path) == before
    seen = []
    again = made(tmp_path / "s", count=64, watch_progress=seen.append)
    assert seen == []
    assert exported(again, tmp_path) == before


def test_folders_in_use_and_other_formats_are_rejected(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(LiaisonError, match=r"in use.*notes\.txt"):
        Store(tmp_path)
    with pytest.raises(LiaisonError, match="is a file"):
        Store(tmp_path / "notes.txt")
    with pytest.raises(LiaisonError, match="no store"):
        liaison.open_study(tmp_path / "none")
    Store(tmp_path / "s").close()
    with sqlite3.connect(tmp_path / "s" / "index.sqlite") as base:
        base.execute("UPDATE meta SET value = '99' WHERE name = 'format'")
    base.close()
    with pytest.raises(LiaisonError, match=r"format '99'"):
        Store(tmp_path / "s")
    (tmp_path / "t").mkdir()
    (tmp_path / "t" / "index.sqlite").write_bytes(b"no base of data" * 100)
    with pytest.raises(LiaisonError, match="index of the store is damaged"):
        Store(tmp_path / "t")


def test_a_full_disk_is_reported_and_nothing_is_lost(tmp_path, monkeypatch):
    before = exported(made(tmp_path / "whole", count=64), tmp_path)
    calls = []

    def full(handle):
        calls.append(handle)
        raise OSError(28, "No space left on device")

    made(tmp_path / "s", count=32)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(LiaisonError, match="the disk is full"):
            made(tmp_path / "s", count=64)
    assert calls
    assert not [x for x in (tmp_path / "s" / "rows").iterdir() if x.name.startswith(".")]
    assert exported(made(tmp_path / "s", count=64), tmp_path) == before


def test_claims_of_the_dead_are_void(tmp_path):
    store = Store(tmp_path / "s")
    is_known = np.zeros(5 * BLOCK, dtype=bool)
    first = store.claim("x", is_known, 2 * BLOCK)
    second = store.claim("x", is_known, 100 * BLOCK)
    assert sorted(np.concatenate([first.points, second.points])) == list(range(5 * BLOCK))
    assert store.claim("x", is_known, BLOCK) is None
    store.release([first])
    assert store.claim("x", is_known, 2 * BLOCK).blocks == first.blocks
    store._base.execute("UPDATE claims SET owner = ?", (f"{os.uname().nodename}:1:0",))
    assert len(store.claim("x", is_known, 100 * BLOCK).blocks) == 5
