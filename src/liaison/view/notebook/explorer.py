"""A mechanism under sliders: each move of one simulates again and shows the new motion.

The sliders are a widget; the motion below them is an output of its own, which is replaced, so that
a saved notebook keeps the last motion without the widget, with a line that says where the sliders
were: converted to HTML, or read where widgets are not shown, it needs neither Python nor a network.
While Python simulates, the widget keeps the latest places of the sliders back and sends them when
it is answered, so that moves do not queue up. Python simulates: a closed kernel leaves the last
motion standing.

Public names: Explorer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, final

from liaison.errors import LiaisonError, NamingError, needed

from .animation import Animation
from .slider import Slider

JS, CSS = "explorer.js", "explorer.css"  # beside this file


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
        self._widget = _widget_class()(
            title=title, sliders=[x.to_plain() for x in sliders], values=self._places()
        )
        self._handles: list[Any] = []
        self.message = ""
        self.result, self.animation = self._shown_motion()
        self._widget.observe(self._moved, "asked")

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
            for handle in self._handles:
                handle.update(self.animation)
        self._widget.message = self.message

    def _ipython_display_(self) -> None:
        """For notebooks: the sliders, and below them the motion."""
        with needed("notebook"):
            from IPython.display import display

        display(self._widget)
        self._handles.append(display(self.animation, display_id=True))

    def __repr__(self) -> str:
        return f"<Explorer {self.title}: {', '.join(x.name for x in self.sliders)}>"


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
        "_esm": files.joinpath(JS).read_text(encoding="utf-8"),
        "_css": files.joinpath(CSS).read_text(encoding="utf-8"),
        "title": shared(traitlets.Unicode),
        "sliders": shared(traitlets.List),
        "values": shared(traitlets.Dict),
        "asked": shared(traitlets.Int, 0),
        "answered": shared(traitlets.Int, 0),
        "message": shared(traitlets.Unicode),
    }
    return type("LiaisonSliders", (anywidget.AnyWidget,), members)
