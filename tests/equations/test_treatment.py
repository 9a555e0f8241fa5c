"""Constraints eliminated, kept with a multiplier, or kept with a named reaction: one motion."""

import numpy as np
import pytest

import liaison
from liaison.equations.readable.treated import readable_treated
from liaison.errors import NamingError
from liaison.expr import evaluate, symbol
from liaison.expr.reading.reading import to_expr
from liaison.expr.reading.ring import TooLarge
from liaison.expr.reading.text import to_unicode
from liaison.tree import assemble, span
from liaison.verbs.gravity import with_named_gravity

CYLINDER = "examples/cases/cylinder_two_multipliers.lsd"
PENDULUM = """
name = "pendulum in x and y" ;
gravity = [0, -9.81, 0] m/s^2 ;
parameter m = 2 kg ;
parameter l = 1.5 m ;
let bob = body mass = m, inertia = 0 end ;
let J = join earth and bob with link(x, y) dof1 = [x, y, 0] end ;
let thread = require J.x^2 + J.y^2 = l^2 ;
start J.x = 0.9 m ;
start J.y = -1.2 m ;
start J.x' = 0.4 m/s ;
"""


def lines(given, treatment, formalism="lagrange", **options):
    mechanism = with_named_gravity(liaison.read(given))
    made = liaison.derive(mechanism, formalism, exact=True, treatment=treatment, **options)
    found = readable_treated(made)
    return [f"{to_unicode(x.left)} = {to_unicode(x.right)}" for x in found.lines], found


def test_the_four_treatments_of_the_cylinder():
    # LL 2.2.10: all eliminated; R_x as a force; as a multiplier; R_y kept, too
    first, _ = lines(CYLINDER, {"Rx": "eliminate", "Ry": "eliminate"})
    assert first == ["3/2 r J.θ'' = 9.81 sin(α)"]
    second, _ = lines(CYLINDER, {"Rx": "reaction R_x", "Ry": "eliminate"})
    assert second == [
        "m J.x'' = R_x − 9.81 m sin(α)", "m r J.θ'' = 2 R_x", "J.x'' + r J.θ'' = 0",
    ]  # fmt: skip
    third, _ = lines(CYLINDER, {"Ry": "eliminate"})
    assert third == [x.replace("R_x", "λ₁") for x in second]
    fourth, found = lines(CYLINDER, {"Rx": "reaction R_x", "Ry": "reaction R_y"})
    assert "m J.y'' = R_y − 9.81 m cos(α)" in fourth
    assert found.notes[0] == "R_x is the reaction of Rx [N]."


def test_a_pendulum_in_x_and_y():
    kept, _ = lines(PENDULUM, {"thread": "reaction T"})
    assert kept[:2] == ["m J.x'' = 2 J.x T", "m J.y'' = 2 J.y T − m g"]
    gone, found = lines(PENDULUM, {"thread": "eliminate"})
    assert len(gone) == 1
    assert "T" not in gone[0]
    assert any(note.startswith("Eliminated") for note in found.notes)


def test_the_reaction_of_a_joint_that_carries_a_body():
    told, found = lines("examples/pendulum.lsd", {"A": "reaction"})
    assert told[:2] == ["m bar.x'' = X_A", "m bar.y'' = Z_A − m g"]
    assert found.notes == (
        "X_A is the force along x of ground in A [N].",
        "Z_A is the force along z of ground in A [N].",
    )


def test_one_joint_kept_of_a_chain_eliminates_the_others():
    made = liaison.derive("examples/double_pendulum.lsd", treatment={"B": "reaction"})
    own = made.native["treatment"]
    assert set(own.reactions) == {"X_B", "Z_B"}
    assert own.reduced.mobility == 6 - 2  # x, y, θ of two bodies, less the rows of A
    assert all(name.startswith("B: ") for name in own.names)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "kane"])
