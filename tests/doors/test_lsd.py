"""What each construct of LSD means."""

import math
from fractions import Fraction

import pytest

import liaison
from liaison.errors import LiaisonError, TextError
from liaison.expr import PI, evaluate, symbol, symbols_of, to_text
from liaison.formats import read, read_lsd, read_value
from liaison.model import (
    Actuator,
    Angle,
    Composition,
    Coordinate,
    Cylindrical,
    Damper,
    Dissipation,
    Distance,
    EulerZXZ,
    Free,
    Gravity,
    Helical,
    Holonomic,
    JointFriction,
    Nonholonomic,
    Planar,
    PointWrench,
    Potential,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rod,
    Spherical,
    Spring,
    Universal,
)
from liaison.spatial import array, number

BASE = """
let crank = body mass = 1 kg, inertia = [1,1,1] end ;
let rod = body mass = 1 kg, inertia = [1,1,1] end ;
let A = join earth and crank with revolute end ;
let B = join [1,0,0] @ crank and rod with cylindrical end ;
"""


def with_base(text: str):
    return read_lsd(BASE + text)


def value(formula: str):
    return read_value(formula)[0]


def the(kind, records):
    (found,) = [record for record in records if isinstance(record, kind)]
    return found


# ---- numbers, units, formulas


@pytest.mark.parametrize(
    ("text", "exact", "unit"),
    [
        ("0.1", Fraction(1, 10), ""),
        ("1e-3 kg", Fraction(1, 1000), "kg"),
        ("2.5e3 mm", Fraction(5, 2), "m"),
        ("12 kg*mm^2", Fraction(12, 10**6), "kg*m^2"),
        ("3 N/m", 3, "N/m"),
        ("36 km/h", 10, "m/s"),
        ("(1/3) m", Fraction(1, 3), "m"),
        ("2 m * 3 m", 6, "m^2"),
        ("1 m + 5 cm", Fraction(21, 20), "m"),
        ("sqrt(9 m^2)", 3, "m"),
        ("2^10", 1024, ""),
        ("-2^2", -4, ""),
        ("2*-3", -6, ""),
        ("7 - 2 - 1", 4, ""),
        ("8/4/2", 1, ""),
        ("max(1, 5, 3)", 5, ""),
        ("norm([3, 4, 0] mm)", Fraction(1, 200), "m"),
        ("dot([1,2,3], [4,5,6])", 32, ""),
        ("cross([1,0,0], [0,1,0]).z", 1, ""),
        ("[1,2,3].y", 2, ""),
        ("abs(-2 kg)", 2, "kg"),
        ("if(1, 2, 3)", 2, ""),
    ],
)
def test_a_value_is_exact_and_in_si(text, exact, unit):
    assert read_value(text) == (exact, unit)


def test_degrees_are_exact_parts_of_pi():
    assert value("36 deg") is PI * Fraction(1, 5)
    assert value("60 rpm") is 2 * PI
    assert value("1 rev") is 2 * PI


def test_roots_and_sines_of_exact_numbers_stay_formulas():
    root = value("sqrt(2)")
    assert to_text(root) == "sqrt(2)"
    assert float(evaluate([root], {})[0]) == math.sqrt(2)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sin(30 deg)", 0.5),
        ("atan2(3, 4)", math.atan2(3, 4)),
        ("exp(1)", math.e),
        ("2^0.5", math.sqrt(2)),
        ("log(10)", math.log(10)),
        ("acos(0.3) + asin(0.3)", math.pi / 2),
    ],
)
def test_functions_have_their_values(text, expected):
    assert number(value(text)) == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "text",
    ["1 m + 1 kg", "1 m - 3 deg", "sin(1 m)", "1 + 1 m + 1 s", "sqrt(2 m)", "(1 m)^0.5", "2^(1 m)",
     "exp(1 s)", "atan2(1 m, 1 s)", "max(1 m, 2 s)", "(2 kg) m", "[1,2] + [1,2,3]", "1/0", "0^-1",
     "2^100000", "sqrt(-1)", "log(0)", "asin(2)", '"a" + 1', "x", "sin(1, 2)", "sin([1,2,3])",
     "1e400", "[1,2].z", "foo(1)", "norm(3)", "1e308*10", "3 flups", "1 m^99", "nan"],
)  # fmt: skip
def test_nonsense_is_refused(text):
    with pytest.raises(LiaisonError):
        read_value(text)


