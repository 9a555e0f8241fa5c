"""Contacts of MJCF: which geoms may touch, and how: by formulas, or by loops that find places.

Two geoms may touch where a bit of `contype` of one is in `conaffinity` of the other, unless their
bodies are one, a body and its parent, excluded, or both fixed to the world. Friction is that of the
geom of higher `priority`, else the greater of both. Geoms that <pair> names touch in any case, and
as it says, not as they say themselves.

Public names: Touching, contacts, ground_plane, put_on.

Source: MUJOCO Computation, collision detection and contact parameters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any, final

import liaison.model as model
from liaison.errors import ModelError, NamingError, OptionError, Place
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.urdf.xml import Element, numbers_in
from liaison.model import Friction
from liaison.model.contacts.between import contact_between
from liaison.model.scalars import scalar

from .geoms import Geoms, check_dimension, kind_of
from .parts import Parts, marker_at
from .values import whole

FRICTION = ("1", "0.005", "0.0001")
"""MuJoCo's own: sliding [-], pivoting [m], rolling [m]."""
FIVE = ("1", "1", "0.005", "0.0001", "0.0001")
"""The same of pairs: sliding and rolling have two directions."""

MOST = 2000
"""Pairs above which a mechanism would be too large; scenes of LSD take more."""


@final
@dataclass(frozen=True)
class Touching:
    """A geom that may touch: the body it is on, and what holds for its contacts, read once."""

    element: Element
    body: str
    part: model.Hull | None = None  # of a mesh that is taken apart

    @cached_property
    def bits(self) -> tuple[int, int]:
        """`contype` and `conaffinity`."""
        return whole(self.element, "contype", "1"), whole(self.element, "conaffinity", "1")

    @cached_property
    def priority(self) -> Any:
        """Of two geoms, whose friction counts."""
        return whole(self.element, "priority", "0")

    @cached_property
    def dimension(self) -> int:
        """`condim`: 1 without friction, 3 sliding, 4 pivoting, 6 rolling too."""
        return whole(self.element, "condim", "3")

    @cached_property
    def friction(self) -> list[Any]:
        """Sliding, pivoting, rolling."""
        return friction_in(self.element, FRICTION)


def friction_in(element: Element, default: tuple[str, ...]) -> list[Any]:
    """Up to three coefficients; the rest as by default."""
    words = element.attributes.get("friction", "").split()[:3]
    return _filled_up(element, "friction", (*words, *default[len(words) :]))


def _filled_up(element: Element, key: str, words: tuple[str, ...]) -> list[Any]:
    """Coefficients of friction, none of which is negative."""
    whole_list = Element(element.tag, {key: " ".join(words)}, element.place)
    values = numbers_in(whole_list, key, len(words), "")
    if min(values) < 0:
        message = f"{key!r} of {element} is {element.attributes[key]}; it is not negative."
        raise ModelError(message, place=element.place)
    return values


def contacts(
    root: Element, parts: Parts, geoms: Geoms, listed: list[Touching], *, is_read: bool
) -> None:
    """Adds contacts to the parts, or notes how many pairs there are."""
    if "contact" in parts.settings.disabled:
        return
    pairs = list(_pairs(root, parts, listed))
    if not pairs:
        return
    if not is_read:
        named = "1 pair of geoms" if len(pairs) == 1 else f"{len(pairs)} pairs of geoms"
        what = f"{named} may touch, and pass through each other"
        parts.notes.append(f"{what}; contacts=True (--contacts) reads them")
        return
    if len(pairs) > MOST:
        message = f"there are {len(pairs)} pairs of geoms that may touch; the limit is {MOST}."
        raise ModelError(message, place=root.place, hint="Exclude pairs, or leave contacts out.")
    strange: Counter[str] = Counter()
    for first, second, friction in pairs:
        before = len(parts.contacts)
        for a, b in product(_parts_of(first, second, geoms), _parts_of(second, first, geoms)):
            contact = _contact(a, b, friction, parts, geoms)
            if contact is not None:
                parts.contacts.append(contact)
        if len(parts.contacts) == before:
            kinds = sorted((kind_of(first.element), kind_of(second.element)))
            strange[" with ".join(kinds)] += 1
        if len(parts.contacts) > MOST:
            message = f"there are more than {MOST} contacts of convex parts of meshes."
            raise ModelError(message, place=root.place, hint="Give decompose a smaller number.")
    for words, count in strange.items():
        parts.notes.append(f"contacts of {words} are not read ({count} pairs)")
    loops = sum(x.cores is not None for x in parts.contacts if isinstance(x, model.Contact))
    if loops:
        words = f"{loops} contacts have no formulas, and are found by loops"
        parts.notes.append(f"{words}: simulate them by method='moreau'")


def ground_plane(height: Any, friction: Any, place: Place) -> Element:
    """The geom of the world that is asked for as a ground: of no class, without a name.

    Args:
        height: of the plane [m].
        friction: its coefficient of sliding; MuJoCo's own if None.
        place: of the root.
    """
    z = scalar(height, "the height of the ground", place, "m")
    values = {"type": "plane", "size": "0 0 1"}
    if z != 0:
        values["pos"] = f"0 0 {float(z)!r}"
    if friction is not None:
        mu = scalar(friction, "the friction of the ground", place)
        values["friction"] = repr(float(mu))
    return Element("geom", values, place)


