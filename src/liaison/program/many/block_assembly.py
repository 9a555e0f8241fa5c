"""Blocks put together by loops over index tables: inertias, rows, what rows lend to bodies.

Public names: measure, assemble, take_residual, lend_right.
"""

from __future__ import annotations

from liaison.equations.sweeps.blocks import STATE
from liaison.program.loops.language import entry_at, f64, flat, i64, loop, ptr

from .block_layout import PHI, System, Work


@loop
def measure(system: System, t: f64, q: ptr, v: ptr, u: ptr, work: Work) -> None:
    """States, inertias and rows of all bodies and closures; relations where there are any."""
    ground = work.states[0].floats
    for k in range(STATE):
        ground[k] = system.ground[k]
    for i in range(system.bodies):
        node = system.nodes[i]
        f = entry_at(system.node_entries, node.kind)
        body = work.states[i + 1].floats
        parent = work.states[node.parent + 1].floats
        constants = system.constants[node.constants :]
        f(0.0, q[node.q :], v[node.v :], body, constants, parent, body, work.scratch)
    numbers = work.floats
    for k in range(system.n_closed):
        row = system.closed[k]
        if row.count + row.ties > 0:  # a joint that holds nothing computes nothing
            g = entry_at(system.closure_entries, row.kind)
            first = work.states[row.nodes[0] + 1].floats
            second = work.states[row.nodes[1] + 1].floats
            constants = system.closure_constants[row.constants :]
            result = numbers[row.place :]
            g(0.0, first, second, constants, q[row.q :], v[row.v :], result, work.scratch)
    if system.n_relations > 0:
        system.relation_entry(t, q, v, u, u, u, flat(work.residuals), work.scratch)


@loop
def assemble(system: System, level: i64, work: Work) -> None:
    """The blocks of (blocks-1) at a level; relations of speeds ask nothing of positions."""
    diagonal = flat(work.diagonal)
    blocks = flat(work.blocks)
    scale = flat(work.scale)
    for k in range(36 * system.unknowns):
        diagonal[k] = 0.0
    for k in range(36 * system.n_blocks):
        blocks[k] = 0.0
    for k in range(6 * system.unknowns):
        scale[k] = 0.0
    for i in range(system.bodies):
        inertia = flat(work.states[i + 1].inertia)
        for k in range(36):
            diagonal[36 * i + k] = inertia[k]
    put_relations(system, level, work)
    put_rows(system, work)
    lend(system, work)


@loop
def put_relations(system: System, level: i64, work: Work) -> None:
    """J of relations on bodies, from their rows on velocities."""
    numbers = work.floats
    coefficients = work.coefficients
    for pass_ in range(2):
        for k in range(system.n_terms):
            term = system.terms[k]
            for half in range(2):
                if term.targets[half] >= 0:
                    source = numbers[term.sources[half] :]
                    target = numbers[term.targets[half] :]
                    for j in range(6):
                        if pass_ == 0:
                            target[j] = 0.0
                        else:
                            target[j] += coefficients[k] * source[j]
    if level == PHI:
        for k in range(system.n_rows):
            row = system.couplings[k]
            e = relation_of(system, row.unknown)
            if e >= 0 and system.relations[e].is_of_positions == 0:
                for j in range(6):
                    numbers[row.place + j] = 0.0


@loop
def relation_of(system: System, unknown: i64) -> i64:
    """Which relation an unknown is of; −1 of none. They are the last unknowns."""
    e = unknown - (system.unknowns - system.n_relations)
    return e if e >= 0 else -1


@loop
def put_rows(system: System, work: Work) -> None:
    """Rows on bodies, the way their blocks lie, and how far they move them."""
    numbers = work.floats
    sizes = system.sizes
    scale = flat(work.scale)
    for c in range(system.n_rows):
        row = system.couplings[c]
        block = work.blocks[row.block]
        J = numbers[row.place :]
        own = work.states[row.body + 1].weights
        turned = own[0] if own[0] > 0.0 else own[1]
        for i in range(sizes[row.unknown]):
            for j in range(6):
                weight = turned if j < 3 else own[1]
                scale[6 * row.unknown + i] += J[i * row.stride + j] * J[i * row.stride + j] / weight
                if row.is_turned > 0:
                    block[6 * j + i] = J[i * row.stride + j]
                else:
                    block[6 * i + j] = J[i * row.stride + j]
    for k in range(6 * (system.unknowns - system.n_relations), 6 * system.unknowns, 6):
        if scale[k] == 0.0:
            scale[k] = 1.0


@loop
def lend(system: System, work: Work) -> None:
    """J Λ Jᵀ to the bodies of rows that lend inertia, Λ = 1/s."""
    numbers = work.floats
    for c in range(system.n_lent):
        row = system.lent[c]
        first = row.bodies[0]
        second = row.bodies[1]
        for k in range(row.count):
            J = numbers[row.places[0] + row.stride * k :]
            K = numbers[row.places[1] + row.stride * k :]
            weight = 1.0 / work.scale[row.unknown, k]
            if first >= 0:
                add_outer(weight, J, J, work.diagonal[first])
            if second >= 0:
                add_outer(weight, K, K, work.diagonal[second])
            if first >= 0 and second >= 0:
                if row.block >= 0:
                    add_outer(weight, J, K, work.blocks[row.block])
                else:
                    add_outer(weight, K, J, work.blocks[-1 - row.block])


@loop
def add_outer(weight: f64, left: ptr, right: ptr, target: ptr) -> None:
    """target += w a bᵀ."""
    for i in range(6):
        for j in range(6):
            target[6 * i + j] += weight * left[i] * right[j]


@loop
def lend_right(system: System, work: Work, x: ptr) -> None:
    """Jᵀ Λ r of rows that lend: what (I + J Λ Jᵀ) ΔA has more on its right than I ΔA."""
    numbers = work.floats
    scale = flat(work.scale)
    for c in range(system.n_lent):
        row = system.lent[c]
        for k in range(row.count):
            push = x[6 * row.unknown + k] / scale[6 * row.unknown + k]
            for half in range(2):
                if row.bodies[half] >= 0:
                    J = numbers[row.places[half] + row.stride * k :]
                    for j in range(6):
                        x[6 * row.bodies[half] + j] += push * J[j]


@loop
def take_residual(system: System, work: Work, x: ptr, residual: ptr) -> None:
    """Takes I ΔA + Jᵀ y and J ΔA off the right-hand sides."""
    numbers = work.floats
    sizes = system.sizes
    for i in range(system.bodies):
        block = work.states[i + 1].inertia
        for j in range(6):
            total = 0.0
            for k in range(6):
                total += block[j, k] * x[6 * i + k]
            residual[6 * i + j] -= total
    for c in range(system.n_rows):
        row = system.couplings[c]
        J = numbers[row.place :]
        for i in range(sizes[row.unknown]):
            total = 0.0
            for j in range(6):
                total += J[i * row.stride + j] * x[6 * row.body + j]
                residual[6 * row.body + j] -= J[i * row.stride + j] * x[6 * row.unknown + i]
            residual[6 * row.unknown + i] -= total
