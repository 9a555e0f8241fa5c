"""Pages about every public name: its signature and its docstring, as Markdown for Sphinx."""

from __future__ import annotations

import ast
import importlib.util
import inspect
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import liaison

ROOT = Path(__file__).resolve().parents[2]

PAGES = (
    ("describe", "Describing a mechanism", ("model.describe", "model.contacts")),
    ("joints", "Joint types, shapes and records", ("model",)),
    ("formats", "Reading and writing files", ("formats",)),
    ("formulas", "Formulas", ("expr",)),
    ("motion", "Simulation and views", ("verbs.motion", "simulation", "view", "numeric")),
    ("analyse", "Analyses", ("verbs.analyse", "analyse")),
    ("freedoms", "Degrees of freedom and assembly", ("verbs.freedoms", "freedoms", "tree")),
    ("state", "Quantities at one state", ("verbs.state",)),
    ("derive", "Equations of motion", ("verbs.derive", "equations")),
    ("symbolic", "Symbolic tools", ("verbs.symbolic",)),
    ("code", "Programs and kernels", ("program",)),
    ("further", "Units, errors and further names", ("",)),
)
"""Name of a page, its title, and the rooms whose public names it lists; the first that fits."""

SECTION = re.compile(r"^(Args|Returns|Raises|Attributes|Yields|Examples?|Notes?):\s*$")
ITEM = re.compile(r"^(\**[\w., *]+?)(?: \([^)]*\))?:\s+(.*)$")
CODE_SPAN = re.compile(r"(`+[^`]+`+)")


@cache
def rooms() -> dict[str, str]:
    """Public name -> the module below `liaison` that offers it."""
    path = ROOT / "docs" / "public_names.py"
    spec = importlib.util.spec_from_file_location("public_names", path)
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    table = writer.offered(ROOT / "src" / "liaison" / "__init__.py")
    return {n: m.removeprefix("liaison.") for m, names in table.items() for n in names.split()}


def page_of(module: str) -> str:
    """The page that lists the public names of a module."""
    return next(name for name, _, begins in PAGES if any(is_in(module, x) for x in begins))


def is_in(module: str, room: str) -> bool:
    """Whether a module is the room, or in it."""
    return not room or f"{module}.".startswith(f"{room}.")


