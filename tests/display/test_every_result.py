"""Every public class and the result of every verb: a short line, a page of text, HTML.

Results are those of the examples in docstrings, with what these hold, two levels down; a class
that a verb returns and nothing here makes fails the test, so that new verbs are looked at.
"""

import ast
import contextlib
import dataclasses
import doctest
import inspect
import io
import re
import warnings
from pathlib import Path

import pytest

import liaison
from liaison import lazy
from liaison.lazy import Brief, Shown

REPOSITORY = Path(__file__).parents[2]
PENDULUM = REPOSITORY / "examples/pendulum.lsd"
LINE = 130
"""Characters of the `repr` of a result."""

RECORD = 400
"""Of a record of a description, which shows how it is made."""

DUMP = re.compile(r" object at 0x|mappingproxy|dtype=|np\.float64")
NOT_HERE = {
    "GpuKernel": "needs a GPU", "DeviceArray": "needs a GPU", "LiveView": "opens a server",
    "JointType": "is abstract", "Explorer": "needs the extra `notebook`", "Kernel": "is abstract",
    "Settings": "tried below", "RankAlong": "only numbers",
    "DryFriction": "as JointFriction", "MasslessMotion": "of one model of the tests only",
    "ScalarEquations": "as VectorEquations",
}  # fmt: skip


def inner_calls(node):
    """The calls `f(x)` of an expression `str(f(x).y)`; none where names are bound in it."""
    bound = (ast.ListComp, ast.GeneratorExp, ast.DictComp, ast.SetComp, ast.Lambda)
    parts = list(ast.walk(node))
    if any(isinstance(x, bound) for x in parts):
        return [node]
    calls = [x for x in parts if isinstance(x, ast.Call | ast.Attribute)]
    return [node, *(x for x in calls if not isinstance(x, ast.Attribute) or x is node)]


def values_of_example(name):
    """What the lines of the example of a public name assign or evaluate."""
    thing = getattr(liaison, name)
    names: dict[str, object] = {}
    text = inspect.getdoc(thing) if callable(thing) else ""
    for example in doctest.DocTestParser().get_examples(text or ""):
        if example.options.get(doctest.SKIP) or example.exc_msg:
            continue
        (line,) = ast.parse(example.source).body[:1]
        if isinstance(line, ast.Expr):
            for part in inner_calls(line.value):
                yield eval(compile(ast.Expression(part), name, "eval"), names)
        else:
            exec(example.source, names)
    yield from [value for key, value in names.items() if key != "__builtins__"]


def held(value, depth=2):
    """A value and what it holds: the first ones of a tuple or a table, the fields of a record."""
    yield value
    if not depth:
        return
    if isinstance(value, tuple | list):
        inner = value[:3]
    elif isinstance(value, dict):
        inner = list(value.values())[:3]
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        inner = [getattr(value, field.name) for field in dataclasses.fields(value)]
    else:
        return
    for x in inner:
        yield from held(x, depth - 1)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Class -> one object of it; examples write into a folder of their own."""
    desk = tmp_path_factory.mktemp("desk")
    (desk / "examples").symlink_to(REPOSITORY / "examples")
    table = {}
    run = liaison.simulate(PENDULUM, until=0.1)
    for x in (run.show(), liaison.examples()["pendulum"], liaison.first_integrals(PENDULUM)[0]):
        table[type(x).__name__] = x
    with (
        contextlib.chdir(desk),
        contextlib.redirect_stdout(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for name in sorted(liaison.__all__):
            for value in values_of_example(name):
                for x in held(value):
                    if type(x).__module__.startswith("liaison."):
                        table.setdefault(type(x).__name__, x)
    return {name: x for name, x in table.items() if not name.startswith("_")}


def returned():
    """Public classes, and those that public functions return, by name."""
    kinds = {}
    for name in liaison.__all__:
        thing = getattr(liaison, name)
        if not inspect.isclass(thing):
            function = inspect.unwrap(thing) if callable(thing) else None
            note = getattr(function, "__annotations__", {}).get("return", "")
            known = getattr(function, "__globals__", {})
            found = [known.get(x) for x in re.findall(r"\b[A-Z]\w+", str(note))]
        else:
            found = [thing]
        kinds |= {x.__name__: x for x in found if inspect.isclass(x) and is_result(x)}
    return kinds


def is_result(kind):
    return kind.__module__.startswith("liaison.") and not issubclass(kind, BaseException)


@pytest.mark.slow
def test_what_every_verb_returns_is_looked_at(made):
    assert len(made) > 110
    assert returned().keys() - set(made) - set(NOT_HERE) == set()


@pytest.mark.slow
def test_every_object_is_one_short_line(made):
    for name, x in made.items():
        line = repr(x)
        assert "\n" not in line, name
        assert " object at 0x" not in line or name not in returned(), name
        assert len(line) <= (LINE if isinstance(x, Shown) else RECORD), f"{name}: {line}"


@pytest.mark.slow
def test_every_result_is_a_readable_page_and_html(made):
    results = {name: x for name, x in made.items() if isinstance(x, Shown)}
    assert len(results) > 60
    for name, x in results.items():
        text = str(x)
        assert text.strip(), name
        assert not re.search(r" object at 0x|mappingproxy|dtype=|np\.float64", text), (
            f"{name}: {text}"
        )
        assert x._repr_html_().count("<div") == x._repr_html_().count("</div"), name


@pytest.mark.slow
def test_no_record_shows_all_its_fields_as_a_dump(made):
    """Whoever adds a class of results makes it a `Shown`, or it is short by itself."""
    dumps = [
        name
        for name, x in made.items()
        if dataclasses.is_dataclass(x)
        and not isinstance(x, Shown | Brief)
        and type(x).__dataclass_params__.repr
        and len(repr(x)) > LINE
    ]
    assert not dumps


def test_records_leave_out_what_is_as_by_default():
    assert repr(liaison.RunOptions(method="radau")) == "RunOptions(method='radau')"
    assert repr(liaison.Friction(sliding=0.3)) == "Friction(sliding=0.3)"
    assert len(repr(liaison.Settings())) < LINE
    marker = liaison.Marker("rod", p=(0, 0, -1))
    assert repr(marker) == "Marker(body='rod', p=(0, 0, -1))"


def test_huge_equations_are_cut_and_say_how_to_see_all(monkeypatch):
    equations = liaison.derive(REPOSITORY / "examples/pendulum.lsd", "lagrange")
    whole = equations.text()
    assert str(equations) == whole
    monkeypatch.setattr(lazy, "LINES", 4)
    shown = str(equations).splitlines()
    assert shown[:4] == whole.splitlines()[:4]
    more = len(whole.splitlines()) - 4
    assert shown[4:] == [f"… {more} more lines: .text() has all of them, .latex() typeset"]
    assert equations.text() == whole


def test_no_result_has_the_line_that_python_makes():
    """Of a class that a verb returns, or that is public: fields in full, or an address."""
    kinds = returned()
    assert len(kinds) > 90
    plain = [x for x, kind in kinds.items() if kind.__repr__ is object.__repr__ or is_dump(kind)]
    assert set(plain) <= {"JointType"}  # is abstract


def is_dump(kind):
    """A record of many fields whose line has all of them."""
    if not dataclasses.is_dataclass(kind) or issubclass(kind, Shown | Brief):
        return False
    return kind.__dataclass_params__.repr and len(dataclasses.fields(kind)) > 3
