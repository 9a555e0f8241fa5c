"""The memory of an FMU's instance, and what its loops ask of the machine.

An instance is one block of 64-bit words: the record `Instance`, then the blocks of a run (entries,
`Run`, contacts), then workspace. Words that hold addresses of functions are written again when a
block is loaded, so that a saved state may come from another process.

Public names: Instance, Variable, go_on, settle_events, and the functions of the machine:
words_at, address_of, load_byte, load_half, load_word, store_byte, store_half,
store_word, allocate, release, image_table, link_functions, text_at, log_message, call_update;
the codes below.
"""

from __future__ import annotations

import ctypes
from typing import Any, final

import numpy as np

from liaison.program.loops.language import (
    external,
    f64,
    hook,
    i64,
    iptr,
    kernel,
    loop,
    ptr,
)
from liaison.program.loops.records import Record, Rows, like, rows, size, sized

# what FMI functions return
OK, WARNING, DISCARD, ERROR, FATAL = 0, 1, 2, 3, 4

# in which state of FMI's state machine an instance is; each is one bit of a mask
INSTANTIATED, INITIALIZING, EVENT, CONTINUOUS, STEP, TERMINATED, FAILED = 1, 2, 4, 8, 16, 32, 64
RUNNING = EVENT | CONTINUOUS | STEP
ANY = 127

# kinds of instances
MODEL_EXCHANGE, CO_SIMULATION = 0, 1

# where the value of a variable lies
TIME, Q, V, U, P, QDOT, VDOT, OUT, ENERGY, RESIDUAL, MODE, INDICATOR, POSE = range(13)

# what is known of the present state
KNOWS_RATES, KNOWS_OUTPUTS, KNOWS_ENERGY, KNOWS_EVENTS, KNOWS_POSES = 1, 2, 4, 8, 16

MAGIC, SAVED = 0x4C4941_464D55_01, 0x4C4941_464D55_02
"""The first word of an instance, and of a saved state."""

MESSAGE = 128
"""Words of the longest message."""

FASTEST, FARTHEST = 1e150, 2.0**53
"""Speeds of which the squares are finite; angles that lie less than 1 rad from the next number."""


@external
def words_at(address: i64) -> iptr:
    """The words at an address."""
    raise NotImplementedError


@external
def address_of(words: iptr) -> i64:
    """The address of words; 0 of none."""
    return int(words.ctypes.data)


@external
def load_byte(address: i64) -> i64:
    """An unsigned number of 8 bits."""
    return int(_view(address, np.uint8)[0])


@external
def load_half(address: i64) -> i64:
    """An unsigned number of 32 bits."""
    return int(_view(address, np.uint32)[0])


@external
def load_word(address: i64) -> i64:
    """A number of 64 bits."""
    return int(_view(address, np.int64)[0])


@external
def store_byte(address: i64, value: i64) -> None:
    """Writes 8 bits."""
    _view(address, np.uint8)[0] = value & 255


@external
def store_half(address: i64, value: i64) -> None:
    """Writes 32 bits."""
    _view(address, np.uint32)[0] = value & 0xFFFFFFFF


@external
def store_word(address: i64, value: i64) -> None:
    """Writes 64 bits."""
    _view(address, np.int64)[0] = value


def _view(address: int, kind: Any) -> Any:
    """One number at an address."""
    content = (ctypes.c_char * np.dtype(kind).itemsize).from_address(address)
    return np.frombuffer(content, dtype=kind)


@external
def allocate(count: i64) -> i64:
    """The address of so many words, all zero; 0 where there is no memory."""
    raise NotImplementedError


@external
def release(address: i64) -> None:
    """Frees what `allocate` gave."""
    raise NotImplementedError


@external
def image_table() -> iptr:
    """The first content of an instance: how many words; how many stretches, and each of them."""
    raise NotImplementedError


@external
def link_functions(words: iptr) -> None:
    """Writes the addresses of functions into an instance."""
    raise NotImplementedError


@external
def text_at(k: i64) -> i64:
    """The address of a text of the FMU."""
    raise NotImplementedError


