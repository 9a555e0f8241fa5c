"""The grammar for editors knows every word of the language, and diagnostics tell all at once."""

import json
import re
from pathlib import Path

import pytest

from liaison.cli import main
from liaison.formats.lsd.formulas.functions import FUNCTIONS, VECTOR_FUNCTIONS, WORDS
from liaison.formats.lsd.meaning.contacts import CONTACTS
from liaison.formats.lsd.meaning.forces import FORCE_KINDS
from liaison.formats.lsd.meaning.shapes import SHAPES
from liaison.formats.lsd.meaning.statements import COUPLES
from liaison.formats.lsd.syntax.tokens import ACTIONS, DIRECTIONS, RESERVED
from liaison.model import JOINT_TYPES
from liaison.units import UNITS

EDITOR = Path(__file__).parents[2] / "editors"
GRAMMAR = json.loads((EDITOR / "liaison.tmLanguage.json").read_text(encoding="utf-8"))
RULES = GRAMMAR["repository"]

COVERED = {
    "keywords": ("{}", {*RESERVED, *DIRECTIONS, *ACTIONS, "to"}),
    "joints": ("with {}", {*JOINT_TYPES.in_lsd, *JOINT_TYPES.synonyms, "link"}),
    "acts": ("apply {}", set(FORCE_KINDS)),
    "couplings": ("with {}", set(COUPLES)),
    "contacts": ("with {}", set(CONTACTS)),
    "calls": ("{}(", {*FUNCTIONS, *VECTOR_FUNCTIONS, *SHAPES, *WORDS}),
    "units": ("1 {}", set(UNITS)),
}


@pytest.mark.parametrize("rule", COVERED)
def test_the_grammar_knows_every_word(rule):
    form, words = COVERED[rule]
    pattern = re.compile(RULES[rule]["match"])
    unknown = {word for word in words if not _is_whole(pattern, form.format(word), word)}
    assert not unknown


def _is_whole(pattern: re.Pattern[str], text: str, word: str) -> bool:
    """Whether the rule takes the whole word, not only its beginning."""
    found = pattern.search(text)
    return found is not None and found[found.lastindex or 0] == word


def test_the_grammar_knows_no_other_keyword():
    listed = re.fullmatch(r"\\b\((.*)\)\\b", RULES["keywords"]["match"])[1].split("|")
    assert set(listed) == COVERED["keywords"][1]


def scopes(line: str) -> list[tuple[str, str]]:
    """(text, scope) of a line, rule by rule as an editor does."""
    rules = [(name.removeprefix("#"), RULES[name.removeprefix("#")]) for name in order()]
    flat = [r for _, rule in rules for r in rule.get("patterns", [rule]) if "match" in r]
    found, at = [], 0
    while at < len(line):
        hits = [(m.start(), k, m, r) for k, r in enumerate(flat)
                if (m := re.compile(r["match"]).search(line, at)) and m.end() > at]  # fmt: skip
        if not hits:
            break
        _, _, match, rule = min(hits, key=lambda hit: hit[:2])
        captures = rule.get("captures", {"0": {"name": rule.get("name")}})
        found += [(match[int(k)], c["name"].split(".")[-2]) for k, c in captures.items()]
        at = match.end()
    return found


def order() -> list[str]:
    return [pattern["include"] for pattern in GRAMMAR["patterns"]]


def test_a_line_is_coloured():
    line = "let J = join 20 cm*pi @ b and earth with revolute axis = [0, 1.5e2, 0] mm end ;"
    found = scopes(line)
    assert found[:3] == [("let", "control"), ("J", "definition"), ("=", "operator")]
    assert ("20", "numeric") in found
    assert ("cm", "unit") in found
    assert ("mm", "unit") in found
    assert ("1.5e2", "numeric") in found
    assert ("revolute", "joint") in found
    assert ("axis", "property") in found
    assert ("earth", "language") in found


def test_comments_are_nested_and_files_are_named():
    rule = RULES["comments"]
    assert re.search(rule["begin"], "(* a")
    assert re.search(rule["end"], "*)")
    assert {"include": "#comments"} in rule["patterns"]
    package = json.loads((EDITOR / "package.json").read_text(encoding="utf-8"))
    said = package["contributes"]
    assert said["languages"][0]["extensions"] == [".lsd"]
    assert said["grammars"][0]["scopeName"] == GRAMMAR["scopeName"]
    for path in (said["grammars"][0]["path"], said["languages"][0]["configuration"]):
        assert json.loads((EDITOR / path).read_text(encoding="utf-8"))


def checked(capsys, path: Path) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as left:
        main(["check", str(path), "--json"])
    return left.value.code, json.loads(capsys.readouterr().out)


def test_diagnostics_tell_all_mistakes_with_their_places(capsys, tmp_path):
    path = tmp_path / "wrong.lsd"
    path.write_text("let a = [1, 2 ;\nlet b = 3 ;\nlett c = 5 ;\nlet d = 1 + ;\n")
    status, told = checked(capsys, path)
    assert status == 1
    found = told["diagnostics"]
    assert [(x["line"], x["column"], x["length"]) for x in found] == [
        (1, 15, 1),
        (3, 6, 1),
        (4, 13, 1),
    ]
    assert {x["severity"] for x in found} == {"error"}
    assert {x["file"] for x in found} == {str(path)}
    assert found[1]["hint"] == "Did you mean 'let'?"
    assert found[0]["message"] == told["error"]["message"]


def test_diagnostics_are_empty_where_nothing_is_wrong(capsys, examples):
    status, told = checked(capsys, examples / "pendulum.lsd")
    assert (status, told["diagnostics"]) == (0, [])


def test_a_mistake_without_a_place_is_told_of_the_file(capsys, tmp_path):
    path = tmp_path / "none.lsd"
    path.write_text("")
    _, told = checked(capsys, path)
    (found,) = told["diagnostics"]
    assert (found["file"], found["line"], found["column"]) == (str(path), 1, 1)


def test_the_problem_matcher_reads_a_refusal():
    package = json.loads((EDITOR / "package.json").read_text(encoding="utf-8"))
    pattern = package["contributes"]["problemMatchers"][0]["pattern"]
    found = re.match(pattern["regexp"], "arm.lsd, line 4: 'x' does not fit here.")
    assert (found[pattern["file"]], found[pattern["line"]]) == ("arm.lsd", "4")
