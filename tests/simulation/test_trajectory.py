"""A run is found by label, read between its instants, and kept whole on disk."""

import csv
import os
import pickle
import subprocess
import sys
import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import liaison
from liaison.equations import newton_euler
from liaison.errors import ArgumentError, LiaisonError, NamingError, SimulationError
from liaison.model import (
    Free,
    PointOnLine,
    PointOnPlane,
    Quaternion,
    RodByAngles,
    RotationMatrix,
    Spherical,
)
from liaison.model.describe import body, gravity, ground, join, mechanism
from liaison.numeric import State
from liaison.program import to_llvm
from liaison.program.lower import lower
from liaison.simulation import map_entry, simulate
from liaison.simulation.record import resampling
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory, load
from liaison.tree import assemble, span
from liaison.units import Label

LABELS = {
    "q": (Label("A", "rad"), Label("S.x", "m")),
    "v": (Label("A'", "rad/s"), Label("S.x'", "m/s")),
}
FORCES = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")
FORCE_UNITS = ("N*m",) * 3 + ("N",) * 3


def oscillator(n: int = 41, end: float = 2.0) -> Trajectory:
    """A = sin t, S.x = cos 2t: known everywhere, so interpolation has a truth."""
    t = np.linspace(0, end, n)
    q = np.stack([np.sin(t), np.cos(2 * t)], axis=1)
    v = np.stack([np.cos(t), -2 * np.sin(2 * t)], axis=1)
    poses = np.zeros((n, 2, 3, 4))
    poses[..., :3] = np.eye(3)
    poses[:, 1, 0, 3] = q[:, 1]
    reactions = np.arange(n * 12, dtype=float).reshape(n, 2, 6)
    redundant = np.zeros((2, 6), dtype=bool)
    redundant[1, 2] = True
    series = {
        "energy": np.stack([v[:, 0] ** 2, q[:, 0] ** 2], axis=1),
        "residual": Series(np.zeros(n), "m"),
        "outputs": Series(q[:, :1] * 2, ("m",), {"output": ("tip",)}),
        "poses": Series.of_poses(poses, ("ground", "slider")),
        "reactions": Series(
            reactions, FORCE_UNITS, {"joint": ("A", "S"), "component": FORCES}, redundant
        ),
    }
    return Trajectory(
        name="oscillator",
        t=t,
        q=q,
        v=v,
        labels=LABELS,
        series=series,
        events=(EventRecord("top", 1.5, np.array([1.0, -0.0]), np.array([0.1, np.nan])),),
        message="reached the end",
        counts={"steps": n - 1, "evaluations": 4 * (n - 1)},
        meta={"method": "rk4", "rtol": 1e-8, "parameters": {"m": 1 / 3}, "range": [0, np.inf]},
    )


def test_columns_are_found_by_label():
    run = oscillator()
    assert_array_equal(run["A"], run.q[:, 0])
    assert_array_equal(run["S.x'"], run.v[:, 1])
    assert_array_equal(run["energy.U"], run["energy"][:, 1])
    assert_array_equal(run["tip"], 2 * run["A"])
    assert_array_equal(run["t"], run.t)
    assert run.unit("A'") == "rad/s"
    assert run.unit("energy.T") == "J"
    assert run.unit("reactions.A.Fx") == "N"
    assert list(run.columns("A*", "energy")) == ["A", "A'", "energy.T", "energy.U"]
    assert list(run.columns("tip")) == ["outputs.tip"]


def test_an_unknown_label_is_refused_with_a_proposal():
    with pytest.raises(NamingError, match=r"no label is named 'S\.y'; did you mean 'S\.x'\?"):
        oscillator()["S.y"]
    with pytest.raises(NamingError):
        oscillator().columns("Z*")


def test_undetermined_reactions_are_not_numbers():
    run = oscillator()
    assert np.all(np.isnan(run["reactions.S.Mz"]))
    assert np.all(np.isfinite(run["reactions.S.Fx"]))
    assert np.all(np.isfinite(run.series["reactions"].values))


