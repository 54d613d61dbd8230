"""The decision core: cluster events in, decisions out. No IO, no clock, no randomness."""
