"""The placement algorithms, each under its own name."""
