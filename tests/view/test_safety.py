"""Nothing of a model's text runs as script: names with markup, quotes and template marks."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.errors import LiaisonError
from liaison.expr import symbol
from liaison.model import (
    Mechanism,
    Revolute,
    body,
    coordinate,
    event,
    gravity,
    ground,
    join,
    motor,
    output,
    parameter,
    signal,
    spring,
    start,
    touch,
)
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.units import Label
from liaison.view import page as written_page

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
    """A run with a payload at every place of a text: of bodies, joints, loads, columns, events."""
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
    labels = {"q": tuple(map(Label, PAYLOADS, reversed(PAYLOADS))), "v": ()}
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
    written_page(run, mechanism, path, trace=[PAYLOADS[0]], labels=True)
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
    listed = " ".join(tab.locator(".list").inner_text().split())
    assert all(" ".join(f"[{shown(x)}]".split()) in listed for x in PAYLOADS)
    for name in PAYLOADS[:20]:  # each with a plot of its own, and its unit
        tab.evaluate("(name) => liaison.choose(name)", name)
    assert tab.evaluate("liaison.table()").count(MARK) >= 40
    assert tab.evaluate("window.count") == 0
    assert tab.locator("#liaison script, #liaison iframe, #liaison img, #liaison a").count() == 0
    assert tab.locator("h1").inner_text() == PAYLOADS[1]
    assert tab.title() == PAYLOADS[1]
    assert seen == []
    context.close()


def shown(unit: str) -> str:
    """A unit as pages write it."""
    return unit.replace("*", "·").replace("^2", "²").replace("^3", "³")


def hostile_live() -> Mechanism:
    """Pendulums with a payload at every place of a name: everything that a live page shows."""
    names = [x for x in PAYLOADS if not {*"'`"} & {*x} and x == x.strip() and x.isprintable()]
    taken = iter(names)
    bodies = [body(next(taken), 1, center=(0, 0, -1), inertia=(1, 1, 1)) for _ in range(6)]
    joints = [join(ground, x, Revolute, name=next(taken), axis="y") for x in bodies]
    known = [parameter(next(taken), 1, "N*m/rad", low=0, high=2) for _ in bodies]
    signals = [signal(next(taken), "N*m") for _ in bodies]
    angles = [coordinate(x) for x in joints]
    loads = [spring(x, stiffness=symbol(k.name), name=next(taken)) for x, k in zip(joints, known)]
    loads += [motor(x, effort=symbol(u.name), name=next(taken)) for x, u in zip(joints, signals)]
    stop = touch(next(taken), angles[0] + 1)
    rows = [output(next(taken), x) for x in angles]
    marks = [event(next(taken), x - 0.01) for x in angles]
    first = [start(x, 0.3) for x in joints]
    parts = (*joints, *known, *signals, *loads, stop, *rows, *marks, *first, gravity())
    return liaison.mechanism(*parts, name=next(taken))


def test_a_page_that_simulates_shows_payloads_as_texts(browser, tmp_path):
    mechanism, path = hostile_live(), tmp_path / "live.html"
    run = replace(liaison.simulate(mechanism, until=1.0, every=0.1), name=PAYLOADS[121])
    units = tuple(PAYLOADS[20:26])
    outputs = replace(run.series["outputs"], unit=units)
    run = replace(run, series={**run.series, "outputs": outputs})
    liaison.page(run, mechanism, path, live=True)
    context = browser.new_context(viewport={"width": 900, "height": 500}, offline=True)
    tab = context.new_page()
    seen: list[str] = []
    tab.on("dialog", lambda dialog: seen.append(dialog.message))
    tab.on("console", lambda m: m.type == "error" and seen.append(m.text))
    tab.on("pageerror", lambda error: seen.append(str(error)))
    tab.add_init_script("window.count = 0; window.ran = () => { window.count += 1; };")
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-ready]")
    tab.evaluate("liaison.play()")
    for _ in range(200):
        if tab.evaluate("liaison.simulation().values('energy.T').t.at(-1) > 0.8"):
            break
        tab.wait_for_timeout(50)
    # all that shows texts is opened, and an error with a name is shown
    tab.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    known = mechanism.parameters[0].name
    field = tab.locator(".knob input[type=number]").first
    field.fill("7")
    field.press("Enter")
    tab.locator(".error:not([hidden])").first.wait_for()
    assert known in tab.locator(".error").inner_text()
    text = tab.locator("#liaison").inner_text()
    names = [x.name for x in (*mechanism.parameters, *mechanism.inputs, *mechanism.outputs)]
    names += [f"[{shown(x)}]" for x in units]
    assert all(" ".join(x.split()) in " ".join(text.split()) for x in names)
    assert tab.evaluate("window.count") == 0
    assert tab.locator("#liaison script, #liaison iframe, #liaison img, #liaison a").count() == 0
    assert tab.title() == tab.locator("h1").inner_text() == PAYLOADS[121]
    assert seen == []
    context.close()


def test_titles_of_assembly_modes_are_texts(browser, tmp_path):
    names = [x for x in PAYLOADS if not {*"'`"} & {*x} and x == x.strip() and x.isprintable()]
    crank, coupler, rocker = (body(x, 1, center=(0.1, 0, 0), inertia=(1, 1, 1)) for x in names[:3])
    joints = [
        join(ground, crank, Revolute, name=names[3], axis="y"),
        join(crank.at((0.1, 0, 0)), coupler, Revolute, name=names[4], axis="y"),
        join(ground.at((0.3, 0, 0)), rocker, Revolute, name=names[5], axis="y"),
        join(coupler.at((0.3, 0, 0)), rocker.at((0.25, 0, 0)), Revolute, name=names[6], axis="y"),
    ]
    mechanism = liaison.mechanism(*joints, start(joints[0], 1.0), gravity(), name="modes")
    path = tmp_path / "modes.html"
    liaison.page(liaison.simulate(mechanism, until=0.1), mechanism, path, live=True)
    context = browser.new_context(viewport={"width": 900, "height": 500}, offline=True)
    tab = context.new_page()
    seen: list[str] = []
    tab.on("console", lambda m: m.type == "error" and seen.append(m.text))
    tab.on("pageerror", lambda error: seen.append(str(error)))
    tab.add_init_script("window.count = 0; window.ran = () => { window.count += 1; };")
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-ready]")
    choice = tab.get_by_label("Assembly mode")
    titles = choice.locator("option").all_text_contents()
    assert len(titles) == 2
    assert any(x in titles[1] for x in names[4:6])
    assert names[3] in tab.locator(".modes").inner_text()  # which is held
    choice.select_option("1")
    tab.wait_for_function("() => liaison.simulation().mode === 1")
    assert tab.evaluate("window.count") == 0
    assert tab.locator("#liaison script, #liaison iframe, #liaison img, #liaison a").count() == 0
    assert seen == []
    context.close()


def test_a_unit_of_a_model_is_a_unit():
    for payload in PAYLOADS:
        with pytest.raises(LiaisonError):
            parameter("k", 1, payload)


@pytest.mark.parametrize("payload", PAYLOADS[:10])
def test_a_title_cannot_end_its_element(double_pendulum, tmp_path, payload):
    path = tmp_path / "page.html"
    written_page(replace(double_pendulum.run, name=payload), double_pendulum.mechanism, path, fps=2)
    text = path.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 4
