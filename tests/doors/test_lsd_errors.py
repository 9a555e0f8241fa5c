"""Errors of LSD: what was found, where, and how to fix it."""

import pytest

import liaison
from liaison.errors import LiaisonError, ModelError, NamingError, TextError
from liaison.formats import read, read_lsd

# text -> the refusal, line by line
SYNTAX = {
    "let a = body mass = 3 kg center = [0,0,0] end ;": """\
m.lsd, line 1: 'center' does not fit here; expected ',' or 'end'.
    1 | let a = body mass = 3 kg center = [0,0,0] end ;
                                 ^^^^^^
    A ',' may be missing before 'center'.""",
    "let a = body mass = 3 center = [0,0,0] end ;": """\
m.lsd, line 1: '=' does not fit here; expected ',' or 'end'.
    1 | let a = body mass = 3 center = [0,0,0] end ;
                                     ^
    A ',' may be missing before 'center'.""",
    "lett a = 3 ;": """\
m.lsd, line 1: 'a' does not fit here; expected '='.
    1 | lett a = 3 ;
             ^
    Did you mean 'let'?""",
    "let a = 3\nlet b = 4 ;": """\
m.lsd, line 2: 'let' does not fit here; expected ';'.
    2 | let b = 4 ;
        ^^^
    A ';' may be missing before 'let'.""",
    "join a adn b with revolute end ;": """\
m.lsd, line 1: 'adn' does not fit here; expected 'and'.
    1 | join a adn b with revolute end ;
               ^^^
    Did you mean 'and'?""",
    "let start = 3 ;": """\
m.lsd, line 1: 'start' does not fit here; expected a name.
    1 | let start = 3 ;
            ^^^^^
    'start' is a word of the language; choose another name.""",
    "(* a\n(* b *)": """\
m.lsd, line 1: this comment is never ended; '*)' ends it.
    1 | (* a
        ^^""",
    "let a = 3 *) ;": """\
m.lsd, line 1: '*)' ends no comment.
    1 | let a = 3 *) ;
                  ^""",
    "let a = (3 ;": """\
m.lsd, line 1: ';' does not fit here; expected ')'.
    1 | let a = (3 ;
                   ^""",
    "let a = 3 $ 4 ;": """\
m.lsd, line 1: the character '$' is not part of the language.
    1 | let a = 3 $ 4 ;
                  ^""",
    "let a = body mass = 1 kg\n\n": """\
m.lsd, line 1: the text ends here; expected ',' or 'end'.
    1 | let a = body mass = 1 kg
                                ^
    An 'end' may be missing before the end of the text.""",
    "event e when x rising sotp ;": """\
m.lsd, line 1: 'sotp' does not fit here; expected ';' or 'stop' or 'record'.
    1 | event e when x rising sotp ;
                              ^^^^
    Did you mean 'stop'?""",
    "let a =\n  body\n    mass = ,\n  end ;": """\
m.lsd, line 3: ',' does not fit here; expected a value.
    3 |     mass = ,
                   ^""",
}  # fmt: skip


@pytest.mark.parametrize("text", SYNTAX, ids=lambda text: text[:30])
def test_text_that_is_not_lsd_is_refused_in_words(text):
    with pytest.raises(TextError) as refused:
        read_lsd(text, "m.lsd")
    assert str(refused.value) == SYNTAX[text]


A = "let a = body mass = 1, inertia = 1 end ; "
J = A + "let J = join earth and a with revolute end ; "