def test_names_of_scipy():
    run = oscillator()
    assert run.success
    assert run.nfev == 160
    assert run.y.shape == (4, 41)
    assert_array_equal(run.t_events["top"], [1.5])
    assert run.y_events["top"].shape == (1, 4)
    assert run.sol(0.3).shape == (4,)
    assert_allclose(run.sol([0.3, 0.4])[0], np.sin([0.3, 0.4]), atol=1e-6)


def test_a_run_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        oscillator().q[0, 0] = 1
    with pytest.raises(AttributeError):
        oscillator().status = "failed"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"q": np.zeros((41, 3))}, "q has shape"),
        ({"t": np.linspace(2, 0, 41)}, "never decrease"),
        ({"series": {"energy": np.zeros((3, 2))}}, "3 rows for 41"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(change, message):
    run = oscillator()
    fields = {"name": "x", "t": run.t, "q": run.q, "v": run.v, "labels": LABELS} | change
    with pytest.raises(SimulationError, match=message):
        Trajectory(**fields)


def test_resampling_is_of_fourth_order_and_exact_at_instants():
    times = np.linspace(0.03, 1.97, 333)
    errors = []
    for n in (21, 41):
        found = oscillator(n).resample(times)
        errors.append(
            [np.abs(found["S.x"] - np.cos(2 * times)).max(),
             np.abs(found["S.x'"] + 2 * np.sin(2 * times)).max()]
        )  # fmt: skip
    order = np.log2(np.divide(*errors))
    assert order[0] > 3.7  # 4 for positions
    assert order[1] > 2.7  # 3 for their rates
    run = oscillator()
    same = run.resample(run.t)
    assert_array_equal(same.q, run.q)
    assert_allclose(same.v, run.v, atol=1e-14)


def test_resampling_outside_the_run_is_refused():
    with pytest.raises(SimulationError, match="5 s lies outside the run, which covers 0 to 2 s"):
        oscillator().resample([1.0, 5.0])


def test_a_jump_recorded_twice_keeps_both_sides():
    t = np.array([0.0, 1.0, 1.0, 2.0])
    q = np.array([[0.0], [1.0], [1.0], [-1.0]])
    v = np.array([[1.0], [1.0], [-2.0], [-2.0]])
    labels = {"q": (Label("x", "m"),), "v": (Label("x'", "m/s"),)}
    found = Trajectory("bounce", t, q, v, labels).resample([0.5, 1.0, 1.5])
    assert_allclose(found["x"], [0.5, 1.0, 0.0], atol=1e-15)
    assert_allclose(found["x'"], [1.0, -2.0, -2.0], atol=1e-15)


def tumbling(n: int, step: float) -> Trajectory:
    """A free body: attitude by many tiny exact turns, so the truth is on hand at every instant."""
    fine = 64
    times = np.arange((n - 1) * fine + 1) * step / fine
    omega = np.stack([2 + np.sin(times), np.cos(2 * times), 0.5 * times], axis=1)
    # midpoint rotations of step/64: their own error, of order (step/64)², is far below the test's
    quat = np.empty((len(times), 4))
    quat[0] = [1, 0, 0, 0]
    middle = (times[1:] + times[:-1]) / 2
    half = np.stack([2 + np.sin(middle), np.cos(2 * middle), 0.5 * middle], axis=1)
    turn = resampling._exp(half * (step / fine))
    for k in range(len(turn)):
        quat[k + 1] = resampling._product(quat[k], turn[k])
    p = np.stack([np.sin(times), np.cos(times), times], axis=1)
    p_rate = np.stack([np.cos(times), -np.sin(times), np.ones_like(times)], axis=1)
    v = np.concatenate([omega, resampling.turned(quat, p_rate, back=True)], axis=1)
    names = ("x", "y", "z", "w", "i", "j", "k")
    labels = {
        "q": tuple(Label(f"F.{x}") for x in names),
        "v": tuple(Label(f"F.v{x}") for x in range(6)),
    }
    charts = (resampling.Chart("free", slice(0, 7), slice(0, 6)),)
    q = np.concatenate([p, quat], axis=1)
    return Trajectory("tumbling", times, q, v, labels, meta={"charts": charts, "fine": fine})


def test_attitudes_between_instants_stay_unit_and_are_of_fourth_order():
    worst = []
    for n, step in ((11, 0.2), (21, 0.1)):
        truth = tumbling(n, step)
        fine = truth.meta["fine"]
        coarse = Trajectory(
            "coarse", truth.t[::fine], truth.q[::fine], truth.v[::fine], truth.labels,
            meta=truth.meta,
        )  # fmt: skip
        found = coarse.resample(truth.t)
        assert_allclose(np.linalg.norm(found.q[:, 3:], axis=1), 1, atol=1e-12)
        worst.append([np.abs(found.q - truth.q).max(), np.abs(found.v - truth.v).max()])
    order = np.log2(np.divide(*worst))
    assert order[0] > 3.6
    assert order[1] > 2.6


def test_quaternions_of_opposite_sign_are_the_same_attitude():
    run = tumbling(5, 0.1)
    q = run.q.copy()
    q[:, 3:] *= -1
    other = Trajectory("other", run.t, q, run.v, run.labels, meta=run.meta)
    assert max(run.compare(other).values()) == 0


def test_poses_turn_on_the_shortest_arc():
    quat = resampling._exp(np.array([[0.0, 0, 0], [0, 0, 1.0], [0, 0, 2.0]]))
    poses = np.zeros((3, 1, 3, 4))
    poses[:, 0, :, :3] = resampling.rotation_of(quat)
    poses[:, 0, 0, 3] = [0, 1, 2]
    none = np.zeros((3, 0))
    run = Trajectory("p", np.arange(3.0), none, none, {"q": (), "v": ()}, {"poses": poses})
    found = run.resample([0.25, 1.5])["poses"][:, 0]
    angle = np.arctan2(found[:, 1, 0], found[:, 0, 0])
    assert_allclose(angle, [0.25, 1.5], atol=1e-14)
    assert_allclose(found[:, 0, 3], [0.25, 1.5], atol=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.7, 2.5, np.pi - 1e-9, np.pi])
