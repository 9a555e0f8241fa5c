"""Inverse and forward dynamics as sweeps over records: the bodies called once for each class.

A *record* is what a node remembers while the sweeps run: slots of numbers, the same for every
node. A sweep reads a node's own record and its parent's, and writes a part of its own; inwards it
also hands the first of its results to the parent, where they are added.

Public names: Sweep, Recursion, inverse_recursion, forward_recursion, motion_recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, final

from liaison.expr import Expr, as_expr, symbol
from liaison.spatial.arrays import (
    Array,
    array,
    dot,
    is_formula,
    minus,
    plus,
    product,
    times,
    vector,
)
from liaison.spatial.plucker import act_force, act_force_inverse, apply_inertia

from .articulated import (
    Articulated,
    Drift,
    Gain,
    accelerated,
    articulate,
    coasted,
    freed_rows,
    halved,
    halved_back,
    joint_inertia,
    solve_symmetric,
)
from .blocks import STATE, moved_state
from .classes import NodeClass, above, lower_triangle, own, symmetric
from .recursion import Link, State, at_ground, at_parent, felt, moved, required

Slots: TypeAlias = dict[str, range]


@final
@dataclass(frozen=True, slots=True)
class Sweep:
    """One sweep: what each node computes, by class, and where that goes in its record."""

    name: str
    is_inward: bool
    formulas: tuple[tuple[Expr, ...], ...]  # for each class
    writes: int  # slot of the first result
    hands: int = 0  # how many results are added to the parent's record …
    receives: int = 0  # … from this slot on


@final
@dataclass(frozen=True, slots=True)
class Recursion:
    """Sweeps that follow each other over one kind of record."""

    name: str
    sweeps: tuple[Sweep, ...]
    ground: tuple[float, ...]  # the record of the ground, as long as every other
    input_slot: int  # slot of the input of each joint: v̇ or τ
    output_slot: int  # slot of the output of each joint: τ or v̇
    places: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    # first slot of what else it leaves in the records
    carry: tuple[tuple[Expr, ...], ...] = ()
    # for each class what passes on of a wrench on the node, as `forward_recursion` explains
    half: tuple[tuple[Expr, ...], ...] = ()  # f' and x of (half-1)
    back: tuple[tuple[Expr, ...], ...] = ()  # motion and v of (half-1)


def inverse_recursion(classes: Sequence[NodeClass], gravity: Array) -> Recursion:
    """τ of (q, v, v̇): `moved` and `required` outwards, `at_parent` and `felt` inwards.

    The place "needed" has the wrench that a node's own body needs after the first sweep, "reaction"
    that of each joint on its successor, in M's axes at M.
    """
    nv = max(one.joint.nv for one in classes)
    slots = _slots(
        state=18, wrench=6, kept=_kept_size(classes), input=nv, handed=6, reaction=6, output=nv
    )  # fmt: skip

    def outwards(one: NodeClass) -> list[Any]:
        state = moved(_state(above, slots["state"]), one.link, _joint_inputs(one, slots))
        return [*_flat(state), *_flat(required(one.link.inertia, state)), *_varying(one.link)]

    def inwards(one: NodeClass) -> list[Any]:
        node = _remembered(one.link, slots["kept"])
        total = _read(own, slots["wrench"])
        wrench = (total[:3], total[3:])
        reaction = _on_successor(one, total)
        efforts = _with_rotors(felt(node.S, wrench), one.link, _joint_inputs(one, slots))
        return [*_flat(at_parent(node.pose, wrench)), *reaction, *efforts]

    out = Sweep("outwards", False, _each(outwards, classes), slots["state"].start)
    back = Sweep(
        "inwards", True, _each(inwards, classes), slots["handed"].start, 6, slots["wrench"].start
    )
    ground = _ground(slots, {"state": _flat(at_ground(gravity))})
    places = MappingProxyType(
        {"reaction": slots["reaction"].start, "needed": slots["wrench"].start}
    )
    ends = slots["input"].start, slots["output"].start
    return Recursion("inverse", (out, back), ground, *ends, places)


def _with_rotors(efforts: Sequence[Any], node: Link, vdot: Array) -> list[Any]:
    """Efforts that also accelerate the rotors of a joint."""
    if not node.rotors:
        return [*efforts]
    return [plus(x, times(r, a)) for x, r, a in zip(efforts, node.rotors, vdot, strict=True)]


def _on_successor(one: NodeClass, wrench: Array) -> Array:
    """The wrench that a node's joint puts on its successor, in the axes of the marker on it."""
    if not one.is_reversed:
        return wrench
    R, p = one.joint.pose(vector(symbol(f"q {k}") for k in range(one.joint.nq)))
    return act_force_inverse(R, p, array([minus(0, x) for x in wrench]))


