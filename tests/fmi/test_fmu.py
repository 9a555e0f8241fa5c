"""FMUs in fmpy against `simulate`; instances, saved states, derivatives, bad calls."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.fmi.gate import fmu_problems

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

ROOT = Path(__file__).parents[2]
BOUND = 1e-8  # CVode at 1e-11, and our own steps at 1e-10
CASES = [("pendulum", 3), ("cam", 2), ("contact/stops", 2), ("contact/stops", 3)]


def of_run(name: str, until: float) -> Any:
    path = ROOT / "examples" / f"{name}.lsd"
    return liaison.simulate(path, until=until, every=0.05, rtol=1e-12, atol=1e-13, watch=False)


CONTROLLED = """
let arm = body mass = 1 kg, center = [0, 0, -50] cm, inertia = 0.05 kg*m^2 end ;
let A = join earth and arm with revolute axis = [0, 1, 0] end ;
let P = apply pid target = 90 deg, stiffness = 20 N*m/rad, integral = 20 N*m/rad/s,
  damping = 5 N*m*s/rad, filter = 5 ms, limit = 8 N*m end on A ;
let current = apply state rate = (12 - 2*current)/0.5, unit = "A" end ;
"""
"""An arm under a PID controller with two states, and a state in a unit of its own."""


@pytest.mark.parametrize(("name", "version"), CASES)
def test_both_kinds_give_the_motion_of_simulate(
    fmpy: Any, written: Any, name: str, version: int
) -> None:
    path, until = str(written(name, version)), 1.0
    run = of_run(name, until)
    names = [x.name for x in (*run.labels["q"], *run.labels["v"])]
    expected = np.hstack([run.q, run.v])
    for kind, more in (("ModelExchange", {"relative_tolerance": 1e-11}), ("CoSimulation", {})):
        result = fmpy.simulate_fmu(
            path, fmi_type=kind, stop_time=until, output_interval=0.05, output=names,
            record_events=False, **more,
        )  # fmt: skip
        table = np.array([result[x] for x in names]).T
        size = np.maximum(1.0, np.abs(expected).max(axis=0))
        assert np.max(np.abs(table - expected) / size) < BOUND, kind


def test_bounces_end_and_events_are_at_the_instants_of_simulate(fmpy: Any, written: Any) -> None:
    from importer_fmi import integrated

    run = of_run("contact/table_edge", 1.6)
    record = integrated(written("contact/table_edge", 2), run.t)
    expected = np.hstack([run.q, run.v])
    assert np.max(np.abs(np.array(record.x) - expected)) < 1e-9
    # 27 impacts of simulate, each half as fast as the one before, then rest
    assert len(record.events) < 40
    fast = [x.t for x in run.events if x.what == "impact" and np.ptp([x.v, x.before]) > 1e-5]
    instants = np.array([t for t, _ in record.events])
    assert len(fast) > 15
    assert max(np.min(np.abs(instants - t)) for t in fast) < 1e-9


def test_closed_loops_stay_closed_under_any_integrator(opened: Any) -> None:
    from scipy.integrate import solve_ivp

    fmu = begun(opened("four_bar", 2, "ME"), 2)
    fmu.newDiscreteStates()
    fmu.enterContinuousTimeMode()
    run = of_run("four_bar", 0.5)
    room = (ctypes.c_double * 6)()

    def rates(t: float, x: Any) -> list[float]:
        fmu.setTime(t)
        fmu.setContinuousStates((ctypes.c_double * 6)(*x), 6)
        fmu.getDerivatives(room, 6)
        return list(room)

    first = [*run.q[0], *run.v[0]]
    end = solve_ivp(rates, (0.0, 0.5), first, "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    expected = np.array([*run.q[-1], *run.v[-1]])
    assert np.max(np.abs(end - expected) / np.maximum(1.0, np.abs(expected))) < 1e-9
    # off the closures derivatives lead back
    off = end + 1e-4 * np.array([1.0, -1.0, 1.0, 0.0, 0.0, 0.0])
    later = solve_ivp(rates, (0.5, 1.5), off, "DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
    rates(1.5, later)
    assert values(fmu, 2, "closure residual of positions")[0] < 1e-9


def test_a_step_event_projects(opened: Any) -> None:
    fmu = begun(opened("four_bar", 2, "ME"), 2)
    fmu.newDiscreteStates()
    fmu.enterContinuousTimeMode()
    assert fmu.completedIntegratorStep() == (False, False)
    states = ["A", "B", "D", "A'", "B'", "D'"]
    off = np.array(values(fmu, 2, *states)) + 1e-6
    fmu.setContinuousStates((ctypes.c_double * 6)(*off), 6)
    assert fmu.completedIntegratorStep() == (True, False)
    fmu.enterEventMode()
    assert fmu.newDiscreteStates()[3]  # states have changed
    left = values(fmu, 2, "closure residual of positions", "closure residual of rates")
    assert max(left) < 1e-14


def test_validation_and_gate_report_nothing(fmpy: Any, written: Any) -> None:
    from fmpy.validation import validate_fmu

    for name, version in CASES:
        assert validate_fmu(str(written(name, version))) == []
        assert fmu_problems(written(name, version)) == []


def test_the_gate_finds_what_validation_does_not(written: Any, tmp_path: Path) -> None:
    with zipfile.ZipFile(written("pendulum", 3)) as archive:
        files = {x: archive.read(x) for x in archive.namelist()}
    text = files["modelDescription.xml"].decode()
    wrong = {
        "no binaries": {x: y for x, y in files.items() if not x.startswith("binaries")},
        "lacks": {x: y.replace(b"fmi3DoStep", b"fmi3DoStop") for x, y in files.items()},
        "outside of": files | {"modelDescription.xml": text.replace(
            'name="A" valueReference="1"', 'name="A" valueReference="1" min="7"').encode()},
        "its state in": files | {"modelDescription.xml": text.replace(
            'unit="rad/s^2"', 'unit="m"').encode()},
    }  # fmt: skip
    for words, content in wrong.items():
        path = tmp_path / "wrong.fmu"
        with zipfile.ZipFile(path, "w") as archive:
            for name, data in content.items():
                archive.writestr(name, data)
        assert any(words in x for x in fmu_problems(path)), words


def test_libraries_and_sources_of_smooth_models_are_small(written: Any) -> None:
    """Five libraries of 32 kB and a source of as many are an FMU of 200 kB."""
    with zipfile.ZipFile(written("four_bar", 2)) as archive:
        sizes = {Path(x.filename).suffix: x.compress_size for x in archive.infolist()}
    assert max(sizes[".so"], sizes[".c"]) < 34_000


def test_folded_loops_give_the_bits_of_all_others(
    fmpy: Any, written: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [written("pendulum", 3), tmp_path / "shared.fmu"]
    for module in ("code", "sources", "folding"):
        monkeypatch.setattr(f"liaison.fmi.{module}.is_foldable", lambda _: False)
    liaison.to_fmu(ROOT / "examples/pendulum.lsd", files[1], until=2, systems=["linux-x86_64"])
    shared, folded = (files[k].stat().st_size for k in (1, 0))
    assert folded < 0.8 * shared
    for kind in ("ModelExchange", "CoSimulation"):
        runs = [
            fmpy.simulate_fmu(str(x), fmi_type=kind, stop_time=0.5, output_interval=0.1)
            for x in files
        ]
        assert runs[0].dtype == runs[1].dtype
        assert runs[0].tobytes() == runs[1].tobytes()


def test_outputs_are_those_of_the_description(fmpy: Any, written: Any) -> None:
    for name, outputs in (("contact/table_edge", []), ("four_bar", ["rocker_angle"])):
        about = fmpy.read_model_description(str(written(name, 2)))
        listed = [x.name for x in about.modelVariables if x.description == "output"]
        assert listed == outputs


def test_poses_and_sizes_of_states(fmpy: Any, tmp_path: Path) -> None:
    path = ROOT / "examples/slider_crank.lsd"
    run = liaison.simulate(path, until=0.1, every=0.1, series=["poses"], watch=False)
    for version in ("2.0", "3.0"):
        done = liaison.to_fmu(
            path, tmp_path / "poses.fmu", version=version, until=1, systems=["linux-x86_64"],
            poses=True,
        )  # fmt: skip
        about = fmpy.read_model_description(str(done.path))
        assert not fmu_problems(done.path)
        names = [x.name for x in about.modelVariables]
        body = next(x.partition(".position")[0] for x in names if ".position" in x)
        listed = [x for x in names if x.startswith((f"{body}.position", f"{body}.rotation"))]
        result = fmpy.simulate_fmu(
            str(done.path), fmi_type="CoSimulation", stop_time=0.1, output_interval=0.1,
            output=listed,
        )  # fmt: skip
        numbers = np.hstack([np.reshape(result[x][-1], -1) for x in listed])
        pose = run.pose(body)[-1]
        assert numbers == pytest.approx([*pose[:3, 3], *pose[:3, :3].ravel()], abs=1e-8)
        sizes = {x.name: x.nominal for x in about.modelVariables}
        assert float(sizes["x"]) == 0.1  # starts at 0.12 m
        assert not sizes["A"]


def test_two_exports_have_the_same_bytes(written: Any, tmp_path: Path) -> None:
    again = liaison.to_fmu(
        ROOT / "examples/pendulum.lsd", tmp_path / "again.fmu", version="3.0", until=2,
        systems=["linux-x86_64"],
    )  # fmt: skip
    assert again.path.read_bytes() == written("pendulum", 3).read_bytes()


def begun(fmu: Any, version: int, **starts: float) -> Any:
    """An instance after its initialization."""
    fmu.instantiate()
    for name, value in starts.items():
        setter = fmu.setReal if version == 2 else fmu.setFloat64
        setter([fmu.references[name]], [value])
    if version == 2:
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
    else:
        fmu.enterInitializationMode(startTime=0.0)
    fmu.exitInitializationMode()
    return fmu


def values(fmu: Any, version: int, *names: str) -> list[float]:
    getter = fmu.getReal if version == 2 else fmu.getFloat64
    return list(getter([fmu.references[x] for x in names]))


def test_instances_in_threads_do_not_disturb_each_other(opened: Any) -> None:
    starts = [0.1, 0.2, 0.3, 0.1]
    fmus = [begun(opened("contact/stops", 2, "CS"), 2) for _ in starts]
    names = [x for x in fmus[0].references if "'" in x and "der" not in x][:1]
    reached: dict[int, list[float]] = {}

    def march(k: int) -> None:
        for step in range(100):
            fmus[k].doStep(0.01 * step, 0.01)
        reached[k] = values(fmus[k], 2, *names)

    threads = [threading.Thread(target=march, args=(k,)) for k in range(len(fmus))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alone = begun(opened("contact/stops", 2, "CS"), 2)
    for step in range(100):
        alone.doStep(0.01 * step, 0.01)
    assert all(reached[k] == values(alone, 2, *names) for k in range(len(fmus)))


def saved_and_restored(fmu: Any, other: Any, version: int) -> tuple[Any, ...]:
    """Values where a run goes on, where it goes on again, and where another instance does."""
    word, read = ("FMUstate", "deSerialize") if version == 2 else ("FMUState", "deserialize")
    names = [x for x in fmu.references if x[0] not in "dmet"][:2]

    def reached(one: Any) -> list[float]:
        for step in range(30, 60):
            one.doStep(0.01 * step, 0.01)
        return values(one, version, *names)

    for step in range(30):
        fmu.doStep(0.01 * step, 0.01)
    saved = getattr(fmu, f"get{word}")()
    content = getattr(fmu, f"serialize{word}")(saved)
    first = reached(fmu)
    getattr(fmu, f"set{word}")(saved)
    again = reached(fmu)
    getattr(other, f"set{word}")(getattr(other, f"{read}{word}")(content))
    return first, again, reached(other)


@pytest.mark.parametrize(("name", "version"), [("four_bar", 2), ("contact/stops", 3)])
def test_a_saved_state_goes_on_bit_for_bit(opened: Any, name: str, version: int) -> None:
    fmus = [begun(opened(name, version, "CS"), version) for _ in range(2)]
    first, again, elsewhere = saved_and_restored(*fmus, version)
    assert first == again == elsewhere


def test_lengths_that_change_close_the_loops_again(opened: Any) -> None:
    fmu = begun(opened("four_bar", 2, "CS"), 2, a=0.11)
    assert values(fmu, 2, "closure residual of positions")[0] < 1e-12
    assert values(fmu, 2, "A", "A'") == pytest.approx([np.pi / 2, 10.0], abs=1e-12)
    assert values(fmu, 2, "B")[0] != pytest.approx(-0.9272952180016122, abs=1e-3)


@pytest.mark.parametrize(("name", "few"), [("four_bar", 128), ("elliptic_pendulum", 0)])
def test_adjoint_derivatives_belong_to_directional_ones(
    opened: Any, monkeypatch: pytest.MonkeyPatch, name: str, few: int
) -> None:
    # of few knowns they are put together from directional ones, of more they are an entry
    monkeypatch.setattr("liaison.fmi.memory.FEW", few)
    fmu = begun(opened(name, 3, "ME"), 3)
    states = [x[4:-1] for x in fmu.references if x.startswith("der(")]
    more = ("rocker_angle", "b") if name == "four_bar" else (states[0], states[0])
    # fmpy has room for as many results as weights
    unknowns = [fmu.references[x] for x in (*(f"der({x})" for x in states[1:]), more[0])]
    knowns = [fmu.references[x] for x in (*states[1:], more[1])]
    rng = np.random.default_rng(3)
    x, w = rng.normal(size=(2, len(states)))
    forward = np.array(fmu.getDirectionalDerivative(unknowns, knowns, list(x)))
    backward = np.array(fmu.getAdjointDerivative(unknowns, knowns, list(w)))
    assert w @ forward == pytest.approx(backward @ x, rel=1e-12)


def test_calls_out_of_place_are_rejected_in_words(
    opened: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    fmu = begun(opened("four_bar", 2, "CS"), 2)
    other = begun(opened("pendulum", 2, "CS"), 2)
    state = other.serializeFMUstate(other.getFMUstate())
    wrong = {
        "the variable 'a' cannot be set now": lambda: fmu.setReal([fmu.references["a"]], [0.12]),
        "fmi2SetReal: the value reference 999 does not exist": lambda: fmu.setReal([999], [1.0]),
        "fmi2GetReal: the value reference 999 does not exist": lambda: fmu.getReal([999]),
        "the step of 0 s is not positive and finite": lambda: fmu.doStep(0.0, 0.0),
        "the step of -1e-1 s is not positive": lambda: fmu.doStep(0.0, -0.1),
        "the step of NaN s is not positive": lambda: fmu.doStep(0.0, float("nan")),
        "the step begins at 3 s, but the FMU is at 0 s": lambda: fmu.doStep(3.0, 0.1),
        "fmi2ExitInitializationMode: it is not allowed": fmu.exitInitializationMode,
        "fmi2EnterInitializationMode: it is not allowed": fmu.enterInitializationMode,
        "fmi2SetupExperiment: it is not allowed": lambda: fmu.setupExperiment(startTime=0.0),
        "the FMU has no variable of this type": lambda: fmu.getString([0]),
        "the saved state is of another model": lambda: fmu.deSerializeFMUstate(state),
    }
    for words, call in wrong.items():
        with pytest.raises(Exception, match="status 3"):
            call()
        assert words in capfd.readouterr().out
    fmu.doStep(0.0, 0.01)  # the instance is as it was
    assert values(fmu, 2, "time") == [0.01]


def test_calls_of_the_other_kind_are_rejected(opened: Any) -> None:
    fmu = begun(opened("four_bar", 2, "ME"), 2)
    fmu.newDiscreteStates()
    for wrong in (fmu.completedIntegratorStep, fmu.enterEventMode):  # before continuous time
        with pytest.raises(Exception, match="status 3"):
            wrong()
    fmu.enterContinuousTimeMode()
    room = (ctypes.c_double * 6)(*[float("nan")] * 6)
    for wrong in (
        fmu.newDiscreteStates, lambda: fmu.setTime(float("inf")),
        lambda: fmu.setContinuousStates(room, 6), lambda: fmu.setContinuousStates(room, 5),
        lambda: fmu.getEventIndicators(room, 5),
    ):  # fmt: skip
        with pytest.raises(Exception, match="status 3"):
            wrong()
    fmu.getDerivatives(room, 6)
    assert np.all(np.isfinite(room))
    fmu.setContinuousStates((ctypes.c_double * 6)(*[1e200] * 6), 6)
    with pytest.raises(Exception, match=r"status 2 \(discard\)"):  # speeds squared
        fmu.getDerivatives(room, 6)
    fmu.terminate()
    with pytest.raises(Exception, match="status 3"):
        fmu.setTime(1.0)


def test_values_that_are_not_finite_are_rejected_by_name(
    fmpy: Any, opened: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    fmu = opened("slider_crank", 3, "CS")
    begun(fmu, 3)
    about = [x for x in fmu.references if x not in ("time",)]
    named = next(x for x in about if _is_input(fmpy, fmu, x))
    with pytest.raises(Exception, match="status 3"):
        fmu.setFloat64([fmu.references[named]], [float("nan")])
    assert f"'{named}' is NaN, which is not finite" in capfd.readouterr().out


def _is_input(fmpy: Any, fmu: Any, name: str) -> bool:
    about = fmpy.read_model_description(fmu.unzipDirectory)
    return any(x.name == name and x.causality == "input" for x in about.modelVariables)


def test_a_state_of_another_model_or_damaged_is_rejected(opened: Any) -> None:
    fmu, other = begun(opened("four_bar", 2, "CS"), 2), begun(opened("pendulum", 2, "CS"), 2)
    content = fmu.serializeFMUstate(fmu.getFMUstate())
    damaged = bytearray(content)
    damaged[len(content) // 2] ^= 1
    for one, state in ((other, content), (fmu, bytes(damaged)), (fmu, content[:-8]), (fmu, b"")):
        with pytest.raises(Exception, match="status 3"):
            one.deSerializeFMUstate(state)


def test_null_arrays_and_a_wrong_token_do_not_crash(opened: Any) -> None:
    fmu = begun(opened("pendulum", 3, "ME"), 3)
    library = ctypes.CDLL(fmu.dll._name)  # functions without the types that fmpy declares
    component, one = ctypes.c_void_p(fmu.component), ctypes.c_size_t(1)
    for name in ("fmi3GetFloat64", "fmi3SetFloat64"):
        assert getattr(library, name)(component, None, one, None, one) == 3
    assert library.fmi3GetContinuousStates(component, None, ctypes.c_size_t(2)) == 3
    assert library.fmi3GetContinuousStates(None, None, ctypes.c_size_t(2)) == 3
    assert library.fmi3DoStep(component, ctypes.c_double(0), ctypes.c_double(1), False, None, None,
                              None, None) == 3  # fmt: skip
    create = library.fmi3InstantiateModelExchange
    create.restype = ctypes.c_void_p
    assert not create(b"x", b"{other}", None, False, False, None, None)


def test_a_run_that_cannot_go_on_says_why(opened: Any, capfd: pytest.CaptureFixture[str]) -> None:
    # of a crank that turns as fast nothing is resolved
    fmu = begun(opened("four_bar", 2, "CS"), 2, **{"A'": 1e20})
    with pytest.raises(Exception, match="status 3"):
        fmu.doStep(0.0, 0.01)
    assert "the step became too small at t = " in capfd.readouterr().out
    with pytest.raises(Exception, match="status 3"):
        fmu.doStep(0.01, 0.01)
    fmu.reset()
    assert values(fmu, 2, "time") == [0.0]


def test_one_step_of_too_many_steps_is_foreseen(
    opened: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    fmu = begun(opened("pendulum", 2, "CS"), 2)
    with pytest.raises(Exception, match="status 3"):
        fmu.doStep(0.0, 1e12)
    words = r"one step of the importer takes more than ten million steps: t = \S+ s is reached"
    assert re.search(words, capfd.readouterr().out)


@pytest.mark.parametrize(("name", "value", "words"), [
    ("A'", 1e300, "the velocity 'A'' is 1e300: its square, and so the energy, is not finite"),
    ("A'", -1e151, "the velocity 'A'' is -1e151"),
    ("A", 1e300, "the position 'A' is 1e300: numbers of that size lie so far apart"),
])  # fmt: skip
def test_starts_without_meaning_are_rejected_by_name(
    opened: Any, capfd: pytest.CaptureFixture[str], name: str, value: float, words: str
) -> None:
    with pytest.raises(Exception, match="status 3"):
        begun(opened("contact/stops", 2, "CS"), 2, **{name: value})
    assert words in capfd.readouterr().out


def test_steps_return_early_where_the_importer_asks(opened: Any) -> None:
    fmu = opened("pendulum", 3, "CS")
    seen: list[float] = []
    kind = ctypes.CFUNCTYPE(
        None, ctypes.c_void_p, ctypes.c_double, *[ctypes.c_bool] * 4,
        ctypes.POINTER(ctypes.c_bool), ctypes.POINTER(ctypes.c_double),
    )  # fmt: skip

    def update(_: Any, t: float, *rest: Any) -> None:
        seen.append(t)
        rest[4][0] = len(seen) == 3

    callback = kind(update)
    fmu.instantiate(earlyReturnAllowed=True, intermediateUpdate=callback)
    fmu.enterInitializationMode(startTime=0.0)
    fmu.exitInitializationMode()
    _, _, early, last = fmu.doStep(0.0, 1.0)
    assert early
    assert last == seen[2] < 1.0
    assert seen == sorted(seen)
    assert not fmu.doStep(last, 1.0)[2]


def test_fixed_steps_are_those_of_simulate(fmpy: Any, tmp_path: Path) -> None:
    path = ROOT / "examples/pendulum.lsd"
    run = liaison.simulate(path, until=0.5, every=0.01, step=0.01, watch=False, back_end="portable")
    done = liaison.to_fmu(path, tmp_path / "a.fmu", step="10 ms", until=2, systems=["linux-x86_64"])
    result = fmpy.simulate_fmu(
        str(done.path), fmi_type="CoSimulation", stop_time=0.5, output_interval=0.01, output=["A"]
    )
    # the same steps, whose ends are sums in another order
    assert np.max(np.abs(result["A"] - run.q[:, 0])) < 1e-14


def test_a_start_that_penetrates_names_what(opened: Any, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(Exception, match="status 3"):
        begun(opened("contact/stops", 2, "CS"), 2, A=1e6)
    assert re.search(r"does not hold: \w+ is violated by \S+ m\.", capfd.readouterr().out)


def test_a_controller_with_states_moves_as_in_simulate(fmpy: Any, tmp_path: Path) -> None:
    done = liaison.to_fmu(CONTROLLED, tmp_path / "arm.fmu", until=1, systems=["linux-x86_64"])
    assert [*fmpy.validation.validate_fmu(str(done.path)), *fmu_problems(done.path)] == []
    result = fmpy.simulate_fmu(
        str(done.path), fmi_type="CoSimulation", stop_time=1.0, output_interval=0.1
    )
    run = liaison.simulate(CONTROLLED, until=1, every=0.1, rtol=1e-11, atol=1e-12)
    for name in ("A", "P.integral", "current"):
        assert np.max(np.abs(result[name] - run[name])) < 1e-8


REJECTED = {
    "pile": "a scene",
    "four_bar": "it has 4 bodies, and formulas of all of them would be written out",
    "degenerate_unilateral": "a relation of rates may lose its row.* inwards: at X = 0",
}


@pytest.mark.parametrize("name", REJECTED)
def test_what_cannot_run_is_rejected_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # what is large, small here
    monkeypatch.setattr("liaison.verbs.derive.to_fmu.LONGEST", 0.01)
    with pytest.raises(LiaisonError, match=f"cannot become an FMU: {REJECTED[name]}"):
        liaison.to_fmu(ROOT / f"examples/{name}.lsd", tmp_path / "x.fmu")


def test_versions_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(LiaisonError, match=r"version of FMI"):
        liaison.to_fmu(ROOT / "examples/pendulum.lsd", tmp_path / "x.fmu", version="1.0")


ELSEWHERE = {
    "musl": ("x86_64-linux", ".so", "musl-gcc", []),
    "qemu": ("aarch64-linux", ".so", "aarch64-linux-gnu-gcc",
             ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "wine": ("x86_64-windows", ".dll", "x86_64-w64-mingw32-gcc", ["wine"]),
}  # fmt: skip


@pytest.fixture(scope="module")
def everywhere(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """FMUs with all libraries, by name; of the second bodies touch."""
    folder = tmp_path_factory.mktemp("everywhere")
    return {
        name: liaison.to_fmu(ROOT / f"examples/{name}.lsd", folder / f"{k}.fmu", until=2)
        for k, name in enumerate(("four_bar", "contact/stops"))
    }


def stepped(done: Any, place: tuple[str, str, str, list[str]], folder: Path) -> list[str]:
    """Values after steps of a program that loads the library of a system."""
    system, suffix, compiler, runner = place
    with zipfile.ZipFile(done.path) as archive:
        inside = next(x for x in archive.namelist() if x.startswith(f"binaries/{system}/"))
        library = folder / f"{done.path.stem}{suffix}"
        library.write_bytes(archive.read(inside))
    program = folder / f"on_{system}{'.exe' if suffix == '.dll' else ''}"
    links = [] if suffix == ".dll" else ["-ldl"]
    source = ROOT / "tests/fmi/harness.c"
    subprocess.run([compiler, str(source), "-o", str(program), *links], check=True)
    ran = subprocess.run(
        [*runner, str(program), str(library), done.token, "0.01", "200", "2"], text=True,
        capture_output=True, check=True, env={**os.environ, "WINEDEBUG": "-all"},
    )  # fmt: skip
    return ran.stdout.split()[1:]


@pytest.mark.slow
@pytest.mark.parametrize("where", ELSEWHERE)
def test_fmus_give_the_same_digits_elsewhere(
    where: str, everywhere: dict[str, Any], c_compiler: str, tmp_path: Path
) -> None:
    for program in (ELSEWHERE[where][2], *ELSEWHERE[where][3][:1]):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    assert everywhere["four_bar"].size < 200_000
    assert everywhere["contact/stops"].size < 1_000_000
    for done in everywhere.values():
        here = stepped(done, ("x86_64-linux", ".so", c_compiler, []), tmp_path)
        assert len(here) == 2
        assert stepped(done, ELSEWHERE[where], tmp_path) == here


@pytest.mark.slow
@pytest.mark.parametrize("name", ["four_bar", "contact/stops"])
def test_sources_give_the_bits_of_the_binaries(
    fmpy: Any, written: Any, c_compiler: str, tmp_path: Path, name: str
) -> None:
    path = written(name, 2)
    folder = Path(fmpy.extract(str(path), str(tmp_path / "files")))
    library = folder / "binaries" / "linux64" / f"{Path(name).name}.so"
    runs = []
    for _ in range(2):
        result = fmpy.simulate_fmu(
            str(folder), fmi_type="CoSimulation", stop_time=2.0, output_interval=0.01,
            output=["A", "A'"],
        )  # fmt: skip
        runs.append(np.array([result["A"], result["A'"]]))
        sources = [str(folder / "sources" / "fmu.c")]
        flags = ("-std=c99", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-w")
        library.unlink()
        subprocess.run([c_compiler, *flags, *sources, "-o", str(library), "-lm"], check=True)
    assert np.array_equal(*runs)
