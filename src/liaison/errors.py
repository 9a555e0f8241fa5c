"""Errors of liaison: each says what was found, why it is wrong and how to fix it.

    LiaisonError
    ├── TextError          text that is not LSD or URDF         (file, line, column, caret)
    ├── NamingError        unknown, double                      (kind, name, what exists)
    ├── ArgumentError      a text where a number is meant       (function, argument, value)
    ├── ModelError         no mass, axis zero, not connected
    ├── FrameError         quantities that do not compose
    ├── AssemblyError      no configuration satisfies the closures
    ├── DerivationError    a formalism that does not apply here
    ├── ProgramError       an entry, an input or a back end that is not there
    │   └── MissingModule  a third party that is not installed  (the extra that brings it)
    └── SimulationError    step too small, projection lost, event chatter   (status, t, labels)

    UserWarning
    └── ReadingWarning     what of a description is not used

    KeyboardInterrupt
    └── Interrupted        Ctrl-C, with the partial trajectory  (t, trajectory)

Files that cannot be written, and results that are not there, are Python's own OSError.

An error that knows how to fix a text carries a `Cure`: the edit, as a range and its new text.

Arguments checked where they enter, by the annotations of the function that takes them.

    @checked
    def simulate(given: Given, *, until: float, start: Mapping[str, float] | None = None) -> …

`simulate(file, until="1")` then says "simulate: until is '1'; it must be a number." A number is
real and no NaN; what a number means, whether it is positive or small enough, the function checks.
Of mappings the keys are looked at, of sequences no entry; what has no annotation, or Any, passes.
A text where a sequence of texts is meant is taken as the one text of it: series="reactions".

Public names: the family above, needed, Place, Cure, interruptible, checked, fitting,
unchecked, check_fields, warn_renamed.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
import typing
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from functools import cache, wraps
from inspect import Parameter, signature
from itertools import chain
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, Self, TypeAlias, TypeVar, Union, cast, final, get_args, get_origin

from .lazy import in_row, misfit, nearest


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: file, line and column from 1, and the text of the line."""

    file: str
    line: int
    column: int = 1
    text: str = ""
    length: int = 1
    shift: int = 0  # characters of the line before `text`, where a long line is cut

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"

    def words(self) -> str:
        """What is written at the place, as far as it is on the line."""
        first = self.column - 1 - self.shift
        return self.text[first : first + self.length]

    def replaced(self, old: str, new: str) -> Cure | None:
        """The edit that writes `new` for the word `old`; None where it does not stand here once."""
        places = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", self.words())]
        if not old or len(places) != 1:
            return None
        return Cure(self.file, self.line, self.column + places[0], len(old), new)

    def behind(self, new: str) -> Cure:
        """The edit that writes `new` directly behind what is written here."""
        return Cure(self.file, self.line, self.column + self.length, 0, new)

    def excerpt(self) -> str:
        """The line with a caret under the word, as two lines; empty if the text is not known."""
        if not self.text:
            return ""
        margin = f"    {self.line} | "
        caret = " " * (len(margin) + self.column - 1 - self.shift) + "^" * max(1, self.length)
        return f"\n{margin}{self.text.rstrip()}\n{caret}"


@final
@dataclass(frozen=True, slots=True)
class Cure:
    """An edit that fixes a text: `length` characters from (line, column) become `text`.

    Lines and columns count from 1, characters as Python counts them; a length of 0 inserts.
    """

    file: str
    line: int
    column: int
    length: int
    text: str

    def applied(self, text: str) -> str:
        """The text of the file after the edit."""
        lines = text.split("\n")
        line, first = lines[self.line - 1], self.column - 1
        lines[self.line - 1] = line[:first] + self.text + line[first + self.length :]
        return "\n".join(lines)


