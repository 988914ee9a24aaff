"""Features of arcs: templates, the columns they need, trees they look at, names, rows and state."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.features.arcs import Arcs, ArcTable, FittedArcs, Tree
from linnaeus.features.arcs.table import links_of
from linnaeus.features.arcs.templates import OF_ARCS, OF_GUIDED_ARCS, OF_RELATIONS, lines, read_template
from linnaeus.types import State

WORDS = [["The", "old", "dog", "barked"], [], ["Dogs", "bark", "."]]
TAGS = [["DET", "ADJ", "NOUN", "VERB"], [], ["NOUN", "VERB", None]]
TREE = Tree(np.array([3, 3, 4, 0, 2, 0, 2], np.int32), np.array([0, 1, 2, 3, 2, 3, 4], np.int32))

MANY = [f"h.word.prefix{size} m.word.suffix{size}" for size in range(1, 130)]


@pytest.fixture
def sentences() -> Sentences:
    return Sentences.from_lists(WORDS, columns={"upos": TAGS})


def test_templates_of_missing_columns_are_left_out(sentences):
    fitted = Arcs(bits=10, relation_bits=8).fit(sentences)
    assert fitted.columns == {"word": "word", "lemma": "word", "upos": "upos", "xpos": "upos"}
    assert 0 < len(fitted.first.templates) < len(lines(OF_ARCS))
    assert not any("feats" in text for table in fitted.tables for text in table.templates)
    assert set(fitted.first.templates) < set(fitted.second.templates)
    words = Arcs(bits=10).fit(Sentences.from_lists(WORDS))
    assert words.columns == {"word": "word", "lemma": "word"}
    with pytest.raises(DataError, match="columns"):
        Arcs(("h.feats m.upos",)).fit(Sentences.from_lists(WORDS))


def test_templates_that_look_at_the_same_are_taken_once(sentences):
    templates = ("h.upos m.upos", "h.xpos m.xpos", "m.xpos h.upos", "h.xpos", "m.word.lower", "m.lemma.lower")
    fitted = Arcs(templates, ("h:head.xpos", "h:head.upos"), ("m.upos",), bits=6).fit(sentences)
    assert fitted.first.templates == ("h.upos m.upos", "h.xpos", "m.word.lower")
    assert fitted.second.templates == (*fitted.first.templates, "h:head.xpos")


def test_columns_have_other_names_too():
    named = Sentences.from_lists(WORDS, columns={"lemmas": WORDS, "pos": TAGS, "clusters": WORDS})
    templates = ("h.lemma m.upos", "h.clusters m.clusters")
    fitted = Arcs(templates, (), ("m.upos",), bits=6).fit(named)
    assert fitted.columns == {"lemma": "lemmas", "upos": "pos", "clusters": "clusters"}
    assert fitted.second.templates == ()


def test_scores_do_not_depend_on_the_other_sentences(sentences):
    fitted = Arcs(bits=12).fit(sentences)
    W = np.random.default_rng(0).normal(size=1 << 12).astype(np.float32)
    together = fitted.first.scores(fitted.first.coded(sentences), W)
    apart = [fitted.first.scores(fitted.first.coded(sentences.slice(i, i + 1)), W) for i in range(3)]
    assert np.concatenate(apart).tobytes() == together.tobytes()
    X = fitted.first.rows(fitted.first.coded(sentences))
    np.testing.assert_allclose(X.dot(W), together, atol=1e-5)
    assert X.shape == (4 * 5 + 3 * 4, 1 << 12)


def test_a_tree_links_tokens():
    links = links_of(np.array([0, 4, 4, 7]), TREE.heads)
    assert links["head"].tolist() == [2, 2, 3, -1, 5, -1, 5]
    assert links["leftmost"].tolist() == [-2, -2, 0, 2, -2, 4, -2]
    assert links["rightmost"].tolist() == [-2, -2, 1, 2, -2, 6, -2]
    assert links["before"].tolist() == [-2, 0, -2, -2, -2, -2, 4]
    assert links["after"].tolist() == [1, -2, -2, -2, 6, -2, -2]


@pytest.mark.parametrize("templates", [lines(OF_ARCS), lines(OF_ARCS) + lines(OF_GUIDED_ARCS), lines(OF_RELATIONS)])
def test_names_belong_to_the_columns_of_the_kernel(sentences, templates):
    columns = {"word": "word", "lemma": "word", "upos": "upos", "xpos": "upos", "feats": "upos"}
    table, one = ArcTable(templates, 20, columns), sentences.slice(0, 1)
    tree = Tree(TREE.heads[:4], TREE.relations[:4])
    indptr, indices = table.columns_of(table.coded(one, tree))
    for head, dependent in ((0, 4), (4, 1), (1, 3)):
        row = (dependent - 1) * 5 + head
        named = table.named(one, head, dependent, tree)
        assert sorted(column for column, _ in named) == sorted(indices[indptr[row] : indptr[row + 1]].tolist())


def test_names_say_what_a_template_sees(sentences):
    templates = ("h.upos m.upos between.upos", "m-1.word.lower", "m:leftmost.word m:head.upos h.relation m.lefts")
    table = ArcTable(templates, 12, {"upos": "upos", "word": "word"})
    one, tree = sentences.slice(0, 1), Tree(TREE.heads[:4], TREE.relations[:4])
    names = [name for _, name in table.named(one, 4, 1, tree)]
    between = "head upos=VERB, dependent upos=DET, between upos=NOUN, left"
    assert {between, f"{between}, 1 between", "dependent-1 word.lower=<root>, left, distance 3"} <= set(names)
    assert "dependent leftmost word=none, dependent head upos=NOUN, head relation=3, dependent lefts=0, left" in names
    with pytest.raises(UsageError, match="one sentence"):
        table.named(one, 5, 1, tree)
    with pytest.raises(UsageError, match="tree"):
        table.named(one, 4, 1)
    with pytest.raises(UsageError, match="relations"):
        table.coded(one, Tree(tree.heads))


@pytest.mark.parametrize("text", ["", "h", "h.", "x.upos", "h+.upos", "m+101.upos", "h.upos.nothing", "m:uncle.upos"])
def test_a_template_that_cannot_be_read_is_refused(text):
    with pytest.raises(UsageError):
        read_template(text)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"templates": "h.upos"}, InputTypeError),
        ({"templates": (3,)}, InputTypeError),
        ({"templates": ()}, UsageError),
        ({"templates": ("h:head.upos",)}, UsageError),
        ({"relations": ("h.relation",)}, UsageError),
        ({"templates": ("between.upos between.upos",)}, UsageError),
        ({"bits": 3}, UsageError),
        ({"relation_bits": 31}, UsageError),
        ({"bits": 4.5}, InputTypeError),
        ({"second": ("m.upos",) * 1001}, UsageError),
    ],
)
def test_wrong_settings_are_refused(wrong, error):
    with pytest.raises(error):
        Arcs(**wrong)


def test_wrong_weights_are_refused(sentences):
    table = Arcs(bits=10).fit(sentences).first
    for W in (np.zeros(1 << 9, np.float32), np.zeros(1 << 10, np.int64), np.zeros((1 << 10, 1), np.float32)):
        with pytest.raises(UsageError, match="float32"):
            table.scores(table.coded(sentences), W)


def test_a_state_builds_the_same_again(sentences):
    fitted = Arcs(bits=11, relation_bits=7).fit(sentences)
    again = FittedArcs.from_state(fitted.state())
    assert [(one.templates, one.bits, dict(one.columns)) for one in again.tables] == [
        (one.templates, one.bits, dict(one.columns)) for one in fitted.tables
    ]
    assert again.state().manifest == fitted.state().manifest


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "templates"},
        {"columns": ["upos"]},
        {"columns": {"upos": 3}},
        {"columns": {}},
        {"first": None},
        {"first": {"templates": [], "bits": 10}},
        {"first": {"templates": ["h:head.upos"], "bits": 10}},
        {"first": {"templates": ["h.upos"], "bits": 31}},
        {"first": {"templates": ["h.upos"], "bits": True}},
        {"first": {"templates": ["nothing"], "bits": 10}},
        {"first": {"templates": [3], "bits": 10}},
        {"second": {"templates": ["h.xpos"], "bits": 10}},
        {"second": {"templates": ["h.upos"] * 1001, "bits": 10}},
        {"relations": {"templates": ["h.relation"], "bits": 10}},
        {"relations": {"templates": [], "bits": 10}},
        {"first": {"templates": [" ".join(["h.upos"] * 17)], "bits": 10}},
        {"first": {"templates": [f"h+{'1' * 5000}.upos"], "bits": 10}},
        {"first": {"templates": ["h+\u0661.upos"], "bits": 10}},
        {"first": {"templates": MANY, "bits": 10}, "columns": {"word": "word", "upos": "upos"}},
    ],
)
def test_a_damaged_state_is_refused(sentences, change):
    manifest = Arcs(("h.upos",), (), ("m.upos",), bits=8).fit(sentences).state().manifest
    with pytest.raises(ModelFileError):
        FittedArcs.from_state(State({**manifest, **change}, {}))


@pytest.mark.parametrize(
    "templates",
    [(" ".join(["h.upos"] * 17),), (f"h+{'1' * 5000}.upos",), ("m-\u0661.upos",), tuple(MANY)],
    ids=["atoms", "digits", "other digits", "attributes"],
)
def test_templates_have_limits(templates):
    with pytest.raises(UsageError):
        Arcs(templates)
    assert len(read_template(" ".join(["h.upos"] * 16))) == 16
