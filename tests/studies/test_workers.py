"""Where a study runs: processes, a cluster on this machine; the same bits, deaths survived."""

import os
import signal
from concurrent.futures import BrokenExecutor, Future, ThreadPoolExecutor
from importlib import import_module

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, LiaisonError
from liaison.studies.cluster import check_address
from liaison.studies.work import Progress
from liaison.verbs.studies import _studying as studying

FOUR_BAR = "examples/four_bar.lsd"


def made(folder, count=200, **more):
    return liaison.study(
        FOUR_BAR, vary={"a": "9 cm .. 11 cm"}, measure={"swing": "range(D)"}, until=0.05,
        count=count, every=0.01, folder=folder, **more,
    )  # fmt: skip


def exported(study, folder):
    study.export(folder / "x.rows")
    return (folder / "x.rows").read_bytes()


@pytest.mark.parametrize(
    "address",
    ["tcp://127.0.0.1:8786", "localhost:8786", "tls://10.0.0.5:8786", "insecure tcp://10.0.0.5:1"],
)
def test_addresses_of_this_machine_and_safe_ones_are_taken(address):
    assert check_address(address).endswith(address.rpartition(" ")[2])


@pytest.mark.parametrize(
    "address", ["tcp://10.0.0.5:8786", "cluster:8786", "http://localhost:1", "x y z"]
)
def test_other_addresses_are_rejected(address):
    with pytest.raises(ArgumentError) as error:
        check_address(address)
    assert address.split()[0].removeprefix("tcp://")[:8] in str(error.value)


def test_a_worker_of_another_version_is_rejected(tmp_path, monkeypatch):
    monkeypatch.setattr(studying.Making.__init__, "__defaults__", ("0.0.9",))
    with pytest.raises(LiaisonError, match=r"the study has 0\.0\.9"):
        made(tmp_path / "s", 16)


def test_the_progress_has_rate_time_left_and_causes():
    progress = Progress(1000, 300, 100, seconds=10.0)
    progress.failed["not assembled"] = 7
    assert progress.rate == 20
    assert progress.left == 35
    assert progress.line() == (
        "300 of 1000 runs, 20 a second, 0:35 min left; failed: 7 not assembled"
    )


class Mortal(ThreadPoolExecutor):
    """Workers of which the first pool dies with all that it has under way."""

    made = 0

    def __init__(self):
        super().__init__(1)
        Mortal.made += 1
        self.is_dying = Mortal.made == 1

    def submit(self, fn, /, *args, **kwargs):
        if not self.is_dying:
            return super().submit(fn, *args, **kwargs)
        future = Future()
        future.set_exception(BrokenExecutor("a worker died"))
        return future


def test_one_death_in_a_large_pool_is_one_death(tmp_path, monkeypatch):
    module = import_module("liaison.verbs.studies.study")
    monkeypatch.setattr(module, "_executor", lambda workers, cluster: (Mortal, 8))
    study = made(tmp_path / "s", 2000)
    assert Mortal.made == 2
    assert np.all(study.success)


def test_ctrl_c_keeps_what_is_stored(tmp_path):
    def interrupt(progress):
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(liaison.Interrupted, match="runs are stored; start it again") as caught:
        made(tmp_path / "s", 2000, watch_progress=interrupt)
    study = caught.value.trajectory
    assert 0 < len(study.store) < 2000
    assert study.store._base.execute("SELECT count(*) FROM claims").fetchone() == (0,)
    whole = made(tmp_path / "s", 2000)
    assert exported(whole, tmp_path) == exported(made(tmp_path / "c", 2000), tmp_path)


@pytest.mark.slow
def test_processes_compute_the_same_bits(tmp_path):
    study = made(tmp_path / "s", workers=2)
    assert exported(study, tmp_path) == exported(made(tmp_path / "c"), tmp_path)


@pytest.mark.slow
def test_a_process_that_dies_is_replaced(tmp_path):
    killed = []

    def kill(progress):
        import psutil

        children = psutil.Process().children()
        if children and not killed:
            killed.append(children[-1].pid)
            children[-1].kill()

    pytest.importorskip("psutil")
    study = made(tmp_path / "s", 3000, workers=2, watch_progress=kill)
    assert killed
    assert len(study.store) == 3000
    assert exported(study, tmp_path) == exported(made(tmp_path / "c", 3000), tmp_path)


@pytest.mark.slow
def test_a_cluster_computes_the_same_bits_and_survives_a_dead_worker(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        killed = []

        def kill(progress):
            if not killed:
                killed.append(next(iter(cluster.workers.values())).process.pid)
                os.kill(killed[0], signal.SIGKILL)

        study = made(tmp_path / "s", 4000, cluster=cluster.scheduler_address, watch_progress=kill)
    assert killed
    assert exported(study, tmp_path) == exported(made(tmp_path / "c", 4000), tmp_path)
