"""Checks of a contact: of what can touch, of its sizes, and of what can touch each other.

Public names: check_geometry, geometry_words, CONTACT_KINDS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.errors import ModelError
from liaison.model.kinds import Derived
from liaison.model.shapes import Shape
from liaison.spatial import is_zero, number

from .shape import PAIRS, SHAPE_KINDS, TARGET_KINDS, ContactShape, ContactTarget, target_of
from .targets import written

CONTACT_KINDS: Mapping[str, type[ContactShape]] = Derived(
    lambda: {kind.WORD: kind for kind in SHAPE_KINDS}, SHAPE_KINDS
)
"""What may touch, by its word."""

OWN = ("radius", "length", "size")
"""Sizes of shapes that are fields of a contact; further ones are in its field `more`."""


def geometry_words() -> tuple[str, ...]:
    """Words for the sizes of what touches and for what is touched."""
    sizes = [one.key for kind in SHAPE_KINDS for one in kind.SIZES]
    first = [kind.KEYS[0].key for kind in TARGET_KINDS if kind.KEYS]
    rest = [one.key for kind in TARGET_KINDS for one in kind.KEYS]
    return (*dict.fromkeys([*sizes, *first, "along", "span", *rest]),)


def check_geometry(one: Any) -> None:
    """Rejects a contact of what cannot touch, of wrong sizes, or of what cannot touch each other.

    Args:
        one: a Contact.

    Raises:
        ModelError: with how to fix it.
    """
    shape = SHAPE_KINDS.named(one.kind)
    if shape is None:
        words = list(CONTACT_KINDS)
        listed = f"{', '.join(words[:-1])} or {words[-1]}"
        raise _error(one, f"is of a {one.kind!r}; it must be of a {listed}.")
    if one.first.body == one.second.body:
        raise _error(one, f"is of body '{one.first.body}' with itself.")
    for part in (*OWN, *(key for key in dict(one.more) if not _is_of_target(key))):
        _check_size(one, shape, part)
    for missing in (x.key for x in shape.SIZES if one.value_of(x.key) is None):
        raise _error(one, f"is of {_one(one.kind)}; give its {missing}.")
    targets = [kind for kind in _plain_targets() if one.value_of(kind.KEYS[0].key) is not None]
    if len(targets) > 1:
        keys = [kind.KEYS[0].key for kind in targets]
        raise _error(one, f"gives {keys[0]!r} and {keys[1]!r}; it touches one.")
    if not targets and (one.kind, "plane") not in PAIRS:
        raise _error(one, f"is of {_one(one.kind)} with a plane, which is not known.", shape.ONLY)
    for kind in targets:
        _check_touched(one, shape, kind)
    _check_along(one, shape)
    _check_span(one)
    if one.friction.across is not None and not target_of(one).HAS_X:
        message = "has friction across, but a ball or block has no x to be across of."
        raise _error(one, message, "Give 'across' to contacts with planes and surfaces.")


def _plain_targets() -> list[type[ContactTarget]]:
    """Targets that have a key of their own: a rod is what a ball is, with a length besides."""
    by_key: dict[str, type[ContactTarget]] = {}
    for kind in TARGET_KINDS:
        if kind.KEYS:
            by_key.setdefault(kind.KEYS[0].key, kind)
    return list(by_key.values())


def _is_of_target(key: str) -> bool:
    return any(key == one.key for kind in TARGET_KINDS for one in kind.KEYS)


def _check_size(one: Any, shape: type[ContactShape], part: str) -> None:
    """Each kind has its own sizes, all positive; of a box one or two may be 0."""
    value = one.value_of(part)
    if isinstance(value, Shape):
        value = 1  # checked where it was made
    entries = value if isinstance(value, tuple) else (value,)
    is_zeros = all(map(is_zero, entries))
    has = any(part == x.key for x in shape.SIZES)
    if not has and not is_zeros:
        better = "; make it a ball" if (one.kind, part) == ("point", "radius") else ""
        raise _error(one, f"is of {_one(one.kind)}, which has no {part}{better}.")
    if has and (is_zeros or any((number(x) or 0) < 0 for x in entries)):
        is_list = isinstance(value, tuple)
        rule = "no side may be negative, nor all be 0" if is_list else "it must be positive"
        raise ModelError(
            f"the {part} of contact '{one.name}' is {written(value)} m; {rule}.", place=one.place
        )


def _check_touched(one: Any, shape: type[ContactShape], target: type[ContactTarget]) -> None:
    """Of a kind that this one can touch, and large enough."""
    if (one.kind, target.WORD) not in PAIRS:
        hint = shape.ONLY or shape.INSTEAD.get(target.WORD, "")
        raise _error(one, _unknown(one.kind, target), hint)
    target.check(one)


def _unknown(kind: str, target: type[ContactTarget]) -> str:
    """That a pair has no formulas, and which have."""
    thing = _one(target.WORD)
    partners = [_one(x.WORD) for x in SHAPE_KINDS if (x.WORD, target.WORD) in PAIRS]
    message = f"is of {_one(kind)} with {thing}, which is not known; "
    return message + f"{thing} is touched by {' or '.join(partners)}."


def _check_along(one: Any, shape: type[ContactShape]) -> None:
    """A rod or a tube is what a ball is, with a length besides."""
    if one.along is None:
        return
    if one.outside is None and one.inside is None:
        message = "has 'along', the length of a rod or tube, but no radius of it."
        raise _error(one, message, "Give 'outside' or 'inside' as well.")
    target = target_of(one)
    if (one.kind, target.WORD) not in PAIRS:
        raise _error(one, _unknown(one.kind, target))
    target.check(one)


def _check_span(one: Any) -> None:
    """A curve says where its parameter begins and ends."""
    if (one.curve is None) != (one.span is None):
        present, other = ("a curve", "span") if one.span is None else ("a span", "curve")
        hint = "Give curve = [x(s), y(s)] and span = [least s, greatest s]."
        raise _error(one, f"has {present} but no {other}.", hint)
    if one.span is not None:
        low, high = map(number, one.span)
        if low is not None and high is not None and not high > low:
            raise _error(one, f"has a curve from s = {low:g} to {high:g}; s must grow.")


def _error(one: Any, problem: str, hint: str = "") -> ModelError:
    return ModelError(f"contact '{one.name}' {problem}", hint=hint, place=one.place)


def _one(kind: str) -> str:
    return f"{'an' if kind[0] == 'e' else 'a'} {kind}"
