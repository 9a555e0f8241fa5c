"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.numeric.state import Array as Array
from liaison.numeric.state import State as State
