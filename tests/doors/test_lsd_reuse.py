"""Repetition, sub-mechanisms, included files, and relations as LSD writes them."""

import time
from fractions import Fraction

import pytest

from liaison import check, derive
from liaison.errors import LiaisonError
from liaison.expr import to_text
from liaison.formats import read, read_lsd
from liaison.model import Contact, Coupling, Holonomic, Unilateral

BODY = "mass = 1 kg, inertia = 1 g*m^2 end ;"
LEG = f"""
mechanism leg(hip, length = 30 cm, k = 0 N*m/rad)
  let thigh = body {BODY}
  let shin = body {BODY}
  let H = join hip and thigh with revolute axis = [0, 1, 0] end ;
  let K = join [0, 0, -length] @ thigh and shin with revolute axis = [0, 1, 0] end ;
  parameter c = 2 N*m*s/rad ;
  apply damper coefficient = c end on K ;
  apply spring stiffness = k end on K ;
  start K = 20 deg ;
end ;
let trunk = body {BODY}
let F = join earth and trunk with free end ;
"""


def names(records):
    return [record.name for record in records]


def test_a_repetition_numbers_the_names():
    text = f"""
    let b0 = body {BODY}
    let J0 = join earth and b0 with revolute end ;
    let lengths = [10, 20, 30] cm ;
    for i = 1 to 3
      let b[i] = body {BODY}
      let J[i] = join [lengths[i], 0, 0] @ b[i-1] and b[i] with revolute end ;
      start J[i] = i * 10 deg ;
    end ;
    output last = J[3] in deg ;
    """
    # b[i-1] is no plain number: the index is computed
    m = read_lsd(text)
    assert names(m.bodies) == ["ground", "b0", "b1", "b2", "b3"]
    assert m.joint("J3").predecessor.body == "b2"
    assert m.joint("J2").predecessor.p[0] == Fraction(1, 5)
    assert [start.label for start in m.starts] == ["J1", "J2", "J3"]


def test_repetitions_stand_inside_one_another():
    text = f"""
    let n = 2 ;
    for i = 1 to n
      for j = i to n
        let p[i][j] = body {BODY}
        join [i, j, 0] @ earth and p[i][j] with prismatic end ;
      end ;
    end ;
    """
    assert names(read_lsd(text).bodies) == ["ground", "p1_1", "p1_2", "p2_2"]


def test_a_leg_is_used_twice_under_two_names():
    m = read_lsd(LEG + """
    let left = leg(hip = [0, 10, 0] cm @ trunk) ;
    let right = leg([0, -10, 0] cm @ trunk, length = 40 cm, k = 5 N*m/rad) ;
    output bend = left.K - right.K ;
    """)  # fmt: skip
    assert names(m.bodies)[2:] == ["left.thigh", "left.shin", "right.thigh", "right.shin"]
    assert m.joint("right.K").predecessor.p[2] == Fraction(-2, 5)
    assert m.joint("left.K").predecessor.p[2] == Fraction(-3, 10)
    assert {p.name for p in m.parameters} == {"left.c", "right.c"}
    assert to_text(m.outputs[0].formula) == "left.K - right.K"
    assert [start.label for start in m.starts] == ["left.K", "right.K"]


def test_legs_are_made_in_a_repetition_and_inside_others():
    m = read_lsd(LEG + """
    mechanism pair(at)
      let a = leg(hip = [0, 1, 0] @ at) ;
      let b = leg(hip = [0, -1, 0] @ at) ;
    end ;
    for i = 1 to 3
      let row[i] = pair([i, 0, 0] @ trunk) ;
    end ;
    """)  # fmt: skip
    assert len(m.bodies) == 2 + 12
    assert m.joint("row3.b.H").predecessor.p == (3, -1, 0)


def test_a_name_of_the_instance_does_not_catch_the_names_around_it():
    text = f"""
    mechanism link(at)
      let P = body {BODY}
      join at and P with revolute end ;
    end ;
    let P = body {BODY}
    join earth and P with prismatic end ;
    let far = link(at = [1, 0, 0] @ P) ;
    """
    m = read_lsd(text)
    assert [(j.predecessor.body, j.successor.body) for j in m.joints] == [
        ("ground", "P"),
        ("P", "far.P"),
    ]


WRONG = {
    "mechanism a(x) end ; let b = a() ;": "needs a value for 'x'",
    "mechanism a(xyz) end ; let b = a(xyy = 3) ;": "did you mean 'xyz'",
    "mechanism a(x) end ; let b = a(1, 2) ;": "takes 1 values: x",
    "mechanism a(x) let b = a(x) ; end ; let c = a(1) ;": "contains itself",
    "for i = 1 to 2.5 let a[i] = 1 ; end ;": "whole number",
    "for i = 1 to 100000 let a[i] = 1 ; end ;": "more than 10000 times",
    "let a[-1] = 3 ;": "whole number, not negative",
    'include "other.lsd" ;': "has no folder",
    "for i = 1 to 3 let a[i] = 1 ;": "expected",
}


