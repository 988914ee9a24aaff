"""Sources made from files: pieces that put a column beside the tokens. The table, and how fitted ones are stored.

A piece names its file and its column; `read()` gives the fitted source, which holds what the file said:
`column(sentences)` makes the strings (null: none), `state()` and `from_state` store it. Adding one: a file with both
classes, a row in `SOURCES`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pyarrow as pa

from linnaeus.errors import damaged_or_newer
from linnaeus.features.tokens.clusters import Clusters, KnownClusters
from linnaeus.features.tokens.gazetteer import Gazetteer, KnownPhrases

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.types import State

SOURCES = {"clusters": Clusters, "gazetteer": Gazetteer}
"""Every piece that `Templates.sources` may hold."""

FITTED: dict[str, type[KnownClusters] | type[KnownPhrases]] = {"clusters": KnownClusters, "gazetteer": KnownPhrases}


class Source(Protocol):
    """A fitted source."""

    @property
    def name(self) -> str:
        """The column it makes."""
        ...

    def column(self, sentences: Sentences) -> pa.Array:
        """A string for each token, or null."""
        ...

    def state(self) -> State:
        """Manifest and tensors."""
        ...


def restore(state: State) -> Source:
    """A fitted source from its state."""
    kind = state.manifest.get("kind")
    if kind not in FITTED:
        raise damaged_or_newer(f"{kind!r} is no source of features")
    found: Source = FITTED[kind].from_state(state)
    return found
