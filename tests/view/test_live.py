"""The live view serves on this machine only, follows its clock, refuses others, and stops."""

import http.client
import json
import socket
import time
import urllib.request
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from liaison.view import show


@pytest.fixture
def view(double_pendulum):
    with show(
        double_pendulum.run, double_pendulum.mechanism, port=0, browser=False, forces=True
    ) as made:
        yield made


def asked(view, path: str, method: str = "GET", body: str | None = None, **headers: str):
    """Status and text of an answer."""
    link = http.client.HTTPConnection("127.0.0.1", urlsplit(view.url).port, timeout=5)
    with closing(link):
        link.request(method, path, body, headers)
        answer = link.getresponse()
        return answer.status, answer.read().decode("utf-8")


def test_it_is_served_on_this_machine(view):
    assert view.url.startswith("http://127.0.0.1:")
    with urllib.request.urlopen(view.url, timeout=5) as answer:
        text = answer.read().decode("utf-8")
    assert "<html" in text[:200]
    assert "connect-src 'self'" in text


def test_without_its_token_and_from_elsewhere_it_is_refused(view):
    path = urlsplit(view.url).path
    assert len(path) > 20
    assert asked(view, path)[0] == 200
    for wrong in ("/", "/state", path[:-3] + "xx/", "/../" + path):
        assert asked(view, wrong)[0] == 403, wrong
    assert asked(view, path, Host="example.com")[0] == 403
    assert asked(view, path + "state", "POST", "{}", Origin="http://example.com")[0] == 403
    assert asked(view, path + "secret")[0] == 404
    assert asked(view, path + "state", "POST", "[1, 2")[0] == 400


def test_time_runs_and_stands(view):
    assert view.is_playing
    before = view.time
    time.sleep(0.05)
    assert before < view.time <= before + 1
    view.pause()
    view.seek(1.25)
    assert view.time == 1.25
    view.seek(99)
    assert view.time == 2.0
    view.play()
    assert view.is_playing


def test_a_page_is_told_the_time_and_tells_it(view):
    path = urlsplit(view.url).path + "state"
    view.pause()
    view.seek(0.5)
    first = json.loads(asked(view, path)[1])
    assert (first["time"], first["playing"]) == (0.5, False)
    sent = json.dumps({"time": 1.5, "playing": False, "speed": 0.25})
    answer = json.loads(asked(view, path, "POST", sent)[1])
    assert answer["serial"] > first["serial"]
    assert view.time == 1.5
    # what is asked for after a change is answered at once, with it
    assert json.loads(asked(view, f"{path}?after={first['serial']}")[1])["speed"] == 0.25


def test_it_stops(double_pendulum):
    view = show(double_pendulum.run, double_pendulum.mechanism, port=0, browser=False)
    port = urlsplit(view.url).port
    view.close()
    view.close()
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        pass


def test_a_browser_follows_it_and_is_followed(browser, view):
    view.pause()
    view.seek(0.75)
    context = browser.new_context(viewport={"width": 640, "height": 400})
    tab = context.new_page()
    complaints: list[str] = []
    tab.on("console", lambda m: m.type == "error" and complaints.append(m.text))
    tab.goto(view.url)
    tab.wait_for_selector("[data-ready]")

    def comes(check) -> bool:
        for _ in range(100):
            if check():
                return True
            tab.wait_for_timeout(50)
        return False

    assert comes(lambda: tab.evaluate("liaison.time") == 0.75)
    view.seek(1.25)
    assert comes(lambda: tab.evaluate("liaison.time") == 1.25)
    assert not tab.evaluate("liaison.playing")
    tab.locator("button.play").click()
    assert comes(lambda: view.is_playing)
    tab.locator("button.play").click()
    assert comes(lambda: not view.is_playing)
    assert comes(lambda: abs(view.time - tab.evaluate("liaison.time")) < 1e-6)
    assert complaints == []
    context.close()
