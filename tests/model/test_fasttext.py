"""Imported models of fastText: its labels and probabilities, and everything that other models do."""

from __future__ import annotations

import numpy as np
import pytest
from tests.fasttext_files import LABELS, TEXTS, Made

import linnaeus
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.features import FastTextTerms
from linnaeus.recipes.recipe import Recipe

MODELS = {
    "softmax": Made(),
    "hs": Made("hs", labels=[f"l{i}" for i in range(9)]),
    "ova": Made("ova"),
    "ns": Made("ns", word_ngrams=2, bucket=50),
    "subwords": Made(minn=2, maxn=4, bucket=60),
    "subwords from one character": Made("ova", minn=0, maxn=2, bucket=7),
    "no subwords of that length": Made(minn=5, maxn=3, bucket=7),
    "both n-grams": Made("hs", word_ngrams=5, minn=3, maxn=3, bucket=90),
    "quantized": Made("ova", form="quantized", minn=2, maxn=3, bucket=40),
    "norms apart": Made("ns", form="norms", dim=7, word_ngrams=3, bucket=40),
    "one piece for each row": Made("softmax", form="whole rows"),
    "pruned": Made("softmax", form="quantized", word_ngrams=2, minn=2, maxn=3, bucket=40, kept={3: 0, 17: 2, 30: 1}),
    "pruned of all": Made("hs", form="quantized", word_ngrams=2, bucket=40, kept={}),
    "one label": Made(labels=["only"]),
    "one label of a tree": Made("hs", labels=["only"]),
    "one dimension": Made("ova", dim=1),
    "without the end of a text": Made(words=["good", "bad"]),
}


@pytest.fixture(params=MODELS, ids=str)
def made(request):
    return MODELS[request.param]


@pytest.fixture
def opened(made, tmp_path):
    """The model after a way through a file of ours."""
    (tmp_path / "m.bin").write_bytes(made.raw())
    linnaeus.import_fasttext(tmp_path / "m.bin").save(tmp_path / "m.lin")
    return linnaeus.load(tmp_path / "m.lin")


def test_ids_are_those_of_fasttext(made, opened):
    X = opened.features.rows(TEXTS)
    assert [X.indices[a:b].tolist() for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)] == list(
        map(made.ids, TEXTS)
    )
    assert set(X.data.tolist()) <= {1.0}


def test_labels_and_probabilities_are_those_of_fasttext(made, opened):
    wanted = np.array([made.chances(text) for text in TEXTS])
    P = opened.probabilities(TEXTS)
    assert opened.classes.tolist() == made.labels
    assert np.allclose(P, wanted, atol=1e-6)
    for text, label, row in zip(TEXTS, opened.predict(TEXTS).tolist(), wanted, strict=True):
        if made.ids(text):
            assert row[made.labels.index(label)] == pytest.approx(row.max(), abs=1e-6)


def test_a_batch_is_its_rows(opened):
    whole = opened.scores(TEXTS)
    assert np.array_equal(whole, np.concatenate([opened.scores([text]) for text in TEXTS]))
    assert opened.probabilities([]).shape == (0, len(opened.classes))


def test_names_are_as_many_as_columns(made, opened):
    names = opened.features.names()
    assert len(names) == opened.features.width == len(made.inputs.rows)
    assert names[: len(made.words)] == made.words


def test_of_equal_probabilities_the_last_label_wins(tmp_path):
    made = Made("ova")
    made.outputs.raw = made.outputs.raw[:16] + bytes(4 * made.dim * len(made.labels))
    (tmp_path / "m.bin").write_bytes(made.raw())
    model = linnaeus.import_fasttext(tmp_path / "m.bin")
    assert model.predict(["good"]).tolist() == [LABELS[-1]]
    assert model.probabilities(["good"])[0].tolist() == pytest.approx([0.50001] * 4)


def test_a_text_of_which_nothing_is_known_is_of_the_most_frequent_label(tmp_path):
    (tmp_path / "m.bin").write_bytes(Made(words=["good", "bad"]).raw())
    assert linnaeus.import_fasttext(tmp_path / "m.bin").predict(["what"]).tolist() == [LABELS[0]]


def test_line_breaks_are_spaces(tmp_path):
    (tmp_path / "m.bin").write_bytes(Made(word_ngrams=2, bucket=9).raw())
    model = linnaeus.import_fasttext(tmp_path / "m.bin")
    assert np.array_equal(model.scores(["good\nfilm\r\nbad\n"]), model.scores(["good film bad"]))


def test_saved_twice_it_has_the_same_bytes(opened, tmp_path):
    opened.save(tmp_path / "again.lin")
    assert (tmp_path / "again.lin").read_bytes() == (tmp_path / "m.lin").read_bytes()
    assert linnaeus.load(tmp_path / "again.lin").recipe == opened.recipe


def test_quantized_tables_stay_quantized(tmp_path):
    made = Made(form="norms", dim=64, words=["</s>", *(f"w{i}" for i in range(5000))])
    (tmp_path / "m.ftz").write_bytes(made.raw())
    model = linnaeus.import_fasttext(tmp_path / "m.ftz")
    held = sum(array.nbytes for array in model.body.state().tensors.values())
    assert held < 5000 * 64 * 4 / 4


