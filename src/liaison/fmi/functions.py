"""The table of FMI functions: arguments as C has them, states that allow a call, and the loop.

Letters of arguments: I the instance; A an address and D an array of doubles, which must be there if
the count beside it is not zero; q an address that must be there; a one that need not; z a size; i
an integer, u an unsigned one; b a Boolean of FMI 3.0; d a double. Of results: s a status, p a
pointer, v nothing.

Public names: Function, FMI2, FMI3, LOOPS, exports.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from liaison.program.loops.language import Loop

from . import calls, exchange, model
from .layout import (
    ANY,
    CO_SIMULATION,
    CONTINUOUS,
    EVENT,
    FAILED,
    INITIALIZING,
    INSTANTIATED,
    MODEL_EXCHANGE,
    RUNNING,
    STEP,
    TERMINATED,
)
from .messages import PLATFORM, VERSION

BEFORE = INSTANTIATED | INITIALIZING
SET = BEFORE | RUNNING
GET = SET | TERMINATED
LIVE = ANY - FAILED


@final
@dataclass(frozen=True, slots=True)
class Function:
    """A function of FMI.

    Attributes:
        name: of it.
        result: s, p or v.
        arguments: letters.
        mask: states of the instance in which it may be called; 0 where there is none yet.
        loop: what it does; None: it returns a text, or nothing.
        passed: what the loop takes after the instance and the function's number: numbers of
            arguments, and constants after a `#`.
    """

    name: str
    result: str
    arguments: str
    mask: int
    loop: Loop[..., Any] | None
    passed: tuple[str, ...]


def _row(name: str, arguments: str, mask: int, loop: Loop[..., Any], passed: str) -> Function:
    return Function(name, "s", arguments, mask, loop, tuple(passed.split()))


def _table(*rows: Function) -> Mapping[str, Function]:
    return {x.name: x for x in rows}


def _states(prefix: str, word: str, read: str) -> list[Function]:
    """Saved states; FMI 2.0 and 3.0 spell them differently."""
    return [
        _row(f"{prefix}Get{word}", "Iq", LIVE, calls.save, "1"),
        _row(f"{prefix}Set{word}", "Iq", ANY, calls.restore, "1"),
        _row(f"{prefix}Free{word}", "Ia", ANY, calls.forget, "1"),
        _row(f"{prefix}Serialized{word}Size", "Iqq", ANY, calls.saved_size, "1 2"),
        _row(f"{prefix}Serialize{word}", "IqAz", ANY, calls.write_saved, "1 2 3"),
        _row(f"{prefix}{read}{word}", "IAzq", ANY, calls.read_saved, "1 2 3"),
    ]


def _shared(prefix: str) -> list[Function]:
    """What both versions have under the same name."""
    return [
        _row(f"{prefix}ExitInitializationMode", "I", INITIALIZING, calls.exit_initialization, ""),
        _row(f"{prefix}Terminate", "I", RUNNING, calls.terminate, ""),
        _row(f"{prefix}Reset", "I", ANY, calls.reset, ""),
        _row(f"{prefix}EnterEventMode", "I", CONTINUOUS, exchange.enter_events, ""),
        _row(f"{prefix}EnterContinuousTimeMode", "I", EVENT, exchange.enter_continuous, ""),
        _row(f"{prefix}SetTime", "Id", CONTINUOUS | EVENT, exchange.set_time, "1"),
        _row(f"{prefix}SetContinuousStates", "IDz", CONTINUOUS, exchange.set_states, "1 2"),
        _row(f"{prefix}GetEventIndicators", "IDz", GET, exchange.get_indicators, "1 2"),
        _row(f"{prefix}GetContinuousStates", "IDz", GET, exchange.get_states, "1 2"),
        _row(f"{prefix}GetNominalsOfContinuousStates", "IDz", GET, exchange.get_nominals, "1 2"),
    ]


FMI2 = _table(
    Function("fmi2GetTypesPlatform", "p", "", 0, None, (f"#{PLATFORM}",)),
    Function("fmi2GetVersion", "p", "", 0, None, (f"#{VERSION}",)),
    Function("fmi2Instantiate", "p", "aiaaaii", 0, calls.create2, ("0", "1", "2", "4", "6")),
    Function("fmi2FreeInstance", "v", "I", 0, calls.free_instance, ()),
    _row("fmi2SetDebugLogging", "Iiza", LIVE, calls.set_logging, "1"),
    _row("fmi2SetupExperiment", "Iiddid", INSTANTIATED, calls.setup, "1 2 3"),
    _row("fmi2EnterInitializationMode", "I", INSTANTIATED, calls.initialize, ""),
    _row("fmi2GetReal", "IAzD", GET, model.get_doubles, "1 2 3 2"),
    _row("fmi2GetInteger", "IAzA", GET, exchange.half_integers, "1 2 3 2"),
    _row("fmi2GetBoolean", "IAzA", GET, calls.no_values, "2"),
    _row("fmi2GetString", "IAzA", GET, calls.no_values, "2"),
    _row("fmi2SetReal", "IAzD", SET, model.set_doubles, "1 2 3 2"),
    _row("fmi2SetInteger", "IAzA", SET, calls.no_values, "2"),
    _row("fmi2SetBoolean", "IAzA", SET, calls.no_values, "2"),
    _row("fmi2SetString", "IAzA", SET, calls.no_values, "2"),
    _row("fmi2GetDirectionalDerivative", "IAzAzDD", GET, exchange.along, "1 2 3 4 5 6"),
    _row("fmi2NewDiscreteStates", "Iq", EVENT, exchange.update_events2, "1"),
    _row("fmi2CompletedIntegratorStep", "Iiqq", CONTINUOUS, exchange.completed, "2 3"),
    _row("fmi2GetDerivatives", "IDz", GET, exchange.get_rates, "1 2"),
    _row("fmi2SetRealInputDerivatives", "IAzAD", SET, calls.unsupported, ""),
    _row("fmi2GetRealOutputDerivatives", "IAzAD", GET, calls.unsupported, ""),
    _row("fmi2DoStep", "Iddi", STEP, exchange.step2, "1 2"),
    _row("fmi2CancelStep", "I", STEP, calls.unsupported, ""),
    _row("fmi2GetStatus", "Iiq", GET, calls.unsupported, ""),
    _row("fmi2GetRealStatus", "Iiq", GET, exchange.real_status, "1 2"),
    _row("fmi2GetIntegerStatus", "Iiq", GET, calls.unsupported, ""),
    _row("fmi2GetBooleanStatus", "Iiq", GET, exchange.flag_status, "1 2"),
    _row("fmi2GetStringStatus", "Iiq", GET, calls.unsupported, ""),
    *_states("fmi2", "FMUstate", "DeSerialize"),
    *_shared("fmi2"),
)
"""The functions of FMI 2.0."""

TYPES = ("Float32", "Int8", "UInt8", "Int16", "UInt16", "UInt32", "Int64", "UInt64", "Boolean",
         "String")  # fmt: skip
"""Types of FMI 3.0 that no variable has; Int32 is that of modes."""

CLOCKS = {
    "GetIntervalDecimal": "IAzDA", "GetIntervalFraction": "IAzAAA", "GetShiftDecimal": "IAzD",
    "GetShiftFraction": "IAzAA", "SetIntervalDecimal": "IAzD", "SetIntervalFraction": "IAzAA",
    "SetShiftDecimal": "IAzD", "SetShiftFraction": "IAzAA", "GetClock": "IAzA",
    "SetClock": "IAzA",
}  # fmt: skip
"""Functions of clocks, of which there are none."""


def _created(kind: int, arguments: str, passed: str) -> Function:
    name = {MODEL_EXCHANGE: "ModelExchange", CO_SIMULATION: "CoSimulation"}[kind]
    places = tuple(passed.split())
    return Function(f"fmi3Instantiate{name}", "p", arguments, 0, calls.create, places)


FMI3 = _table(
    Function("fmi3GetVersion", "p", "", 0, None, (f"#{VERSION}",)),
    _row("fmi3SetDebugLogging", "Ibza", LIVE, calls.set_logging, "1"),
    _created(MODEL_EXCHANGE, "aaabbaa", f"1 #{MODEL_EXCHANGE} #3 0 6 5 4 #0 #0"),
    _created(CO_SIMULATION, "aaabbbbazaaa", f"1 #{CO_SIMULATION} #3 0 10 9 4 11 6"),
    Function("fmi3InstantiateScheduledExecution", "p", "aaabbaaaaa", 0, None, ()),
    Function("fmi3FreeInstance", "v", "I", 0, calls.free_instance, ()),
    _row("fmi3EnterInitializationMode", "Ibddbd", INSTANTIATED, calls.initialize3, "1 2 3"),
    *(_row(f"fmi3Get{x}", "IAzAz", GET, calls.no_values, "2") for x in TYPES),
    *(_row(f"fmi3Set{x}", "IAzAz", SET, calls.no_values, "2") for x in TYPES),
    _row("fmi3GetBinary", "IAzAAz", GET, calls.no_values, "2"),
    _row("fmi3SetBinary", "IAzAAz", SET, calls.no_values, "2"),
    _row("fmi3GetFloat64", "IAzDz", GET, model.get_doubles, "1 2 3 4"),
    _row("fmi3SetFloat64", "IAzDz", SET, model.set_doubles, "1 2 3 4"),
    _row("fmi3GetInt32", "IAzAz", GET, exchange.half_integers, "1 2 3 4"),
    _row("fmi3SetInt32", "IAzAz", SET, calls.no_values, "2"),
    *(_row(f"fmi3{x}", arguments, GET, calls.no_values, "2") for x, arguments in CLOCKS.items()),
    _row("fmi3GetNumberOfVariableDependencies", "Iuq", GET, calls.unsupported, ""),
    _row("fmi3GetVariableDependencies", "IuAAAAz", GET, calls.unsupported, ""),
    _row("fmi3GetDirectionalDerivative", "IAzAzDzDz", GET, exchange.along, "1 2 3 4 5 7"),
    _row("fmi3GetAdjointDerivative", "IAzAzDzDz", GET, exchange.against, "1 2 3 4 5 7"),
    _row("fmi3EnterConfigurationMode", "I", GET, calls.unsupported, ""),
    _row("fmi3ExitConfigurationMode", "I", GET, calls.unsupported, ""),
    _row("fmi3EvaluateDiscreteStates", "I", EVENT | INITIALIZING, calls.no_values, "#0"),
    _row("fmi3UpdateDiscreteStates", "Iaaaaaa", EVENT, exchange.update_events3, "1 2 3 4 5 6"),
    _row("fmi3CompletedIntegratorStep", "Ibqq", CONTINUOUS, exchange.completed, "2 3"),
    _row("fmi3GetContinuousStateDerivatives", "IDz", GET, exchange.get_rates, "1 2"),
    _row("fmi3GetNumberOfEventIndicators", "Iq", GET, exchange.indicator_count, "1"),
    _row("fmi3GetNumberOfContinuousStates", "Iq", GET, exchange.state_count, "1"),
    _row("fmi3EnterStepMode", "I", GET, calls.unsupported, ""),
    _row("fmi3GetOutputDerivatives", "IAzADz", GET, calls.unsupported, ""),
    _row("fmi3DoStep", "Iddbaaaa", STEP, exchange.step3, "1 2 4 5 6 7"),
    _row("fmi3ActivateModelPartition", "Iud", GET, calls.unsupported, ""),
    *_states("fmi3", "FMUState", "Deserialize"),
    *_shared("fmi3"),
)
"""The functions of FMI 3.0."""

LOOPS: tuple[Loop[..., Any], ...] = (
    calls.is_allowed,
    calls.is_missing,
    *{x.loop: None for table in (FMI2, FMI3) for x in table.values() if x.loop is not None},
)
"""All loops of the tables, and those that check their arguments."""


def exports(version: int) -> Mapping[str, Function]:
    """The functions of a version of FMI."""
    return FMI2 if version == 2 else FMI3
