"""Studies on a GPU, by its code on this processor: the rows are those of the processor."""

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, ProgramError, SimulationError
from liaison.program.gpu.cuda import Driver, driver

SAME = 1e-12
"""Loops and entries are the same; sums are fused in another order."""

FOUR_BAR = """
name = "four bar" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter a = 0.10 m ; parameter b = 0.30 m ; parameter c = 0.35 m ; parameter d = 0.45 m ;
let crank = body mass = 0.2 kg, center = [a/2, 0, 0], inertia = [0, 1, 1] * 0.2 kg * a^2/12 end ;
let coupler = body mass = 0.5 kg, center = [b/2, 0, 0], inertia = [0, 1, 1] * 0.5 kg * b^2/12 end ;
let rocker = body mass = 0.6 kg, center = [c/2, 0, 0], inertia = [0, 1, 1] * 0.6 kg * c^2/12 end ;
let A = join earth and crank with revolute axis = [0, -1, 0] end ;
let B = join [a, 0, 0] @ crank and coupler with revolute axis = [0, -1, 0] end ;
let C = join [b, 0, 0] @ coupler and [c, 0, 0] @ rocker with revolute axis = [0, -1, 0] end ;
let D = join [d, 0, 0] @ earth and rocker with revolute axis = [0, -1, 0] end ;
start A = 90 deg ;
guess B = atan2(3, 4) - 90 deg ;
guess D = atan2(4, -3) ;
start A' = 10 rad/s ;
"""

HOPPER = """
name = "hopper" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter mu = 0.5 ;
input kick = 0 N ;
let trunk = body mass = 2 kg, inertia = 0.01 kg*m^2 end ;
let Z = join earth and trunk with prismatic axis = [0, 0, 1] end ;
let X = join trunk and foot with prismatic axis = [1, 0, 0] end ;
let foot = body mass = 0.3 kg, inertia = 1 g*m^2 end ;
apply motor force = kick end on X ;
let floor = contact foot and earth with ball
  radius = 2 cm, friction = mu, restitution = 0.4 end ;
start Z = 10 cm ;
start X' = 1 m/s ;
"""

SWING = """
name = "swing" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter least = -2 ;
let bob = body mass = 1 kg, center = [0, 0, -1] m, inertia = 0.01 kg*m^2 end ;
let A = join earth and bob with revolute axis = [0, 1, 0] end ;
apply motor torque = 1 N*m * sqrt(A - least) end on A ;
start A = 1 rad ;
"""

LENGTHS = {
    "a": "9 cm .. 11 cm", "b": "27 cm .. 33 cm", "c": "33 cm .. 37 cm", "d": "35 cm .. 65 cm",
}  # fmt: skip
BARS = {
    "given": FOUR_BAR, "vary": LENGTHS, "until": 0.05, "step": "1 ms", "every": "0.7 ms",
    "count": 40, "record": "25 ms",
    "measure": {
        "swing": "range(D)", "speed": "max(abs(D'))", "load": "max(abs(reactions.B.Fx))",
        "work": "mean(energy.T)", "midway": "at(D, 20 ms)",
    },
}  # fmt: skip
HOPS = {
    "given": HOPPER, "vary": {"mu": "0 .. 1", "Z": "5 cm .. 12 cm", "kick": "-1 N .. 1 N"},
    "until": 0.3, "step": "1 ms", "method": "moreau", "every": "10 ms", "count": 24,
    "measure": {"slid": "final(X)", "speed": "max(abs(Z'))"},
}  # fmt: skip
SWINGS = {
    "given": SWING, "vary": {"least": [0.9999, 0.995, -2]}, "until": 0.05, "step": "1 ms",
    "measure": {"end": "final(A)"},
}  # fmt: skip


def studied(asked, **more):
    return liaison.study(**{**asked, **more})


def differences(one, other, names):
    """The largest difference of each measure, beside its size; where they are not numbers alike."""
    for x in names:
        assert np.array_equal(np.isnan(one[x]), np.isnan(other[x]))
    return [np.nanmax(np.abs(one[x] - other[x])) / (1 + np.nanmax(np.abs(one[x]))) for x in names]


@pytest.mark.parametrize("asked", [BARS, HOPS], ids=["closed loop", "contacts"])
def test_measures_and_states_are_those_of_the_processor(asked):
    cpu, device = studied(asked), studied(asked, device="processor")
    assert max(differences(cpu, device, asked["measure"])) < SAME
    assert cpu.failures == device.failures
    runs, others = cpu.runs(), device.runs()
    assert runs.q.shape == others.q.shape
    assert np.nanmax(np.abs(runs.q - others.q)) < SAME
    assert np.nanmax(np.abs(runs.end_v - others.end_v)) < 10 * SAME
    assert np.array_equal(runs.counts["steps"], others.counts["steps"])


