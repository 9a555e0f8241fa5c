"""Arguments checked where they enter, by the annotations of the function that takes them.

    @checked
    def simulate(given: Given, *, until: float, start: Mapping[str, float] | None = None) -> …

`simulate(file, until="1")` then says "simulate: until is '1'; it must be a number." A number is
real and no NaN; what a number means, whether it is positive or small enough, the function checks.
Of mappings the keys are looked at, of sequences no entry; what has no annotation, or Any, passes.
A text where a sequence of texts is meant is taken as the one text of it: series="reactions".

Where a call does not fit at all, the error says what the function takes.

Public names: checked, fitting, unchecked, check_fields, in_row, misfit.
"""

from __future__ import annotations

import os
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache, wraps
from inspect import Parameter, signature
from itertools import chain
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

from .errors import ArgumentError, OptionError, nearest

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


def in_row(
    name: str, names: Sequence[str], args: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments of a call, one of them put into a row of its own.

    Args:
        name: of that one.
        names: of the arguments that stand without a name.
        args: these.
        keywords: those with a name.
    """
    if name in keywords:
        return args, {**keywords, name: (keywords[name],)}
    k = names.index(name)
    return (*args[:k], (args[k],), *args[k + 1 :]), keywords


def misfit(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any], name: str = ""
) -> Any:
    """The error of a call that Python could not begin.

    Names a keyword that is not taken, with the nearest one, an argument that is missing, or one
    that is given twice or too many.

    Args:
        function: that was called; of a record, its `__init__`.
        args: its arguments in their order.
        keywords: those by name.
        name: of the record, for the message.
    """
    kinds = Parameter
    parameters = dict(signature(function).parameters)
    if parameters.pop("self", None) is not None:
        args = args[1:]
    name = name or function.__qualname__.rpartition(".<locals>.")[2]
    in_place = (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)
    places = [x for x, y in parameters.items() if y.kind in in_place]
    known = [x for x, y in parameters.items() if y.kind is not kinds.VAR_KEYWORD]
    listed = [x for x in known if x not in INNER]
    hint = f"Its arguments are {', '.join(listed)}." if listed else "It takes no arguments."
    for word in keywords:
        if word not in known:
            return OptionError(f"{name} takes no option {word!r}{nearest(word, listed)}", hint=hint)
    single = [x for x in known if parameters[x].kind is not kinds.VAR_POSITIONAL]
    needed = [x for x in single if parameters[x].default is kinds.empty]
    missing = [x for x in needed if x not in keywords and x not in places[: len(args)]]
    if missing:
        return ArgumentError(f"{name} needs the argument {missing[0]!r}.", hint=hint)
    twice = [x for x in places[: len(args)] if x in keywords]
    if twice:
        return ArgumentError(f"{name} is given {twice[0]!r} twice.", hint=hint)
    count = f"{len(places)} argument{'s' if len(places) != 1 else ''}"
    return ArgumentError(f"{name} takes {count} in place, not {len(args)}.", hint=hint)


INNER = ("place", "owner", "written_in")
"""Fields of records that readers fill."""
