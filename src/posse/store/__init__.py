"""Versioned objects in memory with a journal on SQLite. Knows no kinds and no network."""
