"""Eliminate in a matrix of formulas by cases.

Public names: gausselim, Elimination.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.errors import ArgumentError
from liaison.exact.rank import Case, gauss
from liaison.expr import Expr, to_text
from liaison.expr.parse import formulas
from liaison.lazy import Shown
from liaison.numeric.progress import lasting


@final
@dataclass(frozen=True, slots=True, repr=False)
class Elimination(Shown):
    """The cases of an elimination; their conditions exclude each other."""

    cases: tuple[Case, ...]

    @property
    def text(self) -> str:
        """Each case: its conditions, its rank, and the rows in echelon form."""
        lines: list[str] = []
        for case in self.cases:
            lines.append(f"{conditions_text(case) or 'always'}: rank {case.rank}")
            lines += [f"    [{', '.join(map(to_text, row))}]" for row in case.matrix.tolist()]
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "cases": [
                {
                    "conditions": conditions_text(x),
                    "rank": x.rank,
                    "matrix": [[to_text(y) for y in row] for row in x.matrix.tolist()],
                }
                for x in self.cases
            ]
        }


def conditions_text(case: Case) -> str:
    """Which formulas vanish and which do not."""
    return " and ".join(f"{to_text(x)} {'≠' if y else '='} 0" for x, y in case.conditions)


@lasting("analyse")
def gausselim(matrix: str | Sequence[Sequence[Any]]) -> Elimination:
    """Gaussian elimination that splits wherever a pivot could vanish.

    Args:
        matrix: rows of numbers and formulas, which may hold unknown functions; or such rows as a
            text, "[[x(t), 1, 0], [0, 0, 1], [1, y, 1]]".

    Raises:
        TextError: a text that is no matrix of formulas.
        DerivationError: more cases than the bound on their number.

    Example:
        >>> import liaison
        >>> print(liaison.gausselim("[[x, 1], [1, y]]"))
        x ≠ 0 and y - 1/x ≠ 0: rank 2
            [x, 1]
            [0, y - 1/x]
        x ≠ 0 and y - 1/x = 0: rank 1
            [x, 1]
            [0, 0]
        x = 0: rank 2
            [1, y]
            [0, 1]
    """
    rows = formulas(matrix, "matrix") if isinstance(matrix, str) else matrix
    if isinstance(rows, Expr) or not rows or not all(isinstance(x, Sequence) for x in rows):
        raise ArgumentError("gausselim: the matrix is a list of rows, [[a, b], [c, d]].")
    if len({len(row) for row in rows}) != 1:
        sizes = ", ".join(str(len(row)) for row in rows)
        raise ArgumentError(f"gausselim: rows of one matrix are equally long; these have {sizes}.")
    return Elimination(tuple(gauss(rows)))
