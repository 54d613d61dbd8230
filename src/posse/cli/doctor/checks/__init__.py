"""Checks of `posse doctor`: each reads facts and returns findings."""
