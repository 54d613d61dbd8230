"""Rehearsing failures: nodes that fail, come back, or are drained."""
