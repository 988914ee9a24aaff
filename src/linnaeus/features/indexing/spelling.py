"""All terms of a vocabulary at once: their names and their hashes, order by order without a loop over terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from linnaeus import kernels
from linnaeus.kernels.hashes import GAP, K2, K3
from linnaeus.kernels.plan import EDGE

if TYPE_CHECKING:
    from linnaeus.features.indexing.grams import Grams
    from linnaeus.features.indexing.vocabulary import Vocabulary
    from linnaeus.types import Words64

HALF = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


def spell(vocabulary: Vocabulary, grams: Grams) -> pa.Array:
    """The name of each column as Arrow strings, as `grams.name` says it."""
    import pyarrow.compute as pc

    tokens = _readable(vocabulary)
    between, orders = pa.scalar(grams.joint, pa.large_string()), [tokens]
    for parents, last in vocabulary.orders():
        before, token = orders[-1].take(pa.array(parents)), tokens.take(pa.array(last))
        orders.append(pc.binary_join_element_wise(before, token, between))
    names = pa.concat_arrays(orders).take(pa.array(vocabulary.node_of_column()))
    if grams.analysis.tokenizer != "edges":
        return names
    return pc.replace_substring(pc.replace_substring_regex(names, r"^\x00", "^"), EDGE, "$")


def _readable(vocabulary: Vocabulary) -> pa.Array:
    """The tokens as text; bytes that are no UTF-8, where each byte is a token, in Python's escapes."""
    offsets, data = (pa.py_buffer(np.ascontiguousarray(a)) for a in (vocabulary.token_offsets, vocabulary.token_bytes))
    tokens = pa.Array.from_buffers(pa.large_binary(), len(vocabulary.columns), [None, offsets, data])
    try:
        return tokens.cast(pa.large_string())
    except pa.ArrowInvalid:
        decoded = [token.decode("utf-8", "backslashreplace") for token in tokens.to_pylist()]
        return pa.array(decoded, pa.large_string())


def hash_columns(vocabulary: Vocabulary, skips: bool) -> Words64:
    """The 64 bits of each column's term, as the kernels hash it; between the words of a skip-gram stands a gap."""
    count = len(vocabulary.columns)
    tokens = np.fromiter((kernels.hash_bytes(vocabulary.token(i)) for i in range(count)), np.uint64, count)
    orders = [tokens]
    for parents, last in vocabulary.orders():
        before = join_hashes(orders[-1], np.uint64(GAP)) if skips else orders[-1]
        orders.append(join_hashes(before[parents], tokens[last]))
    found: Words64 = np.concatenate(orders)[vocabulary.node_of_column()]
    return found


def join_hashes(prefix: Words64, last: Words64 | np.uint64) -> Words64:
    """The kernels' `hash_join` for many: the halves of a 128-bit product, exclusive-ored.

    >>> from linnaeus.kernels.hashes import hash_join
    >>> int(join_hashes(np.array([2**63 + 5], np.uint64), np.uint64(77))[0]) == hash_join(2**63 + 5, 77)
    True
    """
    a, b = prefix ^ np.uint64(K2), last ^ np.uint64(K3)
    low = (a & LOW) * (b & LOW)
    one, other = (a >> HALF) * (b & LOW), (a & LOW) * (b >> HALF)
    middle = (low >> HALF) + (one & LOW) + (other & LOW)  # at most three times 2^32: it cannot overflow
    high = (a >> HALF) * (b >> HALF) + (one >> HALF) + (other >> HALF) + (middle >> HALF)
    found: Words64 = high ^ (middle << HALF | low & LOW)
    return found
