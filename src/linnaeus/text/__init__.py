"""Text processing: normalization, tokenizers, stemming.

`Analysis` turns a text into tokens: `Normalize`, a tokenizer of the table `TOKENIZERS`, and an optional stemmer.
`spans(text)` returns every token with its position in the original text, also after normalization.

To add a tokenizer: its rule in `kernels/reference/tokens.py` and `kernels/native/tokenize.cpp`, a row in
`kernels.TOKENIZERS`; the property tests of the kernels then cover it.
"""

from linnaeus.kernels import TOKENIZERS
from linnaeus.text.analysis import Analysis, Token, spans, tokens
from linnaeus.text.buffers import as_texts
from linnaeus.text.normalize import Normalize
from linnaeus.text.sentences import sentences

__all__ = ["TOKENIZERS", "Analysis", "Normalize", "Token", "as_texts", "sentences", "spans", "tokens"]
