"""What building costs: formulas alive, and the collector paused while many are made.

Public names: known_nodes, collector_paused.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from liaison.expr.graph.node import _KNOWN


def known_nodes() -> int:
    """How many formulas are alive in this process."""
    return len(_KNOWN)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Building without the cyclic collector: nodes form no cycles, and it takes half the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
