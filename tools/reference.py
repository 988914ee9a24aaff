"""The pages of the API reference: every public name, by the package it is imported from.

`tools/mkdocs_hook.py` adds them to the site; `tests/test_reference.py` looks for names without an example or types.
"""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType
from typing import Any

ROOMS = {
    "linnaeus": "Estimators, models, recipes and readers: the names to begin with.",
    "linnaeus.data": "Reading, splitting and streaming data.",
    "linnaeus.datasets": "The embedded data.",
    "linnaeus.audit": "Checks of data before training.",
    "linnaeus.text": "Normalization and tokens.",
    "linnaeus.features": "Extractors, weightings and selection of features.",
    "linnaeus.embeddings": "Word vectors.",
    "linnaeus.recipes": "Recipes and what they are made of.",
    "linnaeus.training": "Training, compact models and models of more data.",
    "linnaeus.model": "Trained models and their files.",
    "linnaeus.estimators": "scikit-learn estimators.",
    "linnaeus.learners.linear": "Linear models: any loss, regularizer and optimizer.",
    "linnaeus.learners.chain": "Chains of tags.",
    "linnaeus.losses": "Loss functions.",
    "linnaeus.regularizers": "Penalties on the weights.",
    "linnaeus.optimizers": "Solvers and schedules.",
    "linnaeus.outputs": "Output spaces.",
    "linnaeus.erm": "Empirical risk minimization: the objective, training and diagnosis.",
    "linnaeus.learners.bayes": "Naive Bayes and discriminant analysis.",
    "linnaeus.learners.neighbors": "Nearest neighbors and nearest centroid.",
    "linnaeus.learners.kernel_methods": "Perceptron, ridge, SVM and Gaussian process on similarities.",
    "linnaeus.similarities": "Similarities of texts and rows.",
    "linnaeus.learners.ensembles": "Trees, forests and boosting.",
    "linnaeus.learners.networks.by_hand": "A network with one hidden layer and its gradient, in plain NumPy.",
    "linnaeus.learners.networks": "Neural networks, their encoders, and their predictions without PyTorch.",
    "linnaeus.decision": "Calibration, thresholds, costs and abstention.",
    "linnaeus.evaluation": "Metrics, intervals, comparisons, slices and learning curves.",
    "linnaeus.explain": "Explanations of predictions and models.",
    "linnaeus.gallery": "Pictures of what the methods do.",
    "linnaeus.store": "Model files.",
    "linnaeus.errors": "Errors and warnings.",
}
"""The public packages, and what each is for."""


def public_names() -> dict[str, list[str]]:
    """The public names of each package; a name that several export is listed where it stands first."""
    seen: set[int] = set()
    found: dict[str, list[str]] = {}
    for room in ROOMS:
        module = import_module(room)
        found[room] = []
        for name in names_of(module):
            piece = getattr(module, name)
            if not isinstance(piece, ModuleType) and id(piece) not in seen:
                seen.add(id(piece))
                found[room].append(name)
    return found


def names_of(module: ModuleType) -> list[str]:
    """What a package exports, in alphabetical order."""
    own = [name for name, piece in vars(module).items() if getattr(piece, "__module__", None) == module.__name__]
    names = getattr(module, "__all__", own)
    return sorted((name for name in names if not name.startswith("_")), key=str.lower)


def pages() -> dict[str, str]:
    """The Markdown of each page by its path on the site."""
    rows = [f"| [`{room}`]({file_of(room)}) | {what} |" for room, what in ROOMS.items()]
    index = "Every public name, with its types and an example.\n\n| package | |\n|---|---|\n"
    made = {"reference/index.md": f"# API reference\n\n{index}" + "\n".join(rows) + "\n"}
    for room, names in public_names().items():
        entries = [f"::: {room}.{name}\n" for name in names]
        made[f"reference/{file_of(room)}"] = f"# `{room}`\n\n{ROOMS[room]}\n\n" + "\n".join(entries)
    return made


def file_of(room: str) -> str:
    """The name of a package's page.

    >>> file_of("linnaeus"), file_of("linnaeus.data")
    ('linnaeus.md', 'data.md')
    """
    return f"{room.removeprefix('linnaeus.')}.md"


def untyped(piece: Any) -> list[str]:
    """The parameters of a function that have no type, and `return` where what it returns has none."""
    signature = inspect.signature(piece)
    bare = [name for name, one in signature.parameters.items() if one.annotation is one.empty]
    return bare + (["return"] if signature.return_annotation is signature.empty else [])
