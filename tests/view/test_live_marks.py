"""What a page that simulates draws besides bodies: forces, contacts, assembly modes, events."""

import json
import re

import numpy as np
import pytest

import liaison
from liaison.view.drawing import drawing
from liaison.view.links import joint_forces
from liaison.view.pages import document


def scene_in(path):
    return json.loads(re.search(r'id="scene">([^<]*)<', path.read_text(encoding="utf-8"))[1])


@pytest.fixture(scope="module")
def four_bar(examples, tmp_path_factory):
    mechanism = liaison.read(examples / "four_bar.lsd")
    run = liaison.simulate(mechanism, until=0.5, every=0.02, series=("reactions",))
    path = tmp_path_factory.mktemp("live") / "four_bar.html"
    liaison.page(run, mechanism, path, live=True, forces=True)
    return mechanism, path


@pytest.fixture(scope="module")
def stops(examples, tmp_path_factory):
    mechanism = liaison.read(examples / "contact/stops.lsd")
    run = liaison.simulate(mechanism, until=2, every=0.02)
    path = tmp_path_factory.mktemp("live") / "stops.html"
    liaison.page(run, mechanism, path, live=True)
    return mechanism, path


def test_modes_are_all_that_close_with_the_own_one_first(four_bar):
    mechanism, path = four_bar
    scene = scene_in(path)
    known = liaison.assembly_modes(mechanism, at={"A": np.pi / 2})
    first = liaison.simulate(mechanism, until=0.01).q[0]
    assert len(scene["modes"]) == len(known.modes) == 2
    np.testing.assert_allclose(scene["modes"][0]["q"], first, atol=1e-9)
    assert scene["modes"][0]["title"] == "1: as described"
    assert scene["modes"][1]["held"] == ["A"]
    assert "D" in scene["modes"][1]["title"] or "B" in scene["modes"][1]["title"]
    assert scene["about"]["modes"] == "all modes with the start's A"


def test_a_chain_has_no_modes_to_choose_from(stops):
    assert scene_in(stops[1])["modes"] == []


def test_stops_of_an_angle_have_a_scale_of_moments_alone(stops, four_bar):
    scene = scene_in(stops[1])
    assert [(x["pushes"], x["turns"]) for x in scene["live"]["contacts"]] == [(False, True)] * 2
    assert scene["arrows"]["force"] == 0
    assert scene["arrows"]["moment"] > 0
    assert scene_in(four_bar[1])["arrows"]["force"] > 0


def opened(browser, path):
    context = browser.new_context(
        viewport={"width": 900, "height": 500}, offline=True, reduced_motion="reduce"
    )
    tab = context.new_page()
    tab.complaints = []
    tab.on("console", lambda m: m.type == "error" and tab.complaints.append(m.text))
    tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
    tab.goto(path.as_uri())
    tab.wait_for_selector("[data-ready]")
    return tab


def rows_until(tab, name, end):
    tab.wait_for_function(f"() => liaison.simulation().values('{name}').t.at(-1) >= {end}")
    got = tab.evaluate(f"liaison.simulation().values('{name}')")
    t, values = np.array(got["t"]), np.array(got["values"])
    # how far the page has come by now is a matter of the machine
    return t[t <= end + 0.1], values[t <= end + 0.1]


def test_the_other_assembly_mode_is_followed_to_other_lengths(browser, four_bar):
    mechanism, path = four_bar
    tab = opened(browser, path)
    tab.evaluate("liaison.play()")
    tab.get_by_label("Assembly mode").select_option("1")
    tab.wait_for_function("() => liaison.simulation().mode === 1")
    t, D = rows_until(tab, "D", 0.2)
    other = dict(zip(("A", "B", "D"), scene_in(path)["modes"][1]["q"], strict=True))
    guess = {x: other[x] for x in "BD"}
    here = liaison.simulate(mechanism, until=float(t[-1]), every=1 / 120, guess=guess)
    assert abs(here["D"][0] - liaison.simulate(mechanism, until=0.01)["D"][0]) > 1
    np.testing.assert_allclose(D, here.resample(t)["D"], atol=1e-7)
    tab.get_by_label("a [m], as a number").fill("0.07")
    tab.get_by_label("a [m], as a number").press("Enter")
    tab.wait_for_function("() => liaison.simulation().parameters.a === 0.07")
    t, D = rows_until(tab, "D", 0.1)
    here = liaison.simulate(
        mechanism, until=float(t[-1]), every=1 / 120, guess=guess, parameters={"a": 0.07}
    )
    np.testing.assert_allclose(D, here.resample(t)["D"], atol=1e-7)
    # the forces of joints are those of a run here, in the world's axes
    seen = tab.evaluate("""() => { liaison.pause(); liaison.seek(0.05);
        return [liaison.time, ...liaison.scene.forces.map((x, k) => liaison.force(k))]; }""")
    run = liaison.simulate(
        mechanism, until=0.1, every=1 / 120, guess=guess, parameters={"a": 0.07},
        series=("reactions",),
    )  # fmt: skip
    row = int(np.argmin(np.abs(run.t - seen[0])))
    known = joint_forces(run, drawing(run, mechanism), True)
    for (name, force), shown in zip(known.items(), seen[1:], strict=True):
        np.testing.assert_allclose(shown, force[row], atol=1e-4, err_msg=name)
    # so are their curves, without those that a redundant loop leaves open
    tab.locator(".chooser summary").click()
    tab.locator(".list label").first.wait_for()
    columns = tab.locator(".list label").all_text_contents()
    names = {x: label.unit for x, (label, _) in run.shown_columns("reactions.*").items()}
    assert {x.strip() for x in columns if "reactions" in x} == {
        f"{x} [{unit}]" for x, unit in names.items()
    }
    t, F = rows_until(tab, "reactions.B.Fx", 0.1)
    np.testing.assert_allclose(F[row], run["reactions.B.Fx"][row], atol=1e-5)
    # a length with which this mode does not close is said, and the motion stays
    tab.get_by_label("a [m], as a number").fill("5")
    tab.get_by_label("a [m], as a number").press("Enter")
    tab.wait_for_function("() => !document.querySelector('.error').hidden")
    assert "this assembly mode does not close" in tab.locator(".error").inner_text()
    assert tab.evaluate("liaison.simulation().parameters.a") == 0.07
    assert tab.complaints == []
    tab.context.close()


