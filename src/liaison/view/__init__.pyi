"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.view.live import LiveView as LiveView
from liaison.view.plot import plot as plot
from liaison.view.plot import save_plot as save_plot
from liaison.view.scene import page as page
from liaison.view.scene import show as show
