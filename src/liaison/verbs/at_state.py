"""A mechanism at one state: its kernel, and the arrays of that state, for the verbs of `state`.

    M v̇ + h = τ + Gᵀ λ,    q̇ = N v

Positions and velocities are taken as they are when they are arrays, and assembled when they are
named: closed loops then close.

Public names: AtState, at_state, accelerations, Positions, Velocities, body_block, point_of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np
from numpy.typing import ArrayLike

from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.errors import ArgumentError, DerivationError, NamingError, SimulationError
from liaison.model.checks import check_with
from liaison.model.mechanism import Mechanism
from liaison.numeric import Array, State
from liaison.program.kernel import Kernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.lower import lower
from liaison.program.program import Program
from liaison.simulation.plan.plan import parameters_of
from liaison.tree.assemble import assemble
from liaison.tree.tree import span
from liaison.units import si_value

from .assembling import Assembling
from .given import Given, Value, in_seconds, in_si, mechanism_of
from .ready import STILL, accelerates_by_loops, assembled, check_state_of, looped_kernel

Positions: TypeAlias = State | Mapping[str, Value] | ArrayLike | None
"""A state; positions by label, the others assembled; an array (nq,); or the mechanism's start."""

Velocities: TypeAlias = Mapping[str, Value] | ArrayLike | None
"""Velocities by label, the others assembled; an array (nv,); or those of the state."""

LIMIT = 1e-6
"""Residual of the closures, relative to 1 + |γ|, above which no acceleration meets them."""

ROUNDED = 1e-15
"""Inertia for each velocity, beside that of its own, below which rounding alone gives it."""

MANY = 200
"""Velocities of the largest mechanism whose inertia is examined."""

OF_VELOCITIES = {
    "vdot": "the acceleration",
    "tau": "the force",
    "h": "the bias",
    "M": "the inertia",
}
"""What blocks with a row for each velocity are, in words."""

KEPT = 16
"""Mechanisms whose kernels are kept, so that a second call costs microseconds."""