def put_on(root: Element, plane: Element, notes: list[str]) -> None:
    """Puts what a file describes on a plane, unless its world has one.

    Raises:
        OptionError: it has one, and the height or the friction of the plane is given.
    """
    worlds = root.all("worldbody")
    own = [x for world in worlds for x in world.all("geom") if kind_of(x) == "plane"]
    for key, word in (("pos", "height"), ("friction", "friction")) if own else ():
        if key in plane.attributes:
            raise OptionError(
                f"the {word} of the ground is given, but the file has a plane of its own, "
                f"{own[0]} in line {own[0].place.line}.",
                hint=f"Leave the {word} out: that plane has its own.",
            )
    if own:
        notes.append(f"the ground is the plane of the file, {own[0]}")
    for world in worlds[:1] if not own else ():
        world.children.append(plane)


def _parts_of(one: Touching, other: Touching, geoms: Geoms) -> list[Touching]:
    """The convex parts of a mesh that does not touch a plane, or the geom itself."""
    if kind_of(one.element) != "mesh" or kind_of(other.element) == "plane":
        return [one]
    hulls = geoms.meshes.parts(one.element.get("mesh"), one.element)
    return [replace(one, part=x) for x in hulls] if len(hulls) > 1 else [one]


def _pairs(
    root: Element, parts: Parts, listed: list[Touching]
) -> Iterator[tuple[Touching, Touching, Friction]]:
    """The pairs that may touch, and their friction."""
    carriers = {x.successor.body: x for x in parts.joints.values()}

    def welded(body: str) -> str:
        while body != "ground" and not carriers[body].type.nv:
            body = carriers[body].predecessor.body
        return body

    def above(body: str) -> str:
        name = parts.carried.get(body, "ground")
        return welded(name)

    groups = [x for group in root.all("contact") for x in group.children]
    apart = [{parts.body(x, "body1"), parts.body(x, "body2")} for x in groups if x.tag == "exclude"]
    named = {x.element.attributes.get("name", ""): x for x in listed}
    override = _override(root, parts)
    paired = set()
    for element in (x for x in groups if x.tag == "pair"):
        pair = parts.settings.filled(element, "main")
        check_dimension(pair)
        a, b = (_geom(pair, key, named) for key in ("geom1", "geom2"))
        law = _law(override or _five(pair, "friction", parts), whole(pair, "condim", "3"))
        paired.add(frozenset((id(a), id(b))))
        if welded(a.body) == welded(b.body):
            note = f"{pair} is of geoms that do not move against each other, and is left out"
            parts.notes.append(f"{note} (line {pair.place.line})")
        else:
            yield a, b, law
    keeps_parents = "filterparent" in parts.settings.disabled
    for a, b in combinations(listed, 2):
        one, other = welded(a.body), welded(b.body)
        if one == other or {a.body, b.body} in apart or frozenset((id(a), id(b))) in paired:
            continue
        is_near = "ground" not in (one, other) and (above(one) == other or above(other) == one)
        if is_near and not keeps_parents:
            continue
        if a.bits[0] & b.bits[1] or b.bits[0] & a.bits[1]:
            coefficients, dimension = _combined(a, b)
            yield a, b, _law(override or coefficients, dimension)


def _geom(pair: Element, key: str, named: dict[str, Touching]) -> Touching:
    """The geom that a pair names."""
    if pair.get(key) not in named:
        raise NamingError.unknown("geom", pair.get(key), named, place=pair.place)
    return named[pair.get(key)]


def _override(root: Element, parts: Parts) -> list[Any]:
    """The friction of all contacts, where the flag `override` says so; else nothing."""
    if "override" not in parts.settings.enabled:
        return []
    own: dict[str, str] = {}
    for option in root.all("option"):
        own |= {key: x for key, x in option.attributes.items() if key == "o_friction"}
    return _five(Element("option", own, root.place), "o_friction", parts)


def _five(element: Element, key: str, parts: Parts) -> list[Any]:
    """Sliding, pivoting, rolling of the five numbers of a pair, whatever its geoms say."""
    words = element.attributes.get(key, "").split()[:5]
    values = _filled_up(element, key, (*words, *FIVE[len(words) :]))
    first, second, pivoting, rolling, other = values
    if first != second or rolling != other:
        note = f"{key!r} of {element} has two directions, of which the first is read"
        parts.notes.append(f"{note} (line {element.place.line})")
    return [first, pivoting, rolling]


def _combined(a: Touching, b: Touching) -> tuple[list[Any], int]:
    """Of the geom of higher priority, else the greater of each coefficient."""
    if a.priority != b.priority:
        chief = max((a, b), key=lambda x: x.priority)
        return chief.friction, chief.dimension
    both = [max(x, y) for x, y in zip(a.friction, b.friction, strict=True)]
    return both, max(a.dimension, b.dimension)


