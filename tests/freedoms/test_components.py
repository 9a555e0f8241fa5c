"""Irreducible components of closures through Singular, against those known by hand."""

import pytest

from liaison.errors import DerivationError
from liaison.expr import evaluate, sin, symbol
from liaison.freedoms.clock import Exhausted
from liaison.freedoms.engines.components import components_of
from liaison.freedoms.engines.engines import SINGULAR, Engine, EngineError, NotThere

from .linkages import constant_velocity_joint, saliere, slider_crank

needs_singular = pytest.mark.skipif(SINGULAR.path() is None, reason="Singular: make algebra")
x, y, z = symbol("x"), symbol("y"), symbol("z")


@needs_singular
def test_two_lines_and_a_point():
    """x (x − 1) = 0, x y = 0: the line x = 0 and the point (1, 0)."""
    found = components_of([x * (x - 1), x * y], [x, y])
    assert [part.dimension for part in found] == [1, 0]
    assert all(evaluate(f, {x: 0, y: 5}) == 0 for f in found[0].equations)
    assert all(evaluate(f, {x: 1, y: 0}) == 0 for f in found[1].equations)


@needs_singular
def test_the_creased_paper_has_four_branches():
    formulas, point = saliere((1, 0), (1, 0), (1, 0))
    found = components_of(formulas, list(point))
    assert [part.dimension for part in found] == [1, 1, 1, 1]


@needs_singular
def test_the_slider_crank_of_equal_lengths_has_two():
    formulas, point = slider_crank((1, 1), (0, 1), (-1, 0), 0)
    found = components_of(formulas, list(point))
    assert [part.dimension for part in found] == [1, 1]
    at = dict(point.items())
    assert all(evaluate(f, at) == 0 for part in found for f in part.equations)  # they meet here


@needs_singular
def test_the_constant_velocity_joint_has_eight():
    formulas, point = constant_velocity_joint()
    found = components_of(formulas, list(point))
    assert [part.dimension for part in found] == [1] * 8


@needs_singular
def test_no_point_no_component():
    assert components_of([x, x - 1], [x, y]) == []


@needs_singular
def test_time_is_bounded():
    with pytest.raises(Exhausted):
        components_of([x * y - 1, y * z - 2], [x, y, z], time_limit=1e-4)


def test_refusals(monkeypatch):
    with pytest.raises(DerivationError, match="sin is no polynomial"):
        components_of([sin(x)], [x])
    monkeypatch.setattr(Engine, "path", lambda self: None)
    with pytest.raises(NotThere, match="Singular is not installed"):
        components_of([x * y], [x, y])


@pytest.mark.parametrize("answer", ["", "component 1\n= x0?", "error\nend", "component 0\n= x0"])
def test_other_answers_are_errors(monkeypatch, answer):
    monkeypatch.setattr(Engine, "run", lambda self, arguments, text: answer)
    with pytest.raises(EngineError):
        components_of([x * y], [x, y])
