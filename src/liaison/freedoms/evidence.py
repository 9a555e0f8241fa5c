"""Evidence of the mobility, of redundant closures, of determined reactions, of assembly modes.

The theorems are those that the proof names; a proof that names none of the table is no evidence,
and its statement is called likely.

Public names: mobility_evidence, modes_evidence, THEOREMS.

Source: docs/theory/evidence.md; docs/theory/mobility.md.
"""

from __future__ import annotations

import re
from typing import Any

from liaison.exact.evidence import (
    BALLS,
    FLOATS,
    PRIMES,
    RATIONAL,
    RESIDUES,
    Evidence,
    accident,
)

THEOREMS = {
    "full column rank": "a zero with a Jacobian of full column rank is isolated",
    "no motion": "a zero with a Jacobian of full column rank is isolated",
    "implicit function theorem": "independent equations cut out a smooth set (implicit function "
    "theorem)",
    "Krull": "each equation takes away at most one dimension (Krull)",
    "Bézout": "an equation that vanishes on a curve to an order above the product of the degrees "
    "vanishes on all of it (Bézout)",
    "Nakayama": "m^k within the ideal and m^(k+1) leaves an isolated point (Nakayama), and a slice "
    "that is isolated bounds the dimension",
    "zeros as poles": "a function on a curve has as many zeros as poles",
    "identity theorem": "an analytic function that vanishes on an open part of a connected set "
    "vanishes on all of it (identity theorem)",
    "Krawczyk": "a box that Krawczyk's operator maps into its interior holds exactly one zero, "
    "with an invertible Jacobian",
    "changes its sign": "a function that takes both signs near its zero vanishes on a set of "
    "codimension one, for a smaller set does not separate a ball",
    "has one sign": "a function whose lowest part has one sign has no other real zero near",
    "splitting lemma": "a function is ± |ξ|² + g(y) in suitable coordinates (splitting lemma)",
    "without common real zero": "lowest forms without common real zero leave an isolated point "
    "(curve selection)",
    "fold without turning": "a smooth set cut out by real equations has its complex dimension over "
    "the reals",
    "the closure is smooth": "a smooth germ cut out by real equations has its complex dimension "
    "over the reals",
    "isolated over the complex numbers": "what is isolated over the complex numbers is isolated "
    "over the reals",
    "holds its joints": "joints of a loop that is isolated are constant, and may be left out",
    "independent sets of equations": "dimensions of sets that share no unknown add up",
    "every joint moves freely": "dimensions of sets that share no unknown add up",
    "stand in no equation": "dimensions of sets that share no unknown add up",
    "of speeds integrates, ": "Σ a q̇ = b(t) with constant a restricts positions",
    "of speeds integrates (Frobenius": "relations of speeds restrict positions where brackets of "
    "the vector fields they allow are combinations of these (Frobenius)",
    "brackets span every direction": "vector fields whose brackets span every direction reach all "
    "positions near (Chow, Rashevsky)",
}
"""Words of a proof -> the theorem that it uses."""

DRAWN = ("a path", "branch", "curve")
"""Words of a proof that follows a random direction."""

EXACT_WORDS = ("its sign", "one sign", "lowest forms")
"""Words of a proof over the real numbers that is made with rational numbers."""


def mobility_evidence(result: Any) -> tuple[Evidence, ...]:
    """Of a `Mobility`: its number, its redundant rows, its reactions."""
    return (_number(result), *_redundancy(result))


def _again(result: Any) -> dict[str, Any]:
    position = "".join(f" --at '{name}={x}'" for name, x in result.at)
    if result.mode != "exact":
        return {"seed": None, "repeat": f"liaison mobility FILE{position}"}
    primes = len(result.primes)
    command = f"liaison mobility FILE{position} --seed {result.seed} --primes {primes}"
    return {"seed": result.seed, "repeat": command}


def _number(result: Any) -> Evidence:
    low, high = result.finite
    number = f"{low}" if low == high else f"between {low} and {high}"
    rates = [note for note in result.notes if "of speeds" in note]
    words = "; ".join(x for x in (result.proof, result.real_proof, *rates) if x)
    theorems = list(dict.fromkeys(text for word, text in THEOREMS.items() if word in words))
    is_proved = result.is_proved and bool(theorems)
    is_drawn = any(word in words for word in DRAWN)
    order = max((int(n) for n in re.findall(r"order (\d+)", words)), default=1)
    why = "; ".join(theorems) if is_proved else _open(result, bool(theorems))
    primes = PRIMES.format(len(result.primes) or 2) if is_proved or result.primes else ""
    along = f"a random direction, order {order}; " if is_drawn else ""
    chance = accident(order, 1) if is_drawn else 0.0
    minors = re.search(r"(minors of degree at most (\d+)) vanish at (\d+) random points", words)
    if minors:
        along += f"{minors[1]}, {minors[3]} points; "
        chance += accident(int(minors[2]), int(minors[3]))
    return Evidence(
        f"{result.name}: the finite mobility here is {number}, over the real numbers",
        is_proved, words, _numbers(result), why,
        chance=chance if is_proved else None, bound=f"{along}{primes}", primes=result.primes,
        **_again(result),
    )  # fmt: skip


