"""Unilateral constraints and friction as blocks of rows: gaps, rates, slips.

A block states its rows so that the allowed side is u ≥ 0 and a force f ≥ 0 acts along it:

    gap:       g(q, t) ≥ 0 ⟂ f ≥ 0,   u = ġ;
    rate:      the author's W v + w ≤ 0 as u = −(W v + w) ≥ 0 ⟂ f ≥ 0;              (sides-1)
    friction:  one to three rows of slip u, ‖f‖ ≤ bound, f opposes u;

the effort on v is Dᵀ f in each, with u = D v + d and u̇ = D v̇ − γ.

A place of contact as people read it: its gap without cases, its foot, its directions.

Contacts whose formulas do not hold for their mechanism are errors that name them.

Public names: ConvexPair, convex_pair, SideBlock, side_blocks, collected_blocks, SideRows,
PlaceRows, place_templates, SideReading, pose_seen, side_reading, check_not_tilted.

Source: docs/theory/contacts.md (contact-2); LL 1.5.1 for the groups of friction.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from liaison.errors import DerivationError, ModelError
from liaison.expr import Expr, as_expr, evaluate, substitute, symbol, symbols_of
from liaison.model import (
    BearingFriction,
    Contact,
    DryFriction,
    Friction,
    GapContact,
    Joint,
    Mechanism,
    OneSided,
    Unilateral,
)
from liaison.model.contacts.friction import GROUPS
from liaison.model.contacts.shape import Core
from liaison.model.contacts.touch import SLOTS, features
from liaison.model.pairing import paired
from liaison.numeric.hulls import Solid, convex_hull
from liaison.spatial.arrays import identity, zeros
from liaison.tree.closure import (
    Located,
    P,
    R,
    Row,
    marker_motion,
    relation_row,
    relative,
    template_rows,
    with_rates,
)
from liaison.tree.kinematics import Kinematics

from .templates import Touch, gap_template, rate_template, slip_templates, turn_templates
from .touches import touches


def check_not_tilted(kinematics: Kinematics, contact: Contact) -> None:
    """Raises an error for a disc on a profile or curve whose axes do not stay parallel.

    Raises:
        ModelError: they are not parallel at some positions drawn at random.
    """
    places = [kinematics.tree.located(x) for x in (contact.second, contact.first)]
    root = kinematics.tree.common_ancestor(*(node for node, _ in places))
    F, M = (marker_motion(kinematics, root, x) for x in places)
    share = as_expr(relative(F, M).R[2, 2])
    draw = random.Random(0)
    for _ in range(3):
        values = {x: draw.uniform(-1, 1) for x in symbols_of([share])}
        if abs(abs(float(evaluate([share], values)[0])) - 1) > 1e-9:
            raise ModelError(
                f"contact '{contact.name}' is of a disc with a profile or curve, but their axes do "
                "not stay parallel: a disc touches them in its own plane.",
                hint="Make it a ball, or turn the frames so that both z are parallel.",
                place=contact.place,
            )


class SideReading(NamedTuple):
    """The gap, feet and axes of a contact for reading; every formula of q."""

    gap: Expr  # the regular case of it
    feet: tuple[tuple[Expr, Expr, Expr], ...] = ()  # value in the rows, symbol, what vanishes
    axes: tuple[tuple[Expr, ...], ...] = ()  # normal and tangents, in the second frame


def pose_seen(kinematics: Kinematics, second: Located, first: Located) -> dict[Expr, Expr]:
    """What stands for the template's (R, p): the first marker seen from the second."""
    root = kinematics.tree.common_ancestor(second[0], first[0])
    seen = relative(*(marker_motion(kinematics, root, x) for x in (second, first)))
    return dict(zip([*R.flat, *P], map(as_expr, [*seen.R.flat, *seen.p]), strict=True))


