"""Tables of word vectors: their files, and features of texts from them.

files.py          `read_vectors` and `write_vectors`: Linnaeus' own file, and the table of formats
text_formats.py   word2vec text and binary, GloVe, fastText's .vec
static_models.py  folders with safetensors and tokenizer.json (Model2Vec)
extractor.py      `WordVectors`: the vectors of a text's words, pooled
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.features.word_vectors.extractor import WordVectors as WordVectors
    from linnaeus.features.word_vectors.files import read_vectors as read_vectors
    from linnaeus.features.word_vectors.files import write_vectors as write_vectors


__getattr__, __dir__ = room(__name__)
