"""Height fields of MJCF: from `elevation`, from PNG, and from MuJoCo's own binary files.

Heights are brought to 0 … 1 and multiplied by the third of `size`; the first two are half sides.
Rows of `elevation` and of a picture are as seen from above, those of a binary file from the least
y. What is below the surface is solid without end: the base, the fourth of `size`, counts for the
mass alone.

Public names: HeightFields.

Source: MUJOCO XML reference, asset/hfield.
"""

from __future__ import annotations

import struct
from pathlib import PurePosixPath
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ModelError, NamingError, TextError
from liaison.formats.urdf.xml import Element, number_in, numbers_in
from liaison.model.shapes import HeightField
from liaison.numeric.height_fields import MOST_BYTES, MOST_HEIGHTS, png_heights

from .expand import Folder
from .values import Settings

Floats = NDArray[np.float64]


@final
class HeightFields:
    """The <hfield> of a file, each opened when it is needed."""

    def __init__(self, root: Element, settings: Settings, folder: Folder) -> None:
        self.settings, self.folder = settings, folder
        self.fields: dict[str, HeightField] = {}
        self.elements = {_name(x): x for asset in root.all("asset") for x in asset.all("hfield")}

    def field(self, geom: Element) -> HeightField:
        """The height field of a geom.

        Raises:
            LiaisonError: no such field, or one that cannot be read.
        """
        name = geom.get("hfield")
        if name not in self.elements:
            raise NamingError.unknown("height field", name, self.elements, place=geom.place)
        if name not in self.fields:
            element = self.elements[name]
            try:
                self.fields[name] = self.read(element)
            except ModelError as error:
                message = error.message.replace("a height field", str(element))
                raise ModelError(message, place=element.place, hint=error.hint) from None
        return self.fields[name]

    def filled(self, geom: Element) -> list[Any]:
        """Half sides of the box that has its mass: a half of the surface's height, and the base."""
        self.field(geom)
        across, along, high, base = numbers_in(self.elements[geom.get("hfield")], "size", 4, "")
        return [across, along, high / 4 + base / 2]

    def read(self, element: Element) -> HeightField:
        """The field of an element."""
        size = [float(x) for x in numbers_in(element, "size", 4, "")]
        if min(size) <= 0:
            raise ModelError(f"the size of {element} is {size}; it must be positive.")
        heights = self.heights(element)
        heights = heights - heights.min()
        high = float(heights.max())
        if high > 0:
            heights = heights / high
        rows: Any = heights * size[2]
        return HeightField(2 * size[0], 2 * size[1], rows)

    def heights(self, element: Element) -> Floats:
        """Heights as they are written, rows from the least y."""
        name = element.attributes.get("file")
        if name is None:
            rows, columns = (int(number_in(element, key)) for key in ("nrow", "ncol"))
            _check_count(rows, columns, element)
            if "elevation" not in element.attributes:
                return np.zeros((rows, columns))
            listed = numbers_in(element, "elevation", rows * columns, "")
            return np.array([float(x) for x in listed]).reshape(rows, columns)[::-1]
        data = self.folder.data(name, element, self.settings.meshes_in, MOST_BYTES)
        is_png = PurePosixPath(name).suffix.lower() == ".png"
        if is_png or element.attributes.get("content_type") == "image/png":
            return png_heights(data, f"the file {name!r} of {element}")
        return _binary(data, name, element)


def _binary(data: bytes, name: str, element: Element) -> Floats:
    """Rows, columns, and heights in single precision."""
    if len(data) < 8:
        raise TextError(f"the file {name!r} of {element} is damaged: it is too short.")
    rows, columns = struct.unpack("<ii", data[:8])
    _check_count(rows, columns, element)
    if len(data) != 8 + 4 * rows * columns:
        raise TextError(
            f"the file {name!r} of {element} is damaged: {rows} rows of {columns} heights take "
            f"{8 + 4 * rows * columns} bytes, not {len(data)}.",
            place=element.place,
        )
    heights = np.frombuffer(data, dtype="<f4", offset=8).astype(float).reshape(rows, columns)
    if not np.isfinite(heights).all():
        raise TextError(f"the file {name!r} of {element} has a height that is not finite.")
    return heights


def _check_count(rows: int, columns: int, element: Element) -> None:
    if rows < 2 or columns < 2 or rows * columns > MOST_HEIGHTS:
        raise ModelError(
            f"{element} has {rows} rows of {columns} heights; it takes two of two or more, and "
            f"{MOST_HEIGHTS} at most.",
            place=element.place,
        )


def _name(element: Element) -> str:
    file = element.attributes.get("file", "").replace("\\", "/")
    return element.attributes.get("name") or PurePosixPath(file).stem
