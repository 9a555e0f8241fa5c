"""Base of unilateral constraints, and messages about results without them.

Public names: OneSided, Scoped, check_bilateral, left_out, ONE_MODE, check_restitution.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from liaison.errors import DerivationError, ModelError, Place
from liaison.model.acts import Act
from liaison.spatial import number

Scoped: TypeAlias = tuple[str, tuple[Any, ...]]
"""Where formulas may look (a scope of the checks), and formulas."""


class OneSided(Act):
    """A relation that may be left on one side (liaison unilatérale), or friction that may hold."""

    __slots__ = ()

    def scoped(self) -> Iterator[Scoped]:
        """Its formulas by what they may depend on."""
        yield "time", self.formulas()

    def rates(self) -> tuple[Any, ...]:
        """Formulas of rates, which must be linear in them."""
        return ()


def check_bilateral(contacts: Sequence[OneSided], verb: str) -> None:
    """Checks that there are no unilateral constraints, for a verb that does not account for them.

    Raises:
        DerivationError: there is something.
    """
    for one in contacts:
        message = f"{one.name!r} is unilateral; {verb} does not account for unilateral constraints."
        raise DerivationError(message, hint=ONE_MODE, place=one.place)


ONE_MODE = (
    "Choose one mode: require its limit with '=' where it is closed, leave it out where it is "
    "open. Stops of a robot: start inside its ranges, or read it with limits=False."
)


def left_out(contacts: Sequence[OneSided]) -> str:
    """A sentence that says what an answer about the free mechanism leaves out; "" if nothing."""
    if not contacts:
        return ""
    names = [repr(one.name) for one in contacts]
    listed = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
    return f"Without {listed}, which {'is' if len(names) == 1 else 'are'} unilateral."


def check_restitution(e: Any, owner: str, place: Place | None) -> None:
    """Rejects a restitution that would make energy."""
    value = number(e)
    if value is not None and value > 1:
        raise ModelError(
            f"the restitution of {owner} is {value:g}; above 1 an impact would give energy.",
            place=place,
        )
