"""Options of questions about mobility, as typed keywords.

Public names: ProofKeywords, SearchKeywords.
"""

from __future__ import annotations

from typing import TypedDict


class SearchKeywords(TypedDict, total=False):
    """Options of a search for all assembly modes.

    Attributes:
        seed: of everything that is drawn at random; 0.
        time_limit: wall clock [s], or a text such as "2 min"; what is not decided by then is
            "undecided".
        memory_limit: bytes.
    """

    seed: int
    time_limit: float | str
    memory_limit: float


class ProofKeywords(SearchKeywords, total=False):
    """Options of a proof of mobility.

    Attributes:
        order: highest order of power series computed for a proof.
        primes: how many random primes must agree.
    """

    order: int
    primes: int
