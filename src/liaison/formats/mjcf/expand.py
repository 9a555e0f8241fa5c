"""An MJCF file written out: includes in place, classes filled in, frames and repetitions resolved.

Nothing outside the folder of the model is opened, and no file twice.

Public names: Folder, expanded.

Source: MUJOCO XML reference, sections include, frame, replicate and default.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

import numpy as np

from liaison.errors import ModelError, NamingError, TextError
from liaison.formats.urdf.xml import MAX_BYTES, MAX_ELEMENTS, Element, elements_of, numbers_in
from liaison.model.values import floats
from liaison.spatial import Array, compose, identity, product, quaternion_of, zeros

from .laws import ACTUATORS
from .values import TURNS, Settings, check_long, settings_of

PLACED = ("body", "geom", "site", "camera", "light", "flexcomp", "composite")
CLASSED = ("geom", "site", "joint", "camera", "light")
ATTACHED = ("tendon", "equality", "actuator", "sensor", "contact")
SECTIONED = {*ACTUATORS, "fixed", "spatial", "connect", "weld"}
"""Elements whose defaults are looked up by their class when they are read."""
NAMES = {
    *("name", "joint", "joint1", "joint2", "jointinparent", "site", "site1", "site2", "refsite"),
    *("cranksite", "slidersite", "sidesite", "tendon", "tendon1", "tendon2", "body", "body1"),
    *("body2", "geom", "geom1", "geom2", "actuator", "objname", "refname", "target"),
}
MAX_COPIES = 10_000
"""Elements that repetitions may make."""

HERE = identity(), zeros(3)


@final
@dataclass(slots=True)
class Folder:
    """The files that a model may open: those below one folder."""

    root: Path | None  # None: a text, which has no files
    home: Path | None = None  # of the model's own file; the root if it is not given
    seen: set[Path] = field(default_factory=set)

    def path(self, name: str, element: Element, under: str = "") -> Path:
        """The path of a file that an element names.

        Raises:
            TextError: a text without a folder, or a file outside of it.
        """
        if self.root is None:
            raise TextError(
                f"{element} names the file {name!r}, and a text has no folder to look for it in.",
                place=element.place,
                hint="Read the file of the model, or give folder=.",
            )
        root, home = self.root.resolve(), (self.home or self.root).resolve()
        wish = (home / under.replace("\\", "/") / name.replace("\\", "/")).resolve()
        if not wish.is_relative_to(root):
            raise TextError(
                f"{element} names the file {name!r}, which is outside the folder of the model.",
                place=element.place,
                hint="Name with folder= (--folder) the folder below which files may be opened.",
            )
        return wish

    def later(self, name: str) -> tuple[str, str]:
        """A file that is opened when it is drawn: its name, and the folder it never leaves."""
        root = (self.root or Path()).resolve()
        home = (self.home or root).resolve()
        file = name if home == root else os.path.relpath(home / name, root)
        return file, str(root)

    def data(self, name: str, element: Element, under: str = "", most: int = MAX_BYTES) -> bytes:
        """The content of a file that an element names, of so many bytes at most."""
        path = self.path(name, element, under)
        try:
            if not path.is_file():
                message = f"{element} names the file {name!r}, which is not there."
                raise TextError(message, place=element.place)
            if path.stat().st_size > most:
                message = f"{element} names the file {name!r}, which is over {most} bytes."
                raise TextError(message, place=element.place)
            return path.read_bytes()
        except OSError as error:
            message = f"{element}: the file {name!r} cannot be read: {error.strerror}."
            raise TextError(message, place=element.place) from None


def expanded(root: Element, folder: Folder) -> tuple[Element, Settings]:
    """The model without includes, frames and repetitions, and its settings.

    Raises:
        TextError: a file that cannot be opened, or is included twice; too many elements.
    """
    root = _included(root, folder)
    settings = settings_of(root)
    models = {x.get("name"): x for group in root.all("asset") for x in group.all("model")}
    writer = _Writer(settings, folder, models)
    children = []
    for child in root.children:
        if child.tag == "worldbody":
            inside = list(writer.written(child.children, "main", HERE, ""))
            child = Element(child.tag, child.attributes, child.place, inside)
        children.append(child)
    children += writer.sections
    return Element(root.tag, root.attributes, root.place, children), settings


# ---- includes


def _included(root: Element, folder: Folder) -> Element:
    """The tree with the content of included files in place, from the outside inwards."""
    total = 0
    top = Element(root.tag, root.attributes, root.place, list(root.children))
    front = [top]
    while front:
        parent = front.pop()
        children: list[Element] = []
        waiting = list(reversed(parent.children))
        while waiting:
            child = waiting.pop()
            if child.tag == "include":
                waiting += reversed(_content(child, folder))
                continue
            copy = Element(child.tag, child.attributes, child.place, list(child.children))
            children.append(copy)
            front.append(copy)
        total += len(children)
        if total > MAX_ELEMENTS:
            message = f"with its includes the model has more than {MAX_ELEMENTS} elements."
            raise TextError(message, place=parent.place)
        parent.children[:] = children
    return top


def _content(include: Element, folder: Folder) -> list[Element]:
    """The children of the root of an included file."""
    name = include.get("file")
    path = folder.path(name, include)
    if path in folder.seen:
        raise TextError(
            f"the file {name!r} is included twice, or includes itself.",
            place=include.place,
            hint="MuJoCo reads a file once; move what is common into a file of its own.",
        )
    folder.seen.add(path)
    return elements_of(folder.data(name, include), str(path)).children


# ---- classes, frames and repetitions


@final
class _Writer:
    """Writes out the bodies of a world."""

    def __init__(self, settings: Settings, folder: Folder, models: dict[str, Element]) -> None:
        self.settings, self.folder, self.models = settings, folder, models
        self.copies = 0
        self.sections: list[Element] = []  # of models that are attached

    def written(
        self, children: list[Element], default: str, X: tuple[Array, Array], suffix: str
    ) -> Iterator[Element]:
        """Elements with the attributes of their classes, placed in the body itself.

        Args:
            children: of a body, a frame or a repetition.
            default: the class of those that name none.
            X: the pose of their frame in the body.
            suffix: behind the names of copies.
        """
        for child in children:
            inner = child.attributes.get("childclass", default)
            if child.tag == "frame":
                self.settings.class_of(inner, child)
                placed = compose(*X, *self.settings.pose(child))
                yield from self.written(child.children, inner, placed, suffix)
            elif child.tag == "replicate":
                for Y, more in self.copied(child):
                    placed = compose(*X, *Y)
                    yield from self.written(child.children, default, placed, more + suffix)
            elif child.tag == "attach":
                yield from self.attached(child, X, suffix)
            else:
                yield self.one(child, default, inner, X, suffix)

    def one(
        self, child: Element, default: str, inner: str, X: tuple[Array, Array], suffix: str
    ) -> Element:
        """A body with what is in it, or another element."""
        if suffix:
            self.count(child)
        if child.tag in CLASSED:
            child = self.settings.filled(child, default)
        attributes, inside = dict(child.attributes), child.children
        if child.tag == "body":
            self.settings.class_of(inner, child)
            attributes["childclass"] = inner
            inside = list(self.written(child.children, inner, HERE, suffix))
        if suffix and "name" in attributes:
            attributes["name"] += suffix
        placed = Element(child.tag, attributes, child.place, inside)
        if X is not HERE and child.tag in (*PLACED, "joint"):
            _move(placed, X, self.settings)
        return placed

    def count(self, element: Element, more: int = 1) -> None:
        """Counts copies, and rejects too many."""
        self.copies += more
        if self.copies > MAX_COPIES:
            message = f"repetitions make more than {MAX_COPIES} elements."
            raise TextError(message, place=element.place)

    def attached(self, element: Element, X: tuple[Array, Array], suffix: str) -> Iterator[Element]:
        """A body of another model with all that refers to it, under names of its own.

        Raises:
            TextError: a model that counts angles otherwise, or has meshes.
        """
        wish = element.get("model")
        if "frame" in element.attributes:
            message = f"{element} attaches a frame, which is not read; name a body."
            raise TextError(message, place=element.place)
        if wish not in self.models:
            raise NamingError.unknown("model", wish, self.models, place=element.place)
        model, prefix = self.models[wish], element.attributes.get("prefix", "")
        path = self.folder.path(model.get("file"), model)
        if path in self.folder.seen:
            raise TextError(f"{element} attaches a model to itself.", place=element.place)
        inside = elements_of(self.folder.data(model.get("file"), model), str(path))
        files = Folder(self.folder.root, path.parent, {*self.folder.seen, path})
        root, settings = expanded(inside, files)
        self._check_alike(root, settings, element)
        known = {f"{prefix}{wish}/{x}": x for x in settings.classes}
        classes: Any = self.settings.classes
        classes |= {name: settings.classes[x] for name, x in known.items()}
        drives: Any = self.settings.actuators
        drives |= {name: settings.actuators[x] for name, x in known.items()}
        for section in (x for x in root.children if x.tag in ATTACHED):
            self.sections.append(_renamed(section, prefix, suffix, f"{prefix}{wish}/"))
        name = element.attributes.get("body")
        for body in _bodies(root, name, element):
            self.count(element, 1 + body.count("body"))
            placed = _renamed(body, prefix, suffix, f"{prefix}{wish}/")
            _move(placed, X, self.settings)
            yield placed

    def _check_alike(self, root: Element, settings: Settings, element: Element) -> None:
        """Rejects a model that cannot be attached as it is written."""
        ours, theirs = (
            (x.degrees, x.sequence, x.has_auto_limits, x.inertia_from_geoms, x.groups)
            for x in (self.settings, settings)
        )
        if ours != theirs or any(group.all("mesh") for group in root.all("asset")):
            raise TextError(
                f"{element} attaches a model with meshes, or with another <compiler>, which is "
                "not read.",
                place=element.place,
                hint="Write out what it makes.",
            )

    def copied(self, element: Element) -> Iterator[tuple[tuple[Array, Array], str]]:
        """Poses and suffixes of the copies of a repetition.

        Copy k is turned by k times the three angles of `euler`, which are not k turns one after
        another, and moved by `offset` in the axes of the one before it.
        """
        count = numbers_in(element, "count", 1, "")[0]
        if count.denominator != 1 or not 0 < count <= MAX_COPIES:
            message = (
                f"'count' of {element} is {float(count):g}; it is a number up to {MAX_COPIES}."
            )
            raise TextError(message, place=element.place)
        offset = np.array([float(x) for x in numbers_in(element, "offset", 3, "0 0 0")])
        angles = numbers_in(element, "euler", 3, "0 0 0")
        Y: tuple[Array, Array] = HERE
        digits = len(str(int(count) - 1))
        for k in range(int(count)):
            yield Y, f"{element.attributes.get('sep', '')}{k:0{digits}d}"
            turn = self.settings.by_euler([x * (k + 1) for x in angles])
            Y = turn, Y[1] + product(Y[0], offset)


def _bodies(root: Element, name: str | None, element: Element) -> list[Element]:
    """The body of a name, or all bodies of a world."""
    front = [x for world in root.all("worldbody") for x in world.all("body")]
    if name is None:
        return front
    known: dict[str, Element] = {}
    while front:
        body = front.pop()
        known[body.attributes.get("name", "")] = body
        front += body.all("body")
    if name not in known:
        raise NamingError.unknown("body", name, known, place=element.place)
    return [known[name]]


def _renamed(element: Element, prefix: str, suffix: str, classes: str) -> Element:
    """A copy whose names, and whose references to others, have a prefix and a suffix."""
    top = Element(element.tag, dict(element.attributes), element.place, list(element.children))
    front = [top]
    while front:
        one = front.pop()
        own = one.attributes
        for key in NAMES & own.keys():
            if own[key] not in ("world", ""):
                own[key] = f"{prefix}{own[key]}{suffix}"
        if "class" in own or one.tag in SECTIONED:
            own["class"] = classes + own.get("class", "main")
        own |= {"childclass": classes + own["childclass"]} if "childclass" in own else {}
        one.children[:] = [
            Element(x.tag, dict(x.attributes), x.place, list(x.children)) for x in one.children
        ]
        front += one.children
    return top


def _move(element: Element, X: tuple[Array, Array], settings: Settings) -> None:
    """Places an element that is in a frame in the body of that frame."""
    attributes = element.attributes
    R, p = (np.array(floats(x, {}), dtype=float) for x in X)
    if element.tag == "joint":
        pos = np.array([float(x) for x in numbers_in(element, "pos", 3, "0 0 0")])
        axis = np.array([float(x) for x in numbers_in(element, "axis", 3, "0 0 1")])
        attributes |= {"pos": _text(p + R @ pos), "axis": _text(R @ axis)}
        return
    if "fromto" in attributes:
        _stand(element, settings)
    Y: Any = [np.array(floats(x, {}), dtype=float) for x in settings.pose(element)]
    for key in TURNS:
        attributes.pop(key, None)
    attributes |= {"pos": _text(p + R @ Y[1]), "quat": _text(quaternion_of(R @ Y[0]))}


def _stand(element: Element, settings: Settings) -> None:
    """Writes `fromto` as a place, a turn and sizes, whose axes a frame then turns."""
    check_long(element)
    ends = np.array([float(x) for x in numbers_in(element, "fromto", 6, "")]).reshape(2, 3)
    back, own = ends[0] - ends[1], element.attributes
    first, half = own.get("size", "").split()[:1], float(np.linalg.norm(back)) / 2
    if not half:
        raise ModelError(f"{element} goes from a point to itself.", place=element.place)
    if first:
        is_round = own["type"] in ("capsule", "cylinder")
        own["size"] = " ".join([*first * (1 if is_round else 2), repr(half)])
    for key in ("fromto", *TURNS):
        own.pop(key, None)
    turn = np.array(floats(settings.by_z(back.tolist()), {}), dtype=float)
    own |= {"pos": _text(ends.mean(axis=0)), "quat": _text(quaternion_of(turn))}


def _text(values: Any) -> str:
    """Numbers in their shortest exact spelling."""
    return " ".join(repr(float(x)) for x in np.ravel(values))
