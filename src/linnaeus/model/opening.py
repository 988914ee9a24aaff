"""`load`: whatever model a file holds."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from linnaeus.errors import ModelFileError

if TYPE_CHECKING:
    from typing import TypeAlias

    from linnaeus.estimators.linear import LinearClassifier
    from linnaeus.estimators.regressor import LinearRegressor
    from linnaeus.features.restore import Functions
    from linnaeus.model.model import Classifier
    from linnaeus.model.ranker import RankModel
    from linnaeus.model.stack import StackModel
    from linnaeus.model.tagger import TagModel
    from linnaeus.types import State

    AnyModel: TypeAlias = Classifier | TagModel | RankModel | StackModel | LinearClassifier | LinearRegressor

KINDS = {
    "classifier": "linnaeus.model.file:classifier_of",
    "linear face": "linnaeus.estimators.files:face_of",
    "tagger": "linnaeus.model.tagger_file:tagger_of",
    "ranker": "linnaeus.model.ranker_file:ranker_of",
    "stack": "linnaeus.model.stack_file:stack_of",
}
"""How the model of each kind of file is built again."""


def load(path: str | os.PathLike[str], functions: Functions | None = None, verify: bool | None = None) -> AnyModel:
    """The model of a file that `save` or `linnaeus train` wrote: a classifier, a tagger, a ranker or a pipeline.

    A file holds the names of functions of yours, never the functions: pass them in, as `functions={name: fn}`.

    >>> import linnaeus
    >>> tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]]
    >>> linnaeus.TagRecipe().fit(tagged).save("pos.lin")
    >>> linnaeus.load("pos.lin").tag([["cats", "bark"]])
    [['N', 'V']]
    """
    from linnaeus import store

    return model_of(store.load(path, verify, weights_later), functions)


def weights_later(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Of a large classifier: its weights, of which a text needs a few rows, are checked when they are used."""
    return ("params.W",) if manifest.get("kind") == "classifier" else ()


def model_of(state: State, functions: Functions | None = None) -> AnyModel:
    """The model of a state that was read."""
    kind = str(state.manifest.get("kind"))
    if kind not in KINDS:
        raise ModelFileError(
            f"The file holds {kind[:40]!r}, a kind of model that this version does not know; upgrade Linnaeus."
        )
    module, _, name = KINDS[kind].partition(":")
    found: AnyModel = getattr(import_module(module), name)(state, functions)
    return found
