"""The largest weights of each class, found without sorting them all."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.explain.models import SPACES, random_model

from linnaeus.errors import UsageError
from linnaeus.explain import Linear, top_features, weights
from linnaeus.explain.pages import top_page
from linnaeus.features import Hashed, Ready, Words
from linnaeus.outputs import Binary, Multiclass
from linnaeus.render import UNICODE


@pytest.mark.parametrize("block", [8, 64, 1 << 20])
@pytest.mark.parametrize(("space", "k"), SPACES, ids=repr)
def test_they_are_those_of_a_full_sort(monkeypatch, block, space, k):
    monkeypatch.setattr(weights, "BLOCK", block)
    model = random_model(Ready(300).fit([]), space, k)
    W = model.W.copy()
    W[::7] = 0.25  # equal ones
    W[::5] = 0.0
    model = replace(model, W=W)
    E = model.read(model.W.astype(np.float64), range(k))
    for c, top in enumerate(top_features(model, 7)):
        assert top.name == model.classes[c]
        for side, sign in ((top.positive, 1), (top.negative, -1)):
            order = [i for i in np.argsort(-sign * E[:, c], kind="stable") if sign * E[i, c] > 0][:7]
            assert [weight.column for weight in side] == order
            assert [weight.effect for weight in side] == pytest.approx(E[order, c])
            assert [weight.name for weight in side] == [f"#{i}" for i in order]


def test_typical_values_weigh():
    model = Linear(Words().fit(["a b"]), np.array([[1.0], [2.0]]), np.zeros(1), Binary(), ("no", "yes"))
    (top,) = top_features(model, 1, ["yes"], typical=np.array([3.0, 1.0], np.float32))
    assert [(w.name, w.weight, w.effect) for w in top.positive] == [("a", 1.0, 3.0)]
    assert top.negative == ()
    (other,) = top_features(model, 1, ["no"])
    assert [w.name for w in other.negative] == ["b"]


def test_names_of_few_are_made():
    features = Words(terms=Hashed(16)).fit([])
    model = random_model(features, Multiclass(), 3)
    assert top_features(model, 2)[0].positive[0].name.startswith("#")
    assert "for" in top_page(top_features(model, 2), UNICODE).plain()


def test_what_cannot_be_meant():
    model = random_model(Words().fit(["a"]))
    with pytest.raises(UsageError, match="at least 1"):
        top_features(model, 0)
    with pytest.raises(UsageError, match="no class"):
        top_features(model, 1, ["z"])
    with pytest.raises(UsageError, match="each of 1 features"):
        top_features(model, 1, typical=np.ones(3))
