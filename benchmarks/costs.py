"""What a cost matrix saves on `newsgroups20`: a mistake costs 1 inside a top-level group and 5 across groups.

    python benchmarks/costs.py

The cost-augmented SVM against the plain one, each with its own strength: costs change the scale of the loss, and so of
the penalty. And the decision of least expected cost against the most probable class, of one and the same logistic
model. Strengths are chosen on the last fifth of the training rows of each class, for the test part is later in time
too: the SVMs by the cost there, the logistic model by the log loss. Total cost and mistakes on the test part, for the
strength chosen and, so that chance can be judged, for all others. JSON lines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import linnaeus
from linnaeus.features import Exact, Words
from measure import data_folder, say, say_machine

FEATURES = {
    "2,000 words": Words(values="tfidf", length="l2", terms=Exact(max_terms=2000)),
    "5,000 words": Words(values="tfidf", length="l2", terms=Exact(max_terms=5000)),
    "all words": Words(values="tfidf", length="l2"),
    "all words and pairs": Words(ngrams=(1, 2), values="tfidf", length="l2"),
}
PLAIN, WITH_COSTS = (4.0, 2.0, 1.0, 0.5), (0.8, 0.4, 0.2, 0.1)
LOGISTIC = {"5,000 words": (1.0, 0.1, 0.01), "all words and pairs": (1e-3, 1e-4, 1e-5)}


class Newsgroups:
    """Rows and truth of both parts, and what a mistake costs."""

    def __init__(self, words: Words) -> None:
        folder = data_folder() / "newsgroups20"
        train, test = linnaeus.read(folder / "train.parquet"), linnaeus.read(folder / "test.parquet")
        features, X = words.fit_rows(train)
        self.X, self.Z = X.to_scipy(), features.rows(test).to_scipy()
        self.y, self.truth = (np.array(part.labels.to_pylist()) for part in (train, test))
        self.classes = np.array(train.classes)
        groups = np.array([name.split(".")[0] for name in train.classes])
        self.costs = np.where(groups[:, None] == groups, 1.0, 5.0) * (1.0 - np.eye(len(groups)))
        self.late = np.concatenate([np.flatnonzero(self.y == name)[-((self.y == name).sum() // 5) :]
                                    for name in self.classes])  # fmt: skip
        self.early = np.setdiff1d(np.arange(len(self.y)), self.late)

    def total(self, found: Any, truth: Any) -> dict[str, float]:
        """Cost and mistakes of predictions."""
        named, gold = np.searchsorted(self.classes, found), np.searchsorted(self.classes, truth)
        return {"cost": float(self.costs[named, gold].sum()), "mistakes": int((named != gold).sum())}

    def halves(self, make: Callable[[], Any]) -> tuple[Any, Any]:
        """A model of the earlier rows, and one of all."""
        return make().fit(self.X[self.early], self.y[self.early]), make().fit(self.X, self.y)


def machines(data: Newsgroups, name: str, strengths: tuple[float, ...], costs: Any) -> None:
    """One kind of SVM: the strength of least held-out cost, and all others."""
    tried = []
    for strength in strengths:
        part, whole = data.halves(lambda s=strength: linnaeus.MulticlassSVM(strength=s, costs=costs))
        held = data.total(part.predict(data.X[data.late]), data.y[data.late])["cost"]
        tried.append((held, strength, data.total(whole.predict(data.Z), data.truth)))
    held, strength, found = min(tried, key=lambda one: one[0])
    every = {str(s): one["cost"] for _, s, one in tried}
    say(what="cost", model=name, strength=strength, held_out=held, **found, cost_by_strength=every)


def decisions(data: Newsgroups, strengths: tuple[float, ...]) -> None:
    """The logistic model of least held-out log loss, decided in two ways."""
    tried = []
    for strength in strengths:
        part, whole = data.halves(lambda s=strength: linnaeus.LogisticRegression(strength=s))
        P, late = part.predict_proba(data.X[data.late]), data.y[data.late]
        loss = -float(np.log(P[np.arange(len(late)), np.searchsorted(data.classes, late)]).mean())
        by_cost = whole.set_params(costs=data.costs, decision="expected_cost").predict(data.Z)
        by_chance = whole.set_params(costs=None, decision="score").predict(data.Z)
        tried.append((loss, strength, by_chance, by_cost))
    loss, strength, by_chance, by_cost = min(tried, key=lambda one: one[0])
    for name, at, found in (("most probable", 2, by_chance), ("least expected cost", 3, by_cost)):
        every = {str(one[1]): data.total(one[at], data.truth)["cost"] for one in tried}
        say(what="cost", model=f"logistic, {name}", strength=strength, held_out_log_loss=loss,
            **data.total(found, data.truth), cost_by_strength=every)  # fmt: skip


def main() -> None:
    """A model that cannot separate the training rows has to choose its mistakes; one of all words need not."""
    say_machine(linnaeus=linnaeus.__version__)
    for name, words in FEATURES.items():
        data = Newsgroups(words)
        say(what="features", features=name, columns=data.X.shape[1], test_rows=len(data.truth))
        machines(data, "multiclass SVM", PLAIN, None)
        machines(data, "multiclass SVM, costs in training", WITH_COSTS, data.costs)
        if name in LOGISTIC:
            decisions(data, LOGISTIC[name])


if __name__ == "__main__":
    main()
