"""Colours for LSD in the manual: a Pygments lexer made of the grammar that editors use.

The words and patterns stand once, in `editors/liaison.tmLanguage.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

from pygments.lexer import RegexLexer, bygroups
from pygments.token import (
    Comment,
    Keyword,
    Name,
    Number,
    Operator,
    Punctuation,
    String,
    Text,
    Whitespace,
    _TokenType,
)

GRAMMAR = Path(__file__).resolve().parents[2] / "editors" / "liaison.tmLanguage.json"

TOKENS = {
    "keyword.control": Keyword,
    "keyword.operator": Operator,
    "string.quoted": String,
    "constant.numeric": Number,
    "constant.language": Name.Builtin.Pseudo,
    "support.constant.unit": Keyword.Type,
    "support.type": Name.Class,
    "support.function": Name.Builtin,
    "entity.name.definition": Name.Variable,
    "variable.other.property": Name.Attribute,
    "variable.other": Name,
}
"""Beginning of a scope of the grammar -> token of Pygments; the first that fits."""


def token_of(scope: str) -> _TokenType:
    """The token of Pygments for a scope of the grammar."""
    return next(token for begin, token in TOKENS.items() if scope.startswith(begin))


def rule(pattern: dict[str, Any]) -> tuple[str, Any]:
    """One rule of the lexer for one pattern of the grammar."""
    match = pattern["match"]
    if "captures" not in pattern:
        return match, token_of(pattern["name"])
    tokens = [token_of(x["name"]) for _, x in sorted(pattern["captures"].items())]
    if len(tokens) == 1:
        return match, tokens[0]
    return match.replace("[ \\t]+", "([ \\t]+)", 1), bygroups(tokens[0], Whitespace, tokens[1])


def rules() -> list[tuple[Any, ...]]:
    """The rules of the grammar, in its order."""
    grammar = json.loads(GRAMMAR.read_text(encoding="utf-8"))
    found: list[tuple[Any, ...]] = [(r"\(\*", Comment, "comment")]
    for include in grammar["patterns"]:
        entry = grammar["repository"][include["include"].lstrip("#")]
        found += [rule(x) for x in entry.get("patterns", [entry]) if "match" in x]
    found.append((r"\s+", Whitespace))
    return [*found, (r"[()\[\]{},;:<>]", Punctuation), (r"[…#].*", Comment), (r".", Text)]


class LsdLexer(RegexLexer):
    """LSD, the text language for mechanisms."""

    name = "LSD"
    aliases: ClassVar = ["lsd"]
    filenames: ClassVar = ["*.lsd"]
    tokens: ClassVar = {
        "root": rules(),
        "comment": [
            (r"[^(*]+", Comment),
            (r"\(\*", Comment, "#push"),
            (r"\*\)", Comment, "#pop"),
            (r"[(*]", Comment),
        ],
    }


def setup(app: Any) -> dict[str, bool]:
    """Makes the lexer known to Sphinx."""
    app.add_lexer("lsd", LsdLexer)
    return {"parallel_read_safe": True}
