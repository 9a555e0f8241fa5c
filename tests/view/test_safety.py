"""Nothing of a model's text runs as script: names with markup, quotes and template marks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from liaison.model import Mechanism, Revolute, body, gravity, ground, join, spring
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.units import Label
from liaison.view import page

MARK = "ran()"
WRAPS = [
    "<script>{}</script>", "</script><script>{}</script>", "<img src=x onerror={}>",
    "<svg onload={}>", "<iframe srcdoc='<script>{}</script>'>", "javascript:{}", "';{};'",
    '";{};"', "`${{{}}}`", "{{{{{}}}}}", "<!--<script>{}</script>", "]]><script>{}</script>",
    "</style><script>{}</script>", "</title><script>{}</script>", "<a href=javascript:{}>x</a>",
    "<body onload={}>", "<input autofocus onfocus={}>", "<details open ontoggle={}>",
    "\\u003cscript\\u003e{}\\u003c/script\\u003e", "\\'-{}-\\'",
]  # fmt: skip
TWISTS = [
    "{}", "x {}", "{}\u2028", "\u2029{}", "&quot;{}", "&lt;{}", '"{}', "'{}", "\\{}", "\ufeff{}"
]  # fmt: skip
PAYLOADS = [twist.format(wrap.format(MARK)) for wrap, twist in itertools.product(WRAPS, TWISTS)]


def hostile() -> tuple[Trajectory, Mechanism]:
    """A run with a payload at every place of a text: bodies, joints, loads, columns, events."""
    # others are no names
    names = [x for x in PAYLOADS if not {*"'`"} & {*x} and x == x.strip() and x.isprintable()]
    bodies = [body(x, 1, inertia=(1, 1, 1)) for x in names[:8]]
    joints = [join(ground, x, Revolute, name=names[-1 - k]) for k, x in enumerate(bodies)]
    loads = [spring(ground, x, stiffness=1, name=names[50 + k]) for k, x in enumerate(bodies)]
    mechanism = Mechanism("hostile", tuple(bodies), tuple(joints), forces=(gravity(), *loads))
    t = np.linspace(0, 1, 31)
    poses = np.tile(np.eye(3, 4), (31, 8, 1, 1))
    poses[:, :, 0, 3] = np.arange(8)
    none = np.zeros(0)
    events = [EventRecord(x, k / 200, none, none, x) for k, x in enumerate(PAYLOADS)]
    labels = {"q": tuple(Label(x, "rad") for x in PAYLOADS), "v": ()}
    q = np.sin(np.outer(t, 1 + np.arange(len(PAYLOADS))))
    series = {"poses": Series.of_poses(poses, tuple(x.name for x in bodies))}
    run = Trajectory(
        PAYLOADS[1], t, q, np.zeros((31, 0)), labels, series, events=tuple(events),
        message=PAYLOADS[2],
    )  # fmt: skip
    return run, mechanism


def test_two_hundred_payloads_are_texts(browser, tmp_path):
    assert len(set(PAYLOADS)) == 200
    run, mechanism = hostile()
    path = tmp_path / "page.html"
    page(run, mechanism, path, trace=[PAYLOADS[0]], labels=True)
    size = {"width": 900, "height": 500}
    context = browser.new_context(viewport=size, offline=True, reduced_motion="reduce")
    tab = context.new_page()
    seen: list[str] = []
    tab.on("dialog", lambda dialog: seen.append(dialog.message))
    tab.on("console", lambda m: m.type == "error" and seen.append(m.text))
    tab.on("pageerror", lambda error: seen.append(str(error)))
    tab.add_init_script("window.count = 0; window.ran = () => { window.count += 1; };")
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-ready]")
    # everything that shows texts is opened
    tab.locator(".chooser summary").click()
    tab.locator(".menu summary").click()
    tab.get_by_label("names of joints").check()
    for option in tab.get_by_label("Trace a body").locator("option").all()[1:4]:
        tab.get_by_label("Trace a body").select_option(option.get_attribute("value"))
    assert tab.locator(".list label").count() >= len(PAYLOADS)
    assert tab.evaluate("window.count") == 0
    assert tab.locator("#liaison script, #liaison iframe, #liaison img, #liaison a").count() == 0
    assert tab.locator("h1").inner_text() == PAYLOADS[1]
    assert tab.title() == PAYLOADS[1]
    assert seen == []
    context.close()


@pytest.mark.parametrize("payload", PAYLOADS[:10])
def test_a_title_cannot_end_its_element(double_pendulum, tmp_path, payload):
    path = tmp_path / "page.html"
    page(replace(double_pendulum.run, name=payload), double_pendulum.mechanism, path, fps=2)
    text = path.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 4
