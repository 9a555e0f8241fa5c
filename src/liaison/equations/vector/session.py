"""A session in which terms of equations are opened one by one, and closed again.

    session = liaison.session("examples/double_pendulum.lsd")
    session.open("gamma(G2)").open(1)            terms by name, or by number in the list
    session.answer("open gamma(G2)")             as typed at a terminal: the next session, a text

Every session is a record; opening a term gives another one, so that nothing is lost.

Source: PA, architecture (« gestion des niveaux de détails »).

Public names: Session, COMMANDS, ALIASES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import final

from liaison.algebra import to_text
from liaison.errors import ArgumentError, DerivationError, LiaisonError, NamingError

from .scalar_equations import listed
from .vector_equations import VectorEquations

COMMANDS: Mapping[str, str] = {
    "show": "print the equations",
    "terms": "list the terms that can be opened, by number",
    "open": "open a term, by name or number: open gamma(G2); open all; 3 alone opens term 3",
    "close": "take back the last change",
    "what": "say what a term means: what omega1",
    "simplify": "each side in its shortest form",
    "columns": "columns and tildes in the axes of the ground or of a body: columns lower",
    "scalars": "print the components in the axes of the ground or of a body: scalars lower",
    "latex": "print the equations as LaTeX",
    "help": "list the commands",
    "quit": "end the session",
}


ALIASES: Mapping[str, str] = {"?": "help", "exit": "quit", "q": "quit", "": "show"}
"""Further words for commands."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """Equations at some level of detail, and those before them.

    Attributes:
        equations: as they are now.
        before: the session that the last change was made in; None at the start.
        done: the last change, in words.
        is_over: whether the session was ended.
    """

    equations: VectorEquations
    before: Session | None = None
    done: str = ""
    is_over: bool = False

    @property
    def terms(self) -> tuple[str, ...]:
        """Terms that can be opened."""
        return self.equations.expandable

    @property
    def history(self) -> tuple[str, ...]:
        """What was done, first to last."""
        changes: list[str] = []
        session: Session | None = self
        while session is not None and session.done:
            changes.append(session.done)
            session = session.before
        return tuple(reversed(changes))

    @property
    def text(self) -> str:
        """The equations, and the terms that can be opened."""
        return f"{self.equations.text}\n\n{self._listed()}"

    @property
    def changed_text(self) -> str:
        """The equations that the last change touched, and the terms that can be opened."""
        before = () if self.before is None else self.before.equations.lines
        lines = [line for line in self.equations.lines if line not in before]
        if not lines or len(lines) == len(self.equations.lines):
            return self.text
        rows = [(x.name, to_text(x.left), to_text(x.right)) for x in lines]
        others = len(self.equations.lines) - len(lines)
        count = "1 equation stays" if others == 1 else f"{others} equations stay"
        return "\n".join(
            [*listed(rows), f"{count} as before; `show` prints all", "", self._listed()]
        )

    def _listed(self) -> str:
        terms = ", ".join(f"{k} {name}" for k, name in enumerate(self.terms, 1))
        return f"terms: {terms or 'none is left to open'}"

    def __repr__(self) -> str:
        name = self.equations.book.setting.mechanism.name
        count, terms = len(self.equations.lines), len(self.terms)
        return f"<Session of {name}: {count} equations, {terms} terms to open>"

    def __str__(self) -> str:
        return self.text

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.equations.latex}$"

    def open(self, term: str | int) -> Session:
        """A term replaced by what it is made of, one level down; "all" opens everything.

        Raises:
            NamingError: no such term.
            DerivationError: a term that is made of no others.
        """
        if term == "all":
            return self._next(self.equations.expand_all(), "open all")
        name = self._named(term)
        return self._next(self.equations.expand(name), f"open {name}")

    def close(self) -> Session:
        """The session before the last change.

        Raises:
            ArgumentError: nothing was changed.
        """
        if self.before is None:
            raise ArgumentError("nothing is open: these are the equations as they began.")
        return self.before

    def simplify(self) -> Session:
        """Each side in its shortest form by the laws of vectors and tildes."""
        return self._next(self.equations.simplified(), "simplify")

    def columns(self, basis: str = "ground") -> Session:
        """Columns, rows and tildes in the axes of the ground or of a body."""
        return self._next(self.equations.matrices(basis), f"columns {basis}")

    def _next(self, equations: VectorEquations, done: str) -> Session:
        return Session(equations, self, done)

    def _named(self, term: str | int) -> str:
        if isinstance(term, str) and not term.isdigit():
            return term
        number = int(term)
        if not 0 < number <= len(self.terms):
            raise ArgumentError(
                f"there is no term {number}; the terms that can be opened are numbered 1 to "
                f"{len(self.terms)}."
            )
        return self.terms[number - 1]

    def answer(self, line: str) -> tuple[Session, str]:
        """The session after a line as typed at a terminal, and what is printed.

        A term alone, by its name or its number, is opened. Errors are printed, and change nothing.
        """
        word, _, rest = line.strip().partition(" ")
        word = ALIASES.get(word, word)
        if not rest and (word.isdigit() or word in self.terms):
            word, rest = "open", word
        try:
            if word not in COMMANDS:
                raise NamingError.unknown("command", word, COMMANDS)
            return _ANSWERS[word](self, rest.strip())
        except LiaisonError as error:
            return self, str(error)


def _opened(session: Session, rest: str) -> tuple[Session, str]:
    if not rest:
        raise ArgumentError("open what? A term by its name or its number; `terms` lists them.")
    after = session.open(rest)
    return after, after.changed_text


def _meaning(session: Session, rest: str) -> tuple[Session, str]:
    meanings = session.equations.meanings
    if not rest:
        return session, "\n".join(f"{name}: {text}" for name, text in meanings.items())
    if rest not in meanings:
        raise NamingError.unknown("term", rest, meanings)
    return session, f"{rest}: {meanings[rest]}"


def _scalars(session: Session, rest: str) -> tuple[Session, str]:
    if session.equations.level != "vector":
        raise DerivationError("these are columns already.", hint="`close` them first.")
    return session, session.equations.components(rest or "ground").text


def _terms(session: Session, rest: str) -> tuple[Session, str]:
    meanings = session.equations.meanings
    rows = [f"{k:>3} {name}: {meanings[name]}" for k, name in enumerate(session.terms, 1)]
    return session, "\n".join(rows) or "none is left to open"


def _changed(change: Callable[[Session, str], Session]) -> _Answer:
    def answer(session: Session, rest: str) -> tuple[Session, str]:
        after = change(session, rest)
        return after, after.text

    return answer


_Answer = Callable[[Session, str], tuple[Session, str]]

_ANSWERS: Mapping[str, _Answer] = {
    "show": lambda session, rest: (session, session.text),
    "terms": _terms,
    "open": _opened,
    "close": _changed(lambda session, rest: session.close()),
    "what": _meaning,
    "simplify": _changed(lambda session, rest: session.simplify()),
    "columns": _changed(lambda session, rest: session.columns(rest or "ground")),
    "scalars": _scalars,
    "latex": lambda session, rest: (session, session.equations.latex),
    "help": lambda session, rest: (session, "\n".join(f"{k:<9} {x}" for k, x in COMMANDS.items())),
    "quit": lambda session, rest: (replace(session, is_over=True), ""),
}
