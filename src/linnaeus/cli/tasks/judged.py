"""The page of `test` for models whose metrics are all better when higher, and the check of `--min`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from linnaeus.cli import options as shared
from linnaeus.cli.bounds import refuse_no_share
from linnaeus.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from linnaeus.render import Page
    from linnaeus.types import Json


def show(told: dict[str, Json], metrics: Mapping[str, float], page: Page, options: dict[str, Any]) -> int:
    """The scores as JSON or as a page; the exit code is 1 if a metric is below its bound."""
    if options["most"]:
        raise UsageError("--max is for metrics where lower is better; use --min for these.")
    wanted = [_bound(metrics, text) for text in options["least"]]
    missed = [(name, value) for name, value in wanted if metrics[name] < value]
    screen = shared.stdout_screen(options)
    if options["as_json"]:
        below = [{"metric": name.replace("-", "_"), "wanted": value} for name, value in missed]
        screen.write(json.dumps(told | {"missed": below}, ensure_ascii=False) + "\n")
    else:
        screen.show(page)
    for name, value in missed:
        said = f"{name.replace('-', '_')} is {metrics[name]:.4f}, below {value:g}"
        shared.remark(said, {**options, "quiet": False})
    return 1 if missed else 0


def _bound(metrics: Mapping[str, float], text: str) -> tuple[str, float]:
    """The metric and the value of METRIC=VALUE; names are written with hyphens or underscores.

    >>> _bound({"recall-at-3": 0.9}, "recall_at_3=0.8")
    ('recall-at-3', 0.8)
    """
    name, sign, value = text.partition("=")
    name = name.replace("_", "-")
    try:
        wanted = float(value)
    except ValueError:
        sign = ""
    if not sign or wanted != wanted:
        raise UsageError(f"--min takes METRIC=VALUE with one of {', '.join(metrics)}, not {text!r}.")
    if name not in metrics:
        raise UsageError(f"There is no metric {name!r} here; {did_you_mean(name, metrics)}")
    refuse_no_share("--min", name, wanted)
    return name, wanted
