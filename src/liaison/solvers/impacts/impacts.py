"""Impacts: the jump of velocities at all closed and closing contacts at once, under six laws.

    u⁺ = A f + u⁻,    T⁺ − T⁻ = ½ fᵀ(u⁺ + u⁻)                                    (impact-1)

All but NEWTON, STRONGE and SEQUENTIAL begin with a compression, the inelastic problem of
`solve_cones` with impulses f_c and rates u_c. It never adds energy: f_cᵀu_c ≤ 0, since loads have
f u = 0 and discs f u ≤ 0, so that

    ½ f_cᵀ(u_c + u⁻) = f_cᵀu_c − ½ f_cᵀA f_c ≤ 0                                 (impact-2)

- ENERGETIC: expansion with loads f_e ≥ s e f_c ⟂ u⁺ ≥ 0 and friction of its own, s ≤ 1 the largest
  for which loads give back no more than Σ e² of the work they took in compression (Stronge's
  hypothesis, over all contacts) and T does not grow. s = 0 does both, by (impact-2).
- NEWTON: u_n⁺ ≥ −e u_n⁻ where u_n⁻ < 0. With friction T may grow: Kane's case.
- POISSON: the expansion with s = 1. Where e differ between contacts T may grow.
- MOREAU: f = (1 + e) f_c with one e, the mean weighted by f_c. T never grows for e ≤ 1.
- STRONGE: one contact along its path, see `routh.py`; several at once as ENERGETIC.
- SEQUENTIAL: one contact after the other, each as STRONGE, see `sequence.py`.

Contacts that still approach take part in another impact; the last of many is inelastic.

Public names: ENERGETIC, NEWTON, POISSON, MOREAU, STRONGE, SEQUENTIAL, impact, impact_area.

Source: STR90 (energetic restitution), GP95 (Poisson's law with friction), MOR88 (one e);
docs/theory/contact_solvers.md.
"""

from __future__ import annotations

from math import sqrt
from typing import final

from liaison.program.loops.language import at, f64, i64, loop, ptr
from liaison.program.loops.records import Part, Rows, rows, sized, words_of
from liaison.solvers.cones.cones import ONE_WAY, solve_cones
from liaison.solvers.cones.table import Area, Cone, Limit, copy

from .routh import PATH_AREA, strike_one
from .sequence import Single, add_impulses, blocks_cut, cut_out, fastest, rows_cut

ENERGETIC, NEWTON, POISSON, MOREAU, STRONGE, SEQUENTIAL = 0, 1, 2, 3, 4, 5
"""Laws of impact."""

ROUNDS = 20
"""Impacts in a row at one instant, of which the last is inelastic."""

SEQUENCE = 10000
"""Impacts of a sequence, for every contact; what approaches after them is stopped inelastically."""

TRIALS, ENOUGH, CLOSE = 40, 1e-11, 1e-10
"""Expansions at most, and how near to its bound an excess, or to the largest one an s, is right."""

NARROW, JUMP = 1e-5, 1e-3
"""An excess that is this large so near to where there is none has jumped."""

UNSOLVED = 1e-8
"""An expansion with a residual above this is no answer."""

NEGLIGIBLE, ROUNDING = 1e-11, 1e-14
"""Parts of the largest rate below which a contact does not approach, and a rate is 0."""


@final
class ImpactArea(Part):
    """What the loops of an impact share."""

    worst: f64  # residual of the problems solved
    rounds: f64  # impacts that followed each other
    unended: f64  # part of the rates before by which a sequence that was cut short still approached
    size: f64  # of the rates before
    before: ptr = sized("m")  # u before this impact
    uc: ptr = sized("m")  # u after compression
    fc: ptr = sized("m")  # impulses of compression
    fe: ptr = sized("m")  # impulses of expansion
    after: ptr = sized("m")  # u after; also the b of a problem
    allowed: ptr = sized("m")  # fe of the largest s that is allowed so far
    least: Rows[Limit] = rows("nb")  # limits of an expansion
    cones: ptr = sized(f"max({Area.length()}, {PATH_AREA})")


def impact_area(m: int, nb: int) -> int:
    """Doubles that `impact` works in."""
    return 2 * words_of(ImpactArea, m, nb) + words_of(Single, m, nb)


@loop
def response(m: i64, A: ptr, f: ptr, u: ptr, out: ptr) -> None:
    """out = A f + u."""
    for i in range(m):
        total = u[i]
        for j in range(m):
            total += A[i * m + j] * f[j]
        out[i] = total


