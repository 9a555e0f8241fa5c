"""Runs the Python of the pages beside this file, and keeps the figures they draw.

python docs/cases/make_figures.py [PAGE …]
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """Each page in an empty folder that holds the examples; its pictures come back here."""
    wanted = sys.argv[1:]
    for page in sorted(HERE.glob("*.md")):
        if wanted and page.stem not in wanted:
            continue
        blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S)
        with tempfile.TemporaryDirectory() as desk:
            shutil.copytree(HERE.parents[1] / "examples", Path(desk) / "examples")
            script = Path(desk) / "page.py"
            script.write_text("\n".join(blocks), encoding="utf-8")
            subprocess.run([sys.executable, str(script)], cwd=desk, check=True)
            for picture in Path(desk).glob("*.png"):
                shutil.copy(picture, HERE / picture.name)
        print(page.name)


if __name__ == "__main__":
    main()
