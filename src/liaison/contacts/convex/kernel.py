"""A kernel whose unilateral rows know where convex bodies touch.

The entry `one_sided` of a mechanism has formulas of the gap of a place that is given by its points
and its normal. Here it is a loop: where the frames of every pair are (`frames`), the points at
which they touch there, then the formulas. It keeps nothing between calls; a point goes to a place
by its key, so that it has the same one from call to call while it is there.

Whether a body passes another within a step: conservative advancement along the way between ends.

A step sees where bodies touch at its beginning, its middle and its end. One that goes farther than
both are thick may be on the other side by then. On the way between the two ends, with the center on
a line and the turn about one axis, no point goes farther than

    ℓ = |c₁ − c₀| + size · angle                                                     (passing-1)

so that bodies that are d apart after a part of it do not meet within d/ℓ more.

Public names: with_convex, places_at, places_from, passes_at, table_of, touches_of, Touches,
Touched, Places, Frame, find_places, PLACE, way_between, passed_part, thickness.

Source: docs/theory/convex.md (convex-4).

Source: MIR96 (conservative advancement); docs/theory/convex.md.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from math import acos, cos, sin, sqrt
from typing import Any, TypeAlias, final

import numpy as np

from liaison.errors import ProgramError
from liaison.numeric.height_fields import HeightGrid
from liaison.numeric.hulls import Solid
from liaison.program import Kernel, Program
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.trampolines import trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import at, f64, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import Record, Rows, address, inline, rows, size, sized
from liaison.simulation.steps.layout import Law

from .distance import dot3, separate
from .field_layout import Fields, Gathered, fields_of
from .fields import part_under, put_places
from .layout import Bodies, Convex, Question, bodies_of, is_single
from .manifold import MOST, plane_points, touch_points
from .ridges import field_points
from .rods import lying_points

MET = 1e-6
"""Distance beside their size at which bodies meet."""
LOOKS = 64
"""Distances along a way at most."""


def thickness(solid: Solid) -> float:
    """A length that a body is thicker than, whatever way it is passed [m]."""
    if solid.polytope is None:
        inner = min(solid.disc, solid.half) if solid.core is None else 0.0
        return 2.0 * (inner + solid.radius)
    normals, corners = solid.polytope.normals, solid.polytope.vertices
    across = np.ptp(np.asarray(corners) @ np.asarray(normals).T, axis=0)
    # between two edges it may be thinner than between a face and a corner
    return 0.5 * float(np.min(across)) + 2.0 * solid.radius


@loop
def center_at(body: Convex, R: ptr, p: ptr, out: ptr) -> None:
    """Where the center of a body is."""
    for i in range(3):
        out[i] = p[i]
        for j in range(3):
            out[i] += R[3 * i + j] * body.center[j]


@loop
def turn_between(before: ptr, after: ptr) -> f64:
    """The angle between two rotations."""
    total = 0.0
    for i in range(9):
        total += before[i] * after[i]
    return acos(min(max(0.5 * (total - 1.0), -1.0), 1.0))


@loop
def way_between(body: Convex, before: ptr, after: ptr, ask: Question) -> f64:
    """(passing-1), of two poses R, p."""
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    for i in range(3):
        ask.local[i] -= ask.near[i]
    turn = turn_between(before, after)
    return sqrt(dot3(ask.local, ask.local)) + (body.size + body.radius) * turn


@loop
def put_pose(part: f64, body: Convex, before: ptr, after: ptr, ask: Question) -> None:
    """The question at a part of the way."""
    angle = turn_between(before, after)
    # the axis in the body, of Rᵀ_before R_after
    axis = ask.side
    for i in range(3):
        j = (i + 1) % 3
        k = (i + 2) % 3
        total = 0.0
        for m in range(3):
            total += before[3 * m + k] * after[3 * m + j] - before[3 * m + j] * after[3 * m + k]
        axis[i] = total
    long = sqrt(dot3(axis, axis))
    c = cos(part * angle)
    s = sin(part * angle)
    if long < 1e-12:
        c = 1.0
        s = 0.0
        long = 1.0
    for i in range(3):
        for j in range(3):
            total = 0.0
            for m in range(3):
                # Rodrigues' formula, column j
                turned = (1.0 - c) * axis[m] * axis[j] / (long * long)
                turned += c if m == j else 0.0
                if (j + 1) % 3 == m:
                    turned += s * axis[(j + 2) % 3] / long
                if (m + 1) % 3 == j:
                    turned -= s * axis[(m + 2) % 3] / long
                total += before[3 * i + m] * turned
            ask.R[i, j] = total
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    for i in range(3):
        ask.p[i] = ask.near[i] + part * (ask.local[i] - ask.near[i])
        for j in range(3):
            ask.p[i] -= ask.R[i, j] * body.center[j]


@loop
def comes_by(body: Convex, other: Convex, before: ptr, after: ptr, ask: Question) -> i64:
    """1 if the ball about a body meets the ball about the other on its way."""
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    long = 0.0
    along = 0.0
    for i in range(3):
        step = ask.local[i] - ask.near[i]
        long += step * step
        along += step * (other.center[i] - ask.near[i])
    part = min(max(along / long, 0.0), 1.0) if long > 0.0 else 0.0
    apart = 0.0
    for i in range(3):
        x = ask.near[i] + part * (ask.local[i] - ask.near[i]) - other.center[i]
        apart += x * x
    reach = body.size + body.radius + other.size + other.radius
    return 1 if apart <= reach * reach else 0


@loop
def passed_part(
    first: i64, second: i64, thin: f64, before: ptr, after: ptr, bodies: Bodies, ask: Question
) -> f64:
    """The part of a step after which a body meets another that it then leaves behind; −1: none.

    Args:
        first: number of the body that is seen from the second.
        second: number of the other.
        thin: what both are thicker than together.
        before: R and p at the beginning.
        after: at the end.
        bodies: all of them.
        ask: workspace.
    """
    body = bodies.body[first]
    other = bodies.body[second]
    way = way_between(body, before, after, ask)
    if way <= thin or comes_by(body, other, before, after, ask) == 0:
        return -1.0
    small = MET * (body.size + body.radius + other.size + other.radius)
    part = 0.0
    for _ in range(LOOKS):
        put_pose(part, body, before, after, ask)
        apart = separate(first, second, bodies, ask)
        if apart <= small:
            break
        part += apart / way
        if part >= 1.0:
            return -1.0
    if part == 0.0:
        return -1.0  # they touch already: impulses know of it
    x = ask.normal[0]
    y = ask.normal[1]
    z = ask.normal[2]
    put_pose(1.0, body, before, after, ask)
    if separate(first, second, bodies, ask) > 0.0:
        return part
    return part if x * ask.normal[0] + y * ask.normal[1] + z * ask.normal[2] < 0.0 else -1.0


PLACE = 14
"""Numbers of a place of contact."""
KEYS = 1048576
"""Keys of the points on one face, at most."""
POINTS = 2.0**48
"""Keys from here on are those of points on no face."""
EXACT = 4194301
"""A prime below a quarter of the whole numbers that single precision distinguishes."""
MIXED = 509
"""A prime by which such keys go to different places."""
LAW = Law.header
FIELD = -2
"""In the place of the second body: a height field."""
NEAR = 1.0
"""Distance beside the size within which points are sought."""


Touched: TypeAlias = Solid | HeightGrid | None
"""What is touched: a body, a height field, or the plane z = 0."""


@final
class Frame(Record):
    """The first body of a pair, seen from the second."""

    R: ptr = inline(3, 3)
    p: ptr = inline(3)


@final
class Places(Record):
    """The places of a pair: n on the first body or on the second, both points, their radii."""

    numbers: ptr = inline(MOST, PLACE)


@final
class Pair(Record):
    """Two bodies by number; −1 in the second place: the plane z = 0, −2: a height field."""

    first: i64
    second: i64
    field: i64
    thin: f64  # what both are thicker than together
    before: i64  # words of the workspace at which its frame at the beginning of a step begins,
    frame: i64  # its frame,
    places: i64  # its places,
    keys: i64  # and their keys
    gap: iptr = inline(8)  # the word of `out` that takes the key of each place


@final
class Touches(Record):
    """All pairs, their bodies, and the entries that know their frames and rows."""

    pairs: i64 = size()
    first_before: i64  # words of the workspace at which frames at the beginning of a step begin,
    first_frame: i64  # frames,
    first_place: i64  # places,
    first_x: i64  # what entries take as x, in which places stand behind v̇, λ and f,
    gathered: i64  # what is found on height fields,
    rest: i64  # and what the entries work in
    frames: kernel
    gaps: kernel
    pair: Rows[Pair] = rows("pairs")
    bodies: iptr = sized()
    terrain: iptr = sized()


@loop
def places_at(
    touches: Touches, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """The entry `one_sided` with the places at which convex bodies touch.

    Args:
        touches: all pairs.
        t: time.
        q: positions.
        v: velocities.
        u: inputs.
        p: parameters.
        x: nothing.
        out: result, as of the entry.
        work: workspace.
    """
    places_within(0, touches, t, q, v, u, p, out, work)


@loop
def places_from(
    touches: Touches, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """The same for a step that begins at the positions x: also places that it may come to."""
    rest = at(work, touches.rest)
    touches.frames(t, x, v, u, p, x, at(work, touches.first_before), rest)
    places_within(1, touches, t, q, v, u, p, out, work)


@loop
def passes_at(
    touches: Touches, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    """The pair that passes each other in a step from the positions x to q, and after what part.

    The number of the pair is counted from 1; 0: none.
    """
    rest = at(work, touches.rest)
    ask = Question(work)
    out[0] = 0.0
    out[1] = 0.0
    touches.frames(t, x, v, u, p, x, at(work, touches.first_before), rest)
    touches.frames(t, q, v, u, p, x, at(work, touches.first_frame), rest)
    for k in range(touches.pairs):
        pair = touches.pair[k]
        part = -1.0
        if pair.second >= 0:
            part = passed_part(
                pair.first, pair.second, pair.thin, at(work, pair.before), at(work, pair.frame),
                Bodies(touches.bodies), ask,
            )  # fmt: skip
        elif pair.second == FIELD:
            part = part_through(touches, pair, at(work, pair.before), at(work, pair.frame), work)
        if part >= 0.0:
            out[0] = float(k + 1)
            out[1] = part
            return


@loop
def part_through(touches: Touches, pair: Pair, before: ptr, after: ptr, work: ptr) -> f64:
    """The part of a step after which the center of a body comes below a height field; −1: none."""
    ask = Question(work)
    fields = Fields(touches.terrain)
    body = Bodies(touches.bodies).body[pair.first]
    if way_between(body, before, after, ask) <= pair.thin:
        return -1.0
    center_at(body, before, before[9:], ask.near)
    center_at(body, after, after[9:], ask.local)
    field = fields.field[pair.field]
    gathered = Gathered(at(work, touches.gathered))
    return float(part_under(ask.near, ask.local, field, fields, gathered))


@loop
def places_within(
    is_step: i64, touches: Touches, t: f64, q: ptr, v: ptr, u: ptr, p: ptr, out: ptr, work: ptr
) -> None:
    """Places at a state, and those that a step may come to whose first frames are known."""
    ask = Question(work)
    bodies = Bodies(touches.bodies)
    fields = Fields(touches.terrain)
    gathered = Gathered(at(work, touches.gathered))
    rest = at(work, touches.rest)
    touches.frames(t, q, v, u, p, q, at(work, touches.first_frame), rest)
    for k in range(touches.pairs):
        pair = touches.pair[k]
        frame = Frame(at(work, pair.frame))
        far = 0.0
        if is_step == 1:
            # the middle is half of the way
            body = bodies.body[pair.first]
            far = 2.0 * way_between(body, at(work, pair.before), at(work, pair.frame), ask)
        for i in range(3):
            ask.p[i] = frame.p[i]
            for j in range(3):
                ask.R[i, j] = frame.R[i, j]
        places = Places(at(work, pair.places))
        find_places(pair, far, bodies, fields, ask, gathered, places, at(work, pair.keys))
    touches.gaps(t, q, v, u, p, at(work, touches.first_x), out, rest)
    for k in range(touches.pairs):
        pair = touches.pair[k]
        keys = at(work, pair.keys)
        for slot in range(MOST):
            out[pair.gap[slot]] = keys[slot]


@loop
def find_places(
    pair: Pair, far: f64, bodies: Bodies, fields: Fields, ask: Question, gathered: Gathered,
    places: Places, keys: ptr,
) -> None:  # fmt: skip
    """The places of one pair, so far apart: those in use, by their keys; zeros elsewhere."""
    for slot in range(MOST):
        keys[slot] = 0.0
        for i in range(PLACE):
            places.numbers[slot, i] = 0.0
    ask.points = 0
    if pair.second == FIELD:
        field_points(bodies.body[pair.first], pair.field, far, fields, bodies, ask, gathered)
        put_places(places.numbers[0], keys, PLACE, ask, gathered)
    elif pair.second < 0:
        plane_points(pair.first, bodies, ask)
    elif are_near(pair, far, bodies, ask) == 1:
        touch_points(pair.first, pair.second, bodies, ask)
        lying_points(pair.first, pair.second, bodies, ask)
    for _ in range(ask.points):
        # the least key first, so that the order of points does not matter
        k = 0
        for j in range(ask.points):
            if ask.keys[j] >= 0 and (ask.keys[k] < 0 or ask.keys[j] < ask.keys[k]):
                k = j
        taken = (ask.keys[k] if ask.face >= 0 else ask.keys[k] % MIXED) % MOST
        while used(places.numbers[taken]) == 1:
            taken = (taken + 1) % MOST
        write_place(k, ask, places.numbers[taken])
        keys[taken] = key_of(k, ask)
        ask.keys[k] = -1


@loop
def key_of(k: i64, ask: Question) -> f64:
    """The key of a point; of one in single precision what is left beside a prime, to be exact."""
    if is_single() == 1:
        key = ask.keys[k]
        if ask.face >= 0:
            return float(1 + (key + KEYS * (2 * ask.face + ask.owner)) % EXACT)
        return float(1 + EXACT + key % EXACT)
    if ask.face >= 0:
        return float(1 + ask.keys[k] + KEYS * (2 * ask.face + ask.owner))
    return POINTS + float(ask.keys[k])


@loop
def used(place: ptr) -> i64:
    """1 if a place is taken."""
    total = 0.0
    for i in range(6):
        total += abs(place[i])
    return 1 if total > 0.0 else 0


@loop
def write_place(k: i64, ask: Question, place: ptr) -> None:
    """One point: n fixed on its owner, both points, the radii about them."""
    n = ask.normal
    for i in range(3):
        if ask.owner == 1:
            place[3 + i] = n[i]
        else:
            place[i] = ask.R[0, i] * n[0] + ask.R[1, i] * n[1] + ask.R[2, i] * n[2]
        place[6 + i] = ask.first_points[k, i]
        place[9 + i] = ask.second_points[k, i]
    place[12] = ask.reach
    place[13] = ask.reach_second


@loop
def are_near(pair: Pair, far: f64, bodies: Bodies, ask: Question) -> i64:
    """1 if the spheres about two bodies are within reach of each other."""
    one = bodies.body[pair.first]
    other = bodies.body[pair.second]
    size = one.size + one.radius + other.size + other.radius
    reach = size + max(NEAR * size, far)
    for i in range(3):
        ask.v[i] = ask.p[i] - other.center[i]
        for j in range(3):
            ask.v[i] += ask.R[i, j] * one.center[j]
    return 1 if dot3(ask.v, ask.v) <= reach * reach else 0


@cache
def _compiled(portable: bool) -> CompiledLoops:
    """The loop as machine code, once a process."""
    return compile_loops([*LOOPS.values()], portable=portable)


LOOPS = {"one_sided": places_at, "one_sided_from": places_from, "passes": passes_at}
"""Entries that are loops here."""


def with_convex(base: Kernel) -> Kernel:
    """The kernel whose entry `one_sided` finds where convex bodies touch; the same without such.

    Raises:
        ProgramError: a back end whose entries are no machine code of this process.
    """
    pairs = base.program.facts.get("convex", ())
    if not pairs:
        return base
    if not isinstance(base, MachineKernel):
        raise ProgramError(
            f"{pairs[0][0]!r} is a contact of convex bodies, which this back end does not find.",
            hint="Take the back end 'llvm'.",
        )
    touches = touches_of(pairs, base.program)

    def compiler(names: tuple[str, ...]) -> tuple[Mapping[str, int], Any]:
        own = [name for name in names if name in LOOPS]
        plain = [name for name in names if name not in LOOPS]
        base.compile(*plain, *(["frames", "one_sided"] if own else []))
        addresses = {name: base.address(name) for name in plain}
        owner: Any = base
        if own:
            touches.ints[Touches.fields["frames"].slot] = base.address("frames")
            touches.ints[Touches.fields["gaps"].slot] = base.address("one_sided")
            code = _compiled(base.portable)
            functions = {name: code.address(LOOPS[name]) for name in own}
            jump = trampoline(functions, touches, [address(touches)])
            addresses |= {name: jump[name] for name in own}
            owner = (base, touches, jump, code)
        return addresses, owner

    def work_size(entry: str) -> int:
        if entry not in LOOPS:
            return base.work_size(entry)
        own = max(base.work_size(x) for x in ("frames", "one_sided"))
        return int(touches.rest) + own

    reads = _reads(base)
    recipe = (with_convex, (base,))
    whole = MachineKernel(
        base.program, compiler, work_size, reads=reads, recipe=recipe, portable=base.portable
    )
    whole.origin = base.origin
    return whole


def _reads(base: MachineKernel) -> dict[str, dict[str, int]]:
    """How many leading elements of each array the loops look at."""
    read = {**base._read("one_sided"), **base._read("frames"), "x": 0}
    for name in ("q", "v", "u", "p", "t"):
        both = [base._read(x).get(name, 0) for x in ("frames", "one_sided")]
        read[name] = max(both)
    steps = {**read, "x": int(base.program.sizes["nq"])}
    return {"one_sided": read, "one_sided_from": steps, "passes": steps}


def touches_of(pairs: Any, program: Program) -> Touches:
    """The table of pairs of a mechanism; its entries are set when they are compiled."""
    sides, nv, nc = program.facts["sides"], program.sizes["nv"], program.sizes["nc"]
    number = {x[0]: b for b, x in enumerate(sides)}
    count = sum(x[4] for x in sides)
    laws = len(sides) + 2 * count + count * nv + Law.fields["spare"].slot
    touches = table_of(pairs)
    touches.first_x = touches.first_place - (nv + nc + count)
    for k, pair in enumerate(touches.pair):
        name = pairs[k][0]
        pair.gap[:] = [laws + LAW * number[f"{name}[{j + 1}]"] for j in range(MOST)]
    return touches


def table_of(pairs: Sequence[tuple[str, Solid, Touched]]) -> Touches:
    """The table of pairs, each a name and two bodies; None in the place of the plane z = 0."""
    solids: list[Solid] = []
    grids: list[HeightGrid] = []
    numbers = []
    for _, first, second in pairs:
        solids.append(first)
        one, other = len(solids) - 1, -1
        if isinstance(second, HeightGrid):
            known = [k for k, x in enumerate(grids) if x is second]
            grids += [] if known else [second]
            numbers.append((one, FIELD, known[0] if known else len(grids) - 1))
            continue
        if second is not None:
            other = len(solids)
            solids.append(second)
        numbers.append((one, other, 0))
    block, fields = bodies_of(solids), fields_of(grids)
    touches = Touches.new({"bodies": block.words, "terrain": fields.words}, pairs=len(pairs))
    touches.bodies[:], touches.terrain[:] = block.ints, fields.ints
    touches.first_before = Question.header
    touches.first_frame = touches.first_before + Frame.header * len(pairs)
    touches.first_place = touches.first_frame + Frame.header * len(pairs)
    keys = touches.first_place + Places.header * len(pairs)
    touches.gathered = keys + MOST * len(pairs)
    touches.rest = touches.gathered + (Gathered.header if grids else 0)
    for k, pair in enumerate(touches.pair):
        pair.first, pair.second, pair.field = numbers[k]
        pair.thin = sum(thickness(x) for x in pairs[k][1:] if isinstance(x, Solid))
        pair.before = touches.first_before + Frame.header * k
        pair.frame = touches.first_frame + Frame.header * k
        pair.places = touches.first_place + Places.header * k
        pair.keys = keys + MOST * k
    return touches
