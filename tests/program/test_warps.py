"""Entries divided among warps: what they compute, and that nobody reads before it is written."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from device import run_blocks
from program_samples import synthetic

import liaison
from liaison.errors import ProgramError
from liaison.expr import OPS, Expr, cos, maximum, sin, symbol, topological
from liaison.program import Program, lower, to_llvm
from liaison.program.gpu import to_gpu as blocks
from liaison.program.gpu.block import Shape, evaluate_block
from liaison.program.gpu.march import march_block
from liaison.program.gpu.to_gpu import to_block
from liaison.program.gpu.warps import Division, division, partition
from liaison.program.llvm.entries import Form
from liaison.program.llvm.machine import ptx

EXAMPLES = Path(__file__).parents[2] / "examples"
DOUBLE, SINGLE = Form(), Form(real="float")


def value_of(node: Expr, values: dict[Expr, float]) -> float:
    data = () if node.data is None else (node.data,)
    return float(OPS[node.op].value(*data, *(values[arg] for arg in node.args)))


def computed(
    divided: Division,
    values: dict[Expr, float],
    rng: random.Random,
    laid: dict[int, float] | None = None,
) -> list[float]:
    """Outputs with the warps in any order that the barriers allow."""
    slots = dict(laid or {})
    outputs: dict[int, float] = {}
    own = [dict(divided.numbers) | values for _ in divided.pieces]
    come: list[set[int]] = [set() for _ in divided.barriers]
    at = [0] * len(divided.pieces)
    while any(phase < len(come) for phase in at):
        warp = rng.choice([w for w, phase in enumerate(at) if phase < len(come)])
        barrier, piece = divided.barriers[at[warp]], divided.pieces[warp][at[warp]]
        come[at[warp]].add(warp)
        if warp in barrier.readers and not come[at[warp]] >= barrier.warps:
            continue
        read = {node: slots[slot] for node, slot in piece.loads.items()}
        for item in piece.items:
            for node in item:
                own[warp][node] = value_of(node, own[warp] | read)
                if node in piece.saves:
                    slots[piece.saves[node]] = own[warp][node]
        outputs |= {index: (own[warp] | read)[node] for index, node in piece.outputs}
        at[warp] += 1
    return [outputs[k] for k in range(len(outputs))]


def random_formulas(rng: random.Random, size: int) -> tuple[Expr, ...]:
    """Sums, products and sines of what came shortly before; numbers among the outputs."""
    made: list[Expr] = [symbol(f"s{k}") for k in range(6)]
    for _ in range(size):
        a, b = (rng.choice(made[-25:]) for _ in range(2))
        made.append(rng.choice([a + b, a - 0.5 * b, a * b, sin(a), cos(b), maximum(a, b)]))
    return (*rng.sample(made, 6), made[-1], made[0], made[0] * 0 + 2)


def expected_of(formulas: tuple[Expr, ...], values: dict[Expr, float]) -> dict[Expr, float]:
    """Values of all formulas, one after the other."""
    expected = dict(values)
    for node in topological(formulas):
        if node.op == "const":
            expected[node] = float(node.value)
        elif node.op != "symbol":
            expected[node] = value_of(node, expected)
    return expected


@pytest.mark.parametrize("seed", range(12))
def test_warps_compute_the_formulas_in_any_order(seed):
    rng = random.Random(seed)
    formulas = random_formulas(rng, rng.choice([0, 20, 120, 200]))
    values = {symbol(f"s{k}"): rng.uniform(-1, 1) for k in range(6)}
    expected = expected_of(formulas, values)
    divided = division(formulas, rng.choice([1, 2, 3, 5]))
    for _ in range(3):
        found = computed(divided, values, rng)
        np.testing.assert_allclose(found, [expected[x] for x in formulas], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_slots_of_inputs_are_used_again_when_all_have_read_them(seed):
    """Inputs, sines and cosines lie in slots alone; few are added for what passes."""
    rng = random.Random(seed)
    formulas = (*random_formulas(rng, 150), cos(symbol("s1")))
    values = {symbol(f"s{k}"): rng.uniform(-1, 1) for k in range(6)}
    expected = expected_of(formulas, values)
    turns = [x for x in topological(formulas) if x.op in ("sin", "cos") and x.args[0] in values]
    laid = {node: k for k, node in enumerate([*values, *turns])}
    divided = division(formulas, 3, laid=laid)
    alone = division(formulas, 3)
    assert divided.slots <= len(laid) + alone.slots
    for _ in range(3):
        found = computed(divided, {}, rng, {k: expected[node] for node, k in laid.items()})
        np.testing.assert_allclose(found, [expected[x] for x in formulas], rtol=1e-12, atol=1e-12)


def test_a_missing_barrier_is_seen():
    """The test above can fail: without barriers somebody reads too early."""
    rng = random.Random(3)
    formulas = random_formulas(rng, 200)
    values = {symbol(f"s{k}"): rng.uniform(-1, 1) for k in range(6)}
    divided = division(formulas, 4)
    nobody = replace(divided.barriers[0], readers=frozenset(), writers=frozenset())
    loose = replace(divided, barriers=(nobody,) * len(divided.barriers))
    with pytest.raises(KeyError):
        [computed(loose, values, rng) for _ in range(20)]


def test_limbs_are_found():
    """Four chains on one trunk: each is a group, and few values pass."""
    trunk = symbol("a") * symbol("b") + 1
    ends = []
    for limb in range(4):
        x = trunk
        for k in range(60):
            x = sin(symbol(f"q{limb}_{k}")) * x + symbol(f"v{limb}_{k}") * x
        ends.append(x)
    divided = division([*ends, sum(ends, start=trunk)], 4)
    assert divided.slots <= 8
    work = [sum(len(item) for piece in each for item in piece.items) for each in divided.pieces]
    assert max(work) <= 1.3 * sum(work) / 4


def most_alive(divided: Division) -> int:
    """The largest number of values that wait at one time in the only warp."""
    items = [item for piece in divided.pieces[0] for item in piece.items]
    last = {arg: k for k, item in enumerate(items) for node in item for arg in node.args}
    alive: set[Expr] = set()
    worst = 0
    for k, item in enumerate(items):
        alive |= {node for node in item if node in last}
        alive -= {arg for node in item for arg in node.args if last[arg] == k}
        worst = max(worst, len(alive))
    return worst


def test_in_the_order_of_inputs_few_values_wait():
    """A trunk and four legs: outwards, back, and the next leg; 12 numbers of motion a body,
    6 of force and two of its angle, for a chain of three and the trunk, about 60 in all."""
    robot = liaison.read(EXAMPLES / "robots" / "quadruped.urdf", floating=True)
    program = lower(liaison.newton_euler(liaison.span(robot)))
    outputs = program.entry("inverse").outputs
    ordered = most_alive(division(outputs, 1, inputs=program.inputs))
    assert ordered <= 90
    assert ordered < 0.7 * most_alive(division(outputs, 1))


def test_groups_are_even_and_all_things_have_one():
    rng = random.Random(5)
    weights = [rng.uniform(0, 2) for _ in range(300)]
    nets = [tuple(sorted({k, min(299, k + rng.randint(1, 9)), (k * 7) % 300})) for k in range(300)]
    groups = partition(weights, nets, 5)
    loads = [sum(w for w, g in zip(weights, groups, strict=True) if g == k) for k in range(5)]
    assert set(groups) <= set(range(5))
    assert max(loads) <= 1.3 * sum(loads) / 5
    assert groups == partition(weights, nets, 5)


def program_of(name: str) -> Program:
    return lower(liaison.newton_euler(liaison.span(liaison.read(EXAMPLES / f"{name}.lsd"))))


@pytest.mark.parametrize("shape", [Shape(1, 1), Shape(3, 1), Shape(2, 64)])
def test_a_block_computes_what_a_thread_does(shape):
    """The kernel itself, its warps at the same time on this processor; lanes too many."""
    program, count = synthetic(900), 2 * shape.lanes + 1
    arrays = {n: np.random.default_rng(2).normal(size=(7, count)) for n in ("q", "v")}
    expected = to_llvm(program, cache=False).batch("f", **arrays)
    ir, whole = evaluate_block(program, "f", DOUBLE, frozenset(), shape)
    out, nothing = np.full(expected.shape, np.nan), np.zeros((1, count))
    places = [nothing, arrays["q"], arrays["v"], nothing, nothing, nothing, out]
    numbers = whole.numbers * whole.lanes
    run_blocks(ir, "evaluate", 4, whole.threads, numbers, [count, *places, *[count] * 7])
    np.testing.assert_allclose(out, expected, rtol=1e-12)


@pytest.mark.parametrize(("form", "dtype"), [(DOUBLE, np.float64), (SINGLE, np.float32)])
@pytest.mark.parametrize("warps", [1, 2, 5])
def test_a_block_computes_the_forces_of_a_robot(warps, form, dtype):
    """Inverse dynamics of a quadruped: 12 angles, in single 20 places for 5 warps; one is far."""
    robot = liaison.read(EXAMPLES / "robots" / "quadruped.urdf", floating=True)
    program, rng = lower(liaison.newton_euler(liaison.span(robot))), np.random.default_rng(4)
    reads = {name: size for name, size in program.reads("inverse").items() if size}
    arrays = {name: rng.normal(size=(size, 2)).astype(dtype) for name, size in reads.items()}
    arrays["q"][9, 1] = 1e9
    wide = {name: array.astype(float) for name, array in arrays.items()}
    expected = to_llvm(program, cache=False).batch("inverse", **wide)
    ir, shape = evaluate_block(program, "inverse", form, frozenset("tp"), Shape(warps, lanes=1))
    assert ("warp0turn:" in ir) == (form is SINGLE)
    out, nothing = np.full(expected.shape, np.nan, dtype), np.zeros((1, 2), dtype)
    places = [arrays.get(name, nothing) for name in ("t", "q", "v", "u", "p", "x")]
    run_blocks(ir, "evaluate", 2, shape.threads, shape.numbers, [2, *places, out, *[2] * 7])
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert np.max(np.abs(out - expected) / scale) <= 500 * np.finfo(dtype).eps


@pytest.mark.parametrize("name", ["double_pendulum", "spinning_top", "four_bar"])
def test_a_march_of_a_block_is_the_run_with_the_same_fixed_step(name):
    program, tree = program_of(name), liaison.span(liaison.read(EXAMPLES / f"{name}.lsd"))
    state, step, steps = liaison.assemble(tree), 1e-3, 20
    q, v = (np.repeat(np.array(a)[:, None], 2, axis=1) for a in (state.q, state.v))
    defaults, residual = program.defaults, np.zeros((1, 2))
    ir, shape = march_block(program, DOUBLE, frozenset("tup"), Shape(2, lanes=1))
    places = [np.zeros(1), q, v, defaults["u"], defaults["p"], residual]
    run_blocks(
        ir, "march", 2, shape.threads, shape.numbers, [2, steps, step, *places, 0, 2, 2, 0, 0]
    )
    run = liaison.simulate(
        to_llvm(program, cache=False), state, until=step * steps, step=step, method="rk4"
    )
    np.testing.assert_allclose(q[:, 0], run.q[-1], rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(v[:, 1], run.v[-1], rtol=1e-9, atol=1e-10)
    assert np.all(residual <= 1e-9)


@pytest.mark.parametrize("lost", [0, 1])
def test_a_state_lost_in_any_warp_is_seen(lost):
    program = program_of("double_pendulum")
    q, v, residual = np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((1, 2))
    v[lost, 1] = np.nan
    ir, shape = march_block(program, DOUBLE, frozenset("tup"), Shape(2, lanes=1))
    places = [np.zeros(1), q, v, program.defaults["u"], program.defaults["p"], residual]
    run_blocks(ir, "march", 2, shape.threads, shape.numbers, [2, 3, 1e-3, *places, 0, 2, 2, 0, 0])
    assert residual[0, 0] == 0
    assert np.isnan(residual[0, 1])


@pytest.mark.parametrize("form", [DOUBLE, SINGLE])
def test_ptx_of_blocks_comes_out_without_a_gpu(form):
    program = program_of("double_pendulum")
    text = ptx(evaluate_block(program, "forward", form, frozenset("tup"), Shape(4))[0], "sm_70")
    assert ".maxntid 128" in text
    assert ".maxnreg 255" in text
    assert "bar.sync" in text
    text = ptx(march_block(program, form, frozenset("tup"), Shape(2, 64, 128))[0], "sm_70")
    assert ".maxntid 128" in text
    assert "ld.shared" in text


def test_long_entries_are_divided_and_short_ones_are_not(monkeypatch):
    options = {"rows": None, "shared": frozenset(), "processor": "sm_70", "precision": "double"}
    assert to_block(synthetic(900), "f", most=200_000, **options) is None
    monkeypatch.setattr(blocks, "LONG", 800.0)
    long = synthetic(2500)
    block = to_block(long, "f", most=200_000, **options)
    assert block.shape.warps > 1
    assert block.shared_bytes == 8 * block.shape.lanes * block.shape.numbers
    assert ".maxntid" in block.text
    small = to_block(long, "f", most=block.shared_bytes - 1, **options)
    assert small.shape.lanes == block.shape.lanes // 2  # a GPU with less shared memory
    assert to_block(long, "f", most=100, **options) is None


def test_a_block_rejects_what_a_thread_does():
    options = {"rows": None, "shared": frozenset(), "processor": "sm_70", "most": 200_000}
    with pytest.raises(ProgramError, match="double precision"):
        to_block(program_of("four_bar"), "march", precision="single", **options)
    options["rows"] = (4,)
    with pytest.raises(ProgramError, match="0 to 3"):
        to_block(program_of("double_pendulum"), "mass_matrix", precision="double", **options)
