"""XML for URDF on the standard library's expat: elements that know their line, and which are known.

Document types, entities, deep nesting and large files are rejected before anything is made of them;
nothing a file names is ever opened.

Public names: Element, elements_of, number_in, numbers_in, number_text, strangers, unused,
kept_limits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, final
from xml.parsers import expat

from liaison.errors import Place, TextError

MAX_BYTES = 32_000_000
MAX_DEPTH = 64
MAX_ELEMENTS = 500_000

_DECIMAL = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")


@final
@dataclass(frozen=True, slots=True)
class Element:
    """An element: tag, attributes, children in order, its text, and where it begins."""

    tag: str
    attributes: dict[str, str]
    place: Place
    children: list[Element] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list, repr=False, compare=False)  # of its text

    def all(self, tag: str) -> list[Element]:
        """The children of a tag."""
        return [child for child in self.children if child.tag == tag]

    def count(self, tag: str) -> int:
        """How many elements of a tag there are inside, at any depth."""
        count, front = 0, [self]
        while front:
            children = front.pop().children
            count += sum(child.tag == tag for child in children)
            front += children
        return count

    def one(self, tag: str) -> Element | None:
        """The only child of a tag, or None; two are rejected."""
        elements = self.all(tag)
        if len(elements) > 1:
            raise TextError(
                f"{self} has {len(elements)} elements <{tag}>; it takes one.",
                place=elements[1].place,
            )
        return elements[0] if elements else None

    def get(self, name: str) -> str:
        """An attribute that must be there."""
        if name not in self.attributes:
            raise TextError(f"{self} has no attribute {name!r}.", place=self.place)
        return self.attributes[name]

    def __str__(self) -> str:
        name = self.attributes.get("name")
        return f"<{self.tag} name={name!r}>" if name else f"<{self.tag}>"


class _Reader:
    """The handlers of expat; they build the tree without recursion."""

    def __init__(self, file: str, lines: list[str]) -> None:
        self.file, self.lines = file, lines
        self.parser: Any = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.EntityDeclHandler = self.doctype
        self.open: list[Element] = []
        self.root: Element | None = None
        self.count = 0

    def here(self) -> Place:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber
        return self.at(line, column + 1)

    def at(self, line: int, column: int) -> Place:
        text = self.lines[line - 1] if 0 < line <= len(self.lines) else ""
        if len(text) > 160:
            return Place(self.file, line, column)
        length = text.find(">", column - 1) - column + 2
        return Place(self.file, line, column, text.replace("\t", " "), max(1, length))

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.here())
        self.count += 1
        if len(self.open) >= MAX_DEPTH or self.count > MAX_ELEMENTS:
            what = "nested more than 64 deep" if len(self.open) >= MAX_DEPTH else "too many"
            raise TextError(f"the elements are {what}; this is no robot.", place=self.here())
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element
        self.open.append(element)

    def end(self, tag: str) -> None:
        self.open.pop()

    def characters(self, text: str) -> None:
        if self.open and not text.isspace():
            self.open[-1].pieces.append(text)

    def doctype(self, *_: object) -> None:
        raise TextError(
            "document types and entities are not read: they can name other files or grow "
            "without bound.",
            place=self.here(),
            hint="Remove the <!DOCTYPE …> part; URDF needs none.",
        )


def elements_of(data: bytes, file: str) -> Element:
    """The root element of an XML text.

    Raises:
        TextError: for text that is not XML, with its line; for document types and over-sized text.
    """
    if len(data) > MAX_BYTES:
        raise TextError(f"{file}: {len(data)} bytes; the limit is {MAX_BYTES}.")
    if data.count(b"<") - data.count(b"</") - data.count(b"<!") > MAX_ELEMENTS:
        raise TextError(f"{file}: more than {MAX_ELEMENTS} elements; this is no robot.")
    lines = data.decode("utf-8", errors="replace").split("\n")
    reader = _Reader(file, lines)
    if not data.strip():
        raise TextError("the text is empty.", place=Place(file, 1))
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TextError("there is a NUL character; this is no XML text.", place=Place(file, 1))
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise TextError(
            f"this is not well-formed XML: {expat.ErrorString(error.code)}.",
            place=reader.at(error.lineno, error.offset + 1),
        ) from None
    except (LookupError, ValueError) as error:
        raise TextError(f"this text cannot be decoded: {error}.", place=Place(file, 1)) from None
    assert reader.root is not None
    return reader.root


def number_in(element: Element, name: str, default: str | None = None) -> Fraction:
    """A finite decimal number in an attribute, exact."""
    text = element.attributes.get(name, default)
    return _number(element, name, element.get(name) if text is None else text)


def number_text(element: Element) -> Fraction:
    """The number that is an element's text, or its attribute `value`."""
    text = element.attributes.get("value", "".join(element.pieces))
    return _number(element, "value" if "value" in element.attributes else "text", text)


