"""The generation algorithm of PA, step by step, against Newton and Euler."""

import numpy as np
import pytest

import liaison
from liaison.analyse.compare.compare import exact_mechanism
from liaison.analyse.compare.equality import prove
from liaison.analyse.compare.positions import assembled_position
from liaison.equations.setting import setting_of
from liaison.equations.transform.generation import _Algorithm, generation
from liaison.expr import as_expr, evaluate, symbol
from liaison.expr.reading.simplify import vanishes_exactly
from liaison.spatial.arrays import dot
from liaison.tree import assemble, span

EXAMPLES = [
    "pendulum.lsd", "four_bar.lsd", "satellite.lsd", "arm7.urdf", "stewart.lsd", "rolling_disc.lsd",
    "cam.lsd", "excavator.lsd", "spinning_top.lsd",
]  # fmt: skip


def exact_tree(name):
    return span(exact_mechanism(liaison.read(f"examples/{name}")), exact=True)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_proved_equal_to_newton_and_euler(name):
    tree = exact_tree(name)
    made = {"generation": generation(tree).equations}
    verdict = prove(liaison.newton_euler(tree), made, position=assembled_position(tree))
    assert verdict["generation"].equal
    assert verdict["generation"].is_proved


def test_bodies_of_the_satellite_have_the_document_s_matrices():
    # PA, steps (2): the arms have none, the satellite's is diagonal, the reflector's has no J of
    # its own
    steps = generation(exact_tree("satellite.lsd")).steps
    entries = steps[1].entries
    assert {name.partition("[")[0] for name in entries} == {"𝓜_satellite", "𝓜_reflecteur"}
    assert not any(name.startswith("𝓜_satellite[1,4") for name in entries)
    assert str(entries["𝓜_satellite[1,1]"]) == "satellite.mass"


def test_blocks_of_bodies_are_symmetric_with_their_own_mass():
    # PA types the second row of a block with a mass of no body, and J outside of it
    entries = generation(exact_tree("satellite.lsd")).steps[1].entries
    body = "𝓜_reflecteur"
    for i in range(3):
        for j in range(3, 6):
            upper, lower = (
                entries.get(f"{body}[{k}]") for k in (f"{i + 1},{j + 1}", f"{j + 1},{i + 1}")
            )
            assert (upper is None) == (lower is None)
            assert upper is None or vanishes_exactly(as_expr(upper - lower))
    assert any(name.startswith(f"{body}[5,") for name in entries)


def test_the_search_is_breadth_first():
    found = generation(exact_tree("four_bar.lsd"))
    assert found.order == ("crank", "rocker", "coupler")
    assert "Ψ = Ψ_coupler Ψ_rocker Ψ_crank" in found.steps[5].laws


def test_the_constraint_matrix_of_bodies_times_psi_is_that_of_coordinates():
    tree = exact_tree("four_bar.lsd")
    setting = setting_of(tree, regroup=False)
    made = _Algorithm(setting)
    made.pass_through(range(len(setting.tree.nodes)))
    state = assemble(tree)
    values = dict(zip(setting.symbols.q, state.q.tolist(), strict=True))
    values |= {symbol(x.name): float(x.value) for x in tree.mechanism.parameters}
    G, found = setting.closures().G, made.constraints()
    for k in range(2):
        for j in range(3):
            entry = sum(as_expr(dot(row, made.psi[i][:, j])) for i, row in found[k].items())
            wanted = evaluate([G.get((k, j), as_expr(0))], values)[0]
            assert float(evaluate([as_expr(entry)], values)[0]) == pytest.approx(float(wanted))


def test_each_step_prints():
    found = generation(exact_tree("pendulum.lsd"))
    assert [step.number for step in found.steps] == list(range(1, 9))
    text = str(found)
    assert "(6) passage matrix Ψ, breadth first" in text
    assert "no loop: M q̈ = S + F is all" in text
    assert r"\begin{aligned}" in found.to_latex()
    # the last equation: ⅓ m l² A'' = −½ m g l sin A
    values = dict.fromkeys(found.equations.symbols.p, 1.0)
    values |= {found.equations.symbols.q[0]: np.pi / 2, found.equations.symbols.v[0]: 2.0}
    (M,), (F,) = found.equations.dynamics.M.values(), found.equations.dynamics.f
    assert float(evaluate([M], values)[0]) == pytest.approx(1 / 3)
    assert float(evaluate([F], values)[0]) == pytest.approx(-9.81 / 2)
