"""Questions to the exact solver, and what becomes of its answers."""
