"""Robots from the files that others published, against Pinocchio and MuJoCo: a table and a gallery.

    python benchmarks/compare_robots.py --out out/robots.json      (or: make robots)

A format is a file `robots_<format>.py` of this folder with a function `rows(states)`. The wheels
with the robots are extras; a format whose wheel is missing has no rows, and the table says so.
Beside the table lies a page with a picture of each robot and what its file has.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import pictures  # noqa: E402

from liaison.errors import LiaisonError  # noqa: E402

AGAINST = {"urdf": "Pinocchio", "mjcf": "MuJoCo"}
Row = dict[str, Any]


def formats() -> list[str]:
    """Names of the formats that there are."""
    return sorted(x.stem.removeprefix("robots_") for x in HERE.glob("robots_*.py"))


def card(rows: list[Row], content: Any) -> str:
    """A robot on the page, by its rows: one, or with its base held and free."""
    first = rows[0]
    facts, image, lines = {}, b"", []
    if content is not None:
        facts, lines = pictures.described(content.mechanism), list(content.notes)
        facts |= {"velocities": str(first["nv"])} if first.get("nv") else {}
        if len(content.mechanism.bodies) > 1:
            image, missing = drawn(content.mechanism)
            lines += [f"{missing} surfaces are not drawn"] if missing else []
    against = AGAINST.get(first["format"], first["format"])
    for row in rows:
        if "error" in row:
            base = f" ({row['base']} base)" if "base" in row else ""
            facts[f"{against}{base}"] = f"{row['error']:.0e}"
    lines = [x["why"] for x in rows[:1] if "why" in x] + lines
    order = ("differs", "refused", "read", "equal")
    status = min((x["status"] for x in rows), key=order.index)
    return pictures.card(first["robot"], first["format"].upper(), status, facts, lines, image)


def drawn(mechanism: Any) -> tuple[bytes, int]:
    """The picture of a robot; none where it cannot stand as its file starts it."""
    try:
        return pictures.picture(mechanism)
    except LiaisonError as error:
        print(f"{mechanism.name}: {error}")
        return b"", 0


def of_format(name: str, states: int) -> tuple[list[Row], list[str]]:
    """Rows and cards of the robots of one format."""
    rows: list[Row] = []
    cards: list[str] = []
    waiting: list[Row] = []
    content = None
    for row in importlib.import_module(f"robots_{name}").rows(states):
        own = row.pop("reading", None)
        print(" ".join(f"{k}={v}" for k, v in row.items() if k != "why"), flush=True)
        if waiting and row["robot"] != waiting[0]["robot"]:
            cards.append(card(waiting, content))
            waiting = []
        content = content if waiting else own
        waiting.append(row)
        rows.append(row)
    cards += [card(waiting, content)] if waiting else []
    return rows, cards


def main() -> int:
    """Writes the table and the page; the status is 1 where a robot differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/robots.json"))
    parser.add_argument("--states", type=int, default=100)
    parser.add_argument("--only", choices=formats())
    arguments = parser.parse_args()
    rows: list[Row] = []
    cards: list[str] = []
    summary = []
    for name in [arguments.only] if arguments.only else formats():
        own, drawings = of_format(name, arguments.states)
        counts = Counter(x["status"] for x in own)
        words = ", ".join(f"{n} {x}" for x, n in counts.items()) or "its wheel is not installed"
        against = AGAINST.get(name, "")
        summary.append(f"{name.upper()}: {words}; {against}: the largest difference of q̈ from it")
        print(f"{name}: {dict(counts) or 'its wheel is not installed'}")
        rows += own
        cards += drawings
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    text = pictures.page("Robots", summary, cards)
    arguments.out.with_suffix(".html").write_text(text, encoding="utf-8")
    return int(any(x["status"] == "differs" for x in rows))


if __name__ == "__main__":
    raise SystemExit(main())
