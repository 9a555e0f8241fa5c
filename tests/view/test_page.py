"""The page is one whole file that asks nothing of the network, and shows what happened.

The pictures are taken in a real browser, from file://, with the network off. What the camera must
see is worked out here from the camera's own numbers, so a wrong pose, a wrong camera or a scene
that never appears all fail.
"""

import colorsys
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from liaison.errors import LiaisonError, NamingError
from liaison.simulation.record.trajectory import Series, Trajectory
from liaison.units import Label
from liaison.view import page
from liaison.view.camera import ASPECT, camera
from liaison.view.drawing import drawing
from liaison.view.scene import sampled

SIZE = {"width": 520, "height": 400}
BLUE, ORANGE = 207, 28  # hues of the first and the second body [degrees]


def test_nothing_is_loaded_from_elsewhere(page_file):
    text = page_file.read_text(encoding="utf-8")
    assert "<title>double pendulum</title>" in text
    assert not re.search(r"(?:src|href)\s*=\s*[\"']?(?:https?:)?//", text)
    assert not re.search(r"@import|url\(\s*[\"']?(?:https?:)?//", text)
    assert [x.name for x in page_file.parent.iterdir()] == [page_file.name]


def test_names_are_escaped(double_pendulum, tmp_path):
    run = replace(double_pendulum.run, name="</title><script>alert(1)</script>")
    page(run, double_pendulum.mechanism, tmp_path / "page.html", fps=2)
    assert "<script>alert(1)" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_nothing_is_printed(double_pendulum, tmp_path, capfd):
    page(double_pendulum.run, double_pendulum.mechanism, tmp_path / "page.html", fps=2)
    assert capfd.readouterr() == ("", "")


