"""A page that simulates: the browser's states are those of `simulate`; sliders; errors in words."""

import json

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError, SimulationError
from liaison.view.pages.document import _geometry
from liaison.view.scene import sampled
from samples.pages import until

COVERED = """() => {
  const canvas = document.querySelector("canvas[role=img]");
  const all = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  return [all.filter((x, k) => k % 4 === 3 && x > 0).length, canvas.width];
}"""
"""Pixels of the picture that are not empty, and its width."""


@pytest.fixture(scope="module")
def four_bar(examples):
    mechanism = liaison.read(examples / "four_bar.lsd")
    return mechanism, liaison.simulate(mechanism, until=0.5, every=0.02)


@pytest.fixture(scope="module")
def live_file(four_bar, tmp_path_factory):
    mechanism, run = four_bar
    path = tmp_path_factory.mktemp("live") / "four_bar.html"
    liaison.page(run, mechanism, path, live=True)
    return path


def test_a_live_page_of_the_four_bar_is_small(live_file):
    assert live_file.stat().st_size < 900_000


def column(tab, name: str, begins: float) -> tuple[np.ndarray, np.ndarray]:
    until(tab, f"liaison.simulation().values('A').t.at(-1) >= {begins}")
    got = tab.evaluate(f"liaison.simulation().values('{name}')")
    return np.array(got["t"]), np.array(got["values"])


def seen(tab, body: str) -> np.ndarray:
    """Where the middle of a body is in the picture, −1 to 1 to the right and upwards."""
    return np.array(tab.evaluate(f"liaison.seen('{body}')"))


def test_it_simulates_as_python_does(browser, live_file, four_bar):
    mechanism, _ = four_bar
    context = browser.new_context(
        viewport={"width": 900, "height": 500}, offline=True, reduced_motion="reduce"
    )
    tab = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    tab.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(live_file.as_uri())
    tab.wait_for_selector("[data-ready]")
    tab.evaluate("liaison.play()")
    t, A = column(tab, "A", 0.3)
    here = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120)
    np.testing.assert_allclose(A, here.resample(t)["A"], atol=1e-7)
    # a hand draws the coupler upwards, and lets go
    tab.evaluate("liaison.pause()")
    tab.wait_for_timeout(100)
    box = tab.locator(".view > canvas").bounding_box()
    scale = np.array([box["width"], box["height"]]) / 2
    at = scale * (1 + np.array([1, -1]) * seen(tab, "coupler")) + [box["x"], box["y"]]
    before = tab.evaluate("liaison.simulation().values('energy.T+U').values.at(-1)")
    tab.mouse.move(*at)
    tab.mouse.down()
    tab.mouse.move(at[0], at[1] - 120, steps=3)
    energy = "liaison.simulation().values('energy.T+U').values.at(-1)"
    until(tab, f"Math.abs({energy} - {before}) > 0.05")
    tab.mouse.up()
    # another length by its slider: the loops close again, and the crank is drawn shorter
    tab.get_by_label("a [m], as a number").fill("0.06")
    tab.get_by_label("a [m], as a number").press("Enter")
    until(tab, "liaison.simulation().parameters.a == 0.06")
    t, A = column(tab, "A", 0.2)
    here = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120, parameters={"a": 0.06})
    np.testing.assert_allclose(A, here.resample(t)["A"], atol=1e-7)
    crank = "liaison.scene.bodies.find((x) => x.name == 'crank').pieces"
    sizes = tab.evaluate(f"{crank}.filter((x) => !x.joint).map((x) => Math.max(...x.size))")
    assert max(sizes) == pytest.approx(0.08)
    # what is known of the mechanism
    tab.locator(".drawer summary").click()
    assert "finite mobility 1, proved" in tab.locator(".drawer pre").inner_text()
    assert tab.locator(".drawer math").count() >= 3
    # a length that cannot close: the error in words, and the run that was there stays
    tab.get_by_label("a [m], as a number").fill("5")
    tab.get_by_label("a [m], as a number").press("Enter")
    until(tab, "!document.querySelector('.error').hidden")
    assert "loops cannot close" in tab.locator(".error").inner_text()
    assert tab.evaluate("liaison.simulation().values('A').t.length") > 10
    assert complaints == []
    assert [x for x in asked if not x.startswith(("file:", "blob:", "data:"))] == []
    context.close()


def test_the_page_does_not_wait_for_its_pictures(browser, live_file):
    """Read back when they are done, not by the browser at the end of the task that drew them."""
    tab = browser.new_context(viewport={"width": 900, "height": 500}, offline=True).new_page()
    tab.goto(live_file.as_uri())
    tab.wait_for_selector("[data-ready]")
    tab.evaluate("liaison.play()")
    until(tab, "liaison.pictures().done > 2")
    browser.start_tracing(page=tab, categories=["cc", "gpu"])
    until(tab, f"liaison.pictures().done > {tab.evaluate('liaison.pictures().done') + 5}")
    events = json.loads(browser.stop_tracing())["traceEvents"]
    whole = [x for x in events if "dur" in x]
    updates, reads = (
        [(x["tid"], x["ts"], x["ts"] + x["dur"]) for x in whole if x["name"] == name]
        for name in ("LayerTreeHost::DoUpdateLayers", "GLES2::ReadPixels")
    )
    assert len(updates) > 3
    assert not any(a == b and c <= d < c_end for a, d, _ in reads for b, c, c_end in updates)
    # what is shown is the picture: bodies are in it, and move
    first, width = tab.evaluate(COVERED)
    assert first > 1000
    assert width > 300
    until(tab, f"({COVERED})()[0] != {first}")
    # at rest one more is drawn, with twice as many pixels across, and then none
    tab.evaluate("liaison.pause()")
    until(tab, f"({COVERED})()[1] == {2 * width}")
    count = tab.evaluate("liaison.pictures().begun")
    tab.wait_for_timeout(600)
    assert tab.evaluate("liaison.pictures().begun") == count
    tab.context.close()


def test_the_drawing_at_other_lengths_is_that_of_a_run_with_them(four_bar):
    mechanism, run = four_bar
    seen = sampled(run, 1.0, 30.0)
    changed = _geometry(seen, mechanism, 0.4, {"a": 0.06, "d": 0.4})
    other = liaison.simulate(mechanism, until=0.1, parameters={"a": 0.06, "d": 0.4})
    own = _geometry(sampled(other, 1.0, 30.0), mechanism, 0.4, {})
    assert changed.keys() == own.keys()
    moved = [x for x in own if own[x] != _geometry(seen, mechanism, 0.4, {})[x]]
    assert moved
    for path in own:
        np.testing.assert_allclose(changed[path], own[path], atol=1e-9)


def test_what_cannot_run_in_a_page_is_named(examples, four_bar, tmp_path):
    mechanism, run = four_bar
    with pytest.raises(LiaisonError, match="no reactions to draw"):
        liaison.page(run, mechanism, tmp_path / "a.html", live=True, forces=True)
    scene = liaison.read(examples / "pile.lsd")
    crowd = liaison.simulate(scene, until=0.01)
    with pytest.raises(SimulationError, match="cannot run in a module: a scene"):
        liaison.page(crowd, scene, tmp_path / "b.html", live=True)
    assert not list(tmp_path.iterdir())
