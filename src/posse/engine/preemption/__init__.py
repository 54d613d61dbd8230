"""Choosing victims: which units may be evicted, where that helps, and which choice costs least."""
