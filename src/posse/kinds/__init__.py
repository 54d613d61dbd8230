"""What each served kind is: shape, defaults, rules, columns. Pure functions; no storage, no HTTP."""
