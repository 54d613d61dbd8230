"""Exact search: whether a puzzle of the engine has any solution at all."""
