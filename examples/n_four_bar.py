"""N four-bar linkages in a row: the IFToMM benchmark problem, for any N.

2N + 1 uniform rods of 1 m and 1 kg: N + 1 that stand on the ground, 1 m apart, and N that
connect their tops. All hinges are parallel to z, gravity pulls along -y. It begins upright,
with the top of the first rod moving at 1 m/s along x, and passes its flat position, where all
rods lie on one line and the linkage could go on in several ways.

    python examples/n_four_bar.py 4
"""

import sys
from fractions import Fraction

from liaison import Box, Mechanism, Revolute, body, gravity, ground, join, mechanism, start

LENGTH = 1  # [m]
MASS = 1  # [kg]
ACROSS = Fraction(MASS * LENGTH**2, 12)  # moment of a thin rod about its middle [kg m²]
THICK = Fraction(1, 25)


def standing_rod(i):
    """Rod from the ground upwards: its frame at the foot, y along it."""
    middle = (0, Fraction(LENGTH, 2), 0)
    shape = Box(THICK, LENGTH, THICK, p=middle, color="steelblue")
    return body(f"rod{i}", MASS, center=middle, inertia=(ACROSS, 0, ACROSS), shapes=shape)


def lying_rod(i):
    """Rod between two tops: its frame at the left end, x along it."""
    middle = (Fraction(LENGTH, 2), 0, 0)
    shape = Box(LENGTH, THICK, THICK, p=middle, color="darkorange")
    return body(f"top{i}", MASS, center=middle, inertia=(0, ACROSS, ACROSS), shapes=shape)


def n_four_bar(n: int) -> Mechanism:
    """The mechanism of n loops: 2n + 1 rods, 3n + 1 hinges, one degree of freedom.

    Every angle is zero at the start.
    """
    rods = [standing_rod(i) for i in range(n + 1)]
    tops = [lying_rod(i) for i in range(1, n + 1)]
    parts = [
        join(ground.at((i * LENGTH, 0, 0)), rod, Revolute, name=f"A{i}")
        for i, rod in enumerate(rods)
    ]
    for i, top in enumerate(tops, start=1):
        parts.append(join(rods[i - 1].at((0, LENGTH, 0)), top, Revolute, name=f"B{i}"))
        parts.append(
            join(top.at((LENGTH, 0, 0)), rods[i].at((0, LENGTH, 0)), Revolute, name=f"C{i}")
        )
    return mechanism(
        *parts,
        gravity((0, Fraction(-981, 100), 0)),
        start("A0", 0),
        start("A0'", Fraction(-1, LENGTH)),
        name=f"n_four_bar_{n}",
    )


def main() -> None:
    """Prints what the mechanism consists of."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 4
    linkage = n_four_bar(n)
    bodies, joints = len(linkage.bodies) - 1, len(linkage.joints)
    print(f"{linkage.name}: {bodies} rods, {joints} hinges, {joints - bodies} loops.")
    print(f"Start: upright, top of the first rod at {LENGTH} m/s along x.")


if __name__ == "__main__":
    main()
