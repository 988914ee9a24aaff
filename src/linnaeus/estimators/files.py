"""Fitted faces in model files: the recipe as JSON, weights and labels as tensors. No pickle, no code, no texts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.erm import Record, Trace
from linnaeus.errors import UsageError, damaged, damaged_or_newer
from linnaeus.learners.linear.streaming import Memory
from linnaeus.store.states import pack_labels, unpack_labels
from linnaeus.types import State

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.features.restore import Functions
    from linnaeus.types import Json

KIND, PAIRS = "linear face", "pairs"


def state_of(face: Any) -> State:
    """Manifest and tensors from which `face_of` builds the same model."""
    if "params_" not in face.__dict__:
        raise UsageError(f"Only fitted models are saved; call fit on this {type(face).__name__} first.")
    recipe = {name: _plain(value) for name, value in face.get_params(deep=False).items() if name != "progress"}
    memory = face.__dict__.get("memory_", Memory())
    manifest: dict[str, Json] = {
        "kind": KIND,
        "face": type(face).__name__,
        "recipe": recipe,
        "iterations": face.n_iter_,
        "reason": face.trace_.reason,
        "batches": memory.batches,
        "rows": memory.rows,
    }
    tensors = {f"params.{name}": value for name, value in face.params_.items()}
    tensors |= {f"memory.{name}": value for name, value in memory.state.items() if np.isfinite(value).all()}
    if "feature_names_in_" in face.__dict__:
        tensors |= pack_labels("features", face.feature_names_in_)
    if "classes_" in face.__dict__:
        manifest |= {"form": face.form_, "space": _plain(face.space_)}
        tensors |= pack_labels("classes", face.classes_)
    else:
        manifest["one_target"] = bool(face.one_target_)
    return State(manifest, tensors)


def face_of(state: State, functions: Functions | None = None) -> Any:
    """The fitted face again; it takes rows of numbers, and so has no functions."""
    del functions
    from linnaeus.estimators.faces import FACES
    from linnaeus.model.file import refusing
    from linnaeus.model.manifests import FACE, check_manifest
    from linnaeus.recipes.field_types import unfit

    manifest = state.manifest
    known = {face.__name__: face for face in FACES.values()}
    if manifest.get("kind") != KIND or str(manifest.get("face")) not in known:
        raise damaged_or_newer("it holds no linear model that is known here")
    with refusing():
        check_manifest(manifest, FACE)
        recipe = {name: _parameter(name, value) for name, value in manifest["recipe"].items()}
        wrong = unfit(recipe, known[manifest["face"]].__init__)
        if wrong is not None:
            raise damaged(f"the entry 'recipe.{wrong}' of its manifest is of another type")
        face: Any = known[manifest["face"]](**recipe)
        _restore(face, manifest, state.tensors)
    return face


def _plain(value: Any) -> Json:
    """A parameter as in a recipe; but a path is its text, and keys of a mapping, which are labels, keep their type."""
    from linnaeus.recipes.codec import encode

    if isinstance(value, Mapping):
        return {PAIRS: [[encode(key), encode(item)] for key, item in value.items()]}
    return os.fspath(value) if isinstance(value, os.PathLike) else encode(value)


def _parameter(name: str, value: Json) -> Any:
    from linnaeus.recipes.codec import decode

    if isinstance(value, dict) and PAIRS in value:
        return {decode("key", key): decode("value", item) for key, item in value[PAIRS]}
    return decode(name, value)


def _restore(face: Any, manifest: dict[str, Json], tensors: dict[str, NDArray[Any]]) -> None:
    face.params_ = _below("params", tensors)
    face.trace_ = Trace([Record(int(manifest["iterations"]), 0.0)], str(manifest["reason"]))
    memory = Memory(int(manifest["batches"]), int(manifest["rows"]), _below("memory", tensors))
    if memory.batches:
        face.memory_ = memory
    W, b = face.params_["W"], face.params_.get("b")
    if W.ndim != 2 or W.dtype != np.float32 or (b is not None and b.shape != W.shape[1:]):
        raise damaged("weights and biases do not fit each other")
    face.n_features_in_ = W.shape[0]
    names = unpack_labels("features", tensors)
    if names is not None:
        face.feature_names_in_ = names.astype(object)
    if "one_target" in manifest:
        face.one_target_ = bool(manifest["one_target"])
        return
    face.form_, face.space_ = manifest["form"], _parameter("output", manifest["space"])
    face.classes_ = unpack_labels("classes", tensors)
    if face.classes_ is None or face.space_.width(len(face.classes_)) != W.shape[1]:
        raise damaged("classes and weights do not fit each other")


def _below(name: str, tensors: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {path.removeprefix(f"{name}."): value for path, value in tensors.items() if path.startswith(f"{name}.")}
