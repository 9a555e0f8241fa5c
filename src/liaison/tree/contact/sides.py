"""What holds on one side only, and friction, as blocks of rows: gaps, rates, slips.

A block tells its rows so that the allowed side is u ≥ 0 and a force f ≥ 0 acts along it:

    gap:       g(q, t) ≥ 0 ⟂ f ≥ 0,   u = ġ;
    rate:      the author's W v + w ≤ 0 as u = −(W v + w) ≥ 0 ⟂ f ≥ 0;              (sides-1)
    friction:  one to three rows of slip u, ‖f‖ ≤ bound, f opposes u;

the effort on v is Dᵀ f in each, with u = D v + d and u̇ = D v̇ − γ.

Public names: SideBlock, side_blocks.

Source: docs/theory/contacts.md (contact-2); LL 1.5.1 for the groups of friction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, symbol, symbols_of
from liaison.model import (
    BearingFriction,
    Contact,
    DryFriction,
    Friction,
    GapContact,
    Joint,
    OneSided,
    Prismatic,
    Revolute,
    Unilateral,
)
from liaison.model.friction import GROUPS
from liaison.model.pairing import paired
from liaison.spatial.arrays import identity, zeros
from liaison.tree.closure import Row, relation_row, template_rows, with_rates
from liaison.tree.kinematics import Kinematics

from .side_reading import SideReading, pose_seen, side_reading
from .templates import Touch, gap_template, rate_template, slip_templates, turn_templates
from .touches import touches
from .touches_refused import refuse_tilted


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


def side_blocks(kinematics: Kinematics, qdot: Sequence[Any]) -> list[SideBlock]:
    """Every block of the mechanism; a load stands before the friction that it bounds.

    Args:
        kinematics: on formulas of q and v.
        qdot: N v.
    """
    sides = _Sides(kinematics, qdot)
    for one in paired(kinematics.tree.mechanism).contacts:
        sides.add(one)
    return sides.found


class _Sides:
    """The blocks found so far."""

    def __init__(self, kinematics: Kinematics, qdot: Sequence[Any]) -> None:
        self.kinematics, self.qdot = kinematics, qdot
        self.tree, self.numbers = kinematics.tree, kinematics.tree.numbers
        self.found: list[SideBlock] = []

    def add(self, one: OneSided) -> None:
        """The blocks of one record."""
        match one:
            case Unilateral():
                self.unilateral(one)
            case Contact():
                self.contact(one)
            case GapContact():
                slips = [self.relation(x, of_speeds=True) for x in one.slips]
                groups = {"sliding": tuple(slips)} if slips else {}
                self.touch(one.name, one, self.relation(one.gap), groups)
            case DryFriction():
                self.dry(one)
            case BearingFriction():
                self.bearing(one)
            case _:
                said = f"no one-sided rows are known for {type(one).__name__}."
                raise DerivationError(said, place=one.place)

    def relation(self, formula: Any, *, of_speeds: bool = False) -> Row:
        """The row of a formula of the author."""
        q, v = self.kinematics.q, self.kinematics.v
        told = with_rates(as_expr(formula), q, v, self.qdot)
        return relation_row(told, q, v, self.qdot, of_speeds=of_speeds)

    def unilateral(self, one: Unilateral) -> None:
        """g = −Φ, or u = −(W v + w)."""
        q, v = self.kinematics.q, self.kinematics.v
        told = with_rates(-as_expr(one.formula), q, v, self.qdot)
        of_speeds = not set(v).isdisjoint(symbols_of([told]))
        row = relation_row(told, q, v, self.qdot, of_speeds=of_speeds)
        kind, e = ("rate", 0) if of_speeds else ("gap", self.numbers(one.restitution))
        self.found.append(SideBlock(one.name, one.name, kind, (row,), restitution=e))

    def contact(self, one: Contact) -> None:
        """Every place at which it may touch: the gap, and its groups of friction."""
        if one.kind == "disc" and (one.profile, one.curve) != (None, None):
            refuse_tilted(self.kinematics, one)
        places = touches(one, self.numbers)
        second, first = self.tree.located(one.second), self.tree.located(one.first)
        templates = [_templates(place, one.friction) for place in places]
        listed = [x for groups in templates for group in groups.values() for x in group]
        rows = iter(template_rows(self.kinematics, second, first, listed))
        pose = pose_seen(self.kinematics, second, first)
        for k, (place, told) in enumerate(zip(places, templates, strict=True)):
            name = one.name if len(places) == 1 else f"{one.name}[{k + 1}]"
            groups = {word: tuple(next(rows) for _ in group) for word, group in told.items()}
            (gap,) = groups.pop("gap")
            self.touch(name, one, gap, groups, side_reading(place, pose))

    def touch(
        self,
        name: str,
        one: Contact | GapContact,
        gap: Row,
        groups: dict[str, tuple[Row, ...]],
        reading: SideReading | None = None,
    ) -> None:
        """A gap, and the friction that its force bounds."""
        load, number = len(self.found), self.numbers
        e = number(one.restitution)
        block = SideBlock(name, one.name, "gap", (gap,), restitution=e, reading=reading)
        self.found.append(block)
        for moving, rest, viscous, speed in GROUPS:
            if moving not in groups or not one.friction.resists(moving, viscous):
                continue
            given = {
                "friction": moving, "static": rest, "viscous": viscous, "speed": speed,
                **({"across": "across"} if moving == "sliding" else {}),
            }  # fmt: skip
            told = {key: _told(getattr(one.friction, x), number) for key, x in given.items()}
            names = f"{name}: {moving}", one.name, "friction", groups[moving]
            self.found.append(SideBlock(*names, load=load, law=one.friction.law, **told))

    def dry(self, one: DryFriction) -> None:
        """Friction with a bound of its own."""
        row = self.relation(symbol(f"{one.coordinate}'"), of_speeds=True)
        calm = {key: self.calm(getattr(one, key)) for key in ("static", "viscous", "speed")}
        block = SideBlock(one.name, one.name, "friction", (row,), law=one.law, **calm)
        self.found.append(replace(block, friction=self.calm(one.dry)))

    def calm(self, formula: Any) -> Any:
        """A coefficient in the symbols of these equations; None stays."""
        if not isinstance(formula, Expr):
            return _told(formula, self.numbers)
        q, v = self.kinematics.q, self.kinematics.v
        return with_rates(as_expr(self.numbers(formula)), q, v, self.qdot)

    def bearing(self, one: BearingFriction) -> None:
        """Friction bounded by the force that a joint transmits."""
        joint = next(x for x in self.tree.mechanism.joints if x.name == one.joint)
        rows = self.free_rows(joint)
        told = {key: _told(getattr(one, key), self.numbers) for key in ("static", "speed")}
        told["friction"] = self.numbers(one.coefficient)
        arm = 1 if one.radius is None else self.numbers(one.radius)
        names = one.name, one.name, "friction"
        self.found.append(SideBlock(*names, rows, law=one.law, joint=one.joint, arm=arm, **told))

    def free_rows(self, joint: Joint) -> tuple[Row, ...]:
        """The rates that a pivot, a slider or a ball leaves free, also where it is cut."""
        if joint.type.nv == 1 and symbol(joint.speeds[0]) in set(self.kinematics.v):
            return (self.relation(symbol(joint.speeds[0]), of_speeds=True),)
        axes = identity()
        if isinstance(joint.type, Prismatic):
            templates = [rate_template(zeros(3), axes[2])]
        else:
            about = axes[2:] if isinstance(joint.type, Revolute) else axes
            templates = turn_templates(tuple(about))
        F, M = self.tree.located(joint.predecessor), self.tree.located(joint.successor)
        return tuple(template_rows(self.kinematics, F, M, templates))


def _templates(place: Touch, friction: Friction) -> dict[str, list[Any]]:
    """Templates of the gap and of the groups that resist."""
    found: dict[str, list[Any]] = {"gap": [gap_template(place)]}
    if friction.resists("sliding", "viscous"):
        found["sliding"] = slip_templates(place)
    if friction.resists("rolling", "viscous_rolling"):
        found["rolling"] = turn_templates(place.tangents, place.foot)
    if friction.resists("pivoting", "viscous_pivoting"):
        found["pivoting"] = turn_templates((place.normal,), place.foot)
    return found


def _told(x: Any, numbers: Any) -> Any:
    return None if x is None else numbers(x)
