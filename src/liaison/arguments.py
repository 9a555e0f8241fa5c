"""Arguments checked where they enter, by the annotations of the function that takes them.

    @checked
    def simulate(given: Given, *, until: float, start: Mapping[str, float] | None = None) -> …

`simulate(file, until="1")` then says "simulate: until is '1'; it must be a number." A number is
real and no NaN; what a number means, whether it is positive or small enough, the function checks.
Of mappings the keys are looked at, of sequences no entry; what has no annotation, or Any, passes.

Public names: checked, check_fields.
"""

from __future__ import annotations

import os
import sys
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from functools import wraps
from inspect import Parameter, signature
from numbers import Real
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin

import numpy as np

from .errors import ArgumentError

F = TypeVar("F", bound=Callable[..., Any])
Test: TypeAlias = Callable[[Any], bool]

LARGEST = 2**63 - 1
"""Of whole numbers."""

LATER = {
    "Callable": Callable, "Collection": Collection, "Iterable": Iterable, "Mapping": Mapping,
    "Sequence": Sequence, "Array": np.ndarray,
}  # fmt: skip
"""Names of annotations that some modules import for type checkers alone."""


def _is_number(x: Any) -> bool:
    if type(x) is float:
        return x == x
    if isinstance(x, np.ndarray):
        return x.ndim == 0 and x.dtype.kind in "iuf" and bool(x == x)
    return isinstance(x, Real) and bool(x == x)


def _is_whole(x: Any) -> bool:
    return _is_number(x) and abs(x) <= LARGEST and x == int(x)


def _is_sequence(x: Any) -> bool:
    return isinstance(x, Collection | np.ndarray) and not isinstance(x, bytes | Mapping)


def _is_path(x: Any) -> bool:
    return isinstance(x, str | os.PathLike) and "\0" not in os.fspath(x)


PLAIN: Mapping[Any, tuple[Test, str]] = {
    float: (_is_number, "a number"),
    int: (_is_whole, "a whole number below 2⁶³"),
    bool: (lambda x: isinstance(x, bool | np.bool_ | int), "True or False"),
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
        found = [test_of(x) for x in get_args(hint)]
        if any(x is None for x in found):
            return None
        pairs = [x for x in found if x is not None]
        words = " or ".join(dict.fromkeys(said for _, said in pairs if said != "None"))
        return (lambda x: any(test(x) for test, _ in pairs)), words
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


def _of_entries(whole: tuple[Test, str], hints: Sequence[Any]) -> tuple[Test, str]:
    """The test of a container; of sequences, and of mappings to text, of what is in it, too."""
    test, words = whole
    inner = test_of(hints[-1]) if hints else None
    if inner is None:
        return whole
    one, said = inner
    if words == PLAIN[Mapping][1] and hints[-1] is str:
        return (lambda x: test(x) and all(map(one, x.values()))), f"{words} and texts as values"
    if words != "a sequence":
        return whole
    is_text = hints[-1] is str

    def fits(x: Any) -> bool:
        if isinstance(x, str):
            return is_text
        if isinstance(x, np.ndarray):
            return x.dtype.kind in ("UO" if is_text else "iufO")
        return test(x) and all(map(one, x))

    return fits, f"a sequence, each {said}"


def checked(function: F) -> F:
    """The function, which refuses arguments of other kinds than its annotations say.

    Raises:
        ArgumentError: names the function, the argument, its value and what is asked for.
    """
    found: list[tuple[tuple[str, ...], dict[str, tuple[Test, str]]]] = []

    @wraps(function)
    def guarded(*args: Any, **keywords: Any) -> Any:
        if not found:
            found.append(_tests(function))
        names, tests = found[0]
        for name, value in (*zip(names, args, strict=False), *keywords.items()):
            known = tests.get(name)
            if known is not None and not known[0](value):
                _refuse(function.__name__, name, value, known[1])
        return function(*args, **keywords)

    return cast(F, guarded)


def check_fields(record: Any) -> None:
    """Refuses fields of a record whose values are of other kinds than their annotations say.

    Raises:
        ArgumentError: names the record, the field, its value and what is asked for.
    """
    kind = type(record)
    if kind not in _OF_RECORDS:
        _OF_RECORDS[kind] = _resolved(kind, {x.name: x.type for x in fields(record)})
    for name, (test, words) in _OF_RECORDS[kind].items():
        if not test(getattr(record, name)):
            _refuse(kind.__name__, name, getattr(record, name), words)


_OF_RECORDS: dict[type, dict[str, tuple[Test, str]]] = {}


def _refuse(where: str, name: str, value: Any, words: str) -> None:
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
    made = _evaluated(function, annotation)
    table = get_args(made)[0] if get_args(made) else None
    if table is None or not hasattr(table, "__total__"):
        return {}
    found: dict[str, Any] = {}
    for base in reversed((table, *getattr(table, "__orig_bases__", ()))):
        found |= getattr(base, "__annotations__", {})
    return {name: _evaluated(table, x) for name, x in found.items()}


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
        return eval(text, {**LATER, **vars(module)} if module else dict(LATER))
    except (NameError, AttributeError, TypeError):
        return Any
