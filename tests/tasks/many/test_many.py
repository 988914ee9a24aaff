"""Models of many labels: what they predict, rank, say, explain and learn more; what they refuse, in one sentence."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

import linnaeus
from linnaeus import Model, Recipe, Stage, TextClassifier, kernels, read, recipe
from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, UsageError
from linnaeus.features import Columns, Hashed, Words
from linnaeus.learners.label_tree import LabelTree
from linnaeus.recipes.tuning import Tuning
from linnaeus.tasks import TASKS
from linnaeus.tasks.base import Wish
from linnaeus.tasks.classify.prediction import Prediction

COUNT = 60
NOISE = [f"noise{i}" for i in range(40)]
WORDS = Words(terms=Hashed(16), values="tfidf", length="l2")


def texts_of(numbers: list[int] | range, per: int = 4, seed: int = 0) -> list[str]:
    """Texts about these topics: a word of each, one it shares with a few others, and noise."""
    rng = np.random.default_rng(seed)
    return [f"topic{i} theme{i % 7} {' '.join(rng.choice(NOISE, 2))}" for i in numbers for _ in range(per)]


def names_of(numbers: list[int] | range, per: int = 4) -> list[str]:
    return [f"label {i:02d}" for i in numbers for _ in range(per)]


TEXTS, NAMES = texts_of(range(COUNT)), names_of(range(COUNT))
NEW = [f"topic{i} theme{i % 7}" for i in range(COUNT)]
SMALL = LabelTree(leaf=4, width=4)
RECIPE = Recipe(task="many", features=WORDS, learner=SMALL, tuning=Tuning(strengths=(1.0, 0.5), folds=1))


@pytest.fixture(scope="module")
def model() -> Model:
    return RECIPE.fit(list(zip(TEXTS, NAMES, strict=True)))


@pytest.fixture(scope="module")
def sets() -> Model:
    """Each text has its label and that of its theme."""
    rows = [(text, [f"theme {i // 4 % 7}", name]) for i, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True))]
    return RECIPE.fit(rows)


# Answers


def test_it_predicts_the_best_label(model: Model) -> None:
    found = model.predict(NEW)
    assert found.tolist() == names_of(range(COUNT), 1)
    assert model.predict([]).tolist() == []
    assert model.predict(NEW[:1]).tolist() == ["label 00"]
    assert len(model.predict(["", "nothing known"])) == 2
    assert model.classes is None
    assert model.many is not None
    assert len(model.many) == COUNT
    assert model.names == tuple(names_of(range(COUNT), 1))


def test_it_ranks_labels_with_their_probabilities(model: Model) -> None:
    found = model.rank(NEW, 3)
    assert [len(row) for row in found] == [3] * COUNT
    assert [row[0][0] for row in found] == names_of(range(COUNT), 1)
    for row in found:
        chances = [chance for _, chance in row]
        assert chances == sorted(chances, reverse=True)
        assert all(0 <= chance <= 1 for chance in chances)
        assert len({name for name, _ in row}) == 3
    assert np.mean([row[0][1] for row in found]) > 0.8
    assert [len(row) for row in model.rank(NEW[:2], 1000)] == [40, 40] or len(model.rank(NEW[:1], 1000)[0]) <= COUNT
    assert model.rank([], 3) == []


def test_it_classifies_one_text(model: Model) -> None:
    found = model.classify(NEW[7], top=2)
    assert isinstance(found, Prediction)
    assert found.label == "label 07"
    assert found.ranking[0] == ("label 07", found.probability)
    assert len(found.ranking) == 2
    assert found == model.classify(NEW[7], top=2)
    assert model.classify(NEW[7]).label == "label 07"
    assert model.rank([NEW[7]], 2)[0] == list(found.ranking)


def test_probabilities_are_about_right(model: Model) -> None:
    rows = model.rank(texts_of(range(COUNT), 2, seed=3), 1)
    truth = names_of(range(COUNT), 2)
    right = np.array([row[0][0] == name for row, name in zip(rows, truth, strict=True)])
    assert abs(right.mean() - np.mean([row[0][1] for row in rows])) < 0.1


def test_answers_do_not_depend_on_batches_or_threads(model: Model) -> None:
    whole = model.rank(NEW, 5)
    assert [model.rank([text], 5)[0] for text in NEW[:5]] == whole[:5]
    for threads in (1, 2, 8):
        with kernels.threads(threads):
            assert model.rank(NEW, 5) == whole


def test_a_training_gives_the_same_file_for_any_threads(tmp_path: Path) -> None:
    rows, seen = list(zip(TEXTS, NAMES, strict=True)), set()
    for threads in (1, 2, 8):
        with kernels.threads(threads):
            RECIPE.fit(rows).save(tmp_path / "m.lin", force=True)
        seen.add((tmp_path / "m.lin").read_bytes())
    assert len(seen) == 1


@pytest.mark.parametrize("name", ["label-tree", "label-trees", "flat-labels"])
def test_the_named_recipes(name: str) -> None:
    found = recipe(name).fit(list(zip(TEXTS, NAMES, strict=True)))
    assert found.predict(NEW).tolist() == names_of(range(COUNT), 1)
    assert found.task.name == "many"
    assert found.evaluation is not None
    assert found.evaluation.metrics["precision_at_1"] > 0.9


@pytest.mark.parametrize("ask", ["scores", "probabilities"])
def test_a_number_for_every_label_is_refused_with_a_sentence(model: Model, ask: str) -> None:
    with pytest.raises(UsageError, match="gives no score for every label; `rank` gives the best ones"):
        getattr(model, ask)(NEW)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda model: model.out_of_scope(NEW), "has no decision rule"),
        (lambda model: model.top_features(), "has no weights to show"),
        (lambda model: model.search(NEW[0]), "A model of many labels keeps no texts to search"),
        (lambda model: model.compact(list(zip(TEXTS, NAMES, strict=True))), "become compact"),
        (lambda model: model.merged(model), "cannot be merged"),
        (lambda model: model.predict(NEW, "coverage=0.9"), "probabilities, confidence=0.8 or margin=0.2"),
        (lambda model: model.predict(NEW, "scope"), "or by risk=0.05, which with a taxonomy"),
        (lambda model: model.explain(NEW[0], classes=["label 99"]), "The model has no label 'label 99'"),
        (lambda model: model.updated([(NEW[0], "x")], remove=["label 99"]), "no label 'label 99' to remove"),
        (lambda model: model.updated([(NEW[0], "x")], remove=names_of(range(COUNT), 1)), "keep at least one"),
        (lambda model: model.updated([(NEW[0], ["x", "y"])]), "differ in kind"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_sentence(model: Model, ask: Any, said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        ask(model)
    assert str(error.value).endswith(".")


# Columns


def test_columns(model: Model) -> None:
    batch = Batch(text=pa.array([NEW[3], "nothing known"]), columns={"id": pa.array(["a", "b"])})
    found = model.task.columns(model, batch, Wish(top=2, keep=("id", "text")))
    assert found.schema.names == ["id", "text", "label", "probability", "top"]
    assert found["label"].to_pylist()[0] == "label 03"
    assert found["top"].to_pylist()[0][0] == {"label": "label 03", "probability": found["probability"][0].as_py()}
    assert [len(row) for row in found["top"].to_pylist()] == [2, 2]
    with pytest.raises(DataError, match="There is no column 'ids' to keep"):
        model.task.columns(model, batch, Wish(keep=("ids",)))
    with pytest.raises(UsageError, match="no out-of-scope scores"):
        model.task.refuse_wish(Wish(scope=True))


def test_columns_where_it_abstains(model: Model) -> None:
    batch = Batch(text=pa.array([NEW[3], "nothing known"]))
    found = model.task.columns(model, batch, Wish(abstain="confidence=0.5"))
    assert found["label"].to_pylist() == ["label 03", None]
    assert found["probability"].null_count == 1
    assert model.predict([NEW[3], "nothing known"], "confidence=0.5").tolist() == ["label 03", None]
    assert model.predict([NEW[3], "nothing known"], "margin=0.5").tolist() == ["label 03", None]


def test_columns_of_sets(sets: Model) -> None:
    batch = Batch(text=pa.array([NEW[8], "nothing known"]))
    found = sets.task.columns(sets, batch, Wish(top=3))
    assert found.schema.names == ["labels", "probabilities", "top"]
    assert found["labels"].to_pylist()[0] == ["label 08", "theme 1"]
    assert [len(row) for row in found["labels"].to_pylist()] == [len(row) for row in found["probabilities"].to_pylist()]
    assert min(found["probabilities"].to_pylist()[0]) >= sets.body.threshold
    assert {one["label"] for one in found["top"].to_pylist()[0][:2]} == {"label 08", "theme 1"}


# Label sets


def test_it_learns_sets_of_labels(sets: Model) -> None:
    found = sets.predict(NEW)
    assert found[:3].tolist() == [("label 00", "theme 0"), ("label 01", "theme 1"), ("label 02", "theme 2")]
    assert np.mean([set(row) == {f"label {i:02d}", f"theme {i % 7}"} for i, row in enumerate(found)]) > 0.95
    assert sets.classify(NEW[0], 2).label == ("label 00", "theme 0")
    assert sets.classify(NEW[0]).probability is None
    assert sets.evaluation is not None
    assert sets.evaluation.metrics["recall_at_3"] > 0.9
    assert len(sets.many) == COUNT + 7  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="these are sets of labels"):
        sets.predict(NEW, "confidence=0.9")


def test_sets_without_held_out_rows_have_chances_too() -> None:
    rows = [(text, [f"theme {i // 4 % 7}", name]) for i, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True))]
    found = replace(RECIPE, tuning=None).fit(rows)
    assert np.mean([set(row) == {f"label {i:02d}", f"theme {i % 7}"} for i, row in enumerate(found.predict(NEW))]) > 0.9


def test_empty_sets_are_sets(tmp_path: Path) -> None:
    rows = [(text, [name] if i % 3 else []) for i, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True))]
    found = RECIPE.fit(read(rows, label_kind="many"))
    assert found.predict(NEW)[5] == ("label 05",)
    assert found.evaluate(read(rows, label_kind="many"), rounds=0).metrics["precision_at_1"] < 0.7


# Judging


def test_it_is_evaluated(model: Model) -> None:
    found = model.evaluate(list(zip(NEW, names_of(range(COUNT), 1), strict=True)), rounds=20)
    assert found.metrics["precision_at_1"] == 1
    assert found.metrics["ndcg_at_5"] == pytest.approx(1)
    assert "head_recall_at_5" in found.metrics
    assert found.rows == COUNT
    assert found.unknown == 0
    json.dumps(found.to_json())


def test_unknown_labels_are_mistakes(model: Model) -> None:
    found = model.evaluate([(NEW[0], "label 00"), (NEW[1], "no such label")], rounds=0)
    assert found.metrics["precision_at_1"] == 0.5
    assert found.unknown == 1


def test_rows_without_an_answer_are_counted(model: Model) -> None:
    rows = [*zip(NEW, names_of(range(COUNT), 1), strict=True), ("nothing known", "label 00")]
    found = model.evaluate(rows, "confidence=0.5", rounds=0)
    assert found.abstained == 1
    assert found.metrics["coverage"] == pytest.approx(COUNT / (COUNT + 1))
    assert found.metrics["answered_accuracy"] == 1


def test_sets_are_evaluated(sets: Model) -> None:
    rows = [(text, [f"label {i:02d}", f"theme {i % 7}", "unknown"]) for i, text in enumerate(NEW)]
    found = sets.evaluate(rows, rounds=0)
    assert found.metrics["recall_at_3"] == pytest.approx(2 / 3, abs=0.02)
    assert found.unknown == COUNT


@pytest.mark.parametrize(
    ("kind", "rows", "said"),
    [
        ("model", [("a", ["x", "y"])], "The rows have sets of labels"),
        ("sets", [("a", "x")], "The rows have one label each"),
        ("model", read(["a", "b"]), "There are no labels to compare with"),
    ],
)
def test_rows_of_another_kind_are_refused(kind: str, rows: Any, said: str, request: pytest.FixtureRequest) -> None:
    with pytest.raises(DataError, match=said):
        request.getfixturevalue(kind).evaluate(rows, rounds=0)


def test_the_held_out_evaluation_is_of_rows_that_were_not_seen(model: Model) -> None:
    assert model.evaluation is not None
    assert model.evaluation.rows == model.facts["held_out"] < len(TEXTS)
    assert 0.8 < model.evaluation.metrics["precision_at_1"] <= 1
    assert model.facts["strength"] in (1.0, 0.5)


# Explaining


def test_contributions_add_up_to_the_score(model: Model) -> None:
    found = model.explain(NEW[11])
    assert found.predicted == ("label 11",)
    assert len(found.reasons) >= 2
    assert len(found.path) == 2
    for reason in (*found.reasons, *found.path):
        assert reason.score == pytest.approx(reason.bias + float(found.found.values @ reason.weights), abs=1e-5)
    assert found.exact
    json.dumps(found.to_json())
    assert "label 11" in str(found)


def test_the_score_is_that_of_the_tree(model: Model) -> None:
    """Each step of the path scores what the search scores."""
    from linnaeus.tasks.many.reasons import path_to

    tree, rows = model.body.trees[0], model.features.rows([NEW[11]])
    reasons = {reason.name: reason for reason in model.explain(NEW[11]).reasons}
    node, child = path_to(tree, 11)[-1]
    data = rows.indptr, rows.indices, rows.data.astype(np.float32)
    score = tree.search.children(data, node)[child - tree.starts[node]]
    assert reasons["label 11"].score == pytest.approx(float(score), abs=1e-5)


def test_labels_that_are_asked_for_are_explained(model: Model) -> None:
    found = model.explain(NEW[11], classes=["label 30", "label 11"])
    names = [reason.name for reason in found.reasons]
    assert "label 30" in names
    assert names.count("label 11") == 1


def test_sets_are_explained(sets: Model) -> None:
    found = sets.explain(NEW[8])
    assert set(found.predicted) == {"label 08", "theme 1"}
    json.dumps(found.to_json())


def test_a_text_without_known_words_is_explained(model: Model) -> None:
    for text in ("", "nothing known"):
        assert model.explain(text).to_json()


# Learning more


def test_new_labels_are_learned_and_old_ones_stay(model: Model) -> None:
    fresh = texts_of([98, 99], 3)
    found = model.updated(list(zip(fresh, ["label 05b"] * 3 + ["a new one"] * 3, strict=True)))
    assert found.predict(["topic98", "topic99 theme1"]).tolist() == ["label 05b", "a new one"]
    assert found.predict(NEW).tolist() == model.predict(NEW).tolist()
    assert found.many is not None
    assert found.many.array().tolist() == sorted([*names_of(range(COUNT), 1), "label 05b", "a new one"])
    assert found.facts["rows"] == model.facts["rows"] + 6
    assert found.facts["updates"] == 1
    assert found.facts["fingerprint"] != model.facts["fingerprint"]
    assert found.evaluation is None
    assert model.evaluation is not None
    assert found.body.curve == model.body.curve


def test_labels_are_removed(model: Model, tmp_path: Path) -> None:
    found = model.updated([(NEW[0], "label 00")], remove=["label 07", "label 08"])
    assert not {"label 07", "label 08"} & set(found.predict(NEW).tolist())
    kept = [i for i in range(COUNT) if i not in (7, 8)]
    assert found.predict([NEW[i] for i in kept]).tolist() == names_of(kept, 1)
    found.save(tmp_path / "m.lin")
    assert Model.load(tmp_path / "m.lin", verify=True).predict(NEW).tolist() == found.predict(NEW).tolist()
    with pytest.raises(UsageError, match="no label 'label 07' to remove"):
        found.updated([(NEW[0], "label 00")], remove=["label 07"])


def test_labels_are_removed_from_a_label_tree_only() -> None:
    other = Recipe(features=WORDS).fit([("a b", "x"), ("c d", "y")] * 3)
    with pytest.raises(UsageError, match="Labels can be removed from a label tree only, not from classifiers"):
        other.updated([("a", "x")], remove=["x"])


def test_an_updated_model_is_saved_and_updated_again(model: Model, tmp_path: Path) -> None:
    found = model
    for i in range(3):
        found = found.updated([(text, f"new {i}") for text in texts_of([90 + i], 2)])
        found.save(tmp_path / "m.lin", force=True)
        found = Model.load(tmp_path / "m.lin", verify=True)
    assert found.facts["updates"] == 3
    texts = [f"topic{90 + i} theme{(90 + i) % 7}" for i in range(3)]
    assert found.predict(texts).tolist() == ["new 0", "new 1", "new 2"]
    assert (found.predict(NEW) == model.predict(NEW)).mean() > 0.9


def test_new_labels_of_a_taxonomy_go_below_the_node_of_their_path() -> None:
    rows = [(text, f"theme {i // 4 % 7} > {name}") for i, (text, name) in enumerate(zip(TEXTS, NAMES, strict=True))]
    found = RECIPE.changed({"shape": " > "}).fit(rows)
    assert found.body.nodes == ("", *(f"theme {i}" for i in range(7)))
    more = found.updated([(text, "theme 3 > new") for text in texts_of([94])])
    assert more.predict(["topic94 theme3"]).tolist() == ["theme 3 > new"]
    assert more.body.nodes[more.body.homes[0][more.many.find(["theme 3 > new"])[0]]] == "theme 3"
    assert more.predict(["topic94 theme3"], "risk=0.1").tolist() == ["theme 3 > new"]


def test_sets_are_updated(sets: Model) -> None:
    found = sets.updated([("topic98 theme1", ["label 98", "theme 1"]), ("topic1", [])])
    assert "label 98" in found.predict(["topic98 theme1"])[0]
    assert (found.predict(NEW)[3:] == sets.predict(NEW)[3:]).mean() > 0.9


def test_several_trees_are_updated() -> None:
    rows = list(zip(TEXTS, NAMES, strict=True))
    found = replace(RECIPE, learner=replace(SMALL, trees=3), tuning=None).fit(rows)
    more = found.updated([(text, "new") for text in texts_of([98])], remove=["label 33"])
    assert more.predict(["topic98 theme0", NEW[4]]).tolist() == ["new", "label 04"]
    assert len(more.body.trees) == 3


def test_rows_of_weight_nothing_add_nothing(model: Model) -> None:
    table = pa.table({"text": [NEW[0], NEW[1]], "label": ["label 00", "unseen"], "w": [1.0, 0.0]})
    found = model.updated(read(table, text="text", label="label", weight="w"))
    assert found.many is not None
    assert found.many.find(["unseen"]).tolist() == [-1]


# Files and estimators


def test_it_is_saved_and_loaded(model: Model, sets: Model, tmp_path: Path) -> None:
    for i, one in enumerate((model, sets)):
        one.save(tmp_path / f"{i}.lin")
        again = linnaeus.load(tmp_path / f"{i}.lin")
        assert again.rank(NEW, 3) == one.rank(NEW, 3)
        assert again.predict(NEW).tolist() == one.predict(NEW).tolist()
        assert again.recipe == one.recipe
        assert again.evaluation == one.evaluation or str(again.evaluation) == str(one.evaluation)
        assert f"labels: {len(one.many):,}" in repr(again)  # type: ignore[arg-type]
    for copied in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert copied.rank(NEW[:3], 3) == model.rank(NEW[:3], 3)


@pytest.mark.parametrize("kind", [str, int, np.float64, np.str_], ids=["strings", "ints", "floats", "NumPy strings"])
def test_an_estimator_keeps_the_type_of_its_labels(kind: Any, tmp_path: Path) -> None:
    labels = [kind(i) for i in range(COUNT) for _ in range(4)]
    found = TextClassifier("label-tree").fit(TEXTS, labels)
    answers = found.predict(NEW)
    assert answers.tolist() == [kind(i) for i in range(COUNT)]
    assert found.classes_.tolist() == sorted(kind(i) for i in range(COUNT))
    assert found.score(TEXTS, labels) > 0.95
    assert found.classify(NEW[3], top=2).label == kind(3)
    assert found.model_.evaluate(list(zip(NEW, map(str, range(COUNT)), strict=True)), rounds=0).unknown == 0
    found.save(tmp_path / "m.lin")
    again = TextClassifier.load(tmp_path / "m.lin")
    assert again.predict(NEW).tolist() == answers.tolist()
    assert again.classes_.dtype == found.classes_.dtype
    for ask in (again.predict_proba, again.decision_function):
        with pytest.raises(UsageError, match="no score for every label"):
            ask(NEW)


def test_an_estimator_explains_the_labels_that_it_is_asked_for() -> None:
    found = TextClassifier(RECIPE).fit(TEXTS, NAMES)
    assert "label 30" in [reason.name for reason in found.explain(NEW[3], ["label 30"]).reasons]


def test_an_estimator_learns_from_one_batch_after_the_other() -> None:
    found, half = TextClassifier(RECIPE), len(TEXTS) // 2
    found.partial_fit(TEXTS[:half], NAMES[:half]).partial_fit(TEXTS[half:], NAMES[half:])
    assert len(found.classes_) == COUNT
    assert found.score(NEW, names_of(range(COUNT), 1)) > 0.9
    numbers = TextClassifier(RECIPE)
    numbers.partial_fit(TEXTS[:half], [int(name[-2:]) for name in NAMES[:half]])
    numbers.partial_fit(TEXTS[half:], [int(name[-2:]) for name in NAMES[half:]])
    assert numbers.classes_.tolist() == list(range(COUNT))
    assert numbers.model_.many is not None
    with pytest.raises(UsageError, match="another kind"):
        numbers.partial_fit(["a text"], ["a word"])


@pytest.mark.parametrize("form", ["lists", "indicator"])
def test_an_estimator_learns_sets_in_each_form(form: str) -> None:
    lists = [[i, 10 + i] for i in range(10) for _ in range(4)]
    texts = texts_of(range(10))
    y: Any = lists
    if form == "indicator":
        y = np.zeros((len(texts), 20), int)
        y[np.arange(len(texts))[:, None], np.array(lists)] = 1
    found = TextClassifier(RECIPE).fit(texts, y)
    answers = found.predict(NEW[:10])
    if form == "lists":
        assert [sorted(row) for row in answers] == [[i, 10 + i] for i in range(10)]
    else:
        assert answers.shape == (10, 20)
        assert answers.sum() == 20
    assert found.score(texts, y) > 0.9


def test_an_estimator_is_cloned_and_changed() -> None:
    found = TextClassifier("label-tree", leaf=8, trees=2).fit(TEXTS, NAMES)
    other = clone(found)
    assert other.get_params()["leaf"] == 8
    assert "model_" not in vars(other)
    assert len(found.model_.body.trees) == 2
    assert other.fit(TEXTS, NAMES).predict(NEW).tolist() == found.predict(NEW).tolist()
    assert pickle.loads(pickle.dumps(found)).predict(NEW).tolist() == found.predict(NEW).tolist()


# Recipes


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"learner": "multinomial"}, "learned by LabelTree"),
        ({"keep": "texts"}, "keeps no texts"),
        ({"decision.abstain": "confidence"}, "has no decision to set"),
        ({"features.values": "nb"}, "learn weights from the labels"),
    ],
)
def test_recipes_of_other_pieces_are_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        RECIPE.changed(changes).fit(list(zip(TEXTS, NAMES, strict=True)))


def test_numbers_are_refused() -> None:
    with pytest.raises(UsageError, match="needs labels, and these are numbers"):
        RECIPE.fit(read([("a", 1.5), ("b", 2.5)] * 5, label_kind="numeric"))


def test_one_label_is_refused() -> None:
    with pytest.raises(DataError, match="only one class"):
        RECIPE.fit([("a", "x"), ("b", "x")] * 5)


def test_two_labels() -> None:
    found = RECIPE.fit([("a b", "x"), ("b c", "y")] * 5)
    assert found.predict(["a", "c"]).tolist() == ["x", "y"]
    assert found.predict(["a", "zzz"], "confidence=0.99").shape == (2,)


def test_labels_that_each_have_one_row() -> None:
    found = RECIPE.fit(list(zip(NEW, names_of(range(COUNT), 1), strict=True)))
    assert found.predict(NEW).tolist() == names_of(range(COUNT), 1)
    assert found.evaluation is not None
    assert found.evaluation.metrics["precision_at_1"] == 0


def test_from_a_thousand_labels_on_a_label_tree_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    task = TASKS["classify"]()
    examples = task.examples(list(zip(TEXTS, NAMES, strict=True)))
    assert task.fitting(examples) == "default"
    monkeypatch.setattr("linnaeus.tasks.classify.task.MANY_LABELS", COUNT)
    assert task.fitting(examples) == "label-tree"
    assert TASKS["many"]().fitting(examples) == "label-tree"


def test_it_stands_in_a_pipeline() -> None:
    """Its answers are a column of a later stage, and it reads those of an earlier one."""
    rows = list(zip(TEXTS, NAMES, strict=True))
    first = Recipe(features=WORDS | Columns(categorical=("topic",)), before=(Stage("topic", RECIPE, folds=2),))
    found = first.fit([(text, name[-1]) for text, name in rows], stages={"topic": rows})
    assert (found.predict(NEW) == np.array([f"{i % 10}" for i in range(COUNT)])).mean() > 0.9
    theme = Stage("theme", replace(RECIPE, task="classify", learner=LabelTree(), tuning=None), folds=2)
    last = replace(RECIPE, features=WORDS | Columns(categorical=("theme",)), before=(theme,))
    found = last.fit(rows, stages={"theme": [(text, text.split()[1]) for text in TEXTS]})
    assert (found.predict(NEW) == np.array(names_of(range(COUNT), 1))).mean() > 0.9


def test_it_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = RECIPE.fit(list(zip(TEXTS, NAMES, strict=True)))
        found.evaluate(list(zip(TEXTS, NAMES, strict=True)), rounds=0)
        found.updated([("topic98", "new")]).predict(["", *NEW])
