"""A contact shape in one file: a tyre, a torus about z of its frame, above a plane.

With the axis a, the lowest point of the ring of radius ϱ lies under the center by ϱ √(1 − a_z²),
and the tyre of radius r touches below it:

    gap = p_z − ϱ √(a_x² + a_y²) − r,    n = e_z.
"""

from typing import ClassVar, final

import numpy as np

from liaison.expr import as_expr
from liaison.model.contacts import ContactShape, Solid, Touching, shape_kind, touching
from liaison.model.contacts.touch import length
from liaison.model.kinds import Property
from liaison.spatial.arrays import array, identity


@shape_kind
@final
class Torus(ContactShape):
    """A tyre: `tube` is the radius of its section, `ring` that of the circle of its centers."""

    WORD: ClassVar[str] = "torus"
    SYMBOL: ClassVar[str] = "mesh"
    SIZES: ClassVar[tuple[Property, ...]] = (Property("ring", "m"), Property("tube", "m"))
    HAS_AXIS: ClassVar[bool] = True
    ONLY: ClassVar[str] = "A torus touches a plane; give balls to where else it can touch."

    @classmethod
    def reach(cls, sizes):
        return sizes("tube")

    @classmethod
    def solids(cls, sizes):
        ring, tube, n = sizes("ring"), sizes("tube"), 24
        u, w = (x.ravel() for x in np.meshgrid(*[2 * np.pi * np.arange(n) / n] * 2, indexing="ij"))
        far = ring + tube * np.cos(w)
        vertices = np.stack([far * np.cos(u), far * np.sin(u), tube * np.sin(w)], axis=1)
        i, j = np.divmod(np.arange(n * n), n)
        here, next_u = i * n + j, (i + 1) % n * n + j
        next_w, both = i * n + (j + 1) % n, (i + 1) % n * n + (j + 1) % n
        faces = [np.stack(x, axis=1) for x in ((here, next_u, both), (here, both, next_w))]
        return (Solid("mesh", vertices=vertices, faces=np.concatenate(faces)),)


@touching("torus", "plane")
def torus_on_plane(sizes, R, p):
    ring, tube = sizes("ring"), sizes("tube")
    x, y, z = identity()
    level, way = length([R[0, 2], R[1, 2]])
    down = array([ring * R[2, 2] * way[0], ring * R[2, 2] * way[1], -(ring * level)])
    point = down - tube * z
    return [Touching(as_expr(p[2] + point[2]), point, z, (x, y))]
