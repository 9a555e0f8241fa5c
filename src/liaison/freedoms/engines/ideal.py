"""Ideals of polynomials: standard (Gröbner) bases, division, dimension, syzygies Ψ with Δ Ψ = 0.

Why it is here: only this answers questions about a whole variety without an executable: dimension,
membership, Hilbert function, syzygies. The engine is FLINT's plain Buchberger algorithm over the
integers, which is at home with the small closures of the literature (a few unknowns, degree two).
It works within limits on the number and the size of polynomials; where they are passed the answer
is None, "not computed", never a guess.

Public names: Basis, groebner, divided, syzygies, polynomials_of, dimension_by, Limits.

Source: CLO15 §2.3 (division), §2.7 (Buchberger), §9.3 (dimension and Hilbert function);
CLO05 §5.2 (syzygies from a module's basis); the request is PA's ("bases standards").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import comb, lcm
from typing import Any, final

from liaison.errors import DerivationError
from liaison.expr import ZERO, Expr, as_expr, constant, evaluate
from liaison.expr.graph.evaluate import Domain
from liaison.lazy import Shown

from .buchberger import autoreduced


@final
@dataclass(frozen=True, slots=True)
class Limits:
    """How far Buchberger's algorithm may go before it gives up."""

    polynomials: int = 400
    terms: int = 2000
    bits: int = 2000


@final
class _Polynomials(Domain):
    """Formulas as polynomials with rational coefficients."""

    def __init__(self, context: Any) -> None:
        self.context = context

    def constant(self, value: Any) -> Any:
        """Exact."""
        from flint import fmpq

        exact = Fraction(value)
        return self.context.constant(fmpq(exact.numerator, exact.denominator))

    def from_value(self, value: Any) -> Any:
        """Already a polynomial."""
        return value

    def operation(self, node: Expr) -> Callable[..., Any]:
        """Sums, products, whole powers, division by numbers."""
        table: dict[str, Callable[..., Any]] = {
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "neg": lambda a: -a,
            "div": lambda a, b: a * (1 / b.leading_coefficient()),
            "pow": lambda a, b: a ** int(b.leading_coefficient()),
        }
        if node.op not in table:
            raise DerivationError(
                f"{node.op} is no polynomial.", hint="Write sines and cosines as unknowns."
            )
        return table[node.op]


def _context(names: Sequence[str], order: str) -> Any:
    from flint import fmpq_mpoly_ctx

    return fmpq_mpoly_ctx.get(tuple(names), order)


def _polynomials(formulas: Sequence[Any], unknowns: Sequence[Expr], context: Any) -> list[Any]:
    values = dict(zip(unknowns, context.gens()[-len(unknowns) :], strict=True))
    return list(evaluate([as_expr(f) for f in formulas], values, _Polynomials(context)))


def polynomials_of(formulas: Sequence[Any], unknowns: Sequence[Expr]) -> list[Any]:
    """Formulas as FLINT's polynomials over the rationals, order degrevlex."""
    return _polynomials(
        formulas, unknowns, _context([f"x{i}" for i in range(len(unknowns))], "degrevlex")
    )


