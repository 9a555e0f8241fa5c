"""FLINT's plain Buchberger algorithm over the rationals: the only Gröbner basis without msolve.

It cannot be interrupted. So this file is also a program, which finite.py runs apart where a basis
might take long: given the folder that FLINT's package is in, it reads polynomials from the file
`in`, as JSON, and writes their reduced standard basis into `out`. Whoever starts it bounds its time
and its memory.

Public names: reduced_basis, autoreduced.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

Whole: TypeAlias = list[tuple[list[int], str]]
"""A polynomial with whole coefficients: exponents and digits of each term."""


def reduced_basis(
    polynomials: Sequence[Whole], count: int, limits: tuple[int, int, int]
) -> list[Whole] | None:
    """The reduced standard basis over the rationals, order degrevlex; None past the limits.

    Args:
        polynomials: none of them zero.
        count: of unknowns.
        limits: of polynomials, terms, and bits of coefficients.
    """
    from flint import fmpz, fmpz_mpoly_ctx, fmpz_mpoly_vec

    context = fmpz_mpoly_ctx.get(tuple(f"x{i}" for i in range(count)), "degrevlex")
    generators = [context.from_dict({tuple(m): fmpz(c) for m, c in f}) for f in polynomials]
    basis = autoreduced(fmpz_mpoly_vec(generators, context), limits)
    if basis is None:
        return None
    return [
        [([int(e) for e in m], str(c)) for m, c in zip(f.monoms(), f.coeffs(), strict=True)]
        for f in basis
    ]


def autoreduced(vector: Any, limits: tuple[int, int, int]) -> Any:
    """The reduced basis of FLINT's vector over the integers; None past the limits."""
    basis, is_finished = vector.buchberger_naive(limits=limits)
    return basis.autoreduction() if is_finished else None


def _main() -> None:
    polynomials, count, limits = json.loads(Path("in").read_text())
    basis = reduced_basis(polynomials, count, tuple(limits))
    Path("out").write_text(json.dumps(basis))


if __name__ == "__main__":
    sys.path.append(sys.argv[1])
    _main()
