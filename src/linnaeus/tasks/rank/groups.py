"""Examples with candidates as users give them."""

from __future__ import annotations

from linnaeus.data.group_reading import GroupRoles, read_groups, stream_groups
from linnaeus.data.groups import Groups, join
from linnaeus.tasks.base import Given
from linnaeus.tasks.sources import Pieces, file_options
from linnaeus.types import Source


def as_groups(source: Source) -> Groups:
    """Groups as they are, or anything that `read_groups` reads."""
    if isinstance(source, Pieces):
        return join(list(source.batches()))
    return source if isinstance(source, Groups) else read_groups(source)


def opened(data: str, given: Given, labeled: bool) -> Pieces[Groups]:
    """The examples of files in pieces; `text` and `label` name the columns of the text and of the answer."""
    named = {name: given.get(name) for name in ("text", "group", "weight")}
    named["answer"] = given.get("label") if labeled else ""
    roles = GroupRoles(**{name: value for name, value in named.items() if value or name == "answer"})
    return Pieces(lambda: stream_groups(data, roles, **file_options(given)))
