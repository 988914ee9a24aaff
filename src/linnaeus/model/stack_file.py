"""A pipeline as manifest and tensors: the states of its stages, one after the other, in one `.lin` file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from linnaeus.errors import ModelFileError, damaged
from linnaeus.features.restore import bound
from linnaeus.model import file as classifiers
from linnaeus.model import tagger_file as taggers
from linnaeus.model.file import refusing
from linnaeus.model.manifests import check_manifest
from linnaeus.model.stack import StackModel
from linnaeus.store.states import field
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.features.restore import Functions
    from linnaeus.types import Json

KIND = "stack"
_WRITERS: dict[str, Any] = {"tag": taggers.state_of, "classify": classifiers.state_of}
_READERS: dict[str, Any] = {"tag": taggers.tagger_of, "classify": classifiers.classifier_of}


def state_of(model: StackModel) -> State:
    """Manifest and tensors from which `stack_of` builds the same pipeline."""
    states = [_WRITERS[s.task](m) for s, m in zip(model.recipe.stages, model.models, strict=True)]
    manifest: dict[str, Json] = {
        "kind": KIND,
        "recipe": model.recipe.to_json(),
        "stages": [state.manifest for state in states],
        "facts": model.facts,
    }
    tensors = {f"{i}.{name}": array for i, state in enumerate(states) for name, array in state.tensors.items()}
    return State(manifest, tensors)


def stack_of(state: State, functions: Functions | None = None) -> StackModel:
    """The pipeline again; a file that does not fit together is refused with a sentence."""
    manifest = state.manifest
    if manifest.get("kind") != KIND:
        raise ModelFileError("The file holds no pipeline; it was not written by `linnaeus train` or `save` of one.")
    with refusing():
        check_manifest(KIND, manifest)
        found = StackModel(bound(field(manifest, "recipe", dict), functions), (), dict(field(manifest, "facts", dict)))
        parts = field(manifest, "stages", list)
        if len(parts) != len(found.recipe.stages):
            raise damaged("its stages do not match its recipe")
        models = tuple(
            _READERS[stage.task](State(_table(part), _below(i, state)), functions)
            for i, (stage, part) in enumerate(zip(found.recipe.stages, parts, strict=True))
        )
    return StackModel(found.plan, models, found.facts)


def _below(number: int, state: State) -> dict[str, Any]:
    return {
        name.removeprefix(f"{number}."): array for name, array in state.tensors.items() if name.startswith(f"{number}.")
    }


def _table(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise damaged("a stage of its manifest is not a table")
    return value
