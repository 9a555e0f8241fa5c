"""Large texts: a chain of 3000 bodies, and a model of 600 lines."""

import json
import subprocess
import sys

import pytest

MEASURED = """
import json, resource, sys, time
import liaison
from liaison.formats import read_lsd

def chain(n):
    lines = ["gravity = [0, 0, -9.81] m/s^2 ;"]
    for i in range(n):
        on = f"[0, 0, -10] cm @ b{i - 1}" if i else "earth"
        lines.append(f"let b{i} = body mass = 1 kg, center = [0, 0, -5] cm, "
                     "inertia = [1, 1, 0.1] g*m^2 end ;")
        lines.append(f"let J{i} = join {on} and b{i} with revolute axis = [0, 1, 0] end ;")
    return "\\n".join(lines)

n = int(sys.argv[1])
read_lsd(chain(2))
begin = time.process_time()
summary = liaison.check(read_lsd(chain(n)))
taken = time.process_time() - begin
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"freedoms": summary.freedoms, "seconds": taken, "MB": memory}))
"""


# the aims are 2 s and 0.3 s on a machine of one's own; twice that where others use it too
@pytest.mark.slow
@pytest.mark.parametrize(("bodies", "seconds"), [(3000, 4.0), (300, 0.6)])
def test_a_long_chain_is_read_and_checked_in_time_and_memory(bodies, seconds):
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(bodies)], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    print(found)
    assert found["freedoms"] == bodies
    assert found["seconds"] < seconds
    assert found["MB"] < 500
