"""The room `formats`: text in, `Mechanism` out, and back.

LSD is the house's own language; URDF and MJCF are guests'.

Nothing of a file is ever executed, and nothing a file names is opened.
"""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "lsd.read": "read_lsd read_value",
        "mjcf.read": "read_mjcf reading_of_mjcf",
        "guard": "Reading",
        "read": "read reading",
        "urdf.read": "read_urdf reading_of_urdf",
    },
)
