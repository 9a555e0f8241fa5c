"""The verbs most users want: each takes every step before it, with its defaults.

A mechanism may be given as such or as the path of its text. Deriving makes many small objects that
form no cycles, so these verbs run with the garbage collector paused.

Public names: Given, mechanism_of, with_values, with_starts, check, derive, reduce, compile,
mobility, assembly_modes, inverse_kinematics, singularities, simulate, stepper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from liaison.analyse.along.singularities import RankAlong, rank_along
from liaison.analyse.proofs.deflate import held, is_obstructed, moving
from liaison.analyse.proofs.massless import check_inertia
from liaison.analyse.proofs.reduce import Reduction
from liaison.analyse.proofs.reduce import reduce as reduced
from liaison.equations.transform.parametrization import derived_in
from liaison.model.contacts import left_out
from liaison.model.pairing import is_scene
from liaison.program.lower import lower
from liaison.simulation.run import DEFAULT_SERIES
from liaison.tree.singular_attitudes import check_attitudes

from .corridor_given import Given as Given
from .corridor_given import mechanism_of as mechanism_of
from .corridor_given import with_starts as with_starts
from .corridor_given import with_values as with_values
from .corridor_integrals import with_invariants
from .corridor_scene import run_scene
from .equations import FORMALISMS, Equations, newton_euler
from .errors import NamingError
from .expr import collector_paused
from .freedoms import AssemblyModes, Mobility, Singularities
from .freedoms import assembly_modes as find_modes
from .freedoms import inverse_kinematics as find_reaches
from .freedoms import mobility as examine
from .freedoms import singularities as followed
from .model import Mechanism
from .numeric import State
from .program import Kernel, to_llvm
from .simulation import Stepper, Trajectory, load
from .simulation import simulate as run
from .simulation import stepper as stepper_of
from .summary import Summary
from .tree import Tree, assemble, span

Formalism: TypeAlias = Callable[..., Equations]


def check(given: Given, start: Mapping[str, float] | None = None) -> Summary:
    """What a mechanism is: counts, coordinates, parameters, and its assembled start.

    Args:
        given: the mechanism.
        start: positions and rates to start from, by label, instead of its own.

    Raises:
        LiaisonError: it cannot be, or its loops cannot be closed.
    """
    mechanism = with_starts(mechanism_of(given), start or {})
    with collector_paused():
        return Summary.of(mechanism, start or {})


def derive(
    given: Given,
    formalism: str | Formalism = newton_euler,
    *,
    exact: bool = False,
    parametrization: str = "joint",
    treatment: Mapping[str, str] | None = None,
    **options: Any,
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
            moment_point for dalembert, explicit for hamilton, independent for lagrange_reduced.
    """
    if isinstance(formalism, str):
        if formalism not in FORMALISMS:
            raise NamingError.unknown("formalism", formalism, FORMALISMS)
        formalism = FORMALISMS[formalism]
    with collector_paused():
        _, made = derived_in(
            mechanism_of(given), formalism, parametrization, exact=exact, treatment=treatment,
            **options,
        )  # fmt: skip
    return made


def reduce(
    given: Given | Tree,
    independent: Sequence[str] = (),
    *,
    at: Mapping[str, Any] | None = None,
    **options: Any,
) -> Reduction:
    """The equations of motion in as many velocities as there are freedoms, without multipliers.

    Args:
        given: a mechanism, the path of its text, or a tree.
        independent: coordinates whose velocities are the unknowns; chosen if not given.
        at: positions and rates by label instead of its own starts [m, rad].
        **options: of `mobility`: order, primes, seed.
    """
    mechanism = given.mechanism if isinstance(given, Tree) else mechanism_of(given)
    with collector_paused():
        return reduced(mechanism, independent, at=at, **options)


def compile(given: Given, formalism: str | Formalism = newton_euler) -> Kernel:
    """The equations of motion as machine code."""
    with collector_paused():
        return to_llvm(lower(derive(given, formalism)))


