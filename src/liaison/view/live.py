"""The live view: a page on this machine, with controls of time in the browser and from Python.

The page is served to this machine only, with a token in its address, for its own origin. It asks
for the time to show and waits for the answer until it has changed; what a hand does in the page is
sent back.

Public names: LiveView.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
import time
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, final
from urllib.parse import parse_qs, urlsplit

from liaison.simulation.record.trajectory import Trajectory
from liaison.view.pages.document import Scene
from liaison.view.pages.html import page_html

HOST = "127.0.0.1"
MOST_PORTS = 50
"""Ports tried, from the one that is asked for."""

LONGEST_WAIT = 15.0
"""Seconds until a request for changes is answered without one."""

MOST_BYTES = 10_000
"""Of what a page sends."""


@final
class LiveView:
    """A view being served on this machine; close it, or use it in a `with` block.

    Its address holds a token; requests without it, and those of other origins, are rejected.
    """

    def __init__(self, scene: Scene, run: Trajectory, speed: float, port: int) -> None:
        self._clock = Clock(float(run.t[0]), float(run.t[-1]), float(speed))
        text = page_html(scene, served={"state": "state"})
        self._server = LocalServer(text, self._clock, port)

    def __repr__(self) -> str:
        return f"<LiveView at {self.time:.6g} s, {'playing' if self.is_playing else 'paused'}>"

    @property
    def url(self) -> str:
        """Where the view is."""
        return self._server.url

    @property
    def time(self) -> float:
        """The instant shown [s]."""
        return self._clock.time

    @property
    def is_playing(self) -> bool:
        """True while time runs."""
        return self._clock.is_playing

    def seek(self, t: float) -> None:
        """Show the instant t [s], or the nearest of the run."""
        self._clock.set(time_shown=float(t))

    def play(self) -> None:
        """Let time run; from the start again if it is at its end."""
        self._clock.set(is_playing=True)

    def pause(self) -> None:
        """Let time stand."""
        self._clock.set(is_playing=False)

    def open(self) -> None:
        """Show the view in the browser."""
        webbrowser.open(self.url)

    def wait(self) -> None:
        """Serve until Ctrl-C, then close."""
        try:
            while not self._server.is_closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        if not self._server.is_closed.is_set():
            self._server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@final
class Clock:
    """The time shown: stands, or runs with a speed and starts again at its end."""

    def __init__(self, begin: float, end: float, speed: float) -> None:
        self.begin, self.end = begin, end
        self.changed = threading.Condition()
        self.serial = 0
        self._speed, self._is_playing = speed, False
        self._time, self._since = begin, time.monotonic()

    @property
    def time(self) -> float:
        """The instant shown [s]."""
        with self.changed:
            if not self._is_playing:
                return self._time
            later = self._time + (time.monotonic() - self._since) * self._speed
            length = self.end - self.begin
            return later if later <= self.end else self.begin + (later - self.begin) % length

    @property
    def is_playing(self) -> bool:
        """True while time runs."""
        return self._is_playing

    def set(
        self,
        *,
        time_shown: float | None = None,
        is_playing: bool | None = None,
        speed: float | None = None,
    ) -> None:
        """Change what is not None; time stays within the run."""
        with self.changed:
            now = self.time if time_shown is None else time_shown
            self._time = min(max(now, self.begin), self.end)
            self._since = time.monotonic()
            if is_playing is not None:
                self._is_playing = is_playing and self.end > self.begin
            if speed is not None and speed > 0:
                self._speed = speed
            self.serial += 1
            self.changed.notify_all()

    def state(self) -> dict[str, Any]:
        """As a page reads it."""
        with self.changed:
            return {
                "serial": self.serial,
                "time": self.time,
                "playing": self._is_playing,
                "speed": self._speed,
            }


@final
class LocalServer:
    """Serves one page and its clock until it is closed."""

    def __init__(self, page: str, clock: Clock, port: int) -> None:
        self.token = secrets.token_urlsafe(16)
        self.clock, self.is_closed = clock, threading.Event()
        self.page = page
        self._http = _listening(port)
        self._http.view = self  # type: ignore[attr-defined]
        self.port = int(self._http.server_address[1])
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": 0.05},
            name="liaison view", daemon=True,
        )  # fmt: skip
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the page is."""
        return f"http://{HOST}:{self.port}/{self.token}/"

    def close(self) -> None:
        """Stop serving."""
        self.is_closed.set()
        with self.clock.changed:
            self.clock.changed.notify_all()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=2)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = False


def _listening(port: int) -> _Server:
    for candidate in [*range(port, min(port + MOST_PORTS, 65536))] if port else []:
        with contextlib.suppress(OSError):
            return _Server((HOST, candidate), _Handler)
    return _Server((HOST, 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    """Answers the page and its state; anything else is rejected."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """The page, or its state once it has changed."""
        path = self._allowed()
        if path == "":
            self._answer(HTTPStatus.OK, self._view.page, "text/html; charset=utf-8")
        elif path == "state":
            asked = parse_qs(urlsplit(self.path).query).get("after", ["-1"])[0]
            self._wait_after(int(asked) if asked.lstrip("-").isdigit() else -1)
        elif path is not None:
            self._answer(HTTPStatus.NOT_FOUND, "no such page", "text/plain")

    def do_POST(self) -> None:
        """What a hand did in the page."""
        if self._allowed() != "state":
            return
        length = int(self.headers.get("Content-Length") or 0)
        try:
            if not 0 < length <= MOST_BYTES:
                raise ValueError("no content, or too much")
            sent = json.loads(self.rfile.read(length))
            time_shown, speed = (
                None if sent.get(x) is None else float(sent[x]) for x in ("time", "speed")
            )
            playing = sent.get("playing")
        except (ValueError, AttributeError, TypeError) as error:
            self._answer(HTTPStatus.BAD_REQUEST, str(error), "text/plain")
            return
        self._view.clock.set(
            time_shown=time_shown,
            is_playing=None if playing is None else bool(playing),
            speed=speed,
        )
        self._answer(HTTPStatus.OK, json.dumps(self._view.clock.state()), "application/json")

    @property
    def _view(self) -> LocalServer:
        view: LocalServer = self.server.view  # type: ignore[attr-defined]
        return view

    def _allowed(self) -> str | None:
        """The path behind the token; None where the request is rejected."""
        view = self._view
        hosts = {f"{name}:{view.port}" for name in (HOST, "localhost")}
        origin = self.headers.get("Origin")
        path = urlsplit(self.path).path.split("/")
        is_ours = self.headers.get("Host") in hosts and (
            origin is None or origin.removeprefix("http://") in hosts
        )
        if not is_ours or len(path) < 2 or not secrets.compare_digest(path[1], view.token):
            self._answer(HTTPStatus.FORBIDDEN, "rejected", "text/plain")
            return None
        return "/".join(path[2:])

    def _wait_after(self, serial: int) -> None:
        clock, end = self._view.clock, time.monotonic() + LONGEST_WAIT
        with clock.changed:
            while clock.serial <= serial and not self._view.is_closed.is_set():
                if not clock.changed.wait(max(0.0, end - time.monotonic())):
                    break
        self._answer(HTTPStatus.OK, json.dumps(clock.state()), "application/json")

    def _answer(self, status: HTTPStatus, text: str, kind: str) -> None:
        data = text.encode("utf-8")
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
        }.items():
            self.send_header(name, value)
        if status is not HTTPStatus.OK:
            self.close_connection = True
            self.send_header("Connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed: standard error belongs to the caller."""
