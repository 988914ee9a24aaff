"""Held-out figures of data whose texts repeat: no copy of a held-out text is in training."""

from __future__ import annotations

import csv
import json

import numpy as np
import pyarrow as pa
import pytest

import linnaeus
from linnaeus import TextClassifier
from linnaeus.data.groups import Groups
from linnaeus.data.sentences import Sentences
from linnaeus.errors import ModelFileError
from linnaeus.evaluation import Evaluation
from linnaeus.features import Words
from linnaeus.features.base import Batches
from linnaeus.recipes.cookbook import recipe
from linnaeus.tasks.keys import example_keys, sentence_keys, text_keys
from linnaeus.text import Normalize

QUICK = {"tuning.strengths": [1.0]}


def riddles(texts: int, copies: int, seed: int = 0) -> list[tuple[str, str]]:
    """Texts of random words with random labels, each several times: nobody can know a label without its copy."""
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(300)]
    rows = [(" ".join(rng.choice(words, 8)), str(rng.choice(["x", "y"]))) for _ in range(texts)]
    return [rows[i] for i in rng.permutation(np.repeat(np.arange(texts), copies))]


def keys(texts: list[str], features=None) -> list[int]:
    found = text_keys(linnaeus.read(texts), features)
    assert found is not None
    return found.tolist()


def test_labels_of_repeated_texts_cannot_be_guessed():
    rows = riddles(300, 3)
    model = recipe("default").changed(QUICK).fit(rows)
    assert model.evaluation.metrics["accuracy"] < 0.65
    assert model.evaluation.once is None, "no text occurs once"
    assert model.facts["repeated"] == 900


def test_copies_that_differ_in_case_and_white_space_do_not_help():
    rows = [(f"  {text.upper()}\t" if i % 2 else text, label) for i, (text, label) in enumerate(riddles(150, 2))]
    face = TextClassifier("default", tuning__strengths=(1.0,)).fit(*zip(*rows, strict=True))
    assert face.evaluation_.metrics["accuracy"] < 0.65


@pytest.mark.parametrize("copies", [2, 3])
def test_small_data_are_no_exception(copies):
    model = recipe("words").changed(QUICK).fit(riddles(40, copies))
    assert model.evaluation.metrics["accuracy"] < 0.85


def test_both_figures_are_given_where_many_rows_repeat():
    rows = riddles(100, 3) + riddles(120, 1, seed=1)
    model = recipe("words").changed(QUICK).fit(rows)
    once = model.evaluation.once
    assert (model.evaluation.rows, once.rows) == (420, 120)
    assert set(once.metrics) == set(model.evaluation.metrics)
    assert "On the 120 rows whose text occurs once in the data" in str(model.evaluation)
    assert Evaluation.from_json(json.loads(json.dumps(model.evaluation.to_json()))) == model.evaluation


def test_few_repeats_change_nothing():
    rows = riddles(100, 1)
    assert recipe("words").changed(QUICK).fit([*rows, rows[0]]).evaluation.once is None


def test_a_figure_inside_a_figure_inside_is_refused():
    told = recipe("words").changed(QUICK).fit(riddles(60, 3) + riddles(60, 1, seed=1)).evaluation.to_json()
    told["once"]["once"] = dict(told["once"])
    with pytest.raises(ModelFileError, match="contains another one"):
        Evaluation.from_json(told)


def test_given_groups_and_texts_are_held_out_together():
    """Two rows of a group are the same question in other words; a copy of one of them tells the answer to both."""
    rows = riddles(200, 2)
    group, seen = [], {}
    for text, _ in rows:
        seen.setdefault(text, len(seen))
        group.append(f"g{seen[text] // 2}")
    table = {"text": [t for t, _ in rows], "label": [y for _, y in rows], "group": group}
    model = recipe("words").changed(QUICK).fit(linnaeus.read(table, group="group"))
    assert model.evaluation.metrics["accuracy"] < 0.65


def test_what_features_read_alike_has_one_key():
    a, b, c, d = keys(["Äpfel  sind\u00a0gut", "äpfel sind gut ", "A\u0308PFEL sind gut", "apfel sind gut"])
    assert a == b == c != d
    features = (Words(), Words(normalize=Normalize(accents=False, html=True)))
    a, b, c = keys(["Äpfel &amp; Birnen", "apfel & birnen", "apfel birnen"], features)
    assert a == b != c


