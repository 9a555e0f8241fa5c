"""A mechanism made ready to run: assembled, derived, its closures completed, then compiled once.

Public names: ready_for, start_for, check_one_start, equations_at, compiled, start_of,
start_derivatives, with_invariants, looped_kernel, looped_identity, assembled, is_unrolled,
runs_by_loops, accelerates_by_loops, closed_seconds, evaluations_of, is_stepped, say_long,
written_out_seconds,
STILL, DERIVED.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from liaison.equations.equations import Equations
from liaison.equations.formalisms.newton_euler import newton_euler
from liaison.equations.start_checks import check_inertia, is_completed, is_obstructed, moving
from liaison.errors import ArgumentError, DerivationError, ReadingWarning, SimulationError
from liaison.expr import as_expr, evaluate, gradient, symbol, symbols_of
from liaison.expr.bind import to_floats
from liaison.expr.graph.node import collector_paused
from liaison.model.checks import check_with
from liaison.model.mechanism import Mechanism
from liaison.numeric import State
from liaison.numeric.progress import log, working
from liaison.program.kernel import Kernel, MachineKernel
from liaison.program.llvm.to_llvm import to_llvm
from liaison.program.lower import lower
from liaison.simulation.steps.rungekutta import explicit_stages, tableau_named
from liaison.tree.assemble import assemble
from liaison.tree.described import elsewhere
from liaison.tree.starts import Starts, check_attitudes, fixed_values
from liaison.tree.tree import Tree, as_float, span
from liaison.units import Label

from .given import Given, Value, in_si, mechanism_of, with_starts, with_values

STEPPED = 4
"""Evaluations of a step of Moreau's, about."""

UNROLLED = 64
"""Velocities of a tree up to which its equations are unrolled, in less than a second; beyond, loops
run over its nodes. Closed mechanisms are unrolled up to the cost of so many in short loops."""

WORTH = 170_000
"""Evaluations after which unrolled code has made good what it costs: 12 ms a body to derive and
compile, against 0.07 µs a body and evaluation that it is faster."""

CLOSED, DEEP, FASTER = 0.02, 3.2e-4, 4e-7
"""The same of closed mechanisms: seconds a velocity, and for each two joints that a velocity is
carried by, to derive and compile; seconds a velocity and evaluation that unrolled code saves."""

RELATED = 8e-5
"""DEEP of a tree with relations: M is eliminated, of whose numbers each row sees few."""

TOUCHED = 4e-4
"""Seconds for each two velocities of a mechanism with contacts, and where M is written out."""

MASS = 1.5e-8
"""Seconds for each two velocities and evaluation that unrolled code saves where M is asked for."""

BODY = 0.012
"""Seconds a velocity of a tree."""

LONG = 10.0
"""Seconds of writing equations out that are said before."""

MET = 1e-6
"""What accelerations by loops may leave of the rows, relative to them, where a run starts."""

DERIVED = 1000
"""Velocities up to which that holds; of larger trees derivation takes minutes, and gigabytes."""

STILL = 1.0
"""Evaluations of who takes no steps: where laws bend does not matter."""

ROBOTS = (".urdf", ".xml", ".mjcf")
"""Ends of names of files in which every joint has a position where none is written."""

LISTED = 4
"""Coordinates that a note names."""

LARGEST = 40
"""Velocities of a mechanism whose first integrals are looked for before a run."""


