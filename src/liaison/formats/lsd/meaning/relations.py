"""`couple … and … with TYPE … end`, `contact … and … with TYPE … end`: relations that are no joint.

Gears, belts, racks and cams tie coordinates; wheels and balls roll on planes; contacts hold on one
side only.

Public names: related, COUPLES, CONTACTS.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from liaison.errors import Place
from liaison.expr import as_expr, symbol
from liaison.formats.lsd.formulas.formulas import Where, scalar_of
from liaison.formats.lsd.formulas.names import Book, no_such
from liaison.formats.lsd.formulas.values import Quantity, plain
from liaison.formats.lsd.syntax.nodes import Node
from liaison.model import RELATION_KINDS, BetweenFrames, Constraint, Coupling, Holonomic, Rolling
from liaison.model.kinds import Derived

from .contacts import CONTACTS
from .properties import Related

__all__ = ["CONTACTS", "COUPLES", "related"]


def related(name: str | None, node: Node, place: Place, book: Book) -> Any:
    """The relation of a `couple` statement, or the contact of a `contact` statement."""
    kinds: Mapping[str, Any] = COUPLES if node.kind == "couple" else CONTACTS
    word = node.parts[3]
    if str(word) not in kinds:
        what = "kind of coupling" if node.kind == "couple" else "kind of contact"
        raise no_such(what, str(word), kinds, book.source.of(word), listed=[*kinds])
    told = Related(name, node, place, book)
    make, takes = kinds[str(word)]
    told.keys.check(takes)
    return make(told)


def _gear(x: Related) -> Coupling:
    """r1 A + r2 B = 0: wheels that mesh turn against each other; a ring has a negative radius."""
    (a, b), (r1, r2) = x.labels(), x.sizes("teeth", "radii")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(-r1) / r2), a, offset, place=x.place)


def _belt(x: Related) -> Coupling:
    """r1 A = r2 B: pulleys of one belt turn alike; a crossed belt has a negative radius."""
    (a, b), (r1, r2) = x.labels(), x.sizes("radii", "teeth")
    offset = x.scalar("offset", x.unit(b), 0)
    return Coupling(x.name, b, plain(_exact(r1) / r2), a, offset, place=x.place)


def _rack(x: Related) -> Coupling:
    """B = r A + offset: a pinion drives a rack."""
    a, b = x.labels()
    return Coupling(
        x.name, b, x.scalar("radius", "m"), a, x.scalar("offset", "m", 0), place=x.place
    )


def _coupled(x: Related) -> Constraint:
    """A relation as its class says: two coordinates or two frames, and its properties."""
    made: Any = next(kind for kind in RELATION_KINDS if kind.SIDES and x.kind == kind.LSD)
    of_frames = issubclass(made, BetweenFrames)
    sides: tuple[Any, Any] = x.frames(turned=False) if of_frames else x.labels()
    given: dict[str, Any] = dict(zip(made.SIDES, sides, strict=True))
    for one in made.PROPERTIES:
        if not one.optional or x.keys.get(one.key) is not None:
            unit = x.unit(given[one.unit[1:]]) if one.unit.startswith("@") else one.unit
            given[one.name] = x.property(one, unit)
    found: Constraint = made(name=x.name, **given, place=x.place)
    return found


def _cam(x: Related) -> Holonomic:
    """B = lift(A)."""
    a, b = x.labels()
    node = x.keys.need("lift", x.place)
    local = {"angle": Quantity(symbol(a), x.book.symbols[a].dimension)}
    where = Where(f"{x.name}.lift", x.unit(b), local=local)
    lift = scalar_of(node, x.book, where, x.what("lift"))
    return Holonomic(x.name, symbol(b) - as_expr(lift), place=x.place)


def _rolling(kind: str) -> Callable[[Related], Rolling]:
    def made(x: Related) -> Rolling:
        wheel, plane = x.frames(turned=kind == "disc")
        return Rolling(x.name, wheel, x.scalar("radius", "m"), plane, kind, place=x.place)

    return made


def _exact(x: Any) -> Any:
    """A whole number as one that divides exactly."""
    return Fraction(x) if isinstance(x, int) else x


def _couples() -> dict[str, tuple[Callable[[Related], Constraint], tuple[str, ...]]]:
    kinds = [kind for kind in RELATION_KINDS if kind.SIDES]
    found = {x.LSD: (_coupled, tuple(one.key for one in x.PROPERTIES)) for x in kinds}
    own = found.pop("proportion")
    return {
        "gear": (_gear, ("teeth", "radii", "offset")),
        "belt": (_belt, ("radii", "teeth", "offset")),
        "rack": (_rack, ("radius", "offset")),
        "proportion": own,
        "cam": (_cam, ("lift",)),
        "rolling_disc": (_rolling("disc"), ("radius", "axis")),
        "rolling_ball": (_rolling("ball"), ("radius",)),
        **found,
    }


COUPLES: Mapping[str, tuple[Callable[[Related], Constraint], tuple[str, ...]]] = Derived(
    _couples, RELATION_KINDS
)
"""Word behind `couple … and … with` -> how it is read, and its properties."""