class LiaisonError(Exception):
    """Base of all errors; `place` is the place in a text, when there is one.

    `cure` is an edit of the text that would fix it, where one is known. `also` holds further errors
    of the same text, independent of this one; all are reported.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.read("none.lsd")
        ... except liaison.LiaisonError as error:
        ...     print(isinstance(error, liaison.TextError))
        True
    """

    def __init__(
        self,
        message: str,
        *,
        place: Place | None = None,
        hint: str = "",
        cure: Cure | None = None,
    ) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        self.cure = cure
        self.meant: tuple[str, str] | None = None  # a word, and the one to write instead
        self.also: tuple[LiaisonError, ...] = ()
        super().__init__(message)

    def __str__(self) -> str:
        return "\n".join(error.told() for error in (self, *self.also))

    def at(self, place: Place | None) -> Self:
        """The same error at a place, with the edit that follows from it."""
        self.place = place
        if place is not None and self.meant is not None:
            self.cure = place.replaced(*self.meant)
        return self

    def told(self) -> str:
        """The message of this error alone, with its excerpt and its hint."""
        where = f"{self.place}: " if self.place else ""
        excerpt = self.place.excerpt() if self.place else ""
        hint = f"\n    {self.hint}" if self.hint else ""
        return f"{where}{self.message}{excerpt}{hint}"

    def diagnostics(self, file: str = "") -> list[dict[str, Any]]:
        """All errors as diagnostics for editors; `file` where a place is not known."""
        return [
            diagnostic(
                error.message, error.place or Place(file, 1), hint=error.hint, cure=error.cure
            )
            for error in (self, *self.also)
        ]


def diagnostic(
    message: str,
    place: Place,
    *,
    severity: str = "error",
    hint: str = "",
    cure: Cure | None = None,
) -> dict[str, Any]:
    """A diagnostic for editors, at a place in a text; `cure` is None or an edit that fixes it."""
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "length": max(1, place.length),
        "severity": severity,
        "message": message,
        "hint": hint,
        "cure": None if cure is None else asdict(cure),
    }


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Around the import of a third party that an extra of the package brings.

    Args:
        extra: of `liaison-mbd`, such as "tables".

    Raises:
        MissingModule: it is not installed; says how to install it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingModule(
            f"this needs {error.name}, which is not installed.",
            hint=f'Install it with: pip install "liaison-mbd[{extra}]"',
        ) from None


class ReadingWarning(UserWarning):
    """A note of a reader: something of a description (a file, or "") not used, or repaired."""

    def __init__(self, note: str, file: str = "") -> None:
        self.note, self.file = note, file
        super().__init__(f"{file}: {note}" if file else note)


def warn_renamed(old: str, new: str) -> None:
    """Warns the caller of a function under its old name; `-W error` shows where that is."""
    warnings.warn(f"{old} is deprecated; it is called {new}.", DeprecationWarning, stacklevel=3)


class TextError(LiaisonError):
    """Text that is not LSD or URDF.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.read("let A = ;")
        ... except liaison.TextError as error:
        ...     print(error.place.line, error.place.column)
        1 9
    """


class NamingError(LiaisonError):
    """A name that nothing was declared under, or that two things share.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.check("examples/pendulum.lsd", {"B": 1})
        ... except liaison.NamingError as error:
        ...     print(error.message)
        no coordinate or speed is named 'B'.
    """

    @classmethod
    def unknown(
        cls, kind: str, name: str, declared: Iterable[str], *, place: Place | None = None
    ) -> NamingError:
        """No `kind` is named `name`; proposes the nearest declared one."""
        known = sorted(declared)
        near = meant(str(name), known)
        guess = f"; did you mean {near[0]!r}?" if near else "."
        listed = ", ".join(known[:24]) + (", …" if len(known) > 24 else "")
        error = cls(f"no {kind} is named {name!r}{guess}", hint=f"Declared: {listed or 'none'}.")
        error.meant = (str(name), near[0]) if near else None
        return error.at(place)

    @classmethod
    def double(cls, kind: str, name: str, *, place: Place | None = None) -> NamingError:
        """Two things of one name."""
        return cls(
            f"the name {name!r} is given to two {kind}; each name is used once.", place=place
        )


def meant(name: str, known: list[str]) -> list[str]:
    """Declared names that a name may mean: in other case, similar, or S for S.s."""
    alike = [x for x in known if x.lower() == name.lower()]
    stem = name.partition(".")[0] + "'" * name.count("'")
    near = alike or difflib.get_close_matches(name, known, n=1)
    begun = [x for x in known if len(name) > 2 and x.startswith(name)]
    return near or [x for x in known if x == stem] or begun


