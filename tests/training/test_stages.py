"""Pipelines of classifiers: no stage learns from answers to rows that an earlier one was shown."""

from __future__ import annotations

import json
from itertools import chain

import numpy as np
import pytest

from linnaeus import Model, Recipe, Stage, Tag
from linnaeus.data.sentences import Sentences
from linnaeus.errors import LinnaeusError, UsageError
from linnaeus.features import Columns, Field, Words
from linnaeus.features.tokens import Templates, Window
from linnaeus.model.stages import Texts, Tokens
from linnaeus.training.stages import LearnedStage, material, row_keys

SPACE = "whitespace"
WORD = Recipe(task="tag", features=Templates((Window(("word",)),)))


def riddles(seed: int, n: int = 60) -> Sentences:
    """Sentences of words that stand nowhere else, tagged at random: whoever knows a tag was shown it."""
    rng = np.random.default_rng(seed)
    tokens = [[f"w{i}x{j}" for j in range(5)] for i in range(n)]
    return Sentences.from_lists(tokens, [rng.choice(["A", "B"], 5).tolist() for _ in tokens])


def share(said: list[str], truth: list[str]) -> float:
    return float(np.mean(np.array(said) == np.array(truth)))


def test_a_stage_is_shown_answers_to_rows_that_the_one_before_has_not_seen() -> None:
    data = riddles(0)
    first = LearnedStage(Stage("first", WORD, folds=5), Tokens(data), 0)
    truth = data.tags.to_pylist()
    assert share(list(chain(*first.model.predict(data))), truth) == 1.0, "the model itself knows them by heart"
    beside = first.beside(Tokens(data)).sentences.columns["first"].to_pylist()
    assert share(beside, truth) < 0.65, "what the next stage is shown does not"
    assert len(first.others) == 5


def test_each_answer_is_that_of_a_model_without_the_row() -> None:
    data = riddles(1, 20)
    first = LearnedStage(Stage("first", WORD, folds=4), Tokens(data), 3)
    beside = first.beside(Tokens(data)).sentences.lists(first.beside(Tokens(data)).sentences.columns["first"])
    keys = row_keys(first.stage, Tokens(data))
    for i, key in enumerate(keys):
        others = np.array([j for j, other in enumerate(keys) if first.parts[other] != first.parts[key]])
        assert i not in others
        assert beside[i] == WORD.fit(data.take(others)).predict([data.lists()[i]])[0]


def test_equal_rows_stand_in_one_part() -> None:
    data = riddles(2, 10)
    twice = Sentences.from_lists(data.lists() * 2, data.lists(data.tags) * 2)
    first = LearnedStage(Stage("first", WORD, folds=3), Tokens(twice), 0)
    said = first.beside(Tokens(twice)).sentences.columns["first"].to_pylist()
    assert share(said, twice.tags.to_pylist()) < 0.8


def test_rows_that_no_stage_has_seen_are_answered_by_the_whole_model() -> None:
    first = LearnedStage(Stage("first", WORD, folds=5), Tokens(riddles(3)), 0)
    new = Sentences.from_lists([["w0x0", "other"]])
    assert first.beside(Tokens(new)).sentences.columns["first"].to_pylist() == first.model.predict(new)[0]
    assert not first.others, "no further model is needed for them"


def test_labels_are_told_out_of_fold_too() -> None:
    rng = np.random.default_rng(4)
    rows = [(f"u{i}a u{i}b", str(rng.integers(2))) for i in range(60)]
    recipe = Recipe(features=Words())
    first = LearnedStage(Stage("first", recipe, folds=5), material(recipe, rows), 0)
    said = first.beside(material(recipe, rows)).batch().columns["first"].to_pylist()
    truth = [label for _, label in rows]
    assert share([str(c) for c in first.model.predict([text for text, _ in rows])], truth) == 1.0
    assert share(said, truth) < 0.7


TAGGED = [
    [("Ann", "N"), ("sees", "V"), ("Oslo", "N"), (".", "P")],
    [("Bob", "N"), ("likes", "V"), ("Rome", "N"), (".", "P")],
    [("the", "D"), ("dog", "N"), ("barks", "V"), (".", "P")],
] * 4
ENTITIES = [
    [("Ann", "B-PER"), ("Lee", "I-PER"), ("sees", "O"), ("Oslo", "B-LOC"), (".", "O")],
    [("Bob", "B-PER"), ("likes", "O"), ("Rome", "B-LOC"), (".", "O")],
] * 4
TOPICS = [("Ann Lee sees Oslo.", "travel"), ("The dog barks.", "pets"), ("Bob likes Rome.", "travel")] * 6


def three_stages() -> Recipe:
    templates = Templates((Window(("word", "shape")), Window(source="pos")))
    ner = Recipe(task=Tag(encoding="bio"), features=templates)
    return Recipe(
        features=Words()
        | Field("ner.entities", Words(tokenizer=SPACE))
        | Field("pos.tags", Words(tokenizer=SPACE, ngrams=(1, 2))),
        before=(Stage("pos", Recipe(task="tag")), Stage("ner", ner)),
    )


