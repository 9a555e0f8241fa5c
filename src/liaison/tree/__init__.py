"""The room `tree`: a spanning tree on a mechanism, its kinematics, its closures, its assembly."""

from liaison.tree.contact.lengths import unguarded
from liaison.tree.contact.places import ContactPlace, contact_places
from liaison.tree.contact.side_reading import SideReading
from liaison.tree.contact.sides import SideBlock, side_blocks

from .assemble import Assembly, assemble, assembly
from .closure import (
    Push,
    Row,
    closure_rows,
    distance_row,
    joint_rows,
    marker_motion,
    power_row,
    relation_row,
    relative_rows,
    row_place,
    with_rates,
)
from .demand import turning_joint
from .kinematics import Kinematics, Motion, on_symbols
from .regroup import added, merged, regrouped
from .templates import template
from .tree import GROUND, Closure, Inertia, Node, Tree, as_float, span

__all__ = [
    "GROUND",
    "Assembly",
    "Closure",
    "ContactPlace",
    "Inertia",
    "Kinematics",
    "Motion",
    "Node",
    "Push",
    "Row",
    "SideBlock",
    "SideReading",
    "Tree",
    "added",
    "as_float",
    "assemble",
    "assembly",
    "closure_rows",
    "contact_places",
    "distance_row",
    "joint_rows",
    "marker_motion",
    "merged",
    "on_symbols",
    "power_row",
    "regrouped",
    "relation_row",
    "relative_rows",
    "row_place",
    "side_blocks",
    "span",
    "template",
    "turning_joint",
    "unguarded",
    "with_rates",
]