def side_reading(touch: Touch, pose: Mapping[Expr, Expr]) -> SideReading:
    """The reading of one place of contact."""
    place = touch.evaluated()
    axes = substitute([x for v in (place.normal, *place.tangents) for x in map(as_expr, v)], pose)
    listed = (tuple(axes[:3]), tuple(axes[3:6]), tuple(axes[6:]))
    gap = touch.gap if touch.shown is None else touch.shown
    if touch.foot is None:
        return SideReading(substitute([gap], pose)[0], (), listed)
    values = substitute(touch.foot.values, pose)
    # a parameter that needs no steps is put in; the others stay as symbols
    plain = {a: x for a, x in zip(touch.foot.parameters, values, strict=True) if x.op != "select"}
    formulas = substitute([gap, *touch.foot.conditions], {**pose, **plain})
    feet = zip(values, touch.foot.parameters, formulas[1:], strict=True)
    return SideReading(formulas[0], tuple(x for x in feet if x[1] not in plain), listed)


class ConvexPair(NamedTuple):
    """Two convex bodies whose places of contact loops find, and how they are asked.

    Attributes:
        name: of the contact.
        features: symbols of what is found, place by place.
        pose: R row by row and p of the first frame, seen from the second; formulas of q.
        first: the body in the first frame.
        second: that in the second, or a height field; None: the plane z = 0.
    """

    name: str
    features: tuple[Expr, ...]
    pose: tuple[Expr, ...]
    first: Solid
    second: Any  # a Solid or a HeightGrid


@final
@dataclass(frozen=True, slots=True)
class SideBlock:
    """Rows that are active together: a gap, a rate, or a slip of one to three components."""

    name: str  # 'floor', 'floor: sliding', 'floor[3]: rolling', 'A: friction', …
    owner: str  # the contact, relation or friction it belongs to
    kind: str  # "gap", "rate" or "friction"
    rows: tuple[Row, ...]  # value is the gap, or None; G = D, rate = u, nu = −d, u̇ = D v̇ − gamma
    load: int | None = None  # of friction: the gap block whose force bounds it; None: as it says
    restitution: Any = 0  # of a gap
    friction: Any = 0  # dynamic coefficient f [-], r or p [m]; without load, the bound [N, N·m]
    static: Any = None  # the same at rest; None: as the dynamic one
    across: Any = None  # dynamic coefficient along the second row; None: as along the first
    viscous: Any = 0  # −viscous u, besides, while the contact is closed (always, without load)
    law: str = "coulomb"  # or "stribeck", "regularized"
    speed: Any = 0  # Stribeck's, or the regularizing one
    joint: str = ""  # bound = friction · arm · ‖R‖, R the force that this joint transmits
    arm: Any = 1  # [m], or 1 of a slider
    reading: SideReading | None = None  # of a gap between frames
    pair: ConvexPair | None = None  # of the first place of a contact whose places loops find


def side_blocks(kinematics: Kinematics, qdot: Sequence[Any]) -> list[SideBlock]:
    """Every block of the mechanism; a load stands before the friction that it bounds.

    Args:
        kinematics: on formulas of q and v.
        qdot: N v.
    """
    tree = kinematics.tree
    return collected_blocks(paired(tree.mechanism), _WholeRows(kinematics, qdot), tree.numbers)


def collected_blocks(
    mechanism: Mechanism, rows: SideRows, numbers: Callable[[Any], Any]
) -> list[SideBlock]:
    """The same, of rows that someone makes.

    Args:
        mechanism: its contacts of pairs written out.
        rows: what makes them.
        numbers: how numbers enter the formulas.
    """
    sides = _Sides(mechanism, rows, numbers)
    for one in mechanism.contacts:
        sides.add(one)
    return sides.blocks


class PlaceRows(NamedTuple):
    """One place of a contact: rows of its gap and of its groups of friction, and how it reads."""

    groups: Mapping[str, tuple[Row, ...]]  # "gap", then words of groups
    reading: SideReading | None
    pair: ConvexPair | None


class SideRows(ABC):
    """What makes the rows of unilateral constraints: over all coordinates, or over a few."""

    @abstractmethod
    def in_rates(self, formula: Any) -> Expr:
        """A formula of the author in the symbols of the equations."""

    @abstractmethod
    def relation(self, formula: Any, *, of_speeds: bool | None = False) -> Row:
        """The row of a formula of the author; None of speeds: if it has some."""

    @abstractmethod
    def is_speed(self, name: str) -> bool:
        """Whether a velocity has this name."""

    @abstractmethod
    def places(self, one: Contact) -> list[PlaceRows]:
        """Every place at which a contact may touch."""

    @abstractmethod
    def between(self, joint: Joint, templates: Sequence[Any]) -> tuple[Row, ...]:
        """Rows of templates between the markers of a joint."""


