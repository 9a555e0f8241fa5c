"""Compute degrees of freedom exactly, with what is proved.

Public names: mobility.
"""

from __future__ import annotations

from typing import Annotated

import typer

from liaison.cli.options import (
    At,
    WithEvidence,
    WithValues,
    help_of,
    with_evidence,
    with_options,
)
from liaison.verbs.registry import command


@command
@with_options
def mobility(
    *,
    at: At = None,
    order: Annotated[int, typer.Option(min=1, help="Highest order of series in a proof.")] = 800,
    primes: Annotated[int, typer.Option(min=1, help="Number of primes that must agree.")] = 3,
    seed: Annotated[int, typer.Option(help="Seed of random primes, directions and slices.")] = 0,
    time_limit: Annotated[
        str | None, typer.Option(metavar="TIME", help=help_of("time_limit"))
    ] = None,
    evidence: WithEvidence = False,
    call: WithValues,
) -> None:
    """Compute the degrees of freedom of a mechanism exactly, and state what is proved."""
    from liaison.cli.values import limit_option, positions_of
    from liaison.verbs.freedoms import mobility as verb

    mechanism = call.request().mechanism
    where = positions_of(mechanism, at)
    limit = limit_option(time_limit)
    result = verb.mobility(mechanism, at=where, order=order, primes=primes, seed=seed, **limit)
    text = with_evidence(str(result), result.evidence, evidence)
    call.answer(result.to_dict(), text)
