"""The functions of FMI as loops: instances and their states, initialization, saved states.

Public names: create, create2, free_instance, set_logging, setup, initialize, initialize3,
exit_initialization, terminate, reset, save, restore, forget, saved_size, write_saved, read_saved,
is_allowed, is_missing, no_values, unsupported, store_flag.
"""

from __future__ import annotations

from math import isfinite

from liaison.program.loops.language import f64, i64, iptr, loop
from liaison.simulation.steps.layout import Run

from .layout import (
    ANY,
    CO_SIMULATION,
    ERROR,
    EVENT,
    INITIALIZING,
    INSTANTIATED,
    MAGIC,
    OK,
    SAVED,
    STEP,
    TERMINATED,
    Instance,
    address_of,
    allocate,
    image_table,
    link_functions,
    load_byte,
    load_word,
    log_message,
    release,
    store_byte,
    store_half,
    store_word,
    text_at,
    words_at,
)
from .messages import (
    BAD_TIME,
    CATEGORY_ERROR,
    NO_MEMORY,
    NO_TYPE,
    NULL_ARRAY,
    OTHER_MODEL,
    OTHER_TOKEN,
    TOKEN,
    UNSUPPORTED,
    WRONG_STATE,
    complain,
)
from .model import begin, load_image, refreshed

LONGEST_NAME = 4096
HEADER = 4
"""Words before the content of a saved state: SAVED, the model, how many follow, their checksum."""

PRIME = 1099511628211

LOGGER, ENVIRONMENT = 0, 32
"""Where FMI 2.0 has these in its callback functions, in bytes."""


@loop
def is_allowed(fmu: Instance, function: i64, mask: i64) -> i64:
    """1 if an instance is one, and in a state in which a function may be called."""
    address = address_of(fmu.ints)
    if address == 0 or address % 8 != 0:
        return 0
    if fmu.magic != MAGIC:
        return 0
    if fmu.phase & mask == 0:
        complain(fmu, function, WRONG_STATE, 0, 0.0, 0)
        return 0
    return 1


@loop
def is_missing(fmu: Instance, function: i64, address: i64, count: i64) -> i64:
    """1 if an array of so many numbers is not there."""
    if address == 0 and count != 0:
        complain(fmu, function, NULL_ARRAY, 0, 0.0, count)
        return 1
    return 0


@loop
def store_flag(fmu: Instance, address: i64, value: i64) -> None:
    """A Boolean of the importer: an integer in FMI 2.0, a byte in FMI 3.0."""
    if address != 0:
        if fmu.version == 2:
            store_half(address, value)
        else:
            store_byte(address, value)


@loop
def same_text(x: i64, y: i64) -> i64:
    """1 if two texts are equal."""
    k = 0
    while load_byte(x + k) == load_byte(y + k):
        if load_byte(x + k) == 0:
            return 1
        k += 1
    return 0


