"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from .entry import app as app
from .entry import main as main
