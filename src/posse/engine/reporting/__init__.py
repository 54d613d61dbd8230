"""Decisions that report the status of pods and groups."""
