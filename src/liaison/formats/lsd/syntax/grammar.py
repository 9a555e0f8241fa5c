"""Statements of LSD: tokens -> nodes. Each statement ends with ';' and begins with its own word.

A statement that cannot be read is noted, and reading goes on with the next one, so that one look
at a text reports all its mistakes.

Public names: Grammar.
"""

from __future__ import annotations

from sys import intern
from typing import Any

from .nodes import Node, TooDeep, make
from .terms import UnexpectedWord, Words
from .tokens import ACTIONS, DIRECTIONS, STARTERS, Token

MAX_MISTAKES = 20  # that are reported at once
THINGS = {"JOIN": "join", "APPLY": "apply", "IMPOSE": "impose", "REQUIRE": "require",
          "COUPLE": "couple", "CONTACT": "contact", "COLLIDE": "collide"}  # fmt: skip
_STARTS = tuple(word.upper() for word in STARTERS)


class Grammar(Words):
    """The rules for statements; `mistakes` are what was rejected on the way."""

    def __init__(self, words: list[Token]) -> None:
        super().__init__(words)
        self.mistakes: list[UnexpectedWord | TooDeep] = []
        self.blocks = 0
        self.lost = 0  # beginnings of blocks that were rejected

    def text(self) -> tuple[Node, ...]:
        """All statements of a text."""
        statements: list[Node] = []
        while not self.at("$END") and len(self.mistakes) < MAX_MISTAKES:
            statements += self.next_statement()
        return tuple(statements)

    def next_statement(self) -> list[Node]:
        """The next statement; none where it is rejected, and then the way on is found."""
        begin = self.position
        try:
            return [] if self.lost_end() else [self.statement()]
        except (UnexpectedWord, TooDeep) as error:
            self.mistakes.append(error)
            self.lost += self.words[begin].kind in ("FOR", "MECHANISM")
            self.recover(begin)
            return []

    def lost_end(self) -> bool:
        """Whether this is the 'end' of a block whose beginning was rejected; then it is passed."""
        if not (self.lost and self.at("END")):
            return False
        self.lost -= 1
        self.take()
        self.accept("SEMICOLON")
        return True

    def recover(self, begin: int) -> None:
        """Goes to where the next statement begins: behind ';', or at a word that begins a line."""
        self.depth = 0
        while not self.at("$END"):
            at_line = self.position > begin and self.word.line > self.words[self.position - 1].line
            if at_line and self.word.kind in _STARTS:
                return
            if self.take().kind == "SEMICOLON":
                return

    def statement(self) -> Node:
        """One statement with its ';'."""
        kind = self.word.kind
        if kind in THINGS:
            node = make("unnamed", [self.thing()])
        elif kind in _STARTS:
            node = getattr(self, intern(f"_{kind.lower()}"))()
        elif kind == "NAME":
            node = self.setting()
        else:
            self.expected.update((*_STARTS, "NAME", "$END"))
            raise self.unexpected()
        self.need("SEMICOLON")
        return node

    def thing(self) -> Node:
        """What a statement makes, named or not: join, apply, impose, require, couple, contact."""
        kind = THINGS[self.word.kind]
        node: Node = getattr(self, intern(f"_{kind}"))()
        return node

    # ---- names

    def label(self) -> Any:
        """A name that is declared here: NAME, A.B, or NAME[i] inside a repetition."""
        first = self.need("NAME")
        if not (self.at("DOT") or self.at("LSQB")):
            return first
        node = make("name", [first])
        while self.at("DOT") or self.at("LSQB"):
            if self.take() == ".":
                node = make("member", [node, self.need("NAME")])
            else:
                node = make("index", [node, self.formula()])
                self.need("RSQB")
        return node

    def names(self) -> Node:
        """(x, y, …)."""
        return make("coordinates", self.listed(lambda: self.need("NAME")))

    # ---- what has a name

    def _let(self) -> Node:
        let, name = self.take(), self.label()
        self.need("EQUAL")
        if self.at("BODY"):
            thing = make("body", [self.take(), self.pairs(), self.need("END")][:2])
        elif self.word.kind in THINGS:
            thing = self.thing()
        else:
            thing = self.formula()
        return make("let", [let, name, thing])

    def _join(self) -> Node:
        """join, couple or contact … and … with TYPE(names) key = value, … end."""
        word = self.take()
        parts: list[Any] = [word, self.formula()]
        self.need("AND")
        parts.append(self.formula())
        self.need("WITH")
        parts.append(self.need("NAME"))
        if self.at("LPAR"):
            parts.append(self.names())
        elif not (self.at("NAME") or self.at("BODY") or self.at("END")):
            self.expected.add("LPAR")
        parts.append(self.pairs())
        self.need("END")
        return make(str(word), parts)

    _couple = _join

    def _contact(self) -> Node:
        """contact … and … with …, or contact key = value, … end."""
        behind = self.words[self.position + 2 : self.position + 3]
        if not (behind and behind[0].kind == "EQUAL"):
            return self._join()
        parts = [self.take(), self.pairs()]
        self.need("END")
        return make("touch", parts)

    def _collide(self) -> Node:
        """collide a, b and c, d with key = value, … end."""
        parts = [self.take(), self.group()]
        if self.accept("AND"):
            parts.append(self.group())
        return make("collide", [*parts, *self.properties()])

    def group(self) -> Node:
        """Frames and families of bodies, separated by commas."""
        members = [self.member()]
        while self.accept("COMMA"):
            members.append(self.member())
        return make("group", members)

    def member(self) -> Node:
        """A frame, or NAME[*]."""
        last = self.position
        while [x.kind for x in self.words[last : last + 2]] == ["NAME", "DOT"]:
            last += 2
        ahead = [x.kind for x in self.words[last : last + 4]]
        if ahead != ["NAME", "LSQB", "STAR", "RSQB"]:
            return self.formula()
        name = self.word.moved("".join(self.words[self.position : last + 1]))
        while self.position < last + 4:
            self.take()
        return make("family", [name])

    def properties(self) -> list[Node]:
        """With key = value, … end; or nothing."""
        if not self.accept("WITH"):
            return []
        pairs = self.pairs()
        self.need("END")
        return [pairs]

    def _apply(self) -> Node:
        parts: list[Any] = [self.take(), self.need("NAME"), self.pairs()]
        self.need("END")
        if self.accept("ON"):
            targets = [self.formula()]
            if self.accept("AND"):
                targets.append(self.formula())
            parts.append(make("target", targets))
        return make("apply", parts)

    def pairs(self) -> Node:
        """key = value, …; a last comma does no harm."""
        pairs: list[Node] = []
        while self.at("NAME") or self.at("UNIT") or self.at("BODY"):
            key = self.accept("BODY") or self.need("NAME")
            self.need("EQUAL")
            pairs.append(make("pair", [key, self.formula()]))
            if not self.accept("COMMA"):
                return make("pairs", pairs)
        self.expected.update(("NAME", "BODY"))
        return make("pairs", pairs)

    def _impose(self) -> Node:
        parts: list[Any] = [self.take(), self.formula()]
        self.need("EQUAL")
        return make("impose", [*parts, self.formula()])

    def _require(self) -> Node:
        parts: list[Any] = [self.take(), self.formula()]
        for sign, kind in (("ATMOST", "limit"), ("ATLEAST", "least")):
            if self.accept(sign):
                return make(kind, [*parts, self.formula(), *self.properties()])
        self.need("EQUAL")
        return make("require", [*parts, self.formula()])

    # ---- the small statements

    def _parameter(self) -> Node:
        parts: list[Any] = [self.take(), self.label()]
        parts += [self.formula()] if self.accept("EQUAL") else []
        parts += self.in_unit()
        if self.accept("BETWEEN"):
            low = self.formula()
            self.need("AND")
            parts.append(make("bounds", [low, self.formula()]))
        elif self.word in ("above", "below"):
            parts.append(make(str(self.take()), [self.formula()]))
        return make("parameter", parts)

    def in_unit(self) -> list[Node]:
        """in UNIT."""
        if not self.accept("IN"):
            return []
        word = self.word
        if word.kind == "STRING":
            return [make("unit", [self.take()])]
        if word.kind not in ("NAME", "UNIT"):
            self.expected.add("UNIT")
            raise self.unexpected()
        return [make("unit", [self.unit_word()])]

    def unit_word(self) -> Token:
        """The words of a unit that no number stands before, as one."""
        first = last = self.take()
        text = str(first)
        while self.word.line == last.line and self.word.column == last.column + len(last):
            if self.word.kind not in ("STAR", "SLASH", "CIRCUMFLEX", "NAME", "NUMBER", "MINUS",
                                      "UNIT"):  # fmt: skip
                break
            last = self.take()
            text += last
        return first.moved(text)

    def _input(self) -> Node:
        parts: list[Any] = [self.take(), self.label()]
        parts += [self.formula()] if self.accept("EQUAL") else []
        return make("input", [*parts, *self.in_unit()])

    def _start(self) -> Node:
        parts: list[Any] = [self.take(), self.formula()]
        self.need("EQUAL")
        return make("initial", [*parts, self.formula()])

    _guess = _start

    def _output(self) -> Node:
        parts: list[Any] = [self.take(), self.label()]
        self.need("EQUAL")
        return make("output", [*parts, self.formula(), *self.in_unit()])

    def _event(self) -> Node:
        parts: list[Any] = [self.take(), self.label()]
        self.need("WHEN")
        parts.append(self.formula())
        for kind, words in (("DIRECTION", DIRECTIONS), ("ACTION", ACTIONS)):
            if self.word in words:
                parts.append(self.take())
            else:
                self.expected.add(kind)
        return make("event", parts)

    def _law(self) -> Node:
        parts: list[Any] = [self.take(), self.label()]
        if not self.at("LPAR"):
            self.need("LPAR")
        parts += self.listed(self.law_argument)
        self.need("EQUAL")
        return make("law", [*parts, self.formula()])

    def law_argument(self) -> Node:
        """x or x'."""
        name = self.need("NAME")
        return make("argument", [name, self.take()] if self.at("PRIME") else [name])

    def setting(self) -> Node:
        """PATH = value."""
        name = self.label()
        self.need("EQUAL")
        return make("setting", [name, self.formula()])

    # ---- reuse

    def _include(self) -> Node:
        return make("include", [self.take(), self.need("STRING")])

    def _for(self) -> Node:
        parts: list[Any] = [self.take(), self.need("NAME")]
        self.need("EQUAL")
        parts.append(self.formula())
        if self.word != "to":
            self.expected.add("TO")
            raise self.unexpected()
        self.take()
        parts.append(self.formula())
        return make("for", [*parts, self.block()])

    def _mechanism(self) -> Node:
        parts: list[Any] = [self.take(), self.need("NAME")]
        if self.at("LPAR"):
            parts.append(make("formals", self.listed(self.formal, may_be_none=True)))
        return make("mechanism", [*parts, self.block()])

    def formal(self) -> Node:
        """A name with or without a value: a, b = default."""
        name = self.need("NAME")
        return make("formal", [name, self.formula()] if self.accept("EQUAL") else [name])

    def block(self) -> Node:
        """Statements up to 'end'."""
        statements: list[Node] = []
        self.blocks += 1
        if self.blocks > MAX_BLOCKS:
            raise TooDeep(make("name", [self.word]))
        while not self.at("END"):
            if self.at("$END"):
                self.expected.add("END")
                raise self.unexpected()
            statements += self.next_statement()
        self.take()
        self.blocks -= 1
        return Node("block", tuple(statements), self.word.line, self.word.column, 1, 1)


MAX_BLOCKS = 10
"""Repetitions and sub-mechanisms inside one another."""
