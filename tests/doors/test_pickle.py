"""Everything public can be pickled: what is read back answers as what was written."""

import pickle

import numpy as np
import pytest

import liaison
from liaison.errors import ProgramError

RESULTS = {
    "check": lambda m: liaison.check(m),
    "mobility": lambda m: liaison.mobility(m),
    "linearize": lambda m: liaison.linearize(m),
    "verify": lambda m: liaison.verify(m, until=0.05),
    "readable": lambda m: liaison.readable(m),
    "vector_equations": lambda m: liaison.vector_equations(m),
    "reduce": lambda m: liaison.reduce(m),
    "first_integrals": lambda m: liaison.first_integrals(m),
    "simulate": lambda m: liaison.simulate(m, until=0.05),
    "span": lambda m: liaison.span(m),
    "solutions": lambda m: liaison.solutions(m),
}


def copy(x):
    return pickle.loads(pickle.dumps(x))


@pytest.fixture(scope="module")
def pendulum():
    return liaison.read("examples/pendulum.lsd")


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_reads_back(name, pendulum):
    result = RESULTS[name](pendulum)
    again = copy(result)
    assert type(again) is type(result)
    assert str(again) == str(result) or name == "span"


def test_a_mechanism_reads_back(pendulum):
    assert copy(pendulum) == pendulum


@pytest.mark.parametrize("formalism", liaison.FORMALISMS)
def test_equations_of_every_formalism_read_back(formalism):
    equations = liaison.derive("examples/pendulum.lsd", formalism)
    assert copy(equations).text() == equations.text()


@pytest.mark.parametrize("back_end", [liaison.to_llvm, liaison.to_numpy])
def test_a_kernel_computes_the_same_bits(back_end):
    kernel = back_end(liaison.lower(liaison.derive("examples/double_pendulum.lsd")))
    again = copy(kernel)
    at = {"q": [0.3, -0.4], "v": [1.0, 2.0]}
    for entry in ("forward", "mass_matrix", "energy"):
        assert np.array_equal(again(entry, **at), kernel(entry, **at))


def test_a_stepper_goes_on_bit_for_bit():
    stepper = liaison.stepper("examples/contact/stick_slip.lsd")
    for _ in range(30):
        stepper.step(None, 0.05)
    again = copy(stepper)
    for _ in range(30):
        ours, theirs = again.step(None, 0.05), stepper.step(None, 0.05)
        assert (ours.t, ours.q.tolist(), ours.v.tolist()) == (
            theirs.t,
            theirs.q.tolist(),
            theirs.v.tolist(),
        )
    assert again.modes == stepper.modes


def test_a_kernel_of_loops_over_bodies_says_why_not():
    kernel = liaison.compile("examples/double_pendulum.lsd")
    kernel.recipe = None
    with pytest.raises(ProgramError, match="cannot be pickled"):
        pickle.dumps(kernel)