def numbers_in(element: Element | None, name: str, count: int, default: str) -> list[Fraction]:
    """`count` numbers in an attribute; those of the default where there is no element."""
    text = default if element is None else element.attributes.get(name, default)
    words = text.split()
    if len(words) != count and element is not None:
        numbers = "1 number" if len(words) == 1 else f"{len(words)} numbers"
        raise TextError(
            f"{name!r} of {element} has {numbers}; it takes {count}.",
            place=element.place,
            hint="Numbers are separated by blanks, not by commas." if "," in text else "",
        )
    return [_number(element, name, word) for word in words]


def _number(element: Element | None, name: str, text: str) -> Fraction:
    text = text.strip()
    place = element.place if element else None
    if not _DECIMAL.fullmatch(text) or len(text) > 400:
        hint = "Write a decimal point, not a comma." if "," in text else ""
        raise TextError(
            f"{name!r} of {element} is {text[:40]!r}, which is no finite number.",
            place=place,
            hint=hint,
        )
    value = Fraction(text)
    try:
        float(value)
    except OverflowError:
        raise TextError(
            f"{name!r} of {element} is {text[:40]!r}, which is not finite.", place=place
        ) from None
    return value


KNOWN = {
    "robot": {"link", "joint", "material", "loop", "constraint"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "dynamics", "mimic", "limit"},
    "loop": {"predecessor", "successor", "axis"},
    "constraint": {
        "parent",
        "parent_origin",
        "parent_axis",
        "child",
        "child_origin",
        "child_axis",
    },
    "inertial": {"origin", "mass", "inertia"},
    "visual": {"origin", "geometry", "material"},
    "collision": {"origin", "geometry", "material"},
    "material": {"color"},
}


ATTRIBUTES = {
    "robot": "name version",
    "link": "name type",
    "joint": "name type",
    "loop": "name type",
    "constraint": "name type",
    "origin": "xyz rpy",
    "parent_origin": "xyz rpy",
    "child_origin": "xyz rpy",
    "parent_axis": "xyz",
    "child_axis": "xyz",
    "parent": "link",
    "child": "link",
    "predecessor": "link",
    "successor": "link",
    "axis": "xyz",
    "dynamics": "damping friction",
    "mimic": "joint multiplier offset",
    "limit": "lower upper effort velocity",
    "mass": "value",
    "inertia": "ixx ixy ixz iyy iyz izz",
    "visual": "name",
    "collision": "name",
    "material": "name",
    "color": "rgba",
    "inertial": "",
    "geometry": "",
    "box": "size",
    "sphere": "radius",
    "cylinder": "radius length",
    "mesh": "filename scale",
    "capsule": "radius length",
}
"""Element -> its attributes that are known."""
MOVING = (
    "origin",
    "inertia",
    "mass",
    "axis",
    "mimic",
    "parent_origin",
    "child_origin",
    "parent_axis",
    "child_axis",
)
"""Elements of which another attribute would change the motion; <dynamics> of many robots has
attributes of their authors' own, which are noted."""


def unused(counts: Mapping[str, int]) -> list[str]:
    """A note for each kind that is not used, with how often it stands in the file."""
    return [
        f"{what} is not used" + (f" ({n} times)" if n > 1 else "") + ASKED_FOR.get(what, "")
        for what, n in sorted(counts.items())
    ]


MOTORS = "; motors='position' (--motors position) makes a motor of it"
ASKED_FOR = {
    "<collision> in <link>": "; ground=True (--ground) lets it touch",
    "<transmission> in <robot>": MOTORS,
    "<ros2_control> in <robot>": MOTORS,
}
"""What is used only where it is asked for, and how to ask."""


def kept_limits(count: int) -> str:
    """The note on limits of joints that are no stops."""
    return f"limits of {count} joint{'' if count == 1 else 's'} are kept, but not enforced"


def strangers(
    root: Element,
    used: Mapping[str, set[str]],
    drop: Callable[[str, Element], None],
    *,
    touches: bool,
) -> Counter[str]:
    """How often each kind of element and attribute of a URDF file occurs that is not used.

    Args:
        root: of the file.
        used: elements in others that are used because of what is asked for.
        drop: called with a text on an attribute that would change the motion.
        touches: collision shapes are used.
    """
    counts: Counter[str] = Counter()
    front = [root]
    while front:
        element = front.pop()
        drawn = not touches and bool(element.all("visual"))
        for child in element.children:
            known = KNOWN.get(element.tag, {child.tag}) | used.get(element.tag, set())
            if child.tag not in known or (child.tag == "collision" and drawn):
                counts[f"<{child.tag}> in <{element.tag}>"] += 1
            elif child.tag in KNOWN or child.tag in ATTRIBUTES or child.tag in used:
                front.append(child)
        names = ATTRIBUTES.get(element.tag, "").split()
        names += ["reference"] if element.tag == "gazebo" and "gazebo" in used else []
        for word in element.attributes.keys() - names:
            if word.startswith("xmlns"):
                continue  # a name space, which says nothing
            if element.tag in MOVING:
                drop(f"{word!r} of <{element.tag}> is not read", element)
            counts[f"{word!r} of <{element.tag}>"] += 1
    return counts
