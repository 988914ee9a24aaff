"""A ranker as manifest and tensors: what stands in a `.lin` file."""

from __future__ import annotations

from typing import Any

import numpy as np

from linnaeus.errors import ModelFileError, damaged
from linnaeus.features.pairs import restore_pairs
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
    with refusing():
        check_manifest(KIND, state.manifest)
        inside = {
            name.removeprefix("features."): array
            for name, array in state.tensors.items()
            if name.startswith("features.")
        }
        recipe = RankRecipe.from_json(_with(field(state.manifest, "recipe", dict), functions or {}))
        features = restore_pairs(State(field(state.manifest, "features", dict), inside), functions)
        weights = tensor(state.tensors, "weights", np.float32)
        if len(weights) != features.width or not np.isfinite(weights).all():
            raise damaged("its weights do not fit its features")
        return RankModel(recipe, features, weights, dict(field(state.manifest, "facts", dict)))


def _with(value: Any, functions: Any) -> Any:
    """The recipe with functions in the places of their names."""
    if isinstance(value, list):
        return [_with(item, functions) for item in value]
    if not isinstance(value, dict):
        return value
    found = {name: _with(item, functions) for name, item in value.items()}
    if found.get("kind") == "pair_function" and found.get("name") in functions:
        found["fn"] = functions[found["name"]]
    return found
