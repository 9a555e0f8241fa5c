"""What loads when it is first asked for: public names of a package, and how results are shown.

Records and functions also say here what they take, where a call does not fit.

Public names: offer, Fitted, listed, Shown, Brief, Moving, Typeset, read_only.
"""

from __future__ import annotations

import copyreg
import sys
from collections.abc import Mapping, Sequence
from functools import wraps
from importlib import import_module
from types import MappingProxyType, ModuleType
from typing import Any


def read_only(table: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """A table that cannot be changed."""
    return MappingProxyType(table)


# results hold such tables, and results can be pickled
copyreg.pickle(MappingProxyType, lambda table: (read_only, (dict(table),)))


class _Offering(ModuleType):
    """A package that looks up its public names in a table of modules.

    A module may bear the name of what it defines (`verbs.simulate.simulate`). Importing a module
    binds it to its name in the package; where the package offers that name, the binding is left
    out, so that a module never hides what the package offers. A module that has a name of its own
    is imported when it is first asked for.
    """

    _home: Mapping[str, str]
    _classes: str
    _further: str

    def __getattr__(self, name: str) -> Any:
        home = self._home.get(name)
        if home is None:
            return self._module(name) or self._registered(name)
        value = getattr(import_module(home), name)
        super().__setattr__(name, value)
        return value

    def _module(self, name: str) -> ModuleType | None:
        """The module of that name within the package, or None."""
        full = f"{self.__name__}.{name}"
        if name.startswith("_"):
            return None
        try:
            return import_module(full)
        except ModuleNotFoundError as error:
            if error.name != full:
                raise
            return None

    def _registered(self, name: str) -> Any:
        """What a file of somebody's own registered under that name, as long as it is registered."""
        if self._classes and name[:1].isupper():
            module, _, table = self._classes.rpartition(".")
            if (kind := getattr(import_module(module), table).by_name(name)) is not None:
                return kind
        if self._further and not name.startswith("_"):
            word = getattr(import_module(self._further), name, None)
            if word is not None:
                return word
        text = f"module {self.__name__!r} has no attribute {name!r}"
        raise AttributeError(text, name=name, obj=self)

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in self._home):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted(self._home)


def offer(
    package: str,
    names: Mapping[str, str],
    others: Mapping[str, str] | None = None,
    *,
    classes: str = "",
    further: str = "",
    hidden: str = "",
) -> list[str]:
    """Let `package` offer public names, each loaded from its module when first used.

    Type checkers and editors do not see what is offered so: the `__init__.pyi` beside the
    `__init__.py` says it to them, and `docs/public_names.py` writes it (`make tree`).

    Args:
        package: its dotted name, already imported.
        names: module within the package -> the names it provides, separated by spaces.
        others: the same of other modules, by their full names.
        classes: a table within the package, "module.TABLE", whose `by_name` gives further classes
            or None.
        further: module within the package whose other names are public too, once it is loaded:
            words of kinds that were registered later.
        hidden: names that are offered but left out of `__all__`, separated by spaces: those that
            would hide names of Python's own after `from package import *`.

    Returns:
        The names for `__all__`.

    Raises:
        ImportError: two modules provide one name.
    """
    full = {f"{package}.{module}": words for module, words in names.items()} | dict(others or {})
    home: dict[str, str] = {}
    for module, words in full.items():
        for name in words.split():
            if name in home:
                raise ImportError(
                    f"{package}.{name} would be of two modules, {home[name]} and {module}: "
                    "rename one of them."
                )
            home[name] = module
    opened = sys.modules[package]
    for name in home.keys() & opened.__dict__.keys():
        del opened.__dict__[name]  # modules imported before
    opened.__dict__["_home"] = home
    opened.__dict__["_classes"] = f"{package}.{classes}" if classes else ""
    opened.__dict__["_further"] = f"{package}.{further}" if further else ""
    opened.__class__ = _Offering
    return sorted(home.keys() - set(hidden.split()))


VALUE = 72
"""Characters of a field in the `repr` of a record."""

LINES, WIDTH = 200, 1000
"""Of equations that `str` shows; of longer ones it says how to see all."""


