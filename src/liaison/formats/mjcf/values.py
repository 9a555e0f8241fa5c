"""Attributes of MJCF: classes of defaults, angles in degrees or radians, the ways to say a turn.

Public names: Settings, settings_of, is_true, stated_limit, number, whole, check_long, over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final

import numpy as np

from liaison.errors import NamingError, Place, TextError
from liaison.expr import PI
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.urdf.links import exact_angle
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.spatial import Array, array, identity, product, rotation_about, rotation_quaternion

from .fields import LISTS, goes_on
from .laws import ACTUATORS, Levels

TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
LAST_GROUP = 30
"""The last group of actuators that may be off."""
LONG = ("capsule", "cylinder", "ellipsoid", "box")
"""Geoms and sites that `fromto` may place."""
_AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for a whole file: units of angles, the order of Euler's, classes of defaults."""

    place: Place
    degrees: bool = True
    sequence: str = "xyz"
    inertia_from_geoms: str = "auto"
    classes: Mapping[str, Mapping[str, dict[str, str]]] = field(default_factory=dict)
    groups: tuple[int, int] = (0, 5)  # of the geoms that have mass
    disabled: frozenset[str] = frozenset()
    enabled: frozenset[str] = frozenset()
    idle: frozenset[int] = frozenset()  # groups of actuators that are off
    compiler: Mapping[str, str] = field(default_factory=dict)  # all attributes of <compiler>
    actuators: Mapping[str, Levels] = field(default_factory=dict)  # class -> its defaults

    def filled(self, element: Element, default: str, tag: str = "") -> Element:
        """The element with the attributes of its class where it has none of its own.

        Args:
            element: any.
            default: its class, where it names none.
            tag: under which classes hold its defaults, where that is not its own.
        """
        name = self.class_of(element.attributes.get("class", default), element)
        attributes = over(self.classes[name].get(tag or element.tag, {}), element.attributes)
        return Element(element.tag, attributes, element.place, element.children)

    def class_of(self, name: str, element: Element) -> str:
        """The name of a class, if there is one of that name."""
        if name not in self.classes:
            raise NamingError.unknown("class", name, self.classes, place=element.place)
        return name

    @property
    def least_mass(self) -> Fraction:
        """`boundmass` [kg]."""
        return self._setting("boundmass")

    @property
    def least_inertia(self) -> Fraction:
        """`boundinertia` [kg·m²]."""
        return self._setting("boundinertia")

    @property
    def total_mass(self) -> Fraction:
        """`settotalmass` [kg]; zero or less where the masses stay as they are."""
        return self._setting("settotalmass")

    @property
    def is_balanced(self) -> bool:
        """`balanceinertia`: impossible moments become their mean."""
        return self.compiler.get("balanceinertia", "false") == "true"

    @property
    def meshes_in(self) -> str:
        """The folder of meshes."""
        return self.compiler.get("meshdir", self.compiler.get("assetdir", ""))

    @property
    def has_auto_limits(self) -> bool:
        """`autolimits`: a range alone limits."""
        return self.compiler.get("autolimits", "true") == "true"

    def _setting(self, key: str) -> Fraction:
        return number_in(Element("compiler", dict(self.compiler), self.place), key, "0")

    def angle(self, x: Fraction) -> Any:
        """An angle in radians, exact."""
        if not self.degrees:
            return exact_angle(x)
        return PI * (x / 180) if x else 0

    def pose(self, element: Element) -> tuple[Array, Array]:
        """(R, p) of pos and whatever says the turn."""
        p = array([plain(x) for x in numbers_in(element, "pos", 3, "0 0 0")])
        return self.turn(element), p

    def turn(self, element: Element) -> Array:
        """R of quat, axisangle, euler, xyaxes or zaxis; the identity if none is given."""
        keys = [key for key in TURNS if key in element.attributes]
        if len(keys) > 1:
            both = " and ".join(keys)
            raise TextError(f"{element} says its turn twice: {both}.", place=element.place)
        if not keys:
            return identity()
        count = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[keys[0]]
        values = numbers_in(element, keys[0], count, "")
        if not any(values[: 3 if keys[0] != "quat" else 4]) and keys[0] != "euler":
            raise TextError(f"{keys[0]!r} of {element} is zero.", place=element.place)
        rotation: Array = _WAYS[keys[0]](self, values)
        return rotation

    def by_quaternion(self, values: list[Fraction]) -> Array:
        """w x y z, made of unit length; in exact numbers where that is one of them."""
        if sum(x != 0 for x in values) == 1:
            values = [Fraction((x > 0) - (x < 0)) for x in values]
            return array([[plain(x) for x in row] for row in rotation_quaternion(values)])
        e = np.array([float(x) for x in values])
        return rotation_quaternion((e / np.linalg.norm(e)).tolist())

    def by_axis(self, values: list[Fraction]) -> Array:
        """x y z and an angle."""
        return rotation_about([plain(x) for x in values[:3]], self.angle(values[3]))

    def by_euler(self, values: list[Fraction]) -> Array:
        """Angles one after another; capital letters mean fixed axes."""
        R = identity()
        for letter, value in zip(self.sequence, values, strict=True):
            step = rotation_about(_AXES[letter.lower()], self.angle(value))
            R = product(step, R) if letter.isupper() else product(R, step)
        return R

    def by_axes(self, values: list[Fraction]) -> Array:
        """The directions of x and, made perpendicular to it, of y."""
        x = np.array([float(v) for v in values[:3]])
        y = np.array([float(v) for v in values[3:]])
        x /= np.linalg.norm(x)
        y -= (x @ y) * x
        y /= np.linalg.norm(y)
        return np.column_stack((x, y, np.cross(x, y)))

    def by_z(self, values: list[Any]) -> Array:
        """The least turn that brings z to a direction; exact along an axis."""
        x, y, z = (float(v) for v in values)
        if x == y == 0:
            return identity() if z > 0 else rotation_about((1, 0, 0), PI)
        if z == 0 and 0 in (x, y):
            return rotation_about([int(y < 0) - int(y > 0), int(x > 0) - int(x < 0), 0], PI / 2)
        return rotation_about([-y, x, 0], math.atan2(math.hypot(x, y), z))