def _whole(polynomials: Sequence[Any], context: Any) -> Any:
    """The polynomials without denominators, as FLINT's vector over the integers."""
    from flint import fmpz_mpoly_ctx, fmpz_mpoly_vec

    integers = fmpz_mpoly_ctx.get(context.names(), context.ordering())
    integral = []
    for f in polynomials:
        scale = lcm(*(int(c.q) for c in f.coeffs())) if not f.is_zero() else 1
        terms = {m: int(c.p) * (scale // int(c.q)) for m, c in f.to_dict().items()}
        integral.append(integers.from_dict(terms))
    return fmpz_mpoly_vec([f for f in integral if not f.is_zero()], integers)


@final
@dataclass(frozen=True, repr=False)
class Basis(Shown):
    """A reduced standard basis of an ideal."""

    unknowns: tuple[Expr, ...]
    polynomials: tuple[Any, ...]  # FLINT's, over the rationals
    context: Any

    def formulas(self) -> list[Expr]:
        """The basis as formulas of the unknowns."""
        return [_formula(f, self.unknowns) for f in self.polynomials]

    def remainder(self, formula: Any) -> Expr:
        """The normal form of a formula: zero exactly where the ideal holds it."""
        (f,) = _polynomials([formula], self.unknowns, self.context)
        return _formula(_division(f, self.polynomials)[1], self.unknowns)

    def contains(self, formula: Any) -> bool:
        """The formula vanishes by the equations, combined with polynomials."""
        return self.remainder(formula) is ZERO

    def leading(self) -> list[tuple[int, ...]]:
        """Exponents of the leading monomials."""
        return [tuple(int(e) for e in f.monoms()[0]) for f in self.polynomials]

    def dimension(self) -> int:
        """The dimension of the variety over the complex numbers; −1 where it is empty."""
        return dimension_by(self.leading(), len(self.unknowns))

    def hilbert(self, degree: int) -> int:
        """Monomials up to a degree that are not leading: the affine Hilbert function.

        It counts rightly for a basis in an order by degree.
        """
        n, lead = len(self.unknowns), self.leading()
        total = 0
        for size in range(len(lead) + 1):
            for chosen in combinations(lead, size):
                top = [max(e) for e in zip(*chosen, strict=True)] if chosen else [0] * n
                rest = degree - sum(top)
                total += (-1) ** size * (comb(rest + n, n) if rest >= 0 else 0)
        return total


def dimension_by(leading: Sequence[tuple[int, ...]], n: int) -> int:
    """The dimension of a variety by the leading monomials of a standard basis; −1: it is empty.

    It is the size of the largest set of unknowns whose monomials contain no leading one.
    """
    supports = [frozenset(i for i, e in enumerate(powers) if e) for powers in leading]
    if any(not support for support in supports):
        return -1
    for size in range(n, -1, -1):
        for subset in combinations(range(n), size):
            if not any(support <= set(subset) for support in supports):
                return size
    return 0


def _formula(f: Any, unknowns: Sequence[Expr]) -> Expr:
    total = ZERO
    offset = len(f.context().gens()) - len(unknowns)
    for powers, c in f.to_dict().items():
        term = constant(Fraction(int(c.p), int(c.q)))
        for x, e in zip(unknowns, powers[offset:], strict=True):
            for _ in range(int(e)):
                term = as_expr(term * x)
        total = as_expr(total + term)
    return total


def groebner(
    formulas: Sequence[Any],
    unknowns: Sequence[Expr],
    *,
    order: str = "degrevlex",
    limits: Limits | None = None,
) -> Basis | None:
    """The reduced standard basis of an ideal; None where the limits are passed.

    Args:
        formulas: polynomials with rational coefficients.
        unknowns: in the order that counts.
        order: "degrevlex", "deglex" or "lex".
        limits: of the computation.
    """
    context = _context([f"x{i}" for i in range(len(unknowns))], order)
    basis = _buchberger(_polynomials(formulas, unknowns, context), context, limits or Limits())
    return None if basis is None else Basis(tuple(unknowns), tuple(basis), context)


def _buchberger(polynomials: Sequence[Any], context: Any, limits: Limits) -> list[Any] | None:
    bounds = (limits.polynomials, limits.terms, limits.bits)
    basis = autoreduced(_whole(polynomials, context), bounds)
    return None if basis is None else [_monic(f, context) for f in basis]


def _monic(f: Any, context: Any) -> Any:
    from flint import fmpq

    lead = int(f.coeffs()[0])
    return context.from_dict({m: fmpq(int(c), lead) for m, c in f.to_dict().items()})


def divided(
    formula: Any, divisors: Sequence[Any], unknowns: Sequence[Expr], order: str = "degrevlex"
) -> tuple[list[Expr], Expr]:
    """Quotients and remainder of a polynomial by several, in the order they are given."""
    context = _context([f"x{i}" for i in range(len(unknowns))], order)
    f, *others = _polynomials([formula, *divisors], unknowns, context)
    quotients, remainder = _division(f, others)
    return [_formula(q, unknowns) for q in quotients], _formula(remainder, unknowns)


def _division(f: Any, divisors: Sequence[Any]) -> tuple[list[Any], Any]:
    context = f.context()
    quotients, remainder = [context.constant(0)] * len(divisors), context.constant(0)
    while not f.is_zero():
        lead, c = f.monoms()[0], f.coeffs()[0]
        for k, g in enumerate(divisors):
            powers = [int(a) - int(b) for a, b in zip(lead, g.monoms()[0], strict=True)]
            if min(powers, default=0) >= 0:
                step = context.from_dict({tuple(powers): c / g.coeffs()[0]})
                quotients[k] = quotients[k] + step
                f = f - step * g
                break
        else:
            term = context.from_dict({tuple(int(e) for e in lead): c})
            remainder, f = remainder + term, f - term
    return quotients, remainder


def syzygies(
    matrix: Sequence[Sequence[Any]],
    relations: Sequence[Any],
    unknowns: Sequence[Expr],
    *,
    limits: Limits | None = None,
) -> list[list[Expr]] | None:
    """Columns ψ with Δ ψ = 0 on the variety of some relations, which generate all such columns.

    A column is marked by a tag v_j, a row by a tag u_i; products of tags vanish. In a standard
    basis that ranks the u's first, what is free of them is what the rows do not see.

    Args:
        matrix: Δ, of polynomials.
        relations: closure and sin² + cos² = 1, of the unknowns.
        unknowns: of matrix and relations.
        limits: of the computation.

    Returns:
        The columns; None where the limits are passed.
    """
    m, n = len(matrix), len(matrix[0])
    tags = [f"u{i}" for i in range(m)] + [f"v{j}" for j in range(n)]
    context = _context([*tags, *(f"x{i}" for i in range(len(unknowns)))], "lex")
    marks = context.gens()[: m + n]
    flat = _polynomials([x for row in matrix for x in row], unknowns, context)
    ideal = _polynomials(relations, unknowns, context)
    generators = [sum((flat[i * n + j] * marks[i] for i in range(m)), marks[m + j])
                  for j in range(n)]  # fmt: skip
    generators += [r * mark for r in ideal for mark in marks]
    generators += [a * b for k, a in enumerate(marks) for b in marks[k:]]
    basis = _buchberger(generators, context, limits or Limits(1500, 5000, 4000))
    closure = groebner(relations, unknowns, limits=limits)
    if basis is None or closure is None:
        return None
    columns = [_column(f, m, n, unknowns, closure) for f in basis]
    return [column for column in columns if column is not None]


def _column(f: Any, m: int, n: int, unknowns: Sequence[Expr], closure: Basis) -> Any:
    """The entries of a tagged polynomial that is free of rows; None if it is none, or zero."""
    parts: list[Expr] = [ZERO] * n
    for powers, c in f.to_dict().items():
        tags = [int(e) for e in powers[: m + n]]
        if sum(tags[:m]) or sum(tags[m:]) != 1:
            return None
        term = constant(Fraction(int(c.p), int(c.q)))
        for x, e in zip(unknowns, powers[m + n :], strict=True):
            for _ in range(int(e)):
                term = as_expr(term * x)
        j = tags[m:].index(1)
        parts[j] = as_expr(parts[j] + term)
    reduced = [closure.remainder(part) for part in parts]
    return reduced if any(part is not ZERO for part in reduced) else None
