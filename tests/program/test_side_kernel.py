"""Contacts, stops and dry friction of many bodies as loops: what unrolled code gives, by entry."""

from __future__ import annotations

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler
from liaison.equations.sweeps.looped_tree import looped_tree
from liaison.errors import DerivationError
from liaison.expr import symbol
from liaison.program import lower, to_llvm
from liaison.program.pieces import PIECE, pieces_of
from liaison.program.sided.side_kernel import side_kernel
from liaison.tree import span

SAME = 1e-12  # relative: other sums along the same paths

GRAVITY = "gravity = [0.2, 0, -9.81] m/s^2 ;\n"
BODY = "body mass = 1 kg, center = [0.5, 0.1, 0] m, inertia = [0.03, 0.1, 0.12] kg*m^2 end"

PAIR = f"""{GRAVITY}parameter r = 5 cm ;
let a = {BODY} ;
let A = join earth and a with free end ;
let b = {BODY} ;
let B = join [1, 0, 0] m @ a and b with ball end ;
"""
"""Two bodies that move in space, one on the other."""

SHAPES = {
    "ball": "contact [1, 0, 0.1] m @ b and [0, 0, -1] m @ earth with ball radius = 10 cm, "
    "friction = 0.3, static = 0.4, rolling = 1 mm, pivoting = 2 mm, viscous = 0.1 N*s/m end",
    "box": "contact a and [0, 0, -2] m @ earth with box size = [4, 5, 40] cm, friction = 0.6, "
    "across = 0.4 end",
    "two balls": "contact [0.2, 0, 0.1] m @ b and [0, 0.3, -1] m @ a with ball radius = r, "
    "outside = 20 cm, friction = 0.2, restitution = 0.3 end",
    "surface": "contact [0, 0, 0.1] m @ b and [0, 0, -2] m @ earth with ball radius = 1 cm, "
    "surface = 10 cm * cos(x/(30 cm)) * cos(y/(30 cm)), friction = 0.2 end",
    "cylinder": "contact [0, 0, 0.1] m @ b and [0, 0, -2] m @ earth with cylinder radius = 10 cm, "
    "length = 20 cm, friction = 0.2 end",
    "capsule": "contact [0, 0, 0.1] m @ b and [0, 0, -2] m @ earth with capsule radius = 10 cm, "
    "length = 20 cm end",
    "disc": "contact [0, 0, 0.1] m @ b and [0, 0, -2] m @ earth with disc radius = 10 cm, "
    "friction = 0.2, stribeck = 1 m/s end",
    "profile": "contact [0, 0, 0.1] m @ b and [0, 0, -5] m @ earth with ball radius = 1 cm, "
    "profile = 30 cm + 2 cm*cos(3*angle) end",
}


def chain(n):
    """A planar chain: a ball at its end, a stop, friction in a joint, a relation of rates."""
    text = GRAVITY
    for k in range(n):
        on = f"[1, 0, 0] m @ b{k - 1}" if k else "earth"
        text += (
            f"let b{k} = body mass = 1 kg, center = [0.5, 0, 0] m, "
            "inertia = [0.01, 0.1, 0.1] kg*m^2 end ;\n"
            f"let J{k} = join {on} and b{k} with revolute axis = [0, -1, 0] end ;\n"
        )
    return text + (
        f"let floor = contact [1, 0, 0] m @ b{n - 1} and [0, 0, -2] m @ earth with ball "
        "radius = 10 cm, friction = 0.3, restitution = 0.5 end ;\n"
        "let stop = require J0 >= -30 deg with restitution = 0.2 end ;\n"
        "let freewheel = require J1' - J0' >= -2 rad/s ;\n"
        "let beak = contact gap = 5 cm - 20 cm*J1, slip = 20 cm*J1' - 1 m*J2', friction = 0.3 "
        "end ;\n"
        "let brake = apply friction dry = if(t - 100 ms, 2 N*m, 1 N*m), smoothing = 0 end on J2 ;\n"
    )


