"""A tagger as manifest and tensors: what stands in a `.lin` file. No pickle, no code, no sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.errors import ModelFileError, damaged
from linnaeus.features.tokens.fitted import unpack as templates_of
from linnaeus.learners.chain.weights import SEARCHES, ChainWeights
from linnaeus.model.file import refusing
from linnaeus.model.manifests import check_manifest
from linnaeus.model.tagger import TagModel
from linnaeus.store.states import field, pack_strings, unpack_strings
from linnaeus.tasks.tag.encoding import allowed
from linnaeus.types import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.features.restore import Functions
    from linnaeus.types import Json

KIND = "tagger"
LARGEST = 1e20
"""Of a weight: the score of a tagging is a sum over all tokens in float32, which ends at 3e38."""


def state_of(model: TagModel) -> State:
    """Manifest and tensors from which `tagger_of` builds the same model."""
    features = model.features.state()
    manifest: dict[str, Json] = {
        "kind": KIND,
        "recipe": model.recipe.to_json(),
        "features": features.manifest,
        "search": model.weights.search,
        "facts": model.facts,
    }
    tensors = {f"features.{name}": array for name, array in features.tensors.items()}
    tensors |= {"params.W": model.weights.W, "params.shared": model.weights.shared}
    tensors |= pack_strings("tags", model.tags)
    if model.words:
        tensors |= pack_strings("words", list(model.words))
        tensors["word_tags"] = np.array(list(model.words.values()), np.int32)
    return State(manifest, tensors)


def tagger_of(state: State, functions: Functions | None = None) -> TagModel:
    """The tagger again; a file that does not fit together is refused with a sentence. It has no functions."""
    del functions
    manifest, tensors = state.manifest, state.tensors
    if manifest.get("kind") != KIND:
        raise ModelFileError("The file holds no tagger; it was not written by `linnaeus train` or `save` of one.")
    with refusing():
        check_manifest(KIND, manifest)
        own = {n.removeprefix("features."): array for n, array in tensors.items() if n.startswith("features.")}
        features = templates_of(State(field(manifest, "features", dict), own))
        weights = ChainWeights(tensors["params.W"], tensors["params.shared"], field(manifest, "search", str))
        tags = unpack_strings("tags", tensors)
        facts = dict(field(manifest, "facts", dict))
        model = TagModel(field(manifest, "recipe", dict), features, weights, tags, _words(tensors), facts)
        _check(model)
    return model


def _words(tensors: Mapping[str, NDArray[Any]]) -> dict[str, int]:
    if "words.bytes" not in tensors:
        return {}
    words, tags = unpack_strings("words", tensors), tensors["word_tags"]
    if tags.dtype != np.int32 or tags.shape != (len(words),):
        raise damaged("the tags of its words do not fit them")
    return dict(zip(words, tags.tolist(), strict=True))


def _check(model: TagModel) -> None:
    """That the parts fit each other: what a hostile file could otherwise make a kernel read."""
    W, shared, k = model.weights.W, model.weights.shared, len(model.tags)
    if W.dtype != np.float32 or shared.dtype != np.float32 or W.ndim != 2 or shared.ndim != 2:
        raise damaged("its weights are not tables of float32")
    if not k or W.shape != (model.features.width, k) or shared.shape not in ((1 + k, k), (1 + k + k * k, k)):
        raise damaged("its weights do not fit its features and tags")
    if not (np.isfinite(W).all() and np.isfinite(shared).all()):
        raise damaged("a weight is not a number")
    if any(part.size and max(part.max(), -part.min()) > LARGEST for part in (W, shared)):
        raise damaged(f"a weight is larger than {LARGEST:g}, and scores of taggings would overflow")
    if model.weights.search not in SEARCHES:
        raise damaged("its search method is unknown")
    if len(set(model.tags)) != k or not all(0 <= tag < k for tag in model.words.values()):
        raise damaged("its tags do not fit each other")
    allowed(model.tags, model.recipe.encoding)