def test_a_missing_folder_is_named(double_pendulum, tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        page(double_pendulum.run, double_pendulum.mechanism, tmp_path / "none" / "page.html", fps=2)


def spinning(every: float) -> Trajectory:
    """A body that turns by 200 rad/s about z, recorded seldom."""
    t = np.arange(0, 1 + every / 2, every)
    poses = np.zeros((len(t), 1, 3, 4))
    c, s = np.cos(200 * t), np.sin(200 * t)
    poses[:, 0, :2, :2] = np.moveaxis(np.array([[c, -s], [s, c]]), -1, 0)
    poses[:, 0, 2, 2] = 1
    labels = {"q": (Label("A", "rad"),), "v": (Label("A'", "rad/s"),)}
    series = {"poses": Series.of_poses(poses, ("rotor",))}
    return Trajectory("spin", t, 200 * t[:, None], np.full((len(t), 1), 200.0), labels, series)


def test_a_fast_body_is_shown_at_recorded_instants_only():
    run = spinning(0.03)
    shown = sampled(run, speed=1.0, fps=30)
    assert set(shown.t) <= set(run.t)
    assert np.abs(shown.t - np.linspace(0, run.t[-1], len(shown))).max() <= 0.0151
    np.testing.assert_allclose(shown["poses"][:, 0, 0, 0], np.cos(200 * shown.t), atol=1e-12)


def test_a_run_recorded_too_seldom_is_refused():
    with pytest.raises(LiaisonError, match=r"recorded too seldom for a picture: 0\.1 s pass"):
        sampled(spinning(0.1), speed=1.0, fps=30)


def test_one_instant_is_a_still_picture(double_pendulum, tmp_path):
    still = double_pendulum.run.resample([1.0])
    page(still, double_pendulum.mechanism, tmp_path / "page.html", trace=["lower"], forces=["B"])
    assert "1 to 1 s" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_what_is_asked_for_must_exist(double_pendulum, tmp_path):
    run, mechanism, path = double_pendulum.run, double_pendulum.mechanism, tmp_path / "page.html"
    with pytest.raises(NamingError, match="no body or joint is named 'tip'"):
        page(run, mechanism, path, trace=["tip"])
    bare = replace(run, series={"poses": run.series["poses"]})
    with pytest.raises(LiaisonError, match="has no reactions to draw"):
        page(bare, mechanism, path, forces=True)
    with pytest.raises(LiaisonError, match="must both be positive"):
        page(run, mechanism, path, speed=0)
    assert not path.exists()


class Player:
    """A page in the browser: its complaints, its clock, its picture."""

    def __init__(self, context, url: str) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab = context.new_page()
        self.tab.on("console", lambda m: m.type == "error" and self.complaints.append(m.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(url)
        self.tab.add_style_tag(content="[class*=Notification]{display:none!important}")
        self.tab.wait_for_selector("canvas")
        self.slider = self.tab.locator(".mantine-Slider-root").first
        self.bar = self.slider.locator("xpath=..")
        self.clock = self.bar.locator("input").first
        self.clock.wait_for()

    def time(self) -> float:
        return float(self.clock.input_value())

    def toggle(self) -> None:
        """Press play or pause."""
        self.bar.locator("button").first.click()

    def seek(self, t: float) -> None:
        self.clock.fill(str(t))
        self.clock.press("Enter")
        self.clock.blur()
        self.tab.wait_for_timeout(500)  # the scene follows the clock a little later

    def comes_to(self, check) -> bool:
        """Wait until the picture satisfies the check, fifteen seconds at most."""
        for _ in range(30):
            if check(self.picture()):
                return True
            self.tab.wait_for_timeout(500)
        return False

    def drag(self, fraction: float) -> None:
        """Click on the slider until the time follows: a busy machine may miss a click."""
        before = self.time()
        for _ in range(5):
            box = self.slider.bounding_box()
            self.tab.mouse.click(box["x"] + fraction * box["width"], box["y"] + box["height"] / 2)
            self.tab.mouse.move(1, 1)  # away: the slider's label would hide a part of the picture
            if self.leaves(before):
                return

    def leaves(self, t: float) -> bool:
        """Wait until the time shown is no longer t, three seconds at most."""
        for _ in range(30):
            if self.time() != t:
                return True
            self.tab.wait_for_timeout(100)
        return False

    def picture(self) -> np.ndarray:
        """The settled picture of the canvas, shape (height, width, 3)."""
        from PIL import Image

        before = None
        for _ in range(40):
            self.tab.wait_for_timeout(100)
            data = self.tab.locator("canvas").last.screenshot()
            now = np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)
            if before is not None and np.mean(np.abs(now - before)) < 0.02:
                return now
            before = now
        pytest.fail("the picture does not come to rest")


@pytest.fixture(scope="module")
def player(browser, page_file):
    context = browser.new_context(viewport=SIZE, offline=True)
    made = Player(context, page_file.as_uri())
    made.toggle()
    yield made
    context.close()


def hues(picture: np.ndarray) -> np.ndarray:
    """Hue of each pixel [degrees], NaN where it is nearly gray."""
    low, high = picture.min(axis=-1), picture.max(axis=-1)
    found = np.full(picture.shape[:2], np.nan)
    for y, x in np.argwhere(high - low > 70):
        found[y, x] = 360 * colorsys.rgb_to_hsv(*(picture[y, x] / 255))[0]
    return found


def is_near(hue: np.ndarray, wanted: float) -> np.ndarray:
    return np.abs((hue - wanted + 180) % 360 - 180) < 16


def place(sample, t: float, body: str, p, shape) -> tuple[int, int]:
    """Row and column where a point of a body must appear, by the camera's own numbers."""
    drawn = drawing(sample.run, sample.mechanism)
    eye = camera(drawn.reached, drawn.up)
    X = sample.run.resample([t]).series["poses"].values[0, ("upper", "lower").index(body)]
    seen = X[:, :3] @ p + X[:, 3] - eye.position
    forward = (eye.target - eye.position) / np.linalg.norm(eye.target - eye.position)
    right = np.cross(forward, eye.up) / np.linalg.norm(np.cross(forward, eye.up))
    height, width = shape
    scale = height / 2 / np.tan(eye.angle / 2) / (seen @ forward)
    row = height / 2 - scale * (seen @ np.cross(right, forward))
    return round(row), round(width / 2 + scale * (seen @ right))


def misplaced(sample, t: float, picture: np.ndarray) -> list[str]:
    """What the picture does not show where, and as large as, it must."""
    hue = hues(picture)
    shares = {"blue": np.mean(is_near(hue, BLUE)), "orange": np.mean(is_near(hue, ORANGE))}
    wrong = [f"{share:.4f} {color}" for color, share in shares.items() if not 0.002 < share < 0.08]
    for body, p, color in (("upper", (0, 0, -0.5), BLUE), ("lower", (0, 0, -0.8), ORANGE)):
        y, x = place(sample, t, body, np.array(p), picture.shape[:2])
        if not np.mean(is_near(hue[y - 4 : y + 5, x - 4 : x + 5], color)) > 0.25:
            wrong.append(f"{body} is not at {x}, {y}")
    return wrong


@pytest.mark.parametrize("t", [0.4, 1.3])
def test_bodies_are_where_the_run_says(player, double_pendulum, t):
    player.seek(t)
    player.comes_to(lambda now: not misplaced(double_pendulum, t, now))
    assert misplaced(double_pendulum, t, player.picture()) == []


def test_the_tip_leaves_its_way(player):
    red = is_near(hues(player.picture()), 355)
    assert 0.001 < np.mean(red) < 0.05
    assert np.ptp(np.argwhere(red)[:, 1]) > 0.2 * SIZE["width"]


def changed(before: np.ndarray, now: np.ndarray) -> float:
    """The share of the picture's points whose colour is another."""
    return float(np.mean(np.abs(now - before).max(axis=-1) > 60))


def test_the_slider_moves_the_picture(player):
    player.seek(0.4)
    before, again = player.picture(), player.picture()
    assert np.mean(np.abs(again - before)) < 0.05
    player.drag(0.75)
    assert player.time() == pytest.approx(1.5, abs=0.1)
    assert player.comes_to(lambda now: changed(before, now) > 0.01)
    # back to where it was
    player.seek(0.4)
    assert player.comes_to(lambda now: changed(before, now) < 0.002), player.time()


def test_play_lets_time_run_and_pause_stops_it(player):
    player.seek(0.2)
    player.toggle()
    assert player.leaves(0.2)
    player.tab.wait_for_timeout(500)
    player.toggle()
    player.tab.wait_for_timeout(500)  # what was under way arrives
    stopped = player.time()
    assert stopped != pytest.approx(0.2, abs=0.05)
    assert not player.leaves(stopped)


def test_nobody_complains_and_nothing_is_asked_for(player):
    assert player.complaints == []
    outside = [x for x in player.requests if not x.startswith(("file:", "blob:", "data:"))]
    assert outside == []


NARROW = {"width": 240, "height": 420}


def test_on_a_narrow_screen_the_camera_steps_back(browser, page_file, double_pendulum):
    context = browser.new_context(viewport=NARROW, offline=True)
    tab = context.new_page()
    tab.goto(page_file.as_uri(), wait_until="commit")
    tab.wait_for_url(re.compile("initialCameraPosition"))
    told = re.search(r"initialCameraPosition=([-.e0-9,]+)", tab.url.replace("%2C", ","))
    context.close()
    position = np.array(told.group(1).split(","), dtype=float)
    drawn = drawing(double_pendulum.run, double_pendulum.mechanism)
    eye = camera(drawn.reached, drawn.up)
    back = (position - eye.target) / (eye.position - eye.target)
    # it sees the same width; a percent, because the page looks at its pictures, not at the run
    canvas_height = NARROW["height"] - 44
    np.testing.assert_allclose(back * NARROW["width"] / canvas_height, ASPECT, rtol=0.01)


@pytest.mark.slow
def test_a_narrow_screen_shows_the_whole_too(browser, page_file):
    context = browser.new_context(viewport=NARROW, offline=True)
    narrow = Player(context, page_file.as_uri())
    narrow.toggle()
    red = np.argwhere(is_near(hues(narrow.picture()), 355))
    assert red[:, 1].min() > 2
    assert red[:, 1].max() < NARROW["width"] - 3
    assert np.ptp(red[:, 1]) > 60
    context.close()
