"""Verdict of equivalence of two formalisms, and its proof.

Public names: Verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from liaison.lazy import Shown


@final
@dataclass(frozen=True, slots=True, repr=False)
class Verdict(Shown):
    """Whether a formalism is equivalent to the reference, and by which proof."""

    equal: bool | None  # None where it is not known
    how: str
    chance: float | None = None  # that equality modulo primes is an accident; None if numeric
    difference: str = ""  # where they differ
    degree: int = 0  # bound of the degree of a difference, as a polynomial
    primes: tuple[int, ...] = ()  # modulo which they were compared

    @property
    def is_proved(self) -> bool:
        """Equal, and not by floats."""
        return bool(self.equal) and self.chance is not None
