"""Plain text to sentences and tokens with their positions, for taggers.

Tokens follow the Penn Treebank, as most tagged English data do: punctuation marks are tokens, clitics are split off (do
n't, Ann 's), numbers and abbreviations with inner points stay whole. Other languages are split into words and
punctuation. It is a set of rules, not a model: if the split matters, provide your own tokens.
"""

from __future__ import annotations

import re

from linnaeus.text.analysis import Token

_TOKEN = re.compile(
    r"""
      https?://\S+ | www\.\S+ | [\w.+-]+@[\w-]+(?:\.[\w-]+)+   # addresses
    | (?:[^\W\d_]\.){2,}                                        # U.S., e.g.
    | \d+(?:[.,:/]\d+)+ | \.\d+                                 # 1,000.50  9:30  1/2
    | \w+(?:[-&/'’.]?\w+)*                                      # words, with inner punctuation
    | \.{2,} | -{2,} | \S                                       # punctuation; only ellipses and dashes are runs
    """,
    re.VERBOSE,
)
_CLITIC = re.compile(r"(?i)^(.+?)(n['’]t|['’](?:s|m|d|re|ve|ll))$")
_KNOWN = """
    mr mrs ms dr prof st jr sr vs etc inc ltd co corp gen rep sen gov lt col capt sgt no vol fig al approx dept est
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun
"""
_ABBREVIATIONS = frozenset(_KNOWN.split())
_ENDS = frozenset((".", "!", "?", "...", "。", "！", "？"))
_CLOSERS = frozenset("\"'”’)]»")
_BREAK = re.compile(r"\n\s*\n")


def sentences(text: str) -> list[list[Token]]:
    """The sentences of a text, each a list of tokens with their positions. A text without words has no sentences.

    >>> [[token.text for token in sentence] for sentence in sentences("Dr. Ann's dog can't run. Why?")]
    [['Dr.', 'Ann', "'s", 'dog', 'ca', "n't", 'run', '.'], ['Why', '?']]
    >>> sentences("Pay $3.50!")[0][2]
    Token(text='3.50', start=5, end=9)
    """
    found: list[list[Token]] = [[]]
    breaks = iter([*(match.start() for match in _BREAK.finditer(text)), len(text)])
    gap = next(breaks)
    cut = _cut(text)
    for i, token in enumerate(cut):
        while gap < token.start:
            found.append([])
            gap = next(breaks)
        found[-1].append(token)
        if _ends(text, cut, i):
            found.append([])
    return [sentence for sentence in found if sentence]


def _cut(text: str) -> list[Token]:
    """The tokens of a text."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        if text[end : end + 1] == "." and match.group().lower() in _ABBREVIATIONS:
            end += 1
        if found and start < found[-1].end:
            continue  # the point of an abbreviation
        word = text[start:end]
        clitic = _CLITIC.match(word)
        if clitic:
            middle = start + clitic.end(1)
            found += [Token(text[start:middle], start, middle), Token(text[middle:end], middle, end)]
        else:
            found.append(Token(word, start, end))
    return found


def _ends(text: str, cut: list[Token], i: int) -> bool:
    """Whether a sentence ends with this token: final punctuation before a space and a possible new sentence."""
    token, after = cut[i], cut[i + 1] if i + 1 < len(cut) else None
    closed = token.text in _CLOSERS and i > 0 and cut[i - 1].text in _ENDS
    if after is None or not (token.text in _ENDS or closed):
        return False
    if after.text in _CLOSERS and after.start == token.end:
        return False
    if token.text in ("。", "！", "？"):
        return True
    return after.start > token.end and not text[after.start].islower()
