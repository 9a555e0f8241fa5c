"""The balance of energy of runs: its work against quadrature, faults found, nothing else suspected.

Truths: work by SciPy's quadrature of powers written by hand along the recorded motion, energies
kept or not by closed form, runs without the watch bit for bit.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import liaison
from attack.energy_watch import FAULTS, dynamics, planted, scaled
from liaison.cli.entry import main
from liaison.contacts.scene import Bodies
from liaison.formats.lsd.read import read_lsd
from liaison.simulation.plan.settings import settings_of
from liaison.simulation.run import Run
from liaison.simulation.scene import Scene

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

SLIDER = """
let b = body mass = 1 kg, inertia = 0.01 kg*m^2 end ;
let X = join earth and b with slider axis = [1, 0, 0] end ;
start X = 0.1 m ;
"""
STIFF = SLIDER + "apply spring stiffness = 1e6 N/m end on X ;"


def went(text: str, until: float = 1.0, inputs=None, **options):
    """A run of a text, and its ledger."""
    tree = liaison.span(read_lsd(text))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    run = Run(kernel, liaison.assemble(tree), until, settings_of(**options), inputs=inputs)
    while not run.is_over:
        run.go()
    return run.trajectory(("energy",)), run.arrays.run.ledger


def test_work_of_a_damper_and_a_force_of_time_is_that_of_quadrature():
    text = SLIDER + (
        "apply spring stiffness = 40 N/m end on X ; apply damper coefficient = 0.8 N*s/m end on X ;"
        "apply force value = [3 N*sin(5 rad/s*t), 0, 0] end on b ;"
    )
    run, ledger = went(text, 2.0)

    def f(t, y):
        push = 3 * np.sin(5 * t)
        return [y[1], push - 40 * y[0] - 0.8 * y[1], push * y[1] - 0.8 * y[1] ** 2]

    truth = solve_ivp(f, (0, 2), [0.1, 0, 0], rtol=1e-12, atol=1e-14).y[2, -1]
    assert ledger.work == pytest.approx(truth, abs=1e-4 * ledger.turned)
    assert abs(ledger.work - truth) < ledger.doubt < 1e-2 * ledger.turned
    assert run.status == "done"


def test_work_of_an_imposed_motion_is_that_of_its_drive():
    text = SLIDER.replace("start X = 0.1 m ;", "") + "impose X = 0.2 m*sin(3 rad/s*t) ;"
    _, ledger = went(text, 1.0)
    speed = 0.2 * 3 * np.cos(3 * 1.0)
    assert ledger.work == pytest.approx(0.5 * (speed**2 - 0.36), abs=1e-4)
    assert abs(ledger.missed) < 1e-4


def test_the_polynomial_of_the_work_is_exact_for_cubics():
    text = SLIDER.replace("0.1 m", "0 m") + (
        "apply force value = [1 N*(t/(1 s)), 0, 0] end on b ;"  # power t³/2
    )
    _, ledger = went(text, 2.0)
    assert ledger.work == pytest.approx(2.0**4 / 8, rel=1e-12)


def test_a_spring_whose_rest_moves_does_work_by_its_energy():
    text = SLIDER + "apply spring stiffness = 40 N/m, rest = 0.1 m*sin(6 rad/s*t) end on X ;"
    run, ledger = went(text, 2.0)
    assert ledger.turned > 0.1
    assert run.status == "done"
    assert abs(ledger.missed) < 1e-4 * ledger.turned


def test_a_controller_changes_power_at_its_instants_only():
    text = SLIDER + "input push = 0 N ; apply motor force = push end on X ;"
    control = (0.01, lambda t, state: 2.0 if int(t * 50) % 2 else -1.0)
    run, ledger = went(text, 1.0, inputs={"push": control})
    assert run.status == "done"
    # held between instants: force times way
    assert abs(ledger.missed) < 1e-9
    assert ledger.turned > 0.1


@pytest.mark.parametrize("name", list(FAULTS)[::3])
def test_planted_faults_are_found(name):
    assert planted(name).status in ("suspect", "failed")


def test_an_instant_at_which_velocities_change_is_named():
    run = planted("velocities scaled at an instant")
    assert run.status == "suspect"
    assert not run.success
    assert "at once at t = 0.5" in run.message
    assert run.t[-1] == 1.0  # whole


def test_states_are_the_same_bits_without_it():
    for name in ("quarter_car.lsd", "contact/stops.lsd", "four_bar.lsd"):
        runs = [liaison.simulate(EXAMPLES / name, until=0.3, watch=x) for x in (True, False)]
        assert runs[0].q.tobytes() == runs[1].q.tobytes()
        assert runs[0].v.tobytes() == runs[1].v.tobytes()
        assert runs[0].meta["energy_balance"]["watched"] in ("energy", "gains")
        assert runs[1].meta["energy_balance"] == {"watched": "", "why": "it was not asked for"}


@pytest.mark.parametrize("radius", [0.0, 0.8])
def test_steps_too_long_for_a_stiff_spring_are_suspect(radius):
    options = {"method": "generalized-alpha", "spectral_radius": radius}
    long, _ = went(STIFF, 2.0, step=0.1, **options)
    assert long.status == "suspect"
    assert "step of 0.1 s is too long" in long.message
    short, _ = went(STIFF, 0.01, step=2e-5, **options)
    assert short.status == "done"


def test_coarse_steps_that_converge_are_not_suspect():
    coarse = liaison.simulate(EXAMPLES / "reference/heavy_top.lsd", until=1.0, step=5e-3, series=())
    balance = coarse.meta["energy_balance"]
    assert balance["missed"] > 1e-2 * balance["turned_over"]
    assert coarse.status == "done"


def test_what_cannot_be_watched_is_said():
    text = SLIDER + "input rest = 0 m ; apply spring stiffness = 40 N/m, rest = rest end on X ;"
    run, _ = went(text)
    why = {"watched": "", "why": "what is stored depends on an input"}
    assert run.meta["energy_balance"] == why
    lift = liaison.simulate(EXAMPLES / "contact/cam_lift_off.lsd", until=0.01)
    assert lift.meta["energy_balance"]["why"] == "a drive acts beside contacts"


def test_impacts_lose_and_contacts_are_watched_for_gains():
    run = liaison.simulate(EXAMPLES / "reference/bouncing_ball.lsd", until=2.0)
    assert run.meta["energy_balance"]["watched"] == "gains"
    energy = run["energy"].sum(axis=1)
    assert energy[-1] < 0.9 * energy[0]
    assert run.status == "done"


def test_runs_of_a_batch_have_a_status_each():
    tree = liaison.span(
        read_lsd("parameter k = 1 N/m ;" + SLIDER + "apply spring stiffness = k end on X ;")
    )
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    runs = liaison.simulate_batch(
        kernel, liaison.assemble(tree), until=2.0, parameters={"k": np.array([1.0, 1e6])},
        method="generalized-alpha", step=0.1,
    )  # fmt: skip
    assert runs.statuses == ("done", "suspect")
    assert runs.success.tolist() == [True, False]
    assert "step of 0.1 s is too long" in runs.messages[1]
    missed = [run.meta["energy_balance"]["missed"] for run in runs]
    assert missed == runs.measures["energy_missed"].tolist()
    assert missed[1] > missed[0]


def test_the_command_line_has_an_exit_status_and_json(tmp_path, capsys):
    path = tmp_path / "stiff.lsd"
    path.write_text(STIFF, encoding="utf-8")
    words = ["simulate", str(path), "--until", "2", "--step", "0.1"]
    words += ["--method", "generalized-alpha", "--json"]
    with pytest.raises(SystemExit) as left:
        main(words)
    out = capsys.readouterr()
    assert left.value.code == 4
    facts = json.loads(out.out)
    assert facts["status"] == "suspect"
    assert "too long" in facts["message"]
    assert "suspect: the balance of energy" in out.err
    with pytest.raises(SystemExit) as left:
        main([*words, "--no-watch"])
    assert left.value.code == 0
    assert json.loads(capsys.readouterr().out)["status"] == "done"


def scene():
    """A box and a ball above a plane."""
    r = np.random.default_rng(3)
    turn = r.normal(size=4)
    pose = [[0, 0, 1.0, 1, 0, 0, 0], [0.5, 0, 0.8, *(turn / np.linalg.norm(turn))]]
    bodies = Bodies(
        names=("a", "b"),
        mass=np.array([1.0, 2.0]),
        inertia=np.array([np.eye(3) * 0.01, np.diag([0.02, 0.05, 0.06])]),
        pose=np.array(pose),
        speed=r.normal(size=(2, 6)),
        owner=np.array([0, 1]),
        ball=np.array([[0, 0, 0, 0.1], [0, 0, 0, 0.1]]),
    )
    return Scene(bodies, planes=[(0, 0, 1, 0)], gravity=(0, 0, -9.81))


def test_the_energy_of_a_scene_is_that_of_its_bodies():
    placed = scene()
    run = placed.run(0.01, step=1e-3)
    kernel = run.own_plan.kernel
    q, v = placed.bodies.pose.ravel(), placed.bodies.speed.ravel()
    T, U = kernel("energy", 0.0, q=q, v=v)
    s, n = placed.bodies.pose[1, 3], placed.bodies.pose[1, 4:]
    skew = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    R = np.eye(3) + 2 * s * skew + 2 * skew @ skew
    w = placed.bodies.speed
    spin = 0.5 * 0.01 * w[0, :3] @ w[0, :3]
    spin += 0.5 * w[1, :3] @ R @ np.diag([0.02, 0.05, 0.06]) @ R.T @ w[1, :3]
    assert pytest.approx(spin + 0.5 * w[0, 3:] @ w[0, 3:] + w[1, 3:] @ w[1, 3:], rel=1e-13) == T
    assert pytest.approx(9.81 * (1.0 + 2 * 0.8), rel=1e-13) == U


def test_a_scene_that_gains_energy_is_suspect():
    run = scene().run(0.6, step=1e-3)
    run.go(300)
    assert run.t < 0.5
    run.arrays.run.v[:] *= 1.3
    moved = run.finish(on_failure="return")
    assert moved.status == "suspect"
    kept = scene().simulate(0.6, step=1e-3)
    assert kept.status == "done"
    assert kept.meta["energy_balance"]["watched"] == "gains"


def test_a_start_within_its_tolerance_of_the_closures_is_not_suspect():
    tree = liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    start = liaison.assemble(tree)
    off = replace(start, q=start.q + np.array([0, 0, 1e-6]))
    run = liaison.simulate(kernel, off, until=0.02, series=())
    balance = run.meta["energy_balance"]
    assert balance["missed"] > 1e-7 * balance["turned_over"]  # what projection changed is seen
    assert run.status == "done"


def test_accelerations_that_meet_redundant_closures_as_well_as_asked_are_not_suspect():
    name = EXAMPLES / "reference/bricard_A04.lsd"
    run = liaison.simulate(name, until=0.15, rtol=1e-10, atol=1e-12, series=())
    assert run.status == "done"


def test_a_jump_of_power_between_two_nodes_is_within_its_doubt():
    push = '1 kN*table(t/(1 s), [0, 4.999, 5, 5.001, 10], [0, 0, 1, 0, 0], "linear")'
    text = SLIDER + f"apply force value = [{push}, 0, 0] end on b ;"
    for method in ("tsitouras", "radau"):
        run, ledger = went(text, 10.0, method=method)
        assert run.status == "done"
        assert ledger.work == pytest.approx(0.5 * run.v[-1, 0] ** 2, abs=ledger.doubt + 1e-6)


PARALLELOGRAM = """
let a = body mass = 1 kg, center = [15, 0, 0] cm, inertia = [10, 10, 7.5] g*m^2 end ;
let b = body mass = 1 kg, center = [50, 0, 0] cm, inertia = [10, 80, 80] g*m^2 end ;
let c = body mass = 1 kg, center = [15, 0, 0] cm, inertia = [10, 10, 7.5] g*m^2 end ;
let A = join earth and a with revolute end ;
let B = join [30, 0, 0] cm @ a and b with revolute end ;
let D = join [1, 0, 0] m @ earth and c with revolute end ;
let C = join [1, 0, 0] m @ b and [30, 0, 0] cm @ c with revolute end ;
"""


@pytest.mark.parametrize("options", [{}, {"method": "moreau"}, {"method": "rk4"}])
def test_speeds_that_change_branch_beside_a_change_point_are_no_quiet_loss(options):
    """Flat to 1e-9 with speeds of the other branch: energy that projection takes is missed."""
    tree = liaison.span(liaison.read(PARALLELOGRAM))
    kernel = liaison.to_llvm(liaison.lower(liaison.newton_euler(tree)))
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    start = liaison.State(0.0, [1e-9, -1e-9, 1e-9], [2, -3.2, -2], labels)
    fixed = {**options, "step": 1e-3} if options else {}
    run = liaison.simulate(kernel, start, until=0.1, on_failure="return", only_series=(), **fixed)
    assert run.status in ("suspect", "failed")


def test_wrong_accelerations_of_moreaus_steps_are_suspect():
    """A free body whose weight counts many times, as a block of work one number short made it."""
    text = """
    gravity = [0, 0, -9.81] m/s^2 ;
    let b = body mass = 2 kg, inertia = [1, 1, 1] kg*m^2 end ;
    let F = join earth and b with free end ;
    """
    tree = liaison.span(liaison.read(text))
    right = liaison.newton_euler(tree)
    wrong = dynamics(scaled("h", 32.0))(right)
    options = {"until": 0.3, "step": 0.01, "method": "moreau"}
    ends = []
    for equations in (right, wrong):
        kernel = liaison.to_llvm(liaison.lower(equations))
        ends.append(liaison.simulate(kernel, liaison.assemble(tree), **options).status)
    assert ends == ["done", "suspect"]


def stiff_leg(stiffness, damping, axis="[1, 0, 1]"):
    """A light bob on a box by a servo; the box stands on the floor."""
    return f"""
    gravity = [0, 0, -9.81] m/s^2 ;
    let box = body mass = 1 kg, inertia = 1 g*m^2 end ;
    let bob = body mass = 10 g, inertia = 0 end ;
    let X = join earth and box with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
    let S = join box and bob with prismatic axis = {axis} end ;
    apply servo target = 0, stiffness = {stiffness} N/m, damping = {damping} end on S ;
    let floor = contact gap = X.z, slip = X.x', friction = 0.3 end ;
    start S = 1 mm ;
    """


def test_a_suspect_run_of_moreaus_steps_is_whole():
    """A dissipation by a formula is explicit; the servo of `stiff_leg` is not, and passes."""
    text = stiff_leg(2000, 20)
    run = liaison.simulate(text, until=0.1, method="moreau", step=1e-3)
    assert run.status == "done"
    servo = next(x for x in text.splitlines() if "apply servo" in x)
    law = "apply dissipation value = 15 * S' * S' * 1 kg/s end ;"
    law += "apply spring stiffness = 2000 N/m end on S ;"
    run = liaison.simulate(text.replace(servo, law), until=0.1, method="moreau", step=1e-3)
    assert run.status == "suspect"
    assert "the step of 0.001 s is too long" in run.message
    assert run.t[-1] == pytest.approx(0.1)


BOB = """
let bob = body mass = 10 g, inertia = 0 end ;
let S = join earth and bob with prismatic axis = [1, 0, 0] end ;
apply servo target = 0, stiffness = {} N/m, damping = {} end on S ;
start S = 1 mm ;
"""


@pytest.mark.parametrize("damping", [50, 60, 100])
def test_damping_too_stiff_for_the_step_does_not_pass(damping):
    text = BOB.format(10 * damping, damping)
    run = liaison.simulate(text, until=0.05, method="rk4", step=1e-3)
    assert abs(run["S"]).max() > 0.01  # it began at 1 mm
    assert run.status == "suspect"
    gentle = liaison.simulate(text, until=0.05, method="rk4", step=1e-5)
    assert gentle.status == "done"
    assert abs(gentle["S"]).max() <= 1e-3


@pytest.mark.parametrize("damping", [25, 30, 50])
def test_damping_is_not_too_stiff_for_moreaus_steps(damping):
    text = stiff_leg(10 * damping, damping, "[1, 0, 0]")
    steps = {"until": 0.05, "method": "moreau", "every": 1e-3}
    run, gentle = (liaison.simulate(text, step=h, **steps) for h in (1e-3, 1e-5))
    assert run.status == gentle.status == "done"
    assert abs(run["S"] - gentle["S"]).max() < 2e-5  # it began at 1 mm


def test_runs_of_a_batch_that_run_away_do_not_pass():
    starts = {"S": np.array([1e-3, 2e-3])}
    for damping, status in ((50, "suspect"), (5, "done")):
        text = BOB.format(10 * damping, damping)
        runs = liaison.simulate_batch(
            text, until=0.05, method="rk4", step=1e-3, every=0.01, start=starts
        )
        assert runs.statuses == (status, status)


def test_a_drive_that_runs_away_by_its_work_does_not_pass():
    """A law of speed in steps too long for it: 1e29 m, and all of it in doubt at the last look."""
    law = "apply motor torque = 0.5 N*m*s/rad * (30 rad/s - A') end on A ;"
    text = (Path(__file__).parents[2] / "examples" / "cam.lsd").read_text(encoding="utf-8")
    assert law in text
    steps = {"until": 0.1, "method": "moreau", "step": 5e-3}
    assert liaison.simulate(text, **steps).status == "done"  # the motor follows its own coordinate
    explicit = "apply dissipation value = 0.25 N*m*s/rad * (30 rad/s - A')^2 end ;"
    run = liaison.simulate(text.replace(law, explicit), **steps)
    assert run.status == "suspect"
    assert "from t = " in run.message
    assert abs(run["A"][-1]) > 1e10
