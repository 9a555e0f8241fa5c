"""The live view: controls of time, speed and what is shown, in the browser and from Python.

Handed a viser server; imports no viewer itself.

Public names: LiveView.
"""

from __future__ import annotations

import contextlib
import io
import threading
import time
import webbrowser
from typing import Any, Self, final

import numpy as np

from liaison.simulation.record.trajectory import Trajectory

from .stage import Stage

SPEEDS = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)
MOST_EVENTS = 400  # in the list
PICTURE = 1 / 60  # seconds between two looks at the clock


@final
class LiveView:
    """A view being served on this machine; close it, or use it in a `with` block."""

    def __init__(self, server: Any, stage: Stage, run: Trajectory, speed: float) -> None:
        self._server, self._stage, self._run = server, stage, run
        self._lock = threading.RLock()
        self._closed = threading.Event()
        self._time, self._speed, self._is_playing = float(run.t[0]), float(speed), False
        self._make_panel()
        self._thread = threading.Thread(target=self._keep_time, name="liaison view", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where the view is."""
        return f"http://127.0.0.1:{self._server.get_port()}"

    @property
    def time(self) -> float:
        """The instant shown [s]."""
        return self._time

    @property
    def is_playing(self) -> bool:
        """True while time runs."""
        return self._is_playing

    def seek(self, t: float) -> None:
        """Show the instant t [s], or the nearest of the run."""
        with self._lock:
            self._time = float(np.clip(t, self._run.t[0], self._run.t[-1]))
            k = int(np.argmin(np.abs(self._run.t - self._time)))
            with self._server.atomic():
                self._stage.show(k)
            if self._slider is not None and self._slider.value != self._time:
                self._slider.value = self._time

    def play(self) -> None:
        """Let time run; from the start again if it is at its end."""
        self._set_playing(len(self._run) > 1)

    def pause(self) -> None:
        """Let time stand."""
        self._set_playing(False)

    def open(self) -> None:
        """Show the view in the browser."""
        webbrowser.open(self.url)

    def wait(self) -> None:
        """Serve until Ctrl-C, then close."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            pass
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving."""
        if not self._closed.is_set():
            self._closed.set()
            self._thread.join(timeout=2)
            with contextlib.redirect_stdout(io.StringIO()):
                self._server.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _set_playing(self, is_playing: bool) -> None:
        with self._lock:
            self._is_playing = is_playing
            self._button.label = "Pause" if is_playing else "Play"

    def _make_panel(self) -> None:
        gui, run = self._server.gui, self._run
        gui.set_panel_label(run.name)
        start, end = float(run.t[0]), float(run.t[-1])
        self._slider = None
        if end > start:
            step = (end - start) / 10_000
            self._slider = gui.add_slider("time [s]", start, end, step, start)
            self._slider.on_update(lambda event: self._moved_by_hand(event))
        self._button = gui.add_button("Play")
        self._button.on_click(lambda _: self._set_playing(not self._is_playing))
        speeds = sorted({*SPEEDS, self._speed})
        names = [f"{x:g}" for x in speeds]
        choice = gui.add_dropdown("speed", names, initial_value=f"{self._speed:g}")
        choice.on_update(lambda _: setattr(self, "_speed", float(choice.value)))
        if run.events:
            self._add_events()
        for group, handles in self._stage.groups.items():
            if handles:
                self._add_switch(group, handles)

    def _add_events(self) -> None:
        """A list of events; choosing one goes to its instant."""
        events = sorted(self._run.events, key=lambda x: x.t)[:MOST_EVENTS]
        texts = [f"{x.t:.6g} s  {x.name} {x.what}".rstrip() for x in events]
        first = f"{len(self._run.events)} to go to"
        choice = self._server.gui.add_dropdown("events", [first, *dict.fromkeys(texts)])
        times = {text: x.t for text, x in zip(texts, events, strict=True)}

        def chosen(_: Any) -> None:
            if choice.value in times:
                self.pause()
                self.seek(times[choice.value])

        choice.on_update(chosen)

    def _add_switch(self, group: str, handles: list[Any]) -> None:
        switch = self._server.gui.add_checkbox(group, handles[0].visible)

        def changed(_: Any) -> None:
            for handle in handles:
                handle.visible = switch.value

        switch.on_update(changed)

    def _moved_by_hand(self, event: Any) -> None:
        # moves made by `seek` come back without a client
        if event.client is not None and self._slider is not None:
            self.pause()
            self.seek(self._slider.value)

    def _keep_time(self) -> None:
        before = time.monotonic()
        while not self._closed.wait(PICTURE):
            now = time.monotonic()
            if self._is_playing:
                later = self._time + (now - before) * self._speed
                self.seek(later if later < self._run.t[-1] else float(self._run.t[0]))
            before = now