@loop
def half_work(m: i64, f: ptr, u: ptr, w: ptr) -> f64:
    """½ fᵀ(u + w)."""
    total = 0.0
    for i in range(m):
        total += 0.5 * f[i] * (u[i] + w[i])
    return total


@loop
def largest_rate(m: i64, A: ptr, u: ptr) -> f64:
    """The largest rate, each beside the root of its mobility."""
    size = 0.0
    for i in range(m):
        if A[i * m + i] > 0.0:
            size = max(size, abs(u[i]) / sqrt(A[i * m + i]))
    return size


@loop
def clean(m: i64, A: ptr, u: ptr, size: f64) -> None:
    """Rates that are rounding beside a size become 0: rows that repeat would else contradict."""
    for i in range(m):
        if abs(u[i]) <= ROUNDING * size * sqrt(max(A[i * m + i], 0.0)):
            u[i] = 0.0


@loop
def is_approaching(m: i64, nb: i64, A: ptr, blocks: Rows[Cone], u: ptr, size: f64) -> i64:
    """1 if a one-way row still approaches, by more than a part of the size of rates."""
    for k in range(nb):
        i = blocks[k].first
        if blocks[k].kind == ONE_WAY and u[i] < -NEGLIGIBLE * size * sqrt(max(A[i * m + i], 0.0)):
            return 1 if A[i * m + i] > 0.0 else 0
    return 0


@loop
def compress(
    m: i64, nb: i64, A: ptr, u: ptr, blocks: Rows[Cone], limits: Rows[Limit], fc: ptr, uc: ptr,
    area: ptr,
) -> f64:  # fmt: skip
    """f_c and u_c of the inelastic impact; the residual of its problem, beside u."""
    for i in range(m):
        fc[i] = 0.0
    residual = solve_cones(m, nb, A, u, blocks, limits, fc, area)
    response(m, A, fc, u, uc)
    return residual


@loop
def expand(
    s: f64, m: i64, nb: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution: ptr,
    area: ImpactArea,
) -> f64:  # fmt: skip
    """f_e and u⁺ of an expansion with loads of at least s e f_c; its residual, beside `area.size`.

    The search begins at the f_e there is.
    """
    fc = area.fc
    fe = area.fe
    uc = area.uc
    least = area.least
    size = largest_rate(m, A, uc)
    for k in range(nb):
        for j in range(2):
            least[k].coefficient[j] = limits[k].coefficient[j]
        least[k].constant = limits[k].constant
        i = blocks[k].first
        if blocks[k].kind == ONE_WAY:
            least[k].constant = s * restitution[k] * fc[i]
            size = max(size, least[k].constant * sqrt(max(A[i * m + i], 0.0)))
    residual = solve_cones(m, nb, A, uc, blocks, least, fe, area.cones)
    response(m, A, fe, uc, area.after)
    return float(residual * size / max(area.size, 1e-300))


@loop
def excess(m: i64, nb: i64, blocks: Rows[Cone], restitution: ptr, area: ImpactArea) -> f64:
    """How much too energetic the last expansion was: 0 or less is allowed; a part of what was lost.

    The larger of what loads give back beyond Σ e² of what they took, and the change of T.
    """
    before = area.before
    uc = area.uc
    fc = area.fc
    fe = area.fe
    after = area.after
    absorbed = 0.0
    allowed = 0.0
    returned = 0.0
    for k in range(nb):
        i = blocks[k].first
        if blocks[k].kind == ONE_WAY:
            work = max(0.0, -0.5 * fc[i] * (before[i] + uc[i]))
            absorbed += work
            allowed += restitution[k] * restitution[k] * work
            returned += 0.5 * fe[i] * (uc[i] + after[i])
    change = half_work(m, fc, before, uc) + half_work(m, fe, uc, after)
    return max(returned - allowed, change) / max(absorbed + abs(returned), 1e-280) - 1e-14


@loop
def expand_from_nothing(
    s: f64, m: i64, nb: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution: ptr,
    area: ImpactArea,
) -> f64:  # fmt: skip
    """As `expand`, from loads alone, without friction."""
    for k in range(nb):
        i = blocks[k].first
        for j in range(i, i + blocks[k].rows):
            area.fe[j] = 0.0
        if blocks[k].kind == ONE_WAY:
            push = s * restitution[k] * area.fc[i]
            area.fe[i] = push
    return expand(s, m, nb, A, blocks, limits, restitution, area)


