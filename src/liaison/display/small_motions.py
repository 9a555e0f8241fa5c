"""Equilibria, linearizations, linear feedback, shown: eigenvalues, modes, gains; slopes of steps.

Public names: title, page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from liaison.analyse.control.lqr import Regulator
from liaison.analyse.rest.equilibrium import Equilibrium
from liaison.analyse.rest.linearize import Linearization
from liaison.lazy import listed
from liaison.simulation.worlds.derivatives import StepDerivatives
from liaison.units import Label

from .page import Page, Table, number, plural

STEADY = 1e-9
"""Largest |v̇| of what counts as an equilibrium or a steady motion."""

ROUNDING = 1e-14
"""A position below this is 0."""

BALANCED = 1e-10
"""A reaction below this part of the largest is rounding."""

PARTS = 6
"""Coordinates of a mode that are listed, the largest first."""


WIDE = 12
"""Columns of a matrix that is written out."""


def title(shown: Equilibrium | Linearization | Regulator | StepDerivatives) -> str:
    """Whether it is stable, or made so; of steps how many worlds have derivatives."""
    if isinstance(shown, StepDerivatives):
        return _step(shown)
    if isinstance(shown, Regulator):
        return _feedback(shown)
    if isinstance(shown, Equilibrium):
        return f"{_rest(shown)}; {shown.residual:.1e} of the forces is not balanced"
    if shown.steadiness > STEADY:
        return f"about a motion that is not steady: |v̇| up to {shown.steadiness:.3g}"
    return f"{_stable(shown)}: {_states(shown)}"


def page(shown: Equilibrium | Linearization | Regulator | StepDerivatives) -> Page:
    """Positions of rest and what the joints bear there; modes; gains; A and B of a world."""
    if isinstance(shown, StepDerivatives):
        return _slopes(shown)
    if isinstance(shown, Regulator):
        return _gains(shown)
    if isinstance(shown, Linearization):
        facts = () if shown.steadiness <= STEADY else (("states", _states(shown)),)
        return Page(title(shown), facts, (_modes(shown),), _notes(shown))
    places = tuple(
        (x.name, number(value if abs(value) > ROUNDING else 0.0, 9), x.unit)
        for x, value in zip(shown.state.labels["q"], shown.state.q, strict=True)
    )
    forces = tuple((name, number(f, 9), unit) for name, (f, unit) in shown.contacts.items())
    tables = [Table(("coordinate", "at rest", "unit"), places)]
    tables += [Table(("contact", "force", "unit"), forces)]
    tables += [] if shown.linear is None else [_modes(shown.linear)]
    return Page(title(shown), (), (*tables, _reactions(shown)), _undetermined(shown))


def _rest(shown: Equilibrium) -> str:
    if shown.linear is None:
        return "rests on contacts"
    return _stable(shown.linear)


def _stable(shown: Linearization) -> str:
    if not shown.is_stable:
        return "not stable"
    return f"stable, but {listed(shown.drifts)} may drift" if shown.drifts else "stable"


def _states(shown: Linearization) -> str:
    return listed([str(x) for x in shown.labels])


def _modes(shown: Linearization) -> Table:
    """Each eigenvalue, and the shape of its mode; of a conjugate pair the one of s = σ + iω."""
    names = [label.name for label in shown.everything]
    rounding = 1e-13 * max(1.0, float(abs(shown.eigenvalues).max(initial=0.0)))
    rows = []
    for k, s in enumerate(shown.eigenvalues):
        real, imaginary = (x if abs(x) > rounding else 0.0 for x in (s.real, s.imag))
        if imaginary < 0:
            continue
        pair = f"± {imaginary:.9g}i" if imaginary else ""
        rows.append(
            (
                f"{real:+.9g} {pair}".rstrip(),
                f"{imaginary / (2 * math.pi):.6g}",
                f"{round(float(shown.damping[k]), 4) + 0.0:.4g}",
                _shape(names[: len(names) // 2], shown.modes[: len(names) // 2, k]),
            )
        )
    head = ("eigenvalue [1/s]", "frequency [Hz]", "damping", "mode shape, relative to the largest")
    return Table(head, tuple(rows))


def _shape(names: Sequence[str], amplitudes: NDArray[np.complex128]) -> str:
    """The largest parts of a mode over the largest: "A, B -0.5, D 0.3∠90°"."""
    sizes = abs(amplitudes)
    order = [j for j in (-sizes).argsort(kind="stable") if sizes[j] > 0.01 * sizes.max()]
    parts = [names[j] for j in order[:1]]
    for j in order[1:PARTS]:
        ratio = amplitudes[j] / amplitudes[order[0]]
        angle = round(math.degrees(math.atan2(ratio.imag, ratio.real)))
        sign = "-" if abs(angle) == 180 else ""
        phase = "" if angle % 180 == 0 else f"∠{angle}°"
        parts.append(f"{names[j]} {sign}{abs(ratio):.3g}{phase}")
    return ", ".join(parts) + (", …" if len(order) > PARTS else "")


def _reactions(shown: Equilibrium) -> Table:
    """What each joint transmits to its successor; what is not determined is a dash."""
    joints = shown.to_dict()["reactions"]
    least = BALANCED * max((abs(x) for wrench in joints.values() for x in wrench if x), default=0.0)

    def part(x: float | None) -> str:
        return "–" if x is None else number(x if abs(x) > least else 0.0)

    rows = tuple((name, *map(part, (*x[3:], *x[:3]))) for name, x in joints.items())
    parts = (*(f"F{x} [N]" for x in "xyz"), *(f"M{x} [N·m]" for x in "xyz"))
    return Table(("joint", *parts), rows)


def _undetermined(shown: Equilibrium) -> tuple[str, ...]:
    if not any(None in x for x in shown.to_dict()["reactions"].values()):
        return ()
    return (
        "– is not determined: closures are redundant, and any self-stress may be added "
        "(the mobility names them).",
    )


def _notes(shown: Linearization) -> tuple[str, ...]:
    if shown.steadiness <= STEADY:
        return ()
    return ("Whether the motion is stable these do not say: they change along it.",)


def _feedback(shown: Regulator) -> str:
    """What it acts by, and its slowest eigenvalue."""
    slowest = max(float(s.real) for s in shown.eigenvalues)
    return (
        f"linear feedback of {len(shown.labels)} states by {listed(shown.inputs)}; "
        f"slowest eigenvalue {slowest:.3g} 1/s"
    )


def _gains(shown: Regulator) -> Page:
    """u = u₀ − K (x − x₀), a row a state; the eigenvalues of the closed loop."""
    rows = tuple(
        (str(label), number(x0), *(number(k) for k in gains))
        for label, x0, gains in zip(shown.labels, shown.center, shown.K.T, strict=True)
    )
    units = {x.name: x.unit for x in shown.linear.inputs}
    inputs = [f"K of {x}" for x in shown.inputs]
    held = tuple(
        (name, number(u), units.get(name, ""), number(shown.limits[name]))
        if name in shown.limits
        else (name, number(u), units.get(name, ""), "–")
        for name, u in zip(shown.inputs, shown.held, strict=True)
    )
    speeds = tuple(
        (
            f"{s.real:+.6g}" + (f" ± {s.imag:.6g}i" if s.imag else ""),
            f"{s.imag / (2 * math.pi):.6g}",
            f"{-s.real / abs(s):.4g}" if abs(s) else "–",
        )
        for s in shown.eigenvalues
        if s.imag >= 0
    )
    return Page(
        _feedback(shown),
        tables=(
            Table(("state", "x₀", *inputs), rows, "u = u₀ − K (x − x₀)"),
            Table(("input", "u₀", "unit", "limit"), held),
            Table(("eigenvalue of A − B K [1/s]", "frequency [Hz]", "damping"), speeds),
        ),
        notes=shown.notes,
    )


def _step(shown: StepDerivatives) -> str:
    """Of how many worlds, and what is to be known of some."""
    counts = [
        (int(np.count_nonzero(shown.at_edge)), "at an edge"), (shown.lost, "without derivative"),
    ]  # fmt: skip
    noted = "".join(f", {count} {what}" for count, what in counts if count)
    worlds = plural(len(shown), "world")
    return f"of {shown.name}: a step of {number(shown.step)} s in {worlds}{noted}"


def _slopes(shown: StepDerivatives) -> Page:
    """Labels; A and B of the first world that has them, where they are not too wide."""
    good = np.flatnonzero(np.asarray(shown.statuses) == 0)
    facts = (
        ("rows", listed([str(x) for x in shown.labels])),
        ("inputs", listed([str(x) for x in shown.inputs]) if shown.inputs else "none"),
    )
    notes = {shown.why(i): i for i in reversed(range(len(shown))) if shown.why(i)}
    lines = tuple(f"world {i}: {why}." for why, i in reversed(notes.items()))
    if not good.size or max(len(shown.labels), len(shown.inputs)) > WIDE:
        return Page(_step(shown), facts, (), lines)
    first = int(good[0])
    A, B = shown.world(first)
    tables = tuple(
        _matrix(f"{name} of world {first}", matrix, shown.labels, columns)
        for name, matrix, columns in (("A", A, shown.labels), ("B", B, shown.inputs))
        if columns
    )
    return Page(_step(shown), facts, tables, lines)


def _matrix(
    name: str, matrix: NDArray[np.float64], rows: Sequence[Label], columns: Sequence[Label]
) -> Table:
    """A matrix with its labels, in four digits."""
    lines = tuple(
        (str(label), *(number(x, 4) for x in row)) for label, row in zip(rows, matrix, strict=True)
    )
    return Table(("", *(str(x) for x in columns)), lines, name)
