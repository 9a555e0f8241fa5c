"""Bodies placed with exact numbers: along joints whose coordinates are exact, or where they lie.

Public names: Placing, valued, parameter_values, as_written, markers_of, across.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any, final

from liaison.errors import DerivationError, ModelError
from liaison.exact.recognize import (
    NEAR,
    float_of,
    simple_angle,
    simple_number,
    simple_rotation,
)
from liaison.expr import Expr, as_expr, rewritten, substitute, symbol, symbols_of, to_text
from liaison.model import (
    Cylindrical,
    Helical,
    Joint,
    Marker,
    Mechanism,
    OfCoordinates,
    Prismatic,
    Revolute,
)
from liaison.spatial import array, compose, identity, inverse, product, rotation_about, zeros
from liaison.spatial.arrays import cross
from liaison.spatial.rotations import quaternion_of, rotation_quaternion
from liaison.tree.starts import implied_starts

from .motions import Motion, Transform, motions_of


def valued(mechanism: Mechanism, notes: list[str], *, rounded: bool = False) -> Mechanism:
    """Parameters replaced by their values; floats by simple exact numbers, or all by floats."""
    values = parameter_values(mechanism)
    change: Any = _Exact(values, notes)
    if rounded:
        exact = _Exact(values, [])
        change = lambda x: float_of(exact(x))  # noqa: E731
    joints = tuple(
        replace(joint, type=joint.type.mapped(change),
                predecessor=_mapped(joint.predecessor, change),
                successor=_mapped(joint.successor, change))
        for joint in mechanism.joints
    )  # fmt: skip
    starts = tuple(replace(start, value=change(start.value)) for start in mechanism.starts)
    return replace(mechanism, joints=joints, starts=starts)


def _mapped(marker: Marker, change: Any) -> Marker:
    R = tuple(tuple(change(x) for x in row) for row in marker.R)
    if isinstance(change, _Exact) and _is_rounded(marker.R):
        R = _near_rotation(marker.R)
    return replace(marker, R=R, p=tuple(change(x) for x in marker.p))  # type: ignore[arg-type]


def _is_rounded(R: Sequence[Sequence[Any]]) -> bool:
    """Some entries are floats next to which nothing simple is; all are numbers."""
    entries = [x for row in R for x in row]
    is_open = any(isinstance(x, float) and simple_number(x) is None for x in entries)
    return is_open and not any(isinstance(x, Expr) for x in entries)


def _near_rotation(R: Sequence[Sequence[Any]]) -> Any:
    """The exact rotation next to one in floats, whose entries satisfy R Rᵀ = 1 up to rounding:
    that of a quaternion of rational numbers, of any length."""
    e = [Fraction(float(x)) for x in quaternion_of([[float(x) for x in row] for row in R])]
    size = sum((x * x for x in e), Fraction(0))
    turn = rotation_quaternion(e) - identity(3)
    return tuple(tuple(int(i == j) + turn[i][j] / size for j in range(3)) for i in range(3))


class _Exact:
    """Takes a scalar of a description to an exact one."""

    def __init__(self, values: Mapping[Expr, Expr], notes: list[str]) -> None:
        self.values, self.notes = values, notes

    def __call__(self, x: Any) -> Any:
        if isinstance(x, Expr):
            values = {s: self.values[s] for s in symbols_of([x]) if s in self.values}
            return substitute(rewritten([x], _exact_constant), values)[0]
        if not isinstance(x, float):
            return x
        guess, written = simple_number(x), as_written(x)
        note = "floats of the description were taken for the simple exact numbers near them"
        if guess is None:
            note = (
                "floats of the description are taken for exact numbers within 1e-15 of them, and "
            )
            note += "what is proved is proved of these"
        if guess != written and note not in self.notes:
            self.notes.append(note)
        return written if guess is None else guess


def _exact_constant(node: Expr) -> Expr | None:
    is_float = node.op == "const" and isinstance(node.a, float)
    return as_expr(as_written(node.a)) if is_float else None


def parameter_values(mechanism: Mechanism) -> dict[Expr, Expr]:
    """Exact values of parameters that have one, by symbol."""
    return {symbol(x.name): as_expr(as_written(x.value))
            for x in mechanism.parameters if x.value is not None}  # fmt: skip


def as_written(x: Any) -> Any:
    """A float as the decimal that it is written as; other numbers as they are.

    Sums and products of floats would be rounded, and what they make exact is another position.
    """
    if isinstance(x, float) and not isfinite(x):
        raise ModelError(f"{x} is held; a coordinate is a finite number.")
    return Fraction(repr(float(x))) if isinstance(x, float) else x


def _starts(mechanism: Mechanism) -> dict[str, Any]:
    """The author's starts, and what imposed motions and couplings ask of other coordinates."""
    values = parameter_values(mechanism) | {symbol("t"): as_expr(0)}
    relations = [x for x in mechanism.constraints if isinstance(x, OfCoordinates)]
    starts = {start.label: start.value for start in mechanism.starts}
    return implied_starts(relations, starts, lambda x: substitute([as_expr(x)], values)[0])


