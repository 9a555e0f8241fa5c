"""Measures: one number of a run, as a formula over it.

    "max(rocker_angle)"                        of any LSD formula of the mechanism, in SI
    "rms(norm(velocity(tip))) in mm/s"
    "final(D) - initial(D)",   "range(D)/2"
    "at(A', 50 ms)",   "at(D, full_turn)"      at an instant; at the first event of a name
    "time(full_turn)",  "time(full_turn, 2)",  "count(full_turn)"
    "max(reactions.A.Fx)",  "mean(energy.T)"   columns of series
    "max(abs(lam.drive))",  "mean(lam.drive*A')"
    "a + b"                                    parameters of the run

What stands in the brackets of a function of a run is read as LSD reads a formula, and becomes an
output of the mechanism, which compiled code evaluates at every recorded instant. Around it stand
+ − * / **, brackets, sqrt, abs, exp, log, min and max of two. Columns of series follow from a run
when it is there: around them stand the same, instant by instant. Nothing is executed.

Public names: Measure, Samples, Node, read_measure, read_measures, read_columns, along, REDUCERS,
OF_EVENTS, MOST_TEXT.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, final

import numpy as np

from liaison.errors import ArgumentError, NamingError, Place, TextError
from liaison.numeric import Array
from liaison.units import UNITS, si_value, unit_of

MOST_TEXT, DEEPEST, MOST = 2000, 50, 200
"""Characters of a measure, brackets inside brackets, measures of a study."""

MOST_PARTS = 300
"""Signs + − * / of a measure."""

SAME = 1e-9
"""Part of an instant by which the recorded one may differ from it."""


@final
@dataclass(frozen=True, slots=True)
class Samples:
    """Values along some runs, NaN after the end of each.

    Attributes:
        t: instants of each run [s], shape (runs, n).
        value: the values of a formula or a column, by its text, shape (runs, n).
        at_event: the values of a formula at the first event of a name, shape (runs,).
        events: instants [s] of the events of a name, one array a run.
        parameter: the values of a parameter, by name, shape (runs,).
    """

    t: Array
    value: Callable[[str], Array]
    at_event: Callable[[str, str], Array]
    events: Callable[[str], list[Array]]
    parameter: Callable[[str], Array]

    @property
    def last(self) -> Array:
        """The number of the last instant of each run."""
        return np.asarray(np.maximum(np.sum(np.isfinite(self.t), axis=1) - 1, 0))


# ---- functions of a run: the number, and how it changes with each sample


def _picked(x: Array, which: Array) -> tuple[Array, Array]:
    rows = np.arange(len(x))
    weights = np.zeros_like(x)
    weights[rows, which] = 1.0
    return x[rows, which], weights


def _filled(x: Array, value: float) -> Array:
    return np.where(np.isfinite(x), x, value)


def _max(s: Samples, x: Array) -> tuple[Array, Array]:
    return _picked(x, np.argmax(_filled(x, -np.inf), axis=1))


def _min(s: Samples, x: Array) -> tuple[Array, Array]:
    return _picked(x, np.argmin(_filled(x, np.inf), axis=1))


def _range(s: Samples, x: Array) -> tuple[Array, Array]:
    (most, up), (least, down) = _max(s, x), _min(s, x)
    return most - least, up - down


def _final(s: Samples, x: Array) -> tuple[Array, Array]:
    return _picked(x, s.last)


def _initial(s: Samples, x: Array) -> tuple[Array, Array]:
    return _picked(x, np.zeros(len(x), dtype=np.intp))


def _widths(s: Samples) -> Array:
    """Weights of the trapezoidal rule."""
    steps = np.nan_to_num(np.diff(s.t, axis=1))
    zero = np.zeros((len(s.t), 1))
    return 0.5 * (np.hstack([zero, steps]) + np.hstack([steps, zero]))


def _integral(s: Samples, x: Array) -> tuple[Array, Array]:
    widths = _widths(s)
    known = np.where(widths > 0, x, 0.0)
    return np.sum(widths * known, axis=1), widths


def _mean(s: Samples, x: Array) -> tuple[Array, Array]:
    widths = _widths(s)
    length = np.sum(widths, axis=1)
    is_one = ~(length > 0)  # a run of one instant, or of none
    weights = widths / np.where(is_one, 1.0, length)[:, None]
    rows = np.flatnonzero(is_one)
    weights[rows, s.last[rows]] = 1.0
    return np.sum(weights * np.where(weights > 0, x, 0.0), axis=1), weights


def _rms(s: Samples, x: Array) -> tuple[Array, Array]:
    square, weights = _mean(s, x * x)
    root = np.sqrt(square)
    slope = weights * np.where(weights > 0, x, 0.0)
    return root, slope / np.where(root > 0, root, 1.0)[:, None]


def _time_of_max(s: Samples, x: Array) -> tuple[Array, Array]:
    return _picked(s.t, np.argmax(_filled(x, -np.inf), axis=1))[0], np.full_like(x, np.nan)


def _time_of_min(s: Samples, x: Array) -> tuple[Array, Array]:
    return _time_of_max(s, -x)


REDUCERS: Mapping[str, Callable[[Samples, Array], tuple[Array, Array]]] = {
    "max": _max, "min": _min, "range": _range, "final": _final, "initial": _initial,
    "mean": _mean, "rms": _rms, "integral": _integral, "time_of_max": _time_of_max,
    "time_of_min": _time_of_min,
}  # fmt: skip
"""Functions of a run."""

OF_EVENTS = ("time", "count")
"""Functions of the events of a run."""

KEEPS_UNIT = ("max", "min", "range", "final", "initial", "mean", "rms", "at", "at_event")
"""Functions of a run whose number has the unit of the formula."""

SAME_UNIT = ("+", "-", "abs", "min", "max")
"""Operations on numbers of one unit, which the result has too."""

PLAIN: Mapping[str, tuple[int, Callable[..., Any]]] = {
    "sqrt": (1, np.sqrt), "abs": (1, np.abs), "exp": (1, np.exp), "log": (1, np.log),
    "sin": (1, np.sin), "cos": (1, np.cos), "tan": (1, np.tan), "atan2": (2, np.arctan2),
    "min": (2, np.minimum), "max": (2, np.maximum),
}  # fmt: skip
"""Functions of numbers."""


@final
@dataclass(frozen=True, slots=True)
class Node:
    """A part of a measure: an operation on others, or what it takes of a run.

    Attributes:
        op: "number", "parameter", "reduce", "at", "at_event", "time", "count", a sign, or a name
            of PLAIN; "values" in a formula with columns.
        args: parts that it is made of.
        name: of the function of a run, of the event or of the parameter.
        formula: of the run, as text.
        number: the number, the instant [s], or which event.
    """

    op: str
    args: tuple[Node, ...] = ()
    name: str = ""
    formula: str = ""
    number: float = 0.0

    def walk(self) -> Iterator[Node]:
        """This part and all below it."""
        left = [self]
        while left:
            node = left.pop()
            left += node.args
            yield node


SIGNS: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide, "**": np.power,
}  # fmt: skip


@final
@dataclass(frozen=True, slots=True)
class Measure:
    """One number of a run.

    Attributes:
        name: of the measure.
        text: as it was written.
        root: what it means.
        unit: behind "in"; "" where there is none.
        places: of its formulas in the text, for messages.
    """

    name: str
    text: str
    root: Node
    unit: str = ""
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)

    @property
    def formulas(self) -> list[str]:
        """Formulas of a run that it needs, each once."""
        return list(dict.fromkeys(x.formula for x in self.root.walk() if x.formula))

    @property
    def instants(self) -> list[float]:
        """Instants that must be recorded [s]."""
        return sorted({x.number for x in self.root.walk() if x.op == "at"})

    @property
    def events(self) -> list[str]:
        """Names of events that it needs."""
        ops = ("at_event", *OF_EVENTS)
        return list(dict.fromkeys(x.name for x in self.root.walk() if x.op in ops))

    def values(self, samples: Samples) -> Array:
        """The number of each run."""
        with np.errstate(all="ignore"):
            value = np.asarray(_evaluated(self.root, samples), dtype=float)
        return np.array(np.broadcast_to(value, len(samples.t)))

    def gradient(
        self, samples: Samples, slope: Callable[[str, Array], Array], own: Callable[[str], Array]
    ) -> tuple[float, Array]:
        """The number of one run, and how it changes with some parameters, shape (parameters,).

        Args:
            samples: of one run.
            slope: of a weighted sum of a formula's values, by its text and the weights of the
                instants, shape (parameters,).
            own: of a parameter itself, by its name, shape (parameters,).

        Raises:
            ArgumentError: the measure takes the instants of events or of extremes.
        """
        for x in self.root.walk():
            if x.op in ("at_event", *OF_EVENTS) or x.name.startswith("time_of"):
                raise ArgumentError(
                    f"measure {self.name!r} has no exact gradient: {x.op} {x.name!r} depends on "
                    "the instant of an event.",
                    hint='Use gradient="differences".',
                )
        with np.errstate(all="ignore"):
            value, change = _dual(self.root, samples, slope, own)
        return float(value), np.asarray(change, dtype=float)


def _evaluated(node: Node, s: Samples) -> Any:
    if node.op == "number":
        return node.number
    if node.op == "parameter":
        return s.parameter(node.name)
    if node.op == "reduce":
        return REDUCERS[node.name](s, s.value(node.formula))[0]
    if node.op == "at":
        which = _instant(s, node.number)
        is_there = np.abs(_picked(s.t, which)[0] - node.number) <= SAME * max(node.number, 1e-300)
        return np.where(is_there, _picked(s.value(node.formula), which)[0], np.nan)
    if node.op == "at_event":
        return s.at_event(node.formula, node.name)
    if node.op in OF_EVENTS:
        return _of_events(node, s.events(node.name))
    numbers = [_evaluated(x, s) for x in node.args]
    if node.op in SIGNS:
        return SIGNS[node.op](*numbers)
    return PLAIN[node.op][1](*numbers)


def along(node: Node, value: Callable[[str], Array]) -> Any:
    """A formula with columns, instant by instant; `value` gives the values of its parts."""
    if node.op == "number":
        return node.number
    if node.op == "values":
        return value(node.formula)
    parts = [along(x, value) for x in node.args]
    with np.errstate(all="ignore"):
        return SIGNS[node.op](*parts) if node.op in SIGNS else PLAIN[node.op][1](*parts)


def _instant(s: Samples, t: float) -> Array:
    """The number of the recorded instant that is nearest to one, in each run."""
    return np.asarray(np.argmin(np.abs(_filled(s.t, np.inf) - t), axis=1))


def _of_events(node: Node, instants: list[Array]) -> Array:
    if node.op == "count":
        return np.array([len(x) for x in instants], dtype=float)
    k = int(node.number) - 1
    return np.array([x[k] if len(x) > k else np.nan for x in instants], dtype=float)


def _dual(
    node: Node, s: Samples, slope: Callable[[str, Array], Array], own: Callable[[str], Array]
) -> tuple[Any, Any]:
    """A part of a measure and its change, of one run."""
    if node.op == "number":
        return node.number, 0.0
    if node.op == "parameter":
        return s.parameter(node.name)[0], own(node.name)
    if node.op in ("reduce", "at"):
        x = s.value(node.formula)
        value, weights = (
            REDUCERS[node.name](s, x) if node.op == "reduce"
            else _picked(x, _instant(s, node.number))
        )  # fmt: skip
        return value[0], slope(node.formula, weights[0])
    pairs = [_dual(x, s, slope, own) for x in node.args]
    return _combined(node.op, [x for x, _ in pairs], [x for _, x in pairs])


def _combined(op: str, x: list[Any], d: list[Any]) -> tuple[Any, Any]:
    """An operation on numbers with changes."""
    value = SIGNS[op](*x) if op in SIGNS else PLAIN[op][1](*x)
    if op in ("+", "-"):
        return value, d[0] + d[1] if op == "+" else d[0] - d[1]
    if op == "*":
        return value, d[0] * x[1] + x[0] * d[1]
    if op == "/":
        return value, (d[0] - value * d[1]) / x[1]
    if op == "**":
        bend = 0.0 if np.all(np.asarray(d[1]) == 0) else value * np.log(x[0]) * d[1]
        return value, x[1] * x[0] ** (x[1] - 1) * d[0] + bend
    if op in ("min", "max"):
        return value, d[0] if value == x[0] else d[1]
    if op == "atan2":
        return value, (d[0] * x[1] - x[0] * d[1]) / (x[0] ** 2 + x[1] ** 2)
    slopes = {
        "sqrt": lambda: 0.5 / value, "abs": lambda: np.sign(x[0]), "exp": lambda: value,
        "log": lambda: 1 / x[0], "sin": lambda: np.cos(x[0]), "cos": lambda: -np.sin(x[0]),
        "tan": lambda: 1 + value**2,
    }  # fmt: skip
    return value, slopes[op]() * d[0]


# ---- reading

_PIECE = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[^\W\d]\w*)|(?P<sign>\*\*|[,()+\-*/^])|(?P<other>.)",
    re.S,
)


_FACTOR = re.compile(r"([*/]?)([^\W\d_]+)(?:\^-?\d+)?")
_VALUES = re.compile(r"[^\W\d]\w*(?:\.\w+)*'*")


class _Reader:
    """The words of a measure, read from left to right."""

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text, self.at, self.depth, self.most = name, text, 0, 0, MOST_PARTS
        self.places: dict[str, Place] = {}

    def place(self, position: int, length: int = 1) -> Place:
        before = self.text[:position]
        start = before.rfind("\n") + 1
        line = self.text[start:].partition("\n")[0]
        where = f"measure {self.name!r}"
        return Place(where, before.count("\n") + 1, position - start + 1, line[:200], length)

    def reject(self, message: str, position: int, length: int = 1, hint: str = "") -> NoReturn:
        raise TextError(message, place=self.place(position, length), hint=hint)

    def peek(self) -> tuple[str, str, int]:
        """Kind, text and position of the next word."""
        while (piece := _PIECE.match(self.text, self.at)) is not None:
            if piece.lastgroup != "space":
                return str(piece.lastgroup), piece[0], piece.start()
            self.at = piece.end()
        return "end", "", len(self.text)

    def passed(self, *signs: str) -> str:
        kind, word, position = self.peek()
        if kind != "sign" or word not in signs:
            return ""
        self.at = position + len(word)
        return word

    def whole(self) -> tuple[Node, str]:
        """The measure, and the unit behind "in"."""
        root = self.sum()
        kind, word, position = self.peek()
        if (kind, word) == ("name", "in"):
            unit = self.text[position + 2 :].strip()
            self._check_unit(unit, position + 2)
            return root, unit
        if kind != "end":
            self.reject(f"{word!r} is not expected here.", position, len(word))
        return root, ""

    def _check_unit(self, unit: str, position: int) -> None:
        unit_of(unit, self.place(position + 1, max(1, len(unit))))

    def sum(self) -> Node:
        return self.chain(self.product, "+", "-")

    def product(self) -> Node:
        return self.chain(self.signed, "*", "/")

    def chain(self, read: Callable[[], Node], *signs: str) -> Node:
        """Operations from left to right."""
        node = read()
        while sign := self.passed(*signs):
            node = Node(sign, (node, read()))
            self.most -= 1
            if self.most < 0:
                self.reject(f"more than {MOST_PARTS} operations.", self.at - 1)
        return node

    def signed(self) -> Node:
        if self.passed("-"):
            return Node("-", (Node("number"), self.deeper(self.signed)))
        node = self.atom()
        if self.passed("**", "^"):
            node = Node("**", (node, self.deeper(self.signed)))
        return node

    def deeper(self, read: Callable[[], Any]) -> Any:
        self.depth += 1
        if self.depth > DEEPEST:
            self.reject(f"more than {DEEPEST} brackets inside brackets.", self.peek()[2])
        value = read()
        self.depth -= 1
        return value

    def atom(self) -> Node:
        kind, word, position = self.peek()
        if kind == "number":
            self.at = position + len(word)
            if float(word) == np.inf:
                self.reject("this number is too large.", position, len(word))
            return Node("number", number=self._in_unit(float(word)))
        if kind == "name":
            self.at = position + len(word)
            return self._named(word, position)
        if not self.passed("("):
            what = repr(word) if word else "the end"
            self.reject(f"expected a number, a name or '(', not {what}.", position)
        node: Node = self.inside(self.sum)
        return node

    def inside(self, read: Callable[[], Any]) -> Any:
        value = self.deeper(read)
        if not self.passed(")"):
            _, word, position = self.peek()
            self.reject(f"expected ')', not {word!r}." if word else "a ')' is missing.", position)
        return value

    def _in_unit(self, value: float) -> float:
        """A number in SI: a unit may follow it."""
        kind, word, position = self.peek()
        if kind != "name" or word == "in":
            return value
        end = position + len(word)
        if word in UNITS:  # N*m, mm^2: units as far as their names are known, as in LSD
            end = position
            while (piece := _FACTOR.match(self.text, end)) and piece[2] in UNITS:
                if bool(piece[1]) == (end == position):
                    break
                end = piece.end()
        unit = unit_of(self.text[position:end], self.place(position, end - position))
        self.at = end
        return value * float(unit.factor) * np.pi**unit.pi

    def _named(self, word: str, position: int) -> Node:
        if not self.passed("("):
            return Node("parameter", name=word)
        start = self.at
        parts = self._arguments(position)
        if word in OF_EVENTS:
            return self._of_event(word, parts, position)
        if word == "at":
            return self._at(parts, position)
        if word in REDUCERS and len(parts) == 1:
            return Node("reduce", name=word, formula=self._formula(*parts[0]))
        if word not in PLAIN:
            known = dict.fromkeys([*REDUCERS, *OF_EVENTS, "at", *PLAIN])
            raise NamingError.unknown(
                "function of a run", word, known, place=self.place(position, len(word))
            )
        count = PLAIN[word][0]
        if len(parts) != count:
            self.reject(f"{word} takes {count} numbers, not {len(parts)}.", position, len(word))
        self.at = start
        return Node(word, tuple(self.inside(self._listed)))

    def _listed(self) -> list[Node]:
        nodes = [self.sum()]
        while self.passed(","):
            nodes.append(self.sum())
        return nodes

    def _arguments(self, position: int) -> list[tuple[str, int]]:
        """Texts between the commas of a bracket, with their positions; passes the bracket."""
        depth, first, parts = 1, self.at, []
        for k in range(self.at, len(self.text)):
            sign = self.text[k]
            depth += (sign in "([") - (sign in ")]")
            if depth == 0 or (depth == 1 and sign == ","):
                parts.append((self.text[first:k], first))
                first = k + 1
            if depth == 0:
                self.at = k + 1
                return parts
        self.reject("this bracket is not closed.", position)

    def _formula(self, text: str, position: int) -> str:
        formula = text.strip()
        if not formula or any(x in text for x in ';"{}\\') or "(*" in text:
            bad = formula or "nothing"
            self.reject(f"{bad!r} is no formula of a run.", position, max(1, len(text)))
        self.places[formula] = self.place(position + len(text) - len(text.lstrip()), len(formula))
        return formula

    def _of_event(self, word: str, parts: list[tuple[str, int]], position: int) -> Node:
        name = parts[0][0].strip()
        if not name.isidentifier() or len(parts) > (2 if word == "time" else 1):
            self.reject(
                f"{word} takes the name of an event"
                + (", and which one of several." if word == "time" else "."),
                position, len(word), hint=f"{word}(full_turn)",
            )  # fmt: skip
        which = parts[1][0].strip() if len(parts) > 1 else "1"
        if not which.isdecimal() or not 1 <= int(which) <= 1_000_000:
            self.reject(f"{which!r} is no number of an event; the first is 1.", parts[1][1])
        return Node(word, name=name, number=float(which))

    def _at(self, parts: list[tuple[str, int]], position: int) -> Node:
        if len(parts) != 2:
            self.reject(
                "at takes a formula, and an instant or the name of an event.", position, 2,
                hint="at(A', 50 ms), at(A', full_turn)",
            )  # fmt: skip
        formula, when = self._formula(*parts[0]), parts[1][0].strip()
        if when.isidentifier():
            return Node("at_event", name=when, formula=formula)
        try:
            t = float(si_value(when, "s", f"measure {self.name!r}: the instant"))
        except ArgumentError as error:
            self.reject(error.message, parts[1][1], max(1, len(when)))
        return Node("at", formula=formula, number=t)


class _OfColumns(_Reader):
    """Reads a formula of a run that contains columns of series."""

    def _named(self, word: str, position: int) -> Node:
        if word in PLAIN and self.peek()[1] == "(":
            self.passed("(")
            nodes, count = self.inside(self._listed), PLAIN[word][0]
            if len(nodes) != count:
                self.reject(f"{word} takes {count} numbers, not {len(nodes)}.", position, len(word))
            return Node(word, tuple(nodes))
        whole = _VALUES.match(self.text, position)
        self.at = position + len(word) if whole is None else whole.end()
        if self.passed("("):
            self._arguments(position)
        return Node("values", formula=self.text[position : self.at].strip())


def read_columns(text: str, place: Place) -> tuple[Node, dict[str, Place]]:
    """A formula of a run with columns of series in it: its parts "values", and where each stands.

    Raises:
        TextError: what is no such formula, at its place.
    """
    reader = _OfColumns("", text)
    try:
        root = reader.sum()
        kind, word, position = reader.peek()
        if kind != "end":
            reader.reject(
                f"{word!r} is not expected here.", position, len(word),
                hint="Beside columns of series stand + - * / **, abs, sqrt, … and formulas.",
            )  # fmt: skip
    except TextError as error:
        inner = error.place
        if inner is not None:
            column = place.column + inner.column - 1
            error.place = replace(place, column=column, length=inner.length)
        raise
    parts = [x.formula for x in root.walk() if x.op == "values"]
    at = {x: text.find(x) for x in parts}
    return root, {x: replace(place, column=place.column + at[x], length=len(x)) for x in parts}


def read_measure(name: str, text: str) -> Measure:
    """A measure from its text.

    Raises:
        TextError: what is no measure, with its place.
        NamingError: a function that there is none of.
    """
    if not name.isidentifier():
        raise ArgumentError(
            f"the measure {name!r} has no proper name.",
            hint="Names are made of letters, digits and _, as stroke_length.",
        )
    if len(text) > MOST_TEXT:
        raise ArgumentError(
            f"measure {name!r} has {len(text)} characters; {MOST_TEXT} are allowed."
        )
    reader = _Reader(name, text)
    root, unit = reader.whole()
    return Measure(name, text, root, unit, reader.places)


def read_measures(texts: Mapping[str, str]) -> tuple[Measure, ...]:
    """All measures of a study; the arguments are those of `read_measure`."""
    if len(texts) > MOST:
        raise ArgumentError(f"{len(texts)} measures; a study takes {MOST} at most.")
    for name, text in texts.items():
        if not isinstance(text, str):
            raise ArgumentError(f"measure {name!r} is {text!r}; it must be a text.")
    return tuple(read_measure(name, text) for name, text in texts.items())
