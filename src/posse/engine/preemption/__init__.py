"""Preemption: which pods may be evicted, where that helps, and which choice costs least."""
