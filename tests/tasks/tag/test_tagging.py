"""Taggers: what they learn, what they answer, and what they refuse."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.tasks.tag.sentences import entities, tagged

from linnaeus import Model, Recipe, Tag
from linnaeus.arrays import CSR
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, UsageError
from linnaeus.estimators.tagger import Tagger
from linnaeus.kernels import threads
from linnaeus.learners.chain.learner import BatchChain, Chain, Greedy
from linnaeus.recipes.cookbook import RECIPES, recipe
from linnaeus.recipes.tagging import clustered
from linnaeus.types import GroupedLesson, Tags

LEARNERS = [
    Chain(),
    Chain(loss="perceptron", rule="sgd", rate=1.0, epochs=10),
    Chain(loss="hinge", strength=0.01),
    Chain(loss="softmargin", order=2),
    Greedy(),
    Greedy(loss="perceptron", rule="sgd", rate=1.0, order=2),
    BatchChain(strength=0.1, epochs=30),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: repr(learner)[:40])
def test_every_learner_learns(learner):
    model = Recipe(task="tag", learner=learner).fit(tagged())
    assert model.evaluate(tagged(seed=1)).value("accuracy") > 0.9
    assert model.predict([["the", "fish", "run"], [], ["run"]])[:2] == [["D", "N", "V"], []]


def test_pairs_of_token_and_tag_are_sentences():
    model = Recipe(task="tag").fit([[("a", "D"), ("dog", "N")], [("the", "D"), ("cat", "N")]])
    assert model.predict([["the", "dog"]]) == [["D", "N"]]


@pytest.mark.parametrize("encoding", ["bio", "bioes"])
def test_entities_never_break_the_rules(encoding):
    model = Recipe(task=Tag(encoding=encoding)).fit(entities())
    found = model.evaluate(entities(seed=1))
    assert found.value("f1") > 0.9
    noise = np.random.default_rng(0).choice(["Anna", "sees", "x", "Rome", "in"], (50, 6)).tolist()
    for tags in model.predict(noise):
        for before, tag in zip(["O", *tags[:-1]], tags, strict=True):
            assert not tag.startswith("I-") or before[1:] == tag[1:]
            assert tag[0] in "BIO"


def test_iob1_is_learned_as_bio():
    iob1 = Sentences.from_lists([["Anna", "sees", "Rome"]] * 9, [["I-PER", "O", "I-LOC"]] * 9)
    assert Recipe(task=Tag(encoding="bioes")).fit(iob1).predict([["Anna", "sees", "Rome"]]) == [["B-PER", "O", "B-LOC"]]


def test_marginals_are_probabilities():
    model = Recipe(task="tag").fit(tagged())
    P = model.probabilities([["the", "fish", "run"], ["run"]])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert [model.names[c] for c in P.argmax(axis=1)][:3] == ["D", "N", "V"]


@pytest.mark.parametrize("order", [1, 2])
def test_the_best_taggings_come_in_order(order):
    model = Recipe(task="tag", learner=Chain(order=order)).fit(tagged())
    found = model.rank([["the", "fish", "run", "a"]], 20)[0]
    scores = [score for _, score in found]
    assert found[0][0] == model.predict([["the", "fish", "run", "a"]])[0]
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(tags) for tags, _ in found}) == 20
    total = model.body.transitions.marginals(model.scores(Sentences.from_lists([["the", "fish"]])), np.array([0, 2]))[1]
    every = model.rank([["the", "fish"]], 100)[0]
    assert len(every) == 9
    np.testing.assert_allclose(np.log(np.sum(np.exp([score for _, score in every]))), total)


@pytest.mark.parametrize("order", [1, 2])
def test_reasons_add_up_to_the_margin(order):
    model = Recipe(task="tag", learner=Chain(order=order)).fit(tagged())
    tokens = ["the", "fish", "run"]
    why = model.explain(tokens, 1)
    assert (why.text, why.at, why.predicted) == ("the fish run", (4, 8), ("N",))
    every = model.rank([tokens], 27)[0]
    second, score = next((tags, score) for tags, score in every if tags[1] != "N")
    assert why.contrast.against == second[1]
    assert why.contrast.score == pytest.approx(every[0][1] - score, abs=1e-4)
    assert why.contrast.score == pytest.approx(sum(part.contribution for part in why.contrast.parts()))
    assert any("lower[-1]=the" in part.name for part in why.contrast.parts())
    places = {(spot.start, spot.end) for part in why.contrast.parts() for spot in part.spots}
    assert (4, 8) in places <= {(0, 3), (4, 8), (9, 12)}
    assert f"fish: N (score {why.reasons[0].score:+.3f}); next {second[1]}" in str(why)
    assert why.to_json()["at"] == {"start": 4, "end": 8, "text": "fish"}


def test_words_of_the_dictionary_keep_their_tag():
    model = Recipe(task=Tag(dictionary=2)).fit(tagged())
    assert model.words["the"] == model.names.index("D")
    assert "fish" not in model.words
    assert model.predict([["the", "the"]]) == [["D", "D"]]


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads():
    found = set()
    for count in (1, 2, 5):
        with threads(count):
            model = Recipe(task="tag").fit(tagged())
            found.add(model.body.W.tobytes() + model.probabilities(tagged(seed=2)).tobytes())
    assert len(found) == 1
    other = Recipe(task="tag", seed=1).fit(tagged())
    assert other.body.W.tobytes() not in next(iter(found))


def test_a_crf_of_single_tokens_is_the_multiclass_classifier():
    from linnaeus.estimators.named import LogisticRegression

    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = rng.integers(0, 3, 60)
    rows = CSR(np.arange(0, 301, 5), np.tile(np.arange(5, dtype=np.int32), 60), X.ravel(), 5)
    learner = BatchChain(strength=0.7, epochs=1000, tol=1e-14)
    chain = learner.learn_tags(GroupedLesson(rows, Tags(np.arange(61), y.astype(np.int32)), 3))
    # The first tag's score is a weight like all others: a constant feature.
    plain = LogisticRegression(strength=0.7, bias="none", tol=1e-14, epochs=1000).fit(np.c_[X, np.ones(60)], y)
    ours = X @ chain.W.astype(float) + chain.shared[0]
    theirs = plain.decision_function(np.c_[X, np.ones(60)])
    np.testing.assert_allclose(ours - ours[:, :1], theirs - theirs[:, :1], atol=1e-6)
    assert not chain.shared[1:].any()


def test_one_word_or_one_tag():
    model = Recipe(task="tag").fit([[("a", "X")]])
    assert model.predict([["a"], ["b", "c"]]) == [["X"], ["X", "X"]]


def test_a_very_long_sentence():
    model = Recipe(task="tag").fit(tagged())
    assert len(model.predict([["the", "dog"] * 50_000])[0]) == 100_000


def test_what_cannot_be_learned_is_refused():
    with pytest.raises(DataError, match="no tags"):
        Recipe(task="tag").fit(Sentences.from_lists([["a"]]))
    with pytest.raises(DataError, match="no token"):
        Recipe(task="tag").fit(Sentences.from_lists([[]], [[]]))
    with pytest.raises(DataError, match="'N' is not an entity tag"):
        Recipe(task=Tag(encoding="bio")).fit(Sentences.from_lists([["a"]], [["N"]]))
    with pytest.raises(UsageError, match="encoding"):
        Recipe(task=Tag(encoding="iob"))
    with pytest.raises(UsageError, match="dictionary"):
        Recipe(task=Tag(encoding="bio", dictionary=3))
    for wrong in ({"loss": "squared"}, {"rate": 0.0}, {"epochs": 0}, {"order": 3}, {"strength": -1.0}):
        with pytest.raises(UsageError):
            Chain(**wrong)


def test_a_recipe_goes_through_plain_data():
    recipe = Recipe(task=Tag(encoding="plain", dictionary=3), learner=Greedy(order=2), seed=5)
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert recipe.changed({"epochs": 2, "min_count": 3}).features.min_count == 3
    with pytest.raises(UsageError, match="not known"):
        recipe.changed({"learner.speed": 1})


def test_a_little_penalty_changes_little():
    plain, held = (Recipe(task="tag", learner=Chain(strength=strength)).fit(tagged()) for strength in (0.0, 1e-6))
    np.testing.assert_allclose(held.body.W, plain.body.W, atol=1e-3)
    strong = Recipe(task="tag", learner=Chain(strength=1.0)).fit(tagged())
    assert np.abs(strong.body.W).sum() < np.abs(plain.body.W).sum()


@pytest.mark.parametrize("name", [name for name, row in RECIPES.items() if row.task == "tag"])
def test_every_recipe_with_a_name_learns(name):
    if name.endswith("-cnn"):
        pytest.importorskip("torch")
    found = recipe(name)
    data, held = (entities, entities(seed=1)) if found.task.encoding != "plain" else (tagged, tagged(seed=1))
    model = found.fit(data())
    assert model.evaluate(held).value() > 0.85
    assert model.evaluation.value() > 0.8, "sentences that a second training did not see"
    assert Recipe.from_json(found.to_json()) == found


def test_the_face(tmp_path):
    data = tagged()
    tokens, tags = data.lists(), data.lists(data.tags)
    tagger = Tagger(recipe="pos-crf", random_state=3)
    with pytest.raises(NotFittedError):
        tagger.predict(tokens)
    assert tagger.fit(tokens, tags).score(tokens, tags) > 0.9
    assert clone(tagger).get_params() == {"recipe": "pos-crf", "random_state": 3}
    chances = tagger.predict_marginals([["the", "dog"], []])
    assert [len(sentence) for sentence in chances] == [2, 0]
    assert sum(chances[0][0].values()) == pytest.approx(1.0)
    again = pickle.loads(pickle.dumps(tagger))
    assert again.predict(tokens) == tagger.predict(tokens)
    with pytest.raises(UsageError, match="no recipe"):
        Tagger("best").fit(tokens, tags)
    tagger.fit(tokens, tags).save(tmp_path / "t.lin")
    again = Tagger.load(tmp_path / "t.lin")
    assert again.predict(tokens) == tagger.predict(tokens)
    assert again.recipe == tagger.model_.recipe


def test_words_learn_from_others_of_their_cluster(tmp_path):
    path = tmp_path / "clusters.tsv"
    path.write_text("dog\t0101\nwug\t0101\nbarks\t1100\n")
    recipe = clustered(Recipe(task="tag"), str(path))
    model = recipe.fit([[("the", "D"), ("dog", "N")], [("dog", "N"), ("barks", "V")], [("barks", "V")]] * 5)
    assert model.predict([["wug"]]) == [["N"]]
    assert Recipe.from_json(recipe.to_json()) == recipe
    model.save(tmp_path / "tagger.lin")
    path.unlink()  # what the file said is in the model
    assert Model.load(tmp_path / "tagger.lin").predict([["wug"]]) == [["N"]]
