"""Decisions that tell pods and groups where they stand."""
