"""A page that simulates shows what its controls say: inputs, starts, shapes, events."""

import json
import re

import numpy as np
import pytest

import liaison
from liaison.errors import SimulationError
from liaison.expr import symbol

REST = """
parameter L = 0.5 m ;
parameter turn = 0.4 rad ;
input push = 0 N ;
input drive = 0 N ;
let block = body mass = 2 kg, center = [0, 0, 0] m, inertia = [1, 1, 1] kg*m^2,
  shape = cylinder(from = [0, 0, 0], to = 2*L*[cos(turn), sin(turn), 0], radius = 2 cm)
end ;
let X = join earth and block with prismatic axis = [1, 0, 0] end ;
apply motor force = push + drive end on X ;
"""
SPLIT = """
const Own = window.Worker, none = new Float64Array(0);
window.Worker = class extends Own {
  set onmessage(act) {
    super.onmessage = (event) => {
      const { data } = event;
      if (data.kind !== "rows" || !data.rows.events.length) return act(event);
      const { events } = data.rows;
      act({ data: { ...data, rows: { count: 0, t: none, q: none, v: none, series: {}, events } } });
      act({ data: { ...data, rows: { ...data.rows, events: [] } } });
    };
  }
};
"""
"""Events arrive in an answer of their own, without a row, as when little time fits an answer."""


def scene_in(path):
    return json.loads(re.search(r'id="scene">([^<]*)<', path.read_text(encoding="utf-8"))[1])


def opened(browser, path, script=""):
    context = browser.new_context(
        viewport={"width": 900, "height": 500}, offline=True, reduced_motion="reduce"
    )
    tab = context.new_page()
    tab.add_init_script(script)
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-ready]")
    return tab


def put(tab, label, value):
    field = tab.get_by_label(f"{label}, as a number")
    field.fill(value)
    field.press("Enter")


def rows_until(tab, name, end):
    tab.wait_for_function(f"() => liaison.simulation().values('{name}').t.at(-1) >= {end}")
    got = tab.evaluate(f"liaison.simulation().values('{name}')")
    return np.array(got["t"]), np.array(got["values"])


@pytest.fixture(scope="module")
def rest(tmp_path_factory):
    """A block that nothing moves yet."""
    mechanism = liaison.read(REST)
    run = liaison.simulate(mechanism, until=0.5, every=0.1)
    path = tmp_path_factory.mktemp("live") / "rest.html"
    liaison.page(run, mechanism, path, live=True)
    return mechanism, path


def test_an_input_acts_at_once_and_a_reset_takes_it_back(browser, rest):
    tab = opened(browser, rest[1])
    tab.evaluate("liaison.play()")
    rows_until(tab, "X", 0.5)
    now = tab.evaluate("liaison.time")
    put(tab, "push [N]", "4")
    tab.wait_for_function("() => liaison.simulation().values('X').values.at(-1) > 0.1")
    X, V = tab.evaluate("""["X", "X'"].map((x) => liaison.simulation().values(x))""")
    t, x, v = X["t"][-1], X["values"][-1], V["values"][-1]
    begin = t - v / 2  # at 2 m/s²
    assert x == pytest.approx((t - begin) ** 2, rel=1e-6)
    assert now - 0.1 < begin < now + 1.5
    tab.get_by_role("button", name="Reset").click()
    tab.wait_for_function("() => liaison.simulation().values('X').values[0] === 0")
    _, x = rows_until(tab, "X", 0.3)
    assert tab.get_by_label("push [N], as a number").input_value() == "0"
    assert not np.any(x)
    tab.context.close()


def test_inputs_by_the_address(browser, rest):
    tab = opened(browser, rest[1], "location.hash ||= '#push=4&L=0.6&X=1&Y=2&turn=much';")
    tab.evaluate("liaison.play()")
    tab.wait_for_function("() => liaison.simulation().parameters.L === 0.6")
    t, X = rows_until(tab, "X", 0.3)
    np.testing.assert_allclose(X, 1 + t**2, atol=1e-8)
    assert tab.get_by_label("push [N], as a number").input_value() == "4"
    assert tab.locator(".controls-live .empty").inner_text() == (
        "This page has no use for Y=2, turn=much of its address."
    )
    tab.context.close()


