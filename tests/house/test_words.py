"""Plain words: few house words, no dialect in pages, help, messages, docstrings and identifiers."""

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest
from imported import nodes
from typer.main import get_command

from liaison.cli.entry import app, commands

REPOSITORY = Path(__file__).parents[2]
WORDS = REPOSITORY / "docs" / "house_words.md"
PAGES = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
MOST_WORDS = 40

VAGUE = {"told", "tell", "tells", "found", "given", "made", "said", "judged", "rub", "rubs"}
"""Words that say how a thing came about; an identifier says what it is."""

PUBLIC = {
    "verbs": {"given", "Given"},
    "errors": {"told"},
    "simulation.plan.options": {"given"},
}
"""Public names that stay, by room, folder or module."""

CODE = re.compile(r"```.*?```|`[^`\n]*`|\]\([^)]*\)|^ {4}[^\n]*$", re.S | re.M)
"""What of a page is not prose: blocks, code within a line, addresses, indented lines."""


def rows(section: str) -> list[list[str]]:
    """The rows of the table in a part of the page, without its head."""
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


HOUSE, BANNED = map(rows, WORDS.read_text(encoding="utf-8").split("## Words not to use"))
PLAIN = {word: plain for cell, plain in BANNED for word in re.findall(r"`([^`]+)`", cell)}
DIALECT = re.compile(rf"(?<![\w/.])(?:{'|'.join(map(re.escape, PLAIN))})(?![\w/])", re.IGNORECASE)


def dialect(text: str) -> list[str]:
    """Banned words of a text, each with what to write instead."""
    found = sorted({word.lower() for word in DIALECT.findall(" ".join(text.split()))})
    return [f"{word!r}: write {PLAIN[word]}" for word in found]


def test_the_search_finds_dialect():
    assert dialect("A twist is Told in A.") == [f"'told': write {PLAIN['told']}"]
    assert dialect("a contact on one\nside only") == [
        f"'on one side only': write {PLAIN['one-sided']}"
    ]
    assert not dialect("the tests/doors folder, theory/one_sided.md, and one-sidedness")


def test_house_words_are_few():
    words = [row[0] for row in HOUSE]
    assert 20 <= len(words) <= MOST_WORDS
    assert len(set(words)) == len(words)
    assert all(len(row) == 3 and all(row) for row in HOUSE)
    assert all(plain for plain in PLAIN.values())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_pages_speak_plainly(page):
    assert not dialect(CODE.sub(" ", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", commands())
def test_help_speaks_plainly(name):
    group = get_command(app)
    context = group.make_context("liaison", [name], resilient_parsing=True)
    command = group.get_command(context, name)
    assert not dialect(command.get_help(context))
    listed = group.get_help(context)
    assert not dialect(listed)


def is_error(call: ast.Call) -> bool:
    """Whether an error is made: `ModelError(…)`, `NamingError.unknown(…)`."""
    names = [x.attr for x in ast.walk(call.func) if isinstance(x, ast.Attribute)]
    names += [x.id for x in ast.walk(call.func) if isinstance(x, ast.Name)]
    return any(name.endswith("Error") for name in names)


@cache
def messages(tree: ast.Module) -> list[str]:
    """Texts of errors: all that is written in `raise` statements and where an error is made."""
    found = []
    for node in nodes(tree, ast.Raise, ast.Call):
        if isinstance(node, ast.Raise) or is_error(node):
            found += [
                x.value
                for x in ast.walk(node)
                if isinstance(x, ast.Constant) and " " in str(x.value)
            ]
    return [text for text in found if isinstance(text, str)]


@cache
def further_texts(tree: ast.Module) -> list[str]:
    """Other texts with blanks in them, docstrings left out: hints, notes, headings."""
    documented = {id(x.value) for x in nodes(tree, ast.Expr) if isinstance(x.value, ast.Constant)}
    constants = [x for x in nodes(tree, ast.Constant) if id(x) not in documented]
    return [x.value for x in constants if isinstance(x.value, str) and " " in x.value]


def part_of(module: str, listed: Iterable[str]) -> str:
    """The room or folder of a list that a module belongs to, or nothing."""
    return next((x for x in listed if f"{module}.".startswith(f"liaison.{x}.")), "")


def test_messages_are_found(modules):
    found = messages(modules["liaison.model.records"])
    assert any("connects body" in text for text in found)
    assert sum(len(messages(tree)) for tree in modules.values()) > 1000


def test_error_messages_speak_plainly(modules):
    wrong = {
        module: words
        for module, tree in modules.items()
        if (words := dialect(" | ".join(messages(tree))))
    }
    assert not wrong


def test_other_texts_speak_plainly(modules):
    wrong = {
        module: words
        for module, tree in modules.items()
        if (words := dialect(" | ".join(further_texts(tree))))
    }
    assert not wrong


def test_the_package_tree_speaks_plainly(modules):
    first = {module: (ast.get_docstring(x) or "").split("\n\n")[0] for module, x in modules.items()}
    assert not {module: words for module, text in first.items() if (words := dialect(text))}


@cache
def docstrings(tree: ast.Module) -> str:
    """All docstrings of a module, those of constants included, and nothing else."""
    values = [x.value for x in nodes(tree, ast.Expr)]
    return " | ".join(str(x.value) for x in values if isinstance(x, ast.Constant))


def identifiers(tree: ast.Module) -> list[str]:
    """Names that a module defines: functions, classes, parameters, variables, fields of self."""
    names = []
    kinds = (ast.FunctionDef, ast.ClassDef, ast.arg, ast.Name, ast.Attribute)
    for node in nodes(tree, *kinds):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node.ctx, ast.Store):
            names.append(node.id if isinstance(node, ast.Name) else node.attr)
    return names


@cache
def vague(tree: ast.Module) -> set[str]:
    """Identifiers with a word in them that says how a thing came about, and not what it is."""
    return {x for x in identifiers(tree) if VAGUE & set(x.lower().split("_"))}


def test_vague_identifiers_are_seen():
    tree = ast.parse("def is_told(given, x=found):\n    self.made, y = 1, [said_word for _ in x]\n")
    assert vague(tree) == {"is_told", "given", "made"}
    assert vague(ast.parse("for said in (foundation := 1,): maddest = 2")) == {"said"}


def test_docstrings_are_plain(modules):
    texts = {module: dialect(docstrings(tree)) for module, tree in modules.items()}
    assert not {module: words for module, words in texts.items() if words}


def test_identifiers_are_plain(modules):
    names = {m: vague(tree) - PUBLIC.get(part_of(m, PUBLIC), set()) for m, tree in modules.items()}
    assert not {module: words for module, words in names.items() if words}


def test_public_names_that_stay_are_there(modules):
    seen = {part: set() for part in PUBLIC}
    for module, tree in modules.items():
        seen.get(part_of(module, PUBLIC), set()).update(vague(tree))
    assert seen == PUBLIC
