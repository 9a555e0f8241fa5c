"""The public door as data: names of `liaison` with their signatures, verbs with their options.

    python tests/net/door.py          print what differs from names.json and verbs.json
    python tests/net/door.py --write  write both anew

Annotations are kept as text with bare names, so that a class may move to another module.

Public names: names, verbs, lost_names, lost_verbs, NAMES, VERBS.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import re
import runpy
import sys
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import liaison

HERE = Path(__file__).parent
NAMES = HERE / "names.json"
VERBS = HERE / "verbs.json"

PLAIN = set(dir(object)) | set(dir(BaseException)) | set(dir(tuple)) | {"__match_args__"}
"""Attributes that say nothing about a class."""

SPECIAL = re.compile(r"__(?!init|new|slots|dict|weakref|dataclass|post|annot|module|static|firstl)")
"""Special methods that a user calls by an operator or a statement."""

RUN = (
    "step method rtol atol every inputs stop series time_limit progress on_failure max_step "
    "max_steps projection residual spectral_radius impacts theta facets"
)
SHAPE = "radius length size outside inside along surface profile curve span block edge"
PICTURE = "speed fps trace forces frames labels contacts"

DOCUMENTED = {
    "simulate": RUN,
    "simulate_batch": f"{RUN} threads",
    "maximal_run": RUN,
    "verify": RUN,
    "convergence": "method rtol atol",
    "stepper": "step method rtol atol max_step max_steps projection residual spectral_radius "
    "impacts theta facets",
    "derive": "speeds quasi_velocities moment_point explicit independent",
    "reduce": "order primes seed",
    "deflate": "order primes seed time_limit",
    "mobility": "order primes seed time_limit memory_limit",
    "assembly_modes": "seed time_limit memory_limit",
    "singularities": "near step steps",
    "inverse_kinematics": "position rotation at seed time_limit memory_limit",
    "inverse_dynamics": "accelerations",
    "compare": "seed points timed",
    "parametrizations": "names formalism until step",
    "equilibrium": "kind inputs independent tolerance",
    "kinematic_run": "inputs series",
    "linearize": "inputs",
    "no_impact": "boxes",
    "contact": SHAPE,
    "page": PICTURE,
    "show": f"{PICTURE} port browser block",
    "read": "floating gravity strict merge_fixed",
    "reading": "floating gravity strict merge_fixed",
}
"""Keywords that `**options` takes as its documentation says, where signatures name none."""


OF_RECORD = "the record's"
"""A default that stands in a record of options."""


# what there is now


def names() -> dict[str, Any]:
    """Every public name, described."""
    return {x: described(getattr(liaison, x)) for x in dir(liaison) if x != "__version__"}


def described(thing: Any) -> dict[str, Any]:
    """Kind and signature of a function, members of a class, type or keys of a constant."""
    if inspect.isclass(thing):
        return {"kind": "class", "bases": bases(thing), "members": dict(members(thing))}
    if callable(thing):
        return {"kind": "function", "signature": signature(thing)}
    found: dict[str, Any] = {"kind": "constant", "type": type(thing).__name__}
    if isinstance(thing, Mapping):
        found["keys"] = sorted(map(str, thing))
    elif isinstance(thing, str | int | float):
        found["value"] = repr(thing)
    return found


def bases(cls: type) -> list[str]:
    """Classes one can catch or test it by: public ones, and those of Python."""
    return [
        x.__name__ for x in cls.__mro__[1:-1]
        if x.__module__ == "builtins" or x.__name__ in liaison.__all__
    ]  # fmt: skip


def members(cls: type) -> Iterator[tuple[str, dict[str, Any]]]:
    """What can be read or called on a class and its objects, sorted by name."""
    fields = {x.name for x in dataclasses.fields(cls)} if dataclasses.is_dataclass(cls) else set()
    known = {x for x in dir(cls) if x not in PLAIN and (SPECIAL.match(x) or x[0] != "_")}
    if "__init__" in _own(cls) or fields:
        yield "()", {"kind": "made by", "signature": signature(cls)}
    for name in sorted(known | fields):
        if name in fields:
            yield name, {"kind": "field"}
            continue
        found = inspect.getattr_static(cls, name)
        if isinstance(found, staticmethod | classmethod):
            kind = type(found).__name__
            yield name, {"kind": kind, "signature": signature(found.__func__)}
        elif inspect.isfunction(found):
            yield name, {"kind": "method", "signature": signature(found)}
        else:
            yield name, {"kind": "attribute"}


def _own(cls: type) -> set[str]:
    """Names that classes of liaison define, of those that a class inherits from."""
    return {x for c in cls.__mro__ if c.__module__.startswith("liaison") for x in vars(c)}


def signature(thing: Callable[..., Any]) -> dict[str, Any]:
    """Parameters in order (kind, default, annotation) and what is returned, as text."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return {"parameters": {}, "returns": ""}
    parameters = {}
    for x in found.parameters.values():
        parameters |= keywords(thing, x) or {x.name: parameter(x)}
    return {"parameters": parameters, "returns": annotation(found.return_annotation)}


