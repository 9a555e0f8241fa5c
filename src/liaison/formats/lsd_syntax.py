"""LSD text -> nodes: comments, limits, the parser, and its refusals put into words.

Nothing here knows mechanics; nothing of a text is ever executed.

Public names: parse, parse_formula, MAX_TEXT, MAX_LINE, MAX_NESTING.
"""

from __future__ import annotations

import difflib
import re
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from liaison.errors import Place, TextError
from liaison.units import UNITS

from .lsd_nodes import MAX_DEPTH, Builder, Node, Source, TooDeep

MAX_TEXT = 4_000_000  # characters of a text
MAX_LINE = 20_000  # characters of a line
MAX_NESTING = 100  # brackets inside brackets

KEYWORDS = [
    "let",
    "body",
    "join",
    "and",
    "with",
    "end",
    "apply",
    "on",
    "parameter",
    "input",
    "in",
    "between",
    "start",
    "output",
    "event",
    "when",
    "law",
    "impose",
    "require",
]
EVENT_WORDS = ["rising", "falling", "crossing", "stop", "record"]
STARTERS = [
    "let",
    "join",
    "apply",
    "parameter",
    "input",
    "start",
    "output",
    "event",
    "law",
    "impose",
    "require",
]

_VALUE = {"NUMBER", "LPAR", "LSQB"}
_OPERATORS = {"PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX", "DOT", "PRIME", "__ANON_0",
              "__ANON_1", "AT", "QUESTION", "STRING", "LPAR", "LSQB"}  # fmt: skip
_WORDS = {"NAME": "a name", "NUMBER": "a number", "UNIT": "a unit", "SEMICOLON": "';'",
          "COMMA": "','", "EQUAL": "'='", "RPAR": "')'", "RSQB": "']'", "LPAR": "'('",
          "LSQB": "'['", "DIRECTION": "'rising', 'falling' or 'crossing'",
          "ACTION": "'stop' or 'record'", "$END": "the end of the text"}  # fmt: skip


def parse(text: str, file: str) -> tuple[Source, tuple[Node, ...]]:
    """The statements of a text, in order; refuses what is not LSD."""
    source = Source(file, tuple(text.split("\n")))
    node = _parsed(text, source, "text")
    return source, node.parts


def parse_formula(text: str, file: str) -> tuple[Source, Node]:
    """One formula, as given on a command line."""
    source = Source(file, tuple(text.split("\n")))
    return source, _parsed(text, source, "expr")


def _parsed(text: str, source: Source, start: str) -> Node:
    _check_size(text, source)
    text = _without_comments(text, source)
    try:
        return _parser().parse(text, start=start)  # type: ignore[no-any-return]
    except TooDeep as error:
        raise TextError(
            f"this formula is nested more than {MAX_DEPTH} deep.",
            place=source.at(error.node),
            hint="Give its parts names with 'let'.",
        ) from None
    except UnexpectedInput as error:
        raise _in_words(error, text, source) from None


@cache
def _parser() -> Any:
    grammar = files("liaison.formats").joinpath("lsd.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", start=["text", "expr"], transformer=Builder())


def _check_size(text: str, source: Source) -> None:
    if len(text) > MAX_TEXT:
        raise TextError(
            f"{source.file}: the text has {len(text)} characters; the limit is {MAX_TEXT}."
        )
    for number, line in enumerate(source.lines, start=1):
        if len(line) > MAX_LINE:
            raise TextError(
                f"this line has {len(line)} characters; the limit is {MAX_LINE}.",
                place=source.place(number, 1),
                hint="Break it: a statement may go over any number of lines.",
            )
        if "\0" in line:
            raise TextError(
                "there is a NUL character; this is not a text file.",
                place=Place(source.file, number, line.index("\0") + 1),
            )


_PIECES = re.compile(r'"[^"\n]*"|\(\*|\*\)|[()\[\]]')


