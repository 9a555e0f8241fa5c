"""Named parameters are inputs of the program: the same numbers as if they had been written in."""

from dataclasses import replace

import numpy as np
import pytest

from liaison.equations import FORMALISMS
from liaison.expr import symbol
from liaison.model import Body, Marker, Mechanism, Parameter
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import span
from samples import relative_difference, sample
from samples.derived import Solved

ROUNDING = 1e-9


class Named:
    """Takes numbers out of a description and gives them names."""

    def __init__(self) -> None:
        self.values: dict[str, float] = {}

    def __call__(self, x):
        if isinstance(x, int) or (isinstance(x, float) and x == 0):
            return x
        name = f"p{len(self.values)}"
        self.values[name] = float(x)
        return symbol(name)

    def body(self, body: Body) -> Body:
        inertia = [[0.0] * 3 for _ in range(3)]
        for i in range(3):
            for j in range(i + 1):
                inertia[i][j] = inertia[j][i] = self(body.inertia[i][j])
        return replace(body, mass=self(body.mass), com=tuple(map(self, body.com)), inertia=inertia)

    def marker(self, marker: Marker) -> Marker:
        return replace(marker, p=tuple(map(self, marker.p)))


def with_names(m: Mechanism) -> tuple[Mechanism, dict[str, float]]:
    """The mechanism with its masses, inertias and places as parameters, of no value yet."""
    named = Named()
    bodies = (m.bodies[0], *map(named.body, m.bodies[1:]))
    joints = tuple(
        replace(j, predecessor=named.marker(j.predecessor), successor=named.marker(j.successor))
        for j in m.joints
    )
    parameters = (*m.parameters, *(Parameter(name) for name in named.values))
    return replace(m, bodies=bodies, joints=joints, parameters=parameters), named.values


@pytest.mark.parametrize("formalism", ["newton_euler", "lagrange", "maximal"])
@pytest.mark.parametrize("seed", range(8))
def test_parameters_may_be_given_after_deriving(seed, formalism):
    s = sample(seed)
    mechanism, values = with_names(s.mechanism)
    kernel = to_numpy(lower(FORMALISMS[formalism](span(mechanism))))
    labels = [label.name for label in kernel.program.labels["p"]]
    p = [values.get(name, default) for name, default in zip(labels, kernel.program.defaults["p"])]
    plain = Solved(s, formalism)
    found = kernel.call("terms", **s.at(kernel.program), p=p)
    for key in ("M", "G", "f", "gamma"):
        assert relative_difference(found[key], np.ravel(plain.terms[key])) < ROUNDING
    energy = kernel("energy", **s.at(kernel.program), p=p)
    assert relative_difference(energy, np.concatenate(list(plain.call("energy").values()))) < 1e-9


def test_a_parameter_without_value_is_not_a_number():
    mechanism, _ = with_names(sample(0).mechanism)
    kernel = to_numpy(lower(FORMALISMS["newton_euler"](span(mechanism))))
    assert np.isnan(kernel.call("forward", **sample(0).at(kernel.program))["vdot"]).any()
