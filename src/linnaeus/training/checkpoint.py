"""Checkpoints of a training: the answers of folds that are done, and where the last training of all was.

The same data, recipe and version go on to the same bits; the file is gone when the training is done.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

import linnaeus
from linnaeus.evaluation.facts import Facts
from linnaeus.store.parts import Part, PartsFile
from linnaeus.store.states import pack_strings, unpack_strings
from linnaeus.tasks.examples import Examples, Leg
from linnaeus.training.fingerprint import fingerprint
from linnaeus.types import Arrays, LabelSets, State

if TYPE_CHECKING:
    from linnaeus.recipes.recipe import Recipe
    from linnaeus.tasks.base import Evaluated

SETS = ("truth", "predicted", "right")


def open_checkpoint(path: str | os.PathLike[str], recipe: Recipe, examples: Examples) -> PartsFile:
    """The file of a training: of this recipe on these examples with this version, or refused."""
    plan = json.dumps(recipe.to_json(), sort_keys=True)
    mark = f"{linnaeus.__version__}\n{plan}\n{fingerprint(examples, recipe.task)}"
    return PartsFile(path, hashlib.sha256(mark.encode()).hexdigest())


@contextmanager
def closing(file: PartsFile | None) -> Iterator[None]:
    """Around a training: its file is gone when it is done, and written when it is interrupted."""
    try:
        yield
    except BaseException:
        if file is not None:
            file.write()
        raise
    if file is not None:
        file.done()


def kept_legs(place: Part | None, walk: Callable[[], list[Leg]]) -> list[Leg]:
    """The legs of a fold: those of a checkpoint, or made now and kept."""
    if place is None:
        return walk()
    state = place.get()
    if state is not None:
        return _legs_of(state)
    found = walk()
    place.put(_state_of(found))
    return found


def _state_of(legs: list[Leg]) -> State:
    tensors: Arrays = {"scores": np.array([leg.score for leg in legs])}
    for i, leg in enumerate(legs):
        part = {"rows": leg.answers} if isinstance(leg.answers, np.ndarray) else _facts_state(leg.answers)
        tensors |= {f"{i}.{name}": array for name, array in part.items()}
    return State({"task": None if isinstance(legs[0].answers, np.ndarray) else legs[0].answers.task}, tensors)


def _legs_of(state: State) -> list[Leg]:
    found = []
    for i, score in enumerate(state.tensors["scores"].tolist()):
        own = {name.removeprefix(f"{i}."): a for name, a in state.tensors.items() if name.startswith(f"{i}.")}
        found.append(Leg(own["rows"] if "rows" in own else _facts_of(state.manifest["task"], own), score))
    return found


def _facts_state(facts: Facts) -> Arrays:
    tensors = {"weights": facts.weights, **pack_strings("classes", facts.classes)}
    for name in SETS:
        if (sets := getattr(facts, name)) is not None:
            tensors |= {f"{name}.offsets": sets.offsets, f"{name}.labels": sets.labels}
    return tensors | {f"values.{name}": array for name, array in facts.values.items()}


def _facts_of(task: Evaluated, tensors: Arrays) -> Facts:
    sets = [
        LabelSets(tensors[f"{name}.offsets"], tensors[f"{name}.labels"]) if f"{name}.offsets" in tensors else None
        for name in SETS
    ]
    values = {name.removeprefix("values."): a for name, a in tensors.items() if name.startswith("values.")}
    classes = tuple(unpack_strings("classes", tensors))
    assert sets[0] is not None
    assert sets[1] is not None
    return Facts(task, classes, tensors["weights"], sets[0], sets[1], values, right=sets[2])
