"""Contact shapes and targets, and the gap formulas of each pair.

A shape is one class with its word, its sizes, its symbol and the places on it that can touch; a
target likewise. What happens between the two is a function of the pose (R, p) of the shape, seen
from the target, registered for the pair: it gives the places of contact. What has no such function
cannot touch, and is rejected by name.

Public names: ContactShape, ContactTarget, Sizes, Solid, Pairing, SHAPE_KINDS, TARGET_KINDS, PAIRS,
shape_kind, target_kind, touching, target_of, corners.

Source: docs/theory/contacts.md, the table of pairs.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Iterable, Sequence
from itertools import product as combined
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np

from liaison.errors import ModelError
from liaison.model.kinds import Kinds, Property
from liaison.spatial import number
from liaison.spatial.arrays import Array, array

from .touch import Touching


class Solid(NamedTuple):
    """A piece of a picture in the axes of its frame: a sphere, cylinder, box, ellipsoid or mesh."""

    symbol: str
    size: tuple[float, ...] = ()  # radius; radius and length along z; three sides
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    vertices: Any = None  # of a mesh, shape (n, 3) [m]
    faces: Any = None  # of a mesh, shape (k, 3)


class Core(NamedTuple):
    """A convex body for loops: the hull of points, or a cylinder along z, widened by a radius."""

    points: tuple[Any, ...] = ()  # triples [m]; one of a ball, two of a capsule
    radius: Any = 0  # [m]
    disc: Any = 0  # radius of a cylinder [m]
    half: Any = 0  # half its length [m]
    grid: Any = None  # a HeightGrid instead: a height field


class Sizes:
    """The sizes of a contact by their words, each as whoever asks wants its scalars."""

    def __init__(self, contact: Any, read: Callable[[Any], Any]) -> None:
        self.contact, self.read = contact, read

    def __call__(self, key: str) -> Any:
        """A size, or a list of those that have several components."""
        value = self.contact.value_of(key)
        return [self.read(x) for x in value] if isinstance(value, tuple) else self.read(value)

    def halves(self, key: str) -> list[Any]:
        """Half of each component."""
        return [x / 2 for x in self(key)]

    def spots(self) -> list[Array]:
        """Points of the shape that can touch, or centers of what is round there."""
        kind = SHAPE_KINDS.named(self.contact.kind)
        assert kind is not None, self.contact.kind
        return kind.spots(self)


class ContactShape(ABC):
    """What touches, at the first frame of a contact."""

    WORD: ClassVar[str]
    SYMBOL: ClassVar[str]
    SIZES: ClassVar[tuple[Property, ...]] = ()
    HAS_AXIS: ClassVar[bool] = False  # its z may be given as a property `axis`
    ROLLS: ClassVar[bool] = True  # a place of contact can move over it
    ONLY: ClassVar[str] = ""  # what to do instead, of what touches few things
    INSTEAD: ClassVar[dict[str, str]] = {}  # the same, by the word of the target

    @classmethod
    def spots(cls, sizes: Sizes) -> list[Array]:
        """Points of it that can touch, or centers of what is round there, in its frame [m]."""
        return corners([0, 0, 0])

    @classmethod
    def reach(cls, sizes: Sizes) -> float:
        """Half its width in a picture [m]; infinite where it has none."""
        return float(sizes("radius")) or np.inf

    @classmethod
    def solids(cls, sizes: Sizes) -> Iterable[Solid]:
        """How it is drawn."""
        return ()

    @classmethod
    def core(cls, sizes: Sizes) -> Core:
        """What it is for the loops that find where convex bodies touch."""
        return Core(tuple(map(tuple, cls.spots(sizes))), sizes("radius"))


class ContactTarget(ABC):
    """What is touched, at the second frame of a contact."""

    WORD: ClassVar[str]
    SYMBOL: ClassVar[str]
    KEYS: ClassVar[tuple[Property, ...]] = ()  # the sizes by which it is chosen, the first its own
    HAS_X: ClassVar[bool] = True  # has directions along which friction can differ

    @classmethod
    def core(cls, sizes: Sizes) -> Core | None:
        """What it is for the loops that find where convex bodies touch; None: the plane z = 0."""
        return None

    @classmethod
    def check(cls, one: Any) -> None:
        """Rejects impossible sizes of a Contact; further ones have to be positive.

        Raises:
            ModelError: with how to fix it.
        """
        for key in (x.key for x in cls.KEYS if x.key in dict(one.more)):
            size = number(one.value_of(key))
            if size is not None and not size > 0:
                message = f"the {key} of contact '{one.name}' is {size:g} m; it must be positive."
                raise ModelError(message, place=one.place)


Places: TypeAlias = Callable[[Sizes, Array, Array], Sequence[Touching]]
"""(sizes, R, p) -> the places at which a shape may touch a target."""


class Pairing(NamedTuple):
    """The formulas of a pair, whether they hold only while both z stay parallel, and by_loops:
    whether compiled loops find the places that the formulas name (of some sizes, a function)."""

    places: Places
    is_parallel: bool = False
    by_loops: bool | Callable[[Sizes], bool] = False

    def is_by_loops(self, sizes: Sizes) -> bool:
        """Whether places of these sizes are found by loops."""
        return self.by_loops(sizes) if callable(self.by_loops) else self.by_loops


HOME = "liaison.model.contacts"
SHAPE_KINDS: Kinds[type[ContactShape]] = Kinds("contact shape", unique="WORD", home=HOME)
"""Every kind of shape that touches."""
TARGET_KINDS: Kinds[type[ContactTarget]] = Kinds("contact target", unique="WORD", home=HOME)
"""Every kind of thing that is touched."""
PAIRS: dict[tuple[str, str], Pairing] = {}
"""(word of a shape, word of a target) -> the formulas of their contact."""

S = TypeVar("S", bound=type[ContactShape])
T = TypeVar("T", bound=type[ContactTarget])


def shape_kind(kind: S) -> S:
    """Registers a class as a kind of shape that touches."""
    SHAPE_KINDS.register(kind)
    return kind


def target_kind(kind: T) -> T:
    """Registers a class as a kind of thing that is touched."""
    TARGET_KINDS.register(kind)
    return kind


def touching(
    shapes: str,
    target: str,
    *,
    is_parallel: bool = False,
    by_loops: bool | Callable[[Sizes], bool] = False,
) -> Callable[[Places], Places]:
    """Registers a function as the formulas of one or several shapes (words) with a target.

    Raises:
        ModelError: a pair has its formulas already.
    """

    def registered(places: Places) -> Places:
        for shape in shapes.split():
            if (shape, target) in PAIRS:
                message = f"the contact of a {shape} with a {target} has its formulas already."
                raise ModelError(
                    message, hint="Take the first out of PAIRS, or name another shape."
                )
            PAIRS[shape, target] = Pairing(places, is_parallel, by_loops)
        return places

    return registered


def target_of(one: Any) -> type[ContactTarget]:
    """What a Contact touches: the target most of whose keys are given, all of them."""
    fits = [x for x in TARGET_KINDS if all(one.value_of(k.key) is not None for k in x.KEYS)]
    return max(fits, key=lambda x: len(x.KEYS))


def corners(halves: Sequence[Any]) -> list[Array]:
    """The corners of a box of half sides; of none along a side of 0."""
    signs = [(0,) if x == 0 else (-1, 1) for x in halves]
    return [array([s * x for s, x in zip(turn, halves, strict=True)]) for turn in combined(*signs)]