@final
class _WholeRows(SideRows):
    """Rows over all coordinates."""

    def __init__(self, kinematics: Kinematics, qdot: Sequence[Any]) -> None:
        self.kinematics, self.qdot = kinematics, qdot

    def in_rates(self, formula: Any) -> Expr:
        q, v = self.kinematics.q, self.kinematics.v
        return with_rates(as_expr(formula), q, v, self.qdot)

    def relation(self, formula: Any, *, of_speeds: bool | None = False) -> Row:
        q, v = self.kinematics.q, self.kinematics.v
        formula_of_v = self.in_rates(formula)
        if of_speeds is None:
            of_speeds = not set(v).isdisjoint(symbols_of([formula_of_v]))
        return relation_row(formula_of_v, q, v, self.qdot, of_speeds=of_speeds)

    def is_speed(self, name: str) -> bool:
        return symbol(name) in set(self.kinematics.v)

    def places(self, one: Contact) -> list[PlaceRows]:
        tree = self.kinematics.tree
        if one.pairing.is_parallel:
            check_not_tilted(self.kinematics, one)
        touched = touches(one, tree.numbers)
        second, first = tree.located(one.second), tree.located(one.first)
        templates = [place_templates(place, one.friction) for place in touched]
        listed = [x for groups in templates for group in groups.values() for x in group]
        rows = iter(template_rows(self.kinematics, second, first, listed))
        pose = pose_seen(self.kinematics, second, first)
        return [
            PlaceRows(
                {word: tuple(next(rows) for _ in group) for word, group in groups.items()},
                side_reading(place, pose),
                convex_pair(one, pose) if k == 0 else None,
            )
            for k, (place, groups) in enumerate(zip(touched, templates, strict=True))
        ]

    def between(self, joint: Joint, templates: Sequence[Any]) -> tuple[Row, ...]:
        tree = self.kinematics.tree
        F, M = tree.located(joint.predecessor), tree.located(joint.successor)
        return tuple(template_rows(self.kinematics, F, M, templates))


