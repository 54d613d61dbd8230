"""Attempts to place a gang or a tree of groups."""
