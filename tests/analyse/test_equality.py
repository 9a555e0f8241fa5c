"""Formalisms are proved equal, wrong ones are caught, and what is numerical is called so."""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest

from liaison.analyse.compare.compare import compare, exact_mechanism, proofs
from liaison.analyse.compare.equality import prove
from liaison.analyse.compare.positions import Position, assembled_position
from liaison.equations import FORMALISMS, kane, lagrange_reduced, lie_group, maximal
from liaison.errors import NamingError
from liaison.exact.degrees import degree_bound
from liaison.expr import (
    ZERO,
    absolute,
    collector_paused,
    cos,
    exp,
    maximum,
    sign,
    sin,
    sqrt,
    symbol,
)
from liaison.model import RotationMatrix
from liaison.tree import span
from samples import some
from samples.drawing import draw
from samples.shelf import EXAMPLES, mechanism_of

SHOWN = ["satellite.lsd", "elliptic_pendulum.lsd", "four_bar.lsd", "rolling_disc.lsd", "arm7.urdf"]


def tree_of(name):
    return span(exact_mechanism(mechanism_of(EXAMPLES / name)), exact=True)


@cache
def derived(name):
    """Every formalism on an example, with exact numbers."""
    tree = tree_of(name)
    with collector_paused():
        made = {key: formalism(tree) for key, formalism in FORMALISMS.items() if key != "maximal"}
        return tree, made | {"maximal": maximal(tree, attitude=RotationMatrix())}


def proved(name, equations, key):
    tree, made = derived(name)
    reference = made["newton_euler"]
    return prove(reference, {key: equations}, position=assembled_position(tree))[key]


@pytest.mark.parametrize("name", SHOWN)
def test_every_formalism_is_proved_equal(name):
    found = compare(mechanism_of(EXAMPLES / name), timed=False)
    assert [row.formalism for row in found.rows] == list(FORMALISMS)
    assert found.all_proved, str(found)
    assert all(row.verdict.chance < 1e-15 for row in found.rows)


@pytest.mark.parametrize("seed", some(range(6), 1))
def test_random_mechanisms_are_proved_equal(seed):
    sample = draw(seed, bodies=(1, 8))
    with collector_paused():
        tree = span(exact_mechanism(sample.mechanism), exact=True)
        made = {key: f(tree) for key, f in FORMALISMS.items() if key not in NEEDING}
        made["lagrange_reduced"] = lagrange_reduced(tree, at=sample.q)
        made["maximal"] = maximal(tree, attitude=RotationMatrix())
        reference = made.pop("newton_euler")
        found = prove(reference, made, position=Position(sample.q, None, sample.t))
    assert all(x.equal for x in found.values()), found
    assert all(x.is_proved for key, x in found.items() if key not in NEEDING), found


NEEDING = ("lagrange_reduced", "maximal")
"""Those that are compared where the closures hold."""


# wrong formalisms


def spoiled(equations, how):
    """Equations with one mistake in them."""
    dynamics, closures = equations.dynamics, equations.closures
    if how == "a sign":
        f = list(dynamics.f)
        k = max(range(len(f)), key=lambda k: f[k] is not ZERO)
        return replace(equations, dynamics=replace(dynamics, f=(*f[:k], -f[k], *f[k + 1 :])))
    if how == "a factor":
        key = next(key for key in dynamics.M if dynamics.M[key] is not ZERO)
        M = dict(dynamics.M) | {key: dynamics.M[key] * Fraction(1000001, 1000000)}
        return replace(equations, dynamics=replace(dynamics, M=M))
    if how == "a small term":
        rate = equations.symbols.v[0] * Fraction(1, 10**12)
        f = (dynamics.f[0] + rate, *dynamics.f[1:])
        return replace(equations, dynamics=replace(dynamics, f=f))
    G = dict(closures.G)  # a row with several entries: one alone may have any sign
    rows = [k for k, _ in G]
    key = next(key for key in G if rows.count(key[0]) > 1)
    return replace(equations, closures=replace(closures, G=G | {key: -G[key]}))


@pytest.mark.parametrize("how", ["a sign", "a factor", "a small term"])
@pytest.mark.parametrize("key", sorted({*FORMALISMS} - {"newton_euler"}))
@pytest.mark.parametrize("name", ["satellite.lsd", "rolling_disc.lsd"])
def test_a_mistake_in_a_formalism_is_caught(name, key, how):
    wrong = spoiled(derived(name)[1][key], how)
    assert proved(name, wrong, key).equal is False


@pytest.mark.parametrize(
    ("name", "key"), [("four_bar.lsd", "lagrange"), ("satellite.lsd", "maximal")]
)
def test_a_mistake_in_a_closure_is_caught(name, key):
    wrong = spoiled(derived(name)[1][key], "row")
    assert proved(name, wrong, key).equal is False


def test_a_principle_with_a_term_dropped_is_caught(monkeypatch):
    kept = kane.__globals__["inertia_torsor"]
    still = lambda inertia, omega, rate: kept(inertia, 0 * omega, rate)  # noqa: E731
    monkeypatch.setitem(kane.__globals__, "inertia_torsor", still)
    tree = tree_of("satellite.lsd")
    found = proved("satellite.lsd", kane(tree), "kane")
    assert found.equal is False
    assert found.difference


