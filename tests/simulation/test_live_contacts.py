"""Contacts in modules, run by node: modes, forces, gaps and reactions are those of runs here."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.analyse.along.contact_marks import contact_marks
from liaison.simulation.live import package
from liaison.simulation.live.touching import LiveMarks

SCRIPT = Path(package.__file__).parent / package.SCRIPT
SERIES = ("contacts", "modes", "gaps", "reactions")

CASES = {
    "contact/loop.lsd": 0.6,
    "contact/stick_slip.lsd": 1.0,
    "contact/rattleback.lsd": 0.3,
    "reference/woodpecker.lsd": 0.2,
}
"""Example -> seconds: a track, friction beside closures, rolling, chatter."""

JOB = """
const fs = require("fs");
const { Run } = require(process.argv[1]);
const out = JSON.parse(process.argv[2]).map(({ file, end, series }) => {
  const run = new Run(new WebAssembly.Module(fs.readFileSync(file)));
  const parts = [];
  // rows are taken in pieces, as a page does
  for (let t = 0.1 * end; !run.isOver; t += 0.1 * end) {
    run.advance({ until: t });
    const rows = run.take();
    if (!rows.count) continue;
    const values = series.map((x) => [x, Array.from(run.series(x, rows))]);
    parts.push({ t: Array.from(rows.t), ...Object.fromEntries(values) });
  }
  return parts;
});
console.log(JSON.stringify(out));
"""


@pytest.fixture(scope="module")
def answers(examples, node, tmp_path_factory):
    folder = tmp_path_factory.mktemp("touching")
    jobs, runs = [], {}
    for k, (name, end) in enumerate(CASES.items()):
        mechanism = liaison.read(examples / name)
        runs[name] = liaison.simulate(mechanism, until=end, every=end / 50, series=("reactions",))
        (labels,) = runs[name].series["contacts"].axes.values()
        point = [x for mark in contact_marks(mechanism, labels) for x in mark.point]
        module = liaison.live_module(
            mechanism, until=end, every=end / 50, series=("poses", "contacts", "reactions"),
            marks=LiveMarks(point, [("points", len(point))]),
        )  # fmt: skip
        (folder / f"{k}.wasm").write_bytes(module)
        jobs.append({"file": str(folder / f"{k}.wasm"), "end": end, "series": [*SERIES, "marks"]})
    words = [node, "-e", JOB, str(SCRIPT), json.dumps(jobs)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: (runs[name], x) for name, x in zip(CASES, json.loads(done.stdout), strict=True)}


@pytest.mark.parametrize("name", CASES)
def test_series_of_contacts_are_those_of_the_run(name, answers):
    run, parts = answers[name]
    t = np.concatenate([x["t"] for x in parts])
    np.testing.assert_allclose(t, run.t, atol=1e-12)
    assert run.series["contacts"].values.any(), "nothing touches"
    for series in SERIES:
        here = np.asarray(run.series[series].values).reshape(len(t), -1)
        there = np.concatenate([x[series] for x in parts]).reshape(here.shape)
        np.testing.assert_allclose(there, here, rtol=1e-7, atol=1e-7, err_msg=series)


def test_formulas_are_evaluated_at_recorded_states(examples, answers):
    run, parts = answers["contact/rattleback.lsd"]
    (place,) = liaison.contact_points(liaison.read(examples / "contact/rattleback.lsd"), run)
    there = np.concatenate([x["marks"] for x in parts]).reshape(len(run.t), -1)
    np.testing.assert_allclose(there, place.point, atol=1e-9)
