"""Gazetteers: lists of phrases, such as names of places, marked where they stand in a sentence.

The file has a phrase on each line, its words between spaces, and behind a tab its class (the file's name where there is
none). From left to right, the longest phrase that begins at a token is marked `B-class`, `I-class`; a phrase of several
classes is marked with all of them, `B-LOC|PER`. Phrases do not overlap.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.wordlists import entries
from linnaeus.errors import DataError, UsageError, damaged, expect
from linnaeus.features.tokens.words import AS_IT_IS, LOWERED, WordList, encoded
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, pack_arrow, tensor, unpack_arrow
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Ints, Longs

CASES = ("keep", "lower")
LONGEST = 64


@dataclass(frozen=True)
class Gazetteer:
    """A gazetteer: phrases of a file as the column `name`; with `case="lower"` the comparison ignores case."""

    path: str
    name: str = "gazetteer"
    case: str = "keep"

    def __post_init__(self) -> None:
        expect("path=", self.path, str)
        expect("name=", self.name, str)
        if self.case not in CASES:
            raise UsageError(f"case={self.case!r} is not known; take one of {', '.join(CASES)}.")

    def read(self) -> KnownPhrases:
        """What the file says."""
        classes: dict[str, set[str]] = {}
        for where, parts in entries(self.path):
            phrase = " ".join(parts[0].split())
            if len(parts) > 2 or phrase.count(" ") >= LONGEST:
                raise DataError(f"{where}: must be a phrase of at most {LONGEST} words, then a tab and a class.")
            phrase = phrase.lower() if self.case == "lower" else phrase
            classes.setdefault(phrase, set()).add(parts[1] if len(parts) == 2 else Path(self.path).name.split(".")[0])
        marks = sorted({"|".join(sorted(found)) for found in classes.values()})
        number = {mark: i for i, mark in enumerate(marks)}
        of_phrase = np.array([number["|".join(sorted(found))] for found in classes.values()], np.int32)
        phrases = pa.array(list(classes), pa.large_string())
        return KnownPhrases(self.name, self.case, phrases, of_phrase, pa.array(marks, pa.large_string()))


@dataclass(frozen=True, eq=False)
class KnownPhrases:
    """Phrases, the number of each one's class, and the classes."""

    name: str
    case: str
    phrases: pa.Array
    of_phrase: Ints
    classes: pa.Array

    def column(self, sentences: Sentences) -> pa.Array:
        """`B-class` or `I-class` for each token in a phrase, null for the others."""
        starts, sizes, kinds = self._matches(sentences)
        codes = np.full(sentences.count, -1, np.int32)
        inside = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(int(sizes.sum()))
        codes[inside] = 2 * np.repeat(kinds, sizes) + 1
        codes[starts] = 2 * kinds
        return encoded(codes, self._mark)

    def _mark(self, code: int) -> str:
        return f"{'BI'[code % 2]}-{self.classes[code // 2].as_py()}"

    def _matches(self, sentences: Sentences) -> tuple[Longs, Longs, Longs]:
        """First token, length and class of each phrase that is marked."""
        words, keys, nodes, classes = self._trie
        found = words.find(sentences.tokens, LOWERED if self.case == "lower" else AS_IT_IS).astype(np.int64)
        ends = np.repeat(sentences.offsets[1:] - sentences.offsets[0], np.diff(sentences.offsets))
        size, kind = np.zeros(len(found), np.int64), np.zeros(len(found), np.int64)
        starts, node = np.arange(len(found)), np.zeros(len(found), np.int64)
        for depth in range(LONGEST):
            there = starts + depth < ends[starts]
            starts, node = starts[there], node[there]
            word = found[starts + depth]
            key = node << 32 | np.maximum(word, 0)
            at = np.minimum(np.searchsorted(keys, key), len(keys) - 1) if len(keys) else np.zeros(len(key), np.int64)
            hit = (word >= 0) & (keys[at] == key) if len(keys) else np.zeros(len(key), bool)
            starts, node = starts[hit], nodes[at[hit]]
            if not len(starts):
                break
            whole = classes[node] >= 0
            size[starts[whole]], kind[starts[whole]] = depth + 1, classes[node[whole]]
        chosen = _apart(np.flatnonzero(size), size)
        return chosen, size[chosen], kind[chosen]

    @cached_property
    def _trie(self) -> tuple[WordList, Longs, Longs, Longs]:
        """The words of the phrases; sorted steps (node << 32 | word) and where each leads; the class of each node."""
        numbers: dict[str, int] = {}
        steps: dict[int, int] = {}
        classes = {0: -1}
        for phrase, kind in zip(self.phrases.to_pylist(), self.of_phrase.tolist(), strict=True):
            node = 0
            for word in phrase.split(" "):
                step = node << 32 | numbers.setdefault(word, len(numbers))
                node = steps.setdefault(step, len(steps) + 1)
                classes.setdefault(node, -1)
            classes[node] = kind
        keys = np.array(list(steps), np.int64)
        order = np.argsort(keys)
        nodes = np.array(list(steps.values()), np.int64)[order]
        listed = np.array([classes[node] for node in range(len(classes))], np.int64)
        return WordList(pa.array(list(numbers), pa.large_string())), keys[order], nodes, listed

    def state(self) -> State:
        """Manifest and tensors."""
        tensors = {**pack_arrow("phrases", self.phrases), **pack_arrow("classes", self.classes)}
        manifest = {"kind": "gazetteer", "name": self.name, "case": self.case}
        return State(manifest, {**tensors, "of_phrase": self.of_phrase})

    @classmethod
    def from_state(cls, state: State) -> KnownPhrases:
        """The phrases again; what does not fit is refused."""
        phrases, classes = unpack_arrow("phrases", state.tensors), unpack_arrow("classes", state.tensors)
        of_phrase, case = tensor(state.tensors, "of_phrase", np.int32), field(state.manifest, "case", str)
        if len(of_phrase) != len(phrases) or ((of_phrase < 0) | (of_phrase >= len(classes))).any() or case not in CASES:
            raise damaged("a phrase's class is not there")
        return cls(field(state.manifest, "name", str), case, phrases, of_phrase, classes)


def _apart(starts: Longs, sizes: Longs) -> Longs:
    """From left to right, those that begin behind the end of the one before."""
    chosen, free = [], 0
    for start in starts.tolist():
        if start >= free:
            chosen.append(start)
            free = start + int(sizes[start])
    return np.array(chosen, np.int64)
