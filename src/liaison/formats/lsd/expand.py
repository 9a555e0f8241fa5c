"""Reuse: `for i = 1 to 6 … end`, `mechanism leg(…) … end` and `let front = leg(…)`, written out.

What comes out is plain LSD: every statement once, every name in full. A name of a sub-mechanism
gets the name of its instance before it, `front.knee`; a name with an index gets the number behind
it, `foot[3]` is `foot3`.

Public names: expanded.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from liaison.errors import LiaisonError, NamingError, TextError
from liaison.formats.lsd.formulas.formulas import Where, path_of, value_of
from liaison.formats.lsd.formulas.functions import FUNCTIONS, VECTOR_FUNCTIONS, WORDS
from liaison.formats.lsd.formulas.names import PLACES, Book, no_such
from liaison.formats.lsd.formulas.values import PURE, Quantity, same
from liaison.formats.lsd.meaning.shapes import SHAPES
from liaison.formats.lsd.syntax.nodes import Node, Source, make
from liaison.formats.lsd.syntax.tokens import Token

MAX_NODES = 250_000  # of everything written out
MAX_TURNS = 10_000  # of one repetition
MAX_LEVELS = 10  # instances inside instances
CALLS = frozenset({*FUNCTIONS, *VECTOR_FUNCTIONS, *WORDS, *SHAPES, *PLACES})
DECLARING = ("let", "output", "event", "input", "parameter")
Meaning: TypeAlias = "Mapping[str, Node | str]"  # name -> what stands for it, or its full name


def expanded(statements: tuple[Node, ...], source: Source) -> tuple[Node, ...]:
    """The statements with repetitions and instances written out."""
    return tuple(_Expansion(statements, source).all())


class _Expansion:
    """The writing out of one text."""

    def __init__(self, statements: tuple[Node, ...], source: Source) -> None:
        self.source = source
        self.statements = statements
        self.templates: dict[str, Node] = {}
        self.book = Book(source)  # for the bounds of repetitions
        self.nodes = 0

    def all(self) -> list[Node]:
        """Every statement of the text."""
        self.collect(self.statements)
        return self.instantiated(self.flat(self.statements, {}), 0)

    def collect(self, statements: tuple[Node, ...]) -> None:
        """Finds the sub-mechanisms, and quantities that bounds may refer to."""
        for statement in statements:
            if statement.kind == "mechanism":
                name = statement.parts[1]
                if str(name) in self.templates:
                    raise NamingError.double("mechanisms", str(name), place=self.source.of(name))
                self.templates[str(name)] = statement
            elif statement.kind == "let" and isinstance(statement.parts[1], Token):
                self.book.lets[str(statement.parts[1])] = statement.parts[2]
                self.book.places[str(statement.parts[1])] = self.source.of(statement.parts[1])

    # ---- repetitions

    def flat(self, statements: tuple[Node, ...], meaning: Meaning) -> list[Node]:
        """The statements without repetitions, their names with numbers for indices."""
        flat: list[Node] = []
        for statement in statements:
            if statement.kind == "for":
                flat += self.repeated(statement, meaning)
            elif statement.kind != "mechanism":
                flat.append(self.labelled(statement))
        return flat

    def repeated(self, statement: Node, meaning: Meaning) -> Iterator[Node]:
        """The statements of a repetition, once for each number."""
        _, name, low, high, block = statement.parts
        first, last = self.whole(low, meaning), self.whole(high, meaning)
        if last < first - 1 or (last < first and low.kind == high.kind == "number"):
            raise self.backwards(low, high)
        if last - first >= MAX_TURNS:
            at = self.source.at(high)
            raise TextError(f"this repeats more than {MAX_TURNS} times.", place=at)
        if self.nodes + (last - first + 1) * sum(map(_terms, block.parts)) > MAX_NODES:
            raise self.too_many(statement)
        for turn in range(first, last + 1):
            self.count(statement)
            number = Node("number", (name.moved(str(turn)),), name.line, name.column, len(name), 1)
            inner = tuple(self.written(part, {str(name): number}) for part in block.parts)
            yield from self.flat(inner, meaning)

    def backwards(self, low: Node, high: Node) -> TextError:
        """A repetition that ends before it begins."""
        first, last = self.source.at(low), self.source.at(high)
        message = "this repetition ends before it begins, so that it writes nothing."
        hint = f"It counts upwards: for … = {last.words()} to {first.words()}."
        cure = self.source.swapped(low, high)
        return TextError(message, place=last, hint=hint, cure=cure)

    def whole(self, node: Node, meaning: Meaning) -> int:
        """The whole number of a bound."""
        value = value_of(self.written(node, meaning), self.book, Where("bound"))
        number = value.value if isinstance(value, Quantity) else None
        pure = isinstance(value, Quantity) and (value.bare or same(value.dimension, PURE))
        if not pure or not isinstance(number, Fraction) or number.denominator != 1:
            raise self.source.error("a repetition goes from one whole number to another.", node)
        return number.numerator

    def labelled(self, statement: Node) -> Node:
        """The statement with its declared name as one word."""
        place = 0 if statement.kind == "setting" else 1
        if len(statement.parts) <= place or not isinstance(statement.parts[place], Node):
            return statement
        if statement.kind not in (*DECLARING, "setting", "law"):
            return statement
        label = statement.parts[place]
        text = path_of(label)
        if text is None:
            raise self.source.error("the index of a name is a whole number, not negative.", label)
        word: Any = _first_word(label).moved(text)
        if statement.kind in ("parameter", "law", "setting") and "." in text:
            word = _path(label, text)
        parts = [*statement.parts]
        parts[place] = word
        return statement._replace(parts=tuple(parts))

    # ---- instances

    def instantiated(self, statements: list[Node], level: int) -> list[Node]:
        """The statements with every instance of a sub-mechanism written out."""
        nodes: list[Node] = []
        for statement in statements:
            template = self.template(statement)
            if template is None:
                nodes.append(statement)
                continue
            if level >= MAX_LEVELS:
                message = (
                    f"mechanism {str(template.parts[1])!r} contains itself, or too many others."
                )
                raise self.source.error(message, statement)
            nodes += self.instantiated(self.instance(template, statement), level + 1)
        return nodes

    def template(self, statement: Node) -> Node | None:
        """The sub-mechanism that a statement makes an instance of, if it does."""
        if statement.kind != "let" or statement.parts[2].kind != "call":
            return None
        word = statement.parts[2].parts[0]
        if word not in self.templates and self.templates and word not in CALLS:
            near = difflib.get_close_matches(word, self.templates, n=1)
            if near or not difflib.get_close_matches(word, CALLS, n=1):
                raise no_such("mechanism", str(word), self.templates, self.source.of(word))
        return self.templates.get(str(word))

    def instance(self, template: Node, statement: Node) -> list[Node]:
        """The statements of a sub-mechanism under the name of its instance."""
        name, call = str(statement.parts[1]), statement.parts[2]
        opening = make("instance", [statement.parts[0], statement.parts[1]])
        arguments = self.arguments(template, call)
        inner = self.flat(template.parts[-1].parts, arguments)
        own: dict[str, Node | str] = {}
        for part in inner:
            if part.kind in DECLARING and isinstance(part.parts[1], Token):
                own[str(part.parts[1])] = f"{name}.{part.parts[1]}"
        return [opening, *(self.written(part, {**arguments, **own}) for part in inner)]

    def arguments(self, template: Node, call: Node) -> dict[str, Node | str]:
        """What the names of a sub-mechanism stand for in one instance."""
        formals = template.parts[2].parts if len(template.parts) > 3 else ()
        names = [str(formal.parts[0]) for formal in formals]
        values: dict[str, Node | str] = {
            str(formal.parts[0]): formal.parts[1] for formal in formals if len(formal.parts) > 1
        }
        what = f"mechanism {str(template.parts[1])!r}"
        for k, part in enumerate(call.parts[1:]):
            place = self.source.at(part)
            key = str(part.parts[0]) if part.kind == "named" else names[k] if k < len(names) else ""
            if key not in names:
                message = f"{what} takes {len(names)} values: {', '.join(names) or 'none'}."
                raise (
                    no_such(f"value of {what}", key, names, place)
                    if key
                    else TextError(message, place=place)
                )
            values[key] = part.parts[1] if part.kind == "named" else part
        for key in names:
            if key not in values:
                message = f"{what} needs a value for {key!r}."
                raise self.source.error(message, call, hint=f"Write {key} = ….")
        return values

    # ---- names

    def written(self, node: Node, meaning: Meaning) -> Node:
        """The node with its names replaced by what they mean."""
        if not meaning:
            return node
        self.count(node)
        if node.kind == "name":
            return _meaning_of(node, meaning, str(node.parts[0]))
        if node.kind == "family":
            return _family(node, meaning)
        if node.kind == "join":
            local = [str(word) for part in node.parts[4:-1] for word in part.parts]
            meaning = {name: x for name, x in meaning.items() if name not in local}
        if node.kind == "law":
            local = ["".join(part.parts) for part in node.parts[2:-1]]
            meaning = {name: x for name, x in meaning.items() if name not in local}
        parts = [self.written(part, meaning) if type(part) is Node else part for part in node.parts]
        if node.kind in DECLARING or node.kind in ("law", "setting"):
            place = 0 if node.kind == "setting" else 1
            parts[place] = _label(parts[place], meaning)
        done = node._replace(parts=tuple(parts))
        return self.indexed(done, meaning) if node.kind == "index" else done

    def count(self, node: Node) -> None:
        """One more term; rejects what would never end."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise self.too_many(node)

    def too_many(self, node: Node) -> TextError:
        """More terms than everything written out may have."""
        message = f"repetitions and instances make more than {MAX_NODES} terms."
        return self.source.error(message, node)

    def indexed(self, node: Node, meaning: Meaning) -> Node:
        """A name with an index; what is computed, such as b[i-1], as one number."""
        base, index = node.parts
        if index.kind != "number":
            try:
                word = _first_word(index).moved(str(self.whole(index, {})))
                number = Node("number", (word,), index.line, index.column, index.length, 1)
                node = node._replace(parts=(base, number))
            except LiaisonError:
                return node  # it depends on more than numbers
        return _meaning_of(node, meaning, path_of(node) or "")


