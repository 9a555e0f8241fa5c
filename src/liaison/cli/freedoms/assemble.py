"""Close the loops: near the start, all modes, or at a pose.

Public names: assemble.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Annotated, Any

import typer

from liaison.cli.options import (
    Call,
    Guesses,
    WithEvidence,
    WithValues,
    help_of,
    with_evidence,
    with_options,
)
from liaison.verbs.registry import command


@command
@with_options
def assemble(
    *,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help='A coordinate held fixed, as "A=30 deg". Repeatable.'
        ),
    ] = None,
    guess: Guesses = None,
    every_way: Annotated[bool, typer.Option("--all", help="Find all assembly modes.")] = False,
    hand: Annotated[
        str | None,
        typer.Option(metavar="BODY", help="End effector: find all solutions at --position."),
    ] = None,
    position: Annotated[
        str | None,
        typer.Option(metavar="[X,Y,Z]", help="Position of the end effector's origin, in m."),
    ] = None,
    rotation: Annotated[
        str | None,
        typer.Option(
            metavar="[[…],[…],[…]]",
            help="Rows of R; its columns are the end effector's axes. Those of the ground without.",
        ),
    ] = None,
    time_limit: Annotated[
        str | None, typer.Option(metavar="TIME", help=help_of("time_limit"))
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random numbers.")] = 0,
    evidence: WithEvidence = False,
    call: WithValues,
) -> None:
    """Close the loops near the start, in all assembly modes, or with a body at a pose."""
    from liaison.cli.values import limit_option, positions_of
    from liaison.verbs.freedoms import assembly_modes, inverse_kinematics

    _check_search(every_way, hand, {"--evidence": evidence, "--time-limit": time_limit})
    _check_near(every_way or hand is not None, guess)
    mechanism = replace(call, guess=guess).request().mechanism
    where = positions_of(mechanism, at)
    options: dict[str, Any] = {"at": where, "seed": seed} | limit_option(time_limit)
    pose = _pose(hand, position, rotation)
    if hand is not None:
        modes = inverse_kinematics.inverse_kinematics(mechanism, hand, **pose, **options)
    elif every_way:
        modes = assembly_modes.assembly_modes(mechanism, **options)
    else:
        _near_the_start(mechanism, where, call)
        return
    call.answer(modes.to_dict(), with_evidence(str(modes), modes.evidence, evidence))


def _check_search(every_way: bool, hand: str | None, options: dict[str, Any]) -> None:
    """Raises an error for two searches at once, and for options of a search without one."""
    if every_way and hand is not None:
        message = "--hand finds all solutions already; leave out --all."
        raise typer.BadParameter(message, param_hint="--all")
    for option, value in options.items():
        if value and not every_way and hand is None:
            message = "it is for a search; give --all or --hand BODY too."
            raise typer.BadParameter(message, param_hint=option)


def _check_near(is_search: bool, guess: list[str] | None) -> None:
    """Raises an error for a guess of a search, which finds every solution without one."""
    if is_search and guess:
        message = "--all and --hand find all solutions; leave it out, or leave those out."
        raise typer.BadParameter(message, param_hint="--guess")


def _near_the_start(mechanism: Any, where: dict[str, Any], call: Call) -> None:
    from liaison.tree import as_float, assembly, span
    from liaison.verbs.given import with_starts

    start = {name: float(as_float(x)) for name, x in where.items()}
    closed = assembly(span(with_starts(mechanism, start)), None, guess=None, **start)
    names = [label.name for label in closed.state.labels["q"]]
    q = dict(zip(names, (float(x) for x in closed.state.q), strict=True))
    facts = {"name": mechanism.name, "coordinates": q, "residual": closed.residual,
             "moved": closed.moved, "attempts": closed.attempts}  # fmt: skip
    coordinates = ", ".join(f"{name} = {x:.9g}" for name, x in q.items())
    call.answer(facts, f"{mechanism.name}: {coordinates}\n  gap {closed.residual:.1e}")


def _pose(hand: str | None, position: str | None, rotation: str | None) -> dict[str, Any]:
    """The pose required of the body; None without one."""
    if hand is None:
        for option, text in (("--position", position), ("--rotation", rotation)):
            if text is not None:
                raise typer.BadParameter("needs a body too; give --hand BODY.", param_hint=option)
        return {}
    if position is None:
        raise typer.BadParameter("give --position [X,Y,Z] too.", param_hint="--hand")
    pose: dict[str, Any] = {"position": _numbers("--position", position, 3)}
    if rotation is not None:
        flat = _numbers("--rotation", rotation, 9)
        pose["rotation"] = [flat[0:3], flat[3:6], flat[6:9]]
    return pose


def _numbers(option: str, text: str, count: int) -> list[float]:
    """So many numbers of a list, nested or not."""
    try:
        read = json.loads(text)
        flat = [y for x in read for y in (x if isinstance(x, list) else [x])]
        numbers = [float(x) for x in flat]
    except (TypeError, ValueError):
        message = f"{text!r} is no list of numbers, as [0.4, 0, 0.6]."
        raise typer.BadParameter(message, param_hint=option) from None
    if len(numbers) != count:
        raise typer.BadParameter(f"{len(numbers)} numbers, not {count}.", param_hint=option)
    return numbers
