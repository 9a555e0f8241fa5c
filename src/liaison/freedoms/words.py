"""The mobility of a mechanism in one paragraph, in mechanical words.

Public names: paragraph.
"""

from __future__ import annotations

from typing import Any

STATUS = {
    "regular": "every motion that is possible to first order goes on",
    "shaky": "it is shaky: it gives way to first order and then locks",
    "non-reduced": "some velocities that the closures allow lead nowhere, here and at every "
    "position near (the closure is non-reduced)",
    "bifurcation": "several branches of motion meet in this position",
    "undecided": "what was computed does not decide between the bounds",
}


def paragraph(found: Any) -> str:
    """What a `Mobility` says, for people."""
    low, high = found.finite
    number = f"{low}" if low == high else f"between {low} and {high}"
    sure = "proved" if found.is_proved else "likely"
    lines = [
        f"{found.name}: finite mobility {number}, {sure}; first-order mobility "
        f"{found.first_order}; {STATUS[found.status]}.",
        f"  {found.unknowns} joint freedoms, {found.equations} equations "
        f"({_loops(found.loops)}), rank {found.rank} here, {found.naive_rank} off the variety; "
        f"counting alone (Grübler) gives {found.gruebler}.",
        f"  Why: {found.proof}.",
    ]
    if found.branches:
        lines.append("  " + _branches(found))
    if found.redundancy is not None and found.loops:
        lines += [f"  {line}" for line in found.redundancy.sentences()]
    if found.psi is not None and found.psi.independent:
        lines.append(f"  Independent coordinates: {', '.join(found.psi.independent)}.")
    if found.real:
        lines.append(f"  But {found.real}.")
    lines += [f"  Note: {note}." for note in found.notes]
    if found.primes:
        lines.append(f"  Modulo {len(found.primes)} random primes of 61 bits, seeded.")
    return "\n".join(lines)


def _loops(count: int) -> str:
    return "no loop" if count == 0 else "1 loop" if count == 1 else f"{count} loops"


def _branches(found: Any) -> str:
    each = ", ".join(f"rank {b['rank']}, mobility {b['mobility']}" for b in found.branches)
    counts = {len(v.branches) for v in found.verdicts}
    text = f"Branches followed: {len(found.branches)} ({each})."
    if len(counts) > 1:
        text += (
            f" Their number depends on the prime ({', '.join(map(str, sorted(counts)))}): "
            "some are not defined over the rationals, and may not be real."
        )
    return text
