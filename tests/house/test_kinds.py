"""Every kind of load, relation and contact says all it has to; no choice among kinds is silent."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest
from imported import nodes

import liaison
from liaison.errors import DerivationError, ModelError
from liaison.expr import evaluate, gradient, symbol
from liaison.formats.lsd.meaning.contacts import CONTACTS
from liaison.formats.lsd.meaning.forces import FORCE_KINDS
from liaison.formats.lsd.meaning.statements import COUPLES
from liaison.model import Coordinate, Marker
from liaison.model.contacts import PAIRS, SHAPE_KINDS, TARGET_KINDS
from liaison.model.kinds import SYMBOLS, Kinds
from liaison.model.loads import LOAD_KINDS, AlongMeasure, AtMarker, Field, OfMechanism
from liaison.model.relations import RELATION_KINDS, BetweenFrames, OfCoordinates
from liaison.view.contacts import PIECES, SOLID
from liaison.view.links import IS_COIL

DOCS = Path(__file__).parents[2] / "docs"
LSD, PYTHON = ((DOCS / name).read_text(encoding="utf-8") for name in ("lsd.md", "python.md"))


def has_word(page, word):
    return re.search(rf"\b{re.escape(word)}\b", page) is not None


@pytest.mark.parametrize("kind", [*LOAD_KINDS, *RELATION_KINDS], ids=lambda x: x.__name__)
def test_a_load_or_relation_has_its_words_and_its_symbol(kind):
    assert kind.PYTHON in liaison.__all__
    made = getattr(liaison, kind.PYTHON)
    assert made.__module__ == kind.__module__, "its word stands in the file of its class"
    assert has_word(PYTHON, kind.PYTHON)
    assert has_word(LSD, kind.LSD) or any(word.startswith(kind.LSD) for word in COUPLES)
    assert kind.SYMBOL in SYMBOLS
    assert kind.__doc__


@pytest.mark.parametrize("kind", LOAD_KINDS, ids=lambda x: x.__name__)
def test_a_load_acts_in_one_way_and_has_properties_for_its_fields(kind):
    assert sum(issubclass(kind, way) for way in (AlongMeasure, AtMarker, OfMechanism, Field)) == 1
    assert kind.LSD in FORCE_KINDS
    fields = set(kind.__dataclass_fields__)
    assert {one.name for one in kind.PROPERTIES} <= fields
    assert {*kind.SCALARS, *kind.TRIPLES} <= fields
    if issubclass(kind, AlongMeasure):
        assert kind.SYMBOL in IS_COIL or kind.ON == "coordinate"


def along_measures():
    return [kind for kind in LOAD_KINDS if issubclass(kind, AlongMeasure)]


@pytest.mark.parametrize("kind", along_measures(), ids=lambda x: x.__name__)
def test_the_effort_of_a_load_is_that_of_its_energy_and_dissipation(kind):
    x, rate = symbol("x"), symbol("x'")
    given = {name: 0.3 + 0.4 * k for k, name in enumerate(kind.SCALARS)}
    on = {"measure": Coordinate("x")} if kind.ON == "measure" else {"coordinate": "x"}
    load = kind(name="a", **on, **given)
    stored, lost = load.energy_at(x, lambda y: y), load.dissipation_at(rate, lambda y: y)
    assert (stored is not None and lost is None) == kind.KEEPS_ENERGY
    if stored is None and lost is None:
        return
    effort = load.effort_at(x, rate, lambda y: y)
    if stored is not None:
        effort = effort + gradient(stored, [x])[0]
    if lost is not None:
        effort = effort + gradient(lost, [rate])[0]
    for at in ({x: 0.7, rate: -0.2}, {x: -1.3, rate: 0.9}):
        assert abs(float(evaluate([effort], at)[0])) < 1e-12


@pytest.mark.parametrize("kind", RELATION_KINDS, ids=lambda x: x.__name__)
def test_a_relation_holds_coordinates_or_frames(kind):
    assert issubclass(kind, OfCoordinates) != issubclass(kind, BetweenFrames)
    fields = set(kind.__dataclass_fields__)
    assert {*kind.SCALARS, *kind.SIDES, *(one.name for one in kind.PROPERTIES)} <= fields
    if kind.SIDES:
        assert kind.LSD in COUPLES


@pytest.mark.parametrize("kind", SHAPE_KINDS, ids=lambda x: x.__name__)
def test_a_contact_shape_has_its_word_its_symbol_and_something_to_touch(kind):
    assert kind.WORD in CONTACTS
    assert has_word(LSD, kind.WORD)
    assert kind.SYMBOL in SYMBOLS
    assert [target for shape, target in PAIRS if shape == kind.WORD]
    corner = liaison.Hull([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
    told = {
        one.key: corner if one.shape else (0.1, 0.2, 0.3) if one.vector else 0.1
        for one in kind.SIZES
    }
    a, b = Marker("a"), Marker("ground")
    touched = {} if (kind.WORD, "plane") in PAIRS else {"edge": 0.2}
    contact = liaison.contact(a, b, kind.WORD, **told, **touched)
    assert contact.shape is kind
    R, p = np.eye(3), np.array([0.0, 0.0, 0.4])
    for place in contact.places(R, p, float):
        first, second = (np.array(x, dtype=float) for x in place.tangents)
        assert np.allclose(np.cross(first, second), np.array(place.normal, dtype=float))


@pytest.mark.parametrize("kind", TARGET_KINDS, ids=lambda x: x.__name__)
def test_a_contact_target_is_named_in_the_language_and_drawn(kind):
    assert all(has_word(LSD, one.key) for one in kind.KEYS)
    assert kind.SYMBOL in SOLID
    assert [shape for shape, target in PAIRS if target == kind.WORD]


def test_every_pair_is_of_a_shape_and_a_target_that_are_there():
    words = {kind.WORD for kind in SHAPE_KINDS}, {kind.WORD for kind in TARGET_KINDS}
    assert all(shape in words[0] and target in words[1] for shape, target in PAIRS)


def test_every_solid_of_a_shape_can_be_drawn():
    assert PIECES.keys() <= SYMBOLS


def test_a_kind_that_says_too_little_is_refused():
    family = Kinds("test", ("LSD",))
    mute = type("Mute", (), {"WORD": "mute", "SYMBOL": "none", "LSD": ""})
    with pytest.raises(ModelError, match="the test kind Mute has no LSD"):
        family.register(mute)
    odd = type("Odd", (), {"WORD": "odd", "SYMBOL": "cloud", "LSD": "odd"})
    with pytest.raises(ModelError, match="Odd has the symbol 'cloud'"):
        family.register(odd)
    plain = type("Plain", (), {"WORD": "odd", "SYMBOL": "none", "LSD": "odd"})
    family.register(plain)
    with pytest.raises(ModelError, match="there is a test kind 'odd' already"):
        family.register(type("Again", (), dict(vars(plain))))


# ---- nothing chooses among kinds without saying what of the others


def names_of_kinds():
    records = ["Unilateral", "GapContact", "Contact", "Collision", "DryFriction", "BearingFriction"]
    measures = ["Distance", "Angle", "Coordinate"]
    return {x.__name__ for x in (*LOAD_KINDS, *RELATION_KINDS)} | {*records, *measures}


def named(node):
    return {getattr(x, "id", getattr(x, "attr", "")) for x in ast.walk(node)} & names_of_kinds()


def raises(block):
    return bool(block) and isinstance(block[-1], ast.Raise)


def chosen(node):
    """Names of kinds among which a `match` or a chain of `if isinstance` chooses, in its order."""
    if isinstance(node, ast.Match):
        return [x for case in node.cases for x in named(case.pattern)]
    found = []
    while isinstance(node, ast.If):
        is_asked = (
            isinstance(node.test, ast.Call) and getattr(node.test.func, "id", "") == "isinstance"
        )
        found += named(node.test.args[1]) if is_asked else []
        node = node.orelse[0] if len(node.orelse) == 1 else None
    return found


def default_raises(node, following):
    """Whether what none of the cases takes ends in an error."""
    if isinstance(node, ast.Match):
        last = node.cases[-1]
        open_ended = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
        return raises(last.body) if open_ended else raises(following)
    while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
        node = node.orelse[0]
    return raises(node.orelse) or (not node.orelse and raises(following))


def silent_choices(tree):
    """Lines of choices among two kinds or more that let another one pass without a word."""
    found = []
    for parent in nodes(tree, ast.mod, ast.stmt, ast.excepthandler, ast.match_case):
        for field in ("body", "orelse"):
            block = getattr(parent, field, None)
            if not isinstance(block, list):
                continue
            for k, node in enumerate(block):
                is_choice = isinstance(node, ast.Match | ast.If) and len(set(chosen(node))) > 1
                if is_choice and not default_raises(node, block[k + 1 :]):
                    found.append(node.lineno)
    return found


def test_no_choice_among_kinds_is_silent_about_others(modules):
    silent = {name: lines for name, tree in modules.items() if (lines := silent_choices(tree))}
    assert not silent


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("match x:\n    case Spring():\n        a()\n    case Damper():\n        b()", 1),
        ("match x:\n    case Spring():\n        a()\n    case Damper():\n        b()\nraise E", 0),
        ("match x:\n    case Spring() | Law():\n        a()\n    case _:\n        raise E", 0),
        ("if isinstance(x, Spring):\n    a()\nelif isinstance(x, Law):\n    b()", 1),
        ("if isinstance(x, Spring):\n    a()\nelif isinstance(x, Law):\n    b()\nraise E", 0),
    ],
)
def test_a_silent_choice_is_found(text, count):
    assert len(silent_choices(ast.parse(text))) == count


def test_a_load_that_acts_in_no_known_way_is_refused():
    class Strange(liaison.model.Force):
        name, place = "strange", None

    from liaison.equations.setting import load

    with pytest.raises(DerivationError, match="'strange': Strange is neither AlongMeasure"):
        load(None, Strange(), None)
