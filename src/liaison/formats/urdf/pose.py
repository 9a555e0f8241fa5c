"""Where the joints of a robot start: a pose by joints, by patterns of names, or a group state.

A joint that mimics another, q = ratio · q_other + offset, starts where that puts it. Posed itself,
it puts the joint that it follows there:

    q_other = (q − offset) / ratio

Public names: posed, led, exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any

from liaison.errors import ModelError, NamingError
from liaison.model import Coupling

SLACK = Fraction(1, 10_000)
"""What printed digits may be off between a joint and one that mimics it [rad, m]."""


def posed(
    pose: Mapping[str, Any], names: Collection[str], couplings: Iterable[Coupling]
) -> dict[str, Fraction]:
    """Positions by joint, from words such as "*_knee".

    A word that stands for several joints leaves out those that mimic others.

    Raises:
        NamingError: a word that no joint has.
    """
    following = {x.coordinate for x in couplings}
    values: dict[str, Fraction] = {}
    for word, x in pose.items():
        meant = [name for name in names if fnmatchcase(name, word)]
        if not meant:
            raise NamingError.unknown("joint", word, names)
        alone = [name for name in meant if name not in following]
        values |= dict.fromkeys(alone or meant, exact(x))
    return values


def led(pose: Mapping[str, Any], couplings: Iterable[Coupling]) -> dict[str, Fraction]:
    """The same positions, and those of the joints that posed ones mimic.

    Raises:
        ModelError: a joint and the one that it mimics are at odds.
    """
    follows = {x.coordinate: x for x in couplings}
    values = {name: exact(x) for name, x in pose.items()}
    for name in pose:
        follower = name
        for _ in follows:
            if follower not in follows or follower not in values:
                break
            gear = follows[follower]
            ratio, offset = exact(gear.ratio), exact(gear.offset)
            if ratio:
                values.setdefault(gear.other, (values[follower] - offset) / ratio)
            _check(gear, values[follower], values.get(gear.other, Fraction(0)))
            follower = gear.other
    return values


def _check(gear: Coupling, own: Fraction, other: Fraction) -> None:
    """Raises an error for a position that is not where the other joint puts it."""
    implied = exact(gear.ratio) * other + exact(gear.offset)
    if abs(implied - own) <= SLACK:
        return
    raise ModelError(
        f"the pose has joint {gear.coordinate!r} at {float(own):g}; it mimics {gear.other!r}, "
        f"which at {float(other):g} puts it at {float(implied):g}.",
        place=gear.place,
        hint="Pose one of the two; the other one follows.",
    )


def exact(x: Any) -> Fraction:
    """A number as a fraction: the decimals that its text has."""
    return Fraction(str(x)) if isinstance(x, float) else Fraction(x)
