"""The live view serves on this machine only, follows its clock, and stops when told."""

import socket
import urllib.request

import numpy as np
import pytest

from liaison.view import show


@pytest.fixture
def view(double_pendulum):
    with show(
        double_pendulum.run, double_pendulum.mechanism, port=0, browser=False, forces=True
    ) as made:
        yield made


def test_it_is_served_on_this_machine(view):
    with urllib.request.urlopen(view.url, timeout=5) as answer:
        assert b"<html" in answer.read()[:200].lower()
    assert view.url.startswith("http://127.0.0.1:")


def test_time_runs_and_stands(view):
    assert view.is_playing
    view.pause()
    view.seek(1.25)
    assert view.time == 1.25
    stage = view._stage
    k = int(np.argmin(np.abs(view._run.t - 1.25)))
    expected = stage.drawn.poses["lower"][k, :, 3]
    assert tuple(stage._bodies["lower"].position) == pytest.approx(tuple(expected))
    view.seek(99)
    assert view.time == view._run.t[-1]
    view.play()
    assert view.is_playing


def test_it_stops(double_pendulum):
    view = show(double_pendulum.run, double_pendulum.mechanism, port=0, browser=False)
    port = int(view.url.rpartition(":")[2])
    view.close()
    view.close()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        pass


@pytest.mark.slow
def test_a_browser_sees_it(browser, view):
    view.pause()
    context = browser.new_context(viewport={"width": 640, "height": 400})
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    tab.goto(view.url)
    tab.wait_for_selector("canvas")
    for word in ("time [s]", "Play", "speed", "frames", "names", "forces"):
        tab.get_by_text(word, exact=True).first.wait_for(timeout=30_000)
    tab.get_by_text("Play", exact=True).first.click()
    tab.get_by_text("Pause", exact=True).first.wait_for(timeout=30_000)
    assert view.is_playing
    assert complaints == []
    context.close()
