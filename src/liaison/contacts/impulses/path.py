"""Impulses of many contacts by a path that is followed around its turns.

Solutions of (interior-1) over τ form a path that ends at impulses of Coulomb's law. With much
friction it turns back, τ growing for a while, and turns of the interior method, which only let τ
fall, end there. Here the path is followed by its length: log τ is one more unknown,

    H(x, log τ) = 0,   T·δ(x, log τ) = s,   T the direction of the path                  (path-1)

in relative changes, those of a cone beside its axis. Contacts are soft at the beginning,

    w = u_n + ε a f_n,   z = u_t + ε a f_t in the place of u_t,   ε = κ τ/τ₀ + ε₀        (path-2)

so much that each hardly knows of the others: there is one solution then, and the path that begins
at it can only end at τ = 0. A step goes along the direction and comes back by Newton's method; it
is halved where that does not converge at once. Each point takes two factorizations or so.

Public names: follow_path.

Source: AG03 ch. 2, 6 (predictor and corrector); docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt

from liaison.contacts.scene.bodies import copy_twists
from liaison.contacts.scene.layout import MANY_BODIES, ConePair, Island, Panels, System
from liaison.contacts.scene.rates import rate, residual_of
from liaison.program.loops.language import f64, i64, loop, ptr

from .block_factors import order_panels
from .interior import (
    NEAR,
    SOFT,
    assemble,
    changed_rates,
    cone_room,
    finished,
    keep_best,
    missing_momentum,
    take_best,
    with_impulses,
)
from .panels import solve_panels
from .path_layout import CAME_BACK, NO_END, NO_STEP, TOO_LONG, Bend, Move, Path

OUTSIDE, KAPPA = (10.0, 1000.0, 10.0, 10.0), (10.0, 10.0, 100.0, 1000.0)
"""Rates at the beginning of each path, beside the fastest without impulses, and κ of it."""

CENTERED = 40
"""Steps of Newton's method at most to the first point."""

CLOSE, AWAY, FASTER = 0.1, 0.6, 0.5
"""Largest relative change with which a point is on the path, from which on a step is too long, and
part to which each change must shrink."""

BEGUN, AIMED, LONGEST, GROWN = 0.5, 0.15, 2.0, 2.0
"""Largest relative change of the first step; first change back that is aimed at, largest relative
change of a step, and its growth."""

CORRECTED, HALVED = 3, 14
"""Changes back to the path, and times that a step is halved."""

PART, SPARE = 0.9, 1.05
"""Of the way to a bound that a step goes, and how far a change must stay away from one."""

FARTHEST = 1e30
"""Relative changes above this are none."""

RETURNED, ENDED = 3.0, 1e-22
"""τ beside the first one at which a path has come back: a step went over to another one; and at
which what is missed is due to impulses that grow without end."""


@loop
def follow_path(mu: f64, tolerance: f64, way: i64, most: i64, island: Island) -> f64:
    """Impulses with a residual up to the tolerance along the path from softness; the residual.

    Args:
        mu: 1, or 0 where nothing has friction.
        tolerance: residual that is enough.
        way: number of the path, from 0 on.
        most: factorizations.
        island: velocities without impulses are `unloaded`; impulses and velocities become the best.
    """
    best = float(residual_of(mu, island))
    keep_best(island)
    if island.bodies > MANY_BODIES:
        return best
    panels = Panels(island.panels)
    if order_panels(island.contacts, island.contact, System(island.system), panels) < 0:
        return best
    path = Path(island.path)
    path.kappa = KAPPA[way]
    island.why = begin(mu, tolerance, OUTSIDE[way], path, island)
    tried = NEAR * tolerance
    while island.why == 0 and best > tolerance:
        island.why = next_point(path, island)
        if island.why != 0:
            break
        with_impulses(island)
        now = float(residual_of(mu, island))
        if now < best:
            best = now
            keep_best(island)
        if best > tolerance and now <= tried:
            tried = 0.5 * now
            best = min(best, finished(mu, tolerance, island))
        island.why = ended(most, path)
    island.turns += path.factors
    take_best(island)
    with_impulses(island)
    return best


