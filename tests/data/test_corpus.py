from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from linnaeus.data import Corpus, Progress, read
from linnaeus.errors import DataError, InputTypeError, UsageError


@pytest.fixture
def path(tmp_path) -> Path:
    rows = "".join(f"text {i},{'ab'[i % 4 == 0]},g{i % 10},2026-01-{1 + i % 28:02}\n" for i in range(400))
    file = tmp_path / "a.csv"
    file.write_text("text,label,group,day\n" + rows)
    return file


@pytest.fixture(params=["file", "memory"])
def corpus(request, path, monkeypatch) -> Corpus:
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 1000)
    made = read(path, time="day")
    return made if request.param == "file" else made.load()


def test_walks_give_the_same_rows_each_time(corpus):
    first, second = list(corpus.batches()), list(corpus.batches())
    assert first == second
    assert len(first) > 5
    assert [batch.start for batch in first] == np.cumsum([0] + [len(batch) for batch in first[:-1]]).tolist()


def test_what_there_is(corpus):
    assert len(corpus) == 400
    assert corpus
    assert corpus.classes == ("a", "b")
    assert corpus.kind == "one"
    assert (
        repr(corpus)
        == "Corpus(text 'text' (guessed), label 'label' (guessed), group 'group' (guessed), time 'day', 400 rows)"
    )


def test_head_reads_only_the_beginning(path):
    path.write_bytes(path.read_bytes() + b"too,many,fields,in,this,row\n")
    with pytest.raises(DataError, match="line 402"):
        read(path).batch()


def test_head(corpus):
    assert corpus.head(3).text.to_pylist() == ["text 0", "text 1", "text 2"]
    assert len(corpus.head(1000)) == 400
    assert len(corpus.head(0)) == 0
    with pytest.raises(UsageError, match="from 0 up, not -1"):
        corpus.head(-1)


def test_take_in_any_order(corpus):
    rows = [399, 0, 0, 17]
    assert corpus.take(rows).text.to_pylist() == [f"text {i}" for i in rows]
    assert corpus.take([3, 50, 399]).text.to_pylist() == ["text 3", "text 50", "text 399"]
    assert next(corpus.take([3, 50, 399]).batches()).start == 0
    assert corpus.take([]).text.to_pylist() == []
    assert corpus.take(np.arange(400)).batch().text.to_pylist() == corpus.text.to_pylist()


@pytest.mark.parametrize("rows", [[True, False], [0.5]])
def test_a_mask_is_not_taken_for_row_numbers(corpus, rows):
    for there in (corpus, corpus.batch()):
        with pytest.raises(InputTypeError, match="by number, not by"):
            there.take(rows)


def test_take_what_is_not_there(corpus):
    with pytest.raises(UsageError, match="below 0"):
        corpus.take([-1])
    with pytest.raises(UsageError, match="row 400 is wanted but there are only 400"):
        corpus.take([400, 0])
    with pytest.raises((UsageError, DataError), match="row 400 is wanted but there are only 400"):
        len(corpus.take([0, 400]))


def test_split_heeds_labels_and_groups(path, corpus):
    train, test = corpus.split(0.3, seed=1)
    assert len(train) + len(test) == 400
    assert not set(train.batch().groups.to_pylist()) & set(test.batch().groups.to_pylist())
    train, test = read(path, group="").split(0.25, seed=1)
    assert test.labels.to_pylist().count("b") == 25


def test_split_does_not_depend_on_batches(path, corpus):
    whole = read(path, time="day").load()
    for by in (None, "random", "time"):
        assert corpus.split(seed=5, by=by)[1].text.to_pylist() == whole.split(seed=5, by=by)[1].text.to_pylist()


def test_split_by_time(path, corpus):
    train, test = corpus.split(by="time")
    assert max(train.batch().columns["day"].to_pylist()) < min(test.batch().columns["day"].to_pylist())
    with pytest.raises(UsageError, match="name it with time="):
        read(path).split(by="time")
    with pytest.raises(UsageError, match="by='luck' is not known"):
        corpus.split(by="luck")


def test_folds(corpus):
    found = list(corpus.folds(4, by="random"))
    assert sorted(text for _, test in found for text in test.text.to_pylist()) == sorted(corpus.text.to_pylist())
    assert all(len(train) == 300 for train, _ in found)
    assert len(list(corpus.folds(3, by="time"))) == 3


def test_many_labels_are_stratified_by_their_sets():
    rows = [("t", ["a", "b"])] * 50 + [("t", ["a"])] * 50
    _, test = read(rows).split(0.2)
    assert sorted(map(len, test.labels.to_pylist())) == [1] * 10 + [2] * 10


@pytest.mark.parametrize(
    "times",
    [
        ["2026-01-03", "2026-01-01", "2026-01-02"],
        ["2026-01-01T10:00:03Z", "2026-01-01T10:00:01Z", "2026-01-01T10:00:02Z"],
        ["30", "9", "10"],
        [3.5, -1.0, 2.0],
        pa.array([3, 1, 2], pa.timestamp("ms")),
        pa.array([3, 1, 2], pa.date32()),
    ],
)
def test_times_of_all_kinds(times):
    train, test = read({"text": ["late", "early", "middle"], "t": times}, time="t").split(0.3, by="time")
    assert train.text.to_pylist() == ["early", "middle"]
    assert test.text.to_pylist() == ["late"]


def test_times_that_are_none():
    for times in (["soon", "later"], ["2026-01-01", None]):
        with pytest.raises(DataError, match="column 't'"):
            read({"text": ["a", "b"], "t": times}, time="t").split(by="time")


def test_watch_reports_bytes_and_rows(path, monkeypatch):
    monkeypatch.setattr("linnaeus.data.formats.delimited.BLOCK", 1000)
    seen: list[Progress] = []
    corpus = read(path).watch(seen.append)
    rows = len(corpus)
    assert seen[-1] == Progress(rows, path.stat().st_size, path.stat().st_size)
    assert [p.rows for p in seen] == sorted(p.rows for p in seen)
    assert [p.done for p in seen] == sorted(p.done for p in seen)
    assert len(seen) > 5
    before = len(seen)
    corpus.split()[0].batch()
    assert len(seen) > before


def test_watch_counts_the_bytes_of_all_files(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("text\nx\n")
    seen: list[Progress] = []
    len(read(tmp_path).watch(seen.append))
    assert [(p.done, p.total) for p in seen] == [(7, 14), (14, 14)]


def test_skipped_is_of_the_latest_walk(path):
    path.write_bytes(path.read_bytes() + b"one\n")
    corpus = read(path, bad_rows="skip")
    assert corpus.skipped.count == 0
    for _ in range(2):
        len(list(corpus.batches()))
        assert corpus.skipped.count == 1
    assert corpus.load().skipped.count == 1