def test_shapes_beyond_what_a_page_knows(browser, rest):
    tab = opened(browser, rest[1])
    notice = tab.locator(".controls-live .empty")
    place = "liaison.scene.bodies.find((x) => x.name === 'block').pieces[0].place"
    # numbers on a line go on beyond the slider
    put(tab, "L [m]", "2")
    tab.wait_for_function("() => liaison.simulation().parameters.L === 2")
    at = [2 * np.cos(0.4), 2 * np.sin(0.4), 0]
    np.testing.assert_allclose(tab.evaluate(place), at, atol=1e-5)
    assert notice.is_hidden()
    # a length and the angle it is turned by do not add up
    assert scene_in(rest[1])["crossed"] == [["L", "turn"]]
    put(tab, "turn [rad]", "0.5")
    tab.wait_for_function("() => liaison.simulation().parameters.turn === 0.5")
    assert "follow L, turn one by one" in notice.inner_text()
    put(tab, "L [m]", "0.5")
    tab.wait_for_function("() => liaison.simulation().parameters.L === 0.5")
    assert notice.is_hidden()
    # an arc is not known beyond its ends
    put(tab, "turn [rad]", "2")
    tab.wait_for_function("() => liaison.simulation().parameters.turn === 2")
    assert notice.inner_text() == (
        "Some shapes are drawn for the nearest value of turn that this page knows."
    )
    tab.context.close()


def test_events_without_a_row_are_kept(browser, examples, tmp_path):
    mechanism, path = liaison.read(examples / "contact/stops.lsd"), tmp_path / "stops.html"
    run = liaison.simulate(mechanism, until=1, every=0.02)
    liaison.page(run, mechanism, path, live=True)
    tab = opened(browser, path, SPLIT)
    tab.get_by_label("Speed").select_option("5")
    tab.evaluate("liaison.play()")
    rows_until(tab, "A", 1.0)
    tab.wait_for_function(f"() => liaison.scene.events.count >= {len(run.events)}")
    name = tab.evaluate("liaison.scene.contacts[0].name")
    first = next(x.t for x in run.events if x.what == "impact" and x.name == name)
    where = "(t) => { liaison.pause(); liaison.seek(t); return liaison.contact(0).state; }"
    assert tab.evaluate(where, first + 0.02) == "impact"
    tab.context.close()


def test_a_page_goes_on_as_its_run_did(browser, tmp_path):
    mechanism, path = liaison.read(REST), tmp_path / "run.html"
    inputs = {"push": "4 N", "drive": 6 * symbol("t")}
    chosen = {"start": {"X": 1, "X'": -1}, "parameters": {"L": 0.6}, "inputs": inputs}
    run = liaison.simulate(mechanism, until=0.5, every=0.1, **chosen)
    liaison.page(run, mechanism, path, live=True)
    tab = opened(browser, path)
    tab.evaluate("liaison.play()")
    t, X = rows_until(tab, "X", 0.3)
    np.testing.assert_allclose(X, 1 - t + t**2 + t**3 / 2, atol=1e-8)
    assert tab.get_by_label("push [N], as a number").input_value() == "4"
    assert tab.get_by_label("drive [N], as a number").count() == 0
    tab.context.close()


def test_points_of_a_study_open_their_own_runs(browser, tmp_path):
    study = liaison.study(
        liaison.read(REST), vary={"push": [2.0, 4.0]}, measure={"last": "final(X)"}, until=1,
        inputs={"drive": 6.0},
    )  # fmt: skip
    study.save_page(tmp_path / "study.html", live=True)
    tab = opened(browser, tmp_path / "study.live.html", "location.hash ||= '#push=4';")
    tab.evaluate("liaison.play()")
    tab.wait_for_function("() => liaison.simulation().values('X').values.at(-1) > 0")
    t, X = rows_until(tab, "X", 1.0)
    np.testing.assert_allclose(X, 2.5 * t**2, atol=1e-8)
    assert study["last"][1] == pytest.approx(2.5)
    tab.context.close()


def test_an_input_by_a_python_function_is_rejected(tmp_path):
    mechanism = liaison.read(REST)
    run = liaison.simulate(mechanism, until=0.1, inputs={"push": (0.01, lambda t, state: 1.0)})
    with pytest.raises(SimulationError, match="'push' came from a Python function"):
        liaison.page(run, mechanism, tmp_path / "a.html", live=True)