def ready_for(
    given: Given,
    state: State | None,
    start: Mapping[str, Value] | None,
    parameters: Mapping[str, Any] | None,
    *,
    guess: Mapping[str, Value] | None = None,
    invariants: bool = False,
    back_end: str = "llvm",
    evaluations: float | None = None,
    is_stepped: bool = False,
) -> tuple[Kernel, State]:
    """The machine code of a mechanism, and where it starts.

    Args:
        given: a mechanism, or the path of its text.
        state: where it starts; assembled if None.
        start: positions and rates to assemble from, by label.
        parameters: values by name.
        guess: positions and rates near which to assemble.
        invariants: with first integrals.
        back_end: by name.
        evaluations: how often an explicit run evaluates the equations, 0 where that is not known: a
            tree of many bodies may come as loops over its nodes, which have the entries of explicit
            runs; None where others are needed.
        is_stepped: steps are Moreau's.

    Raises:
        NamingError: no back end has that name.
        SimulationError: a state and a start are both there, or the state is of another mechanism.
    """
    mechanism = with_values(mechanism_of(given), parameters or {})
    start, guess = in_si(mechanism, start, "start"), in_si(mechanism, guess, "guess")
    mechanism = with_starts(mechanism, start, guess)
    check_one_start(state, {**start, **guess})
    with collector_paused():
        tree = span(mechanism)
        if state is not None:
            check_state_of(tree, state)
        invariants = invariants and has_first_integrals(tree)
        if evaluations is not None and back_end == "llvm" and not invariants:
            looped = looped_kernel(tree, evaluations, is_stepped=is_stepped)
            if looped is not None:
                begin = state or assembled(tree, looped, start)
                check_attitudes(tree, begin)
                if runs_by_loops(tree, looped, begin):
                    return looped, begin
                say_long(tree, "where it starts, loops over its nodes do not meet its closures")
        else:
            say_long(tree, "what is asked needs derivatives, or other code than loops over nodes")
        with working("equations", _preparing(tree)):
            return _unrolled(tree, state, start, invariants=invariants, back_end=back_end)


def _preparing(tree: Tree) -> str:
    seconds = written_out_seconds(tree)
    about = f", written out in full, about {seconds:.0f} s or more" if seconds > LONG else ""
    return f"preparing {tree.mechanism.name}{about}"


def _unrolled(
    tree: Tree, state: State | None, start: Mapping[str, float], *, invariants: bool, back_end: str
) -> tuple[Kernel, State]:
    """Code that is written out, its closures completed if need be, and where it starts."""
    equations = newton_euler(tree)
    kernel = compiled(tree, equations, invariants=invariants, back_end=back_end)
    begin = state or assembled(tree, kernel, start)
    check_attitudes(tree, begin)
    whole, completed = equations_at(tree, begin, equations)
    if whole is not tree:
        kernel = compiled(whole, completed, invariants=invariants, back_end=back_end)
    firm = [x.label for x in tree.mechanism.starts if not x.is_guess]
    return kernel, begin if state else start_of(kernel, begin, firm)


def is_stepped(chosen: Mapping[str, Any]) -> bool:
    """Whether steps are Moreau's."""
    return chosen.get("method") == "moreau"


def evaluations_of(chosen: Mapping[str, Any], end: float, state: State | None) -> float | None:
    """How often a run with fixed steps evaluates its equations; 0 where that is not known.

    None where it needs more of a kernel than explicit stages and Moreau's steps do.

    Raises:
        NamingError: no method has that name.
    """
    method, step = chosen.get("method"), chosen.get("step")
    if isinstance(method, str):
        tableau_named(method)
    stages = STEPPED if is_stepped(chosen) else explicit_stages(method)
    if not stages:
        return None
    length = end - (0.0 if state is None else state.t)
    return stages * length / step if isinstance(step, int | float) and step > 0 else 0.0


def looped_kernel(
    tree: Tree, evaluations: float = 0.0, *, is_stepped: bool = False
) -> Kernel | None:
    """Loops over the nodes of a tree of many bodies; None where unrolled code is for it.

    Args:
        tree: of a mechanism.
        evaluations: how often a run evaluates its equations; 0 where that is not known.
        is_stepped: steps are Moreau's.
    """
    if is_unrolled(tree, evaluations, is_stepped=is_stepped):
        return None
    from liaison.equations.sweeps.looped_tree import looped_tree
    from liaison.program.many.closed_kernel import closed_kernel
    from liaison.program.many.tree_kernel import tree_kernel
    from liaison.program.sided.side_kernel import side_kernel

    try:
        # fixed steps go across where laws bend, in unrolled code as well
        model = looped_tree(tree, may_bend=evaluations > 0, is_stepped=is_stepped)
        starts = start_derivatives(tree.mechanism)
        make = tree_kernel if model.cuts is None else closed_kernel
        return (make if model.sides is None else side_kernel)(model, starts=starts)
    except DerivationError as error:
        say_long(tree, error.message.rstrip("."))
    return None


def say_long(tree: Tree, why: str) -> None:
    """Logs that equations of many bodies are written out in full, about how long, and why."""
    seconds = written_out_seconds(tree)
    if seconds > LONG:
        log(
            "equations",
            "%s is written out in full, %d velocities, which takes about %.0f s or more: %s",
            tree.mechanism.name, tree.nv, seconds, why,
        )  # fmt: skip


