"""Classifiers of strangers: whole files whose digests are right, and whose parts do not fit each other.

`hostile_states(state)` gives more than fifty, from any trained classifier. `use_model(path)` loads a file and asks it
everything: what a tampered file could make a kernel read, it would read here.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from linnaeus.errors import DataError, UsageError
from linnaeus.store.states import pack_strings
from linnaeus.types import State

TEXTS = ["a good film", "so bad", "", "nothing known here", "x" * 300, "\U0001f600 g\u00fct\u0301"]


def use_model(path: str | Path) -> object:
    """Load a classifier and ask it everything a person could; what it refuses to answer is no failure."""
    from linnaeus import Model

    model = Model.load(path)
    model.scores(TEXTS)
    model.predict(TEXTS)
    if model.classes is not None:
        model.probabilities(TEXTS)
        model.classify(TEXTS[0])
        for abstain in ("confidence=0.9", "coverage=0.9", "scope=0.9"):
            with suppress(UsageError):  # this model has learned nothing of it, and says so
                model.predict(TEXTS, abstain)
    with suppress(UsageError, DataError):
        model.explain(TEXTS[0]).to_json()
    if model.params:
        model.top_features(3)
    _ = model.recipe.to_json(), model.evaluation
    return model


def load_model(path: str | Path) -> object:
    """Only load it."""
    from linnaeus import Model

    return Model.load(path)


def hostile_states(state: State) -> Iterator[tuple[str, State]]:
    """States that cannot be those of a classifier, one reason each."""
    for name, tensors in _tensors(state.tensors):
        yield name, State(state.manifest, tensors)
    for name, changes in _manifests().items():
        manifest = copy.deepcopy(state.manifest)
        for route, value in changes.items():
            _put(manifest, route.split("/"), value)
        yield name, State(manifest, state.tensors)


def _tensors(tensors: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    W, b = tensors["params.W"], tensors["params.b"]
    d, w = W.shape
    offsets = tensors["classes.offsets"]
    changes: dict[str, dict[str, Any]] = {
        "weights of fewer features": {"params.W": W[:-1]},
        "weights of more features": {"params.W": np.vstack([W, W])},
        "weights of more scores": {"params.W": np.hstack([W, W])},
        "weights of no scores": {"params.W": W[:, :0]},
        "weights of no features": {"params.W": W[:0]},
        "weights turned over": {"params.W": np.ascontiguousarray(W.T)},
        "weights flat": {"params.W": W.reshape(-1)},
        "weights with three axes": {"params.W": W[None]},
        "weights of doubles": {"params.W": W.astype(np.float64)},
        "weights of halves": {"params.W": W.astype(np.float16)},
        "weights of whole numbers": {"params.W": W.astype(np.int32)},
        "biases of more scores": {"params.b": np.concatenate([b, b])},
        "biases of fewer scores": {"params.b": b[:-1]},
        "biases of doubles": {"params.b": b.astype(np.float64)},
        "biases as a matrix": {"params.b": b[None]},
        "a third parameter": {"params.extra": b},
        "weights and biases swapped": {"params.W": b, "params.b": W},
        "two sets of weights": {"weights.codes": W},
        "codes of bytes without weights": {"params.W": None, "weights.codes": np.zeros((d, w), np.int8)},
        "codes without scales": {"params.W": None, "weights.codes": np.zeros((d, w), np.float16)},
        "codes with scales of others": {
            "params.W": None,
            "weights.codes": np.ones((d, w), np.int8),
            "weights.scales": np.ones((d + 1, 1), np.float32),
        },
        "codes that overflow": {
            "params.W": None,
            "weights.codes": np.full((d, w), 127, np.int8),
            "weights.scales": np.full((1, 1), 3e38, np.float32),
        },
        "sparse codes out of range": {
            "params.W": None,
            **_sparse(np.array([w + 5] * d, np.uint8), np.ones(d, np.uint8), w),
        },
        "sparse codes that explode": {
            "params.W": None,
            **_sparse(np.zeros(d, np.uint8), np.ones(d, np.uint8), 1 << 40),
        },
        "sparse codes that count too much": {
            "params.W": None,
            **_sparse(np.zeros(d, np.uint8), np.full(d, 255, np.uint8), w),
        },
        "no classes": {"classes.offsets": None, "classes.bytes": None},
        "one class": pack_strings("classes", ["a"]),
        "a class more": pack_strings("classes", ["a", "b", "c", "d", "e", "f", "g"]),
        "classes with one very long name": pack_strings("classes", ["x" * (1 << 20), "a"]),
        "classes whose offsets run back": {"classes.offsets": offsets[::-1].copy()},
        "classes whose offsets run out": {"classes.offsets": offsets + 1},
        "classes whose offsets are huge": {"classes.offsets": np.full_like(offsets, 2**62)},
        "classes that are not UTF-8": {"classes.bytes": np.full_like(tensors["classes.bytes"], 0xFF)},
        "classes of numbers with two axes": {"classes.numbers": np.zeros((2, 2), np.int64)},
        "classes of no numbers": {"classes.numbers": np.zeros(0, np.int64)},
        "classes of raw bytes without room": {"classes.raw": np.zeros((2, 0), np.uint8)},
        "classes of an unknown time": {"classes.offsets": None, "classes.datetime64[parsec]": np.zeros(2, np.int64)},
    }
    for name, change in changes.items():
        yield name, {key: value for key, value in {**tensors, **change}.items() if value is not None}
    for part in ("features", "decision", "params", "classes"):
        yield f"nothing of its {part}", {key: array for key, array in tensors.items() if not key.startswith(part)}
    yield from _swapped(tensors)


def _sparse(columns: Any, counts: Any, width: int) -> dict[str, Any]:
    return {
        "weights.codes": np.ones(len(columns), np.int8),
        "weights.columns": columns,
        "weights.counts": counts,
        "weights.width": np.array([width], np.int64),
        "weights.scales": np.ones((1, 1), np.float32),
    }


def _swapped(tensors: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tensors of one type under each other's names, digests and all."""
    names = sorted(tensors)
    for a, b in pairwise(names):
        if tensors[a].dtype == tensors[b].dtype and tensors[a].shape != tensors[b].shape:
            yield f"{a} and {b} swapped", {**tensors, a: tensors[b], b: tensors[a]}


