"""A mechanism under sliders: each move of one simulates again and shows the new motion.

The sliders are a widget, with the front end of pages in a frame below them: a new motion is posted
to it, and its camera, its curves and its time stay. An output of its own, hidden while the frame is
there, holds the same motion with a line that says where the sliders were, and is replaced when they
rest: a saved notebook, converted to HTML or read where widgets are not shown, needs neither Python
nor a network. While Python simulates, the widget keeps the latest places of the sliders back and
sends them when it is answered, so that moves do not queue up. Python simulates: a closed kernel
leaves the last motion standing.

Public names: Explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import count
from typing import Any, final

from liaison.errors import LiaisonError, NamingError, needed
from liaison.view.pages.html import front_end

from .animation import Animation
from .frame import scene_blocks
from .slider import Slider

CSS = "explorer.css"  # beside this file
NUMBERS = count(1)


@final
class Explorer:
    """Sliders and the motion that they lead to; the last line of a cell shows both.

    Attributes:
        sliders: what can be moved.
        animation: the motion at their places, or the last one where these have none.
        message: why there is no motion at these places; "" where there is one.
        result: what the simulation returned, for further use in Python.
    """

    def __init__(
        self,
        title: str,
        sliders: Sequence[Slider],
        motion: Callable[[dict[str, float]], tuple[Any, Animation]],
    ) -> None:
        """Shows the first motion.

        Args:
            title: of the mechanism.
            sliders: what can be moved.
            motion: values in SI by name -> the result of the simulation and its picture.

        Raises:
            MissingModule: the extra `notebook` is not installed.
        """
        self.title, self.sliders, self._motion = title, tuple(sliders), motion
        self._key = f"explorer-{next(NUMBERS)}"
        self._widget = _widget_class()(
            title=title, key=self._key, sliders=[x.to_plain() for x in sliders],
            values=self._places(),
        )  # fmt: skip
        self._handles: list[Any] = []
        self._is_framed = False
        self.message = ""
        self.result, self.animation = self._shown_motion()
        self._widget.observe(self._moved, "asked")
        self._widget.on_msg(self._heard)

    @property
    def values(self) -> dict[str, float]:
        """Where the sliders are, in SI."""
        places = self._widget.values
        return {x.name: x.in_si(float(places[x.name])) for x in self.sliders}

    def set(self, values: Mapping[str, float]) -> None:
        """Moves sliders from Python, in the units that they show.

        Raises:
            NamingError: no slider has that name.
        """
        known = [x.name for x in self.sliders]
        for name in values:
            if name not in known:
                raise NamingError.unknown("slider", name, known)
        self._widget.values = self._widget.values | {x: float(y) for x, y in values.items()}
        self._simulate()
        self._keep()

    def _places(self) -> dict[str, float]:
        return {x.name: x.value for x in self.sliders}

    def _moved(self, change: Mapping[str, Any]) -> None:
        """The widget asks for the motion at its places, and waits until it is answered."""
        try:
            self._simulate()
        finally:
            self._widget.answered = change["new"]

    def _shown_motion(self) -> tuple[Any, Animation]:
        """The result and the picture at the places of the sliders, which its caption names."""
        result, animation = self._motion(self.values)
        animation.caption = f"At {', '.join(x.text(self.values[x.name]) for x in self.sliders)}."
        return result, animation

    def _simulate(self) -> None:
        try:
            self.result, self.animation = self._shown_motion()
        except LiaisonError as error:
            self.message = str(error)
        else:
            self.message = ""
            if self._is_framed:
                self._widget.send(scene_blocks(self.animation.page))
            else:
                self._keep()
        self._widget.message = self.message

    def _heard(self, _: Any, content: Mapping[str, Any], __: Any) -> None:
        """The widget has no frame yet, or its sliders rest."""
        if content.get("ask") == "page":
            self._is_framed = True
            shown = self.animation
            self._widget.send({"page": shown.page, "height": shown.height, "title": shown.title})
        elif content.get("ask") == "keep":
            self._keep()

    def _keep(self) -> None:
        """What a saved notebook keeps is the motion now."""
        for handle in self._handles:
            handle.update(_Kept(self.animation, self._key))

    def _ipython_display_(self) -> None:
        """For notebooks: the sliders, and below them the motion."""
        with needed("notebook"):
            from IPython.display import display

        display(self._widget)
        self._handles.append(display(_Kept(self.animation, self._key), display_id=True))

    def __repr__(self) -> str:
        return f"<Explorer {self.title}: {', '.join(x.name for x in self.sliders)}>"


@final
class _Kept:
    """The motion as a saved notebook keeps it, in an element that its widget can hide."""

    def __init__(self, animation: Animation, key: str) -> None:
        self.animation, self.key = animation, key

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        html = f'<div data-liaison="{self.key}">{self.animation.html()}</div>'
        return {"text/plain": repr(self.animation), "text/html": html}


@cache
def _widget_class() -> Any:
    """The widget: what is shared with its script, and the script."""
    with needed("notebook"):
        import anywidget
        import traitlets

    def shared(kind: Any, *default: Any) -> Any:
        return kind(*default).tag(sync=True)

    files = resources.files(__package__)
    members = {
        "_esm": front_end()["explorer.js"],
        "_css": files.joinpath(CSS).read_text(encoding="utf-8"),
        "title": shared(traitlets.Unicode),
        "key": shared(traitlets.Unicode),
        "sliders": shared(traitlets.List),
        "values": shared(traitlets.Dict),
        "asked": shared(traitlets.Int, 0),
        "answered": shared(traitlets.Int, 0),
        "message": shared(traitlets.Unicode),
    }
    return type("LiaisonSliders", (anywidget.AnyWidget,), members)
