"""Sentences from lists and files: what is kept, and what is refused in one sentence."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linnaeus.data.sentence_reading import read_sentences, stream_sentences
from linnaeus.data.sentences import Sentences, join
from linnaeus.errors import DataError, InputTypeError, LinnaeusError

TOKENS = [["The", "dog"], [], ["No"]]
TAGS = [["DT", "NN"], [], ["UH"]]


def test_lists_there_and_back():
    made = Sentences.from_lists(TOKENS, TAGS, {"lemma": [["the", "dog"], [], ["no"]]})
    assert (len(made), made.count) == (3, 3)
    assert made.lists() == TOKENS
    assert made.lists(made.tags) == TAGS
    assert made.take([2, 0]).lists(made.take([2, 0]).columns["lemma"]) == [["no"], ["the", "dog"]]
    assert made.slice(1, 3).lists() == TOKENS[1:]
    assert [part.lists() for part in made.batches(2)] == [TOKENS[:2], TOKENS[2:]]
    assert join([made.slice(0, 1), made.slice(1, 3)]).lists() == TOKENS


def test_pairs_and_tables_in_memory():
    pairs = [[("The", "DT"), ("dog", "NN")], [], [("No", "UH")]]
    table = {"words": TOKENS, "xpos": TAGS, "doc": ["a", "a", "b"]}
    for source in (pairs, table, pa.table(table), [{"words": a, "xpos": b} for a, b in zip(TOKENS, TAGS, strict=True)]):
        found = read_sentences(source)
        assert (found.lists(), found.lists(found.tags)) == (TOKENS, TAGS)
    assert read_sentences(table).docs.to_pylist() == ["a", "a", "b"]
    assert read_sentences(TOKENS).tags is None


CONLL = """-DOCSTART- -X- O O

EU NNP I-NP B-ORG
rejects VBZ I-VP O

-DOCSTART- -X- O O
# # O O
"""
CONLLU = (
    "# newdoc id = a\n# text = I can't\n1\tI\tI\tPRON\tPRP\t_\t0\troot\t_\t_\n2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tca\tcan\tAUX\tMD\t_\t1\taux\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_\n"
    "3.1\tgo\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tYes\tyes\tINTJ\tUH\t_\t0\troot\t_\t_\n"
)


def test_conll_columns(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(CONLL, encoding="utf-8")
    found = read_sentences(path, tags="ner")
    assert found.lists() == [["EU", "rejects"], ["#"]]
    assert found.lists(found.tags) == [["B-ORG", "O"], ["O"]]
    assert list(found.columns) == ["pos", "chunk"]
    assert found.docs.to_pylist() == ["1", "2"]
    with pytest.raises(DataError, match=r"a\.conll.*'pos', 'chunk', 'ner' with tags="):
        read_sentences(path)
    assert read_sentences(path, tags="").tags is None


def test_two_columns_are_tokens_and_tags(tmp_path):
    path = tmp_path / "a.iob"
    path.write_text("New York\tB-LOC\r\ncity\tO\r\n\r\n\r\nYes\tO", encoding="utf-8")
    found = read_sentences(path)
    assert found.lists() == [["New York", "city"], ["Yes"]]
    assert found.lists(found.tags) == [["B-LOC", "O"], ["O"]]


def test_conllu_keeps_syntactic_words(tmp_path):
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU, encoding="utf-8")
    found = read_sentences(path, tags="upos")
    assert found.lists() == [["I", "ca", "n't"], ["Yes"]]
    assert found.lists(found.tags) == [["PRON", "AUX", "PART"], ["INTJ"]]
    assert found.lists(found.columns["xpos"])[0] == ["PRP", "MD", "RB"]
    assert found.docs.to_pylist() == ["1", "1"]


def test_jsonl_and_parquet(tmp_path):
    rows = [{"tokens": a, "ner": b} for a, b in zip(TOKENS, TAGS, strict=True)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    pq.write_table(pa.table({"tokens": TOKENS, "ner": TAGS}), tmp_path / "a.parquet")
    for name in ("a.jsonl", "a.parquet"):
        found = read_sentences(tmp_path / name)
        assert (found.lists(), found.lists(found.tags)) == (TOKENS, TAGS)
        assert join(list(stream_sentences(tmp_path / name))).lists() == TOKENS


def test_a_sentence_may_be_very_long():
    long = Sentences.from_lists([["word"] * 100_000])
    assert long.count == 100_000
    assert len(next(iter(long.batches(1000)))) == 1


BAD_LISTS = [
    (("The dog",), "one str"),
    ((["The dog"],), "sentence 1: its tokens are one str"),
    (([["a", None]],), "sentence 1: token 2 is null"),
    (([["a"], ["b", 3]],), "sentence 2: 3 among its tokens is int"),
    (([["a", "b"]], [["X"]]), "sentence 1: has 2 tokens but 1 tags"),
    (([["a"]], [["X"], ["Y"]]), "2 sentences of tags for 1"),
    (([["a\ud800"]],), "sentence 1: .*surrogate"),
]


@pytest.mark.parametrize(("lists", "sentence"), BAD_LISTS)
def test_bad_lists_get_a_sentence(lists, sentence):
    with pytest.raises(LinnaeusError, match=sentence):
        Sentences.from_lists(*lists)


BAD_FILES = [
    ("a.jsonl", '{"tokens": ["a", "b"], "tags": ["X"]}', r"a\.jsonl, row 1: has 2 tokens but 1 tags"),
    (
        "a.jsonl",
        '{"tokens": ["a"], "tags": ["X"]}\n{"tokens": ["a", null], "tags": ["X", "Y"]}',
        "row 2: token 2 is null",
    ),
    ("a.jsonl", '{"tokens": ["a"], "tags": ["X"]}\n{"tags": ["X"]}', "row 2: 'tokens' is null"),
    ("a.jsonl", '{"text": "a dog"}', "no column is plainly the tokens"),
    ("a.conll", "a X\nb\n", r"a\.conll, line 2: 1 columns where 2 are wanted"),
    ("a.conll", "\n\n", "no token"),
    ("a.conllu", "1\ta\n", "line 1: 2 columns where 10"),
]


@pytest.mark.parametrize(("name", "text", "sentence"), BAD_FILES)
def test_bad_files_get_a_sentence_with_file_and_row(tmp_path, name, text, sentence):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=sentence):
        read_sentences(tmp_path / name)


def test_bytes_that_are_no_text(tmp_path):
    (tmp_path / "a.conll").write_bytes(b"good X\nb\xff X\n")
    with pytest.raises(DataError, match=r"a\.conll, line 2, byte 8"):
        read_sentences(tmp_path / "a.conll")


def test_a_column_that_is_not_there():
    with pytest.raises(DataError, match="'lemma'"):
        read_sentences({"tokens": TOKENS}, tags="lemma")
    with pytest.raises(InputTypeError):
        read_sentences(3)
