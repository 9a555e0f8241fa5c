"""Count the bodies of a mechanism, heavy ones apart."""

from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.registry import command


@command
def census(given: Given, *, heavier_than: float = 0.0, twice: bool = False) -> dict[str, int]:
    """Count bodies.

    Args:
        given: the mechanism.
        heavier_than: mass from which on a body is heavy [kg].
        twice: count each body two times.
    """
    bodies = mechanism_of(given).bodies[1:]
    heavy = [x for x in bodies if float(x.mass) > heavier_than]
    return {"bodies": len(bodies) * (1 + twice), "heavy": len(heavy)}
