"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from .parts import Bodies as Bodies
from .parts import Laws as Laws
from .scene import Scene as Scene
