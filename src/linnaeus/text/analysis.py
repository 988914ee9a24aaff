"""Text to tokens: normalization, a tokenizer, and an optional stemmer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from linnaeus import kernels
from linnaeus.errors import InputTypeError, UsageError, damaged_or_newer
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import CASES, EDGE, TOKENIZERS
from linnaeus.text.buffers import as_arrow, pack
from linnaeus.text.normalize import Aligned, Normalize
from linnaeus.text.stem import stem_rows, stemmer
from linnaeus.types import Json, Longs, Texts


class Token(NamedTuple):
    """A token and its position in the original text: characters start to end, end excluded.

    >>> Token("film", 5, 9).text
    'film'
    """

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Analysis:
    """How texts are split into tokens: normalization, tokenizer and stemmer.

    `tokenizer` is one of "words" (Unicode words; don't, 3.14 and 1,000 are one token; Chinese, Japanese and Thai are
    split into pairs of characters; emoji are words), "edges" (the same with a marker at both ends, so that pairs of
    words show how a text begins and ends), "scikit" (scikit-learn's default pattern), "whitespace", "characters" and
    "bytes". `stem` is the name of a Snowball language.

    >>> [token.text for token in Analysis().spans("Don't pay 1,000 €!")]
    ["don't", 'pay', '1,000']
    """

    tokenizer: str = "words"
    normalize: Normalize = field(default_factory=Normalize)
    stem: str | None = None

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise UsageError(f"tokenizer={self.tokenizer!r} is not known; choose one of {', '.join(TOKENIZERS)}.")
        if not isinstance(self.normalize, Normalize):
            raise InputTypeError("normalize takes a Normalize(...), such as Normalize(case=None) to keep the case.")
        if self.stem is not None:
            if self.tokenizer in ("characters", "bytes"):
                raise UsageError(f"Stemming needs words, but tokenizer={self.tokenizer!r} has none; use 'words'.")
            stemmer(self.stem)

    @property
    def codes(self) -> tuple[int, int]:
        """Case and tokenizer codes for a kernel that takes the result of `prepare`."""
        if self.stem is not None:
            return CASES[None], TOKENIZERS["whitespace"]
        return CASES[self.normalize.case], TOKENIZERS[self.tokenizer]

    def prepare(self, texts: Texts) -> Texts:
        """Apply all normalization that the kernels do not do."""
        texts = self.normalize.prepare(texts)
        if self.stem is None:
            return texts
        case, tokenizer = CASES[self.normalize.case], TOKENIZERS[self.tokenizer]
        data, offsets, rows = kernels.tokens(texts.data, texts.offsets, case, tokenizer)
        return stem_rows(Texts(data, offsets), rows, self.stem)

    def prepares_as(self, other: Analysis) -> bool:
        """Whether `prepare` returns the same texts as that of the other analysis.

        >>> Analysis("words").prepares_as(Analysis("whitespace"))
        True
        """
        if self.stem is not None or other.stem is not None:
            return self == other
        own, others = self.normalize, other.normalize
        return (own.form, own.accents, own.html) == (others.form, others.accents, others.html)

    def tokenize(self, texts: Texts) -> tuple[Texts, Longs]:
        """All tokens in order, and the offsets of the tokens of each text."""
        ready = self.prepare(texts)
        data, offsets, rows = kernels.tokens(ready.data, ready.offsets, *self.codes)
        return Texts(data, offsets), rows

    def spans(self, text: str) -> list[Token]:
        """Every token with its position in the original text."""
        if not isinstance(text, str):
            raise InputTypeError(f"spans takes one text, not {type(text).__name__}.")
        aligned = self.align(text)
        found = [(aligned.text[a:b], *aligned.span(a, b)) for a, b in self.cut(aligned.text)]
        if self.stem is not None:
            stem = stemmer(self.stem)
            found = [(stem(word), start, end) for word, start, end in found]
        tokens = [Token(*token) for token in found]
        return self._edged(tokens, aligned) if self.tokenizer == "edges" else tokens

    def align(self, text: str) -> Aligned:
        """The normalized text with the original position of each character; half surrogate pairs become `?`."""
        return self.normalize.align(text.encode("utf-8", "replace").decode())

    def _edged(self, tokens: list[Token], aligned: Aligned) -> list[Token]:
        """Add the edge markers; each gets the position of the character beside it."""
        from linnaeus.kernels.reference.tokens import edged

        if not tokens:
            return tokens
        spans = self.cut(aligned.text)
        first, last = spans[0][0], spans[-1][1]
        return edged(tokens, Token(EDGE, *aligned.span(first, first + 1)), Token(EDGE, *aligned.span(last - 1, last)))

    def cut(self, text: str) -> list[tuple[int, int]]:
        """The spans of the tokens in a normalized text; every byte of a character spans the character."""
        from linnaeus.kernels.reference.tokens import split

        if self.tokenizer == "bytes":
            return [(i, i + 1) for i, char in enumerate(text) for _ in char.encode()]
        return split(text, TOKENIZERS[self.tokenizer])

    def manifest(self) -> dict[str, Json]:
        """The settings as JSON."""
        return {"tokenizer": self.tokenizer, "normalize": self.normalize.manifest(), "stem": self.stem}

    @classmethod
    def from_manifest(cls, manifest: dict[str, Json]) -> Analysis:
        """Restore the analysis from its manifest."""
        try:
            return cls(manifest["tokenizer"], Normalize(**manifest["normalize"]), manifest["stem"])
        except (KeyError, TypeError, UsageError) as error:
            raise damaged_or_newer("the settings of its text analysis are unknown") from error


def spans(text: str, tokenizer: str = "words", normalize: Normalize | None = None) -> list[Token]:
    """Every token of a text with its position in the original text, also after normalization.

    >>> spans("Die Straße")[1]
    Token(text='strasse', start=4, end=10)
    """
    return Analysis(tokenizer, normalize or Normalize()).spans(text)


def tokens(texts: Sequence[str], tokenizer: str = "words", normalize: Normalize | None = None) -> list[list[str]]:
    """The tokens of each text; the tokens of "bytes" are shown as in Python's bytes.

    >>> tokens(["It's 3.14, isn't it?"])
    [["it's", '3.14', "isn't", 'it']]
    """
    if isinstance(texts, str):
        raise InputTypeError("A single string was given instead of a list of texts; wrap it in a list: [text].")
    texts = list(texts)
    odd = next((i for i, text in enumerate(texts) if not isinstance(text, str)), None)
    if odd is not None:
        raise InputTypeError(
            f"texts[{odd}] is of type {type(texts[odd]).__name__}, not a string; give a list of strings."
        )
    analysis = Analysis(tokenizer, normalize or Normalize())
    found, rows = analysis.tokenize(pack([text.encode("utf-8", "replace") for text in texts]))
    names = [chr(byte) for byte in found.data.tolist()] if tokenizer == "bytes" else as_arrow(found).to_pylist()
    return [names[a:b] for a, b in zip(rows[:-1].tolist(), rows[1:].tolist(), strict=True)]
