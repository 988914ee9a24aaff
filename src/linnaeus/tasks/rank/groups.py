"""Examples with candidates as users give them."""

from __future__ import annotations

from linnaeus.data.group_reading import GroupRoles, read_groups, stream_groups
from linnaeus.data.groups import Groups, join
from linnaeus.tasks.base import Given
from linnaeus.tasks.sources import Pieces, file_options
from linnaeus.types import Source


def as_groups(source: Source, bare: bool = False) -> Groups:
    """Groups as they are, or anything that `read_groups` reads; `bare`: examples need no candidates."""
    if isinstance(source, Pieces):
        return join(list(source.batches()))
    if isinstance(source, Groups):
        return source
    return read_groups(source, GroupRoles(candidates="" if bare else None))


def opened(data: str, given: Given, labeled: bool, bare: bool = False) -> Pieces[Groups]:
    """The examples of files in pieces; `text` and `label` name the columns of the text and of the answer."""
    named = {name: given.get(name) or None for name in ("text", "group", "weight")}
    answer = given.get("label") if labeled else ""
    roles = GroupRoles(**named, answer=answer, candidates="" if bare else None)
    return Pieces(lambda: stream_groups(data, roles, **file_options(given)))
