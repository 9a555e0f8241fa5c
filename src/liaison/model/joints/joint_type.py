"""Base class of joint types, and the table of all joint types.

A joint type is one class: its word, its coordinates, how M moves in F, the rows that close a loop,
its elementary motions, its symbol. The decorator `joint_type` puts it into `JOINT_TYPES`, and the
other rooms (formats, tree, mobility, equations, view) read all they need from there.

F is the marker on the predecessor, M the marker on the successor; z is the axis where there is
one. All functions take numbers or formulas.

A joint in words that other rooms compute with: its elementary motions, its basic constraints.

Elementary motions are what mobility multiplies to close loops; basic constraints are those of
which the rows of a joint can be composed (LL 4.5.2).

Symbols of joints as data: simple solids at the predecessor's marker, drawn by the room `view`.

Lengths are in radii of a joint's pin, so that a symbol scales with the scene it stands in.

Public names: JointType, JointTypes, JOINT_TYPES, joint_type, nearest_angle, Step, steps,
BasicConstraint, basic_constraints, Tube, Ball, Block, Rail, Strut, Primitive.
"""

from __future__ import annotations

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias, TypeVar, final

from liaison.errors import ModelError
from liaison.expr import atan2, cos, sin
from liaison.lazy import Fitted
from liaison.spatial import Array, Entries, array, identity, zeros


@final
@dataclass(frozen=True, slots=True)
class Tube:
    """A cylinder about an axis of the marker."""

    radius: float = 1.0
    length: float = 4.5
    axis: str = "z"


@final
@dataclass(frozen=True, slots=True)
class Ball:
    """A sphere at the marker's origin."""

    radius: float = 1.5


@final
@dataclass(frozen=True, slots=True)
class Block:
    """A box along the marker's axes."""

    sides: tuple[float, float, float]
    opacity: float = 1.0


@final
@dataclass(frozen=True, slots=True)
class Rail:
    """A thin rod along an axis of the marker, as long as the way of the successor on it."""

    axis: str = "z"


@final
@dataclass(frozen=True, slots=True)
class Strut:
    """A line from the predecessor's marker to the successor's."""


Primitive: TypeAlias = Tube | Ball | Block | Rail | Strut


_STEP = re.compile(r"(slide)_([xyz])([FM])|(turn|screw)_([xyz])([FM])@([FM])")
_BASIC_CONSTRAINT = re.compile(r"point|distance|screw|plane_[xyz]|[xyz]F\.[xyz]M")


@final
@dataclass(frozen=True, slots=True)
class Step:
    """One elementary motion: a slide along an axis, a turn about it, or a screw with the pitch.

    Attributes:
        kind: "slide", "turn" or "screw".
        axis: "x", "y" or "z".
        frame: "F" or "M": the marker whose axis it is.
        at: "F" or "M": the marker whose origin lies on the axis; "" for a slide.
    """

    kind: str
    axis: str
    frame: str
    at: str = ""


def steps(text: str) -> tuple[Step, ...]:
    """Elementary motions in order, such as "slide_xF turn_zF@M".

    Raises:
        ModelError: a word is none.
    """
    motions = []
    for word in text.split():
        match = _STEP.fullmatch(word)
        if match is None:
            raise ModelError(
                f"{word!r} is no elementary motion; write slide_AF, turn_AF@F or screw_AF@F with "
                "an axis A = x, y or z, and F or M for the marker."
            )
        motions.append(Step(*(part for part in match.groups() if part)))
    return tuple(motions)


@final
@dataclass(frozen=True, slots=True)
class BasicConstraint:
    """One basic constraint of a joint.

    Attributes:
        kind: "point" (M's origin at F's), "plane" (M's origin in the plane across an axis of F),
            "square" (an axis of F and one of M perpendicular), "distance" (the joint's `length`
            between the origins) or "screw" (the joint's `pitch` ties slide and turn).
        axis: of F, for "plane" and "square".
        other: of M, for "square".
    """

    kind: str
    axis: str = ""
    other: str = ""