def keywords(thing: Callable[..., Any], x: inspect.Parameter) -> dict[str, Any]:
    """The keywords of `**options: Unpack[Keywords]`, one by one; none of other parameters."""
    if x.kind is not x.VAR_KEYWORD or "Unpack" not in annotation(x.annotation):
        return {}
    (record,) = typing.get_args(typing.get_type_hints(thing)[x.name])
    return {
        name: {"kind": "keyword_only", "is": annotation(kind), "default": OF_RECORD}
        for name, kind in record.__annotations__.items()
    }


def parameter(x: inspect.Parameter) -> dict[str, str]:
    """One parameter; no default is no entry."""
    found = {"kind": x.kind.name.lower(), "is": annotation(x.annotation)}
    return found if x.default is x.empty else found | {"default": value(x.default)}


def annotation(x: Any) -> str:
    """A type as text, names without their modules."""
    if x is inspect.Parameter.empty:
        return ""
    if isinstance(x, typing.ForwardRef):
        x = x.__forward_arg__
    text = x if isinstance(x, str) else inspect.formatannotation(x)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text).replace(" ", "").replace('"', "'")


def value(x: Any) -> str:
    """A default as text that no address and no module stands in."""
    if inspect.isfunction(x) or inspect.isclass(x):
        return x.__name__
    return re.sub(r" at 0x[0-9a-f]+", "", re.sub(r"\b(?:liaison\.)(?:\w+\.)*", "", repr(x)))


def verbs() -> dict[str, Any]:
    """Every verb of the command line with its arguments and options, as the parser has them."""
    group, context = _parser()
    found = {}
    for name in sorted(group.list_commands(context)):
        command = group.get_command(context, name)
        found[name] = {x.name: option(x) for x in command.params if x.name != "help"}
    return found


def _parser() -> tuple[Any, Any]:
    """The parser that `python -m liaison` would run, caught before it does."""
    core = importlib.import_module("typer.core")
    had, argv, caught = core.TyperGroup.main, sys.argv, []

    def instead(self: Any, *_: Any, **__: Any) -> int:
        caught.append(self)
        return 0

    core.TyperGroup.main, sys.argv = instead, ["liaison", "--help"]
    try:
        runpy.run_module("liaison", run_name="__main__")
    except SystemExit:
        pass
    finally:
        core.TyperGroup.main, sys.argv = had, argv
    return caught[0], caught[0].make_context("liaison", ["check"], resilient_parsing=True)


def option(x: Any) -> dict[str, Any]:
    """Flags, type and default of an option or an argument."""
    found = {
        "kind": x.param_type_name,
        "flags": sorted([*x.opts, *x.secondary_opts]) if x.param_type_name == "option" else [],
        "type": _type_of(x),
        "default": _plain(x.default),
        "required": x.required,
        "count": x.nargs,
    }
    if x.param_type_name == "option":
        found |= {"is_flag": bool(x.is_flag), "repeats": x.multiple}
    return found


CLICK = {"text": "str", "integer": "int", "boolean": "bool", "path": "Path", "file": "Path"}
"""Types of options that click names otherwise than Python."""


