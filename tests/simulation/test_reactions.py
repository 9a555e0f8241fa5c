"""Reactions along a run: what is determined is the same whatever is cut; the rest is marked."""

import importlib.util

import numpy as np
import pytest

from liaison import derive
from liaison.equations import maximal, newton_euler
from liaison.formats.read import read
from liaison.numeric import State
from liaison.program import to_llvm
from liaison.program.lower import lower
from liaison.simulation import simulate
from liaison.spatial import quaternion_of
from liaison.tree import assemble, span

PLANAR = np.array([1, 1, 0, 0, 0, 1], dtype=bool)
"""Moments across the hinge's axis z and the force along it: nothing in a plane fixes them."""


def reactions(tree, formalism=newton_euler):
    kernel = to_llvm(lower(formalism(tree)))
    state = assemble(tree)
    if formalism is maximal:
        state = on_bodies(tree, state, kernel)
    run = simulate(kernel, state, 1e-3, step=1e-3, series=("reactions",))
    series = run.series["reactions"]
    mask = series.undetermined
    mask = np.zeros(series.values.shape, dtype=bool) if mask is None else mask
    return {x: (series.values[:, k], mask[:, k]) for k, x in enumerate(series.axes["joint"])}


def on_bodies(tree, state, kernel):
    """The same state, every body by its pose and its twist; angles that are kept as they are."""
    poses = to_llvm(lower(newton_euler(tree)))
    found = {x.name: y for x, y in zip(state.labels["q"], state.q, strict=True)}
    found |= {x.name: y for x, y in zip(state.labels["v"], state.v, strict=True)}
    h = 1e-6
    bodies = {d: poses.call("poses", q=state.q + d * state.v, v=state.v) for d in (0, h, -h)}
    for name, here in bodies[0].items():
        R, p = here[:9].reshape(3, 3), here[9:]
        rate = (bodies[h][name] - bodies[-h][name]) / (2 * h)
        spin = R.T @ rate[:9].reshape(3, 3)
        twist = [spin[2, 1], spin[0, 2], spin[1, 0], *(R.T @ rate[9:])]
        places = ("x", "y", "z", "qw", "qx", "qy", "qz")
        speeds = ("wx", "wy", "wz", "vx", "vy", "vz")
        found |= {f"free {name}.{x}": y for x, y in zip(places, [*p, *quaternion_of(R)])}
        found |= {f"free {name}.{x}": y for x, y in zip(speeds, twist)}
    labels = kernel.program.labels
    q, v = (np.array([found[x.name] for x in labels[part]], dtype=float) for part in "qv")
    return State(0.0, q, v, {x: labels[x] for x in "qv"})


@pytest.fixture(scope="module")
def four_bar(examples):
    return read(examples / "four_bar.lsd")


@pytest.mark.parametrize("cut", ["A", "B", "C", "D"])
def test_a_planar_loop_leaves_three_components_of_each_hinge_open(four_bar, cut):
    for _, mask in reactions(span(four_bar, cuts=[cut])).values():
        assert np.all(mask == PLANAR)


def test_what_is_determined_is_the_same_whatever_is_cut(four_bar):
    found = [reactions(span(four_bar, cuts=[cut])) for cut in "ABCD"]
    for name, (values, mask) in found[0].items():
        for other in found[1:]:
            difference = np.abs(values - other[name][0])[~mask]
            assert np.max(difference) < 1e-8 * np.max(np.abs(values))


def test_the_oracle_leaves_the_same_components_open(four_bar):
    """Six velocities a body: there the rows depend on each other, none vanishes."""
    tree = span(four_bar)
    mine, oracle = reactions(tree), reactions(tree, maximal)
    for name, (values, mask) in mine.items():
        assert np.all(oracle[name][1] == mask)
        # the speeds of the bodies are differences, good to 1e-9
        assert oracle[name][0][0][~mask[0]] == pytest.approx(values[0][~mask[0]], abs=1e-5)


def test_a_chain_leaves_nothing_open(examples):
    tree = span(read(examples / "double_pendulum.lsd"))
    assert not any(mask.any() for _, mask in reactions(tree).values())


def test_a_flat_position_leaves_more_open_and_its_reactions_are_finite(examples):
    """All rods on one line: forces along it are not determined while it lasts."""
    spec = importlib.util.spec_from_file_location("n_four_bar", examples / "n_four_bar.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    kernel = to_llvm(lower(newton_euler(span(module.n_four_bar(2)))))
    labels = kernel.program.labels
    signs = np.array([-1.0 if x.name.startswith("B") else 1.0 for x in labels["q"]])
    state = State(0.0, signs * np.pi / 2, signs, {x: labels[x] for x in "qv"})
    run = simulate(kernel, state, 0.1, step=1e-3, series=("reactions", "lam"))
    series = run.series["reactions"]
    opened = np.count_nonzero(series.undetermined, axis=(1, 2))
    assert opened[0] > opened[-1] == 3 * len(series.axes["joint"])
    assert np.all(np.isfinite(series.values))
    assert run.series["lam"].undetermined[0].any()
    assert not run.series["lam"].undetermined[-1].any()


@pytest.mark.parametrize("way", ["lagrange_reduced", "eliminate"])
def test_equations_without_multipliers_have_the_same_reactions(four_bar, way):
    """Multipliers follow from the equations before the closures were eliminated."""
    tree = span(four_bar)
    expected = reactions(tree)
    if way == "eliminate":
        treatment = {closure.joint.name: way for closure in tree.closures}
        made = derive(four_bar, formalism="lagrange", treatment=treatment)
    else:
        made = derive(four_bar, formalism=way)
    kernel, state = to_llvm(lower(made)), assemble(tree)
    run = simulate(kernel, state, 1e-3, step=1e-3, series=("reactions", "lam"))
    for k, joint in enumerate(run.series["reactions"].axes["joint"]):
        values, mask = expected[joint]
        found = run.series["reactions"].values[:, k]
        np.testing.assert_allclose(found[~mask], values[~mask], atol=1e-8)
    assert np.abs(run["lam"]).max() > 0.5