def test_values_that_cannot_be_and_runs_that_are_lost_are_rows_with_their_cause():
    assert studied(BARS, device="processor").failures["not assembled"] > 0
    cpu, device = studied(SWINGS), studied(SWINGS, device="processor")
    assert device.failures == {"not finite": 2}
    assert cpu.failures == device.failures
    assert np.isnan(device["end"]).tolist() == [True, True, False]
    assert device.runs().recorded.tolist() == cpu.runs().recorded.tolist()
    assert np.max(np.abs(device.runs().end_t - cpu.runs().end_t)) < SAME


def test_energy_is_watched_there_too():
    free = SWING.replace("apply motor torque = 1 N*m * sqrt(A - least) end on A ;", "")
    coarse = {**SWINGS, "given": free, "vary": {"A'": [0.0, 12.0]}, "until": 2.0, "step": 0.2}
    cpu, device = studied(coarse), studied(coarse, device="processor")
    assert device.runs().statuses == cpu.runs().statuses
    missed = [x.runs().measures["energy_missed"] for x in (cpu, device)]
    assert missed[0] == pytest.approx(missed[1], rel=1e-9)
    assert missed[1].min() > 1e-6


def test_keys_differ_by_device_and_a_study_that_goes_on_mixes_none(tmp_path):
    cpu = studied(SWINGS, folder=tmp_path)
    device = studied(SWINGS, folder=tmp_path, device="processor")
    assert cpu.definition.family != device.definition.family
    assert len(device.store) == 6
    seen = []
    again = studied(SWINGS, folder=tmp_path, device="processor", watch_progress=seen.append)
    assert not seen
    assert len(again.store) == 6
    assert np.array_equal(again["end"], device["end"], equal_nan=True)
    assert again.definition.family == device.definition.family
    assert "device" not in cpu.definition.about
    run = device.run(2)
    assert run.q[-1, 0] == pytest.approx(device["end"][2], abs=SAME)


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("steps are adaptive", {"step": None}),
        ("method 'radau' is neither explicit", {"method": "radau"}),
        ("the event 'top' is looked for", {"given": SWING + "event top when A rising record ;"}),
        ("'floor' is unilateral", {**HOPS, "method": None}),
        ("a formula of time jumps or bends at t = 0.0205",
         {"given": SWING.replace("A - least", "max(t/(1 s), 0.0205)"), "vary": {"A": [1]}}),
    ],
)  # fmt: skip
def test_what_no_device_takes_is_an_error_by_name_before_anything_runs(words, more, tmp_path):
    with pytest.raises(SimulationError, match=words):
        studied({**SWINGS, **more}, device="processor", folder=tmp_path / "s")
    assert not (tmp_path / "s").exists()


@pytest.mark.parametrize(
    ("words", "more"),
    [
        ("device is 'tpu'", {"device": "tpu"}),
        ("device is 'gpu:x'", {"device": "gpu:x"}),
        ("workers beside device='gpu'", {"device": "gpu", "workers": 2}),
        ("cluster beside device='gpu:1'", {"device": "gpu:1", "cluster": "localhost:1"}),
        ("lanes beside device='gpu'", {"device": "gpu", "lanes": True}),
    ],
)
def test_other_names_and_what_is_the_processors_are_rejected(words, more):
    with pytest.raises(ArgumentError, match=words):
        studied(SWINGS, **more)


def test_no_gpu_is_an_error_that_says_what_to_do():
    try:
        driver()
    except ProgramError:
        with pytest.raises(ProgramError, match=r"no NVIDIA driver|driver reports") as error:
            studied(SWINGS, device="gpu")
        assert "device='cpu'" in error.value.hint
    else:
        pytest.skip("this computer has a GPU")


class OldLibrary:
    """A driver of CUDA 11.4 that knows no newer text."""

    def __getattr__(self, name):
        values = {"cuDeviceGetCount": 1, "cuDriverGetVersion": 11040, "cuDeviceGetAttribute": 8}

        def call(*arguments):
            if name == "cuGetErrorString":
                arguments[1]._obj.value = b"the provided PTX was compiled with an unsupported tool"
            elif name in values:
                arguments[0]._obj.value = values[name]
            return 222 if name == "cuModuleLoadData" else 0

        return call


def test_an_old_driver_is_named_with_what_it_knows():
    with pytest.raises(ProgramError, match="unsupported tool") as error:
        Driver(OldLibrary()).load(".version 7.8\n.target sm_90", "march")
    assert "CUDA 11.4" in error.value.hint
    assert "PTX 7.8" in error.value.hint


def test_a_study_file_names_its_device(tmp_path):
    (tmp_path / "swing.lsd").write_text(SWING)
    (tmp_path / "s.toml").write_text(
        'mechanism = "swing.lsd"\nuntil = "50 ms"\ndevice = "processor"\n'
        '[vary]\nleast = [0.995, -2]\n[measure]\nend = "final(A)"\n[options]\nstep = "1 ms"\n'
    )
    asked = liaison.studies.files.read_study_file(tmp_path / "s.toml")
    study = liaison.study(asked.mechanism, **asked.arguments)
    assert study.definition.about["device"] == "processor"
    assert np.isnan(study["end"]).tolist() == [True, False]
