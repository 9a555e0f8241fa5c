"""The notebooks of the examples: run from nothing by a fresh kernel, converted, and looked at."""

import json
import re
import warnings
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
SMALL = "four_bar"
HEAVIEST = 1.2e6
"""Letters of a moving picture in a saved notebook."""


def executed(path):
    """The notebook with its outputs; skips where the extra is not installed."""
    client = pytest.importorskip("nbclient", reason="nbclient is not installed")
    pytest.importorskip("anywidget", reason='needs "liaison-mbd[notebook]"')
    import nbformat

    book = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client's own event loop
        where = {"metadata": {"path": str(path.parent)}}
        client.NotebookClient(book, timeout=300, kernel_name="python3", resources=where).execute()
    return book


def converted(book):
    """The notebook as a page of HTML."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbconvert import HTMLExporter

        return HTMLExporter().from_notebook_node(book)[0]


def code_cells(book):
    return [cell for cell in book.cells if cell.cell_type == "code"]


def pictures(cell):
    """Frames that a cell shows, as texts."""
    shown = [output.get("data", {}).get("text/html", "") for output in cell.outputs]
    return [frame for text in shown for frame in re.findall("<iframe.*?</iframe>", text, re.DOTALL)]


@pytest.fixture(scope="module")
def small():
    (path,) = [x for x in NOTEBOOKS if x.stem == SMALL]
    return executed(path)


def test_a_cell_shows_what_it_asks_for_and_nothing_else(small):
    for cell in code_cells(small):
        asks = cell.source.splitlines()[-1]
        texts = [x for x in cell.outputs if x.output_type == "stream"]
        assert all(x.name == "stdout" for x in texts)
        assert bool(texts) == asks.startswith("print(")
        shown = [x for x in cell.outputs if x.output_type != "stream"]
        moving = asks.endswith(".show()") or ".show(" in asks or ".explore(" in asks
        assert len(pictures(cell)) == moving
        # sliders stand above their picture; an empty line is left by progress that was shown
        known = ("text/html", "image/png", "application/vnd.jupyter.widget-view+json")
        left = [x for x in shown if not any(x.data.get(kind) for kind in known)]
        assert all(not x.data["text/plain"].strip() for x in left)


def test_a_saved_notebook_keeps_its_motions_and_stays_light(small):
    frames = [text for cell in code_cells(small) for text in pictures(cell)]
    assert len(frames) == 3
    assert max(map(len, frames)) < HEAVIEST
    page = converted(json.loads(json.dumps(small), object_hook=_node))
    assert page.count("<iframe") == 3


def _node(data):
    from nbformat import NotebookNode

    return NotebookNode(data)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda x: x.stem)
def test_a_notebook_is_kept_without_outputs(path):
    book = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells)
    lines = [line for cell in cells for line in "".join(cell["source"]).splitlines()]
    assert all(len(line) <= 100 for line in lines)


@pytest.mark.slow
@pytest.mark.parametrize("path", [x for x in NOTEBOOKS if x.stem != SMALL], ids=lambda x: x.stem)
def test_a_large_notebook_runs_from_nothing(path):
    book = executed(path)
    page = converted(book)
    for cell in code_cells(book):
        assert not [x for x in cell.outputs if x.get("name") == "stderr"], cell.source
        # no object is shown by its address or by a dump of its fields
        plain = [x.get("data", {}).get("text/plain", "") for x in cell.outputs]
        assert not any(re.search(r" object at 0x", text) for text in plain), cell.source
    assert page.count("<iframe") == sum(len(pictures(cell)) for cell in code_cells(book))
