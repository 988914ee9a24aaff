"""Models that a command names: opened, with what was checked of their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.errors import ModelFileError, UsageError
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.model.model import Model

CHECKED = "all tensors were checked"
"""The message about the digests of a small file, and of a verified one."""


def open_model(path: str, data: str | None = None) -> Model:
    """The model in a file. If it is no model, but `data` is one, the arguments are in the wrong order."""
    from linnaeus.model.file import model_of

    return model_of(read_state(path, data=data))


def read_state(path: str, verify: bool | None = None, data: str | None = None) -> State:
    """What a model file holds, before a model is made of it."""
    from linnaeus import store
    from linnaeus.model.file import weights_later
    from linnaeus.store.header import is_model

    try:
        return store.load(path, verify, weights_later)
    except ModelFileError as error:
        if data is None or is_model(path) or not is_model(data):
            raise
        raise UsageError(f"{path} is not a model, but {data} is; give the model first, then the data.") from error


def digests(state: State) -> str:
    """Which tensors of a file were checked against their digests."""
    from linnaeus.render import size

    if not state.guards:
        return CHECKED
    held = size(sum(guard.array.nbytes for guard in state.guards.values()))
    if any(guard.kernel is None for guard in state.guards.values()):
        return f"NOT CHECKED for {held} of tensors; --verify checks them"
    return f"NOT CHECKED for {held} of weights: each block is checked when it is first used; --verify checks all now"