def test_a_quaternion_and_its_rotation_are_one(angle):
    axis = np.array([0.48, -0.6, 0.64])
    R = resampling.rotation_of(resampling._exp(angle * axis))
    assert_allclose(resampling.rotation_of(resampling.quaternion_of(R)), R, atol=1e-15)


def test_comparison_names_the_worst_label_first():
    run = oscillator()
    other = oscillator(81)
    assert max(oscillator(81).compare(other).values()) == 0
    q = other.q.copy()
    q[40, 1] += 0.5
    bent = Trajectory("bent", other.t, q, other.v, LABELS)
    worst = run.compare(bent)
    assert next(iter(worst)) == "S.x"
    assert worst["S.x"] == pytest.approx(0.5)
    with pytest.raises(SimulationError, match="share no time"):
        run.compare(Trajectory("late", run.t + 10, run.q, run.v, LABELS))


def assert_same(a: Trajectory, b: Trajectory) -> None:
    for name in ("name", "labels", "status", "message", "counts", "meta"):
        assert getattr(a, name) == getattr(b, name), name
    for name in ("t", "q", "v"):
        assert getattr(a, name).tobytes() == getattr(b, name).tobytes(), name
    assert list(a.series) == list(b.series)
    for name, x in a.series.items():
        y = b.series[name]
        assert (x.unit, x.axes, x.values.shape) == (y.unit, y.axes, y.values.shape)
        assert x.values.tobytes() == y.values.tobytes(), name
        assert (x.undetermined is None) == (y.undetermined is None)
        if x.undetermined is not None:
            assert_array_equal(x.undetermined, y.undetermined)
    assert len(a.events) == len(b.events)
    for x, y in zip(a.events, b.events, strict=True):
        assert (x.name, x.t, x.q.tobytes(), x.v.tobytes()) == (
            y.name, y.t, y.q.tobytes(), y.v.tobytes()
        )  # fmt: skip


def test_a_saved_run_comes_back_bit_for_bit(tmp_path):
    run = oscillator()
    run.save(tmp_path / "run.nc")
    assert_same(run, load(tmp_path / "run.nc"))
    assert_same(run, Trajectory.load(str(tmp_path / "run.nc")))
    assert [x.name for x in tmp_path.iterdir()] == ["run.nc"]


def test_a_run_without_coordinates_or_events_comes_back_too(tmp_path):
    run = Trajectory("rigid", [0.0, 1.0], np.zeros((2, 0)), np.zeros((2, 0)), {"q": (), "v": ()})
    run.save(tmp_path / "run.nc")
    assert_same(run, load(tmp_path / "run.nc"))


