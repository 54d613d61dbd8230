"""Placing equal pods, and searching through placements."""