def test_keys_do_not_depend_on_blocks_or_threads():
    texts = [f"Text {i % 40} mit Ümlaut" if i % 3 else f"plain {i % 50}" for i in range(200)]
    whole = text_keys(linnaeus.read(texts))
    batches = list(linnaeus.read(texts).batches())
    for size in (1, 7, 64):
        cut = Batches(tuple(b.take(np.arange(i, min(i + size, 200))) for b in batches for i in range(0, 200, size)))
        with linnaeus.kernels.threads(1 + size % 2):
            assert np.array_equal(text_keys(cut), whole)


def test_keys_of_sentences_and_of_examples():
    found = sentence_keys(Sentences.from_lists([["A", "dog"], ["no"], ["a", "dog"], []]))
    assert found[0] == found[2]
    assert len(set(found.tolist())) == 3
    sliced = sentence_keys(Sentences.from_lists([["no"], ["A", "dog"]]).slice(1, 2))
    assert sliced[0] == found[0]
    groups = Groups.from_lists(["q", "Q ", "q", "r"], [["a", "b"], ["b", "a"], ["a", "c"], ["a", "b"]])
    first, second, third, fourth = example_keys(groups).tolist()
    assert first == second
    assert len({first, third, fourth}) == 3


def test_repeated_examples_of_a_ranker_are_held_out_together():
    rng = np.random.default_rng(0)
    names = [f"{i}" for i in range(60)]
    examples = [(f"question {i}", [f"a{i}", f"b{i}"], int(rng.integers(2))) for i in names] * 3
    texts, candidates, answers = (list(column) for column in zip(*examples, strict=True))
    model = recipe("plain").fit(Groups.from_lists(texts, candidates, answers))
    assert model.evaluation.value("accuracy") < 0.7


def test_the_command_line_shows_both_figures_and_warns_of_near_duplicates(tmp_path, capsys):
    from linnaeus.cli.main import main

    def write(name: str, rows: list[tuple[str, str]]) -> str:
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows([("text", "label"), *rows])
        return str(tmp_path / name)

    options = ["--recipe", "words", "--set", "tuning.strengths=[1.0]", "--force", "-o", str(tmp_path / "m.lin")]
    data = write("some.csv", riddles(100, 3) + riddles(120, 1, seed=1))
    assert main(["train", data, *options, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["held_out"]["metrics"]["accuracy"] < 0.7
    assert told["held_out"]["once"]["rows"] == 120
    assert main(["train", data, *options]) == 0
    shown = capsys.readouterr()
    assert " % of the rows have a text that occurs more than once; equal texts are held out together" in shown.out
    assert "On the 120 rows whose text occurs once" in shown.out
    assert "small changes" not in shown.err
    near = write("near.csv", [(f"{text} {i % 3}", label) for i, (text, label) in enumerate(riddles(100, 3))])
    assert main(["train", near, *options]) == 0
    assert "rows repeat an earlier one with small changes" in capsys.readouterr().err


def test_a_tagger_does_not_know_held_out_sentences_by_their_copies(tmp_path, capsys):
    from linnaeus.cli.main import main

    rng = np.random.default_rng(0)
    rows = [{"tokens": [f"w{i}x{j}" for j in range(5)], "tags": rng.choice(["A", "B"], 5).tolist()} for i in range(80)]
    more = [{"tokens": [f"v{i}x{j}" for j in range(5)], "tags": rng.choice(["A", "B"], 5).tolist()} for i in range(80)]
    (tmp_path / "all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows * 3 + more))
    assert main(["train", str(tmp_path / "all.jsonl"), "-o", str(tmp_path / "m.lin"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["held_out"]["metrics"]["accuracy"] < 0.75
    assert 0 < told["held_out"]["once"]["units"] < told["held_out"]["units"]


def test_texts_of_arrow_need_not_begin_at_zero():
    texts = pa.array(["x", "Größe", "größe", "y"]).slice(1, 2)
    found = text_keys(linnaeus.read({"text": texts}))
    assert found[0] == found[1]
