"""The room `tree`: a spanning tree on a mechanism, its kinematics, its closures, its assembly."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "assemble": "Assembly added assemble assembly merged regrouped",
        "closure": "Push Row closure_rows distance_row joint_rows marker_motion power_row "
        "relation_row relative_rows row_place stretch_row template with_rates",
        "contact.lengths": "unguarded",
        "contact.places": "ContactPlace contact_places",
        "kinematics": "Kinematics Motion on_symbols",
        "contact.sides": "SideReading SideBlock side_blocks",
        "tree": "Closure GROUND Inertia Node Tree as_float span turning_path",
    },
)
