"""One attempt to place a tree of groups."""
