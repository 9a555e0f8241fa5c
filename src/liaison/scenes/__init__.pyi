"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.scenes.parts import Bodies as Bodies
from liaison.scenes.parts import Laws as Laws
from liaison.scenes.scene import Scene as Scene