def _manifests() -> dict[str, dict[str, Any]]:
    deep: Any = {"kind": "narrowed"}
    for _ in range(90):
        deep = {"kind": "union", "blocks": [deep]}
    many = {"kind": "union", "blocks": [{"kind": "shape"}] * 50_000}
    return {
        "another kind": {"kind": "features"},
        "no kind": {"kind": None},
        "a recipe that is a list": {"recipe": []},
        "a recipe with unknown features": {"recipe/features": {"kind": "os.system"}},
        "a recipe with an unknown loss": {"recipe/learner/loss": {"kind": "__import__"}},
        "a recipe with an unknown optimizer": {"recipe/learner/optimizer": {"kind": "builtins.exec"}},
        "a recipe with an unknown entry": {"recipe/run": "rm -rf"},
        "a recipe of numbers": {"recipe/learner": 7},
        "an unknown form": {"form": "triple"},
        "label sets over single labels": {"form": "lists"},
        "an unknown space": {"space": {"kind": "hilbert"}},
        "another space": {"space": {"kind": "real"}},
        "a space with huge costs": {"space": {"kind": "multiclass", "costs": [[1e308] * 3] * 3}},
        "a space that is no table": {"space": 3},
        "features of an unknown kind": {"features": {"kind": "pickle"}},
        "features that are a list": {"features": []},
        "features in features": {"features": deep},
        "fifty thousand features": {"features": many},
        "no decision": {"decision": None},
        "a decision that is features": {"decision": {"kind": "terms", "blocks": []}},
        "a decision without parts": {"decision": {"kind": "decision", "abstain": None, "least": 0, "blocks": []}},
        "a decision of unknown parts": {
            "decision": {"kind": "decision", "abstain": None, "least": 0, "blocks": [{"kind": "eval"}]}
        },
        "an evaluation of nothing": {"evaluation": {}},
        "an evaluation of text": {"evaluation": {"metrics": {"accuracy": "high"}}},
        "an evaluation that is a list": {"evaluation": []},
        "facts that are a number": {"facts": 5},
    }


def _put(manifest: Any, route: list[str], value: Any) -> None:
    for key in route[:-1]:
        manifest = manifest[key]
    manifest[route[-1]] = value
