"""The pages that speak of the code are true: the package tree, and every block of the README."""

import importlib.util
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


def files_named(tree: str) -> list[str]:
    """Rooms and files of a package tree, in order, without what is said of them."""
    return re.findall(r"^ +([\w.]+(?:/|\.py))(?:\s|$)", tree, re.M)


def test_the_package_tree_of_the_page_is_the_one_on_disk():
    path = REPOSITORY / "docs" / "package_tree.py"
    spec = importlib.util.spec_from_file_location("package_tree", path)
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    found = writer.BLOCK.search((REPOSITORY / "docs" / "house.md").read_text(encoding="utf-8"))
    assert files_named(found[0]) == files_named(writer.package_tree()), "run `make tree`"


def house() -> str:
    """docs/house.md without its blocks of code."""
    text = (REPOSITORY / "docs" / "house.md").read_text(encoding="utf-8")
    return re.sub(r"```.*?```", "", text, flags=re.S)


def test_every_path_on_the_page_of_the_house_exists():
    words = " ".join(re.findall(r"`([^`]+)`", house())).split()
    paths = {x for x in words if re.fullmatch(r"[\w.]+(/[\w.]+)+|\w+\.(py|md)", x)}
    paths |= set(re.findall(r"\]\(([\w./]+)\)", house()))
    roots = [REPOSITORY / "src" / "liaison", REPOSITORY, REPOSITORY / "docs"]
    names = {x.name for x in roots[0].rglob("*.py")}
    lost = [x for x in paths if x not in names and not any((r / x).exists() for r in roots)]
    assert len(paths) > 40
    assert not lost


def test_every_hop_of_the_four_bar_is_where_the_page_says():
    section = house().split("## A four-bar from text to trajectory\n")[1].split("\n## ")[0]
    hops = re.findall(r"^\| `([\w/]+\.py)` \| `(\w+)` \|", section, re.M)
    assert len(hops) > 20
    for file, name in hops:
        text = (REPOSITORY / "src" / "liaison" / file).read_text(encoding="utf-8")
        assert re.search(rf"^(def|class) {name}\b", text, re.M), f"{file} defines no {name}"


def blocks(page: str, language: str) -> list[str]:
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


@pytest.fixture
def desk(tmp_path) -> Path:
    """An empty folder with the examples in it, so that what a block writes is thrown away."""
    shutil.copytree(REPOSITORY / "examples", tmp_path / "examples")
    return tmp_path


def test_the_readme_has_code():
    assert blocks("README.md", "python")
    assert blocks("README.md", "console")


@pytest.mark.parametrize("block", blocks("README.md", "python"))
def test_python_of_the_readme_runs(block, desk):
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block], cwd=desk, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_lsd_of_the_readme_is_the_pendulum_of_its_python():
    import liaison

    (text,) = blocks("README.md", "lsd")
    (python,) = [x for x in blocks("README.md", "python") if "pendulum.nc" in x]
    names: dict[str, object] = {}
    exec(python.partition("run = ")[0], names)
    runs = [liaison.simulate(x, until=1.0) for x in (liaison.read(text), names["pendulum"])]
    assert runs[0]["A"][-1] == pytest.approx(runs[1]["A"][-1], abs=1e-9)


def test_contributing_names_folders_files_and_targets_that_exist():
    text = (REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = set(
        re.findall(r"^([\w-]+(?: [\w-]+)*):", (REPOSITORY / "Makefile").read_text(), re.M)
    )
    known = {word for line in targets for word in line.split()}
    named = set(re.findall(r"\bmake ([\w-]+)", text))
    assert "test-all" in named
    assert named <= known
    paths = re.findall(r"`((?:src|tests|docs|benchmarks|examples)/[\w./]+)`", text)
    paths += re.findall(r"\]\(([\w./]+)\)", text)
    assert len(paths) > 30
    assert not [path for path in paths if not (REPOSITORY / path).exists()]


def test_python_of_its_own_page_runs_from_top_to_bottom(desk):
    script = desk / "page.py"
    script.write_text("\n".join(blocks("docs/python.md", "python")), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)], cwd=desk, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_every_word_of_the_python_door_is_on_its_page():
    import liaison.model.describe as door

    words = re.search(r"Public names: (.*?)\.\n", door.__doc__, re.S)[1].split()
    page = (REPOSITORY / "docs" / "python.md").read_text(encoding="utf-8")
    missing = [word for word in words if not re.search(rf"\b{word.strip(',')}\b", page)]
    assert not missing


def commands() -> list[str]:
    lines = "\n".join(blocks("README.md", "console")).splitlines()
    return [line[2:] for line in lines if line.startswith("$ liaison")]


@pytest.mark.parametrize("command", commands())
def test_commands_of_the_readme_run(command, desk):
    words = command.split()
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=desk, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def test_the_stubs_of_public_names_are_those_of_the_tables():
    path = REPOSITORY / "docs" / "public_names.py"
    spec = importlib.util.spec_from_file_location("public_names", path)
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    stubs = dict(writer.stubs())
    assert REPOSITORY / "src" / "liaison" / "__init__.pyi" in stubs
    stale = [str(p) for p, text in stubs.items() if p.read_text(encoding="utf-8") != text]
    assert not stale, "run `make tree`"
    on_disk = set((REPOSITORY / "src").rglob("__init__.pyi"))
    assert on_disk == set(stubs)
