"""Every statement that is called proved has evidence; what has none is called likely."""

import pytest

import liaison
from liaison.analyse.proofs.integrability import integrability
from liaison.exact.evidence import PRIME_COUNT, Evidence, accident, power_of_ten
from liaison.exact.linear import PRIME_STEP, is_prime
from liaison.exact.residues import DEFAULT_PRIME
from liaison.expr import cos, sin
from liaison.model import Prismatic, Revolute
from liaison.model.describe import (
    body,
    coordinate,
    ground,
    holonomic,
    join,
    mechanism,
    nonholonomic,
    rate,
)
from samples.shelf import EXAMPLES

SLIDER = """
let cart = body mass = 2 kg end ;
let X = join earth and cart with prismatic axis = [1, 0, 0] end ;
start X' = 1 m/s ;
let push = apply motor force = {} end on X ;
"""


def is_whole(x: Evidence) -> bool:
    """Nothing is missing that a reader needs."""
    facts = x.to_dict()
    return all(facts[key] for key in ("statement", "computed", "numbers", "theorem", "repeat"))


def test_the_number_of_primes_that_can_be_drawn():
    first, last = 2**60 // PRIME_STEP + 1, 2**61 // PRIME_STEP
    assert sum(is_prime(k * PRIME_STEP - 1) for k in range(first, last)) == PRIME_COUNT


def test_the_text_of_evidence():
    sure = Evidence(
        "a = b", True, "both", "residues", "Schwartz", 3e-17, "degree 4", (7,), 0, "f()"
    )
    text = str(sure)
    assert text.startswith("Proved: a = b.")
    assert "below 1e-16 (degree 4)" in text
    assert "f() (seed 0)" in text
    unsure = Evidence("a = b", False, "both", "floats", "no identity is shown in floats")
    assert str(unsure).startswith("Likely: a = b.")
    assert "Chance" not in str(unsure)
    assert (power_of_ten(0.5), accident(2**50, 2)) == ("1e0", 2.0**-20)


@pytest.mark.parametrize("name", ["bennett.lsd", "slider_crank_equal.lsd", "shaky_6r.lsd"])
def test_mobility_and_redundancy_have_evidence(name):
    found = liaison.mobility(EXAMPLES / name, seed=3)
    number, *others = found.evidence
    assert (number.is_proved, number.seed, number.primes) == (True, 3, found.primes)
    assert others
    assert all(is_whole(x) for x in found.evidence)
    assert found.to_dict()["evidence"][0]["primes"] == list(found.primes)


def test_a_number_that_is_likely_has_likely_evidence():
    names = ("X", "Y")
    joints = [join(ground, body(name, mass=1), Prismatic, name=name) for name in names]
    x, y = map(coordinate, names)
    found = liaison.mobility(mechanism(*joints, holonomic("row", (y - x**2) ** 2 + x**30)))
    assert (found.finite, found.is_proved) == ((1, 1), False)  # it is isolated, in truth
    assert not found.evidence[0].is_proved
    assert str(found.evidence[0]).startswith("Likely: ")


def test_a_proof_that_is_carried_to_a_position_names_its_theorems():
    found = liaison.mobility(EXAMPLES / "bennett.lsd", at={"H1": 0.3})
    assert found.is_proved
    assert "identity theorem" in found.evidence[0].theorem
    assert found.evidence[0].chance > 0  # of the path at the exact position


def test_a_position_in_floats_is_proved_in_balls():
    found = liaison.mobility(EXAMPLES / "four_bar.lsd", at={"A": 0.3})
    number, rows, reactions = found.evidence
    assert (number.is_proved, rows.is_proved, reactions.is_proved) == (True, True, False)
    assert "balls" in number.numbers
    assert "Krawczyk" in number.theorem


def test_assembly_modes_have_evidence():
    found = liaison.assembly_modes(EXAMPLES / "four_bar.lsd", at={"A": 0.3})
    assert [x.is_proved for x in found.evidence] == [True, False]  # of data that are rounded
    assert "rounded" in found.evidence[1].theorem
    assert all(is_whole(x) for x in found.evidence)
    exact = liaison.assembly_modes(EXAMPLES / "four_bar.lsd", at={"A": 0})
    assert [x.is_proved for x in exact.evidence] == [True, True]
    open_ones = liaison.assembly_modes(EXAMPLES / "bennett.lsd", at={"H1": 0.3})
    assert not open_ones.is_complete
    assert not open_ones.evidence[1].is_proved


def test_formalisms_have_evidence():
    found = liaison.compare(EXAMPLES / "elliptic_pendulum.lsd", timed=False, seed=2)
    assert len(found.evidence) == sum(row.equations > 0 for row in found.rows) - 1
    for x in found.evidence:
        assert (x.is_proved, x.seed, len(x.primes)) == (True, 2, 2)
        assert 0 < x.chance < 1e-20
        assert is_whole(x)
    assert found.facts()["evidence"]


@pytest.mark.parametrize("law", ["X", "X'*(1 s)"])
def test_a_number_that_is_the_prime_is_not_zero(law):
    """A force that vanishes modulo the first prime takes the momentum none the less."""
    names = {x.name for x in liaison.first_integrals(
        liaison.read(SLIDER.format(f"-{DEFAULT_PRIME} N/m*{law}")))}  # fmt: skip
    assert "momentum of X" not in names
    assert "momentum along x" not in names


def test_first_integrals_have_evidence_and_do_not_depend_on_the_seed():
    found = [liaison.first_integrals(liaison.read(SLIDER.format("0 N")), seed=k) for k in range(3)]
    assert len({tuple(x.name for x in integrals) for integrals in found}) == 1
    assert len({x.evidence.primes for integrals in found for x in integrals}) == 3
    for x in found[0]:
        assert x.evidence.is_proved
        assert is_whole(x.evidence)
        assert x.evidence.chance < 1e-20


def rows(closure, *, hinged):
    """A row y' + φ w θ' = 0 beside φ = 0: it integrates where φ vanishes, and only there."""
    kind = Revolute if hinged else Prismatic
    bodies = {name: body(name, mass=1) for name in ("a", "b", "y", "w", "c")}
    joints = [join(ground, x, kind if name in "ab" else Prismatic, name=name.upper())
              for name, x in bodies.items()]  # fmt: skip
    phi = closure(coordinate("A"), coordinate("B"))
    row = rate("Y") + phi * coordinate("W") * rate("C")
    built = mechanism(*joints, holonomic("loop", phi), nonholonomic("row", row))
    return integrability(liaison.derive(built, "lagrange", exact=True))


def test_a_row_is_examined_where_the_closures_hold():
    found = rows(lambda a, b: a - b, hinged=False)
    assert found.is_holonomic
    assert found.evidence[0].is_proved


def test_what_is_not_integrable_off_the_closures_is_likely():
    found = rows(lambda a, b: sin(a) - cos(b), hinged=True)
    assert not found.is_holonomic
    assert [x.is_proved for x in (*found.rows, *found.evidence)] == [False, False]
    assert "likely nonholonomic" in repr(found)


def test_every_statement_of_a_mechanism():
    found = liaison.evidence(EXAMPLES / "elliptic_pendulum.lsd")
    kinds = ("finite mobility", "is constant along", "is equivalent to")
    assert all(any(kind in x.statement for x in found.statements) for kind in kinds)
    assert all(is_whole(x) and x.is_proved for x in found.statements)
    assert str(found).count("Proved: ") == len(found.statements)
    assert len(found.to_dict()["evidence"]) == len(found.statements)
