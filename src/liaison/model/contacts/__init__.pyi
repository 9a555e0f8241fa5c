"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.model.contacts.collisions import Collision as Collision
from liaison.model.contacts.contact import Contact as Contact
from liaison.model.contacts.formulas import GapContact as GapContact
from liaison.model.contacts.formulas import Unilateral as Unilateral
from liaison.model.contacts.friction import Friction as Friction
from liaison.model.contacts.geometry import CONTACT_KINDS as CONTACT_KINDS
from liaison.model.contacts.joint_friction import BearingFriction as BearingFriction
from liaison.model.contacts.joint_friction import DryFriction as DryFriction
from liaison.model.contacts.one_sided import ONE_MODE as ONE_MODE
from liaison.model.contacts.one_sided import OneSided as OneSided
from liaison.model.contacts.one_sided import check_bilateral as check_bilateral
from liaison.model.contacts.one_sided import left_out as left_out
from liaison.model.contacts.shape import PAIRS as PAIRS
from liaison.model.contacts.shape import SHAPE_KINDS as SHAPE_KINDS
from liaison.model.contacts.shape import TARGET_KINDS as TARGET_KINDS
from liaison.model.contacts.shape import ContactShape as ContactShape
from liaison.model.contacts.shape import ContactTarget as ContactTarget
from liaison.model.contacts.shape import Sizes as Sizes
from liaison.model.contacts.shape import Solid as Solid
from liaison.model.contacts.shape import shape_kind as shape_kind
from liaison.model.contacts.shape import target_kind as target_kind
from liaison.model.contacts.shape import touching as touching
from liaison.model.contacts.targets import CURVE as CURVE
from liaison.model.contacts.targets import PROFILE as PROFILE
from liaison.model.contacts.targets import SURFACE as SURFACE
from liaison.model.contacts.touch import Touching as Touching
