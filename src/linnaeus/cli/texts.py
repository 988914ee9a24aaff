"""Words of a command line: which are a text and which name data, and how a shell hands them over unchanged."""

from __future__ import annotations

import re
from pathlib import Path


def names_data(source: str) -> bool:
    """Whether there is such a file or folder, or a file that matches; `-` is standard input, and nothing is no name.

    >>> names_data("-"), names_data("free prize, call now")
    (True, False)
    """
    if not source:
        return False
    try:
        if source == "-" or Path(source).exists():
            return True
    except PermissionError:
        return True  # something is there; who reads it says what is wrong
    except (OSError, ValueError):  # longer than a path can be, or with a NUL
        return False
    from glob import has_magic, iglob

    return has_magic(source) and any(iglob(source, recursive=True))  # noqa: PTH207 - absolute patterns too


def is_text(source: str) -> bool:
    """Whether this is a text rather than a misspelled name: several words that end in no suffix of a data file.

    >>> is_text("free prize, call now"), is_text("nwe.csv"), is_text("my data/nwe.csv.gz")
    (True, False, False)
    """
    from linnaeus.data.formats import SUFFIXES
    from linnaeus.data.streams import CODECS

    if len(source.split()) < 2 or source.lower().endswith((*SUFFIXES, *CODECS)):
        return False
    return not names_data(source)


def quoted(word: str) -> str:
    """A word as it is typed in a shell: in quotes where it needs them, double ones where these are enough.

    >>> quoted("spam.lin"), quoted("my spam.lin"), quoted("ngrams=[1,3]"), quoted("win!")
    ('spam.lin', '"my spam.lin"', '"ngrams=[1,3]"', "'win!'")
    """
    import shlex

    if word and re.fullmatch(r"[\w.,:/=+@%-]+", word):
        return word
    return shlex.quote(word) if re.search(r"[\"!$`\\\\]", word) or not word else f'"{word}"'