def test_a_bracket_with_a_wrong_sign_is_caught(monkeypatch):
    kept = lie_group.__globals__["bracket"]
    monkeypatch.setitem(lie_group.__globals__, "bracket", lambda X, Y: kept(Y, X))
    found = proved("satellite.lsd", lie_group(tree_of("satellite.lsd")), "lie_group")
    assert found.equal is False


ONE_SIDED = {
    "abs": (lambda x: absolute(x), lambda x: x),
    "max": (lambda x: maximum(0, x), lambda x: x),
    "sign": (lambda x: sign(x), lambda x: 1),
    "root of a square": (lambda x: sqrt(x**2 + 2 * x + 1), lambda x: x + 1),
}


@pytest.mark.parametrize("name", ONE_SIDED)
def test_what_is_equal_on_one_side_only_is_not_proved(name):
    """Forces that are the same for x > 0: seeds that meet only this side must not convince."""
    force, wrong = ONE_SIDED[name]
    equations = derived("elliptic_pendulum.lsd")[1]["lagrange"]

    def with_force(law):
        f = (equations.dynamics.f[0] + law(equations.symbols.q[0]), *equations.dynamics.f[1:])
        return replace(equations, dynamics=replace(equations.dynamics, f=f))

    for seed in range(8):
        right = prove(with_force(force), {"it": with_force(force)}, seed=seed)["it"]
        other = prove(with_force(force), {"it": with_force(wrong)}, seed=seed)["it"]
        assert (right.is_proved, other.is_proved) == (True, False)


# how it is known


def test_a_loop_that_closes_only_by_its_geometry_is_compared_on_exact_paths():
    tree, made = derived("bennett.lsd")
    found = proofs(tree, made["newton_euler"], made)
    assert found["lagrange"].how.startswith("exactly, modulo")
    for key in NEEDING:
        assert found[key].is_proved
        assert "order 8" in found[key].how


def test_what_is_equal_by_a_law_of_exp_is_not_called_different():
    """exp(2 x) and exp(x)² have different residues."""
    name = "elliptic_pendulum.lsd"
    _, made = derived(name)

    def driven(equations, force):
        f = (equations.dynamics.f[0] + force(equations.symbols.q[1]), *equations.dynamics.f[1:])
        return replace(equations, dynamics=replace(equations.dynamics, f=f))

    once = driven(made["newton_euler"], lambda x: exp(2 * x))
    twice = driven(made["lagrange"], lambda x: exp(x) ** 2)
    result = prove(once, {"lagrange": twice})["lagrange"]
    assert result.equal is not False
    assert not result.is_proved


def test_a_mistake_is_caught_on_exact_paths():
    tree, made = derived("bennett.lsd")
    wrong = {key: spoiled(made[key], "a small term") for key in NEEDING}
    found = prove(made["newton_euler"], wrong, position=assembled_position(tree))
    assert [x.equal for x in found.values()] == [False, False]


def test_without_an_exact_position_the_comparison_is_called_numerical():
    tree, made = derived("bennett.lsd")
    at = assembled_position(tree)
    found = prove(made["newton_euler"], {"maximal": made["maximal"]}, position=Position(at.at))
    assert found["maximal"].equal
    assert not found["maximal"].is_proved
    assert found["maximal"].how.startswith("numerically")


def test_without_a_position_nothing_is_said():
    made = derived("bennett.lsd")[1]
    found = prove(made["newton_euler"], {"maximal": made["maximal"]})
    assert found["maximal"].equal is None


def test_a_formalism_that_is_not_there_is_named():
    with pytest.raises(NamingError, match="did you mean 'lagrange'"):
        compare(mechanism_of(EXAMPLES / "pendulum.lsd"), ["lagrang"])


# what the proof stands on


def test_rotations_are_made_exact():
    sample = draw(3)
    for joint in exact_mechanism(sample.mechanism).joints:
        for marker in (joint.predecessor, joint.successor):
            R = marker.rotation
            assert not any(isinstance(x, float) for x in R.flat)
            product = R @ R.T
            assert all(product[i, j] == (i == j) for i in range(3) for j in range(3))


def test_exact_numbers_stay_as_they_are():
    mechanism = mechanism_of(EXAMPLES / "four_bar.lsd")
    assert exact_mechanism(mechanism).joints == mechanism.joints


def test_the_bound_of_degrees_is_one():
    x, y, z = (symbol(name) for name in "xyz")
    for formula, degree in [
        (x * y + z, 2),
        ((x * y + z) ** 3, 6),
        (x / (y + z) + 1 / (y + z), 2),
        (sin(x) * cos(y) * z, 5),
        (1 / (1 / x + 1 / y), 3),
    ]:
        assert degree_bound([formula]) >= degree
    assert degree_bound([x * y + z]) < 100


def test_where_residues_do_not_decide_floats_are_asked_and_named(monkeypatch):
    """No point modulo a prime: nothing is called proved."""
    import liaison.analyse.compare.equality as proof

    monkeypatch.setattr(proof, "evaluated_somewhere", lambda *given: iter(()))
    tree, made = derived("elliptic_pendulum.lsd")
    found = prove(made["newton_euler"], {"kane": made["kane"]}, position=assembled_position(tree))
    assert found["kane"].equal
    assert not found["kane"].is_proved
    unknown = prove(made["newton_euler"], {"kane": made["kane"]})
    assert unknown["kane"].equal is None
