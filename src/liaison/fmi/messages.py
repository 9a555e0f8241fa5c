"""Messages of an instance: texts with numbers in them, passed to the importer's logger.

A text is bytes that end in zero. Bytes below 8 stand for what a message names: NOW the time, NAME
another text, SIZE a number, COUNT an integer; a text that begins with OF_EVENT or OF_BLOCK names an
event or a unilateral constraint, any other of a failed run a closure.

Public names: complain, report, failed, explained, TEXTS, and the numbers of texts.
"""

from __future__ import annotations

from liaison.program.loops.language import f64, i64, loop
from liaison.simulation.steps.layout import Run

from .layout import (
    ERROR,
    FAILED,
    MESSAGE,
    Instance,
    address_of,
    load_byte,
    log_message,
    store_byte,
    text_at,
)

NOW, NAME, SIZE, COUNT, OF_EVENT, OF_BLOCK = 1, 2, 3, 4, 5, 6

TEXTS = (
    "logStatusError",
    "logStatusWarning",
    "logEvents",
    "the value reference \4 does not exist, or is of another type.",
    "the variable '\2' cannot be set now.",
    "the variable '\2' is \3, which is not finite.",
    "the variable '\2' is \3, outside its bounds.",
    "\4 numbers are too few or too many.",
    "it is not allowed in this state of the FMU.",
    "the time \3 s is not finite.",
    "the step of \3 s is not positive and finite.",
    "the step begins at \3 s, but the FMU is at \1 s.",
    "the saved state is of another model, or damaged.",
    "an array of the call is missing (NULL).",
    "the derivative of '\2' is not available.",
    "the GUID or instantiation token is that of another model.",
    "there is no memory left.",
    "the event indicator '\2' is not a number at t = \1 s.",
    "the state \4 is not finite.",
    "the FMU has no variable of this type.",
    "the parameters and start values do not close the loops of the mechanism.",
    "the motion ended at t = \1 s: the event '\2' stops it.",
    "it is not supported by this FMU.",
    "the velocity '\2' is \3: its square, and so the energy, is not finite.",
    "the position '\2' is \3: numbers of that size lie so far apart that no motion shows.",
)
"""Texts of every FMU, by number; then its token, the version of FMI, and the platform."""

(CATEGORY_ERROR, CATEGORY_WARNING, CATEGORY_EVENTS, NO_REFERENCE, NOT_SETTABLE, NOT_FINITE_VALUE,
 OUT_OF_BOUNDS, WRONG_COUNT, WRONG_STATE, BAD_TIME, BAD_STEP, WRONG_START, OTHER_MODEL, NULL_ARRAY,
 NO_DERIVATIVE, OTHER_TOKEN, NO_MEMORY, BAD_EVENT, BAD_STATE, NO_TYPE, NOT_CLOSED, ENDED,
 UNSUPPORTED, TOO_FAST, TOO_FAR, TOKEN, VERSION, PLATFORM) = range(28)  # fmt: skip

DIGITS = 9
SEPARATOR = (58, 32)  # ": "


@loop
def put(fmu: Instance, place: i64, character: i64) -> i64:
    """A character at a place of the message; the place after it."""
    if place < 8 * MESSAGE - 1:
        store_byte(address_of(fmu.message) + place, character)
        return place + 1
    return place


@loop
def put_text(fmu: Instance, place: i64, address: i64) -> i64:
    """A text without numbers."""
    k = 0
    while address != 0 and load_byte(address + k) != 0 and k < 8 * MESSAGE:
        place = put(fmu, place, load_byte(address + k))
        k += 1
    return place


