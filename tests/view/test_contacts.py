"""Contacts in pictures: colors of modes, the flash of an impact, arrows, and what is touched."""

import colorsys
import io

import numpy as np
import pytest

import liaison
from liaison.analyse.contact_points import contact_points
from liaison.view.contacts import (
    IMPACT_COLOR,
    OPEN_COLOR,
    SLIPS_COLOR,
    STICKS_COLOR,
    marks,
)
from liaison.view.drawing import drawing
from liaison.view.scene import sampled

SLIDE = """
name = "slide" ;
gravity = [0, 0, -9.81] m/s^2 ;
let block = body mass = 2 kg, inertia = 0.01 kg*m^2, {shape} end ;
let X = join earth and block with link(x, z) dof1 = [x, 0, 0], dof2 = [0, 0, z] end ;
let floor = contact block and earth with point friction = 0.5 end ;
start X.z = 5 cm ;
start X.x' = 3 m/s ;
"""
SMALL = 'shape = sphere(radius = 1 mm, color = "gray")'


@pytest.fixture(scope="module")
def slide():
    mechanism = liaison.read(SLIDE.format(shape=SMALL))
    return mechanism, liaison.simulate(mechanism, until=1.0)


def test_a_mark_has_the_color_of_its_mode(slide):
    mechanism, run = slide
    seen = sampled(run, 1.0, 50.0)
    (mark,) = marks(seen, contact_points(mechanism, seen), scale=0.01)
    falls = (0.1 / 9.81) ** 0.5  # √(2 h/g)
    stops = next(e.t for e in run.events if e.what == "sticks")

    def color(t):
        return tuple(mark.colors[np.argmin(np.abs(seen.t - t))])

    assert color(0.05) == OPEN_COLOR
    assert color(falls + 0.02) == IMPACT_COLOR
    assert color((falls + 0.12 + stops) / 2) == SLIPS_COLOR
    assert color(0.98) == STICKS_COLOR
    assert not np.any(mark.vector[seen.t < falls])
    weight = 0.01 * 2 * 9.81
    slipping = mark.vector[np.argmin(np.abs(seen.t - (falls + stops) / 2))]
    np.testing.assert_allclose(slipping, [-0.5 * weight, 0, weight], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(mark.vector[-1], [0, 0, weight], atol=1e-9)
    np.testing.assert_allclose(
        mark.point, np.column_stack([seen.q[:, 0], 0 * seen.t, seen.q[:, 1]])
    )


def test_modes_between_instants_are_modes(slide):
    _, run = slide
    fine = run.resample(np.linspace(0, 1, 4001))
    assert set(np.unique(fine["modes"])) <= {0.0, 1.0, 2.0}
    assert fine["contacts"].min() >= -0.5 * 2 * 9.81 - 1e-6


def pieces(contact: str, shape: str = "", ground: str = ""):
    text = SLIDE.format(shape=shape or "center = [0, 0, 0]")
    text = text.replace("block and earth with point friction = 0.5", contact) + ground
    mechanism = liaison.read(text)
    drawn = drawing(liaison.simulate(mechanism, until=0.05), mechanism)
    return drawn.pieces


def test_what_is_touched_is_drawn_where_there_is_no_shape():
    drawn = pieces("block and [0, 0, -1] m @ earth with ball radius = 10 cm")
    (floor,) = [x for x in drawn["ground"] if x.kind == "box" and x.opacity < 1]
    assert floor.p[2] + floor.size[2] / 2 == pytest.approx(-1)
    assert [(x.kind, x.size) for x in drawn["block"]] == [("sphere", (0.1,))]
    shaped = pieces(
        "block and earth with point", SMALL, "earth.shape = box([1, 1, 1] m, color = 'tan') ;"
        .replace("'", '"'),
    )  # fmt: skip
    assert not [x for x in shaped["ground"] if x.opacity < 1]
    assert [x.size for x in shaped["block"]] == [(0.001,)]


@pytest.mark.parametrize(
    ("contact", "kind"),
    [
        ("block and earth with ball radius = 1 cm, inside = 2 m", "sphere"),
        ("block and earth with point surface = 0.1 m*sin(x/(1 m)) - 1 m", "mesh"),
        ("block and [0, 0, -1] m @ earth with box size = [4, 4, 2] cm", "box"),
    ],
)
def test_hollow_balls_and_surfaces_are_glass(contact, kind):
    drawn = pieces(contact)
    glass = [x for x in drawn["ground"] if x.opacity < 1]
    assert [x.kind for x in glass] == [kind]
    if kind == "mesh":
        x, _, z = glass[0].surface.vertices.T
        np.testing.assert_allclose(z, 0.1 * np.sin(x) - 1, atol=1e-12)


def test_one_switch_hides_all_marks(slide):
    mechanism, run = slide
    with liaison.show(run, mechanism, browser=False, port=0) as view:
        (node,) = view._stage.groups["contacts"]
        assert node.visible
        view.seek(0.45)
        ((mark, dot, arrow),) = view._stage._marks
        assert dot.color == SLIPS_COLOR
        assert arrow.visible
        view.seek(0.0)
        assert dot.color == OPEN_COLOR
        assert not arrow.visible
        assert mark.name == "floor"
    with liaison.show(run, mechanism, browser=False, port=0, contacts=False) as view:
        assert view._stage.groups["contacts"] == []


def test_a_page_tells_modes_by_color(browser, slide, tmp_path):
    mechanism, run = slide
    liaison.page(run, mechanism, tmp_path / "slide.html", fps=20, labels=False)
    context = browser.new_context(viewport={"width": 520, "height": 400}, offline=True)
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.goto((tmp_path / "slide.html").as_uri())
    tab.wait_for_selector("canvas")
    bar = tab.locator(".mantine-Slider-root").first.locator("xpath=..")
    bar.locator("input").first.wait_for()
    bar.locator("button").first.click()  # pause
    seek(tab, bar, 0.0)
    tab.wait_for_timeout(1500)
    axes = {hue: share(tab, hue) for hue in HUES}  # of the world, which have colors as well
    for t, hue in ((0.16, 0), (0.45, 33), (0.95, 151)):
        assert comes_to(tab, bar, t, hue, axes), (t, hue)
    assert complaints == []
    context.close()


HUES = (0, 33, 151)  # red, orange, green


def seek(tab, bar, t: float) -> None:
    clock = bar.locator("input").first
    clock.fill(str(t))
    clock.press("Enter")
    clock.blur()


def comes_to(tab, bar, t: float, hue: float, before: dict[float, float]) -> bool:
    """True once the picture at t has points of a hue that it had not before, and of no other."""
    seek(tab, bar, t)
    for _ in range(20):
        tab.wait_for_timeout(500)
        more = {x: share(tab, x) - before[x] for x in HUES}
        if more[hue] > 0.0008 and all(more[x] < more[hue] / 4 for x in HUES if x != hue):
            return True
    return False


def share(tab, hue: float) -> float:
    """The share of the picture's points that have a hue [degrees], off the axes of the world."""
    from PIL import Image

    data = tab.locator("canvas").last.screenshot()
    picture = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
    strong = np.argwhere(picture.max(axis=-1) - picture.min(axis=-1) > 40)
    hues = [360 * colorsys.rgb_to_hsv(*(picture[y, x] / 255))[0] for y, x in strong]
    near = np.abs((np.array(hues) - hue + 180) % 360 - 180) < 15
    return float(np.count_nonzero(near)) / picture[..., 0].size
