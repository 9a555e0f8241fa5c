"""Four parametrizations of one mechanism: counts, and the same accelerations and motion."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.analyse.compare.compare import exact_mechanism
from liaison.analyse.compare.equality import prove
from liaison.analyse.compare.parametrizations import parametrizations
from liaison.analyse.compare.positions import assembled_position
from liaison.errors import NamingError
from liaison.model import Start
from liaison.tree import assemble, span
from liaison.tree.cartesian import PARAMETRIZATIONS, parametrized
from samples import draw, some

EQUAL = 1e-11
"""Relative difference of accelerations: rounding times the condition number, below 1e4."""


@pytest.mark.parametrize("name", ["slider_crank", "four_bar"])
def test_the_document_s_table(name):
    table = liaison.parametrizations(f"examples/{name}.lsd", until=0.1)
    counts = [(x.parameters, x.constraints, x.kept) for x in table.columns]
    assert counts == [(1, 0, 0), (3, 2, 0), (4, 3, 0), (9, 8, 0)]
    assert all(x.difference < EQUAL for x in table.columns)
    # what the document says in words
    minimal, joint, _, cartesian = table.columns
    assert minimal.degree > joint.degree >= cartesian.degree
    assert joint.operations < cartesian.operations
    assert (minimal.reactions, cartesian.reactions) == ((0, 4), (4, 4))
    assert minimal.drift < joint.drift


@pytest.mark.parametrize("formalism", some(["hamilton", "newton_euler", "kane", "gibbs_appell"], 1))
@pytest.mark.parametrize("name", ["four_bar", "rolling_disc"])
def test_every_formalism_takes_every_parametrization(name, formalism):
    table = liaison.parametrizations(f"examples/{name}.lsd", formalism=formalism, until=0.01)
    assert not [x.why_not for x in table.columns if x.why_not]
    assert all(x.difference < EQUAL for x in table.columns)


@pytest.mark.parametrize("name", some(["slider_crank", "cam", "bennett"], 2))
def test_the_motion_is_the_same(name):
    mechanism = liaison.read(f"examples/{name}.lsd")
    runs = []
    for kind in PARAMETRIZATIONS:
        kernel = liaison.to_llvm(liaison.lower(liaison.derive(mechanism, parametrization=kind)))
        state = assemble(parametrized(mechanism, kind))
        runs.append(liaison.simulate(kernel, state, until=0.3, every=0.1, rtol=1e-11, atol=1e-13))
    for body in mechanism.bodies[1:]:
        for part in (f"{axis}.{column}" for axis in "xyz" for column in ("p", "ex", "ey")):
            path = [run[f"poses.{body.name}.{part}"] for run in runs]
            assert np.allclose(path[1:], path[0], atol=2e-8)


def test_what_cannot_be_said_is_told():
    with pytest.raises(NamingError, match="parametrization"):
        liaison.parametrizations("examples/four_bar.lsd", names=["polar"])
    table = liaison.parametrizations("examples/four_bar.lsd", names=["joint"], until=0.01)
    with pytest.raises(NamingError, match="'minimal'"):
        table["minimal"]


@pytest.mark.slow
def test_loops_in_space():
    table = liaison.parametrizations("examples/double_wishbone.lsd", until=0.01)
    counts = [(x.parameters, x.constraints) for x in table.columns]
    assert counts[:3] == [(2, 0), (6, 4), (15, 13)]
    assert counts[3][0] == 6 * 4
    assert all(x.difference < EQUAL for x in table.columns)


@pytest.mark.parametrize("seed", some([3, 8, 10], 1))
def test_rare_joints_relations_and_loads(seed):
    # ball with a pin, rods, screws, lines on planes, … with springs, motors and relations on them
    drawn = draw(seed, bodies=(2, 3))
    starts = tuple(Start(label, x) for label, x in {**drawn.q, **drawn.v}.items())
    mechanism = replace(drawn.mechanism, starts=starts)
    table = parametrizations(
        mechanism, ["joint", "cartesian"], formalism="newton_euler", until=0.001
    )
    assert table["cartesian"].parameters == 6 * (len(mechanism.bodies) - 1)
    assert table["cartesian"].difference < EQUAL


@pytest.mark.parametrize("formalism", ["lagrange", "kane", "boltzmann_hamel"])
@pytest.mark.parametrize("name", ["four_bar", "rolling_disc"])
def test_minimal_equations_are_proved_equal_to_those_with_multipliers(name, formalism):
    mechanism = exact_mechanism(liaison.read(f"examples/{name}.lsd"))
    tree = span(mechanism, exact=True)
    made = liaison.derive(mechanism, formalism, exact=True, parametrization="minimal")
    position = assembled_position(tree)
    verdict = prove(liaison.newton_euler(tree), {"minimal": made}, position=position)["minimal"]
    assert verdict.equal
    assert verdict.is_proved
