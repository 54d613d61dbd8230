"""The posse command: one file per verb."""