class _Sides:
    """The blocks collected so far."""

    def __init__(self, mechanism: Mechanism, rows: SideRows, numbers: Callable[[Any], Any]) -> None:
        self.mechanism, self.rows, self.numbers = mechanism, rows, numbers
        self.blocks: list[SideBlock] = []

    def add(self, one: OneSided) -> None:
        """The blocks of one record."""
        match one:
            case Unilateral():
                self.unilateral(one)
            case Contact():
                self.contact(one)
            case GapContact():
                slips = [self.rows.relation(x, of_speeds=True) for x in one.slips]
                groups = {"sliding": tuple(slips)} if slips else {}
                self.touch(one.name, one, self.rows.relation(one.gap), groups)
            case DryFriction():
                self.dry(one)
            case BearingFriction():
                self.bearing(one)
            case _:
                message = f"no unilateral rows are known for {type(one).__name__}."
                raise DerivationError(message, place=one.place)

    def unilateral(self, one: Unilateral) -> None:
        """g = −Φ, or u = −(W v + w)."""
        row = self.rows.relation(-as_expr(one.formula), of_speeds=None)
        is_rate = row.value is None
        kind, e = ("rate", 0) if is_rate else ("gap", self.numbers(one.restitution))
        self.blocks.append(SideBlock(one.name, one.name, kind, (row,), restitution=e))

    def contact(self, one: Contact) -> None:
        """Every place at which it may touch: the gap, and its groups of friction."""
        places = self.rows.places(one)
        for k, place in enumerate(places):
            name = one.name if len(places) == 1 else f"{one.name}[{k + 1}]"
            groups = dict(place.groups)
            (gap,) = groups.pop("gap")
            first_block = len(self.blocks)
            self.touch(name, one, gap, groups, place.reading)
            if place.pair is not None:
                self.blocks[first_block] = replace(self.blocks[first_block], pair=place.pair)

    def touch(
        self,
        name: str,
        one: Contact | GapContact,
        gap: Row,
        groups: dict[str, tuple[Row, ...]],
        reading: SideReading | None = None,
    ) -> None:
        """A gap, and the friction that its force bounds."""
        load, number = len(self.blocks), self.numbers
        e = number(one.restitution)
        block = SideBlock(name, one.name, "gap", (gap,), restitution=e, reading=reading)
        self.blocks.append(block)
        for moving, rest, viscous, speed in GROUPS:
            if moving not in groups or not one.friction.resists(moving, viscous):
                continue
            attributes = {
                "friction": moving, "static": rest, "viscous": viscous, "speed": speed,
                **({"across": "across"} if moving == "sliding" else {}),
            }  # fmt: skip
            coefficients = {
                key: _number_or_none(getattr(one.friction, x), number)
                for key, x in attributes.items()
            }
            names = f"{name}: {moving}", one.name, "friction", groups[moving]
            self.blocks.append(SideBlock(*names, load=load, law=one.friction.law, **coefficients))

    def dry(self, one: DryFriction) -> None:
        """Friction with a bound of its own."""
        row = self.rows.relation(symbol(f"{one.coordinate}'"), of_speeds=True)
        calm = {key: self.calm(getattr(one, key)) for key in ("static", "viscous", "speed")}
        block = SideBlock(one.name, one.name, "friction", (row,), law=one.law, **calm)
        self.blocks.append(replace(block, friction=self.calm(one.dry)))

    def calm(self, formula: Any) -> Any:
        """A coefficient in the symbols of these equations; None stays."""
        if not isinstance(formula, Expr):
            return _number_or_none(formula, self.numbers)
        return self.rows.in_rates(self.numbers(formula))

    def bearing(self, one: BearingFriction) -> None:
        """Friction bounded by the force that a joint transmits."""
        joint = next(x for x in self.mechanism.joints if x.name == one.joint)
        rows = self.free_rows(joint)
        coefficients = {
            key: _number_or_none(getattr(one, key), self.numbers) for key in ("static", "speed")
        }
        coefficients["friction"] = self.numbers(one.coefficient)
        arm = 1 if one.radius is None else self.numbers(one.radius)
        names = one.name, one.name, "friction"
        self.blocks.append(
            SideBlock(*names, rows, law=one.law, joint=one.joint, arm=arm, **coefficients)
        )

    def free_rows(self, joint: Joint) -> tuple[Row, ...]:
        """The rates that a pivot, a slider or a ball leaves free, also where it is cut."""
        if joint.type.nv == 1 and self.rows.is_speed(joint.speeds[0]):
            return (self.rows.relation(symbol(joint.speeds[0]), of_speeds=True),)
        axes = identity()
        if joint.type.BEARING == "slide":
            templates = [rate_template(zeros(3), axes[2])]
        else:
            about = axes[2:] if joint.type.BEARING == "turn" else axes
            templates = turn_templates(tuple(about))
        return self.rows.between(joint, templates)


def convex_pair(one: Contact, pose: Mapping[Expr, Expr]) -> ConvexPair | None:
    """The bodies of a contact whose places loops find."""
    cores = one.cores
    if cores is None:
        return None
    symbols = tuple(x for k in range(SLOTS) for x in features(one.name, k))
    first, second = (None if x is None else _solid(x) for x in cores)
    assert isinstance(first, Solid)
    return ConvexPair(one.name, symbols, tuple(pose[x] for x in (*R.flat, *P)), first, second)


def _solid(core: Core) -> Any:
    """A body by its numbers; of a height field its grid."""
    if core.grid is not None:
        return core.grid
    points = np.array([[float(x) for x in point] for point in core.points]).reshape(-1, 3)
    polytope = convex_hull(points) if len(points) > 3 else None
    bare = points if 0 < len(points) < 4 else None
    return Solid(polytope, bare, float(core.radius), float(core.disc), float(core.half))


def place_templates(place: Touch, friction: Friction) -> dict[str, list[Any]]:
    """Templates of the gap and of the groups that resist."""
    templates: dict[str, list[Any]] = {"gap": [gap_template(place)]}
    if friction.resists("sliding", "viscous"):
        templates["sliding"] = slip_templates(place)
    if friction.resists("rolling", "viscous_rolling"):
        templates["rolling"] = turn_templates(place.tangents, place.foot)
    if friction.resists("pivoting", "viscous_pivoting"):
        templates["pivoting"] = turn_templates((place.normal,), place.foot)
    return templates


def _number_or_none(x: Any, numbers: Any) -> Any:
    return None if x is None else numbers(x)
