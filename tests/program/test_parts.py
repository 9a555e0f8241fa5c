"""Entries that share code give what they give alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import liaison
from liaison.expr import OPS, Expr, evaluate
from liaison.program import Program
from liaison.program.parts import Shared, shared_plans
from liaison.program.plan import PIECE

ENTRIES = ("rate", "retract", "closure", "terms", "correct_q", "correct_v", "assembly", "energy",
           "variation")  # fmt: skip
ROUNDING = 1e-8
"""Relative: the change of accelerations is refined once more where it is shared."""


def program_of(name: str) -> Program:
    return liaison.lower(liaison.derive(f"examples/{name}.lsd"))


def drawn(program: Program) -> dict[str, Any]:
    """Random arguments of an entry, near a regular position."""
    rng = np.random.default_rng(1)
    sizes = {"q": "nq", "v": "nv", "u": "nu", "p": "np"}
    arrays: dict[str, Any] = {
        key: 0.3 + rng.random(program.sizes[size]) for key, size in sizes.items()
    }
    for chart in program.facts["charts"]:
        if chart.kind in ("quaternion", "free"):
            arrays["q"][chart.q][-4:] /= np.linalg.norm(arrays["q"][chart.q][-4:])
    return arrays | {"t": [0.1], "x": 0.1 * rng.normal(size=200)}


def computed(
    program: Program, plan: Shared, arrays: Mapping[str, Any], count: int
) -> Sequence[float]:
    """What the calls of a plan write, one operation after the other."""
    out, work = np.full(count, np.nan), np.full(plan.work_size, np.nan)
    for call in plan.calls:
        values: dict[Expr, float] = {}
        own = dict(arrays)
        if call.q >= 0:
            own["q"] = work[call.q : call.q + program.sizes["nq"]].copy()

        def value(node: Expr, call: Any = call, values: Any = values, own: Any = own) -> float:
            if node in plan.numbers:
                return plan.numbers[node]
            if node in values:
                return float(values[node])
            if node in call.piece.loads:
                return float(work[call.piece.loads[node]])
            array, place = program.inputs[node]
            return float(own[array][place])

        for item in call.piece.items:
            for node in item:
                data = () if node.data is None else (node.data,)
                values[node] = OPS[node.op].value(*data, *map(value, node.args))
        for node, place in call.piece.saves.items():
            work[place] = values[node]
        for place, node in call.piece.puts:
            work[place] = value(node)
        for index, node in call.piece.outputs:
            out[call.out + index] = value(node)
    return out


@pytest.mark.parametrize(("name", "size"), [
    ("four_bar", PIECE), ("excavator", 100), ("bicycle", PIECE), ("satellite", 300),
])  # fmt: skip
def test_shared_entries_give_what_they_give_alone(
    monkeypatch: pytest.MonkeyPatch, name: str, size: int
) -> None:
    monkeypatch.setattr("liaison.program.parts.FUSED", 0)
    monkeypatch.setattr("liaison.program.parts.LEAST", 10)
    program = program_of(name)
    arrays = drawn(program)
    symbols = {x: float(arrays[array][k]) for x, (array, k) in program.inputs.items()}
    plans = shared_plans(program, ENTRIES, lanes=2, functions={}, size=size)
    assert {*plans} == {*ENTRIES}
    for entry, plan in plans.items():
        alone = np.array(evaluate(list(program.entry(entry).outputs), symbols), dtype=float)
        shared = computed(program, plan, arrays, len(alone))
        if entry == "rate":  # how far closures are missed is rounding
            alone, shared = alone[:-1], shared[:-1]
        size_of = np.max(np.abs(alone), initial=1.0)
        assert np.max(np.abs(shared - alone), initial=0.0) < ROUNDING * size_of, entry


def test_shared_code_is_shorter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("liaison.program.parts.FUSED", 0)
    program = program_of("bennett")
    plans = shared_plans(program, ENTRIES, lanes=2, functions={})
    pieces = {id(x.piece): len(x.piece.items) for plan in plans.values() for x in plan.calls}
    alone = sum(
        len(piece.items)
        for entry in ENTRIES
        for piece in liaison.program.plan.plan(program, entry).pieces
    )
    assert sum(pieces.values()) < 0.5 * alone


def test_what_steps_call_is_code_of_its_own_where_it_is_short() -> None:
    plans = shared_plans(program_of("four_bar"), ENTRIES, lanes=2, functions={})
    for name in ("rate", "correct_q", "correct_v", "closure"):
        assert len(plans[name].calls) == 1
    assert len(plans["variation"].calls) > 2