@external
def log_message(
    logger: i64, environment: i64, name: i64, status: i64, category: i64, message: i64
) -> None:
    """Calls the importer's logger."""
    raise NotImplementedError


@external
def call_update(update: i64, environment: i64, t: f64, may_return: i64) -> i64:
    """Calls the importer's function of intermediate updates; 1 if it wants to return early."""
    raise NotImplementedError


@loop
def go_on(fmu: Instance, tries: i64) -> i64:
    """Goes on with the run of an instance; a status of `simulation.steps.layout`."""
    return 0


@loop
def settle_events(fmu: Instance) -> i64:
    """What events do at the present state; a status likewise."""
    return 0


@final
class Variable(Record):
    """A variable of the FMU: an array of numbers, or one."""

    array: i64  # TIME, Q, …
    first: i64
    count: i64
    settable: i64  # mask of the states in which it may be set
    is_integer: i64
    low: f64
    high: f64


@final
class Instance(Record):
    """All that an instance knows beside its run."""

    nq: i64 = size()
    nv: i64 = size()
    nu: i64 = size()
    np: i64 = size()
    ne: i64 = size()  # event indicators
    no: i64 = size()  # outputs of the description
    nx: i64 = size()  # of the entries of derivatives
    npose: i64 = size()  # numbers of poses
    variables_count: i64 = size()

    magic: i64
    identity: i64  # of the model, the same in every export of it
    phase: i64  # INSTANTIATED, …
    kind: i64  # MODEL_EXCHANGE or CO_SIMULATION
    version: i64

    # what belongs to the importer; a restored state leaves it alone
    logger: i64
    environment: i64
    name: i64
    update: i64
    is_logging: i64
    may_return: i64

    # where blocks lie, in words from the beginning
    entries_at: i64
    run_at: i64
    sides_at: i64  # 0: none
    scratch_at: i64
    records_at: i64
    log_at: i64
    assembly_at: i64  # 0: none
    saved_words: i64  # of a saved state
    all_words: i64

    # texts by number
    function_texts: i64
    variable_texts: i64
    status_texts: i64
    row_texts: i64
    row_count: i64
    event_texts: i64
    block_texts: i64

    known: i64
    is_set: i64  # positions, speeds or parameters were set
    is_ended: i64  # an event ended the motion
    has_changed: i64  # events changed the state
    has_next: i64  # an instant lies ahead at which formulas jump
    t_next: f64
    returns_early: i64
    multipliers: i64
    own_events: i64  # declared ones, before the ends of modes
    drift: f64
    t_last: f64

    go: hook = like(go_on)
    settle: hook = like(settle_events)
    close: hook = like(settle_events)  # closes the loops of a start; 1 if that was possible
    vary: hook = like(settle_events)  # `change` along `direction`
    qdot_entry: kernel
    outputs_entry: kernel
    energy_entry: kernel
    poses_entry: kernel
    variation_entry: kernel
    adjoint_entry: kernel
    has_adjoint: i64

    variables: Rows[Variable] = rows("variables_count")
    y: ptr = sized("2 * nv + 1")
    k: ptr = sized("2 * nv + 1")
    qdot: ptr = sized("nq")
    vdot: ptr = sized("nv")
    outputs: ptr = sized("no")
    energy: ptr = sized("2")
    poses: ptr = sized("npose")
    events: ptr = sized("ne")  # indicators
    margin: ptr = sized("ne")  # by which an end of a mode must be passed: its rounding
    nominal: ptr = sized("nq + nv")
    q_before: ptr = sized("nq")
    v_before: ptr = sized("nv")
    state_weights: ptr = sized("nq + nv")
    pull: ptr = sized("2 * nv")
    off: ptr = sized("nq")  # from attitudes of unit length
    direction: ptr = sized("nx")
    change: ptr = sized("nx")
    weights: ptr = sized("nx")
    slope: ptr = sized("nx")
    slope_before: ptr = sized("nx")
    base: ptr = sized("nx")
    held: iptr = sized("4 * nv")
    speeds: ptr = sized("2 * nv")
    verdict: iptr = sized("1")
    message: iptr = sized()
    work: ptr = sized()
