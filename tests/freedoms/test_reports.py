"""What reports of mobility and of assembly modes print: plain numbers, axes, evidence once."""

import pytest

import liaison
from liaison.exact.evidence import FLOATS, RESIDUES, Evidence, Proofs, grouped
from liaison.freedoms.global_.assembly import AssemblyModes
from liaison.freedoms.global_.modes import Mode
from liaison.numeric import State

DRIVEN = """
let a = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let H = join earth and a with revolute end ;
impose H = 3 rad/s*t ;
"""
ROLLING = """
let c = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let F = join earth and c with free end ;
let tread = couple c and earth with rolling_ball radius = 1 m end ;
start F.z = 1 m ;
"""
SKEW = """
let al = asin(3/5) ; let be = asin(4/5) ;
for i = 1 to 3
  let bar[i] = body mass = 1 kg, inertia = 0.1 kg*m^2 end ;
end ;
let H1 = join earth and bar1 with revolute end ;
let H2 = join [3,0,0] m ++ al || [1,0,0] @ bar1 and bar2 with revolute end ;
let H3 = join [4,0,0] m ++ be || [1,0,0] @ bar2 and bar3 with revolute end ;
let H4 = join [3,0,0] m ++ al || [1,0,0] @ bar3
  and -be || [1,0,0] ++ [-4,0,0] m @ earth with revolute end ;
start H1 = 60 deg ;
"""


@pytest.fixture(scope="module")
def four_bar(examples):
    return liaison.mobility(examples / "four_bar.lsd", at={"A": 0.3})


def test_what_is_proved_in_balls_is_not_called_computed_in_floats(four_bar):
    assert four_bar.is_proved
    assert not any("floats" in note for note in four_bar.notes)
    assert any("balls" in note for note in four_bar.notes)


def test_components_that_are_not_determined_say_in_which_axes(four_bar):
    assert "z is along its axis" in str(four_bar)


def test_evidence_repeats_the_position_and_knows_no_chance_of_what_is_likely(four_bar):
    assert all(x.repeat.endswith("--at 'A=0.3'") for x in four_bar.evidence)
    for x in four_bar.evidence:
        assert (x.chance is None) == (not x.is_proved)
        assert x.is_proved or "primes" not in x.bound


def test_one_equation_is_singular():
    assert ", 1 equation (no loop)" in str(liaison.mobility(DRIVEN))


def test_a_relation_that_is_left_out_stands_in_the_reason():
    found = liaison.mobility(ROLLING)
    assert not found.is_proved
    assert found.proof.startswith("at most 6, without tread")


def test_a_recognized_coordinate_is_named():
    """Bennett's linkage with a = 3, b = 4, sin α = 3/5: tan(H2/2) = 5 √3 at H1 = 60°."""
    notes = liaison.mobility(SKEW).notes
    assert "coordinate 'H2' = 2.91167081259 was taken for 2*atan(5*sqrt(3))" in notes


def evidence(name, chance, primes=(7,), numbers=RESIDUES):
    return Evidence(
        f"{name} is equal", True, "residues", numbers, "a theorem", chance, f"of {name}", primes,
        repeat=f"call({name})",
    )  # fmt: skip


def test_what_is_alike_is_printed_once_with_the_largest_chance():
    (text,) = grouped([evidence("a", 1e-30), evidence("b", 1e-20), evidence("c", 1e-25)])
    assert text.count("Proved: ") == 3
    assert text.count("Theorem") == 1
    assert "below 1e-20 (of b)" in text
    assert len(grouped([evidence("a", 1e-30), evidence("b", 0.0, numbers=FLOATS)])) == 2
    assert str(Proofs("x", (evidence("a", 1e-30), evidence("b", 1e-9)))).count("Computed") == 1


def test_of_many_primes_the_first_are_printed():
    text = str(evidence("a", 1e-30, primes=tuple(range(101, 133))))
    assert "(101, 102, 103, 104 and 28 more)" in text
    assert len(evidence("a", 1e-30, primes=tuple(range(101, 133))).to_dict()["primes"]) == 32


def mode(k, x, proof):
    return Mode(f"mode {k}", {"A": x}, State(0.0, [], []), 0.0, proof, 0.0)


def test_rounding_is_not_printed_and_many_modes_without_proof_are_cut_short():
    assert "A = 0;" in str(mode(1, -5.9e-78, "Krawczyk"))
    modes = (*(mode(k, 0.1 * k, "") for k in range(1, 21)), mode(21, 3.0, "Krawczyk"))
    text = str(AssemblyModes("m", modes, False, "why", "Newton", None, {}))
    assert "mode 3:" in text
    assert "mode 4:" not in text
    assert "mode 21:" in text
    assert "17 more that are not proved" in text
