"""A small member of every attack; `make attack` makes as many tries as are asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "fuzz")]

from attack.run import attacks, made  # noqa: E402
from attack.table import Row, printed  # noqa: E402

SMALL = {"memory": 0.0, "bad_files": 0.2, "bad_arguments": 0.2, "false_claims": 0.05}


@pytest.mark.parametrize("name", attacks())
def test_a_small_attack_finds_nothing(name):
    rows = list(made(name, SMALL.get(name, 0.01)))
    assert rows
    for row in rows:
        assert row.tries > 0
        assert row.faults == []


def test_what_is_undeclared_is_counted():
    row = Row("sample", "none")
    row.attempt(lambda: 1 / 0, "division")
    row.attempt(lambda: None, "nothing", may_pass=False)
    assert len(row.faults) == 2
    assert "ZeroDivisionError" in printed([row], {})
