"""Pipelines of classifiers: no stage learns from answers to rows that an earlier one was shown."""

from __future__ import annotations

import json

import numpy as np
import pytest

from linnaeus import Classifier, Recipe
from linnaeus.data.sentences import Sentences
from linnaeus.errors import LinnaeusError, ModelFileError, UsageError
from linnaeus.features import Columns, Field, Words
from linnaeus.features.tokens import Templates, Window
from linnaeus.model.stack import StackModel
from linnaeus.model.stack_material import Texts, Tokens, of_texts
from linnaeus.recipes.stack_recipe import StackRecipe, Stage
from linnaeus.recipes.tag_recipe import TagRecipe
from linnaeus.training.stack import Learned, row_keys

SPACE = "whitespace"
WORD = TagRecipe(templates=Templates((Window(("word",)),)))


def riddles(seed: int, n: int = 60) -> Sentences:
    """Sentences of words that stand nowhere else, tagged at random: whoever knows a tag was shown it."""
    rng = np.random.default_rng(seed)
    tokens = [[f"w{i}x{j}" for j in range(5)] for i in range(n)]
    return Sentences.from_lists(tokens, [rng.choice(["A", "B"], 5).tolist() for _ in tokens])


def share(said: list[str], truth: list[str]) -> float:
    return float(np.mean(np.array(said) == np.array(truth)))


def test_a_stage_is_shown_answers_to_rows_that_the_one_before_has_not_seen() -> None:
    data = riddles(0)
    first = Learned(Stage("first", WORD), Tokens(data), 5, 0)
    truth = data.tags.to_pylist()
    assert share(first.model.tagged(data).to_pylist(), truth) == 1.0, "the model itself knows them by heart"
    beside = first.beside(Tokens(data)).sentences.columns["first"].to_pylist()
    assert share(beside, truth) < 0.65, "what the next stage is shown does not"
    assert len(first.others) == 5


def test_each_answer_is_that_of_a_model_without_the_row() -> None:
    data = riddles(1, 20)
    first = Learned(Stage("first", WORD), Tokens(data), 4, 3)
    beside = first.beside(Tokens(data)).sentences.lists(first.beside(Tokens(data)).sentences.columns["first"])
    keys = row_keys(first.stage, Tokens(data))
    for i, key in enumerate(keys):
        others = np.array([j for j, other in enumerate(keys) if first.parts[other] != first.parts[key]])
        assert i not in others
        assert beside[i] == WORD.fit(data.take(others)).tag([data.lists()[i]])[0]


def test_equal_rows_stand_in_one_part() -> None:
    data = riddles(2, 10)
    twice = Sentences.from_lists(data.lists() * 2, data.lists(data.tags) * 2)
    first = Learned(Stage("first", WORD), Tokens(twice), 3, 0)
    said = first.beside(Tokens(twice)).sentences.columns["first"].to_pylist()
    assert share(said, twice.tags.to_pylist()) < 0.8


def test_rows_that_no_stage_has_seen_are_answered_by_the_whole_model() -> None:
    first = Learned(Stage("first", WORD), Tokens(riddles(3)), 5, 0)
    new = Sentences.from_lists([["w0x0", "other"]])
    assert first.beside(Tokens(new)).sentences.columns["first"].to_pylist() == first.model.tagged(new).to_pylist()
    assert not first.others, "no further model is needed for them"


def test_labels_are_told_out_of_fold_too() -> None:
    rng = np.random.default_rng(4)
    rows = [(f"u{i}a u{i}b", str(rng.integers(2))) for i in range(60)]
    recipe = Recipe(features=Words())
    first = Learned(Stage("first", recipe), of_texts(rows), 5, 0)
    said = first.beside(of_texts(rows)).batch().columns["first"].to_pylist()
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


def three_stages() -> StackRecipe:
    ner = TagRecipe(templates=Templates((Window(("word", "shape")), Window(source="pos"))), encoding="bio")
    topic = Recipe(
        features=Words()
        | Field("ner.entities", Words(tokenizer=SPACE))
        | Field("pos.tags", Words(tokenizer=SPACE, ngrams=(1, 2)))
    )
    return StackRecipe((Stage("pos", TagRecipe()), Stage("ner", ner), Stage("topic", topic)))


@pytest.fixture(scope="module")
def model() -> StackModel:
    return three_stages().fit({"pos": TAGGED, "ner": ENTITIES, "topic": TOPICS})


