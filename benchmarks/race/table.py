"""The table at the end, from the JSON lines of a run: one row for a problem and a target."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

WANTED = {1: 1.0, 2: 0.6}
HEAD = (
    "| problem | C | within | best peer | its time | one thread | ratio | two threads | ratio | |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def ratios(lines: Iterable[str]) -> list[dict[str, Any]]:
    """The summary lines of a run."""
    rows = (json.loads(line) for line in lines if line.startswith("{"))
    return [row for row in rows if row.get("what") == "ratio"]


def markdown(rows: list[dict[str, Any]]) -> str:
    """For the README, with a count of what passes."""
    body = [_row(row) for row in rows]
    one = sum(row.get("pass_1") is True for row in rows)
    two = sum(row.get("pass_2") is True for row in rows)
    tail = f"One thread at most {WANTED[1]:g} of the best peer: {one} of {len(rows)}. "
    return "\n".join([HEAD, *body, "", tail + f"Two threads at most {WANTED[2]:g}: {two} of {len(rows)}."])


def _row(row: dict[str, Any]) -> str:
    peer = row["peer"] or "nobody in the time given"
    cells = [row["problem"], f"{row['C']:g}", f"{row['target']:g}", peer, _seconds(row["peer_s"])]
    for n in (1, 2):
        ratio, passed = row[f"ratio_{n}"], row[f"pass_{n}"]
        shown = "-" if ratio is None else f"{ratio:.2f}"
        cells += [_seconds(row[f"linnaeus_{n}_s"]), f"**{shown}**" if passed else shown]
    verdict = "pass" if row["pass_1"] and row["pass_2"] else "miss"
    return f"| {' | '.join([*cells, verdict])} |"


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g} s"
