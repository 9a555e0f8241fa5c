"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from .state import Array as Array
from .state import State as State
