"""A model as manifest and tensors, whatever its task: what stands in a `.lin` file. No pickle, no code, no texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from linnaeus import store
from linnaeus.decision import FittedDecision
from linnaeus.errors import LinnaeusError, MachineError, MissingFunctionError, ModelFileError, damaged, damaged_or_newer
from linnaeus.features import terse
from linnaeus.features.restore import Functions, bound, check_functions
from linnaeus.learners.restore import LATER, weights_of
from linnaeus.learners.restore import model_of as body_of
from linnaeus.model.manifests import check_manifest
from linnaeus.model.model import Model
from linnaeus.outputs import OUTPUTS, STRUCTURES
from linnaeus.protocols import NumberSpace, OutputSpace, RanksLabels, capability, has
from linnaeus.store.blocks import Guarded, raw
from linnaeus.store.compression import dequantize
from linnaeus.store.states import pack_labels, pack_strings, unpack_labels, unpack_strings
from linnaeus.tasks import TASKS, task_of, task_state
from linnaeus.types import Array, Arrays, Json, State

if TYPE_CHECKING:
    from linnaeus.model.kept_texts import Kept

Item = TypeVar("Item")

KIND = "model"
VECTORS = "vectors"
LONGEST = 120
"""Characters of an error's own words that are said."""


def state_of(model: Model) -> State:
    """Manifest and tensors from which `model_of` builds the same model, with the same bits in every answer."""
    features = model.features.state()
    kept = features.tensors if model.codes is None else terse(features.tensors)
    manifest: dict[str, Json] = {
        "kind": KIND,
        "task": task_state(model.task),
        "recipe": model.recipe.to_json(),
        "space": {"kind": SPACES[type(model.space)], **asdict(model.space)},
        "form": model.form,
        "features": features.manifest,
        "decision": None,
        "evaluation": None if model.evaluation is None else model.evaluation.to_json(),
        "facts": model.facts,
    }
    tensors = _above("features", kept)
    for name, part in {"decision": model.decision, "body": model.body, "kept": model.kept}.items():
        if part is not None:
            state: State = part.state()
            manifest[name] = state.manifest
            tensors |= _above(name, state.tensors)
    if model.body is None:  # else the parameters are made of it again
        plain = {name: array for name, array in model.params.items() if name != "W" or model.codes is None}
        tensors |= _above("params", plain) | _above("weights", model.codes or {})
    if model.classes is not None:
        tensors |= pack_labels("classes", model.classes)
    if model.words:
        tensors |= pack_strings("words", list(model.words))
        tensors["word_tags"] = np.array(list(model.words.values()), np.int32)
    tensors |= _above("memory", {name: a for name, a in model.memory.items() if np.isfinite(a).all()})
    if model.stages:
        manifest["stages"] = []
    for i, (name, stage) in enumerate(model.stages):
        state = state_of(stage)
        manifest["stages"].append([name, state.manifest])
        tensors |= _above(f"stage{i}", state.tensors)
    return State(manifest, tensors)


def load(path: str | os.PathLike[str], functions: Functions | None = None, verify: bool | None = None) -> Model:
    """The model of a file that `save` or `linnaeus train` wrote.

    A file holds the names of functions of yours, never the functions: pass them in, as `functions={name: fn}`. The
    digests of a file under 64 MB are checked; those of a
    larger one if `verify` says so, else each block of its weights when it is first used.

    >>> import linnaeus
    >>> tagged = [[("dogs", "N"), ("bark", "V")], [("cats", "N"), ("sleep", "V")]]
    >>> linnaeus.Recipe(task="tag").fit(tagged).save("pos.lin")
    >>> linnaeus.load("pos.lin").predict([["cats", "bark"]])
    [['N', 'V']]
    """
    state = store.load(path, verify, weights_later)
    found = model_of(state, functions)
    if verify and (own := capability(found.body, RanksLabels)) is not None:
        with refusing():
            own.verify()
    return found


def weights_later(manifest: Mapping[str, Json]) -> tuple[str, ...]:
    """Of a large model: weights of which an example needs a few rows, and which are checked when they are used."""
    task, body = manifest.get("task"), manifest.get("body")
    kind = str(task.get("kind")) if isinstance(task, dict) else ""
    own = str(body.get("kind")) if isinstance(body, dict) else ""
    if own in LATER and isinstance(body, dict):
        return tuple(f"body.{name}" for name in LATER[own](body))
    return ("params.W",) if kind in TASKS and TASKS[kind].texts else ()


def model_of(state: State, functions: Functions | None = None) -> Model:
    """The model again; a file that does not fit together is refused with a sentence."""
    kind = str(state.manifest.get("kind"))
    if kind == VECTORS:
        raise ModelFileError("The file holds word vectors, not a model; `linnaeus vectors neighbors` shows them.")
    if kind != KIND:
        raise ModelFileError(
            f"The file holds {kind[:40]!r}, a kind of model that this version does not know; upgrade Linnaeus."
        )
    check_functions(functions)
    with refusing(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return _restored(state, functions, depth=1)


def _restored(state: State, functions: Functions | None, depth: int) -> Model:
    check_manifest(state.manifest)
    found = _build(state, functions, depth)
    _check(found)
    found.task.check_model(found)
    return found


def _words(error: Exception) -> str:
    """What an error says, on one line; lists of what would do are cut."""
    said = " ".join(str(error).split()).rstrip(".")
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}..."


