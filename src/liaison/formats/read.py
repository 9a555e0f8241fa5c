"""`read`: a file or a text in any known language, recognized by its suffix.

Public names: ReadKeywords, read, reading, data_of, text_of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from liaison.arguments import checked
from liaison.errors import OptionError, TextError
from liaison.formats.lsd.read import read_lsd
from liaison.model import Mechanism
from liaison.model.checks import idle_relations

from .guard import Reading
from .guard import data_of as data_of

SUFFIXES = (".lsd", ".urdf", ".mjcf", ".xml")


class ReadKeywords(TypedDict, total=False):
    """Options of readers.

    Attributes:
        file: of a text: its name, for messages.
        folder: of a text in LSD: below which files may be included; of MJCF: below which files
            may be opened, the file's own folder unless it is given.
        keyframe: of MJCF: the keyframe to start from, by name or number. None.
        contacts: of MJCF: contacts between geoms. False.
        strict: rejects impossible inertias; otherwise they are repaired, and noted. True.
        floating: of URDF: leave the root link free. False.
        gravity: of URDF: acceleration of gravity [m/s²]; that of the earth.
        merge_fixed: of URDF: one body of links that are fixed together. False.
        base: of URDF: the link that the ground holds, or that is free; the root link.
        limits: of URDF and MJCF: stops at the ends of ranges; of URDF True with motors or a
            ground, of MJCF True.
        motors: of URDF: "torque", "velocity" or "position": what the motors follow. None.
        stiffness: of motors that follow positions [N·m/rad, N/m], or a text such as
            "20 N*m/rad"; all effort at 0.2 rad, 2 cm.
        damping: of motors [N·m·s/rad, N·s/m]; stiffness times 50 ms.
        ground: a plane that shapes touch, True or its height [m]: of URDF collision shapes, of
            MJCF geoms, by whose classes contacts are read, of LSD shapes of what moves. None.
        friction: of that plane; 0.8, of MJCF 1.
        restitution: of stops and of that plane; 0.
        sticking: of URDF: dry friction of joints holds at rest, exactly. False.
        self_collision: of URDF: links touch each other, but for neighbours. False.
        decompose: of URDF with self_collision and MJCF with contacts: meshes touch each other by
            their convex parts, True or how many at most (16); needs the extra `meshes`. False.
        srdf: of URDF: path or text of its SRDF file.
        pose: of URDF: where joints start, by name ("*_knee" for all such) [rad, m], or texts such
            as "20 deg"; or the name of a group state of the SRDF file.
        package_root: of URDF: folder with the packages that `package://` names.
    """

    file: str
    folder: Path | None
    keyframe: str | int | None
    contacts: bool
    strict: bool
    floating: bool
    gravity: Sequence[Any]
    merge_fixed: bool
    base: str
    limits: bool | None
    motors: str
    stiffness: Any
    damping: Any
    ground: Any
    friction: Any
    restitution: Any
    sticking: bool
    self_collision: bool
    decompose: bool | int
    srdf: str | Path
    pose: str | Mapping[str, Any]
    package_root: str | Path


OF_MJCF = (
    "strict", "folder", "keyframe", "contacts", "limits", "decompose", "ground", "friction",
)  # fmt: skip
OF_LSD = ("ground", "friction")
NUMBERS = ("ground", "friction", "restitution", "stiffness", "damping")
"""Options that are numbers, of any kind or texts with units."""
OF_URDF = tuple(
    x for x in ReadKeywords.__annotations__ if x not in ("file", "folder", "keyframe", "contacts")
)


@checked
def read(source: str | Path, **options: Unpack[ReadKeywords]) -> Mechanism:
    """The mechanism of a file, or of a text.

    Args:
        source: a path ending in .lsd, .urdf, .mjcf or .xml, or the text itself: URDF or MJCF if it
            begins with '<', otherwise LSD.
        **options: of a text: file, folder; of URDF and MJCF: strict, floating, gravity,
            merge_fixed, keyframe; see `ReadKeywords`.

    Raises:
        TextError: a suffix that is not known, a file that cannot be read, or what the reader of
            the language rejects.

    Example:
        >>> import liaison
        >>> liaison.read("examples/pendulum.lsd")
        <Mechanism pendulum: 1 body, 1 joint>
    """
    return reading(source, **options).mechanism


@checked
def reading(source: str | Path, **options: Unpack[ReadKeywords]) -> Reading:
    """The mechanism of a file or a text, with notes on what of it is not used.

    Example:
        >>> import liaison
        >>> liaison.reading("examples/pendulum.lsd").mechanism.name
        'pendulum'
    """
    text = str(source)
    words: dict[str, Any] = dict(options)
    if not words.keys().isdisjoint(NUMBERS):
        from .quantities import plain_numbers

        words = plain_numbers(words)
    if isinstance(source, Path) or _is_path(text):
        return _read_file(Path(source), words)
    if text.lstrip().startswith("<"):
        return _read_xml(text.encode(), words)
    OptionError.check("reading LSD", options, ("file", "folder", *OF_LSD))
    mechanism = read_lsd(text, words.get("file", "text"), folder=words.get("folder"))
    return _noted(mechanism, words.get("ground"), words.get("friction"))


def _noted(mechanism: Mechanism, ground: Any, friction: Any) -> Reading:
    """What was read from LSD, with a note on each relation that asks for nothing, and on hulls."""
    if ground is not None or friction is not None:
        from .ground import plane_height, standing

        height = plane_height(ground, friction)
        mechanism = mechanism if height is None else standing(mechanism, height, friction)
    shapes = [shape for body in mechanism.bodies for shape in body.shapes]
    hulls = dict.fromkeys(x for shape in shapes for x in getattr(shape, "notes", ()))
    return Reading(mechanism, (*idle_relations(mechanism), *hulls))


def _is_path(text: str) -> bool:
    """A text has several words or lines; a path has neither '<' nor ';' nor a line's end."""
    return bool(text.strip()) and not any(mark in text for mark in "<;\n\0")


def _read_file(path: Path, options: dict[str, Any]) -> Reading:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        known = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
        raise TextError(f"{path}: the suffix {suffix!r} is not known; files end in {known}.")
    data = data_of(path)
    if suffix == ".lsd":
        OptionError.check("reading LSD", options, OF_LSD)
        text = text_of(data, path)
        return _noted(
            read_lsd(text, file=str(path), folder=path.parent),
            options.get("ground"),
            options.get("friction"),
        )
    if suffix == ".urdf":
        from liaison.formats.urdf.read import reading_of_urdf

        OptionError.check("reading URDF", options, OF_URDF)
        return reading_of_urdf(data, file=str(path), **options)
    return _read_xml(data, {"file": str(path), **options})


def _read_xml(data: bytes, options: dict[str, Any]) -> Reading:
    """MJCF if its root is <mujoco>, otherwise URDF."""
    if b"<mujoco" in data[:100_000] and b"<robot" not in data[:100_000]:
        from liaison.formats.mjcf.read import reading_of_mjcf

        OptionError.check("reading MJCF", options, ("file", *OF_MJCF))
        return reading_of_mjcf(data, **options)
    from liaison.formats.urdf.read import reading_of_urdf

    OptionError.check("reading URDF", options, ("file", *OF_URDF))
    return reading_of_urdf(data, **options)


def text_of(data: bytes, path: Path) -> str:
    """The content as text."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextError(f"{path}, line {line}: this is not UTF-8 text.") from None
