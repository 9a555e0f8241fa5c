"""Robots from the files that others published, against Pinocchio and MuJoCo: one table.

    python benchmarks/compare_robots.py --out out/robots.json      (or: make robots)

A format is a file `robots_<format>.py` of this folder with a function `rows(states)`. The wheels
with the robots are extras; a format whose wheel is missing has no rows, and the table says so.
"""

from __future__ import annotations

import argparse
import html
import importlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
COLUMNS = (
    "format",
    "robot",
    "floating",
    "bodies",
    "nv",
    "notes",
    "repaired",
    "status",
    "error",
    "why",
)


def formats() -> list[str]:
    """Names of the formats that there are."""
    return sorted(x.stem.removeprefix("robots_") for x in HERE.glob("robots_*.py"))


def table(rows: list[dict[str, Any]]) -> str:
    """The rows as a page."""
    head = "".join(f"<th>{x}</th>" for x in COLUMNS)
    lines = []
    for row in rows:
        cells = (row.get(x) for x in COLUMNS)
        texts = (f"{x:.1e}" if isinstance(x, float) else "" if x is None else str(x) for x in cells)
        lines.append("<tr>" + "".join(f"<td>{html.escape(x)}</td>" for x in texts) + "</tr>")
    style = "body{font:14px sans-serif} td,th{padding:2px 8px;text-align:left}"
    return (
        f"<!doctype html><meta charset='utf-8'><title>Robots</title><style>{style}</style>"
        f"<h1>Robots</h1><table><tr>{head}</tr>{''.join(lines)}</table>"
    )


def main() -> int:
    """Writes the table and the page; the status is 1 where a robot differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/robots.json"))
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--only", choices=formats())
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in [arguments.only] if arguments.only else formats():
        own = []
        for row in importlib.import_module(f"robots_{name}").rows(arguments.states):
            own.append(row)
            print(" ".join(f"{k}={v}" for k, v in row.items() if k != "why"), flush=True)
        print(f"{name}: {dict(Counter(x['status'] for x in own)) or 'its wheel is not installed'}")
        rows += own
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    arguments.out.with_suffix(".html").write_text(table(rows), encoding="utf-8")
    return int(any(x["status"] == "differs" for x in rows))


if __name__ == "__main__":
    raise SystemExit(main())