class OptionError(NamingError, TypeError):
    """A keyword that a function does not take.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.simulate("examples/pendulum.lsd", until=1, evry=0.1)
        ... except liaison.OptionError as error:
        ...     print(error.message)
        simulate takes no option 'evry'; did you mean 'every'?
    """

    @classmethod
    def check(
        cls,
        verb: str,
        keywords: Iterable[str],
        known: Collection[str],
        *,
        named: Iterable[str] = (),
    ) -> None:
        """Raises an error for the first keyword that `verb` does not take, with the nearest one.

        Args:
            verb: for the message.
            keywords: that it got.
            known: that it takes.
            named: other arguments that it takes by name, which may be meant.

        Raises:
            OptionError: names the keyword, the nearest one and all that are known.
        """
        for name in keywords:
            if name not in known:
                listed = sorted(known)
                near = nearest(name, [*listed, *named])
                hint = f"Options: {', '.join(listed)}."
                raise cls(f"{verb} takes no option {name!r}{near}", hint=hint)


class ArgumentError(LiaisonError, TypeError):
    """An argument of a kind that a function does not take.

    Example:
        >>> import liaison
        >>> issubclass(liaison.ArgumentError, TypeError)
        True
    """


class ModelError(LiaisonError):
    """A description of an impossible mechanism.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.body("b", mass=-1)
        ... except liaison.ModelError as error:
        ...     print(error.message)
        the mass of body 'b' is -1 kg; it must not be negative.
    """


class FrameError(LiaisonError):
    """Quantities of frames that do not compose.

    Example:
        >>> import liaison
        >>> issubclass(liaison.FrameError, liaison.LiaisonError)
        True
    """


class AssemblyError(LiaisonError):
    """No configuration satisfies the closures, or none was found from the start given.

    Example:
        >>> import liaison
        >>> issubclass(liaison.AssemblyError, liaison.LiaisonError)
        True
    """


class DerivationError(LiaisonError):
    """A formalism, or a step of it, that does not apply to this mechanism.

    Example:
        >>> import liaison
        >>> issubclass(liaison.DerivationError, liaison.LiaisonError)
        True
    """


class ProgramError(LiaisonError):
    """An entry, an input or a back end that is not there.

    Example:
        >>> import liaison
        >>> issubclass(liaison.ProgramError, liaison.LiaisonError)
        True
    """


class MissingModule(ProgramError, ImportError):
    """A third party that an extra of the package brings is not installed; see `needed`."""


class SimulationError(LiaisonError):
    """A run that failed: status, time reached, and the partial trajectory.

    Example:
        >>> import liaison
        >>> issubclass(liaison.SimulationError, liaison.LiaisonError)
        True
    """

    def __init__(
        self,
        message: str,
        *,
        status: str = "failed",
        t: float | None = None,
        trajectory: Any = None,
        hint: str = "",
    ) -> None:
        self.status = status
        self.t = t
        self.trajectory = trajectory
        super().__init__(message, hint=hint)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: no LiaisonError, so that handlers of errors do not stop it.

    Attributes:
        message: what was interrupted, and when.
        t: time reached [s]; None where nothing was moving yet.
        trajectory: the partial trajectory, or the runs of a batch; None where there is none.

    Example:
        >>> import liaison
        >>> issubclass(liaison.Interrupted, KeyboardInterrupt)
        True
    """

    def __init__(self, message: str, *, t: float | None = None, trajectory: Any = None) -> None:
        self.message = message
        self.status = "interrupted"
        self.t = t
        self.trajectory = trajectory
        super().__init__(message)


@final
class interruptible:
    """Ctrl-C in the block is an `Interrupted`, which says what was interrupted."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt) and kind is not Interrupted:
            raise Interrupted(f"{self.what} was interrupted.") from None


F = TypeVar("F", bound=Callable[..., Any])
Test: TypeAlias = Callable[[Any], bool]
MIXED = (float, int, str, tuple, list, dict)  # some values of them pass, and others do not

LARGEST = 2**63 - 1
"""Of whole numbers."""

LATER = {"Callable": Callable, "Collection": Collection, "Iterable": Iterable, "Mapping": Mapping,
         "Sequence": Sequence}  # fmt: skip
"""Names of annotations that some modules import for type checkers alone."""


@cache
def _numpy() -> Any:
    """NumPy, loaded with the first argument that is checked: help needs none."""
    import numpy

    return numpy


