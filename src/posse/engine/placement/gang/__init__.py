"""One attempt to place one group, in a topology domain or anywhere."""
