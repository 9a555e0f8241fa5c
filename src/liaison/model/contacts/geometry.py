"""What can touch what: the kinds of contact, their sizes, and the checks of both.

Public names: SIZES, CONTACT_KINDS, TOUCHED, THINGS, check_geometry.

Source: docs/theory/contacts.md, the table of pairs.
"""

from __future__ import annotations

from typing import Any

from liaison.errors import ModelError
from liaison.expr import symbol
from liaison.spatial import is_zero, number

SURFACE = (symbol("'x"), symbol("'y"))
"""x and y of the second frame, in the formula of a surface z = h(x, y)."""
PROFILE = symbol("'angle")
"""The angle about z of the second frame, from its x, in the formula of a profile ϱ(angle)."""
CURVE = symbol("'s")
"""The parameter of a curve x(s), y(s)."""

SIZES: dict[str, tuple[str, ...]] = {
    "point": (),
    "ball": ("radius",),
    "disc": ("radius",),
    "cylinder": ("radius", "length"),
    "capsule": ("radius", "length"),
    "box": ("size",),
    "ellipsoid": ("size",),
    "edge": ("length",),
}
CONTACT_KINDS = tuple(SIZES)
"""What may touch, and the sizes that each has."""
TOUCHED: dict[str, tuple[str, ...]] = {
    "outside": CONTACT_KINDS[:-2],
    "inside": CONTACT_KINDS[:-2],
    "surface": ("point", "ball", "disc", "cylinder", "box"),
    "profile": ("point", "ball", "disc"),
    "block": ("point", "ball", "box"),
    "edge": ("edge",),
    "curve": ("point", "ball", "disc"),
}
"""What is touched other than a plane, and by which kinds it may be."""
THINGS = {
    "outside": "a ball",
    "inside": "a hollow ball",
    "surface": "a surface",
    "profile": "a profile",
    "block": "a block",
    "edge": "an edge",
    "curve": "a curve",
}
"""What is touched, in words."""
ALONG: dict[str, tuple[str, ...]] = {
    "outside": ("point", "ball", "capsule"),
    "inside": ("point", "ball", "capsule", "box"),
}
"""What may touch a rod from outside, or be in a tube."""
GEOMETRY = (*dict.fromkeys(x for sizes in SIZES.values() for x in sizes), *TOUCHED, "along", "span")
"""Words for the sizes of what touches and for what is touched."""
_INSTEAD = {
    ("capsule", "surface"): "Give a ball to each of its ends, or make it a cylinder.",
    ("capsule", "profile"): "Make it a disc about the same axis.",
    ("cylinder", "profile"): "Make it a disc about the same axis.",
    ("box", "profile"): "Give a point to each corner that can touch.",
    ("capsule", "curve"): "Make it a disc about the same axis.",
    ("cylinder", "curve"): "Make it a disc about the same axis.",
    ("box", "curve"): "Give a point to each corner that can touch.",
    ("disc", "block"): "Give a point or a ball to what can touch it, or touch the plane of a face.",
    ("cylinder", "block"): "Touch the plane of a face, or make it a ball.",
    ("capsule", "block"): "Give a ball to each of its ends.",
}
_ONLY = {
    "edge": "An edge touches an edge; on a plane give a point to each of its ends.",
    "ellipsoid": "An ellipsoid touches a plane; give balls to the ends that can touch.",
}


def check_geometry(one: Any) -> None:
    """Refuses a contact of what cannot touch, of wrong sizes, or of what cannot touch each other.

    Args:
        one: a Contact.

    Raises:
        ModelError: with what would do.
    """
    if one.kind not in CONTACT_KINDS:
        listed = f"{', '.join(CONTACT_KINDS[:-1])} or {CONTACT_KINDS[-1]}"
        raise _refused(one, f"is of a {one.kind!r}; it must be of a {listed}.")
    if one.first.body == one.second.body:
        raise _refused(one, f"is of body '{one.first.body}' with itself.")
    for part in ("radius", "length", "size"):
        _check_size(one, part)
    given = [part for part in TOUCHED if getattr(one, part) is not None]
    if len(given) > 1:
        raise _refused(one, f"gives {given[0]!r} and {given[1]!r}; it touches one.")
    if one.kind == "edge" and not given:
        raise _refused(one, "is of an edge with a plane, which is not known.", _ONLY["edge"])
    for part in given:
        _check_touched(one, part)
    _check_along(one, given)
    _check_span(one)
    if one.friction.across is not None and {"outside", "inside", "block"} & set(given):
        said = "has friction across, but a ball or block has no x to be across of."
        raise _refused(one, said, "Give 'across' to contacts with planes and surfaces.")