def test_it_explains_evaluates_and_ranks(opened):
    text = "the bad film"
    assert opened.explain(text).predicted == (opened.predict([text])[0],)
    ranking = opened.rank([text], 3)[0]
    assert [p for _, p in ranking] == sorted((p for _, p in ranking), reverse=True)
    found = opened.evaluate([("good film", str(opened.classes[0])), (text, str(opened.classes[-1]))], rounds=0)
    assert 0 <= found.metrics["accuracy"] <= 1
    assert opened.classify(text).label == opened.predict([text])[0]
    assert "imported" in opened.facts


def test_its_recipe_says_the_settings_and_does_not_learn(opened, made):
    recipe = Recipe.from_json(opened.recipe.to_json())
    assert recipe == opened.recipe
    assert (recipe.learner.loss, recipe.features.word_ngrams) == (made.loss, made.word_ngrams)
    with pytest.raises(UsageError, match="linnaeus import"):
        recipe.fit([("good", "a"), ("bad", "b")])
    with pytest.raises(UsageError, match="linnaeus import"):
        Recipe(learner=recipe.learner).fit([("good", "a"), ("bad", "b")])


@pytest.mark.parametrize("what", ["updated", "compact"])
def test_it_does_not_go_on_learning(opened, what):
    with pytest.raises(UsageError):
        getattr(opened, what)([("good", str(opened.classes[0])), ("bad", str(opened.classes[-1]))])


def test_labels_without_the_prefix_are_left_as_they_are(tmp_path):
    raw = Made().raw().replace(b"__label__pos", b"__etiq_pos__")
    (tmp_path / "m.bin").write_bytes(raw)
    assert "__etiq_pos__" in linnaeus.import_fasttext(tmp_path / "m.bin").classes
    (tmp_path / "m.bin").write_bytes(Made().raw().replace(b"__label__", b"__class__"))
    assert linnaeus.import_fasttext(tmp_path / "m.bin", prefix="__class__").classes.tolist() == LABELS
    model = linnaeus.import_fasttext(tmp_path / "m.bin")
    assert model.classes[0] == "__class__pos"
    assert model.scores(["good __class__pos"]).tolist() == model.scores(["good"]).tolist()


@pytest.mark.parametrize(("label", "said"), [(b"\xff\xfe\xff", "not UTF-8"), (b"neg", "twice")])
def test_labels_that_cannot_be_classes(label, said, tmp_path):
    (tmp_path / "m.bin").write_bytes(Made().raw().replace(b"__label__pos", b"__label__" + label))
    with pytest.raises(ModelFileError, match=said):
        linnaeus.import_fasttext(tmp_path / "m.bin")


def damaged(state, **changes):
    manifest, tensors = dict(state.manifest), dict(state.tensors)
    for name, value in changes.items():
        (tensors if name in tensors else manifest)[name] = value
    return type(state)(manifest, {name: value for name, value in tensors.items() if value is not None})


@pytest.mark.parametrize(
    "change",
    [
        {"columns": 3},
        {"columns": 2**40},
        {"buckets": 0},
        {"buckets": 10**6},
        {"word_ngrams": 10**6},
        {"longest": -1},
        {"words.offsets": np.array([0, 5, 2], np.int64)},
        {"words.bytes": None},
        {"labels.bytes": np.zeros(1, np.int8)},
    ],
    ids=str,
)
def test_features_that_were_changed(change, tmp_path):
    (tmp_path / "m.bin").write_bytes(Made(word_ngrams=2, bucket=9).raw())
    features = linnaeus.import_fasttext(tmp_path / "m.bin").features
    with pytest.raises(ModelFileError):
        type(features).from_state(damaged(features.state(), **change))


@pytest.mark.parametrize(
    "change", [{"kept": np.array([5, 5, 6], np.int32)}, {"targets": np.array([0, 1, 99], np.int32)}, {"targets": None}]
)
def test_buckets_that_were_changed(change, tmp_path):
    (tmp_path / "m.ftz").write_bytes(MODELS["pruned"].raw())
    features = linnaeus.import_fasttext(tmp_path / "m.ftz").features
    with pytest.raises(ModelFileError):
        type(features).from_state(damaged(features.state(), **change))


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "hinge"},
        {"counts": np.array([1, 2], np.int64)},
        {"counts": np.array([1, 2, 3, -4], np.int64)},
        {"blocks": []},
        {"0.codes": np.zeros((3, 1), np.uint8)},
        {"0.centroids": np.zeros(3, np.float32)},
        {"0.norms": None},
        {"0.norm_codes": np.zeros(2, np.uint8)},
        {"1.codes": np.zeros((2, 3), np.uint8)},
        {"blocks": [{"kind": "strange"}, {"kind": "plain"}]},
        {"blocks": [{"kind": "plain"}, {"kind": "plain"}]},
        {"blocks": [{"kind": "quantized", "width": 7, "size": 2**40}, {"kind": "quantized", "width": 7, "size": 3}]},
        {"blocks": [{"kind": "quantized", "width": 7, "size": 0}, {"kind": "quantized", "width": 7, "size": 3}]},
    ],
    ids=str,
)
def test_tables_that_were_changed(change, tmp_path):
    (tmp_path / "m.bin").write_bytes(MODELS["norms apart"].raw())
    body = linnaeus.import_fasttext(tmp_path / "m.bin").body
    with pytest.raises(ModelFileError):
        type(body).from_state(damaged(body.state(), **change))


@pytest.mark.parametrize(
    "settings", [{"word_ngrams": 2}, {"longest": 3}, {"longest": 65, "buckets": 5}, {"word_ngrams": "2"}], ids=str
)
def test_settings_that_cannot_be(settings):
    with pytest.raises((UsageError, TypeError)):
        FastTextTerms(**settings)
