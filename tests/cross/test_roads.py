"""All roads lead to the same accelerations: every formalism, every back end, every mechanism.

The oracle is `maximal`, interpreted by NumPy and solved by dense algebra: six coordinates a body,
no recursion, rows by differentiation. `make test` takes every formalism through NumPy and the
default formalism through every back end; `make test-all` takes the whole product.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from liaison.equations import FORMALISMS
from liaison.program import to_llvm, to_numpy
from liaison.program.c.to_c import compile_c
from samples import relative_difference, solved, some
from samples.derived import Solved
from samples.drawing import draw
from samples.numbers import dense_solution
from samples.shelf import example, shelf

BACK_ENDS = {
    "numpy": to_numpy,
    "llvm": lambda program: to_llvm(program, optimize=0),
    "c": lambda program: compile_c(program, flags=("-O0",)),
}


def accelerations(x: Solved, back_end: str, *, dense: bool) -> np.ndarray:
    """R̈ and p̈ of every body, v̇ by the generated elimination or by dense algebra on the terms."""
    kernel = x.kernel if back_end == "numpy" else BACK_ENDS[back_end](x.kernel.program)
    if not dense:
        return x.accelerations(kernel.call("forward", **x.at)["vdot"])
    terms = kernel.call("terms", **x.at)
    n = len(x.at["v"])
    M, G = terms["M"].reshape(n, n), terms["G"].reshape(-1, n)
    return x.accelerations(dense_solution(M, G, terms["f"], terms["gamma"])[0])


def oracle(x: Solved) -> np.ndarray:
    return Solved(x.sample, "maximal").accelerations()


@cache
def of_example(path: Path, formalism: str = "newton_euler") -> Solved:
    return Solved(example(path), formalism)


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
@pytest.mark.parametrize("seed", some(range(20), 8))
def test_every_formalism_gives_the_same_accelerations(seed, formalism, worst):
    expected = solved(seed, "maximal").accelerations()
    found = accelerations(solved(seed, formalism), "numpy", dense=False)
    worst(relative_difference(found, expected))


@pytest.mark.parametrize(
    "formalism", sorted({*FORMALISMS} - {"newton_euler", "lagrange", "maximal"})
)
@pytest.mark.parametrize("seed", range(4))
def test_the_other_formalisms_give_the_same_accelerations_too(seed, formalism, worst):
    expected = solved(seed, "maximal").accelerations()
    found = accelerations(solved(seed, formalism), "numpy", dense=False)
    worst(relative_difference(found, expected))


@pytest.mark.parametrize("back_end", ["llvm", "c"])
@pytest.mark.parametrize("seed", some(range(20), 8))
def test_every_back_end_gives_the_same_accelerations(seed, back_end, worst, request):
    if back_end == "c":
        request.getfixturevalue("c_compiler")
    x = solved(seed)
    found = accelerations(x, back_end, dense=False)
    worst(relative_difference(found, x.accelerations(x.forward["vdot"])))


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange"])
@pytest.mark.parametrize("path", shelf(), ids=lambda path: path.stem)
def test_every_formalism_agrees_on_every_example(path, formalism, worst):
    found = accelerations(of_example(path, formalism), "numpy", dense=False)
    worst(relative_difference(found, of_example(path, "maximal").accelerations()))


@pytest.mark.parametrize("back_end", ["llvm", "c"])
@pytest.mark.parametrize("path", shelf(), ids=lambda path: path.stem)
def test_every_back_end_agrees_on_every_example(path, back_end, worst, request):
    if back_end == "c":
        request.getfixturevalue("c_compiler")
    x = of_example(path)
    found = accelerations(x, back_end, dense=False)
    worst(relative_difference(found, x.accelerations(x.forward["vdot"])))


# the whole product, in make test-all

BLOCK = 10


def compare_all(x: Solved) -> float:
    """The worst difference of all roads from the oracle."""
    expected = oracle(x)
    found = [0.0]
    for formalism in FORMALISMS:
        y = Solved(x.sample, formalism)
        for back_end in BACK_ENDS:
            road = accelerations(y, back_end, dense=formalism == "maximal")
            found.append(relative_difference(road, expected))
    return max(found)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_all_roads_on_ten_random_mechanisms(block, worst, c_compiler):
    redrawn, found = 0, []
    for seed in range(BLOCK * block, BLOCK * (block + 1)):
        s = draw(1000 + seed, bodies=(2, 5), loops=(0, 2))
        redrawn += s.redrawn
        found.append(compare_all(Solved(s)))
    print(f"{BLOCK} mechanisms, {redrawn} states redrawn, worst difference {max(found):.1e}")
    worst(max(found))


@pytest.mark.slow
@pytest.mark.parametrize("path", shelf(), ids=lambda path: path.stem)
def test_all_roads_on_every_example(path, worst, c_compiler):
    worst(compare_all(Solved(example(path))))
