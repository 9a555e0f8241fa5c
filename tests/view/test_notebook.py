"""Motion in the cell of a notebook: frames that hold a whole page, sliders bound to Python."""

import sys
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import liaison
from liaison.errors import ArgumentError, MissingModule, NamingError, SimulationError
from liaison.view.notebook.animation import Animation
from liaison.view.notebook.frame import LEAST_PICTURES, MOST_POSES, inline_frame, sparse_fps
from liaison.view.notebook.slider import slider
from liaison.view.pages.html import front_end


class Frames(HTMLParser):
    """Attributes of every frame in a piece of HTML, and the names of all its elements."""

    def __init__(self, text):
        super().__init__()
        self.frames, self.tags = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "iframe":
            self.frames.append(dict(attrs))


@pytest.fixture(scope="module")
def pendulum(examples):
    return liaison.read(examples / "pendulum.lsd")


@pytest.fixture(scope="module")
def four_bar(examples):
    return liaison.read(examples / "four_bar.lsd")


@pytest.fixture(scope="module")
def swing(pendulum):
    return liaison.simulate(pendulum, until=0.2, every=0.02)


NASTY = '<!doctype html><p title="a & b">"</iframe><script>1 < 2 && 3</script>&amp;&quot;é'


def test_a_frame_holds_the_page_letter_by_letter():
    parsed = Frames(inline_frame(NASTY, 'x" onload="alert(1)', 300))
    (frame,) = parsed.frames
    assert parsed.tags == ["iframe"]
    assert frame["srcdoc"] == NASTY
    assert frame["title"] == 'x" onload="alert(1)'
    assert "onload" not in frame


def test_a_frame_cannot_reach_the_notebook():
    (frame,) = Frames(inline_frame("x", "t", 300)).frames
    assert "allow-same-origin" not in frame["sandbox"].split()


def test_a_run_shows_itself(swing, tmp_path):
    shown = swing.show(height=250)
    bundle = shown._repr_mimebundle_()
    (frame,) = Frames(bundle["text/html"]).frames
    assert frame["srcdoc"] == shown.page
    assert "<title>pendulum</title>" in shown.page
    assert "height:250px" in frame["style"]
    assert "\n" not in bundle["text/plain"]
    assert "pendulum, 0 to 0.2 s" in repr(shown)
    shown.save(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == shown.page


def test_a_run_from_a_file_is_shown_with_its_mechanism(swing, pendulum, tmp_path):
    swing.save(tmp_path / "run.nc")
    loaded = liaison.load(tmp_path / "run.nc")
    with pytest.raises(ArgumentError, match="does not know which mechanism moved"):
        loaded.show()
    assert "<title>pendulum" in loaded.show(pendulum).page
    assert loaded.with_mechanism(pendulum).mechanism is pendulum


def test_runs_of_kernels_and_scenes_know_their_mechanism(pendulum, examples):
    run = liaison.simulate(liaison.to_kernel(pendulum), until=0.01)
    assert run.mechanism is pendulum
    scene = liaison.simulate(examples / "pile.lsd", until=0.002)
    assert scene.mechanism.name == scene.name


def test_a_motion_by_drives_is_shown(four_bar):
    run = liaison.kinematic_run(four_bar, {"A": liaison.PI / 2 + liaison.t}, until=0.1, every=0.05)
    assert "<title>four bar" in run.show().page


def test_poses_are_evaluated_where_a_run_has_none(swing, pendulum):
    bare = replace(swing, series={})
    with_poses = replace(swing, series={"poses": swing.series["poses"]})
    assert bare.show(pendulum).page == with_poses.show(pendulum).page
    runs = liaison.simulate_batch(pendulum, until=0.1, start={"A": [0.1, 0.2]}, every=0.05)
    assert "<title>pendulum" in runs[1].show(pendulum).page


def test_a_run_of_another_mechanism_is_rejected(swing, four_bar):
    with pytest.raises(SimulationError, match="another mechanism"):
        replace(swing, series={}).show(four_bar)


@pytest.mark.parametrize("height", [0, 99, 10_000])
def test_a_picture_has_a_sensible_height(height):
    with pytest.raises(ArgumentError, match="px"):
        Animation("x", "page", height)


def test_heavy_motions_are_shown_in_fewer_pictures(swing):
    long = replace(swing, t=np.linspace(0, 1000.0, len(swing)))
    fps = sparse_fps(long, bodies=100, speed=1.0, fps=30.0)
    assert fps * 1000 * 100 == pytest.approx(MOST_POSES)
    assert sparse_fps(long, bodies=10**6, speed=1.0, fps=30.0) * 1000 == LEAST_PICTURES
    assert sparse_fps(swing, bodies=2, speed=1.0, fps=30.0) == 30.0


# sliders


def test_a_slider_shows_the_unit_of_its_range():
    bar = slider("a", "m", 0.1, ("8 cm", "0.12 m", "5 mm"))
    assert (bar.unit, bar.low) == ("cm", 8.0)
    assert (bar.high, bar.step, bar.value) == pytest.approx((12.0, 0.5, 10.0))
    assert bar.in_si(9) == pytest.approx(0.09)
    assert bar.in_si(99) == pytest.approx(0.12)
    assert slider("a", "m", 0.1, (0, 1)).unit == "m"


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        ((0.2, 0.1), "lower end comes first"),
        ((0, 1, 0), "step is positive"),
        ((0.2, 0.3), "outside its range"),
        ((0.1,), r"\(low, high\)"),
        ("8 cm", r"\(low, high\)"),
        (("8 kg", "9 kg"), "must be in m"),
        ((float("nan"), 1), "lower end"),
    ],
)
def test_a_range_that_is_none_is_rejected(bounds, words):
    with pytest.raises(ArgumentError, match=words):
        slider("a", "m", 0.1, bounds)


