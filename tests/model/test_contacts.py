"""Contacts and friction as records: what they keep, what they refuse, how Python writes them."""

from fractions import Fraction

import pytest

import liaison
from liaison.errors import LiaisonError, ModelError, NamingError
from liaison.expr import symbol
from liaison.formats import read_lsd
from liaison.formats.lsd.write.write import write_lsd
from liaison.model import (
    CURVE,
    PROFILE,
    SURFACE,
    BearingFriction,
    Contact,
    DryFriction,
    Friction,
    GapContact,
    JointFriction,
    Marker,
    Transmission,
    Unilateral,
    drive,
)

A, GROUND = Marker("a"), Marker("ground")
X, Y = SURFACE


def touching(kind="point", **given):
    """A contact of body a with the ground."""
    return Contact("c", A, GROUND, kind, **given)


def test_a_number_is_the_friction_of_sliding():
    assert touching(friction=Fraction(3, 10)).friction == Friction(sliding=Fraction(3, 10))
    assert touching(friction=Friction(0.3, static=0.4)) == touching(friction=Friction(0.3, 0.4))


REFUSED = {
    "a cube": (
        lambda: touching("cube"), "capsule, box, ellipsoid, edge or hull"
    ),
    "with itself": (lambda: Contact("c", A, A), "of body 'a' with itself"),
    "a point with a radius": (lambda: touching(radius=1), "no radius; make it a ball"),
    "a ball without a radius": (lambda: touching("ball"), "radius of contact 'c' is 0 m"),
    "a negative radius": (lambda: touching("ball", radius=-1), "must not be negative"),
    "a ball with a length": (lambda: touching("ball", radius=1, length=2), "has no length"),
    "a cylinder without a length": (lambda: touching("cylinder", radius=1), "length .* is 0 m"),
    "a box of nothing": (lambda: touching("box"), r"is \[0, 0, 0\] m; no side may be negative"),
    "a box turned in": (lambda: touching("box", size=(1, -2, 1)), r"is \[1, -2, 1\] m"),
    "a capsule on a surface": (
        lambda: touching("capsule", radius=1, length=2, surface=X * X),
        "of a capsule with a surface, which is not known; .* a cylinder or a box or a hull",
    ),
    "a box on a profile": (
        lambda: touching("box", size=(1, 1, 1), profile=1), "of a box with a profile"
    ),
    "an edge on a plane": (
        lambda: touching("edge", length=1), "of an edge with a plane, which is not known"
    ),
    "an ellipsoid on a ball": (
        lambda: touching("ellipsoid", size=(1, 1, 1), outside=1), "of an ellipsoid with a ball"
    ),
    "an edge on a block": (
        lambda: touching("edge", length=1, block=(1, 1, 1)), "of an edge with a block"
    ),
    "a disc on a block": (
        lambda: touching("disc", radius=1, block=(1, 1, 1)), "a block is touched by a point or"
    ),
    "a block of one side": (
        lambda: touching(block=(1, 0, 0)), r"is \[1, 0, 0\] m; no side may be negative, and one"
    ),
    "a rod without a radius": (lambda: touching(along=1), "has 'along', .* but no radius of it"),
    "a disc on a rod": (
        lambda: touching("disc", radius=1, outside=1, along=1), "a rod is touched by a point"
    ),
    "a drum without a height": (
        lambda: touching("ball", radius=1, more=(("drum", 1),)), "not its height"
    ),
    "a capsule on a plate": (
        lambda: touching("capsule", radius=1, length=1, block=(1, 1, 0)).cores, "one that is flat"
    ),
    "a rod of no length": (lambda: touching(outside=1, along=0), "the along .* must be positive"),
    "across a block": (
        lambda: touching(block=(1, 1, 1), friction=Friction(1, across=2)), "has no x to be across"
    ),
    "a curve without ends": (lambda: touching(curve=(CURVE, CURVE)), "has a curve but no span"),
    "a curve that goes back": (
        lambda: touching(curve=(CURVE, CURVE), span=(1, 0)), "from s = 1 to 0; s must grow"
    ),
    "a curve of three": (
        lambda: touching(curve=(CURVE, CURVE, 0), span=(0, 1)), "has 3 components, .* must have two"
    ),
    "a capsule without a length": (lambda: touching("capsule", radius=1), "length .* is 0 m"),
    "two things touched": (lambda: touching(inside=1, surface=X), "'inside' and 'surface'"),
    "no room": (lambda: touching("ball", radius=2, inside=2), "larger than 2 m, the radius inside"),
    "a ball of nothing": (lambda: touching(outside=0), "the outside of contact 'c' is 0 m"),
    "restitution": (lambda: touching(restitution=1.5), "above 1 an impact would give energy"),
    "friction below zero": (lambda: touching(friction=-0.3), "friction of contact 'c' is -0.3"),
    "rolling below zero": (
        lambda: touching(friction=Friction(rolling=-1)), "rolling of contact 'c' is -1"
    ),
    "less at rest": (
        lambda: touching(friction=Friction(pivoting=2, static_pivoting=1)),
        "pivoting of contact 'c' is 2 in motion and 1 at rest",
    ),
    "no such law": (
        lambda: touching(friction=Friction(1, law="glue")), "'glue'; it must be one of coulomb"
    ),
    "a law without a speed": (
        lambda: touching(friction=Friction(1, law="stribeck")), "law 'stribeck' but no speed"
    ),
    "a law without a turning speed": (
        lambda: touching(friction=Friction(0, rolling=1, law="regularized", speed=1)),
        "law 'regularized' but no turning speed",
    ),
    "a speed without a law": (
        lambda: touching(friction=Friction(1, speed=1)), "a speed but the law 'coulomb'"
    ),
    "friction without a slip": (
        lambda: GapContact("c", symbol("A"), (), 0.3), "has friction but no slip"
    ),
    "three slips": (lambda: GapContact("c", 1, (1, 2, 3)), "3 slips"),
    "rolling of formulas": (
        lambda: GapContact("c", 1, (symbol("A'"),), Friction(rolling=1)), "define it by frames"
    ),
    "dry friction less at rest": (
        lambda: DryFriction("f", "A", 3, 2), "dry part of friction 'f' is 3 in motion and 2 at rest"
    ),
    "negative dry friction": (lambda: DryFriction("f", "A", -3), "must not be negative"),
    "a law of a joint without a speed": (
        lambda: BearingFriction("f", "A", 3, law="stribeck"), "'stribeck' but no speed"
    ),
    "a law of a joint that is none": (
        lambda: DryFriction("f", "A", 3, law="glue"), "'glue'; it must be one of"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_is_refused_in_words(case):
    make, said = REFUSED[case]
    with pytest.raises(ModelError, match=said):
        make()


JOINTS = """
let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
let b = body mass = 1 kg, inertia = 1 g*m^2 end ;
let A = join earth and a with revolute end ;
let B = join a and b with cylindrical end ;
"""


@pytest.mark.parametrize(
    ("part", "kind", "said"),
    [
        (Unilateral("u", symbol("A'"), 0.5), ModelError, "it has no restitution"),
        (Unilateral("u", symbol("nothing")), NamingError, "nothing"),
        (GapContact("g", symbol("A'")), ModelError, "depends on 'A''"),
        (GapContact("g", symbol("A"), (symbol("A'") ** 2,), 1), ModelError, "not linear in A'"),
        (touching(surface=symbol("t") * X), ModelError, "depends on 't'.*x, y and parameters"),
        (touching(profile=symbol("t")), ModelError, "depends on 't'.*angle and parameters"),
        (touching(curve=(symbol("t"), 1), span=(0, 1)), ModelError, "'t'.*s and parameters"),
        (touching(friction=symbol("A")), ModelError, "time and parameters only"),
        (DryFriction("f", "Q", 1), NamingError, "no coordinate is named 'Q'"),
        (BearingFriction("f", "Q", 1), NamingError, "no joint is named 'Q'"),
        (BearingFriction("f", "A", 1), ModelError, "which turns; give the radius"),
        (
            BearingFriction("f", "B", 1, radius=1),
            ModelError,
            "must be revolute, prismatic or spherical",
        ),
        (GapContact("g", -1), ModelError, "contains no coordinate"),
    ],
)
def test_what_does_not_fit_the_mechanism_is_refused(part, kind, said):
    with pytest.raises(kind, match=said):
        liaison.mechanism(read_lsd(JOINTS), part)


def test_python_writes_what_the_language_reads():
    ball = liaison.body("ball", 1, inertia=(1, 1, 1))
    table = liaison.body("table", 1, inertia=(1, 1, 1))
    F = liaison.join(liaison.ground, ball, "free", name="F")
    P = liaison.join(liaison.ground, table, "prismatic", name="P")
    x, speed = liaison.coordinate("P"), liaison.rate("P")
    rough = Friction(Fraction(3, 10), rolling=Fraction(1, 1000))
    built = liaison.mechanism(
        F, P,
        liaison.contact(ball, liaison.ground, "ball", radius=Fraction(1, 10), friction=rough,
                        restitution=Fraction(1, 2), name="floor"),
        liaison.contact(ball, table, "point", surface=X * Y, name="wave"),
        liaison.contact(ball, table, "capsule", radius=1, length=2, name="pin"),
        liaison.contact(ball, table, "disc", radius=1, profile=2 + 3 * PROFILE, name="cam"),
        liaison.contact(ball, table, "box", size=(1, 1, 1), block=(2, 3, 0), name="plate"),
        liaison.contact(ball, table, "capsule", radius=1, length=2, outside=3, along=4, name="rod"),
        liaison.contact(ball, table, curve=(CURVE, 2 * CURVE), span=(-1, 1), name="track"),
        liaison.contact(ball, table, "ellipsoid", size=(1, 2, 3), name="egg"),
        liaison.contact(ball, table, "edge", length=2, edge=3, name="edges"),
        liaison.touch("stop", x + 1, speed, friction=Fraction(1, 5)),
        liaison.at_most("top", x - 2, restitution=Fraction(1, 3)),
        liaison.friction(P, dry=2, static=3, name="brake"),
        liaison.friction(P, dry=2, smoothing=0, name="guide"),
        liaison.bearing(P, Fraction(1, 10), name="rail"),
    )  # fmt: skip
    text = """
    let floor = contact ball and earth with ball radius = 10 cm, friction = 0.3, rolling = 1 mm,
      restitution = 0.5 end ;
    let wave = contact ball and table with point surface = x*y/(1 m) end ;
    let pin = contact ball and table with capsule radius = 1 m, length = 2 m end ;
    let cam = contact ball and table with disc radius = 1 m, profile = 2 m + 3 m*angle end ;
    let plate = contact ball and table with box size = [1, 1, 1] m, block = [2, 3, 0] m end ;
    let rod = contact ball and table with capsule
      radius = 1 m, length = 2 m, outside = 3 m, along = 4 m end ;
    let track = contact ball and table with point
      curve = [s*(1 m), s*(2 m)], span = [-1, 1] end ;
    let egg = contact ball and table with ellipsoid size = [1, 2, 3] m end ;
    let edges = contact ball and table with edge length = 2 m, edge = 3 m end ;
    let stop = contact gap = 1 m + P, slip = P', friction = 1/5 end ;
    let top = require P <= 2 m with restitution = 1/3 end ;
    let brake = apply friction dry = 2 N, static = 3 N end on P ;
    let guide = apply friction dry = 2 N, smoothing = 0 end on P ;
    let rail = apply friction coefficient = 0.1 end on P ;
    """
    bodies = """
    let ball = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let table = body mass = 1 kg, inertia = 1 kg*m^2 end ;
    let F = join earth and ball with free end ;
    let P = join earth and table with prismatic end ;
    """
    assert read_lsd(bodies + text).contacts == built.contacts
    assert read_lsd(write_lsd(built)).contacts == built.contacts
    assert all(x.place is not None and "test_contacts" in x.place.file for x in built.contacts)


def test_a_word_that_no_contact_has_is_refused_with_the_nearest():
    ball = liaison.body("ball", 1, inertia=(1, 1, 1))
    with pytest.raises(NamingError, match="'fricton'; did you mean 'friction'") as error:
        liaison.contact(ball, liaison.ground, fricton=1)
    assert "length" in error.value.hint
    assert error.value.place is not None
    assert "test_contacts" in error.value.place.file


def test_friction_is_smooth_unless_it_is_said_to_hold():
    assert isinstance(liaison.friction("A", dry=2), JointFriction)
    assert isinstance(liaison.friction("A", dry=2, smoothing=0.1), JointFriction)
    assert isinstance(liaison.friction("A", dry=2, smoothing=0), DryFriction)
    assert isinstance(liaison.friction("A", dry=2, static=2), DryFriction)


def test_a_motor_holds_by_the_friction_of_both_sides():
    joint = liaison.join(liaison.ground, liaison.body("a", 1), "revolute", name="A")
    given = Transmission(ratio=-10, dry=(1, 2), static=(2, 3), viscous=(1, 1))
    made = drive("m", joint, torque=0, transmission=given, axial=1)
    assert made.friction == DryFriction("m.friction", "A", 12, 23, 101)
    given = Transmission(ratio=10, dry=(1, 2), smoothing=0)
    made = drive("m", joint, torque=0, transmission=given, axial=1)
    assert made.friction == DryFriction("m.friction", "A", 12)


def test_a_surface_with_a_parameter_called_x_cannot_be_written():
    built = liaison.mechanism(
        read_lsd(JOINTS), liaison.parameter("x", 1), touching(surface=X + symbol("x"))
    )
    with pytest.raises(LiaisonError, match="surface of contact 'c', which has a parameter 'x'"):
        write_lsd(built)


def test_friction_by_a_law_that_is_not_known_yet_is_left_alone():
    law = liaison.Function("law", 1)
    built = liaison.mechanism(
        read_lsd(JOINTS), liaison.parameter("mu", 1), DryFriction("f", "A", law(symbol("mu")))
    )
    assert [x.name for x in built.contacts] == ["f"]
