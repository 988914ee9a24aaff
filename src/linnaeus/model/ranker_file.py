"""A ranker as manifest and tensors: what stands in a `.lin` file."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.errors import ModelFileError, damaged
from linnaeus.features.pairs import restore_pairs
from linnaeus.features.restore import bound, check_functions
from linnaeus.model.file import refusing
from linnaeus.model.manifests import check_manifest
from linnaeus.model.ranker import RankModel
from linnaeus.recipes.rank_recipe import RankRecipe
from linnaeus.store.states import field, tensor
from linnaeus.types import State

KIND = "ranker"


def state_of(model: RankModel) -> State:
    """Manifest and tensors from which `ranker_of` builds the same model."""
    features = model.features.state()
    manifest = {"kind": KIND, "recipe": model.recipe.to_json(), "features": features.manifest, "facts": model.facts}
    tensors = {f"features.{name}": array for name, array in features.tensors.items()}
    return State(manifest, {**tensors, "weights": model.weights})


def ranker_of(state: State, functions: Any = None) -> RankModel:
    """The ranker again; a file that does not fit together is refused with a sentence."""
    if state.manifest.get("kind") != KIND:
        raise ModelFileError("The file holds no ranker; load a classifier with Classifier.load.")
    check_functions(functions)
    with refusing():
        check_manifest(KIND, state.manifest)
        inside = {
            name.removeprefix("features."): array
            for name, array in state.tensors.items()
            if name.startswith("features.")
        }
        recipe = RankRecipe.from_json(bound(field(state.manifest, "recipe", dict), functions))
        features = restore_pairs(State(field(state.manifest, "features", dict), inside), functions)
        weights = tensor(state.tensors, "weights", np.float32)
        if len(weights) != features.width or not np.isfinite(weights).all():
            raise damaged("its weights do not fit its features")
        return RankModel(recipe, features, weights, dict(field(state.manifest, "facts", dict)))