@pytest.fixture
def explorer(four_bar):
    pytest.importorskip("anywidget", reason='install it with: pip install "liaison-mbd[notebook]"')
    ranges = {"a": ("5 cm", "25 cm"), "d": (0.3, 0.9), "A'": (0, 20)}
    return liaison.explore(four_bar, ranges, until="0.1 s", trace=["C"])


def test_a_moved_slider_simulates_again(explorer, four_bar):
    assert explorer.values == pytest.approx({"a": 0.1, "d": 0.45, "A'": 10.0})
    first = explorer.animation
    explorer.set({"a": 12, "A'": 5})
    alone = liaison.simulate(
        four_bar, until=0.1, parameters={"a": 0.12}, start={"A'": 5}, every=explorer.result.t
    )
    # both are simulated to the same tolerances, the slider's loops closed in compiled code
    assert explorer.result.q == pytest.approx(alone.q, abs=1e-9)
    assert explorer.animation is not first
    assert explorer.message == ""


def test_a_saved_motion_says_where_the_sliders_were(explorer):
    """It is an output of its own, plain HTML, so that it is there without widgets."""
    explorer.set({"a": 11, "A'": 10})
    data = explorer.animation._repr_mimebundle_()
    assert set(data) == {"text/plain", "text/html"}
    assert data["text/html"].startswith("<iframe")
    assert data["text/html"].endswith("<div>At a = 11 cm, d = 0.45 m, A&#x27; = 10 rad/s.</div>")


def test_lengths_that_do_not_close_leave_the_last_motion(explorer):
    before, widget = explorer.animation, explorer._widget
    widget.values = {**widget.values, "d": 0.9}
    widget.asked = 1  # as the script in the cell does
    assert widget.answered == 1
    assert "cannot be assembled" in widget.message
    assert explorer.message == widget.message
    assert explorer.animation is before
    explorer.set({"d": 0.45})
    assert explorer.message == widget.message == ""


def test_inputs_have_sliders(examples):
    pytest.importorskip("anywidget")
    arm = liaison.read(examples / "excavator.lsd")
    name = arm.inputs[0].name
    shown = liaison.explore(arm, {name: (-1e4, 1e4)}, until=0.01)
    shown.set({name: 500})
    assert shown.result[name] == pytest.approx(500)


def test_unknown_sliders_are_named(four_bar, explorer):
    with pytest.raises(NamingError, match="crank"):
        liaison.explore(four_bar, {"crank": (0, 1)}, until=1)
    with pytest.raises(NamingError, match="slider"):
        explorer.set({"b": 1})
    with pytest.raises(ArgumentError, match="no slider"):
        liaison.explore(four_bar, {}, until=1)


def test_without_the_extra_sliders_name_it_and_pictures_work(four_bar, swing, monkeypatch):
    from liaison.view.notebook import explorer

    monkeypatch.setitem(sys.modules, "anywidget", None)
    explorer._widget_class.cache_clear()
    with pytest.raises(MissingModule, match=r"liaison-mbd\[notebook\]"):
        liaison.explore(four_bar, {"a": (0.05, 0.2)}, until=0.01)
    assert swing.show().html()
    explorer._widget_class.cache_clear()


MODEL = """
(state) => {
  const heard = {};
  window.sent = [];
  window.model = {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      (heard["change:" + name] || []).forEach((f) => f());
    },
    on: (name, f) => { (heard[name] ||= []).push(f); },
    off: (name, f) => { heard[name] = (heard[name] || []).filter((x) => x !== f); },
    save_changes: () => { window.sent.push(structuredClone(state.values)); },
    send: (content) => { (window.asked ||= []).push(content.ask); },
    tell: (content) => { (heard["msg:custom"] || []).forEach((f) => f(content)); },
  };
}
"""


