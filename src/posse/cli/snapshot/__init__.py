"""posse snapshot: a whole cluster in one file."""
