"""Names with values and units, as text.

Public names: listed, named_values, named_value.
"""

from __future__ import annotations

from collections.abc import Mapping


def listed(names: list[str]) -> str:
    """Up to twelve names, and how many more there are."""
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def named_values(
    found: Mapping[str, float | None], units: Mapping[str, str], unknown: str = "unknown"
) -> str:
    """ "m = 2 kg, gap = unknown [m], tip [mm]"."""
    return listed([named_value(name, x, units.get(name, ""), unknown) for name, x in found.items()])


def named_value(name: str, x: float | None, unit: str, unknown: str = "unknown") -> str:
    """ "m = 2 kg"; where there is no value, the word for that."""
    if x is not None:
        return f"{name} = {x:.6g} {unit}".rstrip()
    told = f"{name} = {unknown}" if unknown else name
    return f"{told} [{unit}]" if unit else told
