"""posse plan: what would happen, with nothing changed."""