@pytest.mark.parametrize("text", WRONG)
def test_reuse_is_refused_in_words(text):
    with pytest.raises(LiaisonError, match=WRONG[text]):
        read_lsd(text)


# ---- included files


def test_a_file_below_the_folder_is_included(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "bar.lsd").write_text(f"let bar = body {BODY}")
    main = tmp_path / "main.lsd"
    main.write_text('include "parts/bar.lsd" ; join earth and bar with revolute end ;')
    assert names(read(main).bodies) == ["ground", "bar"]


@pytest.mark.parametrize("name", ["../out.lsd", "/etc/passwd", "C:\\\\x.lsd", "secret.txt"])
def test_files_elsewhere_are_not_included(tmp_path, name):
    (tmp_path / "out.lsd").write_text("let a = 3 ;")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "main.lsd").write_text(f'include "{name}" ;')
    with pytest.raises(LiaisonError, match="is not included"):
        read(folder / "main.lsd")


def test_a_link_that_leads_out_is_not_followed(tmp_path):
    (tmp_path / "out.lsd").write_text("let a = 3 ;")
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "in.lsd").symlink_to(tmp_path / "out.lsd")
    (folder / "main.lsd").write_text('include "in.lsd" ;')
    with pytest.raises(LiaisonError, match="is not included"):
        read(folder / "main.lsd")


def test_files_that_include_one_another_are_refused(tmp_path):
    (tmp_path / "a.lsd").write_text('include "b.lsd" ;')
    (tmp_path / "b.lsd").write_text('include "a.lsd" ;')
    with pytest.raises(LiaisonError, match=r"includes itself: a\.lsd → b\.lsd → a\.lsd"):
        read(tmp_path / "a.lsd")


def test_a_mistake_in_an_included_file_is_told_with_its_place(tmp_path):
    (tmp_path / "part.lsd").write_text("let a = 3 ;\nlet b = c ;")
    (tmp_path / "main.lsd").write_text(f'\n\n\nlet x = body {BODY}\ninclude "part.lsd" ;')
    with pytest.raises(LiaisonError) as caught:
        read(tmp_path / "main.lsd")
    assert str(caught.value).startswith("part.lsd, line 2: no quantity is named 'c'")


# ---- several mistakes at once


def test_several_mistakes_are_told_at_once():
    text = "let a = 3 kgg ;\nlet b = [1, 2 ;\nlet c = 4 ;\nlett d = 5 ;\nlet e = 1 +  ;"
    with pytest.raises(LiaisonError) as caught:
        read_lsd(text)
    lines = [error.place.line for error in (caught.value, *caught.value.also)]
    assert lines == [2, 4, 5]  # units are told once the text can be read


def test_mistakes_of_meaning_are_told_at_once_and_once():
    text = f"""let a = body mass = 2 m, inertia = 0 end ;
    let J = join earth and a with revolut end ;
    let l = 3 m + 2 kg ;
    let k = 2*l ;
    start J = 3 ;
    let b = body {BODY}
    let P = join earth and b with prismatic end ;
    start P = 2 kg ;"""
    with pytest.raises(LiaisonError) as caught:
        read_lsd(text)
    found = [error.place.line for error in (caught.value, *caught.value.also)]
    assert sorted(found) == [1, 2, 3, 8]


def test_terms_that_do_not_go_together_are_shown_with_both_places():
    with pytest.raises(LiaisonError) as caught:
        read_lsd("let x =\n  3 m\n  + 20 deg ;")
    said = str(caught.value)
    assert "an angle (rad) cannot be subtracted" not in said
    assert "3 |   + 20 deg" in said
    assert "2 |   3 m" in said
    assert "a length (m)" in said


# ---- relations

SHAFTS = f"""
let a = body {BODY}
let b = body {BODY}
let A = join earth and a with revolute end ;
let B = join [1, 0, 0] @ earth and b with revolute end ;
let c = body {BODY}
let S = join earth and c with prismatic end ;
"""


def test_gears_belts_and_racks_are_couplings():
    m = read_lsd(SHAFTS + """
    let G = couple A and B with gear teeth = [20, 60] end ;
    couple A and B with gear radii = [2, -6] cm end ;
    couple A and B with belt radii = [2, 6] cm, offset = 30 deg end ;
    couple A and S with rack radius = 2 cm end ;
    """)  # fmt: skip
    found = [(c.coordinate, c.ratio, c.other) for c in m.constraints]
    third = Fraction(1, 3)
    assert found == [
        ("B", -third, "A"),
        ("B", third, "A"),
        ("B", third, "A"),
        ("S", Fraction(1, 50), "A"),
    ]
    assert names(m.constraints) == ["G", "gear", "belt", "rack"]
    assert all(isinstance(c, Coupling) for c in m.constraints)


