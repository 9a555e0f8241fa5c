"""Options of robots: every command that reads a mechanism takes the same, and reads it so."""

import typer

import liaison
from liaison.cli.entry import app, command_of
from liaison.cli.options import ROBOT

ARM = "examples/arm7.urdf"
OF_EQUATIONS = ("evaluate",)
"""Commands that take a mechanism from elsewhere than its description."""


def test_every_command_that_reads_a_mechanism_takes_the_options_of_robots():
    group = typer.main.get_command(app)
    context = typer.Context(group)
    lacking = {}
    for name in group.list_commands(context):
        known = {x.name for x in group.get_command(context, name).params}
        if "file" in known and "values" in known and name not in OF_EQUATIONS:
            lacking[name] = ROBOT.keys() - known
    assert not any(lacking.values()), lacking
    assert {"verify", "linearize", "mobility", "motion", "build", "psi"} <= lacking.keys()


def test_an_option_of_a_verb_comes_before_that_of_robots():
    def count(given: liaison.Mechanism, *, ground: bool = False, base: str = "") -> dict:
        """Count bodies."""
        return {"ground": ground, "base": base}

    shown = command_of(count)
    assert list(shown.__annotations__).count("ground") == 1
    assert shown.__annotations__["base"].__args__ == (str,)


def test_commands_read_a_robot_as_their_options_say(run):
    status, out, _ = run("mobility", ARM, "--floating")
    assert (status, "finite mobility 13" in out) == (0, True)
    status, out, _ = run("inertia", ARM, "--base", "flange", "--pose", "j2=90 deg")
    assert (status, "mass        17.2 kg" in out) == (0, True)
    assert run("linearize", "examples/pendulum.lsd", "--floating")[0] == 2


def test_verify_takes_robots_with_motors_and_fixed_steps(run):
    words = ("verify", "examples/robots/gripper.urdf", "--motors", "position")
    status, out, _ = run(*words, "--until", "10 ms")
    assert (status, "every theorem holds" in out) == (0, True)
    status, out, _ = run("verify", "examples/pendulum.lsd", "--step", "1 ms", "--until", "50 ms")
    assert (status, "every theorem holds" in out) == (0, True)


def test_gains_of_motors_take_units_on_the_command_line(run):
    words = ("check", ARM, "--motors", "position", "--stiffness")
    outs = [run(*words, x, "--json") for x in ("50", "50 N*m/rad", "0.05 kN*m/rad")]
    assert [x[0] for x in outs] == [0, 0, 0]
    assert "… 2.5 is taken" in outs[0][1]  # 50 ms times it
    assert outs[0][1:] == outs[1][1:] == outs[2][1:]
    for wrong in ("50 kg", "stiff", "nan", "-3"):
        status, _, error = run(*words, wrong)
        assert (status != 0, "stiffness" in error) == (True, True)
