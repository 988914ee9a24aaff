"""Word clusters: words in like places come together, and one seed gives one answer."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, UsageError
from linnaeus.features.tokens.clustering import Grouping, _paths

NAMES, VERBS = ["Ann", "Bob", "Cid", "Dee"], ["runs", "eats", "sits", "hums"]


def sentences(seed=0, count=400):
    rng = np.random.default_rng(seed)
    return Sentences.from_lists([[*rng.choice(NAMES, 1), *rng.choice(VERBS, 1), "."] for _ in range(count)])


def test_words_in_like_places_come_together():
    found = dict(Grouping(count=3, width=4, min_count=2).learn([sentences()]))
    assert len({found[word] for word in NAMES}) == len({found[word] for word in VERBS}) == 1
    assert len(set(found.values())) == 3
    assert all(set(bits) <= {"0", "1"} for bits in found.values())


def test_parts_threads_and_runs_change_nothing():
    whole = sentences()
    grouping = Grouping(count=4, width=4, min_count=2, seed=3)
    found = grouping.learn([whole])
    with kernels.threads(2):
        assert grouping.learn([whole.slice(0, 100), whole.slice(100, 100), whole.slice(100, 400)]) == found


def test_the_most_frequent_words_only():
    found = Grouping(count=2, min_count=1, most=3).learn([sentences()])
    assert len(found) == 3
    assert found[0][0] == "."


def test_paths_of_a_tree_begin_no_other_path():
    paths = _paths(np.random.default_rng(0).normal(size=(9, 3)))
    assert len(set(paths)) == 9
    assert not any(a != b and b.startswith(a) for a in paths for b in paths)
    assert _paths(np.ones((1, 3))) == ["0"]


def test_too_little_text_and_settings_out_of_range():
    with pytest.raises(DataError, match="fewer than two words"):
        Grouping().learn([Sentences.from_lists([["a", "b"]])])
    with pytest.raises(UsageError, match="count=0"):
        Grouping(count=0)
