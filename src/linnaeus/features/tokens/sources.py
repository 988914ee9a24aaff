"""Columns of tokens made from files: word clusters and gazetteers. The table, and how fitted ones are stored.

A piece names its file and its column; `read()` gives the fitted source with the content of the file:
`column(sentences)` makes the strings (null: none), `state()` and `from_state` store it. To add one: both classes here,
and a row in `SOURCES`.

`Clusters` reads files with a word and its cluster on each line, with a tab between them, as `linnaeus clusters` writes
them. It also reads files of Brown clustering (Brown et al. 1992), whose lines are bits, word and count; prefixes of
bits are wider clusters: `Window(("prefix4", "prefix6", "word"), (0,), "cluster")`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.data.formats.lines import entries
from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, UsageError, damaged, damaged_or_newer, expect
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, pack_arrow, tensor, unpack_arrow
from linnaeus.text.buffers import as_texts
from linnaeus.types import Ints, Longs, State, Words64

Spell = Callable[[int], str]

AS_IT_IS = np.array([[0, 0, 0, 1]], np.int32)
OR_LOWERED = np.array([[0, 0, 0, 1], [1, 0, 0, 1]], np.int32)
LOWERED = np.array([[1, 0, 0, 1]], np.int32)


@dataclass(frozen=True, eq=False)
class WordList:
    """Words, each once, numbered in order."""

    words: pa.Array

    @cached_property
    def _slots(self) -> Words64:
        texts = as_texts(self.words)
        keys = kernels.form_keys((texts.data, texts.offsets), AS_IT_IS, kernels.thread_count())
        return kernels.probe_pairs(keys.ravel(), np.arange(len(texts), dtype=np.int32), 0)

    def find(self, tokens: pa.Array, forms: Ints) -> Ints:
        """The number of each token in one of these forms, the first that is known; -1 for none.

        >>> WordList(pa.array(["a", "Dog"])).find(pa.array(["A", "Dog", "dog"]), OR_LOWERED).tolist()
        [0, 1, -1]
        """
        encoded = tokens.dictionary_encode()
        texts = as_texts(encoded.dictionary)
        found = kernels.form_ids((texts.data, texts.offsets), forms, self._slots, kernels.thread_count())
        best = found[:, 0] if found.shape[1] == 1 else np.where(found[:, 0] >= 0, found[:, 0], found[:, 1])
        return best[encoded.indices.to_numpy()] if len(tokens) else np.zeros(0, np.int32)


def encoded(codes: Ints, spell: Spell) -> pa.DictionaryArray:
    """Numbers as strings, each distinct one spelled once; those below 0 are null.

    >>> encoded(np.array([3, -1, 3], np.int32), str).to_pylist()
    ['3', None, '3']
    """
    distinct, numbers = np.unique(codes, return_inverse=True)
    there = np.packbits(codes >= 0, bitorder="little")
    buffers = [pa.py_buffer(there), pa.py_buffer(np.ascontiguousarray(numbers.ravel(), np.int32))]
    words = pa.array([spell(code) if code >= 0 else "" for code in distinct.tolist()], pa.large_string())
    return pa.DictionaryArray.from_arrays(pa.Array.from_buffers(pa.int32(), len(codes), buffers), words)


@dataclass(frozen=True)
class Clusters:
    """Word clusters of a file as the column `name`. A word that is not in the file is also looked up in lower case."""

    path: str
    name: str = "cluster"

    def __post_init__(self) -> None:
        expect("path=", self.path, str)
        expect("name=", self.name, str)

    def read(self) -> KnownClusters:
        """What the file says; of a word that stands there twice, the last."""
        found: dict[str, str] = {}
        for where, parts in entries(self.path):
            bits = len(parts) == 3 and parts[0].strip("01") == ""
            if not bits and len(parts) != 2:
                raise DataError(f"{where}: has {len(parts)} parts between tabs; write a word, a tab and its cluster.")
            word, cluster = (parts[1], parts[0]) if bits else parts
            found[word] = cluster
        clusters = sorted(set(found.values()))
        number = {cluster: i for i, cluster in enumerate(clusters)}
        of_word = np.array([number[cluster] for cluster in found.values()], np.int32)
        words = pa.array(list(found), pa.large_string())
        return KnownClusters(self.name, WordList(words), of_word, pa.array(clusters, pa.large_string()))


@dataclass(frozen=True, eq=False)
class KnownClusters:
    """Words, the number of each one's cluster, and the clusters."""

    name: str
    words: WordList
    of_word: Ints
    clusters: pa.Array

    def column(self, sentences: Sentences) -> pa.Array:
        """The cluster of each token; null for words that have none."""
        numbers = self.words.find(sentences.tokens, OR_LOWERED)
        codes = np.append(self.of_word, np.int32(-1))[numbers]  # -1, a word that is not there, is the last
        return encoded(codes, lambda code: self.clusters[code].as_py())

    def state(self) -> State:
        """Manifest and tensors."""
        tensors = {**pack_arrow("words", self.words.words), **pack_arrow("clusters", self.clusters)}
        return State({"kind": "clusters", "name": self.name}, {**tensors, "of_word": self.of_word})

    @classmethod
    def from_state(cls, state: State) -> KnownClusters:
        """The clusters again; what does not fit is refused."""
        words, clusters = unpack_arrow("words", state.tensors), unpack_arrow("clusters", state.tensors)
        of_word = tensor(state.tensors, "of_word", np.int32)
        if len(of_word) != len(words) or ((of_word < 0) | (of_word >= len(clusters))).any():
            raise damaged("a word's cluster is not there")
        return cls(field(state.manifest, "name", str), WordList(words), of_word, clusters)


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
        return encoded(codes, lambda code: f"{'BI'[code % 2]}-{self.classes[code // 2].as_py()}")

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


SOURCES = {"clusters": Clusters, "gazetteer": Gazetteer}
"""Every piece that `Templates.sources` may hold."""

Source: TypeAlias = KnownClusters | KnownPhrases
"""A fitted source: `name` is the column that `column(sentences)` makes."""

FITTED: dict[str, type[Source]] = {"clusters": KnownClusters, "gazetteer": KnownPhrases}


def restore(state: State) -> Source:
    """A fitted source from its state."""
    kind = state.manifest.get("kind")
    if kind not in FITTED:
        raise damaged_or_newer(f"{kind!r} is no source of features")
    return FITTED[kind].from_state(state)
