"""Arguments that do not fit: what a function or record takes, and which one may be meant.

Loaded where a call is rejected, and not before.

Public names: misfit, nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

from .errors import ArgumentError, LiaisonError, OptionError, meant


def nearest(name: str, known: list[str]) -> str:
    """The question whether another argument is meant; a full stop where none is near."""
    same = [x[0] for x in SYNONYMS if name.lower() in x and x[0] in known]
    near = same or meant(name, known)
    return f"; did you mean {near[0]!r}?" if near else "."


SYNONYMS = tuple(
    tuple(words.split())
    for words in (
        "p position pos origin xyz point translation",
        "R rotation orientation rot matrix",
        "length height",
        "height length",
        "center com centre",
        "com center centre",
        "color colour rgba",
        "friction mu",
        "restitution e elasticity",
        "until t_end tend end duration tmax t_final",
        "step dt timestep h time_step",
        "start initial initial_state q0 x0",
        "tolerance tol rtol atol accuracy",
        "method solver integrator",
        "controller control policy",
        "stiffness kp p_gain gain",
        "integral ki i_gain",
        "damping kd kv d_gain",
        "limit max limits",
        "target goal setpoint reference",
        "mass m",
        "radius r",
        "file filename path",
    )
)
"""Words of arguments that mean the first of each group, where that is one of those taken."""


def misfit(
    function: Callable[..., Any], args: Sequence[Any], keywords: Mapping[str, Any], name: str = ""
) -> LiaisonError:
    """The error of a call that Python could not begin.

    Names a keyword that is not taken, with the nearest one, an argument that is missing, or one
    that is given twice or too many.

    Args:
        function: that was called; of a record, its `__init__`.
        args: its arguments in their order.
        keywords: those by name.
        name: of the record, for the message.
    """
    parameters = dict(signature(function).parameters)
    if parameters.pop("self", None) is not None:
        args = args[1:]
    name = name or function.__qualname__.rpartition(".<locals>.")[2]
    places = [x for x, y in parameters.items() if y.kind in IN_PLACE]
    known = [x for x, y in parameters.items() if y.kind is not Parameter.VAR_KEYWORD]
    listed = [x for x in known if x not in INNER]
    hint = f"Its arguments are {', '.join(listed)}." if listed else "It takes no arguments."
    for word in keywords:
        if word not in known:
            return OptionError(f"{name} takes no option {word!r}{nearest(word, listed)}", hint=hint)
    single = [x for x in known if parameters[x].kind is not Parameter.VAR_POSITIONAL]
    needed = [x for x in single if parameters[x].default is Parameter.empty]
    missing = [x for x in needed if x not in keywords and x not in places[: len(args)]]
    if missing:
        return ArgumentError(f"{name} needs the argument {missing[0]!r}.", hint=hint)
    twice = [x for x in places[: len(args)] if x in keywords]
    if twice:
        return ArgumentError(f"{name} is given {twice[0]!r} twice.", hint=hint)
    count = f"{len(places)} argument{'s' if len(places) != 1 else ''}"
    return ArgumentError(f"{name} takes {count} in place, not {len(args)}.", hint=hint)


IN_PLACE = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
INNER = ("place", "owner", "written_in")
"""Fields of records that readers fill."""
