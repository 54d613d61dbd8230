"""Reads a whole cluster, from its API or a file, for verbs that change nothing."""