class Fitted:
    """A record that says what it takes where it is given other arguments.

    A dataclass with slots is made twice, the second time with its `__init__`.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _explain_arguments(cls)


def _explain_arguments(record: type) -> None:
    """Gives the `__init__` of a dataclass an error of its own."""
    init = record.__dict__.get("__init__")
    if init is not None and "__dataclass_fields__" in record.__dict__:
        setattr(record, "__init__", _explaining(init))  # noqa: B010 (type checkers know its own)


def _explaining(init: Any) -> Any:
    """The `__init__` of a record, with an error of its own for arguments that do not fit."""

    @wraps(init)
    def explaining(self: Any, *args: Any, **keywords: Any) -> None:
        try:
            init(self, *args, **keywords)
        except TypeError as error:
            # only where Python could not begin the call is there no deeper frame
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            misfit = import_module("liaison.arguments").misfit
            raise misfit(init, (self, *args), keywords, type(self).__name__) from None

    return explaining


def listed(items: Sequence[str], most: int = 12) -> str:
    """Texts with commas; of many, the first ones and how many more."""
    if len(items) <= most:
        return ", ".join(items)
    return f"{', '.join(items[:most])}, and {len(items) - most} more"


class Shown:
    """A result that shows itself: `repr` in a line, `str` as text, HTML in a notebook.

    The room `display` says what is shown; it is loaded when something is.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(import_module("liaison.display").line_of(self))

    def __str__(self) -> str:
        return str(import_module("liaison.display").text_of(self))

    def _repr_html_(self) -> str:
        """For notebooks."""
        return str(import_module("liaison.display").html_of(self))


class Brief:
    """A record whose `repr` leaves out the fields that are as they are by default; `Fitted`."""

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        _explain_arguments(cls)

    def __repr__(self) -> str:
        records = import_module("dataclasses")
        parts = []
        for field in records.fields(self):
            value, factory = getattr(self, field.name), field.default_factory
            default = field.default if factory is records.MISSING else factory()
            if field.repr and not (type(value) is type(default) and value == default):
                text = repr(value)
                text = text if len(text) <= VALUE else f"{text[: VALUE - 1]}…"
                parts.append(f"{field.name}={text}")
        return f"{type(self).__qualname__}({', '.join(parts)})"


class Moving:
    """A motion that is shown in the cell of a notebook."""

    __slots__ = ()

    def show(self, mechanism: Any = None, **options: Any) -> Any:
        """The moving picture for the cell of a notebook: `liaison.animation(run, mechanism, …)`."""
        animation = import_module("liaison.verbs.motion.animation").animation
        return animation(self, mechanism, **options)


class Typeset(Shown):
    """Equations that are also written: as text, LaTeX, HTML, and as expressions of SymPy."""

    __slots__ = ()

    def __str__(self) -> str:
        lines = self.text().splitlines()
        if len(lines) > LINES:
            more = f"… {len(lines) - LINES} more lines: .text() has all of them, .latex() typeset"
            lines = [*lines[:LINES], more]
        return "\n".join(x if len(x) <= WIDTH else f"{x[:WIDTH]} … (.text())" for x in lines)

    def text(self) -> str:
        """Simplified, as Unicode text.

        Example:
            >>> import liaison
            >>> print(liaison.derive("examples/pendulum.lsd", "lagrange").text().splitlines()[0])
            pendulum, by lagrange
        """
        return str(import_module("liaison.display").text_of(self))

    def latex(self) -> str:
        """Simplified, as LaTeX: one `aligned` block after another, with comments.

        Example:
            >>> import liaison
            >>> r"\\ddot{A}" in liaison.derive("examples/pendulum.lsd", "lagrange").latex()
            True
        """
        return str(import_module("liaison.display.equations").latex(self))

    def html(self) -> str:
        """Simplified, as a standalone page with MathML.

        Example:
            >>> import liaison
            >>> liaison.derive("examples/pendulum.lsd", "lagrange").html()[:15]
            '<!doctype html>'
        """
        return str(import_module("liaison.display.equations").html(self))

    def sympy(self) -> Any:
        """Matrices and symbols of SymPy by name: `M`, `f`, `G`, `gamma`, `q`, `v`, `equations`.

        Example:
            >>> import liaison
            >>> liaison.derive("examples/pendulum.lsd", "lagrange").sympy().M.shape
            (1, 1)
        """
        return import_module("liaison.display.equations").sympy(self)
