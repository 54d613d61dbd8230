"""posse top: users of a resource."""
