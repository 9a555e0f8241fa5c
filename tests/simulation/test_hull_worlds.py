"""Worlds of mechanisms with hulls: places found by loops, by the code of a GPU on a processor."""

from pathlib import Path

import numpy as np
import pytest

import liaison as li
from liaison.errors import SimulationError

EXAMPLES = Path(__file__).parents[2] / "examples"
H = 1e-3

CORNERS = np.random.default_rng(7).normal(size=(2, 12, 3))
HULLS = [li.Hull(x * [0.2, 0.14, 0.1] / np.linalg.norm(x, axis=1)[:, None]) for x in CORNERS]
START = {"F0.z": 0.19, "F1.z": 0.42, "F1.x": 0.03, "F0.wx": 2.0, "F1.wy": -3.0, "F1.vz": -1.0}


def falling(friction=0.3):
    """Two hulls that fall on each other and on the ground."""
    bodies = [li.body(f"b{k}", shapes=x, density=500) for k, x in enumerate(HULLS)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    law = {"friction": friction}
    one, other = bodies
    contacts = [
        li.contact(one, other, "hull", points=HULLS[0], hull=HULLS[1], **law),
        li.contact(one, li.ground, "hull", points=HULLS[0], **law),
        li.contact(other, li.ground, "hull", points=HULLS[1], **law),
    ]
    return li.mechanism(*joints, *contacts, li.gravity((0, 0, -9.81)))


def test_hulls_move_as_in_a_run_by_moreau_steps():
    """Places, keys and rows are those of the processor's loops: equal to rounding after a step.

    Impacts make rounding grow: after them, 1e-9.
    """
    one = falling()
    run = li.simulate(one, until=150 * H, step=H, every=H, method="moreau", start=START)
    worlds = li.worlds(one, 2, step=H, device="processor", start=START)
    worlds.step(1)
    assert np.max(np.abs(worlds.q[:, 0] - run.q[1])) < 1e-12
    assert np.max(np.abs(worlds.v[:, 0] - run.v[1])) < 1e-12
    worlds.step(149)
    assert worlds.lost == 0
    assert worlds.contacts.min() >= 2
    assert worlds.residuals.max() < 1e-10
    assert worlds.q == pytest.approx(np.tile(run.q[-1][:, None], 2), abs=1e-9)
    with pytest.raises(SimulationError, match="hull"):
        worlds.derivatives()


def test_single_precision_refuses_what_it_does_not_find():
    """Two bodies with edges: their places were off by a hundredth of their size, unsaid."""
    with pytest.raises(SimulationError, match="single"):
        li.worlds(falling(), 2, step=H, device="processor", precision="single")
    bodies = [li.body(f"b{k}", shapes=x, density=500) for k, x in enumerate(HULLS)]
    joints = [li.join(li.ground, x, "free", name=f"F{k}") for k, x in enumerate(bodies)]
    scene = li.collide(li.mechanism(*joints), planes=[(0, 0, 1, 0)], start=START)
    with pytest.raises(SimulationError, match="single"):
        li.worlds(scene, 2, step=H, device="processor", precision="single")


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "near"), [("double", 1e-12), ("single", 1e-3)])
def test_a_box_comes_to_rest_on_hills(precision, near):
    """A height field, whose corners and ridges are tables of the module."""
    path = EXAMPLES / "contact" / "box_on_hills.lsd"
    run = li.simulate(path, until=0.6, step=5e-3, method="moreau")
    worlds = li.worlds(path, 2, step=5e-3, device="processor", precision=precision)
    worlds.step(120)
    assert worlds.lost == 0
    assert worlds.q[:, 0] == pytest.approx(run.q[-1], abs=near)


@pytest.mark.slow
def test_a_study_of_hulls_is_the_same_on_a_device():
    values = [
        li.study(
            EXAMPLES / "contact" / "box_on_hills.lsd", vary={"F.z": "20 cm .. 30 cm"},
            measure={"end": "at(F.z, 0.3 s)"}, until=0.3, step="2 ms", method="moreau", count=4,
            device=device,
        )["end"]
        for device in ("cpu", "processor")
    ]  # fmt: skip
    assert values[0] == pytest.approx(values[1], abs=1e-12, nan_ok=True)
