"""Lemmas: what a tagger of edit scripts learns, answers, explains, keeps in its file, and refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from linnaeus import Model, Recipe, Stage, Tag, threads
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.estimators.tagger import Tagger
from linnaeus.features import Field, Words
from linnaeus.model.file import model_of, state_of
from linnaeus.recipes.cookbook import recipe
from linnaeus.types import State

NOUNS = ["dog", "cat", "tree", "house", "party", "berry", "Swede"]
VERBS = ["bark", "walk", "jump", "play", "look"]


def plural(noun):
    return noun[:-1] + "ies" if noun.endswith("y") else noun + "s"


def lemmas(count=60, seed=0, columns=("upos",)):
    """Sentences such as The dogs walked, with lemmas as tags."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        noun, verb = str(rng.choice(NOUNS)), str(rng.choice(VERBS))
        row = [("The", "the", "DET"), (plural(noun), noun, "NOUN"), (verb + "ed", verb, "VERB")]
        rows.append([*row, ("is", "be", "AUX")] if rng.random() < 0.5 else row)
    tokens, said, tags = ([[cell[i] for cell in row] for row in rows] for i in range(3))
    return Sentences.from_lists(tokens, said, dict.fromkeys(columns, tags))


@pytest.fixture(scope="module")
def model():
    return recipe("lemmas").fit(lemmas())


def test_lemmas_of_words_that_training_has_not_seen(model):
    new = Sentences.from_lists([["The", "cherries", "melted"]], columns={"upos": [["DET", "NOUN", "VERB"]]})
    assert model.predict(new) == [["the", "cherry", "melt"]]


def test_lemmas_are_judged_as_strings_and_none_is_unknown(model):
    test = Sentences.from_lists(
        [["The", "ferries", "is"]], [["the", "ferry", "be"]], {"upos": [["DET", "NOUN", "AUX"]]}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.evaluate(test)
    assert found.value("accuracy") == found.value("unknown_accuracy") == 1.0
    assert "f1" not in found.metrics


def test_lemmas_that_look_like_entities_are_lemmas():
    data = Sentences.from_lists([["B-52"]] * 4, [["B-52"]] * 4)
    found = Recipe(task=Tag(encoding="edits")).fit(data).evaluate(data)
    assert found.value("accuracy") == 1.0
    assert "f1" not in found.metrics


def test_tags_are_read_where_the_data_have_them(model):
    assert set(model.features.templates.fields()) == {"word", "upos"}
    alone = recipe("lemmas").fit(lemmas(columns=()))
    assert set(alone.features.templates.fields()) == {"word"}
    assert alone.predict([["the", "dogs", "walked"]]) == [["the", "dog", "walk"]]
    every = recipe("lemmas").fit(lemmas(columns=("upos", "xpos", "feats", "misc")))
    assert set(every.features.templates.fields()) == {"word", "upos", "xpos", "feats"}


def test_a_column_that_was_learned_from_is_missed(model):
    with pytest.raises(DataError, match=r"no column 'upos'.*an earlier stage"):
        model.predict([["The", "dogs"]])


def test_empty_sentences_and_tokens():
    model = recipe("lemmas").fit(lemmas(columns=()))
    assert model.predict([[], [""], ["s"], ["The", ""]])[0] == []
    assert model.predict([[""]]) in ([[""]], [["be"]])
    P = model.probabilities([["", "s", "dogs"]])
    assert np.allclose(P.sum(axis=1), 1.0)


def test_the_best_lemmatizations_are_different(model):
    ranked = model.rank(lemmas(1), 5)[0]
    said = [tuple(tags) for tags, _ in ranked]
    assert len(set(said)) == len(said) == 5
    assert list(said[0]) == model.predict(lemmas(1))[0]
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)


def test_a_lemma_is_explained_against_another_lemma(model):
    why = model.explain(lemmas(1), 1)
    assert why.predicted == (lemmas(1).tags[1].as_py(),)
    assert why.contrast.against not in why.predicted
    assert abs(sum(part.contribution for part in why.contrast.parts()) - why.contrast.score) < 1e-6


def test_a_file_holds_all_of_it(model, tmp_path):
    model.save(tmp_path / "lemmas.lin")
    again = Model.load(tmp_path / "lemmas.lin")
    assert again.recipe == model.recipe
    assert again.predict(lemmas(seed=1)) == model.predict(lemmas(seed=1))
    assert again.probabilities(lemmas(seed=1)).tobytes() == model.probabilities(lemmas(seed=1)).tobytes()
    again.save(tmp_path / "again.lin")
    assert (tmp_path / "again.lin").read_bytes() == (tmp_path / "lemmas.lin").read_bytes()


def test_the_same_bits_on_any_number_of_threads():
    found = set()
    for count in (1, 2, 5):
        with threads(count):
            model = recipe("lemmas").fit(lemmas())
            said = model.predict(lemmas(seed=1))
            found.add(model.body.W.tobytes() + model.scores(lemmas(seed=1)).tobytes() + repr(said).encode())
    assert len(found) == 1


def renamed(state, old, new):
    data = state.tensors["classes.bytes"].tobytes()
    assert len(old) == len(new)
    assert old in data
    return State(state.manifest, {**state.tensors, "classes.bytes": np.frombuffer(data.replace(old, new), np.uint8)})


