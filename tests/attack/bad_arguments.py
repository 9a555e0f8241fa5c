"""Arguments of wrong kinds for public functions: refused by an error that names the argument."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from inspect import isfunction, signature
from pathlib import Path
from typing import Any

import numpy as np

import liaison
from attack.table import Row
from liaison.errors import LiaisonError

TRIES = 500
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

NO_NUMBER: dict[str, Any] = {
    "text": "x y", "list": [1, "a"], "mapping": {"a": 1}, "object": object(), "nan": math.nan,
    "bytes": b"\xff", "complex": 1j, "type": int, "array": np.ones((2, 2)),
}  # fmt: skip
NO_MAPPING: dict[str, Any] = {
    "text": "x", "list": [1], "object": object(), "number": 3.0, "keys": {1: 2}, "type": int,
    "unknown": {"no such name": 1.0},
}  # fmt: skip
NO_OBJECT: dict[str, Any] = {
    "object": object(), "number": 3.5, "complex": 1j, "type": int, "mapping": {"a": 1},
}  # fmt: skip
NO_WORDS: dict[str, Any] = {"object": object(), "number": 3.5, "numbers": [1], "text": "no such"}

OPTIONS: dict[str, dict[str, Any]] = {
    "until": NO_NUMBER | {"none": None, "minus": -1, "inf": math.inf},
    "step": NO_NUMBER | {"minus": -1, "inf": math.inf}, "max_step": NO_NUMBER | {"minus": -1},
    "rtol": NO_NUMBER | {"minus": -1}, "atol": NO_NUMBER | {"minus": -1},
    "max_steps": NO_NUMBER | {"huge": 10**30, "minus": -1, "part": 1.5},
    "residual": NO_NUMBER | {"minus": -1}, "time_limit": NO_NUMBER | {"minus": -1},
    "every": {x: y for x, y in NO_NUMBER.items() if x != "array"} | {"minus": -1, "back": [2, 1]},
    "method": NO_WORDS, "impacts": NO_WORDS, "series": NO_WORDS, "on_failure": NO_WORDS,
    "inputs": NO_MAPPING, "parameters": NO_MAPPING, "start": NO_MAPPING, "progress": NO_OBJECT
    | {"type": None}, "projection": NO_OBJECT, "stop": NO_OBJECT, "options": NO_OBJECT,
}  # fmt: skip


def _calls() -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Function, argument, and a call that cannot be."""
    model = EXAMPLES / "pendulum.lsd"
    for verb in ("simulate", "simulate_batch", "stepper"):
        function = getattr(liaison, verb)
        for name, values in OPTIONS.items():
            if verb == "stepper" and name in OF_RUNS:
                continue
            for value in values.values():
                if value is None and name == "progress":
                    continue
                needed = {} if verb == "stepper" else {"until": 0.01}
                needed |= {"start": {"A": [0.1, 0.2]}} if verb == "simulate_batch" else {}
                given = needed | {name: value}
                yield verb, name, lambda f=function, g=given: f(model, **g)
    for verb, name in VERBS:
        for value in NO_OBJECT.values():
            yield verb, name, lambda v=verb, n=name, x=value: _called(v, n, x, model)


OF_RUNS = (
    "until", "time_limit", "every", "series", "on_failure", "inputs", "progress", "stop",
)  # fmt: skip

VERBS = (
    ("mobility", "given"), ("mobility", "at"), ("linearize", "given"), ("linearize", "inputs"),
    ("equilibrium", "given"), ("equilibrium", "inputs"), ("derive", "given"),
    ("derive", "formalism"), ("derive", "treatment"), ("compile", "given"), ("check", "given"),
    ("verify", "given"), ("mass_matrix", "q"), ("bias", "v"), ("forward_dynamics", "inputs"),
    ("inertia", "point"), ("inertia", "bodies"), ("torsors", "point"),
    ("reduce", "given"), ("span", "mechanism"), ("assemble", "tree"), ("read", "source"),
    ("load", "path"), ("body", "name"), ("spring", "name"), ("friction", "on"), ("output", "name"),
)  # fmt: skip


def _called(verb: str, name: str, value: Any, model: Path) -> object:
    function = getattr(liaison, verb)
    first = {"span": "mechanism", "assemble": "tree", "read": "source", "load": "path"}
    given: dict[str, Any] = {"given": model}
    if verb in first:
        given = {}
    elif verb in ("body", "friction"):
        given = {"name": "b"} if verb == "body" else {"viscous": 1.0}
    elif verb == "spring":
        return function("A", stiffness=1.0, **{name: value})
    elif verb == "output":
        given = {"formula": liaison.symbol("A")}
    given[name] = value
    if verb in first or name in ("given", "on"):
        return function(given.pop(name), **given)
    return function(**given)


ELSEWHERE = (
    "show", "page", "animation", "explore", "report", "study", "optimize", "sobol_indices",
    "evidence", "live_module", "measure_gradients", "session", "to_casadi", "to_fmu", "to_jax",
)  # fmt: skip
"""Verbs that open windows, write files or need other packages; tests of their own try them."""

ANY: tuple[Any, ...] = (object(), 1j, "no such", -1)


def _every_argument() -> Iterator[tuple[str, str, Callable[[], object]]]:
    """Function, argument, and a call with something else: all functions of a mechanism."""
    model = EXAMPLES / "pendulum.lsd"
    run = liaison.simulate(model, until=0.1, every=0.01)
    needed: dict[str, Any] = {
        "until": 0.02, "run": run, "body": "bar", "drives": ["A"], "names": ["l"], "joint": "A",
        "alpha": 1.0, "alphas": [1.0], "position": (0.0, 0.0, -1.0), "starts": {}, "values": {},
    }  # fmt: skip
    first = {"given": model, "mechanism": liaison.read(model)}
    for verb in sorted(x for x in dir(liaison) if x[0] != "_" and x not in ELSEWHERE):
        function = getattr(liaison, verb)
        names = list(signature(function).parameters) if isfunction(function) else []
        if not names or names[0] not in first:
            continue
        usual = {x: y for x, y in needed.items() if x in names}
        for name in names[1:]:
            for value in ANY if name not in ("path", "progress") else ():
                given = usual | {name: value}
                model_of = first[names[0]]
                yield verb, name, lambda f=function, m=model_of, g=given: f(m, **g)


def attack(folder: Path, scale: float) -> Iterator[Row]:
    """Two rows; the error names the argument where nothing else can be meant."""
    row = Row("bad arguments", f"{TRIES}, refused with the name of the argument")
    calls = list(_calls())
    step = max(1, int(1 / max(scale, 1e-3)))
    for verb, name, call in calls[::step]:

        def act(call: Callable[[], object] = call, verb: str = verb, name: str = name) -> None:
            try:
                call()
            except LiaisonError as error:
                known = (name, name.rstrip("s"), "is named", "batch", "kernel", "mechanism")
                if not any(word in str(error) for word in known):
                    raise AssertionError(f"{name} is not named: {error}") from None
                raise

        row.attempt(act, f"{verb}({name}=…)", may_pass=False)
    yield row
    row = Row("arguments of every function", "refused, or taken; none undeclared")
    for verb, name, call in list(_every_argument())[::step]:
        row.attempt(call, f"{verb}({name}=…)")
    yield row
