"""A page that simulates, by its keys alone: order of focus, time, sliders, assembly modes; axe.

One page is opened for all tests of this file. What it computes is compared with `simulate`.
"""

import os
from pathlib import Path

import numpy as np
import pytest

import liaison
from samples.pages import opened, until

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
FOCUSABLE = "button, input, select, textarea, summary, canvas, a[href], [tabindex='0']"
LISTED = f"""
() => [...document.querySelectorAll("{FOCUSABLE}")]
  .filter((x) => x.checkVisibility() && !x.disabled && x.tabIndex >= 0)
  .map((x, k) => {{ x.dataset.order = k; return x.getAttribute("aria-label") ?? x.textContent; }})
"""
FOCUSED = "document.activeElement.dataset?.order ?? ''"
VIOLATIONS = """
async () => (await axe.run(document, { resultTypes: ["violations"] })).violations
  .map((x) => [x.id, ...x.nodes.map((node) => node.html.slice(0, 120))])
"""
AGREES = 1e-7
"""Of angles [rad] against machine code with contraction, both at tolerances of 1e-8."""


@pytest.fixture(scope="module")
def mechanism(examples):
    return liaison.read(examples / "four_bar.lsd")


@pytest.fixture(scope="module")
def tab(browser, mechanism, tmp_path_factory):
    """The four-bar's page, offline; at its end nothing was asked of a network or reported."""
    path = tmp_path_factory.mktemp("keys") / "four_bar.html"
    liaison.page(liaison.simulate(mechanism, until=0.5, every=0.02), mechanism, path, live=True)
    with opened(browser, path) as page:
        yield page


def angles(tab) -> tuple[np.ndarray, np.ndarray]:
    """A over the first 0.2 s of the run that goes on."""
    tab.evaluate("liaison.play()")
    until(tab, "liaison.simulation().values('A').t.at(-1) >= 0.2")
    tab.evaluate("liaison.pause()")
    got = tab.evaluate("liaison.simulation().values('A')")
    return np.array(got["t"]), np.array(got["values"])


def tabbed(tab, label: str) -> None:
    """Goes to an element by the Tab key."""
    tab.evaluate("document.activeElement.blur()")
    for _ in range(80):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.getAttribute('aria-label')") == label:
            return
    pytest.fail(f"the Tab key does not reach {label!r}")


def test_every_control_is_reached_in_its_order(tab):
    # the list of events comes with the first of them, at 0.37 s
    tab.evaluate("liaison.play()")
    until(tab, "document.querySelector('select.events')?.checkVisibility()")
    tab.evaluate("liaison.pause()")
    names = tab.evaluate(LISTED)
    tab.evaluate("document.activeElement.blur()")
    order: list[str] = []
    while len(order) <= len(names):
        tab.keyboard.press("Tab")
        now = tab.evaluate(FOCUSED)
        if now == "" or now in order:
            break
        order.append(now)
    assert [int(x) for x in order] == list(range(len(names))), names


def test_time_by_keys(tab):
    tab.evaluate("document.activeElement.blur()")
    assert not tab.evaluate("liaison.playing")
    tab.keyboard.press("Space")
    until(tab, "liaison.playing && liaison.time > 0.1")
    tab.keyboard.press("Space")
    assert not tab.evaluate("liaison.playing")
    tab.keyboard.press("Home")
    assert tab.evaluate("liaison.time") == 0
    tab.keyboard.press(".")
    tab.keyboard.press(".")
    assert tab.evaluate("liaison.time") == pytest.approx(2 / 120, abs=1e-9)
    tab.keyboard.press(",")
    assert tab.evaluate("liaison.time") == pytest.approx(1 / 120, abs=1e-9)
    tab.keyboard.press("?")
    assert tab.locator("dialog").is_visible()
    tab.keyboard.press("Escape")
    assert not tab.locator("dialog").is_visible()


def test_a_slider_by_arrow_keys(tab, mechanism):
    tabbed(tab, "a [m]")
    for _ in range(3):
        tab.keyboard.press("ArrowRight")
    until(tab, "liaison.simulation().parameters.a > 0.1")
    tab.wait_for_timeout(200)
    a = tab.evaluate("liaison.simulation().parameters.a")
    assert a == float(tab.get_by_label("a [m]", exact=True).input_value())
    t, A = angles(tab)
    here = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120, parameters={"a": a})
    np.testing.assert_allclose(A, here.resample(t)["A"], atol=AGREES)


def test_the_other_assembly_mode(tab, mechanism):
    """The same crank, the other way to close: the triangle of coupler and rocker turned over."""
    tab.evaluate("liaison.simulation().begin({}, {}, 0)")
    until(tab, "Object.keys(liaison.simulation().parameters).length == 0")
    tabbed(tab, "Assembly mode")
    tab.keyboard.press("ArrowDown")
    until(tab, "liaison.simulation().mode == 1")
    t, A = angles(tab)
    mode = tab.evaluate("liaison.scene.modes[1].q")
    guess = {"B": mode[1], "D": mode[2]}
    here = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120, guess=guess)
    np.testing.assert_allclose(A, here.resample(t)["A"], atol=AGREES)
    own = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120)
    assert np.abs(own.resample(t)["D"] - here.resample(t)["D"]).min() > 0.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(tab, scheme):
    if not AXE.is_file():
        if os.environ.get("CI") == "true":
            pytest.fail("axe-core is missing: python web/front_end.py --tests")
        pytest.skip("axe-core is missing: python web/front_end.py --tests")
    tab.emulate_media(color_scheme=scheme)
    tab.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    assert tab.evaluate(VIOLATIONS) == []
    # a control without a name is seen
    tab.evaluate("document.body.append(Object.assign(document.createElement('input'), {id: 'x'}))")
    assert "label" in {x[0] for x in tab.evaluate(VIOLATIONS)}
    tab.evaluate("document.getElementById('x').remove()")