@final
class Placing:
    """Bodies being placed, one after the other."""

    def __init__(
        self, mechanism: Mechanism, q: Mapping[str, float] | None,
        poses: Mapping[str, Any] | None, notes: list[str], within: float = NEAR,
    ) -> None:  # fmt: skip
        self.mechanism, self.q, self.near, self.notes = mechanism, q, poses, notes
        self.within = within  # of floats simple numbers are looked for
        self.starts = _starts(mechanism)
        self.used: set[str] = set()
        self.poses: dict[str, Transform] = {"ground": (identity(3), zeros(3))}

    def place(self) -> None:
        """Places every body: along a joint whose coordinates are exact, or where it lies."""
        self._spread(only_started=True)
        self._spread(only_started=False)
        for body in self.mechanism.bodies:
            if body.name not in self.poses:
                self._lying(body.name)
                self._spread(only_started=False)

    def _spread(self, *, only_started: bool) -> None:
        """Places bodies along joints from those placed; `only_started`: joints with starts only."""
        count = 0
        while count < len(self.poses):
            count = len(self.poses)
            for joint in self.mechanism.joints:
                if not only_started or all(label in self.starts for label in joint.coordinates):
                    self._along(joint)

    def _along(self, joint: Joint) -> None:
        a, b = joint.predecessor.body, joint.successor.body
        if (a in self.poses) == (b in self.poses):
            return
        q = self.coordinates(joint)
        if q is None:
            return
        X = across(joint, q)
        self.used.add(joint.name)
        if a in self.poses:
            self.poses[b] = compose(*self.poses[a], *X)
        else:
            self.poses[a] = compose(*self.poses[b], *inverse(*X))

    def _lying(self, body: str) -> None:
        """Places the body at its pose in floats."""
        if self.near is None:
            raise DerivationError(f"body '{body}' is nowhere by the starts alone.")
        R, p = self.near[body]
        turned = simple_rotation(R, self.within)
        at = [simple_number(float(x), self.within) for x in p]
        if turned is None or any(x is None for x in at):
            raise DerivationError(f"no simple exact place is near that of body '{body}'.")
        self.notes.append(f"body '{body}' was taken to lie exactly where assembly put it")
        self.poses[body] = turned, array(at)

    def coordinates(self, joint: Joint) -> list[Any] | None:
        """Exact coordinates of a joint near those assembled; None if some are not simple."""
        if joint.type.nq != joint.type.nv:
            return self._neutral(joint)
        coordinates = []
        units, neutral = joint.type.coordinate_units, joint.type.neutral()
        for label, unit, zero in zip(joint.coordinates, units, neutral, strict=True):
            value = self._coordinate(label, unit, zero)
            if value is None:
                return None
            coordinates.append(value)
        return coordinates

    def _neutral(self, joint: Joint) -> list[Any] | None:
        """The default zero position of a joint with an attitude."""
        if self.q is not None or any(label in self.starts for label in joint.coordinates):
            return None
        return list(joint.type.neutral())

    def _coordinate(self, label: str, unit: str, zero: Any = 0) -> Any:
        start = self.starts.get(label, zero)
        if self.q is None:
            return start
        if label not in self.q:
            return start if label in self.starts else None
        x = self.q[label]
        if abs(float_of(start) - x) < 1e-9 * max(1.0, abs(x)):
            return start
        simple = simple_angle if unit == "rad" else simple_number
        guess = simple(x, self.within)
        if guess is None and self.within > NEAR:  # it may be any number, if the joints hold
            return as_written(x)
        if guess is not None:
            note = f"coordinate '{label}' = {x:.12g} was taken for {to_text(as_expr(guess))}"
            self.notes += [note] if note not in self.notes else []
        return guess

    def values_by_label(self) -> dict[str, Any]:
        """Exact coordinates by label, as far as they are known."""
        values: dict[str, Any] = {}
        for joint in self.mechanism.joints:
            is_exact = self.q is not None or all(x in self.starts for x in joint.coordinates)
            q = self.coordinates(joint) if is_exact or not self._is_cut(joint) else None
            values |= dict(zip(joint.coordinates, q, strict=True)) if q is not None else {}
        return values

    def _is_cut(self, joint: Joint) -> bool:
        """No body was placed along this joint, so that its coordinates are not known."""
        return joint.name not in self.used

    def motions(self, joint: Joint) -> tuple[Motion, ...]:
        """Its elementary motions, at home."""
        F, M = markers_of(joint, self.poses)
        return tuple(motions_of(joint, F, M, self.coordinates(joint)))

    def closure(self) -> list[Expr]:
        """Closure residuals of each joint, and orthogonality of the markers' axes."""
        residuals: list[Any] = []
        for joint in self.mechanism.joints:
            F, M = markers_of(joint, self.poses)
            if isinstance(joint.type, Revolute):
                residuals += [*(M[1] - F[1]), *cross(F[0][:, 2], M[0][:, 2])]
            else:
                residuals += joint.type.residual(*compose(*inverse(*F), *M)) or []
        return [as_expr(x) for x in residuals if not _is_zero(x)]

    def is_upright(self) -> bool:
        """No joint is put together the wrong way round."""
        formulas: list[Any] = []
        for joint in self.mechanism.joints:
            F, M = markers_of(joint, self.poses)
            formulas += joint.type.positive(*compose(*inverse(*F), *M))
        return all(float_of(x) > 0 for x in formulas)