def test_a_number_without_unit_fits_any_dimension():
    assert read_value("1 m + 2") == (3, "m")
    assert with_base("start A = 1 ; start B.slide = 1 ;").starts[1].value == 1


# ---- frames


def marker(text: str):
    return with_base(f"let J = join {text} and rod with fixed end ;").joint("J").predecessor


def test_a_frame_is_motions_one_after_another_on_a_body():
    found = marker("[1,0,0] ++ 90 deg || [0,0,1] ++ [2,0,0] @ crank")
    assert [number(x) for x in found.p] == pytest.approx([1, 2, 0], abs=1e-15)
    assert [number(x) for x in array(found.R)[:, 0]] == pytest.approx([0, 1, 0], abs=1e-15)


@pytest.mark.parametrize(
    "text", ["crank", "crank.frame", "0 @ crank", "1 @ crank", "[0,0,0] @ crank"]
)
def test_null_frame_and_identity_are_the_body_itself(text):
    found = marker(text)
    assert found.body == "crank"
    assert found.p == (0, 0, 0)
    assert found.R == ((1, 0, 0), (0, 1, 0), (0, 0, 1))


def test_a_frame_may_be_named_and_stand_on_another():
    mechanism = with_base(
        "let P = [1,0,0] ++ 90 deg || [0,0,1] @ crank ; let Q = [1,0,0] @ P ;"
        "let J = join Q and rod with fixed end ;"
    )
    assert [number(x) for x in mechanism.joint("J").predecessor.p] == pytest.approx([1, 1, 0])


def test_the_iframe_is_the_central_frame():
    mechanism = read_lsd(
        "let a = body mass = 1, iframe = [0,0,2] ++ 90 deg || [1,0,0], inertia = [1,2,3] end ;"
        "let J = join earth and a.iframe with fixed end ;"
    )
    body = mechanism.body("a")
    assert body.com == (0, 0, 2)
    # y and z of the iframe are z and -y of the body
    assert [number(body.inertia[i][i]) for i in range(3)] == pytest.approx([1, 3, 2])
    assert mechanism.joint("J").successor.p == (0, 0, 2)


# ---- bodies


def body(text: str):
    return read_lsd(f"let a = body {text} end ; join earth and a with free end ;").body("a")


def test_inertia_has_one_three_six_or_nine_numbers():
    assert body("mass = 1, inertia = 2").inertia == ((2, 0, 0), (0, 2, 0), (0, 0, 2))
    assert body("mass = 1, inertia = [2,3,4]").inertia == ((2, 0, 0), (0, 3, 0), (0, 0, 4))
    six = ((4, 1, 0), (1, 4, 0), (0, 0, 3))
    assert body("mass = 1, inertia = [4,4,3,1,0,0]").inertia == six
    assert body("mass = 1, inertia = [[4,1,0],[1,4,0],[0,0,3]]").inertia == six


def test_a_shape_and_a_mass_or_density_make_the_rest():
    made = body("mass = 12 kg, shape = [1,0,0] @ box([1,2,3] m)")
    assert made.com == (1, 0, 0)
    assert made.inertia == ((13, 0, 0), (0, 10, 0), (0, 0, 5))
    assert body("density = 2, shape = box([1,2,3] m)").mass == 12


def test_what_is_not_said_is_an_unknown_parameter():
    text = "let a = body end ; join earth and a with free end ;"
    names = [parameter.name for parameter in read_lsd(text).parameters]
    assert names == ["a.mass", "a.inertia.x", "a.inertia.y", "a.inertia.z"]


def test_an_unknown_gets_its_value_by_its_place():
    text = (
        "let a = body inertia = 0, center = [?s, 0, 0] end ; join earth and a with free end ;"
        "parameter a.center.x = 3 cm ; parameter a.mass = 2 kg between 1 kg and 3 kg ;"
    )
    found = {p.name: (p.value, p.unit, p.high) for p in read_lsd(text).parameters}
    assert found == {"a.center.x": (Fraction(3, 100), "m", None), "a.mass": (2, "kg", 3)}


