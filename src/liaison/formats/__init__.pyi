"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.formats.guard import Reading as Reading
from liaison.formats.lsd.read import read_lsd as read_lsd
from liaison.formats.lsd.read import read_value as read_value
from liaison.formats.mjcf.read import read_mjcf as read_mjcf
from liaison.formats.mjcf.read import reading_of_mjcf as reading_of_mjcf
from liaison.formats.read import read as read
from liaison.formats.read import reading as reading
from liaison.formats.urdf.read import read_urdf as read_urdf
from liaison.formats.urdf.read import reading_of_urdf as reading_of_urdf
