"""An argument of the wrong kind is refused at once, in one sentence that says which and what it takes."""

import pytest

from linnaeus import errors, read, threads
from linnaeus.audit import Limits, Near
from linnaeus.data.split import folds, folds_by_time, holdout, holdout_by_time
from linnaeus.errors import InputTypeError
from linnaeus.features import BM25, Affixes, Columns, Conjunction, Exact, Hashed, NaiveBayes, Selected, Skips, Words


def corpus():
    return read([("a b", "x"), ("b c", "y"), ("c d", "x"), ("d e", "y")])


WRONG = {
    "bits": lambda: Hashed("20"),
    "bits of truth": lambda: Hashed(True),
    "max_terms": lambda: Exact(max_terms="2"),
    "gap": lambda: Skips(gap="3"),
    "k": lambda: Selected(Words(), k="3"),
    "k as a share": lambda: Selected(Words(), k=0.5),
    "prefixes": lambda: Affixes(prefixes=3),
    "suffixes": lambda: Affixes(suffixes="123"),
    "a suffix": lambda: Affixes(suffixes=(1, "2")),
    "min_df": lambda: Affixes(min_df="1"),
    "min_df of columns": lambda: Columns(numeric=("a",), min_df="x"),
    "numeric": lambda: Columns(numeric=3),
    "min_df of pairs": lambda: Conjunction(Words(), Words(), min_df="x"),
    "k1": lambda: BM25(k1="a"),
    "b": lambda: BM25(b=None),
    "smoothing": lambda: NaiveBayes(smoothing="1"),
    "threads": lambda: threads("2").__enter__(),
    "share": lambda: corpus().split("a"),
    "seed": lambda: corpus().split(seed="a"),
    "folds": lambda: corpus().folds("a"),
    "seed of folds": lambda: folds(4, 2, seed=None),
    "n and share": lambda: holdout(4, share=None),
    "share by time": lambda: holdout_by_time([1, 2], share="a"),
    "folds by time": lambda: folds_by_time([1, 2, 3], k="a"),
    "threshold": lambda: Near("x"),
    "shingle": lambda: Near(shingle="x"),
    "leaks": lambda: Limits(leaks="x"),
    "encoding": lambda: read(["a"], encoding=5),
    "no encoding": lambda: read(["a"], encoding=None),
    "delimiter": lambda: read(["a"], delimiter=5),
    "label_separator": lambda: read(["a"], label_separator=5),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG)
def test_wrong_types_are_one_sentence(call):
    with pytest.raises(InputTypeError, match=r"^[^\n]+ takes [^\n]+\.$"):
        call()


def test_numbers_of_numpy_are_numbers():
    import numpy as np

    assert Hashed(np.int64(4)).bits == 4
    assert BM25(k1=np.float32(1)).k1 == 1


def test_every_error_is_on_the_list():
    found = {
        name for name, value in vars(errors).items() if isinstance(value, type) and value.__module__ == errors.__name__
    }
    assert found == set(errors.__all__)