@contextmanager
def refusing() -> Iterator[None]:
    """Around what reads a part of a file: whatever is wrong with it is said in one sentence about the model."""
    try:
        yield
    except (ModelFileError, MachineError, MissingFunctionError):
        raise
    except LinnaeusError as error:
        raise damaged_or_newer(_words(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        raise damaged(f"something is missing or of another kind ({_words(error)})") from error


def _build(state: State, functions: Functions | None, depth: int) -> Model:
    manifest, tensors = state.manifest, state.tensors
    evaluation, decision, kept = manifest["evaluation"], _part(state, "decision"), _part(state, "kept")
    params: Mapping[str, Array] = _below("params", tensors)
    codes = _below("weights", tensors)
    body = None if (part := _part(state, "body")) is None else body_of(part)
    if ("W" in params) + bool(codes) + (body is not None) > 1:
        raise damaged("it has two sets of weights")
    space = _space(manifest["space"])
    if body is not None:
        params = weights_of(body, space)
    elif guards := _below("params", state.guards):
        params = Guarded(params, guards)
    task = task_of(_table(manifest["task"]))
    return Model(
        task=task,
        plan=bound(_table(manifest["recipe"]), functions),
        features=task.restore(State(manifest["features"], _below("features", tensors)), functions),
        params={**params, "W": dequantize(codes)} if codes else params,
        space=space,
        classes=unpack_labels("classes", tensors),
        form=manifest["form"],
        decision=None if decision is None else FittedDecision.from_state(decision),
        account=None if evaluation is None else _table(evaluation),
        facts=dict(manifest["facts"]),
        codes=codes or None,
        body=body,
        kept=None if kept is None else _kept(kept),
        words=_words_of(tensors),
        memory=_below("memory", tensors),
        stages=_stages(state, functions, depth),
    )


def _words_of(tensors: Mapping[str, Array]) -> dict[str, int]:
    if "words.bytes" not in tensors:
        return {}
    words, tags = unpack_strings("words", tensors), tensors["word_tags"]
    if tags.dtype != np.int32 or tags.shape != (len(words),):
        raise damaged("the tags of its words do not fit them")
    return dict(zip(words, tags.tolist(), strict=True))


def _stages(state: State, functions: Functions | None, depth: int) -> tuple[tuple[str, Model], ...]:
    """The earlier models of a pipeline; they have none themselves."""
    found, manifests = [], state.manifest.get("stages", [])
    if manifests and not depth:
        raise damaged("its stages have stages")
    for i, (name, manifest) in enumerate(manifests):
        part = State(_table(manifest), _below(f"stage{i}", state.tensors), _below(f"stage{i}", state.guards))
        found.append((name, _restored(part, functions, depth - 1)))
    return tuple(found)


def _part(state: State, name: str) -> State | None:
    """The state of a part of the model; None where it has none."""
    manifest = state.manifest.get(name)
    if manifest is None:
        return None
    return State(_table(manifest), _below(name, state.tensors), _below(name, state.guards))


def _kept(state: State) -> Kept:
    from linnaeus.model.kept_texts import Kept

    return Kept.from_state(state)


def _check(model: Model) -> None:
    """That the parts fit each other: what a hostile file could otherwise make a kernel read."""
    if type(model.space) not in SPACES:
        raise damaged("its output space is of an unknown kind")
    if model.form not in model.task.forms:
        raise damaged("its labels do not fit its task")
    if model.body is None or model.params:
        _check_weights(model)
    _check_memory(model)
    if (model.form == "numbers") != has(model.space, NumberSpace):
        raise damaged("its output space does not fit its labels")
    if model.task.named != (model.classes is not None):
        raise damaged("its classes do not fit its output space")
    if model.classes is not None and (model.classes.ndim != 1 or len(model.classes) < 1):
        raise damaged("its classes are not a list")


def _check_weights(model: Model) -> None:
    W, b = raw(model.params, "W"), model.params.get("b")
    if W is None or W.ndim != 2 or W.dtype != np.float32 or W.shape[0] != model.features.width:
        raise damaged("its weights do not fit its features")
    if set(model.params) - {"W", "b"} or (b is not None and (b.dtype != np.float32 or b.shape != W.shape[1:])):
        raise damaged("its biases do not fit its weights")
    if model.classes is not None and model.space.width(len(model.classes)) != W.shape[1]:
        raise damaged("its classes do not fit its weights")


def _check_memory(model: Model) -> None:
    """Arrays of an optimizer are shaped like the parameter that their name has, or are single numbers."""
    for name, array in model.memory.items():
        owner = next((part for part in name.split(".") if part in model.params and not name.endswith(".t")), None)
        shape = (1,) if owner is None else raw(model.params, owner).shape
        if array.shape != shape or array.dtype != (np.int64 if name == "t" else np.float64):
            raise damaged("what its optimizer goes on with does not fit its weights")


SPACES: dict[type, str] = {space: name for name, space in (OUTPUTS | STRUCTURES).items()}
"""The output spaces, by class."""


def _space(value: Json) -> OutputSpace:
    inside = {name: _tuples(item) for name, item in _table(value).items() if name != "kind"}
    return (OUTPUTS | STRUCTURES)[value["kind"]](**inside)


def _tuples(value: Json) -> Json:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _table(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise damaged("a part of its manifest is not a table")
    return value


def _above(name: str, arrays: Mapping[str, Array]) -> Arrays:
    return {f"{name}.{path}": array for path, array in arrays.items()}


def _below(name: str, arrays: Mapping[str, Item]) -> dict[str, Item]:
    return {path.removeprefix(f"{name}."): array for path, array in arrays.items() if path.startswith(f"{name}.")}
