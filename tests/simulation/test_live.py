"""Modules that simulate, run by node through their script, against runs here.

Bits are those of portable machine code; against the default, which contracts products and sums,
states agree to 1e-9. One node process runs all jobs of this file.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import OptionError, SimulationError
from liaison.program.llvm.to_llvm import to_llvm
from liaison.simulation.live import package
from liaison.simulation.live.module import live_module
from liaison.simulation.live.package import script_tables
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.run import simulate
from liaison.simulation.steps import layout
from liaison.verbs.ready import ready_for

SCRIPT = Path(package.__file__).parent / package.SCRIPT
JOBS = Path(__file__).parent / "live_jobs.js"
AGREES = 1e-9
"""Of states against machine code with contraction."""

SAME = {
    "fixed": ("four_bar.lsd", {"step": 1e-3}),
    "adaptive": ("four_bar.lsd", {"every": 0.01}),
    "table": ("quarter_car.lsd", {}),
}
"""Runs whose bits are compared: example and options; one second each."""

CONTACTS = {
    "stops": ("contact/stops.lsd", {}),
    "moreau": ("contact/rattleback.lsd", {"step": 1e-3, "method": "moreau"}),
}
CODES = {
    "good": "GOOD", "done": "DONE", "stopped": "STOPPED", "full": "FULL",
    "needs": "NEEDS_CORRECT_Q", "instants": "NEEDS_INSTANTS", "failed": "NOT_FINITE",
    "degenerate": "DEGENERATE",
}  # fmt: skip
NEAR = [1.5708, -0.9273, 2.2143]
"""The own position of the four-bar: A, B, D [rad]."""

OTHER = {"start": {"parameters": {"a": 0.12}}}

FALL = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter m = 2 kg between 1 kg and 5 kg ;
input push = 0 N ;
let a = body mass = m, center = [0, 0, 0] m, inertia = [1, 1, 1] kg*m^2 end ;
let Z = join earth and a with prismatic axis = [0, 0, 1] end ;
start Z = 1 m ;
apply motor force = push end on Z ;
event lands when Z falling record ;
"""


SWING = """
gravity = [0, 0, -9.81] m/s^2 ;
parameter half = 0.3 rad ;
parameter late = 0.25 s ;
let a = body mass = 1 kg, center = [0.5, 0, 0] m, inertia = [0.1, 0.1, 0.1] kg*m^2 end ;
let A = join earth and a with revolute axis = [0, 1, 0] end ;
start A = 2*half ;
apply motor torque = 40 N*m/s * max(t - late, 0 s) end on A ;
"""


