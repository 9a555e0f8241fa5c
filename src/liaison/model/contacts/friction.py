"""Coefficients of friction of a contact: sliding, rolling, pivoting; moving and at rest; laws.

Each group has its norm: ‖R_t‖ ≤ f |R_n| against the sliding V_t, ‖M_t‖ ≤ r |R_n| against the
rolling Ω_t, |m_n| ≤ p |R_n| against the pivoting ω_n, with f₀, r₀, p₀ while the group is at rest.

Public names: Friction, LAWS, GROUPS, LARGE, friction_of, positive_formulas, check_speed,
not_less_at_rest.

Source: LL 1.5.1 (laws of Coulomb and Morin).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, final

from liaison.errors import ModelError, Place
from liaison.expr import Expr, as_expr
from liaison.lazy import Brief
from liaison.model.scalars import scalar
from liaison.spatial import is_zero, number

LAWS = ("coulomb", "stribeck", "regularized")
"""Sticking and sliding exactly; f + (f₀ − f) exp(−(u/speed)²); smooth through u = 0."""
GROUPS = (
    ("sliding", "static", "viscous", "speed"),
    ("rolling", "static_rolling", "viscous_rolling", "turning_speed"),
    ("pivoting", "static_pivoting", "viscous_pivoting", "turning_speed"),
)
"""The three groups: fields of the coefficient moving, at rest, viscous, and of the law's speed."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Friction(Brief):
    """How a contact resists sliding, rolling and pivoting, while it is closed.

    Example:
        >>> import liaison
        >>> liaison.Friction(sliding=0.3, static=0.4).resists("sliding", "viscous")
        True
    """

    sliding: Any = 0  # f [-]
    static: Any = None  # f₀; None: as f
    across: Any = None  # f along y of the plane, where it differs from that along x
    rolling: Any = 0  # r [m]
    static_rolling: Any = None  # r₀
    pivoting: Any = 0  # p [m]
    static_pivoting: Any = None  # p₀
    viscous: Any = 0  # R_t = −viscous V_t, besides [N·s/m]
    viscous_rolling: Any = 0  # [N·m·s/rad]
    viscous_pivoting: Any = 0  # [N·m·s/rad]
    law: str = "coulomb"  # of LAWS
    speed: Any = 0  # of the law, of sliding [m/s]
    turning_speed: Any = 0  # of the law, of rolling and pivoting [rad/s]

    WORDS: ClassVar[dict[str, str]] = {"sliding": "friction"}  # for fields of another word
    UNITS: ClassVar[dict[str, str]] = {
        **dict.fromkeys(("rolling", "static_rolling", "pivoting", "static_pivoting"), "m"),
        **dict.fromkeys(("viscous_rolling", "viscous_pivoting"), "N*m*s/rad"),
        "viscous": "N*s/m", "speed": "m/s", "turning_speed": "rad/s",
    }  # fmt: skip

    def checked(self, owner: str, place: Place | None) -> Friction:
        """Itself, its entries as scalars, all possible; rejected in the owner's name."""
        parts: dict[str, Any] = {"law": self.law}
        for part in self.parts():
            value = getattr(self, part)
            what = f"the {self.WORDS.get(part, part)} of {owner}"
            parts[part] = (
                None
                if value is None
                else _not_negative(value, what, place, self.UNITS.get(part, ""))
            )
        friction = Friction(**parts)
        for moving, rest, *_ in GROUPS:
            coefficients = getattr(friction, moving), getattr(friction, rest)
            not_less_at_rest(*coefficients, self.WORDS.get(moving, moving), owner, place)
        friction.check_law(owner, place)
        return friction

    def check_law(self, owner: str, place: Place | None) -> None:
        """A law that smooths has a speed for each group it smooths."""
        if self.law not in LAWS:
            raise ModelError(
                f"the law of {owner} is {self.law!r}; it must be one of {', '.join(LAWS)}.",
                place=place,
            )
        for moving, *_, speed in GROUPS:
            part = (getattr(self, moving), getattr(self, speed))
            check_speed(self.law, *part, speed.replace("_", " "), owner, place)

    @classmethod
    def parts(cls) -> tuple[str, ...]:
        """The fields that hold numbers or formulas."""
        return tuple(x.name for x in fields(cls) if x.name != "law")

    def formulas(self) -> tuple[Any, ...]:
        """Its entries, in which symbols may occur."""
        values = (getattr(self, part) for part in self.parts())
        return tuple(x for x in values if x is not None)

    def resists(self, moving: str, viscous: str) -> bool:
        """Whether a group has any friction, be it at rest alone."""
        across = self.across if moving == "sliding" else None
        (rest,) = (x[1] for x in GROUPS if x[0] == moving)
        entries = (getattr(self, moving), getattr(self, rest), getattr(self, viscous), across)
        return any(x is not None and not is_zero(x) for x in entries)


