"""What tests of programs share: their folder, and one private kernel cache."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session")
def private_cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module", autouse=True)
def kernel_cache(private_cache):
    """Code is compiled anew in this folder alone; the tests of others keep the cache of the run."""
    patch = pytest.MonkeyPatch()
    patch.setenv("LIAISON_CACHE", str(private_cache))
    yield
    patch.undo()
