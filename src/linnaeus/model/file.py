"""A classifier as manifest and tensors: what stands in a `.lin` file. No pickle, no code, no texts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from linnaeus.arrays import CSR
from linnaeus.decision import FittedDecision
from linnaeus.errors import LinnaeusError, MachineError, MissingFunctionError, ModelFileError, damaged, damaged_or_newer
from linnaeus.features import restore, terse
from linnaeus.features.restore import bound, check_functions
from linnaeus.learners.restore import model_of, scores_of, weights_of
from linnaeus.model.manifests import check_manifest
from linnaeus.model.model import Classifier
from linnaeus.outputs import OUTPUTS, Real
from linnaeus.store.blocks import Guarded, raw
from linnaeus.store.labels import pack, unpack
from linnaeus.store.quantize import dequantize
from linnaeus.types import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from linnaeus.model.kept_texts import Kept
    from linnaeus.protocols import Model
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
    if model.body is not None:
        body = model.body.state()
        manifest["body"] = body.manifest
        tensors |= {f"body.{name}": array for name, array in body.tensors.items()}
    if model.kept is not None:
        texts = model.kept.state()
        manifest["kept"] = texts.manifest
        tensors |= {f"kept.{name}": array for name, array in texts.tensors.items()}
    tensors |= _weights(model)
    if model.classes is not None:
        tensors |= pack("classes", model.classes)
    return State(manifest, tensors)


def _weights(model: Classifier) -> dict[str, NDArray[Any]]:
    """The parameters, or the codes they are made of; those of a body are made of it again."""
    if model.body is not None:
        return {}
    if model.codes is None:
        return {f"params.{name}": array for name, array in model.params.items()}
    whole = {f"params.{name}": array for name, array in model.params.items() if name != "W"}
    return whole | {f"weights.{name}": array for name, array in model.codes.items()}


def classifier_of(state: State, functions: Mapping[str, Callable[[Any], Any]] | None = None) -> Classifier:
    """The classifier again; a file that does not fit together is refused with a sentence."""
    manifest = state.manifest
    if manifest.get("kind") != KIND:
        raise ModelFileError("The file holds no classifier; it was not written by `linnaeus train` or `save`.")
    check_functions(functions)
    with refusing(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        check_manifest(KIND, manifest)
        found = _build(state, functions)
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
    except (ModelFileError, MachineError, MissingFunctionError):
        raise
    except LinnaeusError as error:
        raise damaged_or_newer(_words(error)) from error
    except (KeyError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        raise damaged(f"something is missing or of another kind ({_words(error)})") from error


def _build(state: State, functions: Any) -> Classifier:
    manifest, tensors = state.manifest, state.tensors
    decision, evaluation = manifest["decision"], manifest["evaluation"]
    params: Mapping[str, Any] = _below("params", tensors)
    codes = _below("weights", tensors)
    body = _body(manifest, tensors)
    if ("W" in params) + bool(codes) + (body is not None) > 1:
        raise damaged("it has two sets of weights")
    space = _space(manifest["space"])
    if body is not None:
        params = weights_of(body, space)
    elif guards := _below("params", state.guards):
        params = Guarded(params, guards)
    return Classifier(
        plan=bound(_table(manifest["recipe"]), functions),
        features=restore(State(manifest["features"], _below("features", tensors)), functions),
        params={**params, "W": dequantize(codes)} if codes else params,
        space=space,
        classes=unpack("classes", tensors),
        form=manifest["form"],
        decision=None if decision is None else FittedDecision.from_state(State(decision, _below("decision", tensors))),
        account=None if evaluation is None else _table(evaluation),
        facts=dict(manifest["facts"]),
        codes=codes or None,
        body=body,
        kept=_kept(manifest, tensors),
    )


def _kept(manifest: Mapping[str, Json], tensors: Mapping[str, NDArray[Any]]) -> Kept | None:
    if "kept" not in manifest:
        return None
    from linnaeus.model.kept_texts import Kept

    return Kept.from_state(State(_table(manifest["kept"]), _below("kept", tensors)))


def _body(manifest: Mapping[str, Json], tensors: Mapping[str, NDArray[Any]]) -> Model | None:
    if "body" not in manifest:
        return None
    return model_of(State(_table(manifest["body"]), _below("body", tensors)))


def _check(model: Classifier) -> None:
    """That the parts fit each other: what a hostile file could otherwise make a kernel read."""
    if model.body is None or model.params:
        _check_weights(model)
    if model.form not in FORMS or type(model.space) not in SPACES:
        raise damaged("its labels have an unknown form")
    if isinstance(model.space, Real) != (model.classes is None):
        raise damaged("its classes do not fit its output space")
    if model.classes is not None and (model.classes.ndim != 1 or len(model.classes) < 1):
        raise damaged("its classes are not a list")
    if model.decision is None and model.classes is not None:
        raise damaged("it has classes and no way to decide between them")


def _check_weights(model: Classifier) -> None:
    W, b = raw(model.params, "W"), model.params.get("b")
    if W is None or W.ndim != 2 or W.dtype != np.float32 or W.shape[0] != model.features.width:
        raise damaged("its weights do not fit its features")
    if set(model.params) - {"W", "b"} or (b is not None and (b.dtype != np.float32 or b.shape != W.shape[1:])):
        raise damaged("its biases do not fit its weights")
    if model.classes is not None and model.space.width(len(model.classes)) != W.shape[1]:
        raise damaged("its classes do not fit its weights")


def _try(model: Classifier) -> None:
    """Decide on one row of zeros: parts of a decision that are for other scores show here, not when it is used."""
    if not model.params:
        _try_body(model)
    if model.decision is None or model.classes is None:
        return
    S = model.class_scores(np.zeros((1, model.space.width(len(model.classes)))))
    P = model.decision.probabilities(S)
    if P.shape != (1, len(model.classes)) or (model.decision.calibrator.kind == "labels") != (model.form != "single"):
        raise damaged("its way to decide does not fit its classes")
    model.decision.decide(S)
    if model.decision.scope is not None:
        model.decision.out_of_scope(S)
    if model.decision.conformal is not None:
        model.decision.conformal.sets(P, 0.5)


def _try_body(model: Classifier) -> None:
    """Score a row that has the last feature: a model for other features, or for other classes, shows here."""
    assert model.body is not None
    there = min(1, model.features.width)
    columns = np.full(there, model.features.width - 1, np.int32)
    row = CSR(np.array([0, there]), columns, np.ones(there, np.float32), model.features.width)
    S = scores_of(model.body, row, model.space)
    if model.classes is not None and S.shape != (1, model.space.width(len(model.classes))):
        raise damaged("its model does not fit its classes")


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


def _below(name: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {path.removeprefix(f"{name}."): array for path, array in tensors.items() if path.startswith(f"{name}.")}
