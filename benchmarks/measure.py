"""Shared by the benchmarks: medians of several runs, printed as JSON lines, and what machine they ran on."""

from __future__ import annotations

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any


def data_folder() -> Path:
    """The folder of real data sets: LINNAEUS_DATA, else ../shared/data beside the repository."""
    folder = Path(os.environ.get("LINNAEUS_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    if not folder.is_dir():
        sys.exit(f"no data sets in {folder}; set LINNAEUS_DATA to their folder")
    return folder


def clock(work: Callable[[], Any], runs: int, warm: int = 1) -> dict[str, float]:
    """Median, least and number of the wall times of `work`, after `warm` runs that do not count."""
    times = []
    for run in range(warm + runs):
        start = time.perf_counter()
        result = work()
        seconds = time.perf_counter() - start
        del result
        if run >= warm:
            times.append(seconds)
    return {"seconds": statistics.median(times), "best": min(times), "runs": runs}


def say(**fields: Any) -> None:
    """One JSON line; seconds and rates rounded to what they are worth."""
    short = {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in fields.items()}
    print(json.dumps(short), flush=True)


def say_machine(**versions: str) -> None:
    """The date, the machine and the versions."""
    names = [line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")]
    say(
        what="machine",
        date=date.today().isoformat(),
        cpu=names[0] if names else platform.processor(),
        cores=os.cpu_count(),
        load=[round(value, 2) for value in os.getloadavg()] if hasattr(os, "getloadavg") else None,
        python=platform.python_version(),
        **versions,
    )


def _cpuinfo() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []
