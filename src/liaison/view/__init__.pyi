"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from .live import LiveView as LiveView
from .plot import plot as plot
from .plot import save_plot as save_plot
from .scene import page as page
from .scene import show as show