# text -> the kind of refusal, and what its message says
MEANING = {
    A + "join earth and b with free end ;": (NamingError, "no body is named 'b'"),
    A + "join earth and a.fram with free end ;": (NamingError, "did you mean 'frame'?"),
    A + "join earth and a with fre end ;": (NamingError, "did you mean 'free'?"),
    A + "join earth and 3 with free end ;": (TextError, "frames on bodies, not a number"),
    A + "join earth and a with helical end ;": (TextError, "needs 'pitch = …'"),
    A + "join earth and a with helical pitch = 5 mm end ;": (TextError, "a length by an angle"),
    A + "join earth and a with rod length = 2 s end ;": (TextError, "must be a length (m)"),
    A + "join earth and a with revolute axis = [1,0] end ;": (TextError, "three components"),
    A + "join earth and a with free axis = [1,0,0] end ;": (NamingError, "no property 'axis'"),
    A + "join earth and a with universal(x) end ;": (TextError, "has 2 coordinates, not 1"),
    A + "join earth and a with free attitude = eulr end ;": (NamingError, "did you mean 'euler'?"),
    A + "join [0,0,1] @ 3 and a with free end ;": (TextError, "after '@'"),
    A + "join [0,0] @ earth and a with free end ;": (TextError, "three components, not 2"),
    A + "join 2 @ earth and a with free end ;": (TextError, "not of a number"),
    "let a = body mas = 1 end ;": (NamingError, "did you mean 'mass'?"),
    "let a = body mass = 1, mass = 2 end ;": (NamingError, "gives 'mass' twice"),
    'let a = body mass = "heavy" end ;': (TextError, "must be a number, not a text"),
    "let a = body center = [1,0,0], iframe = 0 end ;": (TextError, "says its centre twice"),
    "let a = body inertia = [1,2] end ;": (TextError, "is 2 numbers"),
    "let a = body inertia = [[1,2,0],[0,1,0],[0,0,1]] end ;": (ModelError, "symmetry fails"),
    "let a = body shape = 3 end ;": (TextError, "a shape is box(…)"),
    "let a = body shape = box(3, 4) end ;": (TextError, "too many"),
    "let a = body shape = sphere(-1) end ;": (TextError, "must be positive"),
    "let a = body shape = sphere() end ;": (TextError, "needs 'radius'"),
    "let a = body shape = spher(1) end ;": (NamingError, "did you mean 'sphere'?"),
    "let a = body density = 3, mass = 1 end ;": (TextError, "gives 'density' and 'mass'"),
    "let a = body density = 3 end ;": (TextError, "no shape to fill"),
    J + "start K = 1 ;": (NamingError, "no coordinate or speed is named 'K'"),
    J + "start J = 1 m ;": (TextError, "must be an angle (rad), not a length (m)"),
    J + "output x = J + 1 m ;": (TextError, "cannot be added"),
    J + "output x = J in mm ;": (TextError, "not a length (m)"),
    J + "output x = earth ;": (TextError, "not a frame on a body"),
    J + "output x = j ;": (NamingError, "did you mean 'J'?"),
    J + "apply sprong stiffness = 1 end on J ;": (NamingError, "did you mean 'spring'?"),
    J + "apply spring rest = 1 end on J ;": (TextError, "needs 'stiffness = …'"),
    J + "apply spring stiffness = 1 end ;": (TextError, "does not say what it is on"),
    J + "apply motor force = 1 N end on J ;": (TextError, "give its torque"),
    J + "apply force value = 1 N end on a ;": (TextError, "three components, not a number"),
    J + "apply friction viscous = 1 end on a and earth ;": (TextError, "acts on a coordinate"),
    J + "impose J = 1 m ;": (TextError, "must be an angle (rad)"),
    J + "require J = 1 m ;": (TextError, "equates an angle (rad) with a length (m)"),
    J + "law J.torque(x) = 3 ;": (NamingError, "no unknown is named 'J.torque'"),
    J + "parameter a.mass = 3 ;": (NamingError, "no unknown is named 'a.mass'"),
    J + "parameter k = 2*J ;": (TextError, "'J' is a coordinate"),
    J + "let b = body mass = 2*J' end ;": (TextError, '"J\'" is a coordinate'),
    J + "parameter h = 1 ; parameter k = 2*h ;": (TextError, "depends on other quantities"),
    J + "parameter k = 3 kg between 1 m and 2 m ;": (TextError, "not a length (m)"),
    "let p = q ; let q = p ;": (TextError, "is defined by itself"),
    "let p = ?x ;": (TextError, "'?s' is a scalar"),
    "let p = ?fs() ;": (TextError, "a function of numbers"),
    "let earth = 3 ;": (NamingError, "a meaning of its own"),
    "let a = 3 ; let a = 4 ;": (NamingError, "is given twice"),
    "gravty = [0,0,-9.81] ;": (NamingError, "did you mean 'gravity'?"),
    "gravity = [0,0,-9.81] m ;": (TextError, "must be an acceleration (m/s^2)"),
    "name = 3 ;": (TextError, "a text in quotes"),
    "let a = 3 kgg ;": (NamingError, "did you mean 'kg'?"),
}


@pytest.mark.parametrize("text", MEANING, ids=lambda text: text.removeprefix(A)[-60:])
def test_text_without_meaning_is_refused_in_words(text):
    kind, words = MEANING[text]
    with pytest.raises(LiaisonError) as refused:
        read_lsd(text, "m.lsd")
    assert words in str(refused.value)
    assert type(refused.value) is kind
    assert str(refused.value).startswith("m.lsd, line 1: ")
    assert "\n" + " " * 8 in str(refused.value)  # a caret under the words meant


def test_files_that_cannot_be_read_are_refused(tmp_path):
    with pytest.raises(TextError, match="cannot be read"):
        read(tmp_path / "none.lsd")
    with pytest.raises(TextError, match="not known"):
        read(tmp_path / "thing.step")
    latin = tmp_path / "latin.lsd"
    latin.write_bytes(b"\n(* \xe9 *)")
    with pytest.raises(TextError, match="line 2: this is not UTF-8"):
        read(latin)


PENDULUM = """let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let A = join earth and b with revolute end ;
"""


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (PENDULUM + "start A = −0.5 ;", "Write '-' for minus."),
        (PENDULUM + "# hung up\n", "Comments are written (* … *)."),
        (PENDULUM + "// hung up\n", "Comments are written (* … *)."),
        (PENDULUM + "output x = A**2 ;", "Write '^' for a power."),
        (PENDULUM + "start A = 0,5 rad ;", "A decimal has a point: 0.5."),
        (PENDULUM + "output x := A ;", "A value follows '='."),
        (PENDULUM + "output x = A_dot ;", "The rate of A is A'."),
        (PENDULUM + "output x = sin(2*time) ;", "The time is 't'."),
        (PENDULUM + "event e when A > 1 ;", "'event e when a - b rising'"),
        (PENDULUM + "output x = if(t > 1 s, 1, 0) ;", "'if(a - b, x, y)' for x where a > b"),
        (PENDULUM.replace("kg*m^2", "kg m^2"), "Units are joined by '*': kg*m^2."),
        (PENDULUM.replace("kg*m^2", "kgm2"), "Units are joined by '*': kg*m^2."),
        (PENDULUM.replace("kg*m^2", "kg·m^2"), "Write '*' for times."),
    ],
)
def test_other_notations_are_known(text, hint):
    with pytest.raises(liaison.LiaisonError) as error:
        liaison.read(text)
    assert hint in str(error.value)


def test_a_sign_of_degrees_is_a_unit_that_is_written_otherwise():
    with pytest.raises(
        liaison.NamingError, match="no unit is named '°'; did you mean 'deg'"
    ) as error:
        liaison.read(PENDULUM + "start A = 30° ;")
    assert error.value.cure.applied(PENDULUM + "start A = 30° ;").endswith("start A = 30deg ;")
