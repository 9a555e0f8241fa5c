"""Runge–Kutta methods as data: a tableau is all that distinguishes them.

A step from (t, y) over h takes stages k_i and gives

    k_i = f(t + c_i h, y + h Σ_j a_ij k_j),     y₁ = y + h Σ_i b_i k_i,
    error = h Σ_i e_i k_i,                      y(θ) = y + h Σ_i b_i(θ) k_i,  0 ≤ θ ≤ 1,

with b_i(θ) = Σ_j dense_ij θ^(j+1), so that recording and event location cost no further stage.
The step itself is a loop that reads these numbers from arrays (`explicit.py`). Of an implicit
method the first stage is f(t, y), which none of the others needs, and the others depend on each
other (`implicit.py`).

Public names: Tableau, EULER, RK4, DORMAND_PRINCE, TSITOURAS, RADAU, GAUSS_4, GAUSS_6, RATTLE,
RATTLE_4, RATTLE_6, GENERALIZED_ALPHA, EDWARDS, MOREAU, TABLEAUX, Tableaux, tableau_named,
explicit_stages, collocation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction as F
from typing import final

import numpy as np

from liaison.errors import NamingError, SimulationError

Row = tuple[F | float, ...]


@final
@dataclass(frozen=True, slots=True)
class Tableau:
    """Coefficients of a method.

    Attributes:
        name: what `method=` calls it.
        a: rows of stage weights; row i has i entries, or as many as there are stages.
        b: weights of the step.
        e: weights of the error estimate (b minus those of the embedded method); empty: none.
        dense: polynomial coefficients of b_i(θ), one row a stage, powers θ, θ², …
        order: of the step.
        dense_order: of the interpolation.
        reuses_last: the last stage is the first of the next step (f at the new state).
        filter: γ of the matrix 1 − h γ J that damps the error estimate of an implicit method.
        error_at: power of h that the error estimate goes with; the order if 0.
        scheme: what takes the step: "stages", or "variational" (`variational.py`), "alpha"
            (`generalized_alpha.py`), "edwards" (`edwards.py`) or "moreau" (`moreau.py`), which
            leave slopes of the interpolation in their place.
        parts: what a step is composed of, as parts of it; some go back in time.
    """

    name: str
    a: tuple[Row, ...]
    b: Row
    e: Row
    dense: tuple[Row, ...]
    order: int
    dense_order: int
    reuses_last: bool
    filter: float = 0.0
    error_at: int = 0
    scheme: str = "stages"
    parts: Row = (1,)

    @property
    def error_order(self) -> int:
        """Power of h that the error estimate goes with."""
        return self.error_at or self.order

    @property
    def is_implicit(self) -> bool:
        """Stages depend on each other."""
        return any(len(row) > i for i, row in enumerate(self.a))

    @property
    def c(self) -> Row:
        """Stage times: sums of the rows of a."""
        return tuple(sum(row, F(0)) for row in self.a)

    @property
    def stages(self) -> int:
        """How many stages a step has."""
        return len(self.b)

    @property
    def is_adaptive(self) -> bool:
        """There is an error estimate to choose the step by."""
        return bool(self.e)


def _difference(b: Row, hat: Row) -> Row:
    return tuple(x - y for x, y in zip(b, hat, strict=True))


EULER = Tableau(
    name="euler", a=((),), b=(1,), e=(), dense=((1,),), order=1, dense_order=1, reuses_last=False
)
"""Euler's explicit method, the simplest. Source: HNW1 §I.7; LL 4.4.5 names it for attitudes."""

RK4 = Tableau(
    name="rk4",
    a=((), (F(1, 2),), (0, F(1, 2)), (0, 0, 1)),
    b=(F(1, 6), F(1, 3), F(1, 3), F(1, 6)),
    e=(),
    dense=(
        (1, F(-3, 2), F(2, 3)),
        (0, 1, F(-2, 3)),
        (0, 1, F(-2, 3)),
        (0, F(-1, 2), F(2, 3)),
    ),
    order=4,
    dense_order=3,
    reuses_last=False,
)
"""The classical method. Source: HNW1 §II.1 table 1.2; interpolation §II.6 (natural, order 3)."""

_DP_B: Row = (F(35, 384), F(0), F(500, 1113), F(125, 192), F(-2187, 6784), F(11, 84), F(0))
_DP_HAT: Row = (
    F(5179, 57600), F(0), F(7571, 16695), F(393, 640), F(-92097, 339200), F(187, 2100), F(1, 40),
)  # fmt: skip

