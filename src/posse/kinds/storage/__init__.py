"""Volumes, claims and storage classes."""
