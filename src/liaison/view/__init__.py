"""The room `view`: curves and moving pictures of a run. Its third parties load when used."""

from .live import LiveView
from .plot import plot, save_plot
from .scene import page, show

__all__ = ["LiveView", "page", "plot", "save_plot", "show"]