def _is_number(x: Any) -> bool:
    if type(x) is float:
        return x == x
    if isinstance(x, _numpy().ndarray):
        return x.ndim == 0 and x.dtype.kind in "iuf" and bool(x == x)
    return isinstance(x, Real) and bool(x == x)


def _is_whole(x: Any) -> bool:
    return _is_number(x) and abs(x) <= LARGEST and x == int(x)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, (Collection, _numpy().ndarray)) and not isinstance(x, bytes | Mapping)


def _is_path(x: Any) -> bool:
    return isinstance(x, str | os.PathLike) and "\0" not in os.fspath(x)


PLAIN: Mapping[Any, tuple[Test, str]] = {
    float: (_is_number, "a number"),
    int: (_is_whole, "a whole number below 2⁶³"),
    bool: (lambda x: isinstance(x, (bool, _numpy().bool_, int)), "True or False"),
    str: (lambda x: isinstance(x, str), "text"),
    NoneType: (lambda x: x is None, "None"),
    Mapping: (lambda x: isinstance(x, Mapping) and all(isinstance(k, str) for k in x),
              "a mapping with names as keys"),
    dict: (lambda x: isinstance(x, Mapping), "a mapping"),
    Sequence: (_is_sequence, "a sequence"), list: (_is_sequence, "a sequence"),
    tuple: (_is_sequence, "a sequence"), Collection: (_is_sequence, "a sequence"),
    Iterable: (lambda x: isinstance(x, Iterable), "a sequence"),
    Callable: (callable, "a function"),
    os.PathLike: (_is_path, "a path"),
}  # fmt: skip
"""Annotation, or what it is made of -> its test, and what is asked for."""