def test_a_file_with_what_is_no_script_is_refused(model):
    state = state_of(model)
    for new in (b"loser $1", b"lower $x", b"lower +1", b"lower $0", b"\x00ower $1"):
        with pytest.raises(ModelFileError):
            model_of(renamed(state, b"lower $1", new))


def test_sparse_weights_that_do_not_fit_are_refused(model):
    state = state_of(model)
    assert "body.W" not in state.tensors, "a perceptron has few weights that are not zero"
    columns, values = state.tensors["body.W.columns"], state.tensors["body.W.values"]
    body = state.manifest["body"]
    bad = [
        ({}, {"body.W.columns": columns[::-1].copy()}),
        ({}, {"body.W.columns": columns + len(model.names)}),
        ({}, {"body.W.values": values.astype(np.float64)}),
        ({}, {"body.W.values": np.full_like(values, np.inf)}),
        ({}, {"body.W.values": np.full_like(values, 1e30)}),
        ({}, {"body.W.offsets": state.tensors["body.W.offsets"][:-1]}),
        ({}, {"body.shared": state.tensors["body.shared"][0]}),
        ({"body": {**body, "W.width": 50_000}}, {"body.shared": np.zeros((0, 50_000), np.float32)}),
        ({"body": {**body, "W.width": 2**31 - 1}}, {}),
        ({"body": {**body, "W.width": "no"}}, {}),
    ]
    for manifest, tensors in bad:
        with pytest.raises(ModelFileError):
            model_of(State({**state.manifest, **manifest}, {**state.tensors, **tensors}))


def test_a_token_without_a_lemma_is_named():
    data = Sentences.from_lists([["a"], ["b", "cs"], ["d"]], [["a"], ["b", None], [None]])
    with pytest.raises(DataError, match=r"sentence 2, token 2 \('cs'\) has no tag, as 1 more; give sentences"):
        recipe("lemmas").fit(data)


def test_a_lemma_with_a_nul_is_refused():
    with pytest.raises(DataError, match="NUL"):
        Sentences.from_lists([["a"]], [["a\0"]])


def test_a_dictionary_keeps_the_scripts_of_frequent_words():
    model = Recipe(task=Tag(encoding="edits", dictionary=5)).fit(lemmas())
    assert model.names[model.words["The"]] == "lower"
    assert model.predict([["The"]]) == [["the"]]


def test_the_recipe_is_found_by_the_data():
    task = Tag()
    assert task.fitting(task.examples(lemmas())) == "lemmas"
    assert task.fitting(task.examples([[("the", "DET"), ("dog", "NOUN")]])) == "pos"
    assert task.fitting(task.examples([[("B-52", "B-X")]])) == "entities"


def test_the_column_of_lemmas_is_plain_only_if_no_tags_are_there():
    tokens, said = [["Dogs"]], [["dog"]]
    assert read_sentences({"tokens": tokens, "lemma": said}).tags.to_pylist() == ["dog"]
    assert read_sentences({"tokens": tokens, "lemmas": said, "pos": [["N"]]}).tags.to_pylist() == ["N"]


def test_the_estimator_takes_the_recipe():
    data = lemmas(columns=())
    tokens, tags = data.lists(), data.lists(data.tags)
    assert Tagger(recipe="lemmas").fit(tokens, tags).score(tokens, tags) == 1.0


# Pipelines


def pipeline(features):
    tagger = recipe("pos").changed({"tuning": None})
    lemmatizer = recipe("lemmas").changed({"tuning": None})
    return Recipe(features=features, before=(Stage("upos", tagger), Stage("lemma", lemmatizer)))


def test_lemmas_are_features_of_texts(tmp_path):
    data = lemmas(columns=("upos", "xpos", "feats"))
    tags = data.with_tags(data.columns["upos"])
    texts = [("The dogs barked.", "pets"), ("The trees looked.", "plants")] * 5
    model = pipeline(Field("lemma.tags", Words(tokenizer="whitespace"))).fit(
        texts, stages={"upos": tags, "lemma": data}
    )
    batch = next(model.ready(["The berries walked"]).batches())
    assert batch.columns["lemma.tags"].to_pylist() == ["the berry walk"]
    assert model.predict(["The dog", "a tree"]).tolist() == ["pets", "plants"]
    model.save(tmp_path / "topics.lin")
    assert Model.load(tmp_path / "topics.lin").predict(["The dog"]).tolist() == ["pets"]


def test_in_a_pipeline_only_columns_of_earlier_stages_are_read():
    stages = pipeline(Words()).before
    assert set(stages[1].recipe.features.fields()) == {"word", "upos"}
    alone = Recipe(before=(Stage("lemma", "lemmas"),)).before[0]
    assert set(alone.recipe.features.fields()) == {"word"}
    last = Recipe.from_json({"recipe": "lemmas", "before": [{"name": "xpos", "recipe": "pos"}]})
    assert set(last.features.fields()) == {"word", "xpos"}
    assert Recipe.from_json(last.to_json()) == last


def test_templates_that_are_all_optional_need_one_column():
    from linnaeus.features.tokens import Templates, Window

    tags = Templates((Window(source="upos"),), optional=("upos",))
    assert tags.fit(lemmas()).width > 0
    with pytest.raises(UsageError, match="all templates look at upos"):
        tags.fit(lemmas(columns=()))
