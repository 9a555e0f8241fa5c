"""Mass geometry of a rigid body: mass, center, the tensors I and P, and what follows from them.

    I = ∫ (|x|² 1 − x xᵀ) dm        P = ∫ x xᵀ dm = ½ tr(I) 1 − I

Entries are numbers or formulas; principal frames, ellipsoids and the judgement of validity need
numbers.

Public names: Inertia, product_tensor, inertia_violation, box_tensor, cylinder_tensor,
sphere_tensor, capsule_tensor, cone_tensor.

Source: LL 1.4.
Differs: LL 1.4.4 prints −ũ² = 1 + uuᵀ; it is 1 − uuᵀ. I and P are positive semi-definite.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import numpy as np

from liaison.errors import FrameError, ModelError
from liaison.lazy import Shown

from . import plucker
from .arrays import Array, Entries, array, cross, dot, minus, plus, product, times, unit, zeros
from .vectors import Acceleration, Frame, Momentum, Pose, Twist, Wrench

ROUNDING = 1e-5
"""Part of tr(I) by which the triangle inequality may fail: a plate with five digits passes."""


def product_tensor(I: Array) -> Array:
    """P = ½ tr(I) 1 − I, about the same point."""
    half = times(_HALF, plus(plus(I[0, 0], I[1, 1]), I[2, 2]))
    return array([[minus(half if i == j else 0, I[i, j]) for j in range(3)] for i in range(3)])


_HALF = Fraction(1, 2)


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Inertia(Shown):
    """Mass, center of mass and rotational inertia of a body, expressed in one frame fixed on it.

    (opérateur d'inertie)
    """

    frame: Frame
    mass: Any  # [kg]
    com: Array  # center of mass in the frame [m], shape (3,)
    rotational: Array  # I about the center of mass, in the frame's axes [kg·m²], shape (3, 3)

    @classmethod
    def point_mass(cls, frame: Frame, mass: Any, at: Any) -> Inertia:
        """All the mass in one point."""
        return cls(frame, mass, array(list(at)), zeros(3, 3))

    @classmethod
    def massless(cls, frame: Frame) -> Inertia:
        """A body without mass."""
        return cls(frame, 0, zeros(3), zeros(3, 3))

    def about(self, point: Any) -> Array:
        """I about a point: I_G + m (|d|² 1 − d dᵀ), d from G to the point (Huygens)."""
        d = array([minus(a, b) for a, b in zip(point, self.com, strict=True)])
        return _plus_matrix(self.rotational, _huygens(self.mass, d))

    def product_tensor(self, point: Any = None) -> Array:
        """P about a point, by default about the center of mass."""
        return product_tensor(self.rotational if point is None else self.about(point))

    def moment_about_point(self, point: Any) -> Any:
        """∫ |x − point|² dm = tr P."""
        P = self.product_tensor(point)
        return plus(plus(P[0, 0], P[1, 1]), P[2, 2])

    def moment_about_axis(self, point: Any, direction: Entries) -> Any:
        """∫ (distance to the axis)² dm = uᵀ I u."""
        u = unit(direction)
        return dot(u, product(self.about(point), u))

    def moment_about_plane(self, point: Any, normal: Entries) -> Any:
        """∫ (distance to the plane)² dm = uᵀ P u."""
        u = unit(normal)
        return dot(u, product(self.product_tensor(point), u))

    @property
    def at_origin(self) -> tuple[Any, Array, Array]:
        """(m, m c, I) about the frame's origin: what the sweeps use."""
        return self.mass, array([times(self.mass, c) for c in self.com]), self.about(zeros(3))

    def moved(self, X: Pose) -> Inertia:
        """The same body, expressed in X.relative_to."""
        if self.frame != X.of:
            raise FrameError(f"{X} cannot act on {self}: it must be expressed in '{X.of}'.")
        turned = product(product(X.R, self.rotational), X.R.T)
        return Inertia(X.relative_to, self.mass, X.point(self.com), turned)

    def __str__(self) -> str:
        return f"I in {self.frame}"

    def __add__(self, other: Inertia) -> Inertia:
        """Two bodies fixed to each other; numbers only where both masses could vanish."""
        if other.frame != self.frame:
            raise FrameError(
                f"cannot add {other} to {self}: the second must be expressed in '{self.frame}'."
            )
        mass = plus(self.mass, other.mass)
        if not hasattr(mass, "op") and mass == 0:
            return Inertia(self.frame, 0, self.com, _plus_matrix(self.rotational, other.rotational))
        com = [
            plus(times(self.mass, a), times(other.mass, b)) / mass
            for a, b in zip(self.com, other.com, strict=True)
        ]
        return Inertia(
            self.frame, mass, array(com), _plus_matrix(self.about(com), other.about(com))
        )

    def apply(self, motion: Twist | Acceleration) -> Momentum | Wrench:
        """I V, a momentum; or I A, the wrench that gives this acceleration to the body at rest."""
        if motion.expressed_in != self.frame:
            raise FrameError(
                f"cannot apply {self} to {motion}: the second must be expressed in '{self.frame}'."
            )
        vector = plucker.apply_inertia(*self.at_origin, motion.vector)
        if isinstance(motion, Twist):
            return Momentum(motion.of, self.frame, vector)
        return Wrench(motion.of, self.frame, vector)

    def rate_of_momentum(self, V: Twist, A: Acceleration) -> Wrench:
        """I A + V ×* I V: the wrench that moves the body so (torseur dynamique)."""
        there = self.apply(A).vector + plucker.cross_force(V.vector, self.apply(V).vector)
        return Wrench(A.of, self.frame, there)

    def kinetic_energy(self, V: Twist) -> Any:
        """T = ½ V · I V [J]."""
        return times(_HALF, dot(V.vector, self.apply(V).vector))

    def koenig_energy(self, V: Twist) -> tuple[Any, Any]:
        """(½ m v_G², ½ ωᵀ I_G ω): T of the center, and T about it; their sum is T.

        Source: LL 1.3 (Koenig).
        """
        v_G = V.torsor(self.com).moment
        omega = V.vector[:3]
        about = dot(omega, product(self.rotational, omega))
        return times(_HALF, times(self.mass, dot(v_G, v_G))), times(_HALF, about)

    def koenig_moment(self, V: Twist, point: Any) -> tuple[Array, Array]:
        """(AG × m v_G, I_G ω): the angular momentum about A in its two parts."""
        v_G = V.torsor(self.com).moment
        arm = array([minus(a, b) for a, b in zip(self.com, point, strict=True)])
        return cross(arm, array([times(self.mass, a) for a in v_G])), product(
            self.rotational, V.vector[:3]
        )

    def principal(self, point: Any = None) -> tuple[Pose, Array]:
        """Principal frame about a point (the center if none), and its moments in rising order."""
        tensor = self.rotational if point is None else self.about(point)
        moments, axes = np.linalg.eigh(np.asarray(tensor, dtype=float))
        if np.linalg.det(axes) < 0:
            axes[:, 2] = -axes[:, 2]
        origin = np.asarray(self.com if point is None else array(list(point)), dtype=float)
        return Pose(Frame(f"{self.frame} principal"), self.frame, axes, origin), moments

    def ellipsoid(self, point: Any = None) -> tuple[Pose, Array]:
        """Frame and half-axes 1/√I_k of {x : xᵀ I x = 1}, infinite where there is no inertia."""
        frame, moments = self.principal(point)
        small = ROUNDING * 1e-7 * max(float(np.max(np.abs(moments))), 1e-300)
        half_axes = [1 / np.sqrt(m) if m > small else np.inf for m in moments]
        return frame, np.array(half_axes)

    def check(self, name: str = "") -> None:
        """Raises an error for impossible distributions of mass (numbers only).

        Raises:
            ModelError: with the inequality that fails and its values.
        """
        violation = inertia_violation(self.mass, self.rotational)
        if violation:
            raise ModelError(f"the inertia of '{name or self.frame}' is impossible: {violation}")


def inertia_violation(mass: Any, rotational: Any) -> str:
    """The reason why this mass and tensor about the center of mass are impossible; "" if none.

    Valid means m ≥ 0, I symmetric and P = ½ tr(I) 1 − I ⪰ 0: no principal moment is larger than
    the sum of the other two. Rods, plates, points and massless bodies are valid.
    """
    tensor = np.asarray(rotational, dtype=float)
    if float(mass) < 0:
        return f"mass ≥ 0 fails, the mass is {float(mass):g} kg."
    slack = ROUNDING * max(float(np.sum(np.abs(np.diag(tensor)))), 1e-300)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(tensor[i, j] - tensor[j, i]) > slack:
            axes = "xyz"[i] + "xyz"[j]
            upper, lower = f"I{axes} = {tensor[i, j]:g}", f"I{axes[::-1]} = {tensor[j, i]:g}"
            return f"symmetry fails, {upper} and {lower} kg·m²."
    A, B, C = np.linalg.eigvalsh(tensor)
    if slack < -A:
        return f"principal moments ≥ 0 fails, they are {A:g}, {B:g}, {C:g} kg·m²."
    if slack < C - A - B:
        return (
            f"largest principal moment ≤ sum of the other two fails, "
            f"{C:g} > {A:g} + {B:g} = {A + B:g} kg·m²."
        )
    return ""


def box_tensor(mass: Any, sizes: Entries) -> Array:
    """I about the center of a full box with edges (a, b, c) along x, y, z."""
    a, b, c = (times(times(mass, s), times(s, Fraction(1, 12))) for s in sizes)
    return _diagonal(plus(b, c), plus(a, c), plus(a, b))


def cylinder_tensor(mass: Any, radius: Any, length: Any) -> Array:
    """I about the center of a full cylinder along z."""
    round_part = times(times(mass, radius), times(radius, Fraction(1, 4)))
    long_part = times(times(mass, length), times(length, Fraction(1, 12)))
    return _diagonal(plus(round_part, long_part), plus(round_part, long_part), 2 * round_part)


def sphere_tensor(mass: Any, radius: Any) -> Array:
    """I about the center of a full ball."""
    moment = times(times(mass, radius), times(radius, Fraction(2, 5)))
    return _diagonal(moment, moment, moment)


def capsule_tensor(mass: Any, radius: Any, length: Any) -> Array:
    """I about the center of a full capsule along z: a cylinder, and half a ball at each end.

    With shares k l and k 4r/3 of the mass, 1/k = l + 4r/3, and half balls whose centers are 3r/8
    beyond the ends of the cylinder,

        I_z = m k (l r²/2 + 8 r³/15),
        I_x = m k (l (l²/12 + r²/4) + (4 r/3) (2 r²/5 + l²/4 + 3 l r/8)).

    Args:
        mass: [kg].
        radius: r [m].
        length: l between the centers of its ends [m].
    """
    tube, ball = length, times(radius, Fraction(4, 3))
    share = mass / plus(tube, ball)
    square, long = times(radius, radius), times(length, length)
    along = plus(times(tube, times(square, Fraction(1, 2))),
                 times(ball, times(square, Fraction(2, 5))))  # fmt: skip
    wide = plus(times(long, Fraction(1, 12)), times(square, Fraction(1, 4)))
    ends = plus(
        plus(times(square, Fraction(2, 5)), times(long, Fraction(1, 4))),
        times(times(length, radius), Fraction(3, 8)),
    )
    across = times(share, plus(times(tube, wide), times(ball, ends)))
    return _diagonal(across, across, times(share, along))


def cone_tensor(mass: Any, radius: Any, height: Any) -> Array:
    """I of a full cone along z about its center of mass, a quarter of the height above the base."""
    round_part = times(times(mass, radius), times(radius, Fraction(3, 20)))
    long_part = times(times(mass, height), times(height, Fraction(3, 80)))
    return _diagonal(plus(round_part, long_part), plus(round_part, long_part), 2 * round_part)


def _diagonal(x: Any, y: Any, z: Any) -> Array:
    return array([[x, 0, 0], [0, y, 0], [0, 0, z]])


def _huygens(mass: Any, d: Array) -> Array:
    """m (|d|² 1 − d dᵀ)."""
    square = dot(d, d)
    return array(
        [
            [times(mass, minus(square if i == j else 0, times(d[i], d[j]))) for j in range(3)]
            for i in range(3)
        ]
    )


def _plus_matrix(A: Array, B: Array) -> Array:
    return array([[plus(A[i, j], B[i, j]) for j in range(3)] for i in range(3)])
