"""Verbs on the directory a cluster is kept in: backup, restore, check."""
