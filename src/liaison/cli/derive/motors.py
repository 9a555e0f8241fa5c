"""Derive the equations of an arm with its motors' rotors.

Equations of arms with motors as text: rotors, the mass matrix by Mampey's recursion, torques.

Public names: motors, motor_equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from liaison.cli.derive.own import Section, joined, short
from liaison.cli.options import WithValues, with_options
from liaison.equations.motors.motor_coordinates import motor_form
from liaison.equations.motors.motorized import Motorized, motorized
from liaison.errors import DerivationError
from liaison.expr import as_expr, collector_paused
from liaison.expr.reading.arrange import Order
from liaison.expr.reading.simplify import simplified
from liaison.expr.reading.text import to_unicode
from liaison.model import Mechanism
from liaison.tree import GROUND, span
from liaison.verbs.gravity import with_named_gravity
from liaison.verbs.registry import command


def motor_equations(mechanism: Mechanism, own: bool, digits: int) -> dict[str, Any]:
    """The facts: rotors, sections of named formulas, and the text of all of them.

    Args:
        mechanism: an arm or another tree, with motors.
        own: in the coordinates of the motors instead of the joints'.
        digits: of decimals.
    """
    with collector_paused():
        arm = motorized(span(with_named_gravity(mechanism), exact=True))
        if not arm.parts.rotors:
            raise DerivationError(
                f"'{mechanism.name}' has no motor with a rotor.",
                hint="`apply motor … ratio = …, rotor = … end on JOINT` gives one; without motors "
                "take `liaison derive`.",
            )
        order, sections = _in_motors(arm) if own else _in_joints(arm)
        formulas_by_title = {
            title: {name: short(f, order, digits) for name, f in formulas}
            for title, formulas in sections
        }
    rotors = [_rotor(arm, k) for k in range(len(arm.parts.rotors))]
    lines = [f"{mechanism.name}, with {len(rotors)} rotors", "", "Rotors"]
    lines += [f"  {x['name']} on {x['carrier']} drives {x['drives']}, ratio {x['ratio']}, axis "
              f"({', '.join(x['axis'])})" for x in rotors]  # fmt: skip
    for title, formulas in formulas_by_title.items():
        lines += ["", title] + [f"  {joined(name, text)}" for name, text in formulas.items()]
    return {
        "name": mechanism.name,
        "rotors": rotors,
        "formulas": formulas_by_title,
        "text": "\n".join(lines),
    }


def _rotor(arm: Motorized, k: int) -> dict[str, Any]:
    """A rotor in words and numbers."""
    rotor, nodes = arm.parts.rotors[k], arm.parts.kinematics.tree.nodes
    carrier = "ground" if rotor.carrier == GROUND else nodes[rotor.carrier].body
    axis = [to_unicode(simplified(as_expr(x)), 6) for x in rotor.axis]
    ratio = to_unicode(simplified(as_expr(rotor.ratio)), 6)
    drives = arm.labels[rotor.driven].name.removesuffix("'")
    return {"name": rotor.name, "carrier": carrier, "drives": drives, "ratio": str(ratio),
            "axis": [str(x) for x in axis]}  # fmt: skip


def _in_joints(arm: Motorized) -> tuple[Order, Iterator[Section]]:
    """M q'' + S = Q in the coordinates of the joints."""
    names = [label.name for label in arm.labels]
    order = Order({"position": [x.name for x in arm.q], "velocity": [x.name for x in arm.v],
                   "acceleration": [x.name for x in arm.vdot]})  # fmt: skip

    def sections() -> Iterator[Section]:
        mass = [(f"M{i + 1}{j + 1}", x) for (i, j), x in sorted(arm.M.items())]
        yield "Mass matrix by Mampey's recursion, rotors included", mass
        yield "What else the motion asks for", list(zip(_of("S", names), arm.bias, strict=True))
        yield "What loads and motors give", list(zip(_of("Q", names), arm.applied, strict=True))

    return order, sections()


def _in_motors(arm: Motorized) -> tuple[Order, Iterator[Section]]:
    """A m'' + B + g = Q in the coordinates of the motors."""
    form = motor_form(arm)
    names = [x.name for x in form.m]
    order = Order({"position": names, "velocity": [x.name for x in form.mdot],
                   "acceleration": [x.name for x in form.mddot]})  # fmt: skip

    def sections() -> Iterator[Section]:
        n = range(len(names))
        yield "Mass matrix", [(f"A{i + 1}{j + 1}", form.A[i][j]) for i in n for j in range(i + 1)]
        yield "Centrifugal and Coriolis forces", list(zip(_of("B", names), form.B, strict=True))
        yield "Torques that hold the arm", list(zip(_of("g", names), form.g, strict=True))
        yield "What loads and motors give", list(zip(_of("Q", names), form.Q, strict=True))

    return order, sections()


def _of(letter: str, names: list[str]) -> list[str]:
    return [f"{letter} {name}" for name in names]


@command
@with_options
def motors(
    *,
    own: Annotated[
        bool,
        typer.Option(
            "--motor-coordinates", help="Equations A m'' + B + g = Q in the motors' angles."
        ),
    ] = False,
    digits: Annotated[int, typer.Option(min=2, max=17, help="Significant digits of decimals.")] = 6,
    call: WithValues,
) -> None:
    """Derive the equations of an arm with its rotors: Mampey's mass matrix, torques of motors."""

    facts = motor_equations(call.request().mechanism, own, digits)
    call.answer(facts, facts["text"])