def four_bars(n):
    """Four-bars side by side, each with a ball at its coupler and a spring between two of them."""
    text = GRAVITY
    for k in range(n):
        text += "".join(f"let {x}{k} = {BODY} ;\n" for x in "abc")
        text += (
            f"let A{k} = join [{3 * k}, 0, 0] m @ earth and a{k} with revolute axis = [0, 1, 0] "
            f"end ;\nguess A{k} = -90 deg ;\n"
            f"let B{k} = join [1, 0, 0] m @ a{k} and b{k} with revolute axis = [0, 1, 0] end ;\n"
            f"guess B{k} = 90 deg ;\n"
            f"let C{k} = join [2, 0, 0] m @ b{k} and c{k} with revolute axis = [0, 1, 0] end ;\n"
            f"guess C{k} = 90 deg ;\n"
            f"let D{k} = join [1, 0, 0] m @ c{k} and [{3 * k + 2}, 0, 0] m @ earth with revolute "
            "axis = [0, 1, 0] end ;\n"
            f"let e{k} = contact [1, 0, 0.1] m @ b{k} and [0, 0, 0.2] m @ earth with ball "
            "radius = 10 cm, friction = 0.3 end ;\n"
            f"apply damper coefficient = 0.2 N*m*s/rad end on A{k} ;\n"
        )
    text += "let stop = require A0 <= 100 deg with restitution = 0.3 end ;\n"
    return text + "apply spring stiffness = 20 N/m, rest = 50 cm end on b0 and a1 ;\n"


def both(text, *, is_stepped=False):
    """By loops and unrolled, and a state at random."""
    tree = span(liaison.read(text))
    model = looped_tree(tree, may_bend=True, is_stepped=is_stepped)
    looped, unrolled = side_kernel(model), to_llvm(lower(newton_euler(tree)))
    draw = np.random.default_rng(1)
    xi = 0.3 * draw.normal(size=tree.nv)
    q = unrolled("retract", q=np.array(model.neutral), x=xi)
    at = {"t": 0.05, "q": q, "v": draw.normal(size=tree.nv), "p": unrolled.program.defaults["p"]}
    return looped, unrolled, at, draw


def check_same(looped, unrolled, at, draw, names):
    for fact in ("sides", "bearings", "convex", "vanished", "events"):
        assert looped.program.facts[fact] == unrolled.program.facts[fact], fact
    assert looped.program.facts["length"] == unrolled.program.facts["length"]
    assert looped.program.labels["force"] == unrolled.program.labels["force"]
    for name in names:
        x = draw.normal(size=max(k.program.sizes["nx"] for k in (looped, unrolled)))
        mine, theirs = looped.call(name, **at, x=x), unrolled.call(name, **at, x=x)
        assert {k: v.shape for k, v in mine.items()} == {k: v.shape for k, v in theirs.items()}
        for key, values in theirs.items():
            scale = 1 + np.max(np.abs(values), initial=0.0)
            assert np.max(np.abs(mine[key] - values), initial=0.0) < SAME * scale, (name, key)


ENTRIES = ("one_sided", "terms", "reactions", "local_rate", "rate", "energy", "motions", "poses")


@pytest.mark.parametrize("shape", [*SHAPES])
def test_contacts_of_every_shape_equal_unrolled_code(shape):
    check_same(*both(f"{PAIR}let c = {SHAPES[shape]} ;\n"), ENTRIES)


def test_stops_friction_and_gaps_that_are_formulas_equal_unrolled_code():
    check_same(*both(chain(4)), ENTRIES)


ROTORS = """
apply armature inertia = 0.3 kg*m^2 end on J1 ;
apply armature inertia = 0.1 kg*m^2 end on J3 ;
let z = apply state rate = (J1' - z)/(0.1 s), unit = "rad/s" end ;
apply motor torque = (3*z - J2')*(0.1 N*m*s/rad) end on J2 ;
apply spring stiffness = 40 N/m, rest = 2 cm end on cable(10 cm, J1, -20 cm, J3) ;
"""


@pytest.mark.parametrize("is_stepped", [False, True])
def test_rotors_states_of_loads_and_tendons_beside_contacts(is_stepped):
    names = (*ENTRIES, "load_rows", "load_laws") if is_stepped else ENTRIES
    check_same(*both(chain(4) + ROTORS, is_stepped=is_stepped), names)


