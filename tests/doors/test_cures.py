"""Errors that know how to fix a text carry the edit, and the text is right after it."""

import json

import pytest

from liaison.cli import main
from liaison.errors import Cure, LiaisonError, Place
from liaison.formats.lsd.read import read_lsd

BODY = "let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;\n"
JOINT = "let A = join earth and b with revolute end ;\n"
MODEL = BODY + JOINT

MISTAKES = {
    "comma": BODY.replace("kg,", "kg") + JOINT,
    "comma after a number": BODY.replace("1 kg,", "1") + JOINT,
    "end": BODY.replace(" end", "") + JOINT,
    "end of a line": BODY.replace(" end ;", "") + JOINT,
    "end of a repetition": MODEL + "for i = 1 to 2 output x[i] = A ;",
    "semicolon": BODY.replace(" ;", "") + JOINT,
    "semicolon at the end": MODEL + "output x = A",
    "brackets": MODEL + "start A' = 2*pi rad/s ;",
    "unit": MODEL + "start A = 1 degrees ;",
    "unit of a product": MODEL + "output x = 1 kgs*m ;",
    "unit of a factor": MODEL + "output x = 3 * sin(2.5*t + 1) ;",
    "name": MODEL + "output x = sin(a) ;",
    "body": BODY + JOINT.replace("earth", "eart"),
    "joint type": BODY + JOINT.replace("revolute", "revolut"),
    "property": BODY.replace("mass", "mas") + JOINT,
    "statement": MODEL + "stat A = 1 ;",
    "word": BODY + JOINT.replace("and", "adn"),
    "function": MODEL + "output x = sine(A) ;",
    "load": MODEL + "apply sprng stiffness = 1 end on A ;",
}


def error_of(text):
    with pytest.raises(LiaisonError) as caught:
        read_lsd(text)
    return caught.value


@pytest.mark.parametrize("what", MISTAKES)
def test_a_text_is_right_after_its_cure(what):
    text = MISTAKES[what]
    error = error_of(text)
    assert isinstance(error.cure, Cure)
    assert error.also == ()
    read_lsd(error.cure.applied(text))


def test_what_is_not_known_to_help_is_no_cure():
    assert error_of(MODEL + "output x = quite_another ;").cure is None


def test_a_cure_is_where_the_text_is_in_a_long_line():
    text = MODEL + " " * 400 + "output x = sin(a) ;" + " " * 300
    error = error_of(text)
    assert error.place.column == 400 + text.split("\n")[2].lstrip().index("(a)") + 2
    read_lsd(error.cure.applied(text))
    line, caret = error.place.excerpt().split("\n")[1:]
    assert line[caret.index("^")] == "a"


def test_a_word_that_stands_twice_is_no_cure():
    place = Place("f", 1, 1, "a + a", 5)
    assert place.replaced("a", "b") is None
    assert Place("f", 1, 5, "a + a", 1).replaced("a", "b").applied("a + a") == "a + b"


def test_json_has_the_edit(tmp_path, capsys):
    file = tmp_path / "arm.lsd"
    file.write_text(MISTAKES["comma"], encoding="utf-8")
    with pytest.raises(SystemExit):
        main(["check", str(file), "--json"])
    answer = json.loads(capsys.readouterr().out)
    cure = answer["diagnostics"][0]["cure"]
    assert cure == answer["error"]["cure"]
    assert cure["text"] == ","
    read_lsd(Cure(**cure).applied(MISTAKES["comma"]))