def plain(line: str) -> str:
    """A line of a docstring with what Markdown would take for markup escaped."""
    parts = CODE_SPAN.split(line)
    parts[::2] = [re.sub(r"([*_<\[\]$|#~])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def as_markdown(docstring: str) -> list[str]:
    """A docstring in Google's style as lines of Markdown; indented blocks stay code."""
    lines: list[str] = []
    section, indent = "", 0
    docstring, _, example = docstring.partition("\nExample:\n")
    for line in docstring.splitlines():
        head = SECTION.match(line)
        if head:
            section, indent = head[1], 0
            lines += ["", f"**{section}**", ""]
        elif section and line.startswith(" "):
            indent = indent or len(line) - len(line.lstrip())
            lines += item(line[indent:], section)
        else:
            section = section if not line else ""
            code = line.startswith("    ")
            lines.append(line if code else plain(line))
    return lines + (in_fence(example) if example else [])


def in_fence(example: str) -> list[str]:
    """The example of a docstring, coloured as a session of Python."""
    own, _, rest = example.partition("\n\n")
    code = [line.removeprefix("    ") for line in own.rstrip().splitlines()]
    return ["", "**Example**", "", "```pycon", *code, "```", *(["", rest] if rest.strip() else [])]


def item(line: str, section: str) -> list[str]:
    """A line of a section: the beginning of an item, or its continuation."""
    found = None if line.startswith(" ") else ITEM.match(line)
    if found and section in ("Args", "Attributes", "Raises"):
        return [f"- `{found[1]}`: {plain(found[2])}"]
    return [
        f"  {plain(line.strip())}" if section in ("Args", "Attributes", "Raises") else plain(line)
    ]


def signature(thing: Any) -> str:
    """The parameters of a callable as one would write them; "" where there are none."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    words, star = [], False
    for parameter in found.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            words.append("*")
            star = True
        star = star or parameter.kind is parameter.VAR_POSITIONAL
        words.append(one_parameter(parameter))
    return f"({', '.join(words)}){arrow(found)}"


def arrow(found: inspect.Signature) -> str:
    """What a callable returns, as text."""
    empty = found.return_annotation is inspect.Signature.empty
    return "" if empty else f" -> {annotation(found.return_annotation)}"


def annotation(hint: Any) -> str:
    """An annotation as text."""
    return hint if isinstance(hint, str) else inspect.formatannotation(hint)


def one_parameter(parameter: inspect.Parameter) -> str:
    """A parameter with its annotation and its default."""
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    hint, text = parameter.annotation, f"{stars}{parameter.name}"
    if hint is not parameter.empty:
        text += f": {annotation(hint)}"
    if parameter.default is not parameter.empty:
        shown = repr(parameter.default)
        text += f" = {'...' if '<' in shown or len(shown) > 40 else shown}"
    return text


def directive(kind: str, head: str, body: list[str], colons: int) -> list[str]:
    """A directive of Sphinx's Python domain with Markdown in it."""
    fence = "`" * colons
    return [f"{fence}{{py:{kind}}} {head}", "", *body, fence, ""]


def members(thing: type) -> Iterator[list[str]]:
    """Methods and properties that a class defines itself."""
    for name, value in sorted(vars(thing).items()):
        if name.startswith("_"):
            continue
        is_property = isinstance(value, property)
        if not (
            is_property
            or isinstance(value, classmethod | staticmethod)
            or inspect.isfunction(value)
        ):
            continue
        got = value if is_property else getattr(thing, name)
        kind = "property" if is_property else "method"
        head = name if is_property else f"{name}{signature(got)}"
        yield directive(kind, f"{thing.__name__}.{head}", as_markdown(inspect.getdoc(got) or ""), 4)


def entry(name: str) -> list[str]:
    """One public name."""
    thing = getattr(liaison, name)
    if inspect.isclass(thing):
        body = as_markdown(inspect.getdoc(thing) or "")
        for member in members(thing):
            body += ["", *member]
        head = name + signature(thing).split(" -> ")[0]
        return directive("class", f"liaison.{head}", body, 6)
    if callable(thing) and not isinstance(thing, type(liaison.PI)):
        body = as_markdown(inspect.getdoc(thing) or "")
        return directive("function", f"liaison.{name}{signature(thing)}", body, 6)
    return directive("data", f"liaison.{name}", as_markdown(docstring_of(name)), 6)


def docstring_of(name: str) -> str:
    """The docstring of a public name; of a constant the text behind its assignment."""
    thing = getattr(liaison, name)
    if callable(thing) and not isinstance(thing, liaison.Expr):
        return inspect.getdoc(thing) or ""
    place = ROOT / "src" / "liaison" / rooms()[name].replace(".", "/")
    for path in [place.with_suffix(".py"), *sorted(place.rglob("*.py"))]:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if re.search(rf"^{name}\b.* = ", text, re.M) and (found := behind(name, ast.parse(text))):
            return found
    return ""


def behind(name: str, tree: ast.Module) -> str:
    """The text behind the assignment of a name at the top of a module."""
    for statement, text in pairwise(tree.body):
        targets = getattr(statement, "targets", [getattr(statement, "target", None)])
        is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
        if is_text and any(isinstance(x, ast.Name) and x.id == name for x in targets):
            return inspect.cleandoc(str(text.value.value))
    return ""


def names_by_page() -> dict[str, list[str]]:
    """Page -> the public names that it lists; classes of joint types are offered by `model`."""
    where = rooms()
    by_page: dict[str, list[str]] = {name: [] for name, _, _ in PAGES}
    for name in sorted(liaison.__all__, key=str.lower):
        by_page[page_of(where.get(name, "model"))].append(name)
    return by_page


def api_pages() -> dict[str, str]:
    """Place -> text of every page about public names."""
    by_page = names_by_page()
    pages = {}
    for page, title, _ in PAGES:
        lines = [f"# {title}", ""]
        for name in by_page[page]:
            lines += entry(name)
        pages[f"reference/api/{page}.md"] = "\n".join(lines)
    listed = "\n".join(page for page, _, _ in PAGES)
    pages["reference/api/index.md"] = (
        "# The Python interface\n\nEvery public name of `liaison`, from its docstring. "
        "[liaison in Python](../../python.md) shows how they work together.\n\n"
        f"```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n"
    )
    return pages
