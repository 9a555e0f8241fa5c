"""Every element and attribute of MJCF: what is read, what is ignored by name, what is an error.

The names are those of the XML reference of MuJoCo 3 and 4; what is in none of the tables is noted
as unknown.

Public names: Fields, ELEMENTS, READ, STILL, MOVING, LISTS, goes_on, verdict, check_names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, final

from liaison.errors import NamingError, TextError
from liaison.formats.urdf.xml import Element, unused

_TURN = "quat axisangle xyaxes zaxis euler"
_PLACE = f"name class pos {_TURN} user"
_ACTUATOR = (
    "name class group ctrllimited ctrlrange forcelimited forcerange gear joint jointinparent "
    "tendon site refsite cranksite slidersite cranklength"
)
_REST = "lengthrange user"
_LATE = {"delay": ("0",), "nsample": ("0",), "interp": (), "armature": ("0",), "damping": ("0",)}
_SENSOR = "name"

ELEMENTS: Mapping[str, Mapping[str, str]] = {
    "mujoco": {
        "read": "compiler option default worldbody equality tendon actuator sensor keyframe "
        "contact asset deformable",
        "ignored": "size statistic visual custom extension",
    },
    "compiler": {"ignored": "lengthrange"},
    "option": {"read": "flag"},
    "asset": {"read": "mesh model hfield", "ignored": "texture material skin"},
    "mesh": {"read": "plugin"},
    "deformable": {"ignored": "skin", "error": "flex"},
    "worldbody": {
        "read": "body geom site attach",
        "ignored": "camera light",
        "error": "composite flexcomp plugin inertial joint freejoint",
    },
    "body": {
        "read": "body geom site joint freejoint inertial attach",
        "ignored": "camera light",
        "error": "composite flexcomp plugin",
    },
    "geom": {"ignored": "plugin"},
    "contact": {"read": "pair exclude"},
    "tendon": {"read": "fixed spatial"},
    "fixed": {"read": "joint"},
    "spatial": {"read": "site pulley geom"},
    "equality": {"read": "connect weld joint tendon", "error": "flex flexvert flexstrain"},
    "actuator": {
        "read": "general motor position velocity intvelocity damper cylinder",
        "ignored": "adhesion",
        "error": "muscle dcmotor orientation pid plugin",
    },
    "sensor": {
        "read": "jointpos jointvel jointactuatorfrc tendonpos tendonvel tendonactuatorfrc "
        "actuatorpos actuatorvel actuatorfrc ballquat ballangvel framepos framequat framexaxis "
        "frameyaxis framezaxis framelinvel frameangvel velocimeter gyro magnetometer subtreecom "
        "subtreelinvel subtreeangmom e_kinetic clock",
        "ignored": "touch accelerometer force torque camprojection rangefinder jointlimitpos "
        "jointlimitvel jointlimitfrc tendonlimitpos tendonlimitvel tendonlimitfrc framelinacc "
        "frameangacc insidesite distance normal fromto contact e_potential tactile user plugin",
    },
    "keyframe": {"read": "key"},
}
"""Element -> its children: read, ignored by name, or rejected because they change the motion."""

READ: Mapping[str, str] = {
    "mujoco": "model",
    "compiler": "angle eulerseq coordinate inertiafromgeom inertiagrouprange settotalmass "
    "boundmass boundinertia balanceinertia autolimits meshdir assetdir",
    "option": "gravity wind density viscosity magnetic actuatorgroupdisable o_friction",
    "flag": "gravity spring damper passive frictionloss equality constraint limit contact "
    "actuation clampctrl filterparent override",
    "mesh": "name class file scale refpos refquat vertex face inertia builtin",
    "hfield": "name file content_type nrow ncol elevation size",
    "body": f"{_PLACE} childclass gravcomp",
    "inertial": f"{_PLACE} mass diaginertia fullinertia",
    "joint": "name class type pos axis user damping frictionloss stiffness springref ref range "
    "limited armature actuatorfrcrange actuatorfrclimited springdamper actuatorgravcomp",
    "freejoint": "name",
    "geom": f"{_PLACE} type size fromto mass density group rgba mesh hfield contype conaffinity "
    "condim priority friction",
    "site": f"{_PLACE} fromto",
    "fixed": "name class range limited stiffness damping frictionloss armature springlength "
    "actuatorfrcrange actuatorfrclimited",
    "spatial": "name class range limited stiffness damping frictionloss armature springlength "
    "actuatorfrcrange actuatorfrclimited",
    "equality connect": "name class body1 body2 anchor site1 site2 active",
    "equality weld": "name class body1 body2 anchor relpose site1 site2 active",
    "equality joint": "name class joint1 joint2 polycoef active",
    "equality tendon": "name class tendon1 tendon2 polycoef active",
    "general": f"{_ACTUATOR} gaintype gainprm biastype biasprm dyntype dynprm actlimited actrange",
    "motor": _ACTUATOR,
    "position": f"{_ACTUATOR} kp kv timeconst",
    "velocity": f"{_ACTUATOR} kv",
    "intvelocity": f"{_ACTUATOR} kp kv actlimited actrange",
    "damper": f"{_ACTUATOR} kv",
    "cylinder": f"{_ACTUATOR} area diameter bias timeconst",
    "pair": "name class geom1 geom2 friction condim",
    "exclude": "name body1 body2",
    "attach": "model body prefix",
    "model": "name file",
    "key": "name time qpos qvel act ctrl",
    **dict.fromkeys(("jointpos", "jointvel", "jointactuatorfrc"), f"{_SENSOR} joint"),
    **dict.fromkeys(("ballquat", "ballangvel"), f"{_SENSOR} joint"),
    **dict.fromkeys(("tendonpos", "tendonvel", "tendonactuatorfrc"), f"{_SENSOR} tendon"),
    **dict.fromkeys(("actuatorpos", "actuatorvel", "actuatorfrc"), f"{_SENSOR} actuator"),
    **dict.fromkeys(("velocimeter", "gyro", "magnetometer"), f"{_SENSOR} site"),
    **dict.fromkeys(("subtreecom", "subtreelinvel", "subtreeangmom"), f"{_SENSOR} body"),
    **dict.fromkeys(("clock", "e_kinetic"), _SENSOR),
    **{
        f"frame{x}": f"{_SENSOR} objtype objname reftype refname"
        for x in ("pos", "quat", "xaxis", "yaxis", "zaxis", "linvel", "angvel")
    },
}
"""Element -> its attributes that are read."""

_SHOWN = "cutoff delay interp interval noise nsample user"
STILL: Mapping[str, str] = {
    "compiler": "strippath fitaabb texturedir discardvisual usethread fusestatic exactmeshinertia "
    "saveinertial savecanonical savecompiled passthrough conflict alignfree",
    "option": "timestep impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance "
    "sleep_tolerance integrator cone jacobian solver iterations ls_iterations "
    "noslip_iterations ccd_iterations sdf_iterations sdf_initpoints o_margin "
    "o_solref o_solimp apirate mpr_iterations mpr_tolerance",
    "flag": "warmstart refsafe sensor midphase nativeccd eulerdamp autoreset "
    "energy fwdinv invdiscrete multiccd island sleep diagexact ipc speculative",
    "mesh": "content_type material maxhullvert normal params smoothnormal texcoord",
    "body": "mocap sleep fuse simple",
    "joint": "group solreflimit solimplimit solreffriction solimpfriction margin",
    "freejoint": "group align",
    "geom": "solmix solref solimp margin gap material castshadow fitscale",
    "site": "type size group material rgba mesh",
    "fixed": "group margin solreflimit solimplimit solreffriction solimpfriction user",
    "spatial": "group margin solreflimit solimplimit solreffriction solimpfriction user width rgba "
    "material",
    "equality connect": "solref solimp",
    "equality weld": "solref solimp torquescale",
    "equality joint": "solref solimp",
    "equality tendon": "solref solimp",
    "general": f"{_REST} body actdim actearly",
    "motor": f"{_REST}",
    "position": f"{_REST}",
    "velocity": f"{_REST}",
    "intvelocity": f"{_REST}",
    "damper": f"{_REST}",
    "cylinder": f"{_REST}",
    "pair": "solref solimp solreffriction margin gap",
    "key": "mpos mquat",
    "model": "content_type",
    **dict.fromkeys(ELEMENTS["sensor"]["read"].split(), _SHOWN),
}
"""Element -> its attributes that belong to MuJoCo's solver, its pictures or its filters."""

