"""modelDescription.xml of FMI 2.0 and 3.0, from the table of variables.

Public names: Options, Facts, description, build_description.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, pi
from typing import final
from xml.sax.saxutils import quoteattr

from liaison.errors import LiaisonError
from liaison.units import unit_of

from .layout import INDICATOR, QDOT, TIME, VDOT, P, Q, V
from .variables import Row, Variables

BASE = ("m", "kg", "s", "rad")
CATEGORIES = {
    "logStatusError": "errors, with their causes",
    "logStatusWarning": "warnings",
    "logEvents": "events that end the motion",
}


@final
@dataclass(frozen=True, slots=True)
class Options:
    """What an FMU says of itself.

    Attributes:
        text: about the model.
        tool: that wrote it.
        step: between two communications of the default experiment [s].
        page: of documentation, HTML.
        systems: those whose libraries it holds; all, if none is named.
        poses: positions and rotations of bodies are variables.
    """

    text: str
    tool: str
    step: float
    page: str = ""
    systems: tuple[str, ...] = ()
    poses: bool = False


@final
@dataclass(frozen=True, slots=True)
class Facts:
    """What a description says besides variables.

    Attributes:
        name: of the model.
        identifier: of its functions and files.
        token: of this export.
        version: 2 or 3, of FMI.
        tool: that wrote it.
        text: about the model.
        start: of the default experiment [s].
        stop: its end [s].
        tolerance: of its steps.
        step: between two communications [s].
        sources: files of C.
        depends: unknown -> value references of what it depends on; without one, all.
    """

    name: str
    identifier: str
    token: str
    version: int
    tool: str
    text: str
    start: float
    stop: float
    tolerance: float
    step: float
    sources: Sequence[str]
    depends: Mapping[int, Sequence[int]]
    closes: bool


def description(facts: Facts, variables: Variables) -> str:
    """The text of modelDescription.xml."""
    parts = (_head2, _head3)[facts.version == 3](facts, variables)
    structure = (_structure2, _structure3)[facts.version == 3](facts, variables)
    one = (_variable2, _variable3)[facts.version == 3]
    rows = [one(k, row, facts) for k, row in enumerate(variables.rows)]
    experiment = {
        "startTime": number(facts.start), "stopTime": number(facts.stop),
        "tolerance": number(facts.tolerance), "stepSize": number(facts.step),
    }  # fmt: skip
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        *parts,
        *_units(variables.rows),
        "  <LogCategories>",
        *(f"    {tag('Category', name=x, description=y)}" for x, y in CATEGORIES.items()),
        "  </LogCategories>",
        f"  {tag('DefaultExperiment', **experiment)}",
        "  <ModelVariables>",
        *rows,
        "  </ModelVariables>",
        *structure,
        "</fmiModelDescription>",
        "",
    ]
    return "\n".join(lines)


def tag(word: str, /, **attributes: str) -> str:
    """An element; attributes that are empty are left out."""
    return f"{opening(word, **attributes)[:-1]}/>"


def opening(word: str, /, **attributes: str) -> str:
    """The beginning of an element, likewise."""
    listed = [f"{key}={quoteattr(value)}" for key, value in attributes.items() if value != ""]
    return f"<{' '.join([word, *listed])}>"


def number(x: float) -> str:
    """A number to the last bit."""
    return repr(float(x)) if isfinite(x) else ""


def _head2(facts: Facts, variables: Variables) -> list[str]:
    can = {"canGetAndSetFMUstate": "true", "canSerializeFMUstate": "true",
           "providesDirectionalDerivative": "true"}  # fmt: skip
    kinds = {
        "ModelExchange": {},
        "CoSimulation": {"canHandleVariableCommunicationStepSize": "true"},
    }
    lines = [opening("fmiModelDescription", fmiVersion="2.0", modelName=facts.name,
        guid=facts.token, description=facts.text, generationTool=facts.tool,
        variableNamingConvention="flat", numberOfEventIndicators=str(len(variables.events)),
    )]  # fmt: skip
    files = [f"      {tag('File', name=x)}" for x in facts.sources]
    for kind, more in kinds.items():
        head = opening(kind, modelIdentifier=facts.identifier, **more, **can)
        lines += [f"  {head}", "    <SourceFiles>", *files, "    </SourceFiles>", f"  </{kind}>"]
    return lines


def _head3(facts: Facts, variables: Variables) -> list[str]:
    can = {"canGetAndSetFMUState": "true", "canSerializeFMUState": "true",
           "providesDirectionalDerivatives": "true",
           "providesAdjointDerivatives": "true"}  # fmt: skip
    completed = {"needsCompletedIntegratorStep": "true"}
    steps = {
        "canHandleVariableCommunicationStepSize": "true", "providesIntermediateUpdate": "true",
        "mightReturnEarlyFromDoStep": "true", "canReturnEarlyAfterIntermediateUpdate": "true",
    }  # fmt: skip
    return [
        opening("fmiModelDescription", fmiVersion="3.0", modelName=facts.name,
            instantiationToken=facts.token, description=facts.text, generationTool=facts.tool,
            variableNamingConvention="flat"),
        f"  {tag('ModelExchange', modelIdentifier=facts.identifier, **can, **completed)}",
        f"  {tag('CoSimulation', modelIdentifier=facts.identifier, **can, **steps)}",
    ]  # fmt: skip


def _units(rows: Iterable[Row]) -> list[str]:
    """Definitions of all units that occur."""
    names = sorted({x.unit for x in rows} - {""})
    lines = ["  <UnitDefinitions>"]
    for name in names:
        lines += [f"    <Unit name={quoteattr(name)}>", *_base_unit(name), "    </Unit>"]
    return [*lines, "  </UnitDefinitions>"]


def _base_unit(name: str) -> list[str]:
    """A unit by the base units of SI; nothing about one that only the description knows."""
    try:
        unit = unit_of(name)
    except LiaisonError:
        return []
    exponents = {base: str(n) for base, n in zip(BASE, unit.dimension, strict=False) if n != 0}
    factor = float(unit.factor) * pi**unit.pi
    more = {"factor": number(factor)} if factor != 1.0 else {}
    return [f"      {tag('BaseUnit', **exponents, **more)}"]


def initial_of(row: Row, facts: Facts) -> str:
    """How a variable is known at the start, as FMI has it; "" where that is left out."""
    if row.array in (TIME,) or row.causality == "input":
        return ""
    if row.array in (Q, V):
        return "approx" if facts.closes else "exact"
    return "exact" if row.array == P else "calculated"


def _attributes(k: int, row: Row, facts: Facts) -> dict[str, str]:
    return {
        "name": row.name, "valueReference": str(k), "causality": row.causality,
        "variability": row.variability, "initial": initial_of(row, facts),
        "description": row.text,
    }  # fmt: skip


def _variable2(k: int, row: Row, facts: Facts) -> str:
    start = " ".join(map(number, row.start))
    values = {} if row.is_integer else {
        "unit": row.unit, "min": number(row.low), "max": number(row.high), "start": start,
        "nominal": number(row.nominal) if row.nominal != 1.0 else "",
        "derivative": str(row.derivative + 1) if row.derivative >= 0 else "",
    }  # fmt: skip
    kind = tag("Integer" if row.is_integer else "Real", **values)
    head = opening("ScalarVariable", **_attributes(k, row, facts))
    return f"    {head}{kind}</ScalarVariable>"


def _variable3(k: int, row: Row, facts: Facts) -> str:
    values = _attributes(k, row, facts)
    kind = "Int32" if row.is_integer else "Float64"
    if not row.is_integer:
        values |= {
            "unit": row.unit, "min": number(row.low), "max": number(row.high),
            "nominal": number(row.nominal) if row.nominal != 1.0 else "",
            "derivative": str(row.derivative) if row.derivative >= 0 else "",
            "start": " ".join(map(number, row.start)),
        }  # fmt: skip
    if row.count == 1:
        return f"    {tag(kind, **values)}"
    size = tag("Dimension", start=str(row.count))
    return f"    {opening(kind, **values)}{size}</{kind}>"


def unknowns(variables: Variables, facts: Facts) -> dict[str, list[int]]:
    """Value references of outputs, derivatives and what is calculated at the start."""
    rows = list(enumerate(variables.rows))
    outputs = [k for k, x in rows if x.causality == "output"]
    derivatives = [k for k, x in rows if x.array in (QDOT, VDOT)]
    states = [k for k, x in rows if x.array in (Q, V)]
    first = [k for k in {*outputs, *derivatives, *states}
             if initial_of(variables.rows[k], facts) in ("approx", "calculated")]  # fmt: skip
    return {"outputs": outputs, "derivatives": derivatives, "initial": sorted(first)}


def _structure2(facts: Facts, variables: Variables) -> list[str]:
    listed = unknowns(variables, facts)
    lines = ["  <ModelStructure>"]
    words = {"outputs": "Outputs", "derivatives": "Derivatives", "initial": "InitialUnknowns"}
    for name, word in words.items():
        if not listed[name]:
            continue
        lines.append(f"    <{word}>")
        for k in listed[name]:
            lines.append(f"      {_unknown('Unknown', 'index', k, 1, name, facts)}")
        lines.append(f"    </{word}>")
    return [*lines, "  </ModelStructure>"]


def _unknown(word: str, key: str, k: int, shift: int, name: str, facts: Facts) -> str:
    """An unknown with what it depends on, where that is known."""
    own = f'{key}="{k + shift}"'
    if name == "initial" or k not in facts.depends:
        return f"<{word} {own}/>"
    listed = " ".join(str(x + shift) for x in facts.depends[k])
    return f'<{word} {own} dependencies="{listed}"/>'


def _structure3(facts: Facts, variables: Variables) -> list[str]:
    listed = unknowns(variables, facts)
    listed["events"] = [k for k, x in enumerate(variables.rows) if x.array == INDICATOR]
    words = {
        "outputs": "Output", "derivatives": "ContinuousStateDerivative",
        "initial": "InitialUnknown", "events": "EventIndicator",
    }  # fmt: skip
    lines = [
        f"    {_unknown(word, 'valueReference', k, 0, name, facts)}"
        for name, word in words.items()
        for k in listed[name]
    ]
    return ["  <ModelStructure>", *lines, "  </ModelStructure>"]


def build_description(facts: Facts) -> str:
    """sources/buildDescription.xml of FMI 3.0."""
    files = [f"      {tag('SourceFile', name=x)}" for x in facts.sources]
    return "\n".join([
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<fmiBuildDescription fmiVersion="3.0">',
        f"  {opening('BuildConfiguration', modelIdentifier=facts.identifier)}",
        f"    {opening('SourceFileSet', language='C99')}",
        *files,
        "    </SourceFileSet>",
        "  </BuildConfiguration>",
        "</fmiBuildDescription>",
        "",
    ])  # fmt: skip
