"""`View`: groups as pair features look at them; what several features need is made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus import kernels
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import CASES, TOKENIZERS
from linnaeus.text.buffers import as_texts
from linnaeus.types import groups as gather

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linnaeus.data.groups import Groups
    from linnaeus.types import Longs, Words64

T = TypeVar("T")
PRIME = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class Keys:
    """The tokens of distinct texts as 64-bit hashes, in order: text r has `keys[at[r]:at[r+1]]`."""

    at: Longs
    keys: Words64

    @property
    def arrays(self) -> tuple[Longs, Words64]:
        """As kernels take them."""
        return self.at, self.keys

    @property
    def sizes(self) -> Longs:
        """How many tokens each text has."""
        return np.diff(self.at)

    def whole(self) -> Words64:
        """One hash for each text, of all its tokens in order."""
        place = np.arange(len(self.keys)) - np.repeat(self.at[:-1], self.sizes)
        with np.errstate(over="ignore"):
            mixed = (self.keys ^ (self.keys >> np.uint64(29))) * (PRIME * (2 * place + 1).astype(np.uint64))
            total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(mixed, dtype=np.uint64)])
            found: Words64 = total[self.at[1:]] - total[self.at[:-1]]
            return found


@dataclass(frozen=True, eq=False)
class Distinct:
    """A column by its distinct values: `values[codes[i]]` is that of row i. Missing values are empty texts."""

    codes: Longs
    values: pa.Array

    @cached_property
    def tokens(self) -> Keys:
        """The words of the distinct values, case folded."""
        texts = as_texts(self.values)
        keys, at = kernels.token_keys(
            texts.data, texts.offsets, CASES["fold"], TOKENIZERS["words"], kernels.thread_count()
        )
        return Keys(at, keys)


class View:
    """Groups, with their tokens and whatever else features want to share, made when first asked for."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self._made: dict[Any, Any] = {}

    def shared(self, key: Any, make: Callable[[], T]) -> T:
        """What `make` gives, made once for this key."""
        if key not in self._made:
            self._made[key] = make()
        found: T = self._made[key]
        return found

    def __len__(self) -> int:
        return int(self.groups.offsets[-1])

    @cached_property
    def group(self) -> Longs:
        """The example of each candidate."""
        return self.groups.group

    @cached_property
    def missing(self) -> NDArray[np.bool_]:
        """Where "none of these" stands in the place of a candidate."""
        found: NDArray[np.bool_] = self.groups.candidates.is_null().to_numpy(zero_copy_only=False)
        return found

    def distinct(self, source: str) -> Distinct:
        """A column by its distinct values; "candidate" is that of the candidates."""
        return self.shared(("distinct", source), lambda: self._distinct(source))

    def _distinct(self, source: str) -> Distinct:
        values = self.groups.candidates if source == "candidate" else self.groups.column(source)
        texts = pc.fill_null(values.cast(pa.string()), "")
        encoded = texts.dictionary_encode()
        return Distinct(encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary)

    def members(self, source: str) -> tuple[Longs, Longs, Longs]:
        """Groups as the pair kernels take them: offsets, the text's row of each example, each candidate's row."""
        return self.groups.offsets, self.distinct(source).codes, self.distinct("candidate").codes

    def sets(self, sources: Sequence[str], by: str | None) -> tuple[Keys, Longs]:
        """The words of these columns of each example, or of all with the same value of `by`; the set of each."""
        return self.shared(("sets", tuple(sources), by), lambda: self._sets(sources, by))

    def _sets(self, sources: Sequence[str], by: str | None) -> tuple[Keys, Longs]:
        which = self.owners(by)
        parts, owners = [], []
        for source in sources:
            one = self.distinct(source)
            _, at, _ = gather(one.tokens.at, one.codes)
            parts.append(one.tokens.keys[at])
            owners.append(np.repeat(which, one.tokens.sizes[one.codes]))
        owner = np.concatenate(owners)
        return gathered(owner, np.concatenate(parts), int(which.max(initial=-1)) + 1), which

    def owners(self, by: str | None) -> Longs:
        """The number of each example, or of its value in the column `by`."""
        return np.arange(len(self.groups)) if by is None else self.distinct(by).codes


def gathered(owner: Longs, keys: Words64, count: int) -> Keys:
    """Keys sorted by who owns them."""
    at = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owner, minlength=count), out=at[1:])
    return Keys(at, keys[np.argsort(owner, kind="stable")])