def _without_comments(text: str, source: Source) -> str:
    """The text with its comments (they may be nested) turned to blanks; counts brackets too."""
    comments: list[int] = []
    kept: list[str] = []
    depth = position = 0
    for piece in _PIECES.finditer(text):
        word = piece[0]
        if word == "(*":
            if not comments:
                kept.append(text[position : piece.start()])
                position = piece.start()
            comments.append(piece.start())
        elif word == "*)":
            if not comments:
                raise TextError("'*)' ends no comment.", place=_place(text, piece.start(), source))
            comments.pop()
            if not comments:
                kept.append(re.sub(r"[^\n]", " ", text[position : piece.end()]))
                position = piece.end()
        elif not comments:
            depth += (word in "([") - (word in ")]")
            if depth > MAX_NESTING:
                raise TextError(
                    f"brackets are nested more than {MAX_NESTING} deep.",
                    place=_place(text, piece.start(), source),
                )
    if comments:
        raise TextError(
            "this comment is never ended; '*)' ends it.", place=_place(text, comments[0], source, 2)
        )
    return "".join([*kept, text[position:]])


def _place(text: str, position: int, source: Source, length: int = 1) -> Place:
    line = text.count("\n", 0, position) + 1
    return source.place(line, position - text.rfind("\n", 0, position), length)


# ---- refusals of the parser, in words


def _in_words(error: UnexpectedInput, text: str, source: Source) -> TextError:
    if isinstance(error, UnexpectedCharacters):
        return TextError(
            f"the character {text[error.pos_in_stream]!r} is not part of the language.",
            place=source.place(error.line, error.column),
        )
    assert isinstance(error, UnexpectedToken)
    token, expected = error.token, _accepted(error)
    at_end = token.type == "$END"
    before = (text if at_end else text[: token.start_pos]).rstrip()
    place = _place(text, len(before) if at_end else token.start_pos, source, len(token) or 1)
    found = "the text ends here" if at_end else f"{str(token)!r} does not fit here"
    hint = _guess(str(token), before, expected)
    return TextError(f"{found}; expected {_words(expected)}.", place=place, hint=hint)


def _accepted(error: Any) -> set[str]:
    try:
        return set(error.interactive_parser.accepts())
    except TooDeep:
        return set(error.expected)


def _words(expected: set[str]) -> str:
    """What would do, as a person says it."""
    if expected >= _VALUE:
        words = ["a value", *(_WORDS[t] for t in ("RPAR", "RSQB") if t in expected)]
    elif "LET" in expected:
        words = ["a statement (let, join, apply, parameter, start, …)"]
    else:
        plain = expected - _OPERATORS - {"UNIT"} or expected
        words = [_WORDS.get(t, repr(t.lower())) for t in plain]
    words.sort(key=lambda word: (word[0] != "'", word))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _guess(found: str, before: str, expected: set[str]) -> str:
    """A hint for the mistakes that are made most often."""
    unit = re.search(r"[\d.)\]]\s*([^\W\d]\w*)$", before)
    previous = re.search(r"([^\W\d]\w*)$", before)
    if unit and found == "=" and not _is_unit(unit[1]):
        return f"A ',' may be missing before {unit[1]!r}."
    if found in STARTERS and "SEMICOLON" in expected:
        return f"A ';' may be missing before {found!r}."
    if found in KEYWORDS and "NAME" in expected:
        return f"{found!r} is a word of the language; choose another name."
    near = difflib.get_close_matches(found, [k for k in KEYWORDS if k.upper() in expected], n=1)
    if not near and expected & {"DIRECTION", "ACTION"}:
        near = difflib.get_close_matches(found, EVENT_WORDS, n=1)
    if not near and previous and "LET" not in expected:
        near = difflib.get_close_matches(previous[1], STARTERS, n=1)
    if near:
        return f"Did you mean {near[0]!r}?"
    if found.isidentifier() and "COMMA" in expected:
        return f"A ',' may be missing before {found!r}."
    return ""


def _is_unit(text: str) -> bool:
    return all(word in UNITS for word in re.findall(r"[A-Za-zµ°]+", text))
