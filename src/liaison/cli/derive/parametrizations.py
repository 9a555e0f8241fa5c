"""Compare parametrizations: unknowns, cost, time, drift.

Public names: parametrizations.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import WithValues, with_options
from liaison.verbs.registry import command


@command
@with_options
def parametrizations(
    *,
    formalism: Annotated[
        str, typer.Option(help="newton_euler, lagrange, kane, …: a wrong name lists them all.")
    ] = "lagrange",
    until: Annotated[
        str, typer.Option(metavar="TIME", help="Time over which closures drift.")
    ] = "1",
    step: Annotated[
        str, typer.Option(metavar="TIME", help="Step size of RK4 for the drift.")
    ] = "1 ms",
    call: WithValues,
) -> None:
    """Compare coordinates for a mechanism: unknowns, constraints, operations, time, drift."""
    from liaison.cli.running import run_options
    from liaison.cli.values import check_word
    from liaison.equations.formalisms.table import FORMALISMS
    from liaison.verbs.derive import parametrizations as verb

    check_word("--formalism", formalism, FORMALISMS)
    mechanism = call.request().mechanism
    end, options = run_options(until, {"step": step})
    comparison = verb.parametrizations(
        mechanism, formalism=formalism, until=end, step=options.step or 1e-3
    )
    call.answer(comparison.facts(), str(comparison))
