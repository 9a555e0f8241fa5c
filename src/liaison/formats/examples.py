"""Examples that come with the package: listed, shown, copied.

    liaison.examples()                                  all of them, by name
    liaison.examples()["four_bar"].path                 a file for every verb
    liaison.examples()["four_bar"].copy("my_models")    a copy to change

They lie in the package where it was installed, and in `examples/` of a checkout.

Public names: Example, Examples, examples.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import final

from liaison.errors import LiaisonError, NamingError

KINDS = (".lsd", ".urdf", ".alg", ".py")
"""Suffixes of what is listed; names of LSD texts are without it."""

PLACES = (Path(__file__).parents[1] / "shipped", Path(__file__).parents[3] / "examples")
"""Where they lie: in an installed package, and in a checkout."""

COMMENT = re.compile(r'\(\*(.*?)\*\)|<!--(.*?)-->|"""(.*?)"""', re.DOTALL)
WIDTH = 100


@final
@dataclass(frozen=True, slots=True)
class Example:
    """One text.

    Attributes:
        name: "four_bar", "contact/loop"; with its suffix where it is not LSD.
        path: the file.

    Example:
        >>> import liaison
        >>> liaison.examples()["four_bar"].path.name
        'four_bar.lsd'
    """

    name: str
    path: Path

    @property
    def text(self) -> str:
        """All of it."""
        return self.path.read_text(encoding="utf-8")

    @property
    def summary(self) -> str:
        """The first sentence of its comment, shortened to a line."""
        comment = COMMENT.search(self.text)
        words = " ".join(
            next(x for x in comment.groups() if x is not None).split() if comment else ""
        )
        sentence = re.split(r"(?<=[.])\s", words, maxsplit=1)[0]
        if len(sentence) <= WIDTH:
            return sentence
        return f"{sentence[: WIDTH - 1].rpartition(' ')[0]} …"

    def copy(self, folder: str | Path = ".") -> Path:
        """A copy in a folder, which is made if need be; returns its path.

        Raises:
            LiaisonError: there is such a file already, or the folder cannot be written to.

        Example:
            >>> import liaison
            >>> liaison.examples()["pendulum"].copy("models").name
            'pendulum.lsd'
        """
        target = Path(folder) / self.path.name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.exists():
                raise LiaisonError(
                    f"there is a file {str(target)!r} already.",
                    hint="Remove it, or copy to another folder.",
                )
            shutil.copyfile(self.path, target)
        except OSError as error:
            raise LiaisonError(f"{str(target)!r} cannot be written: {error.strerror}.") from None
        return target


@final
class Examples(Mapping[str, Example]):
    """Examples by name; printed as a list with a line for each.

    Example:
        >>> import liaison
        >>> "four_bar" in liaison.examples()
        True
    """

    def __init__(self, entries: Mapping[str, Example]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> Example:
        """One example.

        Raises:
            NamingError: none has that name; proposes the nearest.
        """
        known = self._entries.get(name.removesuffix(".lsd"))
        if known is None:
            raise NamingError.unknown("example", name, self._entries)
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __repr__(self) -> str:
        return f"Examples({len(self)}: print() lists them)"

    def __str__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {x.summary}" for name, x in self._entries.items())


def examples() -> Examples:
    """All examples that come with the package.

    Raises:
        LiaisonError: the package was installed without them.

    Example:
        >>> import liaison
        >>> liaison.examples()["pendulum"].summary
        'A pendulum: a bar that swings about a hinge, in the vertical plane x-z.'
    """
    folder = next((x for x in PLACES if x.is_dir()), None)
    if folder is None:
        raise LiaisonError(
            "the examples of liaison are not where it is installed.",
            hint="Install it again from its wheel.",
        )
    files = sorted(x for x in folder.rglob("*") if x.suffix in KINDS)
    files.sort(key=lambda x: len(x.relative_to(folder).parts))
    names = (x.relative_to(folder).as_posix().removesuffix(".lsd") for x in files)
    return Examples({name: Example(name, x) for name, x in zip(names, files, strict=True)})