def markers_of(joint: Joint, poses: Mapping[str, Transform]) -> tuple[Transform, Transform]:
    """The poses of a joint's two markers."""
    first, second = joint.predecessor, joint.successor
    F = compose(*poses[first.body], first.rotation, first.position)
    return F, compose(*poses[second.body], second.rotation, second.position)


def across(joint: Joint, q: Sequence[Any]) -> Transform:
    """The successor body in the predecessor's axes; without roots where both markers are alike."""
    first, second = joint.predecessor, joint.successor
    alike = first.R == second.R and isinstance(
        joint.type, Revolute | Prismatic | Cylindrical | Helical
    )
    if not alike:
        X = compose(first.rotation, first.position, *joint.type.pose(array(list(q))))
        return compose(*X, *inverse(second.rotation, second.position))
    axis = first.rotation[:, 2]
    slide = joint.type.pose(array(list(q)))[1][2]
    turn = 0 if isinstance(joint.type, Prismatic) else q[0]
    R = identity(3) if isinstance(turn, int) and turn == 0 else rotation_about(axis, turn)
    shift = array([a * slide for a in axis]) if not _is_zero(slide) else zeros(3)
    return R, first.position + shift - product(R, second.position)


def _is_zero(x: Any) -> bool:
    return isinstance(x, int) and x == 0