@final
class Known:
    """A mechanism with its kernel, which closes its loops at starts in some microseconds."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism, self.tree = mechanism, span(mechanism)

    @cached_property
    def kernel(self) -> Kernel:
        """All entries, for any parameters."""
        return to_llvm(lower(newton_euler(self.tree)))

    @cached_property
    def looped(self) -> Kernel | None:
        """Loops over the nodes of a tree of many bodies, with its own parameters; else None."""
        return looped_kernel(self.tree, STILL)

    @cached_property
    def _assembling(self) -> Assembling:
        return Assembling(self.tree, self.kernel)

    def state(self, start: Mapping[str, float], parameters: Mapping[str, float], t: float) -> State:
        """The consistent state near starts."""
        if self.looped is not None and not parameters:
            return assembled(self.tree, self.looped, start, t=t)
        if not self.kernel.program.sizes["nc"]:
            return assemble(self.tree, parameters, t=t, guess=None, **start)
        return self._assembling.state(start, None, parameters, t=t)


_known: dict[int, Known] = {}


@final
@dataclass(frozen=True, slots=True)
class AtState:
    """A kernel with the arguments of its entries."""

    kernel: Kernel
    t: float
    q: Array
    v: Array
    u: Array
    p: Array

    @property
    def nv(self) -> int:
        """Velocities."""
        return len(self.v)

    def __call__(self, entry: str, x: ArrayLike = ()) -> dict[str, Array]:
        """The blocks of an entry here.

        Raises:
            SimulationError: some number of them is not finite.
        """
        blocks = self.kernel.call(entry, self.t, q=self.q, v=self.v, u=self.u, p=self.p, x=x)
        for name, block in blocks.items():
            if not np.isfinite(block).all():
                raise self._not_finite(entry, name, block)
        return blocks

    def _not_finite(self, entry: str, name: str, block: Array) -> SimulationError:
        """The error for a block that has no value here; names the velocity where there is one."""
        k = int(np.flatnonzero(~np.isfinite(block))[0])
        labels = self.kernel.program.labels["v"]
        of = f" of {labels[k % self.nv].name!r}" if name in OF_VELOCITIES and self.nv else ""
        return SimulationError(
            f"{OF_VELOCITIES.get(name, f'{name} of {entry}')}{of} is {block[k]} at this state.",
            hint="Look at where the formulas are defined (a root or a logarithm of a number that "
            "is not positive, 0/0), or take a state beside it.",
            status="not finite",
        )


def at_state(
    given: Given,
    q: Positions = None,
    v: Velocities = None,
    *,
    t: Value = 0.0,
    inputs: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Value] | None = None,
    loops: bool = False,
) -> AtState:
    """The mechanism at a state.

    Args:
        given: the mechanism, the path of its text, or the text; a Mechanism keeps its kernel.
        q: positions: see `Positions`.
        v: velocities: see `Velocities`.
        t: time [s], where the state does not say.
        inputs: values of inputs, by name.
        parameters: values of parameters, by name.
        loops: accelerations or poses are all that is needed: loops over nodes may do.
    """
    known = _known_of(given)
    looped = known.looped if loops and not parameters else None
    mechanism, tree, kernel = known.mechanism, known.tree, looped or known.kernel
    program = kernel.program
    t = in_seconds(t, "t")
    q = _numbers(mechanism, q, "q") if isinstance(q, Mapping) else q
    v = _numbers(mechanism, v, "v") if isinstance(v, Mapping) else v
    parameters = _numbers(mechanism, parameters, "parameters")
    inputs = _numbers(mechanism, inputs, "inputs")
    if parameters:
        check_with(mechanism, parameters)
    values = parameters_of(program, parameters)
    state = q if isinstance(q, State) else None
    if state is not None:
        if t not in (0.0, state.t):
            raise ArgumentError(f"t is {t:g} s, beside a state at {state.t:g} s; leave it out.")
        check_state_of(tree, state)
        if isinstance(v, Mapping):
            v = _assembled(known, state.q, v, parameters, state.t).v
    if state is None and (q is None or isinstance(q, Mapping) or isinstance(v, Mapping)):
        state = _assembled(known, q, v, parameters, t)
    if state is not None:
        t = state.t
        is_kept = q is None or isinstance(q, State | Mapping)
        q = state.q if is_kept else q
        v = state.v if v is None or isinstance(v, Mapping) else v
    arrays = {"q": q, "v": np.zeros(program.sizes["nv"]) if v is None else v}
    checked = {name: _array(program, name, x) for name, x in arrays.items()}
    if looped is not None:
        here = State(float(t), checked["q"], checked["v"])
        if not accelerates_by_loops(tree, looped, here, "at this state"):
            kernel = known.kernel
    return AtState(kernel, float(t), checked["q"], checked["v"], _inputs(kernel, inputs), values)


def body_block(state: AtState, entry: str, body: str, x: ArrayLike = ()) -> Array:
    """What an entry returns for one body.

    Raises:
        NamingError: no body has that name.
    """
    blocks = state(entry, x)
    if body not in blocks:
        raise NamingError.unknown("body", body, list(blocks))
    return blocks[body]


def accelerations(state: AtState) -> Array:
    """v̇ at the state, shape (nv,), with every load of the mechanism and closed loops.

    Raises:
        DerivationError: contacts or other unilateral constraints decide: simulate it instead; or a
            motion has no inertia there.
        SimulationError: the closures contradict each other, or the state is not on them.
    """
    sides = state.kernel.program.facts.get("sides", ())
    if sides:
        raise DerivationError(
            f"the accelerations of a mechanism with {sides[0][0]!r} depend on which unilateral "
            "constraints are closed: run it with `simulate` and series=('accelerations',).",
            hint="A robot from URDF or MJCF is read without its stops by limits=False.",
        )
    _check_inertia(state)
    blocks = state("forward")
    _check_closures(state, float(blocks["residual"][0]), blocks["vdot"])
    return blocks["vdot"]


def _check_inertia(state: AtState) -> None:
    """Rejects a state of an open mechanism with a motion whose inertia is lost in rounding."""
    program = state.kernel.program
    if program.sizes.get("nc", 0) or "mass_matrix" not in program.entries or state.nv > MANY:
        return
    M = next(iter(state("mass_matrix").values())).reshape(state.nv, state.nv)
    sizes = np.sqrt(np.abs(np.diag(M)))
    sizes[sizes == 0] = 1
    least, motions = np.linalg.eigh(M / np.outer(sizes, sizes))
    if state.nv and least[0] <= ROUNDED * state.nv:
        most = program.labels["v"][int(np.argmax(np.abs(motions[:, 0])))].name
        raise DerivationError(
            f"nothing gives {most!r} inertia at this state, so its acceleration is not determined.",
            hint="Give the body that it moves, or one it carries, a mass or an inertia about that "
            "motion; `liaison.massless_motions` lists all such motions.",
        )


def _check_closures(state: AtState, residual: float, vdot: Array) -> None:
    if not state.kernel.program.sizes.get("nc", 0):
        return
    closure = state("closure")
    for name, what, size in (("phi", "positions", state.q), ("rate", "velocities", state.v)):
        off = float(abs(closure[name]).max(initial=0.0))
        if not off <= LIMIT * (1.0 + float(abs(size).max(initial=0.0))):
            raise SimulationError(
                f"the {what} are off the closures by {off:.3g}: accelerations there belong to no "
                "motion. Give them by label, so that loops are closed, or take the state of a run."
            )
    is_looped = "close_v" in state.kernel.program.entries  # which has G by its rows, not dense
    sizes = vdot if is_looped else state("terms")["gamma"]
    scale = 1.0 + float(abs(sizes).max(initial=0.0))
    if not residual <= LIMIT * scale:
        raise SimulationError(
            f"no acceleration meets the closures at this state: they are missed by {residual:.3g}. "
            "Give positions by label, so that loops are closed, or take the state of a run."
        )


def _known_of(given: Given) -> Known:
    mechanism = mechanism_of(given)
    known = _known.pop(id(mechanism), None) or Known(mechanism)
    if isinstance(given, Mechanism):
        _known[id(mechanism)] = known
        while len(_known) > KEPT:
            del _known[next(iter(_known))]
    return known


def _assembled(
    known: Known, q: Positions, v: Velocities, parameters: Mapping[str, float], t: float
) -> State:
    tree = known.tree
    named: dict[str, float] = {}
    for name, values in (("q", q), ("v", v)):
        if isinstance(values, Mapping):
            named |= {label: float(x) for label, x in values.items()}
        elif values is not None:
            of = tree.position_labels if name == "q" else tree.velocity_labels
            labels = [x.name for x in of()]
            array = _floats(name, values, len(labels))
            named |= dict(zip(labels, array.tolist(), strict=True))
    return known.state(named, parameters, t)


def _numbers(
    mechanism: Mechanism, values: Mapping[str, Value] | None, what: str
) -> dict[str, float]:
    """Values by label, in SI.

    Raises:
        ArgumentError: one is no number, nor text with a unit.
    """
    numbers = {}
    for label, x in in_si(mechanism, values, what).items():
        if not isinstance(label, str):
            raise ArgumentError(f"{what} has the key {label!r}; keys are names.")
        try:
            numbers[label] = float(x)
        except (TypeError, ValueError):
            raise ArgumentError(f"{what} of {label!r} is {x!r}; it must be a number.") from None
    return numbers


def _array(program: Program, name: str, values: Any) -> Array:
    array = _floats(name, values, program.sizes["n" + name])
    if not np.isfinite(array).all():
        bad = int(np.flatnonzero(~np.isfinite(array))[0])
        label = program.labels[name][bad].name
        raise SimulationError(f"{label!r} is {array[bad]}; a state needs finite numbers.")
    return array


def _floats(name: str, values: Any, wanted: int) -> Array:
    """An array of that many numbers."""
    try:
        array = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        what = f"an array of shape ({wanted},), or values by label"
        raise ArgumentError(f"{name} is {values!r}; it must be {what}.") from None
    if array.shape == (wanted,):
        return array
    what = "positions" if name == "q" else "velocities"
    raise SimulationError(
        f"{name} has shape {array.shape}; the mechanism has {wanted} {what}: give an array of "
        f"shape ({wanted},), or values by label."
    )


def _inputs(kernel: Kernel, values: Mapping[str, float] | None) -> Array:
    names = [x.name for x in kernel.program.labels.get("u", ())]
    array = np.array(kernel.program.defaults.get("u", np.zeros(len(names))), dtype=float)
    for name, value in (values or {}).items():
        if name not in names:
            raise NamingError.unknown("input", name, names)
        array[names.index(name)] = float(value)
    return array


def point_of(verb: str, point: ArrayLike) -> Array:
    """A point as an array (3,) [m], of numbers and texts with units.

    Raises:
        ArgumentError: it is none.
    """
    if isinstance(point, list | tuple):
        point = [si_value(x, "m", f"{verb}: point") for x in point]
    try:
        place = np.asarray(point, dtype=float)
    except (TypeError, ValueError):
        place = np.array([])
    if place.shape != (3,) or not np.isfinite(place).all():
        raise ArgumentError(f"{verb}: point is {point!r}; it must be three finite lengths [m].")
    return place
