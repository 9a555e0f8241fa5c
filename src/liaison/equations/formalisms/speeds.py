"""Generalised speeds u = Y v + y of the author's choice, and equations transformed back to v.

Kane's generalised speeds and the quasi-velocities of Boltzmann, Hamel, Gibbs and Appell: formulas
of positions and time, linear in the velocities of the tree.

    u = Y v + y,   v = W u + w,   W = Y⁻¹,   u̇ = Y v̇ + b,   b = Ẏ v + ẏ          (speeds-1)
    M = Yᵀ M_u Y,  h = Yᵀ (h_u + M_u b)

Public names: Speeds, plain_speeds, chosen_speeds, natural_speeds, along_rates.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, final

from liaison.equations.setting import Setting
from liaison.equations.transform.inversion import Dependence, inverted
from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, directional, jacobian, substitute, symbol, symbols_of
from liaison.spatial.arrays import Array, array, dot, identity, is_zero, product, zeros


@final
@dataclass(frozen=True, slots=True)
class Speeds:
    """u = Y v + y and back, with names."""

    names: tuple[str, ...]
    u: tuple[Expr, ...]
    udot: tuple[Expr, ...]
    formulas: tuple[Expr, ...]  # u, of q, v and t
    Y: Array
    W: Array
    v: Array  # W u + w, of q, u and t
    is_plain: bool = False  # u = v
    twists: Mapping[int, Array] = field(default_factory=dict)  # node -> S v, of u, where it is u

    def qdot(self, setting: Setting) -> list[Expr]:
        """q̇ = N (W u + w)."""
        rates: list[Expr] = []
        for node in setting.tree.nodes:
            N = node.joint.type.kinematic_map(setting.q[node.q])
            rates += [as_expr(x) for x in product(N, self.v[node.v])]
        return rates

    def flow(self, setting: Setting) -> dict[Expr, Any]:
        """How q and t move, of u."""
        rates = self.qdot(setting)
        return dict(zip(setting.symbols.q, rates, strict=True)) | {setting.symbols.t: as_expr(1)}

    def efforts(self, tau: Sequence[Any]) -> list[Any]:
        """Wᵀ τ: generalised forces along u from those along v."""
        return list(tau) if self.is_plain else list(product(self.W.T, array(list(tau))))


def plain_speeds(setting: Setting) -> Speeds:
    """u = v."""
    symbols, one = setting.symbols, identity(setting.tree.nv)
    names = tuple(x.name for x in symbols.v)
    return Speeds(names, symbols.v, symbols.vdot, symbols.v, one, one, setting.v, is_plain=True)


def chosen_speeds(setting: Setting, formulas: Mapping[str, Any] | None) -> Speeds:
    """Speeds by name, as formulas of the author's: of coordinates, their rates and time.

    Raises:
        DerivationError: there are too few or too many, one is not linear, or they depend on each
            other.
    """
    if not formulas:
        return plain_speeds(setting)
    labels = [x.name for x in setting.symbols.v]
    if len(formulas) != len(labels):
        raise DerivationError(
            f"{len(formulas)} generalised speeds are given and {len(labels)} are needed, one for "
            f"each velocity: {', '.join(labels)}.",
            hint='Give every speed; a rate may stand for itself, as {"w": rate("theta")}.',
        )
    formulas_of_v = [setting.expressed(x) for x in formulas.values()]
    _check_names(setting, formulas)
    return _speeds(setting, tuple(formulas), formulas_of_v)


def _check_names(setting: Setting, formulas: Mapping[str, Any]) -> None:
    in_use = {x.name for x in (*setting.symbols.q, *setting.symbols.v, *setting.symbols.p)}
    for name in formulas:
        if name in in_use | {"t"}:
            raise DerivationError(
                f"the speed {name!r} has the name of a coordinate, a rate or a parameter.",
                hint="Give it a name of its own.",
            )


def _speeds(
    setting: Setting, names: tuple[str, ...], formulas: list[Expr], W: Array | None = None
) -> Speeds:
    """Y from the formulas; W = Y⁻¹, where it is not known."""
    v, n = setting.symbols.v, setting.tree.nv
    Y = zeros(n, n)
    for (i, j), entry in jacobian(formulas, list(v)).items():
        Y[i, j] = _plain(entry)
    _check_linear(setting, names, Y)
    y = [_plain(x) for x in substitute(formulas, dict.fromkeys(v, ZERO))]
    try:
        W = inverted(array(Y)) if W is None else W
    except Dependence as error:
        raise DerivationError(
            f"the speed {names[error.row]!r} is a combination of the others: they do not "
            "determine the motion.",
            hint="Choose speeds that are independent; u = rates of the coordinates always is.",
        ) from error
    u = tuple(symbol(name) for name in names)
    back = product(W, array([a - b if not is_zero(b) else a for a, b in zip(u, y, strict=True)]))
    udot = tuple(symbol(f"{name}'") for name in names)
    return Speeds(names, u, udot, tuple(formulas), array(Y), W, back)


def _plain(x: Expr) -> Any:
    """Whole constants as numbers, which fold."""
    return x.a if x.op == "const" and isinstance(x.a, int) else x


def _check_linear(setting: Setting, names: Sequence[str], Y: Array) -> None:
    v = set(setting.symbols.v)
    for name, row in zip(names, Y, strict=True):
        formulas = [x for x in row if isinstance(x, Expr)]
        if v & set(symbols_of(formulas)):
            raise DerivationError(
                f"the speed {name!r} is not linear in the rates.",
                hint="A generalised speed is a sum of rates times formulas of positions and time.",
            )


def natural_speeds(setting: Setting) -> Speeds:
    """For attitudes by angles, the angular velocity (and velocity) in the body's own axes.

    For a joint whose motion subspace S is square on the rows it moves, u = S v; elsewhere u = v.
    """
    formulas, names = list(setting.symbols.v), [x.name for x in setting.symbols.v]
    twists: dict[int, Array] = {}
    W = identity(setting.tree.nv)
    for i, node in enumerate(setting.tree.nodes):
        S = setting.kinematics.subspace(i)
        moving = [r for r in range(6) if any(not is_zero(x) for x in S[r])]
        if node.joint.type.nv < 3 or len(moving) != node.joint.type.nv or not _turns(S):
            continue
        try:
            W[node.v, node.v] = inverted(S[moving])
        except Dependence:
            continue
        twists[i] = zeros(6)
        for k, r in zip(range(node.v.start, node.v.stop), moving, strict=True):
            formulas[k] = as_expr(dot(S[r], setting.v[node.v]))
            names[k] = f"{node.joint.name} {COMPONENTS[r]}"
            twists[i][r] = symbol(names[k])
    if not twists:
        return plain_speeds(setting)
    return replace(_speeds(setting, tuple(names), formulas, W), twists=twists)


COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")


def _turns(S: Array) -> bool:
    """S depends on the position."""
    return bool(symbols_of([x for x in S.flat if isinstance(x, Expr)]))


def along_rates(
    setting: Setting, speeds: Speeds, M_u: Mapping[tuple[int, int], Expr], h_u: Sequence[Expr]
) -> tuple[dict[tuple[int, int], Expr], list[Expr]]:
    """M and h along v from those along u, by (speeds-1); M_u by its lower triangle."""
    if speeds.is_plain:
        return dict(M_u), list(h_u)
    n, Y = setting.tree.nv, speeds.Y
    whole = zeros(n, n)
    for (i, j), entry in M_u.items():
        whole[i, j] = whole[j, i] = _plain(entry)
    flow = dict(zip(setting.symbols.q, setting.qdot, strict=True)) | {setting.symbols.t: 1}
    drift = [_plain(x) for x in directional(list(speeds.formulas), flow)]
    bias = substitute(h_u, dict(zip(speeds.u, speeds.formulas, strict=True)))
    along = product(whole, array(drift)) + array([_plain(x) for x in bias])
    M = product(product(Y.T, whole), Y)
    lower = {
        (i, j): as_expr(M[i, j]) for i in range(n) for j in range(i + 1) if not is_zero(M[i, j])
    }
    return lower, [as_expr(x) for x in product(Y.T, along)]
