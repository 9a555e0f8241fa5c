"""Examples are listed, shown and copied, in Python and on the command line."""

import json
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import liaison
from liaison.cli import main
from liaison.errors import LiaisonError, NamingError

REPOSITORY = Path(__file__).parents[2]


def said(capsys, *words, status=0):
    with pytest.raises(SystemExit) as left:
        main([str(x) for x in words])
    assert (left.value.code or 0) == status
    return capsys.readouterr()


def test_every_text_is_listed_with_a_line():
    known = liaison.examples()
    files = {x.stem for x in (REPOSITORY / "examples").rglob("*.lsd")}
    assert {Path(name).name for name in known} >= files
    for name, x in known.items():
        assert x.path.is_file()
        assert 10 < len(x.summary) <= 102, name
        assert "*)" not in x.summary
    assert "four_bar " in str(known)
    assert repr(known).startswith("Examples(")
    with pytest.raises(NamingError, match="did you mean 'four_bar'"):
        known["four_bars"]


def test_a_copy_runs_and_is_not_overwritten(tmp_path):
    path = liaison.examples()["pendulum"].copy(tmp_path / "new")
    assert path.read_text() == (REPOSITORY / "examples" / "pendulum.lsd").read_text()
    assert liaison.simulate(path, until=0.01).success
    with pytest.raises(LiaisonError, match="there is a file"):
        liaison.examples()["pendulum"].copy(tmp_path / "new")
    (tmp_path / "file").write_text("")
    with pytest.raises(LiaisonError, match="cannot be written"):
        liaison.examples()["pendulum"].copy(tmp_path / "file")


def test_the_command_lists_shows_and_copies(capsys, tmp_path):
    assert "contact/loop" in said(capsys, "examples").out
    assert said(capsys, "examples", "pendulum").out.startswith("(* A pendulum")
    listed = json.loads(said(capsys, "examples", "--json").out)["examples"]
    assert {"name", "summary", "file"} == set(listed[0])
    assert "written" in said(capsys, "examples", "contact/loop", "--copy", tmp_path).out
    assert (tmp_path / "loop.lsd").is_file()
    everything = json.loads(said(capsys, "examples", "--copy", tmp_path / "all", "--json").out)
    assert len(everything["copies"]) == len(listed)
    assert (tmp_path / "all" / "contact" / "loop.lsd").is_file()
    assert "did you mean" in said(capsys, "examples", "pendulm", status=2).err


def linked_core(site: Path) -> None:
    """Links the core dependencies of the package, and theirs, into an environment."""
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    left, seen = list(project["project"]["dependencies"]), set()
    while left:
        requirement = Requirement(left.pop())
        name = canonicalize_name(requirement.name)
        if name in seen or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        seen.add(name)
        found = distribution(name)
        left += found.requires or []
        for top in {
            x.parts[0] for x in found.files or () if x.parts[0] not in ("..", "__pycache__")
        }:
            if not (site / top).exists():
                (site / top).symlink_to(found.locate_file(top))


@pytest.mark.slow
def test_the_wheel_brings_examples_and_runs_without_extras(tmp_path):
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=REPOSITORY, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("liaison_mbd-*.whl")
    assert liaison.__version__ in wheel.name
    venv.create(tmp_path / "env", with_pip=True)
    bin_ = tmp_path / "env" / "bin"
    pip = [str(bin_ / "python"), "-m", "pip", "--disable-pip-version-check", "-q", "install"]
    subprocess.run([*pip, "--no-deps", str(wheel)], check=True, capture_output=True)
    linked_core(next((tmp_path / "env" / "lib").glob("python*/site-packages")))

    def run(*words, status=0):
        done = subprocess.run(
            [str(bin_ / words[0]), *words[1:]], cwd=tmp_path, capture_output=True, text=True,
            env={"PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert done.returncode == status, done.stderr
        return done.stdout if status == 0 else done.stderr

    assert str(tmp_path) in run("python", "-c", "import liaison; print(liaison.__file__)")
    for missing in ("pandas", "xarray", "sympy", "matplotlib", "jinja2"):
        assert missing in run("python", "-c", f"import {missing}", status=1)
    run("liaison", "examples", "four_bar", "--copy", "here")
    assert "1 loop" in run("liaison", "check", "here/four_bar.lsd")
    run(
        "liaison",
        "simulate",
        "here/four_bar.lsd",
        "--until",
        "0.1",
        "--out",
        "a.nc",
        "--csv",
        "a.csv",
    )
    run("liaison", "derive", "here/four_bar.lsd")
    run("liaison", "mobility", "here/four_bar.lsd")
    message = run("liaison", "animate", "here/four_bar.lsd", "--out", "a.html", status=1)
    assert 'pip install "liaison-mbd[view]"' in message
    message = run("liaison", "simulate", "here/four_bar.lsd", "--plot", "a.png", status=1)
    assert 'pip install "liaison-mbd[plots]"' in message
