"""A program as shared libraries of all systems with one C header: its entries, and a step.

    q := q ⊞ Δ, v := v + Δ by the classical Runge–Kutta method of order 4 on (ξ, v), q ⊞ ξ;
    then q := q ⊞ δ with G δ = −Φ twice, and v := v + δ with G (v + δ) = ν, δᵀM δ least

Nothing is kept between calls and nothing is allocated; results have the same bits everywhere.

Public names: library_package, fixed_step, PLACES.

Source: HNW1 §II.1 (the method); HW2 §VII.2 (projection).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from liaison.program.c.package import header, stem
from liaison.program.c.to_c import c_name
from liaison.program.loops.language import at, f64, i64, kernel, loop, ptr
from liaison.program.program import Program

from .modules import Module, entries_module, loops_module
from .shared_library import shared_library

PLACES = {
    "linux-x86_64": "linux-x86_64/lib{}.so",
    "linux-aarch64": "linux-aarch64/lib{}.so",
    "windows-x86_64": "windows-x86_64/{}.dll",
    "macos": "macos/lib{}.dylib",
}
"""System -> its library in the folder."""

CORRECTIONS = 2
CALLED = ("rate", "retract", "correct_q", "correct_v", "closure")
"""Entries that a step calls, in the order in which it takes them."""

DECLARED = """\
/* A step of h [s] by the Runge-Kutta method of order 4, in place: t, q and v go on; inputs u stay
 * the same. Closures are met again after it; the largest |phi| that is left is returned. */
#define {upper}_STEP_WORK {work}
double {name}_step(double h, double *t, double *q, double *v, const double *u, const double *p,
                   double *work);
"""


@loop
def part_of(stage: i64) -> f64:
    """The part of a step at which a stage is evaluated."""
    if stage == 0:
        return 0.0
    return 1.0 if stage == 3 else 0.5


@loop
def runge_kutta(
    rate: kernel, nv: i64, h: f64, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, total: ptr, xi: ptr,
    speeds: ptr, out: ptr, work: ptr,
) -> None:  # fmt: skip
    """Increments of ξ and v in one step, one after the other, into `total`."""
    for k in range(2 * nv):
        total[k] = 0.0
        out[k] = 0.0
    for stage in range(4):
        c = part_of(stage) * h
        for k in range(nv):
            xi[k] = c * out[k]
            speeds[k] = v[k] + c * out[nv + k]
        rate(t + c, q, speeds, u, p, xi, out, work)
        weight = h / 3.0 if stage == 1 or stage == 2 else h / 6.0
        for k in range(2 * nv):
            total[k] += weight * out[k]


@loop
def moved(
    retract: kernel, nq: i64, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """q := q ⊞ x."""
    retract(t, q, v, u, p, x, out, work)
    for k in range(nq):
        q[k] = out[k]


@loop
def fixed_step(
    rate: kernel, retract: kernel, correct_q: kernel, correct_v: kernel, closure: kernel,
    nq: i64, nv: i64, nc: i64, nphi: i64, results: i64, h: f64, t: ptr, q: ptr, v: ptr, u: ptr,
    p: ptr, area: ptr,
) -> f64:  # fmt: skip
    """One step, in place; the largest |Φ| that is left. An entry has at most `results` results."""
    total = area
    xi = at(total, 2 * nv)
    speeds = at(xi, nv)
    out = at(speeds, nv)
    other = at(out, results)
    work = at(other, nq)
    runge_kutta(rate, nv, h, t[0], q, v, u, p, total, xi, speeds, out, work)
    moved(retract, nq, t[0], q, v, u, p, total, other, work)
    for k in range(nv):
        v[k] += total[nv + k]
    t[0] += h
    worst = 0.0
    if nc > 0:
        for _ in range(CORRECTIONS):
            correct_q(t[0], q, v, u, p, q, out, work)
            moved(retract, nq, t[0], q, v, u, p, out, other, work)
        correct_v(t[0], q, v, u, p, q, out, work)
        for k in range(nv):
            v[k] += out[k]
        closure(t[0], q, v, u, p, q, out, work)
        for k in range(nphi):
            worst = max(worst, abs(out[k]))
    return worst


def library_package(
    program: Program, folder: Path, entries: Sequence[str] = (), *, systems: Sequence[str] = ()
) -> dict[str, Path]:
    """Writes libraries and their header; returns the files by what they are.

    Args:
        program: what is computed.
        folder: where to write; made if it is not there.
        entries: which; if none is named, all that the program lists and that give something.
        systems: for which; all of PLACES if none is named.
    """
    listed = tuple(entries) or tuple(e for e in program.entries if program.entry(e).outputs)
    has_step = not program.facts.get("sides") and set(CALLED[:2]) <= set(program.entries)
    name = stem(program)
    needed = dict.fromkeys([*listed, *(x for x in CALLED if has_step and x in program.entries)])
    symbols = {x: c_name(program, x) for x in needed}
    text, works = entries_module(program, symbols)
    modules: list[str | Module] = [text, loops_module([fixed_step])]
    exports = [symbols[x] for x in listed]
    folder.mkdir(parents=True, exist_ok=True)
    declared = header(program, {x: works[x] for x in listed})
    if has_step:
        modules.append(_step_module(program, symbols))
        exports.append(f"{name}_step")
        work = _area(program) + max(works.values())
        declared = _declared(declared, DECLARED.format(upper=name.upper(), name=name, work=work))
    files = {"header": folder / f"{name}.h"}
    files["header"].write_text(declared, encoding="utf-8")
    for system in systems or PLACES:
        path = folder / PLACES[system].format(name)
        path.parent.mkdir(exist_ok=True)
        library = path.name.rsplit(".", 1)[0]
        path.write_bytes(shared_library(modules, system, exports, library))
        files[system] = path
    return files


def _declared(text: str, more: str) -> str:
    """A header with one more function."""
    head, mark, tail = text.rpartition("#ifdef __cplusplus")
    return f"{head}{more}\n{mark}{tail}"


def _sizes(program: Program) -> list[int]:
    """Those of `fixed_step`, in its order."""
    counts = [int(program.sizes.get(x, 0)) for x in ("nq", "nv", "nc", "nphi")]
    return [*counts, max(len(program.entry(x).outputs) for x in CALLED if x in program.entries)]


def _area(program: Program) -> int:
    """Doubles of a step beside the workspace of entries."""
    nq, nv, _, _, results = _sizes(program)
    return 4 * nv + results + nq


def _step_module(program: Program, symbols: dict[str, str]) -> str:
    """IR text of the step: the loop with the entries and sizes of the program."""
    kinds = "double, ptr, ptr, ptr, ptr, ptr, ptr, ptr"
    known = [symbols[x] for x in CALLED if x in symbols]
    called = [f"ptr @{symbols[x]}" if x in symbols else "ptr null" for x in CALLED]
    sizes = [f"i64 {n}" for n in _sizes(program)]
    arguments = "double %h, ptr %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %work"
    taken = ", ".join(["ptr"] * 5 + ["i64"] * 5 + ["double"] + ["ptr"] * 6)
    return "\n".join(
        [
            *(f"declare void @{x}({kinds})" for x in known),
            f"declare double @liaison_fixed_step({taken})",
            f"define double @{stem(program)}_step({arguments}) nounwind {{",
            f"  %r = call double @liaison_fixed_step({', '.join([*called, *sizes])}, {arguments})",
            "  ret double %r",
            "}",
            "",
        ]
    )