def mobility(
    given: Given | Tree, *, at: Mapping[str, Any] | None = None, **options: Any
) -> Mobility:
    """What a mechanism can do in the position where it is assembled, and what of it is proved.

    Args:
        given: a mechanism, the path of its text, or a tree.
        at: positions by label instead of its own starts [m, rad], exact where they can be.
        **options: order (of series, for a proof), primes (how many must agree), seed,
            time_limit [s], memory_limit [bytes].
    """
    mechanism = given.mechanism if isinstance(given, Tree) else mechanism_of(given)
    known = set(mechanism.coordinates)
    for name in at or {}:
        if name not in known:
            raise NamingError.unknown("coordinate", name, known)
    with collector_paused():
        return examine(mechanism, at=at, **options)


def assembly_modes(
    given: Given | Tree, *, at: Mapping[str, Any] | None = None, **options: Any
) -> AssemblyModes:
    """Every way in which a mechanism closes while some of its coordinates are held.

    Args:
        given: a mechanism, the path of its text, or a tree.
        at: held coordinates by label [m, rad], exact where they can be; as many as it has freedoms.
        **options: seed, time_limit [s], memory_limit [bytes].
    """
    mechanism = given.mechanism if isinstance(given, Tree) else mechanism_of(given)
    with collector_paused():
        return _noted(find_modes(mechanism, at=at, **options), mechanism)


def _noted(found: AssemblyModes, mechanism: Mechanism) -> AssemblyModes:
    """Says that what holds on one side only was not looked at."""
    told = left_out(mechanism.contacts)  # a sentence, and here a note
    return replace(found, notes=(*found.notes, f"w{told[1:-1]}")) if told else found


def singularities(
    given: Given | Tree,
    along: Trajectory | str | Path | None = None,
    *,
    at: Mapping[str, Any] | None = None,
    **options: Any,
) -> Singularities | RankAlong:
    """Where closures lose rank: along a run, or on the whole motion of a mechanism of one freedom.

    Args:
        given: a mechanism, the path of its text, or a tree.
        along: a run of it, or the file of one; without it the motion is followed all around, and
            dead points of each coordinate are told as well.
        at: positions by label instead of its own starts [m, rad], where there is no run.
        **options: near (of a run, see `rank_along`); step, steps (see `singular_positions`).
    """
    mechanism = given.mechanism if isinstance(given, Tree) else mechanism_of(given)
    with collector_paused():
        if along is None:
            return followed(mechanism, at=at, **options)
        run = along if isinstance(along, Trajectory) else load(along)
        return rank_along(run, mechanism, **options)


def inverse_kinematics(given: Given | Tree, body: str, **options: Any) -> AssemblyModes:
    """Every set of joint coordinates that puts a body of an arm at a pose.

    Args:
        given: an arm, the path of its text, or a tree.
        body: the name of the hand.
        **options: position [m] and rotation (its axes as columns) in ground's axes; at (coordinates
            that are held, all but six); seed, time_limit [s], memory_limit [bytes].
    """
    mechanism = given.mechanism if isinstance(given, Tree) else mechanism_of(given)
    with collector_paused():
        return _noted(find_reaches(mechanism, body, **options), mechanism)


