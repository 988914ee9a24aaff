"""read_sentences: files and tables of tokens with tags, as Sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TypeAlias, Unpack

import numpy as np
import pyarrow as pa

from linnaeus.data.arrow import as_text, is_list, list_offsets, settled
from linnaeus.data.files import find, find_waiting, names_files
from linnaeus.data.formats import FORMATS, Chunk
from linnaeus.data.ledger import Ledger
from linnaeus.data.memory import MEMORY, chunks
from linnaeus.data.options import FileOptions, ReadOptions
from linnaeus.data.roles import listed, plain
from linnaeus.data.sentences import Made, Sentences, assembled, join
from linnaeus.errors import DataError, UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Label, Source

Place: TypeAlias = Callable[[int], str]
"""Where the sentence of this number stands."""

Check: TypeAlias = Callable[[Sentences, Place], None]
"""What looks at sentences that were read, and refuses what is wrong with them."""

TOKENS = (("tokens",), ("words", "forms", "token", "word", "form"))
TAGS = (
    ("tags", "labels", "upos"),
    ("tag", "label", "xpos", "pos", "pos_tags", "ner", "ner_tags", "entities", "chunk", "chunk_tags"),
    ("lemmas", "lemma"),
)
DOCS = (("doc", "doc_id", "document", "document_id"), ())
"""Names that make a role plain: those of the first row decide alone, of each other row there may be only one."""

CELLS = ("csv", "tsv", "lines", "libsvm", "folder", "fasttext")
"""Formats whose cells are never lists."""


@dataclass(frozen=True, slots=True)
class _Roles:
    """The column of the tokens, that of the tags, the columns beside them, that of the documents."""

    tokens: str
    tags: str | None
    beside: tuple[str, ...]
    docs: str | None

    @property
    def all(self) -> list[str]:
        """Every column that is read."""
        return [name for name in (self.tokens, self.tags, *self.beside, self.docs) if name is not None]


def read_sentences(
    source: Source, *, tokens: str | None = None, tags: str | None = None, **options: Unpack[FileOptions]
) -> Sentences:
    """Read sentences of tokens, with tags where there are any, into memory.

    `source` is a file, a pattern or a folder of files: CoNLL columns (`.conll`, `.iob`; blank lines between sentences,
    `-DOCSTART-` before documents), CoNLL-U, JSON lines or Parquet with lists; or data in memory: a list of lists of
    tokens, of lists of (token, tag) pairs or of dicts, a dict of columns, Arrow, pandas, polars; or `Sentences`.

    `tokens` and `tags` name the columns; None guesses where the names make it plain, and `tags=""` reads none. All
    other columns of lists stand beside the tokens. An empty sentence stays, with no token.

    >>> read_sentences({"tokens": [["A", "dog"]], "upos": [["DET", "NOUN"]], "lemma": [["a", "dog"]]}).tags.to_pylist()
    ['DET', 'NOUN']
    >>> read_sentences([[("A", "DET"), ("dog", "NOUN")]]).lists()
    [['A', 'dog']]
    """
    parts = list(stream_sentences(source, tokens=tokens, tags=tags, **options))
    return join(parts)


def stream_sentences(
    source: Source,
    *,
    tokens: str | None = None,
    tags: str | None = None,
    check: Check | None = None,
    **options: Unpack[FileOptions],
) -> Iterator[Sentences]:
    """The same in pieces of a few megabytes, in constant memory where `source` is a file; at least one piece.

    `check` looks at each piece; it is told where in the source a sentence stands.
    """
    check = check or (lambda _piece, _place: None)
    if isinstance(source, Sentences):
        check(source, lambda i: f"sentence {i + 1}")
        yield source
    elif names_files(source):
        yield from _from_files(source, (tokens, tags), check, ReadOptions(**options))
    elif not isinstance(source, Mapping) and _is_lists(source):
        yield _from_lists(list(source))
    else:
        roles = None
        for chunk in chunks(source):
            roles = roles or _assign(MEMORY, chunk.table.schema, tokens, tags)
            yield _made(_places(MEMORY, "row", chunk), chunk, roles, check)


def holds_tokens(source: Source, **options: Unpack[FileOptions]) -> bool:
    """Whether these files have a column that is plainly lists of tokens."""
    return plain(TOKENS, [name for name, lists in columns_of(source, **options).items() if lists]) is not None


def columns_of(source: Source, **options: Unpack[FileOptions]) -> dict[str, bool]:
    """The columns of files, and whether each holds lists; nothing where their format has no lists.

    Of standard input only the lines that wait in its buffer are looked at, and they stay there.
    """
    chosen = ReadOptions(**options)
    found = find_waiting(chosen) if source == "-" else find(source, chosen)
    if found.format in CELLS:
        return {}
    return {column.name: is_list(column.type) for column in FORMATS[found.format](chosen).schema(found.files[0])}


def _from_files(
    source: Source, given: tuple[str | None, str | None], check: Check, options: ReadOptions
) -> Iterator[Sentences]:
    found = find(source, options)
    form, ledger, roles, some = FORMATS[found.format](options), Ledger(options.bad_rows), None, False
    for file in found.files:
        own = _assign(file.name, form.schema(file), *given)
        if roles is not None and own != roles:
            raise DataError(f"{file.name}: its columns are not those of {found.files[0].name}; read them one by one.")
        roles = own
        for chunk in form.chunks(file, roles.all, ledger):
            if len(chunk.table) or not some:
                some = True
                yield _made(_places(file.name, form.counted, chunk), chunk, roles, check)


def _is_lists(source: Source) -> bool:
    """Whether this is a list of sentences: the first is a list itself."""
    if not isinstance(source, list | tuple):
        return False
    first: Source = next(
        (row for row in source if row is not None and not (isinstance(row, list | tuple) and not row)), []
    )
    return isinstance(first, list | tuple) and (not first or isinstance(first[0], str | tuple | list | type(None)))


def _from_lists(rows: list[Label]) -> Sentences:
    """Lists of tokens, or of (token, tag) pairs."""
    first = next((row[0] for row in rows if row), "")
    if not isinstance(first, tuple | list):
        return Sentences.from_lists(rows)
    for number, row in enumerate(rows, 1):
        odd = next((cell for cell in row if not isinstance(cell, tuple | list) or len(cell) != 2), None)
        if odd is not None:
            raise DataError(f"sentence {number}: {odd!r} is not a (token, tag) pair like the others; make them alike.")
    return Sentences.from_lists([[a for a, _ in row] for row in rows], [[b for _, b in row] for row in rows])


def _assign(where: str, schema: pa.Schema, tokens: str | None, tags: str | None) -> _Roles:
    lists = [f.name for f in schema if is_list(f.type)]
    for role, name in (("tokens", tokens), ("tags", tags)):
        if name and name not in lists:
            raise DataError(f"{where}: has no column {name!r} of lists for the {role}; there are {listed(lists)}.")
    words = tokens or plain(TOKENS, lists) or (lists[0] if len(lists) == 1 else None)
    if words is None:
        raise DataError(
            f"{where}: no column is plainly the tokens; name it with tokens=, its columns of lists: {listed(lists)}."
        )
    rest = [name for name in lists if name != words]
    chosen = None if tags == "" else tags or plain(TAGS, rest)
    if chosen is None and tags is None and rest:
        raise DataError(
            f"{where}: no column is plainly the tags; name one of {listed(rest)} with tags=, or read none with tags=''."
        )
    single = [f.name for f in schema if not is_list(f.type)]
    return _Roles(words, chosen, tuple(name for name in rest if name != chosen), plain(DOCS, single))


def _places(where: str, counted: str, chunk: Chunk) -> Place:
    """Where each sentence of a chunk stands."""
    return lambda i: f"{where}, {counted} {chunk.rows[i]}"


def _made(place: Place, chunk: Chunk, roles: _Roles, check: Check) -> Sentences:
    found = {name: _flat(place, chunk, name) for name in roles.all if name != roles.docs}
    tokens, beside = found[roles.tokens], {name: found[name] for name in roles.beside}
    tags = (roles.tags, found[roles.tags]) if roles.tags else None
    made = assembled(tokens, tags, beside, place)
    docs = as_text(chunk.table.column(roles.docs), roles.docs) if roles.docs else None
    check(made, place)
    return replace(made, docs=docs)


def _flat(place: Place, chunk: Chunk, name: str) -> Made:
    """The strings of a column of lists, and where those of each sentence begin."""
    column = settled(chunk.table.column(name))
    if not is_list(column.type):
        raise UsageError(f"{place(0)}: column {name!r} holds {column.type}, not lists; name another.")
    if column.null_count:
        at = int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise DataError(f"{place(at)}: {name!r} is null; give a list, which may be empty.")
    return as_text(column.flatten(), name), list_offsets(column)