def shown_widget(browser, state, around=""):
    """The module of the widget in a page, with a model as the notebook's."""
    page = browser.new_page()
    page.set_content(f"<div id=cell></div>{around}")
    page.evaluate(MODEL, {"key": "one", "asked": 0, "answered": 0, "message": ""} | state)
    page.evaluate(
        """async (script) => {
          const address = URL.createObjectURL(new Blob([script], {type: "text/javascript"}));
          const {render} = (await import(address)).default;
          window.end = render({model, el: document.getElementById("cell")});
        }""",
        front_end()["explorer.js"],
    )
    return page


def test_a_new_motion_takes_the_place_of_the_last_in_its_frame(browser, explorer):
    """Picture, camera and curves stay; what a saved notebook keeps is hidden meanwhile."""
    bars = [x.to_plain() for x in explorer.sliders]
    state = {"title": "four bar", "sliders": bars, "values": explorer._widget.values}
    sent = []
    explorer._widget.send = sent.append
    page = shown_widget(browser, state, '<p data-liaison="one">kept</p>')
    assert page.evaluate("asked") == ["page"]
    explorer._heard(None, {"ask": "page"}, None)
    page.evaluate("(content) => model.tell(content)", sent.pop())
    page.wait_for_function("() => document.querySelector('[data-liaison]').offsetHeight === 0")
    inner = page.frames[1]
    inner.wait_for_selector("[data-ready]")
    inner.evaluate("() => { liaison.pause(); liaison.seek(0.05); liaison.choose('A'); }")
    inner.evaluate("() => { window.first = document.querySelector('.view canvas'); }")
    camera = inner.evaluate("liaison.camera()")
    explorer.set({"a": 12})
    (blocks,) = sent
    assert len(blocks["scene"]) + len(blocks["data"]) < len(explorer.animation.page) / 4
    page.evaluate("(content) => model.tell(content)", blocks)
    crank = "liaison.scene.bodies.find((x) => x.name == 'crank').pieces"
    longest = f"Math.max(...{crank}.filter((x) => !x.joint).flatMap((x) => x.size))"
    inner.wait_for_function(f"() => Math.abs({longest} - 0.14) < 1e-6", timeout=5000)
    assert inner.evaluate("document.querySelector('.view canvas') === first")
    assert inner.evaluate("liaison.time") == pytest.approx(0.05)
    assert inner.evaluate("liaison.camera()")["position"] == pytest.approx(camera["position"])
    assert "A" in inner.evaluate("liaison.table()").splitlines()[0]
    assert page.evaluate("document.querySelectorAll('iframe').length") == 1
    page.evaluate("window.end()")
    assert page.evaluate("document.querySelector('[data-liaison]').offsetHeight") > 0
    page.close()


def test_moves_are_kept_back_while_python_simulates(browser):
    """The script of the sliders alone, with a model as the notebook's: names stay texts."""
    name = "<img src=x onerror='window.struck = 1'>"
    bar = slider(name, "m", 0.1, ("5 cm", "25 cm")).to_plain()
    page = shown_widget(browser, {"title": name, "sliders": [bar], "values": {name: 10.0}})
    move = "(v) => { const e = document.querySelector('input'); e.value = v; "
    move += "e.dispatchEvent(new Event('input')); }"
    for value in (12, 13, 14):
        page.evaluate(move, str(value))
    assert [x[name] for x in page.evaluate("sent")] == [pytest.approx(12)]
    page.evaluate("model.set('answered', 1)")
    assert [x[name] for x in page.evaluate("sent")] == pytest.approx([12, 14])
    page.evaluate("model.set('answered', 2)")
    assert len(page.evaluate("sent")) == 2
    page.focus("input")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("sent")[-1][name] == pytest.approx(13.8)
    assert page.inner_text("output") == "13.8 cm"
    page.evaluate("model.set('message', '<b>no</b>')")
    assert page.inner_text("[role=status]") == "<b>no</b>"
    assert page.evaluate("window.struck") is None
    # at rest, the notebook is to keep the last motion
    page.wait_for_function("() => asked.includes('keep')", timeout=5000)
    page.close()


@pytest.mark.slow
def test_the_picture_moves_inside_its_frame_without_a_network(browser, four_bar, tmp_path):
    run = liaison.simulate(four_bar, until=2, every=0.02)
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{run.show().html()}", encoding="utf-8")
    context = browser.new_context(viewport={"width": 700, "height": 440}, offline=True)
    page = context.new_page()
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    inner = page.frames[1]
    inner.wait_for_selector("canvas", timeout=30_000)
    deadline, first = 30, None
    for _ in range(deadline):
        page.wait_for_timeout(500)
        pixels = page.screenshot(clip={"x": 20, "y": 60, "width": 500, "height": 250})
        if first is not None and pixels != first and len(pixels) > 5000:
            break
        first = pixels
    else:
        pytest.fail("nothing moves in the frame")
    assert [x for x in asked if not x.startswith(("file:", "about:", "data:", "blob:"))] == []
    # its origin is of its own: what runs in it cannot read the page around
    reached = inner.evaluate("() => { try { return !!parent.document } catch { return false } }")
    assert reached is False
    context.close()
