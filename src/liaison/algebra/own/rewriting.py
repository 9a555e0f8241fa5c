"""Rewriting rules of the user's own, applied modulo associativity until none applies.

    A, B = anything("matrix", "A"), anything("matrix", "B")
    law = RewriteRule("star of a product", star(A @ B), star(B) @ star(A))
    rewritten(star(P @ Q @ R), [law])                     star(R) star(Q) star(P)

A symbol made by `anything` stands for any expression of its kind; a factor of a product for one or
more factors, since products are associative, and the terms of a sum may stand in any order. Rules
act inside out; between them sums are multiplied out (`expanded`). The number of rewrites is
bounded, since nothing makes rules of a user's own come to an end.

Source: PA, manipulation en ULYSSE (« réécriture équationnelle modulo associativité »).

Public names: RewriteRule, RewriteStep, anything, rewritten, rewriting, zero_of, LIMIT.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import TypeAlias, final

from liaison.algebra.decide import is_zero_by_components
from liaison.algebra.node import (
    Atom,
    Formal,
    Kind,
    make,
    number,
    product,
    topological,
    total,
    zero,
)
from liaison.algebra.rules.reduce import expanded, length
from liaison.algebra.substitute import replaced
from liaison.errors import ArgumentError, DerivationError

LIMIT = 1_000
"""Rewrites of one expression."""

LARGEST = 20_000
"""Leaves and operations of an expression that is being rewritten."""

_COPIES = 16
"""Powers up to this are matched factor by factor."""

Bound: TypeAlias = dict[Formal, Formal]
Around: TypeAlias = Callable[[Formal], Formal]
_ANY = "any"


def anything(kind: Kind, name: str) -> Formal:
    """A symbol of rules that stands for any expression of its kind."""
    return make("symbol", kind, (), Atom(name, 0, (_ANY,)))


def _is_variable(x: Formal) -> bool:
    return x.op == "symbol" and _ANY in x.data.traits


def _variables(x: Formal) -> set[Formal]:
    return {node for node in topological(x) if _is_variable(node)}


@final
@dataclass(frozen=True, slots=True)
class RewriteRule:
    """Left becomes right, wherever left fits.

    Raises:
        ArgumentError: a right side with symbols that the left side does not bind, of another kind,
            or a left side that fits everything.
    """

    name: str
    left: Formal
    right: Formal

    def __post_init__(self) -> None:
        if self.right.kind != self.left.kind:
            raise ArgumentError(
                f"rule {self.name!r}: the {self.left.kind} {self.left} cannot become the "
                f"{self.right.kind} {self.right}."
            )
        free = _variables(self.right) - _variables(self.left)
        if free:
            names = ", ".join(sorted(str(x) for x in free))
            raise ArgumentError(
                f"rule {self.name!r}: {names} stands for anything on the right side and is not on "
                "the left side, so it has no value."
            )
        if _is_variable(self.left):
            raise ArgumentError(f"rule {self.name!r}: the left side {self.left} fits everything.")
        if any(x.data.order for x in _variables(self.left)):
            raise ArgumentError(
                f"rule {self.name!r}: a rate of what stands for anything is not matched; let the "
                "symbol stand for the rate."
            )

    @property
    def is_theorem(self) -> bool | None:
        """Whether it holds for all matrices and vectors; None where operators are unknown."""
        difference = self.left - self.right
        if any(x.op == "operator" for x in topological(difference)):
            return None
        return is_zero_by_components(difference)

    def __str__(self) -> str:
        return f"{self.name}: {self.left} → {self.right}"

    def image(self, node: Formal) -> Formal | None:
        """What a node becomes; None where the rule does not fit."""
        for bound, around in _fits(self.left, node):
            return around(replaced(self.right, bound))
        return None


@final
@dataclass(frozen=True, slots=True)
class RewriteStep:
    """One rewrite: the rule, "" where terms were collected, and the whole expression then."""

    rule: str
    result: Formal

    def __str__(self) -> str:
        return f"{self.rule or 'collected'}: {self.result}"


# Matching ---------------------------------------------------------------------------------------


def _fits(pattern: Formal, node: Formal) -> Iterator[tuple[Bound, Around]]:
    """Bindings under which a node, or a part of its factors or terms, is the pattern.

    With each comes a function that puts what replaces that part into the place of the node.
    """
    if pattern.kind != node.kind and pattern.op not in ("product", "power"):
        return
    if pattern.op == "sum":
        yield from _fits_terms(pattern, node)
    elif pattern.op in ("product", "power"):
        yield from _fits_factors(pattern, node)
    else:
        for bound in _matches(pattern, node, {}):
            yield bound, lambda new: new


def _matches(pattern: Formal, node: Formal, bound: Bound) -> Iterator[Bound]:
    """Bindings under which a whole node is the pattern."""
    if pattern.kind != node.kind:
        return
    if _is_variable(pattern):
        if bound.get(pattern, node) is node:
            yield bound | {pattern: node}
    elif pattern is node:
        yield bound
    elif pattern.op == "sum":
        yield from _sums(list(pattern.args), list(_terms(node)), bound)
    elif pattern.op in ("product", "power"):
        yield from _products(_Factors.of(pattern), _Factors.of(node), bound)
    elif pattern.args and (pattern.op, pattern.data) == (node.op, node.data):
        for args in _orders(node):
            yield from _each(list(zip(pattern.args, args, strict=True)), bound)


def _orders(node: Formal) -> Iterator[tuple[Formal, ...]]:
    """The orders of arguments that mean the same."""
    commutes = node.op == "dot" or (node.op == "operator" and "commutative" in node.data.properties)
    yield from permutations(node.args) if commutes else (node.args,)


def _each(pairs: Sequence[tuple[Formal, Formal]], bound: Bound) -> Iterator[Bound]:
    if not pairs:
        yield bound
        return
    (pattern, node), *rest = pairs
    for some in _matches(pattern, node, bound):
        yield from _each(rest, some)


def _terms(node: Formal) -> tuple[Formal, ...]:
    return node.args if node.op == "sum" else (node,)


def _sums(patterns: list[Formal], terms: list[Formal], bound: Bound) -> Iterator[Bound]:
    """Every term taken by a pattern, in any order; the last free symbol takes what is left."""
    patterns = sorted(patterns, key=_is_variable)
    if len(patterns) > len(terms):
        return
    if len(patterns) == 1:
        yield from _matches(patterns[0], total(*terms), bound)
        return
    for i, term in enumerate(terms):
        for some in _matches(patterns[0], term, bound):
            yield from _sums(patterns[1:], terms[:i] + terms[i + 1 :], some)


def _fits_terms(pattern: Formal, node: Formal) -> Iterator[tuple[Bound, Around]]:
    """Some terms of a sum are the pattern, each of its terms one of them."""
    if node.op == "sum":
        yield from _some(list(pattern.args), list(node.args), {})


def _some(
    patterns: list[Formal], terms: list[Formal], bound: Bound
) -> Iterator[tuple[Bound, Around]]:
    if not patterns:
        yield bound, lambda new: total(new, *terms)
        return
    for i, term in enumerate(terms):
        for some in _matches(patterns[0], term, bound):
            yield from _some(patterns[1:], terms[:i] + terms[i + 1 :], some)


@final
@dataclass(frozen=True, slots=True)
class _Factors:
    """A product as a number, scalars in any order, and other factors in their order."""

    number: Fraction
    scalars: tuple[Formal, ...]
    others: tuple[Formal, ...]

    @classmethod
    def of(cls, node: Formal) -> _Factors:
        parts = node.args if node.op == "product" else (node,)
        value = Fraction(1)
        scalars: list[Formal] = []
        others: list[Formal] = []
        for part in parts:
            copies = (part,)
            if part.op == "power" and 0 < part.data <= _COPIES:
                copies = part.args * part.data
            if part.op == "expr" and type(part.data.value) in (int, Fraction):
                value *= Fraction(part.data.value)
            else:
                (scalars if part.kind == "scalar" else others).extend(copies)
        return cls(value, tuple(scalars), tuple(others))


def _products(pattern: _Factors, node: _Factors, bound: Bound) -> Iterator[Bound]:
    """The whole product is the pattern."""
    scalars, rest = node.scalars, node.number / pattern.number if pattern.number else None
    if rest is None:
        return
    if rest != 1:
        scalars = (number(rest), *scalars)
    for some in _scalars(list(pattern.scalars), list(scalars), bound):
        yield from _sequences(pattern.others, node.others, some)


def _scalars(patterns: list[Formal], factors: list[Formal], bound: Bound) -> Iterator[Bound]:
    """Every scalar taken by a pattern, in any order; the last free symbol takes what is left."""
    patterns = sorted(patterns, key=_is_variable)
    if not patterns or not factors:
        if len(patterns) == len(factors):
            yield bound
    elif len(patterns) == 1:
        yield from _matches(patterns[0], product(*factors), bound)
    else:
        for i, factor in enumerate(factors):
            for some in _matches(patterns[0], factor, bound):
                yield from _scalars(patterns[1:], factors[:i] + factors[i + 1 :], some)


def _sequences(
    patterns: Sequence[Formal], factors: Sequence[Formal], bound: Bound
) -> Iterator[Bound]:
    """Factors in a row are the patterns in a row; a free symbol takes one or more."""
    if not patterns or not factors:
        if len(patterns) == len(factors):
            yield bound
        return
    most = len(factors) - len(patterns) + 1 if _is_variable(patterns[0]) else 1
    for count in range(1, most + 1):
        for some in _matches(patterns[0], product(*factors[:count]), bound):
            yield from _sequences(patterns[1:], factors[count:], some)


def _fits_factors(pattern: Formal, node: Formal) -> Iterator[tuple[Bound, Around]]:
    """Some scalars and some factors in a row of a product are the pattern."""
    wanted, whole = _Factors.of(pattern), _Factors.of(node)
    size = len(whole.others)
    spans = [(i, j) for i in range(size + 1) for j in range(i, size + 1)]
    if wanted.number == 0 or len(wanted.others) > size or len(wanted.scalars) > len(whole.scalars):
        return
    for i, j in spans:
        if (j > i) != bool(wanted.others) or j - i < len(wanted.others):
            continue
        for bound in _sequences(wanted.others, whole.others[i:j], {}):
            for some, left in _taken(wanted.scalars, list(whole.scalars), bound):
                factor = number(whole.number / wanted.number)
                before, after = whole.others[:i], whole.others[j:]
                yield some, _between((factor, *left, *before), after)


def _between(before: tuple[Formal, ...], after: tuple[Formal, ...]) -> Around:
    return lambda new: product(*before, new, *after)


def _taken(
    patterns: Sequence[Formal], factors: list[Formal], bound: Bound
) -> Iterator[tuple[Bound, list[Formal]]]:
    """Scalars that fit patterns, one each, and those left over."""
    if not patterns:
        yield bound, factors
        return
    for i, factor in enumerate(factors):
        for some in _matches(patterns[0], factor, bound):
            yield from _taken(patterns[1:], factors[:i] + factors[i + 1 :], some)


# Rewriting --------------------------------------------------------------------------------------


def rewriting(x: Formal, rules: Sequence[RewriteRule], *, limit: int = LIMIT) -> list[RewriteStep]:
    """Each rewrite on the way to where no rule applies and terms are collected.

    Raises:
        DerivationError: more than `limit` rewrites, or an expression that outgrows every bound.
    """
    steps: list[RewriteStep] = []
    normal: set[Formal] = set()
    while True:
        step = _rewrite(x, rules, normal)
        if step is None:
            collected = expanded(x)
            if collected is x:
                return steps
            step = RewriteStep("", collected)
        x = step.result
        steps.append(step)
        _check_end(steps, limit)


def rewritten(x: Formal, rules: Sequence[RewriteRule], *, limit: int = LIMIT) -> Formal:
    """The expression where no rule applies any more, multiplied out and collected.

    Raises:
        DerivationError: more than `limit` rewrites, or an expression that outgrows every bound.
    """
    steps = rewriting(x, rules, limit=limit)
    return steps[-1].result if steps else x


def _rewrite(x: Formal, rules: Sequence[RewriteRule], normal: set[Formal]) -> RewriteStep | None:
    """The first rule on the innermost part that it fits; `normal` remembers where none does."""
    for node in topological(x):
        if node in normal:
            continue
        for rule in rules:
            image = rule.image(node)
            if image is not None and image is not node:
                return RewriteStep(rule.name, replaced(x, {node: image}))
        normal.add(node)
    return None


def _check_end(steps: list[RewriteStep], limit: int) -> None:
    """Raises an error for rules that do not come to an end."""
    is_large = length(steps[-1].result) > LARGEST
    if len(steps) < limit and not is_large:
        return
    names = [step.rule for step in steps[-limit:] if step.rule]
    most = max({*names}, key=names.count) if names else ""
    ways = (
        f"the expression has more than {LARGEST} parts after {len(steps)} rewrites"
        if is_large
        else f"{limit} rewrites do not end it"
    )
    before = str(steps[0].result)
    short = before if len(before) < 80 else before[:77] + "…"
    raise DerivationError(
        f"{ways}; the rule {most!r} was applied {names.count(most)} times, beginning with {short}.",
        hint="A right side that its own left side, or that of another rule, fits again goes on for "
        "ever: turn the rule round, make its left side more special, or raise the limit.",
    )


def zero_of(right: Formal, kind: Kind) -> Formal:
    """A side of a rule that is written 0, as the zero of a kind."""
    return zero(kind) if right is number(0) else right
