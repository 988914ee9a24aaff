"""Symbols: Unicode if the encoding of the stream supports it, else ASCII."""

from __future__ import annotations

from dataclasses import fields

from linnaeus.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Signs by meaning; `blocks` are bars of growing length within one column, the last one full."""

    good: str
    bad: str
    note: str
    ellipsis: str
    dash: str
    same: str
    near: str
    blocks: str


UNICODE = Glyphs(good="✓", bad="✗", note="•", ellipsis="…", dash="–", same="=", near="≈", blocks="▏▎▍▌▋▊▉█")
ASCII = Glyphs(good="ok", bad="x", note="-", ellipsis="...", dash="-", same="=", near="~", blocks="#")


def glyphs_for(encoding: str | None) -> Glyphs:
    """The best symbols that the encoding supports.

    >>> glyphs_for("utf-8") is UNICODE, glyphs_for("latin-1") is ASCII
    (True, True)
    """
    try:
        "".join(getattr(UNICODE, field.name) for field in fields(UNICODE)).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE
