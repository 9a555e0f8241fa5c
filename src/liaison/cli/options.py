"""Options that commands share, options of a run made from `RunOptions`, and printed results.

Public names: Call, WithValues, WithStart, Values, At, Lenient, Floating, Merged, Until, Speed,
Json, Debug, RunOption, StudyPath, StudyFolder, with_options, help_of, printed, written, with_files.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, final, get_args, get_type_hints

import typer

if TYPE_CHECKING:
    from liaison.cli.values import Request
    from liaison.exact.evidence import Evidence

Model = Annotated[
    Path,
    typer.Argument(
        exists=True, dir_okay=False, readable=True, help="A mechanism: .lsd, .urdf or .xml (MJCF)."
    ),
]
Values = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help='A parameter or an input, as "m=2.5 kg"; an input also as a formula of t.',
    ),
]
Starts = Annotated[
    list[str] | None,
    typer.Option("--start", metavar="NAME=VALUE", help="An initial position or velocity."),
]
Guesses = Annotated[
    list[str] | None,
    typer.Option(
        "--guess",
        metavar="NAME=VALUE",
        help='A position or velocity to assemble near, as "A=40 deg"; it may move.',
    ),
]
Lenient = Annotated[
    bool, typer.Option("--lenient", help="URDF, MJCF: repair impossible inertias, and report it.")
]
Floating = Annotated[
    bool, typer.Option("--floating", help="URDF: attach the root link by a free joint.")
]
Merged = Annotated[
    bool, typer.Option("--merge-fixed", help="URDF: merge links that fixed joints connect.")
]
At = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME=VALUE", help='A coordinate of another position, as "A=90 deg".'),
]
Until = Annotated[str, typer.Option(metavar="TIME", help='End time, as 5 or "500 ms".')]
Speed = Annotated[
    float,
    typer.Option(
        min=1e-6, max=1e6, help="Simulated seconds shown in one second: 0.1 is slow motion."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
WithEvidence = Annotated[
    bool, typer.Option("--evidence", help="Print what proves it: numbers, theorem, chance, seed.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Print the traceback of an unexpected error.")]


StudyPath = Annotated[
    Path, typer.Argument(metavar="FILE.toml", help="The study, as docs/howto/study explains.")
]
StudyFolder = Annotated[
    Path | None,
    typer.Option("--folder", metavar="DIR", help="Store of the runs, instead of the file's own."),
]


def written(**paths: Path | None) -> dict[str, str]:
    """The files that were written, by what they are."""
    return {kind: str(path) for kind, path in paths.items() if path}


def with_files(text: str, files: Mapping[str, str]) -> str:
    """The text, and a line for each file that was written."""
    width = max(map(len, files), default=0)
    lines = [f"  {kind:{width}}  {path}" for kind, path in files.items()]
    return "\n".join([text, *([""] if lines else []), *lines])


def json_text(facts: Mapping[str, Any]) -> str:
    """A JSON object, with signs that the standard output can write; null for nan and inf."""
    is_unicode = str(getattr(sys.stdout, "encoding", "")).lower().startswith("utf")
    try:
        return json.dumps(facts, ensure_ascii=not is_unicode, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(facts), ensure_ascii=not is_unicode)


def _finite(x: Any) -> Any:
    """The same with None for numbers that JSON has no sign for."""
    if isinstance(x, float):
        return x if math.isfinite(x) else None
    if isinstance(x, Mapping):
        return {key: _finite(y) for key, y in x.items()}
    return [_finite(y) for y in x] if isinstance(x, list | tuple) else x


def printed(facts: dict[str, Any], text: str, as_json: bool) -> None:
    """Print the JSON object, or the text."""
    print(json_text(facts) if as_json else text)


def with_evidence(text: str, evidence: Iterable[Evidence], wanted: bool) -> str:
    """The text, and the evidence of its statements if that is wanted."""
    if not wanted:
        return text
    from liaison.exact.evidence import grouped

    return "\n".join([text, *grouped(evidence)])


def help_of(option: str) -> str:
    """Help text of an option of a run."""
    from liaison.simulation.plan.options import meanings

    return meanings()[option].text


RunOption: TypeAlias = Mapping[str, Any] | None
"""The options of a run as they stand on the command line, by name; see `with_options`."""

NUMBERS: Mapping[str, type] = {"float | None": float, "int | None": int, "str | None": str,
    "bool | None": bool,
}  # fmt: skip
"""Kinds of options that a command line can give, by the annotation of the record."""

METAVARS = {"method": "NAME", "impacts": "LAW"}
LEFT_OUT = ("residual", "on_failure")
"""Options of the record that are for Python."""


def _run_parameters() -> Iterator[Parameter]:
    """One parameter for each option of a run that all methods or one method take."""
    from liaison.simulation.plan.options import RunOptions

    for field in fields(RunOptions):
        meaning = field.metadata["meaning"]
        is_time = meaning.unit == "s"
        kind = str if is_time else NUMBERS.get(str(field.type))
        if kind is None or field.name in LEFT_OUT or meaning.of in ("scenes", "batches"):
            continue
        option = typer.Option(
            metavar="TIME" if is_time else METAVARS.get(field.name),
            help=meaning.text,
            min=1 if field.name == "max_steps" else None,
        )
        annotation = Annotated[kind | None, option]  # type: ignore[valid-type]
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)


ROBOT: Mapping[str, tuple[Any, Any]] = {
    "lenient": (Lenient, False),
    "floating": (Floating, False),
    "merge_fixed": (Merged, False),
    "base": (
        Annotated[
            str | None,
            typer.Option(metavar="LINK", help="URDF: the link to hold or free, not the root."),
        ],
        None,
    ),
    "pose": (
        Annotated[
            list[str] | None,
            typer.Option(
                metavar="JOINT=VALUE",
                help='URDF: where joints start, "*_knee=-1.2" for all such; or NAME of the SRDF '
                "file's states. Motors hold it.",
            ),
        ],
        None,
    ),
    "limits": (
        Annotated[
            bool | None,
            typer.Option(
                help="Stops at the ends of ranges; MJCF has them, URDF with motors or a ground."
            ),
        ],
        None,
    ),
    "keyframe": (
        Annotated[
            str | None, typer.Option(metavar="NAME", help="MJCF: the keyframe to start from.")
        ],
        None,
    ),
    "contacts": (
        Annotated[bool, typer.Option("--contacts", help="MJCF: contacts between geoms.")],
        False,
    ),
    "folder": (
        Annotated[
            Path | None,
            typer.Option(help="MJCF: below which files may be opened, not the file's own folder."),
        ],
        None,
    ),
    "motors": (
        Annotated[
            str | None,
            typer.Option(metavar="KIND", help="URDF: motors follow torque, velocity or position."),
        ],
        None,
    ),
    "stiffness": (
        Annotated[
            str | None,
            typer.Option(metavar="NUMBER", help="Of motors that follow positions, as 50 N*m/rad."),
        ],
        None,
    ),
    "damping": (
        Annotated[str | None, typer.Option(metavar="NUMBER", help="Of motors, as 2 N*m*s/rad.")],
        None,
    ),
    "ground": (
        Annotated[bool, typer.Option("--ground", help="Shapes touch the plane z = 0.")],
        False,
    ),
    "height": (
        Annotated[
            str | None,
            typer.Option("--ground-height", metavar="HEIGHT", help="Of that plane; 0 m."),
        ],
        None,
    ),
    "friction": (
        Annotated[
            float | None, typer.Option("--ground-friction", help="Of that plane; 0.8, MJCF 1.")
        ],
        None,
    ),
    "restitution": (
        Annotated[float | None, typer.Option(help="Of stops and of that plane; 0.")],
        None,
    ),
    "sticking": (
        Annotated[
            bool, typer.Option("--sticking", help="URDF: dry friction of joints holds at rest.")
        ],
        False,
    ),
    "self_collision": (
        Annotated[
            bool,
            typer.Option(
                "--self-collision", help="URDF: links touch each other, but for neighbours."
            ),
        ],
        False,
    ),
    "decompose": (
        Annotated[
            bool,
            typer.Option("--decompose", help="Meshes touch by convex parts; needs coacd."),
        ],
        False,
    ),
    "srdf": (
        Annotated[
            Path | None,
            typer.Option(metavar="FILE", help="URDF: loops, passive joints, rotors, poses."),
        ],
        None,
    ),
    "package_root": (
        Annotated[
            Path | None,
            typer.Option(metavar="DIR", help="URDF: folder of the packages of package://."),
        ],
        None,
    ),
}
"""Options of a robot's reader: their annotation and default."""


