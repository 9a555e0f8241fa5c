"""Print the velocities that closures allow, as polynomials.

Public names: psi, Psi.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from liaison.analyse.proofs.syzygies import PolynomialPsi, polynomial_psi
from liaison.arguments import checked
from liaison.display.page import plural
from liaison.expr import to_text
from liaison.lazy import Shown
from liaison.numeric.progress import lasting
from liaison.verbs.given import Given, mechanism_of
from liaison.verbs.registry import command


@final
@dataclass(frozen=True, slots=True, repr=False)
class Psi(Shown):
    """Ψ of a mechanism, column by column."""

    name: str
    result: PolynomialPsi

    @property
    def text(self) -> str:
        """A block for each column; entries that vanish are left out."""
        columns = self.result.columns
        if columns is None:
            return f"{self.name}: Ψ was not computed: the syzygies pass the bounds."
        names = [label.name for label in self.result.velocities]
        lines = [
            f"{self.name}: {plural(len(columns), 'column')} ψ with Δ ψ = 0 wherever the loops close"
        ]
        for k, column in enumerate(columns, 1):
            lines.append(f"ψ{k}")
            entries = ((n, to_text(x, share=False)) for n, x in zip(names, column, strict=True))
            lines += [f"    {name} = {text}" for name, text in entries if text != "0"]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        columns = self.result.columns
        return {
            "name": self.name,
            "velocities": [label.name for label in self.result.velocities],
            "columns": None
            if columns is None
            else [[to_text(x, share=False) for x in c] for c in columns],
        }


@command
@lasting("analyse")
@checked
def psi(given: Given) -> Psi:
    """Velocities that the closures allow, as polynomials of sines and cosines: Δ Ψ = 0.

    Args:
        given: the mechanism, the path of its text, or the text.

    Raises:
        DerivationError: no loops, or closures that are no polynomials with rational numbers.

    Example:
        >>> import liaison
        >>> str(liaison.psi("examples/four_bar.lsd")).splitlines()[0]
        'four bar: 5 columns ψ with Δ ψ = 0 wherever the loops close'
    """
    mechanism = mechanism_of(given)
    return Psi(mechanism.name, polynomial_psi(mechanism))