def _terms(node: Node) -> int:
    """How many terms a statement has, repetitions between plain numbers written out."""
    inner = 1 + sum(_terms(part) for part in node.parts if type(part) is Node)
    if node.kind != "for" or {node.parts[2].kind, node.parts[3].kind} != {"number"}:
        return inner
    low, high = (_first_word(part) for part in node.parts[2:4])
    turns = int(high) - int(low) + 1 if low.isdecimal() and high.isdecimal() else 0
    return inner + max(0, turns) * sum(map(_terms, node.parts[4].parts))


def _meaning_of(node: Node, meaning: Meaning, name: str) -> Node:
    """What a name stands for."""
    target = meaning.get(name)
    if target is None:
        return node
    if isinstance(target, Node):
        return target
    word = _first_word(node).moved(target)
    return Node("name", (word,), node.line, node.column, node.length, 1)


def _family(node: Node, meaning: Meaning) -> Node:
    """The bodies of a family, NAME[*], with the name that they have in an instance."""
    word = node.parts[0]
    for name, full in meaning.items():
        number = name.removeprefix(word)
        if name == word + number and number.isdecimal() and isinstance(full, str):
            return node._replace(parts=(word.moved(full.removesuffix(number)),))
    return node


def _path(label: Node, text: str) -> Node:
    """A dotted name as a node of its words."""
    first = _first_word(label)
    return label._replace(kind="path", parts=tuple(first.moved(x) for x in text.split(".")))


def _label(label: Any, meaning: Meaning) -> Any:
    """A declared name in full: its longest part that has a meaning replaced."""
    if isinstance(label, Token):
        target = meaning.get(str(label))
        return label.moved(target) if isinstance(target, str) else label
    words = [str(part) for part in label.parts]
    for k in range(len(words), 0, -1):
        target = meaning.get(".".join(words[:k]))
        if isinstance(target, str):
            first = label.parts[0].moved(target)
            return label._replace(parts=(first, *label.parts[k:]))
    return label


def _first_word(node: Any) -> Token:
    while isinstance(node, Node):
        node = node.parts[0]
    word: Token = node
    return word
