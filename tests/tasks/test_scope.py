"""Out-of-scope scores of a trained model of two classes, one of them much larger."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from linnaeus.data import Batch
from linnaeus.decision import InScope
from linnaeus.decision.fitted import Rules
from linnaeus.features import Chars, Words, known_words
from linnaeus.features.base import Batches
from linnaeus.features.known_words import known_share, known_share_held_out
from linnaeus.model.model import Model
from linnaeus.recipes.cookbook import recipe
from linnaeus.tasks.base import Wish
from linnaeus.tasks.classify.answers import answers

CHAT = [
    "see",
    "you",
    "later",
    "home",
    "dinner",
    "mum",
    "bus",
    "work",
    "sleep",
    "tired",
    "love",
    "cat",
    "late",
    "ok",
    "lunch",
    "walk",
    "rain",
    "sorry",
    "film",
    "week",
]
OFFERS = ["free", "prize", "win", "cash", "claim", "voucher", "urgent", "bonus", "award", "credit"]


def messages(n: int = 300) -> list[tuple[str, str]]:
    """One in six is an offer, which has words of chats too; some texts are short."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(n):
        offer = i % 6 == 0
        size = int(rng.integers(2, 8))
        words = [*rng.choice(CHAT, 2 if offer else size), *rng.choice(OFFERS, size if offer else 0)]
        rows.append((" ".join(rng.permutation(words)), "offer" if offer else "chat"))
    return rows


def test_short_texts_of_known_words_are_in_scope():
    model = recipe("default").fit(messages())
    short = ["free prize", "win cash", "free voucher later", "claim prize, see you", "see you later", "home late sorry"]
    strange = ["qqq zzz xxx", "жжж щщщ", "0x7f 9981"]
    assert (model.out_of_scope(short) < 0.9).all()
    assert (model.out_of_scope(strange) > 0.9).all()


HALF = ["free prize", "free prize qqq zzz", "free prize " + "qqq zzz xxx www vvv " * 4]


@pytest.fixture(scope="module")
def model():
    return recipe("svm").fit(messages())


def test_unknown_words_put_a_text_out_of_scope(model):
    scores = model.out_of_scope(HALF)
    assert (np.diff(scores) > 0).all()
    assert scores[0] < 0.5
    assert scores[2] > 0.9
    assert model.predict(HALF, abstain="scope=0.9").tolist() == ["offer", "offer", None]
    many = recipe("svm").fit([(text, label + text[0]) for text, label in messages()])
    assert (np.diff(many.out_of_scope(HALF)) > 0).all()


def test_every_way_to_ask_for_the_scope_gives_the_same(model, tmp_path):
    expected = model.out_of_scope(HALF)
    batch = Batch(pa.array(HALF))
    assert answers(model, batch, Wish(scope=True)).column("out_of_scope").to_pylist() == expected.tolist()
    given = answers(model, batch, Wish(abstain="scope=0.9")).column("label").to_pylist()
    assert given == ["offer", "offer", None]
    labeled = Batch(pa.array(HALF), pa.array(["offer"] * 3))
    assert model.evaluate(Batches((labeled,)), abstain="scope=0.9").abstained == 1
    model.save(tmp_path / "m.lin")
    assert Model.load(tmp_path / "m.lin").out_of_scope(HALF).tolist() == expected.tolist()
    careful = replace(model, decision=replace(model.decision, rules=Rules(abstain=InScope(0.9))))
    assert [careful.classify(text).label for text in HALF] == ["offer", "offer", None]


def test_words_are_looked_up_only_where_the_scope_is_asked_for(model, monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(known_words, "known_share", refuse)
    model.predict(HALF)
    model.predict(HALF, abstain="confidence=0.5")
    model.classify(HALF[0], top=2)
    answers(model, Batch(pa.array(HALF)), Wish(top=2))
    with pytest.raises(AssertionError):
        model.out_of_scope(HALF)


def test_a_model_whose_scope_was_learned_without_known_words_is_asked_without(model):
    old = replace(model, decision=replace(model.decision, scope=replace(model.decision.scope, by_known=False)))
    assert len(set(old.out_of_scope(HALF).tolist())) == 1


def test_a_compact_model_keeps_its_scale(model):
    rows = messages()
    small = model.compact(rows)
    fresh = [text for text, _ in messages(900)[300:]]
    assert np.mean(small.out_of_scope(fresh) > 0.95) < 0.15
    assert (np.diff(small.out_of_scope(HALF)) > 0).all()


def test_known_shares_of_training_rows_are_those_of_new_rows():
    texts = [text for text, _ in messages(400)]
    texts = [f"{text} only{i}" for i, text in enumerate(texts)]  # a word that no other text has
    features = Words().fit(texts[:300])
    held, new = known_share_held_out(features, texts[:300]), known_share(features, texts[300:])
    assert held.mean() == pytest.approx(new.mean(), abs=0.03)
    assert known_share(features, texts[:300]).tolist() == [1.0] * 300


def test_features_without_single_words_know_no_share():
    assert known_share(Chars(2, 3).fit(["good film"]), ["good"]) is None
    assert known_share_held_out(Words(ngrams=(2, 2)).fit(["good film"]), ["good"]) is None
    both = (Chars(2, 3) | Words(values="tfidf", length="l2", tokenizer="edges")).fit(["good film"])
    assert known_share(both, ["good", "", "bad film"]).tolist() == [1.0, 1.0, 0.5]
