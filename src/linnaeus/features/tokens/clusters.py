"""Word clusters from a file: words that stand in like places share a string, so that rare ones learn from others.

The file has a word and its cluster on each line, between them a tab: `linnaeus clusters` writes such files. Those of
Brown clustering (Brown et al. 1992), whose lines are bits, word and count, are read too; prefixes of bits are wider
clusters: `Window(("prefix4", "prefix6", "word"), (0,), "cluster")`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus.data.wordlists import entries
from linnaeus.errors import DataError, damaged, expect
from linnaeus.features.tokens.words import OR_LOWERED, WordList, encoded
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, pack_arrow, tensor, unpack_arrow
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import Ints


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
