"""Product quantization of a table of vectors: a byte for every few numbers (Jegou, Douze and Schmid 2011).

A row is its length times a direction. The directions are cut into parts of `sub` numbers; the parts at one place are
clustered into 256 centroids by k-means, and a part is stored as the number of its centroid. Lengths are clustered, too
(Joulin, Grave, Bojanowski, Douze, Jegou and Mikolov, "FastText.zip", 2016).
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from linnaeus.errors import damaged
from linnaeus.types import Array, Arrays, Bytes, Doubles, Floats

Packed: TypeAlias = Arrays

CENTROIDS = 256
"""What a byte tells apart."""
ROUNDS = 12
MOST_LEARNED = 1 << 14
"""Rows from which centroids are learned."""
PIECE = 1 << 14
"""Rows that are compared with all centroids at a time."""
GROWTH = 64
"""Numbers that a byte of a file may become."""


def packed(E: Floats, sub: int = 2, seed: int = 0) -> Packed:
    """The codes of a table (m, h), with parts of `sub` numbers.

    >>> E = np.random.default_rng(0).normal(size=(100, 5)).astype(np.float32)
    >>> codes = packed(E)
    >>> codes["codes"].shape, bool(np.abs(unpacked(codes) - E).max() < 0.1)
    ((100, 3), True)
    """
    m, h = E.shape
    lengths = np.sqrt(np.einsum("ij,ij->i", E, E, dtype=np.float64))
    parts = -(-h // sub)
    directions = np.zeros((m, parts * sub))
    directions[:, :h] = E / np.where(lengths > 0, lengths, 1.0)[:, None]
    rng = np.random.default_rng(seed)
    chosen = np.sort(rng.permutation(m)[:MOST_LEARNED])
    cut = directions.reshape(m, parts, sub)
    found = [_clustered(cut[:, part], chosen, rng) for part in range(parts)]
    scales, norms = _clustered(lengths[:, None], chosen, rng)
    return {
        "codes": np.ascontiguousarray(np.stack([codes for _, codes in found], axis=1)),
        "centroids": np.stack([centroids for centroids, _ in found]).astype(np.float32),
        "norms": norms,
        "scales": scales[:, 0].astype(np.float32),
        "width": np.array([h], np.int64),
    }


def unpacked(packed: Packed) -> Floats:
    """The table (m, h) that codes stand for; codes that do not fit their centroids are refused."""
    codes, centroids = packed.get("codes"), packed.get("centroids")
    norms, scales, width = packed.get("norms"), packed.get("scales"), packed.get("width")
    if codes is None or centroids is None or norms is None or scales is None or width is None:
        raise damaged("the codes of its vectors are missing")
    if codes.ndim != 2 or centroids.ndim != 3 or codes.shape[1] != len(centroids) or norms.shape != codes.shape[:1]:
        raise damaged("the codes of its vectors do not fit its centroids")
    h = int(width[0]) if width.shape == (1,) and width.dtype == np.int64 else 0
    sub = centroids.shape[2]
    if not 0 < h <= len(centroids) * sub < h + sub or codes.size * sub > GROWTH * max(codes.nbytes, 1):
        raise damaged("the codes of its vectors do not fit their width")
    _check(codes, centroids, centroids.shape[1])
    _check(norms, scales, scales.shape[0] if scales.ndim == 1 else 0)
    found = np.empty((len(codes), len(centroids), sub), np.float32)
    for part in range(len(centroids)):
        found[:, part] = centroids[part][codes[:, part]]
    with np.errstate(over="ignore"):
        E: Floats = np.ascontiguousarray(
            found.reshape(len(codes), len(centroids) * sub)[:, :h] * scales[norms][:, None]
        )
    return E


def _check(codes: Array, centroids: Array, count: int) -> None:
    """Codes are bytes that name one of the centroids, which are float32."""
    if codes.dtype != np.uint8 or centroids.dtype != np.float32 or (codes.size and int(codes.max()) >= count):
        raise damaged("a code of its vectors names no centroid")


def _clustered(points: Doubles, chosen: Array, rng: np.random.Generator) -> tuple[Doubles, Bytes]:
    """Centroids (c, sub) of the chosen points, and the nearest to every point (m,)."""
    learned = points[chosen]
    centroids = np.unique(learned, axis=0)
    if len(centroids) > CENTROIDS:
        centroids = centroids[np.sort(rng.permutation(len(centroids))[:CENTROIDS])]
        for _ in range(ROUNDS):
            centroids = _moved(learned, centroids)
    if not len(centroids):
        centroids = np.zeros((1, points.shape[1]))
    return centroids if len(centroids) == CENTROIDS else _filled(centroids), _nearest(points, centroids)


def _filled(centroids: Doubles) -> Doubles:
    """The centroids, filled up with zeros to as many as a byte tells apart."""
    found = np.zeros((CENTROIDS, centroids.shape[1]))
    found[: len(centroids)] = centroids
    return found


def _moved(points: Doubles, centroids: Doubles) -> Doubles:
    """Each centroid at the mean of the points nearest to it; one without points takes the point farthest from its."""
    near = _nearest(points, centroids)
    sizes = np.bincount(near, minlength=len(centroids))
    sums = np.stack([np.bincount(near, axis, len(centroids)) for axis in points.T], axis=1)
    found = sums / np.maximum(sizes, 1)[:, None]
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        far = np.argsort(-((points - centroids[near]) ** 2).sum(axis=1), kind="stable")
        found[empty] = points[far[: len(empty)]]
    return found


def _nearest(points: Doubles, centroids: Doubles) -> Bytes:
    """The number of the centroid nearest to each point; the lowest of equals."""
    found = np.empty(len(points), np.uint8)
    for start in range(0, len(points), PIECE):
        piece = points[start : start + PIECE]
        gaps = sum((piece[:, i, None] - centroids[None, :, i]) ** 2 for i in range(points.shape[1]))
        found[start : start + PIECE] = np.argmin(gaps, axis=1)
    return found
