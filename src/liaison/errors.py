"""Errors of liaison: each says what was found, why it is wrong and how to fix it.

    LiaisonError
    ├── TextError          text that is not LSD or URDF         (file, line, column, caret)
    ├── NamingError        unknown, double                      (kind, name, what exists)
    ├── ArgumentError      a text where a number is meant       (function, argument, value)
    ├── ModelError         no mass, axis zero, not connected
    ├── FrameError         quantities that do not compose
    ├── AssemblyError      no configuration satisfies the closures
    ├── DerivationError    a formalism that does not apply here
    ├── ProgramError       an entry, an input or a back end that is not there
    │   └── MissingModule  a third party that is not installed  (the extra that brings it)
    └── SimulationError    step too small, projection lost, event chatter   (status, t, labels)

    UserWarning
    └── ReadingWarning     what of a description is not used

    KeyboardInterrupt
    └── Interrupted        Ctrl-C, with the partial trajectory  (t, trajectory)

Files that cannot be written, and results that are not there, are Python's own OSError.

An error that knows how to fix a text carries a `Cure`: the edit, as a range and its new text.

Public names: the family above, needed, Place, Cure, interruptible, warn_renamed, meant,
nearest.
"""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Self, final


@final
@dataclass(frozen=True, slots=True)
class Place:
    """A place in a text: file, line and column from 1, and the text of the line."""

    file: str
    line: int
    column: int = 1
    text: str = ""
    length: int = 1
    shift: int = 0  # characters of the line before `text`, where a long line is cut

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}"

    def words(self) -> str:
        """What is written at the place, as far as it is on the line."""
        first = self.column - 1 - self.shift
        return self.text[first : first + self.length]

    def replaced(self, old: str, new: str) -> Cure | None:
        """The edit that writes `new` for the word `old`; None where it does not stand here once."""
        places = [m.start() for m in re.finditer(rf"(?<!\w){re.escape(old)}(?!\w)", self.words())]
        if not old or len(places) != 1:
            return None
        return Cure(self.file, self.line, self.column + places[0], len(old), new)

    def behind(self, new: str) -> Cure:
        """The edit that writes `new` directly behind what is written here."""
        return Cure(self.file, self.line, self.column + self.length, 0, new)

    def excerpt(self) -> str:
        """The line with a caret under the word, as two lines; empty if the text is not known."""
        if not self.text:
            return ""
        margin = f"    {self.line} | "
        caret = " " * (len(margin) + self.column - 1 - self.shift) + "^" * max(1, self.length)
        return f"\n{margin}{self.text.rstrip()}\n{caret}"


@final
@dataclass(frozen=True, slots=True)
class Cure:
    """An edit that fixes a text: `length` characters from (line, column) become `text`.

    Lines and columns count from 1, characters as Python counts them; a length of 0 inserts.
    """

    file: str
    line: int
    column: int
    length: int
    text: str

    def applied(self, text: str) -> str:
        """The text of the file after the edit."""
        lines = text.split("\n")
        line, first = lines[self.line - 1], self.column - 1
        lines[self.line - 1] = line[:first] + self.text + line[first + self.length :]
        return "\n".join(lines)


class LiaisonError(Exception):
    """Base of all errors; `place` is the place in a text, when there is one.

    `cure` is an edit of the text that would fix it, where one is known. `also` holds further errors
    of the same text, independent of this one; all are reported.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.read("none.lsd")
        ... except liaison.LiaisonError as error:
        ...     print(isinstance(error, liaison.TextError))
        True
    """

    def __init__(
        self,
        message: str,
        *,
        place: Place | None = None,
        hint: str = "",
        cure: Cure | None = None,
    ) -> None:
        self.message = message
        self.place = place
        self.hint = hint
        self.cure = cure
        self.meant: tuple[str, str] | None = None  # a word, and the one to write instead
        self.also: tuple[LiaisonError, ...] = ()
        super().__init__(message)

    def __str__(self) -> str:
        return "\n".join(error.told() for error in (self, *self.also))

    def at(self, place: Place | None) -> Self:
        """The same error at a place, with the edit that follows from it."""
        self.place = place
        if place is not None and self.meant is not None:
            self.cure = place.replaced(*self.meant)
        return self

    def told(self) -> str:
        """The message of this error alone, with its excerpt and its hint."""
        where = f"{self.place}: " if self.place else ""
        excerpt = self.place.excerpt() if self.place else ""
        hint = f"\n    {self.hint}" if self.hint else ""
        return f"{where}{self.message}{excerpt}{hint}"

    def diagnostics(self, file: str = "") -> list[dict[str, Any]]:
        """All errors as diagnostics for editors; `file` where a place is not known."""
        return [
            diagnostic(
                error.message, error.place or Place(file, 1), hint=error.hint, cure=error.cure
            )
            for error in (self, *self.also)
        ]


