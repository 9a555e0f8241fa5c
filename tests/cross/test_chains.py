"""Regular trees of many bodies: formalisms and back ends agree, and M stays what it must be."""

import numpy as np
import pytest

from liaison.equations import lagrange, newton_euler
from liaison.expr import collector_paused
from liaison.program import to_llvm, to_numpy
from liaison.program.lower import lower
from liaison.tree import span
from samples import chain, relative_difference

SHAPES = [
    (6, {"branching": 1.0}),
    (7, {"branching": 2.0, "skew": 0.4}),
    (6, {"branching": 1.5, "joints": "RP"}),
    (5, {"branching": 5.0, "joints": "RRP", "taper": 0.9}),
]


def state(n: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(n)
    return {"q": rng.uniform(-1, 1, n), "v": rng.uniform(-1, 1, n)}


@pytest.mark.parametrize(("n", "shape"), SHAPES)
def test_newton_euler_and_lagrange_agree_on_chains(n, shape, worst):
    tree = span(chain(n, **shape))
    with collector_paused():
        kernels = [to_numpy(lower(formalism(tree))) for formalism in (newton_euler, lagrange)]
        found = [kernel("forward", **state(n)) for kernel in kernels]
        masses = [kernel("mass_matrix", **state(n)) for kernel in kernels]
    worst(relative_difference(*found))
    worst(relative_difference(*masses))


@pytest.mark.parametrize("n", [30])
def test_a_long_chain_keeps_its_digits_in_machine_code(n, worst):
    with collector_paused():
        program = lower(newton_euler(span(chain(n, taper=0.95))))
        found = to_llvm(program, optimize=0).call("forward", **state(n))["vdot"]
        terms = to_numpy(program).call("terms", **state(n))
    M = terms["M"].reshape(n, n)
    assert np.min(np.linalg.eigvalsh(M)) > 0
    worst(relative_difference(M @ found, terms["f"]))
