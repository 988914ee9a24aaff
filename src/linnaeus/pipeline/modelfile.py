"""A classifier as manifest and tensors: what stands in a `.lin` file. No pickle, no code, no texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.decision import FittedDecision
from linnaeus.errors import LinnaeusError, MachineError, ModelFileError, damaged, damaged_or_newer
from linnaeus.features import restore, terse
from linnaeus.outputs import OUTPUTS, Real
from linnaeus.pipeline.classifier import Classifier
from linnaeus.pipeline.packing import pack, unpack
from linnaeus.store.quantize import dequantize
from linnaeus.types import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from linnaeus.types import Json

KIND = "classifier"
LONGEST = 120
"""Characters of an error's own words that are said."""

FORMS = ("single", "lists", "indicator", "sparse", "numbers")


def state_of(model: Classifier) -> State:
    """Manifest and tensors from which `classifier_of` builds the same model, with the same bits in every answer."""
    features = model.features.state()
    kept = features.tensors if model.codes is None else terse(features.tensors)
    decision = None if model.decision is None else model.decision.state()
    manifest: dict[str, Json] = {
        "kind": KIND,
        "recipe": model.recipe.to_json(),
        "space": {"kind": SPACES[type(model.space)], **asdict(model.space)},
        "form": model.form,
        "features": features.manifest,
        "decision": None if decision is None else decision.manifest,
        "evaluation": None if model.evaluation is None else model.evaluation.to_json(),
        "facts": model.facts,
    }
    tensors = {f"features.{name}": array for name, array in kept.items()}
    tensors |= {} if decision is None else {f"decision.{name}": array for name, array in decision.tensors.items()}
    whole = (
        model.params if model.codes is None else {name: array for name, array in model.params.items() if name != "W"}
    )
    tensors |= {f"params.{name}": array for name, array in whole.items()}
    tensors |= {} if model.codes is None else {f"weights.{name}": array for name, array in model.codes.items()}
    if model.classes is not None:
        tensors |= pack("classes", model.classes)
    return State(manifest, tensors)


def classifier_of(state: State, functions: Mapping[str, Callable[[Any], Any]] | None = None) -> Classifier:
    """The classifier again; a file that does not fit together is refused with a sentence."""
    manifest = state.manifest
    if manifest.get("kind") != KIND:
        raise ModelFileError("The file holds no classifier; it was not written by `linnaeus train` or `save`.")
    with refusing():
        found = _build(manifest, state.tensors, functions)
        _check(found)
        _try(found)
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
    except (ModelFileError, MachineError):
        raise
    except LinnaeusError as error:
        raise damaged_or_newer(_words(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        raise damaged(f"something is missing or of another kind ({_words(error)})") from error


def _build(manifest: Mapping[str, Json], tensors: dict[str, NDArray[Any]], functions: Any) -> Classifier:
    decision, evaluation = manifest["decision"], manifest["evaluation"]
    params, codes = _below("params", tensors), _below("weights", tensors)
    if codes and "W" in params:
        raise damaged("it has two sets of weights")
    return Classifier(
        plan=_table(manifest["recipe"]),
        features=restore(State(manifest["features"], _below("features", tensors)), functions),
        params={**params, "W": dequantize(codes)} if codes else params,
        space=_space(manifest["space"]),
        classes=unpack("classes", tensors),
        form=manifest["form"],
        decision=None if decision is None else FittedDecision.from_state(State(decision, _below("decision", tensors))),
        account=None if evaluation is None else _table(evaluation),
        facts=dict(manifest["facts"]),
        codes=codes or None,
    )


def _check(model: Classifier) -> None:
    """That the parts fit each other: what a hostile file could otherwise make a kernel read."""
    W, b = model.params.get("W"), model.params.get("b")
    if W is None or W.ndim != 2 or W.dtype != np.float32 or W.shape[0] != model.features.width:
        raise damaged("its weights do not fit its features")
    if set(model.params) - {"W", "b"} or (b is not None and (b.dtype != np.float32 or b.shape != W.shape[1:])):
        raise damaged("its biases do not fit its weights")
    if model.form not in FORMS or type(model.space) not in SPACES:
        raise damaged("its labels have an unknown form")
    if isinstance(model.space, Real) != (model.classes is None):
        raise damaged("its classes do not fit its output space")
    if model.classes is not None and (
        model.classes.ndim != 1 or len(model.classes) < 1 or model.space.width(len(model.classes)) != W.shape[1]
    ):
        raise damaged("its classes do not fit its weights")
    if model.decision is None and model.classes is not None:
        raise damaged("it has classes and no way to decide between them")


def _try(model: Classifier) -> None:
    """Decide on one row of zeros: parts of a decision that are for other scores show here, not when it is used."""
    if model.decision is None or model.classes is None:
        return
    S = model.class_scores(np.zeros((1, model.params["W"].shape[1])))
    P = model.decision.probabilities(S)
    if P.shape != (1, len(model.classes)) or (model.decision.calibrator.kind == "labels") != (model.form != "single"):
        raise damaged("its way to decide does not fit its classes")
    model.decision.decide(S)
    if model.decision.scope is not None:
        model.decision.out_of_scope(S)
    if model.decision.conformal is not None:
        model.decision.conformal.sets(P, 0.5)


SPACES: dict[type, str] = {space: name for name, space in OUTPUTS.items()}
"""The output spaces, by class."""


def _space(value: Json) -> Any:
    inside = {name: _tuples(item) for name, item in _table(value).items() if name != "kind"}
    return OUTPUTS[value["kind"]](**inside)


def _tuples(value: Json) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _table(value: Json) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise damaged("a part of its manifest is not a table")
    return value


def _below(name: str, tensors: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {path.removeprefix(f"{name}."): array for path, array in tensors.items() if path.startswith(f"{name}.")}