def motion_recursion(classes: Sequence[NodeClass]) -> Recursion:
    """How every node moves in the ground's axes, of (q, v, v̇), and what its body has of it.

    Places: "state" (R, p, ω, v, α, a), "kinetic" energy, "moment" of mass m p + R h, and
    "momentum" (moment about the ground's origin, then resultant).
    """
    nv = max(one.joint.nv for one in classes)
    slots = _slots(state=STATE, kinetic=1, moment=3, momentum=6, input=nv)

    def outwards(one: NodeClass) -> list[Any]:
        rate = one.link.bias + product(one.link.S, _joint_inputs(one, slots))
        state, _ = moved_state(_read(above, slots["state"]), one.link._replace(bias=rate))
        R, p, omega, v = state[:4]
        m, h, I = one.link.inertia
        V = array([*product(R.T, omega), *product(R.T, v)])
        carried = apply_inertia(m, h, I, V)
        moment = array([times(m, x) for x in p]) + product(R, h)
        kinetic = as_expr(dot(V, carried)) / 2
        return [*_flat(state), kinetic, *moment, *act_force(R, p, carried)]

    out = Sweep("moving", False, _each(outwards, classes), slots["state"].start)
    still = [1, 0, 0, 0, 1, 0, 0, 0, 1, *[0] * 15]
    places = MappingProxyType({name: slot.start for name, slot in slots.items()})
    ends = slots["input"].start, slots["input"].start
    return Recursion("motion", (out,), _ground(slots, {"state": still}), *ends, places)


def forward_recursion(classes: Sequence[NodeClass], gravity: Array) -> Recursion:
    """v̇ of (q, v, τ): `coasted` outwards, `articulate` inwards, `accelerated` outwards.

    The place "needed" has the wrench that a node's own body needs after the first sweep. With K the
    gain of the joint, a wrench f on the node and an effort τ along its joint (where a parent's
    record would be, τ from its number 6 on) have

    y = Sᵀ f + τ,  z = D⁻¹ y,  f' = f − Kᵀ y                                       (carry-1)

    of which f' passes to the parent: f', y, z are what `carry` computes. M⁻¹ is Σ yᵀ z over the
    joints, for two such loads or sums of them. With D = C Cᵀ

    x = C⁻¹ y inwards;  v = C⁻ᵀ x − K A, A' = A + S v outwards                      (half-1)

    are L⁻¹ τ and L⁻ᵀ x of a factor L of M = L Lᵀ (A the motion that the parent passes): what
    `half` and `back` compute.
    """
    nv = max(one.joint.nv for one in classes)
    slots = _slots(
        omega=3, drift=6, inertia=27, kept=_kept_size(classes), input=nv, handed=27, gain=7 * nv,
        motion=6, output=nv,
    )  # fmt: skip

    def coast(one: NodeClass) -> list[Any]:
        drift, inertia = coasted(_read(above, slots["omega"]), one.link)
        return [*_flat(drift), *_packed(inertia), *_varying(one.link)]

    def gather(one: NodeClass) -> list[Any]:
        node = _remembered(one.link, slots["kept"])
        total = _unpacked(_read(own, slots["inertia"]))
        gain, carried = articulate(
            node, total, _read(own, slots["drift"]), _joint_inputs(one, slots)
        )
        return [*_packed(carried), *_flat(gain)]

    def accelerate(one: NodeClass) -> list[Any]:
        node = _remembered(one.link, slots["kept"])
        drift = Drift(_read(own, slots["omega"]), _read(own, slots["drift"]))
        gain = _gain(one.joint.nv, slots["gain"])
        motion, vdot = accelerated(_read(above, slots["motion"]), node, drift, gain)
        return [*motion, *vdot]

    back = Sweep(
        "gather", True, _each(gather, classes), slots["handed"].start, 27, slots["inertia"].start
    )
    sweeps = (
        Sweep("coast", False, _each(coast, classes), slots["omega"].start),
        back,
        Sweep("accelerate", False, _each(accelerate, classes), slots["motion"].start),
    )
    ground = _ground(slots, {"motion": [0, 0, 0, *at_ground(gravity).a]})
    places = MappingProxyType({"needed": slots["inertia"].stop - 6})
    ends = slots["input"].start, slots["output"].start
    listed = [_each(partial(x, slots=slots), classes) for x in (_carried, _half, _back)]
    return Recursion("forward", sweeps, ground, *ends, places, *listed)