def simulate(
    given: Given | Kernel,
    state: State | None = None,
    *,
    until: float,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    invariants: bool = False,
    **options: Any,
) -> Trajectory:
    """Lets a mechanism move.

    Args:
        given: a mechanism, the path of its text, or a kernel (then with a state).
        state: where it starts; assembled from the mechanism's own start if not given.
        until: the last instant [s].
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        invariants: find the first integrals and follow them: `trajectory.invariants`.
        **options: how to run, all of them optional:
            step: fixed step of RK4 [s]; without it the step follows from rtol (1e-8) and atol
                (1e-10), the error allowed a step.
            method: "rk4", "tsitouras" or "dormand-prince"; "radau" or "generalized-alpha" for stiff
                systems; "gauss4", "rattle" and others for long runs (docs/theory/integrators.md);
                "moreau" with a fixed step through contacts (docs/theory/time_stepping.md).
            every: what to record: a period [s], instants, or None for every step.
            inputs: input -> number, formula of `time` and coordinates, table (times, values), or
                controller (period, function of t and State).
            stop: what ends the run: names of events, formulas that change sign, {label: value}.
            series: what to evaluate; by default energy, outputs, poses and closure. Further
                reactions (moment, force on each joint's successor, in the axes of its marker and
                at its origin; elsewhere by `run.reaction(…)`), lam (multipliers; of an imposed
                motion its drive), accelerations, motions (of bodies) and momentum.
            time_limit: seconds of wall clock. progress: told the fraction done.
            on_failure: "raise", or "return" what there is.
            max_step, max_steps, projection, residual: limits; see the class `Settings`.

    Bodies that collide in more than fifty pairs are marched as a scene, in fixed steps of 1 ms
    unless `step` is given (docs/theory/time_stepping.md); `trajectory.message` says so.

    Returns:
        What happened.
    """
    if isinstance(given, Kernel):
        if state is None or start:
            raise TypeError("simulate(kernel, state, until=…): a kernel needs its state.")
        return run(given, state, until=until, parameters=parameters, **options)
    mechanism = mechanism_of(given)
    if state is None and is_scene(mechanism):
        return run_scene(mechanism, until, start=start, parameters=parameters, **options)
    kernel, state = ready_for(mechanism, state, start, parameters, invariants=invariants)
    if invariants:
        options["series"] = (*options.get("series", DEFAULT_SERIES), "invariants")
    return run(kernel, state, until=until, **options)


def stepper(
    given: Given | Kernel,
    state: State | None = None,
    *,
    start: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    **options: Any,
) -> Stepper:
    """A mechanism that waits for the next input: `its.step({"motor": 1.5}, 0.01)`.

    Args:
        given: a mechanism, the path of its text, or a kernel (then with a state).
        state: where it starts; assembled from the mechanism's own start if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        parameters: values by name, in SI.
        **options: step, method, rtol, atol and the like, as for `simulate`.
    """
    if isinstance(given, Kernel):
        if state is None or start:
            raise TypeError("stepper(kernel, state): a kernel needs its state.")
        return stepper_of(given, state, parameters=parameters, **options)
    kernel, state = ready_for(given, state, start, parameters)
    return stepper_of(kernel, state, **options)


def ready_for(
    given: Given,
    state: State | None,
    start: Mapping[str, float] | None,
    parameters: Mapping[str, Any] | None,
    *,
    invariants: bool = False,
) -> tuple[Kernel, State]:
    """The machine code of a mechanism, and where it starts."""
    mechanism = with_values(mechanism_of(given), parameters or {})
    mechanism = with_starts(mechanism, start or {})
    with collector_paused():
        tree = span(mechanism)
        begin = state or assemble(tree, None, **(start or {}))
        check_attitudes(tree, begin)
        kernel = kernel_at(tree, begin, invariants=invariants)
        told = [x.label for x in mechanism.starts]
        return kernel, begin if state else moving(kernel, begin, told)


def kernel_at(tree: Tree, state: State, *, invariants: bool = False) -> Kernel:
    """The machine code of a mechanism that starts somewhere, its closures completed if need be.

    Raises:
        DerivationError: it cannot move there, or some motion of it has no inertia.
    """
    kernel = _machine_code(tree, invariants, state)
    if not is_obstructed(kernel, state):
        return kernel
    whole = held(tree.mechanism)
    same = whole is tree.mechanism
    return kernel if same else _machine_code(span(whole), invariants, state)


def _machine_code(tree: Tree, invariants: bool, state: State) -> Kernel:
    equations = newton_euler(tree)
    check_inertia(tree, equations, state)
    return to_llvm(lower(with_invariants(equations, tree) if invariants else equations))
