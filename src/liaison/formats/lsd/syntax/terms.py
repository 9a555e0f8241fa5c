"""Formulas of LSD: tokens -> nodes, by precedence climbing.

Loosest first: `@`, `++`, `||`, `+ -`, `* /`, sign, `^`, then what follows a name (`.x`, `'`,
`[i]`). What would have fitted at the word where the parser stops is remembered in `expected`.

Public names: Words, UnexpectedWord.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .nodes import MAX_DEPTH, Node, TooDeep, make
from .tokens import Token, is_name, token

_SUMS = frozenset({"PLUS", "MINUS"})
_PRODUCTS = frozenset({"STAR", "SLASH"})
_ALONE = frozenset({"NUMBER", "NAME"})
_ENDS = frozenset({"COMMA", "RSQB", "RPAR", "SEMICOLON", "END", "AND", "WITH"})
_FIRST = ("NUMBER", "NAME", "LPAR", "LSQB", "QUESTION", "STRING")


class UnexpectedWord(Exception):
    """The token at which parsing fails, and the tokens expected there."""

    def __init__(self, token: Token, expected: set[str]) -> None:
        self.token, self.expected = token, expected
        super().__init__()


class Words:
    """A place in a list of words, and the rules for formulas from there."""

    def __init__(self, words: list[Token]) -> None:
        self.words = words
        self.position = 0
        self.expected: set[str] = set()
        self.depth = 0

    @property
    def word(self) -> Token:
        """The word that is next."""
        return self.words[self.position]

    def take(self) -> Token:
        """The next word, which is then behind us."""
        word = self.words[self.position]
        self.position += 1
        if self.expected:
            self.expected = set()
        return word

    def accept(self, kind: str) -> Token | None:
        """The next word if it is of that kind; otherwise remembers that it would have fitted."""
        word = self.words[self.position]
        if word.kind == kind or (kind == "NAME" and word.kind == "UNIT" and is_name(word)):
            return self.take()
        self.expected.add(kind)
        return None

    def need(self, kind: str) -> Token:
        """The next word, which must be of that kind."""
        word = self.accept(kind)
        if word is None:
            raise self.unexpected()
        return word

    def unexpected(self) -> UnexpectedWord:
        """What is wrong with the next word."""
        return UnexpectedWord(self.word, set(self.expected))

    # ---- formulas, loosest operators first

    def formula(self) -> Node:
        """pose, or pose @ body."""
        if self.word.kind in _ALONE and self.words[self.position + 1].kind in _ENDS:
            return self.atom()  # most formulas are one number or one name
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep(make("name", [self.word]))
        node = self.signed()
        if self.word.kind not in _ENDS:
            node = self.pose(node)
            if self.word.kind == "AT":
                self.take()
                node = make("on_body", [node, self.postfix()])
        self.depth -= 1
        return node

    def pose(self, first: Node) -> Node:
        """Turns joined by ++."""
        parts = [self.turn(first)]
        while self.word.kind == "THEN":
            self.take()
            parts.append(self.turn(self.signed()))
        return parts[0] if len(parts) == 1 else make("sequence", parts)

    def turn(self, first: Node) -> Node:
        """A sum, or angle || axis."""
        angle = self.sum(first)
        if self.word.kind != "ABOUT":
            return angle
        self.take()
        return make("rotation", [angle, self.sum(self.signed())])

    def sum(self, first: Node) -> Node:
        """Products with signs between them."""
        parts: list[Any] = [self.product(first)]
        while self.word.kind in _SUMS:
            parts.append(self.take())
            parts.append(self.product(self.signed()))
        return parts[0] if len(parts) == 1 else make("sum", parts)

    def product(self, first: Node) -> Node:
        """Signed powers with * and / between them."""
        parts: list[Any] = [first]
        while self.word.kind in _PRODUCTS:
            parts.append(self.take())
            parts.append(self.signed())
        return parts[0] if len(parts) == 1 else make("product", parts)

    def signed(self) -> Node:
        """A power behind any number of signs."""
        if self.word.kind not in _SUMS:
            return self.power()
        signs = [self.take()]
        while self.word.kind in _SUMS:
            signs.append(self.take())
        if self.word.kind == "NUMBER" and self.words[self.position + 1].kind != "CIRCUMFLEX":
            return self.negated(signs, self.take())
        node = self.power()
        for sign in reversed(signs):
            node = make("negative" if sign == "-" else "positive", [sign, node])
        return node

    def negated(self, signs: list[Token], number: Token) -> Node:
        """A number behind its signs, as one word."""
        if len(signs) > MAX_DEPTH:
            raise TooDeep(make("name", [number]))
        minus = "-" if sum(sign == "-" for sign in signs) % 2 else ""
        word = token(f"{minus}{number}", "NUMBER", signs[0].line, signs[0].column)
        return make("number", [word, *self.unit()])

    def power(self) -> Node:
        """base ^ exponent; the exponent may be a power again."""
        base = self.postfix()
        if self.word.kind != "CIRCUMFLEX":
            return base
        self.take()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise TooDeep(base)
        raised = make("power", [base, self.signed()])
        self.depth -= 1
        return raised

    def postfix(self) -> Node:
        """An atom with its members, indices and primes."""
        node = self.atom()
        while True:
            kind = self.word.kind
            if kind == "DOT":
                self.take()
                node = make("member", [node, self.need("NAME")])
            elif kind == "PRIME":
                node = make("prime", [node, self.take()])
            elif kind == "LSQB" and node.kind in ("name", "member", "index"):
                self.take()
                node = make("index", [node, self.formula()])
                self.need("RSQB")
            else:
                return node

    def atom(self) -> Node:
        """A number, a name, a call, brackets, an unknown, a text."""
        kind = self.word.kind
        if kind == "NUMBER":
            return make("number", [self.take(), *self.unit()])
        if kind == "NAME" or (kind == "UNIT" and is_name(self.word)):
            name = self.take()
            return make("call", [name, *self.arguments()]) if self.at("LPAR") else _name(name)
        if kind == "LPAR":
            self.take()
            inside = self.formula()
            self.need("RPAR")
            return make("group", [inside, *self.unit()])
        if kind == "LSQB":
            return self.vector()
        if kind == "QUESTION":
            mark = [self.take(), self.need("NAME")]
            return make("unknown", [*mark, *(self.arguments() if self.at("LPAR") else ())])
        if kind == "STRING":
            return make("string", [self.take()])
        self.expected.update(_FIRST)
        raise self.unexpected()

    def at(self, kind: str) -> bool:
        """Whether the next word is of that kind."""
        return self.words[self.position].kind == kind

    def unit(self) -> tuple[Token, ...]:
        """The unit behind a number or a bracket, if there is one."""
        return (self.take(),) if self.at("UNIT") else ()

    def vector(self) -> Node:
        """[a, b, c], with or without a unit."""
        return make("vector", [*self.listed(self.formula, "RSQB"), *self.unit()])

    def arguments(self) -> list[Node]:
        """(a, b, key = c), with its brackets."""
        return self.listed(self.argument, may_be_none=True)

    def listed(
        self, item: Callable[[], Any], end: str = "RPAR", *, may_be_none: bool = False
    ) -> list[Any]:
        """Items with commas between them, from the bracket that stands here to its end."""
        self.take()
        if may_be_none and self.accept(end):
            return []
        items = [item()]
        while self.accept("COMMA"):
            items.append(item())
        self.need(end)
        return items

    def argument(self) -> Node:
        """A formula, or key = formula."""
        follows = self.words[self.position + 1].kind if not self.at("$END") else ""
        if self.at("NAME") and follows == "EQUAL":
            name = self.take()
            self.take()
            return make("named", [name, self.formula()])
        return self.formula()


def _name(word: Token) -> Node:
    return Node("name", (word,), word.line, word.column, len(word), 1)