def written_out_seconds(tree: Tree, *, is_stepped: bool = False) -> float:
    """Least time to derive and compile what is written out in full, about [s]."""
    if tree.mechanism.contacts or is_stepped:
        return CLOSED * tree.nv + TOUCHED * tree.nv**2
    if tree.closures or tree.mechanism.constraints:
        return closed_seconds(tree)
    return BODY * tree.nv


def is_unrolled(tree: Tree, evaluations: float, *, is_stepped: bool = False) -> bool:
    """Whether unrolled code costs less than loops, of deriving, compiling and running together.

    Args:
        tree: of a mechanism.
        evaluations: how often a run evaluates its equations; 0 where that is not known.
        is_stepped: steps are Moreau's, which ask for M.
    """
    mechanism, most = tree.mechanism, DERIVED
    if not (is_stepped or tree.closures or mechanism.constraints or mechanism.contacts):
        return tree.nv <= UNROLLED or (tree.nv <= most and evaluations > WORTH)
    seconds, faster = written_out_seconds(tree, is_stepped=is_stepped), FASTER
    if is_stepped:
        faster = MASS * tree.nv
    elif mechanism.contacts:
        most = UNROLLED  # beyond, sweeps in the metric of M are faster than a dense one
    saved = evaluations * faster * tree.nv
    return seconds <= CLOSED * UNROLLED or (tree.nv <= most and saved > seconds)


def closed_seconds(tree: Tree) -> float:
    """Time to derive and compile unrolled code of a mechanism with closures, about [s]."""
    depths: list[int] = []
    for node in tree.nodes:
        depths.append(node.joint.type.nv + (depths[node.parent] if node.parent >= 0 else 0))
    deep = DEEP if tree.closures else RELATED
    return CLOSED * tree.nv + deep * sum(x * x for x in depths)


def runs_by_loops(tree: Tree, kernel: Kernel, state: State) -> bool:
    """Whether loops give accelerations where a mechanism starts.

    They know neither joints that move no inertia nor closures that leave relations out.

    Raises:
        DerivationError: there are no closures, and nothing gives some velocity inertia.
    """
    if not accelerates_by_loops(tree, kernel, state, f"where '{tree.mechanism.name}' starts"):
        return False
    if not kernel.program.sizes["nc"]:
        return True
    from .assembling import is_obstructed_start

    return not is_obstructed_start(kernel, state)


def accelerates_by_loops(tree: Tree, kernel: Kernel, state: State, where: str) -> bool:
    """Whether loops give accelerations that meet the closures at a state.

    They do not where a joint moves no inertia, or shares that of others, and a relation alone says
    how it moves.

    Raises:
        DerivationError: there are no closures, and nothing gives some velocity inertia; says where.
    """
    from liaison.equations.sweeps.joint_inertia import no_inertia, velocity_without_inertia

    lost = velocity_without_inertia(tree, state, kernel.program.facts["rotors"])
    if not kernel.program.sizes["nc"]:
        if lost:
            raise no_inertia(lost, where)
        return True
    if lost:
        return False
    forward = kernel.call("forward", state.t, q=state.q, v=state.v)
    scale = 1.0 + float(np.max(np.abs(forward["vdot"]), initial=0.0))
    return bool(forward["residual"][0] <= MET * scale)  # False of NaN


def looped_identity(mechanism: Mechanism) -> str:
    """The word for the equations of a mechanism that runs by loops; empty of any other."""
    is_open = len(mechanism.joints) < len(mechanism.bodies) and not mechanism.constraints
    if len(mechanism.bodies) <= 1 or (is_open and len(mechanism.speeds) <= UNROLLED):
        return ""
    looped = looped_kernel(span(mechanism), STILL)
    return "" if looped is None else str(looped.program.facts["identity"])


def assembled(tree: Tree, kernel: Kernel, start: Mapping[str, float], *, t: float = 0.0) -> State:
    """The consistent state near starts: in compiled code where there is something to solve.

    Args:
        tree: of the mechanism.
        kernel: of its equations.
        start: positions and speeds that are held, by label, instead of the mechanism's own.
        t: the time [s].

    Raises:
        AssemblyError: no configuration satisfies the closures.
        NamingError: a label that there is none of.
    """
    if "identity" in kernel.program.facts and "close_q" in kernel.program.entries:
        from .assembling import closed_start

        state = closed_start(tree, kernel, start, t=t)
    elif kernel.program.sizes["nc"] and isinstance(kernel, MachineKernel):
        from .assembling import Assembling

        state = Assembling(tree, kernel).state(start, t=t)
    else:
        return assemble(tree, None, t=t, guess=None, **start)
    _warn_moved(tree, state, start)
    return state


