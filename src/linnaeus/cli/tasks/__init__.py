"""Verbs for models other than text classifiers: taggers, rankers, pipelines.

A task is a module with `train`, `test`, `predict`, `explain` and `inspect`, each of which takes what the verb of that
name takes and gives its exit code. The verb asks `open_model` whose model a file holds, or `of_data` what data are, and
hands over. Without a task the file holds a classifier of texts, and the verb does the work itself.

To add a task: its module, and a row in `TASKS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linnaeus.types import State

TASKS = {"tagger": "tag", "ranker": "rank", "stack": "pipeline"}
"""The module of each kind of model that is no classifier."""

CHECKED = "all tensors were checked"
"""The message about the digests of a small file, and of a verified one."""

NAMES = {"tag": "tag", "rank": "rank"}
"""What `--task` calls them, where data show it."""


def open_model(path: str, verify: bool | None = None, data: str | None = None) -> tuple[Any | None, State]:
    """The task of the model in a file, and its state; no task for a classifier, and for what is no model at all.

    If it is no model, but `data` is one, the arguments are in the wrong order.
    """
    from linnaeus import store
    from linnaeus.errors import ModelFileError, UsageError
    from linnaeus.model.opening import weights_later
    from linnaeus.store.layout import is_model

    try:
        state = store.load(path, verify, weights_later)
    except ModelFileError as error:
        if data is None or is_model(path) or not is_model(data):
            raise
        raise UsageError(f"{path} is not a model, but {data} is; give the model first, then the data.") from error
    name = TASKS.get(str(state.manifest.get("kind")))
    return None if name is None else import_module(f"linnaeus.cli.tasks.{name}"), state


def digests(state: State) -> str:
    """Which tensors of a file were checked against their digests."""
    from linnaeus.render import size

    if not state.guards:
        return CHECKED
    held = size(sum(guard.array.nbytes for guard in state.guards.values()))
    if any(guard.kernel is None for guard in state.guards.values()):
        return f"NOT CHECKED for {held} of tensors; --verify checks them"
    return f"NOT CHECKED for {held} of weights: each block is checked when it is first used; --verify checks all now"


def of_data(data: str, options: dict[str, Any]) -> Any | None:
    """The task that `--task`, or the columns of the data, ask for; None for texts with labels."""
    if _is_pipeline(options["name"]):
        return import_module("linnaeus.cli.tasks.pipeline")
    asked = options["task"]
    if asked not in ("auto", *NAMES):
        return None
    name = asked if asked in NAMES else _guessed(data, options)
    return None if name is None else import_module(f"linnaeus.cli.tasks.{NAMES[name]}")


def _is_pipeline(name: str | None) -> bool:
    """Whether a recipe is a file that has stages."""
    from pathlib import Path

    if name is None or not name.endswith((".toml", ".json")) or not Path(name).is_file():
        return False
    from linnaeus.recipes.toml import read_table

    return "stages" in read_table(name)


def _guessed(data: str, options: dict[str, Any]) -> str | None:
    """Lists of tokens are to be tagged, lists of candidates to be ranked; who names a text wants it classified."""
    from linnaeus.data.sentence_reading import columns_of
    from linnaeus.errors import LinnaeusError

    if data == "-" and not options["format"]:
        return None
    try:
        lists = columns_of(data, format=options["format"], split=options["split"])
    except LinnaeusError:
        return None  # who reads the data says what is wrong with them
    if "candidates" in lists or "choices" in lists:
        return "rank"
    return "tag" if options["text"] in (None, *lists) and "tokens" in lists else None
