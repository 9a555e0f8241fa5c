"""Names of MJCF: each is given once among things of its kind.

Public names: check_names.

Source: MUJOCO XML reference, whose compiler rejects a name that is repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

from liaison.errors import NamingError
from liaison.formats.urdf.xml import Element

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
