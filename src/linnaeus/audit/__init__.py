"""Checks of labeled data before training.

    check      reads the data once (tally), compares rows (near), runs every search
    records    the results: Audit, Summary, Finding; as plain records and one JSON object; `page` is for people

To add a finding: a search in `check.py`, its row in `FINDINGS`, its limit in `Limits`, a test.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.audit.check import check as check
from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.audit.check import FINDINGS as FINDINGS
    from linnaeus.audit.check import Limits as Limits
    from linnaeus.audit.near import Near as Near
    from linnaeus.audit.records import SCHEMA as SCHEMA
    from linnaeus.audit.records import Audit as Audit
    from linnaeus.audit.records import Example as Example
    from linnaeus.audit.records import Finding as Finding
    from linnaeus.audit.records import Share as Share
    from linnaeus.audit.records import Spread as Spread
    from linnaeus.audit.records import Summary as Summary


__getattr__, __dir__ = room(__name__)