def _warn_moved(tree: Tree, state: State, start: Mapping[str, float]) -> None:
    """Warns of a robot's joints that start elsewhere than its file has them, to close loops.

    A language without such a configuration leaves positions to the closures.
    """
    file = tree.mechanism.place.file if tree.mechanism.place else ""
    constraints = tree.mechanism.constraints
    if (tree.loops <= 0 and not constraints) or not file.lower().endswith(ROBOTS):
        return
    starts, fixed = Starts(tree), fixed_values(tree, {}, state.t)
    begin = starts.begin(start, {}, fixed)
    first, _ = starts.positions(begin, begin.held, fixed)
    written = {x.label for x in tree.mechanism.starts if x.is_guess and x.place}
    for node in (x for x in tree.nodes if x.joint.type.nq == 1):
        if (name := node.joint.coordinates[0]) in written:  # whatever leads it
            first[node.q] = begin.values[name]
    named = {*begin.values.keys() - written, *starts.described.following(begin.values)}
    moved = elsewhere(starts.q_names, first, state.q, named)
    if moved:
        listed = [f"{name} = {x:.4g}, not {y:.4g}" for name, (y, x) in moved.items()]
        more = f" and {len(listed) - LISTED} more" if len(listed) > LISTED else ""
        joints = "beside the starts that are given, the other joints" if start else "the joints"
        open_loops = f"{joints} of the file leave its loops open; to close them"
        missed = f"{joints} of the file do not meet its relations; to meet them"
        note = (
            f"{open_loops if tree.loops > 0 else missed} the start is "
            f"{'; '.join(listed[:LISTED])}{more}"
        )
        log("simulation", "%s: %s", tree.mechanism.name, note)
        warnings.warn(ReadingWarning(note, file), stacklevel=2)


def start_for(
    verb: str,
    kernel: Kernel,
    state: State | None,
    *,
    start: Mapping[str, Value] | None,
    guess: Mapping[str, Value] | None,
    parameters: Mapping[str, Any] | None,
) -> State:
    """The state, or one that is assembled where the kernel knows its mechanism.

    Raises:
        ArgumentError: there is neither a state nor a mechanism.
        ModelError: no mechanism has these parameters.
        SimulationError: there are both a state and a start.
    """
    check_one_start(state, {**(start or {}), **(guess or {})})
    if kernel.origin is not None and parameters:
        check_with(
            kernel.origin.mechanism, in_si(kernel.origin.mechanism, parameters, "parameters")
        )
    if state is not None:
        return state
    if kernel.origin is None:
        raise ArgumentError(
            f"{verb}(kernel, state, …): a kernel needs its state, unless it was made by "
            "liaison.compile."
        )
    mechanism: Mechanism = kernel.origin.mechanism
    begin: State = kernel.origin.state(
        kernel,
        in_si(mechanism, start, "start"),
        in_si(mechanism, guess, "guess"),
        in_si(mechanism, parameters, "parameters"),
    )
    return begin


def check_one_start(state: State | None, start: Mapping[str, Value] | None) -> None:
    """Raises an error for a start beside a state."""
    if state is not None and start:
        raise SimulationError(
            f"a state is given, and a start of {', '.join(map(repr, start))} beside it: which of "
            "the two holds is not clear.",
            hint="Leave one out; state.changed({'A': 0.1}) is the state with another value.",
        )


def check_state_of(tree: Tree, state: State) -> None:
    """Raises an error for a state of another mechanism, by sizes and names."""
    labels = {"q": tree.position_labels(), "v": tree.velocity_labels()}
    for name, array in (("q", state.q), ("v", state.v)):
        mine = [x.name for x in labels[name]]
        theirs = [x.name for x in state.labels.get(name, labels[name])]
        if mine != theirs or array.size != len(mine):
            raise SimulationError(
                f"the state is of another mechanism than {tree.mechanism.name!r}: its {name} has "
                f"{array.size} numbers ({', '.join(theirs)}), not {len(mine)} "
                f"({', '.join(mine)}).",
                status="inconsistent",
            )


