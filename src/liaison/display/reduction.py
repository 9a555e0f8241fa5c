"""Reduced equations, shown: independent velocities, and why so many.

Public names: title, page.
"""

from __future__ import annotations

from liaison.analyse.proofs.reduce import Reduction
from liaison.lazy import listed

from .page import Page, plural


def title(shown: Reduction) -> str:
    """How many independent velocities, and which."""
    count = plural(shown.size, "independent velocity", "independent velocities")
    return f"{shown.equations.name}: {count}: {listed(shown.independent)}"


def page(shown: Reduction) -> Page:
    """The mobility behind it, and how to go on."""
    head, _, text = str(shown.mobility).partition("\n")
    calls = "reduction.simulate(until) runs it; reduction.acceleration(q, u) is u̇."
    return Page(title(shown), (("mobility", head),), (), (calls,), text=text, html="")