MOVING: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "joint": {"springyield": ("0", "inf")},
    "geom": {
        "shellinertia": ("false",),
        "fluidshape": ("none",),
        "fluidcoef": (),
        "adhesion": ("0",),
        "surfacevel": ("0 0 0", "0 0 0 0 0 0"),
    },
    "fixed": {"springyield": ("0", "inf")},
    "spatial": {"springyield": ("0", "inf")},
    "general": {**_LATE, "ffrange": (), "input": (), "velrange": (), "inheritrange": ("0",)},
    "motor": _LATE,
    "position": {**_LATE, "inheritrange": ("0",), "dampratio": ("0",)},
    "velocity": _LATE,
    "intvelocity": {**_LATE, "inheritrange": ("0",), "dampratio": ("0",)},
    "damper": _LATE,
    "cylinder": _LATE,
    "pair": {"adhesion": ("0",)},
    "key": {"plastic": ()},
    "attach": {"frame": ()},
}
"""Element -> its attributes that change the motion and are not read, with values that do not."""


@final
class Fields:
    """Checks elements and attributes while they are read; what is not used is counted."""

    def __init__(self, strict: bool, notes: list[str]) -> None:
        self.strict, self.notes = strict, notes
        self.counts: dict[str, int] = {}

    @property
    def is_lossy(self) -> bool:
        """Whether something that changes the motion was left out."""
        return not self.strict

    def check_elements(self, root: Element) -> None:
        """Names what is not used, each kind once; rejects what would make bodies or move them.

        Raises:
            TextError: an element that changes the motion and is not read, unless the reading is
                lenient.
        """
        front = [root]
        while front:
            element = front.pop()
            verdicts = ELEMENTS.get(element.tag, {})
            for child in element.children if verdicts else ():
                if child.tag in verdicts.get("read", "").split():
                    front.append(child)
                elif child.tag in verdicts.get("error", "").split():
                    self.drop(f"<{child.tag}> in <{element.tag}> is not read", child)
                else:
                    self.count(f"<{child.tag}> in <{element.tag}>")
            if element.tag in (
                "mujoco",
                "compiler",
                "option",
                "flag",
                "pair",
                "exclude",
                "key",
                "model",
            ):
                self.check(element)

    def check(self, element: Element, kind: str = "") -> Element:
        """The element, if all that changes the motion in it is read.

        Raises:
            TextError: an attribute that changes the motion and is not read, unless the reading is
                lenient.
        """
        kind = kind or element.tag
        moving = MOVING.get(kind, {})
        for word, text in element.attributes.items():
            if word in moving:
                if _plain(text) not in moving[word]:
                    self.drop(f"{word!r} of <{element.tag}> is not read", element)
            elif word not in READ.get(kind, "").split():
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
        return unused(self.counts)


