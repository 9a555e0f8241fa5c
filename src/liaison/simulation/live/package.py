"""Files of a module for other tools: the module, the script that runs it, its types, package.json.

Public names: live_package, live_script, script_tables.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

SCRIPT, TYPES = "liaison_run.js", "liaison_run.d.ts"
HERE = Path(__file__).parent


def live_script() -> str:
    """The script that runs modules: plain text that defines `liaison.Run`, also for a Worker."""
    return (HERE / SCRIPT).read_text(encoding="utf-8")


def script_tables(*names: str) -> list[Any]:
    """Tables of the script by their names, which modules refer to by number."""
    text = live_script()
    places = [text.index(f"const {name} = ") + len(f"const {name} = ") for name in names]
    return [json.JSONDecoder().raw_decode(text, place)[0] for place in places]


def live_package(module: bytes, name: str, folder: Path) -> dict[str, Path]:
    """Writes the files of a module into a folder, which is made if missing.

    Args:
        module: its bytes.
        name: of the mechanism.
        folder: where to.

    Returns:
        The files by what they are.
    """
    folder.mkdir(parents=True, exist_ok=True)
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "mechanism"
    files = {
        "module": folder / f"{plain}.wasm",
        "script": folder / SCRIPT,
        "types": folder / TYPES,
        "package": folder / "package.json",
    }
    files["module"].write_bytes(module)
    files["script"].write_text(live_script(), encoding="utf-8")
    files["types"].write_text((HERE / TYPES).read_text(encoding="utf-8"), encoding="utf-8")
    files["package"].write_text(_package(plain, name), encoding="utf-8")
    return files


def _package(plain: str, name: str) -> str:
    facts = {
        "name": plain.replace("_", "-"),
        "version": "1.0.0",
        "description": f"{name}: a mechanism that simulates, written by liaison",
        "private": True,
        "main": SCRIPT,
        "types": TYPES,
        "files": [f"{plain}.wasm", SCRIPT, TYPES],
    }
    return json.dumps(facts, indent=2, ensure_ascii=False) + "\n"
