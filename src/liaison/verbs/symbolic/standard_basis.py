"""Compute a standard basis of polynomials, and divide by it.

Public names: standard_basis, StandardBasis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, final

from liaison.arguments import checked
from liaison.errors import ArgumentError, DerivationError
from liaison.expr import Expr, as_expr, symbol, symbols_of
from liaison.expr.parse import formulas
from liaison.freedoms.engines.ideal import Basis, divided, groebner, polynomials_of
from liaison.lazy import Shown
from liaison.numeric.progress import lasting

ORDERS = ("degrevlex", "deglex", "lex")
DEGREES = 8
"""Degrees up to which the Hilbert function is printed."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class StandardBasis(Shown):
    """A reduced standard (Gröbner) basis.

    Attributes:
        basis: polynomials, remainders and dimension.
        dividend: a polynomial that was divided; None without one.
        plain: its remainder by the polynomials as they are, which depends on their order.
        remainder: its remainder by the basis.
    """

    basis: Basis
    dividend: Expr | None = None
    plain: Expr | None = None
    remainder: Expr | None = None

    @property
    def text(self) -> str:
        """The basis, the dimension of its variety, its Hilbert function, and a division."""
        names = ", ".join(str(x.name) for x in self.basis.unknowns)
        lines = [f"basis in {names}:", *(f"    {self._short(x)}" for x in self.basis.formulas())]
        values = ", ".join(str(self.basis.hilbert(k)) for k in range(DEGREES))
        lines += [f"dimension {self.basis.dimension()}", f"Hilbert function {values}, …"]
        if self.dividend is not None and self.plain is not None and self.remainder is not None:
            lines.append(f"{self._short(self.dividend)}")
            lines.append(f"    by the polynomials: remainder {self._short(self.plain)}")
            lines.append(f"    by the basis: remainder {self._short(self.remainder)}")
        return "\n".join(lines)

    def _short(self, x: Expr) -> str:
        """A polynomial of the unknowns, term by term."""
        (f,) = polynomials_of([x], self.basis.unknowns)
        names = [str(y.name) for y in self.basis.unknowns]
        terms = [_term(c, m, names) for m, c in zip(f.monoms(), f.coeffs(), strict=True)]
        return " + ".join(terms).replace("+ -", "- ") or "0"

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "unknowns": [str(x.name) for x in self.basis.unknowns],
            "basis": [self._short(x) for x in self.basis.formulas()],
            "dimension": self.basis.dimension(),
            "hilbert": [self.basis.hilbert(k) for k in range(DEGREES)],
            "remainder": None if self.remainder is None else self._short(self.remainder),
        }


def _term(coefficient: Any, exponents: Sequence[Any], names: Sequence[str]) -> str:
    powers = [f"{x}^{e}" if int(e) > 1 else x for x, e in zip(names, exponents) if int(e)]
    number = str(coefficient)
    if not powers or number not in ("1", "-1"):
        powers.insert(0, number)
    return ("-" if number == "-1" and powers[0] != number else "") + "*".join(powers)


@lasting("analyse")
@checked
def standard_basis(
    polynomials: Sequence[Any],
    unknowns: Sequence[str] = (),
    *,
    order: str = "degrevlex",
    divide: Any = None,
) -> StandardBasis:
    """The reduced standard basis of polynomials with rational coefficients.

    Args:
        polynomials: formulas, or texts such as "X^3*Y - Y^2".
        unknowns: names in the order that counts; by name if not given.
        order: "degrevlex", "deglex" or "lex".
        divide: a polynomial to be divided by them and by the basis.

    Raises:
        ArgumentError: no polynomials, an unknown order.
        DerivationError: no polynomials of the unknowns, or a basis beyond all bounds.

    Example:
        >>> import liaison
        >>> print(liaison.standard_basis(["x^2 + y^2 - 1", "x - y"]))
        basis in x, y:
            x - y
            y^2 - 1/2
        dimension 0
        Hilbert function 1, 2, 2, 2, 2, 2, 2, 2, …
    """
    read = [formulas(x, "polynomial") if isinstance(x, str) else as_expr(x) for x in polynomials]
    if not read or any(not isinstance(x, Expr) for x in read):
        raise ArgumentError("standard_basis: give one polynomial or more, each a formula.")
    if order not in ORDERS:
        raise ArgumentError(f"standard_basis: order is {order!r}; it is {', '.join(ORDERS)}.")
    dividend = formulas(divide, "polynomial") if isinstance(divide, str) else divide
    every = [*read, *([] if dividend is None else [as_expr(dividend)])]
    names = list(unknowns) or sorted(str(x.name) for x in symbols_of(every))
    symbols = [symbol(x) for x in names]
    basis = groebner(read, symbols, order=order)
    if basis is None:
        raise DerivationError("the basis has more polynomials or terms than the bounds allow.")
    if dividend is None:
        return StandardBasis(basis)
    _, plain = divided(dividend, read, symbols, order)
    return StandardBasis(basis, as_expr(dividend), plain, basis.remainder(dividend))
