"""Looped sweeps: a kernel for each class of nodes, in one loop, gives what unrolling does."""

from __future__ import annotations

import ctypes
import time

import numpy as np
import pytest
from program_samples import require_c

from liaison.equations import newton_euler, sweeps
from liaison.errors import ProgramError
from liaison.program import compile_c, looped, loops_to_c, lower, to_llvm, to_numpy
from liaison.program.c.compile_c import compile_c_text
from liaison.program.loops.compile import CTYPES
from liaison.program.loops.tree import signature
from liaison.program.many.looped import recursion_program, run_sweeps
from liaison.tree import span
from samples import chain, relative_difference, sample, some

TREES = {"loops": (0, 0), "loads": False, "relations": False, "bodies": (3, 6)}
SAME = 1e-12  # relative: the same formulas in another order of sums, with fused multiply-adds
SOLVED = 1e-10  # relative; cond(M) is drawn up to 1e6, so six digits are the problem's own


def loop_in_c():
    """The loop through the system's C compiler, taking arrays for pointers."""
    require_c()
    foreign = compile_c_text(loops_to_c([run_sweeps]))["liaison_run_sweeps"]
    arguments, foreign.restype = signature(run_sweeps)[0], None
    foreign.argtypes = [CTYPES.get(kind, ctypes.c_void_p) for _, kind in arguments]  # records
    return lambda *args: foreign(*(a.ctypes.data if isinstance(a, np.ndarray) else a for a in args))


WAYS = {
    "llvm": lambda made: looped(made),
    "c": lambda made: looped(made, compile_c, loop_in_c()),
    "python": lambda made: looped(made, to_numpy, run_sweeps),
    "python on llvm": lambda made: looped(made, lambda p: to_llvm(p, cache=False), run_sweeps),
}


CASES = [("llvm", 0), ("c", 2), ("python", 1), ("python on llvm", 3)]
MORE = [*(("llvm", k) for k in range(1, 5)), ("c", 0)]


@pytest.mark.parametrize(("way", "seed"), some([*CASES, *MORE], len(CASES)))
def test_looped_equals_unrolled_on_random_trees(way, seed):
    drawn = sample(seed, **TREES)
    tree = span(drawn.mechanism)
    unrolled = to_numpy(lower(newton_euler(tree)))
    at = drawn.at(tree)
    q, v = at["q"], at["v"]
    given = np.random.default_rng(seed).normal(size=len(v))
    made = WAYS[way](sweeps(tree))
    assert relative_difference(made.inverse(q, v, given), unrolled("inverse", **at, x=given)) < SAME
    terms = unrolled.call("terms", **at)
    vdot = np.linalg.solve(terms["M"].reshape(len(v), -1), given + terms["f"])
    assert relative_difference(made.forward(q, v, given), vdot) < SOLVED


def state_of(n):
    rng = np.random.default_rng(n)
    return rng.uniform(-2, 2, n), rng.normal(size=n), rng.normal(size=n)


def test_forward_after_inverse_is_the_identity_on_a_wide_tree():
    q, v, vdot = state_of(300)
    made = looped(sweeps(span(chain(300, branching=3, joints="RRP", skew=0.3))))
    tau = made.inverse(q, v, vdot)
    # the tree is six deep: the conditioning of M costs three digits or so
    np.testing.assert_allclose(made.forward(q, v, tau), vdot, atol=1e-11)


def test_an_answer_does_not_depend_on_what_was_asked_before():
    q, v, vdot = state_of(9)
    made = looped(sweeps(span(chain(9, joints="RP"))))
    first = made.inverse(q, v, vdot), made.forward(q, v, vdot)
    made.inverse(v, q, v), made.forward(v, q, v)
    again = made.inverse(q, v, vdot), made.forward(q, v, vdot)
    np.testing.assert_array_equal(first, again)


def test_entries_are_as_many_as_classes_and_sweeps():
    program = recursion_program(sweeps(span(chain(50, joints="RP"))))
    assert len(program.entries) == 2 * 5
    assert sum(program.operations("inverse outwards 0").values()) < 200


def test_arrays_of_the_wrong_size_are_refused():
    made = looped(sweeps(span(chain(3))))
    with pytest.raises(ProgramError, match="takes 3 numbers in 'vdot', not an array of shape"):
        made.inverse(np.zeros(3), np.zeros(3), np.zeros(4))


@pytest.mark.slow
def test_a_chain_of_ten_thousand_bodies_costs_a_body_what_a_hundred_do(capsys):
    found, answers = {}, {}
    for n in (100, 10_000):
        made = looped(sweeps(span(chain(n, joints="RRP", skew=0.3))))
        q, v, vdot = state_of(n)
        tau = made.inverse(q, v, vdot)
        answers[n] = tau, made.inverse(q, v, made.forward(q, v, tau))
        start = time.process_time()
        for _ in range(20):
            made.forward(q, v, tau)
        found[n] = (time.process_time() - start) / 20 / n * 1e9
        program = made.kernel.program
        operations = {name: program.operations(name) for name in program.entries}
        answers[n] += (operations,)
    with capsys.disabled():
        print("\nforward dynamics, ns a body:", {n: round(x) for n, x in found.items()})
    # M of a long chain is too ill conditioned for v̇; τ comes back to rounding of its largest
    for tau, back, _ in answers.values():
        assert np.max(np.abs(back - tau)) < SAME * np.max(np.abs(tau))
    assert answers[100][2] == answers[10_000][2]
