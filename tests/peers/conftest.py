"""How a robot of ours is compared with a peer's."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

TOLERANCE = 1e-9
"""Relative to the largest entry: URDF prints 3 to 12 digits, which both sides read alike."""


def relative(a, b) -> float:
    """Largest difference against the largest entry."""
    return float(np.max(np.abs(a - b)) / np.max(np.abs(b)))


@pytest.fixture
def compared(record_property):
    """Compares M, h, inverse and forward dynamics at every state, and records the worst."""

    def compare(peer: str, ours, theirs) -> None:
        worst: dict[str, float] = {}
        for state in ours.states():
            mine, other = ours.numbers(state), theirs.numbers(state)
            for key, value in mine.items():
                worst[key] = max(worst.get(key, 0.0), relative(value, other[key]))
        base = "floating" if ours.floating else "fixed"
        said = ", ".join(f"{key} {value:.1e}" for key, value in worst.items())
        print(f"{ours.robot} ({base}) against {peer}, {len(ours.states())} states: {said}")
        record_property(f"worst difference from {peer}", max(worst.values()))
        assert max(worst.values()) <= TOLERANCE

    return compare