_WAYS: dict[str, Any] = {
    "quat": Settings.by_quaternion,
    "axisangle": Settings.by_axis,
    "euler": Settings.by_euler,
    "xyaxes": Settings.by_axes,
    "zaxis": Settings.by_z,
}


def settings_of(root: Element) -> Settings:
    """The settings of a file: <compiler> and <default>.

    Raises:
        TextError: global coordinates, which MuJoCo itself no longer reads.
    """
    attributes: dict[str, str] = {}
    for compiler in root.all("compiler"):
        attributes |= compiler.attributes
        if compiler.attributes.get("coordinate", "local") != "local":
            raise TextError("only local coordinates are read.", place=compiler.place)
    classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
    actuators: dict[str, Levels] = {"main": ((),)}
    for element in root.all("default"):
        _collect(element, "main", classes, actuators)
    _check_top(root)
    sequence = attributes.get("eulerseq", "xyz")
    if len(sequence) != 3 or sequence.lower().strip("xyz"):
        raise TextError(f"eulerseq is {sequence!r}; it is three of x, y, z.", place=root.place)
    angle = _one_of(root, attributes, "angle", ("degree", "radian"))
    how = _one_of(root, attributes, "inertiafromgeom", ("auto", "true", "false"))
    _one_of(root, attributes, "balanceinertia", ("false", "true"))
    _one_of(root, attributes, "autolimits", ("true", "false"))
    groups = attributes.get("inertiagrouprange", "0 5").split()
    if len(groups) != 2 or not all(x.isdigit() for x in groups):
        message = f"inertiagrouprange is {' '.join(groups)!r}; it is two whole numbers."
        raise TextError(message, place=root.place)
    first, last = map(int, groups)
    place = next((x.place for x in root.all("compiler")), root.place)
    return Settings(
        place,
        angle == "degree",
        sequence,
        how,
        classes,
        (first, last),
        *_flags(root),
        _idle(root),
        attributes,
        actuators,
    )


def _check_top(root: Element) -> None:
    """Rejects a class other than "main" at the top, of which MuJoCo has one."""
    for element in root.all("default"):
        name = element.attributes.get("class", "main")
        if name != "main":
            raise TextError(
                f"the outermost <default> has class={name!r}; the class of all is 'main'.",
                place=element.place,
                hint=f'Write <default class="{name}"> inside a <default> without class.',
            )


def _one_of(root: Element, attributes: Mapping[str, str], key: str, known: tuple[str, ...]) -> str:
    """The value of a setting, the first by default; rejects any that is not known."""
    value = attributes.get(key, known[0])
    if value not in known:
        place = next(x.place for x in root.all("compiler") if key in x.attributes)
        raise NamingError.unknown(f"{key} of <compiler>", value, known, place=place)
    return value


