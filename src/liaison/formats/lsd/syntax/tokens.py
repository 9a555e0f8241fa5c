"""LSD text -> tokens: numbers, names, units, signs, each with its place.

A unit is a word that stands directly behind a number, a ')' or a ']'; everywhere else the same
letters are a name. The words of the language are distinguished from names here; `any text` is a
name too. A number with the suffix f is the nearest float, any other is exact.

Public names: Token, tokens, text_in, RESERVED, STARTERS.
"""

from __future__ import annotations

import json
import re

from liaison.units import UNITS

STARTERS = (
    "let", "join", "apply", "parameter", "input", "start", "guess", "output", "event", "law",
    "impose", "require", "couple", "contact", "collide", "for", "mechanism", "include",
)  # fmt: skip
RESERVED = frozenset({*STARTERS, "body", "and", "with", "end", "on", "in", "between", "when"})
_WORDS = {word: word.upper() for word in RESERVED}
DIRECTIONS = ("rising", "falling", "crossing")
ACTIONS = ("stop", "record")
SIGNS = {
    ";": "SEMICOLON", ",": "COMMA", "=": "EQUAL", "(": "LPAR", ")": "RPAR", "[": "LSQB",
    "]": "RSQB", "+": "PLUS", "-": "MINUS", "*": "STAR", "/": "SLASH", "^": "CIRCUMFLEX",
    ".": "DOT", "'": "PRIME", "?": "QUESTION", "@": "AT", "++": "THEN", "||": "ABOUT",
    "<=": "ATMOST", ">=": "ATLEAST",
}  # fmt: skip

TEXT = r'"(?:[^"\\\n]|\\["\\/bfnrt]|\\u(?![dD][89a-fA-F])[0-9a-fA-F]{4})*"'
"""A text in quotes, in which a backslash begins an escape, as in JSON."""
_UNIT = r"[A-Za-zµ°]+(?:\^-?[0-9]+)?(?:[*/][A-Za-zµ°]+(?:\^-?[0-9]+)?)*(?!\w)"
_PIECE = re.compile(
    r"[ \t\r]*(?:"
    r"(?P<NUMBER>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?:f\b)?)"
    r"|(?P<WORD>[^\W\d]\w*)"
    r"|(?P<SIGN>\+\+|\|\||<=|>=|[;,=()\[\]+\-*/^.'?@])"
    r"|`(?P<QUOTED>[^`]+)`"
    rf"|(?P<STRING>{TEXT})"
    r"|$)"
)
_UNIT_PIECE = re.compile(rf"[ \t\r]*({_UNIT})")
_BEFORE_UNIT = frozenset({"NUMBER", "RPAR", "RSQB"})
_NO_UNITS = RESERVED | {*DIRECTIONS, *ACTIONS, "to", "above", "below"}


class Token(str):
    """A word of a text: its kind, and where it begins (both counted from 1)."""

    __slots__ = ("column", "kind", "line")
    kind: str
    line: int
    column: int

    def moved(self, text: str) -> Token:
        """Another word at the same place."""
        return token(text, self.kind, self.line, self.column)


def token(text: str, kind: str, line: int, column: int) -> Token:
    """A word at a place."""
    word = Token(text)
    word.kind, word.line, word.column = kind, line, column
    return word


def tokens(lines: list[str], first_line: int = 1) -> list[Token]:
    """The words of a text given by its lines; what is no word has the kind "?".

    Args:
        lines: without comments.
        first_line: the number of the first of them.
    """
    words: list[Token] = []
    for number, line in enumerate(lines, first_line):
        _scan(line, number, words)
    last = len(lines) + first_line - 1
    words.append(token("", "$END", last, len(lines[-1]) + 1 if lines else 1))
    return words


def _scan(line: str, number: int, words: list[Token]) -> None:
    """Adds the words of one line."""
    position, size = 0, len(line)
    kind = words[-1].kind if words else ""
    while position < size:
        if kind in _BEFORE_UNIT:
            unit = _UNIT_PIECE.match(line, position)
            if unit is not None and unit[1] not in _NO_UNITS:
                text = _units_of(unit[1])
                words.append(token(text, "UNIT", number, unit.start(1) + 1))
                kind, position = "UNIT", unit.start(1) + len(text)
                continue
        piece = _PIECE.match(line, position)
        group = piece.lastgroup if piece is not None else "?"
        if piece is None or group is None:
            if piece is not None:  # the line ends in blanks
                return
            position += len(line[position:]) - len(line[position:].lstrip(" \t\r"))
            words.append(token(line[position], "?", number, position + 1))
            kind, position = "?", position + 1
            continue
        text, position = piece[group], piece.end()
        kind = _kind(group, text)
        words.append(token(text, kind, number, piece.start(group) + (group != "QUOTED")))


def _units_of(text: str) -> str:
    """The leading factors that are unit words: of `rad/s*sin` that is `rad/s`.

    The first is taken for one in any case, so that a misspelt unit is reported as such.
    """
    factors = re.split(r"(?=[*/])", text)
    count = 1
    while count < len(factors) and factors[count][1:].partition("^")[0] in UNITS:
        count += 1
    return "".join(factors[:count])


def _kind(group: str, text: str) -> str:
    if group == "SIGN":
        return SIGNS[text]
    if group == "WORD":
        return _WORDS.get(text, "NAME")
    return "NAME" if group == "QUOTED" else group


def text_in(word: str) -> str:
    """What a text in quotes says."""
    return str(json.loads(word, strict=False)) if "\\" in word else word[1:-1]


def is_name(word: Token) -> bool:
    """Whether a word behind a bracket, taken for a unit, may be a name as well."""
    return word.kind == "NAME" or (word.kind == "UNIT" and word.isidentifier())
