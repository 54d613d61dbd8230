"""Volumes, claims and attach limits."""