def test_a_cam_is_given_by_its_lift():
    m = read_lsd(SHAFTS + "couple A and S with cam lift = 5 mm * (1 - cos(angle)) end ;")
    (cam,) = m.constraints
    assert isinstance(cam, Holonomic)
    assert {x for x in ("A", "S") if x in to_text(cam.formula)} == {"A", "S"}


ONE_SIDED = """
let stop = require A <= 90 deg ;
require A*A' <= 0 ;
let touch = contact c and earth with ball radius = 2 cm, friction = 0.3, restitution = 0.5 end ;
"""


def test_relations_of_one_side_are_read_checked_and_derived():
    m = read_lsd(SHAFTS + ONE_SIDED)
    assert [type(x) for x in m.contacts] == [Unilateral, Unilateral, Contact]
    assert check(m).to_dict()["one_sided"] == ["stop", "relation", "touch"]
    blocks = [(x.name, x.kind) for x in derive(m).sides.blocks]
    assert blocks[:3] == [("stop", "gap"), ("relation", "rate"), ("touch", "gap")]
    assert blocks[3:] == [("touch: sliding", "friction")]


def test_a_relation_of_one_side_is_linear_in_the_rates():
    with pytest.raises(LiaisonError, match="no relation W q̇ \\+ h ≤ 0"):
        read_lsd(SHAFTS + "require A'^2 <= 1 ;")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("couple A and B with geer teeth = [1, 2] end ;", "did you mean 'gear'"),
        ("couple A and B with gear teeth = [1, 0] end ;", "are not zero"),
        ("couple A and B with gear end ;", "needs 'teeth = …'"),
        ("couple A and B with gear tooth = 3 end ;", "no property 'tooth'"),
        ("contact a and b with cube end ;", "no kind of contact is named 'cube'"),
        ("couple A and a with rolling_ball radius = 1 end ;", "between frames of bodies"),
    ],
)
def test_relations_are_refused_in_words(text, said):
    with pytest.raises(LiaisonError, match=said):
        read_lsd(SHAFTS + text)


# ---- what would never end

DEEP = "".join(f"for i{k} = 1 to 9999 " for k in range(5)) + "end ; " * 5
DOUBLING = "mechanism m0() let x = 1 ; end ; " + "".join(
    f"mechanism m{k + 1}() " + "".join(f"let y{j} = m{k}() ; " for j in range(20)) + "end ; "
    for k in range(8)
)
HOSTILE = {
    "repetitions of nothing": DEEP,
    "instances of instances": DOUBLING + "let z = m8() ;",
    "many statements": "for i = 1 to 9999 for j = 1 to 9999 let a[i][j] = i*j ; end ; end ;",
    "many blocks": "for i = 1 to 2 " * 50,
    "long index": "let a[" + "9" * 5000 + "] = 1 ;",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_would_never_end_is_refused_soon(name):
    begin = time.process_time()
    with pytest.raises(LiaisonError):
        read_lsd(HOSTILE[name])
    # a quarter of a million terms at some microseconds each
    assert time.process_time() - begin < 4.0


def test_contacts_and_friction_of_sub_mechanisms_and_repetitions_keep_their_own_names():
    m = read_lsd("""
    mechanism leg(hip, mu = 0.3)
      let thigh = body mass = 2 kg, inertia = 20 g*m^2 end ;
      let H = join hip and thigh with revolute axis = [0, 1, 0] end ;
      let foot = contact thigh and earth with point friction = mu, surface = x*0.1 end ;
      let knock = contact gap = H + 3 rad, slip = H', friction = mu end ;
      let held = apply friction coefficient = mu, radius = 1 cm end on H ;
      let stop = require H <= 2 rad with restitution = mu end ;
    end ;
    for i = 1 to 2
      let left[i] = leg(hip = [i*20 cm, 0, 0] @ earth, mu = i/10) ;
      contact left[i].thigh and earth with box size = [i, 1, 1] cm end ;
    end ;
    """)
    assert names(m.contacts) == [
        "left1.foot", "left1.knock", "left1.held", "left1.stop", "box",
        "left2.foot", "left2.knock", "left2.held", "left2.stop", "box_2"]  # fmt: skip
    rough = [x.friction.sliding for x in m.contacts if hasattr(x, "friction")]
    assert rough[:2] == [Fraction(1, 10)] * 2
    assert [x.joint for x in m.contacts if hasattr(x, "joint")] == ["left1.H", "left2.H"]