@pytest.fixture(scope="module")
def cam(examples, tmp_path_factory):
    """A cam whose profile follows two parameters."""
    text = (examples / "contact/cam_lift_off.lsd").read_text(encoding="utf-8")
    text = text.replace("let base = 40 mm ; let lift", "parameter base = 40 mm ; parameter lift")
    mechanism = liaison.read(text)
    run = liaison.simulate(mechanism, until=0.05, every=0.01)
    path = tmp_path_factory.mktemp("live") / "cam.html"
    liaison.page(run, mechanism, path, live=True)
    return mechanism, run, path


def test_corners_of_a_cam_follow_its_parameters(browser, cam):
    mechanism, _, path = cam
    tab = opened(browser, path)
    points = (
        "liaison.scene.bodies.find((x) => x.name === 'cam').pieces.find((x) => x.points).points"
    )
    first = np.array(tab.evaluate(points)).reshape(-1, 3)
    tab.get_by_label("lift [m], as a number").fill("0.003")
    tab.get_by_label("lift [m], as a number").press("Enter")
    tab.wait_for_function("() => liaison.simulation().parameters.lift === 0.003")
    now = np.array(tab.evaluate(points)).reshape(-1, 3)
    radii = [np.linalg.norm(x[:120, :2], axis=1) for x in (first, now)]
    assert [np.ptp(x) for x in radii] == pytest.approx([0.012, 0.006], rel=1e-3)
    other = liaison.simulate(mechanism, until=0.01, parameters={"lift": 0.003})
    (piece,) = (x for x in drawing(other, mechanism).pieces["cam"] if x.surface is not None)
    np.testing.assert_allclose(now, piece.surface.vertices, atol=1e-6)
    assert tab.locator(".controls-live .empty").is_hidden()
    tab.context.close()


def test_what_the_drawing_does_not_follow_is_said(browser, cam, tmp_path, monkeypatch):
    mechanism, run, _ = cam
    monkeypatch.setattr(document, "MOST_VERTICES", 100)
    path = tmp_path / "cam.html"
    liaison.page(run, mechanism, path, live=True)
    assert scene_in(path)["stale"] == ["base", "lift"]
    tab = opened(browser, path)
    tab.get_by_label("lift [m], as a number").fill("0.003")
    tab.get_by_label("lift [m], as a number").press("Enter")
    tab.wait_for_function("() => liaison.simulation().parameters.lift === 0.003")
    words = tab.locator(".controls-live .empty").inner_text()
    assert words == "Some shapes are drawn for the original value of lift."
    tab.context.close()


def test_contacts_have_marks_and_events_while_they_simulate(browser, stops):
    mechanism, path = stops
    tab = opened(browser, path)
    tab.get_by_label("Speed").select_option("5")
    tab.evaluate("liaison.play()")
    rows_until(tab, "contacts.hard", 2)
    tab.evaluate("liaison.pause()")
    run = liaison.simulate(mechanism, until=2, every=1 / 120)
    times = [x.t for x in run.events if x.what == "impact"]
    tab.wait_for_function(f"() => liaison.scene.events.count >= {len(run.events)}")
    groups = tab.evaluate("liaison.scene.events.groups.filter((x) => x.hit).map((x) => x.begin)")
    assert groups[0] == pytest.approx(times[0], abs=1e-6)
    # red while the impact is seen, gray before
    where = "(t) => { liaison.seek(t); return liaison.contact(0); }"
    name = tab.evaluate("liaison.scene.contacts[0].name")
    first = next(x.t for x in run.events if x.what == "impact" and x.name == name)
    assert tab.evaluate(where, first + 0.02)["state"] == "impact"
    assert tab.evaluate(where, first - 0.05)["state"] == "open"
    assert tab.locator(".strips .track u.hit").count() >= 1
    assert "impact" in tab.locator(".legend").inner_text()
    assert "contact force" not in tab.locator(".legend").inner_text()
    assert [x.split()[-1] for x in tab.locator(".scale").all_inner_texts()] == ["mm", "N·m"]
    assert tab.complaints == []
    tab.context.close()