def test_a_run_survives_pickling():
    run = oscillator()
    assert_same(run, pickle.loads(pickle.dumps(run)))


def test_other_tools_read_the_file(tmp_path):
    import xarray

    run = oscillator()
    run.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        assert_array_equal(data["q"].sel(coordinate="S.x"), run["S.x"])
        assert data["time"].attrs["units"] == "s"


def test_a_missing_folder_or_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        oscillator().save(tmp_path / "nowhere" / "run.nc")
    with pytest.raises(FileNotFoundError, match="no such results file"):
        load(tmp_path / "run.nc")


def test_a_file_that_is_no_run_is_refused(tmp_path):
    (tmp_path / "run.nc").write_text("hello")
    with pytest.raises(LiaisonError, match="cannot be read as netCDF"):
        load(tmp_path / "run.nc")


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "run.nc"
    oscillator(5).save(path)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("disk")))
    with pytest.raises(OSError, match="disk"):
        oscillator(9).save(path)
    assert len(load(path)) == 5
    assert [x.name for x in tmp_path.iterdir()] == ["run.nc"]


SAVE_FOR_EVER = """
import sys
import numpy as np
from liaison.simulation.record.trajectory import Trajectory
from liaison.units import Label

def run(n):
    x = np.zeros((n, 50))
    labels = tuple(Label(f"x{k}") for k in range(50))
    rates = tuple(Label(f"v{k}") for k in range(50))
    return Trajectory("run", np.arange(float(n)), x, x, {"q": labels, "v": rates})

runs = run(2001), run(3001)
runs[0].save(sys.argv[1])
print("started", flush=True)
while True:
    for x in runs:
        x.save(sys.argv[1])
"""


def test_a_kill_in_mid_write_leaves_a_whole_file(tmp_path):
    path = str(tmp_path / "run.nc")
    for trial in range(3):
        command = [sys.executable, "-c", SAVE_FOR_EVER, path]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as writer:
            assert writer.stdout.readline() == b"started\n"
            time.sleep(0.003 + 0.011 * trial)
            writer.kill()
        assert len(load(path)) in (2001, 3001)


def test_xarray_has_named_coordinates_and_units():
    data = oscillator().to_xarray()
    assert data["q"].sel(coordinate="A").shape == (41,)
    assert str(data["coordinate_unit"].sel(coordinate="A").item()) == "rad"
    assert data["energy"].attrs["units"] == "J"
    assert data["poses"].sel(body="slider", column="p", row="x").shape == (41,)
    assert bool(data["reactions_undetermined"].sel(joint="S", component="Mz").all())
    assert data.attrs["status"] == "done"


