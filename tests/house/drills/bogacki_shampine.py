"""A tableau in one file: Bogacki and Shampine's method of order 3 with an estimate of order 2."""

from fractions import Fraction as F

from liaison.simulation.steps.rungekutta import Tableau

B = (F(2, 9), F(1, 3), F(4, 9), F(0))
HAT = (F(7, 24), F(1, 4), F(1, 3), F(1, 8))

# the cubic of Hermite through both ends: k₁ and k₄ are the slopes there
BOGACKI_SHAMPINE = Tableau(
    name="bogacki-shampine",
    a=((), (F(1, 2),), (F(0), F(3, 4)), B[:3]),
    b=B,
    e=tuple(x - y for x, y in zip(B, HAT, strict=True)),
    dense=(
        (F(1), F(-4, 3), F(5, 9)),
        (F(0), F(1), F(-2, 3)),
        (F(0), F(4, 3), F(-8, 9)),
        (F(0), F(-1), F(1)),
    ),
    order=3,
    dense_order=3,
    reuses_last=True,
)
