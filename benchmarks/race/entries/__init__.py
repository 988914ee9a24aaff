"""Who takes part. One file a library; the libraries are imported when their first fit is asked for."""

from __future__ import annotations

from race.entries import cyanure, liblinear, linnaeus, scikit, skglm, snapml
from race.entries.base import Entry, Task

ENTRIES: dict[str, Entry] = {
    entry.name: entry for module in (linnaeus, liblinear, cyanure, snapml, scikit, skglm) for entry in module.ENTRIES
}
OURS = "linnaeus"
MODULES = {
    "linnaeus": "linnaeus",
    "liblinear": "liblinear.liblinearutil",
    "cyanure": "cyanure.estimators",
    "snapml": "snapml",
    "sklearn": "sklearn",
    "skglm": "skglm",
}

__all__ = ["ENTRIES", "MODULES", "OURS", "Entry", "Task"]
