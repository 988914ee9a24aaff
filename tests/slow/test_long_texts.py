"""The work for a text grows with its length and no faster: counted in bytes and terms, not in seconds."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.recipes.cookbook import recipe
from linnaeus.text import Normalize

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

MB = 1 << 20
KNOWN = [f"word{i}" for i in range(2000)]
RECIPES = ["words", "fast", "naive-bayes", "logistic", "default", "characters"]


def long_text(size: int) -> str:
    return " ".join(np.array(KNOWN)[np.random.default_rng(1).integers(0, len(KNOWN), size // 8)].tolist())


def short_rows() -> list[tuple[str, str]]:
    rng = np.random.default_rng(0)
    return [(" ".join(rng.choice(KNOWN, 10)), "ab"[i % 2]) for i in range(100)]


@pytest.fixture
def read(monkeypatch) -> list[int]:
    """The bytes of each call that normalizes texts: every walk over the texts begins with one."""
    seen: list[int] = []
    plain = Normalize.prepare

    def counted(self, texts):
        seen.append(int(texts.offsets[-1] - texts.offsets[0]))
        return plain(self, texts)

    monkeypatch.setattr(Normalize, "prepare", counted)
    return seen


@pytest.mark.parametrize("name", RECIPES)
def test_a_long_text_is_read_as_often_as_a_short_one(name, read):
    work = {}
    for size in (MB, 8 * MB):
        read.clear()
        text = long_text(size)
        model = recipe(name).fit([*short_rows(), (text, "a")])
        model.scores([text])
        work[size] = sum(read) / len(text)
    assert work[8 * MB] <= work[MB] * 1.01


@pytest.mark.parametrize("name", RECIPES)
def test_a_long_text_is_as_much_work_as_its_pieces(name, read):
    text, work = long_text(4 * MB), []
    for texts in ([text], [text[at : at + MB] for at in range(0, len(text), MB)]):
        read.clear()
        recipe(name).fit([*short_rows(), *((part, "a") for part in texts)])
        work.append(sum(read) / len(text))
    assert work[0] <= work[1] * 1.01


@pytest.mark.parametrize("name", ["words", "characters"])
def test_a_row_has_no_more_terms_than_its_pieces(name):
    text = long_text(2 * MB)
    features = recipe(name).features.fit([text])
    pieces = [text[at : at + MB // 4] for at in range(0, len(text), MB // 4)]
    assert features.rows([text]).nnz <= features.rows(pieces).nnz