@pytest.mark.parametrize(
    ("name", "treatment"),
    [
        ("slider_crank", {"P: force along x of ground": "eliminate"}),
        ("four_bar", {"C": "eliminate"}),
        ("four_bar", {"C": "reaction"}),
        ("rolling_disc", {"edge: contact": "eliminate", "edge: slip along x": "reaction"}),
    ],
)
def test_the_statement_holds_for_the_motion_and_its_reactions(name, treatment, formalism):
    mechanism = liaison.read(f"examples/{name}.lsd")
    whole = liaison.derive(mechanism, formalism)
    rows = [label.name for label in whole.labels["lam"]]
    made = liaison.derive(mechanism, formalism, treatment=treatment)
    own, state = made.native["treatment"], assemble(span(mechanism))
    kernels = [liaison.to_llvm(liaison.lower(x)) for x in (whole, made)]
    first, second = (k.call("forward", state.t, q=state.q, v=state.v) for k in kernels)
    assert np.allclose(first["vdot"], second["vdot"], rtol=1e-10, atol=1e-10)
    symbols = whole.symbols
    values = {symbols.t: state.t} | dict(zip(symbols.q, state.q, strict=True))
    values |= dict(zip(symbols.v, state.v, strict=True))
    values |= dict(zip(symbols.vdot, first["vdot"], strict=True))
    values |= dict(zip(symbols.u, whole.defaults["u"], strict=True))
    values |= dict(zip(symbols.p, whole.defaults["p"], strict=True))
    lam = dict(zip(rows, first["lam"], strict=True))
    values |= {x: lam[row] for x, row in zip(own.efforts, own.names, strict=True)}
    for line in own.statement():
        left, right = evaluate([line.left, line.right], values)
        size = max(1.0, abs(float(left)), np.max(np.abs(first["lam"])))
        assert abs(float(left) - float(right)) < 1e-10 * size, line.name


def test_wrong_words_are_told():
    with pytest.raises(NamingError, match="did you mean 'reaction'"):
        liaison.derive("examples/four_bar.lsd", treatment={"C": "reactions"})
    with pytest.raises(NamingError, match="'Q'"):
        liaison.derive("examples/four_bar.lsd", treatment={"Q": "reaction"})
    # a joint that carries its body is eliminated already
    liaison.derive("examples/four_bar.lsd", treatment={"A": "eliminate"})


def test_long_equations_are_told_by_psi():
    _, found = lines("examples/slider_crank.lsd", None, parametrization="minimal")
    assert [name for name, _ in found.quantities] == ["Psi.B", "Psi.x"]
    assert "drive" in to_unicode(found.lines[0].right)


def too_long(*arguments):
    raise TooLarge("a row has too many terms")


@pytest.mark.parametrize(
    ("name", "is_cut"), [("slider_crank", False), ("four_bar", False), ("four_bar", True)]
)
def test_what_is_read_by_psi_holds_for_the_motion(name, is_cut, monkeypatch):
    """Also by named parts, where even Maggi's rows are too long, as those of a six-bar linkage."""
    if is_cut:
        monkeypatch.setattr("liaison.equations.readable.treated.read_line", too_long)
    _, found = lines(f"examples/{name}.lsd", None, parametrization="minimal")
    assert found.quantities
    assert any("named quantities" in note for note in found.notes) == is_cut
    whole = liaison.derive(with_named_gravity(liaison.read(f"examples/{name}.lsd")), "lagrange")
    state = assemble(span(liaison.read(f"examples/{name}.lsd")))
    kernel = liaison.to_llvm(liaison.lower(whole))
    vdot = kernel.call("forward", state.t, q=state.q, v=state.v)["vdot"]
    symbols = whole.symbols
    values = dict(zip((*symbols.q, *symbols.v), (*state.q, *state.v), strict=True))
    values |= dict(zip((*symbols.vdot, *symbols.u), (*vdot, *whole.defaults["u"]), strict=True))
    values |= dict(zip(symbols.p, whole.defaults["p"], strict=True))
    for word, reading in found.quantities:
        values[symbol(word)] = float(evaluate([to_expr(reading)], values)[0])
    for line in found.lines:
        left, right = evaluate([to_expr(line.left), to_expr(line.right)], values)
        assert float(left) == pytest.approx(float(right), rel=1e-9, abs=1e-9), line.name
