"""What all tests share: how much is drawn, the outside programs, and the shipped examples."""

import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

REPOSITORY = Path(__file__).parents[1]
sys.path.insert(0, str(Path(__file__).parent))  # tests/samples serves several folders
RUNS_ALL = os.environ.get("LIAISON_TESTS") == "all"

# a process holds the syntax trees and formulas of ten thousand tests: looked through less often,
# a tenth of the time of tests is saved
gc.set_threshold(50_000, 20, 100)

# a shell's background jobs ignore Ctrl-C, and tests of it would wait for ever
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("test", derandomize=True, max_examples=12, deadline=None, database=None)
settings.register_profile("all", derandomize=True, max_examples=200, deadline=None, database=None)
settings.load_profile("all" if RUNS_ALL else "test")


def first_of(*names: str) -> str:
    """Path of the first program that exists; skips the test if none does, fails it with CI=true."""
    for name in names:
        if path := shutil.which(name):
            return path
    if os.environ.get("CI") == "true":
        pytest.fail(f"{names[0]} is missing")
    pytest.skip(f"{names[0]} is missing")


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a browser to open pages with."""
    return first_of("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def c_compiler() -> str:
    """Path of a C compiler."""
    return first_of("cc", "gcc", "clang")


@pytest.fixture(scope="session")
def node() -> str:
    """Path of node, which runs WebAssembly and JavaScript."""
    return first_of("node", "nodejs")


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of shipped examples."""
    return REPOSITORY / "examples"


@pytest.fixture(scope="session")
def runs_all() -> bool:
    """True in `make test-all`: draw 200 random mechanisms instead of 20, take the full product."""
    return RUNS_ALL


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that need a browser come first: one of several processes then opens it for all."""
    items.sort(key=lambda item: "browser" not in getattr(item, "fixturenames", ()))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The worst of what tests recorded under a name that begins with "worst", over all of them."""
    found: dict[str, list[float]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.stats.get(outcome, []):
            for name, value in report.user_properties:
                if name.startswith("worst "):
                    found.setdefault(name, []).append(value)
    for name, values in sorted(found.items()):
        terminalreporter.write_line(f"{name}, of {len(values)}: {max(values):.1e}")
