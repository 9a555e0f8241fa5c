"""Sums of products arranged for reading: common factors outside, terms together, in a fixed order.

Public names: Form, Monomial, Order, arranged, common_factor, quotient, product_of, scaled,
sum_of, factored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias, final

from .reading import Call, Name, Number, Power, Product, Reading, Sum, leaves

Monomial: TypeAlias = tuple[tuple[Reading, int], ...]  # in the order of `Order.key`
Form: TypeAlias = dict[Monomial, Fraction]
ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))
NICE = 12
"""Largest denominator of a fraction that is taken out of a sum."""
TRIED, FEW = 3, 6
"""Atoms by which a sum is split for trial, and terms of a sum for which it is tried."""
KINDS = ("parameter", "position", "function", "velocity", "acceleration", "multiplier")


@final
class Order:
    """Which factor comes first, and which factors are alike.

    Args:
        names: lists of names for some of KINDS; a name in none is a parameter, in alphabetical
            order behind those that are listed.
    """

    def __init__(self, names: Mapping[str, Sequence[str]] | None = None) -> None:
        self._places = {
            name: (KINDS.index(kind), k)
            for kind, listed in (names or {}).items()
            for k, name in enumerate(listed)
        }
        self._kinds: dict[Reading, int] = {}
        self._keys: dict[Reading, tuple[Any, ...]] = {}
        self.arranged: dict[frozenset[tuple[Monomial, Fraction]], Reading] = {}

    def kind(self, atom: Reading) -> int:
        """Place in KINDS."""
        if atom not in self._kinds:
            self._kinds[atom] = self._kind(atom)
        return self._kinds[atom]

    def key(self, atom: Reading) -> tuple[Any, ...]:
        """By kind, place in its list, text."""
        if atom not in self._keys:
            self._keys[atom] = self._key(atom)
        return self._keys[atom]

    def _kind(self, atom: Reading) -> int:
        if isinstance(atom, Name):
            return self._places.get(atom.text, (0, 0))[0]
        if isinstance(atom, Power):
            return self.kind(atom.base)
        if isinstance(atom, Sum):
            return max(self.kind(term) for term in atom.terms)
        if isinstance(atom, Product):
            return max(self.kind(factor) for factor in atom.factors)
        if isinstance(atom, Call):
            inner = max((self.kind(x) for x in atom.arguments), default=0)
            return inner if inner == 0 else max(2, inner)
        return 0

    def _key(self, atom: Reading) -> tuple[Any, ...]:
        if isinstance(atom, Name):
            kind, place = self._places.get(atom.text, (0, 10_000))
            return kind, place, 0, atom.text
        first = min((self.key(x) for x in _inside(atom)), default=(0, 0, 0, ""))
        return self.kind(atom), first[1], 1, _text(atom)

    def monomial_key(self, m: Monomial) -> tuple[Any, ...]:
        """Terms without velocities after those with them; then by factors, higher powers first."""
        kinds = [self.kind(atom) for atom, _ in m]
        highest = max(kinds, default=0)
        moving = -highest if highest >= KINDS.index("velocity") else 0
        return moving, tuple((self.key(atom), -e) for atom, e in reversed(m))

    def sorted(self, powers: Mapping[Reading, int]) -> Monomial:
        """A monomial of powers."""
        return tuple(sorted(((a, e) for a, e in powers.items() if e), key=lambda x: self.key(x[0])))


def _inside(atom: Reading) -> Iterable[Reading]:
    if isinstance(atom, Call):
        return atom.arguments
    if isinstance(atom, Power):
        return (atom.base,)
    if isinstance(atom, Sum):
        return atom.terms
    return atom.factors if isinstance(atom, Product) else ()


def _text(atom: Reading) -> str:
    """A sort key of atoms of one kind and place; sines before cosines."""
    if isinstance(atom, Name):
        return atom.text
    if isinstance(atom, Number):
        return str(atom.value)
    head = type(atom).__name__
    if isinstance(atom, Call):
        head = {"sin": "0", "cos": "1"}.get(atom.function, atom.function)
    return f"{'' if isinstance(atom, Call) else head}({','.join(map(_text, _inside(atom)))}){head}"


# Building readings ------------------------------------------------------------------------------


def product_of(number: Fraction, factors: Iterable[Reading]) -> Reading:
    """A number times factors, flat, 1 left out."""
    flat: list[Reading] = []
    for factor in factors:
        parts = factor.factors if isinstance(factor, Product) else (factor,)
        for part in parts:
            if isinstance(part, Number):
                number = number * part.value
            else:
                flat.append(part)
    if not flat or number == 0:
        return Number(number)
    if number != 1:
        flat.insert(0, Number(number))
    return flat[0] if len(flat) == 1 else Product(tuple(flat))


def sum_of(terms: Iterable[Reading]) -> Reading:
    """A flat sum, zeros left out."""
    flat: list[Reading] = []
    for term in terms:
        flat += term.terms if isinstance(term, Sum) else (term,)
    nonzero = [term for term in flat if term != ZERO]
    if not nonzero:
        return ZERO
    return nonzero[0] if len(nonzero) == 1 else Sum(tuple(nonzero))


def negated(reading: Reading) -> Reading:
    """A sum of negative terms as minus a sum of positive ones."""
    terms = reading.terms if isinstance(reading, Sum) else (reading,)
    return product_of(Fraction(-1), [sum_of(product_of(Fraction(-1), [x]) for x in terms)])


def _positive_first(terms: Iterable[Reading]) -> list[Reading]:
    """Terms in their order, but none that is negative before all that are positive."""
    ordered = list(terms)
    first = next((k for k, term in enumerate(ordered) if not _is_negative(term)), 0)
    return [ordered[first], *ordered[:first], *ordered[first + 1 :]] if ordered else ordered


def _is_negative(term: Reading) -> bool:
    lead = term.factors[0] if isinstance(term, Product) else term
    return isinstance(lead, Number) and lead.value < 0


def _powers(m: Monomial) -> list[Reading]:
    return [_power(atom, e) for atom, e in m]


def _power(atom: Reading, e: int) -> Reading:
    if isinstance(atom, Power):
        return _power(atom.base, atom.exponent * e)
    return atom if e == 1 else Power(atom, e)


# Arranging --------------------------------------------------------------------------------------


def arranged(form: Form, order: Order) -> Reading:
    """The form factored where that is shorter, its terms grouped and in order."""
    key = frozenset(form.items())
    if key not in order.arranged:
        order.arranged[key] = _arranged(form, order)
    return order.arranged[key]


def _arranged(form: Form, order: Order) -> Reading:
    if not form:
        return ZERO
    if len(form) == 1:
        ((m, c),) = form.items()
        return product_of(c, _powers(m))
    plain = _sum(form, order)
    number, factors = factored(form, order)
    if len(factors) == 1 and factors[0][1] == 1 and number in (1, -1):
        return plain if max(form.values()) > 0 else negated(plain)
    parts = [(f, e, _leading(f, order)) for f, e in factors]
    number = _sign(number, parts)
    product_reading = _product(number, [(_positive(f, s), e) for f, e, s in parts], order)
    return product_reading if leaves(product_reading) <= leaves(plain) else plain


def _sign(number: Fraction, parts: Sequence[tuple[Form, int, int]]) -> Fraction:
    for _, e, sign in parts:
        number = number * sign**e
    return number


def _leading(form: Form, order: Order) -> int:
    first = min(form, key=order.monomial_key)
    return 1 if form[first] > 0 else -1


def _positive(form: Form, sign: int) -> Form:
    return form if sign > 0 else {m: -c for m, c in form.items()}


def _product(number: Fraction, factors: Sequence[tuple[Form, int]], order: Order) -> Reading:
    """Number and atoms first, then the sums; a number that is no plain fraction goes into a sum."""
    atoms: dict[Reading, int] = {}
    sums: list[tuple[Form, int]] = []
    for form, e in factors:
        if len(form) == 1:
            ((m, c),) = form.items()
            number = number * c**e
            for atom, power in m:
                atoms[atom] = atoms.get(atom, 0) + e * power
        else:
            sums.append((form, e))
    is_plain = number.denominator <= NICE and abs(number.numerator) <= NICE
    open_ = next((k for k, (form, e) in enumerate(sums) if e == 1 and _has_numbers(form)), None)
    if open_ is not None and not is_plain:
        form, _ = sums[open_]
        sums[open_] = ({m: c * number for m, c in form.items()}, 1)
        number = Fraction(1)
    is_alone = len(sums) == 1 and sums[0][1] == 1 and _divides_only(atoms)
    if number == -1 and is_alone and min(sums[0][0].values()) < 0:
        sums[0] = _positive(sums[0][0], -1), 1
        number = Fraction(1)
    sums.sort(key=lambda pair: min(map(order.monomial_key, pair[0])))
    monomial = order.sorted(atoms)
    kept = [(order.kind(a), _power(a, e)) for a, e in monomial]
    written = [(_form_kind(f, order), _power(_sum(f, order), e)) for f, e in sums]
    merged = sorted([*kept, *written], key=lambda pair: pair[0])
    return product_of(number, [reading for _, reading in merged])


def _divides_only(atoms: Mapping[Reading, int]) -> bool:
    return all(isinstance(atom, Power) and atom.exponent < 0 for atom in atoms)


def _has_numbers(form: Form) -> bool:
    return any(abs(c) != 1 for c in form.values())


def _form_kind(form: Form, order: Order) -> float:
    """Sums come before the factors of their kind that are no parameters."""
    kind = max((order.kind(atom) for m in form for atom, _ in m), default=0)
    return kind + 0.5 if kind == 0 else kind - 0.5


def _sum(form: Form, order: Order) -> Reading:
    """Terms grouped by velocities, then by functions and positions, then by one parameter."""
    for least in (KINDS.index("velocity"), 1):
        groups: dict[Monomial, Form] = {}
        for m, c in form.items():
            key = tuple(x for x in m if order.kind(x[0]) >= least)
            rest = tuple(x for x in m if order.kind(x[0]) < least)
            groups.setdefault(key, {})[rest] = c
        if len(groups) > 1:
            keys = sorted(groups, key=order.monomial_key)
            return sum_of(_positive_first(scaled(arranged(groups[k], order), k) for k in keys))
    return _by_parameter(form, order)


def scaled(coefficient: Reading, m: Monomial) -> Reading:
    """A coefficient before a product of powers."""
    return product_of(Fraction(1), [coefficient, *_powers(m)]) if m else coefficient


def _by_parameter(form: Form, order: Order) -> Reading:
    """Terms that share a power of an atom taken together where that is shorter."""
    if len(form) > 2:
        shared: dict[Reading, int] = {}
        for m in form:
            for atom, _ in m:
                shared[atom] = shared.get(atom, 0) + 1
        counts = {a: n for a, n in shared.items() if 1 < n < len(form)}
        if counts:
            tried = sorted(counts, key=lambda a: (-counts[a], order.key(a)))
            tried = tried[: TRIED if len(form) <= FEW else 1]
            return min((_split(form, atom, order) for atom in tried), key=leaves)
    terms = sorted(form, key=order.monomial_key)
    return sum_of(_positive_first(product_of(form[m], _powers(m)) for m in terms))


def _split(form: Form, atom: Reading, order: Order) -> Reading:
    with_it = {m: c for m, c in form.items() if atom in dict(m)}
    rest = {m: c for m, c in form.items() if m not in with_it}
    return sum_of(_positive_first([arranged(with_it, order), arranged(rest, order)]))


# With FLINT -------------------------------------------------------------------------------------


def _context(forms: Sequence[Form]) -> tuple[list[Reading], Any, Callable[[Form], Any]]:
    from flint import fmpq, fmpq_mpoly_ctx

    atoms = list(dict.fromkeys(atom for form in forms for m in form for atom, _ in m))
    context = fmpq_mpoly_ctx.get([f"x{k}" for k in range(len(atoms))] or ["x0"], "lex")
    place = {atom: k for k, atom in enumerate(atoms)}

    def polynomial(form: Form) -> Any:
        terms = {}
        for m, c in form.items():
            exponents = [0] * max(len(atoms), 1)
            for atom, e in m:
                exponents[place[atom]] = e
            terms[tuple(exponents)] = fmpq(c.numerator, c.denominator)
        return context.from_dict(terms)

    return atoms, context, polynomial


def _form(p: Any, atoms: Sequence[Reading], order: Order) -> Form:
    return {
        order.sorted({a: int(e) for a, e in zip(atoms, m, strict=False) if int(e)}): Fraction(
            int(c.p), int(c.q)
        )
        for m, c in p.to_dict().items()
    }


def factored(form: Form, order: Order) -> tuple[Fraction, list[tuple[Form, int]]]:
    """A number and irreducible factors with their powers."""
    atoms, _, polynomial_of = _context([form])
    number, factors = polynomial_of(form).factor()
    value = Fraction(int(number.p), int(number.q)) if hasattr(number, "p") else Fraction(number)
    return value, [(_form(f, atoms, order), int(e)) for f, e in factors]


def common_factor(forms: Sequence[Form], order: Order) -> Form:
    """The greatest common divisor, with whole coprime coefficients left in the quotients."""
    nonzero = [form for form in forms if form]
    if not nonzero:
        return {(): Fraction(1)}
    atoms, _, polynomial_of = _context(nonzero)
    polynomials = [polynomial_of(form) for form in nonzero]
    divisor = polynomials[0]
    for p in polynomials[1:]:
        divisor = divisor.gcd(p)
    if len(polynomials) == 1:
        divisor = divisor.gcd(divisor)
    return _form(divisor, atoms, order)


def quotient(form: Form, divisor: Form, order: Order) -> Form:
    """form / divisor, which must be exact."""
    if not form:
        return {}
    atoms, _, polynomial_of = _context([form, divisor])
    result, rest = divmod(polynomial_of(form), polynomial_of(divisor))
    if not rest.is_zero():
        raise ValueError("the divisor does not divide the form")
    return _form(result, atoms, order)
