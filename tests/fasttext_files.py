"""Small models of fastText that tests make: their files byte by byte, and fastText's formulas written out."""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field

import numpy as np

F = np.float32
LOSSES = {"hs": 1, "ns": 2, "softmax": 3, "ova": 4}
WORDS = ["</s>", "good", "bad", "film", "the", "naïve", "好天", "a<b"]
LABELS = ["pos", "neg", "så_där", "none"]
TEXTS = [
    "good film",
    "the bad, bad film\tgood\x0bnaïve",
    "",
    "   ",
    "unknown words only",
    "好天 goodish filmé ünknown",
    "good </s> bad bad bad",
    "__label__pos good __label__other bad",
    "good\u00a0film\u3000the",
    "bad\0film",
    "film " * 40,
]


@dataclass
class Table:
    """A table of vectors: its bytes, and its rows as they are meant, with the norms apart."""

    raw: bytes
    rows: np.ndarray
    norms: np.ndarray


def plain(rng: np.random.Generator, n: int, width: int) -> Table:
    values = rng.normal(size=(n, width)).astype(F)
    return Table(struct.pack("<qq", n, width) + values.tobytes(), values, np.ones(n, F))


def quantized(rng: np.random.Generator, n: int, width: int, size: int = 2, norms: bool = False) -> Table:
    count, last = -(-width // size), width % size or size
    codes = rng.integers(0, 256, (n, count)).astype(np.uint8)
    centroids = rng.normal(size=width * 256).astype(F)
    raw = struct.pack("<?qqi", norms, n, width, n * count) + codes.tobytes()
    raw += struct.pack("<iiii", width, count, size, last) + centroids.tobytes()
    rows = np.zeros((n, width), F)
    for i in range(n):
        for m in range(count):
            d = last if m == count - 1 else size
            start = m * 256 * size + int(codes[i, m]) * d
            rows[i, m * size : m * size + d] = centroids[start : start + d]
    if not norms:
        return Table(raw, rows, np.ones(n, F))
    norm_codes, values = rng.integers(0, 256, n).astype(np.uint8), rng.uniform(0.5, 2, 256).astype(F)
    raw += norm_codes.tobytes() + struct.pack("<iiii", 1, 1, 1, 1) + values.tobytes()
    return Table(raw, rows, values[norm_codes])


@dataclass
class Made:
    """A model with random vectors; `form` is that of its tables."""

    loss: str = "softmax"
    word_ngrams: int = 1
    minn: int = 0
    maxn: int = 0
    bucket: int = 0
    dim: int = 5
    form: str = "plain"
    kept: dict[int, int] | None = None
    words: list[str] = field(default_factory=lambda: list(WORDS))
    labels: list[str] = field(default_factory=lambda: list(LABELS))
    seed: int = 0

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        buckets = self.bucket if self.kept is None else len(self.kept)
        sizes = [(len(self.words) + buckets, self.dim), (len(self.labels), self.dim)]
        make = {
            "plain": plain,
            "quantized": quantized,
            "whole rows": lambda *a: quantized(*a, size=99),
            "norms": lambda *a: quantized(*a, size=3, norms=True),
        }
        self.inputs = make[self.form](rng, *sizes[0])
        self.outputs = (plain if self.form == "quantized" else make[self.form])(rng, *sizes[1])
        self.counts = sorted(rng.integers(1, 50, len(self.labels)).tolist(), reverse=True)

    def raw(self, version: int = 12, model: int = 3) -> bytes:
        """The file."""
        grams = [self.word_ngrams, LOSSES[self.loss], model, self.bucket, self.minn, self.maxn]
        found = struct.pack("<ii12id", 793712314, version, self.dim, 5, 5, 1, 5, *grams, 100, 1e-4)
        kept = -1 if self.kept is None else len(self.kept)
        words, labels = len(self.words), len(self.labels)
        found += struct.pack("<iiiqq", words + labels, words, labels, 1000, kept)
        for word in self.words:
            found += word.encode() + struct.pack("<Bqb", 0, 7, 0)
        for label, count in zip(self.labels, self.counts, strict=True):
            found += f"__label__{label}".encode() + struct.pack("<Bqb", 0, count, 1)
        for pair in reversed((self.kept or {}).items()):
            found += struct.pack("<ii", *pair)
        apart = self.form in ("norms", "whole rows")
        return found + struct.pack("<?", self.form != "plain") + self.inputs.raw + bytes([apart]) + self.outputs.raw

    # What fastText does with a text

    def ids(self, text: str) -> list[int]:
        """The rows of the input table, in order."""
        tokens = text.encode().replace(b"\0", b" ").split()
        tokens = [*tokens[: tokens.index(b"</s>")], b"</s>"] if b"</s>" in tokens else [*tokens, b"</s>"]
        found, hashes = [], []
        for token in tokens:
            if token.startswith(b"__label__"):
                continue
            hashes.append(fnv(token))
            if token.decode() in self.words:
                found.append(self.words.index(token.decode()))
            if token != b"</s>":
                found += [i for gram in self.subwords(token.decode()) for i in self.column(fnv(gram) % self.bucket)]
        for i, first in enumerate(hashes):
            h = signed(first)
            for other in hashes[i + 1 : i + self.word_ngrams]:
                h = (h * 116049371 + signed(other)) % 2**64
                found += self.column(h % self.bucket)
        return found

    def subwords(self, word: str) -> list[bytes]:
        marked, found = f"<{word}>", []
        for i in range(len(marked)):
            for n in range(self.minn, self.maxn + 1):
                alone = n == 1 and (i == 0 or i + n == len(marked))
                if n >= 1 and i + n <= len(marked) and not alone:
                    found.append(marked[i : i + n].encode())
        return found

    def column(self, bucket: int) -> list[int]:
        if self.kept is None:
            return [len(self.words) + bucket]
        return [len(self.words) + self.kept[bucket]] if bucket in self.kept else []

    def mean(self, text: str) -> np.ndarray:
        ids, found = self.ids(text), np.zeros(self.dim, F)
        for i in ids:
            for j in range(self.dim):
                found[j] += self.inputs.rows[i, j] * self.inputs.norms[i]
        return found * F(1 / len(ids)) if ids else found

    def product(self, h: np.ndarray, row: int) -> np.float32:
        found = F(0)
        for j in range(self.dim):
            found += h[j] * self.outputs.rows[row, j]
        return found * self.outputs.norms[row]

    def chances(self, text: str) -> list[float]:
        """The probability of each label as fastText prints it, but at most 1."""
        h, k = self.mean(text), len(self.labels)
        if self.loss == "hs":
            return [min(1.0, p) for p in self.tree(h)]
        s = [self.product(h, row) for row in range(k)]
        if self.loss == "softmax":
            e = [math.exp(x - max(s)) for x in s]
            return [min(1.0, x / sum(e) + 1e-5) for x in e]
        return [min(1.0, sigmoid(x) + 1e-5) for x in s]

    def tree(self, h: np.ndarray) -> list[float]:
        """Probabilities of the leaves of the tree that joins the two rarest nodes, the older one of equals later."""
        k = len(self.labels)
        counts, left, right = self.counts + [10**15] * (k - 1), {}, {}
        leaf, node = k - 1, k
        for new in range(k, 2 * k - 1):
            chosen = []
            for _ in range(2):
                if leaf >= 0 and counts[leaf] < counts[node]:
                    chosen.append(leaf)
                    leaf -= 1
                else:
                    chosen.append(node)
                    node += 1
            left[new], right[new] = chosen
            counts[new] = counts[chosen[0]] + counts[chosen[1]]
        found = [0.0] * k

        def walk(at: int, p: float) -> None:
            if at < k:
                found[at] = p
                return
            f = 1 / (1 + math.exp(-self.product(h, at - k)))
            walk(left[at], p * (1 - f + 1e-5))
            walk(right[at], p * (f + 1e-5))

        walk(2 * k - 2, 1.0)
        return found


def sigmoid(x: np.float32) -> float:
    """The sigmoid at the step of the table that is below x."""
    if x < -8:
        return 0.0
    if x > 8:
        return 1.0
    step = int((x + F(8)) * F(512) / F(8) / F(2))
    return 1 / (1 + math.exp(-(step * 16 / 512 - 8)))


def fnv(word: bytes) -> int:
    found = 2166136261
    for byte in word:
        found = ((found ^ (byte if byte < 128 else byte - 256)) * 16777619) % 2**32
    return found


def signed(h: int) -> int:
    return h if h < 2**31 else h - 2**32
