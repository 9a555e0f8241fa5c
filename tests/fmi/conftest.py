"""FMUs written once, and importers of them: fmpy, and bare calls."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import liaison

ROOT = Path(__file__).parents[2]
SYSTEM = "linux-x86_64"


@pytest.fixture(scope="session")
def fmpy() -> Any:
    if not sys.platform.startswith("linux"):
        pytest.skip("the FMUs of these tests hold libraries of Linux")
    return pytest.importorskip("fmpy")


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Path of the FMU of an example, written when it is first asked for."""
    folder, known = tmp_path_factory.mktemp("fmu"), {}

    def write(name: str, version: int) -> Path:
        if (name, version) not in known:
            path = folder / f"{Path(name).stem}_{version}.fmu"
            known[name, version] = liaison.to_fmu(
                ROOT / "examples" / f"{name}.lsd", path, version=version, until=2,
                systems=[SYSTEM],
            ).path  # fmt: skip
        return known[name, version]

    return write


@pytest.fixture
def opened(fmpy: Any, written: Any, tmp_path: Path) -> Any:
    """Instances of an FMU: a class of fmpy, with messages in `said`."""
    known: list[Any] = []

    def instance(name: str, version: int, kind: str) -> Any:
        from fmpy import fmi2, fmi3

        path = written(name, version)
        about = fmpy.read_model_description(str(path))
        folder = tmp_path / f"{Path(name).stem}_{version}"
        if not folder.exists():
            fmpy.extract(str(path), str(folder))
        makers = {
            (2, "ME"): fmi2.FMU2Model, (2, "CS"): fmi2.FMU2Slave,
            (3, "ME"): fmi3.FMU3Model, (3, "CS"): fmi3.FMU3Slave,
        }  # fmt: skip
        fmu = makers[version, kind](
            guid=about.guid, unzipDirectory=str(folder), instanceName=f"one{len(known)}",
            modelIdentifier=about.modelExchange.modelIdentifier,
        )  # fmt: skip
        fmu.references = {x.name: x.valueReference for x in about.modelVariables}
        known.append(fmu)
        return fmu

    yield instance
    for fmu in known:
        fmu.freeInstance()
    shutil.rmtree(tmp_path, ignore_errors=True)
