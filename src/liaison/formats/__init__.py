"""The room `formats`: text in, `Mechanism` out, and back.

LSD is the house's own language; URDF and MJCF are guests'.

Nothing of a file is ever executed, and nothing a file names is opened.
"""

from liaison.formats.lsd.read import read_lsd, read_value
from liaison.formats.mjcf.read import read_mjcf, reading_of_mjcf
from liaison.formats.urdf.read import read_urdf, reading_of_urdf

from .notes import Reading
from .read import read, reading

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
