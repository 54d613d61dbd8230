"""Verbs on objects: apply, get, delete."""
