"""Write a report: picture, joints, reactions, plots, proofs.

Public names: report.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from liaison.cli.options import RunOption, Until, WithStart, with_options, written
from liaison.verbs.registry import command


@command
@with_options
def report(
    *,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE.html", help="Write here; beside FILE's name if not given."),
    ] = None,
    pdf: Annotated[
        Path | None,
        typer.Option(metavar="FILE.pdf", help="Print to PDF, too; needs Chromium."),
    ] = None,
    until: Until = "2",
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SECTION",
            help="Leave out a section: picture, mechanism, mobility, motion, reactions, drives, "
            "energy, events, equations, versions. Repeatable.",
        ),
    ] = None,
    title: Annotated[str, typer.Option(help="Title; the mechanism's name if not given.")] = "",
    author: Annotated[str, typer.Option(help="A line below the title.")] = "",
    run: RunOption = None,
    call: WithStart,
) -> None:
    """Write a report on a mechanism: picture, joints, mobility, reactions, drives, equations."""
    from dataclasses import replace

    from liaison.cli.running import run_options
    from liaison.cli.values import check_folders, check_names, check_suffix
    from liaison.display.report.record import SECTIONS
    from liaison.simulation.record.files import write_file
    from liaison.verbs.motion import report as verb
    from liaison.view.pdf import browser, to_pdf

    check_folders(out, pdf)
    check_suffix("--out", out, (".html", ".htm"))
    check_suffix("--pdf", pdf, (".pdf",))
    check_names("--leave-out", "section", leave_out or (), SECTIONS)
    if pdf is not None:
        browser()
    end, options = run_options(until, run)
    request = call.request(may_vary=True)
    page = verb.report(
        request.mechanism,
        until=end,
        leave_out=leave_out or (),
        title=title,
        author=author,
        start=request.start,
        options=replace(options, inputs=request.inputs),
    )
    html = page.html()
    target = out or (None if call.as_json or pdf else Path(f"{call.file.stem}.report.html"))
    if target is not None:
        write_file(target, html)
    if pdf is not None:
        to_pdf(html, pdf)
    files = written(html=target, pdf=pdf)
    lines = [page.title, *(f"  {kind:<12} {path}" for kind, path in files.items()), *page.problems]
    call.answer(page.to_dict() | files, "\n".join(lines))
