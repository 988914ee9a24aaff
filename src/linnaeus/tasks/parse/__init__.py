"""Dependency trees of sentences."""
