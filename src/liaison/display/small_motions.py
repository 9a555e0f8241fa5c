"""Equilibria and linearizations, shown: eigenvalues, frequencies, damping, what moves most.

Public names: title, page.
"""

from __future__ import annotations

import math

from liaison.analyse.rest.equilibrium import Equilibrium
from liaison.analyse.rest.linearize import Linearization

from .page import Page, Table, listed, number

STEADY = 1e-9
"""Largest |v̇| of what counts as an equilibrium or a steady motion."""


def title(shown: Equilibrium | Linearization) -> str:
    """Whether it is stable."""
    if isinstance(shown, Equilibrium):
        return f"{_rest(shown)}; {shown.residual:.1e} of the forces is not balanced"
    if shown.steadiness > STEADY:
        return f"about a motion that is not steady: |v̇| up to {shown.steadiness:.3g}"
    return f"{_stable(shown)}: {listed([str(x) for x in shown.labels])}"


def page(shown: Equilibrium | Linearization) -> Page:
    """Positions of rest, and modes."""
    if isinstance(shown, Linearization):
        return Page(title(shown), (("states", _states(shown)),), (_modes(shown),), _notes(shown))
    places = tuple(
        (x.name, number(value, 9), x.unit)
        for x, value in zip(shown.state.labels["q"], shown.state.q, strict=True)
    )
    forces = tuple((name, number(f, 9), unit) for name, (f, unit) in shown.contacts.items())
    tables = [Table(("coordinate", "at rest", "unit"), places)]
    tables += [Table(("contact", "force", "unit"), forces)]
    tables += [] if shown.linear is None else [_modes(shown.linear)]
    return Page(title(shown), (), tuple(tables))


def _rest(shown: Equilibrium) -> str:
    if shown.linear is None:
        return "rests on contacts"
    return _stable(shown.linear)


def _stable(shown: Linearization) -> str:
    return "stable" if shown.is_stable else "not stable"


def _states(shown: Linearization) -> str:
    return listed([str(x) for x in shown.labels])


def _modes(shown: Linearization) -> Table:
    """Each eigenvalue, and what moves most in its mode."""
    modes, names = abs(shown.modes), [label.name for label in shown.everything]
    rounding = 1e-13 * max(1.0, float(abs(shown.eigenvalues).max(initial=0.0)))
    rows = []
    for k, s in enumerate(shown.eigenvalues):
        real, imaginary = (x if abs(x) > rounding else 0.0 for x in (s.real, s.imag))
        size = modes[: len(names) // 2, k]
        largest = max(float(size.max(initial=0.0)), 1e-30)
        most = [names[j] for j in (-size).argsort()[:3] if size[j] > 0.01 * largest]
        rows.append(
            (
                f"{real:+.6g} {imaginary:+.6g}i",
                f"{abs(imaginary) / (2 * math.pi):.6g}",
                f"{round(float(shown.damping[k]), 4) + 0.0:.4g}",
                ", ".join(most),
            )
        )
    return Table(("eigenvalue [1/s]", "frequency [Hz]", "damping", "moves most"), tuple(rows))


def _notes(shown: Linearization) -> tuple[str, ...]:
    if shown.steadiness <= STEADY:
        return ()
    return ("Whether the motion is stable these do not say: they change along it.",)
