"""Trained models for the benchmarks of prediction: each is trained once, saved, and loaded from its file after that."""

from __future__ import annotations

import tempfile
from pathlib import Path

import linnaeus
from linnaeus.recipes import cookbook
from measure import data_folder, say

CACHE = Path(tempfile.gettempdir()) / "linnaeus-benchmarks"


def model_file(data: str, recipe: str) -> Path:
    """The file of a model that a named recipe learned from a data set's train part."""
    path = CACHE / f"{data}-{recipe}.lin"
    if not path.exists():
        say(what="training", data=data, recipe=recipe, into=str(path))
        CACHE.mkdir(exist_ok=True)
        rows = linnaeus.read(data_folder() / data / "train.parquet", text="text", label="label")
        cookbook.recipe(recipe).fit(rows).save(path)
    return path