@loop
def ended(most: i64, path: Path) -> i64:
    """Why a path is not followed any further; 0 where it is."""
    if path.tau > RETURNED * path.first:
        return CAME_BACK
    if path.tau < ENDED * path.first:
        return NO_END
    return TOO_LONG if path.factors >= most else 0


@loop
def begin(mu: f64, tolerance: f64, outside: f64, path: Path, island: Island) -> i64:
    """The first point of the path; 0, or why it is not found."""
    fastest = 1e-300
    copy_twists(island.bodies, island.unloaded, island.next)
    for c in range(island.contacts):
        for r in range(3):
            fastest = max(fastest, abs(rate(island.contact[c], r, island)))
    little = outside * fastest
    path.tau = little * little
    path.first = path.tau
    path.least = SOFT * tolerance
    path.reach = BEGUN
    path.was = -1.0
    path.factors = 0
    for c in range(island.contacts):
        q = island.cone[c]
        q.mu = mu * island.contact[c].friction
        path.bend[c].a = island.contact[c].normal
        f = island.contact[c].force
        f[0] = little / island.contact[c].normal
        f[1] = 0.0
        f[2] = 0.0
        for r in range(7):
            path.bend[c].was[r] = 0.0
    with_impulses(island)
    copy_twists(island.bodies, island.next, island.inner)
    for c in range(island.contacts):
        q = island.cone[c]
        for r in range(3):
            q.rate[r] = rate(island.contact[c], r, island)
        slip = sqrt(q.rate[1] * q.rate[1] + q.rate[2] * q.rate[2])
        q.w = max(q.rate[0] + path.kappa * little, little)
        q.slack = 1.1 * slip + 0.5 * little / q.mu if q.mu > 0.0 else 1.0
    soften(path, island)
    return center(path, island)


@loop
def center(path: Path, island: Island) -> i64:
    """To the point of the path at this τ, by Newton's method; 0, or why it is not found."""
    for _ in range(CENTERED):
        if factorize(path, island) != 0:
            return NO_STEP
        change(1, path, island)
        far = min(1.0, PART * room_along(1.0, 1, path, island))
        size = sizes(path, island)
        if size == FARTHEST:
            return NO_STEP
        change(0, path, island)
        move(far, 0.0, 1, path, island)
        if far == 1.0 and size < CLOSE:
            return 0
    return NO_STEP


@loop
def sizes(path: Path, island: Island) -> f64:
    """The largest relative change back to the path."""
    largest = 0.0
    for c in range(island.contacts):
        for r in range(7):
            x = relative(r, path.back[c], island.contact[c].force, island.cone[c])
            if not (abs(x) < FARTHEST):
                return FARTHEST
            largest = max(largest, abs(x))
    return largest


@loop
def next_point(path: Path, island: Island) -> i64:
    """A step along the path and back to it; 0, or NO_STEP where none is short enough.

    A step that fails begins again with the direction at the point itself: what the last change left
    of it was found beside the path.
    """
    keep_point(path, island)
    for tried in range(HALVED):
        if tried > 0:
            take_point(path, island)
            if factorize(path, island) != 0:
                return NO_STEP
            change(0, path, island)
        find_direction(path, island)
        sense = path.sense / path.length
        far = min(path.reach / path.largest, PART * room_along(sense, 0, path, island))
        move(far * sense, far * sense, 0, path, island)
        if corrected(path, island) == 1:
            grown = min(GROWN, max(0.5, sqrt(AIMED / max(path.missed, 1e-9))))
            path.reach = min(LONGEST, grown * path.reach)
            take_direction(path, island)
            return 0
        path.reach = 0.5 * path.reach
    return NO_STEP


@loop
def corrected(path: Path, island: Island) -> i64:
    """Back to the path at right angles to its direction; 1 where changes shrink fast enough."""
    before = 1e300
    for turn in range(CORRECTED):
        if factorize(path, island) != 0:
            return 0
        change(1, path, island)
        change(0, path, island)
        size = perpendicular(path, island)
        path.missed = size if turn == 0 else path.missed
        if not (size < AWAY and size <= FASTER * before):
            return 0
        if not (room_along(1.0, 1, path, island) >= SPARE):
            return 0
        move(1.0, path.shift, 1, path, island)
        before = size
        if size < CLOSE:
            return 1
    return 0


