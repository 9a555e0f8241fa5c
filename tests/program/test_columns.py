"""Many right-hand sides on vectors: the same as written out, within the bounds of their arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from liaison.equations import newton_euler
from liaison.formats import read
from liaison.program import lower, to_c, to_llvm, to_numpy
from liaison.program.derivatives.columns import LANES
from liaison.tree import assemble, span
from samples import some
from samples.chains import chain

ENTRIES = ("d_inverse", "d_forward")


def program_of(mechanism):
    return lower(newton_euler(span(mechanism)))


def state_of(program, seed=0):
    rng = np.random.default_rng(seed)
    sizes = program.sizes
    return {
        "q": rng.uniform(-1, 1, sizes["nq"]),
        "v": rng.uniform(-1, 1, sizes["nv"]),
        "x": rng.uniform(-1, 1, sizes["nx"]),
    }


@pytest.mark.parametrize("n", some([5, 8, 6, 7, 9], 2))
@pytest.mark.parametrize("entry", ENTRIES)
def test_every_width_agrees_with_the_formulas(n, entry):
    program = program_of(chain(n, skew=0.7))
    assert program.entry(entry).columns is not None
    given = state_of(program)
    expected = to_numpy(program)(entry, **given)
    found = to_llvm(program, cache=False)(entry, **given)
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())


def test_branches_agree():
    program = program_of(chain(11, branching=2.0, skew=0.5))
    given = state_of(program)
    for entry in ENTRIES:
        expected = to_numpy(program)(entry, **given)
        found = to_llvm(program, cache=False)(entry, **given)
        assert found == pytest.approx(expected, rel=1e-11, abs=1e-11 * np.abs(expected).max())


def test_closed_loops_agree():
    mechanism = read(Path(__file__).parents[2] / "examples" / "stewart.lsd")
    tree = span(mechanism)
    program, state = lower(newton_euler(tree)), assemble(tree)
    for entry in ("d_forward", "d_forward_p"):
        expected = to_numpy(program)(entry, q=state.q, v=state.v)
        found = to_llvm(program, cache=False)(entry, q=state.q, v=state.v)
        scale = 1e-9 * np.abs(expected).max(initial=1.0)
        assert found == pytest.approx(expected, rel=1e-9, abs=scale)


@pytest.mark.parametrize("entry", ENTRIES)
def test_nothing_is_written_beyond_the_results(entry):
    kernel = to_llvm(program_of(chain(7)), cache=False)
    given = state_of(kernel.program)
    size, work = kernel.out_size(entry), kernel.work_size(entry)
    whole, space = np.full(size + 2 * LANES, 7.5), np.full(work + 2 * LANES, 7.5)
    arrays = [given["q"], given["v"], np.zeros(1), np.zeros(1), given["x"]]
    kernel.function(entry)(0.0, *arrays, whole[LANES:], space[LANES:])
    for array, used in ((whole, size), (space, work)):
        assert np.all(array[:LANES] == 7.5)
        assert np.all(array[LANES + used :] == 7.5)
    assert np.array_equal(whole[LANES : LANES + size], kernel(entry, **given))


def test_machine_code_is_made_without_writing_columns_out():
    program = program_of(chain(8))
    kernel = to_llvm(program, cache=False)
    kernel.compile("d_forward")
    kernel("d_forward", **state_of(program))
    assert "_formulas" not in vars(program.entry("d_forward").outputs)
    assert program.operations("d_forward").total() < 8000


def test_batches_and_c_know_the_same_entry():
    program = program_of(chain(5))
    kernel = to_llvm(program, cache=False)
    given = state_of(program)
    alone = kernel("d_forward", **given)
    many = {k: np.tile(x[:, None], (1, 9)) for k, x in given.items() if k != "x"}
    batch = kernel.batch("d_forward", **many)
    assert batch[:, 4] == pytest.approx(alone, rel=1e-11, abs=1e-11 * np.abs(alone).max())
    assert "d_forward" in to_c(program, ["d_forward"])
