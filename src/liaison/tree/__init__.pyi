"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.tree.contact.lengths import unguarded as unguarded
from liaison.tree.contact.places import ContactPlace as ContactPlace
from liaison.tree.contact.places import contact_places as contact_places
from liaison.tree.contact.side_reading import SideReading as SideReading
from liaison.tree.contact.sides import SideBlock as SideBlock
from liaison.tree.contact.sides import side_blocks as side_blocks

from .assemble import Assembly as Assembly
from .assemble import assemble as assemble
from .assemble import assembly as assembly
from .closure import Push as Push
from .closure import Row as Row
from .closure import closure_rows as closure_rows
from .closure import distance_row as distance_row
from .closure import joint_rows as joint_rows
from .closure import marker_motion as marker_motion
from .closure import power_row as power_row
from .closure import relation_row as relation_row
from .closure import relative_rows as relative_rows
from .closure import row_place as row_place
from .closure import with_rates as with_rates
from .demand import turning_joint as turning_joint
from .kinematics import Kinematics as Kinematics
from .kinematics import Motion as Motion
from .kinematics import on_symbols as on_symbols
from .regroup import added as added
from .regroup import merged as merged
from .regroup import regrouped as regrouped
from .templates import template as template
from .tree import GROUND as GROUND
from .tree import Closure as Closure
from .tree import Inertia as Inertia
from .tree import Node as Node
from .tree import Tree as Tree
from .tree import as_float as as_float
from .tree import span as span
