"""Questions to the exact solver, and the use of its answers."""