def in_node(node, folder, jobs):
    (folder / "jobs.json").write_text(json.dumps(jobs))
    words = [node, str(JOBS), str(SCRIPT), str(folder / "jobs.json")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def numbers(text, like):
    values = np.frombuffer(bytes.fromhex(text))
    assert values.size == np.size(like), "another number of rows"
    return values.reshape(np.shape(like))


def is_same(answer, run):
    """Whether every recorded bit of t, q and v is the same."""
    return all(
        np.array_equal(numbers(answer[x], getattr(run, x)).view(np.int64),
                       np.ascontiguousarray(getattr(run, x)).view(np.int64))
        for x in ("t", "q", "v")
    )  # fmt: skip


class Prepared:
    """An example with a portable kernel, its module and its run here."""

    def __init__(self, path, options, until=1.0, portable=True):
        kernel, state = ready_for(path, None, None, None)
        self.kernel = to_llvm(kernel.program, portable=True) if portable else kernel
        settings = settings_of(**options)
        self.module = live_module(self.kernel, state, until, settings, series=SERIES)
        series = ("poses", "energy", "reactions") if portable else ()
        self.run = simulate(self.kernel, state, until, series=series, **options)


SERIES = ("poses", "energy", "reactions", "outputs")


@pytest.fixture(scope="module")
def prepared(examples):
    """Every case of SAME with portable kernels, of CONTACTS with default ones."""
    cases = {name: Prepared(examples / x, options) for name, (x, options) in SAME.items()}
    return cases | {
        name: Prepared(examples / x, options, portable=False)
        for name, (x, options) in CONTACTS.items()
    }


@pytest.fixture(scope="module")
def modules(examples):
    """Modules as the verb makes them."""
    fall = liaison.read(FALL)
    return {
        "four bar": liaison.live_module(examples / "four_bar.lsd", until=1, step="1 ms"),
        "few steps": liaison.live_module(examples / "four_bar.lsd", until=1, max_steps=20),
        "fall": liaison.live_module(fall, until=0.4, every=0.05, stop="lands"),
        "pushed": liaison.live_module(fall, until=9),
        "swing": liaison.live_module(liaison.read(SWING), until=0.5),
        "wrong orders": liaison.live_module(fall, until=0.4),
        "coarse": liaison.live_module(examples / "bennett.lsd", until=0.1, step=0.005),
        "other format": liaison.live_module(fall).replace(b'"format":3', b'"format":1'),
    }


WRONG = {
    "start": [
        {"every": -1}, {"rtol": 0}, {"atol": "1e-9"}, {"maxStep": -1}, {"maxSteps": 0},
        {"inputs": {"push": None}}, {"inputs": {"push": "9 N"}},
    ],
    "advance": [
        {"until": "0.2 s"}, {"until": None}, {"steps": 1.5}, {"steps": -1},
        {"milliseconds": "5"}, {"time": 0.2},
    ],
}  # fmt: skip
"""Orders in which something is wrong."""

RUNS = {
    "swing": [{"start": {"parameters": {"half": 0.1}}}, {"start": {"parameters": {"late": 0.1}}}],
    "four bar": [
        {"get": "info"}, OTHER, {"start": {"parameters": {"a": 2.0}}}, {"start": {}},
        {"start": {"start": {"A": 0.5, "A'": 3.0}}}, {"start": {"parameters": {"e": 1}}},
        {"start": {"until": float(2.0**60)}, "advance": {"steps": 100}}, {"start": {"rtol": 1e-4}},
        {"start": {"steps": 4}}, {"start": {"step": -1}},
        {"start": {"near": {"q": NEAR, "held": ["A"]}, "start": {"A'": 1.0, "B'": 50.0}}},
    ],
    "pushed": [{"start": {"maxStep": 0.02}, "advance": {"until": 0.05}}] + [
        {"inputs": {"push": 40.0 * (-1) ** k}, "advance": {"until": 0.1 * k}} for k in range(1, 20)
    ],
    "few steps": [{}],
    "coarse": [{}],
    "wrong orders": [
        {"start": {"parameters": {"m": 3.0}, "inputs": {"push": 9.0}}, "advance": {"until": 0.1}},
        *({"start": {"parameters": {"m": 4.0}} | x} for x in WRONG["start"]),
        *({"advance": x} for x in WRONG["advance"]), {},
    ],
    "fall": [
        {}, {"start": {"inputs": {"push": 2 * 9.81}}}, {"start": {"parameters": {"m": 0.5}}},
        {"start": {"start": {"Z": 0.2}}}, {"start": {"state": {"q": [1.0], "v": [0.0, 1.0]}}},
        {"start": {"maxStep": 0.01}, "advance": {"until": 0.1}}, {"inputs": {"push": 50.0}},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def answers(node, tmp_path_factory, prepared, modules):
    folder = tmp_path_factory.mktemp("live")
    jobs = []
    contents = {name: x.module for name, x in prepared.items()} | modules
    for k, (name, content) in enumerate(contents.items()):
        (folder / f"{k}.wasm").write_bytes(content)
        series = [] if name in CONTACTS else ["poses", "energy", "reactions"]
        runs = RUNS.get(name) or [{"series": series}, {"start": {}}]
        jobs.append({"module": str(folder / f"{k}.wasm"), "runs": runs})
    plain = jobs[[*contents].index("fixed")] | {"plain": True}
    return dict(zip([*contents, "plain"], in_node(node, folder, [*jobs, plain]), strict=True))


@pytest.mark.parametrize("case", SAME)
def test_runs_have_the_bits_of_portable_machine_code(case, prepared, answers):
    answer, again = answers[case]
    assert answer["status"]["status"] == "done"
    assert is_same(answer, prepared[case].run)
    assert again["q"] == answer["q"], "a second run begins where the first one did"


def test_the_script_needs_no_modules(answers):
    """As plain text in a scope of its own it does the same: a Worker made from a Blob."""
    assert answers["plain"] == answers["fixed"]


@pytest.mark.parametrize("case", SAME)
def test_series_are_those_of_the_run(case, prepared, answers):
    run = prepared[case].run
    for name, text in answers[case][0]["series"].items():
        values = run.series[name].values
        if name == "poses":  # R row by row, then p; here (R p)
            values = np.concatenate(
                [values[..., :3].reshape(*values.shape[:2], 9), values[..., 3]], 2
            )
        np.testing.assert_allclose(
            numbers(text, values), values, rtol=1e-9, atol=1e-9, err_msg=name
        )


@pytest.mark.parametrize("case", CONTACTS)
def test_contacts_agree_with_runs_here(case, prepared, answers):
    run, answer = prepared[case].run, answers[case][0]
    assert answer["status"]["status"] == "done"
    last = np.frombuffer(bytes.fromhex(answer["q"]))[-run.q.shape[1] :]
    np.testing.assert_allclose(last, run.q[-1], rtol=AGREES, atol=AGREES)
    known = [(x.t, x.name) for x in run.events if x.what]
    listed = [(t, name) for t, what, name in answer["events"]]
    assert [name for _, name in listed] == [name for _, name in known]
    np.testing.assert_allclose([t for t, _ in listed], [t for t, _ in known], atol=1e-7)


def test_loops_close_again_after_a_change_of_lengths(examples, answers):
    run = liaison.simulate(examples / "four_bar.lsd", until=1, step=1e-3, parameters={"a": 0.12})
    answer = answers["four bar"][1]
    np.testing.assert_allclose(numbers(answer["q"], run.q), run.q, rtol=AGREES, atol=AGREES)


def test_starts_by_name(examples, answers):
    run = liaison.simulate(
        examples / "four_bar.lsd", until=1, step=1e-3, start={"A": 0.5, "A'": 3.0}
    )
    answer = answers["four bar"][4]
    np.testing.assert_allclose(numbers(answer["q"], run.q), run.q, rtol=AGREES, atol=AGREES)


def test_starts_that_follow_from_parameters(answers):
    """The start is twice a parameter."""
    run = liaison.simulate(liaison.read(SWING), until=0.5, parameters={"half": 0.1})
    answer = answers["swing"][0]
    np.testing.assert_allclose(numbers(answer["q"], run.q), run.q, rtol=AGREES, atol=AGREES)
    assert run.q[0, 0] == 0.2


def test_the_default_after_a_change(answers):
    """Nothing is left of runs with other values."""
    assert answers["four bar"][3]["status"]["status"] == "done"
    assert answers["four bar"][3]["q"] != answers["four bar"][1]["q"]
    fixed = answers["fixed"][0]
    states = [np.frombuffer(bytes.fromhex(x["q"])) for x in (answers["four bar"][3], fixed)]
    np.testing.assert_allclose(*states, atol=AGREES)


@pytest.mark.parametrize(
    ("case", "k", "kind", "words"),
    [
        ("four bar", 2, "assembly", "no configuration satisfies the closures"),
        ("four bar", 5, "unknown name", "no parameter 'e'. There are: a, b, c, d."),
        ("four bar", 7, "argument", "a fixed step: it has no rtol"),
        ("four bar", 8, "unknown name", "no option 'steps'"),
        ("four bar", 9, "argument", "must be positive"),
        ("four bar", 10, "assembly", "do not allow these speeds"),
        ("fall", 2, "argument", "within its bounds 1"),
        ("swing", 1, "fixed instants", "'late' changes the instants"),
        ("fall", 4, "argument", "the state has 1 and 2 numbers"),
    ],
)
def test_what_cannot_be_is_said(case, k, kind, words, answers):
    assert answers[case][k]["kind"] == kind
    assert words in answers[case][k]["error"]


def test_a_failure_in_the_words_of_a_run_here(examples, answers):
    run = liaison.simulate(
        examples / "four_bar.lsd", until=1, max_steps=20, on_failure="return", only_series=()
    )
    status = answers["few steps"][0]["status"]
    assert (status["status"], status["reason"]) == ("failed", "too many steps")
    assert status["message"] == run.message.removesuffix(" Raise max_steps.").strip()
    assert status["hint"] == "Raise max_steps."


@pytest.mark.parametrize("case", SAME)
def test_the_balance_of_energy_is_that_of_the_run(case, prepared, answers):
    kept, energy = prepared[case].run.meta["energy_balance"], answers[case][0]["status"]["energy"]
    assert energy["missed"] == kept["missed"]
    assert energy["turnedOver"] == kept["turned_over"]
    assert not energy["isOff"]


def test_a_run_whose_energy_is_off_is_suspect(examples, answers):
    run = liaison.simulate(examples / "bennett.lsd", until=0.1, step=0.005)
    status = answers["coarse"][0]["status"]
    assert run.status == status["status"] == "suspect"
    # steps that are far too long make rounding grow: the default contracts products and sums
    missed = run.meta["energy_balance"]["missed"]
    assert status["energy"]["missed"] == pytest.approx(missed, rel=1e-2)
    assert "the balance of energy is off by" in status["message"]


def test_falling_until_an_event(answers):
    """z = z₀ − g t²/2 reaches zero at √(2 z₀/g): from 1 m after the end, from 0.2 m before."""
    assert answers["fall"][0]["status"]["status"] == "done"
    stopped = answers["fall"][3]
    assert stopped["status"]["status"] == "stopped"
    assert stopped["status"]["t"] == pytest.approx((2 * 0.2 / 9.81) ** 0.5, abs=1e-9)
    assert [x[1:] for x in stopped["events"]] == [["event", "lands"]]


def test_inputs_hold_and_change(answers):
    held = answers["fall"][1]
    assert held["state"][0] == pytest.approx(1.0, abs=1e-12), "the push carries the weight"
    before, after = answers["fall"][5:]
    assert before["status"]["status"] == "running"
    t, end = before["status"]["t"], 0.4
    g, push = 9.81, 50.0 / 2 - 9.81
    z, speed = 1 - g * t * t / 2, -g * t
    expected = z + speed * (end - t) + push * (end - t) ** 2 / 2
    assert after["state"][0] == pytest.approx(expected, abs=1e-9)


def test_the_balance_of_energy_sees_through_jumps_of_inputs(answers):
    energy = answers["pushed"][-1]["status"]["energy"]
    assert energy["turnedOver"] > 10
    assert energy["missed"] + energy["doubt"] < 1e-6 * energy["turnedOver"]


def test_wrong_orders_leave_the_run_as_it_is(answers):
    """z = z₀ + (F/m − g) t²/2, with the values from before the wrong orders."""
    first, *wrong, last = answers["wrong orders"]
    assert first["status"]["status"] == "running"
    assert [x.get("kind") for x in wrong] == ["argument"] * (len(wrong) - 1) + ["unknown name"]
    assert last["status"]["t"] == 0.4
    assert last["state"][0] == pytest.approx(1 + (9 / 3 - 9.81) * 0.4**2 / 2, abs=1e-9)


def test_modules_of_javascript_import_the_script_by_its_names(node):
    text = f"import {{ LiaisonError, Run }} from {json.dumps(SCRIPT.as_uri())}; new Run(1)"
    words = [node, "--input-type=module", "-e", text]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert "Argument 0 must be a WebAssembly.Module" in done.stderr


def test_recording_at_a_period(answers):
    t = np.frombuffer(bytes.fromhex(answers["fall"][0]["t"]))
    np.testing.assert_allclose(t, np.arange(9) * 0.05, atol=1e-15)


def test_what_a_module_says_of_itself(answers):
    info = answers["four bar"][0]["info"]
    assert [x["name"] for x in info["parameters"]] == ["a", "b", "c", "d"]
    assert info["coordinates"][0]["unit"] == "rad"
    assert info["step"] == 1e-3
    assert info["series"] == ["poses", "energy", "closure", "outputs"]


def test_a_module_needs_nothing(modules):
    """No imports: section 2 is absent; the same mechanism gives the same bytes."""
    for module in modules.values():
        sections, k = [], 8
        while k < len(module):
            sections.append(module[k])
            size, shift, k = 0, 0, k + 1
            while True:
                size |= (module[k] & 0x7F) << shift
                shift, k = shift + 7, k + 1
                if module[k - 1] < 128:
                    break
            k += size
        assert 2 not in sections


@pytest.mark.parametrize(
    ("most", "options"),
    [
        (11_000, {"step": 1e-3, "assembles": False}),
        (12_900, {"step": 1e-3}),
        (13_100, {"assembles": False}),
        (14_900, {}),
    ],
)
def test_size_of_the_four_bar(examples, most, options):
    """With the balance of energy and all series; the same mechanism gives the same bytes."""
    module = liaison.live_module(examples / "four_bar.lsd", **options)
    assert module == liaison.live_module(examples / "four_bar.lsd", **options)
    assert len(gzip.compress(module, 9)) <= most


def test_tables_of_the_script_are_those_of_the_loops():
    codes, fields, ledger = script_tables("CODES", "FIELDS", "LEDGER")
    assert codes == {name: getattr(layout, x) for name, x in CODES.items()}
    assert set(fields) <= set(layout.Run.fields)
    assert set(ledger) <= set(layout.Ledger.fields)


def test_a_script_refuses_modules_of_another_format(answers):
    assert "notes of format 1; this script reads format" in answers["other format"][0]["error"]


def test_what_needs_python_is_refused_by_name(examples):
    with pytest.raises(SimulationError, match="'pile' cannot run in a module: a scene"):
        liaison.live_module(examples / "pile.lsd")
    with pytest.raises(SimulationError, match="'push' is a function of Python"):
        liaison.live_module(liaison.read(FALL), inputs={"push": (0.1, lambda t, state: 0.0)})
    with pytest.raises(OptionError, match="time_limit"):
        liaison.live_module(examples / "pendulum.lsd", time_limit=1)  # type: ignore[call-arg]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("example", "options"),
    [("contact/rattleback.lsd", {}), ("contact/stick_slip.lsd", {}), ("stewart.lsd", {}),
     ("contact/two_balls.lsd", {"step": 1e-3, "method": "moreau"}),
     ("reference/slider_crank_clearance.lsd", {}), ("bennett.lsd", {})],
)  # fmt: skip
def test_more_runs_have_the_bits_of_portable_machine_code(
    node, tmp_path, examples, example, options
):
    case = Prepared(examples / example, options)
    (tmp_path / "0.wasm").write_bytes(case.module)
    jobs = [{"module": str(tmp_path / "0.wasm"), "runs": [{}]}]
    assert is_same(in_node(node, tmp_path, jobs)[0][0], case.run)
