"""Sliders, Reset, assembly modes and camera of a page that simulates: a press with a stop.

One page is opened for all tests of this file. What it computes is compared with `simulate`.
"""

import numpy as np
import pytest

import liaison
from samples.pages import opened, until

PRESS = """
name = "press" ;
gravity = [0, 0, -9.81] m/s^2 ;
parameter l = 20 cm between 5 cm and 60 cm ;
parameter weight = 3 kg ;
parameter die = 25 cm ;
let crank = body mass = 4 kg, inertia = 40 g*m^2 end ;
let rod = body mass = 0.8 kg, center = [l/2, 0, 0], inertia = 2 g*m^2 end ;
let ram = body mass = weight, inertia = 1 g*m^2 end ;
let A = join earth and crank with revolute axis = [0, -1, 0] end ;
let B = join [6, 0, 0] cm @ crank and rod with revolute axis = [0, -1, 0] end ;
let P = join [l, 0, 0] @ rod and ram with revolute axis = [0, -1, 0] end ;
let Z = join earth and ram with prismatic axis = [0, 0, -1] end ;
input drive = 4 N*m ;
apply motor torque = drive end on A ;
apply spring stiffness = 400 N/m, rest = 30 cm end on [0, 0, -50] cm @ earth and ram ;
let anvil = require Z <= die with restitution = 0.3 end ;
start A = 0 deg ;
guess B = -100 deg ;
guess Z = 19 cm ;
"""
AGREES = 1e-7
"""Of angles [rad] against machine code with contraction, both at tolerances of 1e-8."""

COVERED = """
() => {
  const boxes = [...document.querySelectorAll(".labels .name:not([hidden])")]
    .map((x) => [x.textContent, x.getBoundingClientRect()]);
  const cut = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
    && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
  return [boxes.length, boxes.flatMap(([one, a], k) => boxes.slice(k + 1)
    .filter(([, b]) => cut(a, b)).map(([other]) => [one, other]))];
}
"""
RANGES = """
() => Object.fromEntries([...document.querySelectorAll(".knob input[type=range]")]
  .map((x) => [x.ariaLabel, [+x.min, +x.max, +x.value]]))
"""


@pytest.fixture(scope="module")
def mechanism():
    return liaison.read(PRESS)


@pytest.fixture(scope="module")
def tab(browser, mechanism, tmp_path_factory):
    path = tmp_path_factory.mktemp("controls") / "press.html"
    run = liaison.simulate(mechanism, until=0.3, every=0.02, series=("reactions",))
    liaison.page(run, mechanism, path, live=True, forces=True)
    with opened(browser, path, 560) as page:
        yield page


def put(tab, label: str, value: float) -> None:
    number = tab.get_by_role("spinbutton", name=f"{label}, as a number")
    number.fill(str(value))
    number.press("Enter")


def angles(tab) -> tuple[np.ndarray, np.ndarray]:
    """A over the first 0.3 s of the run that goes on."""
    tab.evaluate("liaison.play()")
    until(tab, "liaison.simulation().values('A').t.at(-1) >= 0.3")
    tab.evaluate("liaison.pause()")
    got = tab.evaluate("liaison.simulation().values('A')")
    return np.array(got["t"]), np.array(got["values"])


def test_no_text_of_the_picture_covers_another(tab):
    until(tab, f"({COVERED})()[0] > 4")
    assert tab.evaluate(COVERED)[1] == []


def test_a_slider_stays_within_bounds_and_follows_other_values(tab):
    put(tab, "l [m]", 0.01)
    until(tab, "document.querySelector('.error').textContent.includes('within its bounds 0.05')")
    put(tab, "l [m]", 0.2)
    put(tab, "weight [kg]", 50)
    until(tab, "liaison.simulation().parameters.weight == 50")
    ranges = tab.evaluate(RANGES)
    assert ranges["l [m]"] == [0.05, 0.6, 0.2]
    assert ranges["weight [kg]"] == [1.5, 50, 50]
    assert ranges["drive [N·m]"] == [-8, 8, 4], "a torque may stop and turn back"


def test_reset_is_of_all_values(tab, mechanism):
    """Of parameters, inputs, the assembly mode, and ranges."""
    put(tab, "weight [kg]", 50)
    put(tab, "drive [N·m]", -6)
    tab.get_by_role("combobox", name="Assembly mode").select_option(index=1)
    until(tab, "liaison.simulation().mode == 1")
    tab.get_by_role("button", name="Reset").click()
    until(tab, "liaison.simulation().mode == 0")
    ranges = tab.evaluate(RANGES)
    assert ranges["weight [kg]"] == [1.5, 4.5, 3]
    assert ranges["drive [N·m]"] == [-8, 8, 4]
    t, A = angles(tab)
    here = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120)
    np.testing.assert_allclose(A, here.resample(t)["A"], atol=AGREES)


def test_camera_positions_show_what_left_the_picture(tab):
    """In the other assembly mode the ram is above the crank."""
    tab.get_by_role("combobox", name="Assembly mode").select_option(index=1)
    until(tab, "liaison.simulation().mode == 1 && liaison.simulation().values('A').t.length > 1")
    tab.evaluate("liaison.seek(0)")
    assert abs(tab.evaluate("liaison.seen('ram')")[1]) > 0.8
    tab.get_by_role("slider", name="Time").focus()
    tab.keyboard.press("1")
    assert abs(tab.evaluate("liaison.seen('ram')")[1]) < 0.8
    tab.get_by_role("button", name="Reset").click()
    until(tab, "liaison.simulation().mode == 0")


def test_of_a_run_that_fails_at_its_start_nothing_else_is_shown(tab):
    tab.evaluate("liaison.play()")
    until(tab, "document.querySelector('.strips u') !== null")
    tab.evaluate("liaison.pause()")
    put(tab, "die [m]", 0.1)
    until(tab, "liaison.simulation().status == 'failed'")
    error = tab.locator(".error")
    assert "'anvil' is violated by 0.0908 m. Start where nothing penetrates." in error.inner_text()
    until(tab, "Number.isNaN(liaison.simulation().values('A').values[0])")
    until(tab, "document.querySelector('.strips :is(u, b)') === null")
    until(tab, "document.querySelector('.event-list').hidden")
    until(tab, "document.querySelector('.side li output').textContent == '–'")
