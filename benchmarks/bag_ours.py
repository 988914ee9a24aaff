"""The child of benchmarks/bag.py: one embedding bag of ours. It imports nothing that training does not need.

    python bag_ours.py FOLDER SETTINGS

FOLDER has train.parquet and test.parquet and gets model.lin; SETTINGS is JSON: fields of `EmbeddingBag`, `ngrams` or
`parts`, the seed and the threads. Prints a JSON line when the model is saved, then one with the accuracy and the bytes.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

import linnaeus

BITS = 21


def recipe_of(settings: dict[str, Any], seed: int) -> Any:
    """Our recipe of these settings."""
    from linnaeus import Recipe
    from linnaeus.features import Hashed, Subwords, Words
    from linnaeus.learners.bag import EmbeddingBag

    settings = dict(settings)
    ngrams, parts = settings.pop("ngrams", 1), settings.pop("parts", None)
    terms = Hashed(bits=BITS, signed=False)
    features = Subwords(*parts, terms=terms) if parts else Words(ngrams=(1, ngrams), tokenizer="edges", terms=terms)
    return Recipe(features=features, learner=EmbeddingBag(**settings), seed=seed)


def main() -> None:
    """Train, save, say so; then judge."""
    folder, told = sys.argv[1:]
    settings = json.loads(told)
    seed, threads = settings.pop("seed"), settings.pop("threads")
    with linnaeus.threads(threads):
        began = time.perf_counter()
        model = recipe_of(settings, seed).fit(linnaeus.read(f"{folder}/train.parquet"))
        taught = time.perf_counter()
        model.save(f"{folder}/model.lin", force=True)
        print(json.dumps({"train_s": taught - began, "save_s": time.perf_counter() - taught}), flush=True)
        test = linnaeus.read(f"{folder}/test.parquet").batch()
        right = model.predict(test.text) == test.labels.to_numpy(zero_copy_only=False)
    size = os.path.getsize(f"{folder}/model.lin")  # noqa: PTH202
    print(json.dumps({"accuracy": float(right.mean()), "bytes": size}), flush=True)


if __name__ == "__main__":
    main()
