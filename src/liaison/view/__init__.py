"""The room `view`: curves and moving pictures of a run. Its third parties load when used."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "live": "LiveView",
        "plot": "plot save_plot",
        "scene": "page show",
    },
)
