"""Exact search: solves placement problems of the engine or proves that they have no solution."""