@loop
def put_integer(fmu: Instance, place: i64, value: i64) -> i64:
    """An integer in decimal digits."""
    if value < 0:
        place = put(fmu, place, 45)
        value = -value
    power = 1
    while power <= value // 10:
        power = 10 * power
    while power > 0:
        place = put(fmu, place, 48 + (value // power) % 10)
        power = power // 10
    return place


@loop
def put_number(fmu: Instance, place: i64, x: f64) -> i64:
    """A number with nine digits: d.dddddddde±n, zeros at the end left out."""
    if x != x:
        place = put(fmu, place, 78)
        place = put(fmu, place, 97)
        return put(fmu, place, 78)
    if x < 0.0:
        place = put(fmu, place, 45)
        x = -x
    if x > 1.7e308:
        place = put(fmu, place, 105)
        place = put(fmu, place, 110)
        return put(fmu, place, 102)
    exponent = 0
    while x >= 10.0:
        x = x / 10.0
        exponent += 1
    while x < 1.0 and x > 0.0:
        x = x * 10.0
        exponent -= 1
    digits = int(x * 100000000.0 + 0.5)
    scale = 100000000
    if digits >= 10 * scale:
        digits = digits // 10
        exponent += 1
    whole = 0
    while whole < exponent and exponent < DIGITS and scale > 1:
        scale = scale // 10
        whole += 1
    place = put_integer(fmu, place, digits // scale)
    rest = digits % scale
    if rest > 0:
        place = put(fmu, place, 46)
        while rest > 0:
            scale = scale // 10
            place = put(fmu, place, 48 + rest // scale)
            rest = rest % scale
    if exponent != whole:
        place = put(fmu, place, 101)
        place = put_integer(fmu, place, exponent - whole)
    return place


@loop
def write_message(fmu: Instance, function: i64, text: i64, name: i64, x: f64, count: i64) -> None:
    """`function: text` with what the text names, ended by a zero."""
    place = 0
    if function >= 0:
        place = put_text(fmu, place, text_at(fmu.function_texts + function))
        place = put(fmu, place, SEPARATOR[0])
        place = put(fmu, place, SEPARATOR[1])
    start = text_at(text)
    k = 0
    while load_byte(start + k) != 0:
        character = load_byte(start + k)
        if character == NOW:
            place = put_number(fmu, place, Run(fmu.ints[fmu.run_at :]).t)
        elif character == NAME:
            place = put_text(fmu, place, text_at(name))
        elif character == SIZE:
            place = put_number(fmu, place, x)
        elif character == COUNT:
            place = put_integer(fmu, place, count)
        elif character > 8:
            place = put(fmu, place, character)
        k += 1
    store_byte(address_of(fmu.message) + place, 0)


@loop
def report(
    fmu: Instance, status: i64, category: i64, function: i64, text: i64, name: i64, x: f64,
    count: i64,
) -> i64:  # fmt: skip
    """Passes a message to the logger; the status."""
    write_message(fmu, function, text, name, x, count)
    if fmu.logger != 0:
        message = address_of(fmu.message)
        topic = text_at(category)
        log_message(fmu.logger, fmu.environment, fmu.name, status, topic, message)
    return status


@loop
def complain(fmu: Instance, function: i64, text: i64, name: i64, x: f64, count: i64) -> i64:
    """An error that leaves the instance as it is."""
    return report(fmu, ERROR, CATEGORY_ERROR, function, text, name, x, count)


@loop
def failed(fmu: Instance, function: i64, status: i64) -> i64:
    """An error of the run, by its status; the instance can only be reset or freed."""
    fmu.phase = FAILED
    return explained(fmu, ERROR, function, status)


@loop
def explained(fmu: Instance, verdict: i64, function: i64, status: i64) -> i64:
    """A message on the status of a run; the verdict."""
    run = Run(fmu.ints[fmu.run_at :])
    detail = run.detail[0]
    name = fmu.row_texts + min(max(detail, 0), max(fmu.row_count - 1, 0))
    text = fmu.status_texts + min(max(status, 0), 31)
    first = load_byte(text_at(text))
    if first == OF_EVENT:
        name = fmu.event_texts + detail
    elif first == OF_BLOCK:
        name = fmu.block_texts + detail
    return report(fmu, verdict, CATEGORY_ERROR, function, text, name, run.worst, run.steps)