def test_of(hint: Any) -> tuple[Test, str] | None:
    """The test of an annotation, and what it asks for in words; None where anything passes."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        tests = [test_of(x) for x in get_args(hint)]
        if any(x is None for x in tests):
            return None
        pairs = [x for x in tests if x is not None]
        words = " or ".join(dict.fromkeys(each for _, each in pairs if each != "None"))
        return _any_of([test for test, _ in pairs]), words
    if origin is Literal:
        kinds = tuple({type(x) for x in get_args(hint)})
        return (lambda x: isinstance(x, kinds)), f"one of {', '.join(map(repr, get_args(hint)))}"
    key = hint if origin is None else origin
    if key in PLAIN:
        return _of_entries(PLAIN[key], [x for x in get_args(hint) if x is not Ellipsis])
    if key in (Any, object) or not isinstance(key, type) or getattr(key, "_is_protocol", False):
        return None
    if issubclass(key, os.PathLike):
        return PLAIN[os.PathLike]
    return (lambda x: isinstance(x, key)), f"a {key.__name__}"


def _any_of(tests: Sequence[Test]) -> Test:
    """The test that one of several passes."""

    def passes(x: Any) -> bool:
        for test in tests:  # noqa: SIM110 — `any` would make a generator a value
            if test(x):
                return True
        return False

    return passes


def _of_entries(whole: tuple[Test, str], hints: Sequence[Any]) -> tuple[Test, str]:
    """The test of a container; of sequences, and of mappings to text, of what is in it, too."""
    test, words = whole
    inner = test_of(hints[-1]) if hints else None
    if inner is None:
        return whole
    one, each = inner
    if words == PLAIN[Mapping][1] and hints[-1] is str:
        return (lambda x: test(x) and all(map(one, x.values()))), f"{words} and texts as values"
    if words != "a sequence":
        return whole
    is_text = hints[-1] is str

    def fits(x: Any) -> bool:
        if type(x) in (tuple, list):
            return all(map(one, x))
        if isinstance(x, str):
            return is_text
        if isinstance(x, _numpy().ndarray):
            return x.dtype.kind in ("UO" if is_text else "iufO")
        return test(x) and all(map(one, x))

    return fits, f"a sequence, each {each}"


def _is_uniform(x: Any) -> bool:
    """Whether all values of its kind pass as it does: one of the package that holds no others."""
    is_own = type(x).__module__.startswith("liaison.") and not isinstance(x, Collection)
    return is_own or type(x) in (NoneType, bool)


def checked(function: F) -> F:
    """The function, which rejects arguments of other kinds than its annotations say.

    Raises:
        ArgumentError: names the function, the argument, its value and what is asked for; or an
            argument that it does not take, or one that is missing.
    """
    # its places; name of an argument -> test, words, and kinds all values of which pass
    resolved: list[tuple[tuple[str, ...], dict[str, tuple[Test, str, set[type]]]]] = []
    fitted = fitting(function)

    @wraps(function)
    def guarded(*args: Any, **keywords: Any) -> Any:
        if not resolved:
            places, tests = _tests(function)
            resolved.append((places, {name: (*test, set()) for name, test in tests.items()}))
        names, known = resolved[0]
        for name, value in chain(zip(names, args, strict=False), keywords.items()):
            test = known.get(name)
            if test is None or type(value) in test[2]:
                continue
            if not test[0](value):
                _reject(function.__name__, name, value, test[1])
            if type(value) is str and test[1] == "a sequence, each text":
                args, keywords = in_row(name, names, args, keywords)
            if type(value) not in MIXED and _is_uniform(value):
                test[2].add(type(value))
        return fitted(*args, **keywords)

    return cast(F, guarded)


def fitting(function: F) -> F:
    """The function, which says what it takes where others are given; values are not looked at."""

    @wraps(function)
    def fitted(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            # only where Python could not begin the call is there no deeper frame
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise misfit(function, args, keywords) from None

    return cast(F, fitted)


def unchecked(function: F) -> F:
    """A function that is `checked`, without that: for callers that check the same arguments."""
    return cast(F, function.__wrapped__)  # type: ignore[attr-defined]


def check_fields(record: Any) -> None:
    """Rejects fields of a record whose values are of other kinds than their annotations say.

    Raises:
        ArgumentError: names the record, the field, its value and what is asked for.
    """
    kind = type(record)
    if kind not in _OF_RECORDS:
        _OF_RECORDS[kind] = _resolved(kind, {x.name: x.type for x in fields(record)})
    for name, (test, words) in _OF_RECORDS[kind].items():
        if not test(getattr(record, name)):
            _reject(kind.__name__, name, getattr(record, name), words)


_OF_RECORDS: dict[type, dict[str, tuple[Test, str]]] = {}


def _reject(where: str, name: str, value: Any, words: str) -> None:
    shown = repr(value)
    shown = shown if len(shown) <= 60 else f"{shown[:57]}…"
    raise ArgumentError(f"{where}: {name} is {shown}; it must be {words}.")


def _tests(function: Callable[..., Any]) -> tuple[tuple[str, ...], dict[str, tuple[Test, str]]]:
    """Names of positional arguments, and the test of every argument that has one."""
    hints: dict[str, Any] = {}
    names = []
    for x in signature(function).parameters.values():
        if x.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            names.append(x.name)
        if x.kind is Parameter.VAR_KEYWORD:
            hints |= _of_keywords(function, x.annotation)
        elif x.kind is not Parameter.VAR_POSITIONAL:
            hints[x.name] = x.annotation
    return tuple(names), _resolved(function, hints)


def _of_keywords(function: Callable[..., Any], annotation: Any) -> dict[str, Any]:
    """Annotations of keywords by name: of `**options: Unpack[Keywords]`."""
    evaluated = _evaluated(function, annotation)
    table = get_args(evaluated)[0] if get_args(evaluated) else None
    if table is None or not hasattr(table, "__total__"):
        return {}
    annotations: dict[str, Any] = {}
    for base in reversed((table, *getattr(table, "__orig_bases__", ()))):
        annotations |= getattr(base, "__annotations__", {})
    return {name: _evaluated(table, x) for name, x in annotations.items()}


def _resolved(owner: Any, hints: Mapping[str, Any]) -> dict[str, tuple[Test, str]]:
    tests = {name: test_of(_evaluated(owner, hint)) for name, hint in hints.items()}
    return {name: test for name, test in tests.items() if test is not None}


def _evaluated(owner: Any, hint: Any) -> Any:
    """An annotation as an object; Any where a name of it is for type checkers alone."""
    text = hint.__forward_arg__ if isinstance(hint, typing.ForwardRef) else hint
    if not isinstance(text, str):
        return Any if text is Parameter.empty else text
    module = sys.modules.get(owner.__module__)
    try:
        known = {**LATER, "Array": _numpy().ndarray}
        return eval(text, {**known, **vars(module)} if module else known)
    except (NameError, AttributeError, TypeError):
        return Any
