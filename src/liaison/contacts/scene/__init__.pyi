"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.contacts.scene.parts import ROD as ROD
from liaison.contacts.scene.parts import ROUND as ROUND
from liaison.contacts.scene.parts import Bodies as Bodies
from liaison.contacts.scene.parts import Laws as Laws
from liaison.contacts.scene.parts import SceneModel as SceneModel
from liaison.contacts.scene.parts import Terrain as Terrain
