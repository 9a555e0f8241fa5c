"""linearize: small motions about an equilibrium, a steady motion, or any instant of a motion.

    d/dt (ξ, δv) = A (ξ, δv) + B δu                                             (analysis-3)

in coordinates that determine all others, so that the closures, holonomic or not, hold to first
order. Derivatives are generated; nothing is differenced. For nonholonomic mechanisms there are more
positions than speeds.

Derivatives of the equations at a state: that there are some, the same on every side of it.

Public names: Linearization, linearize, parts_of, eigenvalue_noise, check_differentiable,
check_no_corner.

Source: PGH15 §3 (linearisation of constrained systems by independent coordinates and speeds).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ModelError, NamingError, SimulationError
from liaison.expr import evaluate, switches, symbols_of
from liaison.lazy import Shown
from liaison.numeric import Array, State
from liaison.program import Kernel, Program
from liaison.units import Label

from .local import Local, check_closed, local
from .open_sides import check_inactive_here

ZERO = 1e-12
"""A condition of a choice counts as met by both sides up to this, relative to 1."""

BESIDE = 1e-8
"""How far beside the state slopes are compared [m, rad, m/s, rad/s]."""

NEARER, SAME = 100.0, 0.9
"""A difference of two sides that is kept to this part so much nearer is that of a corner."""

UNSEEN = 1e-12
"""Slopes and forces below this part of the largest are rounding."""


def check_differentiable(here: Local, by: Sequence[str]) -> None:
    """Raises an error where the equations have no value or no derivative at a state.

    Args:
        here: the mechanism at the state.
        by: names of arrays, among q, v, u and p.
    """
    if not np.isfinite(here.forces).all():
        k = int(np.argmax(~np.isfinite(here.forces)))
        raise SimulationError(
            f"the force on {_row(here, k)!r} is {here.forces[k]} at this state.",
            hint="Look at where the formulas are defined (a root or a logarithm of a number that "
            "is not positive, 0/0), or take a state beside it.",
            status="not finite",
        )
    for name in by:
        bad = ~np.isfinite(here.residual_slopes[name])
        if bad.any():
            i, j = (int(x) for x in np.argwhere(bad)[0])
            raise SimulationError(
                f"the equation of {_row(here, i)!r} has no derivative by "
                f"{_column(here, name, j)!r} at this state: it is "
                f"{here.residual_slopes[name][i, j]}.",
                hint="A formula ends there or is steep without bound (a root, a power or a "
                "logarithm at 0, atan2(0, 0), asin at ±1, 0/0): take a state beside it.",
                status="not finite",
            )


def check_no_corner(here: Local) -> None:
    """Raises an error at a state where abs, min, max, sign or if have one slope on each side."""
    if not _is_on_a_border(here):
        return
    x = np.concatenate(here.solution)
    steep = UNSEEN * np.max(np.abs(_slopes(here, x)))
    weight = UNSEEN * np.max(np.abs(here.weights), initial=0.0)
    for k in range(2 * here.nv):
        column = _column(here, "q" if k < here.nv else "v", k % here.nv)
        far, near = _sides(here, k, BESIDE), _sides(here, k, BESIDE / NEARER)
        slopes = [_slopes(side, x)[:, k] for side in (*far, *near)]
        i = _kept(slopes, steep)
        if i >= 0:
            raise SimulationError(
                f"the equation of {_row(here, i)!r} has a corner at this state: its derivative by "
                f"{column!r} is {slopes[2][i]:.6g} on one side and {slopes[3][i]:.6g} on the "
                "other.",
                hint="Small motions about it are not linear. Take a state beside it, or a formula "
                "without the corner.",
                status="inconsistent",
            )
        forces = [side.forces for side in (*far, *near)]
        i = _kept(forces, weight)
        if i >= 0:
            raise SimulationError(
                f"the force on {_row(here, i)!r} jumps at this state, from {forces[2][i]:.6g} to "
                f"{forces[3][i]:.6g} along {column!r}.",
                hint="Small motions about it are not linear. Take a state beside it, or a formula "
                "without the jump.",
                status="inconsistent",
            )


def _kept(sides: Sequence[Array], least: float) -> int:
    """The entry whose sides differ near the state as they do further away; −1 if none does."""
    far, near = np.abs(sides[1] - sides[0]), np.abs(sides[3] - sides[2])
    kept = np.where((near > least) & (near > SAME * far), near, 0.0)
    return int(np.argmax(kept)) if kept.any() else -1


def _is_on_a_border(here: Local) -> bool:
    """Whether some condition of a choice vanishes at the state."""
    program, state = here.kernel.program, here.state
    if "terms" not in program.entries:
        return False
    conditions = switches(program.entries["terms"].outputs)
    arrays = {"t": np.array([state.t]), "q": state.q, "v": state.v, "u": here.u, "p": here.p}
    values = {}
    for x in symbols_of(conditions):
        name, k = program.inputs[x]
        values[x] = float(arrays[name][k])
    return any(abs(float(c)) <= ZERO for c in evaluate(conditions, values))


def _sides(here: Local, k: int, by: float) -> tuple[Local, Local]:
    """The mechanism on both sides of the state, along a coordinate or, from nv on, a velocity."""
    state, unit = here.state, np.eye(here.nv)[k % here.nv]
    if k >= here.nv:
        return _at(here, state.q, state.v - by * unit), _at(here, state.q, state.v + by * unit)
    pair = [next(iter(here.call("retract", x).values())) for x in (-by * unit, by * unit)]
    return _at(here, pair[0], state.v), _at(here, pair[1], state.v)


def _at(here: Local, q: Array, v: Array) -> Local:
    return replace(here, state=replace(here.state, q=q, v=v))


def _slopes(here: Local, x: Array) -> Array:
    """Derivatives of the equations by q and v, at v̇ and λ of another state."""
    blocks = here.call("d_residual", x)
    rows = here.nv + here.nc
    return np.hstack([blocks[name].reshape(rows, -1) for name in ("r_q", "r_v")])


def _column(here: Local, array: str, k: int) -> str:
    """The coordinate, velocity, input or parameter of a column."""
    name = here.kernel.program.labels["v" if array == "q" else array][k].name
    return name.removesuffix("'") if array == "q" else name


def _row(here: Local, k: int) -> str:
    """The velocity or the multiplier of an equation."""
    labels = here.kernel.program.labels
    return (*labels["v"], *labels["lam"])[k].name


Complex = NDArray[np.complex128]

COUPLED = 1e-9
"""States left out of a part must enter it less than this, relative to the largest entry of A."""
SLOW = 1e-6
"""Growth [1/s] that is none: of eigenvalues at zero, and of what takes days."""
NULL, DRIFT = 1e-11, 1e-6
"""Singular values that are none: of A, relative to the largest; of left by right null vectors."""
ROUNDING = 1e-13
"""Part of the largest eigenvalue that is rounding of one at zero."""

UNDAMPED = 1e-9
"""Growth, relative to the eigenvalue, that is none."""
PERTURBED = 1e-14
"""Relative error of the entries of A."""
METHOD = 64 * float(np.finfo(float).eps)
"""Error of the eigenvalues of a balanced matrix, relative to its norm."""
ROUNDING = 1e-32
"""Entries of A below this, relative to the largest, are zeros: they keep LAPACK from converging."""


@final
@dataclass(frozen=True, repr=False)
class Linearization(Shown):
    """Small motions about a state: matrices, labels, eigenvalues and the shapes of the modes.

    Args:
        A: shape (n, n); B: (n, inputs); C: (outputs, n); D: (outputs, inputs).
        labels: of the n states, positions first; units in them.
        shapes: all coordinates, then all velocities, for a unit of each state, shape (2 nv, n).
        everything: labels of all coordinates and velocities, in the order of `shapes`.
        mass: inertia of the independent velocities, in their order among the labels.
        steadiness: largest |v̇| there: 0 for an equilibrium or a steady motion.
        inputs, outputs: labels of the columns of B and the rows of C; an output that has no
            derivative there (a square root at zero) is left out.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    labels: tuple[Label, ...]
    shapes: Array
    everything: tuple[Label, ...]
    mass: Array
    positions: int
    steadiness: float
    inputs: tuple[Label, ...] = ()
    outputs: tuple[Label, ...] = ()

    @cached_property
    def _eig(self) -> tuple[Complex, Complex, Array]:
        """Eigenvalues, eigenvectors, and what rounding is worth in each eigenvalue [1/s]."""
        n = len(self.A)
        values = np.zeros(n, dtype=complex)
        vectors = np.zeros((n, n), dtype=complex)
        noise = np.zeros(n)
        # states that do not act on each other apart: a stiff part takes no digits from others
        for part in parts_of(self.A):
            block = self.A[np.ix_(part, part)]
            size = np.max(np.abs(block), initial=0.0)
            block = np.where(np.abs(block) > ROUNDING * size, block, 0.0)
            values[part], inner = np.linalg.eig(block.astype(complex))
            vectors[np.ix_(part, part)] = inner
            noise[part] = eigenvalue_noise(block, inner)
        order = np.lexsort((values.imag, np.abs(values.imag), values.real))[::-1]
        return values[order], vectors[:, order], noise[order]

    @property
    def eigenvalues(self) -> Complex:
        """Of A [1/s], the least stable first."""
        return self._eig[0]

    @property
    def modes(self) -> Complex:
        """Shapes of the modes: everything, column by column, the largest entry of each 1."""
        full: Complex = self.shapes @ self._eig[1]
        most = np.take_along_axis(full, np.argmax(np.abs(full), axis=0)[None], axis=0)
        return full / np.where(most == 0, 1, most)

    @property
    def frequencies(self) -> Array:
        """|Im s|/2π of the eigenvalues [Hz]."""
        return np.abs(self.eigenvalues.imag) / (2 * np.pi)

    @property
    def damping(self) -> Array:
        """−Re s/|s| of the eigenvalues; 0 for those at zero, as far as rounding lets it be seen."""
        values, _, noise = self._eig
        size = np.abs(values)
        is_some = size > np.maximum(noise, ROUNDING * np.max(size, initial=0.0))
        return np.where(is_some, -values.real / np.where(is_some, size, 1), 0.0)

    @property
    def is_stable(self) -> bool:
        """No eigenvalue grows faster than rounding lets it seem to, or than SLOW; see `drifts`."""
        values, _, noise = self._eig
        allowed = np.maximum(np.maximum(SLOW, UNDAMPED * np.abs(values)), noise)
        return bool(np.all(values.real <= allowed))

    @property
    def drifts(self) -> tuple[str, ...]:
        """Positions that go on at a constant rate once pushed: 0 is an eigenvalue twice.

        `is_stable` does not count them: they grow in proportion to time, not faster.
        """
        names: dict[str, None] = {}
        for part in parts_of(self.A):
            block = self.A[np.ix_(part, part)]
            left, s, right = np.linalg.svd(block)
            rank = int(np.count_nonzero(s > NULL * max(1.0, s[0])))
            # shapes at eigenvalue 0 that are a rate of others, too: in the range of A
            _, s, Vt = np.linalg.svd(left[:, rank:].T @ right[rank:].T)
            for shape in Vt[s < DRIFT] @ right[rank:]:
                most = np.max(np.abs(shape))
                large = [k for k, x in zip(part, shape, strict=True) if abs(x) > 1e-6 * most]
                names |= {self.labels[k].name: None for k in large if k < self.positions}
        return tuple(names)

    def part(self, *names: str) -> Linearization:
        """Some of the states alone, in that order, where the others do not act on them.

        Raises:
            NamingError: no state has that name.
            ModelError: another state acts on them.
        """
        known = [label.name for label in self.labels]
        for name in names:
            if name not in known:
                raise NamingError.unknown("state", name, known)
        keep = [known.index(name) for name in names]
        self._check_alone(keep)
        speeds = [k - self.positions for k in keep if k >= self.positions]
        return Linearization(
            self.A[np.ix_(keep, keep)], self.B[keep], self.C[:, keep], self.D,
            tuple(self.labels[k] for k in keep), self.shapes[:, keep], self.everything,
            self.mass[np.ix_(speeds, speeds)], sum(k < self.positions for k in keep),
            self.steadiness, self.inputs, self.outputs,
        )  # fmt: skip

    def _check_alone(self, keep: Sequence[int]) -> None:
        rest = [k for k in range(len(self.A)) if k not in keep]
        size = np.max(np.abs(self.A), initial=0.0)
        for k in rest:
            i = int(np.argmax(np.abs(self.A[keep, k])))
            if abs(self.A[keep[i], k]) > COUPLED * size:
                raise ModelError(
                    f"{self.labels[k].name!r} acts on {self.labels[keep[i]].name!r}; these states "
                    "do not move alone.",
                    hint=f"Take {self.labels[k].name!r} into the part, too.",
                )

    @property
    def second_order(self) -> tuple[Array, Array, Array]:
        """M, C and K of M q̈ + C q̇ + K q = 0, for as many positions as speeds of the same names."""
        n = self.positions
        names = [label.name for label in self.labels]
        if [f"{x}'" for x in names[:n]] != names[n:]:
            raise ModelError(
                "positions and speeds of these states do not match: there is no equation of second "
                f"order; they are {', '.join(names)}."
            )
        return self.mass, -self.mass @ self.A[n:, n:], -self.mass @ self.A[n:, :n]

    def to_dict(self) -> dict[str, Any]:
        """Plain data: labels, matrices, eigenvalues and modes as (real, imaginary)."""
        return {
            "states": [str(x) for x in self.labels],
            "inputs": [str(x) for x in self.inputs],
            "outputs": [str(x) for x in self.outputs],
            "A": self.A.tolist(), "B": self.B.tolist(), "C": self.C.tolist(), "D": self.D.tolist(),
            "eigenvalues": _pair(self.eigenvalues),
            "frequencies_Hz": self.frequencies.tolist(), "damping": self.damping.tolist(),
            "everything": [str(x) for x in self.everything], "modes": _pair(self.modes),
            "steadiness": self.steadiness, "is_stable": self.is_stable,
        }  # fmt: skip


