"""Data in: files, Arrow and plain lists become a `Corpus`, Arrow columns streamed in batches.

    corpus.py    read: the one call; Corpus               batch.py     Batch: some rows in memory
    files.py     which files, in which format             streams.py   bytes: unpacked within bounds, as UTF-8
    formats/     a file of each kind to raw columns       memory.py    lists, data frames, Arrow to raw columns
    roles.py     which column is text, label ...; raw columns to a Batch
    arrow.py     columns as text, numbers, times          ledger.py    bad rows, progress
    options.py   ReadOptions                              split.py     held-out and k-fold row numbers
    groups.py    Groups: examples with candidates; AliasTable          group_reading.py      read_groups
    sentences.py Sentences: tokens with tags; tag_encodings.py         sentence_reading.py   read_sentences

Files are read lazily and in constant memory. Labels and cells stay as they are written: `01`, `007` and `NA` survive.
To add a format see `formats/__init__.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch as Batch
    from linnaeus.data.batch import join as join
    from linnaeus.data.corpus import Corpus as Corpus
    from linnaeus.data.corpus import read as read
    from linnaeus.data.formats import FORMATS as FORMATS
    from linnaeus.data.ledger import Progress as Progress
    from linnaeus.data.ledger import Skipped as Skipped
    from linnaeus.data.options import ReadOptions as ReadOptions
    from linnaeus.data.roles import Roles as Roles
    from linnaeus.data.split import Split as Split
    from linnaeus.data.split import folds as folds
    from linnaeus.data.split import folds_by_time as folds_by_time
    from linnaeus.data.split import holdout as holdout
    from linnaeus.data.split import holdout_by_time as holdout_by_time


__getattr__, __dir__ = room(__name__)