DORMAND_PRINCE = Tableau(
    name="dormand-prince",
    a=(
        (),
        (F(1, 5),),
        (F(3, 40), F(9, 40)),
        (F(44, 45), F(-56, 15), F(32, 9)),
        (F(19372, 6561), F(-25360, 2187), F(64448, 6561), F(-212, 729)),
        (F(9017, 3168), F(-355, 33), F(46732, 5247), F(49, 176), F(-5103, 18656)),
        _DP_B[:6],
    ),
    b=_DP_B,
    e=_difference(_DP_B, _DP_HAT),
    dense=(
        (1, F(-8048581381, 2820520608), F(8663915743, 2820520608), F(-12715105075, 11282082432)),
        (0, 0, 0, 0),
        (
            0,
            F(131558114200, 32700410799),
            F(-68118460800, 10900136933),
            F(87487479700, 32700410799),
        ),
        (0, F(-1754552775, 470086768), F(14199869525, 1410260304), F(-10690763975, 1880347072)),
        (
            0,
            F(127303824393, 49829197408),
            F(-318862633887, 49829197408),
            F(701980252875, 199316789632),
        ),
        (0, F(-282668133, 205662961), F(2019193451, 616988883), F(-1453857185, 822651844)),
        (0, F(40617522, 29380423), F(-110615467, 29380423), F(69997945, 29380423)),
    ),
    order=5,
    dense_order=4,
    reuses_last=True,
)
"""Dormand and Prince 5(4). Source: HNW1 §II.5 table 5.2; interpolation of Shampine, §II.6."""


def _factors(scale: float, *roots: float, square: tuple[float, float] | None = None) -> Row:
    """Coefficients of scale θ^k Π(θ − root) (θ² + s₁θ + s₀), powers 1 … 4."""
    polynomial = [scale]
    for root in roots:
        polynomial = _times(polynomial, [-root, 1.0])
    if square is not None:
        polynomial = _times(polynomial, [square[1], square[0], 1.0])
    return tuple([0.0] * (5 - len(polynomial)) + polynomial)[1:]


def _times(x: list[float], y: list[float]) -> list[float]:
    product = [0.0] * (len(x) + len(y) - 1)
    for i, xi in enumerate(x):
        for j, yj in enumerate(y):
            product[i + j] += xi * yj
    return product


_T_B: Row = (
    0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
    2.324710524099774, 0.0,
)  # fmt: skip

TSITOURAS = Tableau(
    name="tsitouras",
    a=(
        (),
        (0.161,),
        (-0.008480655492356989, 0.335480655492357),
        (2.8971530571054935, -6.359448489975075, 4.3622954328695815),
        (5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525),
        (
            5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
            -0.028269050394068383,
        ),
        _T_B[:6],
    ),
    b=_T_B,
    e=(
        -0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
        -0.1447110071732629, 0.5823571654525552, -0.45808210592918697, 0.015151515151515152,
    ),
    dense=(
        _factors(
            -1.0530884977290216, 1.3299890189751412,
            square=(-1.4364028541716351, 0.7139816917074209),
        ),
        _factors(0.1017, square=(-2.1966568338249754, 1.2949852507374631)),
        _factors(2.490627285651252793, square=(-2.38535645472061657, 1.57803468208092486)),
        _factors(-16.54810288924490272, 1.21712927295533244, 0.61620406037800089),
        _factors(47.37952196281928122, 1.203071208372362603, 0.658047292653547382),
        _factors(-34.87065786149660974, 1.2, 0.666666666666666667),
        _factors(2.5, 1.0, 0.6),
    ),
    order=5,
    dense_order=4,
    reuses_last=True,
)  # fmt: skip
"""Tsitouras 5(4), smaller errors than Dormand–Prince at the same cost. Source: TSI11 table 1."""


def collocation(nodes: Sequence[float]) -> tuple[tuple[Row, ...], Row, tuple[Row, ...]]:
    """a, b and dense of the method that collocates at these nodes, after a first stage f(t, y).

    b_j(θ) = ∫₀^θ ℓ_j with Lagrange's polynomials ℓ_j of the nodes; a_ij = b_j(c_i), b_j = b_j(1).

    Source: HNW1 §II.7, theorem 7.7.
    """
    s = len(nodes)
    powers = np.vander(np.array(nodes), s, increasing=True)
    lagrange = np.linalg.inv(powers)  # column j: coefficients of ℓ_j
    integral = lagrange / np.arange(1, s + 1)[:, None]
    values = np.array([[c ** (k + 1) for k in range(s)] for c in (*nodes, 1.0)]) @ integral
    rows = tuple((0.0, *map(float, row)) for row in values)
    dense = ((0.0,) * s, *(tuple(map(float, integral[:, j])) for j in range(s)))
    return ((), *rows[:-1]), rows[-1], dense


