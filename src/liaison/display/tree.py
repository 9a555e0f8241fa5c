"""A spanning tree, shown: who carries whom, and where loops are cut.

Public names: title, page.
"""

from __future__ import annotations

from liaison.lazy import listed
from liaison.tree.tree import GROUND, Tree

from .page import Page, Table, plural


def title(shown: Tree) -> str:
    """Its mechanism, and its coordinates."""
    return (
        f"{shown.mechanism.name}: {plural(shown.nq, 'position')}, "
        f"{plural(shown.nv, 'velocity', 'velocities')}, {plural(len(shown.nodes), 'node')}"
    )


def page(shown: Tree) -> Page:
    """Body by body, parents first."""
    nodes = shown.nodes
    rows = tuple(
        (
            x.body,
            "ground" if x.parent == GROUND else nodes[x.parent].body,
            x.joint.name,
            x.joint.type.name,
            listed(x.joint.coordinates),
        )
        for x in nodes
    )
    cut = shown.cuts
    facts = (("cut at", listed(cut)),) if cut else ()
    return Page(title(shown), facts, (Table(("body", "on", "joint", "type", "coordinates"), rows),))
