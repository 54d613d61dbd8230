"""One file per rule; registry.py lists them all. Rules never import rules."""
