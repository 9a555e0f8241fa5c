"""One private kernel cache for the whole run."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def kernel_cache(tmp_path_factory):
    patch = pytest.MonkeyPatch()
    patch.setenv("LIAISON_CACHE", str(tmp_path_factory.mktemp("cache")))
    yield
    patch.undo()
