"""Dependency parsers: training, answers, files, updates, pipelines, explanations, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from tests.tasks.parse.treebank import treebank

import linnaeus
from linnaeus import Recipe, Stage
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.evaluation import Attachments, evaluate, observe_arcs
from linnaeus.features.arcs import Arcs
from linnaeus.learners.dependencies import Dependencies
from linnaeus.model.file import model_of, state_of
from linnaeus.recipes.cookbook import RECIPES, recipe
from linnaeus.tasks.parse.trees import are_trees, trees_of

SMALL = {"features.bits": 14, "features.relation_bits": 12}
NAMES = [name for name, row in RECIPES.items() if row.task == "parse"]


def small(name: str = "parse", **changes: object) -> Recipe:
    return recipe(name).changed({**SMALL, **changes})


@pytest.fixture(scope="module")
def model() -> linnaeus.Model:
    return small().fit(treebank(60))


@pytest.mark.parametrize("name", NAMES)
def test_every_recipe_learns_simple_sentences(name):
    model = small(name).fit(treebank(60))
    found = model.evaluate(treebank(30, seed=1), rounds=100)
    assert found.value("las") > 0.95
    assert found.value("uas") >= found.value("las")
    assert found.headline == "las"
    assert found.intervals["uas"][0] <= found.value("uas") <= found.intervals["uas"][1]
    assert {"det", "nsubj", "root"} <= {row.label for row in found.per_class}
    assert model.evaluation is not None
    assert model.evaluation.rows == 6


@pytest.mark.parametrize("loss", ["perceptron", "hinge", "log", "softmargin"])
@pytest.mark.parametrize("space", ["projective", "spanning"])
def test_every_loss_trains_both_kinds_of_trees(loss, space):
    learner = Dependencies(loss=loss, space=space, epochs=4)
    made = Recipe(task="parse", learner=learner, features=Arcs(second=(), bits=14, relation_bits=12))
    assert made.fit(treebank(60)).evaluate(treebank(20, seed=1), rounds=0).value("uas") > 0.9


def test_answers_are_trees_with_one_root(model):
    test = treebank(20, seed=2)
    answers = model.predict(test)
    heads = np.array([head for row in answers for head, _ in row])
    assert are_trees(heads, test.offsets).all()
    P = model.probabilities(test)
    sizes = np.diff(test.offsets)
    assert len(P) == (sizes * (sizes + 1)).sum()
    assert P.sum() == pytest.approx(test.count)
    ranked = model.rank(test, 2)
    assert len(ranked) == test.count
    assert all(first[1] >= second[1] for first, second in ranked)


def test_a_model_is_the_same_from_its_file(model, tmp_path):
    model.save(tmp_path / "p.lin")
    again, test = linnaeus.load(tmp_path / "p.lin"), treebank(20, seed=3)
    assert again.predict(test) == model.predict(test)
    assert again.probabilities(test).tobytes() == model.probabilities(test).tobytes()
    assert again.evaluation == model.evaluation
    assert Recipe.from_json(json.loads(json.dumps(model.recipe.to_json()))) == model.recipe


def test_the_same_bits_for_any_number_of_threads(tmp_path):
    found = set()
    for count in (1, 2, 5):
        with linnaeus.threads(count):
            small().fit(treebank(40)).save(tmp_path / f"{count}.lin")
        found.add((tmp_path / f"{count}.lin").read_bytes())
    assert len(found) == 1


def test_an_interrupted_training_goes_on_to_the_same_bits(tmp_path):
    whole, path = small().fit(treebank(40)), tmp_path / "part"

    def interrupt(phase):
        if phase.name == "training" and "epoch 9" in phase.note:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        small().fit(treebank(40), progress=interrupt, checkpoint=path)
    again = small().fit(treebank(40), checkpoint=path)
    for part in ("first", "second", "relations"):
        assert getattr(again.body, part).tobytes() == getattr(whole.body, part).tobytes()


def test_a_parser_goes_on_learning():
    first = small().fit(treebank(10))
    new = treebank(60, seed=5)
    relations = [["obl" if one == "advmod" else one for one in row] for row in new.lists(new.columns["relations"])]
    more = new.with_column("relations", pa.array([one for row in relations for one in row]))
    model = first.updated(more)
    assert "obl" in model.names
    assert "obl" not in first.names
    assert model.facts["rows"] == 70
    test = treebank(30, seed=6)
    assert model.evaluate(test, rounds=0).value("uas") >= first.evaluate(test, rounds=0).value("uas")
    assert model.updated(more).body.first.tobytes() == first.updated(more).updated(more).body.first.tobytes()


def test_unsure_arcs_are_left_out(model):
    test = treebank(10, seed=7)
    every = model.predict(test, abstain="confidence=0.999999")
    none = [arc for row in every for arc in row if arc == (None, None)]
    some = [arc for row in model.predict(test, abstain="confidence=0.2") for arc in row if arc == (None, None)]
    assert len(none) > len(some)


def test_explanations_add_up_to_the_difference_of_trees(model):
    test = treebank(1, seed=8)
    S = model.scores(test)
    heads = [head for head, _ in model.predict(test)[0]]
    n = len(heads)

    def score(tree):
        return sum(S[m * (n + 1) + head] for m, head in enumerate(tree))

    for at in range(n):
        why = model.explain(test, at)
        assert why.kind == "arc"
        assert why.contrast.score == pytest.approx(why.contrast.contributions.sum(), abs=1e-5)
        other = S.copy()
        other[at * (n + 1) + heads[at]] = -np.inf
        rival = model.space.decode(other[:, None])
        assert why.contrast.score == pytest.approx(score(heads) - score(rival), abs=1e-4)
        assert "<svg" in why.to_html()
        assert json.dumps(why.to_json())
    with pytest.raises(UsageError, match="There is no position 99"):
        model.explain(test, 99)
    with pytest.raises(UsageError, match="leave out the class"):
        model.explain(test, 0, classes=["det"])


def test_a_sentence_of_one_word(model):
    one = Sentences.from_lists([["dog"]], columns={"upos": [["NOUN"]]})
    assert model.predict(one)[0][0][0] == 0
    assert model.probabilities(one)[0] == pytest.approx(1.0)
    assert model.explain(one, 0).contrast is None
    assert model.predict(one.slice(0, 0)) == []


def test_a_pipeline_tags_then_parses():
    data = treebank(60)
    tagger = Stage("upos", recipe("pos"), folds=2, truth="upos")
    made = small(before=(tagger,))
    found = made.fit(data, stages={"upos": data.with_tags(data.columns["upos"])})
    test = treebank(20, seed=9)
    bare = Sentences(test.offsets, test.tokens)
    gold = trees_of(test)
    said = [arc for row in found.predict(bare) for arc in row]
    right = np.mean([head == true for (head, _), true in zip(said, gold.heads.tolist(), strict=True)])
    assert right > 0.9
    assert len(found.predict("the dog sees a cat")[0]) == 5


def test_relations_are_features_of_a_classifier():
    data = treebank(40)
    rows = [(" ".join(tokens), "adv" if "today" in tokens else "none") for tokens in data.lists()]
    parser = Stage("dep", small(before=(), **{"features.templates": ["h.word m.word", "m.word"]}), folds=2)
    from linnaeus.features import Field, Words

    made = Recipe(features=Field("dep.tags", Words(tokenizer="whitespace")), before=(parser,)).changed({"tuning": None})
    bare = Sentences(data.offsets, data.tokens, None, {name: data.columns[name] for name in ("heads", "relations")})
    found = made.fit(rows, stages={"dep": bare})
    assert found.predict(["the dog sees a cat today"]).tolist() == ["adv"]


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ([["2", "0"], ["0", "0"]], "sentence 2: tokens 1 and 2 both have the root"),
        ([["2", "0"], ["2", "1"]], "sentence 2: no token has the root"),
        ([["2", "0"], ["3", "0"]], "sentence 2: token 1 has the head 3, but the sentence has 2 tokens"),
        ([["2", "0"], ["0", "2"]], "sentence 2: token 2 is in a circle"),
        ([["2", "0"], ["x", "0"]], r"sentence 2, token 1 \('c'\) has the head 'x', which is no number"),
        ([["2", "0"], ["-1", "0"]], "has the head '-1', which is no number"),
    ],
)
def test_heads_that_are_no_tree_are_refused(heads, said):
    with pytest.raises(DataError, match=said):
        small().fit(Sentences.from_lists([["a", "b"], ["c", "d"]], columns={"heads": heads}))


def test_a_line_of_a_file_is_named(tmp_path):
    path = tmp_path / "bad.conllu"
    token = "{}\tw\tw\tX\tX\t_\t{}\tdep\t_\t_\n"
    path.write_text("# one\n" + token.format(1, 0) + "\n# two\n" + token.format(1, 0) + token.format(2, 0) + "\n")
    with pytest.raises(DataError, match=r"bad\.conllu, line 5: tokens 1 and 2 both have the root"):
        small().fit(str(path))


def test_data_without_trees_and_without_columns_get_a_sentence(model):
    with pytest.raises(DataError, match="have no heads"):
        small().fit(Sentences.from_lists([["a", "b"]]))
    with pytest.raises(DataError, match="reads columns beside the tokens that these sentences do not have: upos"):
        model.predict([["a", "dog"]])
    with pytest.raises(DataError, match="there are no tokens"):
        small().fit(Sentences.from_lists([[]], columns={"heads": [[]]}))


def test_arcs_without_relations_are_learned_too():
    data = treebank(40)
    bare = Sentences(data.offsets, data.tokens, None, {name: data.columns[name] for name in ("upos", "heads")})
    model = small().fit(bare)
    assert model.names == ("_",)
    assert model.evaluate(treebank(10, seed=1), rounds=0).value("uas") > 0.9


def test_damaged_files_are_refused(model):
    state = state_of(model)

    def broken(change):
        manifest, tensors = json.loads(json.dumps(state.manifest)), dict(state.tensors)
        change(manifest, tensors)
        return linnaeus.types.State(manifest, tensors)

    changes = [
        lambda m, t: t.update({"body.relations": t["body.relations"][:, :1]}),
        lambda m, t: t.update({"body.first": t["body.first"][:10]}),
        lambda m, t: t.update({"body.first": np.full_like(t["body.first"], np.nan)}),
        lambda m, t: m["body"].update({"space": "circles"}),
        lambda m, t: m["features"]["first"].update({"bits": 31}),
        lambda m, t: m["features"]["first"].update({"templates": ["h.word m.nothing.at.all"]}),
        lambda m, t: m.update({"form": "tags"}),
        lambda m, t: m.update({"space": {"kind": "sequence"}}),
    ]
    for change in changes:
        with pytest.raises(ModelFileError):
            model_of(broken(change))


def test_facts_of_arcs_by_distance():
    gold = Attachments(np.array([2, 0, 2, 2], np.int32), pa.array(["det", "root", "obj", "punct"]))
    guess = Attachments(np.array([2, 0, 2, 3], np.int32), pa.array(["det", "root", "iobj", "punct"]))
    found = evaluate(observe_arcs(np.array([0, 4]), gold, guess), rounds=0)
    assert (found.value("uas"), found.value("las")) == (0.75, 0.5)
    assert (found.value("uas_root"), found.value("uas_1"), found.value("uas_2")) == (1.0, 1.0, 0.0)
    assert "uas_7_up" not in found.metrics


def test_tags_of_sentences_are_a_column_of_a_parser():
    data = treebank(40)
    tagged = replace(data.with_tags(data.columns["upos"]), tag_name="upos")
    others = {name: column for name, column in data.columns.items() if name != "upos"}
    model = small("parse-fast").fit(replace(tagged, columns=others))
    assert "upos" in model.features.columns.values()
    assert model.evaluate(replace(tagged, columns=others), rounds=0).value("uas") > 0.9


def test_a_stage_that_the_parser_does_not_read_is_refused():
    with pytest.raises(UsageError, match="would see no answer of an earlier stage"):
        small(before=(Stage("tagger", recipe("pos")),))


def test_words_that_look_like_features_are_explained():
    model = small().fit(treebank(20))
    odd = Sentences.from_lists([["relation=99", "sees"]], columns={"upos": [["NOUN", "VERB"]]})
    assert model.explain(odd, 0).reasons


def test_data_without_relations_are_judged_by_heads(model):
    test = treebank(10, seed=4)
    bare = Sentences(test.offsets, test.tokens, None, {name: test.columns[name] for name in ("upos", "heads")})
    found = model.evaluate(bare, rounds=0)
    assert found.headline == "uas"
    assert "las" not in found.metrics


def test_columns_are_part_of_the_fingerprint():
    data = treebank(10)
    other = data.with_column("upos", pa.array(["X"] * data.count))
    plain = small("parse-fast", tuning=None)
    assert plain.fit(data).facts["fingerprint"] != plain.fit(other).facts["fingerprint"]


def test_no_token_is_its_own_head(model):
    test = treebank(5, seed=10)
    ranked = iter(model.rank(test, 50))
    for tokens in test.lists():
        for at in range(len(tokens)):
            heads = [head for head, _ in next(ranked)]
            assert sorted([*heads, at + 1]) == list(range(len(tokens) + 1))


def test_sentences_that_are_too_long_are_refused(model):
    long = Sentences.from_lists([["a"], ["a"] * 3000], columns={"upos": [["X"], ["X"] * 3000]})
    with pytest.raises(DataError, match=r"sentence 2: has 3,000 tokens, and a parser takes at most 2,000"):
        model.predict(long)


def test_a_parser_has_no_estimator(model, tmp_path):
    model.save(tmp_path / "p.lin")
    for name in ("TextClassifier", "Tagger"):
        with pytest.raises(UsageError):
            getattr(linnaeus, name).load(tmp_path / "p.lin")


def test_a_pipeline_reads_only_what_its_stages_say():
    data = treebank(40)
    full = data.with_column("lemmas", data.tokens).with_column("xpos", data.columns["upos"])
    found = small(before=(Stage("upos", recipe("pos"), folds=2),)).fit(
        full, stages={"upos": data.with_tags(data.columns["upos"])}
    )
    assert set(found.features.columns.values()) == {"word", "upos"}
    assert len(found.predict("the dog sees a cat")[0]) == 5


def test_columns_may_have_another_usual_name(model):
    test = treebank(5, seed=11)
    columns = {("pos" if name == "upos" else name): column for name, column in test.columns.items()}
    assert model.predict(replace(test, columns=columns)) == model.predict(test)


def test_an_update_needs_relations_as_before(model):
    more = treebank(5, seed=12)
    bare = {name: column for name, column in more.columns.items() if name != "relations"}
    with pytest.raises(UsageError, match="The new sentences have no relations"):
        model.updated(replace(more, columns=bare))


def test_abstention_is_judged_by_what_is_answered(model):
    test = treebank(10, seed=13)
    found = model.evaluate(test, abstain="confidence=0.99", rounds=0)
    assert 0 < found.abstained <= test.count
    assert found.value("coverage") == pytest.approx(1 - found.abstained / test.count)
