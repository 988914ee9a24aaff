"""read: one call from a file, a stream or data in memory to a Corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

from linnaeus.data.corpus import Corpus
from linnaeus.data.find import Found, find, names_files
from linnaeus.data.formats import FORMATS, Chunk, Format
from linnaeus.data.ledger import Ledger
from linnaeus.data.memory import record_batches
from linnaeus.data.options import Options, ReadOptions
from linnaeus.data.roles import assign, listed
from linnaeus.data.shape import Shape, shape_of
from linnaeus.data.sources import Files, hold
from linnaeus.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa

    from linnaeus.data.streams import File

_MEMORY = "the data"


def read(source: Any, *, text: str | None = None, label: str | None = None, **options: Unpack[Options]) -> Corpus:
    """Read labeled text.

    `source` is a path, a pattern (`"part-*.csv.gz"`), a folder of files or of one folder per label, a list of
    `pathlib.Path`, or `"-"` for standard input, which is kept in a temporary file so that it can be walked over more
    than once; or data in memory: a list of texts, of (text, label) pairs or of dicts, a dict of columns, Arrow, pandas,
    polars, a Hugging Face dataset. A string is always a path, and a list of strings is always a list of texts.

    Files are read when the corpus is walked over, in constant memory; data in memory is checked at once, and text that
    is Arrow already is not copied. `ReadOptions` describes all options; `corpus.roles` says which columns were taken.

    >>> corpus = read({"review": ["good", "bad"], "stars": ["5", "1"]}, label="stars")
    >>> corpus.roles.describe()
    "text 'review' (guessed), label 'stars'"
    """
    chosen = ReadOptions.of({"text": text, "label": label, **options})
    if names_files(source):
        return _from_files(find(source, chosen), chosen)
    return _from_memory(source, chosen)


def read_usual(source: str, usual: Mapping[str, str], **options: Any) -> Corpus:
    """Read a file as `read` does; where it has the columns of `usual` (by role), these are taken, not guessed ones."""
    chosen = ReadOptions.of(options)
    return _from_files(find(source, chosen), chosen, usual)


def _from_files(found: Found, options: ReadOptions, usual: Mapping[str, str] | None = None) -> Corpus:
    form = FORMATS[found.format](options)
    first, *others = found.files
    schema = form.schema(first)
    shape = shape_of(first.name, schema, assign(first.name, schema, options, usual), options)
    for file in others:
        _check_alike(form, (first, file), schema, shape, options)
    return Corpus(Files(found.files, form, shape, found.owner), shape, options.bad_rows, options.batch_rows)


def _check_alike(form: Format, files: tuple[File, File], schema: pa.Schema, shape: Shape, options: ReadOptions) -> None:
    """Refuse a file whose columns are not those of the first."""
    first, file = files
    other = form.schema(file)
    wanted = shape.roles.taken() if form.loose else set(schema.names)
    absent = sorted(wanted - set(other.names))
    if absent or not (form.loose or wanted == set(other.names)):
        raise DataError(
            f"{file.name}: its columns {listed(other.names)} are not those of {first.name}, {listed(schema.names)}; "
            "read them one by one."
        )
    kind = shape_of(file.name, other, shape.roles, options).kind
    if kind != shape.kind:
        raise DataError(f"{file.name}: labels are {kind!r} but {shape.kind!r} in {first.name}; give label_kind=.")


def _from_memory(source: Any, options: ReadOptions) -> Corpus:
    tables = record_batches(source)
    schema = tables[0].schema
    shape = shape_of(_MEMORY, schema, assign(_MEMORY, schema, options), options)
    ledger, first, made = Ledger(options.bad_rows), 1, []
    for table in tables:
        made.append(shape.batch(_MEMORY, Chunk(table, range(first, first + len(table)), 0), ledger))
        first += len(table)
    ledger.close(first - 1)
    return Corpus(hold(made, ledger.skipped), shape, options.bad_rows, options.batch_rows)
