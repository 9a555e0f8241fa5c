"""What an extra brings is named by the error where it is missing, and the core works without it."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

import liaison
from liaison.errors import LiaisonError, MissingModule

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PROJECT["project"]["optional-dependencies"]
PENDULUM = "examples/pendulum.lsd"
PAGES = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
IMPORT = re.compile(r"^ *(?:import|from) (\w+)", re.MULTILINE)


def run():
    return liaison.simulate(PENDULUM, until=0.01, step=0.01)


def mesh_in(path):
    corners = "".join(
        f"v {x} {y} {z}\n" for x, y, z in ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    )
    (path / "a.obj").write_text(corners + "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    return str(path / "a.obj")


CALLS = {
    ("pandas", "tables"): lambda path: run().to_pandas(),
    ("xarray", "tables"): lambda path: run().to_xarray(),
    ("matplotlib", "plots"): lambda path: liaison.plot(run()),
    ("matplotlib.figure", "plots"): lambda path: liaison.save_plot(run(), path / "a.png"),
    ("sympy", "sympy"): lambda path: liaison.to_sympy(liaison.t),
    ("casadi", "casadi"): lambda path: liaison.to_casadi(PENDULUM, "forward"),
    ("coacd", "meshes"): lambda path: liaison.Hull.parts(mesh_in(path)),
    ("jax", "jax"): lambda path: liaison.to_jax(
        liaison.lower(liaison.derive(liaison.read(PENDULUM))), "forward"
    ),
}


@pytest.mark.parametrize(("module", "extra"), CALLS)
def test_the_error_names_the_extra(module, extra, monkeypatch, tmp_path):
    for name in [x for x in sys.modules if x.partition(".")[0] == module.partition(".")[0]]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module.partition(".")[0], None)
    with pytest.raises(MissingModule) as error:
        CALLS[module, extra](tmp_path)
    assert f'pip install "liaison-mbd[{extra}]"' in str(error.value)
    assert module.partition(".")[0] in error.value.message
    assert isinstance(error.value, LiaisonError)
    assert isinstance(error.value, ImportError)
    assert any(x.startswith(module.partition(".")[0]) for x in EXTRAS[extra])


def test_what_extras_bring_is_no_dependency_of_the_core():
    core = {x.partition(">")[0] for x in PROJECT["project"]["dependencies"]}
    for extra in ("tables", "plots", "sympy", "jax", "casadi"):
        assert not core & {x.partition(">")[0] for x in EXTRAS[extra]}


def brought_by(extra):
    """Names of what an extra brings, those of the core and of other extras with it."""
    names = {x.partition(">")[0] for x in PROJECT["project"]["dependencies"]}
    for one in EXTRAS[extra]:
        inner = re.match(r"liaison-mbd\[(.*)\]", one)
        parts = inner[1].split(",") if inner else []
        names |= set().union(*map(brought_by, parts)) if parts else {one.partition(">")[0]}
    return names


def test_the_manual_has_what_its_pages_import():
    """Of a new environment `make docs` has no more than the extra."""
    known = {*sys.stdlib_module_names, "liaison", "pytest", *brought_by("docs")}
    for page in PAGES.rglob("*.md"):
        code = "".join(BLOCK.findall(page.read_text(encoding="utf-8")))
        assert {*IMPORT.findall(code)} <= known, page.name
