"""Moving pictures in the cells of a notebook: alone, and with sliders bound to Python."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "animation": "Animation",
        "explorer": "Explorer",
        "frame": "inline_frame page_text",
        "slider": "Slider",
    },
)
