"""Derive by every formalism, and prove that all agree.

Public names: compare.
"""

from __future__ import annotations

from collections.abc import Iterable

from liaison.analyse.compare.compare import Comparison
from liaison.analyse.compare.compare import compare as compare_mechanism
from liaison.analyse.compare.equality import POINTS
from liaison.arguments import checked
from liaison.errors import ArgumentError
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, check_positive, mechanism_of


@lasting("equations")
@checked
def compare(
    given: Given,
    formalisms: Iterable[str] | None = None,
    *,
    seed: int = 0,
    points: int = POINTS,
    timed: bool = True,
) -> Comparison:
    """Derives a mechanism in every formalism, and proves that all of them say the same.

    Args:
        given: the mechanism, the path of its text, or the text.
        formalisms: names; all if not given.
        seed: of what is drawn at random.
        points: primes that must agree.
        timed: measure an evaluation in machine code, too.

    Returns:
        A table that prints; `rows` are its lines, `all_proved` the answer.

    Example:
        >>> import liaison
        >>> liaison.compare("examples/pendulum.lsd", ["lagrange", "kane"], timed=False)
        <Comparison pendulum: 2 formalisms, all that apply are proved equal>
    """
    check_positive("compare", points=points)
    if seed < 0:
        raise ArgumentError(f"compare: seed is {seed}; it must be 0 or above.")
    mechanism = mechanism_of(given)
    return compare_mechanism(mechanism, formalisms, seed=seed, points=points, timed=timed)