def test_each_question_mark_is_a_new_unknown():
    names = [p.name for p in with_base("let P = [?s, ?s + ?s, 0] @ crank ;").parameters]
    assert names == ["P.x", "P.y", "P.y_2"]


def test_shapes_have_their_place_and_colour():
    made = body(
        'mass = 1, inertia = 0, color = "red", shape = sphere(1 cm),'
        'shape = cylinder(from = [0,0,0], to = [0,3,4], radius = 1, color = "blue"),'
        'shape = cone(1, 2), shape = line([0,0,0], [1,0,0]), shape = mesh("a.stl")'
    )
    ball, tube, cone, line, mesh = made.shapes
    assert (ball.radius, ball.color) == (Fraction(1, 100), "red")
    assert (tube.length, tube.color, tube.p) == (5, "blue", (0, Fraction(3, 2), 2))
    assert [number(row[2]) for row in tube.R] == pytest.approx([0, 0.6, 0.8])
    assert (cone.height, len(line.points), mesh.file) == (2, 2, "a.stl")


def test_a_shape_may_be_added_by_a_statement():
    mechanism = with_base("rod.shape = sphere(1 cm) ; rod.shape = box([1,1,1] cm) ;")
    assert [type(shape).__name__ for shape in mechanism.body("rod").shapes] == ["Sphere", "Box"]
    with pytest.raises(LiaisonError, match="did you mean 'rod'"):
        with_base("rodd.shape = sphere(1 cm) ;")


# ---- joints


@pytest.mark.parametrize(
    ("words", "kind", "nv"),
    [
        ("fixed", None, 0), ("revolute", Revolute, 1), ("pivot", Revolute, 1),
        ("prismatic", Prismatic, 1), ("helical pitch = 5 mm/rev", Helical, 1),
        ("cylindrical", Cylindrical, 2), ("universal", Universal, 2), ("cardan", Universal, 2),
        ("spherical_pin", None, 2), ("spherical", Spherical, 3), ("rotule", Spherical, 3),
        ("planar", Planar, 3), ("point_on_line", None, 4), ("line_on_plane", None, 4),
        ("parallel_axes", None, 4), ("point_on_plane", None, 5), ("perpendicular", None, 5),
        ("rod length = 2 m", Rod, 5), ("free", Free, 6),
    ],
)  # fmt: skip
def test_every_joint_of_the_catalogue_has_a_word(words, kind, nv):
    mechanism = read_lsd(
        f"let a = body mass = 1, inertia = 1 end ; let J = join earth and a with {words} end ;"
    )
    joint = mechanism.joint("J")
    assert joint.type.freedom == nv
    assert kind is None or isinstance(joint.type, kind)


def link(text: str):
    return read_lsd(
        f"let a = body mass = 1, inertia = 1 end ; let J = join earth and a with link{text} end ;"
    ).joint("J")


def test_a_link_of_one_motion_is_the_joint_of_the_catalogue():
    turn, slide = link("(x) dof = x || [1,0,0]"), link("(x) dof = [0,x,0]")
    assert isinstance(turn.type, Revolute)
    assert [row[2] for row in turn.successor.R] == [1, 0, 0]
    assert isinstance(slide.type, Prismatic)
    assert turn.coordinates == slide.coordinates == ("J",)


SCREW = """
let nut = body mass = 1 kg, inertia = 1 g*m^2 end ;
parameter p = {} ;
let N = join earth and nut with helical axis = [0, 0, 1], pitch = p end ;
"""


@pytest.mark.parametrize(
    ("text", "pitch"),
    [("5 mm/rad", 5e-3), ("5 mm/rev", 5e-3 / (2 * math.pi)), ("2 in mm/rad", 2e-3)],
)
def test_a_parameter_may_be_a_pitch(text, pitch):
    mechanism = liaison.read(SCREW.format(text))
    assert mechanism.parameters[0].unit == "m/rad"
    assert liaison.read(liaison.write_lsd(mechanism)) == mechanism
    run = liaison.simulate(mechanism, until=0.1, start={"N'": 2})
    assert run["N"][-1] == pytest.approx(0.2)
    assert run.pose("nut")[-1, 2, 3] == pytest.approx(pitch * run["N"][-1])


