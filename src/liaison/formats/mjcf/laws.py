"""Laws of MJCF actuators: gain, bias and filter, by shortcuts over classes of defaults.

A class has one law, which begins as that of its parent; each shortcut in it sets gain, bias and
filter anew. It takes what it leaves out from the nearest class, its own first, whose law the same
shortcut set last, or `general` with a gain of the same type; failing that, its own defaults.
Attributes that all shortcuts have (`gear`, ranges, limits) go on from class to class.

Public names: Law, law_of, SHORTCUTS, ACTUATORS, Levels.

Source: MUJOCO XML reference, sections actuator and default.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, final

from liaison.errors import TextError
from liaison.expr import PI
from liaison.formats.lsd.formulas.values import plain
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.values import floats

from .fields import LISTS, MOVING, goes_on, verdict

TYPES = {
    "gaintype": ("fixed", "affine"),
    "biastype": ("none", "affine"),
    "dyntype": ("none", "integrator", "filter", "filterexact"),
}
SHORTCUTS = ("general", "motor", "position", "velocity", "intvelocity", "damper", "cylinder")
ACTUATORS = (*SHORTCUTS, "orientation", "pid", "muscle", "adhesion", "dcmotor")
Levels = tuple[tuple[tuple[str, dict[str, str]], ...], ...]
"""Defaults of actuators of any kind, in the order in which they are set, class by class from the
outermost one."""
PARAMETERS = ("gaintype", "gainprm", "biastype", "biasprm", "dyntype", "dynprm")
OWN = frozenset(k for x in SHORTCUTS for k in MOVING[x] if k not in MOVING["motor"])
"""Attributes of some shortcuts that would change the law, and are not read."""


def is_shared(key: str) -> bool:
    """Whether an attribute goes on from class to class, whatever the shortcuts."""
    return bool(verdict("general", key)) and key not in PARAMETERS and key not in OWN


@final
@dataclass
class Law:
    """Gain, bias and filter of an actuator, as defaults and shortcuts set them one by one."""

    attributes: dict[str, str] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)  # what would change the law, but is not
    tag: str = "general"  # that set it last
    gaintype: str = "fixed"
    gain: list[Any] = field(default_factory=lambda: [1, 0, 0])
    biastype: str = "none"
    bias: list[Any] = field(default_factory=lambda: [0, 0, 0])
    dyntype: str = "none"
    time: Any = 1  # of the filter [s]
    is_idle: bool = False  # its group is off

    @property
    def follows(self) -> bool:
        """Whether the input is a position that the actuator goes to."""
        return self.gaintype == "fixed" and self.biastype == "affine" and self.is_balanced

    @property
    def is_balanced(self) -> bool:
        """g₀ = −b₁, other than 0."""
        gain, slope = (float(x) for x in floats([self.gain[0], self.bias[1]], {}))
        return gain == -slope != 0

    def is_source(self, tag: str) -> bool:
        """Whether a shortcut takes from this law what it leaves out itself."""
        gain = "affine" if tag == "damper" else "fixed"
        return self.tag == tag or (self.tag == "general" and self.gaintype == gain)

    def set(self, own: Element, outer: Sequence[Law]) -> None:
        """What an element sets.

        Args:
            own: a default, or the actuator itself.
            outer: the laws of the classes around, the outermost first.
        """
        is_read = own.tag in SHORTCUTS
        for key, text in own.attributes.items():
            if is_shared(key) or (is_read and not verdict(own.tag, key)):  # the latter is noted
                has_more = key in LISTS and key in self.attributes
                self.attributes[key] = goes_on(text, self.attributes[key]) if has_more else text
        if not is_read:
            self.tag = self.gaintype = own.tag
            return
        laws = (self, *reversed(outer)) if own.tag != "general" else (self,)
        source = next((x for x in laws if own.tag == "general" or x.is_source(own.tag)), Law())
        values = source.unread | own.attributes
        self.unread = {k: values[k] for k in MOVING[own.tag] if k in OWN and k in values}
        self.unread.pop("dampratio", None)  # the bias ends with it
        getattr(self, f"as_{own.tag}")(own, source)
        self.tag = own.tag

    def as_general(self, own: Element, _: Law) -> None:
        """Every parameter by itself."""
        for key, known in TYPES.items():
            value = own.attributes.get(key, getattr(self, key))
            if value not in known:
                raise TextError(
                    f"{key!r} of {own} is {value!r}, which is not read.",
                    place=own.place,
                    hint=f"Read are {', '.join(known)}.",
                )
            setattr(self, key, value)
        for key, values in (("gainprm", self.gain), ("biasprm", self.bias)):
            words = own.attributes.get(key, "").split()
            for k, x in enumerate(numbers_in(own, key, len(words), "")[:3]):
                values[k] = plain(x)
        words = own.attributes.get("dynprm", "").split()
        for x in numbers_in(own, "dynprm", len(words), "")[:1]:
            self.time = plain(x)

    def as_motor(self, _: Element, __: Law) -> None:
        """The input is the force."""
        self._becomes("fixed", [1, 0, 0])

    def as_position(self, own: Element, source: Law) -> None:
        """kp (u − l) − kv l̇; a damping ratio is a last number of the bias above 0."""
        kp = _value(own, "kp", source.gain[0])
        slope = source.bias[2]
        slope = -_value(own, "kv", -slope) if "kv" in own.attributes else slope
        slope = _value(own, "dampratio", slope)
        exact = source.dyntype == "filterexact"
        time = _value(own, "timeconst", source.time if exact else 0)
        self._becomes("fixed", [kp, 0, 0], [0, -kp, slope])
        if time:
            self.dyntype, self.time = "filterexact", time

    def as_intvelocity(self, own: Element, source: Law) -> None:
        """The same, of the integral of its input."""
        self.as_position(own, source)
        self.dyntype = "integrator"
        self.attributes["actlimited"] = "auto"

    def as_velocity(self, own: Element, source: Law) -> None:
        """kv (u − l̇)."""
        kv = _value(own, "kv", source.gain[0])
        self._becomes("fixed", [kv, 0, 0], [0, 0, -kv])

    def as_damper(self, own: Element, source: Law) -> None:
        """−kv u l̇."""
        kv = _value(own, "kv", -source.gain[2])
        words = own.attributes.get("ctrlrange", "").split()
        ends = numbers_in(own, "ctrlrange", len(words), "")
        for key, least in (("kv", kv), ("ctrlrange", min(ends, default=0))):
            if least < 0:
                message = f"{key!r} of {own} is {float(least):g}; it is not negative."
                raise TextError(message, place=own.place)
        self._becomes("affine", [0, 0, -kv])
        self.attributes["ctrllimited"] = "true"

    def as_cylinder(self, own: Element, source: Law) -> None:
        """The pressure times an area, and a bias."""
        area = _value(own, "area", source.gain[0])
        across = number_in(own, "diameter", "-1")
        if across >= 0:
            area = PI * (across * across / 4)
        words = own.attributes.get("bias", "").split()
        bias = [plain(x) for x in numbers_in(own, "bias", len(words), "")] or list(source.bias)
        time = _value(own, "timeconst", source.time)
        self._becomes("fixed", [area, 0, 0], [*bias, 0, 0, 0][:3])
        self.dyntype, self.time = "filter", time

    def _becomes(self, gaintype: str, gain: list[Any], bias: list[Any] | None = None) -> None:
        """A law without a filter."""
        self.gaintype, self.gain = gaintype, gain
        self.biastype, self.bias = ("none", [0, 0, 0]) if bias is None else ("affine", bias)
        self.dyntype, self.time = "none", 1


def law_of(element: Element, levels: Levels) -> tuple[Law, Element]:
    """The law of an actuator with these defaults, and it with the attributes of its classes."""
    law, outer = Law(), []
    for k, level in enumerate(levels):
        if k:
            outer.append(deepcopy(law))
        for tag, attributes in level:
            law.set(Element(tag, attributes, element.place), outer)
    law.set(element, outer)
    attributes = element.attributes | law.attributes | law.unread
    return law, Element(element.tag, attributes, element.place)


def _value(own: Element, key: str, default: Any) -> Any:
    return plain(number_in(own, key)) if key in own.attributes else default
