"""Derive the equations of motion in a formalism.

Public names: derive, Formalism, FormalismKeywords.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from liaison.arguments import checked
from liaison.equations.equations import Equations
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.equations.transform.parametrization import derived_in
from liaison.errors import ArgumentError, NamingError, OptionError
from liaison.expr.graph.node import collector_paused
from liaison.numeric.progress import working
from liaison.verbs.given import Given, Value, in_si, mechanism_of

if TYPE_CHECKING:
    from liaison.model import Attitude

Formalism: TypeAlias = Callable[..., Equations]


class FormalismKeywords(TypedDict, total=False):
    """Options of single formalisms.

    Attributes:
        speeds: of kane and gibbs_appell: name -> formula of the generalized speeds.
        quasi_velocities: of boltzmann_hamel: name -> formula.
        moment_point: of dalembert: where moments are taken, "joint" or "center".
        explicit: of hamilton: whether M is inverted in formulas.
        limit: of hamilton and lagrange_reduced: largest number of operations; above it an error.
        independent: of lagrange_reduced, or where closures are eliminated: coordinates to keep.
        at: of lagrange_reduced: positions by label at which pivots are chosen [m, rad].
        by_pairs: of lie_group: by pairs of joints instead of recursions.
        attitude: of maximal: coordinates of attitude, such as `Quaternion()`.
    """

    speeds: Mapping[str, Any] | None
    quasi_velocities: Mapping[str, Any] | None
    moment_point: str
    explicit: bool | None
    limit: int
    independent: Sequence[str]
    at: Mapping[str, Value] | None
    by_pairs: bool
    attitude: Attitude | None


@checked
def derive(
    given: Given,
    formalism: str | Formalism = newton_euler,
    *,
    exact: bool = False,
    parametrization: str = "joint",
    treatment: Mapping[str, str] | None = None,
    **options: Unpack[FormalismKeywords],
) -> Equations:
    """The equations of motion, in a formalism or in the one of that name.

    Args:
        given: the mechanism.
        formalism: by name, or as a function; see `FORMALISMS`.
        exact: keep exact numbers (for reading and proofs); they are floats otherwise.
        parametrization: coordinates: "joint" of a spanning tree, "full_joint" of every joint,
            "cartesian" of every body; "minimal" ("strict") solves the closures for the others.
        treatment: what becomes of constraints, by name: "eliminate", "multiplier" or "reaction";
            see `equations.treatment`.
        **options: of the formalism: speeds for kane, quasi_velocities for boltzmann_hamel,
            moment_point for dalembert, explicit for hamilton, independent for lagrange_reduced;
            see `FormalismKeywords`.

    Raises:
        OptionError: an option that the formalism does not take.

    Example:
        >>> import liaison
        >>> liaison.derive("examples/pendulum.lsd", "kane")
        <Equations pendulum, by kane: 1 equation>
    """
    function = _by_name(formalism) if isinstance(formalism, str) else formalism
    _check_options(function, options)
    mechanism = mechanism_of(given)
    if options.get("at"):
        options["at"] = in_si(mechanism, options["at"], "at")
    with collector_paused(), working("equations", f"equations of {mechanism.name}"):
        _, equations = derived_in(
            mechanism, function, parametrization, exact=exact, treatment=treatment,
            **options,
        )  # fmt: skip
    return equations


def _by_name(name: str) -> Formalism:
    from liaison.equations.formalisms.table import FORMALISMS

    if name not in FORMALISMS:
        raise NamingError.unknown("formalism", name, FORMALISMS)
    return FORMALISMS[name]


def _check_options(formalism: Formalism, options: Mapping[str, Any]) -> None:
    """Raises an error for options that the formalism (or the parametrization) does not take."""
    try:
        parameters = signature(formalism).parameters.values()
    except (TypeError, ValueError):
        raise ArgumentError(
            f"derive: formalism is {formalism!r}; it must be a name, or a function of a tree."
        ) from None
    if any(x.kind is Parameter.VAR_KEYWORD for x in parameters):
        return
    known = [x.name for x in parameters if x.kind is Parameter.KEYWORD_ONLY]
    name = getattr(formalism, "__name__", "the formalism")
    OptionError.check(f"derive by {name}", options, [*known, "independent"])
