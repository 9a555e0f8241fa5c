"""The wheel: what is in it, that it works by itself, and how large and quick it is installed."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
SIZE, IMPORT = 480e6, 0.02
"""At most: bytes of the core with its dependencies, processor time of `import liaison` [s]."""

TIMED = "import time; a = time.process_time(); import liaison; print(time.process_time() - a)"
SMOKE = """
import liaison
path = liaison.examples()["four_bar"].path
run = liaison.simulate(path, until=0.2)
energy = run["energy"].sum(axis=1)
assert run.success and abs(energy - energy[0]).max() < 1e-6, run.message
print(liaison.__file__)
"""
MISSING = """
import liaison
try:
    liaison.simulate(liaison.examples()["pendulum"].path, until=0.1).to_pandas()
except ImportError as error:
    print(error)
"""


def call(*words: object, **environment: str) -> str:
    """What a command prints; it runs outside of the repository."""
    clean = {x: y for x, y in os.environ.items() if x not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(x) for x in words], capture_output=True, text=True, cwd="/", env=clean | environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder]
    call(sys.executable, "-m", "pip", "wheel", *options, REPOSITORY)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    zipfile.ZipFile(wheel).extractall(folder)
    return folder


def test_the_wheel_has_everything_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {x.split("/")[0].partition("-")[0] for x in names} == {"liaison", "liaison_mbd"}
    assert {"liaison/shipped/four_bar.lsd", "liaison/__init__.pyi"} <= set(names)
    assert not [x for x in names if "__pycache__" in x or x.startswith("tests")]
    sources = {str(x.relative_to(REPOSITORY / "src")) for x in REPOSITORY.glob("src/**/*.py")}
    assert sources <= set(names)
    front_end = {f"liaison/view/pages/built/{x}" for x in ("page.js", "page.css", "notices.txt")}
    assert front_end <= set(names)


def test_metadata_are_complete(unpacked):
    (path,) = unpacked.glob("*.dist-info/METADATA")
    data = Parser().parsestr(path.read_text(encoding="utf-8"))
    extras = {
        "all",
        "casadi",
        "dev",
        "docs",
        "jax",
        "notebook",
        "peers",
        "plots",
        "sympy",
        "tables",
        "view",
    }
    assert extras <= set(data.get_all("Provides-Extra"))
    assert data["Requires-Python"] == ">=3.11"
    assert data["License-Expression"] == "BSD-3-Clause"
    assert "liaison" in data.get_payload()
    tried = (REPOSITORY / "docs" / "install.md").read_text(encoding="utf-8")
    versions = re.findall(r":: (3\.\d+)$", "\n".join(data.get_all("Classifier")), re.M)
    assert versions
    assert all(f"| {x} |" in tried for x in versions)


def test_the_wheel_runs_by_itself(unpacked):
    printed = call(sys.executable, "-c", SMOKE, PYTHONPATH=str(unpacked))
    assert Path(printed) == unpacked / "liaison" / "__init__.py"


def test_import_is_quick(unpacked):
    call(sys.executable, "-c", TIMED, PYTHONPATH=str(unpacked))  # makes bytecode
    times = [float(call(sys.executable, "-c", TIMED, PYTHONPATH=str(unpacked))) for _ in range(3)]
    assert min(times) <= IMPORT


def pythons() -> list[str]:
    """Every Python from 3.11 on that is installed here."""
    names = [f"python3.{k}" for k in range(11, 20)]
    found = [shutil.which(x) for x in names]
    found += [str(x) for x in Path("~/.pyenv/versions").expanduser().glob("3.*/bin/python")]
    by_version: dict[str, str] = {}
    ask = "import sys; print(*sys.version_info[:2], sep='.')"
    for path in filter(None, found):
        done = subprocess.run([path, "-c", ask], capture_output=True, text=True)
        version = done.stdout.strip()
        if done.returncode == 0 and int(version.split(".")[1]) >= 11:
            by_version.setdefault(version, path)
    return list(by_version.values())


@pytest.mark.slow
def test_the_core_installs_in_every_python(wheel, tmp_path, capsys):
    tried = []
    for python in pythons():
        place = tmp_path / "environment"
        call(python, "-m", "venv", "--clear", place)
        own = place / "bin" / "python"
        empty = size_of(place)
        done = subprocess.run(
            [own, "-m", "pip", "install", "--quiet", wheel], capture_output=True, text=True
        )
        if done.returncode:
            pytest.skip(f"no index of packages: {done.stderr[-200:]}")
        assert str(place) in call(own, "-c", SMOKE)
        assert 'pip install "liaison-mbd[tables]"' in call(own, "-c", MISSING)
        assert "check" in call(place / "bin" / "liaison", "--help")
        size = size_of(place) - empty
        seconds = min(float(call(own, "-c", TIMED)) for _ in range(3))
        tried.append((call(own, "--version"), round(size / 1e6), seconds))
        assert size <= SIZE
        assert seconds <= IMPORT
    with capsys.disabled():
        print("\n", *(f"{v}: {mb} MB, import {s:.4f} s" for v, mb, s in tried), sep="\n  ")
    assert tried


def size_of(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(x.stat().st_size for x in folder.rglob("*") if x.is_file() and not x.is_symlink())
