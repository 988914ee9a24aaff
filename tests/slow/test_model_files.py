"""Model files at their size: a large one is not read before it is used, and a killed writer leaves no half file."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from linnaeus import store
from linnaeus.types import State

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

MEASURE = """
import json, sys
from pathlib import Path
from linnaeus import store

def resident():
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])

load = store.load  # the modules it needs are imported now
before = resident()
state = load(sys.argv[1], later=lambda _: ["w"])  # as weights of classifiers are: checked as they are used
after = resident()
last = float(state.tensors["w"][-1, -1])
print(json.dumps({"raised": after - before, "last": last, "touched": resident() - before}))
"""
WRITE = """
import sys
import numpy as np
from linnaeus import store
from linnaeus.types import State

number = 0
while True:
    number += 1
    store.save(sys.argv[1], State({"number": number}, {"w": np.full(200_000, number)}))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read as Linux tells it")
def test_a_large_file_takes_no_memory_before_it_is_used(tmp_path: Path) -> None:
    W = np.ones((5_000_000, 20), np.float32)
    W[-1, -1] = 3
    store.save(tmp_path / "a.lin", State({}, {"w": W}))
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, tmp_path / "a.lin"], capture_output=True, text=True, check=True
    )
    found = json.loads(done.stdout)
    (tmp_path / "a.lin").unlink()
    assert found["last"] == 3
    assert found["raised"] < 2_000_000
    assert found["touched"] < 4_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed otherwise there")
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    rng, seen = random.Random(0), set()
    for _ in range(60):
        path = tmp_path / "a.lin"
        writer = subprocess.Popen([sys.executable, "-c", WRITE, path])
        try:
            while not path.exists():
                time.sleep(0.01)
            time.sleep(rng.random() * 0.05)
        finally:
            writer.kill()
            writer.wait()
        state = store.load(path, verify=True)
        assert set(state.tensors["w"].tolist()) == {state.manifest["number"]}
        seen.add(state.manifest["number"])
        if rng.random() < 0.5:
            path.unlink()
    assert len(seen) > 1
