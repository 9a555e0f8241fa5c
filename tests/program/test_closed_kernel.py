"""Closed mechanisms of many bodies as loops over nodes: what unrolled code gives, entry by entry."""

from __future__ import annotations

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler
from liaison.equations.sweeps.looped_tree import looped_tree
from liaison.errors import DerivationError
from liaison.program import lower, to_numpy
from liaison.program.many.closed_kernel import closed_kernel
from liaison.program.many.cut_tables import envelope_of
from liaison.tree import span
from samples import relative_difference, sample, some

CLOSED = {"loops": (1, 3), "loads": False, "relations": False, "bodies": (3, 6)}
SAME = 1e-11  # relative: other sums, and another order of elimination

OF_STARTS = {"close_q", "close_v"}  # unrolled code has G for these


def same_entries(tree, at, seed, same=SAME):
    looped, unrolled = closed_kernel(looped_tree(tree)), to_numpy(lower(newton_euler(tree)))
    assert looped.program.labels == unrolled.program.labels
    assert looped.program.facts["vanished"] == unrolled.program.facts["vanished"]
    forward = unrolled("forward", **at)[:-1]
    rng = np.random.default_rng(seed)
    xi = 0.3 * rng.normal(size=tree.nv)
    rows = looped.program.sizes["nc"] + len(looped.program.facts["vanished"])
    extra = {
        "motions": forward[: tree.nv], "reactions": forward, "rate": xi, "retract": xi,
        "self_stress": rng.normal(size=rows),
    }  # fmt: skip
    for name, entry in looped.program.entries.items():
        if name not in OF_STARTS:
            assert entry.layout == unrolled.program.entry(name).layout, name
            x = extra.get(name, ())
            mine, theirs = looped(name, **at, x=x), unrolled(name, **at, x=x)
            assert relative_difference(mine, theirs) < same, name