def test_a_length_is_no_pitch_by_a_parameter():
    with pytest.raises(TextError, match="a length by an angle"):
        liaison.read(SCREW.format("5 mm"))


def test_a_slide_and_a_turn_by_one_coordinate_are_a_screw():
    screw = link("(x) dof = [0,0,0.01*x] ++ x || [0,0,1]")
    assert isinstance(screw.type, Helical)
    assert screw.type.pitch == Fraction(1, 100)


def test_a_link_of_several_motions_takes_them_in_order():
    joint = link("(a, b, c) dof2 = [a, 0, 0], dof1 = b || [0,0,1], dof3 = -c || [0,1,0]")
    assert isinstance(joint.type, Composition)
    assert joint.coordinates == ("J.b", "J.a", "J.c")
    assert joint.type.motions[2].axis == (0, -1, 0)


@pytest.mark.parametrize(
    "text",
    ["(x)", "(x) dof = 3", "(x) dof = [x^2,0,0]", "(x) dof = [x+1,0,0]",
     "(x, y) dof = x || [1,0,0]",
     "(x) dof1 = x || [1,0,0], dof2 = x || [0,1,0]", "(x) dof = 2*x || [1,0,0]", " dof = [1,0,0]",
     "(x) dof = x || [x,0,0]", "(x) dof = [1,0,0] ++ x || [0,1,0]", "(x, x) dof = [x,0,0]",
     "(x) dof = [x,0,0] ++ x || [0,1,0]"],
)  # fmt: skip
def test_a_link_that_is_no_sequence_of_motions_is_refused(text):
    with pytest.raises(LiaisonError):
        link(text)


def test_coordinates_may_be_named():
    mechanism = read_lsd(
        "let a = body mass = 1, inertia = 1 end ;"
        "let U = join earth and a with universal(alpha, beta) end ; start U.beta = 1 ;"
    )
    assert mechanism.joint("U").coordinates == ("U.alpha", "U.beta")


def test_the_only_coordinate_of_a_joint_goes_by_its_name_and_by_its_own():
    mechanism = with_base("output a = A ; output b = A.angle ; output c = A.angle' ;")
    assert [to_text(output.formula) for output in mechanism.outputs] == ["A", "A", "A'"]


def test_ground_is_the_predecessor_on_either_side():
    for text in ("earth and a", "a and earth", "ground and a", "a and [1,0,0] @ ground"):
        mechanism = read_lsd(
            f"let a = body mass = 1, inertia = 1 end ; join {text} with revolute end ;"
        )
        assert mechanism.joints[0].predecessor.body == "ground"
        assert mechanism.joints[0].name == "ground_a"


def test_unnamed_joints_between_the_same_bodies_are_counted():
    mechanism = read_lsd(
        "let a = body mass = 1, inertia = 1 end ; join earth and a with spherical end ;"
        "join earth and [0,0,1] @ a with point_on_line end ;"
    )
    assert [joint.name for joint in mechanism.joints] == ["ground_a", "ground_a_2"]


def test_the_attitude_of_a_ball_is_chosen():
    mechanism = read_lsd(
        "let a = body mass = 1, inertia = 1 end ;"
        "let J = join earth and a with spherical attitude = euler end ;"
    )
    assert isinstance(mechanism.joint("J").type.attitude, EulerZXZ)


# ---- forces, relations, and the rest


def test_a_spring_is_on_a_joint_between_frames_or_about_an_angle():
    mechanism = with_base(
        "apply spring stiffness = 3 N*m/rad, rest = 30 deg end on A ;"
        "apply spring stiffness = 3 N/m, rest = 1 cm end on B.slide ;"
        "let S = apply spring stiffness = 2 N/m end on [1,0,0] @ crank and earth ;"
        "apply spring stiffness = 2 N*m end on angle(crank, rod) ;"
    )
    first, second, between, about = mechanism.forces
    assert first == Spring("spring_on_A", Coordinate("A"), 3, PI * Fraction(1, 6))
    assert second.measure == Coordinate("B.slide")
    assert isinstance(between.measure, Distance)
    assert between.name == "S"
    assert isinstance(about.measure, Angle)