def test_slip_across_the_plane_of_a_planar_mechanism_is_exactly_zero():
    looped, unrolled, at, _ = both(chain(4))
    D = [k.call("one_sided", **at)["D"].reshape(-1, 4) for k in (looped, unrolled)]
    still = [np.all(x == 0.0, axis=1) for x in D]
    assert np.any(still[0])
    np.testing.assert_array_equal(*still)


def test_closed_mechanisms_and_loads_of_steps_equal_unrolled_code():
    looped, unrolled, at, draw = both(four_bars(2), is_stepped=True)
    assert looped.program.sizes["nc"] == unrolled.program.sizes["nc"] > 0
    check_same(looped, unrolled, at, draw, (*ENTRIES[:1], *ENTRIES[3:], "closure"))
    assert looped.program.facts["implicit_loads"]() == unrolled.program.facts["implicit_loads"]()
    check_same(looped, unrolled, at, draw, ("load_rows", "load_laws"))


@pytest.mark.parametrize("joint", ["J0", "B", "S"])
def test_friction_in_bearings_equals_unrolled_code(joint):
    text = f"""{chain(4)}let b = {BODY} ;
let B = join [1, 0, 0] m @ b2 and b with ball end ;
let s = {BODY} ;
let S = join b and s with prismatic axis = [1, 0, 0] end ;
"""
    arm = "" if joint == "S" else ", radius = 5 mm"
    text += f"let rub = apply friction coefficient = 0.1{arm} end on {joint} ;\n"
    check_same(*both(text), (*ENTRIES, "bearings"))


@pytest.mark.parametrize("text", [chain(5), f"{PAIR}let c = {SHAPES['ball']} ;\n"])
def test_sweeps_are_a_factor_of_the_mass_matrix(text):
    looped, _, at, _ = both(text)
    terms, D = looped.call("terms", **at), looped.call("one_sided", **at)["D"]
    nv = looped.program.sizes["nv"]
    beside = looped.call("terms_beside_mass", **at)
    np.testing.assert_array_equal(beside["f"], terms["f"])
    answer = looped.call("yields", **at, x=np.concatenate([D, terms["f"]]))
    M, D = terms["M"].reshape(nv, nv), D.reshape(-1, nv)
    np.testing.assert_allclose(M @ answer["vdot"], terms["f"], atol=1e-11)
    yields = np.einsum("ri,ij,rj->r", D, np.linalg.inv(M), D)
    np.testing.assert_allclose(answer["yields"], yields, rtol=1e-10, atol=1e-12)


def test_contacts_of_a_kind_are_derived_once():
    text = GRAVITY + "".join(
        f"let b{k} = {BODY} ;\nlet J{k} = join earth and b{k} with free end ;\n"
        f"let c{k} = contact [0, 0.1, 0.{k}] m @ b{k} and [0, 0, -{k}] m @ earth with ball "
        f"radius = {k + 1} cm, friction = 0.{k + 1} end ;\n"
        for k in range(5)
    )
    model = looped_tree(span(liaison.read(text)))
    assert model.sides is not None
    assert len(model.sides.cuts.classes) == 1
    check_same(*both(text), ENTRIES[:1])


def test_what_loops_do_not_know_is_an_error():
    hull = "contact a and b with box size = [1, 1, 1] cm, hull = hull([0, 0, 0] m, [1, 0, 0] m, "
    hull += "[0, 1, 0] m, [0, 0, 1] m) end"
    with pytest.raises(DerivationError, match="found by loops"):
        looped_tree(span(liaison.read(f"{PAIR}let c = {hull} ;\n")))


def test_long_lists_of_formulas_are_written_in_their_order():
    formulas = [symbol("x") * k for k in range(2 * PIECE + 5)]
    pieces = pieces_of("law", formulas)
    assert [len(x.outputs) for x in pieces.values()] == [PIECE, PIECE, 5]
    assert [y for x in pieces.values() for y in x.outputs] == formulas
    assert not pieces_of("law", ())