def friction_of(value: Any, owner: str, place: Place | None) -> Friction:
    """What the author gave: all coefficients, or that of sliding alone."""
    friction = value if isinstance(value, Friction) else Friction(value)
    return friction.checked(owner, place)


LARGE = ("formula", "gap", "slips", "surface", "profile", "curve")
"""Fields of contacts that are formulas of coordinates."""

RESTS = (
    ("static", "sliding"), ("static", "dry"), ("static", "coefficient"),
    ("static_rolling", "rolling"), ("static_pivoting", "pivoting"),
)  # fmt: skip
"""A coefficient at rest, and the one of motion that is not above it."""


def positive_formulas(contact: Any) -> list[Expr]:
    """Formulas of parameters; where all of them are positive, nothing is wrong with a contact."""
    friction = getattr(contact, "friction", None)
    records = (contact, friction) if isinstance(friction, Friction) else (contact,)
    formulas: list[Expr] = []
    for record in records:
        parts = {x.name: getattr(record, x.name) for x in fields(record) if x.name not in LARGE}
        entries = [y for x in parts.values() for y in (x if isinstance(x, tuple) else (x,))]
        formulas += [x for x in entries if isinstance(x, Expr)]
        pairs = [(parts.get(rest), parts.get(moving)) for rest, moving in RESTS]
        pairs += [(1, parts.get("restitution"))]
        formulas += [
            as_expr(high - low)
            for high, low in pairs
            if high is not None and low is not None and Expr in (type(high), type(low))
        ]
    return formulas


def check_speed(
    law: str, friction: Any, speed: Any, word: str, owner: str, place: Place | None
) -> None:
    """Laws that smooth have a speed below which they do, and Coulomb's has none."""
    if law == "coulomb" and not is_zero(speed):
        message = f"{owner} has a {word} but the law 'coulomb', which has none; name the law."
        raise ModelError(message, place=place)
    if law != "coulomb" and not is_zero(friction) and is_zero(speed):
        message = f"{owner} has the law {law!r} but no {word}; give the speed below which it acts."
        raise ModelError(message, place=place)


def _not_negative(value: Any, what: str, place: Place | None, unit: str) -> Any:
    exact = scalar(value, what, place, unit)
    size = number(exact)
    if size is not None and size < 0:
        raise ModelError(f"{what} is {size:g}; it must not be negative.", place=place)
    return exact


def not_less_at_rest(moving: Any, rest: Any, word: str, owner: str, place: Place | None) -> None:
    """What holds at rest is not less than what brakes in motion: it would let go and hold again."""
    numbers = (None, None) if rest is None else (number(moving), number(rest))
    if numbers[0] is not None and numbers[1] is not None and numbers[1] < numbers[0]:
        raise ModelError(
            f"the {word} of {owner} is {numbers[0]:g} in motion and {numbers[1]:g} at rest, "
            "where it must not be less.",
            place=place,
        )