def test_dampers_motors_and_friction():
    mechanism = with_base(
        "apply damper coefficient = 2 N*s/m end on B.slide ;"
        "let M = apply motor torque = 3 N*m * sin(2 rad/s * t) end on A ;"
        "apply actuator end on B.slide ;"
        "apply friction viscous = 1 N*m*s, dry = 2 N*m end on A ;"
    )
    damper, motor, jack, friction = mechanism.forces
    assert isinstance(damper, Damper)
    assert isinstance(motor, Actuator)
    assert to_text(motor.effort) == "3*sin(2*t)"
    assert [(u.name, u.unit) for u in mechanism.inputs] == [("actuator_on_B", "N")]
    assert to_text(jack.effort) == "actuator_on_B"
    assert isinstance(friction, JointFriction)
    assert (friction.viscous, friction.dry) == (1, 2)


def test_forces_at_a_frame_in_the_axes_of_a_body():
    mechanism = with_base(
        "let F = apply force value = [1,2,3] N, body = rod end on [1,0,0] @ crank ;"
        "let T = apply torque value = [0,0,1] N*m end on crank ;"
        "let W = apply wrench force = [1,0,0] N, torque = [0,1,0] N*m end on rod ;"
    )
    force, torque, wrench = mechanism.forces
    assert isinstance(force, PointWrench)
    assert (force.force, force.axes.body, force.marker.p) == ((1, 2, 3), "rod", (1, 0, 0))
    assert (torque.moment, torque.axes) == ((0, 0, 1), None)
    assert (wrench.force, wrench.moment) == ((1, 0, 0), (0, 1, 0))


def test_potentials_dissipation_and_gravity():
    mechanism = with_base(
        "gravity = [0, -9.81, 0] ; apply potential value = 3 J * A^2 end ;"
        "apply dissipation value = 2 W*s^2 * A'^2 end ;"
    )
    assert mechanism.forces[0] == Gravity((0, Fraction(-981, 100), 0))
    assert to_text(the(Potential, mechanism.forces).formula) == "3*A**2"
    assert isinstance(mechanism.forces[2], Dissipation)


def test_the_effort_of_a_joint_is_along_its_axis():
    text = BASE.replace(
        "crank with revolute", "crank with revolute axis = [0,2,0], torque = [0, -3*A, 0] N*m"
    )
    (law,) = read_lsd(text).forces
    assert law.measure == Coordinate("A")
    assert law.effort is -3 * symbol("A")


@pytest.mark.parametrize("effort", ["torque = [1,0,0]", "force = [0,0,1]", "torque = 1 N"])
def test_an_effort_that_does_no_work_is_refused(effort):
    with pytest.raises(LiaisonError):
        read_lsd(BASE.replace("crank with revolute", f"crank with revolute {effort}"))


def test_imposed_motion_and_relations():
    mechanism = with_base(
        "impose A = 2 rad/s * t ; let gear = require B.angle = -2*A ;require B.slide' = 3 cm * A' ;"
    )
    imposed, gear, rolling = mechanism.constraints
    assert imposed == PrescribedMotion("imposed_A", "A", 2 * symbol("t"))
    assert isinstance(gear, Holonomic)
    assert isinstance(rolling, Nonholonomic)
    assert {x.name for x in symbols_of([rolling.formula])} == {"A'", "B.slide'"}