def diagnostic(
    message: str,
    place: Place,
    *,
    severity: str = "error",
    hint: str = "",
    cure: Cure | None = None,
) -> dict[str, Any]:
    """A diagnostic for editors, at a place in a text; `cure` is None or an edit that fixes it."""
    return {
        "file": place.file,
        "line": place.line,
        "column": place.column,
        "length": max(1, place.length),
        "severity": severity,
        "message": message,
        "hint": hint,
        "cure": None if cure is None else asdict(cure),
    }


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Around the import of a third party that an extra of the package brings.

    Args:
        extra: of `liaison-mbd`, such as "tables".

    Raises:
        MissingModule: it is not installed; says how to install it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingModule(
            f"this needs {error.name}, which is not installed.",
            hint=f'Install it with: pip install "liaison-mbd[{extra}]"',
        ) from None


class ReadingWarning(UserWarning):
    """A note of a reader: something of a description (a file, or "") not used, or repaired."""

    def __init__(self, note: str, file: str = "") -> None:
        self.note, self.file = note, file
        super().__init__(f"{file}: {note}" if file else note)


def warn_renamed(old: str, new: str) -> None:
    """Warns the caller of a function under its old name; `-W error` shows where that is."""
    warnings.warn(f"{old} is deprecated; it is called {new}.", DeprecationWarning, stacklevel=3)


class TextError(LiaisonError):
    """Text that is not LSD or URDF.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.read("let A = ;")
        ... except liaison.TextError as error:
        ...     print(error.place.line, error.place.column)
        1 9
    """


class NamingError(LiaisonError):
    """A name that nothing was declared under, or that two things share.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.check("examples/pendulum.lsd", {"B": 1})
        ... except liaison.NamingError as error:
        ...     print(error.message)
        no coordinate or speed is named 'B'.
    """

    @classmethod
    def unknown(
        cls, kind: str, name: str, declared: Iterable[str], *, place: Place | None = None
    ) -> NamingError:
        """No `kind` is named `name`; proposes the nearest declared one."""
        known = sorted(declared)
        near = meant(str(name), known)
        guess = f"; did you mean {near[0]!r}?" if near else "."
        listed = ", ".join(known[:24]) + (", …" if len(known) > 24 else "")
        error = cls(f"no {kind} is named {name!r}{guess}", hint=f"Declared: {listed or 'none'}.")
        error.meant = (str(name), near[0]) if near else None
        return error.at(place)

    @classmethod
    def double(cls, kind: str, name: str, *, place: Place | None = None) -> NamingError:
        """Two things of one name."""
        return cls(
            f"the name {name!r} is given to two {kind}; each name is used once.", place=place
        )


def meant(name: str, known: list[str]) -> list[str]:
    """Declared names that a name may mean: in other case, similar, or S for S.s."""
    alike = [x for x in known if x.lower() == name.lower()]
    stem = name.partition(".")[0] + "'" * name.count("'")
    near = alike or difflib.get_close_matches(name, known, n=1)
    begun = [x for x in known if len(name) > 2 and x.startswith(name)]
    return near or [x for x in known if x == stem] or begun


def nearest(name: str, known: list[str]) -> str:
    """The question whether another argument is meant; a full stop where none is near."""
    same = [x[0] for x in SYNONYMS if name.lower() in x and x[0] in known]
    near = same or meant(name, known)
    return f"; did you mean {near[0]!r}?" if near else "."


