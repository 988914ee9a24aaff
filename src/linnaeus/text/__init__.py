"""Text to tokens and spans, no numbers: normalization, tokenizers, stemming.

`Analysis` is the whole way from a text to its tokens: `Normalize`, a tokenizer of the table `TOKENIZERS`, a stemmer.
`spans(text)` gives every token with its characters in the original text, also after normalization.

To add a tokenizer: its rule in `kernels/reference/tokens.py` and `kernels/native/tokenize.cpp`, a row in
`kernels.TOKENIZERS`; the property tests of the kernels take it up from there.
"""

from linnaeus.kernels import TOKENIZERS
from linnaeus.text.analysis import Analysis, Token, spans, tokens
from linnaeus.text.buffers import as_texts
from linnaeus.text.normalize import Normalize
from linnaeus.text.sentences import sentences

__all__ = ["TOKENIZERS", "Analysis", "Normalize", "Token", "as_texts", "sentences", "spans", "tokens"]