def basic_constraints(text: str) -> tuple[BasicConstraint, ...]:
    """Basic constraints in order, such as "point yF.zM xF.zM" or "plane_z".

    Raises:
        ModelError: a word is none.
    """
    restraints = []
    for word in text.split():
        if not _BASIC_CONSTRAINT.fullmatch(word):
            raise ModelError(
                f"{word!r} is no basic constraint; write point, distance, screw, plane_A, or "
                "AF.BM for axes A of F and B of M that stay perpendicular."
            )
        if word.startswith("plane_"):
            restraints.append(BasicConstraint("plane", word[-1]))
        else:
            restraints.append(
                BasicConstraint("square", word[0], word[3])
                if "." in word
                else BasicConstraint(word)
            )
    return tuple(restraints)


ATTITUDE = "attitude"
"""The word in `JointType.OPTIONS` for an option that is an attitude; other options have a unit."""


class JointType(Fitted, ABC):
    """A kind of joint: how M moves in F.

    A class says what is special about it: names and units of its coordinates, `pose` and
    `subspace`, the residual that vanishes where the joint holds. The rest has defaults that do for
    any joint.

    Attributes:
        NAMES: names of the entries of q.
        UNITS: their units.
        ROWS: what the multiplier of each row of the residual is.
        WORD: in LSD and at the Python interface; that of the class if empty (`SphericalPin` is
            spherical_pin).
        SYNONYMS: other words for it in LSD.
        IN_LSD: it is written by its word; False where LSD has another way to write it.
        HAS_AXIS: it may be given `axis = …`, which becomes z of both markers.
        OPTIONS: its fields that LSD gives by their names, each with its unit, or `ATTITUDE`.
        SYMBOL: how it is drawn.
        MOTIONS: its elementary motions in order; None where they depend on the position (then
            `elementary_motions` says them) or are not known (then mobility rejects the type).
        MOTIONS_ARE_COORDINATES: each motion changes the coordinate of its rank, where there are
            as many.
        CONSTRAINTS: basic constraints of which its rows can be composed; None: of none.
        TURN: the coordinate that turns M about z of F, however often, z of M staying parallel.
        BEARING: what friction that grows with the load resists: "slide" along z, "turn" about z,
            "ball" about all axes; "" where there is no such friction.
        OTHER_NAMES: names of coordinates by which an author asks for `in_coordinates`.
        OWN_ROWS: how many of the rows of its residual hold its own coordinates, which are more than
            the freedom it leaves; they hold where the joint is not cut, too.
        KEEPS_RANK: S has full rank at every position.
        FREER: joints with more mobility that may take its place, each with the turns t and slides
            s along its axes which that frees.
        LOCKED: the turns and slides that taking it away frees; "" where that is not proposed.

    Example:
        >>> import liaison
        >>> liaison.Revolute().freedom, liaison.Spherical().freedom
        (1, 3)
        >>> isinstance(liaison.Revolute(), liaison.JointType)
        True
    """

    __slots__ = ()

    NAMES: ClassVar[tuple[str, ...]] = ()
    UNITS: ClassVar[tuple[str, ...]] = ()
    ROWS: ClassVar[tuple[str, ...]] = ()

    WORD: ClassVar[str] = ""
    SYNONYMS: ClassVar[tuple[str, ...]] = ()
    IN_LSD: ClassVar[bool] = True
    HAS_AXIS: ClassVar[bool] = False
    OPTIONS: ClassVar[Mapping[str, str]] = MappingProxyType({})

    SYMBOL: ClassVar[tuple[Primitive, ...]] = (Ball(),)
    MOTIONS: ClassVar[tuple[Step, ...] | None] = None
    MOTIONS_ARE_COORDINATES: ClassVar[bool] = True
    CONSTRAINTS: ClassVar[tuple[BasicConstraint, ...] | None] = None
    TURN: ClassVar[str] = ""
    BEARING: ClassVar[str] = ""
    OTHER_NAMES: ClassVar[tuple[str, ...]] = ()
    OWN_ROWS: ClassVar[int] = 0
    KEEPS_RANK: ClassVar[bool] = True
    FREER: ClassVar[tuple[tuple[str, str], ...]] = ()
    LOCKED: ClassVar[str] = ""

    @property
    def name(self) -> str:
        """The word for this type in messages."""
        return type(self).__name__

    @property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the entries of q."""
        return self.NAMES

    @property
    def coordinate_units(self) -> tuple[str, ...]:
        """Units of the entries of q ("" for a pure number)."""
        return self.UNITS

    @property
    def speed_names(self) -> tuple[str, ...]:
        """Names of the entries of v; those of q where v = q̇."""
        return self.coordinate_names

    @property
    def speed_units(self) -> tuple[str, ...]:
        """Units of the entries of v."""
        return tuple(f"{unit}/s" for unit in self.coordinate_units)

    @property
    def nq(self) -> int:
        """Number of positions."""
        return len(self.coordinate_names)

    @property
    def nv(self) -> int:
        """Number of velocities."""
        return len(self.speed_names)

    @property
    def freedom(self) -> int:
        """Degrees of freedom that the joint leaves: its velocities less its own rows."""
        return self.nv - self.OWN_ROWS

    @property
    def has_rates(self) -> bool:
        """v = q̇: velocities are the rates of the coordinates (N = 1)."""
        return self.speed_names == self.coordinate_names

    @property
    def charts(self) -> tuple[tuple[str, int, int], ...]:
        """Kinds of coordinates in order, each with how many entries of q and of v it takes.

        plain: q̇ = v. quaternion, matrix: an attitude turned by ω in M. free, free matrix: a
        position and such an attitude, moved by the twist of M in its own axes.
        """
        return (("plain", self.nq, self.nv),)

    @abstractmethod
    def pose(self, q: Entries) -> tuple[Array, Array]:
        """(R, p) of X_FM."""

    @abstractmethod
    def subspace(self, q: Entries) -> Array:
        """S with V_FM_M = S v: velocity of M in F, in M's axes at M's origin; shape (6, nv)."""

    def kinematic_map(self, q: Entries) -> Array:
        """N with q̇ = N v, shape (nq, nv)."""
        return identity(self.nv)

    def retract(self, q: Entries, xi: Entries) -> Array:
        """q ⊞ ξ: the position reached from q by local coordinates ξ, shape (nq,)."""
        return array([a + b for a, b in zip(q, xi, strict=True)])

    def local_rate(self, q: Entries, xi: Entries, v: Entries) -> Array:
        """ξ̇ with d/dt (q ⊞ ξ) = N(q ⊞ ξ) v, shape (nv,)."""
        return array(list(v))

    def difference(self, q0: Entries, q1: Entries) -> Array:
        """ξ with q0 ⊞ ξ = q1, shape (nv,)."""
        return array([b - a for a, b in zip(q0, q1, strict=True)])

    def neutral(self) -> Array:
        """The zero position."""
        return zeros(self.nq)

    def residual(self, R: Array, p: Array) -> list[Any] | None:
        """6 − freedom formulas of X_FM that vanish where the joint holds; None if there are none.

        Row k is scaled and signed so that its multiplier is the force [N] or moment [N·m] on the
        successor named by `residual_names[k]`, in F's axes at M's origin. The tree writes rows that
        pin the origin, (p_x, p_y, p_z), in the axes of the common ancestor, and labels them so.
        """
        return None

    @property
    def residual_names(self) -> tuple[str, ...]:
        """What the multiplier of each row of the residual is."""
        return self.ROWS

    def positive(self, R: Array, p: Array) -> list[Any]:
        """Positive where the joint holds; negative where the residual vanishes with M flipped."""
        return []

    def coordinates_of(self, R: Array, p: Array, near: Entries) -> Array | None:
        """q from X_FM, angles within half a turn of `near`; None if there is no closed form."""
        return None

    def regularity(self, q: Entries) -> Any:
        """Zero where the joint's own coordinates, without its attitude, have no rates; else 1."""
        return 1

    def normalized(self, q: Entries) -> Array:
        """The position nearest q that is one: its quaternion made unit, its matrix a rotation."""
        return array(list(q))

    def elementary_motions(self, place: Callable[[], Array]) -> tuple[Step, ...] | None:
        """Its elementary motions in order; None where they are not known.

        Args:
            place: gives the origin of M in F's axes at home [m].
        """
        return self.MOTIONS

    def in_coordinates(self, names: Collection[str]) -> JointType:
        """The same joint in the coordinates of `OTHER_NAMES`, where one is named; else itself."""
        return self

    def chained_motions(self) -> tuple[Any, ...] | None:
        """Motions with one coordinate each (see composition.py), one after the other; or None.

        They take the place of `elementary_motions` where the axes depend on the position.
        """
        return None

    @classmethod
    def properties(cls) -> tuple[str, ...]:
        """What LSD may give behind its word: the axis, then its options."""
        return (("axis",) if cls.HAS_AXIS else ()) + tuple(cls.OPTIONS)

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """Fields of the type that have no default."""
        return _required(cls)

    def _scalars(self) -> tuple[str, ...]:
        return tuple(name for name, unit in self.OPTIONS.items() if unit != ATTITUDE)

    def parameters(self) -> tuple[Any, ...]:
        """Scalars of the type itself (a pitch, a length), in which parameters may occur."""
        return tuple(getattr(self, name) for name in self._scalars())

    def mapped(self, change: Callable[[Any], Any]) -> JointType:
        """The same type with each of its own scalars changed, as from exact numbers to floats."""
        own = {name: change(getattr(self, name)) for name in self._scalars()}
        copy: Any = self
        return replace(copy, **own) if own else self


