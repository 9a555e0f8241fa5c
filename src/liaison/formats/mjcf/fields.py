"""Attributes of MJCF that are not read: those that change the motion are errors, the rest is noted.

Every attribute of the elements that are read is in one of the tables below, or is noted as unknown.

The names are those of the XML reference of MuJoCo 3 and 4.

Public names: Fields, TENDON.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

from liaison.errors import TextError
from liaison.formats.urdf.xml import Element

_PLACE = "name class pos quat axisangle xyaxes zaxis euler user"
READ: Mapping[str, str] = {
    "compiler": "angle eulerseq coordinate inertiafromgeom inertiagrouprange",
    "option": "gravity",
    "flag": "gravity spring damper passive frictionloss equality constraint",
    "body": f"{_PLACE} childclass",
    "inertial": f"{_PLACE} mass diaginertia fullinertia",
    "joint": "name class type pos axis user damping frictionloss stiffness springref ref range "
    "limited armature",
    "freejoint": "name",
    "geom": f"{_PLACE} type size fromto mass density group rgba",
    "connect": "name class body1 body2 anchor active",
    "weld": "name class body1 body2 anchor relpose active",
    "equality joint": "name class joint1 joint2 polycoef active",
}
"""Element -> its attributes that are read."""

STILL: Mapping[str, str] = {
    "compiler": "autolimits strippath fitaabb meshdir texturedir assetdir discardvisual usethread "
    "fusestatic exactmeshinertia saveinertial",
    "option": "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance "
    "sleep_tolerance magnetic integrator cone jacobian solver iterations ls_iterations "
    "noslip_iterations ccd_iterations sdf_iterations sdf_initpoints actuatorgroupdisable o_margin "
    "o_solref o_solimp o_friction apirate mpr_iterations mpr_tolerance",
    "flag": "limit contact clampctrl warmstart filterparent actuation refsafe sensor midphase "
    "nativeccd eulerdamp autoreset override energy fwdinv invdiscrete multiccd island sleep",
    "body": "mocap sleep",
    "joint": "group solreflimit solimplimit solreffriction solimpfriction margin actuatorfrcrange "
    "actuatorfrclimited actuatorgravcomp",
    "freejoint": "group",
    "geom": "contype conaffinity condim priority friction solmix solref solimp margin gap material "
    "hfield fluidshape fluidcoef",
    "connect": "solref solimp",
    "weld": "solref solimp",
    "equality joint": "solref solimp",
}
"""Element -> its attributes without an effect on a motion without contacts and actuators."""

MOVING: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "compiler": {
        "settotalmass": ("-1",),
        "boundmass": ("0",),
        "boundinertia": ("0",),
        "balanceinertia": ("false",),
        "alignfree": ("false",),
    },
    "option": {"wind": ("0 0 0",), "density": ("0",), "viscosity": ("0",)},
    "body": {"gravcomp": ("0",)},
    "joint": {"springdamper": ("0 0",)},
    "freejoint": {"align": ("false", "auto")},
    "geom": {"shellinertia": ("false",), "mesh": ()},
    "connect": {"site1": (), "site2": ()},
    "weld": {"site1": (), "site2": (), "torquescale": ("1",)},
}
"""Element -> its attributes that change the motion and are not read, with values that do not."""

TENDON = ("stiffness", "damping", "frictionloss", "armature")
"""Attributes of tendons that act without an actuator."""


@final
class Fields:
    """Checks attributes while elements are read; what is not used is counted for the notes."""

    def __init__(self, strict: bool, notes: list[str]) -> None:
        self.strict, self.notes = strict, notes
        self.counts: dict[str, int] = {}

    def check(self, element: Element, kind: str = "") -> Element:
        """The element, if all that changes the motion in it is read.

        Raises:
            TextError: an attribute that changes the motion and is not read, unless the reading is
                lenient.
        """
        kind = kind or element.tag
        known = {*READ.get(kind, "").split(), *STILL.get(kind, "").split()}
        moving = MOVING.get(kind, {})
        for word, text in element.attributes.items():
            if word in moving:
                if _plain(text) not in moving[word]:
                    self.drop(f"{word!r} of <{element.tag}> is not read", element)
            elif word not in known or word in STILL.get(kind, "").split():
                self.count(f"{word!r} of <{element.tag}>")
        return element

    def drop(self, message: str, element: Element, hint: str = "") -> None:
        """Rejects what changes the motion and is not read; notes it where the reading is lenient.

        Raises:
            TextError: in a strict reading.
        """
        if self.strict:
            raise TextError(
                f"{message}, and it changes the motion.",
                place=element.place,
                hint=hint or "Take it out, or read with strict=False (--lenient) to leave it out.",
            )
        note = f"{message} (line {element.place.line})"
        if note not in self.notes:
            self.notes.append(note)

    def count(self, what: str) -> None:
        """One more of a kind that is not used."""
        self.counts[what] = self.counts.get(what, 0) + 1

    def counted(self) -> list[str]:
        """A note for each kind that is not used."""
        return [f"{what} is not used ({n} times)" for what, n in sorted(self.counts.items())]


def _plain(text: str) -> str:
    """A value with its numbers in one spelling."""
    words = []
    for word in text.split():
        try:
            words.append(f"{float(word):g}")
        except ValueError:
            words.append(word)
    return " ".join(words)