def _type_of(x: Any) -> str:
    """The annotation of an option; versions of typer without pydantic have types of click."""
    if hasattr(x, "type_descriptor"):
        return annotation(x.type_descriptor.annotation)
    name = x.type.name.removesuffix(" range")
    kind = CLICK.get(name, name)
    repeats = getattr(x, "multiple", False) or x.nargs == -1
    return f"list[{kind}]" if repeats else kind


def _plain(x: Any) -> Any:
    """A default as JSON has it."""
    if isinstance(x, list | tuple):
        return [_plain(y) for y in x]
    return x if x is None or isinstance(x, str | int | float | bool) else str(x)


# what was lost


def lost_names(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """What of the old names is not there any more, or does no longer take what it took."""
    found = []
    for name, had in old.items():
        if name not in new:
            found.append(f"liaison.{name} is gone")
        else:
            found += _lost(f"liaison.{name}", had, new[name], DOCUMENTED.get(name, ""))
    return found


def _lost(where: str, had: Mapping[str, Any], has: Mapping[str, Any], documented: str) -> list[str]:
    if had["kind"] != has["kind"] and not _is_property(had, has):
        return [f"{where} was a {had['kind']}, is a {has['kind']}"]
    found = [f"{where} is no longer a {x}" for x in had.get("bases", ()) if x not in has["bases"]]
    found += [f"{where} lost {x!r}" for x in had.get("keys", ()) if x not in has["keys"]]
    found += [
        f"{where}: {x} was {had[x]}, is {has.get(x)}"
        for x in ("type", "value") if x in had and had[x] != has.get(x)
    ]  # fmt: skip
    for name, member in had.get("members", {}).items():
        place = f"{where}{name}" if name == "()" else f"{where}.{name}"
        if name in has["members"]:
            found += _lost(place, member, has["members"][name], "")
        else:
            found.append(f"{place} is gone")
    if "signature" in had and "signature" in has:
        found += _narrowed(where, had["signature"], has["signature"], documented)
    return found


def _is_property(had: Mapping[str, Any], has: Mapping[str, Any]) -> bool:
    """A field may become a property, and the other way: both are read alike."""
    return {had["kind"], has["kind"]} <= {"field", "attribute"}


def _narrowed(where: str, had: Any, has: Any, documented: str) -> list[str]:
    """Calls that were right and are not any more."""
    old, new = had["parameters"], has["parameters"]
    # `**options` may become keywords, and a keyword of its name a record of them
    new_kinds = {x for x in old if x in new and old[x]["kind"] == "var_keyword" != new[x]["kind"]}
    kept = [x for x in old if x in new and x not in new_kinds]
    found = [
        f"{where}: parameter {x!r} is gone"
        for x in old
        if x not in new and "var" not in old[x]["kind"]
    ]
    gone = [x for x in old if x not in new and old[x]["kind"] == "var_keyword"]
    if gone or new_kinds:
        found += [
            f"{where}: keyword {x!r} of **options is gone"
            for x in documented.split() if x not in new
        ]  # fmt: skip
    found += [
        f"{where}: *{x} is gone" for x in old if x not in new and old[x]["kind"] == "var_positional"
    ]
    for x in kept:
        found += _narrowed_one(f"{where}: parameter {x!r}", old[x], new[x])
    place = [x for x in old if "positional" in old[x]["kind"] and x in new]
    now = [x for x in new if "positional" in new[x]["kind"]]
    if now[: len(place)] != place:
        found.append(f"{where}: positional parameters were {place}, are {now}")
    found += [
        f"{where}: parameter {x!r} is new and has no default"
        for x in new
        if x not in old
        and "default" not in new[x]
        and "var" not in new[x]["kind"]
        and x not in documented.split()
    ]
    if not _is_same_type(had["returns"], has["returns"]):
        found.append(f"{where} returned {had['returns']}, returns {has['returns']}")
    return found


def _narrowed_one(where: str, had: Mapping[str, str], has: Mapping[str, str]) -> list[str]:
    found = []
    wider = {
        "keyword_only": ("positional_or_keyword",),
        "positional_only": ("positional_or_keyword",),
    }
    if has["kind"] != had["kind"] and has["kind"] not in wider.get(had["kind"], ()):
        found.append(f"{where} was {had['kind']}, is {has['kind']}")
    if "default" in had and has.get("default") not in (had["default"], OF_RECORD):
        found.append(f"{where} had default {had['default']}, has {has.get('default', 'none')}")
    if not _takes(had["is"], has["is"]):
        found.append(f"{where} took {had['is']}, takes {has['is']}")
    return found


def _takes(had: str, has: str) -> bool:
    """Whether a type takes all that another took: members of a union may be added."""
    if had in ("", "Any", has) or has == "Any":
        return True
    options = _alternatives(has.replace("Value", "float|str"))
    return all(any(_covers(x, y) for y in options) for x in _alternatives(had))


def _covers(had: str, has: str) -> bool:
    """Whether one member takes another: the same, or a container that is read and holds more."""
    old, new = (re.fullmatch(r"(Mapping\[str,|Sequence\[)(.*)\]", x) for x in (had, has))
    nested = old is not None and new is not None and old[1] == new[1]
    return had == has or (nested and _takes(old[2], new[2]))


def _is_same_type(had: str, has: str) -> bool:
    return had in ("", "Any") or _alternatives(had) == _alternatives(has)


def _alternatives(text: str) -> set[str]:
    """Members of a union; bars within brackets belong to what stands there."""
    depth, found = 0, [""]
    for c in text:
        depth += (c in "[(") - (c in "])")
        if c == "|" and not depth:
            found.append("")
        else:
            found[-1] += c
    return set(found)


def lost_verbs(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Verbs, options and flags that are gone or mean something else."""
    found = [f"the verb {x!r} is gone" for x in old if x not in new]
    for verb in (x for x in old if x in new):
        for name, had in old[verb].items():
            has = _same_option(name, had, new[verb])
            told = " ".join(had["flags"]) or name.upper()
            if has is None:
                found.append(f"{verb}: {told} is gone")
                continue
            found += [f"{verb}: flag {x} is gone" for x in had["flags"] if x not in has["flags"]]
            found += [
                f"{verb}: {told}: {x} was {had[x]!r}, is {has.get(x)!r}"
                for x in had if x != "flags" and had[x] != has.get(x)
            ]  # fmt: skip
        found += [
            f"{verb}: {x} is new and required"
            for x, has in new[verb].items()
            if has["required"]
            and all(_same_option(y, old[verb][y], {x: has}) is None for y in old[verb])
        ]
    return found


def _same_option(name: str, had: Mapping[str, Any], among: Mapping[str, Any]) -> Any:
    """The option with one of the same flags; an argument by its name, whatever it is called."""
    if had["flags"]:
        return next((x for x in among.values() if set(x["flags"]) & set(had["flags"])), None)
    found = among.get(name)
    return found if found is not None and found["kind"] == had["kind"] else None


def _write(path: Path, found: Mapping[str, Any]) -> None:
    """Two levels of the tables are indented, the rest stands on one line: changes can be read."""
    lines = []
    for name, about in found.items():
        rows = [f"  {json.dumps(k)}: {json.dumps(x)}" for k, x in about.items() if k != "members"]
        if "members" in about:
            inner = [f"   {json.dumps(k)}: {json.dumps(x)}" for k, x in about["members"].items()]
            rows.append('  "members": {\n' + ",\n".join(inner) + "\n  }")
        lines.append(f" {json.dumps(name)}: {{\n" + ",\n".join(rows) + "\n }")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> int:
    """Compare with the files, or write them."""
    now = names(), verbs()
    if "--write" in sys.argv[1:]:
        _write(NAMES, now[0])
        _write(VERBS, now[1])
        print(f"{len(now[0])} names, {len(now[1])} verbs")
        return 0
    had = [json.loads(x.read_text(encoding="utf-8")) for x in (NAMES, VERBS)]
    told = lost_names(had[0], now[0]) + lost_verbs(had[1], now[1])
    print("\n".join(told) or "nothing is lost")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