def parts_of(A: Array) -> list[list[int]]:
    """States of a linear system in parts that do not act on each other."""
    joined = (A != 0) | (A.T != 0)
    left, parts = set(range(len(A))), []
    while left:
        part, new = set[int](), {min(left)}
        while new:
            part |= new
            new = {int(j) for i in new for j in np.flatnonzero(joined[i])} - part
        parts.append(sorted(part))
        left -= part
    return parts


def eigenvalue_noise(A: Array, vectors: Complex) -> Array:
    """How far errors of PERTURBED in every entry, and those of the method, move each eigenvalue.

    |δs_k| ≤ |y_k| |δA| |x_k| with y_k x_k = 1; where A has no basis of eigenvectors, as for what
    moves freely, the bound is as large as such eigenvalues are sensitive.
    """
    from scipy.linalg import matrix_balance

    left = np.linalg.pinv(vectors, rcond=1e-15)
    by_entry = np.einsum("ki,ij,jk->k", np.abs(left), np.abs(A), np.abs(vectors))
    balanced = matrix_balance(A, permute=False)
    return np.asarray(PERTURBED * by_entry + METHOD * np.linalg.norm(balanced[0]))


def _pair(z: Complex) -> list[Any]:
    return [z.real.tolist(), z.imag.tolist()]


