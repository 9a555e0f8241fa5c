"""LSD text -> nodes: comments, limits, included files, and error messages.

Nothing here knows mechanics; nothing of a text is ever executed, and only files below the folder
of the model are opened.

`include "file.lsd"`: the files that a model may open, all below its own folder.

No absolute path, no way up, no link that leads out; not in a circle, not too deep, not too many.

Public names: parse, parse_formula, MAX_TEXT, MAX_LINE, MAX_NESTING, Folder.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath, PureWindowsPath

from liaison.errors import Cure, LiaisonError, Place, TextError
from liaison.formats.guard import check_bodies
from liaison.units import UNITS

from .grammar import Grammar
from .nodes import MAX_DEPTH, Node, Source, TooDeep
from .terms import UnexpectedWord
from .tokens import ACTIONS, DIRECTIONS, RESERVED, STARTERS, TEXT, Token, text_in, tokens

MAX_INCLUDED = 100  # files of a model
MAX_LEVELS = 8  # files that include files
MAX_FILE = 4_000_000  # bytes of one


class Folder:
    """The folder of a model, and the files of it that are open."""

    def __init__(self, folder: Path | None, file: str) -> None:
        self.folder = None if folder is None else folder.resolve()
        self.open: list[Path] = [] if self.folder is None else [self.folder / Path(file).name]
        self.count = 0

    @contextmanager
    def opened(self, name: str, place: Place) -> Iterator[tuple[str, str]]:
        """The text of a file below the folder, and its name for messages."""
        path = self.path_of(name, place)
        self.count += 1
        if self.count > MAX_INCLUDED or len(self.open) > MAX_LEVELS:
            many = f"{MAX_INCLUDED} files, {MAX_LEVELS} one inside another"
            raise TextError(f"too many files are included; the limit is {many}.", place=place)
        text = _text(path, name, place)
        self.open.append(path)
        yield text, name
        self.open.pop()

    def path_of(self, name: str, place: Place) -> Path:
        """The file of that name, if it may be opened."""
        if self.folder is None:
            raise TextError(
                "this text has no folder, so it cannot include a file.",
                place=place,
                hint="Read it from a file, or write what is included here.",
            )
        parts = {*PurePosixPath(name).parts, *PureWindowsPath(name).parts}
        rooted = PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor != ""
        if rooted or ".." in parts or not name.endswith(".lsd"):
            raise _outside(name, place)
        path = self.inside(name, place)
        if path in self.open:
            chain = " → ".join([*(file.name for file in self.open), path.name])
            raise TextError(f"{name!r} includes itself: {chain}.", place=place)
        return path

    def inside(self, name: str, place: Place) -> Path:
        """The file, all links followed, below the folder."""
        assert self.folder is not None
        try:
            path = (self.folder / name).resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            raise TextError(
                f"there is no file {name!r} in the model's folder.", place=place
            ) from None
        if not path.is_relative_to(self.folder):
            raise _outside(name, place)
        if not path.is_file():
            raise TextError(f"{name!r} is no file.", place=place)
        return path


def _outside(name: str, place: Place) -> TextError:
    return TextError(
        f"{name!r} is not included: only .lsd files in the model's folder or below it are.",
        place=place,
        hint="Write the path from the model's folder, without '..'.",
    )


def _text(path: Path, name: str, place: Place) -> str:
    try:
        if path.stat().st_size > MAX_FILE:
            raise TextError(f"{name!r} is larger than {MAX_FILE} bytes.", place=place)
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise TextError(f"{name!r} cannot be read: {error.strerror}.", place=place) from None
    except UnicodeDecodeError:
        raise TextError(f"{name!r} is not UTF-8 text.", place=place) from None


MAX_TEXT = 4_000_000  # characters of a text with all it includes
MAX_LINE = 20_000  # characters of a line
MAX_NESTING = 100  # brackets inside brackets
_BODY = re.compile(r"=\s*body\b")

_VALUE = {"NUMBER", "LPAR", "LSQB"}
_OPERATORS = {"PLUS", "MINUS", "STAR", "SLASH", "CIRCUMFLEX", "DOT", "PRIME", "THEN", "ABOUT",
              "AT", "QUESTION", "STRING", "LPAR", "LSQB"}  # fmt: skip
_WORDS = {"NAME": "a name", "NUMBER": "a number", "UNIT": "a unit", "SEMICOLON": "';'",
          "COMMA": "','", "EQUAL": "'='", "RPAR": "')'", "RSQB": "']'", "LPAR": "'('",
          "LSQB": "'['", "DIRECTION": "'rising', 'falling' or 'crossing'",
          "ACTION": "'stop' or 'record'", "$END": "the end of the text", "ATMOST": "'<='",
          "ATLEAST": "'>='",
          "STRING": "a text in quotes"}  # fmt: skip


def parse(text: str, file: str, folder: Path | None = None) -> tuple[Source, tuple[Node, ...]]:
    """The statements of a text and of all it includes, in order; rejects what is not LSD.

    Args:
        text: the description.
        file: its name, for messages.
        folder: where included files may lie; None where a text has no folder.
    """
    source = Source(file)
    source.folder = None if folder is None else folder.resolve()
    reading = _Reading(source, Folder(folder, file))
    return source, reading.statements(text, file)


def parse_formula(text: str, file: str) -> tuple[Source, Node]:
    """One formula, as given on a command line."""
    source = Source(file, text.split("\n"))
    _check_size(text, source, 1)
    plain = _without_comments(text, source, 1)
    grammar = Grammar(tokens(plain.split("\n")))
    try:
        formula = grammar.formula()
        grammar.need("$END")
    except (UnexpectedWord, TooDeep) as error:
        raise _in_words(error, source) from None
    return source, formula


class _Reading:
    """Texts while they are read: the one asked for, and those it includes."""

    def __init__(self, source: Source, folder: Folder) -> None:
        self.source = source
        self.folder = folder

    def statements(self, text: str, file: str) -> tuple[Node, ...]:
        """The statements of one text, with those of included files in their place."""
        first = self.source.add(file, text.split("\n"))
        _check_size(text, self.source, first)
        plain = _without_comments(text, self.source, first)
        check_bodies(len(_BODY.findall(plain)), self.source.place(first, 1))
        grammar = Grammar(tokens(plain.split("\n"), first))
        statements = grammar.text()
        if grammar.mistakes:
            raise together([_in_words(mistake, self.source) for mistake in grammar.mistakes])
        return self.spliced(statements)

    def spliced(self, statements: tuple[Node, ...]) -> tuple[Node, ...]:
        """The statements with 'include' replaced by what the file holds."""
        if not any(statement.kind == "include" for statement in statements):
            return statements
        result: list[Node] = []
        for statement in statements:
            result += self.included(statement) if statement.kind == "include" else [statement]
        return tuple(result)

    def included(self, statement: Node) -> tuple[Node, ...]:
        """The statements of an included file."""
        word = statement.parts[1]
        with self.folder.opened(text_in(word), self.source.of(word)) as (text, file):
            return self.statements(text, file)


def together(errors: list[LiaisonError]) -> LiaisonError:
    """Several errors as one: the first, with the others behind it."""
    first, *others = errors
    first.also = tuple(others)
    return first


def _check_size(text: str, source: Source, first: int) -> None:
    if sum(map(len, source.lines)) > MAX_TEXT:
        raise TextError(
            f"{source.files[-1]}: the text has {len(text)} characters; the limit is {MAX_TEXT}."
        )
    for number, line in enumerate(source.lines[first - 1 :], start=first):
        if len(line) > MAX_LINE:
            raise TextError(
                f"this line has {len(line)} characters; the limit is {MAX_LINE}.",
                place=source.place(number, 1),
                hint="Break it: a statement may go over any number of lines.",
            )
        if "\0" in line:
            raise TextError(
                "there is a NUL character; this is not a text file.",
                place=Place(source.file, source.place(number, 1).line, line.index("\0") + 1),
            )


_OUTSIDE = re.compile(rf"{TEXT}|`[^`\n]*`|\(\*|\*\)|[()\[\]]")
_INSIDE = re.compile(r"\(\*|\*\)")


def _without_comments(text: str, source: Source, first: int) -> str:
    """The text with its comments (they may be nested) turned to blanks; counts brackets too."""
    comments: list[int] = []
    pieces: list[str] = []
    depth = position = 0
    piece = _OUTSIDE.search(text)
    while piece is not None:
        word = piece[0]
        if word == "(*":
            if not comments:
                pieces.append(text[position : piece.start()])
                position = piece.start()
            comments.append(piece.start())
        elif word == "*)":
            if not comments:
                raise TextError(
                    "'*)' ends no comment.", place=_place(text, piece.start(), source, first)
                )
            comments.pop()
            if not comments:
                pieces.append(re.sub(r"[^\n]", " ", text[position : piece.end()]))
                position = piece.end()
        else:
            depth += (word in "([") - (word in ")]")
            if depth > MAX_NESTING:
                raise TextError(
                    f"brackets are nested more than {MAX_NESTING} deep.",
                    place=_place(text, piece.start(), source, first),
                )
        piece = (_INSIDE if comments else _OUTSIDE).search(text, piece.end())
    if comments:
        raise TextError(
            "this comment is never ended; '*)' ends it.",
            place=_place(text, comments[0], source, first, 2),
        )
    return "".join([*pieces, text[position:]])


def _place(text: str, position: int, source: Source, first: int, length: int = 1) -> Place:
    line = text.count("\n", 0, position) + first
    return source.place(line, position - text.rfind("\n", 0, position), length)


# ---- errors of the parser, in words


_ONE_SIDED = (
    "Write 'a <= b' or 'a >= b' for a unilateral relation, 'if(a - b, x, y)' for x where a > b, "
    "and 'event e when a - b rising'."
)
_COMMENT = "Comments are written (* … *)."
_SIGNS = {
    "−": "Write '-' for minus.", "–": "Write '-' for minus.", "#": _COMMENT, "%": _COMMENT,
    ":": "A value follows '='.", "·": "Write '*' for times.", "×": "Write '*' for times.",
    "²": "Write '^2'.", "³": "Write '^3'.", "√": "Write 'sqrt(x)'.",
}  # fmt: skip
"""Characters of other notations, and what is written for them."""

_STRAY = {
    "<": ("the character '<' is not part of the language.", _ONE_SIDED),
    ">": ("the character '>' is not part of the language.", _ONE_SIDED),
    '"': (
        "this text does not end on its line, or holds a backslash that begins nothing known.",
        'A backslash in a text is written \\\\, a quote \\", a new line \\n.',
    ),
    "`": ("this name does not end on its line; a second '`' ends it.", ""),
}


def _in_words(error: UnexpectedWord | TooDeep, source: Source) -> LiaisonError:
    if isinstance(error, TooDeep):
        return source.error(
            f"this formula is nested more than {MAX_DEPTH} deep.",
            error.node,
            hint="Give its parts names with 'let'.",
        )
    word, expected = error.token, error.expected
    if word.kind == "?":
        sign = _SIGNS.get(str(word), "")
        plain = f"the character {str(word)!r} is not part of the language.", sign
        message, hint = _STRAY.get(str(word), plain)
        return TextError(message, place=source.place(word.line, word.column), hint=hint)
    problem, place = f"{str(word)!r} does not fit here", source.of(word)
    if word.kind == "$END":
        problem, place = "the text ends here", _end(source)
    hint, cure = _guess(word, place, source, expected)
    return TextError(f"{problem}; expected {_words(expected)}.", place=place, hint=hint, cure=cure)


def _before(word: Token, source: Source) -> str:
    """What stands before a word, as far as one line back."""
    lines = source.lines[max(0, word.line - 2) : word.line]
    return "\n".join([*lines[:-1], lines[-1][: word.column - 1]]).rstrip() if lines else ""


def _end(source: Source) -> Place:
    """Behind the last word of a text."""
    last = source.first[-1] - 1
    number = len(source.lines)
    while number > last + 1 and not source.lines[number - 1].strip():
        number -= 1
    return source.place(number, len(source.lines[number - 1].rstrip()) + 1)


def _words(expected: set[str]) -> str:
    """The expected tokens, in words."""
    if expected >= _VALUE:
        words = ["a value", *(_WORDS[t] for t in ("RPAR", "RSQB") if t in expected)]
    elif "LET" in expected:
        words = ["a statement (let, join, apply, parameter, start, …)"]
    else:
        plain = expected - _OPERATORS - {"UNIT"} or expected
        words = [_WORDS.get(t, repr(t.lower())) for t in plain]
    words.sort(key=lambda word: (word[0] != "'", word))
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _guess(
    word: Token, place: Place, source: Source, expected: set[str]
) -> tuple[str, Cure | None]:
    """A hint for the mistakes that are made most often, and the edit that follows it."""
    before = _before(word, source)
    if notation := _of_other_notation(word, before, source):
        return notation, None
    unit = re.search(r"[\d.)\]]\s*([^\W\d]\w*)$", before)
    if unit and word == "=" and not _is_unit(unit[1]):
        return _missing(",", unit[1], _inserted(",", unit[1], source.of(word), source))
    if word in STARTERS and "SEMICOLON" in expected:
        return _missing(";", word, _inserted(" ;", "", source.of(word), source))
    if "END" in expected and (word == ";" or word.kind == "$END" or word in STARTERS):
        end = " end" if word == ";" else " end ;"
        at = place if word.kind == "$END" else source.of(word)
        what = "the end of the text" if word.kind == "$END" else repr(str(word))
        cure = _inserted(end, "", at, source)
        return f"An 'end' may be missing before {what}.", cure
    if word in RESERVED and "NAME" in expected:
        return f"{str(word)!r} is a word of the language; choose another name.", None
    if word in UNITS and "NUMBER" not in expected:
        return _bracketed(word, source)
    near = _near(word, before, expected)
    if near:
        column = word.column if near[0] == word else len(before) - before.rfind("\n") - len(near[0])
        here = source.place(word.line, column, len(near[0]))
        return f"Did you mean {near[1]!r}?", here.replaced(*near)
    if word.kind == "$END" and "SEMICOLON" in expected:
        return "A ';' may be missing at the end.", _inserted(" ;", "", place, source)
    if word.isidentifier() and "COMMA" in expected:
        return _missing(",", word, _inserted(",", "", source.of(word), source))
    return "", None


def _of_other_notation(word: Token, before: str, source: Source) -> str:
    """What is written for powers, comments, decimals and units of other languages."""
    after = source.lines[word.line - 1][word.column :] if word.kind != "$END" else ""
    if word == "*" and before.endswith("*"):
        return "Write '^' for a power."
    if word == "/" and after[:1] in ("/", "*"):
        return _COMMENT
    if word == "," and re.search(r"(?<![\w.])\d+$", before) and re.match(r"\d", after):
        return "A decimal has a point: 0.5."
    joined = re.fullmatch(r"(kg|N|g)(m)([23]?)", str(word))
    if joined and re.search(r"[\d.)\]]$", before):
        power = f"^{joined[3]}" if joined[3] else ""
        return f"Units are joined by '*': {joined[1]}*m{power}."
    unit = re.search(r"[\d.)\]]\s*([^\W\d][\w*/^]*)$", before)
    if unit and word in UNITS and _is_unit(unit[1]):
        rest = source.lines[word.line - 1][word.column - 1 :]
        whole = re.match(r"\w+(\^\d+)?", rest)
        return f"Units are joined by '*': {unit[1]}*{whole[0] if whole else word}."
    return ""


def _near(word: Token, before: str, expected: set[str]) -> tuple[str, str] | None:
    """A misspelt word of the language, and the one that it is near to."""
    near = difflib.get_close_matches(
        word, [k for k in sorted(RESERVED) if k.upper() in expected], n=1
    )
    if not near and expected & {"DIRECTION", "ACTION"}:
        near = difflib.get_close_matches(word, [*DIRECTIONS, *ACTIONS], n=1)
    if near:
        return str(word), near[0]
    previous = re.search(r"([^\W\d]\w*)$", before)
    if previous and "LET" not in expected and previous[1] not in STARTERS:
        near = difflib.get_close_matches(previous[1], STARTERS, n=1)
    return (previous[1], near[0]) if previous and near else None


def _missing(sign: str, word: str, cure: Cure) -> tuple[str, Cure]:
    return f"A {sign!r} may be missing before {str(word)!r}.", cure


def _inserted(new: str, word: str, place: Place, source: Source) -> Cure:
    """The edit that writes `new` behind what stands before a place, and before `word` there."""
    first = source.first[source.files.index(place.file)] if place.file in source.files else 1
    number, column = place.line + first - 1, place.column
    before = source.lines[number - 1][: column - 1].rstrip()
    before = before.removesuffix(word).rstrip()
    while not before and number > first:
        number -= 1
        before = source.lines[number - 1].rstrip()
    return Cure(place.file, number - first + 1, len(before) + 1, 0, new)


def _bracketed(word: Token, source: Source) -> tuple[str, Cure | None]:
    """A unit behind a name: it follows a bracket."""
    line = source.lines[word.line - 1]
    before = line[: word.column - 1].rstrip()
    name = re.search(r"(?<![\w.])(?:[\d.]+\s*[*/]\s*)*[^\W\d]\w*$", before)
    if name is None:
        rule = f"A unit follows a number, a vector or a bracket: write (…) {word} or 1 {word} * …."
        return (rule if before.endswith(")") else ""), None
    start = source.place(word.line, name.start() + 1, len(name[0]))
    unit = re.match(r"[\w*/^-]+", line[word.column - 1 :])
    shown = f"({name[0]}) {unit[0] if unit else word}"
    cure = Cure(start.file, start.line, start.column, len(name[0]), f"({name[0]})")
    return f"A unit follows a number, a vector or a bracket: write {shown}.", cure


def _is_unit(text: str) -> bool:
    return all(word in UNITS for word in re.findall(r"[A-Za-zµ°]+", text))
