"""A loader of classifiers for audit hooks: what the first use imports was imported before anything is watched."""

from __future__ import annotations

from pathlib import Path

from tests.model.hostile import load_model

load_model(Path(__file__).parents[1] / "golden" / "format-1-classifier.lin")

__all__ = ["load_model"]