def linearize(
    kernel: Kernel,
    state: State,
    *,
    inputs: Mapping[str, float] | None = None,
    parameters: Array | None = None,
    independent: Sequence[str] = (),
) -> Linearization:
    """Small motions about a state of a mechanism.

    Args:
        kernel: of the mechanism.
        state: an equilibrium (`equilibrium` finds one), a steady motion, or any state; then A is
            that of the instant.
        inputs: values by name instead of the defaults.
        parameters: values in order instead of the defaults.
        independent: coordinates that determine the others, as far as they can.

    Raises:
        SimulationError: a unilateral constraint is closed there, or the equations have no
            derivative at the state, or one on each side of it.
    """
    here = local(kernel, state, inputs=inputs, parameters=parameters, preferred=independent)
    check_closed(here)
    check_inactive_here(here, "linearize")
    check_differentiable(here, ("q", "v", "u"))
    check_no_corner(here)
    nv, labels = here.nv, kernel.program.labels
    states = state_places(kernel.program)
    kept = [k for k, j in enumerate(here.positions.chosen) if j not in states]
    count = len(here.positions.chosen)
    all_shapes = shapes_of(here)
    shapes = all_shapes[:, [*kept, *range(count, all_shapes.shape[1])]]
    slopes, tangent = here.residual_slopes, here.tangent
    by_state = np.hstack([slopes["q"], slopes["v"]]) @ shapes
    vdot, _ = here.solved(-by_state[:nv], -by_state[nv:])
    vdot_u, _ = here.solved(-slopes["u"][:nv], -slopes["u"][nv:])
    positions = [here.positions.chosen[k] for k in kept]
    rates = here.drift @ shapes[:nv] + shapes[nv:]
    speeds = list(here.velocities.chosen)
    slope = np.hstack([tangent["out_q"], tangent["out_v"]])
    smooth = np.all(np.isfinite(np.hstack([slope, tangent["out_u"]])), axis=1)
    C = np.where(smooth[:, None], slope, 0.0) @ shapes
    everything = (*map(coordinate_label, labels["v"]), *labels["v"])
    return Linearization(
        A=np.vstack([rates[positions], vdot[speeds]]),
        B=np.vstack([np.zeros((len(positions), len(here.u))), vdot_u[speeds]]),
        C=C[smooth],
        D=tangent["out_u"][smooth],
        labels=tuple(everything[k] for k in [*positions, *(nv + k for k in speeds)]),
        shapes=shapes,
        everything=everything,
        mass=here.reduced_mass,
        positions=len(positions),
        steadiness=float(np.max(np.abs(here.solution[0]), initial=0.0)),
        inputs=labels["u"],
        outputs=tuple(x for x, good in zip(labels["outputs"], smooth, strict=True) if good),
    )


def state_places(program: Program) -> frozenset[int]:
    """Places in v of states of loads, which have no coordinate."""
    charts = (x for x in program.facts.get("charts", ()) if x.kind == "state")
    return frozenset(k for x in charts for k in range(x.v.start, x.v.stop))


def shapes_of(here: Local) -> Array:
    """All of (ξ, δv) for a unit of each independent one, by (analysis-2)."""
    Zq, Zv = here.positions.basis, here.velocities.basis
    above = np.hstack([Zq, np.zeros((here.nv, Zv.shape[1]))])
    return np.vstack([above, np.hstack([here.change, Zv])])


def coordinate_label(speed: Label) -> Label:
    """What a velocity changes: the coordinate whose rate it is, or its integral."""
    name = speed.name[:-1] if speed.name.endswith("'") else f"∫{speed.name}"
    return Label(name, speed.unit.removesuffix("/s"))
