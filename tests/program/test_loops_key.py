"""The key of loops changes with everything their machine code depends on."""

from __future__ import annotations

import math
import types

from liaison.program import f64, floor, i64, loop
from liaison.program.loops.compile import loops_key, translator_files

PRELUDE = """from __future__ import annotations
import math
from liaison.program import loop, i64, f64, ptr, floor
"""


def keyed(text, tmp_path, name="f", **outside):
    """Key of the loop `name` defined by the text."""
    module = types.ModuleType("written")
    module.__dict__.update(outside)
    exec(compile(PRELUDE + text, str(tmp_path / "written.py"), "exec"), module.__dict__)
    return loops_key([module.__dict__[name]])


BASE = """
@loop
def g(x: f64) -> f64:
    return x * SCALE

@loop
def f(n: i64) -> f64:
    s = 0
    for i in range(n):
        s = s + 2
    return g(float(s)) + TABLE[n] + math.sqrt(4.0)
"""
OUTSIDE = {"SCALE": 1.5, "TABLE": (1.0, 2.0)}


def test_the_same_loops_have_the_same_key(tmp_path):
    assert keyed(BASE, tmp_path, **OUTSIDE) == keyed(BASE, tmp_path, **OUTSIDE)


def test_every_change_changes_the_key(tmp_path):
    changed = {
        "number": keyed(BASE.replace("s + 2", "s + 3"), tmp_path, **OUTSIDE),
        "operation": keyed(BASE.replace("s + 2", "s - 2"), tmp_path, **OUTSIDE),
        "local type": keyed(BASE.replace("s = 0\n", "s: f64 = 0\n"), tmp_path, **OUTSIDE),
        "argument type": keyed(BASE.replace("(n: i64)", "(n: f64)"), tmp_path, **OUTSIDE),
        "callee": keyed(BASE.replace("x * SCALE", "x + SCALE"), tmp_path, **OUTSIDE),
        "callee's constant": keyed(BASE, tmp_path, **{**OUTSIDE, "SCALE": 2.5}),
        "constant's type": keyed(BASE, tmp_path, **{**OUTSIDE, "TABLE": (1, 2)}),
        "function": keyed(BASE.replace("math.sqrt", "math.exp"), tmp_path, **OUTSIDE),
        "nothing": keyed(BASE, tmp_path, **OUTSIDE),
    }
    assert len(set(changed.values())) == len(changed)


def test_the_translator_is_part_of_the_key(monkeypatch):
    @loop
    def f(n: i64) -> f64:
        return floor(math.pi) * n

    before = loops_key([f])
    monkeypatch.setattr("liaison.program.loops.compile._translator", lambda: b"another")
    assert loops_key([f]) != before


def test_enclosed_constants_are_part_of_the_key():
    def made(number):
        @loop
        def f(x: f64) -> f64:
            return x * number

        return f

    assert loops_key([made(1.0)]) != loops_key([made(2.0)])


def test_every_file_of_the_language_is_part_of_the_translator():
    names = {file.name for file in translator_files()}
    assert names >= {"language.py", "read.py", "values.py", "records.py", "llvm.py"}