@loop
def perpendicular(path: Path, island: Island) -> f64:
    """The change back to the path, made perpendicular to its direction; its largest entry."""
    across = 0.0
    along = path.now
    for c in range(island.contacts):
        f = island.contact[c].force
        q = island.cone[c]
        for r in range(7):
            across += path.bend[c].now[r] * relative(r, path.back[c], f, q)
            along += path.bend[c].now[r] * relative(r, path.along[c], f, q)
    path.shift = -across / along
    for c in range(island.contacts):
        to = path.back[c].floats
        by = path.along[c].floats
        for i in range(10):
            to[i] += path.shift * by[i]
    for i in range(island.bodies):
        for j in range(6):
            path.back_speed[i, j] += path.shift * path.along_speed[i, j]
    largest = sizes(path, island)
    return max(largest, abs(path.shift))


@loop
def find_direction(path: Path, island: Island) -> None:
    """The direction of the path by its tangent over log τ, on from the last one."""
    square = 1.0
    turned = path.was
    largest = 1.0
    for c in range(island.contacts):
        b = path.bend[c]
        for r in range(7):
            x = relative(r, path.along[c], island.contact[c].force, island.cone[c])
            b.now[r] = x
            square += x * x
            largest = max(largest, abs(x))
            turned += x * b.was[r]
    path.length = sqrt(square)
    path.sense = 1.0 if turned > 0.0 else -1.0
    path.largest = largest / path.length
    part = path.sense / path.length
    path.now = part
    for c in range(island.contacts):
        for r in range(7):
            path.bend[c].now[r] = part * path.bend[c].now[r]


@loop
def take_direction(path: Path, island: Island) -> None:
    """The direction from the last point becomes that to it."""
    path.was = path.now
    for c in range(island.contacts):
        for r in range(7):
            path.bend[c].was[r] = path.bend[c].now[r]


@loop
def relative(r: i64, m: Move, f: ptr, q: ConePair) -> f64:
    """A relative change of a contact: of f_n, w, f_t, λ and z beside the axes of their cones."""
    x = 0.0
    if r == 0:
        x = m.force[0] / f[0]
    elif r == 1:
        x = m.w / q.w
    elif q.mu > 0.0:
        x = m.force[r - 1] / (q.mu * f[0]) if r < 4 else m.z[r - 4] / q.slack
    return float(x)


@loop
def keep_point(path: Path, island: Island) -> None:
    """Keeps the point of the path."""
    path.kept = path.tau
    for c in range(island.contacts):
        kept = path.bend[c].kept
        q = island.cone[c]
        for r in range(3):
            kept[r] = island.contact[c].force[r]
            kept[3 + r] = q.rate[r]
        kept[6] = q.w
        kept[7] = q.slack
    for i in range(island.bodies):
        for j in range(6):
            path.kept_speed[i, j] = island.inner[i].floats[j]


@loop
def take_point(path: Path, island: Island) -> None:
    """Back to the point that was kept."""
    path.tau = path.kept
    for c in range(island.contacts):
        kept = path.bend[c].kept
        q = island.cone[c]
        for r in range(3):
            island.contact[c].force[r] = kept[r]
            q.rate[r] = kept[3 + r]
        q.w = kept[6]
        q.slack = kept[7]
    for i in range(island.bodies):
        for j in range(6):
            island.inner[i].floats[j] = path.kept_speed[i, j]
    soften(path, island)


@loop
def move(far: f64, shift: f64, is_back: i64, path: Path, island: Island) -> None:
    """So far along the changes, log τ by its shift: τ by a fraction near eˣ, positive for all x."""
    for c in range(island.contacts):
        m = path.back[c] if is_back == 1 else path.along[c]
        q = island.cone[c]
        for r in range(3):
            island.contact[c].force[r] += far * m.force[r]
            q.rate[r] += far * m.rate[r]
        q.w += far * m.w
        q.slack += far * m.z[0]
    for i in range(island.bodies):
        for j in range(6):
            by = path.back_speed[i, j] if is_back == 1 else path.along_speed[i, j]
            island.inner[i].floats[j] += far * by
    half = 1.0 + shift * shift / 12.0
    path.tau = path.tau * (half + 0.5 * shift) / (half - 0.5 * shift)
    soften(path, island)


