"""Nothing recurses and nothing stays: long chains build, differentiate, print, pickle, go."""

import gc
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

from liaison.exact.intervals import INTERVAL
from liaison.exact.residues import residues
from liaison.expr import (
    collector_paused,
    directional,
    evaluate,
    expanded,
    fingerprint,
    gradient,
    jacobian,
    known_nodes,
    sin,
    stumpff,
    substitute,
    symbol,
    to_floats,
    to_latex,
    to_text,
    topological,
)

x, y, z = symbol("x"), symbol("y"), symbol("z")


def chain(length):
    """Four nodes a turn, each turn on top of the last."""
    f = x
    for _ in range(length // 4):
        product = f * y
        f = sin(product + x) - product
    return f


def test_long_chains_go_through_every_door():
    gc.collect()
    before = known_nodes()
    f = chain(8_000)
    values = {x: 0.1, y: 0.2}
    value = evaluate(f, values)
    slopes = gradient(f, [x, y])
    assert len(jacobian([f], [x, y])) == 2
    (along,) = directional([f], {x: 1})
    # the two modes sum thousands of terms in opposite orders
    assert evaluate(along, values) == pytest.approx(evaluate(slopes[0], values), rel=1e-9)
    (moved,) = substitute([f], {x: z})
    assert evaluate(moved, {z: 0.1, y: 0.2}) == value
    assert pickle.loads(pickle.dumps(f)) is f
    assert len(fingerprint([f])) == 40
    assert len(to_text(f)) > 8_000
    assert len(to_latex(f)) > 8_000
    assert len(repr(f)) < 3000
    assert value in evaluate(f, values, INTERVAL)
    assert evaluate(f, {}, residues()) >= 0
    assert evaluate(to_floats([f]), values) == [value]
    assert expanded([f]) == [f]
    del f, slopes, along, moved
    assert known_nodes() == before


def test_deep_stacks_of_special_rows():
    f = x
    for _ in range(500):
        f = stumpff(1, f)
    (plain,) = expanded([f])
    assert evaluate(plain, {x: 0.3}) == pytest.approx(evaluate(f, {x: 0.3}), rel=1e-12)


MEASURED = """
import gc, tracemalloc
from liaison.expr import known_nodes, sin, symbol
x, y = symbol("x"), symbol("y")
gc.collect()
before = known_nodes()
tracemalloc.start()
f = x
for _ in range(10_000):
    product = f * y
    f = sin(product + x) - product
per_node = tracemalloc.get_traced_memory()[0] / (known_nodes() - before)
del f, product
gc.collect()
print(per_node, tracemalloc.get_traced_memory()[0])
"""


def test_memory_of_nodes_is_bounded_and_given_back():
    """In a process of its own: a table of many nodes of others would be counted as it grows."""
    done = subprocess.run([sys.executable, "-c", MEASURED], capture_output=True, check=True)
    per_node, left = map(float, done.stdout.split())
    # node 72, hash 32, reference 88 bytes, its place in the table up to 84: the limit is 300
    assert per_node < 300
    # the table of names keeps its size until it is used again: 84 bytes for each place
    assert left < 40_000 * 90


def resident_megabytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_a_million_nodes():
    gc.collect()
    before, memory = known_nodes(), resident_megabytes()
    with collector_paused():
        start = time.process_time()
        f = chain(1_000_000)
        grown = resident_megabytes() - memory
        print(f"\n10⁶ nodes: {time.process_time() - start:.2f} s, {grown:.0f} MB")
        # 250 bytes a node while the table of names has just doubled
        assert grown < 300
        assert len(topological(f)) == 1_000_002
        assert evaluate(f, {x: 0.1, y: 0.2}) == pytest.approx(0.09971262042145679, rel=1e-12)
        assert pickle.loads(pickle.dumps(f)) is f
        assert len(fingerprint([f])) == 40
        assert to_text(f).count("\n") > 10_000
        slopes = gradient(f, [x, y])
        assert all(s is not f for s in slopes)
        del f, slopes
    assert known_nodes() == before
