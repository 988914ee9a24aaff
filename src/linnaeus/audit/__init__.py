"""Checks of labeled data before training.

    check      reads the data once (tally), compares rows (matches, near), runs every search (findings)
    records    the results: Audit, Summary, Finding; as plain records and one JSON object

To add a finding: a search in `findings.py`, its row in `FINDINGS`, its limit in `Limits`, a test.
"""

from linnaeus.audit.check import check
from linnaeus.audit.findings import FINDINGS
from linnaeus.audit.limits import Limits
from linnaeus.audit.near import Near
from linnaeus.audit.records import SCHEMA, Audit, Example, Finding, Share, Spread, Summary

__all__ = [
    "FINDINGS",
    "SCHEMA",
    "Audit",
    "Example",
    "Finding",
    "Limits",
    "Near",
    "Share",
    "Spread",
    "Summary",
    "check",
]