def _flags(root: Element) -> tuple[frozenset[str], frozenset[str]]:
    """What flags of <option> switch off, and on."""
    flags: dict[str, str] = {}
    for element in (x for option in root.all("option") for x in option.all("flag")):
        for name, value in element.attributes.items():
            if value not in ("enable", "disable"):
                known = ("enable", "disable")
                raise NamingError.unknown(f"state of flag {name!r}", value, known,
                                          place=element.place)  # fmt: skip
            flags[name] = value
    off = {name for name, value in flags.items() if value == "disable"}
    off |= {"spring", "damper"} if "passive" in off else set()
    off |= {"passive"} if {"spring", "damper"} <= off else set()
    off |= {"frictionloss", "equality", "limit", "contact"} if "constraint" in off else set()
    return frozenset(off), frozenset(name for name, value in flags.items() if value == "enable")


def _idle(root: Element) -> frozenset[int]:
    """`actuatorgroupdisable` of <option>: groups of actuators that are off."""
    groups: list[str] = []
    for option in root.all("option"):
        groups = option.attributes.get("actuatorgroupdisable", " ".join(groups)).split()
        if not all(x.isdecimal() and int(x) <= LAST_GROUP for x in groups):
            message = f"'actuatorgroupdisable' of <option> is {' '.join(groups)!r}"
            raise TextError(
                f"{message}; it is whole numbers from 0 to {LAST_GROUP}.", place=option.place
            )
    return frozenset(int(x) for x in groups)


def _collect(
    element: Element,
    parent: str,
    classes: dict[str, dict[str, dict[str, str]]],
    actuators: dict[str, Levels],
) -> None:
    """A class has what its parent has, and its own."""
    name = element.attributes.get("class", "main")
    inherited = {tag: dict(attributes) for tag, attributes in classes.get(parent, {}).items()}
    outer, drives = actuators[parent], []
    tags: set[str] = set()
    for child in element.children:
        if child.tag in tags:
            message = f"{element} has two {child}; it takes one."
            raise TextError(message, place=child.place)
        tags |= {child.tag} - {"default"}
        if child.tag in ACTUATORS:
            drives.append((child.tag, child.attributes))
        elif child.tag != "default":
            inherited[child.tag] = over(inherited.get(child.tag, {}), child.attributes)
    levels = (*outer, ()) if name != parent else outer  # "main" may be written in parts
    classes[name], actuators[name] = inherited, (*levels[:-1], (*levels[-1], *drives))
    for child in element.all("default"):
        wish = child.get("class")
        if wish in classes:
            raise NamingError.double("classes", wish, place=child.place)
        _collect(child, name, classes, actuators)


def over(base: Mapping[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Attributes over those of a class.

    A turn replaces that of the class; of a list of numbers the first ones replace its first ones.
    """
    is_turned = any(key in own for key in TURNS)
    kept = {k: x for k, x in base.items() if not (is_turned and k in TURNS)}
    lists = (k for k in LISTS if k in own and k in base)
    return kept | dict(own) | {k: goes_on(own[k], base[k]) for k in lists}


def is_true(element: Element, name: str, default: str = "false") -> bool:
    """A truth value.

    Raises:
        NamingError: a word that is none.
    """
    return _word(element, name, default, ("true", "false")) == "true"


def stated_limit(element: Element) -> str:
    """`limited`: true, false or auto.

    Raises:
        NamingError: another word.
        TextError: true where there is no range.
    """
    stated = _word(element, "limited", "auto", ("true", "false", "auto"))
    if stated == "true" and "range" not in element.attributes:
        message = f"{element} is limited, but has no 'range'."
        raise TextError(message, place=element.place, hint="Give its ends: range='-1 1'.")
    return stated


def _word(element: Element, name: str, default: str, known: tuple[str, ...]) -> str:
    """One of the words that an attribute may have."""
    word = element.attributes.get(name, default)
    if word not in known:
        raise NamingError.unknown(f"value of {name!r}", word, known, place=element.place)
    return word


def whole(element: Element, name: str, default: str) -> int:
    """A whole number.

    Raises:
        TextError: a number that is none.
    """
    value = number_in(element, name, default)
    if value.denominator != 1:
        message = f"{name!r} of {element} is {element.attributes[name]}; it is a whole number."
        raise TextError(message, place=element.place)
    return int(value)


def check_long(element: Element) -> None:
    """Rejects `fromto` where it has no meaning, or where another attribute places the same.

    Turns, as of a class, have no effect beside it.
    """
    kind = element.attributes.get("type", "sphere")
    if kind not in LONG:
        message = f"{element} is a {kind} and has 'fromto'; that is for {', '.join(LONG)}."
        raise TextError(message, place=element.place)
    if "pos" in element.attributes:
        message = f"{element} has both 'fromto' and 'pos'; it takes one."
        raise TextError(message, place=element.place)


def number(element: Element, name: str, default: str) -> Any:
    """A number, whole where it is."""
    return plain(number_in(element, name, default))
