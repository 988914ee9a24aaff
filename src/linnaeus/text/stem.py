"""Stemming: Snowball (the extra `stem`), and a light stemmer for English without dependencies."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa

from linnaeus.errors import MachineError, UsageError
from linnaeus.text.buffers import as_arrow, as_texts
from linnaeus.types import Longs, Texts


@lru_cache(maxsize=16)
def stemmer(language: str) -> Callable[[str], str]:
    """The function of Snowball that gives the stem of a word in a language, such as "english".

    >>> stemmer("english")("flies")
    'fli'
    """
    try:
        import snowballstemmer
    except ImportError as error:
        raise MachineError("Stemming needs the package snowballstemmer: pip install 'linnaeus[stem]'.") from error
    known = snowballstemmer.algorithms()
    if language not in known:
        raise UsageError(f"stem={language!r} is not a language of Snowball; choose one of {', '.join(sorted(known))}.")
    return snowballstemmer.stemmer(language).stemWord


def stem_rows(tokens: Texts, rows: Longs, language: str) -> Texts:
    """Stem tokens, grouped into rows by offsets; a row becomes its stems, each followed by a space."""
    encoded = as_arrow(tokens).dictionary_encode()
    stem = stemmer(language)
    stems = pa.array([stem(word) + " " for word in encoded.dictionary.to_pylist()], pa.large_string())
    stemmed = as_texts(stems.take(encoded.indices))
    return Texts(stemmed.data, stemmed.offsets[rows])


_IRREGULAR = """
    go went gone goes going|see saw seen|eat ate eaten|get got gotten|make made|take took taken|come came|run ran
    say said|tell told|give gave given|find found|think thought|buy bought|bring brought|feel felt|leave left
    know knew known|keep kept|begin began begun|fall fell fallen|fly flew|meet met|sit sat|stand stood|sleep slept
    win won|lose lost|wear wore worn|write wrote written|drink drank|drive drove|swim swam|sing sang|catch caught
    teach taught|hear heard|hold held|hide hid hidden|child children kid kids|man men|woman women|mouse mice|foot feet
    tooth teeth|person people|good better best|build built|break broke broken|choose chose chosen|feed fed
    fight fought|forget forgot|grow grew grown|lead led|pay paid|ride rode|send sent|sell sold|spend spent|throw threw
    understand understood|wake woke|lie lay|mother mom mommy mum|father dad daddy|one 1|two 2|three 3|four 4|five 5
    six 6|seven 7|eight 8|nine 9|ten 10
"""
_TABLE = {
    word: line.split()[0] for line in _IRREGULAR.replace("\n", "|").split("|") if line.strip() for word in line.split()
}
_ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ing", ""), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""))
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def words(text: str) -> list[str]:
    """The words of a text in lower case.

    >>> words("Don't go, Ann!")
    ["don't", 'go', 'ann']
    """
    return _WORD.findall(text.lower())


@lru_cache(maxsize=1 << 16)
def light_stem(word: str) -> str:
    """The stem of a word in lower case.

    >>> [light_stem(word) for word in ("running", "stories", "went", "dog's")]
    ['run', 'story', 'go', 'dog']
    """
    if word in _TABLE:
        return _TABLE[word]
    word = word.removesuffix("'s").removesuffix("’s")
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            word = word[: -len(ending)] + instead
            if ending in ("ing", "ed") and len(word) > 2 and word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    return word[:-1] + "y" if len(word) > 3 and word.endswith("i") else word


def light_stems(text: str) -> list[str]:
    """The stems of the words of a text."""
    return [light_stem(word) for word in words(text)]
