"""JAX sees the same formulas: values and gradients agree with liaison's own."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from program_samples import program_of
from test_backends import MORE, ROWS

import liaison
from liaison.errors import ProgramError
from liaison.program import lower, to_jax, to_llvm, to_numpy

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def jax():
    found = pytest.importorskip("jax", reason="jax is not installed")
    found.config.update("jax_enable_x64", True)
    return found


@pytest.mark.peers
@pytest.mark.parametrize("name", [*ROWS, *MORE])
def test_every_operation_has_a_form(jax, name):
    program = program_of([{**ROWS, **MORE}[name]])
    points = np.random.default_rng(7).uniform(0.1, 0.9, (50, 8))
    expected = to_numpy(program)("f", q=points)
    np.testing.assert_allclose(to_jax(program, "f")(q=points), expected, rtol=1e-13)


@pytest.mark.peers
def test_derivatives_by_jax_are_ours(jax):
    program = lower(liaison.newton_euler(liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))))
    kernel, rng = to_llvm(program, cache=False), np.random.default_rng(2)
    q, v, x = (rng.normal(size=program.sizes["nv"]) for _ in range(3))
    f = to_jax(program, "inverse")
    found = jax.jacobian(lambda q: f(q=q, v=v, x=x))(q)
    np.testing.assert_allclose(f(q=q, v=v, x=x), kernel("inverse", q=q, v=v, x=x), rtol=1e-12)
    expected = kernel.call("d_inverse", q=q, v=v, x=x)["tau_q"].reshape(found.shape)
    np.testing.assert_allclose(found, expected, atol=1e-11)


@pytest.mark.peers
def test_blocks_have_their_names(jax):
    program = lower(liaison.newton_euler(liaison.span(liaison.read(EXAMPLES / "four_bar.lsd"))))
    q, v = np.full(program.sizes["nq"], 0.3), np.ones(program.sizes["nv"])
    named = jax.jit(to_jax(program, "forward", named=True))(q=q, v=v)
    assert list(named) == [name for name, _ in program.entry("forward").layout]
    expected = to_llvm(program, cache=False).call("forward", q=q, v=v)
    for name, block in expected.items():
        np.testing.assert_allclose(named[name], block, rtol=1e-9, atol=1e-9)
    whole = to_jax(program, "forward")(q=q, v=v)
    np.testing.assert_array_equal(np.concatenate(list(named.values())).shape, whole.shape)


@pytest.mark.peers
def test_jit_and_vmap_change_nothing(jax):
    program = program_of(list(ROWS.values())[:5])
    points = np.random.default_rng(1).uniform(0.1, 0.9, (6, 8))
    f = to_jax(program, "f")
    mapped = jax.jit(jax.vmap(lambda q: f(q=q)))(points)
    np.testing.assert_allclose(mapped, f(q=points), rtol=1e-15)


def test_without_jax_it_is_told(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jax.numpy", None)
    with pytest.raises(ProgramError, match=r"needs jax.*, which is not installed"):
        to_jax(program_of([ROWS["add"]]), "f")
