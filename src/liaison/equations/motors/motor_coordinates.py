"""Equations in the coordinates of motors: A m̈ + B(m, ṁ) + g(m) = Q, with m = N q + n.

    A = N⁻ᵀ M N⁻¹,   B_i = Σ Σ b_i,jk ṁ_j ṁ_k,   g = ∂V/∂m,   Q = N⁻ᵀ Q_q             (motors-3)

b_i,jk are Christoffel's symbols of A, Q_q what acts without a potential. V holds weight, springs
and potentials, so that g is what the motors must give at rest: statics, with the springs that
balance the arm taken into account.

Public names: MotorForm, motor_form.

Source: LL 3.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

from liaison.equations.transform.inversion import Dependence, inverted
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, gradient, substitute, symbol
from liaison.lazy import Shown
from liaison.spatial.arrays import Array, array, dot, minus, product, zeros

from .motorized import Motorized


@final
@dataclass(frozen=True, repr=False)
class MotorForm(Shown):
    """A m̈ + B + g = Q as formulas of m and ṁ.

    Attributes:
        m: the coordinates; mdot, mddot their rates.
        A: the mass matrix, all entries, row by row.
        B: centrifugal and Coriolis forces, products of rates.
        g: ∂V/∂m, the motors' torques that hold the arm at rest.
        Q: what acts without a potential: C_m of the motors less friction, and other loads.
        q: the joints' coordinates by the motors'.
    """

    m: tuple[Expr, ...]
    mdot: tuple[Expr, ...]
    mddot: tuple[Expr, ...]
    A: tuple[tuple[Expr, ...], ...]
    B: tuple[Expr, ...]
    g: tuple[Expr, ...]
    Q: tuple[Expr, ...]
    q: tuple[Expr, ...]

    @cached_property
    def C(self) -> tuple[tuple[Expr, ...], ...]:
        """C_ij = Σ_k b_i,jk ṁ_k, so that B = C ṁ and Ȧ − 2 C is skew."""
        slopes = [[gradient(entry, list(self.m)) for entry in row] for row in self.A]
        n = len(self.m)

        def entry(i: int, j: int) -> Expr:
            total: Any = ZERO
            for k, rate in enumerate(self.mdot):
                total = total + (slopes[i][j][k] + slopes[i][k][j] - slopes[j][k][i]) * rate
            return as_expr(total / 2)

        return tuple(tuple(entry(i, j) for j in range(n)) for i in range(n))


def motor_form(
    arm: Motorized, N: Sequence[Sequence[Any]] | None = None, names: Sequence[str] = ()
) -> MotorForm:
    """The equations of an arm in the coordinates of its motors, or in those of its joints.

    Args:
        arm: with one velocity a joint.
        N: rows of the constant matrix of m = N q, for motors that move several joints together; the
            identity gives the joints' own coordinates. The ratios of the arm's rotors, with their
            offsets, if not given; a joint without a rotor keeps its coordinate.
        names: of m; those of the rotors, of the joints, or m1, m2, … if not given.

    Raises:
        DerivationError: a joint has several velocities or rotors, N is singular or of another size.

    Example:
        >>> import liaison
        >>> tree = liaison.span(liaison.read("examples/geared_arm.lsd"))
        >>> type(liaison.motor_form(liaison.motorized(tree))).__name__
        'MotorForm'
    """
    _check(arm, N, names)
    n = len(arm.v)
    shift: list[Any] = [0] * n
    labels = [x.name for x in arm.q]
    if N is None:
        rows = zeros(n, n)
        for k in range(n):
            rows[k, k] = 1
        for rotor in arm.parts.rotors:
            rows[rotor.driven, rotor.driven] = rotor.ratio
            shift[rotor.driven], labels[rotor.driven] = rotor.offset, rotor.coordinate
    else:
        rows, labels = array([list(row) for row in N]), [f"m{k + 1}" for k in range(n)]
    return _formed(arm, _inverse(rows), shift, list(names) or labels)


def _formed(arm: Motorized, back: Array, shift: list[Any], names: list[str]) -> MotorForm:
    """The equations by N⁻¹, n and names of m."""
    n = len(names)
    m, mdot, mddot = ([symbol(x + dots) for x in names] for dots in ("", "'", "''"))
    # new names first, for a name may be an old one's as well
    between = [symbol(f"'motor {x}") for x in names], [symbol(f"'motor {x}'") for x in names]
    q = product(back, array([minus(x, y) for x, y in zip(between[0], shift, strict=True)]))
    v = product(back, array(between[1]))
    into = dict(zip((*arm.q, *arm.v), (as_expr(x) for x in (*q, *v)), strict=True))
    last = dict(zip((*between[0], *between[1]), (*m, *mdot), strict=True))

    def put(formulas: Sequence[Any]) -> list[Expr]:
        return list(substitute(substitute([as_expr(x) for x in formulas], into), last))

    def along(forces: Sequence[Any]) -> tuple[Expr, ...]:
        return tuple(put([dot(back[:, k], forces) for k in range(n)]))

    rest = list(substitute(list(arm.bias), dict.fromkeys(arm.v, ZERO)))
    slope = gradient(arm.potential, list(arm.q))
    moving = [a - b for a, b in zip(arm.bias, rest, strict=True)]
    acting = [a - b + c for a, b, c in zip(arm.applied, rest, slope, strict=True)]
    A = product(product(back.T, _full(arm.M, n)), back)
    return MotorForm(
        m=tuple(m),
        mdot=tuple(mdot),
        mddot=tuple(mddot),
        A=tuple(tuple(put(list(row))) for row in A),
        B=along(moving),
        g=along(slope),
        Q=along(acting),
        q=tuple(put(list(q))),
    )


def _full(M: Mapping[tuple[int, int], Expr], n: int) -> Array:
    full = zeros(n, n)
    for (i, j), entry in M.items():
        full[i, j] = full[j, i] = entry
    return full


def _inverse(rows: Array) -> Array:
    try:
        return inverted(rows)
    except Dependence as error:
        raise DerivationError(
            f"row {error.row + 1} of N is a combination of the others; every joint must follow "
            "from the motors."
        ) from error


def _check(arm: Motorized, N: Sequence[Sequence[Any]] | None, names: Sequence[str]) -> None:
    n = len(arm.v)
    for node in arm.parts.kinematics.tree.nodes:
        if node.joint.type.nv != 1 or node.joint.type.nq != 1:
            raise DerivationError(
                f"joint {node.joint.name!r} has {node.joint.type.nv} velocities; motor coordinates "
                "are for joints of one.",
                place=node.joint.place,
            )
    driven = [rotor.driven for rotor in arm.parts.rotors]
    if N is None and len(set(driven)) < len(driven):
        raise DerivationError(
            "two rotors drive one joint, so that the coordinates of both cannot be taken.",
            hint="Give N, with one row for each joint.",
        )
    sizes = [] if N is None else [len(N), *map(len, N)]
    if any(size != n for size in sizes) or len(names) not in (0, n):
        raise DerivationError(f"N must be {n} by {n}, with as many names: the arm has {n} joints.")
