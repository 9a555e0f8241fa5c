"""The room `formats`: text in, `Mechanism` out. LSD is the house's own language, URDF a guest's.

Nothing of a file is ever executed, and nothing a file names is opened.
"""

from .lsd import read_lsd, read_value
from .read import read
from .urdf import Reading, read_urdf, reading_of_urdf

__all__ = ["Reading", "read", "read_lsd", "read_urdf", "read_value", "reading_of_urdf"]
