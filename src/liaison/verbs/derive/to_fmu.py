"""Write a mechanism as an FMU, for other simulators.

Public names: to_fmu, Exported.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, TypedDict, Unpack, final

import numpy as np

from liaison.analyse.proofs.no_impact import no_impact
from liaison.arguments import checked
from liaison.display import html_of
from liaison.equations.start_checks import is_completed
from liaison.errors import NamingError, OptionError, SimulationError
from liaison.expr.graph.node import collector_paused
from liaison.fmi.archive import fmu
from liaison.fmi.description import Options
from liaison.fmi.memory import Closing
from liaison.lazy import Shown
from liaison.model import Unilateral
from liaison.model.mechanism import Mechanism
from liaison.model.pairing import is_scene
from liaison.numeric.progress import lasting
from liaison.simulation.plan.plan import plan_of
from liaison.simulation.plan.settings import settings_of
from liaison.tree.starts import Starts
from liaison.tree.tree import Tree, span
from liaison.units import si_value
from liaison.verbs.assembling import shakes_of
from liaison.verbs.given import Given, Value, in_seconds, mechanism_of
from liaison.verbs.ready import DERIVED, closed_seconds, ready_for

TIMES = frozenset({"step", "max_step"})
RTOL, ATOL = 1e-10, 1e-12
"""Tolerances of co-simulation: errors of importers are larger."""

SHORT = 256.0
"""Steps in a unit of what further attempts of closing loops begin with: any will do."""

LONGEST = 10.0
"""Time to derive equations of closed mechanisms [s]; their derivatives take many times as long."""

BOXES = 500
"""Of positions in which a proof that relations of rates keep their rows may look."""

PARTS = 500
"""Communications in the default experiment."""

PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>
<body>
<h1>{name}</h1>
<p>Exported by {tool}. The file modelDescription.xml lists variables with units and start values.
</p>
{content}
</body></html>
"""


class FmuKeywords(TypedDict, total=False):
    """How co-simulation steps; each is explained at `RunOptions`."""

    step: float | str
    method: str
    rtol: float
    atol: float
    max_step: float | str
    impacts: str


@final
@dataclass(frozen=True, slots=True, repr=False)
class Exported(Shown):
    """An FMU that was written.

    Attributes:
        path: of the file.
        version: "2.0" or "3.0".
        size: of the file [bytes].
        variables: how many there are.
        token: that identifies the model.
        files: inside, with their sizes [bytes].
    """

    path: Path
    version: str
    size: int
    variables: int
    token: str
    files: Mapping[str, int]


@lasting("program")
@checked
def to_fmu(
    given: Given,
    path: str | Path,
    *,
    version: str | float = "3.0",
    until: Value = 10.0,
    start: Mapping[str, Value] | None = None,
    guess: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    systems: Sequence[str] = (),
    poses: bool = False,
    **keywords: Unpack[FmuKeywords],
) -> Exported:
    """Write a mechanism as an FMU: Model Exchange and Co-Simulation in one file.

    It holds libraries for all systems, which need nothing of Python. Loops stay closed: in Model
    Exchange derivatives lead back to the closures and step events project, in Co-Simulation steps
    do. Contacts, friction, stops and declared events are state events.

    Args:
        given: a mechanism, or the path of its text.
        path: of the file, which ends in .fmu.
        version: of FMI, "2.0" or "3.0".
        until: end of the default experiment [s].
        start: positions and rates to assemble from, instead of the mechanism's own.
        guess: positions and rates near which to assemble.
        parameters: values by name, in the place of the defaults.
        inputs: formulas and tables; numbers are start values.
        systems: those whose libraries it holds; all, if none is named.
        poses: whether positions and rotations of bodies are variables, too.
        **keywords: step, method, rtol, atol, max_step and impacts of Co-Simulation.

    Raises:
        SimulationError: runs of this mechanism need Python between their steps, as scenes do,
            and relations of rates that may lose their rows; or it has very many bodies.
        NamingError: an unknown keyword, version or system.

    Example:
        >>> import liaison
        >>> done = liaison.to_fmu("examples/pendulum.lsd", "pendulum.fmu")
        >>> done.version
        '3.0'
    """
    OptionError.check("to_fmu", keywords, FmuKeywords.__annotations__)
    number = {"2": 2, "2.0": 2, "3": 3, "3.0": 3}.get(str(version))
    if number is None:
        raise NamingError.unknown("version of FMI", str(version), ["2.0", "3.0"])
    mechanism = mechanism_of(given)
    _check(mechanism)
    own = {} if "step" in keywords else {"rtol": RTOL, "atol": ATOL}
    options: dict[str, Any] = {**own, "watch": False, **keywords}
    for name in TIMES & options.keys():
        options[name] = si_value(options[name], "s", f"to_fmu: {name}")
    with collector_paused():
        kernel, state = ready_for(mechanism, None, start, parameters, guess=guess)
        end = in_seconds(until, "to_fmu: until")
        plan = plan_of(kernel, state, end, settings_of(**options), inputs=inputs)
        closes = bool(plan.size("nc")) and not is_completed(kernel.program.labels["lam"])
        content, facts = fmu(
            plan, number, closing=_closing(mechanism, plan.size("nv")) if closes else None,
            options=Options(f"{mechanism.name}, a mechanism", _tool(), (end - state.t) / PARTS,
                            _page(mechanism), tuple(systems), poses),
        )  # fmt: skip
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    return Exported(
        file, f"{number}.0", len(content), facts["variables"], facts["token"], facts["files"]
    )


def _check(mechanism: Mechanism) -> None:
    """Rejects scenes, many bodies, and relations of rates that may lose their rows."""
    why, hint = "", ""
    if is_scene(mechanism):
        why = "a scene makes room for more contacts while it moves."
        hint = "Let bodies touch by `contact` lines, whose pairs are known."
    elif _is_large(span(mechanism)):
        why = (
            f"it has {len(mechanism.bodies)} bodies, and formulas of all of them would be written "
            "out, in minutes and megabytes."
        )
        hint = "Run it with `liaison simulate`, by loops over its bodies, or export a part of it."
    elif any(isinstance(x, Unilateral) for x in mechanism.contacts):
        for entry in no_impact(mechanism, boxes=BOXES).entries:
            if any(x.effect != "free" for x in entry.losses):
                why = f"a relation of rates may lose its row, after which no FMU goes on. {entry}"
                hint = "Run it with `liaison simulate`, or state it as a relation of positions."
    if why:
        name = f"{mechanism.name!r} cannot become an FMU: "
        raise SimulationError(name + why, hint=hint, status="not exported")


def _is_large(tree: Tree) -> bool:
    if tree.closures or tree.mechanism.constraints:
        return closed_seconds(tree) > LONGEST
    return tree.nv > DERIVED


def _closing(mechanism: Mechanism, nv: int) -> Closing:
    """Starts of the mechanism are held where loops are closed; guesses are not."""
    own = Starts(span(mechanism)).own
    shakes = np.round(shakes_of(nv) * SHORT) / SHORT
    return Closing(shakes, frozenset(x for x, (_, is_guess) in own.items() if not is_guess))


def _tool() -> str:
    """The program that writes, and its version."""
    return f"liaison {sys.modules['liaison'].__version__}"


def _page(mechanism: Mechanism) -> str:
    """The documentation page."""
    return PAGE.format(name=escape(mechanism.name), tool=_tool(), content=html_of(mechanism))
