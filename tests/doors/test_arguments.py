"""Arguments of wrong kinds are refused by errors that name them."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import liaison
from liaison.arguments import checked
from liaison.errors import ArgumentError, LiaisonError, ModelError, NamingError, OptionError


@checked
def sample(
    x: float,
    n: int = 1,
    *,
    name: str = "",
    is_quick: bool = False,
    file: str | Path | None = None,
    values: Mapping[str, float] | None = None,
    words: Mapping[str, str] | None = None,
    labels: Sequence[str] = (),
    times: float | Sequence[float] | None = None,
    call: Callable[[float], None] | None = None,
    way: Literal["up", "down"] = "up",
    anything: Any = None,
) -> str:
    """Takes one of each."""
    return "taken"


GOOD = [
    {"x": 1}, {"x": np.float32(2)}, {"x": np.array(2.0)}, {"x": math.inf}, {"n": 10.0},
    {"n": np.int64(3)}, {"is_quick": np.bool_(True)}, {"file": Path("a")}, {"file": None},
    {"values": {"a": 1}}, {"words": {"a": "b"}}, {"labels": ["a", "b"]}, {"labels": "a"},
    {"times": 0.1}, {"times": np.arange(3)}, {"times": (1, 2.5)}, {"call": print},
    {"way": "down"}, {"anything": object()},
]  # fmt: skip

BAD = [
    {"x": "1"}, {"x": None}, {"x": math.nan}, {"x": 1j}, {"x": [1.0]}, {"n": 1.5}, {"n": 10**30},
    {"name": 3}, {"is_quick": "yes"}, {"file": 3}, {"file": b"a"}, {"values": 5}, {"values": [1]},
    {"values": {1: 2.0}}, {"words": {"a": 1}}, {"labels": 3}, {"labels": [1]}, {"times": "0.1"},
    {"times": ["a"]}, {"times": {"a": 1}}, {"call": 5}, {"way": 3},
]  # fmt: skip


def name_of(case: dict[str, Any]) -> str:
    """The same in every process: no address of an object."""
    ((name, value),) = case.items()
    return f"{name}-{type(value).__name__}"


@pytest.mark.parametrize("good", GOOD, ids=name_of)
def test_what_fits_is_taken(good):
    assert sample(**({"x": 1.0} | good)) == "taken"


@pytest.mark.parametrize("bad", BAD, ids=name_of)
def test_what_does_not_fit_is_named(bad):
    (name,) = bad
    with pytest.raises(ArgumentError, match=f"sample: {name} is .*; it must be "):
        sample(**({"x": 1.0} | bad))


def test_positional_arguments_are_checked_too():
    with pytest.raises(ArgumentError, match="sample: n is 'a'; it must be a whole number"):
        sample(1.0, "a")


def test_verbs_are_found_again_by_pickle():
    assert pickle.loads(pickle.dumps(liaison.simulate)) is liaison.simulate


@pytest.mark.parametrize(
    "options",
    [
        {"until": "1"}, {"start": [1]}, {"inputs": 5}, {"max_steps": 10**30}, {"time_limit": -1},
        {"progress": 3}, {"series": 3}, {"every": "x"}, {"projection": 1}, {"state": "here"},
        {"parameters": 1}, {"options": {}}, {"rtol": "small"}, {"step": [1]}, {"max_steps": 0},
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("verb", ["simulate", "simulate_batch"])
def test_runs_refuse_wrong_options(verb, options, examples):
    if verb == "simulate_batch" and "state" in options:
        options = {"states": ["here"]}
    (name,) = options
    given = {"until": 0.01, **options}
    with pytest.raises(LiaisonError, match=f"{name}|states"):
        getattr(liaison, verb)(examples / "pendulum.lsd", **given)


def test_other_verbs_refuse_wrong_arguments(examples):
    tree = liaison.span(liaison.read(examples / "pendulum.lsd"))
    calls = [
        (lambda: liaison.span(3), "span: mechanism is 3"),
        (lambda: liaison.assemble(tree, A=math.nan), "A"),
        (lambda: liaison.assemble("tree"), "assemble: tree is"),
        (lambda: liaison.mobility(examples / "pendulum.lsd", at=3), "mobility: at is 3"),
        (lambda: liaison.derive(examples / "pendulum.lsd", treatment="x"), "treatment is 'x'"),
        (lambda: liaison.load(3), "load: path is 3"),
        (lambda: liaison.read(None), "read: source is None"),
        (lambda: liaison.read(examples / "pendulum.lsd", strict=True), "strict"),
    ]
    for call, words in calls:
        with pytest.raises(LiaisonError, match=words):
            call()


def test_descriptions_refuse_wrong_arguments():
    b = liaison.body("b", mass=1, inertia=(1, 1, 1))
    calls = [
        (lambda: liaison.body(3), "body: name is 3"),
        (lambda: liaison.body("b", shapes=["x"]), "body: shapes is"),
        (lambda: liaison.spring((b, b), stiffness=3.0), "is no coordinate"),
        (lambda: liaison.friction(None, viscous=1), "no coordinate|on is None"),
        (lambda: liaison.join(liaison.ground, b, liaison.Revolute, name="A", axis=(1e-320, 0, 0)),
         "axis"),
    ]  # fmt: skip
    for call, words in calls:
        with pytest.raises((ModelError, ArgumentError), match=words):
            call()


def test_an_error_of_a_description_names_the_line_of_the_author():
    with pytest.raises(ModelError) as caught:
        liaison.spring((1, 2), stiffness=3.0)
    assert caught.value.place.file == __file__


def test_what_a_run_decides_is_refused_beside_it(examples):
    """A run has its own parameters, instants and tolerances: others beside it would be ignored."""
    path = examples / "four_bar.lsd"
    run = liaison.simulate(path, until=0.02, every=0.01)
    calls = [
        (lambda: liaison.verify(path, run, until=5.0), "until is of a run"),
        (lambda: liaison.verify(path, run, rtol=1e-3), "rtol is of a run"),
        (lambda: liaison.inverse_dynamics(path, run, ["A"], parameters={"a": 1.0}), "parameters"),
        (lambda: liaison.inverse_dynamics(path, run, ["A"], t=0.01), "t is of one state"),
        (lambda: liaison.singularities(path, run, at={"A": 1.0}), "takes no option 'at'"),
    ]
    for call, words in calls:
        with pytest.raises(LiaisonError, match=words):
            call()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: liaison.motor("A", torque=5), "motor takes no option 'torque'"),
        (lambda: liaison.motor("A"), "motor needs the argument 'effort'"),
        (lambda: liaison.spring("A", stifness=5), "'stifness'; did you mean 'stiffness'"),
        (lambda: liaison.body("b", mas=1), "did you mean 'mass'"),
        (lambda: liaison.simulate("examples/pendulum.lsd"), "simulate needs the argument 'until'"),
        (lambda: sample(), "sample needs the argument 'x'"),
        (lambda: sample(1, nmae=""), "did you mean 'name'"),
    ],
)
def test_arguments_that_are_missing_or_not_taken_are_named(call, words):
    with pytest.raises((ArgumentError, OptionError), match=words):
        call()


def test_an_event_is_described_by_the_word_of_lsd():
    both = liaison.event("e", liaison.coordinate("A"), direction="crossing")
    assert both.direction == liaison.event("e", liaison.coordinate("A")).direction == 0
    for wrong in ("sideways", True, 2):
        with pytest.raises(ModelError, match="has direction"):
            liaison.event("e", liaison.coordinate("A"), direction=wrong)


@pytest.mark.parametrize("verb", [liaison.simulate, liaison.simulate_batch])
def test_a_misspelled_argument_is_proposed_as_an_option_is(verb):
    with pytest.raises(OptionError, match=r"no option 'starts'; did you mean 'start'\?"):
        verb("examples/pendulum.lsd", until=0.01, starts={"A": 1})


def test_arguments_of_overloaded_verbs_are_checked():
    with pytest.raises(ArgumentError, match="inverse_dynamics: parameters is 3"):
        liaison.inverse_dynamics("examples/pendulum.lsd", None, None, parameters=3)
    with pytest.raises(ArgumentError, match="vector_equations: bodies is 3"):
        liaison.vector_equations("examples/pendulum.lsd", bodies=3)


def test_a_call_that_python_cannot_begin_is_explained():
    with pytest.raises(OptionError, match=r"no option 'inndependent'; did you mean"):
        liaison.linearize("examples/pendulum.lsd", inndependent=("A",))
    with pytest.raises(ArgumentError, match="Its arguments are given, body"):
        liaison.inverse_kinematics("examples/pendulum.lsd", "bar")


def test_errors_inside_a_call_stay_what_they_are():
    @checked
    def failing(x: float) -> float:
        return len(x)  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="has no len") as error:
        failing(1.0)
    assert not isinstance(error.value, LiaisonError)


@pytest.mark.parametrize(
    ("verb", "name", "value"),
    [
        ("singularities", "steps", 0), ("singularities", "step", -1.0),
        ("singularities", "near", 0.0),
        ("mobility", "primes", 0), ("mobility", "order", -1), ("reduce", "primes", -1),
        ("compare", "points", 0),
    ],
)  # fmt: skip
def test_searches_and_proofs_that_would_look_at_nothing_are_rejected(verb, name, value):
    """Without a step, "the rank drops nowhere"; without a prime, nothing is proved."""
    with pytest.raises(ArgumentError, match=f"{verb}: {name} is .* above 0"):
        getattr(liaison, verb)("examples/four_bar.lsd", **{name: value})


def test_notes_of_a_writer_go_to_a_list():
    mechanism = liaison.read("examples/pendulum.lsd")
    with pytest.raises(ArgumentError, match=r"notes is .* a list"):
        liaison.write_urdf(mechanism, notes=())


RECORDS: list[tuple[Callable[[], Any], str]] = [
    (lambda: liaison.Box(size=(1, 2, 3)), r"Box takes no option 'size'.*x, y, z, R, p, color\."),
    (lambda: liaison.Cylinder(0.1, height=1), "'height'; did you mean 'length'"),
    (lambda: liaison.Marker("b", pos=(0, 0, 1)), r"'pos'; did you mean 'p'.*body, R, p, name\."),
    (lambda: liaison.Sphere(r=1), "'r'; did you mean 'radius'"),
    (lambda: liaison.Cone(1), "Cone needs the argument 'height'"),
    (lambda: liaison.Box(1, 2, 3, x=4), "Box is given 'x' twice"),
    (lambda: liaison.Sphere(1, 2, 3, 4, 5), "Sphere takes 4 arguments in place, not 5"),
    (lambda: liaison.Revolute(axis=(1, 0, 0)), "Revolute takes no option 'axis'.*no arguments"),
    (lambda: liaison.Friction(slidng=1), "did you mean 'sliding'"),
    (lambda: liaison.join(liaison.ground, liaison.ground, "revolute", axes=1), "mean 'axis'"),
    (lambda: liaison.simulate("examples/pendulum.lsd", until=1, dt=1), "did you mean 'step'"),
    (lambda: liaison.collide("examples/pile.lsd").run(1, stepp=1), "Scene.run .* mean 'step'"),
    (lambda: liaison.collide("examples/pile.lsd").simulate(1), "Scene.simulate needs .*'step'"),
]


@pytest.mark.parametrize(("call", "words"), RECORDS)
def test_records_say_which_arguments_they_take(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TypeError, match=f"(?s){words}") as caught:
        call()
    assert isinstance(caught.value, LiaisonError)


def test_a_text_for_a_row_of_texts_is_the_only_one_of_it() -> None:
    @checked
    def row(first: str, names: Sequence[str] = (), *, more: Sequence[str] | None = None) -> Any:
        return first, tuple(names), more

    assert row("ab", "ab", more="cd") == ("ab", ("ab",), ("cd",))
    assert row("ab", names="cd") == ("ab", ("cd",), None)
    assert row("ab", ["cd", "ef"]) == ("ab", ("cd", "ef"), None)
    pendulum, options = "examples/pendulum.lsd", liaison.RunOptions(series="reactions")
    by_name = liaison.simulate(pendulum, until=0.1, series="reactions")
    assert "reactions" in by_name.series
    assert "reactions" in liaison.simulate(pendulum, until=0.1, options=options).series
    with pytest.raises(NamingError, match="no series is named 'reaction'; did you mean"):
        liaison.simulate(pendulum, until=0.1, only_series="reaction")


def test_a_type_error_within_a_record_stays() -> None:
    with pytest.raises(TypeError, match="not iterable") as caught:
        liaison.Line(points=3)  # type: ignore[arg-type]
    assert not isinstance(caught.value, OptionError)
