"""Word vectors learned from unlabeled text: a method is a frozen dataclass of its settings with `learn(text)`.

    encoding.py            `encoded`: texts as numbers of words, in one pass, larger than memory
    negative_sampling.py   `SkipGram` and `CBOW`, with subwords as an option
    cooccurrence.py        `GloVe`, `PPMI` and `LSA`, from counts
    judging.py             similarities and analogies
    progress.py            how far a training is, and its checkpoint

`learn` takes an `EncodedText` and returns a `WordTable` (`linnaeus.arrays.word_table`); `features.vector_files` reads
and writes tables. To add a method: its file, its row in `METHODS`, its tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import Table, room

if TYPE_CHECKING:
    from linnaeus.arrays.word_table import WordTable as WordTable
    from linnaeus.embeddings.cooccurrence import LSA as LSA
    from linnaeus.embeddings.cooccurrence import PPMI as PPMI
    from linnaeus.embeddings.cooccurrence import GloVe as GloVe
    from linnaeus.embeddings.encoding import EncodedText as EncodedText
    from linnaeus.embeddings.encoding import encoded as encoded
    from linnaeus.embeddings.judging import VectorScore as VectorScore
    from linnaeus.embeddings.judging import analogy_score as analogy_score
    from linnaeus.embeddings.judging import similarity_score as similarity_score
    from linnaeus.embeddings.negative_sampling import CBOW as CBOW
    from linnaeus.embeddings.negative_sampling import SkipGram as SkipGram
    from linnaeus.embeddings.progress import Checkpoint as Checkpoint
    from linnaeus.embeddings.progress import Stand as Stand


METHODS = Table(
    __name__,
    {
        "skipgram": "negative_sampling.SkipGram",
        "cbow": "negative_sampling.CBOW",
        "glove": "cooccurrence.GloVe",
        "ppmi": "cooccurrence.PPMI",
        "lsa": "cooccurrence.LSA",
    },
)
"""Every method by name."""


__getattr__, __dir__ = room(__name__)