@loop
def between(low: f64, high: f64, under: f64, over: f64, turn: i64) -> f64:
    """Where a line through both ends is zero; sometimes the middle, so that both ends move."""
    s = low - under * (high - low) / (over - under)
    return 0.5 * (low + high) if turn % 5 == 4 or not (s > low and s < high) else s


@loop
def is_near(width: f64, under: f64, over: f64) -> i64:
    """1 if s is found between two that are `width` apart, with an excess of either sign."""
    # an excess that jumps has no root: the modes are others on both sides of it
    has_jumped = 1 if width <= NARROW and over > JUMP else 0
    return 1 if under > -ENOUGH or width <= CLOSE or has_jumped == 1 else 0


@loop
def expand_as_allowed(
    m: i64, nb: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution: ptr, area:
    ImpactArea,
) -> f64:  # fmt: skip
    """The expansion with the largest s ≤ 1 that `excess` allows: its root, by regula falsi.

    Each trial begins at the impulses of the last. One that is not solved counts as not allowed, and
    the second of these ends the search.
    """
    uc = area.uc
    fe = area.fe
    allowed = area.allowed
    residual = expand_from_nothing(1.0, m, nb, A, blocks, limits, restitution, area)
    over = excess(m, nb, blocks, restitution, area)
    if over <= 0.0 and residual <= UNSOLVED:
        return residual
    unsolved = 1 if residual > UNSOLVED else 0
    over = max(over, 1.0) if unsolved == 1 else over
    accepted = expand_from_nothing(0.0, m, nb, A, blocks, limits, restitution, area)
    under = min(excess(m, nb, blocks, restitution, area), -1e-300)
    copy(m, fe, allowed)
    low = 0.0
    high = 1.0
    side = 0
    for turn in range(TRIALS):
        if unsolved > 1 or accepted > UNSOLVED or is_near(high - low, under, over) == 1:
            break
        s = between(low, high, under, over, turn)
        residual = expand(s, m, nb, A, blocks, limits, restitution, area)
        value = excess(m, nb, blocks, restitution, area)
        if residual > UNSOLVED:
            unsolved += 1
            value = max(value, over)
        if value <= 0.0:
            low = s
            under = value
            accepted = residual
            copy(m, fe, allowed)
            over = 0.5 * over if side == 1 else over
            side = 1
        else:
            high = s
            over = value
            under = 0.5 * under if side == 2 else under
            side = 2
    copy(m, allowed, fe)
    response(m, A, fe, uc, area.after)
    return accepted


@loop
def shifted(m: i64, nb: i64, u: ptr, blocks: Rows[Cone], restitution: ptr, out: ptr) -> None:
    """u with e u_n added where a one-way row approaches: Newton's law keeps it from below 0."""
    for i in range(m):
        out[i] = u[i]
    for k in range(nb):
        i = blocks[k].first
        if blocks[k].kind == ONE_WAY:
            out[i] += restitution[k] * min(u[i], 0.0)


@loop
def mean_restitution(nb: i64, blocks: Rows[Cone], restitution: ptr, f: ptr) -> f64:
    """The mean of e, weighted by impulses; 0 if there are none."""
    weight = 0.0
    total = 0.0
    for k in range(nb):
        if blocks[k].kind == ONE_WAY:
            weight += f[blocks[k].first]
            total += restitution[k] * f[blocks[k].first]
    return total / weight if weight > 0.0 else 0.0


@loop
def one_impact(
    law: i64, m: i64, nb: i64, A: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution: ptr,
    area: ImpactArea,
) -> f64:  # fmt: skip
    """f_c, f_e and u after one impact from the rates before it; the worst residual beside `size`.

    Any law but the first five is an inelastic impact.
    """
    before = area.before
    uc = area.uc
    fc = area.fc
    fe = area.fe
    after = area.after
    cones = area.cones
    share = float(largest_rate(m, A, before) / max(area.size, 1e-300))
    for i in range(m):
        fe[i] = 0.0
    if law == NEWTON:
        shifted(m, nb, before, blocks, restitution, after)
        residual = share * compress(m, nb, A, after, blocks, limits, fc, uc, cones)
        response(m, A, fc, before, after)
        return residual
    if law == STRONGE:
        if strike_one(m, nb, A, before, blocks, limits, restitution, fc, cones) == 1:
            response(m, A, fc, before, after)
            return 0.0
        law = ENERGETIC
    residual = share * compress(m, nb, A, before, blocks, limits, fc, uc, cones)
    clean(m, A, uc, area.size)
    if law == ENERGETIC:
        return max(residual, expand_as_allowed(m, nb, A, blocks, limits, restitution, area))
    if law == POISSON:
        return max(residual, expand_from_nothing(1.0, m, nb, A, blocks, limits, restitution, area))
    if law == MOREAU:
        e = mean_restitution(nb, blocks, restitution, fc)
        for i in range(m):
            fe[i] = e * fc[i]
    response(m, A, fe, uc, after)
    return residual


