"""The page of `test` for models whose metrics are all better when higher, and the check of `--min`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linnaeus.cli import options as shared
from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.render import Page
    from linnaeus.types import Json


def show(told: dict[str, Json], metrics: Mapping[str, float], page: Page, options: dict[str, Any]) -> int:
    """The scores as JSON or as a page; the exit code is 1 if a metric is below its bound."""
    if options["most"]:
        raise UsageError("--max is for metrics where lower is better; use --min for these.")
    missed = [text for text in options["least"] if not _kept(metrics, text)]
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        screen.write(json.dumps(told | {"missed": missed}, ensure_ascii=False) + "\n")
    else:
        screen.show(page)
        for text in missed:
            shared.remark(f"{text} is not reached", options)
    return 1 if missed else 0


def _kept(metrics: Mapping[str, float], text: str) -> bool:
    """Whether METRIC=VALUE is reached; names are written with hyphens or underscores.

    >>> _kept({"recall-at-3": 0.9}, "recall_at_3=0.8")
    True
    """
    name, sign, value = text.partition("=")
    found = metrics.get(name.replace("_", "-"))
    try:
        wanted = float(value)
    except ValueError:
        sign = ""
    if not sign or found is None:
        raise UsageError(f"--min takes METRIC=VALUE with one of {', '.join(metrics)}, not {text!r}.")
    return found >= wanted