def _radau() -> Tableau:
    """Error: γ₀ h f(t, y) + Σ e_i z_i with z_i = h Σ a_ij k_j, damped by (1 − h γ₀ J)⁻¹."""
    root = 6**0.5
    a, b, dense = collocation(((4 - root) / 10, (4 + root) / 10, 1.0))
    gamma = (6 + 81 ** (1 / 3) - 9 ** (1 / 3)) / 30
    e = [gamma / 3 * x for x in (-13 - 7 * root, -13 + 7 * root, -1.0)]
    weights = tuple(
        sum(e[i] * float(a[i + 1][j]) for i in range(3)) + (gamma if j == 0 else 0.0)
        for j in range(4)
    )
    return Tableau("radau", a, b, weights, dense, 5, 3, True, filter=gamma, error_at=4)


def _gauss(name: str, nodes: Sequence[float]) -> Tableau:
    a, b, dense = collocation(nodes)
    return Tableau(name, a, b, (), dense, 2 * len(nodes), len(nodes), False)


RADAU = _radau()
"""Radau IIA of three stages: for stiff systems. Source: HW2 §IV.5 table 5.6, §IV.8 (8.20)."""

GAUSS_4 = _gauss("gauss4", (0.5 - 3**0.5 / 6, 0.5 + 3**0.5 / 6))
GAUSS_6 = _gauss("gauss6", (0.5 - 15**0.5 / 10, 0.5, 0.5 + 15**0.5 / 10))
"""Gauss of two and three stages: symmetric, for long conservative runs. Source: HW2 §IV.5."""

RATTLE = Tableau(
    name="rattle",
    a=((), (0,), (0, 0)),
    b=(0, 1, 0),
    e=(),
    dense=((1, -2, 1), (0, 3, -2), (0, -1, 1)),
    order=2,
    dense_order=2,
    reuses_last=False,
    scheme="variational",
)
"""Symmetric and symplectic on closures too. Source: HLW §VII.1.4; interpolation of Hermite."""

_OUTER = 1 / (4 - 4 ** (1 / 3))
RATTLE_4 = replace(
    RATTLE,
    name="rattle4",
    order=4,
    dense_order=3,
    parts=(_OUTER, _OUTER, 1 - 4 * _OUTER, _OUTER, _OUTER),
)
"""Five steps of RATTLE, the middle one back in time. Source: HLW §II.4 (4.5), Suzuki's."""

_KAHAN_LI = (
    0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981,
    0.08221359629355080023, 0.79854399093482996340,
)  # fmt: skip
RATTLE_6 = replace(RATTLE_4, name="rattle6", order=6, parts=(*_KAHAN_LI, *reversed(_KAHAN_LI[:-1])))
"""Nine steps of RATTLE. Source: HLW §V.3.2, Kahan and Li's composition of order 6."""

GENERALIZED_ALPHA = replace(RATTLE, name="generalized-alpha", scheme="alpha")
"""With damping of what is too fast for the step. Source: ARN; the same interpolation."""

EDWARDS = replace(RATTLE, name="edwards", scheme="edwards")
"""Heun's method, attitudes by the trapezoid of ω with Edwards' correction. Source: LL 4.4.5."""

MOREAU = replace(
    RATTLE, name="moreau", order=1, dense_order=1, dense=((0,), (1,), (0,)), scheme="moreau"
)
"""Impulses of contacts on the level of velocities. Source: `moreau.py`; linear in between."""

SCHEMES = ("stages", "variational", "alpha", "edwards", "moreau")
ROUNDING = 1e-10
"""What coefficients in floats may miss a sum by."""


@final
class Tableaux(Mapping[str, Tableau]):
    """Methods by name; a method is added as a row of numbers."""

    def __init__(self, *known: Tableau) -> None:
        self._rows: dict[str, Tableau] = {}
        for tableau in known:
            self.add(tableau)

    def __getitem__(self, name: str) -> Tableau:
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, tableau: Tableau) -> Tableau:
        """Makes a method known by its name, to `method=` and to `--method`.

        Raises:
            SimulationError: the name is taken, or the numbers do not fit together.
        """
        wrong = _misfit(tableau)
        if tableau.name in self._rows:
            wrong = "there is a method of that name already"
        if wrong:
            raise SimulationError(f"the tableau {tableau.name!r} cannot be taken: {wrong}.")
        self._rows[tableau.name] = tableau
        return tableau

    def remove(self, name: str) -> None:
        """Forgets a method."""
        del self._rows[name]

    @contextmanager
    def including(self, *tableaux: Tableau) -> Iterator[None]:
        """Methods that are known within a `with` block only."""
        known = dict(self._rows)
        try:
            for tableau in tableaux:
                self.add(tableau)
            yield
        finally:
            self._rows.clear()
            self._rows.update(known)


