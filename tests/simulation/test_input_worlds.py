"""Inputs of worlds by shape: what every array means, and that none is read beyond its end."""

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.formats import read_lsd
from liaison.simulation.worlds.arguments import inputs_of

MOTORS = """
input F = 0 N ; input G = 0 N ;
let a = body mass = 1 kg, inertia = 1 g*m^2 end ;
let b = body mass = 2 kg, inertia = 1 g*m^2 end ;
let X = join earth and a with prismatic axis = [1, 0, 0] end ;
let Y = join earth and b with prismatic axis = [1, 0, 0] end ;
apply motor force = F end on X ; apply motor force = G end on Y ;
output pull = F ;
"""
ROW = np.array([[2.0, 3.0]])
H = 1e-3


def motors(count=4):
    return liaison.worlds(read_lsd(MOTORS), count, step=H, device="processor")


@pytest.mark.parametrize("inputs", [ROW, ROW[0], np.repeat(ROW[..., None], 4, axis=2)])
def test_a_table_of_one_row_holds_for_every_world(inputs):
    """v = F/m t: 2 m/s and 1.5 m/s after 1 s."""
    worlds = motors()
    worlds.step(1000, inputs=inputs)
    assert worlds.v == pytest.approx(np.repeat([[2.0], [1.5]], 4, axis=1))


@pytest.mark.parametrize("inputs", [ROW, np.repeat(ROW[..., None], 4, axis=2)])
def test_simulate_takes_the_only_row_of_a_table(inputs):
    runs = motors().simulate(1000, every=500, inputs=inputs, series=("outputs",))
    assert runs.v[:, -1] == pytest.approx(np.repeat([[2.0, 1.5]], 4, axis=0))
    # the first record knows of them, too
    assert np.all(runs.series["outputs"][0][..., 0] == 2.0)


def test_the_derivative_takes_the_only_row_of_a_table():
    worlds = motors()
    assert np.array_equal(worlds.derivatives(inputs=ROW).B, worlds.derivatives(inputs=ROW[0]).B)
    assert worlds.derivatives(inputs=ROW).B[2] == pytest.approx(np.repeat([[H], [0.0]], 4, axis=1))


# shape, inputs, worlds -> rows of a table (0: they hold), whether each world has its own
SHAPES = {
    ((2,), 2, 4): (0, False),
    ((2, 4), 2, 4): (0, True),
    ((1, 2), 2, 4): (1, False),
    ((3, 2), 2, 4): (3, False),
    ((1, 2, 4), 2, 4): (1, True),
    ((3, 2, 4), 2, 4): (3, True),
    # both (inputs, worlds) and (rows, inputs): the former
    ((2, 2), 2, 2): (0, True),
    ((3, 2), 2, 2): (3, False),
    ((1, 2), 2, 1): (1, False),
    ((2, 1), 2, 1): (0, True),
    ((1, 4), 1, 4): (0, True),
    ((3, 1), 1, 4): (3, False),
    ((1, 1), 1, 1): (0, True),
}


@pytest.mark.parametrize(("shape", "nu", "count"), SHAPES)
def test_every_shape_means_one_thing(shape, nu, count):
    inputs = inputs_of(np.zeros(shape), nu, count, None)
    assert (inputs.rows, inputs.is_wide) == SHAPES[shape, nu, count]
    numbers = inputs.numbers
    # what kernels read at most is what there is
    assert numbers["rows"] * nu * (count if numbers["u_one"] else 1) == np.prod(shape)


@pytest.mark.parametrize("shape", [(4, 2), (3,), (0, 2), (0, 2, 4), (2, 3), (1, 2, 3), (1, 1, 2)])
def test_other_shapes_are_errors(shape):
    with pytest.raises(SimulationError, match="inputs have shape"):
        motors().step(1, inputs=np.zeros(shape))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("q", np.zeros((2, 3))),
        ("v", np.zeros((2, 4), dtype=np.float32)),
        ("v", np.zeros((4, 2)).T),
        ("t", np.zeros(3)),
        ("u", np.zeros((1, 2))),
        ("p", np.zeros(3)),
    ],
)
def test_an_array_in_the_place_of_another_is_looked_at(name, values):
    worlds = motors()
    setattr(worlds, name, values)
    with pytest.raises(SimulationError, match=rf"worlds\.{name} "):
        worlds.step(1)


def test_worlds_at_different_times_are_not_recorded_as_if_at_one():
    worlds = motors()
    worlds.reset([1], t=5.0)
    with pytest.raises(SimulationError, match=r"world 1 is at t = 5 s and others are at t = 0 s"):
        worlds.simulate(2)
    worlds.reset(t=5.0)
    assert worlds.simulate(2).t == pytest.approx([5.0, 5.001, 5.002])