@loop
def soften(path: Path, island: Island) -> None:
    """Softness of all contacts at this τ, and what slides with it."""
    part = path.kappa * path.tau / path.first
    for c in range(island.contacts):
        b = path.bend[c]
        b.slope = part * b.a
        b.soft = b.slope + path.least * b.a
        b.soft_across = b.slope
        for i in range(2):
            b.z[i] = island.cone[c].rate[1 + i] + b.slope * island.contact[c].force[1 + i]


@loop
def factorize(path: Path, island: Island) -> i64:
    """All contacts linearized, and the factors of their matrix; 1 where there are none."""
    path.factors += 1
    for c in range(island.contacts):
        linearize(island.contact[c].force, island.cone[c], path.bend[c])
    return assemble(0.0, island)


@loop
def linearize(f: ptr, q: ConePair, b: Bend) -> None:
    """G of a contact, δf = c − G δu, by (interior-1) with (path-2) as they are, not scaled."""
    for i in range(3):
        for j in range(3):
            q.g[i, j] = 0.0
    b.stiff = q.w + f[0] * b.soft
    q.g[0, 0] = f[0] / b.stiff
    if q.mu > 0.0:
        s = q.mu * f[0]
        b.det = s - (b.z[0] * f[1] + b.z[1] * f[2]) / q.slack
        b.by_normal = q.mu * ((b.z[0] * b.z[0] + b.z[1] * b.z[1]) / q.slack - q.slack)
        for i in range(2):
            b.by_slip[i] = s / q.slack * b.z[i] - f[1 + i]
        for i in range(2):
            b.lean[i] = (-q.mu * b.z[i] - f[1 + i] * b.by_normal / b.det) / q.slack
            for j in range(2):
                own = s if i == j else 0.0
                b.T[i, j] = (-own - f[1 + i] * b.by_slip[j] / b.det) / q.slack
        soft = b.soft_across
        det = (1.0 - soft * b.T[0, 0]) * (1.0 - soft * b.T[1, 1])
        det -= soft * b.T[0, 1] * soft * b.T[1, 0]
        b.K[0, 0] = (1.0 - soft * b.T[1, 1]) / det
        b.K[1, 1] = (1.0 - soft * b.T[0, 0]) / det
        b.K[0, 1] = soft * b.T[0, 1] / det
        b.K[1, 0] = soft * b.T[1, 0] / det
        for i in range(2):
            q.g[1 + i, 0] = (b.K[i, 0] * b.lean[0] + b.K[i, 1] * b.lean[1]) * q.g[0, 0]
            for j in range(2):
                q.g[1 + i, 1 + j] = -(b.K[i, 0] * b.T[0, j] + b.K[i, 1] * b.T[1, j])


@loop
def change(is_back: i64, path: Path, island: Island) -> None:
    """Changes back to the path at this τ, or along it with log τ."""
    for i in range(island.bodies):
        if is_back == 1:
            missing_momentum(i, island)
        else:
            for j in range(6):
                island.change[i].floats[j] = 0.0
    for c in range(island.contacts):
        f = island.contact[c].force
        b = path.bend[c]
        if is_back == 1:
            ask_back(path.tau / b.a, f, island.cone[c], b)
        else:
            ask_along(path.tau / b.a, f, island.cone[c], b)
        push(float(is_back), c, b, island)
    solve_panels(Panels(island.panels), island.change)
    for c in range(island.contacts):
        changed_rates(island.contact[c], island)
        m = path.back[c] if is_back == 1 else path.along[c]
        answer(island.rates, island.cone[c], path.bend[c], m)
    for i in range(island.bodies):
        speed = path.back_speed[i] if is_back == 1 else path.along_speed[i]
        for j in range(6):
            speed[j] = island.change[i].floats[j]