def test_parameters_inputs_outputs_and_events():
    mechanism = with_base(
        "parameter k = 3 kN/m between 1 N/m and 5 kN/m ; parameter L in mm ; parameter c = 4 in cm;"
        "input u = 2 N ; let half = k/2 ; output x = half * B.slide in kN ;"
        "event e when A - 90 deg rising stop ; event f when A falling ; event g when A ;"
    )
    found = [(p.name, p.value, p.unit) for p in mechanism.parameters]
    assert found == [("k", 3000, "N/m"), ("L", None, "m"), ("c", Fraction(1, 25), "m")]
    assert (mechanism.parameters[0].low, mechanism.parameters[0].high) == (1, 5000)
    assert mechanism.inputs[0].default == 2
    (output,) = mechanism.outputs
    assert output.unit == "kN"
    values = {symbol("k"): 4.0, symbol("B.slide"): 3.0}
    assert evaluate([output.formula], values)[0] == pytest.approx(6e-3)
    found = [(e.name, e.direction, e.action) for e in mechanism.events]
    assert found == [("e", 1, "stop"), ("f", -1, "record"), ("g", 0, "record")]


def test_events_and_outputs_may_name_outputs_as_quantities():
    mechanism = with_base(
        "event e when double - 90 deg rising ; output double = 2*turn in deg ; output turn = A ;"
    )
    (event,), (double, turn) = mechanism.events, mechanism.outputs
    A = symbol("A")
    assert (turn.formula, double.unit) == (A, "deg")
    assert evaluate([event.formula, double.formula], {A: 1.0}) == pytest.approx(
        [2 - math.pi / 2, math.degrees(2)]
    )
    with pytest.raises(TextError, match="'x' is defined by itself: x → y → x"):
        with_base("output x = y ; output y = x + A ;")
    with pytest.raises(TextError, match="'A' is a coordinate; bodies, frames and parameters"):
        with_base("output h = A ; parameter p = 2*h ;")


def test_outputs_get_the_unit_of_their_formula():
    mechanism = with_base("output a = A' ; output b = B.slide^2 ; output c = 3 kg * B.slide'^2 ;")
    assert [output.unit for output in mechanism.outputs] == ["rad/s", "m^2", "N*m"]


def test_laws_are_bound_by_their_place():
    text = BASE.replace("crank with revolute", "crank with revolute(x) torque = ?fs(x, x')")
    (law,) = read_lsd(text + "law A.torque(a, b') = -2*a - 3*b' ;").forces
    assert law.effort is -2 * symbol("A") - 3 * symbol("A'")


def test_starts_of_balls_and_free_bodies_are_poses():
    mechanism = read_lsd(
        "let a = body mass = 1, inertia = 1 end ; let J = join earth and a with free end ;"
        "start J = [1,2,3] ++ 60 deg || [0,0,1] ++ 60 deg || [0,0,1] ;"
        "start J' = [1,2,3,4,5,6] ; "
    )
    starts = {start.label: number(start.value) for start in mechanism.starts}
    joint = mechanism.joint("J")
    assert [starts[x] for x in joint.coordinates] == pytest.approx(
        [1, 2, 3, 0.5, 0, 0, math.sqrt(3) / 2]
    )
    # velocities first, then the angular velocity; the speeds of a free joint begin with wx
    assert [starts[x] for x in joint.speeds] == [4, 5, 6, 1, 2, 3]


def test_names_may_be_used_before_their_line():
    read_lsd(
        "start A = phi ; let phi = 2*psi ; join rod and crank with revolute end ;"
        "let A = join earth and crank with revolute end ; let psi = 1 deg ;"
        "let crank = body mass = 1, inertia = 1 end ; let rod = body mass = m, inertia = 1 end ;"
        "parameter m = 3 kg ;"
    )


def test_comments_may_be_nested_and_stand_anywhere():
    mechanism = read_lsd(BASE + '(* a (* b *) " *) start A (* here *) = 3 ; output x = A ;')
    assert mechanism.starts[0].value == 3


def test_the_mechanism_is_named_by_its_text_or_its_file(tmp_path):
    path = tmp_path / "thing.lsd"
    path.write_text(BASE, encoding="utf-8")
    assert read(path).name == read(str(path)).name == "thing"
    path.write_text('name = "other" ; note = "none" ;' + BASE, encoding="utf-8")
    assert read(path).name == "other"


def test_records_know_where_they_were_said():
    joint = with_base("").joint("B")
    assert (joint.place.file, joint.place.line, joint.place.column) == ("text", 5, 5)