def _carried(one: NodeClass, slots: Slots) -> list[Any]:
    """(carry-1) of a node, after the inward sweep."""
    left, y, D = _passed(one, slots)
    return [*left, *y, *solve_symmetric(D, y)[0]]


def _half(one: NodeClass, slots: Slots) -> list[Any]:
    """f' and x of (half-1)."""
    left, y, D = _passed(one, slots)
    return [*left, *halved(D, y)]


def _passed(one: NodeClass, slots: Slots) -> tuple[Array, Array, Array]:
    """f' of (carry-1) in the parent's axes, y and D."""
    node = _remembered(one.link, slots["kept"])
    total, S = _unpacked(_read(own, slots["inertia"])), node.S
    gain = _gain(one.joint.nv, slots["gain"])
    wrench = array([above(k) for k in range(6)])
    effort = array([above(6 + k) for k in range(one.joint.nv)])
    y = product(S.T, wrench) + effort
    left = vector(wrench - product(gain.K.T, y))
    for row, (column, sign) in freed_rows(node).items():
        left[row] = times(-sign, effort[column])  # since Sᵀ f' = −τ
    return act_force(*node.pose, array(left)), y, joint_inertia(total, node)


def _back(one: NodeClass, slots: Slots) -> list[Any]:
    """The motion of a node, and v of (half-1)."""
    node = _remembered(one.link, slots["kept"])
    total = _unpacked(_read(own, slots["inertia"]))
    x = array([above(6 + k) for k in range(one.joint.nv)])
    gain = Gain(_gain(one.joint.nv, slots["gain"]).K, halved_back(joint_inertia(total, node), x))
    still = Drift(array([0, 0, 0]), array([0] * 6))
    motion, v = accelerated(array([above(k) for k in range(6)]), node, still, gain)
    return [*motion, *v]


def _slots(**sizes: int) -> Slots:
    """Slots of a record by name, one after another."""
    slots, start = {}, 0
    for name, size in sizes.items():
        slots[name] = range(start, start + size)
        start += size
    return slots


def _ground(slots: Slots, known: dict[str, list[Any]]) -> tuple[float, ...]:
    record = [0.0] * max(slot.stop for slot in slots.values())
    for name, values in known.items():
        record[slots[name].start : slots[name].stop] = [float(x) for x in values]
    return tuple(record)


def _each(
    body: Callable[[NodeClass], list[Any]], classes: Sequence[NodeClass]
) -> tuple[tuple[Expr, ...], ...]:
    return tuple(tuple(map(as_expr, body(one))) for one in classes)


def _read(place: Callable[[int], Expr], slots: Sequence[int]) -> Array:
    return array([place(k) for k in slots])


def _flat(parts: Sequence[Array]) -> list[Any]:
    return [x for part in parts for x in part.flat]


def _joint_inputs(one: NodeClass, slots: Slots) -> Array:
    return _read(own, slots["input"][: one.joint.nv])


def _state(place: Callable[[int], Expr], slots: range) -> State:
    x = _read(place, slots)
    return State(x[:3], x[3:6], x[6:9], x[9:].reshape(3, 3))


def _packed(body: Articulated) -> list[Any]:
    return [*lower_triangle(body.A), *body.B.flat, *lower_triangle(body.C), *body.wrench]


def _unpacked(x: Array) -> Articulated:
    A, C = symmetric(x[:6]), symmetric(x[15:21])
    return Articulated(A, x[6:15].reshape(3, 3), C, x[21:])


def _gain(nv: int, slots: range) -> Gain:
    x = _read(own, slots[: 7 * nv])
    return Gain(x[: 6 * nv].reshape(nv, 6), x[6 * nv :])


def _place(node: Link) -> list[Any]:
    """Pose and S of a node: what depends on q and is wanted by later sweeps."""
    return [*node.pose[0].flat, *node.pose[1], *node.S.flat]


def _varying(node: Link) -> list[Any]:
    return [x for x in _place(node) if not _is_number(x)]


def _kept_size(classes: Sequence[NodeClass]) -> int:
    return max(len(_varying(one.link)) for one in classes)


def _remembered(node: Link, slots: range) -> Link:
    """The node with pose and S read back from its record; numbers stay numbers."""
    places = iter(slots)
    x = array([y if _is_number(y) else own(next(places)) for y in _place(node)])
    S = x[12:].reshape(node.S.shape)
    return node._replace(pose=(x[:9].reshape(3, 3), x[9:12]), S=S)


def _is_number(x: Any) -> bool:
    return not is_formula(x) or x.op == "const"