def _law(coefficients: list[Any], dimension: int) -> Friction:
    sliding, pivoting, rolling = (plain(x) for x in coefficients)
    return Friction(
        sliding=sliding if dimension >= 3 else 0,
        pivoting=pivoting if dimension >= 4 else 0,
        rolling=rolling if dimension >= 6 else 0,
    )


def _contact(
    a: Touching, b: Touching, friction: Friction, parts: Parts, geoms: Geoms
) -> model.Contact | None:
    """The contact of two geoms, the first of which touches the second; None where there is none.

    Pairs without formulas, and two boxes, are found by loops: meshes by their convex hulls.
    """
    taken = [x.name for x in parts.contacts]
    words = [x.element.attributes.get("name") or x.body for x in (a, b)]
    name = parts.free(f"contact {'-'.join(words)}", taken)
    for first, second in ((a, b), (b, a)):
        kind, target = kind_of(first.element), kind_of(second.element)
        if kind not in TOUCHING or target not in TOUCHED or kind == target == "box":
            continue
        sizes = TOUCHING[kind](geoms.sizes(first.element))
        below = TOUCHED[target](geoms.sizes(second.element) if target != "plane" else [])
        near, far = (marker_at(x.body, *geoms.placed(x.element)) for x in (first, second))
        place = first.element.place
        try:
            return model.Contact(name, near, far, friction=friction, place=place, **sizes, **below)
        except (ModelError, KeyError):
            continue
    return _by_loops(name, a, b, friction, parts, geoms)


def _by_loops(
    name: str, a: Touching, b: Touching, friction: Friction, parts: Parts, geoms: Geoms
) -> model.Contact | None:
    """The contact of two convex geoms, or of a mesh with a plane."""
    solids = [_solid(x, parts, geoms) for x in (a, b)]
    known = [x for x in solids if x is not None]
    law = {"friction": friction, "place": a.element.place}
    if len(known) == 2:
        return contact_between(name, known[0], known[1], **law)
    fields = [x for x in (a, b) if kind_of(x.element) == "hfield"]
    if len(known) == 1 and fields:
        return _on_field(name, known[0], fields[0], geoms, law)
    planes = [x for x in (a, b) if kind_of(x.element) == "plane"]
    if len(known) == 1 and planes and known[0][1] == "hull":
        marker, kind, sizes = known[0]
        plane = marker_at(planes[0].body, *geoms.placed(planes[0].element))
        more = tuple(sizes.items())
        return model.Contact(name, marker, plane, kind, more=more, friction=friction,
                             place=a.element.place)  # fmt: skip
    return None


def _on_field(
    name: str, solid: tuple[Any, str, dict[str, Any]], field: Touching, geoms: Geoms,
    law: dict[str, Any],
) -> model.Contact:  # fmt: skip
    """The contact of a convex geom with a height field."""
    marker, kind, sizes = solid
    own = {key: x for key, x in sizes.items() if key in model.Contact.__slots__}
    more = {key: x for key, x in sizes.items() if key not in own}
    more["terrain"] = geoms.terrains.field(field.element)
    below = marker_at(field.body, *geoms.placed(field.element))
    return model.Contact(name, marker, below, kind, more=tuple(more.items()), **own, **law)


def _solid(x: Touching, parts: Parts, geoms: Geoms) -> tuple[Any, str, dict[str, Any]] | None:
    """Frame, kind and sizes of a geom that is convex; of a mesh those of its hull."""
    kind = kind_of(x.element)
    if x.part is not None:
        return marker_at(x.body, *geoms.placed(x.element)), "hull", {"points": x.part}
    if kind == "mesh":
        try:
            hull = geoms.meshes.contact_hull(x.element.get("mesh"), x.element)
        except ModelError as error:
            note = f"{error.message} (line {x.element.place.line}); it touches nothing"
            parts.notes += [note] if note not in parts.notes else []
            return None
        parts.notes += [note for note in hull.notes if note not in parts.notes]
        return marker_at(x.body, *geoms.placed(x.element)), "hull", {"points": hull}
    if kind not in TOUCHING:
        return None
    sizes = dict(TOUCHING[kind](geoms.sizes(x.element)))
    return marker_at(x.body, *geoms.placed(x.element)), sizes.pop("kind"), sizes


TOUCHING: dict[str, Any] = {
    "sphere": lambda s: {"kind": "ball", "radius": s[0]},
    "capsule": lambda s: {"kind": "capsule", "radius": s[0], "length": 2 * s[1]},
    "cylinder": lambda s: {"kind": "cylinder", "radius": s[0], "length": 2 * s[1]},
    "box": lambda s: {"kind": "box", "size": tuple(2 * x for x in s)},
}
"""Geom -> what touches, of its sizes."""

TOUCHED: dict[str, Any] = {
    "plane": lambda s: {},
    "sphere": lambda s: {"outside": s[0]},
    "capsule": lambda s: {"outside": s[0], "along": 2 * s[1]},
    "box": lambda s: {"block": tuple(2 * x for x in s)},
}
"""Geom -> what is touched, of its sizes."""
