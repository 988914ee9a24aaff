"""The audit of real data sets against plain Python over the same rows."""

from __future__ import annotations

import pytest

import linnaeus
from linnaeus.audit import check


def fold(text: str) -> bytes:
    return b" ".join(text.encode().lower().split())


@pytest.mark.parametrize("name", ["banking77", "imdb", "sms_spam"])
def test_repeated_texts_and_leaks_are_those_of_plain_python(real_data, name):
    folder = real_data / name
    if not (folder / "train.parquet").exists() or not (folder / "test.parquet").exists():
        pytest.skip(f"no {name} here")
    train, test = (linnaeus.read(folder / f"{part}.parquet") for part in ("train", "test"))
    found = {finding.kind: finding.count for finding in check(train, test).findings}
    texts, others = ([fold(text) for text in corpus.text.to_pylist()] for corpus in (train, test))
    known = {text for text in texts if text}
    assert found.get("duplicates", 0) == sum(map(bool, texts)) - len(known)
    assert found.get("leaks", 0) == sum(text in known for text in others)