@loop
def copied_text(text: i64) -> i64:
    """The address of a copy of a text; 0 where there is no memory."""
    count = 0
    while text != 0 and load_byte(text + count) != 0 and count < LONGEST_NAME:
        count += 1
    copy = allocate(count // 8 + 1)
    if copy != 0:
        for k in range(count):
            store_byte(copy + k, load_byte(text + k))
    return copy


@loop
def create(
    token: i64, kind: i64, version: i64, name: i64, logger: i64, environment: i64, logging: i64,
    update: i64, may_return: i64,
) -> i64:  # fmt: skip
    """The address of a new instance; 0 where the token is wrong or there is no memory."""
    if token == 0 or same_text(token, text_at(TOKEN)) == 0:
        if logger != 0:
            category = text_at(CATEGORY_ERROR)
            log_message(logger, environment, name, ERROR, category, text_at(OTHER_TOKEN))
        return 0
    address = allocate(image_table()[0])
    copy = copied_text(name)
    if address == 0 or copy == 0:
        if logger != 0:
            category = text_at(CATEGORY_ERROR)
            log_message(logger, environment, name, ERROR, category, text_at(NO_MEMORY))
        release(address)
        release(copy)
        return 0
    fmu = Instance(words_at(address))
    load_image(fmu.ints)
    link_functions(fmu.ints)
    fmu.magic = MAGIC
    fmu.phase = INSTANTIATED
    fmu.kind = kind
    fmu.version = version
    fmu.logger = logger
    fmu.environment = environment
    fmu.name = copy
    fmu.is_logging = logging
    fmu.update = update
    fmu.may_return = may_return
    return address


@loop
def create2(name: i64, kind: i64, token: i64, callbacks: i64, logging: i64) -> i64:
    """As `create`, with the callback functions of FMI 2.0."""
    if callbacks == 0 or kind < 0 or kind > 1:
        return 0
    logger = load_word(callbacks + LOGGER)
    environment = load_word(callbacks + ENVIRONMENT)
    return create(token, kind, 2, name, logger, environment, logging, 0, 0)


@loop
def free_instance(fmu: Instance) -> None:
    """Frees an instance; none is freed, too."""
    if is_allowed(fmu, -1, ANY) == 1:
        fmu.magic = 0
        release(fmu.name)
        release(address_of(fmu.ints))


@loop
def set_logging(fmu: Instance, function: i64, is_on: i64) -> i64:
    """Whether events are logged; errors always are."""
    fmu.is_logging = is_on
    return OK


@loop
def setup(fmu: Instance, function: i64, has_tolerance: i64, tolerance: f64, start: f64) -> i64:
    """When the run begins, and how exact its steps are at least."""
    run = Run(fmu.ints[fmu.run_at :])
    if not isfinite(start):
        return complain(fmu, function, BAD_TIME, 0, start, 0)
    if has_tolerance > 0 and tolerance > 0.0 and tolerance < run.rtol:
        run.rtol = max(tolerance, 1e-13)
    run.t = start
    refreshed(fmu)
    return OK


@loop
def initialize(fmu: Instance, function: i64) -> i64:
    """Initialization mode."""
    fmu.phase = INITIALIZING
    return OK


@loop
def initialize3(
    fmu: Instance, function: i64, has_tolerance: i64, tolerance: f64, start: f64
) -> i64:
    """Initialization mode, with what FMI 2.0 sets up before."""
    status = setup(fmu, function, has_tolerance, tolerance, start)
    if status == OK:
        fmu.phase = INITIALIZING
    return status


@loop
def exit_initialization(fmu: Instance, function: i64) -> i64:
    """The start is complete: loops closed, first modes."""
    status = begin(fmu, function)
    if status == OK:
        fmu.phase = STEP if fmu.kind == CO_SIMULATION else EVENT
    return status


@loop
def terminate(fmu: Instance, function: i64) -> i64:
    """The end of a run."""
    fmu.phase = TERMINATED
    return OK


@loop
def reset(fmu: Instance, function: i64) -> i64:
    """As it was when it was made."""
    fresh = allocate(image_table()[0])
    if fresh == 0:
        return complain(fmu, function, NO_MEMORY, 0, 0.0, 0)
    other = Instance(words_at(fresh))
    load_image(other.ints)
    link_functions(other.ints)
    other.phase = INSTANTIATED
    take_over(fmu, other)
    release(fresh)
    return OK


@loop
def take_over(fmu: Instance, other: Instance) -> None:
    """All of another instance but what belongs to the importer."""
    other.magic = MAGIC
    other.kind = fmu.kind
    other.version = fmu.version
    other.logger = fmu.logger
    other.environment = fmu.environment
    other.name = fmu.name
    other.update = fmu.update
    other.is_logging = fmu.is_logging
    other.may_return = fmu.may_return
    for i in range(fmu.saved_words):
        fmu.ints[i] = other.ints[i]


@loop
def no_values(fmu: Instance, function: i64, count: i64) -> i64:
    """Values of a type that no variable has."""
    return OK if count == 0 else complain(fmu, function, NO_TYPE, 0, 0.0, count)


@loop
def unsupported(fmu: Instance, function: i64) -> i64:
    """What this FMU does not do, as its description says."""
    return complain(fmu, function, UNSUPPORTED, 0, 0.0, 0)


@loop
def is_saved(fmu: Instance, function: i64, state: i64) -> i64:
    """1 if a saved state is one of this model."""
    if state != 0 and state % 8 == 0:
        is_own = 1 if load_word(state + 8) == fmu.identity else 0
        fits = 1 if load_word(state + 16) == fmu.saved_words else 0
        if load_word(state) == SAVED and is_own == 1 and fits == 1:
            return 1
    complain(fmu, function, OTHER_MODEL, 0, 0.0, 0)
    return 0


@loop
def checksum(count: i64, words: iptr) -> i64:
    """A number that changes with any word."""
    total = 1469598103934665603
    for i in range(count):
        total = (total ^ words[i]) * PRIME
    return total


@loop
def is_whole(fmu: Instance, function: i64, state: i64) -> i64:
    """1 if nothing of a saved state was changed."""
    if checksum(fmu.saved_words, words_at(state + 8 * HEADER)) == load_word(state + 24):
        return 1
    complain(fmu, function, OTHER_MODEL, 0, 0.0, 0)
    return 0


@loop
def new_state(fmu: Instance, function: i64, place: i64) -> i64:
    """The address of room for a saved state, the one at a place if there is one."""
    if place == 0:
        complain(fmu, function, NULL_ARRAY, 0, 0.0, 0)
        return 0
    state = load_word(place)
    if state != 0:
        return state if is_saved(fmu, function, state) == 1 else 0
    state = allocate(HEADER + fmu.saved_words)
    if state == 0:
        complain(fmu, function, NO_MEMORY, 0, 0.0, 0)
        return 0
    store_word(state, SAVED)
    store_word(state + 8, fmu.identity)
    store_word(state + 16, fmu.saved_words)
    store_word(place, state)
    return state


@loop
def save(fmu: Instance, function: i64, place: i64) -> i64:
    """Saves the state of an instance."""
    state = new_state(fmu, function, place)
    if state == 0:
        return ERROR
    words = words_at(state + 8 * HEADER)
    for i in range(fmu.saved_words):
        words[i] = fmu.ints[i]
    store_word(state + 24, checksum(fmu.saved_words, words))
    return OK


@loop
def restore(fmu: Instance, function: i64, state: i64) -> i64:
    """Goes on from a saved state."""
    if is_saved(fmu, function, state) == 0 or is_whole(fmu, function, state) == 0:
        return ERROR
    other = Instance(words_at(state + 8 * HEADER))
    take_over(fmu, other)
    link_functions(fmu.ints)
    return OK


@loop
def forget(fmu: Instance, function: i64, place: i64) -> i64:
    """Frees a saved state."""
    if place == 0 or load_word(place) == 0:
        return OK
    if is_saved(fmu, function, load_word(place)) == 0:
        return ERROR
    store_word(load_word(place), 0)
    release(load_word(place))
    store_word(place, 0)
    return OK


@loop
def saved_size(fmu: Instance, function: i64, state: i64, place: i64) -> i64:
    """How many bytes a saved state takes."""
    if is_saved(fmu, function, state) == 0 or place == 0:
        return ERROR
    store_word(place, 8 * (HEADER + fmu.saved_words))
    return OK


@loop
def write_saved(fmu: Instance, function: i64, state: i64, content: i64, count: i64) -> i64:
    """A saved state as bytes."""
    if is_saved(fmu, function, state) == 0:
        return ERROR
    if content == 0 or count < 8 * (HEADER + fmu.saved_words):
        return complain(fmu, function, NULL_ARRAY, 0, 0.0, count)
    for i in range(8 * (HEADER + fmu.saved_words)):
        store_byte(content + i, load_byte(state + i))
    return OK


@loop
def read_saved(fmu: Instance, function: i64, content: i64, count: i64, place: i64) -> i64:
    """A saved state from bytes, which may come from another process."""
    if content == 0 or count != 8 * (HEADER + fmu.saved_words):
        return complain(fmu, function, OTHER_MODEL, 0, 0.0, count)
    copy = allocate(HEADER + fmu.saved_words)
    if copy == 0:
        return complain(fmu, function, NO_MEMORY, 0, 0.0, 0)
    for i in range(count):
        store_byte(copy + i, load_byte(content + i))
    if is_saved(fmu, function, copy) == 0 or is_whole(fmu, function, copy) == 0:
        release(copy)
        return ERROR
    store_word(place, copy)
    return OK
