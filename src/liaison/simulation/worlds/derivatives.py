"""Derivatives of a step of worlds, with labels: what optimisers and learning by gradients ask for.

    slopes = worlds.derivatives()      # of the step from where the worlds are; none is taken
    slopes.A, slopes.B                 # shape (2 nv, 2 nv, worlds), (2 nv, inputs, worlds)

Public names: StepDerivatives, Asked, derivative_kernels, check_derivatives, room_for, labelled.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.contacts.stepping.tangents import AT_REST, EDGES
from liaison.errors import SimulationError
from liaison.lazy import Shown
from liaison.simulation.outcome import REASONS
from liaison.simulation.plan.plan import Plan
from liaison.units import Label

from .arguments import world_number
from .derivative_loops import JOINED, LIMITED
from .module import derivative_module
from .places import Kernels, Place

LARGEST = 2**31 - 1

THREADS = 131_072
"""That a GPU is given at least: each takes the step and its share of the columns. Of one column a
thread the step is two thirds of the work."""

NO_DERIVATIVE = {
    LIMITED: "energy or a limit of rates limits the restitution of impacts",
    JOINED: "contacts joined within the step, whose friction falls with the speed",
}
"""Why a step that may be taken has no derivative here."""


@final
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StepDerivatives(Shown):
    """How the end of one step depends on its beginning and on inputs, in every world.

    Rows and columns of positions are along velocities: column k is what a small ξ_k of q ⊞ ξ does,
    so that a free body has six. Contacts, friction, stops and limits are held in what they do in
    this step. Arrays lie where the worlds are.

    Attributes:
        A: d(q₁, v₁)/d(q, v), shape (2 nv, 2 nv, worlds).
        B: d(q₁, v₁)/d(inputs), shape (2 nv, inputs, worlds).
        labels: of the rows, and of the columns of A: positions first.
        inputs: of the columns of B.
        statuses: 0, or why a world has no derivative (NaN in all rows); see `why`.
        edges: bits of the edges that a world is at: its derivative is that of one side.
        step: the size of the step [s].

    Example:
        >>> import liaison
        >>> leg = "examples/contact/hopping_leg.lsd"
        >>> legs = liaison.worlds(leg, 4, step=1e-3, device="processor")
        >>> legs.step(20)
        >>> slopes = legs.derivatives()
        >>> slopes.A.shape, [str(x) for x in slopes.labels]
        ((4, 4, 4), ['Z [m]', 'L [m]', "Z' [m/s]", "L' [m/s]"])
    """

    A: Any
    B: Any
    labels: tuple[Label, ...]
    inputs: tuple[Label, ...]
    statuses: NDArray[Any]
    edges: NDArray[Any]
    step: float
    name: str
    _place: Place = field(repr=False)

    def __len__(self) -> int:
        return len(self.statuses)

    @property
    def lost(self) -> int:
        """How many worlds have no derivative."""
        return int(np.count_nonzero(self.statuses))

    @property
    def at_edge(self) -> NDArray[np.bool_]:
        """Which worlds are where a mode may end: the derivative is that of one side."""
        return np.asarray((self.edges & ~AT_REST) != 0)

    @property
    def rests(self) -> NDArray[np.bool_]:
        """Which worlds have a contact at rest: held there, as a change that presses it leaves it.

        One that lifts it is reflected by the step: its gap would close again within the step.
        """
        return np.asarray((self.edges & AT_REST) != 0)

    def why(self, i: int) -> str:
        """Why a world has no derivative, or which edges it is at; empty if nothing is to say."""
        i = world_number(i, len(self.statuses))
        status, edges = int(self.statuses[i]), int(self.edges[i])
        if status:
            return NO_DERIVATIVE.get(status, REASONS.get(status, f"status {status}"))
        return "; ".join(text for bit, text in EDGES.items() if edges & bit)

    def world(self, i: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """A and B of one world, copies on this computer."""
        i = world_number(i, len(self.statuses))
        A, B = (self._place.numpy(x)[..., i] for x in (self.A, self.B))
        return A, B


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """Of what derivatives are asked for, and where."""

    plan: Plan
    place: Place
    worlds: int
    real: Any
    whole: Any

    @property
    def step(self) -> float:
        """Its size [s]."""
        return float(self.plan.settings.step or 0.0)

    @property
    def shapes(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Of A and of B."""
        nv, nu = self.plan.size("nv"), self.plan.inputs.held.size
        return (2 * nv, 2 * nv, self.worlds), (2 * nv, nu, self.worlds)

    @property
    def lanes(self) -> int:
        """Threads of a world, which share its columns: more where worlds are few for a GPU."""
        columns = sum(shape[1] for shape in self.shapes)
        wanted = -(-THREADS // self.worlds) if self.place.is_gpu else 1
        return max(1, min(columns, wanted))

    def numbers(self, is_wide: bool, p: Any) -> dict[str, int]:
        """Arguments of the kernel; whether every world has inputs of its own."""
        lanes = self.lanes
        return {
            "count": self.worlds * lanes, "worlds": self.worlds, "lanes": lanes,
            "u_one": int(is_wide), "p_one": int(len(p.shape) > 1),
        }  # fmt: skip


def derivative_kernels(asked: Asked, *, single: bool) -> Kernels:
    """The kernel of derivatives of a step, compiled."""
    for name, *_ in asked.plan.program.facts.get("convex", ()):
        raise SimulationError(
            f"{name!r} is a contact of a hull, whose places loops find; these have no derivatives.",
            hint="Take differences of steps: set worlds.q and worlds.v, and step.",
        )
    plan, place = asked.plan, asked.place
    if plan.is_scene:
        raise SimulationError(
            f"{plan.program.name!r} is a scene, whose steps have no derivatives here.",
            hint="Describe its contacts one by one, in a mechanism of up to fifty pairs.",
        )
    if plan.settings.facets:
        raise SimulationError(
            "derivatives are of friction on discs, and facets were asked for.",
            hint="Leave facets out.",
        )
    module = derivative_module(plan, asked.lanes, single=single, gpu=place.is_gpu)
    return place.load(module)


def check_derivatives(asked: Asked, rows: int, kernels: Kernels) -> None:
    """Raises an error for a table of inputs, or before anything is allocated that does not fit."""
    if rows > 1:
        raise SimulationError(
            "derivatives are of one step, and a table of inputs was given.",
            hint="Give one row of it.",
        )
    free = asked.place.free_bytes() - asked.place.kept_bytes(kernels)
    numbers = sum(rows * columns for rows, columns, _ in asked.shapes)
    size = np.dtype(asked.real).itemsize
    fit = max(0, int(0.95 * free)) // max(1, numbers * size)
    most = min(fit, LARGEST // max(1, numbers))
    if asked.worlds > most:
        raise SimulationError(
            f"derivatives of {asked.worlds} worlds are {asked.worlds * numbers * size / 1e9:.3g} "
            f"GB, and {max(free, 0) / 1e9:.3g} GB are free: those of {most} worlds fit.",
            hint="Take fewer worlds, or precision='single'.",
        )


def room_for(asked: Asked) -> dict[str, Any]:
    """Arrays that the kernel writes, where the worlds are."""
    room = asked.place.room
    a, b = (room(shape, asked.real) for shape in asked.shapes)
    return {"a": a, "b": b, "flags": room((2, asked.worlds), asked.whole)}


def labelled(asked: Asked, arrays: Mapping[str, Any]) -> StepDerivatives:
    """What the kernel wrote, with names and units."""
    plan, place = asked.plan, asked.place
    statuses, edges = place.numpy(arrays["flags"])
    labels = plan.program.labels
    rows = (*map(_coordinate, labels["v"]), *labels["v"])
    inputs = tuple(labels.get("u", ()))
    name = plan.program.name
    return StepDerivatives(
        arrays["a"], arrays["b"], rows, inputs, statuses, edges, asked.step, name, place
    )


def _coordinate(speed: Label) -> Label:
    """What a velocity changes: the coordinate whose rate it is, or its integral."""
    name = speed.name[:-1] if speed.name.endswith("'") else f"∫{speed.name}"
    return Label(name, speed.unit.removesuffix("/s"))
