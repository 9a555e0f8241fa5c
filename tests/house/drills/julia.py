"""A back end in one file: entries as text of Julia, and a kernel that runs the same steps here.

The text has one assignment an operation; the kernel takes these very assignments, in Python.
"""

from __future__ import annotations

import ctypes
import math

import numpy as np

from liaison.errors import ProgramError
from liaison.expr import topological
from liaison.program.back_ends import BackEnd
from liaison.program.kernel import SIGNATURE, Kernel

FORMS = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "div": "{} / {}", "neg": "-({})",
    "sin": "sin({})", "cos": "cos({})", "sqrt": "sqrt({})", "tan": "tan({})", "exp": "exp({})",
    "log": "log({})", "atan2": "atan({}, {})", "abs": "abs({})",
}  # fmt: skip


def assignments(program, entry):
    """(name, right-hand side) of every operation of an entry, and the names of its outputs."""
    program.schedule(entry)
    outputs = program.entry(entry).outputs
    names, lines = {}, []
    for k, node in enumerate(topological(outputs)):
        if node.op == "symbol":
            array, index = program.inputs[node]
            names[node] = "t" if array == "t" else f"{array}[{index + 1}]"
        elif node.op == "const":
            names[node] = repr(float(node.value))
        else:
            names[node] = f"w{k}"
            lines.append((names[node], _right(node, [names[x] for x in node.args])))
    return lines, [names[x] for x in outputs]


def _right(node, arguments):
    if node.op == "pow":
        return f"({arguments[0]})^({arguments[1] if len(arguments) > 1 else node.data})"
    if node.op not in FORMS:
        raise ProgramError(f"Julia text is not known for the operation {node.op!r}.")
    return FORMS[node.op].format(*(f"({x})" for x in arguments))


def julia_text(program, entry):
    """function forward(t, q, v, u, p, x) … end."""
    lines, outputs = assignments(program, entry)
    body = "".join(f"    {name} = {right}\n" for name, right in lines)
    return f"function {entry}(t, q, v, u, p, x)\n{body}    return [{', '.join(outputs)}]\nend\n"


class JuliaKernel(Kernel):
    """Runs the assignments of the text."""

    def __init__(self, program):
        super().__init__(program)
        self._made = {}
        self._callbacks = {}

    def work_size(self, entry):
        return 0

    def function(self, entry):
        size = self.out_size(entry)

        def run(t, *arrays):
            named = dict(zip(("q", "v", "u", "p", "x"), arrays, strict=False))
            arrays[5][:size] = self._evaluate(entry, np.asarray(t), named)

        return run

    def address(self, entry):
        if entry not in self._callbacks:
            reads, run, size = self.program.reads(entry), self.function(entry), self.out_size(entry)
            sizes = [*(reads[name] for name in ("q", "v", "u", "p", "x")), size, 0]

            def callback(t, *addresses):
                run(t, *(_view(a, n) for a, n in zip(addresses, sizes, strict=True)))

            self._callbacks[entry] = SIGNATURE(callback)
        return ctypes.cast(self._callbacks[entry], ctypes.c_void_p).value

    def _evaluate(self, entry, t, arrays):
        if entry not in self._made:
            self._made[entry] = _python(julia_text(self.program, entry), entry)
        found = self._made[entry](float(t), *(arrays[name] for name in ("q", "v", "u", "p", "x")))
        return np.array(found, dtype=float)


def _view(address, size):
    if not address or not size:
        return np.empty(0)
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))


class _FromOne:
    """An array whose first entry is number 1."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, k):
        return float(self.values[k - 1])


def _python(text, entry):
    """The function of the text."""
    head, *body = text.replace("^", "**").splitlines()
    lines = [f"def {head.removeprefix('function ')}:", *body[:-1]]
    scope = {name: getattr(math, name) for name in ("sin", "cos", "sqrt", "tan", "exp", "log")}
    scope |= {"atan": math.atan2, "abs": abs}
    exec("\n".join(lines), scope)
    return lambda t, *arrays: scope[entry](t, *map(_FromOne, arrays))


def julia_files(program, folder, entries, shared):
    """One file for each entry."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {name: folder / f"{name}.jl" for name in entries}
    for name, path in files.items():
        path.write_text(julia_text(program, name), encoding="utf-8")
    return files


JULIA = BackEnd(
    "julia", "text of Julia", compile=JuliaKernel, package=julia_files, entries=("forward",)
)
