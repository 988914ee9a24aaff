"""Model files made to do harm, from any sound one.

`hostile_files(path)` gives more than a hundred: each must be refused with one sentence, by whatever loads the file.
`edited(content, ...)` gives files with random edits. See `tampered.py` for what is wrong inside a file whose digests
are right, and `sandbox.py` for where to open all of these.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tests.store.foreign import FOREIGN

from linnaeus.store.header import MANIFEST_LIMIT, _compose, build

Named = Iterator[tuple[str, bytes]]


def wrapped(head: bytes, data: bytes, size: int | None = None) -> bytes:
    """A file of these parts, the size of its header included."""
    return (len(head) if size is None else size).to_bytes(8, "little") + head + data


def parts(content: bytes) -> tuple[bytes, dict[str, Any], bytes]:
    """Header, envelope and tensors of a sound file."""
    size = int.from_bytes(content[:8], "little")
    head = content[8 : 8 + size]
    return head, json.loads(json.loads(head)["__metadata__"]["linnaeus"]), content[8 + size :]


def sealed(envelope: str, entries: dict[str, Any] | None = None) -> bytes:
    """A header around any text that stands for an envelope."""
    text = json.dumps({"__metadata__": {"linnaeus": envelope}, **(entries or {})}, separators=(",", ":")).encode()
    return text + b" " * (-len(text) % 8)


def hostile_files(path: str | Path) -> Named:
    """Files that nobody may load, made from the one at `path`: their names, and their bytes."""
    content = Path(path).read_bytes()
    for family in (cut, sizes, headers, envelopes, entries, prints, contents, bombs):
        for name, made in family(content):
            if made != content:
                yield f"{family.__name__}: {name}", made
    for name, made in FOREIGN.items():
        yield f"foreign: {name}", made


def cut(content: bytes) -> Named:
    """Files that end too early or too late."""
    for kept in (0, 1, 7, 8, 9, 16, len(content) // 2, len(content) - 1):
        yield f"the first {kept} bytes", content[:kept]
    yield "one byte more", content + b"\0"
    yield "a megabyte more", content + bytes(1 << 20)
    yield "twice", content * 2
    yield "the first byte lost", content[1:]


def sizes(content: bytes) -> Named:
    """Headers whose size is a lie."""
    head, _, data = parts(content)
    for name, size in {
        "zero": 0,
        "one": 1,
        "one less": len(head) - 1,
        "one more": len(head) + 1,
        "eight more": len(head) + 8,
        "the whole file": len(head) + len(data),
        "beyond the file": len(content) + 1,
        "4 GB": 1 << 32,
        "signed": 1 << 63,
        "all ones": (1 << 64) - 1,
    }.items():
        yield name, wrapped(head, data, size)


def headers(content: bytes) -> Named:
    """Headers that say the same in another way, or nothing."""
    head, _, data = parts(content)
    text = head.rstrip()
    pad = b" " * (-len(text) % 8)
    start = b'{"__metadata__":'
    assert head.startswith(start)
    for name, made in {
        "spaces only": b" " * len(head),
        "zeros only": bytes(len(head)),
        "an empty object": b"{}      ",
        "a list": b"[]      ",
        "not closed": text[:-1] + b" " + pad,
        "closed twice": text + b"}" + pad,
        "eight spaces more": head + b" " * 8,
        "a tab at the end": text + b"\t" * (len(pad) or 8),
        "a line at the end": text + b"\n" * (len(pad) or 8),
        "zeros at the end": text + b"\0" * (len(pad) or 8),
        "a space in front": b" " + text + b" " * (-(len(text) + 1) % 8),
        "a space inside": head.replace(b":{", b": {", 1),
        "a byte order mark": b"\xef\xbb\xbf" + head,
        "UTF-16": head.decode().encode("utf-16"),
        "not UTF-8 at the end": text[:-1] + b',"\xff":0}' + pad,
        "a NUL inside": head.replace(b'"dtype"', b'"dt\0pe"', 1) if b'"dtype"' in head else b"\0" + head,
        "metadata twice": b'{"__metadata__":{},' + head[1:],
        "metadata twice, behind": text[:-1] + b',"__metadata__":{}}' + pad,
        "a second key": head.replace(b'"},', b'","more":"x"},', 1),
        "another key": head.replace(b'"linnaeus"', b'"Linnaeus"', 1),
        "metadata of numbers": start + b"1}" + pad,
        "metadata null": start + b"null}",
        "metadata a list": start + b"[]}",
        "an escape for a letter": head.replace(b"linnaeus", rb"linn\u0061eus", 1),
    }.items():
        yield name, wrapped(made, data)


def envelopes(content: bytes) -> Named:
    """Manifests that are none, or belong to another digest."""
    _, envelope, data = parts(content)
    sound = json.dumps(envelope, sort_keys=True, separators=(",", ":"))
    for name, text in {
        "empty": "",
        "null": "null",
        "a list": "[]",
        "a number": "1",
        "an empty object": "{}",
        "not closed": sound[:-1],
        "with spaces": sound.replace(":", ": "),
        "sorted otherwise": json.dumps(dict(reversed(envelope.items())), separators=(",", ":")),
        "a key twice": sound[:-1] + ',"tensors":{}}',
        "a key more": sound[:-1] + ',"x":1}',
        "no digest": json.dumps({k: v for k, v in envelope.items() if k != "sha256"}, separators=(",", ":")),
        "another digest": sound.replace(envelope["sha256"], "0" * 64),
        "a digest in capitals": sound.replace(envelope["sha256"], envelope["sha256"].upper()),
        "a lone surrogate": sound[:-1] + ',"\ud800":1}',
        "NaN": sound.replace('"manifest":{', '"manifest":{"!":NaN,'),
        "infinity": sound.replace('"manifest":{', '"manifest":{"!":1e999,'),
        "a number of 5000 digits": sound.replace('"manifest":{', '"manifest":{"!":' + "9" * 5000 + ","),
        "100,000 brackets": "[" * 100_000,
        "100,000 objects": '{"a":' * 100_000,
    }.items():
        yield name, wrapped(sealed(text), data)
    for number in (0, -1, 2, 10**100, True, None, "1", 1.0, [], {}):
        yield f"format {number!r:.12}", wrapped(_whole(envelope["manifest"], envelope["tensors"], number), data)
    for manifest in (None, [], 1, "x", True):
        yield f"manifest {manifest!r}", wrapped(_whole(manifest, envelope["tensors"]), data)
    deep = _compose(1, 0, envelope["tensors"]).replace(
        '"manifest":0', '"manifest":{"a":' + "[" * 9999 + "]" * 9999 + "}"
    )
    yield "a manifest 9,999 deep", wrapped(sealed(deep), data)


def entries(content: bytes) -> Named:
    """Headers whose tensors are not those of a manifest that is in order."""
    head, _, data = parts(content)
    tensors = json.loads(head)
    envelope = tensors.pop("__metadata__")["linnaeus"]
    largest = max(tensors, key=lambda name: -np.subtract(*tensors[name]["data_offsets"]))
    a, b = tensors[largest]["data_offsets"]
    for name, change in {
        "one byte on": {"data_offsets": [a + 1, b + 1]},
        "overlapping": {"data_offsets": [max(a - 1, 0), b - 1]},
        "reversed": {"data_offsets": [b, a]},
        "negative": {"data_offsets": [-8, b]},
        "beyond the end": {"data_offsets": [a, b + 2**40]},
        "beyond 64 bits": {"data_offsets": [2**64, 2**64 + b - a]},
        "fractions": {"data_offsets": [float(a), float(b)]},
        "strings": {"data_offsets": [str(a), str(b)]},
        "three offsets": {"data_offsets": [a, b, b]},
        "no offsets": {"data_offsets": None},
        "another shape": {"shape": [b - a]},
        "a negative shape": {"shape": [-1]},
        "no shape": {"shape": None},
        "an unknown type": {"dtype": "F128"},
        "another type": {"dtype": "U8" if tensors[largest]["dtype"] != "U8" else "I8"},
        "a type of numbers": {"dtype": 8},
        "one field more": {"stride": 1},
    }.items():
        yield name, wrapped(sealed(envelope, {**tensors, largest: {**tensors[largest], **change}}), data)
    yield "none", wrapped(sealed(envelope), data)
    yield "one more", wrapped(sealed(envelope, {**tensors, "zz": tensors[largest]}), data)
    yield "one renamed", wrapped(head.replace(json.dumps(largest).encode() + b":{", b'"?":{', 1), data)
    again = json.dumps({largest: tensors[largest]}, separators=(",", ":")).encode()
    yield "one twice", wrapped(head.rstrip()[:-1] + b"," + again[1:], data)


def prints(content: bytes) -> Named:
    """Manifests in order, with a right digest, around fingerprints of tensors that cannot be."""
    _, envelope, data = parts(content)
    tensors = envelope["tensors"]
    first = sorted(tensors)[0]
    for name, change in {
        "a negative side": {"shape": [-1]},
        "two negative sides": {"shape": [-4, -4]},
        "a huge side": {"shape": [2**62]},
        "a side beyond 64 bits": {"shape": [2**64 + 1]},
        "a product beyond 64 bits": {"shape": [2**33, 2**33]},
        "a product that wraps to zero": {"shape": [2**32, 2**32]},
        "nothing times too much": {"shape": [0, 2**62, 2**62]},
        "a fraction": {"shape": [1.0]},
        "a truth value": {"shape": [True]},
        "a string": {"shape": "1"},
        "a list in a list": {"shape": [[1]]},
        "a thousand axes": {"shape": [1] * 1000},
        "no shape": {"shape": None},
        "an unknown type": {"dtype": "complex128"},
        "objects": {"dtype": "object"},
        "strings": {"dtype": "<U8"},
        "a record": {"dtype": "f4,f4"},
        "a list as type": {"dtype": ["float32"]},
        "a number as digest": {"sha256": 1},
        "no digest": {"sha256": None},
        "one field more": {"more": 1},
    }.items():
        changed = {**tensors, first: {**tensors[first], **change}}
        yield name, wrapped(_whole(envelope["manifest"], changed), data)
    for value in (None, 1, [], "x", {}):
        yield f"{value!r} as fingerprint", wrapped(_whole(envelope["manifest"], {**tensors, first: value}), data)
        yield f"{value!r} as tensors", wrapped(_whole(envelope["manifest"], value), data + b"x")
    empty = {
        "dtype": "uint8",
        "shape": [0],
        "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    }
    many = {**tensors, **{f"{i}": empty for i in range(2000)}}
    yield "2,000 tensors", wrapped(_whole(envelope["manifest"], many), data)
    yield "a tensor named __metadata__", wrapped(_whole(envelope["manifest"], {**tensors, "__metadata__": empty}), data)
    yield (
        "a tensor named by half a character",
        wrapped(_whole(envelope["manifest"], {**tensors, "\ud800": empty}), data),
    )
    huge = {**tensors, "zz": {**empty, "shape": [1 << 40]}}
    yield "a terabyte that is not there", wrapped(build(_compose(1, envelope["manifest"], huge), huge), data)


def contents(content: bytes) -> Named:
    """Tensors that are not those of their digests."""
    head, _, data = parts(content)
    yield "all zeros", wrapped(head, bytes(len(data)))
    yield "all ones", wrapped(head, b"\xff" * len(data))
    yield "backwards", wrapped(head, data[::-1])
    yield "rotated", wrapped(head, data[8:] + data[:8])


PIECES = {"lists": "[]", "objects": "{}", "named objects": '{"":0}', "numbers": "-9", "strings": '"ab"'}


def bombs(content: bytes) -> Named:
    """Small files that would grow in memory."""
    _, envelope, data = parts(content)
    room = MANIFEST_LIMIT - 500 - len(json.dumps(envelope["tensors"]))
    for name, piece in {
        "lists": "[]",
        "objects": "{}",
        "named objects": '{"":0}',
        "numbers": "-9",
        "strings": '"ab"',
    }.items():
        inner = ",".join([piece] * (room // (len(piece) + 1) - 8))
        text = _compose(1, 0, envelope["tensors"]).replace('"manifest":0', f'"manifest":{{"a":[{inner}]}}')
        yield f"{name}, as many as there is room for", wrapped(sealed(text), data)
        yield f"{name}, too many", wrapped(sealed(text.replace(inner, f"{inner},{inner}")), data)
    keys = ",".join(f'"{i:x}":0' for i in range(room // 12))
    yield "keys", wrapped(sealed(f'{{"format":1,"manifest":{{{keys}}}}}'), data)
    yield "a wide character", wrapped(sealed("\U0001f600" + "x" * room), data)
    yield "a long string", wrapped(sealed("x" * (3 * room)), data)
    yield (
        "lists beside the manifest",
        wrapped(b'{"__metadata__":{"linnaeus":"x"},"a":[' + b"[]," * (3 * room // 3) + b"0]}", data),
    )
    yield "brackets beside the manifest", wrapped(b'{"__metadata__":{"linnaeus":"x"},"a":' + b"[" * 3 * room, data)


def _whole(manifest: Any, tensors: Any, number: Any = 1) -> bytes:
    """A header with a right digest, around whatever is given."""
    text = _compose(json.dumps(number), manifest, tensors)  # type: ignore[arg-type]
    try:
        return build(text, tensors)
    except Exception:  # what no header can be made for
        return sealed(text)


def edited(content: bytes, count: int, seed: int = 0) -> Named:
    """Copies with one to six random edits each: bytes set, put in, taken out, moved, doubled."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        made = bytearray(content)
        for _ in range(rng.integers(1, 7)):
            # Half of the edits hit the first 4 kB, where the header is.
            at = int(rng.integers(0, min(len(made), 4096 if rng.random() < 0.5 else len(made)) or 1))
            size = int(rng.integers(0, 9))
            made[at : at + size] = made[:size] if rng.random() < 0.2 else rng.bytes(int(rng.integers(0, 9)))
        if bytes(made) != content:
            yield f"edit {number}", bytes(made)
