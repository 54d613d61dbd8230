"""Figures to compare from version to version: `make bench` prints a table and writes build/bench.json."""
