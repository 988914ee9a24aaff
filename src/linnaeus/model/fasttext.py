"""Classifiers of fastText as models: what `linnaeus import` makes of a `.bin` or `.ftz` file."""

from __future__ import annotations

import os

import numpy as np

from linnaeus.decision import FittedDecision
from linnaeus.decision.calibration import FittedLogarithms
from linnaeus.errors import ModelFileError, expect, label_fault
from linnaeus.features.fasttext import FastTextTerms, FittedFastTextTerms
from linnaeus.learners.fasttext import FastText, FittedFastText
from linnaeus.model.model import Model
from linnaeus.outputs import Multiclass
from linnaeus.recipes.recipe import Recipe
from linnaeus.store.fasttext import LOSSES, FastTextFile, Settings, read_fasttext
from linnaeus.tasks import Classify
from linnaeus.text.buffers import pack
from linnaeus.types import Array, Json

PREFIX = "__label__"


def import_fasttext(path: str | os.PathLike[str], prefix: str = PREFIX) -> Model:
    """Read a classifier that fastText saved (`.bin`, or quantized `.ftz`) as a model with the same predictions.

    `prefix` is what fastText puts before labels; it is taken off where every label begins with it. Probabilities are
    those that fastText prints (at most 1): with the losses "ova" and "ns" they do not add up to 1. A line break in a
    text counts as a space, because fastText reads texts of one line.

    >>> import linnaeus
    >>> with open("notes.bin", "w") as file:
    ...     _ = file.write("not a model")
    >>> linnaeus.import_fasttext("notes.bin")
    Traceback (most recent call last):
    linnaeus.errors.ModelFileError: notes.bin is not a model of fastText; give a .bin or .ftz file that it saved.
    """
    expect("path", path, os.PathLike)
    expect("prefix", prefix, str)
    found = read_fasttext(path)
    settings = found.settings
    terms = FastTextTerms(max(1, settings.wordNgrams), settings.minn, settings.maxn, settings.bucket)
    return Model(
        task=Classify(),
        plan=Recipe(features=terms, learner=_learner(settings)),
        features=FittedFastTextTerms(terms, len(found.inputs), found.words, pack(found.labels), found.pruned),
        params={},
        space=Multiclass(),
        classes=_classes(found, prefix, os.fspath(path)),
        form="single",
        decision=FittedDecision(FittedLogarithms("classes")),
        facts=_facts(),
        body=FittedFastText(LOSSES[settings.loss], found.inputs, found.outputs, found.counts),
    )


def _learner(settings: Settings) -> FastText:
    counts = {"epochs": settings.epoch, "min_count": settings.minCount, "negatives": settings.neg}
    return FastText(LOSSES[settings.loss], settings.dim, **counts)


def _facts() -> dict[str, Json]:
    import linnaeus

    return {"version": linnaeus.__version__, "imported": "fastText"}


def _classes(found: FastTextFile, prefix: str, where: str) -> Array:
    """The labels in the order of the file, without the prefix that all of them have."""
    try:
        labels = [label.decode() for label in found.labels]
    except UnicodeDecodeError as error:
        said = f"{where} has the label {error.object!r}, which is not UTF-8"
        raise ModelFileError(f"{said}; train it again on files in UTF-8.") from error
    if all(label.startswith(prefix) for label in labels):
        labels = [label.removeprefix(prefix) for label in labels]
    for label in labels:
        if (fault := label_fault(label)) is not None:
            raise ModelFileError(f"{where} has the label {label!r} with {fault}; train it again without that label.")
    if len(set(labels)) != len(labels):
        raise ModelFileError(f"{where} has the label {max(labels, key=labels.count)!r} twice; train it again.")
    return np.array(labels, dtype=str)
