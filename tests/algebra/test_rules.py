"""Every rule is a row, changes no value, and makes the measure of its term smaller."""

import pytest
from hypothesis import given, settings

from liaison.algebra import (
    IDENTITIES,
    RULES,
    conjugate,
    derivative,
    determinant,
    dot,
    is_zero_by_components,
    matrix,
    pure,
    quaternion,
    reduced,
    rotation_matrix,
    scalar,
    trace,
    ulysse,
    vector,
)
from liaison.algebra.rules.reduce import flatten, to_formal
from liaison.algebra.rules.rule import measure
from liaison.algebra.rules.terms import LEFT, RIGHT, added, scaled
from liaison.expr import sin, symbol
from samples.formal import expressions


def applications(x):
    """Every (rule, term, result) on the way of x to its normal form, one rule at a time."""
    waiting = dict(flatten(x))
    while waiting:
        term, c = waiting.popitem()
        for rule in RULES:
            result = rule.apply(term)
            if result is not None:
                yield rule, term, result
                waiting = added(waiting, scaled(result, c))
                break


def kind_of(term):
    """Which placeholders a term holds says of which kind it is."""
    if any(factor[0] == "quat" for factor in term):
        return "quaternion"
    text = repr(term)
    holds = repr(LEFT) in text, repr(RIGHT) in text
    return {(False, False): "scalar", (True, False): "vector", (False, True): "row"}.get(
        holds, "matrix"
    )


def check(term, result):
    assert all(measure(new) < measure(term) for new in result)
    kind = kind_of(term)
    assert is_zero_by_components(to_formal({term: 1}, kind) - to_formal(result, kind))


x, m = symbol("x"), scalar("m")
p, q, a = quaternion("p"), quaternion("q", unit=True), vector("a")
u, R, A = vector("u", unit=True), rotation_matrix("R"), matrix("A")
CORPUS = [
    *(identity.difference for identity in IDENTITIES),
    ulysse(),
    sin(x) ** 2 * a,
    m * a / m,
    determinant(R) * a,
    p * conjugate(p) * pure(a) * pure(a) * conjugate(pure(a)),
    derivative(dot(u, u), 4),
    trace(A @ R @ R.T),
    trace(A @ R @ A @ R.T @ A.T),
]


@pytest.fixture(scope="module")
def seen():
    """For each rule's name, the terms of the corpus it was applied to."""
    found = {}
    for expression in CORPUS:
        for rule, term, result in applications(expression):
            found.setdefault(rule.name, {})[term] = result
    return found


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_acts_keeps_the_value_and_makes_the_measure_smaller(rule, seen):
    assert seen.get(rule.name), f"no term of the corpus meets the rule {rule.name!r}"
    for term, result in list(seen[rule.name].items())[:40]:
        check(term, result)


def test_names_of_rules_are_different_and_all_say_their_law():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(rule.statement for rule in RULES)


@given(expressions(with_matrices=True))
@settings(max_examples=20)
def test_every_application_on_the_way_of_a_random_expression_is_right(x):
    for index, (_, term, result) in enumerate(applications(x)):
        if index > 60:
            break
        check(term, result)


@given(expressions(with_matrices=True))
@settings(max_examples=20)
def test_the_normal_form_has_the_value_of_the_expression_and_stays_as_it_is(x):
    normal = reduced(x)
    assert is_zero_by_components(x - normal)
    assert reduced(normal) is normal
