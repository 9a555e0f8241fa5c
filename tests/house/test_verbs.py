"""A verb is one file: its function, its public name, its line of help, its command."""

import ast
import inspect
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner

import liaison
from liaison.cli.entry import app, commands
from liaison.verbs.registry import verbs

WIDTH = 80

CENSUS = Path(__file__).parent / "drills" / "census.py"


@pytest.mark.parametrize("name", sorted(verbs()))
def test_a_file_defines_the_verb_it_is_named_after(name):
    verb = verbs()[name]
    tree = ast.parse(Path(verb.path).read_text(encoding="utf-8"))
    assert any(isinstance(x, ast.FunctionDef) and x.name == name for x in tree.body)
    assert callable(getattr(liaison, name))
    assert 20 < len(verb.help) <= 60


@pytest.mark.parametrize("name", sorted(verbs()))
def test_no_verb_takes_any_keyword_whatever(name):
    for x in inspect.signature(getattr(liaison, name)).parameters.values():
        if x.kind is inspect.Parameter.VAR_KEYWORD:
            assert "Unpack[" in str(x.annotation), f"{name}(**{x.name}: {x.annotation})"


def words(*arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "liaison", *(str(x) for x in arguments)]
    known = {**os.environ, "COLUMNS": str(WIDTH), **variables}
    return subprocess.run(line, capture_output=True, text=True, env=known)


def test_each_command_has_one_whole_line_of_help():
    lines = words("--help").stdout.split("Commands:")[1].split("Exit status")[0].strip("\n")
    listed = [line.split(maxsplit=1) for line in lines.splitlines() if line.strip()]
    assert [name for name, _ in listed] == list(commands())
    for name, text in listed:
        assert text == commands()[name].help
        assert "..." not in text


@cache
def help_of(name: str) -> str:
    """What `liaison NAME --help` prints."""
    done = CliRunner().invoke(app, [name, "--help"], env={"COLUMNS": str(WIDTH)})
    assert done.exit_code == 0, done.output
    return done.output


def test_help_is_that_of_the_program():
    done = words("check", "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == help_of("check").split()


@pytest.mark.parametrize("name", commands())
def test_each_command_prints_json_and_explains_every_option(name):
    text = help_of(name)
    assert "--json" in text
    options = [x.split() for x in text.split("Options:")[1].splitlines() if "--" in x[:6]]
    assert all(len(line) > 1 for line in options), options


@pytest.mark.parametrize("name", ["simulate", "sin", "animate"])
def test_a_verb_does_not_take_the_name_of_another(name, tmp_path):
    text = CENSUS.read_text(encoding="utf-8").replace("census", name)
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    done = words("--help", LIAISON_VERBS=str(tmp_path))
    assert done.returncode != 0
    assert name in done.stderr
    assert "rename one" in done.stderr or "each name is used once" in done.stderr


@pytest.mark.parametrize("name", ["check", "units"])
def test_a_name_that_is_taken_is_named_with_its_file(name, tmp_path):
    path = tmp_path / f"{name}.py"
    path.write_text(CENSUS.read_text(encoding="utf-8").replace("census", name), encoding="utf-8")
    done = words("--version", LIAISON_VERBS=str(tmp_path))
    assert done.returncode != 0
    assert f"{path} is a verb {name!r} of LIAISON_VERBS, and that name is taken" in done.stderr


def test_a_folder_of_verbs_that_is_missing_is_named(tmp_path):
    done = words("--version", LIAISON_VERBS=str(tmp_path / "verbs"))
    assert done.returncode != 0
    assert f"the folder {str(tmp_path / 'verbs')!r}, which does not exist" in done.stderr


def test_a_file_without_the_function_it_is_named_after_is_rejected_in_words(tmp_path):
    text = CENSUS.read_text(encoding="utf-8").replace("def census", "def count")
    (tmp_path / "census.py").write_text(text, encoding="utf-8")
    done = words("census", tmp_path / "any.lsd", LIAISON_VERBS=str(tmp_path))
    assert done.returncode == 1
    assert "census.py, line 1: the file of the command 'census' defines no" in done.stderr


def test_the_verb_of_the_manual_is_a_command(tmp_path, examples):
    page = (examples.parent / "docs" / "python.md").read_text(encoding="utf-8")
    text = page.split("## User-defined verbs and commands")[1].split("```python\n")[1]
    text = text.split("\n\nprint(")[0] + "\n"
    (tmp_path / "joint_types.py").write_text(text, encoding="utf-8")
    line = ("joint_types", examples / "slider_crank.lsd", "--at-least", "2", "--json")
    done = words(*line, LIAISON_VERBS=str(tmp_path))
    assert json.loads(done.stdout) == {"Revolute": 3}


def test_commands_that_read_a_mechanism_take_values():
    without = {x for x in commands() if "--set" not in help_of(x)}
    assert without == {
        "format", "gausselim", "standard_basis", "rewrite", "examples", "study", "optimize",
    }  # fmt: skip


def test_no_public_name_takes_any_keyword_whatever():
    shapes = {"contact"}  # its words depend on what touches
    loose = []
    for name in set(liaison.__all__) - shapes:
        thing = getattr(liaison, name)
        for x in inspect.signature(thing).parameters.values() if inspect.isfunction(thing) else ():
            if x.kind is inspect.Parameter.VAR_KEYWORD and str(x.annotation) == "Any":
                loose.append(name)
    assert not loose


QUICK = {
    "show": "returns while the view is served",
    "session": "opens terms one by one, when they are asked for",
    "viscous": "changes a description",
    "sobol_indices": "is a study, which is shown",
    **dict.fromkeys(
        ("bias", "forward_dynamics", "inertia", "jacobian", "mass_matrix", "pose", "torsors"),
        "evaluates a kernel, whose compilation is shown",
    ),
}
"""Verbs that show no progress of their own, and why they need none."""


@pytest.mark.parametrize("name", sorted(verbs()))
def test_a_verb_that_may_take_long_shows_its_progress(name):
    text = Path(verbs()[name].path).read_text(encoding="utf-8")
    assert ("@lasting(" in text or "working(" in text) != (name in QUICK)
