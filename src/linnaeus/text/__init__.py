"""Text processing: normalization, tokenizers, stemming.

`Analysis` turns a text into tokens: `Normalize`, a tokenizer of the table `TOKENIZERS`, and an optional stemmer.
`spans(text)` returns every token with its position in the original text, also after normalization.

To add a tokenizer: its rule in `kernels/reference/tokens.py` and `kernels/native/tokenize.cpp`, a row in
`kernels.TOKENIZERS`; the property tests of the kernels then cover it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room
from linnaeus.text.sentences import sentences as sentences

if TYPE_CHECKING:
    from linnaeus.kernels import TOKENIZERS as TOKENIZERS
    from linnaeus.text.analysis import Analysis as Analysis
    from linnaeus.text.analysis import Token as Token
    from linnaeus.text.analysis import spans as spans
    from linnaeus.text.analysis import tokens as tokens
    from linnaeus.text.buffers import as_texts as as_texts
    from linnaeus.text.normalize import Normalize as Normalize


__getattr__, __dir__ = room(__name__)