def equations_at(
    tree: Tree, state: State, equations: Equations | None = None
) -> tuple[Tree, Equations]:
    """The equations of a mechanism that starts somewhere, its closures completed if need be.

    Args:
        tree: of the mechanism.
        state: where it starts.
        equations: of the tree, where they are known.

    Returns:
        The tree of the mechanism, with relations that its closures left out, and its equations.

    Raises:
        DerivationError: it cannot move there, or some motion of it has no inertia.
    """
    equations = newton_euler(tree) if equations is None else equations
    check_inertia(tree, equations, state)
    if not is_obstructed(equations, state):
        return tree, equations
    from liaison.analyse.proofs.deflate import deflated_or_same

    whole = deflated_or_same(tree.mechanism)
    if whole is tree.mechanism:
        return tree, equations
    log("equations", "%s: relations that its closures leave out were added", tree.mechanism.name)
    tree = span(whole)
    equations = newton_euler(tree)
    check_inertia(tree, equations, state)
    return tree, equations


def compiled(
    tree: Tree, equations: Equations, *, invariants: bool = False, back_end: str = "llvm"
) -> Kernel:
    """The machine code of equations; with first integrals to follow where they are asked for."""
    if invariants:
        equations = with_invariants(equations, tree)
    facts = MappingProxyType({**equations.facts, "starts": start_derivatives(tree.mechanism)})
    program = lower(replace(equations, facts=facts))
    if back_end == "llvm":
        kernel: Kernel = to_llvm(program)
    else:
        from liaison.program.back_ends import back_end_named

        kernel = back_end_named(back_end)(program)
    if not program.facts["convex"]:
        return kernel
    from liaison.contacts.convex.kernel import with_convex

    return with_convex(kernel)


def has_first_integrals(tree: Tree) -> bool:
    """Whether first integrals are looked for before a run.

    Of a mechanism with more than LARGEST velocities they are not, nor where something holds
    unilaterally: what is constant between two events need not be so through them.
    """
    return tree.nv <= LARGEST and not tree.mechanism.contacts


def with_invariants(equations: Equations, tree: Tree) -> Equations:
    """The equations with the first integrals of their mechanism, for a run to follow them."""
    from liaison.analyse.proofs.exact_motion import ExactMotion
    from liaison.analyse.proofs.first_integrals import constants_of

    integrals: Sequence[Any] = ()
    if has_first_integrals(tree):
        with suppress(DerivationError):
            exact = newton_euler(span(tree.mechanism, exact=True))
            integrals = constants_of(ExactMotion(exact))
    formulas = to_floats([x.formula for x in integrals]) if integrals else []
    named = {x.name: f for x, f in zip(integrals, formulas, strict=True)}
    labels = dict(equations.labels) | {
        "invariants": tuple(Label(x.name, x.unit) for x in integrals)
    }
    return replace(equations, invariants=MappingProxyType(named), labels=MappingProxyType(labels))


def start_derivatives(mechanism: Mechanism) -> dict[str, dict[str, float]]:
    """Label of each start that is given -> its derivatives by parameters; none for a number."""
    values = {
        symbol(x.name): float(as_float(x.value))
        for x in mechanism.parameters
        if x.value is not None
    }
    slopes_of: dict[str, dict[str, float]] = {}
    for start in (x for x in mechanism.starts if not x.is_guess):
        formula = as_expr(as_float(start.value))
        used = [x for x in symbols_of([formula]) if x in values]
        slopes = evaluate(gradient(formula, used), values) if used else []
        slopes_of[start.label] = {x.name: float(s) for x, s in zip(used, slopes, strict=True)}
    return slopes_of


def start_of(kernel: Kernel, state: State, firm: Collection[str]) -> State:
    """The start of a run: velocities changed where a mechanism was completed, and need it.

    Args:
        kernel: of a mechanism that was perhaps completed.
        state: of the mechanism as it was.
        firm: labels of velocities that are given.
    """
    program = kernel.program
    if not is_completed(program.labels["lam"]):
        return state
    u, p = program.defaults["u"], program.defaults["p"]
    terms = kernel.call("terms", t=state.t, q=state.q, v=state.v, u=u, p=p)
    return moving(state, firm, terms["G"].reshape(-1, len(state.v)), terms["nu"])