@loop
def strike_alone(
    m: i64, nb: i64, A: ptr, u: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution: ptr, f:
    ptr, area: ptr,
) -> f64:  # fmt: skip
    """Impulses of a contact that was cut out, as if it were alone; the worst residual."""
    if nb == 1:
        f[0] = -(1.0 + restitution[0]) * u[0] / A[0]
        return 0.0
    desk = ImpactArea(area, m, nb)
    desk.size = largest_rate(m, A, u)
    for i in range(m):
        desk.before[i] = u[i]
    worst = one_impact(STRONGE, m, nb, A, blocks, limits, restitution, desk)
    for i in range(m):
        f[i] = desk.fc[i] + desk.fe[i]
    return worst


@loop
def strike_in_turn(
    m: i64, nb: i64, A: ptr, u: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution: ptr, f:
    ptr, area: ImpactArea, single: Single, struck: ptr,
) -> f64:  # fmt: skip
    """One impact after the other until none approaches, or there were too many; the change of T."""
    least = NEGLIGIBLE * area.size
    change = 0.0
    done = 0
    k = fastest(m, nb, A, blocks, u, least)
    while k >= 0 and done < SEQUENCE * nb:
        cut_out(k, m, nb, A, u, blocks, limits, restitution, single)
        residual = strike_alone(
            rows_cut(m, nb, single), blocks_cut(m, nb, single), single.A, single.u, single.blocks,
            single.limits, single.restitution, single.step, struck,
        )  # fmt: skip
        area.worst = max(area.worst, residual)
        change += add_impulses(m, nb, A, single, f, u)
        done += 1
        k = fastest(m, nb, A, blocks, u, least)
    area.rounds = float(done)
    if k >= 0:
        i = blocks[k].first
        area.unended = -u[i] / sqrt(A[i * m + i]) / area.size
    return change


@loop
def impact(
    law: i64, m: i64, nb: i64, A: ptr, u: ptr, blocks: Rows[Cone], limits: Rows[Limit], restitution:
    ptr, f: ptr, area: ptr,
) -> f64:  # fmt: skip
    """Impulses and rates after an impact of all contacts given.

    Args:
        law: ENERGETIC, NEWTON, POISSON, MOREAU, STRONGE or SEQUENTIAL; any other number is an
            inelastic impact.
        m: rows.
        nb: blocks.
        A: mobility, as for `solve_cones`; kept.
        u: rates u⁻ on entry, u⁺ on return.
        blocks: as for `solve_cones`.
        limits: as for `solve_cones`; constant parts are impulses here, usually 0.
        restitution: e of every block, 0 to 1; that of a ONE_WAY block counts.
        f: result: impulses.
        area: `impact_area(m, nb)` doubles; the first three become the worst residual of the
            problems solved, beside the largest of u⁻; how many impacts followed each other; and by
            what part of u⁻ contacts still approached where a sequence was cut short, 0 otherwise.

    Returns:
        The change of kinetic energy (impact-1); positive only under NEWTON and POISSON.
    """
    desk = ImpactArea(area, m, nb)
    before = desk.before
    after = desk.after
    desk.worst = 0.0
    desk.rounds = 0.0
    desk.unended = 0.0
    change = 0.0
    desk.size = largest_rate(m, A, u)
    for i in range(m):
        f[i] = 0.0
    if law == SEQUENTIAL:
        struck = at(area, words_of(ImpactArea, m, nb))
        single = Single(at(struck, words_of(ImpactArea, m, nb)), m, nb)
        change += strike_in_turn(m, nb, A, u, blocks, limits, restitution, f, desk, single, struck)
        if desk.unended == 0.0:
            return change
    for turn in range(ROUNDS):
        for i in range(m):
            before[i] = u[i]
        clean(m, A, before, desk.size)
        now = law if turn + 1 < ROUNDS else -1
        residual = one_impact(now, m, nb, A, blocks, limits, restitution, desk)
        desk.worst = max(desk.worst, residual)
        desk.rounds += 1.0
        for i in range(m):
            step = desk.fc[i] + desk.fe[i]
            f[i] += step
            u[i] = after[i]
            change += 0.5 * step * (before[i] + after[i])
        if is_approaching(m, nb, A, blocks, u, desk.size) == 0:
            break
    return change
