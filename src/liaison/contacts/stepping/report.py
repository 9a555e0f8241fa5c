"""Report of a run by Moreau's steps: contacts along it, and problems not solved.

Public names: stepped_contacts, stepped_meta.
"""

from __future__ import annotations

from typing import Any

from liaison.contacts.events.one_sided import Marching
from liaison.contacts.events.series import Contacts, contacts_along
from liaison.numeric import Array
from liaison.simulation.events.watched import sides_in
from liaison.simulation.plan.plan import Plan
from liaison.simulation.steps.layout import Arrays


def stepped_contacts(plan: Plan, rows: Array, event_rows: Array) -> Contacts | None:
    """Contacts at every recorded state, their forces being those of its mode without impacts.

    None where the run took other steps, or nothing is unilateral.
    """
    if plan.settings.tableau.scheme != "moreau" or not sides_in(plan.program):
        return None
    return contacts_along(Marching(plan, "moreau"), plan, rows, event_rows)


def stepped_meta(plan: Plan, arrays: Arrays) -> dict[str, Any]:
    """The deepest penetration left [m] and the worst residual of complementarity, of all steps."""
    if plan.settings.tableau.scheme != "moreau":
        return {}
    run = arrays.run
    return {
        "theta": float(run.theta),
        "penetration": float(run.penetration),
        "complementarity": float(run.complementarity),
        "contacts": int(run.contacts),
    }
