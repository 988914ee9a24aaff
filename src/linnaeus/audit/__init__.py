"""What is wrong with these data? `check` answers before anybody trains on them.

    check      walks over the data (tally), compares rows (matches, near), asks every search (findings)
    records    what it answers with: Audit, Summary, Finding; plain, and one JSON object

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
