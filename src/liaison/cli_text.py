"""What the command line prints for people, the facts it prints as JSON, and its progress bar.

Public names: summary, told, facts, outcome, Bar.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from .cli_sides import collision_line, collisions, event, event_lines, side_lines, sides
from .model import Mechanism
from .simulation import Trajectory
from .summary import Summary, is_conservative


def summary(found: Summary, *, explain: bool = False) -> str:
    """A mechanism in a few lines; with `explain`, its tree joint by joint."""
    facts = found.to_dict()
    known = facts["units"]
    counts = [_count(facts[x], x[:-1]) for x in ("bodies", "joints", "loops")]
    rows = {
        "": ", ".join(counts),
        "coordinates": f"{_count(facts['nq'], 'position')}, {_count(facts['nv'], 'velocitie')}",
        "closures": _closures(found),
        "mobility": _mobility(found),
        "mass": "depends on an unknown" if found.mass is None else f"{found.mass:.6g} kg",
        "gravity": " ".join("?" if x is None else f"{x:g}" for x in found.gravity) + " m/s²",
        "forces": _listed(facts["forces"]),
        "constraints": _listed(facts["constraints"]),
        "parameters": _values(facts["parameters"], known),
        "inputs": _values(dict.fromkeys(facts["inputs"]), known, unknown=""),
        "outputs": _values(dict.fromkeys(facts["outputs"]), known, unknown=""),
        "events": _listed(facts["events"]),
        "start": _start(found),
    }
    lines = [f"{found.mechanism.name}: {rows.pop('')}"]
    lines += [f"  {name:<12} {text}" for name, text in rows.items() if text]
    lines += [f"  {'one-sided':<12} {line}" for line in side_lines(sides(found))]
    if told := collisions(found):
        lines.append(f"  {'collisions':<12} {collision_line(told)}")
    lines += _entries(found)
    return "\n".join(lines + (_explained(found) if explain else []))


def told(facts: Mapping[str, list[str]]) -> str:
    """Notes of the reader, and what it deduced; "" where there is nothing to say."""
    titles = {"notes": "Not used, or repaired:", "assignments": "Declared and deduced:"}
    lines: list[str] = []
    for key, found in facts.items():
        if found:
            lines += ["", titles[key], *(f"  {line}" for line in found)]
    return "".join(f"\n{line}" for line in lines)


def _count(number: int, thing: str) -> str:
    """ "1 body", "2 bodies"."""
    singular = thing[:-2] + "y" if thing.endswith("ie") else thing
    return f"{number} {singular if number == 1 else thing + 's'}"


def _listed(names: list[str]) -> str:
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _values(
    found: Mapping[str, float | None], units: Mapping[str, str], unknown: str = "unknown"
) -> str:
    """ "m = 2 kg, gap = unknown [m], tip [mm]"."""
    return _listed([_value(name, x, units.get(name, ""), unknown) for name, x in found.items()])


def _value(name: str, x: float | None, unit: str, unknown: str = "unknown") -> str:
    if x is not None:
        return f"{name} = {x:.6g} {unit}".rstrip()
    told = f"{name} = {unknown}" if unknown else name
    return f"{told} [{unit}]" if unit else told


def _closures(found: Summary) -> str:
    if not found.closure_rows:
        return ""
    cut = [closure.joint.name for closure in found.tree.closures]
    rank = "" if found.rank is None else f" of rank {found.rank} at the start"
    return f"{found.closure_rows} rows{rank}" + (f"; cut at {', '.join(cut)}" if cut else "")


def _mobility(found: Summary) -> str:
    counted = f"Grübler's count {found.gruebler}"
    if found.freedoms is None:
        return counted
    return f"{_count(found.freedoms, 'free velocitie')} at the start; {counted}"


def _entries(found: Summary) -> list[str]:
    """How one-sided relations of rates are entered; what is not proved stands as a warning."""
    if found.entry is None:
        return []
    mark = {"proved": "entry  ", "fails": "warning", "not proved": "warning"}
    return [f"  {mark[x.verdict]:<12} {x.text}" for x in found.entry.entries]


def _start(found: Summary) -> str:
    if found.start is None:
        unknown = [x.name for x in found.mechanism.parameters if x.value is None]
        return f"not assembled: {_listed(unknown)} unknown (--set name=value)"
    state = found.start.state
    told = [_value(x.name, v, x.unit) for x, v in zip(state.labels["q"], state.q, strict=True)]
    moved = f" (moved by {found.start.moved:.3g} to close the loops)" if found.start.moved else ""
    return _listed(told) + moved


def _explained(found: Summary) -> list[str]:
    """The tree, joint by joint, and the rows of the closures."""
    lines = ["", "The tree, parents first:"]
    joints = {joint.name: joint for joint in found.mechanism.joints}
    for body, parent, name in found.carriers():
        kind = joints[name].type.name if name in joints else "fixed"
        lines.append(f"  {body} on {parent} by {name} ({kind})")
    if found.tree.closures:
        lines += ["", "The closures, and what each row transmits:"]
        lines += [f"  {label}" for label in found.equations.labels["lam"]]
        gone = found.equations.closures.vanished
        lines += [f"  {name}: always satisfied" for name in gone]
    return lines


def facts(run: Trajectory, mechanism: Mechanism) -> dict[str, Any]:
    """How a run went, as plain data.

    `energy_error` is the largest change of T + U; None where the mechanism does not conserve it.
    `penetration` is how far a gap was ever below 0 [m], of what has gaps.
    """
    energy = run["energy"].sum(axis=1)
    change = float(np.max(np.abs(energy - energy[0])))
    return {
        "name": run.name,
        "status": run.status,
        "message": run.message,
        "t": float(run.t[-1]),
        "instants": len(run),
        **run.counts,
        "energy": float(energy[-1]),
        "energy_change": change,
        "energy_error": change if is_conservative(mechanism) else None,
        "position_residual": _largest(run, "position_residual"),
        "velocity_residual": _largest(run, "velocity_residual"),
        **_inside(run),
        **{x: run.meta[x] for x in ("penetration", "residual") if run.meta.get("scene")},
        "q": _named(run, "q"),
        "v": _named(run, "v"),
        "outputs": {name: float(x[-1]) for name, (_, x) in _outputs(run).items()},
        "invariants": _drifts(run),
        "events": [event(run, x) for x in run.events],
        "units": {x.name: x.unit for part in ("q", "v") for x in run.labels[part]}
        | {name: label.unit for name, (label, _) in _outputs(run).items()},
    }


def _drifts(run: Trajectory) -> dict[str, dict[str, Any]]:
    """How far each first integral went from its value at the beginning."""
    found = run.invariants if "invariants" in run.series else {}
    return {
        name: {"value": float(x.values[0]), "drift": x.drift, "unit": x.unit}
        for name, x in found.items()
    }


def _outputs(run: Trajectory) -> dict[str, tuple[Any, Any]]:
    """Columns of the outputs by their own names."""
    if "outputs" not in run.series:
        return {}
    found = run.columns("outputs.*")
    return {name.removeprefix("outputs."): column for name, column in found.items()}


def _largest(run: Trajectory, name: str) -> float:
    return float(np.max(run[name])) if name in run.series else 0.0


def _named(run: Trajectory, part: str) -> dict[str, float]:
    """The last row of q or v by label."""
    values = getattr(run, part)[-1].tolist()
    return dict(zip([label.name for label in run.labels[part]], values, strict=True))


def outcome(found: Mapping[str, Any]) -> str:
    """The facts of a run in a few lines."""
    lost = found["energy_change"]
    kept = f"error {lost:.3g} J"
    if found["energy_error"] is None:
        kept = f"changed by {lost:.3g} J at most (not a conservative mechanism)"
    lines = [
        f"{found['name']}: {found['message']}",
        f"  work         {_work(found)}",
        f"  energy       {found['energy']:.6g} J at the end, {kept}",
        *_kept_closures(found),
        f"  end          {_values(found['q'], found['units'])}",
    ]
    if found["outputs"]:
        lines.append(f"  outputs      {_values(found['outputs'], found['units'])} at the end")
    lines += [
        f"  constant     {name}: {x['value']:.6g} {x['unit']}, drift {x['drift']:.3g}"
        for name, x in found.get("invariants", {}).items()
    ]
    lines += event_lines(found["events"])
    files = [x for x in ("results", "csv", "plot") if x in found]
    return "\n".join(lines + [f"  {kind:<12} {found[kind]}" for kind in files])


def _inside(run: Trajectory) -> dict[str, float]:
    """How far a gap was below 0 at a recorded instant; nothing where there is none."""
    if "gaps" not in run.series or not run["gaps"].size:
        return {}
    return {"penetration": max(0.0, -float(np.min(run["gaps"])))}


def _work(found: Mapping[str, Any]) -> str:
    if "evaluations" in found:
        return f"{found['steps']} steps, {found['evaluations']} evaluations"
    return f"{found['steps']} steps, {found['sweeps']} sweeps, {found['contacts']} contacts at most"


def _kept_closures(found: Mapping[str, Any]) -> list[str]:
    """How well closures were kept, and how deep bodies went into each other."""
    deep, missed = found.get("penetration"), found.get("residual")
    place, speed = found["position_residual"], found["velocity_residual"]
    lines = [f"  closures     {place:.3g} in position, {speed:.3g} in velocity at worst"]
    if deep is None:
        return lines
    more = "" if missed is None else f", residual of impulses {missed:.3g}"
    return lines * bool(place or speed) + [f"  penetration  {deep:.3g} m at worst{more}"]


class Bar:
    """Progress on stderr of a run that takes over a second: a bar, or lines if no terminal."""

    PATIENCE = 1.0  # [s]

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Any = None
        self._told = 0

    def __enter__(self) -> Bar:
        return self

    def __call__(self, fraction: float) -> None:
        """Told how much of the run is done, 0 to 1."""
        if time.monotonic() - self._begin < self.PATIENCE:
            return
        if not sys.stderr.isatty():
            self._tell(int(10 * fraction))
            return
        if self._bar is None:
            self._bar = _bar()
        self._bar.update(self._bar.task_ids[0], completed=fraction)

    def _tell(self, tenths: int) -> None:
        """A line for every tenth of the run."""
        if tenths > self._told:
            self._told = tenths
            print(f"simulating: {10 * tenths} %", file=sys.stderr, flush=True)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def _bar() -> Any:
    """A bar that leaves no trace when it stops."""
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True), transient=True)
    bar.add_task("simulating", total=1.0)
    bar.start()
    return bar
