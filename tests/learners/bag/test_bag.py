"""Embedding bags: what they learn, from which settings, and what becomes of odd data."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import linnaeus
from linnaeus import Recipe
from linnaeus.arrays.word_table import WordTable
from linnaeus.errors import LinnaeusError, LinnaeusWarning
from linnaeus.features import Exact, Hashed, Words
from linnaeus.learners.bag import EmbeddingBag, FittedBag
from linnaeus.learners.run import Run
from linnaeus.model.model import Model
from linnaeus.store.parts import PartsFile

WORDS = {"fruit": ("apple", "pear", "plum"), "metal": ("iron", "zinc", "lead"), "tree": ("oak", "elm", "ash")}
ASKED = ["apple and plum", "the zinc", "one oak, an elm", "", "unknown things", "lead lead pear"]
SMALL = EmbeddingBag(width=6, epochs=12)


def rows(classes=3, count=20, seed=0):
    rng, names = np.random.default_rng(seed), list(WORDS)[:classes]
    return [
        (" ".join([*rng.choice(WORDS[name], 3), *rng.choice(["a", "the", "one"], 2)]), name) for name in names * count
    ]


def fitted(learner=SMALL, data=None, features=None, **settings):
    return Recipe(features=features or Words(), learner=learner, **settings).fit(data or rows())


def body(model) -> FittedBag:
    return model.body


SETTINGS = {
    "mean": {},
    "sum": {"pool": "sum", "rate": 0.1},
    "max": {"pool": "max"},
    "hinge": {"loss": "hinge"},
    "one-vs-rest": {"output": "onevsrest", "loss": "logistic"},
    "tree": {"output": "huffman"},
    "drawn": {"output": "onevsrest", "negatives": 1},
    "costs": {"loss": "softmargin", "costs": ((0, 1, 2), (1, 0, 1), (2, 1, 0))},
    "balanced": {"class_weight": "balanced"},
    "decay": {"decay": 0.1},
    "held out": {"held_out": 0.2},
    "few": {"most": 8},
    "quantized": {"quantized": 2},
    "rare left out": {"least": 3},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_it_learns_is_saved_and_gives_the_same_bits_again(name, tmp_path):
    model = fitted(replace(SMALL, **SETTINGS[name]))
    assert model.predict(ASKED[:3]).tolist() == ["fruit", "metal", "tree"]
    assert np.allclose(model.probabilities(ASKED).sum(axis=1), 1)
    model.save(tmp_path / "m.lin")
    again = linnaeus.load(tmp_path / "m.lin")
    assert np.array_equal(model.scores(ASKED), again.scores(ASKED))
    assert again.recipe == model.recipe


@pytest.mark.parametrize("name", SETTINGS)
def test_threads_change_no_bit(name):
    learner = replace(SMALL, **SETTINGS[name])
    with linnaeus.threads(1):
        wanted = fitted(learner).scores(ASKED)
    for count in (2, 3, 8):
        with linnaeus.threads(count):
            assert np.array_equal(fitted(learner).scores(ASKED), wanted)


@pytest.mark.parametrize("pool", ["mean", "sum", "max"])
def test_batches_change_no_bit(pool):
    model = fitted(replace(SMALL, pool=pool))
    one_by_one = np.concatenate([model.scores([text]) for text in ASKED])
    assert np.array_equal(model.scores(ASKED), one_by_one)


def test_seeds_differ_and_repeat():
    first, again, other = (fitted(seed=seed).scores(ASKED) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_label_sets():
    data = [(text, [label]) for text, label in rows()] + [("apple iron", ["fruit", "metal"])] * 10
    for changes in ({}, {"negatives": 2}):
        model = fitted(replace(SMALL, epochs=30, **changes), [*data, ("a the one", [])] * 1)
        assert set(model.predict(["apple plum pear iron zinc"])[0]) == {"fruit", "metal"}


def test_hashed_features_keep_only_columns_that_occur():
    model = fitted(features=Words(ngrams=(1, 2), terms=Hashed(bits=18, signed=False)))
    assert body(model).columns is not None
    assert len(body(model).E) < 400
    assert model.predict(ASKED[:3]).tolist() == ["fruit", "metal", "tree"]


def test_empty_and_unknown_texts_have_the_bias_alone():
    model = fitted()
    S = model.scores(["", "unknown things"])
    assert np.array_equal(S, np.tile(body(model).b.astype(np.float64), (2, 1)))


def test_unknown_words_do_not_count_in_the_mean():
    model = fitted(features=Words(terms=Hashed(bits=18, signed=False)))
    assert np.array_equal(model.scores(["zinc"]), model.scores(["zinc qwertz asdf yxcv"]))


def test_a_vocabulary_of_one_word_and_a_class_of_one_row():
    model = fitted(data=[("word", "a"), ("word word", "b"), ("word", "a")])
    assert set(model.predict(["word", ""]).tolist()) <= {"a", "b"}
    model = fitted(data=[*rows(2), ("gold", "rare")])
    assert model.predict(["gold"]).tolist() == ["rare"]


def test_texts_without_any_words():
    model = fitted(data=[("", "a"), ("", "b"), ("", "a")], features=Words(terms=Hashed(bits=8, signed=False)))
    assert model.predict([""]).tolist() == ["a"]


def test_weights_of_rows_count():
    data = [("word", "a"), ("word", "b")]
    for heavy in (0, 1):
        weights = [10.0 if i == heavy else 0.1 for i in range(2)]
        found = SMALL.learn(_lesson(data, weights)).scores(_lesson(data, weights).X)
        assert (found[0, 0] > 0) == bool(heavy)


def _lesson(data, weights):
    from linnaeus.types import Lesson

    X = Words().fit([text for text, _ in data]).rows([text for text, _ in data])
    y = np.array([label == "b" for _, label in data]).astype(np.int32)
    return Lesson(X, y, np.array(weights), 2)


TABLE = WordTable(
    [word for words in WORDS.values() for word in words],
    (np.repeat(np.eye(3), 3, axis=0) + 0.1 * np.random.default_rng(0).normal(size=(9, 3))).astype(np.float32),
)


@pytest.mark.parametrize(("lookup", "width"), [("static", 3), ("started", 3), ("both", 9)])
def test_given_vectors(lookup, width):
    model = SMALL_OF(lookup)
    assert body(model).E.shape[1] == width
    assert model.predict(ASKED[:3]).tolist() == ["fruit", "metal", "tree"]
    names = list(model.features.names())
    found = body(model).E[names.index("zinc"), :3]
    assert np.array_equal(found, TABLE.vectors[TABLE.numbers["zinc"]]) == (lookup != "started")


def SMALL_OF(lookup):  # noqa: N802 - it stands for a constant
    from linnaeus.learners.problems import learn

    texts, labels = zip(*rows(), strict=True)
    features = Words().fit(list(texts))
    learner = replace(SMALL, epochs=30, lookup=lookup, vectors=TABLE)
    model = fitted(SMALL)
    from linnaeus.arrays.labels import encode
    from linnaeus.learners.problems import posed_family

    problem = posed_family(learner, features.rows(list(texts)), encode(list(labels)), np.ones(len(texts)))
    found = learn(learner, replace(problem, names=features.names), 0)
    return replace(model, features=features, body=found)


def test_vectors_are_read_from_a_file(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("3 2\napple 1 0\nzinc 0 1\noak -1 -1\n")
    model = fitted(replace(SMALL, lookup="started", vectors=str(path), epochs=30))
    assert model.predict(["apple", "zinc", "oak"]).tolist() == ["fruit", "metal", "tree"]
    assert Model.load(_saved(model, tmp_path)).predict(["apple"]).tolist() == ["fruit"]


def _saved(model, folder):
    model.save(folder / "m.lin")
    return folder / "m.lin"


WRONG = [
    ({"pool": "median"}, "pool is one of"),
    ({"lookup": "both"}, "vectors are given"),
    ({"vectors": "v.txt"}, "vectors are given"),
    ({"width": 0}, "width"),
    ({"epochs": 1.5}, "epochs"),
    ({"rate": 0.0}, "rate"),
    ({"decay": -1.0}, "decay"),
    ({"held_out": 1.0}, "held_out"),
    ({"quantized": 0}, "quantized"),
    ({"loss": "huber"}, "losses that its kernel knows"),
]


@pytest.mark.parametrize(("settings", "said"), WRONG)
def test_settings_that_mean_nothing_are_refused(settings, said):
    with pytest.raises(LinnaeusError, match=said):
        EmbeddingBag(**settings)


UNFIT = [
    ({"output": "onevsone"}, "no steps for the output"),
    ({"negatives": 3}, "onevsrest"),
    ({"output": "huffman", "loss": "softmargin"}, "log or logistic"),
    ({"lookup": "static", "vectors": "missing.txt"}, "missing.txt"),
]


@pytest.mark.parametrize(("settings", "said"), UNFIT)
def test_settings_that_do_not_fit_each_other_are_refused(settings, said):
    with pytest.raises(LinnaeusError, match=said):
        fitted(replace(SMALL, **settings))


def test_vectors_of_other_words_are_refused(tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("1 2\nxyzzy 1 0\n")
    with pytest.raises(LinnaeusError, match="No feature is a word"):
        fitted(replace(SMALL, lookup="static", vectors=str(path)))


def test_numbers_are_refused():
    with pytest.raises(LinnaeusError, match="numbers"):
        Recipe(task="regress", features=Words(), learner=SMALL).fit([("a", 1.0), ("b", 2.0)])


# --- Training ---


class _StopsAt:
    def __init__(self, file, name, puts):
        self.part, self.left = file.part(name), puts

    def get(self):
        return self.part.get()

    def put(self, state):
        self.part.put(state)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


@pytest.mark.parametrize("changes", [{}, {"held_out": 0.25, "patience": 2}, {"negatives": 1, "output": "onevsrest"}])
@pytest.mark.parametrize("stop", [1, 3])
def test_an_interrupted_training_ends_with_the_same_bits(changes, stop, tmp_path):
    from linnaeus.arrays.labels import encode
    from linnaeus.learners.problems import learn, posed_family

    texts, labels = zip(*rows(), strict=True)
    learner = replace(SMALL, epochs=6, **changes)
    X = Words().fit(list(texts)).rows(list(texts))
    problem = posed_family(learner, X, encode(list(labels)), np.ones(len(texts)))
    whole = learn(learner, problem, 3)
    file = PartsFile(tmp_path / "work.part", belongs="x")
    with pytest.raises(KeyboardInterrupt):
        learn(learner, problem, 3, Run(kept=_StopsAt(file, "bag", stop)))
    file.write()
    again = PartsFile(tmp_path / "work.part", belongs="x")
    found = learn(learner, problem, 3, Run(kept=again.part("bag")))
    assert np.array_equal(found.E, whole.E)
    assert np.array_equal(found.O, whole.O)


def test_progress_is_told():
    from linnaeus.learners.bag import training

    said = []
    before, training.PAUSE = training.PAUSE, 0.0
    try:
        Recipe(features=Words(), learner=SMALL).fit(rows(), progress=said.append)
    finally:
        training.PAUSE = before
    assert any("loss" in phase.note for phase in said)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
def test_a_loss_that_is_not_finite_halves_the_rate():
    with pytest.warns(LinnaeusWarning, match="goes on from the last epoch"), pytest.raises(LinnaeusError, match="rate"):
        fitted(replace(SMALL, loss="squared", output="onevsrest", rate=1e30, smoothing=1e30))


def test_held_out_rows_stop_a_training(monkeypatch):
    from linnaeus.learners.bag import training

    epochs = []
    real = training._Training._epoch
    monkeypatch.setattr(training._Training, "_epoch", lambda self, epoch: (epochs.append(epoch), real(self, epoch))[1])
    fitted(replace(SMALL, held_out=0.3, patience=1, epochs=500, rate=1.0))
    assert len(epochs) < 500


def test_cross_validation_and_the_decay_that_it_tunes():
    from linnaeus.recipes.tuning import Tuning

    model = fitted(tuning=Tuning(folds=3, strengths=(1.0, 0.01)))
    assert model.evaluation.metrics["accuracy"] > 0.9
    assert model.facts["strength"] in (1.0, 0.01)


# --- Explanations ---


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("pool", ["mean", "sum"])
@pytest.mark.parametrize("terms", [Exact(), Hashed(bits=16, signed=False)])
def test_explanations_add_up_to_the_score(pool, classes, terms):
    model = fitted(replace(SMALL, pool=pool), rows(classes), Words(ngrams=(1, 2), terms=terms))
    why = model.explain("apple plum the zinc unknown")
    assert why.exact
    for reason in why.reasons:
        assert reason.bias + reason.contributions.sum() == pytest.approx(reason.score, abs=1e-5)
    S = model.scores(["apple plum the zinc unknown"])[0]
    wanted = S[list(model.classes).index(why.predicted[0])] if classes > 2 else abs(S[0])
    assert why.reason().score == pytest.approx(wanted, abs=1e-5)


def test_explanations_of_largest_numbers_are_approximate():
    assert not fitted(replace(SMALL, pool="max")).explain("apple plum").exact


def test_explanations_of_trees_add_up():
    why = fitted(replace(SMALL, output="huffman")).explain("apple plum the zinc")
    assert why.exact
    for reason in why.reasons:
        assert reason.bias + reason.contributions.sum() == pytest.approx(reason.score, abs=1e-6)


def test_a_linear_bag_shows_its_weights():
    model = fitted(replace(SMALL, pool="sum", rate=0.1))
    top = {one.name: one for one in model.top_features(3)}
    assert set(top) == set(WORDS)
    assert np.allclose(model.scores(ASKED), body(model).scores(model.features.rows(ASKED)), atol=1e-5)