def verdict(kind: str, word: str) -> str:
    """The table of an attribute of an element that is read; "" where it is in none."""
    tables: tuple[tuple[str, Any], ...] = (
        ("read", READ.get(kind, "").split()),
        ("ignored", STILL.get(kind, "").split()),
        ("error", MOVING.get(kind, {})),
    )
    return next((name for name, table in tables if word in table), "")


def _plain(text: str) -> str:
    """A value with its numbers in one spelling."""
    words = []
    for word in text.split():
        try:
            words.append(f"{float(word):g}")
        except ValueError:
            words.append(word)
    return " ".join(words)


LISTS = ("friction", "size", "gear", "stiffness", "damping")
"""Attributes of which an element may have fewer numbers than its class, and takes the others."""


def goes_on(text: str, default: str) -> str:
    """A list of numbers, which goes on as another one does."""
    words = text.split()
    return " ".join((*words, *default.split()[len(words) :]))


# ---- names


IN_BODIES = {
    "body": "bodies",
    "geom": "geoms",
    "joint": "joints",
    "freejoint": "joints",
    "site": "sites",
    "camera": "cameras",
    "light": "lights",
}
"""Elements of bodies -> what they are named among."""
SECTIONS = {
    "tendon": "tendons",
    "actuator": "actuators",
    "sensor": "sensors",
    "equality": "equalities",
    "keyframe": "keyframes",
}
"""Sections whose children are named among each other."""
BY_TAG = {
    "contact": {"pair": "pairs", "exclude": "exclusions"},
    "asset": {"mesh": "meshes", "hfield": "height fields", "material": "materials"},
}
"""Sections whose children are named among those of their tag."""


def check_names(root: Element) -> None:
    """Rejects a name that two things of one kind have.

    Raises:
        NamingError: the name, at the second of them.
    """
    taken = {("bodies", "world")}
    for kind, name, element in _named(root):
        if name and (kind, name) in taken:
            raise NamingError.double(kind, name, place=element.place)
        taken.add((kind, name))


def _named(root: Element) -> Iterator[tuple[str, str, Element]]:
    """(kind, name, element) of everything; assets are named by their files where they are not."""
    for section in root.children:
        if section.tag == "worldbody":
            yield from _in_bodies(section)
        for x in section.children:
            kind = SECTIONS.get(section.tag) or BY_TAG.get(section.tag, {}).get(x.tag)
            file = x.attributes.get("file", "") if x.tag in ("mesh", "hfield") else ""
            if kind:
                stem = PurePosixPath(file.replace("\\", "/")).stem
                yield kind, x.attributes.get("name") or stem, x


def _in_bodies(world: Element) -> Iterator[tuple[str, str, Element]]:
    """The same of what is in a world."""
    front = list(reversed(world.children))
    while front:
        x = front.pop()
        if x.tag in IN_BODIES:
            yield IN_BODIES[x.tag], x.attributes.get("name", ""), x
        if x.tag == "body":
            front += reversed(x.children)
