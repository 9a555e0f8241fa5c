"""Loads that follow what they act along, of a tree of many bodies: rows by kind, laws written out.

What Moreau's steps take at the end that it leads to itself (loads-1): measures and their rows are
those of coordinates, or of the distance of two points, which is derived once.

Public names: LoopedLoads, looped_loads.

Source: docs/theory/time_stepping.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

from liaison.equations.completion import implicit_law, measure_symbols, measured
from liaison.equations.setting import Setting, measure_row
from liaison.errors import DerivationError
from liaison.expr import Expr, as_expr, sqrt
from liaison.model import AlongMeasure, Distance
from liaison.spatial.arrays import array, dot, zeros
from liaison.tree import GROUND
from liaison.tree.closure import P
from liaison.tree.contact.templates import rate_template
from liaison.units import Label

from .body_loads import is_of_coordinates, symbol_places
from .cuts import Cuts, OneCut, frame_numbers, tabled
from .rest import RestRow, check_carried, rest_row
from .sides import SideKind


@final
@dataclass(frozen=True, slots=True)
class LoopedLoads:
    """Loads of (loads-1) as loops compute them.

    Attributes:
        cuts: rows of what they act along, in their order.
        laws: efforts, then −∂e/∂ẋ, then −∂e/∂x.
        counted: 1 of each whose work U does not hold, 0 of others.
        places: symbol -> (array, index); x has the measures, then their rates.
    """

    cuts: Cuts
    laws: tuple[Expr, ...]
    counted: tuple[float, ...]
    places: Mapping[Expr, tuple[str, int]]

    @staticmethod
    def none() -> LoopedLoads:
        """Of no loads."""
        return LoopedLoads(Cuts.none(), (), (), MappingProxyType({}))


def looped_loads(setting: Setting, values: Mapping[Expr, Any]) -> LoopedLoads:
    """The loads of a mechanism that follow what they act along.

    Args:
        setting: of its tree, with all loads.
        values: of parameters.

    Raises:
        DerivationError: one acts along something else than coordinates or a distance.
    """
    both = [(force, implicit_law(setting, force)) for force in measured(setting.mechanism)]
    loads = [(force, law) for force, law in both if law is not None]
    frames: list[OneCut] = []
    relations: list[RestRow] = []
    order: list[tuple[bool, int]] = []
    for force, _ in loads:
        if is_of_coordinates(force.along()):
            order.append((True, len(relations)))
            row = measure_row(setting.kinematics, force.along())
            check_carried(setting.tree, row.G, force.name)
            relations.append(rest_row(Label(force.name, ""), row))
        else:
            order.append((False, len(frames)))
            frames.append(_distance(setting, force, values))
    cuts = tabled(
        frames,
        joints=(),
        frames=tuple(x.name for x in frames),
        components=[(-1, -1, -1) for _ in frames],
        relations=tuple(relations),
        order=tuple(k + len(frames) * is_relation for is_relation, k in order),
    )
    names = [measure_symbols(force.name) for force, _ in loads]
    places = symbol_places(setting)
    places |= {x: ("x", k) for k, (x, _) in enumerate(names)}
    places |= {rate: ("x", len(names) + k) for k, (_, rate) in enumerate(names)}
    return LoopedLoads(
        cuts=cuts,
        laws=tuple(x for part in zip(*(law[:3] for _, law in loads), strict=True) for x in part),
        counted=tuple(0.0 if law.is_stored else 1.0 for _, law in loads),
        places=MappingProxyType(places),
    )


def _distance(setting: Setting, force: AlongMeasure, values: Mapping[Expr, Any]) -> OneCut:
    """The distance of two points as a row between frames."""
    measure = force.along()
    if not isinstance(measure, Distance):
        raise DerivationError(
            f"{force.name!r} acts along neither coordinates nor a distance, which loops over "
            "nodes do not know.",
            hint="Derive the equations by newton_euler.",
        )
    ends = [setting.tree.located(measure.a), setting.tree.located(measure.b)]
    return OneCut(
        kind=SideKind((_apart(),)),
        numbers=frame_numbers(ends, (), values),
        nodes=(ends[0][0], ends[1][0], GROUND),
        kept=(0, 0, 0),
        labels=[Label(force.name, "")],
        are_rates=(False,),
        arm=1.0,
        name=force.name,
    )


def _apart() -> tuple[Any, ...]:
    """The template of |p|."""
    length = sqrt(as_expr(dot(P, P)))
    _, turn, slide, quadratic = rate_template(zeros(3), array([x / length for x in P]))
    return (length, turn, slide, quadratic)