Kind = TypeVar("Kind", bound=type[JointType])


@cache
def _required(kind: type[JointType]) -> tuple[str, ...]:
    fields = inspect.signature(kind).parameters.values()
    return tuple(x.name for x in fields if x.default is inspect.Parameter.empty)


@final
class JointTypes:
    """The joint types in the order of their definition, by their words."""

    def __init__(self) -> None:
        self._words: dict[str, type[JointType]] = {}
        self.words: Mapping[str, type[JointType]] = MappingProxyType(self._words)

    def __iter__(self) -> Iterator[type[JointType]]:
        return iter(tuple(self._words.values()))

    def __len__(self) -> int:
        return len(self._words)

    def __contains__(self, kind: object) -> bool:
        return kind in self._words.values()

    @property
    def in_lsd(self) -> dict[str, type[JointType]]:
        """Those that LSD writes by their words."""
        return {word: kind for word, kind in self._words.items() if kind.IN_LSD}

    @property
    def synonyms(self) -> dict[str, str]:
        """Other words of LSD, each with the word it stands for."""
        return {other: kind.WORD for kind in self for other in kind.SYNONYMS}

    def by_name(self, name: str) -> type[JointType] | None:
        """The type whose class has this name; None if there is none."""
        return next((kind for kind in self if kind.__name__ == name), None)

    def add(self, kind: Kind) -> Kind:
        """Makes a type known by its word.

        Raises:
            ModelError: it is abstract, or a word of it is taken.
        """
        if inspect.isabstract(kind):
            missing = ", ".join(sorted(kind.__abstractmethods__))
            raise ModelError(f"the joint type {kind.__name__} does not define {missing}.")
        if not vars(kind).get("WORD"):
            kind.WORD = re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()
        in_use = {**self.synonyms, **{word: word for word in self._words}}
        for word in (kind.WORD, *kind.SYNONYMS):
            if word in in_use:
                raise ModelError(
                    f"the joint type {kind.__name__} has the keyword {word!r}, which is one of "
                    f"{self._words[in_use[word]].__name__}; give it another WORD."
                )
        if self.by_name(kind.__name__):
            raise ModelError(f"there is a joint type {kind.__name__} already.")
        self._words[kind.WORD] = kind
        return kind

    def remove(self, kind: type[JointType]) -> None:
        """Forgets a type; mechanisms that have it stay what they are."""
        if self._words.get(kind.WORD) is not kind:
            raise ModelError(f"{kind.__name__} is no registered joint type.")
        del self._words[kind.WORD]

    @contextmanager
    def including(self, *kinds: type[JointType]) -> Iterator[None]:
        """Types that are known within a `with` block only."""
        words = dict(self._words)
        try:
            for kind in kinds:
                self.add(kind)
            yield
        finally:
            self._words.clear()
            self._words.update(words)


JOINT_TYPES = JointTypes()
"""Every joint type, in the order of definition."""


def joint_type(kind: Kind) -> Kind:
    """Decorator of a class: it becomes one of `JOINT_TYPES`."""
    return JOINT_TYPES.add(kind)


def nearest_angle(sine: Any, cosine: Any, near: Any) -> Any:
    """The angle of (cosine, sine) within half a turn of `near`: turns are counted."""
    c, s = cos(near), sin(near)
    return near + atan2(sine * c - cosine * s, cosine * c + sine * s)
