"""How much of the package a run of a pendulum loads, and what a listing of commands loads."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PENDULUM = REPOSITORY / "examples" / "pendulum.lsd"

MOST = {"liaison.simulate": 200, "liaison simulate": 200, "liaison check": 125}
"""Modules of liaison that each imports, at most; the command `simulate` finds first integrals
besides, and shows the run by the room `display`, as `print(run)` does."""

COMMAND = """
import sys
from liaison.cli import main
try:
    main({words!r})
except SystemExit as end:
    assert not end.code, end.code
"""
CALL = "import sys, liaison; liaison.simulate({file!r}, until=1)"
COUNT = """
print(*sorted(x for x in sys.modules if x.partition(".")[0] == "liaison"), file=sys.stderr)
"""


def loaded(code: str) -> list[str]:
    """Modules of liaison that a program has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", code + COUNT], capture_output=True, text=True, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1].split()


def command(*words: object) -> str:
    return COMMAND.format(words=[str(word) for word in words])


RUNS = {
    "liaison.simulate": CALL.format(file=str(PENDULUM)) + "\n",
    "liaison simulate": command("simulate", PENDULUM, "--until", 1),
    "liaison check": command("check", PENDULUM),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_pendulum_loads_little(name, capsys):
    modules = loaded(RUNS[name])
    with capsys.disabled():
        print(f"\n{name} of a pendulum: {len(modules)} modules of liaison")
    assert len(modules) < MOST[name]


def test_a_run_loads_nothing_of_other_verbs():
    rooms = {x.split(".")[1] for x in loaded(RUNS["liaison.simulate"]) if "." in x}
    assert not rooms & {"freedoms", "contacts", "view", "algebra", "cli"}


def test_the_list_of_commands_loads_no_room():
    rooms = {x.split(".")[1] for x in loaded(command("--help")) if "." in x}
    assert rooms <= {"cli", "verbs", "errors", "lazy"}


def test_a_room_never_hides_a_verb():
    code = (
        "import sys, liaison\n"
        "import liaison.simulation.run, liaison.freedoms.mobility, liaison.analyse.along.verify\n"
        "import liaison.verbs.motion.simulate, liaison.verbs.freedoms.mobility\n"
        "for verb in (liaison.simulate, liaison.mobility, liaison.verify):\n"
        "    assert callable(verb), verb\n"
        "from liaison import mobility, simulate\n"
        "assert callable(simulate) and callable(mobility)\n"
        "from liaison.simulation import stepper\n"
        "assert callable(stepper)\n"
    )
    loaded(code)


def test_a_star_import_hides_nothing_of_python():
    import builtins

    import liaison

    assert not set(liaison.__all__) & {*dir(builtins), "time", "reduce"}
    assert liaison.time is liaison.t
    assert liaison.compile is liaison.to_kernel
    assert liaison.reduce is liaison.reduction


def test_the_version_is_written_once():
    import liaison

    project = (REPOSITORY / "pyproject.toml").read_text(encoding="utf-8")
    assert 'path = "src/liaison/__init__.py"' in project
    assert "\nversion = " not in project
    assert f"## {liaison.__version__}" in (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
    modules = loaded("import sys, liaison; liaison.__version__\n")
    assert "liaison.model" not in modules
