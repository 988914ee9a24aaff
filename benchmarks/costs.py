"""What a cost matrix saves on `newsgroups20`: a mistake costs 1 inside a top-level group and 5 across groups.

    python benchmarks/costs.py

The cost-augmented SVM against the plain one, and the decision of least expected cost against the most probable class;
total cost and mistakes on the test part. JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linnaeus
from linnaeus.features import Words
from measure import data_folder, say, say_machine


def total(model: Any, Z: Any, truth: Any, costs: Any) -> dict[str, float]:
    """Cost and mistakes of a model's predictions."""
    found = np.searchsorted(model.classes_, model.predict(Z))
    gold = np.searchsorted(model.classes_, truth)
    return {"cost": float(costs[found, gold].sum()), "mistakes": int((found != gold).sum()), "rows": len(gold)}


STRENGTHS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
"""Tried for each model on a fifth of the training part; costs change the scale of the loss, and so of the penalty."""


def tuned(make: Callable[[float], Any], X: Any, y: Any, costs: Any) -> tuple[float, Any]:
    """The strength with the least held-out cost, and the model it gives on all of the training part."""
    aside = np.arange(len(y)) % 5 == 0
    rows = X.to_scipy()
    found = {
        strength: total(make(strength).fit(rows[~aside], y[~aside]), rows[aside], y[aside], costs)["cost"]
        for strength in STRENGTHS
    }
    best = min(found, key=found.__getitem__)
    return best, make(best).fit(X, y)


def main() -> None:
    """Four models, two comparisons."""
    say_machine(linnaeus=linnaeus.__version__)
    folder = data_folder() / "newsgroups20"
    train, test = linnaeus.read(folder / "train.parquet"), linnaeus.read(folder / "test.parquet")
    fitted, X = Words(ngrams=(1, 2), values="tfidf", length="l2").fit_rows(train)
    Z, y, truth = fitted.rows(test), np.array(train.labels.to_pylist()), np.array(test.labels.to_pylist())
    groups = np.array([name.split(".")[0] for name in train.classes])
    costs = np.where(groups[:, None] == groups, 1.0, 5.0) * (1.0 - np.eye(len(groups)))
    models: dict[str, Callable[[float], Any]] = {
        "multiclass SVM": lambda s: linnaeus.MulticlassSVM(strength=s),
        "multiclass SVM, costs in training": lambda s: linnaeus.MulticlassSVM(strength=s, costs=costs),
        "logistic, most probable": lambda s: linnaeus.LogisticRegression(strength=s),
        "logistic, least expected cost": lambda s: linnaeus.LogisticRegression(
            strength=s, costs=costs, decision="expected_cost"
        ),
    }
    for name, make in models.items():
        strength, model = tuned(make, X, y, costs)
        say(what="cost", model=name, strength=strength, **total(model, Z, truth, costs))


if __name__ == "__main__":
    main()
