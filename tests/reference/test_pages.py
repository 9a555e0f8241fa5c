"""The pages on analyses and reference problems say what is so."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def blocks(page, language):
    text = (REPOSITORY / "docs" / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.fixture
def desk(tmp_path):
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    return tmp_path


def test_python_of_the_page_on_analyses_runs(desk):
    (desk / "page.py").write_text("\n".join(blocks("theory/analysis.md", "python")))
    done = subprocess.run(
        [sys.executable, "-W", "error", "page.py"], cwd=desk, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


CASES = sorted(path.name for path in (REPOSITORY / "docs" / "cases").glob("*.md"))


@pytest.mark.parametrize("page", CASES)
def test_python_of_a_case_runs(page, desk):
    (desk / "page.py").write_text("\n".join(blocks(f"cases/{page}", "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", "page.py"], cwd=desk, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (desk / page.replace(".md", ".png")).exists()
    assert (REPOSITORY / "docs" / "cases" / page.replace(".md", ".png")).exists()


@pytest.mark.parametrize("line", "".join(blocks("theory/analysis.md", "console")).splitlines())
def test_commands_of_the_page_run(line, desk):
    import shlex

    words = [sys.executable, "-m", *shlex.split(line)]
    done = subprocess.run(words, cwd=desk, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_reference_problem_is_in_the_table():
    page = (REPOSITORY / "docs" / "reference_problems.md").read_text(encoding="utf-8")
    names = [path.stem for path in (REPOSITORY / "tests/reference/problems").glob("*.json")]
    assert [name for name in names if f"`{name}`" not in page] == []
