"""Write a 3D page of the motion, or show it live.

Public names: animate.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from liaison.cli.options import RunOption, Speed, Until, WithStart, with_options
from liaison.errors import Interrupted
from liaison.verbs.registry import command


@command
@with_options
def animate(
    *,
    until: Until = "10",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Write the page to this file.")
    ] = None,
    live: Annotated[bool, typer.Option("--live", help="Serve a live view until Ctrl-C.")] = False,
    live_page: Annotated[
        bool,
        typer.Option("--live-page", help="The page simulates, with sliders for all values."),
    ] = False,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    run: RunOption = None,
    call: WithStart,
    trace: Annotated[
        list[str] | None,
        typer.Option(metavar="BODY", help="Draw the path of a body or joint. Repeatable."),
    ] = None,
    forces: Annotated[
        bool, typer.Option("--forces", help="Draw the force of every joint on its successor.")
    ] = False,
    speed: Speed = 1.0,
) -> None:
    """Write a 3D page of the motion that opens from a file, or show it live."""
    from liaison.cli import running
    from liaison.cli.running import leave_if_suspect, noted, ran, run_options, series_of
    from liaison.cli.values import check_folders, check_names, check_suffix
    from liaison.verbs.motion import page, show
    from liaison.verbs.pictures import drawable

    if (out is None) == (not live):
        raise typer.BadParameter("give either --out FILE.html or --live.")
    if live_page and live:
        raise typer.BadParameter("--live-page goes with --out FILE.html.")
    check_folders(out)
    check_suffix("--out", out, (".html", ".htm"))
    raw = dict(run or {})
    end, options = run_options(until, raw | {"every": raw.get("every") or f"({speed!r}/60) s"})
    options = replace(options, series=series_of(["reactions"] if forces else [], []))
    request = call.request(may_vary=True)
    mechanism = request.mechanism
    check_names("--trace", "body or joint", trace or (), drawable(mechanism))
    look: dict[str, Any] = {"trace": tuple(trace or ()), "forces": forces, "speed": speed}
    try:
        trajectory = ran(request, end, options)
    except Interrupted as early:
        if out is not None and early.trajectory is not None:
            with noted():
                page.page(early.trajectory, mechanism, out, **look)
        raise
    if out is None:
        _serve(show.show(trajectory, mechanism, browser=open_page, **look), call.as_json)
        return
    page.page(trajectory, mechanism, out, live=live_page, **look)
    if open_page:
        import webbrowser

        webbrowser.open(out.resolve().as_uri())
    facts = {"status": trajectory.status, "instants": len(trajectory), "page": str(out)}
    facts["events"] = running.event_facts(trajectory)
    call.answer(facts, f"{trajectory.name}: {trajectory.message}\n  page         {out}")
    leave_if_suspect(trajectory)


def _serve(live: Any, as_json: bool) -> None:
    """Says where a live view is, and serves it until Ctrl-C."""
    text = f"The view is at {live.url} until Ctrl-C."
    print(json.dumps({"url": live.url}) if as_json else text, flush=True)
    live.wait()