def _open(result: Any, has_theorem: bool) -> str:
    """What a likely number lacks."""
    if result.finite[0] < result.finite[1]:
        return "the bounds do not meet; the upper one holds"
    if result.is_proved and not has_theorem:
        return "no theorem is named"
    return "equations hold to an order, or in floats, and no bound shows that they hold further"


def _numbers(result: Any) -> str:
    if result.mode != "exact":
        return f"{BALLS}; groups of motions: {RESIDUES}" if result.is_proved else FLOATS
    if any(word in result.real_proof for word in EXACT_WORDS):
        numbers = BALLS if "in balls" in result.real_proof else RATIONAL
        return f"{numbers}, for the signs; {RESIDUES}"
    return RESIDUES


def _redundancy(result: Any) -> tuple[Evidence, ...]:
    redundancy = result.redundancy
    if redundancy is None or not result.loops:
        return ()
    is_exact = result.mode == "exact" or result.is_proved
    count = f"{redundancy.count} of {result.equations} closure equations are redundant here"
    computed = f"the rank of the constraint matrix at the position, {result.rank}"
    theorem = "a rank modulo p is at most the rank, and equal unless p divides a minor"
    shared: dict[str, Any] = {"primes": result.primes, **_again(result)}
    if redundancy.count == 0:
        theorem = "a rank modulo p is at most the rank: independent rows are independent"
    if result.mode != "exact":
        theorem = "the rank is the sum of the dimensions of the loops' groups of motions"
        if "carried along" in result.proof:
            theorem = "the rank is the codimension of a smooth set that such equations cut out"
    numbers = _numbers(result) if is_exact else FLOATS
    missing = "a rank in floats"
    is_modular = bool(redundancy.count) and is_exact
    primes = PRIMES.format(len(result.primes) or 2) if is_modular else ""
    rows = Evidence(
        f"{result.name}: {count}", is_exact, computed, numbers, theorem if is_exact else missing,
        chance=0.0 if is_exact else None, bound=primes, **shared,
    )  # fmt: skip
    if not redundancy.count:
        return (rows,)
    determined = sum(len(parts) for _, parts in redundancy.determined)
    undetermined = sum(len(parts) for _, parts in redundancy.undetermined)
    is_sure = is_exact and redundancy.is_exact
    reactions = Evidence(
        f"{result.name}: {determined} components of reactions in joints of loops are determined, "
        f"{undetermined} are not",
        is_sure,
        f"the components that the {redundancy.count} self-stresses reach",
        RESIDUES if redundancy.is_exact else FLOATS,
        "a reaction is determined exactly where every self-stress leaves it zero (Fredholm)"
        if redundancy.is_exact else "self-stresses in floats",
        chance=0.0 if is_sure else None, bound=primes if is_sure else "", **shared,
    )  # fmt: skip
    return (rows, reactions)


OPEN = ("rounded", "is right")
"""Words of reasons that leave something open: rounded data, and engines that are not checked."""

KRAWCZYK = (
    "a box that Krawczyk's operator maps into its interior holds exactly one zero; zeros over the "
    "rational numbers are isolated exactly"
)


def modes_evidence(result: Any) -> tuple[Evidence, ...]:
    """Of `AssemblyModes`: that they exist, and that they are all."""
    position = "".join(f" --at '{name}={x!r}'" for name, x in result.held.items())
    command = f"liaison assemble FILE --all{position}"
    again: dict[str, Any] = {"seed": result.seed, "repeat": command}
    sure = [mode for mode in result.modes if mode.proof]
    kinds = sorted({mode.proof for mode in sure})
    radius = max((mode.radius for mode in sure), default=0.0)
    is_proved = len(sure) == len(result.modes)
    exist = Evidence(
        f"{result.name}: {len(sure)} of {len(result.modes)} modes exist", is_proved,
        f"a box around each of radius {radius:.0e} or less ({', '.join(kinds) or 'none'})",
        BALLS if "Krawczyk" in kinds else RATIONAL if sure else FLOATS,
        KRAWCZYK if is_proved else "a mode in floats alone", chance=0.0 if is_proved else None,
        **again,
    )  # fmt: skip
    counted = "" if result.complex is None else f"; {result.complex} over the complex numbers"
    number = "no" if result.is_complete else "perhaps"
    is_sure = result.is_complete and not any(word in result.why for word in OPEN)
    everything = Evidence(
        f"{result.name}: there are {number} other isolated modes", is_sure,
        f"{result.method}{counted}", f"{RATIONAL}, and {BALLS}" if result.is_complete else FLOATS,
        result.why, chance=0.0 if is_sure else None, **again,
    )  # fmt: skip
    return (exist, everything)
