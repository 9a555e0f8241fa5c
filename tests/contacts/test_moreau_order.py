"""Moreau and Jean's steps are of second order where nothing begins or ends: by exact motions."""

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd

FREE = """
gravity = [0, 0, -9.81] m/s^2 ;
let b = body mass = 2 kg, inertia = [1, 1, 1] kg*m^2 end ;
let F = join earth and b with free end ;
"""

SLIDE = """
gravity = [1, 0, -9.81] m/s^2 ;
let b = body mass = 1 kg, inertia = 1 kg*m^2 end ;
let F = join earth and b with free end ;
let c = contact b and earth with point {law} end ;
start F.vx = 2 m/s ;
"""


def stepped(text, h, until, **start):
    return liaison.simulate(read_lsd(text), until=until, step=h, method="moreau", start=start)


def rates_of(missed):
    """Orders between each two of errors at steps that are halved."""
    return np.log2(np.array(missed[:-1]) / np.array(missed[1:]))


def test_a_free_body_falls():
    """v = −g t exactly: nothing is closed and nothing touches."""
    run = stepped(FREE, 0.01, 0.1)
    assert run["F.z"] == pytest.approx(-9.81 / 2 * run.t**2, abs=1e-14)
    assert run.v[:, 5] == pytest.approx(-9.81 * run.t, abs=1e-13)
    assert np.abs(run.v[:, :5]).max() == 0


def test_a_spinning_body_keeps_its_line_at_second_order():
    """Its velocity is told in axes that turn with it."""
    text = FREE.replace("-9.81", "0")
    missed = []
    for h in (0.01, 0.005, 0.0025):
        run = stepped(text, h, 1.0, **{"F.wz": 5.0, "F.vx": 2.0})
        missed.append(np.abs(run.q[-1, :3] - [2, 0, 0]).max())
    assert missed[0] < 3e-3
    assert rates_of(missed) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("name", ["rolling_disc", "bicycle"])
def test_what_rolls_is_of_second_order(examples, name):
    model = examples / f"{name}.lsd"
    truth = liaison.simulate(model, until=0.2, rtol=1e-11, atol=1e-12, every=[0.2]).q[-1]
    missed = []
    for h in (0.004, 0.002):
        run = liaison.simulate(model, until=0.2, step=h, method="moreau", every=[0.2])
        missed.append(np.abs(run.q[-1] - truth).max())
    assert rates_of(missed) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize(
    "law",
    ["friction = 0.05, viscous = 0.7 N*s/m", "friction = 0.3, static = 0.5, stribeck = 0.5 m/s"],
)
def test_friction_that_goes_with_speed_is_of_second_order(law):
    """From the first step on, where the contact is closed already."""
    text = SLIDE.format(law=law)
    truth = liaison.simulate(read_lsd(text), until=0.3, rtol=1e-11, atol=1e-12).q[-1]
    missed = [np.abs(stepped(text, h, 0.3).q[-1] - truth).max() for h in (0.01, 0.005, 0.0025)]
    assert missed[0] < 1e-5
    assert rates_of(missed) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("name", ["bricard_trihedral", "bennett"])
def test_rows_that_repeat_others_on_the_closures_only(name):
    """Midway they are off the closures and look independent; obeyed, they would turn it round."""
    path, end = f"examples/{name}.lsd", 0.06
    exact = liaison.simulate(path, until=end, rtol=1e-10, atol=1e-12)
    moved = np.max(np.abs(exact.q[-1] - exact.q[0]))
    errors = []
    for step in (4e-3, 2e-3, 1e-3):
        run = liaison.simulate(path, until=end, step=step, method="moreau")
        errors.append(np.max(np.abs(run.q[-1] - exact.q[-1])))
    assert errors[2] < 1e-4 * moved
    assert errors[2] < errors[0] / 3
    if name == "bennett":
        worlds = liaison.worlds(path, 1, step=1e-3, device="processor")
        worlds.step(60)
        np.testing.assert_allclose(np.ravel(worlds.q), run.q[-1], atol=1e-9)