@pytest.fixture(scope="module")
def model() -> Model:
    return three_stages().fit(TOPICS, stages={"pos": TAGGED, "ner": ENTITIES})


def test_tags_entities_and_topic_in_one_model(model: Model) -> None:
    assert model.task.name == "classify"
    assert model.predict(["Ann sees Rome.", "the dog"]).tolist() == ["travel", "pets"]
    columns = next(model.ready(["Ann Lee sees Oslo. Bob likes Rome."]).batches()).columns
    assert columns["ner.entities"].to_pylist() == ["ann_lee_PER oslo_LOC bob_PER rome_LOC"]
    assert columns["pos.tags"].to_pylist()[0].split()[2:4] == ["V", "N"]
    names = list(model.features.names())
    assert any(name.startswith("ner.entities: ") for name in names)
    explained = model.explain("Ann sees Oslo.")
    assert explained.predicted == ("travel",)


def test_one_file_holds_all_stages(model: Model, tmp_path) -> None:
    path = tmp_path / "topics.lin"
    model.save(path)
    again = Model.load(path)
    texts = ["Ann Lee sees Oslo.", "", "a dog"]
    assert again.predict(texts).tolist() == model.predict(texts).tolist()
    assert again.recipe == model.recipe
    assert again.facts == model.facts
    assert [name for name, _ in again.stages] == ["pos", "ner"]
    assert again.evaluate(TOPICS).value() == model.evaluate(TOPICS).value() == 1.0


def test_a_tagger_can_be_last_and_a_classifier_first() -> None:
    templates = Templates((Window(("word",)), Window(source="topic")))
    recipe = Recipe(task="tag", features=templates, before=(Stage("topic", Recipe(features=Words())),))
    told = recipe.fit(TAGGED, stages={"topic": TOPICS})
    assert told.task.name == "tag"
    assert told.predict([["the", "dog", "barks"], []]) == [["D", "N", "V"], []]
    assert told.evaluate(TAGGED).value() == 1.0
    assert told.rank([["the", "dog"]], 2)[0][0][0] == ["D", "N"]
    reasons = told.explain(["the", "dog"], 1)
    assert (reasons.at, reasons.predicted) == ((4, 7), ("N",))
    assert any(part.name.startswith("topic[0]") for part in reasons.contrast.parts())
    with pytest.raises(UsageError, match="there are 2"):
        told.explain(Sentences.from_lists([["the"], ["dog"]]), 0)


def test_a_label_is_a_column_of_the_next_classifier() -> None:
    second = Recipe(
        features=Words() | Columns(categorical=("rough",)), before=(Stage("rough", Recipe(features=Words())),)
    )
    model = second.fit(TOPICS, stages={"rough": TOPICS})
    assert "rough=travel" in list(model.features.names())
    assert model.predict(["Bob likes Rome."]).tolist() == ["travel"]


def test_recipes_go_through_plain_data() -> None:
    recipe = three_stages()
    assert Recipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe


def after(*stages: Stage) -> Recipe:
    return Recipe(task="tag", features=WORD.features, before=stages)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: after(Stage("a", WORD), Stage("a", WORD)), "called 'a'"),
        (lambda: Stage("two words", WORD), "one word"),
        (lambda: Stage("a", Words()), "takes a Recipe"),
        (lambda: Stage("a", "nope"), "no recipe 'nope'"),
        (lambda: Stage("a", WORD, folds=1), "folds"),
        (lambda: after("a"), "before takes Stage"),
        (lambda: after(Stage("a", Recipe(task="rank"))), "later stages cannot read"),
        (lambda: after(Stage("a", after(Stage("b", WORD)))), "stages of its own"),
        (lambda: after(Stage("a", WORD)).fit(TAGGED), "'a' has no data"),
        (lambda: after(Stage("a", WORD)).fit(TAGGED, stages={"c": TAGGED}), "no stage 'c'"),
        (lambda: after(Stage("a", WORD)).fit(TAGGED[:1], stages={"a": TAGGED[:1]}), "one row"),
        (lambda: Recipe.from_json({"before": [{"name": "a"}]}), "lacks the entry 'recipe'"),
        (lambda: Recipe.from_json({"before": [{"name": "a", "recipes": 1}]}), "'recipes'"),
    ],
)
def test_what_cannot_be_is_said(wrong, said: str) -> None:
    with pytest.raises(LinnaeusError, match=said):
        wrong()


def test_texts_without_words_have_empty_columns() -> None:
    rows = Texts.of(["", "one"])
    assert len(rows) == 2
    assert rows.tagged("pos", rows.sentences.tokens, False).batch().columns["pos.tags"].to_pylist() == ["", "one"]