def test_pandas_and_csv_hold_the_same_numbers(tmp_path):
    run = oscillator()
    frame = run.to_pandas("A*", "energy")
    assert frame.attrs["units"]["A'"] == "rad/s"
    run.to_csv(tmp_path / "run.csv", "A*", "energy")
    with open(tmp_path / "run.csv", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads == ["t [s]", "A [rad]", "A' [rad/s]", "energy.T [J]", "energy.U [J]"]
    assert_array_equal(np.array(rows, dtype=float)[:, 1:], frame.to_numpy())
    assert not any(name.startswith("poses") for name in run.to_pandas())


def test_a_run_introduces_itself():
    run = oscillator()
    title = "oscillator: 0 to 2 s in 41 instants; nq 2, nv 2; 40 steps, 160 evaluations; done"
    assert repr(run) == f"<Trajectory {title}>"
    lines = str(run).splitlines()
    assert lines[0] == title
    assert "  energy  1 J at the end, changed by" in str(run)
    (own,) = [line.split() for line in lines if line.split()[:1] == ["A"]]
    assert own == [
        "A", "rad", "0", f"{run['A'][-1]:.6g}", f"{run['A'].min():.6g}", f"{run['A'].max():.6g}"
    ]  # fmt: skip
    table = run._repr_html_()
    assert "<script" not in table
    assert "A&#x27;" in table


def test_names_are_escaped_in_notebooks():
    run = Trajectory("<b>", [0.0], [[0.0]], [[0.0]], {"q": (Label("<i>"),), "v": (Label("w"),)})
    assert "<i>" not in run._repr_html_()


BALLS = [PointOnLine, PointOnPlane, Spherical, Free, lambda attitude: RodByAngles(1, attitude)]


@pytest.mark.parametrize("attitude", [Quaternion(), RotationMatrix()], ids=["quat", "matrix"])
@pytest.mark.parametrize("ball", BALLS, ids=["line", "plane", "spherical", "free", "rod"])
def test_attitudes_of_every_joint_are_read_between_instants(ball, attitude):
    """A tumbling body, recorded every 10 ms: cubics are good to 1e-6, and stay attitudes."""
    thing = body("b", mass=1, center=(0.1, 0.05, 0.02), inertia=(0.1, 0.2, 0.15))
    kind = ball(attitude=attitude)
    m = mechanism(join(ground, thing, kind, name="P"), gravity(), name="tumbling")
    tree = span(m)
    state = assemble(tree)
    v = np.linspace(0.5, 1.5, len(state.v))
    state = State(0.0, state.q, v, state.labels)
    kernel = to_llvm(lower(newton_euler(tree)))
    fine = simulate(kernel, state, 0.3, every=1e-3, rtol=1e-11, series=())
    coarse = simulate(kernel, state, 0.3, every=1e-2, rtol=1e-11, series=())
    found = coarse.resample(fine.t)
    assert np.abs(found.q - fine.q).max() < 1e-6
    assert np.abs(found.v - fine.v).max() < 1e-2
    R = poses_of(kernel, found)[:, 0, :, :3]
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-12


def poses_of(kernel, run):
    rows = np.column_stack([run.t, run.q, run.v])
    table = map_entry(kernel, "poses", rows, np.zeros(0)).reshape(len(run.t), -1, 12)
    R, p = table[:, :, :9].reshape(len(run.t), -1, 3, 3), table[:, :, 9:, None]
    return np.concatenate([R, p], axis=3)


def test_a_joint_that_is_called_as_a_series_is_found_by_its_name():
    text = """
    let b = body mass = 1 kg, inertia = 0 end ;
    let energy = join earth and b with prismatic axis = [1, 0, 0] end ;
    start energy = 2 m ; start energy' = 3 m/s ;
    """
    run = liaison.simulate(text, until=1.0, every=0.5)
    np.testing.assert_allclose(run["energy"], [2, 3.5, 5])
    assert run.unit("energy") == "m"
    np.testing.assert_allclose(run["energy.T"], 4.5)
    np.testing.assert_allclose(run.series["energy"].values[:, 0], 4.5)
    assert list(run.columns("energy")) == ["energy"]


# poses and states by name


PENDULUM = "examples/pendulum.lsd"


def test_the_pose_of_a_body_is_that_of_the_states():
    run = liaison.simulate(PENDULUM, until=0.2, every=0.1, start={"A": 0.3})
    poses = run.pose("bar")
    assert poses.shape == (len(run), 4, 4)
    for k in range(len(run)):
        np.testing.assert_allclose(
            poses[k], liaison.pose(PENDULUM, "bar", run.state(k)), atol=1e-15
        )
    np.testing.assert_array_equal(run["poses.bar.x.p"], poses[:, 0, 3])
    with pytest.raises(NamingError, match="no body is named"):
        run.pose("bra")
    with pytest.raises(SimulationError, match="has no poses"):
        liaison.simulate(PENDULUM, until=0.1, only_series=()).pose("bar")


def test_states_by_index_and_at_any_time():
    run = liaison.simulate(PENDULUM, until="200 ms", every="100 ms", start={"A": 0.3})
    last = run.state(-1)
    assert (last.t, last.q.tolist()) == (run.t[-1], run.q[-1].tolist())
    assert last["A"] == run["A"][-1]
    fine = liaison.simulate(PENDULUM, until=0.15, start={"A": 0.3})
    assert run.state(t="150 ms")["A"] == pytest.approx(fine["A"][-1], abs=1e-9)
    with pytest.raises(SimulationError, match="instant 3 of a run that recorded 3"):
        run.state(3)
    with pytest.raises(ArgumentError, match="an index, or t="):
        run.state()