@final
@dataclass(frozen=True, slots=True)
class Call:
    """What a command takes besides options of its own: a mechanism's file, and how to answer.

    Attributes:
        file: of the mechanism.
        robot: options of its reader that are set, by name.
        as_json: answer by one JSON object.
        values: texts of --set.
        start: texts of --start.
        guess: texts of --guess.
    """

    file: Path
    robot: Mapping[str, Any]
    as_json: bool
    values: list[str] | None = None
    start: list[str] | None = None
    guess: list[str] | None = None

    def request(self, *, may_vary: bool = False) -> Request:
        """The mechanism with its values and starts; inputs are formulas if they `may_vary`."""
        from liaison.cli.values import read_request

        values, start, guess = self.values, self.start, self.guess
        return read_request(self.file, values, start, self.robot, guesses=guess, may_vary=may_vary)

    def answer(self, facts: dict[str, Any], text: str) -> None:
        """Print the JSON object, or the text."""
        printed(facts, text, self.as_json)


WithValues = Annotated[Call, "values"]
WithStart = Annotated[Call, "values", "start", "guess"]
"""A call whose options are, in the place of this parameter, those of the words."""

OF_VALUES: Mapping[str, Any] = {"values": Values, "start": Starts, "guess": Guesses}


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that it takes together.

    In the place of `run` those of a run; in the place of `call` those that its annotation names,
    with the file before all others, and behind them the options of `ROBOT`, --json and --debug.
    An option of the command's own comes before one of `ROBOT` that has its name.
    """
    hints = get_type_hints(function, include_extras=True)
    parameters = signature(function).parameters
    run = list(_run_parameters()) if "run" in parameters else []
    robot = [_keyword(x, a, y) for x, (a, y) in ROBOT.items() if x not in parameters]
    groups = {"run": run, "call": []}
    if "call" in parameters:
        groups["call"] = [_keyword(x, OF_VALUES[x], None) for x in get_args(hints["call"])[1:]]
    listed: list[Parameter] = []
    for x in parameters.values():
        plain = x.replace(annotation=hints[x.name], kind=Parameter.KEYWORD_ONLY)
        listed += groups.get(x.name, [plain])
    if "call" in parameters:
        last = (_keyword("as_json", Json, False), _keyword("debug", Debug, False))
        listed = [_keyword("file", Model, Parameter.empty), *listed, *robot, *last]

    def called(**arguments: Any) -> None:
        own = {x: arguments[x] for x in parameters if x not in groups}
        if "run" in parameters:
            own["run"] = _chosen(run, arguments)
        if "call" in parameters:
            options = {x.name: arguments[x.name] for x in groups["call"]}
            shared = (arguments["file"], _chosen(robot, arguments), arguments["as_json"])
            own["call"] = Call(*shared, **options)
        function(**own)

    called.__name__, called.__doc__ = function.__name__, function.__doc__
    return with_parameters(called, listed)


def with_parameters(function: Callable[..., None], listed: list[Parameter]) -> Callable[..., None]:
    """The function as one of these parameters, which typer reads as options."""
    function.__signature__ = Signature(listed)  # type: ignore[attr-defined]
    function.__annotations__ = {x.name: x.annotation for x in listed}
    return function


def _keyword(name: str, annotation: Any, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _chosen(options: list[Parameter], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What the command line says of options, without those that it leaves out."""
    values = {x.name: arguments[x.name] for x in options}
    defaults = {x.name: x.default for x in options}
    chosen = {name: x for name, x in values.items() if x is not None and x is not False}
    return chosen | {name: x for name, x in values.items() if x is False and defaults[name] is None}
