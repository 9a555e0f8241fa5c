"""Loads, relations and contacts as symbols: what a front end draws for each, and where.

Public names: Symbol, symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.model import Constraint, Contact, Force, Marker, Mechanism


@final
@dataclass(frozen=True, slots=True)
class Symbol:
    """One load, relation or contact in a picture.

    Attributes:
        name: of the record.
        kind: the word of its kind in a text.
        symbol: a word of `liaison.model.kinds.SYMBOLS`.
        markers: the frames at which it stands.
        labels: the coordinates of which it speaks.
    """

    name: str
    kind: str
    symbol: str
    markers: tuple[Marker, ...]
    labels: tuple[str, ...]


def symbols(mechanism: Mechanism) -> list[Symbol]:
    """Every load, relation and contact of shapes, in the order of the mechanism."""
    acting: tuple[Force | Constraint, ...] = (*mechanism.forces, *mechanism.constraints)
    listed = [Symbol(x.name, x.LSD, x.SYMBOL, x.markers(), x.labels()) for x in acting]
    for one in mechanism.contacts:
        if isinstance(one, Contact):
            listed.append(Symbol(one.name, one.kind, one.shape.SYMBOL, one.markers(), ()))
    return listed
