"""The pages on analyses, worked cases and reference problems say what is so."""

import re
import shlex
from pathlib import Path

import pytest

from liaison.cli import main

REPOSITORY = Path(__file__).parents[2]
CASES = sorted(path.stem for path in (REPOSITORY / "docs" / "cases").glob("*.md"))
LONG = {"sleigh", "many_runs"}


def blocks(page, language):
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.fixture
def desk(tmp_path, monkeypatch):
    """A folder with the examples in it, so that what a block writes is thrown away."""
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_python_of_the_page_on_analyses_runs(desk):
    exec("\n".join(blocks("theory/analysis.md", "python")), {})


def test_python_of_the_page_on_reference_problems_runs(desk):
    exec("\n".join(blocks("reference_problems.md", "python")), {})


@pytest.mark.parametrize(
    "page", [pytest.param(x, marks=pytest.mark.slow) if x in LONG else x for x in CASES]
)
def test_python_of_a_case_runs_and_draws_its_figure(page, desk):
    exec("\n".join(blocks(f"cases/{page}.md", "python")), {})
    assert (desk / f"{page}.png").exists()
    assert (REPOSITORY / "docs" / "cases" / f"{page}.png").exists()


@pytest.mark.parametrize("line", "".join(blocks("theory/analysis.md", "console")).splitlines())
def test_commands_of_the_page_run(line, desk, capsys):
    with pytest.raises(SystemExit) as left:
        main(shlex.split(line)[1:])
    assert not left.value.code, capsys.readouterr().err


def test_every_reference_problem_is_in_the_table():
    page = (REPOSITORY / "docs" / "reference_problems.md").read_text(encoding="utf-8")
    names = [path.stem for path in (REPOSITORY / "tests/reference/problems").glob("*.json")]
    assert [name for name in names if f"`{name}`" not in page] == []
