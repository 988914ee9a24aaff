"""Sound files for every reader, and random damage to them: what strangers, full disks and bad lines make of files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import linnaeus
from linnaeus.data.group_reading import GroupRoles
from linnaeus.data.groups import AliasTable
from linnaeus.features.tokens.sources import Clusters, Gazetteer

CSV = 'text,label\ngood film,pos\n"bad, ""very"" bad\nfilm",neg\nСтрана Ünïcode 東京都,pos\n007,NA\n'
JSONL = '{"text": "good film", "label": "pos"}\n{"text": "bad \\u00e9 \\ud83d\\ude00", "label": "neg"}\n'
FASTTEXT = "__label__pos good film\n__label__neg __label__dull bad film\n"
SVM = "1 1:0.5 3:2\n-1 2:1e-3 7:4 # note\n"
TABLE = {"text": ["good film", "bad film", "東京都", ""], "label": ["pos", "neg", "pos", "neg"], "n": [1, 2, 3, None]}
CONLL = "-DOCSTART- X\n\nThe DET\ndog NOUN\n\nA DET\ncat NOUN\nsleeps VERB\n"
CONLLU = "# newdoc\n1\tA\ta\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
TOKENS = {"tokens": [["a", "dog"], ["no"]], "tags": [["DET", "NOUN"], ["X"]], "doc": ["1", "2"]}
CHOICES = (
    '{"text": "2 + 2", "candidates": ["3", "4"], "answer": 1, "doc": "a", "links": [5, 7]}\n'
    '{"text": "sea", "candidates": [{"text": "dry"}, {"text": "wet"}], "answer": ["wet"], "doc": 7}\n'
)
GROUPS = {"text": ["a", "b"], "candidates": [["x", "y"], ["z"]], "answer": [0, None], "links": [[1, 2], [3]]}
LONG = "id,text,candidate,gold,links\n7,sky,blue,1,3\n9,sea,dry,0,4\n7,sky,red,0,5\n9,sea,wet,true,6\n"
NAMES = "Big Apple\tNew York\t3\nbig apple\tApple\n"
CLUSTERS = "dog\t0110\ncat\t0111\nblue\t10\n"
PLACES = "New York\tcity\nOslo\tcity\nNorway\tcountry\n"
RECIPE = 'seed = 3\n\n[learner]\nkind = "linear"\ntol = 0.1\n\n[features]\nkind = "words"\nngrams = [1, 2]\n'


def _table(columns: dict[str, Any], write: Callable[[pa.Table, io.BytesIO], None]) -> bytes:
    out = io.BytesIO()
    write(pa.table(columns), out)
    return out.getvalue()


def _stream(table: pa.Table, out: io.BytesIO) -> None:
    with pa.ipc.new_stream(out, table.schema) as stream:
        stream.write_table(table)


def _feather(table: pa.Table, out: io.BytesIO) -> None:
    pa.feather.write_feather(table, out, compression="uncompressed")


def _zstd(data: bytes) -> bytes:
    return bytes(pa.compress(data, "zstd", asbytes=True))


@cache
def seeds() -> dict[str, bytes]:
    """A sound file of every format of texts, by its name."""
    return {
        "a.csv": CSV.encode(),
        "a.tsv": CSV.replace(",", "\t").encode(),
        "a.jsonl": JSONL.encode(),
        "a.ft": FASTTEXT.encode(),
        "a.txt": CSV.encode(),
        "a.svm": SVM.encode(),
        "a.parquet": _table(TABLE, pa.parquet.write_table),
        "a.feather": _table(TABLE, pa.feather.write_feather),
        "b.arrow": _table(TABLE, _feather),
        "c.arrows": _table(TABLE, _stream),
        "a.csv.gz": gzip.compress(CSV.encode(), mtime=0),
        "a.csv.bz2": bz2.compress(CSV.encode()),
        "a.csv.xz": lzma.compress(CSV.encode()),
        "a.jsonl.zst": _zstd(JSONL.encode()),
        "u16.csv": CSV.encode("utf-16"),
    }


@cache
def _others() -> dict[str, dict[str, bytes]]:
    """Sound files of the other readers."""
    tokens = "".join(f'{{"tokens": {row}, "tags": {row}}}\n' for row in ('["a", "b"]', '["c"]'))
    return {
        "sentences": {
            "a.conll": CONLL.encode(),
            "a.conllu": CONLLU.encode(),
            "a.conll.gz": gzip.compress(CONLL.encode(), mtime=0),
            "t.jsonl": tokens.encode(),
            "t.parquet": _table(TOKENS, pa.parquet.write_table),
            "t.arrow": _table(TOKENS, _feather),
        },
        "candidates": {
            "g.jsonl": CHOICES.encode(),
            "g.jsonl.zst": _zstd(CHOICES.encode()),
            "g.parquet": _table(GROUPS, pa.parquet.write_table),
            "g.arrow": _table(GROUPS, _feather),
        },
        "long": {"l.csv": LONG.encode(), "l.csv.bz2": bz2.compress(LONG.encode())},
        "folder": {"f.txt": "good film".encode("utf-8-sig"), "f.txt.gz": gzip.compress(b"good film", mtime=0)},
        "aliases": {"n.tsv": NAMES.encode(), "n.tsv.gz": gzip.compress(NAMES.encode(), mtime=0)},
        "clusters": {"c.tsv": CLUSTERS.encode()},
        "gazetteer": {"p.tsv": PLACES.encode()},
        "recipe": {"r.toml": RECIPE.encode(), "r.json": b'{"seed": 3, "learner": {"kind": "linear"}}'},
    }


def files() -> dict[str, dict[str, bytes]]:
    """Sound files of every reader."""
    return {"texts": seeds(), **_others()}


def _folder(path: Path, options: dict[str, Any]) -> object:
    inner = path.parent / "folder" / "label"
    inner.mkdir(parents=True, exist_ok=True)
    for old in inner.iterdir():
        old.unlink()
    path.rename(inner / path.name)
    return linnaeus.read(path.parent / "folder", **options).batch()


READERS: dict[str, Callable[[Path, dict[str, Any]], object]] = {
    "texts": lambda path, options: linnaeus.read(path, **options).batch(),
    "sentences": lambda path, options: linnaeus.read_sentences(path, **options).lists(),
    "candidates": lambda path, options: linnaeus.read_groups(path, **options).gold,
    "long": lambda path, options: linnaeus.read_groups(path, GroupRoles(group="id"), **options).gold,
    "folder": _folder,
    "aliases": lambda path, _: AliasTable.read(path),
    "clusters": lambda path, _: Clusters(str(path)).read(),
    "gazetteer": lambda path, _: Gazetteer(str(path)).read(),
    "recipe": lambda path, _: linnaeus.Recipe.read(path),
}

PIECES = (
    b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\t", b"\0", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"{",
    b"}", b"[", b"]", b"\\", b"\\ud800", b"__label__", b"1e999", b"nan", b"-", b"\xe2\x80\xa8", b"PAR1", b"ARROW1",
    b"\x1f\x8b", b"text", b"label", b"null", b"9" * 23, b"9" * 5000, b"[" * 5000, b'{"a":' * 3000, b"a." * 3000,
    b"\n" * 3000, b"," * 3000, b"\0" * 3000, b"-1:1 ", b"2147483648:1 ", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff",
)  # fmt: skip


@dataclass(frozen=True)
class Damage:
    """A damaged file, by the number it is drawn from."""

    seed: int

    def drawn(self) -> tuple[str, str, bytes, dict[str, Any]]:
        """The reader, the name of the file, its bytes and the options."""
        rng = random.Random(self.seed)
        reader = rng.choice(list(READERS))
        name, data = rng.choice(list(files()[reader].items()))
        if rng.random() < 0.05:  # a file of another kind under this name
            data = rng.choice(list(files()[rng.choice(list(READERS))].values()))
        for _ in range(rng.randint(1, 4)):
            data = rng.choice(CHANGES)(data, rng)
        if rng.random() < 0.05:
            times = rng.choice((1, 500_000 // (len(data) + 1)))
            data = rng.choice((gzip.compress, bz2.compress, _zstd))(data * max(1, times))
        options = {"bad_rows": "skip"} if rng.random() < 0.3 else {}
        if rng.random() < 0.1:
            options["encoding"] = rng.choice(("utf-16", "cp1252", "shift_jis", "utf-7"))
        return reader, name, data, options

    @property
    def size(self) -> int:
        """The bytes of the file."""
        return len(self.drawn()[2])

    def read(self, folder: Path) -> None:
        """Write the file and read it."""
        reader, name, data, options = self.drawn()
        (folder / name).write_bytes(data)
        READERS[reader](folder / name, options)


def _flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randint(0, len(data))]


def _repeat(data: bytes, rng: random.Random) -> bytes:
    start, end = sorted((rng.randint(0, len(data)), rng.randint(0, len(data))))
    return data[:end] + data[start:end] * rng.choice((1, 3, 300) if len(data) < 10_000 else (1,)) + data[end:]


def _swap(data: bytes, rng: random.Random) -> bytes:
    a, b, c = sorted(rng.randint(0, len(data)) for _ in range(3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


def _drop(data: bytes, rng: random.Random) -> bytes:
    start = rng.randint(0, len(data))
    return data[:start] + data[start + rng.randint(1, 16) :]


def _insert(data: bytes, rng: random.Random) -> bytes:
    at = rng.randint(0, len(data))
    return data[:at] + rng.choice(PIECES) + data[at + rng.choice((0, 0, 1, 4)) :]


CHANGES = (_flip, _cut, _repeat, _swap, _drop, _insert, _insert)
