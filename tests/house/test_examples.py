"""Every public name has a docstring with an example, and every example runs as it is printed."""

import doctest
import importlib.util
import inspect
import sys
from pathlib import Path

import pytest

import liaison

REPOSITORY = Path(__file__).parents[2]
SLOW = {"Singularities", "maximal_run", "page", "plot", "report", "save_plot", "singularities"}
"""Names whose examples take long; other tests call them too."""


NEEDS = {
    "DeviceArray": "a GPU", "to_gpu": "a GPU", "to_jax": "jax", "explore": "anywidget",
    "to_casadi": "casadi",
    "animation": "pages", "page": "pages", "show": "pages",
}  # fmt: skip
"""Names whose examples need something that is not everywhere; they run where it is there."""


def is_there(what: str) -> bool:
    """Whether an extra is installed, the front end of pages is built, or there is a GPU."""
    if what == "pages":
        return (REPOSITORY / "src/liaison/view/pages/built/page.js").exists()
    if what == "a GPU":
        return bool(list(Path("/dev").glob("nvidia[0-9]*")))
    return importlib.util.find_spec(what) is not None


@pytest.fixture(scope="module")
def docstring_of():
    """The manual's function for the docstring of a public name."""
    sys.path.insert(0, str(REPOSITORY / "docs" / "manual"))
    from api_pages import docstring_of

    sys.path.pop(0)
    return docstring_of


@pytest.fixture
def desk(tmp_path, monkeypatch) -> Path:
    """A folder with the examples in it, where examples may write."""
    pytest.importorskip("matplotlib").use("agg")
    (tmp_path / "examples").symlink_to(REPOSITORY / "examples")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def failures(name: str, text: str) -> list[str]:
    """Of the examples in a docstring, what each that fails gives."""
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    test = doctest.DocTestParser().get_doctest(text, {}, name, name, 0)
    runner.run(test, out=said.append)
    return said


def test_every_public_name_has_an_example(docstring_of, capsys):
    without = [x for x in liaison.__all__ if ">>> " not in docstring_of(x)]
    skipped = [x for x in liaison.__all__ if "+SKIP" in docstring_of(x)]
    missing = {x: what for x, what in NEEDS.items() if not is_there(what)}
    with capsys.disabled():
        print(f"\npublic names: {len(liaison.__all__)}, with an example: "
              f"{len(liaison.__all__) - len(without)}; not run here: "
              f"{', '.join(f'{x} ({what})' for x, what in missing.items())}")  # fmt: skip
    assert not without
    assert not skipped


@pytest.mark.filterwarnings("ignore::liaison.errors.ReadingWarning")
def test_the_examples_of_public_names_run(docstring_of, desk):
    names = [x for x in liaison.__all__ if x not in SLOW and is_there(NEEDS.get(x, "liaison"))]
    assert not [x for name in names for x in failures(name, docstring_of(name))]
    assert (desk / "run.nc").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SLOW))
def test_the_longer_examples_run(name, docstring_of, desk):
    if not is_there(NEEDS.get(name, "liaison")):
        pytest.skip(f"there is no {NEEDS[name]}")
    assert not failures(name, docstring_of(name))


def methods():
    """Methods of public classes that have an example of their own."""
    for name in liaison.__all__:
        thing = getattr(liaison, name)
        if inspect.isclass(thing):
            for member in dir(thing):
                text = "" if member.startswith("_") else inspect.getdoc(getattr(thing, member))
                if ">>> " in (text or ""):
                    yield f"{name}.{member}", text


def test_the_examples_of_methods_run(desk, capsys):
    own = dict(methods())
    with capsys.disabled():
        print(f"\nmethods with an example that runs: {len(own)}")
    assert len(own) >= 20
    assert not [x for name, text in own.items() for x in failures(name, text)]


def test_an_example_that_is_wrong_is_seen():
    assert failures("x", ">>> 1 + 1\n3\n")
    assert failures("x", ">>> import liaison\n>>> liaison.nothing\n")
    assert not failures("x", ">>> 1 + 1\n2\n")