def _misfit(tableau: Tableau) -> str:
    """What does not fit in a tableau; "" if all does."""
    n = tableau.stages
    if tableau.scheme not in SCHEMES:
        return f"its scheme {tableau.scheme!r} is none of {', '.join(SCHEMES)}"
    sizes = {len(tableau.a), len(tableau.dense)} | ({len(tableau.e)} if tableau.e else set())
    if sizes != {n} or any(len(row) > n for row in tableau.a):
        return f"b has {n} stages; a, dense and e must have as many"
    if abs(float(sum(tableau.b)) - 1) > ROUNDING:
        return f"the weights b sum to {float(sum(tableau.b)):g}, not to 1"
    if tableau.e and abs(float(sum(tableau.e))) > ROUNDING:
        return f"the weights e sum to {float(sum(tableau.e)):g}, not to 0"
    ends = [float(sum(row)) for row in tableau.dense]
    if any(abs(x - float(b)) > ROUNDING for x, b in zip(ends, tableau.b, strict=True)):
        return "its interpolation does not end where its step does: b_i(1) is not b_i"
    return _wrong_rows(tableau) or _wrong_order(tableau)


def _wrong_rows(tableau: Tableau) -> str:
    """Rows of a that are too short or too long, or that are not those of `reuses_last`."""
    n, sizes = tableau.stages, [len(row) for row in tableau.a]
    is_explicit = sizes == list(range(n))
    if not is_explicit and not (sizes[0] in (0, n) and set(sizes[1:]) <= {n}):
        return (
            f"the rows of a have {', '.join(map(str, sizes))} entries; row i of an explicit method "
            f"has i (0 to {n - 1}), and each of an implicit one {n}, the first perhaps none"
        )
    last = (*tableau.a[-1], *(0,) * n)[:n]
    is_last = all(
        abs(float(x) - float(b)) <= ROUNDING for x, b in zip(last, tableau.b, strict=True)
    )
    if tableau.reuses_last and not is_last:
        return "reuses_last says that its last stage is at the new state, but the last row is not b"
    return ""


def _wrong_order(tableau: Tableau) -> str:
    """An order that the weights do not have: Σ b_i c_i^(k-1) = 1/k, and b_i(θ) likewise."""
    for name in ("order", "dense_order"):
        order = getattr(tableau, name)
        if not isinstance(order, int) or order < 1:
            return f"its {name} is {order!r}; it is a whole number from 1 on"
    if tableau.scheme != "stages" or len(tableau.parts) > 1:
        return ""
    c = np.array(tableau.c, dtype=float)
    b = np.array(tableau.b, dtype=float)
    dense = np.zeros((len(b), max(map(len, tableau.dense))))
    for i, row in enumerate(tableau.dense):
        dense[i, : len(row)] = row
    for k in range(1, tableau.order + 1):
        if abs(b @ c ** (k - 1) - 1 / k) > ROUNDING:
            return f"its order is {tableau.order}, but Σ b_i c_i^{k - 1} is not 1/{k}"
    for k in range(1, tableau.dense_order + 1):
        powers = np.arange(1, dense.shape[1] + 1) == k
        if k > dense.shape[1] or np.abs(c ** (k - 1) @ dense - powers / k).max() > ROUNDING:
            order = tableau.dense_order
            return f"its dense_order is {order}, but Σ b_i(θ) c_i^{k - 1} is not θ^{k}/{k}"
    return ""


TABLEAUX = Tableaux(
    RK4, DORMAND_PRINCE, TSITOURAS, RADAU, GAUSS_4, GAUSS_6, RATTLE, RATTLE_4, RATTLE_6,
    GENERALIZED_ALPHA, MOREAU, EULER, EDWARDS,
)  # fmt: skip
"""Every method by name."""


def explicit_stages(name: str | None) -> int:
    """Evaluations a step of the method of that name; 0 of one that is not explicit, or unknown.

    None is the method by default.
    """
    tableau = RK4 if name is None else TABLEAUX.get(name)
    if tableau is None or tableau.scheme != "stages" or tableau.is_implicit:
        return 0
    return len(tableau.b)


def tableau_named(name: str) -> Tableau:
    """The method of that name; raises an error for an unknown name and proposes the nearest."""
    if name not in TABLEAUX:
        raise NamingError.unknown("method", name, TABLEAUX)
    return TABLEAUX[name]
