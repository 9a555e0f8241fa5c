"""`liaison derive --level`: vectors, matrices and scalars on the command line."""

import json

import pytest

import liaison
from liaison.cli import main


@pytest.fixture
def said(capsys, examples):
    def call(name, *words, code=0):
        with pytest.raises(SystemExit) as left:
            main(["derive", str(examples / f"{name}.lsd"), *words])
        assert left.value.code == code
        read = capsys.readouterr()
        return read.out + read.err

    return call


def test_vectors_are_printed_and_expanded(said):
    assert "m₁ g + F(A) - F(B) = m₁ γ(G₁)" in said("double_pendulum", "--level", "vector")
    text = said("double_pendulum", "--level", "vector", "--expand", "gamma(G2)")
    assert "m₂ (γ(O₂) + ω̇₂ × O₂G₂ + ω₂ × (ω₂ × O₂G₂))" in text


def test_terms_are_expanded_one_after_another(said):
    words = ("--level", "vector", "--expand", "gamma(G2)", "--expand", "gamma(O2)")
    assert "ω̇₁ × O₁O₂" in said("double_pendulum", *words)


def test_matrices_in_a_basis(said):
    text = said("double_pendulum", "--level", "matrix", "--basis", "lower")
    assert "I₂ ω̇₂ + ω̃₂ I₂ ω₂" in text


def test_scalars_of_the_pendulum(said):
    assert "−½ m l g sin(A) = ⅓ m l² A''" in said("pendulum", "--level", "scalar")


def test_a_system_of_several_bodies(said):
    words = ("--level", "vector", "--body", "upper", "--body", "lower", "--point", "O1")
    assert "m₁ g + m₂ g + F(A) = m₁ γ(G₁) + m₂ γ(G₂)" in said("double_pendulum", *words)


def test_latex(said):
    text = said("pendulum", "--level", "vector", "--format", "latex")
    assert r"m_{1}\,\vec{g} + \vec{F}(A) &= m_{1}\,\vec{\gamma}(G_{1})" in text


def test_json_names_what_can_be_expanded(said):
    facts = json.loads(said("pendulum", "--level", "vector", "--json"))
    assert facts["level"] == "vector"
    assert "gamma(G1)" in facts["expandable"]
    assert facts["names"]["gamma(G1)"] == "acceleration of the center of mass of bar [m/s²]"
    assert facts["equations"][0]["right"] == "m₁ γ(G₁)"


def test_scalars_as_json_are_whole_formulas(said):
    facts = json.loads(said("double_pendulum", "--level", "scalar", "--json"))
    assert all("…" not in line["left"] + line["right"] for line in facts["equations"])


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("--level", "vecto"), 2, "'vecto' is none of vector, matrix, scalar"),
        (("--level", "vector", "--format", "c"), 2, "'c' is none of text, latex"),
        (("--level", "vector", "--expand", "gama(G1)"), 2, "did you mean 'gamma(G1)'?"),
        (("--level", "vector", "--expand", "g"), 1, "is given and made of no other vectors"),
        (("--level", "matrix", "--basis", "bar2"), 2, "no body is named 'bar2'"),
        (("--level", "vector", "--body", "bar", "--point", "P1"), 2, "no point is named 'P1'"),
    ],
)
def test_what_is_not_there_is_refused(said, words, code, says):
    assert says in said("pendulum", *words, code=code)


def test_the_python_door_says_the_same(said, examples):
    found = liaison.vector_equations(examples / "pendulum.lsd", expand=["gamma(G1)"])
    text = said("pendulum", "--level", "vector", "--expand", "gamma(G1)")
    assert text.rstrip("\n") == found.text
    with pytest.raises(liaison.NamingError, match="did you mean 'scalar'"):
        liaison.vector_equations(examples / "pendulum.lsd", "scalars")


def test_scalars_from_python(examples):
    found = liaison.vector_equations(examples / "pendulum.lsd", "scalar")
    assert len(found) == len(found.lines)
    assert found.lines[-1].name == "A"
