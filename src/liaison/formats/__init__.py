"""The room `formats`: text in, `Mechanism` out, and back.

LSD is the house's own language; URDF and MJCF are guests'.

Nothing of a file is ever executed, and nothing a file names is opened.
"""

from .lsd import read_lsd, read_value
from .mjcf import read_mjcf, reading_of_mjcf
from .notes import Reading
from .read import read, reading
from .urdf import read_urdf, reading_of_urdf

__all__ = [
    "Reading",
    "read",
    "read_lsd",
    "read_mjcf",
    "read_urdf",
    "read_value",
    "reading",
    "reading_of_mjcf",
    "reading_of_urdf",
]