def _check_size(one: Any, part: str) -> None:
    """Each kind has its own sizes, all positive; of a box one or two may be 0."""
    value = getattr(one, part)
    entries = value if part == "size" else (value,)
    is_zeros = all(map(is_zero, entries))
    if part not in SIZES[one.kind] and not is_zeros:
        better = "; make it a ball" if (one.kind, part) == ("point", "radius") else ""
        raise _refused(one, f"is of {_one(one.kind)}, which has no {part}{better}.")
    if part in SIZES[one.kind] and (is_zeros or any(map(_is_negative, entries))):
        wanted = (
            "no side may be negative, nor all be 0" if part == "size" else "it must be positive"
        )
        raise ModelError(
            f"the {part} of contact '{one.name}' is {_told(value)} m; {wanted}.", place=one.place
        )


def _check_touched(one: Any, part: str) -> None:
    """Of a kind that this one can touch, and large enough."""
    if one.kind not in TOUCHED[part]:
        said = f"is of {_one(one.kind)} with {THINGS[part]}, which is not known; "
        said += f"{THINGS[part]} is touched by {' or '.join(map(_one, TOUCHED[part]))}."
        hint = _ONLY.get(one.kind) or _INSTEAD.get((one.kind, part), "")
        raise _refused(one, said, hint)
    value = getattr(one, part)
    if part == "block":
        if sum(map(is_zero, value)) > 1 or any(map(_is_negative, value)):
            said = f"the block of contact '{one.name}' is {_told(value)} m; "
            said += "no side may be negative, and one alone may be 0."
            raise ModelError(said, place=one.place)
    elif part in ("outside", "inside", "edge"):
        _check_room(one, part, number(value))


def _check_room(one: Any, part: str, known: Any) -> None:
    own = number(one.radius) or 0
    least = own if part == "inside" else 0
    if known is not None and not known > least:
        why = f"larger than {own:g} m, the radius inside" if least else "positive"
        raise ModelError(
            f"the {part} of contact '{one.name}' is {known:g} m; it must be {why}.",
            place=one.place,
        )


def _check_along(one: Any, given: list[str]) -> None:
    """A rod or a tube is what a ball is, with a length besides."""
    if one.along is None:
        return
    if not {"outside", "inside"} & set(given):
        said = "has 'along', the length of a rod or tube, but no radius of it."
        raise _refused(one, said, "Give 'outside' or 'inside' as well.")
    thing = {"outside": "a rod", "inside": "a tube"}[given[0]]
    if one.kind not in ALONG[given[0]]:
        said = f"is of {_one(one.kind)} with {thing}, which is not known; "
        said += f"{thing} is touched by {' or '.join(map(_one, ALONG[given[0]]))}."
        raise _refused(one, said)
    known = number(one.along)
    if known is not None and not known > 0:
        said = f"the along of contact '{one.name}' is {known:g} m; it must be positive."
        raise ModelError(said, place=one.place)


def _check_span(one: Any) -> None:
    """A curve says where its parameter begins and ends."""
    if (one.curve is None) != (one.span is None):
        said, other = ("a curve", "span") if one.span is None else ("a span", "curve")
        hint = "Give curve = [x(s), y(s)] and span = [least s, greatest s]."
        raise _refused(one, f"has {said} but no {other}.", hint)
    if one.span is not None:
        low, high = map(number, one.span)
        if low is not None and high is not None and not high > low:
            raise _refused(one, f"has a curve from s = {low:g} to {high:g}; s must grow.")


def _refused(one: Any, said: str, hint: str = "") -> ModelError:
    return ModelError(f"contact '{one.name}' {said}", hint=hint, place=one.place)


def _one(kind: str) -> str:
    return f"{'an' if kind[0] == 'e' else 'a'} {kind}"


def _told(value: Any) -> str:
    entries = value if isinstance(value, tuple) else (value,)
    told = [f"{known:g}" if (known := number(x)) is not None else "…" for x in entries]
    return f"[{', '.join(told)}]" if isinstance(value, tuple) else told[0]


def _is_negative(x: Any) -> bool:
    value = number(x)
    return value is not None and value < 0