def test_tags_entities_and_topic_in_one_model(model: StackModel) -> None:
    assert model.task == "classify"
    assert model.predict(["Ann sees Rome.", "the dog"]).tolist() == ["travel", "pets"]
    columns = model.ready(["Ann Lee sees Oslo. Bob likes Rome."]).columns
    assert columns["ner.entities"].to_pylist() == ["ann_lee_PER oslo_LOC bob_PER rome_LOC"]
    assert columns["pos.tags"].to_pylist()[0].split()[2:4] == ["V", "N"]
    names = list(model.last.features.names())
    assert any(name.startswith("ner.entities: ") for name in names)
    explained = model.explain("Ann sees Oslo.")
    assert explained.predicted == ("travel",)


def test_one_file_holds_all_stages(model: StackModel, tmp_path) -> None:
    path = tmp_path / "topics.lin"
    model.save(path)
    again = StackModel.load(path)
    texts = ["Ann Lee sees Oslo.", "", "a dog"]
    assert again.predict(texts).tolist() == model.predict(texts).tolist()
    assert again.recipe == model.recipe
    assert again.facts == model.facts
    with pytest.raises(ModelFileError, match="no classifier"):
        Classifier.load(path)


def test_a_tagger_can_be_last_and_a_classifier_first() -> None:
    told = StackRecipe(
        (
            Stage("topic", Recipe(features=Words())),
            Stage("pos", TagRecipe(templates=Templates((Window(("word",)), Window(source="topic"))))),
        )
    ).fit({"topic": TOPICS, "pos": TAGGED})
    assert told.task == "tag"
    assert told.predict([["the", "dog", "barks"], []]) == [["D", "N", "V"], []]
    reasons = told.explain(["the", "dog"], 1)
    assert (reasons.at, reasons.predicted) == ((4, 7), ("N",))
    assert any(part.name.startswith("topic[0]") for part in reasons.contrast.parts())
    assert told.last.nbest(told.ready_sentences([["the", "dog"]]), 2)[0][0] == ["D", "N"]
    with pytest.raises(UsageError, match="there are 2"):
        told.last.explain(told.ready_sentences([["the"], ["dog"]]), 0)


def test_a_label_is_a_column_of_the_next_classifier() -> None:
    first = Stage("rough", Recipe(features=Words()))
    second = Stage("fine", Recipe(features=Words() | Columns(categorical=("rough",))))
    model = StackRecipe((first, second)).fit({"rough": TOPICS, "fine": TOPICS})
    assert "rough=travel" in list(model.last.features.names())
    assert model.predict(["Bob likes Rome."]).tolist() == ["travel"]


def test_recipes_go_through_plain_data() -> None:
    recipe = three_stages()
    assert StackRecipe.from_json(json.loads(json.dumps(recipe.to_json()))) == recipe


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: StackRecipe(()), "one or more"),
        (lambda: StackRecipe((Stage("a", WORD), Stage("a", WORD))), "called 'a'"),
        (lambda: Stage("two words", WORD), "one word"),
        (lambda: Stage("a", Words()), "Recipe or a TagRecipe"),
        (lambda: StackRecipe((Stage("a", WORD),), folds=1), "folds"),
        (lambda: StackRecipe((Stage("a", WORD), Stage("b", WORD))).fit(TAGGED), "'a' has no data"),
        (lambda: StackRecipe((Stage("a", WORD),)).fit({"a": TAGGED, "c": TAGGED}), "no stage 'c'"),
        (lambda: StackRecipe((Stage("a", WORD), Stage("b", WORD))).fit({"a": TAGGED[:1], "b": TAGGED[:1]}), "one row"),
        (lambda: StackRecipe.from_json({"stages": [{"name": "a"}]}), "task"),
        (lambda: StackRecipe.from_json({"stages": [{"name": "a", "task": "tag", "recipes": 1}]}), "'recipes'"),
    ],
)
def test_what_cannot_be_is_said(wrong, said: str) -> None:
    with pytest.raises(LinnaeusError, match=said):
        wrong()


def test_texts_without_words_have_empty_columns() -> None:
    rows = Texts.of(["", "one"])
    assert len(rows) == 2
    assert rows.tagged("pos", rows.sentences.tokens, False).batch().columns["pos.tags"].to_pylist() == ["", "one"]