@loop
def push(own: f64, c: i64, b: Bend, island: Island) -> None:
    """What a contact adds to the momenta of its bodies: Dᵀ (c + f), or Dᵀ c."""
    contact = island.contact[c]
    f = contact.force
    rows = contact.rows
    for side in range(2):
        if contact.body[side] >= 0:
            first = 3 * side
            out = island.change[contact.body[side]].floats
            for i in range(6):
                out[i] += (
                    rows[first, i] * (b.constant[0] + own * f[0])
                    + rows[first + 1, i] * (b.constant[1] + own * f[1])
                    + rows[first + 2, i] * (b.constant[2] + own * f[2])
                )


@loop
def ask_back(product: f64, f: ptr, q: ConePair, b: Bend) -> None:
    """What a contact misses of the path."""
    b.lag = q.w - q.rate[0] - b.soft * f[0]
    b.shift[0] = 0.0
    b.shift[1] = 0.0
    s = q.mu * f[0]
    dot = s * q.slack + f[1] * b.z[0] + f[2] * b.z[1]
    x = -s * b.z[0] - q.slack * f[1]
    y = -s * b.z[1] - q.slack * f[2]
    constants(product - f[0] * q.w, product - dot, x, y, f, q, b)


@loop
def ask_along(product: f64, f: ptr, q: ConePair, b: Bend) -> None:
    """How the law of a contact changes with log τ."""
    b.lag = -b.slope * f[0]
    b.shift[0] = b.slope * f[1]
    b.shift[1] = b.slope * f[2]
    constants(product, product, 0.0, 0.0, f, q, b)


@loop
def constants(n: f64, t: f64, x: f64, y: f64, f: ptr, q: ConePair, b: Bend) -> None:
    """c of δf = c − G δu where products are to change by n, and by (t, x, y)."""
    normal = (n + f[0] * b.lag) / b.stiff
    b.constant[0] = normal
    b.constant[1] = 0.0
    b.constant[2] = 0.0
    if q.mu > 0.0:
        b.first = (t - (b.z[0] * x + b.z[1] * y) / q.slack) / b.det
        p = (x - f[1] * b.first) / q.slack + b.lean[0] * normal
        r = (y - f[2] * b.first) / q.slack + b.lean[1] * normal
        p += b.T[0, 0] * b.shift[0] + b.T[0, 1] * b.shift[1]
        r += b.T[1, 0] * b.shift[0] + b.T[1, 1] * b.shift[1]
        b.constant[1] = b.K[0, 0] * p + b.K[0, 1] * r
        b.constant[2] = b.K[1, 0] * p + b.K[1, 1] * r


@loop
def answer(du: ptr, q: ConePair, b: Bend, out: Move) -> None:
    """The changes of a contact with those of its rates."""
    for i in range(3):
        row = q.g[i]
        out.force[i] = b.constant[i] - row[0] * du[0] - row[1] * du[1] - row[2] * du[2]
        out.rate[i] = du[i]
        out.z[i] = 0.0
    out.w = du[0] + b.soft * out.force[0] - b.lag
    if q.mu > 0.0:
        for i in range(2):
            out.z[1 + i] = du[1 + i] + b.soft_across * out.force[1 + i] + b.shift[i]
        slid = b.by_slip[0] * out.z[1] + b.by_slip[1] * out.z[2]
        out.z[0] = b.first + (slid + b.by_normal * out.force[0]) / b.det


@loop
def room_along(sense: f64, is_back: i64, path: Path, island: Island) -> f64:
    """How far all contacts may go along their changes, or against them."""
    far = 1e30
    for c in range(island.contacts):
        m = path.back[c] if is_back == 1 else path.along[c]
        q = island.cone[c]
        f = island.contact[c].force
        n = sense * m.force[0]
        x = sense * m.force[1]
        y = sense * m.force[2]
        far = min(far, -f[0] / n) if n < 0.0 else far
        far = min(far, -q.w / (sense * m.w)) if sense * m.w < 0.0 else far
        if q.mu > 0.0:
            far = min(far, cone_room(q.mu * f[0], f[1], f[2], q.mu * n, x, y))
            z = path.bend[c].z
            d = m.z
            slid = cone_room(q.slack, z[0], z[1], sense * d[0], sense * d[1], sense * d[2])
            far = min(far, slid)
    return far
