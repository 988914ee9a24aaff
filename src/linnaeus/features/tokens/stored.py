"""Fitted templates as manifest and tensors, and back after a look whether everything fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from linnaeus.errors import LinnaeusError, ModelFileError, damaged
from linnaeus.features.tokens.fitted import BOUNDARIES, FittedTemplates
from linnaeus.features.tokens.sources import SOURCES, restore
from linnaeus.features.tokens.templates import Pair, Part, Templates, Window
from linnaeus.store.states import field, nest, nested, pack_arrow, tensor, unpack_arrow
from linnaeus.types import State

if TYPE_CHECKING:
    from linnaeus.types import Ints, Json, Longs

KIND = "templates"
LARGEST = 1 << 28


def pack(fitted: FittedTemplates) -> State:
    """The state of fitted templates."""
    strings = pa.concat_arrays([values.cast(pa.large_string()) for values in fitted.values])
    manifest = {
        "kind": KIND,
        "items": [_item(item) for item in fitted.templates.items],
        "min_count": fitted.templates.min_count,
    }
    tensors = {
        **pack_arrow("values", strings),
        "value_counts": np.array([len(values) for values in fitted.values], np.int64),
        "first": np.ascontiguousarray(fitted.members[:, 0]),
        "second": np.ascontiguousarray(fitted.members[fitted.members[:, 1] >= 0, 1]),
        "bounds": fitted.bounds,
    }
    manifest["sources"] = [_source(piece) for piece in fitted.templates.sources]
    return nest(manifest, fitted.sources, tensors)


def unpack(state: State) -> FittedTemplates:
    """The fitted templates of a state."""
    if state.manifest.get("kind") != KIND:
        raise damaged(f"{state.manifest.get('kind')!r} is not the kind of its templates")
    templates = _templates(state.manifest)
    values = _values(state, sum(map(len, templates.fields().values())))
    bounds = tensor(state.tensors, "bounds", np.int64)
    first, second = tensor(state.tensors, "first", np.int32), tensor(state.tensors, "second", np.int32)
    doubles = np.array([len(template) == 2 for template in templates.templates()])
    if len(bounds) != len(doubles) + 1 or bounds[0] != 0 or (np.diff(bounds) < 0).any() or bounds[-1] != len(first):
        raise damaged("the columns of its templates do not fit each other")
    pairs = np.repeat(doubles, np.diff(bounds))
    if int(pairs.sum()) != len(second):
        raise damaged("the columns of its pairs do not fit each other")
    members = np.full((len(first), 2), -1, np.int32)
    members[:, 0], members[pairs, 1] = first, second
    _check(templates, values, members, bounds)
    sources = tuple(restore(inner) for inner in nested(state))
    if [source.name for source in sources] != [piece.name for piece in templates.sources]:
        raise damaged("its sources are not those of its templates")
    return FittedTemplates(templates, values, members, bounds, sources)


def _check(templates: Templates, values: tuple[pa.Array, ...], members: Ints, bounds: Longs) -> None:
    """Every value is one of its form, and no two columns of a template stand for the same."""
    flat = [(source, form) for source, forms in templates.fields().items() for form in forms]
    sizes = {key: len(own) + BOUNDARIES for key, own in zip(flat, values, strict=True)}
    for t, template in enumerate(templates.templates()):
        own = members[bounds[t] : bounds[t + 1]].astype(np.int64)
        for i, part in enumerate(template):
            if len(own) and not (own[:, i].min() >= 0 and own[:, i].max() < sizes[part.source, part.form]):
                raise damaged("a column stands for a value that is not there")
        keys = own[:, 0] << 28 | (own[:, 1] if len(template) == 2 else 0)
        if (np.diff(keys) <= 0).any():
            raise damaged("its columns are not in order")


def _values(state: State, fields: int) -> tuple[pa.Array, ...]:
    counts = tensor(state.tensors, "value_counts", np.int64)
    strings = unpack_arrow("values", state.tensors)
    if len(counts) != fields or (counts < 0).any() or (counts > LARGEST - BOUNDARIES).any():
        raise damaged("the values of its forms do not fit its templates")
    if int(counts.sum()) != len(strings):
        raise damaged("the values of its forms do not fit its templates")
    starts = np.cumsum(counts) - counts
    return tuple(strings.slice(a, n) for a, n in zip(starts.tolist(), counts.tolist(), strict=True))


def _item(item: Window | Pair) -> Json:
    if isinstance(item, Window):
        return {"kind": "window", "forms": list(item.forms), "at": list(item.at), "source": item.source}
    return {"kind": "pair", "first": _part(item.first), "second": _part(item.second)}


def _part(part: Part) -> Json:
    return {"form": part.form, "at": part.at, "source": part.source}


def _source(piece: Any) -> Json:
    kind = next(name for name, made in SOURCES.items() if made is type(piece))
    return {"kind": kind, **{one.name: getattr(piece, one.name) for one in fields(piece)}}


def _piece(item: Any) -> Any:
    inside = {name: value for name, value in item.items() if name != "kind"}
    return SOURCES[item["kind"]](**inside)


def _templates(manifest: Mapping[str, Json]) -> Templates:
    try:
        items = tuple(_made(item) for item in field(manifest, "items", list))
        sources = tuple(_piece(item) for item in field(manifest, "sources", list))
        return Templates(items, field(manifest, "min_count", int), sources)
    except ModelFileError:
        raise
    except (LinnaeusError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise damaged(f"its templates cannot be read ({error})") from error


def _made(item: Any) -> Window | Pair:
    inside = {name: value for name, value in item.items() if name != "kind"}
    if item["kind"] == "window":
        return Window(**inside)
    if item["kind"] != "pair":
        raise damaged(f"{item['kind']!r} is no kind of template")
    return Pair(Part(**inside["first"]), Part(**inside["second"]))