SYNONYMS = tuple(
    tuple(words.split())
    for words in (
        "p position pos origin xyz point translation",
        "R rotation orientation rot matrix",
        "length height",
        "height length",
        "center com centre",
        "com center centre",
        "color colour rgba",
        "friction mu",
        "restitution e elasticity",
        "until t_end tend end duration tmax t_final",
        "step dt timestep h time_step",
        "start initial initial_state q0 x0",
        "tolerance tol rtol atol accuracy",
        "method solver integrator",
        "controller control policy",
        "stiffness kp p_gain gain",
        "integral ki i_gain",
        "damping kd kv d_gain",
        "limit max limits",
        "target goal setpoint reference",
        "mass m",
        "radius r",
        "file filename path",
    )
)
"""Words of arguments that mean the first of each group, where that is one of those taken."""


class OptionError(NamingError, TypeError):
    """A keyword that a function does not take.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.simulate("examples/pendulum.lsd", until=1, evry=0.1)
        ... except liaison.OptionError as error:
        ...     print(error.message)
        simulate takes no option 'evry'; did you mean 'every'?
    """

    @classmethod
    def check(
        cls,
        verb: str,
        keywords: Iterable[str],
        known: Collection[str],
        *,
        named: Iterable[str] = (),
    ) -> None:
        """Raises an error for the first keyword that `verb` does not take, with the nearest one.

        Args:
            verb: for the message.
            keywords: that it got.
            known: that it takes.
            named: other arguments that it takes by name, which may be meant.

        Raises:
            OptionError: names the keyword, the nearest one and all that are known.
        """
        for name in keywords:
            if name not in known:
                listed = sorted(known)
                near = nearest(name, [*listed, *named])
                hint = f"Options: {', '.join(listed)}."
                raise cls(f"{verb} takes no option {name!r}{near}", hint=hint)


class ArgumentError(LiaisonError, TypeError):
    """An argument of a kind that a function does not take.

    Example:
        >>> import liaison
        >>> issubclass(liaison.ArgumentError, TypeError)
        True
    """


class ModelError(LiaisonError):
    """A description of an impossible mechanism.

    Example:
        >>> import liaison
        >>> try:
        ...     liaison.body("b", mass=-1)
        ... except liaison.ModelError as error:
        ...     print(error.message)
        the mass of body 'b' is -1 kg; it must not be negative.
    """


class FrameError(LiaisonError):
    """Quantities of frames that do not compose.

    Example:
        >>> import liaison
        >>> issubclass(liaison.FrameError, liaison.LiaisonError)
        True
    """


class AssemblyError(LiaisonError):
    """No configuration satisfies the closures, or none was found from the start given.

    Example:
        >>> import liaison
        >>> issubclass(liaison.AssemblyError, liaison.LiaisonError)
        True
    """


class DerivationError(LiaisonError):
    """A formalism, or a step of it, that does not apply to this mechanism.

    Example:
        >>> import liaison
        >>> issubclass(liaison.DerivationError, liaison.LiaisonError)
        True
    """


class ProgramError(LiaisonError):
    """An entry, an input or a back end that is not there.

    Example:
        >>> import liaison
        >>> issubclass(liaison.ProgramError, liaison.LiaisonError)
        True
    """


class MissingModule(ProgramError, ImportError):
    """A third party that an extra of the package brings is not installed; see `needed`."""


class SimulationError(LiaisonError):
    """A run that failed: status, time reached, and the partial trajectory.

    Example:
        >>> import liaison
        >>> issubclass(liaison.SimulationError, liaison.LiaisonError)
        True
    """

    def __init__(
        self,
        message: str,
        *,
        status: str = "failed",
        t: float | None = None,
        trajectory: Any = None,
        hint: str = "",
    ) -> None:
        self.status = status
        self.t = t
        self.trajectory = trajectory
        super().__init__(message, hint=hint)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C: no LiaisonError, so that handlers of errors do not stop it.

    Attributes:
        message: what was interrupted, and when.
        t: time reached [s]; None where nothing was moving yet.
        trajectory: the partial trajectory, or the runs of a batch; None where there is none.

    Example:
        >>> import liaison
        >>> issubclass(liaison.Interrupted, KeyboardInterrupt)
        True
    """

    def __init__(self, message: str, *, t: float | None = None, trajectory: Any = None) -> None:
        self.message = message
        self.status = "interrupted"
        self.t = t
        self.trajectory = trajectory
        super().__init__(message)


@final
class interruptible:
    """Ctrl-C in the block is an `Interrupted`, which says what was interrupted."""

    __slots__ = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt) and kind is not Interrupted:
            raise Interrupted(f"{self.what} was interrupted.") from None
